/* SPDX-License-Identifier: MIT */
/* Samples of perf's files on their way to samples of ours: what becomes of each, by its event's attribute. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/perfdata/attr.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/samples.h"

#define FLAG(bit) (UINT64_C(1) << (bit))
#define USER_MARK ((uint64_t)-512)
#define KERNEL_MARK ((uint64_t)-128)
#define MARKS_FROM ((uint64_t)-4095)
enum { X86 = 0xff01ff, X86_REGS = 17 };

struct made {
	Gusprof__Host host;
	struct gus_perfdata_samples takes;
	struct gus_columns rows;
};

static void begin(struct made *m, const char *machine)
{
	*m = (struct made){ .host = GUSPROF__HOST__INIT };
	m->host.machine = (char *)(uintptr_t)machine;
	gus_perfdata_samples_init(&m->takes, &m->host, 1000);
	gus_perfdata_samples_rewind(&m->takes);
}

static void end(struct made *m)
{
	gus_perfdata_samples_free(&m->takes);
	gus_columns_free(&m->rows);
}

static void event(struct made *m, struct gus_perfdata_attr a)
{
	gus_perfdata_samples_event(&m->takes, &a, "");
}

/* The only row that it becomes. */
static struct gus_sample taken(struct made *m, struct gus_sample s)
{
	size_t before = m->rows.n;

	gus_perfdata_samples_take(&m->takes, &s, &m->rows);
	assert_int_equal(m->rows.n, before + 1);
	return gus_columns_sample(&m->rows, before);
}

