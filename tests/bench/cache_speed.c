/* SPDX-License-Identifier: MIT */
/* How fast the caches, the branch predictor and what else is told of each step of a trace are, in CPU time of one core:
 * accesses (branches, ops) a second, best of five.
 *
 *	cache-speed */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "model/oracles/branch.h"
#include "model/oracles/cache.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "model/watch/carried.h"
#include "model/watch/known.h"
#include "model/watch/phases.h"

enum { TIMES = 5, ACCESSES = 10000000 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "cache-speed: %s\n", what);
	exit(99);
}

/* Accesses of 8 bytes: `random` of 65536 go to anywhere in the region, the others on from the one before. */
static void measure(const char *name, const struct gus_cache_config *config, uint64_t region, uint64_t stride,
		    bool random)
{
	double best = 0;
	uint64_t misses = 0;

	for (int k = 0; k < TIMES; k++) {
		struct gus_error err = { 0 };
		struct gus_cache *c = gus_cache_new(config, &err);
		uint64_t at = 0, x = 88172645463325252;
		double start;

		if (!c)
			die(err.text);
		start = now();
		for (uint64_t i = 0; i < ACCESSES; i++) {
			struct gus_cache_access a = { .address = (UINT64_C(1) << 40) + at, .bytes = 8,
				.id = (uint32_t)(i & 3), .store = !(i & 3),
				.now = i };
			struct gus_cache_answer answer;

			gus_cache_access(c, &a, &answer);
			if (random) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				at = (x >> 8) % region & ~UINT64_C(7);
			} else {
				at += stride;
				at = at >= region ? 0 : at;
			}
		}
		start = now() - start;
		if (ACCESSES / start > best)
			best = ACCESSES / start;
		misses = gus_cache_totals(c)->level[0].misses[GUS_CACHE_DEMAND];
		gus_cache_free(c);
	}
	printf("%-44s %7.1f M/s   misses of L1 %5.1f %%\n", name, best / 1e6, 100. * (double)misses / ACCESSES);
}

static void measure_caches(const char *table)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse(table, NULL, 0, &gus_uarch_builtin, 0, &err);
	struct gus_cache_config config;

	if (!u)
		die(err.text);
	gus_cache_config_of(&config, u);
	printf("caches of %s\n", table);
	measure("  in order in L1", &config, 16 << 10, 8, false);
	measure("  random in L1", &config, 16 << 10, 8, true);
	measure("  random in L2", &config, 128 << 10, 8, true);
	measure("  in order beyond", &config, 64 << 20, 8, false);
	measure("  random beyond", &config, 64 << 20, 8, true);
	gus_uarch_free(u);
}

/* Conditional branches of 500 places in turn, one in `random` decided by chance, the others by their place and turn. */
static void measure_branches(const char *name, unsigned random)
{
	double best = 0;
	uint64_t wrong = 0;

	for (int k = 0; k < TIMES; k++) {
		struct gus_error err = { 0 };
		struct gus_branch_config config;
		struct gus_branch_predictor *p;
		uint64_t x = 88172645463325252;
		double start;

		gus_branch_config_default(&config);
		p = gus_branch_new(&config, &err);
		if (!p)
			die(err.text);
		start = now();
		for (uint64_t i = 0; i < ACCESSES; i++) {
			uint64_t pc = 0x400000 + i % 500 * 12;
			struct gus_branch_outcome o = { .pc = pc, .next = pc + 2, .target = pc + 64,
				.kind = GUS_BRANCH_CONDITIONAL };

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			o.taken = i % 500 % random == 0 ? x >> 32 & 1 : (i % 500 + i / 500) % 4 != 0;
			gus_branch_run(p, &o);
		}
		start = now() - start;
		if (ACCESSES / start > best)
			best = ACCESSES / start;
		wrong = gus_branch_totals(p)->mispredicted;
		gus_branch_free(p);
	}
	printf("%-44s %7.1f M/s   mispredicted %5.1f %%\n", name, best / 1e6, 100. * (double)wrong / ACCESSES);
}

/* Ops of nine classes that wait, execute and are stalled for some cycles each, in four regions. What it takes to make
 * them up is taken off. */
