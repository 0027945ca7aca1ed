/* SPDX-License-Identifier: MIT */
/* What each execution of a block meets is found out as attribution/traced does it (thread.c there): the same caches,
 * predictor, uop cache and code, asked in the same order, and the same engine is told of it. */
#include "tests/accuracy/golden/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "model/calibration/micro.h"
#include "model/core/core.h"
#include "model/machine/steps.h"
#include "model/oracles/code_fetch.h"
#include "model/oracles/oracle.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/code.h"

enum { ASKED = 256 };
enum {
	/* Passes that no clock sees, in caches and predictor, and behind them ops in the engine: more than any window
	 * holds. */
	WARM = 256, WARM_OPS = 1024,
	WARM_LINES = 3,                 /* times the lines of L3: passes before the last so many change nothing there */
	/* Ops or cycles, of which the mean is taken to see whether it is steady. */
	PIECE = 1024, PIECE_CYCLES = 4000,
	BEHIND = 1536,                  /* ops that have been fed and not retired, at most */
	PIECES_LEAST = 6, CYCLES_LEAST = 4000, CYCLES_MOST = 300000,
};
static const double STEADY = 0.002;     /* the standard error of the mean that is good enough, of it */
/* A long time for somebody who simulates it: who asks does well to ask little. */
static const double CYCLES_A_SECOND = 1e6;

struct run {
	const struct golden_host *host;
	const struct golden_machine *machine;
	const struct gus_micro *micro;
	struct golden_code of;
	struct gus_micro_walk walk;
	struct golden_traits *traits;
	struct gus_cache *cache;
	struct gus_branch_predictor *predictor;
	struct gus_code_fetch code;
	struct gus_core_engine *core;
	/* The time of the caches: the engine's at the last feeding, and from there on as many cycles for each access as
	 * before it. Until the engine runs (running) a line is waited for. */
	double now, pace, cycles_before, ahead;
	uint64_t accessed;
	bool running, flushed;
	uint64_t asked[ASKED];          /* lines that accesses have asked for last, plus 1 */
	struct gus_vec(uint64_t) came;  /* the uop cache: how many lines had come when window i did, plus 1 */
	uint64_t lines, lines_most;
	uint32_t region;
	struct gus_op_step steps[GUS_OP_STEPS];
	struct gus_vec(struct gus_op_access) accesses;
	size_t n;
};

/* The engine. */

static int feed(struct run *r, struct gus_error *err)
{
	const struct gus_op_steps steps = { r->steps, r->accesses.v, r->n };
	double cycles, passed;

	if (!r->n)
		return 0;
	if (gus_core_feed(r->core, &steps, err) != 0)
		return -1;
	cycles = (double)gus_core_cycles(r->core);
	passed = cycles - r->cycles_before;
	if (r->accessed)
		r->pace = passed > 0 ? passed / (double)r->accessed : 0;
	if (cycles + r->ahead > r->now)
		r->now = cycles + r->ahead;
	r->cycles_before = cycles;
	r->accessed = 0;
	r->n = 0;
	return 0;
}

/* Memory. */

/* What an access before has asked for is L1's: the engine knows when it comes. */
static enum gus_hit level_of(struct run *r, uint64_t address, const struct gus_cache_answer *answer)
{
	const struct gus_cache_config *c = &r->machine->caches;
	uint64_t line = address / c->line_size + 1, *asked = &r->asked[gus_core_line_slot(line, ASKED)];
	uint32_t near = c->level[GUS_HIT_L3].latency, wait = answer->wait;
	enum gus_hit level = (enum gus_hit)answer->level;

	if (level == GUS_HIT_L1 && *asked == line)
		return level;
	if (wait > near && wait - near < (c->memory_latency - near) / 2)
		wait = near;
	level = gus_oracle_level(c, level, wait);
	if (level != GUS_HIT_L1)
		*asked = line;
	return level;
}

static void access_memory(struct run *r, uint32_t memory, bool store, struct gus_op_access *told)
{
	const uint64_t offset = r->walk.addresses.v[r->of.access_of.v[memory]];
	const struct gus_cache_access access = { .address = GOLDEN_CODE_ARENA + offset,
		.bytes = r->of.program->memories[memory].bytes, .id = r->of.insn_of.v[memory], .store = store,
		.now = (uint64_t)(r->now += r->running ? r->pace : 1) };
	struct gus_cache_answer answer;
	enum gus_hit level;

	gus_cache_access(r->cache, &access, &answer);
	r->accessed++;
	if (!r->running) {
		r->now += answer.wait;
		return;
	}
	level = level_of(r, access.address, &answer);
	/* Who reads a place and writes it meets the farther of both. */
	if (told->known && level <= told->level)
		level = (enum gus_hit)told->level;
	*told = (struct gus_op_access){ .address = access.address, .bytes = access.bytes, .known = true,
		.level = (uint8_t)level, .tlb = answer.tlb > told->tlb ? answer.tlb : told->tlb,
		.prefetched = level != answer.level, .beside = told->known ? told->beside : answer.beside };
}

