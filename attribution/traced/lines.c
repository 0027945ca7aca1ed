/* SPDX-License-Identifier: MIT */
#include "attribution/traced/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/traced.h"
#include "model/code/program.h"
#include "symbolizer/insn/insn.h"

static struct gus_traced_line line_of(const struct gus_traced *t, const struct gus_traced_block *b, uint32_t i,
				      uint64_t offset)
{
	const struct gus_program_insn *insn = &t->program->insns[b->insn + i];
	const struct gus_op *op = &t->program->ops[insn->op];
	struct gus_traced_line line = { .address = insn->offset, .executed = b->executed,
		.fused = op->insn != b->insn + i };
	struct gus_insn text;

	if (!line.fused) {
		line.own = t->op_cycles[insn->op];
		line.charged = t->op_charged[insn->op];
		if (insn->op == b->ops.op + b->ops.ops_n - 1 && b->ops.taken != insn->op) {
			line.own += t->op_cycles[b->ops.taken];
			line.charged += t->op_charged[b->ops.taken];
		}
	}
	for (uint32_t m = op->memory; m < op->memory + op->memories_n; m++)
		if (op->insn + t->program->memories[m].instruction == b->insn + i) {
			line.accesses += t->memories.v[m].accesses;
			line.missed += t->memories.v[m].accesses - t->memories.v[m].hits[0];
		}
	if (i + 1 == b->insns_n) {
		line.branches = b->branches;
		line.mispredicted = b->mispredicted;
	}
	gus_insn_decode(t->isa, b->bytes + offset, b->size - offset, insn->offset, &text);
	snprintf(line.text, sizeof(line.text), "%s", text.text);
	return line;
}

static void add_line(struct gus_traced_line *to, const struct gus_traced_line *from)
{
	to->executed += from->executed;
	to->accesses += from->accesses;
	to->missed += from->missed;
	to->branches += from->branches;
	to->mispredicted += from->mispredicted;
	to->samples += from->samples;
	to->own += from->own;
	to->charged += from->charged;
	to->fused &= from->fused;
}

static int by_address(const void *a, const void *b)
{
	const struct gus_traced_line *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) : strcmp(x->text, y->text);
}

void gus_traced_lines_find(const struct gus_traced *t, uint32_t region, const uint64_t *samples,
			   struct gus_traced_lines *lines)
{
	size_t n = 0;

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		uint64_t offset = 0;

		for (uint32_t k = 0; b->region == region && b->executed && k < b->insns_n; offset += b->lengths[k++]) {
			gus_vec_push(lines, line_of(t, b, k, offset));
			lines->v[lines->n - 1].samples = samples ? samples[b->insn + k] : 0;
		}
	}
	if (lines->n)
		qsort(lines->v, lines->n, sizeof(*lines->v), by_address);
	for (size_t i = 0; i < lines->n; i++) {
		if (n && by_address(&lines->v[n - 1], &lines->v[i]) == 0)
			add_line(&lines->v[n - 1], &lines->v[i]);
		else
			lines->v[n++] = lines->v[i];
	}
	lines->n = n;
}
