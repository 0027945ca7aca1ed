/* SPDX-License-Identifier: MIT */
#include "proto/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/output.h"
#include "proto/sample.h"
#include "proto/varint.h"

/* Level 1: at 4 kHz the samples of a second are 30 KB, so speed hardly matters and memory does: about 600 KB. */
#define ZSTD_LEVEL 1
#define ZSTD_WINDOW 18 /* 2^18 bytes: most frames whole */

/* How long a pipe's reader is waited for when somebody has asked us to end, and how often we look for that. */
#define PATIENCE_MS 5000
#define POLL_MS 250

/* Index entries in one INDEX frame; a longer index takes several frames in a row. */
#define INDEX_ENTRIES 65536

/* An entry of the index until it is written, which is at the end. Half the size of the message, as these grow as long
 * as a recording lasts: by some 400 a minute on two CPUs. */
struct indexed { uint64_t offset, first_ns, last_ns; uint32_t rows, type; };

struct gus_writer {
	int fd;
	/* what fd is, if it was handed to us: it is written from front to back, and may be a pipe */
	struct stat stream;
	bool is_stream, plain;
	bool is_live;        /* its reader may be given up */
	bool gave_up;        /* it was: it took nothing for too long */
	char *path;
	uint64_t size;       /* bytes of whole frames */
	uint64_t sequence;   /* of the next frame */
	uint64_t switches;
	ZSTD_CCtx *zstd;
	struct gus_bytes raw, stored;
	struct gus_vec(struct indexed) index;
	struct gus_error broken; /* the first failure; nothing is written after it */
};

struct span { uint64_t first, last, rows; };

static void put_u32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void put_u64(uint8_t *at, uint64_t v)
{
	put_u32(at, (uint32_t)v);
	put_u32(at + 4, (uint32_t)(v >> 32));
}

/* A pipe whose reader left is an error like any other here, not the end of the program that is observed. Only a signal
 * that was not pending before is ours to take away. */
static ssize_t write_quietly(int fd, const uint8_t *bytes, size_t size)
{
	sigset_t pipe_only, before, pending;
	ssize_t n;
	int error;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
	n = write(fd, bytes, size);
	error = errno;
	if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe_only, NULL, &(struct timespec){ 0 });
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return n;
}

/* The number of a stream may have been closed and given to another file by whoever shares our process. */
static bool is_still_there(const struct gus_writer *w)
{
	struct stat now;

	return fstat(w->fd, &now) == 0 && now.st_dev == w->stream.st_dev && now.st_ino == w->stream.st_ino;
}

/* A reader that takes nothing for a while is waited for, and what is asked of us meanwhile stays asked: who records has
 * the signals blocked. But once we are to end that cannot be without end. Behind a poll so many bytes of a pipe do not
 * block. False if it was too long. */
static bool wait_for_reader(struct gus_writer *w)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };
	bool asked = false;
	sigset_t pending;

	for (unsigned ms = 0; ms < PATIENCE_MS; ms += asked ? POLL_MS : 0) {
		if (poll(&p, 1, POLL_MS) != 0)
			return true; /* whatever it is, the write will tell */
		sigpending(&pending);
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
			asked |= sigismember(&pending, ends[i]);
	}
	w->gave_up = true;
	return false;
}

static ssize_t write_some(struct gus_writer *w, const uint8_t *bytes, size_t size, uint64_t at)
{
	bool piecewise = w->is_live && S_ISFIFO(w->stream.st_mode);

	if (!w->is_stream)
		return pwrite(w->fd, bytes, size, (off_t)at);
	if (piecewise && !wait_for_reader(w))
		return -1;
	if (is_still_there(w))
		return write_quietly(w->fd, bytes, piecewise && size > PIPE_BUF ? PIPE_BUF : size);
	w->fd = -1;
	errno = EBADF;
	return -1;
}

/* One write for a whole frame. What a failed one left behind is cut off again, so a file always ends in a frame. */
static int append(struct gus_writer *w, const uint8_t *bytes, size_t size, struct gus_error *err)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = write_some(w, bytes + done, size - done, w->size + done);

		if (n < 0 && errno == EINTR && !w->gave_up)
			continue;
		if (w->gave_up)
			gus_fail(&w->broken, GUS_E_SYSTEM, "cannot write to %s after %llu bytes: its reader has taken "
				 "nothing for %u s since we were asked to end", w->path,
				 (unsigned long long)w->size, PATIENCE_MS / 1000);
		if (n < 0 && errno == EPIPE && w->is_stream)
			gus_fail(&w->broken, GUS_E_SYSTEM, "cannot write to %s after %llu bytes: what reads it has "
				 "gone", w->path, (unsigned long long)w->size);
		if (n <= 0) {
			gus_fail_errno(&w->broken, n < 0 ? errno : ENOSPC, "cannot write to %s after %llu bytes%s",
				       w->path,
				       (unsigned long long)w->size,
				       w->size > GUS_PREAMBLE_SIZE ? " (which stay readable)" : "");
			if (!w->is_stream && ftruncate(w->fd, (off_t)w->size) != 0) {
				/* A reader takes the rest for an unfinished frame, which it is. */
			}
			if (err)
				*err = w->broken;
			return -1;
		}
		done += (size_t)n;
	}
	w->size += size;
	return 0;
}

