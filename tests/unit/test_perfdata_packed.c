/* SPDX-License-Identifier: MIT */
/* Records that are packed into others: what comes of pieces that were made block by block, whole, broken and without an
 * end. A frame of zstd is a head and blocks, each of which says how much it has; here they hold it as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/alloc.h"
#include "collector/perfdata/packed.h"
#include "collector/perfdata/record.h"

#define RECORD GUS_PERFDATA_UNPACKED_RECORD
#define NONE GUS_PERFDATA_UNPACKED_NONE
#define NO_RECORD GUS_PERFDATA_UNPACKED_NO_RECORD
#define BROKEN GUS_PERFDATA_UNPACKED_BROKEN
#define BEHIND GUS_PERFDATA_UNPACKED_BEHIND
#define UNFINISHED GUS_PERFDATA_UNPACKED_UNFINISHED
#define TOO_MUCH GUS_PERFDATA_UNPACKED_TOO_MUCH

struct bytes gus_vec(uint8_t);

/* A piece: the body of a packed record, behind its head. */
struct piece { struct bytes b; };

static const struct gus_perfdata_framing little;

static struct gus_perfdata_packed packed(void)
{
	struct gus_perfdata_packed p = { 0 };

	gus_perfdata_packed_allow(&p, 0);
	return p;
}

static void number(struct bytes *b, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		gus_vec_push(b, (uint8_t)(value >> 8 * i));
}

static struct piece piece(void)
{
	struct piece p = { 0 };

	number(&p.b, 0, GUS_PERFDATA_RECORD_HEAD);
	return p;
}

/* A frame of a window of 128 KB. */
static void frame(struct piece *p)
{
	number(&p->b, 0xfd2fb528, 4);
	number(&p->b, 0x3800, 2);
}

static void block(struct piece *p, const struct bytes *content, size_t n, bool last)
{
	number(&p->b, (uint64_t)n << 3 | last, 3);
	gus_vec_append(&p->b, content->v, n);
}

/* Records of 16 bytes: a head and their number. */
static struct bytes records(unsigned from, unsigned n)
{
	struct bytes b = { 0 };

	for (unsigned i = from; i < from + n; i++) {
		number(&b, 9, 4);
		number(&b, 0, 2);
		number(&b, 16, 2);
		number(&b, i, 8);
	}
	return b;
}

/* Gives the piece over; it lives until the test ends. */
static enum gus_perfdata_unpacked give(struct gus_perfdata_packed *p, struct piece *piece)
{
	struct gus_perfdata_record r = { .type = GUS_PERFDATA_PACKED, .bytes = piece->b.v, .size = piece->b.n,
					 .offset = 1000 };

	return gus_perfdata_packed_begin(p, &little, &r);
}

/* What comes next; of a record its number has to be that. */
static enum gus_perfdata_unpacked next(struct gus_perfdata_packed *p, unsigned wanted)
{
	struct gus_perfdata_record r;
	enum gus_perfdata_unpacked got = gus_perfdata_packed_next(p, &little, &r);

	if (got == RECORD) {
		assert_int_equal(r.type, 9);
		assert_int_equal(r.size, 16);
		assert_int_equal(r.bytes[8] | r.bytes[9] << 8, wanted);
	}
	return got;
}

/* One record to a piece, and one over three of them, at each place where it can be cut. */
static void records_over_pieces(void **state)
{
	struct bytes b = records(7, 1);

	(void)state;
	for (size_t first = 0; first <= 16; first++)
		for (size_t second = first; second <= 16; second++) {
			struct gus_perfdata_packed p = packed();
			struct piece pieces[3] = { piece(), piece(), piece() };
			struct bytes rest = { .v = b.v + first, .n = 16 - first };
			struct bytes last = { .v = b.v + second, .n = 16 - second };

			frame(&pieces[0]);
			block(&pieces[0], &b, first, false);
			block(&pieces[1], &rest, second - first, false);
			block(&pieces[2], &last, last.n, true);
			for (unsigned i = 0; i < 3; i++) {
				bool here = i == 0 ? first == 16 : i == 1 ? first < 16 && second == 16 : second < 16;

				assert_int_equal(give(&p, &pieces[i]), RECORD);
				if (here)
					assert_int_equal(next(&p, 7), RECORD);
				assert_int_equal(next(&p, 0), NONE);
			}
			assert_false(gus_perfdata_packed_end(&p));
			for (unsigned i = 0; i < 3; i++)
				gus_vec_free(&pieces[i].b);
			gus_perfdata_packed_free(&p);
		}
	gus_vec_free(&b);
}

