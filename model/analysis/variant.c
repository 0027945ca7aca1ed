/* SPDX-License-Identifier: MIT */
/* Each variant decides for every uop what becomes of it; then one function builds the program that is left. */
#include "model/analysis/variant.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/machine/options.h"
#include "model/tables/uarch.h"

enum fate {
	KEEP,
	DROP,
	ZERO,                   /* no port, no inputs; its results are there at once */
	NOP,                    /* the same without results */
	MULTIPLY,               /* as KEEP, but no slower than a multiplication */
	UPDATE,                 /* of a store: only what it does to the register of its address */
	LOAD,                   /* of a store: loads from there */
};

#define NOBODY UINT32_MAX

/* A program as one list of uops in order, with who wrote what they read. */
struct view {
	const struct gus_program *p;
	uint32_t n;
	uint32_t *uop, *op;     /* of each in the list, its numbers */
	/* by number of an input flow: where in the list it is written, of a loop perhaps behind; NOBODY */
	uint32_t *writer;
	uint8_t *fate;          /* of each in the list */
	uint64_t load_ports;
	uint16_t load_latency, multiply_latency;
};

static const struct { const char *name, *help; } variants[GUS_VARIANTS] = {
	[GUS_VARIANT_REF] = { "REF", "as it is" },
	[GUS_VARIANT_FP] = { "FP", "no memory: loads are zero idioms, stores are gone" },
	[GUS_VARIANT_LS] = { "LS", "no arithmetic: loads, stores, their addresses, control" },
	[GUS_VARIANT_DL1] = { "DL1", "each access hits L1, and no store feeds a load" },
	[GUS_VARIANT_FES] = { "FES", "the front end alone: all but control are nops" },
	[GUS_VARIANT_NODIV] = { "NODIV", "divisions and square roots take no longer than a multiplication" },
	[GUS_VARIANT_NORED] = { "NORED", "reductions are gone" },
	[GUS_VARIANT_S2L] = { "S2L", "stores are loads" },
	[GUS_VARIANT_NO_STORE] = { "NO_STORE", "stores are gone" },
	[GUS_VARIANT_INFINITE] = { "infinite", "all buffers without end" },
};

const char *gus_variant_name(enum gus_variant v)
{
	return v < GUS_VARIANTS ? variants[v].name : NULL;
}

const char *gus_variant_help(enum gus_variant v)
{
	return v < GUS_VARIANTS ? variants[v].help : NULL;
}

static const struct gus_uop *uop_at(const struct view *v, uint32_t at)
{
	return &v->p->uops[v->uop[at]];
}

static const struct gus_op *op_at(const struct view *v, uint32_t at)
{
	return &v->p->ops[v->op[at]];
}

static bool is_temp(unsigned reg)
{
	return reg >= GUS_TEMP;
}

static bool is_store(const struct gus_uop *uop)
{
	return uop->kind == GUS_UOP_STORE_ADDRESS || uop->kind == GUS_UOP_STORE_DATA;
}

/* How many uops of that kind an op has. */
static unsigned count(const struct gus_program *p, const struct gus_op *op, enum gus_uop_kind kind)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < op->uops_n; i++)
		n += p->uops[op->uop + i].kind == kind;
	return n;
}

/* A result that others than the uops of its own instruction can see. */
static bool writes_register(const struct gus_program *p, const struct gus_uop *uop)
{
	for (uint32_t i = 0; i < uop->out_n; i++)
		if (!is_temp(p->flows[uop->out + i].reg))
			return true;
	return false;
}

static bool is_address(const struct gus_program *p, const struct gus_op *op, unsigned reg)
{
	for (uint32_t i = 0; i < op->memories_n; i++)
		if (p->memories[op->memory + i].base == reg || p->memories[op->memory + i].index == reg)
			return true;
	return false;
}

static bool is_input_of_address(const struct view *v, uint32_t at, unsigned reg)
{
	const struct gus_uop *uop = uop_at(v, at);

	if (uop->kind == GUS_UOP_STORE_DATA)
		return !count(v->p, op_at(v, at), GUS_UOP_STORE_ADDRESS) && is_address(v->p, op_at(v, at), reg);
	return uop->kind == GUS_UOP_LOAD || uop->kind == GUS_UOP_STORE_ADDRESS;
}

