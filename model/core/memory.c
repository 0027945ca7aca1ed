/* SPDX-License-Identifier: MIT */
/* Memory as the core sees it: which load reads what an earlier store in flight wrote, where the other words are, how many lines
 * can be on their way, and when stores leave the store buffer. */
#include "model/core/private.h"

/* Words that the code wrote, as far as their values are known; the rest is as at the start. */

static struct gus_value word_at(const struct core *k, uint64_t address, uint32_t bytes)
{
	unsigned at = (unsigned)(address >> 3) % MEMORY_WORDS;

	if (k->words[at].bytes && k->words[at].address >> 3 == address >> 3)
		return (struct gus_value){ k->words[at].bits, k->words[at].known && k->words[at].address == address &&
			bytes <= k->words[at].bytes };
	return k->values.memory;
}

static void set_word(struct core *k, uint64_t address, uint32_t bytes, struct gus_value value)
{
	unsigned at = (unsigned)(address >> 3) % MEMORY_WORDS;

	k->words[at].address = address;
	k->words[at].bytes = bytes;
	k->words[at].bits = value.bits;
	k->words[at].known = value.known && bytes <= 8;
}

/* Counts the words of a page that a store writes: most loads find there that no store is in their way. */
static void count_words(struct core *k, const struct live_store *s, int by)
{
	uint64_t first = s->address >> 3, last = (s->address + (s->bytes ? s->bytes - 1 : 0)) >> 3;

	for (uint64_t w = first; s->known && w <= last && w - first < WORDS_IN_PAGE; w++)
		k->written[w % WORDS_IN_PAGE] = (uint16_t)(k->written[w % WORDS_IN_PAGE] + by);
}

static bool may_be_written(const struct core *k, uint64_t address, uint32_t bytes)
{
	uint64_t first = address >> 3, last = (address + (bytes ? bytes - 1 : 0)) >> 3;

	for (uint64_t w = first; w <= last && w - first < WORDS_IN_PAGE; w++)
		if (k->written[w % WORDS_IN_PAGE])
			return true;
	return false;
}

/* The youngest store in flight that writes into what is loaded. */
static void find_forward(struct core *k, unsigned n, uint64_t address, uint32_t bytes)
{
	k->forward[n] = 0;
	k->blocked[n] = k->aliased[n] = false;
	if (!may_be_written(k, address, bytes))
		return;
	for (uint64_t i = k->store_tail; i-- > k->store_head;) {
		const struct live_store *s = &k->stores[i & k->store_mask];
		uint64_t apart = address - s->address;

		if (!s->known || (apart >= s->bytes && -apart >= bytes)) {
			if (s->known && (apart & 4095) < s->bytes)
				k->aliased[n] = true;
			continue;
		}
		k->forward[n] = i + 1;
		k->blocked[n] = apart + bytes > s->bytes;
		return;
	}
}

static void ask_level(struct core *k, const struct gus_op *op, unsigned n)
{
	const struct gus_core_memory *oracle = k->o->memory;
	enum gus_hit level = GUS_HIT_L1;
	enum gus_tlb tlb = GUS_TLB_HIT;

	if (oracle) {
		struct gus_core_access access = { .iteration = k->current.iteration, .op = k->current.op,
			.memory = op->memory + n, .address = k->address[n].bits, .known = k->address[n].known,
			.store = !k->p->memories[op->memory + n].load };

		oracle->access(oracle->context, &access, &level, &tlb);
	}
	k->level[n] = (uint8_t)level;
	k->tlb[n] = (uint8_t)tlb;
}

static void push_store(struct core *k, const struct gus_op *op, unsigned n, uint32_t insn, uint32_t entries)
{
	const struct gus_program_memory *m = &k->p->memories[op->memory + n];
	struct live_store *s = &k->stores[k->store_tail++ & k->store_mask];
	struct gus_value value = gus_values_stored(&k->values, k->p, insn);

	*s = (struct live_store){ .address = k->address[n].bits, .known = k->address[n].known, .bytes = m->bytes,
		.value_bits = value.bits, .value_known = value.known, .retired = GUS_NEVER, .entries = entries,
		.memory = op->memory + n, .level = k->level[n] };
	count_words(k, s, 1);
	if (s->known && k->values.effects)
		set_word(k, s->address, s->bytes, value);
}

