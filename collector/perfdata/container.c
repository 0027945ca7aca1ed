/* SPDX-License-Identifier: MIT */
/* Bytes are asked for at offsets, through one window that moves: of a pipe only forward. What the file says of offsets
 * and sizes is held to what it really has before anything is made of it.
 *
 *	window   [...........bytes.v...........)     offset `at` and on
 *	packed   [ rest of a record | unpacked ...)  records that were compressed, unpacked step by step */
#include "collector/perfdata/container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"
#include "base/limits.h"

enum { HEADER = 104, HEADER_WITHOUT_FEATURES = 72, PIPE_HEADER = 16, RECORD_HEADER = 8, SMALLEST_ATTR = 64 };
/* Types that are known: the kernel's (linux/perf_event.h), with some that it may yet get; perf's; simpleperf's own. */
enum { LAST_OF_KERNEL = 31, FIRST_OF_PERF = 64, LAST_OF_PERF = 95, FIRST_OF_SIMPLEPERF = 32768 };
/* How many records in a row are no chance, and how far they are looked for. */
enum { SEARCH_RECORDS = 6, SEARCH_MOST = 64 << 20 };
enum { WINDOW = 1 << 20, STEP = 1 << 18, FEATURE_WORDS = 4 };

struct section { uint64_t offset, size; };

struct gus_perfdata {
	char *name;
	int fd;
	bool stream, pipe, big_endian;
	bool simpleperf;                /* it has features of that program's */
	bool unaligned;                 /* some record's size was no multiple of eight */
	uint64_t size;                  /* of a file; of a stream not known */
	struct gus_vec(uint8_t) bytes;  /* the window */
	uint64_t at;                    /* its first byte's offset */
	bool over;                      /* nothing is behind the window */
	struct section attrs_at, data;
	int folder;                     /* -1: there are no further files */
	uid_t owner;
	struct { int fd; uint64_t size; struct section data; } first; /* the file that has the header */
	unsigned part;                  /* which of the others is read, from 1; 0: the first */
	uint64_t features_set[FEATURE_WORDS];
	struct section features_at[GUS_PERFDATA_FEATURES]; /* in `kept` */
	struct gus_vec(uint8_t) kept;   /* features */
	struct gus_vec(struct gus_perfdata_attr) attrs;
	uint64_t next;                  /* offset of the next record */
	struct gus_vec(uint8_t) unpacked;
	size_t unpacked_at;             /* of its next record */
	struct section packed;          /* what is being unpacked: bytes in the window that are left */
	ZSTD_DStream *zstd;
	struct gus_budget budget;       /* bytes that may come of unpacking */
	struct gus_budget ids;          /* of all events, that may be read */
	struct gus_perfdata_damage damage;
};

bool gus_perfdata_is(const void *bytes, size_t size)
{
	static const char *const magics[] = { "PERFILE2", "2ELIFREP", "PERFFILE", "ELIFFREP" };

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (size >= 8 && memcmp(bytes, magics[i], 8) == 0)
			return true;
	return false;
}

/* The window. */

