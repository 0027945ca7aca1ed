/* SPDX-License-Identifier: MIT */
/* proto/sample: batches of samples and switches to bytes and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "proto/columns.h"
#include "proto/sample.h"
#include "proto/varint.h"

static const uint64_t chain[] = { (uint64_t)-512, 0x401000, 0x402000 };

static const struct gus_branch branches[] = {
	{ 0x401010, 0x401000, GUS_BRANCH_PREDICTED, 12 },
		{ 0x401010, 0x402000, GUS_BRANCH_MISPREDICTED | 3 << GUS_BRANCH_TYPE_SHIFT, 0 },
	{ 0xffffffff81000000, 0x10, GUS_BRANCH_FLAGS, UINT16_MAX }, { 0, UINT64_MAX, 0, 1 },
};

static const uint64_t words[] = { 0, UINT64_MAX, 0x7ffe12345678, 0x401000, 0x0102030405060708, 1 };

static struct gus_sample sample(unsigned i)
{
	return (struct gus_sample){
		.ip = 0x400000 + i % 7 * 0x1000, .time = 1000000 + i * 999983, .period = 999983 + i % 3,
		.pid = 10, .tid = 10 + i % 2, .cpu = i % 4, .event = i % 2, .mode = GUS_MODE_USER, .exact = i % 5 == 0,
		.chain_n = i % 4, .chain = chain,
		.branches_n = i % 5, .branches = branches, .branch_index = i % 33,
		.regs_n = i % 3, .regs = words, .stack_n = i % 7, .stack = words, .callers = i % 11 * i % 11,
	};
}

#define TOP 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 /* 2^64 - 1 */

static void fill(struct gus_columns *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct gus_sample s = sample(i);

		gus_columns_push(c, &s);
	}
}

/* Without what is in no recording that did not ask for it. */
static void fill_plain(struct gus_columns *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct gus_sample s = sample(i);

		s.callers = 0;
		gus_columns_push(c, &s);
	}
}

static void assert_sample(const struct gus_sample *got, unsigned i)
{
	struct gus_sample want = sample(i);

	if (want.chain_n > 3)
		want.chain_n = 3;
	assert_true(got->ip == want.ip && got->time == want.time && got->period == want.period);
	assert_true(got->pid == want.pid && got->tid == want.tid && got->cpu == want.cpu && got->event == want.event);
	assert_int_equal(got->mode, want.mode);
	assert_int_equal(got->exact, want.exact);
	assert_int_equal(got->chain_n, want.chain_n);
	if (want.chain_n)
		assert_memory_equal(got->chain, chain, want.chain_n * sizeof(*chain));
	assert_int_equal(got->branches_n, want.branches_n);
	assert_int_equal(got->branch_index, want.branch_index);
	for (uint32_t k = 0; k < want.branches_n; k++) {
		const struct gus_branch *a = &got->branches[k], *b = &want.branches[k];

		assert_true(a->from == b->from && a->to == b->to && a->flags == b->flags && a->cycles == b->cycles);
	}
	assert_int_equal(got->regs_n, want.regs_n);
	assert_int_equal(got->stack_n, want.stack_n);
	if (want.regs_n)
		assert_memory_equal(got->regs, words, want.regs_n * sizeof(*words));
	if (want.stack_n)
		assert_memory_equal(got->stack, words, want.stack_n * sizeof(*words));
	assert_int_equal(got->callers, want.callers);
}

static void round_trip(void **state)
{
	struct gus_columns in = { 0 }, out = { 0 };
	struct gus_bytes bytes = { 0 };

	(void)state;
	fill(&in, 1000);
	gus_columns_encode(&in, 0, in.n, &bytes);
	assert_int_equal(gus_columns_decode(&out, bytes.v, bytes.n, NULL), 0);
	assert_int_equal(out.n, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		struct gus_sample s = gus_columns_sample(&out, i);

		assert_sample(&s, i);
	}
	gus_columns_free(&in);
	gus_columns_free(&out);
	gus_vec_free(&bytes);
}

