/* SPDX-License-Identifier: MIT */
#include "symbolizer/insn/loops.h"

#include <stdlib.h>
#include <string.h>

#define NONE GUS_GRAPH_NONE

/* Instructions that end the way of control without being a jump, which compilers put where it must never come to. */
static const char *const traps[] = { "UD0 (R32, R32)", "UD1 (R32, R32)", "UD2", "HLT", "INT3", "udf (imm)",
	"brk (imm)" };
enum { TRAPS = sizeof(traps) / sizeof(*traps) };

static bool is_trap(const uint64_t forms[TRAPS], uint64_t form)
{
	for (size_t i = 0; i < TRAPS; i++)
		if (form == forms[i])
			return true;
	return false;
}

static bool is_direct(unsigned class)
{
	return class == GUS_INSN_BRANCH_COND || class == GUS_INSN_BRANCH || class == GUS_INSN_CALL;
}

static void read_insns(struct gus_graph *g, enum gus_isa isa, const uint8_t *bytes, size_t size)
{
	uint64_t forms[TRAPS];

	for (size_t i = 0; i < TRAPS; i++)
		forms[i] = gus_insn_form_hash(traps[i], strlen(traps[i]));
	for (size_t at = 0; at < size;) {
		struct gus_graph_insn new = { .offset = at, .target = NONE };
		struct gus_insn_info info;
		size_t n = gus_insn_analyse(isa, bytes + at, size - at, &info);

		if (!n)
			break;
		new.length = (uint8_t)n;
		new.class = info.class;
		if (is_direct(info.class))
			new.jump = at + n + (uint64_t)info.immediate;
		new.stops = info.class == GUS_INSN_BAD || is_trap(forms, info.form);
		gus_vec_push(&g->insns, new);
		at += n;
	}
	for (size_t i = 0; i < g->insns.n; i++)
		if (is_direct(g->insns.v[i].class) && g->insns.v[i].class != GUS_INSN_CALL)
			g->insns.v[i].target = gus_graph_at(g, g->insns.v[i].jump);
}

/* The walk. It is that of Wei, Mao, Zou and Chen, "A New Algorithm for Identifying Loops in Decompilation" (SAS 2007),
 * which finds loops, their nesting and their further entries in one depth-first walk; with a stack of its own, since
 * functions have a million instructions. */

/* Behind the last instruction there is one more thing to walk: where indirect jumps meet before they part to the cases.
 * With edges from each of them to each case, the code of an interpreter would be as many loops within each other as it
 * has cases. */

struct walk {
	struct gus_graph *g;
	uint32_t meeting;        /* its number: that of the instructions */
	uint32_t *head;          /* of each instruction: head of the innermost loop around it, itself not; NONE */
	uint32_t *place;         /* its place on the path that is being walked, from 1; 0: not on it */
	uint32_t *backs;
	uint8_t *seen, *is_head, *irreducible;
	bool again;              /* walking what the function's start does not lead to: it proves no second entry */
	struct gus_vec(uint32_t) path, step; /* the path, and how far each one's successors are done */
	struct gus_vec(uint32_t) cases;      /* where indirect jumps may go */
};

static bool falls_through(const struct gus_graph_insn *i)
{
	return !i->stops && i->class != GUS_INSN_BRANCH && i->class != GUS_INSN_BRANCH_INDIRECT &&
		i->class != GUS_INSN_RET;
}

/* The successor number `which` of an instruction; NONE if there are no more. *absent: this one is outside. */
static uint32_t successor(const struct walk *w, uint32_t insn, uint32_t which, bool *absent)
{
	const struct gus_graph_insn *i = &w->g->insns.v[insn];

	*absent = false;
	if (insn == w->meeting)
		return which < w->cases.n ? w->cases.v[which] : NONE;
	if (i->class == GUS_INSN_BRANCH_INDIRECT)
		return which == 0 && w->cases.n ? w->meeting : NONE;
	if (which == 0) {
		*absent = !falls_through(i) || insn + 1 >= w->g->insns.n;
		return *absent ? NONE : insn + 1;
	}
	return which == 1 ? i->target : NONE;
}

/* head becomes a loop around insn: put at its place among those that are known, the innermost first. */
static void put_in_loop(struct walk *w, uint32_t insn, uint32_t head)
{
	uint32_t inner = insn;

	if (insn == head || head == NONE)
		return;
	while (w->head[inner] != NONE) {
		uint32_t around = w->head[inner];

		if (around == head)
			return;
		if (w->place[around] < w->place[head]) {
			w->head[inner] = head;
			inner = head;
			head = around;
		} else {
			inner = around;
		}
	}
	w->head[inner] = head;
}

