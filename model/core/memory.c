/* SPDX-License-Identifier: MIT */
/* Memory as the core sees it: which load reads what an earlier store in flight wrote, where the other words are, how
 * many lines can be on their way, and when stores leave the store buffer. UFS has none of this: every load takes its
 * latency there, and stores and loads never meet. With GUS_CORE_POINTERS_NONE and no oracle all of it is idle.
 *
 *	issue      in program order: addresses and values (model/code/values.h), the store that a load reads from, what
 *	           the line hits
 *	dispatch   in the order of execution, what depends on the time: forwarding, and what lies beyond L1 (lines.c)
 *	retire     stores: a line that is not in L1 is asked for
 *	commit     stores, in order, l1d_stores a cycle: the line is there, the entry is free
 *
 * A load, and the youngest earlier store that writes some of its bytes (find_forward):
 *
 *	store   |------------|         |------------|                |----|
 *	load        |----|                     |--------|                         |----|
 *	        all is in the store:   some is not:                  only the low 12 bits are alike:
 *	        forwarded              blocked, until the store      alias_penalty, and the word is
 *	                               is in L1                      from L1
 *
 * Where all pages are one page of memory (is_one_page) the last is blocked as well.
 *
 * Loads never wait for stores that turn out not to be theirs: as behind a predictor of memory dependences that is
 * always right, but for machines with store sets (order.c). */
#include "model/code/forwarding.h"
#include "model/code/leaving.h"
#include "model/core/private.h"

/* Harnesses that set all pointers to one value back whatever is touched with the same page of memory (BHive; Chen et
 * al., IISWC 2019, section 3): what lies 4096 bytes apart is the same word. */
static bool is_one_page(const struct core *core)
{
	return !core->options->source && !core->front.fed && (core->options->pointers == GUS_CORE_POINTERS_EQUAL ||
					  core->options->pointers == GUS_CORE_POINTERS_ONE);
}

static uint64_t in_memory(const struct core *core, uint64_t linear)
{
	return is_one_page(core) ? linear % PAGE : linear;
}

/* A word that is read otherwise than it was written (another start, more bytes) is not known. Words whose places in
 * the table collide overwrite each other: that is as good as a word that was never written, as it was rare. */
static struct gus_value word_at(const struct core *core, uint64_t linear, uint32_t bytes)
{
	uint64_t address = in_memory(core, linear);
	unsigned at = (unsigned)(address >> 3) % MEMORY_WORDS;
	bool whole = core->words[at].address == address && bytes <= core->words[at].bytes;

	if (core->words[at].bytes && core->words[at].address >> 3 == address >> 3)
		return (struct gus_value){ core->words[at].bits, core->words[at].known && whole };
	return core->values.memory;
}

static void set_word(struct core *core, uint64_t linear, uint32_t bytes, struct gus_value value)
{
	uint64_t address = in_memory(core, linear);
	unsigned at = (unsigned)(address >> 3) % MEMORY_WORDS;

	core->words[at].address = address;
	core->words[at].bytes = bytes;
	core->words[at].bits = value.bits;
	core->words[at].known = value.known && bytes <= 8;
}

/* Counts the words of a page that a store writes: most loads find there that no store is in their way. */
static void count_words(struct core *core, const struct live_store *s, int by)
{
	uint64_t first = s->address >> 3, last = (s->address + (s->bytes ? s->bytes - 1 : 0)) >> 3;

	for (uint64_t w = first; s->known && w <= last && w - first < WORDS_IN_PAGE; w++)
		core->written[w % WORDS_IN_PAGE] = (uint16_t)(core->written[w % WORDS_IN_PAGE] + by);
}

static bool may_be_written(const struct core *core, uint64_t address, uint32_t bytes)
{
	uint64_t first = address >> 3, last = (address + (bytes ? bytes - 1 : 0)) >> 3;

	for (uint64_t w = first; w <= last && w - first < WORDS_IN_PAGE; w++)
		if (core->written[w % WORDS_IN_PAGE])
			return true;
	return false;
}

/* The youngest store in flight that writes into what is loaded. Both tests of `apart` are on unsigned numbers that
 * wrap: the load begins inside the store, or the store inside the load. */
