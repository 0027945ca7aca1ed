/* SPDX-License-Identifier: MIT */
/* Dispatch: each port takes, in each cycle, the oldest uop that is ready for it (Palomares 2015, Algorithm 4). A uop
 * was bound to its port when it was issued and waits for that one even if another idles; that is why the order in
 * which code is written costs time where the sums of uops by port say it should not. Only where ports are not bound
 * (`any`) they take from each other.
 *
 * A port is taken for one cycle, or as long as the table says; a unit (a divider) behind it for longer, and then
 * younger uops that do not need it pass. A unit behind several ports (AMD's microcode) takes the oldest of all. The
 * scheduler's entry is free with the dispatch, for issue in the next cycle. */
#include <string.h>

#include "model/core/private.h"

static void take_port(struct core *core, const struct live_uop *u, const struct gus_uop *uop)
{
	if (core->port_width > 1 && ++core->taken[u->port] < core->port_width)
		return;
	core->port_free[u->port] = core->cycle + (uop->port_cycles ? uop->port_cycles : 1);
}

/* An entry of a part of the scheduler is one of the whole as well: both may have a limit. */
static void occupy(struct core *core, struct live_uop *u, const struct gus_uop *uop)
{
	core->left[u->port]++;
	core->pools.freed[POOL_RS]++;
	core->pools.freed[core->port_pool[u->port]] += core->port_pool[u->port] != POOL_RS;
	take_port(core, u, uop);
	if (uop->unit)
		core->unit_free[uop->unit] = core->cycle + uop->unit_cycles;
}

/* An access that crosses a line is two, one behind the other, on the same port. */
static void access_memory(struct core *core, struct live_uop *u, const struct gus_uop *uop)
{
	const struct live_access *access = core_access(core, u);

	if (uop->kind == GUS_UOP_LOAD && !uop->again && core->loads_now_n < LOADS_NOW) {
		core->loads_now[core->loads_now_n].at = access->address & (core->c->line_size - 1);
		core->loads_now[core->loads_now_n++].bytes = access->bytes;
	}
	if (uop->kind == GUS_UOP_LOAD)
		gus_core_load(core, u, uop);
	else if (uop->kind == GUS_UOP_STORE_ADDRESS)
		gus_core_store_address(core, u);
	if (uop->kind != GUS_UOP_LOAD && access->split)
		core->port_free[u->port] = core->cycle + 2;
}

/* From here on the time of the uop is known, and with it that of all that waits for it. `more` may be negative: a
 * word that is forwarded can be there sooner than one from L1. */
static void dispatch_uop(struct core *core, struct live_uop *u)
{
	const struct gus_uop *uop = &core->p->uops[u->uop];
	struct live_slot *slot = core_slot(core, u->slot);
	int latency;

	occupy(core, u, uop);
	if (uop->kind != GUS_UOP_COMPUTE)
		access_memory(core, u, uop);
	if (core->hooks)
		gus_core_ask_dispatched(core, u, uop);
	latency = uop->latency + u->more;
	u->dispatched = core->cycle;
	u->complete = core->cycle + (uint64_t)(latency > 0 ? latency : 0);
	core->total.dispatched[u->port]++;
	if (u->complete > slot->complete)
		slot->complete = u->complete;
	slot->waiting--;
	if (core->blocking == u->slot + 1 && !slot->waiting)
		gus_core_unblock(core, slot->complete);
	if (u->waiters)
		gus_core_wake_waiters(core, u);
}

/* Some L1 caches with three load ports have banks with two: of loads that need the same bytes of a line, whichever
 * line it is, only so many begin in a cycle. */
