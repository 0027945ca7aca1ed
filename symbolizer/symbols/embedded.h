/* SPDX-License-Identifier: MIT */
/* Functions and code that a recording brings along of modules that no file is behind. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_EMBEDDED_H
#define GUS_SYMBOLIZER_SYMBOLS_EMBEDDED_H

#include "base/index.h"
#include "proto/gusprof.pb-c.h"
#include "symbolizer/names/functions.h"

struct gus_embedded_code { uint64_t low, high; uint8_t *bytes; };

struct gus_embedded_module {
	struct gus_functions functions; /* by offset */
	struct gus_ranges ranges;       /* of the code, by number */
	struct gus_vec(struct gus_embedded_code) code;
	struct gus_index offsets;       /* where functions begin, and their addresses by number */
	struct gus_vec(uint64_t) addresses;
	uint32_t machine;
	bool ready;
};

struct gus_embedded {
	struct gus_strings paths;
	struct gus_vec(struct gus_embedded_module *) modules; /* by number of the path; NULL: none */
};

void gus_embedded_init(struct gus_embedded *e);
void gus_embedded_free(struct gus_embedded *e);
void gus_embedded_add(struct gus_embedded *e, const Gusprof__Embedded *message);
/* NULL if the recording brought nothing of it. */
struct gus_embedded_module *gus_embedded_find(struct gus_embedded *e, const char *path);
/* Up to size bytes from that offset on; how many there were. */
size_t gus_embedded_bytes(const struct gus_embedded_module *m, uint64_t offset, void *out, size_t size);
/* The address of an offset, as it was in the process. */
uint64_t gus_embedded_address(struct gus_embedded_module *m, uint64_t offset);

#endif
