/* SPDX-License-Identifier: MIT */
#include "collector/session/call_graph.h"

#include <linux/perf_event.h>

/* Whose calls the CPU keeps, and nothing that is not wanted of them. */
#define CALLS (PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_NO_FLAGS | \
	       PERF_SAMPLE_BRANCH_NO_CYCLES)

struct gus_cargo gus_call_graph_cargo(enum gus_call_graph callers, uint32_t stack_bytes, uint64_t branch_type)
{
	struct gus_cargo cargo = { .chain = callers != GUS_CALL_GRAPH_NONE, .branch_type = branch_type };

	cargo.kernel_chain = cargo.chain && callers != GUS_CALL_GRAPH_FP;
	if (cargo.kernel_chain || (cargo.chain && stack_bytes)) {
		cargo.regs = GUS_CARGO_REGS != 0;
		cargo.stack_bytes = stack_bytes;
	}
	if (callers == GUS_CALL_GRAPH_LBR) {
		cargo.stack_bytes = 0;
		cargo.branch_type = CALLS;
		cargo.calls = true;
	}
	return cargo;
}

const char *gus_call_graph_name(enum gus_call_graph callers)
{
	static const char *const names[] = {
		[GUS_CALL_GRAPH_NONE] = "none", [GUS_CALL_GRAPH_FP] = "fp", [GUS_CALL_GRAPH_TABLES] = "tables",
		[GUS_CALL_GRAPH_COPIES] = "dwarf", [GUS_CALL_GRAPH_LBR] = "lbr",
	};

	return names[callers];
}
