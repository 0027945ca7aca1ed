/* SPDX-License-Identifier: MIT */
/* An event as the kernel wants it described, and the opening of it. Kernels of different age take different
 * descriptions: what one does not know is found once, with an event that can fail for no other reason. */
#ifndef GUS_COLLECTOR_EVENTS_ATTR_H
#define GUS_COLLECTOR_EVENTS_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/events/cargo.h"
#include "collector/events/event.h"
#include "collector/events/features.h"

/* Headers may be older than the kernel: config3 is laid over the place where the newer structure has it. */
union gus_attr {
	struct perf_event_attr kernel;
	struct {
		uint8_t before[128]; /* PERF_ATTR_SIZE_VER7 */
		uint64_t config3;
	} v8;
};

/* What all events of a session have in common. */
struct gus_attr_plan {
	unsigned features;     /* enum gus_attr_feature: wanted, after gus_attr_settle also had */
	struct gus_cargo cargo;
	bool inherit;          /* new tasks are followed */
	bool enable_on_exec;   /* else somebody enables it later */
	bool backward;         /* written from the ring's end, over what is oldest there: a flight recorder */
	uint32_t wakeup_bytes; /* in a ring before its reader is woken */
};

uint64_t gus_attr_sample_type(const struct gus_attr_plan *plan);

/* The same of an event, whose samples may bring along more than others, or less. */
uint64_t gus_attr_sample_type_of(const struct gus_attr_plan *plan, const struct gus_event *event);

/* How counts are read of it (PERF_FORMAT_*): of one whose samples bring those of its group along, the whole group. */
uint64_t gus_attr_read_format(const struct gus_attr_plan *plan, const struct gus_event *event);

/* The event. A leader starts disabled, a member of a group starts with its leader. */
void gus_attr_fill(union gus_attr *a, const struct gus_event *event, const struct gus_attr_plan *plan, bool leader);
/* An event that counts nothing and records what the tasks do: mappings, names, forks, switches. */
void gus_attr_fill_tracking(union gus_attr *a, const struct gus_attr_plan *plan);

/* Makes an event record what the tasks do, too: the mappings and so on, or only the switches. One event that does both
 * is half of what a fork must copy and a context switch must look at. */
void gus_attr_add_tracking(union gus_attr *a, const struct gus_attr_plan *plan);
void gus_attr_add_switches(union gus_attr *a, const struct gus_attr_plan *plan);
/* Makes an event count and take no samples. */
void gus_attr_silence(union gus_attr *a);
/* An event that does nothing at all, for the ring that others write to. */
void gus_attr_fill_holder(union gus_attr *a, const struct gus_attr_plan *plan);

/* The kernel's call; returns the descriptor or -errno. */
int gus_attr_open(const union gus_attr *a, pid_t pid, int cpu, int group_fd);
/* The same for all tasks of a cgroup, by a descriptor of its directory. */
int gus_attr_open_cgroup(const union gus_attr *a, int cgroup, int cpu, int group_fd);

/* Opens the tracking event, giving up features until the kernel takes it; plan keeps those that are left. */
int gus_attr_open_tracking(struct gus_attr_plan *plan, pid_t pid, int cpu);
/* The same on ourselves and for no other purpose. Returns 0, or -errno if the kernel takes none at all. */
int gus_attr_settle(struct gus_attr_plan *plan);

#endif
