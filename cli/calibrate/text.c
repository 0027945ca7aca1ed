/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/calibrate/fits.h"
#include "cli/calibrate/view.h"
#include "cli/common/calibrations.h"
#include "cli/common/calibrated_key.h"
#include "cli/common/print.h"
#include "cli/screen/table.h"
#include "model/calibration/fitted.h"
#include "model/calibration/written.h"
#include "model/tables/uarch.h"

enum { CELL = 48 };

static const struct gus_uarch_param_kind *kind_of(const char *name, size_t *at)
{
	*at = 0;
	for (const struct gus_uarch_param_kind *kind = gus_uarch_params; kind->name; kind++, (*at)++)
		if (strcmp(kind->name, name) == 0)
			return kind;
	return NULL;
}

struct place { size_t number, at; const char *name; };

static int by_place(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->at != b->at ? (a->at < b->at ? -1 : 1) : strcmp(a->name, b->name);
}

size_t *gus_calibrate_order(const struct gus_fit *fit)
{
	struct place *places = gus_zalloc((fit->params.n + 1) * sizeof(*places));
	size_t *order = gus_zalloc((fit->params.n + 1) * sizeof(*order));

	for (size_t i = 0; i < fit->params.n; i++) {
		places[i] = (struct place){ .number = i, .name = fit->params.v[i].name };
		kind_of(places[i].name, &places[i].at);
	}
	qsort(places, fit->params.n, sizeof(*places), by_place);
	for (size_t i = 0; i < fit->params.n; i++)
		order[i] = places[i].number;
	free(places);
	return order;
}

/* Four digits tell enough; what is whole is told so. */
static void number(char out[CELL], double value)
{
	if (isnan(value))
		snprintf(out, CELL, "-");
	else
		snprintf(out, CELL, "%.*f", fabs(value - round(value)) < 0.005 ? 0 : fabs(value) >= 100 ? 1 : 2, value);
}

static void between(char out[CELL], const char *low, const char *high)
{
	if (strcmp(low, "-") == 0 || strcmp(high, "-") == 0)
		snprintf(out, CELL, "-");
	else if (strcmp(low, high) == 0)
		snprintf(out, CELL, "exact");
	else
		snprintf(out, CELL, "%.20s..%.20s", low, high);
}

static void interval(char out[CELL], double low, double high)
{
	char from[CELL], to[CELL];

	number(from, low);
	number(to, high);
	between(out, from, to);
}

/* Of a parameter. Numbers of words are nobody's but ours: yes, no or a policy's word stand for them. */
static void figure(char out[CELL], const char *param, double value)
{
	size_t size;
	const char *word = gus_calibration_word(param, value, &size);

	if (word)
		snprintf(out, CELL, "%.*s", size < CELL ? (int)size : CELL - 1, word);
	else
		number(out, value);
}

static void interval_of(char out[CELL], const struct gus_fit_param *p)
{
	char from[CELL], to[CELL];

	figure(from, p->name, p->low);
	figure(to, p->name, p->high);
	between(out, from, to);
}

static void percent(char out[CELL], double share)
{
	if (isnan(share))
		snprintf(out, CELL, "-");
	else
		snprintf(out, CELL, "%.1f%%", 100 * share);
}

/* Parameters. */

enum { P_NAME, P_NOMINAL, P_VALUE, P_INTERVAL, P_UNIT, P_SURE, P_RESIDUAL, P_WHY, P_COLUMNS };
static const struct gus_table_column param_columns[P_COLUMNS] = {
	[P_NAME] = { "parameter", .pad = 24 }, [P_NOMINAL] = { "nominal", true, .pad = 8 },
	[P_VALUE] = { "measured", true, .pad = 9 }, [P_INTERVAL] = { "between", true, .pad = 14 },
	[P_UNIT] = { "unit", .pad = 12, .leaves = 1 }, [P_SURE] = { "confidence", .pad = 10 },
	[P_RESIDUAL] = { "residual", true, .pad = 8, .leaves = 2 },
	[P_WHY] = { "from", .how = GUS_SHORTEN_END, .comfort = 30, .least = 8 },
};

