/* SPDX-License-Identifier: MIT */
/* Routes from branch stacks (Intel's LBR, AMD's LbrExtV2, Arm's BRBE; Chen, Li and Moseley, CGO 2016, make block counts
 * of the same ranges). Between two neighbours of a stack everything was executed from the target of the older branch to
 * the address of the newer one: a range. Its verdict is found once, when it is first seen, and with it its code is cut.
 *
 * A stack is its ranges from the oldest to the newest, up to one that cannot have been; there the sequence ends and the
 * next begins. Sequences are kept as a tree: a node is a sequence, and its children go on with one more range each.
 * Most stacks of a program are alike, so the tree is small and a sequence that comes again is a number that goes up.
 * Only where it ends it is counted, so that a route's count is not in the count of those it begins with.
 *
 * What adds up: each good range counts its blocks once and the branch at its end once. So the branches from a block are
 * its `taken`, the ranges of all verdicts are the pairs of neighbours in all stacks, and neither needs a correction for
 * the length of a stack. */
#include "attribution/routes/private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "attribution/profile/frames.h"
#include "base/error.h"
#include "proto/sample.h"

#define NONE GUS_ROUTES_NONE
#define BRANCH_ANY 8u         /* PERF_SAMPLE_BRANCH_ANY */
#define NODES_MAX (1u << 21)  /* of the tree: some 100 MB */

struct range_key { uint64_t from, to; uint32_t module, zero; };
struct range { uint64_t count; enum gus_range_verdict verdict; uint32_t step, steps_n; };
struct node_key { uint32_t before, range; };
struct edge_key { struct route_place from, to; };
struct edge { uint64_t count, told, mispredicted; };

struct stacks {
	struct gus_routes *r;
	struct gus_profile *p;
	struct route_cutter cutter;
	struct gus_index range_keys, node_keys, edge_keys;
	struct gus_vec(struct range) ranges;
	struct gus_vec(uint64_t) ends;          /* of each node: sequences that end there; node 0 is the root */
	struct gus_vec(struct edge) edges;
	struct gus_vec(uint32_t) steps;         /* blocks of the ranges */
	struct gus_columns batch;
};

/* Reading. */

static struct gus_place place_of(struct stacks *k, const struct gus_sample *s, uint64_t address)
{
	return gus_space_find(k->p->space, s->pid, s->time, address, address >> 63 ? GUS_MODE_KERNEL : GUS_MODE_USER);
}

/* The branch at the end of a range. That of no range, the oldest of a stack, is not counted, so that branches add up to
 * ranges. */
static void take_branch(struct stacks *k, const struct gus_branch *b, struct gus_place from, struct gus_place to)
{
	struct edge_key key = { { from.offset, from.module, 0 }, { to.offset, to.module, 0 } };
	bool is_new;
	uint32_t number = gus_index_add(&k->edge_keys, &key, &is_new);
	struct edge *e;

	if (is_new)
		gus_vec_push(&k->edges, (struct edge){ 0 });
	e = &k->edges.v[number];
	e->count++;
	e->told += (b->flags & (GUS_BRANCH_MISPREDICTED | GUS_BRANCH_PREDICTED)) != 0;
	e->mispredicted += (b->flags & GUS_BRANCH_MISPREDICTED) != 0;
}

/* What can be seen without the code; then the code is read once for each range. Both ends in one module are not enough
 * for one mapping: a file may be mapped twice, and then the distances in the file and in memory differ. */
static enum gus_range_verdict judge(struct stacks *k, uint64_t length, struct gus_place from, struct gus_place to,
				    uint32_t *number)
{
	struct range_key key = { from.offset, to.offset, from.module, 0 };
	bool is_new;

	if (from.module != to.module || to.offset - from.offset != length)
		return GUS_RANGE_APART;
	if ((int64_t)length < 0)
		return GUS_RANGE_BACKWARDS;
	if (length > GUS_RANGE_MAX)
		return GUS_RANGE_LONG;
	*number = gus_index_add(&k->range_keys, &key, &is_new);
	if (is_new)
		gus_vec_push(&k->ranges, (struct range){
			.verdict = gus_routes_cutter_line(&k->cutter, from.module, from.offset, to.offset) });
	return k->ranges.v[*number].verdict;
}

