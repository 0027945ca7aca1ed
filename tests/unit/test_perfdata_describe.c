/* SPDX-License-Identifier: MIT */
/* What perf.data files say of their machine, events and files, made byte by byte: the header that comes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/perfdata/container.h"
#include "collector/perfdata/describe.h"
#include "collector/perfdata/features.h"
#include "collector/perfdata/record.h"
#include "tests/unit/made_perfdata.h"

/* PERF_SAMPLE_*, flags of perf_event_attr, types of events. */
enum { CHAIN = 1 << 5, BRANCH = 1 << 11, REGS = 1 << 12, STACK = 1 << 13, CALL_STACK = 1 << 11 };
enum { EXCLUDE_USER = 1 << 4, EXCLUDE_KERNEL = 1 << 5, EXCLUDE_HV = 1 << 6, FREQUENCY = 1 << 10, PRECISE_2 = 2 << 15,
	CLOCKID = 1 << 25 };
enum { HARDWARE, SOFTWARE, TRACEPOINT, CACHE, RAW, BREAKPOINT, CS_ETM = 8 };
enum { CYCLES = 0, INSTRUCTIONS = 1, CPU_CLOCK = 0, TASK_CLOCK = 1, FAULTS = 2 };

/* The header of what was made so far; m is given back. */
static Gusprof__Header *described(struct made_perfdata *m)
{
	struct gus_perfdata *p;
	Gusprof__Header *header;
	int fd;

	made_words(m, GUS_PERFDATA_ROUND, 0, NULL, 0); /* features are behind records, and not of a file without any */
	fd = made_file(made_close(m));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	p = gus_perfdata_open(fd, "made", NULL);
	assert_non_null(p);
	header = gus_perfdata_describe(p);
	gus_perfdata_close(p);
	close(fd);
	made_free(m);
	return header;
}

static void drop(Gusprof__Header *header)
{
	gusprof__header__free_unpacked(header, NULL);
}

static void event(struct made_perfdata *m, uint32_t type, uint64_t config)
{
	made_event(m, &(struct made_attr){ .type = type, .config = config, .period = 1, .sample_type = 1 });
}

/* A feature of pairs of texts, each with its zero. */
static void simpleperf(struct made_perfdata *m, const char *pairs, size_t size)
{
	struct made_bytes b = { 0 };

	gus_vec_append(&b, (const uint8_t *)pairs, size);
	made_feature(m, GUS_PERFDATA_SIMPLEPERF, &b);
	gus_vec_free(&b);
}

/* Names. */

static void names_of_simpleperf(void **state)
{
	static const char pairs[] = "system_wide\0false\0event_type_info\0cpu-cycles,0,0\nraw-x,4,17\n\n"
		"cs-etm,8,0\ncs-etm-known,8,5\nother,9,0\nno-config,4\0event_types\0wrong,0,0\nwrong,4,17\0trailing";
	Gusprof__Header *h;
	struct made_perfdata m = { 0 };

	(void)state;
	event(&m, HARDWARE, CYCLES);
	event(&m, RAW, 17);
	event(&m, RAW, 18);             /* has no line */
	event(&m, CS_ETM, 0x4000);      /* the line of the PMU has no config */
	event(&m, CS_ETM, 5);           /* one of its own is better, wherever it stands */
	event(&m, HARDWARE, INSTRUCTIONS);
	simpleperf(&m, pairs, sizeof(pairs) - 1);
	h = described(&m);
	assert_string_equal(h->events[0]->name, "cpu-cycles");
	assert_string_equal(h->events[1]->name, "raw-x");
	assert_string_equal(h->events[2]->name, "raw 0x12");
	assert_string_equal(h->events[3]->name, "cs-etm");
	assert_string_equal(h->events[3]->asked, "cs-etm");
	assert_string_equal(h->events[4]->name, "cs-etm-known");
	assert_string_equal(h->events[5]->name, "instructions:HG");
	drop(h);
}

