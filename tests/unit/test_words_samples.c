/* SPDX-License-Identifier: MIT */
/* Samples of the kernel's, as they are drawn from the manual page, come back field by field: each field alone, all,
 * and any of them, in either byte order; PEBS comes this way. Cut or changed they are bad or another sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/records/records.h"
#include "tests/words/sample_words.h"

enum { OTHER = 0x50, ID = 0x4711 };

static void start(struct gus_records *r, const struct words_layout *l, bool big_endian)
{
	enum { HARDWARE_INDEX = 1 << 17, COUNTERS = 1 << 19 };

	gus_records_init(r, l->sample_type, (l->hardware_index ? HARDWARE_INDEX : 0) |
			 (l->branch_counters ? COUNTERS : 0), 2);
	r->layout.read_format = l->read_format;
	r->layout.regs_mask = l->user_registers;
	r->layout.intr_mask = l->interrupt_registers;
	r->big_endian = big_endian;
	gus_records_add_id(r, OTHER, 0);
	gus_records_add_id(r, ID, 1);
}

static void assert_list(const struct words_list *want, const uint64_t *is, size_t n)
{
	assert_int_equal(n, want->n);
	for (size_t i = 0; i < n; i++)
		assert_true(is[i] == want->v[i]);
}

static void assert_flat(const struct gus_sample *s, const struct words_sample *w, const struct words_layout *l)
{
	const struct { const char *field; uint64_t is, want; } fields[] = {
		{ "IP", s->ip, w->ip }, { "TID", s->pid, w->pid }, { "TID", s->tid, w->tid },
		{ "TIME", s->time, w->time }, { "ADDR", s->address, w->addr }, { "CPU", s->cpu, w->cpu },
		{ "PERIOD", s->period, w->period }, { "DATA_SRC", s->data_source, w->data_source },
		{ "TRANSACTION", s->transaction, w->transaction }, { "PHYS_ADDR", s->physical, w->physical },
		{ "CGROUP", s->cgroup, w->cgroup }, { "DATA_PAGE_SIZE", s->data_page, w->data_page },
		{ "CODE_PAGE_SIZE", s->code_page, w->code_page }, { "WEIGHT", s->weight, w->weight },
		{ "WEIGHT_STRUCT", s->weight, w->weight1 },
		{ "WEIGHT_STRUCT", s->instruction_latency, w->weight2 },
		{ "WEIGHT_STRUCT", s->retire_latency, w->weight3 },
	};
	uint64_t told = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if ((l->sample_type & words_sample_bit(fields[i].field)) && fields[i].is != fields[i].want)
			fail_msg("%s: %#llx, not %#llx", fields[i].field, (unsigned long long)fields[i].is,
				 (unsigned long long)fields[i].want);
	if (l->sample_type & words_sample_bit("ADDR"))
		told |= GUS_TOLD_ADDRESS;
	if (l->sample_type & words_sample_bit("WEIGHT"))
		told |= GUS_TOLD_WEIGHT;
	if (l->sample_type & words_sample_bit("WEIGHT_STRUCT"))
		told |= GUS_TOLD_WEIGHT | (w->weight2 ? GUS_TOLD_INSTRUCTION : 0) | (w->weight3 ? GUS_TOLD_RETIRE : 0);
	assert_int_equal(s->told, told);
	assert_int_equal(s->exact, w->exact);
	assert_int_equal(s->mode, w->user ? GUS_MODE_USER : GUS_MODE_KERNEL);
	assert_int_equal(s->events, 0);
}

static void assert_branches(const struct gus_sample *s, const struct words_sample *w, const struct words_layout *l)
{
	assert_int_equal(s->branches_n, w->branches_n);
	for (unsigned i = 0; i < w->branches_n; i++) {
		const struct words_branch *e = &w->branches[i];
		const struct gus_branch *b = &s->branches[i];

		assert_true(b->from == e->from && b->to == e->to && b->cycles == e->cycles);
		assert_int_equal(!!(b->flags & GUS_BRANCH_MISPREDICTED), e->mispredicted);
		assert_int_equal(!!(b->flags & GUS_BRANCH_PREDICTED), e->predicted);
		assert_int_equal(!!(b->flags & GUS_BRANCH_IN_TX), e->in_tx);
		assert_int_equal(!!(b->flags & GUS_BRANCH_ABORT), e->abort);
		assert_int_equal(b->flags >> GUS_BRANCH_TYPE_SHIFT & 15, e->type);
		assert_int_equal(b->flags >> GUS_BRANCH_SPEC_SHIFT & 3, e->spec);
		assert_int_equal(b->flags >> GUS_BRANCH_NEW_TYPE_SHIFT & 15, e->new_type);
		assert_int_equal(b->flags >> GUS_BRANCH_PRIV_SHIFT, e->priv);
	}
	if (l->sample_type & words_sample_bit("BRANCH_STACK"))
		assert_true(s->branch_index == (l->hardware_index ? w->hardware_index + 1 : 0));
}

static void assert_extra(const struct gus_sample *s, enum gus_extra kind, const struct words_list *want,
			 unsigned detail)
{
	unsigned is_detail = 0;
	size_t bytes = 0;
	const uint64_t *v = gus_sample_extra(s, kind, &bytes, &is_detail);

	if (!want->n) {
		assert_true(!v || !bytes);
		return;
	}
	assert_non_null(v);
	assert_int_equal(is_detail, detail);
	assert_list(want, v, bytes / 8);
}

static void assert_raw(const struct gus_sample *s, const struct words_sample *w)
{
	size_t bytes = 0;
	unsigned detail;
	const uint8_t *v = gus_sample_extra(s, GUS_EXTRA_RAW, &bytes, &detail);

	assert_int_equal(v ? bytes : 0, w->raw.n);
	for (unsigned i = 0; i < w->raw.n; i++)
		assert_int_equal(v[i], w->raw.v[i]);
}

static void assert_sample(const struct gus_sample *s, const struct words_sample *w, const struct words_layout *l)
{
	assert_flat(s, w, l);
	assert_branches(s, w, l);
	assert_list(&w->chain, s->chain, s->chain_n);
	assert_extra(s, GUS_EXTRA_BRANCH_COUNTS, &w->counters, 0);
	assert_extra(s, GUS_EXTRA_REGS, &w->interrupted, (unsigned)w->interrupt_abi);
	assert_raw(s, w);
	/* With a stack those of 64 bits alone, and a stack only with them, as nobody knows where it lies without. */
	if (!(l->sample_type & words_sample_bit("STACK_USER"))) {
		assert_int_equal(s->regs_n + s->stack_n + s->callers, 0);
		assert_extra(s, GUS_EXTRA_USER_REGS, &w->registers, (unsigned)w->user_abi);
	} else if (w->user_abi == 2) {
		assert_list(&w->registers, s->regs, s->regs_n);
		if (s->regs_n)
			assert_list(&w->stack, s->stack, s->stack_n);
	} else {
		assert_int_equal(s->regs_n + s->stack_n, 0);
	}
	if (!(l->read_format & 4)) /* ids are the file's own, and become the recording's */
		assert_extra(s, GUS_EXTRA_COUNTS, &w->read, 0);
}