static void nominal(char out[CELL], const struct gus_uarch *u, const char *name)
{
	const struct gus_uarch_param *p = gus_uarch_param(u, name);

	if (p && p->word)
		snprintf(out, CELL, "%.20s", p->word);
	else
		number(out, p ? p->value : NAN);
}

static void print_param(struct gus_table *t, const struct gus_calibrate_view *v, const struct gus_fit_param *p)
{
	char was[CELL], value[CELL] = "-", ends[CELL] = "-", residual[CELL];
	const char *cells[P_COLUMNS];
	const struct gus_uarch_param_kind *kind;
	bool none = p->confidence == GUS_CONFIDENCE_NONE;
	size_t at;

	kind = kind_of(p->name, &at);
	nominal(was, v->nearest, p->name);
	if (!none) {
		figure(value, p->name, p->value);
		interval_of(ends, p);
	}
	percent(residual, none ? NAN : p->residual);
	cells[P_NAME] = p->name;
	cells[P_NOMINAL] = was;
	cells[P_VALUE] = value;
	cells[P_INTERVAL] = ends;
	cells[P_UNIT] = kind ? gus_uarch_unit_name(kind->unit) : "";
	cells[P_SURE] = gus_confidence_name(p->confidence);
	cells[P_RESIDUAL] = residual;
	cells[P_WHY] = p->why;
	gus_table_row(t, none ? GUS_COLOUR_BAD : GUS_COLOUR_NONE, cells);
}

static void print_params(const struct gus_calibrate_view *v)
{
	size_t *order = gus_calibrate_order(v->fit);
	struct gus_table table;

	printf("\n");
	gus_table_begin(&table, v->screen, stdout, param_columns, P_COLUMNS);
	for (size_t i = 0; i < v->fit->params.n; i++)
		print_param(&table, v, &v->fit->params.v[order[i]]);
	gus_table_end(&table);
	printf("What has low confidence or none is not used: there the table's figure stays.\n");
	free(order);
}

/* Forms. */

enum {
	F_FORM, F_FROM, F_NOMINAL, F_LATENCY, F_BETWEEN, F_LATENCY_SURE, F_EVERY_WAS, F_EVERY, F_USES, F_SURE,
	F_RESIDUAL, F_DIFFERS, F_COLUMNS
};
static const struct gus_table_column form_columns[F_COLUMNS] = {
	[F_FORM] = { "form", .pad = 28, .how = GUS_SHORTEN_MIDDLE, .comfort = 24, .least = 12 },
	[F_FROM] = { "from", .pad = 8 },
	[F_NOMINAL] = { "nominal", true, .pad = 8 }, [F_LATENCY] = { "latency", true, .pad = 8 },
	[F_BETWEEN] = { "between", true, .pad = 12, .leaves = 2 },
	[F_LATENCY_SURE] = { "of latency", .pad = 10 },
	[F_EVERY_WAS] = { "nominal", true, .pad = 8 }, [F_EVERY] = { "cyc/ins", true, .pad = 8 },
	[F_USES] = { "ports", .pad = 14, .how = GUS_SHORTEN_END, .comfort = 14, .least = 6 },
	[F_SURE] = { "of ports", .pad = 10 }, [F_RESIDUAL] = { "residual", true, .pad = 8, .leaves = 1 },
	[F_DIFFERS] = { "differs in", .how = GUS_SHORTEN_END, .comfort = 12, .least = 7 },
};

static const struct gus_uarch_row *row_of(const struct gus_uarch *u, const char *text)
{
	const struct gus_uarch_form *form = gus_uarch_form_by_text(u, text);

	return form && form->row != GUS_UARCH_NONE ? &u->rows[form->row] : NULL;
}

