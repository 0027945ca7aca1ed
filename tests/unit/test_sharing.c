/* SPDX-License-Identifier: MIT */
/* Lines that threads share: recordings of a few accesses to one line or two, each with what is to be said of them. Code
 * is this program's own, so that what its instructions move is known. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/memory/sharing.h"
#include "base/error.h"
#include "base/limits.h"
#include "proto/writer.h"
#include "symbolizer/elf/elffile.h"
#include "tests/unit/made_folder.h"
#include "tests/unit/made_sideband.h"

#define LINE 0x500040ull
#define LOAD ((uint64_t)PERF_MEM_S(OP, LOAD) | PERF_MEM_S(SNOOP, NONE))
#define HITM ((uint64_t)PERF_MEM_S(OP, LOAD) | PERF_MEM_S(SNOOP, HITM))
#define STORE ((uint64_t)PERF_MEM_S(OP, STORE) | PERF_MEM_S(SNOOP, NONE))
#define BOTH ((uint64_t)PERF_MEM_S(OP, LOAD) | PERF_MEM_S(OP, STORE) | PERF_MEM_S(SNOOP, NONE))
#define SILENT ((uint64_t)PERF_MEM_S(OP, LOAD) | PERF_MEM_S(SNOOP, NA))

/* A load of eight bytes, and what has no place in memory. */
#if defined(__x86_64__)
__asm__(".text\nthe_load: mov (%rdi), %rax\nthe_other: nop\n ret");
#else
__asm__(".text\nthe_load: ldr x0, [x0]\nthe_other: nop\n ret");
#endif
extern const char the_load[], the_other[];

struct done { uint32_t tid; uint64_t address, word; bool exact; uint32_t pid, event; bool other; };

static struct gus_sharing shared;

static void map_self(struct gus_writer *w)
{
	unsigned long long from, to, offset;
	char line[4096], path[4096], exe[4096];
	FILE *maps = fopen("/proc/self/maps", "r");
	struct gus_elf *file;

	assert_non_null(maps);
	assert_non_null(realpath("/proc/self/exe", exe));
	file = gus_elf_open(exe, NULL);
	assert_true(file && file->build_id);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx r-x%*s %llx %*s %*s %4095[^\n]", &from, &to, &offset, path) == 4 &&
		    strcmp(path, exe) == 0) {
			const struct made_mapping m = { .time = 1, .pid = 1, .start = from, .length = to - from,
				.offset = offset, .path = exe };
			struct made_mmap r;

			made_mmap(&r, &m);
			r.mmap.build_id.data = (uint8_t *)(uintptr_t)file->build_id;
			r.mmap.build_id.len = file->build_id_size;
			assert_true(made_record(w, &r.record));
		}
	fclose(maps);
	gus_elf_close(file);
}

/* Looks at a recording of these. What the finder returns. */
static int look(const struct done *done, size_t n, uint32_t line_size, struct gus_error *err)
{
	static const struct gus_symbols_options options;
	Gusprof__Event one = GUSPROF__EVENT__INIT, two = GUSPROF__EVENT__INIT, *events[] = { &one, &two };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	struct gus_columns c = { 0 };
	struct gus_reader *reader;
	struct gus_writer *w;
	int rc;

	host.line_size = line_size;
	header.host = &host;
	header.events = events;
	header.n_events = 2;
	w = gus_writer_create("t", &header, NULL);
	assert_non_null(w);
	map_self(w);
	for (size_t i = 0; i < n; i++)
		gus_columns_push(&c, &(struct gus_sample){ .time = 10 + i,
			.ip = (uint64_t)(uintptr_t)(done[i].other ? the_other : the_load),
			.pid = done[i].pid ? done[i].pid : 1, .tid = done[i].tid, .event = done[i].event, .period = 1,
			.mode = GUS_MODE_USER, .address = done[i].address, .data_source = done[i].word,
			.exact = done[i].exact });
	assert_int_equal(gus_writer_samples(w, &c, NULL), 0);
	gus_columns_free(&c);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	reader = gus_reader_open("t", NULL);
	assert_non_null(reader);
	rc = gus_sharing_find(&shared, reader, &(struct gus_filter){ .event = GUS_EVENT_ANY }, &options, NULL, err);
	gus_reader_close(reader);
	return rc;
}

