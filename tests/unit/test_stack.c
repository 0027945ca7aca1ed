/* SPDX-License-Identifier: MIT */
/* attribution/stack: the names of components, their order, and that parts always are the whole. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/units.h"
#include "attribution/stacks/stack.h"

#define BIT(event) (1u << (event))
#define SETS (1u << GUS_TEA_EVENTS)

static const struct gus_component base = { 0 }, unknown = { .unknown = true };

static struct gus_component of(unsigned events, enum gus_served served)
{
	return (struct gus_component){ (uint16_t)events, (uint8_t)served, false };
}

/* The names as the papers and the manual write them, in the order in which they stand in a name. */
static const char *const events[] = {
	"DR-L1", "DR-TLB", "DR-SQ", "FL-MB", "FL-EX", "FL-MO", "ST-L1", "ST-TLB", "ST-LLC",
};
static const char *const levels[] = {
	NULL, "L1", "fill", "L2", "L3", "peer", "memory", "far-memory", "remote-cache", "remote-memory", "io",
};

static size_t word(const char *const *words, size_t n, const char *text, size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (words[i] && strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
			return i;
	fail_msg("'%.*s' is not a word of a name", (int)length, text);
	return 0;
}

/* The component that a name means: written from the rule for names alone, so that it shows what another program can get
 * back. */
static struct gus_component read_key(const char *key)
{
	struct gus_component c = { 0 };
	size_t length = strcspn(key, "@");
	const char *level = key + length;

	if (strcmp(key, "unknown") == 0)
		return unknown;
	if (*level)
		c.served = (uint8_t)word(levels, sizeof(levels) / sizeof(*levels), level + 1, strlen(level + 1));
	if (strncmp(key, "base", length) == 0)
		return c;
	for (const char *at = key; at < level; at += strcspn(at, "+@") + (at[strcspn(at, "+@")] == '+'))
		c.events |= (uint16_t)(1u << word(events, 9, at, strcspn(at, "+@")));
	return c;
}

static void keys_are_the_names_of_the_paper(void **state)
{
	static const struct { struct gus_component what; const char *key; } cases[] = {
		{ { 0 }, "base" },
		{ { .unknown = true }, "unknown" },
		{ { BIT(GUS_DR_L1), 0, false }, "DR-L1" },
		{ { BIT(GUS_DR_TLB), 0, false }, "DR-TLB" },
		{ { BIT(GUS_DR_SQ), 0, false }, "DR-SQ" },
		{ { BIT(GUS_FL_MB), 0, false }, "FL-MB" },
		{ { BIT(GUS_FL_EX), 0, false }, "FL-EX" },
		{ { BIT(GUS_FL_MO), 0, false }, "FL-MO" },
		{ { BIT(GUS_ST_L1), 0, false }, "ST-L1" },
		{ { BIT(GUS_ST_TLB), 0, false }, "ST-TLB" },
		{ { BIT(GUS_ST_LLC), 0, false }, "ST-LLC" },
		{ { BIT(GUS_ST_TLB) | BIT(GUS_ST_L1), 0, false }, "ST-L1+ST-TLB" },
		{ { BIT(GUS_ST_L1), GUS_SERVED_L2, false }, "ST-L1@L2" },
		{ { BIT(GUS_DR_L1) | BIT(GUS_ST_LLC), GUS_SERVED_REMOTE_MEMORY, false }, "DR-L1+ST-LLC@remote-memory" },
		{ { 0, GUS_SERVED_L1, false }, "base@L1" },
	};
	char key[GUS_COMPONENT_KEY_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		gus_component_key(cases[i].what, key);
		assert_string_equal(key, cases[i].key);
	}
}

/* Every set of events with every level has a name of its own, which fits and from which it can be read again. */
static void every_component_is_in_its_key(void **state)
{
	char key[GUS_COMPONENT_KEY_MAX];
	size_t longest = 0;

	(void)state;
	assert_int_equal(sizeof(levels) / sizeof(*levels), GUS_SERVED_LEVELS);
	for (unsigned set = 0; set < SETS; set++)
		for (unsigned level = 0; level < GUS_SERVED_LEVELS; level++) {
			struct gus_component got;

			gus_component_key(of(set, level), key);
			got = read_key(key);
			if (got.events != set || got.served != level || got.unknown)
				fail_msg("set %x at level %u is called %s", set, level, key);
			longest = strlen(key) > longest ? strlen(key) : longest;
		}
	assert_int_equal(longest + 1, GUS_COMPONENT_KEY_MAX);
	gus_component_key(unknown, key);
	assert_true(read_key(key).unknown);
}

static void evidence_has_names(void **state)
{
	(void)state;
	assert_string_equal(gus_evidence_name(GUS_OBSERVED), "observed");
	assert_string_equal(gus_evidence_name(GUS_INFERRED), "inferred");
	assert_string_equal(gus_evidence_name(GUS_MODELLED), "modelled");
	assert_string_equal(gus_evidence_name(GUS_UNKNOWN), "unknown");
}

/* Whatever the order in which parts come (eight of them, in steps of 1, 3, 5 and 7 around), and also if they come
 * twice. */
static void parts_stand_in_their_order(void **state)
{
	static const struct { struct gus_component what; uint64_t weight; } want[8] = {
		{ { 0 }, 5 },
		{ { 0, GUS_SERVED_IO, false }, 1 },
		{ { BIT(GUS_DR_L1), 0, false }, 2 },
		{ { BIT(GUS_DR_L1) | BIT(GUS_DR_TLB), 0, false }, 3 },
		{ { BIT(GUS_ST_LLC), GUS_SERVED_L3, false }, 4 },
		{ { BIT(GUS_ST_LLC), GUS_SERVED_MEMORY, false }, 6 },
		{ { SETS - 1, GUS_SERVED_IO, false }, 7 },
		{ { .unknown = true }, 8 },
	};

	(void)state;
	for (size_t step = 1; step < 8; step += 2) {
		struct gus_stack s = { 0 };

		for (size_t i = 0; i < 16; i++) {
			size_t at = i * step % 8;

			gus_stack_add(&s, want[at].what, GUS_OBSERVED, i < 8 ? want[at].weight - 1 : 1);
		}
		assert_int_equal(s.n, 8);
		for (size_t i = 0; i < 8; i++) {
			assert_int_equal(s.v[i].what.events, want[i].what.events);
			assert_int_equal(s.v[i].what.served, want[i].what.served);
			assert_int_equal(s.v[i].what.unknown, want[i].what.unknown);
			assert_int_equal(s.v[i].weight, want[i].weight);
		}
		gus_stack_check(&s, 36);
		gus_stack_free(&s);
		assert_int_equal(s.n, 0);
	}
}

/* A part rests on the weakest of what was put there, in whatever order it came; others keep theirs. */
static void evidence_is_the_weakest(void **state)
{
	struct gus_stack s = { 0 };

	(void)state;
	gus_stack_add(&s, base, GUS_OBSERVED, 1);
	gus_stack_add(&s, base, GUS_MODELLED, 1);
	gus_stack_add(&s, base, GUS_INFERRED, 1);
	gus_stack_add(&s, of(BIT(GUS_FL_MB), 0), GUS_INFERRED, 1);
	assert_int_equal(s.v[0].evidence, GUS_MODELLED);
	assert_int_equal(s.v[1].evidence, GUS_INFERRED);
	gus_stack_free(&s);
}

/* Nothing was put there, and there it is: a row that was not sampled has an unknown part of 0. */
static void a_part_may_be_nothing(void **state)
{
	struct gus_stack s = { 0 };

	(void)state;
	gus_stack_check(&s, 0);
	gus_stack_add(&s, unknown, GUS_UNKNOWN, 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].weight, 0);
	assert_int_equal(s.v[0].evidence, GUS_UNKNOWN);
	gus_stack_check(&s, 0);
	gus_stack_free(&s);
}

