/* SPDX-License-Identifier: MIT */
/* Whether the CPU that microbenchmarks run on is one of several threads of a core, whose other threads take part in
 * everything that is measured. What sysfs says is true of real machines; virtual ones often say that each CPU is a
 * core, so it is also tried: a loop that leaves nothing of the core unused is timed while another CPU is kept busy, and
 * while it is kept at waiting, from which work of others is kept away so. */
#ifndef GUS_COLLECTOR_TIMING_SHARING_H
#define GUS_COLLECTOR_TIMING_SHARING_H

#include <stdbool.h>

struct gus_error;
struct gus_timing;

struct gus_timing_sharing {
	int with;       /* another CPU of the core, -1: none was found */
	bool told;      /* sysfs says so */
	bool measured;  /* it was seen */
	double slower;  /* by how much the loop takes longer at most while another CPU is busy; 0.3: by 30 % */
	int slowed_by;  /* that CPU; -1: no other could be tried */
	unsigned tried; /* how many others */
	bool busy;      /* whether `with` had something to do while we looked, 0.1 s */
};

/* Only CPUs that we may run on can be tried, and 64 at most. -1 with err. */
int gus_timing_find_sharing(struct gus_timing *t, struct gus_timing_sharing *s, struct gus_error *err);

/* The first CPU but this one in a list such as "0,64" or "2-3"; -1 if there is none. */
int gus_timing_sibling_in(const char *list, int cpu);

#endif
