/* SPDX-License-Identifier: MIT */
/* The model held against a measurement, region by region (DESIGN.md section 7): what recordings say of the regions of a
 * trace, joined with what the trace takes on the model.
 *
 * What can be compared depends on what there is (enum gus_compared_basis). All figures are brought to the scale of the
 * trace, in cycles, so that a ratio is measured over modelled whatever the basis. */
#ifndef GUS_ATTRIBUTION_COMPARED_COMPARED_H
#define GUS_ATTRIBUTION_COMPARED_COMPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/compared/knobs.h"
#include "attribution/compared/residuals.h"
#include "attribution/compared/trust.h"
#include "attribution/compared/weak.h"
#include "attribution/stacks/evidence.h"
#include "base/alloc.h"

struct gus_measured;
struct gus_traced;

enum gus_compared_basis {
	/* The trace is all that a run executes, so each region's cycles in a run are those of the trace. */
	GUS_COMPARED_CYCLES,
	/* It is a part of a run, and the recording has counted instructions: cycles per instruction are compared. */
	GUS_COMPARED_PER_INSTRUCTION,
	/* Neither, or nobody knows what cycles the time is: the time of a region against that of all others, which is
	 * taken to be what was modelled. So a region that has nearly all of the time says nothing, and as much as one
	 * region is too high others are too low. */
	GUS_COMPARED_SHARES,
};
/* "cycles", "cycles per instruction", "shares". */
const char *gus_compared_basis_name(enum gus_compared_basis basis);

struct gus_compared_row {
	uint32_t region;                /* of the trace; GUS_TRACED_NONE: all of them */
	uint64_t samples, instructions; /* the trace's instructions */
	struct gus_figure share;        /* of the samples in regions */
	double modelled_share;
	struct gus_figure measured;     /* cycles, at the scale of the trace; infinite where all time is its */
	double nominal;                 /* the stream engine's cycles */
	/* Cycles of the engine that is compared, and half of their 95 % interval as a share, by what is sampled. */
	double modelled, error;
	struct gus_figure ratio;
	enum gus_trust verdict;
	bool shared;            /* that is open, and would not be if no other thread had been busy on the core */
	/* Of the function that it is in, with all loops: between neighbours samples stray, and the model's time is told
	 * of whatever stood before retirement, so they may be off where their sum is not. */
	struct gus_figure function_ratio;
	enum gus_trust function_verdict;
	struct gus_compared_weak weak;
	struct gus_compared_knob knobs[GUS_COMPARED_KNOBS];
	size_t knobs_n;
};

struct gus_compared {
	enum gus_compared_basis basis;
	enum gus_evidence evidence;     /* of what was measured; what was modelled is modelled */
	/* Regions that were sampled or executed, by the larger of both shares; without those that have less than a
	 * ten thousandth of both. */
	struct gus_vec(struct gus_compared_row) rows;
	struct gus_compared_row whole;  /* of shares it has no ratio, and its verdict is that of its rows */
	struct gus_looks looks;
	double distance;                /* which part of the time would have to be elsewhere for shares to be equal */
	double time[GUS_TRUSTS];        /* the mean of both shares, of rows by their function's verdict */
	/* What explains differences in all rows; without regions enough, or if it explains too little, none. */
	size_t common_of;               /* regions that were looked at */
	struct gus_compared_common common;
	struct gus_residuals_fit forms; /* n 0: none */
	uint64_t *hashes;               /* of forms by the fit's numbers: see gus_uarch_form */
};

struct gus_compared_options {
	/* The trace is of so many windows of a run, each at a place by chance; 0: of all that it executed. What one is
	 * of, others need not be: shares are known as well as if each window were of one region. */
	double windows;
	bool core;              /* the core engine's cycles are compared, which ran on all that was timed */
	struct gus_looks looks; /* at others on the core, while it was measured */
	double told;            /* how far the model's figures are off in general, as a share; 0: nobody knows */
};

/* t has ended, and m is of its regions. Freed with gus_compared_free. */
void gus_compared_make(struct gus_compared *c, const struct gus_traced *t, const struct gus_measured *m,
		       const struct gus_compared_options *options);
void gus_compared_free(struct gus_compared *c);

#endif
