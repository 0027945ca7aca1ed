/* SPDX-License-Identifier: MIT */
/* gusprof model of what was executed: a command that is run under an emulator, a trace that was written, or what a
 * recording lets one infer. */
#ifndef GUS_CLI_MODEL_TRACED_H
#define GUS_CLI_MODEL_TRACED_H

#include "attribution/routes/walk.h"
#include "attribution/traced/traced.h"

/* A process that runs: snapshots of its threads, and what copies made from them do next. */
struct gus_model_process {
	int pid, tid;                   /* tid 0: its running threads in turn */
	uint64_t snapshots, spread_ms, window, max_bytes;
};
struct gus_model_windows;

struct gus_model_traced {
	const struct gus_uarch *uarch;
	const struct gus_core_config *config;
	const struct gus_cache_config *caches;
	double weight;                  /* of the knobs; 0: none is turned */
	bool causality, interval, phases, memory, json;
	const char *emulator, *options; /* options: more words for the plugin, beginning with a comma */
	uint64_t rows;                  /* regions that are shown; 0: those with a hundredth of the time */
	uint64_t warm_up;
};

/* Runs and prints. The command's exit status goes to *status. -1 with err. */
int gus_model_command(struct gus_model_traced *m, char *const *argv, int *status, struct gus_error *err);
/* A file that has a trace. */
int gus_model_trace(struct gus_model_traced *m, const struct gus_model_process *p, const char *path,
		    struct gus_error *err);

/* Where a trace is not what was executed, but what is inferred from a recording's branch stacks or samples. */
struct gus_model_inferred {
	const struct gus_routes *routes;
	struct gus_walk *replay;
	struct gus_profile *profile;
};
/* A recording that has no trace: what it lets one infer is run for some million instructions. */
int gus_model_recording(struct gus_model_traced *m, const char *path, struct gus_error *err);

/* The snapshots that a recording has; *any: whether there are some. */
int gus_model_snapshots(struct gus_model_traced *m, const struct gus_model_process *p, const char *path, bool *any,
			struct gus_error *err);
/* Fills in what samples of a recording say of the regions. */
void gus_model_count_samples(struct gus_traced *t, const char *path, struct gus_model_windows *w);
int gus_model_attached(struct gus_model_traced *m, const struct gus_model_process *p, struct gus_error *err);

/* Renderers. */
/* A function with samples that no window has: code that an emulator's CPU would not take, for one, such as the AVX-512 variants of a libc. */
enum { GUS_MODEL_ELSEWHERE = 8 };
struct gus_model_elsewhere {
	char name[128];                 /* "function [module]" */
	uint64_t samples;
};

/* What was taken of a process. */
struct gus_model_windows {
	const struct gus_model_process *process;
	unsigned taken, failed, native; /* native: of those taken, replayed by steps */
	uint64_t pause_most_ns, pause_ns, bytes_most;
	uint64_t samples, covered;      /* taken meanwhile, and those of code that the windows have; 0: none could be taken, and why */
	uint64_t *sampled;              /* of them, by region */
	struct gus_model_elsewhere elsewhere[GUS_MODEL_ELSEWHERE]; /* the most samples first */
	size_t elsewhere_n;
	char why[256];
	char first[512];                /* why the first that failed did */
};

struct gus_traced_view {
	const struct gus_model_traced *model;
	const struct gus_traced *traced;
	const char *const *command;     /* words, n of them; NULL: a file */
	size_t command_n;
	const struct gus_model_windows *windows; /* of a process; else NULL */
	const char *input, *trouble;    /* trouble: why the trace is not whole; NULL: it is */
	const struct gus_model_inferred *inferred; /* NULL: the trace is what was executed */
	uint32_t *order;                /* regions by cycles, largest first; regions_n of them have been executed */
	size_t regions_n;
};
/* What regions and branches of phases are called; for gus_model_phases. */
struct gus_model_phases;
void gus_traced_name_phases(const struct gus_traced_view *v, struct gus_model_phases *m);
/* Begins, prints what was read, ends. */
void gus_model_traced_open(struct gus_model_traced *m, const struct gus_model_inferred *in,
			   struct gus_branch_config *predictor,
			   struct gus_traced *t);
int gus_model_traced_print(struct gus_model_traced *m, struct gus_traced *t, struct gus_traced_view *v,
			   struct gus_error *err);
void gus_model_traced_close(const struct gus_model_inferred *in, struct gus_traced *t);
/* All of that with one trace. */
int gus_model_traced_show(struct gus_model_traced *m, struct gus_trace *trace, struct gus_traced_view *v,
			  struct gus_error *err);
/* "function", or "function, loop at +0x12". */
void gus_traced_region_name(const struct gus_traced *t, const struct gus_traced_region *r, char *out, size_t room);
void gus_traced_text(const struct gus_traced_view *v);
void gus_traced_json(const struct gus_traced_view *v);

#endif
