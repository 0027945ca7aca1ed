/* SPDX-License-Identifier: MIT */
/* Sizes, ways and latencies of caches, by lists that are walked in a random order. Prefetchers must not bring along
 * what
 * is walked next, nor take its place. Behind L1 lists have
 *
 *	every fourth line       in a quarter of the sets, so that next lines, which may come along, are in others
 *	every seventh           where pages are small: all lines of a page are walked, then those of another, so that
 *	                        the TLB is asked once for all of them; so few, and at random, that they are not seen
 *	                        as a stream. Seven is prime to the number of sets, which are filled alike */
#include <math.h>

#include "base/error.h"
#include "model/calibration/chase.h"
#include "model/calibration/emit.h"
#include "model/calibration/fit.h"
#include "model/calibration/host.h"
#include "model/calibration/knee.h"
#include "model/calibration/memory.h"
#include "model/machine/config.h"
#include "model/tables/uarch.h"

enum {
	EVERY_SECOND = 2, EVERY_FOURTH = 4, EVERY_SEVENTH = 7,
	WAYS_MOST = 32,
	L1_FROM = 64,           /* lines that any L1 has */
	L1_MOST = 8192,         /* lines of 512 KiB: of none that is known */
	L2_MOST = 64 << 20,     /* bytes */
	TWICE_MOST = 256, TWICE_STEPS = 8,
	BESIDE = 3,
	L3_GUESS = 16384,       /* KiB */
	/* Bytes that L3 may have, and how many times that memory is walked: where that costs nothing, more. */
	FAR_LEAST = 32 << 20, FAR_TIMES = 4, FAR_TIMES_SLOW = 8,
};

/* Sizes. */

/* By which a size that was found may be off from one that hardware can have: what else is in L1 takes some of it, and
 * what was not thrown out yet seems more. */
static const double OFF = 0.03;

/* The size that an L1 can have, of about so many lines: as its sets are chosen inside a page, it has a number of pages,
 * of 4 KiB on any CPU. 0: none is near. */
static double possible_l1(double lines)
{
	const double page = (double)GUS_CACHING_PAGE / GUS_CACHING_LINE;
	double near = page * round(lines / page);

	return near > 0 && fabs(near - lines) <= OFF * lines ? near : 0;
}

/* The same of what lies behind it: ways by a power of two of sets. */
static double possible_far(double lines)
{
	return gus_knee_likely(lines, 15, OFF);
}

/* L1. */

static int cost_dense(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	const struct gus_caching *m = context;
	struct gus_chase c = gus_chase_of(places, GUS_CACHING_LINE, m->host->arena_most_huge > 0);

	return gus_chase_time(m->host, &c, cycles, err);
}

static int find_l1(struct gus_caching *m, struct gus_error *err)
{
	const struct gus_knee_search s = { .cost = cost_dense, .context = m, .asked = gus_caching_asked(m),
		.from = L1_FROM, .most = L1_MOST,
		.tolerance = 0.02 * m->cycles[GUS_CACHING_L1] + 0.02 };
	struct gus_knee e;
	double low, high, size, possible;

	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	if (!e.above) {
		gus_caching_hidden(m, "l1d_size", "a walk over %u lines costs no more than one over %u", L1_MOST,
			L1_FROM);
		return 0;
	}
	e.sharp = true; /* L1 is filled evenly wherever pages are: its sets are chosen inside a page */
	size = gus_knee_size(&e, &low, &high);
	possible = possible_l1(size);
	size = possible > 0 ? possible : size;
	m->lines[GUS_CACHING_L1] = (uint64_t)size;
	gus_caching_put(m, &(struct gus_caching_figure){ "l1d_size", size * (double)GUS_CACHING_LINE / 1024,
		low * (double)GUS_CACHING_LINE / 1024, high * (double)GUS_CACHING_LINE / 1024, low, size,
		possible <= 0 ? GUS_CONFIDENCE_LOW : size > 1.02 * low || size < 0.99 * low ? GUS_CONFIDENCE_MEDIUM :
		GUS_CONFIDENCE_HIGH },
		"%llu lines are walked at %.2f cycles, %.0f at %.1f%s", (unsigned long long)e.fits, e.level, e.half,
		(e.level + e.beyond) / 2, possible > 0 ? "" : "; no L1 has so many");
	return 0;
}

