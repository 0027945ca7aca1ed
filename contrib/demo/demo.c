/* SPDX-License-Identifier: MIT */
/* A workload with five functions of known and different trouble, each taking the same CPU time: what a profiler says
 * about it can be compared with what is true. One after the other they are: a chain of dependent multiply-adds, a
 * pointer chase past the caches, a branch that no predictor can learn, a chain of divisions, a burst of stores.
 *
 *	demo [SECONDS]	default 5, of CPU time over all five functions
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* gcc gives a leaf function no frame even with -fno-omit-frame-pointer; record -g would then skip its caller. */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

/* Each function must stay a function of its own, whatever the optimiser could prove about its only caller. */
#if defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, noipa))
#endif

/* A value that the compiler knows nothing about, and a place where control flow has to be: it can neither fold what
 * comes before nor turn a branch around it into a conditional move. Costs no instruction. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

enum {
	LINE = 64,            /* bytes; of a cache line on x86 and on most arm64 */
	CHASE_LINES = 1 << 21, /* 128 MiB: past the last-level cache of all but a few servers */
	BURST_LINES = 1 << 20, /* 64 MiB */
	COIN_BYTES = 1 << 20, /* too many outcomes to remember, and still in the second-level cache */
};

struct line { uint32_t next; char rest[LINE - sizeof(uint32_t)]; };

struct memory {
	struct line *chase; /* CHASE_LINES, one cycle through all of them */
	struct line *burst; /* BURST_LINES, only ever written */
	uint8_t *coins;     /* COIN_BYTES, random */
	uint32_t chase_at, burst_at, coin_at; /* where the next call goes on */
	double fma;
	uint64_t divided, heads, tails;
};

/* Trouble: latency. Each multiply-add needs the one before, so the core retires one result every 4 (fused) to 8 cycles
 * (multiply, then add) and its other units wait. A good profiler puts the time on these one or two instructions and
 * says that they are a dependency chain; that no memory or port resource would help; and that several independent
 * accumulators would, up to the throughput of the units. */
APART static void fma_chain(struct memory *m, uint64_t rounds)
{
	double x = m->fma;

	KEEP_FRAME();
	for (uint64_t i = 0; i < rounds; i++)
#ifdef FP_FAST_FMA
		x = fma(x, 0.999999, 0.5);
#else
		x = x * 0.999999 + 0.5;
#endif
	m->fma = x;
}

/* Trouble: memory latency. Each load's address is the value of the load before, and nearly every one misses all caches
 * and the TLB. A good profiler puts the time on the one load (or, with skid, says that it belongs there and not to the
 * instruction behind it), names the level that served it, and says that bandwidth would not help; fewer misses or
 * several chases at a time would. */
APART static void pointer_chase(struct memory *m, uint64_t rounds)
{
	const struct line *lines = m->chase;
	uint32_t at = m->chase_at;

	KEEP_FRAME();
	for (uint64_t i = 0; i < rounds; i++)
		at = lines[at].next;
	m->chase_at = at;
}

/* Trouble: wrong-path work. The branch goes by a random bit, so half of its predictions are wrong and each costs a
 * flush. A good profiler names the branch and its rate, and does not blame the instructions at its target, which only
 * wait for the refill; a conditional move would end the trouble. */
APART static void random_branch(struct memory *m, uint64_t rounds)
{
	uint64_t heads = 0, tails = 0;
	uint32_t at = m->coin_at;

	KEEP_FRAME();
	for (uint64_t i = 0; i < rounds; i++) {
		at = (at + 1) & (COIN_BYTES - 1);
		if (m->coins[at] & 1) {
			heads += 3;
			OPAQUE(heads);
		} else {
			tails ^= heads;
			OPAQUE(tails);
		}
	}
	m->heads += heads;
	m->tails += tails;
	m->coin_at = at;
}

/* Trouble: one unit that is not pipelined. Each divisor is made of the quotient before, and the dividend needs all 64
 * bits, so the divider is busy the whole time and nothing else is. A good profiler puts the time on the division, names
 * the divider, and says that a reciprocal or a narrower type would help. */
APART static void divider(struct memory *m, uint64_t rounds)
{
	uint64_t dividend = UINT64_MAX - 58, quotient = m->divided;

	KEEP_FRAME();
	for (uint64_t i = 0; i < rounds; i++) {
		OPAQUE(dividend);
		quotient = dividend / ((quotient & 1023) | 513);
	}
	m->divided = quotient;
}

