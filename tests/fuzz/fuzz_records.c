/* SPDX-License-Identifier: MIT */
/* Fuzz target of what the kernel writes into a ring: any bytes as records of any sample type, with chains, branches and
 * names, read forward from a ring whose records go over its end, and backward as a flight recorder's. Sizes and types
 * that cannot be are put right first, except where the third byte says that they stay. Each record is parsed from a
 * copy of its own length, so that a read behind it is seen; what comes of it is no longer than it was, can be packed,
 * and is copied to the same. */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/counters/ring.h"
#include "collector/records/records.h"

#define HEAD 8             /* bytes that say how to read the others */
#define TYPES 26           /* a few more than there are */
#define KNOWN_IDS 4        /* ids 0 to 3, of events 0 and 1 */
/* What headers of older kernels do not have. */
#define SAMPLE_AUX (UINT64_C(1) << 20)
#define SAMPLE_CGROUP (UINT64_C(1) << 21)
#define SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define SAMPLE_WEIGHT_STRUCT (UINT64_C(1) << 24)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static uint64_t sample_type(const uint8_t *bytes)
{
	static const uint64_t fields[28] = {
		PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD, PERF_SAMPLE_CALLCHAIN,
		PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,
		[16] = PERF_SAMPLE_RAW, PERF_SAMPLE_READ, PERF_SAMPLE_WEIGHT, SAMPLE_WEIGHT_STRUCT,
		PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_TRANSACTION, PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_PHYS_ADDR,
		SAMPLE_CGROUP, SAMPLE_DATA_PAGE_SIZE, SAMPLE_CODE_PAGE_SIZE, SAMPLE_AUX,
	};
	unsigned chosen = bytes[0] | (unsigned)bytes[1] << 8 | (unsigned)bytes[6] << 16 | (unsigned)bytes[7] << 24;
	uint64_t type = 0;

	for (unsigned i = 0; i < 28; i++)
		type |= chosen >> i & 1 ? fields[i] : 0;
	return type;
}

static void put_right(uint8_t *bytes, size_t size)
{
	struct perf_event_header h;

	for (size_t at = 0; at + sizeof(h) <= size; at += h.size) {
		memcpy(&h, bytes + at, sizeof(h));
		h.type %= TYPES;
		if (h.size < sizeof(h) || h.size > size - at)
			h.size = size - at > UINT16_MAX ? UINT16_MAX : (uint16_t)(size - at);
		memcpy(bytes + at, &h, sizeof(h));
	}
}

struct reading {
	struct gus_records records;
	struct gus_sideband sideband, copies;
	size_t taken;
};

static void check_sample(const struct gus_sample *s, size_t size)
{
	uint64_t sum = s->ip + s->time + s->period;
	volatile uint64_t read; /* kept by the compiler */

	demand(s->chain_n * 8 + s->branches_n * 24 + (s->regs_n + s->stack_n) * 8 <= size);
	for (uint32_t i = 0; i < s->chain_n; i++)
		sum += s->chain[i];
	for (uint32_t i = 0; i < s->branches_n; i++)
		sum += s->branches[i].from + s->branches[i].to + s->branches[i].flags;
	for (uint32_t i = 0; i < s->regs_n; i++)
		sum += s->regs[i];
	for (uint32_t i = 0; i < s->stack_n; i++)
		sum += s->stack[i];
	demand(s->extras_n * 8 <= size + 4 * 16); /* each of four has a word of its own, and is filled up to words */
	for (uint32_t i = 0; i < s->extras_n; i++)
		sum += s->extras[i];
	read = sum;
	(void)read;
}

static void check_copy(struct reading *r, const Gusprof__Record *record)
{
	size_t before = r->copies.records.n, n = gusprof__record__get_packed_size(record);
	uint8_t *packed = gus_alloc(n), *again = gus_alloc(n);

	gusprof__record__pack(record, packed);
	gus_sideband_copy(&r->copies, record);
	if (r->copies.records.n > before) {
		demand(gusprof__record__get_packed_size(r->copies.records.v[before]) == n);
		gusprof__record__pack(r->copies.records.v[before], again);
		demand(memcmp(packed, again, n) == 0);
	}
	free(packed);
	free(again);
}

