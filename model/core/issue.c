/* SPDX-License-Identifier: MIT */
/* Issue: takes ops from the queue in order, gives their uops entries, registers and ports, and finds out whom they
 * wait for (the RAT of Palomares 2015, Algorithms 2 and 3; who takes which entries is Table 7.8 there).
 *
 *	issue_width slots a cycle:  slot --- room? --- renamed --- bound to a port --- waits for producers
 *	                                      |
 *	                                      `- no: issue stops for this cycle, and says for what (gus_core_reason)
 *
 * It is strictly in order: behind a slot that finds no room nothing is issued in this cycle. What an instruction
 * takes as a whole (registers, entries of the load, store and branch buffers) its first slot takes; of the ROB and
 * the schedulers each slot takes its own. So room_for_op is asked at the first slot only, and room_for_slot at each.
 *
 * Renaming is a table of who makes each register's value (`regs`): a uop reads it for its inputs before it writes
 * its outputs. Registers themselves are only counted, since nothing is ever executed here. */
#include "model/core/private.h"

/* Ports. */

/* A uop is bound to one port of its mask when it is issued, by what is known then: how many uops wait for each port.
 * A uop that is issued counts at once for those behind it in the same cycle, one that is dispatched no more
 * (`waiting`). UFS must be read so: if uops counted until they retire, the loop of its Table 7.1 would take 22.01
 * cycles instead of the published 23.01. */

/* Of a mask of two ports at least: whether there are no more. */
static bool is_pair(uint64_t mask)
{
	uint64_t rest = mask & (mask - 1);

	return !(rest & (rest - 1));
}

static int lowest(uint64_t mask)
{
	return __builtin_ctzll(mask);
}

/* The fewest waiting, of those the lowest (Palomares 2015, Algorithm 3). */
static int fewest(const struct core *core, uint64_t mask)
{
	int best = lowest(mask);

	for (uint64_t rest = mask; rest; rest &= rest - 1)
		if (core->waiting[lowest(rest)] < core->waiting[best])
			best = lowest(rest);
	return best;
}

/* By issue slot (Abel and Reineke, "uiCA", ICS 2022, section 4.1.3, and its program). All slots of a cycle look at the
 * same counts, as they are bound at the same time, and the renamer hears of what is dispatched a cycle later
 * (waiting_seen). `ranks` are the ports of a mask, those with the fewest first; of equals the highest first, as it has
 * the fewest other duties. */
static unsigned rank_ports(const uint32_t *seen, uint64_t mask, uint8_t *ranks)
{
	unsigned n = 0;

	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		unsigned port = (unsigned)lowest(rest), at = n++;

		for (; at && seen[ranks[at - 1]] >= seen[port]; at--)
			ranks[at] = ranks[at - 1];
		ranks[at] = (uint8_t)port;
	}
	return n;
}

/* Haswell to Skylake: even slots take the first, odd ones the second, unless that is behind by three or more. */
static int by_slot(const struct core *core, uint64_t mask, unsigned slot)
{
	const uint32_t *seen = core->waiting_seen[0];
	uint32_t first = UINT32_MAX, second = UINT32_MAX;

	/* Count and port as one number, as which is the least cannot be foretold: so there is no branch to miss. */
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		uint32_t port = (uint32_t)lowest(rest), key = seen[port] << 6 | (63 - port);
		uint32_t more = key > first ? key : first;

		first = key < first ? key : first;
		second = more < second ? more : second;
	}
	/* A mask has two ports at least. */
	if (slot % 2 && second >> 6 < (first >> 6) + 3)
		return 63 - (int)(second & 63);
	return 63 - (int)(first & 63);
}

/* Sandy Bridge and Ivy Bridge: slot by slot from the port with the fewest (of equals the lowest) through the others,
 * the highest first, and around; only that one if another is behind by three or more. */
