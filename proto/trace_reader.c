/* SPDX-License-Identifier: MIT */
/* A trace back to steps, one at a time. It reads foreign bytes, whose checksums are right by then.
 *
 * Unlike samples, nothing of a trace can be left out: blocks and bodies are numbered in the order of the file, a step
 * is told by what was before it, and who models caches on it would be wrong for ever after one gap. So the first thing
 * that is not as it should be ends the trace, with one error that stays; and that it is over is said only when
 * TraceTotal agrees with what was read.
 *
 * A frame of steps is decoded whole, and given out only if all of it is good. Each of its steps is told by the last one
 * of the same block in the same frame, which the writer predicts with, too:
 *
 *	block		the one that last came after the block of the step before, or its number
 *	shape		that of the last step of the block, or one of its own: instruction, bytes, load or store
 *	addresses	what each access moved by since then, or since the access before it
 *
 * All of that begins anew with each frame, so that frames can be compressed and checked by themselves. Rather than to
 * clear it for up to four million blocks, each block has the number of the frame that it was last met in; another
 * number means: nothing yet.
 *
 * Memory is bounded by the limits of trace.h. Each is looked at before what it bounds is allocated or grows: code and
 * blocks as they come, the accesses of a frame by the number that it claims, of which a step may take what the steps
 * before have left. */
#include "proto/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "proto/reader.h"

#define TRACE_TYPES (1u << GUS_FRAME_TRACE | 1u << GUS_FRAME_TRACE_BLOCKS | 1u << GUS_FRAME_TRACE_STEPS | \
		     1u << GUS_FRAME_TRACE_TOTAL | 1u << GUS_FRAME_TRACE_SIDEBAND)

/* A body of code: its lengths and then its bytes, in code. */
struct body { uint32_t at, insns, size; };
/* A block, and what the frame so far says of it, as when it was written. */
struct block {
	uint64_t address;
	uint64_t frame;                 /* what follows is of this frame */
	uint32_t next;                  /* the block that last came after it, + 1; 0: none yet */
	uint32_t accesses, n;           /* of its last step: where they begin in the frame, and how many */
	struct body body;
};
struct raw { uint32_t block, accesses_n; };

struct gus_trace {
	struct gus_reader *file;
	Gusprof__Trace *about;
	Gusprof__TraceTotal *total;
	struct gus_error failed;        /* the first failure; there are no steps behind it */
	bool over;
	Gusprof__Trace *follows;        /* the trace behind this one, as far as it has been read; NULL: none yet */
	uint64_t missing;               /* frames, before this trace */
	struct gus_vec(uint8_t) code;
	struct gus_vec(struct body) bodies;
	struct gus_vec(struct block) blocks;
	struct gus_vec(Gusprof__Sideband *) told;
	struct gus_vec(const Gusprof__Record *) records; /* in these */
	size_t records_bytes;
	struct gus_vec(struct raw) steps;               /* of the frame; accesses are found by counting */
	struct gus_vec(struct gus_trace_access) accesses;
	uint64_t window;                                /* of the frame */
	uint32_t stream;
	enum gus_trace_next last;
	/* What each step moves on stands apart, else the compiler reads in one what was written in two, and waits
	 * for it. */
	uint64_t insns_at;                              /* instructions of the stream before the next step */
	uint64_t frame;
	size_t at;
	uint64_t steps_n;
	size_t access_at;
	uint64_t instructions, accesses_n;
};

static int corrupt(struct gus_error *err, const struct gus_frame *frame, const char *what)
{
	return gus_fail(err, GUS_E_CORRUPT, "the trace is corrupt in the frame at offset %llu: %s",
			(unsigned long long)frame->offset, what);
}

/* Blocks. */

static bool read_body(struct gus_trace *t, struct gus_cursor *c)
{
	struct body body = { .at = (uint32_t)t->code.n };
	uint64_t insns = gus_cursor_varint(c);
	const uint8_t *lengths, *bytes;

	/* Lengths are bytes of the frame, so insns is bounded by them; at most 4,096 of at most 16 can't overflow
	 * the size. */
	if (!insns || insns > GUS_TRACE_BLOCK_INSNS || !(lengths = gus_cursor_take(c, insns)))
		return false;
	for (uint64_t i = 0; i < insns; i++) {
		if (!lengths[i] || lengths[i] > GUS_TRACE_INSN_BYTES)
			return false;
		body.size += lengths[i];
	}
	bytes = gus_cursor_take(c, body.size);
	if (!bytes || t->code.n + insns + body.size > GUS_TRACE_CODE_MAX)
		return false;
	body.insns = (uint32_t)insns;
	gus_vec_append(&t->code, lengths, insns);
	gus_vec_append(&t->code, bytes, body.size);
	gus_vec_push(&t->bodies, body);
	return true;
}

