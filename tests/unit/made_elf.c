/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_elf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "symbolizer/elf/elffile.h"

void made_elf_add(struct made_elf *m, const char *name, uint32_t type, uint64_t flags, const void *from, size_t size)
{
	m->sections[m->n++] = (Elf64_Shdr){ .sh_name = (uint32_t)m->names.n, .sh_type = type, .sh_flags = flags,
		.sh_offset = m->bytes.n, .sh_size = size, .sh_addralign = 1 };
	gus_vec_append(&m->names, name, strlen(name) + 1);
	gus_vec_append(&m->bytes, (const uint8_t *)from, size);
}

struct made_elf made_elf_begin(void)
{
	struct made_elf m = { .n = 1, .segments = 1 };

	gus_vec_push(&m.names, '\0');
	for (size_t i = 0; i < sizeof(Elf64_Ehdr) + 300 * sizeof(Elf64_Phdr); i++)
		gus_vec_push(&m.bytes, 0);
	made_elf_add(&m, ".text", SHT_PROGBITS, SHF_EXECINSTR | SHF_ALLOC, NULL, 0);
	m.sections[1].sh_addr = MADE_ELF_TEXT;
	m.sections[1].sh_size = MADE_ELF_TEXT_SIZE;
	m.sections[1].sh_offset = 0;
	return m;
}

void made_elf_add_symbols(struct made_elf *m, unsigned n, uint32_t name, const char *strings, size_t size)
{
	struct gus_vec(Elf64_Sym) symbols = { 0 };

	gus_vec_push(&symbols, (Elf64_Sym){ .st_name = 0 });
	for (unsigned i = 0; i < n; i++)
		gus_vec_push(&symbols, (Elf64_Sym){ .st_name = name, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1, .st_value = MADE_ELF_TEXT + i, .st_size = 1 });
	while (m->bytes.n % 8)
		gus_vec_push(&m->bytes, 0);
	made_elf_add(m, ".strtab", SHT_STRTAB, 0, strings, size);
	while (m->bytes.n % 8)
		gus_vec_push(&m->bytes, 0);
	made_elf_add(m, ".symtab", SHT_SYMTAB, 0, symbols.v, symbols.n * sizeof(Elf64_Sym));
	m->sections[m->n - 1].sh_link = m->n - 2;
	m->sections[m->n - 1].sh_entsize = sizeof(Elf64_Sym);
	gus_vec_free(&symbols);
}

void made_elf_end(struct made_elf *m)
{
	const Elf64_Phdr segment = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = MADE_ELF_TEXT,
				     .p_filesz = MADE_ELF_TEXT_SIZE, .p_memsz = MADE_ELF_TEXT_SIZE };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(header),
		.e_phoff = sizeof(header), .e_phentsize = sizeof(segment), .e_phnum = (uint16_t)m->segments,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shstrndx = (uint16_t)m->n };
	Elf64_Shdr last;

	made_elf_add(m, ".shstrtab", SHT_STRTAB, 0, NULL, 0);
	m->sections[m->n - 1].sh_size = m->names.n;
	gus_vec_append(&m->bytes, (const uint8_t *)m->names.v, m->names.n);
	while (m->bytes.n % 8)
		gus_vec_push(&m->bytes, 0);
	header.e_shoff = m->bytes.n;
	header.e_shnum = (uint16_t)(m->n + m->copies);
	memcpy(m->bytes.v, &header, sizeof(header));
	for (unsigned i = 0; i < m->segments; i++)
		memcpy(m->bytes.v + sizeof(header) + i * sizeof(segment), &segment, sizeof(segment));
	last = m->sections[m->n - 2];
	gus_vec_append(&m->bytes, (const uint8_t *)m->sections, m->n * sizeof(Elf64_Shdr));
	for (unsigned i = 0; i < m->copies; i++)
		gus_vec_append(&m->bytes, (const uint8_t *)&last, sizeof(last));
}

struct gus_elf *made_elf_open(struct made_elf *m)
{
	struct gus_error err = { 0 };
	struct gus_elf *e;

	made_elf_end(m);
	e = gus_elf_copy("made", m->bytes.v, m->bytes.n, &err);
	if (!e)
		fail_msg("%s", err.text);
	gus_vec_free(&m->bytes);
	gus_vec_free(&m->names);
	return e;
}

void made_elf_write(struct made_elf *m, const char *path)
{
	FILE *f = fopen(path, "w");

	made_elf_end(m);
	assert_non_null(f);
	assert_int_equal(fwrite(m->bytes.v, 1, m->bytes.n, f), m->bytes.n);
	fclose(f);
	gus_vec_free(&m->bytes);
	gus_vec_free(&m->names);
}
