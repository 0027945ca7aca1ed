/* SPDX-License-Identifier: MIT */
/* tracing/emulator/sweeper: whoever has the word in its command line ends when the one that began the sweeper is no
 * more, and only then. What has the word here is a shell, which stands for the emulator. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracing/emulator/sweeper.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static bool refuse_pairs;
static char word[64];

int socketpair(int domain, int type, int protocol, int ends[2])
{
	if (refuse_pairs) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_socketpair, domain, type, protocol, ends);
}

static int setup(void **state)
{
	(void)state;
	snprintf(word, sizeof(word), "GUSPROF_TEST_%d", (int)getpid());
	return 0;
}

/* A process that waits to be killed, with those words in its command line. */
static pid_t start_with(const char *first, const char *second)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "while :; do sleep 1; done", first, second, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

static void nap(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000l }, NULL);
}

/* Until it has; a machine that is slow may take its time. */
static bool ends(pid_t pid)
{
	for (int i = 0; i < 2000 && !has_ended(pid); i++)
		nap(10);
	return has_ended(pid);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static unsigned open_files(pid_t pid)
{
	char path[32];
	unsigned n = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	assert_non_null(folder);
	for (struct dirent *e; (e = readdir(folder));)
		n += *e->d_name != '.';
	closedir(folder);
	return n;
}

static void told_that_all_is_well_it_leaves(void **state)
{
	pid_t emulator = start_with("qemu", word);
	struct gus_sweeper s;
	pid_t pid;

	(void)state;
	gus_sweeper_start(&s, word);
	pid = s.pid;
	assert_true(pid > 0 && s.leave >= 0);
	for (int i = 0; i < 2000 && open_files(pid) != 1; i++)
		nap(10);
	assert_int_equal(open_files(pid), 1); /* its pipe: it keeps nothing else of ours */
	assert_int_equal(getsid(pid), pid);
	gus_sweeper_end(&s);
	assert_int_equal(s.pid, -1);
	assert_int_equal(kill(pid, 0), -1);
	nap(50);
	assert_false(has_ended(emulator));
	end(emulator);
}

/* A process that begins a sweeper and is killed; its pid goes through memory that both have. */
static pid_t killed_user(void)
{
	volatile pid_t *sweeper = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t user = fork(), pid;

	if (user == 0) {
		struct gus_sweeper s;

		gus_sweeper_start(&s, word);
		*sweeper = s.pid;
		for (;;)
			pause();
	}
	while (!*sweeper)
		nap(1);
	end(user);
	pid = *sweeper;
	munmap((void *)(uintptr_t)sweeper, 4096);
	return pid;
}

static void what_has_the_word_ends_with_us(void **state)
{
	const struct { const char *first, *second; bool ends; } cases[] = {
		{ "qemu", word, true }, { word, "qemu", true }, { "qemu", "GUSPROF_TEST", false },
		{ "qemu", "x", false }, { "", "", false },
	};
	char longer[80], joined[80];
	pid_t pids[COUNT(cases)], with_more, joint, sweeper;

	(void)state;
	snprintf(longer, sizeof(longer), "%s0", word);
	snprintf(joined, sizeof(joined), "x%s", word);
	for (size_t i = 0; i < COUNT(cases); i++)
		pids[i] = start_with(cases[i].first, cases[i].second);
	with_more = start_with("qemu", longer);
	joint = start_with(joined, "x");
	nap(100); /* until they are what they are to be */
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* the sweeper becomes ours then */
	sweeper = killed_user();
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_true(!cases[i].ends || ends(pids[i]));
	assert_int_equal(waitpid(sweeper, NULL, 0), sweeper);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(has_ended(pids[i]), cases[i].ends);
	assert_false(has_ended(with_more) || has_ended(joint));
	for (size_t i = 0; i < COUNT(cases); i++)
		end(pids[i]);
	end(with_more);
	end(joint);
}

static void without_a_pair_there_is_none(void **state)
{
	struct gus_sweeper s = { 1, 1 };

	(void)state;
	refuse_pairs = true;
	gus_sweeper_start(&s, word);
	refuse_pairs = false;
	assert_true(s.pid == -1 && s.leave == -1);
	gus_sweeper_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(told_that_all_is_well_it_leaves, setup),
		cmocka_unit_test_setup(what_has_the_word_ends_with_us, setup),
		cmocka_unit_test_setup(without_a_pair_there_is_none, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
