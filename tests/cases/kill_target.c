/* SPDX-License-Identifier: MIT */
/* What tests/bench/kills looks at while the one who looks is killed: `kill-target MB THREADS [MS]` touches so much
 * memory, says "begun", and computes in so many threads until its standard input ends or the time is over. Then each
 * thread says how far it came and where it is, which follows from how far it came: whoever has lost or added a step, a
 * register or a word of memory is found out. The first thread waits in epoll_wait(2), which ends with EINTR if somebody
 * wakes it who should not; that is counted. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define THREADS_MOST 8
#define WORDS 4096

/* Built with sanitizers, it would hold its own threads at its end to look for leaks, as a snapshot does. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

static atomic_bool over;
static struct thread {
	pthread_t id;
	uint64_t count, x, words[WORDS];
} threads[THREADS_MOST];

static void *compute(void *context)
{
	struct thread *t = context;
	uint64_t n = 0, x = (uint64_t)(t - threads) + 1;

	for (size_t i = 0; i < WORDS; i++)
		t->words[i] = x;
	while (!atomic_load_explicit(&over, memory_order_relaxed))
		for (int i = 0; i < 1024; i++) {
			x = t->words[n % WORDS] * 6364136223846793005ull + 1442695040888963407ull;
			n++;
			t->words[n % WORDS] = x;
		}
	t->count = n;
	t->x = x;
	return NULL;
}

static unsigned wait_for_end(int ms)
{
	struct epoll_event event = { .events = EPOLLIN };
	int poll = epoll_create1(EPOLL_CLOEXEC);
	unsigned interrupted = 0;

	if (poll < 0 || (epoll_ctl(poll, EPOLL_CTL_ADD, 0, &event) != 0 && ms < 0))
		exit(2);
	while (epoll_wait(poll, &event, 1, ms) < 0 && errno == EINTR)
		interrupted++;
	return interrupted;
}

int main(int argc, char **argv)
{
	size_t bytes = (size_t)(argc > 1 ? atol(argv[1]) : 1) << 20, n = argc > 2 ? (size_t)atol(argv[2]) : 1;
	char *memory = malloc(bytes);
	unsigned interrupted;

	if (!memory || n > THREADS_MOST)
		return 2;
	memset(memory, 1, bytes);
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&threads[i].id, NULL, compute, &threads[i]) != 0)
			return 2;
	printf("begun\n");
	fflush(stdout);
	interrupted = wait_for_end(argc > 3 ? atoi(argv[3]) : -1);
	atomic_store(&over, true);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i].id, NULL);
	printf("interrupted %u\n", interrupted);
	for (size_t i = 0; i < n; i++)
		printf("thread %zu count %llu x %llu\n", i, (unsigned long long)threads[i].count,
		       (unsigned long long)threads[i].x);
	free(memory);
	return 0;
}
