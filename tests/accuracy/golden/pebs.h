/* SPDX-License-Identifier: MIT */
/* What an Intel core's records say, as the kernel hands it on: Golden Cove's loads, Redwood Cove's retirement, and last
 * branch records. Source: perf_event_open(2), union perf_mem_data_src, union perf_sample_weight and struct
 * perf_branch_entry; what the words mean of these cores: perfmon's descriptions of MEM_TRANS_RETIRED.LOAD_LATENCY. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_PEBS_H
#define GUS_TESTS_ACCURACY_GOLDEN_PEBS_H

#include <stdint.h>

struct golden_branch;
struct golden_sample;

/* PERF_SAMPLE_DATA_SRC of a load. */
uint64_t golden_pebs_source(const struct golden_sample *s);
/* PERF_SAMPLE_WEIGHT_STRUCT of a load, and of what was sampled when it retired. */
uint64_t golden_pebs_load_weight(const struct golden_sample *s);
uint64_t golden_pebs_retire_weight(const struct golden_sample *s);
/* The third word of a branch's entry. */
uint64_t golden_pebs_branch(const struct golden_branch *b);

#endif
