/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/calibration/micro.h"
#include "model/code/uop_lines.h"
#include "model/oracles/oracle.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/golden/machine.h"

struct lengths gus_vec(uint8_t);

/* An instruction of the body; false with err if there is none. */
static bool analyse(const struct gus_micro *k, uint32_t at, struct gus_insn_info *info, struct gus_error *err)
{
	if (gus_insn_analyse(k->isa, k->code.v + at, k->end - at, info) && info->class != GUS_INSN_BAD)
		return true;
	gus_fail(err, GUS_E_CORRUPT, "cannot run \"%s\": there is no instruction at byte %u of its code",
		 k->name, at);
	return false;
}

static uint32_t jump_at(const struct gus_micro *k, uint32_t at)
{
	for (uint32_t i = 0; i < k->jumps.n; i++)
		if (k->jumps.v[i].from == at)
			return i;
	return GOLDEN_CODE_NONE;
}

static bool is_target(const struct gus_micro *k, uint32_t at)
{
	for (uint32_t i = 0; i < k->jumps.n; i++)
		if (k->jumps.v[i].to == at)
			return true;
	return false;
}

/* The next access is this instruction's operand: who reads and writes a place has one. */
static void name_accesses(struct golden_code *m, uint32_t insn, uint32_t *next)
{
	const struct gus_program_insn *i = &m->program->insns[insn];
	const struct gus_op *op = &m->program->ops[i->op];
	uint32_t first = *next;

	for (unsigned n = 0; n < i->info.memory_count; n++)
		*next += (i->info.memory[n].use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE)) != 0;
	for (uint32_t a = op->memory; a < op->memory + op->memories_n; a++) {
		const struct gus_program_memory *memory = &m->program->memories[a];

		if (op->insn + memory->instruction != insn)
			continue;
		m->insn_of.v[a] = insn;
		/* Of two operands, as string instructions have them, what is written comes first. */
		m->access_of.v[a] = *next - first == 2 ? first + !memory->store : first;
	}
}

/* See measure_windows of attribution/traced/code.c. */
static void measure_windows(struct golden_code *m, const struct gus_core_config *c, const struct golden_code_block *b)
{
	const uint64_t bytes = m->window_bytes;
	const uint64_t together = c->uop_cache_block > bytes ? c->uop_cache_block : bytes;
	uint8_t *lines = m->window_lines.v + b->window;
	struct gus_uop_lines l = { 0 };
	uint64_t refused = UINT64_MAX;

	for (uint32_t i = 0; i < b->ops.ops_n && bytes && c->uop_cache_line; i++) {
		const struct gus_op *op = &m->program->ops[b->ops.op + i];
		uint64_t address = m->program->insns[op->insn].offset, at = address / bytes - b->address / bytes;

		gus_uop_lines_put(&l, c, op, address, false);
		lines[at] = (uint8_t)(l.lines < UINT8_MAX ? l.lines : UINT8_MAX);
		if (gus_uop_lines_refuses(c, m->program, op) || (c->uop_cache_lines && l.lines > c->uop_cache_lines))
			refused = address / together;
		for (uint64_t w = at + 1; w-- > 0 && (b->address / bytes + w) * bytes / together == refused;)
			lines[w] = 0;
	}
}

static void add_block(struct golden_code *m, const struct gus_core_config *c, uint32_t start, uint32_t end,
		      const struct lengths *lengths, uint32_t *access)
{
	struct golden_code_block b = { .address = GOLDEN_CODE_START + start, .size = end - start,
		.insns_n = (uint32_t)lengths->n, .memory = m->program->memories_n, .windows_n = 1,
		.window = (uint32_t)m->window_lines.n, .jump = GOLDEN_CODE_NONE };
	uint32_t insn = m->program->insns_n;
	const struct gus_program_insn *last;

	b.ops = gus_growing_add(m->growing, m->micro->code.v + start, lengths->v, b.size, b.address);
	b.memories_n = m->program->memories_n - b.memory;
	for (uint32_t i = 0; i < b.memories_n; i++) {
		gus_vec_push(&m->access_of, GOLDEN_CODE_NONE);
		gus_vec_push(&m->insn_of, 0);
	}
	for (uint32_t i = 0; i < b.insns_n; i++)
		name_accesses(m, insn + i, access);
	if (m->window_bytes)
		b.windows_n = (uint32_t)((b.address + b.size - 1) / m->window_bytes - b.address / m->window_bytes + 1);
	for (uint32_t i = 0; i < b.windows_n; i++)
		gus_vec_push(&m->window_lines, 1);
	measure_windows(m, c, &b);
	last = &m->program->insns[insn + b.insns_n - 1];
	b.branch = (m->program->ops[b.ops.taken].flags & GUS_OP_BRANCH) != 0;
	b.kind = gus_oracle_branch_kind(m->program, b.ops.taken);
	b.branch_from = last->offset;
	b.branch_to = b.address + b.size + (uint64_t)last->info.immediate;
	b.jump = jump_at(m->micro, (uint32_t)(b.branch_from - GOLDEN_CODE_START));
	m->ops_most += b.ops.ops_n;
	gus_vec_push(&m->blocks, b);
}

