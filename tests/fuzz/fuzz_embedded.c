/* SPDX-License-Identifier: MIT */
/* Fuzz target of what a recording brings along of its modules. An input is one or two Embedded messages behind two
 * bytes that say how long the first one is; both are of the module that the first names. A message is taken whole or
 * refused, and a refused one changes nothing; then everything is asked at each place that they speak of, and around
 * it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbolizer/symbols/symbols.h"
#include "tests/fuzz/limit.h"

#define HEAD 2          /* bytes of length */
#define ROOM 48         /* of code that is asked for */
#define PLACES 4096     /* that are asked about; an input of 16 KiB has fewer */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

struct asked {
	struct gus_symbols *symbols;
	struct gus_module module;
	unsigned places;
	int taken;              /* messages */
};

static void ask_at(struct asked *a, uint64_t offset)
{
	struct gus_name names[GUS_NAMES_MAX];
	uint8_t code[ROOM];
	unsigned machine;
	size_t n;

	if (a->places++ > PLACES)
		return;
	for (int depth = GUS_DEPTH_FUNCTION; depth <= GUS_DEPTH_INLINE; depth++) {
		n = gus_symbols_names(a->symbols, &a->module, offset, (enum gus_depth)depth, names);
		demand(n >= 1 && n <= GUS_NAMES_MAX && (n == 1 || depth == GUS_DEPTH_INLINE));
		for (size_t i = 0; i < n; i++) {
			demand(names[i].inlined == (i + 1 < n));
			demand(!names[i].size || (names[i].start <= offset &&
						  offset - names[i].start < names[i].size));
			demand(!names[i].function || strlen(names[i].function) < 1u << 17);
			demand(a->taken || (!names[i].function && !names[i].file));
		}
	}
	n = gus_symbols_code(a->symbols, &a->module, offset, code, sizeof(code), &machine);
	demand(n <= sizeof(code) && (a->taken || !n));
	gus_symbols_address(a->symbols, &a->module, offset);
}

static void ask_around(struct asked *a, uint64_t offset, uint64_t size)
{
	const uint64_t at[] = { offset - 1, offset, offset + size / 2, offset + size - 1, offset + size };

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		ask_at(a, at[i]);
}

static void ask_all(struct asked *a, const Gusprof__Embedded *m)
{
	for (size_t i = 0; i < m->n_functions; i++)
		ask_around(a, m->functions[i]->offset, m->functions[i]->size);
	for (size_t i = 0; i < m->n_lines; i++)
		ask_around(a, m->lines[i]->offset, m->lines[i]->size);
	for (size_t i = 0; i < m->n_code; i++)
		ask_around(a, m->code[i]->offset, m->code[i]->bytes.len);
}

static struct gus_module module_of(const Gusprof__Embedded *m)
{
	return (struct gus_module){ .kind = gus_module_kind_of(m->path), .path = m->path,
		.build_id = m->build_id.len ? m->build_id.data : NULL, .build_id_size = m->build_id.len,
		.inode = m->inode, .major = m->major, .minor = m->minor };
}

static void add(struct asked *a, Gusprof__Embedded *m, const Gusprof__Embedded *first)
{
	Gusprof__Embedded same = *m;

	same.path = first->path;
	same.build_id = first->build_id;
	same.inode = first->inode;
	same.major = first->major;
	same.minor = first->minor;
	a->taken += gus_symbols_add_embedded(a->symbols, &same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const nowhere[] = { NULL };
	const struct gus_symbols_options options = { .symfs = "/nowhere", .debug_dirs = nowhere };
	struct limit bounds = limit_begin();
	Gusprof__Embedded *one, *two;
	struct asked a = { 0 };
	size_t first;

	if (size < HEAD)
		return 0;
	first = data[0] | (size_t)data[1] << 8;
	if (first > size - HEAD)
		first = size - HEAD;
	one = gusprof__embedded__unpack(NULL, first, data + HEAD);
	if (!one)
		return 0;
	two = gusprof__embedded__unpack(NULL, size - HEAD - first, data + HEAD + first);
	a.symbols = gus_symbols_new(&options, NULL);
	a.module = module_of(one);
	add(&a, one, one);
	if (two)
		add(&a, two, one);
	ask_all(&a, one);
	if (two)
		ask_all(&a, two);
	demand(!a.taken || !gus_symbols_add_embedded(a.symbols, one) || !a.places);
	gus_symbols_trouble(a.symbols, &a.module);
	gus_symbols_code_trouble(a.symbols, &a.module);
	gus_symbols_free(a.symbols);
	gusprof__embedded__free_unpacked(one, NULL);
	if (two)
		gusprof__embedded__free_unpacked(two, NULL);
	limit_end(bounds, size, 300, 0);
	return 0;
}
