/* SPDX-License-Identifier: MIT */
/* The fit of issue, retirement, uop cache and decoders, of machines that are formulas: stairs, rates, and the lines of
 * a uop cache. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/calibration/bursts.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/host.h"
#include "model/calibration/micro.h"
#include "tests/unit/made_program.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))
#define HIGH GUS_CONFIDENCE_HIGH
#define MEDIUM GUS_CONFIDENCE_MEDIUM
#define LOW GUS_CONFIDENCE_LOW
#define NONE GUS_CONFIDENCE_NONE

enum { WINDOW = 64, LINES_A_WINDOW = 4 };

struct made_front {
	unsigned loads, all, retire;    /* a cycle: issued in bursts of loads, and of all kinds; retired */
	double compare, subtract;       /* slots of one with a branch */
	double supply;                  /* uops a cycle out of the uop cache */
	unsigned lines, line;           /* of it, and uops of one */
	unsigned block, found, width;   /* of decoders */
	double noise, noise_of_loads;   /* cycles of a burst, at random; of loads, besides */
	unsigned rounds, fails_at;
	uint32_t chance;
};

static double noise(struct made_front *m, double most)
{
	m->chance = m->chance * 1664525u + 1013904223u;
	return most * (double)(m->chance >> 8) / (1 << 24);
}

static bool is_same(const struct gus_micro *k, struct gus_micro *other)
{
	bool same = other->code.n == k->code.n && memcmp(other->code.v, k->code.v, k->code.n) == 0;

	gus_micro_free(other);
	return same;
}

/* Uops a cycle of a loop of n alike ones, with two more at the end that may be one. */
static double rate_of(const struct made_front *m, const struct gus_micro *k, unsigned n)
{
	struct gus_micro *none = gus_burst_loop(k->isa, 0, WINDOW, 1, true);
	double bytes = (double)(k->end - k->loop - (none->end - none->loop)) / n, per_window = WINDOW / bytes;
	double lines = ceil(per_window / m->line - 0.01), blocks = floor(m->block / bytes + 0.01);

	gus_micro_free(none);
	if (lines <= LINES_A_WINDOW && n / per_window * lines <= m->lines)
		return fmin(fmin(m->all, m->supply), per_window);
	return fmin(fmin(blocks / ceil(blocks / m->found), m->width), m->all);
}

static double cycles_of(struct made_front *m, const struct gus_micro *k)
{
	double end = m->subtract > 1.5 ? 2 : 1;
	unsigned n = 0;

	if (sscanf(k->name, "burst of %u before", &n) == 1 && strstr(k->name, "before loads"))
		return 60 + n * (GUS_BURST_OTHERS +
				 (is_same(k, gus_burst_of_comparisons(k->isa, n)) ? m->compare : m->subtract)) / m->all;
	if (sscanf(k->name, "burst of %u", &n) == 1 && is_same(k, gus_burst_of_loads(k->isa, n)))
		return 50 + noise(m, m->noise + m->noise_of_loads) + (double)((n + 1) / m->loads);
	if (sscanf(k->name, "burst of %u", &n) == 1)
		return 50 + noise(m, m->noise) + (double)((n + 1) / m->all);
	if (sscanf(k->name, "drain of %u", &n) == 1)
		return 80 + noise(m, m->noise) + (double)(n / m->retire);
	if (sscanf(k->name, "steady loop of %u", &n) == 1)
		return (n + end) / fmin(m->all, m->supply);
	if (sscanf(k->name, "loop of %u", &n) == 1)
		return (n + end) / rate_of(m, k, n);
	fail_msg("what is %s?", k->name);
	return 0;
}

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	struct made_front *m = context;

	if (++m->rounds == m->fails_at)
		return gus_fail(err, GUS_E_SYSTEM, "cannot run that");
	for (size_t i = 0; i < n; i++) {
		double cycles = cycles_of(m, micros[i]);

		times[i] = (struct gus_micro_time){ .cycles = cycles, .median = cycles, .samples = 1, .kept = 1 };
	}
	return 0;
}

#define BEGIN \
	"uarch made isa x86-64 \"Made\"\n" \
	"source s \"made\"\n" \
	"port p0 s\n" \
	"row r1 uops 1 latency 1 uses p0:1 source s\n"

/* Its end of a loop is two uops, and it has no uop cache. */
static const char plain_table[] = BEGIN "param macro_fusion test_cmp policy s\n";

