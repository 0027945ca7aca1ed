/* SPDX-License-Identifier: MIT */
/* Golden machines as they are drawn, what each trait of theirs does to times, and when passes of samplers fire. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/code/program.h"
#include "model/machine/options.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/passes.h"
#include "tests/accuracy/golden/resonance.h"

enum { SEEDS = 60 };

/* Chance. */

static void draws_stay_in_their_range(void **state)
{
	struct golden_draw d = golden_draw_begin(1, "a"), same = golden_draw_begin(1, "a");
	struct golden_draw seed = golden_draw_begin(2, "a"), word = golden_draw_begin(1, "b");
	unsigned seen[8] = { 0 }, below[7] = { 0 };
	double sum = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t next = golden_draw_next(&d);

		assert_true(next == golden_draw_next(&same));
		assert_true(next != golden_draw_next(&seed) && next != golden_draw_next(&word));
	}
	for (unsigned i = 0; i < 7000; i++) {
		uint32_t n = golden_draw_between(&d, 3, 7), k = golden_draw_below(&d, 7);
		double x = golden_draw_unit(&d);

		assert_true(n >= 3 && n <= 7 && k < 7 && x >= 0 && x < 1);
		seen[n]++;
		below[k]++;
		sum += x;
	}
	for (unsigned n = 3; n <= 7; n++)
		assert_in_range(seen[n], 1200, 1600);
	for (unsigned k = 0; k < 7; k++)
		assert_in_range(below[k], 800, 1200);
	assert_true(sum > 0.48 * 7000 && sum < 0.52 * 7000);
	assert_int_equal(golden_draw_below(&d, 1), 0);
	assert_int_equal(golden_draw_between(&d, 5, 5), 5);
}

/* Machines. */

/* By their seeds, from 1 on. */
static struct golden_machine *machines[SEEDS + 1];

static struct golden_machine *machine(uint64_t seed)
{
	struct gus_error err = { 0 };
	struct golden_machine *m = golden_machine_new(seed, &err);

	if (!m)
		fail_msg("seed %" PRIu64 ": %s", seed, err.text);
	return m;
}

static int make_machines(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		machines[seed] = machine(seed);
	return 0;
}

static int free_machines(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		golden_machine_free(machines[seed]);
	return 0;
}

static void a_seed_is_a_machine(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct golden_machine *a = machines[seed], *other = machines[seed == 1 ? SEEDS : seed - 1];
		struct golden_machine *b = machine(seed);

		assert_string_equal(a->text, b->text);
		assert_memory_equal(&a->config, &b->config, sizeof(a->config));
		assert_memory_equal(&a->caches, &b->caches, sizeof(a->caches));
		assert_memory_equal(&a->predictor, &b->predictor, sizeof(a->predictor));
		assert_int_equal(golden_traits_bits(a->traits), golden_traits_bits(b->traits));
		assert_memory_not_equal(&a->config, &other->config, sizeof(a->config));
		assert_memory_not_equal(&a->caches, &other->caches, sizeof(a->caches));
		golden_machine_free(b);
	}
}

/* Its table is text that anybody can run: read again it is the same machine, and caches and predictor can be made. */
static void a_machine_is_its_table(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct gus_error err = { 0 };
		const struct golden_machine *m = machines[seed];
		struct gus_branch_predictor *predictor = gus_branch_new(&m->predictor, &err);
		struct gus_cache *cache = gus_cache_new(&m->caches, &err);
		struct gus_core_config again;
		struct gus_uarch *u;
		char name[32];

		snprintf(name, sizeof(name), "golden-%" PRIu64, seed);
		u = gus_uarch_parse(name, m->text, strlen(m->text), &gus_uarch_builtin, 0, &err);
		if (!u || !predictor || !cache || gus_core_config_check(&m->config, &err) != 0)
			fail_msg("seed %" PRIu64 ": %s", seed, err.text);
		gus_core_config_of(&again, u);
		assert_memory_equal(&again, &m->config, sizeof(again));
		assert_string_equal(u->name, name);
		assert_int_equal(m->seed, seed);
		gus_uarch_free(u);
		gus_branch_free(predictor);
		gus_cache_free(cache);
	}
}

/* What parameters are drawn from: low, high, in steps. */
struct range { const char *name; uint32_t low, high, step; };

static const struct range ranges[] = {
	{ "issue_width", 3, 8, 1 }, { "store_sets", 256, 2048, 256 },
	{ "load_buffer", 40, 192, 4 }, { "store_buffer", 24, 112, 4 }, { "branch_buffer", 32, 128, 8 },
	{ "int_registers", 128, 288, 4 }, { "vector_registers", 128, 288, 4 }, { "predecode_width", 4, 8, 1 },
	{ "decode_width", 3, 6, 1 }, { "uop_cache_size", 1024, 6144, 512 }, { "uop_cache_width", 4, 9, 1 },
	{ "queue_size", 32, 144, 8 }, { "mispredict_penalty", 9, 20, 1 }, { "l1d_misses", 8, 24, 2 },
	{ "l2_latency", 11, 19, 1 }, { "l3_latency", 36, 76, 1 }, { "memory_latency", 55, 120, 1 },
	{ "memory_bandwidth", 4, 14, 1 }, { "dtlb_size", 32, 128, 16 }, { "stlb_latency", 6, 10, 1 },
	{ "page_walk_latency", 18, 45, 1 }, { "page_walks", 1, 4, 1 }, { "store_forward_latency", 4, 6, 1 },
	{ "store_forward_blocked", 12, 19, 1 }, { "alias_penalty", 3, 8, 1 }, { "line_split_penalty", 2, 8, 1 },
	{ "l1d_next_line", 0, 1, 1 }, { "l1d_stride_ahead", 2, 16, 1 }, { "l2_next_line", 0, 3, 1 },
	{ "l1d_stores", 1, 2, 1 }, { "l2_bandwidth", 16, 64, 16 }, { "l3_bandwidth", 8, 32, 8 },
	{ "fetch_bytes", 16, 32, 16 }, { "l1d_size", 32, 64, 16 }, { "l1i_size", 32, 64, 32 },
	{ "l2_size", 256, 2048, 256 }, { "l3_size", 2048, 32768, 2048 }, { "l1d_strides", 0, 64, 16 },
	{ "itlb_size", 32, 128, 32 }, { "stlb_size", 512, 3072, 512 }, { "l1d_ways", 8, 8, 1 }, { "l1i_ways", 8, 8, 1 },
	{ "l2_ways", 8, 16, 8 }, { "l3_ways", 8, 16, 8 }, { "dtlb_ways", 4, 8, 4 }, { "stlb_ways", 4, 8, 4 },
};
enum { RANGES = sizeof(ranges) / sizeof(*ranges), FEW = 13 };

