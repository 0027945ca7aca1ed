/* SPDX-License-Identifier: MIT */
/* Fake packets of Arm's SPE come back as the records that they were drawn for; of streams that are cut or changed, what
 * is whole is kept, and what is lost is counted. */
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
#include "tests/words/spe_words.h"

/* Where the decoder has a field of the manual's, and the bit that says that it is there. */
#define FIELD(name, member) \
	static uint64_t name(const struct gus_spe_record *r) \
	{ \
		return (uint64_t)r->member; \
	}
FIELD(pc, pc) FIELD(level, level) FIELD(secure, non_secure) FIELD(target, target) FIELD(va, virtual) FIELD(tag, tag)
FIELD(pa, physical) FIELD(pat, physical_tag) FIELD(checked, physical_checked) FIELD(pa_secure, physical_non_secure)
FIELD(previous, previous) FIELD(total, total) FIELD(issue, issue) FIELD(translation, translation)
FIELD(events, events) FIELD(source, source) FIELD(context, context) FIELD(timestamp, timestamp)

/* is_virtual: its bit 55 is that of all bits above it. */
static const struct {
	const char *name;
	uint64_t (*value)(const struct gus_spe_record *);
	uint32_t known;
	bool is_virtual;
} meanings[] = {
	{ "PC", pc, GUS_SPE_HAS_PC, true }, { "PC.EL", level, GUS_SPE_HAS_PC, false },
	{ "PC.NS", secure, GUS_SPE_HAS_PC, false }, { "target", target, GUS_SPE_HAS_TARGET, true },
	{ "VA", va, GUS_SPE_HAS_VIRTUAL, true }, { "VA.tag", tag, GUS_SPE_HAS_VIRTUAL, false },
	{ "PA", pa, GUS_SPE_HAS_PHYSICAL, false }, { "PA.PAT", pat, GUS_SPE_HAS_PHYSICAL, false },
	{ "PA.CH", checked, GUS_SPE_HAS_PHYSICAL, false }, { "PA.NS", pa_secure, GUS_SPE_HAS_PHYSICAL, false },
	{ "previous target", previous, GUS_SPE_HAS_PREVIOUS, true },
	{ "total latency", total, GUS_SPE_HAS_TOTAL, false }, { "issue latency", issue, GUS_SPE_HAS_ISSUE, false },
	{ "translation latency", translation, GUS_SPE_HAS_TRANSLATION, false },
	{ "events", events, GUS_SPE_HAS_EVENTS, false }, { "source", source, GUS_SPE_HAS_SOURCE, false },
	{ "context", context, GUS_SPE_HAS_CONTEXT, false }, { "timestamp", timestamp, GUS_SPE_HAS_TIMESTAMP, false },
};

static const struct words_spe_field *field_of(const char *name)
{
	for (const struct words_spe_field *f = words_spe_fields; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	fail_msg("no field %s", name);
	return NULL;
}

static uint64_t extended(uint64_t address)
{
	return words_get(address, "55") ? words_set(address, "63:56", 0xff) : address;
}

/* Whether the record is the one that was drawn; says of the first field that is not, if it should be. */
static bool is_drawn(const struct gus_spe_record *r, const struct words_spe_record *w, bool should)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		const struct words_spe_field *f = field_of(meanings[i].name);
		uint64_t want = words_spe_has(w, f) ? words_spe_value(w, f) : 0;

		if (meanings[i].is_virtual)
			want = extended(want);
		if (meanings[i].value(r) == want && !(r->known & meanings[i].known) == !words_spe_has(w, f))
			continue;
		if (should)
			fail_msg("%s: %#llx, not %#llx; known %x", f->name, (unsigned long long)meanings[i].value(r),
				 (unsigned long long)want, r->known);
		return false;
	}
	return true;
}

static void assert_events_told(const struct gus_spe_record *r, const struct words_spe_record *w)
{
	const struct words_spe_field *f = field_of("events");

	for (unsigned size = 0; size < 4; size++)
		if (words_spe_has(w, f) && w->size[8] == size)
			assert_true(r->events_told == UINT64_MAX >> (64 - (8u << size)));
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
	while (gus_spe_record(&c, &r, lost)) {
		assert_true(found < most);
		records[found++] = r;
	}
	free(own);
	return found;
}