/* Of frames whose size it knows, zstd takes more memory and gives it back as they come in other sizes, some hundred
 * times a minute, and the holes that this leaves let the heap grow for as long as a recording lasts. So it is not told
 * how large a frame is, and keeps what the window takes. */
static void begin_zstd(struct gus_writer *w)
{
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		gus_alloc_failed(0); /* zstd does not say how much it wanted */
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_windowLog, ZSTD_WINDOW);
}

/* Bytes of the result, or an error of zstd's. */
static size_t compress(struct gus_writer *w, void *to, size_t room, const void *from, size_t size)
{
	ZSTD_inBuffer in = { from, size, 0 };
	ZSTD_outBuffer out = { to, room, 0 };
	size_t left;

	ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
	left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_continue); /* so it does not see the end yet */
	if (!ZSTD_isError(left))
		left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_end);
	return ZSTD_isError(left) ? left : left ? size : out.pos; /* no room: as if nothing were gained */
}

/* Header and payload side by side in w->stored; compressed where that is smaller, and wanted. */
static void build_frame(struct gus_writer *w, enum gus_frame_type type, const uint8_t *raw, size_t raw_size)
{
	enum gus_coding coding = GUS_CODING_ZSTD;
	size_t bound = ZSTD_compressBound(raw_size), stored;
	uint8_t *head;

	gus_vec_reserve(&w->stored, GUS_FRAME_HEADER_SIZE + bound);
	head = w->stored.v;
	stored = w->plain ? raw_size :
		compress(w, head + GUS_FRAME_HEADER_SIZE, bound, raw, raw_size);
	if (ZSTD_isError(stored) || stored >= raw_size) {
		coding = GUS_CODING_RAW;
		stored = raw_size;
		if (raw_size)
			memcpy(head + GUS_FRAME_HEADER_SIZE, raw, raw_size);
	}
	put_u32(head, GUS_FRAME_MARK);
	head[4] = (uint8_t)type;
	head[5] = (uint8_t)(type >> 8);
	head[6] = (uint8_t)coding;
	head[7] = 0;
	put_u32(head + 8, (uint32_t)stored);
	put_u32(head + 12, (uint32_t)raw_size);
	put_u64(head + 16, w->sequence);
	put_u64(head + 24, XXH64(head + GUS_FRAME_HEADER_SIZE, stored, 0));
	put_u64(head + 32, XXH64(head, 32, 0));
	w->stored.n = GUS_FRAME_HEADER_SIZE + stored;
}

static int write_bytes(struct gus_writer *w, enum gus_frame_type type, const struct gus_bytes *raw,
		       const struct span *span, struct gus_error *err)
{
	uint64_t offset = w->size;

	if (w->broken.code != GUS_OK) {
		if (err)
			*err = w->broken;
		return -1;
	}
	build_frame(w, type, raw->v, raw->n);
	if (append(w, w->stored.v, w->stored.n, err) != 0)
		return -1;
	w->sequence++;
	if (span)
		gus_vec_push(&w->index, (struct indexed){ offset, span->first, span->last, (uint32_t)span->rows,
			type });
	return 0;
}

static int write_frame(struct gus_writer *w, enum gus_frame_type type, const struct span *span, struct gus_error *err)
{
	return write_bytes(w, type, &w->raw, span, err);
}

static struct span span_of(const struct gus_columns *c, size_t from, size_t n)
{
	struct span span = { UINT64_MAX, 0, n };

	for (size_t i = from; i < from + n; i++) {
		uint64_t time = c->column[GUS_COL_TIME].v[i];

		span.first = time < span.first ? time : span.first;
		span.last = time > span.last ? time : span.last;
	}
	return span;
}

static size_t entries_of(const uint64_t *ends, size_t from, size_t n)
{
	return ends[from + n - 1] - (from ? ends[from - 1] : 0);
}

static bool may_fit(const struct gus_columns *c, size_t from, size_t n)
{
	return n <= GUS_ROWS_MAX && entries_of(c->chain_end.v, from, n) <= GUS_CHAIN_ENTRIES_MAX &&
	       entries_of(c->branch_end.v, from, n) <= GUS_BRANCH_ENTRIES_MAX &&
	       entries_of(c->regs_end.v, from, n) <= GUS_REG_ENTRIES_MAX &&
	       entries_of(c->stack_end.v, from, n) <= GUS_STACK_WORDS_MAX &&
	       entries_of(c->extras_end.v, from, n) <= GUS_EXTRA_WORDS_MAX;
}