static void any_slice(void **state)
{
	struct gus_columns in = { 0 }, out = { 0 };
	struct gus_bytes bytes = { 0 };

	(void)state;
	fill(&in, 40);
	for (unsigned from = 0; from <= 40; from++) {
		bytes.n = 0;
		gus_columns_encode(&in, from, 40 - from, &bytes);
		assert_int_equal(gus_columns_decode(&out, bytes.v, bytes.n, NULL), 0);
		assert_int_equal(out.n, 40 - from);
		for (unsigned i = from; i < 40; i++) {
			struct gus_sample s = gus_columns_sample(&out, i - from);

			assert_sample(&s, i);
		}
	}
	gus_columns_free(&in);
	gus_columns_free(&out);
	gus_vec_free(&bytes);
}

static void switches(void **state)
{
	struct gus_columns in = { 0 }, out = { 0 };
	struct gus_bytes bytes = { 0 };
	struct gus_switch sw;

	(void)state;
	gus_columns_push_switch(&in, &(struct gus_switch){ 100, 1, 2, 3, true, true });
	gus_columns_push_switch(&in, &(struct gus_switch){ 90, 1, 2, 3, false, false });
	gus_columns_encode(&in, 0, 2, &bytes);
	assert_int_equal(gus_columns_decode(&out, bytes.v, bytes.n, NULL), 0);
	sw = gus_columns_switch(&out, 0);
	assert_true(sw.time == 100 && sw.pid == 1 && sw.tid == 2 && sw.cpu == 3 && sw.out && sw.preempt);
	sw = gus_columns_switch(&out, 1);
	assert_true(sw.time == 90 && !sw.out && !sw.preempt);
	gus_columns_free(&in);
	gus_columns_free(&out);
	gus_vec_free(&bytes);
}

/* Cut at every byte: refused, or (where the cut falls between columns) a batch whose absent columns are zero. */
static void cut_anywhere(void **state)
{
	struct gus_columns in = { 0 }, out = { 0 };
	struct gus_bytes bytes = { 0 };
	size_t refused = 0;

	(void)state;
	fill(&in, 50);
	gus_columns_encode(&in, 0, in.n, &bytes);
	for (size_t size = 0; size < bytes.n; size++) {
		uint8_t *tail = malloc(size); /* so that a sanitizer sees an over-read */

		memcpy(tail, bytes.v, size);
		if (gus_columns_decode(&out, tail, size, NULL) != 0)
			refused++;
		else
			assert_int_equal(out.n, 50);
		free(tail);
	}
	/* Behind the rows, columns 1 to 8, and the stack, which is the last that is counted. */
	assert_int_equal(bytes.n - refused, 10);
	gus_columns_free(&in);
	gus_columns_free(&out);
	gus_vec_free(&bytes);
}