/* In program order, once for each op: addresses, what they hit, and what the op does to registers. */
void gus_core_begin_op(struct core *k, const struct gus_op *op)
{
	uint32_t entries = op->stores;

	if (!op->memories_n && !k->values.effects)
		return;
	for (unsigned insn = 0; insn < op->insns_n; insn++) {
		struct gus_value loaded = { 0, false };

		for (unsigned n = 0; n < op->memories_n && n < ACCESSES; n++) {
			const struct gus_program_memory *m = &k->p->memories[op->memory + n];

			if (m->instruction != insn)
				continue;
			k->address[n] = k->current.addressed ? (struct gus_value){ k->front.addresses[k->current.addresses][n], true } :
				gus_values_address(&k->values, k->p, op->memory + n);
			k->forward[n] = 0;
			k->blocked[n] = k->aliased[n] = false;
			if (m->load && k->address[n].known && k->o->pointers != GUS_CORE_POINTERS_NONE) {
				find_forward(k, n, k->address[n].bits, m->bytes);
				loaded = word_at(k, k->address[n].bits, m->bytes);
			} else if (m->load && k->o->pointers == GUS_CORE_POINTERS_EQUAL) {
				loaded = k->values.memory;
			}
			ask_level(k, op, n);
			if (m->store) {
				push_store(k, op, n, op->insn + insn, entries);
				entries = 0;
			}
		}
		gus_values_step(&k->values, op->insn + insn, loaded);
	}
}

static bool crosses_line(const struct core *k, unsigned n, uint32_t bytes)
{
	uint64_t line = k->c->line_size;

	return line && k->address[n].known && bytes && bytes <= line && (k->address[n].bits & (line - 1)) + bytes > line;
}

/* Memory renaming: a load that is predicted to read a whole word that a store in flight wrote gets it from the register that was
 * stored, at no latency. Seen on Golden Cove with any address, but not where a register is added to memory. */
static bool renamed(const struct core *k, const struct gus_op *op, unsigned n)
{
	const struct gus_program_memory *load = &k->p->memories[op->memory + n];
	const struct live_store *s;

	if (!k->c->store_forward_zero || !k->forward[n] || k->blocked[n])
		return false;
	s = &k->stores[(k->forward[n] - 1) & k->store_mask];
	return s->address == k->address[n].bits && s->bytes == load->bytes && load->bytes <= 8 &&
		load->bytes >= 4 && !(op->stores && op->loads && k->values.effects && k->values.operands[op->insn]);
}

/* After a renamed load entered: what it writes is what was stored. */
void gus_core_rename_load(struct core *k, const struct gus_uop *uop, const struct gus_op *op)
{
	unsigned n = uop->memory;

	if (n >= op->memories_n || n >= ACCESSES || !renamed(k, op, n))
		return;
	for (unsigned i = 0; i < uop->out_n; i++) {
		struct live_reg *reg = &k->regs[k->p->flows[uop->out + i].reg];

		*reg = k->stores[(k->forward[n] - 1) & k->store_mask].source;
		reg->file = 0;
	}
}

/* The load may run once the store has its data; if that is what it waited for, the word comes from there, else it comes as
 * fast as from L1. */
