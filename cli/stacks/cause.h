/* SPDX-License-Identifier: MIT */
/* What TEA's events do not say of why an instruction was waited for. */
#ifndef GUS_CLI_STACKS_CAUSE_H
#define GUS_CLI_STACKS_CAUSE_H

#include "attribution/proportional/groups.h"
#include "attribution/stacks/stack.h"
#include "symbolizer/insn/insn.h"

/* Cycles an execution, beyond which a wait without an event has a name. */
enum { GUS_CAUSE_CYCLES = 6 };

/* Of the base, where it is long, or of a lock: "divider", "lock", "serialisation" (by the instruction alone), "failed
 * forwarding", "4K aliasing", "latency" or "port" (as the model had it). Of what lets nothing begin behind it
 * "serialisation". NULL: there is nothing to add. */
const char *gus_stacks_cause(const struct gus_component *what, const struct gus_groups_site *site,
			     const struct gus_insn_info *info);

#endif
