/* SPDX-License-Identifier: MIT */
/* proto/sample: batches of samples and switches to bytes and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/sample.h"

static const uint64_t chain[] = { (uint64_t)-512, 0x401000, 0x402000 };

static struct gus_sample sample(unsigned i)
{
	return (struct gus_sample){
		.ip = 0x400000 + i % 7 * 0x1000, .time = 1000000 + i * 999983, .period = 999983 + i % 3,
		.pid = 10, .tid = 10 + i % 2, .cpu = i % 4, .event = i % 2, .mode = GUS_MODE_USER, .exact = i % 5 == 0,
		.chain_n = i % 4, .chain = chain,
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
	assert_true(refused >= bytes.n - 10);
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
		cmocka_unit_test(unknown_columns_are_skipped),
		cmocka_unit_test(prepared_columns_do_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
