/* SPDX-License-Identifier: MIT */
#include "cli/model/traced.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attribution/routes/walk.h"
#include "attribution/traced/regions.h"
#include "base/foreign_file.h"
#include "base/heed.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/model/output.h"
#include "cli/model/phases.h"
#include "cli/model/rates.h"
#include "cli/screen/screen.h"

/* Of a trace that is not run as a whole so many are, or more. */
enum { STRETCHES = 32 };
/* But none is shorter than this, as caches and predictors have to be met more than once; of many windows that makes so
 * many times more. */
enum { SETTLED = 100000, SLACK = 2 };
/* And of so many threads, each of which takes some 5 MB until the trace ends. */
enum { THREADS_MOST = 64 };

static const char *name_of_region(void *context, uint32_t region)
{
	static char name[256];

	gus_traced_region_name(context, region, name, sizeof(name));
	return name;
}

static const char *name_of_branch(void *context, uint32_t line)
{
	static char name[320];

	gus_traced_branch_name(context, line - 1, name, sizeof(name));
	return name;
}

void gus_model_name_phases(const struct gus_model_view *v, struct gus_model_phases *m)
{
	*m = (struct gus_model_phases){ .found = &v->traced->phases, .ticks = GUS_STREAM_TICKS,
		.region = name_of_region,
		.line = name_of_branch, .context = (void *)(uintptr_t)v->traced };
}

/* What is inferred has the names of its recording, and branches that were measured. */
static void set_inferred(struct gus_traced_options *o, const struct gus_model_inferred *in)
{
	o->symbols = in->profile->symbols;
	o->mispredicted = gus_walk_mispredicted;
	o->mispredicted_context = in->walk;
}

void gus_model_traced_open(struct gus_model_traced *m, const struct gus_model_inferred *in,
			   const struct gus_rights *rights, struct gus_branch_config *predictor,
			   struct gus_traced *t)
{
	struct gus_symbols_options symbols = { .rights = rights };
	struct gus_traced_options o = {
		.threads_most = m->most ? THREADS_MOST : 0,
		.uarch = m->uarch, .config = m->config, .caches = m->caches, .predictor = predictor,
		.weight = m->weight, .sets = m->sets, .sets_n = m->sets_n,
		.causality = m->causality, .both = m->both, .core = m->core, .passages = m->passages,
		.interval = m->interval,
		.core_cycles_most = m->core_cycles_most, .lengths = m->lengths, .lengths_known = m->lengths_known,
		.warm = m->warm, .warm_code = m->warm_code, .phases = m->phases, .memory = m->memory, .all = m->all,
		.warm_up = m->warm_up, .alone = m->alone, .listen = m->listen, .leave = m->leave,
		.listen_context = m->listen_context, .timed = m->timed, .observed = m->observed, .shared = m->shared };

	gus_branch_config_of(predictor, m->config);
	if (in)
		set_inferred(&o, in);
	else if (m->symbols)
		o.symbols = m->symbols;
	else
		o.symbols = gus_symbols_new(&symbols, gus_cli_log(0));
	gus_traced_open(t, &o);
}

void gus_model_traced_open_cold(const struct gus_model_traced *m, const struct gus_rights *rights,
				struct gus_branch_config *predictor, struct gus_traced *cold)
{
	struct gus_model_traced other = *m;

	other.warm = other.interval = false;
	other.warm_code = true;
	other.listen_context = m->cold_context;
	gus_model_traced_open(&other, NULL, rights, predictor, cold);
}

int gus_model_traced_print(struct gus_model_traced *m, struct gus_traced *t, struct gus_model_view *v,
			   struct gus_error *err)
{
	const struct gus_error *failure;
	struct gus_screen screen;
	int rc = 0;

