/* SPDX-License-Identifier: MIT */
#include "tests/words/sample_words.h"

#include <stdio.h>
#include <string.h>

/* A record while it is drawn. */
struct drawing {
	struct words_random *r;
	const struct words_layout *layout;
	struct words_bytes *b;
	struct words_sample *s;
	uint64_t event;
};

static uint64_t put_random(struct drawing *d, unsigned size)
{
	uint64_t value = words_random(d->r) >> (64 - 8 * size);

	words_put(d->b, value, size);
	return value;
}

static void put_list(struct drawing *d, struct words_list *l, unsigned n)
{
	for (l->n = 0; l->n < n; l->n++)
		l->v[l->n] = put_random(d, 8);
}

/* Addresses, which are no PERF_CONTEXT_*: those are the last 4,095 numbers. */
static uint64_t put_address(struct drawing *d)
{
	uint64_t value = words_random(d->r) >> 1;

	words_put(d->b, value, 8);
	return value;
}

static void put_identifier(struct drawing *d) { words_put(d->b, d->s->identifier = d->event, 8); }
static void put_ip(struct drawing *d) { d->s->ip = put_address(d); }
static void put_time(struct drawing *d) { d->s->time = put_random(d, 8); }
static void put_addr(struct drawing *d) { d->s->addr = put_random(d, 8); }
static void put_id(struct drawing *d) { words_put(d->b, d->s->id = d->event, 8); }
static void put_stream(struct drawing *d) { words_put(d->b, d->s->stream = d->event + words_one_of(d->r, 2), 8); }
static void put_period(struct drawing *d) { d->s->period = put_random(d, 8); }
static void put_weight(struct drawing *d) { d->s->weight = put_random(d, 8); }
static void put_data_source(struct drawing *d) { d->s->data_source = put_random(d, 8); }
static void put_transaction(struct drawing *d) { d->s->transaction = put_random(d, 8); }
static void put_physical(struct drawing *d) { d->s->physical = put_random(d, 8); }
static void put_cgroup(struct drawing *d) { d->s->cgroup = put_random(d, 8); }
static void put_data_page(struct drawing *d) { d->s->data_page = put_random(d, 8); }
static void put_code_page(struct drawing *d) { d->s->code_page = put_random(d, 8); }

static void put_tid(struct drawing *d)
{
	d->s->pid = (uint32_t)put_random(d, 4);
	d->s->tid = (uint32_t)put_random(d, 4);
}

static void put_cpu(struct drawing *d)
{
	d->s->cpu = (uint32_t)put_random(d, 4);
	words_put(d->b, 0, 4);
}

/* A number is one word of which the first part is the lowest: in either order of bytes the header has it so. */
static void put_weights(struct drawing *d)
{
	uint64_t word = words_one_of(d->r, 2) ? words_random(d->r) : words_random(d->r) & UINT32_MAX;

	d->s->weight1 = words_get(word, "31:0");
	d->s->weight2 = words_get(word, "47:32");
	d->s->weight3 = words_get(word, "63:48");
	words_put(d->b, word, 8);
}

enum { ENABLED = 1, RUNNING = 2, ID = 4, GROUP = 8, LOST = 16 };

static void put_one_count(struct drawing *d, struct words_list *l)
{
	l->v[l->n++] = put_random(d, 8);
	if (d->layout->read_format & ID)
		l->v[l->n++] = put_random(d, 8);
	if (d->layout->read_format & LOST)
		l->v[l->n++] = put_random(d, 8);
}

static void put_times(struct drawing *d, struct words_list *l)
{
	if (d->layout->read_format & ENABLED)
		l->v[l->n++] = put_random(d, 8);
	if (d->layout->read_format & RUNNING)
		l->v[l->n++] = put_random(d, 8);
}

