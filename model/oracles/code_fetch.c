/* SPDX-License-Identifier: MIT */
#include "model/oracles/code_fetch.h"

#include "base/error.h"
#include "model/machine/config.h"
#include "model/machine/hooks.h"
#include "model/machine/options.h"
#include "model/oracles/cache.h"

static int init_lines(struct gus_code_fetch *f, const struct gus_core_config *c, struct gus_error *err)
{
	if (!c->l1i_size || !c->line_size)
		return 0;
	if (gus_sets_init(&f->lines, "L1 for instructions", (uint64_t)c->l1i_size * 1024 / c->line_size,
			  c->l1i_ways ? c->l1i_ways : 8, GUS_REPLACE_LRU, err) != 0)
		return -1;
	f->line_size = c->line_size;
	f->ahead = UINT64_MAX;
	return 0;
}

/* Ways that are not told are as those of other TLBs (cache.c): all, if it is small. */
static int init_pages(struct gus_code_fetch *f, const struct gus_core_config *c, struct gus_error *err)
{
	uint32_t ways = c->itlb_size <= GUS_SETS_WAYS_MAX ? c->itlb_size : 8;

	if (!c->itlb_size || !c->page_size)
		return 0;
	if (gus_sets_init(&f->pages, "the ITLB", c->itlb_size, c->itlb_ways ? c->itlb_ways : ways, GUS_REPLACE_LRU,
			  err) != 0)
		return -1;
	f->page_size = c->page_size;
	return 0;
}

int gus_code_fetch_init(struct gus_code_fetch *f, const struct gus_core_config *c, struct gus_cache *cache,
			const struct gus_core_hooks *hooks, struct gus_error *err)
{
	*f = (struct gus_code_fetch){ .config = c, .cache = cache, .hooks = hooks };
	if (init_lines(f, c, err) == 0 && init_pages(f, c, err) == 0)
		return 0;
	gus_code_fetch_free(f);
	return -1;
}

void gus_code_fetch_free(struct gus_code_fetch *f)
{
	if (f->line_size)
		gus_sets_free(&f->lines);
	if (f->page_size)
		gus_sets_free(&f->pages);
	*f = (struct gus_code_fetch){ 0 };
}

static void add_cycles(struct gus_code_fetch_late *late, uint64_t cycles)
{
	cycles += late->cycles;
	late->cycles = (uint16_t)(cycles < GUS_CORE_CYCLES_MOST ? cycles : GUS_CORE_CYCLES_MOST);
}

/* How long the decoders wait for a line that comes after so many cycles. Prediction runs ahead of fetching and asks for
 * it; that hides the way from L2, and as much of a longer one, so that what is left at least is the way over the bus.
 * Behind a mispredicted branch nobody was ahead, and the first line takes all of its time. (On a Zen 4 a jump to
 * another line of 64 bytes takes 1.0 cycles from L1 and 2.1 from L2; own timing.) */
static uint64_t cycles_of_line(const struct gus_code_fetch *f, uint64_t wait, bool surprising)
{
	const struct gus_core_config *c = f->config;
	uint64_t bus = c->l2_bandwidth ? (c->line_size + c->l2_bandwidth - 1) / c->l2_bandwidth : 0;
	uint64_t left = wait > c->l2_latency ? wait - c->l2_latency : 0;

	if (surprising)
		return bus + wait;
	return left > bus ? left : bus;
}

static void count_line(const struct gus_code_fetch *f, struct gus_code_fetch_late *late, uint8_t level, uint64_t wait,
		       bool surprising)
{
	add_cycles(late, cycles_of_line(f, wait, surprising && !late->missed));
	late->missed++;
	late->level = level > late->level ? level : late->level;
}

/* A line that is not in L1, and whether it may have been there before the beginning. */
static void fetch_line(struct gus_code_fetch *f, const struct gus_code_fetched *code, uint64_t line, bool warm,
		       struct gus_code_fetch_answer *answer)
{
	const uint32_t near = f->config->l2_latency;
	struct gus_cache_answer a = { .level = GUS_HIT_L2, .level_if_warm = GUS_HIT_L2, .wait = near,
		.wait_if_warm = near };
	uint64_t address = line * f->line_size, wait;

