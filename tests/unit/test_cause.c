/* SPDX-License-Identifier: MIT */
/* attribution/accounts/cause: what is said of a wait beside TEA's events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/accounts/cause.h"

#define EVENT(e) (1u << (e))

/* 100 executions each. */
static const struct { const char *what; uint16_t events; bool unknown; uint64_t base, blocked, aliased;
	uint32_t latency; enum gus_insn_class class; uint32_t flags; bool locks; const char *cause; } cases[] = {
	{ "6 cycles are what it takes", 0, false, 600, 0, 0, 20, GUS_INSN_DIV, 0, false, NULL },
	{ "integer division", 0, false, 601, 0, 0, 20, GUS_INSN_DIV, 0, false, "divider" },
	{ "division", 0, false, 1300, 0, 0, 13, GUS_INSN_FP_DIV, 0, false, "divider" },
	{ "square root", 0, false, 1300, 0, 0, 13, GUS_INSN_FP_SQRT, 0, false, "divider" },
	{ "lock add", 0, false, 1800, 0, 0, 18, GUS_INSN_ALU, 0, true, "lock" },
	{ "a quick one", 0, false, 101, 0, 0, 4, GUS_INSN_ALU, 0, true, "lock" },
	{ "not waited for", 0, false, 100, 0, 0, 4, GUS_INSN_ALU, 0, true, NULL },
	{ "a load-exclusive", 0, false, 1800, 0, 0, 18, GUS_INSN_ATOMIC, 0, true, "lock" },
	{ "cpuid", 0, false, 9000, 0, 0, 90, GUS_INSN_SYSTEM, GUS_INSN_SERIALISING, false, "serialisation" },
	{ "mfence", 0, false, 3000, 0, 0, 30, GUS_INSN_FENCE, 0, false, "serialisation" },
	{ "a load of two stores", 0, false, 1400, 701, 0, 4, GUS_INSN_LOAD, 0, false, "failed forwarding" },
	{ "mostly something else", 0, false, 1400, 700, 700, 4, GUS_INSN_LOAD, 0, false, "port" },
	{ "a load a page behind", 0, false, 1400, 0, 701, 4, GUS_INSN_LOAD, 0, false, "4K aliasing" },
	{ "a long chain's", 0, false, 700, 0, 0, 6, GUS_INSN_FP_OTHER, 0, false, "latency" },
	{ "a longer one's", 0, false, 2100, 0, 0, 20, GUS_INSN_FP_OTHER, 0, false, "latency" },
	{ "short, and not executed", 0, false, 700, 0, 0, 5, GUS_INSN_ALU, 0, false, "port" },
	{ "a full store queue", EVENT(GUS_DR_SQ), false, 9000, 0, 0, 1, GUS_INSN_STORE, 0, false, NULL },
	{ "the same by a lock", EVENT(GUS_DR_SQ), false, 0, 0, 0, 18, GUS_INSN_ALU, 0, true, NULL },
	{ "lfence", EVENT(GUS_FL_EX), false, 0, 0, 0, 1, GUS_INSN_FENCE, GUS_INSN_SERIALISING, false, "serialisation" },
	{ "an exception", EVENT(GUS_FL_EX), false, 0, 0, 0, 1, GUS_INSN_LOAD, 0, false, NULL },
	{ "a miss says it all", EVENT(GUS_ST_L1), false, 9000, 9000, 0, 4, GUS_INSN_LOAD, 0, false, NULL },
	{ "nothing is known", 0, true, 9000, 0, 0, 20, GUS_INSN_DIV, 0, false, NULL },
};

static void a_wait_has_a_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_component what = { .events = cases[i].events, .unknown = cases[i].unknown };
		struct gus_groups_site site = { .executed = 100, .base = cases[i].base, .blocked = cases[i].blocked,
			.aliased = cases[i].aliased, .latency = cases[i].latency, .locks = cases[i].locks };
		struct gus_insn_info info = { .class = cases[i].class, .flags = cases[i].flags };
		const struct gus_account_causes causes = gus_account_causes_of(&site, &info);
		const char *cause = gus_account_cause_name(gus_account_cause_of(&causes, &what));

		print_message("%s\n", cases[i].what);
		if (cases[i].cause) {
			assert_non_null(cause);
			assert_string_equal(cause, cases[i].cause);
		} else {
			assert_null(cause);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_wait_has_a_name) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
