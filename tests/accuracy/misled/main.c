/* SPDX-License-Identifier: MIT */
/* Runs the programs of docs/misled.md, to be explained or to be timed.
 *
 *	misled --list               name, ways, turns of a pass, what a turn is
 *	misled NAME WAY SECONDS     does passes for so long, and says how many, nanoseconds a turn, and what a pass
 *	                            computes: to be explained
 *	misled --time NAME [ROUNDS] times all ways of it in turns, in so many rounds (8): way, cycles a turn (least
 *	                            of all rounds), the median of the rounds', samples that count, all samples;
 *	                            status 77 where nothing can be timed
 *
 * A program whose ways do not compute the same ends with status 99.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "misled.h"
#include "tests/kernels/timer.h"

enum { PAGE = 4096, LINE = 64, SMALL = 512, STATES = 1024, ROUNDS = 8, ROUNDS_MOST = 1000 };

const char *const misled_ways[MISLED_WAYS] = { "base", "cure", "other", "fixed" };
static const struct misled_program *const tables[] = { misled_execution, misled_memory };

static void die(const char *what, const char *of)
{
	fprintf(stderr, "misled: %s%s\n", what, of);
	exit(99);
}

/* The room. */

/* Numbers that are the same each time. */
static uint64_t by_chance(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 2685821657736338717;
}

/* Pages of their own size, as a model of TLBs takes them for such, and all of them there. */
static void *pages(size_t bytes)
{
	size_t size = (bytes + 2 * PAGE - 1) / PAGE * PAGE;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("there is not enough memory", "");
	madvise(p, size, MADV_NOHUGEPAGE);
	return memset(p, 0, size);
}

static uint32_t *permutation(uint64_t n, uint64_t *state)
{
	uint32_t *p = pages(n * sizeof(*p));

	for (uint32_t i = 0; i < n; i++)
		p[i] = i;
	for (uint64_t i = n - 1; i; i--) {
		uint64_t k = by_chance(state) % (i + 1);
		uint32_t t = p[i];

		p[i] = p[k];
		p[k] = t;
	}
	return p;
}

static struct misled_node *list(uint64_t n, uint64_t *state, struct misled_node *quarters[4])
{
	struct misled_node *nodes = pages(n * sizeof(*nodes));
	uint32_t *order = permutation(n, state);

	for (uint64_t i = 0; i < n; i++) {
		nodes[order[i]].next = &nodes[order[(i + 1) % n]];
		nodes[order[i]].value = by_chance(state);
		nodes[order[i]].triple = 3. * (double)(by_chance(state) % 1000);
		if (quarters && i % (n / 4) == 0)
			quarters[i / (n / 4)] = &nodes[order[i]];
	}
	return &nodes[*order];
}

static double *doubles(uint64_t *state)
{
	double *p = pages(MISLED_L1 * sizeof(*p));

	for (int i = 0; i < MISLED_L1; i++)
		p[i] = (double)(by_chance(state) % 7 + 1);
	return p;
}

static uint64_t *numbers(int n, uint64_t or, uint64_t *state)
{
	uint64_t *p = pages((size_t)n * sizeof(*p));

	for (int i = 0; i < n; i++)
		p[i] = by_chance(state) | or;
	return p;
}

/* The bytes of a cache; 0: the machine does not say. */
static uint64_t cache(int level)
{
	long bytes = sysconf(level);

	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* A table of lines, of which each is picked once before any is picked again, and a small one that has the same at each
 * pick. */
static void fill_table(struct misled_room *room, uint64_t lines, uint64_t *state)
{
	uint32_t *order = NULL;

	room->table = pages(lines * LINE);
	room->small = numbers(SMALL, 0, state);
	room->picks = pages((MISLED_PICKS + MISLED_AHEAD) * sizeof(*room->picks));
	room->small_picks = pages((MISLED_PICKS + MISLED_AHEAD) * sizeof(*room->small_picks));
	for (uint64_t line = 0; line < lines; line++)
		room->table[line * LINE / sizeof(*room->table)] = room->small[line % SMALL];
	for (uint64_t i = 0; i < MISLED_PICKS + MISLED_AHEAD; i++) {
		if (i % lines == 0)
			order = permutation(lines, state);
		room->picks[i] = order[i % lines] * LINE;
		room->small_picks[i] = order[i % lines] % SMALL * (uint32_t)sizeof(*room->small);
	}
}

static void fill_states(struct misled_room *room, uint64_t *state)
{
	uint32_t *order = permutation(STATES, state);

	room->next = pages(STATES * sizeof(*room->next));
	room->seen = pages(STATES * sizeof(*room->seen));
	room->apart = (uint32_t *)pages(PAGE + STATES * sizeof(*room->seen)) + STATES / 2;
	room->index = pages(MISLED_L1 * sizeof(*room->index));
	for (uint32_t i = 0; i < STATES; i++)
		room->next[order[i]] = order[(i + 1) % STATES];
	for (int i = 0; i < MISLED_L1; i++)
		room->index[i] = (uint32_t)(by_chance(state) % MISLED_L1);
}

static struct misled_room furnish(void)
{
	uint64_t state = 88172645463325252, l1 = cache(_SC_LEVEL1_DCACHE_SIZE), l2 = cache(_SC_LEVEL2_CACHE_SIZE);
	struct misled_room room = { .x = doubles(&state), .y = doubles(&state),
		.words = numbers(MISLED_L1, 0, &state), .out = pages(MISLED_L1 * sizeof(*room.out)),
		.keys = numbers(MISLED_ROUNDS, 1, &state) };

	l1 = l1 ? l1 : 32 << 10;
	l2 = l2 ? l2 : 512 << 10;
	room.near_nodes = (l2 / 4 > 2 * l1 ? l2 / 4 : 2 * l1) / sizeof(struct misled_node) & ~UINT64_C(15);
	room.far_nodes = 2 * l2 / sizeof(struct misled_node) / MISLED_PIECE * MISLED_PIECE;
	room.ring = list(MISLED_RING, &state, NULL);
	list(room.near_nodes, &state, room.near);
	room.far = list(room.far_nodes, &state, NULL);
	fill_table(&room, 2 * l2 / LINE, &state);
	fill_states(&room, &state);
	return room;
}

/* Programs. */

static const struct misled_program *find(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct misled_program *p = tables[i]; p->name; p++)
			if (strcmp(p->name, name) == 0)
				return p;
	die("--list has the programs, and none is ", name);
	return NULL;
}

