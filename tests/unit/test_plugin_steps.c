/* SPDX-License-Identifier: MIT */
/* tracing/plugin/steps without an emulator: which steps are in windows, turns of string instructions, pieces of an
 * access, what is taken back; and what branches are believed to access. What is executed is written, and read again. */
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

/* 1000 nop; nop      1002 nop; rep movsb      1005 ret      1003, as QEMU has it from the second turn on: rep movsb
 * 1006 nop; nop; call [rax] */
enum { PLAIN, COPIES, RETURNS, AGAIN, CALLS, CODES };
static const struct { uint64_t address; const char *bytes; uint8_t lengths[3]; uint32_t insns; } codes[CODES] = {
	{ 0x1000, "\x90\x90", { 1, 1 }, 2 }, { 0x1002, "\x90\xf3\xa4", { 1, 2 }, 2 }, { 0x1005, "\xc3", { 1 }, 1 },
	{ 0x1003, "\xf3\xa4", { 2 }, 1 }, { 0x1006, "\x90\x90\xff\x10", { 1, 1, 2 }, 3 },
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
			codes[i].lengths[0] + codes[i].lengths[1] + (uint32_t)codes[i].lengths[2] };

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

static void end(struct made *m)
{
	gus_steps_free(&m->s);
	gus_origins_free(&m->origins);
	for (unsigned i = 0; i < CODES; i++)
		free(m->codes[i]);
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
	end(m);
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

/* Outside windows they touch nothing. */
static void turns_outside_windows(void **state)
{
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 4, 2, 0 });
	assert_true(execute(&m, PLAIN));
	assert_true(copy(&m, 3));
	assert_true(execute(&m, PLAIN));
	expect(&m, "[4.0] 1000 ?\n");
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

/* Steps are written in growing runs, all of them: here of 256, of 512, and 32. */
static void steps_are_written_in_runs(void **state)
{
	struct made m;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	for (unsigned i = 0; i < 800; i++) {
		assert_true(execute(&m, PLAIN));
		fprintf(f, "[%u.0] 1000 %s\n", 2 * i, i < 799 ? "taken" : "?");
	}
	fclose(f);
	assert_int_equal(m.s.steps.n, 32);
	expect(&m, text);
	free(text);
}

/* A run ends between instructions, not between turns of one, and the next one says where it begins, whoever had it
 * written. */
static void runs_end_between_instructions(void **state)
{
	struct made m;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	for (unsigned i = 0; i < 255; i++) {
		assert_true(execute(&m, PLAIN));
		fprintf(f, "[%u.0] 1000 %s\n", 2 * i, i < 254 ? "taken" : "falls");
	}
	assert_true(copy(&m, 1));
	assert_int_equal(m.s.steps.n, 256);
	assert_true(execute(&m, RETURNS));
	assert_int_equal(m.s.steps.n, 1);
	assert_int_equal(gus_steps_write(&m.s, m.w, &m.origins, GUS_TRACE_NEXT_UNKNOWN, NULL), 0);
	assert_true(execute(&m, PLAIN));
	fprintf(f, "[510.0] 1002 falls (1 5000+16) (1 w6000+16)\n[512.0] 1005 ?\n[513.0] 1000 ?\n");
	fclose(f);
	expect(&m, text);
	free(text);
}

