/* SPDX-License-Identifier: MIT */
/* Runs the kernels of the suite (suite.h): to be traced, to be timed, to be checked.
 *
 *	suite list [host]               a line a variant: KERNEL@WAY, where its data are, BYTES, how many of them are
 *	                                used, n, steps of a pass, the kernel's noun, the function that is the region of
 *	                                interest
 *	suite run KERNEL BYTES PASSES   makes the data, and calls that function so many times; says kernel, n and steps
 *	                                that were done
 *	suite time KERNEL BYTES [SECONDS [ROUNDS]]  cycles a pass by timer.h: kernel, n, steps of a pass, least, median,
 *	                                samples that count, all samples, rounds a cycle; for 3 seconds at most; ROUNDS:
 *	                                what other runs have seen of the last; 77 where it cannot
 *	suite check KERNEL BYTES        whether the results are the reference's, and depend on each input; "all" is all
 *
 * KERNEL is gemm@o3-fast; for check also gemm, which is all ways of it. BYTES may end with K or M. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timer.h"
#include "check.h"
#include "places.h"
#include "room.h"

/* As way.c has them. The reference is one way more. */
extern const struct suite_way suite_way_o2, suite_way_o2_novec, suite_way_o3, suite_way_o3_unroll, suite_way_o3_fast,
	suite_way_o3_avx2, suite_way_reference;

static const struct suite_way *const ways[] = {
	&suite_way_o2, &suite_way_o2_novec, &suite_way_o3, &suite_way_o3_unroll, &suite_way_o3_fast,
#if defined(__x86_64__)
	&suite_way_o3_avx2,
#endif
};
enum { WAYS = sizeof(ways) / sizeof(*ways), USAGE = 99, SKIPPED = 77 };

static const char *const symbols[] = {
#define SYMBOL(name) [SUITE_ ## name] = #name,
	SUITE_KERNELS(SYMBOL)
};

static _Noreturn void die(const char *what, const char *of)
{
	fprintf(stderr, "suite: %s%s\n", what, of);
	exit(USAGE);
}

struct variant {
	const struct suite_kernel *kernel;
	const struct suite_way *way;
};

