/* SPDX-License-Identifier: MIT */
/* The two ways in which gusprof script shows samples: a line each, as perf script has it, or stacks added up. */
#ifndef GUS_CLI_SCRIPT_SAMPLES_H
#define GUS_CLI_SCRIPT_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/lines.h"
#include "cli/report/folded.h"
#include "cli/script/names.h"

struct gus_script {
	unsigned fields;            /* enum gus_field */
	bool chains;                /* callers stand in lines of their own */
	bool chains_kept;           /* callers are told, in lines or in stacks */
	bool inlines, nanoseconds, relative;
	bool count_samples;         /* of stacks: samples instead of weight */
	uint64_t max_stack;         /* frames of a sample at most, itself included; 0: all */
	/* from here on its own */
	struct gus_script_names names;
	struct gus_lines lines;
	const char *comm_of;        /* whose harmless form comm is */
	struct gus_lines comm;
	int event_width;
	uint64_t cut;               /* samples that had more frames than max_stack */
	unsigned told;              /* fields, of those that only some hardware tells, that any sample had */
	struct gus_folded folded;
};

/* For gus_profile_visit; their context is the struct. */
void gus_script_begin(void *context, struct gus_profile *p);
void gus_script_line(void *context, const struct gus_sighting *s);
void gus_script_fold(void *context, const struct gus_sighting *s);

/* Writes what is left: of stacks all of them, "comm;outer;inner WEIGHT", ordered by their bytes. */
void gus_script_end(struct gus_script *script);
void gus_script_free(struct gus_script *script);

#endif
