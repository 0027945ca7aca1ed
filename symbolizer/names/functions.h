/* SPDX-License-Identifier: MIT */
/* The functions of a module by address, whoever named them: a symbol table, a PLT, unwind entries, kallsyms. */
#ifndef GUS_SYMBOLIZER_NAMES_FUNCTIONS_H
#define GUS_SYMBOLIZER_NAMES_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "base/limits.h"
#include "symbolizer/names/ranges.h"

/* What the name of a PLT stub ends with, after the name of the function that it calls. */
#define GUS_PLT_SUFFIX "@plt"

struct gus_function {
	uint64_t low, high;   /* [low, high); added with high == low, it ends where the next one begins */
	uint64_t limit;       /* but not behind this: the end of its section */
	const char *name;     /* as in its table; borrowed */
	const char *shown;    /* demangled, NULL until asked for */
	uint32_t order;       /* of addition */
	bool weak, global;
};

/* Zero-initialise; add; make ready once; then ask. */
struct gus_functions {
	struct gus_vec(struct gus_function) list;
	struct gus_ranges ranges;
	struct gus_strings names; /* those that have no other home */
	struct gus_budget letters; /* that may be demangled to choose among names */
	bool ready;
};

void gus_functions_init(struct gus_functions *f);
void gus_functions_free(struct gus_functions *f);
void gus_functions_add(struct gus_functions *f, const struct gus_function *function);
/* Leaves one name per address, by a fixed ranking, and settles the ends. */
void gus_functions_ready(struct gus_functions *f);
/* The function around address, or NULL. */
struct gus_function *gus_functions_find(struct gus_functions *f, uint64_t address);
/* Its name, demangled unless `raw`; lives as long as the table. */
const char *gus_function_name(struct gus_functions *f, struct gus_function *function, bool raw);

#endif
