/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "symbolizer/elf/split.h"
#include "symbolizer/elf/vet.h"
#include "symbolizer/names/ranges.h"

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
	struct gus_split split;   /* that other file */
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
	struct gus_vet vet, shared_vet;
	const struct gus_elf *code;
	struct gus_vec(struct unit) units;
	struct gus_ranges ranges;    /* values index units */
	struct gus_strings paths;    /* that had to be put together */
	struct gus_elf *nothing;     /* in place of shared DWARF */
	struct gus_split_package package;
	bool is_split;               /* some of its units are */
};

/* Adds where a DIE's code is. Code that the linker threw away has ranges at 0 or at the end of the address space; they
 * are no addresses of this file. */
static size_t add_ranges(struct gus_dwarf *d, struct gus_vet *v, struct gus_ranges *ranges, Dwarf_Die *die,
			 uint32_t value, uint32_t rank)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	size_t before = ranges->n;

	if (!gus_vet_ranges(v, &d->vet, die))
		return 0;
	while (ranges->n < GUS_LIMIT_DWARF_RANGES && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		if (gus_elf_executable(d->code, low) && gus_vet_make(&d->vet, 2 * sizeof(struct gus_range)))
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
		d->is_split |= gus_split_is(&die);
		if (add_ranges(d, &d->vet, &d->ranges, &die, (uint32_t)d->units.n, 0))
			gus_vec_push(&d->units, (struct unit){ .die = die });
	}
	gus_ranges_ready(&d->ranges);
}

/* What there is to libdw, if it may be looked at. */
static Dwarf *begin(struct gus_vet *v, struct gus_elf *e)
{
	Dwarf *dwarf = gus_vet_open(v, e) ? dwarf_begin_elf(e->elf, DWARF_C_READ, NULL) : NULL;

	if (dwarf && gus_vet_units(v))
		return dwarf;
	dwarf_end(dwarf);
	return NULL;
}

/* Shared DWARF that has no entries. Where there is none, libdw would look for it itself, and open whatever lies at the
 * path that the file names. */
static Dwarf *begin_nothing(struct gus_elf **image)
{
	enum { NAMES_AT = sizeof(Elf64_Ehdr), NAMES = 16, HEADERS_AT = NAMES_AT + NAMES };
	static const char names[NAMES] = "\0.debug_str";
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
				    .e_type = ET_REL, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
				    .e_ehsize = sizeof(header), .e_shoff = HEADERS_AT, .e_shnum = 2, .e_shstrndx = 1,
				    .e_shentsize = sizeof(Elf64_Shdr) };
	const Elf64_Shdr section = { .sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = NAMES };
	uint8_t bytes[HEADERS_AT + 2 * sizeof(section)] = { 0 };

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + NAMES_AT, names, NAMES);
	memcpy(bytes + HEADERS_AT + sizeof(section), &section, sizeof(section));
	*image = gus_elf_copy("nothing", bytes, sizeof(bytes), NULL);
	return *image ? dwarf_begin_elf((*image)->elf, DWARF_C_READ, NULL) : NULL;
}

struct gus_dwarf *gus_dwarf_open(struct gus_elf *holder, const struct gus_elf *code, struct gus_elf *shared)
{
	struct gus_dwarf *d = gus_zalloc(sizeof(*d));

	gus_strings_init(&d->paths);
	d->code = code;
	d->dwarf = begin(&d->vet, holder);
	if (!d->dwarf) {
		gus_dwarf_close(d);
		return NULL;
	}
	d->shared = shared ? begin(&d->shared_vet, shared) : NULL;
	if (!d->shared)
		d->shared = begin_nothing(&d->nothing);
	if (d->shared)
		dwarf_setalt(d->dwarf, d->shared);
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
	gus_split_close(&u->split);
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
	dwarf_end(d->shared);
	gus_vet_close(&d->vet);
	gus_vet_close(&d->shared_vet);
	gus_elf_close(d->nothing);
	gus_split_package_close(&d->package);
	free(d);
}

/* Of the file that has the unit's functions. */
static struct gus_vet *vet_of(struct gus_dwarf *d, struct unit *u)
{
	return u->body.cu != u->die.cu ? &u->split.vet : &d->vet;
}

bool gus_dwarf_is_still(const struct gus_dwarf *d)
{
	return !d->is_split;
}

static struct unit *unit_at(struct gus_dwarf *d, uint64_t address)
{
	const struct gus_range *r = gus_ranges_find(&d->ranges, address);

	return r ? &d->units.v[r->value] : NULL;
}

/* What is longer than names are is none. Many may end in the same letters, so they are charged. */
static const char *as_name(struct gus_dwarf *d, const char *text)
{
	size_t length = strnlen(text, GUS_LIMIT_NAME);

	if (length == GUS_LIMIT_NAME ||
	    !gus_elf_charge(d->vet.e, &d->vet.e->work, length, "its names are longer than the file"))
		return NULL;
	return text;
}

/* A file's whole path. libdw leaves one relative whose directory in the line table is relative to the directory that
 * the compiler ran in. */
