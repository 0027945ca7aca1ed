/* SPDX-License-Identifier: MIT */
/* The kernel's records, as bytes, become samples, switches and side band; kallsyms becomes covering symbols. */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/notes.h"
#include "collector/records/records.h"
#include "collector/session/hits.h"

#define FLAT (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_STREAM_ID | \
	      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define ID_A 0x101
#define ID_B 0x202

/* A record under construction. Its layout is written out by the tests, from the ABI's description. */
struct maker { uint8_t bytes[1024]; size_t n; };

static void put(struct maker *m, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		m->bytes[m->n++] = (uint8_t)(value >> 8 * i);
}

static struct maker header(uint32_t type, uint16_t misc)
{
	struct maker m = { .n = 0 };

	put(&m, type, 4);
	put(&m, misc, 2);
	put(&m, 0, 2);
	return m;
}

/* The field that says how long the record is. */
static void close_record(struct maker *m)
{
	m->bytes[6] = (uint8_t)m->n;
	m->bytes[7] = (uint8_t)(m->n >> 8);
}

static void put_text(struct maker *m, const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(m->bytes + m->n, text, n);
	m->n += n;
	while (m->n & 7)
		m->bytes[m->n++] = 0;
}

/* The trailer of FLAT: pid 7, tid 8, time 9000, cpu 3, event B. */
static void put_trailer(struct maker *m)
{
	put(m, 7, 4);
	put(m, 8, 4);
	put(m, 9000, 8);
	put(m, 0x303, 8); /* STREAM_ID */
	put(m, 3, 4);
	put(m, 0, 4);
	put(m, ID_B, 8);
	close_record(m);
}

static struct maker sample(uint16_t misc, uint64_t id, uint64_t stream)
{
	struct maker m = header(PERF_RECORD_SAMPLE, misc);

	put(&m, id, 8);
	put(&m, 0x401000, 8); /* ip */
	put(&m, 7, 4);
	put(&m, 8, 4);
	put(&m, 9000, 8);
	put(&m, stream, 8);
	put(&m, 3, 4);
	put(&m, 0, 4);
	put(&m, 1000003, 8);
	close_record(&m);
	return m;
}

struct fixture {
	struct gus_records records;
	struct gus_sideband sideband;
};

static void start(struct fixture *f, uint64_t type)
{
	memset(f, 0, sizeof(*f));
	gus_records_init(&f->records, type, 0, 2);
	assert_int_equal(gus_records_add_id(&f->records, ID_A, 0), 0);
	assert_int_equal(gus_records_add_id(&f->records, ID_B, 1), 1);
}

static void stop(struct fixture *f)
{
	gus_records_free(&f->records);
	gus_sideband_free(&f->sideband);
}

static struct gus_record parse(struct fixture *f, const struct maker *m)
{
	return gus_records_parse(&f->records, m->bytes, m->n, &f->sideband);
}

/* What stands where others have their period is the next field: here, that there are no callers. */
static void sample_without_a_period(void **state)
{
	struct maker m = header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	struct fixture f;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_CALLCHAIN);
	put(&m, ID_B, 8);
	put(&m, 0x401000, 8);
	put(&m, 7, 4);
	put(&m, 8, 4);
	put(&m, 9000, 8);
	put(&m, ID_B, 8);
	put(&m, 3, 4);
	put(&m, 0, 4);
	put(&m, 1, 8);
	put(&m, 0x402000, 8);
	close_record(&m);
	for (uint32_t unweighed = 0; unweighed < 3; unweighed++) {
		struct gus_record record;

		f.records.unweighed = unweighed;
		record = parse(&f, &m);
		/* A period of 1, and then far too many callers. */
		assert_int_equal(record.kind, unweighed == 2 ? GUS_RECORD_SAMPLE : GUS_RECORD_BAD);
		if (unweighed != 2)
			continue;
		assert_int_equal(record.sample.period, 0);
		assert_int_equal(record.sample.chain_n, 1);
		assert_int_equal(record.sample.chain[0], 0x402000);
	}
	stop(&f);
}

static void flat_sample(void **state)
{
	struct fixture f;
	struct maker m = sample(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, ID_B, ID_B);
	struct gus_record r;

	(void)state;
	start(&f, FLAT);
	r = parse(&f, &m);
	assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
	assert_int_equal(r.sample.ip, 0x401000);
	assert_int_equal(r.sample.pid, 7);
	assert_int_equal(r.sample.tid, 8);
	assert_int_equal(r.sample.time, 9000);
	assert_int_equal(r.sample.cpu, 3);
	assert_int_equal(r.sample.period, 1000003);
	assert_int_equal(r.sample.event, 1);
	assert_int_equal(r.sample.mode, GUS_MODE_USER);
	assert_true(r.sample.exact);
	assert_int_equal(r.sample.chain_n, 0);
	assert_int_equal(r.slot, 1);
	assert_false(r.inherited);
	m = sample(PERF_RECORD_MISC_KERNEL, ID_A, 0x999);
	r = parse(&f, &m);
	assert_int_equal(r.sample.mode, GUS_MODE_KERNEL);
	assert_false(r.sample.exact);
	assert_true(r.inherited);
	assert_int_equal(r.sample.event, 0);
	m = sample(PERF_RECORD_MISC_KERNEL, 0x777, 0x777);
	r = parse(&f, &m);
	assert_int_equal(r.sample.event, 2); /* how many there are: unknown */
	assert_int_equal(r.slot, GUS_INDEX_NONE);
	stop(&f);
}

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PID 0x11
#define TID 0x12
#define TIME 0x1300000013
#define STREAM 0x1500000015
#define CPU 0x16

/* The fields of a sample as the ABI orders them, for every choice of them: each is where it should be if those
 * before it are there or not, and what was not asked for is zero. */
static void every_layout(void **state)
{
	static const struct { uint64_t bit, value; } fields[] = {
		{ PERF_SAMPLE_IDENTIFIER, ID_A }, { PERF_SAMPLE_IP, 0x401000 },
		{ PERF_SAMPLE_TID, (uint64_t)TID << 32 | PID },
		{ PERF_SAMPLE_TIME, TIME }, { PERF_SAMPLE_ADDR, 0xadd7 }, { PERF_SAMPLE_ID, ID_B },
		{ PERF_SAMPLE_STREAM_ID, STREAM }, { PERF_SAMPLE_CPU, 0xffffffff00000000 | CPU },
		{ PERF_SAMPLE_PERIOD, 1000003 },
	};

	(void)state;
	for (unsigned choice = 0; choice < 1u << COUNT(fields); choice++) {
		struct maker m = header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		uint64_t type = 0, id;
		struct fixture f;
		struct gus_record r;

		for (size_t i = 0; i < COUNT(fields); i++)
			if (choice & 1u << i) {
				type |= fields[i].bit;
				put(&m, fields[i].value, 8);
			}
		close_record(&m);
		start(&f, type);
		r = parse(&f, &m);
		id = type & PERF_SAMPLE_ID ? ID_B : type & PERF_SAMPLE_IDENTIFIER ? ID_A : 0;
		assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
		assert_int_equal(r.sample.ip, type & PERF_SAMPLE_IP ? 0x401000 : 0);
		assert_int_equal(r.sample.pid, type & PERF_SAMPLE_TID ? PID : GUS_TASK_UNKNOWN);
		assert_int_equal(r.sample.tid, type & PERF_SAMPLE_TID ? TID : GUS_TASK_UNKNOWN);
		assert_int_equal(r.sample.time, type & PERF_SAMPLE_TIME ? TIME : 0);
		assert_int_equal(r.sample.cpu, type & PERF_SAMPLE_CPU ? CPU : GUS_CPU_UNKNOWN);
		assert_int_equal(r.sample.period, type & PERF_SAMPLE_PERIOD ? 1000003 : 0);
		assert_int_equal(r.slot, id == ID_A ? 0 : id == ID_B ? 1 : GUS_INDEX_NONE);
		assert_int_equal(r.sample.event, id == ID_A ? 0 : id == ID_B ? 1 : 2);
		assert_int_equal(r.inherited, (type & PERF_SAMPLE_STREAM_ID) != 0);
		stop(&f);
	}
}