/* Each HITM is of one kind. */
static void verdicts(void **state)
{
	static const struct { struct done done[5]; size_t n; enum gus_sharing_why why; } cases[] = {
		/* Alone, it can be anything. */
		{ { { 1, LINE, HITM } }, 1, GUS_SHARING_UNKNOWN },
		{ { { 1, LINE, HITM }, { 1, LINE + 8, STORE }, { 1, LINE, STORE } }, 3, GUS_SHARING_UNKNOWN },
		/* Others write the same byte, elsewhere in the line, both, or in another line. */
		{ { { 1, LINE, HITM }, { 2, LINE, STORE } }, 2, GUS_SHARING_SAME },
		{ { { 1, LINE, HITM }, { 2, LINE + 63, STORE } }, 2, GUS_SHARING_APART },
		{ { { 1, LINE + 63, HITM }, { 2, LINE, STORE } }, 2, GUS_SHARING_APART },
		{ { { 1, LINE, HITM }, { 2, LINE + 8, STORE }, { 3, LINE, STORE } }, 3, GUS_SHARING_SAME },
		{ { { 1, LINE, HITM }, { 2, LINE + 64, STORE } }, 2, GUS_SHARING_UNKNOWN },
		{ { { 1, LINE, HITM }, { 2, LINE - 1, STORE } }, 2, GUS_SHARING_UNKNOWN },
		/* What is both a load and a store writes. */
		{ { { 1, LINE, HITM }, { 2, LINE, BOTH } }, 2, GUS_SHARING_SAME },
		/* Nobody was seen to write: others read elsewhere, or the same. */
		{ { { 1, LINE, HITM }, { 2, LINE + 8, LOAD } }, 2, GUS_SHARING_LIKELY },
		{ { { 1, LINE, HITM }, { 2, LINE, LOAD } }, 2, GUS_SHARING_UNKNOWN },
		{ { { 1, LINE, HITM }, { 2, LINE, LOAD }, { 3, LINE + 8, LOAD } }, 3, GUS_SHARING_UNKNOWN },
		/* Its own stores are nobody else's, also where another wrote there as well. */
		{ { { 1, LINE, HITM }, { 1, LINE, STORE }, { 2, LINE + 8, STORE } }, 3, GUS_SHARING_APART },
		{ { { 1, LINE, HITM }, { 1, LINE, STORE }, { 2, LINE, STORE } }, 3, GUS_SHARING_SAME },
		{ { { 1, LINE, HITM }, { 2, LINE, STORE }, { 1, LINE, STORE } }, 3, GUS_SHARING_SAME },
		/* A thread of another process has its own memory there. */
		{ { { 1, LINE, HITM }, { 2, LINE + 8, STORE, .pid = 2 } }, 2, GUS_SHARING_UNKNOWN },
		/* Another event's samples count, too. */
		{ { { 1, LINE, HITM }, { 2, LINE + 8, STORE, .event = 1 } }, 2, GUS_SHARING_APART },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool accidental = cases[i].why == GUS_SHARING_APART || cases[i].why == GUS_SHARING_LIKELY;

		assert_int_equal(look(cases[i].done, cases[i].n, 0, NULL), 0);
		assert_int_equal(shared.lines.n, 1);
		if (shared.lines.v[0].by_why[cases[i].why] != 1)
			fail_msg("case %zu is not %d", i, cases[i].why);
		assert_int_equal(shared.candidates, accidental);
		assert_true(shared.hitm == 1 && shared.samples == cases[i].n && shared.told == cases[i].n &&
			    shared.unplaced == 0);
		gus_sharing_free(&shared);
	}
}

