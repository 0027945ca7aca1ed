/* SPDX-License-Identifier: MIT */
/* gusprof model of what was executed: a command that is run under an emulator, or a trace that was written. */
#ifndef GUS_CLI_MODEL_TRACED_H
#define GUS_CLI_MODEL_TRACED_H

#include "attribution/traced.h"

struct gus_model_traced {
	const struct gus_uarch *uarch;
	const struct gus_core_config *config;
	const struct gus_cache_config *caches;
	double weight;                  /* of the knobs; 0: none is turned */
	bool causality, interval, phases, memory, json;
	const char *emulator, *options; /* options: more words for the plugin, beginning with a comma */
	uint64_t rows;                  /* regions that are shown; 0: those with a hundredth of the time */
	uint64_t warm_up;
	double seconds;                 /* filled in if it was 0 and timing is asked for, else negative */
};

/* Runs and prints. The command's exit status goes to *status. -1 with err. */
int gus_model_command(struct gus_model_traced *m, char *const *argv, int *status, struct gus_error *err);
/* A file that has a trace. */
int gus_model_trace(struct gus_model_traced *m, const char *path, struct gus_error *err);

/* Renderers. */
struct gus_traced_view {
	const struct gus_model_traced *model;
	const struct gus_traced *traced;
	const char *const *command;     /* words, n of them; NULL: a file */
	size_t command_n;
	const char *input, *trouble;    /* trouble: why the trace is not whole; NULL: it is */
	uint32_t *order;                /* regions by cycles, largest first; regions_n of them have been executed */
	size_t regions_n;
};
/* What regions and branches of phases are called; for gus_model_phases. */
struct gus_model_phases;
void gus_traced_name_phases(const struct gus_traced_view *v, struct gus_model_phases *m);
/* "function", or "function, loop at +0x12". */
void gus_traced_region_name(const struct gus_traced *t, const struct gus_traced_region *r, char *out, size_t room);
void gus_traced_text(const struct gus_traced_view *v);
void gus_traced_json(const struct gus_traced_view *v);

#endif
