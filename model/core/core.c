/* SPDX-License-Identifier: MIT */
/* The cycle of the core engine, its retirement, and how a run begins and ends. The back end is UFS (Palomares 2015,
 * section 7.4); what is in flight, and where, is drawn in private.h.
 *
 *	             cycle c             c + issue_delay        dispatch + latency
 *	queue ------> issue -----------------> dispatch ------------> complete -----> retired, in order
 *	        entries, registers,        port, unit free;      those that wait       entries free from
 *	        a port; sees producers     RS free from c + 1    may be dispatched     the next cycle on
 *
 * The phases of a cycle run from the end of the pipe to its beginning: retire, dispatch, issue, front end. So
 * nothing passes two stages in one cycle without a rule against it: what is issued in this cycle was not there when
 * ports looked, what is dispatched was not complete when retirement looked, and what the front end delivers waits
 * for the issue of the next cycle. The same order lets a uop whose operand is complete in cycle c be dispatched in
 * c. In the other direction, that what leaves makes room, the order would be wrong: entries that retirement and
 * dispatch free are kept apart (`freed`) and given back when the cycle is over, as issue cannot know of them
 * earlier.
 *
 * Two passages have an extra rule: a slot does not retire in the cycle in which it was issued, even if no port
 * executes it (`issued >= cycle`); and a uop is not dispatched sooner than issue_delay cycles, at least one, after
 * its issue. */
#include "model/core/core.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/core/private.h"

/* Retirement. */

/* An access that was fed without an address has one of its own making, of which nobody is told. */
static void tell_access(struct core *core, const struct live_uop *u, struct gus_core_event *event)
{
	const struct live_access *a = core_access(core, u);

	event->address = a->address;
	event->bytes = core->front.fed && gus_front_is_elsewhere(a->address) ? 0 : a->bytes;
	event->level = a->level;
	event->tlb = a->tlb;
	event->translation = a->translation;
	event->miss = a->miss;
}

static void tell_slot(struct core *core, const struct live_slot *slot)
{
	const struct gus_core_listener *l = core->options->listener;

	for (uint32_t i = 0; i < slot->n; i++) {
		const struct live_uop *u = core_uop(core, slot->first + i);
		const struct gus_op *op = &core->p->ops[slot->op];
		uint32_t nth = u->uop - op->uop;
		struct gus_core_event event = { .iteration = slot->iteration, .op = slot->op, .uop = u->uop,
			.port = u->port, .issued = slot->issued, .dispatched = u->dispatched, .completed = u->complete,
			.ready = u->ready < u->dispatched ? u->ready : u->dispatched, /* what has no port is never */
			.retired = core->cycle, .psv = slot->psv,
			.nth = (uint8_t)(nth < UINT8_MAX ? nth : UINT8_MAX),
			.ends = slot->ends_op && i + 1u == slot->n,
			.taken = slot->taken && (op->flags & GUS_OP_BRANCH), .mispredicted = slot->mispredicted };

		if (u->port >= 0 && core->p->uops[u->uop].kind != GUS_UOP_COMPUTE)
			tell_access(core, u, &event);
		l->uop(l->context, &event);
	}
}

/* All that an op took when it was issued is free when its last slot retires (Palomares 2015, section 7.4), but for
 * its stores, which keep their entries until they are in L1, and for the entries of schedulers, which were freed at
 * dispatch. */
static void free_op(struct core *core, const struct live_slot *last)
{
	const struct op_plan *plan = &core->plans[last->op];

	for (unsigned i = 0; i < FOURS; i++)
		fours(core->pools.freed)[i] += fours_of(plan->gives)[i];
	if (last->part && core->hooks->load_leaves)
		core->hooks->load_leaves(core->hooks->context, last->part - 1u);
	if (plan->stores || core->p->ops[last->op].stores)
		gus_core_retire_stores(core, &core->p->ops[last->op], plan->stores);
}

/* What is larger than the whole ROB could never end if it kept its entries until then: microcode, whose uops retire as
 * they come. */
