/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"

#include "model/code/uoptable.h"
#include "model/tables/builtin.h"
#include "tests/unit/core_machine.h"

struct core_machine m;

static void see_uop(void *context, const struct gus_core_event *event)
{
	(void)context;
	assert_true(m.events_n < EVENTS);
	m.event[m.events_n++] = *event;
}

static void see_cycle(void *context, const struct gus_core_cycle *cycle)
{
	(void)context;
	if (m.cycles_n < CYCLES)
		m.cycle[m.cycles_n++] = *cycle;
}

static const struct gus_core_listener listener = { NULL, see_cycle, see_uop };

void make_on(const char *rules, const char *text)
{
	struct gus_error err = { 0 };

	memset(&m, 0, sizeof(m));
	m.u = gus_uarch_parse("test", rules, strlen(rules), &gus_uarch_builtin, 0, &err);
	if (!m.u)
		fail_msg("%s", err.text);
	m.p = gus_uoptable_program(m.u, "text", text, strlen(text), &err);
	if (!m.p)
		fail_msg("%s", err.text);
	gus_core_config_of(&m.c, m.u);
	gus_core_config_infinite(&m.c);
	m.o = (struct gus_core_options){ .fetch = GUS_CORE_FETCH_IDEAL, .pointers = GUS_CORE_POINTERS_NONE,
		.iterations = 1,
		.listener = &listener };
}

void make(const char *text)
{
	make_on("uarch test isa x86-64 \"eight ports\"\nlike ufs-haswell\n", text);
}

void run(void)
{
	struct gus_error err = { 0 };
	uint64_t stops = 0, states = 0;

	if (gus_core_run(m.p, &m.c, &m.o, &m.r, &err) != 0)
		fail_msg("%s", err.text);
	for (int i = 0; i < GUS_CORE_REASONS; i++)
		stops += m.r.stop[i];
	for (int i = 0; i < GUS_COMMITS; i++)
		states += m.r.commit[i];
	assert_int_equal(stops, m.r.steady_cycles);
	assert_int_equal(states, m.r.steady_cycles);
}

void drop(void)
{
	gus_program_free(m.p);
	gus_uarch_free(m.u);
}

int port_of(size_t n)
{
	assert_true(n < m.events_n);
	return m.event[n].port;
}

uint64_t dispatched(size_t n)
{
	assert_true(n < m.events_n);
	return m.event[n].dispatched;
}

uint64_t issued(size_t n)
{
	assert_true(n < m.events_n);
	return m.event[n].issued;
}

uint64_t completed(size_t n)
{
	assert_true(n < m.events_n);
	return m.event[n].completed;
}
