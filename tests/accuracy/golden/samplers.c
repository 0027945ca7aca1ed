/* SPDX-License-Identifier: MIT */
/* The cycle of all samplers: what has retired settles what waited for it, then come the triggers of the cycle, then
 * tags. Within a cycle the engine tells of retirement before it tells of the cycle, and a tag of a cycle is on what was
 * issued in it, which can only retire later. */
#include "tests/accuracy/golden/samplers.h"

#include <string.h>

#include "model/code/program.h"
#include "model/core/pics.h"
#include "tests/accuracy/golden/passes.h"

enum {
	ALL = GUS_CORE_DR_L1 | GUS_CORE_DR_TLB | GUS_CORE_DR_SQ | GUS_CORE_FL_MB | GUS_CORE_FL_EX | GUS_CORE_FL_MO |
		GUS_CORE_ST_L1 | GUS_CORE_ST_TLB | GUS_CORE_ST_LLC,
	LOADS = GUS_CORE_ST_L1 | GUS_CORE_ST_TLB | GUS_CORE_ST_LLC,
	TOGETHER = 64, TAGS = 4096, LBR = GOLDEN_BRANCHES, FLIGHT = 64,
};

const struct golden_scheme_kind golden_schemes[GOLDEN_SCHEMES] = {
	[GOLDEN_TEA] = { "tea", false, 0, ALL, true },
	[GOLDEN_NCI] = { "nci", false, 0, ALL, true },
	[GOLDEN_NCI_1] = { "nci-1", false, 0, ALL, true },
	[GOLDEN_NCI_2] = { "nci-2", false, 0, ALL, true },
	[GOLDEN_BY_PEBS] = { "pebs", true, GOLDEN_PEBS, GUS_CORE_FL_MB, true },
	[GOLDEN_BY_PEBS_1] = { "pebs-1", true, GOLDEN_PEBS, 0, true },
	[GOLDEN_BY_PEBS_2] = { "pebs-2", true, GOLDEN_PEBS, 0, true },
	[GOLDEN_BY_TPEBS] = { "tpebs", true, GOLDEN_TPEBS, 0, true },
	[GOLDEN_BY_LOADS] = { "loads", true, GOLDEN_LOADS, LOADS, false },
	[GOLDEN_BY_IBS_CYCLES] = { "ibs-cycles", true, GOLDEN_IBS_CYCLES, GUS_CORE_FL_MB | LOADS, true },
	[GOLDEN_BY_IBS_OPS] = { "ibs-ops", true, GOLDEN_IBS_OPS, GUS_CORE_FL_MB | LOADS, true },
	[GOLDEN_BY_SPE] = { "spe", true, GOLDEN_SPE, GUS_CORE_FL_MB | GUS_CORE_FL_EX | LOADS, true },
	[GOLDEN_BY_SPE_SLOW] = { "spe-slow", true, GOLDEN_SPE_SLOW, GUS_CORE_FL_MB | GUS_CORE_FL_EX | LOADS, false },
	[GOLDEN_BY_PMU] = { "pmu", true, GOLDEN_PMU, ALL, true },
	[GOLDEN_BY_TIMER] = { "timer", true, GOLDEN_TIMER, ALL, true },
	[GOLDEN_BY_COST_CODE] = { "cost-code", true, GOLDEN_COST_CODE, GUS_CORE_DR_L1, false },
	[GOLDEN_BY_COST_CODE_TLB] = { "cost-code-tlb", true, GOLDEN_COST_CODE_TLB, GUS_CORE_DR_TLB, false },
	[GOLDEN_BY_COST_BRANCH] = { "cost-branch", true, GOLDEN_COST_BRANCH, GUS_CORE_FL_MB, false },
	[GOLDEN_BY_COST_L1] = { "cost-l1", true, GOLDEN_COST_L1, GUS_CORE_ST_L1, false },
	[GOLDEN_BY_COST_TLB] = { "cost-tlb", true, GOLDEN_COST_TLB, GUS_CORE_ST_TLB, false },
	[GOLDEN_BY_COST_LLC] = { "cost-llc", true, GOLDEN_COST_LLC, GUS_CORE_ST_LLC, false },
};

