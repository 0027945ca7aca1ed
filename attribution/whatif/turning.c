/* SPDX-License-Identifier: MIT */
#include "attribution/whatif/turning.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/passages.h"
#include "attribution/traced/traced.h"
#include "model/analysis/excerpt.h"
#include "model/code/program.h"
#include "symbolizer/insn/loops.h"

enum { INSNS_MOST = 256, TURNS_LEAST = 2 };

/* While it is read. */
struct reading {
	struct gus_turning *b;
	const struct gus_traced *t;
	const struct gus_traced_function *function;
	const struct gus_graph *graph;
	uint32_t loop;
	bool in_turn, whole;                    /* whole: it has come to a branch back to the head */
};

/* A block that begins before the loop has its first instructions, too: so it is by address and not by region. */
static bool is_in_loop(const struct reading *r, uint64_t address)
{
	uint32_t at = gus_graph_at(r->graph, address - r->function->address);

	return at != GUS_GRAPH_NONE && r->graph->loop[at] == r->loop;
}

static const uint8_t *bytes_of(const struct gus_traced *t, uint64_t address)
{
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];

		if (b->ops.ops_n && address >= b->address && address < b->address + b->size)
			return b->bytes + (address - b->address);
	}
	return NULL;
}

bool gus_turning_goes_to(const struct gus_insn_info *info, uint64_t address, uint64_t to)
{
	return (info->class == GUS_INSN_BRANCH || info->class == GUS_INSN_BRANCH_COND) &&
		address + info->length + (uint64_t)info->immediate == to;
}

static int by_address(const void *a, const void *b)
{
	const struct gus_turning_insn *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static struct gus_turning_insn *find(const struct gus_turning *b, uint64_t address)
{
	const struct gus_turning_insn key = { .address = address };

	return b->insns.n ? bsearch(&key, b->insns.v, b->insns.n, sizeof(key), by_address) : NULL;
}

static uint32_t memories_of(const struct gus_program *p, const struct gus_op *op, uint32_t nth)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < op->memories_n; i++)
		n += p->memories[op->memory + i].instruction == nth;
	return n;
}

static void add_insn(struct reading *r, const struct gus_op *op, uint32_t nth)
{
	const struct gus_program *p = r->t->program;
	const struct gus_program_insn *insn = &p->insns[op->insn + nth];
	struct gus_turning_insn one = { .info = &insn->info, .text = insn->text, .address = insn->offset,
		.bytes = bytes_of(r->t, insn->offset), .accesses_n = memories_of(p, op, nth) };

	for (size_t i = 0; i < r->b->insns.n; i++)
		if (r->b->insns.v[i].address == insn->offset)
			return;
	if (!one.bytes)
		return;
	gus_insn_form_text(r->t->isa, one.bytes, insn->info.length, one.form, sizeof(one.form));
	gus_vec_push(&r->b->insns, one);
}

static void find_insns(struct reading *r, const struct gus_excerpt *x)
{
	const struct gus_program *p = r->t->program;

	for (size_t i = 0; i < x->steps.n && r->b->insns.n <= INSNS_MOST; i++) {
		const struct gus_op *op = x->steps.v[i].op == GUS_TRACED_NONE ? NULL : &p->ops[x->steps.v[i].op];

		if (op && is_in_loop(r, p->insns[op->insn].offset))
			for (uint32_t k = 0; k < op->insns_n; k++)
				add_insn(r, op, k);
	}
	if (r->b->insns.n)
		qsort(r->b->insns.v, r->b->insns.n, sizeof(*r->b->insns.v), by_address);
	for (size_t i = 0; i < r->b->insns.n; i++) {
		r->b->insns.v[i].access = r->b->accesses_n;
		r->b->accesses_n += r->b->insns.v[i].accesses_n;
	}
}

/* A turn begins; one that was not left at its end is not whole, and is taken back. */
static void begin_turn(struct reading *r, bool first)
{
	gus_vec_push(&r->b->turns, (struct gus_turning_turn){ .first = first });
	gus_vec_reserve(&r->b->accesses, r->b->accesses.n + r->b->accesses_n + 1);
	memset(r->b->accesses.v + r->b->accesses.n, 0, r->b->accesses_n * sizeof(*r->b->accesses.v));
	r->b->accesses.n += r->b->accesses_n;
	gus_vec_reserve(&r->b->executed, r->b->executed.n + r->b->insns.n);
	memset(r->b->executed.v + r->b->executed.n, 0, r->b->insns.n);
	r->b->executed.n += r->b->insns.n;
	r->in_turn = true;
	r->whole = false;
}

static void end_turn(struct reading *r)
{
	if (r->in_turn && !r->whole) {
		r->b->turns.n--;
		r->b->accesses.n -= r->b->accesses_n;
		r->b->executed.n -= r->b->insns.n;
	}
	r->in_turn = false;
}

static void take_op(struct reading *r, const struct gus_excerpt *x, const struct gus_op_step *step)
{
	const struct gus_program *p = r->t->program;
	const struct gus_op *op = &p->ops[step->op];
	struct gus_op_access *accesses = r->b->accesses.v + r->b->accesses.n - r->b->accesses_n;

	for (uint32_t k = 0; k < op->insns_n; k++) {
		struct gus_turning_insn *insn = find(r->b, p->insns[op->insn + k].offset);
		uint32_t nth = 0;

		if (!insn)
			continue;
		r->b->executed.v[r->b->executed.n - r->b->insns.n + (size_t)(insn - r->b->insns.v)] = true;
		if (step->mispredicted && k + 1u == op->insns_n)
			r->b->turns.v[r->b->turns.n - 1].mispredicted = (uint32_t)(insn - r->b->insns.v) + 1;
		for (uint32_t i = 0; i < op->memories_n && nth < insn->accesses_n; i++)
			if (p->memories[op->memory + i].instruction == k)
				accesses[insn->access + nth++] = x->accesses.v[step->access + i];
	}
	r->whole |= gus_turning_goes_to(&p->insns[op->insn + op->insns_n - 1].info,
				     p->insns[op->insn + op->insns_n - 1].offset, r->b->head);
}