/* The same of the trailer, by a record that has nothing else, and by one with a body that is as long as the trailer.
 * One byte less is no record. */
static void every_trailer(void **state)
{
	static const struct { uint64_t bit, value; } fields[] = {
		{ PERF_SAMPLE_TID, (uint64_t)TID << 32 | PID }, { PERF_SAMPLE_TIME, TIME }, { PERF_SAMPLE_ID, ID_A },
		{ PERF_SAMPLE_STREAM_ID, STREAM }, { PERF_SAMPLE_CPU, 0xffffffff00000000 | CPU },
		{ PERF_SAMPLE_IDENTIFIER, ID_B },
	};

	(void)state;
	for (unsigned choice = 0; choice < 1u << COUNT(fields); choice++) {
		struct maker m = header(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
		struct maker lost = header(PERF_RECORD_LOST_SAMPLES, 0);
		uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD; /* which no trailer has */
		struct fixture f;
		struct gus_record r;

		put(&lost, 5, 8);
		for (size_t i = 0; i < COUNT(fields); i++)
			if (choice & 1u << i) {
				type |= fields[i].bit;
				put(&m, fields[i].value, 8);
				put(&lost, fields[i].value, 8);
			}
		close_record(&m);
		close_record(&lost);
		start(&f, type);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SWITCH);
		assert_int_equal(r.sw.pid, type & PERF_SAMPLE_TID ? PID : 0);
		assert_int_equal(r.sw.tid, type & PERF_SAMPLE_TID ? TID : 0);
		assert_int_equal(r.sw.time, type & PERF_SAMPLE_TIME ? TIME : 0);
		assert_int_equal(r.sw.cpu, type & PERF_SAMPLE_CPU ? CPU : GUS_CPU_UNKNOWN);
		r = parse(&f, &lost);
		assert_int_equal(r.kind, GUS_RECORD_SIDEBAND);
		assert_int_equal(r.sideband->lost->count, 5);
		assert_int_equal(r.sideband->lost->event,
				 type & PERF_SAMPLE_IDENTIFIER ? 1 : type & PERF_SAMPLE_ID ? 0 : 2);
		m.n--;
		assert_int_equal(parse(&f, &m).kind, GUS_RECORD_BAD);
		stop(&f);
	}
}

/* Ids get their slots in the order in which they are said, each once, and an id that was not known may become so. */
static void ids(void **state)
{
	struct maker a = sample(PERF_RECORD_MISC_USER, ID_A, ID_A), c = sample(PERF_RECORD_MISC_USER, 0x303, 0x303);
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	assert_int_equal(parse(&f, &a).slot, 0);
	assert_int_equal(parse(&f, &c).slot, GUS_INDEX_NONE);
	assert_int_equal(parse(&f, &c).slot, GUS_INDEX_NONE);
	assert_int_equal(gus_records_add_id(&f.records, ID_A, 1), 0); /* known: it stays what it was */
	assert_int_equal(gus_records_add_id(&f.records, 0x303, 1), 2);
	assert_int_equal(parse(&f, &c).slot, 2);
	assert_int_equal(parse(&f, &c).sample.event, 1);
	assert_int_equal(parse(&f, &a).slot, 0);
	assert_int_equal(parse(&f, &a).sample.event, 0);
	assert_int_equal(parse(&f, &c).slot, 2);
	stop(&f);
}

/* The interrupted address leads the chain and is left out; markers stay; a chain that begins with a caller keeps it. */
static void chains(void **state)
{
	static const struct { uint16_t mode; uint64_t in[6], out[6]; size_t in_n, out_n; } cases[] = {
		{ PERF_RECORD_MISC_USER, { PERF_CONTEXT_USER, 0x401000, 0x402000, 0x403000 },
		  { PERF_CONTEXT_USER, 0x402000, 0x403000 }, 4, 3 },
		{ PERF_RECORD_MISC_KERNEL, { PERF_CONTEXT_KERNEL, 0x401000, 0x88, PERF_CONTEXT_USER, 0x402000 },
		  { PERF_CONTEXT_KERNEL, 0x88, PERF_CONTEXT_USER, 0x402000 }, 5, 4 },
		{ PERF_RECORD_MISC_KERNEL, { PERF_CONTEXT_USER, 0x402000 }, { PERF_CONTEXT_USER, 0x402000 }, 2, 2 },
		{ PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, { PERF_CONTEXT_USER, 0x401004, 0x402000 },
		  { PERF_CONTEXT_USER, 0x402000 }, 3, 2 },
		{ PERF_RECORD_MISC_USER, { 0 }, { 0 }, 0, 0 },
		/* Only the first address, and without the hardware's word only the address itself. */
		{ PERF_RECORD_MISC_USER, { PERF_CONTEXT_USER, 0x401000, 0x401000 },
		  { PERF_CONTEXT_USER, 0x401000 }, 3, 2 },
		{ PERF_RECORD_MISC_USER, { PERF_CONTEXT_USER, 0x402000, 0x401000 },
		  { PERF_CONTEXT_USER, 0x402000, 0x401000 }, 3, 3 },
		{ PERF_RECORD_MISC_USER, { PERF_CONTEXT_USER, 0x401004 }, { PERF_CONTEXT_USER, 0x401004 }, 2, 2 },
		/* An exact address may differ from that of the interrupt, which leads the chain: in its own context
		 * only. */
		{ PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP, { PERF_CONTEXT_KERNEL, 0x401004, 0x88 },
		  { PERF_CONTEXT_KERNEL, 0x88 }, 3, 2 },
		{ PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP, { PERF_CONTEXT_USER, 0x402000 },
		  { PERF_CONTEXT_USER, 0x402000 }, 2, 2 },
		{ PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, { PERF_CONTEXT_KERNEL, 0x402000 },
		  { PERF_CONTEXT_KERNEL, 0x402000 }, 2, 2 },
		{ PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, { 0x402000, 0x403000 },
		  { 0x402000, 0x403000 }, 2, 2 },
		/* Markers are the last 4095 numbers; the one before them is an address, which then is the first. */
		{ PERF_RECORD_MISC_USER, { (uint64_t)-4096, 0x401000 }, { (uint64_t)-4096, 0x401000 }, 2, 2 },
		{ PERF_RECORD_MISC_USER, { (uint64_t)-4095, 0x401000 }, { (uint64_t)-4095 }, 2, 1 },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_CALLCHAIN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m = sample(cases[i].mode, ID_A, ID_A);
		struct gus_record r;

		put(&m, cases[i].in_n, 8);
		for (size_t k = 0; k < cases[i].in_n; k++)
			put(&m, cases[i].in[k], 8);
		close_record(&m);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
		assert_int_equal(r.sample.chain_n, cases[i].out_n);
		if (cases[i].out_n)
			assert_memory_equal(r.sample.chain, cases[i].out, cases[i].out_n * sizeof(uint64_t));
	}
	stop(&f);
}

