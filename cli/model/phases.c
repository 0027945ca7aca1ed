/* SPDX-License-Identifier: MIT */
#include "cli/model/phases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/common/json.h"
#include "cli/common/print.h"

enum { ROWS = 40, LINES = 6, CLASSES = 3, REGIONS = 3, LETTERS = 26, NAME = 20 };

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static double sum_of(const uint64_t classes[GUS_INSN_CLASSES], uint32_t class)
{
	double sum = 0;

	for (unsigned c = 0; c < GUS_INSN_CLASSES; c++)
		sum += class == GUS_INSN_CLASSES || class == c ? (double)classes[c] : 0;
	return sum;
}

static double mispredicted(const struct gus_phases_part *p, uint32_t line)
{
	if (!line)
		return (double)p->mispredicted;
	for (unsigned i = 0; i < GUS_PHASES_TOP; i++)
		if (p->lines.list[i].weight && p->lines.list[i].key == line)
			return (double)p->lines.list[i].weight;
	return 0;
}

static double value(const struct gus_model_phases *m, const struct gus_phases_part *p, enum gus_phases_series what,
		    uint32_t number)
{
	double ticks = (double)p->ticks;

	switch (what) {
	case GUS_SERIES_IPC: return ratio((double)p->instructions * m->ticks, ticks);
	case GUS_SERIES_WAITING: return ratio(sum_of(p->waiting, number), ticks);
	case GUS_SERIES_STALLED: return ratio(sum_of(p->stalled, number), ticks);
	case GUS_SERIES_EXECUTING: return ratio((double)p->executing, ticks);
	case GUS_SERIES_LOADS: return ratio((double)p->loads, ticks);
	case GUS_SERIES_STORES: return ratio((double)p->stores, ticks);
	case GUS_SERIES_MISPREDICTED: return ratio(1000 * mispredicted(p, number), (double)p->instructions);
	}
	return 0;
}

/* Bins of a column: the first, and that of the next column. */
static size_t first_bin(const struct gus_phases_found *f, size_t column, size_t columns)
{
	return column * f->bins_n / columns;
}

size_t gus_model_phases_series(const struct gus_model_phases *m, enum gus_phases_series what, uint32_t number,
			       double *out, size_t columns)
{
	const struct gus_phases_found *f = m->found;
	double *each = gus_resize(NULL, 2 * f->bins_n + 1, sizeof(*each)), *smooth = each + f->bins_n;
	size_t n = f->bins_n < columns ? f->bins_n : columns;

	for (size_t i = 0; i < f->bins_n; i++)
		each[i] = value(m, &f->bins[i], what, number);
	gus_phases_smooth(each, f->bins_n, f->window, smooth);
	for (size_t c = 0; c < n; c++) {
		size_t first = first_bin(f, c, n), end = first_bin(f, c + 1, n);

		out[c] = 0;
		for (size_t i = first; i < end; i++)
			out[c] += smooth[i] / (double)(end - first);
	}
	free(each);
	return n;
}

double gus_model_phases_strip(const double *values, size_t n, char *text)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = values[i] > most ? values[i] : most;
	for (size_t i = 0; i < n; i++) {
		int tenth = most > 0 ? (int)(values[i] / most * 10) : 0;

		text[i] = values[i] <= 0 ? '.' : (char)('0' + (tenth > 9 ? 9 : tenth));
	}
	text[n] = '\0';
	return most;
}

static char letter(const struct gus_phases_found *f, uint32_t region)
{
	for (unsigned i = 0; i < GUS_PHASES_TOP && i < LETTERS; i++)
		if (f->all.regions.list[i].weight && f->all.regions.list[i].key == region)
			return (char)('A' + i);
	return '*';
}

/* Of bins first to end - 1: the label of most; of several the first. */
static uint32_t label(const struct gus_phases_found *f, size_t first, size_t end)
{
	uint32_t best = f->bins[first].region;
	size_t most = 0;

	for (size_t i = first; i < end; i++) {
		size_t n = 0;

		for (size_t k = first; k < end; k++)
			n += f->bins[k].region == f->bins[i].region;
		if (n > most) {
			most = n;
			best = f->bins[i].region;
		}
	}
	return best;
}

