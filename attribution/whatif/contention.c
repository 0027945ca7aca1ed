/* SPDX-License-Identifier: MIT */
#include "attribution/whatif/contention.h"

#include <math.h>

#include "model/analysis/sensitivity.h"
#include "model/machine/config.h"

static const double NORMAL = 1.96;

const char *gus_contention_level_name(enum gus_hit level)
{
	return level == GUS_HIT_L3 ? "L3" : "memory";
}

void gus_contention_make(struct gus_contention *c, enum gus_hit level, double share,
			 const struct gus_core_config *config)
{
	uint32_t bandwidth = level == GUS_HIT_L3 ? config->l3_bandwidth : config->memory_bandwidth;

	*c = (struct gus_contention){ .level = level, .share = share,
		.line = bandwidth ? (double)config->line_size / bandwidth : 0,
		.latency = level == GUS_HIT_L3 ? config->l3_latency : config->memory_latency };
}

double gus_contention_wait(const struct gus_contention *c)
{
	return c->line * c->share / (2 * (1 - c->share));
}

bool gus_contention_has(const void *contention, const struct gus_sensitivity *knob)
{
	const struct gus_contention *c = contention;

	return c->line > 0 && knob->knob.number == c->level &&
		(knob->knob.kind == GUS_KNOB_BANDWIDTH || knob->knob.kind == GUS_KNOB_LEVEL_LATENCY);
}

double gus_contention_weight(const void *contention, const struct gus_sensitivity *knob)
{
	const struct gus_contention *c = contention;

	if (knob->knob.kind == GUS_KNOB_BANDWIDTH)
		return 1 - c->share;
	return c->latency > 0 ? c->latency / (c->latency + gus_contention_wait(c)) : 1;
}

/* As intervals of gains (attribution/verdicts/verdict.c), of the logarithm: with g the speedup that the error is of,
 * log(1 + loss) is -log(1 + g), whose error is that of g over 1 + g. */
void gus_contention_judge(double cycles, double with, double error, double model, struct gus_contention_loss *out)
{
	double ratio = cycles > 0 && with > 0 ? with / cycles : 1, lost = log(ratio);
	double half = hypot(NORMAL * error * ratio, model * lost);

	out->loss = ratio - 1;
	out->low = expm1(lost - half);
	out->high = expm1(lost + half);
}
