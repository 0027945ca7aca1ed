/* SPDX-License-Identifier: MIT */
#include "attribution/proportional/seen.h"

#include <stdlib.h>

#include "attribution/proportional/groups.h"
#include "proto/psv.h"
#include "proto/sample.h"

enum { NOWHERE = UINT32_MAX };

struct place_key { uint64_t address, behind; };
struct range_key { uint64_t from, to; };
struct execution_key { uint64_t address, psv, known; };

void gus_seen_init(struct gus_seen *s)
{
	*s = (struct gus_seen){ 0 };
	gus_index_init(&s->by_place, sizeof(struct place_key));
	gus_index_init(&s->by_range, sizeof(struct range_key));
	gus_index_init(&s->by_execution, sizeof(struct execution_key));
	gus_index_init(&s->by_retired, sizeof(uint64_t));
}

void gus_seen_free(struct gus_seen *s)
{
	gus_index_free(&s->by_place);
	gus_index_free(&s->by_range);
	gus_index_free(&s->by_execution);
	gus_index_free(&s->by_retired);
	gus_vec_free(&s->places);
	gus_vec_free(&s->ranges);
	gus_vec_free(&s->executions);
	gus_vec_free(&s->retired);
}

static void add_range(struct gus_seen *s, uint64_t from, uint64_t to, double rate)
{
	struct range_key key = { from, to };
	bool is_new;
	uint32_t number;

	if (!from || !to || from > to)
		return;
	number = gus_index_add(&s->by_range, &key, &is_new);
	if (is_new)
		gus_vec_push(&s->ranges, (struct gus_seen_range){ from, to, 0 });
	s->ranges.v[number].rate += rate;
}

/* What was executed between the oldest branch and the newest, in so many cycles. A stack is of a moment in time, so the
 * mean over all stacks of executions a cycle is that of the run. */
static void add_stack(struct gus_seen *s, const struct gus_sample *sample, gus_seen_map *map, void *context)
{
	uint64_t cycles = 0;

	for (uint32_t i = 0; i + 1 < sample->branches_n; i++)
		cycles += sample->branches[i].cycles;
	if (!cycles)
		return;
	s->stacks++;
	for (uint32_t i = 0; i + 1 < sample->branches_n; i++)
		add_range(s, map(context, sample, sample->branches[i + 1].to),
			  map(context, sample, sample->branches[i].from), 1 / (double)cycles);
}

void gus_seen_time(struct gus_seen *s, const struct gus_sample *sample, uint64_t address, gus_seen_map *map,
		   void *context)
{
	const struct gus_branch *newest = sample->branches_n ? &sample->branches[0] : NULL;
	struct place_key key = { address, newest && (newest->flags & GUS_BRANCH_MISPREDICTED) &&
		newest->to == sample->ip };
	bool is_new;
	uint32_t number = gus_index_add(&s->by_place, &key, &is_new);

	if (is_new)
		gus_vec_push(&s->places, (struct gus_seen_place){ address, key.behind, 0, 0 });
	s->places.v[number].samples++;
	s->places.v[number].weight += (double)sample->period;
	s->time++;
	s->weight += (double)sample->period;
	if (map)
		add_stack(s, sample, map, context);
}

/* What retires in the same cycle as what is before it has a latency of 0: a sample may say so, or nothing. */
static void add_retired(struct gus_seen *s, const struct gus_sample *sample, uint64_t address)
{
	bool is_new, head = (sample->told & GUS_TOLD_RETIRE) && sample->retire_latency;
	uint32_t number = gus_index_add(&s->by_retired, &address, &is_new);
	struct gus_seen_retired *r;

	if (is_new)
		gus_vec_push(&s->retired, (struct gus_seen_retired){ .address = address });
	r = &s->retired.v[number];
	r->samples++;
	r->heads += head;
	r->waited += head ? sample->retire_latency - 1u : 0;
	s->told += head;
}

