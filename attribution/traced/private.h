/* SPDX-License-Identifier: MIT */
/* Between the parts of attribution/traced. */
#ifndef GUS_ATTRIBUTION_TRACED_PRIVATE_H
#define GUS_ATTRIBUTION_TRACED_PRIVATE_H

#include "attribution/traced/traced.h"

/* Registers the next block, of which everything is copied: its number. That of another window of the same process, if
 * it was the same there. */
uint32_t gus_traced_learn(struct gus_traced *t, const struct gus_trace_block *block);
/* A step whose block and stream have the table's numbers. -1 with err. */
int gus_traced_take(struct gus_traced *t, struct gus_trace_step *step, struct gus_error *err);
/* Adds up the threads of programs that are over, and lets their machines go. */
void gus_traced_retire(struct gus_traced *t);
void gus_traced_forget(struct gus_traced *t);

/* Which knobs to turn, at first and again and again. */
void gus_traced_choose_knobs(struct gus_traced *t);
void gus_traced_look_at_knobs(struct gus_traced *t);

/* One thread of the trace. */
struct gus_traced_thread *gus_traced_thread_new(struct gus_traced *t, uint32_t stream, struct gus_error *err);
void gus_traced_thread_free(struct gus_traced_thread *th);
/* Whether the core engine has run it for as long as it may (core_cycles_most). */
bool gus_traced_thread_is_long(const struct gus_traced_thread *th);
/* A step, with whatever followed the one before. */
void gus_traced_thread_step(struct gus_traced_thread *th, const struct gus_trace_step *step);
/* Knobs have changed. What is in its chunk is run with the new ones. */
void gus_traced_thread_turn(struct gus_traced_thread *th);
/* Cycles so far, by lane, those of the warm-up included. */
void gus_traced_thread_cycles(const struct gus_traced_thread *th, double cycles[GUS_STREAM_LANES]);
/* The end: runs what is left. */
void gus_traced_thread_end(struct gus_traced_thread *th);
/* Adds what it found to the sums of t. */
void gus_traced_thread_add(const struct gus_traced_thread *th, struct gus_traced *t);
/* Of a thread that has been added; what they point to is the table's. */
void gus_traced_thread_figures(const struct gus_traced_thread *th, struct gus_traced_figures *out);

/* Excerpts of loops, for both engines (engines.c): that which a thread takes just now. */
struct gus_op_steps;
struct gus_traced_excerpt;
struct gus_traced_excerpt *gus_traced_excerpt_new(void);
void gus_traced_excerpt_free(struct gus_traced_excerpt *now);
void gus_traced_excerpt_steps(struct gus_traced *t, struct gus_traced_excerpt *now, const struct gus_op_steps *feed);
void gus_traced_excerpt_end(struct gus_traced *t, struct gus_traced_excerpt *now);
void gus_traced_compare_engines(struct gus_traced *t);
void gus_traced_forget_excerpts(struct gus_traced *t);

/* Passages through loops (passages.c): that which a thread takes just now. */
struct gus_traced_passer;
struct gus_traced_passer *gus_traced_passer_new(void);
void gus_traced_passer_free(struct gus_traced_passer *now);
void gus_traced_pass(struct gus_traced *t, struct gus_traced_passer *now, const struct gus_op_steps *feed);
void gus_traced_passer_gap(struct gus_traced_passer *now);
void gus_traced_passer_end(struct gus_traced *t, struct gus_traced_passer *now);
void gus_traced_forget_passages(struct gus_traced *t);

#endif
