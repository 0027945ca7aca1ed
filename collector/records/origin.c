/* SPDX-License-Identifier: MIT */
#include "collector/records/origin.h"

#include "collector/records/ibs.h"
#include "collector/records/spe.h"

enum { OF_THE_NODE = 1, OF_ANOTHER_NODE = 2, OF_ANOTHER_SOCKET = 3 }; /* hops */

/* AMD. */

/* By where the data were, else by where they were not. That a line was on its way says less than where it came from. */
static void take_ibs_level(struct gus_data_source *d, const struct gus_ibs_op *op)
{
	static const uint8_t levels[] = { [GUS_IBS_SOURCE_LOCAL_CACHE] = GUS_DATA_L3,
		[GUS_IBS_SOURCE_NEAR_CACHE] = GUS_DATA_OTHER_CACHE, [GUS_IBS_SOURCE_FAR_CACHE] = GUS_DATA_OTHER_CACHE,
		[GUS_IBS_SOURCE_DRAM] = GUS_DATA_RAM, [GUS_IBS_SOURCE_PERSISTENT] = GUS_DATA_PERSISTENT,
		[GUS_IBS_SOURCE_IO] = GUS_DATA_IO, [GUS_IBS_SOURCE_EXTENSION] = GUS_DATA_EXTENSION,
		[GUS_IBS_SOURCE_PEER] = GUS_DATA_RAM, [GUS_IBS_SOURCE_RESERVED] = GUS_DATA_LEVEL_UNKNOWN };
	bool behind = op->known & GUS_IBS_L2;

	if (op->uncached) {
		d->level = GUS_DATA_UNCACHED;
	} else if (!(op->known & GUS_IBS_CACHE)) {
		return;
	} else if (!op->dc_miss) {
		d->level = GUS_DATA_L1;
	} else if (behind && !op->l2_miss) {
		d->level = GUS_DATA_L2;
	} else if ((op->known & GUS_IBS_SOURCE) && levels[op->source]) {
		d->level = levels[op->source];
	} else if (op->no_mab) {
		d->level = GUS_DATA_LINE_BUFFER;
	} else {
		d->level = behind ? GUS_DATA_L2 : GUS_DATA_L1;
		d->missed = true;
	}
}

/* How far away. Which socket the other node is of only those tell that have a bit for it. */
static void take_distance(struct gus_data_source *d, const struct gus_ibs_op *op)
{
	bool far = op->source == GUS_IBS_SOURCE_FAR_CACHE || op->remote_node;

	if (!(op->known & GUS_IBS_SOURCE))
		return;
	if (op->source == GUS_IBS_SOURCE_NEAR_CACHE)
		d->hops = OF_THE_NODE;
	else if (far && (op->caps & GUS_IBS_CAP_STREAM))
		d->hops = op->remote_socket ? OF_ANOTHER_SOCKET : OF_ANOTHER_NODE;
	d->remote = far || d->hops;
}

struct gus_data_source gus_ibs_data_source(const struct gus_ibs_op *op)
{
	struct gus_data_source d = { .does = (uint8_t)((op->load ? GUS_DATA_LOADS : 0) |
		(op->store ? GUS_DATA_STORES : 0) | (op->software_prefetch ? GUS_DATA_PREFETCHES : 0)) };

	if (!d.does)
		return d;
	take_ibs_level(&d, op);
	take_distance(&d, op);
	d.lock_told = true;
	d.locked = op->locked;
	if (op->known & GUS_IBS_TLB)
		d.tlb = !op->l1_tlb_miss ? GUS_DATA_TLB_FIRST :
			op->l2_tlb_miss ? GUS_DATA_TLB_WALK : GUS_DATA_TLB_SECOND;
	if (op->known & GUS_IBS_HIT_STATE)
		d.snoop = op->cache_owned ? GUS_DATA_SNOOP_HIT : GUS_DATA_SNOOP_MODIFIED;
	return d;
}

/* Arm. */

