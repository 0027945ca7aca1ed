/* SPDX-License-Identifier: MIT */
/* Fuzz target of the snapshot reader: snapshots and pages of arbitrary bytes, behind sums that are put right first.
 * What is given out keeps the rules, is read to its last byte and can be written again; a failure has a reason. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "proto/reader.h"
#include "proto/snapshot.h"
#include "tests/fuzz/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check(const struct gus_snapshot *s)
{
	uint64_t end = 0, bytes = 0;

	demand(gus_snapshot_check(s, NULL) == 0);
	for (size_t i = 0; i < s->runs.n; i++) {
		const struct gus_snapshot_run *run = &s->runs.v[i];
		volatile uint8_t last;  /* kept by the compiler */

		demand(run->address >= end && run->size);
		last = s->bytes[run->at + run->size - 1];
		(void)last;
		end = run->address + run->size;
		bytes += run->size;
	}
	demand(bytes == s->about->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = gus_alloc(size);
	struct gus_error err = { 0 };
	struct gus_snapshot s;
	struct gus_reader *r;
	uint8_t leave = size ? data[0] : 0;
	int got = 0;

	size -= size > 0;
	if (size)
		memcpy(copy, data + 1, size);
	if (!(leave & 8))
		seal(copy, size, leave);
	r = gus_reader_open_memory(copy, size, &err);
	demand(r || err.code != GUS_OK);
	for (int n = 0; r && n < 8 && (got = gus_snapshot_read(r, &s, &err)) == 1; n++) {
		check(&s);
		gus_snapshot_free(&s);
	}
	demand(got >= 0 || (err.code != GUS_OK && err.text[0]));
	gus_reader_close(r);
	free(copy);
	return 0;
}
