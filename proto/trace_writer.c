/* SPDX-License-Identifier: MIT */
#include "proto/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/index.h"
#include "proto/varint.h"
#include "proto/writer.h"

/* Blocks wait until the steps that need them are written, or until so many bytes of them did. */
#define BLOCKS_BYTES (1u << 20)

struct key { uint64_t address, body; };

/* A block, and what the frame so far says of it, which is of use only if frame is the one that is being written. */
struct block {
	uint64_t frame;
	uint32_t next;          /* the block that came after it */
	uint32_t accesses, n;   /* of its last step: where they begin in the frame */
	uint32_t insns, size;
};

struct gus_trace_writer {
	struct gus_writer *file;
	struct gus_strings bodies;      /* lengths, bytes: number 0 is of none */
	struct gus_index keys;          /* of blocks */
	struct gus_vec(struct block) blocks;
	struct gus_bytes waiting, body, payload, columns[3];
	uint64_t waiting_n, waiting_end, code, frame;
	uint64_t steps, instructions, accesses;
	size_t records, records_bytes;
};

static struct gus_trace_writer *begin(struct gus_writer *file, const Gusprof__Trace *trace, struct gus_error *err)
{
	struct gus_trace_writer *w;

	if (!file)
		return NULL;
	if (gus_writer_message(file, GUS_FRAME_TRACE, &trace->base, err) != 0) {
		gus_writer_abandon(file);
		return NULL;
	}
	w = gus_zalloc(sizeof(*w));
	w->file = file;
	gus_strings_init(&w->bodies);
	gus_index_init(&w->keys, sizeof(struct key));
	return w;
}

struct gus_trace_writer *gus_trace_writer_create(const char *path, const Gusprof__Header *header,
						 const Gusprof__Trace *trace, struct gus_error *err)
{
	return begin(gus_writer_create(path, header, err), trace, err);
}

struct gus_trace_writer *gus_trace_writer_create_fd(int fd, const Gusprof__Header *header, const Gusprof__Trace *trace,
						    struct gus_error *err)
{
	return begin(gus_writer_create_fd(fd, "the trace's stream", header, err), trace, err);
}

void gus_trace_writer_plain(struct gus_trace_writer *w)
{
	gus_writer_plain(w->file);
}

static void free_writer(struct gus_trace_writer *w)
{
	gus_strings_free(&w->bodies);
	gus_index_free(&w->keys);
	gus_vec_free(&w->blocks);
	gus_vec_free(&w->waiting);
	gus_vec_free(&w->body);
	gus_vec_free(&w->payload);
	for (int i = 0; i < 3; i++)
		gus_vec_free(&w->columns[i]);
	free(w);
}

void gus_trace_writer_abandon(struct gus_trace_writer *w)
{
	if (!w)
		return;
	gus_writer_abandon(w->file);
	free_writer(w);
}

uint64_t gus_trace_writer_size(const struct gus_trace_writer *w)
{
	return gus_writer_size(w->file) + w->waiting.n;
}

static int write_blocks(struct gus_trace_writer *w, struct gus_error *err)
{
	if (!w->waiting_n)
		return 0;
	w->payload.n = 0;
	gus_bytes_varint(&w->payload, w->waiting_n);
	gus_vec_append(&w->payload, w->waiting.v, w->waiting.n);
	w->waiting.n = 0;
	w->waiting_n = w->waiting_end = 0;
	return gus_writer_payload(w->file, GUS_FRAME_TRACE_BLOCKS, &w->payload, err);
}

static int check_block(const struct gus_trace_writer *w, const struct gus_trace_block *b, struct gus_error *err)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < b->insns; i++) {
		if (!b->lengths[i] || b->lengths[i] > GUS_TRACE_INSN_BYTES)
			return gus_fail(err, GUS_E_USAGE, "cannot trace the block at %#llx: an instruction of %u bytes",
					(unsigned long long)b->address, b->lengths[i]);
		size += b->lengths[i];
	}
	if (!b->insns || b->insns > GUS_TRACE_BLOCK_INSNS || size != b->size || b->address > UINT64_MAX - (size - 1))
		return gus_fail(err, GUS_E_USAGE,
				"cannot trace the block at %#llx: %u instructions of together %llu bytes in %u bytes",
				(unsigned long long)b->address, b->insns, (unsigned long long)size, b->size);
	if (w->blocks.n >= GUS_TRACE_BLOCKS_MAX || w->code + b->insns + b->size > GUS_TRACE_CODE_MAX)
		return gus_fail(err, GUS_E_FULL, "a trace holds at most %u blocks and %u bytes of code",
				GUS_TRACE_BLOCKS_MAX,
				GUS_TRACE_CODE_MAX);
	return 0;
}