static void hostile_batches_are_refused(void **state)
{
	static const struct { const char *what; uint8_t bytes[24]; size_t size; } cases[] = {
		{ "nothing", { 0 }, 0 },
		{ "2^63 rows", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f }, 9 },
		{ "a column twice", { 1, 2, 0, 1, 0, 2, 0, 1, 0 }, 9 },
		{ "columns in the wrong order", { 1, 3, 0, 1, 0, 2, 0, 1, 0 }, 9 },
		{ "an encoding that is none", { 1, 2, 9, 1, 0 }, 5 },
		{ "a column longer than its bytes", { 1, 2, 0, 9, 0 }, 5 },
		{ "a column shorter than its bytes", { 1, 2, 0, 2, 0, 0 }, 6 },
		{ "a table with a number outside", { 1, 2, 3, 3, 1, 5, 1 }, 7 },
		{ "a table with a number far outside", { 1, 2, 3, 5, 1, 5, 0xff, 0xff, 0x7f }, 9 },
		{ "an empty table", { 1, 2, 3, 2, 0, 0 }, 6 },
		{ "2^21 callers a row", { 1, 9, 2, 4, 0x80, 0x80, 0x80, 1, 16, 0, 1, 0 }, 12 },
		{ "callers without a chain", { 1, 9, 2, 1, 3 }, 5 },
		{ "2^21 branches a row", { 1, 10, 2, 4, 0x80, 0x80, 0x80, 1, 17, 4, 1, 0 }, 12 },
		{ "branches that are counted and not there", { 1, 10, 2, 1, 3 }, 5 },
		{ "flags of branches that are not there", { 1, 10, 2, 1, 1, 18, 0, 1, 0 }, 9 },
		{ "branches as plain numbers", { 1, 10, 2, 1, 1, 17, 2, 1, 0 }, 9 },
		{ "numbers as branches", { 1, 2, 4, 4, 1, 8, 0, 0 }, 8 },
		{ "a branch with a number outside", { 1, 10, 2, 1, 1, 17, 4, 4, 1, 8, 0, 1 }, 12 },
		{ "a branch with a number far outside", { 1, 10, 2, 1, 1, 17, 4, 6, 1, 8, 0, 0xff, 0xff, 0x7f }, 14 },
		{ "a table of branches that is cut", { 1, 10, 2, 1, 1, 17, 4, 3, 1, 8, 0 }, 11 },
		{ "2^20 words of the stack a row", { 1, 13, 2, 3, 0x80, 0x80, 0x40, 21, 0, 1, 0 }, 11 },
		{ "2^21 registers a row", { 1, 12, 2, 4, 0x80, 0x80, 0x80, 1, 20, 0, 1, 0 }, 12 },
		{ "registers that are counted and not there", { 1, 12, 2, 1, 3 }, 5 },
		{ "a stack that is counted and not there", { 1, 13, 2, 1, 3 }, 5 },
		{ "registers in the place of the stack", { 1, 13, 2, 1, 1, 20, 0, 1, 0 }, 9 },
		{ "a word of seven bytes", { 1, 13, 2, 1, 1, 21, 5, 7, 1, 2, 3, 4, 5, 6, 7 }, 15 },
		{ "a word of nine bytes", { 1, 13, 2, 1, 1, 21, 5, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 17 },
		{ "words that no row counts", { 1, 21, 5, 8, 1, 2, 3, 4, 5, 6, 7, 8 }, 12 },
		{ "flags of more than 32 bits",
		  { 1, 10, 2, 1, 1, 17, 4, 4, 1, 8, 0, 0, 18, 2, 5, 0x80, 0x80, 0x80, 0x80, 0x10 }, 20 },
	};
	struct gus_columns out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };

		if (gus_columns_decode(&out, cases[i].bytes, cases[i].size, &err) == 0)
			fail_msg("accepted: %s", cases[i].what);
		assert_int_equal(err.code, GUS_E_CORRUPT);
		assert_int_equal(out.n, 0);
	}
	gus_columns_free(&out);
}

/* A loop of two branches fills the stack of each sample: the table has both, and an entry is a byte before
 * compression. */
static void branches_of_a_loop_are_small(void **state)
{
	struct gus_columns in = { 0 };
	struct gus_bytes bytes = { 0 };
	struct gus_branch stack[32];

	(void)state;
	for (unsigned i = 0; i < 32; i++)
		stack[i] = branches[i % 2];
	for (unsigned i = 0; i < 1000; i++)
		gus_columns_push(&in, &(struct gus_sample){ .branches_n = 32, .branches = stack });
	gus_columns_encode(&in, 0, in.n, &bytes);
	assert_in_range(bytes.n, 32000, 3 * 32000 + 64); /* number, flags, cycles */
	gus_columns_free(&in);
	gus_vec_free(&bytes);
}

/* What there is room for moves nothing, and emptied it has that room again. */
static void prepared_columns_do_not_grow(void **state)
{
	struct gus_columns c = { 0 };
	const uint64_t *ips, *ends, *branch_ends, *regs_ends, *stack_ends;

	(void)state;
	gus_columns_prepare(&c, 100);
	assert_int_equal(c.n, 0);
	ips = c.column[GUS_COL_IP].v;
	ends = c.chain_end.v;
	regs_ends = c.regs_end.v;
	stack_ends = c.stack_end.v;
	branch_ends = c.branch_end.v;
	for (int round = 0; round < 2; round++) {
		fill_plain(&c, 100);
		assert_int_equal(c.n, 100);
		assert_ptr_equal(c.column[GUS_COL_IP].v, ips);
		assert_ptr_equal(c.chain_end.v, ends);
		assert_ptr_equal(c.branch_end.v, branch_ends);
		assert_ptr_equal(c.regs_end.v, regs_ends);
		assert_ptr_equal(c.stack_end.v, stack_ends);
		for (int i = 1; i < GUS_COL_COUNT; i++)
			assert_int_equal(c.column[i].room, i <= GUS_COL_EXTRAS_N ? 100 : 0);
		gus_columns_clear(&c);
	}
	gus_columns_free(&c);
}

