/* SPDX-License-Identifier: MIT */
/* Stacks as lines for flame graphs: "NAME;OUTER;INNER WEIGHT", each once, ordered by their bytes. As stackcollapse-perf
 * marks them, functions of the kernel end in _[k] and inlined ones in _[i]. */
#ifndef GUS_CLI_REPORT_FOLDED_H
#define GUS_CLI_REPORT_FOLDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"

struct gus_calls;
struct gus_lines;
struct gus_module;

#define GUS_FOLDED_TRUNCATED "[truncated]" /* in place of callers that are missing */

struct gus_folded {
	struct gus_strings stacks;
	struct gus_vec(uint64_t) weights; /* by stack */
};

void gus_folded_init(struct gus_folded *f);
void gus_folded_free(struct gus_folded *f);
void gus_folded_add(struct gus_folded *f, const struct gus_lines *stack, uint64_t weight);
/* Prints all of them on stdout. */
void gus_folded_print(const struct gus_folded *f);

/* Parts of a stack, which have nothing in them that ends one. A thread without a name is shown by its number. */
void gus_folded_comm(struct gus_lines *l, const char *comm, uint32_t tid);
void gus_folded_function(struct gus_lines *l, const struct gus_module *module, const char *function, bool inlined);

/* Prints all stacks of a profile that has kept the names of threads. */
void gus_folded_calls(const struct gus_calls *calls);

#endif
