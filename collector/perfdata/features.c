/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/features.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "collector/perfdata/window.h"

static struct gus_cursor cursor(const struct gus_perfdata_features *f, const void *bytes, size_t size)
{
	struct gus_cursor c = gus_cursor(bytes, size);

	c.big_endian = f->big_endian;
	return c;
}

static bool has(const struct gus_perfdata_features *f, unsigned feature)
{
	return f->set[feature / 64] >> feature % 64 & 1;
}

/* Words of 64 bits, as they should be. Some writers of the other byte order have turned 32 bits at a time: then the
 * host name, which all have, is found in the other half (tools/perf, header.c). */
void gus_perfdata_features_note(struct gus_perfdata_features *f, struct gus_cursor *c)
{
	const unsigned words = sizeof(f->set) / sizeof(*f->set);

	for (unsigned i = 0; i < words; i++)
		f->set[i] = gus_cursor_u64(c);
	if (!f->big_endian || has(f, GUS_PERFDATA_HOSTNAME))
		return;
	for (unsigned i = 0; i < words; i++)
		f->set[i] = f->set[i] << 32 | f->set[i] >> 32;
}

static void keep(struct gus_perfdata_features *f, unsigned feature, const uint8_t *bytes, size_t size)
{
	f->at[feature].offset = f->kept.n;
	f->at[feature].size = size;
	gus_vec_append(&f->kept, bytes, size);
}

/* What lies beyond the file is left out: its writer was cut off. Large ones, which nobody asks for here, stay where
 * they are. */
int gus_perfdata_features_read(struct gus_perfdata_features *f, struct gus_perfdata_window *w, uint64_t table,
			       uint64_t size, bool *cut, struct gus_error *err)
{
	for (unsigned i = 0; i < GUS_PERFDATA_FEATURES; i++) {
		uint64_t offset, length;
		const uint8_t *bytes;
		struct gus_cursor c;
		int64_t have;

		if (!has(f, i))
			continue;
		have = gus_perfdata_window_look(w, table, 16, &bytes, err);
		*cut |= have < 16;
		if (have < 16)
			return have < 0 ? -1 : 0;
		table += 16;
		c = cursor(f, bytes, 16);
		offset = gus_cursor_u64(&c);
		length = gus_cursor_u64(&c);
		*cut |= offset > size || length > size - offset;
		if (offset > size || length > size - offset || length > GUS_LIMIT_PERFDATA_FEATURE - f->kept.n)
			continue;
		have = gus_perfdata_window_look(w, offset, (size_t)length, &bytes, err);
		if (have < 0)
			return -1;
		keep(f, i, bytes, (size_t)have);
	}
	return 0;
}

void gus_perfdata_features_take(struct gus_perfdata_features *f, struct gus_cursor body)
{
	uint64_t feature = gus_cursor_u64(&body);

	if (!body.bad && feature < GUS_PERFDATA_FEATURES && f->kept.n < GUS_LIMIT_PERFDATA_FEATURE)
		keep(f, (unsigned)feature, body.at, gus_cursor_left(&body));
}

struct gus_cursor gus_perfdata_features_find(const struct gus_perfdata_features *f, unsigned feature)
{
	size_t size = f->at[feature].size;

	return cursor(f, size ? f->kept.v + f->at[feature].offset : NULL, size);
}

void gus_perfdata_features_clear(struct gus_perfdata_features *f)
{
	f->kept.n = 0;
	memset(f->at, 0, sizeof(f->at));
}

void gus_perfdata_features_free(struct gus_perfdata_features *f)
{
	gus_vec_free(&f->kept);
}
