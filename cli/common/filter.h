/* SPDX-License-Identifier: MIT */
/* Which samples of a recording to take, as the options of report, annotate and script say it. */
#ifndef GUS_CLI_COMMON_FILTER_H
#define GUS_CLI_COMMON_FILTER_H

#include <stdint.h>

#include "attribution/profile/profile.h"
#include "cli/common/options.h"

struct gus_error;
struct gus_log;

struct gus_filter_options {
	struct gus_list comms, tids, pids;
	const char *time, *event, *cpus;
	/* Private: what lists of numbers are. */
	uint32_t *tid_numbers, *pid_numbers;
	struct gus_cpu_range *cpu_ranges;
};

/* Their rows in the table of a verb whose values have them as member. */
#define GUS_FILTER_OPTIONS(values, member) \
	{ 'c', "comm", "NAME[,NAME]", "Only samples of threads that had this name then.", GUS_OPTION_LIST, \
	  offsetof(values, member.comms) }, \
	{ 0, "pid", "PID[,PID]", "Only samples of these processes.", GUS_OPTION_LIST, \
	  offsetof(values, member.pids) }, \
	{ 0, "tid", "TID[,TID]", "Only samples of these threads.", GUS_OPTION_LIST, \
	  offsetof(values, member.tids) }, \
	{ 'C', "cpu", "LIST", "Only samples that were taken on these CPUs, such as 0-2,4.", GUS_OPTION_STRING, \
	  offsetof(values, member.cpus), .filled = true }, \
	{ 0, "time", "RANGE", "Only this part: FROM,TO in seconds since the start (either may be empty), or 10%-40%, " \
	  "or 10%/2 for the second tenth.", GUS_OPTION_STRING, offsetof(values, member.time) }, \
	{ 0, "event", "NAME", "Which event of the recording, by name or number; the first by default.", \
	  GUS_OPTION_STRING, offsetof(values, member.event) }

/* What the options mean for this recording, and how long that is in ns. The filter borrows from the options, which are
 * to be freed whatever is returned. */
int gus_filter_make(struct gus_filter *filter, struct gus_filter_options *options, struct gus_reader *reader,
		    uint64_t *length, struct gus_error *err);
/* Warns of names of threads and modules that were asked for and that no sample has, and of samples without a CPU. */
void gus_filter_absent(const struct gus_filter_options *options, const struct gus_list *modules,
		       const struct gus_profile *p, const struct gus_log *log);
void gus_filter_options_free(struct gus_filter_options *options);

#endif
