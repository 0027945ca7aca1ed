/* SPDX-License-Identifier: MIT */
/* What does not depend on where the counts are from: cutting code into blocks, and finding and ordering what is made of
 * it.
 *
 * Blocks come in two steps, since where one begins is known only when all code has been seen. First straight lines are
 * added, from an instruction that was executed to another: an instruction that lines share is kept once, and marked
 * where it begins a block, because a line begins there, or behind a branch, or because two lines reach it by different
 * ways (x86 code can be read from several offsets). Then blocks are cut at these marks. So every line is a whole number
 * of blocks, and every instruction is in one. */
#include "attribution/routes/private.h"
#include "base/index.h"

#include <stdlib.h>
#include <string.h>

#define NONE GUS_ROUTES_NONE
#define INSN_MAX 16 /* bytes */

bool gus_routes_leaves(unsigned class)
{
	return class == GUS_INSN_BRANCH || class == GUS_INSN_BRANCH_INDIRECT || class == GUS_INSN_CALL ||
	       class == GUS_INSN_CALL_INDIRECT || class == GUS_INSN_RET;
}

bool gus_routes_branches(unsigned class)
{
	return class == GUS_INSN_BRANCH_COND || gus_routes_leaves(class);
}

/* System calls, where the kernel's branches are recorded too, are branches to it. */
static bool ends_range(unsigned class)
{
	return gus_routes_branches(class) || class == GUS_INSN_SYSTEM;
}

void gus_routes_cutter_init(struct route_cutter *c, struct gus_routes *r, struct gus_profile *p)
{
	*c = (struct route_cutter){ .r = r, .p = p };
	gus_index_init(&c->places, sizeof(struct route_place));
}

void gus_routes_cutter_free(struct route_cutter *c)
{
	gus_index_free(&c->places);
	gus_vec_free(&c->insns);
	gus_vec_free(&c->bytes);
	gus_vec_free(&c->block_of);
	gus_vec_free(&c->line);
}

static uint32_t insn_at(const struct route_cutter *c, uint32_t module, uint64_t offset)
{
	return gus_index_find(&c->places, &(struct route_place){ offset, module, 0 });
}

/* Adds an instruction that was reached from the one before it in its line; the first of a line leads. */
static void add_insn(struct route_cutter *c, uint32_t module, uint64_t offset, const struct route_insn *insn,
		     const uint8_t *bytes)
{
	bool is_new;
	uint32_t number = gus_index_add(&c->places, &(struct route_place){ offset, module, 0 }, &is_new);
	struct route_insn *known;

	if (is_new) {
		gus_vec_push(&c->insns, *insn);
		c->insns.v[number].code = (uint32_t)c->bytes.n;
		gus_vec_append(&c->bytes, bytes, insn->length);
		return;
	}
	known = &c->insns.v[number];
	known->leads |= insn->leads ||
			(insn->before != known->before && insn->before != UINT64_MAX && known->before != UINT64_MAX);
	known->ends |= insn->ends;
	known->before = known->before == UINT64_MAX ? insn->before : known->before;
}

/* What the bytes of a line say; the instructions go to c->line. */
static enum gus_range_verdict read_line(struct route_cutter *c, const uint8_t *bytes, size_t size, uint64_t end)
{
	uint64_t before = UINT64_MAX;
	bool leads = true;

	c->line.n = 0;
	for (uint64_t at = 0;;) {
		struct gus_insn_info info;
		size_t n = at < size ? gus_insn_analyse(c->r->isa, bytes + at, size - at, &info) : 0;

		if (!n || info.class == GUS_INSN_BAD)
			return GUS_RANGE_NO_INSN;
		gus_vec_push(&c->line, (struct route_insn){ .length = (uint8_t)n, .class = info.class, .leads = leads,
							    .ends = at == end, .before = before });
		if (at == end)
			return ends_range(info.class) ? GUS_RANGE_GOOD : GUS_RANGE_NO_BRANCH;
		if (gus_routes_leaves(info.class))
			return GUS_RANGE_SKIPS;
		leads = gus_routes_branches(info.class);
		before = at;
		at += n;
		if (at > end)
			return GUS_RANGE_NO_INSN;
	}
}

/* The bytes of a line and of all of its last instruction; 0 if there are none, or of another ISA. */
static size_t read_code(struct route_cutter *c, uint32_t module, uint64_t from, uint8_t *bytes, size_t size)
{
	unsigned machine = 0;
	size_t n = gus_symbols_code(c->p->symbols, gus_space_module(c->p->space, module), from, bytes, size, &machine);
	enum gus_isa isa = n ? gus_isa_of_machine(machine) : GUS_ISA_UNKNOWN;

	if (c->r->isa == GUS_ISA_UNKNOWN)
		c->r->isa = isa;
	return isa != GUS_ISA_UNKNOWN && isa == c->r->isa ? n : 0;
}

