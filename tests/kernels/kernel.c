/* SPDX-License-Identifier: MIT */
/* Runs the kernels (kernels.h), to be timed or to be traced.
 *
 *	kernel --list               name, turns of a pass, what a turn is
 *	kernel NAME [PASSES]        does so many passes (1) and says how many turns these are: to be traced
 *	kernel --time [NAME...]     times them: name, cycles a turn (least), the median, samples that count, all
 *	                            samples, rounds a cycle of the probe; status 77 where nothing can be timed
 *
 * A pass before those that are asked for warms the caches, so the cycles of a run of 2 N passes less those of one of N
 * are N passes in caches and predictors that know the kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/ascending.h"
#include "kernels.h"
#include "timer.h"

enum { PAGE = 4096 };

static const struct kernel *const tables[] = {
	kernels_linear_o2, kernels_linear_o3, kernels_stencils_o2, kernels_stencils_o3, kernels_text,
	kernels_structures, kernels_control, kernels_numbers,
#if defined(__x86_64__)
	kernels_linear_fma, kernels_pairs,
#endif
};
enum { TABLES = sizeof(tables) / sizeof(*tables) };

static void die(const char *what)
{
	fprintf(stderr, "kernel: %s\n", what);
	exit(99);
}

/* Random numbers that are the same each time. */
static uint32_t by_chance(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 24);
}

/* Pages of their own size, so that a model of TLBs is asked what was timed, and all of them there. */
static void *pages(size_t bytes)
{
	size_t size = (bytes + 2 * PAGE - 1) / PAGE * PAGE;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("there is not enough memory");
	madvise(p, size, MADV_NOHUGEPAGE);
	return memset(p, 0, size);
}

