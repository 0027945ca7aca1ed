/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/vet.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/cursor.h"

#define ZSTD_PACKED 2 /* ELFCOMPRESS_ZSTD, which older elf.h do not have */

static const char too_much[] = "its debug information asks for more work than a file of its size may";
static const char too_large[] = "its debug information asks for more memory than a file of its size may";

/* What libdw keeps of an abbreviation and of a unit, in its trees and tables. */
enum { ABBREVIATION_BYTES = 128, UNIT_BYTES = 512 };

bool gus_vet_make(struct gus_vet *v, uint64_t bytes)
{
	return gus_elf_charge(v->e, &v->e->made, bytes, too_large);
}

static bool charge_steps(struct gus_vet *v, uint64_t steps)
{
	return gus_elf_charge(v->e, &v->steps, steps, too_much);
}

/* Sections. */

/* What libdw looks for and we need; .debug_loc, .debug_macro and the like are large, and nobody asks for them. */
static const char *const needed[] = { "info", "types", "abbrev", "addr", "line", "line_str", "str", "str_offsets",
				      "ranges", "rnglists" };

static bool is_needed(const char *name)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (strncmp(name, needed[i], strlen(needed[i])) == 0 &&
		    (!name[strlen(needed[i])] || strcmp(name + strlen(needed[i]), ".dwo") == 0))
			return true;
	return false;
}

/* The bytes that a section becomes when it is unpacked, 0 if it is not packed. */
static uint64_t unpacked_size(const struct gus_vet *v, Elf_Scn *scn, const GElf_Shdr *header, const char *name)
{
	Elf_Data *data = gus_elf_raw(v->e, scn);
	struct gus_cursor c = gus_cursor(data ? data->d_buf : NULL, data ? data->d_size : 0);
	const uint8_t *mark;
	GElf_Chdr packed;

	if (header->sh_flags & SHF_COMPRESSED)
		return data && gelf_getchdr(scn, &packed) ? packed.ch_size : 0;
	if (name[1] != 'z')
		return 0;
	mark = gus_cursor_take(&c, 4);
	return mark && memcmp(mark, "ZLIB", 4) == 0 ? __builtin_bswap64(gus_cursor_u64(&c)) : 0;
}

/* libelf knows zstd from its version 0.190 on only, and the bytes are the same whoever unpacks them. What it shows to
 * libdw, by either of its ways to ask, is then a section that was never packed. */
static bool unpack_zstd(struct gus_vet *v, Elf_Scn *scn, GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(scn, NULL), *same = NULL;
	size_t head = gelf_getclass(v->e->elf) == ELFCLASS64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	GElf_Chdr packed;
	void *bytes;

	if (!(header->sh_flags & SHF_COMPRESSED) || !gelf_getchdr(scn, &packed) || packed.ch_type != ZSTD_PACKED ||
	    data->d_size < head || !packed.ch_size || !(same = elf_getdata(scn, NULL)))
		return true;
	bytes = gus_alloc(packed.ch_size);
	gus_vec_push(&v->e->unpacked, bytes);
	if (ZSTD_decompress(bytes, packed.ch_size, (const char *)data->d_buf + head, data->d_size - head) !=
	    packed.ch_size) {
		v->e->trouble = "its packed debug information is damaged";
		return false;
	}
	data->d_buf = same->d_buf = bytes;
	data->d_size = same->d_size = packed.ch_size;
	data->d_type = same->d_type = ELF_T_BYTE;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header->sh_size = packed.ch_size;
	return gelf_update_shdr(scn, header) != 0;
}

static bool load_section(struct gus_vet *v, Elf_Scn *scn, GElf_Shdr *header)
{
	const char *name = gus_elf_section_name(v->e, header), *rest;

	if (strncmp(name, ".debug_", 7) == 0)
		rest = name + 7;
	else if (strncmp(name, ".zdebug_", 8) == 0)
		rest = name + 8;
	else
		return true;
	if (header->sh_type == SHT_NOBITS)
		return true;
	v->e->packed |= rest == name + 8 || (header->sh_flags & SHF_COMPRESSED);
	if (is_needed(rest) && gus_elf_raw(v->e, scn))
		return gus_vet_make(v, unpacked_size(v, scn, header, name)) && unpack_zstd(v, scn, header);
	header->sh_type = SHT_NOBITS;
	return gelf_update_shdr(scn, header) != 0;
}

