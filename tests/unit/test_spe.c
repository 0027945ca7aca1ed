/* SPDX-License-Identifier: MIT */
/* Packets of Arm's SPE, made by what the architecture calls their fields; the decoder knows headers by masks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "collector/records/spe.h"

struct maker { uint8_t bytes[512]; size_t n; };

static void byte(struct maker *m, unsigned value)
{
	assert_true(m->n < sizeof(m->bytes));
	m->bytes[m->n++] = (uint8_t)value;
}

static void payload(struct maker *m, uint64_t value, unsigned log2)
{
	for (unsigned i = 0; i < 1u << log2; i++)
		byte(m, (unsigned)(value >> 8 * i));
}

/* Headers: type in the upper bits, log2 of the payload's bytes in bits 5 and 4. */
static void events(struct maker *m, uint64_t bits, unsigned log2) { byte(m, 0x42 | log2 << 4); payload(m, bits, log2); }
static void source(struct maker *m, unsigned number, unsigned log2)
{
	byte(m, 0x43 | log2 << 4);
	payload(m, number, log2);
}
static void context(struct maker *m, unsigned level, uint32_t id) { byte(m, 0x64 + level - 1); payload(m, id, 2); }
static void operation(struct maker *m, unsigned class, unsigned bits) { byte(m, 0x48 + class); payload(m, bits, 0); }
static void timestamp(struct maker *m, uint64_t ticks) { byte(m, 0x71); payload(m, ticks, 3); }
static void end(struct maker *m) { byte(m, 0x01); }

/* Those whose number may need more than three bits have it in two bytes. */
static void address(struct maker *m, unsigned index, uint64_t value)
{
	if (index > 7)
		byte(m, 0x20 | index >> 3);
	byte(m, 0xb0 | (index & 7));
	payload(m, value, 3);
}

static void counter(struct maker *m, unsigned index, unsigned cycles)
{
	if (index > 7)
		byte(m, 0x20 | index >> 3);
	byte(m, 0x98 | (index & 7));
	payload(m, cycles, 1);
}

/* From memory of its own length. */
static size_t parsed(const uint8_t *bytes, size_t n, struct gus_spe_record *records, size_t most,
		     struct gus_spe_lost *lost)
{
	uint8_t *own = malloc(n ? n : 1);
	struct gus_spe_record r;
	struct gus_cursor c;
	size_t found = 0;

	memcpy(own, bytes, n);
	*lost = (struct gus_spe_lost){ 0 };
	c = gus_cursor(own, n);
	while (gus_spe_record(&c, &r, lost))
		if (found < most)
			records[found++] = r;
	free(own);
	return found;
}

static struct gus_spe_record only(const struct maker *m)
{
	struct gus_spe_record r;
	struct gus_spe_lost lost;

	assert_int_equal(parsed(m->bytes, m->n, &r, 1, &lost), 1);
	assert_int_equal(lost.bytes + lost.damaged + lost.cut, 0);
	return r;
}

