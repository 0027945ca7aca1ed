/* SPDX-License-Identifier: MIT */
/* Issue: takes ops from the queue in order, gives their uops entries, registers and ports, and finds out whom they wait for. */
#include "model/core/private.h"

/* Waiting. */

void gus_core_wait(struct core *k, struct live_uop *u, uint64_t producer, int delay)
{
	struct live_uop *from = core_uop(k, producer);
	uint32_t node, at = (uint32_t)(u->seq & k->uop_mask);
	uint64_t ready;

	if (from->seq != producer)
		return; /* retired long ago */
	if (from->dispatched != GUS_NEVER) {
		ready = from->dispatched + (uint64_t)(delay + from->more > 0 ? delay + from->more : 0);
		if (ready > u->ready)
			u->ready = ready;
		return;
	}
	/* Two flags of one producer are one wait. */
	if (from->waiters) {
		const struct waiter *last = &k->waiters.v[from->waiters - 1];

		if (last->uop == at && last->delay >= delay)
			return;
	}
	if (k->free_waiter) {
		node = k->free_waiter - 1;
		k->free_waiter = k->waiters.v[node].next;
	} else {
		node = (uint32_t)k->waiters.n;
		gus_vec_push(&k->waiters, (struct waiter){ 0 });
	}
	k->waiters.v[node] = (struct waiter){ at, from->waiters, delay };
	from->waiters = node + 1;
	u->pending++;
}

/* Puts a uop that waits for nobody any more where its time will find it. */
void gus_core_arm(struct core *k, struct live_uop *u)
{
	uint32_t at = (uint32_t)(u->seq & k->uop_mask);
	uint64_t when = u->ready;

	if (when <= k->cycle) {
		uint64_t *ready = k->ready[u->port];
		uint32_t n = k->ready_n[u->port]++;

		for (; n && ready[n - 1] > u->seq; n--)
			ready[n] = ready[n - 1];
		ready[n] = u->seq;
		return;
	}
	if (when - k->cycle >= WHEEL)
		when = k->cycle + WHEEL - 1;
	u->next_timed = k->wheel[when % WHEEL];
	k->wheel[when % WHEEL] = at + 1;
}

/* Ports. */

static int lowest(uint64_t mask)
{
	return __builtin_ctzll(mask);
}

/* The fewest waiting, of those the lowest (Palomares 2015, Algorithm 3). */
static int fewest(const struct core *k, uint64_t mask)
{
	int best = lowest(mask);

	for (uint64_t rest = mask; rest; rest &= rest - 1)
		if (k->waiting[lowest(rest)] < k->waiting[best])
			best = lowest(rest);
	return best;
}

/* Even issue slots take the port with the fewest uops at the start of the cycle, odd ones the second, unless that is
 * behind by three or more; of equals the highest (Abel and Reineke, "uiCA", ICS 2022, section 4.1.3). */
static int by_slot(const struct core *k, uint64_t mask, unsigned slot)
{
	int first = -1, second = -1;

	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		int port = lowest(rest);

		if (first < 0 || k->waiting_before[port] <= k->waiting_before[first]) {
			second = first;
			first = port;
		} else if (second < 0 || k->waiting_before[port] <= k->waiting_before[second]) {
			second = port;
		}
	}
	if (second < 0 || slot % 2 == 0 || k->waiting_before[second] >= k->waiting_before[first] + 3)
		return first;
	return second;
}

/* In turn, the same for all masks. */
static int in_turn(struct core *k, uint64_t mask)
{
	uint64_t from = mask >> (k->turn % 64) << (k->turn % 64);
	int port = lowest(from ? from : mask);

	k->turn = (uint32_t)port + 1;
	return port;
}