static bool bank_taken(const struct core *core, const struct live_uop *u)
{
	const struct live_access *a = &core->accesses[u->seq & core->uop_mask];
	uint64_t at = a->address & (core->c->line_size - 1), n = 0;

	if (core->p->uops[u->uop].kind != GUS_UOP_LOAD || core->p->uops[u->uop].again || !a->bytes)
		return false;
	for (unsigned i = 0; i < core->loads_now_n; i++)
		n += core->loads_now[i].at < at + a->bytes && at < core->loads_now[i].at + core->loads_now[i].bytes;
	return n >= core->c->l1d_bank_ports;
}

/* Of the uops that are bound to one port, those ready in 64 entries of the ring, from that of number seq on, which is
 * the first of a word. Behind the tail the ring begins anew, and bits of its last word may be of the oldest uops. */
static uint64_t ready_word(const struct core *core, unsigned bound, uint64_t seq)
{
	uint64_t word = core->ready[bound][(seq & core->uop_mask) / 64];

	return core->uop_tail - seq < 64 ? word & ((1ull << (core->uop_tail - seq)) - 1) : word;
}

/* The first of them that is ready behind a number; NEVER: none. */
static inline uint64_t next_ready(const struct core *core, unsigned bound, uint64_t behind)
{
	uint64_t seq = behind & ~63ull, word = ready_word(core, bound, seq) & ~1ull << behind % 64;

	while (!word) {
		seq += 64;
		if (seq >= core->uop_tail)
			return GUS_NEVER;
		word = ready_word(core, bound, seq);
	}
	return seq + (uint64_t)__builtin_ctzll(word);
}

/* Likewise; the first of all. A port is asked for it only if it has some. */
static inline uint64_t first_ready(struct core *core, unsigned bound)
{
	uint64_t from = core->ready_from[bound], seq = from & ~63ull;
	uint64_t word = ready_word(core, bound, seq) & ~0ull << from % 64;

	for (; !word; word = ready_word(core, bound, seq))
		seq += 64;
	return core->ready_from[bound] = seq + (uint64_t)__builtin_ctzll(word);
}

static bool unit_taken(const struct core *core, const struct gus_uop *uop)
{
	return uop->unit && core->unit_free[uop->unit] > core->cycle;
}

/* Whether it is an older one's turn to have a unit: one that its own port takes in this cycle. Ports are asked one
 * after the other, and if the first that is asked had the unit, those of the others would wait for it until nothing
 * else is in flight. */
static bool is_olders_turn(struct core *core, const struct live_uop *u, unsigned unit)
{
	for (uint64_t rest = core->ready_ports; rest; rest &= rest - 1) {
		unsigned port = (unsigned)__builtin_ctzll(rest);
		uint64_t seq = core->port_free[port] > core->cycle ? GUS_NEVER : first_ready(core, port);

		while (seq < u->seq && unit_taken(core, &core->p->uops[core_uop(core, seq)->uop]))
			seq = next_ready(core, port, seq);
		if (seq < u->seq && core->p->uops[core_uop(core, seq)->uop].unit == unit)
			return true;
	}
	return false;
}

static bool may_go(struct core *core, const struct live_uop *u, unsigned port)
{
	const struct gus_uop *uop = &core->p->uops[u->uop];

	if (!(uop->ports >> port & 1))
		return false;
	if (uop->unit && (unit_taken(core, uop) || is_olders_turn(core, u, uop->unit)))
		return false;
	return !core->c->l1d_bank_ports || core->loads_now_n < core->c->l1d_bank_ports || !bank_taken(core, u);
}

/* Behind one that may not go. */
static __attribute__((noinline)) uint64_t next_oldest(struct core *core, unsigned bound, unsigned port,
						      uint64_t behind)
{
	uint64_t seq = next_ready(core, bound, behind);

	while (seq != GUS_NEVER && !may_go(core, core_uop(core, seq), port))
		seq = next_ready(core, bound, seq);
	return seq;
}

/* The oldest that is ready, may take the port and finds its unit free, of those that are bound to a port with some
 * that are ready: its number, or NEVER. The first that is ready at all is where the next search begins. */
