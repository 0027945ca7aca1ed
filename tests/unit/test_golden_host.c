/* SPDX-License-Identifier: MIT */
/* Golden machines as hosts: microbenchmarks of which it is known what they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/calibration/emit.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/golden/host.h"
#include "tests/accuracy/golden/machine.h"

enum { SEEDS = 10 };

struct setting {
	struct golden_machine *m;
	struct golden_host golden;
	struct gus_calibration_host host;
};

static struct setting open_setting(uint64_t seed, const char *name)
{
	struct gus_error err = { 0 };
	struct setting s = { name ? golden_machine_of(name, &err) : golden_machine_new(seed, &err), { 0 }, { 0 } };

	assert_non_null(s.m);
	return s;
}

static void close_setting(struct setting *s)
{
	golden_machine_free(s->m);
}

static struct gus_micro_time time_of(struct setting *s, const struct gus_micro *k)
{
	struct gus_error err = { 0 };
	struct gus_micro_time time;

	golden_host_open(&s->golden, s->m, &s->host);
	if (s->host.run(s->host.context, &k, 1, &time, &err) != 0)
		fail_msg("%s", err.text);
	return time;
}

static double cycles_of(struct setting *s, const struct gus_micro *k)
{
	return time_of(s, k).cycles;
}

static void assert_near(double value, double expected, double share)
{
	if (fabs(value - expected) > share * fabs(expected))
		fail_msg("%g is not %g, within %g", value, expected, share);
}

/* A chain of ten adds on any machine of which an add takes a cycle; no trait touches its ports but the uneven one. */
static void chains_take_their_latency(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct setting s = open_setting(seed, NULL);
		struct gus_micro *k = gus_micro_new(GUS_ISA_X86_64, "chain");
		bool uneven = golden_traits_bits(s.m->traits) >> GOLDEN_UNEVEN_PORT & 1;
		uint32_t latency;
		struct gus_insn_info add;

		gus_emit_begin(k);
		gus_emit_loop(k);
		for (unsigned i = 0; i < 10; i++)
			gus_emit_add(k, 0, 1);
		gus_emit_end(k);
		assert_true(gus_insn_analyse(k->isa, k->code.v + k->loop, 15, &add));
		latency = gus_uarch_row(s.m->uarch, add.form)->latency;
		if (uneven)
			assert_true(cycles_of(&s, k) >= latency / 10. && cycles_of(&s, k) <= latency / 10. + 10);
		else
			assert_near(cycles_of(&s, k), latency / 10., 0.001);
		assert_int_equal(s.golden.spent.micros, 1);
		gus_micro_free(k);
		close_setting(&s);
	}
}

/* A CPU of the other ISA, as its table is. */
static void arm64_takes_its_latency(void **state)
{
	struct setting s = open_setting(0, "neoverse-n1");
	struct gus_micro *adds = gus_micro_new(GUS_ISA_ARM64, "adds"), *loads = gus_micro_new(GUS_ISA_ARM64, "loads");

	(void)state;
	gus_vec_push(&loads->lists, (struct gus_micro_list){ .places = 100, .distance = 128, .seed = 1 });
	loads->arena = 100 * 128;
	gus_emit_begin(adds);
	gus_emit_begin(loads);
	gus_emit_move(loads, 0, GUS_EMIT_ARENA);
	gus_emit_loop(adds);
	gus_emit_loop(loads);
	for (unsigned i = 0; i < 10; i++)
		gus_emit_add(adds, 0, 1);
	gus_emit_load(loads, 0, 0, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .step = true });
	gus_emit_end(adds);
	gus_emit_end(loads);
	assert_near(cycles_of(&s, adds), 10, 0.001);
	assert_near(cycles_of(&s, loads), gus_uarch_value(s.m->uarch, "l1d_latency", 4), 0.001);
	gus_micro_free(adds);
	gus_micro_free(loads);
	close_setting(&s);
}

static struct gus_micro *chase(uint64_t places, uint64_t distance)
{
	struct gus_micro *k = gus_micro_new(GUS_ISA_X86_64, "chase %llu", (unsigned long long)places);

	gus_vec_push(&k->lists, (struct gus_micro_list){ .places = places, .distance = distance, .seed = 1 });
	k->arena = places * distance;
	k->warm = 2 * places;
	k->huge = true;
	gus_emit_begin(k);
	gus_emit_move(k, 0, GUS_EMIT_ARENA);
	gus_emit_loop(k);
	gus_emit_load(k, 0, 0, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .step = true });
	gus_emit_end(k);
	return k;
}

