/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/package.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

/* The sections of a unit's file. All but the strings are parts of the package's. */
enum part { INFO, ABBREV, LINE, RNGLISTS, STR_OFFSETS, PARTS, STR = PARTS, SECTIONS };

static const struct { const char *name; uint32_t old, now; } parts[SECTIONS] = {
	/* what the index of version 2 and of version 5 calls the column; 0: it has none */
	[INFO] = { ".debug_info.dwo", 1, 1 }, [ABBREV] = { ".debug_abbrev.dwo", 3, 3 },
	[LINE] = { ".debug_line.dwo", 4, 4 }, [RNGLISTS] = { ".debug_rnglists.dwo", 0, 8 },
	[STR_OFFSETS] = { ".debug_str_offsets.dwo", 6, 6 }, [STR] = { ".debug_str.dwo", 0, 0 },
};

/* Of an index; DWARF knows eight kinds of sections. Each unit looks at them for each part. */
#define COLUMNS_MAX 16

struct bytes gus_vec(uint8_t);

/* The index of units. */
struct index {
	bool old;                       /* version 2 */
	uint32_t columns, units, slots;
	const uint8_t *numbers;         /* slots: the units' numbers */
	const uint8_t *rows;            /* slots: their rows, from 1 on; 0 is an empty slot */
	const uint8_t *sections;        /* columns: which section each is of */
	const uint8_t *offsets, *sizes; /* units x columns */
};

static uint32_t u32_at(const uint8_t *table, uint64_t n)
{
	struct gus_cursor c = gus_cursor(table + 4 * n, 4);

	return gus_cursor_u32(&c);
}

static uint64_t u64_at(const uint8_t *table, uint64_t n)
{
	struct gus_cursor c = gus_cursor(table + 8 * n, 8);

	return gus_cursor_u64(&c);
}

static const uint8_t *take_table(struct gus_cursor *c, uint64_t n, size_t size)
{
	if (n > gus_cursor_left(c) / size)
		c->bad = true;
	return gus_cursor_take(c, c->bad ? 0 : (size_t)n * size);
}

static bool read_index(struct index *x, const Elf_Data *data)
{
	struct gus_cursor c = gus_cursor(data->d_buf, data->d_size);
	uint32_t version = gus_cursor_u32(&c);

	/* From 5 on it is two bytes, and two of nothing. */
	x->old = version == 2;
	if (!x->old && (version & 0xffff) != 5)
		return false;
	x->columns = gus_cursor_u32(&c);
	x->units = gus_cursor_u32(&c);
	x->slots = gus_cursor_u32(&c);
	x->numbers = take_table(&c, x->slots, 8);
	x->rows = take_table(&c, x->slots, 4);
	x->sections = take_table(&c, x->columns, 4);
	x->offsets = take_table(&c, (uint64_t)x->units * x->columns, 4);
	x->sizes = take_table(&c, (uint64_t)x->units * x->columns, 4);
	return !c.bad && x->columns <= COLUMNS_MAX && x->slots && !(x->slots & (x->slots - 1));
}

/* The row of a unit, from 1 on; 0 if there is none. Every unit of a program may ask, so each look is charged: at slots,
 * and at sections, which are found by their names. */
static uint32_t row_of(struct gus_elf *e, const struct index *x, uint64_t unit)
{
	static const char too_many[] = "its index of units has no end";
	uint64_t mask = x->slots - 1, at = unit & mask, step = ((unit >> 32) & mask) | 1;
	size_t sections;

	if (elf_getshdrnum(e->elf, &sections) != 0 || !gus_elf_charge(e, &e->work, SECTIONS * sections, too_many))
		return 0;
	for (uint32_t tries = 0; tries < x->slots && gus_elf_charge(e, &e->work, 12, too_many);
	     tries++, at = (at + step) & mask) {
		uint32_t row = u32_at(x->rows, at);

		if (!row || u64_at(x->numbers, at) == unit)
			return row <= x->units ? row : 0;
	}
	return 0;
}

/* The bytes of a part of the unit in that row; none if it has none. */
static struct gus_cursor find_part(struct gus_elf *e, const struct index *x, uint32_t row, enum part part)
{
	uint32_t wanted = x->old ? parts[part].old : parts[part].now;
	GElf_Shdr header;

	for (uint32_t i = 0; wanted && i < x->columns; i++) {
		uint64_t cell = (uint64_t)(row - 1) * x->columns + i;
		uint32_t offset = u32_at(x->offsets, cell), size = u32_at(x->sizes, cell);

		/* Only this part of the section is read: all of it may be gigabytes. */
		if (u32_at(x->sections, i) == wanted && gus_elf_section(e, parts[part].name, &header) &&
		    header.sh_type != SHT_NOBITS && !(header.sh_flags & SHF_COMPRESSED) && offset <= header.sh_size &&
		    size <= header.sh_size - offset && header.sh_offset <= e->size &&
		    gus_elf_load(e, header.sh_offset + offset, size))
			return gus_cursor(e->bytes + header.sh_offset + offset, size);
	}
	return gus_cursor(NULL, 0);
}

