/* SPDX-License-Identifier: MIT */
/* Lines and inlined calls, out of DWARF that is written here entry by entry, so that each of them is known. What
 * compilers write, in its versions and files, is test_symbols' matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <dwarf.h>

#include "symbolizer/elf/dwarf.h"

enum { TEXT = 0x1000, TEXT_SIZE = 0x1000 }; /* the addresses that are code */

struct bytes {
	uint8_t v[65536];
	size_t n;
};

static void put(struct bytes *b, const void *from, size_t n)
{
	assert_in_range(b->n + n, 0, sizeof(b->v));
	if (n)
		memcpy(b->v + b->n, from, n);
	b->n += n;
}

static void put_number(struct bytes *b, uint64_t number, size_t n)
{
	for (size_t i = 0; i < n; i++, number >>= 8)
		put(b, &(uint8_t){ (uint8_t)number }, 1);
}

static void put_uleb(struct bytes *b, uint64_t number)
{
	do
		put_number(b, (number & 0x7f) | (number >> 7 ? 0x80 : 0), 1);
	while (number >>= 7);
}

static void put_text(struct bytes *b, const char *text)
{
	put(b, text, strlen(text) + 1);
}

/* The entries that this test writes, by number of abbreviation. */
enum { NO_ENTRY, UNIT, UNIT_PLAIN, FUNCTION, LINKED, INLINED, NAMELESS, NOWHERE, BLOCK, VARIABLE, ORIGIN,
	COPIED, NAMESPACE, CLASS, STRUCTURE, UNION, ENUMERATION, MODULE, TRY, CATCH,
	CIRCLE, CIRCLE_BLOCK, SCATTERED, WIDE };

static void put_abbreviations(struct bytes *b)
{
#define ADDRESSES DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4
#define CALLED DW_AT_call_file, DW_FORM_udata, DW_AT_call_line, DW_FORM_udata
	static const struct { uint8_t number, tag, children, attributes[16]; } all[] = {
		{ UNIT, DW_TAG_compile_unit, 1,
		  { DW_AT_comp_dir, DW_FORM_string, DW_AT_stmt_list, DW_FORM_sec_offset, ADDRESSES } },
		{ UNIT_PLAIN, DW_TAG_compile_unit, 1, { DW_AT_stmt_list, DW_FORM_sec_offset, ADDRESSES } },
		{ FUNCTION, DW_TAG_subprogram, 1, { DW_AT_name, DW_FORM_string, ADDRESSES } },
		{ INLINED, DW_TAG_inlined_subroutine, 1, { DW_AT_name, DW_FORM_string, ADDRESSES, CALLED } },
		{ NAMELESS, DW_TAG_inlined_subroutine, 1, { ADDRESSES } },
		{ NOWHERE, DW_TAG_inlined_subroutine, 1, { DW_AT_name, DW_FORM_string } },
		{ BLOCK, DW_TAG_lexical_block, 1, { 0 } },
		{ NAMESPACE, DW_TAG_namespace, 1, { 0 } },
		{ CLASS, DW_TAG_class_type, 1, { 0 } },
		{ STRUCTURE, DW_TAG_structure_type, 1, { 0 } },
		{ UNION, DW_TAG_union_type, 1, { 0 } },
		{ ENUMERATION, DW_TAG_enumeration_type, 1, { 0 } },
		{ MODULE, DW_TAG_module, 1, { 0 } },
		{ TRY, DW_TAG_try_block, 1, { 0 } },
		{ CATCH, DW_TAG_catch_block, 1, { 0 } },
		{ VARIABLE, DW_TAG_variable, 0, { 0 } },
		{ ORIGIN, DW_TAG_subprogram, 0, { DW_AT_name, DW_FORM_string } },
		{ CIRCLE, DW_TAG_namespace, 1, { DW_AT_sibling, DW_FORM_ref4 } },
		{ CIRCLE_BLOCK, DW_TAG_lexical_block, 1, { DW_AT_sibling, DW_FORM_ref4 } },
		{ SCATTERED, DW_TAG_subprogram, 0, { DW_AT_name, DW_FORM_string, DW_AT_ranges, DW_FORM_sec_offset } },
		{ COPIED, DW_TAG_inlined_subroutine, 0, { DW_AT_abstract_origin, DW_FORM_ref4, ADDRESSES } },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		put_number(b, all[i].number, 1);
		put_number(b, all[i].tag, 1);
		put_number(b, all[i].children, 1);
		for (const uint8_t *a = all[i].attributes; *a; a += 2)
			put(b, a, 2);
		put_number(b, 0, 2);
	}
	/* Its attribute's number needs two bytes. */
	put(b, (uint8_t[]){ LINKED, DW_TAG_subprogram, 1 }, 3);
	put_uleb(b, DW_AT_linkage_name);
	put(b, (uint8_t[]){ DW_FORM_string, DW_AT_name, DW_FORM_string, ADDRESSES, 0, 0 }, 9);
	put_number(b, 0, 1);
}

/* A file in the making: one after the other, units with their lines. */
struct made {
	struct bytes abbreviations, info, lines, ranges, rnglists, strings, line_strings;
	size_t unit, table;     /* where the open ones begin */
	bool five;              /* units are of DWARF 5, else of DWARF 4 */
};

static void begin_unit(struct made *m, const char *folder, uint64_t low, uint32_t size)
{
	m->unit = m->info.n;
	put_number(&m->info, 0, 4);
	put_number(&m->info, m->five ? 5 : 4, 2);
	if (m->five)
		put(&m->info, (uint8_t[]){ DW_UT_compile, 8 }, 2); /* bytes of an address */
	put_number(&m->info, 0, 4);
	if (!m->five)
		put_number(&m->info, 8, 1);
	put_number(&m->info, folder ? UNIT : UNIT_PLAIN, 1);
	if (folder)
		put_text(&m->info, folder);
	put_number(&m->info, m->lines.n, 4);
	put_number(&m->info, low, 8);
	put_number(&m->info, size, 4);
}

static void end_entry(struct made *m)
{
	put_number(&m->info, 0, 1);
}

static void end_unit(struct made *m)
{
	end_entry(m);
	m->info.v[m->unit] = (uint8_t)(m->info.n - m->unit - 4);
	m->info.v[m->unit + 1] = (uint8_t)((m->info.n - m->unit - 4) >> 8);
}

static void place(struct made *m, uint64_t low, uint32_t size)
{
	put_number(&m->info, low, 8);
	put_number(&m->info, size, 4);
}

static void begin(struct made *m, unsigned entry)
{
	put_number(&m->info, entry, 1);
}

static void begin_function(struct made *m, const char *name, uint64_t low, uint32_t size)
{
	begin(m, FUNCTION);
	put_text(&m->info, name);
	place(m, low, size);
}

static void begin_inlined(struct made *m, const char *name, uint64_t low, uint32_t size, uint64_t file, uint64_t line)
{
	begin(m, INLINED);
	put_text(&m->info, name);
	place(m, low, size);
	put_uleb(&m->info, file);
	put_uleb(&m->info, line);
}