static void take(const void *record, size_t size, void *context)
{
	struct reading *r = context;
	size_t before = r->sideband.records.n;
	void *copy = gus_alloc(size);
	struct gus_record out;

	memcpy(copy, record, size);
	gus_records_time(&r->records, copy, size);
	out = gus_records_parse(&r->records, copy, size, &r->sideband);
	demand(r->sideband.records.n == before + (out.kind == GUS_RECORD_SIDEBAND));
	if (out.kind == GUS_RECORD_SAMPLE) {
		check_sample(&out.sample, size);
		demand(out.slot == GUS_INDEX_NONE || out.slot < KNOWN_IDS);
		demand(out.sample.event <= 2);
	} else if (out.kind == GUS_RECORD_SIDEBAND) {
		demand(out.sideband == r->sideband.records.v[before]);
		demand(gusprof__record__get_packed_size(out.sideband) < size + 128);
		check_copy(r, out.sideband);
	}
	free(copy); /* a stack is read where it lies */
	r->taken += size;
}

/* Over the end of the ring wherever the input says, and then once more as if written backward. */
static void read_ring(struct reading *r, const uint8_t *bytes, size_t size, uint8_t start)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = 64;
	struct gus_ring ring;
	uint8_t *memory;
	uint64_t now;

	while (room < size)
		room *= 2;
	memory = gus_zalloc(page + room);
	gus_ring_over(&ring, memory, room);
	ring.control->data_tail = UINT64_MAX - (uint64_t)start * 8 + 1;
	ring.control->data_head = ring.control->data_tail + size;
	for (size_t i = 0; i < size; i++)
		memory[page + ((ring.control->data_tail + i) & (room - 1))] = bytes[i];
	gus_ring_drain(&ring, take, r);
	demand(r->taken == size || (ring.broken == 1 && r->taken < size));
	demand(ring.control->data_tail == ring.control->data_head);
	demand(gus_ring_drain(&ring, take, r) == 0);

	memcpy(memory + page, bytes, size);
	ring.control->data_head = 0;
	ring.seen = start;
	r->taken = 0;
	gus_ring_snapshot(&ring, take, r);
	demand(r->taken <= room);
	demand(gus_ring_snapshot(&ring, take, r) == 0);
	demand(!gus_ring_now(&ring, &now));
	free(ring.whole);
	free(memory);
}

/* By the first bytes: the layout, and that of a second event where its bit says that they differ. */
static void prepare(struct gus_records *r, const uint8_t *head)
{
	const uint64_t branch_type = (head[2] & 2 ? 1u << 17 : 0) | (head[7] & 32 ? 1u << 19 : 0);
	struct gus_records_layout second;

	gus_records_init(r, sample_type(head), branch_type, 2);
	r->layout.regs_mask = head[4] | (uint64_t)head[5] << 8;
	r->layout.intr_mask = head[5] | (uint64_t)head[4] << 8;
	r->layout.read_format = head[2] >> 3;
	r->big_endian = head[7] & 16;
	if (!(head[7] & 64))
		return;
	second = r->layout;
	second.sample_type ^= PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
	second.no_trailer = head[7] & 128;
	gus_vec_push(&r->layouts, r->layout);
	gus_vec_push(&r->layouts, second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading r = { 0 };
	uint8_t *copy;
	Gusprof__Sideband message;

	if (size < HEAD)
		return 0;
	size -= HEAD;
	copy = gus_alloc(size);
	memcpy(copy, data + HEAD, size);
	if (!(data[2] & 1))
		put_right(copy, size);
	prepare(&r.records, data);
	for (uint64_t id = 0; id < KNOWN_IDS; id++)
		gus_records_add_id(&r.records, id, id & 1);
	read_ring(&r, copy, size, data[3]);
	message = gus_sideband_message(&r.sideband);
	demand(message.n_records == r.sideband.records.n);
	demand(r.sideband.bytes <= 64 * (2 * size + 64)); /* a hundred bytes or two for each of eight, twice */
	gus_records_free(&r.records);
	gus_sideband_free(&r.sideband);
	gus_sideband_free(&r.copies);
	free(copy);
	return 0;
}
