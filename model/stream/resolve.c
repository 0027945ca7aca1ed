/* SPDX-License-Identifier: MIT */
/* What of a step does not depend on when it happens, and so is the same for all lanes: addresses, which store a load
 * gets its value from, what the oracles say, and cycles of length decoding. Found once, before the kernels run.
 *
 * The paper's shadow memory (section 3.1: bytes for dependences, lines for the caches) is two small tables here, of
 * which the kernels keep the times by the same places:
 *
 *	words     (address / 8) % 1024 --> the word, and the number of the youngest store there
 *	stores    number % 1024        --> the bytes that it wrote
 *	lines     a slot of 256        --> the line that was missed there last (gus_core_line_slot)
 *
 * Several small stores may lie in one word. A store that writes some bytes of its first or last word remembers which
 * one was there before, so that from the youngest all of a word are found.
 *
 * A store is known by its number, so its times lie in a ring of the last 1024: what is older has left for L1 long
 * since, and so has what another word has pushed out of its place. Both are forgotten without harm but for the time
 * of a forward that is that late. The same of a line: what has come in between has taken longer than it was on its
 * way. */
#include <stdlib.h>
#include <string.h>

#include "model/code/leaving.h"
#include "model/stream/private.h"
#include "model/machine/steps.h"

void gus_stream_resolver_open(struct stream_resolver *r, const struct stream *s)
{
	*r = (struct stream_resolver){ .s = s };
	if (!s->fed)
		gus_values_begin(&r->values, s->p, s->o->pointers);
	r->one_page = !s->fed && !s->o->source && (s->o->pointers == GUS_CORE_POINTERS_EQUAL ||
						   s->o->pointers == GUS_CORE_POINTERS_ONE);
	r->tracked = r->values.effects || s->o->memory || s->o->source || s->fed;
	r->steps = gus_zalloc(GUS_OP_STEPS * sizeof(*r->steps));
}

void gus_stream_resolver_close(struct stream_resolver *r)
{
	gus_values_end(&r->values);
	free(r->steps);
	gus_vec_free(&r->accesses);
	gus_vec_free(&r->besides);
}

static struct gus_value address_of(const struct stream_resolver *r, const struct gus_op *op, unsigned n,
				   const struct gus_core_step *given)
{
	if (given && given->addressed && n < sizeof(given->address) / sizeof(*given->address))
		return (struct gus_value){ given->address[n], true };
	if (!r->values.effects)
		return (struct gus_value){ 0, false };
	return gus_values_address(&r->values, r->s->p, op->memory + n);
}

/* Which line, if it may be on its way still. */
static void find_line(struct stream_resolver *r, struct gus_value address, struct stream_access *a)
{
	uint64_t line;

	if (!address.known || !r->s->c->line_size)
		return;
	line = address.bits / r->s->c->line_size + 1;
	a->line = (uint16_t)gus_core_line_slot(line, STREAM_LINES);
	a->flags |= STREAM_LINE;
	if (a->level != GUS_HIT_L1)
		r->lines[a->line] = line;
	else if (r->lines[a->line] != line)
		a->flags &= (uint8_t)~STREAM_LINE; /* it has not been on its way for long */
}

static void ask(struct stream_resolver *r, const struct gus_op *op, unsigned n, struct gus_value address,
		struct stream_access *a)
{
	const struct gus_core_memory *oracle = r->s->o->memory;
	enum gus_hit level = GUS_HIT_L1;
	enum gus_tlb tlb = GUS_TLB_HIT;
	struct gus_core_access access = { .iteration = r->iteration, .op = (uint32_t)(op - r->s->p->ops),
		.memory = op->memory + n, .address = address.bits, .known = address.known,
		.store = !r->s->p->memories[op->memory + n].load };

	oracle->access(oracle->context, &access, &level, &tlb);
	a->level = (uint8_t)level;
	a->tlb = (uint8_t)tlb;
	find_line(r, address, a);
}

