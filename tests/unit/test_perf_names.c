/* SPDX-License-Identifier: MIT */
/* Names of recordings that brought none along: from the copies that perf keeps by build id, from kernels by their
 * build, from perf maps. The program that is looked for is this test itself, copied to where perf would have put it. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/perfmaps.h"
#include "base/alloc.h"
#include "base/foreign_file.h"
#include "base/limits.h"
#include "base/log.h"
#include "symbolizer/elf/debugfile.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/kernel/kernel.h"
#include "symbolizer/symbols/symbols.h"

#define ANCHOR UINT64_C(0xffffffff81000000)

extern const char __ehdr_start[]; /* the linker's: where this program is mapped */
static char folder[64], own_path[64];
static uint8_t own_id[64];
static size_t own_id_size;
static uint64_t offset_of_enter;

static int enter(void **state);

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

static void run(char *command)
{
	assert_int_equal(system(command), 0);
	free(command);
}

/* Puts a file where perf keeps what has this build id; NULL: an empty place. Returns the place. */
static char *keep(const uint8_t *id, size_t size, const char *what, const char *from)
{
	char hex[2 * sizeof(own_id) + 1], *path;

	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	path = gus_format("%s/.build-id/%.2s/%s/%s", folder, hex, hex + 2, what);
	run(gus_format("mkdir -p $(dirname '%s')", path));
	if (from)
		run(gus_format("cp '%s' '%s'", from, path));
	return path;
}

static int enter(void **state)
{
	struct gus_elf *e = gus_elf_open("/proc/self/exe", NULL);
	uint64_t address = (uint64_t)(uintptr_t)enter - (uint64_t)(uintptr_t)__ehdr_start;

	(void)state;
	strcpy(folder, "/tmp/gusprof-test-XXXXXX");
	snprintf(own_path, sizeof(own_path), "/proc/%d/exe", (int)getpid()); /* to others, too */
	if (!e || !mkdtemp(folder))
		return -1;
	own_id_size = e->build_id_size < sizeof(own_id) ? e->build_id_size : 0;
	memcpy(own_id, e->build_id, own_id_size);
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct gus_segment *s = &e->segments.v[i];

		if (address >= s->vaddr && address < s->vaddr + s->file_size)
			offset_of_enter = address - s->vaddr + s->offset;
	}
	gus_elf_close(e);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	run(gus_format("rm -r '%s'", folder));
	return 0;
}

static void need_a_build_id(void)
{
	if (own_id_size < 2) {
		print_message("skipped: the linker gives programs no build id\n");
		skip();
	}
}

static struct gus_symbols *ask(const char *build_ids)
{
	struct gus_symbols_options options = { .build_ids = build_ids };

	return gus_symbols_new(&options, NULL);
}

static const char *name_at(struct gus_symbols *s, const struct gus_module *m, uint64_t offset)
{
	struct gus_name names[GUS_NAMES_MAX];

	gus_symbols_names(s, m, offset, GUS_DEPTH_FUNCTION, names);
	return names[0].function ? names[0].function : "";
}

static void a_program_that_is_gone_has_names_from_perfs_copy(void **state)
{
	struct gus_module m = { .kind = GUS_MODULE_FILE, .path = "/nowhere/program" };
	struct gus_symbols *s;

	(void)state;
	need_a_build_id();
	free(keep(own_id, own_id_size, "elf", own_path));
	m.build_id = own_id;
	m.build_id_size = own_id_size;
	s = ask(folder);
	assert_string_equal(name_at(s, &m, offset_of_enter), "enter");
	assert_null(gus_symbols_trouble(s, &m));
	gus_symbols_free(s);
	s = ask(NULL);
	assert_string_equal(name_at(s, &m, offset_of_enter), "");
	assert_non_null(strstr(gus_symbols_trouble(s, &m), "/nowhere/program"));
	gus_symbols_free(s);
	m.build_id_size = 0; /* without one nobody knows which it was */
	s = ask(folder);
	assert_string_equal(name_at(s, &m, offset_of_enter), "");
	gus_symbols_free(s);
}

/* The file or the kernel, and where in it: of nothing else, as only there it is the same place in every run. */
static void what_has_no_name_is_an_offset_where_it_is_asked_for(void **state)
{
	static const struct { enum gus_module_kind kind; const char *path, *name; } cases[] = {
		{ GUS_MODULE_FILE, "/nowhere/libx.so", "libx.so+0x1234" },
		{ GUS_MODULE_KERNEL, "[kernel]", "[kernel]+0x1234" },
		{ GUS_MODULE_ANON, "//anon", "" }, { GUS_MODULE_UNKNOWN, "[unknown]", "" },
	};
	struct gus_symbols_options options = { .name_offsets = true };
	struct gus_symbols *s = gus_symbols_new(&options, NULL), *plain = ask(NULL);
	struct gus_name names[GUS_NAMES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_module m = { .kind = cases[i].kind, .path = cases[i].path };

		assert_string_equal(name_at(s, &m, 0x1234), cases[i].name);
		assert_int_equal(gus_symbols_names(s, &m, 0x1234, GUS_DEPTH_INLINE, names), 1);
		assert_int_equal(names[0].start, 0x1234);
		assert_int_equal(names[0].size, 0);
		assert_string_equal(name_at(plain, &m, 0x1234), "");
	}
	gus_symbols_free(s);
	gus_symbols_free(plain);
}

/* Another machine has another program there; where devices and inodes are this one's, they say which it was. */
static void a_path_of_another_machine_gives_no_names(void **state)
{
	struct gus_module m = { .kind = GUS_MODULE_FILE, .path = own_path };
	struct gus_symbols_options options = { .elsewhere = true };
	struct stat st;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct gus_symbols *s;

		assert_int_equal(stat(own_path, &st), 0);
		options.elsewhere = i == 0 || i > 3;
		options.has_inodes = i == 2 || i == 3;
		options.nowhere = i > 3;
		m.inode = st.st_ino + (i == 3 || i == 5);
		m.major = (uint32_t)major(st.st_dev);
		m.minor = (uint32_t)minor(st.st_dev);
		s = gus_symbols_new(&options, NULL);
		assert_string_equal(name_at(s, &m, offset_of_enter), i == 1 || i == 2 || i == 4 ? "enter" : "");
		if (i == 0)
			assert_non_null(strstr(gus_symbols_trouble(s, &m), "recorded on another machine"));
		if (i == 5)
			assert_non_null(strstr(gus_symbols_trouble(s, &m), "nothing says which machine"));
		gus_symbols_free(s);
	}
}

