/* SPDX-License-Identifier: MIT */
/* A package of split units, made by hand and spoilt in each place: which unit its index finds, and that the file which
 * is made of it has the parts of that unit, with the strings that it uses, and nothing else. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "symbolizer/elf/package.h"

struct bytes gus_vec(uint8_t);

static void put(struct bytes *b, const void *bytes, size_t size)
{
	gus_vec_append(b, (const uint8_t *)bytes, size);
}

static void put_u32(struct bytes *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

/* What is written into a package. Sections are numbered as here; its first one is the index, its last one the names. */
enum { INFO, ABBREV, LINE, RNGLISTS, OFFSETS, STR, CONTENTS };
enum { COLUMNS = 20, UNITS = 8, SLOTS = 32 };
/* Headers of sections: the empty one, the index, the contents, the names. */
enum { HEADERS = CONTENTS + 3, NAMES = HEADERS - 1 };

static const char *const section_names[HEADERS] = {
	"", ".debug_cu_index", ".debug_info.dwo", ".debug_abbrev.dwo", ".debug_line.dwo", ".debug_rnglists.dwo",
	".debug_str_offsets.dwo", ".debug_str.dwo", ".shstrtab" };

struct sketch {
	uint32_t version, columns, units, slots;
	struct { uint64_t number; uint32_t row; } slot[SLOTS];
	uint32_t kinds[COLUMNS];
	struct { uint32_t offset, size; } cell[UNITS * COLUMNS]; /* a row of columns for each unit */
	struct { const void *bytes; size_t size; uint64_t flags; uint32_t type; } content[CONTENTS];
	size_t index_size;      /* SIZE_MAX: all of it */
	uint64_t info_at;       /* where .debug_info.dwo is said to be, if not where it is */
	uint8_t order;
};

static void put_index(struct bytes *b, const struct sketch *k)
{
	size_t start = b->n, rows = k->units < UNITS ? k->units : UNITS, columns = k->columns < COLUMNS ? k->columns :
		COLUMNS;

	put_u32(b, k->version);
	put_u32(b, k->columns);
	put_u32(b, k->units);
	put_u32(b, k->slots);
	for (size_t i = 0; i < k->slots && i < SLOTS; i++)
		put(b, &k->slot[i].number, sizeof(k->slot[i].number));
	for (size_t i = 0; i < k->slots && i < SLOTS; i++)
		put_u32(b, k->slot[i].row);
	for (size_t i = 0; i < columns; i++)
		put_u32(b, k->kinds[i]);
	for (size_t i = 0; i < rows * columns; i++)
		put_u32(b, k->cell[i].offset);
	for (size_t i = 0; i < rows * columns; i++)
		put_u32(b, k->cell[i].size);
	if (b->n - start > k->index_size)
		b->n = start + k->index_size;
}

/* Headers in the order of bytes that the file is said to have. */
static void put_ordered(struct bytes *b, size_t at, const void *headers, size_t size, Elf_Type type, unsigned order)
{
	Elf_Data from = { .d_buf = (void *)(uintptr_t)headers, .d_size = size, .d_type = type,
			  .d_version = EV_CURRENT };
	Elf_Data to = from;

	while (b->n < at + size)
		gus_vec_push(b, 0);
	to.d_buf = b->v + at;
	assert_non_null(elf64_xlatetof(&to, &from, order));
}