static void put_read(struct drawing *d)
{
	struct words_list *l = &d->s->read;

	if (d->layout->read_format & GROUP) {
		unsigned n = words_one_of(d->r, 5);

		words_put(d->b, n, 8);
		put_times(d, l);
		while (n--)
			put_one_count(d, l);
		return;
	}
	l->v[l->n++] = put_random(d, 8);
	put_times(d, l);
	if (d->layout->read_format & ID)
		l->v[l->n++] = put_random(d, 8);
	if (d->layout->read_format & LOST)
		l->v[l->n++] = put_random(d, 8);
}

/* The marker of the context, the address itself if the sample has one, and callers. */
static void put_chain(struct drawing *d)
{
	const uint64_t marker = d->s->user ? (uint64_t)-512 : (uint64_t)-128;
	unsigned callers = words_one_of(d->r, 6);
	bool has_ip = d->layout->sample_type & words_sample_bit("IP");
	struct words_list *l = &d->s->chain;

	words_put(d->b, 1 + has_ip + callers, 8);
	words_put(d->b, l->v[l->n++] = marker, 8);
	if (has_ip)
		words_put(d->b, d->s->ip, 8);
	while (callers--)
		l->v[l->n++] = put_address(d);
}

/* Four bytes of its size stand before it, and it fills the word up. */
static void put_raw(struct drawing *d)
{
	unsigned n = 4 + 8 * words_one_of(d->r, 4);

	words_put(d->b, n, 4);
	while (n--)
		d->s->raw.v[d->s->raw.n++] = put_random(d, 1);
}

/* Where bits begin at the highest one, "3:0" is "63:60". */
static uint64_t set_bits(const struct drawing *d, uint64_t word, const char *bits, uint64_t value)
{
	unsigned width = words_width(bits), low = 0;
	char turned[16];

	if (!d->b->big_endian)
		return words_set(word, bits, value);
	while (!words_get(UINT64_C(1) << low, bits))
		low++;
	snprintf(turned, sizeof(turned), "%u:%u", 63 - low, 64 - low - width);
	return words_set(word, turned, value);
}

static void put_branch(struct drawing *d, struct words_branch *e)
{
	const struct { uint64_t *value; const char *bits; } fields[] = {
		{ &e->mispredicted, "0" }, { &e->predicted, "1" }, { &e->in_tx, "2" }, { &e->abort, "3" },
		{ &e->cycles, "19:4" }, { &e->type, "23:20" }, { &e->spec, "25:24" }, { &e->new_type, "29:26" },
		{ &e->priv, "32:30" },
	};
	uint64_t word = 0;

	e->from = put_address(d) | 1;
	d->b->n -= 8;
	words_put(d->b, e->from, 8);
	e->to = put_address(d);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		*fields[i].value = words_random(d->r) >> (64 - words_width(fields[i].bits));
		word = set_bits(d, word, fields[i].bits, *fields[i].value);
	}
	words_put(d->b, word, 8);
}

static void put_branches(struct drawing *d)
{
	d->s->branches_n = words_one_of(d->r, 5);
	words_put(d->b, d->s->branches_n, 8);
	if (d->layout->hardware_index)
		d->s->hardware_index = put_random(d, 8);
	for (unsigned i = 0; i < d->s->branches_n; i++)
		put_branch(d, &d->s->branches[i]);
	if (d->layout->branch_counters)
		put_list(d, &d->s->counters, d->s->branches_n);
}

static uint64_t put_registers(struct drawing *d, uint64_t mask, struct words_list *l)
{
	uint64_t abi = words_one_of(d->r, 3);
	unsigned n = 0;

	words_put(d->b, abi, 8);
	for (unsigned bit = 0; bit < 64; bit++)
		n += abi && (mask >> bit & 1);
	put_list(d, l, n);
	return abi;
}

static void put_user(struct drawing *d)
{
	d->s->user_abi = put_registers(d, d->layout->user_registers, &d->s->registers);
}

static void put_interrupted(struct drawing *d)
{
	d->s->interrupt_abi = put_registers(d, d->layout->interrupt_registers, &d->s->interrupted);
}

