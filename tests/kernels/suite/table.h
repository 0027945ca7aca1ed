/* SPDX-License-Identifier: MIT */
/* What the kernels of the suite work on, and how exactly their results are known. */
#ifndef GUS_TESTS_SUITE_TABLE_H
#define GUS_TESTS_SUITE_TABLE_H

#include "suite.h"

enum suite_role {
	SUITE_UNUSED,
	SUITE_IN,       /* any value may stand there: the result depends on it */
	SUITE_FIXED,    /* read, and of a form of its own */
	SUITE_OUT,      /* written: the result */
	SUITE_IN_OUT,   /* both */
	SUITE_SCRATCH,  /* written, and of no meaning behind a pass */
};

enum suite_type { SUITE_F64, SUITE_F32, SUITE_U8, SUITE_U32, SUITE_U64 };

/* What is there at first. Where it has to have a form, the kernel's own `prepare` puts it there. */
enum suite_fill {
	SUITE_ZEROS,
	SUITE_NEAR_ONE,  /* 0.75 to 1.25 */
	SUITE_DOMINANT,  /* a matrix of such, whose diagonal is more than the rest of the row */
	SUITE_LENGTHS,   /* 1 to 1000 */
	SUITE_RANDOM,    /* all bits */
	SUITE_BASES,     /* 0 to 3 */
	SUITE_TEXT,      /* words of a small language, with spaces between */
	SUITE_FILLS
};

struct suite_array {
	enum suite_role role;
	enum suite_type type;
	enum suite_fill fill;
	unsigned power, times;  /* it has times * n^power elements */
};

/* Which steps a pass does, where it does not do all. */
enum suite_part {
	SUITE_WHOLE,
	SUITE_FIRST,  /* always the first: later ones have less to do */
	SUITE_LAST,   /* always the last, on about what earlier ones would have left */
	SUITE_LAST_KNOWN,  /* on exactly that: one step after the other is not needed */
	SUITE_ROUND,  /* the next ones in each pass, as all have the same to do */
};

struct suite_kernel {
	const char *name, *noun;
	double tolerance;            /* of a result, as a share of the array's largest; integers are exact */
	enum suite_part part;
	unsigned depth, work;        /* a step takes about work * n^depth cycles */
	void (*prepare)(struct suite_room *room, uint64_t *chance);
	struct suite_array array[SUITE_ARRAYS];
};

extern const struct suite_kernel suite_kernels[SUITE_COUNT];

size_t suite_type_size(enum suite_type type);
size_t suite_array_elements(const struct suite_array *array, long n);
/* What the arrays take on the whole. */
size_t suite_kernel_bytes(const struct suite_kernel *kernel, long n);
/* The largest n whose arrays take no more, 0 if there is none that is worth it. */
long suite_kernel_size(const struct suite_kernel *kernel, size_t bytes);
/* Steps of a pass: as many as take about a millisecond, and at least one. */
long suite_kernel_steps(const struct suite_kernel *kernel, long n);

#endif
