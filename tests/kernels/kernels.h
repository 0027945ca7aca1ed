/* SPDX-License-Identifier: MIT */
/* Kernels of our own: loops as programs have them, each of a number of turns that is known beforehand, so that what a
 * model says of a turn can stand beside what the silicon takes for it. None is tuned to a CPU.
 *
 * A kernel is a function kernel_NAME, which does a pass: `turns` turns of the loop that it is about. It reads and
 * writes nothing but the room, and leaves the values there such that the next pass takes as long (no denormals, nothing
 * that overflows in a million passes). What it returns is of no meaning; it keeps the work from being left out. What
 * else belongs to a kernel are functions whose names begin with kernel_NAME followed by a double underscore. */
#ifndef GUS_TESTS_KERNELS_H
#define GUS_TESTS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
	KERNEL_N = 1000,       /* elements of a vector: two or three of them fit into any L1 */
	KERNEL_SIDE = 48,      /* rows and columns of a matrix */
	KERNEL_TEXT = 8192,    /* bytes of text */
	KERNEL_WORDS = 2048,   /* random numbers, and places of an order by chance */
	KERNEL_FAR = 1 << 21,  /* bytes of the region that no L1 holds */
};

struct kernel_node {
	struct kernel_node *next;
	uint64_t value;
	uint64_t padding[6];
};

/* What kernels work on. Every array is aligned to a page and has a page behind it that may be read. */
struct kernel_room {
	double *x, *y, *z;           /* KERNEL_N of about one; z is written */
	double *a, *b, *c;           /* KERNEL_SIDE by KERNEL_SIDE by rows; a's diagonal dominates; c is written */
	float *f, *g;                /* KERNEL_N of about one */
	uint8_t *text;               /* KERNEL_TEXT letters, spaces and newlines, with a zero at the end */
	uint8_t *out;                /* 4 * KERNEL_TEXT bytes, written */
	uint32_t *words;             /* KERNEL_WORDS by chance */
	uint32_t *order;             /* each number below KERNEL_WORDS once, by chance */
	uint32_t *sorted;            /* KERNEL_WORDS, ascending */
	uint32_t *work;              /* 2 * KERNEL_WORDS, written */
	uint32_t *table;             /* 256: the CRC's */
	uint64_t *longs;             /* KERNEL_N by chance; none is 0 */
	struct kernel_node *nodes;   /* a list of 256 in an order by chance, which goes round */
	uint8_t *far;                /* KERNEL_FAR bytes; a list of its lines by chance goes round from its front */
	uint64_t *chance;            /* a generator's state, which goes on from pass to pass: nothing can learn it */
	void **quarters;             /* of that list: its nodes 0, 1024, 2048 and 3072 */
};

typedef uint64_t kernel_pass(struct kernel_room *room);

struct kernel {
	const char *name;
	kernel_pass *pass;
	uint64_t turns;  /* of a pass */
	const char *of;  /* what a turn is */
};

/* Of each file what it has; ends with one without a name. */
extern const struct kernel kernels_linear_o2[], kernels_linear_o3[], kernels_linear_fma[];
extern const struct kernel kernels_stencils_o2[], kernels_stencils_o3[];
extern const struct kernel kernels_text[], kernels_structures[], kernels_control[], kernels_numbers[], kernels_pairs[];

/* A kernel of a file that is compiled several times has the way in its name. */
#define KERNEL_PASTE(name, way) kernel_ ## name ## way
#define KERNEL_NAMED(name, way) KERNEL_PASTE(name, way)
#define KERNEL_TEXT_OF(name) #name
#define KERNEL_WAY_NAMED(name, way) KERNEL_TEXT_OF(name) KERNEL_TEXT_OF(way)
#ifndef KERNEL_WAY
#define KERNEL_WAY
#endif
#define KERNEL(name) \
	static __attribute__((noinline, aligned(64))) uint64_t KERNEL_NAMED(name, KERNEL_WAY)(struct kernel_room *room)
#define KERNEL_ROW(name, turns, of) { KERNEL_ROW_NAME(name, KERNEL_WAY), KERNEL_NAMED(name, KERNEL_WAY), turns, of }
#define KERNEL_ROW_NAME(name, way) KERNEL_WAY_NAMED(name, way)

/* The next number by chance. */
static inline uint64_t kernel_chance(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 40;
}

/* Keeps a value as it is from what the compiler knows of it. */
#define KERNEL_HIDE(value) __asm__("" : "+r"(value))

#endif