/* Hundredths of a cycle; 0: the table does not say. */
static double of_table(const struct gus_uarch_row *row, uint32_t centi)
{
	return row && centi ? (double)centi / GUS_UARCH_CENTI : NAN;
}

/* "latency, ports" */
static void differing(char out[CELL], unsigned parts)
{
	size_t n = 0;

	snprintf(out, CELL, "-");
	for (unsigned i = 0; i < GUS_CALIBRATION_PARTS; i++)
		if (parts >> i & 1)
			n += (size_t)snprintf(out + n, CELL - n, "%s%s", n ? ", " : "",
					      gus_calibration_part_name(1u << i));
}

/* The rest of a row stands beside the first latency. */
static void print_load_latency(struct gus_table *t, const struct gus_calibrate_view *v, const struct gus_fit_form *f,
			       unsigned parts)
{
	const struct gus_uarch_row *row = row_of(v->nearest, f->form);
	char was[CELL], value[CELL], differs[CELL];
	const char *cells[F_COLUMNS] = {
		[F_FORM] = f->form, [F_FROM] = "address", [F_NOMINAL] = was, [F_LATENCY] = value, [F_BETWEEN] = "-",
		[F_LATENCY_SURE] = gus_confidence_name(f->latency_confidence), [F_DIFFERS] = differs,
	};

	number(was, of_table(row, row ? row->loadlat : 0));
	number(value, f->load_latency);
	differing(differs, parts & GUS_CALIBRATION_LOAD_LATENCY);
	gus_table_row(t, GUS_COLOUR_NONE, cells);
}

/* A load that computes something as well has two latencies, and so two lines: from an operand, which is its own, and
 * from the address, in which the load is. */
static void print_form(struct gus_table *t, const struct gus_calibrate_view *v, const struct gus_fit_form *f)
{
	const struct gus_uarch_row *row = row_of(v->nearest, f->form);
	bool loads = isnan(f->latency) && !isnan(f->load_latency), both = !loads && !isnan(f->load_latency);
	unsigned parts = gus_calibration_corrects(v->nearest, f);
	char was[CELL], value[CELL], ends[CELL], every_was[CELL], every[CELL], residual[CELL], differs[CELL];
	const char *cells[F_COLUMNS] = {
		[F_FORM] = f->form, [F_FROM] = loads ? "address" : "operand", [F_NOMINAL] = was, [F_LATENCY] = value,
		[F_BETWEEN] = ends, [F_LATENCY_SURE] = gus_confidence_name(f->latency_confidence),
		[F_EVERY_WAS] = every_was, [F_EVERY] = every, [F_USES] = f->uses,
		[F_SURE] = gus_confidence_name(f->confidence), [F_RESIDUAL] = residual, [F_DIFFERS] = differs,
	};

	number(was, loads ? of_table(row, row ? row->loadlat : 0) : row ? (double)row->latency / GUS_UARCH_CENTI : NAN);
	number(value, loads ? f->load_latency : f->latency);
	interval(ends, loads ? NAN : f->latency_low, loads ? NAN : f->latency_high);
	number(every_was, row ? gus_uarch_throughput(v->nearest, row) : NAN);
	number(every, f->throughput);
	percent(residual, f->residual);
	differing(differs, both ? parts & ~(unsigned)GUS_CALIBRATION_LOAD_LATENCY : parts);
	gus_table_row(t, GUS_COLOUR_NONE, cells);
	if (both)
		print_load_latency(t, v, f, parts);
}

static int by_text(const void *left, const void *right)
{
	const struct gus_fit_form *const *a = left, *const *b = right;

	return strcmp((*a)->form, (*b)->form);
}