static int by_rotation(const struct core *core, uint64_t mask, unsigned slot)
{
	const uint32_t *seen = core->waiting_seen[0];
	unsigned n = (unsigned)__builtin_popcountll(mask), at = slot % n;
	int least = lowest(mask), other = least;
	uint32_t most = 0;

	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		least = seen[lowest(rest)] < seen[least] ? lowest(rest) : least;
		most = seen[lowest(rest)] > most ? seen[lowest(rest)] : most;
	}
	if (!at || most >= seen[least] + 3)
		return least;
	for (mask &= ~(1ull << least); at--; mask &= ~(1ull << other))
		other = 63 - __builtin_clzll(mask);
	return other;
}

/* How many uops of this cycle had the same ports to choose from, before this one. */
static unsigned same_ports(struct core *core, uint64_t mask)
{
	for (unsigned i = 0; i < core->bound_n; i++)
		if (core->bound[i].ports == mask)
			return core->bound[i].n++;
	if (core->bound_n < ISSUED_NOW) {
		core->bound[core->bound_n].ports = mask;
		core->bound[core->bound_n++].n = 1;
	}
	return 0;
}

/* Ice Lake, with counts that are a cycle older still: of the uops of a cycle with the same choice the first takes the
 * first rank, the next one the second and so on, of the ports that are less than five behind. In the fourth slot the
 * first of its kind takes the second rank, and the fifth slot always takes the first. */
static int by_rank(struct core *core, uint64_t mask, unsigned slot)
{
	const uint32_t *seen = core->waiting_seen[1];
	uint8_t ranks[GUS_CORE_PORTS];
	unsigned n = rank_ports(seen, mask, ranks), before = same_ports(core, mask);

	while (seen[ranks[n - 1]] >= seen[ranks[0]] + 5)
		n--;
	if (slot == 4)
		return ranks[0];
	if (slot == 3 && !before && n > 1)
		return ranks[1];
	return ranks[before % n];
}

/* In turn, the same for all masks. */
static int in_turn(struct core *core, uint64_t mask)
{
	uint64_t from = mask >> (core->turn % 64) << (core->turn % 64);
	int port = lowest(from ? from : mask);

	core->turn = (uint32_t)port + 1;
	return port;
}

/* Ports of integer uops that have an entry of their scheduler left, where each has one of its own; all others. */
static uint64_t with_room(const struct core *core, uint64_t mask)
{
	uint64_t full = 0;

	if (!core->c->rs_int_port)
		return mask;
	for (uint64_t rest = mask & core->int_ports; rest; rest &= rest - 1)
		if (core->waiting[lowest(rest)] + core->left[lowest(rest)] >= core->c->rs_int_port)
			full |= rest & -rest;
	return mask & ~full;
}

/* AMD from Zen 2 to Zen 4: integer uops that any ALU executes take the ports in turn, whatever waits there, as long as
 * there is an entry. Seen by timing on a Zen 4: of a result's four readers, which are there at the same time, those
 * that come four uops one from the other wait for each other, and those that come three or five do not; and in a chain
 * of additions beside others no link is ever late, which any choice by numbers of waiting uops would make of some.
 * Those that some of the ports execute (branches, shifts) are no one's turn but go where the fewest wait: in turn, too,
 * a branch and an addition by turns would have all branches on the same port, 8 of each in 8 cycles, where they take
 * 4.5. Vector and memory uops showed no such pattern; they are not bound. */
static int past_full(struct core *core, uint64_t mask)
{
	uint64_t room = with_room(core, mask);

	if (mask & core->unbound_ports)
		return fewest(core, mask);
	if (__builtin_popcountll(mask) < core->widest)
		return fewest(core, room ? room : mask);
	return in_turn(core, room ? room : mask);
}

/* Each pair of ports of loads or stores has a turn of its own. */
static int pair_in_turn(struct core *core, uint64_t mask)
{
	int first = lowest(mask);

	core->pair_turns ^= 1ull << first;
	return core->pair_turns >> first & 1 ? first : lowest(mask & (mask - 1));
}

