/* SPDX-License-Identifier: MIT */
/* Records of perf.data that are written: our own parser finds in each what was put in, field by field, and what does
 * not fit is counted. */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "collector/perfdata/write.h"
#include "collector/records/records.h"
#include "proto/sample.h"
#include "proto/varint.h"
#include "tests/unit/made_mapping.h"

#define KERNEL_MARK ((uint64_t)-128)
#define USER_MARK ((uint64_t)-512)
#define HW_INDEX (1u << 17)
#define COUNTERS (1u << 19)
enum { EVENTS = 3, X86_REGS = 17 };

/* A file that is written: its header, and what was counted. */
struct written {
	Gusprof__Header header;
	Gusprof__Host host;
	Gusprof__Event events[EVENTS], *list[EVENTS];
	struct gus_records_layout layout;
	struct gus_bytes bytes;
	struct gus_records records;
	struct gus_sideband sideband;
	uint64_t unfit[GUS_PERFDATA_UNFITS];
	int misc;               /* of the record that was written last */
};

static void begin(struct written *w)
{
	*w = (struct written){ .header = GUSPROF__HEADER__INIT, .host = GUSPROF__HOST__INIT };
	w->host.machine = (char *)(uintptr_t)"x86_64";
	w->header.host = &w->host;
	w->header.events = w->list;
	w->header.n_events = EVENTS;
	for (uint32_t i = 0; i < EVENTS; i++) {
		w->events[i] = (Gusprof__Event)GUSPROF__EVENT__INIT;
		w->list[i] = &w->events[i];
	}
}

static void end(struct written *w)
{
	gus_vec_free(&w->bytes);
	gus_records_free(&w->records);
	gus_sideband_free(&w->sideband);
}

/* The same record, read. */
static struct gus_record reread(struct written *w, size_t from)
{
	size_t size = w->bytes.n - from;

	assert_int_equal(size, w->bytes.v[from + 6] | w->bytes.v[from + 7] << 8);
	assert_int_equal(size % 8, 0);
	return gus_records_parse(&w->records, w->bytes.v + from, size, &w->sideband);
}

static void begin_reading(struct written *w)
{
	gus_records_init(&w->records, w->layout.sample_type, w->layout.branch_type, EVENTS);
	w->records.layout = w->layout;
	for (uint32_t i = 0; i < EVENTS; i++)
		for (uint32_t which = 0; which < 3; which++)
			gus_records_add_id(&w->records, gus_perfdata_id(i, which), i);
}

/* Writes it so that all of it fits, and reads it again. */
static struct gus_sample through(struct written *w, const struct gus_sample *s)
{
	struct gus_record r;

	w->layout = gus_perfdata_layout(&w->header, s->event);
	gus_perfdata_fit(&w->layout, s, w->host.machine);
	gus_perfdata_settle(&w->layout);
	gus_perfdata_put_sample(&w->bytes, &w->layout, s, w->unfit);
	begin_reading(w);
	r = reread(w, 0);
	assert_int_equal(r.kind, GUS_RECORD_SAMPLE);
	assert_int_equal(!(w->layout.sample_type & PERF_SAMPLE_CPU), s->cpu == UINT32_MAX);
	r.sample.cpu = w->layout.sample_type & PERF_SAMPLE_CPU ? r.sample.cpu : UINT32_MAX; /* as the importer has it */
	return r.sample;
}

static void expect_words(const uint64_t *a, const uint64_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(a[i], b[i]);
}

static void expect_same(const struct gus_sample *a, const struct gus_sample *b)
{
	const struct gus_sample zero = { 0 };
	struct gus_sample x = *a, y = *b;

	assert_int_equal(a->chain_n, b->chain_n);
	expect_words(a->chain, b->chain, a->chain_n);
	assert_int_equal(a->branches_n, b->branches_n);
	for (uint32_t i = 0; i < a->branches_n; i++)
		assert_memory_equal(&a->branches[i], &b->branches[i], sizeof(*a->branches));
	assert_int_equal(a->regs_n, b->regs_n);
	expect_words(a->regs, b->regs, a->regs_n);
	assert_int_equal(a->stack_n, b->stack_n);
	expect_words(a->stack, b->stack, a->stack_n);
	assert_int_equal(a->extras_n, b->extras_n);
	expect_words(a->extras, b->extras, a->extras_n);
	x.chain = y.chain = x.regs = y.regs = x.stack = y.stack = x.extras = y.extras = zero.chain;
	x.branches = y.branches = NULL;
	assert_int_equal(x.ip, y.ip);
	assert_int_equal(x.time, y.time);
	assert_int_equal(x.period, y.period);
	assert_int_equal(x.pid, y.pid);
	assert_int_equal(x.tid, y.tid);
	assert_int_equal(x.cpu, y.cpu);
	assert_int_equal(x.event, y.event);
	assert_int_equal(x.mode, y.mode);
	assert_int_equal(x.exact, y.exact);
	assert_int_equal(x.branch_index, y.branch_index);
	assert_int_equal(x.told, y.told);
	assert_int_equal(x.address, y.address);
	assert_int_equal(x.physical, y.physical);
	assert_int_equal(x.data_page, y.data_page);
	assert_int_equal(x.code_page, y.code_page);
	assert_int_equal(x.data_source, y.data_source);
	assert_int_equal(x.weight, y.weight);
	assert_int_equal(x.instruction_latency, y.instruction_latency);
	assert_int_equal(x.retire_latency, y.retire_latency);
	assert_int_equal(x.transaction, y.transaction);
	assert_int_equal(x.cgroup, y.cgroup);
}

static void expect_all_fits(const struct written *w)
{
	for (size_t i = 0; i < GUS_PERFDATA_UNFITS; i++)
		assert_int_equal(w->unfit[i], 0);
}

static struct gus_sample flat(void)
{
	return (struct gus_sample){ .ip = 0x401234, .time = 12345678901, .period = 99991, .pid = 70001, .tid = 70002,
				    .cpu = 3, .event = 1, .mode = GUS_MODE_USER };
}

