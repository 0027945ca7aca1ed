/* SPDX-License-Identifier: MIT */
/* Recordings as the program's verbs read them: opened by what they are, in the order of time. */
#include <stdint.h>

#include "attribution/profile/order.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/common/recording.h"
#include "proto/reader.h"
#include "tests/accuracy/golden/words.h"

/* A recording that somebody judges by is whole, or it is none. */
static int check(const char *path, const struct gus_reader *reader, uint64_t late, struct gus_error *err)
{
	const struct gus_damage *d = gus_reader_damage(reader);

	if (d->corrupt || d->missing_frames || d->cut || d->header_lost)
		return gus_fail(err, GUS_E_CORRUPT, "cannot take the samples of %s: it is damaged, or not finished",
				path);
	if (late)
		return gus_fail(err, GUS_E_FULL, "cannot take the samples of %s: %llu of them come out of order", path,
				(unsigned long long)late);
	return 0;
}

int golden_words_read(const char *path, void (*take)(void *context, const struct gus_sample *s), void *context,
		      struct gus_error *err)
{
	const struct gus_order_sink sink = { .sample = take, .context = context };
	struct gus_reader *reader = gus_recording_open(path, err);
	uint64_t late = 0;
	int rc;

	if (!reader)
		return -1;
	rc = gus_order_each(reader, (size_t)gus_budget_of(GUS_LIMIT_ORDER, gus_reader_size(reader)).left, &sink, &late,
			    err);
	if (rc == 0)
		rc = check(path, reader, late, err);
	gus_reader_close(reader);
	return rc;
}