/* A file system gives the inode of a file that is gone to a new one, and then counts on. */
static void a_file_has_its_generation_too(void **state)
{
	/* What nobody told is 0, and says nothing. */
	static const struct { bool nowhere; uint32_t apart; bool told, found; } cases[] = { { false, 0, true, true },
		{ false, 0, false, true }, { false, 1, true, false }, { true, 0, true, true }, { true, 0, false, true },
		{ true, 1, true, false } };
	struct gus_module m = { .kind = GUS_MODULE_FILE, .path = own_path };
	struct gus_symbols_options options = { .elsewhere = true };
	int fd = open(own_path, O_RDONLY | O_CLOEXEC);
	uint64_t generation = 0;
	struct stat st;

	(void)state;
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	if (ioctl(fd, FS_IOC_GETVERSION, &generation) != 0 || !(uint32_t)generation) {
		close(fd);
		print_message("skipped: the file system tells no generation\n");
		skip();
	}
	close(fd);
	m.inode = st.st_ino;
	m.major = (uint32_t)major(st.st_dev);
	m.minor = (uint32_t)minor(st.st_dev);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_symbols *s;

		options.nowhere = cases[i].nowhere;
		options.has_inodes = !cases[i].nowhere;
		m.generation = cases[i].told ? (uint32_t)generation ^ cases[i].apart : 0;
		s = gus_symbols_new(&options, NULL);
		assert_string_equal(name_at(s, &m, offset_of_enter), cases[i].found ? "enter" : "");
		gus_symbols_free(s);
	}
}

/* Two bytes at least, of which the first is a folder, and no more than any hash has. */
static void build_ids_have_a_size(void **state)
{
	const struct gus_search none = { .symfs = "" }, search = { .symfs = "/fs", .build_ids = "/kept" };
	uint8_t id[65];
	char *path;

	(void)state;
	memset(id, 0xab, sizeof(id));
	assert_null(gus_debugfile_kept_path(&none, id, 20, "elf"));
	assert_null(gus_debugfile_kept_path(&search, id, 0, "elf"));
	assert_null(gus_debugfile_kept_path(&search, id, 1, "elf"));
	assert_null(gus_debugfile_kept_path(&search, id, 65, "elf"));
	path = gus_debugfile_kept_path(&search, id, 2, "kallsyms");
	assert_string_equal(path, "/kept/.build-id/ab/ab/kallsyms");
	free(path);
	path = gus_debugfile_kept_path(&search, id, 64, "elf");
	assert_int_equal(strlen(path), strlen("/kept/.build-id/ab//elf") + 126);
	free(path);
}

/* A copy under the name of another build id says what it is itself. */
static void a_copy_of_something_else_is_not_believed(void **state)
{
	uint8_t other[sizeof(own_id)];
	struct gus_module m = { .kind = GUS_MODULE_FILE, .path = "/nowhere/program", .build_id = other };
	struct gus_symbols *s;

	(void)state;
	need_a_build_id();
	memcpy(other, own_id, own_id_size);
	other[own_id_size - 1] ^= 1;
	m.build_id_size = own_id_size;
	free(keep(other, own_id_size, "elf", own_path));
	s = ask(folder);
	assert_string_equal(name_at(s, &m, offset_of_enter), "");
	assert_non_null(gus_symbols_trouble(s, &m));
	gus_symbols_free(s);
}

static void a_stripped_program_has_names_from_perfs_debug_file(void **state)
{
	struct gus_module m = { .kind = GUS_MODULE_FILE, .build_id = own_id };
	char *path = gus_format("%s/stripped", folder);
	struct gus_symbols *s;

	(void)state;
	need_a_build_id();
	if (system("command -v strip >/dev/null") != 0) {
		print_message("skipped: it needs strip\n");
		free(path);
		skip();
	}
	run(gus_format("strip -o '%s' '%s'", path, own_path));
	m.path = path;
	m.build_id_size = own_id_size;
	s = ask(folder);
	assert_string_not_equal(name_at(s, &m, offset_of_enter), "enter");
	gus_symbols_free(s);
	free(keep(own_id, own_id_size, "debug", own_path));
	s = ask(folder);
	assert_string_equal(name_at(s, &m, offset_of_enter), "enter");
	gus_symbols_free(s);
	free(path);
}

static void the_vdso_of_another_kernel_is_known_by_its_build_id(void **state)
{
	struct gus_module m = { .kind = GUS_MODULE_VDSO, .path = "[vdso]", .build_id = own_id };
	struct gus_symbols *s;

	(void)state;
	need_a_build_id();
	m.build_id_size = own_id_size;
	s = ask(folder);
	assert_string_equal(name_at(s, &m, offset_of_enter), "");
	assert_non_null(strstr(gus_symbols_trouble(s, &m), "another one"));
	gus_symbols_free(s);
	free(keep(own_id, own_id_size, "vdso", own_path));
	s = ask(folder);
	assert_string_equal(name_at(s, &m, offset_of_enter), "enter");
	gus_symbols_free(s);
}

/* The kernel. */

