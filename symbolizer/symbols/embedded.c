/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/embedded.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void gus_embedded_init(struct gus_embedded *e)
{
	*e = (struct gus_embedded){ 0 };
	gus_strings_init(&e->paths);
}

void gus_embedded_free(struct gus_embedded *e)
{
	for (size_t i = 0; i < e->modules.n; i++) {
		struct gus_embedded_module *m = e->modules.v[i];

		if (!m)
			continue;
		for (size_t c = 0; c < m->code.n; c++)
			free(m->code.v[c].bytes);
		gus_vec_free(&m->code);
		gus_vec_free(&m->addresses);
		gus_index_free(&m->offsets);
		gus_ranges_free(&m->ranges);
		gus_functions_free(&m->functions);
		free(m);
	}
	gus_vec_free(&e->modules);
	gus_strings_free(&e->paths);
}

static struct gus_embedded_module *module_of(struct gus_embedded *e, const char *path)
{
	uint32_t number = gus_strings_add(&e->paths, path ? path : "");
	struct gus_embedded_module *m;

	while (e->modules.n <= number)
		gus_vec_push(&e->modules, NULL);
	if (e->modules.v[number])
		return e->modules.v[number];
	m = e->modules.v[number] = gus_zalloc(sizeof(*m));
	gus_functions_init(&m->functions);
	gus_index_init(&m->offsets, sizeof(uint64_t));
	return m;
}

static void add_function(struct gus_embedded_module *m, const Gusprof__Embedded *from,
			 const Gusprof__EmbeddedFunction *f)
{
	struct gus_function function = { .low = f->offset, .global = true };
	bool is_new;

	if (!f->name || f->name > from->n_texts || !f->size ||
	    __builtin_add_overflow(f->offset, f->size, &function.high))
		return;
	function.limit = function.high;
	function.name = gus_strings_get(&m->functions.names, gus_strings_add(&m->functions.names,
									     from->texts[f->name - 1]));
	gus_index_add(&m->offsets, &f->offset, &is_new);
	if (!is_new)
		return;
	gus_vec_push(&m->addresses, f->address);
	gus_functions_add(&m->functions, &function);
}

static void add_code(struct gus_embedded_module *m, const Gusprof__EmbeddedCode *c)
{
	struct gus_embedded_code code = { .low = c->offset };

	if (!c->bytes.len || __builtin_add_overflow(c->offset, c->bytes.len, &code.high))
		return;
	code.bytes = gus_alloc(c->bytes.len);
	memcpy(code.bytes, c->bytes.data, c->bytes.len);
	gus_ranges_add(&m->ranges, code.low, code.high, (uint32_t)m->code.n, 0);
	gus_vec_push(&m->code, code);
}

void gus_embedded_add(struct gus_embedded *e, const Gusprof__Embedded *from)
{
	struct gus_embedded_module *m = module_of(e, from->path);

	if (m->ready) /* questions have been asked */
		return;
	m->machine = from->machine ? from->machine : m->machine;
	for (size_t i = 0; i < from->n_functions; i++)
		add_function(m, from, from->functions[i]);
	for (size_t i = 0; i < from->n_code; i++)
		add_code(m, from->code[i]);
}

struct gus_embedded_module *gus_embedded_find(struct gus_embedded *e, const char *path)
{
	uint32_t number = gus_strings_add(&e->paths, path);
	struct gus_embedded_module *m = number < e->modules.n ? e->modules.v[number] : NULL;

	if (m && !m->ready) {
		m->ready = true;
		gus_functions_ready(&m->functions);
		gus_ranges_ready(&m->ranges);
	}
	return m;
}

size_t gus_embedded_bytes(const struct gus_embedded_module *m, uint64_t offset, void *out, size_t size)
{
	const struct gus_range *r = gus_ranges_find(&m->ranges, offset);

	if (!r)
		return 0;
	if (size > r->high - offset)
		size = (size_t)(r->high - offset);
	memcpy(out, m->code.v[r->value].bytes + (offset - m->code.v[r->value].low), size);
	return size;
}

uint64_t gus_embedded_address(struct gus_embedded_module *m, uint64_t offset)
{
	const struct gus_function *f = gus_functions_find(&m->functions, offset);
	uint32_t number = f ? gus_index_find(&m->offsets, &f->low) : GUS_INDEX_NONE;

	return number == GUS_INDEX_NONE ? offset : m->addresses.v[number] + (offset - f->low);
}