static int cut(struct golden_code *m, const struct gus_core_config *c, struct gus_error *err)
{
	const struct gus_micro *k = m->micro;
	uint32_t start = k->loop, at = k->loop, access = 0;
	struct lengths lengths = { 0 };
	struct gus_insn_info info;

	while (at < k->end && analyse(k, at, &info, err)) {
		bool branch = info.class >= GUS_INSN_BRANCH_COND && info.class <= GUS_INSN_RET;

		gus_vec_push(&lengths, info.length);
		at += info.length;
		if (!branch && at < k->end && !is_target(k, at))
			continue;
		add_block(m, c, start, at, &lengths, &access);
		lengths.n = 0;
		start = at;
	}
	gus_vec_free(&lengths);
	if (at < k->end)
		return -1;
	if (access != k->accesses.n)
		return gus_fail(err, GUS_E_CORRUPT, "cannot run \"%s\": its code has %u accesses and it "
				"tells %zu", k->name, access, k->accesses.n);
	return 0;
}

/* Where branches go, which the code has to say as the microbenchmark does. */
static int join(struct golden_code *m, struct gus_error *err)
{
	const struct gus_micro *k = m->micro;
	size_t jumps = 0;

	for (size_t i = 0; i < m->blocks.n; i++) {
		struct golden_code_block *b = &m->blocks.v[i];
		uint64_t to = GOLDEN_CODE_START + (b->jump == GOLDEN_CODE_NONE ? k->loop : k->jumps.v[b->jump].to);
		bool back = i + 1 == m->blocks.n;

		jumps += b->jump != GOLDEN_CODE_NONE;
		if (b->jump == GOLDEN_CODE_NONE && !back && !b->branch)
			continue;
		for (uint32_t t = 0; t < m->blocks.n; t++)
			b->target = m->blocks.v[t].address == to ? t : b->target;
		if (!b->branch || b->branch_to != to || m->blocks.v[b->target].address != to)
			return gus_fail(err, GUS_E_CORRUPT, "cannot run \"%s\": the branch at byte %llu of "
					"its code does not go where it says", k->name,
					(unsigned long long)(b->branch_from - GOLDEN_CODE_START));
	}
	return jumps == k->jumps.n ? 0 : gus_fail(err, GUS_E_CORRUPT, "cannot run \"%s\": it tells %zu "
						  "branches, of which its code has %zu", k->name, k->jumps.n, jumps);
}

int golden_code_begin(struct golden_code *m, const struct gus_micro *k, const struct golden_machine *machine,
		       struct gus_error *err)
{
	const struct gus_core_config *c = &machine->config;

	*m = (struct golden_code){ .micro = k, .growing = gus_growing_new(machine->uarch) };
	m->program = gus_growing_program(m->growing);
	m->window_bytes = c->uop_cache_width ? c->uop_cache_window : 0;
	if (k->isa != machine->uarch->isa || k->loop >= k->end || k->end > k->code.n)
		return gus_fail(err, GUS_E_USAGE, "cannot run \"%s\": it has no loop for %s", k->name,
				machine->uarch->name);
	return cut(m, c, err) == 0 ? join(m, err) : -1;
}

void golden_code_end(struct golden_code *m)
{
	gus_growing_free(m->growing);
	gus_vec_free(&m->blocks);
	gus_vec_free(&m->access_of);
	gus_vec_free(&m->insn_of);
	gus_vec_free(&m->window_lines);
}
