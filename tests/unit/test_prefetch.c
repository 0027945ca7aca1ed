/* SPDX-License-Identifier: MIT */
/* The fit of prefetchers against the caches that traces are looked up in (model/oracles/cache.h), whose configuration
 * it has to find: accesses are one behind the other, and take as long as those say. What no table has a word for is
 * added to them: lines that come in pairs, pages whose lines come along as before, rows that lead over pages. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/calibration/fit.h"
#include "model/calibration/host.h"
#include "model/calibration/memory.h"
#include "model/calibration/micro.h"
#include "model/machine/steps.h"
#include "model/oracles/cache.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))
#define HIGH GUS_CONFIDENCE_HIGH
#define MEDIUM GUS_CONFIDENCE_MEDIUM
#define LOW GUS_CONFIDENCE_LOW
#define NONE GUS_CONFIDENCE_NONE

enum { LINE = 64, PAGE = 4096, L1 = 4, L2 = 14, L3 = 50, FAR = 200, PRODUCT = 3, PASSES_FEW = 64 };
enum { PAGES = 64, SECOND = 15 };        /* of the first TLB; and cycles more of the second */

/* What was simulated once is known from then on. */
struct known { char name[64]; uint64_t arena; double cycles; };

struct made_host {
	uint32_t next_line, strides, ahead, l2_next_line;
	bool pairs, keeps, crosses;
	double noise;                   /* cycles, more or less, of each time */
	unsigned near;                  /* cycles of L2 beyond L1; 0: L2 - L1 */
	unsigned late;                  /* runs in which all takes half as long again */
	bool small;                     /* pages: there are no huge ones */
	unsigned on_small, on_huge;     /* microbenchmarks that ran on such */
	unsigned runs, fails_at;
	/* Microbenchmarks whose names begin so take so many cycles more, all places of a block or loads together. */
	const char *shifted[2];
	double shift;
	unsigned shift_from, shift_to;  /* the first run in which they do, and the one behind the last; 0: all */
	const char *untimed;            /* microbenchmarks whose names begin so have no time */
	uint64_t chance;
	uint64_t most;                  /* bytes of memory that there are; 0: many */
	uint64_t far_most;              /* bytes: the most that a walk beyond L2 asked for */
	struct known known[128];
	size_t known_n;
};

static unsigned near_of(const struct made_host *h)
{
	return h->near ? h->near : L2 - L1;
}

static struct gus_cache *caches_of(const struct made_host *h)
{
	const struct gus_cache_config c = {
		.line_size = LINE, .page_size = PAGE, .huge_size = 2 << 20,
		.level = { { 32 << 10, 8, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, 0 },
			   { 256 << 10, 8, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, near_of(h) },
			   { 8 << 20, 16, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, L3 - L1 } },
		.memory_latency = FAR - L1, .dtlb = { 64, 4 }, .stlb = { 1024, 8 },
		.l1d_next_line = h->next_line, .l1d_strides = h->strides, .l1d_stride_ahead = h->ahead,
		.l2_next_line = h->l2_next_line,
	};
	struct gus_error err = { 0 };
	struct gus_cache *cache = gus_cache_new(&c, &err);

	if (!cache)
		fail_msg("%s", err.text);
	return cache;
}

/* The page that is looked at, its first line and the last access's; where the two pages before it had their second. */
struct now { uint64_t time, page, first, last; int beside, before; };

/* Whether it is there for other reasons than the caches know; into which level: what it costs there. */
static double brought(const struct made_host *h, struct now *n, uint64_t line)
{
	int from = (int)(line - n->first);
	bool again = line / 64 == n->page && h->keeps && from == n->beside && from == n->before &&
		from >= -4 && from <= 6;
	bool pair = h->pairs && line / 64 == n->page && line == (n->first ^ 1);
	bool over = h->crosses && line % 64 == 0 && line == n->last + 1;

	if (line / 64 != n->page) {
		n->page = line / 64;
		n->first = line;
	} else if (line != n->first) {
		n->before = n->beside;
		n->beside = from;
	}
	n->last = line;
	return again || over ? L1 : pair ? L1 + near_of(h) : FAR;
}

