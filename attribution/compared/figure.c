/* SPDX-License-Identifier: MIT */
#include "attribution/compared/figure.h"

#include <math.h>

static double square(double x)
{
	return x * x;
}

static const double NOTHING = 10;

bool gus_figure_tells(const struct gus_figure *ratio)
{
	return ratio->ci.high <= NOTHING || (ratio->ci.low > 0 && isfinite(ratio->ci.high));
}

struct gus_figure gus_figure_ratio(const struct gus_figure *measured, double modelled, double error)
{
	double value = measured->value / modelled;
	double low = measured->value > 0 ? (measured->value - measured->ci.low) / measured->value : 0;
	double high = measured->value > 0 ? (measured->ci.high - measured->value) / measured->value : 0;

	if (isinf(measured->value)) /* there may have been nothing else */
		return (struct gus_figure){ INFINITY, { measured->ci.low / modelled * fmax(0, 1 - error), INFINITY } };
	if (!(measured->value > 0)) /* nothing was seen; it may have been as much as that */
		return (struct gus_figure){ 0, { 0, measured->ci.high / modelled * (1 + error) } };
	return (struct gus_figure){ value, { fmax(0, value * (1 - sqrt(square(low) + square(error)))),
		value * (1 + sqrt(square(high) + square(error))) } };
}

/* How far its bounds are from a value, as shares of it. */
struct apart { double below, above; };

static struct apart apart_of(const struct gus_figure *f)
{
	return (struct apart){ (f->value - f->ci.low) / f->value, (f->ci.high - f->value) / f->value };
}

struct gus_figure gus_figure_part(const struct gus_figure *share, double of, const struct gus_figure *each,
				  double other)
{
	double value = share->value * of * each->value;
	struct apart s, e = apart_of(each);

	if (!(share->value > 0))
		return (struct gus_figure){ 0, { 0, share->ci.high * of * each->ci.high } };
	s = apart_of(share);
	return (struct gus_figure){ value,
		{ fmax(0, value * (1 - sqrt(square(s.below) + square(e.below) + square(other)))),
		  value * (1 + sqrt(square(s.above) + square(e.above) + square(other))) } };
}

static double odds(double share)
{
	return share < 1 ? share / (1 - share) : INFINITY;
}

struct gus_figure gus_figure_against(const struct gus_figure *share, double rest)
{
	if (!(rest > 0))
		return (struct gus_figure){ INFINITY, { 0, INFINITY } };
	return (struct gus_figure){ rest * odds(share->value),
		{ rest * odds(share->ci.low), rest * odds(share->ci.high) } };
}

double gus_figure_against_error(double share, double samples)
{
	struct gus_interval ci = gus_interval_share(share, samples);

	if (!(share > 0 && share < 1))
		return INFINITY;
	return fmax(odds(ci.high) / odds(share) - 1, 1 - odds(ci.low) / odds(share));
}
