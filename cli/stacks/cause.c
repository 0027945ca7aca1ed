/* SPDX-License-Identifier: MIT */
#include "cli/stacks/cause.h"

static bool divides(const struct gus_insn_info *info)
{
	return info->class == GUS_INSN_DIV || info->class == GUS_INSN_FP_DIV || info->class == GUS_INSN_FP_SQRT;
}

static bool serialises(const struct gus_insn_info *info)
{
	return info->flags & GUS_INSN_SERIALISING || info->class == GUS_INSN_FENCE;
}

static const char *base_cause(const struct gus_groups_site *site, const struct gus_insn_info *info)
{
	if (site->locks && site->base > site->executed) /* nothing else is it waited for, however short it is */
		return "lock";
	if (site->base <= GUS_CAUSE_CYCLES * site->executed)
		return NULL;
	if (divides(info))
		return "divider";
	if (serialises(info))
		return "serialisation";
	if (site->blocked > site->base / 2)
		return "failed forwarding";
	if (site->aliased > site->base / 2)
		return "4K aliasing";
	/* The oldest has its operands: it takes long itself, or did not get where it is executed. */
	return site->latency >= GUS_CAUSE_CYCLES ? "latency" : "port";
}

const char *gus_stacks_cause(const struct gus_component *what, const struct gus_groups_site *site,
			     const struct gus_insn_info *info)
{
	if (what->unknown)
		return NULL;
	if (!what->events)
		return base_cause(site, info);
	return what->events == 1u << GUS_FL_EX && serialises(info) ? "serialisation" : NULL;
}
