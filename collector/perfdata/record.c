/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/record.h"

#include "base/cursor.h"
#include "collector/perfdata/window.h"

/* Types that are known: the kernel's (linux/perf_event.h), with some that it may yet get; perf's. */
enum { LAST_OF_KERNEL = 31, FIRST_OF_PERF = 64, LAST_OF_PERF = 95 };
/* How many records in a row are no chance, or how many bytes of several, and how far they are looked for. */
enum { SEARCH_RECORDS = 6, RUN_MOST = GUS_PERFDATA_WINDOW / 4, SEARCH_MOST = 64 << 20 };

int64_t gus_perfdata_record_head(const struct gus_perfdata_framing *f, const uint8_t *bytes, size_t have,
				 struct gus_perfdata_record *r)
{
	struct gus_cursor c = gus_cursor(bytes, have);

	c.big_endian = f->big_endian;
	r->type = gus_cursor_u32(&c);
	r->misc = gus_cursor_u16(&c);
	r->size = gus_cursor_u16(&c);
	r->bytes = bytes;
	r->beside = r->beside_size = 0;
	if (c.bad)
		return 0;
	if (r->type >= GUS_PERFDATA_FIRST_OF_SIMPLEPERF && f->simpleperf) {
		uint64_t whole = (uint64_t)r->misc << 16 | r->size;

		r->beside_size = whole > GUS_PERFDATA_RECORD_HEAD ? whole - GUS_PERFDATA_RECORD_HEAD : 0;
		r->size = whole < GUS_PERFDATA_RECORD_HEAD ? 0 : GUS_PERFDATA_RECORD_HEAD;
	}
	if (r->size < GUS_PERFDATA_RECORD_HEAD)
		return -1;
	return r->size > have ? 0 : (int64_t)r->size;
}

/* The kernel's records are multiples of eight bytes; some of perf's are not. */
bool gus_perfdata_record_is_known(const struct gus_perfdata_record *r)
{
	return (r->type >= 1 && r->type <= LAST_OF_KERNEL && r->size % 8 == 0) ||
	       (r->type >= FIRST_OF_PERF && r->type <= LAST_OF_PERF);
}

bool gus_perfdata_record_is_at(const struct gus_perfdata_framing *f, struct gus_perfdata_window *w, uint64_t offset,
			       uint64_t end, uint64_t *next, struct gus_error *err)
{
	struct gus_perfdata_record r;
	const uint8_t *bytes;
	int64_t have;

	have = offset == end ? 0 : gus_perfdata_window_look(w, offset, GUS_PERFDATA_RECORD_HEAD, &bytes, err);
	if (have == 0) { /* there it is over, or cut */
		*next = end;
		return true;
	}
	if (have < GUS_PERFDATA_RECORD_HEAD)
		return false;
	gus_perfdata_record_head(f, bytes, (size_t)have, &r);
	if (r.size < GUS_PERFDATA_RECORD_HEAD || r.size > end - offset || !gus_perfdata_record_is_known(&r))
		return false;
	*next = offset + r.size;
	return true;
}

uint64_t gus_perfdata_record_find(const struct gus_perfdata_framing *f, struct gus_perfdata_window *w, uint64_t from,
				  uint64_t end, struct gus_error *err)
{
	uint64_t until = end - from > SEARCH_MOST ? from + SEARCH_MOST : end;
	unsigned step = f->unaligned ? 1 : 8;

	for (uint64_t at = from + step; at < until && at < end; at += step) {
		uint64_t next = at;
		unsigned n = 0;

		while (n < SEARCH_RECORDS && next < end && next - at < RUN_MOST &&
		       gus_perfdata_record_is_at(f, w, next, end, &next, err))
			n++;
		if (n == SEARCH_RECORDS || (n > 0 && next == end) || (n > 1 && next - at >= RUN_MOST))
			return at;
	}
	return end;
}