static void assert_nothing_lost(const struct gus_spe_lost *lost)
{
	assert_int_equal(lost->bytes + lost->damaged + lost->cut, 0);
}

/* Each packet alone is a record of what it brings, but for a timestamp. */
static void test_alone(void **state)
{
	struct words_random random = { 1 };

	(void)state;
	for (unsigned i = 0; i < 100 * WORDS_SPE_PACKETS; i++) {
		struct words_bytes b = { .n = 0 };
		struct words_spe_record w = words_spe_alone(&random, &b, i % WORDS_SPE_PACKETS);
		bool is_time = w.has[WORDS_SPE_PACKETS - 1];
		struct gus_spe_record r;
		struct gus_spe_lost lost;

		assert_int_equal(parsed(b.v, b.n, &r, 1, &lost), is_time ? 0 : 1);
		assert_nothing_lost(&lost);
		if (is_time)
			continue;
		is_drawn(&r, &w, true);
		assert_events_told(&r, &w);
		if (words_spe_has(&w, field_of("context")))
			assert_int_equal(r.context_level, w.level);
	}
}

enum { STREAMS = 400, RECORDS = 24 };

static size_t draw_stream(struct words_random *random, struct words_bytes *b, struct words_spe_record *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w[i] = words_spe_random(random, b);
	return n;
}

static void test_streams(void **state)
{
	struct words_random random = { 2 };

	(void)state;
	for (unsigned i = 0; i < STREAMS; i++) {
		struct words_spe_record w[RECORDS];
		struct gus_spe_record r[RECORDS];
		struct words_bytes b = { .n = 0 };
		struct gus_spe_lost lost;

		draw_stream(&random, &b, w, RECORDS);
		assert_int_equal(parsed(b.v, b.n, r, RECORDS, &lost), RECORDS);
		assert_nothing_lost(&lost);
		for (unsigned k = 0; k < RECORDS; k++) {
			is_drawn(&r[k], &w[k], true);
			assert_events_told(&r[k], &w[k]);
		}
	}
}

/* What an operation is, by each of the payloads that there are. */
static uint32_t operation_of(unsigned class, uint8_t bits)
{
	static const struct { const char *name; uint32_t is; } names[] = {
		{ "SVE", GUS_SPE_OP_VECTOR | GUS_SPE_OP_SVE }, { "SME", GUS_SPE_OP_VECTOR | GUS_SPE_OP_SME },
		{ "SIMD and floating-point registers", GUS_SPE_OP_VECTOR }, { "allocation tags", GUS_SPE_OP_TAG },
		{ "memset", GUS_SPE_OP_COPY }, { "memcpy", GUS_SPE_OP_COPY }, { "system register", GUS_SPE_OP_SYSTEM },
		{ "guarded control stack", GUS_SPE_OP_GUARDED }, { "branch", GUS_SPE_OP_BRANCH },
	};
	static const struct { char letter; uint32_t is; } letters[] = { { 'a', GUS_SPE_OP_ATOMIC },
		{ 'f', GUS_SPE_OP_FLOAT }, { 'c', GUS_SPE_OP_CONDITIONAL }, { 'p', GUS_SPE_OP_PREDICATED },
		{ 'r', GUS_SPE_OP_ACQUIRE_RELEASE }, { 'x', GUS_SPE_OP_EXCLUSIVE }, { 'i', GUS_SPE_OP_INDIRECT },
		{ 's', GUS_SPE_OP_STORE } };
	static const uint32_t linked[4] = { 0, GUS_SPE_OP_CALL, GUS_SPE_OP_RETURN, 0 };
	const struct words_spe_operation *o = words_spe_operation(class, bits);
	uint32_t is = 0;

	if (!o)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (o->name && !strcmp(names[i].name, o->name))
			is |= names[i].is;
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (words_spe_letter(o, bits, letters[i].letter))
			is |= letters[i].is;
	if (class == 0 && (is & GUS_SPE_OP_ATOMIC)) /* there the letter is ASIMD's */
		is = (is & ~(uint32_t)GUS_SPE_OP_ATOMIC) | GUS_SPE_OP_VECTOR;
	if (words_spe_letter(o, bits, 'g'))
		is |= class == 1 ? GUS_SPE_OP_GATHER : GUS_SPE_OP_GUARDED;
	if (class == 1 && !(is & GUS_SPE_OP_STORE) && strcmp(o->diagram, "00100101") != 0)
		is |= GUS_SPE_OP_LOAD;
	if (!strcmp(o->diagram, "00100101"))
		is |= GUS_SPE_OP_STORE;
	return is | (class == 2 ? linked[words_spe_letter(o, bits, 'R')] : 0);
}

