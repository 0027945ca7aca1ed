/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/slots.h"

#include <stdlib.h>
#include <string.h>

#include "model/code/program.h"
#include "symbolizer/insn/insn.h"

/* Empty slots of a cycle that may yet turn out to be the divider's, as what a division did is told when it retires. */
struct late_cycle { uint64_t cycle; uint32_t op; double empty; };
enum { LATE = 4096 };

struct gus_slotted_thread {
	struct gus_slotted *all;
	const struct gus_program *program;
	struct gus_core_listener listener;
	uint64_t cycle, divides_until;
	struct late_cycle late[LATE];   /* by cycle */
};

void gus_slotted_init(struct gus_slotted *s, uint32_t width)
{
	*s = (struct gus_slotted){ .width = width };
}

void gus_slotted_free(struct gus_slotted *s)
{
	for (size_t i = 0; i < s->threads.n; i++)
		free(s->threads.v[i]);
	gus_vec_free(&s->threads);
	gus_vec_free(&s->ops);
}

/* Ops come while the program grows. */
static struct gus_slotted_op *op_of(struct gus_slotted_thread *t, uint32_t op)
{
	struct gus_slotted *s = t->all;

	while (s->ops.n <= op)
		gus_vec_push(&s->ops, (struct gus_slotted_op){ .waiting = 0 });
	return &s->ops.v[op];
}

/* Not by units: some tables have dividers as cycles of a port, and units of other things. */
static bool divides(const struct gus_program *p, uint32_t op)
{
	return gus_insn_class_divides((enum gus_insn_class)p->insns[p->ops[op].insn].info.class);
}

/* Where the back end took no more: what the oldest waits for. */
static enum gus_node waited_for(const struct gus_program *p, const struct gus_core_cycle *c)
{
	if (c->stop == GUS_CORE_STORE_BUFFER)
		return GUS_NODE_STORES;
	if (c->stop == GUS_CORE_SERIALISED)
		return GUS_NODE_SERIALISING;
	if (c->stall == GUS_CORE_MEMORY)
		return GUS_NODE_MEMORY;
	if (c->op >= p->ops_n)
		return GUS_NODE_PORTS;
	if (divides(p, c->op))
		return GUS_NODE_DIVIDER;
	return p->ops[c->op].loads && c->stall == GUS_CORE_EXECUTION ? GUS_NODE_L1 : GUS_NODE_PORTS;
}

static enum gus_node empty_slots(const struct gus_program *p, const struct gus_core_cycle *c)
{
	switch (c->stop) {
	case GUS_CORE_FRONT_END:
	case GUS_CORE_BOUNDARY:
		return c->issued + c->wrong ? GUS_NODE_FETCH_BANDWIDTH : GUS_NODE_FETCH_LATENCY;
	case GUS_CORE_MISPREDICT:
		return GUS_NODE_MISPREDICTS;
	default:
		return waited_for(p, c);
	}
}

/* Behind a load that went too early it is that which is fetched again. */
static enum gus_node thrown_away(const struct gus_core_cycle *c)
{
	return c->state == GUS_COMMIT_FLUSHED && c->of_next ? GUS_NODE_CLEARS : GUS_NODE_MISPREDICTS;
}

static void forget(struct gus_slotted_thread *t)
{
	t->divides_until = 0;
	memset(t->late, 0, sizeof(t->late));
}

static void on_cycle(void *context, const struct gus_core_cycle *c)
{
	struct gus_slotted_thread *t = context;
	uint32_t width = t->all->width, used = c->issued + c->wrong;
	struct gus_slotted_op *op;
	double empty = used < width ? width - used : 0;

	t->all->cycles++;
	if (c->cycle < t->cycle) /* it begins again */
		forget(t);
	t->cycle = c->cycle;
	if (c->op == UINT32_MAX)
		return;
	op = op_of(t, c->op);
	op->of[GUS_NODE_RETIRING] += (double)width - empty - c->wrong;
	op->of[thrown_away(c)] += c->wrong;
	if (empty > 0) {
		enum gus_node node = empty_slots(t->program, c);

		if (node == GUS_NODE_PORTS && c->cycle < t->divides_until)
			node = GUS_NODE_DIVIDER;
		if (node == GUS_NODE_PORTS)
			t->late[c->cycle % LATE] = (struct late_cycle){ c->cycle, c->op, empty };
		if (node == GUS_NODE_MEMORY)
			op->waiting += empty;
		else
			op->of[node] += empty;
	}
}

