/* SPDX-License-Identifier: MIT */
#include "collector/records/spe.h"

#include "base/cursor.h"

/* Packets. */

struct header { uint8_t mask, value, kind, index; };

/* index: the bits that number packets of the kind. */
static const struct header headers[] = {
	{ 0xff, 0x00, GUS_SPE_PADDING, 0 },
	{ 0xff, 0x01, GUS_SPE_END, 0 },
	{ 0xff, 0x71, GUS_SPE_TIMESTAMP, 0 },
	{ 0xcf, 0x42, GUS_SPE_EVENTS, 0 },
	{ 0xcf, 0x43, GUS_SPE_SOURCE, 0 },
	{ 0xfc, 0x64, GUS_SPE_CONTEXT, 3 },
	{ 0xfc, 0x48, GUS_SPE_OPERATION, 3 },
	{ 0xf8, 0xb0, GUS_SPE_ADDRESS, 7 },
	{ 0xf8, 0x98, GUS_SPE_COUNTER, 7 },
};

static const struct header *header_of(uint8_t byte)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if ((byte & headers[i].mask) == headers[i].value)
			return &headers[i];
	return NULL;
}

static uint64_t take_payload(struct gus_cursor *c, unsigned size)
{
	uint64_t payload = 0;

	for (unsigned i = 0; i < size; i++)
		payload |= (uint64_t)gus_cursor_u8(c) << 8 * i;
	return payload;
}

/* Two bytes and zeroes, up to a multiple of a power of two. */
static void take_alignment(struct gus_cursor *c, uint8_t first, struct gus_spe_packet *p)
{
	size_t to = (size_t)1 << ((first & 15) + 1), at = gus_cursor_offset(c);
	size_t rest = (at + to - 1) / to * to - at;

	*p = (struct gus_spe_packet){ .kind = GUS_SPE_ALIGNMENT, .size = (unsigned)rest + 2 };
	gus_cursor_take(c, rest);
}

bool gus_spe_packet(struct gus_cursor *c, struct gus_spe_packet *p)
{
	uint8_t first, byte;
	const struct header *h;
	bool extended;

	*p = (struct gus_spe_packet){ .kind = GUS_SPE_UNKNOWN };
	if (!gus_cursor_left(c))
		return false;
	first = byte = gus_cursor_u8(c);
	extended = (first & 0xfc) == 0x20;
	if (extended) {
		byte = gus_cursor_u8(c);
		if (c->bad)
			return false;
		if (!byte) {
			take_alignment(c, first, p);
			return !c->bad;
		}
	}
	h = header_of(byte);
	if (!h || (extended && h->kind != GUS_SPE_ADDRESS && h->kind != GUS_SPE_COUNTER)) {
		c->at -= extended; /* the second byte may begin one */
		return true;
	}
	p->kind = (enum gus_spe_kind)h->kind;
	p->index = (byte & h->index) | (extended ? (first & 3u) << 3 : 0);
	if (p->kind == GUS_SPE_PADDING || p->kind == GUS_SPE_END)
		return true;
	p->size = 1u << (byte >> 4 & 3);
	p->payload = take_payload(c, p->size);
	return !c->bad;
}

/* Records. */

enum { ADDRESS_PC, ADDRESS_TARGET, ADDRESS_VIRTUAL, ADDRESS_PHYSICAL, ADDRESS_PREVIOUS };
enum { COUNTER_TOTAL, COUNTER_ISSUE, COUNTER_TRANSLATION };

/* Bit 55 says which of the two address spaces it lies in; above it are tags or levels. */
static uint64_t extended(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 8) >> 8);
}

