/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "prepare.h"

enum { PASS_CYCLES = 1 << 21, LEAST_SIZE = 5 };

/* Arrays: of n^power elements; IN and CHANGED with what is there at first. */
#define IN(type, fill, power) { SUITE_IN, SUITE_ ## type, SUITE_ ## fill, power, 1 }
#define MORE_IN(type, fill, power, times) { SUITE_IN, SUITE_ ## type, SUITE_ ## fill, power, times }
#define CHANGED(type, fill, power) { SUITE_IN_OUT, SUITE_ ## type, SUITE_ ## fill, power, 1 }
#define FIXED(type, power, times) { SUITE_FIXED, SUITE_ ## type, SUITE_ZEROS, power, times }
#define OUT(type, power) { SUITE_OUT, SUITE_ ## type, SUITE_ZEROS, power, 1 }
#define SOME_OUT(type, times) { SUITE_OUT, SUITE_ ## type, SUITE_ZEROS, 0, times }
#define SCRATCH(type, power, times) { SUITE_SCRATCH, SUITE_ ## type, SUITE_ZEROS, power, times }
#define MATRIX IN(F64, NEAR_ONE, 2)
#define VECTOR IN(F64, NEAR_ONE, 1)

const struct suite_kernel suite_kernels[SUITE_COUNT] = {
	[SUITE_gemm] = { "gemm", "products", 1e-13, SUITE_ROUND, 2, 1, NULL,
		{ MATRIX, MATRIX, CHANGED(F64, NEAR_ONE, 2) } },
	[SUITE_mm2] = { "2mm", "products", 1e-13, SUITE_ROUND, 2, 4, NULL,
		{ MATRIX, MATRIX, MATRIX, CHANGED(F64, NEAR_ONE, 2), OUT(F64, 2) } },
	[SUITE_mm3] = { "3mm", "products", 1e-13, SUITE_ROUND, 2, 6, NULL,
		{ MATRIX, MATRIX, MATRIX, MATRIX, OUT(F64, 2), OUT(F64, 2), OUT(F64, 2) } },
	[SUITE_symm] = { "symm", "products", 1e-13, SUITE_ROUND, 2, 1, NULL,
		{ MATRIX, MATRIX, CHANGED(F64, NEAR_ONE, 2) } },
	[SUITE_syrk] = { "syrk", "products", 1e-13, SUITE_LAST, 2, 2, NULL, { MATRIX, CHANGED(F64, NEAR_ONE, 2) } },
	[SUITE_syr2k] = { "syr2k", "products", 1e-13, SUITE_LAST, 2, 4, NULL,
		{ MATRIX, MATRIX, CHANGED(F64, NEAR_ONE, 2) } },
	[SUITE_trmm] = { "trmm", "products", 1e-13, SUITE_FIRST, 2, 1, NULL, { MATRIX, MATRIX, OUT(F64, 2) } },
	[SUITE_doitgen] = { "doitgen", "products", 1e-13, SUITE_ROUND, 3, 2, NULL,
		{ IN(F64, NEAR_ONE, 3), MATRIX, OUT(F64, 3) } },

	[SUITE_atax] = { "atax", "vectors", 1e-13, SUITE_WHOLE, 0, 0, NULL, { MATRIX, VECTOR, OUT(F64, 1) } },
	[SUITE_bicg] = { "bicg", "vectors", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ MATRIX, VECTOR, VECTOR, OUT(F64, 1), OUT(F64, 1) } },
	[SUITE_mvt] = { "mvt", "vectors", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, OUT(F64, 1), OUT(F64, 1) } },
	[SUITE_gemver] = { "gemver", "vectors", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ MATRIX, MORE_IN(F64, NEAR_ONE, 1, 6), OUT(F64, 2), OUT(F64, 1), OUT(F64, 1) } },
	[SUITE_gesummv] = { "gesummv", "vectors", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ MATRIX, MATRIX, VECTOR, OUT(F64, 1) } },

	[SUITE_cholesky] = { "cholesky", "solvers", 1e-11, SUITE_LAST_KNOWN, 2, 2, suite_prepare_cholesky,
		{ IN(F64, ZEROS, 2), OUT(F64, 2) } },
	[SUITE_durbin] = { "durbin", "solvers", 1e-11, SUITE_LAST_KNOWN, 1, 4, suite_prepare_durbin,
		{ IN(F64, ZEROS, 1), FIXED(F64, 1, 1), OUT(F64, 1), SCRATCH(F64, 1, 1) } },
	[SUITE_gramschmidt] = { "gramschmidt", "solvers", 1e-11, SUITE_LAST, 2, 16, suite_prepare_gramschmidt,
		{ IN(F64, DOMINANT, 2), OUT(F64, 2), OUT(F64, 2) } },
	[SUITE_lu] = { "lu", "solvers", 1e-10, SUITE_LAST_KNOWN, 2, 1, suite_prepare_lu,
		{ IN(F64, ZEROS, 2), OUT(F64, 2) } },
	[SUITE_ludcmp] = { "ludcmp", "solvers", 1e-10, SUITE_LAST_KNOWN, 2, 4, suite_prepare_ludcmp,
		{ IN(F64, ZEROS, 2), VECTOR, OUT(F64, 2), OUT(F64, 1), OUT(F64, 1) } },
	[SUITE_trisolv] = { "trisolv", "solvers", 1e-12, SUITE_WHOLE, 0, 0, NULL,
		{ IN(F64, DOMINANT, 2), VECTOR, OUT(F64, 1) } },

	[SUITE_correlation] = { "correlation", "statistics", 1e-11, SUITE_FIRST, 2, 1, NULL,
		{ MATRIX, SCRATCH(F64, 2, 1), OUT(F64, 2), SCRATCH(F64, 1, 1), SCRATCH(F64, 1, 1) } },
	[SUITE_covariance] = { "covariance", "statistics", 1e-11, SUITE_FIRST, 2, 2, NULL,
		{ MATRIX, SCRATCH(F64, 2, 1), OUT(F64, 2), SCRATCH(F64, 1, 1) } },

	[SUITE_floyd_warshall] = { "floyd-warshall", "dynamic", 0, SUITE_FIRST, 2, 8, NULL,
		{ IN(U32, LENGTHS, 2), OUT(U32, 2) } },
	[SUITE_nussinov] = { "nussinov", "dynamic", 0, SUITE_LAST, 2, 1, suite_prepare_nussinov,
		{ IN(U8, BASES, 1), OUT(U32, 2) } },

	[SUITE_adi] = { "adi", "stencils", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ CHANGED(F64, NEAR_ONE, 2), OUT(F64, 2), SCRATCH(F64, 1, 1), SCRATCH(F64, 1, 1) } },
	[SUITE_fdtd_2d] = { "fdtd-2d", "stencils", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ CHANGED(F64, NEAR_ONE, 2), CHANGED(F64, NEAR_ONE, 2), CHANGED(F64, NEAR_ONE, 2), VECTOR } },
	[SUITE_heat_3d] = { "heat-3d", "stencils", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ CHANGED(F64, NEAR_ONE, 3), CHANGED(F64, NEAR_ONE, 3) } },
	[SUITE_jacobi_1d] = { "jacobi-1d", "stencils", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ CHANGED(F64, NEAR_ONE, 1), CHANGED(F64, NEAR_ONE, 1) } },
	[SUITE_jacobi_2d] = { "jacobi-2d", "stencils", 1e-13, SUITE_WHOLE, 0, 0, NULL,
		{ CHANGED(F64, NEAR_ONE, 2), CHANGED(F64, NEAR_ONE, 2) } },
	[SUITE_seidel_2d] = { "seidel-2d", "stencils", 1e-13, SUITE_WHOLE, 0, 0, NULL, { CHANGED(F64, NEAR_ONE, 2) } },
	[SUITE_deriche] = { "deriche", "filters", 1e-5, SUITE_WHOLE, 0, 0, NULL,
		{ IN(F32, NEAR_ONE, 2), SCRATCH(F32, 2, 1), SCRATCH(F32, 2, 1), OUT(F32, 2), OUT(F32, 2) } },

	[SUITE_search] = { "search", "strings", 0, SUITE_ROUND, 0, 2, suite_prepare_search,
		{ IN(U8, TEXT, 1), FIXED(U8, 0, 32), SCRATCH(U32, 0, 256), SOME_OUT(U64, 8) } },
	[SUITE_crc] = { "crc", "strings", 0, SUITE_ROUND, 0, 7, suite_prepare_crc,
		{ IN(U8, TEXT, 1), FIXED(U32, 0, 256) } },
	[SUITE_utf8] = { "utf8", "strings", 0, SUITE_ROUND, 0, 4, suite_prepare_utf8,
		{ IN(U8, ZEROS, 1), OUT(U32, 1) } },
	[SUITE_json] = { "json", "strings", 0, SUITE_ROUND, 0, 4, suite_prepare_json,
		{ IN(U8, ZEROS, 1), SOME_OUT(U64, 9) } },
	[SUITE_lz] = { "lz", "strings", 0, SUITE_ROUND, 0, 4, NULL,
		{ IN(U8, TEXT, 1), SCRATCH(U32, 0, 1024), OUT(U32, 1), SCRATCH(U8, 1, 1) } },

	[SUITE_hash] = { "hash", "structures", 0, SUITE_ROUND, 0, 32, suite_prepare_hash,
		{ FIXED(U64, 1, 1), IN(U64, RANDOM, 1), IN(U64, ZEROS, 1), OUT(U64, 1) } },
	[SUITE_btree] = { "btree", "structures", 0, SUITE_ROUND, 0, 1024, suite_prepare_btree,
		{ FIXED(U64, 1, 15), FIXED(U32, 1, 16), IN(U64, ZEROS, 1), OUT(U64, 1) } },
	[SUITE_quicksort] = { "quicksort", "structures", 0, SUITE_ROUND, 0, 64, NULL,
		{ IN(U32, RANDOM, 1), OUT(U32, 1) } },
	[SUITE_interpreter] = { "interpreter", "structures", 0, SUITE_ROUND, 0, 16, NULL,
		{ IN(U32, RANDOM, 1), CHANGED(U32, RANDOM, 1), SOME_OUT(U32, 16) } },
	[SUITE_transpose] = { "transpose", "structures", 0, SUITE_WHOLE, 0, 0, NULL, { MATRIX, OUT(F64, 2) } },
};