static void print_forms(const struct gus_calibrate_view *v)
{
	const struct gus_fit *fit = v->fit;
	struct gus_vec(const struct gus_fit_form *) differing = { 0 };
	struct gus_table table;
	size_t unknown = 0;

	for (size_t i = 0; i < fit->forms.n; i++) {
		if (gus_calibration_corrects(v->nearest, &fit->forms.v[i]))
			gus_vec_push(&differing, &fit->forms.v[i]);
		unknown += fit->forms.v[i].confidence < GUS_CONFIDENCE_MEDIUM &&
			fit->forms.v[i].latency_confidence < GUS_CONFIDENCE_MEDIUM;
	}
	if (differing.n)
		qsort(differing.v, differing.n, sizeof(*differing.v), by_text);
	gus_print("\nOf %zu forms %zu differ from %s, and of %zu too little could be told.\n", fit->forms.n,
		  differing.n, v->nearest->name, unknown);
	if (differing.n) {
		gus_table_begin(&table, v->screen, stdout, form_columns, F_COLUMNS);
		for (size_t i = 0; i < differing.n; i++)
			print_form(&table, v, differing.v[i]);
		gus_table_end(&table);
		printf("Latency is from an operand or from the address, in which the load is; cyc/ins is of "
		       "independent ones, one after the other.\n"
		       "\"of latency\" and \"of ports\" are how sure each is; what is "
		       "not in \"differs in\" stays as in the table.\n");
	}
	gus_vec_free(&differing);
}

static void print_facts(const struct gus_calibrate_view *v)
{
	for (size_t i = 0; i < v->fit->facts.n; i++) {
		const struct gus_fit_fact *f = &v->fit->facts.v[i];

		gus_print("%s %.6g %s", f->name, f->value, f->unit ? f->unit : "");
		if (f->low < f->high)
			gus_print(" (%.6g..%.6g)", f->low, f->high);
		gus_print("%s%s\n", *f->why ? ": " : "", f->why);
	}
}

void gus_calibrate_text(const struct gus_calibrate_view *v)
{
	const struct gus_calibrate_noise *n = v->noise;

	gus_print("%s, beside %s (%s)\n", v->key->hostname, v->nearest->name, v->nearest->title);
	for (int i = 0; i < GUS_HOST_PARTS; i++)
		gus_print("%s%s %s", i ? ", " : "valid for ", v->key->values[i].key, v->key->values[i].value);
	printf("\n");
	if (!v->own && v->asked)
		gus_print("This was not begun from the CPU's own table: what was not measured is as in %s\n",
			  v->nearest->name);
	else if (!v->own)
		gus_print("There is no table for this CPU, and %s is the nearest: what was not measured is as there\n",
			  v->nearest->name);
	for (size_t i = 0; i < v->notes_n; i++)
		gus_print("note: %s\n", v->notes[i]);
	gus_print("%s: %" PRIu64 " microbenchmark%s, %.1f%% in trouble (%" PRIu64 " noisy, %" PRIu64
		  " with two times, %" PRIu64 " disturbed); %" PRIu64 " beside another thread of the core\n", v->how,
		  n->run, n->run == 1 ? "" : "s", 100 * gus_calibrate_troubled(n), n->noisy, n->bistable, n->moved,
		  n->beside);
	print_facts(v);
	print_params(v);
	print_forms(v);
	gus_print("\nThe table is %s; %s\n", v->path, v->kept ? "--uarch host is that from now on, and --uarch "
		  "nominal is what it was before" : "--uarch takes that name");
}

void gus_calibrate_check_text(const struct gus_calibrate_check *c)
{
	if (c->kept)
		gus_print("%s is this machine's: %s\n", c->path, c->kept->title);
	else
		gus_print("this machine is not calibrated%s%s\n", c->why ? ": " : "", c->why ? c->why : "");
	if (!c->kept && c->path)
		gus_print("it would be %s\n", c->path);
	for (int i = 0; i < GUS_HOST_PARTS; i++)
		gus_print("  %-11s %s\n", c->key->values[i].key, c->key->values[i].value);
}