/* What a sample stands for, if it does not say it: the period of its event, and under a frequency one. */
static void periods(void **state)
{
	static const struct { uint64_t type, flags, said, period; } cases[] = {
		{ PERF_SAMPLE_PERIOD, 0, 77, 77 }, { 0, 0, 77, 4000 }, { 0, FLAG(GUS_PERFDATA_FREQUENCY), 77, 1 },
		{ PERF_SAMPLE_PERIOD, FLAG(GUS_PERFDATA_FREQUENCY), 77, 77 }, { PERF_SAMPLE_PERIOD, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sample s = { .ip = 9, .event = 1, .period = cases[i].said };
		struct made m;

		begin(&m, "x86_64");
		event(&m, (struct gus_perfdata_attr){ .period = 1 });
		event(&m, (struct gus_perfdata_attr){ .period = 4000, .sample_type = cases[i].type,
						      .flags = cases[i].flags });
		assert_int_equal(taken(&m, s).period, cases[i].period);
		assert_false(m.takes.grouped);
		s.event = 2; /* which there is not: it stays as it is */
		assert_int_equal(taken(&m, s).period, cases[i].said);
		assert_int_equal(gus_columns_sample(&m.rows, 1).ip, 9);
		end(&m);
	}
}

/* The user's callers are taken from the chain, and not looked for in the stack, if there are any in it. */
static void chains_beside_stacks(void **state)
{
	static const struct { unsigned mode; uint64_t chain[3]; uint32_t n; bool found; } cases[] = {
		{ GUS_MODE_USER, { USER_MARK, 0x20 }, 2, true }, { GUS_MODE_USER, { USER_MARK }, 1, false },
		{ GUS_MODE_USER, { 0x20 }, 1, true }, { GUS_MODE_USER, { 0 }, 0, false },
		{ GUS_MODE_KERNEL, { 0x20 }, 1, false }, { GUS_MODE_KERNEL, { KERNEL_MARK, 0x20 }, 2, false },
		{ GUS_MODE_KERNEL, { 0x20, USER_MARK, 0x30 }, 3, true },
		{ GUS_MODE_KERNEL, { 0x20, USER_MARK }, 2, false },
		{ GUS_MODE_USER, { USER_MARK, KERNEL_MARK, 0x30 }, 3, false },
		{ GUS_MODE_USER, { MARKS_FROM, 0x20 }, 2, false }, { GUS_MODE_USER, { MARKS_FROM - 1 }, 1, true },
		{ GUS_MODE_KERNEL, { USER_MARK, MARKS_FROM }, 2, false },
		{ GUS_MODE_KERNEL, { USER_MARK, MARKS_FROM - 1 }, 2, true },
	};
	static const uint64_t regs[X86_REGS], stack[2];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (unsigned left_out = 0; left_out < 2; left_out++) {
			const struct gus_sample s = { .mode = (uint8_t)cases[i].mode, .chain = cases[i].chain,
				.chain_n = cases[i].n, .regs = regs, .regs_n = X86_REGS, .stack = stack, .stack_n = 2 };
			bool unwound = left_out || !cases[i].found;
			struct gus_sample is;
			struct made m;

			begin(&m, "x86_64");
			event(&m, (struct gus_perfdata_attr){ .regs_user = X86,
				.flags = left_out ? FLAG(GUS_PERFDATA_EXCLUDE_USER_CHAIN) : 0 });
			is = taken(&m, s);
			assert_int_equal(is.regs_n, unwound ? X86_REGS : 0);
			assert_int_equal(is.stack_n, unwound ? 2 : 0);
			assert_int_equal(is.chain_n, cases[i].n);
			end(&m);
		}
}

/* Of the registers that there are ours, in our order. */
static void registers(void **state)
{
	static const struct { const char *machine; uint64_t mask; unsigned n, last; } cases[] = {
		{ "x86_64", X86, 17, 16 }, { "x86_64", X86 | 1u << 9, 17, 17 }, { "x86_64", X86 | 1u << 30, 17, 16 },
		{ "x86_64", X86 & ~1u, 0, 0 }, { "x86_64", X86 & ~(1u << 23), 0, 0 },
		{ "aarch64", 0x1ffffffff, 33, 32 }, { "arm64", 0x3ffffffff, 33, 32 }, { "aarch64", 0xffffffff, 0, 0 },
		{ "armv7l", 0xffff, 0, 0 },
	};
	uint64_t regs[64];

	(void)state;
	for (uint64_t i = 0; i < 64; i++)
		regs[i] = 100 + i;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t all = (uint32_t)__builtin_popcountll(cases[i].mask);
		const struct gus_sample s = { .regs = regs, .regs_n = all, .stack = regs, .stack_n = 3, .cgroup = 5 };
		const uint64_t *extra;
		struct gus_sample is;
		unsigned abi = 0;
		size_t bytes = 0;
		struct made m;

		begin(&m, cases[i].machine);
		event(&m, (struct gus_perfdata_attr){ .regs_user = cases[i].mask });
		is = taken(&m, s);
		assert_int_equal(is.regs_n, cases[i].n);
		assert_int_equal(is.stack_n, cases[i].n ? 3 : 0);
		extra = gus_sample_extra(&is, GUS_EXTRA_USER_REGS, &bytes, &abi);
		if (cases[i].n) {
			assert_int_equal(is.regs[0], 100);
			assert_int_equal(is.regs[cases[i].n - 1], 100 + cases[i].last);
			assert_null(extra);
		} else { /* they stay as they are */
			assert_int_equal(bytes, all * sizeof(*extra));
			assert_int_equal(abi, PERF_SAMPLE_REGS_ABI_64);
			assert_memory_equal(extra, regs, bytes);
		}
		end(&m);
	}
}

