/* SPDX-License-Identifier: MIT */
/* proto/snapshot: what is written is read, and what breaks the rules is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "proto/container.h"
#include "proto/reader.h"
#include "proto/snapshot.h"
#include "proto/writer.h"
#include "tests/unit/made_folder.h"
#include "tests/unit/made_snapshot.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, made_folder_enter, made_folder_leave)
#define PAGE GUS_SNAPSHOT_PAGE

/* A file, 800 pages that are more than a frame holds, and the last page of two mappings that lie together. */
static struct gus_snapshot example(void)
{
	struct gus_snapshot s = made_snapshot(7);

	made_snapshot_map(&s, 0x400000, 4, "/bin/true");
	made_snapshot_map(&s, 0x10000000, 1000, "");
	made_snapshot_map(&s, 0x7f0000000000, 2, "");
	made_snapshot_map(&s, 0x7f0000002000, 2, "[stack]");
	made_snapshot_run(&s, 0x401000, 1);
	made_snapshot_run(&s, 0x10000000, 800);
	made_snapshot_run(&s, 0x7f0000001000, 2);
	return s;
}

static void write_to(const char *path, const struct gus_snapshot *s, unsigned times)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_error err = { 0 };
	struct gus_writer *w = gus_writer_create(path, &header, &err);

	assert_non_null(w);
	for (unsigned i = 0; i < times; i++)
		if (gus_snapshot_write(w, s, &err) != 0)
			fail_msg("%s", err.text);
	assert_int_equal(gus_writer_finish(w, &footer, &err), 0);
}

static void assert_same(const struct gus_snapshot *a, const struct gus_snapshot *b)
{
	assert_int_equal(a->about->bytes, b->about->bytes);
	assert_int_equal(a->about->n_mappings, b->about->n_mappings);
	assert_int_equal(a->runs.n, b->runs.n);
	for (size_t i = 0; i < a->runs.n; i++) {
		assert_true(a->runs.v[i].address == b->runs.v[i].address);
		assert_true(a->runs.v[i].size == b->runs.v[i].size);
		assert_memory_equal(a->bytes + a->runs.v[i].at, b->bytes + b->runs.v[i].at, a->runs.v[i].size);
	}
}

static void written_is_read(void **state)
{
	struct gus_snapshot s = example(), got;
	struct gus_error err = { 0 };
	struct gus_reader *r;

	(void)state;
	write_to("t", &s, 2);
	r = gus_reader_open("t", &err);
	for (int i = 0; i < 2; i++) {
		if (gus_snapshot_read(r, &got, &err) != 1)
			fail_msg("%s", err.text);
		assert_same(&s, &got);
		gus_snapshot_free(&got);
	}
	assert_int_equal(gus_snapshot_read(r, &got, &err), 0);
	gus_reader_close(r);
	gus_snapshot_free(&s);
}

/* Each breaks one rule. */
static void no_registers(struct gus_snapshot *s) { s->about->registers.len--; }
static void much_state(struct gus_snapshot *s) { s->about->state.len = GUS_SNAPSHOT_STATE_MAX + 1; }
static void little_state(struct gus_snapshot *s) { s->about->state.len = 0; }
static void other_machine(struct gus_snapshot *s) { s->about->machine[0] = 'y'; }
static void other_pages(struct gus_snapshot *s) { s->about->page_size = 65536; }
static void more_bytes(struct gus_snapshot *s) { s->about->bytes += PAGE; }
static void fewer_bytes(struct gus_snapshot *s) { s->about->bytes -= PAGE; }
static void too_many_bytes(struct gus_snapshot *s) { s->about->bytes = GUS_SNAPSHOT_BYTES_MAX + PAGE; }
static void half_a_page(struct gus_snapshot *s) { s->runs.v[1].size -= 1; }
static void odd_address(struct gus_snapshot *s) { s->runs.v[1].address += 8; }
static void overlapping(struct gus_snapshot *s) { s->runs.v[1].address = s->runs.v[0].address; }
static void descending(struct gus_snapshot *s) { s->runs.v[2].address = 0x401000; }
static void unmapped(struct gus_snapshot *s) { s->runs.v[2].address += 0x2000; }
static void wraps(struct gus_snapshot *s) { s->runs.v[2].address = -(uint64_t)PAGE; }
static void beyond_bytes(struct gus_snapshot *s) { s->runs.v[2].at += PAGE; }
static void mappings_overlap(struct gus_snapshot *s) { s->about->mappings[2]->length += PAGE; }
static void mapping_wraps(struct gus_snapshot *s) { s->about->mappings[3]->length = -(uint64_t)PAGE; }
static void mapping_empty(struct gus_snapshot *s) { s->about->mappings[1]->length = 0; }
static void mapping_odd(struct gus_snapshot *s) { s->about->mappings[1]->start += 1; }
static void no_path(struct gus_snapshot *s) { s->about->mappings[1]->from_file = true; }

