/* SPDX-License-Identifier: MIT */
/* The search keeps a bracket: at its lower end the function is flat, at its upper end and behind it is not.
 *
 *	           .--'   values
 *	         .'
 *	--.--.--.         level
 *	  |  |  | |
 *	 low    flat broken          high
 *
 * Values are never below what the function is, but now and then above, when something disturbed the run. So a value
 * that is high counts only if all behind it are high as well, and what is flat is told by the least value. */
#include "model/calibration/breaks.h"

#include <math.h>

enum {
	COARSE = 9, FINE = 5,           /* places asked at once */
	AROUND = 4,                     /* places on each side of the break that are asked again */
	MORE = 3,                       /* times as often, where it is not sharp */
	LEAST = 3,                      /* what breaks so soon behind `low` was never flat */
	TURNS = 4,                      /* brackets that are looked at, as the first may have been disturbed */
};

struct search {
	const struct gus_break_function *f;
	double level, noise;            /* of the flat part: the least value that was seen */
	double bracketed;               /* the level by which the bracket was found */
};

static int ask(struct search *s, const unsigned *places, size_t n, double *values, struct gus_error *err)
{
	if (s->f->at(s->f->context, places, n, values, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		s->level = fmin(s->level, values[i]);
	return 0;
}

static bool is_high(const struct search *s, double value)
{
	return value > s->level + s->f->least;
}

/* Where all that was flat so far turns out to have been disturbed the bracket means nothing. */
static bool is_misled(const struct search *s)
{
	return s->level < s->bracketed - s->f->least / 2;
}

/* Of values in the order of their places the first from which on all are high; n: none. */
static size_t first_high(const struct search *s, const double *values, size_t n)
{
	while (n && is_high(s, values[n - 1]))
		n--;
	return n;
}

/* Places between two, evenly, both left out. */
static size_t between(unsigned low, unsigned high, unsigned *places, size_t most)
{
	unsigned gap = high - low;
	size_t n = gap - 1 < most ? gap - 1 : most;

	for (size_t i = 0; i < n; i++)
		places[i] = low + (unsigned)((gap * (i + 1)) / (n + 1));
	return n;
}

/* Close to where it is expected, and around that. */
static size_t gather(const struct gus_break_function *f, unsigned *places)
{
	const unsigned all[] = { f->near * 4 / 5, f->near * 19 / 20, f->near > 4 ? f->near - 4 : 0, f->near + 4,
		f->near * 21 / 20 + 1, f->near * 5 / 4 + 1, f->high };
	size_t n = 0;

	places[n++] = f->low;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] > places[n - 1] && all[i] <= f->high)
			places[n++] = all[i];
	return n;
}

/* From low to high in steps that grow by the same factor: where a size lies nobody knows but by its order. */
static size_t spread(unsigned low, unsigned high, unsigned *places)
{
	double factor = pow((double)high / (low ? low : 1), 1.0 / (COARSE - 1)), at = low ? low : 1;
	size_t n = 0;

	places[n++] = low;
	for (unsigned i = 1; i < COARSE; i++) {
		unsigned place = (unsigned)lround(at *= factor);

		place = i + 1 == COARSE || place > high ? high : place;
		if (place > places[n - 1])
			places[n++] = place;
	}
	return n;
}

static int find_coarse(struct search *s, struct gus_break *b, struct gus_error *err)
{
	unsigned places[COARSE];
	double values[COARSE];
	size_t n = s->f->near ? gather(s->f, places) : spread(s->f->low, s->f->high, places), first;

	if (ask(s, places, n, values, err) != 0)
		return -1;
	s->bracketed = s->level;
	b->end = values[n - 1];
	first = first_high(s, values, n);
	b->steep = first == 0 || (first == 1 && n > 2 && !s->f->near);
	b->found = first < n && !b->steep;
	b->flat = first ? places[first - 1] : s->f->low;
	b->broken = first < n ? places[first] : s->f->high;
	return 0;
}

