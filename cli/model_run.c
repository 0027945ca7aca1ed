/* SPDX-License-Identifier: MIT */
#include "cli/model_run.h"

#include <stdlib.h>
#include <string.h>

/* What the listener counts. */
struct counting {
	struct gus_modelled *m;
	uint64_t first, behind;         /* cycles whose dispatches count */
	uint64_t timeline;              /* iterations whose events are kept */
};

static void count_uop(void *context, const struct gus_core_event *e)
{
	struct counting *c = context;

	if (e->dispatched >= c->first && e->dispatched < c->behind && e->port >= 0)
		c->m->figures[e->op].uops[e->port]++;
	if (e->iteration < c->timeline)
		gus_vec_push(&c->m->events, *e);
}

static double per_iteration(const struct gus_core_result *r)
{
	return r->steady_iterations ? (double)r->steady_cycles / (double)r->steady_iterations : 0;
}

int gus_model_cycles(const struct gus_program *p, const struct gus_model_settings *s, double *cycles, struct gus_error *err)
{
	struct gus_core_result result;

	if (gus_core_run(p, &s->config, &s->options, &result, err) != 0)
		return -1;
	*cycles = per_iteration(&result);
	return 0;
}

/* How long the results of an op take, by way of what its uops hand to each other. */
static uint32_t latency_of(const struct gus_program *p, const struct gus_op *op)
{
	uint32_t ready[GUS_TEMPS] = { 0 }, longest = 0;

	for (uint32_t i = 0; i < op->uops_n; i++) {
		const struct gus_uop *uop = &p->uops[op->uop + i];
		uint32_t start = 0;

		for (uint32_t k = 0; k < uop->in_n; k++) {
			const struct gus_flow *in = &p->flows[uop->in + k];
			uint32_t when = in->reg >= GUS_TEMP ? ready[in->reg - GUS_TEMP] : 0;

			when -= in->cycles > 0 && when >= (uint32_t)in->cycles ? (uint32_t)in->cycles : 0;
			start = when > start ? when : start;
		}
		for (uint32_t k = 0; k < uop->out_n; k++) {
			const struct gus_flow *out = &p->flows[uop->out + k];
			uint32_t when = start + (uint32_t)(out->cycles > 0 ? out->cycles : 0);

			if (out->reg >= GUS_TEMP)
				ready[out->reg - GUS_TEMP] = when;
			longest = when > longest ? when : longest;
		}
		if (!uop->out_n && start + uop->latency > longest)
			longest = start + uop->latency;
	}
	return longest;
}

/* As many iterations as the machine can hold at once, and then some. */
static uint64_t in_flight(const struct gus_modelled *m, const struct gus_core_config *c)
{
	uint64_t held = (c->rob ? c->rob : 4096) + c->queue_size + 256, slots = gus_program_slots(m->program);

	return held / (slots ? slots : 1) + 8;
}

/* Of given iterations the one run, told of uop by uop. Else a second one, beyond the point where the first saw that it repeats
 * itself: from that cycle on a whole period is told of, and it goes on for as long as that its end is not seen. */
static int listen(struct gus_modelled *m, const struct gus_model_settings *s, struct gus_error *err)
{
	const struct gus_core_result *r = &m->result;
	struct counting c = { m, r->cycles, r->cycles + r->steady_cycles, s->timeline };
	struct gus_core_listener listener = { .context = &c, .uop = count_uop };
	struct gus_core_options options = s->options;
	struct gus_core_result again;
	double n;

	options.listener = &listener;
	if (s->options.iterations) {
		c.first = 0;
		c.behind = UINT64_MAX;
	} else {
		options.iterations = r->iterations + r->steady_iterations + in_flight(m, &s->config);
		if (options.iterations < s->timeline)
			options.iterations = s->timeline;
	}
	if (gus_core_run(m->program, &s->config, &options, &again, err) != 0)
		return -1;
	m->instructions += again.iterations * m->program->insns_n;
	if (s->options.iterations)
		m->result = again;
	n = r->steady_iterations ? (double)r->steady_iterations : 1;
	for (uint32_t i = 0; i < m->program->ops_n; i++) {
		m->figures[i].latency = latency_of(m->program, &m->program->ops[i]);
		for (uint32_t p = 0; p < m->program->ports_n; p++)
			m->figures[i].uops[p] /= n;
	}
	return 0;
}

static int run_costs(struct gus_modelled *m, const struct gus_model_settings *s, struct gus_error *err)
{
	for (uint32_t i = 0; i < m->program->ops_n; i++) {
		struct gus_program *relaxed = gus_variant_relax(m->program, i);
		struct gus_core_result result;
		int rc = gus_core_run(relaxed, &s->config, &s->options, &result, err);

		gus_program_free(relaxed);
		if (rc != 0)
			return rc;
		m->figures[i].cost = m->cycles - per_iteration(&result);
		m->instructions += result.iterations * m->program->insns_n;
	}
	return 0;
}

static int run_variants(struct gus_modelled *m, const struct gus_model_settings *s, struct gus_error *err)
{
	for (int v = 0; v < GUS_VARIANTS; v++) {
		struct gus_core_config config = s->config;
		struct gus_core_options options = s->options;
		struct gus_core_result result;
		struct gus_program *variant;
		int rc;

		if (!s->variants[v])
			continue;
		variant = gus_variant_program(m->program, (enum gus_variant)v, &config, &options);
		rc = gus_core_run(variant, &config, &options, &result, err);
		m->instructions += result.iterations * variant->insns_n;
		gus_program_free(variant);
		if (rc != 0)
			return rc;
		m->variant[v] = per_iteration(&result);
	}
	return 0;
}

int gus_model_run(struct gus_modelled *m, const struct gus_program *p, const struct gus_model_settings *s,
		  struct gus_error *err)
{
	*m = (struct gus_modelled){ .program = p };
	if (!s->options.iterations && gus_core_run(p, &s->config, &s->options, &m->result, err) != 0)
		return -1;
	m->instructions = m->result.iterations * p->insns_n;
	m->figures = gus_zalloc((p->ops_n + 1) * sizeof(*m->figures));
	if (listen(m, s, err) != 0)
		goto failed;
	m->cycles = per_iteration(&m->result);
	if (gus_bounds_of(p, &s->config, &s->options, &m->bounds, err) == 0 && (!s->costs || run_costs(m, s, err) == 0) &&
	    run_variants(m, s, err) == 0)
		return 0;
failed:
	gus_modelled_free(m);
	return -1;
}

void gus_modelled_free(struct gus_modelled *m)
{
	free(m->figures);
	gus_vec_free(&m->events);
}

uint32_t gus_program_executed(const struct gus_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ops_n; i++)
		for (uint32_t k = 0; k < p->ops[i].uops_n; k++)
			n += p->uops[p->ops[i].uop + k].kind != GUS_UOP_NONE;
	return n;
}

uint32_t gus_program_slots(const struct gus_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ops_n; i++)
		n += p->ops[i].slots;
	return n;
}