/* Who writes what each reads: the list is gone through twice, since what a loop reads first it wrote last. What only
 * the uops of one instruction see ends with it. */
static void find_writers(struct view *v)
{
	uint32_t last[GUS_PROGRAM_REGS];

	for (uint32_t r = 0; r < GUS_PROGRAM_REGS; r++)
		last[r] = NOBODY;
	for (int round = 0; round < 2; round++)
		for (uint32_t at = 0; at < v->n; at++) {
			const struct gus_uop *uop = uop_at(v, at);

			if (at == 0 || v->op[at] != v->op[at - 1])
				for (uint32_t r = GUS_TEMP; r < GUS_PROGRAM_REGS; r++)
					last[r] = NOBODY;
			for (uint32_t i = 0; i < uop->in_n; i++)
				v->writer[uop->in + i] = last[v->p->flows[uop->in + i].reg];
			for (uint32_t i = 0; i < uop->out_n; i++)
				last[v->p->flows[uop->out + i].reg] = at;
		}
}

/* The ports and the latency of a load and of a multiplication, from the program or from the table. */
static void find_figures(struct view *v)
{
	const struct gus_uarch *u = v->p->uarch;
	const struct gus_uarch_class *load = u ? gus_uarch_class(u, "load") : NULL;
	const struct gus_uarch_class *multiply = u ? gus_uarch_class(u, "fp_mul") : NULL;

	v->load_latency = (uint16_t)(u ? gus_uarch_value(u, "l1d_latency", 4) : 4);
	v->multiply_latency = multiply && multiply->latency_lo ? (uint16_t)(multiply->latency_lo / GUS_UARCH_CENTI) : 4;
	if (load && load->uses_n)
		v->load_ports = u->groups[u->uses[load->uses].group].ports;
	for (uint32_t at = v->n; at-- > 0;)
		if (uop_at(v, at)->kind == GUS_UOP_LOAD && uop_at(v, at)->ports) {
			v->load_ports = uop_at(v, at)->ports;
			v->load_latency = uop_at(v, at)->latency;
		}
}

static void view_begin(struct view *v, const struct gus_program *p)
{
	*v = (struct view){ .p = p };
	for (uint32_t i = 0; i < p->ops_n; i++)
		v->n += p->ops[i].uops_n;
	v->uop = gus_zalloc((v->n + 1) * sizeof(*v->uop));
	v->op = gus_zalloc((v->n + 1) * sizeof(*v->op));
	v->fate = gus_zalloc(v->n + 1);
	v->writer = gus_zalloc((p->flows_n + 1) * sizeof(*v->writer));
	for (uint32_t i = 0, at = 0; i < p->ops_n; i++)
		for (uint32_t k = 0; k < p->ops[i].uops_n; k++, at++) {
			v->uop[at] = p->ops[i].uop + k;
			v->op[at] = i;
		}
	find_writers(v);
	find_figures(v);
}

static void view_end(struct view *v)
{
	free(v->uop);
	free(v->op);
	free(v->fate);
	free(v->writer);
}

/* The rules of the variants. */

static void drop_store(struct view *v, uint32_t at)
{
	v->fate[at] = writes_register(v->p, uop_at(v, at)) ? UPDATE : DROP;
}

static void judge_no_store(struct view *v)
{
	for (uint32_t at = 0; at < v->n; at++)
		if (is_store(uop_at(v, at)))
			drop_store(v, at);
}

/* An operation with a loaded operand has a register instead; a mere load becomes a zero idiom. */
static void judge_fp(struct view *v)
{
	judge_no_store(v);
	for (uint32_t at = 0; at < v->n; at++)
		if (uop_at(v, at)->kind == GUS_UOP_LOAD)
			v->fate[at] = writes_register(v->p, uop_at(v, at)) ? ZERO : DROP;
}

/* Keeps whatever the kept ones need; of stores perhaps only what their addresses need. */
static void keep_needed(struct view *v, bool addresses_only)
{
	struct gus_vec(uint32_t) todo = { 0 };

	for (uint32_t at = 0; at < v->n; at++)
		if (v->fate[at] == KEEP)
			gus_vec_push(&todo, at);
	while (todo.n) {
		uint32_t at = todo.v[--todo.n];
		const struct gus_uop *uop = uop_at(v, at);

		for (uint32_t i = 0; i < uop->in_n; i++) {
			uint32_t writer = v->writer[uop->in + i];

			if (writer == NOBODY || v->fate[writer] == KEEP)
				continue;
			if (addresses_only && is_store(uop) && !is_input_of_address(v, at,
				v->p->flows[uop->in + i].reg))
				continue;
			v->fate[writer] = KEEP;
			gus_vec_push(&todo, writer);
		}
	}
	gus_vec_free(&todo);
}

