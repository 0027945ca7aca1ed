/* SPDX-License-Identifier: MIT */
/* The work that costs are told from does as many things as it says, and leaves nothing behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/session/cost_work.h"

/* Mappings of files, as they are asked for. */
static struct mapping { uint8_t *address; size_t length; int protection, flags; off_t offset; } maps[256];
static size_t maps_n, unmaps_n;
static bool refuse_maps;

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (fd >= 0 && refuse_maps) {
		maps_n++;
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if (fd >= 0) {
		maps[maps_n % 256] = (struct mapping){ address, length, protection, flags, offset };
		maps_n++;
	}
	return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

int munmap(void *address, size_t length)
{
	unmaps_n++;
	return (int)syscall(SYS_munmap, address, length);
}

/* That no other process is told to end. */
int kill(pid_t pid, int signal)
{
	assert_true(pid > 0);
	return (int)syscall(SYS_kill, pid, signal);
}

static unsigned open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static void assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
	(void)signal;
	ended++;
}

static void births(void **state)
{
	const struct sigaction note = { .sa_handler = note_end }, usual = { .sa_handler = SIG_DFL };
	struct gus_work w = gus_work_births();

	(void)state;
	sigaction(SIGCHLD, &note, NULL);
	ended = 0;
	w.run(w.context);
	sigaction(SIGCHLD, &usual, NULL);
	assert_int_equal(w.things, 2);
	assert_int_equal(ended, 2); /* one after the other, so no two signals become one */
	assert_no_children();
}

/* Eight times the file as four pages, and over the second to fourth of them what a loader maps there. */
static void mappings(void **state)
{
	static const int protections[] = { PROT_READ, PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY);
	struct gus_work w = gus_work_mappings(&fd);

	(void)state;
	assert_true(fd >= 0);
	maps_n = unmaps_n = 0;
	w.run(w.context);
	assert_int_equal(w.things, 8);
	assert_int_equal(maps_n, 8 * 4);
	assert_int_equal(unmaps_n, 8);
	for (size_t i = 0; i < maps_n; i++) {
		size_t part = i % 4;

		assert_int_equal(maps[i].length, part ? page : 4 * page);
		assert_int_equal(maps[i].protection, protections[part]);
		assert_int_equal(maps[i].flags, part ? MAP_PRIVATE | MAP_FIXED : MAP_PRIVATE);
		assert_int_equal(maps[i].offset, part * page);
		assert_true(part ? maps[i].address != NULL : maps[i].address == NULL);
		if (part > 1)
			assert_ptr_equal(maps[i].address, maps[i - 1].address + page);
	}
	refuse_maps = true; /* nothing is mapped over a place that there is not */
	maps_n = unmaps_n = 0;
	w.run(w.context);
	refuse_maps = false;
	assert_int_equal(maps_n, 1);
	assert_int_equal(unmaps_n, 0);
	close(fd);
}

/* How many bytes a pipe holds whose writing end is closed. */
static size_t drained(int fd)
{
	char bytes[256];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	close(fd);
	return n > 0 ? (size_t)n : 0;
}