static uint32_t value(const struct golden_machine *m, const char *name)
{
	return (uint32_t)gus_uarch_value(m->uarch, name, 1e9);
}

/* No scheduler is larger than the ROB, and no machine retires less than it issues. */
static void check_window(const struct golden_machine *m)
{
	uint32_t width = value(m, "issue_width"), retire = value(m, "retire_width"), rob = value(m, "rob");
	uint32_t rs = value(m, "rs");

	assert_true(retire >= width && retire <= width + 3);
	assert_true(rob >= 32 * width && rob <= 32 * width + 256 && rob % 16 == 0);
	assert_true(rs >= rob / 4 && rs < rob / 4 + rob / 5);
}

/* Each parameter in its range, and of 60 machines not all in one half of it; what has few values has both ends. */
static void parameters_are_drawn_from_their_ranges(void **state)
{
	unsigned low[RANGES] = { 0 }, high[RANGES] = { 0 };
	bool least[RANGES] = { false }, most[RANGES] = { false }, odd[RANGES] = { false };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct golden_machine *m = machines[seed];

		check_window(m);
		for (size_t i = 0; i < RANGES; i++) {
			const struct range *r = &ranges[i];
			uint32_t v = value(m, r->name);

			if (v < r->low || v > r->high || (v - r->low) % r->step)
				fail_msg("seed %" PRIu64 ": %s is %u", seed, r->name, v);
			low[i] += v - r->low <= (r->high - r->low) / 2;
			high[i] += v - r->low >= (r->high - r->low) / 2;
			least[i] |= v == r->low;
			most[i] |= v == r->high;
			odd[i] |= (v - r->low) / r->step % 2;
		}
	}
	for (size_t i = 0; i < RANGES; i++) {
		if (low[i] < 5 || high[i] < 5)
			fail_msg("%s: %u below the middle, %u above", ranges[i].name, low[i], high[i]);
		if ((ranges[i].high - ranges[i].low) / ranges[i].step < FEW && (!least[i] || !most[i]))
			fail_msg("%s is never at one of its ends", ranges[i].name);
		if (ranges[i].high > ranges[i].low && !odd[i])
			fail_msg("%s has larger steps", ranges[i].name);
	}
}

/* Words: each of them is drawn for some machine. */
static void words_are_drawn_from_their_lists(void **state)
{
	static const struct { const char *name, *words; } lists[] = {
		{ "port_binding", " fewest alternate round_robin slots ranks rotate any " },
		{ "l1d_replacement", " lru tree_plru random srrip " },
		{ "l2_replacement", " lru tree_plru srrip qlru_h00_m1_r2_u1 " },
		{ "l3_replacement", " lru srrip random qlru_h11_m1_r0_u0 " },
		{ "l2_inclusion", " none inclusive " }, { "l3_inclusion", " none inclusive exclusive " },
		{ "move_elimination_int", " yes no " }, { "macro_fusion", " test_cmp test_cmp_add none " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		char left[128];

		strcpy(left, lists[i].words);
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			const struct golden_machine *m = machines[seed];
			char word[64], *at;

			snprintf(word, sizeof(word), " %s ", gus_uarch_param(m->uarch, lists[i].name)->word);
			if (!strstr(lists[i].words, word))
				fail_msg("seed %" PRIu64 ": %s is%s", seed, lists[i].name, word);
			at = strstr(left, word);
			if (at)
				memset(at + 1, ' ', strlen(word) - 2);
			}
		if (strspn(left, " ") != strlen(left))
			fail_msg("%s is never%s", lists[i].name, left);
	}
}

/* Both ends are drawn for some machine, and nothing outside of them. */
static void values_are(const char *what, uint32_t low, uint32_t high, uint32_t (*get)(const struct gus_branch_config *))
{
	uint64_t seen = 0, all = UINT64_MAX >> (63 - high) & ~((UINT64_C(1) << low) - 1);

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		seen |= UINT64_C(1) << get(&machines[seed]->predictor);
	if (seen & ~all || !(seen >> low & 1) || !(seen >> high & 1))
		fail_msg("%s: %" PRIx64 ", not %" PRIx64, what, seen, all);
}

static uint32_t base_bits(const struct gus_branch_config *c) { return c->base_bits; }
static uint32_t tables(const struct gus_branch_config *c) { return c->direction.tables ? c->direction.tables : 3; }
static uint32_t entry_bits(const struct gus_branch_config *c) { return c->direction.entry_bits; }
static uint32_t tag_bits(const struct gus_branch_config *c) { return c->direction.tag_bits; }
static uint32_t history_min(const struct gus_branch_config *c) { return c->direction.history_min; }
static uint32_t history_max(const struct gus_branch_config *c)
{
	return (uint32_t)__builtin_ctz(c->direction.history_max);
}
static uint32_t target_bits(const struct gus_branch_config *c) { return c->target.entry_bits; }
static uint32_t btb_entries(const struct gus_branch_config *c) { return (uint32_t)__builtin_ctz(c->btb_entries); }
static uint32_t return_depth(const struct gus_branch_config *c) { return c->return_depth; }

