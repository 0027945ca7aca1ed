/* SPDX-License-Identifier: MIT */
/* A program that spends known times in known ways, each in a function of its own that makes its system calls itself,
 * and says what it took, by its own clocks: "function wall-ns cpu-ns". It is built with frame pointers.
 *
 *	off-target [-w] WHAT:MS...     -w: waits for a line before it begins
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000l
#define OWN __attribute__((noinline, noclone))

/* In the function that calls it: a library's function without a frame would hide that. */
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
	return syscall(number, a, b, c, d, e, f);
#endif
}
#define CALL(number, a, b, c, d) call(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static long now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static void pause_for(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * MS };

	nanosleep(&t, NULL);
}

static int pipe_of[2], lock_word, condition_word;

OWN static void sleeps(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * MS };

	CALL(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
}

OWN static void computes(long ms)
{
	static volatile uint64_t sink;
	long until = now(CLOCK_THREAD_CPUTIME_ID) + ms * MS;
	struct timespec t;

	do {
		for (unsigned i = 0; i < 100000; i++)
			sink += i;
		CALL(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t, 0, 0);
	} while (t.tv_sec * 1000000000l + t.tv_nsec < until);
}

OWN static void reads_pipe(long ms)
{
	char byte;

	(void)ms;
	CALL(SYS_read, pipe_of[0], &byte, 1, 0);
}

static void *feeds(void *ms)
{
	pause_for((long)ms);
	return write(pipe_of[1], "x", 1) == 1 ? NULL : ms;
}

OWN static void polls(long ms)
{
	struct pollfd none = { .fd = -1 };
	struct timespec t = { ms / 1000, ms % 1000 * MS };

	CALL(SYS_ppoll, &none, 1, &t, NULL);
}

OWN static void selects(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * MS };

	call(SYS_pselect6, 0, 0, 0, 0, (long)&t, 0);
}

OWN static void epolls(long ms)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	CALL(SYS_epoll_pwait, fd, &event, 1, ms);
	close(fd);
}

/* As a mutex does it: the word is 1 as long as somebody has it. */
OWN static void waits_for_lock(long ms)
{
	(void)ms;
	while (__atomic_load_n(&lock_word, __ATOMIC_ACQUIRE))
		CALL(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, 1, NULL);
}

static void *holds(void *ms)
{
	pause_for((long)ms);
	__atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
	CALL(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL);
	return NULL;
}

OWN static void waits_for_condition(long ms)
{
	(void)ms;
	while (!__atomic_load_n(&condition_word, __ATOMIC_ACQUIRE))
		CALL(SYS_futex, &condition_word, FUTEX_WAIT_PRIVATE, 0, NULL);
}

static void *signals(void *ms)
{
	pause_for((long)ms);
	__atomic_store_n(&condition_word, 1, __ATOMIC_RELEASE);
	CALL(SYS_futex, &condition_word, FUTEX_WAKE_PRIVATE, 1, NULL);
	return NULL;
}

/* A file on a disk, again and again until the time is over. */
OWN static void syncs(long ms)
{
	long until = now(CLOCK_MONOTONIC) + ms * MS;
	char name[] = "off-target-XXXXXX", block[4096] = { 0 };
	int fd = mkstemp(name);

	unlink(name);
	while (CALL(SYS_write, fd, block, sizeof(block), 0) == (long)sizeof(block)) {
		struct timespec t;

		CALL(SYS_fsync, fd, 0, 0, 0);
		CALL(SYS_clock_gettime, CLOCK_MONOTONIC, &t, 0, 0);
		if (t.tv_sec * 1000000000l + t.tv_nsec >= until)
			break;
	}
	CALL(SYS_close, fd, 0, 0, 0);
}

/* Somebody else lets it go on. */
OWN static void is_stopped(long ms)
{
	(void)ms;
	CALL(SYS_kill, CALL(SYS_getpid, 0, 0, 0, 0), SIGSTOP, 0, 0);
}

/* More than once: the first time may be before it has stopped. */
static pid_t let_go_on(long ms)
{
	pid_t target = getpid(), pid = fork();

	if (pid == 0) {
		for (pause_for(ms); getppid() == target; pause_for(1))
			kill(target, SIGCONT);
		_exit(0);
	}
	return pid;
}

/* Both are off the CPU for so long in here: the child sleeps, and its parent waits for it within vfork, which keeps its
 * own return address in a register. */
OWN static void vforks(long ms)
{
	pid_t child = vfork();

	if (child == 0) {
		CALL(SYS_nanosleep, &((struct timespec){ ms / 1000, ms % 1000 * MS }), NULL, 0, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Whoever has a turn, the others wait for theirs. */
static void *competes(void *ms)
{
	long until = now(CLOCK_MONOTONIC) + (long)ms * MS;

	while (now(CLOCK_MONOTONIC) < until)
		computes(1);
	return NULL;
}

static const struct activity {
	const char *name;
	void (*run)(long ms);
	void *(*beside)(void *ms);  /* another thread meanwhile */
	unsigned threads;
} activities[] = {
	{ "sleeps", sleeps, NULL, 0 }, { "computes", computes, NULL, 0 }, { "reads_pipe", reads_pipe, feeds, 1 },
	{ "polls", polls, NULL, 0 }, { "selects", selects, NULL, 0 }, { "epolls", epolls, NULL, 0 },
	{ "waits_for_lock", waits_for_lock, holds, 1 },
	{ "waits_for_condition", waits_for_condition, signals, 1 }, { "syncs", syncs, NULL, 0 },
	{ "is_stopped", is_stopped, NULL, 0 }, { "vforks", vforks, NULL, 0 }, { "competes", NULL, competes, 4 },
};

static void perform(const struct activity *a, long ms)
{
	pthread_t threads[8];
	long wall, cpu;
	pid_t pid = 0;

	lock_word = 1;
	condition_word = 0;
	if (strcmp(a->name, "is_stopped") == 0)
		pid = let_go_on(ms);
	for (unsigned i = 0; i < a->threads; i++)
		if (pthread_create(&threads[i], NULL, a->beside, (void *)ms) != 0)
			exit(2);
	/* Its system call is where others, such as these threads, are most likely to get our CPU: that is before. */
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	wall = now(CLOCK_MONOTONIC);
	if (a->run)
		a->run(ms);
	wall = now(CLOCK_MONOTONIC) - wall;
	cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	for (unsigned i = 0; i < a->threads; i++)
		pthread_join(threads[i], NULL);
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	printf("%s %ld %ld\n", a->name, wall, cpu);
}

static long number(const char *text)
{
	return strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	int at = 1;

	if (at < argc && strcmp(argv[at], "-w") == 0) {
		char line[8];

		at++;
		if (!fgets(line, sizeof(line), stdin))
			return 2;
	}
	if (pipe(pipe_of) != 0)
		return 2;
	for (; at < argc; at++) {
		const char *colon = strchr(argv[at], ':');
		bool known = false;

		for (size_t i = 0; colon && i < sizeof(activities) / sizeof(*activities); i++) {
			if (strncmp(activities[i].name, argv[at], (size_t)(colon - argv[at])) != 0 ||
			    activities[i].name[colon - argv[at]])
				continue;
			known = true;
			perform(&activities[i], number(colon + 1));
		}
		if (!known)
			return 2;
	}
	return 0;
}
