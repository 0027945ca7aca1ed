/* SPDX-License-Identifier: MIT */
/* Fuzz target of the recording's reader: every frame, every message, every column of arbitrary bytes, and what is made
 * of counts beside the samples. The input is sealed first, except where its first byte says that something stays as it
 * is. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attribution/profile/frames.h"
#include "attribution/profile/order.h"
#include "attribution/topdown/recorded.h"
#include "attribution/traffic/traffic.h"
#include "base/alloc.h"
#include "base/error.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "tests/fuzz/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ProtobufCMessageDescriptor *const descriptors[] = {
	[GUS_FRAME_HEADER] = &gusprof__header__descriptor,
	[GUS_FRAME_SIDEBAND] = &gusprof__sideband__descriptor,
	[GUS_FRAME_KERNEL_SYMBOLS] = &gusprof__kernel_symbols__descriptor,
	[GUS_FRAME_IMAGE] = &gusprof__image__descriptor,
	[GUS_FRAME_INDEX] = &gusprof__index__descriptor,
	[GUS_FRAME_FOOTER] = &gusprof__footer__descriptor,
	[GUS_FRAME_SLOTS] = &gusprof__slots__descriptor,
	[GUS_FRAME_TRAFFIC] = &gusprof__traffic__descriptor,
};

/* Counts beside the samples, as a profile adds them up. */
struct counts { struct gus_topdown_recorded slots; struct gus_traffic traffic; };

static void add_counts(struct counts *c, enum gus_frame_type type, const ProtobufCMessage *m,
		       const Gusprof__Header *header)
{
	if (type == GUS_FRAME_SLOTS)
		gus_topdown_recorded_add(&c->slots, (const Gusprof__Slots *)m, header);
	if (type == GUS_FRAME_TRAFFIC)
		gus_traffic_add_recorded(&c->traffic, (const Gusprof__Traffic *)m);
}

/* All that reports ask of them. */
static void end_counts(struct counts *c)
{
	struct gus_topdown_tree tree;
	uint32_t socket = 0;

	for (size_t i = 0; i < c->slots.kinds.n; i++)
		if (c->slots.kinds.v[i].table) {
			gus_topdown_recorded_tree(&c->slots, &c->slots.kinds.v[i], &tree);
			gus_topdown_tree_free(&tree);
		}
	for (size_t i = 0; i < 4 && socket != GUS_TRAFFIC_SOCKETS; i++) {
		struct gus_traffic_sum s = gus_traffic_of(&c->traffic, socket = gus_traffic_socket(&c->traffic, i),
							  GUS_TRAFFIC_ALL);

		if (!isfinite(s.rate) || s.bytes > INT64_MAX || (s.known && !s.counted))
			abort(); /* no number of JSON */
	}
	for (size_t i = 0; i < c->traffic.pieces.n; i++)
		if (!isfinite(c->traffic.pieces.v[i].bytes[GUS_TRAFFIC_ALL]))
			abort();
	gus_topdown_recorded_free(&c->slots);
	gus_traffic_free(&c->traffic);
}

/* Reads every value that a row gives access to, so that a sanitizer sees them all. */
static uint64_t touch(const struct gus_columns *c, size_t i)
{
	struct gus_sample s = gus_columns_sample(c, i);
	struct gus_switch sw = gus_columns_switch(c, i);
	uint64_t sum = s.ip + s.time + s.period + sw.time;

	for (uint32_t k = 0; k < s.chain_n; k++)
		sum += s.chain[k];
	for (uint32_t k = 0; k < s.branches_n; k++)
		sum += s.branches[k].from + s.branches[k].to + s.branches[k].flags + s.branches[k].cycles;
	for (uint32_t k = 0; k < s.regs_n; k++)
		sum += s.regs[k];
	for (uint32_t k = 0; k < s.stack_n; k++)
		sum += s.stack[k];
	return sum + s.callers;
}

