/* SPDX-License-Identifier: MIT */
/* A run over time: its phases as a table, and what it did as strips of one character a stretch. */
#ifndef GUS_CLI_MODEL_PHASES_H
#define GUS_CLI_MODEL_PHASES_H

#include <jansson.h>

#include "model/watch/phases.h"

enum { GUS_PHASES_STRIP = 72, GUS_PHASES_POINTS = 256 };

struct gus_model_phases {
	const struct gus_phases_found *found;
	double ticks;                   /* a cycle */
	/* Names of regions and lines by the numbers that the run was told with. */
	const char *(*region)(void *context, uint32_t region);
	const char *(*line)(void *context, uint32_t line);
	void *context;
};

void gus_model_phases_text(const struct gus_model_phases *m);
/* An object; null if nothing ran. */
json_t *gus_model_phases_json(const struct gus_model_phases *m);

/* What is drawn over time. Means over each of so many stretches of about as many bins each, after the median filter. */
enum gus_phases_series {
	GUS_SERIES_IPC,
	GUS_SERIES_WAITING,             /* ops: of one class, or of all with GUS_INSN_CLASSES */
	GUS_SERIES_STALLED,             /* likewise */
	GUS_SERIES_EXECUTING,
	GUS_SERIES_LOADS, GUS_SERIES_STORES,
	GUS_SERIES_MISPREDICTED,        /* in 1000 instructions; of the line with that number, or of all with 0 */
};
/* Fills out and returns how many there are: columns, or as many as there are bins. */
size_t gus_model_phases_series(const struct gus_model_phases *m, enum gus_phases_series what, uint32_t number,
			       double *out, size_t columns);
/* A digit for each, in tenths of the largest, which is returned; 0 is a dot. text has room for n + 1. */
double gus_model_phases_strip(const double *values, size_t n, char *text);
/* A letter for each: regions by their time, the first 26; all others '*'. Returns how many there are. */
size_t gus_model_phases_regions(const struct gus_model_phases *m, size_t columns, char *text);

#endif
