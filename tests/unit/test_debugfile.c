/* SPDX-License-Identifier: MIT */
/* Where debug information is looked for when a program has none: by build id, by the name in .gnu_debuglink, by that in
 * .gnu_debugaltlink. All files are made here; they are told apart by their build ids or by where they lie. */
#include <fcntl.h>
#include <limits.h>
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

#include "base/error.h"
#include "base/foreign_file.h"
#include "symbolizer/elf/debugfile.h"
#include "tests/unit/made_elf.h"

#define ID "12345678"
#define ID_HEX "31/32333435363738" /* as a path */
#define OTHER "12345679"

static char folder[64];

static int enter(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/gusprof-test-XXXXXX");
	return mkdtemp(folder) && chmod(folder, 0755) == 0 && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	char *command = gus_format("rm -rf '%s'", folder);
	int rc = system(command);

	(void)state;
	free(command);
	return rc == 0 ? chdir("/") : -1;
}

static void run(char *command)
{
	assert_int_equal(system(command), 0);
	free(command);
}

/* What a file says: a build id of so many bytes, the bytes of its link and of its shared link; NULL or 0: nothing. */
struct said { const void *id; size_t id_size; const void *link; size_t link_size; const void *shared;
	      size_t shared_size; };

static void write_elf(const char *path, const struct said *said)
{
	uint8_t note[16 + 64] = { 4, 0, 0, 0, (uint8_t)said->id_size, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U' };
	struct made_elf m = made_elf_begin();

	if (said->id_size) {
		memcpy(note + 16, said->id, said->id_size);
		made_elf_add(&m, ".note.gnu.build-id", SHT_NOTE, 0, note, 16 + (said->id_size + 3) / 4 * 4);
		m.sections[m.n - 1].sh_addralign = 4;
	}
	if (said->link)
		made_elf_add(&m, ".gnu_debuglink", SHT_PROGBITS, 0, said->link, said->link_size);
	if (said->shared)
		made_elf_add(&m, ".gnu_debugaltlink", SHT_PROGBITS, 0, said->shared, said->shared_size);
	run(gus_format("mkdir -p \"$(dirname '%s')\"", path));
	made_elf_write(&m, path);
}

static void write_with_id(const char *path, const char *id)
{
	write_elf(path, &(struct said){ .id = id, .id_size = strlen(id) });
}

/* Whether the file that was found is that one; NULL: there is none. */
static void expect(struct gus_elf *found, const char *path)
{
	if (path && !found)
		fail_msg("%s was not found", path);
	if (!path && found)
		fail_msg("%s was found", found->path);
	if (path)
		assert_string_equal(found->path, path);
	gus_elf_close(found);
}

/* By build id. */

static void folders_of_build_ids_are_asked_in_turn(void **state)
{
	const char *const dirs[] = { "/one", "/two", NULL };
	const struct gus_search search = { .symfs = "fs", .debug_dirs = dirs };

	(void)state;
	expect(gus_debugfile_by_id(&search, (const uint8_t *)ID, 8, ".debug"), NULL);
	write_with_id("fs/two/.build-id/" ID_HEX ".debug", ID);
	expect(gus_debugfile_by_id(&search, (const uint8_t *)ID, 8, ".debug"), "fs/two/.build-id/" ID_HEX ".debug");
	expect(gus_debugfile_by_id(&search, (const uint8_t *)ID, 8, ""), NULL);
	expect(gus_debugfile_by_id(&search, (const uint8_t *)ID, 7, ".debug"), NULL);
	write_with_id("fs/one/.build-id/" ID_HEX ".debug", OTHER); /* not what its name says */
	expect(gus_debugfile_by_id(&search, (const uint8_t *)ID, 8, ".debug"), "fs/two/.build-id/" ID_HEX ".debug");
	write_with_id("fs/one/.build-id/" ID_HEX ".debug", ID);
	expect(gus_debugfile_by_id(&search, (const uint8_t *)ID, 8, ".debug"), "fs/one/.build-id/" ID_HEX ".debug");
}

/* The first byte is a folder, so there is a second one; and no hash has more than 64. */
static void build_ids_have_two_to_64_bytes(void **state)
{
	const char *const dirs[] = { "d", NULL };
	const struct gus_search search = { .symfs = "", .debug_dirs = dirs };
	static const size_t sizes[] = { 1, 2, 64, 65 };
	uint8_t id[65];

	(void)state;
	memset(id, 0xab, sizeof(id));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		bool good = sizes[i] == 2 || sizes[i] == 64;
		char hex[2 * sizeof(id) + 1] = "", *path;

		for (size_t k = 1; k < sizes[i]; k++)
			strcat(hex, "ab");
		path = gus_format("d/.build-id/ab/%s", hex);
		if (sizes[i] > 1 && sizes[i] <= 64)
			write_elf(path, &(struct said){ .id = id, .id_size = sizes[i] });
		expect(gus_debugfile_by_id(&search, id, sizes[i], ""), good ? path : NULL);
		free(path);
	}
}

