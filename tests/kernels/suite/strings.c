/* SPDX-License-Identifier: MIT */
/* Bytes: searched, checked, decoded, scanned, packed. A step is a byte. */
#include "suite.h"

/* Needles are NEEDLE bytes and there are NEEDLES of them. How often each is in the text, and where on the whole, by
 * Horspool's way: the text's byte under the needle's last says how far it may move. */
enum { NEEDLES = 4, NEEDLE = 8 };

SUITE_PART void search_one(uint64_t *result, const uint8_t *text, long length, const uint8_t *needle, uint32_t *move)
{
	uint64_t found = 0, where = 0;

	for (int c = 0; c < 256; c++)
		move[c] = NEEDLE;
	for (int i = 0; i < NEEDLE - 1; i++)
		move[needle[i]] = (uint32_t)(NEEDLE - 1 - i);
	for (long at = 0; at + NEEDLE <= length; at += move[text[at + NEEDLE - 1]]) {
		int i = NEEDLE - 1;

		while (i >= 0 && text[at + i] == needle[i])
			i--;
		if (i < 0) {
			found++;
			where += (uint64_t)at;
		}
	}
	result[0] = found;
	result[1] = where;
}

SUITE(search)
{
	const uint8_t *text = room->array[0], *needles = room->array[1];
	uint64_t *result = room->array[3];

	for (int i = 0; i < NEEDLES; i++)
		search_one(result + 2 * i, text + room->from, room->to - room->from, needles + i * NEEDLE,
			   room->array[2]);
	return 0;
}

/* CRC-32 as Ethernet has it, by a table for a byte. */
SUITE(crc)
{
	const uint8_t *text = room->array[0];
	const uint32_t *table = room->array[1];
	uint32_t crc = ~0U;

	for (long i = room->from; i < room->to; i++)
		crc = table[(crc ^ text[i]) & 255] ^ crc >> 8;
	return ~crc;
}

SUITE_PART int goes_on(const uint8_t *at, const uint8_t *end, int n)
{
	if (end - at <= n)
		return 0;
	for (int i = 1; i <= n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return 1;
}

/* UTF-8 to code points; of what is none (overlong, a surrogate, too much, broken off) each byte is U+FFFD. */
SUITE(utf8)
{
	const uint8_t *at = (const uint8_t *)room->array[0] + room->from;
	const uint8_t *end = (const uint8_t *)room->array[0] + room->to;
	uint32_t *out = (uint32_t *)room->array[1] + room->from, *first = out;

	while (at < end) {
		uint32_t c = at[0], point = 0xfffd;
		int length = 1;

		if (c < 0x80) {
			point = c;
		} else if (c >= 0xc2 && c < 0xe0 && goes_on(at, end, 1)) {
			point = (c & 31) << 6 | (at[1] & 63);
			length = 2;
		} else if (c >= 0xe0 && c < 0xf0 && goes_on(at, end, 2)) {
			uint32_t v = (c & 15) << 12 | (uint32_t)(at[1] & 63) << 6 | (at[2] & 63);

			if (v >= 0x800 && (v < 0xd800 || v > 0xdfff)) {
				point = v;
				length = 3;
			}
		} else if (c >= 0xf0 && c < 0xf5 && goes_on(at, end, 3)) {
			uint32_t v = (c & 7) << 18 | (uint32_t)(at[1] & 63) << 12 | (uint32_t)(at[2] & 63) << 6 |
				(at[3] & 63);

			if (v >= 0x10000 && v <= 0x10ffff) {
				point = v;
				length = 4;
			}
		}
		*out++ = point;
		at += length;
	}
	return (uint64_t)(out - first);
}

/* What a scan of JSON finds: numbers in the order of the results. */
enum { STRINGS, STRING_BYTES, ESCAPES, NUMBERS, SUM, OBJECTS, LISTS, WORDS, DEEPEST, FOUND };

SUITE_PART const uint8_t *scan_string(const uint8_t *at, const uint8_t *end, uint64_t *found)
{
	found[STRINGS]++;
	for (; at < end && *at != '"'; at++) {
		found[STRING_BYTES]++;
		if (*at == '\\') {
			found[ESCAPES]++;
			at++;
		}
	}
	return at < end ? at + 1 : end;
}

SUITE_PART const uint8_t *scan_number(const uint8_t *at, const uint8_t *end, uint64_t *found)
{
	uint64_t value = 0;
	int minus = *at == '-';

	for (at += minus; at < end && *at >= '0' && *at <= '9'; at++)
		value = 10 * value + (*at - '0');
	found[NUMBERS]++;
	found[SUM] += minus ? -value : value;
	return at;
}

SUITE(json)
{
	const uint8_t *at = (const uint8_t *)room->array[0] + room->from;
	const uint8_t *end = (const uint8_t *)room->array[0] + room->to;
	uint64_t found[FOUND] = { 0 }, depth = 0;

	while (at < end)
		switch (*at) {
		case '"':
			at = scan_string(at + 1, end, found);
			break;
		case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8':
		case '9':
			at = scan_number(at, end, found);
			break;
		case '{': case '[':
			found[*at == '{' ? OBJECTS : LISTS]++;
			found[DEEPEST] = ++depth > found[DEEPEST] ? depth : found[DEEPEST];
			at++;
			break;
		case '}': case ']':
			depth--;
			at++;
			break;
		case 't': case 'f': case 'n':
			found[WORDS]++;
			at += *at == 'f' ? 5 : 4;
			break;
		default: /* blanks, commas, colons */
			at++;
		}
	for (int i = 0; i < FOUND; i++)
		((uint64_t *)room->array[1])[i] = found[i];
	return 0;
}

/* Lempel and Ziv's packing: what the same four bytes began last time is said by its distance and length, in a word of
 * 24 and 8 bits; what did not occur yet is a byte (distance 0). Where four bytes were last is kept by a hash. */
enum { HEADS = 1024, LEAST = 4, LONGEST = 255 };

SUITE(lz)
{
	const uint8_t *text = (const uint8_t *)room->array[0] + room->from;
	uint32_t *head = room->array[1], *out = (uint32_t *)room->array[2] + room->from, *first = out;
	long length = room->to - room->from, n;

	for (int i = 0; i < HEADS; i++)
		head[i] = 0;
	for (long at = 0; at < length; at += n) {
		uint32_t four, before = 0;

		n = 0;
		if (at + LEAST <= length) {
			__builtin_memcpy(&four, text + at, sizeof(four));
			four = four * 2654435761U >> 22;
			before = head[four];
			head[four] = (uint32_t)at + 1;
		}
		if (before)
			while (n < LONGEST && at + n < length && text[before - 1 + n] == text[at + n])
				n++;
		if (n >= LEAST) {
			*out++ = (uint32_t)(at + 1 - before) << 8 | (uint32_t)n;
		} else {
			*out++ = text[at];
			n = 1;
		}
	}
	return (uint64_t)(out - first);
}