static void check(struct words_random *random, uint64_t sample_type, bool big_endian)
{
	struct words_layout l = words_layout_random(random, sample_type);
	struct words_bytes b = { .big_endian = big_endian };
	struct words_sample w = words_sample_random(random, &l, ID, &b);
	bool has_id = l.sample_type & (words_sample_bit("ID") | words_sample_bit("IDENTIFIER"));
	struct gus_sideband sideband = { 0 };
	struct gus_records r;
	struct gus_record out;

	start(&r, &l, big_endian);
	out = gus_records_parse(&r, b.v, b.n, &sideband);
	assert_int_equal(out.kind, GUS_RECORD_SAMPLE);
	assert_int_equal(out.sample.event, has_id ? 1 : 2);
	assert_sample(&out.sample, &w, &l);
	assert_int_equal(gus_records_time(&r, b.v, b.n), w.time);
	if (has_id)
		assert_int_equal(out.inherited, (l.sample_type & words_sample_bit("STREAM_ID")) && w.stream != ID);
	gus_records_free(&r);
	gus_sideband_free(&sideband);
}

static uint64_t all_fields(void)
{
	uint64_t all = 0;

	for (unsigned i = 0; words_sample_field(i); i++)
		all |= words_sample_bit(words_sample_field(i));
	return all;
}

static void test_alone(void **state)
{
	struct words_random random = { 1 };

	(void)state;
	for (unsigned i = 0; words_sample_field(i); i++)
		for (unsigned k = 0; k < 50; k++)
			check(&random, words_sample_bit(words_sample_field(i)), k & 1);
}

static void test_all(void **state)
{
	struct words_random random = { 2 };

	(void)state;
	for (unsigned k = 0; k < 300; k++)
		check(&random, all_fields() & ~words_sample_bit(k & 2 ? "WEIGHT" : "WEIGHT_STRUCT"), k & 1);
}

static void test_any(void **state)
{
	struct words_random random = { 3 };

	(void)state;
	for (unsigned k = 0; k < 3000; k++)
		check(&random, words_random(&random) & all_fields(), k & 1);
}

static enum gus_record_kind kind_of(struct gus_records *r, const uint8_t *bytes, size_t n)
{
	struct gus_sideband sideband = { 0 };
	uint8_t *own = malloc(n ? n : 1);
	enum gus_record_kind kind;

	memcpy(own, bytes, n);
	kind = gus_records_parse(r, own, n, &sideband).kind;
	gus_records_time(r, own, n);
	gus_sideband_free(&sideband);
	free(own);
	return kind;
}

/* All fields, cut at each byte: bad. With any byte changed: bad or a sample, or a record of another type. */
static void test_cut_and_changed(void **state)
{
	struct words_random random = { 4 };

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct words_layout l = words_layout_random(&random, all_fields() & ~words_sample_bit("WEIGHT"));
		struct words_bytes b = { .big_endian = k & 1 };
		struct gus_records r;

		words_sample_random(&random, &l, ID, &b);
		start(&r, &l, k & 1);
		for (size_t n = 0; n < b.n; n++)
			assert_int_equal(kind_of(&r, b.v, n), GUS_RECORD_BAD);
		for (size_t at = 8; at < b.n; at++)
			for (unsigned bit = 0; bit < 8; bit++) {
				enum gus_record_kind kind;

				b.v[at] ^= (uint8_t)(1u << bit);
				kind = kind_of(&r, b.v, b.n);
				assert_true(kind == GUS_RECORD_SAMPLE || kind == GUS_RECORD_BAD);
				b.v[at] ^= (uint8_t)(1u << bit);
			}
		assert_int_equal(kind_of(&r, b.v, b.n), GUS_RECORD_SAMPLE);
		gus_records_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_cut_and_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
