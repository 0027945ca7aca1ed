/* SPDX-License-Identifier: MIT */
/* Where an address belongs, by process, while records still come in. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "made_mapping.h"
#include "proto/sample.h"
#include "symbolizer/space/current.h"
#include "symbolizer/space/space.h"

#define SECOND 1000000000ull
#define KEEP (2 * SECOND)
#define NODES (1u << 18)

typedef void teller(void *to, const Gusprof__Record *r);

static void tell_current(void *to, const Gusprof__Record *r)
{
	gus_current_tell(to, r);
}

static void tell_space(void *to, const Gusprof__Record *r)
{
	gus_space_add(to, r);
}

static void tell_mmap(teller *tell, void *to, struct made_mapping m)
{
	struct made_mmap r;

	tell(to, made_mmap(&r, &m));
}

static void tell_comm(teller *tell, void *to, uint64_t time, uint32_t pid, bool exec)
{
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	comm.time = time;
	comm.pid = comm.tid = pid;
	comm.name = (char *)(uintptr_t)"name";
	comm.exec = exec;
	r.kind_case = GUSPROF__RECORD__KIND_COMM;
	r.comm = &comm;
	tell(to, &r);
}

static void tell_fork(teller *tell, void *to, uint64_t time, uint32_t ppid, uint32_t pid, uint32_t tid)
{
	Gusprof__Task task = GUSPROF__TASK__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	task.time = time;
	task.ppid = task.ptid = ppid;
	task.pid = pid;
	task.tid = tid;
	r.kind_case = GUSPROF__RECORD__KIND_FORK;
	r.fork = &task;
	tell(to, &r);
}

static void tell_exit(struct gus_current *c, uint64_t time, uint32_t pid, uint32_t tid)
{
	Gusprof__Task task = GUSPROF__TASK__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	task.time = time;
	task.pid = pid;
	task.tid = tid;
	r.kind_case = GUSPROF__RECORD__KIND_EXIT;
	r.exit = &task;
	gus_current_tell(c, &r);
}

static void map(struct gus_current *c, uint64_t time, uint32_t pid, uint64_t start, uint64_t length, const char *path)
{
	tell_mmap(tell_current, c, (struct made_mapping){ time, pid, start, length, 0, path, NULL, 1, false });
}

/* The path of what was there, "nothing" if nothing was; the offset is looked at if it is not UINT64_MAX. */
static const char *path_at(struct gus_current *c, uint32_t pid, uint64_t time, uint64_t address, uint64_t offset)
{
	struct gus_place place;

	if (!gus_current_find(c, pid, time, address, &place))
		return "nothing";
	if (offset != UINT64_MAX)
		assert_int_equal(place.offset, offset);
	return gus_current_module(c, place.module)->path;
}

#define IS(c, pid, time, address, path) assert_string_equal(path_at(c, pid, time, address, UINT64_MAX), path)
#define NOWHERE(c, pid, time, address) IS(c, pid, time, address, "nothing")

static void test_mappings(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	NOWHERE(c, 1, 5, 0x1000);
	tell_mmap(tell_current, c, (struct made_mapping){ 10, 1, 0x1000, 0x3000, 0x7000, "/bin/a", NULL, 3, false });
	NOWHERE(c, 1, 10, 0xfff);
	assert_string_equal(path_at(c, 1, 10, 0x1000, 0x7000), "/bin/a");
	assert_string_equal(path_at(c, 1, 10, 0x3fff, 0x9fff), "/bin/a");
	NOWHERE(c, 1, 10, 0x4000);
	NOWHERE(c, 2, 10, 0x1000);
	/* A later one hides the middle; what sticks out stays where it was in its file. */
	tell_mmap(tell_current, c, (struct made_mapping){ 20, 1, 0x2000, 0x1000, 0, "/lib/b", NULL, 4, false });
	assert_string_equal(path_at(c, 1, 20, 0x1fff, 0x7fff), "/bin/a");
	assert_string_equal(path_at(c, 1, 20, 0x2000, 0), "/lib/b");
	assert_string_equal(path_at(c, 1, 20, 0x3000, 0x9000), "/bin/a");
	assert_string_equal(path_at(c, 1, 19, 0x2000, 0x8000), "/bin/a");
	gus_current_free(c);
}