/* The calls that have not returned, behind what the kernel's chain has, each as the address behind it. */
static void calls(void **state)
{
	static const struct gus_branch branches[] = { { 0x20, 0x15, 0, 0 }, { 0x30, 0x21, 0, 0 } };
	static const struct {
		unsigned mode;
		uint64_t chain[2];
		uint32_t n;
		uint64_t want[5];
		uint32_t want_n;
	} cases[] = {
		{ GUS_MODE_USER, { 0 }, 0, { USER_MARK, 0x21, 0x31 }, 3 },
		{ GUS_MODE_USER, { USER_MARK }, 1, { USER_MARK, 0x21, 0x31 }, 3 },
		{ GUS_MODE_KERNEL, { KERNEL_MARK }, 1, { KERNEL_MARK, USER_MARK, 0x15, 0x21, 0x31 }, 5 },
		{ GUS_MODE_KERNEL, { 0x99, USER_MARK }, 2, { 0x99, USER_MARK, 0x15, 0x21, 0x31 }, 5 },
	};
	static const uint64_t type = PERF_SAMPLE_BRANCH_STACK, way = PERF_SAMPLE_BRANCH_CALL_STACK;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sample s = { .mode = (uint8_t)cases[i].mode, .chain = cases[i].chain,
					.chain_n = cases[i].n, .branches = branches, .branches_n = 2,
					.branch_index = 7, .callers = GUS_CALLERS_POINTER };
		struct gus_sample is;
		struct made m;

		begin(&m, "x86_64");
		event(&m, (struct gus_perfdata_attr){ .sample_type = type, .branch_type = way });
		event(&m, (struct gus_perfdata_attr){ .sample_type = type, .branch_type = PERF_SAMPLE_BRANCH_ANY });
		event(&m, (struct gus_perfdata_attr){ .sample_type = 0, .branch_type = way });
		is = taken(&m, s);
		assert_int_equal(is.chain_n, cases[i].want_n);
		assert_memory_equal(is.chain, cases[i].want, is.chain_n * sizeof(*is.chain));
		assert_int_equal(is.callers, GUS_CALLERS_POINTER | GUS_CALLERS_BRANCHES);
		assert_int_equal(is.branches_n, 0);
		assert_int_equal(is.branch_index, 0);
		for (s.event = 1; s.event < 3; s.event++) { /* of these they are branches */
			is = taken(&m, s);
			assert_int_equal(is.chain_n, cases[i].n);
			assert_int_equal(is.branches_n, 2);
			assert_int_equal(is.branch_index, 7);
			assert_int_equal(is.callers, GUS_CALLERS_POINTER);
		}
		s.event = s.branches_n = 0; /* none: nothing is said of callers */
		is = taken(&m, s);
		assert_int_equal(is.chain_n, cases[i].n);
		assert_int_equal(is.callers, GUS_CALLERS_POINTER);
		end(&m);
	}
}

/* Words of hardware's, by the PMU of the event and by what its samples have. */
static void words(void **state)
{
	enum { NONE = GUS_PERFDATA_NO_WORDS, SOURCE = GUS_PERFDATA_DATA_SOURCE, OP = GUS_PERFDATA_IBS_OP,
		FETCH = GUS_PERFDATA_IBS_FETCH };
	static const struct { const char *pmu; uint64_t type; int words; } cases[] = {
		{ "", 0, NONE }, { "cpu", PERF_SAMPLE_RAW, NONE }, { "cpu", PERF_SAMPLE_DATA_SRC, SOURCE },
		{ "ibs_op", PERF_SAMPLE_RAW, OP }, { "ibs_op", 0, NONE }, { "ibs_op", PERF_SAMPLE_DATA_SRC, SOURCE },
		{ "ibs_op", PERF_SAMPLE_RAW | PERF_SAMPLE_DATA_SRC, OP }, { "ibs_fetch", PERF_SAMPLE_RAW, FETCH },
		{ "ibs_fetch", PERF_SAMPLE_DATA_SRC, SOURCE }, { "ibs_fetch", 0, NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_perfdata_attr a = { .sample_type = cases[i].type };
		struct made m;

		begin(&m, "x86_64");
		gus_perfdata_samples_event(&m.takes, &a, cases[i].pmu);
		assert_int_equal(m.takes.events.v[0].words, cases[i].words);
		end(&m);
	}
}

/* A load that the first cache had: what the kernel says of it says which of TEA's events it had not. */
static void words_of_the_kernel(void **state)
{
	static const uint64_t load_from_l1 = 0x68100142;

	(void)state;
	for (unsigned has = 0; has < 2; has++) {
		struct gus_sample is;
		struct made m;

		begin(&m, "x86_64");
		event(&m, (struct gus_perfdata_attr){ .sample_type = has ? PERF_SAMPLE_DATA_SRC : 0 });
		is = taken(&m, (struct gus_sample){ .data_source = load_from_l1 });
		assert_int_equal(is.data_source, load_from_l1);
		assert_int_equal(is.events != 0, has);
		end(&m);
	}
}

/* An op that took 33 cycles until it retired, and a fetch that took 44: each is only what its event says. */
static void words_of_ibs(void **state)
{
	static const char *const pmus[] = { "ibs_op", "ibs_fetch", "cpu" };
	const struct gus_perfdata_attr a = { .sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_DATA_SRC };
	uint8_t op[4 + 7 * 8] = { 0xdf, 1 }, fetch[4 + 3 * 8] = { 0xdf, 1 }; /* no further registers */

	(void)state;
	op[4 + 2] = 4 | 2;          /* valid, enabled: bits 18 and 17 */
	op[12] = 0x10;              /* rip */
	op[20 + 2] = 33;            /* from tag to retirement: bits 16 to 31 */
	fetch[4 + 4] = 44;          /* latency: bits 32 to 47 */
	fetch[4 + 6] = 1 | 2 | 4;   /* enabled, valid, completed */
	fetch[12] = 0x20;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned of_fetch = 0; of_fetch < 2; of_fetch++) {
			struct gus_extras extras = { 0 };
			struct gus_sample is;
			struct made m;

			begin(&m, "x86_64");
			m.host.cpu_family = 0x19;
			m.host.cpu_model_number = 1;
			gus_extras_add(&extras, GUS_EXTRA_RAW, 0, of_fetch ? fetch : op,
				       of_fetch ? sizeof(fetch) : sizeof(op));
			gus_perfdata_samples_event(&m.takes, &a, pmus[i]);
			is = taken(&m, (struct gus_sample){ .ip = 1, .extras = extras.v,
							    .extras_n = (uint32_t)extras.n });
			if (i == 0 && !of_fetch) {
				assert_int_equal(is.instruction_latency, 33);
				assert_int_equal(is.ip, 0x10);
			} else if (i == 1 && of_fetch) {
				assert_int_equal(is.weight, 44);
				assert_int_equal(is.ip, 0x20);
			} else if (i == 2) {
				assert_int_equal(is.ip, 1);
				assert_int_equal(is.weight | is.instruction_latency, 0);
			}
			assert_non_null(gus_sample_extra(&is, GUS_EXTRA_RAW, &(size_t){ 0 }, NULL));
			is = taken(&m, (struct gus_sample){ .ip = 1 }); /* without its bytes */
			assert_int_equal(is.ip, 1);
			end(&m);
			gus_vec_free(&extras);
		}
}

