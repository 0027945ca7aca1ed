/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/verdict.h"

#include <math.h>
#include <string.h>

#include "attribution/verdicts/measured.h"

static const double NORMAL = 1.96;

const char *gus_label_name(enum gus_label label)
{
	static const char *const names[GUS_LABELS] = { "", "confirmed", "partly", "ruled out", "unseen",
		"not resolvable" };

	return names[label];
}

/* Of the logarithm of T/T': what is sampled is off by as much as that is long, the model by a part of the gain. */
static void set_interval(struct gus_causal_node *n, double error, double model, double residual)
{
	double gain = log1p(n->speedup), sampled = NORMAL * error / (1 + n->speedup);
	double half = hypot(sampled, hypot(model, residual) * gain);

	n->low = expm1(gain - half);
	n->high = expm1(gain + half);
}

/* Whether it has slots that somebody looks at: of a node that no counter tells of, the next above that one does. */
static bool is_seen(const struct gus_causal *v, enum gus_node node)
{
	while (!v->nodes[node].known && gus_nodes[node].parent != GUS_NODE_NONE)
		node = gus_nodes[node].parent;
	return v->nodes[node].share >= GUS_CAUSAL_NOTICED;
}

/* What is not known promises nothing, as what is beside the tree. */
static enum gus_label label_of(const struct gus_causal *v, enum gus_node node)
{
	const struct gus_node_kind *kind = &gus_nodes[node];
	const struct gus_causal_node *n = &v->nodes[node];
	bool seen = is_seen(v, node);

	if (!v->gains)
		return n->known && seen ? GUS_LABEL_OPEN : GUS_LABEL_NONE;
	if (kind->level && !n->known && (kind->silent || n->high < GUS_CAUSAL_WORTH))
		return GUS_LABEL_NONE;
	if (kind->silent)
		return seen ? GUS_LABEL_OPEN : GUS_LABEL_NONE;
	if (n->high < GUS_CAUSAL_WORTH)
		return seen ? GUS_LABEL_RULED_OUT : GUS_LABEL_NONE;
	if (n->low < GUS_CAUSAL_WORTH)
		return GUS_LABEL_OPEN;
	if (!kind->level)
		return GUS_LABEL_CONFIRMED;
	if (!seen)
		return GUS_LABEL_UNSEEN;
	return !n->known || n->speedup >= n->promise / 2 ? GUS_LABEL_CONFIRMED : GUS_LABEL_PARTLY;
}

static bool has_parts(enum gus_node node)
{
	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		if (gus_nodes[i].level > 1 && gus_nodes[i].parent == node)
			return true;
	return false;
}

/* How much a set is of: what is beside the tree is one resource, and of the tree those have most that have parts. */
static unsigned breadth(enum gus_node node)
{
	unsigned level = gus_nodes[node].level;

	return !level ? 0 : has_parts(node) ? 4 - level : 1;
}

/* The part of the time that twice as much of it brings back. */
static double part_of(const struct gus_causal_node *n)
{
	return n->twice / (1 + n->twice);
}

static bool may_be_cause(const struct gus_causal *v, enum gus_node node)
{
	/* What more width would bring shows as slots that are used up: without these the region waits for others. */
	if (node == GUS_NODE_RETIRING && v->nodes[node].modelled < GUS_CAUSAL_NOTICED)
		return false;
	return !gus_nodes[node].silent && v->nodes[node].speedup >= GUS_CAUSAL_WORTH;
}

static bool is_candidate(const struct gus_causal *v, enum gus_node node, double best)
{
	return may_be_cause(v, node) && part_of(&v->nodes[node]) >= GUS_CAUSAL_SAME * best;
}

/* Another candidate is of some of its resources alone, or of the same deeper in the tree. */
static bool holds_another(const struct gus_causal *v, enum gus_node node, double best)
{
	for (unsigned i = 0; i < GUS_NODES; i++) {
		enum gus_node other = (enum gus_node)i;

		if (other != node && is_candidate(v, other, best) && !(gus_nodes[i].knobs & ~gus_nodes[node].knobs) &&
		    (gus_nodes[i].knobs != gus_nodes[node].knobs || breadth(other) < breadth(node)))
			return true;
	}
	return false;
}

