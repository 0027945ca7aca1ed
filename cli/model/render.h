/* SPDX-License-Identifier: MIT */
/* What gusprof model prints: the same findings as text, JSON (schema gusprof.model/1) or CSV, on stdout. */
#ifndef GUS_CLI_MODEL_RENDER_H
#define GUS_CLI_MODEL_RENDER_H

#include <jansson.h>

#include "model/analysis/modelled.h"

struct gus_batch;
struct gus_model_expectation;
struct gus_routine;
struct gus_loop;

struct gus_model_report {
	const struct gus_modelled_settings *settings;
	const struct gus_modelled *modelled;
	const struct gus_routine *function; /* where the code is from, or NULL */
	const struct gus_loop *loop;    /* of it */
	size_t loop_number;             /* from 1; 0: the whole function */
	const char *const *notes;       /* what a reader must know before believing the numbers */
	size_t notes_n;
	double seconds;                 /* negative: not to be told */
	const struct gus_model_expectation *expectation;
};

void gus_model_text(const struct gus_model_report *r);
int gus_model_json(const struct gus_model_report *r);
void gus_model_csv(const struct gus_model_report *r);

/* The loops of a function, when none was chosen, with cycles an iteration of each. */
struct gus_model_loop_figure {
	double cycles;                  /* negative: it cannot be modelled */
	struct gus_modelled_verdict verdict;
};
void gus_model_loops_text(const struct gus_model_report *r, const struct gus_model_loop_figure *figures);
int gus_model_loops_json(const struct gus_model_report *r, const struct gus_model_loop_figure *figures);
void gus_model_loops_csv(const struct gus_model_report *r, const struct gus_model_loop_figure *figures);

/* Resources, what each instruction takes of them, and how far the engines agree: what both renderings of them need. */
void gus_model_resources_text(const struct gus_model_report *r);
void gus_model_agreement_text(const struct gus_model_report *r);
/* A bar of so many #, of a length that is the largest share of that. */
void gus_model_bar(double share);
const char *gus_model_engine(const struct gus_modelled_settings *s);
/* What causality found, if it was asked for; else nothing, and null. */
void gus_model_causality_text(const struct gus_model_report *r);
json_t *gus_model_causality_json(const struct gus_model_report *r);

/* The pipeline: instruction by cycle. */
void gus_model_timeline_text(const struct gus_modelled *m);
void gus_model_timeline_csv(const struct gus_modelled *m, const char *calibration);

/* Lines with their cycles, and why there are none. seconds as above. */
void gus_model_batch_csv(const struct gus_batch *b, const struct gus_modelled_settings *s,
			 const struct gus_model_expectation *x, uint64_t per);
int gus_model_batch_json(const struct gus_batch *b, const struct gus_modelled_settings *s,
			 const struct gus_model_expectation *x, double seconds);

/* Words that all renderers and options share. */
const char *gus_model_fetch_name(enum gus_core_fetch fetch);
const char *gus_model_mode(const struct gus_modelled_settings *s);
const char *gus_model_port(const struct gus_program *p, unsigned port);
/* The bound that is the largest, GUS_BOUNDS if there is none. */
enum gus_bound gus_model_limit(const struct gus_modelled *m);
/* What is to be known of an instruction besides its figures, in words: fills names, returns how many. */
#define GUS_MODEL_FLAGS 8
size_t gus_model_flags(const struct gus_program *p, uint32_t insn, const char *names[GUS_MODEL_FLAGS]);

#endif
