/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/traits.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/machine/options.h"
#include "model/oracles/branch.h"
#include "model/oracles/cache.h"
#include "tests/accuracy/golden/draw.h"

const char *const golden_trait_names[GOLDEN_TRAITS] = { "replay", "load-parts", "late-training", "banks", "heavy-tail",
	"slices", "shared-walker", "throttled-prefetch", "commit-groups", "uneven-port", "cold-port" };

/* Traits that are about the same thing exclude each other. */
static const uint8_t subject[GOLDEN_TRAITS] = { 0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 7 };

enum {
	BANKS = 16, ROW_BYTES = 8192,   /* of DDR4 and DDR5: a row of a rank is 8 KiB */
	REFRESH_EVERY = 31200, REFRESH_TAKES = 1400, /* 7.8 us and 350 ns at 4 GHz */
	UPPER = 16,                     /* entries of the walker's own cache, of 2 MiB each */
	PARTS = 2,
	COLD_AFTER = 700, COLD_TAKES = 8,
	TRAIN_LATE = 24,                /* branches */
	THROTTLE = 4,                   /* one of so many lines has to be of use */
	/* One line of eight is in a burst, and takes four times as long; the others take 4/7 of their time, so that on
	 * average a line takes what it takes. */
	BURST_OF = 8, BURST_TIMES = 4,
	BURST_LEAST = 16, BURST_DOUBLES = 5, /* lines of a burst: from 16 to 1,024, any length as likely by its log */
	STRETCH_LEAST = 1000, STRETCH_DOUBLES = 7, /* cycles that a neighbour is there, or not: up to 256,000 */
};

struct golden_traits {
	uint32_t bits;
	uint64_t seed;
	struct gus_core_config c;
	struct gus_core_hooks hooks;
	/* Of a run. */
	struct golden_draw chance;
	uint64_t l2_free, l3_free, memory_free, walker_free;
	struct { uint64_t row, free; } banks[BANKS];
	uint64_t upper[UPPER];
	uint32_t loads[PARTS], loads_most;
	uint64_t used[GUS_CORE_PORTS];  /* when a port was used last */
	uint32_t uneven;                /* port */
	uint32_t replayed;              /* cycles */
	/* Lines of a burst and of seven times as many beside it: how many it has, behind which it begins, and how many
	 * of all came. */
	uint64_t burst, begins, lines;
	uint64_t until;                 /* the end of a stretch */
	bool there;                     /* the neighbour */
};

static bool has(const struct golden_traits *t, enum golden_trait trait)
{
	return t->bits >> trait & 1;
}

static void begin(void *context)
{
	struct golden_traits *t = context;

	t->chance = golden_draw_begin(t->seed, "run");
	t->l2_free = t->l3_free = t->memory_free = t->walker_free = 0;
	memset(t->banks, 0, sizeof(t->banks));
	memset(t->upper, 0, sizeof(t->upper));
	memset(t->loads, 0, sizeof(t->loads));
	memset(t->used, 0, sizeof(t->used));
	t->burst = t->begins = t->lines = t->until = 0;
	t->there = false;
}

/* From least on, doubled up to so many times. */
static uint64_t draw_length(struct golden_draw *chance, uint64_t least, unsigned doubles)
{
	uint64_t half = least << golden_draw_below(chance, doubles + 1);

	return half + golden_draw_next(chance) % half;
}

/* Half of all stretches are the neighbour's. There he takes any number of the slots as likely, and each port in one
 * cycle of four: what one thread of two has of a core that both keep busy. */
static unsigned shared(void *context, uint64_t *ports, uint64_t now)
{
	struct golden_traits *t = context;

	if (now >= t->until) {
		t->until = now + draw_length(&t->chance, STRETCH_LEAST, STRETCH_DOUBLES);
		t->there = golden_draw_below(&t->chance, 2);
	}
	if (!t->there)
		return 0;
	*ports = golden_draw_next(&t->chance) & golden_draw_next(&t->chance);
	return golden_draw_below(&t->chance, t->c.issue_width + 1);
}

static unsigned latency(void *context, unsigned port, unsigned kind, uint64_t now)
{
	struct golden_traits *t = context;
	uint64_t idle = now - t->used[port];

	t->used[port] = now;
	if (kind != GUS_UOP_COMPUTE)
		return 0;
	if (has(t, GOLDEN_UNEVEN_PORT))
		return port == t->uneven;
	return idle > COLD_AFTER ? COLD_TAKES : 0;
}

