/* SPDX-License-Identifier: MIT */
/* Terms of a table are those of the kernel's PMUs (/sys/bus/event_source/devices/PMU/format), and where their bits go
 * is the same on all cores of a maker: arch/x86/events/intel/core.c and amd/core.c, drivers/perf/arm_pmuv3.c. AMD has
 * the upper four bits of `event` from bit 32 on; Intel's events have eight. */
#include "attribution/topdown/encoding.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/table.h"
#include "base/piece.h"

/* PERF_TYPE_* and PERF_COUNT_HW_CPU_CYCLES of the perf_event ABI. Above them are PMUs that the kernel numbers. */
enum { TYPE_HARDWARE = 0, TYPE_RAW = 4, TYPE_FIRST_OF_PMUS = 6, HARDWARE_CYCLES = 0 };

static const struct term { const char *name; unsigned shift; } terms[] = {
	{ "event", 0 }, { "umask", 8 }, { "edge", 18 }, { "any", 21 }, { "inv", 23 }, { "cmask", 24 },
};

static bool is_arm(const struct gus_topdown *t)
{
	return t->pmu && strncmp(t->pmu, "armv", 4) == 0;
}

static bool add_term(struct gus_piece term, bool arm, uint64_t *config)
{
	const char *equals = memchr(term.text, '=', term.size);
	struct gus_piece name = { term.text, equals ? (size_t)(equals - term.text) : term.size };
	uint64_t value = equals ? strtoull(equals + 1, NULL, 0) : 1;

	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		if (!gus_piece_is(name, terms[i].name))
			continue;
		if (i == 0 && !arm)
			value = (value & 0xff) | value >> 8 << 32;
		*config |= value << terms[i].shift;
		return true;
	}
	return false;
}

/* False: it has a term that is not among them. */
static bool config_of(const struct gus_topdown *t, const struct gus_topdown_event *e, uint64_t *config)
{
	struct gus_piece left = { e->terms, strlen(e->terms) };

	*config = 0;
	while (left.size)
		if (!add_term(gus_piece_cut(&left, ','), is_arm(t), config))
			return false;
	return true;
}

bool gus_topdown_encoding_is(const struct gus_topdown *t, const struct gus_topdown_event *e, const Gusprof__Event *m)
{
	uint64_t config;

	if (*m->pmu && t->pmu && strcmp(m->pmu, t->pmu) != 0)
		return false;
	if (m->type == TYPE_HARDWARE)
		return (m->config & UINT32_MAX) == HARDWARE_CYCLES && strcmp(e->name, "cycles") == 0;
	if (m->type != TYPE_RAW && m->type < TYPE_FIRST_OF_PMUS)
		return false;
	return config_of(t, e, &config) && m->config == config && !m->config1 && !m->config2;
}
