/* SPDX-License-Identifier: MIT */
#include "model/watch/phases.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ascending.h"

/* Ops that cross some border (issue, start, ...) within a bin: how many, and the time from each crossing to the bin's
 * end, summed. With the crossings of earlier bins that is the integral of how many are across. */
struct crossings {
	uint64_t n, area;
};

struct bin {
	struct crossings issued[GUS_INSN_CLASSES], started[GUS_INSN_CLASSES], completed[GUS_INSN_CLASSES],
		retired[GUS_INSN_CLASSES];
	struct crossings loads_in, loads_out, stores_in, stores_out;
	uint64_t instructions, mispredicted;
	struct gus_phases_top regions, lines;
};

struct gus_phases {
	struct bin bins[GUS_PHASES_BINS];
	unsigned shift;                 /* a bin is 1 << shift ticks wide */
	int64_t end;                    /* the last retirement */
	/* time that regions have got until here; the rest until end is the present one's */
	int64_t charged;
	uint32_t region;
};

struct gus_phases *gus_phases_new(void)
{
	struct gus_phases *p = gus_zalloc(sizeof(*p));

	p->shift = (unsigned)__builtin_ctz(GUS_PHASES_NARROWEST);
	return p;
}

void gus_phases_free(struct gus_phases *p)
{
	free(p);
}

/* Misra and Gries, with weights: what finds no place takes as much away from all as from itself. */
static void top_add(struct gus_phases_top *t, uint32_t key, uint64_t weight)
{
	uint64_t least = weight;
	unsigned empty = GUS_PHASES_TOP;

	for (unsigned i = 0; i < GUS_PHASES_TOP; i++) {
		if (t->list[i].weight && t->list[i].key == key) {
			t->list[i].weight += weight;
			return;
		}
		if (!t->list[i].weight)
			empty = i;
		least = t->list[i].weight < least ? t->list[i].weight : least;
	}
	if (empty == GUS_PHASES_TOP) {
		t->others += least * (GUS_PHASES_TOP + 1);
		weight -= least;
		for (unsigned i = 0; i < GUS_PHASES_TOP; i++) {
			t->list[i].weight -= least;
			if (!t->list[i].weight)
				empty = i;
		}
	}
	if (weight) {
		t->list[empty].key = key;
		t->list[empty].weight = weight;
	}
}

/* Two bins as one of twice the width. */

static void merge_top(struct gus_phases_top *into, const struct gus_phases_top *from)
{
	for (unsigned i = 0; i < GUS_PHASES_TOP; i++)
		if (from->list[i].weight)
			top_add(into, from->list[i].key, from->list[i].weight);
	into->others += from->others;
}

/* What crossed in the first one is across for all of the second one. */
static void merge_crossings(struct crossings *into, const struct crossings *from, uint64_t width)
{
	into->area += into->n * width + from->area;
	into->n += from->n;
}

static void merge(struct bin *into, const struct bin *from, uint64_t width)
{
	for (unsigned c = 0; c < GUS_INSN_CLASSES; c++) {
		merge_crossings(&into->issued[c], &from->issued[c], width);
		merge_crossings(&into->started[c], &from->started[c], width);
		merge_crossings(&into->completed[c], &from->completed[c], width);
		merge_crossings(&into->retired[c], &from->retired[c], width);
	}
	merge_crossings(&into->loads_in, &from->loads_in, width);
	merge_crossings(&into->loads_out, &from->loads_out, width);
	merge_crossings(&into->stores_in, &from->stores_in, width);
	merge_crossings(&into->stores_out, &from->stores_out, width);
	into->instructions += from->instructions;
	into->mispredicted += from->mispredicted;
	merge_top(&into->regions, &from->regions);
	merge_top(&into->lines, &from->lines);
}

