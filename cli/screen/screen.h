/* SPDX-License-Identifier: MIT */
/* What text for people is printed on, and how it is made to fit.
 *
 * On a terminal lines fit its width and have colours; in a file or a pipe, where programs read, there is neither,
 * unless --width or --color ask for it: nothing is shortened that somebody may search for. JSON and CSV never look at
 * any of this. */
#ifndef GUS_CLI_SCREEN_SCREEN_H
#define GUS_CLI_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>


struct gus_screen {
	size_t width;        /* cells of a line; 0: lines may be as long as they like */
	bool terminal, colour;
	bool full_names;     /* nothing is shortened, however wide it is */
	const char *dots;    /* where something is missing */
};

/* As the options of a verb say it. */
struct gus_screen_options {
	uint64_t width;
	int colour;
	bool full_names, pager;
};

#define GUS_SCREEN_AUTO UINT64_MAX /* the width of the terminal */
#define GUS_SCREEN_DEFAULTS { .width = GUS_SCREEN_AUTO, .pager = true }
#define GUS_SCREEN_LEAST 40        /* narrower ones are taken to have so many cells */

/* Their rows in the table of a verb whose values have them as member: of all text, and what some of it has besides. */
#define GUS_SCREEN_OPTIONS(values, member) \
	{ 0, "width", "CELLS", "Fit lines of text into so many cells, 0 for no limit; by default into the " \
	  "terminal's, and no limit where there is none.", GUS_OPTION_NUMBER, offsetof(values, member.width), \
	  .bounds = { 0, 10000 } }
#define GUS_SCREEN_COLOUR_OPTIONS(values, member) \
	{ 0, "color", "WHEN", "Colours in text: auto (the default: on a terminal, unless NO_COLOR is set or TERM is " \
	  "dumb), always or never.", GUS_OPTION_CHOICE, offsetof(values, member.colour), \
	  .choices = "auto always never" }
#define GUS_SCREEN_NAME_OPTIONS(values, member) \
	{ 0, "full-names", NULL, "Do not shorten names and paths to fit the width.", GUS_OPTION_FLAG, \
	  offsetof(values, member.full_names) }
#define GUS_SCREEN_PAGER_OPTIONS(values, member) \
	{ 0, "pager", NULL, "Show text that goes to a terminal in GUSPROF_PAGER, PAGER or less (the default); " \
	  "--no-pager prints it straight away.", GUS_OPTION_FLAG, offsetof(values, member.pager) }

/* What the stream is. The width of a terminal is that of COLUMNS if it is set, else what the terminal says, else 80. */
struct gus_screen gus_screen_of(FILE *out, const struct gus_screen_options *options);

/* What stands out, in colours that are readable on light and on dark grounds. */
enum gus_colour { GUS_COLOUR_NONE, GUS_COLOUR_HOT, GUS_COLOUR_WARM, GUS_COLOUR_BAD, GUS_COLOUR_GOOD, GUS_COLOUR_HEAD };
/* Begins and ends a colour; nothing where there are none. */
void gus_screen_colour(const struct gus_screen *s, FILE *out, enum gus_colour colour);
/* That of a share of 1, as perf has it: from 5 % hot, from 0.5 % warm. */
enum gus_colour gus_screen_share_colour(double share);

/* Prints a text in lines, broken at blanks; first and next stand before the first line and the others. A word that is
 * longer than a line has one of its own. */
void gus_screen_fold(const struct gus_screen *s, FILE *out, const char *first, const char *next, const char *text);

#endif