bool gus_vet_open(struct gus_vet *v, struct gus_elf *e)
{
	GElf_Shdr header;

	*v = (struct gus_vet){ .e = e, .big = elf_getident(e->elf, NULL)[EI_DATA] == ELFDATA2MSB };
	gus_index_init(&v->offsets, sizeof(uint64_t));
	for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));)
		if (gelf_getshdr(s, &header) && !load_section(v, s, &header))
			return false;
	return true;
}

void gus_vet_close(struct gus_vet *v)
{
	gus_vec_free(&v->units);
	gus_vec_free(&v->tables);
	gus_index_free(&v->offsets);
}

/* The first of that name, unpacked, as libdw has it. */
static Elf_Data *section(const struct gus_vet *v, const char *name)
{
	static const struct { const char *before, *behind; } forms[] = {
		{ ".debug_", "" }, { ".zdebug_", "" }, { ".debug_", ".dwo" }, { ".zdebug_", ".dwo" } };
	GElf_Shdr header;
	Elf_Data *data = NULL;

	for (size_t i = 0; !data && i < sizeof(forms) / sizeof(*forms); i++) {
		char *full = gus_format("%s%s%s", forms[i].before, name, forms[i].behind);
		Elf_Scn *scn = gus_elf_section(v->e, full, &header);

		free(full);
		if (!scn || header.sh_type == SHT_NOBITS)
			continue;
		if (header.sh_flags & SHF_COMPRESSED)
			elf_compress(scn, 0, 0);
		else if (forms[i].before[1] == 'z')
			elf_compress_gnu(scn, 0, 0);
		data = elf_rawdata(scn, NULL);
		if (data && (!data->d_buf || !data->d_size))
			data = NULL;
	}
	return data;
}

/* Units and abbreviations. */

uint64_t gus_vet_number(const struct gus_vet *v, struct gus_cursor *c, size_t size)
{
	const uint8_t *p = gus_cursor_take(c, size);
	uint64_t number = 0;

	for (size_t i = 0; p && i < size; i++)
		number |= (uint64_t)p[i] << 8 * (v->big ? size - 1 - i : i);
	return number;
}

struct gus_cursor gus_vet_unit_cursor(const struct gus_vet *v, struct gus_cursor *c, size_t *offset)
{
	uint64_t length = gus_vet_number(v, c, 4);
	const uint8_t *from;
	size_t size;

	*offset = 4;
	if (length == UINT32_MAX) {
		*offset = 8;
		length = gus_vet_number(v, c, 8);
	}
	size = length < gus_cursor_left(c) ? (size_t)length : gus_cursor_left(c);
	from = gus_cursor_take(c, size);
	return gus_cursor(from, from ? size : 0);
}

/* Passes over one; false at the end of the table. */
static bool pass_abbreviation(struct gus_cursor *c, struct gus_vet_table *t)
{
	uint64_t code = gus_cursor_left(c) ? gus_cursor_varint(c) : 0, name, form;
	uint32_t attributes = 0;

	if (!code)
		return false;
	if (!t->n++)
		t->first = code;
	gus_cursor_varint(c);
	gus_cursor_u8(c);
	do {
		name = gus_cursor_varint(c);
		form = gus_cursor_varint(c);
		if (form == DW_FORM_implicit_const)
			while (gus_cursor_u8(c) & 0x80) /* signed, in as many bytes as the writer liked */
				;
	} while ((name || form) && !c->bad && ++attributes <= GUS_LIMIT_DWARF_ATTRIBUTES);
	if (attributes > t->attributes)
		t->attributes = attributes;
	return !c->bad;
}

/* The number of the table at that offset, which is looked at when it is first met. */
static bool find_table(struct gus_vet *v, uint64_t offset, uint32_t *table)
{
	struct gus_vet_table t = { 0 };
	struct gus_cursor c;
	bool is_new;

	*table = gus_index_add(&v->offsets, &offset, &is_new);
	if (!is_new)
		return true;
	if (v->abbrev && offset < v->abbrev->d_size) {
		c = gus_cursor((uint8_t *)v->abbrev->d_buf + offset, v->abbrev->d_size - (size_t)offset);
		while (pass_abbreviation(&c, &t) && t.attributes <= GUS_LIMIT_DWARF_ATTRIBUTES)
			;
		if (!charge_steps(v, gus_cursor_offset(&c)) || !gus_vet_make(v, sizeof(t)))
			return false;
	}
	gus_vec_push(&v->tables, t);
	if (t.attributes <= GUS_LIMIT_DWARF_ATTRIBUTES)
		return true;
	v->e->trouble = too_much;
	return false;
}