/* Lines that lie a whole cache apart share a set. */
static int cost_same_set(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	const struct gus_caching *m = context;
	struct gus_chase c = gus_chase_of(places, m->lines[GUS_CACHING_L1] * GUS_CACHING_LINE,
		m->host->arena_most_huge > 0);

	return gus_chase_time(m->host, &c, cycles, err);
}

static int find_l1_ways(struct gus_caching *m, struct gus_error *err)
{
	const struct gus_knee_search s = { .cost = cost_same_set, .context = m, .asked = gus_caching_asked(m),
		.from = 2, .most = WAYS_MOST,
		.level = m->cycles[GUS_CACHING_L1], .tolerance = 0.1 * m->cycles[GUS_CACHING_L1] };
	struct gus_knee e;

	if (!m->lines[GUS_CACHING_L1])
		return 0;
	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	if (!e.above || m->lines[GUS_CACHING_L1] % e.fits) {
		gus_caching_hidden(m, "l1d_ways", "%llu lines, a cache apart each, fit", (unsigned long long)e.fits);
		return 0;
	}
	m->ways[GUS_CACHING_L1] = (unsigned)e.fits;
	gus_caching_put(m, &(struct gus_caching_figure){ "l1d_ways", (double)e.fits, (double)e.fits, (double)e.fits, 0,
		0,
		GUS_CONFIDENCE_HIGH }, "of lines %llu KiB apart %llu fit, and one more costs %.1f cycles",
		(unsigned long long)(m->lines[GUS_CACHING_L1] * GUS_CACHING_LINE / 1024), (unsigned long long)e.fits,
		e.beyond);
	return 0;
}

int gus_caching_first(struct gus_caching *m, struct gus_error *err)
{
	double cycles, value;

	if (cost_dense(m, L1_FROM, &cycles, err) != 0)
		return -1;
	m->cycles[GUS_CACHING_L1] = cycles;
	value = round(cycles);
	gus_caching_put(m, &(struct gus_caching_figure){ "l1d_latency", value, floor(cycles), ceil(cycles), cycles,
		value,
		fabs(cycles - value) < 0.1 ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM },
		"a walk over %u lines takes %.2f cycles a load", L1_FROM, cycles);
	if (find_l1(m, err) != 0)
		return -1;
	return find_l1_ways(m, err);
}

/* Behind L1. */

static unsigned lines_apart(const struct gus_caching *m)
{
	return m->huge ? EVERY_FOURTH : EVERY_SEVENTH;
}

/* Lines of a level that are full when so many places are. */
static uint64_t lines_of(const struct gus_caching *m, uint64_t places)
{
	return m->huge ? EVERY_FOURTH * places : places;
}

static uint64_t places_of(const struct gus_caching *m, uint64_t lines)
{
	return m->huge ? lines / EVERY_FOURTH : lines;
}

/* dense: of each line, where memory is short. */
static struct gus_chase list_of(const struct gus_caching *m, uint64_t places, bool dense)
{
	unsigned apart = dense ? 1 : lines_apart(m);
	struct gus_chase c = gus_chase_of(places, apart * GUS_CACHING_LINE, m->host->arena_most_huge > 0);

	if (!dense && !m->huge)
		c.list[0].block = GUS_CACHING_PAGE / (apart * GUS_CACHING_LINE);
	c.beside = m->slow ? BESIDE : 0;
	return c;
}

static double translation_of(const struct gus_caching *m, const struct gus_chase *c)
{
	const struct gus_micro_list *l = &c->list[0];
	double pages = (double)(l->places * l->distance) / GUS_CACHING_PAGE;

	return gus_caching_translation(m, pages, l->block ? (double)l->block : 1);
}

static uint64_t most_of(const struct gus_caching *m, uint64_t bytes)
{
	uint64_t most = gus_caching_most(m, m->host->arena_most_huge > 0);

	return (bytes < most ? bytes : most) - GUS_CACHING_PAGE;
}

