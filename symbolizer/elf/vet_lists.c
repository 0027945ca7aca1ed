/* SPDX-License-Identifier: MIT */
/* What range lists and line tables would cost. The layouts are those of DWARF 5, sections 2.17.3, 6.2 and 7.25; those
 * of versions 2 to 4 are in the same sections of DWARF 4. */
#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"
#include "symbolizer/elf/vet.h"

/* What libdw takes for a row, first in a list and then in a table, and for a file, its name apart. */
enum { ROW_BYTES = 160, FILE_BYTES = 96 };

static const char too_many_ranges[] = "its debug information has too many ranges";

/* Goes to the end of the list that is at a place in .debug_ranges. Each range is charged before the next is looked at:
 * when nothing is left, the lists of the entries to come cost nothing. */
static bool pass_ranges(const struct gus_vet *v, struct gus_cursor c, size_t address)
{
	uint64_t low, high;

	do {
		if (!gus_elf_charge(v->e, &v->e->work, 2 * address, too_many_ranges))
			return false;
		low = gus_vet_number(v, &c, address);
		high = gus_vet_number(v, &c, address);
	} while ((low || high) && !c.bad);
	return true;
}

/* The same in .debug_rnglists. */
static bool pass_rnglists(const struct gus_vet *v, struct gus_cursor c, size_t address)
{
	/* By kind of entry: how many numbers of variable length follow, and how many addresses. */
	static const struct { uint8_t numbers, addresses; } kinds[] = {
		[DW_RLE_base_addressx] = { 1, 0 }, [DW_RLE_startx_endx] = { 2, 0 }, [DW_RLE_startx_length] = { 2, 0 },
		[DW_RLE_offset_pair] = { 2, 0 }, [DW_RLE_base_address] = { 0, 1 }, [DW_RLE_start_end] = { 0, 2 },
		[DW_RLE_start_length] = { 1, 1 },
	};
	unsigned kind;

	do {
		const uint8_t *from = c.at;

		kind = gus_cursor_u8(&c);
		if (kind >= sizeof(kinds) / sizeof(*kinds))
			kind = DW_RLE_end_of_list;
		gus_cursor_take(&c, kinds[kind].addresses * address);
		for (unsigned i = 0; i < kinds[kind].numbers; i++)
			gus_cursor_varint(&c);
		if (!gus_elf_charge(v->e, &v->e->work, (uint64_t)(c.at - from), too_many_ranges))
			return false;
	} while (kind != DW_RLE_end_of_list && !c.bad);
	return true;
}

bool gus_vet_ranges(struct gus_vet *v, struct gus_vet *of, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word start;
	Dwarf_Die unit;
	Dwarf_Half version;
	uint8_t address, offset;
	Elf_Data *data;
	struct gus_cursor c;

	if (!dwarf_attr(die, DW_AT_ranges, &attribute))
		return true;
	if (dwarf_formudata(&attribute, &start) != 0 || !dwarf_diecu(die, &unit, &address, &offset) ||
	    dwarf_cu_info(unit.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) != 0)
		return false;
	data = version < 5 ? of->ranges : v->rnglists;
	if (!data)
		return false;
	if (v != of && version < 5) /* and where in them, only libdw knows */
		start = 0;
	if (start >= data->d_size)
		return false;
	c = gus_cursor((uint8_t *)data->d_buf + start, data->d_size - start);
	return version < 5 ? pass_ranges(v, c, address) : pass_rnglists(v, c, address);
}

/* Line tables. */

struct table {
	struct gus_vet *v;
	struct gus_cursor c;
	size_t offset;          /* bytes of an offset */
	uint8_t address;        /* bytes of an address */
	uint64_t directory;     /* letters of the longest one */
	uint64_t memory;
	uint8_t opcodes;        /* the first that is a row by itself */
	const uint8_t *operands; /* how many each opcode before has */
};

