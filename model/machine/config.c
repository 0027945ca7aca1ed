/* SPDX-License-Identifier: MIT */
#include "model/machine/config.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "model/tables/uarch.h"

_Static_assert(GUS_CORE_PORTS == GUS_UARCH_PORTS_MAX, "a machine has room for the ports of any table");

static const struct setting {
	const char *name;
	size_t offset;
} settings[] = {
#define X(name) { #name, offsetof(struct gus_core_config, name) },
	GUS_CORE_SETTINGS(X)
#undef X
};

static uint32_t *setting_of(struct gus_core_config *c, const char *name)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (strcmp(settings[i].name, name) == 0)
			return (uint32_t *)(void *)((char *)c + settings[i].offset);
	return NULL;
}

/* Registers that hold the state of the architecture and some more cannot be renamed to: measured on three Intel
 * cores, 30 of each file (Palomares 2015, Table 7.6 and section A). */
enum { REGISTERS_TAKEN = 30 };

void gus_core_config_of(struct gus_core_config *c, const struct gus_uarch *u)
{
	static const char *const files[][2] = { { "int_renames", "int_registers" },
		{ "vector_renames", "vector_registers" }, { "mask_renames", "mask_registers" } };

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		*setting_of(c, settings[i].name) = (uint32_t)gus_uarch_value(u, settings[i].name, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		double all = gus_uarch_value(u, files[i][1], 0);
		uint32_t *renames = setting_of(c, files[i][0]);
		uint32_t taken = i == 2 ? 8 : REGISTERS_TAKEN;

		if (!*renames && all > taken)
			*renames = (uint32_t)all - taken;
	}
	if (!c->issue_width)
		c->issue_width = 4;
	if (!c->retire_width)
		c->retire_width = c->issue_width;
	if (!c->issue_delay)
		c->issue_delay = 1;
	if (!c->line_size)
		c->line_size = 64;
	if (!c->microcode_width)
		c->microcode_width = 4;
	c->microcode_switch = (uint32_t)gus_uarch_value(u, "microcode_switch", 4); /* there are machines without */
	if (!c->microcode_switch_decoders)
		c->microcode_switch_decoders = 2; /* Abel and Reineke's simulator (uiCA), for all cores that it has */
	if (!c->store_forward_latency)
		c->store_forward_latency = c->l1d_latency;
	if (!c->store_forward_blocked)
		c->store_forward_blocked = c->store_forward_latency + 8;
	if (!c->line_split_penalty)
		c->line_split_penalty = 5;
	if (!c->uop_cache_reads)
		c->uop_cache_reads = c->uop_cache_width > 4 ? 2 : 1;
	if (!c->page_split_penalty)
		c->page_split_penalty = c->line_split_penalty;
	if (!c->page_size)
		c->page_size = 4096;
	if (!c->uop_cache_lines && c->uop_cache_line)
		c->uop_cache_lines = c->uop_cache_window > 32 ? 6 : 3;
	c->memory_latency *= GUS_CORE_CYCLES_A_NS;
	/* Beyond the core, machines differ more than cores do: where a table is silent, round figures of a server. */
	if (!c->l2_latency)
		c->l2_latency = 14;
	if (!c->l3_latency)
		c->l3_latency = 60;
	if (!c->memory_latency)
		c->memory_latency = 360;
	if (!c->stlb_latency)
		c->stlb_latency = 7;
	if (!c->page_walk_latency)
		c->page_walk_latency = 26; /* one that hits the caches, on Sandy Bridge (Palomares 2015, chapter 5) */
}

bool gus_core_config_has(const char *name)
{
	struct gus_core_config c;

	return setting_of(&c, name) != NULL;
}

uint32_t gus_core_config_get(const struct gus_core_config *c, const char *name)
{
	struct gus_core_config copy = *c;
	const uint32_t *setting = setting_of(&copy, name);

	return setting ? *setting : 0;
}

int gus_core_config_set(struct gus_core_config *c, const char *name, uint64_t value, struct gus_error *err)
{
	uint32_t *setting = setting_of(c, name);

	if (!setting)
		return gus_fail(err, GUS_E_USAGE, "cannot set %s: the core engine has no such size or width", name);
	if (value > 1000000 || (!value && (setting == &c->issue_width || setting == &c->retire_width)))
		return gus_fail(err, GUS_E_USAGE, "cannot set %s to %llu: that makes no machine", name,
				(unsigned long long)value);
	*setting = (uint32_t)value;
	return 0;
}