/* Counts: as the kernel lays them out, and in place of ids which event's counter it is. */

enum { ENABLED = PERF_FORMAT_TOTAL_TIME_ENABLED, RUNNING = PERF_FORMAT_TOTAL_TIME_RUNNING, ID = PERF_FORMAT_ID,
	GROUP = PERF_FORMAT_GROUP, LOST = 1 << 4 };

struct row { uint32_t event; uint64_t period; };

/* Takes a sample with these counts, and expects these rows, up to one without a period. */
static void expect_rows(struct made *m, uint32_t tid, const uint64_t *counts, size_t n, const struct row *want)
{
	struct gus_extras extras = { 0 };
	size_t at = m->rows.n;
	struct gus_sample s = { .ip = 5, .tid = tid };

	gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, counts, n * sizeof(*counts));
	gus_extras_add(&extras, GUS_EXTRA_RAW, 0, "abcd", 4);
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	gus_perfdata_samples_take(&m->takes, &s, &m->rows);
	for (; want->period; want++, at++) {
		struct gus_sample is;
		size_t bytes;

		assert_true(at < m->rows.n);
		is = gus_columns_sample(&m->rows, at);
		assert_int_equal(is.event, want->event);
		assert_int_equal(is.period, want->period);
		assert_int_equal(is.ip, 5);
		assert_null(gus_sample_extra(&is, GUS_EXTRA_COUNTS, &bytes, NULL));
		assert_non_null(gus_sample_extra(&is, GUS_EXTRA_RAW, &bytes, NULL));
	}
	assert_int_equal(m->rows.n, at);
	gus_vec_free(&extras);
}

#define COUNTS(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)
#define ROWS(...) (const struct row[]){ __VA_ARGS__ { 0 } }
#define ROW(event, period) { event, period },

static void begin_counts(struct made *m, uint64_t format, uint64_t flags, uint64_t type)
{
	begin(m, "x86_64");
	for (unsigned i = 0; i < 2; i++)
		event(m, (struct gus_perfdata_attr){ .sample_type = PERF_SAMPLE_READ | type, .read_format = format,
						     .flags = flags });
	assert_true(m->takes.grouped);
}

