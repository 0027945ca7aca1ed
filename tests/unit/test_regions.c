/* SPDX-License-Identifier: MIT */
/* attribution/traced, what a trace is shown as: the order and the names of its regions, and how much of what was
 * sampled they cover. Traces are of the program of made_stacks.h, whose blocks and loops are known. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/traced/coverage.h"
#include "attribution/traced/regions.h"
#include "base/error.h"
#include "model/analysis/agreement.h"
#include "model/code/program.h"
#include "proto/reader.h"
#include "symbolizer/insn/loops.h"
#include "tests/unit/made_stacks.h"
#include "tests/unit/made_trace.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define TRACED 0x7e0000000000ull        /* where the program is mapped in traces; in recordings it is elsewhere */
#define LIB (TRACED + 0x100000u)         /* and a file that nobody has */

/* By offset in the code, where an instruction begins there: its length. */
static const uint8_t lengths[] = {
	[0x00] = 2, [0x02] = 3, [0x05] = 2, [0x07] = 2, [0x09] = 2, [0x0b] = 2, [0x0d] = 3, [0x10] = 2, [0x12] = 5,
	[0x17] = 2, [0x19] = 2, [0x1b] = 1, [0x20] = 1, [0x21] = 1, [0x22] = 5, [0x27] = 2,
};

/* One of the program's blocks, as if the file were mapped at base. */
static uint32_t add_block(struct made_trace *m, uint64_t base, unsigned number)
{
	const struct made_block *b = &made_blocks[number];
	uint8_t of[8];

	for (unsigned i = 0, at = b->at; i < b->insns; at += lengths[at], i++)
		of[i] = lengths[at];
	return made_trace_block(m, base + MADE_TEXT + b->at, made_code + b->at, of, b->size, b->insns);
}

/* Executes it once. */
static void add_step(struct made_trace *m, uint64_t base, unsigned number)
{
	made_trace_step(m, add_block(m, base, number), 0);
}

static void begin(struct made_model *s, struct made_trace *m)
{
	made_model_begin(s);
	made_add_image(s->options.symbols);
	made_trace_begin(m, "x86_64");
}

static void model(struct made_model *s, struct made_trace *m)
{
	gus_traced_open(&s->t, &s->options);
	gus_traced_map(&s->t, TRACED, 0x20000, 0, MADE_MODULE, NULL, 0);
	gus_traced_map(&s->t, LIB, 0x20000, 0, "/nowhere/lib.so", NULL, 0);
	made_model_read(s, made_trace_end(m));
	made_model_end(s);
}

/* The table. */

/* By cycles, and where they are the same by number; what was not executed is left out, whatever it is said to cost. */
static void regions_stand_in_their_order(void **state)
{
	static const struct gus_traced_region regions[] = {
		{ .executed = 1, .cycles = { 5, 99 } }, { .executed = 2, .cycles = { 7, 1 } },
		{ .executed = 1, .cycles = { 5, 50 } }, { .executed = 0, .cycles = { 100 } },
		{ .executed = 1, .cycles = { 0 } }, { .executed = 9, .cycles = { 0 } },
		{ .executed = 1, .cycles = { 7.5 } }, { .executed = 1, .cycles = { 5, 70 } },
	};
	static const uint32_t want[] = { 6, 1, 0, 2, 7, 4, 5 };
	struct gus_traced t = { .options = { .weight = 0 } };
	uint32_t *order;
	size_t n;

	(void)state;
	for (size_t i = 0; i < COUNT(regions); i++)
		gus_vec_push(&t.regions, regions[i]);
	order = gus_traced_order(&t, &n);
	assert_int_equal(n, COUNT(want));
	assert_memory_equal(order, want, sizeof(want));
	free(order);
	t.regions.n = 0;
	order = gus_traced_order(&t, &n);
	assert_int_equal(n, 0);
	assert_non_null(order);
	free(order);
	gus_vec_free(&t.regions);
}

