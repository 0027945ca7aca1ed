/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/attribute.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/golden/joint.h"
#include "tests/accuracy/golden/spread.h"
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
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/samplers.h"
#include "tests/accuracy/golden/score.h"
#include "tests/accuracy/golden/truth.h"
#include "tests/accuracy/golden/words.h"

enum { STEPS = 1 };

/* Where samples were, one a sample. */
struct taken gus_vec(struct golden_spread_seen);
struct executions gus_vec(struct golden_spread_execution);

static void take(void *context, const struct gus_sample *s)
{
	struct taken *t = context;
	struct golden_spread_seen one = { .address = s->ip, .samples = 1 };

	one.behind = s->branches_n && (s->branches[0].flags & GUS_BRANCH_MISPREDICTED) && s->branches[0].to == s->ip;
	gus_vec_push(t, one);
}

static void take_execution(void *context, const struct gus_sample *s)
{
	struct executions *t = context;

	gus_vec_push(t, (struct golden_spread_execution){ s->ip, (uint16_t)(s->events & UINT16_MAX),
		(uint16_t)((s->events | s->events >> 16) & UINT16_MAX), 1 });
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

static const struct { enum golden_scheme scheme; double skid[GOLDEN_JOINT_SKIDS]; bool behind; } tiers[] = {
	{ GOLDEN_BY_PEBS, { 1 }, true }, { GOLDEN_BY_PEBS, { 1 }, false },
	{ GOLDEN_BY_TIMER, { 0.012, 0.982, 0.001, 0.005 }, false },
	{ GOLDEN_BY_PMU, { 0.012, 0.982, 0.001, 0.005 }, false },
};

static const enum golden_scheme by_executions[] = { GOLDEN_BY_IBS_OPS, GOLDEN_BY_SPE };

static void print_row(const char *name, const char *more, size_t samples, const struct golden_score *before,
		      const struct golden_score *after, const struct golden_score *own, double unseen)
{
	printf("%s%s\t%zu\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", name, more, samples, before->heights, after->heights,
	       own->error, after->error, before->heights_floor, samples ? unseen / (double)samples : 0);
}

static void judge(const struct golden_truth *truth, const struct golden_joint *joint, const struct taken *all, size_t i,
		  uint64_t samples, const struct golden_attribute_options *o)
{
	const struct golden_scheme_kind *kind = &golden_schemes[tiers[i].scheme];
	struct golden_spread_options so = { .behind = tiers[i].behind, .steps = o->steps ? o->steps : STEPS };
	struct golden_estimates raw = { 0 }, corrected = { 0 };
	struct taken some = { 0 };
	struct golden_spread spread;
	struct golden_score before, after, own;

	for (size_t k = 0; k < GOLDEN_JOINT_SKIDS; k++)
		so.skid[k] = tiers[i].skid[k];
	for (size_t k = 0; k < all->n; k++)
		gus_vec_push(&raw, (struct golden_estimate){ all->v[k].address, k, 1, all->v[k].behind,
							     UINT16_MAX });
	golden_estimates_shuffle(&raw, o->seed);
	for (size_t k = 0; k < raw.n && k < samples; k++)
		gus_vec_push(&some, (struct golden_spread_seen){ raw.v[k].address, raw.v[k].psv, 1 });
	golden_spread(&spread, joint, some.v, some.n, &so);
	for (size_t k = 0; k < spread.cells.n; k++) {
		const struct golden_spread_cell *c = &spread.cells.v[k];

		gus_vec_push(&corrected, (struct golden_estimate){ c->address, k, c->samples, c->psv,
								   c->known ? UINT16_MAX : 0 });
	}
	golden_score(truth, &raw, 0, GOLDEN_INSTRUCTION, samples, &before);
	golden_score(truth, &corrected, (1 << GUS_CORE_PSV_EVENTS) - 1, GOLDEN_INSTRUCTION, 0, &after);
	golden_score(truth, &corrected, kind->events, GOLDEN_INSTRUCTION, 0, &own);
	print_row(kind->name, tiers[i].behind ? "+lbr" : "", some.n, &before, &after, &own, spread.unseen);
	golden_spread_free(&spread);
	gus_vec_free(&raw);
	gus_vec_free(&corrected);
	gus_vec_free(&some);
}

static void judge_executions(const struct golden_truth *truth, const struct golden_joint *joint,
			     const struct executions *all, enum golden_scheme scheme, uint64_t samples,
			     const struct golden_attribute_options *o)
{
	const struct golden_scheme_kind *kind = &golden_schemes[scheme];
	struct golden_estimates raw = { 0 }, corrected = { 0 };
	struct executions some = { 0 };
	struct golden_spread spread;
	struct golden_score before, after, own;

	for (size_t k = 0; k < all->n; k++)
		gus_vec_push(&raw, (struct golden_estimate){ all->v[k].address, k, 1, all->v[k].psv,
							     all->v[k].known });
	golden_estimates_shuffle(&raw, o->seed);
	for (size_t k = 0; k < raw.n && k < samples; k++)
		gus_vec_push(&some, (struct golden_spread_execution){ raw.v[k].address, raw.v[k].psv, raw.v[k].known,
								      1 });
	golden_spread_executions(&spread, joint, some.v, some.n);
	for (size_t k = 0; k < spread.cells.n; k++) {
		const struct golden_spread_cell *c = &spread.cells.v[k];

		gus_vec_push(&corrected, (struct golden_estimate){ c->address, k, c->samples, c->psv, UINT16_MAX });
	}
	golden_score(truth, &raw, kind->events, GOLDEN_INSTRUCTION, samples, &before);
	golden_score(truth, &corrected, (1 << GUS_CORE_PSV_EVENTS) - 1, GOLDEN_INSTRUCTION, 0, &after);
	golden_score(truth, &corrected, kind->events, GOLDEN_INSTRUCTION, 0, &own);
	print_row(kind->name, "", some.n, &before, &after, &own, spread.unseen);
	golden_spread_free(&spread);
	gus_vec_free(&raw);
	gus_vec_free(&corrected);
	gus_vec_free(&some);
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
		struct taken all = { 0 };
		int rc = golden_words_read(path, take, &all, err);

		free(path);
		for (size_t k = 0; rc == 0 && k < sizeof(sizes) / sizeof(*sizes); k++)
			judge(truth, joint, &all, i, sizes[k], o);
		gus_vec_free(&all);
		if (rc != 0)
			return -1;
	}
	for (size_t i = 0; i < sizeof(by_executions) / sizeof(*by_executions); i++) {
		char *path = gus_format("%s/%s.data", o->folder, golden_schemes[by_executions[i]].name);
		struct executions all = { 0 };
		int rc = golden_words_read(path, take_execution, &all, err);

		free(path);
		for (size_t k = 0; rc == 0 && k < sizeof(sizes) / sizeof(*sizes); k++)
			judge_executions(truth, joint, &all, by_executions[i], sizes[k], o);
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
