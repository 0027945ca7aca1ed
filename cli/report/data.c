/* SPDX-License-Identifier: MIT */
#include "cli/report/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attribution/profile/rows.h"
#include "attribution/profile/touch.h"
#include "base/path.h"
#include "proto/data_source.h"

static const char *const snoops[] = {
	[GUS_DATA_SNOOP_UNKNOWN] = NULL, [GUS_DATA_SNOOP_NONE] = "none", [GUS_DATA_SNOOP_MISS] = "miss",
	[GUS_DATA_SNOOP_HIT] = "hit", [GUS_DATA_SNOOP_FORWARD] = "forwarded", [GUS_DATA_SNOOP_PEER] = "peer",
	[GUS_DATA_SNOOP_MODIFIED] = "HITM",
};

static const char *const tlbs[] = {
	[GUS_DATA_TLB_UNKNOWN] = NULL, [GUS_DATA_TLB_FIRST] = "L1", [GUS_DATA_TLB_SECOND] = "L2",
	[GUS_DATA_TLB_EITHER] = "L1 or L2", [GUS_DATA_TLB_WALK] = "walk",
};

static const char *const locks[] = {
	[GUS_TOUCH_LOCK_UNKNOWN] = NULL, [GUS_TOUCH_NOT_LOCKED] = "no", [GUS_TOUCH_LOCKED] = "yes",
};

/* How far away it was, by the ABI's hops; the same without any is only known not to be near. */
static const char *const hops[] = { ", remote", ", of another core", ", of another node", ", of another socket",
	", of another board" };

static void set_source(const struct gus_touch_key *key, char out[64])
{
	const bool far = key->remote || key->hops;
	size_t n = key->hops < sizeof(hops) / sizeof(*hops) ? key->hops : 0;

	if (!key->level)
		return;
	snprintf(out, 64, "%s%s%s", gus_data_level_name(key->level), far ? hops[n] : "", key->missed ? ", missed" : "");
}

static void set_access(uint8_t does, char out[32])
{
	static const char *const names[] = { "load", "store", "prefetch", "fetch" };
	size_t used = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (does >> i & 1)
			used += (size_t)snprintf(out + used, 32 - used, "%s%s", used ? "+" : "", names[i]);
}

void gus_report_find(struct gus_profile *p, struct gus_place place, struct gus_report_data *d)
{
	const struct gus_module *module = gus_space_module(p->space, place.module);
	uint64_t begins = 0;

	d->module = module->path;
	d->symbol = gus_symbols_datum(p->symbols, module, place.offset, &begins);
	d->into = place.offset - begins;
	/* Where there is no file, offsets are addresses, which are told anyhow. */
	d->whole = !d->symbol && module->kind != GUS_MODULE_FILE;
}

void gus_report_data(struct gus_profile *p, unsigned by, const struct gus_row *row, struct gus_report_data *d)
{
	const struct gus_touch *touch = &p->touches->list.v[row->touch];
	const struct gus_touch_key *key = &touch->key;

	*d = (struct gus_report_data){ .key = key, .snoop = snoops[key->snoop], .tlb = tlbs[key->tlb],
				       .locked = locks[key->lock] };
	set_source(key, d->source);
	set_access(key->does, d->access);
	if (!key->addressed)
		return;
	gus_report_find(p, touch->place, d);
	d->whole |= !key->bytes;
	if (!key->bytes && !(by & GUS_BY_DATA_SYMBOL))
		d->symbol = NULL;
}

void gus_report_place(const struct gus_report_data *d, char *out, size_t room)
{
	const char *name = d->symbol ? d->symbol : d->module ? gus_base_name(d->module) : "";

	if (d->whole || (d->symbol && !d->into))
		snprintf(out, room, "%s", name);
	else
		snprintf(out, room, "%.*s+0x%" PRIx64, (int)(room - 24), name, d->into);
}
