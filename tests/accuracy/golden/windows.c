/* SPDX-License-Identifier: MIT */
/* The trace is gone through once for what the windows have, which is kept; then it is written, so that blocks and
 * mappings that came before the first window stand where they are needed, and none that no window has. */
#include "tests/accuracy/golden/windows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "proto/trace.h"
#include "tests/accuracy/golden/draw.h"

enum { WINDOWS = 8, LENGTH = 500000 };
/* The process and its clock at cycle 0, as recordings have them (words.c, run.c). */
enum { FIRST_PID = 1000 };
#define START_NS UINT64_C(1000000000)

struct window {
	uint32_t thread;
	uint64_t from;                  /* instructions of its thread, at which it begins */
	bool begun, over;
	uint64_t at, of, instructions;  /* as the trace says of its first step: instructions before it, window */
	struct gus_vec(struct gus_trace_raw) steps; /* by the blocks of the trace */
	struct gus_vec(struct gus_trace_access) accesses;
};

struct making {
	const struct golden_windows_options *o;
	struct gus_trace *trace;
	uint64_t length, passed;        /* instructions that were gone through, of all threads */
	struct gus_vec(uint32_t) threads; /* by stream, plus 1; 0: did not come yet */
	uint32_t threads_n;
	struct gus_vec(uint64_t) lived; /* instructions of each thread so far */
	struct gus_vec(struct window) windows;
	struct gus_vec(uint32_t) numbers; /* in what is written, by block; plus 1, 0: is not */
};

struct golden_clock *golden_clocks_of(struct golden_clocks *c, uint32_t thread)
{
	while (c->threads.n <= thread)
		gus_vec_push(&c->threads, gus_zalloc(sizeof(struct golden_clock)));
	return c->threads.v[thread];
}

void golden_clocks_free(struct golden_clocks *c)
{
	for (size_t i = 0; i < c->threads.n; i++) {
		gus_vec_free(&c->threads.v[i]->at);
		free(c->threads.v[i]);
	}
	gus_vec_free(&c->threads);
}

/* Steps. */

static uint32_t thread_of(struct making *m, uint32_t stream)
{
	while (m->threads.n <= stream)
		gus_vec_push(&m->threads, 0);
	if (!m->threads.v[stream]) {
		m->threads.v[stream] = ++m->threads_n;
		gus_vec_push(&m->lived, 0);
	}
	return m->threads.v[stream] - 1;
}

/* Calls take for each step, until the trace ends or take has had enough. */
static int go_through(struct making *m, bool (*take)(struct making *m, const struct gus_trace_step *step,
						     uint32_t thread, uint32_t insns), struct gus_error *err)
{
	struct gus_trace_step step;
	int more;

	m->trace = gus_trace_open(m->o->trace, err);
	if (!m->trace)
		return -1;
	m->threads.n = m->threads_n = 0;
	m->lived.n = 0;
	m->passed = 0;
	while ((more = gus_trace_next(m->trace, &step, err)) > 0) {
		uint32_t thread = thread_of(m, step.stream), insns = gus_trace_block(m->trace, step.block).insns;

		if (!take(m, &step, thread, insns))
			return 0;
		m->lived.v[thread] += insns;
		m->passed += insns;
	}
	return more;
}

/* Moments. */

static bool see(struct making *m, const struct gus_trace_step *step, uint32_t thread, uint32_t insns)
{
	(void)m;
	(void)step;
	(void)thread;
	(void)insns;
	return true;
}

/* Clocks of instructions. */
static int look(struct making *m, struct golden_clocks *c, struct gus_error *err)
{
	int rc = go_through(m, see, err);

	if (m->trace)
		gus_trace_close(m->trace);
	m->trace = NULL;
	for (uint32_t i = 0; rc == 0 && i < m->threads_n; i++)
		for (uint64_t at = 0; at < m->lived.v[i]; at += GOLDEN_WINDOWS_TICK)
			gus_vec_push(&golden_clocks_of(c, i)->at, at);
	return rc;
}