static void find_forward(struct core *core, unsigned n, uint64_t address, uint32_t bytes)
{
	core->forward[n] = 0;
	core->aliased[n] = false;
	if (!may_be_written(core, address, bytes))
		return;
	for (uint64_t i = core->store_tail; i-- > core->store_head;) {
		const struct live_store *s = &core->stores[i & core->store_mask];
		uint64_t apart = address - s->address;

		if (!s->known || (apart >= s->bytes && -apart >= bytes)) {
			bool alias = s->known && (apart % PAGE < s->bytes || -apart % PAGE < bytes);

			core->aliased[n] |= alias;
			if (!alias || !is_one_page(core))
				continue;
		}
		core->forward[n] = i + 1;
		return;
	}
}

static void ask_level(struct core *core, const struct gus_op *op, unsigned n)
{
	const struct gus_core_memory *oracle = core->options->memory;
	enum gus_hit level = GUS_HIT_L1;
	enum gus_tlb tlb = GUS_TLB_HIT;

	if (core->front.fed) {
		const struct gus_front_told *told = &core->front.told[core->current->told];

		level = (enum gus_hit)told->level[n];
		tlb = (enum gus_tlb)told->tlb[n];
		core->prefetched[n] = told->prefetched[n];
		core->beside[n] = told->beside[n];
	}
	if (oracle) {
		struct gus_core_access access = { .iteration = core->current->iteration, .op = core->current->op,
			.memory = op->memory + n, .address = core->address[n].bits, .known = core->address[n].known,
			.store = !core->p->memories[op->memory + n].load };

		oracle->access(oracle->context, &access, &level, &tlb);
	}
	core->level[n] = (uint8_t)level;
	core->tlb[n] = (uint8_t)tlb;
}

/* Whether it needs bytes on both sides of a multiple of size. */
static bool crosses(const struct core *core, unsigned n, uint32_t bytes, uint64_t size)
{
	if (!size || !core->address[n].known || bytes > size)
		return false;
	return (core->address[n].bits & (size - 1)) + bytes > size;
}

static void push_store(struct core *core, const struct gus_op *op, unsigned n, uint32_t insn, uint32_t entries)
{
	struct live_store *s = &core->stores[core->store_tail++ & core->store_mask];
	bool loaded = core->p->memories[op->memory + n].load; /* its line, and all beside it, comes with the load */

	*s = (struct live_store){ .address = core->address[n].bits, .known = core->address[n].known,
		.bytes = core->bytes[n], .entries = entries, .memory = op->memory + n,
		.level = loaded ? (uint8_t)GUS_HIT_L1 : core->level[n], .insn = insn,
		.split = crosses(core, n, core->bytes[n], core->c->line_size),
		.prefetched = !loaded && core->prefetched[n] };
	if (!loaded)
		s->beside = core->beside[n];
	if (core->sets.entries)
		gus_core_enter_set(core, insn, core->store_tail - 1);
	if (s->known)
		s->string = gus_leaving_string(core->c, core->p, op, s->bytes);
	count_words(core, s, 1);
	if (s->known && core->values.loads)
		set_word(core, s->address, s->bytes, gus_values_stored(&core->values, core->p, insn));
}

/* A source that knows addresses (a trace) is believed; else they are what registers that are followed make them. */
static struct gus_value address_now(const struct core *core, const struct gus_op *op, unsigned n)
{
	if (core->current->addressed)
		return (struct gus_value){ core->front.told[core->current->told].address[n], true };
	return gus_values_address(&core->values, core->p, op->memory + n);
}

static uint32_t bytes_now(const struct core *core, const struct gus_program_memory *m, unsigned n)
{
	uint32_t told = core->front.fed ? core->front.told[core->current->told].bytes[n] : 0;

	return told ? told : m->bytes;
}

