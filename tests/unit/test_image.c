/* SPDX-License-Identifier: MIT */
/* Snapshots as what replays them is given them: what is mapped where, and what is refused because it is hostile. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/foreign_file.h"
#include "tests/unit/made_snapshot.h"
#include "tracing/replay/image.h"
#include "tracing/replay/image_format.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PAGE 4096ull

static char directory[] = "/tmp/gusprof-test-XXXXXX";

struct made {
	struct gus_replay_image_files files;
	struct gus_replay_image head;
	struct gus_replay_mapping mappings[8];
	struct gus_error err;
	int rc;
};

/* Makes the image and reads its head back. Freed with gus_replay_image_close. */
static struct made make_as(const struct gus_rights *rights, struct gus_snapshot *s)
{
	struct made m = { 0 };
	size_t size;

	m.rc = gus_replay_image_make(s, false, rights, &m.files, &m.err);
	if (m.rc == 0) {
		assert_int_equal(pread(m.files.image, &m.head, sizeof(m.head), 0), sizeof(m.head));
		assert_in_range(m.head.mappings_n, 0, COUNT(m.mappings));
		size = m.head.mappings_n * sizeof(*m.mappings);
		assert_int_equal(pread(m.files.image, m.mappings, size, (off_t)m.head.mappings), size);
	}
	gus_snapshot_free(s);
	return m;
}

static struct made make(struct gus_snapshot *s)
{
	return make_as(NULL, s);
}

static void write_file(const char *path, size_t size)
{
	FILE *f;

	unlink(path); /* what a test that failed has left may be a pipe */
	f = fopen(path, "w");
	assert_non_null(f);
	while (size--)
		fputc('x', f);
	assert_int_equal(fclose(f), 0);
}

/* As the file is now. */
static void map_file(struct gus_snapshot *s, uint64_t start, const char *name)
{
	char *path = gus_format("%s/%s", directory, name);
	Gusprof__SnapshotMapping *m;
	struct stat st;

	made_snapshot_map(s, start, 1, path);
	assert_int_equal(stat(path, &st), 0);
	m = s->about->mappings[s->about->n_mappings - 1];
	m->from_file = true;
	m->file_size = (uint64_t)st.st_size;
	m->inode = st.st_ino;
	m->file_mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	free(path);
}

/* Two mappings of one file, one of another and memory: files are opened once, and memory has none. */
static void files_go_along_as_descriptors(void **state)
{
	struct gus_snapshot s = made_snapshot(7);
	struct made m;
	struct stat st, of;

	(void)state;
	write_file("a", 5000);
	write_file("b", 10);
	map_file(&s, 0x400000, "a");
	map_file(&s, 0x401000, "a");
	map_file(&s, 0x402000, "b");
	made_snapshot_map(&s, 0x500000, 2, "");
	m = make(&s);
	assert_int_equal(m.rc, 0);
	assert_int_equal(m.head.mappings_n, 4);
	assert_int_equal(m.files.fds.n, 3); /* a, b, the image */
	assert_int_equal(m.files.memory, 5 * PAGE);
	assert_int_equal(m.mappings[0].file, m.mappings[1].file);
	assert_int_not_equal(m.mappings[0].file, m.mappings[2].file);
	assert_int_equal(m.mappings[3].file, -1);
	assert_true(fstat(m.mappings[2].file, &of) == 0 && stat("b", &st) == 0 && of.st_ino == st.st_ino);
	for (size_t i = 0; i < m.files.fds.n; i++)
		assert_int_equal(fcntl(m.files.fds.v[i], F_GETFD), FD_CLOEXEC);
	gus_replay_image_close(&m.files);
	assert_int_equal(unlink("a"), 0);
	assert_int_equal(unlink("b"), 0);
}

/* Who loads it may not change it for the next one, or for us. */
static void an_image_is_sealed(void **state)
{
	struct gus_snapshot s = made_snapshot(7);
	struct made m = make(&s);

	(void)state;
	assert_int_equal(m.rc, 0);
	assert_int_equal(pwrite(m.files.image, "x", 1, 0), -1);
	assert_int_equal(ftruncate(m.files.image, 0), -1);
	gus_replay_image_close(&m.files);
}