static void wait_for_store(struct core *k, struct live_uop *u, const struct gus_uop *uop, unsigned n)
{
	const struct gus_core_config *c = k->c;
	const struct live_store *s = &k->stores[(k->forward[n] - 1) & k->store_mask];
	bool vector = k->p->memories[s->memory].bytes > 8 && c->store_forward_vector;
	struct live_access *a = core_access(k, u);

	if (k->blocked[n]) {
		struct live_store *from = &k->stores[(k->forward[n] - 1) & k->store_mask];

		/* Not to be had from the store: the load waits until all of it is in L1. */
		if (from->blocked)
			gus_core_wait(k, u, k->uops[from->blocked - 1].seq, 0);
		else
			from->blocked = (uint32_t)(u->seq & k->uop_mask) + 1, u->pending++;
		return;
	}
	a->forward = (uint16_t)(vector ? c->store_forward_vector : c->store_forward_latency);
	a->store = s->data;
	if (s->data)
		gus_core_wait(k, u, s->data - 1, a->forward > uop->latency ? (int)(a->forward - uop->latency) : 0);
	if (s->addr)
		gus_core_wait(k, u, s->addr - 1, 1);
}

/* A load or store uop enters: what it must wait for beyond its registers. */
void gus_core_access(struct core *k, struct live_uop *u, const struct gus_uop *uop, const struct gus_op *op)
{
	unsigned n = uop->memory;
	struct live_access *a = core_access(k, u);
	const struct gus_program_memory *m;

	*a = (struct live_access){ 0 };
	if (n >= op->memories_n || n >= ACCESSES)
		return;
	m = &k->p->memories[op->memory + n];
	a->address = k->address[n].bits;
	a->bytes = k->address[n].known ? m->bytes : 0;
	a->split = crosses_line(k, n, m->bytes);
	if (uop->kind == GUS_UOP_LOAD) {
		u->level = k->level[n];
		a->tlb = k->tlb[n];
		if (k->forward[n] && !renamed(k, op, n))
			wait_for_store(k, u, uop, n);
		else if (k->aliased[n])
			u->more = (int16_t)k->c->alias_penalty;
		return;
	}
	for (uint64_t i = k->store_tail; i-- > k->store_head;) {
		struct live_store *s = &k->stores[i & k->store_mask];

		if (s->memory != op->memory + n)
			continue;
		if (uop->kind == GUS_UOP_STORE_DATA) {
			s->data = u->seq + 1;
			s->source = uop->in_n ? k->regs[k->p->flows[uop->in].reg] : (struct live_reg){ 0 };
		}
		else
			s->addr = u->seq + 1;
		return;
	}
}

/* Beyond L1. */

static unsigned cycles_a_line(const struct core *k, uint32_t bandwidth)
{
	return bandwidth ? (k->c->line_size + bandwidth - 1) / bandwidth : 0;
}

static uint64_t take(uint64_t *busy_until, uint64_t from, unsigned cycles)
{
	uint64_t start = *busy_until > from ? *busy_until : from;

	*busy_until = start + cycles;
	return start;
}

/* When a line that is asked for now is in L1. */
static uint64_t line_arrives(struct core *k, enum gus_hit level, uint64_t address, uint64_t now)
{
	const struct gus_core_config *c = k->c;
	uint64_t line = c->line_size ? address / c->line_size : address, start = now, best = GUS_NEVER;
	unsigned buffers = c->l1d_misses && c->l1d_misses < MISSES ? c->l1d_misses : MISSES, buffer = 0;
	static const uint32_t none = 0;
	const uint32_t *latency[] = { &none, &c->l2_latency, &c->l3_latency, &c->memory_latency };

	if (address && k->lines[line % LINES].line == line && k->lines[line % LINES].ready > now)
		return k->lines[line % LINES].ready; /* it is on its way already */
	for (unsigned i = 0; i < buffers; i++)
		if (k->misses[i] < best)
			best = k->misses[buffer = i];
	if (best > start)
		start = best;
	if (level == GUS_HIT_MEMORY)
		start = take(&k->memory_free, start, cycles_a_line(k, c->memory_bandwidth));
	if (level >= GUS_HIT_L3)
		start = take(&k->l3_free, start, cycles_a_line(k, c->l3_bandwidth));
	start = take(&k->l2_free, start, cycles_a_line(k, c->l2_bandwidth));
	start += *latency[level];
	k->misses[buffer] = start;
	k->lines[line % LINES].line = line;
	k->lines[line % LINES].ready = start;
	return start;
}

