/* SPDX-License-Identifier: MIT */
/* Ten loops whose time depends on data that the code does not show: where pointers point, how often they go round,
 * which level holds what they read, which way branches go. Each is a function `loop_NAME`, in assembly so that no
 * compiler changes it.
 *
 *	dynamic-loops                   cycles an iteration of all, as timed here
 *	dynamic-loops NAME              of one
 *	dynamic-loops NAME PASSES       runs it so often and says how many iterations that were: to be traced
 *
 * Cycles are ticks by those of a chain of dependent imul of three cycles each, run alternately with it; the least of
 * many runs counts. All floating point values are about one. */
#if !defined(__x86_64__)
#include <stdio.h>

int main(void)
{
	puts("skipped: this is no x86-64 CPU");
	return 77;
}
#else
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

typedef void loop_function(void *a, void *b, void *c, uint64_t n); /* rdi, rsi, rdx, rcx */

#define FUNCTION(name, body) \
	__asm__(".intel_syntax noprefix\n.text\n.p2align 6\n.globl loop_" name "\n.type loop_" name ", @function\n" \
		"loop_" name ":\n" \
		body "\nret\n.size loop_" name ", . - loop_" name "\n.att_syntax\n")

/* *b = *a + *c: whether that is one chain depends on whether both are one word. They are. */
FUNCTION("together", "1: vmovsd xmm0, [rdi]\nvaddsd xmm0, xmm0, [rdx]\nvmovsd [rsi], xmm0\ndec rcx\njnz 1b");
/* a[i] = (b[i] - a[i - 1] * c[i]) / c[i], as in an alternating direction solver: each iteration waits for the last
 * one's store. */
FUNCTION("recurrence", "xor r8d, r8d\n1: vmovsd xmm0, [rdi + r8 * 8 - 8]\nvmulsd xmm0, xmm0, [rdx + r8 * 8]\n"
	 "vmovsd xmm1, [rsi + r8 * 8]\nvsubsd xmm1, xmm1, xmm0\nvdivsd xmm1, xmm1, [rdx + r8 * 8]\n"
		 "vmovsd [rdi + r8 * 8], xmm1\n"
	 "inc r8\ncmp r8, rcx\njne 1b");
/* a[i] = b[i] * c[0], where b is a - 2: what is stored is loaded two iterations later. */
FUNCTION("distance", "xor r8d, r8d\n1: vmovsd xmm0, [rsi + r8 * 8]\nvmulsd xmm0, xmm0, [rdx]\n"
	 "vmovsd [rdi + r8 * 8], xmm0\n"
	 "inc r8\ncmp r8, rcx\njne 1b");
/* Lists in random order: in 512 KiB, and in 4 MiB. */
FUNCTION("chase_l2", "1: mov rdi, [rdi]\ndec rcx\njnz 1b");
FUNCTION("chase_l3", "1: mov rdi, [rdi]\ndec rcx\njnz 1b");
/* A line after the other of 64 MiB. */
FUNCTION("stream", "1: add rax, [rdi]\nadd rdi, 64\ndec rcx\njnz 1b");
/* A branch that goes either way by chance. */
FUNCTION("coin", "xor r8d, r8d\n1: test byte ptr [rdi + r8], 1\njz 2f\nxor eax, r8d\n2: inc r8\ncmp r8, rcx\njne 1b");
/* A branch around a chain of square roots, which is always taken. */
FUNCTION("skip", "xor r8d, r8d\nvmovsd xmm0, [rdx]\n1: cmp byte ptr [rdi + r8], 0\njz 2f\nvsqrtsd xmm0, xmm0, xmm0\n"
	 "2: inc r8\ncmp r8, rcx\njne 1b");
/* An inner loop of 1 to 8 iterations, by chance. */
FUNCTION("trips", "xor r8d, r8d\n3: mov r9d, [rdi + r8 * 4]\n1: add rax, r9\ndec r9\njnz 1b\ninc r8\ncmp r8, rcx\n"
	 "jne 3b");
/* Eight words from anywhere in 16 MiB. */
FUNCTION("gather", "xor r8d, r8d\nvpxor xmm3, xmm3, xmm3\n1: vmovdqu ymm1, [rsi + r8 * 4]\nvpcmpeqd ymm2, ymm2, ymm2\n"
	 "vpxor xmm0, xmm0, xmm0\nvgatherdps ymm0, [rdi + ymm1 * 4], ymm2\nvaddps ymm3, ymm3, ymm0\nadd r8, 8\n"
	 "cmp r8, rcx\njne 1b\nvzeroupper");
/* What cycles are counted by. */
FUNCTION("clock", "mov eax, 3\n1: .rept 60\nimul rax, rax\n.endr\ndec rcx\njnz 1b");

loop_function loop_together, loop_recurrence, loop_distance, loop_chase_l2, loop_chase_l3, loop_stream, loop_coin,
	loop_skip, loop_trips,
	loop_gather, loop_clock;

static void die(const char *what)
{
	fprintf(stderr, "dynamic-loops: %s\n", what);
	exit(99);
}

/* Random numbers that are the same each time. */
static uint32_t rnd(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 24);
}

static void *room(size_t bytes)
{
	void *p = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);

	if (!p)
		die("there is not enough memory");
	return memset(p, 0, bytes);
}

