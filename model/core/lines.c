/* SPDX-License-Identifier: MIT */
/* Beyond L1. A line takes a buffer (l1d_misses) from when it is asked for until it is there, passes each level's
 * bandwidth on its way, and then takes that level's latency:
 *
 *	load dispatched --> a buffer is free --> memory --> L3 --> L2 --> latency of its level --> in L1, buffer free
 *	                    (the first to be)    (those that it needs, each for the cycles of a line)
 *
 * Each resource is one number, the time from which it is free: who comes takes it for a while from then on. Of buses it
 * is in ticks of a cycle, as a line need not take a whole number of these: 48 bytes a cycle are one and a third. A
 * second access to a line that is on its way takes no buffer and gets it when the first does.
 *
 * Of what is fed it is told as well which lines prefetchers asked for with an access, and which it threw out. Nobody
 * waits for these; they take what others then wait for. A prefetch to L1 takes a buffer if one is free, else it is not
 * made, and whoever finds the line in L1, as caches that know no buffers say, asks for it then. One to L2 takes one
 * of L2's in the same way: without a limit prefetchers would ask for more than memory can bring, and its bus would be
 * taken for longer and longer. */
#include "model/core/private.h"
#include "model/machine/hooks.h"

static uint64_t ticks_a_line(const struct core *core, uint32_t bandwidth)
{
	return bandwidth ? ((uint64_t)core->c->line_size * BUS_TICKS + bandwidth / 2) / bandwidth : 0;
}

/* From when on; the resource is then taken for so long. */
static uint64_t take(uint64_t *busy_until, uint64_t from, uint64_t time)
{
	uint64_t start = *busy_until > from ? *busy_until : from;

	*busy_until = start + time;
	return start;
}

/* The first cycle in which a bus is free, which is then taken for some lines from the moment on at which it is. */
static uint64_t take_bus(const struct core *core, uint64_t *busy_until, uint64_t from, uint32_t bandwidth,
			 unsigned lines)
{
	uint64_t start = take(busy_until, from * BUS_TICKS, lines * ticks_a_line(core, bandwidth));

	return (start + BUS_TICKS - 1) / BUS_TICKS;
}

static uint64_t line_of(const struct core *core, uint64_t address)
{
	return core->c->line_size ? address / core->c->line_size : address;
}

static struct coming_line *slot_of(struct coming_line *lines, uint64_t line)
{
	return &lines[gus_core_line_slot(line, LINES)];
}

/* Whether a line has been asked for and is not there yet. */
static bool is_coming(const struct coming_line *lines, uint64_t line, uint64_t now)
{
	const struct coming_line *slot = &lines[gus_core_line_slot(line, LINES)];

	return line && slot->line == line && slot->ready > now;
}

uint64_t gus_core_hit_arrives(struct core *core, uint64_t address, uint64_t now)
{
	uint64_t line = line_of(core, address);

	return (core->options->memory || core->front.fed) && is_coming(core->lines, line, now) ?
		slot_of(core->lines, line)->ready : now;
}

enum gus_hit gus_core_level_now(struct core *core, enum gus_hit told, uint64_t address, bool prefetched)
{
	const struct coming_line *slot;
	uint64_t line;

	if (!core->front.fed || (told != GUS_HIT_L1 && !prefetched))
		return told;
	line = line_of(core, address);
	slot = slot_of(core->lines, line);
	return line && slot->line == line ? (enum gus_hit)slot->dropped : told;
}

/* When a line that passes from then on would be in L1; to_l2: it goes no further than L2, and takes not its bus. */
static uint64_t pass(struct core *core, enum gus_hit level, uint64_t address, uint64_t from, bool to_l2)
{
	const struct gus_core_config *c = core->c;
	const struct gus_core_hooks *hooks = core->options->hooks;
	static const uint32_t none = 0;
	const uint32_t *latency[] = { &none, &c->l2_latency, &c->l3_latency, &c->memory_latency };
	uint64_t start = from;

	if (hooks && hooks->line)
		return hooks->line(hooks->context, level, address, false, from);
	if (level == GUS_HIT_MEMORY)
		start = take_bus(core, &core->memory_free, start, c->memory_bandwidth, 1);
	if (level >= GUS_HIT_L3)
		start = take_bus(core, &core->l3_free, start, c->l3_bandwidth, 1);
	if (!to_l2)
		start = take_bus(core, &core->l2_free, start, c->l2_bandwidth, 1);
	return start + *latency[level];
}

/* The buffer that is free first. */
static uint64_t *first_of(uint64_t *buffers, unsigned n)
{
	uint64_t *best = &buffers[0];

	for (unsigned i = 1; i < n; i++)
		if (buffers[i] < *best)
			best = &buffers[i];
	return best;
}

