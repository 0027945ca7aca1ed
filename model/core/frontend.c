/* SPDX-License-Identifier: MIT */
/* Ops come to issue by one of four ways, which is chosen once for a run (gus_frontend_mode):
 *
 *	source --> length decoding --> found --> decoders ---.
 *	   |         fetch_bytes,               decode_width, |--> queue --> issue      DECODERS
 *	   |         predecode_width            microcode     |                         (MIXED: of each window
 *	   |`--> uop cache: one or two lines a cycle ---------'                         UOP_CACHE   that has it)
 *	   |`--> loop buffer: all uops are there; only ends of the loop are in the way   LOOP
 *	    `--> all uops are there (UFS, and where the front end is not the question)   IDEAL
 *
 * `ahead` is the next op of the source, looked at and not taken. In the last two ways issue takes it from there and
 * there is no queue. gus_frontend_cycle works after issue, and its decoders before length decoding: what each hands
 * on, the next stage has in the next cycle.
 *
 * The rules for instruction lengths, decoders and windows are those of Abel and Reineke ("uiCA", ICS 2022, section
 * 4.1); those for the loop buffer of Palomares 2015, Algorithm 1 and section 7.4.3. Which branch predictor finds the
 * way is not asked: the source goes the right way, and a misprediction stops issue instead (issue.c). */
#include "model/core/frontend.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/decode_group.h"
#include "model/code/prediction.h"
#include "model/code/program.h"
#include "model/core/fed.h"
#include "model/machine/config.h"
#include "symbolizer/insn/insn.h"

/* The source. */

static bool from_program(struct gus_frontend *f, struct gus_fetched *out)
{
	uint32_t op = f->next_op;

	if (f->iterations && f->next_iteration >= f->iterations)
		return false;
	*out = f->ops[op];
	out->iteration = f->next_iteration;
	f->next_op++;
	if (out->last) {
		f->next_op = 0;
		f->next_iteration++;
	}
	return true;
}

/* Addresses that a source knows are kept in a ring beside, as most ops have none: an op carries its place there. It
 * is longer than all that can lie between here and issue. */
static bool from_source(struct gus_frontend *f, struct gus_fetched *out)
{
	struct gus_core_step step = { 0 };

	if (!f->source->next(f->source->context, &step))
		return false;
	*out = (struct gus_fetched){ .op = step.op, .taken = step.taken, .last = step.last, .addressed = step.addressed,
		.fused = f->p->ops[step.op].fused, .told = f->next_told, .iteration = f->next_iteration };
	memcpy(f->told[f->next_told].address, step.address, sizeof(step.address));
	f->next_told = (uint16_t)((f->next_told + 1) % GUS_FRONT_STEPS);
	f->next_iteration += step.last;
	return true;
}

/* Of what is fed each op is an iteration of its own, so that listeners can tell which one it is. */
static bool from_fed(struct gus_frontend *f, struct gus_fetched *out)
{
	const struct gus_op_step *step = gus_fed_next(f->fed);
	struct gus_front_told *told = &f->told[f->next_told];

	if (!step)
		return false;
	*out = (struct gus_fetched){ .op = step->op, .taken = step->taken, .mispredicted = step->mispredicted,
		.overridden = step->overridden,
		.cached = step->cached, .fetch = step->cached ? 0 : step->fetch,
		.late = !step->cached && step->code_level, .late_page = !step->cached && step->code_tlb,
		.last = true, .addressed = true,
		.fused = f->p->ops[step->op].fused, .told = f->next_told, .iteration = f->next_iteration++ };
	told->region = step->region;
	for (unsigned n = 0; n < f->p->ops[step->op].memories_n && n < GUS_FRONT_ACCESSES; n++) {
		const struct gus_op_access *a = &f->fed->accesses.v[step->access + n];

		/* What is not known lies where nothing else does. */
		told->address[n] = a->known ? a->address : GUS_FRONT_ELSEWHERE + f->elsewhere++ * 64;
		told->bytes[n] = a->bytes;
		told->level[n] = a->level;
		told->tlb[n] = a->tlb;
		told->prefetched[n] = a->prefetched;
		told->beside[n] = a->beside;
	}
	f->next_told = (uint16_t)((f->next_told + 1) % GUS_FRONT_STEPS);
	return true;
}

/* What is fetched once more; it is seldom any. */
static __attribute__((noinline)) bool from_again(struct gus_frontend *f)
{
	f->ahead = f->again[f->again_first++];
	f->again_n--;
	return f->have_ahead = true;
}

