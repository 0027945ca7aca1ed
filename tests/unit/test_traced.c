/* SPDX-License-Identifier: MIT */
/* attribution/traced, fed by traces that are written here: what was executed, touched and mispredicted is known by
 * argument, and what is modelled of it adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>

#include "attribution/traced/traced.h"
#include "base/error.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/machine/hooks.h"
#include "model/machine/steps.h"
#include "model/oracles/cache.h"
#include "tests/unit/made_trace.h"

/* add rax, [rsi]; add rsi, 64; dec rcx; jnz back: a load in each turn; and nop; ret. */
static const uint8_t loop[] = { 0x48, 0x03, 0x06, 0x48, 0x83, 0xc6, 0x40, 0x48, 0xff, 0xc9, 0x75, 0xf4 };
static const uint8_t loop_lengths[] = { 3, 4, 3, 2 };
static const uint8_t leave[] = { 0x90, 0xc3 }, leave_lengths[] = { 1, 1 };
enum { LOOP = 0x401000, LEAVE = LOOP + sizeof(loop), FAR = 0x500000, LINE = 64 };

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

static uint32_t add_loop(struct made_trace *m)
{
	return made_trace_block(m, LOOP, loop, loop_lengths, sizeof(loop), 4);
}

/* So many passes over so many lines from an address on: each pass is the loop once, then nop and ret. */
static void add_passes(struct made_trace *m, uint32_t stream, uint64_t from, unsigned lines, unsigned passes)
{
	uint32_t body = add_loop(m), end = made_trace_block(m, LEAVE, leave, leave_lengths, sizeof(leave), 2);

	for (unsigned p = 0; p < passes; p++) {
		for (unsigned i = 0; i < lines; i++) {
			made_trace_step(m, body, 1);
			made_trace_load(m, from + (uint64_t)i * LINE, 0);
		}
		made_trace_step(m, end, 1);
		made_trace_load(m, 0x7fff0000, 1);
	}
	made_trace_flush(m, stream);
}

/* Regions, instructions and threads have the whole between them, on each machine; charges have it, too. */
static void check_sums(const struct gus_traced *t)
{
	double cycles[GUS_STREAM_LANES] = { 0 }, threads = 0, ops = 0, charged = 0, warm = 0, core = 0, of_core = 0;
	uint64_t instructions = 0, of_threads = 0, met = 0;

	for (size_t i = 0; i < t->regions.n; i++) {
		for (int lane = 0; lane <= t->knobs_n; lane++)
			cycles[lane] += t->regions.v[i].cycles[lane];
		warm += t->regions.v[i].other_cycles;
		core += t->regions.v[i].core_cycles;
		instructions += t->regions.v[i].instructions;
		charged += t->regions.v[i].charged;
	}
	for (int lane = 0; lane <= t->knobs_n; lane++)
		assert_true(near(cycles[lane], t->cycles[lane]));
	assert_true(near(warm, t->other_cycles));
	assert_int_equal(instructions, t->instructions - t->warmed);
	for (size_t i = 0; i < gus_traced_threads(t); i++) {
		struct gus_traced_figures f;

		gus_traced_thread(t, i, &f);
		threads += f.cycles[0];
		of_core += f.core_cycles;
		of_threads += f.instructions;
	}
	assert_true(near(threads, t->cycles[0]));
	assert_true(near(core, t->core_cycles) && near(of_core, t->core_cycles));
	assert_int_equal(of_threads, t->instructions - t->warmed);
	for (uint32_t op = 0; op < t->program->ops_n; op++)
		ops += t->op_cycles[op];
	assert_true(near(ops, t->cycles[0]));
	assert_true(charged <= 0 || near(charged, t->cycles[0])); /* of a short trace nothing is followed */
	for (size_t i = 0; i < t->memories.n; i++) {
		met = 0;
		for (int level = 0; level < GUS_HITS; level++)
			met += t->memories.v[i].hits[level];
		assert_int_equal(met, t->memories.v[i].accesses);
	}
}

static const struct gus_traced_memory *loads_of(const struct gus_traced *t, uint32_t block)
{
	return &t->memories.v[t->blocks.v[block].memory];
}

/* Times that any block was executed. */
static uint64_t steps_of(const struct gus_traced *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->blocks.n; i++)
		n += t->blocks.v[i].executed;
	return n;
}

/* Thread 0 goes four times over twice what L1 holds, so that the least recently used line is always what comes next;
 * thread 1 over half of it. Both have caches of their own. */
static void test_levels(void **state)
{
	struct gus_traced_memory m;
	struct gus_traced_figures f;
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	s.options.interval = true;
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 1024, 4);
	add_passes(&made, 1, 0x20000000, 256, 3);
	made_model_run(&s, &made);
	assert_int_equal(s.t.instructions, 4 * (4 * 1024 + 2) + 3 * (4 * 256 + 2));
	assert_int_equal(steps_of(&s.t), 4 * 1025 + 3 * 257);
	assert_int_equal(gus_traced_threads(&s.t), 2);
	m = *loads_of(&s.t, 0);
	assert_int_equal(m.accesses, 4 * 1024 + 3 * 256);
	assert_int_equal(m.hits[GUS_HIT_MEMORY], 1024 + 256);
	assert_int_equal(m.hits[GUS_HIT_L3], 0);
	assert_in_range(m.hits[GUS_HIT_L2], 3 * 1024 - 4, 3 * 1024); /* the stack shares a set */
	assert_int_equal(m.unknown, 0);
	assert_int_equal(m.first[GUS_HIT_MEMORY], 1024 + 256); /* all of that is cold */
	assert_int_equal(m.walks, 16 + 4); /* pages */
	gus_traced_thread(&s.t, 1, &f);
	assert_int_equal(f.stream, 1);
	assert_int_equal(f.instructions, 3 * (4 * 256 + 2));
	assert_int_equal(f.cache->level[0].misses[GUS_CACHE_DEMAND], 256 + 1);
	assert_true(s.t.other_cycles < s.t.cycles[0]);
	check_sums(&s.t);
	made_model_free(&s);
}

/* Each cell once, in order; all of them are the cycles, of the warm-up, too; and what was met shows. */
static void check_stack(const struct gus_traced *t)
{
	uint64_t ticks = 0, of_ops = 0, missed = 0;

	for (size_t i = 0; i < t->pics.n; i++) {
		ticks += t->pics.v[i].ticks;
		missed += t->pics.v[i].psv & GUS_CORE_ST_L1 ? t->pics.v[i].ticks : 0;
		assert_true(!i || gus_pics_cell_compare(&t->pics.v[i - 1], &t->pics.v[i]) < 0);
	}
	for (uint32_t op = 0; op <= t->program->ops_n; op++) {
		size_t n;
		const struct gus_pics_cell *cells = gus_traced_pics_of(&t->pics, op, &n);

		for (size_t i = 0; i < n; i++) {
			assert_int_equal(cells[i].op, op);
			of_ops += cells[i].ticks;
		}
	}
	assert_int_equal(of_ops, ticks);
	/* All but the cycles in which the last stores leave. */
	assert_in_range(ticks, (t->core_ran - 1000) * GUS_PICS_TICKS, t->core_ran * GUS_PICS_TICKS);
	assert_true((double)t->core_ran >= t->core_cycles);
	assert_true((double)missed > 0.2 * (double)ticks && missed < ticks);
}

/* The same through the core engine beside: it agrees with the stream engine, as each load waits for its line alone, and
 * its cycles have regions and threads between them; those of a warm-up are left out. */
static void the_core_engine_beside(void **state)
{
	double cycles[2];

	(void)state;
	for (unsigned warm = 0; warm < 2; warm++) {
		struct made_model s;
		struct made_trace made;

		made_model_begin(&s);
		s.core.port_binding = GUS_CORE_BIND_ANY; /* bound ones fall into a pattern of 4 cycles for 3 */
		s.options.core = true;
		s.options.warm_up = warm ? 4000 : 0;
		made_trace_begin(&made, "x86_64");
		add_passes(&made, 0, 0x10000000, 1024, 4);
		add_passes(&made, 1, 0x20000000, 256, 30);
		made_model_run(&s, &made);
		check_sums(&s.t);
		cycles[warm] = s.t.core_cycles;
		if (fabs(s.t.core_cycles / s.t.cycles[0] - 1) >= 0.15)
			fail_msg("core %.0f, stream %.0f", s.t.core_cycles, s.t.cycles[0]);
		assert_int_equal(s.t.notices.n, 0);
		assert_false(s.t.core_stopped);
		check_stack(&s.t);
		made_model_free(&s);
	}
	assert_true(cycles[1] < 0.8 * cycles[0]);
}

