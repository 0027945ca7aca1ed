/* SPDX-License-Identifier: MIT */
/* Questions to a parsed table, and the bound that its port groups give. */
#include "model/tables/uarch.h"

#include <stdlib.h>
#include <string.h>

#include "model/tables/policies.h"
#include "model/tables/uarch_private.h"

const struct gus_uarch_param_kind gus_uarch_params[] = {
	{ "issue_width", GUS_UNIT_UOPS, NULL, "renamed and issued a cycle, fused domain" },
	{ "issue_delay", GUS_UNIT_CYCLES, NULL, "from issue to the first cycle a uop can be dispatched" },
	{ "loop_boundary", GUS_UNIT_FLAG, NULL, "issue does not cross the end of an iteration" },
	{ "retire_width", GUS_UNIT_UOPS, NULL, "retired a cycle, fused domain" },
	{ "decode_width", GUS_UNIT_INSTRUCTIONS, NULL, "decoded a cycle by the legacy decoders" },
	{ "decode_uops", GUS_UNIT_UOPS, NULL, "that the legacy decoders deliver a cycle" },
	{ "decode_complex", GUS_UNIT_INSTRUCTIONS, NULL, "decoded a cycle that have more than one uop" },
	{ "decode_clusters", GUS_UNIT_ENTRIES, NULL, "clusters of decoders" },
	{ "decode_queue", GUS_UNIT_ENTRIES, NULL, "instructions between length decoding and decoders" },
	{ "decode_fuse_last", GUS_UNIT_FLAG, NULL,
		"the last decoder takes an instruction that might fuse with the next" },
	{ "decode_branch_last", GUS_UNIT_FLAG, NULL, "a branch is the last that is decoded in its cycle" },
	{ "decode_pop_5c", GUS_UNIT_POLICY, "any complex ends",
		"how pop rsp and pop r12 are decoded: complex: only by the first decoder; ends: nothing beside it" },
	{ "decode_delay", GUS_UNIT_CYCLES, NULL, "from length decoding to the decoders, lost when the uop cache ends" },
	{ "fetch_bytes", GUS_UNIT_BYTES, NULL, "fetched a cycle for the legacy decoders" },
	{ "predecode_width", GUS_UNIT_INSTRUCTIONS, NULL, "whose length is found a cycle" },
	{ "uop_cache_size", GUS_UNIT_UOPS, NULL, "that the uop cache holds" },
	{ "uop_cache_width", GUS_UNIT_UOPS, NULL, "that it delivers a cycle" },
	{ "uop_cache_ways", GUS_UNIT_WAYS, NULL, "of it" },
	{ "uop_cache_line", GUS_UNIT_UOPS, NULL, "in a line of it" },
	{ "uop_cache_window", GUS_UNIT_BYTES, NULL, "of code that a line of it covers" },
	{ "uop_cache_lines", GUS_UNIT_ENTRIES, NULL, "lines of the uop cache that one window may take" },
	{ "uop_cache_block", GUS_UNIT_BYTES, NULL, "of code whose windows it keeps all or none; 0: each by itself" },
	{ "uop_cache_reads", GUS_UNIT_ENTRIES, NULL, "lines of it that are read in a cycle" },
	{ "uop_cache_by_end", GUS_UNIT_FLAG, NULL, "a uop lies in the window where its instruction ends" },
	{ "uop_cache_second", GUS_UNIT_POLICY, "any forward whole",
		"what is delivered of a second line in a cycle: forward: pairs of slots across windows, nothing "
		"behind a jump inside its window; whole: all of one in the same window or none, pairs behind a jump" },
	{ "uop_cache_wide", GUS_UNIT_FLAG, NULL,
		"a constant of 64 bits, or of more than 16 beside an address, takes an entry more" },
	{ "jcc_erratum", GUS_UNIT_FLAG, NULL, "jumps that touch the end of 32 bytes are not cached as uops" },
	{ "microcode_width", GUS_UNIT_UOPS, NULL, "that the sequencer delivers a cycle" },
	{ "microcode_switch", GUS_UNIT_CYCLES, NULL, "lost in going from the uop cache to the sequencer; not said: 4" },
	{ "microcode_switch_decoders", GUS_UNIT_CYCLES, NULL, "lost in going from the decoders to it and back" },
	{ "queue_size", GUS_UNIT_UOPS, NULL, "between decoders and renamer" },
	{ "loop_buffer", GUS_UNIT_UOPS, NULL, "that replay as a loop from the queue; 0: none" },
	{ "loop_unroll_8", GUS_UNIT_UOPS, NULL, "of the largest loop that the loop buffer repeats 8 times as one" },
	{ "loop_unroll_6", GUS_UNIT_UOPS, NULL, "6 times" },
	{ "loop_unroll_5", GUS_UNIT_UOPS, NULL, "5 times" },
	{ "loop_unroll_4", GUS_UNIT_UOPS, NULL, "4 times" },
	{ "loop_unroll_3", GUS_UNIT_UOPS, NULL, "3 times" },
	{ "loop_unroll_2", GUS_UNIT_UOPS, NULL, "twice; without any of these as often as it fits" },
	{ "rob", GUS_UNIT_ENTRIES, NULL, "of the reorder buffer" },
	{ "rob_fused", GUS_UNIT_FLAG, NULL, "a micro-fused uop takes one entry of the reorder buffer" },
	{ "rs", GUS_UNIT_ENTRIES, NULL, "of the scheduler, or of all of them together" },
	{ "rs_int", GUS_UNIT_ENTRIES, NULL, "of the schedulers of integer uops" },
	{ "rs_int_port", GUS_UNIT_ENTRIES, NULL, "of the scheduler that each port for integer uops has of those" },
	{ "rs_vector", GUS_UNIT_ENTRIES, NULL, "of the schedulers of vector uops" },
	{ "rs_vector_wait", GUS_UNIT_ENTRIES, NULL, "of the queue in front of the vector schedulers" },
	{ "rs_load", GUS_UNIT_ENTRIES, NULL, "of the schedulers of loads" },
	{ "rs_store", GUS_UNIT_ENTRIES, NULL, "of the schedulers of store addresses" },
	{ "rs_store_data", GUS_UNIT_ENTRIES, NULL, "of the schedulers of store data" },
	{ "rs_memory", GUS_UNIT_ENTRIES, NULL, "of the schedulers of loads and stores" },
	{ "load_buffer", GUS_UNIT_ENTRIES, NULL, "of the load buffer" },
	{ "store_buffer", GUS_UNIT_ENTRIES, NULL, "of the store buffer" },
	{ "branch_buffer", GUS_UNIT_ENTRIES, NULL, "branches in flight" },
	{ "renames", GUS_UNIT_ENTRIES, NULL, "results in flight in all register files together" },
	{ "int_renames", GUS_UNIT_ENTRIES, NULL, "results in flight in the integer register file" },
	{ "vector_renames", GUS_UNIT_ENTRIES, NULL, "results in flight in the vector register file" },
	{ "mask_renames", GUS_UNIT_ENTRIES, NULL, "results in flight in the mask register file" },
	{ "int_registers", GUS_UNIT_ENTRIES, NULL, "of the integer register file" },
	{ "vector_registers", GUS_UNIT_ENTRIES, NULL, "of the vector register file" },
	{ "mask_registers", GUS_UNIT_ENTRIES, NULL, "of the mask register file" },
	{ "flag_registers", GUS_UNIT_ENTRIES, NULL, "of the flag register file" },
	{ "line_size", GUS_UNIT_BYTES, NULL, "in a cache line" },
	{ "page_size", GUS_UNIT_BYTES, NULL, "in a base page" },
	{ "l1d_size", GUS_UNIT_KIB, NULL, "of L1 data" },
	{ "l1d_ways", GUS_UNIT_WAYS, NULL, "of L1 data" },
	{ "l1d_latency", GUS_UNIT_CYCLES, NULL, "load to use, general registers, simple address" },
	{ "l1d_latency_base", GUS_UNIT_POLICY, "any loaded",
		"whose address has l1d_latency: any simple one, or one whose base is from a load" },
	{ "l1d_latency_indexed", GUS_UNIT_CYCLES, NULL, "the same with an index or a large displacement" },
	{ "l1d_latency_scaled", GUS_UNIT_CYCLES, NULL, "load to use where the index is multiplied" },
	{ "l1d_latency_vector", GUS_UNIT_CYCLES, NULL, "load to use, vector registers" },
	{ "l1d_loads", GUS_UNIT_PER_CYCLE, NULL, "loads begun" },
	{ "l1d_loads_vector", GUS_UNIT_PER_CYCLE, NULL, "loads of the widest vector begun" },
	{ "l1d_stores", GUS_UNIT_PER_CYCLE, NULL, "stores committed to L1" },
	{ "l1d_bank_ports", GUS_UNIT_PER_CYCLE, NULL,
		"loads begun that need the same bytes of whichever line; 0: no limit" },
	{ "l1d_load_width", GUS_UNIT_BYTES, NULL, "of one load port" },
	{ "l1d_store_width", GUS_UNIT_BYTES, NULL, "of one store, and of a repeated string instruction's a cycle" },
	{ "l1d_replacement", GUS_UNIT_POLICY, GUS_REPLACEMENT_WORDS,
		"which line of a set goes for another (model/oracles/sets.h)" },
	{ "l1d_next_line", GUS_UNIT_ENTRIES, NULL,
		"lines that the prefetcher of L1 fetches behind a miss; 0: none; not said: 1" },
	{ "l1d_strides", GUS_UNIT_ENTRIES, NULL,
		"loads whose stride the prefetcher of L1 follows, a power of two; 0: none; not said: 64" },
	{ "l1d_stride_ahead", GUS_UNIT_ENTRIES, NULL, "strides that it fetches ahead; not said: 2" },
	{ "l1d_banks", GUS_UNIT_ENTRIES, NULL, "banks that conflict; 0: none" },
	{ "l1d_misses", GUS_UNIT_ENTRIES, NULL, "lines in flight to L1 (fill buffers)" },
	{ "l1i_size", GUS_UNIT_KIB, NULL, "of L1 instruction" },
	{ "l1i_ways", GUS_UNIT_WAYS, NULL, "of L1 instruction" },
	{ "l2_size", GUS_UNIT_KIB, NULL, "of L2" },
	{ "l2_ways", GUS_UNIT_WAYS, NULL, "of L2" },
	{ "l2_replacement", GUS_UNIT_POLICY, GUS_REPLACEMENT_WORDS, "as of L1 data" },
	{ "l2_inclusion", GUS_UNIT_POLICY, GUS_INCLUSION_WORDS,
		"whether it holds all that L1 holds, none of it, or either" },
	{ "l2_next_line", GUS_UNIT_ENTRIES, NULL,
		"lines that the prefetcher of L2 fetches behind a miss; 0: none; not said: 2" },
	{ "l2_latency", GUS_UNIT_CYCLES, NULL, "load to use from L2" },
	{ "l2_bandwidth", GUS_UNIT_BYTES, NULL, "a cycle from L2 to L1" },
	{ "l2_misses", GUS_UNIT_ENTRIES, NULL, "lines in flight to L2" },
	{ "l3_size", GUS_UNIT_KIB, NULL, "of L3 that a core can fill" },
	{ "l3_ways", GUS_UNIT_WAYS, NULL, "of L3" },
	{ "l3_replacement", GUS_UNIT_POLICY, GUS_REPLACEMENT_WORDS, "as of L1 data" },
	{ "l3_inclusion", GUS_UNIT_POLICY, GUS_INCLUSION_WORDS,
		"whether it holds all that L2 holds, none of it, or either" },
	{ "l3_latency", GUS_UNIT_CYCLES, NULL, "load to use from L3" },
	{ "l3_bandwidth", GUS_UNIT_BYTES, NULL, "a cycle from L3 to L2" },
	{ "memory_latency", GUS_UNIT_NS, NULL, "load to use from memory" },
	{ "memory_bandwidth", GUS_UNIT_BYTES, NULL, "a cycle from memory to one core" },
	{ "writeback_path", GUS_UNIT_FLAG, NULL, "lines written back go beside those that come, not in their place" },
	{ "dtlb_size", GUS_UNIT_ENTRIES, NULL, "of the first TLB of loads, base pages" },
	{ "dtlb_ways", GUS_UNIT_WAYS, NULL, "of it" },
	{ "dtlb_store_size", GUS_UNIT_ENTRIES, NULL, "of that of stores, where it is another" },
	{ "dtlb_store_ways", GUS_UNIT_WAYS, NULL, "of it" },
	{ "dtlb_huge_size", GUS_UNIT_ENTRIES, NULL, "of the first TLB of 2 MiB pages; 0: they are in the other" },
	{ "dtlb_huge_ways", GUS_UNIT_WAYS, NULL, "of it" },
	{ "itlb_size", GUS_UNIT_ENTRIES, NULL, "of that of instructions" },
	{ "itlb_ways", GUS_UNIT_WAYS, NULL, "of it" },
	{ "stlb_size", GUS_UNIT_ENTRIES, NULL, "of the second TLB" },
	{ "stlb_ways", GUS_UNIT_WAYS, NULL, "of it" },
	{ "stlb_huge", GUS_UNIT_FLAG, NULL, "it has 2 MiB pages as well" },
	{ "stlb_latency", GUS_UNIT_CYCLES, NULL, "more for a hit in the second TLB" },
	{ "page_walk_latency", GUS_UNIT_CYCLES, NULL, "more for a page walk that hits the caches" },
	{ "page_walks", GUS_UNIT_ENTRIES, NULL, "page walks at once" },
	{ "mispredict_penalty", GUS_UNIT_CYCLES, NULL, "from a branch's execution to the issue of the right path" },
	{ "serialise_penalty", GUS_UNIT_CYCLES, NULL,
		"from a serialising instruction's execution to the issue of what follows" },
	{ "indirect_path", GUS_UNIT_ENTRIES, NULL,
		"taken branches before an indirect one that tell where it goes, beside directions; 0: all targets do" },
	{ "branch_histories", GUS_UNIT_ENTRIES, NULL,
		"histories by which conditional branches are predicted that it keeps, in traced runs; 0: 8192" },
	{ "branch_history", GUS_UNIT_ENTRIES, NULL,
		"branches before a conditional one that it is predicted by at most, in traced runs; 0: 256" },
	{ "branch_override", GUS_UNIT_CYCLES, NULL,
		"until what is foreseen at once of a conditional branch is set right by what takes longer" },
	{ "branch_quick", GUS_UNIT_ENTRIES, NULL, "histories that what is foreseen at once goes by, in traced runs" },
	{ "taken_branches", GUS_UNIT_PER_CYCLE, NULL, "taken branches" },
	{ "predicted_branches", GUS_UNIT_PER_CYCLE, NULL, "taken branches that are predicted; 0: no limit" },
	{ "predicted_behind_call", GUS_UNIT_FLAG, NULL,
		"others are found in the same cycle only behind a call or a return" },
	{ "predicted_call", GUS_UNIT_CYCLES, NULL, "more to predict a call or a return, which begins a cycle" },
	{ "branches", GUS_UNIT_PER_CYCLE, NULL, "branches, taken or not" },
	{ "lcp_penalty", GUS_UNIT_CYCLES, NULL, "lost by a length-changing prefix in the legacy decoders" },
	{ "store_forward_latency", GUS_UNIT_CYCLES, NULL, "from a store's data to a load of the same word" },
	{ "store_forward_computed", GUS_UNIT_CYCLES, NULL,
		"the same of data that an operation made, not a load; 0: the same" },
	{ "store_forward_vector", GUS_UNIT_CYCLES, NULL, "the same for vectors" },
	{ "store_forward_address", GUS_UNIT_CYCLES, NULL,
		"from the execution of a store's address to a load of the same word; 0: no more than a load takes" },
	{ "store_forward_blocked", GUS_UNIT_CYCLES, NULL, "the same where forwarding fails" },
	{ "store_forward_wider", GUS_UNIT_FLAG, NULL,
		"a load that begins where the store does and reads more is forwarded" },
	{ "store_forward_zero", GUS_UNIT_POLICY, GUS_STORE_FORWARD_ZERO_WORDS,
		"memory renaming, forwarding at no time: of loads, of moves and updates, of those by equal registers" },
	{ "alias_penalty", GUS_UNIT_CYCLES, NULL,
		"more for a load whose address differs from an earlier store's in high bits only" },
	{ "store_sets", GUS_UNIT_ENTRIES, NULL,
		"of the predictor of stores that a load may not pass, in traced runs; 0: it is always right" },
	{ "line_split_penalty", GUS_UNIT_CYCLES, NULL, "more for an access that crosses a line" },
	{ "page_split_penalty", GUS_UNIT_CYCLES, NULL, "more for an access that crosses a page" },
	{ "vector_width", GUS_UNIT_BYTES, NULL, "of the vector units; wider operations take several uops" },
	{ "bypass_vector", GUS_UNIT_CYCLES, NULL, "between integer and floating-point vector units" },
	{ "move_elimination_int", GUS_UNIT_FLAG, NULL, "moves of 32 and 64 bit general registers" },
	{ "move_elimination_vector", GUS_UNIT_FLAG, NULL, "moves of vector registers" },
	{ "move_elimination_byte", GUS_UNIT_FLAG, NULL, "also those that zero-extend the low byte of a register" },
	{ "move_elimination_same", GUS_UNIT_FLAG, NULL, "also those of a register to itself" },
	{ "move_elimination_slots", GUS_UNIT_ENTRIES, NULL, "moves eliminated at once; 0: no limit" },
	{ "high_byte_merged", GUS_UNIT_FLAG, NULL,
		"ah to dh have no names of their own: writing one waits for the rest" },
	{ "high_byte_latency", GUS_UNIT_CYCLES, NULL, "more for an operation on one of ah to dh" },
	{ "shift_flags_new", GUS_UNIT_FLAG, NULL, "flags of a shift by a register do not wait for what they were" },
	{ "high8_renamed", GUS_UNIT_FLAG, NULL,
		"ah to dh are apart from their registers until those are read: a uop merges them" },
	{ "zero_idiom_int", GUS_UNIT_FLAG, NULL, "xor r, r needs no port" },
	{ "zero_idiom_vector", GUS_UNIT_FLAG, NULL, "the same of vectors" },
	{ "ones_idiom", GUS_UNIT_FLAG, NULL, "pcmpeq x, x waits for nothing" },
	{ "immediate_add_elimination", GUS_UNIT_FLAG, NULL, "add r, small immediate needs no port" },
	{ "stack_engine", GUS_UNIT_FLAG, NULL, "push and pop change rsp without a uop" },
	{ "macro_fusion", GUS_UNIT_POLICY, "none test_cmp test_cmp_add all", "which firsts fuse with a branch" },
	{ "macro_fusion_alu", GUS_UNIT_FLAG, NULL,
		"a fused first that writes a register has its own port beside that of the branch" },
	{ "nop_fusion", GUS_UNIT_FLAG, NULL, "two neighbouring nops are one uop" },
	{ "micro_fusion_indexed", GUS_UNIT_POLICY, "yes no rmw",
		"whether indexed addresses stay fused: no; only where the "
	  "destination is also a source" },
	{ "micro_fusion", GUS_UNIT_FLAG, NULL, "a load and its operation are one uop in front and at the end" },
	{ "indexed_store_on_load_ports", GUS_UNIT_FLAG, NULL,
		"the address unit that is for stores alone takes no indexed "
	  "addresses" },
	{ "unlaminate", GUS_UNIT_POLICY, "inputs operands none",
		"by which count of registers micro-fused uops are split at "
	  "issue" },
	{ "port_binding", GUS_UNIT_POLICY, "fewest alternate round_robin slots ranks rotate turns any",
		"how a uop gets its port; slots: even issue slots take the least loaded port, odd ones the second "
		"least; turns: of integer uops in turn, of others any; any: whichever of its ports is free first" },
	{ "divider_pipelined", GUS_UNIT_FLAG, NULL, "divisions overlap" },
	{ "smt_threads", GUS_UNIT_ENTRIES, NULL, "threads of a core" },
	{ NULL, 0, NULL, NULL },
};

