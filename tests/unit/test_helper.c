/* SPDX-License-Identifier: MIT */
/* base/helper: processes and files that end with the one that made them, by whatever it is ended. The one that ends is
 * a process of its own here (fork_user); that a helper of it has ended is seen from the end of a pipe, which it has. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/helper.h"

enum { LONG_MS = 20000 }; /* nobody needs as long who is only waiting for a CPU */

/* What the kernel refuses, and when a parent ends. */
static bool refuse_clone, refuse_stack, refuse_memory_file, kill_parent_first;

int prctl(int option, ...)
{
	va_list list;
	unsigned long argument;

	va_start(list, option);
	argument = va_arg(list, unsigned long);
	va_end(list);
	if (kill_parent_first) {
		pid_t parent = getppid();

		kill(parent, SIGKILL);
		while (getppid() == parent)
			sched_yield();
	}
	return (int)syscall(SYS_prctl, option, argument, 0, 0, 0);
}

int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	int (*next)(int (*)(void *), void *, int, void *, ...);

	if (refuse_clone) {
		errno = EAGAIN;
		return -1;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "clone");
	return next(function, stack, flags, argument);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (refuse_stack && flags & MAP_STACK) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

int memfd_create(const char *name, unsigned flags)
{
	if (refuse_memory_file) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_memfd_create, name, flags);
}

/* The pipe. */

static int ends[2];

static int setup(void **state)
{
	(void)state;
	refuse_clone = refuse_stack = refuse_memory_file = kill_parent_first = false;
	return pipe(ends);
}

static int teardown(void **state)
{
	(void)state;
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return 0;
}

/* What comes through the pipe: a byte; '-' if it has ended, 0 if nothing comes for so long. */
static char next_byte(int ms)
{
	struct pollfd p = { ends[0], POLLIN, 0 };
	char byte = '-';

	if (poll(&p, 1, ms) <= 0)
		return 0;
	return read(ends[0], &byte, 1) == 1 ? byte : '-';
}

static void say(char byte)
{
	if (write(ends[1], &byte, 1) != 1)
		_exit(9);
}

/* A process that uses helpers, in a group of its own. We have no writing end any more. */
static pid_t fork_user(void (*use)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		use();
		_exit(0);
	}
	assert_true(pid > 0);
	close(ends[1]);
	ends[1] = -1;
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Forked. */

static void wait_in_a_fork(void)
{
	if (gus_helper_fork() == 0)
		say('a');
	for (;;)
		pause();
}

static void a_fork_dies_with_us(void **state)
{
	pid_t user = fork_user(wait_in_a_fork);

	(void)state;
	assert_int_equal(next_byte(LONG_MS), 'a');
	assert_int_equal(next_byte(100), 0);
	kill(user, SIGKILL);
	assert_true(WIFSIGNALED(status_of(user)));
	assert_int_equal(next_byte(LONG_MS), '-');
}

static void wait_in_another_program(void)
{
	if (gus_helper_fork() == 0) {
		dup2(ends[1], 1);
		execlp("sh", "sh", "-c", "printf a; exec sleep 1000", (char *)NULL);
		_exit(127);
	}
	for (;;)
		pause();
}

static void so_does_what_it_becomes(void **state)
{
	pid_t user = fork_user(wait_in_another_program);

	(void)state;
	assert_int_equal(next_byte(LONG_MS), 'a');
	kill(user, SIGKILL);
	status_of(user);
	assert_int_equal(next_byte(LONG_MS), '-');
}

/* The parent ends when the child has begun and not asked yet. */
static void not_even_begun(void **state)
{
	pid_t user;

	(void)state;
	kill_parent_first = true;
	user = fork_user(wait_in_a_fork);
	kill_parent_first = false;
	assert_int_equal(next_byte(LONG_MS), '-');
	assert_true(WIFSIGNALED(status_of(user)));
}

static void handle(int number)
{
	(void)number;
}

/* Bits of what is found in a helper: a handler of ours, something ignored, blocked, not blocked. */
static int found(void)
{
	struct sigaction one, other, real_time, last;
	sigset_t mask;

	sigaction(SIGUSR1, NULL, &one);
	sigaction(SIGUSR2, NULL, &other);
	sigaction(SIGRTMAX, NULL, &real_time);
	sigaction(SIGHUP, NULL, &last);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	return (one.sa_handler == SIG_DFL) | (other.sa_handler == SIG_IGN) << 1 |
		(real_time.sa_handler == SIG_DFL) << 2 | (last.sa_handler == SIG_DFL) << 3 |
		(sigismember(&mask, SIGALRM) == 1) << 4 | (sigismember(&mask, SIGTERM) == 0) << 5;
}