static void take_address(struct gus_spe_record *r, const struct gus_spe_packet *p)
{
	switch (p->index) {
	case ADDRESS_PC:
		r->known |= GUS_SPE_HAS_PC;
		r->pc = extended(p->payload);
		r->level = p->payload >> 61 & 3;
		r->non_secure = p->payload >> 63;
		break;
	case ADDRESS_TARGET:
		r->known |= GUS_SPE_HAS_TARGET;
		r->target = extended(p->payload);
		break;
	case ADDRESS_VIRTUAL:
		r->known |= GUS_SPE_HAS_VIRTUAL;
		r->virtual = extended(p->payload);
		r->tag = (uint8_t)(p->payload >> 56);
		break;
	case ADDRESS_PHYSICAL:
		r->known |= GUS_SPE_HAS_PHYSICAL;
		r->physical = p->payload & (UINT64_MAX >> 8);
		r->physical_non_secure = p->payload >> 63;
		r->physical_checked = p->payload >> 62 & 1;
		r->physical_tag = p->payload >> 56 & 15;
		break;
	case ADDRESS_PREVIOUS:
		r->known |= GUS_SPE_HAS_PREVIOUS;
		r->previous = extended(p->payload);
		break;
	}
}

static void take_counter(struct gus_spe_record *r, const struct gus_spe_packet *p)
{
	uint16_t *const counters[] = { &r->total, &r->issue, &r->translation };
	static const uint32_t known[] = { GUS_SPE_HAS_TOTAL, GUS_SPE_HAS_ISSUE, GUS_SPE_HAS_TRANSLATION };

	if (p->index > COUNTER_TRANSLATION)
		return;
	*counters[p->index] = (uint16_t)p->payload;
	r->known |= known[p->index];
}

/* Payloads of operations: of those that a row's mask and value fit it is these, and what the bits behind it say. */
struct operation { uint8_t class, mask, value; uint32_t is; };

static const struct operation operations[] = {
	{ GUS_SPE_OTHER, 0x89, 0x08, GUS_SPE_OP_VECTOR | GUS_SPE_OP_SVE },
	{ GUS_SPE_OTHER, 0x89, 0x88, GUS_SPE_OP_VECTOR | GUS_SPE_OP_SME },
	{ GUS_SPE_LOAD_STORE, 0xfe, 0x00, 0 },
	{ GUS_SPE_LOAD_STORE, 0xfe, 0x04, GUS_SPE_OP_VECTOR },
	{ GUS_SPE_LOAD_STORE, 0xfe, 0x10, 0 },
	{ GUS_SPE_LOAD_STORE, 0xfe, 0x14, GUS_SPE_OP_TAG },
	{ GUS_SPE_LOAD_STORE, 0xfe, 0x20, GUS_SPE_OP_COPY },
	{ GUS_SPE_LOAD_STORE, 0xff, 0x25, GUS_SPE_OP_COPY },
	{ GUS_SPE_LOAD_STORE, 0xfe, 0x30, GUS_SPE_OP_SYSTEM },
	{ GUS_SPE_LOAD_STORE, 0xfa, 0x40, GUS_SPE_OP_GUARDED },
	{ GUS_SPE_LOAD_STORE, 0x0a, 0x08, GUS_SPE_OP_VECTOR | GUS_SPE_OP_SVE },
};

static uint32_t if_bit(uint64_t payload, unsigned bit, uint32_t is)
{
	return payload >> bit & 1 ? is : 0;
}

static uint32_t subclass_of(unsigned class, uint64_t payload)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (operations[i].class == class && (payload & operations[i].mask) == operations[i].value)
			return operations[i].is;
	return 0;
}

static void take_load_store(struct gus_spe_record *r, uint64_t v)
{
	r->operation |= v & 1 ? GUS_SPE_OP_STORE : GUS_SPE_OP_LOAD;
	if ((v & 0xe2) == 0x02) /* atomics, exclusives, and those that acquire or release */
		r->operation |= if_bit(v, 2, GUS_SPE_OP_ATOMIC) | if_bit(v, 3, GUS_SPE_OP_EXCLUSIVE) |
			if_bit(v, 4, GUS_SPE_OP_ACQUIRE_RELEASE);
	if (r->operation & GUS_SPE_OP_SVE)
		r->operation |= if_bit(v, 2, GUS_SPE_OP_PREDICATED) | if_bit(v, 7, GUS_SPE_OP_GATHER);
}

