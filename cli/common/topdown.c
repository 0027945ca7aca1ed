/* SPDX-License-Identifier: MIT */
#include "cli/common/topdown.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/cpu.h"
#include "base/error.h"
#include "collector/events/event.h"
#include "collector/host/host.h"
#include "collector/host/text.h"

#define LEVEL_DEFAULT 2

/* What tables may ask about PMUs of cores. The names are those of gus_pmus, which must outlive it. */
struct cores {
	struct gus_vec(struct gus_topdown_pmu) pmus;
	struct gus_vec(const char **) names;
};

static double slots_of(const struct gus_pmus *pmus, const struct gus_pmu *pmu)
{
	char *path = gus_format("%s/bus/event_source/devices/%s/caps/slots", pmus->root, pmu->name), text[32];
	double slots = gus_read_text(path, text, sizeof(text)) ? (double)strtoul(text, NULL, 0) : 0;

	free(path);
	return slots;
}

/* Others, of which a server has dozens, are not read. */
static bool is_of_cores(const char *name)
{
	return strcmp(name, "cpu") == 0 || strncmp(name, "cpu_", 4) == 0 || strncmp(name, "armv", 4) == 0;
}

static void find_cores(struct cores *c, struct gus_pmus *pmus)
{
	gus_pmus_list(pmus);
	for (size_t i = 0; i < pmus->list.n; i++) {
		struct gus_pmu *pmu = &pmus->list.v[i];
		const char **names;

		if (!is_of_cores(pmu->name))
			continue;
		gus_pmu_load(pmus, pmu);
		names = gus_alloc((pmu->aliases.n + 1) * sizeof(*names));
		for (size_t k = 0; k < pmu->aliases.n; k++)
			names[k] = pmu->aliases.v[k].name;
		gus_vec_push(&c->names, names);
		gus_vec_push(&c->pmus, (struct gus_topdown_pmu){ pmu->name, names, pmu->aliases.n,
								  slots_of(pmus, pmu) });
	}
}

static bool is_set(const char *root, const char *file)
{
	char *path = gus_format("%s/%s", root, file), text[16];
	bool set = gus_read_text(path, text, sizeof(text)) && strcmp(text, "1") == 0;

	free(path);
	return set;
}

int gus_topdown_of(struct gus_topdown_tables *tables, struct gus_pmus *pmus, const struct gus_cpu_id *cpu,
		   struct gus_error *err)
{
	struct cores cores = { 0 };
	struct gus_topdown_host host = {
		.cpu = cpu, .smt = is_set(pmus->root, "devices/system/cpu/smt/active"),
		.watchdog = is_set("/proc", "sys/kernel/nmi_watchdog"),
	};
	int rc;

	find_cores(&cores, pmus);
	host.pmus = cores.pmus.v;
	host.pmus_n = cores.pmus.n;
	rc = gus_topdown_find(tables, &host, err);
	for (size_t i = 0; i < cores.names.n; i++)
		free(cores.names.v[i]);
	gus_vec_free(&cores.names);
	gus_vec_free(&cores.pmus);
	return rc;
}

int gus_topdown_here(struct gus_topdown_tables *tables, struct gus_pmus *pmus, struct gus_error *err)
{
	Gusprof__Host *machine = gus_host_describe(pmus->root);
	struct gus_cpu_id cpu = gus_topdown_cpu(machine);
	int rc = gus_topdown_of(tables, pmus, &cpu, err);

	gusprof__host__free_unpacked(machine, NULL);
	return rc;
}

static uint32_t last_group(const struct gus_events *events)
{
	uint32_t last = 0;

	for (size_t i = 0; i < events->n; i++)
		last = events->v[i].group > last ? events->v[i].group : last;
	return last;
}

static int count_one(struct gus_topdown_counted_list *counted, const struct gus_topdown *t, unsigned level,
		     struct gus_events *events, struct gus_pmus *pmus, struct gus_error *err)
{
	char *spec = gus_topdown_spec(t, level);
	struct gus_events found = { 0 };
	uint32_t group = last_group(events);
	int rc = gus_events_parse(&found, spec, pmus, err);

	free(spec);
	if (rc != 0) {
		gus_events_free(&found);
		return -1;
	}
	for (size_t i = 0; i < found.n; i++)
		if (found.v[i].group)
			found.v[i].group += group; /* a number of its own */
	gus_vec_push(counted, (struct gus_topdown_counted){ t, level, events->n, found.n });
	gus_vec_append(events, found.v, found.n);
	gus_vec_free(&found);
	return 0;
}

int gus_topdown_count(struct gus_topdown_counted_list *counted, const struct gus_topdown_tables *tables, unsigned level,
		      struct gus_events *events, struct gus_pmus *pmus, struct gus_error *err)
{
	for (size_t i = 0; i < tables->n; i++) {
		const struct gus_topdown *t = tables->v[i];
		unsigned deepest = level < t->levels ? level : t->levels;

		if (!t->lacks && count_one(counted, t, deepest, events, pmus, err) != 0)
			return -1;
	}
	return 0;
}

int gus_topdown_refuse(const struct gus_topdown_tables *tables, struct gus_error *err)
{
	if (!tables->n)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot count what becomes of issue slots: no table of the "
				"top-down method is about this CPU (gusprof-stat(1) says which there are); report "
				"--stacks tells what instructions waited for without counters");
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot count what becomes of issue slots (%s): %s; gusprof doctor "
			"says more", tables->v[0]->title, tables->v[0]->lacks);
}

char *gus_topdown_here_spec(struct gus_pmus *pmus)
{
	struct gus_topdown_tables tables = { 0 };
	char *all = NULL;

	gus_topdown_here(&tables, pmus, NULL);
	for (size_t i = 0; i < tables.n; i++) {
		char *one = tables.v[i]->lacks ? NULL : gus_topdown_spec(tables.v[i], 1), *before = all;

		if (!one)
			continue;
		all = before ? gus_format("%s,%s", before, one) : gus_strdup(one);
		free(before);
		free(one);
	}
	gus_topdown_tables_free(&tables);
	return all;
}

bool gus_topdown_is_level(const char *word)
{
	return word[0] >= '1' && word[0] <= '9' && !word[1];
}

int gus_topdown_level(const char *word, unsigned *level, struct gus_error *err)
{
	if (word && !gus_topdown_is_level(word))
		return gus_fail(err, GUS_E_USAGE, "--topdown takes a level from 1 to 9, not '%s'", word);
	*level = word ? (unsigned)(*word - '0') : LEVEL_DEFAULT;
	return 0;
}
