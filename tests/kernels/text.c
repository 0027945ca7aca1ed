/* SPDX-License-Identifier: MIT */
/* Bytes and text: searches, checks, codes, copies. */
#include <string.h>

#include "kernels.h"

enum { N = KERNEL_TEXT };

/* How often a word of four letters begins where its first letter is. */
KERNEL(search)
{
	static const char word[] = "tion";
	uint64_t found = 0;

	for (int i = 0; i < N - 4; i++) {
		int k = 0;

		while (k < 4 && room->text[i + k] == (uint8_t)word[k])
			k++;
		found += k == 4;
	}
	return found;
}

KERNEL(length_by_bytes)
{
	const uint8_t *at = room->text;

	while (*at) {
		at++;
		KERNEL_HIDE(at);
	}
	return (uint64_t)(at - room->text);
}

KERNEL(length_by_words)
{
	const uint64_t ones = 0x0101010101010101, highs = ones << 7;
	const uint8_t *at = room->text;
	uint64_t eight;

	for (;;) {
		memcpy(&eight, at, sizeof(eight));
		if ((eight - ones) & ~eight & highs)
			break;
		at += 8;
	}
	return (uint64_t)(at - room->text);
}

KERNEL(count_words)
{
	uint64_t words = 0;
	int inside = 0;

	for (int i = 0; i < N; i++) {
		uint8_t c = room->text[i];

		if (c == ' ' || c == '\n' || c == '\t') {
			inside = 0;
		} else if (!inside) {
			inside = 1;
			words++;
		}
	}
	return words;
}

KERNEL(upper_case)
{
	for (int i = 0; i < N; i++) {
		uint8_t c = room->text[i];

		room->out[i] = c >= 'a' && c <= 'z' ? (uint8_t)(c - 32) : c;
	}
	return 0;
}

KERNEL(crc_by_table)
{
	uint32_t crc = ~0U;

	for (int i = 0; i < N; i++)
		crc = room->table[(crc ^ room->text[i]) & 255] ^ crc >> 8;
	return crc;
}

KERNEL(crc_by_bits)
{
	uint32_t crc = ~0U;

	for (int i = 0; i < N / 8; i++) {
		crc ^= room->text[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (0xedb88320 & -(crc & 1));
	}
	return crc;
}

KERNEL(fnv)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (int i = 0; i < N; i++)
		hash = (hash ^ room->text[i]) * 0x100000001b3;
	return hash;
}

KERNEL(adler)
{
	uint32_t a = 1, b = 0;

	for (int i = 0; i < N; i++) {
		a += room->text[i];
		b += a;
	}
	return (b % 65521) << 16 | a % 65521;
}

KERNEL(base64)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *out = room->out;

	for (int i = 0; i + 3 <= N; i += 3, out += 4) {
		uint32_t v = (uint32_t)room->text[i] << 16 | (uint32_t)room->text[i + 1] << 8 | room->text[i + 2];

		out[0] = (uint8_t)digits[v >> 18];
		out[1] = (uint8_t)digits[v >> 12 & 63];
		out[2] = (uint8_t)digits[v >> 6 & 63];
		out[3] = (uint8_t)digits[v & 63];
	}
	return 0;
}

KERNEL(hexadecimal)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < N; i++) {
		room->out[2 * i] = (uint8_t)digits[room->text[i] >> 4];
		room->out[2 * i + 1] = (uint8_t)digits[room->text[i] & 15];
	}
	return 0;
}

/* Whether bytes are UTF-8, one at a time; the text is of one byte a letter but for some. */
KERNEL(utf8)
{
	uint32_t more = 0, bad = 0;

	for (int i = 0; i < N; i++) {
		uint8_t c = room->text[i];

		if (more) {
			bad |= (c & 0xc0) ^ 0x80;
			more--;
		} else if (c >= 0x80) {
			more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
		}
	}
	return bad;
}

/* Decimal digits of numbers by division. */
KERNEL(decimal)
{
	uint8_t *out = room->out;

	for (int i = 0; i < 512; i++) {
		uint32_t v = room->words[i];

		do {
			*out++ = (uint8_t)('0' + v % 10);
			v /= 10;
		} while (v);
		out = room->out + (i & 15) * 16;
	}
	return 0;
}

KERNEL(copy_bytes)
{
	const uint8_t *from = room->text;
	uint8_t *to = room->out;

	for (int i = 0; i < N; i++) {
		to[i] = from[i];
		KERNEL_HIDE(from);
	}
	return 0;
}

KERNEL(copy_longs)
{
	const uint8_t *from = room->text;
	uint8_t *to = room->out;

	for (int i = 0; i < N; i += 8) {
		uint64_t eight;

		memcpy(&eight, from + i, sizeof(eight));
		memcpy(to + i, &eight, sizeof(eight));
		KERNEL_HIDE(from);
	}
	return 0;
}

KERNEL(run_lengths)
{
	uint8_t *out = room->out;

	for (int i = 0; i < N;) {
		int k = i + 1;

		while (k < N && room->text[k] == room->text[i])
			k++;
		*out++ = room->text[i];
		*out++ = (uint8_t)(k - i);
		i = k;
	}
	return (uint64_t)(out - room->out);
}

#if defined(__x86_64__)
KERNEL(rep_movsb)
{
	const uint8_t *from = room->text;
	uint8_t *to = room->out;
	size_t n = N;

	__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(n) : : "memory");
	return 0;
}

KERNEL(rep_stosq)
{
	uint8_t *to = room->out;
	size_t n = N / 8;

	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(0L) : "memory");
	return 0;
}

/* Sixteen bytes at once, which all x86-64 have. */
KERNEL(copy_vectors)
{
	const uint8_t *from = room->text;
	uint8_t *to = room->out;
	size_t n = N / 16;

	__asm__ volatile("1: movups (%0), %%xmm0\nmovups %%xmm0, (%1)\nadd $16, %0\nadd $16, %1\ndec %2\njnz 1b"
			 : "+r"(from), "+r"(to), "+r"(n) : : "memory", "xmm0");
	return 0;
}
#endif

const struct kernel kernels_text[] = {
	KERNEL_ROW(search, N - 4, "byte"),
	KERNEL_ROW(length_by_bytes, N - 1, "byte"),
	KERNEL_ROW(length_by_words, N / 8, "eight bytes"),
	KERNEL_ROW(count_words, N, "byte"),
	KERNEL_ROW(upper_case, N, "byte"),
	KERNEL_ROW(crc_by_table, N, "byte"),
	KERNEL_ROW(crc_by_bits, N, "bit"),
	KERNEL_ROW(fnv, N, "byte"),
	KERNEL_ROW(adler, N, "byte"),
	KERNEL_ROW(base64, N / 3, "three bytes"),
	KERNEL_ROW(hexadecimal, N, "byte"),
	KERNEL_ROW(utf8, N, "byte"),
	KERNEL_ROW(decimal, 512, "number"),
	KERNEL_ROW(copy_bytes, N, "byte"),
	KERNEL_ROW(copy_longs, N / 8, "eight bytes"),
	KERNEL_ROW(run_lengths, N, "byte"),
#if defined(__x86_64__)
	KERNEL_ROW(rep_movsb, N, "byte"),
	KERNEL_ROW(rep_stosq, N / 8, "eight bytes"),
	KERNEL_ROW(copy_vectors, N / 16, "sixteen bytes"),
#endif
	{ NULL },
};