/* In program order, once for each op: addresses, what they hit, and what the op does to registers. */
void gus_core_begin_op(struct core *core, const struct gus_op *op)
{
	uint32_t entries = op->stores;

	for (unsigned insn = 0; insn < op->insns_n; insn++) {
		struct gus_value loaded = { 0, false };

		for (unsigned n = 0; n < op->memories_n && n < ACCESSES; n++) {
			const struct gus_program_memory *m = &core->p->memories[op->memory + n];

			if (m->instruction != insn)
				continue;
			core->address[n] = address_now(core, op, n);
			core->bytes[n] = bytes_now(core, m, n);
			core->forward[n] = 0;
			core->aliased[n] = false;
			if (m->load && core->address[n].known && core->options->pointers != GUS_CORE_POINTERS_NONE) {
				find_forward(core, n, core->address[n].bits, core->bytes[n]);
				if (gus_values_follows(&core->values, op->insn + insn))
					loaded = word_at(core, core->address[n].bits, m->bytes);
			} else if (m->load) {
				loaded = core->values.memory;
			}
			if (core->sets.entries && m->load)
				gus_core_find_awaited(core, n, op->insn + insn);
			ask_level(core, op, n);
			if (m->store) {
				push_store(core, op, n, op->insn + insn, entries);
				entries = 0;
			}
		}
		gus_values_step(&core->values, op->insn + insn, loaded);
	}
}

static enum gus_forwarding forwarding_of(const struct core *core, const struct gus_op *op, unsigned n)
{
	const struct live_store *s = &core->stores[(core->forward[n] - 1) & core->store_mask];
	struct gus_overlap overlap = { .store = s->address, .load = core->address[n].bits, .store_bytes = s->bytes,
		.load_bytes = core->bytes[n], .store_memory = s->memory,
		.load_memory = op->memory + n };

	return gus_forwarding_of(core->c, core->p, op, &overlap);
}

bool gus_core_renamed(const struct core *core, const struct gus_op *op, unsigned n)
{
	return core->forward[n] && forwarding_of(core, op, n) == GUS_FORWARD_RENAMED;
}

/* After a renamed load entered: what it writes is what was stored. */
void gus_core_rename_load(struct core *core, const struct gus_uop *uop, const struct gus_op *op)
{
	unsigned n = uop->memory;

	if (n >= op->memories_n || n >= ACCESSES || !gus_core_renamed(core, op, n))
		return;
	for (unsigned i = 0; i < uop->out_n; i++) {
		struct live_reg *reg = &core->regs[core->p->flows[uop->out + i].reg];

		*reg = core->stores[(core->forward[n] - 1) & core->store_mask].source;
		reg->file = 0;
	}
}

/* Not to be had from the store: the load waits until all of it is in L1 (`release`). A second load that needs the
 * same store goes with the first: the store has room for one. */
static void wait_for_commit(struct core *core, struct live_uop *u, struct live_store *s)
{
	if (s->blocked) {
		gus_core_wait(core, u, core->uops[s->blocked - 1].seq, 0);
		return;
	}
	s->blocked = (uint32_t)(u->seq & core->uop_mask) + 1;
	u->pending++;
}

/* The load may run once the store has its data; if that is what it waited for, the word comes from there, else it
 * comes as fast as from L1. */
static void wait_for_store(struct core *core, struct live_uop *u, const struct gus_uop *uop, const struct gus_op *op,
			   unsigned n)
{
	struct live_store *s = &core->stores[(core->forward[n] - 1) & core->store_mask];
	struct live_access *a = core_access(core, u);
	enum gus_forwarding kind = forwarding_of(core, op, n);
	int late = (int)core->c->store_forward_address - uop->latency;

	if (kind == GUS_FORWARD_BLOCKED) {
		if (core->forward[n] > core->store_head) { /* else it has left while the op waited to be issued */
			core_slot(core, u->slot)->late |= GUS_CORE_LATE_BLOCKED;
			wait_for_commit(core, u, s);
		}
		return;
	}
	a->forward = (uint16_t)gus_forwarding_cycles(core->c, kind);
	a->store = s->data;
	if (s->data)
		gus_core_wait(core, u, s->data - 1, a->forward > uop->latency ? (int)(a->forward - uop->latency) : 0);
	if (s->addr)
		gus_core_wait(core, u, s->addr - 1, late > 1 ? late : 1);
}

/* No more than there is room for; that is so long that nobody minds. */
static void later(struct live_uop *u, uint64_t cycles)
{
	int more = u->more + (int)(cycles < LATEST ? cycles : LATEST);

	u->more = (int16_t)(more < LATEST ? more : LATEST);
}

static void wait_for_alias(struct core *core, struct live_uop *u)
{
	core_slot(core, u->slot)->late |= GUS_CORE_LATE_ALIAS;
	later(u, core->c->alias_penalty);
}