static const char table[] = BEGIN
	"param loop_buffer 60 uops s\n"
	"param l1i_size 32 KiB s\n"
	"param macro_fusion all policy s\n"
	"param uop_cache_size 1536 uops s\n"
	"param uop_cache_line 8 uops s\n"
	"param uop_cache_width 8 uops s\n"
	"param uop_cache_window 64 bytes s\n";

static const struct made_front made = { .loads = 6, .all = 6, .retire = 8, .compare = 1, .subtract = 1, .supply = 8,
	.lines = 256, .line = 8, .block = 32, .found = 6, .width = 5 };

enum { SIMULATED, REAL };

struct told { unsigned n; double done; };

static void tell(void *context, const char *what, double done)
{
	struct told *t = context;

	assert_non_null(what);
	assert_true(t->n ? done > t->done : done == 0);
	t->n++;
	t->done = done;
}

static int fit_from(const char *text, struct made_front *m, int real, enum gus_calibration_depth depth,
		    struct gus_fit *f)
{
	struct gus_uarch *u = made_table_of(text);
	struct told told = { 0 };
	struct gus_calibration_host host = { .context = m, .isa = GUS_ISA_X86_64, .arena_most = 1 << 24,
		.cycles_a_second = real ? 3e9 : 4e6, .run = run };
	struct gus_calibration c = { .host = &host, .nearest = u, .depth = depth, .progress = tell,
		.progress_context = &told };
	struct gus_error err = { 0 };
	int rc = gus_fit_front(&c, f, &err);

	if (rc == 0)
		assert_true(told.done == 1 && told.n == (depth == GUS_CALIBRATION_FULL ? 5 : 2));
	gus_uarch_free(u);
	return rc;
}

static int fit(struct made_front *m, int real, enum gus_calibration_depth depth, struct gus_fit *f)
{
	return fit_from(table, m, real, depth, f);
}

/* A value; without confidence so many at least. */
struct expected { const char *name; double value; enum gus_confidence confidence; const char *why; };

static void expect(const struct gus_fit *f, const struct expected *e)
{
	const struct gus_fit_param *p = gus_fit_get(f, e->name);

	if (!p)
		fail_msg("%s was not tried", e->name);
	if (p->confidence != e->confidence || (e->confidence == NONE ? p->low : p->value) != e->value ||
	    (e->why && !strstr(p->why, e->why)))
		fail_msg("%s: %g, from %g, %s, not %g; %s", e->name, p->value, p->low,
			 gus_confidence_name(p->confidence), e->value, p->why);
	if (e->confidence == NONE)
		assert_true(isnan(p->value) && isinf(p->high));
	else
		assert_true(p->low <= p->value && p->value <= p->high);
}

static void all_is_found(void **state)
{
	static const struct expected figures[] = {
		{ "issue_width", 6, HIGH, "bursts of 2 to 27 are stairs" }, { "retire_width", 8, HIGH, "24 to 72" },
		{ "macro_fusion", 3, HIGH, "1.00 slots, a subtract and branch 1.00" },
		{ "uop_cache_width", 6, NONE, "issue takes no more" },
		{ "fetch_bytes", 32, HIGH, "5.00, 5.00, 4.00, 4.00 of 1, 2, 4, 8 bytes" },
		{ "decode_width", 5, HIGH, NULL }, { "predecode_width", 6, NONE, NULL },
		{ "loop_buffer", 0, NONE, "no loop is run that tells" },
		{ "l1i_size", 0, NONE, "no loop of more than 28 KiB is run" },
	};

	(void)state;
	for (int real = SIMULATED; real <= REAL; real++) {
		struct made_front m = made;
		struct gus_fit f = { .params = { 0 } };
		const struct gus_fit_param *size;

		assert_int_equal(fit(&m, real, GUS_CALIBRATION_FULL, &f), 0);
		for (size_t i = 0; i < COUNT(figures); i++)
			expect(&f, &figures[i]);
		size = gus_fit_get(&f, "uop_cache_size"); /* all lines full, as far as it was looked at */
		assert_int_equal(size->confidence, HIGH);
		assert_true(size->low == 2048 && size->high == (real ? 2048 : 2056));
		gus_fit_free(&f);
	}
}