/* The sequence that goes on with a range. Where there is no room for a new one it ends, and another begins. */
static uint32_t extend(struct stacks *k, uint32_t node, uint32_t range)
{
	struct node_key key = { node, range };
	uint32_t next = gus_index_find(&k->node_keys, &key);

	if (next != GUS_INDEX_NONE)
		return next;
	if (k->node_keys.n == NODES_MAX) {
		k->ends.v[node]++;
		k->r->crowded++;
		return 0;
	}
	gus_vec_push(&k->ends, 0);
	return gus_index_add(&k->node_keys, &key, NULL);
}

/* From the oldest branch to the newest. */
static void take_stack(struct stacks *k, const struct gus_sample *s)
{
	struct gus_place reached = { 0 };
	uint32_t node = 0;

	for (uint32_t i = s->branches_n; i-- > 0;) {
		const struct gus_branch *b = &s->branches[i];
		struct gus_place from = place_of(k, s, b->from), to = place_of(k, s, b->to);
		enum gus_range_verdict verdict;
		uint32_t range = NONE;

		if (i + 1 < s->branches_n) {
			verdict = judge(k, b->from - s->branches[i + 1].to, reached, from, &range);
			k->r->ranges[verdict]++;
			if (verdict == GUS_RANGE_GOOD) {
				k->ranges.v[range].count++;
				take_branch(k, b, from, to);
				node = extend(k, node, range);
			} else {
				k->ends.v[node]++;
				node = 0;
			}
		}
		reached = to;
	}
	k->ends.v[node]++; /* that of the root means nothing */
}

static void take_batch(void *context, const struct gus_frame *frame)
{
	struct stacks *k = context;

	if (gus_frame_rows(frame, &k->batch, NULL) != 0)
		return; /* counted as damage when the profile was loaded */
	for (size_t i = 0; i < k->batch.n; i++) {
		struct gus_sample s = gus_columns_sample(&k->batch, i);

		if (s.event != k->p->event)
			continue;
		k->r->samples++;
		k->r->stacks += s.branches_n > 1;
		take_stack(k, &s);
	}
}

/* Making. */

/* The blocks of each range, with its count. */
static void count_blocks(struct stacks *k)
{
	for (uint32_t i = 0; i < k->ranges.n; i++) {
		const struct range_key *key = gus_index_key(&k->range_keys, i);
		struct range *range = &k->ranges.v[i];
		struct gus_route_block *b = NULL;
		uint32_t at;

		if (range->verdict != GUS_RANGE_GOOD)
			continue;
		range->step = (uint32_t)k->steps.n;
		at = gus_routes_block_at(&k->cutter, key->module, key->from);
		for (; !b || b->offset + b->size <= key->to; at = b->behind) {
			assert(at != NONE);
			b = &k->r->blocks.v[at];
			b->count += (double)range->count;
			gus_vec_push(&k->steps, at);
		}
		range->steps_n = (uint32_t)k->steps.n - range->step;
		if (gus_routes_branches(b->class))
			b->taken += (double)range->count;
	}
}

static uint32_t block_ending_at(const struct stacks *k, const struct route_place *place)
{
	const struct gus_route_block *b = gus_routes_ending_at(k->r, place->module, place->offset);

	return b ? (uint32_t)(b - k->r->blocks.v) : NONE;
}