/* A record with two addresses in it: the number before them may say up to two, and what it leaves is nobody's. */
static void chain_longer_than_its_record(void **state)
{
	static const struct { uint64_t says; bool bad; } cases[] = {
		{ 1, false }, { 2, false }, { 3, true }, { 1ULL << 32, true }, { UINT64_MAX, true },
		{ UINT64_MAX / 8 + 1, true },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_CALLCHAIN);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);
		struct gus_record r;

		put(&m, cases[i].says, 8);
		put(&m, 1, 8);
		put(&m, 2, 8);
		r = parse(&f, &m);
		assert_int_equal(r.kind, cases[i].bad ? GUS_RECORD_BAD : GUS_RECORD_SAMPLE);
		if (!cases[i].bad)
			assert_int_equal(r.sample.chain_n, cases[i].says);
	}
	stop(&f);
}

#define BRANCH_HW_INDEX (1u << 17)

/* One of three: mispredicted, of 0x1234 cycles, a conditional one; then one of which nothing is known but the
 * addresses; then room that was not used. Where the hardware's index was asked for it stands between the number and
 * them. */
static void branches(void **state)
{
	static const struct { uint64_t type, index; } cases[] = {
		{ 0, 0 }, { BRANCH_HW_INDEX, 7 }, { BRANCH_HW_INDEX, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);
		const struct gus_branch *b;
		struct gus_record r;
		struct fixture f;

		start(&f, FLAT | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK);
		f.records.layout.branch_type = cases[i].type;
		put(&m, 0, 8); /* no chain */
		put(&m, 3, 8);
		if (cases[i].type)
			put(&m, cases[i].index, 8);
		put(&m, 0x401010, 8);
		put(&m, 0x401000, 8);
		put(&m, 1 | 0x1234 << 4 | 1 << 20 | (uint64_t)0xffff << 37, 8); /* the last have no meaning yet */
		put(&m, 0x402000, 8);
		put(&m, 0x400ff0, 8);
		put(&m, 0, 8);
		for (unsigned k = 0; k < 3; k++)
			put(&m, 0, 8);
		close_record(&m);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
		assert_int_equal(r.sample.branches_n, 2);
		b = r.sample.branches;
		assert_true(b[0].from == 0x401010 && b[0].to == 0x401000 && b[0].cycles == 0x1234);
		assert_int_equal(b[0].flags, GUS_BRANCH_MISPREDICTED | 1 << GUS_BRANCH_TYPE_SHIFT);
		assert_true(b[1].from == 0x402000 && b[1].to == 0x400ff0 && b[1].flags == 0 && b[1].cycles == 0);
		assert_int_equal(r.sample.branch_index, cases[i].type ? cases[i].index + 1 : 0);
		stop(&f);
	}
}

/* So many words behind the number of branches, of three words each, and behind the hardware's index where it was
 * asked for. */
static void more_branches_than_the_record_has(void **state)
{
	static const struct { uint64_t says; unsigned words; bool bad; } cases[] = {
		{ 0, 0, false }, { 1, 2, true }, { 1, 3, false }, { 1, 4, false }, { 2, 5, true }, { 2, 6, false },
		{ 3, 8, true },
		{ 1ULL << 32, 6, true }, { UINT64_MAX, 6, true }, { UINT64_MAX / 24 + 2, 6, true },
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);
		bool has_index = i >= COUNT(cases);
		struct gus_record r;
		struct fixture f;

		start(&f, FLAT | PERF_SAMPLE_BRANCH_STACK);
		f.records.layout.branch_type = has_index ? BRANCH_HW_INDEX : 0;
		put(&m, cases[i % COUNT(cases)].says, 8);
		if (has_index)
			put(&m, 1, 8);
		for (unsigned k = 0; k < cases[i % COUNT(cases)].words; k++)
			put(&m, 1, 8);
		r = parse(&f, &m);
		assert_int_equal(r.kind, cases[i % COUNT(cases)].bad ? GUS_RECORD_BAD : GUS_RECORD_SAMPLE);
		if (r.kind == GUS_RECORD_SAMPLE)
			assert_int_equal(r.sample.branches_n, cases[i % COUNT(cases)].says);
		stop(&f);
	}
}

/* Room that was not used is left off at the end only, and only where both addresses are zero. */
static void unused_branches(void **state)
{
	static const struct { uint64_t from_to[3][2]; size_t n; } cases[] = {
		{ { { 0, 0 }, { 0, 0 }, { 0, 0 } }, 0 }, { { { 1, 2 }, { 0, 0 }, { 0, 0 } }, 1 },
		{ { { 1, 2 }, { 0, 0 }, { 3, 4 } }, 3 }, { { { 1, 2 }, { 0, 5 }, { 0, 0 } }, 2 },
		{ { { 1, 2 }, { 5, 0 }, { 0, 0 } }, 2 }, { { { 1, 2 }, { 3, 4 }, { 0, 6 } }, 3 },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_BRANCH_STACK);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);
		struct gus_record r;

		put(&m, 3, 8);
		for (size_t k = 0; k < 3; k++) {
			put(&m, cases[i].from_to[k][0], 8);
			put(&m, cases[i].from_to[k][1], 8);
			put(&m, 1, 8); /* flags do not make a branch */
		}
		r = parse(&f, &m);
		assert_int_equal(r.sample.branches_n, cases[i].n);
		for (size_t k = 0; k < cases[i].n; k++) {
			assert_int_equal(r.sample.branches[k].from, cases[i].from_to[k][0]);
			assert_int_equal(r.sample.branches[k].to, cases[i].from_to[k][1]);
		}
	}
	stop(&f);
}

/* The third word, bit by bit: four flags, 16 bits of cycles, then 13 bits of kinds, which follow the flags; the rest
 * has no meaning yet. */
static void branch_bits(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_BRANCH_STACK);
	for (unsigned bit = 0; bit < 64; bit++) {
		struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);
		bool is_flag = bit < 4, is_cycles = bit >= 4 && bit < 20, is_kind = bit >= 20 && bit < 33;
		const struct gus_branch *b;

		put(&m, 1, 8);
		put(&m, 0x401000, 8);
		put(&m, 0x402000, 8);
		put(&m, 1ULL << bit, 8);
		b = parse(&f, &m).sample.branches;
		assert_int_equal(b->flags, is_flag ? 1u << bit : is_kind ? 1u << (bit - 16) : 0);
		assert_int_equal(b->cycles, is_cycles ? 1u << (bit - 4) : 0);
	}
	stop(&f);
}