/* Each block's, and that of one that nothing is mapped at or whose file is not there. */
static void regions_are_called_by_function_and_loop(void **state)
{
	static const struct { uint64_t base; unsigned block; const char *name; } cases[] = {
		{ TRACED, F, "f" }, { TRACED, LEAVE, "f" }, { TRACED, G, "g" },
		{ TRACED, OUTER, "f, loop at +0x2" }, { TRACED, CALL, "f, loop at +0x2" },
		{ TRACED, BACK, "f, loop at +0x2" },
		{ TRACED, INNER, "f, loop at +0x5" }, { TRACED, ODD, "f, loop at +0x5" },
		{ TRACED, NEXT, "f, loop at +0x5" },
		{ TRACED, M, "m, loop at +0x0" }, { TRACED, AGAIN, "m, loop at +0x0" },
		{ LIB, F, "[unknown]" }, { 0x10000, F, "[unknown]" },
	};
	struct made_model s;
	struct made_trace m;
	char name[64];

	(void)state;
	begin(&s, &m);
	for (size_t i = 0; i < COUNT(cases); i++)
		add_step(&m, cases[i].base, cases[i].block);
	made_trace_flush(&m, 0);
	model(&s, &m);
	for (size_t i = 0; i < COUNT(cases); i++) {
		gus_traced_region_name(&s.t, s.t.blocks.v[i].region, name, sizeof(name));
		assert_string_equal(name, cases[i].name);
	}
	gus_traced_region_name(&s.t, s.t.blocks.v[4].region, name, 8);
	assert_string_equal(name, "f, loop");
	made_model_free(&s);
}

/* A loop of a function whose name is not known. */
static void loops_need_no_name(void **state)
{
	struct gus_graph graph = { 0 };
	struct gus_traced t = { .options = { .weight = 0 } };
	char name[64];

	(void)state;
	gus_graph_read(&graph, GUS_ISA_X86_64, made_code, 0x1c);
	assert_int_equal(graph.loops.n, 2);
	gus_vec_push(&t.functions, (struct gus_traced_function){ .graph = &graph });
	for (uint32_t i = 0; i < 2; i++) {
		unsigned head = (unsigned)graph.insns.v[graph.loops.v[i].head].offset;

		gus_vec_push(&t.regions, (struct gus_traced_region){ .loop = i });
		gus_traced_region_name(&t, i, name, sizeof(name));
		assert_string_equal(name, head == 2 ? "[unknown], loop at +0x2" : "[unknown], loop at +0x5");
	}
	gus_vec_free(&t.functions);
	gus_vec_free(&t.regions);
	gus_graph_free(&graph);
}

/* The inner loop has three ops a turn: test and jz, inc, dec and jnz. So many turns in so many passes, each left for
 * the outer loop, and then so often g. */
static void run_inner(struct made_model *s, unsigned turns, unsigned passes, unsigned calls)
{
	struct made_trace m;
	uint32_t outer, inner, next, g;

	begin(s, &m);
	s->options.both = true;
	inner = add_block(&m, TRACED, INNER); /* the first region, which counts as any other */
	outer = add_block(&m, TRACED, OUTER);
	next = add_block(&m, TRACED, NEXT);
	g = add_block(&m, TRACED, G);
	for (unsigned pass = 0; pass < passes; pass++) {
		for (unsigned i = 0; i < turns; i++) {
			made_trace_step(&m, inner, 0);
			made_trace_step(&m, next, 0);
		}
		made_trace_step(&m, outer, 0);
	}
	for (unsigned i = 0; i < calls; i++)
		made_trace_step(&m, g, 0);
	made_trace_flush(&m, 0);
	model(s, &m);
}

/* A stretch of 512 ops in which the loop is not left is enough for both engines to be compared on it, a turn less is
 * not, however often it comes; nor is a loop that hardly takes time. Of what is no loop nothing is kept. */