static void free_slot(struct core *core, const struct live_slot *slot)
{
	const struct gus_op *op = &core->p->ops[slot->op];

	core->pools.freed[POOL_ROB] += op->rob > op->slots && slot->n ? (int32_t)slot->n : 1;
}

/* What retired since the last op did is this one's. */
static void note_region(struct core *core, uint32_t region)
{
	core->regions.v[region] += core->cycle - core->region_mark;
	core->region_mark = core->cycle;
}

static void tell_retired(struct core *core, const struct live_slot *slot)
{
	const struct gus_core_listener *l = core->options->listener;
	struct gus_core_retired told = { .iteration = slot->iteration, .op = slot->op, .ends = slot->ends_op };

	core->retired_psv |= slot->psv;
	core->retired_late |= slot->late;
	told.psv = core->retired_psv;
	told.late = core->retired_late;
	l->retire(l->context, &told);
	if (slot->ends_op)
		core->retired_psv = core->retired_late = 0;
}

/* In order, and whole slots only: what is fused in the renamer counts as one for the width. A slot is done when none
 * of its uops waits for dispatch and the latest of the dispatched ones is complete. From then on its uops are behind
 * the head of their ring: readable for who still asks for them as producers, until the tail comes round. */
static void retire(struct core *core)
{
	unsigned slots = 0, width = core->c->retire_width;

	if (core->hooks && core->hooks->retire)
		width = gus_core_ask_retire(core);
	while (slots < width && core->slot_head < core->slot_tail) {
		struct live_slot *slot = core_slot(core, core->slot_head);

		if (!core_slot_done(core, slot))
			break;
		if (core->options->listener && core->options->listener->uop)
			tell_slot(core, slot);
		if (core->options->listener && core->options->listener->retire)
			tell_retired(core, slot);
		core->retired_now += slot->n;
		if (core->plans[slot->op].larger)
			free_slot(core, slot);
		if (slot->ends_op) {
			free_op(core, slot);
			if (core->regions.n)
				note_region(core, slot->region);
		}
		core->retired_iterations += slot->ends_iteration;
		core->retired_cycle = core->cycle;
		core->uop_head = slot->first + slot->n;
		core->slot_head++;
		slots++;
	}
}

/* The cycle. */

/* Of the oldest slot, which did not retire: what its first uop that is not done waits for. */
static enum gus_core_reason why_stalled(struct core *core, const struct live_slot *slot)
{
	for (uint32_t i = 0; i < slot->n; i++) {
		const struct live_uop *u = core_uop(core, slot->first + i);

		if (u->dispatched == GUS_NEVER)
			return u->pending || u->ready > core->cycle ? GUS_CORE_OPERAND : GUS_CORE_EXECUTION;
		if (u->complete > core->cycle && u->level != GUS_HIT_L1)
			return GUS_CORE_MEMORY;
	}
	return GUS_CORE_EXECUTION;
}

static void tell_cycle(struct core *core, struct gus_core_cycle *told)
{
	const struct gus_fetched *next = NULL;

	if (core->slot_head < core->slot_tail) {
		told->op = core_slot(core, core->slot_head)->op;
		told->iteration = core_slot(core, core->slot_head)->iteration;
	} else {
		next = core->have_current ? core->current : gus_frontend_peek(&core->front);
		told->op = next ? next->op : UINT32_MAX;
		told->iteration = next ? next->iteration : 0;
	}
	core->options->listener->cycle(core->options->listener->context, told);
}

/* Each cycle is one of four for retirement (TEA, section 2): something retired; the oldest was not done; there was
 * nothing, because what was last let nothing follow (the path behind it was wrong, or had to wait for it) or what
 * comes next is fetched again; there was nothing for another reason. Empty and flushed are meant at the start of the
 * cycle: what is issued in it could not have retired. */
