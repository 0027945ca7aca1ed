/* SPDX-License-Identifier: MIT */
#include "attribution/whatif/vectorised.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/traced.h"
#include "base/error.h"
#include "model/analysis/variant.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/stream/stream.h"

/* Regions of a run: the first quarter of the turns fills the machine. */
enum { WARMING = 1, COUNTED = 2 };
enum { ELSEWHERE = 1 << 16 };   /* addresses of mock-ups are multiples of that */

static const struct { const char *name, *advice; } quadrants[GUS_QUADRANTS] = {
	[GUS_QUADRANT_NEITHER] = { "neither", "vectors alone bring nothing: neither arithmetic nor memory gains" },
	[GUS_QUADRANT_FP] = { "fp", "arithmetic gains and memory does not: lay data out so that they lie side by side, "
		"or keep more of them in caches" },
	[GUS_QUADRANT_LS] = { "memory", "memory gains and arithmetic does not: the chain or the divider in it comes "
		"first" },
	[GUS_QUADRANT_BOTH] = { "both", "arithmetic and memory gain: let the compiler vectorise it" },
};

/* Palomares 2015, table 6.1, of Sandy Bridge: words of 4 bytes, and of 8. */
static const double table_6_1[GUS_HITS][2] = { { 1, 1 }, { 2.04, 1.79 }, { 1.63, 1.40 }, { 1.25, 1.10 } };

const char *gus_quadrant_name(enum gus_quadrant q)
{
	return q < GUS_QUADRANTS ? quadrants[q].name : NULL;
}

const char *gus_quadrant_advice(enum gus_quadrant q)
{
	return q < GUS_QUADRANTS ? quadrants[q].advice : NULL;
}

enum gus_quadrant gus_quadrant_of(double fp, double ls, double theta)
{
	return (fp >= theta ? GUS_QUADRANT_FP : 0) | (ls >= theta ? GUS_QUADRANT_LS : 0);
}

double gus_vectorised_bandwidth(enum gus_hit level, unsigned element_bytes)
{
	return table_6_1[level][element_bytes > 4];
}

double gus_vectorised_scaled(double gain, const double shares[GUS_HITS], unsigned element_bytes)
{
	double left = 1, time = 0;

	for (unsigned l = GUS_HIT_L2; l < GUS_HITS; l++) {
		double share = shares[l] < left ? shares[l] : left;

		time += share / gus_vectorised_bandwidth((enum gus_hit)l, element_bytes);
		left -= share;
	}
	return 1 / (time + left / gain);
}

struct gus_vector_gain gus_vectorised_gain(double stream, double core, double error)
{
	return (struct gus_vector_gain){ stream, fmin(stream, core) / (1 + error), fmax(stream, core) * (1 + error) };
}

/* Code of the run, and what its accesses stand for. */
struct piece {
	struct gus_growing_block block;
	struct gus_vec(struct gus_mockup_access) of; /* by access of its ops, in their order, the twin's behind */
	unsigned turns;                         /* of the loop; 0: there is none */
	/* Of the scalar loop: by instruction of it, that of the body; of others nothing. */
	struct gus_vec(uint32_t) insns;
};

struct runner {
	const struct gus_traced *t;
	const struct gus_turning *body;
	const struct gus_program *p;
	struct gus_stream_engine *stream;
	struct gus_core_engine *core;
	struct gus_op_step steps[GUS_OP_STEPS];
	struct gus_vec(struct gus_op_access) accesses;
	size_t n;
	bool failed;
};

struct cycles { double stream, core; };

static bool runner_begin(struct runner *r, const struct gus_traced *t, const struct gus_turning *b,
			 const struct gus_program *p)
{
	static const struct gus_stream_options nominal = { 0 };
	struct gus_error err = { 0 };

	r->t = t;
	r->body = b;
	r->p = p;
	r->n = r->accesses.n = 0;
	r->stream = gus_stream_open(p, t->options.config, &nominal, &err);
	r->core = gus_core_open(p, t->options.config, NULL, NULL, &err);
	r->failed = !r->stream || !r->core;
	return !r->failed;
}

static void flush(struct runner *r)
{
	const struct gus_op_steps feed = { r->steps, r->accesses.v, r->n };
	struct gus_error err = { 0 };

	if (r->n && !r->failed) {
		gus_stream_feed(r->stream, &feed, NULL);
		r->failed = gus_core_feed(r->core, &feed, &err) != 0;
	}
	r->n = r->accesses.n = 0;
}

