/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/joint.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/index.h"
#include "model/code/program.h"
#include "model/core/pics.h"

enum {
	TOGETHER = 64,  /* instructions that retire in one cycle */
	RING = 256,     /* of the last ones that retired, and of the next; a power of two */
};

struct cell_key { uint64_t address, psv; };
struct pair_key { uint64_t address; uint32_t behind, cell; };
struct pairs { struct gus_index index; struct gus_vec(struct golden_joint_pair) list; };

/* An instruction that has retired. */
struct retired { uint64_t address; bool behind; };
/* Ticks of a cell that are seen at one which has not. */
struct pending { uint32_t cell; unsigned skid; uint64_t ticks; };

/* One that is listened to. */
struct run {
	struct golden_joint *of;
	uint32_t stream;
	struct gus_core_listener listener;
	const struct gus_program *p;
	uint64_t retired;                       /* ops; their numbers count up */
	struct retired ring[RING];
	struct gus_vec(struct pending) pending[RING];
	struct { uint32_t cell; unsigned weight; } now[TOGETHER];
	unsigned now_n, goes_on;                /* goes_on: weight of an op of which only some slots retire; 0: none */
	uint64_t waiting, flushed;              /* ticks that belong to the next that retires, to the last that did */
	uint32_t last;                          /* the cell of what retired last */
	bool has_last, mispredicted;            /* mispredicted: what retired last was */
	uint64_t behind;                        /* the address behind what retired last */
};

struct golden_joint {
	struct gus_index cells;
	struct gus_vec(struct golden_joint_cell) list;
	struct pairs pairs[GOLDEN_JOINT_SKIDS];
	struct gus_vec(struct run *) runs;
};

struct golden_joint *golden_joint_new(void)
{
	struct golden_joint *j = gus_zalloc(sizeof(*j));

	gus_index_init(&j->cells, sizeof(struct cell_key));
	for (unsigned k = 0; k < GOLDEN_JOINT_SKIDS; k++)
		gus_index_init(&j->pairs[k].index, sizeof(struct pair_key));
	return j;
}

void golden_joint_free(struct golden_joint *j)
{
	if (!j)
		return;
	for (unsigned k = 0; k < GOLDEN_JOINT_SKIDS; k++) {
		gus_index_free(&j->pairs[k].index);
		gus_vec_free(&j->pairs[k].list);
	}
	while (j->runs.n)
		golden_joint_leave(j, j->runs.v[0]->stream);
	gus_vec_free(&j->runs);
	gus_index_free(&j->cells);
	gus_vec_free(&j->list);
	free(j);
}

static uint32_t cell_of(struct golden_joint *j, uint64_t address, uint16_t psv)
{
	struct cell_key key = { address, psv };
	bool is_new;
	uint32_t number = gus_index_add(&j->cells, &key, &is_new);

	if (is_new)
		gus_vec_push(&j->list, (struct golden_joint_cell){ .address = address, .psv = psv });
	return number;
}

static void see(struct golden_joint *j, const struct retired *at, const struct pending *what)
{
	struct pair_key key = { at->address, at->behind, what->cell };
	struct pairs *pairs = &j->pairs[what->skid];
	bool is_new;
	uint32_t number = gus_index_add(&pairs->index, &key, &is_new);

	if (is_new)
		gus_vec_push(&pairs->list, (struct golden_joint_pair){ at->address, at->behind, what->cell, 0 });
	pairs->list.v[number].ticks += what->ticks;
}

/* Ticks of a cell, of a cycle in which the op `next` was the next to retire, and with it all before `after`. */
static void put(struct run *r, uint64_t next, uint64_t after, uint32_t cell, uint64_t ticks)
{
	r->of->list.v[cell].ticks += ticks;
	for (unsigned k = 0; k < GOLDEN_JOINT_SKIDS && ticks; k++) {
		struct pending what = { cell, k, ticks };
		uint64_t at = k ? after + k - 1 : next;

		if (at < r->retired)
			see(r->of, &r->ring[at % RING], &what);
		else
			gus_vec_push(&r->pending[at % RING], what);
	}
}