/* Bytes as an array, for tables of cases. */
#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static void assert_encoded(const struct gus_columns *c, const uint8_t *want, size_t size)
{
	struct gus_bytes bytes = { 0 };

	gus_columns_encode(c, 0, c->n, &bytes);
	assert_int_equal(bytes.n, size);
	assert_memory_equal(bytes.v, want, size);
	gus_vec_free(&bytes);
}

/* Each encoding byte by byte, as FORMAT.md has it: what one program writes and reads back may still be no format. */
static void bytes_are_those_of_the_format(void **state)
{
	static const uint64_t ips[] = { 0x85, 5, 0x85 }, times[] = { 100, 90, 95 };
	static const uint32_t cpus[] = { 0, 1, 200 };
	struct gus_columns c = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		gus_columns_push(&c, &(struct gus_sample){ .ip = ips[i], .time = times[i], .pid = 7, .tid = i == 0,
							   .cpu = cpus[i] });
	assert_encoded(&c, BYTES(3,
				 2, 3, 7, 2, 5, 0x80, 1, 1, 0, 1,     /* a table of 5 and 5 + 0x80; numbers 1, 0, 1 */
				 3, 1, 4, 0xc8, 1, 19, 10,            /* +100, -10, +5 */
				 5, 0, 1, 14,                         /* 7 in all rows */
				 6, 2, 3, 1, 0, 0,                    /* not zero in the first row alone */
				 7, 2, 4, 0, 1, 0xc8, 1));            /* zero in the first row alone */
	gus_columns_free(&c);
}

static void bytes_of_entries_are_those_of_the_format(void **state)
{
	static const uint64_t callers[] = { UINT64_MAX - 511, 9, 1 };
	static const struct gus_branch taken[] = {
		{ 20, 30, 2, 0 }, { 10, 40, 0, 0 }, { 10, 8, 0, 5 }, { 20, 30, 0, 0 },
	};
	const struct gus_sample first = { .chain_n = 2, .chain = callers, .branches_n = 1, .branches = taken };
	const struct gus_sample second = { .chain_n = 1, .chain = callers + 2, .branches_n = 3, .branches = taken + 1 };
	struct gus_columns c = { 0 };

	(void)state;
	gus_columns_push(&c, &first);
	gus_columns_push(&c, &second);
	assert_encoded(&c, BYTES(2, 9, 2, 2, 2, 1, 10, 2, 2, 1, 3,
				 16, 3, 16, 3, 1, 8, 0xf7, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 1, 0,
				 17, 4, 11, 3, 10, 3, 0, 60, 10, 20, /* a table of (10, 8), (10, 40), (20, 30) */
				 2, 1, 0, 2,
				 18, 2, 4, 2, 0, 0, 0, 19, 2, 4, 0, 0, 5, 0));
	gus_columns_free(&c);
}

/* Registers and stacks: words of eight bytes, the lowest first; and how the callers were found, which is a row's. */
static void bytes_of_stacks_are_those_of_the_format(void **state)
{
	static const uint64_t regs[] = { 0x0807060504030201, 2 }, stack[] = { 1, UINT64_MAX, 0x7f00 };
	struct gus_columns c = { 0 };

	(void)state;
	gus_columns_push(&c, &(struct gus_sample){ .regs_n = 2, .regs = regs, .stack_n = 1, .stack = stack,
						   .callers = GUS_CALLERS_WHOLE | GUS_CALLERS_BRANCHES });
	gus_columns_push(&c, &(struct gus_sample){ .stack_n = 2, .stack = stack + 1 });
	assert_encoded(&c, BYTES(2, 12, 2, 2, 2, 0, 13, 2, 2, 1, 2,
				 20, 5, 16, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0, 0, 0, 0, 0, 0,
				 21, 5, 24, 1, 0, 0, 0, 0, 0, 0, 0,
				 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x7f, 0, 0, 0, 0, 0, 0,
				 32, 2, 3, 0x81, 2, 0));
	gus_columns_clear(&c);
	gus_columns_push(&c, &(struct gus_sample){ .stack_n = 2, .stack = (const uint64_t[]){ 9, 9 } });
	assert_encoded(&c, BYTES(1, 13, 0, 1, 4, 21, 0, 1, 18));
	gus_columns_free(&c);
}

