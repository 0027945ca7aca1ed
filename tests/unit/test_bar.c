/* SPDX-License-Identifier: MIT */
/* cli/stacks/bar: stacks of letters, of 24 cells for the longest row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/stacks/bar.h"

enum { MB = 1 << GUS_FL_MB, L1 = 1 << GUS_ST_L1, TLB = 1 << GUS_ST_TLB, LLC = 1 << GUS_ST_LLC, CODE = 1 << GUS_DR_L1 };

static void letters_of_components(void **state)
{
	static const struct { uint16_t events; enum gus_evidence evidence; char letter; } cases[] = {
		{ 0, GUS_MODELLED, 'b' }, { 0, GUS_INFERRED, 'B' },
		{ L1, GUS_OBSERVED, 'L' }, { L1, GUS_MODELLED, 'l' },
		{ L1 | LLC, GUS_MODELLED, 'm' }, { L1 | TLB, GUS_MODELLED, 'l' }, { TLB, GUS_MODELLED, 't' },
		{ MB | L1 | LLC, GUS_INFERRED, 'F' }, { 1 << GUS_DR_SQ, GUS_MODELLED, 'q' },
		{ CODE | 1 << GUS_DR_TLB, GUS_MODELLED, 'c' }, { 1 << GUS_DR_TLB, GUS_MODELLED, 'i' },
		{ 1 << GUS_FL_EX, GUS_OBSERVED, 'X' }, { 1 << GUS_FL_MO | L1, GUS_MODELLED, 'o' },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(gus_bar_letter((struct gus_component){ .events = cases[i].events }, cases[i].evidence),
				 cases[i].letter);
	assert_int_equal(gus_bar_letter((struct gus_component){ .unknown = true }, GUS_UNKNOWN), '?');
}

static void add(struct gus_stack *s, uint16_t events, uint64_t weight)
{
	gus_stack_add(s, (struct gus_component){ .events = events }, GUS_MODELLED, weight);
}

static void bar_is(const struct gus_stack *s, uint64_t weight, uint64_t most, const char *expected)
{
	char bar[GUS_BAR_CELLS + 1];

	gus_bar(s, weight, most, bar);
	assert_string_equal(bar, expected);
}

/* A third of base, the rest memory's: the larger first; shorter as the row is, and what is less than half a cell is
 * not in it. */
static void bars_are_as_high_as_rows(void **state)
{
	struct gus_stack s = { 0 }, none = { 0 };

	(void)state;
	add(&s, 0, 300);
	add(&s, L1 | LLC, 600);
	bar_is(&s, 900, 900, "mmmmmmmmmmmmmmmmbbbbbbbb");
	bar_is(&s, 900, 1800, "mmmmmmmmbbbb");
	bar_is(&s, 900, 7200, "mmb");
	bar_is(&s, 900, 900 * 24, "m");
	bar_is(&s, 900, UINT64_MAX, "m");
	bar_is(&s, 900, 0, "m");
	add(&s, TLB, 10);
	bar_is(&s, 910, 910, "mmmmmmmmmmmmmmmmbbbbbbbb");
	bar_is(&none, 0, 900, "");
	bar_is(&none, 0, 0, "");
	gus_stack_free(&s);
}

static void legend_is(const char *shown, const char *expected)
{
	char *text = gus_bar_legend(shown);

	assert_string_equal(text, expected);
	free(text);
}

static void legends_have_what_is_shown(void **state)
{
	(void)state;
	legend_is("mmbmm?", "b base, m ST-LLC, ? unknown; small letters: a model does");
	legend_is("LL", "l ST-L1; capitals: samples tell");
	legend_is("Fb", "b base, f FL-MB; capitals: samples tell, small letters: a model does");
	legend_is("fL", "f FL-MB, l ST-L1; capitals: samples tell, small letters: a model does");
	legend_is("Fl", "f FL-MB, l ST-L1; capitals: samples tell, small letters: a model does");
	legend_is("??", "? unknown");
	legend_is("bmltfoxqci", "b base, f FL-MB, o FL-MO, x FL-EX, m ST-LLC, l ST-L1, t ST-TLB, q DR-SQ, c DR-L1, "
		  "i DR-TLB; small letters: a model does");
	legend_is("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_of_components),
		cmocka_unit_test(bars_are_as_high_as_rows),
		cmocka_unit_test(legends_have_what_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
