/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/embedded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/symbols/embedded_check.h"

void gus_embedded_init(struct gus_embeddeds *all)
{
	*all = (struct gus_embeddeds){ .memory = { .left = GUS_LIMIT_EMBEDDED } };
	gus_strings_init(&all->keys);
	gus_strings_init(&all->texts);
}

static void free_module(struct gus_embedded *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->pieces.n; i++)
		free((void *)(uintptr_t)e->pieces.v[i]);
	gus_functions_free(&e->functions);
	gus_ranges_free(&e->lines);
	gus_ranges_free(&e->code);
	gus_vec_free(&e->known);
	gus_vec_free(&e->chains);
	gus_vec_free(&e->calls);
	gus_vec_free(&e->pieces);
	free(e);
}

void gus_embedded_free(struct gus_embeddeds *all)
{
	for (size_t i = 0; i < all->list.n; i++)
		free_module(all->list.v[i]);
	gus_vec_free(&all->list);
	gus_strings_free(&all->keys);
	gus_strings_free(&all->texts);
}

/* Modules are the same if the space calls them so: by path and build id, or where there is none by path and file. */
static uint32_t key_of(struct gus_embeddeds *all, const char *path, const uint8_t *id, size_t id_size,
		       const uint64_t file[3])
{
	struct gus_vec(char) key = { 0 };
	uint32_t number;

	gus_vec_append(&key, path, strlen(path) + 1);
	if (id_size)
		gus_vec_append(&key, (const char *)id, id_size);
	else
		gus_vec_append(&key, (const char *)file, 3 * sizeof(*file));
	number = gus_strings_add_n(&all->keys, key.v, key.n);
	gus_vec_free(&key);
	while (all->list.n <= number)
		gus_vec_push(&all->list, NULL);
	return number;
}

/* Taking. */

static const char *text_of(struct gus_embeddeds *all, const Gusprof__Embedded *m, uint32_t number)
{
	return number ? gus_strings_get(&all->texts, gus_strings_add(&all->texts, m->texts[number - 1])) : NULL;
}

static void take_function(struct gus_embeddeds *all, struct gus_embedded *e, const Gusprof__Embedded *m,
			  const Gusprof__EmbeddedFunction *f)
{
	const char *name = text_of(all, m, f->name);
	bool named = name && *name;
	char made_up[32];

	if (!named) {
		snprintf(made_up, sizeof(made_up), "sub_%" PRIx64, f->address);
		name = gus_strings_get(&all->texts, gus_strings_add(&all->texts, made_up));
	}
	/* Told twice, in messages of their own, a function with a name counts. */
	gus_functions_add(&e->functions, &(struct gus_function){ .low = f->offset, .high = f->offset + f->size,
			  .name = name, .weak = !named });
	gus_vec_push(&e->known, (struct gus_embedded_known){ f->address, named });
}

static void take_chain(struct gus_embeddeds *all, struct gus_embedded *e, const Gusprof__Embedded *m,
		       const Gusprof__EmbeddedChain *c)
{
	gus_vec_push(&e->chains, (struct gus_embedded_chain){ e->calls.n, c->n_functions });
	for (size_t i = 0; i < c->n_functions; i++)
		gus_vec_push(&e->calls, (struct gus_embedded_call){ text_of(all, m, c->functions[i]),
			     text_of(all, m, c->files[i]), c->lines[i] });
}

static void take_code(struct gus_embedded *e, const Gusprof__EmbeddedCode *c)
{
	uint8_t *copy;

	if (!c->bytes.len)
		return;
	copy = gus_alloc(c->bytes.len);
	memcpy(copy, c->bytes.data, c->bytes.len);
	gus_ranges_add(&e->code, c->offset, c->offset + c->bytes.len, (uint32_t)e->pieces.n, 0);
	gus_vec_push(&e->pieces, copy);
}

/* Bytes of memory that a message takes at most, with what is made of it when it is asked. A vector has up to twice what
 * is in it and never less than eight elements, and a table of texts begins with a thousand bytes: so a module takes
 * some, whatever it has. */
