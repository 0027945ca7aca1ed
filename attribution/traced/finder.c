/* SPDX-License-Identifier: MIT */
#include "attribution/traced/finder.h"

#include <stdlib.h>

#include "attribution/traced/traced.h"
#include "base/index.h"
#include "proto/sample.h"
#include "symbolizer/space/space.h"

/* Instructions of no file are known by their places in the recording. */
struct gus_finder {
	struct gus_traced *traced;
	struct gus_space *space;
	struct gus_index places;                /* struct made_place */
	struct gus_vec(struct gus_found) at;    /* by number of a place */
};

/* Of what a process told of, offsets are its own; other memory without a file has its address for one, which says
 * nothing without the process. All of one size: bytes are compared. */
struct made_place { uint64_t module, offset, pid; };

static struct made_place made_place(struct gus_space *space, const struct gus_place *at, uint32_t pid)
{
	bool told = gus_space_module(space, at->module)->kind == GUS_MODULE_JIT;

	return (struct made_place){ at->module, at->offset, told ? 0 : pid };
}

static void add_block(struct gus_finder *f, uint32_t number)
{
	const struct gus_traced_block *b = &f->traced->blocks.v[number];
	uint64_t address = b->address;

	for (uint32_t k = 0; k < b->insns_n; address += b->lengths[k++]) {
		struct gus_place at = gus_space_find(f->space, b->pid, b->time, address, GUS_MODE_USER);
		struct made_place place = made_place(f->space, &at, b->pid);
		bool is_new;
		uint32_t n = gus_index_add(&f->places, &place, &is_new);

		if (is_new)
			gus_vec_push(&f->at, (struct gus_found){ number, b->insn + k });
		else if (f->traced->blocks.v[f->at.v[n].block].executed < b->executed)
			f->at.v[n] = (struct gus_found){ number, b->insn + k };
	}
}

struct gus_finder *gus_finder_new(struct gus_traced *t, struct gus_space *space)
{
	struct gus_finder *f = gus_zalloc(sizeof(*f));

	f->traced = t;
	f->space = space;
	gus_index_init(&f->places, sizeof(struct made_place));
	for (size_t i = 0; i < t->blocks.n; i++)
		if (!t->blocks.v[i].module && t->blocks.v[i].executed && t->blocks.v[i].pid)
			add_block(f, (uint32_t)i);
	return f;
}

void gus_finder_free(struct gus_finder *f)
{
	if (!f)
		return;
	gus_index_free(&f->places);
	gus_vec_free(&f->at);
	free(f);
}

/* Which of a block's instructions begins there; it is known that one does. The offset is from the block's begin. */
static uint32_t insn_at(const struct gus_traced_block *b, uint64_t offset)
{
	uint32_t k = 0;

	for (uint64_t at = 0; k + 1 < b->insns_n && at < offset; k++)
		at += b->lengths[k];
	return b->insn + k;
}

bool gus_finder_at(const struct gus_finder *f, const struct gus_place *place, uint32_t pid, struct gus_found *out)
{
	const struct gus_module *module = gus_space_module(f->space, place->module);
	struct made_place made;
	uint32_t number;

	if (module->kind == GUS_MODULE_FILE) {
		number = gus_traced_block_at(f->traced, module->path, place->offset);
		if (number != GUS_TRACED_NONE)
			*out = (struct gus_found){ number, insn_at(&f->traced->blocks.v[number], place->offset -
								    f->traced->blocks.v[number].offset) };
		return number != GUS_TRACED_NONE;
	}
	made = made_place(f->space, place, pid);
	number = gus_index_find(&f->places, &made);
	if (number != GUS_INDEX_NONE)
		*out = f->at.v[number];
	return number != GUS_INDEX_NONE;
}
