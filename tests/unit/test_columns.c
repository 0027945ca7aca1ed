/* SPDX-License-Identifier: MIT */
/* proto/sample: batches of samples and switches to bytes and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/sample.h"

static const uint64_t chain[] = { (uint64_t)-512, 0x401000, 0x402000 };

static const struct gus_branch branches[] = {
	{ 0x401010, 0x401000, GUS_BRANCH_PREDICTED, 12 }, { 0x401010, 0x402000, GUS_BRANCH_MISPREDICTED | 3 << GUS_BRANCH_TYPE_SHIFT, 0 },
	{ 0xffffffff81000000, 0x10, GUS_BRANCH_FLAGS, UINT16_MAX }, { 0, UINT64_MAX, 0, 1 },
};

static struct gus_sample sample(unsigned i)
{
	return (struct gus_sample){
		.ip = 0x400000 + i % 7 * 0x1000, .time = 1000000 + i * 999983, .period = 999983 + i % 3,
		.pid = 10, .tid = 10 + i % 2, .cpu = i % 4, .event = i % 2, .mode = GUS_MODE_USER, .exact = i % 5 == 0,
		.chain_n = i % 4, .chain = chain,
		.branches_n = i % 5, .branches = branches, .branch_index = i % 33,
	};
}

static void fill(struct gus_columns *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct gus_sample s = sample(i);

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
	assert_true(refused >= bytes.n - 11); /* the rows, columns 1 to 8, branches and their flags */
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
		{ "an empty table", { 1, 2, 3, 2, 0, 0 }, 6 },
		{ "2^21 callers a row", { 1, 9, 2, 4, 0x80, 0x80, 0x80, 1, 16, 0, 1, 0 }, 12 },
		{ "callers without a chain", { 1, 9, 2, 1, 3 }, 5 },
		{ "2^21 branches a row", { 1, 10, 2, 4, 0x80, 0x80, 0x80, 1, 17, 4, 1, 0 }, 12 },
		{ "branches that are counted and not there", { 1, 10, 2, 1, 3 }, 5 },
		{ "flags of branches that are not there", { 1, 10, 2, 1, 1, 18, 0, 1, 0 }, 9 },
		{ "branches as plain numbers", { 1, 10, 2, 1, 1, 17, 2, 1, 0 }, 9 },
		{ "numbers as branches", { 1, 2, 4, 4, 1, 8, 0, 0 }, 8 },
		{ "a branch with a number outside", { 1, 10, 2, 1, 1, 17, 4, 4, 1, 8, 0, 1 }, 12 },
		{ "a table of branches that is cut", { 1, 10, 2, 1, 1, 17, 4, 3, 1, 8, 0 }, 11 },
		{ "flags of more than 32 bits", { 1, 10, 2, 1, 1, 17, 4, 4, 1, 8, 0, 0, 18, 2, 5, 0x80, 0x80, 0x80, 0x80, 0x10 }, 20 },
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

/* A loop of two branches fills the stack of each sample: the table has both, and an entry is a byte before compression. */
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

/* A reader of today skips a column of tomorrow. */
static void unknown_columns_are_skipped(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 0, 1, 8 /* ip 4 */, 60, 7, 2, 0xaa, 0xbb };
	struct gus_columns out = { 0 };

	(void)state;
	assert_int_equal(gus_columns_decode(&out, bytes, sizeof(bytes), NULL), 0);
	assert_int_equal(gus_columns_sample(&out, 0).ip, 4);
	gus_columns_free(&out);
}

/* What there is room for moves nothing, and emptied it has that room again. */
static void prepared_columns_do_not_grow(void **state)
{
	struct gus_columns c = { 0 };
	const uint64_t *ips, *ends;

	(void)state;
	gus_columns_prepare(&c, 100);
	assert_int_equal(c.n, 0);
	ips = c.column[GUS_COL_IP].v;
	ends = c.chain_end.v;
	for (int round = 0; round < 2; round++) {
		fill(&c, 100);
		assert_int_equal(c.n, 100);
		assert_ptr_equal(c.column[GUS_COL_IP].v, ips);
		assert_ptr_equal(c.chain_end.v, ends);
		for (int i = 1; i < GUS_COL_COUNT; i++)
			assert_int_equal(c.column[i].room, 100);
		gus_columns_clear(&c);
	}
	gus_columns_free(&c);
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
		cmocka_unit_test(unknown_columns_are_skipped),
		cmocka_unit_test(prepared_columns_do_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
