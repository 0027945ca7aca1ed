/* SPDX-License-Identifier: MIT */
/* attribution/lives: what threads do with their time, told in every order there is, and in some that cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/profile/lives.h"
#include "base/index.h"

#define NONE GUS_INDEX_NONE

static struct gus_lives lives;
static struct { struct gus_absence v[64]; size_t n; } told;

static void absent(void *context, const struct gus_absence *a)
{
	assert_ptr_equal(context, &told);
	assert_true(told.n < 64);
	told.v[told.n++] = *a;
}

static int setup(void **state)
{
	(void)state;
	told.n = 0;
	gus_lives_init(&lives, absent, &told);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_lives_free(&lives);
	return 0;
}

static void begin(void) { gus_lives_begin(&lives, 100, 0, UINT64_MAX); }
static void in(uint32_t thread, uint64_t time) { gus_lives_switch(&lives, thread, time, false, false); }
static void out(uint32_t thread, uint64_t time) { gus_lives_switch(&lives, thread, time, true, false); }
static void put_out(uint32_t thread, uint64_t time) { gus_lives_switch(&lives, thread, time, true, true); }
static void leave(uint32_t thread, uint64_t time, uint32_t mark) 
{
	gus_lives_leave(&lives, thread, time, mark, mark * 3);
}


static void seen(uint32_t thread, uint64_t time, uint32_t mark)
{
	(void)mark;
	gus_lives_seen(&lives, thread, time);
}

static void check_life(uint32_t thread, uint64_t on, uint64_t blocked, uint64_t waiting, uint64_t unknown)
{
	const struct gus_life *life = &lives.list.v[thread];

	assert_int_equal(life->on, on);
	assert_int_equal(life->blocked, blocked);
	assert_int_equal(life->waiting, waiting);
	assert_int_equal(life->unknown, unknown);
	assert_int_equal(life->wall, on + blocked + waiting + unknown);
}

static void check_told(size_t i, enum gus_absence_kind kind, uint32_t thread, uint32_t mark, uint64_t ns)
{
	assert_true(i < told.n);
	assert_int_equal(told.v[i].kind, kind);
	assert_int_equal(told.v[i].thread, thread);
	assert_int_equal(told.v[i].mark, mark);
	assert_int_equal(told.v[i].ns, ns);
	if (mark != NONE)
		assert_int_equal(told.v[i].stands_for, mark * 3);
}

/* Waits, is put aside, is still away in the end. */
static void plain(void **state)
{
	(void)state;
	gus_lives_note_exec(&lives, 0, 120);
	begin();
	leave(0, 149, 7);
	out(0, 150);
	in(0, 250);
	leave(0, 299, 8);
	put_out(0, 300);
	in(0, 340);
	leave(0, 359, 9);
	out(0, 360);
	gus_lives_finish(&lives, 400);
	check_life(0, 30 + 50 + 20, 100 + 40, 40, 0);
	assert_int_equal(lives.list.v[0].switches, 3);
	assert_int_equal(lives.list.v[0].preempted, 1);
	assert_int_equal(told.n, 3);
	check_told(0, GUS_ABSENCE_BLOCKED, 0, 7, 100);
	check_told(1, GUS_ABSENCE_PREEMPTED, 0, 8, 40);
	check_told(2, GUS_ABSENCE_BLOCKED, 0, 9, 40);
}

/* A switch that was not sampled has no mark, and not that of the one before. */
static void marks_are_used_once(void **state)
{
	(void)state;
	begin();
	leave(0, 149, 7);
	out(0, 150);
	in(0, 160);
	out(0, 170);
	in(0, 190);
	gus_lives_finish(&lives, 200);
	assert_int_equal(told.n, 2);
	check_told(0, GUS_ABSENCE_BLOCKED, 0, 7, 10);
	check_told(1, GUS_ABSENCE_BLOCKED, 0, NONE, 20);
}

/* Born, waits for its first turn, ends on its CPU; what comes behind its end is nothing, until its number is used
 * again. */