static void engines_are_compared_on_steady_loops(void **state)
{
	static const struct { unsigned turns, passes, calls; bool compared; } cases[] = {
		{ 170, 1, 0, false }, { 171, 1, 0, true }, { 170, 9, 0, false }, { 171, 9, 0, true },
		{ 9000, 1, 0, true }, { 200, 1, 100, true }, { 200, 1, 20000, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_model s;
		unsigned compared = 0;

		run_inner(&s, cases[i].turns, cases[i].passes, cases[i].calls);
		for (size_t k = 0; k < s.t.regions.n; k++) {
			const struct gus_agreement *a = s.t.regions.v[k].agreement;

			compared += a != NULL;
			/* inc waits for itself, and nothing takes longer than a jump that goes wrong */
			if (a && (a->core < 1 || a->core > 30 || a->stream < 0.99 || a->stream > 30))
				fail_msg("case %zu: core %.2f, stream %.2f", i, a->core, a->stream);
		}
		if (compared != cases[i].compared)
			fail_msg("case %zu", i);
		made_model_free(&s);
	}
}

/* By function and by where the last instruction begins; without a function by its address. */
static void branches_are_called_by_their_place(void **state)
{
	static const struct { uint64_t base; unsigned block; const char *name; } cases[] = {
		{ TRACED, F, "f+0x0" }, { TRACED, INNER, "f+0x7" }, { TRACED, NEXT, "f+0x10" },
		{ TRACED, BACK, "f+0x19" }, { TRACED, LEAVE, "f+0x1b" },
		{ TRACED, G, "g+0x1" }, { TRACED, M, "m+0x0" }, { TRACED, AGAIN, "m+0x5" },
		{ LIB, INNER, "0x7e0000101007" }, { 0x10000, NEXT, "0x11010" },
	};
	struct made_model s;
	struct made_trace m;
	char name[64];

	(void)state;
	begin(&s, &m);
	for (size_t i = 0; i < COUNT(cases); i++)
		add_step(&m, cases[i].base, cases[i].block);
	made_trace_flush(&m, 0);
	model(&s, &m);
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		gus_traced_branch_name(&s.t, i, name, sizeof(name));
		assert_string_equal(name, cases[i].name);
	}
	gus_traced_branch_name(&s.t, 0, name, 3);
	assert_string_equal(name, "f+");
	made_model_free(&s);
}

/* A library with one function, whose lines are known; false: there is no compiler. */
static bool compile(const char *folder, const char *library)
{
	char command[512];

	snprintf(command, sizeof(command), "cd %s && command -v cc >/dev/null && printf '#line 12 \"/src/file.c\"\\n"
		 "int known(int x) { return x + 1; }\\n' >file.c && "
		 "cc -g -O0 -fPIC -shared -nostdlib -o %s file.c 2>/dev/null", folder, library);
	return system(command) == 0;
}

/* Where it begins in the file. */
static uint64_t start_of(struct gus_symbols *symbols, const char *path, const char *function)
{
	struct gus_module module = { .kind = GUS_MODULE_FILE, .path = path };
	struct gus_name names[GUS_NAMES_MAX];

	for (uint64_t offset = 1; offset < 0x8000; offset++) {
		gus_symbols_names(symbols, &module, offset, GUS_DEPTH_FUNCTION, names);
		if (names[0].function && strcmp(names[0].function, function) == 0)
			return names[0].start;
	}
	fail_msg("there is no %s in %s", function, path);
	return 0;
}

/* The nop and the ret of g, at the place of a function whose source is known. */
static void branches_are_called_by_their_line(void **state)
{
	char folder[] = "/tmp/gusprof-test-XXXXXX", path[64], source[64], name[64];
	struct made_model s;
	struct made_trace m;
	bool compiled;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/known.so", folder);
	snprintf(source, sizeof(source), "%s/file.c", folder);
	compiled = compile(folder, path);
	if (compiled) {
		begin(&s, &m);
		add_step(&m, TRACED + start_of(s.options.symbols, path, "known") - MADE_TEXT - made_blocks[G].at, G);
		made_trace_flush(&m, 0);
		gus_traced_open(&s.t, &s.options);
		gus_traced_map(&s.t, TRACED, 0x20000, 0, path, NULL, 0);
		made_model_read(&s, made_trace_end(&m));
		made_model_end(&s);
		gus_traced_branch_name(&s.t, 0, name, sizeof(name));
		made_model_free(&s);
	}
	unlink(path);
	unlink(source);
	rmdir(folder);
	if (!compiled) {
		print_message("skipped: it needs a C compiler\n");
		skip();
	}
	assert_string_equal(name, "/src/file.c:12");
}

