/* SPDX-License-Identifier: MIT */
/* What samples bring along for their callers to be found by: by each way, as the kernel is asked for it, and as it
 * gives it here. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/doctor/verdict.h"
#include "collector/events/attr.h"
#include "collector/events/event.h"
#include "collector/events/pmu.h"
#include "collector/session/call_graph.h"
#include "collector/session/options.h"
#include "collector/trial/callers.h"
#include "collector/trial/probe.h"

#define ALL (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* A row for each way: what is asked of the kernel, and whether its own part of the chain is all that it tells. */
static const struct {
	enum gus_call_graph callers;
	uint32_t stack_bytes;
	const char *name;
	uint64_t type;
	bool kernel_chain;
} ways[] = {
	{ GUS_CALL_GRAPH_NONE, 8192, "none", 0, false },
	{ GUS_CALL_GRAPH_FP, 0, "fp", PERF_SAMPLE_CALLCHAIN, false },
	{ GUS_CALL_GRAPH_FP, 512, "fp", PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, false },
	{ GUS_CALL_GRAPH_TABLES, 8192, "tables",
	  PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, true },
	{ GUS_CALL_GRAPH_COPIES, 8192, "dwarf",
	  PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, true },
	{ GUS_CALL_GRAPH_LBR, 8192, "lbr",
	  PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_BRANCH_STACK, true },
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static struct gus_event clock_event(void)
{
	return (struct gus_event){ .name = (char *)(uintptr_t)"cpu-clock", .unit = "ns", .type = PERF_TYPE_SOFTWARE,
				   .config = PERF_COUNT_SW_CPU_CLOCK, .period = 100003 };
}

static void as_the_kernel_is_asked(void **state)
{
	const struct gus_event e = clock_event();

	(void)state;
	for (size_t i = 0; i < WAYS; i++) {
		struct gus_attr_plan plan = { .cargo = gus_call_graph_cargo(ways[i].callers, ways[i].stack_bytes, 0) };
		bool regs = ways[i].type & PERF_SAMPLE_REGS_USER, stack = ways[i].type & PERF_SAMPLE_STACK_USER;
		struct perf_event_attr *k;
		union gus_attr a;

		gus_attr_fill(&a, &e, &plan, true);
		k = &a.kernel;
		assert_string_equal(gus_call_graph_name(ways[i].callers), ways[i].name);
		assert_int_equal(k->sample_type & ALL, ways[i].type);
		assert_int_equal(k->sample_regs_user, regs ? GUS_CARGO_REGS : 0);
		assert_int_equal(k->sample_stack_user, stack ? ways[i].stack_bytes : 0);
		assert_int_equal(k->exclude_callchain_user, ways[i].kernel_chain);
		assert_int_equal(k->branch_sample_type != 0, (ways[i].type & PERF_SAMPLE_BRANCH_STACK) != 0);
		/* What takes no samples must not ask for any of it: it would be refused. */
		gus_attr_silence(&a);
		assert_int_equal(k->sample_type & ALL, 0);
		assert_int_equal(k->sample_regs_user + k->sample_stack_user + k->branch_sample_type, 0);
		assert_int_equal(k->exclude_callchain_user + k->exclude_callchain_kernel, 0);
		gus_attr_fill_holder(&a, &plan);
		assert_int_equal(k->sample_type & ALL, 0);
		assert_int_equal(k->sample_regs_user + k->sample_stack_user + k->branch_sample_type, 0);
	}
}

/* The calls of user space, as the CPU keeps them; branches that are wanted for themselves stay what they are. */
static void calls_and_branches(void **state)
{
	struct gus_cargo c = gus_call_graph_cargo(GUS_CALL_GRAPH_LBR, 8192, 0);

	(void)state;
	assert_true(c.calls);
	assert_int_equal(c.branch_type & (PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER |
					  PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY),
			 PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER);
	c = gus_call_graph_cargo(GUS_CALL_GRAPH_TABLES, 8192, PERF_SAMPLE_BRANCH_ANY);
	assert_false(c.calls);
	assert_int_equal(c.branch_type, PERF_SAMPLE_BRANCH_ANY);
}

/* A leaf's caller needs somebody to find it. */
static void of_a_session(void **state)
{
	const struct gus_session_unwinder somebody = { 0 };
	struct gus_session_options o = { .call_graph = true, .stack_bytes = 8192 };

	(void)state;
	assert_int_equal(gus_session_callers(&o), GUS_CALL_GRAPH_FP);
	assert_int_equal(gus_session_cargo(&o).stack_bytes, 0);
	assert_false(gus_session_cargo(&o).regs);
	o.unwinder = &somebody;
	assert_int_equal(gus_session_cargo(&o).stack_bytes, GUS_CALL_GRAPH_LEAF_BYTES);
	o.callers = GUS_CALL_GRAPH_TABLES;
	assert_int_equal(gus_session_callers(&o), GUS_CALL_GRAPH_TABLES);
	assert_int_equal(gus_session_cargo(&o).stack_bytes, 8192);
	o = (struct gus_session_options){ .stack_bytes = 8192 };
	assert_int_equal(gus_session_callers(&o), GUS_CALL_GRAPH_NONE);
	assert_false(gus_session_cargo(&o).chain);
}

/* Whether it can be had is tried before it is needed: a size that no kernel takes is one clear error, and not before
 * the events open at all. */
static void tried_here(void **state)
{
	struct gus_event e = clock_event();
	struct gus_events events = { &e, 1, 1 };
	struct gus_cargo c = gus_call_graph_cargo(GUS_CALL_GRAPH_TABLES, 8192, 0);
	struct gus_error err = { 0 };

	(void)state;
	if (gus_probe_event(&e) != GUS_PROBE_GOOD)
		skip(); /* nothing can be sampled here */
	assert_int_equal(gus_callers_check(&events, &c, NULL, NULL, &err), 0);
	c.stack_bytes = GUS_CARGO_STACK_MAX;
	assert_int_equal(gus_callers_check(&events, &c, NULL, NULL, &err), 0);
	c.stack_bytes = 8192 + 4;
	assert_int_equal(gus_callers_check(&events, &c, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "8196 bytes of the stack with each sample of cpu-clock"));
	e.type = UINT32_MAX; /* that is somebody else's to say */
	assert_int_equal(gus_callers_check(&events, &c, NULL, NULL, &err), 0);
	e = clock_event();
	err = (struct gus_error){ 0 };
	c = (struct gus_cargo){ .stack_bytes = 8192 };
	assert_int_equal(gus_callers_check(&events, &c, NULL, NULL, &err), -1);
	assert_int_equal(err.code, GUS_E_UNSUPPORTED);
}

/* A copy costs something, and a deep one more than a flat one; what is too small to be timed costs nothing. */
static void what_a_stack_costs(void **state)
{
	const struct gus_event e = clock_event();
	struct gus_cargo c = gus_call_graph_cargo(GUS_CALL_GRAPH_TABLES, 512, 0);
	uint64_t cost = 0;

	(void)state;
	if (gus_probe_event(&e) != GUS_PROBE_GOOD)
		skip();
	assert_int_equal(gus_probe_cost_of_stack(&e, &c), 0);
	c.stack_bytes = GUS_CARGO_STACK_MAX;
	for (unsigned i = 0; i < 5 && !cost; i++) /* other work may hide it for once */
		cost = gus_probe_cost_of_stack(&e, &c);
	assert_in_range(cost, 1, 10000); /* ns a KiB: a copy is 20 to 200 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_kernel_is_asked),
		cmocka_unit_test(calls_and_branches),
		cmocka_unit_test(of_a_session),
		cmocka_unit_test(tried_here),
		cmocka_unit_test(what_a_stack_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