static struct gus_elf *package(const struct sketch *k)
{
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, k->order, EV_CURRENT }, .e_type = ET_REL,
			    .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(head),
			    .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = HEADERS, .e_shstrndx = NAMES };
	Elf64_Shdr headers[HEADERS] = { 0 };
	struct bytes b = { 0 }, names = { 0 };
	struct gus_elf *e;

	put(&b, &head, sizeof(head));
	for (size_t i = 0; i < HEADERS; i++) {
		headers[i] = (Elf64_Shdr){ .sh_name = (Elf64_Word)names.n, .sh_type = i ? SHT_PROGBITS : SHT_NULL,
					   .sh_offset = i ? b.n : 0, .sh_addralign = 1 };
		put(&names, section_names[i], strlen(section_names[i]) + 1);
		if (i == 1)
			put_index(&b, k);
		if (i > 1 && i < NAMES) {
			put(&b, k->content[i - 2].bytes, k->content[i - 2].size);
			headers[i].sh_flags = k->content[i - 2].flags;
			if (k->content[i - 2].type)
				headers[i].sh_type = k->content[i - 2].type;
		}
		headers[i].sh_size = i ? b.n - headers[i].sh_offset : 0;
	}
	put(&b, names.v, names.n);
	headers[NAMES].sh_type = SHT_STRTAB;
	headers[NAMES].sh_size = names.n;
	if (k->info_at)
		headers[INFO + 2].sh_offset = k->info_at;
	while (b.n % sizeof(uint64_t))
		gus_vec_push(&b, 0);
	head.e_shoff = b.n;
	elf_version(EV_CURRENT);
	put_ordered(&b, 0, &head, sizeof(head), ELF_T_EHDR, k->order);
	put_ordered(&b, b.n, headers, sizeof(headers), ELF_T_SHDR, k->order);
	e = gus_elf_copy("package", b.v, b.n, NULL);
	gus_vec_free(&b);
	gus_vec_free(&names);
	assert_non_null(e);
	return e;
}

#define ONE 0x1234u
#define TWO 0x5677u

/* Eight bytes of a header, which version 5 has, and offsets of strings: the first unit has both, the second one. */
static const uint32_t offsets_now[] = { 12, 5, 0, 4, 8, 5, 4 };
static const uint32_t offsets_old[] = { 0, 4, 4 };

/* Two units, one behind the other in each section: small letters are the first one's. */
static void fill(struct sketch *k, uint32_t version)
{
	static const struct { const char *text; uint32_t first, now, old; } of[] = {
		[INFO] = { "iiiiIIIIII", 4, 1, 1 }, [ABBREV] = { "aaAAA", 2, 3, 3 }, [LINE] = { "lLL", 1, 4, 4 },
		[RNGLISTS] = { "rrrR", 3, 8, 8 }, [OFFSETS] = { NULL, 0, 6, 6 } };

	*k = (struct sketch){ .version = version, .columns = 5, .units = 2, .slots = 2, .index_size = SIZE_MAX,
			      .order = ELFDATA2LSB, .slot = { { ONE, 1 }, { TWO, 2 } } };
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t size = of[i].text ? (uint32_t)strlen(of[i].text) : 0;

		k->content[i].bytes = of[i].text;
		k->content[i].size = size;
		k->kinds[i] = version == 2 ? of[i].old : of[i].now;
		k->cell[i].size = k->cell[5 + i].offset = of[i].first;
		k->cell[5 + i].size = size - of[i].first;
	}
	k->content[OFFSETS].bytes = version == 2 ? offsets_old : offsets_now;
	k->content[OFFSETS].size = version == 2 ? sizeof(offsets_old) : sizeof(offsets_now);
	k->cell[OFFSETS].size = k->cell[5 + OFFSETS].offset = version == 2 ? 8 : 16;
	k->cell[5 + OFFSETS].size = version == 2 ? 4 : 12;
	k->content[STR].bytes = "one\0two";
	k->content[STR].size = 8;
}

static void expect_part(struct gus_elf *unit, unsigned part, const void *bytes, size_t size)
{
	GElf_Shdr header;
	Elf_Data *data = gus_elf_raw(unit, gus_elf_section(unit, section_names[part + 2], &header));

	assert_int_equal(data ? data->d_size : 0, size);
	if (size)
		assert_memory_equal(data->d_buf, bytes, size);
}

static void expect_text(struct gus_elf *unit, unsigned part, const char *text)
{
	expect_part(unit, part, text, strlen(text));
}