size_t gus_model_phases_regions(const struct gus_model_phases *m, size_t columns, char *text)
{
	const struct gus_phases_found *f = m->found;
	size_t n = f->bins_n < columns ? f->bins_n : columns;

	for (size_t c = 0; c < n; c++)
		text[c] = letter(f, label(f, first_bin(f, c, n), first_bin(f, c + 1, n)));
	text[n] = '\0';
	return n;
}

/* Classes by how much they wait (or are stalled) in all of the run, the most first; those that do not at all are left
 * out. */
static unsigned classes_by(const uint64_t classes[GUS_INSN_CLASSES], uint32_t out[GUS_INSN_CLASSES])
{
	unsigned n = 0;

	for (uint32_t c = 0; c < GUS_INSN_CLASSES; c++) {
		unsigned at = n;

		if (!classes[c])
			continue;
		for (; at && classes[out[at - 1]] < classes[c]; at--)
			out[at] = out[at - 1];
		out[at] = c;
		n++;
	}
	return n;
}

/* Text. */

static void print_strip(const struct gus_model_phases *m, const char *name, enum gus_phases_series what,
			uint32_t number, const char *unit)
{
	double values[GUS_PHASES_STRIP], most;
	char text[GUS_PHASES_STRIP + 1];
	size_t n = gus_model_phases_series(m, what, number, values, GUS_PHASES_STRIP);

	most = gus_model_phases_strip(values, n, text);
	if (most <= 0)
		return;
	/* Of a long name of a file and line the end says more. */
	name += strlen(name) > NAME ? strlen(name) - NAME : 0;
	gus_print("  %-*s %s  up to %.3g%s\n", NAME, name, text, most, unit);
}

static void print_strips(const struct gus_model_phases *m)
{
	uint32_t classes[GUS_INSN_CLASSES];
	unsigned n = classes_by(m->found->all.waiting, classes);
	char text[GUS_PHASES_STRIP + 1], name[64];

	gus_model_phases_regions(m, GUS_PHASES_STRIP, text);
	gus_print("\n  %-*s %s\n", NAME, "region", text);
	print_strip(m, "IPC", GUS_SERIES_IPC, 0, "");
	print_strip(m, "waiting", GUS_SERIES_WAITING, GUS_INSN_CLASSES, " ops");
	for (unsigned i = 0; i < n && i < CLASSES; i++) {
		snprintf(name, sizeof(name), "  %s", gus_insn_class_name((enum gus_insn_class)classes[i]));
		print_strip(m, name, GUS_SERIES_WAITING, classes[i], " ops");
	}
	print_strip(m, "executing", GUS_SERIES_EXECUTING, 0, " ops");
	print_strip(m, "stalled", GUS_SERIES_STALLED, GUS_INSN_CLASSES, " ops");
	n = classes_by(m->found->all.stalled, classes);
	for (unsigned i = 0; i < n && i < CLASSES; i++) {
		snprintf(name, sizeof(name), "  %s", gus_insn_class_name((enum gus_insn_class)classes[i]));
		print_strip(m, name, GUS_SERIES_STALLED, classes[i], " ops");
	}
	print_strip(m, "load buffer", GUS_SERIES_LOADS, 0, " loads");
	print_strip(m, "store buffer", GUS_SERIES_STORES, 0, " stores");
	print_strip(m, "mispredicted", GUS_SERIES_MISPREDICTED, 0, " in 1000 instructions");
	for (unsigned i = 0; i < GUS_PHASES_TOP && i < LINES && m->found->all.lines.list[i].weight; i++) {
		snprintf(name, sizeof(name), "  %s", m->line(m->context, m->found->all.lines.list[i].key));
		print_strip(m, name, GUS_SERIES_MISPREDICTED, m->found->all.lines.list[i].key, " in 1000 instructions");
	}
}

/* "main 93 %, sort 7 %". */
static void print_shares(const struct gus_model_phases *m, const struct gus_phases_part *p)
{
	const char *between = "";

	for (unsigned i = 0; i < GUS_PHASES_TOP && i < REGIONS && p->regions.list[i].weight; i++) {
		double share = ratio((double)p->regions.list[i].weight, (double)p->ticks);

		if (i && share < 0.005)
			break;
		gus_print("%s%s %.0f%%", between, m->region(m->context, p->regions.list[i].key), 100 * share);
		between = ", ";
	}
	putchar('\n');
}

