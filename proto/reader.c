/* SPDX-License-Identifier: MIT */
/* Reading what may be damaged. A recording is worth most when something went wrong: its recorder was killed, the disk
 * was full, the file came over a bad line. So one broken place must cost the frame that it is in and no more, and
 * nothing may be lost in silence: a profile that stops early looks like a good one.
 *
 *	preamble | frame 0 | frame 1 | #### | frame 3 | ... | footer | trailer
 *	         ^ at                ^ corrupt: at moves to the next header whose checksum is right
 *
 * What makes that possible, and why it takes two checksums and a number for each frame:
 * - A frame's header has a checksum of its own. If that is right, so is the length, and a payload that is broken can be
 *   stepped over exactly. With one sum over all, a flipped bit in a payload would leave the length in doubt as well.
 * - If the header is wrong, nothing in it can be believed, its length included. Then the bytes are searched for the
 *   next mark "GFRM" that begins a header whose checksum is right. The mark alone is found once in 4 GiB of random
 *   bytes; with 64 bits of sum it is no accident.
 * - The payload's checksum says whether what is in the frame may be used at all. It is over the bytes as stored, so
 *   they are not given to zstd before they are known to be those that were written.
 * - Checksums can't see what is not there. The sequence numbers do: a gap tells how many frames are gone, whether they
 *   were skipped by the search or never were in these bytes; a number that was already passed is a frame that was
 *   copied.
 *
 * What holds whatever the bytes are:
 * - Each call that finds something wrong moves `at` on by a byte or more, so reading comes to an end, and no more
 *   places are corrupt than there are bytes.
 * - Every byte between the preamble and the end is in a frame that was delivered or passed over, in one that was
 *   counted as corrupt, in skipped_bytes, or behind cut_offset.
 * - A frame that is delivered has both its checksums, and comes behind all that were delivered before.
 * - Memory is bounded by the limits of container.h, which are looked at before anything is allocated.
 *
 * Known limit: a page or an image in a recording may itself be a recording, with headers that are good. If it was
 * stored as it is, because zstd could not make it smaller, and the header before it is broken, the search ends there.
 * Of what it finds, frames whose number was already passed are refused; one with a larger number is taken for ours.
 *
 * Frames that are gone just before the trailer leave no gap in the numbers, as nothing follows that has one. Then the
 * footer is gone, too, and the trailer stands where it may not. */
#include "proto/reader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "proto/sample.h"

/* How far apart the search for the next whole frame reads. */
#define SEARCH_CHUNK (64u << 10)
/* What a pipe is asked for at least. It gives what it has, 64 KiB by default, so this is no wait. */
#define STREAM_CHUNK (256u << 10)

struct head {
	uint32_t mark;
	uint16_t type;
	uint8_t coding, zero;
	uint32_t stored, raw;
	uint64_t sequence, payload_sum, sum;
};

struct gus_reader {
	char *name;               /* for messages */
	int fd;                   /* -1 over memory, and over a source */
	struct gus_reader_source source; /* next is NULL if there is none */
	const uint8_t *memory;
	uid_t owner;              /* of the file, if it is one */
	bool is_file;
	bool is_stream;           /* fd is read once, from front to back: */
	struct gus_vec(uint8_t) ahead; /* what was read and is still wanted, ... */
	uint64_t ahead_at;        /* ... from this offset on */
	uint64_t passed;          /* nothing before this one is wanted */
	uint64_t size;            /* of the memory; of the file, when it was opened */
	uint64_t at;              /* offset of the next frame */
	uint64_t expected;        /* its sequence number: one more than that of the last good header */
	bool footer_seen, over;
	bool end_damaged;         /* what stands behind the footer was no trailer, and was told as corrupt */
	bool preamble_bad, preamble_told;
	uint64_t from, to;        /* frames wholly outside are skipped */
	Gusprof__Index *index;    /* NULL if there is none, or it was not asked for */
	uint8_t *stored, *raw;
	size_t stored_room, raw_room;
	ZSTD_DCtx *zstd;
	Gusprof__Header *header;
	struct gus_damage damage;
};

