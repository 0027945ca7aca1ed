/* SPDX-License-Identifier: MIT */
/* The parts of the fit of caches and TLBs, each by itself, against memories that are formulas: so many lines and pages
 * have room, what is behind them costs more, and all of it from one place to the next. test_memory_fits has them find
 * whole memories. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/calibration/fit.h"
#include "model/calibration/host.h"
#include "model/calibration/memory.h"
#include "model/calibration/micro.h"
#include "tests/unit/made_program.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))
#define HIGH GUS_CONFIDENCE_HIGH
#define MEDIUM GUS_CONFIDENCE_MEDIUM
#define LOW GUS_CONFIDENCE_LOW
#define NONE GUS_CONFIDENCE_NONE

enum { L1 = GUS_CACHING_L1, L2, L3, FAR, PAGE = 4096, LINE = 64, HUGE = 2 << 20 };

/* Lines that fit, and cycles of a load; ways of L1 and L2. Pages that fit, and how much more a load takes then. */
struct made_memory {
	uint64_t lines[FAR];
	double cycles[FAR + 1];
	unsigned ways[2], line;
	uint64_t pages, pages_second, pages_huge;
	unsigned page_ways, second_ways;
	double second, walk;
	double flight, near_flight;     /* lines that are on their way to L1, of memory and of L3, and walks */
	unsigned walkers;
	double loads, stores;           /* a cycle, of so many bytes at most */
	unsigned width;
	double a_line[FAR + 1];         /* cycles that a line of a level takes of its way */
	double blurred;                 /* behind L2 the cost goes up over so many times its size; 0: at once */
	bool small;                     /* huge pages are none for the TLB */
	double again;                   /* so many times longer takes the second walk over all memory; 0: as long */
	unsigned runs, fails_at, resumed;
	uint64_t longest, warm;         /* bytes that any of them has, and passes before it is timed */
};

static const struct made_memory made = {
	.lines = { 512, 4096, 131072 }, .cycles = { 4, 14, 40, 200 }, .ways = { 8, 8 }, .line = 64, .pages = 64,
	.flight = 10, .near_flight = 10, .walkers = 2, .loads = 2, .stores = 1, .width = 32, .a_line = { 0, 2, 4, 8 },
	.pages_second = 1024, .pages_huge = 512, .page_ways = 4, .second_ways = 8, .second = 7, .walk = 30,
};

static uint64_t divisor(uint64_t a, uint64_t b)
{
	return b ? divisor(b, a % b) : a;
}

/* Of a number of entries in sets of so many ways, those that can be had by what lies so far apart. */
static uint64_t room(uint64_t entries, unsigned ways, uint64_t apart)
{
	return entries / divisor(entries / ways, apart);
}

/* Lines that a list takes of a cache behind L1: one of every few that lie in a page, as it is walked evenly. */
static double lines_of(const struct gus_micro *k, const struct gus_micro_list *l)
{
	return (double)l->places * (k->huge && l->distance < PAGE ? (double)l->distance / LINE : 1);
}

static double cache_cycles(const struct made_memory *m, const struct gus_micro *k, const struct gus_micro_list *l)
{
	double lines = lines_of(k, l), part;

	if (l->skews < 2 && l->places <= room(m->lines[L1], m->ways[L1], l->distance / LINE))
		return m->cycles[L1];
	if (l->skews == 61 && l->places <= m->lines[L1])
		return m->cycles[L1];
	if (l->skews == 4) /* in four sets of L2, if they lie a multiple of its sets apart */
		return m->cycles[l->places <= 4 * m->ways[1] ||
				 l->distance % (m->lines[L2] / m->ways[1] * LINE) ? L2 : L3];
	if (lines <= (double)m->lines[L2])
		return m->cycles[L2];
	part = m->blurred > 0 ? fmin(1, (lines / (double)m->lines[L2] - 1) / m->blurred) : 1;
	if (lines <= (double)m->lines[L3])
		return m->cycles[L2] + part * (m->cycles[L3] - m->cycles[L2]);
	return m->cycles[FAR];
}

static double page_cycles(const struct made_memory *m, const struct gus_micro *k, const struct gus_micro_list *l)
{
	double pages = (double)(l->places * l->distance) / PAGE, each = l->block ? (double)l->block : 1;
	uint64_t apart = l->distance / PAGE;

	if (k->huge && !m->small)
		return (double)(l->places * l->distance) / HUGE <= (double)m->pages_huge ? 0 : m->second;
	if (apart) {
		if (l->places <= room(m->pages, m->page_ways, apart))
			return 0;
		return l->places <= room(m->pages_second, m->second_ways, apart) ? m->second : m->walk;
	}
	if (pages <= (double)m->pages)
		return 0;
	if (pages > (double)m->pages_second)
		return m->walk * (1 - (each <= 1) * (double)m->pages_second / pages) / each;
	return m->second * (1 - (each <= 1) * (double)m->pages / pages) / each;
}

/* Loads of lists side by side: as many as are on their way, or one behind the other. */
static double volley_cycles(const struct made_memory *m, const struct gus_micro *k, unsigned loads)
{
	const struct gus_micro_list *l = &k->lists.v[0];
	unsigned level = (double)loads * lines_of(k, l) <= (double)m->lines[L3] ? L3 : FAR;

	return fmax(m->cycles[level], loads * m->cycles[level] / (level == L3 ? m->near_flight : m->flight));
}