static void counts_of_one(void **state)
{
	struct made m;

	(void)state;
	begin_counts(&m, 0, 0, 0); /* a value alone: it is the event's own */
	expect_rows(&m, 1, COUNTS(100), ROWS(ROW(0, 100)));
	expect_rows(&m, 1, COUNTS(130), ROWS(ROW(0, 30)));
	expect_rows(&m, 1, COUNTS(130), ROWS()); /* nothing was counted since */
	expect_rows(&m, 1, COUNTS(120), ROWS()); /* it was set back ... */
	expect_rows(&m, 1, COUNTS(121), ROWS(ROW(0, 1))); /* ... and goes on from there */
	end(&m);
	begin_counts(&m, ID | ENABLED | RUNNING, 0, 0);
	expect_rows(&m, 1, COUNTS(100, 7, 8, 1), ROWS(ROW(1, 100)));
	expect_rows(&m, 1, COUNTS(100, 7, 8), ROWS()); /* shorter than it should be */
	expect_rows(&m, 1, COUNTS(105, 7, 8, 1), ROWS(ROW(1, 5)));
	expect_rows(&m, 1, COUNTS(100, 7, 8, 2), ROWS()); /* of no event */
	end(&m);
	begin_counts(&m, ENABLED, 0, 0);
	expect_rows(&m, 1, COUNTS(100, 7), ROWS(ROW(0, 100)));
	end(&m);
}

static void counts_of_groups(void **state)
{
	struct made m;

	(void)state;
	begin_counts(&m, GROUP | ID, 0, 0);
	expect_rows(&m, 1, COUNTS(100, 0, 7, 1), ROWS(ROW(0, 100) ROW(1, 7)));
	expect_rows(&m, 2, COUNTS(100, 0, 9, 1, 5), ROWS(ROW(1, 2))); /* a word too many is no counter */
	expect_rows(&m, 1, COUNTS(1, UINT64_C(1) << 32), ROWS(ROW(0, 1))); /* another counter of the first event */
	end(&m);
	begin_counts(&m, GROUP | ID | ENABLED | RUNNING | LOST, 0, 0);
	expect_rows(&m, 1, COUNTS(50, 60, 100, 0, 3, 7, 1, 4), ROWS(ROW(0, 100) ROW(1, 7)));
	end(&m);
	begin_counts(&m, GROUP, 0, 0); /* without ids nobody knows whose they are */
	expect_rows(&m, 1, COUNTS(100, 7), ROWS());
	end(&m);
}

/* Of inherited events each thread has counters of its own, if the sample says whose it is. */
static void counts_by_thread(void **state)
{
	static const struct { uint64_t flags, type; bool by_thread; } cases[] = {
		{ FLAG(GUS_PERFDATA_INHERIT), PERF_SAMPLE_TID, true }, { FLAG(GUS_PERFDATA_INHERIT), 0, false },
		{ 0, PERF_SAMPLE_TID, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		begin_counts(&m, ID, cases[i].flags, cases[i].type);
		expect_rows(&m, 1, COUNTS(100, 0), ROWS(ROW(0, 100)));
		expect_rows(&m, 2, COUNTS(130, 0), ROWS(ROW(0, cases[i].by_thread ? 130 : 30)));
		gus_perfdata_samples_rewind(&m.takes); /* another pass begins anew */
		expect_rows(&m, 2, COUNTS(130, 0), ROWS(ROW(0, 130)));
		end(&m);
	}
}

/* What many are made of is bounded by the file's own size, each row with all that it brings along; what is more is
 * left out and counted. */
static void members_are_bounded(void **state)
{
	static const uint64_t chain[9], stack[100];
	static const struct gus_branch branches[10];
	const uint64_t format = GROUP | ID;
	struct gus_extras extras = { 0 };
	struct gus_sample s = { .chain = chain, .chain_n = 9, .branches = branches, .branches_n = 10, .stack = stack,
				.stack_n = 100, .regs = stack, .regs_n = X86_REGS };
	struct made m;

	(void)state;
	begin(&m, "x86_64");
	event(&m, (struct gus_perfdata_attr){ .sample_type = PERF_SAMPLE_READ, .read_format = format,
					      .regs_user = X86, .flags = FLAG(GUS_PERFDATA_EXCLUDE_USER_CHAIN) });
	gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, ((const uint64_t[]){ 1, 0, 2, UINT64_C(1) << 32 }), 32);
	gus_extras_add(&extras, GUS_EXTRA_RAW, 0, chain, 8);
	s.extras = extras.v;
	s.extras_n = (uint32_t)extras.n;
	m.takes.members.left = 2 * (1 + 9 + 10 + 100 + 2) - 1; /* bytes that are brought along are two words */
	gus_perfdata_samples_take(&m.takes, &s, &m.rows);
	assert_int_equal(m.rows.n, 1);
	assert_int_equal(m.takes.left_out, 1);
	assert_int_equal(m.takes.members.left, 1 + 9 + 10 + 100 + 2 - 1);
	gus_perfdata_samples_rewind(&m.takes);
	assert_int_equal(m.takes.left_out, 0);
	assert_int_equal(m.takes.members.left, (16u << 20) + 16 * 1000);
	end(&m);
	gus_vec_free(&extras);
}

