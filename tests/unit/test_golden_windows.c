/* SPDX-License-Identifier: MIT */
/* Windows of traces of golden runs: when they begin, and that they are pieces of the trace as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "proto/trace.h"
#include "tests/accuracy/golden/stages.h"
#include "tests/accuracy/golden/stages_trace.h"
#include "tests/accuracy/golden/windows.h"

enum { BLOCKS = 8, INSNS = 4, BASE = 0x1000, LOAD = 0x100000 };

struct made {
	char folder[32], *trace, *windows;
	struct gus_trace_writer *w;
	uint64_t at[3];                 /* of each stream */
};

static void mapping(struct gus_trace_writer *w, uint64_t start, char *path)
{
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	Gusprof__Record record = GUSPROF__RECORD__INIT, *list[] = { &record };
	Gusprof__Mmap mmap = GUSPROF__MMAP__INIT;

	mmap.start = start;
	mmap.length = 0x1000;
	mmap.path = path;
	mmap.time = gus_trace_writer_blocks(w);
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &mmap;
	sideband.records = list;
	sideband.n_records = 1;
	assert_int_equal(gus_trace_writer_records(w, &sideband, NULL), 0);
}

/* Blocks of four NOPs; from the sixth on something else is mapped there. */
static void begin(struct made *m)
{
	static const uint8_t lengths[INSNS] = { 1, 1, 1, 1 }, bytes[INSNS] = { 0x90, 0x90, 0x90, 0x90 };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	uint32_t number;

	*m = (struct made){ .folder = "golden-windows.XXXXXX" };
	assert_non_null(mkdtemp(m->folder));
	m->trace = gus_format("%s/trace", m->folder);
	m->windows = gus_format("%s/windows", m->folder);
	about.front_end = (char *)(uintptr_t)"test";
	about.target = (char *)(uintptr_t)"x86_64";
	m->w = gus_trace_writer_create(m->trace, &header, &about, NULL);
	assert_non_null(m->w);
	mapping(m->w, BASE, (char *)(uintptr_t)"before");
	for (uint32_t i = 0; i < BLOCKS; i++) {
		if (i == 5)
			mapping(m->w, BASE, (char *)(uintptr_t)"behind");
		assert_int_equal(gus_trace_writer_block(m->w, &(struct gus_trace_block){ BASE + 16 * i, lengths, bytes,
							INSNS, INSNS }, &number, NULL), 0);
		assert_int_equal(number, i);
	}
}

/* As many steps of a stream, each with a load from a place of its own. */
static void go(struct made *m, uint32_t stream, uint64_t window, uint32_t block, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++) {
		const struct gus_trace_raw step = { block, 1 };
		const struct gus_trace_access load = { .address = LOAD + 16 * m->at[stream], .size = 8, .insn = 1 };
		const struct gus_trace_run run = { stream, window, m->at[stream], &step, &load, 1,
						   GUS_TRACE_NEXT_UNKNOWN };

		assert_int_equal(gus_trace_writer_steps(m->w, &run, NULL), 0);
		m->at[stream] += INSNS;
	}
}

static int make(struct made *m, struct golden_windows_options *o, struct gus_error *err)
{
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;

	if (m->w)
		assert_int_equal(gus_trace_writer_finish(m->w, &total, NULL), 0);
	m->w = NULL;
	o->trace = m->trace;
	o->path = m->windows;
	return golden_windows_write(o, err);
}

static void end(struct made *m)
{
	unlink(m->trace);
	unlink(m->windows);
	assert_int_equal(rmdir(m->folder), 0);
	free(m->trace);
	free(m->windows);
}

/* What is in a window, of which each step has its own load, and follows the one before it. */
struct found { uint64_t stream, window, at, instructions, address; };

