/* SPDX-License-Identifier: MIT */
/* Loads that go too early, in a run that is fed, of a machine that has store sets. A load goes past stores whose
 * addresses nobody knows yet, unless its set says that it has met one of them. If one of them turns out to be what it
 * reads, all from the load on is thrown away and fetched again:
 *
 *	store   issued . . . . . . . . . . address known
 *	load          would be issued, and go ----'----- penalty -----> issued, and waits for the store
 *	                                          |<---- its set is the store's from here on
 *
 * The engine executes nothing that it would have to take back, so it sees that before: as what is fed says what each
 * load reads, it is known when the load is to be issued that it would go too early. It is not, then; issue waits for
 * the store's address and for the penalty, as it does behind a mispredicted branch, and what would have been issued
 * meanwhile is told as slots of the wrong path. Whether the load would go early is decided in that cycle, too, by
 * whether its own address is to be had; one whose address comes a little later, and still before the store's, is not
 * seen to be too early. */
#include "model/core/private.h"

static uint64_t address_of(const struct core *core, uint32_t insn)
{
	return core->p->insns[insn].offset;
}

static bool is_dispatched(struct core *core, uint64_t producer)
{
	const struct live_uop *u = core_uop(core, producer);

	return u->seq != producer || u->dispatched != GUS_NEVER;
}

void gus_core_enter_set(struct core *core, uint32_t insn, uint64_t number)
{
	gus_storesets_enter(&core->sets, address_of(core, insn), number);
}

void gus_core_find_awaited(struct core *core, unsigned n, uint32_t insn)
{
	core->awaited[n] = gus_storesets_last(&core->sets, address_of(core, insn));
}

static bool awaits(const struct core *core, unsigned n)
{
	return core->awaited[n] > core->store_head && core->awaited[n] != core->forward[n];
}

/* Whether or not the load reads what it wrote. */
void gus_core_await_set(struct core *core, struct live_uop *u, unsigned n)
{
	const struct live_store *s = &core->stores[(core->awaited[n] - 1) & core->store_mask];

	if (!awaits(core, n))
		return;
	if (s->data)
		gus_core_wait(core, u, s->data - 1, 1);
	if (s->addr)
		gus_core_wait(core, u, s->addr - 1, 1);
}

/* Whether it would go at once: its own address is on its way, and it waits for no store of its set. */
static bool goes_early(struct core *core, const struct gus_op *op, unsigned n)
{
	const struct live_store *s = &core->stores[(core->awaited[n] - 1) & core->store_mask];

	if (awaits(core, n) && ((s->data && !is_dispatched(core, s->data - 1)) ||
				(s->addr && !is_dispatched(core, s->addr - 1))))
		return false;
	for (uint32_t i = op->uop; i < op->uop + op->uops_n; i++) {
		const struct gus_uop *uop = &core->p->uops[i];

		if (uop->kind != GUS_UOP_LOAD || uop->again || uop->memory != n)
			continue;
		for (unsigned k = 0; k < uop->in_n; k++) {
			unsigned r = core->p->flows[uop->in + k].reg;
			const struct live_reg *reg = &core->regs[r];

			/* A word that is passed on inside the op is another op's as yet. */
			if (r < GUS_TEMP && reg->seq && !is_dispatched(core, reg->seq - 1))
				return false;
		}
		return true;
	}
	return false;
}

bool gus_core_too_early(struct core *core, const struct gus_op *op)
{
	for (unsigned n = 0; n < op->memories_n && n < ACCESSES; n++) {
		const struct gus_program_memory *m = &core->p->memories[op->memory + n];
		const struct live_store *s = &core->stores[(core->forward[n] - 1) & core->store_mask];
		uint64_t load = address_of(core, op->insn + m->instruction), known;

		if (!m->load || !core->forward[n] || gus_core_renamed(core, op, n))
			continue;
		known = s->addr ? s->addr : s->data;
		if (!known || is_dispatched(core, known - 1) || !goes_early(core, op, n) ||
		    gus_storesets_share(&core->sets, load, address_of(core, s->insn)))
			continue;
		gus_storesets_join(&core->sets, load, address_of(core, s->insn));
		core->early_until = known - 1;
		return true;
	}
	return false;
}
