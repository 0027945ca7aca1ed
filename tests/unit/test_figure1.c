/* SPDX-License-Identifier: MIT */
/* Two small kernels and what they wait for: Figure 1 of the paper about Gus (Dutilleul, Pompougnac, Derumigny and
 * others). Two multiply-adds reduce into one register, so their latency is what an iteration takes, whether or not one
 * of the loads is hoisted out of the loop. Loads that nobody reads are free, until they fill the load ports. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "made_program.h"
#include "model/analysis/bounds.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

enum kernel { KERNEL_A, KERNEL_B, KERNELS };

static const uint8_t load_1[] = { 0xc5, 0xfc, 0x28, 0x09 };             /* vmovaps (%rcx), %ymm1 */
static const uint8_t load_2[] = { 0xc5, 0xfc, 0x28, 0x10 };             /* vmovaps (%rax), %ymm2: not in KERNEL_B */
static const uint8_t reduce[] = {
	0xc4, 0xe2, 0x75, 0xb8, 0xc3,                                   /* vfmadd231ps %ymm3, %ymm1, %ymm0 */
	0xc4, 0xe2, 0x75, 0xb8, 0xc2,                                   /* vfmadd231ps %ymm2, %ymm1, %ymm0 */
	0x48, 0x83, 0xc1, 0x20,                                         /* add $32, %rcx */
	0x48, 0x83, 0xc0, 0x20,                                         /* add $32, %rax */
};
static const uint8_t count[] = { 0x48, 0xff, 0xca };                    /* dec %rdx */

static size_t put(uint8_t *code, size_t n, const void *bytes, size_t size)
{
	memcpy(code + n, bytes, size);
	return n + size;
}

/* The loop with so many more loads: mov DISPLACEMENT(%rsi), %r8, each from a line of its own and of other bytes of the
 * line than those before and behind it, so that no bank of a cache is asked too often. */
static size_t assemble(uint8_t *code, enum kernel kernel, unsigned more)
{
	size_t n = put(code, 0, load_1, sizeof(load_1));
	int32_t back;

	if (kernel == KERNEL_A)
		n = put(code, n, load_2, sizeof(load_2));
	n = put(code, n, reduce, sizeof(reduce));
	for (unsigned i = 0; i < more; i++) {
		uint32_t displacement = i * (64 + 8);
		uint8_t load[] = { 0x4c, 0x8b, 0x86, (uint8_t)displacement, (uint8_t)(displacement >> 8), 0, 0 };

		n = put(code, n, load, sizeof(load));
	}
	n = put(code, n, count, sizeof(count));
	back = -(int32_t)(n + 6);
	n = put(code, n, (const uint8_t[]){ 0x0f, 0x85 }, 2);           /* jnz to the first */
	return put(code, n, &back, sizeof(back));
}

struct seen {
	double cycles;                  /* an iteration */
	double ports, dependencies;     /* cycles, if only these were the limit */
	uint64_t limiting;              /* ports */
};

static void run(const struct gus_uarch *u, enum kernel kernel, unsigned more, struct seen *seen)
{
	const struct gus_core_options options = { .pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_error err = { 0 };
	struct gus_core_config config;
	struct gus_core_result r;
	struct gus_bounds b;
	uint8_t code[512];
	struct gus_program *p = gus_program_new(u, code, assemble(code, kernel, more), 0, 0, &err);

	if (!p)
		fail_msg("%s", err.text);
	assert_true(p->loop);
	assert_int_equal(p->unknown, 0);
	gus_core_config_of(&config, u);
	config.jcc_erratum = 0; /* ports are the question, and not where the jump happens to end */
	if (gus_core_run(p, &config, &options, &r, &err) != 0 || gus_bounds_of(p, &config, &options, &b, &err) != 0)
		fail_msg("%s", err.text);
	assert_true(r.periodic);
	*seen = (struct seen){ (double)r.steady_cycles / (double)r.steady_iterations, b.cycles[GUS_BOUND_PORTS],
		b.cycles[GUS_BOUND_DEPENDENCIES], b.ports };
	gus_program_free(p);
}

static const struct cpu { const char *name; unsigned load_ports; } cpus[] = {
	{ "skylake", 2 }, { "alderlake", 3 }, { "sapphirerapids", 3 },
};
enum { CPUS = sizeof(cpus) / sizeof(*cpus), REDUCTION = 8, MORE = 27 };

/* Two additions of four cycles each that wait for each other: the hoisted load gains nothing. */
static void the_reduction_is_all(void **state)
{
	(void)state;
	for (int c = 0; c < CPUS; c++) {
		struct gus_uarch *u = made_table(cpus[c].name);

		for (int kernel = 0; kernel < KERNELS; kernel++) {
			struct seen seen;

			run(u, kernel, 0, &seen);
			assert_true(fabs(seen.cycles - REDUCTION) < 1e-9);
			assert_true(fabs(seen.dependencies - REDUCTION) < 1e-9);
			assert_true(seen.ports < 2);
		}
		gus_uarch_free(u);
	}
}

/* Sixteen loads in eight cycles on two ports, twenty-four on three: the next one costs its share of a cycle. */
static void loads_are_free_until_they_fill_their_ports(void **state)
{
	(void)state;
	for (int c = 0; c < CPUS; c++) {
		struct gus_uarch *u = made_table(cpus[c].name);

		for (int kernel = 0; kernel < KERNELS; kernel++) {
			unsigned own = kernel == KERNEL_A ? 2 : 1, first = 0;

			for (unsigned more = 0; more < MORE; more++) {
				double filled = (double)(own + more) / cpus[c].load_ports;
				struct seen seen;

				run(u, kernel, more, &seen);
				if (!first && seen.cycles > REDUCTION + 1e-9)
					first = own + more;
				if (fabs(seen.cycles - (filled > REDUCTION ? filled : REDUCTION)) > 1e-9)
					fail_msg("%s, %u loads: %g cycles an iteration", cpus[c].name, own + more,
						 seen.cycles);
				if (first) {
					assert_true(seen.ports > seen.dependencies);
					assert_int_equal(__builtin_popcountll(seen.limiting), cpus[c].load_ports);
				}
			}
			assert_int_equal(first, REDUCTION * cpus[c].load_ports + 1);
		}
		gus_uarch_free(u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reduction_is_all),
		cmocka_unit_test(loads_are_free_until_they_fill_their_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
