/* SPDX-License-Identifier: MIT */
/* Names of events that are known by their attribute alone. The words are perf's, so that who has both programs finds
 * the same event under the same name: for each type how its config is named, then modifiers, as far as they are not
 * what an event has that nobody gave any. */
#include "collector/perfdata/event_name.h"

#include <stdlib.h>

#include "collector/events/names.h"
#include "collector/perfdata/attr.h"

enum { HARDWARE, SOFTWARE, TRACEPOINT, HW_CACHE, RAW, BREAKPOINT, FIRST_OF_PMUS };

static bool has(const struct gus_perfdata_attr *a, unsigned bit)
{
	return a->flags >> bit & 1;
}

/* A generic event's config names it in its lower half; the upper one the PMU that counts it, where there are several
 * (linux/perf_event.h, PERF_PMU_TYPE_SHIFT). */
static char *generic(uint32_t type, uint64_t config)
{
	for (size_t i = 0; gus_event_name_at(i); i++) {
		const struct gus_event_name *n = gus_event_name_at(i);

		if (n->type == type && n->config == (config & UINT32_MAX))
			return gus_strdup(n->name);
	}
	return gus_format("unknown-%s-%llu", type == HARDWARE ? "hardware" : "software",
			  (unsigned long long)(config & UINT32_MAX));
}

/* CACHE-OPERATION-RESULT: a byte each (perf_event_open(2), PERF_TYPE_HW_CACHE). */
static char *cache(uint64_t config)
{
	static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node" };
	static const char *const operations[][2] = { { "loads", "load-misses" }, { "stores", "store-misses" },
						     { "prefetches", "prefetch-misses" } };
	unsigned of = config & 255, operation = config >> 8 & 255, result = config >> 16 & 255;

	if (of >= sizeof(caches) / sizeof(*caches) || operation > 2 || result > 1)
		return gus_format("unknown-cache-0x%llx", (unsigned long long)(config & UINT32_MAX));
	return gus_format("%s-%s", caches[of], operations[operation][result]);
}

static char *base_name(const struct gus_perfdata_attr *a, const char *pmu)
{
	unsigned long long config = a->config;

	switch (a->type) {
	case HARDWARE:
	case SOFTWARE:
		return generic(a->type, config);
	case TRACEPOINT:
		return gus_format("tracepoint %llu", config);
	case HW_CACHE:
		return cache(config);
	case RAW:
		return gus_format("raw 0x%llx", config);
	case BREAKPOINT:
		return gus_format("mem:0x%llx", (unsigned long long)a->config1);
	default:
		return pmu ? gus_format("%s/config=0x%llx/", pmu, config) :
			gus_format("type %u/config=0x%llx/", a->type, config);
	}
}

/* One PMU of several that all have the generic events: its name stands before them. */
static char *with_pmu(char *name, const struct gus_perfdata_attr *a, const char *pmu)
{
	char *both;

	if (!pmu || a->type >= RAW || !(a->config >> 32))
		return name;
	both = gus_format("%s/%s/", pmu, name);
	free(name);
	return both;
}

/* u, k, h: where it counts, if not everywhere; a p for each level of precision; H and G where only the host or only the
 * guest is counted, or both although others would not count the guest. */
static void modifiers(const struct gus_perfdata_attr *a, char out[16])
{
	bool user = !has(a, GUS_PERFDATA_EXCLUDE_USER), kernel = !has(a, GUS_PERFDATA_EXCLUDE_KERNEL);
	bool hv = !has(a, GUS_PERFDATA_EXCLUDE_HV), host = !has(a, GUS_PERFDATA_EXCLUDE_HOST);
	bool guest = !has(a, GUS_PERFDATA_EXCLUDE_GUEST), named = !user || !kernel || !hv;
	unsigned precise = a->flags >> GUS_PERFDATA_PRECISE & 3;
	size_t n = 0;

	if (named && kernel)
		out[n++] = 'k';
	if (named && user)
		out[n++] = 'u';
	if (named && hv)
		out[n++] = 'h';
	for (unsigned i = 0; i < precise; i++)
		out[n++] = 'p';
	if (!host || guest == !(named || precise)) {
		if (host)
			out[n++] = 'H';
		if (guest)
			out[n++] = 'G';
	}
	out[n] = '\0';
}

char *gus_perfdata_event_name(const struct gus_perfdata_attr *a, const char *pmu)
{
	char *base = with_pmu(base_name(a, pmu), a, pmu), *name;
	char letters[16];

	modifiers(a, letters);
	name = a->type < RAW && *letters ? gus_format("%s:%s", base, letters) : gus_strdup(base);
	free(base);
	return name;
}