static void how_a_fork_begins(void **state)
{
	const struct sigaction handler = { .sa_handler = handle }, ignore = { .sa_handler = SIG_IGN };
	sigset_t one, before, now;
	int status;
	pid_t pid;

	(void)state;
	sigemptyset(&one);
	sigaddset(&one, SIGALRM);
	sigprocmask(SIG_BLOCK, &one, &before);
	sigaction(SIGUSR1, &handler, NULL);
	sigaction(SIGHUP, &handler, NULL);
	sigaction(SIGRTMAX, &handler, NULL);
	sigaction(SIGUSR2, &ignore, NULL);
	pid = gus_helper_fork();
	if (pid == 0)
		_exit(found());
	status = status_of(pid);
	sigprocmask(SIG_SETMASK, &before, &now);
	assert_int_equal(WEXITSTATUS(status), 0x3f);
	assert_int_equal(sigismember(&now, SIGALRM), 1);
	assert_int_equal(sigismember(&now, SIGTERM), 0);
	for (int i = 0; i < 4; i++)
		signal(((int[]){ SIGUSR1, SIGUSR2, SIGHUP, SIGRTMAX })[i], SIG_DFL);
}

/* Run. */

static struct { pid_t pid, session, group; bool blocked; int *memory; } seen;

static void look(void *context)
{
	sigset_t mask;

	seen.pid = getpid();
	seen.session = getsid(0);
	seen.group = getpgid(0);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	seen.blocked = sigismember(&mask, SIGTSTP) == 1 && sigismember(&mask, SIGTERM) == 1;
	seen.memory = malloc(sizeof(int));
	*seen.memory = *(int *)context + 1;
}

static size_t mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	size_t n = 0;

	assert_non_null(f);
	for (int c; (c = getc(f)) != EOF;)
		n += c == '\n';
	fclose(f);
	return n;
}

static void runs_in_our_memory(void **state)
{
	struct gus_error err = { 0 };
	int number = 41;
	sigset_t mask;
	size_t before;

	(void)state;
	assert_int_equal(gus_helper_run(look, &number, &err), 0);
	assert_int_equal(*seen.memory, 42);
	free(seen.memory);
	assert_true(seen.pid != getpid() && seen.session == seen.pid && seen.group == seen.pid && seen.blocked);
	assert_int_equal(kill(seen.pid, 0), -1); /* and has been waited for */
	sigprocmask(SIG_BLOCK, NULL, &mask);
	assert_int_equal(sigismember(&mask, SIGTSTP) + sigismember(&mask, SIGTERM), 0);
	before = mappings();
	for (int i = 0; i < 20; i++) {
		assert_int_equal(gus_helper_run(look, &number, &err), 0);
		free(seen.memory);
	}
	assert_true(mappings() < before + 5);
}

/* The group of whoever asked is stopped, and the function goes on to its end. */
static void stop_group(void *context)
{
	kill(-getppid(), SIGSTOP);
	*(pid_t *)context = getppid();
	say('a');
}

static void run_stopped(void)
{
	pid_t parent = 0;

	say(gus_helper_run(stop_group, &parent, NULL) == 0 && parent == getpid() ? 'b' : 'x');
}

static void what_stops_us_does_not_stop_it(void **state)
{
	pid_t user = fork_user(run_stopped);
	int status;

	(void)state;
	assert_int_equal(waitpid(user, &status, WUNTRACED), user);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(next_byte(LONG_MS), 'a');
	assert_int_equal(next_byte(100), 0);
	kill(user, SIGCONT);
	assert_int_equal(next_byte(LONG_MS), 'b');
	assert_int_equal(status_of(user), 0);
}

static void stop_itself(void *context)
{
	kill(getpid(), SIGSTOP);
	*(int *)context = 1;
}

static void if_it_is_stopped_it_goes_on(void **state)
{
	int went_on = 0;

	(void)state;
	assert_int_equal(gus_helper_run(stop_itself, &went_on, NULL), 0);
	assert_int_equal(went_on, 1);
}

static void kill_itself(void *context)
{
	(void)context;
	kill(getpid(), SIGKILL);
}

static void if_it_is_killed_we_hear_of_it(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_helper_run(kill_itself, NULL, &err), -1);
	assert_int_equal(err.code, GUS_E_SYSTEM);
	assert_string_equal(err.text, "a process of our own was killed by somebody");
}