static void push_moment(struct making *m, const struct golden_clocks *c, uint64_t tick)
{
	uint32_t thread = 0;

	while (tick >= c->threads.v[thread]->at.n)
		tick -= c->threads.v[thread++]->at.n;
	gus_vec_push(&m->windows, (struct window){ .thread = thread, .from = c->threads.v[thread]->at.v[tick] });
}

static int draw(struct making *m, const struct golden_clocks *c, struct gus_error *err)
{
	struct golden_draw d = golden_draw_begin(m->o->seed, "windows");
	uint64_t ticks = 0, n = m->o->n ? m->o->n : WINDOWS;

	for (size_t i = 0; i < c->threads.n; i++)
		ticks += c->threads.v[i]->at.n;
	if (!ticks)
		return gus_fail(err, GUS_E_USAGE, "there are no windows of %s: it has no instruction", m->o->trace);
	for (uint64_t i = 0; i < n; i++) {
		double moment = ((double)i + golden_draw_unit(&d)) / (double)n * (double)ticks;

		push_moment(m, c, moment < (double)ticks ? (uint64_t)moment : ticks - 1);
	}
	return 0;
}

/* What is in windows. */

static void keep(struct window *w, const struct gus_trace_step *step, uint32_t insns, uint64_t length)
{
	if (!w->begun) {
		w->begun = true;
		w->at = step->at;
		w->of = step->window;
	}
	gus_vec_push(&w->steps, (struct gus_trace_raw){ step->block, step->accesses_n });
	gus_vec_append(&w->accesses, step->accesses, step->accesses_n);
	w->instructions += insns;
	w->over = w->instructions >= length;
}

/* The first of a thread's that is not over has the step, if it begins there or before; only what follows each other
 * in the trace can do so in a window. */
static bool take(struct making *m, const struct gus_trace_step *step, uint32_t thread, uint32_t insns)
{
	bool all = true, taken = false;

	for (size_t i = 0; i < m->windows.n; i++) {
		struct window *w = &m->windows.v[i];

		w->over |= w->thread == thread && w->begun && w->of != step->window;
		if (!taken && !w->over && w->thread == thread) {
			taken = true;
			if (w->from <= m->lived.v[thread])
				keep(w, step, insns, m->length);
		}
		all &= w->over;
	}
	return !all;
}

/* Writing. */

static int put_block(struct making *m, struct gus_trace_writer *w, uint32_t number, struct gus_error *err)
{
	struct gus_trace_block block = gus_trace_block(m->trace, number);
	uint32_t as;

	if (!m->numbers.v[number])
		return 0;
	if (gus_trace_writer_block(w, &block, &as, err) != 0)
		return -1;
	m->numbers.v[number] = as + 1;
	return 0;
}

static int put_mapping(struct gus_trace_writer *w, const Gusprof__Mmap *from, struct gus_error *err)
{
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	Gusprof__Record record = GUSPROF__RECORD__INIT, *list[] = { &record };
	Gusprof__Mmap mmap = *from;

	mmap.time = gus_trace_writer_blocks(w);
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &mmap;
	sideband.records = list;
	sideband.n_records = 1;
	return gus_trace_writer_records(w, &sideband, err);
}

/* Blocks in the trace's order, and each mapping in front of the first block that it can be of. */
static int put_code(struct making *m, struct gus_trace_writer *w, struct gus_error *err)
{
	size_t records_n;
	const Gusprof__Record *const *records = gus_trace_records(m->trace, &records_n);
	uint32_t block = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < records_n; i++) {
		if (records[i]->kind_case != GUSPROF__RECORD__KIND_MMAP)
			continue;
		for (; rc == 0 && block < m->numbers.n && block < records[i]->mmap->time; block++)
			rc = put_block(m, w, block, err);
		if (rc == 0)
			rc = put_mapping(w, records[i]->mmap, err);
	}
	for (; rc == 0 && block < m->numbers.n; block++)
		rc = put_block(m, w, block, err);
	return rc;
}

static void number_blocks(struct making *m, size_t from, size_t to)
{
	uint32_t n = gus_trace_blocks(m->trace);

	gus_vec_reserve(&m->numbers, n + 1);
	memset(m->numbers.v, 0, n * sizeof(*m->numbers.v));
	m->numbers.n = n;
	for (size_t i = from; i < to; i++)
		for (size_t k = 0; k < m->windows.v[i].steps.n; k++)
			m->numbers.v[m->windows.v[i].steps.v[k].block] = 1;
}

