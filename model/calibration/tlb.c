/* SPDX-License-Identifier: MIT */
/* TLBs, by lists that have one line in each page. Lines are skewed by a number that has nothing to do with the sets of
 * caches, so that they lie in all sets alike, and pages are some apart where neighbours might share an entry. */
#include <math.h>

#include "base/error.h"
#include "model/calibration/chase.h"
#include "model/calibration/fit.h"
#include "model/calibration/host.h"
#include "model/calibration/knee.h"
#include "model/calibration/memory.h"
#include "model/tables/uarch.h"

enum {
	SKEWS = 61,             /* lines of a page, a prime: caches have 64 sets, or 96, or 128 */
	APART = 13,             /* pages: entries may be of 4, 8, or 16 neighbours,
		and no TLB has a multiple of 13 sets */
	PAGES_FROM = 8, PAGES_MOST = 2048,
	SECOND_MOST = 16384, SECOND_GUESS = 2048,
	PAGES_GUESS = 64,
	HUGE_FROM = 2,
};

struct walk_of { const struct gus_caching *m; uint64_t apart; bool huge; double less; };

static struct gus_chase chase_of(uint64_t places, uint64_t bytes, bool huge)
{
	struct gus_chase c = gus_chase_of(places, bytes, huge);

	c.list[0].skews = SKEWS;
	c.list[0].skew = (uint32_t)GUS_CACHING_LINE;
	return c;
}

static int cost_pages(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	const struct walk_of *w = context;
	struct gus_chase c = chase_of(places, w->apart, w->huge);

	return gus_chase_time(w->m->host, &c, cycles, err);
}

/* More than a list of as many places fits not into memory. */
static uint64_t at_most(const struct gus_caching *m, uint64_t places, uint64_t bytes, bool huge)
{
	uint64_t most = gus_caching_most(m, huge) / bytes;

	return places < most ? places : most > 1 ? most - 1 : 0;
}

static int find_first(struct gus_caching *m, struct gus_error *err)
{
	struct walk_of w = { m, APART * GUS_CACHING_PAGE, false, 0 };
	const struct gus_knee_search s = { .cost = cost_pages, .context = &w, .asked = gus_caching_asked(m),
		.from = PAGES_FROM,
		.most = at_most(m, m->lines[GUS_CACHING_L1] ? m->lines[GUS_CACHING_L1] * 3 / 4 : PAGES_MOST, w.apart,
		false),
		.level = m->cycles[GUS_CACHING_L1], .tolerance = 0.03 * m->cycles[GUS_CACHING_L1] };
	struct gus_knee e;
	double low, high, size;

	m->pages = PAGES_GUESS;
	if (s.most <= s.from)
		return 0;
	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	if (!e.above) {
		gus_caching_hidden(m, "dtlb_size", "%llu pages of one line each are walked as fast as few",
				  (unsigned long long)e.fits);
		return 0;
	}
	size = gus_knee_size(&e, &low, &high);
	m->pages = (uint64_t)size;
	gus_caching_put(m, &(struct gus_caching_figure){ "dtlb_size", size, low, high, low, size,
		e.sharp ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM },
		"%llu pages, %u apart, are walked at %.2f cycles, %llu at more", (unsigned long long)e.fits, APART,
		e.level,
		(unsigned long long)e.above);
	return 0;
}

/* Pages that lie a whole TLB apart share a set. */
static int find_first_ways(struct gus_caching *m, struct gus_error *err)
{
	struct walk_of w = { m, m->pages * GUS_CACHING_PAGE, false, 0 };
	const struct gus_knee_search s = { .cost = cost_pages, .context = &w, .asked = gus_caching_asked(m), .from = 2,
		.most = at_most(m, m->pages + m->pages / 4, w.apart, false), .level = m->cycles[GUS_CACHING_L1],
		.tolerance = 0.1 * m->cycles[GUS_CACHING_L1] };
	const struct gus_fit_param *size = gus_fit_get(m->f, "dtlb_size");
	struct gus_knee e;
	uint64_t ways;

	if (!size || size->confidence < GUS_CONFIDENCE_MEDIUM || s.most < s.from)
		return 0;
	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	ways = e.fits * 100 >= m->pages * 97 ? m->pages : e.fits;
	if (!e.above || m->pages % ways) {
		gus_caching_hidden(m, "dtlb_ways", "%llu pages that lie a TLB apart fit", (unsigned long long)e.fits);
		return 0;
	}
	gus_caching_put(m, &(struct gus_caching_figure){ "dtlb_ways", (double)ways, (double)ways, (double)ways, 0, 0,
		GUS_CONFIDENCE_HIGH }, "of pages that lie %llu apart %llu fit", (unsigned long long)m->pages,
		(unsigned long long)e.fits);
	return 0;
}