/* Where what loads it lies: a page less is in nobody's way. */
static void memory_of_the_loader_is_refused(void **state)
{
	static const struct { uint64_t start, pages; int rc; } cases[] = {
		{ GUS_REPLAY_BASE - PAGE, 1, 0 }, { GUS_REPLAY_BASE - PAGE, 2, -1 }, { GUS_REPLAY_BASE, 1, -1 },
		{ GUS_REPLAY_BASE + GUS_REPLAY_SIZE - PAGE, 1, -1 }, { GUS_REPLAY_BASE + GUS_REPLAY_SIZE, 1, 0 },
		{ GUS_REPLAY_BASE - PAGE, GUS_REPLAY_SIZE / PAGE + 2, -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_snapshot s = made_snapshot(7);
		struct made m;

		made_snapshot_map(&s, cases[i].start, cases[i].pages, "");
		m = make(&s);
		assert_int_equal(m.rc, cases[i].rc);
		if (m.rc != 0)
			assert_int_equal(m.err.code, GUS_E_UNSUPPORTED);
		gus_replay_image_close(&m.files);
	}
}

/* A reservation around the loader is in nobody's way, until pages of it would be read to where the loader lies: they
 * would be its stack, and with it where it goes on. */
static void pages_of_the_loader_are_refused(void **state)
{
	static const struct { uint64_t run, pages; int rc; } cases[] = {
		{ GUS_REPLAY_BASE - PAGE, 1, 0 }, { GUS_REPLAY_BASE - PAGE, 2, -1 },
		{ GUS_REPLAY_BASE + 3 * PAGE, 1, -1 }, { GUS_REPLAY_BASE + GUS_REPLAY_SIZE - PAGE, 1, -1 },
		{ GUS_REPLAY_BASE + GUS_REPLAY_SIZE, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_snapshot s = made_snapshot(7);
		struct made m;

		made_snapshot_map(&s, GUS_REPLAY_BASE - PAGE, GUS_REPLAY_SIZE / PAGE + 2, "");
		s.about->mappings[0]->protection = PROT_NONE;
		made_snapshot_run(&s, cases[i].run, cases[i].pages);
		assert_int_equal(gus_snapshot_check(&s, NULL), 0);
		m = make(&s);
		assert_int_equal(m.rc, cases[i].rc);
		if (m.rc != 0)
			assert_int_equal(m.err.code, GUS_E_UNSUPPORTED);
		gus_replay_image_close(&m.files);
	}
}

/* A stack gets room to grow, but none that is not there: below, and at the lowest addresses. */
static void a_stack_may_grow(void **state)
{
	static const struct { uint64_t below, start, from; } cases[] = {
		{ 0x500000, 0x700000, 0x6e0000 },       /* 128 KiB */
		{ 0x6d0000, 0x6f1000, 0x6d1000 },
		{ 0x6d0000, 0x6e0000, 0x6d1000 },
		{ 0, 0x20000, 0x10000 },                /* the lowest that can be mapped */
		{ 0, 0x10000, 0x10000 },
		{ 0, 0x1000, 0x1000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_snapshot s = made_snapshot(7);
		struct made m;

		if (cases[i].below)
			made_snapshot_map(&s, cases[i].below, 1, "");
		made_snapshot_map(&s, cases[i].start, 1, "[stack]");
		m = make(&s);
		assert_int_equal(m.rc, 0);
		assert_int_equal(m.mappings[m.head.mappings_n - 1].address, cases[i].from);
		assert_int_equal(m.mappings[m.head.mappings_n - 1].size, cases[i].start + PAGE - cases[i].from);
		gus_replay_image_close(&m.files);
	}
}

/* What has another size, time or inode, or is a pipe by now (which nobody waits for), is not what was mapped. */
static void changed_files_are_refused(void **state)
{
	(void)state;
	for (int change = 0; change < 5; change++) {
		struct gus_snapshot s = made_snapshot(7);
		Gusprof__SnapshotMapping *mapping;
		struct made m;

		write_file("f", 100);
		map_file(&s, 0x400000, "f");
		mapping = s.about->mappings[0];
		mapping->file_size += change == 1;
		mapping->file_mtime_ns += change == 2;
		mapping->inode += change == 3;
		if (change == 4) {
			struct stat st;

			unlink("f");
			assert_int_equal(mkfifo("f", 0600), 0);
			assert_int_equal(stat("f", &st), 0);
			mapping->file_size = 0;
			mapping->inode = st.st_ino;
			mapping->file_mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
				(uint64_t)st.st_mtim.tv_nsec;
		}
		m = make(&s);
		assert_int_equal(m.rc, change ? -1 : 0);
		if (change)
			assert_int_equal(m.err.code, GUS_E_NOT_FOUND);
		gus_replay_image_close(&m.files);
		unlink("f");
	}
}

/* What may be known of a file that may not be read is enough to name it in a snapshot. */
static void files_are_opened_with_the_rights_of_whose_memory_it_is(void **state)
{
	const struct gus_rights rights = { .limited = true, .uid = 65534, .gid = 65534, .whose = "a stranger" };
	static const struct { mode_t mode; int rc; } cases[] = { { 0644, 0 }, { 0600, -1 } };

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(directory, 0755), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_snapshot s = made_snapshot(7);
		struct made m;

		write_file("a", 10);
		assert_int_equal(chmod("a", cases[i].mode), 0);
		map_file(&s, 0x400000, "a");
		m = make_as(&rights, &s);
		assert_int_equal(m.rc, cases[i].rc);
		if (m.rc != 0) {
			assert_int_equal(m.err.code, GUS_E_PERMISSION);
			assert_non_null(strstr(m.err.text, "/a was mapped and cannot be opened with the rights of a "
							   "stranger: "));
		}
		gus_replay_image_close(&m.files);
		assert_int_equal(unlink("a"), 0);
	}
}

/* Pages come behind the tables, each run where its own says; a trap flag would stop the copy at its first step. */
static void pages_and_registers_are_those_of_the_snapshot(void **state)
{
	struct gus_snapshot s = made_snapshot(7);
	struct gus_replay_run runs[2];
	uint64_t flags = 0x346;
	uint8_t page[PAGE], last[PAGE], got[PAGE];
	struct made m;

	(void)state;
	made_snapshot_map(&s, 0x400000, 8, "");
	made_snapshot_run(&s, 0x401000, 1);
	made_snapshot_run(&s, 0x404000, 2);
	memcpy(s.about->registers.data + 18 * 8, &flags, sizeof(flags));
	memcpy(page, s.bytes, PAGE);
	memcpy(last, s.bytes + 2 * PAGE, PAGE);
	m = make(&s);
	assert_int_equal(m.rc, 0);
	assert_int_equal(m.head.runs_n, 2);
	assert_int_equal(m.head.registers[18], 0x246);
	assert_int_equal(pread(m.files.image, runs, sizeof(runs), (off_t)m.head.runs), sizeof(runs));
	assert_int_equal(runs[0].address, 0x401000);
	assert_int_equal(runs[1].size, 2 * PAGE);
	assert_int_equal(runs[1].at, runs[0].at + PAGE);
	assert_int_equal(pread(m.files.image, got, PAGE, (off_t)runs[0].at), PAGE);
	assert_memory_equal(got, page, PAGE);
	assert_int_equal(pread(m.files.image, got, PAGE, (off_t)(runs[1].at + PAGE)), PAGE);
	assert_memory_equal(got, last, PAGE);
	gus_replay_image_close(&m.files);
}

/* Of what is larger than 256 MiB only 4 MiB around the pages in use, as far as the mapping goes; near ones are one. */
static void large_memory_is_mapped_around_its_pages(void **state)
{
	const uint64_t start = 0x10000000, mib = 1 << 20, end = start + 1024 * mib;
	static const struct { uint64_t page, from, to; } cases[] = { /* in MiB behind the start */
		{ 0, 0, 4 }, { 3, 0, 7 }, { 4, 0, 8 }, { 5, 1, 9 }, { 500, 496, 504 }, { 1019, 1015, 1023 },
		{ 1020, 1016, 1024 }, { 1023, 1019, 1024 },
	};
	struct gus_snapshot s;
	struct made m;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t to = start + cases[i].to * mib + (cases[i].to < 1020 || cases[i].page < 1020 ? PAGE : 0);

		s = made_snapshot(7);
		made_snapshot_map(&s, start, 1024 * mib / PAGE, "");
		made_snapshot_run(&s, start + cases[i].page * mib, 1);
		m = make(&s);
		assert_int_equal(m.rc, 0);
		assert_int_equal(m.head.mappings_n, 1);
		assert_int_equal(m.mappings[0].address, start + cases[i].from * mib);
		assert_int_equal(m.mappings[0].address + m.mappings[0].size, to < end ? to : end);
		gus_replay_image_close(&m.files);
	}
	s = made_snapshot(7);
	made_snapshot_map(&s, start, 1024 * mib / PAGE, "");
	made_snapshot_run(&s, start + 100 * mib, 1);
	made_snapshot_run(&s, start + 107 * mib, 1); /* whose parts meet */
	made_snapshot_run(&s, start + 200 * mib, 1);
	m = make(&s);
	assert_int_equal(m.head.mappings_n, 2);
	assert_int_equal(m.mappings[0].size, 15 * mib + PAGE);
	assert_int_equal(m.mappings[1].address, start + 196 * mib);
	gus_replay_image_close(&m.files);
}

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_go_along_as_descriptors),
		cmocka_unit_test(an_image_is_sealed),
		cmocka_unit_test(pages_and_registers_are_those_of_the_snapshot),
		cmocka_unit_test(large_memory_is_mapped_around_its_pages),
		cmocka_unit_test(memory_of_the_loader_is_refused),
		cmocka_unit_test(pages_of_the_loader_are_refused),
		cmocka_unit_test(files_are_opened_with_the_rights_of_whose_memory_it_is),
		cmocka_unit_test(a_stack_may_grow),
		cmocka_unit_test(changed_files_are_refused),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
