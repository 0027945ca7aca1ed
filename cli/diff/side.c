/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/statistics/interval.h"
#include "base/path.h"
#include "cli/diff/diff.h"
#include "cli/stacks/stacks.h"

enum { COMM = 15 };     /* bytes of its file's name that a program's first thread is called by: TASK_COMM_LEN - 1 */
#define NORMAL_95 1.96
#define NONE_95 3.69    /* samples that may have been expected where there is none: 1 - e^-3.69 is 0.975 */

static bool has_module(const struct gus_diff_side *side, const char *name)
{
	return gus_strings_find(&side->modules, name) != GUS_INDEX_NONE;
}

/* The program of one recording is that of the other, whatever their files are called; but what both have by that name
 * is the same, as where one was recorded by a shell and the other by itself. */
static void take_program(struct gus_diff_side *side, const struct gus_stacks_view *v)
{
	const struct gus_diff_side *first = side->first;

	gus_strings_init(&side->modules);
	for (size_t i = 0; i < v->clues->places.n; i++)
		gus_strings_add(&side->modules, gus_base_name(v->clues->places.v[i].module));
	side->program = v->program ? gus_strdup(gus_base_name(v->program)) : NULL;
	if (first && first->program && side->program && !has_module(first, side->program) &&
	    !has_module(side, first->program))
		side->called = first->program;
}

static const char *module_of(const struct gus_diff_side *side, const struct gus_stacks_view *v,
			     const struct gus_sum_row *row)
{
	return side->called && strcmp(row->module, v->program) == 0 ? side->called : gus_base_name(row->module);
}

static char *thread_of(const struct gus_diff_side *side, const char *comm)
{
	bool is_program = side->called && strncmp(comm, side->program, COMM) == 0;

	return gus_strndup(is_program ? side->called : comm, is_program ? strnlen(side->called, COMM) : strlen(comm));
}

/* What it is to another build as well: files by their names, code by how far behind its function's beginning it is. */
static char *key_of(const struct gus_diff_side *side, const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	const char *module = module_of(side, v, row);
	uint64_t offset = row->function ? row->offset - row->start : row->offset;

	if (v->how->unit == GUS_SUM_THREAD)
		return thread_of(side, v->clues->threads.v[row->thread].comm);
	if (v->how->unit == GUS_SUM_MODULE)
		return gus_strdup(module);
	if (row->file)
		return gus_format("%s\n%s\n%s:%" PRIu32, module, row->function ? row->function : "",
				  gus_base_name(row->file), row->line);
	if (row->function && (v->how->unit == GUS_SUM_FUNCTION || (v->how->unit == GUS_SUM_LOOP && !row->loop)))
		return gus_format("%s\n%s", module, row->function);
	return gus_format("%s\n%s\n%s+%#" PRIx64, module, row->function ? row->function : "", row->loop ? "loop" : "",
			  offset);
}

/* Bounds are of what part of the whole it is; beside them stands how much the whole may be off, as a share of itself:
 * what is all of it is as sure as the total. */
static struct gus_difference_value value_of(uint64_t value, const struct gus_sum_bounds *b, double off)
{
	double v = (double)value, low = v - hypot(v - (double)b->low, off * v);

	return (struct gus_difference_value){ v, low > 0 ? low : 0, v + hypot((double)b->high - v, off * v) };
}

/* Where an instruction is, and what was seen there. A row without a sample and without time has not stayed: windows
 * have executed it. */
static void set_place(struct gus_difference_item *item, const struct gus_diff_side *side,
		      const struct gus_stacks_view *v, const struct gus_sum_row *row, double off)
{
	double whole = (double)v->account->weight, n = (double)v->clues->samples;
	struct gus_interval i = gus_interval_share(whole > 0 ? (double)row->seen / whole : 0, n);

	if (v->how->unit != GUS_SUM_INSTRUCTION)
		return;
	item->within = gus_format("%s\n%s", module_of(side, v, row), row->function ? row->function : "");
	item->offset = row->function ? row->offset - row->start : row->offset;
	item->stayed = row->evidence != GUS_INFERRED && row->weight;
	item->seen = value_of(row->seen, &(struct gus_sum_bounds){ (uint64_t)(i.low * whole),
			      (uint64_t)(i.high * whole) }, off);
}

/* What one sample stands for. */
static double period_of(const struct gus_stacks_view *v)
{
	return v->clues->samples ? (double)v->account->weight / (double)v->clues->samples : 0;
}

