/* SPDX-License-Identifier: MIT */
/* Who belongs to the target and when, from records in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/session/members.h"

#define SECOND 1000000000ull

static void fork_of(struct gus_members *m, uint32_t tid, uint64_t time)
{
	Gusprof__Task t = { .pid = tid, .tid = tid, .time = time };

	gus_members_note(m, &(Gusprof__Record){ .kind_case = GUSPROF__RECORD__KIND_FORK, .fork = &t });
}

static void end_of(struct gus_members *m, uint32_t tid, uint64_t time)
{
	Gusprof__Task t = { .pid = tid, .tid = tid, .time = time };

	gus_members_note(m, &(Gusprof__Record){ .kind_case = GUSPROF__RECORD__KIND_EXIT, .exit = &t });
}

static void name_of(struct gus_members *m, uint32_t tid, uint64_t time, const char *name, bool exec)
{
	Gusprof__Comm c = { .pid = tid, .tid = tid, .time = time, .name = (char *)(uintptr_t)name, .exec = exec };

	gus_members_note(m, &(Gusprof__Record){ .kind_case = GUSPROF__RECORD__KIND_COMM, .comm = &c });
}

static void mapping_of(struct gus_members *m, uint32_t tid, uint64_t time)
{
	Gusprof__Mmap map = { .pid = tid, .tid = tid, .time = time };

	gus_members_note(m, &(Gusprof__Record){ .kind_case = GUSPROF__RECORD__KIND_MMAP, .mmap = &map });
}

/* From its birth to its end, both included, and not a moment more. */
static void between_birth_and_end(void **state)
{
	struct gus_members m;

	(void)state;
	gus_members_init(&m);
	assert_false(gus_members_has(&m, 5, 5, 100));
	fork_of(&m, 5, 100);
	assert_false(gus_members_has(&m, 5, 5, 99));
	assert_true(gus_members_has(&m, 5, 5, 100));
	assert_true(gus_members_has(&m, 5, 5, UINT64_MAX - 1));
	assert_false(gus_members_has(&m, 6, 6, 100));
	end_of(&m, 5, 200);
	assert_true(gus_members_has(&m, 5, 5, 200));
	assert_false(gus_members_has(&m, 5, 5, 201));
	assert_int_equal(m.all, 1);
	assert_int_equal(m.ended, 1);
	end_of(&m, 5, 300); /* told twice, or of a stranger with its number */
	assert_false(gus_members_has(&m, 5, 5, 201));
	assert_int_equal(m.ended, 1);
	end_of(&m, 7, 300);
	assert_int_equal(m.ended, 1);
	gus_members_free(&m);
}

/* The clock may stand still between two of its news. */
static void news_of_the_same_moment(void **state)
{
	struct gus_members m;

	(void)state;
	gus_members_init(&m);
	fork_of(&m, 5, 100);
	end_of(&m, 5, 100);
	assert_int_equal(m.ended, 1);
	assert_true(gus_members_has(&m, 5, 5, 100));
	assert_false(gus_members_has(&m, 5, 5, 101));
	gus_members_add(&m, 5, 5, 100); /* it is the same one, seen once more */
	assert_int_equal(m.all, 1);
	assert_false(gus_members_has(&m, 5, 5, 101));
	gus_members_add(&m, 5, 5, 101);
	assert_int_equal(m.all, 2);
	mapping_of(&m, 6, 200);
	end_of(&m, 6, 200);
	fork_of(&m, 6, 200); /* whose ring is read last */
	assert_int_equal(m.all, 3);
	assert_false(gus_members_has(&m, 6, 6, 201));
	fork_of(&m, 6, 201);
	assert_int_equal(m.all, 4);
	gus_members_free(&m);
}

