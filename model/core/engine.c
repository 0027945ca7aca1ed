/* SPDX-License-Identifier: MIT */
/* The core engine on what was executed, fed bit by bit. It runs as long as it has more steps than one cycle can take,
 * so that what is in the middle of a run never depends on how it was cut into pieces; what is left waits for more. */
#include <stdlib.h>

#include "base/error.h"
#include "model/core/core.h"
#include "model/core/fed.h"
#include "model/core/private.h"

struct gus_core_engine {
	struct core core;
	struct gus_core_options options;
	struct gus_fed fed;
	size_t reserve;                 /* steps that a cycle may take */
};

struct gus_core_engine *gus_core_open(const struct gus_program *p, const struct gus_core_config *c,
				      const struct gus_core_listener *listener, const struct gus_core_hooks *hooks,
				      struct gus_error *err)
{
	struct gus_core_engine *e;

	if (gus_core_config_check(c, err) != 0 || gus_core_check_ports(p, 0, err) != 0)
		return NULL;
	e = gus_zalloc(sizeof(*e));
	e->options = (struct gus_core_options){ .pointers = GUS_CORE_POINTERS_DISTINCT, .listener = listener,
		.hooks = hooks };
	e->reserve = GUS_FRONT_QUEUE + GUS_FRONT_INSNS + c->issue_width;
	gus_core_begin(&e->core, p, c, &e->options, &e->fed);
	gus_vec_push(&e->core.regions, 0);
	return e;
}

void gus_core_close(struct gus_core_engine *e)
{
	if (!e)
		return;
	gus_core_end(&e->core);
	gus_fed_free(&e->fed);
	free(e);
}

static int prepare(struct gus_core_engine *e, const struct gus_op_steps *steps, struct gus_error *err)
{
	const struct gus_program *p = e->core.p;

	if (gus_core_check_ports(p, e->core.uops_n, err) != 0)
		return -1;
	if (p->ops_n > e->core.ops_n)
		gus_core_grow(&e->core);
	for (size_t i = 0; i < steps->n; i++)
		while (steps->steps[i].region >= e->core.regions.n)
			gus_vec_push(&e->core.regions, 0);
	gus_fed_put(&e->fed, p, steps);
	return 0;
}

int gus_core_feed(struct gus_core_engine *e, const struct gus_op_steps *steps, struct gus_error *err)
{
	if (prepare(e, steps, err) != 0)
		return -1;
	e->core.front.ended = false;
	while (gus_fed_left(&e->fed) > e->reserve)
		if (gus_core_cycle(&e->core, err) != 0)
			return -1;
	return 0;
}

int gus_core_drain(struct gus_core_engine *e, struct gus_error *err)
{
	e->core.retired_cycle = e->core.cycle;
	while (gus_fed_left(&e->fed) || !gus_core_over(&e->core))
		if (gus_core_cycle(&e->core, err) != 0)
			return -1;
	return 0;
}

uint64_t gus_core_cycles(const struct gus_core_engine *e)
{
	return e->core.region_mark;
}

uint64_t gus_core_region_cycles(const struct gus_core_engine *e, uint32_t region)
{
	return region < e->core.regions.n ? e->core.regions.v[region] : 0;
}