/* Whether a clock's or cycles' periods are added up. That sum is the time that was counted but for what each thread has
 * left over of its last period: it is no number of events that came by chance, and two runs of the same work may have
 * nearly the same. Where it is known how runs differ that is all there is to heed. (A clock that is stopped in the
 * kernel counts by chance, as far as there is time in it; so do runs then differ.) */
static bool is_counted(const struct gus_diff_side *side, const struct gus_stacks_view *v)
{
	enum gus_sampler sampler = v->clues->sampler;

	return side->many && !side->shares && (sampler == GUS_SAMPLER_TIME || sampler == GUS_SAMPLER_DISPATCHED);
}

/* Likewise of one thread: where each has events of its own, and not each CPU, or nobody knows. */
static bool is_thread_counted(const struct gus_diff_side *side, const struct gus_stacks_view *v)
{
	const Gusprof__Header *h = v->clues->profile.header;

	return is_counted(side, v) && v->how->unit == GUS_SUM_THREAD && !h->origin &&
		strcmp(h->target, "system") != 0 && strcmp(h->target, "cgroup") != 0;
}

/* How far the whole may be off, by sampling alone. */
static double off_of(const struct gus_diff_side *side, const struct gus_stacks_view *v)
{
	double n = (double)v->clues->samples;

	if (!n)
		return (double)v->account->weight;
	return period_of(v) * (is_counted(side, v) ? sqrt((double)v->clues->threads.n) : NORMAL_95 * sqrt(n));
}

static struct gus_difference_value row_value_of(const struct gus_diff_side *side, const struct gus_stacks_view *v,
						const struct gus_sum_row *row, double off)
{
	double value = (double)row->weight, period = period_of(v);

	return is_thread_counted(side, v) ?
		(struct gus_difference_value){ value, fmax(0, value - period), value + period } :
		value_of(row->weight, &row->bounds, off);
}

static void take_row(struct gus_diff_side *side, const struct gus_stacks_view *v, const struct gus_sum_row *row,
		     double off)
{
	struct gus_difference_item item = { .key = key_of(side, v, row), .name = gus_stacks_name(v, row),
		.function = row->function ? gus_strdup(row->function) : NULL,
		.v = row_value_of(side, v, row, off) };

	for (size_t i = 0; i < row->stack.n; i++)
		gus_difference_add_part(&item, &(struct gus_difference_part){ row->stack.v[i].what,
			value_of(row->stack.v[i].weight, &row->parts.v[i], off) });
	set_place(&item, side, v, row, off);
	gus_difference_add(&side->rows, &item);
}

void gus_diff_take(struct gus_diff_side *side, const struct gus_stacks_view *v)
{
	const Gusprof__Header *h = v->clues->profile.header;
	double weight = (double)v->account->weight, off = off_of(side, v);

	take_program(side, v);
	gus_difference_side_init(&side->rows);
	side->event = gus_strdup(v->event);
	side->ns = v->clues->profile.event < h->n_events &&
		strcmp(h->events[v->clues->profile.event]->unit, "ns") == 0;
	side->samples = v->clues->samples;
	side->rows.total = (struct gus_difference_value){ weight, weight - off, weight + off };
	side->rows.unseen = NONE_95 * period_of(v);
	for (size_t i = 0; i < v->sums->rows.n; i++)
		take_row(side, v, &v->sums->rows.v[i], side->shares || !weight ? 0 : off / weight);
}

void gus_diff_pool(struct gus_diff_side *into, const struct gus_diff_side *sides, size_t n)
{
	struct gus_difference_side *rows = gus_resize(NULL, n, sizeof(*rows));

	*into = sides[0];
	into->event = gus_strdup(sides[0].event);
	into->program = sides[0].program ? gus_strdup(sides[0].program) : NULL;
	gus_strings_init(&into->modules);
	into->samples = 0;
	for (size_t i = 0; i < n; i++) {
		rows[i] = sides[i].rows;
		into->samples += sides[i].samples;
	}
	gus_difference_pool(&into->rows, rows, n);
	free(rows);
}

void gus_diff_side_free(struct gus_diff_side *side)
{
	if (!side->event)
		return;
	gus_difference_side_free(&side->rows);
	gus_strings_free(&side->modules);
	free(side->program);
	free(side->event);
}