/* A line table with two files: "a.c" in the unit's folder, "b.h" in its folder "inc". */
static void begin_lines(struct made *m)
{
	struct bytes *l = &m->lines;

	m->table = l->n;
	put_number(l, 0, 4);
	put_number(l, 4, 2);
	put_number(l, 41, 4);                                   /* bytes of the header from here on */
	put(l, (uint8_t[]){ 1, 1, 1, 0, 1, 10 }, 6);            /* lengths, is_stmt, base, range, opcodes */
	put(l, (uint8_t[]){ 0, 1, 1, 1, 1, 0, 0, 0, 1 }, 9);
	put_text(l, "inc");
	put_text(l, "/abs");
	put_number(l, 0, 1);
	put_text(l, "a.c");
	put_number(l, 0, 3);
	put_text(l, "b.h");
	put(l, (uint8_t[]){ 1, 0, 0, 0 }, 4);
	l->v[m->table + 6] = (uint8_t)(l->n - m->table - 10);
}

static void at_address(struct made *m, uint64_t address)
{
	put(&m->lines, (uint8_t[]){ 0, 9, DW_LNE_set_address }, 3);
	put_number(&m->lines, address, 8);
}

/* A row so many bytes and lines behind the one before. */
static void row(struct made *m, unsigned bytes, unsigned lines)
{
	put(&m->lines,
		(uint8_t[]){ DW_LNS_advance_pc, (uint8_t)bytes, DW_LNS_advance_line, (uint8_t)lines, DW_LNS_copy }, 5);
}

static void end_sequence(struct made *m, unsigned bytes)
{
	put(&m->lines, (uint8_t[]){ DW_LNS_advance_pc, (uint8_t)bytes, 0, 1, DW_LNE_end_sequence }, 5);
}

static void end_lines(struct made *m)
{
	m->lines.v[m->table] = (uint8_t)(m->lines.n - m->table - 4);
}

/* The ELF file of all that. */
static struct gus_elf *make_elf(const struct made *m)
{
	enum { SECTIONS = 9 };
	static const char names[] = "\0.debug_abbrev\0.debug_info\0.debug_line\0.debug_ranges\0.debug_rnglists\0"
		".debug_str\0.debug_line_str\0.shstrtab";
	const struct { const char *name; const void *from; size_t size; } sections[SECTIONS] = {
		{ "", NULL, 0 }, { ".debug_abbrev", m->abbreviations.v, m->abbreviations.n },
		{ ".debug_info", m->info.v, m->info.n }, { ".debug_line", m->lines.v, m->lines.n },
		{ ".debug_ranges", m->ranges.v, m->ranges.n }, { ".debug_rnglists", m->rnglists.v, m->rnglists.n },
		{ ".debug_str", m->strings.v, m->strings.n },
		{ ".debug_line_str", m->line_strings.v, m->line_strings.n },
		{ ".shstrtab", names, sizeof(names) } };
	static uint8_t file[SECTIONS * 65536];
	Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TEXT, .p_filesz = TEXT_SIZE,
		  .p_memsz = TEXT_SIZE },
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0, .p_filesz = TEXT, .p_memsz = TEXT } };
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(header), .e_ehsize = sizeof(header),
		.e_phentsize = sizeof(*segments), .e_phnum = 2, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS,
		.e_shstrndx = SECTIONS - 1 };
	size_t at = sizeof(header) + sizeof(segments), name = 0;
	Elf64_Shdr headers[SECTIONS] = { { 0 } };
	struct gus_elf *e;

	for (unsigned i = 1; i < SECTIONS; i++) {
		name += strlen(sections[i - 1].name) + 1;
		assert_string_equal(names + name, sections[i].name);
		headers[i] = (Elf64_Shdr){ .sh_name = (Elf64_Word)name, .sh_offset = at, .sh_size = sections[i].size,
			.sh_type = i == SECTIONS - 1 ? SHT_STRTAB : SHT_PROGBITS, .sh_addralign = 1 };
		assert_in_range(at + sections[i].size, 0, sizeof(file) - sizeof(headers) - 8);
		memcpy(file + at, sections[i].from, sections[i].size);
		at += sections[i].size;
	}
	at = (at + 7) & ~(size_t)7;
	header.e_shoff = at;
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), segments, sizeof(segments));
	memcpy(file + at, headers, sizeof(headers));
	e = gus_elf_copy("made", file, at + sizeof(headers), NULL);
	assert_non_null(e);
	return e;
}

struct opened {
	struct gus_elf *elf;
	struct gus_dwarf *dwarf;
};

static struct made *new_made(void)
{
	struct made *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	put_abbreviations(&m->abbreviations);
	return m;
}

static struct opened open_made(struct made *m)
{
	struct opened o = { .elf = make_elf(m) };

	free(m);
	o.dwarf = gus_dwarf_open(o.elf, o.elf, NULL);
	assert_non_null(o.dwarf);
	return o;
}

static void close_made(struct opened *o)
{
	gus_dwarf_close(o->dwarf);
	gus_elf_close(o->elf);
}

/* file NULL: nothing is known. */
static void expect_line(struct opened *o, uint64_t address, const char *file, uint32_t line)
{
	const char *found = NULL;
	uint32_t number = 99;

	if (gus_dwarf_line(o->dwarf, address, &found, &number) != (file != NULL))
		fail_msg("%#lx: %s", (unsigned long)address, file ? "nothing is known" : "something is known");
	if (!file)
		return;
	assert_string_equal(found, file);
	assert_int_equal(number, line);
}

/* calls: "name file:line" of each, innermost first; outer: the function. NULL where it is not known. */
static void expect_calls(struct opened *o, uint64_t address, const char *calls, const char *outer)
{
	struct gus_call found[8];
	const char *function = "?";
	size_t n = gus_dwarf_calls(o->dwarf, address, found, 8, &function), length = 0;
	char text[500] = "";

	for (size_t i = 0; i < n; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %s:%u", i ? ", " : "",
			found[i].name ? found[i].name : "-", found[i].file ? found[i].file : "-", found[i].line);
	if (strcmp(text, calls) != 0)
		fail_msg("%#lx: %s, not %s", (unsigned long)address, text, calls);
	if (outer)
		assert_string_equal(function, outer);
	else
		assert_null(function);
}

/* What has the same answer as address: [low, high). */
static void expect_extent(struct opened *o, uint64_t address, uint64_t low, uint64_t high)
{
	uint64_t from, to;

	assert_true(gus_dwarf_extent(o->dwarf, address, &from, &to));
	assert_int_equal(from, low);
	assert_int_equal(to, high);
}

