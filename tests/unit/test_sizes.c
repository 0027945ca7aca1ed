/* SPDX-License-Identifier: MIT */
/* What a loop's time tells about the buffers of the machine that runs it: the kernels of Palomares 2015, appendices A
 * and B ("quantification of resource sizes"), run by the core engine on machines whose sizes nobody tells to the
 * function that fits them. It sees cycles an iteration, and no more.
 *
 * A kernel is a jam of k square roots, which the divider takes one after the other while retirement waits, a payload of
 * P instructions that each take an entry of the buffer in question, and the end of the loop. The divider never rests as
 * long as the next iteration's first root can be issued before this one's last is done. The first P with which that
 * fails tells the size. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/code/program.h"
#include "model/code/uoptable.h"
#include "model/core/core.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

/* The kernels. */

enum size { SIZE_BRANCHES, SIZE_LOADS, SIZE_STORES, SIZE_RS, SIZE_ROB, SIZE_VECTORS, SIZE_INTS, SIZE_REGISTERS, SIZES };

/* Lines of a table of uops (model/code/uoptable.h) without their IDs, each so many times. */
struct lines {
	const char *text[4];            /* in turn */
	unsigned times;                 /* of all together; of a payload it is P */
};

struct size_kernel {
	unsigned jam;                   /* roots */
	struct lines before[3];         /* what stands between jam and payload */
	struct lines payload;
	/* how many of the payload execute in a cycle, at least: what is more than a jam takes cannot be seen */
	unsigned rate;
	/* entries that are taken beside the payload when the next root has to come in */
	unsigned held;
};

/* held: the last root of the jam (L), the end of the loop (E), the next root (N). */
static const struct size_kernel kernels[SIZES] = {
	[SIZE_BRANCHES] = { .jam = 5, .payload = { { "je flags - 1 5" }, 0 }, .rate = 1, .held = 1 },           /* E */
	[SIZE_LOADS] = { .jam = 5, .payload = { { "load rsi x1 4 2,3" }, 0 }, .rate = 2, .held = 0 },
	[SIZE_STORES] = { .jam = 5, .payload = { { "store rsi;x3 - 1+3 2,3+4" }, 0 }, .rate = 1, .held = 0 },
	[SIZE_RS] = { .jam = 5, .payload = { { "add x1,x1 x2 3 1" }, 0 }, .rate = 1, .held = 1 },               /* N */
	[SIZE_ROB] = { .jam = 5, .payload = { { "nop - - - -" }, 0 }, .rate = 4, .held = 3 },
		/* L E N */
	[SIZE_VECTORS] = { .jam = 15, .payload = { { "xor x3,x5 x4 1 5", "add x3,x3 x4 3 1" }, 0 }, .rate = 2,
		.held = 2 }, /* L N */
	[SIZE_INTS] = { .jam = 15, .payload = { { "int r11 r11 1 0,1,5", "int r12 r12 1 0,1,5", "int r13 r13 1 0,1,5",
		"int r10 r10 1 0,1,5" }, 0 }, .rate = 2, .held = 1 },                                           /* E */
	[SIZE_REGISTERS] = { .jam = 15, .payload = { { "int r10 r10 1 0,1,5", "add x3,x3 x4 3 1" }, 0 }, .rate = 2,
		/* L E N */
		.held = 3 },
};

/* Whether a load and its operation, which are one in the renamer, stay one in the ROB and in the RS: so many of them in
 * front of the kernel of that size move its break by their number, or by twice that. What the second one has in front
 * of them makes their addresses wait for the jam. */
enum fused { FUSED_ROB, FUSED_RS, FUSEDS };

static const struct fusion_kernel {
	struct size_kernel kernel;
	enum size of;
	unsigned one, two;              /* the shift if they are kept, and if not */
} fusion_kernels[FUSEDS] = {
	[FUSED_ROB] = { { .jam = 15, .before = { { { "load+add r12;x0 x2 4+3 2,3+1" }, 20 } },
		.payload = { { "nop - - - -" }, 0 },
		.rate = 4 }, SIZE_ROB, 20, 40 },
	[FUSED_RS] = { { .jam = 5, .before = { { { "mov x1 r13 2 0" }, 1 }, { { "int r12,r13 r12 1 0,1,5" }, 1 },
		{ { "load+add r12;x1 x2 4+3 2,3+1" }, 15 } }, .payload = { { "add x1,x1 x2 3 1" }, 0 }, .rate = 1 },
			SIZE_RS, 17, 32 },
};

/* The jams without anything else. */
enum { JAMS = 2 };
static const struct size_kernel bare[JAMS] = { { .jam = 5 }, { .jam = 15 } };

