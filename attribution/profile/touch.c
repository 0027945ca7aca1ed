/* SPDX-License-Identifier: MIT */
/* What is asked for decides what of an access is kept, so that who asks for sources alone has a few of them however
 * many addresses there are. Addresses are as many as a program has memory, so no more than GUS_LIMIT_TOUCHES are told
 * apart: the others are in a row of their own for each source and so on, and are counted. In a program that does the
 * same all the time, an access that has a ten-thousandth of the samples is missing there in one of 10^11 recordings. */
#include "attribution/profile/touch.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "proto/data_source.h"
#include "proto/sample.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"

_Static_assert(sizeof(struct gus_touch_key) == 2 * 8 + 3 * 4 + 12, "there is padding in it");

static bool is_size(uint64_t bytes, uint64_t least)
{
	return bytes >= least && bytes <= (UINT64_C(1) << 40) && !(bytes & (bytes - 1));
}

void gus_touches_init(struct gus_touches *t, unsigned by, const Gusprof__Header *header)
{
	const Gusprof__Host *host = header ? header->host : NULL;

	*t = (struct gus_touches){ .by = by & GUS_BY_DATA, .line = GUS_TOUCH_LINE, .page = GUS_TOUCH_PAGE,
		.header = header };
	if (host && is_size(host->line_size, 8))
		t->line = host->line_size;
	if (host && is_size(host->page_size, 1024))
		t->page = host->page_size;
	gus_index_init(&t->index, sizeof(struct gus_touch_key));
	gus_strings_init(&t->symbols);
	gus_index_add(&t->index, &(struct gus_touch_key){ 0 }, NULL);
	gus_vec_push(&t->list, (struct gus_touch){ 0 });
}

void gus_touches_free(struct gus_touches *t)
{
	gus_index_free(&t->index);
	gus_vec_free(&t->list);
	gus_strings_free(&t->symbols);
	gus_latency_free(&t->loads);
}

/* What the kernel counts because of an access has the address of it, though nobody tells where the data were: the
 * kernel writes so for each event that it does not know better of. (perf_sample_data_init and perf_sw_event in its
 * sources: other software events have an address of 0.) */
static bool is_of_an_access(const Gusprof__Event *e)
{
	/* perf_event_attr.type and, of software's, .config: page faults, minor, major, of alignment, of emulation */
	enum { SOFTWARE = 1, BREAKPOINT = 5, FAULTS = 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 };

	return e->type == BREAKPOINT || (e->type == SOFTWARE && e->config < 32 && FAULTS >> e->config & 1);
}

/* An address of 0 is one where something else tells that there was an access. */
bool gus_touch_address(const struct gus_touches *t, const struct gus_sample *s, uint64_t *address)
{
	const Gusprof__Header *h = t->header;

	*address = s->address;
	if (!s->address && !(s->told & GUS_TOLD_ADDRESS))
		return false;
	if (h && s->event < h->n_events && is_of_an_access(h->events[s->event]))
		return true;
	return s->data_source ? gus_data_source_of_kernel(s->data_source).does != 0 : s->address != 0;
}

bool gus_touch_told(const struct gus_touches *t, const struct gus_sample *s)
{
	uint64_t address;

	if (s->data_source && gus_data_source_of_kernel(s->data_source).does)
		return true;
	return t->by & (GUS_BY_DATA_PLACE | GUS_BY_DATA_OWNER) && gus_touch_address(t, s, &address);
}

/* AMD's kernels write a weight for loads that missed only, and 0 for the others: no load takes so long. */
bool gus_touch_latency(const struct gus_sample *s, uint64_t *cycles)
{
	*cycles = s->weight;
	return s->weight && s->told & GUS_TOLD_WEIGHT &&
	       gus_data_source_of_kernel(s->data_source).does & GUS_DATA_LOADS;
}

static void take_source(struct gus_touch_key *key, unsigned by, uint64_t word)
{
	const struct gus_data_source d = gus_data_source_of_kernel(word);

	if (by & GUS_BY_DATA_SOURCE && d.level) {
		key->level = d.level;
		key->missed = d.missed;
		key->remote = d.remote;
		key->hops = d.hops;
	}
	key->snoop = by & GUS_BY_SNOOP ? d.snoop : 0;
	key->tlb = by & GUS_BY_TLB ? d.tlb : 0;
	key->does = by & GUS_BY_ACCESS ? d.does : 0;
	if (by & GUS_BY_LOCKED && d.lock_told)
		key->lock = d.locked ? GUS_TOUCH_LOCKED : GUS_TOUCH_NOT_LOCKED;
}

