/* SPDX-License-Identifier: MIT */
/* The steady state. A machine that repeats the same code comes back to a state that it was in, and from there on does the same
 * again: cycles an iteration are then a ratio of whole numbers. The state is a sum over all that decides about the future,
 * with times relative to now; values of registers are left out, so a pointer that moves along does not hide it. */
#include "model/core/private.h"

static uint64_t ahead(const struct core *k, uint64_t time)
{
	return time == GUS_NEVER ? 1 : time > k->cycle ? time - k->cycle + 1 : 0;
}

static uint64_t sum_uops(const struct core *k, uint64_t sum)
{
	for (uint64_t i = k->slot_head; i < k->slot_tail; i++) {
		const struct live_slot *s = &k->slots[i & k->slot_mask];
		uint64_t late = ahead(k, s->complete);

		sum = gus_mix(sum, (uint64_t)s->op << 40 | (uint64_t)s->waiting << 32 | late);
		for (uint32_t n = 0; (s->waiting || (late && s->n > 1)) && n < s->n; n++) {
			const struct live_uop *u = &k->uops[(s->first + n) & k->uop_mask];

			if (u->dispatched == GUS_NEVER)
				sum = gus_mix(sum, (uint64_t)u->uop << 40 | (uint64_t)(uint8_t)u->port << 32 |
					      (uint64_t)u->pending << 20 | ahead(k, u->ready));
			else
				sum = gus_mix(sum, ahead(k, u->complete));
		}
	}
	return sum;
}

static uint64_t sum_registers(const struct core *k, uint64_t sum)
{
	for (unsigned i = 0; i < k->used_n; i++) {
		unsigned r = k->used[i];
		const struct live_reg *reg = &k->regs[r];
		const struct live_uop *u = &k->uops[(reg->seq - 1) & k->uop_mask];
		uint64_t what = reg->file;

		if (reg->seq && u->seq == reg->seq - 1) {
			if (u->dispatched == GUS_NEVER)
				what |= (k->uop_tail - u->seq) << 24 | (uint64_t)(uint16_t)reg->latency << 8;
			else if (u->dispatched + (uint64_t)(reg->latency + u->more) > k->cycle)
				what |= ahead(k, u->dispatched + (uint64_t)(reg->latency + u->more)) << 8 | 1ull << 63;
		}
		if (what)
			sum = gus_mix(sum, what << 8 ^ r);
	}
	return sum;
}

static uint64_t sum_rest(const struct core *k, uint64_t sum)
{
	for (unsigned p = 0; p < k->p->ports_n; p++)
		sum = gus_mix(sum, ahead(k, k->port_free[p]));
	for (unsigned u = 0; u < k->units_n; u++)
		sum = gus_mix(sum, ahead(k, k->unit_free[u]));
	for (uint64_t i = k->store_head; i < k->store_retired; i++)
		sum = gus_mix(sum, ahead(k, k->stores[i & k->store_mask].ready));
	for (unsigned i = 0; k->o->memory && i < MISSES; i++)
		sum = gus_mix(sum, ahead(k, k->misses[i]));
	if (k->o->memory) {
		sum = gus_mix(sum, ahead(k, k->l2_free));
		sum = gus_mix(sum, ahead(k, k->l3_free) << 20 | ahead(k, k->memory_free));
	}
	if (k->c->l1d_bank_ports)
		sum = gus_mix(sum, k->cycle % k->p->ports_n);
	sum = gus_mix(sum, (k->store_tail - k->store_retired) << 32 | k->turn);
	sum = gus_mix(sum, ahead(k, k->blocked_until) << 2 | (uint64_t)k->have_current);
	return gus_mix(sum, (uint64_t)(k->have_current ? k->current.op + 1 : 0) << 8 | k->slot);
}

static void settle(struct gus_core_result *r, const struct snapshot *from, const struct snapshot *to)
{
	r->steady_cycles = to->cycle - from->cycle;
	r->steady_iterations = to->iteration - from->iteration;
	r->slots = to->slots - from->slots;
	for (unsigned p = 0; p < GUS_CORE_PORTS; p++)
		r->dispatched[p] = to->dispatched[p] - from->dispatched[p];
	for (unsigned i = 0; i < GUS_COMMITS; i++)
		r->commit[i] = to->commit[i] - from->commit[i];
	for (unsigned i = 0; i < GUS_CORE_REASONS; i++)
		r->stop[i] = to->stop[i] - from->stop[i];
}

/* Without a period: the second half of what was run, between ends of iterations. */
static void settle_half(struct core *k, struct gus_core_result *r)
{
	size_t n = k->seen.n;
	const struct snapshot *last, *from;

	if (n < 2) {
		static const struct snapshot none;

		settle(r, &none, &k->total);
		r->steady_iterations = k->retired_iterations;
		return;
	}
	last = &k->seen.v[n - 1];
	from = &k->seen.v[n / 2 - (n == 2)];
	settle(r, from, last);
}

/* Looking costs as much as some cycles do, so the longer it takes the rarer it is done. */
enum { LOOK_LEAST = 12, LOOK_SHARE = 24, CYCLES_MOST = 30000 };

bool gus_core_steady(struct core *k, struct gus_core_result *r)
{
	struct snapshot now;
	uint64_t sum;
	bool last = k->cycle >= CYCLES_MOST && k->issued_iterations >= 8;

	if (k->cycle < k->next_look && !last)
		return false;
	k->next_look = k->cycle + LOOK_LEAST + k->cycle / LOOK_SHARE;
	now = k->total;
	now.cycle = k->cycle;
	now.iteration = k->issued_iterations;
	sum = sum_rest(k, sum_registers(k, sum_uops(k, gus_frontend_state(&k->front, 0))));
	for (size_t i = k->seen.n; i-- > 0;)
		if (k->sums.v[i] == sum && k->seen.v[i].iteration < now.iteration) {
			r->periodic = true;
			settle(r, &k->seen.v[i], &now);
			return true;
		}
	gus_vec_push(&k->seen, now);
	gus_vec_push(&k->sums, sum);
	if (last)
		settle_half(k, r);
	return last;
}