static void account(struct core *core, struct gus_core_cycle *told, bool empty, bool flushed)
{
	enum gus_commit state = core->retired_now ? GUS_COMMIT_COMPUTE : !empty ? GUS_COMMIT_STALLED :
		flushed ? GUS_COMMIT_FLUSHED : GUS_COMMIT_DRAINED;

	core->total.commit[state]++;
	core->total.stop[core->stop]++;
	if (!core->options->listener || !core->options->listener->cycle)
		return;
	told->cycle = core->cycle;
	told->issued = core->issued_now;
	told->retired = core->retired_now;
	told->wrong = core->wrong_now;
	told->state = state;
	told->of_next = state == GUS_COMMIT_FLUSHED && core->blocks == BLOCKS_ORDER;
	told->stop = core->stop;
	tell_cycle(core, told);
}

static uint32_t free_entries(const struct core *core, enum pools pool)
{
	return core->pools.size[pool] == NO_LIMIT ? 0 : (uint32_t)core->pools.left[pool];
}

/* What is on the wrong path has entries, too, as long as nobody knows that it is: of those that were free then. */
static uint32_t free_rob(const struct core *core)
{
	return core->pools.size[POOL_ROB] == NO_LIMIT ? 0 : (uint32_t)core->pools.left[POOL_ROB] - core->wrong;
}

static void give_back(struct entries *pools)
{
	for (unsigned i = 0; i < POOLS / 4; i++) {
		fours(pools->left)[i] += fours(pools->freed)[i];
		fours(pools->freed)[i] = (four_entries){ 0 };
	}
}

/* Stores leave between retirement and dispatch: one that retires in this cycle can be in L1 in it, and a load that
 * waited for that hears of it before ports look. */
static void run_cycle(struct core *core)
{
	struct gus_core_cycle told = { .free_rs = free_entries(core, POOL_RS),
		.free_rob = free_rob(core) };
	bool empty = core->slot_head == core->slot_tail;
	bool flushed = core->blocked_until > core->cycle;

	core->issued_now = core->retired_now = 0;
	if (core->hooks && core->hooks->shared)
		gus_core_ask_shared(core);
	retire(core);
	if (core->options->listener && !core->retired_now && !empty)
		told.stall = why_stalled(core, core_slot(core, core->slot_head));
	gus_core_commit_stores(core);
	gus_core_dispatch(core);
	gus_core_issue(core);
	core->front.now = core->cycle;
	gus_frontend_cycle(&core->front);
	account(core, &told, empty, flushed);
	give_back(&core->pools);
	core->cycle++;
}

/* Cycles without retirement after which nothing will retire any more: longer than any queue of misses. What a string
 * instruction has written is on its way for as long as that takes, and all stores behind it wait. */
enum { STUCK = 100000 };

int gus_core_cycle(struct core *core, struct gus_error *err)
{
	uint64_t moved = core->retired_cycle > core->commit_free ? core->retired_cycle : core->commit_free;

	run_cycle(core);
	if (core->cycle <= moved + STUCK)
		return 0;
	return gus_fail(err, GUS_E_USAGE, "cannot run the core engine: nothing retires after cycle %llu, so some uop "
			"waits for what the machine does not have", (unsigned long long)core->retired_cycle);
}

/* Beginning and end. */

/* Rings hold what the machine can have in flight, so that they are never the limit themselves; where the machine has
 * none, issue stops in front of a full ring as it would in front of a full ROB (room_for_slot, room_for_op). */
static uint64_t ring(uint64_t least)
{
	uint64_t size = 64;

	while (size < least)
		size *= 2;
	return size;
}

int gus_core_check_ports(const struct gus_program *p, uint32_t first_uop, struct gus_error *err)
{
	uint64_t ports = p->ports_n >= 64 ? ~0ull : (1ull << p->ports_n) - 1;

	for (uint32_t i = first_uop; i < p->uops_n; i++)
		if (p->uops[i].ports & ~ports)
			return gus_fail(err, GUS_E_USAGE, "cannot run the core engine: uop %u has a port that the CPU "
					"has not", i);
	return 0;
}

static int check(const struct gus_program *p, const struct gus_core_config *c, struct gus_error *err)
{
	if (!p->ops_n)
		return gus_fail(err, GUS_E_USAGE, "cannot run the core engine: the program is empty");
	if (gus_core_config_check(c, err) != 0)
		return -1;
	return gus_core_check_ports(p, 0, err);
}

