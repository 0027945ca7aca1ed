/* SPDX-License-Identifier: MIT */
#include "model/analysis/agreement.h"

#include <math.h>

#include "model/stream/stream.h"

static const double agree = 0.01, half = 0.5;

static enum gus_machine_limit_kind reason_of(const struct gus_agreement *a)
{
	enum gus_machine_limit_kind best = GUS_LIMITS;
	double apart = half * fabs(a->core - a->stream);

	if (fabs(a->difference) < agree)
		return best;
	for (int i = 0; i < GUS_LIMITS; i++)
		if (fabs(a->relaxed[i] - a->stream) < apart) {
			apart = fabs(a->relaxed[i] - a->stream);
			best = (enum gus_machine_limit_kind)i;
		}
	return best;
}

static int run_relaxed(const struct gus_agreement_runs *runs, const struct gus_core_config *c,
		       const struct gus_core_options *o, enum gus_machine_limit_kind limit, double *cycles,
		       struct gus_error *err)
{
	struct gus_core_config config = *c;
	struct gus_core_options options = *o;

	gus_machine_relax(limit, &config, &options);
	return runs->core(runs->context, &config, &options, cycles, err);
}

int gus_agreement_of_runs(const struct gus_agreement_runs *runs, const struct gus_core_config *c,
			  const struct gus_core_options *o, double least, struct gus_agreement *a,
			  struct gus_error *err)
{
	*a = (struct gus_agreement){ .reason = GUS_LIMITS };
	if (runs->core(runs->context, c, o, &a->core, err) != 0 ||
	    runs->stream(runs->context, c, o, &a->stream, err) != 0)
		return -1;
	a->difference = a->core > 0 ? a->stream / a->core - 1 : 0;
	if (fabs(a->difference) < least)
		return 0;
	for (int i = 0; i < GUS_LIMITS; i++)
		if (run_relaxed(runs, c, o, (enum gus_machine_limit_kind)i, &a->relaxed[i], err) != 0)
			return -1;
	if (run_relaxed(runs, c, o, GUS_LIMITS, &a->all, err) != 0)
		return -1;
	a->reason = reason_of(a);
	return 0;
}

static int core_cycles(void *program, const struct gus_core_config *c, const struct gus_core_options *o,
		       double *cycles, struct gus_error *err)
{
	struct gus_core_result r;

	if (gus_core_run(program, c, o, &r, err) != 0)
		return -1;
	*cycles = r.steady_iterations ? (double)r.steady_cycles / (double)r.steady_iterations : 0;
	return 0;
}

static int stream_cycles(void *program, const struct gus_core_config *c, const struct gus_core_options *o,
			 double *cycles, struct gus_error *err)
{
	struct gus_stream_options options = gus_stream_options_of(o);
	struct gus_stream_result r;

	if (gus_stream_run(program, c, &options, &r, err) != 0)
		return -1;
	*cycles = o->iterations ? r.cycles[0] / (double)r.iterations : r.per_iteration[0];
	return 0;
}

int gus_agreement_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		      struct gus_agreement *a, struct gus_error *err)
{
	const struct gus_agreement_runs runs = { (void *)(uintptr_t)p, core_cycles, stream_cycles };

	return gus_agreement_of_runs(&runs, c, o, 0, a, err);
}