static ssize_t failed_to_read(const struct gus_reader *r, uint64_t offset, struct gus_error *err)
{
	return gus_fail_errno(err, errno, "cannot read %s at offset %llu", r->name, (unsigned long long)offset);
}

/* What lies before offset is not asked for again. The header's frame is, until it was taken: opening reads it, and the
 * caller gets it once more as the first. */
static void pass(struct gus_reader *r, uint64_t offset)
{
	if (r->is_stream && r->header)
		r->passed = offset;
}

/* Only when there is more to read: so what is kept is moved once for each piece that comes, not for each frame. */
static void forget_passed(struct gus_reader *r)
{
	uint64_t passed = r->passed - r->ahead_at;
	size_t n = passed < r->ahead.n ? (size_t)passed : r->ahead.n;

	if (!n)
		return;
	r->ahead.n -= n;
	r->ahead_at += n;
	memmove(r->ahead.v, r->ahead.v + n, r->ahead.n);
}

/* Bytes until size of them lie at offset, or there are no more. */
static int read_ahead(struct gus_reader *r, uint64_t offset, size_t size, struct gus_error *err)
{
	while (r->ahead_at + r->ahead.n < offset + size) {
		ssize_t n;

		forget_passed(r);
		gus_vec_reserve(&r->ahead, (size_t)(offset + size - r->ahead_at) + STREAM_CHUNK);
		n = read(r->fd, r->ahead.v + r->ahead.n, r->ahead.room - r->ahead.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return (int)failed_to_read(r, r->ahead_at + r->ahead.n, err);
		if (n == 0)
			break;
		r->ahead.n += (size_t)n;
	}
	return 0;
}

/* Up to size bytes at offset; returns how many there are, or -1 with err. */
static ssize_t read_at(struct gus_reader *r, uint64_t offset, void *out, size_t size, struct gus_error *err)
{
	size_t done = 0;

	if (r->is_stream && read_ahead(r, offset, size, err) != 0)
		return -1;
	if (r->fd < 0 || r->is_stream) {
		const uint8_t *bytes = r->is_stream ? r->ahead.v : r->memory;
		uint64_t from = r->is_stream ? offset - r->ahead_at : offset, n = r->is_stream ? r->ahead.n : r->size;
		uint64_t left = from < n ? n - from : 0;

		done = left < size ? (size_t)left : size;
		if (done)
			memcpy(out, bytes + from, done);
		return (ssize_t)done;
	}
	while (done < size) {
		ssize_t n = pread(r->fd, (uint8_t *)out + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed_to_read(r, offset + done, err);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static struct head parse_head(const uint8_t bytes[GUS_FRAME_HEADER_SIZE])
{
	struct gus_cursor c = gus_cursor(bytes, GUS_FRAME_HEADER_SIZE);
	struct head h;

	h.mark = gus_cursor_u32(&c);
	h.type = gus_cursor_u16(&c);
	h.coding = gus_cursor_u8(&c);
	h.zero = gus_cursor_u8(&c);
	h.stored = gus_cursor_u32(&c);
	h.raw = gus_cursor_u32(&c);
	h.sequence = gus_cursor_u64(&c);
	h.payload_sum = gus_cursor_u64(&c);
	h.sum = gus_cursor_u64(&c);
	return h;
}

/* A header that a writer of this major version could have made. The coding and the zero byte are left to the payload
 * check: a frame whose length is known can be stepped over. */
static bool head_ok(const struct head *h, const uint8_t bytes[GUS_FRAME_HEADER_SIZE])
{
	return h->mark == GUS_FRAME_MARK && h->sum == XXH64(bytes, 32, 0) && h->stored <= GUS_FRAME_STORED_MAX &&
	       h->raw <= GUS_FRAME_RAW_MAX;
}

static void room_for(uint8_t **buffer, size_t *room, size_t size)
{
	if (size > *room) {
		*buffer = gus_resize(*buffer, size, 1);
		*room = size;
	}
}

static void note_corrupt(struct gus_reader *r, uint64_t offset)
{
	if (!r->damage.corrupt++)
		r->damage.first_offset = offset;
}

static enum gus_read corrupt(struct gus_reader *r, uint64_t offset, struct gus_error *err, const char *what)
{
	note_corrupt(r, offset);
	gus_fail(err, GUS_E_CORRUPT, "%s is corrupt at offset %llu: %s", r->name, (unsigned long long)offset, what);
	return GUS_READ_CORRUPT;
}

static enum gus_read cut(struct gus_reader *r, uint64_t bytes, struct gus_error *err)
{
	r->over = true;
	r->damage.cut = true;
	r->damage.cut_offset = r->at;
	r->damage.cut_bytes = bytes;
	gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends at offset %llu without its footer", r->name,
		 (unsigned long long)(r->at + bytes));
	return GUS_READ_CUT;
}

static bool is_trailer(const uint8_t *bytes, ssize_t size)
{
	struct gus_cursor c;

	if (size != GUS_TRAILER_SIZE || memcmp(bytes, GUS_TRAILER_MAGIC, 8) != 0)
		return false;
	c = gus_cursor(bytes + 16, 8);
	return gus_cursor_u64(&c) == XXH64(bytes, 16, 0);
}

/* Whether a whole frame header, or the trailer, is at `bytes`, of which there are n; at the end if these are the
 * last ones. A trailer counts only there: it has no length to check, and its magic and sum may well stand in the
 * image of another recording. */
static bool begins(const uint8_t *bytes, ssize_t n, bool at_end)
{
	struct head h;

	if (at_end && is_trailer(bytes, n))
		return true;
	if (n < GUS_FRAME_HEADER_SIZE || memcmp(bytes, "GFRM", 4) != 0)
		return false;
	h = parse_head(bytes);
	return head_ok(&h, bytes);
}

/* The offset of the next whole frame header (or trailer) at or behind `from`, or of the end of the bytes. Chunks
 * overlap by a header, so that one which lies across their border is seen whole in the first of them. */
static int search(struct gus_reader *r, uint64_t from, uint64_t *found, struct gus_error *err)
{
	const ssize_t room = SEARCH_CHUNK + GUS_FRAME_HEADER_SIZE;
	uint8_t *chunk = gus_alloc((size_t)room);
	ssize_t n, i;

	do {
		pass(r, from);
		n = read_at(r, from, chunk, (size_t)room, err);
		for (i = 0; i < (n < room ? n : (ssize_t)SEARCH_CHUNK) && !begins(chunk + i, n - i, n < room); i++)
			continue;
		from += (uint64_t)i;
	} while (n == room && i == (ssize_t)SEARCH_CHUNK);
	*found = from;
	free(chunk);
	return n < 0 ? -1 : 0;
}

/* The bytes at r->at are no frame: says so and moves on to the next one. The search begins a byte further, as these
 * might be a good header at a place where none can be, and each call must get on. */
static enum gus_read resynchronise(struct gus_reader *r, struct gus_error *err, const char *what)
{
	uint64_t bad = r->at, next;

	if (search(r, bad + 1, &next, err) != 0)
		return GUS_READ_ERROR;
	r->damage.skipped_bytes += next - bad;
	r->at = next;
	r->end_damaged |= r->footer_seen;
	return corrupt(r, bad, err, what);
}

/* Too few bytes for a header. They are the trailer; or, behind the footer, what is left of it or was appended; or
 * nothing, after that was told. Anything else is a cut: the recorder ended before its work was done. */
static enum gus_read finish(struct gus_reader *r, const uint8_t *bytes, ssize_t n, struct gus_error *err)
{
	if (is_trailer(bytes, n)) {
		r->over = true;
		if (!r->footer_seen && !r->damage.corrupt) /* else that was the footer, and it is told */
			return corrupt(r, r->at, err, "its trailer stands behind no footer: frames before it are gone");
		return GUS_READ_END;
	}
	if (r->footer_seen && n > 0)
		return resynchronise(r, err, "its trailer is damaged, or something was appended");
	if (r->end_damaged && n == 0) {
		r->over = true;
		return GUS_READ_END;
	}
	return cut(r, (uint64_t)n, err);
}

/* The payload of the frame at r->at, checked and unpacked if wanted. Its header is good, so r->at moves behind it
 * whatever is wrong with the payload, unless that is cut: then there is nothing behind it. */
static enum gus_read payload(struct gus_reader *r, const struct head *h, bool unpack, struct gus_frame *frame,
			     struct gus_error *err)
{
	uint64_t offset = r->at;
	ssize_t n;
	size_t size;

	room_for(&r->stored, &r->stored_room, h->stored);
	n = read_at(r, offset + GUS_FRAME_HEADER_SIZE, r->stored, h->stored, err);
	if (n < 0)
		return GUS_READ_ERROR;
	if ((uint32_t)n < h->stored)
		return cut(r, GUS_FRAME_HEADER_SIZE + (uint64_t)n, err);
	r->at = offset + GUS_FRAME_HEADER_SIZE + h->stored;
	if (XXH64(r->stored, h->stored, 0) != h->payload_sum)
		return corrupt(r, offset, err, "the checksum of the frame's payload is wrong");
	*frame = (struct gus_frame){ h->type, offset, h->sequence, r->stored, h->stored, h->stored };
	if (!unpack)
		return GUS_READ_FRAME;
	if (h->coding == GUS_CODING_RAW && h->raw == h->stored)
		return GUS_READ_FRAME;
	if (h->coding != GUS_CODING_ZSTD)
		return corrupt(r, offset, err, "its coding is neither raw nor zstd");
	room_for(&r->raw, &r->raw_room, h->raw);
	size = ZSTD_decompressDCtx(r->zstd, r->raw, h->raw, r->stored, h->stored);
	if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) /* which says nothing about the frame */
		gus_alloc_failed(h->raw);
	if (size != h->raw) /* zstd's errors are sizes that none has */
		return corrupt(r, offset, err, "the frame does not decompress to its stated length");
	frame->payload = r->raw;
	frame->size = size;
	return GUS_READ_FRAME;
}

static const Gusprof__IndexEntry *index_entry(const struct gus_reader *r, uint64_t offset)
{
	size_t low = 0, high = r->index ? r->index->n_entries : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const Gusprof__IndexEntry *e = r->index->entries[middle];

		if (e->offset == offset)
			return e;
		if (e->offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The index says that this frame has nothing of the times asked for; both ends of both spans are part of them. Such a
 * frame is stepped over unread, which is the use of an index, so that damage in its payload is not told, either. What
 * the index does not name is read. */
static bool outside(const struct gus_reader *r, uint64_t offset)
{
	const Gusprof__IndexEntry *e = index_entry(r, offset);

	return e && (e->last_ns < r->from || e->first_ns > r->to);
}

/* Before the payload is looked at: a frame whose payload is broken is corrupt, and not missing as well. */
static void count_sequence(struct gus_reader *r, uint64_t sequence)
{
	if (sequence > r->expected)
		r->damage.missing_frames += sequence - r->expected;
	r->expected = sequence + 1;
}

/* Of a source: what it says is wrong is counted here. */
static enum gus_read next_of_source(struct gus_reader *r, uint32_t types, struct gus_frame *frame,
				    struct gus_error *err)
{
	enum gus_read got;

	*frame = (struct gus_frame){ 0 };
	got = r->source.next(r->source.self, types, frame, err);
	if (got == GUS_READ_CORRUPT) {
		note_corrupt(r, frame->offset);
		r->damage.skipped_bytes += frame->stored;
	} else if (got == GUS_READ_CUT) {
		r->damage.cut = true;
		r->damage.cut_offset = frame->offset;
		r->damage.cut_bytes = frame->stored;
	}
	return got;
}

/* Each thing is looked at when all before it is good: that there are bytes for a header, the header, its number, what
 * the index says, the payload. So each damage is told once, as the first thing that is wrong, and whatever is told has
 * moved r->at on, to behind the frame if its length is to be trusted. */
enum gus_read gus_reader_next_of(struct gus_reader *r, uint32_t types, struct gus_frame *frame, struct gus_error *err)
{
	uint8_t bytes[GUS_FRAME_HEADER_SIZE];

	if (r->source.next)
		return next_of_source(r, types, frame, err);
	if (r->preamble_bad && !r->preamble_told) {
		r->preamble_told = true;
		return corrupt(r, GUS_MAGIC_SIZE, err, "the checksum of the preamble is wrong");
	}
	while (!r->over) {
		/* Who writes a stream may not close it for long after its trailer: to ask for more would be to wait. */
		size_t most = r->is_stream && r->footer_seen ? GUS_TRAILER_SIZE : sizeof(bytes);
		enum gus_read result;
		struct head h;
		bool wanted;
		ssize_t n;

		pass(r, r->at);
		n = read_at(r, r->at, bytes, most, err);
		if (n == GUS_TRAILER_SIZE && !is_trailer(bytes, n)) /* it goes on, in a stream as in a file */
			n = read_at(r, r->at, bytes, sizeof(bytes), err);
		if (n < 0)
			return GUS_READ_ERROR;
		if (n < (ssize_t)sizeof(bytes))
			return finish(r, bytes, n, err);
		h = parse_head(bytes);
		if (!head_ok(&h, bytes))
			return resynchronise(r, err, "no frame starts here");
		/* A copy, or a piece of the file that was put elsewhere: its rows would count twice. */
		if (h.sequence < r->expected) {
			uint64_t offset = r->at;

			r->at += GUS_FRAME_HEADER_SIZE + h.stored;
			return corrupt(r, offset, err, "a frame stands here whose number was already passed");
		}
		count_sequence(r, h.sequence);
		if (outside(r, r->at)) {
			r->at += GUS_FRAME_HEADER_SIZE + h.stored;
			continue;
		}
		wanted = h.type < 32 && (types >> h.type & 1);
		result = payload(r, &h, wanted, frame, err);
		if (result != GUS_READ_FRAME)
			return result;
		if (h.type == GUS_FRAME_FOOTER) /* wanted or not: what comes behind it is judged otherwise */
			r->footer_seen = true;
		if (wanted || (h.type >= 32 && types == UINT32_MAX))
			return GUS_READ_FRAME;
	}
	if (!r->damage.cut)
		return GUS_READ_END;
	gus_fail(err, GUS_E_TRUNCATED, "%s was cut at offset %llu", r->name, (unsigned long long)r->damage.cut_offset);
	return GUS_READ_CUT;
}

void gus_reader_rewind(struct gus_reader *r)
{
	bool header_lost = r->damage.header_lost;

	assert(!r->passed);
	if (r->source.next)
		r->source.rewind(r->source.self);
	r->at = GUS_PREAMBLE_SIZE;
	r->expected = 0;
	r->footer_seen = r->end_damaged = r->over = r->preamble_told = false;
	r->damage = (struct gus_damage){ .header_lost = header_lost };
}

uint64_t gus_reader_size(const struct gus_reader *r)
{
	return r->is_stream ? 0 : r->size;
}

const struct gus_damage *gus_reader_damage(const struct gus_reader *r)
{
	return &r->damage;
}

const Gusprof__Header *gus_reader_header(const struct gus_reader *r)
{
	return r->header;
}

/* By the words of the format: anybody may have written anything else there. */
bool gus_reader_has_chains(const struct gus_reader *r)
{
	static const char *const ways[] = { "fp", "tables", "dwarf", "lbr" };
	bool has = false;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		has |= strcmp(r->header->call_graph, ways[i]) == 0;
	return has;
}

static void *message_alloc(void *context, size_t size)
{
	(void)context;
	return gus_alloc(size);
}

static void message_free(void *context, void *memory)
{
	(void)context;
	free(memory);
}

/* To protobuf-c, bytes that break its rules and memory that is not there are one and the same failure. With an
 * allocator that does not fail it can only be the former. What it gives may be freed without one. */
ProtobufCMessage *gus_frame_message(const struct gus_frame *frame, const ProtobufCMessageDescriptor *descriptor,
				    struct gus_error *err)
{
	ProtobufCAllocator allocator = { message_alloc, message_free, NULL };
	ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, &allocator, frame->size, frame->payload);

	if (!message)
		gus_fail(err, GUS_E_CORRUPT, "the frame at offset %llu holds no %s",
			 (unsigned long long)frame->offset, descriptor->name);
	return message;
}

int gus_frame_rows(const struct gus_frame *frame, struct gus_columns *into, struct gus_error *err)
{
	struct gus_columns old = *into;

	if (!frame->rows)
		return gus_columns_decode(into, frame->payload, frame->size, err);
	*into = *frame->rows;
	*frame->rows = old;
	return 0;
}

void gus_reader_bad_payload(struct gus_reader *r, const struct gus_frame *frame)
{
	note_corrupt(r, frame->offset);
}

static void merge_index(struct gus_reader *r, Gusprof__Index *more)
{
	Gusprof__Index *all = r->index;

	if (!all) {
		r->index = more;
		return;
	}
	all->entries = gus_resize(all->entries, all->n_entries + more->n_entries, sizeof(*all->entries));
	if (more->n_entries)
		memcpy(all->entries + all->n_entries, more->entries, more->n_entries * sizeof(*all->entries));
	all->n_entries += more->n_entries;
	more->n_entries = 0; /* moved */
	gusprof__index__free_unpacked(more, NULL);
}

/* Reads the INDEX frames that the footer points to, by way of the trailer; leaves r->index NULL where anything is
 * not as it should be, as the index only makes reading shorter. Jumping about counts as damage here, which the
 * caller's rewind forgets. */
static void load_index(struct gus_reader *r)
{
	uint8_t bytes[GUS_TRAILER_SIZE] = { 0 };
	struct gus_cursor c = gus_cursor(bytes + 8, 8);
	struct gus_frame frame;
	Gusprof__Footer *footer;

	if (r->size < GUS_TRAILER_SIZE ||
	    !is_trailer(bytes, read_at(r, r->size - GUS_TRAILER_SIZE, bytes, sizeof(bytes), NULL)))
		return;
	r->at = gus_cursor_u64(&c);
	if (gus_reader_next_of(r, 1u << GUS_FRAME_FOOTER, &frame, NULL) != GUS_READ_FRAME)
		return;
	footer = (Gusprof__Footer *)gus_frame_message(&frame, &gusprof__footer__descriptor, NULL);
	if (!footer)
		return;
	r->at = footer->index_offset;
	r->expected = 0;
	gusprof__footer__free_unpacked(footer, NULL);
	while (gus_reader_next_of(r, 1u << GUS_FRAME_INDEX, &frame, NULL) == GUS_READ_FRAME) {
		Gusprof__Index *part = (Gusprof__Index *)gus_frame_message(&frame, &gusprof__index__descriptor, NULL);

		if (part)
			merge_index(r, part);
	}
}

void gus_reader_restrict(struct gus_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	assert(!r->is_stream);
	if (r->source.next) /* which has no index */
		return;
	if (!r->index) {
		gus_reader_rewind(r);
		load_index(r);
		gus_reader_rewind(r);
	}
	r->from = from_ns;
	r->to = to_ns;
}

/* Takes the header from the first frame, if that stands where it should, so that nothing has to be searched for.
 * Whatever is wrong with the bytes is told again by gus_reader_next_of; -1 if they cannot be read. */
static int load_header(struct gus_reader *r, struct gus_error *err)
{
	uint8_t bytes[GUS_FRAME_HEADER_SIZE] = { 0 };
	struct gus_error why = { 0 };
	struct gus_frame frame;
	enum gus_read got = GUS_READ_END;
	struct head h;

	if (read_at(r, r->at, bytes, sizeof(bytes), err) < 0)
		return -1;
	h = parse_head(bytes);
	if (head_ok(&h, bytes) && h.type == GUS_FRAME_HEADER && h.sequence == 0)
		got = gus_reader_next_of(r, 1u << GUS_FRAME_HEADER, &frame, &why);
	if (got == GUS_READ_ERROR) {
		if (err)
			*err = why;
		return -1;
	}
	if (got == GUS_READ_FRAME)
		r->header = (Gusprof__Header *)gus_frame_message(&frame, &gusprof__header__descriptor, NULL);
	r->damage.header_lost = !r->header;
	gus_reader_rewind(r);
	if (!r->header) {
		r->header = gus_alloc(sizeof(*r->header));
		gusprof__header__init(r->header);
	}
	return 0;
}

/* What people take for a recording of ours, by its first bytes, and what they can do with it. */
static const struct { const char *magic; size_t size; const char *what; } others[] = {
	{ "PERFILE2", 8, "one of perf: 'gusprof import' makes one of it" },
	{ "2ELIFREP", 8, "one of perf: 'gusprof import' makes one of it" },
	{ "PERFFILE", 8, "one of perf: 'gusprof import' makes one of it" },
	{ "\x1f\x8b", 2, "compressed by gzip: unpack it (gunzip, or zcat FILE | gusprof report -i -); recordings are "
	  "compressed inside, so gzip gains little" },
	{ "\x28\xb5\x2f\xfd", 4, "compressed by zstd: unpack it (unzstd, or zstdcat FILE | gusprof report -i -); "
	  "recordings are compressed inside, so zstd gains little" },
	{ "\xfd" "7zXZ", 5, "compressed by xz: unpack it (unxz, or xzcat FILE | gusprof report -i -); recordings are "
	  "compressed inside, so xz gains little" },
	{ "\x7f" "ELF", 4, "a program: 'gusprof record -- PROGRAM' runs it and makes a recording" },
};

static void say_what_else(const struct gus_reader *r, const uint8_t *bytes, size_t n, struct gus_error *err)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (n >= others[i].size && memcmp(bytes, others[i].magic, others[i].size) == 0) {
			gus_fail(err, GUS_E_CORRUPT, "%s is not a gusprof recording but %s", r->name, others[i].what);
			return;
		}
	gus_fail(err, GUS_E_CORRUPT, "%s is neither a recording of gusprof nor of perf", r->name);
}

static struct gus_reader *start(struct gus_reader *r, struct gus_error *err)
{
	uint8_t bytes[GUS_PREAMBLE_SIZE];
	ssize_t n = read_at(r, 0, bytes, sizeof(bytes), err);
	struct gus_cursor c = gus_cursor(bytes + GUS_MAGIC_SIZE, sizeof(bytes) - GUS_MAGIC_SIZE);
	uint32_t major = gus_cursor_u32(&c), minor = gus_cursor_u32(&c);

	if (n < 0)
		goto fail;
	if (!n) {
		gus_fail(err, GUS_E_TRUNCATED, "%s is empty", r->name);
		goto fail;
	}
	if (memcmp(bytes, GUS_MAGIC, n < GUS_MAGIC_SIZE ? (size_t)n : GUS_MAGIC_SIZE) != 0) {
		say_what_else(r, bytes, (size_t)n, err);
		goto fail;
	}
	if (n < (ssize_t)sizeof(bytes)) {
		gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it has %zd bytes, less than its preamble", r->name, n);
		goto fail;
	}
	r->preamble_bad = gus_cursor_u64(&c) != XXH64(bytes, 16, 0);
	if (!r->preamble_bad && major > GUS_VERSION_MAJOR) {
		gus_fail(err, GUS_E_VERSION,
			 "%s has format version %u.%u; this program reads up to %u.x: use a newer one", r->name,
			 major, minor, GUS_VERSION_MAJOR);
		goto fail;
	}
	r->zstd = ZSTD_createDCtx();
	if (!r->zstd)
		gus_alloc_failed(0); /* zstd does not say how much it wanted */
	r->to = UINT64_MAX;
	r->at = GUS_PREAMBLE_SIZE;
	if (load_header(r, err) != 0)
		goto fail;
	return r;
fail:
	gus_reader_close(r);
	return NULL;
}

static const char *what_is(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a folder, and a recording is a file";
	return S_ISFIFO(mode) ? "not a regular file but a pipe; '-i -' reads these" : "not a regular file";
}

/* Takes fd; if that is none, errno says why. */
static struct gus_reader *open_file(int fd, const char *name, struct gus_error *err)
{
	struct gus_reader *r;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		gus_fail_errno(err, errno, "cannot open the recording %s", name);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	r = gus_zalloc(sizeof(*r));
	r->name = gus_strdup(name);
	r->fd = fd;
	if (!S_ISREG(st.st_mode)) {
		gus_fail(err, GUS_E_UNSUPPORTED, "cannot read the recording %s: it is %s", name, what_is(st.st_mode));
		gus_reader_close(r);
		return NULL;
	}
	r->size = (uint64_t)st.st_size;
	r->owner = st.st_uid;
	r->is_file = true;
	return start(r, err);
}

struct gus_reader *gus_reader_open(const char *path, struct gus_error *err)
{
	/* Not blocking: what has that name may be a FIFO, which would wait for a writer. */
	return open_file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), path, err);
}