static uint64_t turns_of(const struct misled_program *p, const struct misled_room *room)
{
	if (p->turns)
		return p->turns;
	return strcmp(p->name, "divider") == 0 ? room->near_nodes / 4 * 4 : MISLED_ROUNDS * room->far_nodes;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int run(const struct misled_program *p, const char *way, double seconds)
{
	struct misled_room room = furnish();
	uint64_t begin = now(), passes = 0, result = 0;
	misled_pass *pass = NULL;

	for (int i = 0; i < MISLED_WAYS; i++)
		if (strcmp(misled_ways[i], way) == 0)
			pass = p->ways[i];
	if (!pass)
		die("it has no such way: ", way);
	do {
		result = pass(&room);
		passes++;
	} while ((double)(now() - begin) < seconds * 1e9);
	printf("%s %s: %llu passes, %.3f ns a %s, result %016llx\n", p->name, way, (unsigned long long)passes,
	       (double)(now() - begin) / (double)passes / (double)turns_of(p, &room), p->of,
	       (unsigned long long)result);
	return 0;
}

static void list_all(void)
{
	const struct misled_room room = furnish();

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct misled_program *p = tables[i]; p->name; p++) {
			printf("%s", p->name);
			for (int k = 0; k < MISLED_WAYS; k++)
				printf("%s%s", p->ways[k] ? (k ? "," : " ") : "", p->ways[k] ? misled_ways[k] : "");
			printf(" %llu %s\n", (unsigned long long)turns_of(p, &room), p->of);
		}
}

/* Times. */

struct work {
	misled_pass *pass;
	const struct misled_room *room;
	uint64_t result;
};

static void do_pass(void *what)
{
	struct work *work = what;

	work->result = work->pass(work->room);
}

struct timed_way {
	struct work work;
	double least, medians[ROUNDS_MOST];
	unsigned kept, taken;
};

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void time_once(struct timed_way *w, unsigned round)
{
	struct timed t = timer_measure(do_pass, &w->work, 0.25, 20, 0);

	w->medians[round] = t.median;
	w->least = round == 0 || t.least < w->least ? t.least : w->least;
	w->kept += t.kept;
	w->taken += t.taken;
}

static int time_all(const struct misled_program *p, unsigned rounds)
{
	static struct timed_way ways[MISLED_WAYS];
	struct misled_room room = furnish();
	double turns = (double)turns_of(p, &room);

	if (!timer_works()) {
		puts("skipped: nothing can be timed on this machine");
		return 77;
	}
	for (unsigned round = 0; round < rounds; round++)
		for (int i = 0; i < MISLED_WAYS; i++) {
			ways[i].work.pass = p->ways[i];
			ways[i].work.room = &room;
			if (p->ways[i])
				time_once(&ways[i], round);
		}
	for (int i = 0; i < MISLED_WAYS; i++) {
		if (!p->ways[i])
			continue;
		if (ways[i].work.result != ways[0].work.result)
			die("what it computes is not what base does: ", misled_ways[i]);
		qsort(ways[i].medians, rounds, sizeof(double), ascending);
		printf("%s %.4f %.4f %u %u\n", misled_ways[i], ways[i].least / turns,
		       ways[i].medians[rounds / 2] / turns, ways[i].kept, ways[i].taken);
	}
	return 0;
}

/* A number greater than 0, or an end. */
static double number(const char *text, double most)
{
	char *end = NULL;
	double value = strtod(text, &end);

	if (end == text || *end || !(value > 0) || value > most)
		die("this is no number of seconds or rounds: ", text);
	return value;
}

int main(int argc, char **argv)
{
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
		puts("skipped: this CPU has no AVX2 or no FMA");
		return 77;
	}
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list_all();
		return 0;
	}
	if ((argc == 3 || argc == 4) && strcmp(argv[1], "--time") == 0)
		return time_all(find(argv[2]), argc == 4 ? (unsigned)number(argv[3], ROUNDS_MOST) : ROUNDS);
	if (argc != 4)
		die("usage: misled --list | --time NAME [ROUNDS] | NAME WAY SECONDS", "");
	return run(find(argv[1]), argv[2], number(argv[3], 1e6));
}
