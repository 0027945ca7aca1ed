/* SPDX-License-Identifier: MIT */
/* Text as what is new and what was there before: `lz PASSES`. The longest match is looked for in a chain of the places
 * that have the same four bytes, in a window of 64 KiB; then the text is made again and compared. */
#include <string.h>

#include "chance.h"

enum { TEXT = 1 << 20, HEADS = 1 << 15, WINDOW = 1 << 16, LEAST = 4, MOST = 255, TRIES = 24 };

struct chains { int32_t heads[HEADS], before[WINDOW]; };

static uint32_t four(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void enter(struct chains *c, const uint8_t *text, int32_t at)
{
	int32_t *head = &c->heads[four(text + at) * 2654435761u >> 17];

	c->before[at % WINDOW] = *head;
	*head = at;
}

static int32_t longest(const struct chains *c, const uint8_t *text, int32_t at, int32_t *where)
{
	int32_t best = 0, from = c->heads[four(text + at) * 2654435761u >> 17];

	for (int tries = 0; tries < TRIES && from >= 0 && at - from < WINDOW; tries++) {
		int32_t n = 0;

		while (n < MOST && at + n < TEXT && text[from + n] == text[at + n])
			n++;
		if (n > best) {
			best = n;
			*where = from;
		}
		from = c->before[from % WINDOW];
	}
	return best;
}

/* Tokens: 0 and a byte; or a length, and the distance in two bytes. */
static size_t pack(struct chains *c, const uint8_t *text, uint8_t *out)
{
	size_t n = 0;

	memset(c->heads, 0xff, sizeof(c->heads));
	for (int32_t i = 0; i < TEXT;) {
		int32_t where = 0, length = i + LEAST <= TEXT ? longest(c, text, i, &where) : 0;
		int32_t end = length < LEAST ? i + 1 : i + length;

		if (length < LEAST) {
			out[n++] = 0;
			out[n++] = text[i];
		} else {
			out[n++] = (uint8_t)length;
			out[n++] = (uint8_t)(i - where);
			out[n++] = (uint8_t)((i - where) >> 8);
		}
		for (; i < end; i++)
			if (i + LEAST <= TEXT)
				enter(c, text, i);
	}
	return n;
}

static size_t unpack(const uint8_t *in, size_t n, uint8_t *text)
{
	size_t at = 0;

	for (size_t i = 0; i < n;) {
		size_t length = in[i], distance = in[i + 1] + 256u * in[i + 2];

		if (length == 0) {
			text[at++] = in[i + 1];
			i += 2;
			continue;
		}
		for (; length; length--, at++)
			text[at] = text[at - distance];
		i += 3;
	}
	return at;
}

/* Words of a vocabulary, the first ones the most often. */
static void write_text(uint8_t *text)
{
	enum { WORDS = 3000 };
	static char words[WORDS][10];

	for (int w = 0; w < WORDS; w++)
		for (uint32_t i = 0, n = 2 + chance_below(7); i < n; i++)
			words[w][i] = (char)('a' + chance_below(i % 2 ? 6 : 22));
	for (size_t i = 0; i < TEXT;) {
		const char *w = words[chance_below(1 + chance_below(1 + chance_below(WORDS)))];

		for (; *w && i < TEXT; w++)
			text[i++] = (uint8_t)*w;
		if (i < TEXT)
			text[i++] = ' ';
	}
}

int main(int argc, char **argv)
{
	struct chains *chains = chance_room(1, sizeof(*chains));
	uint8_t *text = chance_room(TEXT, 1), *again = chance_room(TEXT, 1), *out = chance_room(2 * TEXT + 2, 1);
	size_t n = 0;
	int good = 1;

	write_text(text);
	for (unsigned left = chance_passes(argc, argv); left; left--) {
		n = pack(chains, text, out);
		good &= unpack(out, n, again) == TEXT && memcmp(text, again, TEXT) == 0;
	}
	printf("lz %zu %s\n", n, good ? "the same" : "DIFFERENT");
	free(chains);
	free(text);
	free(again);
	free(out);
	return !good;
}