/* Of an op that is several instructions (a comparison and its branch) the end of the last. */
static uint64_t end_of(const struct gus_program *p, const struct gus_op *op)
{
	const struct gus_program_insn *last = &p->insns[op->insn + op->insns_n - 1];

	return last->offset + last->info.length;
}

static void retire(void *context, const struct gus_core_retired *told)
{
	struct run *r = context;
	const struct gus_op *op = &r->p->ops[told->op];
	uint64_t address = r->p->insns[op->insn].offset;
	unsigned slot = r->retired % RING;

	r->goes_on = told->ends ? 0 : op->insns_n;
	if (!told->ends)
		return;
	r->ring[slot] = (struct retired){ address, r->mispredicted && address != r->behind };
	for (size_t i = 0; i < r->pending[slot].n; i++)
		see(r->of, &r->ring[slot], &r->pending[slot].v[i]);
	r->pending[slot].n = 0;
	r->retired++;
	if (r->now_n < TOGETHER) {
		r->now[r->now_n].cell = cell_of(r->of, address, told->psv);
		r->of->list.v[r->now[r->now_n].cell].executed++;
		r->now[r->now_n++].weight = op->insns_n;
	}
	r->mispredicted = (told->psv & GUS_CORE_FL_MB) != 0;
	r->behind = end_of(r->p, op);
}

/* What waited for the first of them, and this cycle, of which each has its share; that of one that goes on waits for
 * its end. */
static void share(struct run *r)
{
	uint64_t first = r->retired - r->now_n, left = GUS_PICS_TICKS;
	unsigned weights = r->goes_on;

	if (r->flushed)
		put(r, first, r->retired, r->last, r->flushed);
	put(r, first, r->retired, r->now[0].cell, r->waiting);
	for (unsigned i = 0; i < r->now_n; i++)
		weights += r->now[i].weight;
	r->flushed = 0;
	r->waiting = GUS_PICS_TICKS / weights * r->goes_on;
	left -= r->waiting;
	for (unsigned i = r->now_n; i-- > 0;) {
		uint64_t ticks = i ? GUS_PICS_TICKS / weights * r->now[i].weight : left;

		left -= ticks;
		put(r, first, r->retired, r->now[i].cell, ticks);
	}
	r->last = r->now[r->now_n - 1].cell;
	r->has_last = true;
	r->now_n = 0;
}

static void cycle(void *context, const struct gus_core_cycle *told)
{
	struct run *r = context;

	if (r->now_n)
		share(r);
	else if (told->state == GUS_COMMIT_FLUSHED && !told->of_next && r->has_last)
		r->flushed += GUS_PICS_TICKS;
	else
		r->waiting += GUS_PICS_TICKS;
	r->goes_on = 0;
}

const struct gus_core_listener *golden_joint_listen(struct golden_joint *j, uint32_t stream,
						    const struct gus_program *p)
{
	struct run *r = gus_zalloc(sizeof(*r));

	r->of = j;
	r->stream = stream;
	r->p = p;
	r->listener = (struct gus_core_listener){ .context = r, .retire = retire, .cycle = cycle };
	gus_vec_push(&j->runs, r);
	return &r->listener;
}

void golden_joint_leave(struct golden_joint *j, uint32_t stream)
{
	size_t n = 0;

	for (size_t i = 0; i < j->runs.n; i++) {
		struct run *r = j->runs.v[i];

		if (r->stream != stream) {
			j->runs.v[n++] = r;
			continue;
		}
		for (unsigned k = 0; k < RING; k++)
			gus_vec_free(&r->pending[k]);
		free(r);
	}
	j->runs.n = n;
}

const struct golden_joint_cell *golden_joint_cells(const struct golden_joint *j, size_t *n)
{
	*n = j->list.n;
	return j->list.v;
}

const struct golden_joint_pair *golden_joint_pairs(const struct golden_joint *j, unsigned skid, size_t *n)
{
	*n = j->pairs[skid].list.n;
	return j->pairs[skid].list.v;
}