/* By their attributes alone, as perf has them: the name, where not everywhere is counted, how precise, whose. */
static void names_by_attribute(void **state)
{
	enum { NO_GUEST = 1 << 20, NO_HOST = 1 << 19, U = EXCLUDE_KERNEL | EXCLUDE_HV, K = EXCLUDE_USER | EXCLUDE_HV,
		H = EXCLUDE_USER | EXCLUDE_KERNEL };
	static const struct { uint32_t type; uint64_t config, flags; const char *name; } cases[] = {
		{ HARDWARE, CYCLES, NO_GUEST, "cycles" }, { HARDWARE, CYCLES, 0, "cycles:HG" },
		{ HARDWARE, CYCLES, NO_HOST, "cycles:G" }, { HARDWARE, CYCLES, U, "cycles:u" },
		{ HARDWARE, CYCLES, U | NO_GUEST, "cycles:uH" }, { HARDWARE, CYCLES, U | NO_HOST, "cycles:uG" },
		{ HARDWARE, CYCLES, K, "cycles:k" }, { HARDWARE, CYCLES, H, "cycles:h" },
		{ HARDWARE, CYCLES, EXCLUDE_HV, "cycles:ku" }, { HARDWARE, CYCLES, EXCLUDE_USER, "cycles:kh" },
		{ HARDWARE, CYCLES, EXCLUDE_KERNEL, "cycles:uh" }, { HARDWARE, CYCLES, PRECISE_2, "cycles:pp" },
		{ HARDWARE, CYCLES, PRECISE_2 | U, "cycles:upp" },
		{ HARDWARE, CYCLES, PRECISE_2 / 2 | NO_GUEST, "cycles:pH" },
		{ HARDWARE, CYCLES, PRECISE_2 | PRECISE_2 / 2, "cycles:ppp" },
		{ HARDWARE, 77, NO_GUEST, "unknown-hardware-77" }, { SOFTWARE, 77, NO_GUEST, "unknown-software-77" },
		{ SOFTWARE, CPU_CLOCK, NO_GUEST, "cpu-clock" }, { SOFTWARE, CPU_CLOCK, U, "cpu-clock:u" },
		{ TRACEPOINT, 316, NO_GUEST, "tracepoint 316" }, { TRACEPOINT, 316, U, "tracepoint 316:u" },
		{ CACHE, 0, NO_GUEST, "L1-dcache-loads" }, { CACHE, 0x10000, NO_GUEST, "L1-dcache-load-misses" },
		{ CACHE, 0x10001, NO_GUEST, "L1-icache-load-misses" }, { CACHE, 0x102, NO_GUEST, "LLC-stores" },
		{ CACHE, 0x10102, NO_GUEST, "LLC-store-misses" }, { CACHE, 0x203, NO_GUEST, "dTLB-prefetches" },
		{ CACHE, 0x10204, NO_GUEST, "iTLB-prefetch-misses" }, { CACHE, 0x5, NO_GUEST, "branch-loads" },
		{ CACHE, 0x6, U, "node-loads:u" }, { CACHE, 0x7, NO_GUEST, "unknown-cache-0x7" },
		{ CACHE, 0x300, NO_GUEST, "unknown-cache-0x300" },
		{ CACHE, 0x20000, NO_GUEST, "unknown-cache-0x20000" },
		{ RAW, 0x1cd, U, "raw 0x1cd" }, { BREAKPOINT, 0, U, "mem:0x0" },
		{ 6, 0x10, PRECISE_2, "type 6/config=0x10/" },
		{ HARDWARE, UINT64_C(4) << 32, NO_GUEST, "cpu_core/cycles/" },
		{ HARDWARE, UINT64_C(4) << 32, U, "cpu_core/cycles/:u" },
		{ CACHE, UINT64_C(4) << 32 | 2, NO_GUEST, "cpu_core/LLC-loads/" },
		{ HARDWARE, UINT64_C(9) << 32 | 1, NO_GUEST, "instructions" }, /* of a PMU that is not named */
	};
	enum { N = sizeof(cases) / sizeof(*cases) };
	struct made_perfdata m = { 0 };
	struct made_bytes b = { 0 };
	Gusprof__Header *h;

	(void)state;
	for (size_t i = 0; i < N; i++)
		made_event(&m, &(struct made_attr){ .type = cases[i].type, .config = cases[i].config,
						    .flags = cases[i].flags, .sample_type = 1 });
	made_put(&m, &b, 1, 4);
	made_put(&m, &b, 4, 4);
	made_put_text(&m, &b, "cpu_core");
	made_feature(&m, GUS_PERFDATA_PMUS, &b);
	h = described(&m);
	for (size_t i = 0; i < N; i++)
		assert_string_equal(h->events[i]->name, cases[i].name);
	drop(h);
	gus_vec_free(&b);
}

/* The line of a PMU comes behind the one that names the event. */
static void the_better_name_stays(void **state)
{
	static const char pairs[] = "event_type_info\0known,8,5\ncs-etm,8,0\nfaults,5,0";
	Gusprof__Header *h;
	struct made_perfdata m = { 0 };

	(void)state;
	event(&m, CS_ETM, 5);
	event(&m, BREAKPOINT, 3); /* the last type that is no PMU's */
	simpleperf(&m, pairs, sizeof(pairs));
	h = described(&m);
	assert_string_equal(h->events[0]->name, "known");
	assert_string_equal(h->events[1]->name, "mem:0x0");
	drop(h);
}