static void judge_ls(struct view *v)
{
	for (uint32_t at = 0; at < v->n; at++) {
		const struct gus_uop *uop = uop_at(v, at);
		const struct gus_op *op = op_at(v, at);
		bool nop = uop->kind == GUS_UOP_NONE && !uop->out_n;
		bool stays = nop || uop->kind == GUS_UOP_LOAD || is_store(uop) ||
			(op->flags & (GUS_OP_BRANCH | GUS_OP_SERIALISING | GUS_OP_FENCE));

		v->fate[at] = stays ? KEEP : DROP;
	}
	keep_needed(v, true);
}

/* Control stays whole: an op is a nop only if no uop of it decides about a branch. */
static void judge_fes(struct view *v)
{
	for (uint32_t at = 0; at < v->n; at++)
		v->fate[at] = op_at(v, at)->flags & GUS_OP_BRANCH ? KEEP : NOP;
	keep_needed(v, false);
	for (uint32_t at = 0; at < v->n; at++)
		for (uint32_t k = at; v->fate[at] == KEEP && k < v->n && v->op[k] == v->op[at]; k++)
			v->fate[k] = KEEP;
	for (uint32_t at = v->n; at-- > 1;)
		if (v->fate[at] == KEEP && v->op[at - 1] == v->op[at])
			v->fate[at - 1] = KEEP;
}

static bool divides(const struct gus_program *p, const struct gus_op *op)
{
	return gus_insn_class_divides((enum gus_insn_class)p->insns[op->insn].info.class);
}

/* The last uop that computes has the results; the ones before it are what makes a division long. */
static void judge_nodiv(struct view *v)
{
	bool seen = false;

	for (uint32_t at = v->n; at-- > 0;) {
		if (at + 1 == v->n || v->op[at] != v->op[at + 1])
			seen = false;
		if (uop_at(v, at)->kind != GUS_UOP_COMPUTE || !divides(v->p, op_at(v, at)))
			continue;
		v->fate[at] = seen ? DROP : MULTIPLY;
		seen = true;
	}
}

struct registers { uint8_t in[GUS_PROGRAM_REGS], out[GUS_PROGRAM_REGS]; };

/* Whether an op has the form r = r op other; *accumulator is then r. */
static bool accumulates(const struct view *v, uint32_t first, unsigned *accumulator)
{
	const struct gus_program *p = v->p;
	struct registers *regs = gus_zalloc(sizeof(*regs));
	unsigned inputs = 0, both = 0;

	for (uint32_t at = first; at < v->n && v->op[at] == v->op[first]; at++) {
		const struct gus_uop *uop = uop_at(v, at);

		for (uint32_t i = 0; i < uop->in_n && uop->kind == GUS_UOP_COMPUTE; i++)
			regs->in[p->flows[uop->in + i].reg] = 1;
		for (uint32_t i = 0; i < uop->out_n; i++)
			regs->out[p->flows[uop->out + i].reg] = 1;
		if (is_store(uop) || uop->kind == GUS_UOP_NONE)
			both = 2;
	}
	for (unsigned r = 0; r < GUS_PROGRAM_REGS; r++) {
		inputs += regs->in[r] && !(is_temp(r) && regs->out[r] && r >= GUS_TEMP + 3);
		if (regs->in[r] && regs->out[r] && !is_temp(r)) {
			both++;
			*accumulator = r;
		}
	}
	free(regs);
	return both == 1 && inputs >= 2 &&
		!(op_at(v, first)->flags & (GUS_OP_BRANCH | GUS_OP_SERIALISING | GUS_OP_FENCE));
}

/* accumulator[op] is the register that it accumulates into, or 0. */
static uint8_t *find_accumulators(const struct view *v)
{
	uint8_t *accumulator = gus_zalloc(v->p->ops_n + 1);

	for (uint32_t at = 0; at < v->n; at++) {
		unsigned r = 0;

		if ((at == 0 || v->op[at] != v->op[at - 1]) && accumulates(v, at, &r))
			accumulator[v->op[at]] = (uint8_t)r;
	}
	return accumulator;
}

