/* SPDX-License-Identifier: MIT */
/* How fast the caches and the branch predictor are, in CPU time of one core: accesses (branches) a second, best of five.
 *
 *	cache-speed */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/branch.h"
#include "model/builtin.h"
#include "model/cache.h"

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
static void measure(const char *name, const struct gus_cache_config *config, uint64_t region, uint64_t stride, bool random)
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
			struct gus_cache_access a = { .address = (UINT64_C(1) << 40) + at, .bytes = 8, .id = (uint32_t)(i & 3), .store = !(i & 3),
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
			struct gus_branch_outcome o = { .pc = pc, .next = pc + 2, .target = pc + 64, .kind = GUS_BRANCH_CONDITIONAL };

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

int main(void)
{
	measure_caches("skylake");
	measure_caches("icelake-server");
	printf("branches\n");
	measure_branches("  one of 50 by chance", 50);
	measure_branches("  one of 3 by chance", 3);
	return 0;
}
