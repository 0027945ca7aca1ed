/* SPDX-License-Identifier: MIT */
/* A trace, read once before it is run: how long it is, and what is mapped. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_LOOK_H
#define GUS_TESTS_ACCURACY_GOLDEN_LOOK_H

#include <stdint.h>

#include "base/alloc.h"
#include "tests/accuracy/golden/words.h"

struct golden_look {
	uint64_t instructions;
	struct gus_vec(struct golden_mapping) mappings;
};
/* -1 with err, also if there is no instruction in it. Freed with golden_look_free in any case. */
int golden_look_at(const char *trace, struct golden_look *l, struct gus_error *err);
void golden_look_free(struct golden_look *l);

#endif