static void test_operations(void **state)
{
	(void)state;
	for (unsigned class = 0; class < 4; class++)
		for (unsigned bits = 0; bits < 256; bits++) {
			const struct words_spe_operation *o = words_spe_operation(class, (uint8_t)bits);
			unsigned length = o ? words_spe_letter(o, (uint8_t)bits, 'V') : 0, vector = 0;
			struct words_bytes b = { .n = 0 };
			struct gus_spe_record r;
			struct gus_spe_lost lost;

			words_spe_put(&b, "operation", class, 0, bits);
			words_spe_put(&b, "timestamp", 0, 3, 1);
			assert_int_equal(parsed(b.v, b.n, &r, 1, &lost), 1);
			assert_int_equal(r.class, class);
			if (r.operation != operation_of(class, (uint8_t)bits))
				fail_msg("class %u, %02x: %x, not %x", class, bits, r.operation,
					 operation_of(class, (uint8_t)bits));
			if (o && o->name && !strcmp(o->name, "SVE"))
				vector = 32u << length;
			else if (o && o->name && !strcmp(o->name, "SME"))
				vector = 128u << length;
			assert_int_equal(r.vector_bits, vector);
		}
}

/* A stream that ends anywhere: the records before are there, and one is cut, unless it ends between two. */
static void test_cut(void **state)
{
	struct words_random random = { 3 };

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		struct words_spe_record w[8];
		struct gus_spe_record r[8];
		struct words_bytes b = { .n = 0 };

		draw_stream(&random, &b, w, 8);
		for (size_t n = 0; n <= b.n; n++) {
			struct gus_spe_lost lost;
			size_t whole = 0, begun;

			while (whole < 8 && w[whole].ends <= n)
				whole++;
			begun = whole ? w[whole - 1].ends : 0;
			assert_int_equal(parsed(b.v, n, r, 8, &lost), whole);
			for (size_t k = 0; k < whole; k++)
				is_drawn(&r[k], &w[k], true);
			assert_int_equal(lost.bytes + lost.damaged, 0);
			assert_in_range(lost.cut, 0, n != begun);
		}
	}
}

enum { FEW = 6 };

/* One byte of so many records is not what it was: those before it are, and those behind it from the second one on at
 * the latest, as a packet that got longer ends in the next one; where there are fewer than were drawn, some are
 * counted. */
static size_t check_changed(const struct words_bytes *b, const struct words_spe_record *w, size_t at)
{
	struct gus_spe_record r[64];
	struct gus_spe_lost lost;
	size_t which = 0, n = parsed(b->v, b->n, r, 64, &lost), same = 0;

	while (w[which].ends <= at)
		which++;
	assert_true(n >= which);
	for (size_t i = 0; i < which; i++)
		is_drawn(&r[i], &w[i], true);
	while (same < n && same < FEW && is_drawn(&r[n - 1 - same], &w[FEW - 1 - same], false))
		same++;
	assert_true(which + 2 + same >= FEW);
	assert_true(n >= FEW || lost.damaged || lost.cut);
	return n < FEW;
}

static void test_changed(void **state)
{
	struct words_random random = { 4 };
	size_t fewer = 0;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		static const uint8_t flips[] = { 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff };
		struct words_spe_record w[FEW];
		struct words_bytes b = { .n = 0 };

		draw_stream(&random, &b, w, FEW);
		for (size_t at = 0; at < b.n; at++)
			for (size_t k = 0; k < sizeof(flips); k++) {
				b.v[at] ^= flips[k];
				fewer += check_changed(&b, w, at);
				b.v[at] ^= flips[k];
			}
	}
	assert_true(fewer > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
