/* SPDX-License-Identifier: MIT */
/* Bytes are asked for at offsets, through one window that moves. What the file says of offsets and sizes is held to
 * what it really has before anything is made of it. */
#include "collector/perfdata/container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "collector/perfdata/attr.h"
#include "collector/perfdata/features.h"
#include "collector/perfdata/packed.h"
#include "collector/perfdata/record.h"
#include "collector/perfdata/window.h"

enum { HEADER = 104, HEADER_WITHOUT_FEATURES = 72, PIPE_HEADER = 16 };

struct section { uint64_t offset, size; };

struct gus_perfdata {
	char *name;
	bool pipe;
	uint64_t size;                  /* of the file that is read */
	struct gus_perfdata_window window;
	struct gus_perfdata_framing framing;
	struct gus_perfdata_packed packed;
	struct section attrs_at, data;
	int folder;                     /* -1: there are no further files */
	uid_t owner;
	struct { int fd; uint64_t size; struct section data; } first; /* the file that has the header */
	unsigned part;                  /* which of the others is read, from 1; 0: the first */
	struct gus_perfdata_features features;
	struct gus_vec(struct gus_perfdata_attr) attrs;
	uint64_t next;                  /* offset of the next record */
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

static struct gus_cursor cursor(const struct gus_perfdata *p, const void *bytes, size_t size)
{
	struct gus_cursor c = gus_cursor(bytes, size);

	c.big_endian = p->framing.big_endian;
	return c;
}

static int64_t look(struct gus_perfdata *p, uint64_t offset, size_t size, const uint8_t **bytes, struct gus_error *err)
{
	return gus_perfdata_window_look(&p->window, offset, size, bytes, err);
}

int64_t gus_perfdata_read(struct gus_perfdata *p, uint64_t offset, void *into, size_t size, struct gus_error *err)
{
	const uint8_t *bytes;
	int64_t n = look(p, offset, size, &bytes, err);

	if (n > 0)
		memcpy(into, bytes, (size_t)n);
	return n;
}

/* What is behind a record's head. */
static struct gus_cursor body_of(const struct gus_perfdata *p, const struct gus_perfdata_record *r)
{
	return cursor(p, r->bytes + GUS_PERFDATA_RECORD_HEAD, r->size - GUS_PERFDATA_RECORD_HEAD);
}

/* Attributes. */

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
		got = pread(p->window.fd, bytes.v + bytes.n, (size_t)n * 8 - bytes.n, (off_t)(at.offset + bytes.n));
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