/* Three streams of so many turns of two instructions, of which the first so many are warm-up; and none. */
static void the_longest_thread_has_its_warm_up(void **state)
{
	static const struct { unsigned turns[3], warm_up; } cases[] = {
		{ { 3, 5, 4 }, 0 }, { { 3, 5, 4 }, 6 }, { { 3, 5, 4 }, 1000 }, { { 5, 3, 4 }, 2 }, { { 4, 3, 5 }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_model s;
		struct made_trace m;

		begin(&s, &m);
		s.options.warm_up = cases[i].warm_up;
		for (uint32_t stream = 0; stream < COUNT(cases[i].turns); stream++) {
			for (unsigned n = 0; n < cases[i].turns[stream]; n++)
				add_step(&m, TRACED, INNER);
			made_trace_flush(&m, stream);
		}
		model(&s, &m);
		assert_int_equal(gus_traced_threads(&s.t), 3);
		assert_int_equal(gus_traced_longest_thread(&s.t), 10);
		made_model_free(&s);
		begin(&s, &m);
		model(&s, &m);
		assert_int_equal(gus_traced_longest_thread(&s.t), 0);
		made_model_free(&s);
	}
}

/* Coverage. */

#define AT(x) (MADE_BASE + MADE_TEXT + (x))
#define TWIN(x) (MADE_TWIN + MADE_TEXT + (x))
#define KERNEL 0xffffffff81000000ull

struct covered {
	struct made_model s;
	struct made_trace m;
	struct gus_columns batch;
	struct gus_reader *reader;
	struct gus_coverage c;
};

/* A trace in which f and its loops were executed, and neither g nor m. */
static void trace_f(struct covered *c)
{
	static const unsigned blocks[] = { F, OUTER, INNER, ODD, NEXT, INNER, ODD, NEXT, CALL, BACK, LEAVE };

	*c = (struct covered){ .reader = NULL };
	begin(&c->s, &c->m);
	for (size_t i = 0; i < COUNT(blocks); i++)
		add_step(&c->m, TRACED, blocks[i]);
	made_trace_flush(&c->m, 0);
	model(&c->s, &c->m);
}

static void sample(struct covered *c, uint64_t ip, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		gus_columns_push(&c->batch, &(struct gus_sample){ .ip = ip, .time = MADE_START + 1 + c->batch.n,
				 .period = 1000, .pid = 10, .tid = 10 + i % 2,
				 .mode = ip >= KERNEL ? GUS_MODE_KERNEL : GUS_MODE_USER });
}

/* Writes what was sampled, and opens it. */
static void record(struct covered *c)
{
	char path[] = "/tmp/gusprof-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	assert_true(made_write(path, &c->batch, 0));
	c->reader = gus_reader_open(path, NULL);
	assert_non_null(c->reader);
	unlink(path);
}

static void load(struct covered *c)
{
	struct gus_error err = { 0 };

	record(c);
	if (gus_coverage_load(&c->c, &c->s.t, c->reader, NULL, &err) != 0)
		fail_msg("%s", err.text);
}

static void drop(struct covered *c)
{
	gus_coverage_free(&c->c);
	gus_reader_close(c->reader);
	gus_columns_free(&c->batch);
	made_model_free(&c->s);
}

/* What regions have is what is covered, and with what is told of elsewhere it is all, unless that is too much. */
static void check_sums(const struct covered *c)
{
	uint64_t inside = 0, outside = 0, by_insn = 0, weights = 0;

	for (size_t i = 0; i < c->s.t.regions.n; i++) {
		inside += c->c.by_region[i];
		weights += c->c.weights[i];
		assert_int_equal(c->c.weights[i], 1000 * c->c.by_region[i]);
	}
	for (size_t i = 0; i < c->s.t.program->insns_n; i++)
		by_insn += c->c.by_insn[i];
	assert_int_equal(by_insn, inside);
	assert_int_equal(weights, c->c.covered_weight);
	assert_int_equal(c->c.weight, 1000 * c->c.samples);
	assert_int_equal(c->c.weight2, 1e6 * (double)c->c.samples);
	assert_int_equal(c->c.kernel_weight, 1000 * c->c.kernel);
	for (size_t i = 0; i < c->c.elsewhere_n; i++)
		outside += c->c.elsewhere[i].samples;
	assert_int_equal(inside, c->c.covered);
	if (c->c.elsewhere_n < GUS_COVERAGE_ELSEWHERE)
		assert_int_equal(inside + outside, c->c.samples);
}

static uint64_t covered_in(const struct covered *c, const char *region)
{
	char name[64];

	for (uint32_t i = 0; i < c->s.t.regions.n; i++) {
		gus_traced_region_name(&c->s.t, i, name, sizeof(name));
		if (strcmp(name, region) == 0)
			return c->c.by_region[i];
	}
	fail_msg("there is no region %s", region);
	return 0;
}

/* Samples of the instruction at a place of the file that was traced, in whichever block. */
static uint64_t covered_at(const struct covered *c, uint64_t offset)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < c->s.t.program->insns_n; i++)
		if (c->s.t.program->insns[i].offset == TRACED + MADE_TEXT + offset)
			samples += c->c.by_insn[i];
	return samples;
}

