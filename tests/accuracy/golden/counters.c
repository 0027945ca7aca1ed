/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/counters.h"

#include <stdlib.h>
#include <string.h>

#include "model/code/program.h"

enum { TURN = 65536, TOPDOWN = 1 }; /* cycles of a group's turn; a power of two */

const char *const golden_counter_names[GOLDEN_COUNTERS] = { "cycles", "instructions", "no_retire.all",
	"no_retire.empty", "no_retire.not_complete", "no_retire.load_not_complete", "store_queue_stall", "slots",
	"slots.issued", "slots.wrong_path", "slots.retired", "slots.front_end", "slots.back_end", "slots.recovery",
	"branches.mispredicted", "clears.memory_order", "clears.serialised", "code.l1_misses", "code.tlb_misses",
	"loads.l1_misses", "loads.tlb_misses", "loads.llc_misses" };

/* The commit states are five of the six counters of a Zen 4 and the store queue the sixth; slots are those of an Intel
 * with fixed slots, or of an AMD's six; events fill the rest. */
const struct golden_group golden_groups[GOLDEN_GROUPS] = {
	{ "commit", { GOLDEN_CYCLES, GOLDEN_NO_RETIRE, GOLDEN_NO_RETIRE_EMPTY, GOLDEN_NO_RETIRE_NOT_COMPLETE,
		      GOLDEN_NO_RETIRE_LOAD, GOLDEN_STORE_QUEUE_STALL }, 6 },
	{ "topdown", { GOLDEN_SLOTS, GOLDEN_SLOTS_ISSUED, GOLDEN_SLOTS_RETIRED, GOLDEN_SLOTS_FRONT, GOLDEN_SLOTS_BACK,
		       GOLDEN_SLOTS_RECOVERY }, 6 },
	{ "events", { GOLDEN_MISPREDICTED, GOLDEN_MEMORY_ORDER, GOLDEN_CODE_MISSES, GOLDEN_L1_MISSES,
		      GOLDEN_TLB_MISSES, GOLDEN_LLC_MISSES }, 6 },
};

/* By TEA's events, in the order of their bits; 0: none counts it. */
static const uint8_t counter_of[GUS_CORE_PSV_EVENTS] = { GOLDEN_CODE_MISSES, GOLDEN_CODE_TLB_MISSES, 0,
	GOLDEN_MISPREDICTED, GOLDEN_SERIALISED, GOLDEN_MEMORY_ORDER, GOLDEN_L1_MISSES, GOLDEN_TLB_MISSES,
	GOLDEN_LLC_MISSES };

void golden_counters_begin(struct golden_counters *c, const struct gus_program *p, uint32_t issue_width)
{
	memset(c, 0, sizeof(*c));
	c->p = p;
	c->width = issue_width;
}

void golden_counters_retire(struct golden_counters *c, const struct gus_core_retired *op)
{
	c->count[GOLDEN_SLOTS_RETIRED]++;
	if (!op->ends)
		return;
	c->count[GOLDEN_INSTRUCTIONS] += c->p->ops[op->op].insns_n;
	for (unsigned rest = op->psv; rest; rest &= rest - 1)
		c->count[counter_of[__builtin_ctz(rest)]] += counter_of[__builtin_ctz(rest)] != 0;
}

uint64_t golden_turn_cycles(void)
{
	return TURN;
}

static void add_turn(struct golden_counters *c, const struct golden_group *g)
{
	struct golden_turn turn = { { 0 } };

	for (unsigned i = 0; i < g->n; i++)
		turn.counted[g->counters[i]] = c->count[g->counters[i]] - c->begun[g->counters[i]];
	gus_vec_push(&c->turns, turn);
}

void golden_counters_end(struct golden_counters *c)
{
	gus_vec_free(&c->turns);
}

/* The turn of a group is over: what it has counted. */
static void change_group(struct golden_counters *c)
{
	unsigned which = (unsigned)((c->cycle / TURN - 1) % GOLDEN_GROUPS);
	const struct golden_group *g = &golden_groups[which];

	if (which == TOPDOWN)
		add_turn(c, g);
	for (unsigned i = 0; i < g->n; i++)
		c->counted[g->counters[i]] += c->count[g->counters[i]] - c->begun[g->counters[i]];
	c->running[which] += TURN;
	memcpy(c->begun, c->count, sizeof(c->begun));
}

static void count_empty_slots(struct golden_counters *c, const struct gus_core_cycle *told, uint32_t n)
{
	if (told->stop == GUS_CORE_FRONT_END || told->stop == GUS_CORE_BOUNDARY)
		c->count[GOLDEN_SLOTS_FRONT] += n;
	else if (told->stop == GUS_CORE_MISPREDICT)
		c->count[GOLDEN_SLOTS_RECOVERY] += n;
	else
		c->count[GOLDEN_SLOTS_BACK] += n;
}

void golden_counters_cycle(struct golden_counters *c, const struct gus_core_cycle *told)
{
	uint32_t used = told->issued + told->wrong;

	c->count[GOLDEN_CYCLES]++;
	c->count[GOLDEN_SLOTS] += c->width;
	c->count[GOLDEN_SLOTS_ISSUED] += used;
	c->count[GOLDEN_SLOTS_WRONG] += told->wrong;
	if (used < c->width)
		count_empty_slots(c, told, c->width - used);
	c->count[GOLDEN_STORE_QUEUE_STALL] += told->stop == GUS_CORE_STORE_BUFFER;
	if (told->state != GUS_COMMIT_COMPUTE) {
		c->count[GOLDEN_NO_RETIRE]++;
		c->count[GOLDEN_NO_RETIRE_EMPTY] += told->state != GUS_COMMIT_STALLED;
		c->count[GOLDEN_NO_RETIRE_NOT_COMPLETE] += told->state == GUS_COMMIT_STALLED;
		c->count[GOLDEN_NO_RETIRE_LOAD] += told->state == GUS_COMMIT_STALLED && told->op < c->p->ops_n &&
			c->p->ops[told->op].loads;
	}
	if (!(++c->cycle & (TURN - 1)))
		change_group(c);
}

double golden_counters_read(const struct golden_counters *c, enum golden_counter counter)
{
	for (unsigned which = 0; which < GOLDEN_GROUPS; which++)
		for (unsigned i = 0; i < golden_groups[which].n; i++)
			if (golden_groups[which].counters[i] == counter && c->running[which])
				return (double)c->counted[counter] * (double)c->cycle / (double)c->running[which];
	return 0;
}
