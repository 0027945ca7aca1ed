/* SPDX-License-Identifier: MIT */
/* Sizes out of curves that are made: as LRU has them, as chance has them, as pages that lie anywhere do, with noise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "model/calibration/knee.h"

enum shape { LRU, CHANCE, ANYWHERE, FLAT };
struct curve {
	enum shape shape;
	double size, ways, level, beyond;
	unsigned noisy;                 /* each so-many-th answer is twice as much; 0: none */
	unsigned asked;
	unsigned fails;                 /* with the answer of that number; 0: never */
};

static double missing(const struct curve *c, double n)
{
	double over = n / c->size, hit = 1;

	switch (c->shape) {
	case LRU: /* each set that has one too many misses with all of them */
		return over <= 1 ? 0 : fmin(1, (n - c->size) / (c->size / c->ways) * (c->ways + 1) / c->ways / over);
	case CHANCE:
		for (unsigned i = 0; i < 5000 && over > 1; i++)
			hit = exp(-over * (1 - hit * 0.999999));
		return over > 1 ? 1 - hit : 0;
	case ANYWHERE:
		return 1 / (1 + exp(-(over - 0.96) * 12));
	case FLAT:
		break;
	}
	return 0;
}

static int cost(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	struct curve *c = context;

	if (++c->asked == c->fails)
		return gus_fail(err, GUS_E_SYSTEM, "cannot answer");
	*cycles = c->level + (c->beyond - c->level) * missing(c, (double)places);
	if (c->noisy && c->asked % c->noisy == 0)
		*cycles *= 2;
	return 0;
}

static struct gus_knee find(struct curve *c, uint64_t from, unsigned asked)
{
	const struct gus_knee_search s = { .cost = cost, .context = c, .from = from, .most = 1 << 20, .level = c->level,
		.tolerance = 0.04 * c->level, .asked = asked };
	struct gus_knee k;

	assert_int_equal(gus_knee_find(&s, &k, NULL), 0);
	return k;
}

static void evenly_filled(void **state)
{
	const double sizes[] = { 72, 96, 512, 768, 1280, 16384 };

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (enum shape shape = LRU; shape <= CHANCE; shape++) {
			struct curve c = { .shape = shape, .size = sizes[i], .ways = 8, .level = 4, .beyond = 14 };
			struct gus_knee k = find(&c, 16, 1);
			double low, high;

			assert_true(k.above == k.fits + 1);
			assert_true(k.sharp);
			assert_true((double)k.fits >= sizes[i] && (double)k.fits < sizes[i] * 1.02);
			assert_true(gus_knee_size(&k, &low, &high) == sizes[i]);
			assert_true(low <= high && high >= sizes[i]);
		}
}

static void anywhere(void **state)
{
	struct curve c = { .shape = ANYWHERE, .size = 16384, .level = 14, .beyond = 50 };
	struct gus_knee k = find(&c, 1024, 1);
	double low, high;

	(void)state;
	assert_false(k.sharp);
	assert_true(gus_knee_size(&k, &low, &high) == 16384);
	assert_true(low < 16384 && high >= k.half);
}

static void noise(void **state)
{
	struct curve c = { .shape = LRU, .size = 512, .ways = 8, .level = 4, .beyond = 14, .noisy = 5 };
	struct gus_knee k = find(&c, 64, 3);

	(void)state;
	assert_true(k.fits >= 512 && k.fits < 520);
}

static void nothing(void **state)
{
	struct curve c = { .shape = FLAT, .size = 1, .level = 4, .beyond = 14 };
	struct gus_knee k = find(&c, 64, 1);

	(void)state;
	assert_true(k.above == 0 && k.fits == 1 << 20);
}