static const char names_of_kernel[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81000040 T do_it\n"
	"ffffffff81000080 t do_more\n"
	"ffffffffc0000000 t of_a_module\t[module]\n";
static const uint8_t kernel_id[20] = { 0xca, 0xfe, 1, 2, 3 };

static struct gus_symbols *ask_kernel(const char *path, uint64_t address)
{
	Gusprof__Mmap mapping = GUSPROF__MMAP__INIT;
	struct gus_symbols *s = ask(folder);

	mapping.kernel = true;
	mapping.path = (char *)(uintptr_t)path;
	mapping.offset = address;
	gus_symbols_add_kernel_build(s, kernel_id, sizeof(kernel_id));
	gus_symbols_add_kernel_mapping(s, &mapping);
	return s;
}

static void a_kernels_names_are_moved_to_where_it_lay(void **state)
{
	const struct gus_module kernel = { .kind = GUS_MODULE_KERNEL, .path = "[kernel]" };
	const uint64_t moved = 0x1e000000;
	char *path = keep(kernel_id, sizeof(kernel_id), "kallsyms", NULL);
	struct gus_symbols *s;

	(void)state;
	write_text(path, names_of_kernel);
	s = ask_kernel("[kernel.kallsyms]_text", ANCHOR + moved);
	assert_string_equal(name_at(s, &kernel, ANCHOR + moved + 0x40), "do_it");
	assert_string_equal(name_at(s, &kernel, ANCHOR + moved + 0x7f), "do_it");
	assert_string_equal(name_at(s, &kernel, ANCHOR + moved + 0x80), "do_more");
	assert_string_equal(name_at(s, &kernel, ANCHOR + 0x40), "");
	/* Modules go where they like. */
	assert_string_equal(name_at(s, &kernel, 0xffffffffc0000000), "");
	assert_string_equal(name_at(s, &kernel, 0xffffffffc0000000 + moved), "");
	gus_symbols_free(s);
	s = ask_kernel("[kernel.kallsyms]_text", ANCHOR);
	assert_string_equal(name_at(s, &kernel, ANCHOR + 0x40), "do_it");
	assert_string_equal(name_at(s, &kernel, 0xffffffffc0000000), "of_a_module");
	gus_symbols_free(s);
	free(path);
}

/* The folder may be anybody's: a FIFO would be waited for, and a device have no end. */
static void a_kernels_copy_that_is_no_file_gives_no_names(void **state)
{
	const struct gus_module kernel = { .kind = GUS_MODULE_KERNEL, .path = "[kernel]" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *path = keep(kernel_id, sizeof(kernel_id), "kallsyms", NULL);
		struct gus_symbols *s = ask_kernel("[kernel.kallsyms]_text", ANCHOR);

		unlink(path);
		run(i ? gus_format("ln -s /dev/zero '%s'", path) : gus_format("mkfifo '%s'", path));
		assert_string_equal(name_at(s, &kernel, ANCHOR + 0x40), "");
		assert_non_null(strstr(gus_symbols_trouble(s, &kernel), "kallsyms"));
		gus_symbols_free(s);
		unlink(path);
		free(path);
	}
}

static void without_knowing_where_it_lay_a_kernel_has_no_names(void **state)
{
	static const struct { const char *path; uint64_t address; const char *why; } cases[] = {
		{ "[kernel.kallsyms]_text", 0, "another boot" },     /* hidden from who recorded */
		{ "[kernel.kallsyms]", ANCHOR, "another boot" },
		{ "[guest.kernel.kallsyms]_text", ANCHOR, "another boot" },
		{ "[kernel.kallsyms]_stext", ANCHOR, "_stext" },
	};
	const struct gus_module kernel = { .kind = GUS_MODULE_KERNEL, .path = "[kernel]" };
	char *path = keep(kernel_id, sizeof(kernel_id), "kallsyms", NULL);

	(void)state;
	write_text(path, names_of_kernel);
	free(path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_symbols *s = ask_kernel(cases[i].path, cases[i].address);

		assert_string_equal(name_at(s, &kernel, ANCHOR + 0x40), "");
		assert_non_null(strstr(gus_symbols_trouble(s, &kernel), cases[i].why));
		gus_symbols_free(s);
	}
}

/* Two notes of which the second one is a build id: of `size` bytes as they stand in kernel_id, but for the last. */
static void write_notes(const char *path, uint32_t size, uint8_t last)
{
	static const uint8_t other[] = { 4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'X', 'e', 'n', 0, 0xca, 0xfe, 1, 2 };
	const uint32_t head[] = { 4, size, 3 };
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(other, sizeof(other), 1, f), 1);
	assert_int_equal(fwrite(head, sizeof(head), 1, f), 1);
	assert_int_equal(fwrite("GNU", 4, 1, f), 1);
	assert_int_equal(fwrite(kernel_id, size - 1, 1, f), 1);
	assert_int_equal(fwrite(&last, 1, 1, f), 1);
	assert_int_equal(fclose(f), 0);
}

/* As of the running kernel: its notes say whether it is of that build. All of the build id counts, but for zeros behind
 * it, which old perfs write up to the 20th byte. */
static void the_running_kernel_serves_if_it_is_the_same_build(void **state)
{
	static const struct { uint32_t size; uint8_t last; size_t recorded; const char *name; } cases[] = {
		{ 5, 3, 5, "do_it" }, { 5, 3, 20, "do_it" }, { 5, 4, 5, NULL }, { 5, 3, 4, NULL }, { 4, 2, 5, NULL },
		{ 4, 2, 4, "do_it" }, { 5, 3, 1, NULL }, { 5, 3, 0, NULL }, { 0, 0, 5, NULL },
	};
	char *kallsyms = gus_format("%s/kallsyms", folder), *notes = gus_format("%s/notes", folder);

	(void)state;
	write_text(kallsyms, names_of_kernel);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_functions *table;
		struct gus_function *found;
		struct gus_kernel k;

		unlink(notes);
		if (cases[i].size)
			write_notes(notes, cases[i].size, cases[i].last);
		gus_kernel_init(&k, NULL);
		k.kallsyms = kallsyms;
		k.notes = notes;
		gus_kernel_known(&k, kernel_id, cases[i].recorded, NULL);
		gus_kernel_lay(&k, "_text", ANCHOR + 0x1000, 0);
		found = gus_kernel_find(&k, ANCHOR + 0x1041, &table);
		assert_int_equal(found != NULL, cases[i].name != NULL);
		if (found)
			assert_string_equal(gus_function_name(table, found, false), cases[i].name);
		else
			assert_non_null(strstr(gus_kernel_trouble(&k), cases[i].recorded ? "another kernel" :
					       "another boot"));
		gus_kernel_free(&k);
	}
	free(kallsyms);
	free(notes);
}

/* A file that the user gives is of that kernel: it stands before the running one's names, is moved if the recording
 * says to where, and what is wrong with it is an error. */
