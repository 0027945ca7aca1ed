/* SPDX-License-Identifier: MIT */
#include "attribution/statistics/rounding.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

struct rest { size_t at; double rest; };

static int by_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest > y->rest ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Beyond 2^53 doubles are no whole numbers any more, and their sum may come out too large: no part takes more than is
 * left, and what is left over goes around as often as it has to. */
void gus_rounding_make(const double *shares, size_t n, uint64_t whole, uint64_t *out)
{
	struct rest *rests = gus_zalloc(n * sizeof(*rests));
	uint64_t given = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += shares[i];
	assert(sum > 0);
	for (size_t i = 0; i < n; i++) {
		double exact = shares[i] * ((double)whole / sum);

		out[i] = exact < (double)(whole - given) ? (uint64_t)exact : whole - given;
		given += out[i];
		rests[i] = (struct rest){ i, exact - floor(exact) };
	}
	qsort(rests, n, sizeof(*rests), by_rest);
	for (size_t i = 0; given < whole; i = (i + 1) % n) {
		out[rests[i].at]++;
		given++;
	}
	free(rests);
}
