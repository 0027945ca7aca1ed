/* SPDX-License-Identifier: MIT */
#include "attribution/accounts/cause.h"

#include <stddef.h>

const char *gus_account_cause_name(enum gus_account_cause cause)
{
	static const char *const names[GUS_CAUSES] = { [GUS_CAUSE_LOCK] = "lock", [GUS_CAUSE_DIVIDER] = "divider",
		[GUS_CAUSE_SERIALISATION] = "serialisation", [GUS_CAUSE_FORWARDING] = "failed forwarding",
		[GUS_CAUSE_ALIASING] = "4K aliasing", [GUS_CAUSE_LATENCY] = "latency", [GUS_CAUSE_PORT] = "port",
		[GUS_CAUSE_SHARES] = "shared lines", [GUS_CAUSE_STREAMS] = "prefetched stream",
		[GUS_CAUSE_SUPPOSED] = "perhaps a miss" };

	return names[cause];
}

static bool serialises(const struct gus_insn_info *info)
{
	return info->flags & GUS_INSN_SERIALISING || info->class == GUS_INSN_FENCE;
}

static enum gus_account_cause base_cause(const struct gus_groups_site *site, const struct gus_insn_info *info)
{
	if (site->locks && site->base > site->executed) /* nothing else is it waited for, however short it is */
		return GUS_CAUSE_LOCK;
	if (site->base <= GUS_CAUSE_CYCLES * site->executed)
		return GUS_CAUSE_NONE;
	if (gus_insn_class_divides((enum gus_insn_class)info->class))
		return GUS_CAUSE_DIVIDER;
	if (serialises(info))
		return GUS_CAUSE_SERIALISATION;
	if (site->blocked > site->base / 2)
		return GUS_CAUSE_FORWARDING;
	if (site->aliased > site->base / 2)
		return GUS_CAUSE_ALIASING;
	/* The oldest has its operands: it takes long itself, or did not get where it is executed. */
	return site->latency >= GUS_CAUSE_CYCLES ? GUS_CAUSE_LATENCY : GUS_CAUSE_PORT;
}

struct gus_account_causes gus_account_causes_of(const struct gus_groups_site *site, const struct gus_insn_info *info)
{
	return (struct gus_account_causes){ .base = base_cause(site, info),
		.exception = serialises(info) ? GUS_CAUSE_SERIALISATION : GUS_CAUSE_NONE };
}

enum gus_account_cause gus_account_cause_of(const struct gus_account_causes *c, const struct gus_component *what)
{
	if (what->unknown)
		return c->unknown;
	if (!what->events)
		return c->base;
	return what->events == 1u << GUS_FL_EX ? c->exception : GUS_CAUSE_NONE;
}