	if (attr_size < GUS_PERFDATA_ATTR_SMALLEST + 16 || attr_size > 4096 || !n || n > GUS_LIMIT_PERFDATA_EVENTS)
		return gus_fail(err, GUS_E_CORRUPT, "%s is corrupt: its header has %llu bytes of events, of %llu each",
				p->name, (unsigned long long)p->attrs_at.size, (unsigned long long)attr_size);
	for (uint64_t i = 0; i < n; i++) {
		struct gus_perfdata_attr a;
		struct section ids;
		const uint8_t *bytes;
		struct gus_cursor c;

		if (look(p, p->attrs_at.offset + i * attr_size, (size_t)attr_size, &bytes, err) < (int64_t)attr_size)
			return gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends before its events do", p->name);
		a = gus_perfdata_attr_read(cursor(p, bytes, (size_t)attr_size - 16));
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

/* Opening. */

static int open_file(struct gus_perfdata *p, uint64_t size, struct gus_error *err)
{
	const uint8_t *bytes;
	uint64_t attr_size;
	struct gus_cursor c;

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
		gus_perfdata_features_note(&p->features, &c);
	if (p->data.offset > p->size)
		return gus_fail(err, GUS_E_TRUNCATED, "%s was cut: its records were to begin at offset %llu, where it "
				"is over",
				p->name, (unsigned long long)p->data.offset);
	if (p->data.size > UINT64_MAX - p->data.offset)
		p->data.size = UINT64_MAX - p->data.offset;
	p->damage.unfinished = !p->data.size;
	if (p->damage.unfinished)
		p->data.size = p->size - p->data.offset;
	else if (gus_perfdata_features_read(&p->features, &p->window, p->data.offset + p->data.size, p->size,
					    &p->damage.features_cut, err) != 0)
		return -1;
	p->framing.simpleperf = p->features.set[2] || p->features.set[3];
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
	p->framing.big_endian = p->features.big_endian = bytes[0] != 'P';
	c = cursor(p, bytes + 8, 8);
	size = gus_cursor_u64(&c);
	p->pipe = size == PIPE_HEADER;
	if (!p->pipe)
		return open_file(p, size, err);
	p->data = (struct section){ PIPE_HEADER, UINT64_MAX - PIPE_HEADER };
	return 0;
}

struct gus_perfdata *gus_perfdata_open(int fd, const char *name, struct gus_error *err)
{
	struct gus_perfdata *p = gus_zalloc(sizeof(*p));
	struct stat st;

	p->name = gus_strdup(name);
	p->window.name = p->name;
	p->window.fd = fd;
	if (fstat(fd, &st) == 0) {
		p->size = (uint64_t)st.st_size;
		p->owner = st.st_uid;
	}
	gus_perfdata_packed_allow(&p->packed, p->size);
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
	gus_perfdata_features_free(&p->features);
	gus_perfdata_packed_free(&p->packed);
	if (p->part)
		close(p->window.fd);
	gus_perfdata_window_free(&p->window);
	free(p->name);
	free(p);
}

struct gus_cursor gus_perfdata_feature(const struct gus_perfdata *p, unsigned feature)
{
	return gus_perfdata_features_find(&p->features, feature);
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
	return p->framing.big_endian;
}

bool gus_perfdata_is_simpleperf(const struct gus_perfdata *p)
{
	return p->framing.simpleperf;
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
	p->damage.bad++;
	p->damage.last_bad = offset;
	p->damage.bad_packed = false;
}

/* An attribute of a pipe, and its ids to the record's end. */
static void take_attr(struct gus_perfdata *p, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = body_of(p, r);
	struct gus_perfdata_attr a;

	if (gus_cursor_left(&c) < GUS_PERFDATA_ATTR_SMALLEST || p->attrs.n == GUS_LIMIT_PERFDATA_EVENTS)
		return;
	a = gus_perfdata_attr_read(c);
	gus_cursor_take(&c, a.size < GUS_PERFDATA_ATTR_SMALLEST ? GUS_PERFDATA_ATTR_SMALLEST : a.size);
	while (gus_cursor_left(&c) >= 8 && gus_budget_charge(&p->ids, 1))
		gus_vec_push(&a.ids, gus_cursor_u64(&c));
	gus_vec_push(&p->attrs, a);
}

/* What stands behind a record and belongs to it. Simpleperf has tracing data in the record itself. */
static void find_beside(struct gus_perfdata *p, struct gus_perfdata_record *r)
{
	struct gus_cursor c = body_of(p, r);

	r->beside = r->offset + r->size;
	if (r->type == GUS_PERFDATA_AUXTRACE)
		r->beside_size = gus_cursor_u64(&c);
	else if (r->type == GUS_PERFDATA_TRACING)
		r->beside_size = (gus_cursor_u32(&c) + UINT64_C(7)) & ~UINT64_C(7);
	if (r->type == GUS_PERFDATA_TRACING && gus_cursor_left(&c) >= r->beside_size)
		r->beside_size = 0;
}

/* Reads on in another file. */
static void turn_to(struct gus_perfdata *p, int fd, uint64_t size, struct section data)
{
	if (p->window.fd != p->first.fd)
		close(p->window.fd);
	gus_perfdata_window_turn(&p->window, fd);
	gus_perfdata_packed_reset(&p->packed);
	p->size = size;
	p->data = data;
	p->next = data.offset;
}

static void end_packed(struct gus_perfdata *p)
{
	p->damage.unfinished_records += gus_perfdata_packed_end(&p->packed);
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
	end_packed(p);
	gus_perfdata_packed_allow_more(&p->packed, (uint64_t)st.st_size);
	turn_to(p, fd, (uint64_t)st.st_size, (struct section){ 0, (uint64_t)st.st_size });
	return true;
}

void gus_perfdata_in_folder(struct gus_perfdata *p, int folder)
{
	p->folder = folder;
}

/* Goes on behind what is no record: at the next one, or where it is over. */
static void pass_bad(struct gus_perfdata *p, uint64_t end, struct gus_error *err)
{
	uint64_t over = p->size < end ? p->size : end;
	uint64_t next = gus_perfdata_record_find(&p->framing, &p->window, p->next, over, err);

	note_bad(p, p->next);
	p->damage.skipped += next - p->next;
	p->next = next;
}

/* What is beside it may go on behind the end of what there is. */
static void clip_beside(struct gus_perfdata *p, struct gus_perfdata_record *r, uint64_t end)
{
	uint64_t over = p->size < end ? p->size : end;
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
			p->damage.ended_early |= have == 0 &&
				(p->pipe && !p->part ? p->next < p->size : left > 0);
			return (int)have;
		}
		r->offset = p->next;
		size = gus_perfdata_record_head(&p->framing, bytes, (size_t)have, r);
		if (size > 0 && !gus_perfdata_record_is_known(r) &&
		    !(p->framing.simpleperf && r->type >= GUS_PERFDATA_FIRST_OF_SIMPLEPERF) &&
		    !gus_perfdata_record_is_at(&p->framing, &p->window, p->next + r->size, end, &behind, err))
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
		p->framing.unaligned |= r->size % 8 != 0;
		find_beside(p, r);
		p->next += r->size;
		clip_beside(p, r, end);
		return 1;
	}
}

