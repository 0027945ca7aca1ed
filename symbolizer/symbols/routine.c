/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/routine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "symbolizer/elf/dwarf.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/insn/loops.h"
#include "symbolizer/names/demangle.h"

/* A symbol that may be meant. */
struct found {
	uint64_t value, size;
	size_t section;
	const char *name;
};

struct search {
	struct gus_elf *elf;
	const char *what;               /* a name, or NULL */
	uint64_t address;               /* in what is looked for, without a name */
	bool demangle;
	struct gus_vec(struct found) found;
	size_t symbols;                 /* that are code, seen on the way */
};

static bool is_code(const struct gus_elf *e, const GElf_Sym *sym, GElf_Shdr *section)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	Elf_Scn *scn;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) || sym->st_shndx == SHN_UNDEF ||
	    sym->st_shndx >= SHN_LORESERVE)
		return false;
	scn = elf_getscn(e->elf, sym->st_shndx);
	return scn && gelf_getshdr(scn, section) && (section->sh_flags & SHF_EXECINSTR) &&
		section->sh_type == SHT_PROGBITS &&
		sym->st_value >= section->sh_addr && sym->st_value - section->sh_addr < section->sh_size;
}

static bool is_meant(const struct search *s, const GElf_Sym *sym, const char *name)
{
	char *readable;
	bool same;

	if (!s->what)
		return s->address >= sym->st_value && s->address - sym->st_value < (sym->st_size ? sym->st_size : 1);
	if (!s->demangle)
		return strcmp(name, s->what) == 0;
	readable = name[0] == '_' ? gus_demangle(name) : NULL;
	same = readable && strcmp(readable, s->what) == 0;
	free(readable);
	return same;
}

static void add_found(struct search *s, const struct found *new)
{
	if (!gus_elf_charge(s->elf, &s->elf->work, s->found.n, "it has too many functions of one name"))
		return;
	for (size_t i = 0; i < s->found.n; i++) {
		struct found *old = &s->found.v[i];

		if (old->value == new->value && old->section == new->section) {
			old->size = new->size > old->size ? new->size : old->size;
			return;
		}
	}
	gus_vec_push(&s->found, *new);
}

static void look_through(struct search *s, unsigned type)
{
	GElf_Shdr header, section;
	Elf_Scn *scn = gus_elf_table(s->elf, type, &header);
	Elf_Data *data = gus_elf_data(s->elf, scn), *strings = scn ? gus_elf_strings(s->elf, header.sh_link) : NULL;
	GElf_Sym sym;

	for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
		const char *name;

		if (!is_code(s->elf, &sym, &section))
			continue;
		name = gus_elf_string(s->elf, strings, sym.st_name);
		if (!name || !*name || name[0] == '$')
			continue;
		s->symbols++;
		if (is_meant(s, &sym, name))
			add_found(s, &(struct found){ sym.st_value, sym.st_size, sym.st_shndx, name });
	}
}

static void look_in_file(struct search *s)
{
	s->symbols = 0;
	look_through(s, SHT_SYMTAB);
	look_through(s, SHT_DYNSYM);
}

/* Of several sizes none: up to the next symbol of the section, or its end. */
static uint64_t size_until_next(struct gus_elf *e, const struct found *f, const GElf_Shdr *where)
{
	static const unsigned types[] = { SHT_SYMTAB, SHT_DYNSYM };
	uint64_t end = where->sh_addr + where->sh_size;
	GElf_Shdr header, section;
	GElf_Sym sym;

	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
		Elf_Data *data = gus_elf_data(e, gus_elf_table(e, types[t], &header));

		for (int i = 1; data && gelf_getsym(data, i, &sym); i++)
			if (is_code(e, &sym, &section) && sym.st_shndx == f->section && sym.st_value > f->value &&
			    sym.st_value < end)
				end = sym.st_value;
	}
	return end - f->value;
}

static int take_bytes(struct gus_routine *f, struct gus_elf *e, const struct found *found, struct gus_error *err)
{
	Elf_Scn *scn = elf_getscn(e->elf, found->section);
	Elf_Data *data = gus_elf_raw(e, scn);
	GElf_Shdr section;
	uint64_t offset, size;

	if (!data || !gelf_getshdr(scn, &section))
		return gus_fail(err, GUS_E_CORRUPT, "cannot read %s in %s: its section has no bytes", found->name,
				e->path);
	offset = found->value - section.sh_addr;
	size = found->size ? found->size : size_until_next(e, found, &section);
	if (offset >= data->d_size || size > data->d_size - offset || size > GUS_LIMIT_FUNCTION)
		return gus_fail(err, GUS_E_CORRUPT,
				"cannot read %s in %s: it would reach behind the end of its section", found->name,
				e->path);
	f->bytes = gus_alloc(size ? size : 1);
	memcpy(f->bytes, (const char *)data->d_buf + offset, size);
	f->size = size;
	f->address = found->value;
	f->isa = gus_isa_of_machine(e->machine);
	f->name = gus_demangle(found->name);
	if (!f->name)
		f->name = gus_strdup(found->name);
	return 0;
}