/* Two threads' cells: the same ones are one, and each op finds its own, the first and the last, too. */
static void stacks_of_threads(void **state)
{
	static const struct gus_pics_cell first[] = { { 1, 0, GUS_COMMIT_COMPUTE, 10 },
		{ 1, GUS_CORE_ST_L1, GUS_COMMIT_STALLED, 20 }, { 7, 0, GUS_COMMIT_COMPUTE, 30 } };
	static const struct gus_pics_cell second[] = { { 0, 0, GUS_COMMIT_COMPUTE, 1 },
		{ 1, GUS_CORE_ST_L1, GUS_COMMIT_STALLED, 2 }, { 7, 0, GUS_COMMIT_COMPUTE, 3 } };
	static const struct { size_t n; uint64_t ticks[2]; } ops[] = { { 1, { 1 } }, { 2, { 10, 22 } }, { 0 }, { 0 },
		{ 0 }, { 0 }, { 0 }, { 1, { 33 } }, { 0 } };
	struct gus_traced_pics pics = { .n = 0 };

	(void)state;
	gus_traced_pics_settle(&pics);
	assert_int_equal(pics.n, 0);
	gus_traced_pics_add(&pics, first, 3);
	gus_traced_pics_add(&pics, second, 3);
	gus_traced_pics_settle(&pics);
	assert_int_equal(pics.n, 4);
	for (uint32_t op = 0; op < sizeof(ops) / sizeof(*ops); op++) {
		size_t n;
		const struct gus_pics_cell *cells = gus_traced_pics_of(&pics, op, &n);

		assert_int_equal(n, ops[op].n);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(cells[i].ticks, ops[op].ticks[i]);
	}
	gus_vec_free(&pics);
}

/* Cycles of both engines of a run that is long enough to be sampled. */
static void run_long(bool all, uint64_t warm_up, double cycles[2])
{
	struct made_model s;
	struct made_trace made;

	made_model_begin(&s);
	s.options.core = true;
	s.options.all = all;
	s.options.warm_up = warm_up;
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x20000000, 256, 3000);
	made_model_run(&s, &made);
	check_sums(&s.t);
	assert_true(all ? s.t.ops_timed == s.t.ops_run : s.t.ops_timed < s.t.ops_run);
	cycles[0] = s.t.cycles[0];
	cycles[1] = s.t.core_cycles;
	made_model_free(&s);
}

/* Of a sample the whole and its regions are estimated as they are of the stream engine's lanes, and behind a warm-up
 * what that took is in neither: it was once all in the first block that counts. */
static void the_core_engine_on_a_sample(void **state)
{
	static const uint64_t warm_ups[] = { 0, 1000 * (4 * 256 + 2) };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		double whole[2], sample[2];

		run_long(true, warm_ups[i], whole);
		run_long(false, warm_ups[i], sample);
		assert_true(fabs(sample[0] / whole[0] - 1) < 0.005);
		assert_true(fabs(sample[1] / whole[1] - 1) < 0.005);
	}
}

/* What a caller hears of a thread. */
struct heard {
	struct gus_core_listener listener;
	uint64_t cycles, ops, uops, loads, threads, left;
	const struct gus_program *program;
};

static void hear_cycle(void *context, const struct gus_core_cycle *cycle)
{
	(void)cycle;
	((struct heard *)context)->cycles++;
}

static void hear_uop(void *context, const struct gus_core_event *event)
{
	struct heard *h = context;
	const struct gus_program_insn *insn = &h->program->insns[h->program->ops[event->op].insn];

	h->uops++;
	h->loads += insn->offset == LOOP && h->program->uops[event->uop].kind == GUS_UOP_LOAD;
}

static void hear_retired(void *context, const struct gus_core_retired *op)
{
	((struct heard *)context)->ops += op->ends;
}

static const struct gus_core_listener *hear(void *context, uint32_t stream, const struct gus_program *program)
{
	struct heard *h = (struct heard *)context + stream;

	assert_true(stream < 2);
	h->program = program;
	h->threads++;
	h->listener = (struct gus_core_listener){ h, hear_cycle, hear_uop, hear_retired };
	return &h->listener;
}

static void hear_end(void *context, uint32_t stream)
{
	((struct heard *)context)[stream].left++;
}

/* The core engine alone takes as long as beside the stream engine, where no cache looks at the clock; who listens hears
 * of each thread all of its cycles and steps, and once that it is over. */
static void the_core_engine_alone(void **state)
{
	double cycles[2];

	(void)state;
	for (unsigned alone = 0; alone < 2; alone++) {
		struct heard heard[2] = { 0 };
		struct gus_traced_figures f;
		struct made_model s;
		struct made_trace made;

		made_model_begin(&s);
		s.options.core = s.options.all = !alone;
		s.options.phases = s.options.interval = s.options.both = true;
		s.options.alone = alone;
		s.options.listen = hear;
		s.options.leave = hear_end;
		s.options.listen_context = heard;
		made_trace_begin(&made, "x86_64");
		add_passes(&made, 0, 0x10000000, 1024, 4);
		add_passes(&made, 1, 0x20000000, 256, 300);
		made_model_run(&s, &made);
		check_sums(&s.t);
		cycles[alone] = s.t.core_cycles;
		assert_true(alone ? s.t.cycles[0] == 0 : s.t.cycles[0] > 0);
		assert_int_equal(s.t.instructions, 4 * (4 * 1024 + 2) + 300 * (4 * 256 + 2));
		for (unsigned i = 0; i < 2; i++) {
			gus_traced_thread(&s.t, i, &f);
			/* Behind the last instruction its stores leave. */
			assert_in_range(heard[i].cycles, (uint64_t)f.core_cycles, (uint64_t)f.core_cycles + 1000);
			assert_int_equal(heard[i].threads, 1);
			assert_int_equal(heard[i].left, 1);
			assert_int_equal(heard[i].loads, i ? 300 * 256 : 4 * 1024);
			assert_int_equal(heard[i].ops, i ? 300 * (3 * 256 + 2) : 4 * (3 * 1024 + 2));
		}
		made_model_free(&s);
	}
	assert_true(cycles[0] == cycles[1]);
}

struct asked { uint64_t code, data, walks; };

static uint64_t ask_line(void *context, unsigned level, uint64_t address, bool code, uint64_t from)
{
	struct asked *a = context;

	assert_true(level > GUS_HIT_L1 && code == (address / LINE == LOOP / LINE));
	a->code += code;
	a->data += !code;
	return from + 1000;
}

static uint64_t ask_walk(void *context, uint64_t address, bool code, uint64_t from)
{
	struct asked *a = context;

	(void)address;
	a->walks += 1 + (code ? 1000 : 0);
	return from + 1;
}

static const struct gus_core_hooks *hooks_of(void *context, uint32_t stream)
{
	return (const struct gus_core_hooks *)context + stream;
}

/* Each thread is a machine of its own: what is asked for the one is none of the other's. */
static void odd_machines_by_thread(void **state)
{
	struct asked asked[2] = { 0 };
	struct gus_core_hooks hooks[2] = { { .context = &asked[0], .line = ask_line },
		{ .context = &asked[1], .walk = ask_walk } };
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	s.options.alone = true;
	s.options.hooks_of = hooks_of;
	s.options.listen_context = hooks;
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 256, 2);
	add_passes(&made, 1, 0x10000000, 128, 2);
	made_model_run(&s, &made);
	assert_true(asked[0].data >= 256 && asked[0].code == 1 && !asked[0].walks);
	assert_true(!asked[1].data && !asked[1].code);
	assert_int_equal(asked[1].walks, 2 + 1 + 1000 + 1);
	made_model_free(&s);
}

/* A machine whose lines take 1,000 cycles, and page walks 1: it is asked of code and of data. */
static void an_odd_machine_alone(void **state)
{
	struct asked asked = { 0 };
	const struct gus_core_hooks hooks = { .context = &asked, .line = ask_line, .walk = ask_walk };
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	s.options.alone = true;
	s.options.hooks = &hooks;
	s.core.rob = 4; /* two loads at a time */
	s.core.itlb_size = 2;
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 256, 10);
	made_model_run(&s, &made);
	/* Some are asked for twice: until the first chunk has run caches go by accesses, and believe lines on their
	 * way. */
	assert_in_range(asked.data, 256 + 1, 256 + 4);
	assert_int_equal(asked.code, 1);
	assert_int_equal(asked.walks, 4 + 1 + 1000 + 1); /* four pages of data and one of the stack; one of code */
	assert_in_range((uint64_t)s.t.core_cycles, 128 * 1000, 150 * 1000);
	made_model_free(&s);
}

