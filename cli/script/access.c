/* SPDX-License-Identifier: MIT */
#include "cli/script/access.h"

#include "proto/data_source.h"
#include "proto/psv.h"

static void put_operation(struct gus_lines *l, unsigned does)
{
	static const struct { unsigned does; const char *name; } names[] = {
		{ GUS_DATA_LOADS, "LOAD" }, { GUS_DATA_STORES, "STORE" }, { GUS_DATA_PREFETCHES, "PFETCH" },
		{ GUS_DATA_FETCHES, "EXEC" },
	};
	const char *between = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (does & names[i].does) {
			gus_lines_word(l, between);
			gus_lines_word(l, names[i].name);
			between = " or ";
		}
	if (!does)
		gus_lines_word(l, "N/A");
}

static void put_level(struct gus_lines *l, const struct gus_data_source *d)
{
	static const char *const names[GUS_DATA_LEVELS] = { "N/A", "L0", "L1", "LFB/MAB", "L2", "L2 MHB", "Any cache",
		"L3", "L4", "MSC", "Any cache", "Any cache", "RAM", "PMEM", "CXL", "I/O", "Uncached" };
	static const char *const hops[] = { "", "core, same node ", "node, same socket ", "socket, same board ",
		"board " };

	if (d->remote)
		gus_lines_word(l, "Remote ");
	if (d->hops < sizeof(hops) / sizeof(*hops))
		gus_lines_word(l, hops[d->hops]);
	gus_lines_word(l, names[d->level]);
	if (d->level != GUS_DATA_LEVEL_UNKNOWN)
		gus_lines_word(l, d->missed ? " miss" : " hit");
}

static const char *blocked_by(const struct gus_data_source *d)
{
	static const char *const names[] = { [0] = "N/A", [GUS_DATA_BLOCKED_DATA] = "Data",
		[GUS_DATA_BLOCKED_ADDRESS] = "Addr", [GUS_DATA_BLOCKED_DATA | GUS_DATA_BLOCKED_ADDRESS] = "Data Addr" };

	return names[d->blocked];
}

void gus_script_access(struct gus_lines *l, uint64_t data_src)
{
	static const char *const snoops[] = { "N/A", "None", "Miss", "Hit", "Fwd", "Peer", "HitM" };
	static const char *const tlbs[] = { "N/A", "L1 hit", "L2 hit", "L1 or L2 hit", "L2 miss" };
	struct gus_data_source d = gus_data_source_of_kernel(data_src);

	gus_lines_word(l, " |OP ");
	put_operation(l, d.does);
	gus_lines_word(l, "|LVL ");
	put_level(l, &d);
	gus_lines_word(l, "|SNP ");
	gus_lines_word(l, snoops[d.snoop]);
	gus_lines_word(l, "|TLB ");
	gus_lines_word(l, tlbs[d.tlb]);
	gus_lines_word(l, !d.lock_told ? "|LCK N/A" : d.locked ? "|LCK Yes" : "|LCK No");
	gus_lines_word(l, "|BLK ");
	gus_lines_word(l, blocked_by(&d));
}

void gus_script_signature(struct gus_lines *l, uint64_t events)
{
	const char *between = "";

	for (unsigned excluded = 0; excluded < 2; excluded++)
		for (unsigned i = 0; i < GUS_PSV_EVENTS; i++) {
			if (!(events >> (16 * excluded + i) & 1))
				continue;
			gus_lines_word(l, between);
			gus_lines_word(l, excluded ? "!" : "");
			gus_lines_word(l, gus_psv_name((enum gus_psv_event)(1u << i)));
			between = ",";
		}
}