static size_t read_windows(const struct made *m, struct found *found, size_t most)
{
	struct gus_trace *t = gus_trace_open(m->windows, NULL);
	struct gus_trace_step step;
	size_t n = 0;
	int more;

	assert_non_null(t);
	assert_string_equal(gus_trace_about(t)->target, "x86_64");
	while ((more = gus_trace_next(t, &step, NULL)) > 0) {
		struct found *f = n ? &found[n - 1] : NULL;

		if (!f || f->stream != step.stream || f->window != step.window) {
			assert_true(n < most);
			f = &found[n++];
			*f = (struct found){ step.stream, step.window, step.at, 0,
					     gus_trace_block(t, step.block).address };
		}
		assert_int_equal(step.at, f->at + f->instructions);
		assert_int_equal(step.accesses_n, 1);
		assert_int_equal(step.accesses[0].address, LOAD + 16 * step.at);
		f->instructions += gus_trace_block(t, step.block).insns;
	}
	assert_int_equal(more, 0);
	gus_trace_close(t);
	return n;
}

/* Moments: nine tenths of the cycles are in the first tenth of the instructions. */
static void they_begin_where_the_time_is(void **state)
{
	enum { TICKS = 100, WINDOWS = 20, LENGTH = 100 };
	struct golden_clocks clocks = { .threads = { 0 } };
	struct golden_windows_options o = { .clocks = &clocks, .n = WINDOWS, .length = LENGTH, .seed = 1 };
	struct golden_clock *c = golden_clocks_of(&clocks, 0);
	struct found found[WINDOWS];
	unsigned early = 0;
	struct made m;

	(void)state;
	begin(&m);
	go(&m, 0, 0, 3, 10000); /* 40,000 instructions */
	for (uint64_t i = 0; i < TICKS * (uint64_t)GOLDEN_WINDOWS_TICK; i++) {
		if (i % GOLDEN_WINDOWS_TICK == 0)
			c->instructions = i / GOLDEN_WINDOWS_TICK < 90 ? i / GOLDEN_WINDOWS_TICK * 4000 / 90 :
				4000 + (i / GOLDEN_WINDOWS_TICK - 90) * 3600;
		golden_clock_cycle(c);
	}
	assert_int_equal(c->at.n, TICKS);
	assert_int_equal(make(&m, &o, NULL), 0);
	assert_int_equal(read_windows(&m, found, WINDOWS), WINDOWS);
	for (size_t i = 0; i < WINDOWS; i++) {
		assert_int_equal(found[i].window, i);
		assert_int_equal(found[i].instructions, LENGTH);
		early += found[i].at < 4000;
	}
	assert_int_equal(early, 18);
	golden_clocks_free(&clocks);
	end(&m);
}

/* Without clocks; threads have their part of the windows, and the same seed the same ones. */
static void they_are_even_over_instructions(void **state)
{
	enum { WINDOWS = 8, LENGTH = 1000 };
	struct golden_windows_options o = { .n = WINDOWS, .length = LENGTH, .seed = 5 };
	struct found found[WINDOWS], again[WINDOWS], other[WINDOWS];
	unsigned second = 0;
	struct made m;

	(void)state;
	begin(&m);
	for (unsigned i = 0; i < 30; i++) { /* 3 of 4 instructions are the second's */
		go(&m, 1, 0, 1, 4000);
		go(&m, 2, 0, 6, 12000);
	}
	assert_int_equal(make(&m, &o, NULL), 0);
	assert_int_equal(read_windows(&m, found, WINDOWS), WINDOWS);
	for (size_t i = 0; i < WINDOWS; i++) {
		assert_int_equal(found[i].instructions, LENGTH);
		assert_int_equal(found[i].address, found[i].stream ? BASE + 16 * 6 : BASE + 16);
		second += found[i].stream;
	}
	assert_int_equal(second, 6);
	assert_int_equal(make(&m, &o, NULL), 0);
	assert_int_equal(read_windows(&m, again, WINDOWS), WINDOWS);
	assert_memory_equal(found, again, sizeof(found));
	o.seed = 6;
	assert_int_equal(make(&m, &o, NULL), 0);
	assert_int_equal(read_windows(&m, other, WINDOWS), WINDOWS);
	assert_memory_not_equal(found, other, sizeof(found));
	end(&m);
}

