/* SPDX-License-Identifier: MIT */
#include "attribution/profile/units.h"

#include <math.h>
#include <string.h>

static const struct gus_scale observed = { GUS_OBSERVED, true, 1, 1, 1 };
static const struct gus_scale unknown = { GUS_UNKNOWN, false, 0, 0, 0 };

/* The lowest and highest frequency timed, before and after; false if none was. */
static bool frequency_bounds(const struct gus_profile *p, double *low_khz, double *high_khz)
{
	const Gusprof__Frequency *timed[2] = { p->header->frequency, p->footer ? p->footer->frequency : NULL };
	bool any = false;

	for (int i = 0; i < 2; i++) {
		const Gusprof__Frequency *f = timed[i];

		if (!f || !f->low_khz || f->high_khz < f->low_khz)
			continue;
		*low_khz = any ? fmin(*low_khz, (double)f->low_khz) : (double)f->low_khz;
		*high_khz = any ? fmax(*high_khz, (double)f->high_khz) : (double)f->high_khz;
		any = true;
	}
	return any;
}

static struct gus_scale cycles_of_time(const struct gus_profile *p)
{
	double low, high;

	if (!frequency_bounds(p, &low, &high))
		return unknown;
	return (struct gus_scale){ GUS_INFERRED, true, (low + high) / 2 / 1e6, low / 1e6, high / 1e6 };
}

static struct gus_scale time_of_cycles(const struct gus_profile *p)
{
	const Gusprof__EventTotal *total = gus_profile_total(p);
	double factor;

	if (!total || !total->count || !total->running_ns)
		return unknown;
	factor = (double)total->running_ns / (double)total->count;
	return (struct gus_scale){ GUS_INFERRED, true, factor, factor, factor };
}

struct gus_units gus_units_of(const struct gus_profile *p)
{
	const struct gus_scale spread = { GUS_INFERRED, true, 1, 1, 1 };
	const char *unit = p->event < p->header->n_events ? p->header->events[p->event]->unit : "";

	/* Time is what it is; how it is spread over places is inferred where samples or other switches say so. */
	if (p->weighs != GUS_WEIGHS_EVENTS)
		return (struct gus_units){ p->weighs == GUS_WEIGHS_WALL || p->wall.thinned ? spread : observed,
					   unknown };
	if (strcmp(unit, "ns") == 0)
		return (struct gus_units){ observed, cycles_of_time(p) };
	if (strcmp(unit, "cycles") == 0)
		return (struct gus_units){ time_of_cycles(p), observed };
	return (struct gus_units){ unknown, unknown };
}

uint64_t gus_scale_apply(const struct gus_scale *scale, uint64_t weight)
{
	if (scale->factor == 1)
		return weight;
	return (uint64_t)llround((double)weight * scale->factor);
}

uint64_t gus_scale_part(const struct gus_scale *scale, uint64_t *sum, uint64_t weight)
{
	uint64_t before = *sum;

	*sum += weight;
	return gus_scale_apply(scale, *sum) - gus_scale_apply(scale, before);
}

double gus_overhead_percent(const struct gus_profile *p)
{
	const Gusprof__EventTotal *total = gus_profile_total(p);
	double cost = p->event < p->header->n_events ? (double)p->header->events[p->event]->cost_ns : 0;
	const Gusprof__Overhead *o = p->footer ? p->footer->overhead : NULL;

	if (o && o->target_ns)
		return (double)o->got_ppm / 1e4 + 100 * (double)o->around_ns / (double)o->target_ns;
	if (!total || !total->running_ns || cost <= 0)
		return -1;
	return 100 * ((double)p->footer->recorder_cpu_ns + cost * (double)total->samples) / (double)total->running_ns;
}