static void widen(struct gus_phases *p)
{
	for (unsigned i = 0; i < GUS_PHASES_BINS / 2; i++) {
		if (i)
			p->bins[i] = p->bins[2 * i];
		merge(&p->bins[i], &p->bins[2 * i + 1], UINT64_C(1) << p->shift);
	}
	memset(p->bins + GUS_PHASES_BINS / 2, 0, sizeof(p->bins) / 2);
	p->shift++;
}

/* Gives the present region its time, bin by bin. */
static void charge(struct gus_phases *p)
{
	while (p->charged < p->end) {
		int64_t border = ((p->charged >> p->shift) + 1) << p->shift, until = border < p->end ? border : p->end;

		top_add(&p->bins[p->charged >> p->shift].regions, p->region, (uint64_t)(until - p->charged));
		p->charged = until;
	}
}

/* The bin that a time ends: what retires at the border of two belongs to the earlier one, whose time led to it. */
static struct bin *bin_until(struct gus_phases *p, int64_t t)
{
	return &p->bins[t ? (t - 1) >> p->shift : 0];
}

#define CROSS(what, t) \
	do { \
		struct crossings *at_ = &p->bins[(t) >> p->shift].what; \
		at_->n++; \
		at_->area += width - ((uint64_t)(t) & (width - 1)); \
	} while (0)

void gus_phases_note(struct gus_phases *p, const struct gus_phases_op *op)
{
	int64_t last = op->store && op->left > op->retire ? op->left : op->retire;
	uint64_t width;
	struct bin *bin;

	assert(op->issue >= 0 && op->issue <= op->start && op->start <= op->complete && op->complete <= op->retire);
	assert(op->retire >= p->end && (!op->store || op->left >= op->issue) && op->class < GUS_INSN_CLASSES);
	while (last >> p->shift >= GUS_PHASES_BINS)
		widen(p);
	width = UINT64_C(1) << p->shift;
	CROSS(issued[op->class], op->issue);
	CROSS(started[op->class], op->start);
	CROSS(completed[op->class], op->complete);
	CROSS(retired[op->class], op->retire);
	if (op->load) {
		CROSS(loads_in, op->issue);
		CROSS(loads_out, op->retire);
	}
	if (op->store) {
		CROSS(stores_in, op->issue);
		CROSS(stores_out, op->left);
	}
	if (op->region != p->region) {
		charge(p);
		p->region = op->region;
	}
	p->end = op->retire;
	bin = bin_until(p, op->retire);
	bin->instructions += op->instructions;
	if (op->mispredicted) {
		bin->mispredicted++;
		if (op->line)
			top_add(&bin->lines, op->line, 1);
	}
}

/* Bins as they are told. */

/* How many are across at the start of the present bin, by border. */
struct across {
	uint64_t issued[GUS_INSN_CLASSES], started[GUS_INSN_CLASSES], completed[GUS_INSN_CLASSES],
		retired[GUS_INSN_CLASSES];
	uint64_t loads_in, loads_out, stores_in, stores_out;
};

static uint64_t integral(uint64_t *across, const struct crossings *c, uint64_t width)
{
	uint64_t sum = *across * width + c->area;

	*across += c->n;
	return sum;
}

