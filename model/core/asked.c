/* SPDX-License-Identifier: MIT */
/* What the hooks of a machine are asked (model/machine/hooks.h), but for those of memory, which stand where lines and
 * pages are asked for. Nothing here is called where there are no hooks. */
#include "model/core/private.h"

void gus_core_ask_shared(struct core *core)
{
	unsigned taken;

	core->shared = 0;
	taken = core->hooks->shared(core->hooks->context, &core->shared, core->cycle);
	core->width = taken < core->c->issue_width ? core->c->issue_width - taken : 0;
}

/* A port is taken by who goes in vain: noted for the cycle, or the next in which the port was not taken so, and looked
 * at when that comes (dispatch.c, keep_in_vain). Uops that may take any port go in vain on the one that they were
 * given. */
static void take_in_vain(struct core *core, unsigned port, uint64_t cycle)
{
	if (cycle <= core->cycle)
		cycle = core->cycle + 1;
	while (cycle - core->cycle < WHEEL && (core->vain[cycle % WHEEL] >> port & 1))
		cycle++;
	if (cycle - core->cycle < WHEEL)
		core->vain[cycle % WHEEL] |= 1ull << port;
}

/* The load is `missed` cycles later than a hit, which is no longer than those took it for that were to be woken by it.
 * One that waits for something else, too, or for what comes later still, did not go. */
static void replay(struct core *core, struct live_uop *u, int missed)
{
	uint32_t returned = core->hooks->replay(core->hooks->context, (uint64_t)missed, core->cycle);
	int32_t later = returned < LATEST ? (int32_t)returned : LATEST;

	if (returned == UINT32_MAX)
		return;
	for (uint32_t node = u->waiters; node; node = core->waiters.v[node - 1].next) {
		struct waiter *w = &core->waiters.v[node - 1];
		const struct live_uop *to = &core->uops[w->uop];
		int hit = w->delay + u->more - missed, data = w->delay + u->more;
		uint64_t went = core->cycle + (uint64_t)(hit > 0 ? hit : 0);

		went = to->ready > went ? to->ready : went;
		if (to->pending > 1 || went >= core->cycle + (uint64_t)(data > 0 ? data : 0))
			continue;
		take_in_vain(core, (unsigned)to->port, went);
		w->delay += later;
	}
}

void gus_core_ask_dispatched(struct core *core, struct live_uop *u, const struct gus_uop *uop)
{
	const struct gus_core_hooks *hooks = core->hooks;
	const struct live_access *a = core_access(core, u);
	bool missed = uop->kind == GUS_UOP_LOAD && (a->translation || a->miss) && u->more > 0;
	int late = missed ? u->more : 0;

	if (hooks->latency) {
		unsigned cycles = hooks->latency(hooks->context, (unsigned)u->port, uop->kind, core->cycle);
		int more = u->more + (int)(cycles < LATEST ? cycles : LATEST);

		u->more = (int16_t)(more < LATEST ? more : LATEST);
	}
	if (hooks->replay && missed && u->waiters)
		replay(core, u, late);
}

unsigned gus_core_ask_retire(struct core *core)
{
	uint64_t issued[RETIRED_NOW];
	unsigned width = core->c->retire_width, n = 0, retire;

	for (; n < width && n < RETIRED_NOW && core->slot_head + n < core->slot_tail; n++) {
		const struct live_slot *slot = core_slot(core, core->slot_head + n);

		if (!core_slot_done(core, slot))
			break;
		issued[n] = slot->issued;
	}
	if (!n)
		return 0;
	retire = core->hooks->retire(core->hooks->context, issued, n, core->cycle);
	return retire < n ? retire : n;
}

/* Of several loads of an op the first one's address stands for all. */
static uint64_t address_of_load(const struct core *core, const struct gus_op *op)
{
	uint64_t address = 0;

	for (unsigned n = op->memories_n < ACCESSES ? op->memories_n : ACCESSES; n-- > 0;)
		if (core->p->memories[op->memory + n].load && core->current->addressed)
			address = core->front.told[core->current->told].address[n];
	return core->front.fed && gus_front_is_elsewhere(address) ? 0 : address;
}

bool gus_core_ask_load(struct core *core, const struct gus_op *op)
{
	unsigned part = 0;

	core->part = 0;
	if (!op->loads)
		return true;
	if (!core->hooks->load_enters(core->hooks->context, address_of_load(core, op), &part))
		return false;
	core->part = (uint16_t)(part + 1);
	return true;
}