static int read_blocks(struct gus_trace *t, const struct gus_frame *frame, struct gus_error *err)
{
	struct gus_cursor c = gus_cursor(frame->payload, frame->size);
	uint64_t n = gus_cursor_varint(&c), end = 0;

	/* Room for blocks grows as they come: a count alone costs nothing. */
	if (c.bad || n > GUS_TRACE_BLOCKS_MAX - t->blocks.n)
		return corrupt(err, frame, "it has more blocks than a trace may hold");
	while (n--) {
		struct block block = { .address = end + (uint64_t)gus_unzigzag(gus_cursor_varint(&c)) };
		uint64_t body = gus_cursor_varint(&c);

		if (c.bad || body > t->bodies.n || (!body && !read_body(t, &c)))
			return corrupt(err, frame, "a block has no such code");
		block.body = t->bodies.v[(body ? body : t->bodies.n) - 1];
		if (block.address > UINT64_MAX - (block.body.size - 1))
			return corrupt(err, frame, "a block goes beyond the end of all addresses");
		end = block.address + block.body.size;
		gus_vec_push(&t->blocks, block);
	}
	return gus_cursor_left(&c) ? corrupt(err, frame, "there are bytes behind the last block") : 0;
}

uint32_t gus_trace_blocks(const struct gus_trace *t)
{
	return (uint32_t)t->blocks.n;
}

struct gus_trace_block gus_trace_block(const struct gus_trace *t, uint32_t number)
{
	const struct block *block = &t->blocks.v[number];
	const uint8_t *code = t->code.v + block->body.at;

	return (struct gus_trace_block){
		.address = block->address,
		.lengths = code,
		.bytes = code + block->body.insns,
		.insns = block->body.insns,
		.size = block->body.size,
	};
}

/* Where code is from. */

static int read_records(struct gus_trace *t, const struct gus_frame *frame, struct gus_error *err)
{
	Gusprof__Sideband *told = (Gusprof__Sideband *)gus_frame_message(frame, &gusprof__sideband__descriptor, err);

	if (!told)
		return -1;
	gus_vec_push(&t->told, told);
	t->records_bytes += frame->size;
	if (t->records_bytes > GUS_TRACE_RECORDS_BYTES || told->n_records > GUS_TRACE_RECORDS_MAX - t->records.n)
		return corrupt(err, frame, "it has more mappings than a trace may tell of");
	for (size_t i = 0; i < told->n_records; i++)
		gus_vec_push(&t->records, told->records[i]);
	return 0;
}

const Gusprof__Record *const *gus_trace_records(const struct gus_trace *t, size_t *n)
{
	*n = t->records.n;
	return t->records.v;
}

/* Steps. */

struct columns {
	struct gus_cursor blocks, shapes, addresses;
	uint64_t accesses;      /* that the frame says it has */
};

static bool read_shape(struct columns *c, struct gus_trace_access *out, uint64_t n, uint32_t insns)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t insn = gus_cursor_varint(&c->shapes), size = gus_cursor_varint(&c->shapes);

		if (c->shapes.bad || insn >> 1 >= insns || !size || size > UINT32_MAX)
			return false;
		out[i].size = (uint32_t)size;
		out[i].insn = (uint16_t)(insn >> 1);
		out[i].store = insn & 1;
	}
	return true;
}

/* There is room for as many accesses as the frame says it has, and no more are taken. So nothing moves while a frame
 * is read, and `before` may point into the array that a is written to; the steps of a block that comes twice in a
 * row lie side by side, never over each other. */
static bool read_accesses(struct gus_trace *t, struct columns *c, struct block *block, struct raw *step)
{
	uint64_t shape = gus_cursor_varint(&c->shapes), n = shape ? shape - 1 : block->n;
	size_t from = t->accesses.n;
	struct gus_trace_access *a = t->accesses.v + from, *before = t->accesses.v + block->accesses;
	uint64_t address = from ? a[-1].address : 0;

	if (c->shapes.bad || n > GUS_TRACE_STEP_ACCESSES || n > c->accesses - from)
		return false;
	if (shape && !read_shape(c, a, n, block->body.insns))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t moved = (uint64_t)gus_unzigzag(gus_cursor_varint(&c->addresses));

		/* By fields: read as a whole what was just written in parts waits for the parts. */
		if (!shape) {
			address = before[i].address;
			a[i].size = before[i].size;
			a[i].insn = before[i].insn;
			a[i].store = before[i].store;
		}
		address += moved;
		a[i].address = address;
	}
	t->accesses.n += n;
	step->accesses_n = (uint32_t)n;
	return !c->addresses.bad;
}