static struct gus_columns decoded(const uint8_t *bytes, size_t size)
{
	struct gus_columns c = { 0 };
	struct gus_error err = { 0 };
	uint8_t *copy = malloc(size); /* so that a sanitizer sees an over-read */

	memcpy(copy, bytes, size);
	if (gus_columns_decode(&c, copy, size, &err) != 0)
		fail_msg("%s", err.text);
	free(copy);
	return c;
}

/* Differences and sums are modulo 2^64, so the ends of the range are no special case. */
static void values_at_the_ends_of_the_range(void **state)
{
	struct gus_columns c = decoded(BYTES(2,
		2, 0, 10, TOP, /* zigzag of -2^63 */
		3, 1, 2, 1, 4, /* -1, then +2 */
		4, 3, 14, 2, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 0));

	(void)state;
	assert_true(gus_columns_sample(&c, 1).ip == (uint64_t)INT64_MIN);
	assert_true(gus_columns_sample(&c, 0).time == UINT64_MAX && gus_columns_sample(&c, 1).time == 1);
	assert_true(gus_columns_sample(&c, 0).period == UINT64_MAX && gus_columns_sample(&c, 1).period == 1);
	gus_columns_free(&c);
}

/* The limits themselves are allowed, one more is not. 2^20 and 2^16 are those of FORMAT.md. */
static void limits_are_inclusive(void **state)
{
	const struct {
		const char *what;
		int rc;
		const uint8_t *bytes;
		size_t size, rows, callers, taken;
	} cases[] = {
		{ "no rows", 0, BYTES(0), 0, 0, 0 },
		{ "65,536 rows", 0, BYTES(0x80, 0x80, 4), 65536, 0, 0 },
		{ "65,537 rows", -1, BYTES(0x81, 0x80, 4), 0, 0, 0 },
		{ "2^20 callers", 0, BYTES(1, 9, 0, 4, 0x80, 0x80, 0x80, 1, 16, 0, 1, 0), 1, 1 << 20, 0 },
		{ "and one more", -1, BYTES(1, 9, 0, 4, 0x82, 0x80, 0x80, 1, 16, 0, 1, 0), 0, 0, 0 },
		{ "in two rows", 0, BYTES(2, 9, 2, 4, 0xff, 0xff, 0x3f, 1, 16, 0, 1, 0), 2, 1 << 20, 0 },
		{ "one more in two", -1, BYTES(2, 9, 2, 4, 0xff, 0xff, 0x3f, 2, 16, 0, 1, 0), 0, 0, 0 },
		{ "2^64 callers in two rows", -1, BYTES(2, 9, 2, 11, 1, TOP, 16, 0, 1, 0), 0, 0, 0 },
		{ "2^64 + 1 callers in three", -1, BYTES(3, 9, 2, 12, 1, TOP, 1, 16, 0, 1, 0), 0, 0, 0 },
		{ "branches of no row", 0, BYTES(0, 17, 4, 3, 1, 8, 0), 0, 0, 0 },
		{ "two branches in three bytes", -1, BYTES(0, 17, 4, 4, 2, 8, 0, 1), 0, 0, 0 },
		{ "2^64 branches in two rows", -1, BYTES(2, 10, 2, 11, 1, TOP, 17, 4, 3, 1, 8, 0), 0, 0, 0 },
		{ "2^20 registers", 0, BYTES(1, 12, 0, 4, 0x80, 0x80, 0x80, 1, 20, 0, 1, 0), 1, 0, 0 },
		{ "and one more", -1, BYTES(1, 12, 0, 4, 0x82, 0x80, 0x80, 1, 20, 0, 1, 0), 0, 0, 0 },
		{ "2^64 registers in two rows", -1, BYTES(2, 12, 2, 11, 1, TOP, 20, 0, 1, 0), 0, 0, 0 },
		{ "2^19 words of the stack", 0, BYTES(1, 13, 0, 3, 0x80, 0x80, 0x40, 21, 0, 1, 0), 1, 0, 0 },
		{ "and one more", -1, BYTES(1, 13, 0, 3, 0x82, 0x80, 0x40, 21, 0, 1, 0), 0, 0, 0 },
		{ "2^64 words in two rows", -1, BYTES(2, 13, 2, 11, 1, TOP, 21, 0, 1, 0), 0, 0, 0 },
		{ "a table that no row uses", 0, BYTES(0, 2, 3, 3, 2, 5, 1), 0, 0, 0 },
		{ "a table of more than its bytes", -1, BYTES(0, 2, 3, 3, 3, 5, 1), 0, 0, 0 },
		{ "the last place of a table", 0, BYTES(1, 2, 3, 4, 2, 5, 1, 1), 1, 0, 0 },
		{ "the place behind it", -1, BYTES(1, 2, 3, 4, 2, 5, 1, 2), 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_columns c = { 0 };
		uint8_t *copy = malloc(cases[i].size);

		memcpy(copy, cases[i].bytes, cases[i].size);
		if (gus_columns_decode(&c, copy, cases[i].size, NULL) != cases[i].rc)
			fail_msg("%s: %s", cases[i].rc ? "accepted" : "refused", cases[i].what);
		if (c.n != cases[i].rows || c.chain.n != cases[i].callers || c.branch.n != cases[i].taken)
			fail_msg("%s: %zu rows, %zu callers, %zu branches", cases[i].what, c.n, c.chain.n, c.branch.n);
		gus_columns_free(&c);
		free(copy);
	}
}

/* A branch's numbers are of 32 bits, and each goes to its own field. */
static void flags_and_cycles_of_branches(void **state)
{
	struct gus_columns c = decoded(BYTES(1, 10, 0, 1, 4,
					     17, 4, 7, 2, 8, 3, 1, 2, 1, 0,
					     18, 2, 6, 1, 0xff, 0xff, 0xff, 0xff, 0xf,
					     19, 2, 6, 0xff, 0xff, 0xff, 0xff, 0xf, 3));
	struct gus_sample s = gus_columns_sample(&c, 0);

	(void)state;
	assert_int_equal(s.branches_n, 2);
	assert_true(s.branches[0].from == 9 && s.branches[0].to == 10);
	assert_true(s.branches[1].from == 8 && s.branches[1].to == 6);
	assert_true(s.branches[0].flags == 1 && s.branches[1].flags == UINT32_MAX);
	assert_true(s.branches[0].cycles == UINT32_MAX && s.branches[1].cycles == 3);
	gus_columns_free(&c);
	c = decoded(BYTES(1, 10, 0, 1, 2, 17, 4, 4, 1, 8, 3, 0));
	s = gus_columns_sample(&c, 0);
	assert_true(s.branches[0].flags == 0 && s.branches[0].cycles == 0);
	gus_columns_free(&c);
}

/* What was decoded before leaves nothing behind. */
static void a_batch_replaces_the_one_before(void **state)
{
	struct gus_columns in = { 0 }, c = { 0 };
	struct gus_bytes bytes = { 0 };
	struct gus_sample s;

	(void)state;
	fill(&in, 30);
	gus_columns_encode(&in, 0, in.n, &bytes);
	assert_int_equal(gus_columns_decode(&c, bytes.v, bytes.n, NULL), 0);
	assert_int_equal(gus_columns_decode(&c, BYTES(2, 7, 2, 2, 3, 4), NULL), 0);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.chain.n + c.branch.n + c.regs.n + c.stack.n, 0);
	s = gus_columns_sample(&c, 1);
	assert_int_equal(s.cpu, 4);
	assert_true(s.ip == 0 && s.time == 0 && s.period == 0 && s.pid == 0 && s.mode == 0 && !s.exact);
	assert_true(s.chain_n == 0 && !s.chain && s.branches_n == 0 && !s.branches && s.branch_index == 0);
	assert_true(s.regs_n == 0 && !s.regs && s.stack_n == 0 && !s.stack && s.callers == 0);
	gus_vec_free(&bytes);
	gus_columns_free(&in);
	gus_columns_free(&c);
}