static void last_forever(void *context)
{
	(void)context;
	say('a');
	for (;;)
		nanosleep(&(struct timespec){ 1, 0 }, NULL);
}

static void run_forever(void)
{
	gus_helper_run(last_forever, NULL, NULL);
}

static void it_dies_with_us(void **state)
{
	pid_t user = fork_user(run_forever);

	(void)state;
	assert_int_equal(next_byte(LONG_MS), 'a');
	kill(user, SIGKILL);
	status_of(user);
	assert_int_equal(next_byte(LONG_MS), '-');
}

static void what_cannot_be_begun(void **state)
{
	struct gus_error err = { 0 };
	sigset_t mask;
	size_t before = mappings();

	(void)state;
	refuse_clone = true;
	for (int i = 0; i < 20; i++)
		assert_int_equal(gus_helper_run(look, NULL, &err), -1);
	assert_string_equal(err.text, "cannot begin a process of our own: Resource temporarily unavailable");
	refuse_clone = false;
	refuse_stack = true;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_helper_run(look, NULL, &err), -1);
	assert_string_equal(err.text, "cannot begin a process of our own: Cannot allocate memory");
	sigprocmask(SIG_BLOCK, NULL, &mask);
	assert_int_equal(sigismember(&mask, SIGTERM), 0);
	assert_true(mappings() < before + 5);
}

/* Signals, as they were. */
static void signals_are_as_before(void **state)
{
	static const int numbers[] = { SIGCHLD, SIGPIPE, SIGXFSZ };
	struct gus_signals before;
	struct sigaction now;
	sigset_t all, mask;

	(void)state;
	gus_signals_note(&before);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < 3; i++)
		signal(numbers[i], handle);
	gus_signals_restore(&before);
	for (int i = 0; i < 3; i++) {
		sigaction(numbers[i], NULL, &now);
		assert_ptr_equal(now.sa_handler, SIG_DFL);
	}
	sigprocmask(SIG_BLOCK, NULL, &mask);
	assert_int_equal(sigismember(&mask, SIGTERM), 0);
}

/* Files. */

static unsigned entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned n = 0;

	assert_non_null(folder);
	for (struct dirent *e; (e = readdir(folder));)
		n += *e->d_name != '.';
	closedir(folder);
	return n;
}

/* It can be written, and read by who opens it anew; nobody sees it. */
static void check_file(int fd)
{
	char path[32], back[4] = "";
	struct stat st;
	int again;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_true(S_ISREG(st.st_mode) && st.st_size == 3);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY);
	assert_int_equal(read(again, back, 4), 3);
	assert_string_equal(back, "abc");
	close(again);
	close(fd);
}

static bool is_in(int fd, const char *folder)
{
	struct stat file, st;

	assert_int_equal(fstat(fd, &file) + stat(folder, &st), 0);
	return file.st_dev == st.st_dev;
}

static void a_file_without_a_name(void **state)
{
	char folder[] = "/tmp/gusprof-test-XXXXXX";
	struct stat st;
	int fd, probe;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("TMPDIR", folder, 1);
	fd = gus_scratch_open("a test", NULL);
	probe = open(folder, O_TMPFILE | O_RDWR, 0600);
	assert_int_equal(is_in(fd, folder), probe >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0177 & (probe >= 0 ? 0177 : 0), 0); /* for nobody else */
	assert_int_equal(entries(folder), 0);
	check_file(fd);
	setenv("TMPDIR", "", 1);
	fd = gus_scratch_open("a test", NULL);
	assert_int_equal(is_in(fd, "/tmp"), probe >= 0);
	check_file(fd);
	close(probe);
	rmdir(folder);
}

static void a_file_in_memory(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	check_file(gus_scratch_open("a test", &err));
	assert_int_equal(err.code, GUS_OK);
	refuse_memory_file = true;
	assert_int_equal(gus_scratch_open("a test", &err), -1);
	assert_string_equal(err.text, "cannot make a file for a test: Too many open files");
	unsetenv("TMPDIR");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fork_dies_with_us),
		TEST(so_does_what_it_becomes),
		TEST(not_even_begun),
		TEST(how_a_fork_begins),
		TEST(runs_in_our_memory),
		TEST(what_stops_us_does_not_stop_it),
		TEST(if_it_is_stopped_it_goes_on),
		TEST(if_it_is_killed_we_hear_of_it),
		TEST(it_dies_with_us),
		TEST(what_cannot_be_begun),
		TEST(signals_are_as_before),
		TEST(a_file_without_a_name),
		TEST(a_file_in_memory),
	};

	signal(SIGCHLD, SIG_DFL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
