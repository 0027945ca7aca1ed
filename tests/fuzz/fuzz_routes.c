/* SPDX-License-Identifier: MIT */
/* Fuzz target of routes: recordings of arbitrary bytes, behind sums that are put right first, with the code that they
 * bring along. Whatever stacks and samples say, counts add up, blocks, branches and routes are within bounds, and an
 * engine can follow them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/routes/routes.h"
#include "attribution/routes/walk.h"
#include "base/alloc.h"
#include "base/error.h"
#include "model/code/program.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "proto/reader.h"
#include "tests/fuzz/seal.h"

#define STEPS 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check_blocks(const struct gus_routes *r)
{
	for (size_t i = 0; i < r->blocks.n; i++) {
		const struct gus_route_block *b = &r->blocks.v[i];
		uint32_t size = 0;

		demand(b->insns && b->code + b->size <= r->code.n && b->lengths + b->insns <= r->lengths.n);
		for (uint32_t k = 0; k < b->insns; k++)
			size += r->lengths.v[b->lengths + k];
		demand(size == b->size);
		demand(b->region == GUS_ROUTES_NONE || b->region < r->regions.n);
		demand(b->behind == GUS_ROUTES_NONE || b->behind < r->blocks.n);
		demand(b->count >= 0 && b->mispredicted <= b->told);
		demand(r->source == GUS_ROUTES_SAMPLES || b->taken <= b->count);
	}
}

static void check(const struct gus_routes *r)
{
	uint64_t ranges = 0, sequences = 0;
	double ends = 0;

	check_blocks(r);
	for (size_t i = 0; i < r->edges.n; i++) {
		const struct gus_route_edge *e = &r->edges.v[i];

		demand(e->from == GUS_ROUTES_NONE || e->from < r->blocks.n);
		demand(e->to == GUS_ROUTES_NONE || e->to < r->blocks.n);
	}
	for (size_t i = 0; i < r->routes.n; i++) {
		demand(r->routes.v[i].steps_n && r->routes.v[i].step + r->routes.v[i].steps_n <= r->steps.n);
		sequences += r->routes.v[i].count;
	}
	for (size_t i = 0; i < r->steps.n; i++)
		demand(r->steps.v[i] < r->blocks.n);
	for (unsigned i = 0; i < GUS_RANGE_VERDICTS; i++)
		ranges += r->ranges[i];
	for (size_t i = 0; i < r->edges.n; i++)
		ends += r->edges.v[i].count;
	demand(r->source == GUS_ROUTES_SAMPLES || (sequences <= ranges && ends == (double)r->ranges[GUS_RANGE_GOOD]));
	for (size_t i = 0; i < r->regions.n; i++)
		demand(r->regions.v[i].name &&
		       (r->regions.v[i].outer == GUS_ROUTES_NONE || r->regions.v[i].outer < r->regions.n));
}

static void follow(const struct gus_routes *r, const struct gus_uarch *u, uint32_t region)
{
	struct gus_walk *p = gus_walk_new(r, u, &(struct gus_walk_options){ region, STEPS }, NULL);
	struct gus_core_source source;
	struct gus_core_branch branch;
	struct gus_core_step step;
	unsigned steps = 0;

	if (!p)
		return;
	gus_walk_start(p, &source, &branch);
	while (source.next(source.context, &step)) {
		demand(step.op < gus_walk_program(p)->ops_n);
		branch.mispredicted(branch.context, step.op, 0);
		steps++;
	}
	demand(steps > 0);
	gus_walk_free(p);
}

static void read_all(struct gus_reader *reader, const struct gus_uarch *u)
{
	static const char *const nowhere[] = { NULL };
	const struct gus_symbols_options options = { .symfs = "/nowhere", .debug_dirs = nowhere };
	struct gus_error err = { 0 };
	struct gus_profile profile;
	struct gus_routes r;

	if (gus_profile_load(&profile, reader, &(struct gus_filter){ 0 }, &options, NULL, &err) != 0)
		return;
	if (gus_routes_load(&r, reader, &profile, &err) == 0) {
		check(&r);
		follow(&r, u, GUS_ROUTES_NONE);
		if (r.regions.n)
			follow(&r, u, (uint32_t)r.regions.n - 1);
		gus_routes_free(&r);
	} else {
		demand(err.code != GUS_OK && err.text[0]);
	}
	gus_profile_free(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gus_uarch *uarch; /* read once: it takes longer than most inputs */
	uint8_t *copy = gus_alloc(size);
	struct gus_error err = { 0 };
	struct gus_reader *reader;
	uint8_t leave = size ? data[0] : 0;

	if (!uarch)
		uarch = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);
	demand(uarch != NULL);
	size -= size > 0;
	if (size)
		memcpy(copy, data + 1, size);
	if (!(leave & 8))
		seal(copy, size, leave);
	reader = gus_reader_open_memory(copy, size, &err);
	if (reader)
		read_all(reader, uarch);
	gus_reader_close(reader);
	free(copy);
	return 0;
}