/* One in five has no histories. */
static void predictors_are_drawn_from_their_ranges(void **state)
{
	unsigned plain = 0;

	(void)state;
	values_are("counters", 11, 14, base_bits);
	values_are("tables", 3, 12, tables);
	values_are("entries", 8, 11, entry_bits);
	values_are("tags", 8, 12, tag_bits);
	values_are("the shortest history", 3, 8, history_min);
	values_are("the longest history, a power", 6, 9, history_max);
	values_are("targets", 7, 10, target_bits);
	values_are("the buffer, a power", 10, 13, btb_entries);
	values_are("returns", 12, 32, return_depth);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct gus_branch_config *c = &machines[seed]->predictor;

		plain += !c->direction.tables;
		assert_true(!(c->direction.history_max & (c->direction.history_max - 1)));
		assert_true(!(c->btb_entries & (c->btb_entries - 1)));
	}
	assert_in_range(plain, 4, 24);
}

static bool same_uses(const struct gus_uarch *a, const struct gus_uarch_row *ra, const struct gus_uarch *b,
		      const struct gus_uarch_row *rb)
{
	if (ra->uses_n != rb->uses_n || ra->units_n != rb->units_n)
		return false;
	for (uint32_t i = 0; i < ra->uses_n; i++)
		if (strcmp(a->groups[a->uses[ra->uses + i].group].name, b->groups[b->uses[rb->uses + i].group].name) ||
		    a->uses[ra->uses + i].cycles != b->uses[rb->uses + i].cycles)
			return false;
	for (uint32_t i = 0; i < ra->units_n; i++)
		if (strcmp(a->units[a->uses[ra->units + i].group], b->units[b->uses[rb->units + i].group]) ||
		    a->uses[ra->units + i].cycles != b->uses[rb->units + i].cycles)
			return false;
	return true;
}

struct changes { unsigned rows, kept, sooner, later, longest; };

/* Latencies of 3 to 6 cycles by one at most, longer ones by 30 %, and whole cycles; loads as much. The rest stays. */
static void compare_row(const struct gus_uarch *base, const struct gus_uarch_row *was, const struct gus_uarch *u,
			const struct gus_uarch_row *is, struct changes *changes)
{
	int more = (int)is->latency - (int)was->latency;
	int most = was->latency <= 600 ? 100 : (int)was->latency * 3 / 10 + 100;

	assert_true(was->uops == is->uops && was->fused == is->fused && was->decoded == is->decoded);
	assert_true(was->complex == is->complex && was->microcoded == is->microcoded && was->pairs_n == is->pairs_n);
	assert_true(same_uses(base, was, u, is));
	assert_true(more % 100 == 0 && abs(more) <= most);
	assert_int_equal(is->loadlat, was->loadlat ? was->loadlat + (unsigned)more : 0);
	if (was->latency < 300 || was->uops > 2 || was->pairs_n || was->least || was->guessed || was->microcoded)
		assert_int_equal(more, 0);
	changes->rows += was->latency >= 300;
	changes->kept += was->latency >= 300 && !more;
	changes->sooner += more < 0;
	changes->later += more > 0;
	if (was->latency > 600 && (unsigned)abs(more) / 100 > changes->longest)
		changes->longest = (unsigned)abs(more) / 100;
}

static void latencies_are_near_those_of_the_base(void **state)
{
	struct changes changes = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct gus_error err = { 0 };
		const struct golden_machine *m = machines[seed];
		struct gus_uarch *base = gus_uarch_parse(m->uarch->likes[0], NULL, 0, &gus_uarch_builtin, 0, &err);

		assert_non_null(base);
		assert_int_equal(base->forms_n, m->uarch->forms_n);
		assert_int_equal(base->ports_n, m->uarch->ports_n);
		for (uint32_t i = 0; i < base->forms_n; i++) {
			const struct gus_uarch_form *was = &base->forms[i], *is = gus_uarch_form(m->uarch, was->hash);

			assert_int_equal(was->row == GUS_UARCH_NONE, is->row == GUS_UARCH_NONE);
			if (was->row != GUS_UARCH_NONE)
				compare_row(base, &base->rows[was->row], m->uarch, &m->uarch->rows[is->row], &changes);
		}
		gus_uarch_free(base);
	}
	assert_true(changes.sooner > 100 && changes.later > 100 && changes.longest > 1);
	assert_true(changes.kept > changes.rows / 4 && changes.kept < changes.rows);
}

static void tables_as_they_are(void **state)
{
	struct gus_error err = { 0 };
	struct golden_machine *m = golden_machine_of("skylake", &err);
	const struct gus_uarch_form *form;

	(void)state;
	assert_non_null(m);
	assert_string_equal(m->uarch->name, "skylake");
	assert_int_equal(m->config.rob, 224);
	form = gus_uarch_form_by_text(m->uarch, "LEA_R_D32 (R32)");
	assert_string_equal(m->uarch->rows[form->row].id, "lea_rip"); /* which its overlay says */
	assert_int_equal(golden_traits_bits(m->traits), 0);
	assert_null(golden_traits_hooks(m->traits));
	golden_machine_free(m);
	assert_null(golden_machine_of("no-such-table", &err));
	golden_machine_free(NULL);
}

/* Traits. */

static const uint32_t subjects[] = { 1 << GOLDEN_REPLAY, 1 << GOLDEN_LOAD_PARTS, 1 << GOLDEN_LATE_TRAINING,
	1 << GOLDEN_BANKS | 1 << GOLDEN_HEAVY_TAIL | 1 << GOLDEN_SLICES, 1 << GOLDEN_SHARED_WALKER,
	1 << GOLDEN_THROTTLED, 1 << GOLDEN_COMMIT_GROUPS, 1 << GOLDEN_UNEVEN_PORT | 1 << GOLDEN_COLD_PORT };

