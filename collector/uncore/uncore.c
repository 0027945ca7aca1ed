/* SPDX-License-Identifier: MIT */
#include "collector/uncore/uncore.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "collector/events/pmu.h"
#include "collector/host/text.h"

#define CPUS_MOST 8192   /* as the kernel's NR_CPUS */
#define TEXT_MAX 4096

/* What the kernel says a count of an event is, in bytes, as far as it is bytes: as its drivers write them. */
static const struct { const char *name; double bytes; } units[] = {
	{ "MiB", 1 << 20 }, { "KiB", 1 << 10 }, { "GiB", 1 << 30 }, { "Bytes", 1 }, { "B", 1 }, { "MB", 1e6 },
};

/* A file below a PMU's folder. */
static bool read_file(const struct gus_pmus *pmus, const struct gus_pmu *pmu, const char *file, char *text, size_t size)
{
	char *path = gus_format("%s/bus/event_source/devices/%s/%s", pmus->root, pmu->name, file);
	bool ok = gus_read_text(path, text, size);

	free(path);
	return ok;
}

static bool names(const struct gus_pmu *pmu, const struct gus_uncore_row *row)
{
	return gus_pmu_alias(pmu, row->name, strlen(row->name)) != NULL;
}

/* Whether each event of the family can be had of that PMU: by its encoding, or as the kernel names it. */
static bool has_rows(const struct gus_uncore_family *f, const struct gus_pmu *pmu)
{
	for (size_t i = 0; i < f->n; i++)
		if (!f->rows[i].terms && !names(pmu, &f->rows[i]))
			return false;
	return true;
}

static struct gus_pmu *first_of(struct gus_pmus *pmus, const struct gus_uncore_family *f, size_t from)
{
	for (size_t i = from; i < pmus->list.n; i++)
		if (gus_uncore_family_is(f, pmus->list.v[i].name)) {
			gus_pmu_load(pmus, &pmus->list.v[i]);
			return &pmus->list.v[i];
		}
	return NULL;
}

static const struct gus_uncore_family *choose(const char *cpu, struct gus_pmus *pmus)
{
	const struct gus_uncore_family *f;

	for (size_t i = 0; (f = gus_uncore_family_at(i)); i++) {
		const struct gus_pmu *pmu = gus_uncore_family_has(f, cpu) ? first_of(pmus, f, 0) : NULL;

		if (pmu && has_rows(f, pmu))
			return f;
	}
	return NULL;
}

/* Nothing can be counted: what is missing, and what would help. */
static int refuse(const char *cpu, struct gus_pmus *pmus, struct gus_error *err)
{
	const struct gus_uncore_family *f;
	const char *there = NULL;

	for (size_t i = 0; (f = gus_uncore_family_at(i)); i++) {
		const struct gus_pmu *pmu = first_of(pmus, f, 0);

		if (!pmu && f->cpus && f->absent && gus_uncore_family_has(f, cpu))
			return gus_fail(err, GUS_E_UNSUPPORTED, "cannot count the traffic of memory: this kernel shows "
					"no PMU %s of %s in %s/bus/event_source/devices; %s, and a hypervisor hides it",
					f->pmu, f->title, pmus->root, f->absent);
		there = pmu ? pmu->name : there;
	}
	if (there)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot count the traffic of memory: there is a PMU %s, but "
				"neither a table of gusprof nor the kernel says which of its events these are on this "
				"CPU (%s)", there, cpu ? cpu : "unknown");
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot count the traffic of memory: there is no PMU of memory "
			"controllers (uncore_imc, amd_df, amd_umc, arm_dmc620, arm_cmn) in "
			"%s/bus/event_source/devices; a hypervisor hides them, elsewhere a module of the kernel "
			"(intel-uncore, amd-uncore, arm-cmn) may have to be loaded", pmus->root);
}

