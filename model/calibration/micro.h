/* SPDX-License-Identifier: MIT */
/* A microbenchmark of calibration: a function in machine code whose loop is timed, and what somebody who does not
 * execute it but simulates it has to know besides: where its accesses go and its branches, pass after pass.
 *
 * The function takes the number of passes and the address of its memory (the arena), as void f(uint64_t, void *) of the
 * platform's C, keeps the registers that a function has to keep, and calls nothing. Memory is what gus_micro_fill made
 * of it, before each run. Pure: nothing here executes or times. */
#ifndef GUS_MODEL_CALIBRATION_MICRO_H
#define GUS_MODEL_CALIBRATION_MICRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "symbolizer/insn/insn.h"

enum { GUS_MICRO_NONE = 255 };

/* Places in the arena that are walked in one random cycle, or in order: place i lies at start + i * distance +
 * (i % skews) * skew. Each holds the address of the one after it. With blocks of so many places those of a block come
 * one after the other, in a random order, and then those of another block: so that a page is looked up once for all.
 *
 * Blocks may lie so many bytes apart, from the beginning of one to that of the next; then place i of block b lies at
 * start + b * apart + i * distance, the last of each block `leap` bytes farther. */
struct gus_micro_list {
	uint64_t start, places, distance;       /* distance: with apart it may be negative, modulo 2^64 */
	uint64_t block;         /* places; 0: each by itself */
	uint32_t skews, skew;   /* skews 0: none */
	bool in_order;          /* place i + 1 comes after i, else the order is random */
	bool rows;              /* inside a block place i + 1 comes after i; blocks are in a random order */
	uint64_t seed;
	uint64_t apart, leap;   /* apart 0: blocks lie behind each other, and nothing leaps; leap: as distance */
	/* With apart: of so many blocks one has its last place there, the others anywhere in their page (4 KiB), in any
	 * line, as far from its beginning as the leap leads from that of a line. 0: all have it there. */
	uint64_t scattered;
};

/* Bytes in the arena, a power of two of them, each 0 or 1: at random, or always the same. */
struct gus_micro_pattern {
	uint64_t start, bytes;
	enum gus_micro_bits { GUS_MICRO_RANDOM, GUS_MICRO_ZEROS, GUS_MICRO_ONES, GUS_MICRO_TURNS /* 0 1 0 1 */ } bits;
	uint64_t seed;
};

enum gus_micro_way {
	GUS_MICRO_FIXED,       /* offset in each pass */
	GUS_MICRO_STRIDE,      /* offset + (pass * stride) % wrap; wrap: a power of two */
	GUS_MICRO_CHASE,       /* where the list stands, + offset; with `step` the list goes on behind it */
};
struct gus_micro_access {
	enum gus_micro_way way;
	int64_t offset;         /* from the arena's first byte; of a chase from its place */
	uint64_t stride, wrap;
	uint8_t list;           /* of a chase */
	bool step;
};

/* A conditional branch inside the body, forward. */
struct gus_micro_jump {
	uint32_t from, to;      /* offsets in code: of the branch, and of where it goes when taken */
	uint8_t pattern;        /* taken where its byte of that pass is 1; NONE: never */
};

struct gus_micro {
	char name[64];          /* "rob 5 224": what it measures and with which figures */
	enum gus_isa isa;
	struct gus_vec(uint8_t) code;           /* all of the function */
	uint32_t loop, end;     /* the body in code: a pass begins at loop; end is behind the branch back */
	uint64_t arena;         /* bytes of memory; its address is a multiple of 2 MiB */
	bool huge;              /* of 2 MiB pages, else of base pages and no others */
	bool wide;              /* x86: it has touched the upper halves of vector registers */
	struct gus_vec(struct gus_micro_list) lists;
	struct gus_vec(struct gus_micro_pattern) patterns;
	struct gus_vec(struct gus_micro_access) accesses; /* of the body, in the order of the program */
	struct gus_vec(struct gus_micro_jump) jumps;      /* likewise, but the branch back */
	uint64_t warm;          /* passes before it runs as it will, at least; such as once around a list */
	uint64_t passes;        /* that make one measurement, at least; 0: so many that time can be told */
};

/* A microbenchmark without code. Freed with gus_micro_free, the structure itself too. */
struct gus_micro *gus_micro_new(enum gus_isa isa, const char *name, ...) __attribute__((format(printf, 2, 3)));
void gus_micro_free(struct gus_micro *k);

/* Makes memory what the microbenchmark expects of it; address is what its first byte has where it runs. */
void gus_micro_fill(const struct gus_micro *k, void *arena, uint64_t address);

/* The passes of a microbenchmark, one after the other. */
struct gus_micro_walk {
	const struct gus_micro *micro;
	uint64_t pass;                          /* that is next */
	struct gus_vec(uint64_t) addresses;     /* of the last: of each access, as an offset in the arena ... */
	struct gus_vec(bool) taken;             /* ... and of each jump */
	/* Private. */
	struct gus_vec(uint32_t *) orders;      /* by list: place that comes after each */
	struct gus_vec(uint64_t) at;            /* by list: place where it stands */
};
void gus_micro_walk_begin(struct gus_micro_walk *w, const struct gus_micro *k);
/* Accesses that a taken jump skips have addresses all the same, and lists go on. */
void gus_micro_walk_next(struct gus_micro_walk *w);
void gus_micro_walk_end(struct gus_micro_walk *w);

#endif
