/* SPDX-License-Identifier: MIT */
#include "model/code/forwarding.h"

#include "model/machine/config.h"

/* A store's entry has one address and its bytes in a row; a load is served by a single entry, and only if that has all
 * of its bytes (Intel, Optimization Reference Manual, "Store Forwarding"; AMD, Software Optimization Guide, "Load
 * Execution Unit"). Addresses wrap, so the distances are unsigned. */
static bool is_blocked(const struct gus_overlap *o)
{
	uint64_t apart = o->load - o->store;

	return apart >= o->store_bytes || apart + o->load_bytes > o->store_bytes;
}

static bool reads_general(const struct gus_program *p, uint32_t insn)
{
	const struct gus_insn_info *info = &p->insns[insn].info;

	for (unsigned i = 0; i < info->access_count && p->isa == GUS_ISA_X86_64; i++)
		if ((info->access[i].use & GUS_ACCESS_READ) && !(info->access[i].use & GUS_ACCESS_ADDRESS) &&
		    info->access[i].reg >= GUS_X86_RAX && info->access[i].reg <= GUS_X86_R15)
			return true;
	return false;
}

/* Memory renaming: a load that is predicted to read a whole word that a store in flight wrote gets it from the register
 * that was stored, at no latency. Seen on Golden Cove with any address, but not where a register is added to memory. */
static bool is_renamed(const struct gus_core_config *c, const struct gus_program *p, const struct gus_op *op,
		       const struct gus_overlap *o)
{
	if (!c->store_forward_zero || o->store != o->load || o->store_bytes != o->load_bytes || o->load_bytes > 8 ||
	    o->load_bytes < 4)
		return false;
	return !(op->stores && op->loads && reads_general(p, op->insn));
}

enum gus_forwarding gus_forwarding_of(const struct gus_core_config *c, const struct gus_program *p,
				      const struct gus_op *op, const struct gus_overlap *o)
{
	if (is_blocked(o))
		return GUS_FORWARD_BLOCKED;
	if (is_renamed(c, p, op, o))
		return GUS_FORWARD_RENAMED;
	return o->store_bytes > 8 && c->store_forward_vector ? GUS_FORWARD_VECTOR : GUS_FORWARD_WORD;
}

uint32_t gus_forwarding_cycles(const struct gus_core_config *c, enum gus_forwarding kind)
{
	const uint32_t cycles[GUS_FORWARDINGS] = { 0, c->store_forward_latency, c->store_forward_vector,
						  c->store_forward_blocked };

	return cycles[kind];
}