/* Each edge is that of one thing alone: a row, an inlined call, a function, the unit. */
static void an_answer_holds_up_to_any_edge(void **state)
{
	struct made *m = new_made();
	struct opened o;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x100);
	begin_function(m, "f", TEXT + 0x10, 0x40);
	begin_inlined(m, "i", TEXT + 0x18, 0x10, 1, 7);
	end_entry(m);
	end_entry(m);
	end_unit(m);
	begin_lines(m);
	at_address(m, TEXT + 0x14);
	row(m, 0, 9);
	row(m, 0x20, 1);        /* at 0x34 */
	end_sequence(m, 0x8);   /* at 0x3c */
	end_lines(m);
	o = open_made(m);
	expect_extent(&o, TEXT - 1, 0, TEXT);
	expect_extent(&o, TEXT, TEXT, TEXT + 0x10);
	expect_extent(&o, TEXT + 0xf, TEXT, TEXT + 0x10);
	expect_extent(&o, TEXT + 0x10, TEXT + 0x10, TEXT + 0x14);
	expect_extent(&o, TEXT + 0x16, TEXT + 0x14, TEXT + 0x18);
	expect_extent(&o, TEXT + 0x18, TEXT + 0x18, TEXT + 0x28);
	expect_extent(&o, TEXT + 0x27, TEXT + 0x18, TEXT + 0x28);
	expect_extent(&o, TEXT + 0x28, TEXT + 0x28, TEXT + 0x34);
	expect_extent(&o, TEXT + 0x34, TEXT + 0x34, TEXT + 0x3c);
	expect_extent(&o, TEXT + 0x3c, TEXT + 0x3c, TEXT + 0x50);
	expect_extent(&o, TEXT + 0x50, TEXT + 0x50, TEXT + 0x100);
	expect_extent(&o, TEXT + 0x100, TEXT + 0x100, UINT64_MAX);
	close_made(&o);
}

static void rows_hold_up_to_the_next(void **state)
{
	struct made *m = new_made();
	struct opened o;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x100);
	end_unit(m);
	begin_lines(m);
	at_address(m, TEXT + 0x10);
	row(m, 0, 9);           /* line 10 */
	row(m, 4, 1);
	row(m, 0, 1);           /* 12, at the same address */
	put(&m->lines, (uint8_t[]){ DW_LNS_set_file, 2 }, 2);
	row(m, 4, 20);          /* line 32 of the other file */
	end_sequence(m, 8);
	at_address(m, TEXT + 0x20);
	put(&m->lines, (uint8_t[]){ DW_LNS_advance_line, 0x7f }, 2); /* line 0 */
	row(m, 0, 0);
	end_sequence(m, 4);
	end_lines(m);
	o = open_made(m);
	for (int again = 0; again < 2; again++) {
		expect_line(&o, TEXT + 0xf, NULL, 0);
		expect_line(&o, TEXT + 0x10, "/src/a.c", 10);
		expect_line(&o, TEXT + 0x13, "/src/a.c", 10);
		expect_line(&o, TEXT + 0x14, "/src/a.c", 12);
		expect_line(&o, TEXT + 0x17, "/src/a.c", 12);
		expect_line(&o, TEXT + 0x18, "/src/inc/b.h", 32);
		expect_line(&o, TEXT + 0x1f, "/src/inc/b.h", 32);
		expect_line(&o, TEXT + 0x20, "/src/a.c", 0);
		expect_line(&o, TEXT + 0x23, "/src/a.c", 0);
		expect_line(&o, TEXT + 0x24, NULL, 0);
		expect_line(&o, TEXT + 0x100, NULL, 0);
		expect_line(&o, TEXT - 1, NULL, 0);
	}
	close_made(&o);
}

/* A relative folder of the line table is one of the folder that the compiler ran in. */
static void paths_are_whole(void **state)
{
	static const struct { const char *folder, *path; } cases[] = {
		{ "/src", "/src/inc/b.h" }, { "/src/", "/src/inc/b.h" }, { "/", "/inc/b.h" }, { "", "inc/b.h" },
		  { NULL, "inc/b.h" },
		{ "rel", "rel/inc/b.h" },
	};
	struct made *m = new_made();
	struct opened o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin_unit(m, cases[i].folder, TEXT + 0x10 * i, 0x10);
		end_unit(m);
		begin_lines(m);
		at_address(m, TEXT + 0x10 * i);
		put(&m->lines, (uint8_t[]){ DW_LNS_set_file, 2 }, 2);
		row(m, 0, (unsigned)i);
		end_sequence(m, 0x10);
		end_lines(m);
	}
	o = open_made(m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_line(&o, TEXT + 0x10 * i + 5, cases[i].path, (uint32_t)i + 1);
	close_made(&o);
}

/* f [0, 0x80) has a(inlined) [0x10, 0x50) in a block, b [0x20, 0x30) in it, c [0x28, 0x2c) in that, and d [0x60, 0x70)
 * beside a. */
static void inlined_calls_nest(void **state)
{
	struct made *m = new_made();
	struct gus_call calls[3];
	struct opened o;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x100);
	begin_function(m, "f", TEXT, 0x80);
	begin(m, VARIABLE);
	begin(m, BLOCK);
	begin_inlined(m, "a", TEXT + 0x10, 0x40, 1, 7);
	begin_inlined(m, "b", TEXT + 0x20, 0x10, 2, 8);
	begin_inlined(m, "c", TEXT + 0x28, 4, 2, 9);
	end_entry(m);
	end_entry(m);
	end_entry(m);
	end_entry(m);
	begin_inlined(m, "d", TEXT + 0x60, 0x10, 1, 10);
	end_entry(m);
	end_entry(m);
	begin_function(m, "g", TEXT + 0x80, 0x10);
	end_entry(m);
	end_unit(m);
	begin_lines(m);
	end_lines(m);
	o = open_made(m);
	for (int again = 0; again < 2; again++) {
		expect_calls(&o, TEXT, "", "f");
		expect_calls(&o, TEXT + 0xf, "", "f");
		expect_calls(&o, TEXT + 0x10, "a /src/a.c:7", "f");
		expect_calls(&o, TEXT + 0x20, "b /src/inc/b.h:8, a /src/a.c:7", "f");
		expect_calls(&o, TEXT + 0x28, "c /src/inc/b.h:9, b /src/inc/b.h:8, a /src/a.c:7", "f");
		expect_calls(&o, TEXT + 0x2c, "b /src/inc/b.h:8, a /src/a.c:7", "f");
		expect_calls(&o, TEXT + 0x4f, "a /src/a.c:7", "f");
		expect_calls(&o, TEXT + 0x50, "", "f");
		expect_calls(&o, TEXT + 0x60, "d /src/a.c:10", "f");
		expect_calls(&o, TEXT + 0x80, "", "g");
		expect_calls(&o, TEXT + 0x90, "", NULL);
		expect_calls(&o, TEXT + 0x100, "", NULL);
	}
	/* No more than there is room for, and the outer name only if it is asked for. */
	memset(calls, 0, sizeof(calls));
	assert_int_equal(gus_dwarf_calls(o.dwarf, TEXT + 0x28, calls, 2, NULL), 2);
	assert_string_equal(calls[1].name, "b");
	assert_null(calls[2].name);
	close_made(&o);
}

/* What a call does not say, or says wrongly, is not known: its name, a file that is not in the table, a line that is
 * none. */
