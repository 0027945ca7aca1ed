/* SPDX-License-Identifier: MIT */
#include "symbolizer/space/spans.h"

#include <stdbool.h>
#include <stdlib.h>

void gus_spans_init(struct gus_spans *s)
{
	*s = (struct gus_spans){ 0 };
	gus_vec_push(&s->nodes, (struct gus_span_node_){ 0 });
}

void gus_spans_free(struct gus_spans *s)
{
	gus_vec_free(&s->nodes);
}

static uint32_t left_of(const struct gus_spans *s, uint32_t at)
{
	return s->nodes.v[at].left;
}

static uint32_t right_of(const struct gus_spans *s, uint32_t at)
{
	return s->nodes.v[at].right;
}

static uint32_t height_of(const struct gus_spans *s, uint32_t at)
{
	return s->nodes.v[at].height;
}

static uint32_t make(struct gus_spans *s, uint32_t left, struct gus_span span, uint32_t right)
{
	uint32_t a = height_of(s, left), b = height_of(s, right);

	gus_vec_push(&s->nodes, (struct gus_span_node_){ span, left, right, 1 + (a > b ? a : b) });
	return (uint32_t)s->nodes.n - 1;
}

static uint32_t rotate_left(struct gus_spans *s, uint32_t left, struct gus_span span, uint32_t right)
{
	uint32_t inner = make(s, left, span, left_of(s, right));

	return make(s, inner, s->nodes.v[right].span, right_of(s, right));
}

static uint32_t rotate_right(struct gus_spans *s, uint32_t left, struct gus_span span, uint32_t right)
{
	uint32_t inner = make(s, right_of(s, left), span, right);

	return make(s, left_of(s, left), s->nodes.v[left].span, inner);
}

/* A node over two trees whose heights differ by at most two. */
static uint32_t balance(struct gus_spans *s, uint32_t left, struct gus_span span, uint32_t right)
{
	uint32_t a = height_of(s, left), b = height_of(s, right);

	if (b > a + 1) {
		uint32_t rl = left_of(s, right);

		if (height_of(s, rl) > height_of(s, right_of(s, right)))
			right = rotate_right(s, rl, s->nodes.v[right].span, right_of(s, right));
		return rotate_left(s, left, span, right);
	}
	if (a > b + 1) {
		uint32_t lr = right_of(s, left);

		if (height_of(s, lr) > height_of(s, left_of(s, left)))
			left = rotate_left(s, left_of(s, left), s->nodes.v[left].span, lr);
		return rotate_right(s, left, span, right);
	}
	return make(s, left, span, right);
}

/* A tree of all of left, span, all of right, whatever their heights. */
static uint32_t join(struct gus_spans *s, uint32_t left, struct gus_span span, uint32_t right)
{
	if (height_of(s, left) > height_of(s, right) + 1) {
		uint32_t lower = join(s, right_of(s, left), span, right);

		return balance(s, left_of(s, left), s->nodes.v[left].span, lower);
	}
	if (height_of(s, right) > height_of(s, left) + 1) {
		uint32_t lower = join(s, left, span, left_of(s, right));

		return balance(s, lower, s->nodes.v[right].span, right_of(s, right));
	}
	return make(s, left, span, right);
}

/* What lies below address; a span across it is cut. */
static uint32_t below(struct gus_spans *s, uint32_t root, uint64_t address)
{
	struct gus_span span;

	if (!root)
		return 0;
	span = s->nodes.v[root].span;
	if (address <= span.low)
		return below(s, left_of(s, root), address);
	if (address < span.high) {
		span.high = address;
		return join(s, left_of(s, root), span, 0);
	}
	return join(s, left_of(s, root), span, below(s, right_of(s, root), address));
}

static uint32_t from(struct gus_spans *s, uint32_t root, uint64_t address)
{
	struct gus_span span;

	if (!root)
		return 0;
	span = s->nodes.v[root].span;
	if (address >= span.high)
		return from(s, right_of(s, root), address);
	if (address > span.low) {
		span.low = address;
		return join(s, 0, span, right_of(s, root));
	}
	return join(s, from(s, left_of(s, root), address), span, right_of(s, root));
}

/* True if nothing in the map overlaps span but perhaps one span of exactly its extent: the usual case, and one that
 * needs no cutting. */
static bool fits(const struct gus_spans *s, uint32_t root, const struct gus_span *span)
{
	while (root) {
		const struct gus_span *have = &s->nodes.v[root].span;

		if (have->low == span->low && have->high == span->high)
			return true;
		if (have->low < span->high && span->low < have->high)
			return false;
		root = span->low < have->low ? left_of(s, root) : right_of(s, root);
	}
	return true;
}

/* For a span that fits. */
static uint32_t insert(struct gus_spans *s, uint32_t root, const struct gus_span *span)
{
	struct gus_span have;
	uint32_t left, right;

	if (!root)
		return make(s, 0, *span, 0);
	have = s->nodes.v[root].span;
	left = left_of(s, root);
	right = right_of(s, root);
	if (have.low == span->low)
		return make(s, left, *span, right);
	if (span->low < have.low)
		return balance(s, insert(s, left, span), have, right);
	return balance(s, left, have, insert(s, right, span));
}

uint32_t gus_spans_cover(struct gus_spans *s, uint32_t root, const struct gus_span *span)
{
	uint32_t left, right;

	if (fits(s, root, span))
		return insert(s, root, span);
	left = below(s, root, span->low);
	right = from(s, root, span->high);
	return join(s, left, *span, right);
}

const struct gus_span *gus_spans_find(const struct gus_spans *s, uint32_t root, uint64_t address)
{
	while (root) {
		const struct gus_span_node_ *n = &s->nodes.v[root];

		if (address < n->span.low)
			root = n->left;
		else if (address >= n->span.high)
			root = n->right;
		else
			return &n->span;
	}
	return NULL;
}

/* The node's new number. Trees are balanced, so this is no deeper than they are high. */
static uint32_t move(const struct gus_spans *from, struct gus_spans *to, uint32_t *moved, uint32_t at)
{
	struct gus_span_node_ node = from->nodes.v[at];

	if (at && !moved[at]) {
		node.left = move(from, to, moved, node.left);
		node.right = move(from, to, moved, node.right);
		gus_vec_push(&to->nodes, node);
		moved[at] = (uint32_t)to->nodes.n - 1;
	}
	return moved[at];
}

void gus_spans_compact(struct gus_spans *s, uint32_t *const *roots, size_t n)
{
	uint32_t *moved = gus_zalloc(s->nodes.n * sizeof(*moved));
	struct gus_spans kept;

	gus_spans_init(&kept);
	for (size_t i = 0; i < n; i++)
		*roots[i] = move(s, &kept, moved, *roots[i]);
	gus_spans_free(s);
	*s = kept;
	free(moved);
}