bool gus_frontend_fetch(struct gus_frontend *f)
{
	if (f->again_n)
		return from_again(f);
	if (!f->ended)
		f->have_ahead = f->fed ? from_fed(f, &f->ahead) : f->source ? from_source(f, &f->ahead) :
			from_program(f, &f->ahead);
	f->ended = !f->have_ahead;
	return f->have_ahead;
}

/* Of unrolled code each iteration lies behind the one before. */
static uint64_t address_of(const struct gus_frontend *f, const struct gus_fetched *fetched, unsigned insn)
{
	uint64_t at = f->p->base + f->insns[f->p->ops[fetched->op].insn + insn].offset;

	return f->unrolled ? at + fetched->iteration * f->p->bytes : at;
}

/* The queue. */

/* The queue counts fused uops. An op that is larger than it comes alone. */
static bool has_room(const struct gus_frontend *f, unsigned uops)
{
	if (f->queue_n >= GUS_FRONT_QUEUE)
		return false;
	return !f->c->queue_size || f->queue_uops + uops <= f->c->queue_size || !f->queue_n;
}

static void put(struct gus_frontend *f, const struct gus_fetched *fetched)
{
	f->queue[(f->queue_first + f->queue_n++) % GUS_FRONT_QUEUE] = *fetched;
	f->queue_uops += fetched->fused;
}

/* Whether the uop cache has an op; false also where it has all or nothing, and nobody asks. */
static bool is_kept(const struct gus_frontend *f, const struct gus_fetched *fetched)
{
	return f->fed ? fetched->cached : f->kept && f->kept[fetched->op];
}

/* Length decoding: the bytes of one aligned block a cycle, at most predecode_width instructions of it. An instruction
 * belongs to the block of its last byte, and counts in the one before as well if its opcode lies there:
 *
 *	block 0                     block 1
 *	| a  | b | c  | d | e  | (f)|f   | g |      five a cycle: a b c d e in the first; the opcode of f is the sixth
 *	                    prefix or                 of block 0: a cycle more for it. Is it a prefix only that lies
 *	                    opcode                    there, f is found with g in the second cycle
 *
 * A length-changing prefix stops it for lcp_penalty cycles, less those that the block before took beyond its first: so
 * much sooner the prefix was seen. A jump that is taken ends the block: what lies behind it is not executed. */
static void enter_block(struct gus_frontend *f, uint64_t block, unsigned more)
{
	f->head_start = f->worked + more > 1 ? f->worked + more - 1 : 0;
	f->worked = 0;
	f->block = block;
}

/* From the branch on: what is fetched until it is known to have gone wrong is thrown away, so nothing of what was
 * executed comes before gus_frontend_redirect says when. In a run that is not fed the right path is fetched all the
 * same, and waits: the penalty is all that a misprediction costs. */
static void begin_wrong_path(struct gus_frontend *f)
{
	f->wrong_until = UINT64_MAX;
	f->block = UINT64_MAX;
	f->worked = f->head_start = 0;
	f->lines = (struct gus_uop_lines){ .jumped = true };
}

/* An op of two instructions was found twice. */
static void keep_for_again(struct gus_frontend *f, const struct gus_fetched *fetched)
{
	if (!f->again_n || f->again[f->again_n - 1].iteration != fetched->iteration)
		f->again[f->again_n++] = *fetched;
}

/* What is kept never is more than there is room for: nothing new is fetched before all of it was again. Code that was
 * late is in L1 by now. */
void gus_frontend_again(struct gus_frontend *f)
{
	unsigned from = f->again_first, to = from + f->again_n;
	struct gus_fetched *before = f->again;

	f->again = gus_alloc((GUS_FRONT_QUEUE + GUS_FRONT_INSNS + 1) * sizeof(*f->again));
	f->again_first = f->again_n = 0;
	for (unsigned i = 0; i < f->queue_n; i++)
		keep_for_again(f, &f->queue[(f->queue_first + i) % GUS_FRONT_QUEUE]);
	for (unsigned i = 0; i < f->found_n; i++)
		keep_for_again(f, &f->found[(f->found_first + i) % GUS_FRONT_INSNS]);
	if (f->have_ahead)
		keep_for_again(f, &f->ahead);
	for (unsigned i = from; i < to; i++)
		keep_for_again(f, &before[i]);
	free(before);
	f->queue_n = f->queue_uops = f->found_n = f->insn = 0;
	f->microcode = f->switching = f->stalled = 0;
	f->have_ahead = f->returning = false;
	f->ended = f->ended && !f->again_n;
	f->from_cache |= f->mode == GUS_CORE_FETCH_MIXED;
	begin_wrong_path(f);
}