/* Harnesses that set all pointers to one value back whatever is touched with the same page of memory (core/memory.c,
 * is_one_page). */
static uint64_t in_memory(const struct stream_resolver *r, uint64_t address)
{
	return r->one_page ? address % STREAM_PAGE : address;
}

/* The youngest store to a word, plus 1; 0: none that is remembered. */
static uint64_t youngest_of(const struct stream_resolver *r, uint64_t tag)
{
	uint64_t by = r->by[tag % STREAM_WORDS] + 1;

	return r->tags[tag % STREAM_WORDS] == tag && r->stores + 1 - by < STREAM_WORDS ? by : 0;
}

/* The youngest store to a word that wrote any of the bytes, plus 1; 0: none. */
static uint64_t store_of(const struct stream_resolver *r, uint64_t tag, uint64_t address, uint64_t end)
{
	uint64_t by = youngest_of(r, tag);

	for (unsigned tries = 0; by && tries < STREAM_IN_WORD && r->stores + 1 - by < STREAM_WORDS; tries++) {
		uint64_t store = (by - 1) % STREAM_WORDS;

		if (r->behind[store] > address && r->first[store] < end)
			return by;
		by = tag == (r->first[store] >> 3) + 1 ? r->older[store][0] :
			tag == ((r->behind[store] - 1) >> 3) + 1 ? r->older[store][1] : 0;
	}
	return 0;
}

/* A store: the words that it touches are its own from now on. Words are numbered from 1, so that 0 is none. */
static void note_store(struct stream_resolver *r, uint32_t memory, uint64_t address, uint64_t end,
		       struct stream_access *a)
{
	a->stored = (uint16_t)(r->stores % STREAM_WORDS);
	r->page[a->stored] = address - in_memory(r, address);
	address -= r->page[a->stored];
	end -= r->page[a->stored];
	r->first[a->stored] = address;
	r->behind[a->stored] = end;
	r->memory[a->stored] = memory;
	for (uint64_t word = address >> 3; r->s->c->alias_penalty && word <= (end - 1) >> 3; word++)
		r->in_page[word % (STREAM_PAGE / 8)] = r->stores + 1;
	r->older[a->stored][0] = youngest_of(r, (address >> 3) + 1);
	r->older[a->stored][1] = youngest_of(r, ((end - 1) >> 3) + 1);
	for (uint64_t tag = (address >> 3) + 1; tag <= ((end - 1) >> 3) + 1; tag++) {
		r->tags[tag % STREAM_WORDS] = tag;
		r->by[tag % STREAM_WORDS] = r->stores;
	}
	r->stores++;
}

/* Of a load that no store feeds: the youngest store of another page to the same place of it. Addresses are compared by
 * their low 12 bits first, so the load is held up as if it were fed by that store while that is on its way (Intel,
 * Optimization Reference Manual, "Memory disambiguation: 4-KByte aliasing"). */
static void find_alias(const struct stream_resolver *r, uint64_t address, uint64_t end, struct stream_access *a)
{
	uint64_t youngest = 0;

	for (uint64_t word = address >> 3; word <= (end - 1) >> 3; word++) {
		uint64_t by = r->in_page[word % (STREAM_PAGE / 8)], store = (by - 1) % STREAM_WORDS, apart;

		if (by <= youngest || r->stores + 1 - by >= STREAM_WORDS)
			continue;
		apart = address - r->first[store];
		if (apart % STREAM_PAGE < r->behind[store] - r->first[store] || -apart % STREAM_PAGE < end - address)
			youngest = by;
	}
	if (!youngest)
		return;
	a->alias = (uint16_t)((youngest - 1) % STREAM_WORDS);
	a->flags |= STREAM_ALIAS;
}

/* A load: the youngest store to any of its words that wrote any of its bytes. If not all of it is there to be had, it
 * waits until that store has left. Numbers are taken plus 1 here, so that 0 is none. */
