/* SPDX-License-Identifier: MIT */
/* What executions of an instruction met, as samples of executions say, where a model says it, too. What a sampler does
 * not tell of an execution is taken to be as the model has it among those that agree in what it tells. */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_MET_H
#define GUS_ATTRIBUTION_PROPORTIONAL_MET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_groups;
struct gus_seen;

/* Of a site's executions this share met psv, as so many samples of them have it, and this in the model. */
struct gus_met_share { uint32_t site; uint16_t psv; double measured, model, samples; };
struct gus_met { struct gus_vec(struct gus_met_share) shares; }; /* by site and psv */

/* Of sites of which there are samples. ops: as gus_seen_executions. Where there are few samples the model counts as
 * some more. */
void gus_met_make(struct gus_met *e, const struct gus_groups *g, const struct gus_seen *s, bool ops);
void gus_met_free(struct gus_met *e);
/* Whether anything is known of what the site's executions met. */
bool gus_met_knows(const struct gus_met *e, uint32_t site);
/* NULL: nothing is known of it. */
const struct gus_met_share *gus_met_find(const struct gus_met *e, uint32_t site, uint16_t psv);

#endif
