/* SPDX-License-Identifier: MIT */
/* Lines as they are put together: a million of them are written in a second, where printf takes most of the time. Text
 * of others is made harmless when it comes in, all else are our own letters and numbers. */
#ifndef GUS_CLI_COMMON_LINES_H
#define GUS_CLI_COMMON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_lines gus_vec(char);

/* Our own words. */
void gus_lines_word(struct gus_lines *l, const char *word);
/* What others wrote, in at least so many columns, to the right. */
void gus_lines_text(struct gus_lines *l, const char *text, size_t width);
/* What already is in lines like these. */
void gus_lines_bytes(struct gus_lines *l, const char *bytes, size_t n);
void gus_lines_hex(struct gus_lines *l, uint64_t number, size_t width);
void gus_lines_number(struct gus_lines *l, uint64_t number, size_t width, char fill);
/* At least as wide as width, filled to the left or, where it is negative, to the right. */
void gus_lines_padded(struct gus_lines *l, uint64_t number, int width);

/* Writes them to stdout, and begins anew. */
void gus_lines_flush(struct gus_lines *l);

#endif
