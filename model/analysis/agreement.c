/* SPDX-License-Identifier: MIT */
#include "model/analysis/agreement.h"

#include <math.h>

#include "model/stream/stream.h"

static const double agree = 0.01, half = 0.5;
enum { WIDE = 1024 };

const char *gus_relief_name(enum gus_relief relief)
{
	static const char *const names[GUS_RELIEFS] = {
		[GUS_RELIEF_FRONT_END] = "front end", [GUS_RELIEF_PORT_BINDING] = "port binding",
		[GUS_RELIEF_SCHEDULER] = "scheduler", [GUS_RELIEF_REGISTERS] = "registers",
		[GUS_RELIEF_REORDER_BUFFER] = "reorder buffer", [GUS_RELIEF_LOAD_BUFFER] = "load buffer",
		[GUS_RELIEF_STORE_BUFFER] = "store buffer", [GUS_RELIEF_BRANCH_BUFFER] = "branch buffer",
		[GUS_RELIEF_STORE_COMMIT] = "store commit", [GUS_RELIEF_FORWARDING] = "store forwarding",
		[GUS_RELIEF_L1_BANKS] = "L1 banks", [GUS_RELIEF_RETIREMENT] = "retirement",
	};

	return relief < GUS_RELIEFS ? names[relief] : NULL;
}

static void relax(enum gus_relief relief, struct gus_core_config *c, struct gus_core_options *o)
{
	switch (relief) {
	case GUS_RELIEF_FRONT_END:
		o->fetch = GUS_CORE_FETCH_IDEAL;
		break;
	case GUS_RELIEF_PORT_BINDING:
		c->port_binding = GUS_CORE_BIND_ANY;
		break;
	case GUS_RELIEF_SCHEDULER:
		c->rs = c->rs_int = c->rs_vector = c->rs_memory = 0;
		break;
	case GUS_RELIEF_REGISTERS:
		c->renames = c->int_renames = c->vector_renames = c->mask_renames = 0;
		break;
	case GUS_RELIEF_REORDER_BUFFER:
		c->rob = 0;
		break;
	case GUS_RELIEF_LOAD_BUFFER:
		c->load_buffer = 0;
		break;
	case GUS_RELIEF_STORE_BUFFER:
		c->store_buffer = 0;
		break;
	case GUS_RELIEF_BRANCH_BUFFER:
		c->branch_buffer = 0;
		break;
	case GUS_RELIEF_STORE_COMMIT:
		c->l1d_stores = 0;
		break;
	case GUS_RELIEF_FORWARDING:
		o->pointers = GUS_CORE_POINTERS_NONE;
		break;
	case GUS_RELIEF_L1_BANKS:
		c->l1d_bank_ports = 0;
		break;
	case GUS_RELIEF_RETIREMENT:
		c->retire_width = WIDE;
		break;
	case GUS_RELIEFS:
		for (int i = 0; i < GUS_RELIEFS; i++)
			relax((enum gus_relief)i, c, o);
		break;
	}
}

static int run_core(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		    double *cycles, struct gus_error *err)
{
	struct gus_core_result r;

	if (gus_core_run(p, c, o, &r, err) != 0)
		return -1;
	*cycles = r.steady_iterations ? (double)r.steady_cycles / (double)r.steady_iterations : 0;
	return 0;
}

static int run_relaxed(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		       enum gus_relief relief, double *cycles, struct gus_error *err)
{
	struct gus_core_config config = *c;
	struct gus_core_options options = *o;

	relax(relief, &config, &options);
	return run_core(p, &config, &options, cycles, err);
}

static enum gus_relief reason_of(const struct gus_agreement *a)
{
	enum gus_relief best = GUS_RELIEFS;
	double apart = half * fabs(a->core - a->stream);

	if (fabs(a->difference) < agree)
		return best;
	for (int i = 0; i < GUS_RELIEFS; i++)
		if (fabs(a->relaxed[i] - a->stream) < apart) {
			apart = fabs(a->relaxed[i] - a->stream);
			best = (enum gus_relief)i;
		}
	return best;
}

int gus_agreement_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		      struct gus_agreement *a, struct gus_error *err)
{
	struct gus_stream_options stream = gus_stream_options_of(o);
	struct gus_stream_result r;

	*a = (struct gus_agreement){ .reason = GUS_RELIEFS };
	if (run_core(p, c, o, &a->core, err) != 0 || gus_stream_run(p, c, &stream, &r, err) != 0)
		return -1;
	a->stream = o->iterations ? r.cycles[0] / (double)r.iterations : r.per_iteration[0];
	a->difference = a->core > 0 ? a->stream / a->core - 1 : 0;
	for (int i = 0; i < GUS_RELIEFS; i++)
		if (run_relaxed(p, c, o, (enum gus_relief)i, &a->relaxed[i], err) != 0)
			return -1;
	if (run_relaxed(p, c, o, GUS_RELIEFS, &a->all, err) != 0)
		return -1;
	a->reason = reason_of(a);
	return 0;
}
