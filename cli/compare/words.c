/* SPDX-License-Identifier: MIT */
#include "cli/compare/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/compared/variants.h"
#include "attribution/traced/traced.h"
#include "cli/common/recording.h"
#include "cli/common/wording.h"
#include "model/analysis/sensitivity.h"
#include "model/tables/uarch.h"

/* From that share of the time on a region is held against too little to say anything. */
static const double NEARLY_ALL = 0.9;

char *gus_compare_title(const struct gus_compare_view *v)
{
	const struct gus_model_view *m = v->model;
	struct gus_wording p = { 0 };

	for (size_t i = 0; m->command && i < m->command_n; i++)
		gus_wording_add(&p, "%s%s", i ? " " : "", m->command[i]);
	if (!m->command && m->windows && m->windows->process->pid)
		gus_wording_add(&p, "process %d", m->windows->process->pid);
	else if (!m->command)
		gus_wording_add(&p, "%s", gus_recording_name(m->input));
	return gus_wording_done(&p);
}

bool gus_compare_knob_is_time(const struct gus_compare_view *v, int knob)
{
	static const bool times[GUS_KNOBS] = { [GUS_KNOB_LATENCY] = true, [GUS_KNOB_LOAD_LATENCY] = true,
		[GUS_KNOB_LEVEL_LATENCY] = true, [GUS_KNOB_TLB] = true, [GUS_KNOB_MISPREDICT] = true,
		[GUS_KNOB_FORWARD] = true, [GUS_KNOB_LINE_SPLITS] = true, [GUS_KNOB_ALIAS] = true };

	return times[v->model->traced->knobs[knob].knob.kind];
}

/* "reorder buffer 0.72 times as much", "latency mul 1.30 times as long". */
static char *knob_text(const struct gus_compare_view *v, int knob, double factor)
{
	bool time = gus_compare_knob_is_time(v, knob);

	return gus_format("%s %.2f times as %s", v->model->traced->knobs[knob].name, time ? 1 / factor : factor,
			  time ? "long" : "much");
}

const char *gus_compare_form(const struct gus_compare_view *v, size_t form)
{
	const struct gus_uarch_form *f = gus_uarch_form(v->model->model->uarch, v->compared->hashes[form]);

	return f ? f->text : "";
}

static void say_knobs(const struct gus_compare_view *v, const struct gus_compared_row *row,
		      struct gus_compare_reasons *reasons)
{
	struct gus_wording p = { 0 };

	for (size_t i = 0; i < row->knobs_n; i++) {
		char *knob = knob_text(v, row->knobs[i].knob, row->knobs[i].factor);

		gus_wording_add(&p, "%s%s", i ? "; or " : "the model alone would meet it with ", knob);
		free(knob);
	}
	if (!row->knobs_n && v->model->traced->knobs_n)
		gus_wording_add(&p, "no capacity alone, doubled or halved, would make the model meet it");
	if (p.n)
		gus_vec_push(reasons, gus_wording_done(&p));
}

/* Where the model is known to be weak: from which figure on that is worth a word. */
static void say_weak(const struct gus_compared_row *row, struct gus_compare_reasons *reasons)
{
	const struct gus_compared_weak *w = &row->weak;
	const struct { double value, from; int digits; const char *before, *behind; } known[] = {
		{ 100 * w->unknown, 1, 1, "", "% of its instructions have no row in the table" },
		{ 100 * w->first, 10, 0, "", "% of its cycles are of what is touched for the first time, of which "
		  "nobody knows where it was" },
		{ 100 * w->beyond, 1, 1, "", "% of its accesses go to L3 or memory, which it shares with whatever else "
		  "runs" },
		{ w->mispredicted, 3, 1, "", " branches in 1000 instructions are mispredicted, by a predictor that "
		  "is the model's and not the CPU's" },
		{ isfinite(row->error) ? 100 * row->error : 0, 5, 0, "its modelled cycles are a sample themselves, "
		  "within ", "%" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].value >= known[i].from)
			gus_vec_push(reasons, gus_format("%s%.*f%s", known[i].before, known[i].digits, known[i].value,
							 known[i].behind));
}

