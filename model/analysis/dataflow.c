/* SPDX-License-Identifier: MIT */
/* Values are given times as operands alone would have it, iteration after iteration. Each carries with its time where
 * that was come by: which value of a marked iteration its longest path began at.
 *
 *	iterations   0 ... WARM            ... marked                       ... twice as many
 *	             which load reads      times grow as dependences        a value whose path began at the same value
 *	             which store settles   make them                        of the marked one is a cycle: what its time
 *	                                                                    grew, by the iterations in between, counts
 *
 * So there is a path behind each number, which can be gone again and again: a chain that is long and ends is none, and
 * neither is the difference of two chains. What is behind at first may be the largest cycle all the same, and be hidden
 * until it has caught up: as long as times grow faster than the cycles found, twice as many iterations follow.
 *
 * A register that is written is one value, a word in memory another: it is known by the store that wrote it. A load
 * and its store count where they were as many stores apart in the iteration before; pointers that meet once carry
 * nothing. */
#include "model/analysis/dataflow.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/forwarding.h"
#include "model/code/values.h"

enum { WARM = 8, MARKED = 16, MARKED_MOST = 1024 };     /* iterations */
enum { WORDS = 256, NEAR = 64, ACCESSES = 4, PAGE = 4096, NOWHERE = -1, NEVER = INT32_MIN };

/* When a value is there, and the value of the marked iteration that the longest path to it began at: a register, or
 * GUS_PROGRAM_REGS and the number of a store; and when that was there. */
struct moment {
	int64_t time, began;
	int32_t from;
};

struct word {
	uint64_t address;
	struct gus_value value;
	struct moment at;
	uint32_t bytes, memory;         /* memory: of the store, in program->memories */
};

/* One access of the op that runs. */
struct access {
	struct gus_value address;
	bool fed;                       /* by a store, whose data were there at ... */
	struct moment stored;
	int32_t forward;                /* cycles from the store's data */
	uint64_t word;                  /* of a store: its number */
};

struct dataflow {
	const struct gus_program *p;
	const struct gus_core_config *c;
	enum gus_core_pointers pointers;
	struct gus_values values;
	struct moment reg[GUS_PROGRAM_REGS];
	struct word words[WORDS];       /* the youngest stores, by number modulo WORDS */
	uint64_t words_n;
	struct access access[ACCESSES];
	int64_t *apart;                 /* by access of the program: how many stores ago its word was written */
	uint32_t *site;                 /* by access of the program: which store wrote it */
	struct moment *youngest;        /* by store: its word, of the iteration that was the last */
	int64_t before;                 /* the latest time of the marked iteration */
	bool once;                      /* words that meet once count as well */
	double most;
};

static const struct moment never = { NEVER, NEVER, NOWHERE };

/* How far behind another address; in the one page of memory that harnesses back all pages with, as the core engine has
 * it (model/core/memory.c), where pointers are equal. */
static uint64_t behind(const struct dataflow *d, uint64_t address, uint64_t other)
{
	bool one_page = d->pointers == GUS_CORE_POINTERS_EQUAL || d->pointers == GUS_CORE_POINTERS_ONE;

	return one_page ? (address - other) % PAGE : address - other;
}

/* How many of the last stores are looked at: as many as may be in flight where all count. */
static uint64_t words_seen(const struct dataflow *d)
{
	uint64_t most = d->once ? WORDS : NEAR;

	return d->words_n < most ? d->words_n : most;
}

/* The youngest of these stores that wrote any of the bytes. */
static const struct word *find_word(const struct dataflow *d, uint64_t address, uint32_t bytes, uint64_t *number)
{
	for (uint64_t i = d->words_n; i-- > d->words_n - words_seen(d);) {
		const struct word *w = &d->words[i % WORDS];

		if (behind(d, address, w->address) < w->bytes || behind(d, w->address, address) < bytes) {
			*number = i;
			return w;
		}
	}
	return NULL;
}

/* How the engines forward. A load that is blocked comes later than that. */
static int32_t forward_latency(const struct dataflow *d, const struct gus_op *op, const struct word *w, uint32_t memory,
			       uint64_t address)
{
	struct gus_overlap o = { .store = w->address, .load = address, .store_bytes = w->bytes,
		.load_bytes = d->p->memories[memory].bytes, .store_memory = w->memory, .load_memory = memory };

	return (int32_t)gus_forwarding_cycles(d->c, gus_forwarding_of(d->c, d->p, op, &o));
}

/* A load finds its store; it returns what it reads. */
static struct gus_value load(struct dataflow *d, const struct gus_op *op, uint32_t memory, struct access *a)
{
	const struct gus_program_memory *m = &d->p->memories[memory];
	const struct word *w;
	uint64_t number;
	int64_t apart;