/* A bus that a line has for ten cycles; thirty more until it is there. */
static uint64_t ask_bus(void *context, unsigned level, uint64_t address, bool code, uint64_t from)
{
	uint64_t *bus_free = context, begins = *bus_free > from ? *bus_free : from;

	(void)level;
	(void)address;
	assert_true(code);
	*bus_free = begins + 10;
	return begins + 40;
}

/* jmp to what is two lines further, 700 times: nothing but code is asked for, each line when the one before is there.
 * Prediction hides the way from L2, 12 cycles of the 40. */
static void code_moves_time_on(void **state)
{
	static const uint8_t jump[] = { 0xeb, 0x7e }, lengths[] = { 2 };
	uint64_t bus_free = 0;
	const struct gus_core_hooks hooks = { .context = &bus_free, .line = ask_bus };
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	s.options.alone = true;
	s.options.hooks = &hooks;
	made_trace_begin(&made, "x86_64");
	for (unsigned i = 0; i < 700; i++)
		made_trace_step(&made, made_trace_block(&made, LOOP + 2ull * LINE * i, jump, lengths, 2, 1), 0);
	made_trace_flush(&made, 0);
	made_model_run(&s, &made);
	assert_int_equal(s.core.l2_latency, 12);
	assert_in_range((uint64_t)s.t.core_cycles, 700 * 28, 700 * 40);
	made_model_free(&s);
}

struct code_asked { uint64_t from[4]; unsigned n; };

static uint64_t note_code(void *context, unsigned level, uint64_t address, bool code, uint64_t from)
{
	struct code_asked *a = context;

	(void)level;
	if (code && address >= FAR && a->n < 4)
		a->from[a->n++] = from;
	return from + (code && address < FAR ? 100 : 1);
}

static void add_turns(struct made_trace *made, uint32_t body, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		made_trace_step(made, body, 1);
		made_trace_load(made, 0x10000000, 0);
	}
}

static void add_leave(struct made_trace *made, uint64_t at)
{
	made_trace_step(made, made_trace_block(made, at, leave, leave_lengths, sizeof(leave), 2), 1);
	made_trace_load(made, 0x7fff0000, 1);
}

/* What has hit for 2,100 turns of the loop, of three ops; a line of code; 300 turns later, in the same chunk of 2,048
 * ops, another one: in between time has passed as it did in the chunk before, which is a cycle or two a turn. It is the
 * same if in that the decoders have waited, 100 cycles each time, for the lines of 200 jumps. */
static void accesses_move_time_on(void **state)
{
	static const uint8_t jump[] = { 0xeb, 0x7e }, lengths[] = { 2 };

	(void)state;
	for (unsigned jumps = 0; jumps <= 200; jumps += 200) {
		struct code_asked asked = { .n = 0 };
		const struct gus_core_hooks hooks = { .context = &asked, .line = note_code };
		struct made_model s;
		struct made_trace made;
		uint32_t body;

		made_model_begin(&s);
		s.options.alone = true;
		s.options.hooks = &hooks;
		made_trace_begin(&made, "x86_64");
		body = add_loop(&made);
		add_turns(&made, body, 1500);
		for (unsigned i = 1; i <= jumps; i++)
			made_trace_step(&made, made_trace_block(&made, LOOP + 2ull * LINE * i, jump, lengths, 2, 1), 0);
		add_turns(&made, body, 600);
		add_leave(&made, FAR);
		add_turns(&made, body, 300);
		add_leave(&made, FAR + 4096);
		made_trace_flush(&made, 0);
		made_model_run(&s, &made);
		assert_int_equal(asked.n, 2);
		assert_in_range(asked.from[0], 2100 + jumps * 80, 2100 * 4 + jumps * 100);
		assert_in_range(asked.from[1] - asked.from[0], 300, 300 * 4);
		made_model_free(&s);
	}
}

/* A machine that cannot be, for the core engine and for the stream engine: no thread of it is run. */
static void machines_that_cannot_be(void **state)
{
	(void)state;
	for (unsigned alone = 0; alone < 2; alone++) {
		struct gus_error err = { 0 };
		struct gus_trace *trace;
		struct made_model s;
		struct made_trace made;

		made_model_begin(&s);
		s.options.alone = alone;
		s.core.issue_width = 0;
		made_trace_begin(&made, "x86_64");
		add_passes(&made, 0, 0x10000000, 4, 1);
		gus_traced_open(&s.t, &s.options);
		trace = made_trace_end(&made);
		assert_int_equal(gus_traced_read(&s.t, trace, &err), 0); /* so few steps are looked at first */
		gus_trace_close(trace);
		assert_int_equal(gus_traced_end(&s.t, &err), -1);
		assert_int_equal(err.code, GUS_E_USAGE);
		made_model_free(&s);
	}
}

/* movsd [rsi], xmm1; vfmadd231sd xmm1, xmm2, [rsi]; jmp back: emulators may say that the second reads 16 bytes, or come
 * in two pieces; it reads the eight that were stored. */
static void accesses_are_as_wide_as_their_instruction(void **state)
{
	static const uint8_t code[] = { 0xf2, 0x0f, 0x11, 0x0e, 0xc4, 0xe2, 0xe9, 0xb9, 0x0e, 0xeb, 0xf5 };
	static const uint8_t lengths[] = { 4, 5, 2 };
	static const struct { unsigned pieces; uint32_t size; } told[] = { { 1, 8 }, { 1, 16 }, { 2, 4 }, { 0, 0 } };
	double cycles[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct made_trace made;
		struct made_model s;
		uint32_t body;

		made_model_begin(&s);
		made_trace_begin(&made, "x86_64");
		body = made_trace_block(&made, LOOP, code, lengths, sizeof(code), 3);
		for (unsigned turn = 0; turn < 500; turn++) {
			made_trace_step(&made, body, 1 + told[i].pieces);
			gus_vec_push(&made.accesses, (struct gus_trace_access){ 0x10000000, 8, 0, true });
			for (unsigned k = told[i].pieces; k-- > 0;) /* the upper one first */
				gus_vec_push(&made.accesses, (struct gus_trace_access){ 0x10000000 + k * told[i].size,
					     told[i].size, 1, false });
		}
		made_trace_flush(&made, 0);
		made_model_run(&s, &made);
		cycles[i] = s.t.cycles[0];
		made_model_free(&s);
	}
	assert_true(near(cycles[1], cycles[0]) && near(cycles[2], cycles[0]));
	assert_true(cycles[3] < 0.7 * cycles[0]); /* without the store's word there is only the addition's latency */
}

/* What goes from line to line, up or down and in whatever steps, is a stream if nine of ten lines lie beside the last
 * one, and there were some. */
