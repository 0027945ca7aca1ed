/* SPDX-License-Identifier: MIT */
/* ELF files that lie: what they say of themselves costs no more than what they are, and a file that changes under our
 * hands is an answer, not a crash. Every file is made here, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/error.h"
#include "symbolizer/elf/dwarf.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/elf/elfsyms.h"
#include "symbolizer/symbols/symbols.h"
#include "tests/unit/made_elf.h"

static char folder[64] = "/tmp/gusprof-elf-XXXXXX";

static char *write_made(struct made_elf *m, const char *name)
{
	char *path = gus_format("%s/%s", folder, name);

	made_elf_write(m, path);
	return path;
}

static long peak_kb(void)
{
	struct rusage use;

	assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
	return use.ru_maxrss;
}

static size_t functions_of(struct gus_elf *e, unsigned type)
{
	struct gus_functions f;
	size_t n;

	gus_functions_init(&f);
	gus_elfsyms_add(&f, e, type);
	n = f.list.n;
	gus_functions_free(&f);
	return n;
}

/* Each of these was read, 2.9 GB for 20,000 of a table that is a little larger. */
static void a_table_is_read_once_however_many_headers_it_has(void **state)
{
	struct made_elf m = made_elf_begin();
	struct gus_elf *e;

	(void)state;
	made_elf_add_symbols(&m, 1000, 1, "\0f", 3);
	m.copies = 20000;
	e = made_elf_open(&m);
	assert_int_equal(functions_of(e, SHT_SYMTAB), 1000);
	assert_int_equal(functions_of(e, SHT_DYNSYM), 0);
	assert_null(e->trouble);
	gus_elf_close(e);
}

/* Relocations may be in several sections, and linkage tables, too: so these have a budget. */
static void sections_over_the_same_bytes_have_one_budget(void **state)
{
	static const char *const names[] = { ".rela.dyn", ".plt" };
	static const uint64_t flags[] = { SHF_ALLOC, SHF_ALLOC | SHF_EXECINSTR };
	static const uint32_t types[] = { SHT_RELA, SHT_PROGBITS };
	static uint8_t stub[240000];

	(void)state;
	for (size_t i = 0; i + 16 <= sizeof(stub); i += 16)
		memcpy(stub + i, (uint8_t[]){ 0xff, 0x35 }, 2); /* as the first stub of a table */
	for (int i = 0; i < 2; i++) {
		struct made_elf m = made_elf_begin();
		struct gus_functions f;
		struct gus_elf *e;

		made_elf_add(&m, names[i], types[i], flags[i], stub, sizeof(stub));
		m.sections[m.n - 1].sh_entsize = i ? 16 : sizeof(Elf64_Rela);
		m.copies = 2000;
		e = made_elf_open(&m);
		gus_functions_init(&f);
		gus_plt_add(&f, e);
		assert_non_null(strstr(e->trouble, "tables are larger than the file"));
		assert_in_range(f.list.n, i ? 15000 : 0, 300000);
		gus_functions_free(&f);
		gus_elf_close(e);
	}
}

static void names_have_an_end(void **state)
{
	static char endless[70000];
	struct made_elf m = made_elf_begin();
	struct gus_elf *e;

	(void)state;
	memset(endless, 'x', sizeof(endless));
	made_elf_add_symbols(&m, 3, (uint32_t)(sizeof(endless) - 5), endless, sizeof(endless));
	e = made_elf_open(&m);
	assert_int_equal(functions_of(e, SHT_SYMTAB), 0);
	gus_elf_close(e);

	for (unsigned length = GUS_LIMIT_NAME - 1; length <= GUS_LIMIT_NAME; length++) {
		m = made_elf_begin();
		endless[length] = '\0';
		made_elf_add_symbols(&m, 3, 0, endless, sizeof(endless));
		e = made_elf_open(&m);
		assert_int_equal(functions_of(e, SHT_SYMTAB), length < GUS_LIMIT_NAME ? 3 : 0);
		gus_elf_close(e);
		endless[length] = 'x';
	}
}

/* 4,000 times the same 60,000 letters would be 240 MB to look at; the file has 160,000 bytes. */
static void names_that_share_letters_have_one_budget(void **state)
{
	static char one[60001];
	struct made_elf m = made_elf_begin();
	struct gus_elf *e;

	(void)state;
	memset(one, 'x', sizeof(one) - 1);
	made_elf_add_symbols(&m, 4000, 0, one, sizeof(one));
	e = made_elf_open(&m);
	assert_in_range(functions_of(e, SHT_SYMTAB), 10, 200);
	assert_string_equal(e->trouble, "its names are longer than the file");
	gus_elf_close(e);
}