/* The next step of a frame; before is the block of the one before, or NULL. */
static bool read_step(struct gus_trace *t, struct columns *c, struct block *before, struct raw *step)
{
	uint64_t number = gus_cursor_varint(&c->blocks);
	uint32_t from = (uint32_t)t->accesses.n;
	struct block *block;

	if (!number) /* as last time; the first step of a frame has nothing before it, and no last time */
		number = before ? before->next : 0;
	if (c->blocks.bad || !number || number > t->blocks.n)
		return false;
	if (before)
		before->next = (uint32_t)number;
	step->block = (uint32_t)number - 1;
	block = &t->blocks.v[step->block];
	if (block->frame != t->frame) {
		block->frame = t->frame;
		block->next = block->accesses = block->n = 0;
	}
	if (!read_accesses(t, c, block, step))
		return false;
	block->accesses = from;
	block->n = step->accesses_n;
	return true;
}

/* All steps, or none. One access more than there are has room, so that a step without any may point behind the last. */
static bool fill(struct gus_trace *t, struct columns *c, uint64_t n)
{
	struct block *before = NULL;

	gus_vec_reserve(&t->steps, n);
	gus_vec_reserve(&t->accesses, c->accesses + 1);
	for (uint64_t i = 0; i < n; i++) {
		if (!read_step(t, c, before, &t->steps.v[i]))
			return false;
		before = &t->blocks.v[t->steps.v[i].block];
	}
	t->steps.n = n;
	return true;
}

static bool take_column(struct gus_cursor *payload, struct gus_cursor *column)
{
	uint64_t size = gus_cursor_varint(payload);
	const uint8_t *bytes = size <= gus_cursor_left(payload) ? gus_cursor_take(payload, size) : NULL;

	*column = gus_cursor(bytes, bytes ? size : 0);
	return bytes != NULL;
}

static int read_steps(struct gus_trace *t, const struct gus_frame *frame, struct gus_error *err)
{
	struct gus_cursor p = gus_cursor(frame->payload, frame->size);
	uint64_t stream = gus_cursor_varint(&p), window = gus_cursor_varint(&p), at = gus_cursor_varint(&p);
	uint64_t next = gus_cursor_varint(&p), n = gus_cursor_varint(&p);
	struct columns c;

	c.accesses = gus_cursor_varint(&p);
	if (!p.bad && stream >= GUS_TRACE_STREAMS_MAX)
		return corrupt(err, frame, "it is of a thread beyond those that a trace may have");
	if (p.bad || next > GUS_TRACE_NEXT_TAKEN || !n || n > GUS_TRACE_STEPS_MAX ||
	    c.accesses > GUS_TRACE_ACCESSES_MAX)
		return corrupt(err, frame, "it has more steps than a frame may hold, or none");
	if (!take_column(&p, &c.blocks) || !take_column(&p, &c.shapes) || !take_column(&p, &c.addresses) ||
	    gus_cursor_left(&p))
		return corrupt(err, frame, "its columns do not fill it");
	t->frame++; /* from 1, which no block has yet */
	t->steps.n = t->accesses.n = t->at = t->access_at = 0;
	if (!fill(t, &c, n))
		return corrupt(err, frame, "a step names no block, no instruction or no address");
	if (gus_cursor_left(&c.blocks) || gus_cursor_left(&c.shapes) || gus_cursor_left(&c.addresses) ||
	    t->accesses.n != c.accesses) {
		t->steps.n = 0;
		return corrupt(err, frame, "there is more in its columns than its steps");
	}
	for (uint64_t i = 0; i < n; i++)
		t->instructions += t->blocks.v[t->steps.v[i].block].body.insns;
	t->steps_n += n;
	t->accesses_n += t->accesses.n;
	t->stream = (uint32_t)stream;
	t->window = window;
	t->insns_at = at;
	t->last = (enum gus_trace_next)next;
	return 0;
}

/* Frames. */

