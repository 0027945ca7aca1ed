/* SPDX-License-Identifier: MIT */
#include "tests/words/spe_words.h"

#include <stdlib.h>
#include <string.h>

/* The header's diagram, z: log2 of the payload's bytes, i: the packet's number. Of a number above 7 the upper bits are
 * in a byte before it. */
static const struct { const char *name, *diagram; } headers[] = {
	{ "padding", "00000000" },
	{ "end", "00000001" },
	{ "timestamp", "01zz0001" },
	{ "events", "01zz0010" },
	{ "source", "01zz0011" },
	{ "context", "01zz01ii" },
	{ "operation", "01zz10ii" },
	{ "address", "10zz0iii" },
	{ "counter", "10zz1iii" },
	{ "extended", "001000ii" },
};

static unsigned from_diagram(const char *name, unsigned number, unsigned size)
{
	const char *diagram = NULL;
	unsigned byte = 0, numbers = number, sizes = size;

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (!strcmp(headers[i].name, name))
			diagram = headers[i].diagram;
	if (!diagram)
		abort();
	for (unsigned bit = 0; bit < 8; bit++) {
		char c = diagram[7 - bit];

		if (c == 'i') {
			byte |= (numbers & 1) << bit;
			numbers >>= 1;
		} else if (c == 'z') {
			byte |= (sizes & 1) << bit;
			sizes >>= 1;
		} else {
			byte |= (unsigned)(c - '0') << bit;
		}
	}
	return byte;
}

void words_spe_put(struct words_bytes *b, const char *packet, unsigned number, unsigned size, uint64_t payload)
{
	if (number > 7)
		words_put(b, from_diagram("extended", number >> 3, 0), 1);
	words_put(b, from_diagram(packet, number & 7, size), 1);
	words_put(b, payload, 1u << size);
}

/* Packets that records have. most: the largest log2 of the payload's bytes; least: the smallest. */
static const struct { const char *name; unsigned number, least, most; } packets[WORDS_SPE_PACKETS] = {
	{ "address", 0, 3, 3 }, { "address", 1, 3, 3 }, { "address", 2, 3, 3 }, { "address", 3, 3, 3 },
	{ "address", 4, 3, 3 }, { "counter", 0, 1, 1 }, { "counter", 1, 1, 1 }, { "counter", 2, 1, 1 },
	{ "events", 0, 0, 3 }, { "source", 0, 0, 1 }, { "context", 0, 2, 2 }, { "operation", 0, 0, 0 },
	{ "timestamp", 0, 3, 3 },
};
enum { OPERATION = 11, CONTEXT = 10, TIMESTAMP = 12 };

static unsigned place_of(const char *name, unsigned number)
{
	for (unsigned i = 0; i < WORDS_SPE_PACKETS; i++)
		if (!strcmp(packets[i].name, name) && packets[i].number == number)
			return i;
	abort();
}

void words_spe_align(struct words_bytes *b, unsigned log2)
{
	words_put(b, 0x20 | (log2 - 1), 1);
	words_put(b, 0, 1);
	while (b->n % (1u << log2))
		words_put(b, 0xee, 1); /* what lies in between is nothing */
}

/* s: a store. The first that fits counts. */
static const struct words_spe_operation operations[] = {
	{ 0, "00000afc", "plain" },             /* ASIMD, floating-point, conditional */
	{ 0, "0VVV1pf0", "SVE" },               /* vector length, predicated, floating-point */
	{ 0, "1VVV1Vf0", "SME" },               /* size of the tile */
	{ 1, "0000000s", "general registers" },
	{ 1, "0000010s", "SIMD and floating-point registers" },
	{ 1, "0001000s", "unspecified registers" },
	{ 1, "0001010s", "allocation tags" },
	{ 1, "00100101", "memset" },
	{ 1, "0010000s", "memcpy" },
	{ 1, "0011000s", "system register" },
	{ 1, "01000m0s", "guarded control stack" }, /* common or not */
	{ 1, "gVVV1p0s", "SVE" },               /* gather or scatter */
	{ 1, "000rxa1s", "extended" },          /* acquire or release, exclusive, atomic */
	{ 1, ".......s", NULL },
	{ 2, "...RRgic", "branch" },            /* link and return; of the guarded stack; indirect; conditional */
};

const struct words_spe_operation *words_spe_operation(unsigned class, uint8_t payload)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		bool fits = operations[i].class == class;

		for (unsigned bit = 0; bit < 8 && fits; bit++) {
			char c = operations[i].diagram[7 - bit];

			fits = (c != '0' && c != '1') || (payload >> bit & 1) == (unsigned)(c - '0');
		}
		if (fits)
			return &operations[i];
	}
	return NULL;
}