/* perf's folder is the user's own: also for a recording of somebody who may not read it. */
static void kept_copies_are_read_with_our_rights(void **state)
{
	struct gus_rights nobody = { .limited = true, .uid = 65534, .gid = 65534, .whose = "nobody" };
	struct gus_search search = { .symfs = "elsewhere", .build_ids = "kept", .rights = &nobody };
	const uint8_t *id = (const uint8_t *)ID;

	(void)state;
	expect(gus_debugfile_kept(&search, id, 8, "elf"), NULL);
	write_with_id("kept/.build-id/" ID_HEX "/elf", OTHER);
	expect(gus_debugfile_kept(&search, id, 8, "elf"), NULL);
	write_with_id("kept/.build-id/" ID_HEX "/elf", ID);
	assert_int_equal(chmod("kept", 0700), 0);
	expect(gus_debugfile_kept(&search, id, 8, "elf"), "kept/.build-id/" ID_HEX "/elf");
	expect(gus_debugfile_kept(&search, id, 8, "debug"), NULL);
	search.build_ids = NULL;
	expect(gus_debugfile_kept(&search, id, 8, "elf"), NULL);
}

/* By .gnu_debuglink. */

#define LINK "linked\0\0\0\0\0\0" /* with a checksum of 0, which is no file's */

/* The debug file of program, of which this is said. */
static struct gus_elf *found_for(const struct gus_search *search, const char *program, const struct said *said)
{
	struct gus_elf *e, *found;

	write_elf("program", said);
	e = gus_elf_open("program", NULL);
	assert_non_null(e);
	found = gus_debugfile_of(search, e, program);
	gus_elf_close(e);
	return found;
}

/* By build id; beside the program; in .debug; below the roots, in turn. */
static void a_debug_file_is_looked_for_in_this_order(void **state)
{
	static const char *const places[] = {
		"fs/two/bin/linked", "fs/one/bin/linked", "fs/bin/.debug/linked", "fs/bin/linked",
		"fs/two/.build-id/" ID_HEX ".debug",
	};
	static const struct said said = { ID, 8, LINK, 12, NULL, 0 };
	const char *const dirs[] = { "/one", "/two", NULL };
	const struct gus_search search = { .symfs = "fs", .debug_dirs = dirs };

	(void)state;
	expect(found_for(&search, "/bin/program", &said), NULL);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		write_with_id(places[i], OTHER);
		expect(found_for(&search, "/bin/program", &said), i ? places[i - 1] : NULL);
		write_with_id(places[i], ID);
		expect(found_for(&search, "/bin/program", &said), places[i]);
	}
}