static void birth_and_end(void **state)
{
	(void)state;
	gus_lives_note_birth(&lives, 1, 200);
	gus_lives_note_end(&lives, 1, 300);
	gus_lives_note_birth(&lives, 1, 500);
	begin();
	in(1, 210);
	leave(1, 301, 3);
	out(1, 302);
	in(1, 520);
	out(1, 530);
	gus_lives_finish(&lives, 600);
	check_life(1, 90 + 10, 70, 10 + 20, 0);
	assert_int_equal(told.n, 3);
	check_told(0, GUS_ABSENCE_BORN, 1, NONE, 10);
	check_told(1, GUS_ABSENCE_BORN, 1, NONE, 20);
	check_told(2, GUS_ABSENCE_BLOCKED, 1, NONE, 70);
}

/* A birth without an end before it: the number is another thread's. */
static void born_twice(void **state)
{
	(void)state;
	gus_lives_note_birth(&lives, 0, 200);
	gus_lives_note_birth(&lives, 0, 300);
	begin();
	in(0, 220);
	in(0, 310);
	gus_lives_finish(&lives, 320);
	check_life(0, 80 + 10, 0, 20 + 10, 0);
}

/* A birth and the first turn at one moment, an end and the last switch. */
static void at_one_moment(void **state)
{
	(void)state;
	gus_lives_note_birth(&lives, 0, 200);
	gus_lives_note_end(&lives, 0, 300);
	gus_lives_note_end(&lives, 1, 300); /* of whom nothing else is told */
	begin();
	in(0, 200);
	out(0, 300);
	gus_lives_finish(&lives, 400);
	check_life(0, 100, 0, 0, 0);
	check_life(1, 0, 0, 0, 0);
	assert_int_equal(lives.list.v[0].switches, 0);
	assert_false(lives.list.v[1].told);
}

/* Lived before: what the first switch is says what was; nothing at all says that it slept, unless it was sampled. What
 * was before the recording is nobody's. */
static void those_that_live_already(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		gus_lives_note_alive(&lives, i, 50);
	begin();
	in(0, 130);
	out(1, 140);
	gus_lives_seen(&lives, 2, 150);
	gus_lives_finish(&lives, 200);
	check_life(0, 70, 30, 0, 0);
	check_life(1, 40, 60, 0, 0);
	check_life(2, 100, 0, 0, 0);
	check_life(3, 0, 100, 0, 0);
	assert_int_equal(told.n, 2);
	check_told(0, GUS_ABSENCE_BEFORE, 0, NONE, 30);
	check_told(1, GUS_ABSENCE_BLOCKED, 1, NONE, 60);
	assert_true(lives.list.v[0].told && lives.list.v[1].told && lives.list.v[2].told);
	assert_false(lives.list.v[3].told);
}

/* Of whom nothing was told before: the life begins with what is told first. */
static void those_that_nobody_knew(void **state)
{
	(void)state;
	begin();
	in(0, 110);
	out(1, 120);
	leave(2, 130, 5);
	out(2, 131);
	gus_lives_seen(&lives, 3, 140);
	gus_lives_finish(&lives, 200);
	check_life(0, 90, 0, 0, 0);
	check_life(1, 0, 80, 0, 0);
	check_life(2, 1, 69, 0, 0);
	check_life(3, 60, 0, 0, 0);
	check_told(1, GUS_ABSENCE_BLOCKED, 2, 5, 69);
}

/* What contradicts itself is time that nobody knows of. */
static void missing_records(void **state)
{
	(void)state;
	gus_lives_note_birth(&lives, 3, 100);
	gus_lives_note_end(&lives, 3, 150);
	begin();
	in(0, 100);
	in(0, 120);             /* an out is missing */
	out(1, 100);
	out(1, 130);            /* an in */
	out(2, 100);
	leave(2, 140, 6);       /* likewise */
	out(2, 141);
	in(2, 161);
	gus_lives_finish(&lives, 200);
	check_life(0, 80, 0, 0, 20);
	check_life(1, 0, 70, 0, 30);
	check_life(2, 1 + 39, 20, 0, 40);
	check_life(3, 0, 0, 0, 50); /* ends, and never came */
}

/* Time that runs backwards is no time. */
static void reversed_time(void **state)
{
	(void)state;
	begin();
	in(0, 200);
	out(0, 150);
	in(0, 140);
	out(0, 300);
	gus_lives_finish(&lives, 250);
	check_life(0, 100, 0, 0, 0);
}

