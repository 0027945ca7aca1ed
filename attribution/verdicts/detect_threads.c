/* SPDX-License-Identifier: MIT */
/* What threads do to each other, as the recording's samples tell it: lines that they take from each other, what the
 * runtime of OpenMP has, and work that is not the same for all. Nothing here is modelled; intervals are those of
 * samples. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attribution/verdicts/facts.h"

static const double NORMAL = 1.96;
/* Fewer samples of a kind than this tell nothing. */
enum { SAMPLES = 20 };

/* Of n of all samples, as a part of the time (normal approximation). */
static struct gus_pathology_cost part_of_samples(double n, double all)
{
	double part = all > 0 ? n / all : 0, half = all > 0 ? NORMAL * sqrt(part * (1 - part) / all) : 0;

	return (struct gus_pathology_cost){ part, part - half, part + half };
}

static const struct gus_pathology_insn *insn_at(const struct gus_pathology_facts *f, uint64_t address)
{
	for (size_t i = 0; i < f->insns.n; i++)
		if (f->insns.v[i].address == address)
			return &f->insns.v[i];
	return NULL;
}

void gus_pathology_detect_threads(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	const struct gus_pathology_seen *s = f->g->seen;

	if (!s)
		return;
	if (s->apart >= SAMPLES) /* of the loads that were sampled the region has as many as of the time */
		gus_pathology_add(f, out, GUS_PATHOLOGY_FALSE_SHARING, insn_at(f, s->hitm_at),
				  part_of_samples((double)s->apart, fmax((double)s->told * (double)s->samples /
				  (double)s->all, (double)s->hitm)), "put what threads write on lines "
				  "of their own (alignas(64), padding): %llu of %llu loads that found their line "
				  "changed by another core were not of its bytes", (unsigned long long)s->apart,
				  (unsigned long long)s->hitm);
	if (s->runtime >= SAMPLES)
		gus_pathology_add(f, out, GUS_PATHOLOGY_RUNTIME, NULL,
				  part_of_samples((double)s->runtime, (double)s->all), "fewer and larger parallel "
				  "regions, fewer barriers, another schedule: the runtime of OpenMP has %.0f %% of all "
				  "samples",
				  100 * (double)s->runtime / (double)s->all);
	if (s->threads > 1 && s->most >= SAMPLES) {
		/* Of threads that are equal the one with most samples has this many more than the mean, by chance (the
		 * largest of n normal variables, from above); the rest is time of the slowest that all wait for. */
		double chance = sqrt(2 * s->mean * log(s->threads));
		double part = fmax(1 - (s->mean + chance) / s->most, 0);
		double half = NORMAL * (1 - part) / sqrt(s->most);

		gus_pathology_add(f, out, GUS_PATHOLOGY_IMBALANCE, NULL, (struct gus_pathology_cost){ part,
				  part - half, part + half }, "share the work out evenly "
				  "(schedule(dynamic), smaller pieces): of %u threads the slowest has %.0f samples "
				  "here, and the mean is %.0f",
				  s->threads, s->most, s->mean);
	}
}