static bool is_same(const struct gus_coverage_function *f, const char *name)
{
	size_t size = strlen(name);

	return strncmp(f->name, name, size) == 0 && f->name[size] == ' ';
}

/* Of a region without a sample. */
static void say_never_sampled(const struct gus_compare_view *v, const struct gus_compared_row *row,
			      struct gus_compare_reasons *reasons)
{
	const struct gus_traced *t = v->model->traced;
	const struct gus_coverage *c = &v->measured->coverage;
	uint32_t other = gus_libvariant_measured(t, c, t->regions.v[row->region].function);

	if (other == GUS_TRACED_NONE)
		gus_vec_push(reasons, gus_strdup("it was never sampled: the model sees far more time there than there "
						 "was"));
	else if (is_same(&c->elsewhere[other], t->functions.v[t->regions.v[row->region].function].name))
		gus_vec_push(reasons, gus_strdup("it was never sampled: it is the way through the function that the "
						 "CPU takes which the emulator shows, and this one takes another"));
	else
		gus_vec_push(reasons, gus_format("it was never sampled: it is the library's variant for the CPU that "
						 "the emulator shows, and this one has %s",
						 c->elsewhere[other].name));
}

static double larger_share(const struct gus_compared_row *row)
{
	return fmax(row->share.value, row->modelled_share);
}

/* It has nearly all of the time that was measured, or of that which was modelled. */
static bool is_alone(const struct gus_compare_view *v, const struct gus_compared_row *row)
{
	return v->compared->basis == GUS_COMPARED_SHARES && larger_share(row) > NEARLY_ALL;
}

static const char *kind_of_share(const struct gus_compared_row *row)
{
	return row->share.value < row->modelled_share ? "modelled " : "";
}

/* Why nothing can be told. */
static void say_open(const struct gus_compare_view *v, const struct gus_compared_row *row,
		     struct gus_compare_reasons *reasons)
{
	bool windows = v->compared->basis == GUS_COMPARED_SHARES && v->model->part;

	if (is_alone(v, row))
		gus_vec_push(reasons, gus_format("it has %.1f%% of the %stime, so there is nothing beside it that it "
						 "could be held against", 100 * larger_share(row), kind_of_share(row)));
	else if (row->shared)
		gus_vec_push(reasons, gus_format("%s took longer than modelled, which may be the doing of the other "
						 "thread that was busy on the same core", row->ratio.value > 1 ? "it" :
						 "all else"));
	else
		gus_vec_push(reasons, gus_format("%" PRIu64 " sample%s of it%s: the interval is wider than a factor of "
						 "%.1f", row->samples, row->samples == 1 ? "" : "s",
						 windows ? ", and few windows" : "", GUS_TRUST_WIDE));
}

void gus_compare_reasons_of(const struct gus_compare_view *v, const struct gus_compared_row *row,
			    struct gus_compare_reasons *reasons)
{
	if (row->verdict == GUS_TRUST_FULL)
		return;
	if (row->verdict == GUS_TRUST_OPEN) {
		say_open(v, row, reasons);
		return;
	}
	if (row->function_verdict == GUS_TRUST_FULL)
		gus_vec_push(
			reasons,
			gus_format(
				"with all loops of its function together the ratio is %.2f: what is off is to which of "
				"them the time is told",
				row->function_ratio.value));
	else if (!row->samples)
		say_never_sampled(v, row, reasons);
	else
		say_knobs(v, row, reasons);
	say_weak(row, reasons);
}

