/* SPDX-License-Identifier: MIT */
/* A machine that is not there: the kernel's half of perf_event_open(2) in a program of tests, by a script of what PMUs
 * it has, what it refuses and when it writes which records. It defines gus_perf (collector/kernel/perf.h), so a program
 * that is linked with it has this kernel and no other.
 *
 * What kernels do with every event it does by itself: it finds the PMU, looks at rights, levels of precision and sizes,
 * at rings and memory that may be locked, shares rings (SET_OUTPUT), lays out samples and trailers by sample_type, and
 * counts what found no room and tells it by LOST. Whatever else is to happen a script says in functions that are called
 * when an event begins to count and each time somebody waits. Records are written in the midst of these calls, so the
 * same script gives the same run. Nothing here is from the collector: layouts are those of perf_event_open(2). */
#ifndef GUS_TESTS_MACHINE_MACHINE_H
#define GUS_TESTS_MACHINE_MACHINE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct machine_pmu {
	const char *name;
	uint32_t type;
	const char *cpus;       /* of one kind of cores: the CPUs "4-7" that it is on; NULL: all */
	unsigned counters;      /* that its events share on a CPU; 0: as many as are asked for */
	unsigned precise;       /* the highest precise_ip */
	unsigned step;          /* periods are multiples of it; 0: any */
	bool branches, aux;     /* what its samples can bring along; that it writes into an AUX area */
	bool whole;             /* no level can be left out, as with IBS */
	const char *terms[6];   /* "event=config:0-7", up to a NULL */
	/* It is beside the cores: the CPUs "0,2" that it is opened on, for no task, to count and not to sample, at all
	 * levels. NULL: it is of the cores. */
	const char *cpumask;
	const char *files[9];   /* "events/name=event=0x04", up to a NULL */
	unsigned runs;          /* percent of the time that its events count, the rest being others'; 0: always */
	const char *names[12];  /* events that it has names for, "slots=event=0x00,umask=0x4", likewise */
};

struct machine_event;

struct machine {
	const struct machine_pmu *pmus; /* up to one without a name; NULL: none */
	const char *cpus;               /* those online, "0-1" */
	int socket_cpus;                /* that each socket has; 0: what sysfs says here */
	int paranoid;                   /* kernel.perf_event_paranoid, of a user without capabilities */
	bool watchdog;                  /* the NMI watchdog is on */
	const char *cpuinfo;            /* what is in /proc/cpuinfo; NULL: this machine's */
	size_t lock_kib;                /* that rings may take in all; 0: any */
	unsigned descriptors;           /* events that may be open; 0: any number */
	size_t attr_bytes;              /* of perf_event_attr that it knows; 0: all */
	bool older;                     /* than Linux 6.13: no counts in samples of events that are inherited */
	/* What else it refuses: an errno, or 0. NULL: nothing. */
	int (*refuses)(const struct perf_event_attr *a, pid_t pid, int cpu);
	/* An event begins to count, stops, or is waited for the n-th time (n from 1). NULL: nothing happens. */
	void (*begins)(struct machine_event *e);
	void (*stops)(struct machine_event *e);
	void (*waits)(unsigned n);
	/* What an event that has run for so long reads as. NULL: its count. */
	uint64_t (*counts)(const struct machine_event *e, uint64_t running_ns);
};

/* An event that is open, or was. */
struct machine_event {
	int fd;                         /* -1: it has been closed */
	union { struct perf_event_attr attr; uint8_t bytes[256]; };
	const struct machine_pmu *pmu;  /* NULL: the kernel's own */
	pid_t pid;
	int cpu;
	struct machine_event *leader;   /* itself, if it has none */
	bool enabled;                   /* itself; it counts if its leader is, too */
	uint64_t id, period, count, lost;
	uint64_t began, on_ns;          /* CLOCK_MONOTONIC when it began to count, 0: it does not; ns before that */
	unsigned times;                 /* that it began */
	struct machine_event *output;   /* whose ring it writes to; itself at first */
	struct perf_event_mmap_page *control; /* of its own ring */
	uint8_t *data, *aux;
	struct machine_event *mapper; /* by which the AUX area was mapped: that keeps it alive when it is closed */
	size_t size, aux_size;
	bool paused;
	uint64_t untold;                /* records that found no room since the last LOST */
};

/* What a sample says; what is 0 is taken from the event, and the time is now. */
struct machine_sample {
	uint64_t ip, time, address, period, weight, data_source;
	uint32_t tid;
	bool kernel, exact;
	const void *raw;
	uint32_t raw_bytes;
	const struct { uint64_t from, to, flags; } *branches;
	unsigned branches_n;
};

/* Each test begins a machine, and ends it: then nothing may be open or mapped any more. */
void machine_begin(const struct machine *m);
/* How many events and mappings have been left. */
unsigned machine_end(void);

/* Calls of perf_event_open, and what they were answered: a descriptor or -errno. */
size_t machine_asked(void);
const struct perf_event_attr *machine_attr(size_t call, int *answer);
/* How often that was the answer. */
size_t machine_answered(int answer);

/* The i-th event that is open, of those of a PMU ("" is the kernel) whose config that is; NULL behind the last. */
struct machine_event *machine_open(const char *pmu, uint64_t config, size_t i);
/* All of them, in the order in which they were opened, also those that are closed. */
struct machine_event *machine_event(size_t i);
bool machine_counts(const struct machine_event *e);
/* The time of what it writes. */
uint64_t machine_now(const struct machine_event *e);
/* The most events of one PMU that have counted at a time on one CPU, for one task. */
unsigned machine_most(const char *pmu);

/* These write into the event's ring. A record of that type, whose body is so many words; its trailer follows. */
void machine_put(struct machine_event *e, uint32_t type, uint16_t misc, const uint64_t *words, size_t n);
void machine_take_sample(struct machine_event *e, const struct machine_sample *s);
void machine_throttle(struct machine_event *e, bool stop);
void machine_lose_samples(struct machine_event *e, uint64_t n);
/* Hardware wrote so many bytes into the AUX area, as far as there is room: what there is none for is cut off, which
 * the flags tell, and stops the event. Returns how many there was room for. */
size_t machine_put_aux(struct machine_event *e, const void *bytes, size_t n, uint64_t flags);

#endif