static int bind(struct core *core, const struct gus_uop *uop)
{
	uint64_t mask = uop->ports;

	if (!(mask & (mask - 1)))
		return lowest(mask);
	switch (core->c->port_binding) {
	case GUS_CORE_BIND_ALTERNATE:
		return in_turn(core, mask);
	case GUS_CORE_BIND_ROUND_ROBIN: { /* in turn among those with the fewest */
		uint64_t least = 0;
		uint32_t n = core->waiting[fewest(core, mask)];

		for (uint64_t rest = mask; rest; rest &= rest - 1)
			if (core->waiting[lowest(rest)] == n)
				least |= rest & -rest;
		return in_turn(core, least);
	}
	case GUS_CORE_BIND_TURNS:
		return past_full(core, mask);
	case GUS_CORE_BIND_SLOTS:
		if (uop->kind == GUS_UOP_LOAD && is_pair(mask))
			return in_turn(core, mask);
		return by_slot(core, mask, core->issued_now);
	case GUS_CORE_BIND_RANKS:
	case GUS_CORE_BIND_ROTATE:
		if (uop->kind >= GUS_UOP_LOAD && is_pair(mask))
			return pair_in_turn(core, mask);
		return core->c->port_binding == GUS_CORE_BIND_RANKS ? by_rank(core, mask, core->issued_now) :
			by_rotation(core, mask, core->issued_now);
	default:
		return fewest(core, mask);
	}
}

/* Registers. */

/* Eliminated moves. A move that the renamer does itself points the name of its destination at the physical register
 * of its source: from then on that register has two names or more, and cannot be given back when one of them is
 * written. CPUs keep count of few registers in that state (move_elimination_slots):
 *
 *	mov rax -> rbx      file 1: names rax, rbx      aliases 1: one register with several names
 *	mov rbx -> rcx      file 1: rax, rbx, rcx       aliases 1: the third name is free
 *	mov rdx -> rsi      file 2: rdx, rsi            aliases 2: with two slots the next such move needs a port
 *	rbx written         file 1: rax, rcx            aliases 2
 *	rax written         file 1: rcx                 aliases 1: one name is left, and the slot is free
 *
 * Numbers of files are given to shared registers only; 0 is a register with one name, which nobody counts. */

/* A register gets a new physical one; its old one loses a name. */
static void forget_name(struct core *core, unsigned reg)
{
	uint32_t file = core->regs[reg].file;

	if (!file)
		return;
	core->regs[reg].file = 0;
	core->names[file]--;
	core->aliases -= core->names[file] == 1;
}

static void share(struct core *core, unsigned from, unsigned to)
{
	uint32_t file = core->regs[from].file;

	if (!file) {
		for (file = 1; core->names[file]; file++)
			;
		core->regs[from].file = file;
		core->names[file] = 1;
	}
	core->aliases += ++core->names[file] == 2;
	core->regs[to] = core->regs[from];
}

/* Whether the renamer does it, for want of a slot only by executing. A move that has no uop to execute (UFS' nops)
 * is always eliminated, and one to itself needs no slot. What the destination then waits for is the producer of the
 * source. */
static bool eliminate(struct core *core, const struct gus_op *op)
{
	unsigned from = op->move_from, to = op->move_to;
	bool taken = core->c->move_elimination_slots && core->aliases >= core->c->move_elimination_slots &&
		core->names[core->regs[from].file] < 2;

	if (from != to && taken && core->p->uops[op->uop].kind != GUS_UOP_NONE)
		return false;
	for (unsigned i = 0; i < op->uops_n; i++) {
		const struct gus_uop *uop = &core->p->uops[op->uop + i];

		for (unsigned n = 0; n < uop->out_n; n++) {
			unsigned reg = core->p->flows[uop->out + n].reg;

			if (reg == from)
				continue;
			if (reg < GUS_INSN_REGS)
				forget_name(core, reg);
			if (reg == to && reg < GUS_INSN_REGS && from < GUS_INSN_REGS) {
				share(core, from, reg);
			} else {
				core->regs[reg] = core->regs[from];
				core->regs[reg].file = 0; /* flags are no name of the register */
			}
		}
	}
	return true;
}

