/* SPDX-License-Identifier: MIT */
/* The steady state: cycles an iteration from now to eternity, without running until then.
 *
 * The engine is deterministic, and a loop gives it the same ops again and again. So what happens from the end of an
 * iteration on is decided by its state there alone, where the state is all that a later cycle looks at, and times
 * count from now. If the states at the ends of iterations i and j are the same, all after j is as after i, T =
 * cycle(j) - cycle(i) later: also the state at j + (j - i) is the same again, and so on.
 *
 *	iteration   0 . . i . . . . . . j . . . . . . 2j - i . . .
 *	            fill  |<--- T ----->|<--- T ----->|                 T / (j - i) cycles an iteration, exactly
 *
 * That ratio is of two whole numbers and has no error of a run that was cut off. Buffers that end make the states
 * finite, so one has to come again; it takes few iterations as a rule. With buffers without end it may not (issue
 * runs ever farther ahead of execution), and then the mean of most of a bounded run is told, and said not to be
 * exact.
 *
 * States are compared by sums of 64 bits. Two different ones have the same sum in one of 2^64 pairs; a run compares
 * some ten thousand pairs at most. What the sum has to keep apart:
 *
 *	times       only as far as they are in the future: all rules ask "later than now?", so all that is past is equal
 *	slots       in flight, in order, by what they execute; who waits for whom follows from the code and the order
 *	registers   by their producers, if these are in flight, counted from the end, as numbers grow
 *	counts      (pools, waiting uops of ports) not at all: they follow from what is in flight
 *
 * Left out are the values of registers and addresses, or a pointer that moves along would make every state a new
 * one. Which store a load reads from is in what it waits for; that later ones go on to meet as those in flight did
 * is taken for granted. */
#include "model/core/core.h"

#include <math.h>

#include "model/core/private.h"

/* A time as the future sees it: 0 is past or now, 1 unknown yet, more the cycles until then plus 1. */
static uint64_t ahead(const struct core *core, uint64_t time)
{
	return time == GUS_NEVER ? 1 : time > core->cycle ? time - core->cycle + 1 : 0;
}

static uint64_t bus_ahead(const struct core *core, uint64_t ticks)
{
	uint64_t now = core->cycle * BUS_TICKS;

	return ticks > now ? ticks - now : 0;
}

/* A slot without uops that wait is what is left of its time; how that came about does not matter any more. */
static uint64_t sum_slot(const struct core *core, const struct live_slot *s, uint64_t sum)
{
	uint64_t late = ahead(core, s->complete);

	sum = gus_mix(sum, (uint64_t)s->op << 40 | (uint64_t)s->waiting << 32 | late);
	for (uint32_t n = 0; (s->waiting || (late && s->n > 1)) && n < s->n; n++) {
		const struct live_uop *u = &core->uops[(s->first + n) & core->uop_mask];

		if (u->dispatched == GUS_NEVER)
			sum = gus_mix(sum, (uint64_t)u->uop << 40 | (uint64_t)(uint8_t)u->port << 32 |
				      (uint64_t)u->pending << 20 | ahead(core, u->ready));
		else
			sum = gus_mix(sum, ahead(core, u->complete));
	}
	return sum;
}

/* In two sums in turn, which need not wait for each other. */
static uint64_t sum_uops(const struct core *core, uint64_t sum)
{
	uint64_t other = core->slot_tail - core->slot_head;

	for (uint64_t i = core->slot_head; i < core->slot_tail; i += 2) {
		sum = sum_slot(core, &core->slots[i & core->slot_mask], sum);
		if (i + 1 < core->slot_tail)
			other = sum_slot(core, &core->slots[(i + 1) & core->slot_mask], other);
	}
	return gus_mix(sum, other);
}

/* A result that is there is no part of the state. One that comes is given by its time; one of a producer that was
 * not dispatched by how far that lies back, and by its latency. `file` is which registers share one (eliminated
 * moves). */
