/* SPDX-License-Identifier: MIT */
#include "cli/explain/quality.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/rows.h"
#include "cli/common/calibrated.h"
#include "cli/common/json.h"
#include "cli/common/uarch_load.h"
#include "cli/explain/measured.h"
#include "cli/explain/view.h"
#include "cli/screen/screen.h"
#include "model/code/program.h"

/* A run that is shorter has too much of its beginning and end in it. */
static const double SHORT_S = 1;
/* Of the whole, and of a region: a share of a tenth is known to 4 points, and a region's own split to 10. */
enum { FEW = 200, FEW_OF_REGION = 50 };
/* Shares from which on it is worth a line. Flat is a profile of which the largest function has less than a tenth and
 * the ten largest less than a half: no one change will bring much. */
static const double UNNAMED = 0.05, FLAT_FIRST = 0.1, FLAT_TEN = 0.5, LOST = 0.001, ELSEWHERE = 0.05, NO_ROW = 0.01;
enum { FLAT_OF = 10 };

struct finding {
	struct gus_explain_facts *facts;
	const struct gus_explain_view *v;
	const struct gus_profile *p;
	const struct gus_uarch *uarch;
};

/* The text is given up. */
static void add(const struct finding *f, const char *what, double value, char *text)
{
	gus_vec_push(f->facts, (struct gus_explain_fact){ what, value, text });
}

static void too_short(const struct finding *f)
{
	double seconds = (double)f->v->counts->length_ns / 1e9;

	if (seconds < SHORT_S)
		add(f, "short", seconds, gus_format("it is only %.2f s long: how a program begins and ends has much of "
						    "that", seconds));
}

static void too_few(const struct finding *f)
{
	uint64_t n = f->v->measured->coverage.samples;

	if (n < FEW)
		add(f, "few_samples", (double)n, gus_format("only %" PRIu64 " samples: of a longer run there are more",
							    n));
}

static void too_few_of_region(const struct finding *f)
{
	const struct gus_explain_region *least = NULL;

	for (size_t i = 0; i < f->v->regions.n; i++)
		if (!least || f->v->regions.v[i].samples < least->samples)
			least = &f->v->regions.v[i];
	if (least && least->samples < FEW_OF_REGION)
		add(f, "few_samples_of_region", (double)least->samples, gus_format("some regions have so few samples "
			"that their share of the time is hardly known, such as %s with %" PRIu64, least->name,
			least->samples));
}

/* Functions that unwind tables tell of and no symbol names are called by their address (symbolizer/symbols). */
static bool is_named(const char *function)
{
	return function && (strncmp(function, "sub_", 4) != 0 || strspn(function + 4, "0123456789abcdef") !=
			    strlen(function + 4));
}

/* The share of samples at code that nobody has a name for, and by function how flat it is. */
static void names_and_flatness(const struct finding *f)
{
	struct gus_view view;
	double unnamed = 0, first = 0, ten = 0;
	size_t functions = 0;

	gus_view_make(&view, (struct gus_profile *)(uintptr_t)f->p, GUS_BY_FUNCTION, false);
	for (size_t i = 0; i < view.rows.n; i++) { /* by weight */
		const struct gus_row *row = &view.rows.v[i];

		unnamed += is_named(row->function) ? 0 : row->share;
		if (!row->function)
			continue;
		first = functions ? first : row->share;
		ten += functions < FLAT_OF ? row->share : 0;
		functions++;
	}
	gus_view_free(&view);
	if (unnamed >= UNNAMED)
		add(f, "no_names", unnamed, gus_format("%.1f %% of the time is in code without a name (its "
			"file is stripped, gone, or another one by now, or it was made at run time)", 100 * unnamed));
	if (functions > FLAT_OF && first < FLAT_FIRST && ten < FLAT_TEN)
		add(f, "flat", ten, gus_format("the profile is flat: the largest function has %.1f %% of the time, and "
			"the %d largest together %.1f %%. No change of one of them brings much", 100 * first, FLAT_OF,
			100 * ten));
}

static void lost(const struct finding *f)
{
	const struct gus_profile *p = f->p;
	uint64_t gone = p->lost + p->missing;

	if (p->footer == NULL)
		add(f, "cut", NAN, gus_strdup("the recording was cut: what would be at its end is missing"));
	if ((double)gone > LOST * (double)(p->samples + gone))
		add(f, "lost", (double)gone, gus_format("%" PRIu64 " records were lost, and what they would have told "
							"is not there", gone));
	if (p->throttled)
		add(f, "throttled", (double)p->throttled, gus_format("the kernel paused sampling %" PRIu64 " time%s: "
			"what ran meanwhile has too little", p->throttled, p->throttled == 1 ? "" : "s"));
	if (p->unsampled && gus_profile_unsampled_share(p, p->weight) >= LOST)
		add(f, "unsampled", gus_profile_unsampled_share(p, p->weight), gus_format("%.1f %% was not sampled, as "
			"tasks ended before their next sample", 100 * gus_profile_unsampled_share(p, p->weight)));
}