static void streams_are_told(void **state)
{
	static const struct { int64_t step; unsigned turns, jumps; bool streams; } cases[] = {
		{ 8, 400, 0, true }, { -8, 400, 0, true }, { LINE, 100, 0, true }, { 4, 100, 0, false },
		{ 2 * LINE, 100, 0, false }, { LINE, 100, 11, true }, { LINE, 100, 8, false }, { 0, 400, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t at = 0x10000000;
		struct made_trace made;
		struct made_model s;
		uint32_t body;

		made_model_begin(&s);
		made_trace_begin(&made, "x86_64");
		body = add_loop(&made);
		for (unsigned turn = 0; turn < cases[i].turns; turn++) {
			at += (uint64_t)cases[i].step + (cases[i].jumps && turn % cases[i].jumps == 0 ? 0x10000 : 0);
			made_trace_step(&made, body, 1);
			made_trace_load(&made, at, 0);
		}
		made_trace_flush(&made, 0);
		made_model_run(&s, &made);
		assert_int_equal(gus_traced_memory_streams(&s.t.memories.v[0]), cases[i].streams);
		made_model_free(&s);
	}
}

/* movaps xmm0, [rsi]; movsd [rdi], xmm1; jmp back: pieces come in other numbers, sizes and directions from turn
 * to turn, and each is counted where it belongs, whatever the turn before was told: the load in one piece or two, the
 * store first, the store alone, or nothing. */
static void pieces_change_from_turn_to_turn(void **state)
{
	static const uint8_t code[] = { 0x0f, 0x28, 0x06, 0xf2, 0x0f, 0x11, 0x0f, 0xeb, 0xf7 };
	static const uint8_t lengths[] = { 3, 4, 2 };
	static const struct gus_trace_access pieces[] = { { 0x10000000, 16, 0, false }, { 0x10000000, 8, 0, false },
		{ 0x10000008, 8, 0, false }, { 0x20000000, 8, 1, true } };
	static const struct { unsigned first, n; } turns[] = { { 0, 1 }, { 1, 3 }, { 1, 1 }, { 3, 1 }, { 0, 0 },
		{ 1, 2 } };
	struct made_trace made;
	struct made_model s;
	uint32_t body;

	(void)state;
	made_model_begin(&s);
	made_trace_begin(&made, "x86_64");
	body = made_trace_block(&made, LOOP, code, lengths, sizeof(code), 3);
	for (unsigned turn = 0; turn < 600; turn++) {
		unsigned first = turns[turn % 6].first, n = turns[turn % 6].n;

		made_trace_step(&made, body, n);
		for (unsigned k = first; k < first + n; k++)
			gus_vec_push(&made.accesses, pieces[k]);
	}
	made_trace_flush(&made, 0);
	made_model_run(&s, &made);
	assert_int_equal(s.t.memories.n, 2);
	assert_int_equal(s.t.memories.v[0].accesses, 100 * (1 + 2 + 1 + 2));
	assert_int_equal(s.t.memories.v[0].told, 100 * (1 + 1 + 1 + 1)); /* of two pieces the first */
	assert_int_equal(s.t.memories.v[1].accesses, 200);
	assert_int_equal(s.t.memories.v[1].told, 200);
	check_sums(&s.t);
	made_model_free(&s);
}

static bool mispredict_ends(void *context, uint32_t block, bool taken)
{
	(void)context;
	return block == 0 && !taken;
}

/* The loop's branch falls through at each end; the return of the last step goes nobody knows where. */
static void test_branches(void **state)
{
	const struct gus_traced_block *b;
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	s.options.mispredicted = mispredict_ends;
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 100, 50);
	made_model_run(&s, &made);
	b = &s.t.blocks.v[0];
	assert_true(b->branches == 5000 && b->taken == 50 * 99 && b->mispredicted == 50);
	assert_int_equal(s.t.blocks.v[1].branches, 49);
	assert_int_equal(s.t.blocks.v[1].taken, 49);
	assert_int_equal(s.t.branches_unknown, 1);
	check_sums(&s.t);
	made_model_free(&s);
}

/* The predictor: it has learnt a loop of 8 turns soon, and not what a coin does. */
static void test_predictor(void **state)
{
	static const uint8_t hop[] = { 0x75, 0x02 }, hop_lengths[] = { 2 };
	uint64_t x = 88172645463325252;
	struct made_model s;
	struct made_trace made;
	uint32_t coin, after;

	(void)state;
	made_model_begin(&s);
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 8, 1000);
	made_model_run(&s, &made);
	assert_in_range(s.t.blocks.v[0].mispredicted, 1, 80);
	made_model_free(&s);
	made_model_begin(&s);
	made_trace_begin(&made, "x86_64");
	coin = made_trace_block(&made, FAR, hop, hop_lengths, sizeof(hop), 1);
	after = made_trace_block(&made, FAR + 2, leave, leave_lengths, 1, 1); /* a nop, behind the branch */
	for (unsigned i = 0; i < 20000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		made_trace_step(&made, coin, 0);
		if (x >> 40 & 1)
			made_trace_step(&made, after, 0);
	}
	made_trace_flush(&made, 0);
	made_model_run(&s, &made);
	assert_int_equal(s.t.blocks.v[coin].branches, 19999 + (x >> 40 & 1));
	assert_in_range(s.t.blocks.v[coin].mispredicted, 9600, 10400);
	check_sums(&s.t);
	made_model_free(&s);
}

/* What counts begins with a block, once the thread has executed so much. */
static void test_warm_up(void **state)
{
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	s.options.warm_up = 4 * 256 + 2;
	s.options.interval = true;
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 256, 30);
	made_model_run(&s, &made);
	assert_int_equal(s.t.warmed, 4 * 256 + 2);
	assert_int_equal(loads_of(&s.t, 0)->accesses, 29 * 256);
	assert_int_equal(loads_of(&s.t, 0)->hits[GUS_HIT_L1], 29 * 256);
	/* Nothing is touched for the first time any more, but some of the warm-up's misses are still on their way. */
	assert_int_equal(loads_of(&s.t, 0)->first[GUS_HIT_MEMORY], 0);
	assert_true(s.t.other_cycles > 29 * 256 && s.t.cycles[0] - s.t.other_cycles < 1000);
	check_sums(&s.t);
	made_model_free(&s);
	made_model_begin(&s);
	s.options.warm_up = 1000000;
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 256, 30);
	made_model_run(&s, &made);
	assert_int_equal(s.t.warmed, s.t.instructions);
	assert_true(near(s.t.cycles[0], 0));
	check_sums(&s.t);
	made_model_free(&s);
}

/* What is told of warm caches is the other end of what is told of cold ones, and the other way round. */
static void test_warm(void **state)
{
	struct made_model s[2];

	(void)state;
	for (int warm = 0; warm < 2; warm++) {
		struct made_trace made;

		made_model_begin(&s[warm]);
		s[warm].options.interval = true;
		s[warm].options.warm = warm;
		made_trace_begin(&made, "x86_64");
		add_passes(&made, 0, 0x10000000, 1024, 4);
		made_model_run(&s[warm], &made);
		check_sums(&s[warm].t);
	}
	assert_true(s[1].t.cycles[0] < s[0].t.cycles[0]);
	assert_true(near(s[1].t.cycles[0], s[0].t.other_cycles));
	assert_true(near(s[1].t.other_cycles, s[0].t.cycles[0]));
	assert_int_equal(loads_of(&s[0].t, 0)->hits[GUS_HIT_MEMORY], 1024);
	assert_int_equal(loads_of(&s[1].t, 0)->hits[GUS_HIT_MEMORY], 0);
	assert_int_equal(loads_of(&s[1].t, 0)->first[GUS_HIT_MEMORY], 1024); /* and how many these are is not lost */
	assert_int_equal(loads_of(&s[1].t, 0)->walks, 0);
	made_model_free(&s[0]);
	made_model_free(&s[1]);
}

/* Two instructions that are fused take one slot. */
static void test_slots(void **state)
{
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 100, 3);
	made_model_run(&s, &made);
	assert_int_equal(s.t.blocks.n, 2);
	assert_int_equal(s.t.regions.v[s.t.blocks.v[0].region].fused, 3 * 100);
	assert_in_range(s.t.regions.v[s.t.blocks.v[0].region].slots, 3 * 300, 3 * 400 - 1);
	made_model_free(&s);
}

/* Blocks in 600 lines of code, each before the one before it, three times over: L1 for instructions holds 512, so those
 * that come again have gone, and each time every line is missed; one of 64 KiB misses each once. */
static void test_code_lines(void **state)
{
	static const struct { uint32_t size; uint64_t missed; } cases[] = { { 32, 3 * 600 }, { 64, 600 }, { 0, 0 } };
	double cycles[3];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint64_t missed = 0, lines = 0;
		struct made_model s;
		struct made_trace made;

		made_model_begin(&s);
		s.core.l1i_size = cases[i].size;
		s.core.l1i_ways = 8;
		s.core.uop_cache_size = s.core.uop_cache_line; /* a single line: all is decoded */
		made_trace_begin(&made, "x86_64");
		for (unsigned pass = 0; pass < 3; pass++)
			for (unsigned k = 0; k < 600; k++) {
				uint64_t at = FAR + LINE * (uint64_t)(599 - k);

				made_trace_step(&made, made_trace_block(&made, at, leave, leave_lengths,
									sizeof(leave), 2), 1);
				made_trace_load(&made, 0x7fff0000, 1);
			}
		made_trace_flush(&made, 0);
		made_model_run(&s, &made);
		for (size_t k = 0; k < s.t.blocks.n; k++) {
			missed += s.t.blocks.v[k].fetch_misses;
			lines += s.t.blocks.v[k].fetch_misses != 0;
		}
		assert_int_equal(missed, cases[i].missed);
		assert_int_equal(lines, cases[i].missed ? 600 : 0);
		cycles[i] = s.t.cycles[0];
		made_model_free(&s);
	}
	assert_true(cycles[0] > cycles[1] && cycles[1] > cycles[2]);
}