/* A number comes back with another member; news of the one before it come late, and change nothing. */
static void a_number_comes_back(void **state)
{
	struct gus_members m;

	(void)state;
	gus_members_init(&m);
	fork_of(&m, 5, 100);
	end_of(&m, 5, 200);
	fork_of(&m, 5, 300);
	assert_false(gus_members_has(&m, 5, 5, 250));
	assert_true(gus_members_has(&m, 5, 5, 300));
	end_of(&m, 5, 200);
	assert_true(gus_members_has(&m, 5, 5, 400));
	assert_int_equal(m.all, 2);
	gus_members_free(&m);
}

/* A thread that executes a program takes the number of its process, and nobody tells the end of its own: whoever gets
 * that is another process's. */
static void a_thread_that_executes_frees_its_number(void **state)
{
	Gusprof__Task thread = { .pid = 5, .tid = 6, .time = 110 };
	struct gus_members m;

	(void)state;
	gus_members_init(&m);
	fork_of(&m, 5, 100);
	gus_members_note(&m, &(Gusprof__Record){ .kind_case = GUSPROF__RECORD__KIND_FORK, .fork = &thread });
	assert_true(gus_members_has(&m, 5, 6, 120));
	end_of(&m, 5, 200);
	name_of(&m, 5, 201, "program", true);
	assert_true(gus_members_has(&m, 5, 5, 300));
	assert_false(gus_members_has(&m, 6, 6, 300)); /* a stranger */
	fork_of(&m, 6, 400);                          /* one of ours */
	assert_true(gus_members_has(&m, 6, 6, 400));
	assert_false(gus_members_has(&m, 6, 6, 399));
	gus_members_add(&m, 0, 9, 0); /* of whose process nothing is known yet */
	assert_true(gus_members_has(&m, 8, 9, 10));
	mapping_of(&m, 9, 20);
	assert_false(gus_members_has(&m, 8, 9, 30));
	assert_true(gus_members_has(&m, 9, 9, 30));
	gus_members_free(&m);
}

/* The birth stands in one CPU's ring, name and mappings in another's, which is read first. And a task that was there
 * when we came has no birth. */
static void news_in_any_order(void **state)
{
	struct gus_members m;

	(void)state;
	gus_members_init(&m);
	name_of(&m, 5, 120, "thread", false);
	assert_false(gus_members_has(&m, 5, 5, 110));
	fork_of(&m, 5, 100);
	assert_true(gus_members_has(&m, 5, 5, 100));
	assert_int_equal(m.all, 1);
	gus_members_add(&m, 9, 9, 0);
	gus_members_add(&m, 9, 9, 50);
	assert_true(gus_members_has(&m, 9, 9, 1));
	end_of(&m, 9, 60);
	gus_members_add(&m, 9, 9, 55); /* an old look */
	assert_false(gus_members_has(&m, 9, 9, 61));
	mapping_of(&m, 9, 70); /* it lives again: another thread has taken the number, by an exec */
	assert_true(gus_members_has(&m, 9, 9, 71));
	assert_false(gus_members_has(&m, 9, 9, 69));
	gus_members_free(&m);
}

/* Whoever gets a name by an exec, maps nothing and ends has been taken from us. The three in any order. */
static void taken_away_by_exec(void **state)
{
	struct gus_members m;
	const char *comm;
	uint32_t tid;

	(void)state;
	gus_members_init(&m);
	fork_of(&m, 4, 100); /* the first that there is */
	name_of(&m, 4, 110, "sudo", true);
	end_of(&m, 4, 120);
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 1);
	assert_int_equal(tid, 4);
	gus_members_free(&m);
	gus_members_init(&m);
	fork_of(&m, 5, 100); /* a program like any other */
	name_of(&m, 5, 110, "true", true);
	mapping_of(&m, 5, 111);
	end_of(&m, 5, 120);
	fork_of(&m, 6, 100); /* one that maps what the program before it mapped, and then executes another */
	mapping_of(&m, 6, 105);
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 0);
	end_of(&m, 6, 111);
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 0);
	name_of(&m, 6, 110, "a-name-as-long-as-it-gets", true);
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 1);
	assert_int_equal(tid, 6);
	assert_string_equal(comm, "a-name-as-long-");
	fork_of(&m, 7, 100); /* only renamed */
	name_of(&m, 7, 110, "worker", false);
	end_of(&m, 7, 120);
	fork_of(&m, 8, 100); /* it lives */
	name_of(&m, 8, 110, "su", true);
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 1);
	end_of(&m, 8, 111);
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 2);
	fork_of(&m, 8, 500); /* its number is another's: it counts on */
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 2);
	fork_of(&m, 5, 500); /* that of one that was not taken away */
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 2);
	gus_members_free(&m);
}