/* With twice as many pages as the first one has each is looked up in the second; whether that is so in huge pages as
 * well says how huge they are. */
static int find_second_latency(struct gus_caching *m, struct gus_error *err)
{
	uint64_t places = 2 * m->pages + m->pages / 2;
	struct gus_chase chases[2] = { chase_of(places, GUS_CACHING_PAGE, false),
		chase_of(places, GUS_CACHING_PAGE, true) };
	bool huge = m->host->arena_most_huge > places * GUS_CACHING_PAGE + GUS_CACHING_PAGE;
	double cycles[2], more, value;

	/* Without a second one, or with one that is as large as what fits into L1, this is a walk. */
	if (gus_chase_times(m->host, chases, huge ? 2 : 1, cycles, err) != 0)
		return -1;
	more = cycles[0] - m->cycles[GUS_CACHING_L1];
	m->second = more > 0 ? more : 0;
	m->huge = huge && cycles[1] - m->cycles[GUS_CACHING_L1] < more / 2;
	value = round(more);
	if (value < 1)
		gus_caching_hidden(m, "stlb_latency", "%llu pages cost no more than few", (unsigned long long)places);
	else
		gus_caching_put(m, &(struct gus_caching_figure){ "stlb_latency", value, floor(more), ceil(more), more,
			value,
			fabs(more - value) < 0.15 ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM },
			"%llu pages of one line in L1 each are walked at %.2f cycles", (unsigned long long)places,
			cycles[0]);
	return 0;
}

/* What the caches cost of a walk over so many lines: it is of L1, or of L2, or between. */
static double cache_part(const struct gus_caching *m, uint64_t places)
{
	double full = (double)places / (double)m->lines[GUS_CACHING_L1];

	return full < 0.9 ? m->cycles[GUS_CACHING_L1] : m->cycles[GUS_CACHING_L2];
}

/* What pages cost more than the same lines in a few huge pages. */
static int cost_second(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	const struct walk_of *w = context;
	struct gus_chase chases[2] = { chase_of(places, GUS_CACHING_PAGE, false),
		chase_of(places, GUS_CACHING_PAGE, true) };
	double both[2];

	if (gus_chase_times(w->m->host, chases, w->m->huge ? 2 : 1, both, err) != 0)
		return -1;
	*cycles = both[0] - (w->m->huge ? both[1] : cache_part(w->m, places));
	return 0;
}

static int find_second(struct gus_caching *m, struct gus_error *err)
{
	struct walk_of w = { m, GUS_CACHING_PAGE, false, 0 };
	const struct gus_knee_search s = { .cost = cost_second, .context = &w, .asked = gus_caching_asked(m),
		.from = 2 * m->pages + m->pages / 2,
		.most = at_most(m, SECOND_MOST, GUS_CACHING_PAGE, false), .level = m->second,
		.tolerance = m->huge ? 0.7 : 1.5, .fineness = 128 };
	struct gus_knee e;
	double low, high, size;

	if (s.most <= s.from || !m->lines[GUS_CACHING_L1])
		return 0;
	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	if (!e.above) {
		gus_caching_hidden(m, "stlb_size", "%llu pages are walked as fast as %llu", (unsigned long long)e.fits,
				  (unsigned long long)s.from);
		return 0;
	}
	size = gus_knee_size(&e, &low, &high);
	if (!e.sharp) {
		double middle = sqrt((double)e.fits * e.half);

		size = gus_knee_likely(middle, 3, 0.15);
		size = size > 0 ? size : middle;
	}
	m->pages_second = (uint64_t)size;
	gus_caching_put(m, &(struct gus_caching_figure){ "stlb_size", size, low, high, low, size,
		e.sharp ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_LOW },
		"%llu pages are walked at %.1f cycles more than their lines, %.0f at %.1f", (unsigned long long)e.fits,
		e.level, e.half, (e.level + e.beyond) / 2);
	return 0;
}

/* Pages so far apart that only as many of the second TLB's entries are for them as the first one has: all but these
 * are walked for, and their lines stay in L1. */