static int bind(struct core *k, const struct gus_uop *uop)
{
	uint64_t mask = uop->ports;

	if (!(mask & (mask - 1)))
		return lowest(mask);
	switch (k->c->port_binding) {
	case BIND_ALTERNATE:
		return in_turn(k, mask);
	case BIND_ROUND_ROBIN: { /* in turn among those with the fewest */
		uint64_t least = 0;
		uint32_t n = k->waiting[fewest(k, mask)];

		for (uint64_t rest = mask; rest; rest &= rest - 1)
			if (k->waiting[lowest(rest)] == n)
				least |= rest & -rest;
		return in_turn(k, least);
	}
	case BIND_SLOTS:
		if (uop->kind == GUS_UOP_LOAD && __builtin_popcountll(mask) == 2)
			return in_turn(k, mask);
		return by_slot(k, mask, k->issued_now);
	default:
		return fewest(k, mask);
	}
}

/* Registers. */

/* A register gets a new physical one; its old one loses a name. */
static void forget_name(struct core *k, unsigned reg)
{
	uint32_t file = k->regs[reg].file;

	if (!file)
		return;
	k->regs[reg].file = 0;
	k->names[file]--;
	k->aliases -= k->names[file] == 1;
}

static void share(struct core *k, unsigned from, unsigned to)
{
	uint32_t file = k->regs[from].file;

	if (!file) {
		for (file = 1; k->names[file]; file++)
			;
		k->regs[from].file = file;
		k->names[file] = 1;
	}
	k->aliases += ++k->names[file] == 2;
	k->regs[to] = k->regs[from];
}

static bool eliminate(struct core *k, const struct gus_op *op)
{
	unsigned from = op->move_from, to = op->move_to;
	bool taken = k->c->move_elimination_slots && k->aliases >= k->c->move_elimination_slots &&
		k->names[k->regs[from].file] < 2;

	if (from != to && taken && k->p->uops[op->uop].kind != GUS_UOP_NONE)
		return false;
	for (unsigned i = 0; i < op->uops_n; i++) {
		const struct gus_uop *uop = &k->p->uops[op->uop + i];

		for (unsigned n = 0; n < uop->out_n; n++) {
			unsigned reg = k->p->flows[uop->out + n].reg;

			if (reg == from)
				continue;
			if (reg < GUS_INSN_REGS)
				forget_name(k, reg);
			if (reg == to && reg < GUS_INSN_REGS && from < GUS_INSN_REGS) {
				share(k, from, reg);
			} else {
				k->regs[reg] = k->regs[from];
				k->regs[reg].file = 0; /* flags are no name of the register */
			}
		}
	}
	return true;
}

static void write_results(struct core *k, const struct gus_uop *uop, uint64_t seq)
{
	const struct gus_flow *out = &k->p->flows[uop->out];

	for (unsigned i = 0; i < uop->out_n; i++) {
		if (out[i].reg < GUS_INSN_REGS)
			forget_name(k, out[i].reg);
		k->regs[out[i].reg].seq = seq + 1;
		k->regs[out[i].reg].latency = out[i].cycles;
	}
}

/* One uop enters. */

static struct live_uop *enter(struct core *k, uint32_t uop, struct live_slot *slot)
{
	uint64_t seq = k->uop_tail++;
	struct live_uop *u = core_uop(k, seq);

	*u = (struct live_uop){ .seq = seq, .dispatched = GUS_NEVER, .complete = GUS_NEVER, .uop = uop, .port = -1,
		.slot = k->slot_tail, .ready = k->cycle + k->c->issue_delay };
	slot->n++;
	return u;
}

static void enter_idle(struct core *k, uint32_t uop, struct live_slot *slot, bool writes)
{
	struct live_uop *u = enter(k, uop, slot);

	u->dispatched = u->complete = k->cycle;
	if (writes && k->p->uops[uop].out_n)
		write_results(k, &k->p->uops[uop], u->seq);
	if (slot->complete < k->cycle)
		slot->complete = k->cycle;
}