static uint64_t walk(struct core *k, uint64_t now)
{
	unsigned walks = k->c->page_walks && k->c->page_walks < 8 ? k->c->page_walks : 1, first = 0;

	for (unsigned i = 1; i < walks; i++)
		if (k->walk_free[i] < k->walk_free[first])
			first = i;
	return take(&k->walk_free[first], now, k->c->page_walk_latency) + k->c->page_walk_latency;
}

/* A load is dispatched: how much longer it takes than a hit. */
void gus_core_load(struct core *k, struct live_uop *u, const struct gus_uop *uop)
{
	const struct live_access *a = core_access(k, u);
	uint64_t now = k->cycle, ready = now;

	if (a->store) {
		const struct live_uop *data = core_uop(k, a->store - 1);

		if (data->seq == a->store - 1 && now <= data->dispatched + 1 + (a->forward > uop->latency ? a->forward - uop->latency : 0))
			u->more = (int16_t)((int64_t)(data->dispatched + a->forward) - (int64_t)(now + uop->latency));
		if (u->more + (int)uop->latency < 0)
			u->more = (int16_t)-uop->latency;
	}
	if (a->split) {
		u->more = (int16_t)(u->more + (int)k->c->line_split_penalty);
		k->port_free[u->port] = now + 2; /* two lines, two accesses */
	}
	if (a->tlb == GUS_TLB_SECOND)
		ready = now + k->c->stlb_latency;
	else if (a->tlb == GUS_TLB_WALK)
		ready = walk(k, now);
	if (u->level != GUS_HIT_L1) {
		uint64_t arrives = line_arrives(k, (enum gus_hit)u->level, a->address, ready), hit = now + uop->latency;

		if (arrives > hit)
			u->more = (int16_t)(u->more + (int)(arrives - hit < 30000 ? arrives - hit : 30000));
	} else {
		u->more = (int16_t)(u->more + (int)(ready - now));
	}
}

/* Stores leave in order after they retire; a line that is not in L1 is asked for at retirement. */
void gus_core_retire_stores(struct core *k, const struct gus_op *op)
{
	unsigned n = 0, entries = 0;

	for (unsigned i = 0; i < op->memories_n && i < ACCESSES; i++)
		n += k->p->memories[op->memory + i].store;
	while (n-- && k->store_retired < k->store_tail) {
		struct live_store *s = &k->stores[k->store_retired++ & k->store_mask];

		s->retired = k->cycle;
		s->ready = s->level == GUS_HIT_L1 ? k->cycle : line_arrives(k, (enum gus_hit)s->level, s->address, k->cycle);
		entries += s->entries;
	}
	if (op->stores > entries) /* of a store that has no memory operand we know of */
		k->pools[POOL_STORES].freed += op->stores - entries;
}

static void release(struct core *k, struct live_uop *load)
{
	uint32_t after = k->c->store_forward_blocked, latency = k->p->uops[load->uop].latency;
	uint64_t ready = k->cycle + (after > latency ? after - latency : 1);

	if (ready > load->ready)
		load->ready = ready;
	if (--load->pending == 0)
		gus_core_arm(k, load);
}

void gus_core_commit_stores(struct core *k)
{
	unsigned n = k->c->l1d_stores;
	const struct live_store *last = NULL;

	while (k->store_head < k->store_retired) {
		struct live_store *s = &k->stores[k->store_head & k->store_mask];

		if (s->ready > k->cycle || (k->c->l1d_stores && !n--))
			return;
		/* The second of a cycle has to go into the same line. */
		if (last && s->known && last->known && (s->address ^ last->address) >= k->c->line_size)
			return;
		last = k->c->l1d_stores ? s : NULL;
		k->pools[POOL_STORES].freed += s->entries;
		count_words(k, s, -1);
		if (s->blocked)
			release(k, &k->uops[s->blocked - 1]);
		k->store_head++;
	}
}