static void access_all(struct run *r, const struct golden_code_block *b, size_t base)
{
	gus_vec_reserve(&r->accesses, base + b->memories_n + 1);
	memset(r->accesses.v + base, 0, b->memories_n * sizeof(*r->accesses.v));
	r->accesses.n = base + b->memories_n;
	for (uint32_t i = 0; i < b->memories_n; i++) {
		const struct gus_program_memory *m = &r->of.program->memories[b->memory + i];

		if (r->of.access_of.v[b->memory + i] == GOLDEN_CODE_NONE)
			continue;
		if (m->load)
			access_memory(r, b->memory + i, false, &r->accesses.v[base + i]);
		if (m->store)
			access_memory(r, b->memory + i, true, &r->accesses.v[base + i]);
	}
}

/* Code. */

static bool look_up_window(struct run *r, uint32_t window)
{
	uint8_t lines = r->of.window_lines.v[window];

	if (!lines || !r->lines_most)
		return false;
	if (r->came.v[window] && r->lines + 1 - r->came.v[window] < r->lines_most)
		return true;
	r->lines += lines;
	r->came.v[window] = r->lines + 1;
	return false;
}

/* Which of the block's windows the uop cache has, as bits; what it has not is put in. */
static uint64_t look_up_windows(struct run *r, const struct golden_code_block *b, bool *all)
{
	uint64_t cached = 0;

	*all = true;
	for (uint32_t i = 0; i < b->windows_n; i++) {
		bool there = look_up_window(r, b->window + i);

		cached |= (uint64_t)there << (i & 63);
		*all &= there;
	}
	return cached;
}

static struct gus_code_fetch_late fetch_code(struct run *r, const struct golden_code_block *b, bool all)
{
	const struct gus_code_fetched code = { b->address, b->size, (uint64_t)r->now, r->flushed };
	struct gus_code_fetch_late late = { 0 };

	if (!all)
		late = gus_code_fetch_run(&r->code, &code).told;
	r->now += late.cycles;
	return late;
}

static int tell(struct run *r, const struct golden_code_block *b, size_t base, uint64_t cached, bool all, bool taken,
		struct gus_code_fetch_late late, struct gus_error *err)
{
	const struct gus_program *p = r->of.program;

	for (uint32_t i = 0; i < b->ops.ops_n; i++) {
		bool last = i + 1 == b->ops.ops_n;
		uint32_t op = last && taken ? b->ops.taken : b->ops.op + i;
		uint64_t window = !r->of.window_bytes ? 0 :
			p->insns[p->ops[op].insn].offset / r->of.window_bytes - b->address / r->of.window_bytes;
		struct gus_op_step *step;

		if (r->n == GUS_OP_STEPS && feed(r, err) != 0)
			return -1;
		step = &r->steps[r->n++];
		*step = (struct gus_op_step){ .op = op, .access = (uint32_t)(base + p->ops[op].memory - b->memory),
			.region = r->region, .taken = last && taken, .cached = all || (cached >> (window & 63) & 1) };
		if (step->cached)
			continue;
		step->fetch = late.cycles;
		step->code_level = late.level;
		step->code_tlb = late.tlb;
		late = (struct gus_code_fetch_late){ 0 };
	}
	return 0;
}

/* Where the block's branch went; the number of the block that comes next. */
static uint32_t branch(struct run *r, uint32_t number, bool taken)
{
	const struct golden_code_block *b = &r->of.blocks.v[number];
	bool conditional = b->kind == GUS_BRANCH_CONDITIONAL;
	struct gus_branch_outcome o = { .pc = b->branch_from, .next = b->address + b->size, .target = b->branch_to,
		.kind = b->kind, .taken = taken || !conditional };

	r->flushed = b->branch && gus_branch_run(r->predictor, &o).mispredicted;
	if (r->n)
		r->steps[r->n - 1].mispredicted = r->flushed;
	return taken ? b->target : number + 1;
}

static int execute(struct run *r, uint32_t number, uint32_t *next, struct gus_error *err)
{
	const struct golden_code_block *b = &r->of.blocks.v[number];
	bool back = b->jump == GOLDEN_CODE_NONE, taken = b->branch && (back || r->walk.taken.v[b->jump]), all;
	struct gus_code_fetch_late late;
	uint64_t cached;
	size_t base;

	if (r->n && r->n + b->ops.ops_n > GUS_OP_STEPS && feed(r, err) != 0)
		return -1;
	base = r->n ? r->accesses.n : 0;
	access_all(r, b, base);
	cached = look_up_windows(r, b, &all);
	late = fetch_code(r, b, all);
	if (r->running && tell(r, b, base, cached, all, taken, late, err) != 0)
		return -1;
	*next = branch(r, number, taken);
	return 0;
}

