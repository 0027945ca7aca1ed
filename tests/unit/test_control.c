/* SPDX-License-Identifier: MIT */
/* --control: its ways in, its words, whole and in pieces. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/session/control.h"

static void words(void **state)
{
	static const char text[] = "enable\ndisable\r\nsnapshot\nstop\nping\nevlist\n\nEnable\nenable x\nenable";
	static const enum gus_command want[] = {
		GUS_COMMAND_ENABLE, GUS_COMMAND_DISABLE, GUS_COMMAND_SNAPSHOT, GUS_COMMAND_STOP, GUS_COMMAND_PING,
		GUS_COMMAND_EVENTS, GUS_COMMAND_UNKNOWN, GUS_COMMAND_UNKNOWN, GUS_COMMAND_UNKNOWN, GUS_COMMAND_NONE,
	};
	const size_t pieces[] = { 1, 2, 3, 7, sizeof(text) };

	(void)state;
	for (size_t p = 0; p < sizeof(pieces) / sizeof(*pieces); p++) {
		struct gus_control c;
		int ends[2];
		size_t k = 0;

		gus_control_init(&c);
		assert_int_equal(pipe(ends), 0);
		c.in = ends[0];
		for (size_t at = 0; at < strlen(text); at += pieces[p]) {
			size_t n = strlen(text) - at < pieces[p] ? strlen(text) - at : pieces[p];
			enum gus_command got;

			assert_int_equal(write(ends[1], text + at, n), n);
			gus_control_read(&c);
			while ((got = gus_control_next(&c)) != GUS_COMMAND_NONE)
				assert_int_equal(got, want[k++]);
		}
		assert_int_equal(want[k], GUS_COMMAND_NONE);
		assert_false(c.ended);
		close(ends[1]);
		gus_control_read(&c);
		assert_true(c.ended);
		close(ends[0]);
	}
}

static void line_without_end(void **state)
{
	struct gus_control c;
	char much[2000];
	int ends[2];

	(void)state;
	gus_control_init(&c);
	assert_int_equal(pipe(ends), 0);
	c.in = ends[0];
	memset(much, 'x', sizeof(much));
	assert_int_equal(write(ends[1], much, sizeof(much)), sizeof(much));
	assert_int_equal(write(ends[1], "\nping\n", 6), 6);
	for (int i = 0; i < 4; i++) {
		gus_control_read(&c);
		assert_int_equal(gus_control_next(&c), i < 3 ? GUS_COMMAND_NONE : GUS_COMMAND_UNKNOWN);
	}
	assert_int_equal(gus_control_next(&c), GUS_COMMAND_PING);
	close(ends[0]);
	close(ends[1]);
}

/* A command is a whole line: not the end of one that was too long, nor what stands before a byte of another kind. */
static void whole_lines(void **state)
{
	char text[600];
	static const struct { const char *text; size_t size; enum gus_command want; } cases[] = {
		{ "stop\0x\n", 7, GUS_COMMAND_UNKNOWN }, { "stop\rx\n", 7, GUS_COMMAND_UNKNOWN },
		{ "\r\n", 2, GUS_COMMAND_UNKNOWN }, { "stop\r\n", 6, GUS_COMMAND_STOP },
	};

	(void)state;
	for (size_t room = 510; room < 514; room++) {
		struct gus_control c;
		int ends[2];

		gus_control_init(&c);
		assert_int_equal(pipe(ends), 0);
		c.in = ends[0];
		memset(text, 'x', room);
		memcpy(text + room, "stop\nping\n", 10);
		assert_int_equal(write(ends[1], text, room + 10), room + 10);
		gus_control_read(&c);
		assert_int_equal(gus_control_next(&c), GUS_COMMAND_NONE);
		gus_control_read(&c);
		assert_int_equal(gus_control_next(&c), GUS_COMMAND_UNKNOWN);
		assert_int_equal(gus_control_next(&c), GUS_COMMAND_PING);
		close(ends[0]);
		close(ends[1]);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_control c;

		gus_control_init(&c);
		memcpy(c.text, cases[i].text, cases[i].size);
		c.used = cases[i].size;
		assert_int_equal(gus_control_next(&c), cases[i].want);
		assert_int_equal(gus_control_next(&c), GUS_COMMAND_NONE);
	}
}

/* A recorder that waits for somebody to read its answers samples no more. An alarm ends the test if it does. */
static void nobody_reads(void **state)
{
	struct gus_control c;
	int ends[2];

	(void)state;
	gus_control_init(&c);
	assert_int_equal(pipe(ends), 0);
	c.ack = ends[1];
	alarm(20);
	for (int i = 0; i < 70000; i++) /* 280 kB; a pipe has room for 64 KiB */
		gus_control_acknowledge(&c);
	alarm(0);
	close(ends[0]);
	close(ends[1]);
}

static void ways_in(void **state)
{
	char folder[] = "/tmp/gusprof-test-XXXXXX", *fifo, *spec, byte[8];
	struct gus_control c;
	struct gus_error err;
	static const char *const wrong[] = { "", "fifo", "pipe:x", "fd:", "fd:x", "fd:-1", "fd:9999", "fd:0,",
		"fifo:/no/such" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		err = (struct gus_error){ 0 };
		gus_control_init(&c);
		assert_int_equal(gus_control_open(&c, wrong[i], &err), -1);
		assert_true(*err.text);
		assert_int_equal(c.in, -1);
	}
	assert_non_null(mkdtemp(folder));
	fifo = gus_format("%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	spec = gus_format("fifo:%s,%s", fifo, fifo);
	assert_int_equal(gus_control_open(&c, spec, &err), 0);
	gus_control_acknowledge(&c);
	assert_int_equal(read(c.in, byte, sizeof(byte)), 4);
	assert_memory_equal(byte, "ack\n", 4);
	gus_control_read(&c);
	assert_false(c.ended || c.used); /* nothing is there now, and something may come */
	gus_control_close(&c);
	free(spec);
	unlink(fifo);
	fclose(fopen(fifo, "w"));
	spec = gus_format("fifo:%s", fifo);
	assert_int_equal(gus_control_open(&c, spec, &err), -1); /* a plain file */
	free(spec);
	unlink(fifo);
	rmdir(folder);
	free(fifo);
	assert_int_equal(gus_control_open(&c, "fd:0,1", &err), 0);
	gus_control_close(&c); /* leaves them open: they are not ours */
	assert_true(fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(line_without_end),
		cmocka_unit_test(whole_lines),
		cmocka_unit_test(nobody_reads),
		cmocka_unit_test(ways_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