/* From here on readers of these registers wait for this uop. What a reader adds to the dispatch of its producer is
 * the latency of that very result, which need not be the time in which the uop is complete (flags may be there
 * sooner). */
static inline void write_results(struct core *core, const struct gus_uop *uop, uint64_t seq)
{
	const struct gus_flow *out = &core->p->flows[uop->out];

	for (unsigned i = 0; i < uop->out_n; i++) {
		if (out[i].reg < GUS_INSN_REGS)
			forget_name(core, out[i].reg);
		core->regs[out[i].reg].seq = seq + 1;
		core->regs[out[i].reg].latency = out[i].cycles;
	}
}

/* One uop enters. A uop without a port is complete when it is issued. */

static struct live_uop *enter(struct core *core, uint32_t uop, struct live_slot *slot)
{
	uint64_t seq = core->uop_tail++;
	struct live_uop *u = core_uop(core, seq);

	*u = (struct live_uop){ .seq = seq, .dispatched = GUS_NEVER, .complete = GUS_NEVER, .uop = uop, .port = -1,
		.slot = core->slot_tail, .ready = core->cycle + core->c->issue_delay };
	slot->n++;
	return u;
}

/* Nops, idioms and eliminated moves. The last have written their results already, by sharing a name. */
static void enter_idle(struct core *core, uint32_t uop, struct live_slot *slot, bool writes)
{
	struct live_uop *u = enter(core, uop, slot);

	u->dispatched = u->complete = core->cycle;
	if (writes && core->p->uops[uop].out_n)
		write_results(core, &core->p->uops[uop], u->seq);
	if (slot->complete < core->cycle)
		slot->complete = core->cycle;
}

static void enter_uop(struct core *core, uint32_t number, struct live_slot *slot, const struct gus_op *op)
{
	const struct gus_uop *uop = &core->p->uops[number];
	const struct gus_flow *in = &core->p->flows[uop->in];
	struct live_uop *u = enter(core, number, slot);

	slot->waiting++;
	u->port = (int8_t)bind(core, uop);
	core->waiting[u->port]++;
	core->pools.left[POOL_RS]--;
	core->pools.left[core->port_pool[u->port]] -= core->port_pool[u->port] != POOL_RS;
	/* An input that is late is in time if it comes some cycles after the dispatch: so much less the uop waits. */
	for (unsigned i = 0; i < uop->in_n; i++) {
		const struct live_reg *reg = &core->regs[in[i].reg];

		if (reg->seq)
			gus_core_wait(core, u, reg->seq - 1, reg->latency - in[i].cycles);
	}
	if (uop->kind != GUS_UOP_COMPUTE)
		gus_core_access(core, u, uop, op);
	write_results(core, uop, u->seq);
	if (uop->kind == GUS_UOP_LOAD && core->c->store_forward_zero)
		gus_core_rename_load(core, uop, op);
	if (!u->pending)
		gus_core_arm(core, u);
}

/* One op. */

/* Four entries as two numbers, with their signs in these bits. */
typedef uint64_t two_halves __attribute__((vector_size(16)));
static const uint64_t SIGNS = 0x8000000080000000;

/* Whether all buffers have so many entries. Only signs matter, and what is below zero keeps its sign in the sum of
 * bits. */
static bool have_entries(const struct core *core, const int32_t *entries)
{
	const int32_t *left = core->pools.left;
	four_entries lacks = { 0 };
	two_halves halves;
	bool room = left[POOL_RS] >= entries[POOL_RS];

	for (unsigned i = 0; i < FOURS; i++)
		lacks |= fours_of(left)[i] - fours_of(entries)[i];
	halves = (two_halves)lacks;
	for (unsigned i = POOL_RS + 1; core->stations && i < POOLS; i++)
		room &= left[i] >= entries[i];
	return room && !((halves[0] | halves[1]) & SIGNS);
}

/* Buffers, rings and the entries of each port mostly have room for whatever the slots of a cycle can need: only where
 * they may not need they be looked at slot by slot. */