static int read_more(struct gus_perfdata *p, size_t wanted, struct gus_error *err)
{
	gus_vec_reserve(&p->bytes, p->bytes.n + (wanted > WINDOW ? wanted : WINDOW));
	while (!p->over && wanted) {
		uint64_t offset = p->at + p->bytes.n;
		size_t room = p->bytes.room - p->bytes.n;
		ssize_t n = p->stream ? read(p->fd, p->bytes.v + p->bytes.n, room) :
			pread(p->fd, p->bytes.v + p->bytes.n, room, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gus_fail_errno(err, errno, "cannot read %s at offset %llu", p->name,
					      (unsigned long long)offset);
		p->over = n == 0;
		p->bytes.n += (size_t)n;
		wanted -= (size_t)n < wanted ? (size_t)n : wanted;
	}
	return 0;
}

/* What was before is not asked for again, of a stream; a file's window may go anywhere. */
static void move_to(struct gus_perfdata *p, uint64_t offset)
{
	uint64_t passed = offset - p->at;

	if (offset >= p->at && passed < p->bytes.n) {
		if (passed < WINDOW / 2)
			return;
		p->bytes.n -= (size_t)passed;
		memmove(p->bytes.v, p->bytes.v + passed, p->bytes.n);
	} else {
		p->bytes.n = 0;
		p->over = false;
	}
	p->at = offset;
}

/* Of a stream what is passed over has to be read. */
static int skip_to(struct gus_perfdata *p, uint64_t offset, struct gus_error *err)
{
	while (p->stream && !p->over && p->at + p->bytes.n < offset) {
		p->at += p->bytes.n;
		p->bytes.n = 0;
		if (read_more(p, 1, err) != 0)
			return -1;
	}
	return 0;
}

/* Up to size bytes at an offset: how many there are, and where they lie until the next call. -1: err. */
static int64_t look(struct gus_perfdata *p, uint64_t offset, size_t size, const uint8_t **bytes, struct gus_error *err)
{
	uint64_t have;

	if (skip_to(p, offset, err) != 0)
		return -1;
	if (!p->stream || offset <= p->at + p->bytes.n)
		move_to(p, offset);
	have = p->at + p->bytes.n > offset ? p->at + p->bytes.n - offset : 0;
	if (have < size && read_more(p, size - (size_t)have, err) != 0)
		return -1;
	have = p->at + p->bytes.n > offset ? p->at + p->bytes.n - offset : 0;
	*bytes = have ? p->bytes.v + (offset - p->at) : NULL;
	return (int64_t)(have < size ? have : size);
}

static struct gus_cursor cursor(const struct gus_perfdata *p, const void *bytes, size_t size)
{
	struct gus_cursor c = gus_cursor(bytes, size);

	c.big_endian = p->big_endian;
	return c;
}

int64_t gus_perfdata_read(struct gus_perfdata *p, uint64_t offset, void *into, size_t size, struct gus_error *err)
{
	const uint8_t *bytes;
	int64_t n = look(p, offset, size, &bytes, err);

	if (n > 0)
		memcpy(into, bytes, (size_t)n);
	return n;
}

/* Attributes. */

/* Bit fields begin at the lowest bit of a byte, or on machines of the other order at the highest; bytes stand as they
 * come. The one that has two bits, precise_ip, is turned with all others and has to be turned back. */
static uint64_t read_flags(struct gus_cursor *c)
{
	uint64_t flags = 0;

	for (unsigned i = 0; i < 8; i++) {
		unsigned byte = gus_cursor_u8(c), turned = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			turned |= (byte >> bit & 1) << (7 - bit);
		flags |= (uint64_t)(c->big_endian ? turned : byte) << 8 * i;
	}
	if (c->big_endian)
		flags = (flags & ~(UINT64_C(3) << GUS_PERFDATA_PRECISE)) |
			(flags >> GUS_PERFDATA_PRECISE & 1) << (GUS_PERFDATA_PRECISE + 1) |
			(flags >> (GUS_PERFDATA_PRECISE + 1) & 1) << GUS_PERFDATA_PRECISE;
	return flags;
}

/* Field by field; those behind its end are 0. */
static struct gus_perfdata_attr read_attr(struct gus_cursor c)
{
	struct gus_perfdata_attr a = { .type = gus_cursor_u32(&c), .size = gus_cursor_u32(&c) };

	a.config = gus_cursor_u64(&c);
	a.period = gus_cursor_u64(&c);
	a.sample_type = gus_cursor_u64(&c);
	a.read_format = gus_cursor_u64(&c);
	a.flags = read_flags(&c);
	gus_cursor_take(&c, 8); /* wakeup_events, bp_type */
	a.config1 = gus_cursor_u64(&c);
	a.config2 = gus_cursor_u64(&c);
	a.branch_type = gus_cursor_u64(&c);
	a.regs_user = gus_cursor_u64(&c);
	a.stack_user = gus_cursor_u32(&c);
	a.clockid = gus_cursor_u32(&c);
	a.regs_intr = gus_cursor_u64(&c);
	gus_cursor_take(&c, 8); /* aux_watermark, sample_max_stack */
	gus_cursor_take(&c, 8); /* aux_sample_size, aux_action */
	gus_cursor_take(&c, 8); /* sig_data */
	a.config3 = gus_cursor_u64(&c);
	a.config4 = gus_cursor_u64(&c);
	return a;
}

/* As much of it as the attribute says that it has: the first version's has no size. */
static struct gus_perfdata_attr attr_of(const struct gus_perfdata *p, const uint8_t *bytes, size_t room)
{
	struct gus_cursor c = cursor(p, bytes, room);
	uint32_t size;

	gus_cursor_u32(&c);
	size = gus_cursor_u32(&c);
	size = size < SMALLEST_ATTR ? SMALLEST_ATTR : size;
	return read_attr(cursor(p, bytes, size < room ? size : room));
}

/* Sections may lie over each other: all ids together are no more than the file has room for. They are read beside the
 * window, which stays at the events: it would have to move for each of them, and back. */
static int read_ids(struct gus_perfdata *p, struct gus_perfdata_attr *a, struct section at, struct gus_error *err)
{
	uint64_t most = p->size > at.offset ? (p->size - at.offset) / 8 : 0, n = at.size / 8;
	struct gus_vec(uint8_t) bytes = { 0 };
	struct gus_cursor c;
	ssize_t got = 1;

	if (n > most || !gus_budget_charge(&p->ids, n))
		return gus_fail(err, GUS_E_CORRUPT, "%s is corrupt: an event has %llu ids at offset %llu, which is "
				"more than the file holds", p->name, (unsigned long long)n,
				(unsigned long long)at.offset);
	gus_vec_reserve(&bytes, (size_t)n * 8 + 1);
	while (bytes.n < n * 8 && got != 0) {
		got = pread(p->fd, bytes.v + bytes.n, (size_t)n * 8 - bytes.n, (off_t)(at.offset + bytes.n));
		if (got < 0 && errno != EINTR)
			break;
		bytes.n += got > 0 ? (size_t)got : 0;
	}
	c = cursor(p, bytes.v, bytes.n);
	while (gus_cursor_left(&c) >= 8)
		gus_vec_push(&a->ids, gus_cursor_u64(&c));
	gus_vec_free(&bytes);
	return got >= 0 ? 0 : gus_fail_errno(err, errno, "cannot read %s at offset %llu", p->name,
					     (unsigned long long)at.offset);
}

static int read_attrs(struct gus_perfdata *p, uint64_t attr_size, struct gus_error *err)
{
	uint64_t n = attr_size ? p->attrs_at.size / attr_size : 0;

	if (attr_size < SMALLEST_ATTR + 16 || attr_size > 4096 || !n || n > GUS_LIMIT_PERFDATA_EVENTS)
		return gus_fail(err, GUS_E_CORRUPT, "%s is corrupt: its header has %llu bytes of events, of %llu each",
				p->name, (unsigned long long)p->attrs_at.size, (unsigned long long)attr_size);
	for (uint64_t i = 0; i < n; i++) {
		struct gus_perfdata_attr a;
		struct section ids;
		const uint8_t *bytes;
		struct gus_cursor c;

		if (look(p, p->attrs_at.offset + i * attr_size, (size_t)attr_size, &bytes, err) < (int64_t)attr_size)
			return gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends before its events do", p->name);
		a = attr_of(p, bytes, (size_t)attr_size - 16);
		c = cursor(p, bytes + attr_size - 16, 16);
		ids.offset = gus_cursor_u64(&c);
		ids.size = gus_cursor_u64(&c);
		if (read_ids(p, &a, ids, err) != 0) {
			gus_vec_free(&a.ids);
			return -1;
		}
		gus_vec_push(&p->attrs, a);
	}
	return 0;
}

/* Features. */

static void keep_feature(struct gus_perfdata *p, unsigned feature, const uint8_t *bytes, size_t size)
{
	p->features_at[feature] = (struct section){ p->kept.n, size };
	gus_vec_append(&p->kept, bytes, size);
}

static bool has_feature(const struct gus_perfdata *p, unsigned feature)
{
	return p->features_set[feature / 64] >> feature % 64 & 1;
}

/* Behind the data a table of where each is, in their order. What lies beyond the file is left out: its writer was cut
 * off. Large ones, which nobody asks for here, stay where they are. */
static int read_features(struct gus_perfdata *p, struct gus_error *err)
{
	uint64_t table = p->data.offset + p->data.size;

	for (unsigned i = 0; i < GUS_PERFDATA_FEATURES; i++) {
		const uint8_t *bytes;
		struct section at;
		struct gus_cursor c;
		int64_t have;

		if (!has_feature(p, i))
			continue;
		have = look(p, table, 16, &bytes, err);
		p->damage.features_cut |= have < 16;
		if (have < 16)
			return have < 0 ? -1 : 0;
		table += 16;
		c = cursor(p, bytes, 16);
		at.offset = gus_cursor_u64(&c);
		at.size = gus_cursor_u64(&c);
		p->damage.features_cut |= at.offset > p->size || at.size > p->size - at.offset;
		if (at.offset > p->size || at.size > p->size - at.offset ||
		    at.size > GUS_LIMIT_PERFDATA_FEATURE - p->kept.n)
			continue;
		have = look(p, at.offset, (size_t)at.size, &bytes, err);
		if (have < 0)
			return -1;
		keep_feature(p, i, bytes, (size_t)have);
	}
	return 0;
}

struct gus_cursor gus_perfdata_feature(const struct gus_perfdata *p, enum gus_perfdata_feature feature)
{
	const struct section *at = &p->features_at[feature];

	return cursor(p, at->size ? p->kept.v + at->offset : NULL, (size_t)at->size);
}

/* Opening. */

/* Words of 64 bits, as they should be. Some writers of the other byte order have turned 32 bits at a time: then the
 * host name, which all have, is found in the other half (tools/perf, header.c). */
static void read_feature_bits(struct gus_perfdata *p, struct gus_cursor *c)
{
	for (unsigned i = 0; i < FEATURE_WORDS; i++)
		p->features_set[i] = gus_cursor_u64(c);
	if (!p->big_endian || has_feature(p, GUS_PERFDATA_HOSTNAME))
		return;
	for (unsigned i = 0; i < FEATURE_WORDS; i++)
		p->features_set[i] = p->features_set[i] << 32 | p->features_set[i] >> 32;
}

static int open_file(struct gus_perfdata *p, uint64_t size, struct gus_error *err)
{
	const uint8_t *bytes;
	uint64_t attr_size;
	struct gus_cursor c;

	if (p->stream)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot read %s from a pipe: it is a perf.data file, whose "
				"parts refer to each other by offset; give its name instead", p->name);
	if (size != HEADER && size != HEADER_WITHOUT_FEATURES)
		return gus_fail(err, GUS_E_CORRUPT, "%s is corrupt: its header says that it has %llu bytes", p->name,
				(unsigned long long)size);
	if (look(p, 0, (size_t)size, &bytes, err) < (int64_t)size)
		return gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends within its header", p->name);
	c = cursor(p, bytes + 16, (size_t)size - 16);
	attr_size = gus_cursor_u64(&c);
	p->attrs_at = (struct section){ gus_cursor_u64(&c), gus_cursor_u64(&c) };
	p->data = (struct section){ gus_cursor_u64(&c), gus_cursor_u64(&c) };
	gus_cursor_take(&c, 16); /* names of event types, which perf no longer reads either */
	if (size == HEADER)
		read_feature_bits(p, &c);
	if (p->data.offset > p->size)
		return gus_fail(err, GUS_E_TRUNCATED, "%s was cut: its records were to begin at offset %llu, where it "
				"is over",
				p->name, (unsigned long long)p->data.offset);
	if (p->data.size > UINT64_MAX - p->data.offset)
		p->data.size = UINT64_MAX - p->data.offset;
	p->damage.unfinished = !p->data.size;
	if (p->damage.unfinished)
		p->data.size = p->size - p->data.offset;
	else if (read_features(p, err) != 0)
		return -1;
	p->simpleperf = p->features_set[2] || p->features_set[3];
	return read_attrs(p, attr_size, err);
}