static struct cycles runner_end(struct runner *r)
{
	struct cycles c = { 0, 0 };
	struct gus_error err = { 0 };
	double lanes[GUS_STREAM_LANES];

	flush(r);
	if (!r->failed && gus_core_drain(r->core, &err) == 0) {
		gus_stream_region_cycles(r->stream, COUNTED, lanes);
		c = (struct cycles){ lanes[0], (double)gus_core_region_cycles(r->core, COUNTED) };
	}
	gus_stream_close(r->stream);
	gus_core_close(r->core);
	gus_vec_free(&r->accesses);
	return c;
}

/* What another access brings along is brought by this one. */
static void join_beside(struct gus_op_access *to, const struct gus_op_access *from)
{
	for (unsigned k = 0; k < GUS_OP_WRITTEN; k++)
		to->beside.written[k] = (uint8_t)(to->beside.written[k] + from->beside.written[k]);
	for (unsigned k = 0; k < from->beside.prefetches_n && to->beside.prefetches_n < GUS_OP_PREFETCHES; k++)
		to->beside.prefetches[to->beside.prefetches_n++] = from->beside.prefetches[k];
}

static struct gus_op_access access_of(const struct runner *r, const struct gus_mockup_access *of, size_t turn)
{
	struct gus_op_access all = *gus_turning_access(r->body, turn + of->turn, of->access);

	for (uint32_t k = 1; k < of->turns && turn + of->turn + k < r->body->turns.n; k++) {
		const struct gus_op_access *one = gus_turning_access(r->body, turn + of->turn + k, of->access);

		if (one->level > all.level || (one->level == all.level && all.prefetched)) {
			all.level = one->level;
			all.prefetched = one->prefetched;
		}
		all.tlb = one->tlb > all.tlb ? one->tlb : all.tlb;
		if (one->known && (!all.known || one->address < all.address))
			all.address = one->address;
		all.known |= one->known;
		join_beside(&all, one);
	}
	all.bytes = 0;
	return all;
}

static void step(struct runner *r, const struct gus_op_step *told, const struct piece *piece, size_t *access,
		 size_t turn)
{
	const struct gus_op *op = &r->p->ops[told->op];

	if (r->n == GUS_OP_STEPS)
		flush(r);
	r->steps[r->n] = *told;
	r->steps[r->n].access = (uint32_t)r->accesses.n;
	for (uint32_t i = 0; i < op->memories_n; i++) {
		struct gus_op_access none = { 0 };

		gus_vec_push(&r->accesses, *access < piece->of.n ? access_of(r, &piece->of.v[*access], turn) : none);
		(*access)++;
	}
	r->n++;
}

/* What a turn of the scalar loop has executed of an op, and how its branch went. False: it went around it. */
static bool follow_turn(const struct runner *r, const struct piece *piece, uint32_t k, size_t turn,
			struct gus_op_step *told)
{
	const struct gus_op *op = &r->p->ops[piece->block.op + k];
	size_t at = op->insn - r->p->ops[piece->block.op].insn, last = at + op->insns_n - 1;

	if (last >= piece->insns.n)
		return true;
	if (!gus_turning_executes(r->body, turn, piece->insns.v[at]))
		return false;
	if (op->flags & GUS_OP_CONDITIONAL && last + 1 < piece->insns.n)
		told->taken = !gus_turning_executes(r->body, turn, piece->insns.v[last + 1]);
	told->mispredicted = r->body->turns.v[turn].mispredicted == piece->insns.v[last] + 1;
	return true;
}

/* One execution of a piece, from the given turn on; of the loop of vectors nothing is mispredicted but its end. */
static void execute(struct runner *r, const struct piece *piece, size_t turn, bool last)
{
	const uint32_t region = turn < r->body->turns.n / 4 ? WARMING : COUNTED;
	size_t access = 0, end = turn + piece->turns - 1;

	for (uint32_t k = 0; k < piece->block.ops_n; k++) {
		bool ends = k + 1 == piece->block.ops_n;
		struct gus_op_step told = { .op = ends && !last ? piece->block.taken : piece->block.op + k,
			.region = region, .cached = true, .taken = ends && !last };

		if (piece->insns.n && !follow_turn(r, piece, k, turn, &told)) {
			access += r->p->ops[told.op].memories_n;
			continue;
		}
		if (!piece->insns.n && ends && last && end < r->body->turns.n && piece->turns)
			told.mispredicted = r->body->turns.v[end].mispredicted != 0;
		step(r, &told, piece, &access, turn);
	}
}