/* A unit's strings are all over the package's, which may have hundreds of megabytes of them. Those of this one are
 * copied, and its offsets changed to where they are then. */
static bool copy_strings(struct gus_elf *e, const struct index *x, struct bytes *offsets, struct bytes *strings)
{
	GElf_Shdr header;
	Elf_Data *all = gus_elf_raw(e, gus_elf_section(e, parts[STR].name, &header));
	size_t at = x->old ? 0 : 8; /* behind length, version and padding */

	if (!all || (header.sh_flags & SHF_COMPRESSED))
		return !offsets->n;
	for (; at + 4 <= offsets->n; at += 4) {
		uint32_t from = u32_at(offsets->v + at, 0), to = (uint32_t)strings->n;
		const char *text = (const char *)all->d_buf + from;
		size_t length = from < all->d_size ? strnlen(text, all->d_size - from) : 0;

		if (from >= all->d_size || length == all->d_size - from || length >= GUS_LIMIT_NAME)
			continue;
		if (!gus_elf_charge(e, &e->made, length + 1, "its names are longer than the file"))
			return false;
		gus_vec_append(strings, (const uint8_t *)text, length + 1);
		for (int i = 0; i < 4; i++)
			offsets->v[at + (size_t)i] = (uint8_t)(to >> 8 * i);
	}
	return true;
}

/* An ELF file of these sections; there is none where there are no bytes. */
static struct gus_elf *make_file(const struct gus_elf *package, uint64_t unit, const struct bytes made[SECTIONS])
{
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_REL, .e_machine = (Elf64_Half)package->machine, .e_version = EV_CURRENT,
			      .e_ehsize = sizeof(header), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS + 2,
			      .e_shstrndx = SECTIONS + 1 };
	Elf64_Shdr headers[SECTIONS + 2] = { 0 };
	struct bytes file = { 0 }, names = { 0 };
	struct gus_elf *e;
	char *path;

	gus_vec_append(&file, (const uint8_t *)&header, sizeof(header));
	gus_vec_push(&names, 0);
	for (int i = 0; i < SECTIONS; i++) {
		headers[i + 1] = (Elf64_Shdr){ .sh_name = (Elf64_Word)names.n, .sh_offset = file.n,
			.sh_type = made[i].n ? SHT_PROGBITS : SHT_NULL, .sh_size = made[i].n, .sh_addralign = 1 };
		gus_vec_append(&names, (const uint8_t *)parts[i].name, strlen(parts[i].name) + 1);
		gus_vec_append(&file, made[i].v, made[i].n);
	}
	headers[SECTIONS + 1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = file.n, .sh_size = names.n,
					      .sh_addralign = 1 };
	gus_vec_append(&file, names.v, names.n);
	while (file.n % sizeof(uint64_t))
		gus_vec_push(&file, 0);
	header.e_shoff = file.n;
	memcpy(file.v, &header, sizeof(header));
	gus_vec_append(&file, (const uint8_t *)headers, sizeof(headers));
	path = gus_format("%s, unit %016llx", package->path, (unsigned long long)unit);
	e = gus_elf_copy(path, file.v, file.n, NULL);
	free(path);
	gus_vec_free(&file);
	gus_vec_free(&names);
	return e;
}

struct gus_elf *gus_package_unit(struct gus_elf *package, uint64_t unit)
{
	GElf_Shdr header;
	Elf_Data *data = gus_elf_raw(package, gus_elf_section(package, ".debug_cu_index", &header));
	struct bytes made[SECTIONS] = { { 0 } };
	struct gus_elf *e = NULL;
	struct index x;
	bool good;
	uint32_t row;

	if (!data || elf_getident(package->elf, NULL)[EI_DATA] != ELFDATA2LSB || !read_index(&x, data) ||
	    !(row = row_of(package, &x, unit)))
		return NULL;
	good = true;
	for (int i = 0; good && i < PARTS; i++) {
		struct gus_cursor c = find_part(package, &x, row, (enum part)i);

		good = gus_elf_charge(package, &package->made, 2 * gus_cursor_left(&c),
				      "its units are larger than the file");
		if (good)
			gus_vec_append(&made[i], c.at, gus_cursor_left(&c));
	}
	if (good && copy_strings(package, &x, &made[STR_OFFSETS], &made[STR]))
		e = make_file(package, unit, made);
	for (int i = 0; i < SECTIONS; i++)
		gus_vec_free(&made[i]);
	return e;
}