static double access_cycles(const struct made_host *h, struct gus_cache *cache, struct now *n, uint64_t address,
			    uint32_t id)
{
	struct gus_cache_answer answer;
	double there = brought(h, n, address / LINE), cycles;

	assert_true(address % LINE <= LINE - 8); /* who crosses lines asks for two */
	gus_cache_access(cache, &(struct gus_cache_access){ .address = address, .bytes = 8, .id = id, .now = n->time },
			 &answer);
	cycles = fmin(there, L1 + answer.wait);
	n->time += (uint64_t)cycles;
	return cycles;
}

/* Cycles that a walk waits besides: its products. */
static double products_of(const struct gus_micro *k)
{
	char form[GUS_INSN_FORM_MAX];
	struct gus_insn_info info;
	double cycles = 0;

	for (uint32_t at = k->loop; at < k->end; at += info.length) {
		assert_true(gus_insn_analyse(k->isa, k->code.v + at, k->end - at, &info) > 0);
		gus_insn_form_text(k->isa, k->code.v + at, k->end - at, form, sizeof(form));
		cycles += strncmp(form, "IMUL", 4) == 0 ? PRODUCT : 0;
	}
	return cycles;
}

/* One access waits for the other. Where there are several in a pass, each has two instructions more, and the second TLB
 * takes longer if each is in a page of its own and they are many. */
static double cycles_of(const struct made_host *h, const struct gus_micro *k)
{
	const uint64_t passes = k->passes ? k->passes : k->warm > PASSES_FEW ? k->warm : PASSES_FEW;
	const double each = 2 + (k->accesses.n >= PAGES && !k->huge ? SECOND : 0);
	const double products = products_of(k), beside = k->lists.n ? products : each * (double)k->accesses.n;
	struct gus_cache *cache = caches_of(h);
	struct now n = { .page = UINT64_MAX };
	struct gus_micro_walk w;
	double cycles = 0;

	gus_micro_walk_begin(&w, k);
	for (uint64_t pass = 0; pass < k->warm + passes; pass++) {
		double took = beside;

		gus_micro_walk_next(&w);
		for (size_t i = 0; i < w.addresses.n; i++)
			took += access_cycles(h, cache, &n, w.addresses.v[i], (uint32_t)(3 * i));
		n.time += (uint64_t)beside;
		cycles += pass >= k->warm ? took : 0;
	}
	gus_micro_walk_end(&w);
	gus_cache_free(cache);
	return cycles / (double)passes;
}

static double known_cycles(struct made_host *h, const struct gus_micro *k)
{
	struct known *known = h->known;

	for (; known < h->known + h->known_n; known++)
		if (strcmp(known->name, k->name) == 0 && known->arena == k->arena)
			return known->cycles;
	assert_true(h->known_n++ < COUNT(h->known));
	*known = (struct known){ .arena = k->arena, .cycles = cycles_of(h, k) };
	snprintf(known->name, sizeof(known->name), "%s", k->name);
	return known->cycles;
}

static double shift_of(const struct made_host *h, const struct gus_micro *k)
{
	double cycles = 0;

	if (h->runs < h->shift_from || (h->shift_to && h->runs >= h->shift_to))
		return 0;
	for (unsigned i = 0; i < COUNT(h->shifted); i++)
		if (h->shifted[i] && strncmp(k->name, h->shifted[i], strlen(h->shifted[i])) == 0)
			cycles += h->shift / (k->lists.n ? (double)k->lists.v[0].block : 1);
	return cycles;
}

static double disturb(struct made_host *h)
{
	h->chance = h->chance * 6364136223846793005u + 1442695040888963407u;
	return h->noise * ((double)(h->chance >> 40) / (1 << 23) - 1);
}

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	struct made_host *h = context;

	if (++h->runs == h->fails_at)
		return gus_fail(err, GUS_E_SYSTEM, "run %u does not go", h->runs);
	for (size_t i = 0; i < n; i++) {
		const char *name = micros[i]->name;
		bool timed = !h->untimed || strncmp(name, h->untimed, strlen(h->untimed)) != 0;
		double late = h->runs <= h->late ? 1.5 : 1;
		double cycles = timed ? late * known_cycles(h, micros[i]) + shift_of(h, micros[i]) + disturb(h) : NAN;

		times[i] = (struct gus_micro_time){ .cycles = cycles, .median = cycles, .high = cycles, .samples = 1,
			.kept = 1 };
		h->on_huge += micros[i]->huge;
		h->on_small += !micros[i]->huge;
		if (strncmp(name, "far", 3) == 0 && micros[i]->arena > h->far_most)
			h->far_most = micros[i]->arena;
	}
	return 0;
}