static int open_any(struct gus_perfdata *p, struct gus_error *err)
{
	const uint8_t *bytes;
	int64_t have = look(p, 0, PIPE_HEADER, &bytes, err);
	struct gus_cursor c;
	uint64_t size;

	if (have < 0)
		return -1;
	if (!gus_perfdata_is(bytes, (size_t)have))
		return gus_fail(err, GUS_E_CORRUPT, "%s is no perf.data: it does not begin with its mark", p->name);
	if (have < PIPE_HEADER)
		return gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends within its header", p->name);
	p->big_endian = bytes[0] != 'P';
	c = cursor(p, bytes + 8, 8);
	size = gus_cursor_u64(&c);
	p->pipe = size == PIPE_HEADER;
	if (!p->pipe)
		return open_file(p, size, err);
	p->data = (struct section){ PIPE_HEADER, UINT64_MAX - PIPE_HEADER };
	return 0;
}

struct gus_perfdata *gus_perfdata_open(int fd, bool stream, const char *name, struct gus_error *err)
{
	static const struct gus_limit unpacked = GUS_LIMIT_PERFDATA_UNPACKED;
	struct gus_perfdata *p = gus_zalloc(sizeof(*p));
	struct stat st;

	p->name = gus_strdup(name);
	p->fd = fd;
	p->stream = stream;
	if (!stream && fstat(fd, &st) == 0) {
		p->size = (uint64_t)st.st_size;
		p->owner = st.st_uid;
	}
	p->budget = gus_budget_of(unpacked, stream ? UINT64_MAX : p->size);
	p->ids.left = GUS_LIMIT_PERFDATA_IDS;
	if (open_any(p, err) != 0) {
		gus_perfdata_close(p);
		return NULL;
	}
	p->next = p->data.offset;
	p->folder = -1;
	p->first.fd = fd;
	p->first.size = p->size;
	p->first.data = p->data;
	return p;
}