/* The longest run is one that a frame of a trace can hold, by steps and by accesses. */
static void runs_fit_in_frames(void **state)
{
	enum gus_trace_next last;
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	for (unsigned i = 0; i < 256 + 512 + 1024 + 2048 + 4096 + 8192 + 16384 + GUS_TRACE_STEPS_MAX; i++)
		assert_true(execute(&m, PLAIN));
	assert_int_equal(m.s.steps.n, GUS_TRACE_STEPS_MAX);
	assert_true(execute(&m, PLAIN));
	assert_int_equal(m.s.steps.n, 1);
	assert_int_equal(m.s.most, GUS_TRACE_STEPS_MAX);
	for (unsigned i = 0; i < GUS_TRACE_ACCESSES_MAX / GUS_TRACE_STEP_ACCESSES; i++) {
		assert_false(gus_steps_due(&m.s, m.codes[PLAIN], &last));
		assert_true(execute(&m, PLAIN));
		for (unsigned k = 0; k < GUS_TRACE_STEP_ACCESSES; k++)
			touch(&m, PLAIN, 1, 0x8000 + 16 * k, false);
	}
	assert_int_equal(m.s.accesses.n, GUS_TRACE_ACCESSES_MAX);
	assert_true(gus_steps_due(&m.s, m.codes[PLAIN], &last));
	assert_int_equal(m.s.omitted, 0);
	gus_trace_writer_abandon(m.w);
	end(&m);
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
	assert_ptr_equal(m.s.steps.v[1].code, m.codes[COPIES]);
	gus_steps_cut(&m.s, 0x1003, GUS_TRANSLATED_X86_64);
	assert_int_equal(m.s.seen, 3);
	assert_int_equal(m.s.steps.v[1].code->block.size, 1);
	free(m.s.steps.v[1].code);
	m.s.steps.v[1].code = m.codes[COPIES];
	gus_steps_cut(&m.s, 0x1002, GUS_TRANSLATED_X86_64);
	touch(&m, COPIES, 1, 0x5000, false); /* of nothing that is executed */
	expect(&m, "[0.0] 1000 ?\n");
}

/* Of three instructions the first two are left, or none, and the step before keeps what it has. */
static void accesses_are_taken_back(void **state)
{
	static const struct { uint64_t from; const char *left; } cases[] = {
		{ 0x1008, "[0.0] 1006 taken (0 5000+8) (1 6000+8) (2 7000+8)\n"
			  "[3.0] 1006 ? (0 5000+8) (1 6000+8)\n" },
		{ 0x1006, "[0.0] 1006 ? (0 5000+8) (1 6000+8) (2 7000+8)\n" },
	};
	struct made m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_translated *part = NULL;

		begin(&m, &(struct gus_windows){ 0, 0, 0 });
		gus_steps_cut(&m.s, cases[i].from, GUS_TRANSLATED_X86_64); /* of nothing */
		for (unsigned k = 0; k < 2; k++) {
			assert_true(execute(&m, CALLS));
			for (unsigned insn = 0; insn < 3; insn++)
				touch(&m, CALLS, insn, 0x5000 + 0x1000 * insn, false);
		}
		gus_steps_cut(&m.s, cases[i].from, GUS_TRANSLATED_X86_64);
		if (m.s.steps.n == 2)
			part = m.s.steps.v[1].code;
		expect(&m, cases[i].left);
		free(part);
	}
}