/* Whichever answer it is; and of no level it is asked, where it fits for certain. */
static void errors_come_through(void **state)
{
	struct curve whole = { .shape = ANYWHERE, .size = 512, .level = 4, .beyond = 14 };
	struct gus_knee_search s = { .cost = cost, .context = &whole, .from = 64, .most = 1 << 20, .tolerance = 0.16,
		.asked = 2 };
	struct gus_knee k;

	(void)state;
	assert_int_equal(gus_knee_find(&s, &k, NULL), 0);
	assert_true(fabs(k.level - 4) < 0.01);
	assert_true(whole.asked > 20);
	for (unsigned fails = 1; fails <= whole.asked; fails++) {
		struct curve c = { .shape = ANYWHERE, .size = 512, .level = 4, .beyond = 14, .fails = fails };
		struct gus_error err = { 0 };

		s.context = &c;
		assert_int_equal(gus_knee_find(&s, &k, &err), -1);
		assert_int_equal(err.code, GUS_E_SYSTEM);
		assert_int_equal(c.asked, fails);
	}
}

/* To a part of itself is enough, and costs less. */
static void as_fine_as_was_wished(void **state)
{
	static const unsigned finenesses[] = { 0, 8, 64 };
	unsigned asked[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct curve c = { .shape = LRU, .size = 10000, .ways = 8, .level = 4, .beyond = 14 };
		const struct gus_knee_search s = { .cost = cost, .context = &c, .from = 64, .most = 1 << 20,
			.level = 4, .tolerance = 0.16, .fineness = finenesses[i] };
		struct gus_knee k;

		assert_int_equal(gus_knee_find(&s, &k, NULL), 0);
		asked[i] = c.asked;
		assert_true(k.fits < k.above && k.sharp);
		if (finenesses[i])
			assert_true(k.above - k.fits <= k.fits / finenesses[i] &&
				    k.above - k.fits > k.fits / finenesses[i] / 4);
		else
			assert_int_equal(k.above, k.fits + 1);
	}
	assert_true(asked[1] < asked[2] && asked[2] < asked[0]);
}

/* A level that seemed small while somebody used it: so many answers from that one on are too much. */
static int cost_used(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	struct curve *c = context;
	int rc = cost(context, places, cycles, err);

	if (places > 300 && c->asked > 5 && c->asked <= 5 + c->noisy)
		*cycles = 14;
	return rc;
}

static void what_was_used_for_a_while_is_tried_again(void **state)
{
	struct curve c = { .shape = LRU, .size = 512, .ways = 8, .level = 4, .beyond = 14 };
	struct gus_knee_search s = { .cost = cost_used, .context = &c, .from = 64, .most = 1 << 20, .level = 4,
		.tolerance = 0.16, .asked = 2 };
	struct gus_knee k;

	(void)state;
	for (unsigned used = 2; used <= 12; used++) {
		c = (struct curve){ .shape = LRU, .size = 512, .ways = 8, .level = 4, .beyond = 14, .noisy = used };
		assert_int_equal(gus_knee_find(&s, &k, NULL), 0);
		if (!(k.fits >= 512 && k.fits < 520))
			fail_msg("%u: %u fit", used, (unsigned)k.fits);
	}
}

static void likely(void **state)
{
	(void)state;
	assert_true(gus_knee_likely(510, 15, 0.02) == 512);
	assert_true(gus_knee_likely(71.5, 15, 0.02) == 72);
	assert_true(gus_knee_likely(530, 15, 0.02) == 0);
	assert_true(gus_knee_likely(0, 15, 0.02) == 0);
	/* small odd numbers, no others, and the nearest of them */
	assert_true(gus_knee_likely(15 << 6, 15, 0.001) == 15 << 6);
	assert_true(gus_knee_likely(15 << 6, 13, 0.001) == 0);
	assert_true(gus_knee_likely(17 << 6, 15, 0.001) == 0);
	assert_true(gus_knee_likely(100, 3, 0.05) == 96);
	assert_true(gus_knee_likely(100, 3, 0.04) == 96);
	assert_true(gus_knee_likely(100, 3, 0.039) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evenly_filled), cmocka_unit_test(anywhere), cmocka_unit_test(noise),
		cmocka_unit_test(nothing), cmocka_unit_test(errors_come_through),
		cmocka_unit_test(as_fine_as_was_wished), cmocka_unit_test(what_was_used_for_a_while_is_tried_again),
		cmocka_unit_test(likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
