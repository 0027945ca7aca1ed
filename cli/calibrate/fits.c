/* SPDX-License-Identifier: MIT */
#include "cli/calibrate/fits.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "cli/common/progress.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/host.h"

double gus_calibrate_troubled(const struct gus_calibrate_noise *n)
{
	return n->run ? (double)n->troubled / (double)n->run : 0;
}

double gus_calibrate_beside(const struct gus_calibrate_noise *n)
{
	return n->run ? (double)n->beside / (double)n->run : 0;
}

/* A host that asks another one, and looks at what is wrong with its times. */
struct listener {
	const struct gus_calibration_host *host;
	struct gus_calibrate_noise *noise;
};

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	struct listener *l = context;

	if (l->host->run(l->host->context, micros, n, times, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		l->noise->run++;
		if (times[i].trouble & GUS_MICRO_BESIDE) { /* it is what a neighbour makes of it, whatever else it is */
			l->noise->beside++;
			continue;
		}
		l->noise->noisy += (times[i].trouble & GUS_MICRO_NOISY) != 0;
		l->noise->bistable += (times[i].trouble & GUS_MICRO_BISTABLE) != 0;
		l->noise->moved += (times[i].trouble & GUS_MICRO_MOVED) != 0;
		l->noise->troubled += (times[i].trouble & (GUS_MICRO_NOISY | GUS_MICRO_BISTABLE |
								 GUS_MICRO_MOVED)) != 0;
	}
	return 0;
}

/* The fits, and what part of the time each takes, roughly: for the line on the terminal and nothing else. */
static const struct step {
	const char *what;
	double part;
	int (*fit)(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err);
	bool recorded;          /* of the recording's instructions, if there are any */
} steps[] = {
	{ "front end", 0.1, gus_fit_front, false }, /* first, as others ask what issues in a cycle */
	{ "forms of the recording", 0.2, gus_fit_forms, true },
	{ "latency, throughput and ports of instructions", 0.3, gus_fit_forms, false },
	{ "buffers of the core", 0.15, gus_fit_window, false },
	{ "penalties", 0.1, gus_fit_penalties, false },
	{ "caches and TLBs", 0.15, gus_fit_memory, false },
};

struct telling {
	struct gus_progress *progress;
	double before, part;
};

static void tell(void *context, const char *what, double done)
{
	struct telling *t = context;

	gus_progress(t->progress, what, t->before + t->part * (done < 0 ? 0 : done > 1 ? 1 : done));
}

/* A form of the recording may be one of our list: the surer of both stays, in the place of the first. */
static void drop_doubles(struct gus_fit *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->forms.n; i++) {
		size_t first = 0;

		while (first < n && strcmp(f->forms.v[first].form, f->forms.v[i].form) != 0)
			first++;
		if (first == n)
			f->forms.v[n++] = f->forms.v[i];
		else if (f->forms.v[i].confidence > f->forms.v[first].confidence)
			f->forms.v[first] = f->forms.v[i];
	}
	f->forms.n = n;
}

static void take_a_degree(struct gus_fit *f)
{
	for (size_t i = 0; i < f->params.n; i++)
		if (f->params.v[i].confidence > GUS_CONFIDENCE_LOW)
			f->params.v[i].confidence--;
	for (size_t i = 0; i < f->forms.n; i++) {
		struct gus_fit_form *form = &f->forms.v[i];

		form->confidence -= form->confidence > GUS_CONFIDENCE_LOW;
		form->latency_confidence -= form->latency_confidence > GUS_CONFIDENCE_LOW;
	}
}

/* Beside another thread a core's buffers and bandwidths are parts of what it has. */
static void doubt_parameters(struct gus_fit *f)
{
	for (size_t i = 0; i < f->params.n; i++)
		if (f->params.v[i].confidence > GUS_CONFIDENCE_LOW)
			f->params.v[i].confidence = GUS_CONFIDENCE_LOW;
}

static int judge(const struct gus_calibrate_noise *n, struct gus_fit *f, struct gus_error *err)
{
	double share = gus_calibrate_troubled(n);

	if (share > GUS_CALIBRATE_TOO_NOISY)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot calibrate: %.0f %% of the microbenchmarks could not be "
				"timed well here (%.0f %% noisy, %.0f %% with two times, %.0f %% disturbed); something "
				"else keeps the machine busy: try again when it does not, or another CPU with --cpu",
				100 * share,
				100.0 * (double)n->noisy / (double)n->run, 100.0 * (double)n->bistable / (double)n->run,
				100.0 * (double)n->moved / (double)n->run);
	if (share > GUS_CALIBRATE_NOISY)
		take_a_degree(f);
	if (gus_calibrate_beside(n) > GUS_CALIBRATE_BESIDE)
		doubt_parameters(f);
	return 0;
}

int gus_calibrate_fits(const struct gus_calibration *c, struct gus_fit *f, struct gus_calibrate_noise *noise,
		       struct gus_progress *progress, struct gus_error *err)
{
	struct listener listener = { c->host, noise };
	struct gus_calibration_host host = *c->host;
	struct telling telling = { .progress = progress };
	int rc = 0;

	*noise = (struct gus_calibrate_noise){ 0 };
	host.context = &listener;
	host.run = run;
	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(*steps); i++) {
		struct gus_calibration one = *c;

		telling.part = steps[i].part;
		one.host = &host;
		one.progress = tell;
		one.progress_context = &telling;
		if (!steps[i].recorded) {
			one.insns = NULL;
			one.insns_n = 0;
		}
		gus_progress(progress, steps[i].what, telling.before);
		if (!steps[i].recorded || one.insns_n)
			rc = steps[i].fit(&one, f, err);
		telling.before += telling.part;
	}
	gus_progress_end(progress);
	drop_doubles(f);
	return rc == 0 ? judge(noise, f, err) : -1;
}