/* A trace that is shorter than its windows: each instruction is in one of them, from where the first begins. */
static void none_has_what_another_has(void **state)
{
	enum { WINDOWS = 4, LENGTH = 1001 };
	struct golden_windows_options o = { .n = WINDOWS, .length = LENGTH, .seed = 1 };
	struct found found[WINDOWS];
	struct made m;
	size_t n;

	(void)state;
	begin(&m);
	go(&m, 0, 0, 2, 500); /* 2,000 instructions: all moments are in the first tick */
	assert_int_equal(make(&m, &o, NULL), 0);
	n = read_windows(&m, found, WINDOWS);
	assert_int_equal(n, 2);
	assert_int_equal(found[0].at, 0);
	assert_int_equal(found[0].instructions, 1004); /* to the end of a block */
	assert_int_equal(found[1].at, 1004);
	assert_int_equal(found[1].instructions, 996);
	end(&m);
}

/* A gap of the trace is none of a window. */
static void none_goes_over_a_gap(void **state)
{
	struct golden_windows_options o = { .n = 1, .length = 4000, .seed = 1 };
	struct found found[2];
	struct made m;

	(void)state;
	begin(&m);
	go(&m, 0, 0, 2, 100);
	m.at[0] += 4000;
	go(&m, 0, 1, 3, 800);
	assert_int_equal(make(&m, &o, NULL), 0);
	assert_int_equal(read_windows(&m, found, 2), 1);
	assert_int_equal(found[0].instructions, 400);
	end(&m);
}