static void forget_attrs(struct gus_perfdata *p)
{
	for (size_t i = 0; i < p->attrs.n; i++)
		gus_vec_free(&p->attrs.v[i].ids);
	p->attrs.n = 0;
}

void gus_perfdata_close(struct gus_perfdata *p)
{
	if (!p)
		return;
	forget_attrs(p);
	gus_vec_free(&p->attrs);
	gus_vec_free(&p->bytes);
	gus_vec_free(&p->kept);
	gus_vec_free(&p->unpacked);
	ZSTD_freeDStream(p->zstd);
	if (p->part)
		close(p->fd);
	free(p->name);
	free(p);
}

const struct gus_perfdata_attr *gus_perfdata_attr(const struct gus_perfdata *p, size_t i)
{
	return &p->attrs.v[i];
}

size_t gus_perfdata_attrs(const struct gus_perfdata *p)
{
	return p->attrs.n;
}

bool gus_perfdata_is_big_endian(const struct gus_perfdata *p)
{
	return p->big_endian;
}

bool gus_perfdata_is_simpleperf(const struct gus_perfdata *p)
{
	return p->simpleperf;
}

bool gus_perfdata_is_pipe(const struct gus_perfdata *p)
{
	return p->pipe;
}

const struct gus_perfdata_damage *gus_perfdata_damage(const struct gus_perfdata *p)
{
	return &p->damage;
}