static int by_weight(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return x[0] != y[0] ? (x[0] < y[0] ? 1 : -1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Weights and keys, n of them, of which some may be of the same key. */
static void top_of(struct gus_phases_top *out, uint64_t (*list)[2], size_t n)
{
	size_t keys = 0;

	if (n)
		qsort(list, n, sizeof(*list), by_key);
	for (size_t i = 0; i < n; i++) {
		if (keys && list[keys - 1][1] == list[i][1]) {
			list[keys - 1][0] += list[i][0];
			continue;
		}
		list[keys][0] = list[i][0];
		list[keys++][1] = list[i][1];
	}
	if (keys)
		qsort(list, keys, sizeof(*list), by_weight);
	for (size_t i = 0; i < keys; i++) {
		if (i < GUS_PHASES_TOP) {
			out->list[i].weight = list[i][0];
			out->list[i].key = (uint32_t)list[i][1];
		} else {
			out->others += list[i][0];
		}
	}
}

/* The tops of n parts together. */
static struct gus_phases_top sum_tops(const struct gus_phases_part *parts, size_t n, bool regions)
{
	uint64_t (*list)[2] = gus_resize(NULL, n * GUS_PHASES_TOP + 1, sizeof(*list));
	struct gus_phases_top out = { .others = 0 };
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct gus_phases_top *t = regions ? &parts[i].regions : &parts[i].lines;

		out.others += t->others;
		for (unsigned k = 0; k < GUS_PHASES_TOP; k++) {
			if (!t->list[k].weight)
				continue;
			list[found][0] = t->list[k].weight;
			list[found++][1] = t->list[k].key;
		}
	}
	top_of(&out, list, found);
	free(list);
	return out;
}

/* Integrals of both borders may wrap, their difference does not. */
static void tell_bin(const struct gus_phases *p, const struct bin *b, struct across *a, struct gus_phases_part *part)
{
	uint64_t width = UINT64_C(1) << p->shift;

	for (unsigned c = 0; c < GUS_INSN_CLASSES; c++) {
		uint64_t started = integral(&a->started[c], &b->started[c], width);
		uint64_t completed = integral(&a->completed[c], &b->completed[c], width);

		part->waiting[c] += integral(&a->issued[c], &b->issued[c], width) - started;
		part->executing += started - completed;
		part->stalled[c] += completed - integral(&a->retired[c], &b->retired[c], width);
	}
	part->loads += integral(&a->loads_in, &b->loads_in, width);
	part->loads -= integral(&a->loads_out, &b->loads_out, width);
	part->stores += integral(&a->stores_in, &b->stores_in, width);
	part->stores -= integral(&a->stores_out, &b->stores_out, width);
	part->instructions += b->instructions;
	part->mispredicted += b->mispredicted;
}

/* A bin beyond the last retirement has nothing but stores that leave: it counts with the last one. */
static void tell_bins(const struct gus_phases *p, struct gus_phases_found *found)
{
	struct across across = { .loads_in = 0 };

	for (size_t i = 0; i < GUS_PHASES_BINS; i++) {
		struct gus_phases_part *part = &found->bins[i < found->bins_n ? i : found->bins_n - 1];

		tell_bin(p, &p->bins[i], &across, part);
		if (i >= found->bins_n)
			continue;
		part->from = (int64_t)i << p->shift;
		part->ticks = p->end - part->from < found->width ? p->end - part->from : found->width;
		part->regions = p->bins[i].regions;
		part->lines = p->bins[i].lines;
		part->regions = sum_tops(part, 1, true);
		part->lines = sum_tops(part, 1, false);
		part->region = part->regions.list[0].key;
	}
}

static void add_part(struct gus_phases_part *sum, const struct gus_phases_part *part)
{
	sum->ticks += part->ticks;
	sum->instructions += part->instructions;
	sum->mispredicted += part->mispredicted;
	for (unsigned c = 0; c < GUS_INSN_CLASSES; c++) {
		sum->waiting[c] += part->waiting[c];
		sum->stalled[c] += part->stalled[c];
	}
	sum->executing += part->executing;
	sum->loads += part->loads;
	sum->stores += part->stores;
}

static struct gus_phases_part sum_parts(const struct gus_phases_part *parts, size_t n)
{
	struct gus_phases_part sum = { .from = n ? parts[0].from : 0, .region = n ? parts[0].region : 0 };

	for (size_t i = 0; i < n; i++)
		add_part(&sum, &parts[i]);
	sum.regions = sum_tops(parts, n, true);
	sum.lines = sum_tops(parts, n, false);
	return sum;
}

/* Labels and phases. */

/* How far a window of that width reaches at i of n: as far to the left as to the right. */
static size_t reach(size_t i, size_t n, unsigned window)
{
	size_t half = window / 2;

	half = i < half ? i : half;
	return n - 1 - i < half ? n - 1 - i : half;
}

static size_t votes_for(const uint32_t *labels, size_t first, size_t last, uint32_t label)
{
	size_t votes = 0;

	for (size_t i = first; i <= last; i++)
		votes += labels[i] == label;
	return votes;
}

/* The most frequent label around i; of several its own if it is one of them, else the first. */
static uint32_t vote(const uint32_t *labels, size_t i, size_t n, unsigned window)
{
	size_t half = reach(i, n, window), most = votes_for(labels, i - half, i + half, labels[i]);
	uint32_t best = labels[i];

	for (size_t k = i - half; k <= i + half; k++) {
		size_t votes = votes_for(labels, i - half, i + half, labels[k]);

		if (votes > most) {
			most = votes;
			best = labels[k];
		}
	}
	return best;
}

static void smooth_labels(struct gus_phases_found *found)
{
	uint32_t *labels = gus_resize(NULL, found->bins_n + 1, sizeof(*labels));

	for (size_t i = 0; i < found->bins_n; i++)
		labels[i] = found->bins[i].region;
	for (size_t i = 0; i < found->bins_n; i++)
		found->bins[i].region = vote(labels, i, found->bins_n, found->window);
	free(labels);
}

static void find_phases(struct gus_phases_found *found)
{
	size_t most = 0;

	found->phases = gus_resize(NULL, found->bins_n + 1, sizeof(*found->phases));
	for (size_t i = 0, end; i < found->bins_n; i = end) {
		for (end = i + 1; end < found->bins_n && found->bins[end].region == found->bins[i].region; end++)
			;
		found->phases[found->phases_n++] = (struct gus_phase){ .first = i, .bins = end - i,
			.sum = sum_parts(found->bins + i, end - i) };
	}
	found->all = sum_parts(found->bins, found->bins_n);
	for (size_t i = 0; i < found->phases_n; i++) {
		size_t bins = 0;

		for (size_t k = 0; k < found->phases_n; k++)
			bins += found->phases[k].sum.region == found->phases[i].sum.region ? found->phases[k].bins : 0;
		if (bins > most) {
			most = bins;
			found->all.region = found->phases[i].sum.region;
		}
	}
}

void gus_phases_find(struct gus_phases *p, unsigned window, struct gus_phases_found *found)
{
	size_t n = p->end ? (size_t)((p->end - 1) >> p->shift) + 1 : p->bins[0].instructions ? 1 : 0;

	assert(window & 1);
	charge(p);
	*found = (struct gus_phases_found){ .bins_n = n, .width = INT64_C(1) << p->shift };
	found->window = n / 32 < window ? (unsigned)(n / 32) | 1 : window;
	found->bins = gus_zalloc((n + 1) * sizeof(*found->bins));
	if (n)
		tell_bins(p, found);
	smooth_labels(found);
	find_phases(found);
}

void gus_phases_found_free(struct gus_phases_found *found)
{
	free(found->bins);
	free(found->phases);
	*found = (struct gus_phases_found){ .bins = NULL };
}

enum gus_insn_class gus_phases_waits(const struct gus_phases_part *part)
{
	unsigned most = GUS_INSN_CLASSES;

	for (unsigned c = 0; c < GUS_INSN_CLASSES; c++)
		if (part->waiting[c] && (most == GUS_INSN_CLASSES || part->waiting[c] > part->waiting[most]))
			most = c;
	return (enum gus_insn_class)most;
}

void gus_phases_smooth(const double *in, size_t n, unsigned window, double *out)
{
	double *around = gus_resize(NULL, window, sizeof(*around));

	assert(window & 1);
	for (size_t i = 0; i < n; i++) {
		size_t half = reach(i, n, window);

		memcpy(around, in + i - half, (2 * half + 1) * sizeof(*around));
		qsort(around, 2 * half + 1, sizeof(*around), gus_ascending);
		out[i] = around[half];
	}
	free(around);
}