static void say_forms(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	const struct gus_residuals_fit *f = &v->compared->forms;
	struct gus_wording p = { 0 };

	if (!f->n)
		return;
	for (size_t i = 0; i < f->n; i++) {
		const char *form = gus_compare_form(v, f->form[i]);

		gus_wording_add(&p, "%s%s (%+.2f cycles each)", i ? ", " : "", *form ? form : "a form without a row",
				f->cycles[i]);
	}
	gus_vec_push(
		reasons,
		gus_format(
			"forms of instructions that %zu regions have in common explain %.0f%% of what the model misses "
			"there, and foretell %.0f%% of it in a region that is left out: %s",
			v->compared->common_of, 100 * f->explained, 100 * f->predicted, gus_wording_done(&p)));
	gus_vec_free(&p);
}

/* The time of a function that the trace has another variant of, or another way through it. */
static void say_variant(const struct gus_coverage_function *f, const char *modelled, double share,
			struct gus_compare_reasons *reasons)
{
	if (is_same(f, modelled))
		gus_vec_push(reasons, gus_format("%.1f%% of the samples are of %s, where the trace took another way: "
						 "it goes by what the CPU has, and the emulator shows another CPU than "
						 "this one", 100 * share, f->name));
	else
		gus_vec_push(reasons, gus_format("%.1f%% of the samples are of %s, in whose place the trace has %s: "
						 "the library has a variant of the function for each kind of CPU, and "
						 "the emulator shows another CPU than this one", 100 * share, f->name,
						 modelled));
}

/* Returns the share of the samples that this says something of. */
static double say_variants(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	const struct gus_traced *t = v->model->traced;
	const struct gus_coverage *c = &v->measured->coverage;
	double all = 0;

	for (size_t i = 0; i < c->elsewhere_n; i++) {
		double share = (double)c->elsewhere[i].samples / (double)c->samples;
		uint32_t f = share < 0.01 ? GUS_TRACED_NONE : gus_libvariant_modelled(t, c, i);

		if (f == GUS_TRACED_NONE)
			continue;
		say_variant(&c->elsewhere[i], t->functions.v[f].name, share, reasons);
		all += share;
	}
	return all;
}

/* Functions and loops with nearly all of the time, of which shares say nothing. */
static void say_alone(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	const struct gus_compared_row *r = v->compared->rows.n ? &v->compared->rows.v[0] : NULL;

	if (r && is_alone(v, r))
		gus_vec_push(reasons, gus_format("one loop or function has %.1f%% of the %stime, and nothing beside "
						 "it that it could be held against: whether the model is right on it "
						 "takes cycles, so the trace of a whole run (%s) or a recording of "
						 "cycles and instructions", 100 * larger_share(r), kind_of_share(r),
						 v->model->command ? "this one is a part, or was cut" :
						 "gusprof compare -- COMMAND"));
}

/* Rows that too little was measured of. */
static size_t count_open(const struct gus_compare_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->compared->rows.n; i++) {
		const struct gus_compared_row *r = &v->compared->rows.v[i];

		n += r->verdict == GUS_TRUST_OPEN && !r->shared && larger_share(r) >= 0.01 && !is_alone(v, r);
	}
	return n;
}

/* What would tell more. Intervals go by the root of how much there is of what they are from. */
static char *more_of(const struct gus_compare_view *v)
{
	enum { TIMES = 4 };
	const struct gus_model_windows *w = v->model->windows;
	uint64_t seconds;

	if (w && w->taken && w->process->pid) {
		seconds = (w->process->spread_ms * w->process->snapshots + 999) / 1000;
		return gus_format("too few samples, or windows, of which there are %u: with --snapshots %" PRIu64
				  " --duration %" PRIu64 " intervals would be about half as wide", w->taken,
				  TIMES * w->process->snapshots, TIMES * seconds);
	}
	if (w && w->taken)
		return gus_format("too few samples, or windows, of which there are %u: record for longer", w->taken);
	if (!v->model->command)
		return gus_strdup("too few samples, or windows: record for longer");
	if (v->compared->basis == GUS_COMPARED_SHARES)
		return gus_strdup("too few samples, or windows: trace more of the run (--trace-options), or all of it");
	return gus_format("too few samples: with four times as many runs (-r %u), or a run four times as long, "
			  "intervals would be about half as wide", TIMES * v->measured->runs);
}

