/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/attribute.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/traced.h"
#include "base/alloc.h"
#include "base/error.h"
#include "collector/host/procfs.h"
#include "model/machine/options.h"
#include "model/oracles/branch.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "proto/sample.h"
#include "proto/trace.h"
#include "symbolizer/symbols/symbols.h"
#include "tests/accuracy/golden/joint.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/samplers.h"
#include "tests/accuracy/golden/score.h"
#include "tests/accuracy/golden/spread.h"
#include "tests/accuracy/golden/truth.h"
#include "tests/accuracy/golden/words.h"

enum { STEPS = 1 };

/* Where samples were. Who samples time knows of no events, but perhaps whether a mispredicted branch led there, which
 * then stands in the place of events. */
static void take(void *context, const struct gus_sample *s)
{
	struct golden_estimates *all = context;
	bool behind = s->branches_n && (s->branches[0].flags & GUS_BRANCH_MISPREDICTED) && s->branches[0].to == s->ip;
	struct golden_estimate one = { s->ip, all->n, 1, behind, UINT16_MAX };

	gus_vec_push(all, one);
}

static void take_execution(void *context, const struct gus_sample *s)
{
	struct golden_estimates *all = context;
	struct golden_estimate one = { s->ip, all->n, 1, (uint16_t)(s->events & UINT16_MAX),
				       (uint16_t)((s->events | s->events >> 16) & UINT16_MAX) };

	gus_vec_push(all, one);
}

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	return golden_joint_listen(context, stream, program);
}

static void leave(void *context, uint32_t stream)
{
	golden_joint_leave(context, stream);
}

static int replay(const struct golden_attribute_options *o, const struct golden_machine *m, struct golden_joint *joint,
		  struct gus_error *err)
{
	struct gus_symbols_options so = { 0 };
	struct gus_branch_config predictor;
	struct gus_traced_options to = { .uarch = m->uarch, .config = &m->config, .caches = &m->caches,
		.predictor = &predictor, .alone = true, .core = true, .all = true, .listen = listen, .leave = leave,
		.listen_context = joint };
	struct gus_trace *trace = gus_trace_open(o->trace, err);
	struct gus_traced_source *source;
	struct gus_traced t;
	int rc = 1;

	if (!trace)
		return -1;
	gus_branch_config_default(&predictor);
	to.symbols = gus_symbols_new(&so, NULL);
	gus_traced_open(&t, &to);
	source = gus_traced_source_new(&t, trace, err);
	while (source && rc > 0 && (!o->instructions || t.taken < o->instructions))
		rc = gus_traced_source_read(source, err);
	if (source)
		gus_traced_source_end(source);
	rc = source && rc >= 0 ? gus_traced_end(&t, err) : -1;
	gus_traced_close(&t);
	gus_symbols_free(to.symbols);
	gus_trace_close(trace);
	return rc;
}

static const struct tier {
	enum golden_scheme scheme;
	double skid[GOLDEN_JOINT_SKIDS];
	bool behind;
	bool executions;        /* are sampled, and not time */
} tiers[] = {
	{ GOLDEN_BY_PEBS, { 1 }, true, false }, { GOLDEN_BY_PEBS, { 1 }, false, false },
	{ GOLDEN_BY_TIMER, { 0.012, 0.982, 0.001, 0.005 }, false, false },
	{ GOLDEN_BY_PMU, { 0.012, 0.982, 0.001, 0.005 }, false, false },
	{ GOLDEN_BY_IBS_OPS, { 0 }, false, true }, { GOLDEN_BY_SPE, { 0 }, false, true },
};

static void print_row(const char *name, const char *more, size_t samples, const struct golden_score *before,
		      const struct golden_score *after, const struct golden_score *own, double unseen)
{
	printf("%s%s\t%zu\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", name, more, samples, before->heights, after->heights,
	       own->error, after->error, before->heights_floor, samples ? unseen / (double)samples : 0);
}

static void spread_time(struct golden_spread *out, const struct golden_joint *joint, const struct golden_estimates *e,
			const struct tier *tier, unsigned steps)
{
	struct golden_spread_options so = { .behind = tier->behind, .steps = steps };
	struct gus_vec(struct golden_spread_seen) seen = { 0 };

	memcpy(so.skid, tier->skid, sizeof(so.skid));
	for (size_t i = 0; i < e->n; i++)
		gus_vec_push(&seen, (struct golden_spread_seen){ e->v[i].address, e->v[i].psv, 1 });
	golden_spread(out, joint, seen.v, seen.n, &so);
	gus_vec_free(&seen);
}

static void spread_executions(struct golden_spread *out, const struct golden_joint *joint,
			      const struct golden_estimates *e)
{
	struct gus_vec(struct golden_spread_execution) seen = { 0 };

	for (size_t i = 0; i < e->n; i++)
		gus_vec_push(&seen, (struct golden_spread_execution){ e->v[i].address, e->v[i].psv, e->v[i].known, 1 });
	golden_spread_executions(out, joint, seen.v, seen.n);
	gus_vec_free(&seen);
}