static size_t put_lines(char *text, size_t room, size_t n, const struct lines *l, unsigned times, unsigned *id)
{
	unsigned kinds = 0;

	while (kinds < 4 && l->text[kinds])
		kinds++;
	for (unsigned i = 0; i < times; i++)
		n += (size_t)snprintf(text + n, room - n, "%u %s\n", ++*id, l->text[i % kinds]);
	return n;
}

/* The kernel with a payload of so many, as a table of uops; to be freed. That of none is the jam alone, where nothing
 * stands in front of the payload. */
static char *kernel_text(const struct size_kernel *k, unsigned payload)
{
	static const struct lines root = { { "sqrt x0 x1 21 0 21" }, 0 }, end = { { "sub+jg rdi rdi,flags 1 5" }, 0 };
	size_t room = (k->jam + payload + 64) * 64, n = 0;
	char *text = gus_zalloc(room);
	unsigned id = 0;

	n = put_lines(text, room, n, &root, k->jam, &id);
	for (size_t i = 0; i < sizeof(k->before) / sizeof(*k->before); i++)
		n = put_lines(text, room, n, &k->before[i], k->before[i].times, &id);
	n = put_lines(text, room, n, &k->payload, payload, &id);
	put_lines(text, room, n, &end, 1, &id);
	return text;
}

/* The fit. */

/* Cycles an iteration of a kernel with a payload of so many. */
struct stopwatch {
	void *context;
	double (*cycles)(void *context, const struct size_kernel *k, unsigned payload);
};

struct sizes {
	/* the first payload that costs time; 0: none does, as far as this can be seen */
	unsigned break_at[SIZES];
	unsigned size[SIZES];           /* entries; 0: more than the kernel can tell */
	int kept[FUSEDS];               /* 1: a fused uop has one entry, 0: it has two, -1: neither is to be seen */
};

/* The first payload that costs time: all smaller ones are free. jam: the time of the jam alone. */
static unsigned first_break(const struct stopwatch *w, const struct size_kernel *k, double jam)
{
	double flat = k->before[0].times ? w->cycles(w->context, k, 0) : jam;
	unsigned free_to = 0, from = (unsigned)(0.95 * jam) * k->rate; /* others execute as well */

	/* what stands before the payload fills the buffer (a cycle is for what shares the divider's port) */
	if (flat > 1.02 * jam)
		return 0;
	if (w->cycles(w->context, k, from) <= flat + 0.5)
		return 0;
	while (from - free_to > 1) {
		unsigned middle = free_to + (from - free_to) / 2;

		if (w->cycles(w->context, k, middle) > flat + 0.5)
			from = middle;
		else
			free_to = middle;
	}
	return from;
}

static int is_near(unsigned shift, unsigned expected)
{
	return shift + expected / 8 >= expected && shift <= expected + expected / 8;
}

static void fit_sizes(const struct stopwatch *w, struct sizes *s)
{
	double jams[JAMS];

	for (int i = 0; i < JAMS; i++)
		jams[i] = w->cycles(w->context, &bare[i], 0);
	for (int i = 0; i < SIZES; i++) {
		s->break_at[i] = first_break(w, &kernels[i], jams[kernels[i].jam == bare[1].jam]);
		s->size[i] = s->break_at[i] ? s->break_at[i] - 1 + kernels[i].held : 0;
	}
	for (int i = 0; i < FUSEDS; i++) {
		const struct fusion_kernel *f = &fusion_kernels[i];
		unsigned at = first_break(w, &f->kernel, jams[f->kernel.jam == bare[1].jam]);
		unsigned shift = s->break_at[f->of] - at;

		s->kept[i] = !at || at > s->break_at[f->of] ? -1 : is_near(shift, f->one) ? 1 : is_near(shift, f->two) ?
			0 : -1;
	}
}

/* The machines. */

/* Most of the time would go into reading tables of uops. So each kernel is read once for each CPU, with the longest
 * payload that a jam has time for, and a shorter one is its beginning and its end. */
enum { LONGEST = 15 * 21 * 4, MASTERS = SIZES + FUSEDS + JAMS, UARCHS = 3 };
static const char *const uarchs[UARCHS] = { "ufs-sandybridge", "ufs-ivybridge", "ufs-haswell" };

struct tables {
	struct gus_uarch *u[UARCHS];
	struct gus_program *masters[UARCHS][MASTERS];
};

struct machine {
	struct tables *tables;
	unsigned uarch;                 /* in uarchs */
	struct gus_uarch *u;
	struct gus_core_config config;
	uint64_t runs;
};