static int find_function(struct gus_routine *f, struct gus_elf *e, const char *what, struct gus_error *err)
{
	struct search s = { .elf = e, .what = what };
	char *end;
	int rc;

	if (strncmp(what, "0x", 2) == 0) {
		s.address = strtoull(what, &end, 16);
		if (!*end)
			s.what = NULL;
	}
	look_in_file(&s);
	if (!s.found.n && s.what) {
		s.demangle = true;
		look_in_file(&s);
	}
	if (!s.found.n)
		rc = gus_fail(err, GUS_E_NOT_FOUND, s.symbols ? "there is no function %s in %s" :
			      "cannot look for the function %s in %s: it has no symbols of code; was it stripped?",
				      what, e->path);
	else if (s.found.n > 1 && s.what)
		rc = gus_fail(err, GUS_E_USAGE,
			      "%zu functions in %s are called %s; name one by its address, such as 0x%" PRIx64
			      " or 0x%" PRIx64, s.found.n, e->path, what, s.found.v[0].value, s.found.v[1].value);
	else
		rc = take_bytes(f, e, &s.found.v[0], err);
	gus_vec_free(&s.found);
	return rc;
}

/* Loops. */

static bool is_jump(const struct gus_graph_insn *i)
{
	return i->class == GUS_INSN_BRANCH || i->class == GUS_INSN_BRANCH_INDIRECT || i->class == GUS_INSN_RET;
}

static struct gus_loop make_loop(const struct gus_graph *g, uint32_t head, uint32_t end)
{
	const struct gus_graph_insn *first = &g->insns.v[head], *last = &g->insns.v[end];
	struct gus_loop loop = { .offset = first->offset, .size = last->offset + last->length - first->offset };

	loop.instructions = end - head + 1;
	for (uint32_t i = head; i < end; i++) {
		unsigned class = g->insns.v[i].class;

		loop.branches += class == GUS_INSN_BRANCH_COND;
		loop.jumps += is_jump(&g->insns.v[i]);
		loop.calls += class == GUS_INSN_CALL || class == GUS_INSN_CALL_INDIRECT;
	}
	return loop;
}

/* Of the loop's branches back to a place, the last one that is reached by falling through; if there is none, the first.
 * What lies behind a jump is often a part of the loop that is hardly ever run and was put out of the way. */
static uint32_t end_of_loop(const struct gus_graph *g, uint32_t loop, uint32_t begin)
{
	uint32_t end = GUS_GRAPH_NONE;
	bool straight = true;

	for (uint32_t i = begin; i <= g->loops.v[loop].last; i++) {
		if (g->insns.v[i].target == begin && g->loop[i] == loop && (straight || end == GUS_GRAPH_NONE))
			end = i;
		straight &= !is_jump(&g->insns.v[i]);
		if (!straight && end != GUS_GRAPH_NONE)
			break;
	}
	return end;
}

/* The straight code of a loop begins at its head; of one that is entered at its condition, which lies at the end, where
 * the condition branches back to. */
static bool straighten(const struct gus_graph *g, uint32_t loop, struct gus_loop *straight)
{
	const struct gus_graph_loop *l = &g->loops.v[loop];
	uint32_t begin = l->head, end = end_of_loop(g, loop, begin);

	for (begin = l->first; end == GUS_GRAPH_NONE && begin <= l->last; begin++)
		end = g->loop[begin] == loop ? end_of_loop(g, loop, begin) : GUS_GRAPH_NONE;
	if (end == GUS_GRAPH_NONE)
		return false;
	*straight = make_loop(g, g->insns.v[end].target, end);
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct gus_loop *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The innermost ones; one that goes around by an indirect jump has no straight code. */
static void find_loops(struct gus_routine *f, const struct gus_graph *g)
{
	struct gus_vec(struct gus_loop) loops = { 0 };
	struct gus_loop loop;

	for (uint32_t i = 0; i < g->loops.n; i++)
		if (g->loops.v[i].inner && straighten(g, i, &loop))
			gus_vec_push(&loops, loop);
	if (loops.n)
		qsort(loops.v, loops.n, sizeof(*loops.v), by_offset);
	f->loops = loops.v;
	f->loops_n = loops.n;
}

static void find_lines(struct gus_routine *f, struct gus_elf *e)
{
	GElf_Ehdr header;
	struct gus_dwarf *d;

	/* The debug information of an object file is not relocated. */
	if (!f->loops_n || !gelf_getehdr(e->elf, &header) || header.e_type == ET_REL)
		return;
	d = gus_dwarf_open(e, e, NULL);
	for (size_t i = 0; d && i < f->loops_n; i++) {
		const char *file = NULL;

		if (gus_dwarf_line(d, f->address + f->loops[i].offset, &file, &f->loops[i].line) && file)
			f->loops[i].file = gus_strdup(file);
	}
	gus_dwarf_close(d);
}

int gus_routine_open(struct gus_routine *f, const char *path, const char *what, struct gus_error *err)
{
	struct gus_elf *e = gus_elf_open(path, err);
	struct gus_graph g;
	int rc;

	*f = (struct gus_routine){ 0 };
	if (!e)
		return -1;
	rc = find_function(f, e, what, err);
	if (rc == 0 && f->isa != GUS_ISA_UNKNOWN) {
		gus_graph_read(&g, f->isa, f->bytes, f->size);
		find_loops(f, &g);
		find_lines(f, e);
		gus_graph_free(&g);
	}
	gus_elf_close(e);
	return rc;
}

void gus_routine_close(struct gus_routine *f)
{
	for (size_t i = 0; i < f->loops_n; i++)
		free(f->loops[i].file);
	free(f->loops);
	free(f->bytes);
	free(f->name);
}

struct gus_loop gus_routine_whole(const struct gus_routine *f)
{
	struct gus_loop whole = { 0 };
	struct gus_graph g;

	gus_graph_read(&g, f->isa, f->bytes, f->size);
	if (g.insns.n)
		whole = make_loop(&g, 0, (uint32_t)g.insns.n - 1);
	gus_graph_free(&g);
	return whole;
}
