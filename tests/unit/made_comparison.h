/* SPDX-License-Identifier: MIT */
/* What gusprof compare shows, of figures that are written down: a trace, a measurement, and what was made of both. */
#ifndef GUS_TESTS_UNIT_MADE_COMPARISON_H
#define GUS_TESTS_UNIT_MADE_COMPARISON_H

#include "cli/compare/view.h"
#include "cli/model/expected.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"

/* Ops and instructions of the code, and where the other function's begin. */
enum { IMUL, BRANCH, TWIN, ADD, OPS, OTHER_AT = 10, INSNS = 5, KNOBS = 2 };
enum { HOT, COLD };

struct made {
	struct gus_uarch *u;
	struct gus_program *p;
	struct gus_traced t;
	struct gus_sensitivity knobs[KNOBS];
	double op_cycles[OPS], op_charged[OPS];
	uint64_t by_insn[INSNS], hashes[1];
	Gusprof__Host host;
	Gusprof__Frequency frequency;
	struct gus_expected_error told;
	struct gus_model_expectation expectation;
	struct gus_model_traced model;
	struct gus_model_process process;
	struct gus_model_windows windows;
	struct gus_model_view traced;
	struct gus_measured m;
	struct gus_compared c;
	struct gus_screen screen;
	struct gus_compare_view v;
};

/* Setup and teardown of a test. A loop with 80 % of 1000 samples and 75 % of the modelled time, and a function with the
 * rest; two runs. What a test adds to the rows is freed with them. */
int made_comparison(void **state);
int made_comparison_free(void **state);

#endif
