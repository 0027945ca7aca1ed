/* SPDX-License-Identifier: MIT */
#include "attribution/proportional/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "model/code/program.h"
#include "model/machine/options.h"

enum { NOBODY = UINT32_MAX };

struct group_key { uint32_t n, next, behind, members[GUS_GROUP_MOST]; };
struct wait_key { uint32_t head, after, next, of, psv, behind, flushed; };
struct edge_key { uint32_t from, to, behind; };
struct met_key { uint32_t site, psv; };

/* An op that has retired. */
struct one { uint32_t site; uint16_t psv; uint8_t late; bool behind; };
/* A group whose next is not known yet, and what was waited for before it. */
struct held {
	struct one members[GUS_GROUP_MOST], before; /* before: what retired last before it */
	unsigned n;
	uint64_t waited, flushed;
};

/* Of a site, the last of what is counted there: mostly it is that again, and is not looked up. By number; NOBODY. */
struct recent { uint32_t edge, met, group; };

/* One that is listened to. */
struct run {
	struct gus_groups *of;
	uint32_t stream;
	struct gus_core_listener listener;
	const struct gus_program *p;
	struct held now, last;                  /* now: of this cycle, and of those that led to it */
	struct one newest;                      /* what retired last */
	struct gus_vec(uint32_t) site_of;       /* by op; NOBODY: not known yet */
	bool mispredicted;                      /* it was */
	bool supposed;
	uint64_t behind;                        /* the address behind it */
};

struct gus_groups {
	struct gus_index addresses, groups, waits, edges, met;
	struct gus_groups_counts counts;
	struct gus_vec(struct recent) recent;   /* by site */
	struct gus_vec(struct run *) runs;
};

struct gus_groups *gus_groups_new(void)
{
	struct gus_groups *g = gus_zalloc(sizeof(*g));

	gus_index_init(&g->addresses, sizeof(uint64_t));
	gus_index_init(&g->groups, sizeof(struct group_key));
	gus_index_init(&g->waits, sizeof(struct wait_key));
	gus_index_init(&g->edges, sizeof(struct edge_key));
	gus_index_init(&g->met, sizeof(struct met_key));
	return g;
}

static void free_run(struct run *r)
{
	gus_vec_free(&r->site_of);
	free(r);
}

void gus_groups_free(struct gus_groups *g)
{
	if (!g)
		return;
	while (g->runs.n)
		gus_groups_leave(g, g->runs.v[0]->stream);
	gus_vec_free(&g->runs);
	gus_vec_free(&g->recent);
	gus_index_free(&g->addresses);
	gus_index_free(&g->groups);
	gus_index_free(&g->waits);
	gus_index_free(&g->edges);
	gus_index_free(&g->met);
	gus_vec_free(&g->counts.sites);
	gus_vec_free(&g->counts.groups);
	gus_vec_free(&g->counts.members);
	gus_vec_free(&g->counts.waits);
	gus_vec_free(&g->counts.edges);
	gus_vec_free(&g->counts.met);
	free(g);
}

/* As if all of its uops waited for each other, which those of one that takes long do. */
static uint32_t latency_of(const struct gus_program *p, const struct gus_op *op)
{
	uint32_t latency = 0;

	for (uint32_t i = 0; i < op->uops_n; i++)
		latency += p->uops[op->uop + i].latency;
	return latency;
}

static bool locks(const struct gus_insn_info *info)
{
	return info->flags & GUS_INSN_LOCK || info->class == GUS_INSN_ATOMIC;
}

static bool is_simple(const struct gus_program *p, const struct gus_op *op)
{
	static const uint32_t simple = 1u << GUS_INSN_MOV | 1u << GUS_INSN_LEA | 1u << GUS_INSN_ALU |
		1u << GUS_INSN_SHIFT | 1u << GUS_INSN_MUL;
	unsigned class = p->insns[op->insn].info.class;

	return (op->insns_n == 1 || op->flags & GUS_OP_BRANCH) && !op->memories_n && class < 32 && simple >> class & 1;
}