/* Two or three, of different subjects; each of them some machine has. */
static void machines_have_traits(void **state)
{
	uint32_t all = 0;
	unsigned two = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct golden_machine *m = machines[seed];
		uint32_t bits = golden_traits_bits(m->traits);

		assert_in_range(__builtin_popcount(bits), 2, 3);
		for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++)
			assert_true(__builtin_popcount(bits & subjects[i]) <= 1);
		assert_int_equal(m->predictor.train_late, bits >> GOLDEN_LATE_TRAINING & 1 ? 24 : 0);
		assert_int_equal(m->caches.prefetch_throttle, bits >> GOLDEN_THROTTLED & 1 ? 4 : 0);
		assert_non_null(golden_traits_hooks(m->traits));
		two += __builtin_popcount(bits) == 2;
		all |= bits;
	}
	assert_int_equal(all, (1u << GOLDEN_TRAITS) - 1);
	assert_in_range(two, SEEDS / 4, SEEDS * 3 / 4);
	for (unsigned i = 0; i < GOLDEN_TRAITS; i++)
		assert_true(strlen(golden_trait_names[i]) > 0);
}

/* Round figures. No limits of bandwidth. */
static const struct gus_core_config config = { .memory_latency = 240, .l2_latency = 14, .l3_latency = 56,
	.page_walk_latency = 30, .line_size = 64, .load_buffer = 10 };

static struct golden_traits *traits;
static const struct gus_core_hooks *hooks;

static void drop(void)
{
	golden_traits_free(traits);
	traits = NULL;
}

static int teardown(void **state)
{
	(void)state;
	drop();
	return 0;
}

static void have(enum golden_trait trait, uint64_t seed, const struct gus_core_config *c)
{
	drop();
	traits = golden_traits_of(1u << trait, seed, c);
	hooks = golden_traits_hooks(traits);
	assert_int_equal(golden_traits_bits(traits), 1u << trait);
}

/* Hooks that a trait does not need are not there, as the engine then does what it does without. */
static void no_more_hooks_than_traits_need(void **state)
{
	(void)state;
	for (unsigned i = 0; i <= GOLDEN_NEIGHBOUR; i++) {
		have(i, 1, &config);
		assert_true(hooks->begin && hooks->context == traits);
		assert_int_equal(hooks->latency != NULL, i == GOLDEN_UNEVEN_PORT || i == GOLDEN_COLD_PORT);
		assert_int_equal(hooks->replay != NULL, i == GOLDEN_REPLAY);
		assert_int_equal(hooks->retire != NULL, i == GOLDEN_COMMIT_GROUPS);
		assert_int_equal(hooks->load_enters != NULL, i == GOLDEN_LOAD_PARTS);
		assert_int_equal(hooks->load_leaves != NULL, i == GOLDEN_LOAD_PARTS);
		assert_int_equal(hooks->line != NULL, (i >= GOLDEN_BANKS && i <= GOLDEN_SLICES) || i == GOLDEN_BURSTS);
		assert_int_equal(hooks->shared != NULL, i == GOLDEN_NEIGHBOUR);
		assert_int_equal(hooks->walk != NULL, i == GOLDEN_SHARED_WALKER);
	}
}

static uint64_t line(unsigned level, uint64_t address, uint64_t from)
{
	return hooks->line(hooks->context, level, address, false, from) - from;
}

enum { ROW = 8192, BANKS = 16, OPEN = 180, CLOSED = 300, BUSY_OPEN = 16, BUSY_CLOSED = 90 };

/* A row of 8 KiB in each of 16 banks is open. Another one takes longer, and has the bank busy for longer. */
static void banks_with_open_rows(void **state)
{
	(void)state;
	have(GOLDEN_BANKS, 1, &config);
	for (unsigned again = 0; again < 2; again++) {
		assert_int_equal(line(GUS_HIT_MEMORY, 0, 5000), CLOSED);
		assert_int_equal(line(GUS_HIT_MEMORY, 64, 6000), OPEN);
		assert_int_equal(line(GUS_HIT_MEMORY, ROW - 1, 7000), OPEN);
		assert_int_equal(line(GUS_HIT_MEMORY, ROW, 7000), CLOSED); /* of the second bank */
		assert_int_equal(line(GUS_HIT_MEMORY, ROW * BANKS - 1, 7000), CLOSED);
		assert_int_equal(line(GUS_HIT_MEMORY, 0, 8000), OPEN);
		assert_int_equal(line(GUS_HIT_MEMORY, ROW * BANKS, 9000), CLOSED); /* of the first */
		assert_int_equal(line(GUS_HIT_MEMORY, ROW * BANKS, 9000 + BUSY_CLOSED), OPEN);
		assert_int_equal(line(GUS_HIT_MEMORY, ROW * BANKS, 9000 + BUSY_CLOSED), BUSY_OPEN + OPEN);
		assert_int_equal(line(GUS_HIT_MEMORY, ROW * BANKS, 9000 + BUSY_CLOSED), 2 * BUSY_OPEN + OPEN);
		assert_int_equal(line(GUS_HIT_MEMORY, 0, 10000), CLOSED);
		assert_int_equal(line(GUS_HIT_MEMORY, 0, 10000 + BUSY_CLOSED - 1), 1 + OPEN);
		assert_int_equal(line(GUS_HIT_L3, 0, 11000), 56); /* it passes no bank */
		assert_int_equal(line(GUS_HIT_L2, 0, 11000), 14);
		hooks->begin(hooks->context);
	}
}

