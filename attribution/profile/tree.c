/* SPDX-License-Identifier: MIT */
/* A node stands for several calls at once: for all that have the same functions on the way to it. They are its items.
 * To find out what is below a node its items are replaced by their neighbours, which are callers or what is called;
 * these are sorted by function, and each run of one function is a node below. Light ones are dropped there,
 * before anybody looks at what is below them, so a tree with a threshold costs what can be seen of it.
 *
 * Nodes to come wait on a stack, and so do their items, the next node's last: what a tree takes beside itself is one
 * way down and its branches. */
#include "attribution/profile/tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/calls.h"
#include "base/ascending.h"

struct item {
	uint32_t callee;          /* by which it is sorted */
	uint32_t call;
	uint64_t weight, samples;
};

/* A node to come; its items are the last ones when its turn comes. */
struct waiting { uint32_t callee, depth, parent; size_t items; uint64_t weight, samples; };

struct grower {
	struct gus_tree *tree;
	const struct gus_calls *c;
	const struct gus_tree_limits *limits;
	const struct gus_called *part;      /* down: all calls, or copies with part of their weight; NULL: up */
	struct gus_vec(struct item) items, near;
	struct gus_vec(struct waiting) waiting, groups;
	struct gus_vec(uint32_t) open;    /* nodes on the way to the last one */
};