static int find_fine(struct search *s, struct gus_break *b, struct gus_error *err)
{
	unsigned places[FINE];
	double values[FINE];

	while (b->broken - b->flat > 1 + s->f->apart && !is_misled(s)) {
		size_t n = between(b->flat, b->broken, places, FINE), first;
		unsigned flat = b->flat;

		if (ask(s, places, n, values, err) != 0)
			return -1;
		first = first_high(s, values, n);
		b->flat = first ? places[first - 1] : flat;
		b->broken = first < n ? places[first] : b->broken;
	}
	return 0;
}

/* Places around the break, and the least value that each has had. */
struct around {
	unsigned places[2 * AROUND + 2];
	double values[2 * AROUND + 2];
	size_t n, first, last;          /* the first from which on all are high; the first that is high at all */
};

static void choose_around(const struct search *s, const struct gus_break *b, struct around *a)
{
	unsigned low = b->flat >= s->f->low + AROUND ? b->flat - AROUND : s->f->low;
	unsigned high = b->broken + AROUND < s->f->high ? b->broken + AROUND : s->f->high;

	for (a->n = 0; low + a->n <= high && a->n < 2 * AROUND + 2; a->n++) {
		a->places[a->n] = low + (unsigned)a->n;
		a->values[a->n] = INFINITY;
	}
}

static int ask_around(struct search *s, struct around *a, struct gus_error *err)
{
	double again[2 * AROUND + 2];

	if (ask(s, a->places, a->n, again, err) != 0)
		return -1;
	for (size_t i = 0; i < a->n; i++)
		a->values[i] = fmin(a->values[i], again[i]);
	a->first = first_high(s, a->values, a->n);
	for (a->last = 0; a->last < a->n && !is_high(s, a->values[a->last]);)
		a->last++;
	return 0;
}

static bool is_sharp(const struct around *a)
{
	return a->first == a->last && a->first > 0 && a->first < a->n;
}

/* As often as was wished, and, as what disturbs goes by, some more times where that shows no sharp break. The break
 * is where all behind are high and all before are flat; where both are mixed it lies among them. False: it is not
 * here, and the bracket is what is left of the whole. */
static bool settle(struct search *s, struct gus_break *b, const struct around *a)
{
	if (a->first == a->n && a->n) {
		b->flat = a->places[a->n - 1];
		b->broken = s->f->high;
		return false;
	}
	if (a->first == 0) {
		b->flat = s->f->low;
		b->broken = a->places[0];
		return false;
	}
	for (size_t i = 0; i < a->last; i++)
		s->noise = fmax(s->noise, a->values[i] - s->level);
	b->sharp = is_sharp(a);
	b->flat = a->last ? a->places[a->last - 1] : b->flat;
	b->broken = a->places[a->first];
	b->step = a->values[a->first] - s->level;
	return true;
}

static int confirm(struct search *s, struct gus_break *b, bool *here, struct gus_error *err)
{
	struct around a;

	choose_around(s, b, &a);
	for (unsigned turn = 0; turn < s->f->again || (turn < MORE * s->f->again && !is_sharp(&a)); turn++)
		if (ask_around(s, &a, err) != 0)
			return -1;
	*here = settle(s, b, &a);
	return 0;
}

int gus_break_find(const struct gus_break_function *f, struct gus_break *b, struct gus_error *err)
{
	struct search s = { .f = f, .level = INFINITY };
	bool here = false;
	int status;

	*b = (struct gus_break){ .found = false };
	status = find_coarse(&s, b, err);
	for (unsigned turn = 0; status == 0 && b->found && !here && turn < TURNS; turn++) {
		status = is_misled(&s) ? find_coarse(&s, b, err) : 0;
		if (status == 0)
			status = find_fine(&s, b, err);
		here = !f->again;
		if (status == 0 && f->again)
			status = confirm(&s, b, &here, err);
		here &= !is_misled(&s);
	}
	b->found &= here && b->broken <= f->high;
	if (b->found && b->flat < f->low + LEAST) {
		b->steep = true;
		b->found = false;
	}
	b->level = s.level;
	b->noise = s.noise;
	return status;
}
