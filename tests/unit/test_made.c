/* SPDX-License-Identifier: MIT */
/* Who makes code, what of it was sampled, and the files that tell of it. This process, and children of it, are the
 * makers; their maps are where runtimes put them. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "collector/session/made.h"
#include "proto/sample.h"

#define NS 1000000000ull

static char *map_of(pid_t pid)
{
	return gus_format("/tmp/perf-%d.map", (int)pid);
}

static void note_mapping(struct gus_made *m, pid_t pid, uint64_t time, const char *path)
{
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	map.pid = (uint32_t)pid;
	map.time = time;
	map.start = 0x1000;
	map.length = 0x1000;
	map.path = (char *)(uintptr_t)path;
	r.kind_case = GUSPROF__RECORD__KIND_MMAP;
	r.mmap = &map;
	gus_made_note(m, &r);
}

static void add_mapping(struct gus_made *m, pid_t pid, uint64_t time, const char *path)
{
	note_mapping(m, pid, time, path);
	gus_made_settle(m);
}

static void note_fork(struct gus_made *m, pid_t parent, pid_t child, uint64_t time)
{
	Gusprof__Task task = GUSPROF__TASK__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	task.pid = (uint32_t)child;
	task.ppid = (uint32_t)parent;
	task.time = time;
	r.kind_case = GUSPROF__RECORD__KIND_FORK;
	r.fork = &task;
	gus_made_note(m, &r);
}

static void note_exec(struct gus_made *m, pid_t pid, bool exec, uint64_t time)
{
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	comm.pid = (uint32_t)pid;
	comm.exec = exec;
	comm.time = time;
	r.kind_case = GUSPROF__RECORD__KIND_COMM;
	r.comm = &comm;
	gus_made_note(m, &r);
}

static void sample(struct gus_made *m, pid_t pid, uint64_t ip)
{
	struct gus_sample s = { .pid = (uint32_t)pid, .ip = ip, .mode = GUS_MODE_USER };

	gus_made_sample(m, &s);
}

static void expect_hits(const struct gus_made *m, uint32_t family, const uint64_t *hits, size_t n)
{
	size_t found;
	uint64_t *have = gus_made_hits(m, family, &found);

	assert_int_equal(found, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(have[i], hits[i]);
	free(have);
}

static void memory_of_ones_own_makes_a_maker(void **state)
{
	static const struct { const char *path; bool makes; } paths[] = {
		{ "//anon", true }, { "", true }, { "/memfd:jit (deleted)", true }, { "[heap]", true },
		{ "/tmp/jit-7.dump", true }, { "[vdso]", false }, { "[vsyscall]", false }, { "/bin/sh", false },
		{ "/tmp/jit-7.dumper", false }, { "/tmp/jit-.dump", false }, { "/anonymous", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct gus_made m;

		gus_made_init(&m, 10);
		add_mapping(&m, getpid(), 5, paths[i].path);
		if (m.makers.n != paths[i].makes)
			fail_msg("%s", paths[i].path);
		gus_made_free(&m);
	}
}

/* The ring of the CPU that it made its memory on may be read behind that of the CPU where it was sampled. */
static void samples_may_come_before_the_news(void **state)
{
	struct gus_made m;

	(void)state;
	gus_made_init(&m, 10);
	sample(&m, 7, 0x1010);
	sample(&m, 8, 0x1020);
	note_mapping(&m, 7, 5, "//anon");
	sample(&m, 7, 0x1030);
	gus_made_settle(&m);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010, 0x1030 }, 2);
	assert_true(m.makers.v[0].sampled);
	add_mapping(&m, 8, 5, "//anon"); /* what was before it was another's */
	gus_made_settle(&m);
	expect_hits(&m, 1, NULL, 0);
	gus_made_forget_hits(&m);
	expect_hits(&m, 0, NULL, 0);
	gus_made_free(&m);
}

static void callers_are_hit_before_where_they_go_on(void **state)
{
	const uint64_t chain[] = { (uint64_t)-512, 0x2001, 0x3001 };
	struct gus_sample s = { .pid = 7, .ip = 0x1010, .mode = GUS_MODE_USER, .chain = chain, .chain_n = 3 };
	struct gus_made m;

	(void)state;
	gus_made_init(&m, 10);
	add_mapping(&m, 7, 5, "//anon");
	gus_made_sample(&m, &s);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010, 0x2000, 0x3000 }, 3);
	s.mode = GUS_MODE_KERNEL;
	s.ip = 0xffffffff81000000;
	s.chain_n = 2;
	gus_made_sample(&m, &s);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010, 0x2000, 0x2001, 0x3000 }, 4);
	gus_made_free(&m);
}