/* By the core's number. What another chip has sent may be of a cache or of memory there. */
static const struct { uint8_t level, hops; bool remote, from_a_cache; } spe_sources[] = {
	[GUS_SPE_SOURCE_UNKNOWN] = { GUS_DATA_LEVEL_UNKNOWN, 0, false, false },
	[GUS_SPE_SOURCE_L1] = { GUS_DATA_L1, 0, false, false },
	[GUS_SPE_SOURCE_L2] = { GUS_DATA_L2, 0, false, false },
	[GUS_SPE_SOURCE_PEER_CORE] = { GUS_DATA_CORE_CACHE, OF_THE_NODE, false, true },
	[GUS_SPE_SOURCE_CLUSTER] = { GUS_DATA_L3, 0, false, false },
	[GUS_SPE_SOURCE_SYSTEM_CACHE] = { GUS_DATA_MEMORY_SIDE, 0, false, false },
	[GUS_SPE_SOURCE_PEER_CLUSTER] = { GUS_DATA_OTHER_CACHE, OF_THE_NODE, true, true },
	[GUS_SPE_SOURCE_REMOTE] = { GUS_DATA_LEVEL_UNKNOWN, OF_ANOTHER_SOCKET, true, false },
	[GUS_SPE_SOURCE_REMOTE_CACHE] = { GUS_DATA_OTHER_CACHE, OF_ANOTHER_SOCKET, true, true },
	[GUS_SPE_SOURCE_DRAM] = { GUS_DATA_RAM, 0, false, false },
	[GUS_SPE_SOURCE_REMOTE_DRAM] = { GUS_DATA_RAM, OF_ANOTHER_SOCKET, true, false },
	[GUS_SPE_SOURCE_DEVICE] = { GUS_DATA_IO, 0, false, false },
};

/* How far it went, by events: from the farthest that it missed in, or else hit, to the nearest. */
static const struct { uint32_t event; uint8_t level; bool missed; } spe_events[] = {
	{ GUS_SPE_LLC_MISS, GUS_DATA_L3, true },
	{ GUS_SPE_LLC_ACCESS, GUS_DATA_L3, false },
	{ GUS_SPE_L2D_MISS, GUS_DATA_L2, true },
	{ GUS_SPE_L2D_ACCESS, GUS_DATA_L2, false },
	{ GUS_SPE_L1D_REFILL, GUS_DATA_L1, true },
	{ GUS_SPE_L1D_ACCESS, GUS_DATA_L1, false },
};

static void take_spe_events(struct gus_data_source *d, uint64_t events)
{
	for (size_t i = 0; i < sizeof(spe_events) / sizeof(*spe_events); i++)
		if (events & spe_events[i].event) {
			d->level = spe_events[i].level;
			d->missed = spe_events[i].missed;
			return;
		}
}

/* A source is told of loads. */
static void take_spe_source(struct gus_data_source *d, const struct gus_spe_record *r, uint64_t midr)
{
	struct gus_spe_origin origin = { GUS_SPE_SOURCE_UNKNOWN, false };

	if ((r->known & GUS_SPE_HAS_SOURCE) && (r->operation & GUS_SPE_OP_LOAD))
		origin = gus_spe_origin_of(midr, r->source);
	d->level = spe_sources[origin.source].level;
	d->hops = spe_sources[origin.source].hops;
	d->remote = spe_sources[origin.source].remote;
	if (origin.modified)
		d->snoop = GUS_DATA_SNOOP_MODIFIED;
	else if (spe_sources[origin.source].from_a_cache)
		d->snoop = GUS_DATA_SNOOP_PEER;
	if (origin.source == GUS_SPE_SOURCE_UNKNOWN)
		take_spe_events(d, r->events & r->events_told);
}

struct gus_data_source gus_spe_data_source(const struct gus_spe_record *r, uint64_t midr)
{
	struct gus_data_source d = { .does = (uint8_t)((r->operation & GUS_SPE_OP_LOAD ? GUS_DATA_LOADS : 0) |
		(r->operation & GUS_SPE_OP_STORE ? GUS_DATA_STORES : 0)) };
	uint64_t e = r->events & r->events_told;

	if (!d.does)
		return d;
	take_spe_source(&d, r, midr);
	d.remote |= (e & GUS_SPE_REMOTE) != 0;
	if (e & GUS_SPE_TLB_WALK)
		d.tlb = GUS_DATA_TLB_WALK;
	else if (e & GUS_SPE_TLB_ACCESS)
		d.tlb = GUS_DATA_TLB_EITHER;
	/* A bit that is not set may be one that this core does not have. */
	if ((e & GUS_SPE_SNOOPED) && (e & GUS_SPE_MODIFIED))
		d.snoop = GUS_DATA_SNOOP_MODIFIED;
	else if ((e & GUS_SPE_SNOOPED) && !d.snoop)
		d.snoop = GUS_DATA_SNOOP_HIT;
	return d;
}