static int fit_of(struct made_host *h, bool slow, struct gus_fit *f, struct gus_error *err)
{
	const uint64_t most = h->most ? h->most : 1 << 30;
	const struct gus_calibration_host host = { .context = h, .isa = GUS_ISA_X86_64, .arena_most = most,
		.arena_most_huge = h->small ? 0 : most, .cycles_a_second = slow ? 1e6 : 3e9, .run = run };
	const struct gus_calibration c = { .host = &host, .depth = GUS_CALIBRATION_FULL };
	struct gus_caching m = { .c = &c, .host = &host, .f = f, .slow = slow, .huge = !h->small, .second = SECOND,
		.lines = { 512, 4096, 131072 }, .cycles = { L1, L1 + near_of(h), L3, FAR }, .pages = PAGES };

	return gus_caching_prefetch(&m, err);
}

static void fit(struct made_host *h, bool slow, struct gus_fit *f)
{
	struct gus_error err = { 0 };

	*f = (struct gus_fit){ .params = { 0 } };
	if (fit_of(h, slow, f, &err) != 0)
		fail_msg("%s", err.text);
}

static void expect(const struct gus_fit *f, const char *name, double value, enum gus_confidence least, const char *why)
{
	const struct gus_fit_param *p = gus_fit_get(f, name);

	if (!p)
		fail_msg("%s was not tried", name);
	if (least == NONE ? p->confidence != NONE : p->confidence < least || p->value != value || p->low > value ||
	    p->high < value)
		fail_msg("%s is %g, %s, not %g (%s)", name, p->value, gus_confidence_name(p->confidence), value,
			 p->why);
	if (why && !strstr(p->why, why))
		fail_msg("%s: %s", name, p->why);
}

static double fact_of(const struct gus_fit *f, const char *name)
{
	for (size_t i = 0; i < f->facts.n; i++)
		if (strcmp(f->facts.v[i].name, name) == 0)
			return f->facts.v[i].value;
	fail_msg("%s is not told", name);
	return 0;
}