/* Packets by themselves: what they are, which of them, how long their payload is, and what it is. */
static void test_packets(void **state)
{
	static const struct { uint8_t bytes[10]; size_t n; struct gus_spe_packet is; } cases[] = {
		{ { 0x00 }, 1, { GUS_SPE_PADDING, 0, 0, 0 } },
		{ { 0x01 }, 1, { GUS_SPE_END, 0, 0, 0 } },
		{ { 0x71, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, { GUS_SPE_TIMESTAMP, 0, UINT64_C(0x0807060504030201), 8 } },
		{ { 0x42, 9 }, 2, { GUS_SPE_EVENTS, 0, 9, 1 } },
		{ { 0x62, 9, 0, 0, 1 }, 5, { GUS_SPE_EVENTS, 0, 0x1000009, 4 } },
		{ { 0x43, 14 }, 2, { GUS_SPE_SOURCE, 0, 14, 1 } },
		{ { 0x53, 14, 1 }, 3, { GUS_SPE_SOURCE, 0, 0x10e, 2 } },
		{ { 0x65, 1, 2, 3, 4 }, 5, { GUS_SPE_CONTEXT, 1, 0x04030201, 4 } },
		{ { 0x4a, 3 }, 2, { GUS_SPE_OPERATION, 2, 3, 1 } },
		{ { 0xb4, 1 }, 9, { GUS_SPE_ADDRESS, 4, 1, 8 } },
		{ { 0x23, 0xb7, 1 }, 10, { GUS_SPE_ADDRESS, 31, 1, 8 } },
		{ { 0x9a, 1, 2 }, 3, { GUS_SPE_COUNTER, 2, 0x201, 2 } },
		{ { 0x21, 0x99, 1, 2 }, 4, { GUS_SPE_COUNTER, 9, 0x201, 2 } },
		{ { 0xff }, 1, { GUS_SPE_UNKNOWN, 0, 0, 0 } },
		{ { 0x21, 0x00, 9, 9 }, 4, { GUS_SPE_ALIGNMENT, 0, 0, 4 } },
		{ { 0x20, 0x00 }, 2, { GUS_SPE_ALIGNMENT, 0, 0, 2 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_cursor c = gus_cursor(cases[i].bytes, cases[i].n);
		struct gus_spe_packet p;

		assert_true(gus_spe_packet(&c, &p));
		assert_int_equal(p.kind, cases[i].is.kind);
		assert_int_equal(p.index, cases[i].is.index);
		assert_true(p.payload == cases[i].is.payload);
		assert_int_equal(p.size, cases[i].is.size);
		assert_int_equal(gus_cursor_left(&c), 0);
		assert_false(gus_spe_packet(&c, &p));
		assert_false(c.bad);
		for (size_t n = 1; n < cases[i].n; n++) { /* cut, it is none */
			c = gus_cursor(cases[i].bytes, n);
			assert_false(gus_spe_packet(&c, &p));
			assert_true(c.bad);
		}
	}
}

/* A record has one packet of each; with two of one it is two whose end was lost. But the contexts of two levels are
 * two, and that of the higher one counts. What was lost before is not forgotten. */
static void test_twice(void **state)
{
	static const struct { unsigned header, log2; } packets[] = { { 0xb0, 3 }, { 0xb1, 3 }, { 0xb2, 3 }, { 0xb3, 3 },
		{ 0xb4, 3 }, { 0x98, 1 }, { 0x99, 1 }, { 0x9a, 1 }, { 0x42, 0 }, { 0x43, 0 }, { 0x64, 2 }, { 0x65, 2 },
		{ 0x49, 0 } };
	struct gus_spe_lost lost = { 5, 6, 7 };
	struct gus_spe_record r;
	struct gus_cursor c;

	(void)state;
	for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++) {
		struct maker m = { .n = 0 };
		struct gus_spe_lost own;

		for (int twice = 0; twice < 2; twice++) {
			byte(&m, packets[i].header);
			payload(&m, 1, packets[i].log2);
		}
		end(&m);
		counter(&m, 0, 7);
		end(&m);
		assert_int_equal(parsed(m.bytes, m.n, &r, 1, &own), 1);
		assert_int_equal(r.total, 7);
		assert_int_equal(own.damaged, 1);
		assert_int_equal(own.bytes + own.cut, 0);
	}
	for (unsigned first = 1; first <= 2; first++) {
		struct maker m = { .n = 0 };

		context(&m, first, first * 10);
		context(&m, 3 - first, (3 - first) * 10);
		end(&m);
		r = only(&m);
		assert_int_equal(r.context, 20);
		assert_int_equal(r.context_level, 2);
	}
	c = gus_cursor("\xff\x42\x01\x01\x42", 5);
	assert_false(gus_spe_record(&c, &r, &lost));
	assert_int_equal(lost.bytes, 6);
	assert_int_equal(lost.damaged, 7);
	assert_int_equal(lost.cut, 8);
}

/* A load: all that one may bring. */
static void make_load(struct maker *m)
{
	address(m, 0, UINT64_C(0xa0ff80001029d3f4)); /* EL1, non-secure */
	context(m, 1, 77);
	operation(m, 1, 0x00);
	events(m, 0x16, 1);
	counter(m, 1, 11);
	counter(m, 0, 13);
	address(m, 2, UINT64_C(0x5a00ffff70d840d0)); /* tagged */
	counter(m, 2, 1);
	address(m, 3, UINT64_C(0xca00000123456780)); /* non-secure, checked, tag 10 */
	source(m, 0xd, 0);
	timestamp(m, 86447955877);
}

static void test_load(void **state)
{
	struct maker m = { .n = 0 };
	struct gus_spe_record r;

	(void)state;
	make_load(&m);
	r = only(&m);
	assert_int_equal(r.known, GUS_SPE_HAS_PC | GUS_SPE_HAS_VIRTUAL | GUS_SPE_HAS_PHYSICAL | GUS_SPE_HAS_TOTAL |
			 GUS_SPE_HAS_ISSUE | GUS_SPE_HAS_TRANSLATION | GUS_SPE_HAS_EVENTS | GUS_SPE_HAS_OPERATION |
			 GUS_SPE_HAS_SOURCE | GUS_SPE_HAS_CONTEXT | GUS_SPE_HAS_TIMESTAMP);
	assert_int_equal(r.pc, UINT64_C(0xffff80001029d3f4)); /* bit 55 says: of the upper half */
	assert_int_equal(r.level, 1);
	assert_true(r.non_secure && r.physical_non_secure);
	assert_int_equal(r.virtual, UINT64_C(0x0000ffff70d840d0));
	assert_int_equal(r.tag, 0x5a);
	assert_int_equal(r.physical, 0x123456780);
	assert_true(r.physical_checked);
	assert_int_equal(r.physical_tag, 10);
	assert_int_equal(r.total, 13);
	assert_int_equal(r.issue, 11);
	assert_int_equal(r.translation, 1);
	assert_int_equal(r.events, GUS_SPE_RETIRED | GUS_SPE_L1D_ACCESS | GUS_SPE_TLB_ACCESS);
	assert_int_equal(r.events_told, 0xffff);
	assert_int_equal(r.class, GUS_SPE_LOAD_STORE);
	assert_int_equal(r.operation, GUS_SPE_OP_LOAD);
	assert_int_equal(r.source, 0xd);
	assert_int_equal(r.context, 77);
	assert_int_equal(r.context_level, 1);
	assert_int_equal(r.timestamp, 86447955877);
}

static void test_branch(void **state)
{
	struct maker m = { .n = 0 };
	struct gus_spe_record r;

	(void)state;
	address(&m, 0, UINT64_C(0x4000000000401000)); /* EL2, secure */
	operation(&m, 2, 0x01);
	events(&m, GUS_SPE_RETIRED | GUS_SPE_MISPREDICTED | GUS_SPE_NOT_TAKEN, 0);
	address(&m, 1, 0x401004);
	address(&m, 4, 0x400f00);
	context(&m, 2, 5);
	end(&m);
	r = only(&m);
	assert_int_equal(r.known, GUS_SPE_HAS_PC | GUS_SPE_HAS_TARGET | GUS_SPE_HAS_PREVIOUS | GUS_SPE_HAS_EVENTS |
			 GUS_SPE_HAS_OPERATION | GUS_SPE_HAS_CONTEXT);
	assert_int_equal(r.level, 2);
	assert_false(r.non_secure);
	assert_int_equal(r.target, 0x401004);
	assert_int_equal(r.previous, 0x400f00);
	assert_int_equal(r.operation, GUS_SPE_OP_BRANCH | GUS_SPE_OP_CONDITIONAL);
	assert_int_equal(r.context_level, 2);
	assert_int_equal(r.events_told, 0xff);
}

/* Events of one to eight bytes: what there was no room for is not known. */
static void test_events(void **state)
{
	static const uint64_t told[4] = { 0xff, 0xffff, 0xffffffff, UINT64_MAX };

	(void)state;
	for (unsigned log2 = 0; log2 < 4; log2++) {
		for (unsigned bit = 0; bit < 8u << log2; bit++) {
			struct maker m = { .n = 0 };

			events(&m, UINT64_C(1) << bit, log2);
			end(&m);
			assert_int_equal(only(&m).events, UINT64_C(1) << bit);
			assert_int_equal(only(&m).events_told, told[log2]);
		}
	}
}

static void test_operations(void **state)
{
	enum { L = GUS_SPE_OP_LOAD, S = GUS_SPE_OP_STORE, V = GUS_SPE_OP_VECTOR, E = GUS_SPE_OP_SVE,
		P = GUS_SPE_OP_PREDICATED, G = GUS_SPE_OP_GATHER, A = GUS_SPE_OP_ATOMIC, X = GUS_SPE_OP_EXCLUSIVE,
		R = GUS_SPE_OP_ACQUIRE_RELEASE, B = GUS_SPE_OP_BRANCH, C = GUS_SPE_OP_CONDITIONAL,
		I = GUS_SPE_OP_INDIRECT, F = GUS_SPE_OP_FLOAT, M = GUS_SPE_OP_SME };
	static const struct { unsigned class, bits; uint32_t is; unsigned vector; } cases[] = {
		{ 0, 0x00, 0, 0 }, { 0, 0x01, C, 0 }, { 0, 0x02, F, 0 }, { 0, 0x06, F | V, 0 },
		{ 0, 0x07, F | V | C, 0 },
		{ 0, 0x08, V | E, 32 }, { 0, 0x2e, V | E | P | F, 128 }, { 0, 0x5a, V | E | F, 1024 },
		{ 0, 0x88, V | M, 128 }, { 0, 0x8e, V | M | F, 256 }, { 0, 0xfc, V | M, 128 << 15 },
		{ 0, 0x89, 0, 0 }, { 0, 0x11, 0, 0 },
		{ 1, 0x00, L, 0 }, { 1, 0x01, S, 0 }, { 1, 0x04, L | V, 0 }, { 1, 0x05, S | V, 0 },
		{ 1, 0x02, L, 0 }, { 1, 0x06, L | A, 0 }, { 1, 0x0b, S | X, 0 }, { 1, 0x12, L | R, 0 },
		{ 1, 0x1f, S | A | X | R, 0 },
		{ 1, 0x10, L, 0 }, { 1, 0x15, S | GUS_SPE_OP_TAG, 0 }, { 1, 0x20, L | GUS_SPE_OP_COPY, 0 },
		{ 1, 0x21, S | GUS_SPE_OP_COPY, 0 }, { 1, 0x25, S | GUS_SPE_OP_COPY, 0 },
		{ 1, 0x30, L | GUS_SPE_OP_SYSTEM, 0 }, { 1, 0x41, S | GUS_SPE_OP_GUARDED, 0 },
		{ 1, 0x08, L | V | E, 32 }, { 1, 0x2d, S | V | E | P, 128 }, { 1, 0xbc, L | V | E | P | G, 256 },
		{ 2, 0x00, B, 0 }, { 2, 0x01, B | C, 0 }, { 2, 0x02, B | I, 0 },
		{ 2, 0x0a, B | I | GUS_SPE_OP_CALL, 0 }, { 2, 0x12, B | I | GUS_SPE_OP_RETURN, 0 },
		{ 2, 0x1a, B | I, 0 }, { 2, 0x04, B | GUS_SPE_OP_GUARDED, 0 },
		{ 3, 0x01, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m = { .n = 0 };
		struct gus_spe_record r;

		operation(&m, cases[i].class, cases[i].bits);
		end(&m);
		r = only(&m);
		if (r.operation != cases[i].is)
			printf("class %u, bits %x\n", cases[i].class, cases[i].bits);
		assert_int_equal(r.class, cases[i].class);
		assert_int_equal(r.operation, cases[i].is);
		assert_int_equal(r.vector_bits, cases[i].vector);
	}
}

/* What fills up says nothing, wherever it is: zeroes, and gaps up to a multiple of 2 to 16. */
static void test_filling(void **state)
{
	struct gus_spe_record r[3];
	struct maker m = { .n = 0 };
	struct gus_spe_lost lost;

	(void)state;
	byte(&m, 0);
	counter(&m, 0, 7); /* bytes 1 to 3 */
	byte(&m, 0x23);    /* to a multiple of 16: bytes 4 to 15 */
	byte(&m, 0);
	while (m.n < 16)
		byte(&m, 0xff);
	end(&m);
	byte(&m, 0x20);    /* to one of 2: bytes 17 to 19, as two are its own */
	byte(&m, 0);
	byte(&m, 0xff);
	counter(&m, 0, 8);
	for (unsigned i = 0; i < 5; i++)
		byte(&m, 0);
	end(&m);
	byte(&m, 0);
	assert_int_equal(parsed(m.bytes, m.n, r, 3, &lost), 2);
	assert_int_equal(r[0].total, 7);
	assert_int_equal(r[1].total, 8);
	assert_int_equal(lost.bytes + lost.damaged + lost.cut, 0);
}

/* Packets of numbers that nobody has yet are passed over whole; a timestamp alone is no record. */
static void test_strange(void **state)
{
	struct gus_spe_record r[3];
	struct gus_spe_lost lost;
	struct maker m = { .n = 0 };

	(void)state;
	timestamp(&m, 1);
	address(&m, 7, 0x0101010101010101);
	address(&m, 31, 0x0101010101010101);
	counter(&m, 3, 0x0101);
	counter(&m, 8, 0x0101);
	counter(&m, 0, 5);
	end(&m);
	assert_int_equal(parsed(m.bytes, m.n, r, 3, &lost), 1);
	assert_int_equal(r[0].known, GUS_SPE_HAS_TOTAL);
	assert_int_equal(lost.bytes + lost.damaged + lost.cut, 0);
	/* What is none damages its record and no other. */
	m.n = 0;
	counter(&m, 0, 5);
	byte(&m, 0xff);
	byte(&m, 0x20); /* an extended header of something that has none */
	byte(&m, 0x71); /* which is read as what it is by itself */
	payload(&m, 9, 3);
	counter(&m, 0, 6);
	end(&m);
	assert_int_equal(parsed(m.bytes, m.n, r, 3, &lost), 1);
	assert_int_equal(r[0].total, 6);
	assert_int_equal(lost.bytes, 2);
	assert_int_equal(lost.damaged, 1);
	assert_int_equal(lost.cut, 0);
}

/* Three records, cut at each byte: those that are whole are there, and of what is left, if anything is, one is cut. */
static void test_cut(void **state)
{
	struct gus_spe_record r[4];
	struct maker m = { .n = 0 };
	size_t ends[4] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		make_load(&m);
		ends[i + 1] = m.n;
	}
	for (size_t n = 0; n <= m.n; n++) {
		struct gus_spe_lost lost;
		size_t whole = n / ends[1], rest = n - ends[whole];

		assert_int_equal(parsed(m.bytes, n, r, 4, &lost), whole);
		for (size_t i = 0; i < whole; i++)
			assert_int_equal(r[i].timestamp, 86447955877);
		assert_int_equal(lost.cut, rest != 0);
		assert_int_equal(lost.bytes + lost.damaged, 0);
	}
}

/* Any byte becomes any other: the records beside it are as they were, unless it hid where they begin. */
static void test_flipped(void **state)
{
	struct gus_spe_record r[16], last;
	struct maker m = { .n = 0 };
	size_t first, kept = 0, tried = 0;

	(void)state;
	make_load(&m);
	first = m.n;
	make_load(&m);
	counter(&m, 0, 99); /* one that is easily known again */
	end(&m);
	for (size_t at = 0; at < first; at++)
		for (unsigned value = 0; value < 256; value++) {
			uint8_t bytes[512];
			struct gus_spe_lost lost;
			size_t n;

			memcpy(bytes, m.bytes, m.n);
			bytes[at] = (uint8_t)value;
			n = parsed(bytes, m.n, r, 16, &lost);
			assert_in_range(n, 1, 15);
			last = r[n - 1];
			tried++;
			kept += last.known == GUS_SPE_HAS_TOTAL && last.total == 99;
		}
	assert_int_equal(kept, tried);
}

static uint64_t midr(unsigned implementer, unsigned part)
{
	return (uint64_t)implementer << 24 | 15 << 16 | part << 4 | 1;
}

enum { NONE = GUS_SPE_SOURCE_UNKNOWN, L1 = GUS_SPE_SOURCE_L1, L2 = GUS_SPE_SOURCE_L2, CORE = GUS_SPE_SOURCE_PEER_CORE,
	CLUSTER = GUS_SPE_SOURCE_CLUSTER, SYSTEM = GUS_SPE_SOURCE_SYSTEM_CACHE, OTHER = GUS_SPE_SOURCE_PEER_CLUSTER,
	REMOTE = GUS_SPE_SOURCE_REMOTE, FAR = GUS_SPE_SOURCE_REMOTE_CACHE, DRAM = GUS_SPE_SOURCE_DRAM,
	FAR_DRAM = GUS_SPE_SOURCE_REMOTE_DRAM, DEVICE = GUS_SPE_SOURCE_DEVICE, CHANGED = 64 };

/* Of every core that has a table each number, and of the rest of them none. CHANGED: by another core. */
static const uint8_t shared[32] = { L1, [8] = L2, CORE, CLUSTER, SYSTEM, OTHER, REMOTE, DRAM };
static const uint8_t ampere[32] = { [3] = SYSTEM, [5] = FAR, [7] = DRAM, L1, L2 };
static const uint8_t hip12[32] = { CORE, CORE | CHANGED, CLUSTER, CLUSTER | CHANGED, OTHER, OTHER | CHANGED, FAR,
	FAR | CHANGED, DRAM, FAR_DRAM, [13] = DEVICE, [16] = L2, L2 | CHANGED, L1 };
static const uint8_t nothing[32];

static const struct { uint8_t implementer; uint16_t part; const uint8_t *numbers; } cores[] = {
	{ 0x41, 0xd0c, shared }, { 0x41, 0xd40, shared }, { 0x41, 0xd49, shared }, { 0x41, 0xd4f, shared },
	{ 0x41, 0xd84, shared }, { 0x41, 0xd4b, shared }, { 0x41, 0xd4d, shared }, { 0x41, 0xd81, shared },
	{ 0x41, 0xd89, shared }, { 0x41, 0xd87, shared }, { 0x41, 0xd44, shared }, { 0x41, 0xd4c, shared },
	{ 0x41, 0xd4e, shared }, { 0x41, 0xd82, shared }, { 0x41, 0xd85, shared }, { 0x4e, 0x010, shared },
	{ 0xc0, 0xac4, ampere }, { 0x48, 0xd06, hip12 },
	/* Cortex-A76, which numbers nothing, the first AmpereOne, of which nobody says, and others' parts. */
	{ 0x41, 0xd0b, nothing }, { 0x51, 0xd0c, nothing }, { 0xc0, 0xac3, nothing }, { 0x48, 0xd01, nothing },
	{ 0x41, 0x000, nothing }, { 0x00, 0x000, nothing },
};

static void test_sources(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++) {
		uint64_t core = midr(cores[i].implementer, cores[i].part);

		for (unsigned number = 0; number < 32; number++) {
			struct gus_spe_origin origin = gus_spe_origin_of(core, (uint16_t)number);

			assert_int_equal(origin.source, cores[i].numbers[number] & ~CHANGED);
			assert_int_equal(origin.modified, !!(cores[i].numbers[number] & CHANGED));
		}
		assert_int_equal(gus_spe_origin_of(core, 0x108).source, NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_branch),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_filling),
		cmocka_unit_test(test_strange),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