/* Events with a cost: so many times as often as cycles trigger. Those of the front end share a register that says
 * which of them is meant, so they take turns of so many cycles, a power of two. */
enum { COSTS = GOLDEN_SCHEMES - GOLDEN_BY_COST_CODE, OFTEN = 10, TURN = 65536 };

struct retired { uint32_t op; uint16_t psv; uint8_t weight; bool ends; };
struct share { uint64_t trigger; uint32_t ticks; };
struct armed { uint64_t trigger, from; };       /* waits for the first that retires from that cycle on */
struct interrupt { uint64_t trigger, from; unsigned behind; bool next; }; /* next: the oldest has retired */

/* On what was issued in a cycle, in its slot-th slot. */
struct tag {
	uint64_t trigger, cycle;
	uint32_t slot;
	uint8_t scheme, pass;
	bool is_load, done;
	uint32_t load_issue, load_complete;
	struct golden_seen seen;
};

/* A sampler that tags what is dispatched: one tag of a pass at a time. */
struct tagger {
	struct golden_passes passes;
	uint64_t lost, samples, trigger;
	bool in_flight[FLIGHT];         /* by pass */
	uint64_t waiting[FLIGHT];       /* by pass: the trigger that waits for something to be dispatched, plus 1 */
	unsigned waiting_n;
};

/* A sampler of what retires, by count. */
struct counting {
	struct golden_passes passes;
	uint64_t count, samples;
};

struct golden_samplers {
	const struct gus_program *p;
	struct golden_samplers_options o;
	struct golden_draw draw;
	struct retired now[TOGETHER];
	unsigned now_n;
	uint64_t cycle, cycles;
	/* TEA. */
	struct golden_passes triggers;
	struct gus_vec(struct share) waiting;
	uint32_t last_op; uint16_t last_psv; bool has_last;
	/* Next committing instruction, by delay; with it PEBS. */
	struct gus_vec(struct armed) armed[3];
	/* Interrupts: of the PMU, and of a timer. */
	struct gus_vec(struct interrupt) interrupts[2];
	uint64_t samples[GOLDEN_SCHEMES];
	/* Tags, in the order of the cycles that they are of. */
	struct tagger by_cycles, by_ops, spe;
	struct tag *tags;
	uint64_t tags_head, tags_tail;
	uint64_t dispatched;
	uint64_t slot_cycle;
	uint32_t slot;                  /* of those that were issued in that cycle, the one that retires next */
	/* Instructions and loads that retire. */
	struct counting instructions, loads, costs[COSTS];
	unsigned behind;                /* triggers of the event whose cost is that of the next instruction */
	uint64_t retired_cycle;         /* of the last op that ended */
	/* Branches that were taken, the newest at branches_n - 1, modulo LBR. */
	struct golden_branch branches[LBR];
	uint64_t branches_n, branches_now;   /* now: of this cycle */
	uint64_t branch_cycle;
	bool target_is_next;
	struct golden_branch ordered[LBR];
};

static uint64_t address_of(const struct golden_samplers *s, uint32_t op)
{
	return s->p->insns[s->p->ops[op].insn].offset;
}

/* NULL: it tags nothing. */
static const struct tagger *tagger_of(const struct golden_samplers *s, enum golden_scheme scheme)
{
	return scheme == GOLDEN_BY_IBS_CYCLES ? &s->by_cycles : scheme == GOLDEN_BY_IBS_OPS ? &s->by_ops :
		scheme == GOLDEN_BY_SPE || scheme == GOLDEN_BY_SPE_SLOW ? &s->spe : NULL;
}

static const struct golden_passes *passes_of(const struct golden_samplers *s, enum golden_scheme scheme)
{
	const struct tagger *t = tagger_of(s, scheme);

	if (t && t != &s->by_cycles)
		return &t->passes;
	if (scheme >= GOLDEN_BY_COST_CODE)
		return &s->costs[scheme - GOLDEN_BY_COST_CODE].passes;
	return scheme == GOLDEN_BY_TPEBS ? &s->instructions.passes : scheme == GOLDEN_BY_LOADS ? &s->loads.passes :
		&s->triggers;
}