/* On a host that is simulated, and on one that is not. */
static void each_is_found(void **state)
{
	static const struct made_host hosts[] = {
		{ 0 }, { .next_line = 1 }, { .next_line = 2, .l2_next_line = 2 }, { .l2_next_line = 3 },
		{ .strides = 16, .ahead = 2 }, { .strides = 64, .ahead = 1 }, { .strides = 8, .ahead = 9 },
		{ .next_line = 1, .l2_next_line = 1, .strides = 16, .ahead = 5 },
		{ .next_line = 1, .l2_next_line = 3, .strides = 8, .ahead = 12 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(hosts); i++) {
		struct made_host h = hosts[i / 2];
		struct gus_fit f;

		fit(&h, i % 2, &f);
		expect(&f, "l1d_next_line", h.next_line, HIGH, NULL);
		if (h.next_line == 2 && !(i % 2))
			expect(&f, "l1d_next_line", 2, HIGH, "the next lines cost 0.0, 0.0, 10.0, 10.0 cycles beyond "
			       "L1, a miss 10.0");
		expect(&f, "l2_next_line", h.l2_next_line, h.next_line ? MEDIUM : HIGH, NULL);
		expect(&f, "l1d_strides", h.strides, h.strides ? MEDIUM : HIGH, NULL);
		expect(&f, "l1d_stride_ahead", h.ahead, !h.strides ? NONE : h.next_line ? MEDIUM : HIGH, NULL);
		assert_true(fact_of(&f, "prefetch_again") == 0);
		assert_true(fact_of(&f, "prefetch_pairs") == 0);
		assert_true(fabs(fact_of(&f, "prefetch_into_small_page")) < 0.1);
		/* Two lead into the next page, each time that all is looked for. */
		assert_true(h.on_huge > h.on_small && h.on_small == (i % 2 ? 2 : 4));
		if (h.strides && !h.next_line) /* which falls into rows, too */
			assert_true(fabs(fact_of(&f, "prefetch_row_misses") - h.ahead - 1) < 0.3);
		gus_fit_free(&f);
	}
}

/* What tables have no word for is said, and not taken for what they have one for. */
static void others_are_told_apart(void **state)
{
	struct made_host pairs = { .pairs = true }, keeps = { .keeps = true, .strides = 16, .ahead = 4 },
		crosses = { .crosses = true };
	struct gus_fit f;

	(void)state;
	fit(&pairs, true, &f);
	expect(&f, "l1d_next_line", 0, LOW, "pairs come");
	assert_int_equal(gus_fit_get(&f, "l2_next_line")->confidence, LOW);
	assert_true(fact_of(&f, "prefetch_pairs") == 1);
	gus_fit_free(&f);
	fit(&keeps, false, &f);
	expect(&f, "l1d_next_line", 0, MEDIUM, "what came once comes again");
	expect(&f, "l2_next_line", NAN, NONE, "6 lines that came along once");
	expect(&f, "l1d_strides", 16, MEDIUM, NULL);
	expect(&f, "l1d_stride_ahead", 4, MEDIUM, NULL);
	assert_true(fact_of(&f, "prefetch_again") == 6);
	gus_fit_free(&f);
	fit(&crosses, false, &f);
	assert_true(fact_of(&f, "prefetch_into_small_page") > 0.9);
	assert_true(fact_of(&f, "prefetch_into_huge_page") > 0.9);
	gus_fit_free(&f);
}

/* Loads whose lines are so many that L1 has no room for them. */
static void what_fills_the_first_level_is_less_sure(void **state)
{
	struct made_host h = { .strides = 64, .ahead = 16 };
	struct gus_fit f;

	(void)state;
	fit(&h, false, &f);
	expect(&f, "l1d_stride_ahead", 16, HIGH, NULL);
	assert_int_equal(gus_fit_get(&f, "l1d_strides")->confidence, LOW);
	gus_fit_free(&f);
}

/* How sure it is, on both sides of each bound: a miss costs ten cycles, and what is between L1 and that is less clear.
 * A row misses five before the stride is followed. */
static void what_is_between_is_less_sure(void **state)
{
	static const char next[] = "blocks of 2 from 25 by 0, 136,", there[] = "blocks of 7 from 63 by -2, -376,";
	static const char behind[] = "blocks of 7 from 63 by -2, -504,", row[] = "blocks of 24 from 63 by -2,";
	static const char longer[] = "blocks of 32 from 63 by -2,", few[] = "16 loads", more[] = "32 loads";
	static const struct {
		const char *shifted[2];
		double shift;
		const char *name;
		double value;
		enum gus_confidence confidence;
	} cases[] = {
		{ { next }, -0.9, "l1d_next_line", 0, HIGH }, { { next }, -1.1, "l1d_next_line", 0, MEDIUM },
		{ { next }, -3.9, "l1d_next_line", 0, MEDIUM }, { { next }, -4.1, "l1d_next_line", 0, LOW },
		{ { there }, 2.9, "l1d_stride_ahead", 4, HIGH }, { { there }, 3.1, "l1d_stride_ahead", 4, LOW },
		{ { behind }, -2.9, "l1d_stride_ahead", 4, HIGH }, { { behind }, -3.1, "l1d_stride_ahead", 4, LOW },
		{ { row, longer }, 1.9, "l1d_stride_ahead", 4, HIGH },
		{ { row, longer }, 2.1, "l1d_stride_ahead", 4, MEDIUM },
		{ { row, longer }, 14.9, "l1d_stride_ahead", 4, MEDIUM },
		{ { row, longer }, 15.1, "l1d_stride_ahead", 4, LOW },
		/* 16 cost 1.0 each, and 32, for which L1 has no room besides, 17.9. */
		{ { few }, 3.3 * 16, "l1d_strides", 16, MEDIUM }, { { few }, 3.7 * 16, "l1d_strides", 16, LOW },
		{ { few }, 4.2 * 16, "l1d_strides", 8, LOW },
		{ { more }, -12.2 * 32, "l1d_strides", 16, MEDIUM }, { { more }, -12.7 * 32, "l1d_strides", 16, LOW },
		{ { more }, -13.1 * 32, "l1d_strides", 32, LOW },
	};
	struct made_host h = { .strides = 16, .ahead = 4 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct gus_fit_param *p;
		struct gus_fit f;

		h.shifted[0] = cases[i].shifted[0];
		h.shifted[1] = cases[i].shifted[1];
		h.shift = cases[i].shift;
		fit(&h, false, &f);
		p = gus_fit_get(&f, cases[i].name);
		if (p->value != cases[i].value || p->confidence != cases[i].confidence)
			fail_msg("case %zu: %s is %g, %s (%s)", i, p->name, p->value,
				 gus_confidence_name(p->confidence), p->why);
		/* A next line is told by a cost that is as far off as it was shifted, as a part of a miss. */
		if (cases[i].shifted[0] == next && fabs(p->residual - fabs(cases[i].shift) / 10) > 0.01)
			fail_msg("case %zu: %g are left", i, p->residual);
		gus_fit_free(&f);
	}
}

/* Four fifths of 24 places are 19.2: with 19.5 missed at a stride of two, and all at the others, no stride is followed.
 * With 19 it cannot be told, however clear the others are. */
static void one_stride_that_is_not_clear(void **state)
{
	struct made_host h = { .shifted = { "blocks of 24 from 63 by -2," } };
	struct gus_fit f;

	(void)state;
	h.shift = -45;
	fit(&h, false, &f);
	expect(&f, "l1d_strides", 0, MEDIUM, NULL);
	gus_fit_free(&f);
	h.shift = -50;
	fit(&h, false, &f);
	expect(&f, "l1d_strides", NAN, NONE, "whose pages are all alike");
	gus_fit_free(&f);
}

/* All is found twice. Of what is less sure once no more is claimed, and little of what is another the second time. */
static void what_is_not_found_again_is_a_guess(void **state)
{
	static const struct { double shift, first, second; enum gus_confidence confidence; } cases[] = {
		{ -0.9, 0, 0, HIGH }, { -1.1, 0, 0, MEDIUM }, { -4.1, 0, 0, LOW }, { -9.9, 1, 0, LOW },
	};
	struct made_host h = { .strides = 16, .ahead = 4 };
	struct gus_fit f;
	unsigned half;

	(void)state;
	fit(&h, false, &f);
	gus_fit_free(&f);
	half = h.runs / 2;
	h.shifted[0] = "blocks of 2 from 25 by 0, 72,"; /* the next line */
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		bool second = i % 2;
		const struct gus_fit_param *p;

		h.runs = 0;
		h.shift = cases[i / 2].shift;
		h.shift_from = second ? half + 1 : 0;
		h.shift_to = second ? 0 : half + 1;
		fit(&h, false, &f);
		p = gus_fit_get(&f, "l1d_next_line");
		if (p->value != (second ? cases[i / 2].second : cases[i / 2].first) ||
		    p->confidence != cases[i / 2].confidence)
			fail_msg("case %zu: %g, %s (%s)", i, p->value, gus_confidence_name(p->confidence), p->why);
		gus_fit_free(&f);
	}
}

