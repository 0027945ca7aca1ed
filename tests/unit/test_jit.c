/* SPDX-License-Identifier: MIT */
/* What runtimes tell of their code: perf maps and jitdumps, and what of it goes into a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "symbolizer/jit/choose.h"
#include "symbolizer/jit/jit.h"

/* Perf maps. */

static struct gus_jit read_map(const char *text)
{
	struct gus_jit j = { 0 };

	gus_jit_read_map(&j, text, strlen(text));
	return j;
}

static void expect_piece(const struct gus_jit *j, size_t i, uint64_t address, uint64_t size, const char *name)
{
	assert_true(i < j->pieces.n);
	assert_int_equal(j->pieces.v[i].address, address);
	assert_int_equal(j->pieces.v[i].size, size);
	assert_int_equal(j->pieces.v[i].name.size, strlen(name));
	assert_memory_equal(j->pieces.v[i].name.text, name, strlen(name));
}

static void lines_of_a_map_are_pieces(void **state)
{
	struct gus_jit j = read_map("7f00 10 one\n0x7f10 0xFf two words  and more\r\nABCDEF0123456789 1 x\n");

	(void)state;
	assert_int_equal(j.pieces.n, 3);
	expect_piece(&j, 0, 0x7f00, 0x10, "one");
	expect_piece(&j, 1, 0x7f10, 0xff, "two words  and more");
	expect_piece(&j, 2, 0xabcdef0123456789, 1, "x");
	assert_int_equal(j.pieces.v[0].told, 0);
	assert_int_equal(j.pieces.v[1].told, 12);
	assert_int_equal(j.bad, 0);
	assert_false(j.timed);
	gus_jit_free(&j);
}

/* Its writer may be at it. */
static void a_line_without_its_end_is_not_there_yet(void **state)
{
	struct gus_jit j = read_map("7f00 10 one\n7f10 10 tw");

	(void)state;
	assert_int_equal(j.pieces.n, 1);
	assert_int_equal(j.bad, 0);
	gus_jit_free(&j);
}

static void what_makes_no_sense_is_counted(void **state)
{
	static const char *const lines[] = { "zz 10 a\n", "10\n", "10 10\n", "10 10 \n", " 10 10 a\n", "10 -1 a\n",
					     "11112222333344445 1 a\n", "0x 1 a\n", "10 0x a\n",
					     "fffffffffffffff0 11 a\n", "10 4000001 a\n", "1g 1 a\n",
					     "g123456789abcdef 1 a\n" };
	struct gus_jit j;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		j = read_map(lines[i]);
		if (j.pieces.n || j.bad != 1)
			fail_msg("'%s' has %zu pieces, %llu bad", lines[i], j.pieces.n, (unsigned long long)j.bad);
		gus_jit_free(&j);
	}
	j = read_map("\n10 0 place\nfffffffffffffff0 f a\n10 4000000 a\n");
	assert_int_equal(j.pieces.n, 2);
	assert_int_equal(j.bad, 0);
	gus_jit_free(&j);
	gus_jit_read_map(&j, "10 1 a\0b\n", 9);
	assert_int_equal(j.bad, 1);
	gus_jit_free(&j);
}

static void names_have_a_limit(void **state)
{
	size_t size = GUS_LIMIT_NAME + 8;
	char *line = gus_alloc(size + 1);
	struct gus_jit j;

	(void)state;
	memset(line, 'n', size);
	memcpy(line, "10 1 ", 5);
	line[GUS_LIMIT_NAME + 5] = '\n';
	line[GUS_LIMIT_NAME + 6] = '\0';
	j = read_map(line);
	assert_int_equal(j.pieces.n, 1);
	gus_jit_free(&j);
	line[GUS_LIMIT_NAME + 5] = 'n';
	line[GUS_LIMIT_NAME + 6] = '\n';
	line[GUS_LIMIT_NAME + 7] = '\0';
	j = read_map(line);
	assert_int_equal(j.pieces.n, 0);
	assert_int_equal(j.bad, 1);
	gus_jit_free(&j);
	free(line);
}