/* What cannot be unpacked is lost, with all that goes on behind it; what came before it is there, and a new frame is
 * read. Where it is, and how much is lost, is told. */
static void broken_frames(void **state)
{
	struct gus_perfdata_packed p = packed();
	struct bytes b = records(1, 2), c = records(5, 1);
	struct piece good = piece(), bad = piece(), behind = piece(), short_one = piece(), anew = piece();

	(void)state;
	frame(&good);
	block(&good, &b, 32 - 8, false); /* one, and half of another */
	number(&bad.b, 0x07, 3); /* a block of a kind that there is none of */
	number(&bad.b, 0, 5);
	block(&behind, &c, 16, false);
	number(&short_one.b, 0x28, 1);
	frame(&anew);
	block(&anew, &c, 16, true);
	assert_int_equal(give(&p, &good), RECORD);
	assert_int_equal(next(&p, 1), RECORD);
	assert_int_equal(next(&p, 0), NONE);
	assert_int_equal(give(&p, &bad), RECORD);
	assert_true(gus_perfdata_packed_has_more(&p));
	assert_int_equal(next(&p, 0), BROKEN);
	assert_true(p.offset >= 1008 && p.offset + p.left == 1016);
	assert_int_equal(give(&p, &behind), BEHIND);
	assert_int_equal(give(&p, &short_one), BEHIND);
	assert_int_equal(give(&p, &anew), RECORD);
	assert_int_equal(next(&p, 5), RECORD);
	assert_int_equal(next(&p, 0), NONE);
	assert_false(gus_perfdata_packed_has_more(&p));
	assert_false(gus_perfdata_packed_end(&p));
	gus_perfdata_packed_free(&p);
	gus_vec_free(&b);
	gus_vec_free(&c);
	gus_vec_free(&good.b);
	gus_vec_free(&bad.b);
	gus_vec_free(&behind.b);
	gus_vec_free(&short_one.b);
	gus_vec_free(&anew.b);
}

/* A frame may begin where another has ended, in the midst of a record, which goes on; where the other has not ended,
 * its writer began again, and the record has no end. Likewise where nothing comes behind it. */
static void unfinished_records(void **state)
{
	(void)state;
	for (unsigned ended = 0; ended < 2; ended++) {
		struct gus_perfdata_packed p = packed();
		struct bytes b = records(1, 2), half = { .v = b.v + 8, .n = 24 };
		struct piece first = piece(), second = piece();

		frame(&first);
		block(&first, &b, 8, ended);
		frame(&second);
		block(&second, ended ? &half : &b, 24, true); /* one, and either nothing or half of another */
		assert_int_equal(give(&p, &first), RECORD);
		assert_int_equal(next(&p, 0), NONE);
		assert_int_equal(give(&p, &second), ended ? RECORD : UNFINISHED);
		assert_int_equal(next(&p, 1), RECORD);
		assert_int_equal(next(&p, 2), ended ? RECORD : NONE);
		assert_int_equal(gus_perfdata_packed_end(&p), !ended);
		assert_false(gus_perfdata_packed_end(&p));
		gus_perfdata_packed_free(&p);
		gus_vec_free(&b);
		gus_vec_free(&first.b);
		gus_vec_free(&second.b);
	}
}