static void take_branch(struct gus_spe_record *r, uint64_t v)
{
	static const uint32_t linked[4] = { 0, GUS_SPE_OP_CALL, GUS_SPE_OP_RETURN, 0 };

	r->operation |= GUS_SPE_OP_BRANCH | linked[v >> 3 & 3] | if_bit(v, 0, GUS_SPE_OP_CONDITIONAL) |
		if_bit(v, 1, GUS_SPE_OP_INDIRECT) | if_bit(v, 2, GUS_SPE_OP_GUARDED);
}

/* Of the plain ones bits 1 and 2 are there since version 1.4; before they were 0. */
static void take_other(struct gus_spe_record *r, uint64_t v)
{
	if (r->operation & GUS_SPE_OP_SVE)
		r->operation |= if_bit(v, 1, GUS_SPE_OP_FLOAT) | if_bit(v, 2, GUS_SPE_OP_PREDICATED);
	else if (r->operation & GUS_SPE_OP_SME)
		r->operation |= if_bit(v, 1, GUS_SPE_OP_FLOAT);
	else if (!(v & 0xf8))
		r->operation |= if_bit(v, 0, GUS_SPE_OP_CONDITIONAL) | if_bit(v, 1, GUS_SPE_OP_FLOAT) |
			if_bit(v, 2, GUS_SPE_OP_VECTOR);
}

/* How long a vector is, 32 bits and its doubles, or a tile of SME, 128 and its doubles. */
static uint32_t vector_bits(uint32_t operation, uint64_t v)
{
	if (operation & GUS_SPE_OP_SVE)
		return UINT32_C(32) << (v >> 4 & 7);
	return operation & GUS_SPE_OP_SME ? UINT32_C(128) << ((v >> 4 & 7) << 1 | (v >> 2 & 1)) : 0;
}

static void take_operation(struct gus_spe_record *r, const struct gus_spe_packet *p)
{
	static void (*const by_class[])(struct gus_spe_record *, uint64_t) = { [GUS_SPE_OTHER] = take_other,
		[GUS_SPE_LOAD_STORE] = take_load_store, [GUS_SPE_BRANCH] = take_branch };

	r->known |= GUS_SPE_HAS_OPERATION;
	r->class = (enum gus_spe_class)p->index;
	r->operation = subclass_of(p->index, p->payload);
	r->vector_bits = vector_bits(r->operation, p->payload);
	if (p->index < GUS_SPE_CLASS_RESERVED)
		by_class[p->index](r, p->payload);
}

/* A host whose kernel runs at EL2 says of a guest's which of its own tasks it is, too: that one counts. */
static void take_context(struct gus_spe_record *r, const struct gus_spe_packet *p)
{
	uint8_t level = (uint8_t)(p->index + 1);

	if ((r->known & GUS_SPE_HAS_CONTEXT) && level < r->context_level)
		return;
	r->known |= GUS_SPE_HAS_CONTEXT;
	r->context = (uint32_t)p->payload;
	r->context_level = level;
}

