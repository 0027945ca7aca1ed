/* SPDX-License-Identifier: MIT */
/* The calls of a profile (attribution/profile/calls.h) are such a tree already. Here they get names, tasks below them
 * if these are wanted, and an order that follows from names alone; what reads the same is one. A node is found by its
 * caller and its frame, and the numbers that frames and nodes have meanwhile are those of first sight. Nothing calls
 * itself, however deep stacks are. */
#include "cli/report/flame_tree.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/calls.h"

#define ROOT 0

struct node_key { uint32_t caller, frame; };
struct end_key { uint32_t base, call; };
struct sum { uint64_t weight, samples; };

struct maker {
	struct gus_flame_tree *t;
	struct gus_profile *p;
	const struct gus_calls *c;
	enum gus_by by;
	struct gus_index frames, nodes;
	struct gus_vec(uint32_t) code_frames; /* by callee */
	struct gus_vec(uint32_t) task_frames; /* by what tells tasks apart in this view */
	struct gus_vec(struct sum) sums;     /* by node */
	struct gus_index ends;               /* the node of a task, or ROOT, and a call ... */
	struct gus_vec(uint32_t) end_nodes;  /* ... : the node that this is above it */
	struct gus_vec(uint32_t) way;        /* calls that are looked at */
	struct gus_vec(uint32_t) rank;       /* of a frame, in the end */
};

/* Frames. */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A program is what is no library by its name: libc.so.6, ld-linux-x86-64.so.2, _ssl.cpython-311.so. */
static bool is_library(const char *path)
{
	const char *base = base_of(path), *at = base;

	while ((at = strstr(at, ".so"))) {
		at += 3;
		if (!*at || *at == '.' || *at == '-')
			return true;
	}
	return false;
}

static enum gus_flame_kind kind_of(const struct gus_module *module, bool inlined)
{
	static const enum gus_flame_kind kinds[] = {
		[GUS_MODULE_UNKNOWN] = GUS_FLAME_UNKNOWN, [GUS_MODULE_FILE] = GUS_FLAME_PROGRAM,
		[GUS_MODULE_KERNEL] = GUS_FLAME_KERNEL, [GUS_MODULE_VDSO] = GUS_FLAME_LIBRARY,
		[GUS_MODULE_ANON] = GUS_FLAME_UNKNOWN, [GUS_MODULE_JIT] = GUS_FLAME_JIT,
	};

	if (inlined)
		return GUS_FLAME_INLINED;
	if (module->kind == GUS_MODULE_FILE && is_library(module->path))
		return GUS_FLAME_LIBRARY;
	return kinds[module->kind];
}

static uint32_t frame_of(struct maker *m, const char *name, const char *module, enum gus_flame_kind kind)
{
	struct gus_flame_frame frame = { gus_strings_add(&m->t->strings, name),
		gus_strings_add(&m->t->strings, module), kind };
	bool is_new;
	uint32_t number = gus_index_add(&m->frames, &frame, &is_new);

	if (is_new)
		gus_vec_push(&m->t->frames, frame);
	return number;
}

/* Of what has no name, its module stands for it: "[libx.so]"; some are in brackets already. */
static uint32_t name_code(struct maker *m, const struct gus_callee *callee)
{
	const struct gus_module *module;
	const char *base;
	char *text;
	uint32_t frame;

	if (callee->kind == GUS_CALLEE_TRUNCATED)
		return frame_of(m, "[truncated]", "", GUS_FLAME_UNKNOWN);
	module = gus_space_module(m->p->space, callee->module);
	base = base_of(module->path);
	if (callee->function)
		return frame_of(m, callee->function, module->path, kind_of(module, callee->inlined));
	text = *base == '[' ? gus_strdup(base) : gus_format("[%s]", base);
	frame = frame_of(m, text, module->path, kind_of(module, false));
	free(text);
	return frame;
}

/* Who executed it. */

/* What a process is called: as its first thread was at its last sample, or, if that had none, in the end. */
static const char *process_comm(const struct gus_profile *p, uint32_t pid)
{
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.v[i].pid == pid && p->threads.v[i].tid == pid)
			return p->threads.v[i].comm;
	return gus_space_comm(p->space, pid, pid, UINT64_MAX);
}