static void emit(struct golden_samplers *s, enum golden_scheme scheme, struct golden_seen *seen)
{
	seen->sample.tid = s->o.tid;
	seen->sample.period = passes_of(s, scheme)->period;
	s->samples[scheme]++;
	s->o.take(s->o.context, scheme, seen);
}

/* TEA. The policies are those of model/core/pics.h. */

static void emit_share(struct golden_samplers *s, uint64_t trigger, uint32_t op, uint16_t psv, uint32_t ticks)
{
	struct golden_seen seen = { .trigger = trigger, .op = op, .psv = psv, .ticks = ticks };

	seen.sample.cycle = s->cycle;
	seen.sample.tid = s->o.tid;
	seen.sample.ip = address_of(s, op);
	s->o.take(s->o.context, GOLDEN_TEA, &seen);
}

static void settle_shares(struct golden_samplers *s)
{
	if (!s->now[0].ends)
		return;
	for (size_t i = 0; i < s->waiting.n; i++)
		emit_share(s, s->waiting.v[i].trigger, s->now[0].op, s->now[0].psv, s->waiting.v[i].ticks);
	s->waiting.n = 0;
}

static void share_sample(struct golden_samplers *s, uint64_t trigger)
{
	uint32_t left = GUS_PICS_TICKS;
	unsigned weights = 0;

	for (unsigned i = 0; i < s->now_n; i++)
		weights += s->now[i].weight;
	for (unsigned i = s->now_n; i-- > 0;) {
		uint32_t ticks = i ? GUS_PICS_TICKS / weights * s->now[i].weight : left;

		left -= ticks;
		if (s->now[i].ends)
			emit_share(s, trigger, s->now[i].op, s->now[i].psv, ticks);
		else
			gus_vec_push(&s->waiting, (struct share){ trigger, ticks });
	}
}

static void sample_tea(struct golden_samplers *s, const struct gus_core_cycle *c, uint64_t trigger)
{
	s->samples[GOLDEN_TEA]++;
	if (s->now_n)
		share_sample(s, trigger);
	else if (c->state == GUS_COMMIT_FLUSHED && !c->of_next && s->has_last)
		emit_share(s, trigger, s->last_op, s->last_psv, GUS_PICS_TICKS);
	else
		gus_vec_push(&s->waiting, (struct share){ trigger, GUS_PICS_TICKS });
}

/* Branches. */

static void note_branch(struct golden_samplers *s, uint32_t op, uint16_t psv)
{
	const struct gus_op *o = &s->p->ops[op];
	struct golden_branch *b;
	uint64_t since = s->cycle - s->branch_cycle;

	if (!(o->flags & GUS_OP_BRANCH) || ((o->flags & GUS_OP_CONDITIONAL) && !(o->flags & GUS_OP_TAKEN)))
		return;
	b = &s->branches[s->branches_n++ % LBR];
	*b = (struct golden_branch){ .from = s->p->insns[o->insn + o->insns_n - 1u].offset,
		.cycles = (uint16_t)(since < UINT16_MAX ? since : UINT16_MAX),
		.mispredicted = (psv & GUS_CORE_FL_MB) != 0 };
	s->branch_cycle = s->cycle;
	s->branches_now++;
	s->target_is_next = true;
}

/* Those before this cycle, the newest first. */
static unsigned order_branches(struct golden_samplers *s)
{
	uint64_t end = s->branches_n - s->branches_now;
	unsigned n = 0;

	for (; n < LBR && n < end && end - n + LBR > s->branches_n; n++)
		s->ordered[n] = s->branches[(end - n - 1) % LBR];
	return n;
}

/* The next that retires. */

static void sample_next(struct golden_samplers *s, unsigned delay, uint64_t trigger, const struct retired *next)
{
	struct golden_seen seen = { .trigger = trigger, .op = next->op, .psv = next->psv, .ticks = GUS_PICS_TICKS };

	seen.sample.cycle = s->cycle;
	seen.sample.ip = address_of(s, next->op);
	emit(s, (enum golden_scheme)(GOLDEN_NCI + delay), &seen);
	if (!delay) { /* the others have the same */
		seen.sample.branches = s->ordered;
		seen.sample.branches_n = order_branches(s);
	}
	emit(s, (enum golden_scheme)(GOLDEN_BY_PEBS + delay), &seen);
}