/* A record has one packet of each; of what is not known nobody can say. */
static bool has_already(const struct gus_spe_record *r, const struct gus_spe_packet *p)
{
	static const uint32_t addresses[] = { GUS_SPE_HAS_PC, GUS_SPE_HAS_TARGET, GUS_SPE_HAS_VIRTUAL,
		GUS_SPE_HAS_PHYSICAL, GUS_SPE_HAS_PREVIOUS };
	static const uint32_t counters[] = { GUS_SPE_HAS_TOTAL, GUS_SPE_HAS_ISSUE, GUS_SPE_HAS_TRANSLATION };
	static const uint32_t others[GUS_SPE_UNKNOWN + 1] = { [GUS_SPE_EVENTS] = GUS_SPE_HAS_EVENTS,
		[GUS_SPE_SOURCE] = GUS_SPE_HAS_SOURCE, [GUS_SPE_OPERATION] = GUS_SPE_HAS_OPERATION };

	if (p->kind == GUS_SPE_ADDRESS)
		return p->index <= ADDRESS_PREVIOUS && (r->known & addresses[p->index]);
	if (p->kind == GUS_SPE_COUNTER)
		return p->index <= COUNTER_TRANSLATION && (r->known & counters[p->index]);
	if (p->kind == GUS_SPE_CONTEXT)
		return (r->known & GUS_SPE_HAS_CONTEXT) && r->context_level == p->index + 1;
	return r->known & others[p->kind];
}

static void take_packet(struct gus_spe_record *r, const struct gus_spe_packet *p)
{
	switch (p->kind) {
	case GUS_SPE_ADDRESS:
		take_address(r, p);
		break;
	case GUS_SPE_COUNTER:
		take_counter(r, p);
		break;
	case GUS_SPE_OPERATION:
		take_operation(r, p);
		break;
	case GUS_SPE_EVENTS:
		r->known |= GUS_SPE_HAS_EVENTS;
		r->events = p->payload;
		r->events_told = UINT64_MAX >> (64 - 8 * p->size);
		break;
	case GUS_SPE_SOURCE:
		r->known |= GUS_SPE_HAS_SOURCE;
		r->source = (uint16_t)p->payload;
		break;
	case GUS_SPE_CONTEXT:
		take_context(r, p);
		break;
	case GUS_SPE_TIMESTAMP:
		r->known |= GUS_SPE_HAS_TIMESTAMP;
		r->timestamp = p->payload;
		break;
	default:
		break;
	}
}

static bool is_filling(const struct gus_spe_packet *p)
{
	return p->kind == GUS_SPE_PADDING || p->kind == GUS_SPE_ALIGNMENT;
}

bool gus_spe_record(struct gus_cursor *c, struct gus_spe_record *r, struct gus_spe_lost *lost)
{
	struct gus_spe_packet p;
	bool begun = false, damaged = false;

	*r = (struct gus_spe_record){ 0 };
	while (gus_spe_packet(c, &p)) {
		begun |= !is_filling(&p);
		if (p.kind == GUS_SPE_UNKNOWN) {
			lost->bytes++;
			damaged = true;
		}
		damaged |= has_already(r, &p);
		take_packet(r, &p);
		if (p.kind != GUS_SPE_END && p.kind != GUS_SPE_TIMESTAMP)
			continue;
		if (!damaged && r->known & ~(uint32_t)GUS_SPE_HAS_TIMESTAMP)
			return true;
		lost->damaged += damaged;
		begun = damaged = false;
		*r = (struct gus_spe_record){ 0 };
	}
	lost->cut += begun || c->bad;
	*r = (struct gus_spe_record){ 0 };
	return false;
}

/* Data sources: numbers that each core gives as it likes. */

struct numbered { uint8_t number, source; bool modified; };

/* Arm's own cores: their Technical Reference Manuals, "Data Source packet". */
static const struct numbered arm_sources[] = {
	{ 0x0, GUS_SPE_SOURCE_L1, false }, { 0x8, GUS_SPE_SOURCE_L2, false }, { 0x9, GUS_SPE_SOURCE_PEER_CORE, false },
	{ 0xa, GUS_SPE_SOURCE_CLUSTER, false }, { 0xb, GUS_SPE_SOURCE_SYSTEM_CACHE, false },
	{ 0xc, GUS_SPE_SOURCE_PEER_CLUSTER, false }, { 0xd, GUS_SPE_SOURCE_REMOTE, false },
	{ 0xe, GUS_SPE_SOURCE_DRAM, false },
};

