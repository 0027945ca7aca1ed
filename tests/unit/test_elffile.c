/* SPDX-License-Identifier: MIT */
/* An ELF file that is read piece by piece, each time from a file that may be another one by then; and what is worked
 * out of its segments. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/error.h"
#include "base/foreign_file.h"
#include "symbolizer/elf/elffile.h"
#include "tests/unit/made_elf.h"

enum { BLOCK = 16384, FILLER = 10 * BLOCK };

static char folder[64];
static uint8_t whole[FILLER + 2 * BLOCK]; /* the file "file", as it is on the disk */
static size_t whole_n;

/* A file of more than ten blocks, whose headers are in the first and the last ones. */
static void write_file(void)
{
	static uint8_t filler[FILLER];
	struct made_elf m = made_elf_begin();
	FILE *f;

	for (size_t i = 0; i < sizeof(filler); i++)
		filler[i] = (uint8_t)(i / 256 + i + 1) | 1; /* no zeros, which are what is not loaded */
	made_elf_add(&m, ".filler", SHT_PROGBITS, 0, filler, sizeof(filler));
	made_elf_write(&m, "file");
	f = fopen("file", "r");
	assert_non_null(f);
	whole_n = fread(whole, 1, sizeof(whole), f);
	assert_true(whole_n > FILLER && whole_n < sizeof(whole));
	fclose(f);
}

static int enter(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/gusprof-test-XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) != 0 || chdir(folder) != 0)
		return -1;
	write_file();
	return 0;
}

static int leave(void **state)
{
	(void)state;
	unlink("file");
	unlink("other");
	return chdir("/") == 0 ? rmdir(folder) : -1;
}

static struct gus_elf *open_path(void)
{
	struct gus_elf *e = gus_elf_open("file", NULL);

	assert_non_null(e);
	return e;
}

/* By a descriptor that its owner closes. */
static struct gus_elf *open_descriptor(void)
{
	int fd = open("file", O_RDONLY | O_CLOEXEC);
	struct gus_elf *e = gus_elf_open_fd(fd, "file", NULL);

	assert_int_equal(close(fd), 0);
	assert_non_null(e);
	return e;
}

static bool is_there(const struct gus_elf *e, size_t block)
{
	static const uint8_t nothing[BLOCK];

	if (memcmp(e->bytes + block * BLOCK, whole + block * BLOCK, BLOCK) == 0)
		return true;
	assert_memory_equal(e->bytes + block * BLOCK, nothing, BLOCK);
	return false;
}

/* Blocks as far as they are asked for, each once. */
static void only_what_is_asked_for_is_read(void **state)
{
	static const struct { uint64_t at, size; unsigned blocks, read; } steps[] = {
		{ 2 * BLOCK, 1, 0x04u, 1 }, { 2 * BLOCK, BLOCK, 0x04u, 0 }, { 4 * BLOCK - 1, 1, 0x0cu, 1 },
		{ 5 * BLOCK - 1, 2, 0x3cu, 2 }, { 7 * BLOCK, 0, 0x3cu, 0 },
		{ 1 * BLOCK, 6 * BLOCK, 0x7eu, 2 }, { 1 * BLOCK + 5, 7 * BLOCK, 0x1feu, 2 },
	};
	struct gus_elf *e = open_path();

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		uint64_t before = e->read.left;

		assert_true(gus_elf_load(e, steps[i].at, steps[i].size));
		assert_int_equal(before - e->read.left, (uint64_t)steps[i].read * BLOCK);
		for (size_t k = 1; k < 10; k++)
			assert_int_equal(is_there(e, k), steps[i].blocks >> k & 1);
	}
	assert_true(gus_elf_load(e, 0, whole_n));
	assert_memory_equal(e->bytes, whole, whole_n);
	assert_null(e->trouble);
	gus_elf_close(e);
}