static void find_store(const struct stream_resolver *r, const struct gus_op *op, uint32_t memory, uint64_t address,
		       uint64_t end, struct stream_access *a)
{
	struct gus_overlap overlap = { .load = address, .load_bytes = (uint32_t)(end - address),
		.load_memory = memory };
	uint64_t youngest = 0, page = address - in_memory(r, address);

	address -= page;
	end -= page;
	for (uint64_t tag = (address >> 3) + 1; tag <= ((end - 1) >> 3) + 1; tag++) {
		uint64_t by = store_of(r, tag, address, end);

		youngest = by > youngest ? by : youngest;
	}
	if (!youngest && r->s->c->alias_penalty)
		find_alias(r, address, end, a);
	if (!youngest)
		return;
	a->word = (uint16_t)((youngest - 1) % STREAM_WORDS);
	a->flags |= STREAM_FORWARD;
	overlap.store = r->first[a->word] + r->page[a->word];
	overlap.store_bytes = (uint32_t)(r->behind[a->word] - r->first[a->word]);
	overlap.store_memory = r->memory[a->word];
	a->forwarding = (uint8_t)gus_forwarding_of(r->s->c, r->s->p, op, &overlap);
	if (a->forwarding == GUS_FORWARD_BLOCKED)
		return;
	/* What the store has is all that it needs: it does not wait for the line. */
	a->level = GUS_HIT_L1;
	a->tlb = GUS_TLB_HIT;
	a->flags &= (uint8_t)~STREAM_LINE;
}

/* What an access meets in L1 by its place in the line: whether it crosses into the next one, and of a load which banks
 * it reads. A gather is many small accesses, of which only the outermost bytes are known here. */
static void find_place(const struct stream_resolver *r, const struct gus_program_memory *m, uint64_t address,
		       uint32_t bytes, struct stream_access *a)
{
	const struct gus_core_config *c = r->s->c;
	uint64_t at = address & (c->line_size - 1), last = at + bytes - 1;

	if (bytes > c->line_size || m->gather)
		return;
	if (last >= c->line_size)
		a->flags |= STREAM_SPLIT;
	if (last >= c->line_size && c->page_size && (address & (c->page_size - 1)) + bytes > c->page_size)
		a->flags |= STREAM_PAGE_SPLIT;
	for (uint64_t bank = at >> 3; c->l1d_bank_ports && m->load && bank <= last >> 3; bank++)
		a->banks |= (uint8_t)(1 << bank % STREAM_BANKS);
}

/* Cycles that the op's stores take to leave for L1 beside those of older ones. They leave in order, l1d_stores in a
 * cycle, and the second of a cycle has to go into the line of the first, as L1 writes one line at a time (Intel,
 * Optimization Reference Manual, "Ice Lake Client: two stores a cycle"). Which ones go together is decided here, as if
 * all had retired by then: the same for all lanes. A store that crosses a line is written twice and leaves alone. */
static uint32_t find_commits(struct stream_resolver *r, const struct gus_op *op, const struct stream_access *accesses)
{
	const struct gus_core_config *c = r->s->c;
	unsigned commits = 0;

	for (unsigned n = 0; n < op->memories_n && c->l1d_stores; n++) {
		bool known = accesses && (accesses[n].flags & STREAM_KNOWN);
		uint64_t line = known ? r->address[n] / c->line_size + 1 : 0;
		unsigned string = known ? gus_leaving_string(c, r->s->p, op, r->bytes[n]) : 0;

		if (!r->s->p->memories[op->memory + n].store)
			continue;
		if (string) {
			r->leaving = c->l1d_stores;
			commits += string;
		} else if (known && (accesses[n].flags & STREAM_SPLIT)) {
			r->leaving = c->l1d_stores;
			commits += 2;
		} else if (r->leaving && r->leaving < c->l1d_stores &&
			   (!line || !r->left_line || line == r->left_line)) {
			r->leaving++;
		} else {
			r->leaving = 1;
			commits++;
		}
		r->left_line = line;
	}
	return commits < STREAM_STRING ? commits : STREAM_STRING;
}

