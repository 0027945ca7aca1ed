/* SPDX-License-Identifier: MIT */
/* What gusprof annotate shows: functions of a report, and what of them every renderer needs. */
#ifndef GUS_CLI_ANNOTATE_VIEW_H
#define GUS_CLI_ANNOTATE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "attribution/profile/annotation.h"
#include "attribution/routes/routes.h"
#include "cli/report/view.h"
#include "proto/skid.h"
#include "symbolizer/symbols/source.h"
#include "symbolizer/symbols/symbols.h"

struct gus_annotate_stacks;

struct gus_annotated {
	struct gus_annotation annotation;
	uint64_t before;                /* weight of the view's rows before this function's: where its running sum
					 * begins */
	uint32_t loops_before;          /* loops of the functions before, so that numbers do not come twice */
	struct gus_provenance origin;       /* the file that its lines are from */
};

struct gus_annotate {
	const struct gus_report *report; /* recording, view and units */
	const struct gus_annotated *functions;
	size_t functions_n;
	const char *skid;               /* how far addresses can be trusted; NULL: the hardware vouches for them */
	const char *skid_brief;         /* the same in fewer words; NULL as skid is */
	const struct gus_skid *self_test; /* where samples landed in the self-test; NULL: not known */
	struct gus_sources *sources;    /* NULL: no source is shown */
	const struct gus_annotate_stacks *stacks; /* NULL: weights are of what was seen where it was */
	const struct gus_routes *routes; /* of the recording's branch stacks; NULL: it has none */
};

/* What the stacks say of the branch at an instruction: NULL if there are none, or it is no branch that was executed. */
const struct gus_route_block *gus_annotate_branch(const struct gus_annotate *r, const struct gus_annotated *f,
						  const struct gus_annotation_insn *insn);
/* The text of a source line, or NULL. */
const char *gus_annotate_source(const struct gus_annotate *r, const struct gus_annotated *f, uint32_t line);
/* The number of a loop as people read it, from 1; 0 for none. */
uint32_t gus_annotate_loop(const struct gus_annotated *f, uint32_t loop);

#endif