/* A build id is proof, against the checksum and in a hurry; it takes two, else the checksum decides. */
static void build_ids_go_before_the_checksum(void **state)
{
	static const struct { const char *own, *linked; bool right, hurry, found; } cases[] = {
		{ ID, ID, false, false, true }, { ID, ID, true, true, true }, { ID, OTHER, true, false, false },
		{ ID, "", true, false, true }, { "", ID, true, false, true }, { "", "", true, false, true },
		{ ID, "", false, false, false }, { "", ID, false, false, false }, { "", "", true, true, false },
		{ ID, "", true, true, false },
	};
	const char *const dirs[] = { NULL };
	struct gus_search search = { .symfs = "", .debug_dirs = dirs };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t link[] = LINK;
		struct gus_elf *e;
		uint32_t sum;

		write_with_id("bin/linked", cases[i].linked);
		e = gus_elf_open("bin/linked", NULL);
		assert_true(gus_elf_checksum(e, &sum));
		gus_elf_close(e);
		sum ^= !cases[i].right;
		memcpy(link + 8, &sum, 4);
		search.hurry = cases[i].hurry;
		expect(found_for(&search, "bin/program",
				 &(struct said){ cases[i].own, strlen(cases[i].own), link, 12, NULL, 0 }),
		       cases[i].found ? "bin/linked" : NULL);
	}
}

/* The checksum stands at the next multiple of four behind the name and its zero. */
static void a_link_is_a_name_and_a_checksum(void **state)
{
	static const struct { const char *bytes; size_t size; const char *found; } cases[] = {
		{ "abc\0....", 8, "abc" }, { "abc\0....", 7, NULL }, { "abcd\0\0\0\0....", 12, "abcd" },
		{ "abcd\0\0\0\0....", 11, NULL }, { "abcd\0\0\0\0", 8, NULL }, { "a\0\0\0....", 8, "a" },
		{ "abcd....", 8, NULL }, { "abcd....", 4, NULL }, { "\0\0\0\0....", 8, NULL },
		{ "d/f\0....", 8, NULL }, { "/abc\0\0\0\0....", 12, NULL }, { "abc\0....more", 12, "abc" },
	};
	const char *const dirs[] = { NULL };
	const struct gus_search search = { .symfs = "", .debug_dirs = dirs };

	(void)state;
	write_with_id("abc", ID);
	write_with_id("abcd", ID);
	write_with_id("a", ID);
	write_with_id("d/f", ID);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *path = cases[i].found ? gus_format("./%s", cases[i].found) : NULL;

		expect(found_for(&search, "program", &(struct said){ ID, 8, cases[i].bytes, cases[i].size, NULL, 0 }),
		       path);
		free(path);
	}
}

/* Nothing is longer than a path can be. */
static void a_links_name_is_a_path(void **state)
{
	static char link[PATH_MAX + 16];
	const char *const dirs[] = { NULL };
	const struct gus_search search = { .symfs = "", .debug_dirs = dirs };

	(void)state;
	memset(link, 'x', PATH_MAX + 1);
	expect(found_for(&search, "program", &(struct said){ ID, 8, link, sizeof(link), NULL, 0 }), NULL);
}

/* Debian files a program of /bin below /usr/lib/debug/usr/bin, as /bin is a link to /usr/bin. */
static void links_on_the_way_to_a_program_are_followed(void **state)
{
	static const struct said said = { ID, 8, LINK, 12, NULL, 0 };
	char *root = gus_format("%s/debug", folder), *program = gus_format("%s/bin/program", folder);
	char *filed = gus_format("%s%s/usr/bin/linked", root, folder);
	const char *const dirs[] = { root, NULL };
	struct gus_search search = { .symfs = "", .debug_dirs = dirs };

	(void)state;
	write_with_id("usr/bin/program", ID);
	assert_int_equal(symlink("usr/bin", "bin"), 0);
	expect(found_for(&search, program, &said), NULL);
	write_with_id(filed, ID);
	expect(found_for(&search, program, &said), filed);
	search.symfs = "/."; /* there the path is another file's */
	expect(found_for(&search, program, &said), NULL);
	free(root);
	free(program);
	free(filed);
}

/* By .gnu_debugaltlink: a name, a zero, a build id. */

static struct gus_elf *shared_of(const struct gus_search *search, const char *program, const void *bytes, size_t size)
{
	struct gus_elf *e, *found;