static void children_are_family_until_they_execute(void **state)
{
	struct gus_made m;

	(void)state;
	gus_made_init(&m, 10);
	add_mapping(&m, 7, 5, "//anon");
	note_fork(&m, 7, 7, 10); /* a thread */
	note_fork(&m, 7, 8, 10);
	note_fork(&m, 8, 9, 11);
	gus_made_settle(&m);
	assert_int_equal(m.makers.n, 3);
	sample(&m, 9, 0x1010);
	assert_true(m.makers.v[0].sampled && m.makers.v[2].sampled);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010 }, 1);
	note_exec(&m, 9, false, 50);
	gus_made_settle(&m);
	sample(&m, 9, 0x1020);
	note_exec(&m, 9, true, 51);
	gus_made_settle(&m);
	sample(&m, 9, 0x1030);
	gus_made_settle(&m);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010, 0x1020 }, 2);
	add_mapping(&m, 9, 60, "//anon");
	sample(&m, 9, 0x1040);
	assert_int_equal(m.makers.n, 4);
	expect_hits(&m, m.makers.v[3].family, (const uint64_t[]){ 0x1040 }, 1);
	note_fork(&m, 1, 8, 70); /* the number went to a child of somebody else */
	gus_made_settle(&m);
	sample(&m, 8, 0x1050);
	gus_made_settle(&m);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010, 0x1020 }, 2);
	gus_made_free(&m);
}

/* What is read together is taken in order of time; what was read before stands, if it is later. */
static void news_come_in_no_order(void **state)
{
	struct gus_made m;

	(void)state;
	gus_made_init(&m, 10);
	note_fork(&m, 7, 8, 12);
	note_mapping(&m, 7, 11, "//anon");
	note_exec(&m, 7, true, 10);
	gus_made_settle(&m);
	assert_int_equal(m.makers.n, 2);
	sample(&m, 8, 0x1010);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010 }, 1);
	note_exec(&m, 7, true, 9);
	note_exec(&m, 8, true, 11);
	note_fork(&m, 7, 6, 10); /* before it had any */
	gus_made_settle(&m);
	assert_int_equal(m.makers.n, 2);
	sample(&m, 7, 0x1020);
	sample(&m, 8, 0x1030);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010, 0x1020, 0x1030 }, 3);
	note_exec(&m, 7, true, 13);
	note_mapping(&m, 7, 14, "//anon");
	note_fork(&m, 7, 5, 12); /* of the old program */
	gus_made_settle(&m);
	sample(&m, 5, 0x1040);
	expect_hits(&m, 0, (const uint64_t[]){ 0x1010, 0x1020, 0x1030, 0x1040 }, 4);
	gus_made_free(&m);
	gus_made_init(&m, 10);
	add_mapping(&m, 7, 11, "//anon");
	add_mapping(&m, 8, 21, "//anon"); /* it has executed something by then */
	note_fork(&m, 7, 8, 12);
	gus_made_settle(&m);
	assert_int_equal(m.makers.n, 2);
	gus_made_free(&m);
}

/* Of the same moment the ring's order counts; and more memory is no other maker. */
static void news_of_the_same_moment(void **state)
{
	struct gus_made m;

	(void)state;
	gus_made_init(&m, 10);
	note_mapping(&m, 7, 5, "//anon");
	note_exec(&m, 7, true, 5);
	note_exec(&m, 8, true, 5);
	note_mapping(&m, 8, 5, "//anon");
	gus_made_settle(&m);
	sample(&m, 7, 0x1010);
	sample(&m, 8, 0x1020);
	gus_made_settle(&m);
	assert_int_equal(m.makers.n, 2);
	expect_hits(&m, m.makers.v[0].family, NULL, 0);
	expect_hits(&m, m.makers.v[1].family, (const uint64_t[]){ 0x1020 }, 1);
	add_mapping(&m, 8, 9, "//anon");
	add_mapping(&m, 8, 3, "//anon");
	assert_int_equal(m.makers.n, 2);
	assert_int_equal(m.makers.v[1].since, 3);
	gus_made_free(&m);
}