/* The level of so many bytes, which are read from their beginning to their end, or written. */
static double stream_cycles(const struct made_memory *m, const struct gus_micro *k, unsigned width)
{
	double accesses = (double)k->accesses.n, lines = (double)k->arena / LINE;
	unsigned level = L1;

	while (level < FAR && lines > (double)m->lines[level])
		level++;
	if (level > L1)
		return accesses * width / LINE * m->a_line[level];
	return accesses / (strstr(k->name, "written") ? m->stores : m->loads) *
		(width > m->width ? (double)width / m->width : 1);
}

static double cycles_of(struct made_memory *m, const struct gus_micro *k)
{
	const struct gus_micro_list *l = k->lists.v;
	unsigned apart, steps = 0, each, lists;
	double cycles;

	if (strstr(k->name, " streams of "))
		return stream_cycles(m, k, (unsigned)strtoul(strchr(k->name, ',') + 1, NULL, 10));
	if (sscanf(k->name, "%u loads of %u lists", &each, &lists) == 2) {
		assert_true(k->huge);
		return (double)k->accesses.n / (each * lists) * volley_cycles(m, k, each * lists);
	}
	for (size_t i = 0; i < k->accesses.n; i++)
		steps += k->accesses.v[i].step;
	if (sscanf(k->name, "lines, %u apart", &apart) == 1)
		return 8 * (m->cycles[L2] + (apart < m->line ? m->cycles[L1] : m->cycles[L2]));
	cycles = cache_cycles(m, k, l) + page_cycles(m, k, l);
	if (k->lists.n > 1) /* walks side by side */
		return steps / (double)k->lists.n * fmax(cycles, (double)k->lists.n * m->walk / m->walkers);
	return steps * cycles *
		(k->patterns.n && m->resumed++ && m->again > 0 ? m->again : 1);
}

static bool writes(const struct gus_insn_info *info, unsigned reg)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].reg == reg && info->access[i].use & GUS_ACCESS_WRITE)
			return true;
	return false;
}

/* One access of the code is the one that is told: from a register for each list or stream, which a step loads anew. */
static void check_access(const struct gus_micro *k, const struct gus_insn_info *info, const struct gus_micro_access *a,
			 uint8_t bases[16])
{
	const struct gus_insn_memory *memory = &info->memory[0];
	uint64_t wrap = a->way == GUS_MICRO_STRIDE ? a->wrap : 1;
	unsigned of = a->way == GUS_MICRO_STRIDE ? (unsigned)((uint64_t)a->offset / wrap) : a->list;

	assert_int_equal(memory->displacement, a->offset - (a->way == GUS_MICRO_STRIDE ? (int64_t)(of * wrap) : 0));
	if (a->way == GUS_MICRO_FIXED)
		return;
	if (!bases[of]) {
		for (unsigned i = 0; i < 16; i++)
			assert_int_not_equal(bases[i], memory->base);
		bases[of] = memory->base;
	}
	assert_int_equal(memory->base, bases[of]);
	assert_int_equal(a->way == GUS_MICRO_CHASE && writes(info, memory->base), a->step);
	if (a->way == GUS_MICRO_STRIDE) /* all of what a pass goes on by */
		assert_int_equal(k->accesses.n * memory->bits / 8, a->stride * (k->arena / wrap));
}

static void check_code(const struct gus_micro *k)
{
	uint8_t bases[16] = { 0 };
	struct gus_insn_info info;
	size_t n = 0;

	for (uint32_t at = k->loop; at < k->end; at += info.length) {
		assert_true(gus_insn_analyse(k->isa, k->code.v + at, k->end - at, &info) > 0);
		if (info.memory_count && info.memory[0].use) {
			assert_true(n < k->accesses.n);
			check_access(k, &info, &k->accesses.v[n++], bases);
		}
	}
	assert_int_equal(n, k->accesses.n);
}

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	struct made_memory *m = context;

	if (++m->runs == m->fails_at)
		return gus_fail(err, GUS_E_SYSTEM, "run %u does not go", m->runs);
	for (size_t i = 0; i < n; i++) {
		double cycles = cycles_of(m, micros[i]);

		check_code(micros[i]);
		m->warm = micros[i]->arena >= m->longest ? micros[i]->warm : m->warm;
		m->longest = micros[i]->arena > m->longest ? micros[i]->arena : m->longest;
		times[i] = (struct gus_micro_time){ .cycles = cycles, .median = cycles, .samples = 1, .kept = 1 };
	}
	return 0;
}

/* A part and what the parts before it have found. */
struct setting {
	struct made_memory memory;
	struct gus_uarch *u;
	struct gus_calibration_host host;
	struct gus_calibration c;
	struct gus_fit f;
	struct gus_caching m;
};

static const char table[] =
	"uarch made isa x86-64 \"Made\"\n"
	"source s \"made\"\n"
	"port p0 s\n"
	"row r1 uops 1 latency 1 uses p0:1 source s\n"
	"param l3_size 8192 KiB s\n";

enum { SMALL, BIG };