/* The bytes before the first entry, apart from what every header has. */
static void pass_type(struct gus_cursor *c, unsigned type, size_t offset)
{
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		gus_cursor_take(c, 8);
	if (type == DW_UT_type || type == DW_UT_split_type)
		gus_cursor_take(c, 8 + offset);
}

static bool add_unit(struct gus_vet *v, struct gus_cursor c, const uint8_t *section_start, size_t offset, bool is_type)
{
	struct gus_vet_unit u;
	unsigned version = (unsigned)gus_vet_number(v, &c, 2), type = is_type ? DW_UT_type : DW_UT_compile;
	uint64_t abbreviations;
	const struct gus_vet_table *t;

	if (version >= 5) {
		type = gus_cursor_u8(&c);
		gus_cursor_u8(&c);
	}
	abbreviations = gus_vet_number(v, &c, offset);
	if (version < 5)
		gus_cursor_u8(&c);
	pass_type(&c, type, offset);
	u = (struct gus_vet_unit){ (uint64_t)(c.at - section_start), (uint64_t)(c.end - section_start), 0 };
	if (!find_table(v, abbreviations, &u.table) || !gus_vet_make(v, UNIT_BYTES))
		return false;
	if (!is_type) /* nothing is walked through there */
		gus_vec_push(&v->units, u);
	t = &v->tables.v[u.table];
	/* libdw reads a table up to what is looked for; the entry of a unit is the first in what compilers write. */
	return gus_cursor_varint(&c) == t->first || gus_vet_make(v, (uint64_t)t->n * ABBREVIATION_BYTES);
}

static bool add_units(struct gus_vet *v, const Elf_Data *data, bool is_type)
{
	struct gus_cursor c = gus_cursor(data ? data->d_buf : NULL, data ? data->d_size : 0);
	size_t offset;

	while (gus_cursor_left(&c)) {
		struct gus_cursor unit = gus_vet_unit_cursor(v, &c, &offset);

		if (!add_unit(v, unit, c.start, offset, is_type))
			return false;
	}
	return true;
}

bool gus_vet_units(struct gus_vet *v)
{
	v->info = section(v, "info");
	v->abbrev = section(v, "abbrev");
	v->line = section(v, "line");
	v->line_str = section(v, "line_str");
	v->str = section(v, "str");
	v->ranges = section(v, "ranges");
	v->rnglists = section(v, "rnglists");
	v->steps = gus_budget_of(GUS_LIMIT_DWARF_STEPS, (v->info ? v->info->d_size : 0) +
				 (v->abbrev ? v->abbrev->d_size : 0));
	if (v->e->parts)
		v->steps.left /= v->e->parts;
	return add_units(v, v->info, false) && add_units(v, section(v, "types"), true);
}

/* The unit that has the entry at that place of .debug_info, or NULL; they are in the order of the section. */
static const struct gus_vet_unit *unit_at(const struct gus_vet *v, uint64_t at)
{
	size_t low = 0, high = v->units.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v->units.v[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at < v->units.v[low - 1].end ? &v->units.v[low - 1] : NULL;
}

bool gus_vet_walk(struct gus_vet *v, Dwarf_Die *unit)
{
	const struct gus_vet_unit *u = unit_at(v, dwarf_dieoffset(unit));

	return u && gus_vet_make(v, (uint64_t)v->tables.v[u->table].n * ABBREVIATION_BYTES);
}

bool gus_vet_step(struct gus_vet *v, Dwarf_Die *from, const void *to)
{
	uint64_t at = dwarf_dieoffset(from), bytes;
	const struct gus_vet_unit *u = unit_at(v, at);

	if (!u)
		return false;
	bytes = to ? (uint64_t)((const uint8_t *)to - (const uint8_t *)from->addr) : u->end - at;
	/* An entry of a byte may have as many attributes as its abbreviation, which libdw passes one by one. */
	return charge_steps(v, (1 + (uint64_t)v->tables.v[u->table].attributes / 16) * (bytes ? bytes : 1));
}
