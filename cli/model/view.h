/* SPDX-License-Identifier: MIT */
/* What gusprof model shows of what was executed, and its renderers. */
#ifndef GUS_CLI_MODEL_VIEW_H
#define GUS_CLI_MODEL_VIEW_H

#include <jansson.h>

#include "attribution/traced/coverage.h"
#include "attribution/traced/traced.h"
#include "base/error.h"
#include "cli/model/view.h"

struct gus_cache_config;
struct gus_core_config;
struct gus_heed;
struct gus_screen;
struct gus_screen_options;
struct gus_model_expectation;
struct gus_model_output;
struct gus_observed;

/* A process that runs: snapshots of its threads, and what copies made from them do next. */
struct gus_model_process {
	int pid, tid;                   /* tid 0: its running threads in turn */
	uint64_t snapshots, spread_ms, window, max_bytes;
	bool replay;                    /* also snapshots of a recording that is not our own */
};

struct gus_model_view;

/* Who shows what was modelled in place of gusprof model. -1 with err. */
struct gus_model_shower {
	int (*show)(void *context, const struct gus_model_view *v, struct gus_error *err);
	void *context;
};

struct gus_model_traced {
	const struct gus_uarch *uarch;
	const struct gus_core_config *config;
	const struct gus_cache_config *caches;
	double weight;                  /* of the knobs; 0: none is turned */
	const struct gus_traced_set *sets; /* of knobs, instead of each by itself */
	int sets_n;
	bool causality, both, interval, phases, memory, json;
	bool core;                      /* the core engine runs beside, on all that is timed */
	bool alone;                     /* it is the only one */
	bool passages;                  /* one through each loop is kept */
	/* As struct gus_traced_options has them. */
	const struct gus_core_listener *(*listen)(void *context, uint32_t stream, const struct gus_program *program);
	void (*leave)(void *context, uint32_t stream);
	void *listen_context;
	const struct gus_traced_timed *timed;
	/* Of a second run, with cold caches, which is listened to and not shown; NULL: there is none. What is inferred
	 * has no addresses, and so none either. */
	void *cold_context;
	bool all;                       /* all of it is timed, not a sample of stretches */
	const struct gus_contended *shared; /* lines that threads share; NULL: none */
	bool warm_code;                 /* of what runs with cold caches: that code was executed before all the same */
	bool warm;                      /* caches are warm in what is told, and cold at the other end of the interval */
	bool children;                  /* of a command: what it forks off is traced as well */
	const char *emulator, *options; /* options: more words for the plugin, beginning with a comma */
	uint64_t rows;                  /* regions that are shown; 0: those with a hundredth of the time */
	uint64_t warm_up;
	uint64_t most;                  /* of a longer trace so many instructions are run, in stretches, of a few
					 * dozen threads; 0: all */
	const char *input;              /* of a file: how the user calls it, "-" for standard input */
	const char *rates;              /* the recording to take rates of; "none"; NULL: the one that is modelled */
	const char *rates_of;           /* what people are told that it is */
	struct gus_observed *observed;  /* what it says (rates.h); NULL: nothing */
	uint64_t window_cycles_most;    /* of each window that a recording has; 0: all */
	uint64_t cycles_most;           /* of all windows together; 0: no end */
	uint64_t core_cycles_most;      /* of each thread, of windows alone; 0: all */
	struct gus_traced_lengths *lengths; /* between the cold run and the other; NULL: there is no cold one */
	bool lengths_known;
	bool executed_only;             /* what was executed, and nothing that samples without branches let one infer */
	struct gus_symbols *symbols;    /* names, of the recording that has the traces; borrowed. NULL: of files */
	const struct gus_screen_options *screen; /* of text */
	struct gus_model_output *output;
	const struct gus_model_expectation *expectation;
	const struct gus_model_shower *shower; /* NULL: we do, as text or JSON */
	const struct gus_heed *heed;    /* who wants to hear how far it is; NULL: nobody */
	bool silent;                    /* what a command prints was seen in a run before, and is lost */
};

/* What was taken of a process. */
struct gus_model_windows {
	const struct gus_model_process *process;
	unsigned taken, failed;
	unsigned native, late;          /* of those taken: replayed by steps, and with memory of a later moment */
	uint64_t pause_most_ns, pause_ns, bytes_most;
	struct gus_error first;         /* why the first that failed did */
	/* of the samples taken meanwhile; without samples: none could be taken, and why */
	struct gus_coverage coverage;
	char why[256];
	struct gus_error failure;      /* of a transient error, which makes the whole one */
};

struct gus_routes;

struct gus_model_view {
	const struct gus_model_traced *model;
	struct gus_traced *traced;
	bool part;                      /* not all that was executed is in it: windows, or a trace that is cut */
	uint64_t window;                /* instructions of each window of a trace that has several; 0: it has not */
	const char *samples;            /* by what a recording of it can be opened; NULL: there is none */
	const char *const *command;     /* words, n of them; NULL: a file */
	size_t command_n;
	const struct gus_model_windows *windows; /* of a process; else NULL */
	unsigned empty;                 /* traces of which nothing came: of programs that could not begin */
	const char *input, *path;       /* of a file: how the user calls it, and what it is opened by */
	const char *trouble;            /* why the trace is not whole; NULL: it is */
	const struct gus_routes *inferred; /* NULL: the trace is what was executed */
	uint32_t *order;                /* regions by cycles, largest first; regions_n of them have been executed */
	size_t regions_n;
	const struct gus_screen *screen; /* what text is printed on */
};

/* What regions and branches of phases are called; for gus_model_phases. */
struct gus_model_phases;
void gus_model_name_phases(const struct gus_model_view *v, struct gus_model_phases *m);

void gus_model_traced_text(const struct gus_model_view *v);
void gus_model_traced_json(const struct gus_model_view *v);
/* How far the engines agree on hot loops, if that was asked for; of one loop, or null. */
void gus_model_engines_text(const struct gus_model_view *v);
json_t *gus_model_engines_json(const struct gus_agreement *a);

#endif