static void calls_may_be_unknown(void **state)
{
	struct made *m = new_made();
	size_t origin;
	struct opened o;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x100);
	origin = m->info.n - m->unit;
	begin(m, ORIGIN);
	put_text(&m->info, "somewhere");
	begin_function(m, "f", TEXT, 0x80);
	begin(m, NAMELESS);
	place(m, TEXT + 0x10, 4);
	end_entry(m);
	begin_inlined(m, "no_file", TEXT + 0x20, 4, 3, 5);
	end_entry(m);
	begin_inlined(m, "long", TEXT + 0x30, 4, 2, UINT32_MAX);
	end_entry(m);
	begin_inlined(m, "too_long", TEXT + 0x40, 4, 2, UINT32_MAX + 6ull);
	end_entry(m);
	begin(m, COPIED);
	put_number(&m->info, origin, 4);
	place(m, TEXT + 0x50, 4);
	begin_inlined(m, "", TEXT + 0x60, 4, 1, 5);
	end_entry(m);
	/* Without code there is nothing in it either. */
	begin(m, NOWHERE);
	put_text(&m->info, "nowhere");
	begin_inlined(m, "within", TEXT + 0x70, 4, 1, 6);
	end_entry(m);
	end_entry(m);
	begin_inlined(m, "behind", TEXT + 0x74, 4, 1, 7);
	end_entry(m);
	end_entry(m);
	end_unit(m);
	begin_lines(m);
	end_lines(m);
	o = open_made(m);
	expect_calls(&o, TEXT + 0x10, "- -:0", "f");
	expect_calls(&o, TEXT + 0x20, "no_file -:5", "f");
	expect_calls(&o, TEXT + 0x30, "long /src/inc/b.h:4294967295", "f");
	expect_calls(&o, TEXT + 0x40, "too_long /src/inc/b.h:0", "f");
	expect_calls(&o, TEXT + 0x50, "somewhere -:0", "f");
	expect_calls(&o, TEXT + 0x60, "- /src/a.c:5", "f");
	expect_calls(&o, TEXT + 0x70, "", "f");
	expect_calls(&o, TEXT + 0x74, "behind /src/a.c:7", "f");
	close_made(&o);
}

/* Functions stand in units, namespaces and classes; within each other they are looked for when nothing else is
 * found. */
static void functions_are_found_where_they_stand(void **state)
{
	struct made *m = new_made();
	struct opened o;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x100);
	begin(m, VARIABLE);
	begin(m, NAMESPACE);
	begin(m, CLASS);
	begin_function(m, "method", TEXT, 0x10);
	end_entry(m);
	end_entry(m);
	begin(m, LINKED);
	put_text(&m->info, "_Z5plain");
	put_text(&m->info, "plain");
	place(m, TEXT + 0x10, 0x10);
	end_entry(m);
	end_entry(m);
	begin_function(m, "around", TEXT + 0x20, 0x10);
	begin(m, BLOCK);
	begin_function(m, "nested", TEXT + 0x30, 0x10);
	begin_inlined(m, "a", TEXT + 0x38, 4, 1, 7);
	end_entry(m);
	end_entry(m);
	end_entry(m);
	begin_inlined(m, "b", TEXT + 0x28, 4, 1, 8);
	end_entry(m);
	end_entry(m);
	end_unit(m);
	begin_lines(m);
	end_lines(m);
	o = open_made(m);
	expect_calls(&o, TEXT, "", "method");
	expect_calls(&o, TEXT + 0x10, "", "_Z5plain");
	expect_calls(&o, TEXT + 0x20, "", "around");
	expect_calls(&o, TEXT + 0x28, "b /src/a.c:8", "around");
	expect_calls(&o, TEXT + 0x30, "", "nested");
	expect_calls(&o, TEXT + 0x38, "a /src/a.c:7", "nested");
	/* And what was known before is known again. */
	expect_calls(&o, TEXT + 0x28, "b /src/a.c:8", "around");
	expect_calls(&o, TEXT, "", "method");
	expect_calls(&o, TEXT + 0x40, "", NULL);
	close_made(&o);
}

/* Of functions with common code the innermost is named, whatever it stands in; and inlined calls stand in any block. */
static void all_sorts_of_parents(void **state)
{
	static const unsigned parents[] = { NAMESPACE, CLASS, STRUCTURE, UNION, ENUMERATION, MODULE };
	static const unsigned blocks[] = { BLOCK, TRY, CATCH };

	(void)state;
	for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++) {
		struct made *m = new_made();
		struct opened o;

		begin_unit(m, "/src", TEXT, 0x100);
		begin_function(m, "large", TEXT, 0x80);
		begin(m, blocks[i % 3]);
		begin_inlined(m, "a", TEXT + 0x40, 4, 1, 7);
		end_entry(m);
		end_entry(m);
		/* A variable's description is no block of the function. */
		begin(m, CLASS);
		begin_inlined(m, "b", TEXT + 0x50, 4, 1, 7);
		end_entry(m);
		end_entry(m);
		end_entry(m);
		begin(m, parents[i]);
		begin_function(m, "small", TEXT + 0x10, 0x10);
		end_entry(m);
		end_entry(m);
		end_unit(m);
		begin_lines(m);
		end_lines(m);
		o = open_made(m);
		expect_calls(&o, TEXT + 0x0f, "", "large");
		expect_calls(&o, TEXT + 0x10, "", "small");
		expect_calls(&o, TEXT + 0x40, "a /src/a.c:7", "large");
		expect_calls(&o, TEXT + 0x50, "", "large");
		close_made(&o);
	}
}

/* Four hundred levels; what is deeper is not looked at. */
static void nesting_has_an_end(void **state)
{
	enum { LEVELS = 400 };

	(void)state;
	for (unsigned levels = LEVELS; levels <= LEVELS + 1; levels++) {
		struct made *m = new_made();
		struct opened o;

		begin_unit(m, "/src", TEXT, 0x100);
		for (unsigned i = 0; i < levels; i++)
			begin(m, NAMESPACE);
		begin_function(m, "deep", TEXT, 0x10);
		end_entry(m);
		for (unsigned i = 0; i < levels; i++)
			end_entry(m);
		begin_function(m, "f", TEXT + 0x20, 0x10);
		for (unsigned i = 0; i < levels; i++)
			begin(m, BLOCK);
		begin_inlined(m, "a", TEXT + 0x20, 4, 1, 7);
		end_entry(m);
		for (unsigned i = 0; i < levels; i++)
			end_entry(m);
		end_entry(m);
		end_unit(m);
		begin_lines(m);
		end_lines(m);
		o = open_made(m);
		expect_calls(&o, TEXT, "", levels == LEVELS ? "deep" : NULL);
		expect_calls(&o, TEXT + 0x20, levels == LEVELS ? "a /src/a.c:7" : "", "f");
		if (levels == LEVELS)
			assert_null(o.elf->trouble);
		else
			assert_string_equal(o.elf->trouble, "its debug information nests deeper than any compiler's");
		close_made(&o);
	}
}