/* In the order of uops: a load sees what an earlier store of the same op has written. */
static void follow(struct stream_resolver *r, const struct gus_op *op, struct stream_access *accesses)
{
	const struct gus_program *p = r->s->p;

	for (uint32_t i = 0; i < op->uops_n && op->memories_n; i++) {
		const struct gus_uop *u = &p->uops[op->uop + i];
		struct stream_access *a = accesses + u->memory;
		uint64_t address, end;

		if ((u->kind != GUS_UOP_LOAD && u->kind != GUS_UOP_STORE_DATA) || u->again ||
		    u->memory >= op->memories_n || !(a->flags & STREAM_KNOWN))
			continue;
		address = r->address[u->memory];
		end = address + r->bytes[u->memory];
		if (u->kind == GUS_UOP_STORE_DATA)
			note_store(r, op->memory + u->memory, address, end, a);
		else
			find_store(r, op, op->memory + u->memory, address, end, a);
	}
}

static void find_accesses(struct stream_resolver *r, const struct gus_op *op, const struct gus_core_step *given,
			  struct stream_access *accesses)
{
	for (unsigned n = 0; n < op->memories_n; n++) {
		struct gus_value address = address_of(r, op, n, given);

		accesses[n] = (struct stream_access){ .flags = address.known ? STREAM_KNOWN : 0 };
		r->address[n] = address.bits;
		r->bytes[n] = r->s->p->memories[op->memory + n].bytes ? r->s->p->memories[op->memory + n].bytes : 1;
		if (r->s->o->memory)
			ask(r, op, n, address, &accesses[n]);
		if (address.known)
			find_place(r, &r->s->p->memories[op->memory + n], address.bits, r->bytes[n], &accesses[n]);
	}
	if (r->s->o->pointers != GUS_CORE_POINTERS_NONE)
		follow(r, op, accesses);
}

/* Room for an op's accesses; they may lie elsewhere from then on, so nobody keeps a pointer to older ones. */
static struct stream_access *more_accesses(struct stream_resolver *r, unsigned n)
{
	gus_vec_reserve(&r->accesses, r->accesses.n + n);
	r->accesses.n += n;
	return r->accesses.v + r->accesses.n - n;
}

/* The front end, looked at as if it always had room: then it does not depend on time either. An op takes a cycle of the
 * decoders if it begins another group, and one of the uop cache if it begins what that reads in a cycle. */

enum { ISSUED = 1 << FRONT_ISSUE, CACHED = ISSUED | 1 << FRONT_UOP_CACHE, FETCHED = ISSUED | 1 << FRONT_FETCH };

static uint8_t cache_front(struct stream_resolver *r, uint32_t number, bool taken)
{
	const struct gus_core_config *c = r->s->c;
	const struct gus_program *p = r->s->p;
	const struct gus_op *op = &p->ops[number];
	bool unrolled = r->s->o->unrolled, begins;
	uint64_t at = p->base + (unrolled ? r->code : p->insns[op->insn].offset);

	if (!c->uop_cache_window || !c->uop_cache_line)
		return CACHED;
	at = c->uop_cache_by_end ? gus_uop_lines_at(c, p, op, at) : at;
	begins = gus_uop_read_next(&r->read, &r->uop_lines, c, p, number, at, taken && !unrolled);
	for (unsigned i = 0; i < op->insns_n && unrolled; i++)
		r->code += p->insns[op->insn + i].info.length;
	return (uint8_t)(CACHED | begins << FRONT_LINES);
}

static uint8_t decoder_front(struct stream_resolver *r, const struct gus_op *op, bool taken, struct stream_step *step)
{
	const struct stream *s = r->s;
	bool begins = !r->group.ops || !gus_decode_group_takes(&r->group, s->c, op, true);

	step->fetched = (uint16_t)gus_stream_fetched(&r->fetch, s->p, s->c, op, s->o->unrolled, taken);
	if (begins)
		r->group = (struct gus_decode_group){ 0 };
	gus_decode_group_put(&r->group, s->c, op);
	return (uint8_t)(FETCHED | begins << FRONT_DECODE);
}

