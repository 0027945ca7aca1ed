/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "symbolizer/names/ranges.h"

/* Bounds on what a file may make us keep and how deep it may nest; the largest unit that we have met (a browser, link
 * time optimised) has 2.4 million ranges, and inlining nests to some forty levels. */
#define RANGES_MAX (1u << 24)
#define DEPTH_MAX 400

/* An inlined call. */
struct inlined {
	Dwarf_Die die;
	uint32_t around;          /* the inlined call that this one is in, or GUS_RANGE_NONE */
	bool known;               /* call is filled in */
	struct gus_call call;
};

/* A function that has code in this unit. */
struct routine {
	Dwarf_Die die;
	bool walked;
	struct gus_ranges inlines; /* values index unit->inlined */
};

struct unit {
	Dwarf_Die die;            /* of the unit itself; has the line table */
	Dwarf_Die body;           /* has the functions: the same, or with split DWARF that of the other file */
	bool has_lines, has_functions, has_all_functions;
	Dwarf_Lines *lines;
	size_t lines_n;
	Dwarf_Files *files;
	size_t files_n;
	struct gus_ranges functions; /* values index routines */
	struct gus_vec(struct routine) routines;
	struct gus_vec(struct inlined) inlined;
};

struct gus_dwarf {
	Dwarf *dwarf, *shared;
	const struct gus_elf *code;
	struct gus_vec(struct unit) units;
	struct gus_ranges ranges;    /* values index units */
	struct gus_strings paths;    /* that had to be put together */
};

/* Adds where a DIE's code is. Code that the linker threw away has ranges at 0 or at the end of the address space; they
 * are no addresses of this file. */
static size_t add_ranges(const struct gus_dwarf *d, struct gus_ranges *ranges, Dwarf_Die *die, uint32_t value,
			 uint32_t rank)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	size_t before = ranges->n;

	while (ranges->n < RANGES_MAX && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		if (gus_elf_executable(d->code, low))
			gus_ranges_add(ranges, low, high, value, rank);
	return ranges->n - before;
}

/* .debug_aranges would give the same where it exists and is complete; clang writes none, and a unit's own DIE is
 * one short read away. */
static void find_units(struct gus_dwarf *d)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf_get_units(d->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		int tag = dwarf_tag(&die);

		if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
			continue;
		if (add_ranges(d, &d->ranges, &die, (uint32_t)d->units.n, 0))
			gus_vec_push(&d->units, (struct unit){ .die = die });
	}
	gus_ranges_ready(&d->ranges);
}

struct gus_dwarf *gus_dwarf_open(const struct gus_elf *holder, const struct gus_elf *code, const struct gus_elf *shared)
{
	Dwarf *dwarf = dwarf_begin_elf(holder->elf, DWARF_C_READ, NULL);
	struct gus_dwarf *d;

	if (!dwarf)
		return NULL;
	d = gus_zalloc(sizeof(*d));
	d->dwarf = dwarf;
	d->code = code;
	gus_strings_init(&d->paths);
	d->shared = shared ? dwarf_begin_elf(shared->elf, DWARF_C_READ, NULL) : NULL;
	if (d->shared)
		dwarf_setalt(dwarf, d->shared);
	find_units(d);
	return d;
}

static void free_unit(struct unit *u)
{
	for (size_t i = 0; i < u->routines.n; i++)
		gus_ranges_free(&u->routines.v[i].inlines);
	gus_vec_free(&u->routines);
	gus_vec_free(&u->inlined);
	gus_ranges_free(&u->functions);
}

void gus_dwarf_close(struct gus_dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->units.n; i++)
		free_unit(&d->units.v[i]);
	gus_vec_free(&d->units);
	gus_ranges_free(&d->ranges);
	gus_strings_free(&d->paths);
	dwarf_end(d->dwarf);
	if (d->shared)
		dwarf_end(d->shared);
	free(d);
}

static struct unit *unit_at(struct gus_dwarf *d, uint64_t address)
{
	const struct gus_range *r = gus_ranges_find(&d->ranges, address);

	return r ? &d->units.v[r->value] : NULL;
}

/* A file's whole path. libdw leaves one relative whose directory in the line table is relative to the directory that
 * the compiler ran in. */
static const char *whole(struct gus_dwarf *d, struct unit *u, const char *path)
{
	Dwarf_Attribute a;
	const char *dir;
	char *joined;

	if (!path || *path == '/')
		return path;
	dir = dwarf_formstring(dwarf_attr_integrate(&u->die, DW_AT_comp_dir, &a));
	if (!dir || !*dir)
		return path;
	joined = gus_format("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", path);
	path = gus_strings_get(&d->paths, gus_strings_add(&d->paths, joined));
	free(joined);
	return path;
}

static void read_lines(struct unit *u)
{
	if (u->has_lines)
		return;
	u->has_lines = true;
	if (dwarf_getsrclines(&u->die, &u->lines, &u->lines_n) != 0)
		u->lines_n = 0;
}

/* The last row that is not behind address: where several rows have one address, the last holds. libdw has sorted them,
 * the end of a sequence before the start of another. */