static void each_unit_has_its_own_parts(void **state)
{
	static const uint32_t versions[] = { 5, 2 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		bool old = versions[i] == 2;
		struct gus_elf *e, *one, *two;
		GElf_Ehdr header;
		struct sketch k;

		fill(&k, versions[i]);
		e = package(&k);
		one = gus_package_unit(e, ONE);
		two = gus_package_unit(e, TWO);
		assert_true(one && two);
		expect_text(one, INFO, "iiii");
		expect_text(two, INFO, "IIIIII");
		expect_text(one, ABBREV, "aa");
		expect_text(two, ABBREV, "AAA");
		expect_text(one, LINE, "l");
		expect_text(two, LINE, "LL");
		expect_text(one, RNGLISTS, old ? "" : "rrr"); /* in version 2 that number is of macros */
		expect_text(two, RNGLISTS, old ? "" : "R");
		expect_part(one, STR, "one\0two", 8);
		expect_part(two, STR, "two", 4);
		if (old) {
			expect_part(one, OFFSETS, offsets_old, 8);
			expect_part(two, OFFSETS, (const uint32_t[]){ 0 }, 4);
		} else {
			expect_part(one, OFFSETS, offsets_now, 16);
			expect_part(two, OFFSETS, (const uint32_t[]){ 8, 5, 0 }, 12);
		}
		assert_int_equal(two->machine, EM_X86_64);
		assert_string_equal(two->path, "package, unit 0000000000005677");
		assert_true(gelf_getehdr(two->elf, &header) && header.e_shoff % sizeof(uint64_t) == 0);
		assert_int_equal(*(const char *)two->names->d_buf, '\0'); /* the name of what has none */
		assert_null(gus_package_unit(e, ONE + 2));
		assert_null(e->trouble);
		gus_elf_close(one);
		gus_elf_close(two);
		gus_elf_close(e);
	}
}

static bool finds(const struct sketch *k, uint64_t number)
{
	struct gus_elf *e = package(k), *unit = gus_package_unit(e, number);
	bool found = unit != NULL;

	gus_elf_close(unit);
	gus_elf_close(e);
	return found;
}

/* From 5 on the version is two bytes, and two of nothing. */
static void versions_are_known_ones(void **state)
{
	static const struct { uint32_t version; bool good; } of[] = {
		{ 0, false }, { 1, false }, { 2, true }, { 3, false }, { 4, false }, { 5, true }, { 6, false },
		{ 0x10005, true }, { 0x10002, false }, { 0x50000, false } };
	struct sketch k;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		fill(&k, of[i].version);
		assert_int_equal(finds(&k, ONE), of[i].good);
	}
	fill(&k, 5);
	k.order = ELFDATA2MSB; /* of which the index stays as it is */
	assert_false(finds(&k, ONE));
}

static void columns_are_few(void **state)
{
	static const struct { uint32_t columns; bool good; } of[] = { { 1, true }, { 16, true }, { 17, false } };
	struct sketch k;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		fill(&k, 5);
		k.columns = of[i].columns;
		k.units = 1;
		for (uint32_t c = 0; c < COLUMNS; c++) {
			k.kinds[c] = c ? 100 + c : 1;
			k.cell[c].offset = 0;
			k.cell[c].size = c ? 0 : 4;
		}
		assert_int_equal(finds(&k, ONE), of[i].good);
	}
}

static void an_index_is_whole(void **state)
{
	struct sketch k;

	(void)state;
	for (uint32_t version = 2; version <= 5; version += 3) {
		size_t size = 16 + 2 * 12 + 5 * 4 + 2 * 5 * 8;

		fill(&k, version);
		for (k.index_size = 0; k.index_size < size; k.index_size++)
			assert_false(finds(&k, ONE));
		assert_true(finds(&k, ONE));
	}
	fill(&k, 5);
	k.slots = 0;
	assert_false(finds(&k, ONE));
	k.slots = 3; /* no power of two */
	assert_false(finds(&k, ONE));
	k.slots = 1;
	assert_true(finds(&k, ONE));
	k.slots = 1u << 31;
	assert_false(finds(&k, ONE));
	fill(&k, 5);
	k.units = UINT32_MAX;
	assert_false(finds(&k, ONE));
	k.columns = UINT32_MAX;
	assert_false(finds(&k, ONE));
}