const char *gus_uarch_unit_name(enum gus_uarch_unit unit)
{
	static const char *const names[GUS_UNIT_COUNT] = {
		"uops", "instructions", "cycles", "ns", "entries", "ways", "bytes", "KiB", "per_cycle", "flag",
			"policy",
	};

	return unit < GUS_UNIT_COUNT ? names[unit] : NULL;
}

const char *gus_uarch_operand_prefix(enum gus_uarch_operand kind)
{
	static const char *const prefixes[GUS_UARCH_OPERAND_KINDS] = { "", "m", "a" };

	return kind < GUS_UARCH_OPERAND_KINDS ? prefixes[kind] : NULL;
}

void gus_uarch_free(struct gus_uarch *u)
{
	void *lists[] = { u ? u->aliases : NULL, u ? u->likes : NULL, u ? u->files : NULL, u ? u->units : NULL,
			  u ? u->sources : NULL, u ? u->params : NULL, u ? u->groups : NULL, u ? u->rows : NULL,
			  u ? u->forms : NULL, u ? u->classes : NULL, u ? u->uses : NULL, u ? u->pairs : NULL,
			  u ? u->valids : NULL, u ? u->fits : NULL };

	if (!u)
		return;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		free(lists[i]);
	gus_index_free(&u->own->forms);
	gus_strings_free(&u->own->strings);
	free(u->own);
	free(u);
}