/* What the linker has thrown away is said to be at 0, or at the end of all addresses: there is no code. */
static void what_was_thrown_away_is_nowhere(void **state)
{
	struct made *m = new_made();
	struct opened o;

	(void)state;
	begin_unit(m, "/gone", 0, TEXT);
	begin_function(m, "gone", 0, 0x10);
	end_entry(m);
	end_unit(m);
	begin_unit(m, "/src", TEXT, TEXT_SIZE);
	begin_function(m, "gone", 0, TEXT_SIZE + TEXT);
	end_entry(m);
	begin_function(m, "there", TEXT + TEXT_SIZE - 1, 1);
	end_entry(m);
	end_unit(m);
	begin_lines(m);
	at_address(m, TEXT);
	row(m, 0, 4);
	end_sequence(m, 0x10);
	end_lines(m);
	o = open_made(m);
	expect_calls(&o, 0, "", NULL);
	expect_line(&o, 0, NULL, 0);
	expect_calls(&o, TEXT, "", NULL);
	expect_calls(&o, TEXT + TEXT_SIZE - 1, "", "there");
	expect_line(&o, TEXT, "/src/a.c", 5);
	close_made(&o);
}

/* What files ask for that mean harm; a test that hangs is ended by its alarm. */

/* An entry that says that its next one is its own first child. */
static void begin_circle(struct made *m, unsigned entry)
{
	begin(m, entry);
	put_number(&m->info, m->info.n + 4 - m->unit, 4);
}

/* 2^80 ways through 160 entries: 16 kB, and a report never ended. */
static void every_entry_is_met_once(void **state)
{
	enum { LEVELS = 80 };
	struct made *m = new_made();
	struct opened o;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x100);
	for (unsigned i = 0; i < LEVELS; i++)
		begin_circle(m, CIRCLE);
	begin_function(m, "deep", TEXT, 0x10);
	for (unsigned i = 0; i < LEVELS; i++)
		begin_circle(m, CIRCLE_BLOCK);
	begin_inlined(m, "a", TEXT + 4, 4, 1, 7);
	end_entry(m);
	for (unsigned i = 0; i < 2 * LEVELS + 1; i++)
		end_entry(m);
	end_unit(m);
	begin_lines(m);
	end_lines(m);
	o = open_made(m);
	alarm(10);
	expect_calls(&o, TEXT, "", "deep");
	expect_calls(&o, TEXT + 4, "a /src/a.c:7", "deep");
	expect_calls(&o, TEXT + 0x20, "", NULL);
	alarm(0);
	assert_null(o.elf->trouble);
	close_made(&o);
}

/* Each function says that its next one is its first child, and so has all that follow for children: that they are met
 * for one does not keep them from being met for another. 4,000 of them would be 8 million; the budget lets 1 million
 * bytes and 32 for each of the file's be passed. */
static void walks_through_the_same_entries_have_a_budget(void **state)
{
	enum { FUNCTIONS = 4000 };
	struct made *m = new_made();
	struct opened o;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x1000);
	m->abbreviations.n--;
	put(&m->abbreviations, (uint8_t[]){ WIDE, DW_TAG_subprogram, 1, DW_AT_sibling, DW_FORM_ref2, DW_AT_low_pc,
		DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, 0, 0, 0 }, 12);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		begin(m, WIDE);
		put_number(&m->info, m->info.n + 11 - m->unit, 2);
		put_number(&m->info, TEXT + i, 8);
		put_number(&m->info, 1, 1);
	}
	end_unit(m);
	begin_lines(m);
	end_lines(m);
	o = open_made(m);
	alarm(10);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		gus_dwarf_calls(o.dwarf, TEXT + i, (struct gus_call[8]){ { 0 } }, 8, NULL);
	alarm(0);
	assert_string_equal(o.elf->trouble, "its debug information asks for more work than a file of its size may");
	close_made(&o);
}

static void an_abbreviation_may_have_so_many_attributes(void **state)
{
	(void)state;
	for (unsigned n = 256; n <= 257; n++) {
		struct made *m = new_made();
		struct gus_dwarf *d;
		struct gus_elf *e;

		m->abbreviations.n--;
		put(&m->abbreviations, (uint8_t[]){ WIDE, DW_TAG_variable, 0 }, 3);
		for (unsigned i = 0; i < n; i++)
			put(&m->abbreviations, (uint8_t[]){ DW_AT_declaration, DW_FORM_flag_present }, 2);
		put_number(&m->abbreviations, 0, 3);
		begin_unit(m, "/src", TEXT, 0x100);
		end_unit(m);
		begin_lines(m);
		end_lines(m);
		e = make_elf(m);
		free(m);
		d = gus_dwarf_open(e, e, NULL);
		assert_int_equal(d != NULL, n == 256);
		assert_int_equal(e->trouble == NULL, n == 256);
		gus_dwarf_close(d);
		gus_elf_close(e);
	}
}

/* A list of 1,000 ranges that is each function's: 1,500 times that are 96 MB. */
static void shared_lists_of_ranges_have_a_budget(void **state)
{
	struct made *m = new_made();
	struct opened o;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		put_number(&m->ranges, i, 8);
		put_number(&m->ranges, i + 1, 8);
	}
	put_number(&m->ranges, 0, 8);
	put_number(&m->ranges, 0, 8);
	begin_unit(m, "/src", TEXT, 0x1000);
	for (unsigned i = 0; i < 1500; i++) {
		begin(m, SCATTERED);
		put_text(&m->info, "f");
		put_number(&m->info, 0, 4);
	}
	end_unit(m);
	begin_lines(m);
	end_lines(m);
	o = open_made(m);
	expect_calls(&o, TEXT + 500, "", "f");
	assert_string_equal(o.elf->trouble, "its debug information has too many ranges");
	close_made(&o);
}

/* What cannot be paid for is not looked at: a list that is longer than what is left takes all of that, and those of the
 * thousands of entries behind it take nothing. */
static void a_refused_list_of_ranges_is_paid_for(void **state)
{
	struct made *m = new_made();
	struct opened o;

	(void)state;
	for (unsigned i = 0; i < 4000; i++) {
		put_number(&m->ranges, 1, 8);
		put_number(&m->ranges, 2, 8);
	}
	begin_unit(m, "/src", TEXT, 0x1000);
	for (unsigned i = 0; i < 300; i++) {
		begin(m, SCATTERED);
		put_text(&m->info, "f");
		put_number(&m->info, 0, 4);
	}
	end_unit(m);
	begin_lines(m);
	end_lines(m);
	o = open_made(m);
	expect_calls(&o, TEXT + 500, "", NULL);
	assert_string_equal(o.elf->trouble, "its debug information has too many ranges");
	assert_true(o.elf->work.left < 16);
	close_made(&o);
}

/* A table of one directory and many files in it, each of whose names libdw joins with the directory's. */
static struct opened open_files(unsigned letters, unsigned files, const uint8_t *program, size_t size)
{
	struct made *m = new_made();
	struct bytes *l = &m->lines;

