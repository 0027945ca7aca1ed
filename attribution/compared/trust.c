/* SPDX-License-Identifier: MIT */
#include "attribution/compared/trust.h"

#include <math.h>
#include <stdbool.h>

/* Whether the interval has a ratio from 1 / (1 + off) to 1 + off. */
static bool reaches(const struct gus_figure *ratio, double off)
{
	return ratio->ci.low <= 1 + off && ratio->ci.high >= 1 / (1 + off);
}

bool gus_trust_is_wide(const struct gus_figure *ratio)
{
	return ratio->ci.high > GUS_TRUST_WIDE * ratio->ci.low;
}

enum gus_trust gus_trust_of(const struct gus_figure *ratio, double told)
{
	if (!reaches(ratio, fmax(GUS_TRUST_FAR, told)))
		return GUS_TRUST_NONE;
	if (gus_trust_is_wide(ratio))
		return GUS_TRUST_OPEN;
	if (fabs(ratio->value - 1) <= GUS_TRUST_NEAR || reaches(ratio, told))
		return GUS_TRUST_FULL;
	return GUS_TRUST_DOUBTFUL;
}

double gus_trust_shared(const struct gus_looks *looks)
{
	return looks->beside ? gus_interval_share((double)looks->beside / looks->n, looks->n).high : 0;
}

enum gus_trust gus_trust_beside(const struct gus_figure *ratio, double told, double shared, bool against)
{
	enum gus_trust verdict = gus_trust_of(ratio, told);
	struct gus_figure other = *ratio;

	if (verdict == GUS_TRUST_FULL || (ratio->value <= 1 && !against))
		return verdict;
	if (ratio->value > 1)
		other.ci.low *= 1 - shared / 2;
	else
		other.ci.high /= 1 - shared / 2;
	return gus_trust_of(&other, told) == verdict ? verdict : GUS_TRUST_OPEN;
}

enum gus_trust gus_trust_whole(const double time[GUS_TRUSTS], enum gus_trust total, bool wide)
{
	double known = time[GUS_TRUST_FULL] + time[GUS_TRUST_DOUBTFUL] + time[GUS_TRUST_NONE];

	bool few = !(known > 0) || known < time[GUS_TRUST_OPEN];

	if (few && (wide || total == GUS_TRUST_FULL))
		return GUS_TRUST_OPEN;
	if (few || total == GUS_TRUST_NONE)
		return total;
	if (time[GUS_TRUST_NONE] > GUS_TRUST_SPOILT * known)
		return GUS_TRUST_NONE;
	if (total == GUS_TRUST_DOUBTFUL || time[GUS_TRUST_FULL] < GUS_TRUST_MOST * known)
		return GUS_TRUST_DOUBTFUL;
	return GUS_TRUST_FULL;
}

const char *gus_trust_name(enum gus_trust verdict)
{
	static const char *const names[GUS_TRUSTS] = { "trust", "doubtful", "do not trust", "cannot tell" };

	return names[verdict];
}