/* Branches stand behind the chain, and both behind the flat fields. */
/* Registers and a piece of the stack, behind all else that is asked for. */
#define STACKED (FLAT | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static struct maker stacked(uint64_t abi, uint64_t regs, uint64_t size, uint64_t read)
{
	struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);

	put(&m, 0, 8); /* of the chain */
	put(&m, abi, 8);
	for (uint64_t i = 0; i < regs; i++)
		put(&m, 0x7f00 + i, 8);
	put(&m, size, 8);
	for (uint64_t i = 0; i < size; i++)
		put(&m, i, 1);
	if (size)
		put(&m, read, 8);
	close_record(&m);
	return m;
}

static void start_stacked(struct fixture *f)
{
	start(f, STACKED);
	f->records.layout.regs_mask = 0x8003; /* three, that do not stand together */
}

static void registers_and_stack(void **state)
{
	struct maker m = stacked(PERF_SAMPLE_REGS_ABI_64, 3, 32, 24);
	struct fixture f;
	struct gus_record r;

	(void)state;
	start_stacked(&f);
	r = gus_records_parse(&f.records, m.bytes, m.n, NULL);
	assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
	assert_int_equal(r.sample.regs_n, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(r.sample.regs[i], 0x7f00 + i);
	assert_int_equal(r.sample.stack_n, 3); /* what the kernel could read, and not what was asked for */
	assert_int_equal(r.sample.stack[0], 0x0706050403020100);
	assert_int_equal(r.sample.stack[2], 0x1716151413121110);
	assert_int_equal(r.sample.callers, GUS_CALLERS_UNTOLD);
	assert_int_equal(r.slot, 0);
	stop(&f);
}

/* Where it lies in the record it is read, unless it is no array of words there. */
static void a_stack_at_an_odd_place(void **state)
{
	struct maker m = stacked(PERF_SAMPLE_REGS_ABI_64, 3, 24, 24);
	_Alignas(8) uint8_t bytes[1024 + 8];
	struct fixture f;

	(void)state;
	start_stacked(&f);
	for (size_t at = 0; at < 8; at++) {
		const uint8_t *end = bytes + at + m.n;
		struct gus_record r;
		bool inside;

		memcpy(bytes + at, m.bytes, m.n);
		r = gus_records_parse(&f.records, bytes + at, m.n, NULL);
		inside = (const uint8_t *)r.sample.stack > bytes && (const uint8_t *)r.sample.stack < end;
		assert_int_equal(r.sample.stack_n, 3);
		assert_int_equal(r.sample.stack[1], 0x0f0e0d0c0b0a0908);
		assert_int_equal(inside, at == 0);
	}
	stop(&f);
}

/* A thread of the kernel's has none, and of 32 bits they are others: no stack without registers. */
static void stacks_that_nobody_unwinds(void **state)
{
	const struct { uint64_t abi, regs, callers; } cases[] = {
		{ PERF_SAMPLE_REGS_ABI_NONE, 0, GUS_CALLERS_WHOLE },
		{ PERF_SAMPLE_REGS_ABI_32, 3, GUS_CALLERS_ABI },
		{ 7, 3, GUS_CALLERS_ABI },
	};
	struct fixture f;

	(void)state;
	start_stacked(&f);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker m = stacked(cases[i].abi, cases[i].regs, 16, 16);
		struct gus_record r = parse(&f, &m);

		assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
		assert_int_equal(r.sample.regs_n, 0);
		assert_int_equal(r.sample.stack_n, 0);
		assert_int_equal(r.sample.callers, cases[i].callers);
	}
	stop(&f);
}

/* What says that it is more than there is makes the record a bad one. An empty stack has no count behind it. */
static void stacks_that_are_bounded(void **state)
{
	const struct { uint64_t size, read; enum gus_record_kind kind; uint32_t words; } cases[] = {
		{ 0, 0, GUS_RECORD_SAMPLE, 0 }, { 16, 0, GUS_RECORD_SAMPLE, 0 }, { 16, 16, GUS_RECORD_SAMPLE, 2 },
		{ 16, 15, GUS_RECORD_SAMPLE, 1 }, { 16, 17, GUS_RECORD_BAD, 0 }, { 16, UINT64_MAX, GUS_RECORD_BAD, 0 },
	};
	struct fixture f;
	struct maker m;

	(void)state;
	start_stacked(&f);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_record r;

		m = stacked(PERF_SAMPLE_REGS_ABI_64, 3, cases[i].size, cases[i].read);
		r = parse(&f, &m);
		assert_int_equal(r.kind, cases[i].kind);
		if (r.kind == GUS_RECORD_SAMPLE)
			assert_int_equal(r.sample.stack_n, cases[i].words);
	}
	m = stacked(PERF_SAMPLE_REGS_ABI_64, 3, 16, 16);
	for (size_t size = m.n - 1; size >= m.n - 24 - 8 - 24; size--) { /* into the registers */
		struct maker cut = m;

		cut.n = size;
		assert_int_equal(parse(&f, &cut).kind, GUS_RECORD_BAD);
	}
	memset(m.bytes + m.n - 32, 0xff, 8); /* the size */
	assert_int_equal(parse(&f, &m).kind, GUS_RECORD_BAD);
	stop(&f);
}

/* A record's time, without the rest of it. */
static void times_of_records(void **state)
{
	struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A), exit = header(PERF_RECORD_EXIT, 0);
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	assert_int_equal(gus_records_time(&f.records, m.bytes, m.n), 9000);
	assert_int_equal(gus_records_time(&f.records, m.bytes, 39), 0); /* cut within the time */
	assert_int_equal(gus_records_time(&f.records, m.bytes, 3), 0);
	for (int i = 0; i < 3; i++)
		put(&exit, 5, 8);
	put_trailer(&exit);
	assert_int_equal(gus_records_time(&f.records, exit.bytes, exit.n), 9000);
	assert_int_equal(gus_records_time(&f.records, exit.bytes, 40), 0);
	stop(&f);
	start(&f, PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	assert_int_equal(gus_records_time(&f.records, m.bytes, m.n), 0);
	stop(&f);
}

static void chain_and_branches(void **state)
{
	struct maker m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A);
	struct fixture f;
	struct gus_record r;

	(void)state;
	start(&f, FLAT | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK);
	put(&m, 2, 8);
	put(&m, PERF_CONTEXT_USER, 8);
	put(&m, 0x402000, 8);
	put(&m, 1, 8);
	put(&m, 0x403000, 8);
	put(&m, 0x401000, 8);
	put(&m, 0, 8);
	r = parse(&f, &m);
	assert_int_equal(r.sample.chain_n, 2);
	assert_int_equal(r.sample.branches_n, 1);
	assert_int_equal(r.sample.branches[0].from, 0x403000);
	m = sample(PERF_RECORD_MISC_USER, ID_A, ID_A); /* nothing of the last one is left */
	put(&m, 0, 8);
	put(&m, 0, 8);
	r = parse(&f, &m);
	assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
	assert_int_equal(r.sample.chain_n, 0);
	assert_int_equal(r.sample.branches_n, 0);
	stop(&f);
}

