/* SPDX-License-Identifier: MIT */
#include "model/analysis/modelled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/core/frontend.h"

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

/* A mean that settled within some thousandths has three digits; more of them would only tell apart what is the same
 * (as 2.0003 and 2). */
static double three_digits(double cycles)
{
	double unit = cycles > 0 ? pow(10, floor(log10(cycles)) - 2) : 1;

	return round(cycles / unit) * unit;
}

/* One run of a program by the engine that was asked for: cycles an iteration, and instructions added to those
 * simulated. */
static int evaluate(const struct gus_program *p, const struct gus_modelled_settings *s,
		    const struct gus_core_config *config,
		    const struct gus_core_options *options, double *cycles, uint64_t *instructions,
			    struct gus_error *err)
{
	struct gus_core_result result;
	struct gus_stream_result streamed;
	struct gus_stream_options stream = gus_stream_options_of(options);

	if (s->stream) {
		if (gus_stream_run(p, config, &stream, &streamed, err) != 0)
			return -1;
		*cycles = s->options.iterations ? streamed.cycles[0] / (double)streamed.iterations :
			streamed.per_iteration[0];
		*instructions += streamed.instructions;
		return 0;
	}
	if (gus_core_run(p, config, options, &result, err) != 0)
		return -1;
	*cycles = per_iteration(&result);
	if (options->settled > 0 && !options->iterations && !result.periodic)
		*cycles = three_digits(*cycles);
	*instructions += result.iterations * p->insns_n;
	return 0;
}

int gus_modelled_cycles(const struct gus_program *p, const struct gus_modelled_settings *s, double *cycles,
			struct gus_error *err)
{
	uint64_t instructions = 0;

	return evaluate(p, s, &s->config, &s->options, cycles, &instructions, err);
}

/* Of given iterations the first ones wait for nobody, so they may well be below what others need. */
static struct gus_modelled_verdict verdict_of(const struct gus_program *p, const struct gus_modelled_settings *s,
					      const struct gus_bounds *b, double cycles)
{
	bool decoders = gus_frontend_mode(p, &s->config, &s->options) == GUS_CORE_FETCH_DECODERS;

	return (struct gus_modelled_verdict){
		.bottleneck = gus_bounds_bottleneck(b, cycles, decoders),
		.broken = s->options.iterations ? GUS_BOUNDS : gus_bounds_broken(b, cycles, s->stream),
	};
}

