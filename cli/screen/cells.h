/* SPDX-License-Identifier: MIT */
/* How much room text takes on a terminal. A terminal is a grid of cells: a letter takes one, an ideograph two, an
 * accent that is put over the letter before it none. Text is counted as it is printed (base/text.h): what is not
 * harmless stands as one question mark or blank. The answers are the same in every locale. */
#ifndef GUS_CLI_SCREEN_CELLS_H
#define GUS_CLI_SCREEN_CELLS_H

#include <stddef.h>

size_t gus_cells(const char *text, size_t size);

/* Bytes of the longest beginning that takes no more than so many cells. */
size_t gus_cells_head(const char *text, size_t size, size_t cells);
/* Where the longest end begins that takes no more than so many; never at an accent without its letter. */
size_t gus_cells_tail(const char *text, size_t size, size_t cells);

#endif
