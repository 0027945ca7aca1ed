/* SPDX-License-Identifier: MIT */
#include "model/code/forwarding.h"

#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/tables/policies.h"

/* A store's entry has one address and its bytes in a row; a load is served by a single entry, and only if that has all
 * of its bytes (Intel, Optimization Reference Manual, "Store Forwarding"; AMD, Software Optimization Guide, "Load
 * Execution Unit"). On Golden Cove loops are not held up either where the load begins with the store's first byte and
 * reads more (store_forward_wider); how it comes by the rest is not known. Addresses wrap, so the distances are
 * unsigned. */
static bool is_blocked(const struct gus_core_config *c, const struct gus_overlap *o)
{
	uint64_t apart = o->load - o->store;

	if (!apart && c->store_forward_wider)
		return false;
	return apart >= o->store_bytes || apart + o->load_bytes > o->store_bytes;
}

static bool is_general(unsigned reg)
{
	return reg >= GUS_X86_RAX && reg <= GUS_X86_R15;
}

static bool reads_general(const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_READ) && !(info->access[i].use & GUS_ACCESS_ADDRESS) &&
		    is_general(info->access[i].reg))
			return true;
	return false;
}

/* A move of the word and nothing else: no extension of it, no operation on it. */
static bool copies(const struct gus_insn_info *info)
{
	for (unsigned i = 0; info->class == GUS_INSN_LOAD && info->memory_count == 1 && i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_WRITE) && is_general(info->access[i].reg) &&
		    info->access[i].bits == info->memory[0].bits)
			return true;
	return false;
}

enum { WORD = 2 };

/* Memory renaming: a load that is predicted to read what a store in flight wrote gets it from the register that was
 * stored, at no latency. What is renamed differs (enum gus_store_forward_zero); in common is that word and register are
 * general ones and that the load begins where the store begins.
 *
 *	based     Zen 2: by the text of the address, before it is known. Both have the same registers, the base is no
 *	          rip, and the displacement is a multiple of the size (Agner Fog, forum, "Surprising new feature in
 *	          AMD Ryzen 3000", and his microarchitecture manual; D. Zhuravlev, understanding_software_dynamics)
 *	updates   Zen 3 and 4: whatever the address (Zhuravlev's Zen 3 has the time of it with any displacement; Zen 4
 *	          was timed here, with other base registers, rip and unaligned displacements as well)
 *	loads     Golden Cove and later: any load, also of bytes and with an operation behind (J. Chen, jia.je), but not
 *	          where a register is added to memory, nor of words (own timing of Raptor Cove)
 *
 * Both of AMD's: of four and eight bytes, moves and what modifies memory in place; not an operation on a register with
 * memory (timed here: add rax, [rbx] on what was stored 8.1, add [rbx], rax 1.02, the same of words 7.3). */
static bool is_renamed(enum gus_store_forward_zero policy, const struct gus_program *p, const struct gus_op *op,
		       const struct gus_overlap *o)
{
	const struct gus_program_memory *store = &p->memories[o->store_memory], *load = &p->memories[o->load_memory];
	const struct gus_insn_info *info = &p->insns[op->insn].info;
	bool updates = op->loads && op->stores;

	if (policy == GUS_STORE_FORWARD_ZERO_NO || p->isa != GUS_ISA_X86_64 || o->store != o->load ||
	    o->load_bytes > o->store_bytes || store->vector || load->vector)
		return false;
	if (policy == GUS_STORE_FORWARD_ZERO_LOADS)
		return o->load_bytes != WORD && !(updates && reads_general(info));
	if (o->load_bytes <= WORD || !(updates || copies(info)))
		return false;
	return policy == GUS_STORE_FORWARD_ZERO_UPDATES ||
		(is_general(load->base) && load->base == store->base && load->index == store->index &&
		 load->scale == store->scale && load->displacement % o->load_bytes == 0);
}

enum gus_forwarding gus_forwarding_of(const struct gus_core_config *c, const struct gus_program *p,
				      const struct gus_op *op, const struct gus_overlap *o)
{
	if (is_blocked(c, o))
		return GUS_FORWARD_BLOCKED;
	if (is_renamed((enum gus_store_forward_zero)c->store_forward_zero, p, op, o))
		return GUS_FORWARD_RENAMED;
	if (o->store_bytes > 8 && c->store_forward_vector)
		return GUS_FORWARD_VECTOR;
	return p->memories[o->store_memory].computed && c->store_forward_computed ? GUS_FORWARD_COMPUTED :
		GUS_FORWARD_WORD;
}

uint32_t gus_forwarding_cycles(const struct gus_core_config *c, enum gus_forwarding kind)
{
	const uint32_t cycles[GUS_FORWARDINGS] = { 0, c->store_forward_latency, c->store_forward_computed,
						  c->store_forward_vector, c->store_forward_blocked };

	return cycles[kind];
}