/* From what is in each level: the load's latency, and the level's, unless loads that miss go again. */
static void lists_take_their_level(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct setting s = open_setting(seed, NULL);
		const struct gus_core_config *c = &s.m->config;
		const struct gus_cache_config *caches = &s.m->caches;
		struct gus_micro *near = chase(caches->level[0].bytes / 2 / 128, 128);
		struct gus_micro *middle = chase(caches->level[1].bytes / 4 * 3 / 128, 128);
		bool again = golden_traits_bits(s.m->traits) >> GOLDEN_REPLAY & 1;
		struct gus_insn_info load;
		double cycles, first;

		assert_true(gus_insn_analyse(near->isa, near->code.v + near->loop, 15, &load));
		cycles = gus_uarch_row(s.m->uarch, load.form)->loadlat / 100.;
		first = cycles_of(&s, near); /* less where a base that was loaded is faster */
		assert_true(first >= 4 && first < cycles + 0.01);
		cycles = cycles_of(&s, middle);
		assert_true(cycles > 0.999 * c->l2_latency);
		assert_true(cycles < 1.001 * (c->l2_latency + (again ? 5 : 0)));
		gus_micro_free(near);
		gus_micro_free(middle);
		close_setting(&s);
	}
}

/* A branch by chance goes wrong in half of the passes, and takes the penalty then; of one that takes turns, never. */
static double cycles_of_branch(struct setting *s, enum gus_micro_bits bits)
{
	struct gus_micro *k = gus_micro_new(GUS_ISA_X86_64, "branch");
	double cycles;

	gus_vec_push(&k->patterns, (struct gus_micro_pattern){ .bytes = 65536, .bits = bits, .seed = 5 });
	k->arena = 65536;
	gus_emit_begin(k);
	gus_emit_loop(k);
	gus_emit_load_indexed(k, 1, GUS_EMIT_ARENA, 0, (struct gus_micro_access){ GUS_MICRO_STRIDE, 0, 1, 65536, 0,
			      false });
	gus_emit_mask(k, 1, 8);
	gus_emit_branch(k, 1, 0);
	gus_emit_add_constant(k, 2, 1);
	gus_emit_land(k);
	gus_emit_add_constant(k, 0, 1);
	gus_emit_mask(k, 0, 16);
	gus_emit_end(k);
	cycles = cycles_of(s, k);
	gus_micro_free(k);
	return cycles;
}

static void branches_take_their_penalty(void **state)
{
	static const char *const names[] = { "skylake", "znver4" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct setting s = open_setting(0, names[i]);
		double chance = cycles_of_branch(&s, GUS_MICRO_RANDOM), turns = cycles_of_branch(&s, GUS_MICRO_TURNS);
		double penalty = s.m->config.mispredict_penalty;

		assert_true(turns < 5);
		/* and what the load takes until the branch can be executed */
		assert_true(chance > 0.45 * penalty && chance < 0.55 * (penalty + 16));
		close_setting(&s);
	}
}

/* Who does not say where an access goes, or a branch, is refused. */
static void what_is_not_told_is_refused(void **state)
{
	struct setting s = open_setting(0, "skylake");
	struct gus_micro *k = gus_micro_new(GUS_ISA_X86_64, "untold");
	const struct gus_micro *one = k;
	struct gus_error err = { 0 };
	struct gus_micro_time time;

	(void)state;
	gus_emit_begin(k);
	gus_emit_loop(k);
	gus_emit_bytes(k, "\x48\x8b\x06", 3);
	gus_emit_end(k);
	golden_host_open(&s.golden, s.m, &s.host);
	assert_int_equal(s.host.run(s.host.context, &one, 1, &time, &err), -1);
	assert_non_null(strstr(err.text, "1 accesses and it tells 0"));
	gus_vec_push(&k->accesses, (struct gus_micro_access){ .offset = 0 });
	assert_int_equal(s.host.run(s.host.context, &one, 1, &time, &err), 0);
	k->code.v[k->loop] = 0x06; /* push es */
	assert_int_equal(s.host.run(s.host.context, &one, 1, &time, &err), -1);
	gus_micro_free(k);
	close_setting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_take_their_latency), cmocka_unit_test(arm64_takes_its_latency),
		cmocka_unit_test(lists_take_their_level),
		cmocka_unit_test(branches_take_their_penalty), cmocka_unit_test(what_is_not_told_is_refused),
	};

	return cmocka_run_group_tests_name("golden_host", tests, NULL, NULL);
}