static const struct retired *first_ended(const struct golden_samplers *s)
{
	for (unsigned i = 0; i < s->now_n; i++)
		if (s->now[i].ends)
			return &s->now[i];
	return NULL;
}

static void settle_armed(struct golden_samplers *s)
{
	const struct retired *next = first_ended(s);

	for (unsigned delay = 0; next && delay < 3; delay++) {
		size_t left = 0;

		for (size_t i = 0; i < s->armed[delay].n; i++) {
			struct armed a = s->armed[delay].v[i];

			if (a.from <= s->cycle)
				sample_next(s, delay, a.trigger, next);
			else
				s->armed[delay].v[left++] = a;
		}
		s->armed[delay].n = left;
	}
}

/* Interrupts land on the instruction behind the oldest that was not done when they were noticed, which retires first;
 * a few on that one itself, a few farther behind. The PMU's comes some cycles after its counter has run over. */

/* Of 1,000 interrupts, so many land on the oldest, on the first behind it, and so on: measured with cpu-clock by
 * tests/accuracy/skid on a Zen 4 in a virtual machine (0 to 2.3 %, 96.9 to 99.6 %, 0.03 %, 0.6 % farther). */
static const uint16_t lands[] = { 12, 982, 1, 5 };

static unsigned draw_landing(struct golden_samplers *s)
{
	uint32_t x = golden_draw_below(&s->draw, 1000), sum = 0;
	unsigned i = 0;

	while (i + 1 < sizeof(lands) / sizeof(*lands) && x >= (sum += lands[i]))
		i++;
	return i;
}

static void begin_interrupt(struct golden_samplers *s, unsigned which, uint64_t trigger)
{
	uint64_t from = s->cycle + (which ? 0 : golden_draw_between(&s->draw, 20, 60));

	gus_vec_push(&s->interrupts[which], (struct interrupt){ trigger, from, draw_landing(s), false });
}

static void land(struct golden_samplers *s, unsigned which, const struct interrupt *i, const struct retired *at)
{
	struct golden_seen seen = { .trigger = i->trigger, .op = at->op, .psv = at->psv, .ticks = GUS_PICS_TICKS };

	seen.sample.cycle = s->cycle;
	seen.sample.ip = address_of(s, at->op);
	emit(s, which ? GOLDEN_BY_TIMER : GOLDEN_BY_PMU, &seen);
}

/* What retires with the oldest in the same cycle is before the interrupt, too. */
static bool move_interrupt(struct golden_samplers *s, unsigned which, struct interrupt *i)
{
	unsigned at = 0;

	if (!i->next && i->from > s->cycle)
		return false;
	if (!i->next && i->behind) {
		i->next = true;
		i->behind--;
		return false;
	}
	for (; at < s->now_n; at++) {
		if (!s->now[at].ends)
			continue;
		if (!i->behind) {
			land(s, which, i, &s->now[at]);
			return true;
		}
		i->behind--;
	}
	return false;
}

static void settle_interrupts(struct golden_samplers *s)
{
	for (unsigned which = 0; which < 2 && first_ended(s); which++) {
		size_t left = 0;

		for (size_t i = 0; i < s->interrupts[which].n; i++)
			if (!move_interrupt(s, which, &s->interrupts[which].v[i]))
				s->interrupts[which].v[left++] = s->interrupts[which].v[i];
		s->interrupts[which].n = left;
	}
}

/* Tags. */

static void lose(struct tagger *t, unsigned pass)
{
	t->lost++;
	t->in_flight[pass] = false;
}

static void put_tag(struct golden_samplers *s, struct tagger *t, enum golden_scheme scheme, unsigned pass,
		    uint64_t trigger, uint32_t slot)
{
	if (s->tags_tail - s->tags_head == TAGS) {
		lose(t, pass);
		return;
	}
	s->tags[s->tags_tail++ % TAGS] = (struct tag){ .trigger = trigger, .cycle = s->cycle, .slot = slot,
		.scheme = (uint8_t)scheme, .pass = (uint8_t)pass };
	t->in_flight[pass] = true;
}