static int run_pass(struct run *r, struct gus_error *err)
{
	uint32_t number = 0, last = (uint32_t)r->of.blocks.n - 1, next;

	gus_micro_walk_next(&r->walk);
	do {
		if (execute(r, number, &next, err) != 0)
			return -1;
		if (number == last)
			break;
		number = next;
	} while (true);
	return 0;
}

/* What nobody meets any more goes by: where lists go on, and that is all. */
static void skip_passes(struct run *r, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		gus_micro_walk_next(&r->walk);
}

static int run_passes(struct run *r, uint64_t n, struct gus_error *err)
{
	for (uint64_t i = 0; i < n; i++)
		if (run_pass(r, err) != 0)
			return -1;
	return 0;
}

/* The time. */

/* Of the pieces that count, which are regions from 1 on. */
struct mean { uint64_t cycles, pieces; double a_piece, error; /* standard error, of a_piece */ };

static struct mean mean_of(const struct run *r, uint64_t pieces)
{
	struct mean m = { .pieces = pieces };
	double squares = 0;

	for (uint64_t i = 1; i <= pieces; i++)
		m.cycles += gus_core_region_cycles(r->core, (uint32_t)i);
	m.a_piece = (double)m.cycles / (double)pieces;
	for (uint64_t i = 1; i <= pieces; i++) {
		double apart = (double)gus_core_region_cycles(r->core, (uint32_t)i) - m.a_piece;

		squares += apart * apart;
	}
	m.error = pieces > 1 ? sqrt(squares / (double)(pieces - 1) / (double)pieces) : m.a_piece;
	return m;
}

static bool is_enough(const struct run *r, const struct mean *m, uint64_t passes)
{
	uint64_t most = r->host->cycles_most ? r->host->cycles_most : CYCLES_MOST;

	if (m->pieces < PIECES_LEAST || m->cycles < CYCLES_LEAST || passes < r->micro->passes)
		return false;
	/* A cycle more or less at the end of a piece is no unsteadiness. */
	return m->error * (double)m->pieces <= 1 || m->error <= STEADY * m->a_piece || m->cycles >= most;
}

/* As many passes as have so many ops, at least one. */
static uint64_t passes_of(const struct run *r, uint64_t ops)
{
	return (ops + r->of.ops_most - 1) / r->of.ops_most;
}

/* Passes before those that count; how many a piece has. */
static int run_warm(struct run *r, uint64_t *a_piece, struct gus_error *err)
{
	uint64_t passes = passes_of(r, WARM_OPS + BEHIND) + 1, few;

	r->running = true;
	r->ahead = r->now;
	if (run_passes(r, passes, err) != 0 || feed(r, err) != 0)
		return -1;
	few = PIECE_CYCLES * passes_of(r, WARM_OPS) / (gus_core_cycles(r->core) + 1) + 1;
	*a_piece = few < passes_of(r, PIECE) ? few : passes_of(r, PIECE);
	return 0;
}

/* As many pieces as it takes. They have retired as far as the engine is behind, which the passes at the end push. */
static int run_pieces(struct run *r, double *cycles, struct gus_error *err)
{
	uint64_t pieces = 0, a_piece, behind;
	struct mean m;

	if (run_warm(r, &a_piece, err) != 0)
		return -1;
	behind = passes_of(r, BEHIND) / a_piece + 1;
	do {
		r->region = (uint32_t)++pieces;
		if (run_passes(r, a_piece, err) != 0 || feed(r, err) != 0)
			return -1;
		m = mean_of(r, pieces > behind ? pieces - behind : 1);
	} while (pieces <= behind || !is_enough(r, &m, (pieces - behind) * a_piece));
	r->region = 0;
	if (run_passes(r, passes_of(r, BEHIND), err) != 0 || feed(r, err) != 0 || gus_core_drain(r->core, err) != 0)
		return -1;
	m = mean_of(r, pieces);
	*cycles = (double)m.cycles / (double)(pieces * a_piece);
	return 0;
}

static int open_run(struct run *r, struct gus_error *err)
{
	const struct golden_machine *m = r->machine;
	const struct gus_core_config *c = &m->config;

	if (golden_code_begin(&r->of, r->micro, m, err) != 0)
		return -1;
	gus_vec_reserve(&r->came, r->of.window_lines.n + 1);
	memset(r->came.v, 0, r->of.window_lines.n * sizeof(*r->came.v));
	r->lines_most = c->uop_cache_line ? c->uop_cache_size / c->uop_cache_line : 0;
	r->traits = golden_traits_again(m->traits);
	r->cache = gus_cache_new(&m->caches, err);
	if (!r->cache)
		return -1;
	if (r->micro->huge)
		gus_cache_huge_pages(r->cache, GOLDEN_CODE_ARENA, GOLDEN_CODE_ARENA + r->micro->arena);
	if (gus_code_fetch_init(&r->code, c, r->cache, golden_traits_hooks(r->traits), err) != 0)
		return -1;
	r->predictor = gus_branch_new(&m->predictor, err);
	r->core = r->predictor ? gus_core_open(r->of.program, c, NULL, golden_traits_hooks(r->traits), err) : NULL;
	return r->core ? 0 : -1;
}