static const uint64_t chain[] = { USER_MARK, 0x402000, 0x403000, 0x404000 };
static const uint64_t regs[X86_REGS] = { 1, 2, 3, 4, 5, 6, 7, 0x7ffc1000, 0x401234, 8, 9, 10, 11, 12, 13, 14, 15 };
static const uint64_t stack[] = { 0xaaaa, 0, UINT64_MAX, 0xbbbb };
static const struct gus_branch branches[] = {
	{ 0x401000, 0x402000, GUS_BRANCH_MISPREDICTED | 3 << GUS_BRANCH_TYPE_SHIFT | 1 << GUS_BRANCH_SPEC_SHIFT,
	  65535 },
	{ 0xffffffff81000010, 0x403000, GUS_BRANCH_PREDICTED | GUS_BRANCH_IN_TX | GUS_BRANCH_ABORT |
	  15u << GUS_BRANCH_NEW_TYPE_SHIFT | 5u << GUS_BRANCH_PRIV_SHIFT, 0 },
};

/* Each sets one thing that a sample may have. */
static void has_nothing(struct gus_sample *s) { (void)s; }
static void has_kernel(struct gus_sample *s) { s->mode = GUS_MODE_KERNEL; s->ip = 0xffffffff81234567; }
static void has_exact(struct gus_sample *s) { s->exact = true; }
static void has_no_cpu(struct gus_sample *s) { s->cpu = UINT32_MAX; }
static void has_address(struct gus_sample *s) { s->address = 0x7ffe12345678; s->told |= GUS_TOLD_ADDRESS; }
static void has_address_0(struct gus_sample *s) { s->told |= GUS_TOLD_ADDRESS; }
static void has_physical(struct gus_sample *s) { s->physical = 0x123456789000; }
static void has_data_page(struct gus_sample *s) { s->data_page = 2u << 20; }
static void has_code_page(struct gus_sample *s) { s->code_page = 4096; }
static void has_source(struct gus_sample *s) { s->data_source = 0x68100142; }
static void has_weight(struct gus_sample *s) { s->weight = 0x123456789; s->told |= GUS_TOLD_WEIGHT; }
static void has_weight_0(struct gus_sample *s) { s->told |= GUS_TOLD_WEIGHT; }
static void has_transaction(struct gus_sample *s) { s->transaction = 0x1100000003; }
static void has_cgroup(struct gus_sample *s) { s->cgroup = 4242; }

static void has_weights(struct gus_sample *s)
{
	s->weight = UINT32_MAX;
	s->instruction_latency = UINT16_MAX;
	s->retire_latency = 17;
	s->told |= GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION | GUS_TOLD_RETIRE;
}

static void has_chain(struct gus_sample *s)
{
	s->chain = chain;
	s->chain_n = sizeof(chain) / sizeof(*chain);
}

static void has_branches(struct gus_sample *s)
{
	s->branches = branches;
	s->branches_n = sizeof(branches) / sizeof(*branches);
}

static void has_index(struct gus_sample *s)
{
	has_branches(s);
	s->branch_index = 31;
}

static void has_stack(struct gus_sample *s)
{
	s->regs = regs;
	s->regs_n = X86_REGS;
	s->stack = stack;
	s->stack_n = sizeof(stack) / sizeof(*stack);
}

/* What is to be unwound, of a stack of which nothing could be copied. */
static void has_regs(struct gus_sample *s)
{
	s->regs = regs;
	s->regs_n = X86_REGS;
}

static void (*const has[])(struct gus_sample *) = {
	has_nothing, has_kernel, has_exact, has_no_cpu, has_address, has_address_0, has_physical, has_data_page,
	has_code_page, has_source, has_weight, has_weight_0,
	has_transaction, has_cgroup, has_weights, has_chain, has_branches,
	has_index, has_stack, has_regs,
};
enum { HAS = sizeof(has) / sizeof(*has) };

static void each_field_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < HAS; i++) {
		struct gus_sample s = flat(), again;
		struct written w;

		begin(&w);
		has[i](&s);
		again = through(&w, &s);
		expect_same(&s, &again);
		expect_all_fits(&w);
		end(&w);
	}
}

/* Each pair: what comes after a field is where it should be. */
static void each_two_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < HAS; i++)
		for (size_t j = i + 1; j < HAS; j++) {
			struct gus_sample s = flat(), again;
			struct written w;

			begin(&w);
			has[i](&s);
			has[j](&s);
			if (s.weight > UINT32_MAX && s.instruction_latency) /* there is one word for both */
				s.weight = 9;
			if (s.stack_n || s.regs_n) /* a chain of the user's is for whoever does not unwind */
				s.chain_n = 0;
			if (s.mode == GUS_MODE_KERNEL) /* it has another marker */
				s.chain_n = 0;
			again = through(&w, &s);
			if (s.regs_n && s.mode == GUS_MODE_KERNEL)
				again.callers = 0;
			expect_same(&s, &again);
			expect_all_fits(&w);
			end(&w);
		}
}

/* What else samples bring along. */

static void extras_come_back(void **state)
{
	static const uint64_t intr[] = { 11, 22, 33 }, branch_counts[] = { 7, 9 };
	static const uint64_t group[] = { 1000, 900, 555, 1, 66, 2 | (uint64_t)2 << 32 };
	static const uint8_t raw[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	struct gus_extras extras = { 0 };
	struct gus_sample s = flat(), again;
	struct written w;

	(void)state;
	begin(&w);
	w.events[1].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
		PERF_FORMAT_TOTAL_TIME_RUNNING;
	w.events[1].regs_intr = 0x105;
	has_branches(&s);
	gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, group, sizeof(group));
	gus_extras_add(&extras, GUS_EXTRA_RAW, 0, raw, sizeof(raw));
	gus_extras_add(&extras, GUS_EXTRA_BRANCH_COUNTS, 0, branch_counts, sizeof(branch_counts));
	gus_extras_add(&extras, GUS_EXTRA_REGS, PERF_SAMPLE_REGS_ABI_64, intr, sizeof(intr));
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	again = through(&w, &s);
	assert_true(w.layout.branch_type & COUNTERS);
	expect_same(&s, &again);
	expect_all_fits(&w);
	end(&w);
	gus_vec_free(&extras);
}

