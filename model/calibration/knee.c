/* SPDX-License-Identifier: MIT */
#include "model/calibration/knee.h"

#include <math.h>

/* Between the last that fits and half of the way up: with LRU at most one way of eight, with a tree of bits or chance
 * about a third. */
static const double SHARP = 1.45;
/* Poisson: as many pages as a level has ways on each of its colours miss by half at 0.96 of its size. */
static const double HALF_OF_SIZE = 0.96;
static const double RISES = 1.1, LEAPS = 2.5;
enum { GROWN = 4, FARTHER = 2 };

static int cost_at(const struct gus_knee_search *s, uint64_t places, double *cycles, struct gus_error *err)
{
	return s->cost(s->context, places, cycles, err);
}

/* Noise only adds: what fitted once fits, and what seems not to is asked again. */
static int fits_at(const struct gus_knee_search *s, uint64_t places, double most, bool *fits, struct gus_error *err)
{
	double cycles = 0;

	*fits = false;
	for (unsigned i = 0; (i < s->asked || !i) && !*fits; i++) {
		if (cost_at(s, places, &cycles, err) != 0)
			return -1;
		*fits = cycles <= most;
	}
	return 0;
}

/* By steps of a quarter on, until it does not fit or there is no more. */
static int grow(const struct gus_knee_search *s, struct gus_knee *e, struct gus_error *err)
{
	uint64_t n = e->fits;
	bool fits = true;

	while (fits && n < s->most) {
		n = n + n / 4 + 1 < s->most ? n + n / 4 + 1 : s->most;
		if (fits_at(s, n, e->level + s->tolerance, &fits, err) != 0)
			return -1;
		if (fits)
			e->fits = n;
	}
	e->above = fits ? 0 : n;
	return 0;
}

static int bisect(const struct gus_knee_search *s, double most, uint64_t *fits, uint64_t *above, struct gus_error *err)
{
	while (*above - *fits > 1 && (!s->fineness || *above - *fits > *fits / s->fineness)) {
		uint64_t n = *fits + (*above - *fits) / 2;
		bool fit;

		if (fits_at(s, n, most, &fit, err) != 0)
			return -1;
		*(fit ? fits : above) = n;
	}
	return 0;
}

/* Where it is all up: at twice of what fits, or farther on where it still rises by much, but not by so much that
 * another
 * level has been left. */
static int find_beyond(const struct gus_knee_search *s, struct gus_knee *e, uint64_t *end, struct gus_error *err)
{
	double cycles = 0;

	*end = 2 * e->fits > e->above ? 2 * e->fits : e->above + 1;
	if (*end > s->most)
		*end = s->most;
	if (cost_at(s, *end, &e->beyond, err) != 0)
		return -1;
	for (unsigned i = 0; i < FARTHER && *end + *end / 2 <= s->most; i++) {
		if (cost_at(s, *end + *end / 2, &cycles, err) != 0)
			return -1;
		if (cycles < RISES * e->beyond || cycles > LEAPS * e->beyond)
			break;
		*end += *end / 2;
		e->beyond = cycles;
	}
	return 0;
}

/* Where the curve is half up; it may be anywhere above what fits. */
static int find_half(const struct gus_knee_search *s, struct gus_knee *e, struct gus_error *err)
{
	uint64_t low = e->fits, high, end;
	double middle, cycles = 0;

	if (find_beyond(s, e, &end, err) != 0)
		return -1;
	middle = (e->level + e->beyond) / 2;
	for (high = e->above; high < end; high += e->fits / 8 + 1) {
		if (cost_at(s, high, &cycles, err) != 0)
			return -1;
		if (cycles >= middle)
			break;
		low = high;
	}
	if (high > end)
		high = end;
	if (bisect(s, middle, &low, &high, err) != 0)
		return -1;
	e->half = (double)(low + high) / 2;
	e->sharp = e->half <= SHARP * (double)e->fits;
	return 0;
}

/* What was above the edge in all of that is tried once more: while somebody used the level for long it seemed small. */
static int find_fits(const struct gus_knee_search *s, struct gus_knee *e, struct gus_error *err)
{
	double most = e->level + s->tolerance;
	bool fits;

	for (unsigned i = 0; i < GROWN; i++) {
		if (grow(s, e, err) != 0)
			return -1;
		if (!e->above)
			return 0;
		if (bisect(s, most, &e->fits, &e->above, err) != 0)
			return -1;
		if (s->asked <= 1)
			return 0;
		if (fits_at(s, e->above, most, &fits, err) != 0)
			return -1;
		if (!fits)
			return 0;
		e->fits = e->above;
	}
	return 0;
}

int gus_knee_find(const struct gus_knee_search *s, struct gus_knee *e, struct gus_error *err)
{
	*e = (struct gus_knee){ .level = s->level, .fits = s->from };
	if (e->level <= 0 && cost_at(s, s->from, &e->level, err) != 0)
		return -1;
	do {
		if (find_fits(s, e, err) != 0)
			return -1;
		if (!e->above)
			return 0;
		if (find_half(s, e, err) != 0)
			return -1;
		if (e->beyond > e->level + 2 * s->tolerance)
			return 0;
		/* It costs a little more and then no more than that: no edge. */
		e->fits = 2 * e->fits > e->above ? 2 * e->fits : e->above;
	} while (e->fits < s->most);
	e->above = 0;
	return 0;
}

double gus_knee_likely(double size, unsigned odd, double within)
{
	double best = 0;

	for (unsigned m = 1; m <= odd && size > 0; m += 2) {
		double near = m * exp2(round(log2(size / m)));

		if (fabs(near - size) <= within * size && (best <= 0 || fabs(near - size) < fabs(best - size)))
			best = near;
	}
	return best;
}

double gus_knee_size(const struct gus_knee *e, double *low, double *high)
{
	double fits = (double)e->fits, likely;

	*low = fits;
	if (e->sharp) {
		/* Others use the level as well, so that a little less fits than there is; never more. */
		likely = gus_knee_likely(fits * 1.01, 15, 0.02);
		*high = (double)e->above - 1;
		if (likely > *high)
			*high = likely;
		return likely > 0 ? likely : fits;
	}
	likely = gus_knee_likely(e->half / HALF_OF_SIZE, 5, 0.1);
	*high = e->half > likely ? e->half : likely;
	return likely > 0 ? likely : e->half / HALF_OF_SIZE;
}