/* Pieces. */

static void map_accesses(struct piece *piece, const struct gus_program *p, const struct gus_mockup *m)
{
	uint32_t insn = p->ops[piece->block.op].insn;

	for (uint32_t k = 0; k < piece->block.ops_n; k++) {
		const struct gus_op *op = &p->ops[piece->block.op + k];

		for (uint32_t i = 0; i < op->memories_n; i++) {
			uint32_t at = op->insn + p->memories[op->memory + i].instruction - insn, nth = 0;

			for (uint32_t j = 0; j < i; j++)
				nth += p->memories[op->memory + j].instruction ==
					p->memories[op->memory + i].instruction;
			if (at + 1 < m->first.n && m->first.v[at] + nth < m->first.v[at + 1])
				gus_vec_push(&piece->of, m->accesses.v[m->first.v[at] + nth]);
			else
				gus_vec_push(&piece->of, (struct gus_mockup_access){ 0, 0, 0 });
		}
	}
}

static void list_insns(struct piece *piece, const struct gus_turning *b)
{
	for (uint32_t n = 0; n < b->insns.n; n++)
		if (!b->insns.v[n].joined)
			gus_vec_push(&piece->insns, n);
}

/* Where in its line the loop lies matters, and only of the scalar one it is known; of others each begins a line. */
static void add_piece(struct piece *piece, struct gus_growing *g, const struct gus_mockup *m, uint64_t address)
{
	const struct gus_program *p = gus_growing_program(g);

	*piece = (struct piece){ .turns = m->turns };
	if (!m->lengths.n)
		return;
	piece->block = gus_growing_add(g, m->code.v, m->lengths.v, m->code.n, address);
	map_accesses(piece, p, m);
}

/* The scalar loop as a mock-up of itself, of one turn. */
static void copy_loop(struct gus_mockup *m, const struct gus_turning *b)
{
	*m = (struct gus_mockup){ .turns = 1 };
	gus_vec_push(&m->first, 0);
	for (uint32_t n = 0; n < b->insns.n; n++) {
		const struct gus_turning_insn *insn = &b->insns.v[n];

		if (insn->joined)
			continue;
		gus_vec_append(&m->code, insn->bytes, insn->info->length);
		gus_vec_push(&m->lengths, insn->info->length);
		for (uint32_t k = 0; k < insn->accesses_n; k++)
			gus_vec_push(&m->accesses, (struct gus_mockup_access){ insn->access + k, 0, 1 });
		gus_vec_push(&m->first, (uint32_t)m->accesses.n);
	}
}

/* The whole. */

static size_t stay_end(const struct gus_turning *b, size_t turn)
{
	for (turn++; turn < b->turns.n && !b->turns.v[turn].first; turn++)
		;
	return turn;
}

static struct cycles run_whole(const struct gus_traced *t, const struct gus_turning *b, const struct gus_mockup *mocks,
			       size_t mocks_n, const struct gus_mockup *tail)
{
	struct gus_growing *g = gus_growing_new(t->options.uarch);
	struct piece pieces[3] = { 0 }, end = { 0 };
	struct runner *r = gus_zalloc(sizeof(*r));
	struct cycles c = { 0, 0 };

	for (size_t i = 0; i < mocks_n; i++)
		add_piece(&pieces[i], g, &mocks[i], i + 1 < mocks_n ? (i + 1) * ELSEWHERE : b->insns.v[0].address);
	list_insns(&pieces[mocks_n - 1], b); /* the last one is scalar */
	if (tail)
		add_piece(&end, g, tail, (mocks_n + 1) * ELSEWHERE);
	if (runner_begin(r, t, b, gus_growing_program(g))) {
		for (size_t turn = 0; turn < b->turns.n;) {
			size_t stop = stay_end(b, turn), vectors = 0;

			for (size_t i = 0; i < mocks_n; i++)
				for (; stop - turn >= pieces[i].turns; turn += pieces[i].turns) {
					execute(r, &pieces[i], turn, stop - turn < 2 * pieces[i].turns);
					vectors += pieces[i].turns > 1;
				}
			if (vectors && end.block.ops_n)
				execute(r, &end, turn - 1, true);
		}
	}
	c = runner_end(r);
	for (size_t i = 0; i < mocks_n; i++) {
		gus_vec_free(&pieces[i].of);
		gus_vec_free(&pieces[i].insns);
	}
	gus_vec_free(&end.of);
	free(r);
	gus_growing_free(g);
	return c;
}

