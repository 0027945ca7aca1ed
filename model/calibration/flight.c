/* SPDX-License-Identifier: MIT */
/* How many misses, and how many page walks, are under way at once: more and more of them are asked for side by side,
 * until a step of all takes longer. By Little's law as many are in flight as come in the time that one takes. */
#include <math.h>

#include "base/error.h"
#include "model/calibration/chase.h"
#include "model/calibration/emit.h"
#include "model/calibration/host.h"
#include "model/calibration/memory.h"

enum { LISTS = 8, EACH_MOST = 6, WALKS = 12, STEPS = 4, FAR_LEAST = 1 << 20 /* lines */ };

/* Lists, and beside each step more places that lie a region farther on each and depend on nothing but it: as many loads
 * as registers would not have room for. */
struct volley { unsigned lists, each; uint64_t region, places; };

static struct gus_micro *volley_micro(const struct gus_caching *m, const struct volley *v)
{
	const unsigned apart = m->huge ? 2 : 7;
	struct gus_micro *k = gus_micro_new(m->host->isa, "%u loads of %u lists of %llu places", v->each, v->lists,
					    (unsigned long long)v->places);

	k->huge = m->host->arena_most_huge > 0;
	k->arena = v->lists * v->each * v->region;
	gus_emit_begin(k);
	for (unsigned i = 0; i < v->lists; i++) {
		const uint64_t start = i * v->each * v->region;

		gus_vec_push(&k->lists, (struct gus_micro_list){ .start = start, .places = v->places,
			.distance = apart * GUS_CACHING_LINE,
			.block = m->huge ? 0 : GUS_CACHING_PAGE / (apart * GUS_CACHING_LINE), .seed = i + 1 });
		gus_emit_address(k, i, (int64_t)start);
	}
	gus_emit_loop(k);
	for (unsigned step = 0; step < STEPS; step++)
		for (unsigned e = 0; e < v->each; e++) /* the step itself last, as it changes the register */
			for (unsigned i = 0; i < v->lists; i++) {
				const int64_t offset = (int64_t)((v->each - 1 - e) * v->region);
				const struct gus_micro_access to = { .way = GUS_MICRO_CHASE, .offset = offset,
					.list = (uint8_t)i, .step = e + 1 == v->each };

				if (to.step)
					gus_emit_load(k, i, i, 0, to);
				else
					gus_emit_load_vector(k, i, 8, i, (int32_t)offset, to);
			}
	gus_emit_end(k);
	k->warm = (v->places + STEPS - 1) / STEPS;
	k->passes = m->slow ? 0 : k->warm;
	return k;
}

/* lines: of all that is walked. */
static int time_volley(const struct gus_caching *m, unsigned lists, unsigned each, uint64_t lines, double *cycles,
		       struct gus_error *err)
{
	const uint64_t apart = (m->huge ? 2 : 7) * GUS_CACHING_LINE;
	struct volley v = { .lists = lists, .each = each };
	struct gus_micro *k;
	int rc;

	v.places = lines / (m->huge ? 2 : 1) / (lists * each);
	v.region = (v.places * apart / GUS_CACHING_PAGE + 1) * GUS_CACHING_PAGE;
	k = volley_micro(m, &v);
	rc = gus_chase_run(m->host, &k, 1, cycles, err);
	*cycles /= STEPS;
	return rc;
}

/* Lines of a level that come in a cycle at most, and with how many asked for that was. */
struct rate { double lines, asked; };

static int find_rate(const struct gus_caching *m, uint64_t lines, struct rate *best, struct gus_error *err)
{
	double cycles;

	*best = (struct rate){ 0, 0 };
	for (unsigned each = 1; each <= EACH_MOST; each++) {
		if (time_volley(m, LISTS, each, lines, &cycles, err) != 0)
			return -1;
		if (LISTS * each / cycles > best->lines * 1.02)
			*best = (struct rate){ LISTS * each / cycles, LISTS * each };
	}
	return 0;
}