static void begin(struct setting *s, const struct made_memory *memory, int huge)
{
	*s = (struct setting){ .memory = *memory, .u = made_table_of(table) };
	s->host = (struct gus_calibration_host){ .context = &s->memory, .isa = GUS_ISA_X86_64, .arena_most = 1 << 30,
		.arena_most_huge = huge ? 1 << 30 : 0, .cycles_a_second = 3e9, .run = run };
	s->c = (struct gus_calibration){ .host = &s->host, .nearest = s->u, .depth = GUS_CALIBRATION_FULL };
	s->m = (struct gus_caching){ .c = &s->c, .host = &s->host, .f = &s->f, .huge = huge,
		.lines = { memory->lines[L1] }, .cycles = { memory->cycles[L1], memory->cycles[L2] },
		.pages = memory->pages, .pages_second = memory->pages_second, .second = memory->second,
		.walk = memory->walk };
}

static void end(struct setting *s)
{
	gus_fit_free(&s->f);
	gus_uarch_free(s->u);
}

typedef int part_fn(struct gus_caching *m, struct gus_error *err);

static void fit(struct setting *s, part_fn *part)
{
	struct gus_error err = { 0 };

	if (part(&s->m, &err) != 0)
		fail_msg("%s", err.text);
}

/* A figure with the ends of its interval, or one that is hidden; and what the reason says. */
struct expected { const char *name; double value, low, high; enum gus_confidence confidence; const char *why; };

static void expect(const struct gus_fit *f, const struct expected *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gus_fit_param *p = gus_fit_get(f, e[i].name);

		if (!p)
			fail_msg("%s was not tried", e[i].name);
		if (p->confidence != e[i].confidence || (e[i].why && !strstr(p->why, e[i].why)))
			fail_msg("%s: %g, %s, %s", e[i].name, p->value, gus_confidence_name(p->confidence), p->why);
		if (e[i].confidence == NONE)
			assert_true(isnan(p->value));
		else if (!(fabs(p->value - e[i].value) < 1e-9 && fabs(p->low - e[i].low) < 1e-9 &&
			   fabs(p->high - e[i].high) < 1e-9))
			fail_msg("%s: %g in %.9g to %.9g, not %g in %g to %g; %s", e[i].name, p->value, p->low, p->high,
				 e[i].value, e[i].low, e[i].high, p->why);
		assert_true(e[i].confidence == NONE || (p->residual >= 0 && p->residual < 0.2));
	}
}
#define EXPECT(s, ...) expect(&(s)->f, (const struct expected[]){ __VA_ARGS__ }, \
			      COUNT(((const struct expected[]){ __VA_ARGS__ })))

/* L1. */

