/* SPDX-License-Identifier: MIT */
#include "attribution/compared/figure.h"

#include <math.h>

bool gus_figure_tells(const struct gus_figure *ratio)
{
	return ratio->ci.high < 1 || (ratio->ci.low > 0 && isfinite(ratio->ci.high));
}

/* How far its bounds are from a value, as shares of it. */
struct apart { double below, above; };

static struct apart apart_of(const struct gus_figure *f)
{
	return (struct apart){ (f->value - f->ci.low) / f->value, (f->ci.high - f->value) / f->value };
}

static struct gus_figure figure_of(double value, double below, double above)
{
	return (struct gus_figure){ value, { fmax(0, value * (1 - below)), value * (1 + above) } };
}

struct gus_figure gus_figure_ratio(const struct gus_figure *measured, double modelled, double error)
{
	struct apart m;

	if (isinf(measured->value)) /* there may have been nothing else */
		return (struct gus_figure){ INFINITY, { measured->ci.low / modelled * fmax(0, 1 - error), INFINITY } };
	if (!(measured->value > 0)) /* nothing was seen; it may have been as much as that */
		return (struct gus_figure){ 0, { 0, measured->ci.high / modelled * (1 + error) } };
	m = apart_of(measured);
	return figure_of(measured->value / modelled, hypot(m.below, error), hypot(m.above, error));
}

struct gus_figure gus_figure_part(const struct gus_figure *share, double of, const struct gus_figure *each,
				  double other)
{
	struct apart s, e = apart_of(each);

	if (!(share->value > 0))
		return (struct gus_figure){ 0, { 0, share->ci.high * of * each->ci.high } };
	s = apart_of(share);
	return figure_of(share->value * of * each->value, hypot(hypot(s.below, e.below), other),
			 hypot(hypot(s.above, e.above), other));
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
