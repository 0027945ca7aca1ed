/* SPDX-License-Identifier: MIT */
/* tracing/plugin/steps without an emulator: which steps are in windows, turns of string instructions, pieces of an
 * access, what is taken back. What is executed is written, and read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/made_folder.h"
#include "tracing/plugin/origins.h"
#include "tracing/plugin/steps.h"
#include "tracing/plugin/terms.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, made_folder_enter, made_folder_leave)

/* 1000 nop; nop      1002 nop; rep movsb      1005 ret      1003, as QEMU has it from the second turn on: rep movsb */
enum { PLAIN, COPIES, RETURNS, AGAIN, CODES };
static const struct { uint64_t address; const char *bytes; uint8_t lengths[2]; uint32_t insns; } codes[CODES] = {
	{ 0x1000, "\x90\x90", { 1, 1 }, 2 }, { 0x1002, "\x90\xf3\xa4", { 1, 2 }, 2 }, { 0x1005, "\xc3", { 1 }, 1 },
	{ 0x1003, "\xf3\xa4", { 2 }, 1 },
};

struct made {
	struct gus_translated *codes[CODES];
	struct gus_origins origins;
	struct gus_trace_writer *w;
	struct gus_steps s;
};

static void begin(struct made *m, const struct gus_windows *windows)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;

	for (unsigned i = 0; i < CODES; i++) {
		const struct gus_trace_block block = { codes[i].address, codes[i].lengths,
			(const uint8_t *)codes[i].bytes, codes[i].insns,
			codes[i].lengths[0] + (uint32_t)codes[i].lengths[1] };

		m->codes[i] = gus_translated_new(&block, GUS_TRANSLATED_X86_64);
	}
	gus_origins_init(&m->origins, 77);
	m->w = gus_trace_writer_create("t", &header, &about, NULL);
	assert_non_null(m->w);
	gus_steps_init(&m->s, 0, windows);
}

/* As the plugin does: false where a window of a replay is over, which then ends. */
static bool execute(struct made *m, unsigned code)
{
	enum gus_trace_next last;

	if (gus_steps_note(&m->s, m->codes[code]))
		return true;
	if (gus_steps_due(&m->s, m->codes[code], &last)) {
		assert_int_equal(gus_steps_write(&m->s, m->w, &m->origins, last, NULL), 0);
		if (m->s.turns_most && m->s.seen >= m->s.to)
			return false;
	}
	gus_steps_execute(&m->s, m->codes[code]);
	return true;
}

static void touch(struct made *m, unsigned code, unsigned insn, uint64_t address, bool store)
{
	const struct gus_translated_insn *i = &m->codes[code]->insns[insn];

	if (!gus_steps_note_access(&m->s, i, address, 8, store))
		gus_steps_access(&m->s, i, address, 8, store);
}

/* What was written: '[at.window] block how it was left (insn address+size; w: written)'. */
static void expect(struct made *m, const char *steps)
{
	static const char *const how[] = { [GUS_TRACE_NEXT_UNKNOWN] = "?", [GUS_TRACE_NEXT_FALLS] = "falls",
		[GUS_TRACE_NEXT_TAKEN] = "taken" };
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_trace_step step;
	struct gus_trace *t;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (m->s.steps.n)
		assert_int_equal(gus_steps_write(&m->s, m->w, &m->origins, GUS_TRACE_NEXT_UNKNOWN, NULL), 0);
	assert_int_equal(gus_trace_writer_finish(m->w, &total, NULL), 0);
	t = gus_trace_open("t", NULL);
	assert_non_null(t);
	while (gus_trace_next(t, &step, NULL) > 0) {
		fprintf(f, "[%d.%d] %llx %s", (int)step.at, (int)step.window,
			(unsigned long long)gus_trace_block(t, step.block).address, how[step.next]);
		for (uint32_t i = 0; i < step.accesses_n; i++)
			fprintf(f, " (%d %s%llx+%d)", step.accesses[i].insn, step.accesses[i].store ? "w" : "",
				(unsigned long long)step.accesses[i].address, (int)step.accesses[i].size);
		fprintf(f, "\n");
	}
	fclose(f);
	assert_string_equal(text, steps);
	free(text);
	gus_trace_close(t);
	gus_steps_free(&m->s);
	gus_origins_free(&m->origins);
	for (unsigned i = 0; i < CODES; i++)
		free(m->codes[i]);
}

/* Of 24 instructions those from the fourth on, four of each ten. */
static void windows_open_and_close(void **state)
{
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 4, 4, 10 });
	for (unsigned i = 0; i < 12; i++)
		assert_true(execute(&m, PLAIN));
	assert_false(gus_steps_are_over(&m.s));
	expect(&m, "[4.0] 1000 taken\n[6.0] 1000 ?\n[14.1] 1000 taken\n[16.1] 1000 ?\n");
	begin(&m, &(struct gus_windows){ 0, 3, 0 });
	for (unsigned i = 0; i < 2; i++)
		assert_true(execute(&m, PLAIN));
	assert_true(gus_steps_are_over(&m.s));
	assert_true(execute(&m, PLAIN));
	expect(&m, "[0.0] 1000 taken\n[2.0] 1000 ?\n");
}