/* While a unit or port divides, what waits for a port or a result waits for that. */
static void was_divided(struct gus_slotted_thread *t, const struct gus_uop *u, const struct gus_core_event *e)
{
	uint64_t busy = u->unit_cycles > u->port_cycles ? u->unit_cycles : u->port_cycles, end = e->dispatched + busy;

	for (uint64_t cycle = e->dispatched; busy > 1 && cycle < end; cycle++) {
		struct late_cycle *l = &t->late[cycle % LATE];

		if (l->cycle != cycle || !(l->empty > 0))
			continue;
		op_of(t, l->op)->of[GUS_NODE_PORTS] -= l->empty;
		op_of(t, l->op)->of[GUS_NODE_DIVIDER] += l->empty;
		l->empty = 0;
	}
	if (busy > 1 && end > t->divides_until)
		t->divides_until = end;
}

static void on_uop(void *context, const struct gus_core_event *e)
{
	struct gus_slotted_thread *t = context;

	if (e->bytes && e->level > GUS_HIT_L1 && e->level < GUS_HITS)
		op_of(t, e->op)->levels[e->level] += e->miss ? e->miss : 1;
	if (e->uop < t->program->uops_n && t->program->uops[e->uop].kind == GUS_UOP_COMPUTE &&
	    divides(t->program, e->op))
		was_divided(t, &t->program->uops[e->uop], e);
}

const struct gus_core_listener *gus_slotted_listen(struct gus_slotted *s, const struct gus_program *program)
{
	struct gus_slotted_thread *t = gus_zalloc(sizeof(*t));

	t->all = s;
	t->program = program;
	t->listener = (struct gus_core_listener){ .context = t, .cycle = on_cycle, .uop = on_uop };
	gus_vec_push(&s->threads, t);
	return &t->listener;
}

void gus_slotted_leave(struct gus_slotted *s, const struct gus_core_listener *listener)
{
	struct gus_slotted_thread *t = listener->context;

	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.v[i] == t) {
			s->threads.v[i] = s->threads.v[--s->threads.n];
			free(t);
			return;
		}
}

/* A load that waited and whose level nobody has told was on its way to L1. */
static void split_waiting(const struct gus_slotted_op *op, double of[GUS_NODES_OF_TREE])
{
	static const enum gus_node nodes[GUS_HITS] = { GUS_NODE_L1, GUS_NODE_L2, GUS_NODE_L3, GUS_NODE_DRAM };
	double all = 0;

	for (size_t i = 0; i < GUS_HITS; i++)
		all += op->levels[i];
	for (size_t i = 0; all > 0 && i < GUS_HITS; i++)
		of[nodes[i]] += op->waiting * op->levels[i] / all;
	if (!(all > 0))
		of[GUS_NODE_L1] += op->waiting;
}

static void add_up(double of[GUS_NODES_OF_TREE])
{
	for (unsigned level = 3; level > 1; level--)
		for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
			if (gus_nodes[i].level == level)
				of[gus_nodes[i].parent] += of[i];
}

void gus_slotted_add(const struct gus_slotted *s, uint32_t first_op, uint32_t ops_n, double of[GUS_NODES_OF_TREE])
{
	memset(of, 0, GUS_NODES_OF_TREE * sizeof(*of));
	for (uint32_t i = first_op; i < first_op + ops_n && i < s->ops.n; i++) {
		for (unsigned node = 0; node < GUS_NODES_OF_TREE; node++)
			of[node] += s->ops.v[i].of[node];
		split_waiting(&s->ops.v[i], of);
	}
	add_up(of);
}