static void a_kernels_names_may_be_given(void **state)
{
	static const struct { const char *text, *anchor; uint64_t lay, ip; const char *name, *why; } cases[] = {
		{ names_of_kernel, NULL, 0, ANCHOR + 0x41, "do_it", NULL },
		{ names_of_kernel, NULL, 0, 0xffffffffc0000000, "of_a_module", NULL },
		{ names_of_kernel, "_text", ANCHOR + 0x1000, ANCHOR + 0x1041, "do_it", NULL },
		{ names_of_kernel, "_text", ANCHOR + 0x1000, 0xffffffffc0000000, NULL, NULL },
		{ names_of_kernel, "_stext", ANCHOR, ANCHOR + 0x41, NULL, "given does not say where _stext is" },
		{ "no line\n", NULL, 0, ANCHOR, NULL, "given: it lists no functions" },
		{ "0000000000000000 T do_it\n", NULL, 0, ANCHOR, NULL, "given: all their addresses are 0" },
		{ NULL, NULL, 0, ANCHOR, NULL, "given: No such file" },
	};
	char *given = gus_format("%s/given", folder), *live = gus_format("%s/kallsyms", folder);

	(void)state;
	write_text(live, "ffffffff81000000 T of_this_machine\n");
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		size_t n = i / 2;
		struct gus_functions *table;
		struct gus_function *found;
		struct gus_kernel k;

		unlink(given);
		if (cases[n].text)
			write_text(given, cases[n].text);
		gus_kernel_init(&k, NULL);
		k.kallsyms = live;
		k.given = given;
		k.same_boot = i % 2;
		if (cases[n].anchor)
			gus_kernel_lay(&k, cases[n].anchor, cases[n].lay, 0);
		found = gus_kernel_find(&k, cases[n].ip, &table);
		assert_int_equal(found != NULL, cases[n].name != NULL);
		if (found)
			assert_string_equal(gus_function_name(table, found, false), cases[n].name);
		assert_int_equal(k.failure.code != 0, cases[n].why != NULL);
		assert_int_equal(gus_kernel_trouble(&k) != NULL, cases[n].why != NULL);
		if (cases[n].why)
			assert_non_null(strstr(k.failure.text, cases[n].why));
		gus_kernel_free(&k);
	}
	free(given);
	free(live);
}

/* Without a build id: where it lay has to be right as well. */
static void a_kernel_of_the_same_release_serves_where_it_lay(void **state)
{
	static const struct { bool same_release; uint64_t moved; const char *name, *why; } cases[] = {
		{ true, 0, "do_it", NULL }, { true, 0x1000, NULL, "elsewhere" }, { false, 0, NULL, "another boot" },
	};
	char *kallsyms = gus_format("%s/kallsyms", folder);

	(void)state;
	write_text(kallsyms, names_of_kernel);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_functions *table;
		struct gus_function *found;
		struct gus_kernel k;

		gus_kernel_init(&k, NULL);
		k.kallsyms = kallsyms;
		k.same_release = cases[i].same_release;
		gus_kernel_lay(&k, "_text", ANCHOR + cases[i].moved, 0);
		found = gus_kernel_find(&k, ANCHOR + 0x41, &table);
		assert_int_equal(found != NULL, cases[i].name != NULL);
		assert_int_equal(gus_kernel_runs(&k), cases[i].name != NULL);
		if (found)
			assert_string_equal(gus_function_name(table, found, false), cases[i].name);
		else
			assert_non_null(strstr(gus_kernel_trouble(&k), cases[i].why));
		gus_kernel_free(&k);
	}
	free(kallsyms);
}

/* Of a recording that says neither of which machine nor of which kernel it is: both ends of the kernel have to lie
 * where those of the running one do, as many kernels begin at one address. Then its code is that one's, too. */
static void a_kernel_of_nowhere_serves_between_its_ends(void **state)
{
	static const struct { bool nowhere; const char *anchor; uint64_t moved, end; bool runs; } cases[] = {
		{ true, "_text", 0, ANCHOR + 0x200, true }, { true, "_text", 0, ANCHOR + 0x300, true },
		{ true, "_text", 0, ANCHOR + 0x100, false }, { true, "_text", 0, 0, false },
		{ true, "_text", 0x1000, ANCHOR + 0x200, false }, { true, NULL, 0, 0, false },
		{ false, "_text", 0, ANCHOR + 0x200, false },
	};
	char *kallsyms = gus_format("%s/kallsyms", folder), *text = gus_format("%s%s", names_of_kernel,
		"ffffffff81000200 T _etext\nffffffff81000300 D _edata\nffffffff81000100 D my_edata\n");

	(void)state;
	write_text(kallsyms, text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_functions *table;
		struct gus_kernel k;
		const char *why = cases[i].nowhere ? "nothing says which kernel it was" : "another boot";

		gus_kernel_init(&k, NULL);
		k.kallsyms = kallsyms;
		k.kcore = "/nowhere/kcore";
		k.nowhere = cases[i].nowhere;
		if (cases[i].anchor)
			gus_kernel_lay(&k, cases[i].anchor, ANCHOR + cases[i].moved, cases[i].end);
		assert_int_equal(gus_kernel_runs(&k), cases[i].runs);
		assert_int_equal(gus_kernel_find(&k, ANCHOR + 0x41, &table) != NULL, cases[i].runs);
		if (cases[i].runs)
			assert_null(gus_kernel_trouble(&k));
		else
			assert_non_null(strstr(gus_kernel_trouble(&k), why));
		assert_non_null(strstr(gus_kernel_code_trouble(&k), cases[i].runs ? "/nowhere/kcore" : why));
		gus_kernel_free(&k);
	}
	free(kallsyms);
	free(text);
}

/* Perf maps. */

static void note_mapping(struct gus_perfmaps *m, uint32_t pid, const char *path, uint32_t protection)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap mapping = GUSPROF__MMAP__INIT;

	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &mapping;
	mapping.pid = pid;
	mapping.path = (char *)(uintptr_t)path;
	mapping.protection = protection;
	gus_perfmaps_note(m, &record);
}

/* The mapping by which a runtime lets perf know of its jitdump. */
static void note_file(struct gus_perfmaps *m, const char *path, const struct stat *st, unsigned moved)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap mapping = GUSPROF__MMAP__INIT;

	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &mapping;
	mapping.pid = 77;
	mapping.path = (char *)(uintptr_t)path;
	mapping.protection = PROT_READ | PROT_EXEC;
	mapping.inode = st->st_ino + moved;
	mapping.major = (uint32_t)major(st->st_dev);
	mapping.minor = (uint32_t)minor(st->st_dev);
	gus_perfmaps_note(m, &record);
}

/* Of a recording that was made here, by perf, with the times of that clock. */
static struct gus_perfmaps *maps_of_here_by(const char *clock_name)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	struct utsname here;
	struct gus_perfmaps *m;

	assert_int_equal(uname(&here), 0);
	header.host = &host;
	header.clock = &clock;
	clock.name = (char *)(uintptr_t)clock_name;
	host.hostname = here.nodename;
	m = gus_perfmaps_new(&header);
	assert_non_null(m);
	return m;
}

static struct gus_perfmaps *maps_of_here(void)
{
	return maps_of_here_by("perf");
}

/* Of one that says nothing of where, as one that was cut. */
static struct gus_perfmaps *maps_of_nowhere(void)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	struct gus_perfmaps *m;

	header.host = &host;
	header.clock = &clock;
	clock.name = (char *)(uintptr_t)"monotonic";
	m = gus_perfmaps_new(&header);
	assert_non_null(m);
	return m;
}

