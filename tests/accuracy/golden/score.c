/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/score.h"

#include <math.h>
#include <stdlib.h>

#include "base/index.h"
#include "tests/accuracy/golden/draw.h"

const char *const golden_level_names[GOLDEN_LEVELS] = { "instruction", "block", "loop", "function" };

enum { UNKNOWN = 1 << GUS_CORE_PSV_EVENTS, KEY_BITS = GUS_CORE_PSV_EVENTS + 1, LEAST = 5 };

/* A unit's component: what is true of it, and what is estimated. */
struct both { uint64_t key; double truth, estimate, n; };
struct cells gus_vec(struct both);

static uint64_t unit_of(const struct golden_truth *t, uint64_t address, enum golden_level level)
{
	const struct golden_place *p = golden_truth_place(t, address);

	if (level == GOLDEN_INSTRUCTION)
		return address;
	if (!p) /* nothing was executed there: nobody's */
		return UINT64_MAX >> KEY_BITS;
	return level == GOLDEN_BLOCK ? p->block : level == GOLDEN_LOOP ? p->loop : p->function;
}

static int by_key(const void *a, const void *b)
{
	const struct both *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void settle(struct cells *c)
{
	size_t n = 0;

	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), by_key);
	for (size_t i = 0; i < c->n; i++) {
		if (!n || c->v[n - 1].key != c->v[i].key) {
			c->v[n++] = c->v[i];
			continue;
		}
		c->v[n - 1].truth += c->v[i].truth;
		c->v[n - 1].estimate += c->v[i].estimate;
		c->v[n - 1].n += c->v[i].n;
	}
	c->n = n;
}

static uint64_t hash_of(uint64_t trigger, uint64_t seed)
{
	struct golden_draw d = { trigger * 0x9e3779b97f4a7c15ull ^ seed };

	golden_draw_next(&d);
	return golden_draw_next(&d);
}

static int by_trigger(const void *a, const void *b)
{
	const struct golden_estimate *x = a, *y = b;

	return x->trigger < y->trigger ? -1 : x->trigger > y->trigger;
}

/* Triggers are numbers; what hashes of them are in order of is chance. */
void golden_estimates_shuffle(struct golden_estimates *e, uint64_t seed)
{
	for (size_t i = 0; i < e->n; i++)
		e->v[i].trigger = hash_of(e->v[i].trigger, seed);
	if (e->n)
		qsort(e->v, e->n, sizeof(*e->v), by_trigger);
}

/* How many shares the first so many samples have; *taken: how many samples these are. */
static size_t first_samples(const struct golden_estimates *e, uint64_t samples, uint64_t *taken)
{
	size_t i = 0;

	*taken = 0;
	for (; i < e->n; i++) {
		bool is_new = !i || e->v[i].trigger != e->v[i - 1].trigger;

		if (is_new && samples && *taken == samples)
			break;
		*taken += is_new;
	}
	return i;
}

/* Mean absolute deviation of a Poisson variable: 2 exp(-l) l^(floor(l)+1) / floor(l)!. */
static double deviation(double l)
{
	double k = floor(l);

	return l > 0 ? 2 * exp(-l + (k + 1) * log(l) - lgamma(k + 1)) : 0;
}

double golden_floor(const double *shares, size_t n, double samples)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += deviation(shares[i] * samples);
	return samples > 0 ? sum / samples / 2 : 0;
}

static void add_truth(struct cells *c, const struct golden_truth *t, uint16_t events, enum golden_level level)
{
	for (size_t i = 0; i < t->cells.n; i++)
		gus_vec_push(c, (struct both){ .truth = (double)t->cells.v[i].ticks,
			     .key = unit_of(t, t->cells.v[i].address, level) << KEY_BITS |
			     (t->cells.v[i].psv & events) });
}

/* Samples of the same place and events are one before anything is sorted. */
static void add_estimates(struct cells *c, const struct golden_truth *t, const struct golden_estimates *e, size_t n,
			  uint16_t events, enum golden_level level)
{
	struct gus_index seen;
	size_t first = c->n;

	gus_index_init(&seen, sizeof(uint64_t));
	for (size_t i = 0; i < n; i++) {
		const struct golden_estimate *one = &e->v[i];
		uint64_t key = one->address << KEY_BITS | (events & ~one->known ? UNKNOWN : one->psv & events);
		bool is_new;
		uint32_t number = gus_index_add(&seen, &key, &is_new);

		if (is_new)
			gus_vec_push(c, (struct both){ .key = unit_of(t, one->address, level) << KEY_BITS |
				     (key & ((1u << KEY_BITS) - 1)) });
		c->v[first + number].estimate += one->weight;
		c->v[first + number].n++;
	}
	gus_index_free(&seen);
}

/* Whether the interval of a cell's share has the true one (Wilson's, as counts may be small). */
static bool covers(const struct both *b, double truth, double estimate, double samples)
{
	const double z = 1.96, p = b->estimate / estimate, n = samples;
	double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	return fabs(b->truth / truth - middle) <= half;
}

static double compare(struct cells *c, uint64_t samples, double *floor_of, double *unknown, double *covered)
{
	double truth = 0, estimate = 0, same = 0, nobody = 0, looked = 0, held = 0;
	struct gus_vec(double) shares = { 0 };

	settle(c);
	for (size_t i = 0; i < c->n; i++) {
		truth += c->v[i].truth;
		estimate += c->v[i].estimate;
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct both *b = &c->v[i];
		double right = truth > 0 ? b->truth / truth : 0, told = estimate > 0 ? b->estimate / estimate : 0;

		same += right < told ? right : told;
		nobody += b->key & UNKNOWN ? told : 0;
		gus_vec_push(&shares, right);
		if (b->n < LEAST)
			continue;
		looked++;
		held += covers(b, truth, estimate, (double)samples);
	}
	*floor_of = golden_floor(shares.v, shares.n, (double)samples);
	*unknown = nobody;
	*covered = looked > 0 ? held / looked : 0;
	gus_vec_free(&shares);
	return 1 - same;
}

void golden_score(const struct golden_truth *t, const struct golden_estimates *e, uint16_t events,
		  enum golden_level level, uint64_t samples, struct golden_score *out)
{
	struct cells c = { 0 };
	double ignored;
	size_t n;

	*out = (struct golden_score){ 0 };
	n = first_samples(e, samples, &out->samples);
	add_truth(&c, t, events, level);
	add_estimates(&c, t, e, n, events, level);
	out->error = compare(&c, out->samples, &out->floor, &out->unknown, &out->covered);
	c.n = 0;
	add_truth(&c, t, 0, level);
	add_estimates(&c, t, e, n, 0, level);
	out->heights = compare(&c, out->samples, &out->heights_floor, &ignored, &ignored);
	gus_vec_free(&c);
}