static int tables_begin(void **state)
{
	struct tables *t = gus_zalloc(sizeof(*t));
	struct gus_error err = { 0 };

	for (unsigned i = 0; i < UARCHS; i++) {
		t->u[i] = gus_uarch_parse(uarchs[i], NULL, 0, &gus_uarch_builtin, 0, &err);
		if (!t->u[i])
			return -1;
	}
	*state = t;
	return 0;
}

static int tables_end(void **state)
{
	struct tables *t = *state;

	for (unsigned i = 0; i < UARCHS; i++) {
		for (unsigned k = 0; k < MASTERS; k++)
			if (t->masters[i][k])
				gus_program_free(t->masters[i][k]);
		gus_uarch_free(t->u[i]);
	}
	free(t);
	return 0;
}

static void make(struct machine *m, struct tables *t, unsigned uarch)
{
	*m = (struct machine){ .tables = t, .uarch = uarch, .u = t->u[uarch] };
	gus_core_config_of(&m->config, m->u);
}

static struct gus_program *read_kernel(const struct gus_uarch *u, const struct size_kernel *k, unsigned payload)
{
	char *text = kernel_text(k, payload);
	struct gus_error err = { 0 };
	struct gus_program *p = gus_uoptable_program(u, "kernel", text, strlen(text), &err);

	if (!p)
		fail_msg("%s", err.text);
	free(text);
	return p;
}

static unsigned number_of(const struct size_kernel *k)
{
	if (k >= bare && k < bare + JAMS)
		return SIZES + FUSEDS + (unsigned)(k - bare);
	for (unsigned i = 0; i < FUSEDS; i++)
		if (k == &fusion_kernels[i].kernel)
			return SIZES + i;
	return (unsigned)(k - kernels);
}

static double run_on(struct machine *m, const struct gus_program *p)
{
	const struct gus_core_options options = { .pointers = GUS_CORE_POINTERS_NONE,
		.fetch = m->config.loop_boundary ? GUS_CORE_FETCH_LOOP : GUS_CORE_FETCH_IDEAL };
	struct gus_core_result r;
	struct gus_error err = { 0 };

	if (gus_core_run(p, &m->config, &options, &r, &err) != 0)
		fail_msg("%s", err.text);
	m->runs++;
	return (double)r.steady_cycles / (double)r.steady_iterations;
}

static double cycles_on(void *context, const struct size_kernel *k, unsigned payload)
{
	struct machine *m = context;
	struct gus_program **master = &m->tables->masters[m->uarch][number_of(k)], cut;
	struct gus_op *end, kept;
	double cycles;

	if (!*master)
		*master = read_kernel(m->u, k, k->payload.text[0] ? LONGEST : 0);
	assert_true(payload <= LONGEST);
	cut = **master;
	cut.ops_n -= (k->payload.text[0] ? LONGEST : 0) - payload;
	end = &cut.ops[cut.ops_n - 1];
	kept = *end;
	*end = cut.ops[(*master)->ops_n - 1];
	cycles = run_on(m, &cut);
	*end = kept;
	return cycles;
}

static void fit(struct machine *m, struct sizes *s)
{
	const struct stopwatch watch = { m, cycles_on };

	fit_sizes(&watch, s);
}

static uint32_t *setting_of(struct gus_core_config *c, enum size size)
{
	uint32_t *const settings[SIZES] = { [SIZE_BRANCHES] = &c->branch_buffer, [SIZE_LOADS] = &c->load_buffer,
		[SIZE_STORES] = &c->store_buffer, [SIZE_RS] = &c->rs, [SIZE_ROB] = &c->rob,
			[SIZE_VECTORS] = &c->vector_renames,
		[SIZE_INTS] = &c->int_renames, [SIZE_REGISTERS] = &c->renames };

	return settings[size];
}

static const char *name_of(enum size size)
{
	static const char *const names[SIZES] = { "BB", "LB", "SB", "RS", "ROB", "vector registers",
		"integer registers",
		"registers" };

	return names[size];
}

/* A kernel that is cut is the kernel that is written out. */
static void kernels_that_are_cut(void **state)
{
	static const unsigned payloads[] = { 0, 1, 7, 60, 200 };

	for (unsigned i = 0; i < SIZES; i++)
		for (size_t n = 0; n < sizeof(payloads) / sizeof(*payloads); n++) {
			struct gus_program *whole;
			struct machine m;

			make(&m, *state, i % UARCHS);
			whole = read_kernel(m.u, &kernels[i], payloads[n]);
			assert_true(fabs(cycles_on(&m, &kernels[i], payloads[n]) - run_on(&m, whole)) < 1e-9);
			gus_program_free(whole);
		}
}