/* Lines longer than anybody's name, and more of them than any machine has, are passed over. */
static void lines_of_simpleperf(void **state)
{
	struct made_bytes b = { 0 };
	Gusprof__Header *h;
	char line[256];

	(void)state;
	for (unsigned length = 190; length <= 193; length++) {
		struct made_perfdata m = { 0 };

		event(&m, RAW, 17);
		memset(line, '0', sizeof(line)); /* name,4,000...017 */
		memcpy(line, "n,4,", 4);
		memcpy(line + length - 2, "17", 3);
		b.n = 0;
		gus_vec_append(&b, (const uint8_t *)"event_type_info", 16);
		gus_vec_append(&b, (const uint8_t *)line, length + 1);
		made_feature(&m, GUS_PERFDATA_SIMPLEPERF, &b);
		h = described(&m);
		assert_string_equal(h->events[0]->name, length < 192 ? "n" : "raw 0x11");
		drop(h);
	}
	for (unsigned before = 4095; before <= 4096; before++) {
		struct made_perfdata m = { 0 };

		event(&m, RAW, 17);
		b.n = 0;
		gus_vec_append(&b, (const uint8_t *)"event_type_info", 16);
		for (unsigned i = 0; i < before; i++)
			gus_vec_append(&b, (const uint8_t *)"o,4,1\n", 6);
		gus_vec_append(&b, (const uint8_t *)"n,4,17", 7);
		made_feature(&m, GUS_PERFDATA_SIMPLEPERF, &b);
		h = described(&m);
		assert_string_equal(h->events[0]->name, before < 4096 ? "n" : "raw 0x11");
		drop(h);
	}
	gus_vec_free(&b);
}

/* EVENT_DESC: of each an attribute of that size, how many ids, the name, the ids. */
static void put_named(struct made_perfdata *m, struct made_bytes *b, const char *name, uint64_t first, uint64_t second)
{
	unsigned ids = !!first + !!second;

	for (unsigned i = 0; i < 16; i++)
		made_put(m, b, 0xee, 1);
	made_put(m, b, ids, 4);
	made_put_text(m, b, name);
	if (first)
		made_put(m, b, first, 8);
	if (second)
		made_put(m, b, second, 8);
}

static void names_by_ids(void **state)
{
	(void)state;
	for (unsigned big = 0; big < 2; big++) {
		struct made_perfdata m = { .big = big };
		struct made_bytes b = { 0 };
		Gusprof__Header *h;

		for (uint64_t i = 0; i < 4; i++)
			made_event(&m, &(struct made_attr){ .type = RAW, .config = i, .sample_type = 1,
				.ids = { 10 + i, i ? 20 + i : 11 }, .ids_n = 2 });
		made_feature_text(&m, GUS_PERFDATA_HOSTNAME, "box"); /* by which the other order is known */
		made_put(&m, &b, 5, 4);
		made_put(&m, &b, 16, 4);
		put_named(&m, &b, "third", 12, 10);  /* the first of its ids says whose it is */
		put_named(&m, &b, "by place", 0, 0); /* no id: the second, where it stands */
		put_named(&m, &b, "stranger", 99, 0);
		put_named(&m, &b, "", 13, 0);
		put_named(&m, &b, "first", 11, 0);   /* two events have it: of these the first */
		made_feature(&m, GUS_PERFDATA_EVENT_NAMES, &b);
		h = described(&m);
		assert_string_equal(h->events[0]->name, "first");
		assert_string_equal(h->events[1]->name, "by place");
		assert_string_equal(h->events[2]->name, "third");
		assert_string_equal(h->events[3]->name, "raw 0x3");
		drop(h);
		gus_vec_free(&b);
	}
}

