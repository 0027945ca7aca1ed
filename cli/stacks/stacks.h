/* SPDX-License-Identifier: MIT */
/* gusprof report --stacks: to which instructions the time of a recording belongs, and why. */
#ifndef GUS_CLI_STACKS_STACKS_H
#define GUS_CLI_STACKS_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/accounts/sum.h"

struct gus_damage;
struct gus_error;
struct gus_heed;
struct gus_log;
struct gus_naming;
struct gus_screen_options;
struct gus_stacks_ran;
struct gus_symbols_options;
struct gus_stacks_view;
struct gus_uarch;

struct gus_stacks_how {
	const char *input, *uarch;      /* of a recording; a table, NULL: that of its machine */
	enum gus_sum_unit unit;         /* what a row is */
	bool vs_model;                  /* beside what the model alone has */
	bool json, csv, replay;         /* replay: also snapshots of a recording that is not our own */
	double percent_limit;           /* rows below it are left out, and their number is told; -1: half a percent */
	const struct gus_screen_options *screen;
	struct gus_naming *naming;      /* how: names, and what was found out before; NULL: as they are, and nothing */
	const struct gus_symbols_options *symbols;      /* where names are looked for; NULL: where they are */
	const struct gus_log *log;
	const struct gus_heed *heed;    /* before anything is shown, it is told that it is over: by NULL */
	void (*tell)(const struct gus_damage *damage);  /* what of the recording cannot be read */
	/* Who has what is to be shown, while this runs; NULL: it is printed. */
	void (*take)(void *context, const struct gus_stacks_view *v);
	void *take_context;
};

/* Replays the snapshots of the recording, runs what they execute through the core engine, and prints. Without any, or
 * if that fails, samples stay where they were seen, and it is said why. -1 with err. */
int gus_stacks_report(const struct gus_stacks_how *how, struct gus_error *err);

struct gus_stacks_view {
	const struct gus_stacks_how *how;
	const struct gus_clues *clues;
	const struct gus_account *account;
	const struct gus_sums *sums;
	const struct gus_sum_row *all;          /* the whole recording */
	const struct gus_sums *modelled;        /* what the model alone has; NULL: it was not asked for */
	const struct gus_stacks_ran *ran;       /* NULL: nothing was */
	const struct gus_uarch *uarch;          /* by which it was; likewise */
	unsigned width;                         /* ops that retire in a cycle, as the table has it */
	/* Of what stays where it was seen: code of the user's that no window has executed, and the kernel's. */
	uint64_t unexecuted, kernel;
	const char *program;                    /* path of the module that the recorded command is; NULL: not known */
	const char *event, *why;                /* why: nothing could be moved, for people; NULL: something was */
};
/* The row as the model alone has it; NULL: it has none, or was not asked. */
const struct gus_sum_row *gus_stacks_modelled(const struct gus_stacks_view *v, const struct gus_sum_row *row);
/* What a row is, for people. The caller frees it. */
char *gus_stacks_name(const struct gus_stacks_view *v, const struct gus_sum_row *row);

/* The largest parts of its stack, in words; likewise. */
char *gus_stacks_parts(const struct gus_stacks_view *v, const struct gus_sum_row *row);

/* Between the files that do so. */
void gus_stacks_text(const struct gus_stacks_view *v);
int gus_stacks_json(const struct gus_stacks_view *v);
void gus_stacks_csv(const struct gus_stacks_view *v);
/* An instruction's text, for both; "" where it is not known, or the row is of no one instruction. */
struct gus_insn;
void gus_stacks_insn(const struct gus_stacks_view *v, const struct gus_sum_row *row, struct gus_insn *insn);
/* What TEA's events do not say of a part of its stack (attribution/accounts/cause.h); NULL: nothing, or the row is of
 * no one instruction. */
const char *gus_stacks_cause_of(const struct gus_stacks_view *v, const struct gus_sum_row *row,
				const struct gus_component *what);

#endif
