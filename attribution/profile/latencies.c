/* SPDX-License-Identifier: MIT */
#include "attribution/profile/latencies.h"

#include <stdlib.h>

#include "attribution/statistics/quantile.h"

#define SETTLE_FROM 65536 /* entries that are not settled yet: below it is not worth the work */
#define RECENT 4096u      /* a power of two */

static int by_cycles(const void *a, const void *b)
{
	const struct gus_latency *x = a, *y = b;

	return x->cycles < y->cycles ? -1 : x->cycles > y->cycles;
}

/* Which number an entry is to have: its own, or what stands there for it. */
struct renumbering { const uint32_t *to; size_t n; };

static uint32_t new_number(const struct renumbering *r, uint32_t of)
{
	return !r->to ? of : of < r->n ? r->to[of] : UINT32_MAX;
}

/* By number, each in the place that it has by how many have smaller ones. */
static struct gus_latency_values scattered(const struct gus_latency_values *from, const struct renumbering *r)
{
	struct gus_latency_values sorted = { 0 };
	size_t *at, most = 0;

	for (size_t i = 0; i < from->n; i++) {
		uint32_t of = new_number(r, from->v[i].of);

		most = of != UINT32_MAX && of > most ? of : most;
		sorted.n += of != UINT32_MAX;
	}
	at = gus_zalloc((most + 2) * sizeof(*at));
	gus_vec_reserve(&sorted, sorted.n);
	for (size_t i = 0; i < from->n; i++) {
		uint32_t of = new_number(r, from->v[i].of);

		if (of != UINT32_MAX)
			at[of + 1]++;
	}
	for (size_t i = 1; i <= most; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < from->n; i++) {
		uint32_t of = new_number(r, from->v[i].of);

		if (of != UINT32_MAX)
			sorted.v[at[of]++] = (struct gus_latency){ of, from->v[i].n, from->v[i].cycles };
	}
	free(at);
	return sorted;
}

/* Of what is in the order of numbers: orders each by cycles, and puts equal ones together. */
static void put_together(struct gus_latency_values *all)
{
	struct gus_latency *v = all->v;
	size_t n = 0;

	for (size_t i = 0, end; i < all->n; i = end) {
		for (end = i; end < all->n && v[end].of == v[i].of; end++)
			;
		qsort(v + i, end - i, sizeof(*v), by_cycles);
	}
	for (size_t i = 0; i < all->n; i++) {
		if (n && v[n - 1].of == v[i].of && v[n - 1].cycles == v[i].cycles &&
		    v[n - 1].n <= UINT32_MAX - v[i].n)
			v[n - 1].n += v[i].n;
		else
			v[n++] = v[i];
	}
	all->n = n;
}

void gus_latency_settle(struct gus_latency_list *list)
{
	struct gus_latency_values sorted;

	if (list->settled == list->all.n)
		return;
	sorted = scattered(&list->all, &(struct renumbering){ 0 });
	gus_vec_free(&list->all);
	put_together(&sorted);
	list->all = sorted;
	list->settled = sorted.n;
}

struct gus_latency_list gus_latency_regrouped(const struct gus_latency_list *list, const uint32_t *to, size_t n)
{
	struct gus_latency_list groups = { .all = scattered(&list->all, &(struct renumbering){ to, n }) };

	put_together(&groups.all);
	groups.settled = groups.all.n;
	return groups;
}

/* Most are like one a moment before. The others are put together whenever the list has doubled, so that takes a
 * logarithm of the work and twice the room at most. */
void gus_latency_add(struct gus_latency_list *list, uint32_t of, uint64_t cycles)
{
	uint64_t mixed = (cycles ^ (uint64_t)of << 32) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t *recent;
	struct gus_latency *found;

	/* What `recent` says of them is anything then, and is looked at before it counts. */
	if (list->all.n >= 2 * list->settled + SETTLE_FROM)
		gus_latency_settle(list);
	if (!list->recent)
		list->recent = gus_zalloc(RECENT * sizeof(*list->recent));
	recent = &list->recent[mixed >> 32 & (RECENT - 1)];
	found = *recent < list->all.n ? &list->all.v[*recent] : NULL;
	if (found && found->of == of && found->cycles == cycles && found->n < UINT32_MAX) {
		found->n++;
		return;
	}
	*recent = (uint32_t)list->all.n;
	gus_vec_push(&list->all, (struct gus_latency){ of, 1, cycles });
}

void gus_latency_free(struct gus_latency_list *list)
{
	gus_vec_free(&list->all);
	free(list->recent);
	*list = (struct gus_latency_list){ 0 };
}

/* The value of that rank, from 1 on. */
static uint64_t ranked(const struct gus_latency *ordered, size_t n, uint64_t rank)
{
	size_t i = 0;

	for (uint64_t passed = 0; i + 1 < n && (passed += ordered[i].n) < rank; i++)
		;
	return ordered[i].cycles;
}

static struct gus_latency_quantile quantile(const struct gus_latency *ordered, size_t n, uint64_t all, unsigned percent)
{
	struct gus_quantile_bounds bounds = gus_quantile_bounds(all, percent);

	return (struct gus_latency_quantile){
		.cycles = ranked(ordered, n, gus_quantile_rank(all, percent)),
		.low = bounds.low ? ranked(ordered, n, bounds.low) : 0, .has_low = bounds.low != 0,
		.high = bounds.high ? ranked(ordered, n, bounds.high) : 0, .has_high = bounds.high != 0 };
}

/* Of hardware's own words a sum fits for ages; those of strangers need not. */
static uint64_t sum_of(const struct gus_latency *v, size_t n)
{
	uint64_t sum = 0, more;

	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(v[i].cycles, v[i].n, &more) || __builtin_add_overflow(sum, more, &sum))
			return UINT64_MAX;
	return sum;
}

struct gus_latencies gus_latencies_of(const struct gus_latency *ordered, size_t n)
{
	struct gus_latencies l = { 0 };

	for (size_t i = 0; i < n; i++)
		l.n += ordered[i].n;
	if (!l.n)
		return l;
	l.median = quantile(ordered, n, l.n, 50);
	l.ninety = quantile(ordered, n, l.n, 90);
	l.longest = ordered[n - 1].cycles;
	l.sum = sum_of(ordered, n);
	return l;
}