static uint64_t cost_of(const Gusprof__Embedded *m)
{
	enum { MODULE = sizeof(struct gus_embedded) + 4096, TEXT = 64, RANGE = 2 * sizeof(struct gus_range),
	       FUNCTION = RANGE + 2 * (sizeof(struct gus_function) + sizeof(struct gus_embedded_known)),
	       PIECE = RANGE + 2 * sizeof(uint8_t *) + 16 }; /* what is allocated has a head */
	uint64_t bytes = MODULE + strlen(m->path) + strlen(m->trouble) + m->n_functions * FUNCTION +
			 m->n_lines * RANGE;

	for (size_t i = 0; i < m->n_texts; i++)
		bytes += TEXT + strlen(m->texts[i]);
	for (size_t i = 0; i < m->n_chains; i++)
		bytes += 2 * (sizeof(struct gus_embedded_chain) +
			      m->chains[i]->n_functions * sizeof(struct gus_embedded_call));
	for (size_t i = 0; i < m->n_code; i++)
		bytes += PIECE + m->code[i]->bytes.len;
	return bytes;
}

bool gus_embedded_add(struct gus_embeddeds *all, const Gusprof__Embedded *m)
{
	const uint64_t file[] = { m->inode, m->major, m->minor };
	struct gus_embedded *e;
	uint32_t number, chains;

	if (!gus_embedded_is_good(m) || !gus_budget_charge(&all->memory, cost_of(m)))
		return false;
	number = key_of(all, m->path, m->build_id.data, m->build_id.len, file);
	e = all->list.v[number];
	if (e && e->ready)
		return false;
	if (!e) {
		e = all->list.v[number] = gus_zalloc(sizeof(*e));
		gus_functions_init(&e->functions);
	}
	if (m->machine)
		e->machine = m->machine;
	if (*m->trouble)
		e->trouble = gus_strings_get(&all->texts, gus_strings_add(&all->texts, m->trouble));
	chains = (uint32_t)e->chains.n;
	for (size_t i = 0; i < m->n_functions; i++)
		take_function(all, e, m, m->functions[i]);
	for (size_t i = 0; i < m->n_chains; i++)
		take_chain(all, e, m, m->chains[i]);
	for (size_t i = 0; i < m->n_lines; i++)
		gus_ranges_add(&e->lines, m->lines[i]->offset, m->lines[i]->offset + m->lines[i]->size,
			       chains + m->lines[i]->chain, 0);
	for (size_t i = 0; i < m->n_code; i++)
		take_code(e, m->code[i]);
	return true;
}

/* Asking. */

struct gus_embedded *gus_embedded_find(struct gus_embeddeds *all, const struct gus_module *m)
{
	const uint64_t file[] = { m->inode, m->major, m->minor };
	struct gus_embedded *e = NULL;
	uint32_t number;

	if (all->list.n) {
		number = key_of(all, m->path, m->build_id, m->build_id ? m->build_id_size : 0, file);
		e = all->list.v[number]; /* only now: a new key may have moved the list */
	}
	if (e && !e->ready) {
		gus_functions_ready(&e->functions);
		gus_ranges_ready(&e->lines);
		gus_ranges_ready(&e->code);
		e->ready = true;
	}
	return e;
}

bool gus_embedded_function(struct gus_embedded *e, uint64_t offset, bool raw, struct gus_embedded_function *out)
{
	struct gus_function *f = gus_functions_find(&e->functions, offset);
	const struct gus_embedded_known *known;

	if (!f)
		return false;
	known = &e->known.v[f->order];
	*out = (struct gus_embedded_function){ .name = gus_function_name(&e->functions, f, raw || !known->named),
		.named = known->named, .start = f->low, .size = f->high - f->low, .address = known->address };
	return true;
}

const struct gus_embedded_call *gus_embedded_calls(const struct gus_embedded *e, uint64_t offset, size_t *n)
{
	const struct gus_range *r = gus_ranges_find(&e->lines, offset);

	if (!r)
		return NULL;
	*n = e->chains.v[r->value].n;
	return e->calls.v + e->chains.v[r->value].first;
}

size_t gus_embedded_code(const struct gus_embedded *e, uint64_t offset, void *out, size_t size)
{
	const struct gus_range *r;
	size_t done = 0;

	while (done < size && (r = gus_ranges_find(&e->code, offset + done))) {
		uint64_t at = offset + done;
		size_t part = r->high - at < size - done ? (size_t)(r->high - at) : size - done;

		memcpy((uint8_t *)out + done, e->pieces.v[r->value] + (at - r->low), part);
		done += part;
	}
	return done;
}