/* Cycles: the trigger waits until something is dispatched; that may be on the wrong path. */
static void tag_by_cycle(struct golden_samplers *s, const struct gus_core_cycle *c)
{
	struct tagger *t = &s->by_cycles;
	uint32_t all = c->issued + c->wrong;

	for (unsigned pass = 0; t->waiting_n && all && pass < s->o.passes; pass++) {
		uint64_t trigger = t->waiting[pass];
		uint32_t slot = golden_draw_below(&s->draw, all);

		if (!trigger)
			continue;
		t->waiting[pass] = 0;
		t->waiting_n--;
		if (slot < c->issued)
			put_tag(s, t, GOLDEN_BY_IBS_CYCLES, pass, trigger - 1, slot);
		else
			lose(t, pass);
	}
}

static void trigger_tag(struct tagger *t, unsigned pass, uint64_t trigger)
{
	if (t->in_flight[pass] || t->waiting[pass]) {
		t->lost++;
		return;
	}
	t->waiting[pass] = trigger + 1;
	t->waiting_n++;
}

/* Ops: right ones first, behind them those of the wrong path. */
static void tag_by_op(struct golden_samplers *s, struct tagger *t, enum golden_scheme scheme,
		      const struct gus_core_cycle *c)
{
	uint64_t at, before = s->dispatched - c->issued - c->wrong;
	int pass;

	while ((pass = golden_passes_fire(&t->passes, s->dispatched, &at)) >= 0) {
		uint64_t trigger = t->trigger++;

		if (t->in_flight[pass])
			t->lost++;      /* a collision */
		else if (at - before > c->issued)
			t->lost++;
		else
			put_tag(s, t, scheme, (unsigned)pass, trigger, (uint32_t)(at - before - 1));
	}
}

/* Somebody else has asked for its line, which is not there yet: to caches, which know no time, a hit. */
static bool is_coming(const struct gus_core_event *e, bool load)
{
	return load && e->level == GUS_HIT_L1 && e->miss;
}

static void see_uop(struct tag *tag, const struct gus_core_event *e, const struct gus_uop *uop)
{
	enum gus_uop_kind kind = (enum gus_uop_kind)uop->kind;
	struct golden_sample *g = &tag->seen.sample;
	uint32_t complete = (uint32_t)(e->completed - e->issued), issue = (uint32_t)(e->dispatched - e->issued);

	g->tag_to_complete = complete > g->tag_to_complete ? complete : g->tag_to_complete;
	g->tag_to_issue = issue > g->tag_to_issue ? issue : g->tag_to_issue;
	g->first_of_op |= !e->nth;
	g->taken |= e->taken;
	g->mispredicted |= e->mispredicted;
	if (kind != GUS_UOP_LOAD && kind != GUS_UOP_STORE_ADDRESS)
		return;
	g->load |= kind == GUS_UOP_LOAD;
	g->store |= kind == GUS_UOP_STORE_ADDRESS;
	if (!e->bytes || uop->again || (tag->is_load && kind != GUS_UOP_LOAD)) /* again: the first has met it all */
		return;
	tag->is_load = kind == GUS_UOP_LOAD;
	g->address = e->address;
	g->bytes = e->bytes;
	g->level = e->level;
	g->tlb = e->tlb;
	g->translation = e->translation;
	g->miss = e->miss;
	g->coming = is_coming(e, tag->is_load);
	tag->load_issue = issue;
	tag->load_complete = complete;
}

/* What of Arm's cores is sampled is one uop: a load's latencies are not those of what it is fused with here. */
static void take_load(struct tag *tag)
{
	tag->seen.sample.tag_to_issue = tag->load_issue;
	tag->seen.sample.tag_to_complete = tag->load_complete;
}

/* Where a branch goes that says so itself. */
static uint64_t target_of(const struct golden_samplers *s, const struct gus_op *op)
{
	const struct gus_program_insn *insn = &s->p->insns[op->insn + op->insns_n - 1u];

	return insn->offset + insn->info.length + (uint64_t)insn->info.immediate;
}