static void decode(struct gus_reader *r, const struct gus_frame *frame, struct gus_columns *c, struct counts *counts)
{
	if (frame->type == GUS_FRAME_SAMPLES || frame->type == GUS_FRAME_SWITCHES) {
		if (gus_columns_decode(c, frame->payload, frame->size, NULL) != 0) {
			gus_reader_bad_payload(r, frame);
			return;
		}
		for (size_t i = 0; i < c->n; i++) {
			volatile uint64_t read = touch(c, i); /* kept by the compiler */

			(void)read;
		}
	} else if (frame->type < sizeof(descriptors) / sizeof(*descriptors) && descriptors[frame->type]) {
		ProtobufCMessage *m = gus_frame_message(frame, descriptors[frame->type], NULL);

		if (!m)
			return;
		add_counts(counts, frame->type, m, gus_reader_header(r));
		protobuf_c_message_free_unpacked(m, NULL);
	}
}

static void read_all(struct gus_reader *r, uint32_t types)
{
	struct counts counts = { .slots = { .events = 0 } };
	struct gus_columns c = { 0 };
	enum gus_read got;

	do {
		struct gus_error err = { 0 };
		struct gus_frame frame;

		got = gus_reader_next_of(r, types, &frame, &err);
		if (gus_reader_damage(r)->corrupt > 1u << 20)
			abort(); /* more broken places than there are bytes */
		if (got == GUS_READ_FRAME)
			decode(r, &frame, &c, &counts);
		else if (got != GUS_READ_END && err.code == GUS_OK)
			abort(); /* a reason is owed */
	} while (got == GUS_READ_FRAME || got == GUS_READ_CORRUPT);
	gus_columns_free(&c);
	end_counts(&counts);
}

/* The same bytes as a file, so that the reader's own reading is exercised too. */
static struct gus_reader *open_file(const uint8_t *bytes, size_t size, struct gus_error *err)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct gus_reader *r;
	char path[64];

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = gus_reader_open(path, err);
	close(fd);
	return r;
}

struct ordered { struct gus_columns c; uint64_t held, told, late, last; };

static void count(void *context, const struct gus_frame *frame)
{
	struct ordered *o = context;

	if (gus_columns_decode(&o->c, frame->payload, frame->size, NULL) == 0)
		o->held += o->c.n;
}

static void take(void *context, const struct gus_sample *s)
{
	struct ordered *o = context;

	o->told++;
	o->late += s->time < o->last;
	o->last = s->time > o->last ? s->time : o->last;
}

/* Each sample comes once, and by its time but for those that are said to be late; where there is room, none is. */
static void put_in_order(struct gus_reader *r, size_t room)
{
	struct ordered o = { .held = 0 };
	uint64_t late = 0;

	if (gus_frames_each(r, 1u << GUS_FRAME_SAMPLES, count, &o, NULL) == 0 &&
	    gus_order_each(r, room, &(struct gus_order_sink){ .sample = take, .context = &o }, &late, NULL) == 0 &&
	    (o.told != o.held || late != o.late || (room == SIZE_MAX && late)))
		abort();
	gus_columns_free(&o.c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = gus_alloc(size);
	struct gus_error err = { 0 };
	struct gus_reader *r;
	uint8_t leave = size ? data[0] : 0;

	size -= size > 0;
	if (size)
		memcpy(copy, data + 1, size);
	if (!(leave & 8))
		seal(copy, size, leave);
	r = leave & 16 ? open_file(copy, size, &err) : gus_reader_open_memory(copy, size, &err);
	if (!r && err.code == GUS_OK)
		abort();
	if (r) {
		if (!gus_reader_header(r))
			abort();
		read_all(r, UINT32_MAX);
		put_in_order(r, leave & 32 ? 20000 : SIZE_MAX);
		gus_reader_restrict(r, leave, (uint64_t)leave << 32);
		read_all(r, 1u << GUS_FRAME_SAMPLES | 1u << GUS_FRAME_SIDEBAND);
		read_all(r, UINT32_MAX); /* behind its end it stays at its end */
	}
	gus_reader_close(r);
	free(copy);
	return 0;
}