/* Lookups by text compare texts: tables are asked by text a few times, by people. */

const struct gus_uarch_form *gus_uarch_form(const struct gus_uarch *u, uint64_t hash)
{
	uint32_t n = gus_index_find(&u->own->forms, &hash);

	return n == GUS_INDEX_NONE ? NULL : &u->forms[n];
}

const struct gus_uarch_form *gus_uarch_form_by_text(const struct gus_uarch *u, const char *text)
{
	const struct gus_uarch_form *form = gus_uarch_form(u, gus_insn_form_hash(text, strlen(text)));

	return form && strcmp(form->text, text) == 0 ? form : NULL;
}

const struct gus_uarch_row *gus_uarch_row(const struct gus_uarch *u, uint64_t hash)
{
	const struct gus_uarch_form *form = gus_uarch_form(u, hash);

	return form && form->row != GUS_UARCH_NONE ? &u->rows[form->row] : NULL;
}

const struct gus_uarch_class *gus_uarch_class(const struct gus_uarch *u, const char *name)
{
	for (uint32_t i = 0; i < u->classes_n; i++)
		if (strcmp(u->classes[i].name, name) == 0)
			return &u->classes[i];
	return NULL;
}

/* Asked some forty times for each program, so most names are told apart without a call. */
const struct gus_uarch_param *gus_uarch_param(const struct gus_uarch *u, const char *name)
{
	for (uint32_t i = 0; i < u->params_n; i++) {
		const char *known = gus_uarch_params[u->params[i].kind].name;

		if (*known == *name && strcmp(known, name) == 0)
			return &u->params[i];
	}
	return NULL;
}