/* A load or store uop enters: what it must wait for beyond its registers. */
void gus_core_access(struct core *core, struct live_uop *u, const struct gus_uop *uop, const struct gus_op *op)
{
	unsigned n = uop->memory;
	struct live_access *a = core_access(core, u);

	*a = (struct live_access){ 0 };
	if (n >= op->memories_n || n >= ACCESSES)
		return;
	a->address = core->address[n].bits;
	a->bytes = core->address[n].known ? core->bytes[n] : 0;
	a->level = core->level[n];
	a->tlb = core->tlb[n];
	a->split = crosses(core, n, core->bytes[n], core->c->line_size);
	a->page_split = crosses(core, n, core->bytes[n], core->c->page_size);
	if (uop->kind == GUS_UOP_LOAD) {
		if (uop->again) { /* where it was the first uop of the access has found out */
			a->level = GUS_HIT_L1;
			a->tlb = GUS_TLB_HIT;
			return;
		}
		u->level = core->level[n];
		a->prefetched = core->prefetched[n];
		a->beside = core->beside[n];
		if (core->forward[n] && !gus_core_renamed(core, op, n))
			wait_for_store(core, u, uop, op, n);
		else if (core->aliased[n] && core->c->alias_penalty)
			wait_for_alias(core, u);
		if (core->sets.entries && !(core->forward[n] && gus_core_renamed(core, op, n)))
			gus_core_await_set(core, u, n);
		return;
	}
	/* Of the stores of this access the youngest is that of this iteration. */
	for (uint64_t i = core->store_tail; i-- > core->store_head;) {
		struct live_store *s = &core->stores[i & core->store_mask];

		if (s->memory != op->memory + n)
			continue;
		if (uop->kind == GUS_UOP_STORE_DATA) {
			s->data = u->seq + 1;
			s->source = uop->in_n ? core->regs[core->p->flows[uop->in + uop->in_n - 1].reg] :
				(struct live_reg){ 0 };
		} else {
			s->addr = u->seq + 1;
			a->store = i + 1;
			if (core->p->memories[s->memory].load) /* which has translated it */
				a->tlb = GUS_TLB_HIT;
		}
		return;
	}
}

static void note_events(struct core *core, const struct live_uop *u, const struct live_access *a)
{
	struct live_slot *slot = core_slot(core, u->slot);

	slot->psv |= u->level != GUS_HIT_L1 ? GUS_CORE_ST_L1 : 0;
	slot->psv |= u->level == GUS_HIT_MEMORY ? GUS_CORE_ST_LLC : 0;
	slot->psv |= a->tlb != GUS_TLB_HIT ? GUS_CORE_ST_TLB : 0;
}

/* As it is told: none if it is not later, and no more than there is room for. */
static uint16_t cycles_between(uint64_t from, uint64_t to)
{
	return (uint16_t)(to <= from ? 0 : to - from < UINT16_MAX ? to - from : UINT16_MAX);
}

/* When the page of an access is known. */
static uint64_t translated(struct core *core, struct live_access *a)
{
	uint64_t ready = core->cycle;

	if (a->tlb == GUS_TLB_SECOND)
		ready += core->c->stlb_latency;
	else if (a->tlb == GUS_TLB_WALK)
		ready = gus_core_walk(core, a->address, core->cycle);
	a->translation = cycles_between(core->cycle, ready);
	return ready;
}

/* The address of a store is dispatched: no line is asked for before its page is known. It retires before that. */
void gus_core_store_address(struct core *core, const struct live_uop *u)
{
	struct live_access *a = core_access(core, u);

	if (a->store)
		core->stores[(a->store - 1) & core->store_mask].ready = translated(core, a);
}