	if (!a->address.known || !(w = find_word(d, a->address.bits, m->bytes, &number))) {
		d->apart[memory] = 0;
		return d->values.memory;
	}
	apart = (int64_t)(d->words_n - number);
	if (d->once || (d->apart[memory] == apart && d->site[memory] == w->memory)) {
		a->fed = true;
		a->stored = w->at;
		a->forward = forward_latency(d, op, w, memory, a->address.bits);
	}
	d->apart[memory] = apart;
	d->site[memory] = w->memory;
	if (behind(d, a->address.bits, w->address) || m->bytes > w->bytes)
		return (struct gus_value){ 0, false };
	return w->value;
}

static void store(struct dataflow *d, uint32_t memory, uint32_t insn, struct access *a)
{
	struct word *w = &d->words[d->words_n % WORDS];
	struct gus_value value = gus_values_stored(&d->values, d->p, insn);

	a->word = d->words_n++;
	*w = (struct word){ .address = a->address.bits, .memory = memory, .bytes = d->p->memories[memory].bytes,
		.at = never, .value = { value.bits, value.known && d->p->memories[memory].bytes <= 8 } };
}

/* In program order, before any uop of the op: addresses, which word is whose, and what registers hold after it. */
static void begin_op(struct dataflow *d, const struct gus_op *op)
{
	for (unsigned insn = 0; insn < op->insns_n; insn++) {
		struct gus_value loaded = d->values.memory;

		for (unsigned n = 0; n < op->memories_n && n < ACCESSES; n++) {
			const struct gus_program_memory *m = &d->p->memories[op->memory + n];

			if (m->instruction != insn)
				continue;
			d->access[n] = (struct access){ .stored = never };
			if (d->pointers == GUS_CORE_POINTERS_NONE)
				continue;
			d->access[n].address = gus_values_address(&d->values, d->p, op->memory + n);
			if (m->load)
				loaded = load(d, op, op->memory + n, &d->access[n]);
			if (m->store && d->access[n].address.known)
				store(d, op->memory + n, op->insn + insn, &d->access[n]);
		}
		gus_values_step(&d->values, op->insn + insn, loaded);
	}
}

static struct moment after(struct moment m, int64_t cycles)
{
	m.time += cycles;
	return m;
}

static struct moment later(struct moment a, struct moment b)
{
	return b.time > a.time ? b : a;
}

/* The word of a load that a store feeds: a forward's time after the data. The load's address it needs as well, but one
 * that comes just in time costs no more than the forward, or a hit, and a cycle less. */
static struct moment forwarded(const struct access *a, struct moment start, int32_t latency)
{
	int32_t least = latency < a->forward ? latency : a->forward;

	return later(after(start, least > 0 ? least - 1 : 0), after(a->stored, a->forward));
}

static void run_uop(struct dataflow *d, const struct gus_op *op, const struct gus_uop *u)
{
	const struct gus_flow *in = &d->p->flows[u->in], *out = &d->p->flows[u->out];
	struct access *a = op->memories_n && u->memory < op->memories_n && u->memory < ACCESSES ?
		&d->access[u->memory] : NULL;
	struct moment start = never;

	for (unsigned i = 0; i < u->in_n; i++)
		start = later(start, after(d->reg[in[i].reg], -in[i].cycles));
	for (unsigned i = 0; i < u->out_n; i++)
		d->reg[out[i].reg] = a && u->kind == GUS_UOP_LOAD && a->fed ?
			forwarded(a, start, out[i].cycles) : after(start, out[i].cycles);
	if (u->kind == GUS_UOP_STORE_DATA && a && a->address.known) {
		d->words[a->word % WORDS].at = start;
		d->youngest[op->memory + u->memory] = start;
	}
}

static void run_op(struct dataflow *d, const struct gus_op *op)
{
	begin_op(d, op);
	if (!(op->flags & GUS_OP_ELIMINATED)) {
		for (unsigned k = 0; k < op->uops_n; k++)
			run_uop(d, op, &d->p->uops[op->uop + k]);
		return;
	}
	for (unsigned k = 0; k < op->uops_n; k++)
		for (unsigned i = 0; i < d->p->uops[op->uop + k].out_n; i++)
			d->reg[d->p->flows[d->p->uops[op->uop + k].out + i].reg] = d->reg[op->move_from];
}