static uint32_t replay(void *context, uint64_t late, uint64_t now)
{
	(void)now;
	return late ? ((struct golden_traits *)context)->replayed : UINT32_MAX;
}

/* One group a cycle: slots that were issued together. */
static unsigned retire(void *context, const uint64_t *issued, unsigned n, uint64_t now)
{
	unsigned i = 1;

	(void)context;
	(void)now;
	while (i < n && issued[i] == issued[0])
		i++;
	return i < n ? i : n;
}

static bool load_enters(void *context, uint64_t address, unsigned *part)
{
	struct golden_traits *t = context;

	*part = (unsigned)(address / 64 % PARTS);
	if (t->loads[*part] >= t->loads_most)
		return false;
	t->loads[*part]++;
	return true;
}

static void load_leaves(void *context, unsigned part)
{
	((struct golden_traits *)context)->loads[part]--;
}

static uint64_t take(uint64_t *free, uint64_t from, uint64_t cycles)
{
	uint64_t start = *free > from ? *free : from;

	*free = start + cycles;
	return start;
}

static uint64_t of_bank(struct golden_traits *t, uint64_t address, uint64_t from)
{
	uint64_t row = address / ROW_BYTES / BANKS, bank = address / ROW_BYTES % BANKS, start;
	uint64_t near = t->c.memory_latency * 3ull / 4;

	if (from % REFRESH_EVERY < REFRESH_TAKES)
		from += REFRESH_TAKES - from % REFRESH_EVERY;
	start = take(&t->banks[bank].free, from, t->banks[bank].row == row + 1 ? 16 : 90);
	if (t->banks[bank].row != row + 1)
		near += t->c.memory_latency / 2;
	t->banks[bank].row = row + 1;
	return start + near;
}

static uint64_t with_tail(struct golden_traits *t, uint64_t from)
{
	double x = golden_draw_unit(&t->chance);

	return from + (uint64_t)(t->c.memory_latency * (x < 0.9 ? 0.85 : x < 0.99 ? 1.5 : 3.0));
}

/* Slices on a ring: the hash of a line's address says how far away it is. */
static uint64_t of_slice(const struct golden_traits *t, uint64_t address, uint64_t from)
{
	uint64_t hops = (address / 64 * 0x9e3779b97f4a7c15ull) >> 61; /* 0 to 7 */

	return from + t->c.l3_latency * 3ull / 4 + t->c.l3_latency * hops / 14;
}

static unsigned cycles_a_line(const struct golden_traits *t, uint32_t bandwidth)
{
	return bandwidth ? (t->c.line_size + bandwidth - 1) / bandwidth : 0;
}

static uint64_t in_bursts(struct golden_traits *t, uint64_t cycles)
{
	uint64_t n;

	if (t->lines >= BURST_OF * t->burst) {
		t->burst = draw_length(&t->chance, BURST_LEAST, BURST_DOUBLES);
		t->begins = golden_draw_next(&t->chance) % ((BURST_OF - 1) * t->burst + 1);
		t->lines = 0;
	}
	n = t->lines++;
	if (n >= t->begins && n < t->begins + t->burst)
		return cycles * BURST_TIMES;
	return cycles * (BURST_OF - BURST_TIMES) / (BURST_OF - 1);
}

static uint64_t pass(struct golden_traits *t, unsigned level, uint64_t address, uint64_t from)
{
	if (level == GUS_HIT_MEMORY)
		from = take(&t->memory_free, from, cycles_a_line(t, t->c.memory_bandwidth));
	if (level >= GUS_HIT_L3)
		from = take(&t->l3_free, from, cycles_a_line(t, t->c.l3_bandwidth));
	from = take(&t->l2_free, from, cycles_a_line(t, t->c.l2_bandwidth));
	if (level == GUS_HIT_MEMORY)
		return has(t, GOLDEN_BANKS) ? of_bank(t, address, from) :
			has(t, GOLDEN_HEAVY_TAIL) ? with_tail(t, from) : from + t->c.memory_latency;
	if (level == GUS_HIT_L3)
		return has(t, GOLDEN_SLICES) ? of_slice(t, address, from) : from + t->c.l3_latency;
	return from + t->c.l2_latency;
}