static size_t text_length(struct gus_cursor *c)
{
	size_t left = gus_cursor_left(c), length = strnlen((const char *)c->at, left);

	gus_cursor_take(c, length + 1);
	return length;
}

/* libdw joins each name of a file with that of a directory. */
static void add_file(struct table *t, uint64_t length)
{
	t->memory += FILE_BYTES + t->directory + length;
}

static void add_directory(struct table *t, uint64_t length)
{
	t->memory += FILE_BYTES;
	if (length > t->directory)
		t->directory = length;
}

static void pass_file_numbers(struct gus_cursor *c)
{
	for (int i = 0; i < 3; i++) /* directory, time, length */
		gus_cursor_varint(c);
}

static void pass_old_names(struct table *t)
{
	while (!t->c.bad && gus_cursor_left(&t->c) && *t->c.at)
		add_directory(t, text_length(&t->c));
	gus_cursor_u8(&t->c);
	while (!t->c.bad && gus_cursor_left(&t->c) && *t->c.at) {
		add_file(t, text_length(&t->c));
		pass_file_numbers(&t->c);
	}
	gus_cursor_u8(&t->c);
}

/* The letters of a string in another section. What they cost is charged at once: many may end in the same one. */
static uint64_t far_length(struct table *t, const Elf_Data *data, size_t size)
{
	uint64_t at = gus_vet_number(t->v, &t->c, size);
	size_t length;

	if (!data || at >= data->d_size)
		return 0;
	length = strnlen((const char *)data->d_buf + at, data->d_size - at);
	if (!gus_elf_charge(t->v->e, &t->v->e->work, length, "its names are longer than the file"))
		t->c.bad = true;
	return length;
}

static uint64_t pass_block(struct table *t, uint64_t size)
{
	if (size > gus_cursor_left(&t->c))
		t->c.bad = true;
	else
		gus_cursor_take(&t->c, (size_t)size);
	return 0;
}

/* Passes over a value; the letters of it if it is text, 0 if not. Forms that no line table has are bad. */
static uint64_t pass_form(struct table *t, uint64_t form)
{
	switch (form) {
	case DW_FORM_string:
		return text_length(&t->c);
	case DW_FORM_line_strp:
		return far_length(t, t->v->line_str, t->offset);
	case DW_FORM_strp:
		return far_length(t, t->v->str, t->offset);
	case DW_FORM_udata:
		gus_cursor_varint(&t->c);
		return 0;
	case DW_FORM_data1:
		return pass_block(t, 1);
	case DW_FORM_data2:
		return pass_block(t, 2);
	case DW_FORM_data4:
		return pass_block(t, 4);
	case DW_FORM_data8:
		return pass_block(t, 8);
	case DW_FORM_data16:
		return pass_block(t, 16);
	case DW_FORM_block:
		return pass_block(t, gus_cursor_varint(&t->c));
	case DW_FORM_block1:
		return pass_block(t, gus_cursor_u8(&t->c));
	case DW_FORM_block2:
		return pass_block(t, gus_vet_number(t->v, &t->c, 2));
	case DW_FORM_block4:
		return pass_block(t, gus_vet_number(t->v, &t->c, 4));
	default:
		t->c.bad = true;
		return 0;
	}
}

static void pass_new_list(struct table *t, void (*add)(struct table *, uint64_t))
{
	unsigned forms_n = gus_cursor_u8(&t->c);
	uint64_t forms[UINT8_MAX], n;

	for (unsigned i = 0; i < forms_n; i++) {
		gus_cursor_varint(&t->c);
		forms[i] = gus_cursor_varint(&t->c);
	}
	n = gus_cursor_varint(&t->c);
	if (n && (!forms_n || n > gus_cursor_left(&t->c)))
		t->c.bad = true;
	for (uint64_t i = 0; i < n && !t->c.bad; i++) {
		uint64_t letters = 0;

		for (unsigned k = 0; k < forms_n; k++)
			letters += pass_form(t, forms[k]);
		add(t, letters);
	}
}