/* 350 ns of each 7.8 us are for refreshing. */
static void refreshes_delay(void **state)
{
	static const struct { uint64_t from, waits; } cases[] = { { 0, 1400 }, { 1, 1399 }, { 1399, 1 }, { 1400, 0 },
		{ 31199, 0 }, { 31200, 1400 }, { 32599, 1 }, { 32600, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		have(GOLDEN_BANKS, 1, &config);
		assert_int_equal(line(GUS_HIT_MEMORY, 0, cases[i].from), cases[i].waits + CLOSED);
	}
}

/* Of memory 1 in 10 takes longer, 1 in 100 three times as long; the same in each run, and others with other seeds. */
static void some_lines_take_longer(void **state)
{
	enum { MANY = 100000 };
	static uint16_t first[MANY];
	unsigned most = 0, more = 0, least = 0, other = 0;

	(void)state;
	have(GOLDEN_HEAVY_TAIL, 1, &config);
	for (unsigned i = 0; i < MANY; i++) {
		first[i] = (uint16_t)line(GUS_HIT_MEMORY, 0, 1000 * i);
		assert_true(first[i] == 204 || first[i] == 360 || first[i] == 720);
		least += first[i] == 204;
		more += first[i] == 360;
		most += first[i] == 720;
	}
	assert_in_range(least, MANY * 89 / 100, MANY * 91 / 100);
	assert_in_range(more, MANY * 8 / 100, MANY * 10 / 100);
	assert_in_range(most, MANY * 8 / 1000, MANY * 12 / 1000);
	hooks->begin(hooks->context);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(line(GUS_HIT_MEMORY, 0, 1000 * i), first[i]);
	have(GOLDEN_HEAVY_TAIL, 2, &config);
	for (unsigned i = 0; i < 1000; i++)
		other += line(GUS_HIT_MEMORY, 0, 1000 * i) != first[i];
	assert_true(other > 100);
	assert_int_equal(line(GUS_HIT_L3, 0, 1000000), 56);
	assert_int_equal(line(GUS_HIT_L2, 0, 1000000), 14);
}

/* A line's slice is one of eight, from 3/4 of the latency on, each hop a fourteenth of it more. */
static void slices_by_address(void **state)
{
	unsigned seen[8] = { 0 };

	(void)state;
	have(GOLDEN_SLICES, 1, &config);
	for (uint64_t i = 0; i < 8000; i++) {
		uint64_t took = line(GUS_HIT_L3, 64 * i, 10 * i);

		assert_true(took >= 42 && took <= 70 && (took - 42) % 4 == 0);
		assert_int_equal(line(GUS_HIT_L3, 64 * i + 63, 10 * i), took);
		seen[(took - 42) / 4]++;
	}
	for (unsigned i = 0; i < 8; i++)
		assert_in_range(seen[i], 900, 1100);
	assert_int_equal(line(GUS_HIT_MEMORY, 0, 80000), 240);
	assert_int_equal(line(GUS_HIT_L2, 0, 80000), 14);
}

/* Lines pass memory's bandwidth, then L3's, then L2's; those of code take none of them, and wait for none. */
static void lines_pass_what_they_pass_without_traits(void **state)
{
	struct gus_core_config c = config;

	(void)state;
	c.memory_bandwidth = 4;         /* 16 cycles a line */
	c.l3_bandwidth = 8;
	c.l2_bandwidth = 63;            /* 2 */
	have(GOLDEN_SLICES, 1, &c);
	for (unsigned again = 0; again < 2; again++) {
		assert_int_equal(line(GUS_HIT_MEMORY, 0, 1000), 240);
		assert_int_equal(line(GUS_HIT_MEMORY, 0, 1000), 16 + 240);
		assert_int_equal(line(GUS_HIT_L2, 0, 1000), 16 + 2 + 14);
		assert_int_equal(line(GUS_HIT_L2, 0, 1020), 14);
		hooks->begin(hooks->context);
	}
	have(GOLDEN_HEAVY_TAIL, 1, &c);
	assert_int_equal(line(GUS_HIT_L3, 0, 1000), 56);
	assert_int_equal(line(GUS_HIT_L3, 0, 1000), 8 + 56);
	assert_int_equal(line(GUS_HIT_L2, 0, 1000), 8 + 2 + 14);
	assert_int_equal(line(GUS_HIT_L2, 0, 1000), 8 + 4 + 14);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(hooks->line(hooks->context, GUS_HIT_L2, 0, true, 1000), 1014);
		assert_int_equal(hooks->line(hooks->context, GUS_HIT_L3, 0, true, 1000), 1056);
		assert_int_equal(hooks->line(hooks->context, GUS_HIT_MEMORY, 0, true, 1000), 1240);
	}
	assert_int_equal(line(GUS_HIT_L2, 0, 1000), 8 + 6 + 14);
}

/* Data are four times as late in one of eight lines, at least 16 of them in a row, and earlier in the others, so that
 * the mean is the latency, but for what is cut off of it; code is what it was, and is no line of a burst. */
static void bursts_keep_the_mean(void **state)
{
	static const struct { enum gus_hit level; uint64_t late, early, mean; } cases[] = {
		{ GUS_HIT_L2, 4 * 14, 14 * 4 / 7, 14 }, { GUS_HIT_L3, 4 * 56, 56 * 4 / 7, 56 },
		{ GUS_HIT_MEMORY, 4 * 240, 240 * 4 / 7, 240 } };
	enum { LINES = 1 << 19 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t late = 0, row = 0, sum = 0;

		have(GOLDEN_BURSTS, 1, &config);
		for (uint64_t k = 0; k < LINES; k++) {
			uint64_t cycles = line(cases[i].level, 64 * k, 1000 * k);

			assert_true(cycles == cases[i].late || cycles == cases[i].early);
			assert_true(cycles == cases[i].late || !row || row >= 16);
			row = cycles == cases[i].late ? row + 1 : 0;
			late += cycles == cases[i].late;
			sum += cycles;
			if (k % 16 == 0)
				assert_int_equal(hooks->line(hooks->context, GUS_HIT_L2, 0, true, 1000), 1014);
		}
		assert_in_range(late, LINES / 8 - 4096, LINES / 8 + 4096);
		assert_in_range(sum / (LINES / 100), 96 * cases[i].mean, 104 * cases[i].mean);
	}
}

