/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "fed_machine.h"

void fed_machine_begin(struct fed_machine *m, const void *code, size_t size)
{
	memset(m, 0, sizeof(*m));
	m->u = made_table("skylake");
	gus_core_config_of(&m->c, m->u);
	m->p = made_program(m->u, code, size);
}

void fed_machine_end(struct fed_machine *m)
{
	gus_vec_free(&m->steps);
	gus_vec_free(&m->accesses);
	gus_vec_free(&m->events);
	gus_vec_free(&m->cycles);
	gus_program_free(m->p);
	gus_uarch_free(m->u);
}

struct gus_op_step *fed_machine_step(struct fed_machine *m, uint32_t op)
{
	gus_vec_push(&m->steps, (struct gus_op_step){ .op = op, .access = (uint32_t)m->accesses.n, .cached = true });
	return &m->steps.v[m->steps.n - 1];
}

struct gus_op_access *fed_machine_access(struct fed_machine *m, uint64_t address)
{
	gus_vec_push(&m->accesses, (struct gus_op_access){ .address = address, .bytes = 8, .known = true });
	return &m->accesses.v[m->accesses.n - 1];
}

static void note_cycle(void *context, const struct gus_core_cycle *cycle)
{
	struct fed_machine *m = context;

	gus_vec_push(&m->cycles, *cycle);
}

static void note_uop(void *context, const struct gus_core_event *event)
{
	struct fed_machine *m = context;

	gus_vec_push(&m->events, *event);
}

void fed_machine_run_pieces(struct fed_machine *m, size_t piece)
{
	const struct gus_core_listener l = { .context = m, .cycle = note_cycle, .uop = note_uop };
	struct gus_error err = { 0 };
	struct gus_core_engine *e = gus_core_open(m->p, &m->c, &l, m->hooks, &err);

	if (!e)
		fail_msg("%s", err.text);
	m->events.n = m->cycles.n = 0;
	for (size_t i = 0; i < m->steps.n; i += piece) {
		size_t n = m->steps.n - i < piece ? m->steps.n - i : piece;

		if (gus_core_feed(e, &(struct gus_op_steps){ m->steps.v + i, m->accesses.v, n }, &err) != 0)
			fail_msg("%s", err.text);
	}
	if (gus_core_drain(e, &err) != 0)
		fail_msg("%s", err.text);
	m->took = gus_core_cycles(e);
	gus_core_close(e);
}

void fed_machine_run(struct fed_machine *m)
{
	fed_machine_run_pieces(m, GUS_OP_STEPS);
}

const struct gus_core_event *fed_machine_event(const struct fed_machine *m, uint64_t step, unsigned nth)
{
	for (size_t i = 0; i < m->events.n; i++)
		if (m->events.v[i].iteration == step && m->events.v[i].nth == nth)
			return &m->events.v[i];
	fail_msg("step %u has no uop %u", (unsigned)step, nth);
	return NULL;
}

uint64_t fed_machine_cycles(const struct fed_machine *m, enum gus_commit state)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->cycles.n; i++)
		n += m->cycles.v[i].state == state;
	return n;
}