/* A half: cycles for each turn of the loop. */

static struct cycles run_half(const struct gus_traced *t, const struct gus_turning *b, const struct gus_mockup *m,
			      enum gus_variant variant)
{
	struct gus_core_config config = *t->options.config;
	struct gus_core_options options = { 0 };
	struct gus_error err = { 0 };
	uint64_t address = m->turns == 1 ? b->insns.v[0].address : ELSEWHERE;
	struct gus_program *whole = gus_program_new(t->options.uarch, m->code.v, m->code.n, address, 0, &err), *p;
	struct piece piece = { .turns = m->turns };
	struct runner *r;
	struct cycles c = { 0, 0 };
	size_t counted = 0;

	if (!whole)
		return c;
	r = gus_zalloc(sizeof(*r));
	piece.block = (struct gus_growing_block){ 0, whole->ops_n, whole->ops_n - 1 };
	map_accesses(&piece, whole, m);
	p = gus_variant_program(whole, variant, &config, &options);
	piece.block = (struct gus_growing_block){ 0, p->ops_n, p->ops_n - 1 };
	if (runner_begin(r, t, b, p)) {
		for (size_t turn = 0; turn + m->turns <= b->turns.n; turn += m->turns) {
			execute(r, &piece, turn, false);
			counted += turn >= b->turns.n / 4 ? m->turns : 0;
		}
	}
	c = runner_end(r);
	gus_vec_free(&piece.of);
	free(r);
	gus_program_free(p);
	gus_program_free(whole);
	if (!counted)
		return (struct cycles){ 0, 0 };
	return (struct cycles){ c.stream / (double)counted, c.core / (double)counted };
}

/* The part of all turns that vectors do. */
static double vector_share(const struct gus_turning *b, unsigned turns)
{
	size_t in = 0;

	for (size_t turn = 0, stop; turn < b->turns.n; turn = stop) {
		stop = stay_end(b, turn);
		in += (stop - turn) / turns * turns;
	}
	return (double)in / (double)b->turns.n;
}

static struct gus_vector_gain half_gain(const struct gus_traced *t, const struct gus_turning *b,
					const struct gus_mockup *scalar, const struct gus_mockup *vector,
					enum gus_variant variant, double error, double *cycles)
{
	double share = vector_share(b, vector->turns);
	struct cycles s = run_half(t, b, scalar, variant), v = run_half(t, b, vector, variant);

	*cycles = s.stream;
	if (!(s.stream > 0 && s.core > 0 && v.stream > 0 && v.core > 0))
		return (struct gus_vector_gain){ 1, 1, 1 };
	return gus_vectorised_gain(s.stream / (share * v.stream + (1 - share) * s.stream),
				   s.core / (share * v.core + (1 - share) * s.core), error);
}

/* What of the scalar half of memory is transfers: lines that come from each level, each as long as a bus takes. */
static void transfer_shares(const struct gus_traced *t, const struct gus_turning *b, double cycles,
			    double shares[GUS_HITS])
{
	const struct gus_core_config *c = t->options.config;
	const uint32_t rates[GUS_HITS] = { 0, c->l2_bandwidth, c->l3_bandwidth, c->memory_bandwidth };
	uint64_t lines[GUS_HITS] = { 0 };

	for (size_t i = 0; i < b->accesses.n; i++) {
		lines[b->accesses.v[i].level] += b->accesses.v[i].level != GUS_HIT_L1;
		for (unsigned k = 0; k < b->accesses.v[i].beside.prefetches_n; k++)
			if (b->accesses.v[i].beside.prefetches[k].into == GUS_HIT_L1)
				lines[b->accesses.v[i].beside.prefetches[k].from % GUS_HITS]++;
	}
	for (unsigned l = GUS_HIT_L2; l < GUS_HITS; l++)
		shares[l] = rates[l] && cycles > 0 ? (double)lines[l] * c->line_size / rates[l] /
			((double)b->turns.n * cycles) : 0;
}

/* All of it, for one width. */

static bool is_known(const struct gus_traced *t, const struct gus_mockup *m)
{
	struct gus_growing *g = gus_growing_new(t->options.uarch);
	bool known;

	gus_growing_add(g, m->code.v, m->lengths.v, m->code.n, ELSEWHERE);
	known = !gus_growing_program(g)->unknown;
	gus_growing_free(g);
	return known;
}