static int cost_list(const struct gus_caching *m, uint64_t places, bool dense, double *cycles, struct gus_error *err)
{
	struct gus_chase c = list_of(m, places, dense);

	if (gus_chase_time(m->host, &c, cycles, err) != 0)
		return -1;
	*cycles -= translation_of(m, &c);
	return 0;
}

static int cost_sparse(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	return cost_list(context, places, false, cycles, err);
}

static bool has_room(const struct gus_caching *m, uint64_t places)
{
	return places * lines_apart(m) * GUS_CACHING_LINE <= most_of(m, UINT64_MAX);
}

static int cost_far(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	return cost_list(context, places, !has_room(context, places), cycles, err);
}

/* Places that are looked at twice, first so many bytes behind, then where the next one's address is: the second time
 * costs what L1 costs if that is the same line. */
static int cost_twice(const struct gus_caching *m, unsigned apart, double *cycles, struct gus_error *err)
{
	const uint64_t places = m->lines[GUS_CACHING_L1] * 3 / 2, distance = 9 * GUS_CACHING_LINE;
	struct gus_micro *k = gus_micro_new(m->host->isa, "lines, %u apart", apart);
	int rc;

	k->huge = m->host->arena_most_huge > 0;
	k->arena = places * distance + TWICE_MOST + GUS_CACHING_LINE;
	gus_vec_push(&k->lists, (struct gus_micro_list){ .places = places, .distance = distance, .seed = 1 });
	gus_emit_begin(k);
	gus_emit_address(k, 0, 0);
	gus_emit_loop(k);
	for (unsigned i = 0; i < TWICE_STEPS; i++) {
		gus_emit_load(k, 1, 0, (int32_t)apart, (struct gus_micro_access){ .way = GUS_MICRO_CHASE,
			.offset = apart });
		gus_emit_mask(k, 1, 0); /* whatever it was, nothing is left of it but when it came */
		gus_emit_add(k, 0, 1);
		gus_emit_load(k, 0, 0, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .step = true });
	}
	gus_emit_end(k);
	k->passes = places / TWICE_STEPS + 1;
	k->warm = 2 * k->passes;
	rc = gus_chase_run(m->host, &k, 1, cycles, err);
	*cycles /= TWICE_STEPS;
	return rc;
}

static int find_line(struct gus_caching *m, struct gus_error *err)
{
	double same, cycles = 0, more = m->cycles[GUS_CACHING_L2] - m->cycles[GUS_CACHING_L1];
	unsigned apart = 16;

	if (cost_twice(m, 8, &same, err) != 0)
		return -1;
	for (; apart <= TWICE_MOST; apart *= 2) {
		if (cost_twice(m, apart, &cycles, err) != 0)
			return -1;
		if (cycles > same + more / 2)
			break;
	}
	if (apart > TWICE_MOST || more < 2)
		gus_caching_hidden(m, "line_size", "words %u bytes apart are as near as %u", apart / 2, 8);
	else
		gus_caching_put(m, &(struct gus_caching_figure){ "line_size", apart, apart, apart, cycles - same, more,
			GUS_CONFIDENCE_HIGH }, "two words %u bytes apart take %.1f cycles, %u bytes apart %.1f",
			apart / 2, same,
			apart, cycles);
	return 0;
}

