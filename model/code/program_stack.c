/* SPDX-License-Identifier: MIT */
/* The stack engine. After push and pop the decoders hold an offset to rsp and no uop has added it; who then looks at
 * rsp itself makes them insert a uop that does. Where the code comes again, the offset at its start is what it is at
 * its end; else there is none at the start.
 *
 *	push rax        offset -8
 *	push rbx        offset -16
 *	mov rcx, rsp    looks: a uop adds -16 to rsp, then the move waits for it; no offset any more
 *	mov rbx, rsp    no offset, no uop
 *
 * Intel's Optimization Reference Manual (stack pointer tracker) says that it is so. That the offset has a limit, and
 * many pushes need a uop by themselves, is not followed. */
#include "model/code/program_private.h"
#include "model/tables/uarch.h"

/* Whether the instruction has rsp as an operand of that use, other than by pushing and popping. */
static bool uses_stack_pointer(const struct builder *b, const struct gus_insn_info *info, unsigned use)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].reg == gus_program_stack_pointer(b) && (info->access[i].use & use))
			return true;
	return false;
}

static uint64_t addition_ports(const struct builder *b)
{
	const struct gus_uarch_row *row = gus_program_addition(b->u);
	uint64_t ports = 0;

	for (uint32_t i = 0; row && i < row->uses_n; i++)
		ports |= b->u->groups[b->u->uses[row->uses + i].group].ports;
	return ports;
}

/* The uops of an op lie behind each other, so it gets new ones: the inserted one, in a slot before the others, and
 * copies of its own. Those that they replace stay where they are, and no op has them. */
void gus_program_insert(struct builder *b, struct gus_op *op, unsigned reg, uint64_t ports)
{
	uint32_t first = (uint32_t)b->uops.n;
	struct gus_uop uop = { .ports = ports, .kind = GUS_UOP_COMPUTE, .port_cycles = 1, .latency = 1 };

	if (!uop.ports)
		return;
	gus_program_begin_in(b, &uop);
	gus_program_add_flow(b, reg, 0);
	gus_program_end_in(b, &uop);
	gus_program_add_flow(b, reg, 1);
	gus_program_end_out(b, &uop);
	for (unsigned i = 0; i < op->uops_n; i++) {
		struct gus_uop copy = b->uops.v[op->uop + i];

		copy.slot++;
		gus_vec_push(&b->uops, copy);
	}
	op->uop = first;
	op->uops_n++;
	op->slots++;
	op->results[GUS_REGFILE_INT]++;
}

/* Whether the decoders hold an offset behind this op, if they did before it. *looks: somebody needs it added. Who
 * writes rsp without reading it throws the offset away. */
static bool offset_behind(const struct builder *b, const struct gus_op *op, bool offset, bool *looks)
{
	const struct gus_insn_info *info = &b->insns.v[op->insn].info;

	*looks = false;
	if ((info->flags & GUS_INSN_STACK) && info->class != GUS_INSN_OTHER)
		return true;
	*looks = offset && !(info->flags & GUS_INSN_STACK) && uses_stack_pointer(b, info, GUS_ACCESS_READ);
	return offset && !*looks && !uses_stack_pointer(b, info, GUS_ACCESS_WRITE);
}

void gus_program_add_syncs(struct builder *b, size_t from, bool again)
{
	bool offset = false, looks;

	if (!b->rules.stack_engine)
		return;
	for (size_t i = from; again && i < b->ops.n; i++)
		offset = offset_behind(b, &b->ops.v[i], offset, &looks);
	for (size_t i = from; i < b->ops.n; i++) {
		offset = offset_behind(b, &b->ops.v[i], offset, &looks);
		if (looks)
			gus_program_insert(b, &b->ops.v[i], gus_program_stack_pointer(b), addition_ports(b));
	}
}
