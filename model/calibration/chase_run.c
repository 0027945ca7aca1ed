/* SPDX-License-Identifier: MIT */
/* Microbenchmarks of chases, until each has a time. */
#include <assert.h>
#include <math.h>

#include "base/error.h"
#include "model/calibration/chase.h"
#include "model/calibration/host.h"

enum { AGAIN = 4 };

/* -1 with err: it did not come back. */
static int settle(const struct gus_micro *k, struct gus_micro_time *t, struct gus_error *err)
{
	if (t->trouble & GUS_MICRO_FAULT)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot time a microbenchmark (%s): %s", k->name,
				t->fault ? t->fault : "it failed");
	if (isnan(t->cycles))
		t->cycles = isnan(t->median) ? INFINITY : t->median;
	return 0;
}

static int run(const struct gus_calibration_host *host, const struct gus_micro *const *micros, unsigned n,
	       struct gus_micro_time *times, struct gus_error *err)
{
	if (host->run(host->context, micros, n, times, err) != 0)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		struct gus_micro_time *t = &times[i];

		for (unsigned again = 0; again < AGAIN && isnan(t->cycles) && !(t->trouble & GUS_MICRO_FAULT); again++)
			if (host->run(host->context, &micros[i], 1, t, err) != 0)
				return -1;
		if (settle(micros[i], &times[i], err) != 0)
			return -1;
	}
	return 0;
}

int gus_chase_run(const struct gus_calibration_host *host, struct gus_micro *const *micros, unsigned n, double *cycles,
		  struct gus_error *err)
{
	struct gus_micro_time times[GUS_CHASE_MOST];
	int rc;

	assert(n <= GUS_CHASE_MOST);
	rc = run(host, (const struct gus_micro *const *)micros, n, times, err);
	for (unsigned i = 0; i < n; i++) {
		cycles[i] = rc == 0 ? times[i].cycles : NAN;
		gus_micro_free(micros[i]);
	}
	return rc;
}
