/* SPDX-License-Identifier: MIT */
/* The symbol tables of an ELF file as functions. */
#include "symbolizer/elf/elfsyms.h"

#include <stdlib.h>
#include <string.h>

/* What a function takes in its table and in that of ranges, with room for both to grow. */
#define FUNCTION_BYTES (2 * (sizeof(struct gus_function) + sizeof(struct gus_range)))

/* Marks of the ABI for where code and data begin ("$x", "$d.7"), which are no names of anything. */
static bool is_mapping_symbol(unsigned machine, const char *name)
{
	if (machine != EM_AARCH64 && machine != EM_ARM && machine != EM_RISCV)
		return false;
	return name[0] == '$' && strchr("xdat", name[1]) && (!name[1] || !name[2] || name[2] == '.');
}

/* Whether a symbol lies in a section that has all of these flags and none of the others of `seen`; limit is then its
 * section's end. */
static bool lies_in(const struct gus_elf *e, const GElf_Sym *sym, uint64_t flags, uint64_t seen, uint64_t *limit)
{
	GElf_Shdr section;
	Elf_Scn *scn;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE)
		return false;
	scn = elf_getscn(e->elf, sym->st_shndx);
	if (!scn || !gelf_getshdr(scn, &section) || (section.sh_flags & seen) != flags)
		return false;
	if (sym->st_value < section.sh_addr || sym->st_value - section.sh_addr >= section.sh_size)
		return false;
	*limit = section.sh_addr + section.sh_size;
	return true;
}

/* Whether it is a function or a label in code. */
static bool is_code(const struct gus_elf *e, const GElf_Sym *sym, uint64_t *limit)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       lies_in(e, sym, SHF_EXECINSTR, SHF_EXECINSTR, limit);
}

/* Thread-local ones (STT_TLS) have offsets in a thread's own block in place of addresses. */
static bool is_data(const struct gus_elf *e, const GElf_Sym *sym, uint64_t *limit)
{
	return GELF_ST_TYPE(sym->st_info) == STT_OBJECT &&
	       lies_in(e, sym, SHF_ALLOC, SHF_ALLOC | SHF_EXECINSTR | SHF_TLS, limit);
}

typedef bool is_wanted(const struct gus_elf *e, const GElf_Sym *sym, uint64_t *limit);

static uint64_t end_of(const GElf_Sym *sym)
{
	uint64_t end;

	return __builtin_add_overflow(sym->st_value, sym->st_size, &end) ? UINT64_MAX : end;
}

/* Looks at symbol i of a table; false if it costs more than the file may. */
static bool add_symbol(struct gus_functions *f, struct gus_elf *e, const Elf_Data *strings, const GElf_Sym *sym,
		       is_wanted *wanted)
{
	const char *name;
	uint64_t limit;

	if (!wanted(e, sym, &limit))
		return true;
	name = gus_elf_string(e, strings, sym->st_name);
	if (!name || !*name || is_mapping_symbol(e->machine, name))
		return !e->work.cut;
	if (!gus_elf_charge(e, &e->made, FUNCTION_BYTES, "it has too many symbols for a file of its size"))
		return false;
	gus_functions_add(f, &(struct gus_function){
		.low = sym->st_value, .high = end_of(sym), .limit = limit, .name = name,
		.weak = GELF_ST_BIND(sym->st_info) == STB_WEAK, .global = GELF_ST_BIND(sym->st_info) == STB_GLOBAL });
	return true;
}

static bool add_table(struct gus_functions *f, struct gus_elf *e, unsigned type, is_wanted *wanted)
{
	GElf_Shdr header;
	Elf_Scn *scn = gus_elf_table(e, type, &header);
	Elf_Data *data = gus_elf_data(e, scn), *strings = scn ? gus_elf_strings(e, header.sh_link) : NULL;
	GElf_Sym sym;

	for (int i = 1; data && gelf_getsym(data, i, &sym) && add_symbol(f, e, strings, &sym, wanted); i++)
		;
	return scn != NULL;
}

bool gus_elfsyms_add(struct gus_functions *f, struct gus_elf *e, unsigned type)
{
	return add_table(f, e, type, is_code);
}

bool gus_elfsyms_add_data(struct gus_functions *f, struct gus_elf *e, unsigned type)
{
	return add_table(f, e, type, is_data);
}
