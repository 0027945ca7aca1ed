/* SPDX-License-Identifier: MIT */
/* attribution/compared/variants: which functions of a library stand for each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/compared/variants.h"
#include "made_joined.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static void variants_are_told_by_their_names(void **state)
{
	static const struct { const char *a, *b; bool one; } cases[] = {
		{ "__memmove_avx_unaligned_erms", "__memmove_evex_unaligned_erms", true },
		{ "__memmove_avx_unaligned_erms", "__memmove_sse2_unaligned", true },
		{ "__memmove_avx_unaligned_erms", "__memmove_avx_unaligned_erms", true },
		{ "__strlen_avx2", "strlen", true }, { "strlen", "__strlen_evex", true },
		{ "__sin_fma", "__sin_fma4", true }, { "__memcpy_a64fx", "__memcpy_generic", true },
		{ "__memmove_avx_unaligned_erms", "__memset_avx2_unaligned_erms", false },
		{ "__strlen_avx2", "__strnlen_avx2", false }, { "__strlen_avx2", "__wcslen_avx2", false },
		/* no variants: names that only look like some, and functions that are in both */
		{ "main", "main", false }, { "parse_avxis", "parse_sse2", false }, { "parse_avxis", "parse", false },
		{ "_avx2", "__sse2", false }, { "parse__avx2", "parse__sse2", false }, { "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (gus_libvariant_is_same(cases[i].a, cases[i].b) != cases[i].one ||
		    gus_libvariant_is_same(cases[i].b, cases[i].a) != cases[i].one)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
}

/* Where the trace has another variant of a function, or goes another way through it, each is found by the other. */
static void what_stands_in_place_of_another(void **state)
{
	struct joined *s = *state;
	struct gus_coverage *c = &s->m.coverage;

	s->t.functions.v[0].name = "__memmove_avx_unaligned";
	s->t.functions.v[1].name = "__memmove_sse2";
	s->t.functions.v[0].module = s->t.functions.v[1].module = "/lib/libc.so.6";
	s->t.functions.v[2].name = "__strlen_avx2";
	s->t.functions.v[2].module = "/bin/other";
	strcpy(c->elsewhere[0].name, "__strlen_evex [libc.so.6]");
	strcpy(c->elsewhere[1].name, "__memmove_evex_unaligned [libc.so.6]");
	strcpy(c->elsewhere[2].name, "[unknown] [libc.so.6]");
	c->elsewhere_n = 3;
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 0), GUS_TRACED_NONE); /* another file's */
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 1), 0);               /* 3000 cycles, not 1000 */
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 2), GUS_TRACED_NONE);
	assert_int_equal(gus_libvariant_measured(&s->t, c, 0), 1);
	assert_int_equal(gus_libvariant_measured(&s->t, c, 1), 1);
	assert_int_equal(gus_libvariant_measured(&s->t, c, 2), GUS_TRACED_NONE);
	c->elsewhere_n = 1; /* the other is told no more */
	assert_int_equal(gus_libvariant_measured(&s->t, c, 0), GUS_TRACED_NONE);
	c->elsewhere_n = 3;
	s->t.functions.v[0].name = NULL;
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 1), 1);
	strcpy(c->elsewhere[1].name, "__memmove_sse2 [libc.so.6]");           /* itself */
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variants_are_told_by_their_names),
		cmocka_unit_test_setup_teardown(what_stands_in_place_of_another, made_joined, made_joined_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
