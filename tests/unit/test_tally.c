/* SPDX-License-Identifier: MIT */
/* What counts say: scaling, differences, means over runs; and events that really count. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/statistics/series.h"
#include "base/alloc.h"
#include "cli/common/topdown.h"
#include "collector/counters/tally.h"
#include "collector/events/event.h"
#include "model/tables/cpus.h"

#define DEVICES "bus/event_source/devices/"

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

static void scaling(void **state)
{
	static const struct { struct gus_count c; double scaled, running; } cases[] = {
		{ { 1000, 500, 500 }, 1000, 1 },
		{ { 1000, 500, 250 }, 2000, 0.5 },
		{ { 0, 500, 0 }, 0, 0 },             /* never counted: no number can be made of it */
		{ { 0, 0, 0 }, 0, 1 },               /* the task never ran */
		{ { 1ULL << 60, 3, 1 }, 3.458764513820541e18, 1.0 / 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(near(gus_count_scaled(&cases[i].c), cases[i].scaled, cases[i].scaled * 1e-12));
		assert_true(near(gus_count_running(&cases[i].c), cases[i].running, 1e-12));
	}
}

static void differences(void **state)
{
	struct gus_count a = { 100, 90, 80 }, b = { 40, 30, 20 }, d = gus_count_since(a, b);

	(void)state;
	assert_int_equal(d.value, 60);
	assert_int_equal(d.enabled_ns, 60);
	assert_int_equal(d.running_ns, 60);
	d = gus_count_since(b, a); /* a reading that went backwards is nothing, not 2^64 */
	assert_int_equal(d.value, 0);
}

static void means(void **state)
{
	static const double values[] = { 10, 12, 9, 11, 13 };
	struct gus_series s = { 0 };
	struct gus_summary m = gus_series_summary(&s);

	(void)state;
	assert_int_equal(m.n, 0);
	gus_vec_push(&s, 10);
	m = gus_series_summary(&s);
	assert_true(near(m.ci95.low, 10, 0) && near(m.ci95.high, 10, 0)); /* one run says nothing of others */
	s.n = 0;
	gus_vec_append(&s, values, 5);
	m = gus_series_summary(&s);
	assert_true(near(m.mean, 11, 1e-12) && near(m.min, 9, 0) && near(m.max, 13, 0));
	/* By hand: deviation sqrt(2.5), over sqrt(5), times 2.77645. */
	assert_true(near(m.ci95.low, 11 - 1.96326, 1e-4) && near(m.ci95.high, 11 + 1.96326, 1e-4));
	gus_vec_free(&s);
}

