/* SPDX-License-Identifier: MIT */
/* Traces on their way into a table of regions: one, several one after the other, or several at the same time, frame by
 * frame, as those of processes that wait for each other have to be read. Each numbers its blocks and threads from 0 and
 * has mappings of its own; here all have numbers of one table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/private.h"
#include "base/error.h"
#include "base/limits.h"

/* What a stream has come to: its window, and where that began. */
struct now { bool any, taken; uint64_t window, from; };

struct gus_traced_source {
	struct gus_traced *t;
	struct gus_trace *trace;
	uint32_t program;                       /* in programs */
	struct gus_vec(uint32_t) blocks;        /* by the trace's numbers */
	struct gus_vec(uint32_t) streams;       /* the same; GUS_TRACED_NONE: nothing of it yet */
	struct gus_traced_mappings mappings;
	size_t records;                         /* that were taken */
	uint64_t stretch;                       /* instructions that are taken or left together; 0: all are taken */
	double share, windows_share;            /* so many of these are taken, of so many of the windows */
	uint64_t windows;                       /* that have begun */
	struct gus_vec(struct now) now;         /* the trace's streams; of a trace that is thinned */
};

/* What one may have, by the file that it is in. A file of several windows counts once, another trace besides. */
static void bind_code(struct gus_traced *t, const struct gus_trace *trace)
{
	uint64_t size = gus_trace_size(trace);
	struct gus_budget more = size ? gus_budget_of(GUS_LIMIT_TRACE_CODE, size) :
		(struct gus_budget){ .left = GUS_LIMIT_TRACE_CODE.cap };

	if (t->code_is_bound && gus_trace_about(trace)->moment)
		return;
	t->code_is_bound = true;
	t->code.left = gus_saturated(t->code.left, more.left);
}

struct gus_traced_source *gus_traced_source_new(struct gus_traced *t, struct gus_trace *trace, struct gus_error *err)
{
	struct gus_traced_source *s;

	if (gus_traced_check(t->options.uarch, "the trace", gus_trace_about(trace)->target, err) != 0)
		return NULL;
	bind_code(t, trace);
	s = gus_zalloc(sizeof(*s));
	s->t = t;
	s->trace = trace;
	s->program = (uint32_t)t->programs.n;
	s->mappings = t->mappings;
	t->mappings = (struct gus_traced_mappings){ 0 };
	gus_vec_push(&t->programs, (struct gus_traced_program){ .pid = gus_trace_about(trace)->pid, .name = "" });
	return s;
}

/* What was told up to the block that comes next. */
static void take_records(struct gus_traced_source *s)
{
	size_t n;
	const Gusprof__Record *const *records = gus_trace_records(s->trace, &n);
	struct gus_traced *t = s->t;

	for (; s->records < n; s->records++) {
		const Gusprof__Record *r = records[s->records];

		if (r->kind_case == GUSPROF__RECORD__KIND_COMM && r->comm->name)
			t->programs.v[s->program].name = gus_strings_get(&t->strings,
									 gus_strings_add(&t->strings, r->comm->name));
		if (r->kind_case != GUSPROF__RECORD__KIND_MMAP)
			continue;
		if (r->mmap->time > s->blocks.n)
			break;
		gus_traced_map(t, r->mmap->start, r->mmap->length, r->mmap->offset, r->mmap->path,
			       r->mmap->build_id.data, r->mmap->build_id.len);
	}
}

/* The mappings of the table are those of the source whose blocks are learned. */
static int learn_blocks(struct gus_traced_source *s, struct gus_error *err)
{
	const uint32_t n = gus_trace_blocks(s->trace);
	struct gus_traced *t = s->t;
	struct gus_traced_mappings before = t->mappings;
	int rc = 0;

	t->mappings = s->mappings;
	while (rc == 0 && s->blocks.n < n) {
		struct gus_trace_block b = gus_trace_block(s->trace, (uint32_t)s->blocks.n);

		take_records(s);
		if (gus_budget_charge(&t->code, b.insns))
			gus_vec_push(&s->blocks, gus_traced_learn(t, &b));
		else
			rc = gus_fail(err, GUS_E_FULL, "the trace has more code than one of its size can have been "
				      "made of");
	}
	s->mappings = t->mappings;
	t->mappings = before;
	return rc;
}

