/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/truth.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/code/program.h"
#include "model/core/pics.h"

/* While it runs. */

void golden_truth_begin(struct golden_truth_run *t, const struct gus_program *p)
{
	*t = (struct golden_truth_run){ .p = p, .pics = gus_pics_new(p) };
	t->listener = gus_pics_listener(t->pics);
}

void golden_truth_end(struct golden_truth_run *t)
{
	gus_pics_free(t->pics);
	gus_vec_free(&t->executed);
}

static void grow(struct golden_truth_run *t)
{
	size_t n = t->executed.n;

	gus_vec_reserve(&t->executed, t->p->ops_n);
	t->executed.n = t->p->ops_n;
	memset(t->executed.v + n, 0, (t->executed.n - n) * sizeof(*t->executed.v));
}

void golden_truth_retire(struct golden_truth_run *t, const struct gus_core_retired *op)
{
	t->listener->retire(t->listener->context, op);
	if (!op->ends)
		return;
	if (op->op >= t->executed.n)
		grow(t);
	t->executed.v[op->op].all++;
	if (!t->any)
		t->first_psv = op->psv;
	t->any = true;
	if (!op->psv)
		return;
	t->with_events++;
	t->with_several += (op->psv & (op->psv - 1)) != 0;
	for (unsigned rest = op->psv; rest; rest &= rest - 1)
		t->executed.v[op->op].with[__builtin_ctz(rest)]++;
}

void golden_truth_cycle(struct golden_truth_run *t, const struct gus_core_cycle *cycle)
{
	t->listener->cycle(t->listener->context, cycle);
	t->commit[cycle->state]++;
	t->stalled += cycle->state == GUS_COMMIT_STALLED;
	if (!t->any)
		return;
	if (t->stalled && !t->first_psv)
		t->stalls[t->stalled < GOLDEN_STALLS ? t->stalled : GOLDEN_STALLS - 1]++;
	t->stalled = 0;
	t->any = false;
}

/* By address. */

static uint64_t address_of(const struct gus_program *p, uint32_t op)
{
	return p->insns[p->ops[op].insn].offset;
}

static int by_cell(const void *a, const void *b)
{
	const struct golden_cell *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->psv != y->psv)
		return x->psv < y->psv ? -1 : 1;
	return x->state - y->state;
}

static int by_address(const void *a, const void *b)
{
	const struct golden_place *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

void golden_truth_add(struct golden_truth *t, const struct golden_truth_run *run)
{
	const struct gus_pics_cell *cells;
	uint64_t pending;
	size_t n;

	cells = gus_pics_cells(run->pics, &n);
	for (size_t i = 0; i < n; i++)
		gus_vec_push(&t->cells, (struct golden_cell){ address_of(run->p, cells[i].op), cells[i].ticks,
			     cells[i].psv, cells[i].state });
	for (uint32_t op = 0; op < run->executed.n; op++) {
		const struct golden_executed *e = &run->executed.v[op];
		struct golden_place place = { .address = address_of(run->p, op), .executed = e->all };

		memcpy(place.with, e->with, sizeof(place.with));
		t->instructions += e->all * run->p->ops[op].insns_n;
		if (e->all)
			gus_vec_push(&t->places, place);
	}
	t->cycles += gus_pics_cycles(run->pics, &pending);
	assert(pending < 100000ull * GUS_PICS_TICKS); /* of the end of the run alone */
	t->cycles -= pending / GUS_PICS_TICKS;
	t->with_events += run->with_events;
	t->with_several += run->with_several;
	for (unsigned i = 0; i < GOLDEN_STALLS; i++)
		t->stalls[i] += run->stalls[i];
}

void golden_truth_settle(struct golden_truth *t)
{
	uint64_t ticks = 0;
	size_t n = 0;

	if (t->cells.n)
		qsort(t->cells.v, t->cells.n, sizeof(*t->cells.v), by_cell);
	for (size_t i = 0; i < t->cells.n; i++) {
		ticks += t->cells.v[i].ticks;
		if (n && by_cell(&t->cells.v[n - 1], &t->cells.v[i]) == 0)
			t->cells.v[n - 1].ticks += t->cells.v[i].ticks;
		else
			t->cells.v[n++] = t->cells.v[i];
	}
	t->cells.n = n;
	assert(ticks / GUS_PICS_TICKS == t->cycles);
	if (t->places.n)
		qsort(t->places.v, t->places.n, sizeof(*t->places.v), by_address);
	n = 0;
	for (size_t i = 0; i < t->places.n; i++) {
		struct golden_place *p = &t->places.v[i], *last = n ? &t->places.v[n - 1] : NULL;

		if (!last || last->address != p->address) {
			t->places.v[n++] = *p;
			continue;
		}
		last->executed += p->executed;
		for (unsigned e = 0; e < GUS_CORE_PSV_EVENTS; e++)
			last->with[e] += p->with[e];
	}
	t->places.n = n;
}

const struct golden_place *golden_truth_place(const struct golden_truth *t, uint64_t address)
{
	struct golden_place key = { .address = address };

	return t->places.n ? bsearch(&key, t->places.v, t->places.n, sizeof(key), by_address) : NULL;
}

/* Files: a line is a word that says what it is, and fields. */

int golden_truth_write(const struct golden_truth *t, const char *path, struct gus_error *err)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return gus_fail_errno(err, errno, "cannot write %s", path);
	fprintf(f, "golden-truth 1\ntotal %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t->cycles,
		t->instructions, t->with_events, t->with_several);
	for (size_t i = 0; i < t->functions.n; i++)
		fprintf(f, "function %zu %s\n", i, t->functions.v[i]);
	for (size_t i = 0; i < t->loops.n; i++)
		fprintf(f, "loop %zu %s\n", i, t->loops.v[i]);
	for (unsigned i = 0; i < GOLDEN_STALLS; i++)
		if (t->stalls[i])
			fprintf(f, "stall %u %" PRIu64 "\n", i, t->stalls[i]);
	for (size_t i = 0; i < t->places.n; i++) {
		const struct golden_place *p = &t->places.v[i];

		fprintf(f, "place %" PRIx64 " %u %u %u %" PRIu64, p->address, p->block, p->loop, p->function,
			p->executed);
		for (unsigned e = 0; e < GUS_CORE_PSV_EVENTS; e++)
			fprintf(f, " %" PRIu64, p->with[e]);
		fprintf(f, "\n");
	}
	for (size_t i = 0; i < t->cells.n; i++)
		fprintf(f, "cell %" PRIx64 " %u %u %" PRIu64 "\n", t->cells.v[i].address, t->cells.v[i].psv,
			t->cells.v[i].state, t->cells.v[i].ticks);
	if (ferror(f) | fclose(f))
		return gus_fail_errno(err, errno, "cannot write %s", path);
	return 0;
}