/* A frame of which nothing but the head has come has begun, too: another one begins anew. */
static void heads_alone(void **state)
{
	struct gus_perfdata_packed p = packed();
	struct bytes b = records(1, 1);
	struct piece head = piece(), whole = piece();

	(void)state;
	frame(&head);
	frame(&whole);
	block(&whole, &b, 16, true);
	assert_int_equal(give(&p, &head), RECORD);
	assert_int_equal(next(&p, 0), NONE);
	assert_int_equal(give(&p, &whole), RECORD);
	assert_int_equal(next(&p, 1), RECORD);
	assert_int_equal(next(&p, 0), NONE);
	gus_perfdata_packed_free(&p);
	gus_vec_free(&b);
	gus_vec_free(&head.b);
	gus_vec_free(&whole.b);
}

/* Where it breaks is told also of a piece that is unpacked in several steps: the good blocks are behind us. */
static void broken_later(void **state)
{
	enum { BLOCKS = 8, OF_BLOCK = 4096 };
	struct gus_perfdata_packed p = packed();
	struct bytes b = records(0, OF_BLOCK);
	struct piece one = piece();

	(void)state;
	frame(&one);
	for (unsigned i = 0; i < BLOCKS; i++)
		block(&one, &b, 16 * OF_BLOCK, false);
	number(&one.b, 0x07, 3);
	assert_int_equal(give(&p, &one), RECORD);
	for (unsigned i = 0; i < BLOCKS * OF_BLOCK; i++) {
		enum gus_perfdata_unpacked got = next(&p, i % OF_BLOCK);

		if (got == RECORD)
			continue;
		assert_int_equal(got, BROKEN);
		assert_true(i >= BLOCKS * OF_BLOCK / 2);
		break;
	}
	assert_true(p.offset > 1008 + 16 * OF_BLOCK * BLOCKS / 2);
	assert_int_equal(p.offset + p.left, 1000 + one.b.n);
	gus_perfdata_packed_free(&p);
	gus_vec_free(&b);
	gus_vec_free(&one.b);
}

/* Of a piece in which something is no record the rest is passed over, however it is unpacked; the next one begins with
 * a record. */
static void pieces_with_what_is_no_record(void **state)
{
	struct gus_perfdata_packed p = packed();
	struct bytes b = records(1, 3), c = records(4, 1);
	struct piece first = piece(), second = piece();

	(void)state;
	b.v[16 + 6] = 7; /* the second one's size */
	frame(&first);
	block(&first, &b, 48, false);
	for (int i = 0; i < 20000; i++)
		block(&first, &b, 48, false);
	block(&second, &c, 16, true);
	assert_int_equal(give(&p, &first), RECORD);
	assert_int_equal(next(&p, 1), RECORD);
	assert_int_equal(next(&p, 0), NO_RECORD);
	assert_int_equal(next(&p, 0), NONE);
	assert_int_equal(give(&p, &second), RECORD);
	assert_int_equal(next(&p, 4), RECORD);
	assert_int_equal(next(&p, 0), NONE);
	gus_perfdata_packed_free(&p);
	gus_vec_free(&b);
	gus_vec_free(&c);
	gus_vec_free(&first.b);
	gus_vec_free(&second.b);
}

/* The later kind says how much is packed, in either byte order: none, all, and one byte more than there is. */
static void sizes(void **state)
{
	struct bytes b = records(3, 1);

	(void)state;
	for (unsigned big = 0; big < 2; big++)
		for (int more = -1; more <= 1; more++) {
			const struct gus_perfdata_framing framing = { .big_endian = big };
			struct gus_perfdata_packed p = packed();
			struct gus_perfdata_record r = { .type = GUS_PERFDATA_PACKED2, .offset = 1000 };
			struct piece one = piece();
			uint64_t said;

			number(&one.b, 0, 8);
			frame(&one);
			block(&one, &b, 16, true);
			said = more < 0 ? 0 : one.b.n - 16 + (uint64_t)more;
			for (unsigned i = 0; i < 8; i++)
				one.b.v[8 + i] = (uint8_t)(said >> 8 * (big ? 7 - i : i));
			r.bytes = one.b.v;
			r.size = one.b.n;
			assert_int_equal(gus_perfdata_packed_begin(&p, &framing, &r), more > 0 ? NO_RECORD : RECORD);
			assert_int_equal(gus_perfdata_packed_has_more(&p), more == 0);
			if (more == 0) {
				assert_int_equal(p.offset, 1016);
				assert_int_equal(next(&p, 3), RECORD);
			}
			gus_vec_free(&one.b);
			gus_perfdata_packed_free(&p);
		}
	gus_vec_free(&b);
}