static void nothing_lies_behind_the_end(void **state)
{
	struct gus_elf *e = open_path();

	(void)state;
	assert_true(gus_elf_load(e, whole_n - 1, 1));
	assert_false(gus_elf_load(e, whole_n - 1, 2));
	assert_true(gus_elf_load(e, whole_n, 0));
	assert_false(gus_elf_load(e, whole_n, 1));
	assert_false(gus_elf_load(e, whole_n + 1, 0));
	assert_false(gus_elf_load(e, whole_n - 1, UINT64_MAX));
	assert_false(gus_elf_load(e, UINT64_MAX, 1));
	gus_elf_close(e);
}

static void write_zero(const char *path, long at)
{
	FILE *f = fopen(path, "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fputc(0, f), 0);
	assert_int_equal(fclose(f), 0);
}

/* What may happen to a file between two reads. */
enum change { NOTHING, REMOVED, REPLACED, TOUCHED, TOUCHED_SECONDS, LONGER, SHORTER, CHANGES };

static void happen(enum change change)
{
	struct stat st;
	struct timespec times[2];

	assert_int_equal(stat("file", &st), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	times[1].tv_nsec = (times[1].tv_nsec + (change == TOUCHED)) % 1000000000;
	times[1].tv_sec += change == TOUCHED_SECONDS;
	if (change == REMOVED)
		assert_int_equal(unlink("file"), 0);
	if (change == REPLACED) { /* by one with the same size and time */
		assert_int_equal(rename("file", "other"), 0);
		write_file();
	}
	if (change == LONGER || change == SHORTER)
		assert_int_equal(truncate("file", (off_t)whole_n + (change == LONGER ? 1 : -1)), 0);
	if (change != REMOVED)
		assert_int_equal(utimensat(AT_FDCWD, "file", times, 0), 0);
}

/* By its path it has to be there, and the same file; by a descriptor it is the same whatever the path is now. */
static void a_file_that_changed_is_not_read_on(void **state)
{
	static const bool good[2][CHANGES] = { [0] = { [NOTHING] = true },
					       [1] = { [NOTHING] = true, [REMOVED] = true, [REPLACED] = true } };

	(void)state;
	for (unsigned by_descriptor = 0; by_descriptor < 2; by_descriptor++)
		for (enum change c = 0; c < CHANGES; c++) {
			struct gus_error refused = { 0 };
			struct gus_elf *e = by_descriptor ? open_descriptor() : open_path();
			uint32_t sum = 0;
			bool is_good = good[by_descriptor][c];

			e->refused = &refused;
			happen(c);
			assert_int_equal(gus_elf_load(e, 3 * BLOCK, 1), is_good);
			assert_int_equal(gus_elf_checksum(e, &sum), is_good);
			if (is_good) {
				assert_int_equal(sum, crc32(0, whole, (uInt)whole_n));
				assert_null(e->trouble);
				assert_true(is_there(e, 3));
			} else {
				assert_string_equal(e->trouble, "it was changed while it was read");
			}
			assert_int_equal(refused.code, 0); /* another try would not find it either */
			gus_elf_close(e);
			write_file();
		}
}

/* Root's rights are not those of who named the file, and who may not read it any more is told. */
static void rights_are_asked_at_each_read(void **state)
{
	struct gus_rights nobody = { .limited = true, .uid = 65534, .gid = 65534, .whose = "nobody" };
	struct gus_error refused = { 0 };
	struct gus_elf *e;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: it needs root\n");
		skip();
	}
	e = gus_elf_open_as("file", &nobody, NULL, NULL);
	assert_non_null(e);
	assert_true(gus_elf_load(e, 3 * BLOCK, 1));
	assert_int_equal(chmod("file", 0600), 0);
	assert_false(gus_elf_load(e, 5 * BLOCK, 1));
	e->refused = &refused;
	assert_false(gus_elf_load(e, 6 * BLOCK, 1));
	assert_int_equal(refused.code, GUS_E_PERMISSION);
	refused.text[0] = '\0';
	assert_false(gus_elf_load(e, 7 * BLOCK, 1));
	assert_string_equal(refused.text, ""); /* the first one stays */
	assert_true(gus_elf_load(e, 3 * BLOCK, 1)); /* which is there */
	gus_elf_close(e);
}

/* A descriptor has to be of a regular file, and open. */
static void descriptors_of_other_things_are_refused(void **state)
{
	struct gus_error err = { 0 };
	int ends[2], fd = open(".", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_null(gus_elf_open_fd(ends[0], "pipe", &err));
	assert_string_equal(err.text, "cannot read symbols of pipe: it is no regular file");
	err = (struct gus_error){ 0 };
	assert_null(gus_elf_open_fd(fd, "folder", &err));
	assert_string_equal(err.text, "cannot read symbols of folder: it is no regular file");
	close(fd);
	close(ends[0]);
	close(ends[1]);
	err = (struct gus_error){ 0 };
	assert_null(gus_elf_open_fd(fd, "closed", &err));
	assert_non_null(strstr(err.text, "cannot read closed: "));
	assert_int_equal(dup(0), fd); /* none is left open */
	close(fd);
}

/* Of the file that a mapping shows no other one is opened. */
static void another_file_is_not_the_one_that_was_mapped(void **state)
{
	struct gus_file_identity is = { 0 };
	struct gus_error err = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(stat("file", &st), 0);
	is.inode = st.st_ino + 1;
	assert_null(gus_elf_open_as("file", NULL, &is, &err));
	assert_int_equal(err.code, GUS_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "file is not the file that was mapped"));
}

/* The checksum is of all bytes, leaves nothing in memory, and is not asked of what would take minutes. */
static void the_checksum_is_that_of_all_bytes(void **state)
{
	struct gus_elf *e = open_path(), *image = gus_elf_copy("image", whole, whole_n, NULL);
	uint32_t sum = 0, of_image = 0;
	uint64_t left = e->read.left;

	(void)state;
	assert_true(gus_elf_checksum(e, &sum) && gus_elf_checksum(image, &of_image));
	assert_int_equal(sum, crc32(0, whole, (uInt)whole_n));
	assert_int_equal(of_image, sum);
	assert_false(is_there(e, 4));
	assert_int_equal(e->read.left, left);
	gus_elf_close(e);
	gus_elf_close(image);
	write_zero("file", 4 * BLOCK);
	e = open_path();
	assert_true(gus_elf_checksum(e, &sum));
	assert_int_not_equal(of_image, sum);
	gus_elf_close(e);
	if (truncate("file", (off_t)GUS_LIMIT_ELF_READ + 1) != 0)
		skip(); /* the file system has no such files */
	e = open_path();
	assert_false(gus_elf_checksum(e, &sum));
	gus_elf_close(e);
}

/* What all files may take is charged with what each reads, and its own limit first. */
static void bytes_are_charged_once(void **state)
{
	struct gus_budget total = { .left = 2 * BLOCK };
	struct gus_elf *e = open_path();

	(void)state;
	e->total = &total;
	assert_true(gus_elf_load(e, 2 * BLOCK, 2 * BLOCK));
	assert_int_equal(total.left, 0);
	assert_true(gus_elf_load(e, 3 * BLOCK, 1));
	assert_null(e->trouble);
	assert_false(gus_elf_load(e, 4 * BLOCK, 1));
	assert_ptr_equal(e->trouble, gus_elf_total);
	assert_true(total.cut);
	gus_elf_close(e);
	e = open_path();
	total = (struct gus_budget){ .left = 2 * BLOCK };
	e->total = &total;
	e->read.left = BLOCK - 1;
	assert_false(gus_elf_load(e, 2 * BLOCK, 1));
	assert_string_equal(e->trouble, "it has more bytes of names than a file may have");
	assert_int_equal(total.left, 2 * BLOCK);
	assert_true(gus_elf_charge(e, &e->work, 1, "")); /* work is the file's own */
	assert_int_equal(total.left, 2 * BLOCK);
	gus_elf_close(e);
}

/* A view has what was loaded, and no more; its parts of what may be spent; and leaves the bytes to their owner. */
static void a_view_has_what_was_loaded(void **state)
{
	struct gus_elf *e = open_path(), *v;

	(void)state;
	assert_true(gus_elf_load(e, 3 * BLOCK, 1));
	assert_true(gus_elf_load(e, FILLER, whole_n - FILLER)); /* the sections' headers */
	e->work.left = 1001;
	e->made.left = 103;
	v = gus_elf_view(e, 10);
	assert_non_null(v);
	assert_true(gus_elf_load(v, 3 * BLOCK, BLOCK));
	assert_false(gus_elf_load(v, 3 * BLOCK, BLOCK + 1));
	assert_false(gus_elf_load(v, 3 * BLOCK - 1, 1));
	assert_int_equal(v->work.left, 100);
	assert_int_equal(v->made.left, 10);
	gus_elf_close(v);
	assert_true(is_there(e, 3));
	gus_elf_close(e);
}

/* From offsets to addresses. Code shares a page of the file with data before and behind it; the last segment goes on
 * in memory. */
static void addresses_of_offsets(void **state)
{
	static const struct gus_segment segments[] = {
		{ 0x0000, 0x10000, 0x1800, 0x1800, false }, { 0x1000, 0x22000, 0x1000, 0x1000, true },
		{ 0x1800, 0x33800, 0x0900, 0x1000, false },
	};
	static const struct { uint64_t offset, code, data; } cases[] = {
		{ 0x0000, 0x10000, 0x10000 }, { 0x0fff, 0x10fff, 0x10fff }, { 0x1000, 0x22000, 0x11000 },
		{ 0x17ff, 0x227ff, 0x117ff }, { 0x1800, 0x22800, 0x33800 }, { 0x1fff, 0x22fff, 0x33fff },
		{ 0x2000, 0x34000, 0x34000 }, { 0x20ff, 0x340ff, 0x340ff }, { 0x2100, 0, 0x34100 },
		{ 0x27ff, 0, 0x347ff }, { 0x2800, 0, 0 }, { UINT64_MAX, 0, 0 },
	};
	static const struct { uint64_t address; bool is; } code[] = {
		{ 0x10000, false }, { 0x21fff, false }, { 0x22000, true }, { 0x22fff, true }, { 0x23000, false },
	};
	struct gus_elf e = { .fd = -1 };

	(void)state;
	for (size_t i = 0; i < sizeof(segments) / sizeof(*segments); i++)
		gus_vec_push(&e.segments, segments[i]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t address = 0;

		assert_int_equal(gus_elf_address(&e, cases[i].offset, &address), cases[i].code != 0);
		assert_int_equal(address, cases[i].code);
		address = 0;
		assert_int_equal(gus_elf_data_address(&e, cases[i].offset, &address), cases[i].data != 0);
		assert_int_equal(address, cases[i].data);
	}
	for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++)
		assert_int_equal(gus_elf_executable(&e, code[i].address), code[i].is);
	gus_vec_free(&e.segments);
}