static void finish_tag(struct golden_samplers *s, struct tag *tag, const struct gus_core_retired *told)
{
	struct tagger *t = tag->scheme == GOLDEN_BY_IBS_CYCLES ? &s->by_cycles :
		tag->scheme == GOLDEN_BY_IBS_OPS ? &s->by_ops : &s->spe;
	const struct gus_op *op = &s->p->ops[told->op];
	enum gus_insn_class class = s->p->insns[op->insn + op->insns_n - 1u].info.class;
	struct golden_sample *g = &tag->seen.sample;

	tag->seen.op = told->op;
	tag->seen.psv = told->psv;
	tag->seen.ticks = GUS_PICS_TICKS;
	tag->seen.trigger = tag->trigger;
	g->cycle = s->cycle;
	g->ip = address_of(s, told->op);
	g->complete_to_retire = (uint32_t)(s->cycle - tag->cycle) - g->tag_to_complete;
	g->branch = (op->flags & GUS_OP_BRANCH) != 0 && told->ends;
	g->mispredicted &= g->branch;
	g->call = class == GUS_INSN_CALL || class == GUS_INSN_CALL_INDIRECT;
	g->returns = class == GUS_INSN_RET;
	if (g->branch && g->taken && (op->flags & GUS_OP_CONDITIONAL)) /* of others it is not known yet */
		g->target = target_of(s, op);
	if (tag->scheme == GOLDEN_BY_SPE && tag->is_load)
		take_load(tag);
	t->in_flight[tag->pass] = false;
	t->samples++;
	emit(s, (enum golden_scheme)tag->scheme, &tag->seen);
	if (tag->scheme == GOLDEN_BY_SPE && g->tag_to_complete >= GOLDEN_SLOW)
		emit(s, GOLDEN_BY_SPE_SLOW, &tag->seen);
}

/* The slot that has just retired is that of some of the oldest tags, or of none: those of a cycle are in no order. */
static void settle_tags(struct golden_samplers *s, const struct gus_core_retired *told)
{
	for (uint64_t i = s->tags_head; i < s->tags_tail && s->tags[i % TAGS].cycle == s->slot_cycle; i++) {
		struct tag *tag = &s->tags[i % TAGS];

		if (tag->slot != s->slot || tag->done)
			continue;
		finish_tag(s, tag, told);
		tag->done = true;
	}
	while (s->tags_head < s->tags_tail && s->tags[s->tags_head % TAGS].done)
		s->tags_head++;
}

/* What retires, by count. */

static void sample_instruction(struct golden_samplers *s, const struct gus_core_retired *told)
{
	struct golden_seen seen = { .op = told->op, .psv = told->psv, .ticks = GUS_PICS_TICKS };
	uint64_t at;

	s->instructions.count += s->p->ops[told->op].insns_n;
	while (golden_passes_fire(&s->instructions.passes, s->instructions.count, &at) >= 0) {
		seen.trigger = s->instructions.samples++;
		seen.sample.cycle = s->cycle;
		seen.sample.ip = address_of(s, told->op);
		seen.sample.retire_latency = (uint32_t)(s->cycle - s->retired_cycle);
		emit(s, GOLDEN_BY_TPEBS, &seen);
	}
}

/* Costs: what retired before is the start of it all. */

static void sample_cost(struct golden_samplers *s, unsigned event, const struct gus_core_retired *told)
{
	struct golden_seen seen = { .op = told->op, .psv = told->psv, .ticks = GUS_PICS_TICKS };

	seen.trigger = s->costs[event].samples++;
	seen.sample.cycle = s->cycle;
	seen.sample.ip = address_of(s, told->op);
	seen.sample.retire_latency = (uint32_t)(s->cycle - s->retired_cycle);
	emit(s, (enum golden_scheme)(GOLDEN_BY_COST_CODE + event), &seen);
}

static bool is_turn(const struct golden_samplers *s, unsigned event)
{
	unsigned turn = GOLDEN_BY_COST_CODE + event;

	return (turn != GOLDEN_BY_COST_CODE && turn != GOLDEN_BY_COST_CODE_TLB) || (s->cycle / TURN & 1) == event;
}