	begin_unit(m, NULL, TEXT, 0x100);
	end_unit(m);
	put_number(l, 0, 4);
	put_number(l, 4, 2);
	put_number(l, 6 + 9 + letters + 2 + 5 * files + 1, 4);
	put(l, (uint8_t[]){ 1, 1, 1, 0, 1, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1 }, 15);
	for (unsigned i = 0; i < letters; i++)
		put_number(l, 'd', 1);
	put_number(l, 0, 2);
	for (unsigned i = 0; i < files; i++)
		put(l, (uint8_t[]){ 'f', 0, 1, 0, 0 }, 5);
	put_number(l, 0, 1);
	put(l, (uint8_t[]){ 0, 9, DW_LNE_set_address, 0, TEXT >> 8, 0, 0, 0, 0, 0, 0, DW_LNS_copy }, 12);
	put(l, program, size);
	put(l, (uint8_t[]){ DW_LNS_advance_pc, 8, 0, 1, DW_LNE_end_sequence }, 5);
	l->n -= 4;
	memcpy(l->v, &(uint32_t){ (uint32_t)l->n }, 4);
	l->n += 4;
	return open_made(m);
}

/* 30,000 letters, 5,000 times, would be 150 MB. */
static void joined_names_have_a_budget(void **state)
{
	struct opened o = open_files(3000, 5, NULL, 0);
	const char *file = NULL;
	uint32_t line;

	(void)state;
	assert_true(gus_dwarf_line(o.dwarf, TEXT, &file, &line));
	assert_int_equal(strlen(file), 3000 + 2);
	assert_null(o.elf->trouble);
	close_made(&o);

	o = open_files(30000, 5000, NULL, 0);
	expect_line(&o, TEXT, NULL, 0);
	assert_string_equal(o.elf->trouble, "its debug information asks for more memory than a file of its size may");
	close_made(&o);
}

/* libdw passes over an operation that it knows by what the operation has, and over others by the size that is said. A
 * size that hides what follows is not believed. */