/* A register is one of a reduction if only ops that accumulate into it read it, and nobody reads what else these
 * write. */
static void judge_nored(struct view *v)
{
	uint8_t *accumulator = find_accumulators(v);
	bool busy[GUS_PROGRAM_REGS] = { false };

	for (uint32_t at = 0; at < v->n; at++) {
		const struct gus_uop *uop = uop_at(v, at);

		for (uint32_t i = 0; i < uop->in_n; i++) {
			uint32_t writer = v->writer[uop->in + i], reg = v->p->flows[uop->in + i].reg;

			if (is_temp(reg))
				continue;
			if (accumulator[v->op[at]] != reg || uop->kind != GUS_UOP_COMPUTE)
				busy[reg] = true;
			if (writer != NOBODY && v->op[writer] != v->op[at] && accumulator[v->op[writer]] != reg)
				busy[accumulator[v->op[writer]]] = true;
		}
	}
	for (uint32_t at = 0; at < v->n; at++)
		if (accumulator[v->op[at]] && !busy[accumulator[v->op[at]]])
			v->fate[at] = DROP;
	free(accumulator);
}

static void judge_s2l(struct view *v)
{
	for (uint32_t at = 0; at < v->n; at++) {
		const struct gus_uop *uop = uop_at(v, at);

		if (uop->kind == GUS_UOP_STORE_ADDRESS)
			v->fate[at] = LOAD;
		else if (uop->kind == GUS_UOP_STORE_DATA)
			v->fate[at] = count(v->p, op_at(v, at), GUS_UOP_STORE_ADDRESS) ? DROP : LOAD;
	}
}

/* Building what is left. It is never more than there was, so that it fits into a copy of the program. */

struct maker {
	const struct view *v;
	struct gus_program *to;
	uint32_t insns, ops, uops, flows, memories;
	uint64_t bytes;
};

/* What happens to one op. */
struct change {
	struct gus_op op;       /* the new one */
	unsigned gone;          /* slots that have lost all their uops, of those before the uop that is made */
	uint8_t memory[256];    /* new number of each access */
	bool written[GUS_TEMPS];/* what the uops that are left write for each other */
	unsigned kept, loads, stores, converted;
	bool changed;
};

static void add_flow(struct maker *m, struct gus_flow flow)
{
	m->to->flows[m->flows++] = flow;
}

static void make_inputs(struct maker *m, struct change *c, uint32_t at, struct gus_uop *uop)
{
	const struct gus_uop *old = uop_at(m->v, at);
	uint8_t fate = m->v->fate[at];

	uop->in = m->flows;
	for (uint32_t i = 0; i < old->in_n && fate != ZERO && fate != NOP; i++) {
		struct gus_flow flow = m->v->p->flows[old->in + i];

		if (is_temp(flow.reg) && !c->written[flow.reg - GUS_TEMP])
			continue;
		if ((fate == UPDATE || fate == LOAD) && !is_input_of_address(m->v, at, flow.reg))
			continue;
		add_flow(m, flow);
	}
	uop->in_n = (uint8_t)(m->flows - uop->in);
}

static void make_outputs(struct maker *m, struct change *c, uint32_t at, struct gus_uop *uop)
{
	const struct gus_uop *old = uop_at(m->v, at);
	uint8_t fate = m->v->fate[at];

	uop->out = m->flows;
	for (uint32_t i = 0; i < old->out_n && fate != NOP; i++) {
		struct gus_flow flow = m->v->p->flows[old->out + i];

		if (fate == ZERO)
			flow.cycles = 0;
		if (fate == MULTIPLY && flow.cycles > m->v->multiply_latency)
			flow.cycles = (int16_t)m->v->multiply_latency;
		if (is_temp(flow.reg) && fate != KEEP && fate != MULTIPLY)
			continue;
		if (is_temp(flow.reg))
			c->written[flow.reg - GUS_TEMP] = true;
		add_flow(m, flow);
	}
	uop->out_n = (uint8_t)(m->flows - uop->out);
}

