/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/auxtrace.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/record.h"
#include "collector/records/hardware.h"
#include "proto/sample.h"

/* PERF_AUXTRACE_* (tools/perf/util/auxtrace.h). */
static const char *const kinds[] = { "unknown", "intel-pt", "intel-bts", "coresight", "arm-spe", "s390-cpumsf",
				     "hisi-ptt", "powerpc-vpadtl" };
enum { ARM_SPE = 4 };
/* PERF_RECORD_* of the ABI. */
enum { RECORD_COMM = 3, RECORD_FORK = 7, THREADS_MOST = 1 << 22 };
/* What is read at a time, and what a record of SPE takes at most: 64 packets of ten bytes are far more than any has. */
enum { PIECE = 256 << 10, RECORD_MOST = 1024, ALIGNED = 4096 };

void gus_perfdata_aux_init(struct gus_perfdata_aux *a, bool big_endian)
{
	*a = (struct gus_perfdata_aux){ .big_endian = big_endian, .event = GUS_PERFDATA_AUX_NOBODY };
	gus_index_init(&a->threads, sizeof(uint32_t));
}

const char *gus_perfdata_aux_kind(const struct gus_perfdata_aux *a)
{
	return kinds[a->kind < sizeof(kinds) / sizeof(*kinds) ? a->kind : 0];
}

bool gus_perfdata_aux_is_spe(const struct gus_perfdata_aux *a)
{
	return a->kind == ARM_SPE;
}

static struct gus_cursor body_of(const struct gus_perfdata_aux *a, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = gus_cursor(r->bytes, r->size);

	c.big_endian = a->big_endian;
	gus_cursor_u64(&c);
	return c;
}

/* How ticks become time: shift, mult and zero, and whether zero is known at all. */
static void note_clock(struct gus_perfdata_aux *a, struct gus_cursor c)
{
	uint64_t shift = gus_cursor_u64(&c), mult = gus_cursor_u64(&c);

	a->zero = gus_cursor_u64(&c);
	a->timed = !c.bad && shift < 64 && mult <= UINT32_MAX && mult;
	a->shift = (uint16_t)shift;
	a->mult = (uint32_t)mult;
}

/* What perf has written of its kind. Of SPE which PMU it was: the first word behind, or the third of those that begin
 * with their version, 2. Behind these each CPU has words of its own: a mark, its number, how many follow, its MIDR_EL1
 * (tools/perf/util/arm-spe.h). */
static void note_info(struct gus_perfdata_aux *a, struct gus_cursor c)
{
	const uint64_t mark = 0x1010101010101010;
	uint64_t version, third;

	a->kind = gus_cursor_u32(&c);
	gus_cursor_u32(&c);
	if (a->kind != ARM_SPE)
		return;
	version = gus_cursor_u64(&c);
	gus_cursor_u64(&c);
	third = gus_cursor_u64(&c);
	a->pmu = (uint32_t)(version == 2 && third ? third : version);
	a->cores.n = 0;
	while (version == 2 && gus_cursor_left(&c) >= 8) {
		struct gus_perfdata_core core;

		if (gus_cursor_u64(&c) != mark)
			continue;
		core.cpu = (uint32_t)gus_cursor_u64(&c);
		gus_cursor_u64(&c);
		core.midr = gus_cursor_u64(&c);
		if (!c.bad)
			gus_vec_push(&a->cores, core);
	}
}

/* MIDR_EL1 of the CPU whose piece is at hand; the machine's if the file does not tell those of each. */
static uint64_t midr_of(const struct gus_perfdata_aux *a)
{
	for (size_t i = 0; i < a->cores.n; i++)
		if (a->cores.v[i].cpu == a->piece.cpu)
			return a->cores.v[i].midr;
	return a->cores.n ? 0 : a->midr;
}

void gus_perfdata_aux_note(struct gus_perfdata_aux *a, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = body_of(a, r);

	if (r->type == GUS_PERFDATA_AUXTRACE_INFO)
		note_info(a, c);
	else if (r->type == GUS_PERFDATA_TIME_CONV)
		note_clock(a, c);
	else if (r->type == GUS_PERFDATA_AUXTRACE)
		a->pieces++;
	a->bytes += r->type == GUS_PERFDATA_AUXTRACE ? r->beside_size : 0;
}

/* Nanoseconds of the recording's clock; 0 if the file does not say how to come to them. */
static uint64_t time_of(const struct gus_perfdata_aux *a, uint64_t ticks)
{
	uint64_t whole, rest;

	if (!a->timed)
		return 0;
	/* As the kernel's own conversion does it, so that the product does not leave 64 bits. */
	whole = ticks >> a->shift;
	rest = ticks & ((UINT64_C(1) << a->shift) - 1);
	return a->zero + whole * a->mult + (uint64_t)((unsigned __int128)rest * a->mult >> a->shift);
}

void gus_perfdata_aux_begin(struct gus_perfdata_aux *a, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = body_of(a, r);

	gusprof__aux__init(&a->piece);
	gus_cursor_u64(&c); /* its size, which is what stands beside it */
	a->piece.offset = gus_cursor_u64(&c);
	a->piece.reference = gus_cursor_u64(&c);
	a->piece.queue = gus_cursor_u32(&c);
	a->piece.tid = gus_cursor_u32(&c);
	a->piece.cpu = gus_cursor_u32(&c);
	a->piece.kind = (char *)(uintptr_t)gus_perfdata_aux_kind(a);
	a->at = r->beside;
	a->left = r->beside_size;
	a->window.n = a->used = 0;
}

/* Drops what of the window is used, and puts as much more behind the rest as is read at a time. The window moves by
 * multiples of ALIGNED: SPE's packets of alignment fill up to powers of two, counted from where the buffer begins. 0,
 * or -1 with err. */
