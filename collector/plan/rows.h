/* SPDX-License-Identifier: MIT */
/* Short words for the rows of the tables, so that a row is a line:
 *
 *   name, config, config1, role, what it tells, counters, fixed, precise, holds, sample type, period, source
 *
 * and behind these what few rows have, by its name. Only for the tables of this room. */
#ifndef GUS_COLLECTOR_PLAN_ROWS_H
#define GUS_COLLECTOR_PLAN_ROWS_H

#include <linux/perf_event.h>

#include "collector/plan/table.h"
#include "collector/kernel/abi.h"
#include "proto/psv.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

#define HEIGHT GUS_PLAN_HEIGHT
#define TOTAL GUS_PLAN_COUNT
#define SLOTS GUS_PLAN_SLOTS
#define STATES GUS_PLAN_STATES
#define OP GUS_PLAN_OP
#define FETCH GUS_PLAN_FETCH
#define DATA GUS_PLAN_DATA
#define SPLIT GUS_PLAN_SPLIT
#define RATE GUS_PLAN_RATE
#define LEADER GUS_PLAN_LEADER

#define DR_L1 GUS_PSV_DR_L1
#define DR_TLB GUS_PSV_DR_TLB
#define DR_SQ GUS_PSV_DR_SQ
#define FL_MB GUS_PSV_FL_MB
#define FL_EX GUS_PSV_FL_EX
#define FL_MO GUS_PSV_FL_MO
#define ST_L1 GUS_PSV_ST_L1
#define ST_TLB GUS_PSV_ST_TLB
#define ST_LLC GUS_PSV_ST_LLC

#define FREE GUS_PLAN_HOLDS_NOTHING
#define MISS GUS_PLAN_HOLDS_FRONTEND
#define LATENCY GUS_PLAN_HOLDS_LATENCY

/* Bits of counters, from and to included. */
#define TO3 0x00f
#define TO5 0x03f
#define TO7 0x0ff
#define TO9 0x3ff
#define FIXED(i) (1u << (i))

#define BRANCHES PERF_SAMPLE_BRANCH_STACK
#define WHERE (PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC)   /* where the data were */
#define WEIGHED (WHERE | GUS_PERF_WEIGHT_STRUCT)        /* and how long they took */

#endif