/* An edge to an instruction that was walked before. If it lies in a loop that we are not in, this is a second entry. */
static void join(struct walk *w, uint32_t from, uint32_t to)
{
	if (w->place[to]) {
		w->is_head[to] = 1;
		w->backs[to]++;
		put_in_loop(w, from, to);
		return;
	}
	for (uint32_t head = w->head[to]; head != NONE; head = w->head[head]) {
		if (w->place[head]) {
			put_in_loop(w, from, head);
			return;
		}
		if (!w->again)
			w->irreducible[head] = 1;
	}
}

static void enter(struct walk *w, uint32_t insn)
{
	w->seen[insn] = 1;
	gus_vec_push(&w->path, insn);
	gus_vec_push(&w->step, 0);
	w->place[insn] = (uint32_t)w->path.n;
}

static void leave(struct walk *w)
{
	uint32_t insn = w->path.v[--w->path.n];

	w->step.n--;
	w->place[insn] = 0;
	if (w->path.n)
		put_in_loop(w, w->path.v[w->path.n - 1], w->head[insn]);
}

static void walk_from(struct walk *w, uint32_t start)
{
	enter(w, start);
	while (w->path.n) {
		uint32_t insn = w->path.v[w->path.n - 1];
		bool absent;
		uint32_t next = successor(w, insn, w->step.v[w->step.n - 1]++, &absent);

		if (next == NONE && !absent)
			leave(w);
		else if (next != NONE && !w->seen[next])
			enter(w, next);
		else if (next != NONE)
			join(w, insn, next);
	}
}

/* What follows the end of a way and nothing leads to. No-ops there only fill up to the next one. */
static void find_cases(struct walk *w)
{
	const struct gus_graph *g = w->g;
	uint8_t *led_to = gus_zalloc(g->insns.n + 1);

	for (uint32_t i = 0; i < g->insns.n; i++)
		if (g->insns.v[i].target != NONE)
			led_to[g->insns.v[i].target] = 1;
	for (uint32_t i = 1; i < g->insns.n; i++) {
		if (falls_through(&g->insns.v[i - 1]) || g->insns.v[i].stops)
			continue;
		while (i < g->insns.n && g->insns.v[i].class == GUS_INSN_NOP && !led_to[i])
			i++;
		if (i < g->insns.n && !led_to[i] && !g->insns.v[i].stops)
			gus_vec_push(&w->cases, i);
	}
	free(led_to);
}

/* From heads to numbers. */

static uint32_t depth_of(const struct walk *w, uint32_t insn)
{
	uint32_t depth = 0;

	for (uint32_t head = w->is_head[insn] ? insn : w->head[insn]; head != NONE; head = w->head[head])
		depth++;
	return depth;
}

/* The meeting is no instruction: the first case of its loop stands for it. */
static uint32_t head_to_show(const struct walk *w, uint32_t head)
{
	for (size_t i = 0; head == w->meeting && i < w->cases.n; i++)
		for (uint32_t h = w->cases.v[i]; h != NONE; h = w->head[h])
			if (h == w->meeting)
				return w->cases.v[i];
	return head;
}

static void number_loops(struct walk *w)
{
	struct gus_graph *g = w->g;
	uint32_t *number = gus_alloc((g->insns.n + 1) * sizeof(*number));

	for (uint32_t i = 0; i <= w->meeting; i++) {
		number[i] = NONE;
		if (!w->is_head[i])
			continue;
		number[i] = (uint32_t)g->loops.n;
		gus_vec_push(&g->loops, (struct gus_graph_loop){
			.head = i, .depth = depth_of(w, i), .first = NONE, .backs = w->backs[i], .inner = true,
			.irreducible = w->irreducible[i] || i == w->meeting });
	}
	for (uint32_t i = 0; i < g->insns.n; i++) {
		uint32_t head = w->is_head[i] ? i : w->head[i];

		g->loop[i] = head == NONE ? NONE : number[head];
	}
	for (size_t i = 0; i < g->loops.n; i++) {
		struct gus_graph_loop *loop = &g->loops.v[i];
		uint32_t around = w->head[loop->head];

		loop->outer = around == NONE ? NONE : number[around];
		if (around != NONE)
			g->loops.v[number[around]].inner = false;
		loop->head = head_to_show(w, loop->head);
	}
	free(number);
}

