/* SPDX-License-Identifier: MIT */
#include "collector/records/psv.h"

#include <stdbool.h>
#include <stddef.h>

#include "collector/records/ibs.h"
#include "collector/records/origin.h"
#include "collector/records/spe.h"

enum answer { UNKNOWN, NO, YES };
enum { DATA = GUS_PSV_ST_L1 | GUS_PSV_ST_TLB | GUS_PSV_ST_LLC };

static void tell(struct gus_psv *psv, enum gus_psv_event event, bool had)
{
	if (had)
		psv->proved |= (uint16_t)event;
	else
		psv->excluded |= (uint16_t)event;
}

/* Whether it missed in the last cache of its cluster: of a cache of another core of the node nobody knows whose it is.
 * Who finds a line on its way does not ask there; the miss is that of who did. So count events (of Intel's a load that
 * hits a fill buffer is none that missed in L3), and so does the model, with whose executions these are compared. */
static enum answer missed_last(const struct gus_data_source *d)
{
	static const uint8_t by_level[GUS_DATA_LEVELS] = { [GUS_DATA_L0] = NO, [GUS_DATA_L1] = NO, [GUS_DATA_L2] = NO,
		[GUS_DATA_LINE_BUFFER] = NO, [GUS_DATA_CORE_CACHE] = NO, [GUS_DATA_L3] = NO,
		[GUS_DATA_MEMORY_SIDE] = YES, [GUS_DATA_OTHER_CACHE] = YES, [GUS_DATA_RAM] = YES,
		[GUS_DATA_PERSISTENT] = YES, [GUS_DATA_EXTENSION] = YES };

	if (d->missed ? d->level == GUS_DATA_L3 : by_level[d->level] == YES)
		return YES;
	if (d->remote)
		return d->hops == 1 ? UNKNOWN : YES;
	return d->missed ? UNKNOWN : by_level[d->level];
}

/* A line that was on its way has missed in L1: whoever asked for it first may be another instruction. */
static void tell_levels(struct gus_psv *psv, const struct gus_data_source *d)
{
	bool near = d->level <= GUS_DATA_L1 && !d->missed && !d->remote && !d->hops;
	bool nowhere = d->level == GUS_DATA_LEVEL_UNKNOWN && !d->remote && !d->hops;

	if (nowhere || d->level == GUS_DATA_IO || d->level == GUS_DATA_UNCACHED)
		return;
	tell(psv, GUS_PSV_ST_L1, !near);
	if ((d->does & GUS_DATA_LOADS) && missed_last(d) != UNKNOWN)
		tell(psv, GUS_PSV_ST_LLC, missed_last(d) == YES);
}

static void tell_tlb(struct gus_psv *psv, const struct gus_data_source *d)
{
	if (d->tlb == GUS_DATA_TLB_FIRST)
		tell(psv, GUS_PSV_ST_TLB, false);
	else if (d->tlb == GUS_DATA_TLB_SECOND || d->tlb == GUS_DATA_TLB_WALK)
		tell(psv, GUS_PSV_ST_TLB, true);
}

/* A store retires before it is written: that its line was not there has not stalled it, by TEA's definition of what
 * became known in time; and whether its page had to be known before is each core's own affair. */
static void tell_store(struct gus_psv *psv)
{
	psv->proved &= (uint16_t)~(GUS_PSV_ST_L1 | GUS_PSV_ST_LLC | GUS_PSV_ST_TLB);
	psv->excluded |= GUS_PSV_ST_L1 | GUS_PSV_ST_LLC;
}

struct gus_psv gus_proof_of_data(const struct gus_data_source *d)
{
	struct gus_psv psv = { 0, 0 };

	if (!(d->does & (GUS_DATA_LOADS | GUS_DATA_STORES)))
		return psv;
	tell_levels(&psv, d);
	tell_tlb(&psv, d);
	if (!(d->does & GUS_DATA_LOADS))
		tell_store(&psv);
	return psv;
}

/* An op that retired with its branch's outcome and its access's way. What does not access memory has missed nothing. */
struct gus_psv gus_proof_of_ibs(const struct gus_ibs_op *op)
{
	struct gus_data_source d = gus_ibs_data_source(op);
	struct gus_psv psv = gus_proof_of_data(&d);