	if (!t->instructions)
		return gus_fail(err, GUS_E_UNSUPPORTED, "there is nothing to model: no instruction was traced%s",
				m->options && strstr(m->options, ",start=") ?
				", as each thread ended before its first window (start=)" : "");
	if (t->warmed == t->instructions)
		return gus_fail(err, GUS_E_UNSUPPORTED,
				"there is nothing to model: the warm-up of %" PRIu64 " instructions is longer than "
			"each "
				"thread, of which the longest has %" PRIu64, m->warm_up, gus_traced_longest_thread(t));
	screen = gus_screen_of(stdout, m->screen);
	v->model = m;
	v->screen = &screen;
	v->traced = t;
	v->part |= (v->windows && v->windows->taken) || v->inferred || v->trouble || t->full || t->cut_instructions ||
		t->warmed;
	v->order = gus_traced_order(t, &v->regions_n);
	if (m->shower)
		rc = m->shower->show(m->shower->context, v, err);
	else if (m->json)
		gus_model_traced_json(v);
	else
		gus_model_traced_text(v);
	free(v->order);
	fflush(stdout);
	if (!gus_model_output_is_alone(m->output))
		gus_symbols_tell(t->options.symbols);
	failure = gus_symbols_failure(t->options.symbols);
	if (failure && rc == 0)
		*err = *failure;
	return failure ? -1 : rc;
}

void gus_model_traced_close(const struct gus_model_traced *m, const struct gus_model_inferred *in,
			    struct gus_traced *t)
{
	struct gus_symbols *symbols = t->options.symbols;

	gus_traced_close(t);
	if (!in && !m->symbols)
		gus_symbols_free(symbols);
}

void gus_model_traced_set_interval(struct gus_model_traced *m, const struct gus_trace *trace)
{
	if (gus_trace_about(trace)->skip || gus_trace_about(trace)->every)
		m->interval = m->warm = true;
}

void gus_model_traced_set_part(struct gus_model_view *v, const struct gus_trace *trace)
{
	const Gusprof__Trace *about = gus_trace_about(trace);

	v->part = about->skip || about->length || about->every || about->n_range_start;
	v->window = about->every ? about->length : 0;
}

/* What there is of a file's trace to be read; of one that cannot be read on as much as can. */
struct extent { uint64_t instructions, windows; };

static int measure(const char *path, struct extent *e, struct gus_error *err)
{
	struct gus_vec(uint64_t) windows = { 0 };       /* by stream: the last one, and 1 */
	struct gus_trace *trace = gus_trace_open(path, err);
	struct gus_trace_step step;

	*e = (struct extent){ 0, 0 };
	if (!trace)
		return -1;
	while (gus_trace_next(trace, &step, NULL) > 0) {
		while (windows.n <= step.stream)
			gus_vec_push(&windows, 0);
		e->windows += windows.v[step.stream] != step.window + 1;
		windows.v[step.stream] = step.window + 1;
		e->instructions += gus_trace_block(trace, step.block).insns;
	}
	gus_vec_free(&windows);
	gus_trace_close(trace);
	return 0;
}

static int read_source(struct gus_traced *t, struct gus_traced_source *source, uint64_t most,
		       const struct gus_heed *heed, struct gus_error *err)
{
	int more = source ? 1 : -1;

	while (more > 0 && t->taken < most) {
		gus_heed_tell(heed, "running its trace", -1);
		more = gus_traced_source_read(source, err);
	}
	if (source)
		gus_traced_source_end(source);
	return more >= 0 ? 0 : -1;
}

/* Of a long trace stretches that are even over it: a program does one thing first and another later. Without a path,
 * of what is made up on the way, its beginning. */
static int read_trace(const struct gus_model_traced *m, struct gus_traced *t, struct gus_trace *trace,
		      const char *path, struct gus_error *err)
{
	struct extent extent = { 0, 0 };
	struct gus_traced_source *source;
	uint64_t parts, stretch;

	if (m->most && path && measure(path, &extent, err) != 0)
		return -1;
	if (!m->most || (path && extent.instructions <= m->most))
		return gus_traced_read(t, trace, err);
	source = gus_traced_source_new(t, trace, err);
	if (!path)
		return read_source(t, source, m->most, m->heed, err);
	parts = extent.windows > STRETCHES ? extent.windows : STRETCHES;
	stretch = m->most / parts > SETTLED ? m->most / parts : SETTLED;
	if (source)
		gus_traced_source_thin(source, stretch, (double)m->most / (double)extent.instructions,
				       fmin(1, SLACK * (double)m->most / (double)(extent.windows * stretch)));
	return read_source(t, source, UINT64_MAX, m->heed, err);
}

