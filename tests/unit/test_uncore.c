/* SPDX-License-Identifier: MIT */
/* Counters of the traffic of memory (collector/uncore) on machines that are played: which events are opened, where and
 * with which attr; what a count is worth; and what is said where one cannot be had. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <perfmon/pfmlib.h>

#include "base/error.h"
#include "collector/uncore/uncore.h"
#include "tests/machine/machine.h"

#define IMC_TERMS { "event=config:0-7", "umask=config:8-15", NULL }
#define MIB(event) "events/" event ".scale=6.103515625e-5", "events/" event ".unit=MiB"

/* Two sockets, whose kernel names no event; and one that names them with umasks and bytes of its own. */
static const struct machine_pmu two_sockets[] = {
	{ .name = "uncore_imc_0", .type = 20, .cpumask = "0,2", .terms = IMC_TERMS },
	{ .name = "uncore_imc_1", .type = 21, .cpumask = "0,2", .terms = IMC_TERMS },
	{ .name = "uncore_imc_free_running_0", .type = 22, .cpumask = "0,2", .terms = IMC_TERMS }, { 0 },
};
static const struct machine_pmu named[] = {
	{ .name = "uncore_imc", .type = 20, .cpumask = "0", .terms = IMC_TERMS,
	  .files = { "events/cas_count_read=event=0x04,umask=0x13", MIB("cas_count_read"),
		     "events/cas_count_write=event=0x04,umask=0x1c", "events/cas_count_write.scale=2",
		     "events/cas_count_write.unit=KiB", NULL } }, { 0 },
};
static const struct machine_pmu free_running[] = {
	{ .name = "uncore_imc_0", .type = 19, .cpumask = "0", .terms = IMC_TERMS },
	{ .name = "uncore_imc_free_running_0", .type = 20, .cpumask = "0", .terms = IMC_TERMS,
	  .files = { "events/data_read=event=0xff,umask=0x20", MIB("data_read"),
		     "events/data_write=event=0xff,umask=0x30", MIB("data_write"), NULL } }, { 0 },
};
static const struct machine_pmu client[] = {
	{ .name = "uncore_imc", .type = 20, .cpumask = "0", .terms = { "event=config:0-7", NULL } }, { 0 },
};
static const struct machine_pmu data_fabric[] = {
	{ .name = "amd_df", .type = 20, .cpumask = "0",
	  .terms = { "event=config:0-7,32-35,59-60", "umask=config:8-15", NULL } }, { 0 },
};
static const struct machine_pmu umc[] = {
	{ .name = "amd_df", .type = 19, .cpumask = "0", .terms = IMC_TERMS },
	{ .name = "amd_umc_0", .type = 20, .cpumask = "0",
	  .terms = { "event=config:0-7", "rdwrmask=config:8-9", NULL } }, { 0 },
};
#define CMN_TERMS { "type=config:0-15", "eventid=config:16-26", "occupid=config:27-30", NULL }
static const struct machine_pmu cmn[] = {
	{ .name = "arm_cmn_0", .type = 20, .cpumask = "0", .terms = CMN_TERMS }, { 0 },
};
static const struct machine_pmu cmn_s3[] = {
	{ .name = "arm_cmn_0", .type = 20, .cpumask = "0", .terms = CMN_TERMS,
	  .files = { "events/hns_mc_reqs_local_all=type=0x200,eventid=0xd",
		     "events/hns_mc_reqs_remote_all=type=0x200,eventid=0x2d", NULL } }, { 0 },
};
static const struct machine_pmu dmc[] = {
	{ .name = "arm_cmn_0", .type = 19, .cpumask = "0", .terms = CMN_TERMS },
	{ .name = "arm_dmc620_1008c000", .type = 20, .cpumask = "0",
	  .terms = { "event=config2:3-8", "clkdiv2=config2:9", NULL } }, { 0 },
};

/* What is found on a machine, and all that it takes. */
struct found { struct gus_pmus pmus; struct gus_uncore u; struct gus_error err; int rc; };

static void find(struct found *f, const struct machine *m, const char *cpu)
{
	memset(f, 0, sizeof(*f));
	machine_begin(m);
	gus_pmus_init(&f->pmus, "/sys");
	f->rc = gus_uncore_find(&f->u, cpu, &f->pmus, &f->err);
}