void gus_core_config_infinite(struct gus_core_config *c)
{
	c->rob = c->rs = c->rs_int = c->rs_int_port = c->rs_vector = c->rs_memory = 0;
	c->load_buffer = c->store_buffer = c->branch_buffer = 0;
	c->renames = c->int_renames = c->vector_renames = c->mask_renames = 0;
}

static bool is_cycles(const char *name)
{
	for (const struct gus_uarch_param_kind *k = gus_uarch_params; k->name; k++)
		if ((k->unit == GUS_UNIT_CYCLES || k->unit == GUS_UNIT_NS) && strcmp(k->name, name) == 0)
			return true;
	return false;
}

/* Parameters that are numbers of cycles. Engines have their times in small numbers, where a longer one than
 * GUS_CORE_CYCLES_MOST would wrap to a short one. */
static int check_cycles(const struct gus_core_config *c, struct gus_error *err)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		uint32_t value = *(const uint32_t *)(const void *)((const char *)c + settings[i].offset);

		if (value > GUS_CORE_CYCLES_MOST && is_cycles(settings[i].name))
			return gus_fail(err, GUS_E_USAGE, "cannot run the engine: %s is %u cycles, and more than %d "
					"cannot be counted", settings[i].name, value, GUS_CORE_CYCLES_MOST);
	}
	return 0;
}

int gus_core_config_check(const struct gus_core_config *c, struct gus_error *err)
{
	static const struct setting powers[] = {
		{ "line_size", offsetof(struct gus_core_config, line_size) },
		{ "page_size", offsetof(struct gus_core_config, page_size) },
		{ "fetch_bytes", offsetof(struct gus_core_config, fetch_bytes) },
		{ "uop_cache_window", offsetof(struct gus_core_config, uop_cache_window) },
		{ "uop_cache_block", offsetof(struct gus_core_config, uop_cache_block) },
	};

	if (!c->issue_width || !c->retire_width || !c->issue_delay || !c->microcode_width || !c->line_size)
		return gus_fail(err, GUS_E_USAGE, "cannot run the engine: issue_width, retire_width, issue_delay, "
				"microcode_width and line_size must be at least 1");
	if (c->port_binding > GUS_CORE_BIND_ANY)
		return gus_fail(err, GUS_E_USAGE, "cannot run the engine: there is no way %u to bind ports, the "
				"last is %d", c->port_binding, GUS_CORE_BIND_ANY);
	if (c->line_size > GUS_CORE_LINE_MOST)
		return gus_fail(err, GUS_E_USAGE, "cannot run the engine: line_size is %u, and the longest line has %d "
				"bytes", c->line_size, GUS_CORE_LINE_MOST);
	if (c->store_sets > GUS_CORE_SETS_MOST)
		return gus_fail(err, GUS_E_USAGE, "cannot run the engine: store_sets is %u, and %d entries "
				"are the most", c->store_sets, GUS_CORE_SETS_MOST);
	for (size_t i = 0; i < sizeof(powers) / sizeof(*powers); i++) {
		uint32_t value = *(const uint32_t *)(const void *)((const char *)c + powers[i].offset);

		if (value & (value - 1))
			return gus_fail(err, GUS_E_USAGE, "cannot run the engine: %s is %u, which is no power of two",
					powers[i].name, value);
	}
	return check_cycles(c, err);
}

enum gus_core_station gus_core_station_of(const struct gus_core_config *c, const char *port)
{
	static const struct { const char *prefix; enum gus_core_station station; } kinds[] = {
		{ "fp", GUS_CORE_STATION_VECTOR }, { "V", GUS_CORE_STATION_VECTOR }, { "agu", GUS_CORE_STATION_MEMORY },
		{ "lsu", GUS_CORE_STATION_MEMORY }, { "L", GUS_CORE_STATION_MEMORY }, { "S", GUS_CORE_STATION_MEMORY },
	};

	if (!c->rs_int && !c->rs_int_port && !c->rs_vector && !c->rs_memory)
		return GUS_CORE_STATION_WHOLE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(port, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].station;
	return GUS_CORE_STATION_INT;
}