	if (f->cache)
		gus_cache_code_line(f->cache, address, code->now, &a);
	wait = a.wait;
	if (f->hooks && f->hooks->line)
		wait = f->hooks->line(f->hooks->context, a.level, address, true, code->now) - code->now;
	count_line(f, &answer->told, a.level, wait, code->surprising);
	if (warm)
		count_line(f, &answer->if_warm, a.level_if_warm, a.level == a.level_if_warm ? wait : a.wait_if_warm,
			   code->surprising);
}

static void fetch_lines(struct gus_code_fetch *f, const struct gus_code_fetched *code,
			struct gus_code_fetch_answer *answer)
{
	const uint64_t first = code->address / f->line_size;
	const uint64_t n = (code->address + code->bytes - 1) / f->line_size - first;

	for (uint64_t line = first; line - first <= n; line++) { /* the last of all lines has none behind it */
		uint32_t slot = gus_sets_find(&f->lines, line);
		uint64_t evicted;

		if (slot != GUS_SETS_NONE) {
			gus_sets_touch(&f->lines, line, slot);
		} else {
			if (line != f->ahead)
				fetch_line(f, code, line, gus_sets_warm(&f->lines, line), answer);
			gus_sets_place(&f->lines, line, &evicted);
		}
		f->ahead = line + 1;
	}
}

static uint64_t cycles_of_page(const struct gus_code_fetch *f, uint8_t tlb, uint64_t address, uint64_t now)
{
	if (tlb == GUS_TLB_SECOND)
		return f->config->stlb_latency;
	if (f->hooks && f->hooks->walk)
		return f->hooks->walk(f->hooks->context, address, true, now) - now;
	return f->config->page_walk_latency;
}

/* A page that the TLB for instructions has not: nothing runs ahead of its translation. */
static void translate(struct gus_code_fetch *f, const struct gus_code_fetched *code, uint64_t page, bool warm,
		      struct gus_code_fetch_answer *answer)
{
	struct gus_cache_answer a = { .tlb = GUS_TLB_SECOND, .tlb_if_warm = GUS_TLB_SECOND };
	uint64_t cycles;

	if (f->cache)
		gus_cache_code_page(f->cache, page * f->page_size, &a);
	cycles = cycles_of_page(f, a.tlb, page * f->page_size, code->now);
	add_cycles(&answer->told, cycles);
	answer->told.tlb = a.tlb > answer->told.tlb ? a.tlb : answer->told.tlb;
	if (!warm)
		return;
	add_cycles(&answer->if_warm, a.tlb == a.tlb_if_warm ? cycles : f->config->stlb_latency);
	answer->if_warm.tlb = a.tlb_if_warm > answer->if_warm.tlb ? a.tlb_if_warm : answer->if_warm.tlb;
}

static void translate_pages(struct gus_code_fetch *f, const struct gus_code_fetched *code,
			    struct gus_code_fetch_answer *answer)
{
	const uint64_t first = code->address / f->page_size;
	const uint64_t n = (code->address + code->bytes - 1) / f->page_size - first;

	for (uint64_t page = first; page - first <= n; page++) {
		uint32_t slot;
		uint64_t evicted;

		if (f->page == page + 1)
			continue; /* the most recent one already */
		f->page = page + 1;
		slot = gus_sets_find(&f->pages, page);
		if (slot != GUS_SETS_NONE) {
			gus_sets_touch(&f->pages, page, slot);
			continue;
		}
		translate(f, code, page, gus_sets_warm(&f->pages, page), answer);
		gus_sets_place(&f->pages, page, &evicted);
	}
}

struct gus_code_fetch_answer gus_code_fetch_run(struct gus_code_fetch *f, const struct gus_code_fetched *code)
{
	struct gus_code_fetch_answer answer = { 0 };

	if (code->bytes && f->page_size)
		translate_pages(f, code, &answer);
	if (code->bytes && f->line_size)
		fetch_lines(f, code, &answer);
	return answer;
}