/* What was asked for, and behind it how much of it is there; nothing at all of a thread of the kernel's. */
static void put_stack(struct drawing *d)
{
	unsigned asked = words_one_of(d->r, 6);

	words_put(d->b, 8 * asked, 8);
	if (!asked)
		return;
	d->s->stack_asked = asked;
	put_list(d, &d->s->stack, asked);
	d->s->stack.n = words_one_of(d->r, asked + 1);
	words_put(d->b, 8 * d->s->stack.n, 8);
}

static void put_aux(struct drawing *d)
{
	unsigned words = words_one_of(d->r, 3);
	struct words_list nobodys;

	words_put(d->b, 8 * words, 8);
	put_list(d, &nobodys, words);
}

static const struct { const char *name; unsigned bit; void (*put)(struct drawing *); } fields[] = {
	{ "IDENTIFIER", 16, put_identifier }, { "IP", 0, put_ip }, { "TID", 1, put_tid }, { "TIME", 2, put_time },
	{ "ADDR", 3, put_addr }, { "ID", 6, put_id }, { "STREAM_ID", 9, put_stream }, { "CPU", 7, put_cpu },
	{ "PERIOD", 8, put_period }, { "READ", 4, put_read }, { "CALLCHAIN", 5, put_chain }, { "RAW", 10, put_raw },
	{ "BRANCH_STACK", 11, put_branches }, { "REGS_USER", 12, put_user }, { "STACK_USER", 13, put_stack },
	{ "WEIGHT", 14, put_weight }, { "WEIGHT_STRUCT", 24, put_weights }, { "DATA_SRC", 15, put_data_source },
	{ "TRANSACTION", 17, put_transaction }, { "REGS_INTR", 18, put_interrupted },
	{ "PHYS_ADDR", 19, put_physical }, { "CGROUP", 21, put_cgroup }, { "DATA_PAGE_SIZE", 22, put_data_page },
	{ "CODE_PAGE_SIZE", 23, put_code_page }, { "AUX", 20, put_aux },
};
enum { FIELDS = sizeof(fields) / sizeof(*fields) };

uint64_t words_sample_bit(const char *field)
{
	for (unsigned i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].name, field))
			return UINT64_C(1) << fields[i].bit;
	return 0;
}

const char *words_sample_field(unsigned i)
{
	return i < FIELDS ? fields[i].name : NULL;
}

struct words_sample words_sample_random(struct words_random *r, const struct words_layout *layout, uint64_t id,
					struct words_bytes *b)
{
	struct words_sample s = { .user = words_one_of(r, 2) };
	struct drawing d = { r, layout, b, &s, id };
	size_t begins = b->n, size;

	/* Only an address may be exact. */
	s.exact = (layout->sample_type & words_sample_bit("IP")) && words_one_of(r, 2);
	words_put(b, 9, 4); /* PERF_RECORD_SAMPLE */
	words_put(b, (s.user ? 2 : 1) | (s.exact ? 1 << 14 : 0), 2);
	words_put(b, 0, 2);
	for (unsigned i = 0; i < FIELDS; i++)
		if (layout->sample_type >> fields[i].bit & 1)
			fields[i].put(&d);
	size = b->n - begins;
	b->n = begins + 6;
	words_put(b, size, 2);
	b->n = begins + size;
	return s;
}

struct words_layout words_layout_random(struct words_random *r, uint64_t sample_type)
{
	struct words_layout l = { .sample_type = sample_type, .read_format = words_one_of(r, 32),
		.hardware_index = words_one_of(r, 2), .branch_counters = words_one_of(r, 2) };

	l.user_registers = words_random(r) & words_random(r) & UINT32_MAX;
	l.interrupt_registers = words_random(r) & words_random(r) & UINT32_MAX;
	if (sample_type & words_sample_bit("WEIGHT")) /* one of the two, says the manual page */
		l.sample_type &= ~words_sample_bit("WEIGHT_STRUCT");
	return l;
}