double gus_uarch_value(const struct gus_uarch *u, const char *name, double otherwise)
{
	const struct gus_uarch_param *param = gus_uarch_param(u, name);

	return param ? param->value : otherwise;
}

const char *gus_uarch_valid_value(const struct gus_uarch *u, const char *key)
{
	for (uint32_t i = 0; i < u->valids_n; i++)
		if (strcmp(u->valids[i].key, key) == 0)
			return u->valids[i].value;
	return NULL;
}

const struct gus_uarch_valid *gus_uarch_misfit(const struct gus_uarch *u, const struct gus_uarch_valid *host, size_t n)
{
	for (uint32_t i = 0; i < u->valids_n; i++) {
		const struct gus_uarch_valid *valid = &u->valids[i];
		bool same = false;

		for (size_t k = 0; k < n && !same; k++)
			same = strcmp(host[k].key, valid->key) == 0 && strcmp(host[k].value, valid->value) == 0;
		if (!same)
			return valid;
	}
	return NULL;
}

uint32_t gus_uarch_use_uops(const struct gus_uarch_use *use, uint32_t uops)
{
	uint32_t n = (use->cycles + GUS_UARCH_CENTI / 2) / GUS_UARCH_CENTI;

	n = n ? n : 1;
	return uops && n > uops ? uops : n;
}