/* Bytes a count of that event. What the kernel says goes before the table. */
static int bytes_of(const struct gus_pmus *pmus, const struct gus_pmu *pmu, const struct gus_uncore_row *row,
		    double *bytes, struct gus_error *err)
{
	char *file = gus_format("events/%s.scale", row->name), scale[TEXT_MAX], unit[TEXT_MAX] = "", *end;
	bool told = names(pmu, row) && read_file(pmus, pmu, file, scale, sizeof(scale));
	double factor;

	free(file);
	*bytes = row->bytes;
	if (!told)
		return 0;
	file = gus_format("events/%s.unit", row->name);
	read_file(pmus, pmu, file, unit, sizeof(unit));
	free(file);
	factor = strtod(scale, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units) && end != scale && !*end; i++) {
		*bytes = factor * units[i].bytes;
		if (strcmp(units[i].name, unit) == 0 && *bytes > 0 && *bytes <= GUS_TRAFFIC_BYTES_MOST)
			return 0;
	}
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot tell how many bytes a count of %s/%s/ is: the kernel says "
			"'%.40s' of the unit '%.40s' (events/%s.scale and .unit of that PMU)", pmu->name, row->name,
			scale, unit, row->name);
}

static int read_socket(const struct gus_pmus *pmus, int cpu, uint32_t *socket, struct gus_error *err)
{
	char *path = gus_format("%s/devices/system/cpu/cpu%d/topology/physical_package_id", pmus->root, cpu);
	char text[32] = "", *end = text;
	long value;

	gus_read_text(path, text, sizeof(text));
	value = strtol(text, &end, 10);
	if (end == text || *end || value > INT32_MAX) {
		gus_fail(err, GUS_E_UNSUPPORTED, "cannot tell which socket CPU %d is of, on which memory is counted: "
			 "%s has no number; is that CPU offline?", cpu, path);
		free(path);
		return -1;
	}
	free(path);
	*socket = value < 0 ? 0 : (uint32_t)value; /* -1 is of firmware that does not say: then there is one */
	return 0;
}

static void add_place(struct gus_uncore *u, int cpu)
{
	for (size_t i = 0; i < u->places.n; i++)
		if (u->places.v[i].cpu == cpu)
			return;
	gus_vec_push(&u->places, (struct gus_tally_place){ -1, cpu });
}

static int add_counter(struct gus_uncore *u, struct gus_pmus *pmus, const struct gus_pmu *pmu,
		       const struct gus_uncore_row *row, int cpu, struct gus_error *err)
{
	struct gus_uncore_counter c = { .row = row, .cpu = cpu };
	char *text = gus_format("%s/%s/", pmu->name, names(pmu, row) ? row->name : row->terms);
	int rc = gus_events_parse_whole(&u->events, text, pmus, err);

	free(text);
	if (rc != 0 || read_socket(pmus, cpu, &c.socket, err) != 0 || bytes_of(pmus, pmu, row, &c.bytes, err) != 0)
		return -1;
	free(u->events.v[u->events.n - 1].cpus);
	u->events.v[u->events.n - 1].cpus = gus_format("%d", cpu);
	gus_vec_push(&u->counters, c);
	add_place(u, cpu);
	return 0;
}

/* All events of an instance on one CPU. */
static int add_cpu(struct gus_uncore *u, struct gus_pmus *pmus, const struct gus_pmu *pmu, int cpu,
		   struct gus_error *err)
{
	for (size_t i = 0; i < u->family->n; i++)
		if (add_counter(u, pmus, pmu, &u->family->rows[i], cpu, err) != 0)
			return -1;
	return 0;
}

/* The next CPUs of a list such as "0,28" or "0-1", and what is behind them. False: there is no such list, or it has
 * some below `least`: one that it had before would be counted twice. */
static bool next_cpus(char **at, unsigned long least, unsigned long *low, unsigned long *high)
{
	if (!isdigit((unsigned char)**at))
		return false;
	*high = *low = strtoul(*at, at, 10);
	if (**at == '-' && isdigit((unsigned char)(*at)[1]))
		*high = strtoul(*at + 1, at, 10);
	if (*low < least || *low > *high || *high >= CPUS_MOST || (**at && **at != ','))
		return false;
	*at += **at == ',';
	return true;
}