	tell(&psv, GUS_PSV_FL_MB, op->branch && op->mispredicted);
	if (!op->load && !op->store) {
		psv.excluded |= DATA | GUS_PSV_DR_SQ;
	} else if (op->load && (op->known & GUS_IBS_CACHE)) { /* that it missed is known also where no level is */
		tell(&psv, GUS_PSV_ST_L1, op->dc_miss);
	}
	if (!op->load)
		psv.excluded |= GUS_PSV_FL_MO;
	if (!op->store)
		psv.excluded |= GUS_PSV_DR_SQ;
	return psv;
}

struct gus_psv gus_proof_of_ibs_fetch(const struct gus_ibs_fetch *f)
{
	struct gus_psv psv = { 0, 0 };

	if (f->known & GUS_IBS_FETCH_CACHE)
		tell(&psv, GUS_PSV_DR_L1, f->ic_miss);
	if (f->known & GUS_IBS_FETCH_TLB)
		tell(&psv, GUS_PSV_DR_TLB, f->l1_tlb_miss);
	return psv;
}

/* Of an event that the packet had room for and that every core has. */
static void tell_event(struct gus_psv *psv, const struct gus_spe_record *r, uint64_t bit, enum gus_psv_event event)
{
	if (r->events_told & bit)
		tell(psv, event, r->events & bit);
}

/* What an event says goes before what the source lets us conclude. */
static void tell_anew(struct gus_psv *psv, enum gus_psv_event event, bool had)
{
	psv->proved &= (uint16_t)~event;
	psv->excluded &= (uint16_t)~event;
	tell(psv, event, had);
}

/* Cycles from issue to the end of a load that hits in L1: more than those of any Arm core (4 to 8), and no more than L2
 * takes. */
enum { FROM_L1 = 10 };

/* A line that another has asked for is no refill of who finds it on its way; but it comes later than any from L1. */
static bool is_late(const struct gus_spe_record *r)
{
	const uint32_t needed = GUS_SPE_HAS_TOTAL | GUS_SPE_HAS_ISSUE | GUS_SPE_HAS_TRANSLATION;

	return (r->known & needed) == needed && r->total > (uint32_t)r->issue + r->translation + FROM_L1;
}

static void tell_spe_data(struct gus_psv *psv, const struct gus_spe_record *r, uint64_t midr)
{
	struct gus_data_source d = gus_spe_data_source(r, midr);
	struct gus_psv data = gus_proof_of_data(&d);
	uint64_t told = r->events & r->events_told;

	psv->proved |= data.proved;
	psv->excluded |= data.excluded;
	if (!(r->operation & GUS_SPE_OP_LOAD))
		return;
	if (told & (GUS_SPE_L1D_ACCESS | GUS_SPE_L1D_REFILL))
		tell_anew(psv, GUS_PSV_ST_L1, (told & GUS_SPE_L1D_REFILL) || is_late(r));
	if (told & (GUS_SPE_LLC_ACCESS | GUS_SPE_LLC_MISS))
		tell_anew(psv, GUS_PSV_ST_LLC, told & GUS_SPE_LLC_MISS);
}

struct gus_psv gus_proof_of_spe(const struct gus_spe_record *r, uint64_t midr)
{
	struct gus_psv psv = { 0, 0 };

	tell_event(&psv, r, GUS_SPE_EXCEPTION, GUS_PSV_FL_EX);
	if (!(r->known & GUS_SPE_HAS_OPERATION))
		return psv;
	/* What does not say that it is a branch was not mispredicted, unless an event says so. */
	if ((r->operation & GUS_SPE_OP_BRANCH) || (r->events & r->events_told & GUS_SPE_MISPREDICTED))
		tell_event(&psv, r, GUS_SPE_MISPREDICTED, GUS_PSV_FL_MB);
	else
		tell(&psv, GUS_PSV_FL_MB, false);
	if (r->class == GUS_SPE_LOAD_STORE)
		tell_spe_data(&psv, r, midr);
	else
		psv.excluded |= DATA;
	if (!(r->operation & GUS_SPE_OP_LOAD))
		psv.excluded |= GUS_PSV_FL_MO;
	if (!(r->operation & GUS_SPE_OP_STORE))
		psv.excluded |= GUS_PSV_DR_SQ;
	return psv;
}
