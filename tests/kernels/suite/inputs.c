/* SPDX-License-Identifier: MIT */
/* Texts with a grammar, tables and trees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prepare.h"

/* Needles are from the text itself, so that each is found; the first from its beginning. */
void suite_prepare_search(struct suite_room *room, uint64_t *chance)
{
	enum { NEEDLES = 4, NEEDLE = 8 };
	const uint8_t *text = room->array[0];
	uint8_t *needles = room->array[1];

	memcpy(needles, text, NEEDLE);
	for (int i = 1; i < NEEDLES; i++)
		memcpy(needles + i * NEEDLE, text + suite_chance(chance) % (uint64_t)(room->n - NEEDLE), NEEDLE);
}

void suite_prepare_crc(struct suite_room *room, uint64_t *chance)
{
	uint32_t *table = room->array[1];

	(void)chance;
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (0xedb88320 & -(table[i] & 1));
	}
}

/* The first and last code points of each length, and what is none: a start that there is not, overlong, a surrogate,
 * beyond the last, broken off. */
static const uint8_t edges[] = "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80"
	"\xf4\x8f\xbf\xbf\xff\x80\xc0\x80\xc1\xbf\xe0\x9f\xbf\xed\xa0\x80\xed\xbf\xbf\xf0\x8f\xbf\xbf\xf4\x90\x80\x80"
	"\xf5\x80\x80\x80\xce x\xe4\xb8 \xf0\x9f\x8c ";

/* Runs of letters of one alphabet: of one, two, three or four bytes; the edges in front, and now and then a byte that
 * is none. */
void suite_prepare_utf8(struct suite_room *room, uint64_t *chance)
{
	static const struct { uint32_t first, many; int length; uint8_t mark; } alphabets[] = {
		{ 'a', 26, 1, 0 }, { 0x391, 50, 2, 0xc0 }, { 0x4e00, 5000, 3, 0xe0 }, { 0x1f300, 200, 4, 0xf0 },
	};
	uint8_t *at = room->array[0], *end = at + room->n;

	if (end - at > (long)sizeof(edges)) {
		memcpy(at, edges, sizeof(edges));
		at += sizeof(edges);
	}
	while (at < end) {
		uint64_t dice = suite_chance(chance);
		unsigned which = (unsigned)(dice >> 60) < 9 ? 0 : (dice >> 58) & 3;

		for (uint64_t left = 1 + (dice >> 40) % 24; left; left--) {
			int length = alphabets[which].length;
			uint32_t point = alphabets[which].first +
				(uint32_t)(suite_chance(chance) >> 32) % alphabets[which].many;

			if (end - at < length)
				break;
			for (int i = length - 1; i > 0; i--, point >>= 6)
				at[i] = (uint8_t)(0x80 | (point & 63));
			at[0] = (uint8_t)(alphabets[which].mark | point);
			at += length;
		}
		if (at < end)
			*at++ = (dice & 63) == 0 ? 0xff : ' ';
	}
}

/* Text that is written until there is no more place. */
struct text {
	char *at, *end;
};

static void put(struct text *t, const char *words)
{
	size_t n = strlen(words);

	if ((size_t)(t->end - t->at) < n)
		n = (size_t)(t->end - t->at);
	memcpy(t->at, words, n);
	t->at += n;
}

static void put_value(struct text *t, uint64_t *chance, int depth)
{
	static const char *const scalars[] = { "true", "false", "null", "\"a word\"", "\"said \\\"no\\\"\\n\"", "0",
		"\"another, longer text: [none of these] is {any}\"" };
	uint64_t dice = suite_chance(chance) >> 32;
	char number[24];
	int list = dice & 1, many = 1 + (int)(dice >> 8) % 7;

	if (depth > 7 || dice % 8 < 4) {
		put(t, scalars[(dice >> 16) % (sizeof(scalars) / sizeof(*scalars))]);
		return;
	}
	if (dice % 8 < 6) {
		snprintf(number, sizeof(number), "%d", (int)(dice >> 4) >> (dice >> 26) % 28);
		put(t, number);
		return;
	}
	put(t, list ? "[" : "{");
	for (int i = 0; i < many; i++) {
		put(t, list ? "" : i & 1 ? "\"name\": " : "\"size_of_it\": ");
		put_value(t, chance, depth + 1);
		put(t, i + 1 < many ? ", " : "");
	}
	put(t, list ? "]" : "}\n");
}