static void find_tight(struct core *core)
{
	core->rings_tight = core->slot_tail - core->slot_head + core->c->issue_width > core->slot_mask - 1 ||
		core->uop_tail - core->uop_head + core->most_uops + 1 > core->uop_mask ||
		core->store_tail - core->store_head + (uint64_t)ACCESSES * core->c->issue_width > core->store_mask;
	for (uint64_t rest = core->c->rs_int_port ? core->int_ports : 0; rest; rest &= rest - 1)
		core->rings_tight |= core->waiting[lowest(rest)] + core->left[lowest(rest)] + core->most_uops >
			core->c->rs_int_port;
	core->tight = core->rings_tight || !have_entries(core, core->most);
}

/* Whether all buffers have what the slot needs. That is so most of the time; where it is not, room_for_op and
 * room_for_slot find out which is in the way, if one is (a buffer that is empty gives more than it has). */
static bool room_for_all(const struct core *core, const struct slot_need *need)
{
	return !core->tight || (!core->rings_tight && have_entries(core, need->entries));
}

/* Rings are as large as what is asked for here (core.c, ring): their tests matter for machines without end only. */
static bool stores_full(const struct core *core)
{
	return core->store_tail - core->store_head + ACCESSES > core->store_mask;
}

static enum gus_core_reason room_for_op(const struct core *core, const struct gus_op *op, const struct slot_need *need)
{
	const int32_t *n = need->entries;

	if (n[POOL_LOADS] && !pool_has(core, POOL_LOADS, n[POOL_LOADS]))
		return GUS_CORE_LOAD_BUFFER;
	if (n[POOL_STORES] && !pool_has(core, POOL_STORES, n[POOL_STORES]))
		return GUS_CORE_STORE_BUFFER;
	if (stores_full(core))
		return GUS_CORE_STORE_BUFFER;
	if (n[POOL_BRANCHES] && !pool_has(core, POOL_BRANCHES, n[POOL_BRANCHES]))
		return GUS_CORE_BRANCH_BUFFER;
	for (enum pools i = POOL_RENAMES; i <= POOL_MASK; i++)
		if (!pool_has(core, i, n[i]))
			return GUS_CORE_REGISTERS;
	if ((op->flags & GUS_OP_SERIALISING) && core->slot_head != core->slot_tail)
		return GUS_CORE_SERIALISED;
	return GUS_CORE_NOTHING;
}

static bool rings_full(const struct core *core, const struct slot_need *need)
{
	return core->slot_tail - core->slot_head > core->slot_mask - 1 ||
		core->uop_tail - core->uop_head + need->n + 1 > core->uop_mask;
}

static enum gus_core_reason room_for_slot(const struct core *core, const struct slot_need *need)
{
	if (!pool_has(core, POOL_ROB, need->entries[POOL_ROB]) || rings_full(core, need))
		return GUS_CORE_ROB;
	for (enum pools i = POOL_RS; i < POOLS; i++)
		if (need->entries[i] && !pool_has(core, i, need->entries[i]))
			return GUS_CORE_RS;
	for (uint32_t i = 0; core->c->rs_int_port && i < need->n; i++) {
		uint64_t ports = core->p->uops[need->first + i].ports;

		if (ports && !with_room(core, ports))
			return GUS_CORE_RS;
	}
	return GUS_CORE_NOTHING;
}

/* An op is asked for as a whole at its first slot only. */
static enum gus_core_reason room_for(const struct core *core, const struct gus_op *op, const struct slot_need *need)
{
	enum gus_core_reason reason;

	if (room_for_all(core, need) && !(op->flags & GUS_OP_SERIALISING))
		return GUS_CORE_NOTHING;
	reason = core->slot ? GUS_CORE_NOTHING : room_for_op(core, op, need);
	return reason ? reason : room_for_slot(core, need);
}

static void take_entries(struct core *core, const struct slot_need *need)
{
	for (unsigned i = 0; i < FOURS; i++)
		fours(core->pools.left)[i] -= fours_of(need->entries)[i];
}