/* Table 7.6, and the breaks of the measured curves where the thesis gives them to the payload (appendix A). */
static void the_three_published(void **state)
{
	static const struct {
		unsigned uarch;
		unsigned breaks[4];             /* BB, LB, SB, RS */
		unsigned rob_from, rob_to;      /* between which its ROB curves break */
		int kept[FUSEDS];
	} cases[] = {
		{ 0, { 48, 65, 37, 48 }, 158, 164, { 0, 0 } },
		{ 1, { 48, 65, 37, 51 }, 154, 167, { 1, 0 } },
		{ 2, { 48, 73, 43, 51 }, 184, 191, { 1, 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine m;
		struct sizes s;

		make(&m, *state, cases[i].uarch);
		fit(&m, &s);
		for (unsigned k = 0; k < SIZES; k++) {
			if (s.size[k] != *setting_of(&m.config, k))
				fail_msg("%s: %s are said to be %u, and are %u", m.u->name, name_of(k), s.size[k],
					 *setting_of(&m.config, k));
			if (k < 4 && s.break_at[k] != cases[i].breaks[k])
				fail_msg("%s: %s break at %u, published %u", m.u->name, name_of(k), s.break_at[k],
					 cases[i].breaks[k]);
		}
		assert_in_range(s.break_at[SIZE_ROB], cases[i].rob_from, cases[i].rob_to);
		assert_int_equal(s.kept[FUSED_ROB], cases[i].kept[FUSED_ROB]);
		assert_int_equal(s.kept[FUSED_RS], cases[i].kept[FUSED_RS]);
	}
}

/* Where nothing ends nothing is found. */
static void no_sizes(void **state)
{
	struct machine m;
	struct sizes s;

	make(&m, *state, 0);
	gus_core_config_infinite(&m.config);
	fit(&m, &s);
	for (int k = 0; k < SIZES; k++)
		assert_int_equal(s.size[k], 0);
	assert_int_equal(s.kept[FUSED_ROB], -1);
	assert_int_equal(s.kept[FUSED_RS], -1);
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint32_t draw(uint64_t *seed, uint32_t from, uint32_t to)
{
	return from + (uint32_t)(next(seed) % (to - from + 1));
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Sizes that nobody knows, within what the kernels can see: each of them ends before the others that its payload takes
 * too (a load has a register and a ROB entry, a store two of the ROB), and before a jam is over. */
static void draw_machine(struct machine *m, struct tables *t, uint64_t *seed)
{
	struct gus_core_config *c = &m->config;
	uint32_t fewer, more;

	make(m, t, draw(seed, 0, 2));
	c->vector_renames = draw(seed, 100, 180);
	c->int_renames = draw(seed, c->vector_renames - 40, c->vector_renames + 40);
	fewer = least(c->vector_renames, c->int_renames);
	more = c->vector_renames + c->int_renames - fewer;
	c->renames = draw(seed, more + 4, 2 * fewer - 8);
	c->rob = draw(seed, c->renames + 4, 380);
	c->load_buffer = draw(seed, 24, fewer < 120 ? 90 : 120);
	c->store_buffer = draw(seed, 8, least(96, c->rob / 2 - 4));
	c->branch_buffer = draw(seed, 8, 96);
	c->rs = draw(seed, 36, 90);
}

/* Without GUS_SEED always the same machines, so that a failure is there again tomorrow. */
static void hidden_sizes(void **state)
{
	const char *given = getenv("GUS_SEED"), *number = getenv("GUS_MACHINES");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 2015, runs = 0;
	unsigned machines = number ? (unsigned)strtoul(number, NULL, 0) : 200;

	print_message("GUS_SEED=%llu, %u machines\n", (unsigned long long)seed, machines);
	for (unsigned i = 0; i < machines; i++) {
		struct machine m;
		struct sizes s;

		draw_machine(&m, *state, &seed);
		fit(&m, &s);
		for (unsigned k = 0; k < SIZES; k++) {
			unsigned is = *setting_of(&m.config, k), said = s.size[k];

			if (said != is)
				fail_msg("machine %u, %s: %s are said to be %u, and are %u", i, m.u->name, name_of(k),
					 said, is);
		}
		assert_int_equal(s.kept[FUSED_ROB], gus_uarch_value(m.u, "rob_fused", 0) != 0);
		assert_int_equal(s.kept[FUSED_RS], 0);
		runs += m.runs;
	}
	print_message("%llu runs of kernels\n", (unsigned long long)runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_that_are_cut),
		cmocka_unit_test(the_three_published),
		cmocka_unit_test(no_sizes),
		cmocka_unit_test(hidden_sizes),
	};

	return cmocka_run_group_tests(tests, tables_begin, tables_end);
}