/* A load is dispatched: how much longer it takes than a hit. */
void gus_core_load(struct core *core, struct live_uop *u, const struct gus_uop *uop)
{
	struct live_access *a = core_access(core, u);
	uint64_t now = core->cycle, ready;

	if (a->store) {
		const struct live_uop *data = core_uop(core, a->store - 1);

		uint64_t wait = a->forward > uop->latency ? a->forward - uop->latency : 0;

		/* It went as soon as it could, or a cycle later: the word is there a forward's time after the data,
		 * however soon the load began. One that goes still later has it as from L1. */
		if (data->seq == a->store - 1 && now <= data->dispatched + 1 + wait)
			u->more = (int16_t)((int64_t)(data->dispatched + a->forward) - (int64_t)(now + uop->latency));
		if (u->more + (int)uop->latency < 0)
			u->more = (int16_t)-uop->latency;
	}
	if (a->split) {
		later(u, a->page_split ? core->c->page_split_penalty : core->c->line_split_penalty);
		core->port_free[u->port] = now + 2; /* two lines, two accesses */
	}
	if (core->front.fed)
		a->level = u->level = (uint8_t)gus_core_level_now(core, (enum gus_hit)u->level, a->address,
								  a->prefetched);
	note_events(core, u, a);
	ready = translated(core, a);
	if (u->level != GUS_HIT_L1) {
		uint64_t arrives = gus_core_line_arrives(core, (enum gus_hit)u->level, a->address, ready);
		uint64_t hit = now + uop->latency;

		a->miss = cycles_between(ready, arrives);
		if (arrives > hit)
			later(u, arrives - hit);
	} else {
		uint64_t arrives = gus_core_hit_arrives(core, a->address, ready), hit = now + uop->latency;
		uint64_t late = arrives > hit ? arrives - hit : 0;

		a->miss = cycles_between(ready, arrives);
		if (arrives > ready)
			core_slot(core, u->slot)->psv |= GUS_CORE_ST_L1; /* it is on its way */
		later(u, ready - now > late ? ready - now : late);
	}
	if (gus_op_is_beside(&a->beside))
		gus_core_bring_along(core, &a->beside, a->address, ready);
}

/* Stores leave in order after they retire; a line that is not in L1 is asked for at retirement, or when the page is
 * known. */
void gus_core_retire_stores(struct core *core, const struct gus_op *op, unsigned n)
{
	unsigned entries = 0;

	while (n-- && core->store_retired < core->store_tail) {
		struct live_store *s = &core->stores[core->store_retired++ & core->store_mask];

		if (s->ready < core->cycle)
			s->ready = core->cycle;
		s->level = (uint8_t)gus_core_level_now(core, (enum gus_hit)s->level, s->address, s->prefetched);
		if (s->level != GUS_HIT_L1)
			s->ready = gus_core_line_arrives(core, (enum gus_hit)s->level, s->address, s->ready);
		/* Loads go past lines that come still later (`later`), and so may ask for more than ever comes. */
		if (s->ready > core->cycle + LATEST)
			s->ready = core->cycle + LATEST;
		if (gus_op_is_beside(&s->beside))
			gus_core_bring_along(core, &s->beside, s->address, core->cycle);
		entries += s->entries;
	}
	if (op->stores > entries) /* of a store that has no memory operand we know of */
		core->pools.freed[POOL_STORES] += (int32_t)(op->stores - entries);
}

/* The store is in L1: the load that waited for it reads it there, store_forward_blocked cycles from now until its
 * word is there. */
static void release(struct core *core, struct live_uop *load)
{
	uint32_t after = core->c->store_forward_blocked, latency = core->p->uops[load->uop].latency;
	uint64_t ready = core->cycle + (after > latency ? after - latency : 1);

	if (ready > load->ready)
		load->ready = ready;
	if (--load->pending == 0)
		gus_core_arm(core, load);
}

/* In order, the oldest first: one that misses holds up those behind it. One that crosses a line is written twice, and
 * leaves alone: the next cycle has the other line. So does what a string instruction writes, however much that is. */
void gus_core_commit_stores(struct core *core)
{
	unsigned n = core->c->l1d_stores;
	const struct live_store *last = NULL;

	while (core->store_head < core->store_retired && core->commit_free <= core->cycle) {
		struct live_store *s = &core->stores[core->store_head & core->store_mask];

		if (s->ready > core->cycle || (core->c->l1d_stores && !n--))
			return;
		/* The second of a cycle has to go into the same line. */
		if (last && (s->split || s->string || (s->known && last->known &&
					  (s->address ^ last->address) >= core->c->line_size)))
			return;
		last = core->c->l1d_stores ? s : NULL;
		if (last && (s->split || s->string))
			core->commit_free = core->cycle + (s->string ? s->string : 2);
		core->pools.freed[POOL_STORES] += (int32_t)s->entries;
		count_words(core, s, -1);
		if (s->blocked)
			release(core, &core->uops[s->blocked - 1]);
		core->store_head++;
	}
}
