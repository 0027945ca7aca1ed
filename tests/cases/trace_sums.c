/* SPDX-License-Identifier: MIT */
/* Says what is in a trace: a line of totals, then one for each instruction, by address:
 *
 *	insn ADDRESS executed N [read N BYTES FIRST LAST] [write N BYTES FIRST LAST] [falls N taken N open N]
 *
 * FIRST and LAST are addresses in the order of the file; the last three are of blocks' last instructions. Exit status
 * 1, and a sentence, if it cannot be read to its end. The trace is a file, or "-", a pipe. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "proto/trace.h"

struct sum { uint64_t n, bytes, first, last; };
struct row { uint64_t address, executed, next[3]; struct sum accesses[2]; };

static struct gus_vec(struct row) rows;

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct row *)a)->address, y = ((const struct row *)b)->address;

	return x < y ? -1 : x > y;
}

static struct row *row_of(struct gus_index *ix, uint64_t address)
{
	bool is_new;
	uint32_t number = gus_index_add(ix, &address, &is_new);

	if (is_new)
		gus_vec_push(&rows, (struct row){ .address = address });
	return &rows.v[number];
}

static void add_step(struct gus_index *ix, const struct gus_trace *t, const struct gus_trace_step *step)
{
	struct gus_trace_block b = gus_trace_block(t, step->block);
	uint64_t address = b.address;
	uint32_t k = 0;

	for (uint32_t i = 0; i < b.insns; address += b.lengths[i++]) {
		struct row *r = row_of(ix, address);

		r->executed++;
		if (i + 1 == b.insns)
			r->next[step->next]++;
		for (k = 0; k < step->accesses_n; k++) {
			const struct gus_trace_access *a = &step->accesses[k];
			struct sum *s = &r->accesses[a->store];

			if (a->insn != i)
				continue;
			if (!s->n++)
				s->first = a->address;
			s->last = a->address;
			s->bytes += a->size;
		}
	}
}

static void print(const struct gus_trace *t, uint64_t windows)
{
	static const char *const names[] = { "read", "write" };
	const Gusprof__TraceTotal *total = gus_trace_total(t);

	printf("target %s streams %" PRIu64 " windows %" PRIu64 " blocks %" PRIu64 " steps %" PRIu64 " instructions "
	       "%" PRIu64,
	       gus_trace_about(t)->target, total->streams, windows, total->blocks, total->steps, total->instructions);
	printf(" accesses %" PRIu64 " omitted %" PRIu64 " seen %" PRIu64 " full %s\n", total->accesses, total->omitted,
	       total->seen,
	       total->full ? "yes" : "no");
	if (rows.n)
		qsort(rows.v, rows.n, sizeof(*rows.v), by_address);
	for (size_t i = 0; i < rows.n; i++) {
		const struct row *r = &rows.v[i];

		printf("insn %" PRIx64 " executed %" PRIu64, r->address, r->executed);
		for (int k = 0; k < 2; k++)
			if (r->accesses[k].n)
				printf(" %s %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIx64, names[k], r->accesses[k].n,
				       r->accesses[k].bytes,
				       r->accesses[k].first, r->accesses[k].last);
		if (r->next[0] + r->next[1] + r->next[2])
			printf(" falls %" PRIu64 " taken %" PRIu64 " open %" PRIu64, r->next[GUS_TRACE_NEXT_FALLS],
			       r->next[GUS_TRACE_NEXT_TAKEN],
			       r->next[GUS_TRACE_NEXT_UNKNOWN]);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct gus_error err = { 0 };
	struct gus_trace *t = argc != 2 ? NULL : strcmp(argv[1], "-") == 0 ? gus_trace_open_fd(0, &err) :
		gus_trace_open(argv[1], &err);
	struct gus_trace_step step;
	struct gus_index ix;
	uint64_t windows = 0, executed = 0;
	int got = -1;

	gus_index_init(&ix, sizeof(uint64_t));
	while (t && (got = gus_trace_next(t, &step, &err)) == 1) {
		add_step(&ix, t, &step);
		if (step.window >= windows)
			windows = step.window + 1;
	}
	for (size_t i = 0; i < rows.n; i++)
		executed += rows.v[i].executed;
	if (got == 0)
		print(t, windows);
	else if (t)
		fprintf(stderr, "trace-sums: %s; %" PRIu64 " instructions before\n", err.text, executed);
	else
		fprintf(stderr, "trace-sums: %s\n", argc == 2 ? err.text : "usage: trace-sums TRACE");
	gus_trace_close(t);
	gus_index_free(&ix);
	gus_vec_free(&rows);
	return got != 0;
}
