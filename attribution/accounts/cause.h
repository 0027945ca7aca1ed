/* SPDX-License-Identifier: MIT */
/* What TEA's events do not say of why an instruction was waited for. */
#ifndef GUS_ATTRIBUTION_ACCOUNTS_CAUSE_H
#define GUS_ATTRIBUTION_ACCOUNTS_CAUSE_H

#include "attribution/proportional/groups.h"
#include "attribution/stacks/component.h"
#include "symbolizer/insn/insn.h"

/* Cycles an execution, beyond which a wait without an event has a name. */
enum { GUS_CAUSE_CYCLES = 6 };

enum gus_account_cause {
	GUS_CAUSE_NONE,
	/* Of the base, where it is long, or of a lock: by the instruction, ... */
	GUS_CAUSE_LOCK, GUS_CAUSE_DIVIDER, GUS_CAUSE_SERIALISATION,
	/* ... or as the model had it. */
	GUS_CAUSE_FORWARDING, GUS_CAUSE_ALIASING, GUS_CAUSE_LATENCY, GUS_CAUSE_PORT,
	/* Why the model knows nothing of it: lines that threads share, lines side by side that are fetched ahead,
	 * misses that there are only if nothing was in the caches before the window. */
	GUS_CAUSE_SHARES, GUS_CAUSE_STREAMS, GUS_CAUSE_SUPPOSED,
	GUS_CAUSES
};
/* "divider" ...; NULL of GUS_CAUSE_NONE. */
const char *gus_account_cause_name(enum gus_account_cause cause);

/* An instruction's: of its base, of FL-EX alone, which is of what lets nothing begin behind it, and of what is unknown,
 * which whoever finds that out fills in. */
struct gus_account_causes { enum gus_account_cause base, exception, unknown; };
struct gus_account_causes gus_account_causes_of(const struct gus_groups_site *site, const struct gus_insn_info *info);
/* That of a part of its stack. */
enum gus_account_cause gus_account_cause_of(const struct gus_account_causes *c, const struct gus_component *what);

#endif