static void test_what_has_no_file(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);
	struct gus_place place;

	(void)state;
	map(c, 1, 1, 0x10000, 0x1000, "//anon");
	map(c, 1, 1, 0x20000, 0x1000, "");
	map(c, 1, 1, 0x30000, 0x1000, "[vdso]");
	map(c, 1, 1, 0x40000, 0x1000, "/bin/a");
	map(c, 2, 1, 0x40000, 0x800, "[stack]");
	tell_mmap(tell_current, c,
		  (struct made_mapping){ 1, 1, 0x50000, 0x1000, 0, "/memfd:x (deleted)", "id", 0, false });
	tell_mmap(tell_current, c,
		  (struct made_mapping){ 1, 1, 0x60000, 0x1000, 0, "/memfd:x (deleted)", NULL, 7, false });
	tell_mmap(tell_current, c, (struct made_mapping){ 1, 1, 0x70000, 0x1000, 0, "/bin/k", NULL, 7, true });
	map(c, 1, 1, 0x80000, 0, "/bin/empty");
	map(c, 1, 1, UINT64_MAX - 0xfff, 0x2000, "/bin/last");
	assert_string_equal(path_at(c, 1, 1, 0x10080, 0x10080), "//anon");
	assert_string_equal(path_at(c, 1, 1, 0x20080, 0x20080), "//anon");
	assert_true(gus_current_find(c, 1, 1, 0x30000, &place));
	assert_int_equal(gus_current_module(c, place.module)->kind, GUS_MODULE_VDSO);
	NOWHERE(c, 1, 2, 0x407ff); /* an executable stack is no code, and hides what was there */
	IS(c, 1, 2, 0x40800, "/bin/a");
	IS(c, 1, 1, 0x407ff, "/bin/a");
	assert_true(gus_current_find(c, 1, 1, 0x50000, &place));
	assert_int_equal(gus_current_module(c, place.module)->kind, GUS_MODULE_FILE);
	assert_int_equal(gus_current_module(c, place.module)->build_id_size, 2);
	assert_memory_equal(gus_current_module(c, place.module)->build_id, "id", 2);
	assert_true(gus_current_find(c, 1, 1, 0x60000, &place));
	assert_int_equal(gus_current_module(c, place.module)->kind, GUS_MODULE_ANON);
	NOWHERE(c, 1, 1, 0x70000);
	NOWHERE(c, 1, 1, 0x80000);
	IS(c, 1, 1, UINT64_MAX - 1, "/bin/last");
	gus_current_free(c);
}

static void test_same_file_same_module(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);
	struct gus_place a, b, other;

	(void)state;
	tell_mmap(tell_current, c, (struct made_mapping){ 1, 1, 0x1000, 0x1000, 0, "/bin/a", NULL, 3, false });
	tell_mmap(tell_current, c, (struct made_mapping){ 1, 2, 0x5000, 0x1000, 0, "/bin/a", NULL, 3, false });
	tell_mmap(tell_current, c, (struct made_mapping){ 1, 2, 0x9000, 0x1000, 0, "/bin/a", NULL, 4, false });
	assert_true(gus_current_find(c, 1, 1, 0x1000, &a) && gus_current_find(c, 2, 1, 0x5000, &b) &&
		    gus_current_find(c, 2, 1, 0x9000, &other));
	assert_int_equal(a.module, b.module);
	assert_int_not_equal(a.module, other.module);
	assert_int_equal(gus_current_module(c, other.module)->inode, 4);
	gus_current_free(c);
}

static void test_births_and_programs(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	map(c, 1, 1, 0x1000, 0x1000, "/bin/sh");
	tell_fork(tell_current, c, 10, 1, 2, 2);
	tell_fork(tell_current, c, 10, 1, 1, 3); /* a thread changes nothing */
	map(c, 15, 1, 0x8000, 0x1000, "/lib/later");
	tell_comm(tell_current, c, 20, 2, true);
	map(c, 21, 2, 0x1000, 0x1000, "/bin/ls");
	tell_comm(tell_current, c, 25, 1, false); /* a name */
	/* Samples of before the exec come in the same drain. */
	IS(c, 2, 12, 0x1000, "/bin/sh");
	IS(c, 2, 21, 0x1000, "/bin/ls");
	NOWHERE(c, 2, 20, 0x1000);
	NOWHERE(c, 2, 16, 0x8000);
	IS(c, 1, 30, 0x1000, "/bin/sh");
	IS(c, 1, 30, 0x8000, "/lib/later");
	NOWHERE(c, 3, 30, 0x1000);
	gus_current_free(c);
}

