/* SPDX-License-Identifier: MIT */
/* gusprof explain --what-if vectorise: what a loop would gain of vectors, as text and as JSON. */
#ifndef GUS_CLI_EXPLAIN_VECTORISE_H
#define GUS_CLI_EXPLAIN_VECTORISE_H

#include <jansson.h>

struct gus_screen;
struct gus_vectorised;

void gus_explain_vectorise_text(const struct gus_vectorised *v, const struct gus_screen *screen);
json_t *gus_explain_vectorise_json(const struct gus_vectorised *v);

#endif
