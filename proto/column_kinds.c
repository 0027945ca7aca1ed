/* SPDX-License-Identifier: MIT */
/* The columns that this program knows. A new one is a field of struct gus_sample, a number in enum gus_column, a row
 * here and a row in FORMAT.md. It is a file of its own so that a test can be linked with what a later version will
 * know in its place. */
#include "proto/columns.h"
#include "proto/sample.h"

#define FIELD(name) offsetof(struct gus_sample, name), sizeof(((struct gus_sample *)NULL)->name)

const struct gus_column_kind gus_column_kinds[] = {
	{ GUS_COL_EVENT, GUS_ENCODING_PLAIN, FIELD(event) },
	{ GUS_COL_IP, GUS_ENCODING_TABLE, FIELD(ip) },
	{ GUS_COL_TIME, GUS_ENCODING_DELTA, FIELD(time) },
	{ GUS_COL_PERIOD, GUS_ENCODING_DELTA, FIELD(period) },
	{ GUS_COL_PID, GUS_ENCODING_PLAIN, FIELD(pid) },
	{ GUS_COL_TID, GUS_ENCODING_PLAIN, FIELD(tid) },
	{ GUS_COL_CPU, GUS_ENCODING_PLAIN, FIELD(cpu) },
	{ GUS_COL_MODE, GUS_ENCODING_PLAIN, 0, 0 },
	{ GUS_COL_CHAIN_N, GUS_ENCODING_PLAIN, FIELD(chain_n) },
	{ GUS_COL_BRANCHES_N, GUS_ENCODING_PLAIN, FIELD(branches_n) },
	{ GUS_COL_BRANCH_INDEX, GUS_ENCODING_PLAIN, FIELD(branch_index) },
	{ GUS_COL_REGS_N, GUS_ENCODING_PLAIN, FIELD(regs_n) },
	{ GUS_COL_STACK_N, GUS_ENCODING_PLAIN, FIELD(stack_n) },
	{ GUS_COL_EXTRAS_N, GUS_ENCODING_PLAIN, FIELD(extras_n) },
	{ GUS_COL_CALLERS, GUS_ENCODING_PLAIN, FIELD(callers) },
	{ GUS_COL_TOLD, GUS_ENCODING_PLAIN, FIELD(told) },
	{ GUS_COL_ADDRESS, GUS_ENCODING_TABLE, FIELD(address) },
	{ GUS_COL_PHYSICAL, GUS_ENCODING_TABLE, FIELD(physical) },
	{ GUS_COL_DATA_PAGE, GUS_ENCODING_PLAIN, FIELD(data_page) },
	{ GUS_COL_CODE_PAGE, GUS_ENCODING_PLAIN, FIELD(code_page) },
	{ GUS_COL_DATA_SOURCE, GUS_ENCODING_TABLE, FIELD(data_source) },
	{ GUS_COL_EVENTS, GUS_ENCODING_TABLE, FIELD(events) },
	{ GUS_COL_WEIGHT, GUS_ENCODING_PLAIN, FIELD(weight) },
	{ GUS_COL_INSTRUCTION_LATENCY, GUS_ENCODING_PLAIN, FIELD(instruction_latency) },
	{ GUS_COL_ISSUE_LATENCY, GUS_ENCODING_PLAIN, FIELD(issue_latency) },
	{ GUS_COL_TRANSLATION_LATENCY, GUS_ENCODING_PLAIN, FIELD(translation_latency) },
	{ GUS_COL_RETIRE_LATENCY, GUS_ENCODING_PLAIN, FIELD(retire_latency) },
	{ GUS_COL_TRANSACTION, GUS_ENCODING_PLAIN, FIELD(transaction) },
	{ GUS_COL_CGROUP, GUS_ENCODING_TABLE, FIELD(cgroup) },
};
const size_t gus_column_kinds_n = sizeof(gus_column_kinds) / sizeof(*gus_column_kinds);
