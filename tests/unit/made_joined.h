/* SPDX-License-Identifier: MIT */
/* A trace and a measurement of the same run, for tests of what is made of both. Two regions: add rax, rbx and
 * imul rax, rbx; and a third one of no time. */
#ifndef GUS_TESTS_UNIT_MADE_JOINED_H
#define GUS_TESTS_UNIT_MADE_JOINED_H

#include <stdint.h>

#include "attribution/compared/compared.h"
#include "attribution/compared/measured.h"
#include "attribution/traced/traced.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"

struct joined {
	struct gus_uarch *u;
	struct gus_program *p;
	struct gus_traced t;
	struct gus_measured m;
	struct gus_compared c;
	struct gus_sensitivity knobs[1];
	uint64_t by_region[3], weights[3], by_insn[3];
	double instructions[3];
};

/* Bytes of the instructions, for blocks of a test's own. */
extern const uint8_t made_lengths[2][1];

/* Setup and teardown of a test. 3000 and 1000 cycles modelled, of 6000 and 1000 instructions; 900 and 100 samples of
 * 1000 ns of two runs, at 4 GHz. What a test makes of them (c), and adds to regions, functions and blocks of the
 * trace and to m.covered, is freed with them. */
int made_joined(void **state);
int made_joined_free(void **state);

#endif