/* Memory is what lives and has just ended, and what has been taken away is not forgotten. */
static void forgets_those_that_have_long_ended(void **state)
{
	struct gus_members m;
	const char *comm;
	uint32_t tid;

	(void)state;
	gus_members_init(&m);
	fork_of(&m, 1, 0);
	fork_of(&m, 2, 0);
	name_of(&m, 2, 1, "su", true);
	end_of(&m, 2, 2);
	for (uint32_t i = 0; i < 100000; i++) {
		fork_of(&m, 10 + i, i * SECOND / 100);
		end_of(&m, 10 + i, i * SECOND / 100 + 5);
	}
	assert_in_range(m.tids.n, 1000, 10000);
	assert_int_equal(m.tids.n, m.list.n);
	assert_true(gus_members_has(&m, 1, 1, 999 * SECOND));
	/* Nine seconds ago. */
	assert_true(gus_members_has(&m, 10 + 99999 - 900, 10 + 99999 - 900, (99999 - 900) * SECOND / 100));
	assert_int_equal(m.ended, 100001);
	assert_int_equal(gus_members_taken_away(&m, &tid, &comm), 1);
	assert_int_equal(tid, 2);
	assert_string_equal(comm, "su");
	gus_members_free(&m);
}

/* Ten seconds after their end, when there are more than CROWD_MIN and twice as many as lived at the last look. */
static void forgets_who_has_ended_ten_seconds_ago(void **state)
{
	struct gus_members m;

	(void)state;
	gus_members_init(&m);
	for (uint32_t tid = 1; tid <= 4096; tid++)
		fork_of(&m, tid, 1);
	end_of(&m, 1, 5 * SECOND);
	end_of(&m, 2, 5 * SECOND + 1);
	end_of(&m, 3, 20 * SECOND);
	fork_of(&m, 5000, 15 * SECOND); /* there were not more than that */
	assert_true(gus_members_has(&m, 1, 1, 5 * SECOND));
	fork_of(&m, 5001, 15 * SECOND);
	assert_false(gus_members_has(&m, 1, 1, 5 * SECOND));
	assert_true(gus_members_has(&m, 2, 2, 5 * SECOND));
	assert_true(gus_members_has(&m, 3, 3, 20 * SECOND)); /* it ends later than that birth */
	assert_true(gus_members_has(&m, 4, 4, 100 * SECOND));
	assert_int_equal(m.tids.n, 4097);
	fork_of(&m, 5002, 100 * SECOND); /* not worth a look again */
	assert_true(gus_members_has(&m, 2, 2, 5 * SECOND));
	for (uint32_t tid = 5003; m.tids.n < 2 * 4096 + 1; tid++)
		fork_of(&m, tid, 100 * SECOND);
	assert_true(gus_members_has(&m, 2, 2, 5 * SECOND)); /* twice as many, and the one that it was found with */
	fork_of(&m, 20000, 100 * SECOND);
	assert_false(gus_members_has(&m, 2, 2, 5 * SECOND));
	gus_members_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_birth_and_end),
		cmocka_unit_test(news_of_the_same_moment),
		cmocka_unit_test(a_number_comes_back),
		cmocka_unit_test(a_thread_that_executes_frees_its_number),
		cmocka_unit_test(news_in_any_order),
		cmocka_unit_test(taken_away_by_exec),
		cmocka_unit_test(forgets_those_that_have_long_ended),
		cmocka_unit_test(forgets_who_has_ended_ten_seconds_ago),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