/* Rings are drained one after the other, so within a drain records are told in no order of time. */
static void test_order_of_rings(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	map(c, 30, 2, 0x1000, 0x1000, "/bin/new");
	map(c, 5, 1, 0x1000, 0x1000, "/bin/sh");
	tell_comm(tell_current, c, 20, 2, true);
	tell_fork(tell_current, c, 10, 1, 2, 2);
	IS(c, 2, 15, 0x1000, "/bin/sh");
	IS(c, 2, 31, 0x1000, "/bin/new");
	/* What a CPU's ring had a moment too late for the last drain is put in its place. */
	map(c, 25, 2, 0x1000, 0x2000, "/bin/between");
	IS(c, 2, 26, 0x1000, "/bin/between");
	IS(c, 2, 31, 0x1000, "/bin/new");
	IS(c, 2, 31, 0x2000, "/bin/between");
	NOWHERE(c, 2, 24, 0x2000);
	gus_current_free(c);
}

/* A thousand and some steps are made anew for one that came late; behind more of them it holds from the last one on. */
static void test_too_late(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	for (uint64_t i = 0; i < 1200; i++)
		map(c, 100 + i, 1, 0x1000 * (1 + i % 4), 0x1000, "/a");
	IS(c, 1, 1299, 0x1000, "/a");
	map(c, 275, 1, 0x90000, 0x1000, "/late"); /* 1,024 are behind it */
	NOWHERE(c, 1, 274, 0x90000);
	IS(c, 1, 275, 0x90000, "/late");
	IS(c, 1, 1299, 0x90000, "/late");
	map(c, 275, 1, 0xa0000, 0x1000, "/later");
	IS(c, 1, 275, 0xa0000, "/later");
	map(c, 274, 1, 0xb0000, 0x1000, "/too late"); /* 1,026 */
	NOWHERE(c, 1, 275, 0xb0000);
	NOWHERE(c, 1, 1298, 0xb0000);
	IS(c, 1, 1299, 0xb0000, "/too late");
	NOWHERE(c, 1, 1298, 0xb0000); /* also when somebody has asked */
	map(c, 1400, 1, 0xb0000, 0x1000, "/next");
	IS(c, 1, 1399, 0xb0000, "/too late");
	IS(c, 1, 1400, 0xb0000, "/next");
	gus_current_free(c);
}

/* A process whose parent is told of later starts with nothing; one at whose first step is asked about a moment before
 * it (/proc was read when it ran already) has that. */
static void test_described(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	map(c, 100, 7, 0x1000, 0x1000, "/bin/old");
	map(c, 200, 7, 0x5000, 0x1000, "/lib/new");
	IS(c, 7, 90, 0x1000, "/bin/old");
	NOWHERE(c, 7, 90, 0x5000);
	gus_current_free(c);
}

static void test_a_number_comes_again(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	map(c, 1, 1, 0x1000, 0x1000, "/bin/sh");
	map(c, 1, 5, 0x1000, 0x1000, "/bin/first");
	tell_exit(c, 10, 5, 6); /* a thread */
	tell_exit(c, 20, 5, 5);
	tell_exit(c, 20, 6, 6); /* of which nobody has told anything */
	IS(c, 5, 30, 0x1000, "/bin/first"); /* its threads may live on */
	tell_fork(tell_current, c, 40, 1, 5, 5);
	IS(c, 5, 41, 0x1000, "/bin/sh");
	gus_current_free(c);
}

/* Of two things at the same moment the one that was told last holds, whether they came together or not. */
static void test_the_same_moment(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	map(c, 5, 1, 0x1000, 0x1000, "/a");
	map(c, 5, 1, 0x1000, 0x1000, "/b");
	IS(c, 1, 5, 0x1000, "/b");
	map(c, 5, 1, 0x1000, 0x1000, "/c");
	IS(c, 1, 5, 0x1000, "/c");
	NOWHERE(c, 2, 5, 0x1000);
	gus_current_free(c);
}

/* Enough that room is made: pieces of 4 kB, each hiding the one before. */
static void map_many(struct gus_current *c, uint64_t from, uint64_t step, uint32_t pid, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		map(c, from + i * step, pid, 0x1000000 + (uint64_t)(i % 1000) * 0x1000, 0x1000, i % 2 ? "/a" : "/b");
}

