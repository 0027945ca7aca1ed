/* SPDX-License-Identifier: MIT */
#include "model/calibration/chase.h"

#include <stdlib.h>

#include "model/calibration/emit.h"
#include "model/calibration/host.h"

enum { STEPS = 16, WALKED_TWICE = 1 << 18, RESUMED = 8192, SLOT = 64 };
struct gus_chase gus_chase_of(uint64_t places, uint64_t distance, bool huge)
{
	return (struct gus_chase){ .list[0] = { .places = places, .distance = distance, .seed = 1 }, .lists = 1,
		.steps = STEPS, .huge = huge };
}

static uint64_t end_of(const struct gus_micro_list *l)
{
	return l->start + l->places * l->distance + (uint64_t)l->skews * l->skew + sizeof(uint64_t);
}

/* Once around to have all there, and all of it in a measurement, or else it would be of the first places only. Who
 * simulates it goes on where he stands, and stops when he knows; but runs nothing more than once, while some policies
 * want to see a thing again. */
static void set_passes(struct gus_micro *k, const struct gus_calibration_host *host, const struct gus_chase *c)
{
	uint64_t places = 0, around;

	for (unsigned i = 0; i < c->lists; i++)
		places = c->list[i].places > places ? c->list[i].places : places;
	around = (places + c->steps - 1) / c->steps;
	k->warm = c->resumed ? 1 : around;
	k->passes = c->resumed ? RESUMED / c->steps : around;
	if (gus_calibration_host_is_simulated(host)) {
		k->warm = places < WALKED_TWICE ? 2 * around : around;
		k->passes = 0;
	}
}

/* Where the walk stands is kept behind the list, as the distance from its beginning, which is 0 at first.
 *
 *	r1 = [slot]; r0 = start + r1; r2 = -start; loop: ... r1 = r0 + r2; [slot] = r1 */
static void resume(struct gus_micro *k, int32_t slot)
{
	const struct gus_micro_access untold = { .way = GUS_MICRO_FIXED, .offset = slot };

	gus_vec_push(&k->patterns, (struct gus_micro_pattern){ .start = (uint64_t)slot, .bytes = 8,
		.bits = GUS_MICRO_ZEROS });
	gus_emit_load(k, 1, GUS_EMIT_ARENA, slot, untold);
	gus_emit_move(k, 2, 0);
	gus_emit_constant(k, 3, UINT64_MAX);
	gus_emit_multiply(k, 2, 3);
	gus_emit_add(k, 0, 1);
}

static void remember(struct gus_micro *k, int32_t slot)
{
	gus_emit_move(k, 1, 0);
	gus_emit_add(k, 1, 2);
	gus_emit_store(k, 1, GUS_EMIT_ARENA, slot, (struct gus_micro_access){ .way = GUS_MICRO_FIXED, .offset = slot });
}

static void emit_steps(struct gus_micro *k, const struct gus_chase *c)
{
	for (unsigned step = 0; step < c->steps; step++)
		for (unsigned i = 0; i < c->lists; i++) {
			gus_emit_load(k, i, i, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE,
				.list = (uint8_t)i, .step = true });
			for (unsigned n = 0; n < c->beside; n++)
				gus_emit_nop(k);
		}
}

static struct gus_micro *micro_of(const struct gus_calibration_host *host, const struct gus_chase *c)
{
	const struct gus_micro_list *l = &c->list[0];
	struct gus_micro *k = gus_micro_new(host->isa, "%u lists of %llu places, %llu apart", c->lists,
					    (unsigned long long)l->places, (unsigned long long)l->distance);
	int32_t slot = (int32_t)((end_of(l) + SLOT - 1) / SLOT * SLOT);

	for (unsigned i = 0; i < c->lists; i++) {
		gus_vec_push(&k->lists, c->list[i]);
		k->arena = end_of(&c->list[i]) > k->arena ? end_of(&c->list[i]) : k->arena;
	}
	k->huge = c->huge;
	k->arena = c->resumed ? (uint64_t)slot + SLOT : k->arena;
	gus_emit_begin(k);
	for (unsigned i = 0; i < c->lists; i++)
		gus_emit_address(k, i, (int64_t)c->list[i].start);
	if (c->resumed)
		resume(k, slot);
	gus_emit_loop(k);
	emit_steps(k, c);
	if (c->resumed)
		remember(k, slot);
	gus_emit_end(k);
	set_passes(k, host, c);
	return k;
}

int gus_chase_times(const struct gus_calibration_host *host, const struct gus_chase *chases, unsigned n, double *cycles,
		    struct gus_error *err)
{
	struct gus_micro *micros[GUS_CHASE_MOST] = { NULL };
	int rc;

	for (unsigned i = 0; i < n; i++)
		micros[i] = micro_of(host, &chases[i]);
	rc = gus_chase_run(host, micros, n, cycles, err);
	for (unsigned i = 0; i < n; i++)
		cycles[i] /= chases[i].steps;
	return rc;
}

int gus_chase_time(const struct gus_calibration_host *host, const struct gus_chase *chase, double *cycles,
		   struct gus_error *err)
{
	return gus_chase_times(host, chase, 1, cycles, err);
}
