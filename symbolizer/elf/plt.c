/* SPDX-License-Identifier: MIT */
/* The stubs of the procedure linkage tables. A stub jumps through a slot of the GOT, and the relocation of that slot
 * says to which function; so each stub is decoded just far enough to find its slot. That holds for every layout that
 * linkers produce (lazy or not, with or without branch protection), where counting entries does not. */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "symbolizer/elf/elfsyms.h"

struct slots {
	struct gus_index addresses;         /* of GOT slots */
	struct gus_vec(uint32_t) names;     /* of functions->names, by slot */
	struct gus_vec(uint32_t) by_number; /* those of .rela.plt, in its order */
};

/* What a relocation or a stub takes in tables, its name's letters apart, for each of its bytes: 16 of a stub become a
 * function, 24 of a relocation a slot, a number and a name. */
#define MADE 16

/* Whether that many bytes may be turned into stubs. */
static bool may_add(struct gus_elf *e, uint64_t bytes)
{
	return gus_elf_charge(e, &e->work, bytes, "its linkage tables are larger than the file") &&
	       gus_elf_charge(e, &e->made, MADE * bytes, "its linkage tables are larger than the file");
}

static bool fills_slot(unsigned machine, unsigned type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_IRELATIVE;
	case EM_AARCH64:
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_IRELATIVE;
	default:
		return false;
	}
}

/* The stub's name, 0 if it costs too much; a slot that a resolver fills has no symbol, and is written as the linker's
 * tools do. */
static uint32_t stub_name(struct gus_functions *f, struct gus_elf *e, const Elf_Data *strings, Elf_Data *symbols,
			  const GElf_Rela *r)
{
	GElf_Sym sym;
	const char *name = NULL;
	char *text;
	uint32_t number;

	if (GELF_R_SYM(r->r_info) && symbols && gelf_getsym(symbols, (int)GELF_R_SYM(r->r_info), &sym))
		name = gus_elf_string(e, strings, sym.st_name);
	if (name && *name)
		text = gus_format("%s%s", name, GUS_PLT_SUFFIX);
	else
		text = gus_format("*ABS*+0x%llx%s", (unsigned long long)r->r_addend, GUS_PLT_SUFFIX);
	number = 0;
	if (!e->work.cut && gus_elf_charge(e, &e->made, strlen(text), "its linkage tables are larger than the file"))
		number = gus_strings_add(&f->names, text);
	free(text);
	return number;
}

static void read_relocations(struct slots *slots, struct gus_functions *f, struct gus_elf *e, Elf_Scn *scn,
			     const GElf_Shdr *header, bool numbered)
{
	Elf_Data *data = gus_elf_data(e, scn), *symbols = NULL, *strings = NULL;
	Elf_Scn *table = elf_getscn(e->elf, header->sh_link);
	GElf_Shdr table_header = { 0 };
	GElf_Rela r;

	if (table && gelf_getshdr(table, &table_header)) {
		symbols = gus_elf_data(e, table);
		strings = gus_elf_strings(e, table_header.sh_link);
	}
	for (int i = 0; data && gelf_getrela(data, i, &r) && may_add(e, sizeof(r)); i++) {
		uint64_t slot = r.r_offset;
		uint32_t name;
		bool is_new;

		if (!fills_slot(e->machine, (unsigned)GELF_R_TYPE(r.r_info))) {
			if (numbered)
				gus_vec_push(&slots->by_number, 0);
			continue;
		}
		name = stub_name(f, e, strings, symbols, &r);
		if (numbered)
			gus_vec_push(&slots->by_number, name);
		gus_index_add(&slots->addresses, &slot, &is_new);
		if (is_new)
			gus_vec_push(&slots->names, name);
	}
}

static uint32_t name_of_slot(const struct slots *slots, uint64_t address)
{
	uint32_t number = gus_index_find(&slots->addresses, &address);

	return number == GUS_INDEX_NONE ? 0 : slots->names.v[number];
}

static uint32_t word(const uint8_t *p)
{
	struct gus_cursor c = gus_cursor(p, 4);

	return gus_cursor_u32(&c);
}

/* The name of the x86-64 stub at p, 0 if it is none: [endbr64] [bnd] jmp *disp(%rip), or, in a lazy table with branch
 * protection whose jumps are in .plt.sec, endbr64; push number. */
