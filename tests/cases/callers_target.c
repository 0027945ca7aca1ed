/* SPDX-License-Identifier: MIT */
/* Programs whose stacks are known by construction: callers-target HOW MS [N] spends MS milliseconds of CPU time below
 * functions that are called as the case callers.sh says. Built without frame pointers, and once with them.
 *
 * CPU time has what profiling costs in it, so who measures that asks for work instead: xTURNS in the place of MS, of a
 * way that has one thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define ENOUGH 200000 /* turns between two looks at the clock: most of the time is the leaf's */

/* Built with sanitizers, it would spend time at its end in looking for leaks. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

static uint64_t until_ns;
static uint64_t turns; /* that are left; 0: time counts */
static volatile unsigned sink;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool goes_on(void)
{
	return turns ? --turns : now_ns() < until_ns;
}

/* The leaf: it calls nothing and needs no frame. */
static APART unsigned spin(unsigned n)
{
	unsigned x = n;

	for (unsigned i = 0; i < ENOUGH; i++)
		x = x * 1664525 + 1013904223;
	return x;
}

static APART unsigned inner(unsigned n)
{
	unsigned x = 0;

	while (goes_on())
		x += spin(n + x);
	return x + 1;
}

static APART unsigned middle(unsigned n)
{
	return inner(n + 1) + 2;
}

static APART unsigned outer(unsigned n)
{
	return middle(n + 1) + 3;
}

/* n times itself, each with so many bytes. */
static APART unsigned deep(unsigned n)
{
	return n ? deep(n - 1) + 1 : inner(n) + 1;
}

static APART unsigned wide_frame(unsigned n)
{
	char room[n];

	memset(room, (int)n, n);
	sink += (unsigned)room[n / 2];
	return middle((unsigned)room[n - 1]) + (unsigned)room[n / 3];
}

/* Twice the same way to the same call, from two callers: shallow for a moment, deep for long. */
static APART unsigned same_call(unsigned n)
{
	char room[n ? 20000 : 16];

	memset(room, (int)n, sizeof(room));
	return middle((unsigned)room[sizeof(room) / 2]) + (unsigned)room[sizeof(room) / 3];
}
static APART unsigned same_way(unsigned n)
{
	char room[20000];

	memset(room, (int)n, sizeof(room)); /* the kernel copies up to the first page that was never used */
	sink += (unsigned)room[n];
	return same_call((unsigned)room[n + 1]) + (unsigned)room[n + 2];
}
static APART unsigned first_caller(void) { return same_way(0) + 1; }
static APART unsigned second_caller(void) { return same_way(1) + 2; }

static void call_again(unsigned n)
{
	uint64_t until = until_ns;

	until_ns = now_ns() + n * 1000000ull;
	sink += first_caller();
	until_ns = until;
	sink += second_caller();
}

/* Goes down and comes back all the time, so that stacks are of all depths. */
static APART unsigned up_and_down(unsigned n)
{
	volatile char room[512];
	unsigned x = n;

	room[n % 512] = (char)n;
	for (unsigned i = 0; i < 2000; i++)
		x = x * 1664525 + 1013904223;
	if (n)
		x += up_and_down(n - 1);
	return x + (unsigned)room[n % 511];
}

/* By the one way or the other down and back, so that a stack with both was never there. */
#define WAY(name, factor) \
	static APART unsigned name(unsigned n) \
	{ \
		volatile char room[512]; \
		unsigned x = n; \
\
		room[n % 512] = (char)n; \
		for (unsigned i = 0; i < 2000; i++) \
			x = x * (factor) + 1013904223; \
		if (n) \
			x += name(n - 1); \
		return x + (unsigned)room[n % 511]; \
	}
WAY(ping, 22695477) /* else they are one function to the compiler */
WAY(pong, 1103515245)

static APART void handler(int signal)
{
	sink += middle((unsigned)signal);
}

static APART unsigned interrupted(void)
{
	unsigned x = 0;

	while (goes_on())
		for (unsigned i = 0; i < ENOUGH; i++)
			x = x * 1664525 + sink;
	return x;
}

static APART void with_signal(unsigned n)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec when = { .it_value = { .tv_nsec = 20000000 } };

	(void)n;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
	timer_settime(timer, 0, &when, NULL);
	interrupted();
}

static int compare(const void *a, const void *b)
{
	sink += spin(*(const unsigned *)a & 1) & 1;
	return *(const unsigned *)a < *(const unsigned *)b ? -1 : 1;
}

static APART void sorted(unsigned n)
{
	unsigned v[16];

	(void)n;
	while (goes_on()) {
		for (unsigned i = 0; i < 16; i++)
			v[i] = i * 2654435761u;
		qsort(v, 16, sizeof(*v), compare);
	}
}

static APART void ask_time(void)
{
	struct timespec t;

	while (goes_on())
		for (unsigned i = 0; i < 10000; i++)
			clock_gettime(CLOCK_MONOTONIC, &t);
}

static void *thread(void *n)
{
	outer((unsigned)(uintptr_t)n);
	return NULL;
}

static void threads(unsigned n)
{
	pthread_t t[4];

	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, (void *)(i + n));
	for (unsigned i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static APART void loaded(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);
	double (*function)(double) = NULL;
	double x = 1e22;

	if (library)
		*(void **)&function = dlsym(library, "sin");
	while (function && goes_on())
		for (unsigned i = 0; i < 10000; i++)
			x = function(x) * 1e22;
	sink += (unsigned)(int64_t)(x / 1e20);
}

static void call_outer(unsigned n) { outer(n); }
static void call_deep(unsigned n) { deep(n); }
static void call_wide(unsigned n) { wide_frame(n); }
static void call_time(unsigned n) { (void)n; ask_time(); }
static void call_loaded(unsigned n) { (void)n; loaded(); }

static void call_up_and_down(unsigned n)
{
	while (goes_on())
		sink += up_and_down(n);
}

static void call_ways(unsigned n)
{
	unsigned random = 1;

	while (goes_on()) {
		random = random * 1664525 + 1013904223;
		sink += random >> 31 ? ping(n) : pong(n);
	}
}

static APART void forked(unsigned n)
{
	pid_t child = fork();

	if (!child) {
		outer(n);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void executed(unsigned n)
{
	char ms[32];

	(void)n;
	snprintf(ms, sizeof(ms), "%llu", (unsigned long long)(until_ns / 1000000));
	execl("/proc/self/exe", "callers-execd", "plain", ms, NULL);
	_exit(9);
}

static const struct { const char *how; void (*run)(unsigned n); } ways[] = {
	{ "plain", call_outer }, { "deep", call_deep }, { "wide", call_wide }, { "up", call_up_and_down },
	{ "ways", call_ways }, { "again", call_again },
	{ "signal", with_signal }, { "sort", sorted }, { "time", call_time }, { "threads", threads },
	{ "dlopen", call_loaded }, { "fork", forked }, { "exec", executed },
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (argv[2][0] == 'x')
		turns = strtoull(argv[2] + 1, NULL, 10) + 1;
	else
		until_ns = now_ns() + strtoull(argv[2], NULL, 10) * 1000000;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(argv[1], ways[i].how) == 0) {
			ways[i].run(argc > 3 ? (unsigned)atoi(argv[3]) : 0);
			return 0;
		}
	return 2;
}