static int find_l2(struct gus_caching *m, struct gus_error *err)
{
	struct gus_knee_search s = { .cost = cost_sparse, .context = m, .asked = gus_caching_asked(m),
		.from = places_of(m, 3 * m->lines[GUS_CACHING_L1]),
		.most = most_of(m, (uint64_t)lines_apart(m) * L2_MOST) / (lines_apart(m) * GUS_CACHING_LINE),
		.fineness = 128 };
	const double kib = (double)lines_of(m, GUS_CACHING_LINE) / 1024;
	struct gus_knee e;
	double low, high, size, possible;

	if (cost_sparse(m, s.from, &s.level, err) != 0)
		return -1;
	s.tolerance = 0.08 * s.level;
	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	if (!e.above) {
		gus_caching_hidden(m, "l2_size", "a walk over %llu lines costs no more than one over %llu",
				  (unsigned long long)e.fits, (unsigned long long)s.from);
		return 0;
	}
	/* A large page fills all sets alike, whatever comes behind L2; small ones of a real host lie anywhere. */
	e.sharp = m->huge || (e.sharp && m->slow);
	size = gus_knee_size(&e, &low, &high);
	possible = possible_far(size);
	size = possible > 0 ? possible : size;
	m->lines[GUS_CACHING_L2] = lines_of(m, (uint64_t)size);
	gus_caching_put(m, &(struct gus_caching_figure){ "l2_size", size * kib, low * kib, high * kib, low, size,
		possible <= 0 ? GUS_CONFIDENCE_LOW : e.sharp ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM },
		"%.0f KiB are walked at %.1f cycles, %.0f at %.0f%s", low * kib, e.level, e.half * kib,
		(e.level + e.beyond) / 2,
		m->huge ? "" : "; small pages anywhere in memory smear it");
	return 0;
}

/* Six times what L1 has, if L2 has that; where pages are small, as much as the TLB has. Every second line. */
static int find_l2_latency(struct gus_caching *m, struct gus_error *err)
{
	uint64_t lines = 6 * m->lines[GUS_CACHING_L1], most = m->lines[GUS_CACHING_L2] * 7 / 10;
	uint64_t few = m->pages * 9 / 10 * (GUS_CACHING_PAGE / GUS_CACHING_LINE);
	struct gus_chase c;
	double cycles, value;

	if (!most)
		most = 3 * m->lines[GUS_CACHING_L1];
	lines = lines < most ? lines : most;
	if (!m->huge && few < lines)
		lines = few;
	c = gus_chase_of(lines / EVERY_SECOND, EVERY_SECOND * GUS_CACHING_LINE, m->host->arena_most_huge > 0);
	c.beside = m->slow ? BESIDE : 0;
	if (gus_chase_time(m->host, &c, &cycles, err) != 0)
		return -1;
	m->cycles[GUS_CACHING_L2] = cycles;
	value = round(cycles);
	gus_caching_put(m, &(struct gus_caching_figure){ "l2_latency", value, floor(cycles * 0.98), ceil(cycles * 1.02),
		cycles, value, fabs(cycles - value) < 0.2 ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM },
		"a walk over %llu lines in L2 takes %.2f cycles a load", (unsigned long long)c.list[0].places, cycles);
	return 0;
}

/* Places of four sets of L2, which share few of L1: they lie a quarter of it apart, so that ways are a multiple of
 * four. */
static int cost_four_sets(void *context, uint64_t places, double *cycles, struct gus_error *err)
{
	const struct gus_caching *m = context;
	uint64_t power = GUS_CACHING_PAGE;
	struct gus_chase c;

	while (2 * power <= m->lines[GUS_CACHING_L2] * GUS_CACHING_LINE)
		power *= 2;
	c = gus_chase_of(places, power / 4, true);
	c.list[0].skews = 4;
	c.list[0].skew = GUS_CACHING_PAGE;
	return gus_chase_time(m->host, &c, cycles, err);
}

static int find_l2_ways(struct gus_caching *m, struct gus_error *err)
{
	const struct gus_knee_search s = { .cost = cost_four_sets, .context = m, .asked = gus_caching_asked(m),
		.from = 8, .most = 4 * WAYS_MOST,
		.level = m->cycles[GUS_CACHING_L2], .tolerance = 0.2 * m->cycles[GUS_CACHING_L2] };
	struct gus_knee e;
	double ways;

	if (!m->huge) {
		gus_caching_hidden(m, "l2_ways", "pages are small, and may lie anywhere in memory");
		return 0;
	}
	if (!m->lines[GUS_CACHING_L2])
		return 0;
	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	ways = (double)e.fits / 4;
	if (!e.above || e.fits % 4 || m->lines[GUS_CACHING_L2] % (e.fits / 4))
		gus_caching_hidden(m, "l2_ways", "of four sets %llu lines fit, which is no number of ways",
				  (unsigned long long)e.fits);
	else
		gus_caching_put(m, &(struct gus_caching_figure){ "l2_ways", ways, ways, ways, 0, 0,
			GUS_CONFIDENCE_LOW },
			"of lines in four sets %llu fit; so many, or as many pages as a TLB has",
			(unsigned long long)e.fits);
	return 0;
}