/* What of packed records is none. */
static void note_packed(struct gus_perfdata *p, enum gus_perfdata_unpacked what, uint64_t offset)
{
	switch (what) {
	case GUS_PERFDATA_UNPACKED_NO_RECORD:
		note_bad(p, offset);
		break;
	case GUS_PERFDATA_UNPACKED_BROKEN:
		note_bad(p, offset);
		p->damage.bad_packed = true;
		p->damage.skipped += p->packed.left;
		p->packed.left = 0;
		break;
	case GUS_PERFDATA_UNPACKED_BEHIND:
		p->damage.behind_bad++;
		break;
	case GUS_PERFDATA_UNPACKED_UNFINISHED:
		p->damage.unfinished_records++;
		break;
	case GUS_PERFDATA_UNPACKED_TOO_MUCH:
		p->damage.too_much = true;
		break;
	case GUS_PERFDATA_UNPACKED_RECORD:
	case GUS_PERFDATA_UNPACKED_NONE:
		break;
	}
}

/* The next record of those that were packed. */
static bool next_unpacked(struct gus_perfdata *p, struct gus_perfdata_record *r)
{
	enum gus_perfdata_unpacked got = GUS_PERFDATA_UNPACKED_NO_RECORD;

	while (got == GUS_PERFDATA_UNPACKED_NO_RECORD && gus_perfdata_packed_has_more(&p->packed)) {
		r->offset = p->packed.offset;
		got = gus_perfdata_packed_next(&p->packed, &p->framing, r);
		note_packed(p, got, p->packed.offset);
	}
	return got == GUS_PERFDATA_UNPACKED_RECORD;
}

int gus_perfdata_next(struct gus_perfdata *p, struct gus_perfdata_record *r, struct gus_error *err)
{
	for (;;) {
		int found;

		if (next_unpacked(p, r))
			return 1;
		found = next_plain(p, r, err);
		if (found == 0 && next_part(p))
			continue;
		if (found == 0)
			end_packed(p);
		if (found <= 0)
			return found;
		if (r->type == GUS_PERFDATA_PACKED || r->type == GUS_PERFDATA_PACKED2) {
			note_packed(p, gus_perfdata_packed_begin(&p->packed, &p->framing, r), r->offset);
			continue;
		}
		if (p->pipe && r->type == GUS_PERFDATA_ATTR)
			take_attr(p, r);
		else if (r->type == GUS_PERFDATA_FEATURE)
			gus_perfdata_features_take(&p->features, body_of(p, r));
		return 1;
	}
}

void gus_perfdata_rewind(struct gus_perfdata *p)
{
	bool unfinished = p->damage.unfinished, cut = p->damage.features_cut;

	p->damage = (struct gus_perfdata_damage){ .unfinished = unfinished, .features_cut = cut };
	p->framing.unaligned = false;
	p->ids = (struct gus_budget){ .left = GUS_LIMIT_PERFDATA_IDS };
	turn_to(p, p->first.fd, p->first.size, p->first.data);
	p->part = 0;
	gus_perfdata_packed_allow(&p->packed, p->size);
	if (!p->pipe)
		return;
	forget_attrs(p);
	gus_perfdata_features_clear(&p->features);
}