static void note_exec(struct gus_perfmaps *m, uint32_t pid, uint64_t time)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Comm comm = GUSPROF__COMM__INIT;

	record.kind_case = GUSPROF__RECORD__KIND_COMM;
	record.comm = &comm;
	comm.pid = comm.tid = pid;
	comm.time = time;
	comm.exec = true;
	gus_perfmaps_note(m, &record);
}

static const char *module_at(struct gus_space *space, uint32_t pid, uint64_t time, uint64_t ip, uint64_t *offset)
{
	struct gus_place place = gus_space_find(space, pid, time, ip, 2);

	*offset = place.offset;
	return gus_space_module(space, place.module)->path;
}

static void code_that_a_process_made_has_names_from_its_map(void **state)
{
	struct gus_perfmaps *m = maps_of_here();
	struct gus_space *space = gus_space_new();
	struct gus_symbols *s = ask(NULL);
	struct gus_rights rights = { 0 };
	const struct gus_log log = { 0 };
	char *path = gus_format("%s/perf-77.map", folder), *other = gus_format("%s/perf-78.map", folder);
	struct gus_module module = { .kind = GUS_MODULE_JIT, .path = "[jit:77]" };
	uint64_t offset;

	(void)state;
	write_text(path, "1000 100 first\n1100 80 second one\nno line\n");
	write_text(other, "1000 100 of another\n");
	note_mapping(m, 77, "//anon", PROT_READ | PROT_EXEC);
	note_exec(m, 77, 50);
	note_exec(m, 77, 40);
	note_mapping(m, 78, "/lib/file", PROT_READ | PROT_EXEC);
	note_mapping(m, 78, "//anon", PROT_READ);
	gus_perfmaps_add(m, folder, &rights, space, s, &log);
	gus_space_ready(space);
	assert_string_equal(module_at(space, 77, 60, 0x10ff, &offset), "[jit:77]");
	assert_string_equal(name_at(s, &module, offset), "first");
	assert_string_equal(module_at(space, 77, 60, 0x1100, &offset), "[jit:77]");
	assert_string_equal(name_at(s, &module, offset), "second one");
	assert_string_equal(module_at(space, 77, 60, 0x1180, &offset), "[unknown]");
	assert_string_equal(module_at(space, 77, 49, 0x1000, &offset), "[unknown]"); /* another program */
	assert_string_equal(module_at(space, 78, 60, 0x1000, &offset), "[unknown]"); /* it makes no code */
	gus_space_free(space);
	gus_symbols_free(s);
	gus_perfmaps_free(m);
	free(path);
	free(other);
}

static void keep_text(enum gus_level level, const char *text, void *context)
{
	assert_int_equal(level, GUS_NOTE);
	snprintf(context, 256, "%s", text);
}

/* A jitdump: a piece that is replaced, and an earlier mapping of which nobody told. */
static void write_dump(const char *path)
{
	static const struct { uint32_t magic, version, size, machine, padding, pid; uint64_t time, flags; } head = {
		0x4a695444, 1, 40, 62, 0, 77, 0, 0 };
	static const char names[2][8] = { "first", "later" };
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(&head, sizeof(head), 1, f), 1);
	for (uint64_t i = 0; i < 2; i++) {
		const struct { uint32_t kind, size; uint64_t time; uint32_t pid, tid;
			       uint64_t vma, address, size_of_code, index; } load = {
			0, 16 + 40 + 6 + 4, 100 + 100 * i, 77, 77, 0x5000, 0x5000, 4, i };

		assert_int_equal(fwrite(&load, sizeof(load), 1, f), 1);
		assert_int_equal(fwrite(names[i], 6, 1, f), 1);
		assert_int_equal(fwrite(i ? "\x90\x90\x90\xc3" : "\x31\xc0\x90\xc3", 4, 1, f), 1);
	}
	assert_int_equal(fclose(f), 0);
}

static void keep_warning(enum gus_level level, const char *text, void *context)
{
	assert_int_equal(level, GUS_WARN);
	snprintf(context, 256, "%s", text);
}

/* By its inode a jitdump is known, so it serves where nothing says of which machine the recording is; its times have to
 * be those of the recording. */
static void code_that_a_process_made_has_names_from_its_jitdump(void **state)
{
	static const struct { bool here; const char *clock; unsigned moved; const char *why; } cases[] = {
		{ true, "monotonic", 0, NULL }, { false, "monotonic", 0, NULL }, { true, "perf", 0, "-k mono" },
		{ true, "monotonic", 1, "not the file" }, { false, "monotonic", 1, "not the file" },
	};
	char *path = gus_format("%s/jit-77.dump", folder);
	struct gus_module module = { .kind = GUS_MODULE_JIT, .path = "[jit:77]" };
	struct utsname here;
	struct stat st;

	(void)state;
	assert_int_equal(uname(&here), 0);
	write_dump(path);
	assert_int_equal(stat(path, &st), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		Gusprof__Host host = GUSPROF__HOST__INIT;
		Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
		char told[256] = "";
		const struct gus_log log = { GUS_NOTE, keep_warning, told };
		struct gus_space *space = gus_space_new();
		struct gus_symbols *s = ask(NULL);
		struct gus_rights rights = { 0 };
		struct gus_perfmaps *m;
		uint8_t code[8];
		uint64_t offset;
		unsigned machine;

		header.host = &host;
		header.clock = &clock;
		host.hostname = cases[i].here ? here.nodename : host.hostname;
		clock.name = (char *)(uintptr_t)cases[i].clock;
		m = gus_perfmaps_new(&header);
		note_file(m, path, &st, cases[i].moved);
		gus_perfmaps_add(m, folder, &rights, space, s, &log);
		gus_space_ready(space);
		assert_string_equal(module_at(space, 77, 150, 0x5001, &offset),
				    cases[i].why ? "[unknown]" : "[jit:77]");
		if (cases[i].why) {
			assert_non_null(strstr(told, cases[i].why));
		} else {
			assert_string_equal(told, "");
			assert_string_equal(name_at(s, &module, offset), "first");
			assert_int_equal(gus_symbols_code(s, &module, offset - 1, code, 4, &machine), 4);
			assert_memory_equal(code, "\x31\xc0\x90\xc3", 4);
			assert_int_equal(machine, 62);
			module_at(space, 77, 250, 0x5001, &offset);
			assert_string_equal(name_at(s, &module, offset), "later");
			assert_string_equal(module_at(space, 77, 99, 0x5001, &offset), "[unknown]");
		}
		gus_space_free(space);
		gus_symbols_free(s);
		gus_perfmaps_free(m);
	}
	free(path);
}

