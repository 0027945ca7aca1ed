/* SPDX-License-Identifier: MIT */
/* How fast the core engine is, in CPU time of one core:
 *
 *	model-speed [UOPS-FILE]
 *
 * Simulated cycles a second on loops of 20 to 60 instructions, each run for 300,000 cycles, and a sweep of twelve sizes
 * and widths of a loop of 58 uops, each by a run of its own until it is periodic. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/code/program.h"
#include "model/code/uoptable.h"
#include "model/core/core.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "model-speed: %s\n", what);
	exit(99);
}

/* Loops of code, as compilers write them: a dot product in AVX2 unrolled by eight, a checksum over bytes unrolled by
 * eight, a stencil of three points in doubles. */
static const struct {
	const char *name, *hex;
} loops[] = {
	{ "dot product",
	  "c5fc1006c5fc104e20c5fc105640c5fc105e60c5fc10a680000000c5fc10aea0000000c5fc10b6c0000000c5fc10bee0"
	  "000000c4627db807c46275b84f20c4626db85740c46265b85f60c4625db8a780000000c46255b8afa0000000c4624db8"
	  "b7c0000000c46245b8bfe00000004881c6000100004881c7000100004883e940" },
	{ "checksum",
	  "0fb60601c201d10fb6460101c201d10fb6460201c201d10fb6460301c201d10fb6460401c201d10fb6460501c201d10f"
	  "b6460601c201d10fb6460701c201d14883c60889c8c1e80731c16bd22149ffcf" },
	{ "stencil",
	  "c5fb1006c5fb584608c5fb584610c4c17b59c0c5fb1107c5fb104608c5fb584610c5fb584618c4c17b59c0c5fb114708"
	  "c5fb104610c5fb584618c5fb584620c4c17b59c0c5fb114710c5fb104618c5fb584620c5fb584628c4c17b59c0c5fb11"
	  "47184883c6204883c7204883e904" },
};

static size_t from_hex(const char *hex, uint8_t *code)
{
	size_t n = 0;
	int32_t back;

	for (; hex[0] && hex[1]; hex += 2) {
		char two[3] = { hex[0], hex[1], 0 };

		code[n++] = (uint8_t)strtoul(two, NULL, 16);
	}
	/* jnz back to the start */
	code[n++] = 0x0f;
	code[n++] = 0x85;
	back = -(int32_t)(n + 4);
	memcpy(code + n, &back, 4);
	return n + 4;
}

static double run(const struct gus_program *p, const struct gus_core_config *c, uint64_t iterations, uint64_t *cycles)
{
	struct gus_core_options o = { .pointers = p->bytes && p->uarch->isa == GUS_ISA_X86_64 ?
		GUS_CORE_POINTERS_DISTINCT :
		GUS_CORE_POINTERS_NONE, .iterations = iterations };
	struct gus_core_result r;
	struct gus_error err = { 0 };
	double start = now();

	if (gus_core_run(p, c, &o, &r, &err) != 0)
		die(err.text);
	*cycles = r.cycles;
	return now() - start;
}

static void measure(const char *name, const struct gus_program *p, const struct gus_core_config *c)
{
	double best = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t cycles, few;
		double spent;

		run(p, c, 100, &few);
		spent = run(p, c, 300000 * 100 / (few ? few : 1), &cycles);
		if ((double)cycles / spent > best)
			best = (double)cycles / spent;
	}
	printf("%-36s %6.2f M cycles/s  (best of 5)\n", name, best / 1e6);
}

static void sweep(const struct gus_program *p, const struct gus_core_config *c)
{
	static const char *const knobs[] = { "rob", "rs", "load_buffer", "store_buffer", "branch_buffer", "renames",
		"int_renames",
		"vector_renames", "issue_width", "retire_width", "issue_delay", "loop_boundary" };
	struct gus_error err = { 0 };
	double best = 1e9;

	for (int i = 0; i < 5; i++) {
		double start = now();

		for (size_t k = 0; k < sizeof(knobs) / sizeof(*knobs); k++) {
			struct gus_core_config changed = *c;
			uint64_t cycles;

			if (gus_core_config_set(&changed, knobs[k], k == 11 ? 0 : k == 10 ? 2 : k < 8 ? 1000 : 8,
						&err) != 0)
				die(err.text);
			run(p, &changed, 0, &cycles);
		}
		if (now() - start < best)
			best = now() - start;
	}
	printf("%-36s %6.2f ms\n", "a sweep of 12 knobs, 58 uops", best * 1e3);
}

static struct gus_uarch *table(const char *name)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, &err);

	if (!u)
		die(err.text);
	return u;
}

int main(int argc, char **argv)
{
	struct gus_uarch *skylake = table("skylake"), *ufs = table("ufs-sandybridge");
	struct gus_core_config c;
	struct gus_error err = { 0 };

	gus_core_config_of(&c, skylake);
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		uint8_t code[1024];
		char name[64];
		size_t n = from_hex(loops[i].hex, code);
		struct gus_program *p = gus_program_new(skylake, code, n, 0, 0, &err);

		if (!p || !p->loop)
			die(p ? "that is no loop" : err.text);
		snprintf(name, sizeof(name), "%s, %u instructions", loops[i].name, p->insns_n);
		measure(name, p, &c);
		gus_program_free(p);
	}
	if (argc > 1) {
		static char text[1 << 16];
		FILE *f = fopen(argv[1], "re");
		size_t n = f ? fread(text, 1, sizeof(text), f) : 0;
		struct gus_program *p = gus_uoptable_program(ufs, argv[1], text, n, &err);

		if (!p)
			die(err.text);
		gus_core_config_of(&c, ufs);
		measure("realft2_4_de, 54 instructions", p, &c);
		sweep(p, &c);
		gus_program_free(p);
		fclose(f);
	}
	gus_uarch_free(skylake);
	gus_uarch_free(ufs);
	return 0;
}