/* Of blocks those of windows alone, and of each the mapping that it had. */
static void blocks_are_from_where_they_were(void **state)
{
	static const uint64_t addresses[] = { BASE + 64, BASE + 80, BASE + 112 };
	struct golden_windows_options o = { .n = 1, .length = 100000, .seed = 1 };
	struct gus_trace_step step;
	const Gusprof__Record *const *records;
	struct gus_trace *t;
	struct made m;
	size_t n;

	(void)state;
	begin(&m);
	go(&m, 0, 0, 7, 10);
	go(&m, 0, 0, 4, 10);
	go(&m, 0, 0, 5, 10);
	assert_int_equal(make(&m, &o, NULL), 0);
	t = gus_trace_open(m.windows, NULL);
	assert_non_null(t);
	while (gus_trace_next(t, &step, NULL) > 0)
		;
	assert_int_equal(gus_trace_blocks(t), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(gus_trace_block(t, i).address, addresses[i]);
	records = gus_trace_records(t, &n);
	assert_int_equal(n, 2);
	assert_string_equal(records[0]->mmap->path, "before");
	assert_int_equal(records[0]->mmap->time, 0);
	assert_string_equal(records[1]->mmap->path, "behind");
	assert_int_equal(records[1]->mmap->time, 1);
	gus_trace_close(t);
	end(&m);
}

static void nothing_has_no_windows(void **state)
{
	struct golden_windows_options o = { .seed = 1 };
	struct gus_error err = { 0 };
	struct made m;

	(void)state;
	begin(&m);
	assert_int_equal(make(&m, &o, &err), -1);
	assert_non_null(strstr(err.text, "has no instruction"));
	assert_int_equal(access(m.windows, F_OK), -1);
	end(&m);
}

/* Stages: add rdi, [rsi+8] and a store, two micro-ops each; a branch back to the first. A mnemonic is no byte, although
 * "add" reads like one; and long instructions have two lines. */

#define TABS "0\t1\t2\t3\t4\t5\t6\t7\t"
static const char stages_text[] = "# cycles 20\n"
	"0\t1000\t0\t0\t" TABS "-\t0\t-\t-\t1\t-\t5000:8\n" "1\t1000\t1\t1\t" TABS "-\t0\t-\t-\t-\t-\t-\n"
	"2\t1004\t0\t2\t" TABS "-\t0\t-\t-\t-\t-\t-\n" "3\t1004\t1\t3\t" TABS "8\t0\t-\t-\t1\t-\t6000:4\n"
	"4\t1011\t0\t4\t" TABS "-\t0\t-\t-\t-\t-\t-\n" "5\t1000\t0\t0\t" TABS "-\t0\t-\t-\t1\t-\t5010:8\n";
static const char dict_text[] = "0\t1000\t0\tload\tx\n1\t1000\t1\tlast\tx\n2\t1004\t0\t-\tx\n"
	"3\t1004\t1\tstore,last\tx\n4\t1011\t0\tctrl,last\tx\n";
static const char code_text[] = "\nx:     file format\n\n0000000000001000 <f>:\n"
	"    1000:\t48 03 7e 08          \tadd    0x8(%rsi),%rdi\n"
	"    1004:\t48 c7 84 24 00 01 00 \tmovq   $0x5,0x100(%rsp)\n    100b:\t00 05 00 00 00 00 \n"
	"    1011:\t73 ed                \tjae    1000 <f>\n";

static int trace_stages(const struct made *m, const char *code, struct gus_error *err)
{
	FILE *f = fmemopen((void *)(uintptr_t)stages_text, sizeof(stages_text) - 1, "r");
	FILE *dict = fmemopen((void *)(uintptr_t)dict_text, sizeof(dict_text) - 1, "r");
	FILE *text = fmemopen((void *)(uintptr_t)code, strlen(code), "r");
	struct golden_stages s;
	int rc;

	assert_int_equal(golden_stages_read(&s, f, dict, 0, err), 0);
	rc = golden_stages_trace(&s, text, m->windows, err);
	golden_stages_free(&s);
	fclose(f);
	fclose(dict);
	fclose(text);
	return rc;
}

static void stages_are_instructions(void **state)
{
	static const uint8_t bytes[] = { 0x48, 3, 0x7e, 8, 0x48, 0xc7, 0x84, 0x24, 0, 1, 0, 0, 5, 0, 0, 0, 0,
					 0x73, 0xed };
	struct gus_trace_step step;
	struct gus_trace_block block;
	struct gus_error err = { 0 };
	struct gus_trace *t;
	struct made m;

	(void)state;
	begin(&m);
	gus_trace_writer_abandon(m.w);
	assert_int_equal(trace_stages(&m, code_text, &err), 0);
	t = gus_trace_open(m.windows, &err);
	assert_non_null(t);
	assert_int_equal(gus_trace_next(t, &step, &err), 1);
	block = gus_trace_block(t, step.block);
	assert_int_equal(block.address, 0x1000);
	assert_int_equal(block.insns, 3);
	assert_int_equal(block.size, sizeof(bytes));
	assert_memory_equal(block.bytes, bytes, sizeof(bytes));
	assert_int_equal(step.next, GUS_TRACE_NEXT_TAKEN);
	assert_int_equal(step.accesses_n, 2);
	assert_int_equal(step.accesses[0].address, 0x5000);
	assert_int_equal(step.accesses[0].insn, 0);
	assert_false(step.accesses[0].store);
	assert_int_equal(step.accesses[1].address, 0x6000);
	assert_int_equal(step.accesses[1].size, 4);
	assert_int_equal(step.accesses[1].insn, 1);
	assert_true(step.accesses[1].store);
	assert_int_equal(gus_trace_next(t, &step, &err), 1);
	assert_int_equal(gus_trace_block(t, step.block).insns, 1);
	assert_int_equal(step.accesses[0].address, 0x5010);
	assert_int_equal(gus_trace_next(t, &step, &err), 0);
	gus_trace_close(t);
	assert_int_equal(trace_stages(&m, "    1000:\t48 03 7e 08          \tadd    0x8(%rsi),%rdi\n", &err), -1);
	assert_non_null(strstr(err.text, "0x1004 is not in the disassembly"));
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_begin_where_the_time_is),
		cmocka_unit_test(they_are_even_over_instructions),
		cmocka_unit_test(none_has_what_another_has),
		cmocka_unit_test(none_goes_over_a_gap),
		cmocka_unit_test(blocks_are_from_where_they_were),
		cmocka_unit_test(nothing_has_no_windows),
		cmocka_unit_test(stages_are_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