static int read_total(struct gus_trace *t, const struct gus_frame *frame, struct gus_error *err)
{
	ProtobufCMessage *message = gus_frame_message(frame, &gusprof__trace_total__descriptor, err);
	Gusprof__TraceTotal *total = (Gusprof__TraceTotal *)message;

	if (!total)
		return -1;
	t->total = total;
	if (total->blocks != t->blocks.n || total->steps != t->steps_n || total->instructions != t->instructions ||
	    total->accesses != t->accesses_n)
		return corrupt(err, frame,
			       "other numbers of blocks, steps, instructions or accesses were written than are here");
	return 0;
}

static int take_frame(struct gus_trace *t, const struct gus_frame *frame, struct gus_error *err)
{
	if (t->total)
		return corrupt(err, frame, "it goes on behind its end");
	switch (frame->type) {
	case GUS_FRAME_TRACE_BLOCKS:
		return read_blocks(t, frame, err);
	case GUS_FRAME_TRACE_STEPS:
		return read_steps(t, frame, err);
	case GUS_FRAME_TRACE_SIDEBAND:
		return read_records(t, frame, err);
	case GUS_FRAME_TRACE_TOTAL:
		return read_total(t, frame, err);
	default:
		return corrupt(err, frame, "it begins twice");
	}
}

/* The next frame of a trace: 1, 0 at the end, -1. What is lost would make all that follows wrong, so it is fatal
 * here. */
static int next_frame(struct gus_trace *t, struct gus_frame *frame, struct gus_error *err)
{
	enum gus_read got = gus_reader_next_of(t->file, TRACE_TYPES, frame, err);
	uint64_t missing = gus_reader_damage(t->file)->missing_frames;

	if (got != GUS_READ_FRAME && got != GUS_READ_END)
		return -1;
	if (missing > t->missing)
		return gus_fail(err, GUS_E_CORRUPT, "the trace is corrupt: %llu of its frames are missing",
				(unsigned long long)(missing - t->missing));
	return got == GUS_READ_FRAME;
}

static Gusprof__Trace *read_about(const struct gus_frame *frame, struct gus_error *err)
{
	Gusprof__Trace *about = (Gusprof__Trace *)gus_frame_message(frame, &gusprof__trace__descriptor, err);

	if (!about || about->n_range_start == about->n_range_end)
		return about;
	corrupt(err, frame, "its ranges have no ends");
	gusprof__trace__free_unpacked(about, NULL);
	return NULL;
}

static int start(struct gus_trace *t, struct gus_error *err)
{
	struct gus_frame frame;
	struct gus_error why = { 0 };
	enum gus_read got;
	bool stray = false;

	/* What stands before the first that begins is of one whose beginning is lost. */
	while ((got = gus_reader_next_of(t->file, TRACE_TYPES, &frame, err)) == GUS_READ_FRAME) {
		t->about = frame.type == GUS_FRAME_TRACE ? read_about(&frame, &why) : NULL;
		if (t->about) {
			t->missing = gus_reader_damage(t->file)->missing_frames;
			return 0;
		}
		stray = true;
	}
	if (got != GUS_READ_END)
		return -1;
	if (why.code && err)
		*err = why;
	else if (stray)
		gus_fail(err, GUS_E_CORRUPT, "the trace is corrupt: its beginning is missing");
	else
		gus_fail(err, GUS_E_NOT_FOUND, "there is no trace in this recording");
	return -1;
}

/* All that this trace has said. */
static void forget(struct gus_trace *t)
{
	gusprof__trace__free_unpacked(t->about, NULL);
	gusprof__trace_total__free_unpacked(t->total, NULL);
	for (size_t i = 0; i < t->told.n; i++)
		gusprof__sideband__free_unpacked(t->told.v[i], NULL);
	t->about = NULL;
	t->total = NULL;
	t->told.n = t->records.n = t->records_bytes = 0;
	t->code.n = t->bodies.n = t->blocks.n = t->steps.n = t->accesses.n = 0;
	t->at = t->access_at = 0;
	t->frame = t->steps_n = t->instructions = t->accesses_n = 0;
	t->over = false;
	t->failed = (struct gus_error){ 0 };
}

