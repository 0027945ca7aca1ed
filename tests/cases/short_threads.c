/* SPDX-License-Identifier: MIT */
/* A program whose time is known and hard to sample: many threads that live for 1 to 20 ms each, as many at a time as
 * asked, nine tenths of their CPU time in `frequent` and a tenth in `rare`. Which function a thread is in goes with how
 * long it lives, so who misses the short ones gets the shares wrong.
 *
 *     short-threads THREADS long|short [AT_ONCE]
 *
 * `rare` is what the long threads do, or the short ones. It waits for a byte on its standard input before it starts and
 * prints, in ns of CPU time by the threads' own clocks, what `rare`, `frequent` and the whole process took. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A chain, as its time doesn't depend on what another thread of the core does. */
#define LOOP(name) \
	void name(uint64_t turns); \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" TURN \
		".size " #name ", .-" #name "\n")
#if defined(__x86_64__)
#define TURN "1: imul %rax, %rax\n imul %rax, %rax\n imul %rax, %rax\n imul %rax, %rax\n dec %rdi\n jnz 1b\n ret\n"
#elif defined(__aarch64__)
#define TURN "1: mul x1, x1, x1\n mul x1, x1, x1\n mul x1, x1, x1\n subs x0, x0, #1\n b.ne 1b\n ret\n"
#else
#error "a loop for this processor is wanted"
#endif
#define CALIBRATION_TURNS 50000
LOOP(rare);
LOOP(frequent);

/* A thread's work: between these, in microseconds of CPU time. */
struct kind { void (*work)(uint64_t); uint64_t from_us, to_us; };
struct task { const struct kind *kind; uint64_t turns; };

/* Built with sanitizers, it would look for leaks at its end, by a task of its own that is sampled as it should be. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

static sem_t room;
static uint64_t spent[2]; /* ns, of rare and frequent */
static uint64_t turns_ms; /* turns of the loops that take a millisecond */

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *run(void *context)
{
	struct task *task = context;
	uint64_t start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

	task->kind->work(task->turns);
	__atomic_add_fetch(&spent[task->kind->work == frequent], cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start,
			   __ATOMIC_RELAXED);
	free(task);
	sem_post(&room);
	return NULL;
}

/* The best of a few: what interrupts one makes it longer. */
static void calibrate(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t start = cpu_ns(CLOCK_THREAD_CPUTIME_ID), took;

		frequent(CALIBRATION_TURNS);
		took = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		best = took < best ? took : best;
	}
	turns_ms = CALIBRATION_TURNS * 1000000ULL / (best ? best : 1);
}

static uint64_t between(const struct kind *kind, uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return kind->from_us + (kind->to_us - kind->from_us) * (*random >> 16) / 65535;
}

/* The kind of which less than its part has been given out. */
static void launch(const struct kind kinds[2], uint32_t *random, uint64_t given[2])
{
	unsigned which = given[0] * 9 > given[1];
	struct task *task = malloc(sizeof(*task));
	uint64_t us = between(&kinds[which], random);
	pthread_attr_t detached;
	pthread_t thread;

	*task = (struct task){ &kinds[which], us * turns_ms / 1000 };
	given[which] += us;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sem_wait(&room);
	if (pthread_create(&thread, &detached, run, task) != 0)
		abort();
	pthread_attr_destroy(&detached);
}

int main(int argc, char **argv)
{
	static const struct kind kinds[2][2] = {
		{ { rare, 1000, 2500 }, { frequent, 2500, 20000 } },
		{ { rare, 14000, 20000 }, { frequent, 1000, 14000 } },
	};
	uint64_t given[2] = { 0 };
	uint32_t random = 1;
	int at_once = argc > 3 ? atoi(argv[3]) : 2;
	char go;

	if (argc < 3 || sem_init(&room, 0, (unsigned)at_once) != 0)
		return 2;
	if (read(STDIN_FILENO, &go, 1) < 0)
		return 2;
	calibrate();
	for (int i = atoi(argv[1]); i > 0; i--)
		launch(kinds[strcmp(argv[2], "long") == 0], &random, given);
	for (int i = 0; i < at_once; i++)
		sem_wait(&room);
	printf("%llu %llu %llu\n", (unsigned long long)spent[0], (unsigned long long)spent[1],
	       (unsigned long long)cpu_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