static struct maker mmap2(uint16_t misc)
{
	struct maker m = header(PERF_RECORD_MMAP2, misc);

	put(&m, 10, 4);
	put(&m, 11, 4);
	put(&m, 0x7f0000, 8);
	put(&m, 0x2000, 8);
	put(&m, 0x1000, 8);
	return m;
}

static void mapping_with_inode(void **state)
{
	struct fixture f;
	struct maker m = mmap2(PERF_RECORD_MISC_USER);
	struct gus_record r;
	const Gusprof__Mmap *p;

	(void)state;
	start(&f, FLAT);
	put(&m, 8, 4);
	put(&m, 1, 4);
	put(&m, 1234, 8);
	put(&m, 5, 8);
	put(&m, 5, 4);
	put(&m, 2, 4);
	put_text(&m, "/usr/lib/libx.so");
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.kind, GUS_RECORD_SIDEBAND);
	assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_MMAP);
	p = r.sideband->mmap;
	assert_int_equal(p->pid, 10);
	assert_int_equal(p->tid, 11);
	assert_int_equal(p->time, 9000);
	assert_int_equal(p->start, 0x7f0000);
	assert_int_equal(p->length, 0x2000);
	assert_int_equal(p->offset, 0x1000);
	assert_string_equal(p->path, "/usr/lib/libx.so");
	assert_int_equal(p->major, 8);
	assert_int_equal(p->minor, 1);
	assert_int_equal(p->inode, 1234);
	assert_int_equal(p->generation, 5);
	assert_int_equal(p->protection, 5);
	assert_int_equal(p->flags, 2);
	assert_int_equal(p->build_id.len, 0);
	assert_false(p->kernel);
	stop(&f);
}

/* The older record has no file and no protection: it is told for code only. The bit of a build id means something
 * else there. */
static void mapping_without_file(void **state)
{
	struct maker m = header(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	const Gusprof__Mmap *p;
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	put(&m, 10, 4);
	put(&m, 11, 4);
	put(&m, 0x7f0000, 8);
	put(&m, 0x2000, 8);
	put(&m, 0x1000, 8);
	put_text(&m, "/bin/x");
	put_trailer(&m);
	p = parse(&f, &m).sideband->mmap;
	assert_int_equal(p->pid, 10);
	assert_int_equal(p->offset, 0x1000);
	assert_string_equal(p->path, "/bin/x");
	assert_int_equal(p->protection, PROT_EXEC);
	assert_int_equal(p->flags, 0);
	assert_int_equal(p->inode, 0);
	assert_int_equal(p->major, 0);
	assert_int_equal(p->build_id.len, 0);
	stop(&f);
}

/* The build id stands where the inode would, if what stands there can be one: of a size that linkers give, and filled
 * up with zeros. The kernel may have marked so what is a device and an inode. */
static void mapping_with_build_id(void **state)
{
	static const uint8_t lengths[] = { 20, 16, 8, 19, 0, 21, 254, 8, 20 }, kept[] = { 20, 16, 8, 0, 0, 0, 0, 0, 0 };
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < sizeof(lengths); i++) {
		struct maker m = mmap2(PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_MMAP_BUILD_ID);
		struct gus_record r;

		put(&m, lengths[i] | (i == 8) << 8, 4);
		for (unsigned k = 0; k < 20; k++)
			put(&m, k < lengths[i] || i == 7 ? 0xa0 + k : 0, 1);
		put(&m, 5, 4);
		put(&m, 2, 4);
		put_text(&m, "[k]");
		put_trailer(&m);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SIDEBAND);
		assert_int_equal(r.sideband->mmap->build_id.len, kept[i]);
		for (unsigned k = 0; k < kept[i]; k++)
			assert_int_equal(r.sideband->mmap->build_id.data[k], 0xa0 + k);
		assert_string_equal(r.sideband->mmap->path, "[k]");
		assert_int_equal(r.sideband->mmap->major, kept[i] ? 0 : lengths[i] | (i == 8) << 8);
		assert_true(r.sideband->mmap->kernel);
	}
	stop(&f);
}

static void names_and_tasks(void **state)
{
	struct fixture f;
	struct maker m = header(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	struct gus_record r;

	(void)state;
	start(&f, FLAT);
	put(&m, 10, 4);
	put(&m, 11, 4);
	put_text(&m, "worker");
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_COMM);
	assert_string_equal(r.sideband->comm->name, "worker");
	assert_int_equal(r.sideband->comm->pid, 10);
	assert_int_equal(r.sideband->comm->tid, 11);
	assert_int_equal(r.sideband->comm->time, 9000);
	assert_true(r.sideband->comm->exec);
	for (unsigned type = PERF_RECORD_EXIT; type <= PERF_RECORD_FORK; type += PERF_RECORD_FORK - PERF_RECORD_EXIT) {
		m = header(type, 0);
		put(&m, 20, 4);
		put(&m, 10, 4);
		put(&m, 21, 4);
		put(&m, 11, 4);
		put(&m, 8888, 8); /* its own time, not the trailer's */
		put_trailer(&m);
		r = parse(&f, &m);
		assert_int_equal(r.sideband->kind_case, type == PERF_RECORD_FORK ? GUSPROF__RECORD__KIND_FORK :
				 GUSPROF__RECORD__KIND_EXIT);
		assert_int_equal(r.sideband->fork->pid, 20);
		assert_int_equal(r.sideband->fork->ppid, 10);
		assert_int_equal(r.sideband->fork->tid, 21);
		assert_int_equal(r.sideband->fork->ptid, 11);
		assert_int_equal(r.sideband->fork->time, 8888);
	}
	assert_int_equal(f.sideband.records.n, 3);
	stop(&f);
}

/* A name that begins with \\1 and a kind is a mark and no name; what is not quite that is a name. */
static void marks(void **state)
{
	static const struct { const char *name, *kind, *mark; } cases[] = {
		{ "\1pstep", "point", "step" }, { "\1bstep", "begin", "step" }, { "\1estep", "end", "step" },
		{ "\1p", "point", "" },
		{ "\1pb", "point", "b" }, { "\1", NULL, NULL }, { "", NULL, NULL }, { "\1xstep", NULL, NULL },
		{ "pstep", NULL, NULL },
		{ "\2pstep", NULL, NULL },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker m = header(PERF_RECORD_COMM, 0);
		const Gusprof__Record *r;

		put(&m, 10, 4);
		put(&m, 11, 4);
		put_text(&m, cases[i].name);
		put_trailer(&m);
		r = parse(&f, &m).sideband;
		if (cases[i].kind) {
			assert_int_equal(r->kind_case, GUSPROF__RECORD__KIND_MARK);
			assert_string_equal(r->mark->kind, cases[i].kind);
			assert_string_equal(r->mark->name, cases[i].mark);
			assert_int_equal(r->mark->pid, 10);
			assert_int_equal(r->mark->tid, 11);
			assert_int_equal(r->mark->time, 9000);
		} else {
			assert_int_equal(r->kind_case, GUSPROF__RECORD__KIND_COMM);
			assert_string_equal(r->comm->name, cases[i].name);
			assert_false(r->comm->exec);
		}
	}
	stop(&f);
}

