/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "collector/perfdata/record.h"

/* Room for what is unpacked at a time. */
enum { STEP = 1 << 18 };

/* What every frame of zstd begins with. Within a frame no block can: it would be one of 390 KB, and 128 is the most. */
static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

void gus_perfdata_packed_allow(struct gus_perfdata_packed *p, uint64_t size)
{
	p->bytes = gus_budget_of(GUS_LIMIT_PERFDATA_UNPACKED, size);
	p->records = gus_budget_of(GUS_LIMIT_PERFDATA_RECORDS, size);
}

/* What is free is so once, not for each file. */
void gus_perfdata_packed_allow_more(struct gus_perfdata_packed *p, uint64_t size)
{
	p->bytes.left += gus_budget_of(GUS_LIMIT_PERFDATA_UNPACKED, size).left - GUS_LIMIT_PERFDATA_UNPACKED.base;
	p->records.left += gus_budget_of(GUS_LIMIT_PERFDATA_RECORDS, size).left - GUS_LIMIT_PERFDATA_RECORDS.base;
}

static void reset_frame(struct gus_perfdata_packed *p)
{
	p->within = p->broken = false;
	if (p->zstd)
		ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
}

bool gus_perfdata_packed_end(struct gus_perfdata_packed *p)
{
	bool unfinished = p->used < p->unpacked.n && !p->broken;

	p->unpacked.n = p->used = 0;
	return unfinished;
}

/* Takes nothing more of what is being unpacked. */
static enum gus_perfdata_unpacked leave(struct gus_perfdata_packed *p, enum gus_perfdata_unpacked why)
{
	p->unpacked.n = p->used = p->left = 0;
	return why;
}

/* Where a frame begins anew, what came of the one before does not go on: a writer began again. */
static enum gus_perfdata_unpacked begin_frame(struct gus_perfdata_packed *p)
{
	bool begins = p->left >= sizeof(magic) && memcmp(p->in, magic, sizeof(magic)) == 0, unfinished;

	if (p->broken && !begins)
		return leave(p, GUS_PERFDATA_UNPACKED_BEHIND);
	if (!begins || !(p->within || p->broken))
		return GUS_PERFDATA_UNPACKED_RECORD;
	unfinished = gus_perfdata_packed_end(p);
	reset_frame(p);
	return unfinished ? GUS_PERFDATA_UNPACKED_UNFINISHED : GUS_PERFDATA_UNPACKED_RECORD;
}

/* What is packed is all behind the head, or as much as it says before. */
enum gus_perfdata_unpacked gus_perfdata_packed_begin(struct gus_perfdata_packed *p,
						     const struct gus_perfdata_framing *f,
						     const struct gus_perfdata_record *r)
{
	struct gus_cursor c = gus_cursor(r->bytes, r->size);
	uint64_t size;

	c.big_endian = f->big_endian;
	gus_cursor_take(&c, GUS_PERFDATA_RECORD_HEAD);
	size = r->type == GUS_PERFDATA_PACKED2 ? gus_cursor_u64(&c) : gus_cursor_left(&c);
	if (c.bad || size > gus_cursor_left(&c))
		return GUS_PERFDATA_UNPACKED_NO_RECORD;
	if (p->bytes.cut || p->records.cut)
		return GUS_PERFDATA_UNPACKED_TOO_MUCH;
	if (!p->zstd)
		p->zstd = ZSTD_createDStream();
	p->in = c.at;
	p->left = (size_t)size;
	p->offset = r->offset + gus_cursor_offset(&c);
	p->skipping = false;
	return begin_frame(p);
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
		p->broken = true;
		p->within = false;
		return GUS_PERFDATA_UNPACKED_BROKEN;
	}
	if (in.pos || out.pos > rest)
		p->within = said != 0;
	if (!gus_budget_charge(&p->bytes, out.pos - rest))
		return leave(p, GUS_PERFDATA_UNPACKED_TOO_MUCH);
	if (p->skipping)
		p->unpacked.n = 0;
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

		if (size > 0 && !gus_budget_charge(&p->records, 1))
			return leave(p, GUS_PERFDATA_UNPACKED_TOO_MUCH);
		if (size > 0) {
			p->used += (size_t)size;
			return got;
		}
		if (size < 0) { /* where this one began, the next that is packed is taken to begin with a record */
			p->unpacked.n = p->used = 0;
			p->skipping = true;
			return GUS_PERFDATA_UNPACKED_NO_RECORD;
		}
		got = p->zstd ? unpack(p) : GUS_PERFDATA_UNPACKED_NONE;
	}
	return got;
}

void gus_perfdata_packed_reset(struct gus_perfdata_packed *p)
{
	p->unpacked.n = p->used = p->left = 0;
	p->skipping = false;
	reset_frame(p);
}

void gus_perfdata_packed_free(struct gus_perfdata_packed *p)
{
	gus_vec_free(&p->unpacked);
	ZSTD_freeDStream(p->zstd);
}