/* Five sections over one stream of `size` zeros, which say that they become `said` bytes. */
static struct gus_elf *open_packed(uint64_t said, size_t size)
{
	static const char *const names[] = { ".debug_abbrev", ".debug_line", ".debug_str", ".debug_ranges",
					     ".debug_info" };
	const Elf64_Chdr header = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = said, .ch_addralign = 1 };
	uLongf packed = compressBound(size);
	uint8_t *zeros = calloc(1, size), *bytes = malloc(sizeof(header) + packed);
	struct made_elf m = made_elf_begin();

	assert_int_equal(compress(bytes + sizeof(header), &packed, zeros, size), Z_OK);
	memcpy(bytes, &header, sizeof(header));
	while (m.bytes.n % 8)
		gus_vec_push(&m.bytes, 0);
	made_elf_add(&m, names[0], SHT_PROGBITS, SHF_COMPRESSED, bytes, sizeof(header) + packed);
	for (unsigned i = 1; i < 5; i++) {
		made_elf_add(&m, names[i], SHT_PROGBITS, SHF_COMPRESSED, NULL, 0);
		m.sections[m.n - 1].sh_offset = m.sections[m.n - 1 - i].sh_offset;
		m.sections[m.n - 1].sh_size = sizeof(header) + packed;
	}
	for (unsigned i = 2; i < m.n; i++)
		m.sections[i].sh_addralign = 8;
	free(zeros);
	free(bytes);
	return made_elf_open(&m);
}

/* 300 MB out of 90 kB. */
static void packed_sections_become_no_more_than_is_allowed(void **state)
{
	struct gus_elf *e = open_packed(60u << 20, 60u << 20);
	long before = peak_kb();

	(void)state;
	assert_null(gus_dwarf_open(e, e, NULL));
	assert_string_equal(e->trouble, "its debug information asks for more memory than a file of its size may");
	assert_in_range(peak_kb() - before, 0, 70 << 10);
	gus_elf_close(e);
}

static void packed_sections_may_lie_of_their_size(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 999, 1001, 1 << 20, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct gus_elf *e = open_packed(sizes[i], 1000);
		struct gus_dwarf *d = gus_dwarf_open(e, e, NULL);
		uint32_t line;
		const char *file;

		assert_false(d && gus_dwarf_line(d, MADE_ELF_TEXT, &file, &line));
		gus_dwarf_close(d);
		gus_elf_close(e);
	}
}

/* The table of headers is 160 kB, but a field of the first one says 4 million of them. */
static void a_file_says_too_many_sections(void **state)
{
	struct made_elf m = made_elf_begin();
	struct gus_error err = { 0 };
	Elf64_Ehdr header;
	Elf64_Shdr first;

	(void)state;
	m.copies = 2000;
	made_elf_end(&m);
	memcpy(&header, m.bytes.v, sizeof(header));
	header.e_shnum = 0;
	memcpy(m.bytes.v, &header, sizeof(header));
	memcpy(&first, m.bytes.v + header.e_shoff, sizeof(first));
	first.sh_size = GUS_LIMIT_ELF_SECTIONS + 1;
	memcpy(m.bytes.v + header.e_shoff, &first, sizeof(first));
	assert_null(gus_elf_copy("made", m.bytes.v, m.bytes.n, &err));
	assert_string_equal(err.text, "cannot read symbols of made: it says that it has 262145 sections and 1 "
			    "segments, which no program has");
	gus_vec_free(&m.bytes);
	gus_vec_free(&m.names);
}

static void segments_beyond_the_limit_are_left_out(void **state)
{
	(void)state;
	for (unsigned n = GUS_LIMIT_ELF_SEGMENTS; n <= GUS_LIMIT_ELF_SEGMENTS + 1; n++) {
		struct made_elf m = made_elf_begin();
		struct gus_elf *e;

		m.segments = n;
		e = made_elf_open(&m);
		assert_int_equal(e->segments.n, GUS_LIMIT_ELF_SEGMENTS);
		assert_int_equal(e->trouble != NULL, n > GUS_LIMIT_ELF_SEGMENTS);
		gus_elf_close(e);
	}
}

/* Notes of 2 MB are passed over; the build id behind them is found. */
static void huge_notes_are_no_build_id(void **state)
{
	static const Elf64_Nhdr header = { .n_namesz = 4, .n_descsz = 8, .n_type = NT_GNU_BUILD_ID };
	uint8_t note[24], *huge = calloc(1, 2 << 20);
	struct made_elf m = made_elf_begin();
	struct gus_elf *e;

	(void)state;
	memcpy(note, &header, sizeof(header));
	memcpy(note + sizeof(header), "GNU\0", 4);
	memcpy(note + sizeof(header) + 4, "12345678", 8);
	memcpy(huge, note, sizeof(note));
	huge[sizeof(note) - 1] = '9';
	made_elf_add(&m, ".note.huge", SHT_NOTE, 0, huge, 2 << 20);
	made_elf_add(&m, ".note.gnu.build-id", SHT_NOTE, 0, note, sizeof(note));
	m.sections[2].sh_addralign = m.sections[3].sh_addralign = 4;
	e = made_elf_open(&m);
	assert_int_equal(e->build_id_size, 8);
	assert_memory_equal(e->build_id, "12345678", 8);
	gus_elf_close(e);
	free(huge);
}

