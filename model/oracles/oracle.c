/* SPDX-License-Identifier: MIT */
#include "model/oracles/oracle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/code/program.h"
#include "model/oracles/branch.h"
#include "model/watch/access.h"
#include "symbolizer/insn/insn.h"

/* Caches. */

enum gus_hit gus_oracle_level(const struct gus_cache_config *c, enum gus_hit level, uint32_t wait)
{
	if (level != GUS_HIT_L1 || !wait)
		return level;
	for (unsigned i = GUS_HIT_L2; i < GUS_HIT_MEMORY; i++)
		if (c->level[i].bytes && c->level[i].latency >= wait)
			return (enum gus_hit)i;
	return GUS_HIT_MEMORY;
}

static void ask_cache(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	struct gus_oracle_cache *o = context;
	const struct gus_program_memory *m = &o->program->memories[access->memory];
	struct gus_cache_access a = { .address = access->address, .bytes = m->bytes, .id = access->memory,
		.store = access->store };
	struct gus_cache_answer answer;
	uint32_t wait;

	a.now = o->now;
	o->now += o->ticks ? o->ticks : 1;
	o->accesses++;
	if (!access->known) {
		o->unknown_addresses++;
		*level = o->unknown;
		*tlb = GUS_TLB_HIT;
		return;
	}
	gus_cache_access(o->cache, &a, &answer);
	if (o->groups)
		gus_access_note(o->groups, access->memory, access->address, m->bytes, access->store);
	*level = (enum gus_hit)(o->warm ? answer.level_if_warm : answer.level);
	*tlb = (enum gus_tlb)(o->warm ? answer.tlb_if_warm : answer.tlb);
	wait = o->warm ? answer.wait_if_warm : answer.wait;
	*level = gus_oracle_level(gus_cache_config(o->cache), *level, wait);
}

struct gus_core_memory gus_oracle_of_cache(struct gus_oracle_cache *o)
{
	return (struct gus_core_memory){ o, ask_cache };
}

/* Branches. */

static uint64_t address_of(const struct gus_program *p, uint32_t insn)
{
	return p->base + p->insns[insn].offset;
}

/* The branch of an op: of a fused pair the second instruction. */
static uint32_t branch_insn(const struct gus_program *p, uint32_t op)
{
	return p->ops[op].insn + p->ops[op].insns_n - 1;
}

enum gus_branch_kind gus_oracle_branch_kind(const struct gus_program *p, uint32_t op)
{
	if (p->ops[op].flags & GUS_OP_CONDITIONAL)
		return GUS_BRANCH_CONDITIONAL;
	switch (p->insns[branch_insn(p, op)].info.class) {
	case GUS_INSN_BRANCH_INDIRECT:
		return GUS_BRANCH_INDIRECT;
	case GUS_INSN_CALL:
		return GUS_BRANCH_CALL;
	case GUS_INSN_CALL_INDIRECT:
		return GUS_BRANCH_CALL_INDIRECT;
	case GUS_INSN_RET:
		return GUS_BRANCH_RETURN;
	default:
		return GUS_BRANCH_JUMP;
	}
}

/* What the predictor makes of a branch that was followed by the op `then`. */
static bool predict(struct gus_oracle_branch *o, uint32_t op, bool taken, uint32_t then)
{
	const struct gus_program *p = o->program;
	uint32_t insn = branch_insn(p, op);
	struct gus_branch_outcome outcome = { .pc = address_of(p, insn), .kind = gus_oracle_branch_kind(p, op),
		.taken = taken };
	struct gus_branch_verdict v;

	outcome.next = insn + 1 < p->insns_n ? address_of(p, insn + 1) : p->base + p->bytes;
	outcome.target = address_of(p, p->ops[then].insn);
	outcome.taken |= outcome.kind != GUS_BRANCH_CONDITIONAL;
	v = gus_branch_run(o->predictor, &outcome);
	return v.mispredicted && !(o->warm && v.unknown);
}

static bool next_step(void *context, struct gus_core_step *step)
{
	struct gus_oracle_branch *o = context;
	const struct gus_core_source *from = o->source;
	struct gus_core_step then = { 0 };

	if (!o->begun) {
		o->begun = true;
		o->holds = from->next(from->context, &o->held);
	}
	if (!o->holds)
		return false;
	*step = o->held;
	o->holds = from->next(from->context, &then);
	o->held = then;
	if (o->program->ops[step->op].flags & GUS_OP_BRANCH) {
		/* Where the last step of all went nobody knows: as if it had gone on behind. */
		uint32_t to = o->holds ? then.op : step->op + 1 < o->program->ops_n ? step->op + 1 : 0;
		bool wrong = predict(o, step->op, step->taken, to);

		gus_vec_push(&o->verdicts, wrong);
	}
	return true;
}

struct gus_core_source gus_oracle_source_of_branch(struct gus_oracle_branch *o)
{
	return (struct gus_core_source){ o, next_step };
}

/* Verdicts were made in the order of the steps, which is the order in which the engine asks. */
static bool next_verdict(struct gus_oracle_branch *o)
{
	bool verdict;

	assert(o->verdicts_first < o->verdicts.n);
	verdict = o->verdicts.v[o->verdicts_first++];
	if (2 * o->verdicts_first > o->verdicts.n && o->verdicts_first > 1024) {
		o->verdicts.n -= o->verdicts_first;
		memmove(o->verdicts.v, o->verdicts.v + o->verdicts_first, o->verdicts.n * sizeof(*o->verdicts.v));
		o->verdicts_first = 0;
	}
	return verdict;
}

static bool ask_branch(void *context, uint32_t op, uint64_t iteration)
{
	struct gus_oracle_branch *o = context;

	(void)iteration;
	if (o->source)
		return next_verdict(o);
	return predict(o, op, o->program->ops[op].flags & GUS_OP_TAKEN, op + 1 < o->program->ops_n ? op + 1 : 0);
}

struct gus_core_branch gus_oracle_of_branch(struct gus_oracle_branch *o)
{
	return (struct gus_core_branch){ o, ask_branch };
}

void gus_oracle_branch_end(struct gus_oracle_branch *o)
{
	gus_vec_free(&o->verdicts);
	o->begun = o->holds = false;
	o->verdicts_first = 0;
}

/* Rates. */

static void ask_rates(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	gus_rates_access(context, access->memory, level, tlb);
}

struct gus_core_memory gus_oracle_memory_of_rates(struct gus_rates *r)
{
	return (struct gus_core_memory){ r, ask_rates };
}

static bool ask_branch_rates(void *context, uint32_t op, uint64_t iteration)
{
	(void)iteration;
	return gus_rates_mispredicted(context, op);
}

struct gus_core_branch gus_oracle_branch_of_rates(struct gus_rates *r)
{
	return (struct gus_core_branch){ r, ask_branch_rates };
}