/* What an op takes as a whole, and gives back as a whole (free_op), but for its stores, which leave later. */
static void find_op_needs(const struct gus_op *op, int32_t *entries)
{
	entries[POOL_LOADS] = op->loads;
	entries[POOL_BRANCHES] = (op->flags & GUS_OP_BRANCH) != 0;
	entries[POOL_INT] = op->results[GUS_REGFILE_INT];
	entries[POOL_VECTOR] = op->results[GUS_REGFILE_VECTOR];
	entries[POOL_MASK] = op->results[GUS_REGFILE_MASK];
	entries[POOL_RENAMES] = (int32_t)gus_op_results(op);
}

/* The uops of an op lie together, in the order of their slots; a slot may have none (the second half of a nop of two).
 * Where the ROB keeps fused uops in one entry a slot takes one, else one for each uop. Slots take them one by one and
 * free_op gives op->rob back at once, so their sum has to be that. */
static uint32_t find_slot_need(const struct core *core, const struct gus_op *op, unsigned slot, uint32_t at,
			       struct slot_need *need)
{
	const struct gus_uop *uops = core->p->uops;

	need->first = at;
	if (slot == 0) {
		find_op_needs(op, need->entries);
		need->entries[POOL_STORES] = op->stores;
	}
	for (; at < op->uop + op->uops_n && uops[at].slot == slot; at++) {
		uint8_t pool = uops[at].ports ? core->port_pool[__builtin_ctzll(uops[at].ports)] : POOL_RS;

		need->n++;
		need->entries[POOL_RS] += uops[at].ports != 0;
		need->entries[pool] += pool != POOL_RS;
	}
	need->entries[POOL_ROB] = op->rob > op->slots && need->n ? (int32_t)need->n : 1;
	return at;
}

static void find_most(struct core *core, uint32_t from, uint32_t needs)
{
	/* No more than the rings take at all. */
	uint32_t width = core->c->issue_width < 4096 ? core->c->issue_width : 4096;

	for (uint32_t i = from; i < needs; i++) {
		const struct slot_need *need = &core->needs[i];

		for (unsigned pool = 0; pool < POOLS; pool++)
			if (need->entries[pool] * (int32_t)width > core->most[pool])
				core->most[pool] = need->entries[pool] * (int32_t)width;
		if (need->n * width > core->most_uops)
			core->most_uops = need->n * width;
	}
}

/* What the slots of all ops need, found once, and what else is asked of each op. */
static void find_needs(struct core *core)
{
	const struct gus_program *p = core->p;
	uint32_t n = core->needs_n;

	for (uint32_t i = core->ops_n; i < p->ops_n; i++)
		n += p->ops[i].slots;
	core->needs = gus_resize(core->needs, n + 1u, sizeof(*core->needs));
	memset(core->needs + core->needs_n, 0, (n - core->needs_n) * sizeof(*core->needs));
	core->plans = gus_resize(core->plans, p->ops_n + 1u, sizeof(*core->plans));
	memset(core->plans + core->ops_n, 0, (p->ops_n - core->ops_n) * sizeof(*core->plans));
	n = core->needs_n;
	for (uint32_t i = core->ops_n; i < p->ops_n; i++) {
		const struct gus_op *op = &p->ops[i];
		struct op_plan *plan = &core->plans[i];
		uint32_t at = op->uop;

		plan->first_need = n;
		plan->follows = op->memories_n != 0;
		for (unsigned insn = 0; insn < op->insns_n; insn++)
			plan->follows |= gus_values_follows(&core->values, op->insn + insn);
		for (unsigned k = 0; k < op->memories_n && k < ACCESSES; k++)
			plan->stores += p->memories[op->memory + k].store;
		find_op_needs(op, plan->gives);
		plan->larger = core->c->rob && op->rob > core->c->rob;
		plan->gives[POOL_ROB] = plan->larger ? 0 : op->rob;
		for (unsigned slot = 0; slot < op->slots; slot++)
			at = find_slot_need(core, op, slot, at, &core->needs[n++]);
	}
	find_most(core, core->needs_n, n);
	core->needs_n = n;
	core->ops_n = p->ops_n;
}