/* Misses of two levels, one far and one near: what is in flight at both is limited by what both need, the buffers. */
static int find_misses(struct gus_caching *m, struct gus_error *err)
{
	const uint64_t near = 3 * m->lines[GUS_CACHING_L2];
	uint64_t far = 2 * m->lines[GUS_CACHING_L3];
	struct rate near_rate = { 0, 0 }, far_rate = { 0, 0 };
	double near_flight, far_flight, most, value;
	bool agree;

	if (m->cycles[GUS_CACHING_L3] > 0 && find_rate(m, near, &near_rate, err) != 0)
		return -1;
	if (!m->slow && far < FAR_LEAST) /* what others leave of L3 may be less than it has */
		far = FAR_LEAST;
	if (find_rate(m, far > near ? far : 4 * near, &far_rate, err) != 0)
		return -1;
	near_flight = near_rate.lines * m->cycles[GUS_CACHING_L3];
	far_flight = far_rate.lines * m->cycles[GUS_CACHING_FAR];
	most = near_flight > far_flight ? near_flight : far_flight;
	value = round(most);
	agree = fabs(near_flight - far_flight) < 0.15 * most;
	m->flight = agree ? (unsigned)value : 0;
	gus_caching_fact(m, "misses_in_flight_l3", "lines", near_flight, "%.3f lines of L3 come in a cycle",
		near_rate.lines);
	gus_caching_fact(m, "misses_in_flight_memory", "lines", far_flight, "%.3f lines of memory come in a cycle",
			far_rate.lines);
	if (value < 1 || !agree)
		gus_caching_hidden(m, "l1d_misses", "%.1f lines are in flight from L3, %.1f from memory: "
				   "bandwidth may limit either", near_flight, far_flight);
	else
		gus_caching_put(m, &(struct gus_caching_figure){ "l1d_misses", value, floor(most * 0.95),
			ceil(most * 1.05), most, value, GUS_CONFIDENCE_MEDIUM },
			"%.1f lines are in flight from L3, %.1f from memory, at most", near_flight, far_flight);
	gus_caching_hidden(m, "l2_misses", "loads alone have no more in flight than L1 asks for");
	return 0;
}

/* Lists of pages that are walked for each, side by side. */
static int find_walks(struct gus_caching *m, struct gus_error *err)
{
	uint64_t apart = 1, each = (3 * m->pages + WALKS - 1) / WALKS;
	struct gus_chase c = { .lists = WALKS, .steps = STEPS };
	double cycles, value, rate;

	while (apart * m->pages < m->pages_second)
		apart *= 2;
	for (unsigned i = 0; i < WALKS; i++)
		c.list[i] = (struct gus_micro_list){ .start = i * (each * apart * GUS_CACHING_PAGE + 5 *
			GUS_CACHING_LINE),
			.places = each, .distance = apart * GUS_CACHING_PAGE, .skews = 61, .skew = GUS_CACHING_LINE,
			.seed = i + 1 };
	if (m->walk <= 0 || (WALKS + 1) * each * apart * GUS_CACHING_PAGE > gus_caching_most(m, false)) {
		gus_caching_hidden(m, "page_walks", "there is no page walk to be seen");
		return 0;
	}
	if (gus_chase_time(m->host, &c, &cycles, err) != 0)
		return -1;
	rate = WALKS * m->walk / cycles;
	value = round(rate);
	if (rate > 0.9 * WALKS * m->walk / (m->walk + m->cycles[GUS_CACHING_L1]))
		gus_caching_hidden(m, "page_walks", "%u at once take %.0f cycles, one %.0f", WALKS, cycles, m->walk);
	else
		gus_caching_put(m, &(struct gus_caching_figure){ "page_walks", value > 1 ? value : 1, floor(rate),
			ceil(rate), rate,
			value, fabs(rate - value) < 0.2 ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM },
			"%u walks at once take %.0f cycles, one by itself %.0f", WALKS, cycles, m->walk);
	return 0;
}

int gus_caching_flight(struct gus_caching *m, struct gus_error *err)
{
	if (find_walks(m, err) != 0)
		return -1;
	return m->lines[GUS_CACHING_L2] ? find_misses(m, err) : 0;
}