static void pieces_have_a_limit(void **state)
{
	const size_t lines = GUS_LIMIT_JIT_PIECES + 2;
	struct gus_jit j = { 0 };
	char *text = gus_alloc(lines * 7);

	(void)state;
	for (size_t i = 0; i < lines; i++)
		memcpy(text + i * 7, "10 1 a\n", 7);
	gus_jit_read_map(&j, text, lines * 7);
	assert_int_equal(j.pieces.n, GUS_LIMIT_JIT_PIECES);
	assert_int_equal(j.left_out, 2);
	gus_jit_free(&j);
	free(text);
}

/* Jitdumps. */

struct bytes gus_vec(uint8_t);

static void put32(struct bytes *b, uint32_t value)
{
	gus_vec_append(b, (const uint8_t *)&value, sizeof(value));
}

static void put64(struct bytes *b, uint64_t value)
{
	gus_vec_append(b, (const uint8_t *)&value, sizeof(value));
}

static void put_header(struct bytes *b, uint32_t magic, uint32_t version, uint32_t size, uint64_t flags)
{
	put32(b, magic);
	put32(b, version);
	put32(b, size);
	put32(b, 62);
	put32(b, 0);
	put32(b, 1);
	put64(b, 5);
	put64(b, flags);
	for (; size > 40; size -= 4)
		put32(b, 0xffffffff);
}

static void put_head(struct bytes *b, uint32_t kind, uint32_t size, uint64_t time)
{
	put32(b, kind);
	put32(b, size);
	put64(b, time);
}

static void put_load(struct bytes *b, uint64_t time, uint64_t address, const char *name, const char *code,
		     uint64_t index)
{
	uint32_t name_size = (uint32_t)strlen(name) + 1, size = (uint32_t)strlen(code);

	put_head(b, 0, 16 + 40 + name_size + size, time);
	put64(b, 0x0000000200000001);
	put64(b, address + 0x1000); /* another mapping of it */
	put64(b, address);
	put64(b, size);
	put64(b, index);
	gus_vec_append(b, (const uint8_t *)name, name_size);
	gus_vec_append(b, (const uint8_t *)code, size);
}

static void put_move(struct bytes *b, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	put_head(b, 1, 16 + 48, time);
	put64(b, 0);
	put64(b, to + 0x1000);
	put64(b, from);
	put64(b, to);
	put64(b, size);
	put64(b, index);
}

static void put_line(struct bytes *b, uint64_t address, uint32_t line, const char *file)
{
	put64(b, address);
	put32(b, line);
	put32(b, 0);
	gus_vec_append(b, (const uint8_t *)file, strlen(file) + 1);
}

static void put_lines(struct bytes *b, uint64_t address)
{
	put_head(b, 2, 16 + 16 + 3 * 16 + 5 + 2 + 2, 1);
	put64(b, address);
	put64(b, 3);
	put_line(b, address, 7, "a.js");
	put_line(b, address + 2, 8, "\xff");
	put_line(b, address + 3, 9, "b");
}

static struct bytes whole_dump(void)
{
	struct bytes b = { 0 };

	put_header(&b, 0x4a695444, 1, 48, 0);
	put_lines(&b, 0x1000);
	put_load(&b, 10, 0x1000, "one", "ABCD", 1);
	put_head(&b, 77, 20, 11); /* of a kind that is not known */
	put32(&b, 0);
	put_load(&b, 12, 0x2000, "two", "EF", 2);
	put_move(&b, 13, 0x1000, 0x3000, 4, 1);
	put_move(&b, 14, 0x3000, 0x4000, 4, 1);
	put_head(&b, 3, 16, 15);
	return b;
}