/* 64 lines of code, three times, through an L1 of 16 lines: each time from beyond it; or the first time alone, where
 * the uop cache has it then. */
static void cached_code_is_not_fetched(void **state)
{
	(void)state;
	for (unsigned cached = 0; cached < 2; cached++) {
		uint64_t missed = 0;
		struct made_model s;
		struct made_trace made;

		made_model_begin(&s);
		s.core.l1i_size = 1;
		s.core.l1i_ways = 2;
		if (!cached)
			s.core.uop_cache_size = s.core.uop_cache_line;
		made_trace_begin(&made, "x86_64");
		for (unsigned i = 0; i < 3 * 64; i++) {
			uint64_t at = FAR + LINE * (uint64_t)(63 - i % 64);

			made_trace_step(&made, made_trace_block(&made, at, leave, leave_lengths, sizeof(leave), 2), 1);
			made_trace_load(&made, 0x7fff0000, 1);
		}
		made_trace_flush(&made, 0);
		made_model_run(&s, &made);
		for (size_t k = 0; k < s.t.blocks.n; k++)
			missed += s.t.blocks.v[k].fetch_misses;
		assert_int_equal(missed, cached ? 64 : 3 * 64);
		made_model_free(&s);
	}
}

/* The loop where its jump ends at a multiple of 32: Skylake does not keep it in the uop cache, another byte ahead it
 * does, all but its first turn. */
static void test_refused_jump(void **state)
{
	static const struct { uint64_t at; uint32_t erratum; bool kept; } cases[] = {
		{ 0x401014, 1, false }, { 0x401013, 1, true }, { 0x401014, 0, true }, { 0x401018, 1, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_model s;
		struct made_trace made;
		uint32_t body;

		made_model_begin(&s);
		s.core.jcc_erratum = cases[i].erratum;
		made_trace_begin(&made, "x86_64");
		body = made_trace_block(&made, cases[i].at, loop, loop_lengths, sizeof(loop), 4);
		for (unsigned k = 0; k < 50; k++) {
			made_trace_step(&made, body, 1);
			made_trace_load(&made, 0x10000000, 0);
		}
		made_trace_flush(&made, 0);
		made_model_run(&s, &made);
		assert_int_equal(s.t.blocks.v[0].cached, cases[i].kept ? 49 : 0);
		made_model_free(&s);
	}
}

static struct gus_trace *passes(unsigned lines, unsigned times)
{
	struct made_trace made;

	made_trace_begin(&made, "x86_64");
	for (unsigned i = 0; i < times; i++)
		add_passes(&made, 0, 0x10000000, lines, 40);
	return made_trace_end(&made);
}

/* Traces that are read in turns, a frame at a time, are what they are one after the other; and when one of them is over
 * its machine is let go. */
static void test_beside(void **state)
{
	struct gus_traced_source *sources[3];
	struct gus_trace *traces[3];
	struct gus_traced_figures a, b;
	struct made_model s;
	unsigned open = 3, turns = 0;

	(void)state;
	made_model_begin(&s);
	gus_traced_open(&s.t, &s.options);
	for (int i = 0; i < 3; i++) {
		traces[i] = passes(500, i == 1 ? 1 : 6);
		gus_traced_map(&s.t, LOOP, 0x1000, 0x2000, i ? "/nowhere/b" : "/nowhere/a", NULL, 0);
		sources[i] = gus_traced_source_new(&s.t, traces[i], NULL);
		assert_non_null(sources[i]);
	}
	for (; open; turns++)
		for (int i = 0; i < 3; i++) {
			if (!sources[i] || gus_traced_source_read(sources[i], NULL) > 0)
				continue;
			gus_traced_source_end(sources[i]);
			gus_trace_close(traces[i]);
			sources[i] = NULL;
			open--;
		}
	assert_true(turns > 3);
	assert_int_equal(s.t.machines, 0); /* all that there was has been run by then */
	made_model_end(&s);
	assert_int_equal(s.t.programs.n, 3);
	assert_int_equal(s.t.programs.v[0].instructions, 6 * 40 * (4 * 500 + 2));
	assert_int_equal(s.t.programs.v[1].instructions, 40 * (4 * 500 + 2));
	assert_int_equal(s.t.programs.v[2].instructions, s.t.programs.v[0].instructions);
	assert_true(near(s.t.programs.v[0].cycles, s.t.programs.v[2].cycles));
	assert_true(near(s.t.programs.v[0].cycles + s.t.programs.v[1].cycles + s.t.programs.v[2].cycles,
			 s.t.cycles[0]));
	assert_int_equal(gus_traced_threads(&s.t), 3);
	gus_traced_thread(&s.t, 0, &a); /* that of the one in the middle, which was over first */
	gus_traced_thread(&s.t, 1, &b);
	assert_int_equal(a.stream, 1);
	assert_int_equal(a.instructions, s.t.programs.v[1].instructions);
	assert_int_equal(b.cache->memory_reads[GUS_CACHE_DEMAND], 501);
	assert_int_equal(s.t.functions.n, 2); /* each has its own mappings */
	assert_int_equal(s.t.blocks.n, 6); /* and blocks */
	for (size_t i = 0; i < s.t.blocks.n; i++)
		assert_int_equal(s.t.blocks.v[i].executed, (i % 2 ? 1 : 500) * 40 * (i / 2 == 1 ? 1 : 6));
	check_sums(&s.t);
	made_model_free(&s);
}

/* A trace of 160 turns of a loop of 4 instructions, and 160 of another, in one window; and a thread that is shorter
 * than a stretch of 8 turns. The first of each is taken in any case, then those that complete another whole. */
static void stretches_are_even(void **state)
{
	enum { TURNS = 160, STRETCH = 32 };
	static const struct { double share, windows; uint64_t first, second, short_one; } cases[] = {
		{ .25, 1, 8 * 5, 8 * 5, 4 }, { .1, 1, 8 * 2, 8 * 2, 4 }, { .001, 1, 8, 0, 4 },
		{ 1, 1, TURNS, TURNS, 4 }, { .25, .4, 8 * 5, 8 * 5, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_traced_source *source;
		struct made_model s;
		struct made_trace made;
		struct gus_trace *trace;
		uint32_t bodies[2];

		made_trace_begin(&made, "x86_64");
		bodies[0] = add_loop(&made);
		bodies[1] = made_trace_block(&made, FAR, loop, loop_lengths, sizeof(loop), 4);
		for (unsigned k = 0; k < 2 * TURNS; k++) {
			made_trace_step(&made, bodies[k / TURNS], 1);
			made_trace_load(&made, 0x10000000, 0);
		}
		made_trace_flush(&made, 0);
		for (unsigned k = 0; k < 4; k++) {
			made_trace_step(&made, bodies[0], 1);
			made_trace_load(&made, 0x10000000, 0);
		}
		made_trace_flush(&made, 1);
		trace = made_trace_end(&made);
		made_model_begin(&s);
		gus_traced_open(&s.t, &s.options);
		source = gus_traced_source_new(&s.t, trace, NULL);
		assert_false(s.t.thinned);
		gus_traced_source_thin(source, STRETCH, cases[i].share, cases[i].windows);
		assert_true(s.t.thinned);
		while (gus_traced_source_read(source, NULL) > 0)
			;
		gus_traced_source_end(source);
		gus_trace_close(trace);
		made_model_end(&s);
		assert_int_equal(s.t.blocks.n, 2);
		assert_int_equal(s.t.blocks.v[0].executed, cases[i].first + cases[i].short_one);
		assert_int_equal(s.t.blocks.v[1].executed, cases[i].second);
		check_sums(&s.t);
		made_model_free(&s);
	}
}

/* Two traces, one after the other: threads with blocks, mappings and caches of their own. */
static void test_two(void **state)
{
	struct gus_traced_figures a, b;
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	gus_traced_open(&s.t, &s.options);
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 500, 5);
	gus_traced_map(&s.t, LOOP, 0x1000, 0x2000, "/nowhere/a", NULL, 0);
	made_model_read(&s, made_trace_end(&made));
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 500, 5);
	made_model_read(&s, made_trace_end(&made));
	made_model_end(&s);
	assert_int_equal(gus_traced_threads(&s.t), 2);
	gus_traced_thread(&s.t, 0, &a);
	gus_traced_thread(&s.t, 1, &b);
	assert_int_equal(a.instructions, b.instructions);
	assert_true(near(a.cycles[0], b.cycles[0]));
	assert_int_equal(b.cache->memory_reads[GUS_CACHE_DEMAND], 501);
	assert_int_equal(s.t.blocks.n, 4);
	assert_int_equal(s.t.functions.n, 2); /* the second one's mappings are not those of the first */
	assert_true(gus_traced_block_at(&s.t, "/nowhere/a", 0x2003) != GUS_TRACED_NONE);
	assert_true(gus_traced_block_at(&s.t, "/nowhere/a", 0x2004) == GUS_TRACED_NONE);
	check_sums(&s.t);
	made_model_free(&s);
}