/* Files that change. */

/* A program of 200 kB whose symbols are at its end. */
static char *write_program(const char *name)
{
	static uint8_t filler[200000];
	struct made_elf m = made_elf_begin();

	made_elf_add(&m, ".filler", SHT_PROGBITS, 0, filler, sizeof(filler));
	made_elf_add_symbols(&m, 10, 1, "\0f", 3);
	return write_made(&m, name);
}

/* It ended with SIGBUS. The headers are at the end, so that they are read at once, and the table is not. */
static void a_file_is_cut_short_while_it_is_read(void **state)
{
	static const off_t sizes[] = { 0, 100, 70000, 150000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char *path = write_program("cut");
		struct gus_elf *e = gus_elf_open(path, NULL);

		assert_non_null(e);
		assert_int_equal(truncate(path, sizes[i]), 0);
		assert_false(gus_elf_load(e, 70000, 100));
		assert_string_equal(e->trouble, "it was changed while it was read");
		assert_in_range(functions_of(e, SHT_SYMTAB), 0, 10); /* those that were read with the headers */
		gus_elf_close(e);
		free(path);
	}
}

static void symbols_of_a_file_that_was_cut_say_so(void **state)
{
	static const char *const nowhere[] = { NULL };
	const struct gus_symbols_options options = { .debug_dirs = nowhere };
	char *path = write_program("asked");
	const struct gus_module module = { .kind = GUS_MODULE_FILE, .path = path };
	struct gus_symbols *s = gus_symbols_new(&options, NULL);
	uint8_t code[16];

	(void)state;
	assert_int_equal(gus_symbols_address(s, &module, 5), MADE_ELF_TEXT + 5);
	assert_int_equal(gus_symbols_code(s, &module, 5, code, 16, NULL), 16);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(gus_symbols_code(s, &module, 70000, code, 16, NULL), 0);
	gus_symbols_free(s);
	free(path);
}

/* What is no part of the file takes neither time nor memory: 8 GiB of nothing. */
static void holes_cost_nothing(void **state)
{
	char *path = write_program("hole");
	struct gus_elf *e;
	long before = peak_kb();

	(void)state;
	assert_int_equal(truncate(path, 8ll << 30), 0);
	e = gus_elf_open(path, NULL);
	assert_non_null(e);
	assert_true(gus_elf_load(e, 0, 8ull << 30));
	assert_in_range(GUS_LIMIT_ELF_READ - e->read.left, 100000, 1 << 20);
	assert_in_range(peak_kb() - before, 0, 10 << 10);
	assert_int_equal(functions_of(e, SHT_SYMTAB), 10);
	gus_elf_close(e);
	assert_int_equal(unlink(path), 0);
	free(path);
}

/* Each at the place where the debug file is looked for; a FIFO that is opened to be read waits for ever. */
static void a_file_that_is_too_large_says_so(void **state)
{
	struct gus_error err = { 0 };
	char path[] = "/tmp/gusprof-elf-large-XXXXXX";
	int fd = mkstemp(path), failed;

	(void)state;
	assert_true(fd >= 0);
	failed = ftruncate(fd, (64ll << 30) + 1);
	close(fd);
	assert_null(gus_elf_open(path, &err));
	unlink(path);
	if (failed)
		skip(); /* the file system has no such files */
	assert_non_null(strstr(err.text, "it is larger than 64 GiB"));
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char *command = gus_format("rm -rf '%s'", folder);
	int rc = system(command);

	(void)state;
	free(command);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_read_once_however_many_headers_it_has),
		cmocka_unit_test(sections_over_the_same_bytes_have_one_budget),
		cmocka_unit_test(names_have_an_end),
		cmocka_unit_test(names_that_share_letters_have_one_budget),
		cmocka_unit_test(packed_sections_become_no_more_than_is_allowed),
		cmocka_unit_test(packed_sections_may_lie_of_their_size),
		cmocka_unit_test(a_file_says_too_many_sections),
		cmocka_unit_test(segments_beyond_the_limit_are_left_out),
		cmocka_unit_test(huge_notes_are_no_build_id),
		cmocka_unit_test(a_file_is_cut_short_while_it_is_read),
		cmocka_unit_test(symbols_of_a_file_that_was_cut_say_so),
		cmocka_unit_test(holes_cost_nothing),
		cmocka_unit_test(a_file_that_is_too_large_says_so),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