uint32_t gus_uarch_group(const struct gus_uarch *u, const char *name)
{
	for (uint32_t i = 0; i < u->groups_n; i++)
		if (strcmp(u->groups[i].name, name) == 0)
			return i;
	return GUS_UARCH_NONE;
}

/* Whether a / b is more than c / d, exactly. */
static bool more(uint64_t a, uint32_t b, uint64_t c, uint32_t d)
{
	return (unsigned __int128)a * d > (unsigned __int128)c * b;
}

struct gus_uarch_bound gus_uarch_bound_conjunctive(const struct gus_uarch *u, const struct gus_uarch_use *uses,
						   size_t n)
{
	struct gus_uarch_bound best = { 0, 1, GUS_UARCH_NONE };

	for (uint32_t g = 0; g < u->groups_n; g++) {
		const struct gus_uarch_group *group = &u->groups[g];
		uint64_t inside = 0;

		for (size_t i = 0; i < n; i++)
			if (!(u->groups[uses[i].group].ports & ~group->ports))
				inside += uses[i].cycles;
		if (more(inside, group->size, best.centi, best.ports))
			best = (struct gus_uarch_bound){ inside, group->size, g };
	}
	return best;
}

double gus_uarch_throughput(const struct gus_uarch *u, const struct gus_uarch_row *row)
{
	const struct gus_uarch_use *uses = row->uses_n ? u->uses + row->uses : NULL;
	struct gus_uarch_bound bound = gus_uarch_bound_conjunctive(u, uses, row->uses_n);
	double longest = (double)bound.centi / bound.ports;

	for (uint32_t i = 0; i < row->units_n; i++)
		if (u->uses[row->units + i].cycles > longest)
			longest = u->uses[row->units + i].cycles;
	return longest / GUS_UARCH_CENTI;
}
