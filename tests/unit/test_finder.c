/* SPDX-License-Identifier: MIT */
/* attribution/traced/finder: which instruction of a trace a place of a recording is. Nobody knows what file the code is
 * from, which two processes have made at the same address; a second block is the end of the first one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/traced/finder.h"
#include "made_trace.h"
#include "model/code/program.h"
#include "proto/sample.h"
#include "symbolizer/space/space.h"

enum { TEXT = 0x7000, INSNS = 4, ONE = 10, OTHER = 11, TOLD = 12 };
static const uint8_t code[] = { 0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01, 0xd1, 0x48, 0xff, 0xce, 0x90 };
static const uint8_t lengths[] = { 4, 3, 3, 1 }, begins[] = { 0, 4, 7, 10 };

struct made { struct made_model s; struct gus_space *space; struct gus_finder *finder; };

/* All of it is executed so often, and its end, from the second instruction on. */
static void run(struct made *m, uint32_t pid, unsigned whole, unsigned end)
{
	struct made_trace t;
	uint32_t both[2];

	made_trace_begin(&t, "x86_64");
	both[0] = made_trace_block(&t, TEXT, code, lengths, sizeof(code), INSNS);
	both[1] = made_trace_block(&t, TEXT + 4, code + 4, lengths + 1, sizeof(code) - 4, INSNS - 1);
	for (unsigned i = 0; i < whole + end; i++)
		made_trace_step(&t, both[i >= whole], 0);
	made_trace_flush(&t, 0);
	gus_traced_moment(&m->s.t, pid, 1000);
	made_model_read(&m->s, made_trace_end(&t));
}

/* From some time on a process has told of code of its own there. */
static void tell(struct gus_space *s, uint32_t pid, uint64_t time)
{
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	Gusprof__Jit jit = GUSPROF__JIT__INIT;

	jit.time = time;
	jit.pid = pid;
	jit.address = TEXT;
	jit.size = 0x100;
	jit.path = (char *)(uintptr_t)"[jit:12]";
	jit.offset = 0x50;
	r.kind_case = GUSPROF__RECORD__KIND_JIT;
	r.jit = &jit;
	gus_space_add(s, &r);
}

static int setup(void **state)
{
	struct made *m = gus_zalloc(sizeof(*m));

	made_model_begin(&m->s);
	gus_traced_open(&m->s.t, &m->s.options);
	m->space = gus_space_new();
	tell(m->space, TOLD, 500);
	gus_space_ready(m->space);
	*state = m;
	return 0;
}

static void end(struct made *m)
{
	made_model_end(&m->s);
	m->finder = gus_finder_new(&m->s.t, m->space);
}

static int teardown(void **state)
{
	struct made *m = *state;

	gus_finder_free(m->finder);
	gus_space_free(m->space);
	made_model_free(&m->s);
	free(m);
	return 0;
}

static bool at(struct made *m, uint32_t pid, uint64_t time, uint64_t address, struct gus_found *found)
{
	struct gus_place place = gus_space_find(m->space, pid, time, address, GUS_MODE_USER);

	return gus_finder_at(m->finder, &place, pid, found);
}

/* Blocks, by instruction: each is there, at its own address and nowhere else. */
static void expect(struct made *m, uint32_t pid, const uint32_t *blocks)
{
	struct gus_found found;

	for (uint32_t i = 0; i < INSNS; i++) {
		assert_true(at(m, pid, 1000, TEXT + begins[i], &found));
		assert_int_equal(found.block, blocks[i]);
		assert_int_equal(m->s.t.program->insns[found.insn].offset, TEXT + begins[i]);
		assert_true(found.insn >= m->s.t.blocks.v[found.block].insn);
		assert_true(found.insn - m->s.t.blocks.v[found.block].insn < m->s.t.blocks.v[found.block].insns_n);
	}
	assert_false(at(m, pid, 1000, TEXT + 1, &found));
	assert_false(at(m, pid, 1000, TEXT - 1, &found));
	assert_false(at(m, pid, 1000, TEXT + sizeof(code), &found));
}

/* An instruction is of the block that executed it most often, wherever that stands. What a process has executed says
 * nothing of another. */
static void of_processes(void **state)
{
	struct made *m = *state;
	struct gus_found found;

	run(m, ONE, 5, 9);
	run(m, OTHER, 9, 5);
	end(m);
	expect(m, ONE, (const uint32_t[]){ 0, 1, 1, 1 });
	expect(m, OTHER, (const uint32_t[]){ 2, 2, 2, 2 });
	assert_false(at(m, TOLD, 100, TEXT, &found));
}

/* A block that was never executed is of no sample. */
static void never_executed(void **state)
{
	struct made *m = *state;

	run(m, ONE, 3, 0);
	end(m);
	expect(m, ONE, (const uint32_t[]){ 0, 0, 0, 0 });
}

/* Code that its process has told of is what it was at the time of the trace, whoever runs it; what was there before is
 * not known. */
static void of_code_that_was_told(void **state)
{
	struct made *m = *state;
	struct gus_found found;
	struct gus_place place;

	run(m, TOLD, 2, 7);
	end(m);
	expect(m, TOLD, (const uint32_t[]){ 0, 1, 1, 1 });
	place = gus_space_find(m->space, TOLD, 1000, TEXT, GUS_MODE_USER);
	assert_int_equal(place.offset, 0x50);
	assert_true(gus_finder_at(m->finder, &place, ONE, &found));
	assert_false(at(m, TOLD, 100, TEXT, &found));
}

/* Whose memory the trace is of has to be known. */
static void of_nobody(void **state)
{
	struct made *m = *state;
	struct gus_found found;

	run(m, 0, 2, 2);
	end(m);
	assert_false(at(m, 0, 1000, TEXT, &found));
	assert_false(at(m, ONE, 1000, TEXT, &found));
	gus_finder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_processes, setup, teardown),
		cmocka_unit_test_setup_teardown(never_executed, setup, teardown),
		cmocka_unit_test_setup_teardown(of_code_that_was_told, setup, teardown),
		cmocka_unit_test_setup_teardown(of_nobody, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