/* Values until one does not fit, and blanks for that; so every one is whole. The first is an object in a list. */
void suite_prepare_json(struct suite_room *room, uint64_t *chance)
{
	struct text t = { room->array[0], (char *)room->array[0] + room->n };
	char *whole = t.at;

	put(&t, "[{\"numbers\": [1, -22, 333]}] ");
	while (t.at < t.end) {
		whole = t.at;
		put_value(&t, chance, 0);
		put(&t, "\n");
	}
	memset(whole, ' ', (size_t)(t.end - whole));
}

static uint64_t key_of(uint64_t *chance)
{
	return suite_chance(chance) | 1; /* not 0 */
}

/* A quarter of what is asked is not there. */
void suite_prepare_hash(struct suite_room *room, uint64_t *chance)
{
	uint64_t *keys = room->array[0], *asked = room->array[2], n = (uint64_t)room->n;
	uint64_t first = *chance, many = n * 5 / 8;

	for (uint64_t i = 0; i < many; i++) {
		uint64_t key = key_of(chance), at = (key * 0x9e3779b97f4a7c15 >> 32) * n >> 32;

		while (keys[at] && keys[at] != key)
			at = at + 1 < n ? at + 1 : 0;
		keys[at] = key;
	}
	/* The same keys again, then in an order by chance. */
	for (uint64_t i = 0; i < n; i++) {
		if (i % many == 0)
			*chance = first;
		asked[i] = key_of(chance);
		asked[i] ^= i % 4 == 3 ? 2 : 0;
	}
	for (uint64_t i = n - 1; i; i--) {
		uint64_t k = suite_chance(chance) % (i + 1), t = asked[i];

		asked[i] = asked[k];
		asked[k] = t;
	}
}

enum { KEYS = 15, CHILDREN = 16, NOBODY = 0xffffffff };

/* Where nodes are, by their number from the root by levels: child c of node k is 16 k + 1 + c. */
static uint32_t *places_of(uint32_t n, uint64_t *chance)
{
	uint32_t *place = malloc(n * sizeof(*place));

	if (!place)
		abort();
	for (uint32_t i = 0; i < n; i++)
		place[i] = i;
	for (uint32_t i = n - 1; i > 1; i--) { /* the root stays */
		uint32_t k = 1 + (uint32_t)(suite_chance(chance) % i), t = place[i];

		place[i] = place[k];
		place[k] = t;
	}
	return place;
}

/* Keys of a node and all below it, ascending from *key. */
static void fill_node(struct suite_room *room, const uint32_t *place, uint64_t node, uint64_t *key, uint64_t *chance)
{
	uint64_t *keys = (uint64_t *)room->array[0] + (uint64_t)place[node] * KEYS;
	uint32_t *children = (uint32_t *)room->array[1] + (uint64_t)place[node] * CHILDREN;

	for (uint64_t c = 0; c < CHILDREN; c++) {
		uint64_t child = CHILDREN * node + 1 + c;

		children[c] = NOBODY;
		if (child < (uint64_t)room->n) {
			children[c] = place[child];
			fill_node(room, place, child, key, chance);
		}
		if (c < KEYS)
			keys[c] = *key += 2 + suite_chance(chance) % 64;
	}
}

/* Most of what is asked is there: keys of places by chance; every eighth may not be. */
void suite_prepare_btree(struct suite_room *room, uint64_t *chance)
{
	const uint64_t *keys = room->array[0];
	uint64_t *asked = room->array[2], n = (uint64_t)room->n, key = 1;
	uint32_t *place = places_of((uint32_t)n, chance);

	fill_node(room, place, 0, &key, chance);
	free(place);
	for (uint64_t i = 0; i < n; i++)
		asked[i] = keys[suite_chance(chance) % (n * KEYS)] + (i % 8 == 0);
}