/* Everything that was taken is given back, and the batch may be used again. */
static void freed_it_is_empty(void **state)
{
	static const struct gus_columns none;
	struct gus_columns c = { 0 };

	(void)state;
	fill(&c, 30);
	gus_columns_free(&c);
	assert_memory_equal(&c, &none, sizeof(c));
}

/* Mode has two fields in it, and those of a switch are other ones. */
static void bits_of_mode(void **state)
{
	struct gus_columns c = { 0 };

	(void)state;
	gus_columns_push(&c, &(struct gus_sample){ .mode = GUS_MODE_GUEST_USER });
	gus_columns_push(&c, &(struct gus_sample){ .mode = GUS_MODE_KERNEL, .exact = true });
	gus_columns_push_switch(&c, &(struct gus_switch){ .out = true });
	gus_columns_push_switch(&c, &(struct gus_switch){ .preempt = true });
	assert_encoded(&c, BYTES(4, 8, 2, 4, 5, 17, 1, 2));
	assert_true(gus_columns_sample(&c, 0).mode == GUS_MODE_GUEST_USER && !gus_columns_sample(&c, 0).exact);
	assert_true(gus_columns_sample(&c, 1).mode == GUS_MODE_KERNEL && gus_columns_sample(&c, 1).exact);
	assert_true(gus_columns_switch(&c, 2).out && !gus_columns_switch(&c, 2).preempt);
	assert_true(!gus_columns_switch(&c, 3).out && gus_columns_switch(&c, 3).preempt);
	gus_columns_free(&c);
}