/* A block whose instructions are not as long as it is. */
static void what_cannot_be_written(void **state)
{
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	assert_true(execute(&m, PLAIN));
	assert_true(execute(&m, RETURNS));
	m.codes[PLAIN]->block.size = 3;
	assert_int_equal(gus_steps_write(&m.s, m.w, &m.origins, GUS_TRACE_NEXT_UNKNOWN, NULL), -1);
	assert_int_equal(m.s.steps.n, 0);
	gus_trace_writer_abandon(m.w);
	end(&m);
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

/* What lies behind an access is of the same one, if it is of the same instruction and kind, and at most three others
 * were since: these may be pieces of a string instruction. */
static void pieces_are_joined(void **state)
{
	static const struct { unsigned insn; uint64_t address; bool store; } pieces[] = {
		{ 0, 0x5000, false }, { 1, 0x6000, false },
		{ 1, 0x5008, false },   /* is behind what the other instruction has */
		{ 1, 0x7000, false }, { 1, 0x8000, false }, { 1, 0x9000, false },
		{ 1, 0x5010, false },   /* behind the fourth from the end */
		{ 1, 0x6008, false },   /* the fifth */
		{ 1, 0x5018, true },
	};
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	assert_true(execute(&m, PLAIN));
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
		touch(&m, PLAIN, pieces[i].insn, pieces[i].address, pieces[i].store);
	expect(&m, "[0.0] 1000 ? (0 5000+8) (1 6000+8) (1 5008+16) (1 7000+8) (1 8000+8) (1 9000+8) (1 6008+8) "
	       "(1 w5018+8)\n");
}

/* An access is as large as a trace can say. */
static void pieces_have_a_size(void **state)
{
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	assert_true(execute(&m, PLAIN));
	gus_steps_access(&m.s, &m.codes[PLAIN]->insns[0], 0, UINT32_MAX - 8, true);
	touch(&m, PLAIN, 0, UINT32_MAX - 8, true);
	assert_int_equal(m.s.accesses.n, 1);
	assert_int_equal(m.s.accesses.v[0].size, UINT32_MAX);
	touch(&m, PLAIN, 0, UINT32_MAX, true);
	assert_int_equal(m.s.accesses.n, 2);
	assert_int_equal(m.s.accesses.v[1].size, 8);
	m.s.steps.n = 0;
	expect(&m, "");
}

/* Of a call through memory one read and one write, whatever its block has accessed before. */
static void a_call_reads_and_writes_once(void **state)
{
	struct made m;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	assert_true(execute(&m, CALLS));
	touch(&m, CALLS, 0, 0x5000, false);
	touch(&m, CALLS, 2, 0x6000, false);
	touch(&m, CALLS, 2, 0x7000, true);
	touch(&m, CALLS, 2, 0x8000, false);
	touch(&m, CALLS, 2, 0x9000, true);
	expect(&m, "[0.0] 1006 ? (0 5000+8) (2 6000+8) (2 w7000+8)\n");
}

/* Where code is from is told before its first block, also if only a part of that was executed. */
static void blocks_have_origins(void **state)
{
	const Gusprof__Record *const *records;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_trace_step step;
	struct gus_trace *t;
	struct made m;
	size_t n;

	(void)state;
	begin(&m, &(struct gus_windows){ 0, 0, 0 });
	gus_origins_update(&m.origins, "1000-2000 r--p 00000000 fe:00 11 /bin/program\n");
	m.codes[COPIES]->origin = gus_origins_find(&m.origins, 0x1002, 0x1002);
	assert_non_null(m.codes[COPIES]->origin);
	assert_true(execute(&m, PLAIN));
	assert_true(execute(&m, COPIES));
	gus_steps_cut(&m.s, 0x1003, GUS_TRANSLATED_X86_64);
	free(m.codes[COPIES]);
	m.codes[COPIES] = m.s.steps.v[1].code;
	assert_int_equal(gus_steps_write(&m.s, m.w, &m.origins, GUS_TRACE_NEXT_UNKNOWN, NULL), 0);
	assert_int_equal(gus_trace_writer_finish(m.w, &total, NULL), 0);
	t = gus_trace_open("t", NULL);
	assert_non_null(t);
	while (gus_trace_next(t, &step, NULL) > 0)
		;
	assert_int_equal(gus_trace_blocks(t), 2);
	records = gus_trace_records(t, &n);
	assert_int_equal(n, 1);
	assert_int_equal(records[0]->mmap->time, 1); /* of the second block on */
	assert_string_equal(records[0]->mmap->path, "/bin/program");
	gus_trace_close(t);
	end(&m);
}

/* A call or jump has at most the accesses that it can have; of what is no near branch any is believed. */
static void what_branches_can_access(void **state)
{
	enum { NONE, R = GUS_BELIEVE_READ, W = GUS_BELIEVE_WRITE, ANY = GUS_BELIEVE_ALL,
		X64 = GUS_TRANSLATED_X86_64, X32 = GUS_TRANSLATED_X86_32, ARM = GUS_TRANSLATED_ARM64 };
	static const struct { int isa; const char *bytes, *text; int believed; } cases[] = {
		{ X64, "c3", "ret", R }, { X64, "c2 08 00", "ret 8", R }, { X64, "f3 c3", "repz ret", R },
		{ X64, "e8 00 00 00 00", "call +0", W }, { X64, "f2 e8 00 00 00 00", "bnd call +0", W },
		{ X64, "e9 00 00 00 00", "jmp +0", NONE }, { X64, "eb 00", "jmp +0", NONE },
		{ X64, "70 00", "jo +0", NONE }, { X64, "7f 00", "jg +0", NONE }, { X64, "3e 75 00", "jnz +0", NONE },
		{ X64, "e0 00", "loopne +0", NONE }, { X64, "e3 00", "jrcxz +0", NONE },
		{ X64, "0f 80 00 00 00 00", "jo +0", NONE }, { X64, "0f 8f 00 00 00 00", "jg +0", NONE },
		{ X64, "0f 05", "syscall", NONE },
		{ X64, "ff d0", "call rax", W }, { X64, "41 ff d3", "call r11", W },
		{ X64, "ff 10", "call [rax]", R | W }, { X64, "ff 50 08", "call [rax+8]", R | W },
		{ X64, "ff 90 00 10 00 00", "call [rax+1000h]", R | W },
		{ X64, "ff e0", "jmp rax", NONE }, { X64, "41 ff e3", "jmp r11", NONE },
		{ X64, "3e ff e0", "notrack jmp rax", NONE }, { X64, "ff 20", "jmp [rax]", R },
		{ X64, "ff 64 c8 10", "jmp [rax+rcx*8+16]", R },
		{ X64, "f2 ff 25 00 00 00 00", "bnd jmp [rip]", R },
		{ X64, "ff 18", "call far [rax]", ANY }, { X64, "ff 28", "jmp far [rax]", ANY },
		{ X64, "ff 30", "push [rax]", ANY }, { X64, "ff c0", "inc eax", ANY },
		{ X64, "ff 08", "dec [rax]", ANY },
		{ X64, "0f 7f 00", "movq [rax], mm0", ANY }, { X64, "0f 90 00", "seto [rax]", ANY },
		{ X64, "0f 06", "clts", ANY }, { X64, "48 89 03", "mov [rbx], rax", ANY },
		{ X64, "c9", "leave", ANY }, { X64, "c8 00 00 00", "enter 0, 0", ANY },
		{ X64, "6f", "outsd", ANY }, { X64, "e4 00", "in al, 0", ANY },
		{ X32, "c3", "ret", R }, { X32, "ff e0", "jmp eax", NONE }, { X32, "41", "inc ecx", ANY },
		{ ARM, "00 00 00 14", "b +0", NONE }, { ARM, "ff ff ff 97", "bl -4", NONE },
		{ ARM, "00 00 00 54", "b.eq +0", NONE }, { ARM, "00 00 00 34", "cbz w0, +0", NONE },
		{ ARM, "00 00 00 b5", "cbnz x0, +0", NONE }, { ARM, "00 00 00 36", "tbz w0, #0, +0", NONE },
		{ ARM, "00 00 00 b7", "tbnz x0, #32, +0", NONE }, { ARM, "00 00 1f d6", "br x0", NONE },
		{ ARM, "00 00 3f d6", "blr x0", NONE }, { ARM, "c0 03 5f d6", "ret", NONE },
		{ ARM, "00 00 00 10", "adr x0, +0", ANY }, { ARM, "00 00 00 18", "ldr w0, +0", ANY },
		{ ARM, "00 00 80 52", "mov w0, #0", ANY }, { ARM, "00 00 00 32", "orr w0, w0, #1", ANY },
		{ ARM, "00 04 40 38", "ldrb w0, [x0], #0", ANY }, { ARM, "01 00 00 d4", "svc #0", ANY },
		{ ARM, "00 00 00 d8", "prfm pldl1keep, +0", ANY },
		{ ARM, "fd 7b bf a9", "stp x29, x30, [sp, #-16]!", ANY },
		{ GUS_TRANSLATED_OTHER, "c3", "ret, to others", ANY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t bytes[16];
		uint32_t size = 0;

		for (const char *hex = cases[i].bytes; *hex; hex += hex[2] ? 3 : 2)
			bytes[size++] = (uint8_t)strtoul(hex, NULL, 16);
		print_message("%s: %s\n", cases[i].bytes, cases[i].text);
		assert_int_equal(gus_believe_of((enum gus_translated_isa)cases[i].isa, bytes, size), cases[i].believed);
	}
}

/* Nothing is read behind an instruction, which would be a return, a system call, and a jump. */
static void what_is_cut_is_no_branch(void **state)
{
	static const struct { const char *bytes; uint32_t size; } cases[] = {
		{ "\xc3", 0 }, { "\xf3\xc3", 1 }, { "\x41\xc3", 1 }, { "\x0f\x05", 1 }, { "\xff\xe0", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(gus_believe_of(GUS_TRANSLATED_X86_64, (const uint8_t *)cases[i].bytes, cases[i].size),
				 GUS_BELIEVE_ALL);
	assert_int_equal(gus_believe_of(GUS_TRANSLATED_ARM64, (const uint8_t *)"\x00\x00\x00\x14", 3),
			 GUS_BELIEVE_ALL);
}

/* They are executed once for each turn: those that a prefix repeats. */
static void what_is_repeated(void **state)
{
	static const struct { enum gus_translated_isa isa; const char *bytes; uint32_t size; bool repeats; } cases[] = {
		{ GUS_TRANSLATED_X86_64, "\xf3\xa4", 2, true },             /* rep movsb */
		{ GUS_TRANSLATED_X86_64, "\xf3\x48\xa5", 3, true },         /* rep movsq */
		{ GUS_TRANSLATED_X86_64, "\xf2\xae", 2, true },             /* repne scasb */
		{ GUS_TRANSLATED_X86_64, "\xf3\x67\xa6", 3, true },         /* rep cmpsb, of 32-bit addresses */
		{ GUS_TRANSLATED_X86_64, "\xf3\xaa", 2, true },             /* rep stosb */
		{ GUS_TRANSLATED_X86_64, "\xf3\xaf", 2, true },             /* repe scasd */
		{ GUS_TRANSLATED_X86_64, "\xf3\x6c", 2, true },             /* rep insb */
		{ GUS_TRANSLATED_X86_64, "\xf3\x6f", 2, true },             /* rep outsd */
		{ GUS_TRANSLATED_X86_32, "\xf3\xa4", 2, true },
		{ GUS_TRANSLATED_X86_64, "\xa4", 1, false },                /* movsb */
		{ GUS_TRANSLATED_X86_64, "\x66\xa5", 2, false },            /* movsw */
		{ GUS_TRANSLATED_X86_64, "\xf3\xc3", 2, false },            /* repz ret */
		{ GUS_TRANSLATED_X86_64, "\xf3\x90", 2, false },            /* pause */
		{ GUS_TRANSLATED_X86_64, "\xf3\xa8\x00", 3, false },        /* test al, 0 */
		{ GUS_TRANSLATED_X86_64, "\xf3\x0f\xae\xe8", 4, false },    /* incsspd eax */
		{ GUS_TRANSLATED_ARM64, "\xf3\xa4", 2, false },
		{ GUS_TRANSLATED_OTHER, "\xf3\xa4", 2, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint8_t length = (uint8_t)cases[i].size;
		const struct gus_trace_block block = { 0x1000, &length, (const uint8_t *)cases[i].bytes, 1, length };
		struct gus_translated *code = gus_translated_new(&block, cases[i].isa);

		assert_int_equal(code->repeats, cases[i].repeats);
		assert_int_equal(code->last, 0x1000);
		free(code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(windows_open_and_close),
		TEST(turns_are_of_one_instruction),
		TEST(turns_outside_windows),
		TEST(a_window_ends_with_its_turns),
		TEST(steps_are_written_in_runs),
		TEST(runs_end_between_instructions),
		TEST(runs_fit_in_frames),
		TEST(a_step_is_taken_back),
		TEST(accesses_are_taken_back),
		TEST(what_cannot_be_written),
		TEST(accesses_are_believed_or_not),
		TEST(pieces_are_joined),
		TEST(pieces_have_a_size),
		TEST(a_call_reads_and_writes_once),
		TEST(blocks_have_origins),
		cmocka_unit_test(what_branches_can_access),
		cmocka_unit_test(what_is_cut_is_no_branch),
		cmocka_unit_test(what_is_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
