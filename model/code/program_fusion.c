/* SPDX-License-Identifier: MIT */
/* Pairs that travel as one, of two sorts.
 *
 * Micro-fusion: one instruction's load and operation, or a store's address and data, are one fused uop from the
 * decoders to the reorder buffer, and two in the scheduler. Where the instruction has more registers than the entry has
 * room for, it is undone when it is issued ("unlamination"): it then takes two slots, and the uop cache still holds it
 * as one. The rules are those that the thesis measured (Palomares 2015, 7.4.3 and Table 5.1): Sandy and Ivy Bridge undo
 * it for all indexed addresses, Haswell and later for those that are not plain read-modify-write of one register.
 *
 * Macro-fusion: a comparison and the branch behind it become one op. Which pairs is up to the first's kind, the flags
 * that the branch reads, and the CPU (symbolizer/insn/insn.h has the kinds). Some CPUs join neighbouring nops, too. */
#include <assert.h>
#include <string.h>

#include "model/code/program_private.h"

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Whether it is a plain operation of one register and memory (`add rax, [rdi+rcx]`): one operand that is read, and
 * written or not. */
static bool is_one_register(const struct gus_insn_info *info)
{
	unsigned operands = 0;
	bool reads = false;

	if (info->flags & (GUS_INSN_VEX | GUS_INSN_EVEX))
		return false; /* three operands, though two of them may be one register */
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if (a->use & (GUS_ACCESS_ADDRESS | GUS_ACCESS_IMPLICIT)) /* the flags are implicit */
			continue;
		operands++;
		reads |= (a->use & GUS_ACCESS_READ) != 0;
	}
	return operands == 1 && reads;
}

/* Whether the address has an index that the fused entry has no room for (parameter micro_fusion_indexed: "no" is Sandy
 * and Ivy Bridge, "rmw" Haswell and later, none or "yes" all others). */
static bool unlaminates(const struct builder *b, const struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	bool indexed = false;

	/* The vector index of a gather is an operand of its own uops. */
	for (unsigned i = 0; i < info->memory_count; i++)
		indexed |= info->memory[i].index != 0 && !(info->memory[i].use & GUS_ACCESS_GATHER);
	if (!indexed)
		return false;
	/* A store alone stays fused where only reads and modifications count. */
	return b->rules.indexed_never || (b->rules.indexed_rmw && l->loads && !is_one_register(info));
}

/* How they travel is what UFS calls slots of the RAT: what has one slot takes one place of the issue width and, where
 * the table says so (rob_fused), one entry of the reorder buffer. For add [rdi+rcx], rax, of four uops in two pairs:
 *
 *	stays fused (Haswell)         load + compute | address + data          2 slots
 *	undone      (Sandy Bridge)    load | compute | address | data          4 slots
 *
 * Which uop travels with the one before it: an operation with its load, data with its address. Slots are in the order
 * of uops, so that who needs a result always comes behind it. If the row claims fewer slots than there are such pairs,
 * the last slot takes what is left. */
static void assign_slots(struct builder *b, const struct gus_op *op, bool split)
{
	unsigned joins = op->uops_n > op->slots ? op->uops_n - op->slots : 0, slot = 0;

	for (unsigned i = 1; i < op->uops_n; i++) {
		struct gus_uop *uop = &b->uops.v[op->uop + i], *before = uop - 1;
		bool data = uop->kind == GUS_UOP_STORE_DATA && before->kind == GUS_UOP_STORE_ADDRESS;
		bool operation = uop->kind == GUS_UOP_COMPUTE && before->kind == GUS_UOP_LOAD && !split;

		if (joins && (data || operation))
			joins--;
		else if (slot + 1u < op->slots)
			slot++;
		uop->slot = (uint16_t)slot;
	}
}

/* As many fused uops as the row says, else as the pairs make; without micro-fusion (AMD's and Arm's macro-ops hold a
 * load and its operation anyway) as many as the row has. */