static inline uint64_t oldest(struct core *core, unsigned bound, unsigned port)
{
	uint64_t seq = first_ready(core, bound);

	if ((core->plain_ports >> port & 1) || may_go(core, core_uop(core, seq), port))
		return seq;
	return next_oldest(core, bound, port, seq);
}

/* The uop that a port takes next: one bound to it, but where ports are not bound the oldest one that it may take, of
 * the same scheduler. NEVER: none. */
static uint64_t next_for(struct core *core, unsigned port)
{
	uint64_t least = GUS_NEVER;

	if (!(core->unbound_ports >> port & 1))
		return oldest(core, port, port);
	for (uint64_t rest = core->ready_ports; rest; rest &= rest - 1) {
		unsigned from = (unsigned)__builtin_ctzll(rest);
		uint64_t seq;

		if (core->port_pool[from] != core->port_pool[port])
			continue;
		seq = oldest(core, from, port);
		least = seq < least ? seq : least;
	}
	return least;
}

static struct live_uop *take_ready(struct core *core, uint64_t seq)
{
	struct live_uop *u = core_uop(core, seq);
	uint64_t at = seq & core->uop_mask;

	core->ready[u->port][at / 64] &= ~(1ull << at % 64);
	if (!--core->ready_n[u->port])
		core->ready_ports &= ~(1ull << u->port);
	return u;
}

/* The ports of a mask, the lowest first, then those of the next one. A uop whose result takes no time may make another
 * one ready on a port that is still to come, so the mask of those that have something is read anew for each. */
static void dispatch_ports(struct core *core, uint64_t ports, uint64_t next)
{
	while (core->ready_ports) {
		uint64_t rest = ports & (core->ready_ports | core->unbound_ports), seq;
		unsigned port;
		struct live_uop *u;

		if (!rest) {
			if (!next)
				return;
			ports = next;
			next = 0;
			continue;
		}
		port = (unsigned)__builtin_ctzll(rest);
		ports &= ~1ull << port;
		if (core->port_free[port] > core->cycle)
			continue;
		seq = next_for(core, port);
		if (seq == GUS_NEVER)
			continue;
		u = take_ready(core, seq);
		core->waiting[u->port]--;
		u->port = (int8_t)port;
		dispatch_uop(core, u);
		if (core->port_width > 1 && core->port_free[port] <= core->cycle)
			ports |= 1ull << port; /* it may take another one */
	}
}

static void keep_taken(struct core *core, uint64_t ports)
{
	for (; ports; ports &= ports - 1) {
		uint64_t *from = &core->port_free[__builtin_ctzll(ports)];

		*from = *from > core->cycle ? *from : core->cycle + 1;
	}
}

/* Those who were woken by a load that missed have ports of this cycle in vain. */
static void keep_in_vain(struct core *core)
{
	keep_taken(core, core->vain[core->cycle % WHEEL]);
	core->vain[core->cycle % WHEEL] = 0;
}

/* Ports are asked one after the other, the lowest first. That matters only where they share something: a bank, or uops
 * that are not bound; and where a result takes no time, when a reader on a higher port goes in the same cycle. */
void gus_core_dispatch(struct core *core)
{
	uint64_t all = core->p->ports_n >= 64 ? ~0ull : (1ull << core->p->ports_n) - 1, from = ~0ull;

	for (unsigned p = 0; p < core->p->ports_n; p++)
		core->left[p] = 0;
	gus_core_wake_timed(core);
	core->loads_now_n = 0;
	if (core->port_width > 1)
		memset(core->taken, 0, sizeof(core->taken));
	if (core->vain)
		keep_in_vain(core);
	keep_taken(core, core->shared);
	if (!core->ready_ports)
		return;
	/* Where loads can be in each other's way, no port is always the one that loses. */
	if (core->c->l1d_bank_ports)
		from <<= core->cycle % core->p->ports_n;
	dispatch_ports(core, all & from, all & ~from);
}