static void print_phase(const struct gus_model_phases *m, const struct gus_phases_part *p)
{
	enum gus_insn_class waits = gus_phases_waits(p);

	gus_print("  %c %13.0f %13.0f %6.2f %8.1f  %-12s %8.1f %8.1f %6.1f %6.1f %8.2f  ", letter(m->found, p->region),
		  (double)p->from / m->ticks, (double)p->ticks / m->ticks, value(m, p, GUS_SERIES_IPC, 0),
		  value(m, p, GUS_SERIES_WAITING, GUS_INSN_CLASSES), waits == GUS_INSN_CLASSES ? "-" :
			  gus_insn_class_name(waits),
		  value(m, p, GUS_SERIES_EXECUTING, 0), value(m, p, GUS_SERIES_STALLED, GUS_INSN_CLASSES),
			  value(m, p, GUS_SERIES_LOADS, 0),
		  value(m, p, GUS_SERIES_STORES, 0), value(m, p, GUS_SERIES_MISPREDICTED, 0));
	print_shares(m, p);
}

void gus_model_phases_text(const struct gus_model_phases *m)
{
	const struct gus_phases_found *f = m->found;

	if (!f->bins_n)
		return;
	printf("\nPhases (%zu bins of %.4g cycles, smoothed over %u):\n", f->bins_n, (double)f->width / m->ticks,
	       f->window);
	printf("  %15s %13s %6s %8s  %-12s %8s %8s %6s %6s %8s  %s\n", "from cycle", "cycles", "IPC", "waiting",
	       "most of it", "running",
	       "stalled", "loads", "stores", "miss/1k", "share of the time");
	for (size_t i = 0; i < f->phases_n && i < ROWS; i++)
		print_phase(m, &f->phases[i].sum);
	if (f->phases_n > ROWS)
		printf("  and %zu more\n", f->phases_n - ROWS);
	print_strips(m);
}

/* JSON. */

static json_t *series(const struct gus_model_phases *m, enum gus_phases_series what, uint32_t number)
{
	double values[GUS_PHASES_POINTS];
	size_t n = gus_model_phases_series(m, what, number, values, GUS_PHASES_POINTS);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_real(values[i]));
	return list;
}

static json_t *series_by_class(const struct gus_model_phases *m, enum gus_phases_series what,
			       const uint64_t classes[GUS_INSN_CLASSES])
{
	json_t *o = json_object();

	for (uint32_t c = 0; c < GUS_INSN_CLASSES; c++)
		if (classes[c])
			json_object_set_new(o, gus_insn_class_name((enum gus_insn_class)c), series(m, what, c));
	return o;
}

static json_t *named(json_t *name, const char *what)
{
	json_t *o = json_object();

	json_object_set_new(o, what, name);
	return o;
}

static json_t *over_time(const struct gus_model_phases *m)
{
	const struct gus_phases_found *f = m->found;
	json_t *o = json_object(), *regions = json_array(), *lines = json_array();
	size_t n = f->bins_n < GUS_PHASES_POINTS ? f->bins_n : GUS_PHASES_POINTS;

	for (size_t c = 0; c < n; c++)
		json_array_append_new(regions,
				      gus_json_text(m->region(m->context,
							      label(f, first_bin(f, c, n), first_bin(f, c + 1, n)))));
	for (unsigned i = 0; i < GUS_PHASES_TOP && f->all.lines.list[i].weight; i++) {
		json_t *line = named(gus_json_text(m->line(m->context, f->all.lines.list[i].key)), "line");

		json_object_set_new(line, "mispredicted", series(m, GUS_SERIES_MISPREDICTED, f->all.lines.list[i].key));
		json_array_append_new(lines, line);
	}
	json_object_set_new(o, "region", regions);
	json_object_set_new(o, "ipc", series(m, GUS_SERIES_IPC, 0));
	json_object_set_new(o, "waiting", series_by_class(m, GUS_SERIES_WAITING, f->all.waiting));
	json_object_set_new(o, "stalled", series_by_class(m, GUS_SERIES_STALLED, f->all.stalled));
	json_object_set_new(o, "executing", series(m, GUS_SERIES_EXECUTING, 0));
	json_object_set_new(o, "loads", series(m, GUS_SERIES_LOADS, 0));
	json_object_set_new(o, "stores", series(m, GUS_SERIES_STORES, 0));
	json_object_set_new(o, "mispredicted", series(m, GUS_SERIES_MISPREDICTED, 0));
	json_object_set_new(o, "lines", lines);
	return o;
}