static uint64_t *first_buffer(struct core *core)
{
	uint32_t n = core->c->l1d_misses;

	return first_of(core->misses, n && n < MISSES ? n : MISSES);
}

/* What L2 has of a line that its prefetcher has asked for, it has when that is there; the bus, which others take until
 * then, is taken at once, as it is one number. */
static uint64_t from_l2(struct core *core, enum gus_hit level, uint64_t address, uint64_t from)
{
	uint64_t line = line_of(core, address), ready = pass(core, level, address, from, false), there;

	if (level != GUS_HIT_L2 || !is_coming(core->lines_l2, line, from))
		return ready;
	there = slot_of(core->lines_l2, line)->ready + core->c->l2_latency;
	return ready > there ? ready : there;
}

static uint64_t fetch(struct core *core, enum gus_hit level, uint64_t address, uint64_t *buffer, uint64_t from)
{
	uint64_t line = line_of(core, address);
	struct coming_line *asked = slot_of(core->lines_l2, line);

	if (level == GUS_HIT_L2 && line && asked->line == line && asked->dropped) {
		level = (enum gus_hit)asked->dropped;
		asked->dropped = GUS_HIT_L1;
	}
	*buffer = from_l2(core, level, address, from);
	*slot_of(core->lines, line) = (struct coming_line){ .line = line, .ready = *buffer };
	return *buffer;
}

uint64_t gus_core_line_arrives(struct core *core, enum gus_hit level, uint64_t address, uint64_t now)
{
	uint64_t line = line_of(core, address), *buffer;

	if (is_coming(core->lines, line, now))
		return slot_of(core->lines, line)->ready;
	buffer = first_buffer(core);
	return fetch(core, level, address, buffer, *buffer > now ? *buffer : now);
}

uint64_t gus_core_walk(struct core *core, uint64_t address, uint64_t now)
{
	unsigned walks = core->c->page_walks < WALKS ? core->c->page_walks : WALKS, first = 0;
	const struct gus_core_hooks *hooks = core->options->hooks;

	if (hooks && hooks->walk)
		return hooks->walk(hooks->context, address, false, now);
	for (unsigned i = 1; i < walks; i++)
		if (core->walk_free[i] < core->walk_free[first])
			first = i;
	return take(&core->walk_free[first], now, core->c->page_walk_latency) + core->c->page_walk_latency;
}

/* What a prefetcher has asked for. */

static void prefetch_l1(struct core *core, enum gus_hit level, uint64_t address, uint64_t now)
{
	uint64_t line = line_of(core, address), *buffer = first_buffer(core);
	struct coming_line *slot = slot_of(core->lines, line);

	if (is_coming(core->lines, line, now))
		return;
	if (*buffer <= now)
		fetch(core, level, address, buffer, now);
	else if (slot->ready <= now) /* nobody needs to know of another line there */
		*slot = (struct coming_line){ .line = line, .dropped = (uint8_t)level };
}

/* L2 has it as much sooner than L1 would as its own lines take. */
static void prefetch_l2(struct core *core, enum gus_hit level, uint64_t address, uint64_t now)
{
	uint64_t line = line_of(core, address), ready, *buffer = first_of(core->misses_l2, L2_MISSES);
	struct coming_line *slot = slot_of(core->lines_l2, line);

	if (is_coming(core->lines_l2, line, now))
		return;
	if (*buffer > now) {
		if (slot->ready <= now)
			*slot = (struct coming_line){ .line = line, .dropped = (uint8_t)level };
		return;
	}
	ready = pass(core, level, address, now, true);
	*buffer = ready = ready > now + core->c->l2_latency ? ready - core->c->l2_latency : now;
	*slot = (struct coming_line){ .line = line, .ready = ready };
}

static void prefetch(struct core *core, const struct gus_op_prefetch *p, uint64_t address, uint64_t now)
{
	address += (uint64_t)(int64_t)p->ahead * core->c->line_size;
	if (p->into == GUS_HIT_L1)
		prefetch_l1(core, (enum gus_hit)p->from, address, now);
	else
		prefetch_l2(core, (enum gus_hit)p->from, address, now);
}

void gus_core_bring_along(struct core *core, const struct gus_op_beside *beside, uint64_t address, uint64_t now)
{
	const struct gus_core_config *c = core->c;
	const uint32_t bandwidth[GUS_OP_WRITTEN] = { c->l2_bandwidth, c->l3_bandwidth, c->memory_bandwidth };
	uint64_t *free_from[GUS_OP_WRITTEN] = { &core->l2_free, &core->l3_free, &core->memory_free };

	for (unsigned i = 0; i < beside->prefetches_n; i++)
		prefetch(core, &beside->prefetches[i], address, now);
	for (unsigned i = 0; i < GUS_OP_WRITTEN && !c->writeback_path; i++)
		if (beside->written[i])
			take_bus(core, free_from[i], now, bandwidth[i], beside->written[i]);
}