unsigned words_spe_letter(const struct words_spe_operation *o, uint8_t payload, char letter)
{
	unsigned value = 0;

	for (unsigned i = 0; i < 8; i++)
		if (o->diagram[i] == letter)
			value = value << 1 | (payload >> (7 - i) & 1);
	return value;
}

const struct words_spe_field words_spe_fields[] = {
	{ "PC", "address", 0, "55:0" }, { "PC.EL", "address", 0, "62:61" }, { "PC.NS", "address", 0, "63" },
	{ "target", "address", 1, "55:0" },
	{ "VA", "address", 2, "55:0" }, { "VA.tag", "address", 2, "63:56" },
	{ "PA", "address", 3, "55:0" }, { "PA.PAT", "address", 3, "59:56" }, { "PA.CH", "address", 3, "62" },
	{ "PA.NS", "address", 3, "63" },
	{ "previous target", "address", 4, "55:0" },
	{ "total latency", "counter", 0, "15:0" }, { "issue latency", "counter", 1, "15:0" },
	{ "translation latency", "counter", 2, "15:0" },
	{ "events", "events", 0, "63:0" }, { "source", "source", 0, "15:0" }, { "context", "context", 0, "31:0" },
	{ "operation", "operation", 0, "7:0" }, { "timestamp", "timestamp", 0, "63:0" },
	{ NULL, NULL, 0, NULL },
};

static void draw(struct words_random *r, struct words_spe_record *w, unsigned i)
{
	w->has[i] = true;
	w->size[i] = packets[i].least + words_one_of(r, packets[i].most - packets[i].least + 1);
	w->payload[i] = words_random(r) & UINT64_MAX >> (64 - (8u << w->size[i]));
	if (i == OPERATION)
		w->class = words_one_of(r, 3);
	if (i == CONTEXT)
		w->level = 1 + words_one_of(r, 2);
}

static void put(const struct words_spe_record *w, struct words_bytes *b, unsigned i)
{
	unsigned number = i == OPERATION ? w->class : i == CONTEXT ? w->level - 1 : packets[i].number;

	words_spe_put(b, packets[i].name, number, w->size[i], w->payload[i]);
}

/* What may stand anywhere and says nothing: zeroes, alignment, and packets whose numbers nobody has given yet. */
static void put_filling(struct words_random *r, struct words_bytes *b)
{
	switch (words_one_of(r, 8)) {
	case 0:
		for (unsigned n = words_one_of(r, 9); n; n--)
			words_put(b, from_diagram("padding", 0, 0), 1);
		break;
	case 1:
		words_spe_align(b, 1 + words_one_of(r, 4));
		break;
	case 2:
		words_spe_put(b, "address", 5 + words_one_of(r, 27), 3, words_random(r));
		break;
	case 3:
		words_spe_put(b, "counter", 3 + words_one_of(r, 29), 1, words_random(r));
		break;
	}
}

static void put_end(struct words_spe_record *w, struct words_bytes *b)
{
	if (w->has[TIMESTAMP])
		put(w, b, TIMESTAMP);
	else
		words_put(b, from_diagram("end", 0, 0), 1);
	w->ends = b->n;
}

struct words_spe_record words_spe_random(struct words_random *r, struct words_bytes *b)
{
	struct words_spe_record w = { .begins = b->n };
	unsigned order[TIMESTAMP], n = 0;

	for (unsigned i = 0; i < TIMESTAMP; i++)
		if (words_one_of(r, 3)) {
			unsigned at = words_one_of(r, ++n);

			draw(r, &w, i);
			order[n - 1] = order[at];
			order[at] = i;
		}
	if (!n) {
		draw(r, &w, 0);
		order[n++] = 0;
	}
	for (unsigned i = 0; i < n; i++) {
		put_filling(r, b);
		put(&w, b, order[i]);
	}
	if (words_one_of(r, 2))
		draw(r, &w, TIMESTAMP);
	put_end(&w, b);
	return w;
}

struct words_spe_record words_spe_alone(struct words_random *r, struct words_bytes *b, unsigned packet)
{
	struct words_spe_record w = { .begins = b->n };

	draw(r, &w, packet);
	if (packet != TIMESTAMP)
		put(&w, b, packet);
	put_end(&w, b);
	return w;
}

bool words_spe_has(const struct words_spe_record *w, const struct words_spe_field *f)
{
	return w->has[place_of(f->packet, f->number)];
}

uint64_t words_spe_value(const struct words_spe_record *w, const struct words_spe_field *f)
{
	return words_get(w->payload[place_of(f->packet, f->number)], f->bits);
}