/* Outer before inner; of loops side by side, or within such, the one whose head comes first. */
static int loop_order(const struct gus_graph *g, uint32_t x, uint32_t y)
{
	const struct gus_graph_loop *loops = g->loops.v;
	const bool deeper = loops[x].depth > loops[y].depth;

	while (loops[x].depth > loops[y].depth)
		x = loops[x].outer;
	while (loops[y].depth > loops[x].depth)
		y = loops[y].outer;
	if (x == y)
		return deeper ? 1 : -1;
	while (loops[x].outer != loops[y].outer) {
		x = loops[x].outer;
		y = loops[y].outer;
	}
	return loops[x].head < loops[y].head ? -1 : 1;
}

static int by_order(const void *a, const void *b, void *context)
{
	return loop_order(context, *(const uint32_t *)a, *(const uint32_t *)b);
}

static void sort_loops(struct gus_graph *g)
{
	uint32_t n = (uint32_t)g->loops.n, *order = gus_alloc((n + 1) * sizeof(*order)),
		*now = gus_alloc((n + 1) * sizeof(*now));
	struct gus_graph_loop *sorted = gus_alloc((n + 1) * sizeof(*sorted));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_order, g);
	for (uint32_t i = 0; i < n; i++)
		now[order[i]] = i;
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = g->loops.v[order[i]];
		sorted[i].outer = sorted[i].outer == NONE ? NONE : now[sorted[i].outer];
	}
	for (uint32_t i = 0; i < n; i++)
		g->loops.v[i] = sorted[i];
	for (size_t i = 0; i < g->insns.n; i++)
		g->loop[i] = g->loop[i] == NONE ? NONE : now[g->loop[i]];
	free(order);
	free(now);
	free(sorted);
}

/* Of each loop's own instructions first; then each gives what it has to the one around it, from the innermost
 * outwards. */
static void measure_loops(struct gus_graph *g)
{
	for (uint32_t i = 0; i < g->insns.n; i++) {
		struct gus_graph_loop *loop = g->loop[i] == NONE ? NULL : &g->loops.v[g->loop[i]];

		if (!loop)
			continue;
		loop->first = loop->first == NONE ? i : loop->first;
		loop->last = i;
		loop->instructions++;
	}
	for (size_t i = g->loops.n; i-- > 0;) {
		const struct gus_graph_loop *inner = &g->loops.v[i];
		struct gus_graph_loop *outer = inner->outer == NONE ? NULL : &g->loops.v[inner->outer];

		if (!outer)
			continue;
		outer->first = inner->first < outer->first ? inner->first : outer->first;
		outer->last = inner->last > outer->last ? inner->last : outer->last;
		outer->instructions += inner->instructions;
	}
}

void gus_graph_find_loops(struct gus_graph *g)
{
	size_t n = g->insns.n + 1;
	struct walk w = { .g = g, .meeting = (uint32_t)g->insns.n };

	w.head = gus_alloc(n * sizeof(*w.head));
	memset(w.head, 0xff, n * sizeof(*w.head));
	w.place = gus_zalloc(n * sizeof(*w.place));
	w.backs = gus_zalloc(n * sizeof(*w.backs));
	w.seen = gus_zalloc(n);
	w.is_head = gus_zalloc(n);
	w.irreducible = gus_zalloc(n);
	find_cases(&w);
	for (uint32_t i = 0; i < g->insns.n; i++, w.again = true)
		if (!w.seen[i])
			walk_from(&w, i);
	g->loop = gus_resize(g->loop, n, sizeof(*g->loop));
	g->loops.n = 0;
	number_loops(&w);
	sort_loops(g);
	measure_loops(g);
	free(w.head);
	free(w.place);
	free(w.backs);
	free(w.seen);
	free(w.is_head);
	free(w.irreducible);
	gus_vec_free(&w.path);
	gus_vec_free(&w.step);
	gus_vec_free(&w.cases);
}

void gus_graph_read(struct gus_graph *g, enum gus_isa isa, const void *bytes, size_t size)
{
	*g = (struct gus_graph){ 0 };
	read_insns(g, isa, bytes, size);
	gus_graph_find_loops(g);
}

void gus_graph_free(struct gus_graph *g)
{
	gus_vec_free(&g->insns);
	gus_vec_free(&g->loops);
	free(g->loop);
	g->loop = NULL;
}

uint32_t gus_graph_at(const struct gus_graph *g, uint64_t offset)
{
	size_t low = 0, high = g->insns.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (g->insns.v[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->insns.n && g->insns.v[low].offset == offset ? (uint32_t)low : NONE;
}