void gus_program_fuse_micro(struct builder *b, const struct lowered *l)
{
	struct gus_op *op = l->op;
	const unsigned uops = op->uops_n, operations = least(l->loads, l->computes);
	const unsigned pairs = operations + least(l->addresses, l->stores);
	unsigned fused = b->rules.micro_fusion ? uops - pairs : l->uops;
	bool split;

	if (l->fused)
		fused = l->fused;
	if (!fused)
		fused = 1; /* it is renamed and retired, whatever executes it */
	split = b->rules.micro_fusion && fused < uops && unlaminates(b, l);
	op->fused = (uint16_t)fused;
	op->slots = (uint16_t)fused;
	if (split) /* Haswell keeps the store of such an instruction together */
		op->slots = (uint16_t)least(fused + (b->rules.indexed_rmw ? operations : pairs), uops);
	assign_slots(b, op, split);
}

/* By the first's kind (enum gus_fuse_first): the least of the table's policies under which it fuses, and with which
 * branches. */
#define ANY_BRANCH UINT32_MAX
#define BRANCH(second) (1u << (second))
static const struct { uint8_t policy; uint32_t seconds; } x86_firsts[] = {
	[GUS_FUSE_TEST] = { FUSION_TEST_CMP, ANY_BRANCH },
	[GUS_FUSE_CMP] = { FUSION_TEST_CMP, ANY_BRANCH & ~BRANCH(GUS_FUSE_ONE_FLAG) },
	[GUS_FUSE_AND] = { FUSION_TEST_CMP_ADD, ANY_BRANCH },
	[GUS_FUSE_ADD_SUB] = { FUSION_TEST_CMP_ADD, ANY_BRANCH & ~BRANCH(GUS_FUSE_ONE_FLAG) },
	[GUS_FUSE_INC_DEC] = { FUSION_TEST_CMP_ADD, BRANCH(GUS_FUSE_ZERO) | BRANCH(GUS_FUSE_SIGNED) },
	[GUS_FUSE_LOGIC] = { FUSION_ALL, ANY_BRANCH },
	[GUS_FUSE_COMPARE_ZERO] = { FUSION_NONE, 0 }, /* the last; arm64's have no branches here */
};

/* What the software optimization guides of Cortex and Neoverse cores name: a comparison with the branch on its flags,
 * and the two halves of a round of AES. */
static bool fuses_on_arm64(const struct gus_insn_info *first, const struct gus_insn_info *second)
{
	if (first->fuse_first == GUS_FUSE_FLAGS)
		return second->fuse_second == GUS_FUSE_COND && second->class == GUS_INSN_BRANCH_COND;
	return first->fuse_first == GUS_FUSE_AES && second->fuse_second == GUS_FUSE_AESMC;
}

static bool fuses(const struct builder *b, const struct gus_insn_info *first, const struct gus_insn_info *second)
{
	if (b->rules.fusion == FUSION_NONE || !second->fuse_second)
		return false;
	if (!b->rules.x86)
		return fuses_on_arm64(first, second);
	/* Memory with an immediate, or relative to rip with one, is more than the decoders can join. */
	if (first->memory_count && (first->flags & GUS_INSN_IMMEDIATE))
		return false;
	return b->rules.fusion >= x86_firsts[first->fuse_first].policy &&
		(x86_firsts[first->fuse_first].seconds & BRANCH(second->fuse_second));
}

bool gus_program_may_fuse(const struct builder *b, const struct gus_insn_info *info)
{
	static const struct gus_insn_info if_zero = { .fuse_second = GUS_FUSE_ZERO, .class = GUS_INSN_BRANCH_COND };

	return b->rules.x86 && fuses(b, info, &if_zero); /* je: what fuses at all fuses with it */
}

