/* SPDX-License-Identifier: MIT */
/* How many letters two texts are apart: `edits PAIRS`. The table of all beginnings of both, row by row, for texts of
 * 400 letters of which one is the other with changes; the least of three, each of which needs its neighbour. */
#include <string.h>

#include "chance.h"

enum { LENGTH = 400, TEXTS = 64 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned distance(const char *a, const char *b)
{
	unsigned row[LENGTH + 1];

	for (unsigned k = 0; k <= LENGTH; k++)
		row[k] = k;
	for (unsigned i = 1; i <= LENGTH; i++) {
		unsigned corner = row[0];

		row[0] = i;
		for (unsigned k = 1; k <= LENGTH; k++) {
			unsigned above = row[k];

			row[k] = a[i - 1] == b[k - 1] ? corner : 1 + least(corner, least(above, row[k - 1]));
			corner = above;
		}
	}
	return row[LENGTH];
}

int main(int argc, char **argv)
{
	static char texts[TEXTS][LENGTH];
	uint64_t sum = 0;

	for (int i = 0; i < TEXTS; i++)
		for (int k = 0; k < LENGTH; k++)
			texts[i][k] = (char)(i && chance() & 7 ? texts[i - 1][k] : 'a' + (int)chance_below(4));
	for (unsigned left = chance_passes(argc, argv); left; left--)
		sum = sum * 31 + distance(texts[chance_below(TEXTS)], texts[chance_below(TEXTS)]);
	printf("edits %llu\n", (unsigned long long)sum);
	return 0;
}