static const char *whole(struct gus_dwarf *d, struct unit *u, const char *path)
{
	Dwarf_Attribute a;
	const char *dir;
	char *joined;

	path = path ? as_name(d, path) : NULL;
	if (!path || *path == '/')
		return path;
	dir = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &a));
	if (!dir || !*dir || !gus_vet_make(&d->vet, strlen(dir) + strlen(path)))
		return path;
	joined = gus_format("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", path);
	path = gus_strings_get(&d->paths, gus_strings_add(&d->paths, joined));
	free(joined);
	return path;
}

static void read_lines(struct gus_dwarf *d, struct unit *u)
{
	if (u->has_lines)
		return;
	u->has_lines = true;
	if (!gus_vet_lines(&d->vet, &u->die) || dwarf_getsrclines(&u->die, &u->lines, &u->lines_n) != 0)
		u->lines_n = 0;
}

static bool address_of(const struct unit *u, size_t row, Dwarf_Addr *address)
{
	return dwarf_lineaddr(dwarf_onesrcline(u->lines, row), address) == 0;
}

/* How many rows are not behind address. libdw has sorted them, the end of a sequence before the start of another. */
static size_t rows_before(const struct unit *u, uint64_t address)
{
	size_t low = 0, high = u->lines_n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		Dwarf_Addr at;

		if (address_of(u, middle, &at) && at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last row that is not behind address: where several rows have one address, the last holds. */
static Dwarf_Line *row_at(const struct unit *u, uint64_t address)
{
	size_t n = rows_before(u, address);
	Dwarf_Line *row = n ? dwarf_onesrcline(u->lines, n - 1) : NULL;
	bool end;

	return row && dwarf_lineendsequence(row, &end) == 0 && !end ? row : NULL;
}

bool gus_dwarf_line(struct gus_dwarf *d, uint64_t address, const char **file, uint32_t *line)
{
	struct unit *u = unit_at(d, address);
	Dwarf_Line *row;
	int number;

	if (!u)
		return false;
	read_lines(d, u);
	row = row_at(u, address);
	if (!row)
		return false;
	*file = whole(d, u, dwarf_linesrc(row, NULL, NULL));
	*line = dwarf_lineno(row, &number) == 0 && number > 0 ? (uint32_t)number : 0;
	return *file || *line;
}

/* A walk through the entries below one. A damaged file may send it around in a circle, or to the same entries from
 * each of their neighbours, so it only goes forward: every entry is met once. */
struct walk {
	struct gus_dwarf *d;
	struct unit *u;
	const void *reached;
	bool all;               /* what find_functions looks into */
	struct routine *of;     /* whose inlined calls find_inlined looks for */
};

static bool advance(struct walk *w, Dwarf_Die *die, const Dwarf_Die *next)
{
	if ((uintptr_t)next->addr <= (uintptr_t)w->reached)
		return false;
	*die = *next;
	w->reached = next->addr;
	return true;
}

static bool first_child(struct walk *w, Dwarf_Die *parent, Dwarf_Die *die)
{
	Dwarf_Die child;

	return gus_vet_step(vet_of(w->d, w->u), parent, parent->addr) && dwarf_child(parent, &child) == 0 &&
	       advance(w, die, &child);
}

/* The first entry below parent, if it is looked at: no compiler nests deeper, which is said. */
static bool enter(struct walk *w, Dwarf_Die *parent, Dwarf_Die *die, unsigned depth)
{
	struct gus_elf *e = vet_of(w->d, w->u)->e;

	if (!first_child(w, parent, die))
		return false;
	if (depth > GUS_LIMIT_DWARF_DEPTH && !e->trouble)
		e->trouble = "its debug information nests deeper than any compiler's";
	return depth <= GUS_LIMIT_DWARF_DEPTH;
}

static bool next_sibling(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Die next = { 0 };
	int status = dwarf_siblingof(die, &next);

	/* Without a next one, it is where libdw found the end of the list, if it did. */
	return gus_vet_step(vet_of(w->d, w->u), die, next.addr) && status == 0 && advance(w, die, &next);
}

static void add_routine(struct gus_dwarf *d, struct unit *u, Dwarf_Die *die, unsigned depth)
{
	if (gus_vet_make(&d->vet, 2 * sizeof(struct routine)) &&
	    add_ranges(d, vet_of(d, u), &u->functions, die, (uint32_t)u->routines.n, depth))
		gus_vec_push(&u->routines, (struct routine){ .die = *die });
}

/* What functions may stand in. Functions within functions and classes are rare enough for a second look: `all`. */
static bool may_hold_functions(int tag, bool all)
{
	return all || tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static void find_functions(struct walk *w, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (!enter(w, parent, &die, depth))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_routine(w->d, w->u, &die, depth);
		if (may_hold_functions(tag, w->all))
			find_functions(w, &die, depth + 1);
	} while (next_sibling(w, &die));
}

static void forget_functions(struct unit *u)
{
	for (size_t i = 0; i < u->routines.n; i++)
		gus_ranges_free(&u->routines.v[i].inlines);
	u->routines.n = 0;
	u->functions.n = 0;
	u->inlined.n = 0;
}

/* A unit of a split file may have a table of files of its own; else it is that of the unit that was split. */
static bool may_read_files(struct gus_dwarf *d, struct unit *u)
{
	if (u->body.cu != u->die.cu && u->split.vet.line)
		return gus_vet_lines(&u->split.vet, &u->body);
	return u->has_lines ? u->lines_n : gus_vet_lines(&d->vet, &u->die);
}

static void read_functions(struct gus_dwarf *d, struct unit *u, bool all)
{
	struct walk walk = { .d = d, .u = u, .all = all };
	Dwarf_Die other;

	if (!u->has_functions) {
		u->body = u->die;
		if (gus_split_is(&u->die) && gus_split_open(&u->split, &d->package, d->vet.e, d->code, &u->die, &other))
			u->body = other;
		if (!may_read_files(d, u) || dwarf_getsrcfiles(&u->body, &u->files, &u->files_n) != 0)
			u->files_n = 0;
	}
	forget_functions(u);
	if (gus_vet_walk(vet_of(d, u), &u->body))
		find_functions(&walk, &u->body, 0);
	gus_ranges_ready(&u->functions);
	if (u->split.e && u->split.e->trouble)
		d->vet.e->trouble = u->split.e->trouble;
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

static void find_inlined(struct walk *w, Dwarf_Die *parent, uint32_t around, unsigned depth)
{
	struct unit *u = w->u;
	Dwarf_Die die;

	if (!enter(w, parent, &die, depth))
		return;
	do {
		int tag = dwarf_tag(&die);
		uint32_t within = around;

		if (tag == DW_TAG_inlined_subroutine) {
			within = (uint32_t)u->inlined.n;
			if (!gus_vet_make(&w->d->vet, 2 * sizeof(struct inlined)) ||
			    !add_ranges(w->d, vet_of(w->d, u), &w->of->inlines, &die, within, depth))
				continue;
			gus_vec_push(&u->inlined, (struct inlined){ .die = die, .around = around });
		} else if (tag != DW_TAG_lexical_block && tag != DW_TAG_try_block && tag != DW_TAG_catch_block) {
			continue;
		}
		find_inlined(w, &die, within, depth + 1);
	} while (next_sibling(w, &die));
}

static const char *name_of(struct gus_dwarf *d, Dwarf_Die *die)
{
	static const unsigned attributes[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		const char *name = dwarf_formstring(dwarf_attr_integrate(die, attributes[i], &attribute));

		if (name && *name)
			return as_name(d, name);
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
		i->call.name = name_of(d, &i->die);
		if (number_of(&i->die, DW_AT_call_file, &file) && file < u->files_n)
			i->call.file = whole(d, u, dwarf_filesrc(u->files, (size_t)file, NULL, NULL));
		if (number_of(&i->die, DW_AT_call_line, &line) && line <= UINT32_MAX)
			i->call.line = (uint32_t)line;
	}
	return &i->call;
}

static void walk_inlined(struct gus_dwarf *d, struct unit *u, struct routine *f)
{
	if (f->walked)
		return;
	f->walked = true;
	find_inlined(&(struct walk){ .d = d, .u = u, .of = f }, &f->die, GUS_RANGE_NONE, 0);
	gus_ranges_ready(&f->inlines);
}

size_t gus_dwarf_calls(struct gus_dwarf *d, uint64_t address, struct gus_call *calls, size_t max, const char **outer)
{
	struct unit *u = unit_at(d, address);
	struct routine *f = u ? routine_at(d, u, address) : NULL;
	const struct gus_range *r;
	size_t n = 0;

	if (outer)
		*outer = f ? name_of(d, &f->die) : NULL;
	if (!f)
		return 0;
	walk_inlined(d, u, f);
	r = gus_ranges_find(&f->inlines, address);
	for (uint32_t at = r ? r->value : GUS_RANGE_NONE; at != GUS_RANGE_NONE && n < max;
	     at = u->inlined.v[at].around)
		calls[n++] = *call_of(d, u, &u->inlined.v[at]);
	return n;
}

/* Up to the rows on both sides. */
static void narrow_to_row(const struct unit *u, uint64_t address, uint64_t *low, uint64_t *high)
{
	size_t n = rows_before(u, address);
	Dwarf_Addr at;

	if (n && address_of(u, n - 1, &at) && at > *low)
		*low = at;
	if (n < u->lines_n && address_of(u, n, &at) && at < *high)
		*high = at;
}

bool gus_dwarf_extent(struct gus_dwarf *d, uint64_t address, uint64_t *low, uint64_t *high)
{
	struct unit *u = unit_at(d, address);
	struct routine *f;

	*low = 0;
	*high = UINT64_MAX;
	gus_ranges_extent(&d->ranges, address, low, high);
	if (!u)
		return true;
	read_lines(d, u);
	narrow_to_row(u, address, low, high);
	f = routine_at(d, u, address);
	gus_ranges_extent(&u->functions, address, low, high);
	if (f) {
		walk_inlined(d, u, f);
		gus_ranges_extent(&f->inlines, address, low, high);
	}
	return !gus_split_is(&u->die) || u->body.cu != u->die.cu;
}