/* Of half of all cycles, in stretches of 1,000 at least, half of the slots and a quarter of each port. */
static void the_neighbour_comes_and_goes(void **state)
{
	enum { CYCLES = 1 << 24, WIDTH = 4 };
	struct gus_core_config c = config;
	uint64_t there = 0, slots = 0, ports[2] = { 0 }, away = 0, changes = 0;

	(void)state;
	c.issue_width = WIDTH;
	have(GOLDEN_NEIGHBOUR, 1, &c);
	for (uint64_t now = 0; now < CYCLES; now++) {
		uint64_t taken = 0;
		unsigned n = hooks->shared(hooks->context, &taken, now);

		assert_in_range(n, 0, WIDTH);
		away = n || taken ? 0 : away + 1;
		changes += away == 900; /* while there is somebody nobody is away for so long */
		there += taken != 0;
		slots += n;
		ports[0] += taken & 1;
		ports[1] += taken >> 63;
	}
	assert_in_range(there, CYCLES * 4 / 10, CYCLES * 6 / 10);
	assert_in_range(slots * 100 / there, 100 * WIDTH / 2 - 2, 100 * WIDTH / 2 + 2);
	assert_in_range(ports[0] * 100 / there, 24, 26);
	assert_in_range(ports[1] * 100 / there, 24, 26);
	assert_true(changes > 20);
}

/* It has what it had, and the stress. */
static void machines_are_stressed_when_asked(void **state)
{
	struct golden_machine *m = golden_machine_new(3, NULL);
	uint32_t bits;

	(void)state;
	assert_non_null(m);
	bits = golden_traits_bits(m->traits);
	golden_machine_stress(m, GOLDEN_NEIGHBOUR);
	assert_int_equal(golden_traits_bits(m->traits), bits | 1u << GOLDEN_NEIGHBOUR);
	assert_non_null(golden_traits_hooks(m->traits)->shared);
	golden_machine_free(m);
	for (uint64_t seed = 1; seed < SEEDS; seed++) {
		m = golden_machine_new(seed, NULL);
		assert_non_null(m);
		assert_int_equal(golden_traits_bits(m->traits) >> GOLDEN_TRAITS, 0);
		golden_machine_free(m);
	}
}

enum { REGION = 1 << 21, UPPER = 16, WALK = 30 };

static uint64_t walk(uint64_t address, bool code, uint64_t from)
{
	return hooks->walk(hooks->context, address, code, from) - from;
}

/* Twice as long where the upper levels are not known: those of 16 regions of 2 MiB are, by the lowest bits. */
static void upper_levels_are_cached(void **state)
{
	static const struct { uint64_t address; unsigned walks; } cases[] = { { 0, 2 }, { 4096, 1 }, { REGION - 1, 1 },
		{ REGION, 2 }, { 15 * REGION, 2 }, { 0, 1 }, { UPPER * REGION, 2 }, { 0, 2 }, { REGION, 1 } };

	(void)state;
	have(GOLDEN_SHARED_WALKER, 1, &config);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(walk(cases[i].address, true, 0), cases[i].walks * WALK);
	hooks->begin(hooks->context);
	assert_int_equal(walk(0, true, 0), 2 * WALK);
}

/* In three of ten cases somebody else has the walker for half a walk. One's own walks are one behind the other, but
 * that code waits for none and holds up none. */
static void the_walker_is_shared(void **state)
{
	unsigned others = 0;

	(void)state;
	have(GOLDEN_SHARED_WALKER, 1, &config);
	walk(0, true, 0);
	for (unsigned i = 1; i <= 10000; i++) {
		uint64_t from = 1000 * i, first = walk(0, false, from), second;

		assert_true(first == WALK || first == WALK + WALK / 2);
		others += first != WALK;
		assert_int_equal(walk(0, true, from), WALK);
		second = walk(0, false, from);
		assert_true(second == first + WALK || second == first + WALK + WALK / 2);
	}
	assert_in_range(others, 2850, 3150);
	hooks->begin(hooks->context);
	assert_in_range(walk(0, false, 0), 2 * WALK, 2 * WALK + WALK / 2); /* nobody has it any more */
}

/* Five of ten entries for even lines and five for odd ones; one that is left is free again. */
static void parts_are_full_by_themselves(void **state)
{
	struct gus_core_config c = config;
	unsigned part;

	(void)state;
	have(GOLDEN_LOAD_PARTS, 1, &config);
	for (unsigned again = 0; again < 2; again++) {
		for (unsigned i = 0; i < 5; i++) {
			assert_true(hooks->load_enters(hooks->context, i == 4 ? 63 : 128 * i, &part));
			assert_int_equal(part, 0);
		}
		assert_false(hooks->load_enters(hooks->context, 128, &part));
		for (unsigned i = 0; i < 5; i++) {
			assert_true(hooks->load_enters(hooks->context, i == 4 ? 127 : 64 + 128 * i, &part));
			assert_int_equal(part, 1);
		}
		assert_false(hooks->load_enters(hooks->context, 64, &part));
		hooks->load_leaves(hooks->context, 1);
		assert_false(hooks->load_enters(hooks->context, 0, &part));
		assert_true(hooks->load_enters(hooks->context, 64, &part));
		assert_false(hooks->load_enters(hooks->context, 64, &part));
		hooks->begin(hooks->context);
	}
	c.load_buffer = 0; /* no limit known: 32 each */
	have(GOLDEN_LOAD_PARTS, 1, &c);
	for (unsigned i = 0; i < 32; i++)
		assert_true(hooks->load_enters(hooks->context, 0, &part));
	assert_false(hooks->load_enters(hooks->context, 0, &part));
}