/* As DWARF 5 says it, section 7.3.5.3. */
static void place(struct sketch *k, uint64_t number, uint32_t row)
{
	uint64_t at = number % k->slots, step = (number >> 32) % k->slots;

	if (step % 2 == 0)
		step++;
	while (k->slot[at].row)
		at = (at + step) % k->slots;
	k->slot[at].number = number;
	k->slot[at].row = row;
}

/* All begin at the same slot, or at taken ones; of eight slots none is free then. */
static void find_by_hash(uint32_t slots)
{
	static const uint64_t numbers[UNITS] = { 0x3, 0x200000003, 0x500000003, 0x700000013, 0x100000000b, 0x4,
						 0x3300000007, 0xffffffffffffffff };
	struct gus_elf *e;
	struct sketch k;

	fill(&k, 5);
	k.columns = 1;
	k.units = UNITS;
	k.slots = slots;
	memset(k.slot, 0, sizeof(k.slot));
	k.content[INFO].bytes = "01234567";
	k.content[INFO].size = 8;
	for (uint32_t i = 0; i < UNITS; i++) {
		k.cell[i].offset = i;
		k.cell[i].size = 1;
		place(&k, numbers[i], i + 1);
	}
	e = package(&k);
	for (uint32_t i = 0; i < UNITS; i++) {
		struct gus_elf *unit = gus_package_unit(e, numbers[i]);

		assert_non_null(unit);
		expect_text(unit, INFO, (const char[]){ (char)('0' + i), '\0' });
		gus_elf_close(unit);
	}
	assert_null(gus_package_unit(e, 0xb)); /* though no empty slot may say so */
	assert_null(e->trouble);
	gus_elf_close(e);
}

static void units_are_found_by_their_hash(void **state)
{
	(void)state;
	for (uint32_t slots = UNITS; slots <= SLOTS; slots *= 2)
		find_by_hash(slots);
}

/* Behind an empty slot nothing is looked for, and a row that there is not is none. */
static void slots_are_empty_or_rows(void **state)
{
	struct sketch k;

	(void)state;
	fill(&k, 5);
	k.slots = 4;
	k.slot[0].number = TWO;
	k.slot[0].row = 0; /* it would be ONE's */
	k.slot[1].number = ONE;
	assert_false(finds(&k, ONE));
	k.slot[0].row = 1;
	assert_true(finds(&k, ONE));
	k.slot[1].row = 2;
	assert_true(finds(&k, ONE));
	k.slot[1].row = 3;
	assert_false(finds(&k, ONE));
	k.slot[0].number = ONE;
	k.slot[0].row = 0;
	assert_false(finds(&k, ONE));
}

/* A look costs a name of each section for each part, and 12 bytes for each slot. */
static void looks_are_charged(void **state)
{
	const uint64_t sections = CONTENTS * HEADERS;
	struct gus_elf *e, *unit;
	struct sketch k;

	(void)state;
	fill(&k, 5);
	k.slots = 4;
	k.slot[0].number = TWO;
	k.slot[0].row = k.slot[1].row = 1;
	k.slot[1].number = ONE; /* the second look finds it */
	e = package(&k);
	e->work.left = sections + 24;
	unit = gus_package_unit(e, ONE);
	assert_non_null(unit);
	assert_int_equal(e->work.left, 0);
	gus_elf_close(unit);
	for (uint64_t less = 0; less < sections + 24; less++) {
		e->trouble = NULL;
		e->work.left = less;
		assert_null(gus_package_unit(e, ONE));
		assert_string_equal(e->trouble, "its index of units has no end");
	}
	gus_elf_close(e);
}

