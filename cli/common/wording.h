/* SPDX-License-Identifier: MIT */
/* A text that is made piece by piece. */
#ifndef GUS_CLI_COMMON_WORDING_H
#define GUS_CLI_COMMON_WORDING_H

#include "base/alloc.h"

/* Begins as { 0 }; freed with gus_vec_free, or what done gives with free. */
struct gus_wording gus_vec(char);

void gus_wording_add(struct gus_wording *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What there is, ended as a string. */
char *gus_wording_done(struct gus_wording *w);

#endif