static void a_dump_tells_times_code_and_lines(void **state)
{
	struct bytes b = whole_dump();
	struct gus_jit j = { 0 };

	(void)state;
	assert_null(gus_jit_read_dump(&j, b.v, b.n));
	assert_true(j.timed);
	assert_int_equal(j.machine, 62);
	assert_int_equal(j.bad, 0);
	assert_int_equal(j.pieces.n, 4);
	expect_piece(&j, 0, 0x1000, 4, "one");
	expect_piece(&j, 1, 0x2000, 2, "two");
	expect_piece(&j, 2, 0x3000, 4, "one");
	expect_piece(&j, 3, 0x4000, 4, "one");
	assert_int_equal(j.pieces.v[0].time, 10);
	assert_int_equal(j.pieces.v[3].time, 14);
	assert_int_equal(j.pieces.v[1].origin, 1);
	assert_int_equal(j.pieces.v[3].origin, 0);
	assert_memory_equal(j.pieces.v[3].code, "ABCD", 4);
	assert_int_equal(j.pieces.v[0].lines_n, 3);
	assert_int_equal(j.pieces.v[1].lines_n, 0);
	assert_int_equal(j.lines.v[1].line, 8);
	assert_int_equal(j.lines.v[1].offset, 2);
	assert_memory_equal(j.lines.v[1].file.text, "a.js", 4);
	assert_memory_equal(j.lines.v[2].file.text, "b", 1);
	gus_jit_free(&j);
	gus_vec_free(&b);
}

/* The writer may be at a record; what was told before stands. */
static void a_dump_may_end_anywhere(void **state)
{
	struct bytes b = whole_dump();

	(void)state;
	for (size_t size = 0; size <= b.n; size++) {
		uint8_t *copy = gus_alloc(size + 1); /* so that a sanitizer sees who reads behind its end */
		struct gus_jit j = { 0 };

		copy = gus_resize(copy, size ? size : 1, 1);
		memcpy(copy, b.v, size);
		if (size < 40)
			assert_non_null(gus_jit_read_dump(&j, copy, size));
		else if (size >= 48)
			assert_null(gus_jit_read_dump(&j, copy, size));
		assert_int_equal(j.bad, 0);
		if (size >= b.n - 16)
			assert_int_equal(j.pieces.n, 4);
		gus_jit_free(&j);
		free(copy);
	}
	gus_vec_free(&b);
}