/* Code of very many kinds, so that all lanes are taken; and then a chain of divisions, whose latency was not among what
 * was turned. */
static void make_late_code(struct made_trace *made, unsigned mixed_steps, unsigned chain_steps)
{
	static const uint8_t mixed[] = { 0x48, 0x0f, 0xaf, 0xc0, 0x48, 0xc1, 0xe0, 0x03, 0x48, 0x8d, 0x0c, 0x08, 0x66,
		0x0f, 0xfe, 0xc1,
		0x66, 0x0f, 0x38, 0x40, 0xc1, 0x66, 0x0f, 0x38, 0x00, 0xc1, 0xf2, 0x48, 0x0f, 0x2a, 0xd0, 0x66, 0x0f,
			0x7e, 0xc0,
		0x66, 0x0f, 0x72, 0xf0, 0x03, 0x66, 0x0f, 0xdb, 0xc1, 0x48, 0x01, 0xc8, 0x48, 0x89, 0x06, 0x48, 0x8b,
			0x06 };
	static const uint8_t mixed_lengths[] = { 4, 4, 4, 4, 5, 5, 5, 4, 5, 4, 3, 3, 3 };
	/* divsd xmm3, xmm3 */
	static const uint8_t chain[] = { 0xf2, 0x0f, 0x5e, 0xdb, 0xf2, 0x0f, 0x5e, 0xdb }, chain_lengths[] = { 4, 4 };

	made_trace_begin(made, "x86_64");
	for (unsigned k = 0; k < mixed_steps; k++)
		made_trace_step(made, made_trace_block(made, FAR, mixed, mixed_lengths, sizeof(mixed),
						       sizeof(mixed_lengths)), 0);
	made_trace_flush(made, 0);
	for (unsigned k = 0; k < chain_steps; k++)
		made_trace_step(made, made_trace_block(made, FAR + 0x1000, chain, chain_lengths, sizeof(chain),
						       sizeof(chain_lengths)), 0);
	made_trace_flush(made, 0);
}

/* Returns what that latency gains of the whole run, and in best what the best of all others does. */
static double late_divisions(unsigned mixed_steps, unsigned chain_steps, double *best)
{
	double divisions = 0;
	unsigned lanes = 0;
	struct made_model s;
	struct made_trace made;

	*best = 0;
	made_model_begin(&s);
	make_late_code(&made, mixed_steps, chain_steps);
	made_model_run(&s, &made);
	for (int i = 0; i < s.t.knobs_n; i++) {
		const struct gus_sensitivity *knob = &s.t.knobs[i];

		lanes += *knob->name != 0;
		if (strcmp(knob->name, "latency fp_div") == 0)
			divisions = knob->speedup;
		else if (knob->speedup > *best)
			*best = knob->speedup;
	}
	assert_int_equal(lanes, GUS_TRACED_KNOBS);
	check_sums(&s.t);
	made_model_free(&s);
	return divisions;
}

static bool is_any(const void *context, const struct gus_sensitivity *k)
{
	(void)context;
	(void)k;
	return true;
}

static bool is_latency(const void *context, const struct gus_sensitivity *k)
{
	(void)context;
	return k->knob.kind == GUS_KNOB_LATENCY;
}

static bool is_memory(const void *context, const struct gus_sensitivity *k)
{
	(void)context;
	return k->knob.kind == GUS_KNOB_LEVEL_LATENCY || k->knob.kind == GUS_KNOB_BANDWIDTH;
}

static double half(const void *context, const struct gus_sensitivity *k)
{
	(void)context;
	(void)k;
	return 0.5;
}

/* Sets in the places of knobs: a machine of which all is 15 % more, latencies alone, of which one is met late, what
 * this code never needs, and latencies that are twice as long. */
static void test_sets(void **state)
{
	static const struct gus_traced_set sets[] = { { "all", is_any, NULL, NULL },
		{ "latencies", is_latency, NULL, NULL }, { "memory", is_memory, NULL, NULL },
		{ "slower", is_latency, NULL, half } };
	struct made_model s;
	struct made_trace made;
	double best, alone = late_divisions(66000, 400000, &best);

	(void)state;
	made_model_begin(&s);
	s.options.sets = sets;
	s.options.sets_n = 4;
	make_late_code(&made, 66000, 400000);
	made_model_run(&s, &made);
	assert_int_equal(s.t.knobs_n, 4);
	assert_string_equal(s.t.knobs[1].name, "latencies");
	/* Not all of 15 %: what was executed until the divisions were noticed has gained nothing of theirs. */
	assert_true(s.t.knobs[0].speedup > 0.12 && s.t.knobs[0].speedup < 0.15);
	assert_true(s.t.knobs[1].speedup > alone && s.t.knobs[1].speedup <= s.t.knobs[0].speedup);
	assert_true(near(s.t.knobs[2].speedup, 0));
	/* Most of the time is latencies, and they are at most all of it. */
	assert_true(s.t.knobs[3].speedup < -0.3 && s.t.knobs[3].speedup > -0.5);
	check_sums(&s.t);
	made_model_free(&s);
}

/* 15 % of a latency that most of the time is, from when it was noticed. */
static void test_late_code(void **state)
{
	double best, divisions = late_divisions(66000, 400000, &best);

	(void)state;
	assert_true(divisions > 0.05 && divisions > best);
}

/* A phase at the end of a run is noticed within a part of itself, although much was seen before: its lane is
 * there for most of it. */
static void test_late_phase(void **state)
{
	double best, divisions = late_divisions(460000, 400000, &best);

	(void)state;
	assert_true(divisions > 0.05 && divisions > best);
}

/* A block of more instructions than the engine is given at once, so that it is fed in pieces. */
static void test_long_block(void **state)
{
	enum { INSNS = GUS_TRACE_BLOCK_INSNS, TIMES = 8 };
	uint8_t *bytes = gus_alloc(3 * INSNS), *lengths = gus_alloc(INSNS);
	struct gus_traced_memory sum = { 0 };
	struct made_model s;
	struct made_trace made;

	(void)state;
	assert_true((int)INSNS > (int)GUS_OP_STEPS);
	made_model_begin(&s);
	made_trace_begin(&made, "x86_64");
	for (unsigned i = 0; i < INSNS; i++) {
		memcpy(bytes + 3 * i, loop, 3);
		lengths[i] = 3;
	}
	for (unsigned k = 0; k < TIMES; k++) {
		made_trace_step(&made, made_trace_block(&made, FAR, bytes, lengths, 3 * INSNS, INSNS), INSNS);
		for (unsigned i = 0; i < INSNS; i++)
			made_trace_load(&made, 0x10000000 + (i % 16) * LINE, (uint16_t)i);
	}
	made_trace_flush(&made, 0);
	made_model_run(&s, &made);
	assert_int_equal(s.t.instructions, TIMES * INSNS);
	for (size_t i = 0; i < s.t.memories.n; i++) {
		sum.accesses += s.t.memories.v[i].accesses;
		sum.hits[GUS_HIT_MEMORY] += s.t.memories.v[i].hits[GUS_HIT_MEMORY];
		sum.unknown += s.t.memories.v[i].unknown;
	}
	assert_true(sum.accesses == TIMES * INSNS && sum.hits[GUS_HIT_MEMORY] == 16 && !sum.unknown);
	/* Each waits for the sum so far; the first time code and data come from memory. */
	if (s.t.cycles[0] < TIMES * INSNS || s.t.cycles[0] >= 1.05 * TIMES * INSNS)
		fail_msg("%.0f cycles of %d", s.t.cycles[0], TIMES * INSNS);
	check_sums(&s.t);
	free(bytes);
	free(lengths);
	made_model_free(&s);
}