/* A jitdump of pieces of so many bytes, all zeros, from 0x10000000 on each 16 MiB behind the one before. */
static void write_pieces(const char *path, const uint64_t *sizes, size_t n)
{
	static const struct { uint32_t magic, version, size, machine, padding, pid; uint64_t time, flags; } head = {
		0x4a695444, 1, 40, 62, 0, 77, 0, 0 };
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(&head, sizeof(head), 1, f), 1);
	for (size_t i = 0; i < n; i++) {
		const uint64_t at = 0x10000000 + 0x1000000 * i;
		const struct { uint32_t kind, size; uint64_t time; uint32_t pid, tid;
			       uint64_t vma, address, size_of_code, index; } load = {
			0, (uint32_t)(16 + 40 + 2 + sizes[i]), 100, 77, 77, at, at, sizes[i], i };

		assert_int_equal(fwrite(&load, sizeof(load), 1, f), 1);
		assert_int_equal(fwrite("f", 2, 1, f), 1);
		assert_int_equal(fseek(f, (long)sizes[i] - 1, SEEK_CUR), 0);
		assert_int_equal(fputc(0, f), 0);
	}
	assert_int_equal(fclose(f), 0);
}

/* Of a piece a MiB is kept, of all of them 32; those that have no code are named all the same. */
static void code_of_a_jitdump_has_an_end(void **state)
{
	enum { MIB = GUS_LIMIT_JIT_CODE, N = GUS_LIMIT_JIT_CODE_ALL / MIB + 2 };
	char *path = gus_format("%s/jit-77.dump", folder);
	struct gus_module module = { .kind = GUS_MODULE_JIT, .path = "[jit:77]" };
	struct gus_perfmaps *m = maps_of_here_by("monotonic");
	struct gus_space *space = gus_space_new();
	struct gus_symbols *s = ask(NULL);
	struct gus_rights rights = { 0 };
	const struct gus_log log = { 0 };
	uint64_t sizes[N], offset;
	struct stat st;

	(void)state;
	for (size_t i = 0; i < N; i++)
		sizes[i] = i == 1 ? MIB + 1 : i == N - 1 ? 1 : MIB;
	write_pieces(path, sizes, N);
	assert_int_equal(stat(path, &st), 0);
	note_file(m, path, &st, 0);
	gus_perfmaps_add(m, folder, &rights, space, s, &log);
	gus_space_ready(space);
	for (size_t i = 0; i < N; i++) {
		uint64_t ip = 0x10000000 + 0x1000000 * i;
		uint8_t code[4];

		assert_string_equal(module_at(space, 77, 150, ip, &offset), "[jit:77]");
		assert_string_equal(name_at(s, &module, offset), "f");
		assert_int_equal(gus_symbols_code(s, &module, offset, code, 1, NULL), i != 1 && i != N - 1);
		assert_string_equal(module_at(space, 77, 150, ip + sizes[i], &offset), "[unknown]");
	}
	gus_space_free(space);
	gus_symbols_free(s);
	gus_perfmaps_free(m);
	free(path);
}

/* A jitdump is what is called so and was mapped as code by a process; where nothing says which machine it was on, its
 * inode has to be known as well. */
