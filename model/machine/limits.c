/* SPDX-License-Identifier: MIT */
#include "model/machine/limits.h"

#include <assert.h>
#include <stddef.h>

#include "model/machine/config.h"
#include "model/machine/options.h"

enum { WIDE = 1024 };

#define BOTH .core = GUS_LIMIT_PRESENT, .stream = GUS_LIMIT_PRESENT
#define CORE .core = GUS_LIMIT_PRESENT, .stream = GUS_LIMIT_ABSENT
#define SIMPLER .core = GUS_LIMIT_PRESENT, .stream = GUS_LIMIT_SIMPLER, .simpler

const struct gus_machine_limit gus_machine_limits[GUS_LIMITS] = {
	/* Parts of the front end stand before the whole of it: of what explains as much, the first is named. */
	[GUS_LIMIT_LENGTH_DECODING] = { "length decoding", "Bytes and instructions whose length is found in a cycle.",
		"fetch_bytes predecode_width lcp_penalty", SIMPLER = "as if there was always room behind it",
		.relaxed = { { "fetch_bytes", WIDE }, { "predecode_width", WIDE }, { "lcp_penalty", 0 } } },
	[GUS_LIMIT_DECODERS] = { "decoders", "Instructions that are decoded in the same cycle.",
		"decode_width decode_uops decode_complex decode_fuse_last decode_branch_last decode_pop_5c",
		SIMPLER = "groups are formed as if all was there",
		.relaxed = { { "decode_width", WIDE }, { "decode_uops", 0 }, { "decode_complex", WIDE },
			{ "decode_fuse_last", 1 }, { "decode_branch_last", 0 },
			{ "decode_pop_5c", GUS_CORE_POP_ANY } } },
	[GUS_LIMIT_MICROCODE] = { "microcode", "Uops of the sequencer, and the way to it and back.",
		"microcode_width microcode_switch microcode_switch_decoders",
		SIMPLER = "the way back is told with the way there",
		.relaxed = { { "microcode_width", WIDE }, { "microcode_switch", 0 },
			{ "microcode_switch_decoders", 0 } } },
	[GUS_LIMIT_UOP_CACHE_SIZE] = { "uop cache", "Code that it keeps; the decoders have all else.",
		"uop_cache_size uop_cache_lines uop_cache_line uop_cache_wide uop_cache_block jcc_erratum", BOTH,
		.relaxed = { { "uop_cache_size", 0 }, { "uop_cache_lines", WIDE }, { "jcc_erratum", 0 } } },
	[GUS_LIMIT_UOP_CACHE_LINES] = { "uop cache lines", "Lines of it, and uops of them, that are read in a cycle.",
		"uop_cache_width uop_cache_reads uop_cache_second uop_cache_window uop_cache_by_end",
		SIMPLER = "as if there was always room behind it",
		.relaxed = { { "uop_cache_width", WIDE }, { "uop_cache_reads", WIDE },
			{ "uop_cache_second", GUS_CORE_SECOND_ANY } } },
	[GUS_LIMIT_PREDICTION] = { "branch prediction", "Taken branches that are foreseen in a cycle.",
		"predicted_branches predicted_behind_call predicted_call branch_override",
		SIMPLER = "as if there was always room behind it",
		.relaxed = { { "predicted_branches", 0 }, { "branch_override", 0 } } },
	[GUS_LIMIT_FRONT_END] = { "front end", "All of these together, and the queues between them.",
		"decode_queue decode_delay queue_size",
		SIMPLER = "each part has a pace of its own, as if there was always room in the queues",
		.relaxed_fetch = true },
	[GUS_LIMIT_CODE_CACHE] = { "instruction cache",
		"Lines of code that L1 has not, and pages that its TLB has not.",
		"l1i_size l1i_ways itlb_size itlb_ways",
		.core = GUS_LIMIT_ABSENT, .stream = GUS_LIMIT_ABSENT,
		.relaxed = { { "l1i_size", 0 }, { "itlb_size", 0 } } },
	[GUS_LIMIT_LOOP_BOUNDARY] = { "loop boundary", "No iteration begins in the cycle in which the last one ended.",
		"loop_boundary loop_buffer",
		SIMPLER = "shared by the iterations that the loop buffer holds",
		.relaxed = { { "loop_boundary", 0 }, { "loop_buffer", 0 } } },
	[GUS_LIMIT_ISSUE] = { "issue", "Slots that are renamed in a cycle.", "issue_width", BOTH,
		.relaxed = { { "issue_width", WIDE } } },
	[GUS_LIMIT_MOVE_ELIMINATION] = { "move elimination", "Registers with several names that can be told apart.",
		"move_elimination_slots", CORE, .relaxed = { { "move_elimination_slots", 0 } } },
	[GUS_LIMIT_REORDER_BUFFER] = { "reorder buffer", "Slots between issue and retirement.", "rob", BOTH,
		.relaxed = { { "rob", 0 } } },
	[GUS_LIMIT_REGISTERS] = { "registers", "Results between issue and retirement, of each register file.",
		"renames int_renames vector_renames mask_registers", BOTH,
		.relaxed = { { "renames", 0 }, { "int_renames", 0 }, { "vector_renames", 0 }, { "mask_renames", 0 } } },
	[GUS_LIMIT_LOAD_BUFFER] = { "load buffer", "Loads between issue and retirement.", "load_buffer", BOTH,
		.relaxed = { { "load_buffer", 0 } } },
	[GUS_LIMIT_STORE_BUFFER] = { "store buffer", "Stores between issue and L1.", "store_buffer", BOTH,
		.relaxed = { { "store_buffer", 0 } } },
	[GUS_LIMIT_BRANCH_BUFFER] = { "branch buffer", "Branches between issue and retirement.", "branch_buffer", CORE,
		.relaxed = { { "branch_buffer", 0 } } },
	[GUS_LIMIT_SCHEDULER] = { "scheduler", "Uops that wait for operands or ports.", "rs",
		SIMPLER = "entries come back in order but for the eight longest waits", .relaxed = { { "rs", 0 } } },
	[GUS_LIMIT_SCHEDULER_PARTS] = { "parts of the scheduler", "The same of integer, vector and memory uops.",
		"rs_int rs_int_port rs_vector rs_memory",
		SIMPLER = "entries come back in order but for the eight longest waits, and integer ports share theirs",
		.relaxed = { { "rs_int", 0 }, { "rs_int_port", 0 }, { "rs_vector", 0 }, { "rs_memory", 0 } } },
	[GUS_LIMIT_PORT_BINDING] = { "port binding", "A uop waits for the port that it was given when it was issued.",
		"port_binding", CORE, .relaxed = { { "port_binding", GUS_CORE_BIND_ANY } } },
	[GUS_LIMIT_RETIREMENT] = { "retirement", "Slots that retire in a cycle.", "retire_width", BOTH,
		.relaxed = { { "retire_width", WIDE } } },
	[GUS_LIMIT_STORE_COMMIT] = { "store commit", "Stores that reach L1 in a cycle, and only in the same line.",
		"l1d_stores", BOTH, .relaxed = { { "l1d_stores", 0 } } },
	[GUS_LIMIT_FORWARDING] = { "store forwarding", "The time from a store's data to a load of them.",
		"store_forward_latency store_forward_computed store_forward_vector store_forward_address "
		"store_forward_zero", BOTH, .relaxed_pointers = true },
	[GUS_LIMIT_BLOCKED_FORWARDING] = { "blocked forwarding",
		"The same where the store does not have all that the load reads, from when it has left.",
		"store_forward_blocked store_forward_wider", BOTH, .relaxed = { { "store_forward_blocked", 0 } } },
	[GUS_LIMIT_L1_BANKS] = { "L1 banks", "Loads of the same bytes of lines that begin in a cycle.",
		"l1d_bank_ports", SIMPLER = "as many a cycle in the mean, in banks of eight bytes",
		.relaxed = { { "l1d_bank_ports", 0 } } },
	[GUS_LIMIT_LINE_SPLITS] = { "line splits",
		"More for a load that crosses a line, which is two accesses, and still more if it crosses a page.",
		"line_split_penalty page_split_penalty page_size", BOTH,
		.relaxed = { { "line_split_penalty", 0 }, { "page_split_penalty", 0 } } },
	[GUS_LIMIT_ALIASES] = { "4K aliases",
		"More for a load that begins where a store on its way writes, 4096 bytes or a multiple apart.",
		"alias_penalty", BOTH, .relaxed = { { "alias_penalty", 0 } } },
	[GUS_LIMIT_MISS_BUFFERS] = { "miss buffers", "Lines on their way to L1.", "l1d_misses",
		SIMPLER = "prefetched lines take none",
		.relaxed = { { "l1d_misses", 0 } } },
	[GUS_LIMIT_BANDWIDTH] = { "bandwidth", "Bytes a cycle between the levels of caches.",
		"l2_bandwidth l3_bandwidth memory_bandwidth writeback_path", BOTH,
		.relaxed = { { "l2_bandwidth", 0 }, { "l3_bandwidth", 0 }, { "memory_bandwidth", 0 } } },
	[GUS_LIMIT_TLB] = { "TLB", "The time that an address takes that the first TLB has not, and walks at once.",
		"stlb_latency page_walk_latency page_walks", SIMPLER = "walkers serve in the order of the program",
		.relaxed = { { "stlb_latency", 0 }, { "page_walk_latency", 0 } } },
	[GUS_LIMIT_MISPREDICTIONS] = { "mispredictions", "The time from a mispredicted branch to the right path.",
		"mispredict_penalty", BOTH, .relaxed = { { "mispredict_penalty", 0 } } },
};

