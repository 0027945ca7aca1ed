/* SPDX-License-Identifier: MIT */
/* What record says when it has ended: how much there is, what is missing and why, and what it cost. */
#ifndef GUS_CLI_RECORD_SUMMARY_H
#define GUS_CLI_RECORD_SUMMARY_H

struct gus_record_callers;
struct gus_record_embed;
struct gus_record_replay;
struct gus_session_options;
struct gus_session_result;

/* To the log of the options. */
void gus_record_summarise(const struct gus_session_options *so, const struct gus_session_result *r,
			  const struct gus_record_embed *embed, const struct gus_record_callers *callers,
			  const struct gus_record_replay *replay);

#endif
