/* SPDX-License-Identifier: MIT */
/* What all renderers of gusprof compare say in the same words. Strings are the caller's to free. */
#ifndef GUS_CLI_COMPARE_WORDS_H
#define GUS_CLI_COMPARE_WORDS_H

#include <stddef.h>

#include "base/alloc.h"
#include "cli/compare/view.h"

/* What was compared: the command's words, "process 12", a file's name. */
char *gus_compare_title(const struct gus_compare_view *v);
/* Whether a knob is a time, of which more of the capacity is less. */
bool gus_compare_knob_is_time(const struct gus_compare_view *v, int knob);
/* The text of a form of the fit; "" if the table has never heard of it. */
const char *gus_compare_form(const struct gus_compare_view *v, size_t form);

struct gus_compare_reasons gus_vec(char *);
/* What may explain that a row is off, or why nothing can be told: sentences without a full stop. */
void gus_compare_reasons_of(const struct gus_compare_view *v, const struct gus_compared_row *row,
			    struct gus_compare_reasons *reasons);
/* The same of all rows together: what they have in common, and what the model leaves out. */
void gus_compare_reasons_common(const struct gus_compare_view *v, struct gus_compare_reasons *reasons);
void gus_compare_reasons_free(struct gus_compare_reasons *reasons);

#endif