static void losses_and_throttling(void **state)
{
	struct fixture f;
	struct maker m = header(PERF_RECORD_LOST, 0);
	struct gus_record r;

	(void)state;
	start(&f, FLAT);
	put(&m, ID_A, 8);
	put(&m, 17, 8);
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_LOST);
	assert_int_equal(r.sideband->lost->event, 0);
	assert_int_equal(r.sideband->lost->count, 17);
	assert_int_equal(r.sideband->lost->cpu, 3);
	assert_int_equal(r.sideband->lost->time, 9000);
	m = header(PERF_RECORD_LOST_SAMPLES, 0);
	put(&m, 5, 8);
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.sideband->lost->event, 1); /* the trailer's */
	assert_int_equal(r.sideband->lost->count, 5);
	m = header(PERF_RECORD_LOST, 0);
	put(&m, 0x777, 8);
	put(&m, 1, 8);
	put_trailer(&m);
	assert_int_equal(parse(&f, &m).sideband->lost->event, 2); /* nobody's */
	for (unsigned type = PERF_RECORD_THROTTLE; type <= PERF_RECORD_UNTHROTTLE; type++) {
		m = header(type, 0);
		put(&m, 7777, 8);
		put(&m, ID_B, 8);
		put(&m, 0x303, 8);
		put_trailer(&m);
		r = parse(&f, &m);
		assert_int_equal(r.sideband->kind_case, GUSPROF__RECORD__KIND_THROTTLE);
		assert_int_equal(r.sideband->throttle->time, 7777);
		assert_int_equal(r.sideband->throttle->event, 1);
		assert_int_equal(r.sideband->throttle->cpu, 3);
		assert_int_equal(r.sideband->throttle->stop, type == PERF_RECORD_THROTTLE);
	}
	stop(&f);
}

static void kernel_symbol(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (uint16_t flags = 0; flags < 4; flags++) { /* the second bit has no meaning yet */
		struct maker m = header(PERF_RECORD_KSYMBOL, 0);
		const Gusprof__Record *r;

		put(&m, 0xffffffffc0001000, 8);
		put(&m, 300, 4);
		put(&m, 2, 2);
		put(&m, flags, 2);
		put_text(&m, "bpf_prog_1234_x");
		put_trailer(&m);
		r = parse(&f, &m).sideband;
		assert_int_equal(r->kind_case, GUSPROF__RECORD__KIND_KSYMBOL);
		assert_true(r->ksymbol->address == 0xffffffffc0001000);
		assert_int_equal(r->ksymbol->length, 300);
		assert_int_equal(r->ksymbol->type, 2);
		assert_int_equal(r->ksymbol->time, 9000);
		assert_int_equal(r->ksymbol->unregister, flags & 1);
		assert_string_equal(r->ksymbol->name, "bpf_prog_1234_x");
	}
	stop(&f);
}

/* Who left or came is in the trailer; a record of a whole CPU names the other one, too, in its body. That a task was
 * pushed off is said of one that left only. */
static void switches(void **state)
{
	static const struct { uint32_t type; uint16_t misc; bool out, preempt; } cases[] = {
		{ PERF_RECORD_SWITCH, 0, false, false },
		{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, true, false },
		{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, true, true },
		{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, false, false },
		{ PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, true, false },
		{ PERF_RECORD_SWITCH_CPU_WIDE, 0, false, false },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m = header(cases[i].type, cases[i].misc);
		struct gus_record r;

		if (cases[i].type == PERF_RECORD_SWITCH_CPU_WIDE) {
			put(&m, 98, 4);
			put(&m, 99, 4);
		}
		put_trailer(&m);
		r = parse(&f, &m);
		assert_int_equal(r.kind, GUS_RECORD_SWITCH);
		assert_int_equal(r.sw.time, 9000);
		assert_int_equal(r.sw.pid, 7);
		assert_int_equal(r.sw.tid, 8);
		assert_int_equal(r.sw.cpu, 3);
		assert_int_equal(r.sw.out, cases[i].out);
		assert_int_equal(r.sw.preempt, cases[i].preempt);
	}
	stop(&f);
}

/* What hardware has written into its area: which bytes, how it went, and whose task was on the CPU. */
static void pieces(void **state)
{
	struct fixture f;
	struct gus_record r;
	struct maker m, cut;

	(void)state;
	start(&f, FLAT);
	m = header(11, 0);
	put(&m, 0x123456, 8);
	put(&m, 0x78, 8);
	put(&m, GUS_AUX_TRUNCATED | GUS_AUX_COLLISION, 8);
	put_trailer(&m);
	r = parse(&f, &m);
	assert_int_equal(r.kind, GUS_RECORD_AUX);
	assert_int_equal(r.aux.offset, 0x123456);
	assert_int_equal(r.aux.size, 0x78);
	assert_int_equal(r.aux.flags, GUS_AUX_TRUNCATED | GUS_AUX_COLLISION);
	assert_int_equal(r.aux.pid, 7);
	assert_int_equal(r.aux.tid, 8);
	assert_int_equal(r.aux.cpu, 3);
	assert_int_equal(f.sideband.records.n, 0);
	cut = header(11, 0);
	put(&cut, 1, 8);
	put(&cut, 2, 8);
	put_trailer(&cut);
	assert_int_equal(parse(&f, &cut).kind, GUS_RECORD_BAD);
	stop(&f);
}

/* By number, as older headers do not name them all: what is passed over, and that nothing of it is kept. */
static void other_types(void **state)
{
	static const uint32_t ignored[] = { 8, 12, 16, 18, 19, 20, 21 };
	static const uint32_t unknown[] = { 0, 22, 23, 1000, 0x80000009, UINT32_MAX };
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < COUNT(ignored) + COUNT(unknown); i++) {
		bool is_known = i < COUNT(ignored);
		struct maker m = header(is_known ? ignored[i] : unknown[i - COUNT(ignored)], 0);

		/* Without the trailer that one that is known must have. */
		assert_int_equal(parse(&f, &m).kind, is_known ? GUS_RECORD_BAD : GUS_RECORD_UNKNOWN);
		put_trailer(&m);
		assert_int_equal(parse(&f, &m).kind, is_known ? GUS_RECORD_IGNORED : GUS_RECORD_UNKNOWN);
	}
	assert_int_equal(f.sideband.records.n, 0);
	stop(&f);
}

/* A record of that type whose fields before its text take size bytes. */
static struct maker with_fields(uint32_t type, size_t size, const char *text)
{
	struct maker m = header(type, 0);

	for (size_t i = 0; i < size; i++)
		put(&m, 1, 1);
	if (text)
		put_text(&m, text);
	put_trailer(&m);
	return m;
}

/* Each record cut at each byte is bad or, where only its text was cut, still itself; a bad one leaves nothing in the
 * side band, and nothing is read behind the cut (ASan: the bytes are copied into memory of that size). A trailer cut
 * short is taken from the text: only the length that the kernel wrote tells, and that is followed by our caller. */