static void stop_for_prefix(struct gus_frontend *f)
{
	const unsigned penalty = f->c->lcp_penalty;
	const unsigned before = f->head_start < penalty ? f->head_start : penalty;

	f->stalled += penalty - before;
	f->head_start -= before;
}

static void predecode(struct gus_frontend *f)
{
	const struct gus_core_config *c = f->c;
	unsigned least = c->decode_queue > 1 ? c->decode_queue : 2; /* a pair is decoded when both are there */
	unsigned room = c->decode_queue && least < GUS_FRONT_INSNS ? least : GUS_FRONT_INSNS;
	unsigned count = 0;

	if (f->stalled) {
		f->stalled--;
		return;
	}
	if (f->returning)
		return;
	while (f->found_n < room && gus_frontend_has_ahead(f)) {
		const struct gus_op *op = &f->p->ops[f->ahead.op];
		const struct gus_front_insn *insn = &f->insns[op->insn + f->insn];
		uint64_t at = address_of(f, &f->ahead, f->insn), block = (at + insn->length - 1) >> f->fetch_shift;
		bool ends;

		if (f->ahead.fetch && !f->insn) {
			f->stalled += f->ahead.fetch; /* its line is not in L1 */
			f->ahead.fetch = 0;
			return;
		}
		if (block != f->block) {
			bool opcode_before = (at + insn->opcode_length - 1) >> f->fetch_shift == f->block;
			/* Its opcode is one too many in this block: that takes a cycle more. */
			bool more = count && count == c->predecode_width && opcode_before;

			f->stalled += more;
			enter_block(f, block, more);
			if (count)
				return;
		}
		if (count == c->predecode_width)
			return;
		f->worked += !count++;
		ends = f->insn + 1u == op->insns_n;
		f->found[(f->found_first + f->found_n++) % GUS_FRONT_INSNS] = f->ahead;
		if (insn->lcp)
			stop_for_prefix(f);
		f->insn++;
		if (ends) {
			bool taken = f->ahead.taken && (op->flags & GUS_OP_BRANCH), wrong = f->ahead.mispredicted;

			f->insn = 0;
			f->have_ahead = false;
			if (wrong)
				begin_wrong_path(f);
			if (wrong || (taken && !f->unrolled)) {
				f->block = UINT64_MAX;
				f->worked = 0;
				f->returning = f->mode == GUS_CORE_FETCH_MIXED && !f->ended &&
					gus_frontend_has_ahead(f) && is_kept(f, &f->ahead);
				return;
			}
		}
	}
}

/* Whether the microcode sequencer has this cycle. The op itself is in the queue already; what the sequencer takes is
 * time: from the decoders half of the cycles that switching costs (rounded up) lie before its first uops and the others
 * behind the last, from the uop cache all lie before. */
static bool microcode(struct gus_frontend *f)
{
	if (f->switching) {
		f->switching--;
		return true;
	}
	if (!f->microcode)
		return false;
	f->microcode -= f->microcode < f->c->microcode_width ? f->microcode : f->c->microcode_width;
	if (!f->microcode && !f->from_cache)
		f->switching = f->c->microcode_switch_decoders / 2;
	return true;
}

static void begin_microcode(struct gus_frontend *f, const struct gus_op *op)
{
	const unsigned decoders = f->c->microcode_switch_decoders;

	f->microcode = op->microcoded;
	f->switching = f->from_cache ? f->c->microcode_switch : decoders - decoders / 2;
}

/* In order, as many as make a group (model/code/decode_group.h). */
static void decode(struct gus_frontend *f)
{
	struct gus_decode_group group = { 0 };

	if (microcode(f))
		return;
	while (f->found_n) {
		const struct gus_fetched *next = &f->found[f->found_first];
		const struct gus_op *op = &f->p->ops[next->op];

		if (op->insns_n > f->found_n)
			return; /* the second half of a fused pair is not there yet */
		if ((op->flags & GUS_OP_FUSIBLE) && !f->ended && f->found_n < 2)
			return; /* it waits to see what follows */
		if (!gus_decode_group_takes(&group, f->c, op, !f->ended) || !has_room(f, op->fused))
			return;
		gus_decode_group_put(&group, f->c, op);
		put(f, next);
		f->found_first = (f->found_first + op->insns_n) % GUS_FRONT_INSNS;
		f->found_n -= op->insns_n;
		if (op->microcoded)
			begin_microcode(f, op);
	}
}