/* An instance, on the CPUs of its cpumask. */
static int add_instance(struct gus_uncore *u, struct gus_pmus *pmus, const struct gus_pmu *pmu, struct gus_error *err)
{
	char text[TEXT_MAX] = "", *at = text;
	unsigned long low, high, least = 0;

	read_file(pmus, pmu, "cpumask", text, sizeof(text));
	do {
		if (!next_cpus(&at, least, &low, &high))
			return gus_fail(err, GUS_E_UNSUPPORTED, "cannot count the traffic of memory: "
					"%s/bus/event_source/devices/%s/cpumask, which says on which CPUs to count, %s",
					pmus->root, pmu->name, *text ? "is no list of CPUs" : "is empty or missing");
		least = high + 1;
		for (unsigned long cpu = low; cpu <= high; cpu++)
			if (add_cpu(u, pmus, pmu, (int)cpu, err) != 0)
				return -1;
	} while (*at);
	return 0;
}

int gus_uncore_find(struct gus_uncore *u, const char *cpu, struct gus_pmus *pmus, struct gus_error *err)
{
	*u = (struct gus_uncore){ .family = NULL };
	gus_pmus_list(pmus);
	u->family = choose(cpu, pmus);
	if (!u->family)
		return refuse(cpu, pmus, err);
	for (size_t i = 0; i < pmus->list.n; i++) {
		if (!gus_uncore_family_is(u->family, pmus->list.v[i].name))
			continue;
		gus_pmu_load(pmus, &pmus->list.v[i]);
		if (add_instance(u, pmus, &pmus->list.v[i], err) != 0)
			return -1;
	}
	u->now = gus_zalloc(u->events.n * sizeof(*u->now));
	u->before = gus_zalloc(u->events.n * sizeof(*u->before));
	return 0;
}

static int explain(const struct gus_uncore *u, size_t i, struct gus_error *err)
{
	const char *name = u->events.v[i].name;
	int cpu = u->counters.v[i].cpu, sys = u->tally.reasons[i];
	char paranoid[32] = "unknown";

	if (sys == EACCES || sys == EPERM) {
		gus_read_text("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
		return gus_fail(err, GUS_E_PERMISSION, "cannot count %s on CPU %d: permission denied; what all of the "
				"machine does may be counted with CAP_PERFMON, or where kernel.perf_event_paranoid "
				"(%s) is 0 or less", name, cpu, paranoid);
	}
	if (sys == ENODEV)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot count %s on CPU %d: that CPU is offline; try again, as "
				"the kernel moves its counters to another one", name, cpu);
	return gus_fail_errno(err, sys, "cannot count %s on CPU %d, and without it the traffic of memory would be too "
			      "small", name, cpu);
}

int gus_uncore_open(struct gus_uncore *u, struct gus_error *err)
{
	if (gus_tally_open(&u->tally, &u->events, u->places.v, u->places.n, false, err) != 0)
		return -1;
	u->open = true;
	for (size_t i = 0; i < u->events.n; i++)
		if (u->tally.states[i] != GUS_TALLY_OPEN)
			return explain(u, i, err);
	return 0;
}

void gus_uncore_enable(struct gus_uncore *u)
{
	gus_tally_enable(&u->tally);
}

void gus_uncore_read(struct gus_uncore *u, struct gus_count *since)
{
	struct gus_count *swap = u->before;

	gus_tally_read(&u->tally, u->now);
	for (size_t i = 0; i < u->events.n; i++)
		since[i] = gus_count_since(u->now[i], u->before[i]);
	u->before = u->now;
	u->now = swap;
}

void gus_uncore_free(struct gus_uncore *u)
{
	if (u->open)
		gus_tally_close(&u->tally);
	gus_events_free(&u->events);
	gus_vec_free(&u->counters);
	gus_vec_free(&u->places);
	free(u->now);
	free(u->before);
	*u = (struct gus_uncore){ .family = NULL };
}