/* The last computing uop of an op; NULL: it has none. */
static struct gus_uop *last_computing(struct builder *b, const struct gus_op *op)
{
	for (unsigned i = op->uops_n; i-- > 0;)
		if (b->uops.v[op->uop + i].kind == GUS_UOP_COMPUTE)
			return &b->uops.v[op->uop + i];
	return NULL;
}

static bool writes_register(const struct builder *b, const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_WRITE) && !gus_program_is_flag(b, info->access[i].reg))
			return true;
	return false;
}

/* The branch keeps its uop, in the slot of the other's last one. It does not wait for that one but for the same: both
 * have the operands, and what a misprediction costs is then the same as if one uop did both. It gives nothing. */
static void keep_branch(struct builder *b, struct gus_op *first, const struct gus_op *branch,
			const struct gus_uop *compares, struct gus_uop *branches)
{
	assert(first->uop + first->uops_n == branch->uop); /* none has been inserted yet */
	gus_program_begin_in(b, branches);
	for (unsigned i = 0; i < compares->in_n; i++)
		gus_program_add_flow(b, b->flows.v[compares->in + i].reg, b->flows.v[compares->in + i].cycles);
	gus_program_end_in(b, branches);
	branches->out_n = 0;
	branches->slot = compares->slot;
	first->uops_n = (uint16_t)(first->uops_n + branch->uops_n);
}

/* One uop compares and branches, and only ports with a branch unit can do that: the branch loses its uop; the last
 * computing uop of the first goes where the branch would have gone. Where branch units have no way to a register
 * (macro_fusion_alu), a first that writes one has a port of its own beside that. */
static void fuse_pair(struct builder *b, struct gus_op *first, const struct gus_op *branch)
{
	struct gus_uop *compares = last_computing(b, first), *branches = last_computing(b, branch);

	if (compares && branches && b->rules.fusion_alu && writes_register(b, &b->insns.v[first->insn].info))
		keep_branch(b, first, branch, compares, branches);
	else if (compares && branches && branches->ports)
		compares->ports = branches->ports;
	first->flags = (uint16_t)((first->flags & ~GUS_OP_FUSIBLE) | branch->flags);
	first->insns_n = 2;
}

/* What takes a slot and nothing else. */
static bool is_empty(const struct builder *b, const struct gus_op *op)
{
	const struct gus_insn_info *info = &b->insns.v[op->insn].info;

	return info->class == GUS_INSN_NOP && op->uops_n == 1 && !b->uops.v[op->uop].ports && op->slots == 1 &&
		!(info->flags & GUS_INSN_SERIALISING);
}

/* From the first to the last, as decoders see them: an instruction that has become the second of a pair is no first. A
 * first that the renamer does (a register made zero) has nothing that a branch could travel with: beside a branch it is
 * none of these (24 pairs of xor and jne on four registers take 12.5 cycles on a Zen 4, those of two branches a
 * cycle). */
void gus_program_fuse_macro(struct builder *b, size_t from)
{
	for (size_t i = from; i + 1 < b->ops.n; i++) {
		struct gus_op *first = &b->ops.v[i], *second = first + 1;
		const uint32_t insn = second->insn;

		if (fuses(b, &b->insns.v[first->insn].info, &b->insns.v[insn].info) &&
		    !(first->flags & GUS_OP_IDIOM))
			fuse_pair(b, first, second);
		else if (b->rules.nop_fusion && is_empty(b, first) && is_empty(b, second))
			first->insns_n = 2;
		else
			continue;
		memmove(second, second + 1, (b->ops.n - i - 2) * sizeof(*second));
		b->ops.n--;
		for (size_t k = insn; k < b->insns.n; k++) /* the second itself, and what follows */
			b->insns.v[k].op--;
	}
}

void gus_program_settle_rob(struct builder *b, size_t from)
{
	for (size_t i = from; i < b->ops.n; i++) {
		struct gus_op *op = &b->ops.v[i];

		op->rob = b->rules.rob_fused || op->slots > op->uops_n ? op->slots : op->uops_n;
	}
}