static void fill(int fd, size_t n)
{
	char bytes[256] = { 0 };

	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

/* Asking is a byte there and a byte back, twenty times, or until nobody answers or nobody can be asked. */
static void asking(void **state)
{
	static const struct { size_t answers, asked, left; bool deaf; } cases[] = {
		{ 100, 20, 80, false }, { 20, 20, 0, false }, { 19, 20, 0, false }, { 5, 6, 0, false },
		{ 0, 1, 0, false }, { 7, 0, 7, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_partner p = { 0 };
		struct gus_work w = gus_work_switches(&p);
		int there[2], back[2];

		assert_true(pipe(there) == 0 && pipe(back) == 0);
		fill(back[1], cases[i].answers);
		p.from = back[0];
		p.to = cases[i].deaf ? there[0] : there[1]; /* nobody can write to the other end */
		w.run(w.context);
		assert_int_equal(w.things, 20);
		close(there[1]);
		assert_int_equal(drained(there[0]), cases[i].asked);
		assert_int_equal(drained(back[0]), cases[i].left);
	}
}

static void answering(void **state)
{
	static const struct { size_t asked, answered, left; bool deaf; } cases[] = {
		{ 0, 0, 0, false }, { 1, 1, 0, false }, { 7, 7, 0, false }, { 7, 0, 6, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int there[2], back[2];

		assert_true(pipe(there) == 0 && pipe(back) == 0);
		fill(there[1], cases[i].asked);
		gus_partner_answer(there[0], cases[i].deaf ? back[0] : back[1]);
		close(back[1]);
		assert_int_equal(drained(back[0]), cases[i].answered);
		assert_int_equal(drained(there[0]), cases[i].left);
	}
}

/* A partner is on our CPU, answers, and is gone afterwards, as is all that it took. */
static void partner(void **state)
{
	unsigned files = open_files();
	cpu_set_t before, now, its;
	struct gus_partner p;
	struct gus_work w;
	char byte = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_true(gus_partner_start(&p));
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(sched_getaffinity(p.pid, sizeof(its), &its), 0);
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_true(CPU_EQUAL(&now, &its));
	assert_int_equal(open_files(), files + 2);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(write(p.to, &byte, 1), 1);
		assert_int_equal(read(p.from, &byte, 1), 1);
	}
	w = gus_work_switches(&p);
	w.run(w.context);
	gus_partner_stop(&p);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &before));
	assert_int_equal(open_files(), files);
	assert_no_children();
}

/* The limit under which n more descriptors can be opened. */
static rlim_t limit_for(unsigned n)
{
	for (int fd = 0;; fd++)
		if (fcntl(fd, F_GETFD) < 0 && n-- == 0)
			return (rlim_t)fd;
}

/* With room for up to three more descriptors there is no partner, and all is as it was; with four there is
 * one. */
static void no_room_for_a_partner(void **state)
{
	static const struct { unsigned room; bool starts; } cases[] = {
		{ 0, false }, { 1, false }, { 2, false }, { 3, false }, { 4, true },
	};
	unsigned files = open_files();
	cpu_set_t before, now;
	struct rlimit usual;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rlimit little = { limit_for(cases[i].room), usual.rlim_max };
		struct gus_partner p;
		bool started;

		assert_int_equal(setrlimit(RLIMIT_NOFILE, &little), 0);
		started = gus_partner_start(&p);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
		assert_int_equal(started, cases[i].starts);
		if (started)
			gus_partner_stop(&p);
		assert_int_equal(open_files(), files);
		assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
		assert_true(CPU_EQUAL(&now, &before));
		assert_no_children();
	}
}

/* What /proc says of a process as soon as it does not run. */
static char state_of(pid_t pid)
{
	char path[64], text[256], state = 'R';

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 5000 && state == 'R'; i++) {
		int fd = open(path, O_RDONLY);
		ssize_t n = read(fd, text, sizeof(text) - 1);

		close(fd);
		text[n > 0 ? n : 0] = '\0';
		state = n > 0 ? strrchr(text, ')')[2] : '\0';
		usleep(1000);
	}
	return state;
}

static void sleeper(void **state)
{
	pid_t pid = gus_sleeper_start();

	(void)state;
	if (pid == 0)
		_exit(1); /* it is to sleep, not to come here */
	assert_true(pid > 0);
	assert_int_equal(state_of(pid), 'S');
	gus_sleeper_stop(pid);
	assert_no_children();
	gus_sleeper_stop(-1); /* nobody is told to end, least of all everybody */
	gus_sleeper_stop(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(births),
		cmocka_unit_test(mappings),
		cmocka_unit_test(asking),
		cmocka_unit_test(answering),
		cmocka_unit_test(partner),
		cmocka_unit_test(no_room_for_a_partner),
		cmocka_unit_test(sleeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