/* A list that is cut names what stands before the cut. */
static void names_that_are_cut(void **state)
{
	struct made_perfdata first = { 0 };
	struct made_bytes b = { 0 };

	(void)state;
	made_put(&first, &b, 2, 4);
	made_put(&first, &b, 16, 4);
	put_named(&first, &b, "one", 0, 0);
	put_named(&first, &b, "two", 7, 0);
	for (size_t size = 0; size <= b.n; size++) {
		struct made_perfdata m = { 0 };
		struct made_bytes cut = { 0 };
		Gusprof__Header *h;

		event(&m, RAW, 1);
		made_event(&m, &(struct made_attr){ .type = RAW, .config = 2, .sample_type = 1, .ids = { 7 },
						    .ids_n = 1 });
		gus_vec_append(&cut, b.v, size);
		made_feature(&m, GUS_PERFDATA_EVENT_NAMES, &cut);
		h = described(&m);
		assert_string_equal(h->events[0]->name, size >= 8 + 16 + 4 + 4 + 64 ? "one" : "raw 0x1");
		assert_string_equal(h->events[1]->name, size == b.n ? "two" : "raw 0x2");
		drop(h);
		gus_vec_free(&cut);
	}
	gus_vec_free(&b);
}

/* Types of PMUs by name; the first of two that have the same number. */
static void names_of_pmus(void **state)
{
	struct made_perfdata m = { 0 };
	struct made_bytes b = { 0 };
	Gusprof__Header *h;

	(void)state;
	event(&m, 9, 0x10);
	event(&m, CS_ETM, 0x10);
	event(&m, RAW, UINT64_C(9) << 32 | 1); /* of several that all have such: in the upper half */
	event(&m, BREAKPOINT, UINT64_C(9) << 32 | 1);
	made_put(&m, &b, 3, 4);
	made_put(&m, &b, 9, 4);
	made_put_text(&m, &b, "arm_spe_0");
	made_put(&m, &b, 9, 4);
	made_put_text(&m, &b, "not this");
	made_put(&m, &b, 4, 4);
	made_put_text(&m, &b, "cpu");
	made_put(&m, &b, 8, 4); /* more than the number says */
	made_put_text(&m, &b, "beyond");
	made_feature(&m, GUS_PERFDATA_PMUS, &b);
	h = described(&m);
	assert_string_equal(h->events[0]->pmu, "arm_spe_0");
	assert_string_equal(h->events[0]->name, "arm_spe_0/config=0x10/");
	assert_string_equal(h->events[1]->pmu, "");
	assert_string_equal(h->events[1]->name, "type 8/config=0x10/");
	assert_string_equal(h->events[2]->pmu, "arm_spe_0");
	assert_string_equal(h->events[3]->pmu, "");
	drop(h);
	gus_vec_free(&b);
}

/* Of each group a name, its leader and how many it has; no event is in two. */
static void groups(void **state)
{
	struct made_perfdata m = { 0 };
	struct made_bytes b = { 0 };
	Gusprof__Header *h;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		event(&m, RAW, i);
	made_put(&m, &b, 2, 4);
	made_put_text(&m, &b, "a");
	made_put(&m, &b, 1, 4);
	made_put(&m, &b, 2, 4);
	made_put_text(&m, &b, "b");
	made_put(&m, &b, 4, 4);
	made_put(&m, &b, 9, 4); /* more than there are */
	made_put_text(&m, &b, "beyond the number");
	made_put(&m, &b, 0, 4);
	made_put(&m, &b, 1, 4);
	made_feature(&m, GUS_PERFDATA_GROUPS, &b);
	h = described(&m);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(h->events[i]->group, ((const unsigned[]){ 0, 1, 1, 0, 2 })[i]);
	drop(h);
	gus_vec_free(&b);
}

/* What an attribute says. */

static void fields_of_events(void **state)
{
	const struct made_attr a = { .type = RAW, .config = 1, .config1 = 2, .config2 = 3, .period = 4000,
				     .read_format = 5, .regs_intr = 6, .branch = 8, .sample_type = 1,
				     .flags = PRECISE_2 | EXCLUDE_USER };
	struct made_attr others[3] = { a, a, a };
	struct made_perfdata m = { 0 };
	Gusprof__Header *h;

	(void)state;
	made_event(&m, &a);
	others[0].flags = FREQUENCY | EXCLUDE_KERNEL;
	others[1].flags = EXCLUDE_HV | PRECISE_2 / 2;
	others[2].flags = PRECISE_2 | PRECISE_2 / 2;
	for (unsigned i = 0; i < 3; i++)
		made_event(&m, &others[i]);
	h = described(&m);
	assert_int_equal(h->n_events, 4);
	for (unsigned i = 0; i < 4; i++) {
		const Gusprof__Event *e = h->events[i];

		assert_int_equal(e->type, RAW);
		assert_int_equal(e->config, 1);
		assert_int_equal(e->config1, 2);
		assert_int_equal(e->config2, 3);
		assert_int_equal(e->read_format, 5);
		assert_int_equal(e->regs_intr, 6);
		assert_int_equal(e->branch_type, 8);
		assert_int_equal(e->period, i == 1 ? 0 : 4000);
		assert_int_equal(e->frequency, i == 1 ? 4000 : 0);
		assert_int_equal(e->precise, ((const unsigned[]){ 2, 0, 1, 3 })[i]);
		assert_int_equal(e->exclude_user, i == 0);
		assert_int_equal(e->exclude_kernel, i == 1);
		assert_int_equal(e->exclude_hv, i == 2);
	}
	drop(h);
}