static uint64_t line(void *context, unsigned level, uint64_t address, bool code, uint64_t from)
{
	struct golden_traits *t = context;
	uint64_t comes;

	if (code) /* asked for by another clock, so it may not take what data wait for */
		return from + (level == GUS_HIT_MEMORY ? t->c.memory_latency : level == GUS_HIT_L3 ? t->c.l3_latency :
			       t->c.l2_latency);
	comes = pass(t, level, address, from);
	return has(t, GOLDEN_BURSTS) ? from + in_bursts(t, comes - from) : comes;
}

static uint64_t walk(void *context, uint64_t address, bool code, uint64_t from)
{
	struct golden_traits *t = context;
	uint64_t region = address >> 21, cycles = t->c.page_walk_latency, *upper = &t->upper[region % UPPER];

	if (*upper != region + 1)
		cycles *= 2;
	*upper = region + 1;
	if (code)
		return from + cycles;
	if (golden_draw_unit(&t->chance) < 0.3) /* the other one was first */
		take(&t->walker_free, from, t->c.page_walk_latency / 2);
	return take(&t->walker_free, from, cycles) + cycles;
}

static void set_hooks(struct golden_traits *t)
{
	struct golden_draw d = golden_draw_begin(t->seed, "traits' figures");
	uint32_t lines = 1 << GOLDEN_BANKS | 1 << GOLDEN_HEAVY_TAIL | 1 << GOLDEN_SLICES |
		1 << GOLDEN_BURSTS;

	t->replayed = golden_draw_between(&d, 2, 5);
	t->uneven = golden_draw_below(&d, 2);
	t->loads_most = t->c.load_buffer ? t->c.load_buffer / PARTS : 32;
	t->hooks = (struct gus_core_hooks){ .context = t, .begin = begin,
		.shared = has(t, GOLDEN_NEIGHBOUR) ? shared : NULL,
		.latency = has(t, GOLDEN_UNEVEN_PORT) || has(t, GOLDEN_COLD_PORT) ? latency : NULL,
		.replay = has(t, GOLDEN_REPLAY) ? replay : NULL,
		.retire = has(t, GOLDEN_COMMIT_GROUPS) ? retire : NULL,
		.load_enters = has(t, GOLDEN_LOAD_PARTS) ? load_enters : NULL,
		.load_leaves = has(t, GOLDEN_LOAD_PARTS) ? load_leaves : NULL,
		.line = t->bits & lines ? line : NULL,
		.walk = has(t, GOLDEN_SHARED_WALKER) ? walk : NULL };
	begin(t);
}

struct golden_traits *golden_traits_of(uint32_t bits, uint64_t seed, const struct gus_core_config *c)
{
	struct golden_traits *t = gus_zalloc(sizeof(*t));

	t->bits = bits;
	t->seed = seed;
	t->c = *c;
	set_hooks(t);
	return t;
}

struct golden_traits *golden_traits_again(const struct golden_traits *t)
{
	return golden_traits_of(t->bits, t->seed, &t->c);
}

struct golden_traits *golden_traits_none(void)
{
	return gus_zalloc(sizeof(struct golden_traits));
}

struct golden_traits *golden_traits_draw(uint64_t seed, const struct gus_core_config *c)
{
	struct golden_draw d = golden_draw_begin(seed, "traits");
	uint32_t bits = 0, subjects = 0, wanted = 2 + golden_draw_below(&d, 2);

	while (wanted) {
		uint32_t trait = golden_draw_below(&d, GOLDEN_TRAITS);

		if (subjects >> subject[trait] & 1)
			continue;
		subjects |= 1u << subject[trait];
		bits |= 1u << trait;
		wanted--;
	}
	return golden_traits_of(bits, seed, c);
}

void golden_traits_free(struct golden_traits *t)
{
	free(t);
}

uint32_t golden_traits_bits(const struct golden_traits *t)
{
	return t->bits;
}

void golden_traits_function(const struct golden_traits *t, struct gus_branch_config *predictor,
			    struct gus_cache_config *caches)
{
	if (has(t, GOLDEN_LATE_TRAINING))
		predictor->train_late = TRAIN_LATE;
	if (has(t, GOLDEN_THROTTLED))
		caches->prefetch_throttle = THROTTLE;
}

const struct gus_core_hooks *golden_traits_hooks(const struct golden_traits *t)
{
	return t->bits ? &t->hooks : NULL;
}