static void a_jitdump_is_known_by_its_name_and_mapping(void **state)
{
	static const struct { const char *name; bool kernel, code, here, inode, is; } cases[] = {
		{ "jit-7.dump", false, true, true, true, true }, { "jit-7.dump", true, true, true, true, false },
		{ "jit-7.dump", false, false, true, true, false }, { "jit-7.dump", false, true, true, false, true },
		{ "jit-7.dump", false, true, false, true, true }, { "jit-7.dump", false, true, false, false, false },
		{ "jit-.dump", false, true, true, true, false }, { "ajit-7.dump", false, true, true, true, false },
		{ "jit-7.dumped", false, true, true, true, false }, { "jit_7.dump", false, true, true, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *path = gus_format("%s/%s", folder, cases[i].name), told[256] = "";
		const struct gus_log log = { GUS_NOTE, keep_warning, told };
		struct gus_perfmaps *m = cases[i].here ? maps_of_here_by("monotonic") : maps_of_nowhere();
		Gusprof__Record record = GUSPROF__RECORD__INIT;
		Gusprof__Mmap mapping = GUSPROF__MMAP__INIT;
		struct gus_space *space = gus_space_new();
		struct gus_symbols *s = ask(NULL);
		struct gus_rights rights = { 0 };
		uint64_t offset;
		struct stat st;

		write_dump(path);
		assert_int_equal(stat(path, &st), 0);
		record.kind_case = GUSPROF__RECORD__KIND_MMAP;
		record.mmap = &mapping;
		mapping.pid = 77;
		mapping.path = path;
		mapping.kernel = cases[i].kernel;
		mapping.protection = cases[i].code ? PROT_READ | PROT_EXEC : PROT_READ;
		mapping.inode = cases[i].inode ? st.st_ino : 0;
		mapping.major = (uint32_t)major(st.st_dev);
		mapping.minor = (uint32_t)minor(st.st_dev);
		gus_perfmaps_note(m, &record);
		gus_perfmaps_add(m, folder, &rights, space, s, &log);
		gus_space_ready(space);
		assert_string_equal(module_at(space, 77, 150, 0x5001, &offset), cases[i].is ? "[jit:77]" : "[unknown]");
		assert_true(!cases[i].is || offset == 1); /* it is the first of its module */
		assert_string_equal(told, "");
		gus_space_free(space);
		gus_symbols_free(s);
		gus_perfmaps_free(m);
		free(path);
	}
}

/* Both have a part of the process's module, and the process no code from before its last execve. */
static void a_process_may_have_a_map_and_a_jitdump(void **state)
{
	char *map = gus_format("%s/perf-77.map", folder), *dump = gus_format("%s/jit-77.dump", folder);
	struct gus_module module = { .kind = GUS_MODULE_JIT, .path = "[jit:77]" };
	struct gus_perfmaps *m = maps_of_here_by("monotonic");
	struct gus_space *space = gus_space_new();
	struct gus_symbols *s = ask(NULL);
	struct gus_rights rights = { 0 };
	const struct gus_log log = { 0 };
	uint64_t offset;
	struct stat st;

	(void)state;
	write_text(map, "9000 10 of_the_map\n");
	write_dump(dump);
	assert_int_equal(stat(dump, &st), 0);
	note_mapping(m, 77, "//anon", PROT_READ | PROT_EXEC);
	note_file(m, "/nowhere/jit-77.dump", &st, 0); /* the last one counts */
	note_file(m, dump, &st, 0);
	note_exec(m, 77, 120);
	gus_perfmaps_add(m, folder, &rights, space, s, &log);
	gus_space_ready(space);
	module_at(space, 77, 150, 0x9000, &offset);
	assert_string_equal(name_at(s, &module, offset), "of_the_map");
	module_at(space, 77, 250, 0x5001, &offset);
	assert_string_equal(name_at(s, &module, offset), "later");
	assert_string_equal(module_at(space, 77, 119, 0x9000, &offset), "[unknown]");
	gus_space_free(space);
	gus_symbols_free(s);
	gus_perfmaps_free(m);
	free(map);
	free(dump);
}

/* What is told to the user while maps of these processes are read, a line each. */
struct told { char text[4096]; struct gus_space *space; struct gus_symbols *s; };

static void keep_any(enum gus_level level, const char *text, void *context)
{
	struct told *t = context;
	size_t n = strlen(t->text);

	(void)level;
	snprintf(t->text + n, sizeof(t->text) - n, "%s\n", text);
}

static void keep_lines(enum gus_level level, const char *text, void *context)
{
	assert_int_equal(level, GUS_WARN);
	keep_any(level, text, context);
}

static bool has_name(struct told *t, uint32_t pid, uint64_t ip)
{
	uint64_t offset;

	return strcmp(module_at(t->space, pid, 1, ip, &offset), "[unknown]") != 0;
}

static void forget(struct told *t)
{
	gus_space_free(t->space);
	gus_symbols_free(t->s);
}

/* That there is no map is nothing to tell; that there is something else of its name is, or no jitdump where one was
 * mapped. What was mapped without a folder is none. */
static void what_cannot_be_read_is_told(void **state)
{
	static const struct { const char *mapped, *made, *why; } cases[] = {
		{ "//anon", NULL, NULL }, { "//anon", "perf-77.map", "perf-77.map: Invalid argument" },
		{ "/nowhere/jit-7.dump", NULL, "/nowhere/jit-7.dump: No such file or directory" },
		{ "jit-7.dump", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct told t = { .space = gus_space_new(), .s = ask(NULL) };
		const struct gus_log log = { GUS_NOTE, keep_any, &t };
		struct gus_perfmaps *m = maps_of_here();
		struct gus_rights rights = { 0 };
		char *path = gus_format("%s/%s", folder, cases[i].made ? cases[i].made : "none");

		if (cases[i].made)
			assert_int_equal(mkdir(path, 0700), 0);
		note_mapping(m, 77, cases[i].mapped, PROT_READ | PROT_EXEC);
		gus_perfmaps_add(m, folder, &rights, t.space, t.s, &log);
		if (cases[i].why)
			assert_non_null(strstr(t.text, cases[i].why));
		else
			assert_string_equal(t.text, "");
		forget(&t);
		gus_perfmaps_free(m);
		free(path);
	}
}

/* What is root's is believed of anybody's process: root could have written what it likes elsewhere, too. */
static void a_map_of_root_is_believed(void **state)
{
	struct gus_rights nobody = { .limited = true, .uid = 65534, .gid = 65534, .whose = "the owner" };
	struct told t = { .space = gus_space_new(), .s = ask(NULL) };
	const struct gus_log log = { GUS_NOTE, keep_any, &t };
	struct gus_perfmaps *m = maps_of_here();
	char *path = gus_format("%s/perf-77.map", folder);
	bool is_root = geteuid() == 0;

	(void)state;
	write_text(path, "1000 100 first\n");
	assert_int_equal(chmod(folder, 0755) | chmod(path, 0644), 0);
	note_mapping(m, 77, "//anon", PROT_READ | PROT_EXEC);
	gus_perfmaps_add(m, folder, &nobody, t.space, t.s, &log);
	gus_space_ready(t.space);
	assert_int_equal(has_name(&t, 77, 0x1000), is_root);
	forget(&t);
	gus_perfmaps_free(m);
	free(path);
}

/* Anybody can put a file of that name into /tmp. That there is none is nothing to tell. */
static void a_map_of_a_stranger_is_not_believed(void **state)
{
	struct gus_perfmaps *m = maps_of_here();
	struct gus_space *space = gus_space_new();
	struct gus_symbols *s = ask(NULL);
	struct gus_rights rights = { .limited = geteuid() != 0, .uid = geteuid() + 1, .whose = "the owner" };
	char told[256] = "";
	const struct gus_log log = { GUS_NOTE, keep_text, told };
	char *path = gus_format("%s/perf-77.map", folder);
	uint64_t offset;

	(void)state;
	write_text(path, "1000 100 first\n");
	if (geteuid() == 0)
		assert_int_equal(chown(path, 12345, 12345), 0);
	note_mapping(m, 99, "//anon", PROT_READ | PROT_EXEC);
	gus_perfmaps_add(m, folder, &rights, space, s, &log);
	assert_string_equal(told, "");
	note_mapping(m, 77, "//anon", PROT_READ | PROT_EXEC);
	gus_perfmaps_add(m, folder, &rights, space, s, &log);
	assert_non_null(strstr(told, "perf-77.map"));
	gus_space_ready(space);
	assert_string_equal(module_at(space, 77, 60, 0x1000, &offset), "[unknown]");
	gus_space_free(space);
	gus_symbols_free(s);
	gus_perfmaps_free(m);
	free(path);
}

static struct told read_maps(uint32_t first, uint32_t last)
{
	struct told t = { .space = gus_space_new(), .s = ask(NULL) };
	const struct gus_log log = { GUS_NOTE, keep_lines, &t };
	struct gus_perfmaps *m = maps_of_here();
	struct gus_rights rights = { 0 };

	for (uint32_t pid = first; pid <= last; pid++)
		note_mapping(m, pid, "//anon", PROT_READ | PROT_EXEC);
	gus_perfmaps_add(m, folder, &rights, t.space, t.s, &log);
	gus_space_ready(t.space);
	gus_perfmaps_free(m);
	return t;
}

/* Maps of processes 1 and up, each with so many pieces: the n-th, from 0 on, at 0x1000 + 16 n. */
static void write_maps(const unsigned *pieces, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *path = gus_format("%s/perf-%zu.map", folder, i + 1);
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		for (unsigned k = 0; k < pieces[i]; k++)
			fprintf(f, "%x 10 f\n", 0x1000 + 16 * k);
		assert_int_equal(fclose(f), 0);
		free(path);
	}
}

/* Each process may have 100,000, and all of them a million. */
static void pieces_of_all_processes_have_an_end(void **state)
{
	enum { ALL = GUS_LIMIT_JIT_WRITTEN };
	static const unsigned pieces[] = { ALL + 1, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL - 1, 2, 1, 1 };
	struct told t;

	(void)state;
	write_maps(pieces, sizeof(pieces) / sizeof(*pieces));
	t = read_maps(1, 13);
	assert_string_equal(t.text, "the perf map of process 1 has more than gusprof takes: left out are 1 pieces\n"
		"the perf map of process 11 has more than gusprof takes: left out are 1 pieces\n"
		"what other processes told of their code is as much as gusprof takes: names of code that 2 more made "
		"are not looked for\n");
	assert_true(has_name(&t, 1, 0x1000 + 16 * (ALL - 1)));
	assert_false(has_name(&t, 1, 0x1000 + 16 * ALL));
	assert_true(has_name(&t, 10, 0x1000 + 16 * (ALL - 2)));
	assert_true(has_name(&t, 11, 0x1000));
	assert_false(has_name(&t, 11, 0x1010));
	assert_false(has_name(&t, 12, 0x1000));
	forget(&t);
}

/* Zeros are no lines, and a file can have as many as it likes. */
static void bytes_of_all_maps_have_an_end(void **state)
{
	enum { MOST = GUS_LIMIT_JIT_READ / GUS_LIMIT_PERF_MAP };
	static const unsigned one = 1;
	char *path = gus_format("%s/perf-1.map", folder), *other;
	struct told t;

	(void)state;
	write_maps(&one, 1);
	assert_int_equal(truncate(path, GUS_LIMIT_PERF_MAP), 0);
	t = read_maps(1, 1);
	assert_string_equal(t.text, "");
	forget(&t);
	assert_int_equal(truncate(path, GUS_LIMIT_PERF_MAP + 1), 0);
	for (int i = 2; i <= MOST + 1; i++) {
		other = gus_format("%s/perf-%d.map", folder, i);
		assert_int_equal(link(path, other), 0);
		free(other);
	}
	t = read_maps(1, 1);
	assert_string_equal(t.text, "the perf map of process 1 has more than gusprof takes: left out are 0 pieces, "
			    "and those behind its first 67108864 bytes\n");
	assert_true(has_name(&t, 1, 0x1000));
	forget(&t);
	t = read_maps(1, MOST + 1);
	assert_true(has_name(&t, MOST, 0x1000));
	assert_false(has_name(&t, MOST + 1, 0x1000));
	assert_non_null(strstr(t.text, "code that 1 more made"));
	forget(&t);
	free(path);
}

static void maps_serve_recordings_of_this_machine_that_are_not_ours(void **state)
{
	static const struct { bool here; const char *name, *boot; bool serve, elsewhere, nowhere; } cases[] = {
		{ true, NULL, "", true, false, false }, { true, NULL, "some", false, false, false },
		{ false, "another", "", false, true, false }, { false, "another", "some", false, true, false },
		{ false, "", "", false, true, true }, { false, "", "some", false, false, false },
	};
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	Gusprof__Origin origin = GUSPROF__ORIGIN__INIT;
	struct gus_perfmaps *m;
	struct utsname here;

	(void)state;
	assert_int_equal(uname(&here), 0);
	assert_false(gus_perfmaps_serve(&header));
	assert_false(gus_perfmaps_are_elsewhere(&header));
	assert_false(gus_perfmaps_know_kernel(&header));
	header.host = &host;
	header.origin = &origin;
	host.kernel = here.release;
	assert_true(gus_perfmaps_know_kernel(&header));
	host.kernel = (char *)(uintptr_t)"another";
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		host.hostname = cases[i].here ? here.nodename : (char *)(uintptr_t)cases[i].name;
		host.boot_id = (char *)(uintptr_t)cases[i].boot;
		assert_int_equal(gus_perfmaps_serve(&header), cases[i].serve);
		assert_int_equal(gus_perfmaps_are_elsewhere(&header), cases[i].elsewhere);
		assert_int_equal(gus_perfmaps_are_nowhere(&header), cases[i].nowhere);
		assert_false(gus_perfmaps_know_kernel(&header));
		m = gus_perfmaps_new(&header);
		assert_int_equal(m != NULL, cases[i].serve || cases[i].nowhere);
		gus_perfmaps_free(m);
	}
	/* one of our own, of nobody knows where: its files say which they are */
	host.hostname = host.boot_id = (char *)(uintptr_t)"";
	header.origin = NULL;
	assert_false(gus_perfmaps_are_elsewhere(&header));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_program_that_is_gone_has_names_from_perfs_copy),
		TEST(what_has_no_name_is_an_offset_where_it_is_asked_for),
		TEST(a_path_of_another_machine_gives_no_names),
		TEST(a_file_has_its_generation_too),
		cmocka_unit_test(build_ids_have_a_size),
		TEST(a_copy_of_something_else_is_not_believed),
		TEST(a_stripped_program_has_names_from_perfs_debug_file),
		TEST(the_vdso_of_another_kernel_is_known_by_its_build_id),
		TEST(a_kernels_names_are_moved_to_where_it_lay),
		TEST(a_kernels_copy_that_is_no_file_gives_no_names),
		TEST(without_knowing_where_it_lay_a_kernel_has_no_names),
		TEST(the_running_kernel_serves_if_it_is_the_same_build),
		TEST(a_kernels_names_may_be_given),
		TEST(a_kernel_of_the_same_release_serves_where_it_lay),
		TEST(a_kernel_of_nowhere_serves_between_its_ends),
		TEST(code_that_a_process_made_has_names_from_its_map),
		TEST(code_that_a_process_made_has_names_from_its_jitdump),
		TEST(code_of_a_jitdump_has_an_end),
		TEST(a_jitdump_is_known_by_its_name_and_mapping),
		TEST(a_process_may_have_a_map_and_a_jitdump),
		TEST(what_cannot_be_read_is_told),
		TEST(a_map_of_root_is_believed),
		TEST(a_map_of_a_stranger_is_not_believed),
		TEST(pieces_of_all_processes_have_an_end),
		TEST(bytes_of_all_maps_have_an_end),
		cmocka_unit_test(maps_serve_recordings_of_this_machine_that_are_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
