/* SPDX-License-Identifier: MIT */
#include "model/calibration/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "model/calibration/fit.h"
#include "model/calibration/host.h"

static void say(char *why, size_t size, const char *text, va_list arguments)
{
	vsnprintf(why, size, text, arguments);
}

void gus_caching_put(struct gus_caching *m, const struct gus_caching_figure *g, const char *why, ...)
{
	/* What was seen may be a little beside the size that is meant; the interval has both. */
	struct gus_fit_param p = { .name = g->name, .value = g->value, .low = fmin(g->low, g->value),
		.high = fmax(g->high, g->value), .confidence = g->confidence };
	va_list arguments;

	if (g->explained > 0)
		p.residual = fabs(g->measured - g->explained) / g->explained;
	va_start(arguments, why);
	say(p.why, sizeof(p.why), why, arguments);
	va_end(arguments);
	gus_fit_put(m->f, &p);
}

void gus_caching_hidden(struct gus_caching *m, const char *name, const char *why, ...)
{
	struct gus_fit_param p = { .name = name, .value = NAN, .low = NAN, .high = NAN,
		.confidence = GUS_CONFIDENCE_NONE };
	va_list arguments;

	va_start(arguments, why);
	say(p.why, sizeof(p.why), why, arguments);
	va_end(arguments);
	gus_fit_put(m->f, &p);
}

void gus_caching_fact(struct gus_caching *m, const char *name, const char *unit, double value, const char *why, ...)
{
	struct gus_fit_fact fact = { .name = name, .unit = unit, .value = value, .low = value, .high = value };
	va_list arguments;

	va_start(arguments, why);
	say(fact.why, sizeof(fact.why), why, arguments);
	va_end(arguments);
	gus_vec_push(&m->f->facts, fact);
}

/* Pages that come by in turns are all gone again when their turn is, once there are more than the TLB has; of those
 * that come at random some are there by chance. */
double gus_caching_translation(const struct gus_caching *m, double pages, double accesses)
{
	double kept = accesses <= 1 ? (double)m->pages / pages : 0;

	if (m->huge || pages <= (double)m->pages)
		return 0;
	if (m->pages_second && pages > (double)m->pages_second)
		return m->walk * (1 - (double)m->pages_second / pages * (accesses <= 1)) / accesses;
	return m->second * (1 - kept) / accesses;
}

unsigned gus_caching_asked(const struct gus_caching *m)
{
	return m->slow ? 1 : 3;
}

uint64_t gus_caching_most(const struct gus_caching *m, bool huge)
{
	return huge ? m->host->arena_most_huge : m->host->arena_most;
}

static const struct part {
	const char *name;
	int (*fit)(struct gus_caching *m, struct gus_error *err);
	bool quick;
	double share;           /* of the time */
} parts[] = {
	{ "the first cache", gus_caching_first, true, 0.05 },
	{ "TLBs", gus_caching_pages, true, 0.15 },
	{ "caches", gus_caching_caches, true, 0.4 },
	{ "misses in flight", gus_caching_flight, false, 0.1 },
	{ "bandwidths", gus_caching_streams, false, 0.2 },
	{ "prefetchers", gus_caching_prefetch, false, 0.1 },
};

int gus_fit_memory(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	struct gus_caching m = { .c = c, .host = c->host, .f = f, .slow = gus_calibration_host_is_simulated(c->host) };
	double done = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (c->depth == GUS_CALIBRATION_QUICK && !parts[i].quick)
			continue;
		if (c->progress)
			c->progress(c->progress_context, parts[i].name, done);
		if (parts[i].fit(&m, err) != 0)
			return -1;
		done += parts[i].share;
	}
	return 0;
}