static void read_turns(struct reading *r, const struct gus_excerpt *x)
{
	const struct gus_program *p = r->t->program;
	bool stays = false;

	for (size_t i = 0; i < x->steps.n; i++) {
		const struct gus_op_step *step = &x->steps.v[i];
		const struct gus_op *op = step->op == GUS_TRACED_NONE ? NULL : &p->ops[step->op];
		uint64_t address = op ? p->insns[op->insn].offset : 0;

		if (!op || !is_in_loop(r, address)) {
			end_turn(r);
			stays = false;
			continue;
		}
		if (address == r->b->head) {
			end_turn(r);
			begin_turn(r, !stays);
			stays = true;
		}
		if (r->in_turn)
			take_op(r, x, step);
	}
	end_turn(r);
}

/* Ways through the body may end alike, each in a copy of its own: instructions of the same bytes, or branches back of
 * the same kind, that no turn has both of. */
static bool are_copies(const struct gus_turning *b, size_t i, size_t k)
{
	const struct gus_turning_insn *x = &b->insns.v[i], *y = &b->insns.v[k];
	bool back = gus_turning_goes_to(x->info, x->address, b->head) &&
		gus_turning_goes_to(y->info, y->address, b->head);

	if (back ? strcmp(x->form, y->form) != 0 && x->info->class != y->info->class :
	    x->info->length != y->info->length || memcmp(x->bytes, y->bytes, x->info->length) != 0)
		return false;
	for (size_t turn = 0; turn < b->turns.n; turn++)
		if (gus_turning_executes(b, turn, i) && gus_turning_executes(b, turn, k))
			return false;
	return true;
}

/* The first of two copies is what both were. */
static void join(struct gus_turning *b, size_t i, size_t k)
{
	const struct gus_turning_insn *x = &b->insns.v[i], *y = &b->insns.v[k];

	for (size_t turn = 0; turn < b->turns.n; turn++) {
		if (!gus_turning_executes(b, turn, k))
			continue;
		b->executed.v[turn * b->insns.n + i] = true;
		b->executed.v[turn * b->insns.n + k] = false;
		if (b->turns.v[turn].mispredicted == k + 1)
			b->turns.v[turn].mispredicted = (uint32_t)i + 1;
		for (uint32_t a = 0; a < x->accesses_n && a < y->accesses_n; a++)
			b->accesses.v[turn * b->accesses_n + x->access + a] =
				*gus_turning_access(b, turn, y->access + a);
	}
	b->insns.v[k].joined = true;
}

static void join_copies(struct gus_turning *b)
{
	for (size_t i = 0; i < b->insns.n; i++)
		for (size_t k = i + 1; k < b->insns.n && !b->insns.v[i].joined; k++)
			if (!b->insns.v[k].joined && are_copies(b, i, k))
				join(b, i, k);
}

static void settle(struct reading *r)
{
	join_copies(r->b);
	for (size_t i = 0; i < r->b->insns.n; i++)
		for (size_t turn = 0; turn < r->b->turns.n; turn++)
			r->b->insns.v[i].conditional |= !gus_turning_executes(r->b, turn, i);
	for (size_t i = 0; i < r->b->turns.n; i++)
		r->b->stays += r->b->turns.v[i].first;
}

static char *read_loop(struct reading *r, const struct gus_excerpt *x)
{
	find_insns(r, x);
	if (r->b->insns.n > INSNS_MOST)
		return gus_format("its body has more than %d instructions", INSNS_MOST);
	if (r->b->insns.n)
		read_turns(r, x);
	if (r->b->turns.n < TURNS_LEAST)
		return gus_strdup("no turn of it from its head to its last branch was seen whole: it is left in its "
				  "middle, or calls");
	settle(r);
	return NULL;
}

char *gus_turning_read(struct gus_turning *b, const struct gus_traced *t, uint32_t region)
{
	const struct gus_traced_region *of = &t->regions.v[region];
	const struct gus_excerpt *x = gus_traced_passage(t, region);
	struct reading r = { .b = b, .t = t, .function = &t->functions.v[of->function], .loop = of->loop };

	*b = (struct gus_turning){ 0 };
	r.graph = r.function->graph;
	if (of->loop == GUS_TRACED_NONE || !r.graph)
		return gus_strdup("it is no loop");
	if (!r.graph->loops.v[of->loop].inner)
		return gus_strdup("there is a loop in it");
	if (t->isa != GUS_ISA_X86_64)
		return gus_strdup("mock-ups are of x86-64 alone");
	if (!x)
		return gus_strdup("the windows have executed too little of it");
	b->head = r.function->address + r.graph->insns.v[r.graph->loops.v[of->loop].head].offset;
	return read_loop(&r, x);
}

void gus_turning_free(struct gus_turning *b)
{
	gus_vec_free(&b->insns);
	gus_vec_free(&b->turns);
	gus_vec_free(&b->executed);
	gus_vec_free(&b->accesses);
}