static void elsewhere_is(const struct covered *c, size_t i, const char *name, unsigned samples)
{
	assert_true(i < c->c.elsewhere_n);
	assert_string_equal(c->c.elsewhere[i].name, name);
	assert_int_equal(c->c.elsewhere[i].samples, samples);
}

/* Samples, and not periods, of several threads. The recording's process has the file elsewhere than the trace's. */
static void samples_are_counted_by_region(void **state)
{
	struct covered c;

	(void)state;
	trace_f(&c);
	sample(&c, AT(0x00), 1);
	sample(&c, AT(0x1b), 2);        /* f: 3 */
	sample(&c, AT(0x02), 4);
	sample(&c, AT(0x19), 1);        /* the outer loop: 5 */
	sample(&c, AT(0x05), 10);
	sample(&c, AT(0x07), 20);
	sample(&c, AT(0x10), 3);        /* the inner one: 33 */
	load(&c);
	assert_int_equal(c.c.samples, 41);
	assert_int_equal(c.c.covered, 41);
	assert_int_equal(c.c.elsewhere_n, 0);
	assert_int_equal(covered_in(&c, "f"), 3);
	assert_int_equal(covered_in(&c, "f, loop at +0x2"), 5);
	assert_int_equal(covered_in(&c, "f, loop at +0x5"), 33);
	assert_int_equal(covered_at(&c, 0x00), 1);
	assert_int_equal(covered_at(&c, 0x05), 10);
	assert_int_equal(covered_at(&c, 0x07), 20);
	assert_int_equal(covered_at(&c, 0x10), 3);
	assert_int_equal(covered_at(&c, 0x1b), 2);
	check_sums(&c);
	drop(&c);
}

/* Behind 500 regions in as many files, which nobody sampled. */
static void each_region_has_its_own_count(void **state)
{
	enum { FILES = 500 };
	struct covered c = { .reader = NULL };
	char path[32];

	(void)state;
	begin(&c.s, &c.m);
	for (uint64_t i = 1; i <= FILES; i++)
		add_step(&c.m, i << 20, G);
	add_step(&c.m, TRACED, G);
	made_trace_flush(&c.m, 0);
	gus_traced_open(&c.s.t, &c.s.options);
	gus_traced_map(&c.s.t, TRACED, 0x20000, 0, MADE_MODULE, NULL, 0);
	for (unsigned i = 1; i <= FILES; i++) {
		snprintf(path, sizeof(path), "/nowhere/%u", i);
		gus_traced_map(&c.s.t, (uint64_t)i << 20, 0x20000, 0, path, NULL, 0);
	}
	made_model_read(&c.s, made_trace_end(&c.m));
	made_model_end(&c.s);
	assert_int_equal(c.s.t.regions.n, FILES + 1);
	sample(&c, AT(0x21), 3);
	load(&c);
	assert_int_equal(c.c.covered, 3);
	assert_int_equal(c.c.by_region[FILES], 3);
	check_sums(&c);
	drop(&c);
}

/* Functions that were not executed, a place where no instruction begins, the same code in another file, files without
 * names, the kernel, and where nothing is mapped. */
static void what_was_not_traced_is_elsewhere(void **state)
{
	struct covered c;

	(void)state;
	trace_f(&c);
	sample(&c, AT(0x05), 2);
	sample(&c, AT(0x06), 1);
	sample(&c, AT(0x20), 3);
	sample(&c, AT(0x21), 4);        /* g: 7 */
	sample(&c, AT(0x22), 6);
	sample(&c, TWIN(0x05), 5);
	sample(&c, MADE_LIBRARY + 0x10, 3);
	sample(&c, MADE_LIBRARY + 0x20, 1);
	sample(&c, KERNEL + 0x10, 3);
	sample(&c, 0x5000, 2);
	load(&c);
	assert_int_equal(c.c.samples, 30);
	assert_int_equal(c.c.covered, 2);
	assert_int_equal(c.c.elsewhere_n, 7);
	assert_int_equal(c.c.kernel, 3);
	elsewhere_is(&c, 0, "g [app]", 7);
	elsewhere_is(&c, 1, "m [app]", 6);
	elsewhere_is(&c, 2, "f [twin]", 5);
	elsewhere_is(&c, 3, "[unknown] [lib.so]", 4);
	elsewhere_is(&c, 4, "[unknown] [[kernel]]", 3);
	elsewhere_is(&c, 5, "[unknown] [[unknown]]", 2);
	elsewhere_is(&c, 6, "f [app]", 1);
	check_sums(&c);
	drop(&c);
}