static void enter_uop(struct core *k, uint32_t number, struct live_slot *slot, const struct gus_op *op)
{
	const struct gus_uop *uop = &k->p->uops[number];
	const struct gus_flow *in = &k->p->flows[uop->in];
	struct live_uop *u = enter(k, number, slot);

	slot->waiting++;
	u->port = (int8_t)bind(k, uop);
	k->waiting[u->port]++;
	k->pools[POOL_RS].used++;
	k->pools[k->port_pool[u->port]].used += k->port_pool[u->port] != POOL_RS;
	for (unsigned i = 0; i < uop->in_n; i++) {
		const struct live_reg *reg = &k->regs[in[i].reg];

		if (reg->seq)
			gus_core_wait(k, u, reg->seq - 1, reg->latency - in[i].cycles);
	}
	if (uop->kind != GUS_UOP_COMPUTE)
		gus_core_access(k, u, uop, op);
	write_results(k, uop, u->seq);
	if (uop->kind == GUS_UOP_LOAD && k->c->store_forward_zero)
		gus_core_rename_load(k, uop, op);
	if (!u->pending)
		gus_core_arm(k, u);
}

/* One op. */

static enum gus_core_reason room_for_op(const struct core *k, const struct gus_op *op)
{
	const uint8_t *results = op->results;
	unsigned all = results[GUS_REGFILE_INT] + results[GUS_REGFILE_VECTOR] + results[GUS_REGFILE_MASK];

	if (op->loads && !pool_has(&k->pools[POOL_LOADS], op->loads))
		return GUS_CORE_LOAD_BUFFER;
	if ((op->stores && !pool_has(&k->pools[POOL_STORES], op->stores)) || k->store_tail - k->store_head + ACCESSES > k->store_mask)
		return GUS_CORE_STORE_BUFFER;
	if ((op->flags & GUS_OP_BRANCH) && !pool_has(&k->pools[POOL_BRANCHES], 1))
		return GUS_CORE_BRANCH_BUFFER;
	if (!pool_has(&k->pools[POOL_RENAMES], all) || !pool_has(&k->pools[POOL_INT], results[GUS_REGFILE_INT]) ||
	    !pool_has(&k->pools[POOL_VECTOR], results[GUS_REGFILE_VECTOR]) ||
	    !pool_has(&k->pools[POOL_MASK], results[GUS_REGFILE_MASK]))
		return GUS_CORE_REGISTERS;
	if ((op->flags & GUS_OP_SERIALISING) && k->slot_head != k->slot_tail)
		return GUS_CORE_SERIALISED;
	return GUS_CORE_NOTHING;
}

static void take_for_op(struct core *k, const struct gus_op *op)
{
	const uint8_t *results = op->results;

	k->pools[POOL_LOADS].used += op->loads;
	k->pools[POOL_STORES].used += op->stores;
	k->pools[POOL_BRANCHES].used += (op->flags & GUS_OP_BRANCH) != 0;
	k->pools[POOL_INT].used += results[GUS_REGFILE_INT];
	k->pools[POOL_VECTOR].used += results[GUS_REGFILE_VECTOR];
	k->pools[POOL_MASK].used += results[GUS_REGFILE_MASK];
	k->pools[POOL_RENAMES].used += results[GUS_REGFILE_INT] + results[GUS_REGFILE_VECTOR] + results[GUS_REGFILE_MASK];
}

static enum gus_core_reason room_for_slot(const struct core *k, const struct slot_need *need)
{
	if (!pool_has(&k->pools[POOL_ROB], need->rob) || k->slot_tail - k->slot_head > k->slot_mask - 1 ||
	    k->uop_tail - k->uop_head + need->n + 1 > k->uop_mask)
		return GUS_CORE_ROB;
	if (!need->rs)
		return GUS_CORE_NOTHING;
	if (!pool_has(&k->pools[POOL_RS], need->rs) ||
	    (need->rs_int && !pool_has(&k->pools[POOL_RS_INT], need->rs_int)) ||
	    (need->rs_vector && !pool_has(&k->pools[POOL_RS_VECTOR], need->rs_vector)) ||
	    (need->rs_memory && !pool_has(&k->pools[POOL_RS_MEMORY], need->rs_memory)))
		return GUS_CORE_RS;
	return GUS_CORE_NOTHING;
}