static uint32_t symbol_at(struct gus_touches *t, struct gus_space *space, struct gus_symbols *symbols,
			  struct gus_place place)
{
	const struct gus_module *module = gus_space_module(space, place.module);
	const char *name = gus_symbols_datum(symbols, module, place.offset, NULL);

	return name ? gus_strings_add(&t->symbols, name) : 0;
}

static void take_address(struct gus_touches *t, struct gus_touch_key *key, struct gus_space *space,
			 const struct gus_sample *s, struct gus_touch *seen)
{
	uint64_t bytes = !(t->by & GUS_BY_DATA_PLACE) ? 0 : t->by & GUS_BY_DATA_LINE ? t->line :
		is_size(s->data_page, 1024) ? s->data_page : t->page;
	const bool kernel = seen->lowest >> 63;
	bool shared;

	seen->place = gus_space_find_data(space, s->pid, s->time, seen->lowest, s->mode, &shared);
	key->addressed = 1;
	key->module = seen->place.module;
	if (!bytes)
		return;
	key->bytes = bytes;
	key->shared = shared;
	key->address = (shared ? seen->place.offset : seen->lowest) & ~(bytes - 1);
	key->pid = kernel || shared ? 0 : s->pid;
}

/* Its number, if there is room for one more place. */
static uint32_t number_of(struct gus_touches *t, struct gus_touch_key *key, const struct gus_touch *seen)
{
	uint32_t number = gus_index_find(&t->index, key);
	struct gus_touch *touch;

	if (number == GUS_INDEX_NONE && t->closed)
		return 0;
	if (number == GUS_INDEX_NONE && key->addressed && t->list.n >= GUS_LIMIT_TOUCHES) {
		key->address = key->bytes = key->pid = key->module = key->symbol = 0;
		key->addressed = key->shared = 0;
		key->beyond = 1;
		t->beyond++;
		number = gus_index_find(&t->index, key);
	}
	if (number == GUS_INDEX_NONE) {
		number = gus_index_add(&t->index, key, NULL);
		gus_vec_push(&t->list, (struct gus_touch){ *key, seen->lowest, seen->place });
	}
	touch = &t->list.v[number];
	if (key->addressed && seen->lowest < touch->lowest) {
		touch->lowest = seen->lowest;
		touch->place = seen->place;
	}
	return number;
}

uint32_t gus_touch_of(struct gus_touches *t, struct gus_space *space, struct gus_symbols *symbols,
		      const struct gus_sample *s)
{
	struct gus_touch_key key = { 0 };
	struct gus_touch seen = { 0 };

	take_source(&key, t->by, s->data_source);
	if (t->by & (GUS_BY_DATA_PLACE | GUS_BY_DATA_OWNER) && gus_touch_address(t, s, &seen.lowest)) {
		take_address(t, &key, space, s, &seen);
		if (t->by & GUS_BY_DATA_SYMBOL)
			key.symbol = symbol_at(t, space, symbols, seen.place);
	}
	return number_of(t, &key, &seen);
}

int gus_touch_untold(struct gus_error *err)
{
	return gus_fail(err, GUS_E_NOT_FOUND, "no sample of the recording tells of an access to memory: that takes "
			"'perf mem record' (or 'perf record -d -W' with cpu/mem-loads,ldlat=30/P on Intel, ibs_op// on "
			"AMD, arm_spe_0// on Arm), whose perf.data -i reads");
}

#define GUS_ORDER_(x, y) \
	if ((x) != (y)) \
		return (x) < (y) ? -1 : 1

int gus_touch_order(const struct gus_touches *t, uint32_t a, uint32_t b)
{
	const struct gus_touch_key *x = &t->list.v[a].key, *y = &t->list.v[b].key;

	GUS_ORDER_(x->level, y->level);
	GUS_ORDER_(x->address, y->address);
	GUS_ORDER_(x->pid, y->pid);
	GUS_ORDER_(x->module, y->module);
	if (x->symbol != y->symbol)
		return strcmp(gus_strings_get(&t->symbols, x->symbol), gus_strings_get(&t->symbols, y->symbol));
	return memcmp(x, y, sizeof(*x));
}