/* Halves a batch until a part fits a frame; single rows always do, as the kernel bounds their entries together: a
 * record has less than 64 KiB. */
static int write_rows(struct gus_writer *w, enum gus_frame_type type, const struct gus_columns *c, size_t from,
		      size_t n, struct gus_error *err)
{
	struct span span = span_of(c, from, n);

	if (n == 1 || may_fit(c, from, n)) {
		w->raw.n = 0;
		gus_columns_encode(c, from, n, &w->raw);
		if (w->raw.n <= GUS_FRAME_RAW_MAX)
			return write_frame(w, type, &span, err);
	}
	if (write_rows(w, type, c, from, n / 2, err) != 0)
		return -1;
	return write_rows(w, type, c, from + n / 2, n - n / 2, err);
}

int gus_writer_samples(struct gus_writer *w, const struct gus_columns *batch, struct gus_error *err)
{
	return batch->n ? write_rows(w, GUS_FRAME_SAMPLES, batch, 0, batch->n, err) : 0;
}

int gus_writer_switches(struct gus_writer *w, const struct gus_columns *batch, struct gus_error *err)
{
	if (!batch->n)
		return 0;
	w->switches += batch->n;
	return write_rows(w, GUS_FRAME_SWITCHES, batch, 0, batch->n, err);
}

static int pack(struct gus_writer *w, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	gus_vec_reserve(&w->raw, size);
	w->raw.n = protobuf_c_message_pack(message, w->raw.v);
	return size <= GUS_FRAME_RAW_MAX ? 0 : -1;
}

int gus_writer_message(struct gus_writer *w, enum gus_frame_type type, const ProtobufCMessage *message,
		       struct gus_error *err)
{
	if (pack(w, message) != 0)
		return gus_fail(err, GUS_E_UNSUPPORTED, "a message of %zu bytes is too large for a frame of %s",
				w->raw.n, w->path);
	return write_frame(w, type, NULL, err);
}

int gus_writer_payload(struct gus_writer *w, enum gus_frame_type type, const struct gus_bytes *payload,
		       struct gus_error *err)
{
	if (payload->n > GUS_FRAME_RAW_MAX)
		return gus_fail(err, GUS_E_UNSUPPORTED, "a payload of %zu bytes is too large for a frame of %s",
				payload->n, w->path);
	return write_bytes(w, type, payload, NULL, err);
}

int gus_writer_sideband(struct gus_writer *w, const Gusprof__Sideband *records, struct gus_error *err)
{
	Gusprof__Sideband half = *records;

	if (!records->n_records)
		return 0;
	if (pack(w, &records->base) == 0) {
		struct span span = { 0, UINT64_MAX, records->n_records };

		return write_frame(w, GUS_FRAME_SIDEBAND, &span, err);
	}
	if (records->n_records == 1)
		return gus_writer_message(w, GUS_FRAME_SIDEBAND, &records->base, err);
	half.n_records = records->n_records / 2;
	if (gus_writer_sideband(w, &half, err) != 0)
		return -1;
	half.records = records->records + half.n_records;
	half.n_records = records->n_records - half.n_records;
	return gus_writer_sideband(w, &half, err);
}

uint64_t gus_writer_size(const struct gus_writer *w)
{
	return w->size;
}

static int write_preamble(struct gus_writer *w, struct gus_error *err)
{
	uint8_t bytes[GUS_PREAMBLE_SIZE];

	memcpy(bytes, GUS_MAGIC, GUS_MAGIC_SIZE);
	put_u32(bytes + 8, GUS_VERSION_MAJOR);
	put_u32(bytes + 12, GUS_VERSION_MINOR);
	put_u64(bytes + 16, XXH64(bytes, 16, 0));
	return append(w, bytes, sizeof(bytes), err);
}

static void free_writer(struct gus_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	gus_vec_free(&w->raw);
	gus_vec_free(&w->stored);
	gus_vec_free(&w->index);
	free(w->path);
	free(w);
}

/* Takes all memory that the header needs, by making its frame for nothing. Running out of it later, when the file is
 * there and has no name yet, would leave that behind. */
static void prepare_header(struct gus_writer *w, const Gusprof__Header *header)
{
	if (pack(w, &header->base) == 0)
		build_frame(w, GUS_FRAME_HEADER, w->raw.v, w->raw.n);
}

static struct gus_writer *new_writer(const char *name)
{
	struct gus_writer *w = gus_zalloc(sizeof(*w));

	w->path = gus_strdup(name);
	w->fd = -1;
	begin_zstd(w);
	return w;
}

