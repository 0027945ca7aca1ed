/* SPDX-License-Identifier: MIT */
/* Bytes, each place by itself: needles by comparing everywhere, the CRC by its bits, UTF-8 by writing it again, JSON by
 * its grammar, repeats by looking back. */
#include <string.h>

#include "../suite.h"

SUITE(search)
{
	enum { NEEDLES = 4, NEEDLE = 8 };
	const uint8_t *text = room->array[0], *needles = room->array[1];
	uint64_t *result = room->array[3];

	memset(result, 0, 2 * NEEDLES * sizeof(*result));
	for (long at = 0; at + NEEDLE <= room->n; at++)
		for (int i = 0; i < NEEDLES; i++)
			if (memcmp(text + at, needles + i * NEEDLE, NEEDLE) == 0) {
				result[2 * i]++;
				result[2 * i + 1] += (uint64_t)at;
			}
	return 0;
}

SUITE(crc)
{
	const uint8_t *text = room->array[0];
	uint32_t crc = ~0U;

	for (long i = 0; i < 8 * room->n; i++) {
		uint32_t bit = (text[i / 8] >> i % 8 ^ crc) & 1;

		crc >>= 1;
		if (bit)
			crc ^= 0xedb88320;
	}
	return ~crc;
}

/* The shortest UTF-8 of a number. */
static int encode(uint8_t *out, uint32_t point)
{
	int length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	static const uint8_t mark[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (int i = length - 1; i > 0; i--, point >>= 6)
		out[i] = (uint8_t)(0x80 | (point & 63));
	out[0] = (uint8_t)(mark[length] | point);
	return length;
}

/* Whether so many bytes are the UTF-8 of a code point: if they are what is written for the bits that are in them. */
static int is_point(const uint8_t *at, int length, uint32_t *point)
{
	static const uint8_t bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint8_t again[4];
	uint32_t v = at[0] & bits[length];

	for (int i = 1; i < length; i++)
		v = v << 6 | (at[i] & 63);
	if (v > 0x10ffff || (v & 0x1ff800) == 0xd800)
		return 0;
	*point = v;
	return encode(again, v) == length && memcmp(again, at, (size_t)length) == 0;
}

SUITE(utf8)
{
	const uint8_t *text = room->array[0];
	uint32_t *out = room->array[1];
	long n = 0, length;

	for (long at = 0; at < room->n; at += length) {
		out[n] = 0xfffd;
		for (length = 4; length > 0; length--)
			if (at + length <= room->n && is_point(text + at, (int)length, &out[n]))
				break;
		if (length == 0) {
			out[n] = 0xfffd;
			length = 1;
		}
		n++;
	}
	return (uint64_t)n;
}

enum { STRINGS, STRING_BYTES, ESCAPES, NUMBERS, SUM, OBJECTS, LISTS, WORDS, DEEPEST, FOUND };

static const char *blanks(const char *at)
{
	return at + strspn(at, " \n");
}

static const char *string(const char *at, uint64_t *found)
{
	found[STRINGS]++;
	for (at++; *at != '"'; at += at[0] == '\\' ? 2 : 1) {
		found[STRING_BYTES]++;
		found[ESCAPES] += at[0] == '\\';
	}
	return at + 1;
}

static const char *value(const char *at, uint64_t *found, uint64_t depth);

/* Of an object or a list: values up to its end, of an object each with its name. */
static const char *values(const char *at, uint64_t *found, uint64_t depth)
{
	int named = *at == '{';

	found[named ? OBJECTS : LISTS]++;
	found[DEEPEST] = depth > found[DEEPEST] ? depth : found[DEEPEST];
	at = blanks(at + 1);
	while (*at != '}' && *at != ']') {
		if (named)
			at = blanks(blanks(string(at, found)) + 1);
		at = blanks(value(at, found, depth));
		at = *at == ',' ? blanks(at + 1) : at;
	}
	return at + 1;
}

static const char *value(const char *at, uint64_t *found, uint64_t depth)
{
	static const char *const words[] = { "true", "false", "null" };
	uint64_t number = 0;
	int length = 0, minus = *at == '-';

	if (*at == '{' || *at == '[')
		return values(at, found, depth + 1);
	if (*at == '"')
		return string(at, found);
	for (int i = 0; i < 3; i++)
		if (strncmp(at, words[i], strlen(words[i])) == 0) {
			found[WORDS]++;
			return at + strlen(words[i]);
		}
	found[NUMBERS]++;
	length = (int)strspn(at + minus, "0123456789");
	for (int i = 0; i < length; i++)
		number = 10 * number + (uint64_t)(at[minus + i] - '0');
	found[SUM] += minus ? -number : number;
	return at + minus + length;
}

/* The text has a page behind it, so it ends with a zero. */
SUITE(json)
{
	uint64_t *found = room->array[1];
	const char *at = blanks(room->array[0]);

	memset(found, 0, FOUND * sizeof(*found));
	while (*at)
		at = blanks(value(at, found, 0));
	return 0;
}

static uint32_t hash_of(const uint8_t *at)
{
	uint32_t four;

	memcpy(&four, at, sizeof(four));
	return four * 2654435761U >> 22;
}

/* The last place before `at` where a word began, or -1. `begins` has which these are. */
static long look_back(const uint8_t *text, const uint8_t *begins, long at)
{
	for (long i = at - 1; i >= 0; i--)
		if (begins[i] && hash_of(text + i) == hash_of(text + at))
			return i;
	return -1;
}

SUITE(lz)
{
	const uint8_t *text = room->array[0];
	uint32_t *out = room->array[2];
	uint8_t *begins = room->array[3];
	long words = 0, n;

	memset(begins, 0, (size_t)room->n);
	for (long at = 0; at < room->n; at += n) {
		long before = at + 4 <= room->n ? look_back(text, begins, at) : -1;

		begins[at] = 1;
		for (n = 0; before >= 0 && n < 255 && at + n < room->n && text[before + n] == text[at + n]; )
			n++;
		n = n < 4 ? 0 : n;
		out[words++] = n ? (uint32_t)(at - before) << 8 | (uint32_t)n : text[at];
		n = n ? n : 1;
	}
	return (uint64_t)words;
}