static void units(void **state)
{
	static const struct { uint32_t type; uint64_t config; const char *unit; } cases[] = {
		{ HARDWARE, CYCLES, "cycles" }, { HARDWARE, INSTRUCTIONS, "events" }, { SOFTWARE, CPU_CLOCK, "ns" },
		{ SOFTWARE, TASK_CLOCK, "ns" }, { SOFTWARE, FAULTS, "events" }, { RAW, 0, "events" },
		{ HARDWARE, UINT64_C(4) << 32, "cycles" }, /* those of one PMU */
		{ HARDWARE, UINT64_C(1) << 31, "events" }, { TRACEPOINT, 1, "events" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		Gusprof__Header *h;

		event(&m, cases[i].type, cases[i].config);
		h = described(&m);
		assert_string_equal(h->events[0]->unit, cases[i].unit);
		drop(h);
	}
}

/* The best that any of two events can do. */
static void tiers(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t flags;
		uint32_t second;
		uint64_t second_flags;
		char tier;
	} cases[] = {
		{ SOFTWARE, 0, SOFTWARE, 0, 'C' }, { TRACEPOINT, 0, BREAKPOINT, 0, 'C' },
		{ HARDWARE, 0, SOFTWARE, 0, 'B' }, { SOFTWARE, 0, HARDWARE, 0, 'B' }, { CACHE, 0, SOFTWARE, 0, 'B' },
		{ RAW, 0, RAW, PRECISE_2 / 2, 'A' }, { RAW, PRECISE_2, RAW, 0, 'A' }, { CS_ETM, 0, SOFTWARE, 0, 'B' },
		{ SOFTWARE, PRECISE_2, SOFTWARE, 0, 'C' }, /* clocks are never precise */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		Gusprof__Header *h;

		made_event(&m, &(struct made_attr){ .type = cases[i].type, .config = 1, .sample_type = 1,
						    .flags = cases[i].flags });
		made_event(&m, &(struct made_attr){ .type = cases[i].second, .config = 1, .sample_type = 1,
						    .flags = cases[i].second_flags });
		h = described(&m);
		assert_int_equal(h->tier[0], cases[i].tier);
		assert_int_equal(h->tier[1], '\0');
		drop(h);
	}
}