static bool read_header(struct table *t)
{
	unsigned version = (unsigned)gus_vet_number(t->v, &t->c, 2);

	if (version >= 5)
		gus_cursor_take(&t->c, 2);
	gus_vet_number(t->v, &t->c, t->offset);
	gus_cursor_take(&t->c, version >= 4 ? 2 : 1); /* lengths of instructions */
	gus_cursor_take(&t->c, 3); /* is_stmt, line_base, line_range */
	t->opcodes = gus_cursor_u8(&t->c);
	t->operands = gus_cursor_take(&t->c, t->opcodes ? t->opcodes - 1u : 0);
	if (version >= 5) {
		pass_new_list(t, add_directory);
		pass_new_list(t, add_file);
	} else {
		pass_old_names(t);
	}
	return version >= 2 && version <= 5 && !t->c.bad && t->operands;
}

/* libdw goes by the operands of those that it knows, and by the size of others; both must lead to the same place. */
static void pass_extended(struct table *t)
{
	uint64_t size = gus_cursor_varint(&t->c);
	const uint8_t *from = gus_cursor_take(&t->c, size <= gus_cursor_left(&t->c) ? (size_t)size : SIZE_MAX);
	struct gus_cursor inner = gus_cursor(from, from ? (size_t)size : 0);

	switch (gus_cursor_u8(&inner)) {
	case DW_LNE_end_sequence:
		t->memory += ROW_BYTES;
		break;
	case DW_LNE_set_address:
		gus_cursor_take(&inner, t->address);
		break;
	case DW_LNE_define_file:
		add_file(t, text_length(&inner));
		pass_file_numbers(&inner);
		break;
	case DW_LNE_set_discriminator:
		gus_cursor_varint(&inner);
		break;
	case DW_LNE_NVIDIA_inlined_call:
	case DW_LNE_NVIDIA_set_function_name:
		inner.bad = true;
		break;
	default:
		inner.at = inner.end;
		break;
	}
	if (inner.bad || gus_cursor_left(&inner))
		t->c.bad = true;
}

static void pass_program(struct table *t)
{
	while (!t->c.bad && gus_cursor_left(&t->c)) {
		unsigned opcode = gus_cursor_u8(&t->c);

		if (opcode >= t->opcodes || opcode == DW_LNS_copy)
			t->memory += ROW_BYTES;
		else if (!opcode)
			pass_extended(t);
		else if (opcode == DW_LNS_fixed_advance_pc)
			gus_cursor_take(&t->c, 2);
		else
			for (unsigned i = 0; i < t->operands[opcode - 1]; i++)
				gus_cursor_varint(&t->c);
	}
}

static uint64_t length_of_directory(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));

	return text ? strlen(text) : 0;
}

/* Where the line table of a unit is: that of a split one, which is alone in its file, at the beginning. */
static bool find_table(Dwarf_Die *unit, Dwarf_Word *start)
{
	Dwarf_Attribute attribute;
	uint8_t type;

	*start = 0;
	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 && type == DW_UT_split_compile)
		return true;
	return dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), start) == 0;
}

bool gus_vet_lines(struct gus_vet *v, Dwarf_Die *unit)
{
	struct table t = { .v = v };
	struct gus_cursor c;
	Dwarf_Word start;
	Dwarf_Die same;
	uint8_t offset;

	if (!v->line || !dwarf_diecu(unit, &same, &t.address, &offset) || !find_table(unit, &start) ||
	    start >= v->line->d_size)
		return false;
	c = gus_cursor((uint8_t *)v->line->d_buf + start, v->line->d_size - start);
	t.c = gus_vet_unit_cursor(v, &c, &t.offset);
	add_directory(&t, length_of_directory(unit));
	if (!gus_elf_charge(v->e, &v->e->work, gus_cursor_left(&t.c), "its line tables are larger than the file") ||
	    !read_header(&t))
		return false;
	pass_program(&t);
	return !t.c.bad && gus_vet_make(v, t.memory);
}
