/* SPDX-License-Identifier: MIT */
/* Grains that fall on a pile, by two threads: `sandpile ROUNDS`. Each has half of a field of 256 x 256; where more than
 * three grains lie, four fall to the neighbours. In each round new grains fall, both threads topple what they have, and
 * wait for each other at a barrier; grains over the border between them go through a lock. */
#include <pthread.h>
#include <string.h>

#include "chance.h"

enum { SIDE = 256, HALF = SIDE / 2, GRAINS = 3000, SWEEPS = 8 };

struct half {
	int32_t field[HALF + 2][SIDE + 2]; /* with a rim: what falls over it is lost, or the other's */
	uint64_t state, toppled;
	int number;
};

struct pile {
	struct half halves[2];
	int32_t over[2][SIDE + 2]; /* grains on their way to a half */
	pthread_mutex_t lock;
	pthread_barrier_t barrier;
	unsigned rounds;
};

static struct pile pile;

static void topple(struct half *h)
{
	for (int i = 1; i <= HALF; i++)
		for (int k = 1; k <= SIDE; k++) {
			int32_t falls = h->field[i][k] / 4;

			if (falls == 0)
				continue;
			h->field[i][k] -= 4 * falls;
			h->field[i - 1][k] += falls;
			h->field[i + 1][k] += falls;
			h->field[i][k - 1] += falls;
			h->field[i][k + 1] += falls;
			h->toppled += (uint64_t)falls;
		}
}

/* Grains over the inner border: the last row of half 0 and the first of half 1 are neighbours. */
static void hand_over(struct half *h)
{
	int32_t *rim = h->field[h->number ? 0 : HALF + 1], *to = pile.over[!h->number];

	pthread_mutex_lock(&pile.lock);
	for (int k = 1; k <= SIDE; k++)
		to[k] += rim[k];
	pthread_mutex_unlock(&pile.lock);
	memset(rim, 0, sizeof(h->field[0]));
}

static void take_over(struct half *h)
{
	int32_t *row = h->field[h->number ? 1 : HALF], *from = pile.over[h->number];

	pthread_mutex_lock(&pile.lock);
	for (int k = 1; k <= SIDE; k++)
		row[k] += from[k];
	memset(from, 0, sizeof(pile.over[0]));
	pthread_mutex_unlock(&pile.lock);
}

static void *work(void *what)
{
	struct half *h = what;

	for (unsigned left = pile.rounds; left; left--) {
		for (int g = 0; g < GRAINS; g++) {
			h->state = h->state * 6364136223846793005 + 1442695040888963407;
			h->field[1 + (h->state >> 33) % HALF][1 + (h->state >> 45) % SIDE]++;
		}
		for (int s = 0; s < SWEEPS; s++)
			topple(h);
		hand_over(h);
		pthread_barrier_wait(&pile.barrier);
		take_over(h);
		pthread_barrier_wait(&pile.barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	pile.rounds = chance_passes(argc, argv);
	pthread_mutex_init(&pile.lock, NULL);
	pthread_barrier_init(&pile.barrier, NULL, 2);
	for (int i = 0; i < 2; i++) {
		pile.halves[i].number = i;
		pile.halves[i].state = chance();
	}
	if (pthread_create(&other, NULL, work, &pile.halves[1])) {
		fputs("sandpile: there is no second thread\n", stderr);
		return 99;
	}
	work(&pile.halves[0]);
	pthread_join(other, NULL);
	printf("sandpile %llu\n", (unsigned long long)(pile.halves[0].toppled + pile.halves[1].toppled));
	return 0;
}