/* How callers were found, by any of the events. */
static void call_graphs(void **state)
{
	static const struct { uint64_t type, branch; const char *way; } cases[] = {
		{ 1, 0, "none" }, { CHAIN, 0, "fp" }, { BRANCH, 1, "none" }, { CHAIN | BRANCH, CALL_STACK, "lbr" },
		{ CHAIN | BRANCH, 1, "fp" }, { CHAIN, CALL_STACK, "fp" }, { CHAIN | REGS | STACK, 0, "dwarf" },
		{ CHAIN | REGS, 0, "fp" }, { STACK, 0, "none" }, { REGS, 0, "none" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		Gusprof__Header *h;

		event(&m, RAW, 1);
		made_event(&m, &(struct made_attr){ .type = RAW, .sample_type = cases[i].type | 1,
						    .branch = cases[i].branch });
		h = described(&m);
		assert_string_equal(h->call_graph, cases[i].way);
		assert_int_equal(h->branch_type, cases[i].branch & CALL_STACK ? 0 : cases[i].branch);
		drop(h);
	}
}

/* Of all events: which branches, and the largest piece of the stack. */
static void branches_and_stacks(void **state)
{
	struct made_perfdata m = { 0 };
	Gusprof__Header *h;

	(void)state;
	made_event(&m, &(struct made_attr){ .sample_type = BRANCH, .branch = 1, .stack_user = 512 });
	made_event(&m, &(struct made_attr){ .sample_type = BRANCH, .branch = 8, .stack_user = 8192 });
	made_event(&m, &(struct made_attr){ .sample_type = BRANCH, .branch = CALL_STACK | 16, .stack_user = 1024 });
	h = described(&m);
	assert_int_equal(h->branch_type, 9);
	assert_int_equal(h->stack_bytes, 8192);
	drop(h);
}

/* The machine. */

static void processors(void **state)
{
	static const struct { const char *text, *vendor; uint32_t family, model, stepping; uint64_t midr; } cases[] = {
		{ "GenuineIntel,6,85,4", "GenuineIntel", 6, 85, 4, 0 },
		{ "AuthenticAMD,25,1", "AuthenticAMD", 25, 1, 0, 0 }, { "X,7", "X", 7, 0, 0, 0 },
		{ "0x00000000410fd080", "ARM", 0, 0, 0, 0x410fd080 }, { "IBM", "", 0, 0, 0, 0 },
		{ ",1,2,3", "", 0, 0, 0, 0 }, { "1x,2,3,4", "1x", 2, 3, 4, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		Gusprof__Header *h;

		event(&m, RAW, 1);
		made_feature_text(&m, GUS_PERFDATA_CPUID, cases[i].text);
		h = described(&m);
		assert_string_equal(h->host->cpu_vendor, cases[i].vendor);
		assert_int_equal(h->host->cpu_family, cases[i].family);
		assert_int_equal(h->host->cpu_model_number, cases[i].model);
		assert_int_equal(h->host->cpu_stepping, cases[i].stepping);
		assert_int_equal(h->host->midr, cases[i].midr);
		drop(h);
	}
}

static void put_cache(struct made_perfdata *m, struct made_bytes *b, unsigned level, unsigned line, const char *kind)
{
	made_put(m, b, level, 4);
	made_put(m, b, line, 4);
	made_put(m, b, 64, 4); /* sets, ways */
	made_put(m, b, 8, 4);
	made_put_text(m, b, kind);
	made_put_text(m, b, "32K");
	made_put_text(m, b, "0-3");
}

/* Of the first cache of the first level that holds data. */
static void lines_of_caches(void **state)
{
	static const struct { unsigned level; const char *kind; uint32_t size; } cases[] = {
		{ 1, "Data", 64 }, { 1, "Unified", 64 }, { 2, "Data", 128 }, { 1, "Instruction", 128 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		struct made_bytes b = { 0 };
		Gusprof__Header *h;

		event(&m, RAW, 1);
		made_put(&m, &b, 1, 4);
		made_put(&m, &b, 2, 4);
		put_cache(&m, &b, cases[i].level, 64, cases[i].kind);
		put_cache(&m, &b, 1, 128, "Data");
		made_feature(&m, GUS_PERFDATA_CACHES, &b);
		h = described(&m);
		assert_int_equal(h->host->line_size, cases[i].size);
		drop(h);
		gus_vec_free(&b);
	}
}

/* One of which a byte is missing is none. */
static void caches_that_are_cut(void **state)
{
	struct made_perfdata any = { 0 };
	struct made_bytes whole = { 0 };

	(void)state;
	made_put(&any, &whole, 1, 4);
	made_put(&any, &whole, 1, 4);
	put_cache(&any, &whole, 1, 64, "Data");
	for (size_t size = 0; size <= whole.n; size++) {
		struct made_perfdata m = { 0 };
		struct made_bytes b = { 0 };
		Gusprof__Header *h;

		event(&m, RAW, 1);
		gus_vec_append(&b, whole.v, size);
		made_feature(&m, GUS_PERFDATA_CACHES, &b);
		h = described(&m);
		assert_int_equal(h->host->line_size, size == whole.n ? 64 : 0);
		drop(h);
		gus_vec_free(&b);
	}
	gus_vec_free(&whole);
}

/* More words than the bytes could hold are none at all. */
static void commands(void **state)
{
	static const struct { uint32_t told; size_t words; } cases[] = { { 2, 2 }, { 1, 1 }, { 34, 3 }, { 35, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		struct made_bytes b = { 0 };
		Gusprof__Header *h;

		event(&m, RAW, 1);
		made_put(&m, &b, cases[i].told, 4);
		made_put_text(&m, &b, "perf");
		made_put_text(&m, &b, "record"); /* 136 bytes: room for 34 */
		made_feature(&m, GUS_PERFDATA_COMMAND, &b);
		h = described(&m);
		assert_int_equal(h->n_command, cases[i].words);
		if (h->n_command)
			assert_string_equal(h->command[0], "perf");
		if (h->n_command > 1)
			assert_string_equal(h->command[1], "record");
		drop(h);
		gus_vec_free(&b);
	}
}

/* The clock of samples. */

static void clocks(void **state)
{
	static const struct { uint64_t flags; uint32_t id; const char *name; } cases[] = {
		{ 0, 0, "perf" }, { CLOCKID, 0, "perf" }, { CLOCKID, 1, "monotonic" }, { 0, 1, "perf" },
		{ CLOCKID, 4, "perf" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t size = 0; size <= 24; size += 24) {
			struct made_perfdata m = { 0 };
			struct made_bytes span = { 0 }, data = { 0 };
			Gusprof__Header *h;

			made_event(&m, &(struct made_attr){ .sample_type = 1, .flags = cases[i].flags,
							    .clockid = cases[i].id });
			made_put(&m, &span, 1500, 8); /* first and last sample */
			made_put(&m, &span, 9000, 8);
			made_feature(&m, GUS_PERFDATA_SAMPLE_TIME, &span);
			made_put(&m, &data, 1, 4);
			made_put(&m, &data, 1, 4);
			made_put(&m, &data, 1000000, 8); /* the calendar's, ... */
			made_put(&m, &data, 1000, 8);    /* ... when the samples' was this */
			data.n -= 24 - size;
			made_feature(&m, GUS_PERFDATA_CLOCK_DATA, &data);
			h = described(&m);
			assert_string_equal(h->clock->name, cases[i].name);
			assert_int_equal(h->clock->start_ns, 1500);
			assert_int_equal(h->clock->start_realtime_ns, size ? 1000500 : 0);
			drop(h);
			gus_vec_free(&span);
			gus_vec_free(&data);
		}
}

/* What nothing is made of is kept as it is, as long as it fits into a frame. */
static void origins(void **state)
{
	(void)state;
	for (unsigned pipe = 0; pipe < 2; pipe++) {
		struct made_perfdata m = { .big = !pipe };
		struct made_bytes b = { 0 };
		Gusprof__Header *h;

		if (pipe) { /* of which nothing was met so far */
			m.pipe = true;
			h = described(&m);
			assert_true(h->origin->pipe);
			assert_int_equal(h->origin->n_features, 0);
			assert_string_equal(h->producer, "perf");
			drop(h);
			continue;
		}
		event(&m, RAW, 1);
		made_feature_text(&m, GUS_PERFDATA_HOSTNAME, "box");
		made_feature_text(&m, GUS_PERFDATA_VERSION, "6.1");
		made_feature(&m, GUS_PERFDATA_MEMORY, &b); /* of no bytes */
		gus_vec_reserve(&b, 1 << 20);
		b.n = (1 << 20) - 68;
		memset(b.v, 7, b.n);
		made_feature(&m, 13, &b); /* with VERSION's 68 bytes as many as there is room for */
		b.n = 1;
		made_feature(&m, 14, &b);
		h = described(&m);
		assert_true(h->origin->big_endian);
		assert_false(h->origin->pipe);
		assert_string_equal(h->origin->program, "perf 6.1");
		assert_string_equal(h->producer, "perf 6.1");
		assert_string_equal(h->host->hostname, "box");
		assert_int_equal(h->origin->n_features, 2);
		assert_int_equal(h->origin->features[0]->number, GUS_PERFDATA_VERSION);
		assert_int_equal(h->origin->features[1]->number, 13);
		assert_int_equal(h->origin->features[1]->bytes.len, (1 << 20) - 68);
		drop(h);
		gus_vec_free(&b);
	}
}

/* Build ids. */

enum { KERNEL = 1, USER = 2, HAS_SIZE = 1 << 15 };

/* A record of one, with so many bytes of a name, which may have no zero; pid: with it, as since the second perf. */
static void put_build(struct made_bytes *b, uint16_t misc, bool pid, uint8_t id, uint8_t size, const char *name,
		      size_t n)
{
	struct made_perfdata m = { 0 };

	made_put(&m, b, GUS_PERFDATA_BUILD_ID, 4);
	made_put(&m, b, misc, 2);
	made_put(&m, b, 8 + (pid ? 4 : 0) + 24 + n, 2);
	if (pid)
		made_put(&m, b, 0xffffffff, 4);
	for (unsigned i = 0; i < 20; i++)
		made_put(&m, b, id, 1);
	made_put(&m, b, size, 4);
	gus_vec_append(b, (const uint8_t *)name, n);
}

static void build_ids(void **state)
{
	struct gus_perfdata_builds builds = { 0 };
	const struct gus_perfdata_build *found;
	struct made_bytes b = { 0 };

	(void)state;
	assert_null(gus_perfdata_builds_find(&builds, "/x"));
	put_build(&b, USER, true, 1, 8, "/z", 3);                 /* whose size is no size, as nobody says so */
	put_build(&b, USER | HAS_SIZE, true, 2, 8, "/y\0junk", 7);
	put_build(&b, KERNEL | HAS_SIZE, true, 3, 20, "[kernel.kallsyms]", 18);
	put_build(&b, USER | HAS_SIZE, true, 4, 21, "/21", 3);    /* more bytes than there are: it says nothing */
	put_build(&b, USER | HAS_SIZE, true, 5, 0, "/0", 3);
	put_build(&b, USER | HAS_SIZE, true, 6, 1, "", 0);
	gus_perfdata_builds_add(&builds, gus_cursor(b.v, b.n));
	gus_perfdata_builds_ready(&builds);
	assert_int_equal(builds.list.n, 6);
	found = gus_perfdata_builds_find(&builds, "/z");
	assert_true(found && found->size == 20 && found->bytes[19] == 1 && !found->kernel);
	found = gus_perfdata_builds_find(&builds, "/y");
	assert_true(found && found->size == 8 && found->bytes[0] == 2);
	found = gus_perfdata_builds_find(&builds, "[kernel.kallsyms]");
	assert_true(found && found->size == 20 && found->kernel);
	found = gus_perfdata_builds_find(&builds, "/21");
	assert_true(found && found->size == 20);
	found = gus_perfdata_builds_find(&builds, "/0");
	assert_true(found && found->size == 20);
	found = gus_perfdata_builds_find(&builds, "");
	assert_true(found && found->size == 1);
	assert_null(gus_perfdata_builds_find(&builds, "/x"));
	gus_perfdata_builds_free(&builds);
	gus_vec_free(&b);
}

/* The first perf had no pid, so that the kernel's name seems to begin four bytes before where it is read. */
static void build_ids_without_pid(void **state)
{
	struct gus_perfdata_builds builds = { 0 };
	const struct gus_perfdata_build *found;
	struct made_bytes b = { 0 };

	(void)state;
	put_build(&b, KERNEL, false, 9, 0, "[kernel.kallsyms]", 18);
	put_build(&b, KERNEL, true, 8, 0, "nel.kallsym", 11); /* a byte short of it: a name as any other */
	gus_perfdata_builds_add(&builds, gus_cursor(b.v, b.n));
	gus_perfdata_builds_ready(&builds);
	assert_int_equal(builds.list.n, 2);
	found = gus_perfdata_builds_find(&builds, "[kernel.kallsyms]");
	assert_true(found && found->bytes[0] == 9 && found->bytes[19] == 9);
	found = gus_perfdata_builds_find(&builds, "nel.kallsym");
	assert_true(found && found->bytes[0] == 8);
	gus_perfdata_builds_free(&builds);
	gus_vec_free(&b);
}

/* Cut at each byte, or with a size that cannot be: those before are there. */
static void build_ids_that_are_cut(void **state)
{
	struct made_bytes b = { 0 };

	(void)state;
	put_build(&b, USER, true, 1, 0, "/one", 5);
	put_build(&b, USER, true, 2, 0, "/two", 5);
	for (size_t size = 0; size <= b.n; size++) {
		struct gus_perfdata_builds builds = { 0 };

		gus_perfdata_builds_add(&builds, gus_cursor(b.v, size));
		assert_int_equal(builds.list.n, (size >= b.n / 2) + (size == b.n));
		gus_perfdata_builds_free(&builds);
	}
	for (uint8_t size = 6; size <= 8; size++) { /* 8: a header, and nothing of an id; what follows is read */
		struct gus_perfdata_builds builds = { 0 };

		b.v[6] = size;
		gus_perfdata_builds_add(&builds, gus_cursor(b.v, b.n));
		assert_int_equal(builds.list.n, 0);
		gus_perfdata_builds_free(&builds);
	}
	gus_vec_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_by_attribute), cmocka_unit_test(names_of_simpleperf),
		cmocka_unit_test(the_better_name_stays),
		cmocka_unit_test(lines_of_simpleperf), cmocka_unit_test(names_by_ids),
		cmocka_unit_test(names_that_are_cut), cmocka_unit_test(names_of_pmus), cmocka_unit_test(groups),
		cmocka_unit_test(fields_of_events), cmocka_unit_test(units), cmocka_unit_test(tiers),
		cmocka_unit_test(call_graphs), cmocka_unit_test(branches_and_stacks), cmocka_unit_test(processors),
		cmocka_unit_test(lines_of_caches), cmocka_unit_test(caches_that_are_cut), cmocka_unit_test(commands),
		cmocka_unit_test(clocks), cmocka_unit_test(origins), cmocka_unit_test(build_ids),
		cmocka_unit_test(build_ids_without_pid), cmocka_unit_test(build_ids_that_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
