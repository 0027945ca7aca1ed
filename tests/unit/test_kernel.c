/* SPDX-License-Identifier: MIT */
/* Names and code of the kernel, from texts like /proc/kallsyms and files like /proc/kcore that are made here. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "symbolizer/kernel/kernel.h"

#define BASE UINT64_C(0xffffffff81000000)

static char folder[64];

static int enter(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/gusprof-test-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	static const char *const files[] = { "kallsyms", "notes", "kept", "kcore" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(files[i]);
	return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

/* A kernel whose files are those of the folder. */
static void begin(struct gus_kernel *k, const char *boot_id)
{
	gus_kernel_init(k, boot_id);
	k->kallsyms = "kallsyms";
	k->notes = "notes";
	k->kcore = "kcore";
}

static const char *name_at(struct gus_kernel *k, uint64_t address)
{
	struct gus_functions *table;
	struct gus_function *f = gus_kernel_find(k, address, &table);

	return f ? gus_function_name(table, f, false) : "";
}

/* Of this boot: its names serve as they are. */
static void begin_live(struct gus_kernel *k, const char *text)
{
	write_text("kallsyms", text);
	begin(k, NULL);
	k->same_boot = true;
}

struct expected { uint64_t address; const char *name; };

static void expect(struct gus_kernel *k, const struct expected *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_string_equal(name_at(k, e[i].address), e[i].name);
}

#define EXPECT(k, list) expect(k, list, sizeof(list) / sizeof(*(list)))

/* Up to the next one, however far that is; the last of the kernel and of each module ends with the page behind its own,
 * as nobody tells how long it is. Modules of names that begin alike, or are as long, are different ones. */
static void a_function_lasts_to_the_next_one_of_its_module(void **state)
{
	static const struct expected e[] = {
		{ 0x0fff, "" }, { 0x1000, "first" }, { 0x8fff, "first" }, { 0x9000, "last" }, { 0xafff, "last" },
		{ 0xb000, "" },
		{ 0x10010, "a1" }, { 0x17fff, "a1" }, { 0x18010, "a2" }, { 0x19fff, "a2" }, { 0x1a000, "" },
		{ 0x20000, "b" }, { 0x21fff, "b" }, { 0x22000, "" },
		{ 0x30000, "long" }, { 0x31fff, "long" }, { 0x32000, "" },
	};
	struct gus_kernel k;

	(void)state;
	begin_live(&k, "1000 T first\n9000 t last\n10010 t a1\t[aa]\n18010 t a2\t[aa]\n20000 t b\t[bb]\n"
		   "30000 t long\t[bbb]\n");
	EXPECT(&k, e);
	assert_null(gus_kernel_trouble(&k));
	gus_kernel_free(&k);
}

/* What a recording has brought along is asked first, and ends as it says; a name or an end that cannot be is none. */
static void names_of_the_recording_go_before(void **state)
{
	static const struct expected e[] = {
		{ 0x1fff, "live" }, { 0x2000, "told" }, { 0x200f, "told" }, { 0x2010, "live" }, { 0x2100, "live" },
		{ 0x2200, "live" },
		{ 0x5ff0, "endless" }, { 0x6fff, "endless" }, { 0x7000, "live" },
		{ UINT64_MAX - 0x11, "" }, { UINT64_MAX - 0x10, "high" }, { UINT64_MAX - 1, "high" },
	};
	Gusprof__Symbol s[] = { GUSPROF__SYMBOL__INIT, GUSPROF__SYMBOL__INIT, GUSPROF__SYMBOL__INIT,
				GUSPROF__SYMBOL__INIT, GUSPROF__SYMBOL__INIT };
	Gusprof__Symbol *list[] = { &s[0], &s[1], &s[2], &s[3], &s[4] };
	Gusprof__KernelSymbols m = GUSPROF__KERNEL_SYMBOLS__INIT;
	struct gus_kernel k;

	(void)state;
	s[0].address = 0x2000;
	s[0].size = 0x10;
	s[0].name = (char *)(uintptr_t)"told";
	s[1].address = 0x2100;
	s[1].size = 0x10;
	s[1].name = (char *)(uintptr_t)"";
	s[2].address = 0x2200;
	s[2].size = UINT64_MAX - 0x2200 + 1;
	s[2].name = (char *)(uintptr_t)"round";
	s[3].address = 0x5ff0;
	s[3].name = (char *)(uintptr_t)"endless";
	s[4].address = UINT64_MAX - 0x10;
	s[4].size = 0x10;
	s[4].name = (char *)(uintptr_t)"high";
	m.symbols = list;
	m.n_symbols = 5;
	begin_live(&k, "1000 T live\n9000 T end\n");
	gus_kernel_add(&k, &m);
	EXPECT(&k, e);
	gus_kernel_free(&k);
}