/* Where the instruction is known to the byte, what it moves is: eight of them. */
static void bytes_that_overlap_are_the_same(void **state)
{
	static const struct { struct done done[2]; enum gus_sharing_why why; uint32_t size; } cases[] = {
		{ { { 1, LINE, HITM, true }, { 2, LINE + 7, STORE } }, GUS_SHARING_SAME, 8 },
		{ { { 1, LINE, HITM, true }, { 2, LINE + 8, STORE } }, GUS_SHARING_APART, 8 },
		{ { { 1, LINE, HITM, false }, { 2, LINE + 7, STORE } }, GUS_SHARING_APART, 0 },
		{ { { 1, LINE + 8, HITM, true }, { 2, LINE + 7, STORE } }, GUS_SHARING_APART, 8 },
		{ { { 1, LINE + 8, HITM, true }, { 2, LINE + 1, STORE, true } }, GUS_SHARING_SAME, 8 },
		/* It may reach into the next line, which is not looked at. */
		{ { { 1, LINE + 60, HITM, true }, { 2, LINE + 63, STORE } }, GUS_SHARING_SAME, 8 },
		{ { { 1, LINE + 60, HITM, true }, { 2, LINE, STORE } }, GUS_SHARING_APART, 8 },
		{ { { 1, LINE, HITM, true, .other = true }, { 2, LINE + 1, STORE } }, GUS_SHARING_APART, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(look(cases[i].done, 2, 0, NULL), 0);
		if (shared.lines.v[0].by_why[cases[i].why] != 1)
			fail_msg("case %zu is not %d", i, cases[i].why);
		assert_int_equal(shared.accesses.v[0].size, cases[i].size);
		gus_sharing_free(&shared);
	}
}

static void lines_of_other_sizes(void **state)
{
	/* In 256 bytes parts are of four: what lies in one part is the same. */
	static const struct done wide[] = { { 1, 0x500000, HITM }, { 2, 0x500003, STORE }, { 3, 0x500104, HITM },
		{ 4, 0x5001ff, STORE } };
	static const struct done narrow[] = { { 1, 0x500000, HITM }, { 2, 0x500020, STORE } };

	(void)state;
	assert_int_equal(look(wide, 4, 256, NULL), 0);
	assert_int_equal(shared.lines.n, 2);
	assert_int_equal(shared.candidates, 1);
	assert_true(shared.lines.v[0].by_why[GUS_SHARING_APART] == 1);
	assert_int_equal(shared.accesses.v[shared.lines.v[0].first].offset, 4);
	assert_true(shared.lines.v[1].by_why[GUS_SHARING_SAME] == 1);
	gus_sharing_free(&shared);
	assert_int_equal(look(narrow, 2, 32, NULL), 0);
	assert_int_equal(shared.candidates, 0);
	gus_sharing_free(&shared);
}

static void what_stands_in_which_order(void **state)
{
	static const struct done done[] = {
		/* The second line has more candidates, the first more HITM; a third has only the latter. */
		{ 1, LINE, HITM }, { 2, LINE + 8, STORE }, { 2, LINE + 8, HITM }, { 1, LINE + 8, STORE },
		{ 2, LINE + 8, HITM }, { 2, LINE + 8, HITM },
		{ 3, LINE + 64, HITM }, { 3, LINE + 64, HITM }, { 1, LINE + 72, STORE }, { 1, LINE + 72, STORE },
		{ 4, LINE + 128, HITM }, { 4, LINE + 128, HITM }, { 4, LINE + 128, HITM }, { 4, LINE + 128, HITM },
		{ 5, LINE + 128, HITM },
		/* Of no address; of a load that was not held up; of another line without any. */
		{ 1, 0, HITM }, { 5, LINE, LOAD }, { 5, LINE + 256, STORE }, { 5, LINE + 256, LOAD },
	};
	const struct gus_sharing_line *lines;
	const struct gus_sharing_access *a;

	(void)state;
	assert_int_equal(look(done, sizeof(done) / sizeof(*done), 0, NULL), 0);
	lines = shared.lines.v;
	assert_int_equal(shared.lines.n, 3);
	assert_int_equal(shared.candidates, 2);
	assert_true(shared.hitm == 12 && shared.unplaced == 1 && shared.samples == 19 && shared.snooped == 19);
	assert_true(shared.touches.list.v[lines[0].touch].key.address == LINE + 64);
	assert_true(shared.touches.list.v[lines[1].touch].key.address == LINE);
	assert_true(shared.touches.list.v[lines[2].touch].key.address == LINE + 128);
	assert_true(lines[1].hitm == 4 && lines[1].samples == 7 && lines[1].loads == 5 && lines[1].stores == 2 &&
		    lines[1].threads == 3 && lines[1].by_why[GUS_SHARING_SAME] == 3 &&
		    lines[1].by_why[GUS_SHARING_APART] == 1);
	/* In a line by HITM, then samples, then byte. */
	a = &shared.accesses.v[lines[1].first];
	assert_int_equal(lines[1].n, 4);
	assert_true(a[0].hitm == 3 && a[0].samples == 4 && a[0].stores == 1 && a[0].offset == 8);
	assert_int_equal(shared.threads.v[a[0].thread].tid, 2);
	assert_true(a[1].hitm == 1 && a[1].offset == 0 && a[1].why == GUS_SHARING_APART);
	assert_true(a[2].hitm == 0 && a[2].offset == 0 && shared.threads.v[a[2].thread].tid == 5);
	assert_true(a[3].hitm == 0 && a[3].offset == 8 && shared.threads.v[a[3].thread].tid == 1);
	assert_true(lines[2].hitm == 5 && lines[2].threads == 2 && lines[2].by_why[GUS_SHARING_UNKNOWN] == 5);
	gus_sharing_free(&shared);
}

static struct done *some(size_t n)
{
	return calloc(n, sizeof(struct done));
}

/* Of lines that come too late, and of who uses a line when there are too many, no more is said than how many HITM. */
static void there_is_room_for_so_many(void **state)
{
	const size_t lines = GUS_LIMIT_TOUCHES + 2, users = GUS_LIMIT_SHARING + 3;
	struct done *done = some(lines);

	(void)state;
	for (size_t i = 0; i < lines; i++)
		done[i] = (struct done){ 1, LINE + 64 * i, HITM };
	assert_int_equal(look(done, lines, 0, NULL), 0);
	assert_int_equal(shared.lines.n, GUS_LIMIT_TOUCHES - 1);
	assert_true(shared.hitm == lines && shared.unplaced == 3);
	gus_sharing_free(&shared);
	free(done);
	done = some(users);
	for (size_t i = 0; i < users; i++)
		done[i] = (struct done){ (uint32_t)i / 64, LINE + i % 64, i % 2 ? STORE : HITM };
	assert_int_equal(look(done, users, 0, NULL), 0);
	assert_true(shared.lines.n == 1 && shared.accesses.n == GUS_LIMIT_SHARING);
	assert_true(shared.hitm == users / 2 + 1 && shared.unplaced == 2);
	assert_true(shared.lines.v[0].samples == GUS_LIMIT_SHARING);
	gus_sharing_free(&shared);
	free(done);
}

static void who_tells_nothing(void **state)
{
	static const struct done none[] = { { 1, 0, 0 } }, silent[] = { { 1, LINE, SILENT }, { 2, LINE, SILENT } };
	struct gus_error err = { 0 }, other = { 0 };

	(void)state;
	assert_int_equal(look(none, 1, 0, &err), -1);
	assert_int_equal(err.code, GUS_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "no sample of the recording tells of an access to memory"));
	assert_int_equal(look(silent, 2, 0, &other), -1);
	assert_int_equal(other.code, GUS_E_NOT_FOUND);
	assert_non_null(strstr(other.text, "what other cores' caches had"));
	assert_int_equal(look(NULL, 0, 0, NULL), 0);
	assert_true(shared.samples == 0 && shared.lines.n == 0);
	gus_sharing_free(&shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(bytes_that_overlap_are_the_same),
		cmocka_unit_test(lines_of_other_sizes),
		cmocka_unit_test(what_stands_in_which_order),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(who_tells_nothing),
	};

	return cmocka_run_group_tests(tests, made_folder_enter, made_folder_leave);
}
