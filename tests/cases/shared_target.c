/* SPDX-License-Identifier: MIT */
/* Two threads that add to words of their own, in one line ("one") or in two ("two"), for so many seconds. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE 64

static volatile uint64_t words[2 * LINE / sizeof(uint64_t)] __attribute__((aligned(LINE)));
static double until;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void add(volatile uint64_t *word)
{
	for (int i = 0; i < 1000000; i++)
		++*word;
}

static void *work(void *word)
{
	while (now() < until)
		add(word);
	return NULL;
}

int main(int argc, char **argv)
{
	size_t second = argc > 1 && strcmp(argv[1], "one") == 0 ? 1 : LINE / sizeof(uint64_t);
	pthread_t thread;

	until = now() + (argc > 2 ? atof(argv[2]) : 1);
	if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)&words[second]) != 0)
		return 1;
	work((void *)(uintptr_t)&words[0]);
	return pthread_join(thread, NULL) != 0;
}