static void say_few(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	size_t n = count_open(v);
	char *more = n ? more_of(v) : NULL;

	if (n)
		gus_vec_push(reasons, gus_format("of %zu function%s or loop%s nothing can be told (cannot tell): there "
						 "are %s", n, n == 1 ? "" : "s", n == 1 ? "" : "s", more));
	free(more);
}

/* Rows that would have a verdict if the core had been the target's alone. */
static size_t count_shared(const struct gus_compare_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->compared->rows.n; i++) {
		const struct gus_compared_row *r = &v->compared->rows.v[i];

		n += r->verdict == GUS_TRUST_OPEN && r->shared && larger_share(r) >= 0.01;
	}
	return n;
}

static void say_shared(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	size_t n = count_shared(v);

	if (n)
		gus_vec_push(reasons, gus_format("%zu function%s or loop%s took longer than modelled%s, which may be "
						 "the other thread's doing that was busy on the same core: it takes up "
						 "to half of what the core does (cannot tell). Compare again while it "
						 "is not; of a virtual machine it may be another one's", n,
						 n == 1 ? "" : "s", n == 1 ? "" : "s", v->compared->basis ==
						 GUS_COMPARED_SHARES ? ", or all else did" : ""));
}

/* No model is so far off of all of a program, where it executes as much. */
static void say_by_the_clock(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	static const double MUCH = 3;
	const struct gus_figure *ratio = &v->compared->whole.ratio;

	if (v->compared->basis == GUS_COMPARED_CYCLES && ratio->ci.low > MUCH)
		gus_vec_push(reasons, gus_format("a command that runs for a time, and not for an amount of work, does "
						 "less while it is emulated: if this is one, the ratios say only how "
						 "much less. Give it an amount, or compare its shares (gusprof compare "
						 "-p PID)"));
}

static void say_left_out(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	const struct gus_coverage *c = &v->measured->coverage;
	double kernel = c->weight ? (double)c->kernel_weight / (double)c->weight : 0;
	uint64_t other = c->samples - c->covered - c->kernel;
	double share = c->samples ? (double)other / (double)c->samples : 0;
	double variants;

	if (kernel >= 0.01)
		gus_vec_push(
			reasons,
			gus_format(
				"%.1f%% of the time is the kernel's, with its page faults and system calls, which the "
				"model does not know",
				100 * kernel));
	variants = say_variants(v, reasons);
	share -= variants;
	if (share >= 0.01)
		gus_vec_push(reasons, gus_format("%.1f%% of the samples are of %scode of the program that the trace "
						 "has not executed: it took another way there, or a library has "
						 "variants of a function whose names are not known", 100 * share,
						 variants > 0 ? "other " : ""));
	say_alone(v, reasons);
	if (v->compared->whole.verdict != GUS_TRUST_FULL)
		say_weak(&v->compared->whole, reasons);
	if (v->other_cpu)
		gus_vec_push(reasons,
			     gus_format("the CPU that was measured is %s's, not %s's: this does not judge the model",
					v->other_cpu, v->model->model->uarch->name));
}

void gus_compare_reasons_common(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	const struct gus_compared_common *common = &v->compared->common;

	say_by_the_clock(v, reasons);
	if (common->knob >= 0) {
		char *knob = knob_text(v, common->knob, common->factor);

		gus_vec_push(reasons,
			     gus_format("of all capacities one explains most of what the model misses in %zu regions, "
					"%.0f%% of it: %s",
					v->compared->common_of, 100 * common->explained, knob));
		free(knob);
	}
	say_forms(v, reasons);
	say_few(v, reasons);
	say_shared(v, reasons);
	say_left_out(v, reasons);
}

void gus_compare_reasons_free(struct gus_compare_reasons *reasons)
{
	for (size_t i = 0; i < reasons->n; i++)
		free(reasons->v[i]);
	gus_vec_free(reasons);
}