/* Of bursts of loads and of others the wider ones; as sure as stairs are clear. */
static void widths(void **state)
{
	static const struct { unsigned loads, all, retire, issue; double noise; } cases[] = { { 6, 4, 6, 6, 0 },
		{ 3, 6, 4, 6, 0 }, { 2, 2, 2, 2, 0 }, { 8, 8, 10, 8, 0 }, { 4, 4, 16, 4, 0.1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_front m = made;
		struct gus_fit f = { .params = { 0 } };

		m.loads = cases[i].loads;
		m.all = cases[i].all;
		m.retire = cases[i].retire;
		m.noise = cases[i].noise;
		m.supply = 16;
		assert_int_equal(fit(&m, REAL, GUS_CALIBRATION_FULL, &f), 0);
		expect(&f, &(struct expected){ "issue_width", cases[i].issue, HIGH, NULL });
		expect(&f, &(struct expected){ "retire_width", cases[i].retire, HIGH, NULL });
		gus_fit_free(&f);
	}
}

/* Stairs that are blurred are less sure; where loads are none, others are asked. */
static void blurred_stairs(void **state)
{
	static const struct { double noise, noise_of_loads; unsigned issue; enum gus_confidence sure; } cases[] = {
		{ 0.3, 0, 5, HIGH }, { 0.5, 0, 5, MEDIUM }, { 0, 20, 5, HIGH } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_front m = made;
		struct gus_fit f = { .params = { 0 } };

		m.loads = m.all = 5;
		m.noise = cases[i].noise;
		m.noise_of_loads = cases[i].noise_of_loads;
		assert_int_equal(fit(&m, SIMULATED, GUS_CALIBRATION_QUICK, &f), 0);
		expect(&f, &(struct expected){ "issue_width", cases[i].issue, cases[i].sure, NULL });
		gus_fit_free(&f);
	}
}

/* Where bursts are no stairs, loops say what issue does at least, and nothing is told of what needs bursts. */
static void without_bursts_there_are_loops(void **state)
{
	struct made_front m = made;
	struct gus_fit f = { .params = { 0 } };

	(void)state;
	m.noise = 20;
	m.all = 5;
	assert_int_equal(fit(&m, REAL, GUS_CALIBRATION_FULL, &f), 0);
	expect(&f, &(struct expected){ "issue_width", 5, LOW, "loops run at 5.00 uops a cycle" });
	assert_null(gus_fit_get(&f, "macro_fusion"));
	assert_null(gus_fit_get(&f, "uop_cache_width"));
	gus_fit_free(&f);
}

/* A pair takes a slot or two; what lies between is nothing. */
static void what_is_fused(void **state)
{
	static const struct { const char *text; double compare, subtract; struct expected want; } cases[] = {
		{ table, 1, 1, { "macro_fusion", 3, HIGH, NULL } },
		{ plain_table, 1, 1, { "macro_fusion", 2, HIGH, NULL } },
		{ table, 1, 2, { "macro_fusion", 1, HIGH, NULL } },
		{ table, 2, 2, { "macro_fusion", 0, HIGH, "take 2.00 slots, a subtract and branch 2.00" } },
		{ table, 1.29, 1.71, { "macro_fusion", 1, HIGH, NULL } },
		{ table, 1.31, 1, { "macro_fusion", 0, NONE, NULL } },
		{ table, 1, 1.69, { "macro_fusion", 0, NONE, NULL } },
		{ table, 0.69, 1, { "macro_fusion", 0, NONE, NULL } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_front m = made;
		struct gus_fit f = { .params = { 0 } };

		m.compare = cases[i].compare;
		m.subtract = cases[i].subtract;
		assert_int_equal(fit_from(cases[i].text, &m, SIMULATED, GUS_CALIBRATION_QUICK, &f), 0);
		expect(&f, &cases[i].want);
		assert_null(gus_fit_get(&f, "retire_width")); /* of the quick ones */
		assert_null(gus_fit_get(&f, "uop_cache_size"));
		assert_null(gus_fit_get(&f, "fetch_bytes"));
		gus_fit_free(&f);
	}
}

/* What the uop cache brings shows if it is less than issue takes. */
static void what_is_supplied(void **state)
{
	static const struct { double supply; struct expected want; } cases[] = {
		{ 5.8, { "uop_cache_width", 6, NONE, "issue takes no more" } },
		{ 5, { "uop_cache_width", 5, HIGH, "loops run at 5.00 uops a cycle" } },
		{ 4, { "uop_cache_width", 4, HIGH, NULL } },
		{ 4.5, { "uop_cache_width", 4, NONE, "loops run at 4.50 uops a cycle" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_front m = made;
		struct gus_fit f = { .params = { 0 } };

		m.supply = cases[i].supply;
		assert_int_equal(fit(&m, SIMULATED, GUS_CALIBRATION_QUICK, &f), 0);
		expect(&f, &cases[i].want);
		assert_true(gus_fit_get(&f, "uop_cache_width")->residual == 0);
		gus_fit_free(&f);
	}
}

/* Lines count as full. Where decoders bring as much nothing is seen of them. */
static void sizes_of_uop_caches(void **state)
{
	static const struct { unsigned lines, all; double size; } cases[] = { { 128, 6, 1024 }, { 512, 6, 4096 },
		{ 860, 6, 6880 }, { 256, 4, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_front m = made;
		struct gus_fit f = { .params = { 0 } };
		const struct gus_fit_param *p;

		m.lines = cases[i].lines;
		m.loads = m.all = cases[i].all;
		assert_int_equal(fit(&m, REAL, GUS_CALIBRATION_FULL, &f), 0);
		p = gus_fit_get(&f, "uop_cache_size");
		if (cases[i].size > 0 ? !(p->low == cases[i].size && p->confidence == HIGH) : p->confidence != NONE)
			fail_msg("case %zu: %g, %g to %g; %s", i, p->value, p->low, p->high, p->why);
		gus_fit_free(&f);
	}
}

/* What all decoders have in common that explain how fast instructions of 1 to 8 bytes come. */
static void decoders_are_told_apart(void **state)
{
	static const struct { unsigned block, found, width, issue; struct expected want[3]; } cases[] = {
		{ 32, 5, 8, 6, { { "fetch_bytes", 32, HIGH, "4.57, 4.00, 4.00, 4.00 of" },
			{ "predecode_width", 5, HIGH, NULL }, { "decode_width", 5, NONE, NULL } } },
		{ 16, 5, 4, 6, { { "fetch_bytes", 16, HIGH, "4.00, 4.00, 4.00, 2.00 of" },
			{ "predecode_width", 4, NONE, NULL }, { "decode_width", 4, NONE, NULL } } },
		{ 64, 8, 6, 8, { { "fetch_bytes", 64, HIGH, NULL }, { "predecode_width", 8, NONE, NULL },
			{ "decode_width", 6, HIGH, NULL } } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_front m = made;
		struct gus_fit f = { .params = { 0 } };

		m.block = cases[i].block;
		m.found = cases[i].found;
		m.width = cases[i].width;
		m.loads = m.all = cases[i].issue;
		m.supply = 16;
		assert_int_equal(fit(&m, REAL, GUS_CALIBRATION_FULL, &f), 0);
		for (size_t k = 0; k < 3; k++)
			expect(&f, &cases[i].want[k]);
		gus_fit_free(&f);
	}
}

/* All code is outside of a uop cache that is not there. */
static void without_a_uop_cache(void **state)
{
	struct made_front m = made;
	struct gus_fit f = { .params = { 0 } };

	(void)state;
	m.lines = 0;
	assert_int_equal(fit_from(plain_table, &m, REAL, GUS_CALIBRATION_FULL, &f), 0);
	assert_null(gus_fit_get(&f, "uop_cache_size"));
	expect(&f, &(struct expected){ "fetch_bytes", 32, HIGH, NULL });
	expect(&f, &(struct expected){ "decode_width", 5, HIGH, NULL });
	gus_fit_free(&f);
}

/* Whichever round it is that cannot be run. */
static void errors_come_through(void **state)
{
	struct made_front m = made;
	struct gus_fit f = { .params = { 0 } };
	unsigned rounds;

	(void)state;
	assert_int_equal(fit(&m, REAL, GUS_CALIBRATION_FULL, &f), 0);
	gus_fit_free(&f);
	rounds = m.rounds;
	for (unsigned i = 1; i <= rounds; i++) {
		m = made;
		m.fails_at = i;
		f = (struct gus_fit){ .params = { 0 } };
		if (fit(&m, REAL, GUS_CALIBRATION_FULL, &f) != -1)
			fail_msg("round %u of %u fails, and that is no error", i, rounds);
		gus_fit_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_found),
		cmocka_unit_test(widths),
		cmocka_unit_test(blurred_stairs),
		cmocka_unit_test(without_bursts_there_are_loops),
		cmocka_unit_test(what_is_fused),
		cmocka_unit_test(what_is_supplied),
		cmocka_unit_test(sizes_of_uop_caches),
		cmocka_unit_test(decoders_are_told_apart),
		cmocka_unit_test(without_a_uop_cache),
		cmocka_unit_test(errors_come_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