/* Registers of user space that nobody unwinds by: no stack comes with them, and no chain. */
static void registers_beside_a_stack(void **state)
{
	static const uint64_t words[] = { 21, 22, 23 };
	static const struct { unsigned abi; uint64_t mask, unfit; uint32_t n; } cases[] = {
		{ PERF_SAMPLE_REGS_ABI_64, 0x1000000000105, 1, 3 }, /* a bit more than there are words */
		{ PERF_SAMPLE_REGS_ABI_64, 0x100000000005, 0, 3 }, { PERF_SAMPLE_REGS_ABI_32, 7, 0, 3 },
		{ PERF_SAMPLE_REGS_ABI_64, 0, 1, 3 }, /* nobody knows which they are */
		{ PERF_SAMPLE_REGS_ABI_64, 7, 1, 2 }, { PERF_SAMPLE_REGS_ABI_NONE, 7, 1, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_extras extras = { 0 };
		struct gus_sample s = flat(), again;
		struct written w;

		begin(&w);
		w.events[1].regs_user = cases[i].mask;
		gus_extras_add(&extras, GUS_EXTRA_USER_REGS, cases[i].abi, words, cases[i].n * sizeof(*words));
		s.extras = extras.v;
		s.extras_n = (uint32_t)extras.n;
		s.cgroup = 5; /* comes behind */
		again = through(&w, &s);
		assert_int_equal(w.layout.regs_mask, cases[i].mask);
		assert_int_equal(w.layout.sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN), 0);
		assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_EXTRAS], cases[i].unfit);
		assert_int_equal(again.cgroup, 5);
		s.extras_n = cases[i].unfit ? 0 : s.extras_n;
		expect_same(&s, &again);
		end(&w);
		gus_vec_free(&extras);
	}
}

/* Of an event of which some samples are to be unwound the registers are those that one begins with. */
static void registers_of_both_kinds(void **state)
{
	static const uint64_t words[] = { 21, 22, 23 };
	struct gus_extras extras = { 0 };
	struct gus_sample unwound = flat(), s = flat(), again;
	struct written w;

	(void)state;
	begin(&w);
	has_stack(&unwound);
	gus_extras_add(&extras, GUS_EXTRA_USER_REGS, PERF_SAMPLE_REGS_ABI_64, words, sizeof(words));
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	w.events[1].regs_user = 7;
	w.layout = gus_perfdata_layout(&w.header, 1);
	gus_perfdata_fit(&w.layout, &s, "x86_64");
	gus_perfdata_fit(&w.layout, &unwound, "x86_64");
	gus_perfdata_fit(&w.layout, &s, "x86_64");
	gus_perfdata_settle(&w.layout);
	assert_int_equal(w.layout.regs_mask, 0xff01ff);
	begin_reading(&w);
	gus_perfdata_put_sample(&w.bytes, &w.layout, &unwound, w.unfit);
	again = reread(&w, 0).sample;
	expect_words(again.regs, regs, X86_REGS);
	assert_int_equal(again.stack_n, 4);
	expect_all_fits(&w);
	w.bytes.n = 0;
	gus_perfdata_put_sample(&w.bytes, &w.layout, &s, w.unfit);
	assert_int_equal(reread(&w, 0).sample.extras_n, 0);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_EXTRAS], 1);
	end(&w);
	gus_vec_free(&extras);
}

/* A branch without a count of its own has 0. */
static void branches_without_counts(void **state)
{
	static const uint64_t counts[] = { 7 };
	struct gus_extras extras = { 0 };
	struct gus_sample s = flat(), again;
	const uint64_t *found;
	struct written w;
	size_t bytes;

	(void)state;
	begin(&w);
	has_branches(&s);
	gus_extras_add(&extras, GUS_EXTRA_BRANCH_COUNTS, 0, counts, sizeof(counts));
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	again = through(&w, &s);
	found = gus_sample_extra(&again, GUS_EXTRA_BRANCH_COUNTS, &bytes, NULL);
	assert_int_equal(bytes, 16);
	assert_int_equal(found[0], 7);
	assert_int_equal(found[1], 0);
	w.bytes.n = 0;
	s.extras_n = 0; /* another sample of the event has none at all */
	gus_perfdata_put_sample(&w.bytes, &w.layout, &s, w.unfit);
	again = reread(&w, 0).sample;
	found = gus_sample_extra(&again, GUS_EXTRA_BRANCH_COUNTS, &bytes, NULL);
	assert_int_equal(bytes, 16);
	assert_int_equal(found[0] | found[1], 0);
	assert_int_equal(again.branches_n, 2);
	end(&w);
	gus_vec_free(&extras);
}

/* Samples of one event of which some lack what others have: each record is whole, and what comes behind is right. */
static void samples_without(void **state)
{
	static const uint64_t formats[] = { PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED, PERF_FORMAT_GROUP |
					    PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED };

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct gus_sample s = flat(), again;
		struct written w;

		begin(&w);
		w.layout = (struct gus_records_layout){ .sample_type = UINT64_MAX >> 40 & ~(PERF_SAMPLE_ID |
			PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_WEIGHT | 1u << 20), .read_format = formats[i],
			.regs_mask = 0xff01ff, .intr_mask = 7, .branch_type = PERF_SAMPLE_BRANCH_ANY };
		gus_perfdata_put_sample(&w.bytes, &w.layout, &s, w.unfit);
		begin_reading(&w);
		again = reread(&w, 0).sample;
		assert_int_equal(again.ip, s.ip);
		assert_int_equal(again.period, s.period);
		assert_int_equal(again.cpu, s.cpu);
		assert_int_equal(again.chain_n | again.branches_n | again.regs_n | again.stack_n, 0);
		assert_int_equal(again.address | again.data_source | again.transaction | again.physical, 0);
		assert_int_equal(again.cgroup | again.data_page | again.code_page | again.weight, 0);
		assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_EXTRAS], 1); /* counts: there is no way to say none */
		end(&w);
	}
}