/* A number below 16 is a row's, one of 16 to 31 of entries, from 32 on a row's again; numbers ascend and are none
 * twice. */
static void columns_that_are_known_keep_the_rules(void **state)
{
	(void)state;
	assert_int_equal(GUS_COL_CHAIN, 16);
	assert_int_equal(GUS_COL_MORE, 32);
	assert_true(GUS_COL_COUNT - GUS_COL_MORE >= 40);
	for (size_t i = 0; i < gus_column_kinds_n; i++) {
		const struct gus_column_kind *kind = &gus_column_kinds[i];

		assert_true(kind->number > (i ? kind[-1].number : 0));
		assert_false(kind->number >= GUS_COL_CHAIN && kind->number < GUS_COL_MORE);
		assert_true(kind->number < GUS_COL_COUNT);
		assert_true(kind->encoding > GUS_ENCODING_CONSTANT && kind->encoding < GUS_ENCODING_PAIRS);
		assert_true(kind->size == 4 || kind->size == 8 || (kind->size == 0 && kind->number == GUS_COL_MODE));
		assert_true(kind->offset % (kind->size ? kind->size : 1) == 0);
	}
}

/* Columns of the version after this one, and of ranges that nothing is in: passed over, in any encoding and any
 * place, but only where they stand in order and are whole. */
