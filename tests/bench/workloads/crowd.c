/* SPDX-License-Identifier: MIT */
/* Sixteen processes of eight threads each, again and again for so many seconds: sorting and printing. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 16, THREADS = 8, NUMBERS = 2000 };

static volatile size_t sink;
static double until;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_value(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static void *work(void *seed)
{
	unsigned state = (unsigned)(size_t)seed;
	int numbers[NUMBERS];
	char text[128];

	while (now() < until) {
		for (int i = 0; i < NUMBERS; i++)
			numbers[i] = (int)((state = state * 1103515245u + 12345u) >> 8);
		qsort(numbers, NUMBERS, sizeof(*numbers), by_value);
		for (int i = 0; i < 100; i++) {
			snprintf(text, sizeof(text), "%d %d", numbers[i], numbers[i + 1]);
			sink += strlen(text);
		}
	}
	return NULL;
}

static void run_threads(size_t process)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(process * THREADS + i));
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	until = now() + (argc > 1 ? atof(argv[1]) : 1);
	for (size_t i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			run_threads(i);
			_exit(0);
		}
	while (wait(NULL) > 0) {
	}
	return 0;
}