static void judge(const struct golden_truth *truth, const struct golden_joint *joint,
		  const struct golden_estimates *all, const struct tier *tier, uint64_t samples,
		  const struct golden_attribute_options *o)
{
	const struct golden_scheme_kind *kind = &golden_schemes[tier->scheme];
	struct golden_estimates raw = { 0 }, corrected = { 0 };
	struct golden_spread spread;
	struct golden_score before, after, own;

	gus_vec_append(&raw, all->v, all->n);
	golden_estimates_shuffle(&raw, o->seed);
	if (raw.n > samples)
		raw.n = samples;
	if (tier->executions)
		spread_executions(&spread, joint, &raw);
	else
		spread_time(&spread, joint, &raw, tier, o->steps ? o->steps : STEPS);
	for (size_t k = 0; k < spread.cells.n; k++) {
		const struct golden_spread_cell *c = &spread.cells.v[k];

		gus_vec_push(&corrected, (struct golden_estimate){ c->address, k, c->samples, c->psv,
								   c->known ? UINT16_MAX : 0 });
	}
	golden_score(truth, &raw, tier->executions ? kind->events : 0, GOLDEN_INSTRUCTION, 0, &before);
	golden_score(truth, &corrected, (1 << GUS_CORE_PSV_EVENTS) - 1, GOLDEN_INSTRUCTION, 0, &after);
	golden_score(truth, &corrected, kind->events, GOLDEN_INSTRUCTION, 0, &own);
	print_row(kind->name, tier->behind ? "+lbr" : "", raw.n, &before, &after, &own, spread.unseen);
	golden_spread_free(&spread);
	gus_vec_free(&raw);
	gus_vec_free(&corrected);
}

/* The model alone, which no sample was shown. */
static void judge_model(const struct golden_truth *truth, const struct golden_joint *joint)
{
	struct golden_estimates e = { 0 };
	struct golden_score s;
	size_t n;
	const struct golden_joint_cell *cells = golden_joint_cells(joint, &n);

	for (size_t i = 0; i < n; i++)
		gus_vec_push(&e, (struct golden_estimate){ cells[i].address, i, (double)cells[i].ticks, cells[i].psv,
							   UINT16_MAX });
	golden_score(truth, &e, (1 << GUS_CORE_PSV_EVENTS) - 1, GOLDEN_INSTRUCTION, 0, &s);
	print_row("model", "", 0, &s, &s, &s, 0);
	gus_vec_free(&e);
}

static int judge_all(const struct golden_attribute_options *o, const struct golden_truth *truth,
		     const struct golden_joint *joint, struct gus_error *err)
{
	static const uint64_t sizes[] = { 4000, 40000, 400000 };

	printf("# sampler\tsamples\theights as they are\tcorrected\tE, of what it knows\tof all nine\t"
	       "floor of heights\tshare that is nowhere in the model\n");
	judge_model(truth, joint);
	for (size_t i = 0; i < sizeof(tiers) / sizeof(*tiers); i++) {
		char *path = gus_format("%s/%s.data", o->folder, golden_schemes[tiers[i].scheme].name);
		struct golden_estimates all = { 0 };
		int rc = golden_words_read(path, tiers[i].executions ? take_execution : take, &all, err);

		free(path);
		for (size_t k = 0; rc == 0 && k < sizeof(sizes) / sizeof(*sizes); k++)
			judge(truth, joint, &all, &tiers[i], sizes[k], o);
		gus_vec_free(&all);
		if (rc != 0)
			return -1;
	}
	return 0;
}

/* One of ours by its name, or that of a file. */
static struct golden_machine *machine_of(const struct golden_attribute_options *o, struct gus_error *err)
{
	char *path = o->uarch ? gus_strdup(o->uarch) : gus_format("%s/machine.uarch", o->folder), *text;
	struct golden_machine *m = NULL;
	size_t size;

	if (!strchr(path, '/')) {
		m = golden_machine_of(path, err);
	} else if ((text = gus_procfs_read(path, &size))) {
		m = golden_machine_of_table(gus_uarch_parse(path, text, size, &gus_uarch_builtin, 0, err), err);
		free(text);
	} else {
		gus_fail_errno(err, errno, "cannot read %s", path);
	}
	free(path);
	return m;
}

int golden_attribute(const struct golden_attribute_options *o, struct gus_error *err)
{
	char *path = gus_format("%s/truth", o->folder);
	struct golden_machine *m = machine_of(o, err);
	struct golden_truth truth = { .cycles = 0 };
	struct golden_joint *joint = golden_joint_new();
	int rc = m && golden_truth_read(&truth, path, err) == 0 ? replay(o, m, joint, err) : -1;

	if (rc == 0)
		rc = judge_all(o, &truth, joint, err);
	free(path);
	golden_joint_free(joint);
	golden_truth_free(&truth);
	golden_machine_free(m);
	return rc;
}