/* Where as many come as are looked at, there may be more. */
static void the_last_that_is_looked_at_is_less_sure(void **state)
{
	(void)state;
	for (uint32_t lines = 5; lines <= 6; lines++) {
		struct made_host h = { .next_line = lines };
		struct gus_fit f;

		fit(&h, true, &f);
		expect(&f, "l1d_next_line", lines, lines < 6 ? HIGH : LOW, NULL);
		assert_int_equal(gus_fit_get(&f, "l1d_next_line")->confidence, lines < 6 ? HIGH : LOW);
		gus_fit_free(&f);
	}
}

/* Noise of a seventh of what is to be seen: what is claimed is so, and much is not claimed. */
static void noise_makes_it_less_sure(void **state)
{
	static const struct { const char *name; double value; } truth[] = { { "l1d_next_line", 1 },
		{ "l2_next_line", 2 }, { "l1d_strides", 16 }, { "l1d_stride_ahead", 4 } };
	struct made_host h = { .next_line = 1, .l2_next_line = 2, .strides = 16, .ahead = 4, .noise = 1.5 };
	unsigned unsure = 0, seed = 1;

	(void)state;
	for (h.chance = 1; seed <= 8; h.chance = ++seed) {
		struct gus_fit f;

		fit(&h, false, &f);
		for (size_t i = 0; i < COUNT(truth); i++) {
			if (gus_fit_get(&f, truth[i].name)->confidence >= MEDIUM)
				expect(&f, truth[i].name, truth[i].value, MEDIUM, NULL);
			else
				unsure++;
		}
		gus_fit_free(&f);
	}
	assert_in_range(unsure, 8, 28);
}