static void drop(struct found *f)
{
	gus_uncore_free(&f->u);
	gus_pmus_free(&f->pmus);
	assert_int_equal(machine_end(), 0);
}

static void expect_error(const struct gus_error *err, enum gus_code code, const char *part)
{
	assert_int_equal(err->code, code);
	if (!strstr(err->text, part))
		fail_msg("'%s' is not in '%s'", part, err->text);
}

/* Every instance, each event, on both sockets; free running counters are another family, though their name begins so.
 * What is asked of the kernel is what it takes for such a PMU: all levels, no period, no task, disabled. */
static void each_is_opened(void **state)
{
	static const struct { uint32_t type; uint64_t config; int cpu; } expected[] = {
		{ 20, 0x0f04, 0 }, { 20, 0x3004, 0 }, { 21, 0x0f04, 0 }, { 21, 0x3004, 0 },
		{ 20, 0x0f04, 2 }, { 20, 0x3004, 2 }, { 21, 0x0f04, 2 }, { 21, 0x3004, 2 },
	};
	const struct machine m = { two_sockets, .cpus = "0-3", .socket_cpus = 2 };
	struct found f;

	(void)state;
	find(&f, &m, "icelake-server");
	assert_int_equal(f.rc, 0);
	assert_int_equal(f.u.counters.n, 8);
	assert_int_equal(gus_uncore_open(&f.u, &f.err), 0);
	assert_int_equal(machine_asked(), 8);
	for (size_t i = 0; i < 8; i++) {
		const struct machine_event *e = machine_event(i);
		const struct perf_event_attr *a = &e->attr;

		assert_int_equal(a->type, expected[i].type);
		assert_int_equal(a->config, expected[i].config);
		assert_int_equal(e->cpu, expected[i].cpu);
		assert_int_equal(e->pid, -1);
		assert_int_equal(a->sample_period, 0);
		assert_int_equal(a->sample_type, 0);
		assert_true(a->disabled && !a->inherit && !a->exclude_kernel && !a->exclude_user && !a->exclude_hv &&
			    !a->exclude_guest && !a->exclude_host && !a->enable_on_exec);
		assert_int_equal(a->read_format, PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	}
	for (size_t i = 0; i < 8; i++) {
		const struct gus_uncore_counter *c = &f.u.counters.v[i];

		assert_int_equal(c->socket, c->cpu / 2);
		assert_int_equal(c->row->direction, i % 2 ? GUS_DIRECTION_WRITTEN : GUS_DIRECTION_READ);
		assert_true(c->bytes == 64);
	}
	drop(&f);
}

/* What each family is opened with, and what a count of it is. */
static void families(void **state)
{
	static const struct {
		const struct machine_pmu *pmus;
		const char *cpu, *family;
		size_t n;
		struct { uint64_t config, config2; enum gus_direction direction; double bytes; } first, last;
	} cases[] = {
		{ two_sockets, "skylake-avx512", "uncore_imc", 8, { 0x0304, 0, GUS_DIRECTION_READ, 64 },
		  { 0x0c04, 0, GUS_DIRECTION_WRITTEN, 64 } },
		{ two_sockets, "emeraldrapids", "uncore_imc", 8, { 0xcf05, 0, GUS_DIRECTION_READ, 64 },
		  { 0xf005, 0, GUS_DIRECTION_WRITTEN, 64 } },
		{ two_sockets, "graniterapids", "uncore_imc", 16, { 0xcf05, 0, GUS_DIRECTION_READ, 64 },
		  { 0xf006, 0, GUS_DIRECTION_WRITTEN, 64 } },
		/* The kernel's names go before any table, and what it says of bytes: 6.103515625e-5 MiB are 64. */
		{ named, "skylake-avx512", "uncore_imc", 2, { 0x1304, 0, GUS_DIRECTION_READ, 64 },
		  { 0x1c04, 0, GUS_DIRECTION_WRITTEN, 2048 } },
		{ named, "broadwell", "uncore_imc", 2, { 0x1304, 0, GUS_DIRECTION_READ, 64 },
		  { 0x1c04, 0, GUS_DIRECTION_WRITTEN, 2048 } },
		{ named, NULL, "uncore_imc", 2, { 0x1304, 0, GUS_DIRECTION_READ, 64 },
		  { 0x1c04, 0, GUS_DIRECTION_WRITTEN, 2048 } },
		{ free_running, "alderlake", "uncore_imc_free_running", 2, { 0x20ff, 0, GUS_DIRECTION_READ, 64 },
		  { 0x30ff, 0, GUS_DIRECTION_WRITTEN, 64 } },
		{ free_running, "of-tomorrow", "uncore_imc_free_running", 2, { 0x20ff, 0, GUS_DIRECTION_READ, 64 },
		  { 0x30ff, 0, GUS_DIRECTION_WRITTEN, 64 } },
		{ client, "skylake", "uncore_imc", 2, { 1, 0, GUS_DIRECTION_READ, 64 },
		  { 2, 0, GUS_DIRECTION_WRITTEN, 64 } },
		{ data_fabric, "znver3", "amd_df", 8, { 0x3807, 0, GUS_DIRECTION_BOTH, 64 },
		  { 0x1000038c7, 0, GUS_DIRECTION_BOTH, 64 } },
		{ umc, "znver5", "amd_umc", 2, { 0x010a, 0, GUS_DIRECTION_READ, 64 },
		  { 0x020a, 0, GUS_DIRECTION_WRITTEN, 64 } },
		{ cmn, "neoverse-n1", "arm_cmn", 1, { 0xd0005, 0, GUS_DIRECTION_BOTH, 64 },
		  { 0xd0005, 0, GUS_DIRECTION_BOTH, 64 } },
		{ cmn_s3, "neoverse-v2", "arm_cmn", 2, { 0xd0200, 0, GUS_DIRECTION_BOTH, 64 },
		  { 0x2d0200, 0, GUS_DIRECTION_BOTH, 64 } },
		/* What is nearer to memory goes before what leads to it. */
		{ dmc, "neoverse-n1", "arm_dmc620", 1, { 0, 0x12 << 3 | 1 << 9, GUS_DIRECTION_BOTH, 64 },
		  { 0, 0x12 << 3 | 1 << 9, GUS_DIRECTION_BOTH, 64 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct machine m = { cases[i].pmus, .cpus = "0-3", .socket_cpus = 2 };
		struct found f;
		size_t n;

		find(&f, &m, cases[i].cpu);
		n = f.u.counters.n;
		if (f.rc != 0 || n != cases[i].n || strcmp(f.u.family->pmu, cases[i].family) != 0)
			fail_msg("case %zu: %zu counters, %s", i, n, f.rc ? f.err.text : f.u.family->pmu);
		assert_int_equal(f.u.events.v[0].config, cases[i].first.config);
		assert_int_equal(f.u.events.v[0].config2, cases[i].first.config2);
		assert_int_equal(f.u.counters.v[0].row->direction, cases[i].first.direction);
		assert_true(f.u.counters.v[0].bytes == cases[i].first.bytes);
		assert_int_equal(f.u.events.v[n - 1].config, cases[i].last.config);
		assert_int_equal(f.u.events.v[n - 1].config2, cases[i].last.config2);
		assert_int_equal(f.u.counters.v[n - 1].row->direction, cases[i].last.direction);
		assert_true(f.u.counters.v[n - 1].bytes == cases[i].last.bytes);
		assert_int_equal(gus_uncore_open(&f.u, &f.err), 0);
		drop(&f);
	}
}

/* libpfm4 4.13 knows CAS commands of Skylake-SP's controllers, and of no later ones, nor AMD's data fabric. */
static void as_libpfm4_has_it(void **state)
{
	static const char *const theirs[] = { "skx_unc_imc0::UNC_M_CAS_COUNT:RD", "skx_unc_imc0::UNC_M_CAS_COUNT:WR" };
	const struct machine m = { two_sockets, .cpus = "0-3", .socket_cpus = 2 };
	struct found f;

	(void)state;
	find(&f, &m, "skylake-avx512");
	for (size_t i = 0; i < 2; i++) {
		/* As hardware has it: the kernel's PMU it only finds where there is one. */
		pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
		int code = pfm_get_os_event_encoding(theirs[i], PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg);

#ifdef __x86_64__
		assert_int_equal(code, PFM_SUCCESS);
#endif
		if (code != PFM_SUCCESS)
			continue; /* built for another ISA it has no Intel */
		assert_int_equal(arg.count, 1);
		assert_int_equal(arg.codes[0], f.u.events.v[i].config);
		free(arg.codes);
	}
	drop(&f);
}

/* The event of a counter: they are opened CPU by CPU. */
static struct machine_event *event_of(const struct found *f, size_t counter)
{
	const struct gus_event *wanted = &f->u.events.v[counter];
	struct machine_event *e;

	for (size_t i = 0; (e = machine_event(i)); i++)
		if (e->attr.type == wanted->type && e->attr.config == wanted->config &&
		    e->cpu == f->u.counters.v[counter].cpu)
			return e;
	fail_msg("counter %zu is not open", counter);
	return NULL;
}

static void counts(void **state)
{
	const struct machine m = { two_sockets, .cpus = "0-3", .socket_cpus = 2 };
	struct gus_count since[8];
	struct found f;

	(void)state;
	find(&f, &m, "icelake-server");
	assert_int_equal(gus_uncore_open(&f.u, &f.err), 0);
	for (size_t i = 0; i < 8; i++)
		assert_false(machine_counts(machine_event(i)));
	gus_uncore_enable(&f.u);
	for (size_t i = 0; i < 8; i++) {
		assert_true(machine_counts(machine_event(i)));
		event_of(&f, i)->count = 1000 * (i + 1);
	}
	gus_uncore_read(&f.u, since);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(since[i].value, 1000 * (i + 1));
	event_of(&f, 3)->count += 7;      /* the second reading is of what came since */
	event_of(&f, 4)->count = 1;       /* what goes back, which no counter of the kernel does, is nothing */
	event_of(&f, 5)->count = UINT64_MAX;
	gus_uncore_read(&f.u, since);
	assert_int_equal(since[2].value, 0);
	assert_int_equal(since[3].value, 7);
	assert_int_equal(since[4].value, 0);
	assert_true(since[5].value == UINT64_MAX - 6000);
	assert_true(since[3].enabled_ns > 0 && since[3].enabled_ns == since[3].running_ns);
	drop(&f);
}

/* Events that take turns. */
static void half_of_the_time(void **state)
{
	static const struct machine_pmu half[] = {
		{ .name = "amd_df", .type = 20, .cpumask = "0", .runs = 50,
		  .terms = { "event=config:0-7,32-35,59-60", "umask=config:8-15", NULL } }, { 0 },
	};
	const struct machine m = { half, .cpus = "0", .socket_cpus = 1 };
	struct gus_count since[8];
	struct found f;

	(void)state;
	find(&f, &m, "znver2");
	assert_int_equal(gus_uncore_open(&f.u, &f.err), 0);
	gus_uncore_enable(&f.u);
	gus_uncore_read(&f.u, since);
	assert_true(since[0].enabled_ns > 0);
	assert_true(since[0].running_ns <= since[0].enabled_ns / 2);
	drop(&f);
}

/* No PMU, none of a known event, one that the kernel is too old for: what is said. */
static void what_is_missing(void **state)
{
	static const struct machine_pmu of_cores[] = {
		{ .name = "cpu", .type = 4, .terms = IMC_TERMS },
		{ .name = "uncore_cha_0", .type = 20, .cpumask = "0", .terms = IMC_TERMS }, { 0 },
	};
	const struct { const struct machine_pmu *pmus; const char *cpu, *part; } cases[] = {
		{ NULL, "skylake-avx512", "there is no PMU of memory controllers" },
		{ of_cores, "sapphirerapids", "a hypervisor hides them" },
		{ of_cores, NULL, "there is no PMU of memory controllers" },
		{ of_cores, "znver4", "no PMU amd_umc of Zen 4 and 5" },
		{ data_fabric, "znver5", "from 6.7 on" },
		{ data_fabric, "znver1", "there is a PMU amd_df, but neither" },
		{ two_sockets, "broadwell", "which of its events these are on this CPU (broadwell)" },
		{ two_sockets, NULL, "which of its events these are on this CPU (unknown)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct machine m = { cases[i].pmus, .cpus = "0-3", .socket_cpus = 2 };
		struct found f;

		find(&f, &m, cases[i].cpu);
		assert_int_equal(f.rc, -1);
		expect_error(&f.err, GUS_E_UNSUPPORTED, cases[i].part);
		assert_int_equal(machine_asked(), 0);
		drop(&f);
	}
}

/* A description that makes no sense. */
static void what_is_malformed(void **state)
{
#define ONE(mask, ...) { { .name = "uncore_imc", .type = 20, .cpumask = mask, .terms = IMC_TERMS, \
			   .files = { __VA_ARGS__, NULL } }, { 0 } }
	static const struct { struct machine_pmu pmus[2]; const char *part; } cases[] = {
		{ ONE(NULL, "perf_event_mux_interval_ms=4"), "is empty or missing" },
		{ ONE("", "perf_event_mux_interval_ms=4"), "is empty or missing" },
		{ ONE("0;1", "perf_event_mux_interval_ms=4"), "is no list of CPUs" },
		{ ONE("0,", "perf_event_mux_interval_ms=4"), NULL }, /* as nothing is behind it */
		{ ONE("2-0", "perf_event_mux_interval_ms=4"), "is no list of CPUs" },
		{ ONE("0,0", "perf_event_mux_interval_ms=4"), "is no list of CPUs" }, /* it has one counter there */
		{ ONE("0-2,1", "perf_event_mux_interval_ms=4"), "is no list of CPUs" },
		{ ONE("0-", "perf_event_mux_interval_ms=4"), "is no list of CPUs" },
		{ ONE("8192", "perf_event_mux_interval_ms=4"), "is no list of CPUs" },
		{ ONE("0,9", "perf_event_mux_interval_ms=4"), "which socket CPU 9 is of" },
		{ ONE("0", "events/cas_count_read=event=0x04,umask=0x0f", "events/cas_count_read.scale=1",
		      "events/cas_count_read.unit=pages"), "of the unit 'pages'" },
		{ ONE("0", "events/cas_count_read=event=0x04,umask=0x0f", "events/cas_count_read.scale=0",
		      "events/cas_count_read.unit=MiB"), "the kernel says '0'" },
		{ ONE("0", "events/cas_count_read=event=0x04,umask=0x0f", "events/cas_count_read.scale=inf",
		      "events/cas_count_read.unit=MiB"), "the kernel says 'inf'" },
		{ ONE("0", "events/cas_count_read=event=0x04,umask=0x0f", "events/cas_count_read.scale=1e305",
		      "events/cas_count_read.unit=MiB"), "the kernel says '1e305'" }, /* which is infinitely many */
		{ ONE("0", "events/cas_count_read=event=0x04,umask=0x0f", "events/cas_count_read.scale=nan",
		      "events/cas_count_read.unit=MiB"), "the kernel says 'nan'" },
		/* More than a recording may say; and as much. */
		{ ONE("0", "events/cas_count_read=event=0x04,umask=0x0f", "events/cas_count_read.scale=1.5",
		      "events/cas_count_read.unit=GiB"), "the kernel says '1.5'" },
		{ ONE("0", "events/cas_count_read=event=0x04,umask=0x0f", "events/cas_count_read.scale=1",
		      "events/cas_count_read.unit=GiB"), NULL },
		{ ONE("0", "events/cas_count_read=event=0x104"), "is too large for its bits" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct machine m = { cases[i].pmus, .cpus = "0-3", .socket_cpus = 2 };
		struct found f;

		find(&f, &m, "icelake-server");
		assert_int_equal(f.rc, cases[i].part ? -1 : 0);
		if (cases[i].part && !strstr(f.err.text, cases[i].part))
			fail_msg("'%s' is not in '%s'", cases[i].part, f.err.text);
		drop(&f);
	}
}

/* This user may not: one error, which says what may be done. */
static void no_rights(void **state)
{
	const struct machine m = { two_sockets, .cpus = "0-3", .paranoid = 2, .socket_cpus = 2 };
	struct found f;

	(void)state;
	find(&f, &m, "icelake-server");
	assert_int_equal(gus_uncore_open(&f.u, &f.err), -1);
	expect_error(&f.err, GUS_E_PERMISSION, "cannot count uncore_imc_0/event=0x04,umask=0x0f/ on CPU 0: permission "
		     "denied; what all of the machine does may be counted with CAP_PERFMON, or where "
		     "kernel.perf_event_paranoid (2) is 0 or less");
	drop(&f);
}

static int refuse_second(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	return a->type == 21 && cpu == 2 ? EBUSY : 0;
}

/* One instance of four: the sum of the others would be too small a number, so there is none. */
static void one_fails(void **state)
{
	const struct machine m = { two_sockets, .cpus = "0-3", .socket_cpus = 2, .refuses = refuse_second };
	struct found f;

	(void)state;
	find(&f, &m, "icelake-server");
	assert_int_equal(gus_uncore_open(&f.u, &f.err), -1);
	expect_error(&f.err, GUS_E_SYSTEM, "cannot count uncore_imc_1/event=0x04,umask=0x0f/ on CPU 2, and without it "
		     "the traffic of memory would be too small");
	drop(&f);
}

static int gone(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)a;
	(void)pid;
	return cpu == 2 ? ENODEV : 0;
}

/* CPU 2 goes offline between what its cpumask said and the opening; or is already, and says of no socket. */
static void cpu_offline(void **state)
{
	const struct machine leaves = { two_sockets, .cpus = "0-3", .socket_cpus = 2, .refuses = gone };
	const struct machine away = { two_sockets, .cpus = "0-1", .socket_cpus = 2 };
	struct found f;

	(void)state;
	find(&f, &leaves, "icelake-server");
	assert_int_equal(gus_uncore_open(&f.u, &f.err), -1);
	expect_error(&f.err, GUS_E_UNSUPPORTED, "on CPU 2: that CPU is offline");
	drop(&f);
	find(&f, &away, "icelake-server");
	assert_int_equal(f.rc, -1);
	expect_error(&f.err, GUS_E_UNSUPPORTED, "which socket CPU 2 is of");
	drop(&f);
}

/* Too few descriptors are nothing of the PMU's. */
static void too_few_descriptors(void **state)
{
	const struct machine m = { two_sockets, .cpus = "0-3", .socket_cpus = 2, .descriptors = 5 };
	struct found f;

	(void)state;
	find(&f, &m, "icelake-server");
	assert_int_equal(gus_uncore_open(&f.u, &f.err), -1);
	expect_error(&f.err, GUS_E_SYSTEM, "ulimit -Hn");
	drop(&f);
}

/* Each row says who says so, and tells a count's bytes. */
static void rows(void **state)
{
	const struct gus_uncore_family *f;

	(void)state;
	for (size_t i = 0; (f = gus_uncore_family_at(i)); i++)
		for (size_t k = 0; k < f->n; k++) {
			assert_true(f->rows[k].source && *f->rows[k].source && f->rows[k].bytes == 64);
			assert_true(f->cpus == NULL || f->rows[k].terms != NULL);
		}
	f = gus_uncore_family_at(0);
	assert_true(gus_uncore_family_is(f, "uncore_imc") && gus_uncore_family_is(f, "uncore_imc_11"));
	assert_false(gus_uncore_family_is(f, "uncore_imc_") || gus_uncore_family_is(f, "uncore_imc_free_running_0") ||
		     gus_uncore_family_is(f, "uncore_imcx") || gus_uncore_family_is(f, "uncore_im"));
	assert_true(gus_uncore_family_has(f, "cascadelake"));
	assert_false(gus_uncore_family_has(f, "skylake") || gus_uncore_family_has(f, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_opened), cmocka_unit_test(families), cmocka_unit_test(as_libpfm4_has_it),
		cmocka_unit_test(counts), cmocka_unit_test(half_of_the_time), cmocka_unit_test(what_is_missing),
		cmocka_unit_test(what_is_malformed), cmocka_unit_test(no_rights), cmocka_unit_test(one_fails),
		cmocka_unit_test(cpu_offline), cmocka_unit_test(too_few_descriptors), cmocka_unit_test(rows),
	};

	/* It encodes events of CPUs that this is not. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