/* Twice the bytes of each part, and those of the strings. */
static void what_is_made_is_charged(void **state)
{
	const uint64_t all = 2 * (4 + 2 + 1 + 3 + 16) + 8;
	struct gus_elf *e, *unit;
	struct sketch k;

	(void)state;
	fill(&k, 5);
	e = package(&k);
	e->made.left = all;
	unit = gus_package_unit(e, ONE);
	assert_non_null(unit);
	assert_int_equal(e->made.left, 0);
	gus_elf_close(unit);
	for (uint64_t less = 0; less < all; less++) {
		e->trouble = NULL;
		e->made.left = less;
		assert_null(gus_package_unit(e, ONE));
		assert_non_null(e->trouble);
	}
	gus_elf_close(e);
}

/* What the second unit has of .debug_info.dwo when the sketch is spoilt so. */
static void expect_info(const struct sketch *k, const char *text)
{
	struct gus_elf *e = package(k), *two = gus_package_unit(e, TWO);

	assert_non_null(two);
	expect_text(two, INFO, text);
	expect_text(two, ABBREV, "AAA");
	gus_elf_close(two);
	gus_elf_close(e);
}

static void parts_lie_within_their_sections(void **state)
{
	struct sketch k;

	(void)state;
	fill(&k, 5);
	k.cell[5].offset = 9;
	k.cell[5].size = 1;
	expect_info(&k, "I");
	k.cell[5].size = 2;
	expect_info(&k, "");
	k.cell[5].offset = 10;
	k.cell[5].size = 0;
	expect_info(&k, "");
	k.cell[5].offset = 11;
	k.cell[5].size = UINT32_MAX;
	expect_info(&k, "");
	fill(&k, 5);
	k.content[INFO].flags = SHF_COMPRESSED;
	expect_info(&k, "");
	fill(&k, 5);
	k.content[INFO].type = SHT_NOBITS;
	expect_info(&k, "");
	fill(&k, 5);
	k.info_at = 1u << 30; /* behind the end of the file */
	expect_info(&k, "");
	k.info_at = -(uint64_t)4; /* and so far behind that the file would begin 4 further on */
	expect_info(&k, "");
	fill(&k, 5);
	k.kinds[INFO] = 77; /* whatever that is */
	expect_info(&k, "");
}

/* Without a column for it a unit has no part, whatever number stands behind the columns. */
static void columns_have_an_end(void **state)
{
	struct gus_elf *e, *one;
	struct sketch k;

	(void)state;
	fill(&k, 5);
	k.columns = 4;
	memmove(&k.cell[4], &k.cell[5], 4 * sizeof(*k.cell));
	k.cell[0].offset = 6; /* the kind of what there is none of */
	e = package(&k);
	one = gus_package_unit(e, ONE);
	assert_non_null(one);
	expect_text(one, INFO, "IIII");
	expect_text(one, RNGLISTS, "rrr");
	expect_text(one, OFFSETS, "");
	gus_elf_close(one);
	gus_elf_close(e);
}

struct strings { const uint32_t *offsets; size_t size; const char *bytes; size_t bytes_n; };

static void expect_strings(const struct strings *had, const struct strings *has)
{
	struct gus_elf *e, *one;
	struct sketch k;

	fill(&k, 2);
	k.content[OFFSETS].bytes = had->offsets;
	k.content[OFFSETS].size = k.cell[OFFSETS].size = (uint32_t)had->size;
	k.content[STR].bytes = had->bytes;
	k.content[STR].size = had->bytes_n;
	e = package(&k);
	one = gus_package_unit(e, ONE);
	assert_non_null(one);
	expect_part(one, OFFSETS, has->offsets, has->size);
	expect_part(one, STR, has->bytes, has->bytes_n);
	gus_elf_close(one);
	gus_elf_close(e);
}

