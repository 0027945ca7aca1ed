/* SPDX-License-Identifier: MIT */
/* Pathologies of a region, and the table of all of them, as gusprof explain shows them. */
#ifndef GUS_CLI_EXPLAIN_PATHOLOGIES_H
#define GUS_CLI_EXPLAIN_PATHOLOGIES_H

#include <jansson.h>

#include "cli/explain/view.h"

/* Those that are worth it, a line each; none where the verdict is withheld. */
void gus_explain_pathologies_text(const struct gus_explain_view *v, const struct gus_explain_region *r);
/* All, worth it or not; owned by the caller. */
json_t *gus_explain_pathologies_json(const struct gus_explain_region *r);
/* The table, for --pathologies. */
void gus_explain_pathologies_list(void);

#endif