/* An elimination is decided with the first slot, and is for all uops of it: a move has no more. */
static void issue_slot(struct core *core, const struct gus_op *op, const struct slot_need *need)
{
	uint32_t first = need->first, n = need->n;
	struct live_slot *slot = core_slot(core, core->slot_tail);
	bool eliminated = (op->flags & GUS_OP_ELIMINATED) && !core->slot && eliminate(core, op);

	*slot = (struct live_slot){ .op = core->current->op, .iteration = core->current->iteration,
		.issued = core->cycle, .first = core->uop_tail, .complete = core->cycle,
		.region = core->front.fed ? core->front.told[core->current->told].region : 0,
		.psv = core->waited, .part = core->part, .taken = core->current->taken,
		.mispredicted = core->current->mispredicted };
	take_entries(core, need);
	if (eliminated || !n)
		enter_idle(core, n ? first : op->uop, slot, false);
	for (uint32_t i = 0; i < n && !eliminated; i++) {
		if (core->p->uops[first + i].ports)
			enter_uop(core, first + i, slot, op);
		else
			enter_idle(core, first + i, slot, true);
	}
	core->waited = 0;
	core->slot++;
	slot->ends_op = core->slot >= op->slots;
	slot->ends_iteration = slot->ends_op && core->current->last;
	core->slot_tail++;
	core->issued_now++;
	core->total.slots++;
}

/* After a misprediction the penalty is the way of the first right uops from fetch to issue. */
void gus_core_unblock(struct core *core, uint64_t complete)
{
	bool wrong = core->blocks != BLOCKS_SERIALISING;

	core->blocked_until = complete + (wrong ? core->c->mispredict_penalty : core->c->serialise_penalty);
	core->blocking = 0;
	if (!wrong)
		return;
	core->resolved = complete;
	/* What is fetched in one cycle is issued in the next. */
	gus_frontend_redirect(&core->front, core->blocked_until - 1);
}

static void block(struct core *core, enum blocks blocks)
{
	core->blocked_until = GUS_NEVER;
	core->blocks = blocks;
	if (blocks != BLOCKS_SERIALISING && core->front.fed)
		core->resolved = GUS_NEVER;
}

/* The wrong path, in a run that is fed. Nobody knows what lies there, so it is only slots: as many as the ROB has room
 * for, each with one entry, at the full width, as fetch has run ahead of the branch. They take no ports, no entries of
 * schedulers, no buffers and no lines, and are gone when the branch is executed; so they are in the way of nothing that
 * is executed, which is a known limitation: on CPUs they heat caches and hold up older uops. */
static void issue_wrong(struct core *core)
{
	int64_t room = (int64_t)core->pools.left[POOL_ROB] - core->wrong;

	core->wrong_now = room <= 0 ? 0 : room < core->width ? (uint32_t)room : core->width;
	core->wrong += core->wrong_now;
}

/* Behind a mispredicted branch nothing is issued until it is executed and the right path has come; behind a serialising
 * op nothing until that is executed, or some cycles later, where fetch begins anew behind it (serialise_penalty). */
static void end_op(struct core *core, const struct gus_op *op)
{
	const struct gus_core_branch *branch = core->options->branch;
	const struct gus_fetched *current = core->current;
	uint64_t slot = core->slot_tail - 1;

	if (current->mispredicted || ((op->flags & GUS_OP_BRANCH) && branch &&
				      branch->mispredicted(branch->context, current->op, current->iteration))) {
		core_slot(core, slot)->mispredicted = true;
		core_slot(core, slot)->psv |= GUS_CORE_FL_MB;
		core->blocking = slot + 1;
		block(core, BLOCKS_MISPREDICT);
	} else if (op->flags & GUS_OP_SERIALISING) {
		core_slot(core, slot)->psv |= GUS_CORE_FL_EX;
		core->blocking = slot + 1;
		block(core, BLOCKS_SERIALISING);
	}
	if (core->blocking == slot + 1 && !core_slot(core, slot)->waiting)
		gus_core_unblock(core, core_slot(core, slot)->complete);
	core->issued_iterations += core->current->last;
	core->have_current = false;
}