/* Of code that the uop cache keeps in part: from it to the decoders wherever it ends, back only behind a jump that is
 * taken, when the decoders are done with all before (Intel's manual on switches between both; uiCA's simulator). */
static void go_to_decoders(struct gus_frontend *f)
{
	f->from_cache = false;
	f->block = UINT64_MAX;
	f->worked = f->head_start = 0;
	f->stalled = f->c->decode_delay > 1 ? f->c->decode_delay - 1 : 0;
}

static void return_to_cache(struct gus_frontend *f)
{
	if (!f->returning || f->found_n || f->microcode || f->switching)
		return;
	f->returning = false;
	f->from_cache = true;
	f->lines = (struct gus_uop_lines){ .jumped = true };
}

/* Cycles that the predictor may be ahead of the uop cache: as many as the decoders may (STREAM_FETCH_AHEAD). */
enum { PREDICTED_AHEAD = 6 };

static void predict(struct gus_frontend *f, const struct gus_op *op, bool taken, bool overridden)
{
	f->prediction += overridden ? (int)f->c->branch_override : 0;
	if (taken && (op->flags & GUS_OP_BRANCH) && f->c->predicted_branches &&
	    gus_prediction_begins(f->c, f->p, op, &f->predicted))
		f->prediction += (int)gus_prediction_cycles(f->c, f->p, op);
}

/* The uop cache delivers uops of one line a cycle, on some cores of a second one as well. */
static void deliver(struct gus_frontend *f)
{
	struct gus_uop_read read = { 0 };

	f->prediction -= f->prediction > -PREDICTED_AHEAD;
	if (microcode(f))
		return;
	while (f->prediction <= 0 && gus_frontend_has_ahead(f)) {
		const struct gus_op *op = &f->p->ops[f->ahead.op];
		uint64_t at = gus_uop_lines_at(f->c, f->p, op, address_of(f, &f->ahead, 0));

		if (f->mode == GUS_CORE_FETCH_MIXED && !is_kept(f, &f->ahead)) {
			go_to_decoders(f);
			return;
		}
		if (!gus_uop_read_takes(&read, &f->lines, f->c, f->p, f->ahead.op, at) || !has_room(f, op->fused))
			return;
		gus_uop_read_put(&read, &f->lines, f->c, f->p, f->ahead.op, at, f->ahead.taken && !f->unrolled);
		put(f, &f->ahead);
		predict(f, op, f->ahead.taken && !f->unrolled, f->ahead.overridden);
		f->have_ahead = false;
		if (op->microcoded)
			begin_microcode(f, op);
		if (f->ahead.mispredicted)
			begin_wrong_path(f);
		if (op->microcoded || f->ahead.mispredicted)
			return;
	}
}

void gus_frontend_cycle(struct gus_frontend *f)
{
	if (f->mode == GUS_CORE_FETCH_LOOP || f->mode == GUS_CORE_FETCH_IDEAL)
		return;
	if (f->from_cache) {
		if (f->wrong_until <= f->now)
			deliver(f);
		return;
	}
	decode(f);
	if (f->wrong_until <= f->now)
		predecode(f);
	return_to_cache(f);
}

static unsigned fused_uops(const struct gus_program *p)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->ops_n; i++)
		n += p->ops[i].fused;
	return n;
}

static bool writes_high_byte(const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_WRITE) && (info->access[i].use & GUS_ACCESS_HIGH))
			return true;
	return false;
}

/* Whether the loop buffer replays it: nothing of the sequencer, nothing that moves the stack pointer (the stack engine
 * sits before the queue), no high byte as a result (its merging uop is put in there, too). So Abel and Reineke's
 * simulator has it; Intel's manual names calls, returns and unmatched pushes. What is not in the uop cache does not get
 * into the loop buffer. */
static bool replays(const struct gus_program *p, const struct gus_core_config *c, bool uop_cache)
{
	if (!c->loop_buffer || fused_uops(p) > c->loop_buffer)
		return false;
	if (uop_cache && gus_uop_lines_kept(c, p, NULL) < p->ops_n)
		return false;
	for (uint32_t i = 0; i < p->insns_n; i++)
		if ((p->insns[i].info.flags & GUS_INSN_STACK) || writes_high_byte(&p->insns[i].info))
			return false;
	for (uint32_t i = 0; i < p->ops_n; i++)
		if (p->ops[i].microcoded)
			return false;
	return true;
}