static int by_callee(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static int by_weight(const void *a, const void *b, void *context)
{
	const struct waiting *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return gus_callee_order(context, x->callee, y->callee);
}

/* The items' neighbours go to g->near. What has none is the node's own. */

static void look_down(struct grower *g, struct gus_tree_node *node, const struct item *item)
{
	const struct gus_called *part = g->part, *call = &part[item->call];

	node->own += call->own;
	node->own_samples += call->own_samples;
	for (uint32_t to = call->first; to; to = part[to].next)
		gus_vec_push(&g->near, (struct item){ part[to].callee, to, part[to].weight, part[to].samples });
}

static void look_up(struct grower *g, struct gus_tree_node *node, const struct item *item)
{
	uint32_t to = item->call;

	if (!to) {
		node->own += item->weight;
		node->own_samples += item->samples;
		return;
	}
	gus_vec_push(&g->near, (struct item){ g->c->calls.v[to].callee, to, item->weight, item->samples });
}

static bool is_light(const struct grower *g, const struct gus_tree_node *above, const struct waiting *w)
{
	bool of_parent = g->limits->shares == GUS_TREE_OF_PARENT;
	uint64_t of = of_parent ? above->weight : g->c->calls.v[0].weight;

	if (g->limits->depth && w->depth > g->limits->depth)
		return true;
	return (double)w->weight < g->limits->least * (double)of;
}

/* Runs of one function become groups; w->items is where in g->near one begins. Upwards the items then stand for their
 * callers. */
static void group(struct grower *g, const struct gus_tree_node *above, uint32_t parent)
{
	struct item *v = g->near.v;

	if (g->near.n > 1)
		qsort(v, g->near.n, sizeof(*v), by_callee);
	g->groups.n = 0;
	for (size_t i = 0; i < g->near.n; i++) {
		if (!i || v[i].callee != v[i - 1].callee)
			gus_vec_push(&g->groups, (struct waiting){ v[i].callee, above->depth + 1, parent, i, 0, 0 });
		g->groups.v[g->groups.n - 1].weight += v[i].weight;
		g->groups.v[g->groups.n - 1].samples += v[i].samples;
		if (!g->part)
			v[i].call = g->c->calls.v[v[i].call].caller;
	}
	if (g->groups.n > 1)
		qsort_r(g->groups.v, g->groups.n, sizeof(*g->groups.v), by_weight, (void *)(uintptr_t)g->c);
}

/* The groups wait, the heaviest to come next; those that are too light are only counted. */
static void let_wait(struct grower *g, struct gus_tree_node *above)
{
	for (size_t i = g->groups.n; i--; ) {
		struct waiting w = g->groups.v[i];
		size_t from = w.items;

		if (is_light(g, above, &w)) {
			above->left_out++;
			above->left_out_weight += w.weight;
			above->left_out_samples += w.samples;
			continue;
		}
		w.items = g->items.n;
		for (; from < g->near.n && g->near.v[from].callee == w.callee; from++)
			gus_vec_push(&g->items, g->near.v[from]);
		gus_vec_push(&g->waiting, w);
	}
}

static void end_nodes(struct grower *g, uint32_t depth)
{
	for (; g->open.n > depth; g->open.n--)
		g->tree->nodes.v[g->open.v[g->open.n - 1]].end = (uint32_t)g->tree->nodes.n;
}

static void grow_node(struct grower *g)
{
	struct waiting w = g->waiting.v[--g->waiting.n];
	struct gus_tree_node node = { .callee = w.callee, .depth = w.depth, .parent = w.parent, .weight = w.weight,
				      .samples = w.samples };
	uint32_t number = (uint32_t)g->tree->nodes.n;

	end_nodes(g, w.depth);
	g->near.n = 0;
	for (size_t i = w.items; i < g->items.n; i++) {
		if (g->part)
			look_down(g, &node, &g->items.v[i]);
		else
			look_up(g, &node, &g->items.v[i]);
	}
	g->items.n = w.items;
	group(g, &node, number);
	let_wait(g, &node);
	gus_vec_push(&g->open, number);
	gus_vec_push(&g->tree->nodes, node);
}

/* The parts of each node are the node, whatever was left out. */
static void check_sums(const struct gus_tree *t)
{
	uint64_t *left = gus_zalloc(t->nodes.n * sizeof(*left));

	for (size_t i = 0; i < t->nodes.n; i++) {
		const struct gus_tree_node *n = &t->nodes.v[i];

		left[i] += n->weight - n->own - n->left_out_weight;
		if (i)
			left[n->parent] -= n->weight;
	}
	for (size_t i = 0; i < t->nodes.n; i++)
		assert(!left[i]);
	free(left);
}

/* The root's items are in g->items. */
static void grow(struct grower *g)
{
	struct waiting root = { 0 };

	for (size_t i = 0; i < g->items.n; i++) {
		root.weight += g->items.v[i].weight;
		root.samples += g->items.v[i].samples;
	}
	*g->tree = (struct gus_tree){ 0 };
	gus_vec_push(&g->waiting, root);
	while (g->waiting.n)
		grow_node(g);
	end_nodes(g, 0);
	check_sums(g->tree);
	gus_vec_free(&g->items);
	gus_vec_free(&g->near);
	gus_vec_free(&g->waiting);
	gus_vec_free(&g->groups);
	gus_vec_free(&g->open);
}

void gus_tree_all(struct gus_tree *t, const struct gus_calls *c, const struct gus_tree_limits *limits)
{
	gus_tree_below(t, c, &(uint32_t){ 0 }, 1, limits);
}

void gus_tree_below(struct gus_tree *t, const struct gus_calls *c, const uint32_t *calls, size_t n,
		    const struct gus_tree_limits *limits)
{
	struct grower g = { .tree = t, .c = c, .limits = limits, .part = c->calls.v };

	for (size_t i = 0; i < n; i++) {
		const struct gus_called *call = &c->calls.v[calls[i]];

		gus_vec_push(&g.items, (struct item){ 0, calls[i], call->weight, call->samples });
	}
	grow(&g);
}

void gus_tree_up_from(struct gus_tree *t, const struct gus_calls *c, const struct gus_tree_seed *seeds, size_t n,
		      const struct gus_tree_limits *limits)
{
	struct grower g = { .tree = t, .c = c, .limits = limits };

	for (size_t i = 0; i < n; i++)
		gus_vec_push(&g.items, (struct item){ 0, seeds[i].call, seeds[i].weight, seeds[i].samples });
	grow(&g);
}

/* The calls on the way to some seeds, copied with what of their weight is the seeds'. Who makes trees of a thousand
 * rows of a million calls does not want to clear these a thousand times: only what was touched is. */
struct gus_tree_part {
	const struct gus_calls *c;
	struct gus_called *calls;
	bool *there;                      /* by call */
	struct gus_vec(uint32_t) touched;
};

struct gus_tree_part *gus_tree_part_new(const struct gus_calls *c)
{
	struct gus_tree_part *p = gus_zalloc(sizeof(*p));

	p->c = c;
	p->calls = gus_zalloc(c->calls.n * sizeof(*p->calls));
	p->there = gus_zalloc(c->calls.n * sizeof(*p->there));
	return p;
}

void gus_tree_part_free(struct gus_tree_part *p)
{
	if (!p)
		return;
	gus_vec_free(&p->touched);
	free(p->calls);
	free(p->there);
	free(p);
}

static void touch(struct gus_tree_part *p, uint32_t call)
{
	for (; !p->there[call]; call = p->calls[call].caller) {
		const struct gus_called *whole = &p->c->calls.v[call];

		p->there[call] = true;
		p->calls[call] = (struct gus_called){ .caller = whole->caller, .callee = whole->callee };
		gus_vec_push(&p->touched, call);
	}
}

void gus_tree_down_to(struct gus_tree *t, struct gus_tree_part *p, const struct gus_tree_seed *seeds, size_t n,
		      const struct gus_tree_limits *limits)
{
	struct grower g = { .tree = t, .c = p->c, .limits = limits, .part = p->calls };

	touch(p, 0);
	for (size_t i = 0; i < n; i++) {
		touch(p, seeds[i].call);
		p->calls[seeds[i].call].own += seeds[i].weight;
		p->calls[seeds[i].call].own_samples += seeds[i].samples;
	}
	qsort(p->touched.v, p->touched.n, sizeof(*p->touched.v), gus_ascending_u32);
	for (size_t i = p->touched.n; i--; )
		gus_calls_add_up(p->calls, p->touched.v[i]);
	gus_vec_push(&g.items, (struct item){ 0, 0, p->calls[0].weight, p->calls[0].samples });
	grow(&g);
	for (size_t i = 0; i < p->touched.n; i++)
		p->there[p->touched.v[i]] = false;
	p->touched.n = 0;
}

void gus_tree_free(struct gus_tree *t)
{
	gus_vec_free(&t->nodes);
}