struct gus_reader *gus_reader_open_kept(int fd, const char *name, struct gus_error *err)
{
	return open_file(fcntl(fd, F_DUPFD_CLOEXEC, 3), name, err);
}

struct gus_reader *gus_reader_open_memory(const void *bytes, size_t size, struct gus_error *err)
{
	struct gus_reader *r = gus_zalloc(sizeof(*r));

	r->name = gus_strdup("the recording");
	r->fd = -1;
	r->memory = bytes;
	r->size = size;
	return start(r, err);
}

struct gus_reader *gus_reader_open_fd(int fd, const char *name, struct gus_error *err)
{
	struct gus_reader *r = gus_zalloc(sizeof(*r));

	r->name = gus_strdup(name);
	r->fd = fd;
	r->is_stream = true;
	return start(r, err);
}

struct gus_reader *gus_reader_open_source(const struct gus_reader_source *source, const char *name)
{
	struct gus_reader *r = gus_zalloc(sizeof(*r));

	r->name = gus_strdup(name);
	r->fd = -1;
	r->source = *source;
	r->header = source->header;
	r->size = source->size;
	r->owner = source->owner;
	r->is_file = true;
	return r;
}

bool gus_reader_owner(const struct gus_reader *r, uid_t *owner)
{
	*owner = r->owner;
	return r->is_file;
}

void gus_reader_close(struct gus_reader *r)
{
	if (!r)
		return;
	if (r->source.next)
		r->source.close(r->source.self);
	gusprof__header__free_unpacked(r->header, NULL);
	gusprof__index__free_unpacked(r->index, NULL);
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	gus_vec_free(&r->ahead);
	free(r->stored);
	free(r->raw);
	free(r->name);
	free(r);
}