static void close_run(struct run *r)
{
	gus_micro_walk_end(&r->walk);
	gus_core_close(r->core);
	gus_branch_free(r->predictor);
	gus_code_fetch_free(&r->code);
	gus_cache_free(r->cache);
	golden_traits_free(r->traits);
	golden_code_end(&r->of);
	gus_vec_free(&r->came);
	gus_vec_free(&r->accesses);
	free(r);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all that it is but its name. */
static uint64_t hash_of(const struct gus_micro *k)
{
	const struct { const void *bytes; size_t size; } parts[] = {
		{ k->code.v, k->code.n }, { k->lists.v, k->lists.n * sizeof(*k->lists.v) },
		{ k->patterns.v, k->patterns.n * sizeof(*k->patterns.v) },
		{ k->accesses.v, k->accesses.n * sizeof(*k->accesses.v) },
		{ k->jumps.v, k->jumps.n * sizeof(*k->jumps.v) },
	};
	uint64_t sums[sizeof(parts) / sizeof(*parts) + 4] = { k->loop, k->end | (uint64_t)k->huge << 32, k->warm,
		k->passes };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		sums[4 + i] = parts[i].size ? gus_insn_form_hash(parts[i].bytes, parts[i].size) : 0;
	return gus_insn_form_hash((const char *)sums, sizeof(sums)) | 1;
}

static int simulate(struct golden_host *h, const struct gus_micro *k, double *cycles, struct gus_error *err)
{
	struct run *r = gus_zalloc(sizeof(*r));
	double begun = now();
	uint64_t lines = WARM + WARM_LINES * h->machine->caches.level[GUS_HIT_L3].bytes / h->machine->caches.line_size;
	int rc;

	r->host = h;
	r->machine = h->machine;
	r->micro = k;
	r->pace = 1;
	gus_micro_walk_begin(&r->walk, k);
	rc = open_run(r, err);
	if (rc == 0 && k->warm > lines)
		skip_passes(r, k->warm - lines);
	if (rc == 0)
		rc = run_passes(r, k->warm > lines ? lines : WARM + k->warm, err);
	if (rc == 0)
		rc = run_pieces(r, cycles, err);
	if (r->core)
		h->spent.cycles += gus_core_cycles(r->core);
	h->spent.micros++;
	close_run(r);
	h->spent.seconds += now() - begun;
	return rc;
}

static int run_one(struct golden_host *h, const struct gus_micro *k, struct gus_micro_time *time,
		   struct gus_error *err)
{
	uint64_t hash = hash_of(k);
	struct golden_host_kept *kept = &h->kept[hash / 2 % GOLDEN_HOST_KEPT];

	if (kept->hash != hash) {
		kept->hash = 0;
		if (simulate(h, k, &kept->cycles, err) != 0)
			return -1;
		kept->hash = hash;
		if (h->ran)
			h->ran(h->ran_context, k, kept->cycles);
	}
	*time = (struct gus_micro_time){ .cycles = kept->cycles, .median = kept->cycles, .high = kept->cycles,
		.samples = 1, .kept = 1 };
	return 0;
}

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	for (size_t i = 0; i < n; i++)
		if (run_one(context, micros[i], &times[i], err) != 0)
			return -1;
	return 0;
}

static bool has_form(const struct gus_uarch *u, const char *text)
{
	const struct gus_uarch_form *f = gus_uarch_form_by_text(u, text);

	return f && f->row != GUS_UARCH_NONE;
}

void golden_host_open(struct golden_host *h, const struct golden_machine *m, struct gus_calibration_host *host)
{
	*h = (struct golden_host){ .machine = m };
	*host = (struct gus_calibration_host){ .context = h, .isa = m->uarch->isa, .arena_most = UINT64_C(1) << 30,
		.arena_most_huge = UINT64_C(1) << 30, .cycles_a_second = CYCLES_A_SECOND, .run = run };
	host->avx2 = has_form(m->uarch, "VPADDD (YMM, YMM, YMM)");
	host->fma = has_form(m->uarch, "VFMADD231PD (YMM, YMM, YMM)");
	host->avx512 = has_form(m->uarch, "VADDPD (ZMM, ZMM, ZMM)");
}