static uint32_t site_of(struct gus_groups *g, uint64_t address, const struct gus_program *p, const struct gus_op *op)
{
	bool is_new;
	uint32_t site = gus_index_add(&g->addresses, &address, &is_new);

	if (is_new)
		gus_vec_push(&g->recent, (struct recent){ NOBODY, NOBODY, NOBODY });
	if (is_new)
		gus_vec_push(&g->counts.sites, (struct gus_groups_site){ .address = address, .weight = op->insns_n,
			     .slots = op->slots, .second = op->insns_n > 1 ? p->insns[op->insn + 1].offset : 0,
			     .branch = (op->flags & GUS_OP_BRANCH) != 0, .simple = is_simple(p, op),
			     .locks = locks(&p->insns[op->insn].info),
			     .repeats = (p->insns[op->insn].info.flags & GUS_INSN_REP) != 0,
			     .guessed = (op->flags & GUS_OP_UNKNOWN) != 0,
			     .latency = latency_of(p, op) });
	return site;
}

static bool is_group(const struct gus_groups_counts *c, uint32_t number, const struct held *h, uint32_t next)
{
	const struct gus_groups_group *g = &c->groups.v[number];

	if (g->n != h->n || g->next != next || g->behind != h->members[0].behind)
		return false;
	for (unsigned i = 0; i < h->n; i++)
		if (c->members.v[g->first + i] != h->members[i].site)
			return false;
	return true;
}

static uint32_t find_group(struct gus_groups *g, const struct held *h, uint32_t next)
{
	struct group_key key = { .n = h->n, .next = next, .behind = h->members[0].behind };
	struct gus_groups_counts *c = &g->counts;
	bool is_new;
	uint32_t number;

	for (unsigned i = 0; i < h->n; i++)
		key.members[i] = h->members[i].site;
	number = gus_index_add(&g->groups, &key, &is_new);
	if (is_new) {
		gus_vec_push(&c->groups, (struct gus_groups_group){ (uint32_t)c->members.n, h->n, next,
								     h->members[0].behind, 0 });
		gus_vec_append(&c->members, key.members, h->n);
	}
	return number;
}

static void count_group(struct gus_groups *g, const struct held *h, uint32_t next)
{
	uint32_t *recent = &g->recent.v[h->members[0].site].group;

	if (*recent == NOBODY || !is_group(&g->counts, *recent, h, next))
		*recent = find_group(g, h, next);
	g->counts.groups.v[*recent].times++;
	g->counts.cycles++;
}

static void count_wait(struct gus_groups *g, const struct held *h, const struct one *of, uint32_t next, bool flushed,
		       uint64_t cycles)
{
	const struct one *head = &h->members[0];
	uint32_t after = h->n > 1 ? h->members[1].site : next;
	struct wait_key key = { head->site, after, next, of->site, of->psv, head->behind, flushed };
	bool is_new;
	uint32_t number;

	if (!cycles)
		return;
	number = gus_index_add(&g->waits, &key, &is_new);
	if (is_new)
		gus_vec_push(&g->counts.waits, (struct gus_groups_wait){ head->site, after, next, of->site, of->psv,
									  head->behind, flushed, 0 });
	g->counts.waits.v[number].cycles += cycles;
	g->counts.cycles += cycles;
}

/* What is waited for although it has met nothing. */
static void note_base(struct gus_groups_site *s, const struct held *h)
{
	const struct one *head = &h->members[0];

	if (head->psv && !(s->locks && head->psv == GUS_CORE_DR_SQ))
		return;
	s->base += h->waited;
	s->blocked += head->late & GUS_CORE_LATE_BLOCKED ? h->waited : 0;
	s->aliased += head->late & GUS_CORE_LATE_ALIAS ? h->waited : 0;
}

/* What retires now is the next of what retired last. */
static void settle(struct run *r, uint32_t next)
{
	const struct held *h = &r->last;

	if (!h->n)
		return;
	count_group(r->of, h, next);
	note_base(&r->of->counts.sites.v[h->members[0].site], h);
	count_wait(r->of, h, &h->members[0], next, false, h->waited);
	count_wait(r->of, h, &h->before, next, true, h->flushed);
}

static uint32_t find_met(struct gus_groups *g, const struct one *one)
{
	struct met_key key = { one->site, one->psv };
	bool is_new;
	uint32_t number = gus_index_add(&g->met, &key, &is_new);

	if (is_new)
		gus_vec_push(&g->counts.met, (struct gus_groups_met){ one->site, one->psv, 0, 0 });
	return number;
}

