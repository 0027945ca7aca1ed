/* SPDX-License-Identifier: MIT */
/* Work that is done by many tasks, in a unit of about a millisecond of CPU time:
 *
 *     tasks threads N UNITS    N threads do UNITS units each
 *     tasks forks N UNITS      N processes, one after the other, execute this program again to do UNITS units
 *     tasks work UNITS         this thread does UNITS units: what forks executes
 *     tasks churn FILE         until it is killed: 2 threads work all the time ("old"), 10 more work for 20 units and are
 *                              then replaced by new ones ("young"), and 288 live for a moment and are replaced. FILE
 *                              is mapped and counts units done by the old and by the young ones, and threads born. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared { uint64_t old, young, born; };

static struct shared *shared;
static sem_t young_room, brief_room;

/* Each caller has a copy, with a seed of its own: equal functions would be folded into one. */
__attribute__((always_inline)) static inline void unit(uint64_t x)
{
	volatile uint64_t sink;

	for (unsigned i = 0; i < 600000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
	(void)sink;
}

__attribute__((noinline)) static void old_work(uint64_t *done)
{
	unit(88172645463325252u);
	__atomic_add_fetch(done, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void young_work(uint64_t *done)
{
	unit(2463534242u);
	__atomic_add_fetch(done, 1, __ATOMIC_RELAXED);
}

static void *some(void *units)
{
	uint64_t done = 0;

	while (done < (uintptr_t)units)
		old_work(&done);
	return NULL;
}

static void *old(void *unused)
{
	(void)unused;
	for (;;)
		old_work(&shared->old);
	return NULL;
}

static void *young(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		young_work(&shared->young);
	sem_post(&young_room);
	return NULL;
}

static void *brief(void *unused)
{
	struct timespec moment = { 0, 200000000 };

	(void)unused;
	nanosleep(&moment, NULL);
	sem_post(&brief_room);
	return NULL;
}

static void begin(void *(*what)(void *), void *argument)
{
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&a, 65536);
	if (pthread_create(&t, &a, what, argument) != 0) {
		perror("pthread_create");
		exit(1);
	}
	pthread_attr_destroy(&a);
	__atomic_add_fetch(&shared->born, 1, __ATOMIC_RELAXED);
}

static void *keep_young(void *unused)
{
	(void)unused;
	for (;;) {
		sem_wait(&young_room);
		begin(young, NULL);
	}
	return NULL;
}

static int churn(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*shared)) != 0)
		return 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sem_init(&young_room, 0, 10);
	sem_init(&brief_room, 0, 288);
	for (int i = 0; i < 2; i++)
		begin(old, NULL);
	begin(keep_young, NULL);
	for (;;) {
		sem_wait(&brief_room);
		begin(brief, NULL);
	}
}

static int threads(int n, uintptr_t units)
{
	pthread_t *t = calloc((size_t)n, sizeof(*t));

	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, some, (void *)units);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	return 0;
}

static int forks(int n, char *units)
{
	char work[] = "work", self[] = "/proc/self/exe";
	char *const argv[] = { self, work, units, NULL };

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execv(self, argv);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "threads") == 0)
		return threads(atoi(argv[2]), (uintptr_t)atol(argv[3]));
	if (argc == 4 && strcmp(argv[1], "forks") == 0)
		return forks(atoi(argv[2]), argv[3]);
	if (argc == 3 && strcmp(argv[1], "work") == 0) {
		some((void *)(uintptr_t)atol(argv[2]));
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "churn") == 0)
		return churn(argv[2]);
	fprintf(stderr, "usage: tasks threads N UNITS | forks N UNITS | work UNITS | churn FILE\n");
	return 2;
}
