/* SPDX-License-Identifier: MIT */
/* Tables and programs for tests, and how a test reads them. What cannot be made fails the test and says why. */
#ifndef GUS_TESTS_UNIT_MADE_PROGRAM_H
#define GUS_TESTS_UNIT_MADE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "model/code/program.h"
#include "model/tables/uarch.h"

/* A table of the program's own, by its name; or, with a text, one of the test's. Freed with gus_uarch_free. */
struct gus_uarch *made_table(const char *name);
struct gus_uarch *made_table_of(const char *text);

/* The program of some code, which lies at 0 or at an address, or of a table of uops (model/code/uoptable.h). Freed with
 * gus_program_free. */
struct gus_program *made_program(const struct gus_uarch *u, const void *code, size_t size);
struct gus_program *made_program_at(const struct gus_uarch *u, const void *code, size_t size, uint64_t address);
struct gus_program *made_program_of_uops(const struct gus_uarch *u, const char *text);

/* The uops of an op in one line, which lasts until the next call:
 *
 *	load p23=5 rdi>t0:5 + compute p01=1 rax,t0>rax,flags / data p4x2=1 t2
 *
 * Of each uop the kind (load, compute, address, data, none), its ports by their names without the letters, how many
 * cycles it holds them if not one, its latency, what it waits for, and what it gives. `+` joins uops of one slot, `/`
 * begins the next one. A register has `~N` if it may come N cycles late, and as a result `:N` if it is there N cycles
 * after dispatch instead of the uop's latency; t0 to t7 are the temporaries; flags that come together and alike are
 * written as one. A unit is `!N:C`, its number and how long it is busy. */
const char *made_text(const struct gus_program *p, uint32_t op);
/* Those of all ops, with semicolons between them; also until the next call. */
const char *made_texts(const struct gus_program *p);

#endif