static uint32_t name_task(struct maker *m, const struct gus_cell *cell)
{
	const struct gus_thread *t = &m->p->threads.v[cell->thread];
	const char *comm = t->comm;
	char ids[32] = "", *text;
	uint32_t frame;

	if (m->by == GUS_BY_THREAD)
		snprintf(ids, sizeof(ids), " %" PRIu32 "/%" PRIu32, t->pid, t->tid);
	else if (m->by == GUS_BY_PROCESS)
		snprintf(ids, sizeof(ids), " %" PRIu32, t->pid);
	if (m->by == GUS_BY_PROCESS)
		comm = process_comm(m->p, t->pid);
	else if (m->by == GUS_BY_COMM)
		comm = m->p->comms.v[cell->comm];
	text = gus_format("%s%s", *comm ? comm : "[unnamed]", ids);
	frame = frame_of(m, text, "", GUS_FLAME_TASK);
	free(text);
	return frame;
}

/* A task is named once. */
static uint32_t task_frame(struct maker *m, const struct gus_cell *cell)
{
	uint32_t task = m->by == GUS_BY_COMM ? cell->comm : cell->thread;

	while (m->task_frames.n <= task)
		gus_vec_push(&m->task_frames, GUS_INDEX_NONE);
	if (m->task_frames.v[task] == GUS_INDEX_NONE)
		m->task_frames.v[task] = name_task(m, cell);
	return m->task_frames.v[task];
}

/* Nodes. */

static uint32_t node_below(struct maker *m, uint32_t caller, uint32_t frame)
{
	struct node_key key = { caller, frame };
	bool is_new;
	uint32_t number = gus_index_add(&m->nodes, &key, &is_new);

	if (is_new)
		gus_vec_push(&m->sums, (struct sum){ 0 });
	return number;
}

/* The node of a call above `base`. From the call outwards to where that is known, and back. */
static uint32_t node_of(struct maker *m, uint32_t base, uint32_t call)
{
	struct end_key key = { base, call };
	uint32_t known = GUS_INDEX_NONE, node;

	m->way.n = 0;
	for (; key.call && (known = gus_index_find(&m->ends, &key)) == GUS_INDEX_NONE;
	     key.call = m->c->calls.v[key.call].caller)
		gus_vec_push(&m->way, key.call);
	node = known == GUS_INDEX_NONE ? base : m->end_nodes.v[known];
	for (size_t i = m->way.n; i--;) {
		key.call = m->way.v[i];
		node = node_below(m, node, m->code_frames.v[m->c->calls.v[key.call].callee]);
		gus_index_add(&m->ends, &key, NULL);
		gus_vec_push(&m->end_nodes, node);
	}
	return node;
}

static void add_cell(struct maker *m, size_t i)
{
	const struct gus_cell *cell = &m->p->cells.v[i];
	uint32_t base = gus_by_is_task(m->by) ? node_below(m, ROOT, task_frame(m, cell)) : ROOT;
	uint32_t node = node_of(m, base, m->c->of_cell[i]);

	m->sums.v[node].weight += cell->weight;
	m->sums.v[node].samples += cell->samples;
}

/* Order. */

static int by_name(const void *a, const void *b, void *context)
{
	const struct gus_flame_tree *t = context;
	const struct gus_flame_frame *x = &t->frames.v[*(const uint32_t *)a], *y = &t->frames.v[*(const uint32_t *)b];
	int order = strcmp(gus_strings_get(&t->strings, x->name), gus_strings_get(&t->strings, y->name));

	if (!order)
		order = strcmp(gus_strings_get(&t->strings, x->module), gus_strings_get(&t->strings, y->module));
	return order ? order : (int)x->kind - (int)y->kind;
}

/* Puts the frames in order; afterwards rank tells the new number of an old one. */
static void order_frames(struct maker *m)
{
	struct gus_flame_tree *t = m->t;
	struct gus_flame_frames ordered = { 0 };
	struct gus_vec(uint32_t) order = { 0 };

	for (uint32_t i = 0; i < t->frames.n; i++) {
		gus_vec_push(&order, i);
		gus_vec_push(&m->rank, 0);
	}
	if (order.n)
		qsort_r(order.v, order.n, sizeof(*order.v), by_name, t);
	for (uint32_t i = 0; i < order.n; i++) {
		m->rank.v[order.v[i]] = i;
		gus_vec_push(&ordered, t->frames.v[order.v[i]]);
	}
	gus_vec_free(&t->frames);
	t->frames = ordered;
	gus_vec_free(&order);
}