static uint64_t sum_registers(const struct core *core, uint64_t sum)
{
	for (unsigned i = 0; i < core->used_n; i++) {
		unsigned r = core->used[i];
		const struct live_reg *reg = &core->regs[r];
		const struct live_uop *u = &core->uops[(reg->seq - 1) & core->uop_mask];
		uint64_t what = reg->file;

		if (reg->seq && u->seq == reg->seq - 1) {
			if (u->dispatched == GUS_NEVER)
				what |= (core->uop_tail - u->seq) << 24 | (uint64_t)(uint16_t)reg->latency << 8;
			else if (u->dispatched + (uint64_t)(reg->latency + u->more) > core->cycle)
				what |= ahead(core, u->dispatched + (uint64_t)(reg->latency + u->more)) << 8 |
					1ull << 63;
		}
		if (what)
			sum = gus_mix(sum, what << 8 ^ r);
	}
	return sum;
}

/* Ports, units, stores on their way, lines on their way (only an oracle asks for some), whose turn it is, and what
 * issue is at. */
static uint64_t sum_rest(const struct core *core, uint64_t sum)
{
	for (unsigned p = 0; p < core->p->ports_n; p++)
		sum = gus_mix(sum, ahead(core, core->port_free[p]) ^ (uint64_t)core->waiting_seen[0][p] << 32);
	for (unsigned u = 0; u < core->units_n; u++)
		sum = gus_mix(sum, ahead(core, core->unit_free[u]));
	for (uint64_t i = core->store_head; i < core->store_retired; i++)
		sum = gus_mix(sum, ahead(core, core->stores[i & core->store_mask].ready));
	for (unsigned i = 0; core->options->memory && i < MISSES; i++)
		sum = gus_mix(sum, ahead(core, core->misses[i]));
	if (core->options->memory) {
		sum = gus_mix(sum, bus_ahead(core, core->l2_free));
		sum = gus_mix(sum, bus_ahead(core, core->l3_free));
		sum = gus_mix(sum, bus_ahead(core, core->memory_free));
	}
	if (core->c->l1d_bank_ports)
		sum = gus_mix(sum, core->cycle % core->p->ports_n);
	sum = gus_mix(sum, (core->store_tail - core->store_retired) << 32 | core->turn);
	sum = gus_mix(sum, ahead(core, core->commit_free) << 32 ^ core->pair_turns);
	sum = gus_mix(sum, ahead(core, core->blocked_until) << 2 | (uint64_t)core->have_current);
	return gus_mix(sum, (uint64_t)(core->have_current ? core->current->op + 1 : 0) << 8 | core->slot);
}

/* What was done between two moments. */
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

/* Without a period: the second half of the looks, between ends of iterations. That is the last nine tenths of a long
 * run, in which buffers may still fill: then more is issued than done, and the figure is up to 0.4 % below a bound.
 * With the second half of the cycles it is up to 0.2 %, but where in an iteration they begin and end weighs more: the
 * mean distance from runs of 480,000 cycles was 0.054 for 0.064 % (900 blocks of Ice Lake), and 0.020 for 0.017 %
 * (1,842 of Golden Cove). */
static void settle_half(struct core *core, struct gus_core_result *r)
{
	size_t n = core->seen.n;
	const struct snapshot *last, *from;

	if (n < 2) {
		static const struct snapshot none;

		settle(r, &none, &core->total);
		r->steady_iterations = core->retired_iterations;
		return;
	}
	last = &core->seen.v[n - 1];
	from = &core->seen.v[n / 2 - (n == 2)];
	settle(r, from, last);
}

