/* SPDX-License-Identifier: MIT */
#include "proto/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/index.h"
#include "proto/varint.h"
#include "proto/writer.h"

/* Blocks wait until the steps that need them are written, or until so many bytes of them did. */
#define BLOCKS_BYTES (1u << 20)

struct key { uint64_t address, body; };

/* What the frame so far says of a block. Of use only if frame is the one that is being written. */
struct last {
	uint64_t frame;
	uint32_t next;          /* the block that came after it */
	uint32_t accesses, n;   /* of its last step: where they begin in the frame */
};

struct gus_trace_writer {
	struct gus_writer *file;
	struct gus_strings bodies;      /* lengths, bytes: number 0 is of none */
	struct gus_index blocks;        /* of struct key */
	struct gus_vec(uint32_t) insns, sizes;
	struct gus_vec(struct last) last;
	struct gus_bytes waiting, body, payload, columns[3];
	uint64_t waiting_n, waiting_end, code, frame;
	uint64_t steps, instructions, accesses;
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
	gus_index_init(&w->blocks, sizeof(struct key));
	return w;
}

struct gus_trace_writer *gus_trace_writer_create(const char *path, const Gusprof__Header *header, const Gusprof__Trace *trace,
						 struct gus_error *err)
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
	gus_index_free(&w->blocks);
	gus_vec_free(&w->insns);
	gus_vec_free(&w->sizes);
	gus_vec_free(&w->last);
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
	if (!b->insns || b->insns > GUS_TRACE_BLOCK_INSNS || size != b->size)
		return gus_fail(err, GUS_E_USAGE, "cannot trace the block at %#llx: %u instructions of together %llu bytes in %u bytes",
				(unsigned long long)b->address, b->insns, (unsigned long long)size, b->size);
	if (w->blocks.n >= GUS_TRACE_BLOCKS_MAX || w->code + b->insns + b->size > GUS_TRACE_CODE_MAX)
		return gus_fail(err, GUS_E_FULL, "a trace holds at most %u blocks and %u bytes of code", GUS_TRACE_BLOCKS_MAX,
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

int gus_trace_writer_block(struct gus_trace_writer *w, const struct gus_trace_block *b, uint32_t *number, struct gus_error *err)
{
	struct key key = { .address = b->address };
	bool new_body, new_block;

	if (check_block(w, b, err) != 0)
		return -1;
	key.body = body_of(w, b, &new_body);
	*number = gus_index_add(&w->blocks, &key, &new_block);
	if (!new_block)
		return 0;
	gus_vec_push(&w->insns, b->insns);
	gus_vec_push(&w->sizes, b->size);
	gus_vec_push(&w->last, (struct last){ 0 });
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

static bool same_shape(const struct gus_trace_access *a, const struct gus_trace_access *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].insn != b[i].insn || a[i].store != b[i].store || a[i].size != b[i].size)
			return false;
	return true;
}

/* A step's accesses: their shape only where it differs from that of the block's last step, their addresses as what they
 * moved by since then. */
static void put_accesses(struct gus_trace_writer *w, const struct last *last, const struct gus_trace_access *all, size_t from,
			 uint32_t n)
{
	const struct gus_trace_access *a = all + from;
	bool same = last->n == n && same_shape(a, all + last->accesses, n);

	gus_bytes_varint(&w->columns[1], same ? 0 : 1 + (uint64_t)n);
	for (uint32_t i = 0; i < n && !same; i++) {
		gus_bytes_varint(&w->columns[1], (uint64_t)a[i].insn << 1 | a[i].store);
		gus_bytes_varint(&w->columns[1], a[i].size);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t before = same ? all[last->accesses + i].address : from + i ? all[from + i - 1].address : 0;

		gus_bytes_varint(&w->columns[2], gus_zigzag((int64_t)(a[i].address - before)));
	}
}

/* One frame of the first n steps, which have so many accesses. */
static int write_steps(struct gus_trace_writer *w, const struct gus_trace_run *run, size_t n, size_t accesses,
		       enum gus_trace_next next, struct gus_error *err)
{
	size_t from = 0;
	uint32_t before = 0;

	w->frame++;
	w->payload.n = w->columns[0].n = w->columns[1].n = w->columns[2].n = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t block = run->steps[i].block, count = run->steps[i].accesses_n;
		struct last *last = &w->last.v[block];
		bool known = i && w->last.v[before].next == block + 1;

		if (last->frame != w->frame)
			*last = (struct last){ .frame = w->frame };
		gus_bytes_varint(&w->columns[0], known ? 0 : 1 + (uint64_t)block);
		if (i)
			w->last.v[before].next = block + 1;
		put_accesses(w, last, run->accesses, from, count);
		last->accesses = (uint32_t)from;
		last->n = count;
		from += count;
		before = block;
	}
	gus_bytes_varint(&w->payload, run->stream);
	gus_bytes_varint(&w->payload, run->window);
	gus_bytes_varint(&w->payload, run->at);
	gus_bytes_varint(&w->payload, next);
	gus_bytes_varint(&w->payload, n);
	gus_bytes_varint(&w->payload, accesses);
	for (int i = 0; i < 3; i++) {
		gus_bytes_varint(&w->payload, w->columns[i].n);
		gus_vec_append(&w->payload, w->columns[i].v, w->columns[i].n);
	}
	return gus_writer_payload(w->file, GUS_FRAME_TRACE_STEPS, &w->payload, err);
}

static int check_step(const struct gus_trace_writer *w, const struct gus_trace_raw *s, const struct gus_trace_access *a,
		      struct gus_error *err)
{
	bool good = s->block < w->blocks.n && s->accesses_n <= GUS_TRACE_STEP_ACCESSES;

	for (uint32_t i = 0; good && i < s->accesses_n; i++)
		good = a[i].insn < w->insns.v[s->block] && a[i].size;
	return good ? 0 : gus_fail(err, GUS_E_USAGE, "cannot trace a step of block %u with %u accesses: no such block or instruction",
				   s->block, s->accesses_n);
}

/* How one step led to another. */
static enum gus_trace_next led_to(const struct gus_trace_writer *w, uint32_t block, uint32_t then)
{
	const struct key *a = gus_index_key(&w->blocks, block), *b = gus_index_key(&w->blocks, then);

	return a->address + w->sizes.v[block] == b->address ? GUS_TRACE_NEXT_FALLS : GUS_TRACE_NEXT_TAKEN;
}

int gus_trace_writer_steps(struct gus_trace_writer *w, const struct gus_trace_run *whole, struct gus_error *err)
{
	struct gus_trace_run run = *whole;

	if (write_blocks(w, err) != 0)
		return -1;
	while (run.n) {
		size_t n = 0, accesses = 0;
		uint64_t insns = 0;

		while (n < run.n && n < GUS_TRACE_STEPS_MAX && accesses + run.steps[n].accesses_n <= GUS_TRACE_ACCESSES_MAX) {
			if (check_step(w, &run.steps[n], run.accesses + accesses, err) != 0)
				return -1;
			insns += w->insns.v[run.steps[n].block];
			accesses += run.steps[n++].accesses_n;
		}
		if (write_steps(w, &run, n, accesses, n == run.n ? run.last : led_to(w, run.steps[n - 1].block, run.steps[n].block),
				err) != 0)
			return -1;
		w->steps += n;
		w->accesses += accesses;
		w->instructions += insns;
		run.at += insns;
		run.steps += n;
		run.accesses += accesses;
		run.n -= n;
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