struct gus_modelled_verdict gus_modelled_judge(const struct gus_program *p, const struct gus_modelled_settings *s,
					       double cycles)
{
	struct gus_bounds b;

	gus_bounds_behind_front_end(p, &s->config, &s->options, &b);
	gus_bounds_confirm(p, &s->config, &s->options, cycles, &b);
	return verdict_of(p, s, &b, cycles);
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

/* Of given iterations the one run, told of uop by uop. Else a second one, beyond the point where the first saw that it
 * repeats itself: from that cycle on a whole period is told of, and it goes on for as long as that its end is not
 * seen. */
static int listen(struct gus_modelled *m, const struct gus_modelled_settings *s, struct gus_error *err)
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

static int run_costs(struct gus_modelled *m, const struct gus_modelled_settings *s, struct gus_error *err)
{
	for (uint32_t i = 0; i < m->program->ops_n; i++) {
		struct gus_program *relaxed = gus_variant_relax(m->program, i);
		double cycles;
		int rc = evaluate(relaxed, s, &s->config, &s->options, &cycles, &m->instructions, err);

		gus_program_free(relaxed);
		if (rc != 0)
			return rc;
		m->figures[i].cost = m->cycles - cycles;
		if (s->heed.done)
			s->heed.done(s->heed.context, (double)(i + 1) / m->program->ops_n);
	}
	return 0;
}

static int run_variants(struct gus_modelled *m, const struct gus_modelled_settings *s, struct gus_error *err)
{
	for (int v = 0; v < GUS_VARIANTS; v++) {
		struct gus_core_config config = s->config;
		struct gus_core_options options = s->options;
		struct gus_program *variant;
		int rc;

		if (!s->variants[v])
			continue;
		variant = gus_variant_program(m->program, (enum gus_variant)v, &config, &options);
		rc = evaluate(variant, s, &config, &options, &m->variant[v], &m->instructions, err);
		gus_program_free(variant);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* The stream engine does not say which port a uop takes: each of those that it may, alike. */
static int run_stream(struct gus_modelled *m, const struct gus_modelled_settings *s, struct gus_error *err)
{
	const struct gus_program *p = m->program;

	m->result.fetch = gus_frontend_mode(p, &s->config, &s->options);
	for (uint32_t i = 0; i < p->ops_n; i++) {
		m->figures[i].latency = latency_of(p, &p->ops[i]);
		for (uint32_t u = 0; u < p->ops[i].uops_n; u++) {
			uint64_t ports = p->uops[p->ops[i].uop + u].ports;

			for (uint32_t port = 0; port < p->ports_n; port++)
				if (ports >> port & 1)
					m->figures[i].uops[port] += 1.0 / __builtin_popcountll(ports);
		}
	}
	if (evaluate(p, s, &s->config, &s->options, &m->cycles, &m->instructions, err) != 0)
		return -1;
	/* In whole uops and cycles, as the other engine has them: of so many iterations that shares of ports come out
	 * even. */
	m->result.steady_iterations = GUS_STREAM_TICKS;
	m->result.steady_cycles = (uint64_t)llround(m->cycles * GUS_STREAM_TICKS);
	for (uint32_t port = 0; port < p->ports_n; port++) {
		double uops = 0;

		for (uint32_t i = 0; i < p->ops_n; i++)
			uops += m->figures[i].uops[port];
		m->result.dispatched[port] = (uint64_t)llround(uops * GUS_STREAM_TICKS);
	}
	return 0;
}

/* The speedups of all knobs at one weight, in the order of those of the first. */
static int run_weight(struct gus_modelled *m, const struct gus_modelled_settings *s, size_t w, struct gus_error *err)
{
	struct gus_stream_options stream = gus_stream_options_of(&s->options);
	struct gus_sensitivity *knobs;
	double nominal;
	int n = gus_sensitivity_run(m->program, &s->config, &stream, s->weights[w], &knobs, &nominal, err);

	if (n < 0)
		return -1;
	m->speedups[w] = gus_zalloc(((size_t)m->sensitivity_n + 1) * sizeof(double));
	for (int i = 0; i < m->sensitivity_n; i++)
		for (int k = 0; k < n; k++)
			if (knobs[k].knob.kind == m->sensitivity[i].knob.kind &&
			    knobs[k].knob.number == m->sensitivity[i].knob.number)
				m->speedups[w][i] = knobs[k].speedup;
	free(knobs);
	return 0;
}

static int run_sensitivity(struct gus_modelled *m, const struct gus_modelled_settings *s, struct gus_error *err)
{
	struct gus_stream_options stream = gus_stream_options_of(&s->options);
	double nominal;

	if (!s->weights_n)
		return 0;
	m->sensitivity_n = gus_sensitivity_run(m->program, &s->config, &stream, s->weights[0], &m->sensitivity,
					       &nominal, err);
	if (m->sensitivity_n < 0)
		return -1;
	for (size_t w = 0; w < s->weights_n; w++)
		if (run_weight(m, s, w, err) != 0)
			return -1;
	m->set = gus_zalloc(((size_t)m->sensitivity_n + 1) * sizeof(*m->set));
	m->set_n = gus_sensitivity_set(m->program, &s->config, &stream, m->sensitivity, m->sensitivity_n, s->reach,
				       m->set,
				       &m->set_speedup, &m->all_speedup, err);
	return m->set_n < 0 ? -1 : 0;
}

static int run_causality(struct gus_modelled *m, const struct gus_modelled_settings *s, struct gus_error *err)
{
	struct gus_stream_options stream = gus_stream_options_of(&s->options);

	return s->causality ? gus_causality_run(m->program, &s->config, &stream, &m->causality, NULL, err) : 0;
}

static int run_functional(struct gus_modelled *m, const struct gus_modelled_settings *s, struct gus_error *err)
{
	struct gus_stream_options stream = gus_stream_options_of(&s->options);

	return s->caches ? gus_functional_run(m->program, &s->config, &s->cache_config, &stream, m->functional,
					      m->answers,
					      &m->unknown_addresses, err) : 0;
}

static int run_engines(struct gus_modelled *m, const struct gus_program *p, const struct gus_modelled_settings *s,
		       struct gus_error *err)
{
	*m = (struct gus_modelled){ .program = p };
	if (!s->stream && !s->options.iterations && gus_core_run(p, &s->config, &s->options, &m->result, err) != 0)
		return -1;
	m->instructions = m->result.iterations * p->insns_n;
	m->figures = gus_zalloc((p->ops_n + 1) * sizeof(*m->figures));
	if ((s->stream ? run_stream(m, s, err) : listen(m, s, err)) != 0)
		goto failed;
	if (!s->stream)
		m->cycles = per_iteration(&m->result);
	if (s->stream || s->both)
		gus_saturation_of(p, &s->config, m->cycles, &m->saturation);
	if (gus_bounds_of(p, &s->config, &s->options, &m->bounds, err) != 0)
		goto failed;
	gus_bounds_confirm(p, &s->config, &s->options, m->cycles, &m->bounds);
	m->verdict = verdict_of(p, s, &m->bounds, m->cycles);
	if ((!s->costs || run_costs(m, s, err) == 0) &&
	    (!s->both || gus_agreement_run(p, &s->config, &s->options, &m->agreement, err) == 0) &&
	    run_variants(m, s, err) == 0 && run_sensitivity(m, s, err) == 0 && run_causality(m, s, err) == 0 &&
	    run_functional(m, s, err) == 0)
		return 0;
failed:
	gus_modelled_free(m);
	return -1;
}

/* Caches belong to one program, whose accesses they are. */
int gus_modelled_run(struct gus_modelled *m, const struct gus_program *p, const struct gus_modelled_settings *s,
		  struct gus_error *err)
{
	struct gus_modelled_settings with = *s;
	struct gus_fresh_caches caches;
	struct gus_core_memory memory;
	int status;

	if (!s->caches)
		return run_engines(m, p, s, err);
	if (gus_fresh_caches_open(&caches, &s->cache_config, p, err) != 0)
		return -1;
	memory = gus_fresh_caches_oracle(&caches);
	with.options.memory = &memory;
	status = run_engines(m, p, &with, err);
	gus_fresh_caches_close(&caches);
	return status;
}

void gus_modelled_free(struct gus_modelled *m)
{
	free(m->figures);
	gus_saturation_free(&m->saturation);
	free(m->sensitivity);
	for (size_t w = 0; w < GUS_MODELLED_WEIGHTS; w++)
		free(m->speedups[w]);
	free(m->set);
	gus_causality_free(&m->causality);
	gus_vec_free(&m->events);
}