/* What of it cannot be read is told by the run that is shown; that it could not be read this time is not. */
static int run_cold(const struct gus_model_traced *m, const char *path, const struct gus_rights *rights,
		    struct gus_error *err)
{
	struct gus_branch_config predictor;
	struct gus_error why = { 0 };
	struct gus_trace *trace = gus_trace_open(path, &why);
	struct gus_traced cold;

	if (trace) {
		gus_model_traced_open_cold(m, rights, &predictor, &cold);
		read_trace(m, &cold, trace, path, &why);
		gus_traced_end(&cold, &why);
		gus_model_traced_close(m, NULL, &cold);
		gus_trace_close(trace);
	}
	if (!gus_error_is_transient(&why))
		return 0;
	*err = why;
	return -1;
}

int gus_model_traced_show(struct gus_model_traced *m, struct gus_trace *trace, const struct gus_model_inferred *in,
			  struct gus_model_view *v, struct gus_error *err)
{
	struct gus_model_process none = { 0 };
	struct gus_model_windows samples = { .process = &none };
	struct gus_branch_config predictor;
	struct gus_error trouble = { 0 };
	struct gus_rights rights = { 0 };
	struct gus_traced t;
	uid_t owner;
	int rc;

	gus_model_traced_set_interval(m, trace);
	gus_model_traced_set_part(v, trace);
	if (gus_trace_owner(trace, &owner))
		gus_rights_of_user(&rights, owner, "the trace's owner");
	if (gus_model_rates_load(m, v->path, &rights, err) != 0)
		return -1;
	if (m->cold_context && v->path && !in && run_cold(m, v->path, &rights, err) != 0) {
		gus_model_rates_free(m);
		return -1;
	}
	gus_model_traced_open(m, in, &rights, &predictor, &t);
	rc = read_trace(m, &t, trace, in ? NULL : v->path, &trouble);
	if (gus_traced_end(&t, &trouble) != 0)
		rc = -1;
	v->trouble = rc ? trouble.text : NULL;
	if (v->path && !in) { /* a recording may have both */
		v->samples = v->path;
		gus_model_cover(&t, v->path, &samples);
		v->windows = samples.coverage.samples ? &samples : NULL;
	}
	if (rc && !t.instructions)
		*err = trouble;
	else
		rc = gus_model_traced_print(m, &t, v, err);
	/* A trace that ends early is told of by what is printed; one that cannot be read is another matter. */
	if (rc == 0 && (trouble.code == GUS_E_SYSTEM || samples.failure.code)) {
		*err = trouble.code == GUS_E_SYSTEM ? trouble : samples.failure;
		rc = -1;
	}
	gus_coverage_free(&samples.coverage);
	gus_model_traced_close(m, in, &t);
	gus_model_rates_free(m);
	return rc;
}

int gus_model_trace(struct gus_model_traced *m, const struct gus_model_process *p, const char *path,
		    struct gus_error *err)
{
	bool snapshots = false, interval = m->interval, warm = m->warm;
	struct gus_model_view v = { .input = m->input, .path = path };
	struct gus_trace *trace;
	int rc;

	if (gus_recording_is_perfs(path))
		return gus_model_recording(m, path, err);
	trace = gus_trace_open(path, err);
	if (!trace && err->code == GUS_E_NOT_FOUND && access(path, F_OK) == 0) {
		*err = (struct gus_error){ 0 };
		m->interval = m->warm = true;
		rc = gus_model_snapshots(m, p, path, &snapshots, err);
		m->interval = interval;
		m->warm = warm;
		if (snapshots || rc != 0)
			return rc;
		return gus_model_recording(m, path, err);
	}
	if (!trace)
		return -1;
	if (gus_trace_about(trace)->moment) {
		m->interval = m->warm = true;
		rc = gus_model_kept_windows(m, p, path, trace, err);
		m->interval = interval;
		m->warm = warm;
	} else {
		rc = gus_model_traced_show(m, trace, NULL, &v, err);
	}
	gus_trace_close(trace);
	return rc;
}