/* "_o3_fast" as people write it. */
static const char *way_name(const struct suite_way *way, char buffer[32])
{
	snprintf(buffer, 32, "%s", way->name + 1);
	for (char *c = buffer; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return buffer;
}

static const char *variant_name(struct variant v, char buffer[64])
{
	char way[32];

	snprintf(buffer, 64, "%s@%s", v.kernel->name, way_name(v.way, way));
	return buffer;
}

/* Whether a word is the variant's name, its kernel's, or "all". */
static bool is_called(struct variant v, const char *word)
{
	char name[64];

	return strcmp(word, variant_name(v, name)) == 0 || strcmp(word, v.kernel->name) == 0 ||
		strcmp(word, "all") == 0;
}

static suite_pass *pass_of(struct variant v)
{
	return v.way->pass[v.kernel - suite_kernels];
}

static struct variant find(const char *word)
{
	for (size_t i = 0; i < SUITE_COUNT * WAYS; i++) {
		struct variant v = { &suite_kernels[i / WAYS], ways[i % WAYS] };

		if (strchr(word, '@') && is_called(v, word))
			return v;
	}
	die("there is no kernel KERNEL@WAY of that name, see suite list: ", word);
}

/* A number, with K or M behind it where `units` says so. */
static size_t number(const char *word, bool units)
{
	char *end;
	unsigned long long v = strtoull(word, &end, 10);

	if (units && (*end == 'K' || *end == 'M'))
		v <<= *end++ == 'K' ? 10 : 20;
	if (word[0] < '0' || word[0] > '9' || *end || v == 0 || v >> 40)
		die("this is no number that makes sense here: ", word);
	return v;
}

static long size_of(const struct suite_kernel *kernel, const char *word)
{
	enum { LEAST_BYTES = 2048 };
	size_t bytes = number(word, true);
	long n = bytes < LEAST_BYTES ? 0 : suite_kernel_size(kernel, bytes);

	if (n == 0)
		die("so few bytes are not enough for ", kernel->name);
	return n;
}

static void open_hall(struct suite_hall *hall, const struct suite_kernel *kernel, const char *bytes)
{
	long n = size_of(kernel, bytes);

	if (!suite_hall_open(hall, kernel, n, suite_kernel_steps(kernel, n)))
		die("there is not enough memory for ", kernel->name);
}

static int list(int argc, char **argv)
{
	struct suite_place places[SUITE_PLACES];
	char name[64];

	suite_places(places, argc == 1 && strcmp(argv[0], "host") == 0);
	for (size_t i = 0; i < SUITE_COUNT * WAYS * SUITE_PLACES; i++) {
		struct variant v = { &suite_kernels[i / SUITE_PLACES / WAYS], ways[i / SUITE_PLACES % WAYS] };
		const struct suite_place *place = &places[i % SUITE_PLACES];
		long n = suite_kernel_size(v.kernel, place->bytes);

		printf("%s %s %zu %zu %ld %ld %s suite_%s%s\n", variant_name(v, name), place->name, place->bytes,
		       suite_kernel_bytes(v.kernel, n), n, suite_kernel_steps(v.kernel, n), v.kernel->noun,
		       symbols[v.kernel - suite_kernels], v.way->name);
	}
	return 0;
}

static volatile uint64_t sink;

static int run(int argc, char **argv)
{
	struct variant v = find(argv[0]);
	size_t passes = number(argv[2], false);
	suite_pass *pass = pass_of(v);
	struct suite_hall hall;

	(void)argc;
	open_hall(&hall, v.kernel, argv[1]);
	for (size_t i = 0; i < passes; i++) {
		sink = pass(&hall.room);
		suite_hall_turn(&hall);
	}
	printf("%s %ld %zu\n", argv[0], hall.room.n, passes * (size_t)(hall.room.to - hall.room.from));
	suite_hall_close(&hall);
	return 0;
}

struct work {
	suite_pass *pass;
	struct suite_hall hall;
};

static void do_pass(void *what)
{
	struct work *work = what;

	sink = work->pass(&work->hall.room);
	suite_hall_turn(&work->hall);
}

/* Stay on this CPU, whose caches are warm. Where that is not allowed the timer sees it in its chains. */
static void pin(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		fprintf(stderr, "suite: cannot stay on CPU %d; the figures may be less certain\n", cpu);
}

static int measure(int argc, char **argv)
{
	enum { WARMING = 3, SECONDS = 3, SAMPLES = 100 };
	struct variant v = find(argv[0]);
	struct work work = { pass_of(v) };
	double seconds = argc >= 3 ? strtod(argv[2], NULL) : SECONDS, rounds = argc >= 4 ? strtod(argv[3], NULL) : 0;
	struct timed t;

	if (!(seconds > 0 && seconds <= 3600))
		die("this is no number of seconds: ", argv[2]);
	if (!(rounds >= 0 && rounds <= 2))
		die("so many rounds of a loop no core goes in a cycle: ", argv[3]);
	open_hall(&work.hall, v.kernel, argv[1]);
	if (!timer_works()) {
		puts("skipped: nothing can be timed on this machine");
		return SKIPPED;
	}
	pin();
	for (int i = 0; i < WARMING; i++)
		do_pass(&work);
	t = timer_measure(do_pass, &work, seconds, SAMPLES, rounds);
	printf("%s %ld %ld %.1f %.1f %u %u %.2f\n", argv[0], work.hall.room.n, work.hall.room.to - work.hall.room.from,
	       t.least, t.median, t.kept, t.taken, t.rounds);
	suite_hall_close(&work.hall);
	return 0;
}

static bool check_one(struct variant v, const char *bytes)
{
	long n = size_of(v.kernel, bytes);
	struct suite_verdict verdict = suite_check(v.kernel, pass_of(v),
						   suite_way_reference.pass[v.kernel - suite_kernels], n);
	char name[64];

	if (!verdict.fits)
		die("there is not enough memory for ", v.kernel->name);
	printf("%s %ld %s: %.1e apart of %.0e", variant_name(v, name), n,
	       verdict.right && verdict.idle < 0 ? "ok" : "WRONG", verdict.apart, v.kernel->tolerance);
	if (!verdict.right)
		printf("; array %d", verdict.first_wrong);
	if (verdict.idle >= 0)
		printf("; does not depend on array %d", verdict.idle);
	putchar('\n');
	return verdict.right && verdict.idle < 0;
}

static int check(int argc, char **argv)
{
	bool right = true;
	int n = 0;

	(void)argc;
	for (size_t i = 0; i < SUITE_COUNT * WAYS; i++) {
		struct variant v = { &suite_kernels[i / WAYS], ways[i % WAYS] };

		if (!is_called(v, argv[0]))
			continue;
#if defined(__x86_64__)
		if (v.way == &suite_way_o3_avx2 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
			continue;
#endif
		right &= check_one(v, argv[1]);
		n++;
	}
	if (n == 0)
		die("no kernel that can run here has that name: ", argv[0]);
	return right ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int least, most; /* words */
		int (*verb)(int argc, char **argv);
	} verbs[] = {
		{ "list", 0, 1, list }, { "run", 3, 3, run }, { "time", 2, 4, measure }, { "check", 2, 2, check },
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (argc > 1 && strcmp(argv[1], verbs[i].name) == 0 && argc - 2 >= verbs[i].least &&
		    argc - 2 <= verbs[i].most)
			return verbs[i].verb(argc - 2, argv + 2);
	die("usage: suite list [host] | run KERNEL BYTES PASSES | time KERNEL BYTES [SECONDS [ROUNDS]] | "
	    "check KERNEL BYTES", "");
}