/* How often the loop buffer holds a loop of so many uops, behind each other: where the table says it, by the largest
 * loops that are held so often; else as often as it fits. */
static unsigned unroll_of(const struct gus_core_config *c, unsigned uops)
{
	const struct { unsigned times, largest; } steps[] = { { 8, c->loop_unroll_8 }, { 6, c->loop_unroll_6 },
		{ 5, c->loop_unroll_5 }, { 4, c->loop_unroll_4 }, { 3, c->loop_unroll_3 }, { 2, c->loop_unroll_2 } };
	bool known = false;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		known |= steps[i].largest != 0;
		if (uops <= steps[i].largest)
			return steps[i].times;
	}
	return known ? 1 : c->loop_buffer / uops;
}

/* A small loop is repeated in its buffer, so that the ends of few iterations are in the way (Haswell and later); where
 * not, each end is (Sandy and Ivy Bridge: Palomares 2015, section 7.4.3). */
unsigned gus_frontend_unroll(const struct gus_program *p, const struct gus_core_config *c)
{
	unsigned uops = fused_uops(p);

	if (c->loop_boundary || (c->loop_buffer && (!uops || c->loop_buffer < uops)))
		return 1;
	return c->loop_buffer ? unroll_of(c, uops) : 0;
}

/* What was executed says of each op by itself whether the uop cache had it. */
static enum gus_core_fetch mode_of_fed(const struct gus_core_config *c)
{
	bool decoders = c->fetch_bytes && c->decode_width && c->predecode_width;
	bool uop_cache = c->uop_cache_width && c->uop_cache_window && c->uop_cache_line;

	if (decoders)
		return uop_cache ? GUS_CORE_FETCH_MIXED : GUS_CORE_FETCH_DECODERS;
	return uop_cache ? GUS_CORE_FETCH_UOP_CACHE : GUS_CORE_FETCH_IDEAL;
}

enum gus_core_fetch gus_frontend_mode(const struct gus_program *p, const struct gus_core_config *c,
				      const struct gus_core_options *o)
{
	bool decoders = c->fetch_bytes && c->decode_width && c->predecode_width;
	bool uop_cache = c->uop_cache_width && c->uop_cache_window && c->uop_cache_line;
	uint32_t kept;

	if (!p->bytes)
		return o->fetch == GUS_CORE_FETCH_IDEAL ? GUS_CORE_FETCH_IDEAL : GUS_CORE_FETCH_LOOP;
	switch (o->fetch) {
	case GUS_CORE_FETCH_DECODERS:
		return decoders ? o->fetch : GUS_CORE_FETCH_IDEAL;
	case GUS_CORE_FETCH_UOP_CACHE:
		return uop_cache ? o->fetch : GUS_CORE_FETCH_IDEAL;
	case GUS_CORE_FETCH_MIXED:
		return uop_cache && decoders ? o->fetch : GUS_CORE_FETCH_IDEAL;
	case GUS_CORE_FETCH_LOOP:
	case GUS_CORE_FETCH_IDEAL:
		return o->fetch;
	case GUS_CORE_FETCH_AUTO:
		break;
	}
	if (o->unrolled)
		return decoders ? GUS_CORE_FETCH_DECODERS : GUS_CORE_FETCH_IDEAL;
	if (replays(p, c, uop_cache))
		return GUS_CORE_FETCH_LOOP;
	if (uop_cache && (kept = gus_uop_lines_kept(c, p, NULL)) != 0 && (decoders || kept == p->ops_n))
		return kept == p->ops_n ? GUS_CORE_FETCH_UOP_CACHE : GUS_CORE_FETCH_MIXED;
	if (decoders)
		return GUS_CORE_FETCH_DECODERS;
	/* A table that says no more of its front end (UFS). */
	return c->loop_boundary ? GUS_CORE_FETCH_LOOP : GUS_CORE_FETCH_IDEAL;
}

/* Blocks and windows are powers of two; gus_core_run has checked that. */
static unsigned shift_of(uint32_t bytes)
{
	return bytes ? (unsigned)__builtin_ctz(bytes) : 0;
}