/* One counter has its times behind it, and its id behind these. */
static void one_counter(void **state)
{
	static const uint64_t formats[] = {
		0, PERF_FORMAT_ID, PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
		PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | 16,
	};
	static const size_t words[] = { 1, 2, 3, 5 }, id_at[] = { 9, 1, 2, 3 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		uint64_t counts[5] = { 100, 101, 102, 103, 104 };
		struct gus_extras extras = { 0 };
		struct gus_sample s = flat(), again;
		struct written w;

		begin(&w);
		w.events[1].read_format = formats[i];
		if (id_at[i] < 5)
			counts[id_at[i]] = 1 | (uint64_t)1 << 32;
		gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, counts, words[i] * sizeof(*counts));
		s.extras = extras.v;
		s.extras_n = (uint32_t)extras.n;
		again = through(&w, &s);
		expect_same(&s, &again);
		expect_all_fits(&w);
		end(&w);
		gus_vec_free(&extras);
	}
}

static void note(void *context, uint64_t counter)
{
	uint64_t *sum = context;

	sum[0]++;
	sum[1] += counter;
}

static void counters_are_named(void **state)
{
	static const uint64_t group[] = { 5, 0x100000001, 6, 0x200000002 };
	struct gus_extras extras = { 0 };
	struct gus_sample s = flat();
	uint64_t sum[2] = { 0 };

	(void)state;
	gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, group, sizeof(group));
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	gus_perfdata_counters(&s, PERF_FORMAT_GROUP | PERF_FORMAT_ID, note, sum);
	assert_int_equal(sum[0], 2);
	assert_int_equal(sum[1], 0x300000003);
	gus_perfdata_counters(&s, PERF_FORMAT_GROUP, note, sum); /* which has no ids */
	gus_perfdata_counters(&s, PERF_FORMAT_ID, note, sum); /* of which this is not one */
	assert_int_equal(sum[0], 2);
	gus_vec_free(&extras);
}

/* What is not as its event says is left out, and the record is whole. */
static void extras_that_do_not_fit_their_event(void **state)
{
	static const uint64_t words[] = { 1, 2, 3 };
	struct gus_extras extras = { 0 };
	struct gus_sample s = flat(), again;
	struct written w;

	(void)state;
	begin(&w);
	w.events[1].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID; /* two words each */
	w.events[1].regs_intr = 3;
	s.cgroup = 5;
	gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, words, sizeof(words));
	gus_extras_add(&extras, GUS_EXTRA_REGS, PERF_SAMPLE_REGS_ABI_64, words, sizeof(words));
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	again = through(&w, &s);
	assert_int_equal(again.cgroup, 5);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_EXTRAS], 2);
	end(&w);
	gus_vec_free(&extras);
}

/* Chains, as perf has them: with the address of the sample behind the marker of its mode. */
static void chains(void **state)
{
	static const struct {
		unsigned mode;
		bool regs;
		uint64_t ours[4], perfs[5]; /* to the first 0 */
	} cases[] = {
		{ GUS_MODE_USER, false, { USER_MARK, 2 }, { USER_MARK, 1, 2 } },
		{ GUS_MODE_USER, false, { USER_MARK }, { USER_MARK, 1 } },
		{ GUS_MODE_USER, false, { 2, 3 }, { 1, 2, 3 } },
		{ GUS_MODE_USER, false, { 0 }, { 1 } },
		{ GUS_MODE_KERNEL, false, { 0 }, { KERNEL_MARK, 1 } },
		{ GUS_MODE_KERNEL, false, { KERNEL_MARK, 2, USER_MARK, 3 }, { KERNEL_MARK, 1, 2, USER_MARK, 3 } },
		{ GUS_MODE_KERNEL, false, { KERNEL_MARK, USER_MARK, 3 }, { KERNEL_MARK, 1, USER_MARK, 3 } },
		{ GUS_MODE_KERNEL, false, { USER_MARK, 3 }, { USER_MARK, 3 } },
		{ GUS_MODE_KERNEL, true, { KERNEL_MARK, 2 }, { KERNEL_MARK, 1, 2 } },
		{ GUS_MODE_USER, true, { 0 }, { 0 } },
		{ GUS_MODE_UNKNOWN, false, { 0 }, { 1 } },
		{ GUS_MODE_GUEST_USER + 1, false, { 0 }, { 1 } }, /* which nobody knows either */
		{ GUS_MODE_GUEST_USER, false, { 0 }, { (uint64_t)-2560, 1 } },
		{ GUS_MODE_GUEST_USER, false, { (uint64_t)-2560, 2 }, { (uint64_t)-2560, 1, 2 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sample s = flat();
		const uint64_t *found;
		struct written w;
		uint64_t n = 0, at;

		begin(&w);
		s.ip = 1;
		s.mode = (uint8_t)cases[i].mode;
		s.chain = cases[i].ours;
		while (s.chain_n < 4 && cases[i].ours[s.chain_n])
			s.chain_n++;
		if (cases[i].regs)
			has_regs(&s);
		w.layout = (struct gus_records_layout){ .sample_type = PERF_SAMPLE_CALLCHAIN };
		gus_perfdata_put_sample(&w.bytes, &w.layout, &s, w.unfit);
		found = (const uint64_t *)(const void *)(w.bytes.v + 8);
		while (n < 5 && cases[i].perfs[n])
			n++;
		assert_int_equal(found[0], n);
		for (at = 0; at < n; at++)
			assert_int_equal(found[1 + at], cases[i].perfs[at]);
		end(&w);
	}
}

/* What no record of perf's has room for is counted by its kind. */
static void what_does_not_fit(void **state)
{
	struct gus_sample s = flat(), again;
	struct written w;

	(void)state;
	begin(&w);
	s.callers = GUS_CALLERS_WHOLE;
	s.events = 1;
	s.issue_latency = 5;
	s.instruction_latency = UINT16_MAX + 1;
	s.retire_latency = 9;
	s.told = GUS_TOLD_ISSUE | GUS_TOLD_INSTRUCTION | GUS_TOLD_COMPLETE;
	again = through(&w, &s);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_CALLERS], 1);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_PSV], 1);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_LATENCIES], 1);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_LARGE], 1);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_TOLD], 1); /* it will seem that a weight was */
	assert_int_equal(again.instruction_latency, UINT16_MAX);
	assert_int_equal(again.retire_latency, 0); /* from completion on: another one than perf's */
	end(&w);

	begin(&w); /* of a word that counts from completion on alone nothing is written */
	s = flat();
	s.retire_latency = 9;
	s.told = GUS_TOLD_COMPLETE;
	through(&w, &s);
	assert_int_equal(w.layout.sample_type & 1u << 24, 0);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_TOLD], 0);
	end(&w);
	begin(&w);
	s.told = GUS_TOLD_RETIRE;
	s.callers = GUS_CALLERS_WHOLE;
	s.events = 1;
	through(&w, &s);
	assert_int_equal(w.layout.sample_type & 1u << 24, 1u << 24);
	gus_perfdata_put_sample(&w.bytes, &w.layout, &s, w.unfit);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_CALLERS], 2);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_PSV], 2);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_TOLD], 2); /* that there was no weight */
	end(&w);

	begin(&w); /* of an event that has no field for it */
	s = flat();
	s.retire_latency = 9;
	s.told = GUS_TOLD_RETIRE;
	w.layout = gus_perfdata_layout(&w.header, 1);
	gus_perfdata_put_sample(&w.bytes, &w.layout, &s, w.unfit);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_TOLD], 1);
	end(&w);

	for (unsigned i = 0; i < 3; i++) { /* each alone */
		begin(&w);
		s = flat();
		s.issue_latency = i == 0;
		s.translation_latency = i == 1;
		s.told = i == 2 ? GUS_TOLD_TRANSLATION : 0;
		through(&w, &s);
		assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_LATENCIES], 1);
		assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_TOLD], 0);
		end(&w);
	}
}