/* Ten functions; of those with as many samples the names decide, and two stay behind. */
static void the_eight_most_are_told(void **state)
{
	static const struct { uint64_t ip; unsigned samples; } at[] = {
		{ 0x5000, 2 }, { KERNEL, 2 }, { MADE_LIBRARY, 2 }, { TWIN(0x22), 2 }, { TWIN(0x20), 2 },
		{ TWIN(0x00), 9 }, { AT(0x22), 3 }, { AT(0x20), 2 }, { TWIN(0x100), 1 }, { AT(0x100), 1 },
	};
	static const struct { const char *name; unsigned samples; } want[] = {
		{ "f [twin]", 9 }, { "m [app]", 3 }, { "[unknown] [[kernel]]", 2 }, { "[unknown] [[unknown]]", 2 },
		{ "[unknown] [lib.so]", 2 }, { "g [app]", 2 }, { "g [twin]", 2 }, { "m [twin]", 2 },
	};
	struct covered c;

	(void)state;
	trace_f(&c);
	for (size_t i = 0; i < COUNT(at); i++)
		sample(&c, at[i].ip, at[i].samples);
	load(&c);
	assert_int_equal(c.c.samples, 26);
	assert_int_equal(c.c.covered, 0);
	assert_int_equal(c.c.elsewhere_n, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++)
		elsewhere_is(&c, i, want[i].name, want[i].samples);
	check_sums(&c);
	drop(&c);
}

static void of_an_empty_recording_nothing_is_covered(void **state)
{
	struct covered c;

	(void)state;
	trace_f(&c);
	load(&c);
	assert_true(c.c.samples == 0 && c.c.covered == 0 && c.c.elsewhere_n == 0);
	check_sums(&c);
	drop(&c);
}

/* A trace of nothing covers nothing. */
static void an_empty_trace_covers_nothing(void **state)
{
	struct covered c = { .reader = NULL };

	(void)state;
	begin(&c.s, &c.m);
	model(&c.s, &c.m);
	sample(&c, AT(0x05), 2);
	load(&c);
	assert_true(c.c.samples == 2 && c.c.covered == 0);
	elsewhere_is(&c, 0, "f [app]", 2);
	check_sums(&c);
	drop(&c);
}

/* Where the recording was, there is a folder when it is read. */
static void what_cannot_be_read_is_refused(void **state)
{
	int probe = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder = dup(probe);
	struct gus_error err = { 0 };
	struct covered c;

	(void)state;
	trace_f(&c);
	sample(&c, AT(0x05), 2);
	close(probe); /* the lowest number that is free is the reader's */
	record(&c);
	assert_int_equal(dup2(folder, probe), probe);
	close(folder);
	assert_int_equal(gus_coverage_load(&c.c, &c.s.t, c.reader, NULL, &err), -1);
	assert_int_equal(err.code, GUS_E_SYSTEM);
	assert_int_equal(c.c.samples, 0);
	drop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_stand_in_their_order),
		cmocka_unit_test(regions_are_called_by_function_and_loop),
		cmocka_unit_test(loops_need_no_name),
		cmocka_unit_test(engines_are_compared_on_steady_loops),
		cmocka_unit_test(branches_are_called_by_their_place),
		cmocka_unit_test(branches_are_called_by_their_line),
		cmocka_unit_test(the_longest_thread_has_its_warm_up),
		cmocka_unit_test(samples_are_counted_by_region),
		cmocka_unit_test(each_region_has_its_own_count),
		cmocka_unit_test(what_was_not_traced_is_elsewhere),
		cmocka_unit_test(the_eight_most_are_told),
		cmocka_unit_test(of_an_empty_recording_nothing_is_covered),
		cmocka_unit_test(an_empty_trace_covers_nothing),
		cmocka_unit_test(what_cannot_be_read_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