/* A step that is told fewer addresses than it has loads: they are counted, and taken as hits. */
static void test_without_address(void **state)
{
	struct made_model s;
	struct made_trace made;
	uint32_t body;

	(void)state;
	made_model_begin(&s);
	made_trace_begin(&made, "x86_64");
	body = add_loop(&made);
	for (unsigned i = 0; i < 100; i++) {
		made_trace_step(&made, body, i % 2);
		if (i % 2)
			made_trace_load(&made, 0x10000000, 0);
	}
	made_trace_flush(&made, 0);
	made_model_run(&s, &made);
	assert_true(loads_of(&s.t, body)->accesses == 50 && loads_of(&s.t, body)->unknown == 50);
	check_sums(&s.t);
	made_model_free(&s);
}

static void test_refused(void **state)
{
	struct gus_error err = { 0 };
	struct gus_trace *trace;
	uint32_t number;
	struct made_model s;
	struct made_trace made;

	(void)state;
	made_model_begin(&s);
	made_trace_begin(&made, "aarch64");
	assert_int_equal(gus_trace_writer_block(made.w, &(struct gus_trace_block){ LOOP, loop_lengths, loop, 0, 0 },
						&number, &err), -1);
	assert_true(err.code != GUS_OK && *err.text);
	err = (struct gus_error){ 0 };
	gus_traced_open(&s.t, &s.options);
	trace = made_trace_end(&made);
	assert_int_equal(gus_traced_read(&s.t, trace, &err), -1);
	assert_int_equal(err.code, GUS_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "it is of aarch64, and skylake is a CPU of x86-64"));
	gus_trace_close(trace);
	made_model_end(&s); /* of nothing */
	assert_int_equal(s.t.instructions, 0);
	assert_true(near(s.t.cycles[0], 0));
	made_model_free(&s);
}

/* A trace that is cut: what comes before is run, and the error says so. */
/* Blocks that share their bytes at 1,000 addresses: a file of some KB, and 4 million instructions. */
static void code_is_bound_by_the_file(void **state)
{
	static uint8_t code[4096], lengths[4096];
	struct gus_error err = { 0 };
	struct gus_trace *trace;
	struct made_trace made;
	struct made_model s;
	uint8_t *bytes;
	size_t size;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memset(lengths, 1, sizeof(lengths));
	made_trace_begin(&made, "x86_64");
	for (uint64_t i = 0; i < 1000; i++)
		made_trace_block(&made, 0x10000 * (i + 1), code, lengths, sizeof(code), sizeof(lengths));
	made_trace_step(&made, 0, 0);
	made_trace_flush(&made, 0);
	trace = made_trace_end(&made);
	size = (size_t)lseek(made.fd, 0, SEEK_END);
	assert_true(size < 65536);
	bytes = gus_alloc(size);
	assert_int_equal(pread(made.fd, bytes, size, 0), (ssize_t)size);
	gus_trace_close(trace);
	trace = gus_trace_open_memory(bytes, size, &err);
	made_model_begin(&s);
	gus_traced_open(&s.t, &s.options);
	assert_int_equal(gus_traced_read(&s.t, trace, &err), -1);
	assert_int_equal(err.code, GUS_E_FULL);
	assert_true(s.t.program->insns_n <= GUS_LIMIT_TRACE_CODE.base + GUS_LIMIT_TRACE_CODE.per_byte * size);
	gus_trace_close(trace);
	made_model_end(&s);
	made_model_free(&s);
	free(bytes);
}

/* The same code in two windows of one process is learned once, other code at its address, or of another process,
 * again. */
static void windows_share_their_code(void **state)
{
	static const uint8_t one[] = { 0x90, 0xc3 }, other[] = { 0x50, 0xc3 }, lengths[] = { 1, 1 };
	static const struct { const uint8_t *code; uint32_t pid; size_t blocks; } windows[] = {
		{ one, 7, 1 }, { one, 7, 1 }, { other, 7, 2 }, { one, 8, 3 }, { one, 8, 3 } };
	struct made_model s;

	(void)state;
	made_model_begin(&s);
	gus_traced_open(&s.t, &s.options);
	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		struct made_trace made;

		made_trace_begin(&made, "x86_64");
		made_trace_step(&made, made_trace_block(&made, 0x1000, windows[i].code, lengths, 2, 2), 0);
		made_trace_flush(&made, 0);
		gus_traced_moment(&s.t, windows[i].pid, 1000 * i);
		made_model_read(&s, made_trace_end(&made));
		assert_int_equal(s.t.blocks.n, windows[i].blocks);
	}
	made_model_end(&s);
	assert_int_equal(s.t.instructions, 10);
	made_model_free(&s);
}

static void test_cut(void **state)
{
	struct made_model s;
	struct made_trace made;
	struct gus_trace *trace;
	uint8_t *bytes;
	size_t size;
	uint64_t most = 0;

	(void)state;
	made_trace_begin(&made, "x86_64");
	add_passes(&made, 0, 0x10000000, 300, 2);
	add_passes(&made, 0, 0x10000000, 300, 2);
	trace = made_trace_end(&made);
	size = (size_t)lseek(made.fd, 0, SEEK_END);
	bytes = gus_alloc(size);
	assert_int_equal(pread(made.fd, bytes, size, 0), (ssize_t)size);
	gus_trace_close(trace);
	for (size_t n = size / 8; n <= size / 8 * 7; n += size / 8) {
		struct gus_error err = { 0 };
		bool asked = n != size / 8 * 7; /* why: the program has it in any case */

		trace = gus_trace_open_memory(bytes, n, &err);
		if (!trace)
			continue;
		made_model_begin(&s);
		gus_traced_open(&s.t, &s.options);
		assert_int_equal(gus_traced_read(&s.t, trace, asked ? &err : NULL), -1);
		if (asked && !strstr(err.text, "was cut"))
			fail_msg("%zu of %zu bytes: %s", n, size, err.text);
		assert_true(s.t.programs.n == 1 && s.t.programs.v[0].trouble);
		assert_non_null(strstr(s.t.programs.v[0].trouble, "was cut"));
		gus_trace_close(trace);
		made_model_end(&s);
		most = s.t.instructions > most ? s.t.instructions : most;
		check_sums(&s.t);
		made_model_free(&s);
	}
	assert_true(most > 0); /* in its last bytes it would be damaged rather than cut */
	free(bytes);
}

/* Four mappings in turn, of which later ones cover earlier ones at their end, in the middle and altogether; a block of
 * one byte at each end of what is left, and beside it. */
static void the_newest_mapping_wins(void **state)
{
	static const uint8_t code[] = { 0x90 }, lengths[] = { 1 };
	static const struct { uint64_t start, length, offset; const char *path; } maps[] = {
		{ 0x2200, 0x100, 0, "/gone" }, { 0x1000, 0x4000, 0, "/a" }, { 0x2000, 0x1000, 0x100, "/b" },
		{ 0x4800, 0x1800, 0, "/c" }, { 0x7000, 0, 0, "/empty" }, { UINT64_MAX - 0xfff, 0x1001, 0, "/wraps" },
	};
	static const struct { uint64_t address; const char *path; uint64_t offset; } cases[] = {
		{ 0xfff, NULL, 0 }, { 0x1000, "/a", 0 }, { 0x1fff, "/a", 0xfff }, { 0x2000, "/b", 0x100 },
		{ 0x2210, "/b", 0x310 }, { 0x2fff, "/b", 0x10ff }, { 0x3000, "/a", 0x2000 }, { 0x47ff, "/a", 0x37ff },
		{ 0x4800, "/c", 0 }, { 0x4fff, "/c", 0x7ff }, { 0x5fff, "/c", 0x17ff }, { 0x6000, NULL, 0 },
		{ 0x7000, NULL, 0 }, { UINT64_MAX - 0xfff, NULL, 0 }, { 0, NULL, 0 },
	};
	enum { CASES = sizeof(cases) / sizeof(*cases) };
	struct made_model s;
	struct made_trace m;

	(void)state;
	made_model_begin(&s);
	made_trace_begin(&m, "x86_64");
	for (size_t i = 0; i < CASES; i++)
		made_trace_step(&m, made_trace_block(&m, cases[i].address, code, lengths, 1, 1), 0);
	made_trace_flush(&m, 0);
	gus_traced_open(&s.t, &s.options);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		gus_traced_map(&s.t, maps[i].start, maps[i].length, maps[i].offset, maps[i].path, NULL, 0);
	made_model_read(&s, made_trace_end(&m));
	made_model_end(&s);
	for (size_t i = 0; i < CASES; i++) {
		const struct gus_traced_block *b = &s.t.blocks.v[i];

		print_message("%#llx\n", (unsigned long long)cases[i].address);
		assert_int_equal(!b->module, !cases[i].path);
		if (b->module) {
			assert_string_equal(b->module, cases[i].path);
			assert_int_equal(b->offset, cases[i].offset);
		}
	}
	made_model_free(&s);
}

