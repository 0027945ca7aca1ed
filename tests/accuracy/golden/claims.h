/* SPDX-License-Identifier: MIT */
/* The machines that emulated samplers claim to be, each with the one event that it samples: what perf writes of them
 * before and behind the records. By these the decoders know whose words they are. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_CLAIMS_H
#define GUS_TESTS_ACCURACY_GOLDEN_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/accuracy/golden/words.h"

struct golden_pmu { uint32_t type; const char *name; };

struct golden_claim {
	const char *arch, *cpu, *vendor;
	uint32_t family, model, stepping;
	uint64_t midr;                  /* of Arm's, which has no family */
	const struct golden_pmu *pmus;  /* ends with a name that is NULL */
	/* The event. */
	const char *event, *pmu;        /* pmu: of its type; "": the type says it */
	uint32_t type;
	uint64_t config, config1, config2;
	unsigned precise;
	bool exclude_kernel;
	uint64_t sample_type, branch_type;
	uint16_t misc;                  /* of samples */
};

const struct golden_claim *golden_claim_of(enum golden_hardware hardware);

/* What headers of older kernels do not have. */
#define GOLDEN_SAMPLE_WEIGHT_STRUCT (UINT64_C(1) << 24)
/* PERF_TYPE of ibs_op and arm_spe_0, which differ from machine to machine. */
enum { GOLDEN_TYPE_IBS_OP = 11, GOLDEN_TYPE_SPE = 9 };
/* Neoverse N1, r4p1: its counters have twelve bits, and its manual numbers data sources. */
#define GOLDEN_MIDR UINT64_C(0x414fd0c1)

#endif