static uint32_t find_edge(struct gus_groups *g, uint32_t from, const struct one *to)
{
	struct edge_key key = { from, to->site, to->behind };
	bool is_new;
	uint32_t number = gus_index_add(&g->edges, &key, &is_new);

	if (is_new)
		gus_vec_push(&g->counts.edges, (struct gus_groups_edge){ from, to->site, to->behind, 0 });
	return number;
}

static bool is_edge(const struct gus_groups_edge *e, const struct one *to)
{
	return e->to == to->site && e->behind == to->behind;
}

static void count_step(struct run *r, const struct one *one)
{
	struct gus_groups *g = r->of;
	uint32_t *met = &g->recent.v[one->site].met, *edge;

	if (*met == NOBODY || g->counts.met.v[*met].psv != one->psv)
		*met = find_met(g, one);
	g->counts.met.v[*met].times++;
	g->counts.met.v[*met].assured += !r->supposed;
	g->counts.sites.v[one->site].executed++;
	if (r->newest.site == NOBODY)
		return;
	edge = &g->recent.v[r->newest.site].edge;
	if (*edge == NOBODY || !is_edge(&g->counts.edges.v[*edge], one))
		*edge = find_edge(g, r->newest.site, one);
	g->counts.edges.v[*edge].times++;
}

/* Ops stay what they are; there may be more of them than before. */
static uint32_t site_of_op(struct run *r, uint32_t op)
{
	const struct gus_op *o = &r->p->ops[op];

	while (r->site_of.n <= op)
		gus_vec_push(&r->site_of, NOBODY);
	if (r->site_of.v[op] == NOBODY)
		r->site_of.v[op] = site_of(r->of, r->p->insns[o->insn].offset, r->p, o);
	return r->site_of.v[op];
}

static void retire(void *context, const struct gus_core_retired *told)
{
	struct run *r = context;
	const struct gus_op *op = &r->p->ops[told->op];
	const struct gus_program_insn *end = &r->p->insns[op->insn + op->insns_n - 1];
	uint64_t address = r->p->insns[op->insn].offset;
	struct one one = { .psv = told->psv, .late = told->late, .behind = r->mispredicted && address != r->behind };

	if (!told->ends)
		return;
	one.site = site_of_op(r, told->op);
	count_step(r, &one);
	if (r->now.n < GUS_GROUP_MOST)
		r->now.members[r->now.n++] = one;
	r->newest = one;
	r->mispredicted = (told->psv & GUS_CORE_FL_MB) != 0;
	r->behind = end->offset + end->info.length;
}

static void cycle(void *context, const struct gus_core_cycle *told)
{
	struct run *r = context;

	if (!r->now.n) {
		if (told->state == GUS_COMMIT_FLUSHED && !told->of_next && r->newest.site != NOBODY)
			r->now.flushed++;
		else
			r->now.waited++;
		return;
	}
	settle(r, r->now.members[0].site);
	r->last = r->now;
	r->now = (struct held){ .before = r->newest };
}

const struct gus_core_listener *gus_groups_listen(struct gus_groups *g, uint32_t stream, const struct gus_program *p)
{
	struct run *r = gus_zalloc(sizeof(*r));

	r->of = g;
	r->stream = stream;
	r->p = p;
	r->newest.site = NOBODY;
	r->listener = (struct gus_core_listener){ .context = r, .retire = retire, .cycle = cycle };
	gus_vec_push(&g->runs, r);
	return &r->listener;
}

void gus_groups_leave(struct gus_groups *g, uint32_t stream)
{
	size_t n = 0;

	for (size_t i = 0; i < g->runs.n; i++) {
		if (g->runs.v[i]->stream == stream)
			free_run(g->runs.v[i]);
		else
			g->runs.v[n++] = g->runs.v[i];
	}
	g->runs.n = n;
}

const struct gus_groups_counts *gus_groups_counts(const struct gus_groups *g)
{
	return &g->counts;
}

void gus_groups_suppose(struct gus_groups *g, uint32_t stream)
{
	for (size_t i = 0; i < g->runs.n; i++)
		if (g->runs.v[i]->stream == stream)
			g->runs.v[i]->supposed = true;
}

void gus_groups_doubt(struct gus_groups *g, uint32_t site)
{
	g->counts.sites.v[site].doubted = true;
}

uint32_t gus_groups_site(const struct gus_groups *g, uint64_t address)
{
	return gus_index_find(&g->addresses, &address);
}
