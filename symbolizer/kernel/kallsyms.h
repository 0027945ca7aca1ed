/* SPDX-License-Identifier: MIT */
/* The text of /proc/kallsyms as functions. */
#ifndef GUS_SYMBOLIZER_KERNEL_KALLSYMS_H
#define GUS_SYMBOLIZER_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_kallsym {
	uint64_t address;
	const char *name;       /* of name_length bytes, within the text */
	const char *module;     /* of module_length bytes, without brackets; NULL for the kernel proper */
	uint32_t name_length, module_length;
	uint32_t order;         /* in the text */
	bool weak, global;
};

struct gus_kallsyms {
	struct gus_vec(struct gus_kallsym) list; /* functions only (types t, T, w and W), by address */
	bool hidden;                             /* every address was zero: the kernel does not show them to us */
};

/* Reads what it can: lines that are none of "ADDRESS TYPE NAME[\t[MODULE]]" are passed over. The text is borrowed. */
void gus_kallsyms_parse(struct gus_kallsyms *k, const char *text, size_t size);
void gus_kallsyms_free(struct gus_kallsyms *k);

#endif