/* Offsets of what is no string stay as they are. */
static void strings_are_those_that_are_used(void **state)
{
	static const char text[] = "one\0two\0end";
	const uint32_t twice[] = { 4, 4, 0 }, beyond[] = { 11, 4 }, endless[] = { 8, 4, UINT32_MAX };

	(void)state;
	expect_strings(&(struct strings){ twice, 12, text, 11 },
		       &(struct strings){ (const uint32_t[]){ 0, 4, 8 }, 12, "two\0two\0one", 12 });
	expect_strings(&(struct strings){ beyond, 8, text, 11 },
		       &(struct strings){ (const uint32_t[]){ 11, 0 }, 8, "two", 4 });
	expect_strings(&(struct strings){ endless, 12, text, 11 },
		       &(struct strings){ (const uint32_t[]){ 8, 0, UINT32_MAX }, 12, "two", 4 });
	expect_strings(&(struct strings){ twice, 11, text, 11 }, /* half an offset at its end */
		       &(struct strings){ (const uint32_t[]){ 0, 4, 0 }, 11, "two\0two", 8 });
	expect_strings(&(struct strings){ twice, 12, text, 12 }, /* it has an end now */
		       &(struct strings){ (const uint32_t[]){ 0, 4, 8 }, 12, "two\0two\0one", 12 });
}

/* One of as many letters as a name may have, and two that are longer. */
static void strings_are_names(void **state)
{
	enum { SHORT = 300, LONG = GUS_LIMIT_NAME + 1, ALL = SHORT + 1 + LONG + 1 };
	const uint32_t longer[] = { SHORT + 1, SHORT + 2, 0 }, all[] = { 0, SHORT + 3, 0 };
	char *text = gus_zalloc(ALL), *copied = gus_zalloc(ALL + SHORT);

	(void)state;
	memset(text, 's', SHORT);
	memset(text + SHORT + 1, 'l', LONG);
	expect_strings(&(struct strings){ longer, 12, text, ALL }, &(struct strings){ longer, 12, text, SHORT + 1 });
	memset(copied, 's', SHORT);
	memset(copied + SHORT + 1, 'l', LONG - 2);
	memset(copied + SHORT + LONG, 's', SHORT);
	expect_strings(&(struct strings){ all, 12, text, ALL },
		       &(struct strings){ (const uint32_t[]){ 0, SHORT + 1, SHORT + LONG }, 12, copied,
					  SHORT + LONG + SHORT + 1 });
	free(text);
	free(copied);
}

/* Without them offsets are of no use; who has no offsets needs none. */
static void strings_are_there(void **state)
{
	struct sketch k;

	(void)state;
	fill(&k, 5);
	k.content[STR].flags = SHF_COMPRESSED;
	assert_false(finds(&k, ONE));
	k.cell[OFFSETS].size = 0;
	assert_true(finds(&k, ONE));
	fill(&k, 5);
	k.content[STR].size = 0;
	assert_false(finds(&k, ONE));
	k.cell[OFFSETS].size = 0;
	assert_true(finds(&k, ONE));
	k.cell[OFFSETS].size = 4; /* not even a header */
	k.content[STR].size = 8;
	assert_true(finds(&k, ONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_unit_has_its_own_parts),
		cmocka_unit_test(versions_are_known_ones),
		cmocka_unit_test(columns_are_few),
		cmocka_unit_test(an_index_is_whole),
		cmocka_unit_test(units_are_found_by_their_hash),
		cmocka_unit_test(slots_are_empty_or_rows),
		cmocka_unit_test(looks_are_charged),
		cmocka_unit_test(what_is_made_is_charged),
		cmocka_unit_test(parts_lie_within_their_sections),
		cmocka_unit_test(columns_have_an_end),
		cmocka_unit_test(strings_are_those_that_are_used),
		cmocka_unit_test(strings_are_names),
		cmocka_unit_test(strings_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
