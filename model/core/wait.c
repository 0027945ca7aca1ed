/* SPDX-License-Identifier: MIT */
/* Who waits for whom, and for which cycle. Nothing is looked through cycle by cycle: a uop is touched when it is
 * issued, when the last of its producers is dispatched, and in the cycle in which it can be dispatched itself.
 *
 * That works because times are known early. When a producer is dispatched its latency is known, a miss included, so
 * each uop that waits can be told the cycle in which its operand is there ("late" operands have a smaller delay, or
 * a negative one, from the producer's dispatch). `ready` is the latest that was told so far, and only grows; with
 * the last producer's it is final.
 *
 *	wheel        ready = 1003               ready = 1001 (now + 1)
 *	  . . . | 1002 | 1003 | . . . | 1000 | 1001 | . . .         entry: cycle modulo WHEEL
 *	            |      `- u9 - u4           `- u7
 *	            `- none            ^ now: its list was emptied, into bits of ready[port]
 *
 * Invariant: a uop in the list of entry t (at most one turn ahead) is not needed before cycle t. One whose time is
 * more than a turn away is put into the farthest list and armed again when that comes round. */
#include "model/core/private.h"

static uint32_t new_waiter(struct core *core)
{
	uint32_t node;

	if (core->free_waiter) {
		node = core->free_waiter - 1;
		core->free_waiter = core->waiters.v[node].next;
	} else {
		node = (uint32_t)core->waiters.n;
		gus_vec_push(&core->waiters, (struct waiter){ 0 });
	}
	return node;
}

/* A producer is named by its number. If another uop is in its place in the ring it has retired long ago, and what it
 * made is in a register. */
void gus_core_wait(struct core *core, struct live_uop *u, uint64_t producer, int delay)
{
	struct live_uop *from = core_uop(core, producer);
	uint32_t node, at = (uint32_t)(u->seq & core->uop_mask);
	uint64_t ready;

	if (from->seq != producer)
		return;
	if (from->dispatched != GUS_NEVER) {
		ready = from->dispatched + (uint64_t)(delay + from->more > 0 ? delay + from->more : 0);
		if (ready > u->ready)
			u->ready = ready;
		return;
	}
	/* Two flags of one producer are one wait. */
	if (from->waiters) {
		const struct waiter *last = &core->waiters.v[from->waiters - 1];

		if (last->uop == at && last->delay >= delay)
			return;
	}
	node = new_waiter(core);
	core->waiters.v[node] = (struct waiter){ at, from->waiters, delay };
	from->waiters = node + 1;
	u->pending++;
}

void gus_core_wake_timed(struct core *core)
{
	uint32_t *timed = &core->wheel[core->cycle % WHEEL], node = *timed;

	*timed = 0;
	while (node) {
		struct live_uop *u = &core->uops[node - 1];

		node = u->next_timed;
		gus_core_arm(core, u);
	}
}

void gus_core_wake_waiters(struct core *core, struct live_uop *u)
{
	uint32_t node = u->waiters;

	u->waiters = 0;
	while (node) {
		struct waiter *w = &core->waiters.v[node - 1];
		struct live_uop *to = &core->uops[w->uop];
		int delay = w->delay + u->more;
		uint64_t ready = core->cycle + (uint64_t)(delay > 0 ? delay : 0);
		uint32_t next = w->next;

		if (ready > to->ready)
			to->ready = ready;
		w->next = core->free_waiter;
		core->free_waiter = node;
		if (--to->pending == 0)
			gus_core_arm(core, to);
		node = next;
	}
}
