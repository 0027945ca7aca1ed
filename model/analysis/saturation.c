/* SPDX-License-Identifier: MIT */
#include "model/analysis/saturation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/tables/uarch.h"

struct list gus_vec(struct gus_resource);

static struct gus_resource *add(struct list *l, const struct gus_program *p, enum gus_knob_kind kind, uint32_t number)
{
	struct gus_resource one = { .kind = kind, .number = number,
		.of = gus_zalloc((p->ops_n + 1) * sizeof(*one.of)) };

	gus_vec_push(l, one);
	return &l->v[l->n - 1];
}

static void take(struct gus_resource *r, uint32_t op, double cycles)
{
	r->of[op] += cycles;
	r->cycles += cycles;
}

static void add_ports(struct list *l, const struct gus_program *p)
{
	struct gus_stream_resources groups;

	gus_stream_resources_of(p, &groups);
	for (uint32_t g = 0; g < groups.n; g++) {
		struct gus_resource *r = add(l, p, GUS_KNOB_PORTS, g);
		int n = snprintf(r->name, sizeof(r->name), "ports ");

		gus_sensitivity_group_name(p, groups.ports[g], r->name + n, sizeof(r->name) - (size_t)n);
		/* A move that the renamer may do takes none. */
		for (uint32_t op = 0; op < p->ops_n; op++)
			for (uint32_t i = 0; i < p->ops[op].uops_n && !(p->ops[op].flags & GUS_OP_ELIMINATED); i++) {
				const struct gus_uop *u = &p->uops[p->ops[op].uop + i];

				if (u->ports && !(u->ports & ~groups.ports[g]))
					take(r, op, (u->port_cycles ? u->port_cycles :
						     1.0) / __builtin_popcountll(groups.ports[g]));
			}
	}
}

static void add_units(struct list *l, const struct gus_program *p)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < p->uops_n; i++)
		seen |= p->uops[i].unit && p->uops[i].unit < 64 ? 1ull << p->uops[i].unit : 0;
	for (; seen; seen &= seen - 1) {
		uint32_t unit = (uint32_t)__builtin_ctzll(seen);
		struct gus_resource *r = add(l, p, GUS_KNOB_UNITS, unit);

		snprintf(r->name, sizeof(r->name), "unit %s", p->uarch && unit - 1 < p->uarch->units_n ?
			 p->uarch->units[unit - 1] : "");
		for (uint32_t op = 0; op < p->ops_n; op++)
			for (uint32_t u = 0; u < p->ops[op].uops_n; u++)
				if (p->uops[p->ops[op].uop + u].unit == unit)
					take(r, op, p->uops[p->ops[op].uop + u].unit_cycles);
	}
}

static void add_width(struct list *l, const struct gus_program *p, enum gus_knob_kind kind, const char *name,
		      uint32_t width)
{
	struct gus_resource *r = add(l, p, kind, 0);

	snprintf(r->name, sizeof(r->name), "%s", name);
	for (uint32_t op = 0; op < p->ops_n; op++)
		take(r, op, width ? (double)p->ops[op].slots / width : 0);
}

void gus_saturation_of(const struct gus_program *p, const struct gus_core_config *c, double cycles,
		       struct gus_saturation *s)
{
	struct list l = { 0 };

	add_ports(&l, p);
	add_units(&l, p);
	add_width(&l, p, GUS_KNOB_ISSUE, "issue", c->issue_width);
	add_width(&l, p, GUS_KNOB_RETIRE, "retirement", c->retire_width);
	for (size_t i = 0; i < l.n; i++) {
		struct gus_resource one = l.v[i];
		size_t k = i;

		one.saturation = cycles > 0 ? one.cycles / cycles : 0;
		for (; k && l.v[k - 1].saturation < one.saturation; k--)
			l.v[k] = l.v[k - 1];
		l.v[k] = one;
	}
	*s = (struct gus_saturation){ l.v, l.n };
}

void gus_saturation_free(struct gus_saturation *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->resources[i].of);
	free(s->resources);
	*s = (struct gus_saturation){ NULL, 0 };
}