size_t suite_type_size(enum suite_type type)
{
	static const size_t sizes[] = {
		[SUITE_F64] = 8, [SUITE_F32] = 4, [SUITE_U8] = 1, [SUITE_U32] = 4, [SUITE_U64] = 8,
	};

	return sizes[type];
}

static size_t power_of(long n, unsigned power)
{
	size_t v = 1;

	while (power--)
		v *= (size_t)n;
	return v;
}

size_t suite_array_elements(const struct suite_array *array, long n)
{
	return array->times * power_of(n, array->power);
}

size_t suite_kernel_bytes(const struct suite_kernel *kernel, long n)
{
	size_t bytes = 0;

	for (int i = 0; i < SUITE_ARRAYS; i++)
		bytes += suite_array_elements(&kernel->array[i], n) * suite_type_size(kernel->array[i].type);
	return bytes;
}

long suite_kernel_size(const struct suite_kernel *kernel, size_t bytes)
{
	long low = 0, step = 1;

	/* No array is of more than the third power, and sizes that are asked for are below 2^40: nothing wraps. */
	while (suite_kernel_bytes(kernel, 2 * step) <= bytes)
		step *= 2;
	for (; step; step /= 2)
		if (suite_kernel_bytes(kernel, low + step) <= bytes)
			low += step;
	return low < LEAST_SIZE ? 0 : low;
}

long suite_kernel_steps(const struct suite_kernel *kernel, long n)
{
	size_t cycles = kernel->work * power_of(n, kernel->depth);
	long steps = cycles ? (long)(PASS_CYCLES / cycles) : n;

	return kernel->part == SUITE_WHOLE || steps > n ? n : steps < 1 ? 1 : steps;
}