/* A copy with so many turns behind its first; true if all of them were executed. */
static bool copy(struct made *m, unsigned turns)
{
	assert_true(execute(m, COPIES));
	touch(m, COPIES, 1, 0x5000, false);
	touch(m, COPIES, 1, 0x6000, true);
	for (unsigned i = 1; i <= turns; i++) {
		if (!execute(m, AGAIN))
			return false;
		touch(m, AGAIN, 0, 0x5000 + 8 * i, false);
		touch(m, AGAIN, 0, 0x6000 + 8 * i, true);
	}
	return true;
}

/* They are one instruction, with two accesses; and as the first of a block, which is another one. */
static void turns_are_of_one_instruction(void **state)
{
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	assert_true(execute(&m, PLAIN));
	assert_true(copy(&m, 3));
	assert_true(execute(&m, RETURNS));
	touch(&m, RETURNS, 0, 0x7000, false);
	assert_true(execute(&m, AGAIN));
	expect(&m, "[0.0] 1000 falls\n[2.0] 1002 falls (1 5000+32) (1 w6000+32)\n[4.0] 1005 taken (0 7000+8)\n"
	       "[5.0] 1003 ?\n");
}

/* The window has four instructions, and two thousand turns do not fill it; with three at most it is over before the
 * fourth, whatever is executed then. */
static void a_window_ends_with_its_turns(void **state)
{
	const struct gus_windows four = { 0, 4, 0 };
	struct made m;

	(void)state;
	begin(&m, &four);
	assert_true(copy(&m, 2000));
	assert_false(gus_steps_are_over(&m.s));
	expect(&m, "[0.0] 1002 ? (1 5000+16008) (1 w6000+16008)\n");
	begin(&m, &four);
	m.s.turns_most = 3;
	assert_true(copy(&m, 2));
	assert_false(gus_steps_are_over(&m.s));
	assert_true(execute(&m, AGAIN));
	assert_true(gus_steps_are_over(&m.s));
	assert_false(execute(&m, AGAIN));
	expect(&m, "[0.0] 1002 ? (1 5000+24) (1 w6000+24)\n");
	begin(&m, &four);
	m.s.turns_most = 3;
	assert_true(copy(&m, 3));
	assert_false(execute(&m, RETURNS));
	expect(&m, "[0.0] 1002 ? (1 5000+32) (1 w6000+32)\n");
}

/* Steps are written in growing runs, all of them. */
static void steps_are_written_in_runs(void **state)
{
	struct made m;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	for (unsigned i = 0; i < 600; i++) {
		assert_true(execute(&m, PLAIN));
		fprintf(f, "[%u.0] 1000 %s\n", 2 * i, i < 599 ? "taken" : "?");
	}
	fclose(f);
	assert_in_range(m.s.steps.n, 1, 599);
	expect(&m, text);
	free(text);
}

/* What was not executed of the last step, with its accesses. */
static void a_step_is_taken_back(void **state)
{
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	assert_true(execute(&m, PLAIN));
	assert_true(copy(&m, 0));
	gus_steps_cut(&m.s, 0x1001, GUS_TRANSLATED_X86_64); /* is not in it */
	assert_int_equal(m.s.seen, 4);
	gus_steps_cut(&m.s, 0x1003, GUS_TRANSLATED_X86_64);
	assert_int_equal(m.s.seen, 3);
	assert_int_equal(m.s.steps.v[1].code->block.size, 1);
	free(m.s.steps.v[1].code);
	m.s.steps.v[1].code = m.codes[COPIES];
	gus_steps_cut(&m.s, 0x1002, GUS_TRANSLATED_X86_64);
	touch(&m, COPIES, 1, 0x5000, false); /* of nothing that is executed */
	expect(&m, "[0.0] 1000 ?\n");
}

/* Of a return one read, and no write; of other code nothing; and of one step so many accesses. */
static void accesses_are_believed_or_not(void **state)
{
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	assert_true(execute(&m, RETURNS));
	touch(&m, RETURNS, 0, 0x7000, true);
	touch(&m, RETURNS, 0, 0x7000, false);
	touch(&m, RETURNS, 0, 0x7100, false);
	touch(&m, PLAIN, 0, 0x7200, false);
	assert_true(execute(&m, PLAIN));
	for (unsigned i = 0; i < GUS_TRACE_STEP_ACCESSES + 5; i++)
		touch(&m, PLAIN, 1, 0x8000 + 16 * i, false);
	assert_int_equal(m.s.omitted, 5);
	assert_int_equal(m.s.steps.v[1].accesses_n, GUS_TRACE_STEP_ACCESSES);
	m.s.steps.v[1].accesses_n = 0;
	m.s.accesses.n = 1;
	expect(&m, "[0.0] 1005 taken (0 7000+8)\n[1.0] 1000 ?\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(windows_open_and_close),
		TEST(turns_are_of_one_instruction),
		TEST(a_window_ends_with_its_turns),
		TEST(steps_are_written_in_runs),
		TEST(a_step_is_taken_back),
		TEST(accesses_are_believed_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