static void student(void **state)
{
	static const struct { size_t df; double t; } table[] = {
		{ 1, 12.7062 }, { 5, 2.57058 }, { 10, 2.22814 }, { 11, 2.20099 }, { 20, 2.08596 }, { 30, 2.04227 },
			{ 120, 1.97993 },
		{ 100000, 1.95999 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_true(near(gus_student_975(table[i].df), table[i].t, 2e-4));
}

/* Trees that look like sysfs. */
struct file { const char *path, *text; };

static const struct file intel_files[] = {
	{ DEVICES "cpu_core/type", "4\n" }, { DEVICES "cpu_core/cpus", "0-7\n" },
	{ DEVICES "cpu_core/format/event", "config:0-7\n" }, { DEVICES "cpu_core/format/umask", "config:8-15\n" },
	{ DEVICES "cpu_core/events/slots", "event=0x00,umask=0x4\n" },
	{ DEVICES "cpu_core/events/topdown-retiring", "event=0x00,umask=0x80\n" },
	{ DEVICES "cpu_core/events/topdown-bad-spec", "event=0x00,umask=0x81\n" },
	{ DEVICES "cpu_core/events/topdown-fe-bound", "event=0x00,umask=0x82\n" },
	{ DEVICES "cpu_core/events/topdown-be-bound", "event=0x00,umask=0x83\n" },
	{ DEVICES "cpu_core/events/topdown-heavy-ops", "event=0x00,umask=0x84\n" },
	{ DEVICES "cpu_core/events/topdown-br-mispredict", "event=0x00,umask=0x85\n" },
	{ DEVICES "cpu_core/events/topdown-fetch-lat", "event=0x00,umask=0x86\n" },
	{ DEVICES "cpu_core/events/topdown-mem-bound", "event=0x00,umask=0x87\n" },
	{ DEVICES "cpu_atom/type", "10\n" }, { DEVICES "cpu_atom/cpus", "8-15\n" },
	{ DEVICES "cpu_atom/format/event", "config:0-7\n" }, { DEVICES "cpu_atom/format/umask", "config:8-15\n" },
	{ DEVICES "cpu_atom/events/topdown-retiring", "event=0xc2,umask=0x0\n" },
	{ 0 },
};
static const struct file amd_files[] = {
	{ DEVICES "cpu/type", "4\n" }, { DEVICES "cpu/format/event", "config:0-7,32-35\n" },
	{ DEVICES "cpu/format/umask", "config:8-15\n" }, { 0 },
};
static const struct file arm_files[] = {
	{ DEVICES "armv9_pmuv3_0/type", "9\n" }, { DEVICES "armv9_pmuv3_0/cpus", "0-3\n" },
	{ DEVICES "armv9_pmuv3_0/format/event", "config:0-15\n" }, { DEVICES "armv9_pmuv3_0/caps/slots", "0x8\n" },
	{ DEVICES "armv9_pmuv3_0/events/cpu_cycles", "event=0x0011\n" },
		{ DEVICES "armv9_pmuv3_0/events/stall_slot", "event=0x003f\n" },
	{ DEVICES "armv9_pmuv3_0/events/stall_slot_frontend", "event=0x003e\n" },
	{ DEVICES "armv9_pmuv3_0/events/stall_slot_backend", "event=0x003d\n" },
	{ DEVICES "armv9_pmuv3_0/events/op_retired", "event=0x003a\n" },
		{ DEVICES "armv9_pmuv3_0/events/op_spec", "event=0x003b\n" },
	{ DEVICES "armv9_pmuv3_0/events/br_mis_pred", "event=0x0010\n" },
	{ 0 },
};
static const struct file no_files[] = { { 0 } };

static void make_tree(char *root, const struct file *files)
{
	strcpy(root, "/tmp/gus-test-XXXXXX");
	assert_non_null(mkdtemp(root));
	for (; files->path; files++) {
		char *path = gus_format("%s/%s", root, files->path);
		FILE *f;

		for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
			*slash = '\0';
			assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
			*slash = '/';
		}
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(files->text, f);
		fclose(f);
		free(path);
	}
}

static void remove_tree(const char *root)
{
	char *command = gus_format("rm -rf '%s'", root);

	assert_int_equal(system(command), 0);
	free(command);
}

/* Finds the events in a tree; the counts then have to give the shares. */
/* What becomes of slots, on machines as sysfs describes them: the first event of each table as the kernel wants it. */
static void expect_slots(const struct file *files, const struct gus_cpu_id *cpu, const char *pmu, size_t n,
			 const char *name, uint32_t type, uint64_t config)
{
	struct gus_topdown_counted_list counted = { 0 };
	struct gus_topdown_tables tables = { 0 };
	struct gus_events events = { 0 };
	struct gus_pmus pmus;
	char root[64];

	make_tree(root, files);
	gus_pmus_init(&pmus, root);
	assert_int_equal(gus_events_parse(&events, "{cpu-clock,task-clock}", &pmus, NULL), 0);
	assert_int_equal(gus_topdown_of(&tables, &pmus, cpu, NULL), 0);
	assert_int_equal(gus_topdown_count(&counted, &tables, 1, &events, &pmus, NULL), 0);
	assert_int_equal(counted.n, pmu ? tables.n : 0);
	if (pmu) {
		const struct gus_event *first = &events.v[counted.v[counted.n - 1].first];

		assert_string_equal(counted.v[counted.n - 1].table->pmu, pmu);
		assert_int_equal(counted.v[counted.n - 1].n, n);
		assert_int_equal(events.n, counted.v[counted.n - 1].first + n);
		assert_string_equal(first->name, name);
		assert_int_equal(first->type, type);
		assert_int_equal(first->config, config);
		assert_true(first->group != 0);
		for (size_t i = 0; i < events.n; i++) /* it is a group of its own */
			assert_true((events.v[i].group == first->group) == (i >= counted.v[counted.n - 1].first));
	}
	gus_vec_free(&counted);
	gus_topdown_tables_free(&tables);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	remove_tree(root);
}

static void slots(void **state)
{
	static const struct gus_cpu_id alder_lake = { .vendor = "GenuineIntel", .family = 6, .model = 0x97 };
	static const struct gus_cpu_id zen5 = { .vendor = "AuthenticAMD", .family = 0x1a, .model = 2 };
	static const struct gus_cpu_id zen3 = { .vendor = "AuthenticAMD", .family = 0x19, .model = 1 };
	static const struct gus_cpu_id v2 = { .midr = 0x410fd4f0 }, other = { .midr = 0x410fd810 };

	(void)state;
	/* The smaller cores' table stands before the larger ones'. */
	expect_slots(intel_files, &alder_lake, "cpu_core", 6, "slots", 4, 0x400);
	expect_slots(amd_files, &zen5, "cpu", 6, "cycles", 4, 0x76);
	expect_slots(amd_files, &zen3, NULL, 0, NULL, 0, 0);
	expect_slots(arm_files, &v2, "armv9_pmuv3_0", 7, "cycles", 9, 0x11);
	expect_slots(arm_files, &other, "armv9_pmuv3_0", 6, "cycles", 9, 0x11);
	expect_slots(no_files, &zen5, NULL, 0, NULL, 0, 0);
}

/* What happens in the kernel alone, and is to be counted outside it alone, would be zero: that is said instead. hv
 * alone leaves the kernel out, too. Whatever else may become of an event on this machine, it is then not that. */
static void blind_events(void **state)
{
	static const struct { const char *spec; bool blind; } cases[] = {
		{ "context-switches", false }, { "context-switches:u", true }, { "context-switches:uk", false },
		{ "context-switches:k", false }, { "context-switches:h", true }, { "cpu-migrations:u", true },
		{ "cpu-migrations:k", false }, { "page-faults:u", false }, { "task-clock:uk", false },
			{ "cycles:u", false },
	};
	const struct gus_tally_place self = { 0, -1 };
	struct gus_pmus pmus;

	(void)state;
	gus_pmus_init(&pmus, "/nonexistent");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_events events = { 0 };
		struct gus_tally t;

		assert_int_equal(gus_events_parse(&events, cases[i].spec, &pmus, NULL), 0);
		assert_int_equal(gus_tally_open(&t, &events, &self, 1, false, NULL), 0);
		assert_int_equal(t.states[0] == GUS_TALLY_BLIND, cases[i].blind);
		gus_tally_close(&t);
		gus_events_free(&events);
	}
	gus_pmus_free(&pmus);
}