static void make_uop(struct maker *m, struct change *c, uint32_t at)
{
	struct gus_uop uop = *uop_at(m->v, at);
	uint8_t fate = m->v->fate[at];

	if (fate == ZERO || fate == NOP) {
		uop.kind = GUS_UOP_NONE;
		uop.ports = 0;
		uop.latency = uop.unit_cycles = uop.port_cycles = 0;
		uop.unit = 0;
	} else if (fate == MULTIPLY) {
		uop.unit = 0;
		uop.unit_cycles = 0;
		uop.port_cycles = 1;
		uop.latency = uop.latency < m->v->multiply_latency ? uop.latency : m->v->multiply_latency;
	} else if (fate == UPDATE) {
		uop.kind = GUS_UOP_COMPUTE;
	} else if (fate == LOAD) {
		uop.kind = GUS_UOP_LOAD;
		uop.latency = m->v->load_latency;
		uop.ports = m->v->load_ports ? m->v->load_ports : uop.ports;
	}
	uop.slot = (uint16_t)(uop.slot - c->gone);
	uop.memory = c->memory[uop.memory];
	make_inputs(m, c, at, &uop);
	make_outputs(m, c, at, &uop);
	m->to->uops[m->uops++] = uop;
}

/* Whether a slot begins with the uop and loses all of its uops, which lie behind each other. */
static bool slot_goes(const struct view *v, uint32_t first, uint32_t at, uint32_t end)
{
	const unsigned slot = uop_at(v, at)->slot;

	if (at != first && uop_at(v, at - 1)->slot == slot)
		return false;
	for (; at < end && uop_at(v, at)->slot == slot; at++)
		if (v->fate[at] != DROP)
			return false;
	return true;
}

/* Slots are those of the uops that are left, and those that never had a uop. */
static void settle_slots(const struct maker *m, struct change *c, uint32_t first, uint32_t n)
{
	struct gus_op *op = &c->op;
	unsigned gone = 0;
	bool fused_in_rob = op->rob == op->slots;

	for (uint32_t at = first; at < first + n; at++)
		gone += slot_goes(m->v, first, at, first + n);
	if (!gone && !c->changed)
		return;
	op->slots = (uint16_t)(op->slots > gone ? op->slots - gone : 1);
	op->fused = op->fused < op->slots ? op->fused : op->slots;
	op->rob = (uint16_t)(fused_in_rob || c->kept < op->slots ? op->slots : c->kept);
	if (op->decoded > op->fused)
		op->decoded = (uint8_t)op->fused;
	if (op->microcoded > op->fused)
		op->microcoded = op->fused <= 4 ? 0 : op->fused;
	if (op->decoded <= 1 && !op->microcoded)
		op->flags &= (uint16_t)~GUS_OP_COMPLEX;
}

static void make_memories(struct maker *m, struct change *c, const struct gus_op *old)
{
	c->op.memory = m->memories;
	for (uint32_t i = 0; i < old->memories_n; i++) {
		struct gus_program_memory memory = m->v->p->memories[old->memory + i];

		c->memory[i] = (uint8_t)(m->memories - c->op.memory);
		memory.load = (memory.load && c->loads > c->converted) || (memory.store && c->converted);
		memory.store = memory.store && c->stores;
		if (memory.load || memory.store)
			m->to->memories[m->memories++] = memory;
	}
	c->op.memories_n = (uint8_t)(m->memories - c->op.memory);
}

/* The instructions of an op move up to the ones before them. The new program begins as a copy: where nothing was taken
 * away so far they are there already, and they are what is large of a program. */
static void make_insns(struct maker *m, struct change *c, uint32_t op)
{
	const struct gus_program *p = m->v->p;

	c->op.insn = m->insns;
	for (uint32_t i = 0; i < c->op.insns_n; i++) {
		uint32_t from = p->ops[op].insn + i;
		struct gus_program_insn *insn = &m->to->insns[m->insns];

		if (from != m->insns++)
			*insn = p->insns[from];
		insn->op = m->ops;
		insn->offset = m->bytes;
		m->bytes += insn->info.length;
	}
}

static void count_fates(const struct view *v, struct change *c, uint32_t first, uint32_t n)
{
	for (uint32_t at = first; at < first + n; at++) {
		uint8_t fate = v->fate[at], kind = uop_at(v, at)->kind;

		c->changed |= fate != KEEP;
		c->kept += fate != DROP;
		c->loads += (kind == GUS_UOP_LOAD && !uop_at(v, at)->again && fate == KEEP) || fate == LOAD;
		c->converted += fate == LOAD;
		c->stores += is_store(uop_at(v, at)) && fate == KEEP;
	}
}