/* Without L2 there is nothing to bring lines from, and where it is as near as L1 nothing to see. */
static void without_a_second_level_nothing_is_seen(void **state)
{
	struct made_host h = { .next_line = 1 };
	const struct gus_calibration_host host = { .context = &h, .isa = GUS_ISA_X86_64, .arena_most = 1 << 30,
		.cycles_a_second = 3e9, .run = run };
	const struct gus_calibration c = { .host = &host };
	struct gus_fit f = { .params = { 0 } };
	struct gus_caching m = { .c = &c, .host = &host, .f = &f, .lines = { 512 }, .cycles = { L1 } };
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_caching_prefetch(&m, &err), 0);
	assert_int_equal(f.params.n, 4);
	for (size_t i = 0; i < f.params.n; i++)
		assert_int_equal(f.params.v[i].confidence, NONE);
	assert_int_equal(h.runs, 0);
	gus_fit_free(&f);
}

static void each_error_comes_through(struct made_host h)
{
	struct gus_error err = { 0 };
	struct gus_fit f;
	unsigned runs;

	fit(&h, false, &f);
	gus_fit_free(&f);
	runs = h.runs;
	assert_true(runs > 5);
	for (h.fails_at = 1; h.fails_at <= runs; h.fails_at++) {
		f = (struct gus_fit){ .params = { 0 } };
		h.runs = 0;
		if (fit_of(&h, false, &f, &err) != -1 || !strstr(err.text, "does not go"))
			fail_msg("run %u of %u fails, and that is no error", h.fails_at, runs);
		gus_fit_free(&f);
	}
}

static void errors_come_through(void **state)
{
	(void)state;
	each_error_comes_through((struct made_host){ .next_line = 1, .strides = 16, .ahead = 2 });
	each_error_comes_through((struct made_host){ .keeps = true });
}

/* A walk that was disturbed each time has none (NAN): whatever it was to tell is not claimed. */
static void what_has_no_time_is_not_claimed(void **state)
{
	static const char *const untimed[] = { "", "blocks", "far blocks", "far blocks of 1 ",
		"far blocks of 2 from 25", "far blocks of 2 from 25 by 0, 8,", "far blocks of 2 from 25 by 0, 72,",
		"far blocks of 6", "far blocks of 7", "far blocks of 24", "far blocks of 32", "far blocks of 9",
		"blocks of 1 ", "blocks of 2 from 25", "blocks of 24", "blocks of 32", "4 loads", "16 loads",
		"32 loads", "128 loads" };
	static const struct { const char *name; double value; } truth[] = { { "l1d_next_line", 0 },
		{ "l2_next_line", 2 }, { "l1d_strides", 16 }, { "l1d_stride_ahead", 4 } };
	struct made_host hosts[] = { { .l2_next_line = 2, .strides = 16, .ahead = 4 },
		{ .l2_next_line = 2, .strides = 16, .ahead = 4 } };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(untimed); i++) {
		struct made_host *h = &hosts[i % 2];
		struct gus_fit f;

		h->untimed = untimed[i / 2];
		fit(h, i % 2, &f);
		for (size_t k = 0; k < COUNT(truth); k++) {
			const struct gus_fit_param *p = gus_fit_get(&f, truth[k].name);

			if (p->confidence >= MEDIUM && (p->value != truth[k].value || !*h->untimed))
				fail_msg("without \"%s\" %s is %g, %s (%s)", h->untimed, p->name, p->value,
					 gus_confidence_name(p->confidence), p->why);
		}
		gus_fit_free(&f);
	}
}

/* What L2 has costs what it does, else it is timed again, up to four times. */
static void what_was_disturbed_is_timed_again(void **state)
{
	(void)state;
	for (unsigned late = 3; late <= 4; late++) {
		struct made_host h = { .next_line = 1, .late = late };
		struct gus_fit f;

		fit(&h, false, &f);
		expect(&f, "l1d_next_line", 1, late < 4 ? HIGH : LOW, late < 4 ? "a miss 10.0" : "a miss 15.0");
		gus_fit_free(&f);
	}
}