static double told(struct gus_phases *p)
{
	double start = now();
	int64_t issue = 0, retire = 0;

	for (uint64_t i = 0; i < ACCESSES; i++) {
		struct gus_phases_op op = { .region = (uint32_t)(i >> 9 & 3),
			.class = (uint8_t)(GUS_INSN_MOV + i * 11 % 9), .instructions = 1,
			.load = i % 4 == 0, .store = i % 8 == 1 };

		issue = issue + 2000000 < retire ? retire - 2000000 : issue + 1260;
		op.issue = issue;
		op.start = issue + (int64_t)(5040 * (i * 7 % 13));
		op.complete = op.start + (int64_t)(4 * 5040 * (1 + i % 5));
		op.retire = retire = op.complete > retire + 1260 ? op.complete : retire + 1260;
		op.left = op.retire + 3000;
		__asm__ volatile("" ::"r"(&op) : "memory");
		if (p)
			gus_phases_note(p, &op);
	}
	return now() - start;
}

static void measure_phases(void)
{
	double best = 1e9, without = 1e9;

	for (int k = 0; k < TIMES; k++) {
		struct gus_phases *p = gus_phases_new();
		double t = told(p), empty = told(NULL);

		best = t < best ? t : best;
		without = empty < without ? empty : without;
		gus_phases_free(p);
	}
	printf("%-44s %7.1f M/s   %5.1f ns\n", "phases, an op", ACCESSES / (best - without) / 1e6,
	       (best - without) / ACCESSES * 1e9);
}

/* a[i] = f(b[i], a[i - 1]): two loads and a store an iteration. */
static void measure_carried(void)
{
	double best = 1e9;

	for (int k = 0; k < TIMES; k++) {
		struct gus_carried *c = gus_carried_new();
		double start = now();

		for (uint64_t i = 0; i < ACCESSES / 3; i++) {
			struct gus_carried_access a = { .address = 0x100000 + 8 * i, .instruction = 6 * i,
				.iteration = i, .bytes = 8, .op = 1 };
			struct gus_carried_access b = { .address = UINT64_C(1) << 40 | 8 * i, .instruction = 6 * i,
				.iteration = i, .bytes = 8, .op = 2 };

			gus_carried_load(c, &a);
			gus_carried_load(c, &b);
			a.address += 8;
			a.op = 3;
			gus_carried_store(c, &a);
		}
		start = now() - start;
		best = start < best ? start : best;
		gus_carried_free(c);
	}
	printf("%-44s %7.1f M/s   %5.1f ns\n", "dependences through memory, an access", ACCESSES / best / 1e6,
	       best / ACCESSES * 1e9);
}

/* mov rax, [rdi + rcx * 8]; inc rcx; prefetch [rdi + rcx * 8 + 512]. */
static void measure_known(void)
{
	static const struct { const char *bytes; size_t size; } code[] = { { "\x48\x8b\x04\xcf", 4 },
		{ "\x48\xff\xc1", 3 },
		{ "\x0f\x18\x8c\xcf\x00\x02\x00\x00", 8 } };
	struct gus_known_insn insns[3];
	double best = 1e9;

	for (unsigned i = 0; i < 3; i++) {
		char form[GUS_INSN_FORM_MAX];
		struct gus_insn_info info;

		gus_insn_analyse(GUS_ISA_X86_64, code[i].bytes, code[i].size, &info);
		gus_insn_form_text(GUS_ISA_X86_64, code[i].bytes, code[i].size, form, sizeof(form));
		gus_known_prepare(&insns[i], GUS_ISA_X86_64, &info, form);
	}
	for (int k = 0; k < TIMES; k++) {
		struct gus_known known = { .learnt = 0 };
		double start = now();

		for (uint64_t i = 0; i < ACCESSES / 3; i++) {
			uint64_t address = 0x100000 + 8 * i;

			gus_known_step(&known, &insns[0], &address, 1);
			gus_known_step(&known, &insns[1], NULL, 0);
			gus_known_prefetch(&known, &insns[2], 0);
			gus_known_step(&known, &insns[2], NULL, 0);
		}
		start = now() - start;
		if (known.unknown || known.wrong)
			die("a prefetch was not known");
		best = start < best ? start : best;
	}
	printf("%-44s %7.1f M/s   %5.1f ns\n", "addresses of prefetches, an instruction", ACCESSES / best / 1e6,
	       best / ACCESSES * 1e9);
}

int main(void)
{
	measure_caches("skylake");
	measure_caches("icelake-server");
	printf("branches\n");
	measure_branches("  one of 50 by chance", 50);
	measure_branches("  one of 3 by chance", 3);
	measure_phases();
	measure_carried();
	measure_known();
	return 0;
}