/* Why the recording has no names is told, the first reason, if there are none at all; and only then. */
static void the_recorders_reason_is_told(void **state)
{
	static const struct { const char *first, *second, *names, *trouble; } cases[] = {
		{ "one", "two", NULL, "one" }, { "", "two", NULL, "two" }, { "", "", NULL, "kallsyms" },
		{ "one", "", "1000 T live\n", NULL }, { "", "", "nothing\n", "it lists no functions" },
		{ "", "", "0 T a\n0 T b\n", "kptr_restrict" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		Gusprof__KernelSymbols m = GUSPROF__KERNEL_SYMBOLS__INIT;
		struct gus_kernel k;

		begin_live(&k, cases[i].names ? cases[i].names : "");
		if (!cases[i].names)
			unlink("kallsyms");
		m.refusal = (char *)(uintptr_t)cases[i].first;
		gus_kernel_add(&k, &m);
		m.refusal = (char *)(uintptr_t)cases[i].second;
		gus_kernel_add(&k, &m);
		if (cases[i].trouble)
			assert_non_null(strstr(gus_kernel_trouble(&k), cases[i].trouble));
		else
			assert_null(gus_kernel_trouble(&k));
		assert_int_equal(k.failure.code, 0); /* that it is not there is nothing that may be else another time */
		gus_kernel_free(&k);
	}
}

/* All of it counts, and what is in the file besides is the line's end. */
static void a_boot_is_known_by_its_id(void **state)
{
	enum { RIGHT, SHORT, LONG, OTHER, LAST_PART, EMPTY, CASES };
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	char id[64] = "", ids[CASES][80];

	(void)state;
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%63s", id), 1);
	fclose(f);
	snprintf(ids[RIGHT], 80, "%s", id);
	snprintf(ids[SHORT], 80, "%.*s", (int)strlen(id) - 1, id);
	snprintf(ids[LONG], 80, "%sx", id);
	snprintf(ids[OTHER], 80, "%.*sx", (int)strlen(id) - 1, id);
	snprintf(ids[LAST_PART], 80, "%s", id + 1);
	ids[EMPTY][0] = '\0';
	for (int i = 0; i <= CASES; i++) {
		struct gus_kernel k;

		gus_kernel_init(&k, i < CASES ? ids[i] : NULL);
		assert_int_equal(k.same_boot, i == RIGHT);
		assert_int_equal(gus_kernel_runs(&k), i == RIGHT);
		gus_kernel_free(&k);
	}
}

/* A text of /proc is as long as it is: it is read to its end, unless that is absurd. */
static void long_texts_are_read_to_their_end(void **state)
{
	static const struct { long size; const char *name, *trouble; } cases[] = {
		{ 65536, "last", NULL }, { 65537, "last", NULL }, { 1000000, "last", NULL },
		{ GUS_LIMIT_PROC_FILE, "last", NULL }, { GUS_LIMIT_PROC_FILE + 1, "", "File too large" },
	};
	static const char line[] = "\n1000 T last\n";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_kernel k;
		FILE *f = fopen("kallsyms", "w");

		assert_non_null(f);
		assert_int_equal(fseek(f, cases[i].size - (long)sizeof(line) + 1, SEEK_SET), 0);
		assert_int_equal(fwrite(line, sizeof(line) - 1, 1, f), 1);
		assert_int_equal(fclose(f), 0);
		begin(&k, NULL);
		k.same_boot = true;
		assert_string_equal(name_at(&k, 0x1000), cases[i].name);
		if (cases[i].trouble)
			assert_non_null(strstr(gus_kernel_trouble(&k), cases[i].trouble));
		else
			assert_null(gus_kernel_trouble(&k));
		gus_kernel_free(&k);
	}
}

/* By build. */