static json_t *by_class(const uint64_t classes[GUS_INSN_CLASSES], double ticks)
{
	json_t *o = json_object();

	for (uint32_t c = 0; c < GUS_INSN_CLASSES; c++)
		if (classes[c])
			json_object_set_new(o, gus_insn_class_name((enum gus_insn_class)c),
					    json_real(ratio((double)classes[c], ticks)));
	return o;
}

static json_t *phase(const struct gus_model_phases *m, const struct gus_phases_part *p)
{
	json_t *o = json_object(), *regions = json_array(), *lines = json_array();
	enum gus_insn_class waits = gus_phases_waits(p);
	double ticks = (double)p->ticks;

	for (unsigned i = 0; i < GUS_PHASES_TOP && p->regions.list[i].weight; i++) {
		json_t *one = named(gus_json_text(m->region(m->context, p->regions.list[i].key)), "region");

		json_object_set_new(one, "share", json_real(ratio((double)p->regions.list[i].weight, ticks)));
		json_array_append_new(regions, one);
	}
	for (unsigned i = 0; i < GUS_PHASES_TOP && p->lines.list[i].weight; i++) {
		json_t *one = named(gus_json_text(m->line(m->context, p->lines.list[i].key)), "line");

		json_object_set_new(one, "mispredicted", json_integer((json_int_t)p->lines.list[i].weight));
		json_array_append_new(lines, one);
	}
	json_object_set_new(o, "region", gus_json_text(m->region(m->context, p->region)));
	json_object_set_new(o, "from", json_real((double)p->from / m->ticks));
	json_object_set_new(o, "cycles", json_real(ticks / m->ticks));
	json_object_set_new(o, "instructions", json_integer((json_int_t)p->instructions));
	json_object_set_new(o, "ipc", json_real(value(m, p, GUS_SERIES_IPC, 0)));
	json_object_set_new(o, "waits_most", waits == GUS_INSN_CLASSES ? json_null() :
			    gus_json_word(gus_insn_class_name(waits)));
	json_object_set_new(o, "waiting", by_class(p->waiting, ticks));
	json_object_set_new(o, "stalled", by_class(p->stalled, ticks));
	json_object_set_new(o, "executing", json_real(value(m, p, GUS_SERIES_EXECUTING, 0)));
	json_object_set_new(o, "loads", json_real(value(m, p, GUS_SERIES_LOADS, 0)));
	json_object_set_new(o, "stores", json_real(value(m, p, GUS_SERIES_STORES, 0)));
	json_object_set_new(o, "mispredicted", json_integer((json_int_t)p->mispredicted));
	json_object_set_new(o, "lines", lines);
	json_object_set_new(o, "regions", regions);
	json_object_set_new(o, "other_regions", json_real(ratio((double)p->regions.others, ticks)));
	return o;
}

json_t *gus_model_phases_json(const struct gus_model_phases *m)
{
	const struct gus_phases_found *f = m->found;
	json_t *o, *phases;

	if (!f->bins_n)
		return json_null();
	o = json_object();
	phases = json_array();
	for (size_t i = 0; i < f->phases_n; i++)
		json_array_append_new(phases, phase(m, &f->phases[i].sum));
	json_object_set_new(o, "bins", json_integer((json_int_t)f->bins_n));
	json_object_set_new(o, "bin_cycles", json_real((double)f->width / m->ticks));
	json_object_set_new(o, "window", json_integer(f->window));
	json_object_set_new(o, "phases", phases);
	json_object_set_new(o, "over_time", over_time(m));
	return o;
}
