/* SPDX-License-Identifier: MIT */
/* Recordings of emulated samplers: perf.data files with the words that the hardware would have left, to be decoded like
 * any other. What a sampler saw of one sample comes as plain values; which of them its hardware tells, in which words,
 * with which fields that saturate, is known here alone. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_WORDS_H
#define GUS_TESTS_ACCURACY_GOLDEN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_error;
struct gus_sample;

enum golden_hardware {
	GOLDEN_PEBS,            /* cycles:ppp of an Intel core: address of the instruction, with LBR */
	GOLDEN_TPEBS,           /* instructions retired, with retire latency (weight struct, var3_w) */
	GOLDEN_LOADS,           /* load latency: address, data source, cache latency and instruction latency */
	GOLDEN_IBS_CYCLES,      /* ibs_op of AMD, cnt_ctl 0, RAW of Zen 4 */
	GOLDEN_IBS_OPS,         /* the same, cnt_ctl 1 */
	GOLDEN_SPE,             /* AUX of arm_spe_0, x86 addresses notwithstanding */
	GOLDEN_SPE_SLOW,        /* the same, of operations that took GOLDEN_SLOW cycles at least */
	GOLDEN_PMU,             /* cycles without precision */
	GOLDEN_TIMER,           /* cpu-clock */
	/* Precise events with retire latency, as TPEBS: one of so many instructions that had the event. */
	GOLDEN_COST_CODE,       /* FRONTEND_RETIRED.L1I_MISS */
	GOLDEN_COST_CODE_TLB,   /* FRONTEND_RETIRED.ITLB_MISS, never at the same time */
	GOLDEN_COST_BRANCH,     /* BR_MISP_RETIRED.ALL_BRANCHES_COST: the instruction behind a mispredicted branch */
	GOLDEN_COST_L1,         /* MEM_LOAD_RETIRED.L1_MISS and FB_HIT */
	GOLDEN_COST_TLB,        /* MEM_INST_RETIRED.STLB_HIT_LOADS and STLB_MISS_LOADS */
	GOLDEN_COST_LLC,        /* MEM_LOAD_RETIRED.L3_MISS */
	GOLDEN_HARDWARE
};

enum { GOLDEN_BRANCHES = 32, GOLDEN_SLOW = 32 };
struct golden_branch { uint64_t from, to; uint16_t cycles; bool mispredicted; };

/* Times in cycles. Of a sample that says less than this the rest is not looked at. */
struct golden_sample {
	uint64_t cycle, period, ip;
	uint32_t tid;
	bool load, store, branch, taken, mispredicted, call, returns, first_of_op;
	uint8_t level, tlb;             /* enum gus_hit, enum gus_tlb, of a load or store */
	bool coming;                    /* of a load from L1: its line was on its way there */
	uint64_t address; uint32_t bytes;
	uint64_t target;                /* of a branch */
	uint32_t tag_to_issue;          /* from the tag (dispatch into the ROB) until it was executed */
	uint32_t tag_to_complete, complete_to_retire, translation, miss;
	uint32_t retire_latency;        /* from the retirement of the instruction before it to its own */
	const struct golden_branch *branches; /* the most recent first */
	unsigned branches_n;
};

enum { GOLDEN_BUILD_ID = 20 };
struct golden_mapping {
	uint64_t start, length, offset;
	const char *path;
	uint8_t build_id[GOLDEN_BUILD_ID];
	size_t build_id_n;              /* 0: the file has none */
};
struct golden_about {
	uint32_t pid;
	const char *comm;
	const struct golden_mapping *mappings;
	size_t mappings_n;
	double ghz;                     /* cycles to nanoseconds */
	uint64_t period;                /* nominal */
};

struct golden_words;
/* Creates the file. NULL with err. */
struct golden_words *golden_words_open(enum golden_hardware hardware, const char *path,
				       const struct golden_about *about, struct gus_error *err);
/* Samples of a thread come in the order of their cycles; cycles of threads have nothing to do with each other. -1 with
 * err. */
int golden_words_put(struct golden_words *w, const struct golden_sample *sample, struct gus_error *err);
/* Ends the file; frees w also on failure. lost: what the hardware would count as lost (collisions, tags). */
int golden_words_finish(struct golden_words *w, uint64_t lost, struct gus_error *err);

/* Calls take for each sample of a recording of any kind that gusprof reads, in order, decoded as any verb decodes it.
 * -1 with err. */
int golden_words_read(const char *path, void (*take)(void *context, const struct gus_sample *s), void *context,
		      struct gus_error *err);

#endif