static void write_map(const char *path, const char *text, const char *mode)
{
	FILE *f = fopen(path, mode);

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* It is not there, then it is, then it grows. */
static void a_map_is_looked_for_and_followed(void **state)
{
	char *path = map_of(getpid());
	struct gus_maker *k;
	struct gus_made m;
	int fd;

	(void)state;
	unlink(path);
	gus_made_init(&m, 10);
	add_mapping(&m, getpid(), 5, "//anon");
	k = &m.makers.v[0];
	gus_made_look(&m, 100 * NS, 1000, false);
	assert_null(k->trouble); /* not sampled: not looked for */
	sample(&m, getpid(), 0x1010);
	gus_made_look(&m, 100 * NS, 1000, false);
	assert_non_null(strstr(k->trouble, "No such file"));
	assert_int_equal(m.files, 1); /* the folder */
	write_map(path, "1000 10 a\n", "w");
	gus_made_look(&m, 200 * NS, 2000, false);
	assert_int_equal(k->map.fd, -1); /* not sampled since */
	sample(&m, getpid(), 0x1010);
	gus_made_look(&m, 200 * NS, 2000, false);
	assert_true(k->map.fd >= 0);
	assert_int_equal(m.files, 1);
	assert_int_equal(k->folder, -1);
	sample(&m, getpid(), 0x1010);
	gus_made_look(&m, 201 * NS, 3000, true);
	assert_int_equal(m.files, 1); /* it was there, and is not looked for again */
	write_map(path, "1000 10 b\n", "a");
	gus_made_look(&m, 202 * NS, 4000, false);
	assert_int_equal(k->map.growth.n, 2);
	assert_int_equal(k->map.growth.v[0].size, 0);
	assert_int_equal(k->map.growth.v[1].size, 10);
	assert_int_equal(k->map.growth.v[1].time, 3000); /* it was so long at the look before */
	fd = k->map.fd;
	gus_made_free(&m);
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* nobody holds it any more */
	unlink(path);
	free(path);
}

static void looks_become_rarer(void **state)
{
	struct gus_made m;
	unsigned looks = 0;

	(void)state;
	gus_made_init(&m, 10);
	add_mapping(&m, getpid(), 5, "//anon");
	for (unsigned tenth = 0; tenth < 1000; tenth++) {
		sample(&m, getpid(), 0x1010);
		gus_made_look(&m, 100 * NS + tenth * NS / 10, 1000, false);
		looks += !m.makers.v[0].sampled;
	}
	assert_in_range(looks, 22, 30);
	sample(&m, getpid(), 0x1010);
	gus_made_look(&m, 200 * NS, 1000, true); /* at the end, whenever it was looked last */
	assert_false(m.makers.v[0].sampled);
	gus_made_free(&m);
}

/* A child that writes its map as the last thing that it does; its parent has asked for its end, or not yet. */
static void a_map_is_found_when_its_process_has_ended(void **state)
{
	(void)state;
	for (int zombie = 0; zombie < 2; zombie++) {
		siginfo_t info;
		struct gus_made m;
		int go[2];
		pid_t pid;
		char *path, c;

		assert_int_equal(pipe(go), 0);
		pid = fork();
		if (pid == 0) {
			path = map_of(getpid());
			if (read(go[0], &c, 1) == 1)
				write_map(path, "1000 10 a\n", "w");
			_exit(0);
		}
		path = map_of(pid);
		gus_made_init(&m, 10);
		add_mapping(&m, pid, 5, "//anon");
		sample(&m, pid, 0x1010);
		gus_made_look(&m, 100 * NS, 1000, false);
		assert_true(m.makers.v[0].folder >= 0);
		assert_int_equal(write(go[1], "", 1), 1);
		assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | (zombie ? WNOWAIT : 0)), 0);
		gus_made_look(&m, 101 * NS, 2000, true);
		assert_true(m.makers.v[0].map.fd >= 0);
		assert_true(m.makers.v[0].gone);
		gus_made_free(&m);
		if (zombie)
			waitpid(pid, NULL, 0);
		close(go[0]);
		close(go[1]);
		unlink(path);
		free(path);
	}
}