/* A record has less than 64 KiB: of a longer one the end of the stack goes first, and never more than needed. */
static void long_records(void **state)
{
	static uint64_t words[9000];
	static struct gus_branch many[3000];
	struct gus_extras extras = { 0 };
	struct gus_sample s = flat(), again;
	struct written w;

	(void)state;
	for (size_t i = 0; i < 9000; i++)
		words[i] = 0x500000 + i;
	for (size_t i = 0; i < 3000; i++)
		many[i] = (struct gus_branch){ .from = i + 1, .to = i };
	has_regs(&s);
	s.stack = words;
	s.stack_n = 9000;
	begin(&w);
	again = through(&w, &s);
	assert_int_equal(w.bytes.n, 65528);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_STACK], 1);
	expect_words(again.stack, words, again.stack_n);
	s.stack_n = again.stack_n;
	end(&w);
	begin(&w); /* what just fits is whole */
	again = through(&w, &s);
	assert_int_equal(again.stack_n, s.stack_n);
	expect_all_fits(&w);
	end(&w);

	s = flat();
	s.branches = many;
	s.branches_n = 3000;
	begin(&w); /* 24 bytes each, behind 56 of the header and flat fields and 8 that say how many there are */
	again = through(&w, &s);
	assert_int_equal(again.branches_n, (65528 - 64) / 24);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_BRANCHES], 1);
	end(&w);

	s = flat();
	gus_extras_add(&extras, GUS_EXTRA_RAW, 0, words, 65532);
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	s.chain = words;
	s.chain_n = 9000;
	s.branches = many;
	s.branches_n = 3000;
	begin(&w);
	again = through(&w, &s);
	assert_true(w.bytes.n <= 65528);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_EXTRAS], 1);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_BRANCHES], 1);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_CHAIN], 1);
	assert_int_equal(again.branches_n, 0);
	expect_words(again.chain, words, again.chain_n);
	assert_int_equal(w.bytes.n, 65528);
	gus_perfdata_put_sample(&w.bytes, &w.layout, &s, w.unfit); /* once more: each is counted */
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_EXTRAS], 2);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_BRANCHES], 2);
	assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_CHAIN], 2);
	end(&w);
	gus_vec_free(&extras);
}

/* Side band. */

static Gusprof__Record *through_sideband(struct written *w, const Gusprof__Record *record)
{
	struct gus_record r;
	size_t from = w->bytes.n;

	w->layout = gus_perfdata_layout(&w->header, 0);
	gus_perfdata_fit_cpu(&w->layout, 3);
	if (!w->records.events)
		begin_reading(w);
	assert_true(gus_perfdata_put_record(&w->bytes, &w->layout, record, EVENTS));
	w->misc = w->bytes.v[from + 4] | w->bytes.v[from + 5] << 8;
	r = reread(w, from);
	assert_int_equal(r.kind, GUS_RECORD_SIDEBAND);
	assert_memory_equal(w->bytes.v + w->bytes.n - 8, "\1\0\0\0\0\0\0\0", 8); /* the first event's */
	return r.sideband;
}

