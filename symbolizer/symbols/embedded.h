/* SPDX-License-Identifier: MIT */
/* What a recording brings along of its modules (Embedded, proto/FORMAT.md): functions, lines and code of what was
 * sampled, by offset, as they were found when it was made. All of it is foreign: a message is taken whole or not at
 * all, and what it costs follows from its size. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_EMBEDDED_H
#define GUS_SYMBOLIZER_SYMBOLS_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "base/limits.h"
#include "symbolizer/names/functions.h"
#include "symbolizer/names/ranges.h"
#include "symbolizer/space/space.h"

/* One function of a chain: its name and, of the innermost, its line, else that of the call in it. Names as in DWARF;
 * NULL and 0 where they are not known. */
struct gus_embedded_call {
	const char *function, *file;
	uint32_t line;
};

/* Beside a function's extent and name. */
struct gus_embedded_known {
	uint64_t address;
	bool named;
};

struct gus_embedded_chain {
	size_t first, n;               /* in calls */
};

/* Of one module; several messages add up to it. */
struct gus_embedded {
	unsigned machine;              /* EM_* */
	const char *trouble;           /* why there are no names, or not all; NULL if nothing is wrong */
	struct gus_functions functions; /* by offset; order numbers `known` */
	struct gus_vec(struct gus_embedded_known) known;
	struct gus_ranges lines;       /* by offset; values number chains */
	struct gus_vec(struct gus_embedded_chain) chains;
	struct gus_vec(struct gus_embedded_call) calls;
	struct gus_ranges code;        /* by offset; values number pieces */
	struct gus_vec(const uint8_t *) pieces; /* owned, as long as their ranges */
	bool ready;
};

/* Of all modules of a recording. */
struct gus_embeddeds {
	struct gus_strings keys;       /* path, and build id or file */
	struct gus_vec(struct gus_embedded *) list; /* by key; 0 is not used */
	struct gus_strings texts;
	struct gus_budget memory;      /* that all of it may take; what is more is not taken */
};

void gus_embedded_init(struct gus_embeddeds *all);
void gus_embedded_free(struct gus_embeddeds *all);

/* Copies what it needs of a message. False if the message contradicts itself, or would take more memory than what
 * recordings bring along may; then nothing of it is taken. Before the module's first question. */
bool gus_embedded_add(struct gus_embeddeds *all, const Gusprof__Embedded *message);

/* What there is of a module, ready to be asked; NULL if there is nothing. */
struct gus_embedded *gus_embedded_find(struct gus_embeddeds *all, const struct gus_module *module);

struct gus_embedded_function {
	const char *name;              /* readable unless raw; "sub_" and the address if it has none */
	bool named;
	uint64_t start, size, address; /* size 0: not known. address: of its start */
};

bool gus_embedded_function(struct gus_embedded *e, uint64_t offset, bool raw, struct gus_embedded_function *f);
/* The line of an offset and the calls around it, innermost first, *n of them; NULL if there are none. */
const struct gus_embedded_call *gus_embedded_calls(const struct gus_embedded *e, uint64_t offset, size_t *n);
/* Up to size bytes of code from that offset on; returns how many there are in a row. */
size_t gus_embedded_code(const struct gus_embedded *e, uint64_t offset, void *out, size_t size);

#endif