static void count_costs(struct golden_samplers *s, const struct gus_core_retired *told)
{
	uint64_t at;

	for (unsigned i = 0; i < COSTS; i++) {
		if (!(golden_schemes[GOLDEN_BY_COST_CODE + i].events & told->psv) || !is_turn(s, i))
			continue;
		s->costs[i].count++;
		while (golden_passes_fire(&s->costs[i].passes, s->costs[i].count, &at) >= 0) {
			if (GOLDEN_BY_COST_CODE + i == GOLDEN_BY_COST_BRANCH)
				s->behind++;
			else
				sample_cost(s, i, told);
		}
	}
}

static void sample_load(struct golden_samplers *s, const struct gus_core_event *e)
{
	struct golden_seen seen = { .op = e->op, .psv = e->psv, .ticks = GUS_PICS_TICKS };
	struct golden_sample *g = &seen.sample;
	uint64_t at;

	s->loads.count++;
	while (golden_passes_fire(&s->loads.passes, s->loads.count, &at) >= 0) {
		seen.trigger = s->loads.samples++;
		*g = (struct golden_sample){ .cycle = e->retired, .ip = address_of(s, e->op), .load = true,
			.address = e->address, .bytes = e->bytes, .level = e->level, .tlb = e->tlb, .miss = e->miss,
			.translation = e->translation, .coming = is_coming(e, true),
			.tag_to_complete = (uint32_t)(e->completed - e->issued),
			.tag_to_issue = (uint32_t)(e->dispatched - e->issued) };
		emit(s, GOLDEN_BY_LOADS, &seen);
	}
}

/* The engine tells. */

void golden_samplers_uop(struct golden_samplers *s, const struct gus_core_event *e)
{
	const struct gus_uop *uop = &s->p->uops[e->uop];

	if (e->issued != s->slot_cycle) {
		s->slot_cycle = e->issued;
		s->slot = 0;
	}
	if (uop->kind == GUS_UOP_LOAD && !uop->again)
		sample_load(s, e);
	for (uint64_t i = s->tags_head; i < s->tags_tail && s->tags[i % TAGS].cycle == s->slot_cycle; i++)
		if (s->tags[i % TAGS].slot == s->slot)
			see_uop(&s->tags[i % TAGS], e, uop);
}

void golden_samplers_retire(struct golden_samplers *s, const struct gus_core_retired *told)
{
	struct retired *last = s->now_n ? &s->now[s->now_n - 1] : NULL;
	struct retired one = { told->op, told->psv, s->p->ops[told->op].insns_n, told->ends };

	if (s->target_is_next && s->branches_n)
		s->branches[(s->branches_n - 1) % LBR].to = address_of(s, told->op);
	s->target_is_next = false;
	settle_tags(s, told);
	s->slot++;
	if (last && (!last->ends || s->now_n == TOGETHER))
		*last = one;
	else
		s->now[s->now_n++] = one;
	if (!told->ends)
		return;
	sample_instruction(s, told);
	for (; s->behind; s->behind--)
		sample_cost(s, GOLDEN_BY_COST_BRANCH - GOLDEN_BY_COST_CODE, told);
	if (told->psv)
		count_costs(s, told);
	note_branch(s, told->op, told->psv);
	s->retired_cycle = s->cycle;
}

static void trigger(struct golden_samplers *s, const struct gus_core_cycle *c)
{
	uint64_t at;
	int pass;

	while ((pass = golden_passes_fire(&s->triggers, s->cycles, &at)) >= 0) {
		uint64_t number = s->triggers.fired - 1;

		sample_tea(s, c, number);
		for (unsigned delay = 0; delay < 3; delay++)
			gus_vec_push(&s->armed[delay], (struct armed){ number, s->cycle + delay });
		begin_interrupt(s, 0, number);
		begin_interrupt(s, 1, number);
		trigger_tag(&s->by_cycles, (unsigned)pass, number);
	}
}