static void mappings(void **state)
{
	const struct made_mapping made[] = {
		{ .time = 5, .pid = 7, .start = 0x400000, .length = 8192, .offset = 4096, .path = "/bin/a",
		  .inode = 99 },
		{ .time = 6, .pid = 8, .start = 0x7f00, .length = 1, .path = "1234567",
		  .build_id = "0123456789abcdef0123" },
		{ .time = 7, .pid = 8, .start = 1, .length = 1, .path = "12345678", .build_id = "12345678" },
		{ .time = 8, .pid = UINT32_MAX, .start = 0xffffffff81000000, .length = 1, .path = "[k]",
		  .kernel = true },
	};
	struct written w;

	(void)state;
	begin(&w);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		struct made_mmap r;
		const Gusprof__Mmap *m;

		made_mmap(&r, &made[i]);
		r.mmap.protection = i ? PROT_READ : PROT_READ | PROT_EXEC;
		r.mmap.flags = MAP_PRIVATE;
		r.mmap.major = i ? 0 : 8;
		m = through_sideband(&w, &r.record)->mmap;
		/* What is not executed says so, for old readers; and which of the two identities it has. */
		assert_int_equal(w.misc, (made[i].kernel ? 1 : 2) | (i ? 1 << 13 : 0) |
				 (made[i].build_id ? 1 << 14 : 0));
		assert_int_equal(m->time, made[i].time);
		assert_int_equal(m->pid, made[i].pid);
		assert_int_equal(m->tid, made[i].pid);
		assert_int_equal(m->start, made[i].start);
		assert_int_equal(m->length, made[i].length);
		assert_int_equal(m->offset, made[i].offset);
		assert_int_equal(m->inode, made[i].inode);
		assert_int_equal(m->major, r.mmap.major);
		assert_int_equal(m->protection, r.mmap.protection);
		assert_int_equal(m->flags, MAP_PRIVATE);
		assert_int_equal(m->kernel, made[i].kernel);
		assert_string_equal(m->path, made[i].path);
		assert_int_equal(m->build_id.len, r.mmap.build_id.len);
		if (m->build_id.len)
			assert_memory_equal(m->build_id.data, r.mmap.build_id.data, m->build_id.len);
	}
	end(&w);
}

static void tasks_and_names(void **state)
{
	Gusprof__Task task = GUSPROF__TASK__INIT;
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	const Gusprof__Record *again;
	struct written w;

	(void)state;
	begin(&w);
	task.pid = 1, task.ppid = 2, task.tid = 3, task.ptid = 4, task.time = 5;
	r.fork = &task;
	for (unsigned i = 0; i < 2; i++) {
		r.kind_case = i ? GUSPROF__RECORD__KIND_EXIT : GUSPROF__RECORD__KIND_FORK;
		again = through_sideband(&w, &r);
		assert_int_equal(again->kind_case, r.kind_case);
		assert_int_equal(again->fork->pid, 1);
		assert_int_equal(again->fork->ppid, 2);
		assert_int_equal(again->fork->tid, 3);
		assert_int_equal(again->fork->ptid, 4);
		assert_int_equal(again->fork->time, 5);
		assert_int_equal(w.misc, 0);
	}
	comm.pid = 11, comm.tid = 12, comm.time = 13;
	comm.name = (char *)(uintptr_t)"sixteen letters.";
	r.kind_case = GUSPROF__RECORD__KIND_COMM;
	r.comm = &comm;
	for (unsigned i = 0; i < 2; i++) {
		comm.exec = i;
		again = through_sideband(&w, &r);
		assert_int_equal(again->comm->pid, 11);
		assert_int_equal(again->comm->tid, 12);
		assert_int_equal(again->comm->time, 13);
		assert_int_equal(again->comm->exec, i);
		assert_int_equal(w.misc, i << 13);
		assert_string_equal(again->comm->name, comm.name);
	}
	end(&w);
}

/* Times that are numbers of records are not written, neither behind a record nor where its body has room for one. */
static void times_that_are_none(void **state)
{
	static const char *const clocks[] = { "monotonic", "records" };

	(void)state;
	for (uint64_t timeless = 0; timeless < 2; timeless++) {
		Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
		Gusprof__Task task = GUSPROF__TASK__INIT;
		Gusprof__Throttle throttle = GUSPROF__THROTTLE__INIT;
		Gusprof__Record r = GUSPROF__RECORD__INIT;
		struct gus_sample s = flat(), again;
		uint64_t time = timeless ? 0 : s.time;
		struct written w;

		begin(&w);
		clock.name = (char *)(uintptr_t)clocks[timeless];
		w.header.clock = &clock;
		again = through(&w, &s);
		assert_int_equal(again.time, time);
		assert_int_equal(w.layout.sample_type & PERF_SAMPLE_TIME, timeless ? 0 : PERF_SAMPLE_TIME);
		again.time = s.time;
		expect_same(&s, &again);
		task.time = throttle.time = s.time;
		r.kind_case = GUSPROF__RECORD__KIND_FORK;
		r.fork = &task;
		assert_int_equal(through_sideband(&w, &r)->fork->time, time);
		r.kind_case = GUSPROF__RECORD__KIND_THROTTLE;
		r.throttle = &throttle;
		assert_int_equal(through_sideband(&w, &r)->throttle->time, time);
		end(&w);
	}
}

static void losses_and_throttles(void **state)
{
	Gusprof__Lost lost = GUSPROF__LOST__INIT;
	Gusprof__Throttle throttle = GUSPROF__THROTTLE__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	const Gusprof__Record *again;
	struct written w;

	(void)state;
	begin(&w);
	for (uint32_t event = 0; event <= EVENTS; event++) { /* the last one is not known */
		lost.time = 5, lost.cpu = 3, lost.event = event, lost.count = 77;
		r.kind_case = GUSPROF__RECORD__KIND_LOST;
		r.lost = &lost;
		again = through_sideband(&w, &r);
		assert_int_equal(again->lost->time, 5);
		assert_int_equal(again->lost->cpu, 3);
		assert_int_equal(again->lost->event, event);
		assert_int_equal(again->lost->count, 77);
		assert_int_equal(w.misc, 0);
		throttle.time = 6, throttle.cpu = 2, throttle.event = event, throttle.stop = event % 2;
		r.kind_case = GUSPROF__RECORD__KIND_THROTTLE;
		r.throttle = &throttle;
		again = through_sideband(&w, &r);
		assert_int_equal(again->throttle->time, 6);
		assert_int_equal(again->throttle->cpu, 2);
		assert_int_equal(again->throttle->event, event);
		assert_int_equal(again->throttle->stop, event % 2);
		assert_int_equal(w.misc, 0);
	}
	end(&w);
}