/* As many as were issued in the oldest one's cycle. */
static void what_was_issued_together_retires_together(void **state)
{
	static const struct { uint64_t issued[4]; unsigned n, retire; } cases[] = {
		{ { 5 }, 1, 1 }, { { 5, 5 }, 2, 2 }, { { 5, 6 }, 2, 1 }, { { 5, 5, 5, 5 }, 4, 4 },
		{ { 5, 5, 5, 6 }, 4, 3 }, { { 5, 5, 6, 6 }, 4, 2 }, { { 5, 6, 6, 6 }, 4, 1 }, { { 5, 6, 5, 5 }, 4, 1 },
		{ { 5 }, 0, 0 },
	};

	(void)state;
	have(GOLDEN_COMMIT_GROUPS, 1, &config);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(hooks->retire(hooks->context, cases[i].issued, cases[i].n, 100), cases[i].retire);
}

/* One port, the first or the second by the seed, takes a cycle longer for what computes. */
static void one_port_is_slower(void **state)
{
	unsigned which[2] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		unsigned slow = 0;

		have(GOLDEN_UNEVEN_PORT, seed, &config);
		for (unsigned port = 0; port < GUS_CORE_PORTS; port++) {
			unsigned more = hooks->latency(hooks->context, port, GUS_UOP_COMPUTE, 10000);

			assert_true(more <= 1 && (!more || port < 2));
			slow += more;
			which[port & 1] += more;
			for (unsigned kind = GUS_UOP_COMPUTE + 1; kind <= GUS_UOP_STORE_DATA; kind++)
				assert_int_equal(hooks->latency(hooks->context, port, kind, 10000), 0);
		}
		assert_int_equal(slow, 1);
	}
	assert_true(which[0] >= 10 && which[1] >= 10);
}

/* After more than 700 cycles without a uop of any kind a port takes eight more for what computes, once. */
static void an_idle_port_is_cold(void **state)
{
	static const struct { unsigned port, kind; uint64_t now; unsigned more; } cases[] = {
		{ 0, GUS_UOP_COMPUTE, 700, 0 }, { 1, GUS_UOP_COMPUTE, 701, 8 }, { 1, GUS_UOP_COMPUTE, 702, 0 },
		{ 0, GUS_UOP_COMPUTE, 1400, 0 }, { 0, GUS_UOP_COMPUTE, 2101, 8 }, { 0, GUS_UOP_LOAD, 3000, 0 },
		{ 0, GUS_UOP_COMPUTE, 3700, 0 }, { 1, GUS_UOP_COMPUTE, 3700, 8 }, { 0, GUS_UOP_LOAD, 9000, 0 },
		{ GUS_CORE_PORTS - 1, GUS_UOP_COMPUTE, 9000, 8 }, { 0, GUS_UOP_COMPUTE, 9000, 0 },
	};

	(void)state;
	have(GOLDEN_COLD_PORT, 1, &config);
	for (unsigned again = 0; again < 2; again++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			assert_int_equal(hooks->latency(hooks->context, cases[i].port, cases[i].kind, cases[i].now),
					 cases[i].more);
		hooks->begin(hooks->context);
	}
}

/* Two to five cycles by the seed, for any load that was late. */
static void who_went_in_vain_goes_again(void **state)
{
	unsigned seen[6] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint32_t cycles;

		have(GOLDEN_REPLAY, seed, &config);
		cycles = hooks->replay(hooks->context, 1, 0);
		assert_in_range(cycles, 2, 5);
		assert_int_equal(hooks->replay(hooks->context, 1000, 77), cycles);
		assert_int_equal(hooks->replay(hooks->context, 0, 0), UINT32_MAX);
		seen[cycles]++;
	}
	for (unsigned i = 2; i <= 5; i++)
		assert_true(seen[i] > 0);
}

/* Another thread's are alike, and keep what they remember to themselves. */
static void threads_have_traits_of_their_own(void **state)
{
	struct golden_traits *again;
	const struct gus_core_hooks *others;

	(void)state;
	have(GOLDEN_BANKS, 5, &config);
	again = golden_traits_again(traits);
	others = golden_traits_hooks(again);
	assert_int_equal(line(GUS_HIT_MEMORY, 0, 5000), CLOSED);
	assert_int_equal(others->line(others->context, GUS_HIT_MEMORY, 0, false, 5000), 5000 + CLOSED);
	assert_int_equal(golden_traits_bits(again), 1u << GOLDEN_BANKS);
	golden_traits_free(again);
}

/* Passes. */

/* One pass over two periods fires at counts that are two periods apart, whatever is drawn; each within 12 %. */
static void pairs_of_periods_are_exact(void **state)
{
	enum { PERIOD = 1000, MOST = 120 };
	struct golden_passes p;
	uint64_t at[401];
	unsigned n = 0, apart = 0, far = 0;

	(void)state;
	golden_passes_begin(&p, 1, "test", PERIOD, 1);
	for (uint64_t count = 1; n < 401; count++)
		while (golden_passes_fire(&p, count, &at[n]) >= 0) {
			assert_int_equal(at[n], count);
			n++;
		}
	assert_int_equal(p.fired, 401);
	assert_in_range(at[0], 1, PERIOD);
	for (unsigned i = 0; i + 2 < 401; i += 2) {
		uint64_t first = at[i + 1] - at[i];

		assert_int_equal(at[i + 2] - at[i], 2 * PERIOD);
		assert_in_range(first, PERIOD - MOST, PERIOD + MOST);
		apart += first != PERIOD;
		far += first < PERIOD - MOST / 2 || first > PERIOD + MOST / 2;
	}
	assert_true(apart >= 190);
	assert_in_range(far, 60, 140);
	golden_passes_end(&p);
}

/* The first fires anywhere in the first period, never at 0. With a period of 1 there is no chance. */
static void first_counts_of_passes(void **state)
{
	enum { PASSES = 1000, PERIOD = 50 };
	unsigned seen[PERIOD + 1] = { 0 };
	struct golden_passes p;
	uint64_t at;

	(void)state;
	golden_passes_begin(&p, 1, "test", PERIOD, PASSES);
	for (unsigned i = 0; i < PASSES; i++) {
		assert_in_range(p.v[i].next, 1, PERIOD);
		seen[p.v[i].next]++;
		assert_true(p.first <= p.v[i].next);
	}
	assert_int_equal(golden_passes_fire(&p, p.first - 1, &at), -1);
	for (unsigned i = 1; i <= PERIOD; i++)
		assert_true(seen[i] > 0);
	golden_passes_end(&p);
	golden_passes_begin(&p, 1, "test", 1, 1);
	for (uint64_t count = 1; count < 10; count++) {
		assert_int_equal(golden_passes_fire(&p, count, &at), 0);
		assert_int_equal(at, count);
		assert_int_equal(golden_passes_fire(&p, count, &at), -1);
	}
	golden_passes_end(&p);
}

