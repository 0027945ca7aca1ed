/* SPDX-License-Identifier: MIT */
#include "cli/script/names.h"

#include <stdlib.h>
#include <string.h>

#include "cli/common/lines.h"
#include "cli/report/folded.h"
#include "cli/script/fields.h"

enum shape { TAIL, FRAME, FRAME_OF_RETURN, FOLDED };
struct shaped { uint64_t offset; uint32_t module, shape; };

void gus_script_names_init(struct gus_script_names *n, struct gus_profile *p, unsigned fields, bool inlines)
{
	*n = (struct gus_script_names){ .profile = p, .fields = fields, .inlines = inlines };
	gus_index_init(&n->places, sizeof(struct shaped));
	gus_strings_init(&n->texts);
}

void gus_script_names_free(struct gus_script_names *n)
{
	gus_index_free(&n->places);
	gus_strings_free(&n->texts);
	gus_vec_free(&n->text_of);
}

/* perf's name of it, which other programs look for. */
static const char *module_name(const struct gus_module *module)
{
	return strcmp(module->path, GUS_MODULE_KERNEL_ITSELF) == 0 ? GUS_MODULE_KERNEL_OF_PERF : module->path;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What is behind the address. */
static void put_function(const struct gus_script_names *n, struct gus_lines *l, const struct gus_name *name,
			 const struct gus_module *module, uint64_t shown_offset)
{
	if (n->fields & GUS_FIELD_SYM) {
		gus_lines_word(l, " ");
		gus_lines_text(l, name->function ? name->function : "[unknown]", 0);
		if (name->function && !name->inlined && n->fields & GUS_FIELD_SYMOFF) {
			gus_lines_word(l, "+0x");
			gus_lines_hex(l, shown_offset - name->start, 0);
		}
	}
	if (name->inlined) {
		gus_lines_word(l, " (inlined)");
	} else if (n->fields & GUS_FIELD_DSO) {
		gus_lines_word(l, " (");
		gus_lines_text(l, module_name(module), 0);
		gus_lines_word(l, ")");
	}
}

static void put_source(const struct gus_script_names *n, struct gus_lines *l, const struct gus_name *name)
{
	if (!(n->fields & GUS_FIELD_SRCLINE) || !name->file)
		return;
	gus_lines_word(l, "\n  ");
	gus_lines_text(l, base_of(name->file), 0);
	gus_lines_word(l, ":");
	gus_lines_number(l, name->line, 0, ' ');
}

/* As perf's file address, so that it means the same in every run: of the kernel, and of what has no file, it is the
 * address itself. */
static void put_address(const struct gus_script_names *n, struct gus_lines *l, const struct gus_module *module,
			uint64_t offset)
{
	gus_lines_word(l, "\t");
	if (n->fields & GUS_FIELD_IP)
		gus_lines_hex(l, gus_symbols_address(n->profile->symbols, module, offset), 16);
}

static void put_frame(const struct gus_script_names *n, struct gus_lines *l, const struct gus_module *module,
		      struct gus_place place, bool returns, const struct gus_name *names, size_t count)
{
	uint64_t shown = place.offset + returns;

	for (size_t i = 0; i < count; i++) {
		put_address(n, l, module, shown);
		put_function(n, l, &names[i], module, shown);
		put_source(n, l, &names[i]);
		gus_lines_word(l, "\n");
	}
}

static void put_folded(struct gus_lines *l, const struct gus_module *module, const struct gus_name *names, size_t count)
{
	for (size_t i = count; i--;) {
		gus_folded_function(l, module, names[i].function, names[i].inlined);
		if (i)
			gus_lines_word(l, ";");
	}
}

static enum gus_depth depth_of(const struct gus_script_names *n, enum shape shape)
{
	if (n->inlines && shape != TAIL)
		return GUS_DEPTH_INLINE;
	return n->fields & GUS_FIELD_SRCLINE ? GUS_DEPTH_LINE : GUS_DEPTH_FUNCTION;
}

static void put(struct gus_script_names *n, struct gus_lines *l, struct gus_place place, enum shape shape)
{
	const struct gus_module *module = gus_space_module(n->profile->space, place.module);
	struct gus_name names[GUS_NAMES_MAX];
	size_t count = gus_symbols_names(n->profile->symbols, module, place.offset, depth_of(n, shape), names);

	if (shape == TAIL) { /* of which there is one name: inlined functions are asked for in chains alone */
		put_function(n, l, &names[0], module, place.offset);
		put_source(n, l, &names[0]);
	} else if (shape == FOLDED) {
		put_folded(l, module, names, count);
	} else {
		put_frame(n, l, module, place, shape == FRAME_OF_RETURN, names, count);
	}
}

static struct gus_string_ text_of(struct gus_script_names *n, struct gus_place place, enum shape shape)
{
	struct shaped key = { place.offset, place.module, shape };
	struct gus_lines l = { 0 };
	bool is_new;
	uint32_t number = gus_index_add(&n->places, &key, &is_new);

	if (is_new) {
		put(n, &l, place, shape);
		gus_vec_push(&n->text_of, gus_strings_add_n(&n->texts, l.v ? l.v : "", l.n));
		gus_vec_free(&l);
	}
	return n->texts.list[n->text_of.v[number]];
}

struct gus_string_ gus_script_names_tail(struct gus_script_names *n, struct gus_place place)
{
	return text_of(n, place, TAIL);
}

struct gus_string_ gus_script_names_frame(struct gus_script_names *n, struct gus_place place, bool returns)
{
	return text_of(n, place, returns ? FRAME_OF_RETURN : FRAME);
}

struct gus_string_ gus_script_names_folded(struct gus_script_names *n, struct gus_place place)
{
	return text_of(n, place, FOLDED);
}

void gus_script_names_end(struct gus_script_names *n, struct gus_lines *l, struct gus_place place, bool symbol)
{
	const struct gus_module *module = gus_space_module(n->profile->space, place.module);
	struct gus_name names[GUS_NAMES_MAX];
	const struct gus_name *name;

	if (!symbol) {
		gus_lines_word(l, "0x");
		gus_lines_hex(l, gus_symbols_address(n->profile->symbols, module, place.offset), 0);
		gus_lines_word(l, "(");
		gus_lines_text(l, module_name(module), 0);
		gus_lines_word(l, ")");
		return;
	}
	name = &names[gus_symbols_names(n->profile->symbols, module, place.offset, GUS_DEPTH_FUNCTION, names) - 1];
	gus_lines_text(l, name->function ? name->function : "[unknown]", 0);
	if (name->function) {
		gus_lines_word(l, "+0x");
		gus_lines_hex(l, place.offset - name->start, 0);
	}
}
