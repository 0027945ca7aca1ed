/* SPDX-License-Identifier: MIT */
/* gusprof model of what was executed: a command that is run under an emulator, a trace that was written, a process that
 * runs, or what a recording lets one infer. Each of them ends in a trace, or several, which are read into a table of
 * regions and shown. */
#ifndef GUS_CLI_MODEL_TRACED_H
#define GUS_CLI_MODEL_TRACED_H

#include "cli/model/view.h"

struct gus_profile;
struct gus_reader;
struct gus_rights;
struct gus_walk;

/* Runs and prints. The command's exit status goes to *status. -1 with err. */
int gus_model_command(struct gus_model_traced *m, char *const *argv, int *status, struct gus_error *err);
/* A file: a trace, or a recording, of which its snapshots are taken if it has some, else what it lets one infer. */
int gus_model_trace(struct gus_model_traced *m, const struct gus_model_process *p, const char *path,
		    struct gus_error *err);
/* A process that runs. */
int gus_model_attached(struct gus_model_traced *m, const struct gus_model_process *p, struct gus_error *err);

/* Between the files that do so. */

/* Where a trace is not what was executed, but what is inferred from a recording's branch stacks or samples. */
struct gus_model_inferred {
	const struct gus_routes *routes;
	struct gus_walk *walk;
	struct gus_profile *profile;
};
/* A recording that has no trace: what it lets one infer is run for some million instructions. */
int gus_model_recording(struct gus_model_traced *m, const char *path, struct gus_error *err);
/* The samples of a recording, with the names that it brings along or that its files have. */
int gus_model_names_load(struct gus_profile *profile, struct gus_reader *reader, struct gus_error *err);
/* The windows that a recording has, of which the first is opened. */
int gus_model_kept_windows(struct gus_model_traced *m, const struct gus_model_process *p, const char *path,
			   struct gus_trace *trace, struct gus_error *err);
/* The snapshots that a recording has; *any: whether there are some. */
int gus_model_snapshots(struct gus_model_traced *m, const struct gus_model_process *p, const char *path, bool *any,
			struct gus_error *err);
/* Fills in the samples that a recording has of the regions, or why there are none. */
void gus_model_cover(struct gus_traced *t, const char *path, struct gus_model_windows *w);

/* Begins, prints what was read, ends. in: NULL where the trace is what was executed; rights: of whoever chose the names
 * of its modules, NULL if that were we. */
/* Of what was before a window the caches know nothing, and the program's own did: where there is one, what is told is
 * of warm caches, and an interval is told. */
void gus_model_traced_set_interval(struct gus_model_traced *m, const struct gus_trace *trace);
/* What part of all that was executed a trace is of: windows, or ranges. */
void gus_model_traced_set_part(struct gus_model_view *v, const struct gus_trace *trace);
void gus_model_traced_open(struct gus_model_traced *m, const struct gus_model_inferred *in,
			   const struct gus_rights *rights, struct gus_branch_config *predictor,
			   struct gus_traced *t);
/* What is run a second time, with cold caches: see struct gus_model_traced. Closed with gus_model_traced_close. */
void gus_model_traced_open_cold(const struct gus_model_traced *m, const struct gus_rights *rights,
				struct gus_branch_config *predictor, struct gus_traced *cold);
int gus_model_traced_print(struct gus_model_traced *m, struct gus_traced *t, struct gus_model_view *v,
			   struct gus_error *err);
void gus_model_traced_close(const struct gus_model_traced *m, const struct gus_model_inferred *in,
			    struct gus_traced *t);
/* All of that with one trace. */
int gus_model_traced_show(struct gus_model_traced *m, struct gus_trace *trace, const struct gus_model_inferred *in,
			  struct gus_model_view *v, struct gus_error *err);

#endif