static void kernel_symbols(void **state)
{
	Gusprof__Ksymbol k = GUSPROF__KSYMBOL__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	struct written w;

	(void)state;
	begin(&w);
	r.kind_case = GUSPROF__RECORD__KIND_KSYMBOL;
	r.ksymbol = &k;
	k.name = (char *)(uintptr_t)"bpf_prog_1";
	k.time = 4, k.address = 0xffffffffc0000000, k.length = 300, k.type = 1;
	for (unsigned i = 0; i < 2; i++) {
		const Gusprof__Ksymbol *again;

		k.unregister = i;
		again = through_sideband(&w, &r)->ksymbol;
		assert_int_equal(again->time, 4);
		assert_int_equal(again->address, k.address);
		assert_int_equal(again->length, 300);
		assert_int_equal(again->type, 1);
		assert_int_equal(again->unregister, i);
		assert_int_equal(w.misc, 0);
		assert_string_equal(again->name, k.name);
	}
	end(&w);
}

/* Records of another file go on as they are, with a trailer of this one; what refers to that file does not. */
static void kept_records(void **state)
{
	static uint8_t body[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static const struct { uint32_t type; bool goes; } kinds[] = {
		{ 16, true }, { 18, true }, { 19, true }, { 20, true },
		{ 8, false }, { 11, false }, { 17, false }, { 21, false }, { 70, false }, { 0, false },
	};
	Gusprof__Kept k = GUSPROF__KEPT__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	struct gus_records_trailer trailer;
	struct written w;

	(void)state;
	begin(&w);
	w.layout = gus_perfdata_layout(&w.header, 0);
	gus_perfdata_fit_cpu(&w.layout, 1);
	begin_reading(&w);
	r.kind_case = GUSPROF__RECORD__KIND_KEPT;
	r.kept = &k;
	k.misc = 0x4001, k.time = 55, k.pid = 5, k.tid = 6, k.cpu = 7;
	k.body = (ProtobufCBinaryData){ sizeof(body), body };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t from = w.bytes.n;

		k.type = kinds[i].type;
		assert_int_equal(gus_perfdata_put_record(&w.bytes, &w.layout, &r, EVENTS), kinds[i].goes);
		if (!kinds[i].goes) {
			assert_int_equal(w.bytes.n, from);
			continue;
		}
		assert_int_equal(w.bytes.v[from], kinds[i].type);
		assert_int_equal(w.bytes.v[from + 4] | w.bytes.v[from + 5] << 8, 0x4001);
		assert_memory_equal(w.bytes.v + from + 8, body, sizeof(body));
		assert_true(gus_records_trailer(&w.records, w.bytes.v + from, w.bytes.n - from, &trailer));
		assert_int_equal(trailer.size, w.bytes.n - from - 8 - sizeof(body));
		assert_int_equal(trailer.time, 55);
		assert_int_equal(trailer.pid, 5);
		assert_int_equal(trailer.tid, 6);
		assert_int_equal(trailer.cpu, 7);
	}
	end(&w);
}

/* A name that no record has room for: nothing is written. Its neighbour is. */
static void long_names(void **state)
{
	static char name[65536];
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	struct written w;

	(void)state;
	begin(&w);
	w.layout = gus_perfdata_layout(&w.header, 0); /* whose trailer has three words */
	r.kind_case = GUSPROF__RECORD__KIND_COMM;
	r.comm = &comm;
	comm.name = name;
	memset(name, 'x', 65528 - 16 - 24 - 1);
	assert_true(gus_perfdata_put_record(&w.bytes, &w.layout, &r, EVENTS));
	assert_int_equal(w.bytes.n, 65528);
	name[strlen(name)] = 'x';
	assert_false(gus_perfdata_put_record(&w.bytes, &w.layout, &r, EVENTS));
	assert_int_equal(w.bytes.n, 65528);
	end(&w);
}

static void kinds_that_perf_has_not(void **state)
{
	Gusprof__Mark mark = GUSPROF__MARK__INIT;
	Gusprof__Jit jit = GUSPROF__JIT__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	struct written w;

	(void)state;
	begin(&w);
	w.layout = gus_perfdata_layout(&w.header, 0);
	assert_false(gus_perfdata_put_record(&w.bytes, &w.layout, &r, EVENTS));
	r.kind_case = GUSPROF__RECORD__KIND_MARK;
	r.mark = &mark;
	assert_false(gus_perfdata_put_record(&w.bytes, &w.layout, &r, EVENTS));
	r.kind_case = GUSPROF__RECORD__KIND_JIT;
	r.jit = &jit;
	assert_false(gus_perfdata_put_record(&w.bytes, &w.layout, &r, EVENTS));
	assert_int_equal(w.bytes.n, 0);
	end(&w);
}

static void switches_and_rounds(void **state)
{
	struct gus_switch sw = { .time = 9, .pid = 1, .tid = 2, .cpu = 3 };
	struct gus_record r;
	struct written w;

	(void)state;
	begin(&w);
	w.layout = gus_perfdata_layout(&w.header, 0);
	gus_perfdata_fit_cpu(&w.layout, 3);
	begin_reading(&w);
	for (unsigned i = 0; i < 3; i++) {
		size_t from = w.bytes.n;

		sw.out = i > 0;
		sw.preempt = i > 1;
		gus_perfdata_put_switch(&w.bytes, &w.layout, &sw);
		r = reread(&w, from);
		assert_int_equal(r.kind, GUS_RECORD_SWITCH);
		assert_int_equal(r.sw.time, 9);
		assert_int_equal(r.sw.pid, 1);
		assert_int_equal(r.sw.tid, 2);
		assert_int_equal(r.sw.cpu, 3);
		assert_int_equal(r.sw.out, sw.out);
		assert_int_equal(r.sw.preempt, sw.preempt);
	}
	w.bytes.n = 0;
	gus_perfdata_put_round(&w.bytes);
	assert_memory_equal(w.bytes.v, "\x44\0\0\0\0\0\x08\0", 8);
	assert_int_equal(w.bytes.n, 8);
	end(&w);
}

/* No two are the same, and none is 0, which is nobody's. */
static void ids(void **state)
{
	(void)state;
	assert_int_equal(gus_perfdata_id(0, 0), 1);
	assert_int_equal(gus_perfdata_id(2, 0), 3);
	assert_int_equal(gus_perfdata_id(2, 5), 0x500000003);
	assert_int_equal(gus_perfdata_id(UINT32_MAX - 1, UINT32_MAX), UINT64_MAX);
}