static void issue_slot(struct core *k, const struct gus_op *op, const struct slot_need *need)
{
	uint32_t first = need->first, n = need->n;
	struct live_slot *slot = core_slot(k, k->slot_tail);
	bool eliminated = (op->flags & GUS_OP_ELIMINATED) && !k->slot && eliminate(k, op);

	*slot = (struct live_slot){ .op = k->current.op, .iteration = k->current.iteration, .issued = k->cycle,
		.first = k->uop_tail, .complete = k->cycle };
	k->pools[POOL_ROB].used += need->rob;
	if (eliminated || !n)
		enter_idle(k, n ? first : op->uop, slot, false);
	for (uint32_t i = 0; i < n && !eliminated; i++) {
		if (k->p->uops[first + i].ports)
			enter_uop(k, first + i, slot, op);
		else
			enter_idle(k, first + i, slot, true);
	}
	k->slot++;
	slot->ends_op = k->slot >= op->slots;
	slot->ends_iteration = slot->ends_op && k->current.last;
	k->slot_tail++;
	k->issued_now++;
	k->total.slots++;
}

void gus_core_unblock(struct core *k, uint64_t complete)
{
	k->blocked_until = complete + (k->mispredict ? k->c->mispredict_penalty : 0);
	k->blocking = 0;
}

static void end_op(struct core *k, const struct gus_op *op)
{
	const struct gus_core_branch *branch = k->o->branch;
	uint64_t slot = k->slot_tail - 1;

	if ((op->flags & GUS_OP_BRANCH) && branch && branch->mispredicted(branch->context, k->current.op, k->current.iteration)) {
		core_slot(k, slot)->mispredicted = true;
		k->blocked_until = GUS_NEVER;
		k->blocking = slot + 1;
		k->mispredict = true;
	} else if (op->flags & GUS_OP_SERIALISING) {
		k->blocked_until = GUS_NEVER;
		k->blocking = slot + 1;
		k->mispredict = false;
	}
	if (k->blocking == slot + 1 && !core_slot(k, slot)->waiting)
		gus_core_unblock(k, core_slot(k, slot)->complete);
	k->issued_iterations += k->current.last;
	k->have_current = false;
}

/* One slot, or why not. */
static enum gus_core_reason issue_one(struct core *k)
{
	const struct gus_op *op;
	enum gus_core_reason reason;
	const struct slot_need *need;

	if (k->blocked_until > k->cycle)
		return k->mispredict ? GUS_CORE_MISPREDICT : GUS_CORE_SERIALISED;
	if (!k->have_current) {
		const struct gus_fetched *next = gus_frontend_peek(&k->front);

		if (!next)
			return GUS_CORE_FRONT_END;
		k->current = *next;
		k->slot = 0;
	}
	op = &k->p->ops[k->current.op];
	need = &k->needs[k->first_need[k->current.op] + k->slot];
	reason = k->slot ? GUS_CORE_NOTHING : room_for_op(k, op);
	if (!reason)
		reason = room_for_slot(k, need);
	if (reason)
		return reason;
	if (!k->have_current) {
		k->have_current = true;
		gus_frontend_take(&k->front);
		take_for_op(k, op);
		if (k->follows[k->current.op])
			gus_core_begin_op(k, op);
	}
	issue_slot(k, op, need);
	if (k->slot >= op->slots) {
		bool last = k->current.last;

		end_op(k, op);
		if (gus_frontend_boundary(&k->front, last))
			return GUS_CORE_BOUNDARY;
	}
	return GUS_CORE_NOTHING;
}

void gus_core_issue(struct core *k)
{
	for (unsigned p = 0; p < k->p->ports_n; p++)
		k->waiting_before[p] = k->waiting[p];
	k->stop = GUS_CORE_NOTHING;
	while (k->issued_now < k->c->issue_width) {
		enum gus_core_reason reason = issue_one(k);

		if (reason) {
			if (k->issued_now < k->c->issue_width)
				k->stop = reason;
			break;
		}
	}
}