enum gus_range_verdict gus_routes_cutter_line(struct route_cutter *c, uint32_t module, uint64_t from, uint64_t to)
{
	enum gus_range_verdict verdict = GUS_RANGE_NO_CODE;
	size_t size = (size_t)(to - from) + INSN_MAX;
	uint8_t *bytes = gus_alloc(size);
	uint64_t at = 0;

	size = read_code(c, module, from, bytes, size);
	if (size)
		verdict = read_line(c, bytes, size, to - from);
	for (size_t i = 0; verdict == GUS_RANGE_GOOD && i < c->line.n; i++) {
		struct route_insn insn = c->line.v[i];

		insn.before += insn.before == UINT64_MAX ? 0 : from;
		add_insn(c, module, from + at, &insn, bytes + at);
		at += insn.length;
	}
	free(bytes);
	return verdict;
}

static int by_place(const void *a, const void *b, void *context)
{
	const struct route_cutter *c = context;
	const struct route_place *x = gus_index_key(&c->places, *(const uint32_t *)a);
	const struct route_place *y = gus_index_key(&c->places, *(const uint32_t *)b);

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void add_block(struct route_cutter *c, uint32_t first)
{
	const struct route_place *place = gus_index_key(&c->places, first);
	struct gus_routes *r = c->r;
	struct gus_route_block b = { .module = place->module, .offset = place->offset, .code = (uint32_t)r->code.n,
				     .lengths = (uint32_t)r->lengths.n, .region = NONE, .behind = NONE };

	for (uint32_t i = first; i != NONE;) {
		const struct route_insn *insn = &c->insns.v[i];

		gus_vec_append(&r->code, c->bytes.v + insn->code, insn->length);
		gus_vec_push(&r->lengths, insn->length);
		b.size += insn->length;
		b.insns++;
		b.class = insn->class;
		if (insn->ends || gus_routes_branches(insn->class))
			break;
		i = insn_at(c, b.module, b.offset + b.size);
		if (i != NONE && c->insns.v[i].leads)
			break;
	}
	b.address = gus_symbols_address(c->p->symbols, gus_space_module(c->p->space, b.module), b.offset);
	c->block_of.v[first] = (uint32_t)r->blocks.n;
	gus_vec_push(&r->blocks, b);
}

/* Where one line ends others may go on. */
static void lead_behind_ends(struct route_cutter *c)
{
	for (uint32_t i = 0; i < c->insns.n; i++) {
		const struct route_place *place = gus_index_key(&c->places, i);
		const struct route_insn *insn = &c->insns.v[i];
		uint32_t next = insn->ends ? insn_at(c, place->module, place->offset + insn->length) : NONE;

		if (next != NONE)
			c->insns.v[next].leads = true;
	}
}

void gus_routes_cutter_blocks(struct route_cutter *c)
{
	struct gus_vec(uint32_t) leaders = { 0 };

	lead_behind_ends(c);
	gus_vec_reserve(&c->block_of, c->insns.n);
	for (uint32_t i = 0; i < c->insns.n; i++) {
		gus_vec_push(&c->block_of, NONE);
		if (c->insns.v[i].leads)
			gus_vec_push(&leaders, i);
	}
	if (leaders.n)
		qsort_r(leaders.v, leaders.n, sizeof(*leaders.v), by_place, c);
	for (size_t i = 0; i < leaders.n; i++)
		add_block(c, leaders.v[i]);
	for (size_t i = 0; i < c->r->blocks.n; i++) {
		struct gus_route_block *b = &c->r->blocks.v[i];

		b->behind = gus_routes_block_at(c, b->module, b->offset + b->size);
	}
	gus_vec_free(&leaders);
}

uint32_t gus_routes_block_at(const struct route_cutter *c, uint32_t module, uint64_t offset)
{
	uint32_t insn = insn_at(c, module, offset);

	return insn == GUS_INDEX_NONE ? NONE : c->block_of.v[insn];
}

static int by_ends(const void *a, const void *b)
{
	const struct gus_route_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->taken - y->taken;
}

void gus_routes_sort_edges(struct gus_routes *r)
{
	struct gus_route_edge *v = r->edges.v;
	size_t kept = 0;

	if (r->edges.n)
		qsort(v, r->edges.n, sizeof(*v), by_ends);
	for (size_t i = 0; i < r->edges.n; i++) {
		if (kept && by_ends(&v[kept - 1], &v[i]) == 0) {
			v[kept - 1].count += v[i].count;
			v[kept - 1].told += v[i].told;
			v[kept - 1].mispredicted += v[i].mispredicted;
		} else {
			v[kept++] = v[i];
		}
	}
	r->edges.n = kept;
}

/* Blocks of stacks are sorted, and so are the last instructions of blocks that do not overlap. */
const struct gus_route_block *gus_routes_ending_at(const struct gus_routes *r, uint32_t module, uint64_t offset)
{
	size_t low = 0, high = r->blocks.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gus_route_block *b = &r->blocks.v[middle];
		uint64_t last = b->offset + b->size - r->lengths.v[b->lengths + b->insns - 1];

		if (b->module == module && last == offset)
			return b;
		if (b->module < module || (b->module == module && last < offset))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
