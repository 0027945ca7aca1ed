/* SPDX-License-Identifier: MIT */
/* How far an estimate of stacks is from the truth: TEA's error E (Gottschall, Eeckhout and Jahre, ISCA 2023, section
 * 4),
 *
 *	E = 1 - sum over units i and components j of min(C_ij / T, R_ij / T_R)
 *
 * with C what was estimated, R what is true, T and T_R their sums; components are the combinations of those events that
 * the sampler is judged by, and what it does not know of these is a component of its own, which is nobody's. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_SCORE_H
#define GUS_TESTS_ACCURACY_GOLDEN_SCORE_H

#include "tests/accuracy/golden/truth.h"

enum golden_level { GOLDEN_INSTRUCTION, GOLDEN_BLOCK, GOLDEN_LOOP, GOLDEN_FUNCTION, GOLDEN_LEVELS };
extern const char *const golden_level_names[GOLDEN_LEVELS];

/* A sample, or a share of one: shares of one sample have the same trigger. */
struct golden_estimate {
	uint64_t address, trigger;
	double weight;
	uint16_t psv, known;            /* enum gus_core_psv: had, and known of */
};
struct golden_estimates gus_vec(struct golden_estimate);

struct golden_score {
	double error, heights;          /* E over components, and over heights alone */
	double floor, heights_floor;    /* what so many perfect samples are off by, on average */
	double unknown;                 /* share of the weight whose component is not known */
	double covered;                 /* of cells with 5 samples and more: 95 % intervals that have the truth */
	uint64_t samples;
};
/* Puts samples into an order that is drawn, shares of one sample together: the first n are then n drawn ones. */
void golden_estimates_shuffle(struct golden_estimates *e, uint64_t seed);
/* Of the first so many samples of them (0: of all). events: that it is judged by. */
void golden_score(const struct golden_truth *t, const struct golden_estimates *e, uint16_t events,
		  enum golden_level level, uint64_t samples, struct golden_score *out);
/* The mean error of n perfect samples of things with these shares, which add up to 1: half of the mean absolute
 * deviation of counts, each by Poisson's law. */
double golden_floor(const double *shares, size_t n, double samples);

#endif