static Dwarf_Line *row_at(const struct unit *u, uint64_t address)
{
	size_t low = 0, high = u->lines_n;
	Dwarf_Line *row;
	bool end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		Dwarf_Addr at;

		if (dwarf_lineaddr(dwarf_onesrcline(u->lines, middle), &at) == 0 && at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	row = low ? dwarf_onesrcline(u->lines, low - 1) : NULL;
	return row && dwarf_lineendsequence(row, &end) == 0 && !end ? row : NULL;
}

bool gus_dwarf_line(struct gus_dwarf *d, uint64_t address, const char **file, uint32_t *line)
{
	struct unit *u = unit_at(d, address);
	Dwarf_Line *row;
	int number;

	if (!u)
		return false;
	read_lines(u);
	row = row_at(u, address);
	if (!row)
		return false;
	*file = whole(d, u, dwarf_linesrc(row, NULL, NULL));
	*line = dwarf_lineno(row, &number) == 0 && number > 0 ? (uint32_t)number : 0;
	return *file || *line;
}

/* The next DIE of the same parent. A damaged file could send us around in a circle: only forward counts. */
static bool next_sibling(Dwarf_Die *die)
{
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) != 0 || (uintptr_t)next.addr <= (uintptr_t)die->addr)
		return false;
	*die = next;
	return true;
}

static void add_routine(struct gus_dwarf *d, struct unit *u, Dwarf_Die *die, unsigned depth)
{
	if (add_ranges(d, &u->functions, die, (uint32_t)u->routines.n, depth))
		gus_vec_push(&u->routines, (struct routine){ .die = *die });
}

/* What functions may stand in. Functions within functions and classes are rare enough for a second look: `all`. */
static bool may_hold_functions(int tag, bool all)
{
	return all || tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static void find_functions(struct gus_dwarf *d, struct unit *u, Dwarf_Die *parent, bool all, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_routine(d, u, &die, depth);
		if (may_hold_functions(tag, all))
			find_functions(d, u, &die, all, depth + 1);
	} while (next_sibling(&die));
}

static void forget_functions(struct unit *u)
{
	for (size_t i = 0; i < u->routines.n; i++)
		gus_ranges_free(&u->routines.v[i].inlines);
	u->routines.n = 0;
	u->functions.n = 0;
	u->inlined.n = 0;
}

static void read_functions(struct gus_dwarf *d, struct unit *u, bool all)
{
	Dwarf_Die other = { 0 };

	if (!u->has_functions) {
		u->body = u->die;
		if (dwarf_cu_info(u->die.cu, NULL, NULL, NULL, &other, NULL, NULL, NULL) == 0 && other.cu &&
		    dwarf_tag(&other) == DW_TAG_compile_unit)
			u->body = other;
		if (dwarf_getsrcfiles(&u->body, &u->files, &u->files_n) != 0)
			u->files_n = 0;
	}
	forget_functions(u);
	find_functions(d, u, &u->body, all, 0);
	gus_ranges_ready(&u->functions);
	u->has_functions = true;
	u->has_all_functions = all;
}

static struct routine *routine_at(struct gus_dwarf *d, struct unit *u, uint64_t address)
{
	const struct gus_range *r;

	if (!u->has_functions)
		read_functions(d, u, false);
	r = gus_ranges_find(&u->functions, address);
	if (!r && !u->has_all_functions) {
		read_functions(d, u, true);
		r = gus_ranges_find(&u->functions, address);
	}
	return r ? &u->routines.v[r->value] : NULL;
}

static void find_inlined(struct gus_dwarf *d, struct unit *u, struct routine *f, Dwarf_Die *parent, uint32_t around,
			 unsigned depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		uint32_t within = around;

		if (tag == DW_TAG_inlined_subroutine) {
			within = (uint32_t)u->inlined.n;
			if (!add_ranges(d, &f->inlines, &die, within, depth))
				continue;
			gus_vec_push(&u->inlined, (struct inlined){ .die = die, .around = around });
		} else if (tag != DW_TAG_lexical_block && tag != DW_TAG_try_block && tag != DW_TAG_catch_block) {
			continue;
		}
		find_inlined(d, u, f, &die, within, depth + 1);
	} while (next_sibling(&die));
}

static const char *name_of(Dwarf_Die *die)
{
	static const unsigned attributes[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		const char *name = dwarf_formstring(dwarf_attr_integrate(die, attributes[i], &attribute));

		if (name && *name)
			return name;
	}
	return NULL;
}

static bool number_of(Dwarf_Die *die, unsigned attribute, uint64_t *number)
{
	Dwarf_Attribute a;
	Dwarf_Word word;

	if (dwarf_formudata(dwarf_attr(die, attribute, &a), &word) != 0)
		return false;
	*number = word;
	return true;
}

static const struct gus_call *call_of(struct gus_dwarf *d, struct unit *u, struct inlined *i)
{
	uint64_t file, line;

	if (!i->known) {
		i->known = true;
		i->call.name = name_of(&i->die);
		if (number_of(&i->die, DW_AT_call_file, &file) && file < u->files_n)
			i->call.file = whole(d, u, dwarf_filesrc(u->files, (size_t)file, NULL, NULL));
		if (number_of(&i->die, DW_AT_call_line, &line) && line <= UINT32_MAX)
			i->call.line = (uint32_t)line;
	}
	return &i->call;
}

size_t gus_dwarf_calls(struct gus_dwarf *d, uint64_t address, struct gus_call *calls, size_t max, const char **outer)
{
	struct unit *u = unit_at(d, address);
	struct routine *f = u ? routine_at(d, u, address) : NULL;
	const struct gus_range *r;
	size_t n = 0;

	if (outer)
		*outer = f ? name_of(&f->die) : NULL;
	if (!f)
		return 0;
	if (!f->walked) {
		f->walked = true;
		find_inlined(d, u, f, &f->die, GUS_RANGE_NONE, 0);
		gus_ranges_ready(&f->inlines);
	}
	r = gus_ranges_find(&f->inlines, address);
	for (uint32_t at = r ? r->value : GUS_RANGE_NONE; at != GUS_RANGE_NONE && n < max;
	     at = u->inlined.v[at].around)
		calls[n++] = *call_of(d, u, &u->inlined.v[at]);
	return n;
}
