/* SPDX-License-Identifier: MIT */
/* What counts the traffic of memory: PMUs of memory controllers and of what leads to them, family by family, with the
 * events that count data read and written, their encoding, and how many bytes a count stands for.
 *
 * Tables are constant; each row names its source. Nothing of them has run on hardware yet. Pure. */
#ifndef GUS_COLLECTOR_UNCORE_TABLE_H
#define GUS_COLLECTOR_UNCORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/traffic.h"

struct gus_uncore_row {
	const char *name;       /* of the event as the kernel offers it, where it does: that is what is opened then */
	const char *terms;      /* else these, of the PMU's format; NULL: only what the kernel names can be counted */
	enum gus_direction direction;
	double bytes;           /* a count; what the kernel says of the event it offers (.scale, .unit) goes before */
	const char *source;
};

struct gus_uncore_family {
	const char *pmu;        /* an instance is called so, or so with '_' and a number behind it, which may be hex */
	const char *cpus;       /* names of CPUs, LLVM's, with a blank before and behind each; NULL: whatever has it */
	const char *title;
	const struct gus_uncore_row *rows; /* all that an instance of it has is counted */
	size_t n;
	const char *absent;     /* what to do where a CPU of `cpus` shows no such PMU, or NULL */
};

/* Family number i, or NULL behind the last. The first that fits a machine is what is counted there. */
const struct gus_uncore_family *gus_uncore_family_at(size_t i);
/* Whether it is about that CPU; NULL: one of which no name is known. */
bool gus_uncore_family_has(const struct gus_uncore_family *family, const char *cpu);
/* Whether a PMU of that name is an instance of the family. */
bool gus_uncore_family_is(const struct gus_uncore_family *family, const char *pmu);

#endif