static void test_room_is_made(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);
	uint64_t end = 100 * SECOND + 200000 * (uint64_t)1000000;

	(void)state;
	map(c, 1, 1, 0x1000, 0x1000, "/bin/lives");
	map(c, 1, 2, 0x1000, 0x1000, "/bin/ended");
	map(c, 1, 3, 0x1000, 0x1000, "/bin/asked");
	tell_exit(c, 2, 1, 77); /* a thread of it */
	tell_exit(c, 2, 2, 2);
	tell_exit(c, 2, 3, 3);
	for (unsigned i = 0; i < 40; i++) {
		map_many(c, (100 + 5 * i) * SECOND, 1000000, 4, 5000);
		IS(c, 3, (100 + 5 * i) * SECOND, 0x1000, "/bin/asked");
	}
	IS(c, 4, end, 0x1000000 + 999 * 0x1000, "/a");
	IS(c, 4, end, 0x1000000 + 998 * 0x1000, "/b");
	IS(c, 1, end, 0x1000, "/bin/lives");
	IS(c, 3, end, 0x1000, "/bin/asked");
	NOWHERE(c, 2, end, 0x1000);
	assert_int_equal(gus_current_left_out(c), 0);
	gus_current_free(c);
}

/* Of another process, too: what it mapped within that time, each at its moment; what was before the first of these is
 * what it had when that time began. */
static void test_room_keeps_all_of_the_last(void **state)
{
	static const char *const paths[] = { "/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7" };
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	map(c, 1, 1, 0x50000, 0x1000, "/old");
	for (uint64_t i = 0; i < 8; i++)
		map(c, 1 + i, 1, 0x1000, 0x1000, paths[7 - i]);
	for (uint64_t i = 0; i < 8; i++)
		map(c, 100 * SECOND + i, 1, 0x1000, 0x1000, paths[i]);
	for (uint64_t k = 0; k < 8; k++) { /* a moment after which room is made at some time */
		map_many(c, 100 * SECOND + 100 + k * 1000000, 100, 4, 1000);
		for (uint64_t i = 0; i < 8; i++)
			IS(c, 1, 100 * SECOND + i, 0x1000, paths[i]);
	}
	IS(c, 1, 50 * SECOND, 0x1000, "/0");
	/* What is told of a time that has been forgotten changes nothing behind it. */
	map(c, 2, 1, 0x90000, 0x1000, "/late");
	NOWHERE(c, 1, 100 * SECOND, 0x90000);
	IS(c, 1, 100 * SECOND, 0x50000, "/old");
	IS(c, 1, 100 * SECOND + 7, 0x1000, "/7");
	gus_current_free(c);
}

/* The maps of the last seconds stay, however many there are before. */
static void test_room_keeps_the_last(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		map(c, i * 1000000, 1, 0x1000, 0x1000 + 0x1000 * (i % 3), i % 2 ? "/a" : "/b");
	for (uint64_t i = 98100; i < 100000; i++)
		IS(c, 1, i * 1000000 + 5, 0x1000, i % 2 ? "/a" : "/b");
	gus_current_free(c);
}

static void test_too_many(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);
	uint64_t n = NODES + 100000;

	(void)state;
	map(c, 1, 1, 0x1000, 0x1000, "/bin/first");
	for (uint64_t i = 0; i < n; i++)
		map(c, 2 + i, 1, 0x1000000 + i * 0x1000, 0x1000, "/a");
	IS(c, 1, n + 5, 0x1000, "/bin/first");
	IS(c, 1, n + 5, 0x1000000, "/a");
	assert_true(gus_current_left_out(c) > 100000);
	assert_true(gus_current_left_out(c) < 200000);
	/* A program's end makes room for others. */
	tell_comm(tell_current, c, n + 10, 1, true);
	for (uint64_t i = 0; i < 200000; i++)
		map(c, n + 20 + i * 100000, 2, 0x1000000 + (i % 10) * 0x1000, 0x1000, "/b");
	IS(c, 2, n + 20 + 200000ull * 100000, 0x1000000, "/b");
	gus_current_free(c);
}

static void test_too_many_files(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);
	char path[32];

	(void)state;
	for (unsigned i = 0; i < GUS_LIMIT_CURRENT_MODULES + 5; i++) {
		snprintf(path, sizeof(path), "/f%u", i);
		map(c, 1 + i, 1, 0x1000 * (1 + (uint64_t)i), 0x1000, path);
	}
	assert_int_equal(gus_current_left_out(c), 5);
	snprintf(path, sizeof(path), "/f%u", GUS_LIMIT_CURRENT_MODULES - 1);
	IS(c, 1, 1u << 20, 0x1000ull * GUS_LIMIT_CURRENT_MODULES, path);
	NOWHERE(c, 1, 1u << 20, 0x1000 * (1ull + GUS_LIMIT_CURRENT_MODULES));
	gus_current_free(c);
}