/* What a loop is called with, and how many iterations that is. */
struct call {
	void *a, *b, *c;
	uint64_t n, iterations;
};

static double *ones(size_t n, double value)
{
	double *p = room(n * sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = value;
	return p;
}

static struct call together(void)
{
	double *p = ones(1, 1);

	return (struct call){ p, p, ones(1, 1e-3), 1000, 1000 };
}

static struct call recurrence(void)
{
	double *a = ones(1100, 0.5);

	return (struct call){ a + 8, ones(1000, 1), ones(1000, 0.9), 1000, 1000 };
}

static struct call distance(void)
{
	double *a = ones(2100, 1);

	return (struct call){ a + 2, a, ones(1, 1), 2000, 2000 };
}

/* A list through all lines of a region, in random order (Sattolo). */
static struct call chase(size_t bytes)
{
	size_t n = bytes / 64;
	uint32_t *order = room(n * sizeof(*order));
	char *p = room(bytes);

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n - 1; i; i--) {
		size_t k = rnd() % i;
		uint32_t t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	for (size_t i = 0; i < n; i++) {
		char *next = p + 64 * (size_t)order[(i + 1) % n];

		memcpy(p + 64 * (size_t)order[i], &next, sizeof(next));
	}
	free(order);
	return (struct call){ p, NULL, NULL, n, n };
}

static struct call chase_l2(void) { return chase(512 << 10); }
static struct call chase_l3(void) { return chase(4 << 20); }

static struct call stream(void)
{
	return (struct call){ room(64 << 20), NULL, NULL, 1 << 20, 1 << 20 };
}

static struct call coin(void)
{
	enum { N = 1 << 18 };
	char *p = room(N);

	for (size_t i = 0; i < N; i++)
		p[i] = (char)(rnd() >> 7 & 1);
	return (struct call){ p, NULL, NULL, N, N };
}

static struct call skip(void)
{
	return (struct call){ room(4096), NULL, ones(1, 1), 4000, 4000 };
}

static struct call trips(void)
{
	enum { N = 1 << 16 };
	uint32_t *p = room(N * sizeof(*p));
	struct call call = { p, NULL, NULL, N, 0 };

	for (size_t i = 0; i < N; i++) {
		p[i] = 1 + rnd() % 8;
		call.iterations += p[i];
	}
	return call;
}

static struct call gather(void)
{
	enum { N = 1 << 16, WORDS = 4 << 20 };
	uint32_t *indices = room(N * sizeof(*indices));

	for (size_t i = 0; i < N; i++)
		indices[i] = rnd() % WORDS;
	return (struct call){ room(WORDS * sizeof(float)), indices, NULL, N, N / 8 };
}

static const struct { const char *name; loop_function *loop; struct call (*call)(void); } loops[] = {
	{ "together", loop_together, together }, { "recurrence", loop_recurrence, recurrence },
		{ "distance", loop_distance, distance },
	{ "chase_l2", loop_chase_l2, chase_l2 }, { "chase_l3", loop_chase_l3, chase_l3 },
		{ "stream", loop_stream, stream },
	{ "coin", loop_coin, coin }, { "skip", loop_skip, skip }, { "trips", loop_trips, trips },
		{ "gather", loop_gather, gather },
};
enum { LOOPS = sizeof(loops) / sizeof(*loops) };

static uint64_t ticks(loop_function *loop, const struct call *c)
{
	unsigned aux;
	uint64_t start;

	_mm_lfence();
	start = __rdtscp(&aux);
	_mm_lfence();
	loop(c->a, c->b, c->c, c->n);
	return __rdtscp(&aux) - start;
}

/* Until the least has not become less for long; the first runs warm the caches. */
static double measure(size_t i)
{
	enum { UNCHANGED = 60, RUNS = 2000 };
	const struct call call = loops[i].call(), clock = { .n = 20 };
	double least = INFINITY, three = INFINITY;

	for (unsigned total = 0, unchanged = 0; unchanged < UNCHANGED && total < RUNS; total++, unchanged++) {
		double now;

		three = fmin(three, (double)ticks(loop_clock, &clock));
		now = (double)ticks(loops[i].loop, &call);
		if (now < least) {
			least = now;
			unchanged = 0;
		}
	}
	return least / (double)call.iterations / (three / (20 * 60 * 3));
}

int main(int argc, char **argv)
{
	size_t first = 0, end = LOOPS;

	if (!__builtin_cpu_supports("avx2")) {
		puts("skipped: this CPU has no AVX2");
		return 77;
	}
	if (argc > 1) {
		while (first < LOOPS && strcmp(loops[first].name, argv[1]) != 0)
			first++;
		if (first == LOOPS || argc > 3)
			die("usage: dynamic-loops [NAME [PASSES]]");
		end = first + 1;
	}
	if (argc == 3) {
		const struct call call = loops[first].call();
		unsigned long passes = strtoul(argv[2], NULL, 10);

		for (unsigned long i = 0; i < passes; i++)
			loops[first].loop(call.a, call.b, call.c, call.n);
		printf("%s %llu\n", loops[first].name, (unsigned long long)(call.iterations * passes));
		return 0;
	}
	for (size_t i = first; i < end; i++) {
		printf("%s %.3f\n", loops[i].name, measure(i));
		fflush(stdout);
	}
	return 0;
}
#endif