	write_elf(program, &(struct said){ .shared = bytes, .shared_size = size });
	e = gus_elf_open(program, NULL);
	assert_non_null(e);
	found = gus_debugfile_shared(search, e);
	gus_elf_close(e);
	return found;
}

static void shared_dwarf_is_found_by_id_and_by_name(void **state)
{
	const char *const dirs[] = { "/debug", NULL };
	const struct gus_search search = { .symfs = "fs", .debug_dirs = dirs };

	(void)state;
	expect(shared_of(&search, "bin/program", "dwz\0" ID, 12), NULL);
	write_with_id("bin/dwz", OTHER);
	expect(shared_of(&search, "bin/program", "dwz\0" ID, 12), NULL);
	write_with_id("bin/dwz", ID);
	expect(shared_of(&search, "bin/program", "dwz\0" ID, 12), "bin/dwz"); /* beside the program */
	expect(shared_of(&search, "bin/program", "dwz\0" ID, 11), NULL);
	expect(shared_of(&search, "bin/program", "../bin/dwz\0" ID, 19), "bin/../bin/dwz");
	expect(shared_of(&search, "bin/program", "/dwz\0" ID, 13), NULL);
	write_with_id("fs/dwz", ID);
	expect(shared_of(&search, "bin/program", "/dwz\0" ID, 13), "fs/dwz");
	write_with_id("fs/debug/.build-id/" ID_HEX ".debug", ID);
	expect(shared_of(&search, "bin/program", "dwz\0" ID, 12), "fs/debug/.build-id/" ID_HEX ".debug");
	expect(shared_of(&search, "bin/program", "dwz", 3), NULL); /* without its end, and without a build id */
	expect(shared_of(&search, "bin/program", "dwz", 4), NULL);
}

static void a_shared_files_name_is_a_path(void **state)
{
	static char bytes[PATH_MAX + 1 + 1 + 8];
	const char *const dirs[] = { "debug", NULL };
	const struct gus_search search = { .symfs = "", .debug_dirs = dirs };

	(void)state;
	write_with_id("debug/.build-id/" ID_HEX ".debug", ID);
	memset(bytes, 'x', sizeof(bytes));
	bytes[PATH_MAX] = '\0';
	memcpy(bytes + PATH_MAX + 1, ID, 8);
	expect(shared_of(&search, "program", bytes, PATH_MAX + 1 + 8), "debug/.build-id/" ID_HEX ".debug");
	bytes[PATH_MAX] = 'x';
	bytes[PATH_MAX + 1] = '\0';
	memcpy(bytes + PATH_MAX + 2, ID, 8);
	expect(shared_of(&search, "program", bytes, sizeof(bytes)), NULL);
}

/* Who owns the program chose the name, and has it opened with no more rights than their own. */
static void a_name_is_opened_with_the_rights_of_who_wrote_it(void **state)
{
	const char *const dirs[] = { NULL };
	struct gus_error refused = { 0 };
	const struct gus_search search = { .symfs = "", .debug_dirs = dirs, .refused = &refused };
	struct gus_elf *e;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: it needs root\n");
		skip();
	}
	write_with_id("secret", ID);
	assert_int_equal(chmod("secret", 0600), 0);
	expect(shared_of(&search, "program", "secret\0" ID, 15), "./secret");
	assert_int_equal(refused.code, 0);
	assert_int_equal(chown("program", 65534, 65534), 0);
	e = gus_elf_open("program", NULL);
	expect(gus_debugfile_shared(&search, e), NULL);
	assert_int_equal(refused.code, GUS_E_PERMISSION);
	gus_elf_close(e);
}