/* A shell that starts little processes all day: what is kept of them does not grow, though they map nothing. */
static void test_births_are_forgotten(void **state)
{
	struct gus_current *c = gus_current_new(KEEP, NODES);
	size_t early = 0;

	(void)state;
	map(c, 1, 1, 0x1000, 0x1000, "/bin/sh");
	for (uint32_t i = 0; i < 600000; i++) {
		uint64_t now = 10 + i * (SECOND / 5000);

		tell_fork(tell_current, c, now, 1, 2 + i, 2 + i);
		tell_exit(c, now + 1, 2 + i, 2 + i);
		IS(c, 2 + i, now + 2, 0x1000, "/bin/sh");
		if (i == 300000)
			early = mallinfo2().uordblks;
	}
	assert_in_range(mallinfo2().uordblks, 0, early + early / 4);
	gus_current_free(c);
}

/* The past's answers for the same records, at random. */

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct made { uint64_t time; unsigned kind; uint32_t a, b; struct made_mapping m; };

static void tell_made(teller *tell, void *to, const struct made *m)
{
	if (m->kind < 7)
		tell_mmap(tell, to, m->m);
	else if (m->kind < 9)
		tell_fork(tell, to, m->time, m->a, m->b, m->b);
	else
		tell_comm(tell, to, m->time, m->a, true);
}

static struct made make(uint64_t *state, uint64_t time)
{
	static const char *const paths[] = { "/a", "/b", "//anon", "[vdso]", "/c" };
	struct made m = { .time = time, .kind = (unsigned)(draw(state) % 10), .a = 1 + (uint32_t)(draw(state) % 4),
			  .b = 1 + (uint32_t)(draw(state) % 4) };

	m.m = (struct made_mapping){ time, m.a, 0x1000 * (draw(state) % 40), 0x1000 * (1 + draw(state) % 9),
				0x1000 * (draw(state) % 5), paths[draw(state) % 5], NULL, 1 + draw(state) % 2, false };
	return m;
}

static void compare(struct gus_space *s, struct gus_current *c, uint64_t *state, uint64_t from, uint64_t until)
{
	for (unsigned i = 0; i < 500; i++) {
		uint32_t pid = 1 + (uint32_t)(draw(state) % 4);
		uint64_t time = from + draw(state) % (until - from), at = 0x1000 * (draw(state) % 50) + 0x123;
		struct gus_place was = gus_space_find(s, pid, time, at, GUS_MODE_USER), is;
		const struct gus_module *m = gus_space_module(s, was.module);
		bool found = gus_current_find(c, pid, time, at, &is);

		assert_int_equal(found, m->kind != GUS_MODULE_UNKNOWN);
		if (!found)
			continue;
		assert_int_equal(is.offset, was.offset);
		assert_string_equal(gus_current_module(c, is.module)->path, m->path);
		if (m->kind == GUS_MODULE_FILE)
			assert_int_equal(gus_current_module(c, is.module)->inode, m->inode);
	}
}

/* In batches, each in another order, with questions between them. */
static void test_agrees_with_the_past(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t random = seed * 0x9e3779b97f4a7c15u;
		struct gus_space *s = gus_space_new();
		struct gus_current *c = gus_current_new(KEEP, NODES);
		struct made made[400];

		for (size_t i = 0; i < 400; i++)
			made[i] = make(&random, 100 + 10 * i);
		for (size_t i = 0; i < 400; i++)
			tell_made(tell_space, s, &made[i]);
		for (uint32_t pid = 1; pid <= 4; pid++)
			tell_fork(tell_current, c, 1, 99, pid, pid);
		gus_space_ready(s);
		for (size_t i = 0; i < 400; i += 20) {
			for (size_t k = 0; k < 20; k++)
				tell_made(tell_current, c, &made[i + (7 * k + seed) % 20]);
			compare(s, c, &random, 100, 100 + 10 * (i + 20));
		}
		gus_space_free(s);
		gus_current_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_what_has_no_file),
		cmocka_unit_test(test_same_file_same_module),
		cmocka_unit_test(test_births_and_programs),
		cmocka_unit_test(test_order_of_rings),
		cmocka_unit_test(test_described),
		cmocka_unit_test(test_a_number_comes_again),
		cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_the_same_moment),
		cmocka_unit_test(test_room_is_made),
		cmocka_unit_test(test_room_keeps_all_of_the_last),
		cmocka_unit_test(test_room_keeps_the_last),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_too_many_files),
		cmocka_unit_test(test_births_are_forgotten),
		cmocka_unit_test(test_agrees_with_the_past),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