static void turns(const struct finding *f)
{
	const Gusprof__Header *h = f->p->header;
	const Gusprof__Footer *footer = f->p->footer;
	uint64_t on = footer && f->p->event < footer->n_events ? footer->events[f->p->event]->on_ns : 0;

	if (f->p->event >= h->n_events || !h->events[f->p->event]->turns)
		return;
	if (on)
		add(f, "turns", (double)on / 1e9, gus_format("%s shared its counter: it was on for %.2f s",
							     h->events[f->p->event]->name, (double)on / 1e9));
	else
		add(f, "turns", NAN, gus_format("%s shared its counter, and was on for a part of the time",
						h->events[f->p->event]->name));
}

/* How much of the time the model is about. It is said in any case: all that follows is about that part. */
static void covered(const struct finding *f)
{
	const struct gus_coverage *c = &f->v->measured->coverage;
	const struct gus_model_windows *w = f->v->model->windows;
	double all = (double)c->samples;

	add(f, "covered", (double)c->covered / all, gus_format("%.1f %% of the time is in code that %u windows of it "
		"executed%s", 100 * (double)c->covered / all, w ? w->taken : 1, c->covered < c->samples / 2 ?
		"; of the rest nothing is told, and record --trace qemu, or a longer recording, would have more" : ""));
	for (size_t i = 0; i < c->elsewhere_n; i++)
		if ((double)c->elsewhere[i].samples >= ELSEWHERE * all)
			add(f, "not_executed", (double)c->elsewhere[i].samples / all, gus_format(
				"not executed: %.1f %% in %s", 100 * (double)c->elsewhere[i].samples / all,
				c->elsewhere[i].name));
}

/* Executed instructions of which the table has no row. */
static void no_row(const struct finding *f)
{
	const struct gus_traced *t = f->v->model->traced;
	double all = 0, unknown = 0;

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];

		for (uint32_t k = 0; k < b->insns_n && b->executed; k++) {
			all += (double)b->executed;
			unknown += t->program->insns[b->insn + k].row ? 0 : (double)b->executed;
		}
	}
	if (all > 0 && unknown >= NO_ROW * all)
		add(f, "no_row", unknown / all, gus_format("the table has no row of %.1f %% of the instructions that "
			"were executed: they are taken for the middle of their class", 100 * unknown / all));
}

static void table(const struct finding *f)
{
	const Gusprof__Host *host = f->p->header->host;
	const char *of = host ? gus_uarch_of_host(host) : NULL;
	const struct gus_explain_view *v = f->v;
	long days = gus_calibrated_days(f->uarch);

	add(f, "table", NAN, gus_format("the model is of %s%s", v->table, v->calibrated ? ", as calibrated" :
					" as such (gusprof calibrate makes one of this machine)"));
	if (of && !v->calibrated && strcmp(of, f->uarch->name) != 0)
		add(f, "other_cpu", NAN, gus_format("it was recorded on another CPU (%s) than the table is of: what is "
			"told is of the code, and not of that machine", of));
	if (days >= GUS_CALIBRATED_OLD)
		add(f, "old_calibration", (double)days, gus_format("it was calibrated %ld days ago, and microcode and "
			"kernels change", days));
	if (v->told > 0)
		add(f, "model_error", v->told, gus_format("it is off by %.0f %% in general", 100 * v->told));
	else
		add(f, "model_error", NAN, gus_format("how far it is off on whole programs nobody has measured; gains "
						      "are taken to be right within %.0f %% of their logarithm", 100 *
						      (v->calibrated ? GUS_CAUSAL_MODEL : GUS_CAUSAL_UNTOLD)));
}

static const char NOTHING[] = "there is nothing to explain: ";

/* Why nothing was. */
static void no_model(const struct finding *f)
{
	const char *why = f->v->without;

	if (!f->v->model && why)
		add(f, "no_model", NAN, gus_format("nothing is modelled, so there are trees and no gains: %s",
						   strncmp(why, NOTHING, strlen(NOTHING)) ? why :
						   why + strlen(NOTHING)));
}

void gus_explain_facts_find(struct gus_explain_facts *facts, const struct gus_explain_view *v,
			    const struct gus_uarch *uarch)
{
	static void (*const of_recording[])(const struct finding *) = { too_short, too_few, too_few_of_region,
		names_and_flatness, lost, turns, no_model };
	static void (*const of_model[])(const struct finding *) = { covered, no_row, table };
	const struct finding f = { facts, v, &v->counts->profile, uarch };

	for (size_t i = 0; i < sizeof(of_recording) / sizeof(*of_recording); i++)
		of_recording[i](&f);
	for (size_t i = 0; v->model && uarch && i < sizeof(of_model) / sizeof(*of_model); i++)
		of_model[i](&f);
}

void gus_explain_facts_free(struct gus_explain_facts *facts)
{
	for (size_t i = 0; i < facts->n; i++)
		free(facts->v[i].text);
	gus_vec_free(facts);
}

void gus_explain_facts_text(const struct gus_explain_facts *facts, const struct gus_screen *screen)
{
	for (size_t i = 0; i < facts->n; i++)
		gus_screen_fold(screen, stdout, "# ", "#   ", facts->v[i].text);
}

json_t *gus_explain_facts_json(const struct gus_explain_facts *facts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < facts->n; i++) {
		const struct gus_explain_fact *fact = &facts->v[i];
		json_t *o = json_object();

		json_object_set_new(o, "what", gus_json_text(fact->what));
		json_object_set_new(o, "value", gus_json_real(fact->value));
		json_object_set_new(o, "text", gus_json_text(fact->text));
		json_array_append_new(list, o);
	}
	return list;
}