/* Records. */

static void note_bad(struct gus_perfdata *p, uint64_t offset)
{
	if (!p->damage.bad++)
		p->damage.first_bad = offset;
}

/* An attribute of a pipe, and its ids to the record's end. */
static void take_attr(struct gus_perfdata *p, const struct gus_perfdata_record *r)
{
	size_t room = r->size - RECORD_HEADER, size;
	struct gus_perfdata_attr a;
	struct gus_cursor c;

	if (room < SMALLEST_ATTR || p->attrs.n == GUS_LIMIT_PERFDATA_EVENTS)
		return;
	a = attr_of(p, r->bytes + RECORD_HEADER, room);
	size = a.size < SMALLEST_ATTR ? SMALLEST_ATTR : a.size;
	c = cursor(p, r->bytes + RECORD_HEADER, room);
	gus_cursor_take(&c, size);
	while (gus_cursor_left(&c) >= 8 && gus_budget_charge(&p->ids, 1))
		gus_vec_push(&a.ids, gus_cursor_u64(&c));
	gus_vec_push(&p->attrs, a);
}

static void take_feature(struct gus_perfdata *p, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = cursor(p, r->bytes + RECORD_HEADER, r->size - RECORD_HEADER);
	uint64_t feature = gus_cursor_u64(&c);

	if (!c.bad && feature < GUS_PERFDATA_FEATURES && p->kept.n < GUS_LIMIT_PERFDATA_FEATURE)
		keep_feature(p, (unsigned)feature, c.at, gus_cursor_left(&c));
}