void gus_seen_execution(struct gus_seen *s, const struct gus_sample *sample, uint64_t address)
{
	uint16_t psv = sample->events & GUS_PSV_ALL;
	uint16_t known = (sample->events | sample->events >> 16) & GUS_PSV_ALL;
	struct execution_key key = { address, psv, known };
	bool is_new;
	uint32_t number = gus_index_add(&s->by_execution, &key, &is_new);

	if (is_new)
		gus_vec_push(&s->executions, (struct gus_seen_execution){ address, psv, known, 0 });
	s->executions.v[number].samples++;
	s->executed++;
	add_retired(s, sample, address);
}

/* Sites by address, and what begins to be executed at each of them, or has ended before it. */
struct edge { uint64_t address; uint32_t site; double rate; };
struct edges gus_vec(struct edge);

static int by_address(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The first at or behind an address. */
static size_t find_edge(const struct edges *e, uint64_t address)
{
	size_t low = 0, high = e->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e->v[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void gus_seen_ranges(const struct gus_seen *s, const struct gus_groups *g, struct gus_seen_counts *out)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);
	struct edges edges = { 0 };
	double rate = 0;

	for (size_t i = 0; i < c->sites.n; i++)
		gus_vec_push(&edges, (struct edge){ c->sites.v[i].address, (uint32_t)i, 0 });
	gus_vec_push(&edges, (struct edge){ UINT64_MAX, NOWHERE, 0 });
	qsort(edges.v, edges.n, sizeof(*edges.v), by_address);
	for (size_t i = 0; i < s->ranges.n; i++) {
		const struct gus_seen_range *r = &s->ranges.v[i];

		edges.v[find_edge(&edges, r->from)].rate += r->rate;
		edges.v[find_edge(&edges, r->to + 1)].rate -= r->rate;
	}
	for (size_t i = 0; i < edges.n; i++) {
		rate += edges.v[i].rate;
		if (edges.v[i].site != NOWHERE && s->stacks)
			gus_vec_push(out, (struct gus_site_count){ edges.v[i].site, false,
				     rate > 0 ? rate / (double)s->stacks : 0 });
	}
	gus_vec_free(&edges);
}

/* Samples of an execution, where each op or each instruction is as likely as any other. */
static double per_execution(const struct gus_groups_site *site, bool ops)
{
	return ops && site->slots ? site->slots : site->weight;
}

double gus_seen_executions(const struct gus_seen *s, const struct gus_groups *g, bool ops, double ipc,
			   struct gus_seen_counts *out)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);
	double *of = gus_zalloc(c->sites.n * sizeof(*of)), nowhere = 0, instructions = 0;

	for (size_t i = 0; i < s->executions.n; i++) {
		const struct gus_seen_execution *e = &s->executions.v[i];
		uint32_t site = gus_groups_site(g, e->address);
		double times = (double)e->samples;

		if (site == NOWHERE) {
			nowhere += times / (double)s->executed;
			instructions += times; /* as if it had one op, and was not fused */
			continue;
		}
		times /= per_execution(&c->sites.v[site], ops);
		of[site] += times;
		instructions += times * c->sites.v[site].weight;
	}
	for (size_t i = 0; i < c->sites.n; i++)
		gus_vec_push(out, (struct gus_site_count){ (uint32_t)i, false,
			     instructions > 0 ? of[i] / instructions * ipc : 0 });
	free(of);
	return nowhere;
}

void gus_seen_retired(const struct gus_seen *s, const struct gus_groups *g, double ipc, struct gus_seen_counts *heads,
		      struct gus_seen_counts *waited)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);
	double instructions = 0;

	for (size_t i = 0; i < s->retired.n; i++)
		instructions += (double)s->retired.v[i].samples;
	for (size_t i = 0; i < s->retired.n; i++) {
		const struct gus_seen_retired *r = &s->retired.v[i];
		uint32_t site = gus_groups_site(g, r->address);
		double scale;

		if (site == NOWHERE)
			continue;
		scale = ipc / instructions / per_execution(&c->sites.v[site], false);
		gus_vec_push(heads, (struct gus_site_count){ site, false, (double)r->heads * scale });
		gus_vec_push(waited, (struct gus_site_count){ site, false, (double)r->waited * scale });
	}
}