static void other_files_are_no_dumps(void **state)
{
	static const struct { uint32_t magic, version, size; const char *why; } heads[] = {
		{ 0x4454694a, 0x01000000, 40, "it is a jitdump of a machine with the other byte order" },
		{ 0x4a695445, 1, 40, "it is no jitdump of version 1" },
		{ 0x4a695444, 2, 40, "it is no jitdump of version 1" },
		{ 0x4a695444, 1, 39, "it is no jitdump of version 1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		struct bytes b = { 0 };
		struct gus_jit j = { 0 };

		put_header(&b, heads[i].magic, heads[i].version, heads[i].size, 0);
		assert_string_equal(gus_jit_read_dump(&j, b.v, b.n), heads[i].why);
		gus_vec_free(&b);
	}
}

static void the_cpus_own_times_are_none(void **state)
{
	struct bytes b = { 0 };
	struct gus_jit j = { 0 };

	(void)state;
	put_header(&b, 0x4a695444, 1, 40, 1);
	assert_null(gus_jit_read_dump(&j, b.v, b.n));
	assert_false(j.timed);
	gus_vec_free(&b);
}

static void broken_records_are_passed_over(void **state)
{
	struct bytes b = { 0 };
	struct gus_jit j = { 0 };

	(void)state;
	put_header(&b, 0x4a695444, 1, 40, 0);
	put_move(&b, 1, 0x1000, 0x2000, 4, 1);     /* of nothing */
	put_load(&b, 2, 0x1000, "one", "ABCD", 1);
	put_move(&b, 3, 0x1001, 0x2000, 4, 1);     /* not from there */
	put_move(&b, 3, 0x1000, 0x2000, 5, 1);     /* not as long */
	put_move(&b, 3, 0x1000, UINT64_MAX - 3, 4, 1); /* beyond the end */
	put_load(&b, 4, 0x1000, "", "ABCD", 1);    /* no name */
	put_load(&b, 4, 0x1000, "a\nb", "ABCD", 1);
	put_load(&b, 5, 0x1000, "empty", "", 7);   /* which may be */
	put_head(&b, 0, 16 + 8, 6);                /* too short */
	put64(&b, 0);
	put_load(&b, 7, 0x9000, "last", "A", 9);
	assert_null(gus_jit_read_dump(&j, b.v, b.n));
	assert_int_equal(j.pieces.n, 2);
	expect_piece(&j, 1, 0x9000, 1, "last");
	assert_int_equal(j.bad, 7);
	gus_jit_free(&j);
	put_head(&b, 0, 15, 8); /* no record is so short: nobody knows where the next one begins */
	put_load(&b, 9, 0xa000, "unseen", "A", 10);
	j = (struct gus_jit){ 0 };
	assert_null(gus_jit_read_dump(&j, b.v, b.n));
	assert_int_equal(j.pieces.n, 2);
	assert_int_equal(j.bad, 8);
	gus_jit_free(&j);
	gus_vec_free(&b);
}

/* Lines are of the code that is told next, if it is there. */
static void lines_of_other_code_are_not_taken(void **state)
{
	struct bytes b = { 0 };
	struct gus_jit j = { 0 };

	(void)state;
	put_header(&b, 0x4a695444, 1, 40, 0);
	put_lines(&b, 0x1000);
	put_load(&b, 2, 0x2000, "two", "ABCD", 1);
	put_load(&b, 3, 0x1000, "one", "ABCD", 2);
	assert_null(gus_jit_read_dump(&j, b.v, b.n));
	assert_int_equal(j.pieces.n, 2);
	assert_int_equal(j.pieces.v[0].lines_n, 0);
	assert_int_equal(j.pieces.v[1].lines_n, 0);
	gus_jit_free(&j);
	gus_vec_free(&b);
}

/* Lines of 0x1000 as n texts with their offsets say, and code there. */
static struct gus_jit read_lines(const uint64_t *offsets, const char *const *files, size_t n, uint64_t said, size_t cut)
{
	struct bytes b = { 0 };
	struct gus_jit j = { 0 };
	size_t head;

	put_header(&b, 0x4a695444, 1, 40, 0);
	head = b.n;
	put_head(&b, 2, 0, 1);
	put64(&b, 0x1000);
	put64(&b, said);
	for (size_t i = 0; i < n; i++)
		put_line(&b, 0x1000 + offsets[i], (uint32_t)i + 1, files[i]);
	b.n -= cut;
	memcpy(b.v + head + 4, &(uint32_t){ (uint32_t)(b.n - head) }, 4);
	put_load(&b, 2, 0x1000, "one", "ABCD", 1);
	assert_null(gus_jit_read_dump(&j, b.v, b.n));
	assert_int_equal(j.pieces.n, 1);
	gus_vec_free(&b);
	return j;
}

/* What stands before is taken. */
static void lines_that_make_no_sense_are_counted(void **state)
{
	static const char *const files[] = { "a", "\xff", "b" };
	static const struct { uint64_t offsets[3], said; size_t cut, lines, bad; } cases[] = {
		{ { 0, 1, 2 }, 3, 0, 3, 0 }, { { 0, 0, 0 }, 3, 0, 3, 0 }, { { 0, 1, 2 }, 2, 0, 2, 0 },
		{ { 0, 2, 1 }, 3, 0, 2, 1 }, { { (uint64_t)-1, 1, 2 }, 3, 0, 0, 1 }, { { 0, 1, 2 }, 4, 0, 3, 1 },
		{ { 0, 1, 2 }, UINT64_MAX, 0, 3, 1 }, { { 0, 1, 2 }, 3, 1, 2, 1 }, { { 0, 1, 2 }, 3, 3, 2, 1 },
		{ { 0, 1, 2 }, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_jit j = read_lines(cases[i].offsets, files, 3, cases[i].said, cases[i].cut);

		if (j.pieces.v[0].lines_n != cases[i].lines || j.bad != cases[i].bad)
			fail_msg("case %zu: %u lines, %llu bad", i, (unsigned)j.pieces.v[0].lines_n,
				 (unsigned long long)j.bad);
		gus_jit_free(&j);
	}
}

static void files_of_lines_have_names(void **state)
{
	static char longest[GUS_LIMIT_NAME + 1], longer[GUS_LIMIT_NAME + 2];
	const char *const files[] = { "\xff", longest, "\xff", longer };
	struct gus_jit j;

	(void)state;
	memset(longest, 'a', sizeof(longest) - 1);
	memset(longer, 'a', sizeof(longer) - 1);
	j = read_lines((const uint64_t[]){ 0, 1, 2, 3 }, files, 4, 4, 0);
	assert_int_equal(j.lines.n, 3);
	assert_int_equal(j.left_out, 1);
	assert_null(j.lines.v[0].file.text); /* the same as nothing */
	assert_int_equal(j.lines.v[1].file.size, GUS_LIMIT_NAME);
	assert_int_equal(j.lines.v[2].file.size, GUS_LIMIT_NAME);
	gus_jit_free(&j);
}

/* What goes into a recording. */

static const char four[] = "1000 10 a\n1010 10 b\n1020 10 c\n1010 8 d\n"; /* d stands from byte 30 on */

static void only_what_was_hit_is_chosen(void **state)
{
	static const uint64_t hits[] = { 0xfff, 0x100f, 0x1030 };
	struct gus_jit_wish wish = { .hits = hits, .hits_n = 3, .since = 5, .offset = 0x40, .most = 10 };
	struct gus_jit j = read_map(four);
	struct gus_jit_choice c;

	(void)state;
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(c.notes.n, 1);
	assert_int_equal(c.notes.v[0].piece, 0);
	assert_int_equal(c.notes.v[0].time, 5);
	assert_int_equal(c.offsets.v[0], 0x40);
	assert_int_equal(c.end, 0x50);
	gus_jit_choice_free(&c);
	wish.hits_n = 0;
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(c.notes.n + c.origins.n, 0);
	gus_jit_choice_free(&c);
	wish.all = true;
	wish.most = 3;
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(c.origins.n, 3);
	assert_int_equal(c.left_out, 1);
	gus_jit_choice_free(&c);
	gus_jit_free(&j);
}

/* Who is at an address at that time, by the notes. */
static uint32_t at(const struct gus_jit_choice *c, const struct gus_jit *j, uint64_t address, uint64_t time)
{
	uint64_t latest = 0;
	uint32_t found = GUS_JIT_NONE;

	for (size_t i = 0; i < c->notes.n; i++) {
		const struct gus_jit_note *n = &c->notes.v[i];
		const struct gus_jit_piece *p = &j->pieces.v[n->piece];

		if (n->time <= time && n->time >= latest && address >= p->address && address - p->address < p->size) {
			latest = n->time;
			found = n->piece;
		}
	}
	return found;
}

static void later_lines_lie_over_earlier_ones(void **state)
{
	struct gus_jit_wish wish = { .all = true, .since = 5, .most = 10 };
	struct gus_jit j = read_map(four);
	struct gus_jit_choice c;

	(void)state;
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(at(&c, &j, 0x1010, 5), 3);
	assert_int_equal(at(&c, &j, 0x1018, 5), 1);
	assert_int_equal(at(&c, &j, 0x1010, 4), GUS_JIT_NONE);
	gus_jit_choice_free(&c);
	gus_jit_free(&j);
}

static void how_long_a_map_was_tells_when_code_came(void **state)
{
	static const struct gus_jit_growth late = { 0, 20 };
	const struct gus_jit_growth growth[] = { { 0, 0 }, { 10, 20 }, { 30, 40 } };
	struct gus_jit_wish wish = { .all = true, .since = 5, .most = 10, .growth = growth, .growth_n = 3 };
	struct gus_jit j = read_map(four);
	struct gus_jit_choice c;

	(void)state;
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(at(&c, &j, 0x1000, 5), 0);
	assert_int_equal(at(&c, &j, 0x1020, 5), 2); /* told late, and nothing was there before */
	assert_int_equal(at(&c, &j, 0x1010, 39), 1);
	assert_int_equal(at(&c, &j, 0x1010, 40), 3);
	assert_int_equal(at(&c, &j, 0x1018, 40), 1);
	gus_jit_choice_free(&c);
	wish.growth_n = 2;
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(at(&c, &j, 0x1010, 19), 1);
	assert_int_equal(at(&c, &j, 0x1010, 20), 3);
	gus_jit_choice_free(&c);
	wish.growth = &late; /* all of it came then, the first line as well */
	wish.growth_n = 1;
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(at(&c, &j, 0x1000, 5), 0);
	gus_jit_choice_free(&c);
	gus_jit_free(&j);
}

/* A byte in common is enough, also with one that began before others in between; an end is none. */
static void who_shares_addresses_is_told_again(void **state)
{
	const struct gus_jit_growth growth[] = { { 0, 0 }, { 11, 20 } };
	struct gus_jit_wish wish = { .all = true, .since = 5, .most = 10, .growth = growth, .growth_n = 2 };
	static const struct { const char *map; size_t notes; } maps[] = {
		{ "1000 100 a\n10ff 10 b\n", 3 }, { "1000 100 a\n1100 10 b\n", 2 },
		{ "1000 100 a\nff1 10 b\n", 3 }, { "1000 100 a\nff0 10 b\n", 2 },
		{ "1000 100 a\n1010 1 b\n1050 1 c\n", 5 }, { "1000 100 a\n1010 1 b\n2000 1 c\n", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		struct gus_jit j = read_map(maps[i].map);
		struct gus_jit_choice c;

		gus_jit_choose(&c, &j, &wish);
		if (c.notes.n != maps[i].notes)
			fail_msg("%zu notes of map %zu", c.notes.n, i);
		assert_int_equal(at(&c, &j, 0x1080, 5), 0);
		assert_int_equal(at(&c, &j, 0x1080, 20), 0);
		gus_jit_choice_free(&c);
		gus_jit_free(&j);
	}
}

static void what_moved_stays_one_place_of_the_module(void **state)
{
	struct bytes b = whole_dump();
	struct gus_jit_wish wish = { .all = true, .clock = -4, .most = 10 };
	struct gus_jit j = { 0 };
	struct gus_jit_choice c;

	(void)state;
	assert_null(gus_jit_read_dump(&j, b.v, b.n));
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(c.notes.n, 4);
	assert_int_equal(c.origins.n, 2);
	assert_int_equal(c.notes.v[0].time, 6);
	assert_int_equal(c.notes.v[3].time, 10);
	assert_int_equal(c.offsets.v[1], 16);
	assert_int_equal(c.end, 32);
	gus_jit_choice_free(&c);
	/* Who was hit where it moved to is still told by its origin. */
	wish = (struct gus_jit_wish){ .hits = (const uint64_t[]){ 0x4003 }, .hits_n = 1, .clock = -12, .most = 1 };
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(c.notes.n, 1);
	assert_int_equal(c.notes.v[0].time, 2);
	assert_int_equal(c.origins.v[0], 0);
	gus_jit_choice_free(&c);
	wish.clock = INT64_MIN;
	gus_jit_choose(&c, &j, &wish);
	assert_int_equal(c.notes.v[0].time, 0);
	gus_jit_choice_free(&c);
	gus_jit_free(&j);
	gus_vec_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_map_are_pieces),
		cmocka_unit_test(a_line_without_its_end_is_not_there_yet),
		cmocka_unit_test(what_makes_no_sense_is_counted),
		cmocka_unit_test(names_have_a_limit),
		cmocka_unit_test(pieces_have_a_limit),
		cmocka_unit_test(a_dump_tells_times_code_and_lines),
		cmocka_unit_test(a_dump_may_end_anywhere),
		cmocka_unit_test(other_files_are_no_dumps),
		cmocka_unit_test(the_cpus_own_times_are_none),
		cmocka_unit_test(broken_records_are_passed_over),
		cmocka_unit_test(lines_of_other_code_are_not_taken),
		cmocka_unit_test(lines_that_make_no_sense_are_counted),
		cmocka_unit_test(files_of_lines_have_names),
		cmocka_unit_test(only_what_was_hit_is_chosen),
		cmocka_unit_test(later_lines_lie_over_earlier_ones),
		cmocka_unit_test(how_long_a_map_was_tells_when_code_came),
		cmocka_unit_test(who_shares_addresses_is_told_again),
		cmocka_unit_test(what_moved_stays_one_place_of_the_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