/* What stands behind a record and belongs to it. Simpleperf has tracing data in the record itself. */
static void find_beside(struct gus_perfdata *p, struct gus_perfdata_record *r)
{
	struct gus_cursor c = cursor(p, r->bytes + RECORD_HEADER, r->size - RECORD_HEADER);

	r->beside = r->offset + r->size;
	if (r->type == GUS_PERFDATA_AUXTRACE)
		r->beside_size = gus_cursor_u64(&c);
	else if (r->type == GUS_PERFDATA_TRACING)
		r->beside_size = (gus_cursor_u32(&c) + UINT64_C(7)) & ~UINT64_C(7);
	if (r->type == GUS_PERFDATA_TRACING && gus_cursor_left(&c) >= r->beside_size)
		r->beside_size = 0;
}

/* A record whose bytes these are, and more. Its size; 0: it goes on behind them; -1: it cannot be. Simpleperf's own
 * have sizes of 32 bits, the upper ones in place of misc: all but their headers counts as what stands beside them. */
static int64_t head_of(const struct gus_perfdata *p, const uint8_t *bytes, size_t have,
		       struct gus_perfdata_record *r)
{
	struct gus_cursor c = cursor(p, bytes, have);

	r->type = gus_cursor_u32(&c);
	r->misc = gus_cursor_u16(&c);
	r->size = gus_cursor_u16(&c);
	r->bytes = bytes;
	r->beside_size = 0;
	if (c.bad)
		return 0;
	if (r->type >= FIRST_OF_SIMPLEPERF && p->simpleperf) {
		uint64_t whole = (uint64_t)r->misc << 16 | r->size;

		r->beside_size = whole > RECORD_HEADER ? whole - RECORD_HEADER : 0;
		r->size = whole < RECORD_HEADER ? 0 : RECORD_HEADER;
	}
	if (r->size < RECORD_HEADER)
		return -1;
	return r->size > have ? 0 : (int64_t)r->size;
}

/* Unpacks some more of what is being unpacked. False: all of it is. */
static bool unpack(struct gus_perfdata *p)
{
	size_t rest = p->unpacked.n - p->unpacked_at;
	ZSTD_inBuffer in;
	ZSTD_outBuffer out;
	size_t said;

	gus_vec_reserve(&p->unpacked, rest + STEP);
	memmove(p->unpacked.v, p->unpacked.v + p->unpacked_at, rest);
	p->unpacked.n = rest;
	p->unpacked_at = 0;
	in = (ZSTD_inBuffer){ p->bytes.v + (p->packed.offset - p->at), (size_t)p->packed.size, 0 };
	out = (ZSTD_outBuffer){ p->unpacked.v, rest + STEP, rest };
	said = ZSTD_decompressStream(p->zstd, &out, &in);
	p->packed.offset += in.pos;
	p->packed.size -= in.pos;
	p->unpacked.n = out.pos;
	if (ZSTD_isError(said)) {
		note_bad(p, p->packed.offset);
		p->damage.skipped += p->packed.size;
		ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
		p->packed.size = 0;
		return false;
	}
	if (!gus_budget_charge(&p->budget, out.pos - rest)) {
		p->damage.too_much = true;
		p->packed.size = 0;
		return false;
	}
	/* What it holds back for want of room comes with the next call. */
	return out.pos > rest || in.pos > 0;
}

/* The next record of those that were packed. */
static bool next_unpacked(struct gus_perfdata *p, struct gus_perfdata_record *r)
{
	for (;;) {
		size_t rest = p->unpacked.n - p->unpacked_at;
		int64_t size = head_of(p, rest ? p->unpacked.v + p->unpacked_at : NULL, rest, r);

		if (size > 0) {
			p->unpacked_at += (size_t)size;
			return true;
		}
		if (size < 0) { /* nothing says where the next one begins */
			note_bad(p, r->offset);
			p->unpacked.n = p->unpacked_at = 0;
			p->packed.size = 0;
			return false;
		}
		if (!p->zstd || !unpack(p))
			return false;
	}
}