struct gus_writer *gus_writer_create(const char *path, const Gusprof__Header *header, struct gus_error *err)
{
	struct gus_writer *w = new_writer(path);
	struct gus_output file;
	int rc;

	prepare_header(w, header);
	rc = gus_output_create(&file, path, "recording", err);
	w->fd = file.fd;
	if (rc == 0 && (write_preamble(w, err) != 0 ||
			gus_writer_message(w, GUS_FRAME_HEADER, &header->base, err) != 0)) {
		gus_output_drop(&file);
		rc = -1;
	}
	if (rc == 0)
		rc = gus_output_name(&file, err);
	if (rc == 0)
		return w;
	free_writer(w);
	return NULL;
}

static struct gus_writer *create_fd(int fd, const char *name, const Gusprof__Header *header, bool live,
				    struct gus_error *err)
{
	struct gus_writer *w = new_writer(name);
	struct gus_error why = { 0 };

	w->fd = fd;
	w->is_live = live;
	w->is_stream = true;
	if (fstat(fd, &w->stream) != 0)
		gus_fail_errno(&why, errno, "cannot write the recording to %s", name);
	else if (write_preamble(w, &why) == 0 && gus_writer_message(w, GUS_FRAME_HEADER, &header->base, &why) == 0)
		return w;
	if (err)
		*err = why;
	free_writer(w);
	return NULL;
}

struct gus_writer *gus_writer_create_fd(int fd, const char *name, const Gusprof__Header *header, struct gus_error *err)
{
	return create_fd(fd, name, header, false, err);
}

struct gus_writer *gus_writer_create_live(int fd, const char *name, const Gusprof__Header *header,
					  struct gus_error *err)
{
	return create_fd(fd, name, header, true, err);
}

void gus_writer_plain(struct gus_writer *w)
{
	w->plain = true;
}

void gus_writer_abandon(struct gus_writer *w)
{
	if (w)
		free_writer(w);
}

static int write_index(struct gus_writer *w, struct gus_error *err)
{
	size_t most = w->index.n < INDEX_ENTRIES ? w->index.n : INDEX_ENTRIES;
	Gusprof__IndexEntry *entries = gus_resize(NULL, most, sizeof(*entries));
	Gusprof__Index index = GUSPROF__INDEX__INIT;
	int rc = 0;

	index.entries = gus_resize(NULL, most, sizeof(*index.entries));
	for (size_t from = 0; rc == 0 && from < w->index.n; from += index.n_entries) {
		size_t left = w->index.n - from;

		index.n_entries = left < most ? left : most;
		for (size_t i = 0; i < index.n_entries; i++) {
			const struct indexed *e = &w->index.v[from + i];

			gusprof__index_entry__init(&entries[i]);
			entries[i].offset = e->offset;
			entries[i].type = e->type;
			entries[i].first_ns = e->first_ns;
			entries[i].last_ns = e->last_ns;
			entries[i].rows = e->rows;
			index.entries[i] = &entries[i];
		}
		rc = gus_writer_message(w, GUS_FRAME_INDEX, &index.base, err);
	}
	free(index.entries);
	free(entries);
	return rc;
}

/* Whoever removes the file while it is written takes all of it, and no write fails for that. Moved it is still there,
 * and so it is if it has our name: not all file systems count names. */
static int check_is_there(const struct gus_writer *w, struct gus_error *err)
{
	struct stat own, named;

	if (w->is_stream || fstat(w->fd, &own) != 0 || own.st_nlink)
		return 0;
	if (stat(w->path, &named) == 0 && named.st_dev == own.st_dev && named.st_ino == own.st_ino)
		return 0;
	return gus_fail(err, GUS_E_NOT_FOUND, "%s was removed while it was written: nothing of the recording is left",
			w->path);
}

int gus_writer_finish(struct gus_writer *w, Gusprof__Footer *footer, struct gus_error *err)
{
	uint8_t trailer[GUS_TRAILER_SIZE];
	int rc = -1;

	footer->index_offset = w->size;
	footer->switches = w->switches;
	if (write_index(w, err) != 0)
		goto out;
	footer->frames = w->sequence;
	memcpy(trailer, GUS_TRAILER_MAGIC, 8);
	put_u64(trailer + 8, w->size);
	put_u64(trailer + 16, XXH64(trailer, 16, 0));
	if (gus_writer_message(w, GUS_FRAME_FOOTER, &footer->base, err) != 0 ||
	    append(w, trailer, sizeof(trailer), err) != 0 || check_is_there(w, err) != 0)
		goto out;
	rc = close(w->fd);
	w->fd = -1;
	if (rc != 0) /* network file systems report a full disk here */
		rc = gus_fail_errno(err, errno, "cannot close the recording %s", w->path);
out:
	free_writer(w);
	return rc;
}