/* A width of 0 is one that the table does not tell, and then the machine has not that limit: a value would be the first
 * it hears of a part of its front end, which it would have from then on. */
static bool is_limit(const struct gus_core_config *c, const struct gus_machine_setting *relaxed)
{
	return relaxed->value != WIDE || gus_core_config_get(c, relaxed->name) != 0;
}

static void relax_one(const struct gus_machine_limit *kind, struct gus_core_config *c, struct gus_core_options *o)
{
	for (unsigned i = 0; i < GUS_LIMIT_SETTINGS && kind->relaxed[i].name; i++) {
		int status = is_limit(c, &kind->relaxed[i]) ?
			gus_core_config_set(c, kind->relaxed[i].name, kind->relaxed[i].value, NULL) : 0;

		assert(status == 0);
		(void)status;
	}
	if (kind->relaxed_fetch)
		o->fetch = GUS_CORE_FETCH_IDEAL;
	if (kind->relaxed_pointers)
		o->pointers = GUS_CORE_POINTERS_NONE;
}

void gus_machine_relax(enum gus_machine_limit_kind limit, struct gus_core_config *c, struct gus_core_options *o)
{
	for (int i = 0; i < GUS_LIMITS; i++)
		if ((int)limit == i || (limit == GUS_LIMITS && gus_machine_limits[i].stream != GUS_LIMIT_PRESENT))
			relax_one(&gus_machine_limits[i], c, o);
}

const char *gus_machine_limit_engines(enum gus_machine_limit_kind limit)
{
	static const char *const words[] = { [GUS_LIMIT_ABSENT] = "the core engine alone",
		[GUS_LIMIT_SIMPLER] = "both engines, the stream engine more simply",
		[GUS_LIMIT_PRESENT] = "both engines" };

	if (gus_machine_limits[limit].core == GUS_LIMIT_ABSENT)
		return "traced runs alone";
	return words[gus_machine_limits[limit].stream];
}