static void cut_anywhere(void **state)
{
	const struct { struct maker m; size_t text; } cases[] = {
		{ sample(PERF_RECORD_MISC_USER, ID_A, ID_A), 0 }, { with_fields(PERF_RECORD_MMAP2, 64, "/x"), 8 },
		{ with_fields(PERF_RECORD_MMAP, 32, "/x"), 8 }, { with_fields(PERF_RECORD_COMM, 8, "x"), 8 },
		{ with_fields(PERF_RECORD_COMM, 8, "\1px"), 8 }, { with_fields(PERF_RECORD_KSYMBOL, 16, "x"), 8 },
		{ with_fields(PERF_RECORD_FORK, 24, NULL), 0 }, { with_fields(PERF_RECORD_EXIT, 24, NULL), 0 },
		{ with_fields(PERF_RECORD_LOST, 16, NULL), 0 }, { with_fields(PERF_RECORD_LOST_SAMPLES, 8, NULL), 0 },
		{ with_fields(PERF_RECORD_THROTTLE, 24, NULL), 8 }, { with_fields(PERF_RECORD_SWITCH, 0, NULL), 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t n = 0; n < cases[i].m.n; n++) {
			uint8_t *copy = gus_alloc(n);
			struct gus_record r;
			struct fixture f;

			start(&f, FLAT);
			memcpy(copy, cases[i].m.bytes, n);
			r = gus_records_parse(&f.records, copy, n, &f.sideband);
			assert_int_equal(r.kind, n + cases[i].text < cases[i].m.n ? GUS_RECORD_BAD :
					 GUS_RECORD_SIDEBAND);
			assert_int_equal(f.sideband.records.n, r.kind == GUS_RECORD_SIDEBAND);
			stop(&f);
			free(copy);
		}
}

/* The side band counts what it holds, so that it is written in time: beside what each record has, the text of a name
 * with its end, and of a mapping room for the largest build id with one, too. */
static void room_in_the_side_band(void **state)
{
	static const struct { uint32_t type; size_t size; const char *text; size_t room; } cases[] = {
		{ PERF_RECORD_FORK, 24, NULL, 0 }, { PERF_RECORD_EXIT, 24, NULL, 0 }, { PERF_RECORD_LOST, 16, NULL, 0 },
		{ PERF_RECORD_THROTTLE, 24, NULL, 0 }, { PERF_RECORD_COMM, 8, "abc", 4 },
		{ PERF_RECORD_COMM, 8, "", 1 },
		{ PERF_RECORD_COMM, 8, "\1pabc", 4 }, { PERF_RECORD_KSYMBOL, 16, "abc", 4 },
		{ PERF_RECORD_MMAP, 32, "abc", 25 },
		{ PERF_RECORD_MMAP2, 64, "abc", 25 },
	};
	size_t before = 0, empty = 0;
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker m = with_fields(cases[i].type, cases[i].size, cases[i].text);

		assert_int_equal(parse(&f, &m).kind, GUS_RECORD_SIDEBAND);
		empty = i == 0 ? f.sideband.bytes : empty;
		assert_int_equal(f.sideband.bytes - before, empty + cases[i].room);
		before = f.sideband.bytes;
	}
	stop(&f);
}

/* The kernel ends each name with a zero; one that fills its room without any ends there, before the trailer. */
static void names_without_end(void **state)
{
	static const struct { uint32_t type; size_t size; const char *text, *name; } cases[] = {
		{ PERF_RECORD_COMM, 8, "12345678", "12345678" }, { PERF_RECORD_COMM, 8, "\1p345678", "345678" },
		{ PERF_RECORD_KSYMBOL, 16, "12345678", "12345678" }, { PERF_RECORD_MMAP, 32, "12345678", "12345678" },
	};
	struct fixture f;

	(void)state;
	start(&f, FLAT);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker m = header(cases[i].type, 0);
		const Gusprof__Record *r;

		for (size_t k = 0; k < cases[i].size; k++)
			put(&m, 1, 1);
		for (const char *at = cases[i].text; *at; at++)
			put(&m, (uint8_t)*at, 1);
		put_trailer(&m);
		r = parse(&f, &m).sideband;
		assert_string_equal(r->kind_case == GUSPROF__RECORD__KIND_COMM ? r->comm->name :
				    r->kind_case == GUSPROF__RECORD__KIND_MARK ? r->mark->name :
				    r->kind_case == GUSPROF__RECORD__KIND_KSYMBOL ? r->ksymbol->name : r->mmap->path,
				    cases[i].name);
	}
	stop(&f);
}

/* A file like /proc/kallsyms, of which the symbols around the addresses are kept. */
static Gusprof__KernelSymbols *symbols_of_bytes(const char *kallsyms, size_t size, const uint64_t *addresses, size_t n)
{
	char path[] = "/tmp/gusprof-test-XXXXXX";
	int fd = mkstemp(path);
	struct gus_hits k;
	Gusprof__KernelSymbols *m;

	assert_true(fd >= 0 && write(fd, kallsyms, size) == (ssize_t)size);
	close(fd);
	gus_hits_init(&k);
	for (size_t i = 0; i < n; i++)
		gus_hits_add(&k, addresses[i]);
	m = gus_hits_symbols(&k, path);
	gus_hits_free(&k);
	unlink(path);
	return m;
}

static Gusprof__KernelSymbols *symbols_of(const char *kallsyms, const uint64_t *addresses, size_t n)
{
	return symbols_of_bytes(kallsyms, strlen(kallsyms), addresses, n);
}

/* Lines that are none of "ADDRESS TYPE NAME" are passed over. Bytes of zero once ended the text that is kept before its
 * name began, which was then read from behind it. */
static void odd_symbol_lines(void **state)
{
	static const char kallsyms[] = "ffffffff81000000 T good\n"
				       "ffffffff81000010 \0 nul\n"
				       "ffffffff81000020 T n\0ame\n"
				       "ffffffff81000030_T line\n"
				       "ffffffff81000040 TT line\n"
				       "zz 81000050 T line\n"
				       "c0001000 T of_32_bits\n";
	static const uint64_t addresses[] = { 0xffffffff81000018, 0xffffffff81000028, 0xffffffff81000058, 0xc0001004 };
	Gusprof__KernelSymbols *m = symbols_of_bytes(kallsyms, sizeof(kallsyms) - 1, addresses, 4);

	(void)state;
	assert_int_equal(m->n_symbols, 2);
	assert_string_equal(m->symbols[0]->name, "of_32_bits");
	assert_true(m->symbols[0]->address == 0xc0001000);
	assert_string_equal(m->symbols[1]->name, "good");
	assert_true(m->symbols[1]->address == 0xffffffff81000000 && m->symbols[1]->size == 0);
	gusprof__kernel_symbols__free_unpacked(m, NULL);
}

/* The file is read in pieces of 256 KiB: what stands on a border is read as anywhere else, and what is longer than a
 * piece is no line. A function that is chosen when it runs (type i) has a name, too. */
