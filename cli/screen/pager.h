/* SPDX-License-Identifier: MIT */
/* The program that long text is read in, where it goes to a terminal: what GUSPROF_PAGER or else PAGER says, or less.
 * It is begun only when there is something to show, so that what fails before is said on the terminal itself. */
#ifndef GUS_CLI_SCREEN_PAGER_H
#define GUS_CLI_SCREEN_PAGER_H

struct gus_screen;

/* From now on what is printed on stdout goes through the pager, and what is said on stderr, too, if that is the same
 * kind of thing: both would write over each other. Nothing happens where stdout is no terminal, where the pager's name
 * is empty or "cat", or where there is none. */
void gus_pager_begin(const struct gus_screen *screen);

/* At the end of the program: hands over what is still to be printed and waits until the reader is done. If the
 * reader leaves before all was printed, that is no failure. Without a pager nothing is done. */
void gus_pager_end(void);

#endif