/* The number of its bytes, from 1; *is_new if they were never seen. Interned with their lengths, which lead. */
static uint32_t body_of(struct gus_trace_writer *w, const struct gus_trace_block *b, bool *is_new)
{
	uint32_t before = w->bodies.n, number;

	w->body.n = 0;
	gus_bytes_varint(&w->body, b->insns);
	gus_vec_append(&w->body, b->lengths, b->insns);
	gus_vec_append(&w->body, b->bytes, b->size);
	number = gus_strings_add_n(&w->bodies, (const char *)w->body.v, w->body.n);
	*is_new = number >= before;
	return number;
}

int gus_trace_writer_block(struct gus_trace_writer *w, const struct gus_trace_block *b, uint32_t *number,
			   struct gus_error *err)
{
	struct key key = { .address = b->address };
	bool new_body, new_block;

	if (check_block(w, b, err) != 0)
		return -1;
	key.body = body_of(w, b, &new_body);
	*number = gus_index_add(&w->keys, &key, &new_block);
	if (!new_block)
		return 0;
	gus_vec_push(&w->blocks, (struct block){ .insns = b->insns, .size = b->size });
	gus_bytes_varint(&w->waiting, gus_zigzag((int64_t)(b->address - w->waiting_end)));
	gus_bytes_varint(&w->waiting, new_body ? 0 : key.body);
	if (new_body) {
		gus_vec_append(&w->waiting, w->body.v, w->body.n);
		w->code += b->insns + b->size;
	}
	w->waiting_end = b->address + b->size;
	w->waiting_n++;
	return w->waiting.n < BLOCKS_BYTES ? 0 : write_blocks(w, err);
}

uint32_t gus_trace_writer_blocks(const struct gus_trace_writer *w)
{
	return w->keys.n;
}

int gus_trace_writer_records(struct gus_trace_writer *w, const Gusprof__Sideband *records, struct gus_error *err)
{
	size_t bytes = protobuf_c_message_get_packed_size(&records->base);

	if (bytes > GUS_TRACE_RECORDS_BYTES - w->records_bytes || records->n_records > GUS_TRACE_RECORDS_MAX -
	    w->records)
		return gus_fail(err, GUS_E_FULL, "a trace tells of at most %u mappings and names, in %u bytes",
				GUS_TRACE_RECORDS_MAX,
				GUS_TRACE_RECORDS_BYTES);
	w->records_bytes += bytes;
	w->records += records->n_records;
	if (write_blocks(w, err) != 0)
		return -1;
	return gus_writer_message(w->file, GUS_FRAME_TRACE_SIDEBAND, &records->base, err);
}

static bool same_shape(const struct gus_trace_access *a, const struct gus_trace_access *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].insn != b[i].insn || a[i].store != b[i].store || a[i].size != b[i].size)
			return false;
	return true;
}

/* A frame on its way: where its columns have come to, which have room for all that may follow; what it has so far. */
struct part {
	uint8_t *blocks, *shapes, *addresses;
	size_t steps, accesses;
	uint64_t insns;
};

/* A shape that is not the one of the block's last step. -1 if an instruction is not there. */
static int put_shape(struct part *part, const struct gus_trace_access *a, uint32_t n, uint32_t insns)
{
	part->shapes = gus_put_varint(part->shapes, 1 + (uint64_t)n);
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].insn >= insns || !a[i].size)
			return -1;
		part->shapes = gus_put_varint(part->shapes, (uint64_t)a[i].insn << 1 | a[i].store);
		part->shapes = gus_put_varint(part->shapes, a[i].size);
	}
	return 0;
}

/* A step's accesses: their shape only where it differs from that of the block's last step, their addresses as what they
 * moved by since then. */
static int put_accesses(struct part *part, const struct block *block, const struct gus_trace_access *all, uint32_t n)
{
	const struct gus_trace_access *a = all + part->accesses, *before = all + block->accesses;
	uint64_t last = part->accesses ? a[-1].address : 0;
	uint8_t *out = part->addresses;

	if (block->n == n && same_shape(a, before, n)) {
		*part->shapes++ = 0;
		for (uint32_t i = 0; i < n; i++)
			out = gus_put_varint(out, gus_zigzag((int64_t)(a[i].address - before[i].address)));
	} else {
		if (put_shape(part, a, n, block->insns) != 0)
			return -1;
		for (uint32_t i = 0; i < n; last = a[i++].address)
			out = gus_put_varint(out, gus_zigzag((int64_t)(a[i].address - last)));
	}
	part->addresses = out;
	return 0;
}

/* The next step; before is the one before it in the frame, or NULL. */
static int put_step(struct gus_trace_writer *w, struct part *part, const struct gus_trace_run *run,
		    struct block *before)
{
	uint32_t number = run->steps[part->steps].block, n = run->steps[part->steps].accesses_n;
	struct block *block = &w->blocks.v[number];

	if (block->frame != w->frame) {
		block->frame = w->frame;
		block->next = block->accesses = block->n = 0;
	}
	part->blocks = gus_put_varint(part->blocks, before && before->next == number + 1 ? 0 : 1 + (uint64_t)number);
	if (before)
		before->next = number + 1;
	if (put_accesses(part, block, run->accesses, n) != 0)
		return -1;
	block->accesses = (uint32_t)part->accesses;
	block->n = n;
	part->accesses += n;
	part->insns += block->insns;
	part->steps++;
	return 0;
}