static void rules(void **state)
{
	static void (*const breaks[])(struct gus_snapshot *) = {
		no_registers, much_state, little_state, other_machine, other_pages, more_bytes, fewer_bytes,
			too_many_bytes, half_a_page,
		odd_address, overlapping, descending, unmapped, wraps, beyond_bytes, mappings_overlap, mapping_wraps,
			mapping_empty, mapping_odd,
		no_path,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(breaks) / sizeof(*breaks); i++) {
		struct gus_snapshot s = example();
		struct gus_error err = { 0 };

		assert_int_equal(gus_snapshot_check(&s, &err), 0);
		breaks[i](&s);
		if (gus_snapshot_check(&s, &err) != -1 || err.code == GUS_OK)
			fail_msg("break %zu is not seen", i);
		gus_snapshot_free(&s);
	}
}

static void cut_at_each_byte(void **state)
{
	struct gus_snapshot s = example(), got;
	uint8_t bytes[65536];
	size_t size, step;
	FILE *f;

	(void)state;
	/* One page is enough, and small. */
	s.runs.n = 1;
	s.about->bytes = PAGE;
	memset(s.bytes, 1, PAGE);
	write_to("t", &s, 1);
	f = fopen("t", "rb");
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(size < sizeof(bytes));
	for (step = 0; step < size; step++) {
		struct gus_error err = { 0 };
		struct gus_reader *r = gus_reader_open_memory(bytes, step, &err);

		/* Whole before the footer, which comes behind it, or an error. */
		if (r && gus_snapshot_read(r, &got, &err) == 1) {
			assert_same(&s, &got);
			gus_snapshot_free(&got);
		} else {
			assert_int_not_equal(err.code, GUS_OK);
		}
		gus_reader_close(r);
	}
	gus_snapshot_free(&s);
}

/* A snapshot without its pages, or with another's behind it. */
static void pages_missing(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_snapshot s = example(), got;
	struct gus_error err = { 0 };
	struct gus_writer *w = gus_writer_create("t", &header, &err);
	struct gus_reader *r;

	(void)state;
	assert_int_equal(gus_writer_message(w, GUS_FRAME_SNAPSHOT, &s.about->base, &err), 0);
	assert_int_equal(gus_snapshot_write(w, &s, &err), 0);
	assert_int_equal(gus_writer_finish(w, &footer, &err), 0);
	r = gus_reader_open("t", &err);
	assert_int_equal(gus_snapshot_read(r, &got, &err), -1);
	assert_int_equal(err.code, GUS_E_CORRUPT);
	assert_non_null(strstr(err.text, "fewer pages than it says"));
	gus_reader_close(r);
	gus_snapshot_free(&s);
}

/* `test_snapshot seed FILE`: a small recording of snapshots, from which tests/fuzz/make_seed makes a seed. */
static int write_seed(const char *path)
{
	struct gus_snapshot s = example();

	s.runs.n = 2;
	s.runs.v[1].size = PAGE;
	s.about->bytes = 2 * PAGE;
	memset(s.bytes, 0, 2 * PAGE);
	write_to(path, &s, 1);
	gus_snapshot_free(&s);
	return 0;
}

/* Registers of each machine have a size of their own, and no other machine's. */
static void machines(void **state)
{
	static const struct { const char *name; size_t registers, state; int rc; } cases[] = {
		{ "x86_64", 216, 576, 0 }, { "x86_64", 280, 576, -1 }, { "x86_64", 216, 528, -1 },
		{ "aarch64", 280, 528, 0 }, { "aarch64", 279, 528, -1 }, { "aarch64", 281, 528, -1 },
		{ "aarch64", 280, 527, -1 }, { "aarch64", 280, 529, -1 }, { "aarch64", 216, 576, -1 },
		{ "riscv64", 280, 528, -1 }, { "", 280, 528, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_snapshot s = example();
		struct gus_error err = { 0 };

		free(s.about->machine);
		s.about->machine = gus_strdup(cases[i].name);
		s.about->registers.len = cases[i].registers;
		s.about->state.len = cases[i].state;
		assert_int_equal(gus_snapshot_check(&s, &err), cases[i].rc);
		gus_snapshot_free(&s);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(written_is_read),
		TEST(rules),
		TEST(cut_at_each_byte),
		TEST(pages_missing),
		TEST(machines),
	};

	if (argc == 3 && strcmp(argv[1], "seed") == 0)
		return write_seed(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