/* Whichever way code comes, what is jumped to has to be foreseen, and what was foreseen wrongly at first to be set
 * right. */
static uint8_t predicted_front(struct stream_resolver *r, const struct gus_op *op, bool taken,
			       struct stream_step *step)
{
	const struct stream *s = r->s;

	if (s->o->unrolled || !(op->flags & GUS_OP_BRANCH) || !s->c->predicted_branches)
		return 0;
	if (taken)
		step->predicted = (uint8_t)(step->predicted + gus_prediction_begins(s->c, s->p, op, &r->predicted));
	return (uint8_t)((step->predicted > 0) << FRONT_PREDICTION);
}

/* Where one ends the other begins anew. */
static uint8_t fronts_of(struct stream_resolver *r, uint32_t number, bool cached, bool taken, struct stream_step *step)
{
	uint8_t predicted = predicted_front(r, &r->s->p->ops[number], taken, step);

	if (cached) {
		r->group = (struct gus_decode_group){ 0 };
		return cache_front(r, number, taken) | predicted;
	}
	r->read = (struct gus_uop_read){ 0 };
	r->uop_lines = (struct gus_uop_lines){ 0 };
	return decoder_front(r, &r->s->p->ops[number], taken, step) | predicted;
}

/* The same for all lanes, and the same again in another run. */
static int32_t chance_of(struct stream_resolver *r)
{
	uint64_t x = ++r->mispredictions * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (int32_t)((x >> 33) % STREAM_CHANCE);
}

/* One step. Addresses are those before its instructions have run, so registers are followed after that. */
static void resolve(struct stream_resolver *r, uint32_t number, const struct gus_core_step *given,
		    struct stream_step *step)
{
	const struct stream *s = r->s;
	const struct gus_op *op = &s->p->ops[number];
	const struct gus_core_branch *branch = s->o->branch;

	*step = (struct stream_step){ .op = number, .access = (uint32_t)r->accesses.n, .fronts = ISSUED };
	if (s->mode == GUS_CORE_FETCH_DECODERS || s->mode == GUS_CORE_FETCH_UOP_CACHE || s->kept)
		step->fronts = fronts_of(r, number, s->kept ? s->kept[number] : s->mode == GUS_CORE_FETCH_UOP_CACHE,
					 (op->flags & GUS_OP_TAKEN) || number + 1 == s->p->ops_n, step);
	if (r->tracked && op->memories_n)
		find_accesses(r, op, given, more_accesses(r, op->memories_n));
	if (op->stores)
		step->commits = find_commits(r, op, r->tracked ? r->accesses.v + step->access : NULL);
	if (r->values.effects)
		for (unsigned i = 0; i < op->insns_n; i++)
			gus_values_step(&r->values, op->insn + i, r->values.memory);
	if (branch && (op->flags & GUS_OP_BRANCH))
		step->mispredicted = branch->mispredicted(branch->context, number, r->iteration);
	if (step->mispredicted)
		step->chance = chance_of(r);
}

void gus_stream_resolve(struct stream_resolver *r, const struct gus_core_step *given, size_t n)
{
	r->accesses.n = 0;
	r->n = n;
	for (size_t i = 0; i < n; i++) {
		resolve(r, given ? given[i].op : r->at, given ? &given[i] : NULL, &r->steps[i]);
		if (given ? given[i].last : r->at + 1 == r->s->p->ops_n)
			r->iteration++;
		r->at = r->at + 1 < r->s->p->ops_n ? r->at + 1 : 0;
	}
}

