/* SPDX-License-Identifier: MIT */
/* Fuzz target of accounts that were kept: bytes as they may lie in the cache, behind a checksum that is right. What is
 * taken is put as no more bytes again, and can be summed up by all units. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/accounts/kept.h"
#include "attribution/accounts/sum.h"
#include "base/cursor.h"
#include "base/limits.h"
#include "symbolizer/space/space.h"
#include "tests/fuzz/limit.h"

enum { MS = 20, NS_A_BYTE = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check(const struct gus_account *a, const struct gus_clues *clues, size_t most)
{
	struct gus_bytes bytes = { 0 }, again = { 0 };
	struct gus_account back;
	struct gus_cursor from;

	gus_account_put(&bytes, a);
	demand(bytes.n <= most);
	from = gus_cursor(bytes.v, bytes.n);
	demand(gus_account_take(&back, clues, a->weight, &from));
	gus_account_put(&again, &back);
	demand(again.n == bytes.n && memcmp(again.v, bytes.v, bytes.n) == 0);
	gus_account_free(&back);
	gus_vec_free(&bytes);
	gus_vec_free(&again);
	for (int unit = 0; unit < GUS_SUM_UNITS; unit++) {
		struct gus_sums sums;

		gus_sums_make(&sums, a, (enum gus_sum_unit)unit);
		gus_sums_free(&sums);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct limit begun = limit_begin();
	struct gus_cursor from = gus_cursor(data, size), weight = from;
	struct gus_clues clues = { .samples = 100 };
	struct gus_account a;

	clues.profile.space = gus_space_new();
	gus_vec_push(&clues.threads, (struct gus_clue_thread){ 1, 1, "a" });
	gus_vec_push(&clues.threads, (struct gus_clue_thread){ 1, 2, "b" });
	clues.weight = gus_cursor_varint(&weight);
	if (clues.weight && clues.weight <= GUS_LIMIT_SUM && gus_account_take(&a, &clues, clues.weight, &from)) {
		check(&a, &clues, size);
		gus_account_free(&a);
	}
	gus_vec_free(&clues.threads);
	gus_space_free(clues.profile.space);
	limit_end(begun, size, MS, NS_A_BYTE);
	return 0;
}