static uint8_t *room(struct gus_bytes *column, size_t size)
{
	gus_vec_reserve(column, size);
	return column->v;
}

/* As many steps as a frame holds. What a varint has at most follows from trace.h. */
static int put_steps(struct gus_trace_writer *w, struct part *part, const struct gus_trace_run *run,
		     struct gus_error *err)
{
	size_t steps = run->n < GUS_TRACE_STEPS_MAX ? run->n : GUS_TRACE_STEPS_MAX;
	struct block *before = NULL;

	part->blocks = room(&w->columns[0], steps * 4);
	part->shapes = room(&w->columns[1], steps * 2 + (size_t)GUS_TRACE_ACCESSES_MAX * 7);
	part->addresses = room(&w->columns[2], (size_t)GUS_TRACE_ACCESSES_MAX * GUS_VARINT_MAX);
	w->frame++;
	while (part->steps < steps) {
		const struct gus_trace_raw *s = &run->steps[part->steps];
		bool good = s->block < w->blocks.n && s->accesses_n <= GUS_TRACE_STEP_ACCESSES;

		if (good && part->accesses + s->accesses_n > GUS_TRACE_ACCESSES_MAX)
			break;
		if (!good || put_step(w, part, run, before) != 0)
			return gus_fail(err, GUS_E_USAGE,
					"cannot trace a step of block %u with %u accesses: no such block or "
				"instruction",
					s->block, s->accesses_n);
		before = &w->blocks.v[s->block];
	}
	w->columns[0].n = (size_t)(part->blocks - w->columns[0].v);
	w->columns[1].n = (size_t)(part->shapes - w->columns[1].v);
	w->columns[2].n = (size_t)(part->addresses - w->columns[2].v);
	return 0;
}

/* How one step led to another. */
static enum gus_trace_next led_to(const struct gus_trace_writer *w, uint32_t block, uint32_t then)
{
	const struct key *a = gus_index_key(&w->keys, block), *b = gus_index_key(&w->keys, then);

	return a->address + w->blocks.v[block].size == b->address ? GUS_TRACE_NEXT_FALLS : GUS_TRACE_NEXT_TAKEN;
}

static int write_part(struct gus_trace_writer *w, const struct gus_trace_run *run, const struct part *part,
		      struct gus_error *err)
{
	const struct gus_trace_raw *end = run->steps + part->steps;

	if (part->steps < run->n && end->block >= w->blocks.n)
		return gus_fail(err, GUS_E_USAGE, "cannot trace a step of block %u: no such block", end->block);
	w->payload.n = 0;
	gus_bytes_varint(&w->payload, run->stream);
	gus_bytes_varint(&w->payload, run->window);
	gus_bytes_varint(&w->payload, run->at);
	gus_bytes_varint(&w->payload, part->steps == run->n ? run->last : led_to(w, end[-1].block, end->block));
	gus_bytes_varint(&w->payload, part->steps);
	gus_bytes_varint(&w->payload, part->accesses);
	for (int i = 0; i < 3; i++) {
		gus_bytes_varint(&w->payload, w->columns[i].n);
		gus_vec_append(&w->payload, w->columns[i].v, w->columns[i].n);
	}
	return gus_writer_payload(w->file, GUS_FRAME_TRACE_STEPS, &w->payload, err);
}

int gus_trace_writer_steps(struct gus_trace_writer *w, const struct gus_trace_run *whole, struct gus_error *err)
{
	struct gus_trace_run run = *whole;

	if (run.stream >= GUS_TRACE_STREAMS_MAX)
		return gus_fail(err, GUS_E_FULL, "a trace holds at most %u threads", GUS_TRACE_STREAMS_MAX);
	if (write_blocks(w, err) != 0)
		return -1;
	while (run.n) {
		struct part part = { 0 };

		if (put_steps(w, &part, &run, err) != 0 || write_part(w, &run, &part, err) != 0)
			return -1;
		w->steps += part.steps;
		w->accesses += part.accesses;
		w->instructions += part.insns;
		run.at += part.insns;
		run.steps += part.steps;
		run.accesses += part.accesses;
		run.n -= part.steps;
	}
	return 0;
}

int gus_trace_writer_finish(struct gus_trace_writer *w, Gusprof__TraceTotal *total, struct gus_error *err)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	int rc = write_blocks(w, err);

	total->blocks = w->blocks.n;
	total->steps = w->steps;
	total->instructions = w->instructions;
	total->accesses = w->accesses;
	if (rc == 0)
		rc = gus_writer_message(w->file, GUS_FRAME_TRACE_TOTAL, &total->base, err);
	if (rc == 0)
		rc = gus_writer_finish(w->file, &footer, err);
	else
		gus_writer_abandon(w->file);
	free_writer(w);
	return rc;
}
