/* SPDX-License-Identifier: MIT */
/* `show-screen stat|repeat|slots|slots-csv|doctor WIDTH`: what gusprof stat and gusprof doctor print, of counts and of
 * a machine that are the same each time, for the screens in tests/data/screen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/tree.h"
#include "cli/common/topdown.h"
#include "cli/doctor_text.h"
#include "cli/screen/screen.h"
#include "cli/stat/view.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/events/event.h"
#include "collector/events/pmu.h"
#include "collector/stat/stat_target.h"
#include "model/tables/cpus.h"

/* Counts of one run; the second one has a few more. */
static const struct gus_stat_row rows[] = {
	{ .count = { .value = 1948120000, .enabled_ns = 1948120000, .running_ns = 1948120000 } },
	{ .count = { .value = 12, .enabled_ns = 1948120000, .running_ns = 1948120000 } },
	{ .count = { .value = 1, .enabled_ns = 1948120000, .running_ns = 1948120000 } },
	{ .count = { .value = 148, .enabled_ns = 1948120000, .running_ns = 1948120000 } },
	{ .count = { .value = 6234567890, .enabled_ns = 1948120000, .running_ns = 1948120000 } },
	{ .count = { .value = 9876543210, .enabled_ns = 1948120000, .running_ns = 948120000 } },
	{ .state = GUS_TALLY_ABSENT, .reason = ENOENT },
	{ .state = GUS_TALLY_ABSENT, .reason = ENOENT },
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static int show_stat(const struct gus_screen *screen, bool repeat)
{
	static char words[][64] = { "./shape", "--table=/var/lib/shape/large.table", "--seconds=2", "--verbose" };
	static char *command[] = { words[0], words[1], words[2], words[3], NULL };
	const struct gus_stat_target target = { .kind = GUS_STAT_COMMAND };
	const struct gus_topdown_counted_list no_trees = { 0 };
	struct gus_stat_view v = { .target = &target, .command = command, .screen = screen, .by_default = !repeat,
				   .topdown = &no_trees };
	struct gus_events events = { 0 };
	struct gus_stat_row run[ROWS];
	struct gus_pmus pmus;

	gus_pmus_init(&pmus, "/nowhere");
	if (gus_events_parse(&events, "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,"
			     "branches,branch-misses", &pmus, NULL) != 0)
		return 1;
	gus_stat_view_init(&v, &events);
	for (uint64_t i = 0; i < (repeat ? 3 : 1); i++) {
		memcpy(run, rows, sizeof(run));
		for (size_t k = 0; k < ROWS; k++)
			run[k].count.value += run[k].count.value / 50 * i;
		gus_stat_view_add(&v, run, 1951000000 + 7000000 * i);
		gus_vec_push(&v.user, 1901000000.0 + 5000000.0 * (double)i);
		gus_vec_push(&v.system, 41000000.0);
	}
	gus_stat_view_settle(&v);
	gus_stat_text(stdout, &v);
	gus_stat_view_free(&v);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	return 0;
}

/* An ordinary user of a virtual machine without counters. */
/* Trees of both kinds of cores of an Alder Lake. The smaller ones' two groups took turns, in eight readings; one had
 * three fifths of the time. */
static void count_slots(struct gus_stat_row *run, const struct gus_topdown_counted *c, bool turns, uint64_t reading)
{
	static const uint64_t core[] = { 6000000, 2400000, 600000, 1200000, 1800000, 300000, 480000, 900000, 1200000,
		60000, 1000000, 400000, 300000, 320000, 120000 };
	static const uint64_t atom[] = { 1000000, 1000000, 2000000, 500000, 1510000, 467000, 200000, 400000,
		67000 };

	for (size_t i = 0; i < c->n; i++) {
		uint64_t value = turns ? atom[i] + atom[i] / 40 * ((reading * 5 + i * 3) % 8) : core[i];

		run[c->first + i].count = (struct gus_count){ value, 100000000, turns ? i < 5 ? 60000000 : 40000000 :
							      100000000 };
	}
}

static int show_slots(const struct gus_screen *screen, bool csv)
{
	static const char *const names[] = { "slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound",
		"topdown-be-bound", "topdown-heavy-ops", "topdown-br-mispredict", "topdown-fetch-lat",
		"topdown-mem-bound" };
	static const struct gus_topdown_pmu pmus[] = { { "cpu_atom", NULL, 0, 0 }, { "cpu_core", names, 9, 0 } };
	static const struct gus_cpu_id cpu = { "GenuineIntel", 6, 0x97, 2, 0 };
	static const struct gus_topdown_host host = { .cpu = &cpu, .pmus = pmus, .pmus_n = 2 };
	const struct gus_stat_target target = { .kind = GUS_STAT_CPUS };
	struct gus_topdown_counted_list counted = { 0 };
	struct gus_stat_view v = { .target = &target, .screen = screen, .topdown = &counted, .trees = true };
	struct gus_topdown_tables tables = { 0 };
	struct gus_stat_row run[32] = { { 0 } };
	struct gus_events events = { 0 };
	uint32_t list[32];

	if (gus_topdown_find(&tables, &host, NULL) != 0)
		return 1;
	for (size_t i = 0; i < tables.n; i++) {
		size_t n = gus_topdown_events(tables.v[i], 9, list);

		gus_vec_push(&counted, (struct gus_topdown_counted){ tables.v[i], tables.v[i]->levels, events.n, n });
		for (size_t k = 0; k < n; k++)
			gus_vec_push(&events, (struct gus_event){
				.name = gus_strdup(tables.v[i]->events.v[list[k]].name) });
	}
	gus_stat_view_init(&v, &events);
	for (uint64_t reading = 0; reading < 8; reading++) {
		for (size_t i = 0; i < counted.n; i++)
			count_slots(run, &counted.v[i], i == 0, reading);
		gus_stat_view_read(&v, run, (reading + 1) * 100000000);
		gus_stat_view_add(&v, run, 100000000);
	}
	v.runs = 1;
	gus_stat_view_settle(&v);
	if (csv)
		gus_stat_csv(stdout, &v, ",");
	else
		gus_stat_text(stdout, &v);
	gus_stat_view_free(&v);
	gus_topdown_tables_free(&tables);
	gus_vec_free(&counted);
	gus_events_free(&events);
	return 0;
}

static int show_doctor(const struct gus_screen *screen)
{
	static const struct gus_class_facts absent = { .sys = ENOENT, .verdict = GUS_PROBE_ABSENT };
	struct gus_facts f = {
		.machine = "x86_64", .kernel = "6.12.9", .vendor = "GenuineIntel", .cpu = "Some Xeon",
		.uarch = "sapphirerapids", .cpus = 8, .initial_userns = true, .lockdown = "none",
		.paranoid = { true, 2 }, .kptr_restrict = { true, 1 }, .mlock_kb = { true, 516 },
		.sample_rate = { true, 100000 }, .cpu_percent = { true, 25 }, .nmi_watchdog = { true, 0 },
		.memlock_bytes = 8u << 20, .ring_bytes = 516u << 10, .tracking = true, .stacks = true, .tier = 'C',
		.event = "cpu-clock:u", .cost_ns = 1500, .kallsyms = GUS_KALLSYMS_HIDDEN, .vdso = true, .uid = 1000,
		.hypervisor = "KVM",
	};
	struct gus_diagnosis d;

	for (unsigned i = 0; i < GUS_CLASSES; i++)
		f.classes[i] = absent;
	f.classes[GUS_CLASS_CLOCK] = (struct gus_class_facts){ .listed = true, .sys = EACCES, .user_only = true,
		.verdict = GUS_PROBE_GOOD };
	gus_doctor_judge(&d, &f);
	gus_doctor_text(stdout, screen, &d, &f);
	gus_diagnosis_free(&d);
	return 0;
}

int main(int argc, char **argv)
{
	struct gus_screen_options o = { .width = argc > 2 ? strtoul(argv[2], NULL, 10) : 0 };
	const struct gus_screen screen = gus_screen_of(stdout, &o);

	if (argc > 1 && strcmp(argv[1], "doctor") == 0)
		return show_doctor(&screen);
	if (argc > 1 && strncmp(argv[1], "slots", 5) == 0)
		return show_slots(&screen, strcmp(argv[1], "slots-csv") == 0);
	return show_stat(&screen, argc > 1 && strcmp(argv[1], "repeat") == 0);
}
