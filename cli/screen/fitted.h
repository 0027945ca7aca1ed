/* SPDX-License-Identifier: MIT */
/* Text that is printed line by line, without a thought of how wide a line is, made to fit: rows of figures lose blanks
 * and then their end, sentences go on below. For text of many tables and sentences, of which none is often too long. */
#ifndef GUS_CLI_SCREEN_FITTED_H
#define GUS_CLI_SCREEN_FITTED_H

struct gus_screen;

struct gus_fitted {
	const struct gus_screen *screen;
	int before, kept;       /* descriptors: of what stdout was, and of what is printed meanwhile; -1: none */
};

/* From here on what is printed on stdout is kept; to its end nothing else may be done to stdout. Nothing happens where
 * lines have no limit. */
void gus_fitted_begin(struct gus_fitted *f, const struct gus_screen *screen);
/* Prints it. */
void gus_fitted_end(struct gus_fitted *f);

#endif