/* Many a block with a choice of ports has no period that is found, as where each uop goes depends on all that wait, but
 * its pace is steady long before the run is given up. It counts as settled when the second, third and fourth quarter of
 * the run took the same time an iteration, but for a share of it, each over several iterations and no fewer slots than
 * are in flight, as before that only what there was room for at first is seen; and when no buffer goes
 * on filling, which would change the pace when it is full: what is in flight has grown by no more than that share of
 * what was issued meanwhile. The share grows with the root of the time, as what still wavers then gains little from
 * running on: to three times of what it is at first, in cycle SETTLE_LEAST.
 *
 * A share of 0.004 leaves a mean difference of 0.06 to 0.2 % from runs that are not ended so, and 1.5 to 8 of a
 * hundred blocks more than 1 % off (five sets of 800 to 12,000 measured blocks); from twice as many cycles on it would
 * be 0.05 to 0.18 %, at three quarters of the speed. The bound of CYCLES_MOST leaves 0.02 to 0.12 % from runs of
 * 240,000 cycles. */
enum { SETTLE_LEAST = 500, SETTLE_ITERATIONS = 8, SETTLE_SHARES = 3 };

/* The first look at or behind a cycle. */
static const struct snapshot *look_at(const struct core *core, const struct snapshot *now, uint64_t cycle)
{
	for (size_t i = 0; i < core->seen.n; i++)
		if (core->seen.v[i].cycle >= cycle)
			return &core->seen.v[i];
	return now;
}

static bool settled(const struct core *core, const struct snapshot *now)
{
	const struct snapshot *ends[] = { look_at(core, now, now->cycle / 4), look_at(core, now, now->cycle / 2),
		look_at(core, now, now->cycle / 4 * 3), now };
	double share = core->options->settled, least = 0, most = 0, late = (double)now->cycle / SETTLE_LEAST;
	uint64_t before = ends[1]->in_flight, grown = now->in_flight > before ? now->in_flight - before :
		before - now->in_flight;

	if (share <= 0 || now->cycle < SETTLE_LEAST)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t n = ends[i + 1]->iteration - ends[i]->iteration;
		double pace = (double)(ends[i + 1]->cycle - ends[i]->cycle) / (double)(n ? n : 1);

		if (n < SETTLE_ITERATIONS || ends[i + 1]->slots - ends[i]->slots < now->in_flight)
			return false;
		least = i && least < pace ? least : pace;
		most = most > pace ? most : pace;
	}
	share *= late < SETTLE_SHARES * SETTLE_SHARES ? sqrt(late) : SETTLE_SHARES;
	return most - least <= share * least && (double)grown <= share * (double)(now->slots - ends[1]->slots);
}

/* Looking costs as much as some cycles do, so the longer it takes the rarer it is done. Ends of iterations that are
 * passed over cost accuracy nothing: the period that is found is then a multiple of the shortest. */
enum { LOOK_LEAST = 12, LOOK_SHARE = 24, CYCLES_MOST = 30000 };

/* The sums of all looks are kept, and the latest is compared first: a period that was come by last is the shortest. */
bool gus_core_steady(struct core *core, struct gus_core_result *r)
{
	struct snapshot now;
	uint64_t sum;
	bool last = core->cycle >= CYCLES_MOST && core->issued_iterations >= 8;

	if (core->cycle < core->next_look && !last)
		return false;
	core->next_look = core->cycle + LOOK_LEAST + core->cycle / LOOK_SHARE;
	now = core->total;
	now.cycle = core->cycle;
	now.iteration = core->issued_iterations;
	now.in_flight = core->slot_tail - core->slot_head + core->store_retired - core->store_head;
	sum = sum_rest(core, sum_registers(core, sum_uops(core, gus_frontend_state(&core->front, 0))));
	for (size_t i = core->seen.n; i-- > 0;)
		if (core->sums.v[i] == sum && core->seen.v[i].iteration < now.iteration) {
			r->periodic = true;
			settle(r, &core->seen.v[i], &now);
			return true;
		}
	if (settled(core, &now)) {
		settle(r, look_at(core, &now, now.cycle / 2), &now);
		return true;
	}
	gus_vec_push(&core->seen, now);
	gus_vec_push(&core->sums, sum);
	if (last)
		settle_half(core, r);
	return last;
}