/* What is packed of it: all behind the header, or as much as it says before. */
static void begin_packed(struct gus_perfdata *p, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = cursor(p, r->bytes + RECORD_HEADER, r->size - RECORD_HEADER);
	uint64_t size = r->type == GUS_PERFDATA_PACKED2 ? gus_cursor_u64(&c) : gus_cursor_left(&c);

	if (!p->zstd)
		p->zstd = ZSTD_createDStream();
	if (c.bad || size > gus_cursor_left(&c)) {
		note_bad(p, r->offset);
		return;
	}
	p->packed = (struct section){ r->offset + (uint64_t)(c.at - r->bytes), size };
}

/* Reads on in another file. */
static void turn_to(struct gus_perfdata *p, int fd, uint64_t size, struct section data)
{
	if (p->fd != p->first.fd)
		close(p->fd);
	p->fd = fd;
	p->size = size;
	p->data = data;
	p->next = data.offset;
	p->at = p->bytes.n = 0;
	p->over = false;
	p->unpacked.n = p->unpacked_at = 0;
	p->packed.size = 0;
	if (p->zstd)
		ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
}

/* Bytes that packed records may come to in a file of that size. */
static uint64_t unpacked_of(uint64_t size)
{
	static const struct gus_limit unpacked = GUS_LIMIT_PERFDATA_UNPACKED;

	return gus_budget_of(unpacked, size).left;
}

/* False: there is none. One of another owner than the first is none of its recording: whose that is decides with whose
 * rights files are opened that records name, and the first may be a link. */
static bool next_part(struct gus_perfdata *p)
{
	struct stat st;
	char name[32];
	int fd;

	if (p->folder < 0)
		return false;
	snprintf(name, sizeof(name), "data.%u", p->part);
	fd = openat(p->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != p->owner) {
		note_bad(p, p->next);
		close(fd);
		return false;
	}
	p->part++;
	/* what is free is so once, not for each */
	p->budget.left += unpacked_of((uint64_t)st.st_size) - unpacked_of(0);
	turn_to(p, fd, (uint64_t)st.st_size, (struct section){ 0, (uint64_t)st.st_size });
	return true;
}

void gus_perfdata_in_folder(struct gus_perfdata *p, int folder)
{
	p->folder = folder;
}

/* Records have no mark of their own: one whose size is wrong leaves the place of the next one in doubt. So it is looked
 * at whether what comes next can be one: of a type that is known, of a size that such have. */

/* The kernel's records are multiples of eight bytes; some of perf's are not. */
static bool is_known(const struct gus_perfdata_record *r)
{
	return (r->type >= 1 && r->type <= LAST_OF_KERNEL && r->size % 8 == 0) ||
	       (r->type >= FIRST_OF_PERF && r->type <= LAST_OF_PERF);
}

/* Whether a known record's head stands at offset, or all that is read is over there; next: where the one behind it
 * is. */
static bool is_record(struct gus_perfdata *p, uint64_t offset, uint64_t end, uint64_t *next, struct gus_error *err)
{
	struct gus_perfdata_record r;
	const uint8_t *bytes;
	int64_t have;

	*next = end;
	if (offset == end)
		return true;
	have = look(p, offset, RECORD_HEADER, &bytes, err);
	if (have < RECORD_HEADER)
		return have == 0; /* there it is cut */
	head_of(p, bytes, (size_t)have, &r);
	if (r.size < RECORD_HEADER || r.size > end - offset || !is_known(&r))
		return false;
	r.offset = offset;
	*next = offset + r.size;
	return true;
}

/* Behind a place that is no record the next one, which several others follow: where they are by chance so, nothing
 * tells. `end` if there is none, or it is too far. */
static uint64_t find_record(struct gus_perfdata *p, uint64_t from, uint64_t end, struct gus_error *err)
{
	uint64_t until = end - from > SEARCH_MOST ? from + SEARCH_MOST : end;

	for (uint64_t at = from + (p->unaligned ? 1 : 8); at < until && at < end; at += p->unaligned ? 1 : 8) {
		uint64_t next = at;
		unsigned n = 0;

		while (n < SEARCH_RECORDS && next < end && next - at < WINDOW / 4 &&
		       is_record(p, next, end, &next, err))
			n++;
		if (n == SEARCH_RECORDS || (n > 0 && next == end) || (n > 1 && next - at >= WINDOW / 4))
			return at;
	}
	return end;
}

