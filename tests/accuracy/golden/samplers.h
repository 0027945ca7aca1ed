/* SPDX-License-Identifier: MIT */
/* What samplers would have seen of a run of the core engine. All listen to the same run, and those that cycles trigger
 * are triggered in the same ones:
 *
 *	trigger --> TEA       what the cycle belongs to, shared among those that retire, with its events
 *	        --> NCI       the next that retires, with its events: what PEBS would be if it knew them
 *	        --> PEBS      the next that retires, once it is armed, some cycles later; its branches (LBR)
 *	        --> IBS       what is dispatched next, and all that happens to it until it retires
 *	        --> PMU,timer where an interrupt lands
 *	ops     --> IBS ops, SPE
 *	retired --> TPEBS, loads
 *
 * A pass is one sampler with periods of its own. To have many samples of a short run there are several, which know
 * nothing of each other, as if the program had been run so often.
 *
 * Sources: TEA (Gottschall, Eeckhout and Jahre, ISCA 2023), sections 3 to 5, on TEA, NCI and dispatch tagging; AMD's
 * manual on IBS, Arm's on SPE (collector/records has both), Intel's SDM, volume 3, on PEBS and LBR. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_SAMPLERS_H
#define GUS_TESTS_ACCURACY_GOLDEN_SAMPLERS_H

#include "model/machine/options.h"
#include "tests/accuracy/golden/words.h"

struct gus_program;

enum golden_scheme {
	GOLDEN_TEA, GOLDEN_NCI, GOLDEN_NCI_1, GOLDEN_NCI_2,     /* no hardware: told with their events */
	GOLDEN_BY_PEBS, GOLDEN_BY_PEBS_1, GOLDEN_BY_PEBS_2, GOLDEN_BY_TPEBS, GOLDEN_BY_LOADS,
	GOLDEN_BY_IBS_CYCLES, GOLDEN_BY_IBS_OPS, GOLDEN_BY_SPE, GOLDEN_BY_SPE_SLOW, GOLDEN_BY_PMU, GOLDEN_BY_TIMER,
	/* Retire latencies of instructions that had an event: what a split rests on, not time. */
	GOLDEN_BY_COST_CODE, GOLDEN_BY_COST_CODE_TLB, GOLDEN_BY_COST_BRANCH, GOLDEN_BY_COST_L1, GOLDEN_BY_COST_TLB,
	GOLDEN_BY_COST_LLC,
	GOLDEN_SCHEMES
};
struct golden_scheme_kind {
	const char *name;
	bool words;                     /* it has hardware, which leaves words */
	enum golden_hardware hardware;
	uint16_t events;                /* enum gus_core_psv: that it is judged by; see docs/accuracy.md */
	bool time;                      /* its samples, as they are, stand for time: it can be scored */
};
extern const struct golden_scheme_kind golden_schemes[GOLDEN_SCHEMES];

/* One sample, or a share of one. */
struct golden_seen {
	struct golden_sample sample;    /* of those with words */
	uint64_t trigger;               /* its number, in the scheme: shares of one sample have the same */
	uint32_t op;
	uint32_t ticks;                 /* of GUS_PICS_TICKS */
	uint16_t psv;                   /* as it really was */
};

/* Periods that a run resonates with (resonance.h), of what triggers by each; 0, 0, 0: none. */
struct golden_periods { uint64_t cycles, slots, instructions; };

struct golden_samplers_options {
	/* Mean, in cycles; jittered by 12 % to both sides. Of ops and instructions, of which there are more, it is
	 * twice as long, so that there are about as many samples. */
	uint64_t period;
	struct golden_periods fixed;    /* instead of these, if there are any, and without jitter */
	unsigned passes;
	uint64_t seed;
	uint32_t tid;
	void *context;
	void (*take)(void *context, enum golden_scheme scheme, const struct golden_seen *seen);
};

/* Of one scheme. triggers = samples + lost + open. */
struct golden_rate {
	uint64_t triggers, samples, lost; /* lost: tags on the wrong path, collisions */
	uint64_t total;                 /* of what triggers: cycles, ops, instructions, loads */
	uint64_t period;                /* mean, of that */
};

struct golden_samplers;
struct golden_samplers *golden_samplers_new(const struct gus_program *p, const struct golden_samplers_options *o);
void golden_samplers_free(struct golden_samplers *s);
/* To be told as the engine's listener is. */
void golden_samplers_cycle(struct golden_samplers *s, const struct gus_core_cycle *cycle);
void golden_samplers_uop(struct golden_samplers *s, const struct gus_core_event *event);
void golden_samplers_retire(struct golden_samplers *s, const struct gus_core_retired *op);
void golden_samplers_rate(const struct golden_samplers *s, enum golden_scheme scheme, struct golden_rate *rate);

#endif
