/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/heard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/code/program.h"
#include "model/oracles/cache.h"

/* Of a store no more words are kept than one vector has. */
enum { WORDS = 4096, STORES = 64, PAGE = 4096, WORDS_OF_STORE = 8 };

/* Who made a value: the op, when it began and when it was there. from GUS_HEARD_NONE: nobody. */
struct maker {
	uint32_t op;
	bool load;
	uint64_t start, ready;
	/* Of a word on its way from uop to uop of one op: what its maker waited for. */
	struct maker_wait { uint32_t op; uint8_t reg; bool memory, load; double cycles; uint64_t ready; } wait;
};

struct store { uint64_t address; uint32_t op, bytes; };

struct gus_heard_thread {
	struct gus_heard *all;
	const struct gus_program *program;
	const struct gus_core_listener *beside;
	struct gus_core_listener listener;
	struct maker regs[GUS_PROGRAM_REGS];
	struct { uint64_t word; struct maker maker; } words[WORDS]; /* that were stored, by their addresses */
	struct store stores[STORES];    /* the last ones */
	uint64_t stores_n;
	uint64_t loaded;                /* address of the last load, and its bytes */
	uint32_t loaded_bytes;
	struct maker_wait wait;         /* of the op that retires now */
};

void gus_heard_init(struct gus_heard *h, const struct gus_cache_config *caches)
{
	*h = (struct gus_heard){ .caches = caches };
}

void gus_heard_free(struct gus_heard *h)
{
	for (size_t i = 0; i < h->threads.n; i++)
		free(h->threads.v[i]);
	for (size_t i = 0; i < h->accesses.n; i++)
		free(h->accesses.v[i].places);
	gus_vec_free(&h->threads);
	gus_vec_free(&h->accesses);
	gus_vec_free(&h->ops);
}

/* Code grows while it runs. */
static struct gus_heard_op *op_of(struct gus_heard *h, uint32_t op)
{
	while (h->ops.n <= op)
		gus_vec_push(&h->ops, (struct gus_heard_op){ .blocked_by = GUS_HEARD_NONE,
			     .aliased_with = GUS_HEARD_NONE });
	return &h->ops.v[op];
}

static struct gus_heard_access *access_of(struct gus_heard *h, uint32_t memory)
{
	while (h->accesses.n <= memory)
		gus_vec_push(&h->accesses, (struct gus_heard_access){ .accesses = 0 });
	return &h->accesses.v[memory];
}

/* Memory. */