/* Which scheduler ports have, and which uops are not bound to them. The oldest uop that is ready for a port can always
 * go (it is plain) if uops are bound to it and need no unit or bank. */
static void find_ports(struct core *core)
{
	const enum gus_core_binding binding = (enum gus_core_binding)core->c->port_binding;

	for (unsigned i = 0; i < core->p->ports_n; i++) {
		enum gus_core_station station = gus_core_station_of(core->c, core->p->port_names[i]);
		bool of_int = station == GUS_CORE_STATION_INT;

		core->port_pool[i] = (uint8_t)(POOL_RS + station);
		core->stations |= station != GUS_CORE_STATION_WHOLE;
		core->int_ports |= (uint64_t)of_int << i;
		if (binding == GUS_CORE_BIND_ANY || (binding == GUS_CORE_BIND_TURNS && !of_int))
			core->unbound_ports |= 1ull << i;
	}
	core->plain_ports = ~core->unbound_ports;
}

/* Which of them uops that are new can choose from, and which units there are. */
static void find_choices(struct core *core)
{
	for (; core->uops_n < core->p->uops_n; core->uops_n++) {
		const struct gus_uop *uop = &core->p->uops[core->uops_n];

		if (uop->unit >= core->units_n)
			core->units_n = uop->unit + 1u;
		if (uop->ports && !(uop->ports & ~core->int_ports) && __builtin_popcountll(uop->ports) > core->widest)
			core->widest = __builtin_popcountll(uop->ports);
		if (uop->unit || (uop->kind == GUS_UOP_LOAD && core->c->l1d_bank_ports))
			core->plain_ports &= ~uop->ports;
	}
}

/* Registers that the program uses: the state of others is always the same. */
static void find_used(struct core *core)
{
	bool written[GUS_PROGRAM_REGS] = { false };

	for (uint32_t i = 0; i < core->p->uops_n; i++)
		for (unsigned n = 0; n < core->p->uops[i].out_n; n++)
			written[core->p->flows[core->p->uops[i].out + n].reg] = true;
	for (unsigned r = 0; r < GUS_PROGRAM_REGS; r++)
		if (written[r])
			core->used[core->used_n++] = (uint8_t)r;
}

void gus_core_grow(struct core *core)
{
	find_choices(core);
	find_needs(core);
	gus_frontend_grow(&core->front);
}

void gus_core_begin(struct core *core, const struct gus_program *p, const struct gus_core_config *c,
		    const struct gus_core_options *options, struct gus_fed *fed)
{
	const uint32_t sizes[POOLS] = { [POOL_ROB] = c->rob, [POOL_RS] = c->rs, [POOL_RS_INT] = c->rs_int,
		[POOL_RS_VECTOR] = c->rs_vector, [POOL_RS_MEMORY] = c->rs_memory, [POOL_LOADS] = c->load_buffer,
		[POOL_STORES] = c->store_buffer, [POOL_BRANCHES] = c->branch_buffer, [POOL_RENAMES] = c->renames,
		[POOL_INT] = c->int_renames, [POOL_VECTOR] = c->vector_renames, [POOL_MASK] = c->mask_renames };
	uint64_t slots = ring(c->rob && c->rob < 4096 ? c->rob + 8 : 4096), uops = slots * 2;
	uint64_t stores = ring(c->store_buffer && c->store_buffer < STORES_MOST / 2 ? c->store_buffer + 2 * ACCESSES :
		STORES_MOST);

	*core = (struct core){ .p = p, .c = c, .options = options, .hooks = options->hooks, .width = c->issue_width,
		.port_width = options->hooks && options->hooks->port_width ? options->hooks->port_width : 1 };
	for (unsigned i = 0; i < POOLS; i++)
		core->pools.size[i] = sizes[i] && sizes[i] < NO_LIMIT ? (int32_t)sizes[i] : NO_LIMIT;
	memcpy(core->pools.left, core->pools.size, sizeof(core->pools.left));
	/* An entry of these is written when it gets its number, and asked for by that number only. */
	core->slots = gus_alloc(slots * sizeof(*core->slots));
	core->slot_mask = slots - 1;
	core->uops = gus_alloc(uops * sizeof(*core->uops));
	core->accesses = gus_alloc(uops * sizeof(*core->accesses));
	core->uop_mask = uops - 1;
	core->stores = gus_alloc(stores * sizeof(*core->stores));
	core->store_mask = stores - 1;
	core->wheel = gus_zalloc(WHEEL * sizeof(*core->wheel));
	for (unsigned i = 0; i < p->ports_n; i++)
		core->ready[i] = gus_zalloc(uops / 8);
	gus_frontend_begin(&core->front, p, c, options, fed);
	/* What is fed has its addresses with it. */
	gus_values_begin(&core->values, p, fed ? GUS_CORE_POINTERS_NONE : options->pointers);
	find_ports(core);
	find_choices(core);
	find_needs(core);
	find_used(core);
	if (fed && c->store_sets)
		gus_storesets_begin(&core->sets, c->store_sets);
	if (core->hooks && core->hooks->replay)
		core->vain = gus_zalloc(WHEEL * sizeof(*core->vain));
	if (core->hooks && core->hooks->begin)
		core->hooks->begin(core->hooks->context);
}

