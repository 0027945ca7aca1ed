/* SPDX-License-Identifier: MIT */
/* Routes from whatever the recording holds: stacks if there are any, else samples. */
#include "attribution/routes/private.h"

#include <stdlib.h>

static const char *const verdict_names[] = {
	[GUS_RANGE_GOOD] = "good",
	[GUS_RANGE_APART] = "in two mappings",
	[GUS_RANGE_BACKWARDS] = "backwards",
	[GUS_RANGE_LONG] = "too long",
	[GUS_RANGE_NO_CODE] = "without code",
	[GUS_RANGE_NO_INSN] = "across instructions",
	[GUS_RANGE_SKIPS] = "past a branch",
	[GUS_RANGE_NO_BRANCH] = "without a branch at the end",
};

const char *gus_range_verdict_name(enum gus_range_verdict verdict)
{
	return verdict_names[verdict];
}

int gus_routes_load(struct gus_routes *r, struct gus_reader *reader, struct gus_profile *p, struct gus_error *err)
{
	int rc = 0;

	*r = (struct gus_routes){ 0 };
	gus_strings_init(&r->strings);
	if (p->header->branch_type)
		rc = gus_routes_of_stacks(r, reader, p, err);
	else
		rc = gus_routes_of_samples(r, p, err);
	if (rc != 0) {
		gus_routes_free(r);
		return rc;
	}
	for (size_t i = 0; i < r->blocks.n; i++)
		r->instructions += r->blocks.v[i].count * r->blocks.v[i].insns;
	gus_routes_find_regions(r, p);
	return 0;
}

void gus_routes_free(struct gus_routes *r)
{
	gus_vec_free(&r->blocks);
	gus_vec_free(&r->edges);
	gus_vec_free(&r->routes);
	gus_vec_free(&r->steps);
	gus_vec_free(&r->regions);
	gus_vec_free(&r->code);
	gus_vec_free(&r->lengths);
	gus_strings_free(&r->strings);
	*r = (struct gus_routes){ 0 };
}