/* What was told to take as long as is left of a prefetched line's way comes as the prefetch does, if that is known. */
static void find_coming(const struct stream_resolver *r, const struct gus_op_access *told, struct stream_access *a)
{
	uint64_t line = told->address / r->s->c->line_size + 1;
	unsigned slot = gus_core_line_slot(line, STREAM_LINES);

	if (!told->known || a->level == GUS_HIT_L1)
		return;
	if (told->prefetched && r->lines[slot] == line) {
		a->level = GUS_HIT_L1;
	} else if ((told->prefetched || a->level == GUS_HIT_L2) && r->lines_l2[slot] == line) {
		a->level = GUS_HIT_L2;
		a->flags |= STREAM_COMES_TO_L2;
	}
}

/* Whoever reads such a line from now on has it when it comes. */
static void take_beside(struct stream_resolver *r, const struct gus_op_access *told, struct stream_access *a)
{
	struct stream_beside to = { .prefetches_n = told->beside.prefetches_n };

	if (!gus_op_is_beside(&told->beside))
		return;
	memcpy(to.written, told->beside.written, sizeof(to.written));
	for (unsigned i = 0; i < to.prefetches_n; i++) {
		const struct gus_op_prefetch *p = &told->beside.prefetches[i];
		uint64_t line = told->address / r->s->c->line_size + 1 + (uint64_t)(int64_t)p->ahead;
		unsigned slot = gus_core_line_slot(line, STREAM_LINES);

		to.prefetches[i] = (struct stream_prefetch){ told->known ? (uint16_t)slot : STREAM_NO_LINE, p->from,
							     p->into };
		if (told->known)
			(p->into == GUS_HIT_L1 ? r->lines : r->lines_l2)[slot] = line;
	}
	a->flags |= STREAM_BESIDE;
	a->beside = (uint32_t)r->besides.n;
	gus_vec_push(&r->besides, to);
}

static void take_accesses(struct stream_resolver *r, const struct gus_op *op, const struct gus_op_access *told,
			  struct stream_access *accesses)
{
	const struct gus_program_memory *memories = r->s->p->memories + op->memory;

	for (unsigned n = 0; n < op->memories_n; n++) {
		accesses[n] = (struct stream_access){ .flags = told[n].known ? STREAM_KNOWN : 0,
			.level = told[n].level, .tlb = told[n].tlb };
		r->address[n] = told[n].address;
		r->bytes[n] = told[n].bytes ? told[n].bytes : memories[n].bytes ? memories[n].bytes : 1;
		if (r->s->c->line_size) {
			find_coming(r, &told[n], &accesses[n]);
			find_line(r, (struct gus_value){ told[n].address, told[n].known }, &accesses[n]);
			take_beside(r, &told[n], &accesses[n]);
		}
		if (told[n].known)
			find_place(r, &memories[n], told[n].address, r->bytes[n], &accesses[n]);
	}
	follow(r, op, accesses);
}

void gus_stream_resolve_told(struct stream_resolver *r, const struct gus_op_steps *feed)
{
	const struct stream *s = r->s;

	r->accesses.n = r->besides.n = 0;
	r->n = feed->n;
	for (size_t i = 0; i < feed->n; i++) {
		const struct gus_op_step *told = &feed->steps[i];
		const struct gus_op *op = &s->p->ops[told->op];

		r->steps[i] = (struct stream_step){ .op = told->op, .access = (uint32_t)r->accesses.n,
			.region = told->region, .fronts = ISSUED, .mispredicted = told->mispredicted,
			.predicted = (uint8_t)(told->overridden ? s->c->branch_override : 0),
			.chance = told->mispredicted ? chance_of(r) : 0 };
		if (told->cached || s->mode == GUS_CORE_FETCH_DECODERS)
			r->steps[i].fronts = fronts_of(r, told->op, told->cached, told->taken, &r->steps[i]);
		if (!told->cached)
			r->steps[i].fetched = (uint16_t)(r->steps[i].fetched + told->fetch);
		if (op->memories_n)
			take_accesses(r, op, feed->accesses + told->access, more_accesses(r, op->memories_n));
		if (op->stores)
			r->steps[i].commits = find_commits(r, op, r->accesses.v + r->steps[i].access);
	}
}