/* Of more counters than are kept the others have no samples. */
static void counters_are_bounded(void **state)
{
	struct made m;

	(void)state;
	begin_counts(&m, ID, FLAG(GUS_PERFDATA_INHERIT), PERF_SAMPLE_TID);
	for (uint32_t i = 0; i < GUS_LIMIT_PERFDATA_COUNTERS - 1; i++) { /* as if each had been read once */
		const struct { uint64_t counter; uint32_t tid, zero; } key = { 0, 10 + i, 0 };

		gus_index_add(&m.takes.counters, &key, NULL);
		gus_vec_push(&m.takes.last, 5);
	}
	expect_rows(&m, 11, COUNTS(7, 0), ROWS(ROW(0, 2)));
	expect_rows(&m, 1, COUNTS(7, 0), ROWS(ROW(0, 7))); /* the last one */
	assert_int_equal(m.takes.left_out, 0);
	expect_rows(&m, 2, COUNTS(7, 0), ROWS());
	assert_int_equal(m.takes.left_out, 1);
	end(&m);
}

/* All that a sample brings along beside its counts stays, registers that are not ours among them. */
static void other_extras_stay(void **state)
{
	static const enum gus_extra kinds[] = { GUS_EXTRA_RAW, GUS_EXTRA_REGS, GUS_EXTRA_BRANCH_COUNTS,
						GUS_EXTRA_USER_REGS };
	static const uint64_t words[] = { 11, 22, 33 };

	(void)state;
	for (unsigned counted = 0; counted < 2; counted++)
		for (unsigned foreign = 0; foreign < 2; foreign++) {
			uint64_t type = counted ? PERF_SAMPLE_READ : 0;
			struct gus_extras extras = { 0 };
			struct gus_sample s = { .regs = words, .regs_n = foreign ? 3 : 0 }, is;
			unsigned detail;
			size_t bytes;
			struct made m;

			begin(&m, "x86_64");
			event(&m, (struct gus_perfdata_attr){ .sample_type = type, .read_format = ID,
							      .regs_user = 7 });
			for (unsigned k = 0; k < 4 - foreign; k++)
				gus_extras_add(&extras, kinds[k], k, words, 8 * k + 8 > 24 ? 24 : 8 * k + 8);
			gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, ((const uint64_t[]){ 9, 0 }), 16);
			s.extras = extras.v;
			s.extras_n = (uint32_t)extras.n;
			is = taken(&m, s);
			for (unsigned k = 0; k < 4; k++) {
				const void *at = gus_sample_extra(&is, kinds[k], &bytes, &detail);

				assert_non_null(at);
				assert_int_equal(bytes, k < 3 ? 8 * k + 8 : 24);
				assert_int_equal(detail, k < 3 || !foreign ? k : PERF_SAMPLE_REGS_ABI_64);
				assert_memory_equal(at, words, bytes);
			}
			assert_int_equal(gus_sample_extra(&is, GUS_EXTRA_COUNTS, &bytes, NULL) != NULL, !counted);
			assert_int_equal(is.regs_n, 0);
			assert_int_equal(is.period, counted ? 9 : 0);
			end(&m);
			gus_vec_free(&extras);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods), cmocka_unit_test(chains_beside_stacks), cmocka_unit_test(registers),
		cmocka_unit_test(calls), cmocka_unit_test(words), cmocka_unit_test(words_of_the_kernel),
		cmocka_unit_test(words_of_ibs),
		cmocka_unit_test(counts_of_one), cmocka_unit_test(counts_of_groups), cmocka_unit_test(counts_by_thread),
		cmocka_unit_test(members_are_bounded),
		cmocka_unit_test(counters_are_bounded), cmocka_unit_test(other_extras_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
