/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "collector/perfdata/record.h"

/* Room for what is unpacked at a time. */
enum { STEP = 1 << 18 };

/* All behind the head, or as much as it says before. */
bool gus_perfdata_packed_begin(struct gus_perfdata_packed *p, const struct gus_perfdata_framing *f,
			       const struct gus_perfdata_record *r)
{
	struct gus_cursor c = gus_cursor(r->bytes, r->size);
	uint64_t size;

	c.big_endian = f->big_endian;
	gus_cursor_take(&c, GUS_PERFDATA_RECORD_HEAD);
	size = r->type == GUS_PERFDATA_PACKED2 ? gus_cursor_u64(&c) : gus_cursor_left(&c);
	if (c.bad || size > gus_cursor_left(&c))
		return false;
	if (!p->zstd)
		p->zstd = ZSTD_createDStream();
	p->in = c.at;
	p->left = (size_t)size;
	p->offset = r->offset + gus_cursor_offset(&c);
	return true;
}

bool gus_perfdata_packed_has_more(const struct gus_perfdata_packed *p)
{
	return p->left || p->used < p->unpacked.n;
}

/* Some more of it. What zstd holds back for want of room comes with the next call. */
static enum gus_perfdata_unpacked unpack(struct gus_perfdata_packed *p)
{
	size_t rest = p->unpacked.n - p->used;
	ZSTD_inBuffer in = { p->in, p->left, 0 };
	ZSTD_outBuffer out;
	size_t said;

	gus_vec_reserve(&p->unpacked, rest + STEP);
	memmove(p->unpacked.v, p->unpacked.v + p->used, rest);
	p->used = 0;
	out = (ZSTD_outBuffer){ p->unpacked.v, rest + STEP, rest };
	said = ZSTD_decompressStream(p->zstd, &out, &in);
	p->in += in.pos;
	p->offset += in.pos;
	p->left -= in.pos;
	p->unpacked.n = out.pos;
	if (ZSTD_isError(said)) {
		ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
		return GUS_PERFDATA_UNPACKED_BROKEN;
	}
	if (!gus_budget_charge(&p->bytes, out.pos - rest))
		return GUS_PERFDATA_UNPACKED_TOO_MUCH;
	return out.pos > rest || in.pos > 0 ? GUS_PERFDATA_UNPACKED_RECORD : GUS_PERFDATA_UNPACKED_NONE;
}

enum gus_perfdata_unpacked gus_perfdata_packed_next(struct gus_perfdata_packed *p,
						    const struct gus_perfdata_framing *f,
						    struct gus_perfdata_record *r)
{
	enum gus_perfdata_unpacked got = GUS_PERFDATA_UNPACKED_RECORD;

	while (got == GUS_PERFDATA_UNPACKED_RECORD) {
		size_t rest = p->unpacked.n - p->used;
		int64_t size = gus_perfdata_record_head(f, rest ? p->unpacked.v + p->used : NULL, rest, r);

		if (size > 0) {
			p->used += (size_t)size;
			return got;
		}
		if (size < 0) {
			p->unpacked.n = p->used = p->left = 0;
			return GUS_PERFDATA_UNPACKED_NO_RECORD;
		}
		got = p->zstd ? unpack(p) : GUS_PERFDATA_UNPACKED_NONE;
	}
	return got;
}

void gus_perfdata_packed_reset(struct gus_perfdata_packed *p)
{
	p->unpacked.n = p->used = p->left = 0;
	if (p->zstd)
		ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
}

void gus_perfdata_packed_free(struct gus_perfdata_packed *p)
{
	gus_vec_free(&p->unpacked);
	ZSTD_freeDStream(p->zstd);
}