/* Without huge pages all is found but what goes on in one. What the second TLB takes of many loads is no miss. */
static void small_pages_will_do(void **state)
{
	static const unsigned strides[] = { 16, 32, 64 };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(strides); i++) {
		struct made_host h = { .strides = strides[i / 2], .ahead = 1, .small = i % 2 };
		struct gus_fit f;

		fit(&h, false, &f);
		assert_true(!h.on_huge == h.small);
		expect(&f, "l1d_strides", h.strides, MEDIUM, NULL);
		expect(&f, "l1d_stride_ahead", 1, HIGH, NULL);
		for (size_t k = 0; k < f.facts.n && h.small; k++)
			assert_string_not_equal(f.facts.v[k].name, "prefetch_into_huge_page");
		gus_fit_free(&f);
	}
}

/* Walks beyond L2 have sixteen times the memory that it has, or, where a cycle of the host is dear, four; and over
 * pages, where two belong together, twice that. Where there is less memory they have that, and what is not beyond L2
 * any more is not taken for it. */
static void walks_have_the_memory_that_there_is(void **state)
{
	static const struct { uint64_t most; bool slow; uint64_t far; enum gus_confidence l2; } cases[] = {
		{ 0, false, 16 * (256 << 10), HIGH }, { 0, true, 2 * 4 * (256 << 10), HIGH },
		{ 2 << 20, false, 2 << 20, HIGH }, { 1 << 20, true, 1 << 20, HIGH },
		{ 128 << 10, false, 128 << 10, NONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_host h = { .l2_next_line = 2, .most = cases[i].most };
		struct gus_fit f;

		fit(&h, cases[i].slow, &f);
		assert_int_equal(h.far_most, cases[i].far);
		expect(&f, "l1d_next_line", 0, HIGH, NULL);
		expect(&f, "l2_next_line", 2, cases[i].l2, cases[i].l2 ? NULL : "what L2 has not costs");
		gus_fit_free(&f);
	}
}

/* All loads are followed, however many: that some cost nothing and others a third of a cycle tells nothing. */
static void noise_is_not_told_from_noise(void **state)
{
	struct made_host h = { .strides = 256, .ahead = 1, .noise = 1.5 };
	unsigned seed = 1;

	(void)state;
	for (h.chance = 1; seed <= 32; h.chance = ++seed) {
		const struct gus_fit_param *p;
		struct gus_fit f;

		fit(&h, false, &f);
		p = gus_fit_get(&f, "l1d_strides");
		if (p->confidence != NONE && p->value > 0)
			fail_msg("seed %u: %g (%s)", seed, p->value, p->why);
		gus_fit_free(&f);
	}
}

/* A miss has to cost four cycles to be seen. */
static void what_costs_little_is_not_seen(void **state)
{
	(void)state;
	for (unsigned near = 3; near <= 4; near++) {
		struct made_host h = { .next_line = 1, .near = near };
		struct gus_fit f;

		fit(&h, false, &f);
		expect(&f, "l1d_next_line", 1, near < 4 ? NONE : HIGH, NULL);
		gus_fit_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found), cmocka_unit_test(others_are_told_apart),
		cmocka_unit_test(what_fills_the_first_level_is_less_sure),
		cmocka_unit_test(noise_makes_it_less_sure), cmocka_unit_test(without_a_second_level_nothing_is_seen),
		cmocka_unit_test(errors_come_through), cmocka_unit_test(what_has_no_time_is_not_claimed),
		cmocka_unit_test(what_costs_little_is_not_seen), cmocka_unit_test(walks_have_the_memory_that_there_is),
		cmocka_unit_test(noise_is_not_told_from_noise), cmocka_unit_test(small_pages_will_do),
		cmocka_unit_test(what_was_disturbed_is_timed_again),
		cmocka_unit_test(what_is_between_is_less_sure),
		cmocka_unit_test(one_stride_that_is_not_clear),
		cmocka_unit_test(what_is_not_found_again_is_a_guess),
		cmocka_unit_test(the_last_that_is_looked_at_is_less_sure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
