/* SPDX-License-Identifier: MIT */
#include "proto/skid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/gusprof.pb-c.h"

/* what: to people; NULL: what is counted is no distance. */
static const struct { const char *name, *what; } slows[GUS_SKID_SLOWS] = {
	[GUS_SKID_LOAD] = { "load", "a load past the caches" },
	[GUS_SKID_ROOT] = { "root", "a square root" },
	[GUS_SKID_PRODUCT] = { "product", NULL },
};

static const char *const places[GUS_SKID_NEAR] = {
	"on it", "on the first instruction behind it", "on the second behind it", "on the third behind it",
};

const char *gus_skid_slow_name(enum gus_skid_slow slow)
{
	return slows[slow].name;
}

/* A recording may say any number: what is more than fits is as much as fits. */
static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t gus_skid_samples(const struct gus_skid_counts *c)
{
	uint64_t n = add(c->farther, c->before);

	for (unsigned i = 0; i < GUS_SKID_NEAR; i++)
		n = add(n, c->at[i]);
	return n;
}

/* Distances beyond those that we know of, which a later version may tell, are farther. */
static void read_counts(struct gus_skid_counts *c, const Gusprof__Skid *m)
{
	*c = (struct gus_skid_counts){ .farther = m->farther, .before = m->before };
	for (size_t i = 0; i < m->n_at; i++)
		if (i < GUS_SKID_NEAR)
			c->at[i] = m->at[i];
		else
			c->farther = add(c->farther, m->at[i]);
}

bool gus_skid_read(struct gus_skid *skid, const Gusprof__Event *event)
{
	bool known = false;

	*skid = (struct gus_skid){ 0 };
	for (size_t i = 0; event && i < event->n_skid; i++)
		for (unsigned s = 0; s < GUS_SKID_SLOWS; s++)
			if (strcmp(event->skid[i]->slow, slows[s].name) == 0) {
				read_counts(&skid->counts[s], event->skid[i]);
				known |= gus_skid_samples(&skid->counts[s]) > 0;
			}
	return known;
}

/* The nearest of those with the most samples. */
static unsigned most(const struct gus_skid_counts *c)
{
	unsigned best = 0;

	for (unsigned i = 1; i < GUS_SKID_NEAR; i++)
		best = c->at[i] > c->at[best] ? i : best;
	return best;
}

int gus_skid_distance(const struct gus_skid *skid, double share)
{
	const struct gus_skid_counts *c = &skid->counts[GUS_SKID_LOAD];
	uint64_t n = gus_skid_samples(c);
	unsigned best = most(c);

	return n && (double)c->at[best] >= share * (double)n ? (int)best : -1;
}

/* Half of what there is too much and too little. What counts as before or on it is behind the last two, and on the
 * first of the next round. */
double gus_skid_uneven(const struct gus_skid *skid)
{
	const struct gus_skid_counts *c = &skid->counts[GUS_SKID_PRODUCT];
	const uint64_t behind[] = { c->at[1], c->at[2], c->at[3], c->farther };
	double n = (double)gus_skid_samples(c), off = 0;

	if (n <= 0)
		return 0;
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
		off += fabs((double)behind[i] / n - 1. / GUS_SKID_PRODUCTS);
	return (off + fabs(((double)c->before + (double)c->at[0]) / n - 2. / GUS_SKID_PRODUCTS)) / 2;
}

bool gus_skid_describe(const struct gus_skid *skid, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (unsigned s = 0; s < GUS_SKID_SLOWS && used < size; s++) {
		const struct gus_skid_counts *c = &skid->counts[s];
		uint64_t n = gus_skid_samples(c);
		unsigned best = most(c);

		if (n && slows[s].what)
			used += (size_t)snprintf(text + used, size - used, "%sbeside %s %.1f %% of %llu samples are %s",
						 used ? ", " : "", slows[s].what,
						 100 * (double)c->at[best] / (double)n, (unsigned long long)n,
						 places[best]);
	}
	return used > 0;
}