/* Trouble: stores that drain slower than they come. Each goes to a line far away that no cache holds, none depends on
 * another, so the store buffer fills and dispatch stops at it. A good profiler says store buffer (and behind it the
 * memory or the TLB that serves its head), not the arithmetic on the addresses; better locality would help. */
APART static void store_burst(struct memory *m, uint64_t rounds)
{
	struct line *lines = m->burst;
	uint32_t at = m->burst_at;

	KEEP_FRAME();
	for (uint64_t i = 0; i < rounds; i++) {
		/* An odd stride of about 0.6 of the array visits every line, and no two neighbours near in time. */
		at = (at + 648055) & (BURST_LINES - 1);
		lines[at].next = (uint32_t)i;
	}
	m->burst_at = at;
}

static const struct trouble {
	const char *name;
	void (*run)(struct memory *m, uint64_t rounds);
	const char *what;
} troubles[] = {
	{ "fma_chain", fma_chain, "dependent multiply-adds" },
	{ "pointer_chase", pointer_chase, "dependent loads past the caches" },
	{ "random_branch", random_branch, "mispredicted branches" },
	{ "divider", divider, "dependent 64-bit divisions" },
	{ "store_burst", store_burst, "stores past the caches" },
};

enum { TROUBLES = sizeof(troubles) / sizeof(troubles[0]) };

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *lines_new(size_t n)
{
	void *lines = aligned_alloc(4096, n * LINE);

	if (!lines) {
		fprintf(stderr, "demo: cannot allocate %zu MiB: %s\n", n * LINE >> 20, strerror(errno));
		exit(1);
	}
	return lines;
}

static void memory_init(struct memory *m)
{
	uint64_t random = 88172645463325252u;

	m->chase = lines_new(CHASE_LINES);
	m->burst = lines_new(BURST_LINES);
	m->coins = lines_new(COIN_BYTES / LINE);
	m->fma = 1;
	m->divided = 1;

	/* A linear congruential step modulo a power of two, with an odd increment and a multiplier that is 1 modulo 4,
	 * goes through every number once before it comes back: one cycle, written in order, which is quick. */
	for (uint32_t i = 0; i < CHASE_LINES; i++)
		m->chase[i].next = (i * 1664525u + 1013904223u) & (CHASE_LINES - 1);
	memset(m->burst, 1, (size_t)BURST_LINES * LINE);
	for (size_t i = 0; i < COIN_BYTES; i++) { /* xorshift64 */
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		m->coins[i] = (uint8_t)(random >> 32);
	}
}

/* Rounds that take about 10 ms: short against the share of a function, long against reading the clock. */
static uint64_t calibrate(const struct trouble *t, struct memory *m)
{
	for (uint64_t rounds = 1024;; rounds *= 2) {
		double start = cpu_seconds(), took;

		t->run(m, rounds);
		took = cpu_seconds() - start;
		if (took >= 0.005 || rounds > UINT64_MAX / 4)
			return (uint64_t)((double)rounds * 0.010 / took) + 1;
	}
}

int main(int argc, char **argv)
{
	char *end = NULL;
	double seconds = argc > 1 ? strtod(argv[1], &end) : 5;
	static struct memory m;
	uint64_t slice[TROUBLES];

	if (argc > 2 || (end && (end == argv[1] || *end)) || !(seconds > 0 && seconds <= 86400)) {
		fprintf(stderr, "usage: demo [SECONDS]\n");
		return 2;
	}
	memory_init(&m);
	for (int i = 0; i < TROUBLES; i++)
		slice[i] = calibrate(&troubles[i], &m);

	for (int i = 0; i < TROUBLES; i++) {
		double start = cpu_seconds(), took;
		uint64_t rounds = 0;

		do {
			troubles[i].run(&m, slice[i]);
			rounds += slice[i];
			took = cpu_seconds() - start;
		} while (took < seconds / TROUBLES);
		printf("%-14s %6.3f s  %8.3f ns a round  %s\n", troubles[i].name, took, took / (double)rounds * 1e9,
		       troubles[i].what);
	}
	/* The results are used, so that no compiler may leave the work out; nobody needs to see them. */
	return m.fma == 0 && m.chase_at + m.divided + m.heads + m.tails == 1;
}