/* The other threads of a process end when it executes a program, in whatever state they are; its own goes on; those of
 * other processes do, too. */
static void exec_ends_the_others(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		gus_lives_of_process(&lives, i, i == 4);
		gus_lives_note_alive(&lives, i, 100);
	}
	gus_lives_note_exec(&lives, 0, 200);
	gus_lives_note_exec(&lives, 0, 220);
	gus_lives_note_birth(&lives, 1, 210);
	begin();
	out(0, 110);            /* its in is the exec's thread's, which had another number */
	in(1, 120);
	out(2, 130);
	in(4, 140);
	in(1, 215);
	gus_lives_finish(&lives, 300);
	check_life(0, 10 + 100, 0, 0, 90);
	check_life(1, 80 + 5, 20, 5, 0);
	check_life(2, 30, 0, 0, 70);
	check_life(3, 100, 0, 0, 0);
	check_life(4, 160, 40, 0, 0);
}

/* Of a part of the time only that counts, and switches in it. */
static void a_part(void **state)
{
	(void)state;
	gus_lives_begin(&lives, 100, 200, 300);
	in(0, 110);
	leave(0, 150, 1);
	out(0, 150);
	in(0, 250);
	leave(0, 280, 2);
	out(0, 280);
	in(0, 400);
	out(0, 450);
	in(0, 500);
	gus_lives_finish(&lives, 600);
	check_life(0, 30, 50 + 20, 0, 0);
	assert_int_equal(lives.list.v[0].switches, 1);
	assert_int_equal(told.n, 3);
	check_told(0, GUS_ABSENCE_BLOCKED, 0, 1, 50);
	check_told(1, GUS_ABSENCE_BLOCKED, 0, 2, 20);
	check_told(2, GUS_ABSENCE_BLOCKED, 0, NONE, 0);
}

/* The bounds of the part: a switch on the first moment is in it, one on the last is not. */
static void bounds_of_a_part(void **state)
{
	static const struct { uint64_t time, switches; } cases[] = {
		{ 199, 0 }, { 200, 1 }, { 201, 1 }, { 299, 1 }, { 300, 0 }, { 301, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(state);
		gus_lives_begin(&lives, 100, 200, 300);
		in(0, 100);
		out(0, cases[i].time);
		gus_lives_finish(&lives, 400);
		assert_int_equal(lives.list.v[0].switches, cases[i].switches);
		assert_int_equal(lives.list.v[0].wall, 100);
		teardown(state);
	}
	setup(state);
}

/* Whatever is told in whatever order, the figures add up (which is asserted), and no time is counted twice. */
static void anything(void **state)
{
	uint64_t seed = 4711;

	for (unsigned run = 0; run < 2000; run++) {
		setup(state);
		for (unsigned i = 0; i < 40; i++) {
			uint32_t thread, what;
			uint64_t time;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			thread = (uint32_t)(seed >> 33) % 4;
			what = (uint32_t)(seed >> 40) % 9;
			time = (seed >> 45) % 1000;
			gus_lives_of_process(&lives, thread, thread / 2);
			if (i < 8) {
				(what % 4 == 0 ? gus_lives_note_alive : what % 4 == 1 ? gus_lives_note_birth :
				 what % 4 == 2 ? gus_lives_note_exec : gus_lives_note_end)(&lives, thread, time);
				continue;
			}
			if (i == 8)
				gus_lives_begin(&lives, seed >> 62, (seed >> 50) % 300, 700);
			if (what < 3)
				in(thread, time);
			else if (what < 6)
				gus_lives_switch(&lives, thread, time, true, what & 1);
			else
				(what < 8 ? leave : seen)(thread, time, i);
			told.n = 0;
		}
		gus_lives_finish(&lives, 1000);
		for (size_t i = 0; i < lives.list.n; i++)
			assert_true(lives.list.v[i].wall <= 700);
		teardown(state);
	}
	setup(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(plain),
		TEST(marks_are_used_once),
		TEST(birth_and_end),
		TEST(born_twice),
		TEST(at_one_moment),
		TEST(those_that_live_already),
		TEST(those_that_nobody_knew),
		TEST(missing_records),
		TEST(reversed_time),
		TEST(exec_ends_the_others),
		TEST(a_part),
		TEST(bounds_of_a_part),
		TEST(anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