static int find_walk(struct gus_caching *m, struct gus_error *err)
{
	uint64_t apart = 1, places = 2 * m->pages + m->pages / 2;
	struct walk_of w = { m, 0, false, 0 };
	double cycles, more, value;

	while (apart * m->pages < m->pages_second)
		apart *= 2;
	w.apart = apart * GUS_CACHING_PAGE;
	if (at_most(m, places, w.apart, false) < places) {
		gus_caching_hidden(m, "page_walk_latency", "there is no memory for %llu pages that lie %llu apart",
				  (unsigned long long)places, (unsigned long long)apart);
		return 0;
	}
	if (cost_pages(&w, places, &cycles, err) != 0)
		return -1;
	more = cycles - m->cycles[GUS_CACHING_L1];
	value = round(more);
	m->walk = more;
	if (more < m->second + 2)
		gus_caching_hidden(m, "page_walk_latency",
			"%llu pages that lie %llu apart cost %.1f cycles more, as from "
				  "the second TLB", (unsigned long long)places, (unsigned long long)apart, more);
	else
		gus_caching_put(m, &(struct gus_caching_figure){ "page_walk_latency", value, floor(more * 0.97),
			ceil(more * 1.03), more, value, GUS_CONFIDENCE_MEDIUM },
			"%llu pages that lie %llu apart are walked at %.1f cycles", (unsigned long long)places,
			(unsigned long long)apart, cycles);
	return 0;
}

/* What would tell are pages of one set, and of those that are in none of the first TLB's entries. */
static void hide_second_ways(struct gus_caching *m)
{
	if (m->pages_second)
		gus_caching_hidden(m, "stlb_ways", "as many pages as one of its sets has are all in the first TLB, of "
				   "%llu", (unsigned long long)m->pages);
}

static int find_huge(struct gus_caching *m, struct gus_error *err)
{
	struct walk_of w = { m, GUS_CACHING_HUGE, true, 0 };
	const struct gus_knee_search s = { .cost = cost_pages, .context = &w, .asked = gus_caching_asked(m),
		.from = HUGE_FROM,
		.most = at_most(m, PAGES_MOST, GUS_CACHING_HUGE, true), .level = m->cycles[GUS_CACHING_L1],
		.tolerance = 0.03 * m->cycles[GUS_CACHING_L1] };
	struct gus_knee e;
	double low, high, size;

	if (!m->huge || s.most <= s.from) {
		gus_caching_hidden(m, "dtlb_huge_size", m->host->arena_most_huge ?
				  "huge pages cost as base pages do: the hypervisor has none behind them" :
				  "there are no huge pages");
		return 0;
	}
	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	if (!e.above) {
		gus_caching_hidden(m, "dtlb_huge_size", "%llu huge pages fit", (unsigned long long)e.fits);
		return 0;
	}
	size = gus_knee_size(&e, &low, &high);
	/* As many as there are of base pages: they are in the same. */
	gus_caching_put(m, &(struct gus_caching_figure){ "dtlb_huge_size", (uint64_t)size == m->pages ? 0 : size, low,
		high,
		low, size, e.sharp ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM },
		"%llu huge pages are walked at %.2f cycles, %llu at more", (unsigned long long)e.fits, e.level,
		(unsigned long long)e.above);
	return 0;
}

/* Twice what L1 has in every other line, so that the next line is no line of it. */
static int near_l2(struct gus_caching *m, struct gus_error *err)
{
	struct gus_chase c = gus_chase_of(m->lines[GUS_CACHING_L1] * 3 / 2, 2 * GUS_CACHING_LINE,
		m->host->arena_most_huge > 0);

	if (!m->lines[GUS_CACHING_L1]) /* nobody knows what lies behind it, and a list has at least one place */
		return 0;
	return gus_chase_time(m->host, &c, &m->cycles[GUS_CACHING_L2], err);
}

int gus_caching_pages(struct gus_caching *m, struct gus_error *err)
{
	bool full = m->c->depth == GUS_CALIBRATION_FULL;

	m->pages_second = (uint64_t)gus_uarch_value(m->c->nearest, "stlb_size", SECOND_GUESS);
	if (find_first(m, err) != 0 || find_second_latency(m, err) != 0 || near_l2(m, err) != 0 ||
	    (full && find_first_ways(m, err) != 0) || (full && find_second(m, err) != 0) || find_walk(m, err) != 0)
		return -1;
	if (!full)
		return 0;
	hide_second_ways(m);
	return find_huge(m, err);
}