/* Ends reading, or goes on behind what is no record. */
static void pass_bad(struct gus_perfdata *p, uint64_t end, struct gus_error *err)
{
	uint64_t over = !p->stream && p->size < end ? p->size : end;
	uint64_t next = p->stream ? end : find_record(p, p->next, over, err);

	note_bad(p, p->next);
	p->damage.skipped += (p->stream ? 0 : next) - (p->stream ? 0 : p->next);
	p->next = next == over ? end : next;
}

/* What is beside it may go on behind the end of what there is. */
static void clip_beside(struct gus_perfdata *p, struct gus_perfdata_record *r, uint64_t end)
{
	uint64_t over = !p->stream && p->size < end ? p->size : end;
	uint64_t left = over > p->next ? over - p->next : 0;

	if (r->beside_size > left) {
		p->damage.cut += left;
		p->damage.ended_early = true;
		r->beside_size = left;
		p->next = end;
	} else {
		p->next += r->beside_size;
	}
}

/* The next record as it stands in the file. */
static int next_plain(struct gus_perfdata *p, struct gus_perfdata_record *r, struct gus_error *err)
{
	uint64_t end = p->data.offset + p->data.size;

	for (;;) {
		uint64_t left = end - p->next, behind;
		size_t most = left < UINT16_MAX ? (size_t)left : UINT16_MAX;
		const uint8_t *bytes;
		int64_t have = look(p, p->next, most, &bytes, err), size;

		if (have <= 0) {
			p->damage.ended_early |= have == 0 && !p->stream &&
				(p->pipe && !p->part ? p->next < p->size : left > 0);
			return (int)have;
		}
		r->offset = p->next;
		size = head_of(p, bytes, (size_t)have, r);
		if (size > 0 && !is_known(r) && !(p->simpleperf && r->type >= FIRST_OF_SIMPLEPERF) &&
		    !is_record(p, p->next + r->size, end, &behind, err))
			size = -1;
		if (size < 0) {
			pass_bad(p, end, err);
			continue;
		}
		if (size == 0) {
			p->damage.cut += (uint64_t)have;
			p->next = end;
			return 0;
		}
		look(p, p->next, most, &r->bytes, err); /* it may have moved */
		p->unaligned |= r->size % 8 != 0;
		find_beside(p, r);
		p->next += r->size;
		clip_beside(p, r, end);
		return 1;
	}
}

int gus_perfdata_next(struct gus_perfdata *p, struct gus_perfdata_record *r, struct gus_error *err)
{
	for (;;) {
		int found;

		if (p->packed.size || p->unpacked_at < p->unpacked.n) {
			r->offset = p->packed.offset;
			if (next_unpacked(p, r))
				return 1;
		}
		found = next_plain(p, r, err);
		if (found == 0 && next_part(p))
			continue;
		if (found <= 0)
			return found;
		if (r->type == GUS_PERFDATA_PACKED || r->type == GUS_PERFDATA_PACKED2) {
			begin_packed(p, r);
			continue;
		}
		if (p->pipe && r->type == GUS_PERFDATA_ATTR)
			take_attr(p, r);
		else if (r->type == GUS_PERFDATA_FEATURE)
			take_feature(p, r);
		return 1;
	}
}

void gus_perfdata_rewind(struct gus_perfdata *p)
{
	static const struct gus_limit unpacked = GUS_LIMIT_PERFDATA_UNPACKED;
	bool unfinished = p->damage.unfinished, cut = p->damage.features_cut;

	p->damage = (struct gus_perfdata_damage){ .unfinished = unfinished, .features_cut = cut };
	p->unaligned = false;
	p->ids = (struct gus_budget){ .left = GUS_LIMIT_PERFDATA_IDS };
	turn_to(p, p->first.fd, p->first.size, p->first.data);
	p->part = 0;
	p->budget = gus_budget_of(unpacked, p->size);
	if (!p->pipe)
		return;
	forget_attrs(p);
	p->kept.n = 0;
	memset(p->features_at, 0, sizeof(p->features_at));
}