/* Several are due: the earliest first, of one count the lowest, and each as often as it is due. */
static void passes_that_are_due_together(void **state)
{
	struct golden_passes p;
	uint64_t at;

	(void)state;
	golden_passes_begin(&p, 1, "test", 8, 3); /* too short a period for chance: each is 8 */
	p.v[0].next = 20;
	p.v[1].next = 10;
	p.v[2].next = 20;
	golden_passes_first(&p);
	assert_int_equal(golden_passes_fire(&p, 9, &at), -1);
	assert_int_equal(golden_passes_fire(&p, 20, &at), 1);
	assert_int_equal(at, 10);
	assert_int_equal(golden_passes_fire(&p, 20, &at), 1);
	assert_int_equal(at, 18);
	assert_int_equal(golden_passes_fire(&p, 20, &at), 0);
	assert_int_equal(at, 20);
	assert_int_equal(golden_passes_fire(&p, 20, &at), 2);
	assert_int_equal(at, 20);
	assert_int_equal(golden_passes_fire(&p, 20, &at), -1);
	assert_int_equal(p.fired, 4);
	golden_passes_end(&p);
}

static void fixed_periods_have_no_chance(void **state)
{
	struct golden_passes p;
	uint64_t at, last;

	(void)state;
	golden_passes_begin(&p, 1, "test", 1000, 1);
	p.fixed = true;
	last = p.first;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(golden_passes_fire(&p, last, &at), 0);
		assert_int_equal(p.first, last + 1000);
		last = p.first;
	}
	golden_passes_end(&p);
}

/* What a run resonates with. Two uops retire in each cycle, those of a loop of so many cycles; of its last cycle
 * nothing retires, and it belongs to the first. */

static struct gus_op ops[32];
static const struct gus_program loops = { .ops = ops, .ops_n = 32 };

static void go_round(struct golden_resonance *r, unsigned cycles, unsigned rounds)
{
	const struct gus_core_listener *l = golden_resonance_listener(r);

	for (unsigned i = 0; i < rounds * cycles; i++) {
		uint32_t op = i % cycles;

		for (unsigned k = 0; op + 1 < cycles && k < 2; k++)
			l->retire(l->context, &(struct gus_core_retired){ .op = op, .ends = k == 1 });
		l->cycle(l->context, &(struct gus_core_cycle){ .op = 0 });
	}
}

static void runs_resonate_with_their_loops(void **state)
{
	struct golden_resonance *r = golden_resonance_new(&loops, 64);
	struct golden_periods p;
	double share;

	(void)state;
	for (unsigned i = 0; i < 32; i++)
		ops[i].insns_n = 3;
	go_round(r, 7, 10000);
	p = golden_resonance_periods(r, &share);
	assert_int_equal(p.cycles, 56);
	assert_int_equal(p.slots, 120);         /* 12 a round */
	assert_int_equal(p.instructions, 126);  /* 18 a round */
	assert_true(share > 0.99);
	golden_resonance_free(r);
	r = golden_resonance_new(&loops, 64);   /* from 56 to 72 only 63 is of both loops */
	go_round(r, 7, 10000);
	go_round(r, 9, 10000);
	p = golden_resonance_periods(r, &share);
	assert_int_equal(p.cycles, 63);
	assert_true(share > 0.99);
	golden_resonance_free(r);
	r = golden_resonance_new(&loops, 64);
	p = golden_resonance_periods(r, &share);
	assert_int_equal(p.cycles, 56);
	assert_true(share <= 0);
	golden_resonance_free(r);
}

#define TRAIT(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_stay_in_their_range),
		cmocka_unit_test(a_seed_is_a_machine),
		cmocka_unit_test(a_machine_is_its_table),
		cmocka_unit_test(parameters_are_drawn_from_their_ranges),
		cmocka_unit_test(words_are_drawn_from_their_lists),
		cmocka_unit_test(predictors_are_drawn_from_their_ranges),
		cmocka_unit_test(latencies_are_near_those_of_the_base),
		cmocka_unit_test(tables_as_they_are),
		cmocka_unit_test(machines_have_traits),
		TRAIT(no_more_hooks_than_traits_need),
		TRAIT(banks_with_open_rows),
		TRAIT(refreshes_delay),
		TRAIT(some_lines_take_longer),
		TRAIT(slices_by_address),
		TRAIT(lines_pass_what_they_pass_without_traits),
		TRAIT(bursts_keep_the_mean),
		TRAIT(the_neighbour_comes_and_goes),
		cmocka_unit_test(machines_are_stressed_when_asked),
		cmocka_unit_test(fixed_periods_have_no_chance),
		cmocka_unit_test(runs_resonate_with_their_loops),
		TRAIT(upper_levels_are_cached),
		TRAIT(the_walker_is_shared),
		TRAIT(parts_are_full_by_themselves),
		TRAIT(what_was_issued_together_retires_together),
		TRAIT(one_port_is_slower),
		TRAIT(an_idle_port_is_cold),
		TRAIT(who_went_in_vain_goes_again),
		TRAIT(threads_have_traits_of_their_own),
		cmocka_unit_test(pairs_of_periods_are_exact),
		cmocka_unit_test(first_counts_of_passes),
		cmocka_unit_test(passes_that_are_due_together),
	};

	return cmocka_run_group_tests_name("golden_machines", tests, make_machines, free_machines);
}