/* "WORD NUMBER NAME", the n-th of its kind. */
static bool read_name(const char *line, const char *word, char **name, size_t n)
{
	size_t number;
	int at = 0;

	if (strncmp(line, word, strlen(word)) != 0)
		return false;
	line += strlen(word);
	if (sscanf(line, " %zu %n", &number, &at) != 1 || !at || number != n)
		return false;
	*name = gus_strndup(line + at, strcspn(line + at, "\n"));
	return true;
}

static bool read_place(const char *line, struct golden_place *p)
{
	uint64_t *w = p->with;

	return sscanf(line, "place %" SCNx64 " %u %u %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &p->address, &p->block, &p->loop,
		      &p->function, &p->executed, w, w + 1, w + 2, w + 3, w + 4, w + 5, w + 6, w + 7, w + 8) == 14;
}

static bool read_line(struct golden_truth *t, const char *line)
{
	struct golden_place place;
	unsigned psv, state, length;
	uint64_t address, ticks;
	char *name;

	if (sscanf(line, "cell %" SCNx64 " %u %u %" SCNu64, &address, &psv, &state, &ticks) == 4 &&
	    state < GUS_COMMITS && psv < 1 << GUS_CORE_PSV_EVENTS)
		gus_vec_push(&t->cells, (struct golden_cell){ address, ticks, (uint16_t)psv, (uint8_t)state });
	else if (read_place(line, &place))
		gus_vec_push(&t->places, place);
	else if (read_name(line, "function", &name, t->functions.n))
		gus_vec_push(&t->functions, name);
	else if (read_name(line, "loop", &name, t->loops.n))
		gus_vec_push(&t->loops, name);
	else if (sscanf(line, "stall %u %" SCNu64, &length, &ticks) == 2 && length < GOLDEN_STALLS)
		t->stalls[length] = ticks;
	else
		return sscanf(line, "total %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &t->cycles, &t->instructions,
			      &t->with_events, &t->with_several) == 4;
	return true;
}

int golden_truth_read(struct golden_truth *t, const char *path, struct gus_error *err)
{
	FILE *f = fopen(path, "re");
	char line[4096];
	size_t number = 0;
	int rc = 0;

	if (!f)
		return gus_fail_errno(err, errno, "cannot open %s", path);
	while (rc == 0 && fgets(line, sizeof(line), f)) {
		if (number++ ? !read_line(t, line) : strcmp(line, "golden-truth 1\n") != 0)
			rc = gus_fail(err, GUS_E_CORRUPT, "cannot read %s: line %zu is none of a truth's", path,
				      number);
	}
	fclose(f);
	return rc;
}

void golden_truth_free(struct golden_truth *t)
{
	for (size_t i = 0; i < t->functions.n; i++)
		free(t->functions.v[i]);
	for (size_t i = 0; i < t->loops.n; i++)
		free(t->loops.v[i]);
	gus_vec_free(&t->functions);
	gus_vec_free(&t->loops);
	gus_vec_free(&t->places);
	gus_vec_free(&t->cells);
}
