/* SPDX-License-Identifier: MIT */
#include "room.h"

#include <string.h>
#include <sys/mman.h>

#include "prepare.h"

enum { PAGE = 4096 };

typedef void filler(void *data, enum suite_type type, long elements, long n, uint64_t *chance);

static double near_one(uint64_t *chance)
{
	return 0.75 + (double)(suite_chance(chance) >> 11) * 0x1p-54;
}

static void fill_near_one(void *data, enum suite_type type, long elements, long n, uint64_t *chance)
{
	(void)n;
	for (long i = 0; i < elements && type == SUITE_F64; i++)
		((double *)data)[i] = near_one(chance);
	for (long i = 0; i < elements && type == SUITE_F32; i++)
		((float *)data)[i] = (float)near_one(chance);
}

static void fill_dominant(void *data, enum suite_type type, long elements, long n, uint64_t *chance)
{
	double *matrix = data;

	fill_near_one(data, type, elements, n, chance);
	for (long i = 0; i < n; i++)
		matrix[i * n + i] += 1.25 * (double)n;
}

static void fill_lengths(void *data, enum suite_type type, long elements, long n, uint64_t *chance)
{
	uint32_t *lengths = data;

	(void)type, (void)n;
	for (long i = 0; i < elements; i++)
		lengths[i] = 1 + (uint32_t)(suite_chance(chance) >> 32) % 1000;
}

static void fill_random(void *data, enum suite_type type, long elements, long n, uint64_t *chance)
{
	(void)n;
	for (long i = 0; i < elements && type == SUITE_U32; i++)
		((uint32_t *)data)[i] = (uint32_t)(suite_chance(chance) >> 32);
	for (long i = 0; i < elements && type == SUITE_U64; i++)
		((uint64_t *)data)[i] = suite_chance(chance);
}

static void fill_bases(void *data, enum suite_type type, long elements, long n, uint64_t *chance)
{
	uint8_t *bases = data;

	(void)type, (void)n;
	for (long i = 0; i < elements; i++)
		bases[i] = (uint8_t)(suite_chance(chance) >> 62);
}

/* Words of two to nine letters, of which there are 256; the first ones are the most frequent. */
static void fill_text(void *data, enum suite_type type, long elements, long n, uint64_t *chance)
{
	enum { WORDS = 256, LONGEST = 9 };
	static const char letters[] = "etaoinshrdlucmfwypvbgkjqxz";
	uint8_t *text = data, words[WORDS][LONGEST];
	int length[WORDS];

	(void)type, (void)n;
	for (int i = 0; i < WORDS; i++) {
		length[i] = 2 + (int)(suite_chance(chance) >> 61);
		for (int k = 0; k < LONGEST; k++) {
			uint64_t a = suite_chance(chance) >> 40;

			words[i][k] = (uint8_t)letters[a % 26 * (a / 26 % 26) / 26];
		}
	}
	for (long at = 0; at < elements; at++) {
		uint64_t a = suite_chance(chance) >> 40;
		int which = (int)(a % WORDS * (a / WORDS % WORDS) / WORDS);

		for (int k = 0; k < length[which] && at < elements; k++)
			text[at++] = words[which][k];
		if (at < elements)
			text[at] = ' ';
	}
}

static filler *const fillers[SUITE_FILLS] = {
	[SUITE_NEAR_ONE] = fill_near_one, [SUITE_DOMINANT] = fill_dominant, [SUITE_LENGTHS] = fill_lengths,
	[SUITE_RANDOM] = fill_random, [SUITE_BASES] = fill_bases, [SUITE_TEXT] = fill_text,
};

/* Pages of their own size, all of them there, as in tests/kernels/kernel.c. */
static void *pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_NOHUGEPAGE);
	return memset(p, 0, size);
}

bool suite_hall_open(struct suite_hall *hall, const struct suite_kernel *kernel, long n, long steps)
{
	uint64_t chance = 88172645463325252;

	bool last = kernel->part == SUITE_LAST || kernel->part == SUITE_LAST_KNOWN;

	*hall = (struct suite_hall){ kernel, { .n = n, .from = last ? n - steps : 0 } };
	hall->room.to = hall->room.from + steps;
	for (int i = 0; i < SUITE_ARRAYS; i++) {
		const struct suite_array *array = &kernel->array[i];
		size_t elements = suite_array_elements(array, n);

		if (elements == 0)
			continue;
		/* One page more, so that what is read or written in vectors may begin at the last element. */
		hall->mapped[i] = (elements * suite_type_size(array->type) + 2 * PAGE - 1) / PAGE * PAGE;
		hall->room.array[i] = pages(hall->mapped[i]);
		if (!hall->room.array[i]) {
			suite_hall_close(hall);
			return false;
		}
		if (fillers[array->fill])
			fillers[array->fill](hall->room.array[i], array->type, (long)elements, n, &chance);
	}
	if (kernel->prepare)
		kernel->prepare(&hall->room, &chance);
	return true;
}

void suite_hall_close(struct suite_hall *hall)
{
	for (int i = 0; i < SUITE_ARRAYS; i++)
		if (hall->room.array[i])
			munmap(hall->room.array[i], hall->mapped[i]);
}

void suite_hall_turn(struct suite_hall *hall)
{
	struct suite_room *room = &hall->room;
	long steps = room->to - room->from;

	if (hall->kernel->part != SUITE_ROUND)
		return;
	/* What is left at the end and is shorter than a pass is passed over, so that all take the same. */
	room->from = room->to + steps <= room->n ? room->to : 0;
	room->to = room->from + steps;
}

void suite_hall_poison(struct suite_hall *hall)
{
	for (int i = 0; i < SUITE_ARRAYS; i++) {
		const struct suite_array *array = &hall->kernel->array[i];

		if (array->role == SUITE_OUT || array->role == SUITE_SCRATCH)
			memset(hall->room.array[i], SUITE_POISON,
			       suite_array_elements(array, hall->room.n) * suite_type_size(array->type));
	}
}