/* Behind L2. */

/* What is shared with others is another some minutes later, by so much where it was watched for hours. */
static const double ANOTHER_TIME = 0.07;

static uint64_t far_lines(const struct gus_caching *m)
{
	uint64_t table = (uint64_t)gus_uarch_value(m->c->nearest, "l3_size", L3_GUESS) * 1024;
	uint64_t most = (m->slow ? FAR_TIMES_SLOW : FAR_TIMES) * (table > FAR_LEAST ? table : FAR_LEAST);

	return most_of(m, most) / GUS_CACHING_LINE;
}

static int find_memory(struct gus_caching *m, struct gus_error *err)
{
	struct gus_chase c = list_of(m, places_of(m, far_lines(m)), !m->huge);
	double cycles[2], least, most, apart = m->slow ? 0 : ANOTHER_TIME;

	c.resumed = true;
	for (unsigned i = 0; i < 2; i++)
		if (gus_chase_time(m->host, &c, &cycles[i], err) != 0)
			return -1;
	cycles[0] -= translation_of(m, &c);
	cycles[1] -= translation_of(m, &c);
	least = cycles[0] < cycles[1] ? cycles[0] : cycles[1];
	most = cycles[0] < cycles[1] ? cycles[1] : cycles[0];
	m->cycles[GUS_CACHING_FAR] = least;
	gus_caching_put(m, &(struct gus_caching_figure){ "memory_latency", round(least / GUS_CORE_CYCLES_A_NS),
		floor(least / GUS_CORE_CYCLES_A_NS * (1 - apart)), ceil(most / GUS_CORE_CYCLES_A_NS * (1 + apart)),
		most, least,
		most < 1.03 * least && m->huge ? GUS_CONFIDENCE_HIGH :
		most < 1.1 * least ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_LOW },
		"a walk over %llu MiB takes %.0f cycles a load, of which the model has %u in a ns",
		(unsigned long long)(far_lines(m) * GUS_CACHING_LINE >> 20), least, GUS_CORE_CYCLES_A_NS);
	return 0;
}

/* Where the curve behind L2 is flattest: of two lists of which one is larger and costs hardly more, that; and the last
 * that is flat, as L2 has least of it. */
static const double FLAT = 0.03;
struct plateau { uint64_t places; double cycles, rise; };

static int find_plateau(struct gus_caching *m, struct plateau *p, struct gus_error *err)
{
	static const double times[] = { 1.5, 2, 2.5, 3, 4, 6, 8, 12, 16 };
	double before = 0, cycles, rise;

	*p = (struct plateau){ .rise = INFINITY };
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		uint64_t n = places_of(m, (uint64_t)(times[i] * (double)m->lines[GUS_CACHING_L2]));

		if (cost_far(m, n, &cycles, err) != 0)
			return -1;
		if (cycles > 0.7 * m->cycles[GUS_CACHING_FAR])
			break;
		rise = before > 0 ? fabs(cycles - before) / before : 1;
		if ((rise <= p->rise || rise < FLAT) && cycles > 1.5 * m->cycles[GUS_CACHING_L2])
			*p = (struct plateau){ n, cycles, rise };
		before = cycles;
	}
	return 0;
}

static void put_l3_latency(struct gus_caching *m, const struct plateau *p)
{
	double value = round(p->cycles), apart = p->rise / 2 + (m->slow ? 0 : ANOTHER_TIME);

	m->cycles[GUS_CACHING_L3] = p->cycles;
	gus_caching_put(m, &(struct gus_caching_figure){ "l3_latency", value, floor(p->cycles * (1 - apart)),
		ceil(p->cycles * (1 + apart)), p->cycles, value,
		p->rise < 0.03 ? GUS_CONFIDENCE_HIGH : p->rise < 0.1 ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_LOW },
		"a walk over %.1f MiB takes %.1f cycles a load%s",
		(double)lines_of(m, p->places) * GUS_CACHING_LINE / (1 << 20), p->cycles,
		p->rise < 0.1 ? "" : ", but longer ones more");
}

