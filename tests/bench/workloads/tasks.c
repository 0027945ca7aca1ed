/* SPDX-License-Identifier: MIT */
/* Work that is done by many tasks, in a unit of about a millisecond of CPU time:
 *
 *     tasks threads N UNITS    N threads do UNITS units each
 *     tasks forks N UNITS      N processes, one after the other, execute this program again to do UNITS units
 *     tasks work UNITS         this thread does UNITS units: what forks executes
 *     tasks churn FILE         until it is killed: 2 threads work all the time ("old"), 10 more work for 20 units and
 *                              are
 *                              then replaced by new ones ("young"), and 288 live for a moment and are replaced. FILE
 *                              is mapped and counts units done by the old and by the young ones, and threads born.
 *     tasks keep N FILE        until it is killed: N threads do units. FILE is mapped and has a struct tally of each,
 *                              which is written after each unit
 *     tasks fork UNITS FILE    until it is killed: one process after the other executes this program again to do UNITS
 *                              units. FILE is mapped and has one struct tally, written after each process: of all of
 *                              them
 *                              and of this one
 *     tasks pipe               until it is killed: two processes wake each other through pipes, 10 times every few
 * milliseconds */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared { uint64_t old, young, born; };

/* What has been done, and the CPU time that it took. changes is odd while they are being written. */
struct tally { uint64_t changes, units, cpu_ns; };

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

static void *map(const char *file, size_t size)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror(file);
		exit(1);
	}
	return at;
}

static int churn(const char *file)
{
	shared = map(file, sizeof(*shared));
	sem_init(&young_room, 0, 10);
	sem_init(&brief_room, 0, 288);
	for (int i = 0; i < 2; i++)
		begin(old, NULL);
	begin(keep_young, NULL);
	while (sem_wait(&brief_room) == 0)
		begin(brief, NULL);
	return 1;
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

static uint64_t cpu_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void tell(struct tally *t, uint64_t units, uint64_t ns)
{
	__atomic_add_fetch(&t->changes, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&t->units, t->units + units, __ATOMIC_SEQ_CST);
	__atomic_store_n(&t->cpu_ns, ns, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&t->changes, 1, __ATOMIC_SEQ_CST);
}

static void *keep_one(void *tally)
{
	uint64_t done = 0;

	for (;;) {
		old_work(&done);
		tell(tally, 1, cpu_ns(CLOCK_THREAD_CPUTIME_ID));
	}
	return NULL;
}

static int keep(int n, const char *file)
{
	struct tally *t = map(file, (size_t)n * sizeof(*t));
	pthread_t thread;

	for (int i = 1; i < n; i++)
		if (pthread_create(&thread, NULL, keep_one, &t[i]) != 0)
			return 1;
	keep_one(&t[0]);
	return 0;
}

static int fork_on(char *units, const char *file)
{
	struct tally *t = map(file, sizeof(*t));
	struct rusage children;

	while (forks(1, units) == 0) {
		getrusage(RUSAGE_CHILDREN, &children);
		tell(t, (uint64_t)atol(units), cpu_ns(CLOCK_PROCESS_CPUTIME_ID) +
		     1000000000u * (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
		     1000u * (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec));
	}
	return 1;
}

static int ping_pong(void)
{
	int there[2], back[2];
	char byte = 0;

	if (pipe(there) != 0 || pipe(back) != 0)
		return 1;
	if (fork() == 0)
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
	else
		for (unsigned i = 1; write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1; i++)
			if (i % 10 == 0)
				nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	return 1;
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
	if (argc == 4 && strcmp(argv[1], "keep") == 0)
		return keep(atoi(argv[2]), argv[3]);
	if (argc == 4 && strcmp(argv[1], "fork") == 0)
		return fork_on(argv[2], argv[3]);
	if (argc == 2 && strcmp(argv[1], "pipe") == 0)
		return ping_pong();
	fprintf(stderr, "usage: tasks threads N UNITS | forks N UNITS | work UNITS | churn FILE | keep N FILE | "
		"fork UNITS FILE | pipe\n");
	return 2;
}
