/* SPDX-License-Identifier: MIT */
/* Dispatch: each port takes, in each cycle, the oldest uop that is ready for it (Palomares 2015, Algorithm 4). A uop
 * was bound to its port when it was issued and waits for that one even if another idles; that is why the order in
 * which code is written costs time where the sums of uops by port say it should not. Only where ports are not bound
 * (`any`) they take from each other.
 *
 * A port is taken for one cycle, or as long as the table says; a unit (a divider) behind it for longer, and then
 * younger uops that do not need it pass. The scheduler's entry is free with the dispatch, for issue in the next
 * cycle. */
#include "model/core/private.h"

/* An entry of a part of the scheduler is one of the whole as well: both may have a limit. */
static void occupy(struct core *core, struct live_uop *u, const struct gus_uop *uop)
{
	core->waiting[u->port]--;
	core->left[u->port]++;
	core->pools[POOL_RS].freed++;
	core->pools[core->port_pool[u->port]].freed += core->port_pool[u->port] != POOL_RS;
	core->port_free[u->port] = core->cycle + (uop->port_cycles ? uop->port_cycles : 1);
	if (uop->unit)
		core->unit_free[uop->unit] = core->cycle + uop->unit_cycles;
}

/* An access that crosses a line is two, one behind the other, on the same port. */
static void access_memory(struct core *core, struct live_uop *u, const struct gus_uop *uop)
{
	const struct live_access *access = core_access(core, u);

	if (uop->kind == GUS_UOP_LOAD && core->loads_now_n < LOADS_NOW) {
		core->loads_now[core->loads_now_n].at = access->address & (core->c->line_size - 1);
		core->loads_now[core->loads_now_n++].bytes = access->bytes;
	}
	if (uop->kind == GUS_UOP_LOAD)
		gus_core_load(core, u, uop);
	else if (access->split)
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
	latency = uop->latency + u->more;
	u->dispatched = core->cycle;
	u->complete = core->cycle + (uint64_t)(latency > 0 ? latency : 0);
	core->total.dispatched[u->port]++;
	if (u->complete > slot->complete)
		slot->complete = u->complete;
	slot->waiting--;
	if (core->blocking == u->slot + 1 && !slot->waiting)
		gus_core_unblock(core, slot->complete);
	gus_core_wake_waiters(core, u);
}

/* Some L1 caches with three load ports have banks with two: of loads that need the same bytes of a line, whichever
 * line it is, only so many begin in a cycle. */
static bool bank_taken(const struct core *core, const struct live_uop *u)
{
	const struct live_access *a = &core->accesses[u->seq & core->uop_mask];
	uint64_t at = a->address & (core->c->line_size - 1), n = 0;

	if (core->p->uops[u->uop].kind != GUS_UOP_LOAD || !a->bytes)
		return false;
	for (unsigned i = 0; i < core->loads_now_n; i++)
		n += core->loads_now[i].at < at + a->bytes && at < core->loads_now[i].at + core->loads_now[i].bytes;
	return n >= core->c->l1d_bank_ports;
}

/* The oldest that is ready, may take the port and finds its unit free: where it is in the list of the port it is
 * bound to, or a number that is no place. */
static uint32_t oldest(const struct core *core, unsigned bound, unsigned port)
{
	for (uint32_t i = 0; i < core->ready_n[bound]; i++) {
		const struct live_uop *u = &core->uops[core->ready[bound][i] & core->uop_mask];
		unsigned unit = core->p->uops[u->uop].unit;

		if (!(core->p->uops[u->uop].ports >> port & 1))
			continue;
		if (unit && core->unit_free[unit] > core->cycle)
			continue;
		if (!core->c->l1d_bank_ports || !bank_taken(core, u))
			return i;
	}
	return UINT32_MAX;
}

/* The list from which a port takes its next uop: its own, but where ports are not bound that with the oldest one
 * that it may take, of the same scheduler. GUS_CORE_PORTS: nothing. */
static unsigned list_for(const struct core *core, unsigned port, uint32_t *at)
{
	unsigned best = GUS_CORE_PORTS;
	uint64_t least = UINT64_MAX;

	if (core->c->port_binding != GUS_CORE_BIND_ANY) {
		*at = core->ready_n[port] ? oldest(core, port, port) : UINT32_MAX;
		return *at == UINT32_MAX ? GUS_CORE_PORTS : port;
	}
	for (unsigned from = 0; from < core->p->ports_n; from++) {
		uint32_t i;

		if (!core->ready_n[from] || core->port_pool[from] != core->port_pool[port])
			continue;
		i = oldest(core, from, port);
		if (i == UINT32_MAX || core->ready[from][i] >= least)
			continue;
		least = core->ready[from][i];
		best = from;
		*at = i;
	}
	return best;
}

static struct live_uop *take_ready(struct core *core, unsigned from, uint32_t at)
{
	struct live_uop *u = &core->uops[core->ready[from][at] & core->uop_mask];

	core->ready_n[from]--;
	for (; at < core->ready_n[from]; at++)
		core->ready[from][at] = core->ready[from][at + 1];
	return u;
}

/* Ports are asked one after the other, the lowest first. That matters only where they share something: a unit, a
 * bank, or uops that are not bound; and where a result takes no time, when a reader on a higher port goes in the
 * same cycle. */
void gus_core_dispatch(struct core *core)
{
	unsigned first;

	gus_core_wake_timed(core);
	core->loads_now_n = 0;
	/* Where loads can be in each other's way, no port is always the one that loses. */
	first = core->c->l1d_bank_ports ? (unsigned)(core->cycle % core->p->ports_n) : 0;
	for (unsigned n = 0; n < core->p->ports_n; n++) {
		unsigned port = first + n < core->p->ports_n ? first + n : first + n - core->p->ports_n;
		struct live_uop *u;
		unsigned from;
		uint32_t at;

		if (core->port_free[port] > core->cycle)
			continue;
		from = list_for(core, port, &at);
		if (from == GUS_CORE_PORTS)
			continue;
		u = take_ready(core, from, at);
		if (from != port) {
			core->waiting[from]--;
			core->waiting[port]++;
			u->port = (int8_t)port;
		}
		dispatch_uop(core, u);
	}
}