/* Registers that nothing writes are there from the first. */
static void begin_times(struct dataflow *d)
{
	for (unsigned r = 0; r < GUS_PROGRAM_REGS; r++)
		d->reg[r] = never;
	for (uint32_t i = 0; i < d->p->uops_n; i++)
		for (unsigned k = 0; k < d->p->uops[i].out_n; k++)
			d->reg[d->p->flows[d->p->uops[i].out + k].reg].time = 0;
	for (uint64_t i = 0; i < WORDS && i < d->words_n; i++)
		d->words[i].at.time = 0;
}

/* Paths begin here. Of the words of a store only the youngest is a value: the others are of iterations before. */
static void mark(struct dataflow *d)
{
	d->before = NEVER;
	for (unsigned r = 0; r < GUS_PROGRAM_REGS; r++) {
		d->reg[r] = (struct moment){ d->reg[r].time, d->reg[r].time, (int32_t)r };
		d->before = d->reg[r].time > d->before ? d->reg[r].time : d->before;
	}
	for (uint64_t i = 0; i < words_seen(d); i++) {
		struct word *w = &d->words[(d->words_n - 1 - i) % WORDS];
		bool seen = false;

		for (uint64_t k = 0; k < i && !seen; k++)
			seen = d->words[(d->words_n - 1 - k) % WORDS].memory == w->memory;
		w->at.began = w->at.time;
		w->at.from = seen ? NOWHERE : GUS_PROGRAM_REGS + (int32_t)w->memory;
	}
}

static void take_cycle(struct dataflow *d, struct moment at, int32_t self, unsigned iterations)
{
	if (at.from == self && (double)(at.time - at.began) > d->most * iterations)
		d->most = (double)(at.time - at.began) / iterations;
}

static void take_cycles(struct dataflow *d, unsigned iterations)
{
	for (unsigned r = 0; r < GUS_PROGRAM_REGS; r++)
		take_cycle(d, d->reg[r], (int32_t)r, iterations);
	for (uint32_t i = 0; i < d->p->memories_n; i++)
		take_cycle(d, d->youngest[i], GUS_PROGRAM_REGS + (int32_t)i, iterations);
}

/* How fast times grew since the mark, by the latest of all. */
static double growth(const struct dataflow *d, unsigned iterations)
{
	int64_t latest = d->before;

	for (unsigned r = 0; r < GUS_PROGRAM_REGS; r++)
		latest = d->reg[r].time > latest ? d->reg[r].time : latest;
	return (double)(latest - d->before) / iterations;
}

static void run_iterations(struct dataflow *d, unsigned n, bool marked)
{
	for (unsigned i = 1; i <= n; i++) {
		for (uint32_t op = 0; op < d->p->ops_n; op++)
			run_op(d, &d->p->ops[op]);
		/* Half of them at least, so that what happens once is nothing beside what comes again. */
		if (marked && i >= n / 2)
			take_cycles(d, i);
	}
}

static void begin(struct dataflow *d)
{
	run_iterations(d, WARM, false);
	begin_times(d);
	run_iterations(d, MARKED, false);
}

static void find_cycles(struct dataflow *d)
{
	begin(d);
	for (unsigned n = MARKED; n <= MARKED_MOST; n *= 2) {
		mark(d);
		run_iterations(d, n, true);
		if (d->most >= growth(d, n) * 0.98)
			return;
	}
}

static struct dataflow *new_dataflow(const struct gus_program *p, const struct gus_core_config *c,
				     enum gus_core_pointers pointers)
{
	struct dataflow *d = gus_zalloc(sizeof(*d));

	d->p = p;
	d->c = c;
	d->pointers = pointers;
	d->apart = gus_zalloc((p->memories_n + 1) * sizeof(*d->apart));
	d->site = gus_zalloc((p->memories_n + 1) * sizeof(*d->site));
	d->youngest = gus_zalloc((p->memories_n + 1) * sizeof(*d->youngest));
	gus_values_begin(&d->values, p, pointers);
	return d;
}

static void free_dataflow(struct dataflow *d)
{
	gus_values_end(&d->values);
	free(d->apart);
	free(d->site);
	free(d->youngest);
	free(d);
}

double gus_dataflow_bound(const struct gus_program *p, const struct gus_core_config *c,
			  enum gus_core_pointers pointers)
{
	struct dataflow *d = new_dataflow(p, c, pointers);
	double most;

	find_cycles(d);
	most = d->most;
	free_dataflow(d);
	return most;
}

double gus_dataflow_growth(const struct gus_program *p, const struct gus_core_config *c,
			   enum gus_core_pointers pointers, unsigned iterations)
{
	struct dataflow *d = new_dataflow(p, c, pointers);
	double grown;

	d->once = true;
	begin(d);
	mark(d);
	run_iterations(d, iterations, false);
	grown = growth(d, iterations);
	free_dataflow(d);
	return grown;
}
