/* SPDX-License-Identifier: MIT */
#include "collector/events/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector/host/text.h"
#include "collector/kernel/perf.h"

#define TEXT_MAX 4096

/* A file of a PMU, or of one of its folders. */
static bool read_attribute(const struct gus_pmus *pmus, const char *pmu, const char *name, char *text, size_t size)
{
	char *path = gus_format("%s/bus/event_source/devices/%s/%s", pmus->root, pmu, name);
	bool ok = gus_read_text(path, text, size);

	free(path);
	return ok;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Calls take for each name in a folder, sorted, so that the same machine gives the same lists. */
static void each_entry(const char *folder, void (*take)(const char *name, void *context), void *context)
{
	struct dirent **names;
	char room[GUS_PERF_PATH];
	int n = scandir(gus_perf.path(folder, room), &names, not_hidden, by_name);

	for (int i = 0; i < n; i++) {
		take(names[i]->d_name, context);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

void gus_pmus_init(struct gus_pmus *pmus, const char *root)
{
	*pmus = (struct gus_pmus){ .root = gus_strdup(root) };
}

static void pmu_free(struct gus_pmu *pmu)
{
	for (size_t i = 0; i < pmu->terms.n; i++)
		free(pmu->terms.v[i].name);
	for (size_t i = 0; i < pmu->aliases.n; i++) {
		free(pmu->aliases.v[i].name);
		free(pmu->aliases.v[i].terms);
	}
	gus_vec_free(&pmu->terms);
	gus_vec_free(&pmu->aliases);
	free(pmu->name);
	free(pmu->cpus);
}

void gus_pmus_free(struct gus_pmus *pmus)
{
	for (size_t i = 0; i < pmus->list.n; i++)
		pmu_free(&pmus->list.v[i]);
	gus_vec_free(&pmus->list);
	free(pmus->root);
	*pmus = (struct gus_pmus){ 0 };
}

static void take_pmu(const char *name, void *context)
{
	struct gus_pmus *pmus = context;
	struct gus_pmu pmu = { 0 };
	char text[TEXT_MAX], *end;
	unsigned long type;

	if (!read_attribute(pmus, name, "type", text, sizeof(text)))
		return;
	type = strtoul(text, &end, 10);
	if (end == text || *end || type > UINT32_MAX)
		return;
	pmu.name = gus_strdup(name);
	pmu.type = (uint32_t)type;
	if (read_attribute(pmus, name, "cpus", text, sizeof(text)))
		pmu.cpus = gus_strdup(text);
	pmu.whole_cpus = !pmu.cpus && read_attribute(pmus, name, "cpumask", text, sizeof(text));
	gus_vec_push(&pmus->list, pmu);
}

void gus_pmus_list(struct gus_pmus *pmus)
{
	char *folder;

	if (pmus->listed)
		return;
	pmus->listed = true;
	folder = gus_format("%s/bus/event_source/devices", pmus->root);
	each_entry(folder, take_pmu, pmus);
	free(folder);
}

struct loading {
	const struct gus_pmus *pmus;
	struct gus_pmu *pmu;
};

/* "config1:0-7,32-35" or "config:18"; false if it is anything else. */
static bool parse_format(const char *text, struct gus_pmu_term *term)
{
	static const char *const words[] = { "config:", "config1:", "config2:", "config3:" };
	const char *p = NULL;

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0) {
			term->word = i;
			p = text + strlen(words[i]);
		}
	while (p && *p) {
		char *end;
		unsigned long low = strtoul(p, &end, 10), high = low;

		if (end == p)
			return false;
		if (*end == '-') {
			p = end + 1;
			high = strtoul(p, &end, 10);
			if (end == p)
				return false;
		}
		if (high > 63 || low > high || (*end && *end != ','))
			return false;
		term->bits |= (UINT64_MAX >> (63 - (high - low))) << low;
		p = *end ? end + 1 : end;
	}
	return p && term->bits;
}

static void take_term(const char *name, void *context)
{
	struct loading *l = context;
	struct gus_pmu_term term = { 0 };
	char text[TEXT_MAX], *path = gus_format("format/%s", name);

	if (read_attribute(l->pmus, l->pmu->name, path, text, sizeof(text)) && parse_format(text, &term)) {
		term.name = gus_strdup(name);
		gus_vec_push(&l->pmu->terms, term);
	}
	free(path);
}

/* Beside an event stand name.scale, name.unit and the like, which describe how to print a count. */
static void take_alias(const char *name, void *context)
{
	struct loading *l = context;
	char text[TEXT_MAX], *path;

	if (strchr(name, '.'))
		return;
	path = gus_format("events/%s", name);
	if (read_attribute(l->pmus, l->pmu->name, path, text, sizeof(text)))
		gus_vec_push(&l->pmu->aliases, (struct gus_pmu_alias){ gus_strdup(name), gus_strdup(text) });
	free(path);
}

void gus_pmu_load(const struct gus_pmus *pmus, struct gus_pmu *pmu)
{
	struct loading l = { pmus, pmu };
	char *folder;

	if (pmu->loaded)
		return;
	pmu->loaded = true;
	folder = gus_format("%s/bus/event_source/devices/%s/format", pmus->root, pmu->name);
	each_entry(folder, take_term, &l);
	free(folder);
	folder = gus_format("%s/bus/event_source/devices/%s/events", pmus->root, pmu->name);
	each_entry(folder, take_alias, &l);
	free(folder);
}

struct gus_pmu *gus_pmus_find(struct gus_pmus *pmus, const char *name)
{
	gus_pmus_list(pmus);
	for (size_t i = 0; i < pmus->list.n; i++)
		if (strcmp(pmus->list.v[i].name, name) == 0) {
			gus_pmu_load(pmus, &pmus->list.v[i]);
			return &pmus->list.v[i];
		}
	return NULL;
}

static bool same(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && memcmp(name, text, length) == 0;
}

const struct gus_pmu_term *gus_pmu_term(const struct gus_pmu *pmu, const char *name, size_t length)
{
	for (size_t i = 0; i < pmu->terms.n; i++)
		if (same(pmu->terms.v[i].name, name, length))
			return &pmu->terms.v[i];
	return NULL;
}

const struct gus_pmu_alias *gus_pmu_alias(const struct gus_pmu *pmu, const char *name, size_t length)
{
	for (size_t i = 0; i < pmu->aliases.n; i++)
		if (same(pmu->aliases.v[i].name, name, length))
			return &pmu->aliases.v[i];
	return NULL;
}

bool gus_cpus_has(const char *cpus, unsigned cpu)
{
	for (const char *p = cpus; *p;) {
		char *end;
		unsigned long low = strtoul(p, &end, 10), high = low;

		if (end == p)
			return false;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (cpu >= low && cpu <= high)
			return true;
		p = *end ? end + 1 : end;
	}
	return false;
}