void gus_frontend_grow(struct gus_frontend *f)
{
	const struct gus_program *p = f->p;

	f->insns = gus_resize(f->insns, p->insns_n + 1u, sizeof(*f->insns));
	for (; f->insns_n < p->insns_n; f->insns_n++)
		f->insns[f->insns_n] = (struct gus_front_insn){ p->insns[f->insns_n].offset,
			p->insns[f->insns_n].info.length, p->insns[f->insns_n].info.opcode_length,
			(p->insns[f->insns_n].info.flags & GUS_INSN_LCP) != 0 };
}

static struct gus_fetched *ops_of(const struct gus_program *p)
{
	struct gus_fetched *ops = gus_alloc((p->ops_n + 1) * sizeof(*ops));

	for (uint32_t i = 0; i < p->ops_n; i++)
		ops[i] = (struct gus_fetched){ .op = i, .taken = (p->ops[i].flags & GUS_OP_TAKEN) != 0,
			.fused = p->ops[i].fused, .last = i + 1 == p->ops_n };
	return ops;
}

void gus_frontend_begin(struct gus_frontend *f, const struct gus_program *p, const struct gus_core_config *c,
			const struct gus_core_options *o, struct gus_fed *fed)
{
	memset(f, 0, sizeof(*f));
	f->p = p;
	f->c = c;
	f->source = o->source;
	f->fed = fed;
	f->mode = fed ? mode_of_fed(c) : gus_frontend_mode(p, c, o);
	f->unrolled = o->unrolled;
	f->told = o->source || fed ? gus_zalloc(GUS_FRONT_STEPS * sizeof(*f->told)) : NULL;
	f->iterations = o->iterations;
	f->fetch_shift = shift_of(c->fetch_bytes);
	gus_frontend_grow(f);
	f->ops = o->source || fed ? NULL : ops_of(p);
	f->block = UINT64_MAX;
	if (f->mode == GUS_CORE_FETCH_MIXED && !fed) {
		f->kept = gus_zalloc(p->ops_n * sizeof(*f->kept));
		gus_uop_lines_kept(c, p, f->kept);
	}
	f->from_cache = f->mode == GUS_CORE_FETCH_UOP_CACHE || (f->kept && f->kept[0]) ||
		(fed && f->mode == GUS_CORE_FETCH_MIXED);
	f->unroll = fed ? 0 : gus_frontend_unroll(p, c);
}

void gus_frontend_end(struct gus_frontend *f)
{
	free(f->told);
	free(f->again);
	free(f->kept);
	free(f->insns);
	free(f->ops);
}

/* What state.c compares: all that decides what is delivered from now on. Addresses count by where they are in
 * their block, so that unrolled code, which never comes back to the same one, can be periodic. */
uint64_t gus_frontend_state(const struct gus_frontend *f, uint64_t sum)
{
	if (f->mode == GUS_CORE_FETCH_LOOP || f->mode == GUS_CORE_FETCH_IDEAL) {
		sum = gus_mix(sum, f->have_ahead ? f->ahead.op : f->next_op);
		return gus_mix(sum, f->unrolled_n);
	}
	sum = gus_mix(sum, f->have_ahead ? (uint64_t)f->ahead.op << 8 | f->insn : f->next_op);
	sum = gus_mix(sum, ((uint64_t)f->stalled << 32) | (f->microcode << 8) | f->switching);
	sum = gus_mix(sum, (uint64_t)f->from_cache << 1 | f->returning);
	sum = gus_mix(sum, (uint64_t)f->predicted << 32 | (uint32_t)(f->prediction + PREDICTED_AHEAD));
	if (!f->from_cache && gus_frontend_has_ahead((struct gus_frontend *)f)) {
		uint64_t at = address_of(f, &f->ahead, f->insn);

		sum = gus_mix(sum, (uint64_t)f->worked << 32 | f->head_start);
		sum = gus_mix(sum, at & ((1ull << f->fetch_shift) - 1));
		sum = gus_mix(sum, f->block == UINT64_MAX ? 0 : f->block - (at >> f->fetch_shift) + 2);
	} else {
		sum = gus_mix(sum, f->lines.window);
		sum = gus_mix(sum, (uint64_t)f->lines.room << 1 | f->lines.jumped);
	}
	sum = gus_mix(sum, (uint64_t)f->found_n << 32 | f->queue_n);
	for (unsigned i = 0; i < f->found_n; i++)
		sum = gus_mix(sum, f->found[(f->found_first + i) % GUS_FRONT_INSNS].op);
	if (f->queue_n) /* the ops in the queue follow one another: the first says all */
		sum = gus_mix(sum, f->queue[f->queue_first].op);
	return sum;
}