/* Exclusive L3s add to what L2 has. Which of both sums is the rounder one tells. */
static double l3_of(const struct gus_caching *m, const struct gus_knee *e, bool *exclusive)
{
	double sum = (double)lines_of(m, e->fits), best = 0, least = INFINITY;

	for (unsigned without = 0; without < 2; without++) {
		double size = sum - (without ? (double)m->lines[GUS_CACHING_L2] : 0);

		for (unsigned odd = 1; odd <= 15 && size > 0; odd += 2) {
			double likely = odd * exp2(round(log2(size / odd))),
				off = fabs(likely / size - 1) + 0.004 * odd;

			if (off >= least)
				continue;
			least = off;
			best = likely;
			*exclusive = without;
		}
	}
	return best;
}

/* And its latency, by a list that is large and fits for certain: the smaller ones find some in L2. */
static int find_l3(struct gus_caching *m, struct plateau *p, struct gus_error *err)
{
	const struct gus_knee_search s = { .cost = cost_far, .context = m, .asked = gus_caching_asked(m),
		.from = p->places,
		.most = places_of(m, far_lines(m)), .level = p->cycles, .tolerance = 0.1 * p->cycles, .fineness = 64 };
	const double kib = (double)lines_of(m, GUS_CACHING_LINE) / 1024;
	bool exclusive = false;
	struct gus_knee e;
	double size, cycles, beside;

	if (gus_knee_find(&s, &e, err) != 0)
		return -1;
	if (!e.above) {
		gus_caching_hidden(m, "l3_size", "%.0f MiB are walked as fast as less", (double)e.fits * kib / 1024);
		return 0;
	}
	size = l3_of(m, &e, &exclusive);
	beside = exclusive ? (double)m->lines[GUS_CACHING_L2] * GUS_CACHING_LINE / 1024 : 0;
	m->lines[GUS_CACHING_L3] = lines_of(m, e.fits);
	gus_caching_put(m, &(struct gus_caching_figure){ "l3_size", size * GUS_CACHING_LINE / 1024,
		fmin((double)e.fits * kib - beside, size * GUS_CACHING_LINE / 1024),
		fmax(e.half * kib - beside, size * GUS_CACHING_LINE / 1024), (double)e.fits * kib,
		size * GUS_CACHING_LINE / 1024 + beside,
		e.sharp && m->huge ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_LOW },
		"%.1f MiB are walked at %.0f cycles, %.1f at %.0f%s%s", (double)e.fits * kib / 1024, e.level,
		e.half * kib / 1024, (e.level + e.beyond) / 2, exclusive ? "; L2 beside it" : "",
		e.sharp && m->huge ? "" : "; others may use it, too");
	if (e.fits / 5 * 3 <= p->places)
		return 0;
	if (cost_far(m, e.fits / 5 * 3, &cycles, err) != 0)
		return -1;
	if (fabs(cycles - p->cycles) < 0.1 * p->cycles)
		*p = (struct plateau){ e.fits / 5 * 3, cycles, fabs(cycles - p->cycles) / p->cycles };
	return 0;
}

int gus_caching_caches(struct gus_caching *m, struct gus_error *err)
{
	bool full = m->c->depth == GUS_CALIBRATION_FULL;
	struct plateau p;

	if (!m->lines[GUS_CACHING_L1])
		return 0;
	if (find_line(m, err) != 0 || find_l2(m, err) != 0 || find_l2_latency(m, err) != 0 ||
	    (full && find_l2_ways(m, err) != 0) || find_memory(m, err) != 0)
		return -1;
	if (!m->lines[GUS_CACHING_L2])
		return 0;
	if (find_plateau(m, &p, err) != 0)
		return -1;
	if (!p.places) {
		gus_caching_hidden(m, "l3_latency", "behind L2 a walk's cost rises from list to list up to memory's");
		return 0;
	}
	if (full && p.rise < 0.1 && find_l3(m, &p, err) != 0)
		return -1;
	put_l3_latency(m, &p);
	return 0;
}
