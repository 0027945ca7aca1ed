/* SPDX-License-Identifier: MIT */
/* A bounded reader over foreign bytes. Every parser of bytes that we did not just write ourselves goes through it.
 *
 * Failure is sticky: a read past the end, or a malformed varint, sets `bad`, yields zero and moves to the end, so a
 * parser may read a whole structure and test once. It never reads outside [start, end). Integers are little-endian,
 * unless it is told that they are the other way round. */
#ifndef GUS_BASE_CURSOR_H
#define GUS_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gus_cursor {
	const uint8_t *start, *at, *end; /* borrowed: the bytes must outlive the cursor */
	bool bad;
	bool big_endian;
};

/* Over size bytes; NULL is fine if there are none. */
static inline struct gus_cursor gus_cursor(const void *bytes, size_t size)
{
	static const uint8_t nothing;
	const uint8_t *p = size ? bytes : &nothing;

	return (struct gus_cursor){ p, p, p + size, false, false };
}

static inline size_t gus_cursor_left(const struct gus_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline size_t gus_cursor_offset(const struct gus_cursor *c)
{
	return (size_t)(c->at - c->start);
}

/* The next size bytes, or NULL (and bad) if there are fewer. */
static inline const uint8_t *gus_cursor_take(struct gus_cursor *c, size_t size)
{
	const uint8_t *p = c->at;

	if (c->bad || size > gus_cursor_left(c)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += size;
	return p;
}

#define GUS_CURSOR_INT_(name, type, swap) \
	static inline type name(struct gus_cursor *c) \
	{ \
		const uint8_t *p = gus_cursor_take(c, sizeof(type)); \
		type value = 0; \
		if (p) \
			memcpy(&value, p, sizeof(value)); \
		return c->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : (type)swap(value); \
	}
GUS_CURSOR_INT_(gus_cursor_u8, uint8_t, )
GUS_CURSOR_INT_(gus_cursor_u16, uint16_t, __builtin_bswap16)
GUS_CURSOR_INT_(gus_cursor_u32, uint32_t, __builtin_bswap32)
GUS_CURSOR_INT_(gus_cursor_u64, uint64_t, __builtin_bswap64)
#undef GUS_CURSOR_INT_

/* LEB128, at most ten bytes; a value that does not fit 64 bits is bad. Most have one byte. */
uint64_t gus_cursor_long_varint_(struct gus_cursor *c);
static inline uint64_t gus_cursor_varint(struct gus_cursor *c)
{
	return c->at < c->end && *c->at < 0x80 ? *c->at++ : gus_cursor_long_varint_(c);
}

/* One that is less than that; else it is bad, and zero. */
static inline uint64_t gus_cursor_below(struct gus_cursor *c, uint64_t below)
{
	uint64_t number = gus_cursor_varint(c);

	c->bad |= number >= below;
	return c->bad ? 0 : number;
}

/* How many follow, each of which takes `least` bytes or more: there is room for so many. */
static inline size_t gus_cursor_count(struct gus_cursor *c, size_t least)
{
	uint64_t n = gus_cursor_varint(c);

	c->bad |= n >= UINT32_MAX || n > gus_cursor_left(c) / least;
	return c->bad ? 0 : (size_t)n;
}

static inline int64_t gus_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static inline uint64_t gus_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

/* A string that ends at its NUL or at size bytes, whichever is first; takes size bytes. Not terminated: *length. */
const char *gus_cursor_string(struct gus_cursor *c, size_t size, size_t *length);

#endif