void golden_samplers_cycle(struct golden_samplers *s, const struct gus_core_cycle *c)
{
	s->cycles++;
	if (s->now_n) {
		settle_shares(s);
		if (s->interrupts[0].n || s->interrupts[1].n)
			settle_interrupts(s);
	}
	if (s->triggers.first <= s->cycles)
		trigger(s, c);
	if (s->now_n) {
		const struct retired *last = &s->now[s->now_n - 1];

		if (s->armed[0].n || s->armed[1].n || s->armed[2].n)
			settle_armed(s);
		if (last->ends) {
			s->last_op = last->op;
			s->last_psv = last->psv;
			s->has_last = true;
		}
	}
	s->now_n = 0;
	s->branches_now = 0;
	if (c->issued + c->wrong) {
		s->dispatched += c->issued + c->wrong;
		tag_by_cycle(s, c);
		tag_by_op(s, &s->by_ops, GOLDEN_BY_IBS_OPS, c);
		tag_by_op(s, &s->spe, GOLDEN_BY_SPE, c);
	}
	s->cycle = c->cycle + 1;        /* what retires next is told of before the cycle is */
}

static void begin(const struct golden_samplers *s, struct golden_passes *p, const char *what, uint64_t period)
{
	golden_passes_begin(p, s->o.seed, what, period, s->o.passes);
	p->fixed = s->o.fixed.cycles != 0;
}

static void begin_passes(struct golden_samplers *s)
{
	const struct golden_periods *fixed = &s->o.fixed;
	uint64_t cycles = fixed->cycles ? fixed->cycles : s->o.period;
	uint64_t slots = fixed->cycles ? fixed->slots : 2 * s->o.period + 1;

	begin(s, &s->triggers, "cycles", cycles);
	begin(s, &s->by_ops.passes, "ops", slots);
	begin(s, &s->spe.passes, "spe", slots);
	begin(s, &s->instructions.passes, "instructions", fixed->cycles ? fixed->instructions : slots);
	begin(s, &s->loads.passes, "loads", cycles);
	for (unsigned i = 0; i < COSTS; i++)
		begin(s, &s->costs[i].passes, golden_schemes[GOLDEN_BY_COST_CODE + i].name, cycles / OFTEN + 1);
}

struct golden_samplers *golden_samplers_new(const struct gus_program *p, const struct golden_samplers_options *o)
{
	struct golden_samplers *s = gus_zalloc(sizeof(*s));

	s->p = p;
	s->o = *o;
	s->o.passes = o->passes < FLIGHT ? o->passes : FLIGHT;
	s->draw = golden_draw_begin(o->seed, "samplers");
	s->tags = gus_zalloc(TAGS * sizeof(*s->tags));
	s->slot_cycle = UINT64_MAX;
	begin_passes(s);
	return s;
}

void golden_samplers_free(struct golden_samplers *s)
{
	if (!s)
		return;
	golden_passes_end(&s->triggers);
	golden_passes_end(&s->by_ops.passes);
	golden_passes_end(&s->spe.passes);
	golden_passes_end(&s->instructions.passes);
	golden_passes_end(&s->loads.passes);
	for (unsigned i = 0; i < COSTS; i++)
		golden_passes_end(&s->costs[i].passes);
	for (unsigned i = 0; i < 3; i++)
		gus_vec_free(&s->armed[i]);
	for (unsigned i = 0; i < 2; i++)
		gus_vec_free(&s->interrupts[i]);
	gus_vec_free(&s->waiting);
	free(s->tags);
	free(s);
}

void golden_samplers_rate(const struct golden_samplers *s, enum golden_scheme scheme, struct golden_rate *r)
{
	const struct golden_passes *p = passes_of(s, scheme);
	const struct tagger *t = tagger_of(s, scheme);

	*r = (struct golden_rate){ .triggers = p->fired, .samples = s->samples[scheme], .lost = t ? t->lost : 0,
		.period = p->period, .total = p == &s->triggers ? s->cycles : s->dispatched };
	if (scheme == GOLDEN_BY_SPE_SLOW) /* what the filter leaves out */
		r->lost = r->triggers - r->samples;
	if (scheme == GOLDEN_BY_TPEBS)
		r->total = s->instructions.count;
	if (scheme == GOLDEN_BY_LOADS)
		r->total = s->loads.count;
	if (scheme >= GOLDEN_BY_COST_CODE)
		r->total = s->costs[scheme - GOLDEN_BY_COST_CODE].count;
}