/* As many records as a file of its size may have, and one more; behind that nothing is unpacked. */
static void records_at_most(void **state)
{
	enum { MOST = (1 << 20) + 4 * 100 + 4 * 50 };

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct gus_perfdata_packed p = { 0 };
		struct bytes b = { 0 };
		struct piece one = piece();
		size_t room = ZSTD_compressBound((MOST + more) * 8);

		gus_perfdata_packed_allow(&p, 100);
		gus_perfdata_packed_allow_more(&p, 50);
		for (unsigned i = 0; i < MOST + more; i++)
			number(&b, (uint64_t)8 << 48 | 9, 8);
		gus_vec_reserve(&one.b, one.b.n + room);
		one.b.n += ZSTD_compress(one.b.v + one.b.n, room, b.v, b.n, 1);
		assert_int_equal(give(&p, &one), RECORD);
		for (unsigned i = 0; i < MOST; i++) {
			struct gus_perfdata_record r;

			assert_int_equal(gus_perfdata_packed_next(&p, &little, &r), RECORD);
		}
		assert_int_equal(next(&p, 0), more ? TOO_MUCH : NONE);
		assert_int_equal(give(&p, &one), more ? TOO_MUCH : RECORD);
		gus_vec_free(&b);
		gus_vec_free(&one.b);
		gus_perfdata_packed_free(&p);
	}
}

/* And as many bytes; what is passed over counts, too. */
static void bytes_at_most(void **state)
{
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct gus_perfdata_packed p = packed();
		struct bytes b = records(1, 1);
		struct piece one = piece();

		b.v[6] = 0; /* which is no record, so all is passed over */
		p.bytes.left = 16 + 131072 - !more;
		frame(&one);
		block(&one, &b, 16, false);
		number(&one.b, 131072 << 3 | 1 << 1 | 1, 3); /* a byte that is repeated, to the end */
		number(&one.b, 0, 1);
		assert_int_equal(give(&p, &one), RECORD);
		assert_int_equal(next(&p, 0), more ? NO_RECORD : TOO_MUCH);
		assert_int_equal(next(&p, 0), NONE);
		gus_vec_free(&b);
		gus_vec_free(&one.b);
		gus_perfdata_packed_free(&p);
	}
}

/* Another file begins with a frame of its own. */
static void another_file(void **state)
{
	struct gus_perfdata_packed p = packed();
	struct bytes b = records(1, 1);
	struct piece one = piece();

	(void)state;
	frame(&one);
	block(&one, &b, 16, false);
	block(&one, &b, 8, false);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(give(&p, &one), RECORD);
		assert_int_equal(next(&p, 1), RECORD);
		assert_int_equal(next(&p, 1), NONE);
		gus_perfdata_packed_reset(&p);
		assert_false(gus_perfdata_packed_has_more(&p));
	}
	gus_vec_free(&b);
	gus_vec_free(&one.b);
	gus_perfdata_packed_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_over_pieces), cmocka_unit_test(broken_frames),
		cmocka_unit_test(unfinished_records), cmocka_unit_test(pieces_with_what_is_no_record),
		cmocka_unit_test(sizes), cmocka_unit_test(records_at_most), cmocka_unit_test(bytes_at_most),
		cmocka_unit_test(another_file), cmocka_unit_test(heads_alone),
		cmocka_unit_test(broken_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