static bool is_gone(const struct view *v, uint32_t first, uint32_t n)
{
	for (uint32_t at = first; at < first + n; at++)
		if (v->fate[at] != DROP)
			return false;
	return n != 0;
}

static void make_op(struct maker *m, uint32_t number, uint32_t first)
{
	const struct gus_op *old = &m->v->p->ops[number];
	struct change c = { .op = *old };
	bool nothing = true;

	if (is_gone(m->v, first, old->uops_n)) {
		if (!(old->flags & GUS_OP_BRANCH))
			return;
		m->v->fate[first] = NOP;
	}
	count_fates(m->v, &c, first, old->uops_n);
	settle_slots(m, &c, first, old->uops_n);
	make_memories(m, &c, old);
	make_insns(m, &c, number);
	c.op.uop = m->uops;
	for (uint32_t at = first; at < first + old->uops_n; at++) {
		c.gone += slot_goes(m->v, first, at, first + old->uops_n);
		if (m->v->fate[at] == DROP)
			continue;
		nothing &= m->v->fate[at] == ZERO || m->v->fate[at] == NOP;
		make_uop(m, &c, at);
	}
	c.op.uops_n = (uint16_t)(m->uops - c.op.uop);
	if (c.changed) {
		c.op.loads = (uint8_t)(c.loads < 255 ? c.loads : 255);
		c.op.stores = c.stores ? c.op.stores : 0;
	}
	if (c.changed && nothing) {
		memset(c.op.results, 0, sizeof(c.op.results));
		c.op.flags &= (uint16_t)~(GUS_OP_SERIALISING | GUS_OP_FENCE | GUS_OP_ELIMINATED);
		c.op.move_from = c.op.move_to = 0;
	}
	m->to->ops[m->ops++] = c.op;
}

/* Code of which nothing is left still takes an issue slot: so that there is something to run. */
static void leave_a_nop(struct view *v)
{
	if (is_gone(v, 0, v->n))
		v->fate[0] = NOP;
}

static struct gus_program *make(struct view *v)
{
	struct maker m = { .v = v, .to = gus_program_copy(v->p) };

	leave_a_nop(v);
	for (uint32_t i = 0, at = 0; i < v->p->ops_n; at += v->p->ops[i++].uops_n)
		make_op(&m, i, at);
	m.to->insns_n = m.insns;
	m.to->ops_n = m.ops;
	m.to->uops_n = m.uops;
	m.to->flows_n = m.flows;
	m.to->memories_n = m.memories;
	m.to->bytes = m.bytes;
	m.to->unknown = 0;
	for (uint32_t i = 0; i < m.insns; i++)
		m.to->unknown += !m.to->insns[i].row && (m.to->ops[m.to->insns[i].op].flags & GUS_OP_UNKNOWN);
	return m.to;
}

struct gus_program *gus_variant_program(const struct gus_program *p, enum gus_variant variant,
					struct gus_core_config *config, struct gus_core_options *options)
{
	static void (*const judges[GUS_VARIANTS])(struct view *v) = {
		[GUS_VARIANT_FP] = judge_fp, [GUS_VARIANT_LS] = judge_ls, [GUS_VARIANT_FES] = judge_fes,
		[GUS_VARIANT_NODIV] = judge_nodiv, [GUS_VARIANT_NORED] = judge_nored, [GUS_VARIANT_S2L] = judge_s2l,
		[GUS_VARIANT_NO_STORE] = judge_no_store,
	};
	struct gus_program *made;
	struct view v;

	if (variant == GUS_VARIANT_DL1) {
		options->memory = NULL;
		options->pointers = GUS_CORE_POINTERS_NONE;
	} else if (variant == GUS_VARIANT_INFINITE) {
		gus_core_config_infinite(config);
	}
	if (!judges[variant])
		return gus_program_copy(p);
	view_begin(&v, p);
	judges[variant](&v);
	made = make(&v);
	view_end(&v);
	return made;
}

struct gus_program *gus_variant_relax(const struct gus_program *p, uint32_t op)
{
	struct gus_program *made;
	struct view v;

	view_begin(&v, p);
	for (uint32_t at = 0; at < v.n; at++)
		if (v.op[at] == op)
			v.fate[at] = ZERO;
	made = make(&v);
	view_end(&v);
	return made;
}
