/* SPDX-License-Identifier: MIT */
/* What a sample's access to memory was, as perf script words it: |OP LOAD|LVL L3 hit|SNP Hit|TLB L1 or L2 hit|LCK No|
 * BLK N/A. Versions of perf word it differently: programs should read the number before it. */
#ifndef GUS_CLI_SCRIPT_ACCESS_H
#define GUS_CLI_SCRIPT_ACCESS_H

#include <stdint.h>

#include "cli/common/lines.h"

/* Of a word of the perf_event ABI's, union perf_mem_data_src. */
void gus_script_access(struct gus_lines *l, uint64_t data_src);

/* Which of TEA's events a sample proves, then those that it excludes: ST-L1,ST-TLB,!ST-LLC. events: its column of that
 * name. */
void gus_script_signature(struct gus_lines *l, uint64_t events);

#endif