static void what_others_leave_is_not_taken(void **state)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char *path = map_of(getpid());
	struct gus_made m;

	(void)state;
	gus_made_init(&m, 10);
	add_mapping(&m, getpid(), 5, "//anon");
	write_map(path, "1000 10 a\n", "w");
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	sample(&m, getpid(), 0x1010);
	gus_made_look(&m, 0, 1000, true);
	assert_non_null(strstr(m.makers.v[0].trouble, "older than the process"));
	if (geteuid() == 0) {
		write_map(path, "1000 10 a\n", "w");
		assert_int_equal(chown(path, 12345, 0), 0);
		gus_made_look(&m, 0, 1000, true);
		assert_non_null(strstr(m.makers.v[0].trouble, "belongs to user 12345"));
	}
	assert_int_equal(m.makers.v[0].map.fd, -1);
	gus_made_free(&m);
	unlink(path);
	free(path);
}

/* Of a process that ended unseen, if it may have been written since we began: two seconds are given to the clocks. */
static void a_map_is_not_older_than_we_are(void **state)
{
	const uint64_t begun = 1000 * NS + 300000000;
	char *path;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	path = map_of(pid);
	for (uint64_t early = 2 * NS - 1; early <= 2 * NS + 1; early++) {
		uint64_t changed = begun - early;
		const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = (time_t)(changed / NS),
								      .tv_nsec = (long)(changed % NS) } };
		struct gus_made m;

		gus_made_init(&m, 10);
		m.start_realtime = begun;
		add_mapping(&m, pid, 5, "//anon");
		write_map(path, "1000 10 a\n", "w");
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		sample(&m, pid, 0x1010);
		gus_made_look(&m, 0, 1000, true);
		assert_int_equal(m.makers.v[0].map.fd >= 0, early <= 2 * NS);
		assert_int_equal(m.files, early <= 2 * NS);
		assert_true(m.makers.v[0].gone);
		gus_made_free(&m);
	}
	unlink(path);
	free(path);
}

/* In its root there is no /tmp: nothing is held, and why is said. */
static void where_there_is_no_folder_there_is_no_map(void **state)
{
	char root[] = "/tmp/gusprof-made-XXXXXX";
	struct gus_made m;
	int ready[2];
	pid_t pid;
	char c;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: it needs root\n");
		skip();
	}
	assert_non_null(mkdtemp(root));
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (chroot(root) == 0 && write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		print_message("skipped: chroot is not allowed\n");
	} else {
		gus_made_init(&m, 10);
		add_mapping(&m, pid, 5, "//anon");
		sample(&m, pid, 0x1010);
		gus_made_look(&m, 0, 1000, true);
		assert_non_null(strstr(m.makers.v[0].trouble, "its /tmp does not open"));
		assert_int_equal(m.files, 0);
		assert_false(m.makers.v[0].gone);
		gus_made_free(&m);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	rmdir(root);
}

static void room_has_an_end(void **state)
{
	struct gus_made m;

	(void)state;
	gus_made_init(&m, 0);
	add_mapping(&m, getpid(), 5, "//anon");
	sample(&m, getpid(), 0x1010);
	gus_made_look(&m, 0, 1000, true);
	assert_non_null(strstr(m.makers.v[0].trouble, "too many files"));
	assert_int_equal(m.left_out, 1);
	for (uint64_t i = 0; i <= GUS_MADE_HITS; i++)
		sample(&m, getpid(), i);
	assert_true(m.hits_full);
	assert_int_equal(m.hits.n, GUS_MADE_HITS);
	gus_made_free(&m);
	gus_made_init(&m, 0);
	for (uint32_t i = 1; i <= GUS_MADE_MAKERS + 3; i++)
		add_mapping(&m, (pid_t)i, 5, "//anon");
	assert_int_equal(m.makers.n, GUS_MADE_MAKERS);
	assert_int_equal(m.left_out, 3);
	gus_made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_of_ones_own_makes_a_maker),
		cmocka_unit_test(samples_may_come_before_the_news),
		cmocka_unit_test(callers_are_hit_before_where_they_go_on),
		cmocka_unit_test(children_are_family_until_they_execute),
		cmocka_unit_test(news_come_in_no_order),
		cmocka_unit_test(news_of_the_same_moment),
		cmocka_unit_test(a_map_is_looked_for_and_followed),
		cmocka_unit_test(looks_become_rarer),
		cmocka_unit_test(a_map_is_found_when_its_process_has_ended),
		cmocka_unit_test(what_others_leave_is_not_taken),
		cmocka_unit_test(a_map_is_not_older_than_we_are),
		cmocka_unit_test(where_there_is_no_folder_there_is_no_map),
		cmocka_unit_test(room_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
