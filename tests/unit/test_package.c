/* SPDX-License-Identifier: MIT */
/* The index of a package of split units, made by hand: each unit of a program looks at all its columns, so that there
 * cannot be many. */
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

#define UNIT 0x1234

static const char names[] = "\0.debug_cu_index\0.debug_info.dwo\0.shstrtab";

struct bytes gus_vec(uint8_t);

static void put(struct bytes *b, const void *bytes, size_t size)
{
	gus_vec_append(b, (const uint8_t *)bytes, size);
}

static void put_u32(struct bytes *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

/* The first column is the unit's .debug_info; the others are of kinds that nobody knows. */
static void put_index(struct bytes *b, uint32_t columns)
{
	const uint32_t head[] = { 5, columns, 1, 1 };
	const uint64_t number = UNIT;

	put(b, head, sizeof(head));
	put(b, &number, sizeof(number));
	put_u32(b, 1);
	for (uint32_t i = 0; i < columns; i++)
		put_u32(b, i ? 100 + i : 1);
	for (uint32_t i = 0; i < columns; i++) /* where it is, */
		put_u32(b, 0);
	for (uint32_t i = 0; i < columns; i++) /* and how many bytes */
		put_u32(b, i ? 0 : 4);
}

static Elf64_Shdr section(uint32_t name, uint32_t type, size_t from, size_t to)
{
	return (Elf64_Shdr){ .sh_name = name, .sh_type = type, .sh_offset = from, .sh_size = to - from,
			     .sh_addralign = 1 };
}

static struct gus_elf *package(uint32_t columns)
{
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_REL,
			    .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(head),
			    .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4, .e_shstrndx = 3 };
	Elf64_Shdr sections[4] = { 0 };
	struct bytes b = { 0 };
	struct gus_elf *e;

	put(&b, &head, sizeof(head));
	put_index(&b, columns);
	sections[1] = section(1, SHT_PROGBITS, sizeof(head), b.n);
	sections[2] = section(17, SHT_PROGBITS, 0, 4);
	sections[3] = section(33, SHT_STRTAB, b.n, b.n + sizeof(names));
	put(&b, names, sizeof(names));
	while (b.n % sizeof(uint64_t))
		gus_vec_push(&b, 0);
	head.e_shoff = b.n;
	memcpy(b.v, &head, sizeof(head));
	put(&b, sections, sizeof(sections));
	e = gus_elf_copy("package", b.v, b.n, NULL);
	gus_vec_free(&b);
	assert_non_null(e);
	return e;
}

static void columns_are_few(void **state)
{
	static const struct { uint32_t columns; bool good; } of[] = { { 1, true }, { 16, true }, { 17, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct gus_elf *e = package(of[i].columns), *unit = gus_package_unit(e, UNIT);

		assert_int_equal(unit != NULL, of[i].good);
		gus_elf_close(unit);
		assert_null(gus_package_unit(e, UNIT + 1));
		gus_elf_close(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