/* Those whose target is elsewhere are one edge for all places there. */
static void make_edges(struct stacks *k)
{
	for (uint32_t i = 0; i < k->edges.n; i++) {
		const struct edge_key *key = gus_index_key(&k->edge_keys, i);
		const struct edge *e = &k->edges.v[i];
		struct gus_route_edge edge = { .count = (double)e->count, .taken = true, .told = e->told,
					       .mispredicted = e->mispredicted };

		edge.from = block_ending_at(k, &key->from);
		edge.to = gus_routes_block_at(&k->cutter, key->to.module, key->to.offset);
		if (edge.from != NONE) {
			k->r->blocks.v[edge.from].told += e->told;
			k->r->blocks.v[edge.from].mispredicted += e->mispredicted;
		}
		gus_vec_push(&k->r->edges, edge);
	}
	gus_routes_sort_edges(k->r);
}

/* A route for each node at which sequences end: its ranges are the way to the root. */
static void make_routes(struct stacks *k)
{
	struct gus_vec(uint32_t) way = { 0 };

	for (uint32_t node = 1; node < k->node_keys.n; node++) {
		struct gus_route route = { .step = (uint32_t)k->r->steps.n, .count = k->ends.v[node] };

		way.n = 0;
		for (uint32_t at = node; route.count && at;) {
			const struct node_key *key = gus_index_key(&k->node_keys, at);

			gus_vec_push(&way, key->range);
			at = key->before;
		}
		for (size_t i = way.n; i-- > 0;) {
			const struct range *range = &k->ranges.v[way.v[i]];

			gus_vec_append(&k->r->steps, k->steps.v + range->step, range->steps_n);
		}
		route.steps_n = (uint32_t)k->r->steps.n - route.step;
		if (route.count)
			gus_vec_push(&k->r->routes, route);
	}
	gus_vec_free(&way);
}

static int check(const struct stacks *k, struct gus_error *err)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < GUS_RANGE_VERDICTS; i++)
		all += k->r->ranges[i];
	if (k->r->ranges[GUS_RANGE_GOOD])
		return 0;
	if (!k->r->stacks)
		return gus_fail(err, GUS_E_NOT_FOUND, "no sample of this recording has two branches: there are no "
				"paths to be told");
	return gus_fail(err, GUS_E_NOT_FOUND, "none of the %" PRIu64 " stretches between recorded branches can be "
			"followed: %" PRIu64 " have no code here, because their files are missing or have changed, "
			"and the others cannot have been", all, k->r->ranges[GUS_RANGE_NO_CODE]);
}

int gus_routes_of_stacks(struct gus_routes *r, struct gus_reader *reader, struct gus_profile *p, struct gus_error *err)
{
	struct stacks k = { .r = r, .p = p };
	int rc;

	if (!(p->header->branch_type & BRANCH_ANY))
		return gus_fail(err, GUS_E_UNSUPPORTED, "this recording holds only some kinds of branches (record -j), "
				"and what was executed between them is not known; record -b holds all");
	r->source = GUS_ROUTES_STACKS;
	gus_routes_cutter_init(&k.cutter, r, p);
	gus_index_init(&k.range_keys, sizeof(struct range_key));
	gus_index_init(&k.node_keys, sizeof(struct node_key));
	gus_index_init(&k.edge_keys, sizeof(struct edge_key));
	gus_index_add(&k.node_keys, &(struct node_key){ NONE, NONE }, NULL);
	gus_vec_push(&k.ends, 0);
	rc = gus_frames_each(reader, 1u << GUS_FRAME_SAMPLES, take_batch, &k, err);
	if (rc == 0)
		rc = check(&k, err);
	if (rc == 0) {
		gus_routes_cutter_blocks(&k.cutter);
		count_blocks(&k);
		make_edges(&k);
		make_routes(&k);
	}
	gus_routes_cutter_free(&k.cutter);
	gus_index_free(&k.range_keys);
	gus_index_free(&k.node_keys);
	gus_index_free(&k.edge_keys);
	gus_vec_free(&k.ranges);
	gus_vec_free(&k.ends);
	gus_vec_free(&k.edges);
	gus_vec_free(&k.steps);
	gus_columns_free(&k.batch);
	return rc;
}