static void find_halves(struct gus_vectorised *v, const struct gus_traced *t, const struct gus_packing *p,
			const struct gus_mockup *scalar, const struct gus_mockup *vector, double error)
{
	const struct gus_vector_gain nothing = { 1, 1, 1 };
	double shares[GUS_HITS] = { 0 }, cycles;

	v->fp = half_gain(t, p->body, scalar, vector, GUS_VARIANT_FP, error, &cycles);
	v->ls = half_gain(t, p->body, scalar, vector, GUS_VARIANT_LS, error, &cycles);
	v->fp = p->arithmetic ? v->fp : nothing;
	v->ls = p->memory ? v->ls : nothing;
	transfer_shares(t, p->body, cycles, shares);
	v->ls_by_table = gus_vectorised_scaled(v->ls.gain, shares, p->least);
	v->ls.low = fmin(v->ls.low, v->ls_by_table);
	v->ls.high = fmax(v->ls.high, v->ls_by_table);
	v->quadrant = gus_quadrant_of(v->fp.gain, v->ls.gain, GUS_VECTORISED_THETA);
}

static bool find_mode(struct gus_vectorised *v, const struct gus_traced *t, const struct gus_packing *p,
		      enum gus_mockup_mode mode, double error)
{
	struct gus_mockup mocks[3], tail;
	struct cycles s, w;
	size_t n = 0;
	bool known;

	gus_mockup_make(&mocks[n++], &tail, p, v->bytes, mode);
	if (v->bytes == 32 && mocks[0].turns > 2)
		gus_mockup_make(&mocks[n++], NULL, p, 16, mode);
	copy_loop(&mocks[n++], p->body);
	known = is_known(t, &mocks[0]);
	if (known) {
		s = run_whole(t, p->body, &mocks[n - 1], 1, NULL);
		w = run_whole(t, p->body, mocks, n, &tail);
		if (s.stream > 0 && s.core > 0 && w.stream > 0 && w.core > 0)
			v->whole[mode] = gus_vectorised_gain(s.stream / w.stream, s.core / w.core, error);
		v->turns = mocks[0].turns;
		v->crowded |= mocks[0].crowded;
		if (mode == GUS_MOCKUP_PARTIAL)
			find_halves(v, t, p, &mocks[n - 1], &mocks[0], error);
	}
	for (size_t i = 0; i < n; i++)
		gus_mockup_free(&mocks[i]);
	gus_mockup_free(&tail);
	return known;
}

static bool find_all(struct gus_vectorised *v, const struct gus_traced *t, const struct gus_packing *p, double error)
{
	if (!find_mode(v, t, p, GUS_MOCKUP_PARTIAL, error))
		return false;
	for (unsigned mode = 0; mode < GUS_MOCKUP_MODES; mode++) {
		bool apart = p->ways[GUS_PACKING_APART] || p->ways[GUS_PACKING_ANYWHERE];

		v->differs[mode] = mode == GUS_MOCKUP_FULL ? apart : mode == GUS_MOCKUP_GATHER &&
			p->ways[GUS_PACKING_ANYWHERE];
		if (!v->differs[mode])
			v->whole[mode] = v->whole[GUS_MOCKUP_PARTIAL];
		else if (!find_mode(v, t, p, (enum gus_mockup_mode)mode, error))
			v->whole[mode] = (struct gus_vector_gain){ NAN, NAN, NAN };
	}
	return true;
}

void gus_vectorised_find(struct gus_vectorised *v, const struct gus_traced *t, uint32_t region, double model_error)
{
	struct gus_packing p = { 0 };
	struct gus_turning b;

	*v = (struct gus_vectorised){ .bytes = 32 };
	v->why_not = gus_turning_read(&b, t, region);
	if (!v->why_not)
		v->why_not = gus_packing_make(&p, &b, v->bytes);
	v->instructions = (unsigned)b.insns.n;
	v->packed = p.packed;
	v->reorders_fp = p.reduces_fp;
	v->masked = p.masked;
	memcpy(v->ways, p.ways, sizeof(v->ways));
	if (b.stays)
		v->turns_a_stay = (double)b.turns.n / b.stays;
	if (!v->why_not && !find_all(v, t, &p, model_error)) {
		v->bytes = 16; /* of a CPU without AVX2 */
		if (!find_all(v, t, &p, model_error))
			v->why_not = gus_strdup("the table has no rows for its vector instructions");
	}
	gus_packing_free(&p);
	gus_turning_free(&b);
}

void gus_vectorised_free(struct gus_vectorised *v)
{
	free(v->why_not);
}