static double *doubles(size_t n, uint64_t *state)
{
	double *p = pages(n * sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = 0.75 + (by_chance(state) & 1023) / 2048.;
	return p;
}

static float *floats(size_t n, uint64_t *state)
{
	float *p = pages(n * sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = 0.75f + (float)(by_chance(state) & 1023) / 2048;
	return p;
}

static uint32_t *permutation(uint32_t n, uint64_t *state)
{
	uint32_t *p = pages(n * sizeof(*p));

	for (uint32_t i = 0; i < n; i++)
		p[i] = i;
	for (uint32_t i = n - 1; i; i--) {
		uint32_t k = by_chance(state) % (i + 1), t = p[i];

		p[i] = p[k];
		p[k] = t;
	}
	return p;
}

static void fill_text(uint8_t *text, uint64_t *state)
{
	static const char letters[] = "etaoinshrdlu etaoin tion\ncmfwypvbgkjqxz ";

	for (size_t i = 0; i < KERNEL_TEXT - 1; i++)
		text[i] = (uint8_t)letters[by_chance(state) % (sizeof(letters) - 1)];
	text[KERNEL_TEXT - 1] = 0;
}

static void fill_crc(uint32_t *table)
{
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (0xedb88320 & -(table[i] & 1));
	}
}

/* The lists: of nodes, and of the lines of the first 256 KiB of the far region. */
static void link_lists(struct kernel_room *room, uint64_t *state)
{
	enum { NODES = 256, LINES = (256 << 10) / 64 };
	uint32_t *order = permutation(NODES, state), *lines = permutation(LINES, state);
	uint32_t first = 0;

	for (uint32_t i = 0; i < NODES; i++) {
		room->nodes[order[i]].next = &room->nodes[order[(i + 1) % NODES]];
		room->nodes[order[i]].value = i;
	}
	while (lines[first] != 0)
		first++;
	for (uint32_t i = 0; i < LINES; i++) {
		void *next = room->far + 64 * (size_t)lines[(first + i + 1) % LINES];

		memcpy(room->far + 64 * (size_t)lines[(first + i) % LINES], &next, sizeof(next));
		if (i % (LINES / 4) == 0)
			room->quarters[i / (LINES / 4)] = room->far + 64 * (size_t)lines[(first + i) % LINES];
	}
}

static struct kernel_room furnish(void)
{
	uint64_t state = 88172645463325252;
	struct kernel_room room = {
		.x = doubles(KERNEL_N, &state), .y = doubles(KERNEL_N, &state), .z = doubles(KERNEL_N, &state),
		.a = doubles(KERNEL_SIDE * KERNEL_SIDE, &state), .b = doubles(KERNEL_SIDE * KERNEL_SIDE, &state),
		.c = doubles(KERNEL_SIDE * KERNEL_SIDE, &state),
		.f = floats(KERNEL_N, &state), .g = floats(KERNEL_N, &state),
		.text = pages(KERNEL_TEXT), .out = pages(4 * KERNEL_TEXT),
		.words = pages(KERNEL_WORDS * 4), .order = permutation(KERNEL_WORDS, &state),
		.sorted = pages(KERNEL_WORDS * 4), .work = pages(2 * KERNEL_WORDS * 4), .table = pages(256 * 4),
		.longs = pages(KERNEL_N * 8), .nodes = pages(256 * sizeof(struct kernel_node)),
		.far = pages(KERNEL_FAR), .quarters = pages(4 * sizeof(void *)), .chance = pages(8),
	};

	for (int i = 0; i < KERNEL_SIDE; i++)
		room.a[i * KERNEL_SIDE + i] += KERNEL_SIDE;
	for (int i = 0; i < KERNEL_WORDS; i++)
		room.sorted[i] = room.words[i] = by_chance(&state);
	qsort(room.sorted, KERNEL_WORDS, sizeof(*room.sorted), gus_ascending_u32);
	for (int i = 0; i < KERNEL_N; i++)
		room.longs[i] = ((uint64_t)by_chance(&state) << 32 | by_chance(&state)) | 1;
	fill_text(room.text, &state);
	fill_crc(room.table);
	link_lists(&room, &state);
	return room;
}

static const struct kernel *find(const char *name)
{
	for (size_t i = 0; i < TABLES; i++)
		for (const struct kernel *k = tables[i]; k->name; k++)
			if (strcmp(k->name, name) == 0)
				return k;
	fprintf(stderr, "kernel: there is no kernel %s; --list has them\n", name);
	exit(99);
}

static volatile uint64_t sink;

struct work {
	kernel_pass *pass;
	struct kernel_room *room;
};

static void do_pass(void *what)
{
	struct work *work = what;

	sink = work->pass(work->room);
}

static void print_time(const struct kernel *k, struct kernel_room *room)
{
	struct work work = { k->pass, room };
	struct timed t = timer_measure(do_pass, &work, 3, 100, 0);

	printf("%-24s %10.4f %10.4f %5u %5u %5.2f\n", k->name, t.least / (double)k->turns, t.median / (double)k->turns,
	       t.kept, t.taken, t.rounds);
	fflush(stdout);
}

static int list(void)
{
	for (size_t i = 0; i < TABLES; i++)
		for (const struct kernel *k = tables[i]; k->name; k++)
			printf("%s %llu %s\n", k->name, (unsigned long long)k->turns, k->of);
	return 0;
}

static int measure(char **names, int n)
{
	struct kernel_room room = furnish();

	if (!timer_works()) {
		puts("skipped: nothing can be timed on this machine");
		return 77;
	}
	for (int i = 0; i < n; i++)
		print_time(find(names[i]), &room);
	for (size_t i = 0; i < TABLES && n == 0; i++)
		for (const struct kernel *k = tables[i]; k->name; k++)
			print_time(k, &room);
	return 0;
}

int main(int argc, char **argv)
{
	const struct kernel *kernel;
	struct kernel_room room;
	unsigned long passes = 1;
	char *end = NULL;

	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list();
	if (argc >= 2 && strcmp(argv[1], "--time") == 0)
		return measure(argv + 2, argc - 2);
	if (argc < 2 || argc > 3 || (argc == 3 && (argv[2][0] < '0' || argv[2][0] > '9' ||
				      (passes = strtoul(argv[2], &end, 10), *end))))
		die("usage: kernel --list | --time [NAME...] | NAME [PASSES]");
	kernel = find(argv[1]);
	room = furnish();
	for (unsigned long i = 0; i <= passes; i++)
		sink = kernel->pass(&room);
	printf("%s %llu\n", kernel->name, (unsigned long long)(passes * kernel->turns));
	return 0;
}