/* Of all that may be wrong with a file the first that matters is kept: that there is none does not. */
static void what_is_there_and_cannot_be_read_is_told(void **state)
{
	struct gus_error refused = { 0 }, err = { 0 };
	struct gus_budget total = { .left = 1u << 20 };
	struct gus_search search = { .symfs = "", .refused = &refused, .total = &total };
	struct gus_elf *e;

	(void)state;
	assert_null(gus_search_open(&search, "nothing", NULL, &err));
	assert_int_equal(err.code, GUS_E_NOT_FOUND);
	assert_int_equal(refused.code, 0);
	assert_null(gus_search_open(&search, "nothing", NULL, NULL));
	write_with_id("file", ID);
	e = gus_search_open(&search, "file", NULL, &err);
	assert_ptr_equal(e->total, &total);
	assert_ptr_equal(e->refused, &refused);
	assert_true(total.left <= (1u << 20) - sizeof(*e)); /* what it took, and what was read of it */
	assert_true(total.left > (1u << 20) - sizeof(*e) - 65536);
	gus_elf_close(e);
	total.cut = true; /* nothing is left for another one */
	assert_null(gus_search_open(&search, "file", NULL, &err));
	assert_int_equal(err.code, GUS_E_FULL);
	assert_non_null(strstr(err.text, "cannot open file: "));
	search.total = NULL;
	e = gus_search_open(&search, "file", NULL, &err);
	assert_non_null(e);
	assert_null(e->total);
	gus_elf_close(e);
}

/* A descriptor is the file, whatever has its name by then. */
static void a_file_may_be_given_open(void **state)
{
	const struct gus_search search = { .symfs = "elsewhere" };
	struct gus_elf *e;
	int fd;

	(void)state;
	write_with_id("file", ID);
	fd = open("file", O_RDONLY | O_CLOEXEC);
	assert_true(fd > 0);
	write_with_id("new", OTHER);
	assert_int_equal(rename("new", "file"), 0);
	e = gus_search_open_fd(&search, fd, "file", NULL);
	assert_non_null(e);
	assert_memory_equal(e->build_id, ID, 8);
	gus_elf_close(e);
	close(fd);
}

static void the_first_refusal_is_kept(void **state)
{
	struct gus_rights nobody = { .limited = true, .uid = 65534, .gid = 65534, .whose = "nobody" };
	struct gus_error refused = { 0 };
	const struct gus_search search = { .symfs = "", .refused = &refused, .rights = &nobody };

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: it needs root\n");
		skip();
	}
	write_with_id("one", ID);
	write_with_id("two", ID);
	assert_int_equal(chmod("one", 0600) | chmod("two", 0600), 0);
	assert_null(gus_search_open(&search, "one", NULL, NULL));
	assert_null(gus_search_open(&search, "two", NULL, NULL));
	assert_int_equal(refused.code, GUS_E_PERMISSION);
	assert_non_null(strstr(refused.text, "one"));
}

static void debug_files_that_are_none(void **state)
{
	static const struct said said = { NULL, 0, LINK, 12, NULL, 0 };
	const char *const dirs[] = { NULL };
	const struct gus_search search = { .symfs = "", .debug_dirs = dirs };

	(void)state;
	alarm(10);
	for (int i = 0; i < 5; i++) {
		if (i < 2)
			assert_int_equal(i ? mkdir("linked", 0700) : mkfifo("linked", 0600), 0);
		else
			assert_int_equal(symlink(i == 2 ? "/dev/zero" : i == 3 ? "linked" : "/dev/tty", "linked"), 0);
		expect(found_for(&search, "program", &said), NULL);
		assert_int_equal(remove("linked"), 0);
	}
	alarm(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(folders_of_build_ids_are_asked_in_turn),
		TEST(build_ids_have_two_to_64_bytes),
		TEST(kept_copies_are_read_with_our_rights),
		TEST(a_debug_file_is_looked_for_in_this_order),
		TEST(build_ids_go_before_the_checksum),
		TEST(a_link_is_a_name_and_a_checksum),
		TEST(a_links_name_is_a_path),
		TEST(links_on_the_way_to_a_program_are_followed),
		TEST(shared_dwarf_is_found_by_id_and_by_name),
		TEST(a_shared_files_name_is_a_path),
		TEST(a_name_is_opened_with_the_rights_of_who_wrote_it),
		TEST(what_is_there_and_cannot_be_read_is_told),
		TEST(a_file_may_be_given_open),
		TEST(the_first_refusal_is_kept),
		TEST(debug_files_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