static enum gus_node choose(const struct gus_causal *v)
{
	enum gus_node chosen = GUS_NODE_NONE;
	double best = 0;

	for (unsigned i = 0; i < GUS_NODES; i++)
		if (may_be_cause(v, (enum gus_node)i) && part_of(&v->nodes[i]) > best)
			best = part_of(&v->nodes[i]);
	for (unsigned i = 0; i < GUS_NODES; i++) {
		enum gus_node node = (enum gus_node)i;

		if (!is_candidate(v, node, best) || holds_another(v, node, best))
			continue;
		if (chosen == GUS_NODE_NONE || breadth(node) < breadth(chosen) ||
		    (breadth(node) == breadth(chosen) && v->nodes[node].twice > v->nodes[chosen].twice))
			chosen = node;
	}
	return chosen;
}

/* A set of several resources, of which no smaller set within it gains what is worth a change. */
static bool only_together(const struct gus_causal *v)
{
	/* A leaf is one thing to people, and so is what has a single knob. */
	if (v->cause == GUS_NODE_NONE || breadth(v->cause) < 2 ||
	    !(gus_nodes[v->cause].knobs & (gus_nodes[v->cause].knobs - 1)))
		return false;
	for (unsigned i = 0; i < GUS_NODES; i++)
		if (breadth((enum gus_node)i) < breadth(v->cause) && !gus_nodes[i].silent &&
		    v->nodes[i].speedup >= GUS_CAUSAL_WORTH)
			return false;
	return true;
}

static void set_share(struct gus_causal_node *n, unsigned node, const struct gus_causal_given *g, double all)
{
	n->modelled = node < GUS_NODES_OF_TREE && all > 0 ? g->slots[node] / all : 0;
	n->known = node < GUS_NODES_OF_TREE && (g->measured ? g->measured->nodes[node].known : g->slots != NULL);
	n->share = !n->known ? 0 : g->measured ? g->measured->nodes[node].value : n->modelled;
	n->promise = n->share < 1 ? n->share / (1 - n->share) : INFINITY;
}

/* What retires has to go through issue, whatever else costs nothing: with all of its slots side by side a region still
 * takes as much of its time as these are. Only more width brings more. */
static void hold_back(struct gus_causal *v, enum gus_node node)
{
	double used = v->nodes[GUS_NODE_RETIRING].modelled, most = used > 0 ? 1 / used - 1 : INFINITY;
	struct gus_causal_node *n = &v->nodes[node];

	if (node == GUS_NODE_RETIRING)
		return;
	n->twice = fmin(n->twice, most);
	n->speedup = fmin(n->speedup, most);
	n->low = fmin(n->low, most);
	n->high = fmin(n->high, most);
}

void gus_causal_make(struct gus_causal *v, const struct gus_causal_given *g)
{
	double all = 0;

	memset(v, 0, sizeof(*v));
	v->gains = g->speedups != NULL;
	for (unsigned i = 0; g->slots && i < GUS_NODES_OF_TREE; i++)
		all += gus_nodes[i].level == 1 ? g->slots[i] : 0;
	for (unsigned i = 0; i < GUS_NODES; i++) {
		struct gus_causal_node *n = &v->nodes[i];

		set_share(n, i, g, all);
		n->speedup = gus_nodes[i].silent || !v->gains ? 0 : g->speedups[i];
		n->twice = gus_nodes[i].silent || !v->gains ? 0 : g->twice[i];
		if (!gus_nodes[i].silent && v->gains)
			set_interval(n, g->errors[i], g->model, g->residuals[i]);
	}
	for (unsigned i = 0; i < GUS_NODES && v->gains; i++)
		hold_back(v, (enum gus_node)i);
	for (unsigned i = 0; i < GUS_NODES; i++) /* those above are known by now */
		v->nodes[i].label = label_of(v, (enum gus_node)i);
	v->cause = choose(v);
	v->together = only_together(v);
}