static void operations_have_the_size_that_they_say(void **state)
{
	static const struct { uint8_t size, bytes[12]; bool good; } cases[] = {
		{ 5, { DW_LNS_advance_pc, 4, 0, 1, DW_LNE_end_sequence }, true },
		{ 7, { DW_LNS_advance_pc, 4, 0, 3, DW_LNE_end_sequence, 0, 0 }, false },
		{ 4, { 0, 2, DW_LNE_set_discriminator, 9 }, true },
		{ 5, { 0, 3, DW_LNE_set_discriminator, 9, 9 }, false },
		{ 8, { 0, 6, DW_LNE_define_file, 'x', 0, 1, 0, 0 }, true },
		{ 9, { 0, 7, DW_LNE_define_file, 'x', 0, 1, 0, 0, 0 }, false },
		{ 5, { 0, 3, DW_LNE_lo_user + 1, 7, 7 }, true },
		{ 11, { 0, 9, DW_LNE_set_address, 0, TEXT >> 8, 0, 0, 0, 0, 0, 0 }, true },
		{ 10, { 0, 8, DW_LNE_set_address, 0, TEXT >> 8, 0, 0, 0, 0, 0 }, false },
		{ 3, { DW_LNS_fixed_advance_pc, 1, 0 }, true },
		{ 4, { DW_LNS_const_add_pc, DW_LNS_negate_stmt, DW_LNS_set_file, 1 }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct opened o = open_files(3, 1, cases[i].bytes, cases[i].size);
		const char *file = NULL;
		uint32_t line;

		if (gus_dwarf_line(o.dwarf, TEXT, &file, &line) != cases[i].good)
			fail_msg("case %zu: %s", i, file ? file : "nothing");
		close_made(&o);
	}
}

/* A table of version 5 whose one file has, beside its name, a value of that form; its bytes look like opcodes that a
 * reader who loses its place would take for rows with lying sizes. */
static void values_of_every_form_are_passed_over(void **state)
{
	static const struct { uint8_t form, size, bytes[20]; } cases[] = {
		{ DW_FORM_udata, 2, { 0x80, 1 } }, { DW_FORM_data1, 1, { 0 } }, { DW_FORM_data2, 2, { 0 } },
		{ DW_FORM_data4, 4, { 0 } }, { DW_FORM_data8, 8, { 0 } }, { DW_FORM_data16, 16, { 0 } },
		{ DW_FORM_block, 4, { 3, 0, 0, 0 } }, { DW_FORM_block1, 3, { 2, 0, 0 } },
		{ DW_FORM_block2, 4, { 2, 0, 0, 0 } }, { DW_FORM_block4, 6, { 2, 0, 0, 0, 0, 0 } },
		{ DW_FORM_string, 2, { 'x', 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made *m = new_made();
		struct bytes *l = &m->lines;
		struct opened o;

		begin_unit(m, "/src", TEXT, 0x100);
		end_unit(m);
		put_number(l, 0, 4);
		put(l, (uint8_t[]){ 5, 0, 8, 0 }, 4);
		put_number(l, 0, 4);
		put(l, (uint8_t[]){ 1, 1, 1, 0, 1, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1 }, 15);
		put(l, (uint8_t[]){ 1, DW_LNCT_path, DW_FORM_string, 1, '/', 'd', 0 }, 7);
		put(l, (uint8_t[]){ 3, DW_LNCT_path, DW_FORM_string, DW_LNCT_directory_index, DW_FORM_data1,
			DW_LNCT_size, cases[i].form, 2 }, 8);
		for (int k = 0; k < 2; k++) {
			put(l, (uint8_t[]){ 'f', 0, 0 }, 3);
			put(l, cases[i].bytes, cases[i].size);
		}
		memcpy(l->v + 8, &(uint32_t){ (uint32_t)l->n - 12 }, 4);
		put(l, (uint8_t[]){ 0, 9, DW_LNE_set_address, 0, TEXT >> 8, 0, 0, 0, 0, 0, 0, DW_LNS_copy }, 12);
		put(l, (uint8_t[]){ DW_LNS_advance_pc, 8, 0, 1, DW_LNE_end_sequence }, 5);
		memcpy(l->v, &(uint32_t){ (uint32_t)l->n - 4 }, 4);
		o = open_made(m);
		expect_line(&o, TEXT, "/d/f", 1);
		close_made(&o);
	}
}

/* What a question takes of the file's budgets before libdw is asked (symbolizer/elf/vet_lists.c). */
struct cost { uint64_t work, made; };

static struct cost cost_of_line(struct opened *o)
{
	struct gus_elf before = *o->elf;
	const char *file;
	uint32_t line;

	gus_dwarf_line(o->dwarf, TEXT, &file, &line);
	return (struct cost){ before.work.left - o->elf->work.left, before.made.left - o->elf->made.left };
}

static uint64_t work_of_function(struct opened *o)
{
	uint64_t before = o->elf->work.left;

	gus_dwarf_calls(o->dwarf, TEXT, (struct gus_call[8]){ { 0 } }, 8, NULL);
	return before - o->elf->work.left;
}

/* A function whose list of ranges begins there, in the sections that `m` has; the one that is asked for is another. */
static uint64_t work_of_list(const struct made *sections, uint32_t at)
{
	struct made *m = new_made();
	struct opened o;
	uint64_t work;

	m->five = sections->five;
	m->ranges = sections->ranges;
	m->rnglists = sections->rnglists;
	begin_unit(m, "/src", TEXT, 0x1000);
	begin_function(m, "asked", TEXT, 1);
	end_entry(m);
	begin(m, SCATTERED);
	put_text(&m->info, "f");
	put_number(&m->info, at, 4);
	end_unit(m);
	begin_lines(m);
	end_lines(m);
	o = open_made(m);
	work = work_of_function(&o);
	close_made(&o);
	return work;
}

/* Its bytes up to its end, which is a zero that is no operand; of kinds that nobody knows only their own byte. */
static void a_list_of_ranges_costs_its_bytes(void **state)
{
	static const struct { uint8_t size, bytes[40]; } lists[] = {
		{ 1, { DW_RLE_end_of_list } },
		{ 6, { DW_RLE_offset_pair, 0x80, 0, 0x90, 0 } },
		{ 4, { DW_RLE_base_addressx, 0x80, 0 } },
		{ 6, { DW_RLE_startx_endx, 0x80, 0, 0x80, 0 } },
		{ 6, { DW_RLE_startx_length, 0x80, 0, 0x80, 0 } },
		{ 10, { DW_RLE_base_address, 0 } },
		{ 18, { DW_RLE_start_end, 0 } },
		{ 12, { DW_RLE_start_length, 0, 0, 0, 0, 0, 0, 0, 0, 0x90, 0 } },
		{ 11, { DW_RLE_offset_pair, 1, 2, DW_RLE_offset_pair, 3, 4, DW_RLE_base_addressx, 5,
			DW_RLE_base_addressx, 0 } },
		{ 1, { DW_RLE_start_length + 1, 7, 7 } },
		{ 5, { DW_RLE_offset_pair, 9, 9, DW_RLE_base_addressx, 9 } }, /* the last, whose end is the section's */
	};
	struct made *m = new_made();
	uint64_t nothing;

	(void)state;
	m->five = true;
	for (size_t i = 0; i + 1 < sizeof(lists) / sizeof(*lists); i++)
		put(&m->rnglists, lists[i].bytes, sizeof(lists[i].bytes));
	put(&m->rnglists, lists[10].bytes, 5);
	nothing = work_of_list(m, (uint32_t)m->rnglists.n); /* behind the section: it is not looked at */
	for (uint32_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		uint64_t work = work_of_list(m, i * (uint32_t)sizeof(lists->bytes)) - nothing;

		if (work != lists[i].size)
			fail_msg("list %u: %d", i, (int)work);
	}
	assert_int_equal(work_of_list(m, (uint32_t)m->rnglists.n - 1) - nothing, 1);
	m->rnglists.n = 0;
	assert_int_equal(work_of_list(m, 0), nothing);
	/* Before version 5 pairs of addresses, up to one of two zeros or the end of the section. */
	m->five = false;
	for (uint64_t word = 0; word < 8; word++)
		put_number(&m->ranges, (uint64_t[]){ 0, 5, 5, 0, 5, 5, 0, 0 }[word], 8);
	nothing = work_of_list(m, (uint32_t)m->ranges.n);
	assert_int_equal(work_of_list(m, 0) - nothing, 4 * 16);
	assert_int_equal(work_of_list(m, 48) - nothing, 16);
	m->ranges.n -= 16;
	assert_int_equal(work_of_list(m, 32) - nothing, 2 * 16);
	free(m);
}

enum { ROW = 160, NAMED = 96 }; /* what a row, and a file or a folder beside its letters, are taken to need in memory */

/* The unit's folder and its two have 4, 3 and 4 letters; each file is joined with one of them. The table costs its
 * bytes, without the four that say how many. */
static void a_line_table_costs_its_rows_and_names(void **state)
{
	struct made *m = new_made();
	struct opened o;
	struct cost cost;
	uint64_t bytes;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x100);
	end_unit(m);
	begin_lines(m);
	at_address(m, TEXT);
	row(m, 4, 2);
	row(m, 10, 10);
	end_sequence(m, 4);
	end_lines(m);
	bytes = m->lines.n - 4;
	o = open_made(m);
	cost = cost_of_line(&o);
	assert_int_equal(cost.work, bytes);
	assert_int_equal(cost.made, 3 * NAMED + 2 * (NAMED + 4 + 3) + 3 * ROW);
	cost = cost_of_line(&o);
	assert_int_equal(cost.work + cost.made, 0); /* once */
	close_made(&o);
}

/* Operations beside a row and the end of a sequence, in a table whose opcodes up to 9 are known by their operands. */
static void which_operations_are_rows(void **state)
{
	enum { PLAIN = 2 * NAMED + NAMED + 3 + 1 + 2 * ROW };
	static const struct { uint8_t size, bytes[12]; unsigned more; } cases[] = {
		{ 0, { 0 }, 0 }, { 1, { DW_LNS_copy }, ROW }, { 2, { 10, 255 }, 2 * ROW },
		{ 3, { DW_LNS_advance_pc, 0x8a, 10 }, 0 }, { 2, { DW_LNS_set_column, 10 }, 0 },
		{ 3, { DW_LNS_fixed_advance_pc, 10, 10 }, 0 }, { 2, { DW_LNS_negate_stmt, DW_LNS_const_add_pc }, 0 },
		{ 3, { 0, 1, DW_LNE_end_sequence }, ROW },
		{ 8, { 0, 6, DW_LNE_define_file, 'x', 0, 10, 10, 10 }, NAMED + 3 + 1 },
		{ 9, { 0, 7, DW_LNE_define_file, 'x', 'y', 0, 10, 10, 10 }, NAMED + 3 + 2 },
		{ 4, { 0, 2, DW_LNE_set_discriminator, 10 }, 0 }, { 5, { 0, 3, DW_LNE_lo_user + 1, 10, 10 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct opened o = open_files(3, 1, cases[i].bytes, cases[i].size);
		struct cost cost = cost_of_line(&o);

		if (cost.made != PLAIN + cases[i].more)
			fail_msg("case %zu: %d", i, (int)cost.made);
		close_made(&o);
	}
}

/* A table whose first opcode that is a row by itself is 0: all of them are, and no operands are told of. */
static void all_opcodes_may_be_rows(void **state)
{
	struct made *m = new_made();
	struct bytes *l = &m->lines;
	struct opened o;

	(void)state;
	begin_unit(m, "/src", TEXT, 0x100);
	end_unit(m);
	put(l, (uint8_t[]){ 17, 0, 0, 0, 4, 0, 8, 0, 0, 0 }, 10);
	put(l, (uint8_t[]){ 1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1 }, 11); /* no folders, no files, three opcodes */
	o = open_made(m);
	assert_int_equal(cost_of_line(&o).made, NAMED + 3 * ROW);
	close_made(&o);
}

/* A table of version 5 without a program: one folder, "/d", and files of which each has one value, its name, of that
 * form. Of its work that which is not its own bytes. */
static struct cost cost_of_files(uint8_t forms, uint8_t form, uint8_t files, const void *values, size_t size)
{
	struct made *m = new_made();
	struct bytes *l = &m->lines;
	struct opened o;
	struct cost cost;
	uint64_t bytes;

	begin_unit(m, "/src", TEXT, 0x100);
	end_unit(m);
	put_text(&m->strings, "0123456789");
	put_text(&m->line_strings, "01234");
	put_number(l, 0, 4);
	put(l, (uint8_t[]){ 5, 0, 8, 0 }, 4);
	put_number(l, 0, 4);
	put(l, (uint8_t[]){ 1, 1, 1, 0, 1, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1 }, 15);
	put(l, (uint8_t[]){ 1, DW_LNCT_path, DW_FORM_string, 1, '/', 'd', 0 }, 7);
	put(l, (uint8_t[]){ forms, DW_LNCT_path, form }, forms ? 3 : 1);
	put_number(l, files, 1);
	put(l, values, size);
	memcpy(l->v + 8, &(uint32_t){ (uint32_t)l->n - 12 }, 4);
	memcpy(l->v, &(uint32_t){ (uint32_t)l->n - 4 }, 4);
	bytes = l->n - 4;
	o = open_made(m);
	cost = cost_of_line(&o);
	cost.work -= bytes;
	close_made(&o);
	return cost;
}

/* Letters of names that lie elsewhere are looked at, and so they are work; what does not fit into the table, or is no
 * form of line tables, makes it none. */
static void names_cost_their_letters(void **state)
{
	enum { REFUSED = -1 };
	static const struct { uint8_t form, size, values[20]; int letters; unsigned far; } cases[] = {
		{ DW_FORM_string, 3, { 'a', 'b', 0 }, 2, 0 }, { DW_FORM_string, 2, { 'a', 'b' }, REFUSED, 0 },
		{ DW_FORM_line_strp, 4, { 1 }, 4, 4 }, { DW_FORM_line_strp, 4, { 5 }, 0, 0 },
		{ DW_FORM_line_strp, 4, { 6 }, 0, 0 }, { DW_FORM_line_strp, 4, { 0, 1 }, 0, 0 },
		{ DW_FORM_strp, 4, { 3 }, 7, 7 }, { DW_FORM_strp, 3, { 3 }, REFUSED, 10 },
		{ DW_FORM_udata, 2, { 0x80, 1 }, 0, 0 }, { DW_FORM_data1, 1, { 7 }, 0, 0 },
		{ DW_FORM_data2, 2, { 7 }, 0, 0 }, { DW_FORM_data2, 1, { 7 }, REFUSED, 0 },
		{ DW_FORM_data4, 4, { 7 }, 0, 0 }, { DW_FORM_data4, 3, { 7 }, REFUSED, 0 },
		{ DW_FORM_data8, 8, { 7 }, 0, 0 }, { DW_FORM_data8, 7, { 7 }, REFUSED, 0 },
		{ DW_FORM_data16, 16, { 7 }, 0, 0 }, { DW_FORM_data16, 15, { 7 }, REFUSED, 0 },
		{ DW_FORM_block, 4, { 3, 7, 7, 7 }, 0, 0 }, { DW_FORM_block, 4, { 4, 7, 7, 7 }, REFUSED, 0 },
		{ DW_FORM_block1, 3, { 2, 7, 7 }, 0, 0 }, { DW_FORM_block1, 3, { 3, 7, 7 }, REFUSED, 0 },
		{ DW_FORM_block2, 3, { 1, 0, 7 }, 0, 0 }, { DW_FORM_block2, 3, { 2, 0, 7 }, REFUSED, 0 },
		{ DW_FORM_block4, 5, { 1, 0, 0, 0, 7 }, 0, 0 }, { DW_FORM_block4, 5, { 2, 0, 0, 0, 7 }, REFUSED, 0 },
		{ DW_FORM_addr, 8, { 1, 1, 1, 1, 1, 1, 1, 1 }, REFUSED, 0 },
	};
	const uint64_t folders = 2 * NAMED;
	struct cost cost;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int letters = cases[i].letters;

		cost = cost_of_files(1, cases[i].form, 1, cases[i].values, cases[i].size);
		if (cost.work != cases[i].far ||
		    cost.made != (letters < 0 ? 0 : folders + NAMED + 4 + (unsigned)letters))
			fail_msg("case %zu: work %d, memory %d", i, (int)cost.work, (int)cost.made);
	}
	assert_int_equal(cost_of_files(1, DW_FORM_string, 2, "a\0bc", 5).made, folders + 2 * (NAMED + 4) + 3);
	assert_int_equal(cost_of_files(0, 0, 0, NULL, 0).made, folders);
	assert_int_equal(cost_of_files(0, 0, 1, "a", 2).made, 0); /* files without anything would be for nothing */
	assert_int_equal(cost_of_files(1, DW_FORM_string, 2, "", 1).made, 0);
	assert_int_equal(cost_of_files(1, DW_FORM_string, 2, "\0", 2).made, folders + 2 * (NAMED + 4));
}

static void nothing_to_read(void **state)
{
	struct made *m = calloc(1, sizeof(*m));
	struct gus_elf *e;

	(void)state;
	assert_non_null(m);
	e = make_elf(m);
	free(m);
	assert_null(gus_dwarf_open(e, e, NULL));
	gus_elf_close(e);
	gus_dwarf_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_holds_up_to_any_edge),
		cmocka_unit_test(rows_hold_up_to_the_next),
		cmocka_unit_test(paths_are_whole),
		cmocka_unit_test(inlined_calls_nest),
		cmocka_unit_test(calls_may_be_unknown),
		cmocka_unit_test(functions_are_found_where_they_stand),
		cmocka_unit_test(all_sorts_of_parents),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(what_was_thrown_away_is_nowhere),
		cmocka_unit_test(every_entry_is_met_once),
		cmocka_unit_test(walks_through_the_same_entries_have_a_budget),
		cmocka_unit_test(an_abbreviation_may_have_so_many_attributes),
		cmocka_unit_test(shared_lists_of_ranges_have_a_budget),
		cmocka_unit_test(a_refused_list_of_ranges_is_paid_for),
		cmocka_unit_test(joined_names_have_a_budget),
		cmocka_unit_test(operations_have_the_size_that_they_say),
		cmocka_unit_test(values_of_every_form_are_passed_over),
		cmocka_unit_test(a_list_of_ranges_costs_its_bytes),
		cmocka_unit_test(a_line_table_costs_its_rows_and_names),
		cmocka_unit_test(which_operations_are_rows),
		cmocka_unit_test(all_opcodes_may_be_rows),
		cmocka_unit_test(names_cost_their_letters),
		cmocka_unit_test(nothing_to_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