static uint32_t stream_of(struct gus_traced_source *s, uint32_t stream)
{
	while (s->streams.n <= stream)
		gus_vec_push(&s->streams, GUS_TRACED_NONE);
	if (s->streams.v[stream] == GUS_TRACED_NONE) {
		s->streams.v[stream] = (uint32_t)s->t->program_of.n;
		gus_vec_push(&s->t->program_of, s->program);
	}
	return s->streams.v[stream];
}

void gus_traced_source_thin(struct gus_traced_source *s, uint64_t stretch, double share, double windows)
{
	s->stretch = stretch;
	s->share = share;
	s->windows_share = windows;
	s->t->thinned = true;
}

/* Whether the n-th of several is one of a share of them, the first of which it is. */
static bool is_one(uint64_t n, double share)
{
	double before = (double)n * share + (1 - share);

	return n == 0 || floor(before + share) > floor(before);
}

static const struct now *window_of(struct gus_traced_source *s, const struct gus_trace_step *step)
{
	struct now *now;

	while (s->now.n <= step->stream)
		gus_vec_push(&s->now, (struct now){ .any = false });
	now = &s->now.v[step->stream];
	if (!now->any || now->window != step->window)
		*now = (struct now){ true, is_one(s->windows++, s->windows_share), step->window, step->at };
	return now;
}

/* Whether the stretch that a step is in is taken: of each window the first, and others that are even over it. Each is a
 * window of its own, as what led into it was not seen. */
static bool is_taken(struct gus_traced_source *s, struct gus_trace_step *step)
{
	const struct now *now;

	if (!s->stretch)
		return true;
	now = window_of(s, step);
	step->window += step->at / s->stretch;
	return now->taken && is_one((step->at - now->from) / s->stretch, s->share);
}

static int read_step(struct gus_traced_source *s, struct gus_error *err)
{
	struct gus_trace_step step;
	int more = gus_trace_next(s->trace, &step, err);

	if (more <= 0)
		return more;
	if (step.block >= s->blocks.n && learn_blocks(s, err) != 0)
		return -1;
	if (!is_taken(s, &step))
		return 1;
	step.block = s->blocks.v[step.block];
	step.stream = stream_of(s, step.stream);
	return gus_traced_take(s->t, &step, err) == 0 ? 1 : -1;
}

int gus_traced_source_read(struct gus_traced_source *s, struct gus_error *err)
{
	struct gus_error why = { 0 };
	int more;

	do
		more = read_step(s, &why);
	while (more > 0 && gus_trace_has_step(s->trace));
	if (more >= 0)
		return more;
	s->t->programs.v[s->program].trouble = gus_strings_get(&s->t->strings,
							       gus_strings_add(&s->t->strings, why.text));
	if (err)
		*err = why;
	return more;
}

/* What the trace itself says of what is missing in it. */
static void take_total(struct gus_traced *t, const Gusprof__TraceTotal *total)
{
	t->omitted += total->omitted;
	t->full |= total->full;
	for (size_t i = 0; i < total->n_notices; i++)
		gus_vec_push(&t->notices, gus_strdup(total->notices[i]));
}

void gus_traced_source_end(struct gus_traced_source *s)
{
	struct gus_traced *t = s->t;

	take_records(s);
	if (gus_trace_total(s->trace))
		take_total(t, gus_trace_total(s->trace));
	t->programs.v[s->program].over = true;
	gus_traced_retire(t);
	gus_vec_free(&s->blocks);
	gus_vec_free(&s->streams);
	gus_vec_free(&s->now);
	gus_vec_free(&s->mappings);
	free(s);
}

int gus_traced_read(struct gus_traced *t, struct gus_trace *trace, struct gus_error *err)
{
	struct gus_traced_source *s = gus_traced_source_new(t, trace, err);
	int more = 1;

	t->mappings.n = 0; /* where it was refused, those that were told for it are of nobody */
	while (s && more > 0)
		more = gus_traced_source_read(s, err);
	if (s)
		gus_traced_source_end(s);
	return s ? more : -1;
}