int gus_trace_more(struct gus_trace *t, struct gus_error *err)
{
	struct gus_frame frame;

	while (!t->follows) {
		enum gus_read got = gus_reader_next_of(t->file, 1u << GUS_FRAME_TRACE, &frame, err);

		if (got != GUS_READ_FRAME)
			return got == GUS_READ_END ? 0 : -1;
		t->follows = read_about(&frame, NULL);
	}
	forget(t);
	t->about = t->follows;
	t->follows = NULL;
	t->missing = gus_reader_damage(t->file)->missing_frames;
	return 1;
}

static struct gus_trace *open_trace(struct gus_reader *file, struct gus_error *err)
{
	struct gus_trace *t;

	if (!file)
		return NULL;
	t = gus_zalloc(sizeof(*t));
	t->file = file;
	if (start(t, err) == 0)
		return t;
	gus_trace_close(t);
	return NULL;
}

struct gus_trace *gus_trace_open(const char *path, struct gus_error *err)
{
	return open_trace(gus_reader_open(path, err), err);
}

struct gus_trace *gus_trace_open_memory(const void *bytes, size_t size, struct gus_error *err)
{
	return open_trace(gus_reader_open_memory(bytes, size, err), err);
}

struct gus_trace *gus_trace_open_fd(int fd, struct gus_error *err)
{
	return open_trace(gus_reader_open_fd(fd, "the trace's stream", err), err);
}

void gus_trace_close(struct gus_trace *t)
{
	if (!t)
		return;
	gus_reader_close(t->file);
	forget(t);
	gusprof__trace__free_unpacked(t->follows, NULL);
	gus_vec_free(&t->told);
	gus_vec_free(&t->records);
	gus_vec_free(&t->code);
	gus_vec_free(&t->bodies);
	gus_vec_free(&t->blocks);
	gus_vec_free(&t->steps);
	gus_vec_free(&t->accesses);
	free(t);
}

bool gus_trace_owner(const struct gus_trace *t, uid_t *owner)
{
	return gus_reader_owner(t->file, owner);
}

uint64_t gus_trace_size(const struct gus_trace *t)
{
	return gus_reader_size(t->file);
}

const Gusprof__Trace *gus_trace_about(const struct gus_trace *t)
{
	return t->about;
}

const Gusprof__TraceTotal *gus_trace_total(const struct gus_trace *t)
{
	return t->over ? t->total : NULL;
}

/* Frames until one has steps: 1. 0 and -1 as gus_trace_next. */
static int refill(struct gus_trace *t, struct gus_error *err)
{
	struct gus_frame frame;

	while (t->at == t->steps.n) {
		int got = next_frame(t, &frame, err);

		if (got < 0)
			return -1;
		if (!got && !t->total)
			return gus_fail(err, GUS_E_CORRUPT, "the trace is corrupt: it does not say what was written");
		if (got && t->total && frame.type == GUS_FRAME_TRACE) {
			t->follows = read_about(&frame, err);
			if (!t->follows)
				return -1;
			got = 0;
		}
		if (!got) {
			t->over = true;
			return 0;
		}
		if (take_frame(t, &frame, err) != 0)
			return -1;
	}
	return 1;
}

/* How the step led on to the next one of its frame. That of the frame's last step is told by the frame. */
static enum gus_trace_next led_to(const struct gus_trace *t, const struct block *block, const struct raw *next)
{
	uint64_t end = block->address + block->body.size;

	return end == t->blocks.v[next->block].address ? GUS_TRACE_NEXT_FALLS : GUS_TRACE_NEXT_TAKEN;
}

static void take_step(struct gus_trace *t, struct gus_trace_step *step)
{
	const struct raw *raw = &t->steps.v[t->at++];
	const struct block *block = &t->blocks.v[raw->block];

	step->stream = t->stream;
	step->block = raw->block;
	step->window = t->window;
	step->at = t->insns_at;
	step->accesses = t->accesses.v + t->access_at;
	step->accesses_n = raw->accesses_n;
	step->next = t->at == t->steps.n ? t->last : led_to(t, block, raw + 1);
	t->insns_at += block->body.insns;
	t->access_at += raw->accesses_n;
}

bool gus_trace_has_step(const struct gus_trace *t)
{
	return t->at < t->steps.n;
}

int gus_trace_next(struct gus_trace *t, struct gus_trace_step *step, struct gus_error *err)
{
	int got;

	if (t->over)
		return 0;
	if (t->at == t->steps.n) {
		got = t->failed.code == GUS_OK ? refill(t, &t->failed) : -1;
		if (got < 0 && err)
			*err = t->failed;
		if (got <= 0)
			return got;
	}
	take_step(t, step);
	return 1;
}