static void many_symbols(void **state)
{
	enum { LINES = 20000, LONG = 300 << 10 };
	char *text = gus_alloc(LINES * 40 + LONG + 100);
	uint64_t addresses[LINES / 100 + 1];
	size_t n = 0, size = 0;
	Gusprof__KernelSymbols *m;

	(void)state;
	for (uint64_t i = 0; i < LINES; i++) {
		size += (size_t)sprintf(text + size, "%" PRIx64 " %c f%" PRIu64 "\n", 0xffffffff81000000 + i * 16,
					"Tti"[i % 3], i);
		if (i % 100 == 99)
			addresses[n++] = 0xffffffff81000000 + i * 16 + 5;
	}
	size += (size_t)sprintf(text + size, "fffffffff0000000 T ");
	memset(text + size, 'x', LONG);
	size += LONG;
	size += (size_t)sprintf(text + size, "\nfffffffff0000010 T y\n");
	addresses[n++] = 0xfffffffff0000017;
	m = symbols_of_bytes(text, size, addresses, n);
	assert_int_equal(m->n_symbols, n);
	for (size_t i = 0; i + 1 < n; i++) {
		snprintf(text, 40, "f%zu", i * 100 + 99);
		assert_string_equal(m->symbols[i]->name, text);
		assert_true(m->symbols[i]->address == addresses[i] - 5);
		assert_true(m->symbols[i]->size == 16 || i == n - 2);
	}
	assert_string_equal(m->symbols[n - 1]->name, "y");
	gusprof__kernel_symbols__free_unpacked(m, NULL);
	free(text);
}

static void covering_symbols(void **state)
{
	static const char kallsyms[] =
		"0000000000000000 A percpu_start\n"
		"ffffffff81000000 t _text\n"
		"ffffffff81000000 T startup\n"
		"ffffffff81000100 t helper\n"
		"ffffffff81000200 T big\n"
		"ffffffff81000200 t big_alias\n"
		"ffffffff81000800 t last\n"
		"ffffffff81000900 D data\n"
		"ffffffffc0001000 t second\t[mod]\n"
		"ffffffffc0000000 t first\t[mod]\n";
	static const uint64_t addresses[] = {
		0xffffffffc0000004, 0xffffffff81000210, 0xffffffff81000700, 0xffffffff81000000, 0xffffffff81000950,
		0xffffffff80000000, 0xffffffff810001ff,
	};
	static const struct { uint64_t address, size; const char *name, *module; } want[] = {
		{ 0xffffffff81000000, 0x100, "startup", "" },
		{ 0xffffffff81000100, 0x100, "helper", "" },
		{ 0xffffffff81000200, 0x600, "big", "" },
		{ 0xffffffffc0000000, 0x1000, "first", "mod" },
	};
	Gusprof__KernelSymbols *m = symbols_of(kallsyms, addresses, sizeof(addresses) / sizeof(*addresses));

	(void)state;
	assert_int_equal(m->n_symbols, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_true(m->symbols[i]->address == want[i].address);
		assert_int_equal(m->symbols[i]->size, want[i].size);
		assert_string_equal(m->symbols[i]->name, want[i].name);
		assert_string_equal(m->symbols[i]->module, want[i].module);
	}
	assert_string_equal(m->refusal, "");
	gusprof__kernel_symbols__free_unpacked(m, NULL);
}

/* What cannot be opened, and what opens and cannot be read: a folder. */
static void symbols_that_cannot_be_read(void **state)
{
	static const char *const paths[] = { "/tmp/gusprof-test-nothing/kallsyms", "/" };
	static const char *const says[] = { "No such file", "Is a directory" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		Gusprof__KernelSymbols *m;
		struct gus_hits k;

		gus_hits_init(&k);
		gus_hits_add(&k, 0xffffffff81000000);
		m = gus_hits_symbols(&k, paths[i]);
		gus_hits_free(&k);
		assert_int_equal(m->n_symbols, 0);
		assert_non_null(strstr(m->refusal, says[i]));
		gusprof__kernel_symbols__free_unpacked(m, NULL);
	}
}

/* Of two addresses, or three, in one function: it stands once, and its end is where the next one begins. */
static void symbols_of_many_addresses(void **state)
{
	static const uint64_t addresses[] = { 0xffffffff81000010, 0xffffffff81000020, 0xffffffff81000030 };

	(void)state;
	for (size_t n = 1; n <= 3; n++) {
		Gusprof__KernelSymbols *m = symbols_of("ffffffff81000000 t before\nffffffff81000008 t all\n"
						       "ffffffff81000040 t behind\n", addresses, n);

		assert_int_equal(m->n_symbols, 1);
		assert_string_equal(m->symbols[0]->name, "all");
		assert_int_equal(m->symbols[0]->size, 0x38);
		gusprof__kernel_symbols__free_unpacked(m, NULL);
	}
}

static void hidden_symbols(void **state)
{
	static const uint64_t addresses[] = { 0xffffffff81000210 };
	Gusprof__KernelSymbols *m = symbols_of("0000000000000000 T _text\n0000000000000000 t x\n", addresses, 1);

	(void)state;
	assert_int_equal(m->n_symbols, 0);
	assert_non_null(strstr(m->refusal, "kptr_restrict"));
	gusprof__kernel_symbols__free_unpacked(m, NULL);
	assert_null(symbols_of("", NULL, 0));
}

static void build_id_in_notes(void **state)
{
	static const uint8_t notes[] = {
		4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 'X', 'y', 'z', 0, 1, 2, 3, 0,               /* another's */
		4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef,
	};
	size_t size = 0;
	const uint8_t *id = gus_notes_build_id(notes, sizeof(notes), &size);

	(void)state;
	assert_non_null(id);
	assert_int_equal(size, 4);
	assert_int_equal(id[0], 0xde);
	for (size_t n = 0; n < sizeof(notes); n++) {
		uint8_t *copy = gus_alloc(n);

		memcpy(copy, notes, n);
		assert_null(gus_notes_build_id(copy, n, &size));
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat_sample),
		cmocka_unit_test(sample_without_a_period),
		cmocka_unit_test(every_layout),
		cmocka_unit_test(every_trailer),
		cmocka_unit_test(ids),
		cmocka_unit_test(chains),
		cmocka_unit_test(chain_longer_than_its_record),
		cmocka_unit_test(branches),
		cmocka_unit_test(more_branches_than_the_record_has),
		cmocka_unit_test(unused_branches),
		cmocka_unit_test(branch_bits),
		cmocka_unit_test(chain_and_branches),
		cmocka_unit_test(registers_and_stack),
		cmocka_unit_test(a_stack_at_an_odd_place),
		cmocka_unit_test(stacks_that_nobody_unwinds),
		cmocka_unit_test(stacks_that_are_bounded),
		cmocka_unit_test(times_of_records),
		cmocka_unit_test(mapping_with_inode),
		cmocka_unit_test(mapping_without_file),
		cmocka_unit_test(mapping_with_build_id),
		cmocka_unit_test(names_and_tasks),
		cmocka_unit_test(marks),
		cmocka_unit_test(losses_and_throttling),
		cmocka_unit_test(kernel_symbol),
		cmocka_unit_test(switches),
		cmocka_unit_test(pieces), cmocka_unit_test(other_types),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(room_in_the_side_band),
		cmocka_unit_test(names_without_end),
		cmocka_unit_test(odd_symbol_lines),
		cmocka_unit_test(many_symbols),
		cmocka_unit_test(covering_symbols),
		cmocka_unit_test(symbols_that_cannot_be_read), cmocka_unit_test(symbols_of_many_addresses),
		cmocka_unit_test(hidden_symbols),
		cmocka_unit_test(build_id_in_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
