/* SPDX-License-Identifier: MIT */
/* Many blocks, a line each, on several threads: gusprof model --batch. */
#ifndef GUS_MODEL_ANALYSIS_BATCH_H
#define GUS_MODEL_ANALYSIS_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "model/analysis/modelled.h"

struct gus_error;

/* What a batch may have: lines, and characters of a block in one (of `\x48\x01` four are a byte). */
enum { GUS_BATCH_LINES = 1 << 22, GUS_BATCH_FIELD = 1 << 18 };

/* What is usual as the share within which a run of a batch counts as settled (struct gus_core_options). */
#define GUS_BATCH_SETTLED 0.004

struct gus_batch_line {
	const char *hex;                /* in the text, not terminated */
	uint32_t hex_size;
	uint32_t instructions, unknown;
	double cycles;                  /* an iteration */
	struct gus_modelled_verdict verdict;
	char *why;                      /* it could not be modelled, and the rest is 0; NULL: it could */
};

struct gus_batch {
	struct gus_batch_line *lines;
	size_t n, bad, broken;          /* broken: good lines whose cycles are below a bound */
	uint64_t instructions, unknown; /* of all good lines */
};

/* Models the block in the first field of each line of a CSV text, which is borrowed. A first line whose first field is
 * no hexadecimal number is a header; empty lines are passed over. A line that cannot be modelled is bad, and says why.
 * -1 with err only if there are too many lines; then there is nothing to free. */
int gus_batch_run(struct gus_batch *b, const struct gus_modelled_settings *s, const char *text, size_t size,
		  unsigned jobs, struct gus_error *err);
void gus_batch_free(struct gus_batch *b);

/* The share of a good line's instructions that the table knows. */
double gus_batch_coverage(const struct gus_batch_line *line);

#endif