static void the_first_cache(void **state)
{
	static const struct { uint64_t lines; unsigned ways; double cycles; } cases[] = {
		{ 512, 8, 4 }, { 768, 12, 5 }, { 1024, 4, 3 }, { 2048, 32, 4 }, { 128, 2, 4 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.lines[L1] = cases[i].lines;
		m.ways[L1] = cases[i].ways;
		m.cycles[L1] = cases[i].cycles;
		begin(&s, &m, BIG);
		s.m.lines[L1] = 0;
		fit(&s, gus_caching_first);
		EXPECT(&s, { "l1d_latency", cases[i].cycles, cases[i].cycles, cases[i].cycles, HIGH, NULL },
		       { "l1d_size", (double)m.lines[L1] / 16, (double)m.lines[L1] / 16, (double)m.lines[L1] / 16, HIGH,
			 "lines are walked at" });
		if (cases[i].ways < 32)
			EXPECT(&s, { "l1d_ways", m.ways[L1], m.ways[L1], m.ways[L1], HIGH, "and one more costs 14.0" });
		else /* it was not looked any farther */
			EXPECT(&s, { "l1d_ways", 0, 0, 0, NONE, "32 lines, a cache apart each, fit" });
		assert_int_equal(s.m.lines[L1], m.lines[L1]);
		end(&s);
	}
}

/* What is found is a size that there is, in pages of 4 KiB: 32.6 KiB are 32, not as surely; what is as far from one as
 * from the next is no size, and nothing rests on it. */
static void sizes_that_there_are(void **state)
{
	static const struct { uint64_t lines; double value, low, high; int confidence; } cases[] = {
		{ 522, 32, 32, 32.625, MEDIUM }, { 515, 32, 32, 32.1875, HIGH }, { 508, 32, 31.75, 32, HIGH },
		{ 499, 32, 31.1875, 32, MEDIUM }, { 562, 36, 35.125, 36, MEDIUM },
		{ 545, 34.0625, 34.0625, 34.0625, LOW }, { 96, 6, 6, 6, LOW },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;
		const struct gus_fit_param *p;

		m.lines[L1] = cases[i].lines;
		begin(&s, &m, BIG);
		s.m.lines[L1] = 0;
		fit(&s, gus_caching_first);
		p = gus_fit_get(&s.f, "l1d_size");
		if (!(fabs(p->value - cases[i].value) < 0.01 && fabs(p->low - cases[i].low) < 0.01 &&
		      fabs(p->high - cases[i].high) < 0.01 && (int)p->confidence == cases[i].confidence))
			fail_msg("case %zu: %g, %g to %g, %s: %s", i, p->value, p->low, p->high,
				 gus_confidence_name(p->confidence), p->why);
		assert_int_equal(strstr(p->why, "no L1 has so many") != NULL, cases[i].confidence == LOW);
		end(&s);
	}
}

/* Nothing is told of ways that lines cannot be divided by, nor of what is larger than any. */
static void no_first_cache_has_that(void **state)
{
	struct made_memory m = made;
	struct setting s;

	(void)state;
	m.cycles[L1] = 4.12;
	m.lines[L1] = 8192;
	begin(&s, &m, BIG);
	s.m.lines[L1] = 0;
	fit(&s, gus_caching_first);
	EXPECT(&s, { "l1d_latency", 4, 4, 5, MEDIUM, "a walk over 64 lines takes 4.12 cycles" },
	       { "l1d_size", 0, 0, 0, NONE, "a walk over 8192 lines costs no more than one over 64" });
	assert_null(gus_fit_get(&s.f, "l1d_ways"));
	end(&s);
}

/* Behind L1. */

static void caches_behind_it(void **state)
{
	struct setting s;

	(void)state;
	begin(&s, &made, BIG);
	fit(&s, gus_caching_caches);
	EXPECT(&s, { "line_size", 64, 64, 64, HIGH, "words 32 bytes apart take 18.0 cycles, 64 bytes" },
	       { "l2_size", 256, 255.5, 256.25, HIGH, "256 KiB are walked at 14.0 cycles, 256 at 27" },
	       { "l2_latency", 14, 13, 15, HIGH, "over 1433 lines" },
	       { "l2_ways", 8, 8, 8, LOW, "of lines in four sets 32 fit" },
	       { "memory_latency", 50, 46, 54, HIGH, "over 127 MiB takes 200 cycles" },
	       { "l3_size", 8192, 8125.75, 8192, MEDIUM, NULL },
	       { "l3_latency", 40, 37, 43, HIGH, "over 4.8 MiB takes 40.0 cycles" });
	assert_int_equal(s.m.lines[L2], 4096);
	end(&s);
}

/* Words of one line are as near as any; lines of 512 bytes nobody has, and where L2 is as near as L1 none are seen. */
static void lines_have_a_size(void **state)
{
	static const struct { unsigned line; double l2; unsigned found; } cases[] = {
		{ 16, 14, 16 }, { 128, 14, 128 }, { 256, 14, 256 }, { 512, 14, 0 }, { 64, 6, 64 }, { 64, 5.9, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.line = cases[i].line;
		m.cycles[L2] = cases[i].l2;
		begin(&s, &m, BIG);
		fit(&s, gus_caching_caches);
		if (cases[i].found)
			EXPECT(&s, { "line_size", cases[i].found, cases[i].found, cases[i].found, HIGH, NULL });
		else
			EXPECT(&s, { "line_size", 0, 0, 0, NONE, "are as near as 8" });
		end(&s);
	}
}

/* Ways are told by four sets. */
static void the_second_cache_has_ways(void **state)
{
	static const struct { uint64_t lines; unsigned ways, found; } cases[] = { { 6144, 24, 24 }, { 7168, 28, 28 },
		{ 4096, 4, 4 }, { 4096, 6, 0 }, { 8192, 32, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.lines[L2] = cases[i].lines;
		m.ways[1] = cases[i].ways;
		begin(&s, &m, BIG);
		fit(&s, gus_caching_caches);
		if (cases[i].found)
			EXPECT(&s, { "l2_ways", cases[i].found, cases[i].found, cases[i].found, LOW, NULL });
		else
			EXPECT(&s, { "l2_ways", 0, 0, 0, NONE, "no number of ways" });
		end(&s);
	}
}

/* Lists stay in the pages that the TLB has, and what pages cost is taken off where that is not to be had. */
static void small_pages(void **state)
{
	struct made_memory m = made;
	struct setting s;

	(void)state;
	m.pages = 32;
	begin(&s, &m, SMALL);
	fit(&s, gus_caching_caches);
	EXPECT(&s, { "l2_size", 256, 254.6875, 256, MEDIUM, "small pages anywhere in memory smear it" },
	       { "l2_latency", 14, 13, 15, HIGH, "over 896 lines" },
	       { "l2_ways", 0, 0, 0, NONE, "pages are small" },
	       { "memory_latency", 50, 46, 54, MEDIUM, NULL },
	       { "l3_size", 8192, 8125.1875, 8192, LOW, "others may use it" },
	       { "l3_latency", 40, 37, 43, HIGH, NULL });
	end(&s);
}

/* Without an edge nothing is told of it, nor of what lies behind it. */
static void a_second_cache_without_an_edge(void **state)
{
	struct made_memory m = made;
	struct setting s;

	(void)state;
	m.lines[L2] = m.lines[L3] = 1 << 26;
	begin(&s, &m, BIG);
	fit(&s, gus_caching_caches);
	EXPECT(&s, { "l2_size", 0, 0, 0, NONE, "costs no more than one over 384" },
	       { "l2_latency", 14, 13, 15, HIGH, "over 768 lines" });
	assert_null(gus_fit_get(&s.f, "l2_ways"));
	assert_null(gus_fit_get(&s.f, "l3_latency"));
	assert_non_null(gus_fit_get(&s.f, "memory_latency"));
	end(&s);
	begin(&s, &made, BIG);
	s.m.lines[L1] = 0; /* of an unknown L1 not even that */
	fit(&s, gus_caching_caches);
	assert_int_equal(s.f.params.n, 0);
	end(&s);
}

/* Two walks over all memory, as the same thing some minutes later is another. */
static void memory_is_asked_twice(void **state)
{
	static const struct { double again; int huge; double high; enum gus_confidence confidence; } cases[] = {
		{ 0, BIG, 54, HIGH }, { 1.02, BIG, 55, HIGH }, { 1.05, BIG, 57, MEDIUM }, { 1.09, BIG, 59, MEDIUM },
		{ 1.15, BIG, 62, LOW }, { 0, SMALL, 54, MEDIUM } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.again = cases[i].again;
		begin(&s, &m, cases[i].huge);
		fit(&s, gus_caching_caches);
		EXPECT(&s, { "memory_latency", 50, 46, cases[i].high, cases[i].confidence, NULL });
		end(&s);
	}
}

/* Memory that is walked is four times what the table says of L3, or of 32 MiB, eight times where that costs nothing;
 * or all that there is. */
static void so_much_memory_is_walked(void **state)
{
	static const struct { double a_second; uint64_t arena; const char *why; double low; } cases[] = {
		{ 3e9, 1 << 30, "over 127 MiB", 46 }, { 1e6, 1 << 30, "over 255 MiB", 50 },
		{ 3e9, 64 << 20, "over 63 MiB", 46 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct setting s;

		begin(&s, &made, BIG);
		s.host.cycles_a_second = cases[i].a_second;
		s.m.slow = cases[i].a_second < 1e8;
		s.host.arena_most_huge = cases[i].arena;
		fit(&s, gus_caching_caches);
		EXPECT(&s, { "memory_latency", 50, cases[i].low, s.m.slow ? 50 : 54, HIGH, cases[i].why });
		assert_true(s.memory.longest <= cases[i].arena);
		end(&s);
	}
}

/* What L2 has is not in L3, so that the sum of both is seen: 5 MiB, of which 4 are L3's. */
static void an_exclusive_cache(void **state)
{
	struct made_memory m = made;
	struct setting s;

	(void)state;
	m.lines[L2] = 16384;
	m.lines[L3] = 81920;
	begin(&s, &m, BIG);
	fit(&s, gus_caching_caches);
	EXPECT(&s, { "l3_size", 4096, 4032, 4096, MEDIUM, "; L2 beside it" });
	end(&s);
}

/* Where the cost goes up slowly it is less sure, and where it goes up to memory's at once there is nothing to see. */
static void behind_the_second_cache(void **state)
{
	static const struct { double blurred; uint64_t l3; double value, low, high; enum gus_confidence confidence;
		const char *why; } cases[] = {
		{ 0, 131072, 40, 37, 43, HIGH, NULL },
		{ 10, 131072, 40, 37, 43, HIGH, NULL },
		{ 40, 131072, 28, 23, 32, LOW, "but longer ones more" },
		{ 0, 4096, 0, 0, 0, NONE, "rises from list to list up to memory's" },
		{ 1000, 131072, 0, 0, 0, NONE, "rises from list to list up to memory's" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.blurred = cases[i].blurred;
		m.lines[L3] = cases[i].l3;
		begin(&s, &m, BIG);
		fit(&s, gus_caching_caches);
		EXPECT(&s, { "l3_latency", cases[i].value, cases[i].low, cases[i].high, cases[i].confidence,
			cases[i].why });
		end(&s);
	}
}

/* Quick ones leave out ways, and L3's size. */
static void quick_ones_are_fewer(void **state)
{
	struct setting s;

	(void)state;
	begin(&s, &made, BIG);
	s.c.depth = GUS_CALIBRATION_QUICK;
	fit(&s, gus_caching_caches);
	assert_null(gus_fit_get(&s.f, "l2_ways"));
	assert_null(gus_fit_get(&s.f, "l3_size"));
	EXPECT(&s, { "l3_latency", 40, 37, 43, HIGH, NULL });
	fit(&s, gus_caching_pages);
	assert_null(gus_fit_get(&s.f, "dtlb_ways"));
	assert_null(gus_fit_get(&s.f, "stlb_size"));
	assert_null(gus_fit_get(&s.f, "stlb_ways"));
	assert_null(gus_fit_get(&s.f, "dtlb_huge_size"));
	EXPECT(&s, { "dtlb_size", 64, 64, 64, HIGH, NULL }, { "page_walk_latency", 30, 29, 31, MEDIUM, NULL });
	end(&s);
}

/* TLBs. */

static void pages_of_both_kinds(void **state)
{
	struct made_memory m = made;
	struct setting s;

	(void)state;
	m.pages_huge = 16;
	begin(&s, &m, BIG);
	fit(&s, gus_caching_pages);
	EXPECT(&s, { "dtlb_size", 64, 64, 64, HIGH, "64 pages, 13 apart, are walked at 4.00 cycles, 65 at more" },
	       { "dtlb_ways", 4, 4, 4, HIGH, "of pages that lie 64 apart 4 fit" },
	       { "stlb_latency", 7, 7, 7, HIGH, "160 pages of one line in L1 each are walked at 11.00 cycles" },
	       { "stlb_size", 1024, 1021, 1024, HIGH, NULL },
	       { "page_walk_latency", 30, 29, 31, MEDIUM, "160 pages that lie 16 apart" },
	       { "stlb_ways", 0, 0, 0, NONE, "all in the first TLB, of 64" },
	       { "dtlb_huge_size", 16, 16, 16, HIGH, "16 huge pages are walked at 4.00 cycles, 17 at more" });
	assert_true(s.m.huge);
	assert_true(s.m.pages == 64 && s.m.second == 7 && s.m.walk == 30 && s.m.cycles[L2] == 14);
	end(&s);
}

/* Those of other machines, as large and as associative. All ways: a TLB of one set. */
static void sizes_and_ways_of_pages(void **state)
{
	static const struct { uint64_t pages; unsigned ways; } cases[] = { { 16, 4 }, { 48, 48 }, { 72, 72 }, { 96, 6 },
		{ 128, 8 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		double pages = (double)cases[i].pages, ways = cases[i].ways;
		struct made_memory m = made;
		struct setting s;

		m.pages = cases[i].pages;
		m.page_ways = cases[i].ways;
		begin(&s, &m, BIG);
		fit(&s, gus_caching_pages);
		EXPECT(&s, { "dtlb_size", pages, pages, pages, HIGH, NULL },
		       { "dtlb_ways", ways, ways, ways, HIGH, NULL });
		end(&s);
	}
}

/* More pages than three quarters of L1's lines are not walked: they would miss there. */
static void of_a_small_first_cache_fewer_pages_are_walked(void **state)
{
	static const struct { uint64_t lines; bool seen; } cases[] = { { 88, true }, { 84, false } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.lines[L1] = cases[i].lines;
		m.ways[L1] = 4;
		begin(&s, &m, BIG);
		fit(&s, gus_caching_pages);
		if (cases[i].seen)
			EXPECT(&s, { "dtlb_size", 64, 64, 64, HIGH, NULL });
		else
			EXPECT(&s, { "dtlb_size", 0, 0, 0, NONE, "63 pages of one line each are walked as" });
		assert_int_equal(gus_fit_get(&s.f, "dtlb_ways") != NULL, cases[i].seen);
		end(&s);
	}
}

/* Huge pages that cost what small ones do are none, and those that share the entries of small ones have no size. */
static void huge_pages_are_not_always_huge(void **state)
{
	struct made_memory m = made;
	struct setting s;

	(void)state;
	m.small = true;
	begin(&s, &m, BIG);
	fit(&s, gus_caching_pages);
	EXPECT(&s, { "dtlb_huge_size", 0, 0, 0, NONE, "the hypervisor has none behind them" },
	       { "stlb_size", 1024, 1021, 1024, HIGH, NULL });
	assert_false(s.m.huge);
	end(&s);
	begin(&s, &made, SMALL);
	fit(&s, gus_caching_pages);
	EXPECT(&s, { "dtlb_huge_size", 0, 0, 0, NONE, "there are no huge pages" },
	       { "dtlb_size", 64, 64, 64, HIGH, NULL }, { "dtlb_ways", 4, 4, 4, HIGH, NULL },
	       { "stlb_size", 1024, 1021, 1024, HIGH, NULL });
	end(&s);
	m = made;
	m.pages_huge = 64;
	begin(&s, &m, BIG);
	fit(&s, gus_caching_pages);
	EXPECT(&s, { "dtlb_huge_size", 0, 0, 64, HIGH, NULL });
	end(&s);
	m.pages_huge = 1 << 20;
	begin(&s, &m, BIG);
	fit(&s, gus_caching_pages);
	EXPECT(&s, { "dtlb_huge_size", 0, 0, 0, NONE, "511 huge pages fit" });
	end(&s);
}

/* Between two numbers it is less sure; what costs less than half a cycle more is no second TLB. */
static void second_latencies(void **state)
{
	static const struct { double second, low, high; enum gus_confidence confidence; } cases[] = {
		{ 7.1, 7, 8, HIGH }, { 7.2, 7, 8, MEDIUM }, { 6.8, 6, 7, MEDIUM }, { 0.4, 0, 0, NONE } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.second = cases[i].second;
		begin(&s, &m, BIG);
		fit(&s, gus_caching_pages);
		EXPECT(&s, { "stlb_latency", 7, cases[i].low, cases[i].high, cases[i].confidence, NULL });
		assert_true(fabs(s.m.second - cases[i].second) < 1e-9);
		end(&s);
	}
}

/* A walk has to take two cycles more than the second TLB, and memory for pages that lie far enough apart. */
static void walks_are_seen(void **state)
{
	static const struct { double walk, low; uint64_t arena; enum gus_confidence sure; const char *why; } cases[] =
		{
		{ 9, 8, 1 << 30, MEDIUM, "are walked at 13.0 cycles" },
		{ 8.9, 0, 1 << 30, NONE, "cost 8.9 cycles more, as from the second TLB" },
		{ 30, 29, 161 * 16 * PAGE, MEDIUM, NULL },
		{ 30, 0, 161 * 16 * PAGE - 1, NONE, "there is no memory for 160 pages that lie 16 apart" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.walk = cases[i].walk;
		begin(&s, &m, SMALL);
		s.host.arena_most = cases[i].arena;
		fit(&s, gus_caching_pages);
		EXPECT(&s, { "page_walk_latency", cases[i].walk, cases[i].low, cases[i].walk + 1, cases[i].sure,
			cases[i].why });
		assert_true(s.memory.longest <= cases[i].arena);
		end(&s);
	}
}

/* Of a second TLB that is never full as many pages are told as there were. */
static void a_second_one_without_an_edge(void **state)
{
	struct made_memory m = made;
	struct setting s;

	(void)state;
	m.pages_second = 1 << 20;
	begin(&s, &m, BIG);
	fit(&s, gus_caching_pages);
	EXPECT(&s, { "stlb_size", 0, 0, 0, NONE, "16384 pages are walked as fast as 160" });
	end(&s);
}

/* Misses and streams. */

static void begin_behind(struct setting *s, const struct made_memory *memory)
{
	begin(s, memory, BIG);
	s->m.lines[L2] = memory->lines[L2];
	s->m.lines[L3] = memory->lines[L3];
	s->m.cycles[L3] = memory->cycles[L3];
	s->m.cycles[FAR] = memory->cycles[FAR];
}

static double fact_of(const struct gus_fit *f, const char *name, size_t nth)
{
	for (size_t i = 0; i < f->facts.n; i++)
		if (strcmp(f->facts.v[i].name, name) == 0 && nth-- == 0)
			return f->facts.v[i].value;
	fail_msg("%s is not told", name);
	return NAN;
}

static void misses_at_once(void **state)
{
	static const struct { double near, flight; unsigned walkers, misses, walks; enum gus_confidence sure[2]; }
	cases[] = {
		{ 10, 10, 2, 10, 2, { MEDIUM, HIGH } }, { 16, 16, 4, 16, 4, { MEDIUM, HIGH } },
		{ 10, 8.6, 1, 10, 1, { MEDIUM, HIGH } }, /* by less than 15 % */
		{ 8.4, 10, 2, 0, 2, { NONE, HIGH } },
		{ 10, 10, 16, 10, 0, { MEDIUM, NONE } }, /* more walkers than walks were asked for */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_memory m = made;
		struct setting s;

		m.near_flight = cases[i].near;
		m.flight = cases[i].flight;
		m.walkers = cases[i].walkers;
		begin_behind(&s, &m);
		fit(&s, gus_caching_flight);
		EXPECT(&s, { "l1d_misses", cases[i].misses, floor(cases[i].misses * 0.95), ceil(cases[i].misses * 1.05),
			 cases[i].sure[0], NULL },
		       { "page_walks", cases[i].walks, cases[i].walks, cases[i].walks, cases[i].sure[1], NULL },
		       { "l2_misses", 0, 0, 0, NONE, "loads alone" });
		assert_true(fabs(fact_of(&s.f, "misses_in_flight_l3", 0) - cases[i].near) < 1e-9);
		assert_true(fabs(fact_of(&s.f, "misses_in_flight_memory", 0) - cases[i].flight) < 1e-9);
		assert_int_equal(s.m.flight, cases[i].misses);
		assert_true(s.memory.longest >= 64 << 20); /* however little L3 has */
		end(&s);
	}
}

/* Without a walk that could be seen, or room for twelve lists, or L2, nothing is asked. */
static void misses_that_cannot_be_seen(void **state)
{
	struct setting s;

	(void)state;
	begin_behind(&s, &made);
	s.m.walk = 0;
	fit(&s, gus_caching_flight);
	EXPECT(&s, { "page_walks", 0, 0, 0, NONE, "there is no page walk to be seen" });
	end(&s);
	for (unsigned room = 0; room < 2; room++) {
		begin_behind(&s, &made);
		s.m.lines[L2] = 0;
		s.host.arena_most = 13 * 16 * 16 * PAGE - !room; /* for lists of 16 pages that lie 16 apart */
		fit(&s, gus_caching_flight);
		assert_int_equal(gus_fit_get(&s.f, "page_walks")->confidence, room ? HIGH : NONE);
		assert_null(gus_fit_get(&s.f, "l1d_misses"));
		end(&s);
	}
}

/* So many a cycle, of so many bytes at most: what is wider takes as much longer. */
static void words_a_cycle(void **state)
{
	static const struct { double loads, stores; unsigned width; double values[5], low, high;
		enum gus_confidence sure[3]; } cases[] = {
		{ 2, 1, 32, { 32, 2, 2, 32, 1 }, 2, 2, { HIGH, HIGH, HIGH } },
		{ 3, 2, 64, { 64, 3, 3, 64, 2 }, 3, 3, { HIGH, HIGH, HIGH } },
		{ 1, 1, 16, { 16, 1, 1, 16, 1 }, 1, 1, { HIGH, HIGH, HIGH } },
		{ 1.8, 0.8, 8, { 8, 2, 2, 8, 1 }, 1, 2, { LOW, LOW, MEDIUM } },
		{ 2.1, 0.4, 32, { 32, 2, 2, 32, 1 }, 2, 3, { HIGH, HIGH, MEDIUM } },
		{ 0.1, 0.1, 32, { 32, 1, 1, 32, 1 }, 0, 1, { HIGH, HIGH, HIGH } },
	};
	static const char *const names[] = { "l1d_load_width", "l1d_loads_vector", "l1d_loads", "l1d_store_width",
		"l1d_stores" };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const enum gus_confidence sure[] = { HIGH, cases[i].sure[0], cases[i].sure[1], HIGH, cases[i].sure[2] };
		struct made_memory m = made;
		struct setting s;

		m.loads = cases[i].loads;
		m.stores = cases[i].stores;
		m.width = cases[i].width;
		begin(&s, &m, BIG);
		s.host.avx512 = true;
		fit(&s, gus_caching_streams); /* nothing is known of L2 */
		for (size_t k = 0; k < COUNT(names); k++) {
			const struct gus_fit_param *p = gus_fit_get(&s.f, names[k]);

			if (p->value != cases[i].values[k] || p->confidence != sure[k])
				fail_msg("case %zu: %s is %g, %s", i, names[k], p->value,
					 gus_confidence_name(p->confidence));
			if (k == 1 || k == 2)
				assert_true(p->low == cases[i].low && p->high == cases[i].high);
		}
		for (unsigned width = 0; width < 4; width++) {
			double wider = fmax(1, (8u << width) / (double)m.width);

			assert_true(fabs(fact_of(&s.f, "l1d_loads_by_width", width) - m.loads / wider) < 1e-9);
			assert_true(fabs(fact_of(&s.f, "l1d_stores_by_width", width) - m.stores / wider) < 1e-9);
		}
		assert_null(gus_fit_get(&s.f, "l2_bandwidth"));
		assert_int_equal(s.memory.longest, PAGE);
		end(&s);
	}
}

/* Bytes a cycle of each level, in whole cycles a line if near. Wider words than the CPU has are not asked for. */
static void bandwidths(void **state)
{
	struct made_memory m = made;
	struct setting s;

	(void)state;
	begin_behind(&s, &m);
	s.host.avx2 = true;
	fit(&s, gus_caching_streams);
	EXPECT(&s, { "l2_bandwidth", 32, 32, 32, MEDIUM, "32.0 bytes a cycle at best, which is 2.00 cycles a line" },
	       { "l3_bandwidth", 16, 16, 16, MEDIUM, NULL }, { "memory_bandwidth", 8, 8, 8, MEDIUM, NULL },
	       { "l1d_load_width", 32, 32, 32, HIGH, NULL });
	assert_int_equal(s.memory.longest, 4 * 8 << 20); /* four times L3 */
	assert_true(s.memory.warm > 1000);
	end(&s);
	m.lines[L3] = 7 * m.lines[L2];
	begin_behind(&s, &m);
	fit(&s, gus_caching_streams);
	assert_int_equal(s.memory.longest, 4 * 8 * 256 << 10); /* or of eight times L2, if that is more */
	end(&s);
	m = made;
	m.a_line[L2] = 2.19;
	m.a_line[L3] = 3.4;
	m.a_line[FAR] = 0.95;
	begin_behind(&s, &m);
	fit(&s, gus_caching_streams);
	EXPECT(&s, { "l2_bandwidth", 32, 29, 32, MEDIUM, NULL }, { "l3_bandwidth", 19, 18, 19, MEDIUM, NULL },
	       { "memory_bandwidth", 64, 64, 68, MEDIUM, NULL }, { "l1d_load_width", 16, 16, 16, HIGH, NULL });
	end(&s);
	begin_behind(&s, &made); /* where memory is simulated it is read but once, and has its pages walked for */
	s.host.cycles_a_second = 1e6;
	s.m.slow = true;
	s.m.cycles[L3] = 0;
	fit(&s, gus_caching_streams);
	EXPECT(&s, { "l2_bandwidth", 32, 32, 32, MEDIUM, NULL }, { "memory_bandwidth", 8, 8, 8, LOW, NULL });
	assert_int_equal(s.memory.warm, 1);
	assert_null(gus_fit_get(&s.f, "l3_bandwidth"));
	end(&s);
}

/* Whichever run it is that cannot be done. */
static void errors_come_through(void **state)
{
	static part_fn *const parts[] = { gus_caching_first, gus_caching_pages, gus_caching_caches, gus_caching_flight,
		gus_caching_streams };

	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct setting s;
		unsigned runs;

		begin_behind(&s, &made);
		fit(&s, parts[i]);
		runs = s.memory.runs;
		end(&s);
		for (unsigned fails_at = 1; fails_at <= runs; fails_at++) {
			struct gus_error err = { 0 };

			begin_behind(&s, &made);
			s.memory.fails_at = fails_at;
			if (parts[i](&s.m, &err) != -1)
				fail_msg("part %zu: run %u of %u fails, and that is no error", i, fails_at, runs);
			assert_int_equal(err.code, GUS_E_SYSTEM);
			end(&s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_cache),
		cmocka_unit_test(sizes_that_there_are),
		cmocka_unit_test(no_first_cache_has_that),
		cmocka_unit_test(caches_behind_it),
		cmocka_unit_test(lines_have_a_size),
		cmocka_unit_test(the_second_cache_has_ways),
		cmocka_unit_test(small_pages),
		cmocka_unit_test(a_second_cache_without_an_edge),
		cmocka_unit_test(memory_is_asked_twice),
		cmocka_unit_test(so_much_memory_is_walked),
		cmocka_unit_test(an_exclusive_cache),
		cmocka_unit_test(behind_the_second_cache),
		cmocka_unit_test(quick_ones_are_fewer),
		cmocka_unit_test(pages_of_both_kinds),
		cmocka_unit_test(sizes_and_ways_of_pages),
		cmocka_unit_test(of_a_small_first_cache_fewer_pages_are_walked),
		cmocka_unit_test(huge_pages_are_not_always_huge),
		cmocka_unit_test(second_latencies),
		cmocka_unit_test(walks_are_seen),
		cmocka_unit_test(a_second_one_without_an_edge),
		cmocka_unit_test(misses_at_once),
		cmocka_unit_test(misses_that_cannot_be_seen),
		cmocka_unit_test(words_a_cycle),
		cmocka_unit_test(bandwidths),
		cmocka_unit_test(errors_come_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