static bool stops(const struct gus_stack *s, uint64_t height)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		close(STDERR_FILENO); /* what assert says is not for the log */
		signal(SIGABRT, SIG_DFL);
		gus_stack_check(s, height);
		_exit(0);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* 5 and 2^32 and 8, so that no part may be passed over, and not the upper half of one. */
static void a_height_that_is_not_the_sum_stops(void **state)
{
	const uint64_t height = 13 + (1ull << 32);
	struct gus_stack s = { 0 };

	(void)state;
	gus_stack_add(&s, base, GUS_OBSERVED, 5);
	gus_stack_add(&s, of(BIT(GUS_ST_L1), GUS_SERVED_L2), GUS_OBSERVED, 1ull << 32);
	gus_stack_add(&s, unknown, GUS_UNKNOWN, 8);
	assert_false(stops(&s, height));
	assert_true(stops(&s, height - 1));
	assert_true(stops(&s, height + 1));
	assert_true(stops(&s, 13));
	assert_true(stops(&s, 0));
	gus_stack_free(&s);
}

/* Weights of 1 at 0.4 of a unit: 0.4, 0.8, 1.2, 1.6 and 2 round to 0, 1, 1, 2 and 2. Each part is what its end has over
 * its beginning, and what comes before the stack counts, as the second row shows. */
static void parts_scale_to_the_whole(void **state)
{
	static const uint64_t first[] = { 0, 1, 0, 1, 0 }, second[] = { 0, 1, 0 };
	const struct gus_scale scale = { .evidence = GUS_INFERRED, .known = true, .factor = 0.4 };
	uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(gus_scale_part(&scale, &sum, 1), first[i]);
	assert_int_equal(sum, 5);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(gus_scale_part(&scale, &sum, 1), second[i]);
	assert_int_equal(gus_scale_apply(&scale, 8), 3);
}

/* However the weights and the factor are, the parts of a row add up to the row and the rows to the whole. */
static void scaled_sums_are_exact(void **state)
{
	static const double factors[] = { 1.0 / 3, 2.9999, 0.001, 1e9 / 7, 1 };
	uint64_t seed = 1;

	(void)state;
	for (size_t f = 0; f < sizeof(factors) / sizeof(*factors); f++) {
		const struct gus_scale scale = { .evidence = GUS_INFERRED, .known = true, .factor = factors[f] };
		uint64_t by_part = 0, by_row = 0, rows = 0;

		for (unsigned row = 0; row < 100; row++) {
			uint64_t weight = 0, parts = 0, whole;

			for (unsigned part = 0; part < 7; part++) {
				uint64_t w = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 40;

				parts += gus_scale_part(&scale, &by_part, w);
				weight += w;
			}
			whole = gus_scale_part(&scale, &by_row, weight);
			assert_true(parts == whole);
			rows += whole;
		}
		assert_true(rows == gus_scale_apply(&scale, by_row));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_the_names_of_the_paper),
		cmocka_unit_test(every_component_is_in_its_key),
		cmocka_unit_test(evidence_has_names),
		cmocka_unit_test(parts_stand_in_their_order),
		cmocka_unit_test(evidence_is_the_weakest),
		cmocka_unit_test(a_part_may_be_nothing),
		cmocka_unit_test(a_height_that_is_not_the_sum_stops),
		cmocka_unit_test(parts_scale_to_the_whole),
		cmocka_unit_test(scaled_sums_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