/* AmpereOne (tools/perf/util/arm-spe.c, by Ampere). Its 0 is a cache of the chip or a device, which is nothing. */
static const struct numbered ampere_sources[] = {
	{ 0x3, GUS_SPE_SOURCE_SYSTEM_CACHE, false }, { 0x5, GUS_SPE_SOURCE_REMOTE_CACHE, false },
	{ 0x7, GUS_SPE_SOURCE_DRAM, false }, { 0x8, GUS_SPE_SOURCE_L1, false }, { 0x9, GUS_SPE_SOURCE_L2, false },
};

/* HiSilicon's HIP12 (tools/perf/util/arm-spe.c, by HiSilicon). */
static const struct numbered hip_sources[] = {
	{ 0, GUS_SPE_SOURCE_PEER_CORE, false }, { 1, GUS_SPE_SOURCE_PEER_CORE, true },
	{ 2, GUS_SPE_SOURCE_CLUSTER, false }, { 3, GUS_SPE_SOURCE_CLUSTER, true },
	{ 4, GUS_SPE_SOURCE_PEER_CLUSTER, false }, { 5, GUS_SPE_SOURCE_PEER_CLUSTER, true },
	{ 6, GUS_SPE_SOURCE_REMOTE_CACHE, false }, { 7, GUS_SPE_SOURCE_REMOTE_CACHE, true },
	{ 8, GUS_SPE_SOURCE_DRAM, false }, { 9, GUS_SPE_SOURCE_REMOTE_DRAM, false },
	{ 13, GUS_SPE_SOURCE_DEVICE, false }, { 16, GUS_SPE_SOURCE_L2, false }, { 17, GUS_SPE_SOURCE_L2, true },
	{ 18, GUS_SPE_SOURCE_L1, false },
};

struct core { uint8_t implementer; uint16_t part; uint8_t rows; const struct numbered *sources; };

#define CORE(implementer, part, sources) { implementer, part, sizeof(sources) / sizeof(*(sources)), sources }
static const struct core cores[] = {
	CORE(0x41, 0xd0c, arm_sources), /* Neoverse N1 */
	CORE(0x41, 0xd40, arm_sources), /* V1 */
	CORE(0x41, 0xd49, arm_sources), /* N2 */
	CORE(0x41, 0xd4f, arm_sources), /* V2 */
	CORE(0x41, 0xd84, arm_sources), /* V3 */
	CORE(0x41, 0xd4b, arm_sources), /* Cortex-A78C */
	CORE(0x41, 0xd4d, arm_sources), /* A715 */
	CORE(0x41, 0xd81, arm_sources), /* A720 */
	CORE(0x41, 0xd89, arm_sources), /* A720AE */
	CORE(0x41, 0xd87, arm_sources), /* A725 */
	CORE(0x41, 0xd44, arm_sources), /* X1 */
	CORE(0x41, 0xd4c, arm_sources), /* X1C */
	CORE(0x41, 0xd4e, arm_sources), /* X3 */
	CORE(0x41, 0xd82, arm_sources), /* X4 */
	CORE(0x41, 0xd85, arm_sources), /* X925 */
	CORE(0x4e, 0x010, arm_sources), /* NVIDIA Olympus */
	CORE(0xc0, 0xac4, ampere_sources), /* AmpereOne (1A) */
	CORE(0x48, 0xd06, hip_sources),
};
#undef CORE

struct gus_spe_origin gus_spe_origin_of(uint64_t midr, uint16_t number)
{
	const struct core *core = NULL;

	for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++)
		if (cores[i].implementer == (midr >> 24 & 0xff) && cores[i].part == (midr >> 4 & 0xfff))
			core = &cores[i];
	for (size_t i = 0; core && i < core->rows; i++)
		if (core->sources[i].number == number)
			return (struct gus_spe_origin){ (enum gus_spe_source)core->sources[i].source,
							core->sources[i].modified };
	return (struct gus_spe_origin){ GUS_SPE_SOURCE_UNKNOWN, false };
}