static void columns_of_tomorrow_are_passed_over(void **state)
{
	const struct { const char *what; const uint8_t *bytes; size_t size; bool bad; } cases[] = {
		{ "the first of the range that is free", BYTES(1, 2, 0, 1, 8, 80, 2, 1, 7), false },
		{ "the last of the range", BYTES(1, 2, 0, 1, 8, 95, 2, 1, 7), false },
		{ "the one behind it", BYTES(1, 2, 0, 1, 8, 96, 2, 1, 7), false },
		{ "a number of two bytes", BYTES(1, 2, 0, 1, 8, 0x80, 1, 2, 1, 7), false },
		{ "one below the chain", BYTES(1, 2, 0, 1, 8, 15, 2, 1, 7), false },
		{ "entries", BYTES(1, 2, 0, 1, 8, 31, 2, 3, 7, 7, 7), false },
		{ "an encoding of tomorrow", BYTES(1, 2, 0, 1, 8, 80, 99, 2, 0xaa, 0xbb), false },
		{ "without bytes", BYTES(1, 2, 0, 1, 8, 80, 2, 0), false },
		{ "all of them",
		  BYTES(1, 2, 0, 1, 8, 15, 2, 1, 1, 23, 2, 0, 80, 2, 1, 7, 81, 3, 1, 7, 95, 4, 1, 7), false },
		{ "a length cut", BYTES(1, 2, 0, 1, 8, 80, 2), true },
		{ "bytes cut", BYTES(1, 2, 0, 1, 8, 80, 2, 2, 7), true },
		{ "twice", BYTES(1, 2, 0, 1, 8, 80, 2, 1, 7, 80, 2, 1, 7), true },
		{ "out of order", BYTES(1, 2, 0, 1, 8, 81, 2, 1, 7, 80, 2, 1, 7), true },
		{ "before a known one", BYTES(1, 80, 2, 1, 7, 2, 0, 1, 8), true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_columns c = { 0 };
		uint8_t *copy = malloc(cases[i].size);

		memcpy(copy, cases[i].bytes, cases[i].size);
		if ((gus_columns_decode(&c, copy, cases[i].size, NULL) != 0) != cases[i].bad)
			fail_msg("%s: %s", cases[i].bad ? "accepted" : "refused", cases[i].what);
		assert_int_equal(c.n, cases[i].bad ? 0 : 1);
		if (!cases[i].bad)
			assert_true(gus_columns_sample(&c, 0).ip == 4 && gus_columns_sample(&c, 0).branch_index == 0);
		gus_columns_free(&c);
		free(copy);
	}
}

/* What a sample brings along that nobody counts by: three kinds, one of them empty, one that is no whole word. */
static void extras_come_back(void **state)
{
	const uint64_t regs[] = { 7, UINT64_MAX };
	struct gus_columns c = { 0 }, back = { 0 };
	struct gus_bytes bytes = { 0 };
	struct gus_extras extras = { 0 };
	struct gus_sample s = { .ip = 4 };
	unsigned detail;
	size_t size;

	(void)state;
	gus_extras_add(&extras, GUS_EXTRA_RAW, 0, "12345678abc", 11);
	gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, NULL, 0);
	gus_extras_add(&extras, GUS_EXTRA_REGS, 2, regs, sizeof(regs));
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	assert_int_equal(extras.n, 3 + 1 + 3);
	gus_columns_push(&c, &(struct gus_sample){ .ip = 8 });
	gus_columns_push(&c, &s);
	gus_columns_encode(&c, 0, 2, &bytes);
	assert_int_equal(gus_columns_decode(&back, bytes.v, bytes.n, NULL), 0);
	s = gus_columns_sample(&back, 0);
	assert_null(gus_sample_extra(&s, GUS_EXTRA_RAW, &size, NULL));
	s = gus_columns_sample(&back, 1);
	assert_memory_equal(gus_sample_extra(&s, GUS_EXTRA_RAW, &size, NULL), "12345678abc\0\0\0\0", 16);
	assert_int_equal(size, 11);
	assert_memory_equal(gus_sample_extra(&s, GUS_EXTRA_REGS, &size, &detail), regs, sizeof(regs));
	assert_int_equal(size, 16);
	assert_int_equal(detail, 2);
	assert_non_null(gus_sample_extra(&s, GUS_EXTRA_COUNTS, &size, &detail));
	assert_int_equal(size, 0);
	assert_null(gus_sample_extra(&s, GUS_EXTRA_BRANCH_COUNTS, &size, &detail));
	gus_vec_free(&extras);
	gus_vec_free(&bytes);
	gus_columns_free(&c);
	gus_columns_free(&back);
}

/* One that says it has more than there is, from a file that is not ours. */
static void hostile_extras_end(void **state)
{
	const uint64_t made[] = { GUS_EXTRA_RAW | 9 << 16, 1, GUS_EXTRA_REGS | UINT64_MAX << 16, 2 };
	struct gus_sample s = { .extras = made, .extras_n = 2 };
	size_t size = 1;

	(void)state;
	assert_null(gus_sample_extra(&s, GUS_EXTRA_RAW, &size, NULL));
	assert_int_equal(size, 0);
	s.extras = made + 2;
	assert_null(gus_sample_extra(&s, GUS_EXTRA_REGS, &size, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(any_slice),
		cmocka_unit_test(switches),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(hostile_batches_are_refused),
		cmocka_unit_test(branches_of_a_loop_are_small),
		cmocka_unit_test(bytes_are_those_of_the_format),
		cmocka_unit_test(bytes_of_entries_are_those_of_the_format),
		cmocka_unit_test(bytes_of_stacks_are_those_of_the_format),
		cmocka_unit_test(values_at_the_ends_of_the_range),
		cmocka_unit_test(limits_are_inclusive),
		cmocka_unit_test(flags_and_cycles_of_branches),
		cmocka_unit_test(a_batch_replaces_the_one_before),
		cmocka_unit_test(freed_it_is_empty),
		cmocka_unit_test(bits_of_mode),
		cmocka_unit_test(columns_that_are_known_keep_the_rules),
		cmocka_unit_test(columns_of_tomorrow_are_passed_over),
		cmocka_unit_test(prepared_columns_do_not_grow),
		cmocka_unit_test(extras_come_back),
		cmocka_unit_test(hostile_extras_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