static void set_bit(uint64_t *bits, uint64_t bit)
{
	bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

static uint64_t sets_of(const struct gus_cache_config *c, unsigned level)
{
	const struct gus_cache_level *l = &c->level[level];

	return l->bytes && l->ways ? l->bytes / c->line_size / l->ways : 1;
}

/* Multiplied by 2^64 over the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4). */
static uint64_t hash_of(uint64_t line)
{
	return (line * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
}

static void note_miss(const struct gus_heard *h, struct gus_heard_access *a, uint64_t address, unsigned level)
{
	uint64_t line = address / h->caches->line_size;

	if (!a->places)
		a->places = gus_zalloc(sizeof(*a->places));
	a->places->misses[level]++;
	for (unsigned i = 0; i < 2; i++)
		set_bit(a->places->sets[i], line % sets_of(h->caches, i) % GUS_HEARD_SETS);
	set_bit(a->places->lines, hash_of(line) % GUS_HEARD_LINES);
}

/* The majority vote of Boyer and Moore ("MJRTY", 1991). */
static void vote(struct gus_heard_access *a, int64_t stride)
{
	if (a->votes == 0)
		a->stride = stride;
	a->votes += stride == a->stride ? 1 : -1;
}

static void note_access(const struct gus_heard *h, struct gus_heard_access *a, const struct gus_core_event *e)
{
	uint64_t end = e->address + e->bytes - 1;
	int64_t stride = (int64_t)(e->address - a->last);

	if (a->accesses++) {
		vote(a, stride);
		a->steady += stride == a->before;
		a->before = stride;
	}
	a->last = e->address;
	a->bytes = e->bytes;
	if (e->address / h->caches->line_size != end / h->caches->line_size) {
		a->splits++;
		a->page_splits += e->address / PAGE != end / PAGE;
	}
	if (e->level > GUS_HIT_L1 && e->level < GUS_HITS)
		note_miss(h, a, e->address, e->level);
}

static void note_store(struct gus_heard_thread *t, const struct gus_core_event *e)
{
	t->stores[t->stores_n++ % STORES] = (struct store){ e->address, e->op, e->bytes };
}

/* The youngest that overlaps the last load; by_page: in the low 12 bits alone. */
static uint32_t find_store(const struct gus_heard_thread *t, bool by_page)
{
	uint64_t n = t->stores_n < STORES ? t->stores_n : STORES;

	for (uint64_t i = 1; i <= n; i++) {
		const struct store *s = &t->stores[(t->stores_n - i) % STORES];
		uint64_t behind = t->loaded - s->address, before = s->address - t->loaded;
		bool overlaps = behind < s->bytes || before < t->loaded_bytes;

		if (by_page ? !overlaps && (behind % PAGE < s->bytes || before % PAGE < t->loaded_bytes) : overlaps)
			return s->op;
	}
	return GUS_HEARD_NONE;
}

/* Waits. */

/* One time less of what came most, its mean kept. */
static void drop_one(struct gus_heard_edge *e)
{
	uint64_t others = e->times - e->loads;

	if (e->loads > others) {
		e->load_cycles -= e->load_cycles / (double)e->loads;
		e->loads--;
	} else {
		e->cycles -= e->cycles / (double)others;
	}
	e->times--;
}

static void keep_edge(struct gus_heard_op *op, const struct maker_wait *w)
{
	struct gus_heard_edge *least = &op->edges[0];

	for (unsigned i = 0; i < GUS_HEARD_EDGES; i++) {
		struct gus_heard_edge *e = &op->edges[i];

		if (e->times && e->from == w->op && e->memory == w->memory && (e->memory || e->reg == w->reg)) {
			e->times++;
			e->loads += w->load;
			*(w->load ? &e->load_cycles : &e->cycles) += w->cycles;
			return;
		}
		if (e->times < least->times)
			least = e;
	}
	if (least->times > 1) /* it gives way once it has come no more often than others (Misra and Gries) */
		drop_one(least);
	else
		*least = (struct gus_heard_edge){ w->op, w->reg, w->memory, 1, w->load, w->load ? 0 : w->cycles,
			w->load ? w->cycles : 0 };
}

static struct maker *word_of(struct gus_heard_thread *t, uint64_t address)
{
	uint64_t word = address >> 3;

	return t->words[word % WORDS].word == word + 1 ? &t->words[word % WORDS].maker : NULL;
}

static void wait_for(struct maker_wait *w, const struct maker *m, uint8_t reg, bool memory)
{
	*w = (struct maker_wait){ m->op, reg, memory, m->load, m->ready > m->start ?
		(double)(m->ready - m->start) : 0, m->ready };
}

/* What a uop waited for last, if it came behind its issue, when the work began that its result ends, and whether a
 * load is in that. */
struct input { struct maker_wait wait; uint64_t start; bool load; };

/* What was made by another uop of the same op has waited for that uop's. */
static struct input last_input(const struct gus_heard_thread *t, const struct gus_core_event *e,
			       const struct gus_uop *u)
{
	struct input input = { { .op = GUS_HEARD_NONE }, e->dispatched, u->kind == GUS_UOP_LOAD };
	uint64_t last = e->issued;

	for (uint32_t i = u->in; i < u->in + u->in_n; i++) {
		const struct gus_flow *in = &t->program->flows[i];
		const struct maker *m = &t->regs[in->reg];
		int64_t need = (int64_t)m->ready - in->cycles;

		if (m->op == GUS_HEARD_NONE || need <= (int64_t)last)
			continue;
		last = (uint64_t)need;
		if (in->reg >= GUS_TEMP) {
			input = (struct input){ m->wait, m->start, m->load };
		} else {
			input.start = e->dispatched;
			input.load = u->kind == GUS_UOP_LOAD;
			wait_for(&input.wait, m, in->reg, false);
		}
	}
	return input;
}

/* A load of what was stored behind its issue, and behind all else that it waits for; it could begin when that was. */
static void read_stored(struct gus_heard_thread *t, const struct gus_core_event *e, struct input *input)
{
	const struct maker *m = e->bytes && e->level == GUS_HIT_L1 ? word_of(t, e->address) : NULL;

	if (!m || m->ready <= e->issued || m->ready > e->completed)
		return;
	if (input->wait.op != GUS_HEARD_NONE && input->wait.ready >= m->ready)
		return;
	wait_for(&input->wait, m, 0, true);
	input->start = m->ready;
	input->load = false; /* its address did not matter */
}

/* What a uop writes is its own from here on. */
static void write_results(struct gus_heard_thread *t, const struct gus_core_event *e, const struct gus_uop *u,
			  const struct input *input)
{
	for (uint32_t i = u->out; i < u->out + u->out_n; i++) {
		const struct gus_flow *out = &t->program->flows[i];
		uint64_t ready = e->dispatched + (out->cycles > 0 ? (uint64_t)out->cycles : 0);

		if (u->kind == GUS_UOP_LOAD && e->completed > ready)
			ready = e->completed;
		t->regs[out->reg] = (struct maker){ e->op, input->load, input->start, ready, input->wait };
	}
	if (u->kind == GUS_UOP_STORE_DATA && t->stores_n) {
		const struct store *s = &t->stores[(t->stores_n - 1) % STORES];
		uint64_t first = s->address >> 3, last = (s->address + s->bytes - 1) >> 3;

		if (s->op != e->op)
			return;
		for (uint64_t word = first; word <= last && word <= first + WORDS_OF_STORE; word++) {
			t->words[word % WORDS].word = word + 1;
			t->words[word % WORDS].maker = (struct maker){ e->op, input->load, input->start, e->completed,
				input->wait };
		}
	}
}

/* A move that rename has done, and what is constant whatever it reads, take no time. */
static void rename_results(struct gus_heard_thread *t, const struct gus_op *op, const struct gus_uop *u)
{
	if (op->flags & GUS_OP_ELIMINATED) {
		t->regs[op->move_to] = t->regs[op->move_from];
		return;
	}
	for (uint32_t i = u->out; i < u->out + u->out_n; i++)
		t->regs[t->program->flows[i].reg].op = GUS_HEARD_NONE;
}

static void on_uop(void *context, const struct gus_core_event *e)
{
	struct gus_heard_thread *t = context;
	const struct gus_uop *u = &t->program->uops[e->uop];
	const struct gus_op *op = &t->program->ops[e->op];
	bool is_store = u->kind == GUS_UOP_STORE_ADDRESS;
	struct input input;

	if (t->beside && t->beside->uop)
		t->beside->uop(t->beside->context, e);
	if (e->bytes && (u->kind == GUS_UOP_LOAD || is_store) && u->memory < op->memories_n && !u->again)
		note_access(t->all, access_of(t->all, op->memory + u->memory), e);
	if (e->bytes && u->kind == GUS_UOP_LOAD) {
		t->loaded = e->address;
		t->loaded_bytes = e->bytes;
	}
	if (e->bytes && is_store)
		note_store(t, e);
	if (u->kind == GUS_UOP_NONE) {
		rename_results(t, op, u);
	} else {
		input = last_input(t, e, u);
		if (u->kind == GUS_UOP_LOAD)
			read_stored(t, e, &input);
		write_results(t, e, u, &input);
		if (!is_store) /* which nobody behind it waits for */
			t->wait = input.wait;
	}
	if (e->ends && t->wait.op != GUS_HEARD_NONE)
		keep_edge(op_of(t->all, e->op), &t->wait);
	if (e->ends) {
		op_of(t->all, e->op)->executed++;
		t->wait.op = GUS_HEARD_NONE;
	}
}

static void on_retired(void *context, const struct gus_core_retired *r)
{
	struct gus_heard_thread *t = context;
	struct gus_heard_op *op;

	if (t->beside && t->beside->retire)
		t->beside->retire(t->beside->context, r);
	if (!r->ends || !r->late)
		return;
	op = op_of(t->all, r->op);
	if (r->late & GUS_CORE_LATE_BLOCKED) {
		op->blocked++;
		op->blocked_by = find_store(t, false);
	}
	if (r->late & GUS_CORE_LATE_ALIAS) {
		op->aliased++;
		op->aliased_with = find_store(t, true);
	}
}

static void on_cycle(void *context, const struct gus_core_cycle *c)
{
	const struct gus_core_listener *beside = ((struct gus_heard_thread *)context)->beside;

	beside->cycle(beside->context, c);
}

const struct gus_core_listener *gus_heard_listen(struct gus_heard *h, const struct gus_program *program,
						 const struct gus_core_listener *beside)
{
	struct gus_heard_thread *t = gus_zalloc(sizeof(*t));

	t->all = h;
	t->program = program;
	t->beside = beside;
	t->wait.op = GUS_HEARD_NONE;
	for (unsigned i = 0; i < GUS_PROGRAM_REGS; i++)
		t->regs[i].op = GUS_HEARD_NONE;
	t->listener = (struct gus_core_listener){ .context = t, .cycle = beside && beside->cycle ? on_cycle : NULL,
		.uop = on_uop, .retire = on_retired };
	gus_vec_push(&h->threads, t);
	return &t->listener;
}

void gus_heard_leave(struct gus_heard *h, const struct gus_core_listener *listener)
{
	struct gus_heard_thread *t = listener->context;

	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.v[i] == t) {
			h->threads.v[i] = h->threads.v[--h->threads.n];
			free(t);
			return;
		}
}

const struct gus_heard_op *gus_heard_op(const struct gus_heard *h, uint32_t op)
{
	return op < h->ops.n && h->ops.v[op].executed ? &h->ops.v[op] : NULL;
}

const struct gus_heard_access *gus_heard_access(const struct gus_heard *h, uint32_t memory)
{
	return memory < h->accesses.n && h->accesses.v[memory].accesses ? &h->accesses.v[memory] : NULL;
}

const struct gus_heard_edge *gus_heard_waits(const struct gus_heard *h, uint32_t op)
{
	const struct gus_heard_op *o = gus_heard_op(h, op);
	const struct gus_heard_edge *most = NULL;

	for (unsigned i = 0; o && i < GUS_HEARD_EDGES; i++)
		if (o->edges[i].times && (!most || o->edges[i].times > most->times))
			most = &o->edges[i];
	return most && most->times >= o->executed / 2 ? most : NULL;
}

double gus_heard_lines(const uint64_t bits[GUS_HEARD_LINES / 64])
{
	unsigned used = 0;

	for (unsigned i = 0; i < GUS_HEARD_LINES / 64; i++)
		used += (unsigned)__builtin_popcountll(bits[i]);
	if (used >= GUS_HEARD_LINES)
		used = GUS_HEARD_LINES - 1;
	return -(double)GUS_HEARD_LINES * log1p(-(double)used / GUS_HEARD_LINES);
}