static int fill(struct gus_perfdata_aux *a, struct gus_perfdata *file, struct gus_error *err)
{
	size_t passed = a->used & ~(size_t)(ALIGNED - 1), rest = a->window.n - passed;
	size_t want = a->left < PIECE ? (size_t)a->left : PIECE;
	int64_t n;

	if (rest && passed)
		memmove(a->window.v, a->window.v + passed, rest);
	a->used -= passed;
	gus_vec_reserve(&a->window, rest + want);
	n = gus_perfdata_read(file, a->at, a->window.v + rest, want, err);
	if (n < 0)
		return -1;
	a->window.n = rest + (size_t)n;
	a->at += (uint64_t)n;
	a->left = (size_t)n < want ? 0 : a->left - (uint64_t)n; /* the file ends before it does */
	return 0;
}

int gus_perfdata_aux_next(struct gus_perfdata_aux *a, struct gus_perfdata *file, Gusprof__Aux *out,
			  struct gus_error *err)
{
	a->used = a->window.n = 0;
	if (!a->left || fill(a, file, err) != 0)
		return a->left ? -1 : 0;
	*out = a->piece;
	out->bytes.data = a->window.v;
	out->bytes.len = a->window.n;
	a->piece.offset += a->window.n;
	return a->window.n ? 1 : 0;
}

static void note_lost(struct gus_perfdata_aux *a, const struct gus_spe_lost *lost)
{
	a->lost.bytes += lost->bytes;
	a->lost.damaged += lost->damaged;
	a->lost.cut += lost->cut;
}

/* The next record of SPE in the piece, whole: 1, or 0, or -1 with err. One that may go on behind the window is looked
 * at again when there is more of it. A window without any, as large as it may be, is passed over but for what may be a
 * record's beginning. */
static int next_record(struct gus_perfdata_aux *a, struct gus_perfdata *file, struct gus_spe_record *out,
		       struct gus_error *err)
{
	for (;;) {
		struct gus_spe_lost lost = { 0 };
		struct gus_cursor c = gus_cursor(a->window.v, a->window.n);
		bool found;

		c.at += a->used;
		found = gus_spe_record(&c, out, &lost);
		if (!a->left || (found && gus_cursor_left(&c) >= RECORD_MOST)) {
			a->used = found ? gus_cursor_offset(&c) : a->window.n;
			note_lost(a, &lost);
			a->samples += found;
			return found;
		}
		if (!found && a->window.n - a->used > PIECE) {
			lost.cut = 0; /* what is cut here goes on */
			a->used = a->window.n - RECORD_MOST;
			note_lost(a, &lost);
		}
		if (fill(a, file, err) != 0)
			return -1;
	}
}

/* Which process a thread is of, as was heard of it; a thread that nobody told of is taken for its own. */
static uint32_t process_of(const struct gus_perfdata_aux *a, uint32_t tid)
{
	uint32_t slot = gus_index_find(&a->threads, &tid);

	return slot == GUS_INDEX_NONE ? tid : a->processes.v[slot];
}

/* COMM has the process, then the thread; FORK the new one's process, its parent's, and likewise threads. */
void gus_perfdata_aux_hear(struct gus_perfdata_aux *a, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = body_of(a, r);
	uint32_t pid, tid, slot;
	bool is_new;

	if ((r->type != RECORD_COMM && r->type != RECORD_FORK) || !gus_perfdata_aux_is_spe(a))
		return;
	pid = gus_cursor_u32(&c);
	if (r->type == RECORD_FORK)
		gus_cursor_u32(&c);
	tid = gus_cursor_u32(&c);
	if (c.bad || a->threads.n >= THREADS_MOST)
		return;
	slot = gus_index_add(&a->threads, &tid, &is_new);
	if (is_new)
		gus_vec_push(&a->processes, pid);
	else
		a->processes.v[slot] = pid;
}

/* Whose it is: the context, which Linux sets to the thread's number where it sets it, or whose buffer it is. */
static void take_spe(struct gus_perfdata_aux *a, const struct gus_spe_record *r, uint64_t number,
		     struct gus_columns *rows)
{
	struct gus_sample s = { .event = a->event, .cpu = a->piece.cpu, .tid = a->piece.tid, .period = a->period };
	struct gus_branch branch;

	if (r->known & GUS_SPE_HAS_CONTEXT)
		s.tid = r->context;
	s.pid = process_of(a, s.tid);
	s.mode = r->level ? GUS_MODE_KERNEL : GUS_MODE_USER;
	gus_hardware_spe(r, midr_of(a), &s, &branch);
	s.time = number ? number : r->known & GUS_SPE_HAS_TIMESTAMP ? time_of(a, r->timestamp) : 0;
	gus_columns_push(rows, &s);
}

int gus_perfdata_aux_samples(struct gus_perfdata_aux *a, struct gus_perfdata *file, uint64_t number, size_t most,
			     struct gus_columns *rows, struct gus_error *err)
{
	struct gus_spe_record r;
	int got = 1;

	if (a->event == GUS_PERFDATA_AUX_NOBODY)
		return 0;
	while (rows->n < most && (got = next_record(a, file, &r, err)) > 0)
		take_spe(a, &r, number, rows);
	return got;
}

void gus_perfdata_aux_rewind(struct gus_perfdata_aux *a)
{
	a->samples = 0;
	a->lost = (struct gus_spe_lost){ 0 };
}

void gus_perfdata_aux_free(struct gus_perfdata_aux *a)
{
	gus_vec_free(&a->window);
	gus_vec_free(&a->cores);
	gus_vec_free(&a->processes);
	gus_index_free(&a->threads);
}
