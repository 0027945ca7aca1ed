/* SPDX-License-Identifier: MIT */
/* Gives each distinct key of a fixed size a dense number 0, 1, 2, ... in order of first sight, so that callers keep
 * their values in plain arrays. The one hash table of the project; nothing is ever removed, and iteration is by
 * number, so hash order never reaches an output. */
#ifndef GUS_BASE_INDEX_H
#define GUS_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUS_INDEX_NONE UINT32_MAX

struct gus_index {
	uint8_t *keys;    /* n keys, back to back */
	uint32_t *slots;  /* number + 1, or 0; room is a power of two */
	size_t key_size;  /* bytes; padding inside a key must be zeroed by the caller */
	uint32_t n, keys_room, slots_room;
};

void gus_index_init(struct gus_index *ix, size_t key_size);
void gus_index_free(struct gus_index *ix);
/* The number of key, which is added if it is new (then *is_new, if given, is true). */
uint32_t gus_index_add(struct gus_index *ix, const void *key, bool *is_new);
/* The number of key, or GUS_INDEX_NONE. */
uint32_t gus_index_find(const struct gus_index *ix, const void *key);

static inline const void *gus_index_key(const struct gus_index *ix, uint32_t number)
{
	return ix->keys + (size_t)number * ix->key_size;
}

/* Interned strings: the same text is the same number. Number 0 is always "". The bytes stay where they are until
 * gus_strings_free. */
struct gus_strings {
	struct gus_string_ { const char *text; size_t length; } *list;
	uint32_t *slots;
	uint32_t n, list_room, slots_room;
	struct gus_block_ *blocks;
};

void gus_strings_init(struct gus_strings *s);
void gus_strings_free(struct gus_strings *s);
uint32_t gus_strings_add(struct gus_strings *s, const char *text);
uint32_t gus_strings_add_n(struct gus_strings *s, const char *text, size_t length);
/* The number of text, or GUS_INDEX_NONE. */
uint32_t gus_strings_find_n(const struct gus_strings *s, const char *text, size_t length);
uint32_t gus_strings_find(const struct gus_strings *s, const char *text);
static inline const char *gus_strings_get(const struct gus_strings *s, uint32_t number)
{
	return s->list[number].text;
}

#endif
