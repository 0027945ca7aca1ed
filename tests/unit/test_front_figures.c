/* SPDX-License-Identifier: MIT */
/* The front ends of shipped tables: blocks of code whose time was measured, and loops whose way and time follow from
 * how the core is built. Blocks are unrolled, loops closed by their last instruction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/hex.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/core/frontend.h"
#include "model/machine/config.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

struct run {
	struct gus_uarch *u;
	struct gus_program *p;
	struct gus_core_config c;
	struct gus_core_options o;
};

static void open_run(struct run *r, const char *cpu, const char *hex, uint64_t base)
{
	struct gus_error err = { 0 };
	size_t n;
	uint8_t *code = gus_hex_parse(hex, strlen(hex), &n);

	*r = (struct run){ .o = { .fetch = GUS_CORE_FETCH_AUTO } };
	r->u = gus_uarch_parse(cpu, NULL, 0, &gus_uarch_builtin, 0, &err);
	r->p = r->u ? gus_program_new(r->u, code, n, base, 0, &err) : NULL;
	if (!r->p)
		fail_msg("%s: %s", hex, err.text);
	free(code);
	gus_core_config_of(&r->c, r->u);
}

static void close_run(struct run *r)
{
	gus_program_free(r->p);
	gus_uarch_free(r->u);
}

static double cycles_of(struct run *r)
{
	struct gus_core_result result;
	struct gus_error err = { 0 };

	if (gus_core_run(r->p, &r->c, &r->o, &result, &err) != 0)
		fail_msg("%s", err.text);
	return (double)result.steady_cycles / (double)result.steady_iterations;
}

/* Timed from outside on these cores, unrolled. */
static void blocks(void **state)
{
	static const struct { const char *cpu, *hex; double cycles; } cases[] = {
		{ "icelake-server", "80f962", 0.39 },           /* 16/3 instructions a block, 5 a cycle */
		{ "haswell", "6683f931", 0.33 },                /* cmp cx, 0x31: the fourth decoder does not take it */
		{ "ivybridge", "6683f931", 0.33 },
		{ "haswell", "4989d149d3e14584ed", 1.99 },      /* mov; shl by cl of 3 uops; test */
		{ "haswell", "5b4889e85d415c", 1.99 },          /* pop r12 is alone */
		{ "ivybridge", "5b4889e85d415c", 1.99 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r;
		double cycles;

		open_run(&r, cases[i].cpu, cases[i].hex, 0);
		r.o.unrolled = true;
		cycles = cycles_of(&r);
		if (fabs(cycles - cases[i].cycles) > 0.03 * cases[i].cycles + 0.01)
			fail_msg("%s on %s: %.3f, measured %.2f", cases[i].hex, cases[i].cpu, cycles, cases[i].cycles);
		close_run(&r);
	}
}

/* One loop of 33 bytes, eight slots, at some places: a fused dec and jnz in its last five bytes. Where these cross or
 * end at a multiple of 32 a Skylake of 2019 decodes it again and again, three blocks of 16 bytes a turn; a place
 * without that, an older microcode and other cores need no more than issue does. */
static void places_of_a_loop(void **state)
{
	static const char loop[] = "4883c0014883c2014883c6014883c7014983c0014983c1014983c20149ffcf75e1";
	static const struct { const char *cpu; uint64_t at; uint32_t erratum; enum gus_core_fetch fetch;
		double cycles; } cases[] = {
		{ "skylake", 0, 1, GUS_CORE_FETCH_DECODERS, 3 }, { "skylake", 3, 1, GUS_CORE_FETCH_DECODERS, 3 },
		{ "skylake", 4, 1, GUS_CORE_FETCH_UOP_CACHE, 2 }, { "skylake", 30, 1, GUS_CORE_FETCH_UOP_CACHE, 2 },
		{ "skylake", 31, 1, GUS_CORE_FETCH_DECODERS, 2 }, { "skylake", 0, 0, GUS_CORE_FETCH_UOP_CACHE, 2 },
		{ "cascadelake", 0, 1, GUS_CORE_FETCH_DECODERS, 3 }, { "cascadelake", 4, 1, GUS_CORE_FETCH_LOOP, 2 },
		{ "skylake-avx512", 0, 1, GUS_CORE_FETCH_DECODERS, 3 }, { "haswell", 0, 0, GUS_CORE_FETCH_LOOP, 2 },
		{ "icelake-server", 0, 0, GUS_CORE_FETCH_UOP_CACHE, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r;
		double cycles;

		open_run(&r, cases[i].cpu, loop, cases[i].at);
		if (strcmp(cases[i].cpu, "skylake") != 0) /* of that one a row is of an older microcode */
			assert_int_equal(r.c.jcc_erratum, cases[i].erratum);
		r.c.jcc_erratum = cases[i].erratum;
		r.c.port_binding = GUS_CORE_BIND_ANY; /* the front end is the question */
		cycles = cycles_of(&r);
		if (gus_frontend_mode(r.p, &r.c, &r.o) != cases[i].fetch || fabs(cycles - cases[i].cycles) > 0.05)
			fail_msg("case %zu: %.2f cycles, way %d", i, cycles, gus_frontend_mode(r.p, &r.c, &r.o));
		close_run(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks),
		cmocka_unit_test(places_of_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
