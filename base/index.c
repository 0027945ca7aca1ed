/* SPDX-License-Identifier: MIT */
#include "base/index.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"

void gus_index_init(struct gus_index *ix, size_t key_size)
{
	*ix = (struct gus_index){ .key_size = key_size, .slots_room = 64, .keys_room = 32 };
	ix->slots = gus_zalloc(ix->slots_room * sizeof(*ix->slots));
	ix->keys = gus_alloc(ix->keys_room * key_size);
}

void gus_index_free(struct gus_index *ix)
{
	free(ix->slots);
	free(ix->keys);
	memset(ix, 0, sizeof(*ix));
}

/* The slot that holds key, or the empty one where it would go. Linear probing; load is kept at or below a half. */
static uint32_t slot_of(const struct gus_index *ix, const void *key)
{
	uint32_t mask = ix->slots_room - 1;
	uint32_t at = (uint32_t)XXH3_64bits(key, ix->key_size) & mask;

	while (ix->slots[at] && memcmp(gus_index_key(ix, ix->slots[at] - 1), key, ix->key_size) != 0)
		at = (at + 1) & mask;
	return at;
}

static void grow(struct gus_index *ix)
{
	ix->slots_room *= 2;
	free(ix->slots);
	ix->slots = gus_zalloc((size_t)ix->slots_room * sizeof(*ix->slots));
	for (uint32_t i = 0; i < ix->n; i++)
		ix->slots[slot_of(ix, gus_index_key(ix, i))] = i + 1;
}

uint32_t gus_index_add(struct gus_index *ix, const void *key, bool *is_new)
{
	uint32_t at = slot_of(ix, key);

	if (is_new)
		*is_new = !ix->slots[at];
	if (ix->slots[at])
		return ix->slots[at] - 1;
	if (ix->n == ix->keys_room) {
		ix->keys_room *= 2;
		ix->keys = gus_resize(ix->keys, ix->keys_room, ix->key_size);
	}
	memcpy(ix->keys + (size_t)ix->n * ix->key_size, key, ix->key_size);
	ix->slots[at] = ++ix->n;
	if (ix->n * 2 > ix->slots_room)
		grow(ix);
	return ix->n - 1;
}

uint32_t gus_index_find(const struct gus_index *ix, const void *key)
{
	uint32_t at = slot_of(ix, key);

	return ix->slots[at] ? ix->slots[at] - 1 : GUS_INDEX_NONE;
}

/* Text lives in blocks that never move, each twice as large as the one before: there may be thousands of tables with a
 * name or two. */
#define BLOCK_FIRST 256
#define BLOCK_LAST 16384

struct gus_block_ {
	struct gus_block_ *next;
	size_t used, room;
	char bytes[];
};

static const char *keep(struct gus_strings *s, const char *text, size_t length)
{
	struct gus_block_ *b = s->blocks;
	char *copy;

	if (!b || b->room - b->used < length + 1) {
		size_t room = BLOCK_FIRST;

		if (b)
			room = b->room < BLOCK_LAST / 2 ? 2 * b->room : BLOCK_LAST;
		if (room < length + 1)
			room = length + 1;
		b = gus_alloc(sizeof(*b) + room);
		b->next = s->blocks;
		b->used = 0;
		b->room = room;
		s->blocks = b;
	}
	copy = b->bytes + b->used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	b->used += length + 1;
	return copy;
}

static uint32_t string_slot(const struct gus_strings *s, const char *text, size_t length)
{
	uint32_t mask = s->slots_room - 1;
	uint32_t at = (uint32_t)XXH3_64bits(text, length) & mask;

	while (s->slots[at]) {
		const struct gus_string_ *e = &s->list[s->slots[at] - 1];

		if (e->length == length && memcmp(e->text, text, length) == 0)
			break;
		at = (at + 1) & mask;
	}
	return at;
}

void gus_strings_init(struct gus_strings *s)
{
	*s = (struct gus_strings){ .slots_room = 64, .list_room = 32 };
	s->slots = gus_zalloc(s->slots_room * sizeof(*s->slots));
	s->list = gus_alloc(s->list_room * sizeof(*s->list));
	gus_strings_add(s, "");
}

void gus_strings_free(struct gus_strings *s)
{
	for (struct gus_block_ *b = s->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(s->slots);
	free(s->list);
	memset(s, 0, sizeof(*s));
}

uint32_t gus_strings_find(const struct gus_strings *s, const char *text)
{
	return gus_strings_find_n(s, text, strlen(text));
}

uint32_t gus_strings_find_n(const struct gus_strings *s, const char *text, size_t length)
{
	uint32_t at = string_slot(s, text, length);

	return s->slots[at] ? s->slots[at] - 1 : GUS_INDEX_NONE;
}

uint32_t gus_strings_add(struct gus_strings *s, const char *text)
{
	return gus_strings_add_n(s, text, strlen(text));
}

uint32_t gus_strings_add_n(struct gus_strings *s, const char *text, size_t length)
{
	uint32_t at = string_slot(s, text, length);

	if (s->slots[at])
		return s->slots[at] - 1;
	if (s->n == s->list_room) {
		s->list_room *= 2;
		s->list = gus_resize(s->list, s->list_room, sizeof(*s->list));
	}
	s->list[s->n] = (struct gus_string_){ keep(s, text, length), length };
	s->slots[at] = ++s->n;
	if (s->n * 2 > s->slots_room) {
		s->slots_room *= 2;
		free(s->slots);
		s->slots = gus_zalloc((size_t)s->slots_room * sizeof(*s->slots));
		for (uint32_t i = 0; i < s->n; i++)
			s->slots[string_slot(s, s->list[i].text, s->list[i].length)] = i + 1;
		return s->n - 1;
	}
	return s->n - 1;
}
