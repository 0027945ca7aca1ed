/* SPDX-License-Identifier: MIT */
#include "cli/export/loaded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/limits.h"
#include "symbolizer/elf/elffile.h"

#define PAGE UINT64_C(4096) /* what the others are is a multiple of this, and files are linked for the largest */

/* A file by what a mapping says of it. */
struct gus_loaded_key { uint64_t inode; uint32_t name, id, major, minor; };

void gus_loaded_init(struct gus_loaded *l, const struct gus_rights *rights)
{
	*l = (struct gus_loaded){ .rights = *rights };
	gus_index_init(&l->files, sizeof(struct gus_loaded_key));
	gus_strings_init(&l->names);
}

void gus_loaded_free(struct gus_loaded *l)
{
	for (size_t i = 0; i < l->list.n; i++) {
		gus_vec_free(&l->list.v[i].data);
		gus_vec_free(&l->list.v[i].code);
	}
	gus_vec_free(&l->list);
	gus_index_free(&l->files);
	gus_strings_free(&l->names);
}

/* The file itself, if it is the one that was mapped. */
static struct gus_elf *open_mapped(const struct gus_loaded *l, const Gusprof__Mmap *m)
{
	struct gus_file_identity is = { m->inode, m->major, m->minor, 0 };
	struct gus_elf *e = gus_elf_open_as(m->path, &l->rights, m->inode ? &is : NULL, NULL);

	if (e && m->build_id.len &&
	    !gus_build_id_equal(m->build_id.data, m->build_id.len, e->build_id, e->build_id_size)) {
		gus_elf_close(e);
		return NULL;
	}
	return e;
}

static void read_segments(struct gus_loaded *l, struct gus_loaded_file *f, const Gusprof__Mmap *m)
{
	struct gus_elf *e = open_mapped(l, m);

	if (!e) {
		l->absent++;
		return;
	}
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct gus_segment *s = &e->segments.v[i];
		uint64_t before = s->vaddr % PAGE;
		struct gus_loaded_segment page = { s->offset - before, s->vaddr - before, 0 };

		/* What does not lie on pages as it is mapped was not mapped. */
		if (!s->file_size || s->offset % PAGE != before ||
		    __builtin_add_overflow(s->file_size, before + PAGE - 1, &page.size))
			continue;
		page.size &= ~(PAGE - 1);
		if (s->executable)
			gus_vec_push(&f->code, page);
		else
			gus_vec_push(&f->data, page);
	}
	gus_elf_close(e);
}

static const struct gus_loaded_file *file_of(struct gus_loaded *l, const Gusprof__Mmap *m)
{
	struct gus_loaded_key key = { m->build_id.len ? 0 : m->inode, gus_strings_add(&l->names, m->path), 0, 0, 0 };
	bool is_new;
	uint32_t number;

	key.id = m->build_id.len ? gus_strings_add_n(&l->names, (const char *)m->build_id.data, m->build_id.len) : 0;
	key.major = m->build_id.len ? 0 : m->major;
	key.minor = m->build_id.len ? 0 : m->minor;
	number = gus_index_find(&l->files, &key);
	if (number != GUS_INDEX_NONE)
		return &l->list.v[number];
	if (l->files.n == GUS_LIMIT_UNWIND_FILES)
		return NULL;
	number = gus_index_add(&l->files, &key, &is_new);
	gus_vec_push(&l->list, (struct gus_loaded_file){ .data = { 0 } });
	read_segments(l, &l->list.v[number], m);
	return &l->list.v[number];
}

void gus_loaded_each(struct gus_loaded *l, const Gusprof__Mmap *code, void (*take)(void *context, Gusprof__Mmap *data),
		     void *context)
{
	bool is_file = code->protection & PROT_EXEC && *code->path == '/' && code->path[1] != '/';
	const struct gus_loaded_file *f = is_file ? file_of(l, code) : NULL;
	const struct gus_loaded_segment *own = NULL;

	for (size_t i = 0; f && i < f->code.n && !own; i++)
		if (code->offset - f->code.v[i].offset < f->code.v[i].size)
			own = &f->code.v[i];
	for (size_t i = 0; own && i < f->data.n; i++) {
		const struct gus_loaded_segment *s = &f->data.v[i];
		Gusprof__Mmap m = *code;

		m.start = code->start - (code->offset - own->offset) - own->address + s->address;
		m.length = s->size;
		m.offset = s->offset;
		m.protection = PROT_READ;
		take(context, &m);
	}
}
