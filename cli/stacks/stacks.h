/* SPDX-License-Identifier: MIT */
/* gusprof report --stacks: to which instructions the time of a recording belongs, and why. */
#ifndef GUS_CLI_STACKS_STACKS_H
#define GUS_CLI_STACKS_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct gus_account;
struct gus_error;
struct gus_model_view;
struct gus_profile;
struct gus_screen_options;

struct gus_stacks_how {
	const char *input, *uarch;      /* of a recording; a table, NULL: that of its machine */
	bool json, replay;              /* replay: also snapshots of a recording that is not our own */
	double percent_limit;           /* rows below it are left out, and their number is told; 0: half a percent */
	const struct gus_screen_options *screen;
};

/* Replays the snapshots of the recording, runs what they execute through the core engine, and prints. -1 with err. */
int gus_stacks_report(const struct gus_stacks_how *how, struct gus_error *err);

/* Between the files that do so. */
struct gus_stacks_view {
	const struct gus_stacks_how *how;
	const struct gus_profile *profile;
	const struct gus_model_view *model;
	const struct gus_account *account;
	const char *sight;              /* where samples see time, for people */
	const char *event;
};
void gus_stacks_text(const struct gus_stacks_view *v);
int gus_stacks_json(const struct gus_stacks_view *v);
/* A row's function, instruction and place, as both print them. The strings live as long as the view, text until the
 * next call. */
struct gus_stacks_name { const char *function; uint64_t start; char text[128]; };
struct gus_account_row;
void gus_stacks_name(const struct gus_stacks_view *v, const struct gus_account_row *row, struct gus_stacks_name *out);

#endif
