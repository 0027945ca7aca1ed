/* SPDX-License-Identifier: MIT */
/* A suite of forty computations, each of any size and compiled in several ways: thirty of linear algebra, statistics,
 * dynamic programming and stencils, which are the usual ones where compilers and machines are compared, and ten of
 * ordinary software. They are written from their definitions, plainly, and none is tuned to a CPU.
 *
 * A kernel is a function suite_NAME_WAY, which does a pass; it is the region that a trace is limited to: what else
 * belongs to it is inlined, and no library is called (tests/cases/suite.sh looks). It reads and writes nothing but the
 * arrays of its room, and leaves values there such that the next pass takes as long (no denormals, nothing that
 * overflows in a million passes): so it keeps its input, where the textbook overwrites it.
 *
 * A pass is the steps [from, to) of the outermost loop. Of computations that would take seconds in the sizes that no
 * cache holds it is a few of these, and what earlier steps would have left is in the room from the beginning.
 *
 * The references (references/) are the same forty in another order of loops or by another algorithm, as one more
 * way. */
#ifndef GUS_TESTS_SUITE_H
#define GUS_TESTS_SUITE_H

#include <stddef.h>
#include <stdint.h>

enum { SUITE_ARRAYS = 8 };

struct suite_room {
	void *array[SUITE_ARRAYS];  /* as the table (table.c) says, aligned to pages */
	long n;                     /* the size: rows, elements, bytes */
	long from, to;              /* steps of this pass */
};

/* What it returns is the result of those that have no other, and else of no meaning. */
typedef uint64_t suite_pass(struct suite_room *room);

#define SUITE_KERNELS(X) \
	X(gemm) X(mm2) X(mm3) X(symm) X(syrk) X(syr2k) X(trmm) X(doitgen) \
	X(atax) X(bicg) X(mvt) X(gemver) X(gesummv) \
	X(cholesky) X(durbin) X(gramschmidt) X(lu) X(ludcmp) X(trisolv) \
	X(correlation) X(covariance) X(floyd_warshall) X(nussinov) \
	X(adi) X(fdtd_2d) X(heat_3d) X(jacobi_1d) X(jacobi_2d) X(seidel_2d) X(deriche) \
	X(search) X(crc) X(utf8) X(json) X(lz) X(hash) X(btree) X(quicksort) X(interpreter) X(transpose)

#define SUITE_NUMBER(name) SUITE_ ## name,
enum suite_number { SUITE_KERNELS(SUITE_NUMBER) SUITE_COUNT };

/* The kernels as one set of the compiler's options makes them. */
struct suite_way {
	const char *name;
	suite_pass *pass[SUITE_COUNT];
};

/* Every file of kernels is compiled once a way; KERNEL_WAY has the end of its names. */
#ifdef KERNEL_WAY
#define SUITE_PASTE(name, way) suite_ ## name ## way
#define SUITE_NAMED(name, way) SUITE_PASTE(name, way)
#define SUITE_FUNCTION(name) SUITE_NAMED(name, KERNEL_WAY)
#define SUITE(name) __attribute__((noinline, aligned(64))) uint64_t SUITE_FUNCTION(name)(struct suite_room *room)
/* What a kernel is helped by. */
#define SUITE_PART static inline __attribute__((always_inline))
#define SUITE_PROTOTYPE(name) suite_pass SUITE_FUNCTION(name);
SUITE_KERNELS(SUITE_PROTOTYPE)
#endif

#endif