/* A load of rep movsb and a load of mov, of one block: what follows a limit of lines is cut to the 64 that are always
 * followed, and told. */
static void long_accesses_have_a_limit(void **state)
{
	static const uint8_t code[] = { 0x48, 0x8b, 0x06 }, lengths[] = { 3 }; /* mov rax, [rsi] */
	static const struct { uint32_t size; uint64_t cut; } cases[] = {
		{ 65 * 64 - 1, 0 },                                     /* 64 whole lines: not long */
		{ 65 * 64, 0 },                                         /* long, and as many as are followed */
		{ 66 * 64, 2 * 64 },
		{ UINT32_MAX, UINT32_MAX - 64 * 64 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_model s;
		struct made_trace m;
		uint32_t block;

		made_model_begin(&s);
		s.options.long_lines = 65;
		made_trace_begin(&m, "x86_64");
		block = made_trace_block(&m, 0x1000, code, lengths, sizeof(code), 1);
		made_trace_step(&m, block, 1);
		gus_vec_push(&m.accesses, (struct gus_trace_access){ .address = 0x10000, .size = cases[i].size });
		made_trace_flush(&m, 0);
		made_model_run(&s, &m);
		assert_int_equal(s.t.cut_bytes, cases[i].cut);
		assert_int_equal(s.t.notices.n, cases[i].cut != 0);
		assert_int_equal(s.t.notices_told, 0);
		if (cases[i].cut)
			assert_non_null(strstr(s.t.notices.v[0], "bytes that string instructions moved"));
		made_model_free(&s);
	}
}

/* Two threads, one instruction each and then three more of the second: the second one is left out, where one is the
 * most. */
static void threads_have_a_limit(void **state)
{
	static const uint8_t code[] = { 0x90 }, lengths[] = { 1 };

	(void)state;
	for (uint32_t most = 1; most <= 2; most++) {
		struct made_model s;
		struct made_trace m;

		made_model_begin(&s);
		s.options.threads_most = most;
		made_trace_begin(&m, "x86_64");
		made_trace_step(&m, made_trace_block(&m, 0x1000, code, lengths, 1, 1), 0);
		made_trace_flush(&m, 0);
		for (int i = 0; i < 4; i++)
			made_trace_step(&m, 0, 0);
		made_trace_flush(&m, GUS_TRACE_STREAMS_MAX - 1);
		made_model_run(&s, &m);
		assert_int_equal(gus_traced_threads(&s.t), most);
		assert_int_equal(s.t.instructions, most == 1 ? 1 : 5);
		assert_int_equal(s.t.cut_instructions, most == 1 ? 4 : 0);
		assert_int_equal(s.t.notices.n, most == 1);
		if (most == 1)
			assert_string_equal(s.t.notices.v[0],
					    "4 instructions of threads beyond the first 1 are left out");
		made_model_free(&s);
	}
}

/* A trace of one nop at 0x1000, of a program called name that has mapped path there, and its total. */
static struct gus_trace *told_trace(const char *name, const char *path, Gusprof__TraceTotal *total)
{
	static const uint8_t code[] = { 0x90 }, lengths[] = { 1 };
	Gusprof__Mmap map = GUSPROF__MMAP__INIT, late = GUSPROF__MMAP__INIT;
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Record records[3] = { GUSPROF__RECORD__INIT, GUSPROF__RECORD__INIT, GUSPROF__RECORD__INIT };
	Gusprof__Record *list[] = { &records[0], &records[1], &records[2] };
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	struct made_trace m;
	struct gus_trace *t;

	made_trace_begin(&m, "x86_64");
	map.start = late.start = 0x1000;
	map.length = late.length = 0x1000;
	map.path = (char *)(uintptr_t)path;
	late.path = (char *)(uintptr_t)"/late";
	late.time = 1; /* when there is one block */
	comm.name = (char *)(uintptr_t)name;
	records[0].kind_case = GUSPROF__RECORD__KIND_MMAP;
	records[0].mmap = &map;
	records[1].kind_case = GUSPROF__RECORD__KIND_COMM;
	records[1].comm = &comm;
	records[2].kind_case = GUSPROF__RECORD__KIND_MMAP;
	records[2].mmap = &late;
	sideband.n_records = 3;
	sideband.records = list;
	assert_int_equal(gus_trace_writer_records(m.w, &sideband, NULL), 0);
	made_trace_step(&m, made_trace_block(&m, 0x1000, code, lengths, 1, 1), 0);
	made_trace_step(&m, made_trace_block(&m, 0x1100, code, lengths, 1, 1), 0);
	made_trace_flush(&m, 0);
	assert_int_equal(gus_trace_writer_finish(m.w, total, NULL), 0);
	gus_vec_free(&m.steps);
	lseek(m.fd, 0, SEEK_SET);
	t = gus_trace_open_fd(m.fd, NULL);
	assert_non_null(t);
	return t;
}

/* Of three traces: what each says of itself adds up, and code is from where its own program had it just then. */
static void what_traces_say_adds_up(void **state)
{
	static const char *const paths[] = { "/a", "/b", "/c" }, *const names[] = { "one", "two", "three" };
	char *notices[] = { (char *)(uintptr_t)"first.", (char *)(uintptr_t)"second." };
	struct made_model s;

	(void)state;
	made_model_begin(&s);
	gus_traced_open(&s.t, &s.options);
	for (size_t i = 0; i < 3; i++) {
		Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;

		total.omitted = 7;
		total.full = i == 1;
		total.n_notices = i;
		total.notices = notices;
		made_model_read(&s, told_trace(names[i], paths[i], &total));
		assert_int_equal(s.t.full, i > 0);
	}
	made_model_end(&s);
	assert_int_equal(s.t.omitted, 21);
	assert_int_equal(s.t.notices_told, 3);
	assert_string_equal(s.t.notices.v[0], "first.");
	assert_string_equal(s.t.notices.v[1], "first.");
	assert_string_equal(s.t.notices.v[2], "second.");
	assert_true(s.t.programs.n == 3 && s.t.blocks.n == 6);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(s.t.programs.v[i].name, names[i]);
		assert_null(s.t.programs.v[i].trouble);
		assert_string_equal(s.t.blocks.v[2 * i].module, paths[i]);
		assert_string_equal(s.t.blocks.v[2 * i + 1].module, "/late");
	}
	made_model_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_mapping_wins),
		cmocka_unit_test(long_accesses_have_a_limit),
		cmocka_unit_test(threads_have_a_limit),
		cmocka_unit_test(what_traces_say_adds_up),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(the_core_engine_beside),
		cmocka_unit_test(the_core_engine_on_a_sample),
		cmocka_unit_test(the_core_engine_alone),
		cmocka_unit_test(an_odd_machine_alone),
		cmocka_unit_test(odd_machines_by_thread),
		cmocka_unit_test(code_moves_time_on),
		cmocka_unit_test(accesses_move_time_on),
		cmocka_unit_test(machines_that_cannot_be),
		cmocka_unit_test(cached_code_is_not_fetched),
		cmocka_unit_test(stacks_of_threads),
		cmocka_unit_test(accesses_are_as_wide_as_their_instruction),
		cmocka_unit_test(streams_are_told),
		cmocka_unit_test(pieces_change_from_turn_to_turn),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_predictor),
		cmocka_unit_test(test_warm_up),
		cmocka_unit_test(stretches_are_even), cmocka_unit_test(test_two),
		cmocka_unit_test(test_warm),
		cmocka_unit_test(test_slots), cmocka_unit_test(test_code_lines),
		cmocka_unit_test(test_refused_jump), cmocka_unit_test(test_beside),
		cmocka_unit_test(test_late_code), cmocka_unit_test(test_sets), cmocka_unit_test(test_late_phase),
		cmocka_unit_test(test_long_block),
		cmocka_unit_test(test_without_address),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(code_is_bound_by_the_file),
		cmocka_unit_test(windows_share_their_code),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