/* On this very process, in user space, which nearly everybody may watch: memory that is touched counts page faults,
 * what is not there stays in the list with its reason, and a group with such a member is not counted. */
static void counts_ourselves(void **state)
{
	const struct gus_tally_place self = { 0, -1 };
	struct gus_events events = { 0 };
	struct gus_count counts[6];
	struct gus_pmus pmus;
	struct gus_tally t;
	const size_t bytes = 8u << 20;
	volatile char *memory;

	(void)state;
	gus_pmus_init(&pmus, "/nonexistent");
	assert_int_equal(gus_events_parse(&events, "page-faults:u,task-clock:u,context-switches:u,"
					  "{cpu-clock:u,r123456789abcdef:u}", &pmus, NULL), 0);
	assert_int_equal(gus_tally_open(&t, &events, &self, 1, false, NULL), 0);
	if (t.states[0] == GUS_TALLY_REFUSED || t.reasons[0] == ENOSYS) {
		gus_tally_close(&t);
		gus_events_free(&events);
		gus_pmus_free(&pmus);
		print_message("skipped: this user may not use perf_event_open here\n");
		skip();
	}
	assert_int_equal(t.states[0], GUS_TALLY_OPEN);
	assert_int_equal(t.states[1], GUS_TALLY_OPEN);
	assert_int_equal(t.states[2], GUS_TALLY_BLIND);
	assert_int_equal(t.states[4], GUS_TALLY_ABSENT);
	assert_int_equal(t.states[3], GUS_TALLY_ABSENT); /* its group is not whole */
	assert_int_equal(t.reasons[3], t.reasons[4]);
	gus_tally_read(&t, counts);
	assert_int_equal(counts[0].value, 0);            /* not before it is enabled */
	gus_tally_enable(&t);
	memory = malloc(bytes);
	assert_non_null(memory);
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	gus_tally_disable(&t);
	gus_tally_read(&t, counts);
	free((void *)memory);
	assert_true(counts[0].value > 0);
	assert_true(counts[1].value > 0 && counts[1].running_ns > 0);
	assert_int_equal(counts[3].value, 0);
	gus_tally_close(&t);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
}

/* A task that is not there. */
static void gone(void **state)
{
	const struct gus_tally_place nobody = { INT32_MAX - 1, -1 };
	struct gus_events events = { 0 };
	struct gus_pmus pmus;
	struct gus_tally t;

	(void)state;
	gus_pmus_init(&pmus, "/nonexistent");
	assert_int_equal(gus_events_parse(&events, "task-clock:u", &pmus, NULL), 0);
	assert_int_equal(gus_tally_open(&t, &events, &nobody, 1, false, NULL), 0);
	assert_true(t.states[0] == GUS_TALLY_GONE || t.states[0] == GUS_TALLY_REFUSED || t.reasons[0] == ENOSYS);
	gus_tally_close(&t);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scaling),
		cmocka_unit_test(differences),
		cmocka_unit_test(means), cmocka_unit_test(slots),
		cmocka_unit_test(student),
		cmocka_unit_test(blind_events),
		cmocka_unit_test(counts_ourselves),
		cmocka_unit_test(gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