static const struct node_key *key_of(const struct maker *m, uint32_t node)
{
	return gus_index_key(&m->nodes, node);
}

/* By caller, and of one caller the last name first: a stack of those that are still to come gives them back in order.
 * No two are equal. */
static int by_caller(const void *a, const void *b, void *context)
{
	const struct maker *m = context;
	const struct node_key *x = key_of(m, *(const uint32_t *)a), *y = key_of(m, *(const uint32_t *)b);

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return m->rank.v[x->frame] > m->rank.v[y->frame] ? -1 : 1;
}

struct pending { uint32_t node, depth; };

static void put_node(struct maker *m, struct pending p)
{
	uint32_t frame = m->rank.v[key_of(m, p.node)->frame];
	const struct sum *own = &m->sums.v[p.node];

	gus_vec_push(&m->t->nodes, (struct gus_flame_node){ frame, p.depth, own->weight, own->samples });
}

/* The walk: each node before its callees. */
static void order_nodes(struct maker *m)
{
	struct gus_vec(struct pending) pending = { 0 };
	struct gus_vec(uint32_t) order = { 0 }, first = { 0 };
	uint32_t n = m->nodes.n;

	for (uint32_t i = 1; i < n; i++)
		gus_vec_push(&order, i);
	if (order.n)
		qsort_r(order.v, order.n, sizeof(*order.v), by_caller, m);
	for (uint32_t i = 0, at = 0; i <= n; i++) { /* where in the order the callees of i begin */
		while (at < order.n && key_of(m, order.v[at])->caller < i)
			at++;
		gus_vec_push(&first, at);
	}
	gus_vec_push(&pending, (struct pending){ ROOT, 0 });
	while (pending.n) {
		struct pending p = pending.v[--pending.n];

		if (p.node != ROOT)
			put_node(m, p);
		for (uint32_t i = first.v[p.node]; i < first.v[p.node + 1]; i++)
			gus_vec_push(&pending, (struct pending){ order.v[i], p.depth + 1 });
	}
	gus_vec_free(&pending);
	gus_vec_free(&first);
	gus_vec_free(&order);
}

static void begin(struct maker *m)
{
	gus_strings_init(&m->t->strings);
	gus_index_init(&m->frames, sizeof(struct gus_flame_frame));
	gus_index_init(&m->nodes, sizeof(struct node_key));
	gus_index_init(&m->ends, sizeof(struct end_key));
	node_below(m, GUS_INDEX_NONE, GUS_INDEX_NONE); /* ROOT */
	gus_vec_push(&m->code_frames, GUS_INDEX_NONE); /* of the root of all calls, which has none */
	for (size_t i = 1; i < m->c->callees.n; i++) {
		uint32_t frame = name_code(m, &m->c->callees.v[i]);

		gus_vec_push(&m->code_frames, frame);
	}
}

static void end(struct maker *m)
{
	gus_index_free(&m->frames);
	gus_index_free(&m->nodes);
	gus_index_free(&m->ends);
	gus_vec_free(&m->code_frames);
	gus_vec_free(&m->task_frames);
	gus_vec_free(&m->sums);
	gus_vec_free(&m->end_nodes);
	gus_vec_free(&m->way);
	gus_vec_free(&m->rank);
}

static void check_sums(const struct gus_flame_tree *t, const struct gus_profile *p)
{
	uint64_t weight = 0, samples = 0;

	for (size_t i = 0; i < t->nodes.n; i++) {
		weight += t->nodes.v[i].weight;
		samples += t->nodes.v[i].samples;
	}
	assert(weight == p->weight && samples == p->samples);
}

void gus_flame_tree_make(struct gus_flame_tree *t, struct gus_profile *p, enum gus_by by, bool inlines)
{
	const struct gus_calls_options options = { .inlines = inlines };
	struct gus_calls calls;
	struct maker m = { .t = t, .p = p, .c = &calls, .by = by };

	*t = (struct gus_flame_tree){ 0 };
	gus_calls_make(&calls, p, &options);
	begin(&m);
	for (size_t i = 0; i < p->cells.n; i++)
		add_cell(&m, i);
	order_frames(&m);
	order_nodes(&m);
	end(&m);
	gus_calls_free(&calls);
	check_sums(t, p);
}

void gus_flame_tree_free(struct gus_flame_tree *t)
{
	gus_strings_free(&t->strings);
	gus_vec_free(&t->frames);
	gus_vec_free(&t->nodes);
}