static uint32_t name_x86_64(const struct slots *slots, const uint8_t *p, size_t size, uint64_t address)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = size >= 8 && memcmp(p, endbr64, sizeof(endbr64)) == 0 ? 4 : 0;

	if (at + 5 <= size && p[at] == 0x68) {
		uint32_t number = word(p + at + 1);

		return number < slots->by_number.n ? slots->by_number.v[number] : 0;
	}
	if (at < size && p[at] == 0xf2)
		at++;
	if (at + 6 > size || p[at] != 0xff || p[at + 1] != 0x25)
		return 0;
	return name_of_slot(slots, address + at + 6 + (uint64_t)(int64_t)(int32_t)word(p + at + 2));
}

static void add_stub(struct gus_functions *f, uint64_t low, uint64_t high, uint64_t limit, const char *name)
{
	gus_functions_add(f, &(struct gus_function){ .low = low, .high = high, .limit = limit, .name = name,
						     .global = true });
}

/* The first entry of a lazy table pushes the GOT's second word and jumps through its third: push disp(%rip). */
static bool is_header_x86_64(const uint8_t *p, size_t size)
{
	return size >= 2 && p[0] == 0xff && p[1] == 0x35;
}

static void add_x86_64(struct gus_functions *f, const struct slots *slots, const GElf_Shdr *h, const Elf_Data *data)
{
	size_t entry = h->sh_entsize == 8 ? 8 : 16;

	for (size_t at = 0; at + entry <= data->d_size; at += entry) {
		const uint8_t *p = (const uint8_t *)data->d_buf + at;
		uint64_t address = h->sh_addr + at, limit = h->sh_addr + data->d_size;
		uint32_t name = name_x86_64(slots, p, entry, address);

		if (name)
			add_stub(f, address, address + entry, limit, gus_strings_get(&f->names, name));
		else if (is_header_x86_64(p, entry))
			add_stub(f, address, address + entry, limit, ".plt");
	}
}

/* [bti c]; adrp x16, page; ldr x17, [x16, offset]. Each stub lasts to the next one. */
static void add_arm64(struct gus_functions *f, const struct slots *slots, const GElf_Shdr *h, const Elf_Data *data)
{
	const uint32_t bti_c = 0xd503245f;

	for (size_t at = 0; at + 8 <= data->d_size; at += 4) {
		const uint8_t *p = (const uint8_t *)data->d_buf + at;
		uint32_t adrp = word(p), ldr = word(p + 4), name;
		uint64_t address = h->sh_addr + at;
		int64_t pages;

		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		/* 21 bits, the lowest two of them at bit 29 */
		pages = (int64_t)((uint64_t)((((adrp >> 5) & 0x7ffff) << 2) | ((adrp >> 29) & 3)) << 43) >> 43;
		name = name_of_slot(slots, (address & ~0xfffull) + (uint64_t)pages * 4096 + ((ldr >> 10) & 0xfff) * 8);
		if (at >= 4 && word(p - 4) == bti_c)
			address -= 4;
		if (name)
			add_stub(f, address, address, h->sh_addr + data->d_size, gus_strings_get(&f->names, name));
	}
}

static void add_section(struct gus_functions *f, const struct slots *slots, struct gus_elf *e, Elf_Scn *scn,
			const GElf_Shdr *header)
{
	Elf_Data *data = header->sh_type == SHT_PROGBITS ? gus_elf_raw(e, scn) : NULL;

	if (!data || !may_add(e, data->d_size))
		return;
	if (e->machine == EM_X86_64)
		add_x86_64(f, slots, header, data);
	else
		add_arm64(f, slots, header, data);
}

void gus_plt_add(struct gus_functions *f, struct gus_elf *e)
{
	struct slots slots = { 0 };
	GElf_Shdr h;

	if ((e->machine != EM_X86_64 && e->machine != EM_AARCH64) || elf_getident(e->elf, NULL)[EI_DATA] != ELFDATA2LSB)
		return;
	gus_index_init(&slots.addresses, sizeof(uint64_t));
	for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));) {
		if (gelf_getshdr(s, &h) && h.sh_type == SHT_RELA && (h.sh_flags & SHF_ALLOC))
			read_relocations(&slots, f, e, s, &h, strcmp(gus_elf_section_name(e, &h), ".rela.plt") == 0);
	}
	for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));) {
		if (gelf_getshdr(s, &h) && (h.sh_flags & SHF_EXECINSTR) &&
		    strncmp(gus_elf_section_name(e, &h), ".plt", 4) == 0)
			add_section(f, &slots, e, s, &h);
	}
	gus_index_free(&slots.addresses);
	gus_vec_free(&slots.names);
	gus_vec_free(&slots.by_number);
}