static void build_ids_are_equal_but_for_zeros_at_their_end(void **state)
{
	static const struct { const char *a, *b; size_t a_size, b_size; bool equal; } cases[] = {
		{ "\1\2", "\1\2", 2, 2, true }, { "\1\2\0\0", "\1\2", 4, 2, true }, { "\1\2", "\1\2\0", 2, 3, true },
		{ "\1\2", "\1\2\3", 2, 3, false }, { "\1\2\3", "\1\2", 3, 2, false }, { "\1\2", "\1\3", 2, 2, false },
		{ "\0\0", "\0\0", 2, 2, false }, { "", "", 0, 0, false }, { NULL, "\1", 1, 1, false },
		{ "\1", NULL, 1, 1, false }, { "\0\1", "\1", 2, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(gus_build_id_equal((const uint8_t *)cases[i].a, cases[i].a_size,
						    (const uint8_t *)cases[i].b, cases[i].b_size), cases[i].equal);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_is_asked_for_is_read),
		TEST(nothing_lies_behind_the_end),
		TEST(a_file_that_changed_is_not_read_on),
		TEST(rights_are_asked_at_each_read),
		TEST(descriptors_of_other_things_are_refused),
		TEST(another_file_is_not_the_one_that_was_mapped),
		TEST(the_checksum_is_that_of_all_bytes),
		TEST(bytes_are_charged_once),
		TEST(a_view_has_what_was_loaded),
		cmocka_unit_test(addresses_of_offsets),
		cmocka_unit_test(build_ids_are_equal_but_for_zeros_at_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
