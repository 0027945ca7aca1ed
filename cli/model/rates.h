/* SPDX-License-Identifier: MIT */
/* Which measured rates a traced run has. */
#ifndef GUS_CLI_MODEL_RATES_H
#define GUS_CLI_MODEL_RATES_H

#include "cli/model/view.h"

struct gus_rights;

/* Those of the recording that the user names, else those of the one that is modelled (own; NULL: it is none), if it has
 * any. -1 with err if the one that was named cannot be read or says nothing of rates. */
int gus_model_rates_load(struct gus_model_traced *m, const char *own, const struct gus_rights *rights,
			 struct gus_error *err);
void gus_model_rates_free(struct gus_model_traced *m);

#endif