static int put_steps(struct making *m, struct gus_trace_writer *to, struct window *w, uint64_t number,
		     struct gus_error *err)
{
	for (size_t i = 0; i < w->steps.n; i++)
		w->steps.v[i].block = m->numbers.v[w->steps.v[i].block] - 1;
	return gus_trace_writer_steps(to, &(struct gus_trace_run){ w->thread, number, w->at, w->steps.v, w->accesses.v,
							   w->steps.n, GUS_TRACE_NEXT_UNKNOWN }, err);
}

/* Windows from one on to another. */
static int put_all(struct making *m, size_t from, size_t end, struct gus_trace_writer *to, struct gus_error *err)
{
	uint64_t number = 0;
	int rc;

	number_blocks(m, from, end);
	rc = put_code(m, to, err);
	for (size_t i = from; rc == 0 && i < end; i++) {
		struct window *w = &m->windows.v[i];

		number = i > from && m->windows.v[i - 1].thread == w->thread ? number : 0;
		if (w->steps.n)
			rc = put_steps(m, to, w, number++, err);
	}
	return rc;
}

static int write_some(struct making *m, const char *path, size_t from, size_t end, Gusprof__Moment *moment,
		      struct gus_error *err)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_trace_writer *to;

	about.front_end = (char *)(uintptr_t)"golden";
	about.target = gus_trace_about(m->trace)->target;
	about.pid = gus_trace_about(m->trace)->pid;
	about.length = m->length;
	about.moment = moment;
	unlink(path); /* a writer would keep what was there */
	to = gus_trace_writer_create(path, &header, &about, err);
	if (!to)
		return -1;
	total.streams = m->threads_n;
	total.seen = m->passed;
	if (put_all(m, from, end, to, err) == 0)
		return gus_trace_writer_finish(to, &total, err);
	gus_trace_writer_abandon(to);
	return -1;
}

/* As if each thread had been stopped there; golden_words begins its clock at the same time. */
static int write_apart(struct making *m, size_t i, size_t number, struct gus_error *err)
{
	Gusprof__Moment moment = GUSPROF__MOMENT__INIT;
	char *path = gus_format("%s.%zu", m->o->path, number);
	int rc;

	moment.pid = FIRST_PID;
	moment.tid = FIRST_PID + m->windows.v[i].thread;
	moment.time = START_NS + i;
	rc = write_some(m, path, i, i + 1, &moment, err);
	free(path);
	return rc;
}

static int write_all(struct making *m, struct gus_error *err)
{
	size_t number = 0;
	int rc = 0;

	if (!m->o->apart)
		return write_some(m, m->o->path, 0, m->windows.n, NULL, err);
	for (size_t i = 0; rc == 0 && i < m->windows.n; i++)
		if (m->windows.v[i].steps.n)
			rc = write_apart(m, i, number++, err);
	return rc;
}

static void end(struct making *m)
{
	for (size_t i = 0; i < m->windows.n; i++) {
		gus_vec_free(&m->windows.v[i].steps);
		gus_vec_free(&m->windows.v[i].accesses);
	}
	gus_vec_free(&m->windows);
	gus_vec_free(&m->numbers);
	gus_vec_free(&m->threads);
	gus_vec_free(&m->lived);
	if (m->trace)
		gus_trace_close(m->trace);
}

int golden_windows_write(const struct golden_windows_options *o, struct gus_error *err)
{
	struct making m = { .o = o, .length = o->length ? o->length : LENGTH };
	struct golden_clocks own = { .threads = { 0 } };
	int rc = o->clocks ? 0 : look(&m, &own, err);

	if (rc == 0)
		rc = draw(&m, o->clocks ? o->clocks : &own, err);
	if (rc == 0)
		rc = go_through(&m, take, err);
	if (rc == 0)
		rc = write_all(&m, err);
	golden_clocks_free(&own);
	end(&m);
	return rc;
}
