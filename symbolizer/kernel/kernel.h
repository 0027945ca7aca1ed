/* SPDX-License-Identifier: MIT */
/* Names for kernel addresses: those that the recording brought along, else those of a file that the user gives, else
 * those of the running kernel if it is the one that was recorded; and the code at them. */
#ifndef GUS_SYMBOLIZER_KERNEL_KERNEL_H
#define GUS_SYMBOLIZER_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "proto/gusprof.pb-c.h"
#include "symbolizer/kernel/kcore.h"
#include "symbolizer/names/functions.h"

struct gus_kernel {
	struct gus_functions recorded, live;
	const char *kallsyms, *kcore, *notes; /* where the live ones and the code are; a test has others */
	const char *given;  /* by the user, a text like kallsyms in place of the live names; NULL: none. Borrowed */
	/* Of a recording that does not say of which boot it is: which kernel it was, where a copy of its names may be
	 * (or NULL), and one of these names with the address that it had then (NULL: not known). */
	uint8_t *build_id;
	size_t build_id_size;
	char *kept, *anchor;
	uint64_t anchor_address, end; /* and the address behind its code or data; 0: not known */
	bool same_release;  /* without a build id: of this machine, and of a kernel with the running one's release */
	bool nowhere;       /* without a build id: nothing says of which machine and kernel */
	bool same_boot;     /* the recording is of this boot, so the live names are its names */
	bool sought;        /* the live names were asked for */
	char *refusal;      /* why the recording has none, or NULL */
	char *trouble;      /* why there are no live ones, or NULL */
	struct gus_kcore code;
	bool code_sought, judged, running; /* what gus_kernel_runs has found */
	char *code_trouble; /* why its code cannot be read, or NULL */
	/* Of these, one that has nothing to do with the kernel or with rights; or the given file's. */
	struct gus_error failure;
};

void gus_kernel_init(struct gus_kernel *k, const char *boot_id);
void gus_kernel_free(struct gus_kernel *k);
void gus_kernel_add(struct gus_kernel *k, const Gusprof__KernelSymbols *symbols);
/* Which kernel it was, and where a text like /proc/kallsyms may be of the same build (or NULL). Copied; before the
 * first question. A kernel lies elsewhere at each boot, so its names serve only if gus_kernel_lay says where it was. */
void gus_kernel_known(struct gus_kernel *k, const uint8_t *build_id, size_t size, const char *kept);
void gus_kernel_lay(struct gus_kernel *k, const char *symbol, uint64_t address, uint64_t end);
/* Whether it is the running one, as far as the recording tells: its boot, or else its build, or its release, and where
 * it lay. Of a recording that says none of these its two ends have to be those of the running one. */
bool gus_kernel_runs(struct gus_kernel *k);
/* The function around address and the table that it is in, or NULL. */
struct gus_function *gus_kernel_find(struct gus_kernel *k, uint64_t address, struct gus_functions **table);
/* Why kernel addresses have no names, or NULL if they have. */
const char *gus_kernel_trouble(struct gus_kernel *k);

/* Up to size bytes of its code at address, copied to out; how many there were. Only the running kernel's can be read,
 * so it has to be the one that was recorded. */
size_t gus_kernel_code(struct gus_kernel *k, uint64_t address, void *out, size_t size, unsigned *machine);
/* Why its code cannot be read, or NULL if it can. */
const char *gus_kernel_code_trouble(struct gus_kernel *k);

#endif