static const uint8_t build[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const char names[] = "ffffffff81000000 T _text\nffffffff81000100 T f\nffffffff81000200 T g\n";

static void write_notes(uint8_t last)
{
	uint8_t notes[] = { 4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4, 5, 6, 7, last };

	write_file("notes", notes, sizeof(notes));
}

/* What was kept of that build goes before the running kernel, which serves if it is of that build and the copy is none.
 * The running one's names are other ones here, to be told apart. */
static void a_kept_copy_goes_before_the_running_kernel(void **state)
{
	static const struct { const char *kept; bool same; const char *name, *trouble; } cases[] = {
		{ names, true, "f", NULL }, { names, false, "f", NULL },
		{ "nothing\n", true, "live", NULL }, { "nothing\n", false, "", "kept: it lists no functions" },
		{ "ffffffff81000100 T f\n", false, "", "kept does not say where _text is" },
		{ NULL, true, "live", NULL }, { NULL, false, "", "of another kernel than this one" },
	};

	(void)state;
	write_text("kallsyms", "ffffffff81000000 T _text\nffffffff81000100 T live\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_kernel k;

		unlink("kept");
		if (cases[i].kept)
			write_text("kept", cases[i].kept);
		write_notes(cases[i].same ? 8 : 9);
		begin(&k, NULL);
		gus_kernel_known(&k, (const uint8_t *)"another", 7, NULL);
		gus_kernel_known(&k, build, sizeof(build), "kept"); /* the last that is said counts */
		gus_kernel_lay(&k, "_stext", BASE, 0);
		gus_kernel_lay(&k, "_text", BASE + 0x5000, 0);
		assert_string_equal(name_at(&k, BASE + 0x5100), cases[i].name);
		assert_string_equal(name_at(&k, BASE + 0x50ff), *cases[i].name ? "_text" : "");
		assert_string_equal(name_at(&k, BASE + 0x100), "");
		if (cases[i].trouble)
			assert_non_null(strstr(gus_kernel_trouble(&k), cases[i].trouble));
		else
			assert_null(gus_kernel_trouble(&k));
		gus_kernel_free(&k);
	}
}

/* The running kernel is the recorded one if it is of its build and lies where that did, which is found out once. */
static void a_kernel_runs_if_it_lies_where_it_did(void **state)
{
	static const struct { const char *anchor; uint64_t moved; uint8_t last; bool runs; } cases[] = {
		{ "_text", 0, 8, true }, { "_text", 0, 9, false }, { "_text", 1, 8, false }, { "f", 0, 8, false },
		{ "f", 0x100, 8, true }, { "_tex", 0, 8, false }, { "_textt", 0, 8, false }, { NULL, 0, 8, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_kernel k;

		write_text("kallsyms", names);
		write_notes(cases[i].last);
		begin(&k, NULL);
		gus_kernel_known(&k, build, sizeof(build), NULL);
		if (cases[i].anchor)
			gus_kernel_lay(&k, cases[i].anchor, BASE + cases[i].moved, 0);
		assert_int_equal(gus_kernel_runs(&k), cases[i].runs);
		unlink("kallsyms");
		assert_int_equal(gus_kernel_runs(&k), cases[i].runs);
		gus_kernel_free(&k);
	}
}

/* A symbol of a module is no anchor, though it have the name. */
static void an_anchor_is_of_the_kernel_proper(void **state)
{
	struct gus_kernel k;

	(void)state;
	write_text("kallsyms", "ffffffff81000000 T _text\t[module]\nffffffff82000000 T _text\nffffffff82000100 T f\n");
	begin(&k, NULL);
	k.same_release = true;
	gus_kernel_lay(&k, "_text", BASE + 0x1000000, 0);
	assert_true(gus_kernel_runs(&k));
	assert_string_equal(name_at(&k, BASE + 0x1000100), "f");
	gus_kernel_free(&k);
}

/* Of a kernel that nobody names both ends are looked for, and the second one is a line of its own: of all of the name,
 * and of any that has it. */
static void ends_are_whole_lines(void **state)
{
	static const struct { const char *ends; bool runs; } cases[] = {
		{ "ffffffff81000300 D _edata\n", true }, { "ffffffff81000300 T _etext\n", true },
		{ "ffffffff81000301 D _edata\nffffffff81000300 D _edata\n", true },
		{ "ffffffff81000301 D _edata\n", false }, { "ffffffff81000300 D x_edata\n", false },
		{ "ffffffff81000300 D _edatax\n", false }, { "fffffff81000300 D _edata\n", false },
		{ "ffffffff81000300 D _edata", false }, { "", false },
	};

	(void)state;
	for (unsigned first = 0; first < 2; first++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			struct gus_kernel k;
			char text[512];

			if (first && i == 7) /* a line that is not the last has an end */
				continue;
			snprintf(text, sizeof(text), "%s%s%s", first ? cases[i].ends : "", names,
				 first ? "" : cases[i].ends);
			write_text("kallsyms", text);
			begin(&k, NULL);
			k.nowhere = true;
			gus_kernel_lay(&k, "_text", BASE, BASE + 0x300);
			assert_int_equal(gus_kernel_runs(&k), cases[i].runs);
			assert_string_equal(name_at(&k, BASE + 0x100), cases[i].runs ? "f" : "");
			gus_kernel_free(&k);
		}
	write_text("kallsyms", " _edata\nffffffff81000000 T _text\n"); /* with nothing before it */
	for (uint64_t end = 0; end < 2; end++) {
		struct gus_kernel k;

		begin(&k, NULL);
		k.nowhere = true;
		gus_kernel_lay(&k, "_text", BASE, end);
		assert_false(gus_kernel_runs(&k));
		gus_kernel_free(&k);
	}
}

/* Code. */

struct core { Elf64_Ehdr header; Elf64_Phdr segment; uint8_t bytes[16]; };

static void write_core(void)
{
	struct core c = { .bytes = { 0x90, 0xc3, 1, 2, 3, 4, 5, 6 } };

	memcpy(c.header.e_ident, ELFMAG, SELFMAG);
	c.header.e_ident[EI_CLASS] = ELFCLASS64;
	c.header.e_ident[EI_DATA] = ELFDATA2LSB;
	c.header.e_type = ET_CORE;
	c.header.e_machine = EM_AARCH64;
	c.header.e_phoff = offsetof(struct core, segment);
	c.header.e_phentsize = sizeof(Elf64_Phdr);
	c.header.e_phnum = 1;
	c.segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = offsetof(struct core, bytes), .p_filesz = 16,
				  .p_vaddr = BASE };
	write_file("kcore", &c, sizeof(c));
}

/* Only the recorded kernel's code is shown; without it there is a reason, with what would help, if anything. */
static void code_is_that_of_the_recorded_kernel(void **state)
{
	static const struct { bool same_boot, nowhere, known, there; const char *trouble; } cases[] = {
		{ true, false, false, true, NULL },
		{ true, false, false, false, "No such file or directory; this kernel was built without it" },
		{ false, false, false, true, "has no copy of the kernel's code, and it is of another boot" },
		{ false, true, false, true, "and nothing says which kernel it was" },
		{ false, true, true, true, "and it is of another boot than this one" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_kernel k;
		uint8_t bytes[4] = { 0 };
		unsigned machine = 1;

		unlink("kcore");
		if (cases[i].there)
			write_core();
		begin(&k, NULL);
		k.same_boot = cases[i].same_boot;
		k.nowhere = cases[i].nowhere;
		if (cases[i].known)
			gus_kernel_known(&k, build, sizeof(build), NULL);
		assert_int_equal(gus_kernel_code(&k, BASE, bytes, 4, &machine), cases[i].trouble ? 0 : 4);
		assert_int_equal(machine, cases[i].trouble ? EM_NONE : EM_AARCH64);
		if (cases[i].trouble) {
			assert_non_null(strstr(gus_kernel_code_trouble(&k), cases[i].trouble));
		} else {
			assert_null(gus_kernel_code_trouble(&k));
			assert_memory_equal(bytes, "\x90\xc3\1\2", 4);
		}
		assert_int_equal(k.failure.code, 0);
		gus_kernel_free(&k);
	}
}

static void what_is_no_core_has_no_remedy(void **state)
{
	struct gus_kernel k;

	(void)state;
	write_text("kcore", "no core");
	begin(&k, NULL);
	k.same_boot = true;
	assert_string_equal(gus_kernel_code_trouble(&k),
			    "cannot read the kernel's code from kcore: it is no 64-bit core file");
	write_core(); /* too late: it was asked */
	assert_non_null(gus_kernel_code_trouble(&k));
	gus_kernel_free(&k);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_function_lasts_to_the_next_one_of_its_module),
		TEST(names_of_the_recording_go_before),
		TEST(the_recorders_reason_is_told),
		TEST(a_boot_is_known_by_its_id),
		TEST(long_texts_are_read_to_their_end),
		TEST(a_kept_copy_goes_before_the_running_kernel),
		TEST(a_kernel_runs_if_it_lies_where_it_did),
		TEST(an_anchor_is_of_the_kernel_proper),
		TEST(ends_are_whole_lines),
		TEST(code_is_that_of_the_recorded_kernel),
		TEST(what_is_no_core_has_no_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