void gus_core_end(struct core *core)
{
	gus_values_end(&core->values);
	gus_frontend_end(&core->front);
	gus_storesets_end(&core->sets);
	for (unsigned i = 0; i < core->p->ports_n; i++)
		free(core->ready[i]);
	gus_vec_free(&core->waiters);
	gus_vec_free(&core->seen);
	gus_vec_free(&core->sums);
	gus_vec_free(&core->regions);
	free(core->needs);
	free(core->plans);
	free(core->wheel);
	free(core->vain);
	free(core->uops);
	free(core->accesses);
	free(core->stores);
	free(core->slots);
}

bool gus_core_over(const struct core *core)
{
	const struct gus_frontend *f = &core->front;

	return f->ended && !core->have_current && !f->queue_n && !f->found_n && core->slot_head == core->slot_tail;
}

/* The whole run is what is told. */
static void whole(const struct core *core, struct gus_core_result *r)
{
	r->steady_cycles = core->cycle;
	r->steady_iterations = core->retired_iterations;
	r->slots = core->total.slots;
	memcpy(r->dispatched, core->total.dispatched, sizeof(r->dispatched));
	memcpy(r->commit, core->total.commit, sizeof(r->commit));
	memcpy(r->stop, core->total.stop, sizeof(r->stop));
}

/* A run is bounded by iterations or by its source, and then ends when all has retired and the whole of it is told;
 * or it runs until the steady state is found, and that is told. At the end of an iteration is when its last op was
 * issued: there the state of the front end is simplest, and it is passed in each iteration whatever is still in
 * flight. */
int gus_core_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *options,
		 struct gus_core_result *r, struct gus_error *err)
{
	struct core *core;
	bool bounded = options->iterations || options->source, done = false;
	int status = 0;

	*r = (struct gus_core_result){ 0 };
	if (check(p, c, err) != 0)
		return -1;
	if (options->memory && options->memory->begin) {
		if (!bounded)
			return gus_fail(err, GUS_E_USAGE, "the core engine finds no steady state where what accesses "
					"hit depends on those before: give a number of iterations");
		options->memory->begin(options->memory->context);
	}
	core = gus_alloc(sizeof(*core));
	gus_core_begin(core, p, c, options, NULL);
	while (!done && status == 0) {
		uint64_t iterations = core->issued_iterations;

		status = gus_core_cycle(core, err);
		if (bounded)
			done = gus_core_over(core);
		else if (core->issued_iterations > iterations)
			done = gus_core_steady(core, r);
	}
	if (bounded)
		whole(core, r);
	r->cycles = core->cycle;
	r->iterations = core->retired_iterations;
	r->fetch = core->front.mode;
	gus_core_end(core);
	free(core);
	return status;
}
