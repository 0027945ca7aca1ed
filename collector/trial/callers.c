/* SPDX-License-Identifier: MIT */
#include "collector/trial/callers.h"

#include "base/error.h"
#include "collector/events/cargo.h"
#include "collector/events/event.h"
#include "collector/trial/branches.h"
#include "collector/trial/probe.h"

int gus_callers_check(const struct gus_events *events, const struct gus_cargo *cargo, struct gus_pmus *pmus,
		      const char *uarch, struct gus_error *err)
{
	int sys;

	if (cargo->calls)
		return gus_branches_check_calls(events, cargo->branch_type, pmus, uarch, err);
	if (cargo->stack_bytes && !cargo->regs)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot have registers with samples: this program knows those "
				"of x86-64 and arm64 alone; callers can be found by frame pointers (--call-graph fp)");
	for (size_t i = 0; cargo->stack_bytes && i < events->n; i++)
		if (!events->v[i].cpus && !events->v[i].bare && (sys = gus_probe_stacks(&events->v[i], cargo)) != 0)
			return gus_fail_errno(err, sys, "cannot have the registers and %u bytes of the stack with each "
					      "sample of %s; callers can be found by frame pointers (--call-graph fp)",
					      cargo->stack_bytes, events->v[i].name);
	return 0;
}