/* A load that would be too early is `current`, and what is behind it is fetched again, as it is: to be issued when the
 * store's address is known and the penalty is over. */
static enum gus_core_reason fetch_again(struct core *core)
{
	core->kept = *core->current;
	core->current = &core->kept;
	gus_frontend_again(&core->front);
	core->waited |= GUS_CORE_FL_MO;
	block(core, BLOCKS_ORDER);
	return GUS_CORE_MISPREDICT;
}

static enum gus_core_reason why_blocked(struct core *core)
{
	if (core->blocks == BLOCKS_SERIALISING)
		return GUS_CORE_SERIALISED;
	if (core->blocks == BLOCKS_ORDER && core->blocked_until == GUS_NEVER) {
		const struct live_uop *u = core_uop(core, core->early_until);

		if (u->dispatched != GUS_NEVER)
			gus_core_unblock(core, u->complete);
	}
	return GUS_CORE_MISPREDICT;
}

/* One slot, or why not. An op stays at the head of the queue until its first slot is issued; then it is `current`,
 * until its last one is. */
static enum gus_core_reason issue_one(struct core *core)
{
	const struct gus_op *op;
	enum gus_core_reason reason;
	const struct slot_need *need;

	if (core->blocked_until > core->cycle)
		return why_blocked(core);
	if (!core->have_current) {
		const struct gus_fetched *next = gus_frontend_peek(&core->front);

		if (!next)
			return GUS_CORE_FRONT_END;
		core->current = next;
		core->slot = 0;
	}
	op = &core->p->ops[core->current->op];
	need = &core->needs[core->plans[core->current->op].first_need + core->slot];
	reason = room_for(core, op, need);
	if (!core->slot && (op->flags & GUS_OP_MERGES) && core->issued_now)
		reason = GUS_CORE_SERIALISED;
	core->waited |= reason == GUS_CORE_STORE_BUFFER ? GUS_CORE_DR_SQ : 0;
	if (reason)
		return reason;
	if (!core->have_current) {
		if (core->hooks && core->hooks->load_enters && !gus_core_ask_load(core, op))
			return GUS_CORE_LOAD_BUFFER;
		core->have_current = true;
		core->waited |= core->current->late ? GUS_CORE_DR_L1 : 0;
		core->waited |= core->current->late_page ? GUS_CORE_DR_TLB : 0;
		gus_frontend_take(&core->front);
		if (core->plans[core->current->op].follows)
			gus_core_begin_op(core, op);
		if (core->sets.entries && gus_core_too_early(core, op))
			return fetch_again(core);
	}
	issue_slot(core, op, need);
	if (core->slot == 1 && (op->flags & GUS_OP_MERGES))
		return GUS_CORE_SERIALISED;
	if (core->slot >= op->slots) {
		bool last = core->current->last;

		end_op(core, op);
		if (gus_frontend_boundary(&core->front, last))
			return GUS_CORE_BOUNDARY;
	}
	return GUS_CORE_NOTHING;
}

/* Why it stopped short is one reason for the whole cycle: that of the slot that would have been next. */
void gus_core_issue(struct core *core)
{
	for (unsigned p = 0; p < core->p->ports_n; p++) {
		core->waiting_seen[1][p] = core->waiting_seen[0][p];
		core->waiting_seen[0][p] = core->waiting[p] + core->left[p];
	}
	core->bound_n = 0;
	find_tight(core);
	core->wrong_now = 0;
	if (core->resolved > core->cycle) /* of a branch that was issued in an earlier cycle */
		issue_wrong(core);
	else
		core->wrong = 0;
	core->stop = GUS_CORE_NOTHING;
	while (core->issued_now < core->width) {
		enum gus_core_reason reason = issue_one(core);

		if (reason) {
			if (core->issued_now < core->width)
				core->stop = reason;
			break;
		}
	}
	if (core->have_current) {
		core->kept = *core->current;
		core->current = &core->kept;
	}
}