/* Layouts: what no sample has is not in them, and what excludes each other is not together. */
static void layouts(void **state)
{
	struct gus_extras counts = { 0 };
	struct gus_sample s = flat();
	struct written w;

	(void)state;
	begin(&w);
	w.header.branch_type = HW_INDEX | COUNTERS | PERF_SAMPLE_BRANCH_ANY;
	w.events[1].read_format = PERF_FORMAT_ID;
	w.events[1].regs_intr = 1;
	w.layout = gus_perfdata_layout(&w.header, 1);
	gus_perfdata_fit(&w.layout, &s, "x86_64");
	gus_perfdata_settle(&w.layout);
	assert_int_equal(w.layout.sample_type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			 PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CPU);
	assert_int_equal(w.layout.branch_type | w.layout.read_format | w.layout.regs_mask | w.layout.intr_mask, 0);

	w.layout = gus_perfdata_layout(&w.header, 1);
	has_branches(&s);
	has_weight(&s);
	gus_perfdata_fit(&w.layout, &s, "x86_64");
	has_weights(&s);
	gus_perfdata_fit(&w.layout, &s, "x86_64");
	gus_perfdata_settle(&w.layout);
	assert_int_equal(w.layout.branch_type, HW_INDEX | PERF_SAMPLE_BRANCH_ANY); /* nobody has counts */
	assert_int_equal(w.layout.sample_type & (PERF_SAMPLE_WEIGHT | 1u << 24), 1u << 24);

	gus_extras_add(&counts, GUS_EXTRA_BRANCH_COUNTS, 0, (uint64_t[]){ 1, 2 }, 16);
	s.extras = counts.v;
	s.extras_n = (uint32_t)counts.n;
	w.layout = gus_perfdata_layout(&w.header, 1);
	gus_perfdata_fit(&w.layout, &s, "x86_64");
	assert_int_equal(w.layout.branch_type, HW_INDEX | COUNTERS | PERF_SAMPLE_BRANCH_ANY);
	gus_vec_free(&counts);

	w.events[1].branch_type = PERF_SAMPLE_BRANCH_USER; /* its own */
	assert_int_equal(gus_perfdata_layout(&w.header, 1).branch_type, PERF_SAMPLE_BRANCH_USER);
	end(&w);
}

/* What unwinds copied stacks does so for events that have chains: those that hardware or kernel made are then empty. */
static void stacks_bring_chains(void **state)
{
	const size_t chain_at = 56; /* behind the header and flat fields */
	struct gus_sample s = flat(), again;
	struct written w;

	(void)state;
	for (unsigned kernel = 0; kernel < 2; kernel++) {
		begin(&w);
		has_stack(&s);
		if (kernel)
			has_kernel(&s);
		again = through(&w, &s);
		assert_int_equal(w.layout.sample_type & PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_CALLCHAIN);
		assert_memory_equal(w.bytes.v + chain_at, "\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16); /* then the ABI */
		expect_same(&s, &again);
		end(&w);
	}
	s.regs_n = X86_REGS - 1; /* which nobody knows, so that nothing is unwound */
	begin(&w);
	again = through(&w, &s);
	assert_int_equal(w.layout.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER), 0);
	end(&w);
}

/* Which registers they are nobody knows of other machines: then there are neither these nor stacks. */
static void registers_of_machines(void **state)
{
	static const uint64_t many[33] = { 1 };
	static const struct { const char *machine; uint32_t n; uint64_t mask; } cases[] = {
		{ "x86_64", 17, 0xff01ff }, { "aarch64", 33, 0x1ffffffff }, { "x86_64", 33, 0 }, { "aarch64", 17, 0 },
		{ "riscv64", 17, 0 }, { "", 17, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sample s = flat();
		struct gus_records_layout layout;
		struct written w;

		begin(&w);
		layout = gus_perfdata_layout(&w.header, 0);
		s.regs = many;
		s.regs_n = cases[i].n;
		s.stack = stack;
		s.stack_n = 4;
		gus_perfdata_fit(&layout, &s, cases[i].machine);
		gus_perfdata_settle(&layout);
		assert_int_equal(layout.regs_mask, cases[i].mask);
		gus_perfdata_fit(&layout, &(struct gus_sample){ .regs_n = 0 }, cases[i].machine); /* one without any */
		assert_int_equal(layout.regs_mask, cases[i].mask);
		gus_perfdata_put_sample(&w.bytes, &layout, &s, w.unfit);
		assert_int_equal(w.unfit[GUS_PERFDATA_UNFIT_EXTRAS], !cases[i].mask);
		assert_int_equal(layout.sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER),
				 cases[i].mask ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0);
		end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_alone),
		cmocka_unit_test(each_two_fields),
		cmocka_unit_test(extras_come_back),
		cmocka_unit_test(branches_without_counts),
		cmocka_unit_test(samples_without),
		cmocka_unit_test(one_counter),
		cmocka_unit_test(counters_are_named),
		cmocka_unit_test(extras_that_do_not_fit_their_event),
		cmocka_unit_test(chains),
		cmocka_unit_test(what_does_not_fit),
		cmocka_unit_test(long_records),
		cmocka_unit_test(mappings),
		cmocka_unit_test(tasks_and_names),
		cmocka_unit_test(times_that_are_none), cmocka_unit_test(registers_beside_a_stack),
		cmocka_unit_test(registers_of_both_kinds), cmocka_unit_test(losses_and_throttles),
		cmocka_unit_test(kernel_symbols),
		cmocka_unit_test(kept_records),
		cmocka_unit_test(long_names),
		cmocka_unit_test(kinds_that_perf_has_not),
		cmocka_unit_test(switches_and_rounds),
		cmocka_unit_test(ids),
		cmocka_unit_test(layouts),
		cmocka_unit_test(stacks_bring_chains),
		cmocka_unit_test(registers_of_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
