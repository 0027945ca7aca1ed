/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/attribute.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/prior.h"
#include "attribution/proportional/spread.h"
#include "attribution/traced/traced.h"
#include "base/alloc.h"
#include "base/error.h"
#include "collector/host/procfs.h"
#include "model/core/pics.h"
#include "model/machine/options.h"
#include "model/oracles/branch.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "proto/trace.h"
#include "symbolizer/symbols/symbols.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/samplers.h"
#include "tests/accuracy/golden/score.h"
#include "tests/accuracy/golden/tiers.h"
#include "tests/accuracy/golden/told.h"
#include "tests/accuracy/golden/truth.h"

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	return gus_groups_listen(context, stream, program);
}

static void leave(void *context, uint32_t stream)
{
	gus_groups_leave(context, stream);
}

static int replay(const struct golden_attribute_options *o, const struct golden_machine *m, bool warm,
		  struct gus_groups *groups, struct gus_error *err)
{
	struct gus_symbols_options so = { 0 };
	struct gus_branch_config predictor;
	struct gus_traced_options to = { .uarch = m->uarch, .config = &m->config, .caches = &m->caches,
		.predictor = &predictor, .alone = true, .core = true, .all = true, .warm = warm,
		.listen = listen, .leave = leave, .listen_context = groups };
	struct gus_trace *trace = gus_trace_open(o->trace, err);
	struct gus_traced t;
	int rc;

	if (!trace)
		return -1;
	gus_branch_config_default(&predictor);
	to.symbols = gus_symbols_new(&so, NULL);
	gus_traced_open(&t, &to);
	rc = gus_traced_read(&t, trace, err);
	if (rc == 0)
		rc = gus_traced_end(&t, err);
	gus_traced_close(&t);
	gus_symbols_free(to.symbols);
	gus_trace_close(trace);
	return rc;
}

/* First touches are run as misses and as hits, as a trace does not say which they were. */
static int replay_runs(const struct golden_attribute_options *o, const struct golden_machine *m,
		       const struct golden_variant *v, struct gus_groups *groups, struct gus_error *err)
{
	int rc = v->no_cold ? 0 : replay(o, m, false, groups, err);

	return rc == 0 && !v->no_warm ? replay(o, m, true, groups, err) : rc;
}

static void print_row(const struct golden_variant *v, const char *name, size_t samples,
		      const struct golden_score *before, const struct golden_score *after,
		      const struct golden_score *own)
{
	printf("%s\t%s\t%zu\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", v->name, name, samples, before->heights,
	       after->heights, own->error, after->error, before->heights_floor, after->unknown);
}

/* A cell: what is estimated of it, and what is true. */
struct off { uint64_t address; uint16_t psv; double truth, estimate; };
struct offs gus_vec(struct off);

static int by_cell(const void *a, const void *b)
{
	const struct off *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) : (int)x->psv - (int)y->psv;
}

static int by_size(const void *a, const void *b)
{
	double x = fabs(((const struct off *)a)->estimate - ((const struct off *)a)->truth);
	double y = fabs(((const struct off *)b)->estimate - ((const struct off *)b)->truth);

	return x > y ? -1 : x < y;
}

static void merge_offs(struct offs *all)
{
	size_t n = 0;

	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_cell);
	for (size_t i = 0; i < all->n; i++) {
		if (!n || by_cell(&all->v[n - 1], &all->v[i]) != 0) {
			all->v[n++] = all->v[i];
			continue;
		}
		all->v[n - 1].truth += all->v[i].truth;
		all->v[n - 1].estimate += all->v[i].estimate;
	}
	all->n = n;
}

/* The cells that are farthest off. */
static void print_worst(const struct golden_truth *truth, const struct golden_estimates *e, uint64_t n)
{
	struct offs all = { 0 };
	char text[GUS_CORE_PSV_TEXT];

	for (size_t i = 0; i < truth->cells.n; i++)
		gus_vec_push(&all, (struct off){ truth->cells.v[i].address, truth->cells.v[i].psv,
			     (double)truth->cells.v[i].ticks / GUS_PICS_TICKS / (double)truth->cycles, 0 });
	for (size_t i = 0; i < e->n; i++)
		gus_vec_push(&all, (struct off){ e->v[i].address, e->v[i].psv, 0, e->v[i].weight });
	merge_offs(&all);
	qsort(all.v, all.n, sizeof(*all.v), by_size);
	for (size_t i = 0; i < all.n && i < n; i++)
		printf("#  %" PRIx64 "\t%s\testimated %.4f\ttrue %.4f\n", all.v[i].address,
		       gus_core_psv_text(all.v[i].psv, text), all.v[i].estimate, all.v[i].truth);
	gus_vec_free(&all);
}

/* How a question is answered. */
static int judge(const struct golden_attribute_options *o, const struct golden_truth *truth,
		 const struct golden_question *q, struct gus_error *err)
{
	const uint16_t all = (1 << GUS_CORE_PSV_EVENTS) - 1;
	const struct golden_tier *t = q->tier;
	enum golden_scheme scheme = golden_tier_samples(t) ? t->executions : t->time;
	struct golden_estimates raw = { 0 }, corrected = { 0 };
	struct golden_score before, after, own;
	int rc = golden_tier_estimate(q, &raw, &corrected, NULL, err);

	if (rc == 0) {
		golden_score(truth, &raw, 0, GOLDEN_INSTRUCTION, 0, &before);
		golden_score(truth, &corrected, all, GOLDEN_INSTRUCTION, 0, &after);
		golden_score(truth, &corrected, golden_schemes[scheme].events, GOLDEN_INSTRUCTION, 0, &own);
		print_row(q->variant, t->name, raw.n, &before, &after, &own);
		print_worst(truth, &corrected, o->worst);
	}
	gus_vec_free(&raw);
	gus_vec_free(&corrected);
	return rc;
}

/* Intervals. */

static double percent(size_t part, size_t all)
{
	return all ? 100. * (double)part / (double)all : 0;
}

static void print_level(const struct golden_truth *truth, const struct golden_question *q,
			const struct gus_replicates *replicates, enum golden_told_level level)
{
	struct golden_told told[GOLDEN_HALVES] = { { 0 } };
	struct golden_told_agreed agreed;
	struct golden_told_score score;

	for (enum golden_half half = 0; half < GOLDEN_HALVES; half++)
		golden_told_make(&told[half], truth, q->groups, &replicates[half], level);
	golden_told_score(&told[GOLDEN_WHOLE], &score);
	golden_told_compare(&told[GOLDEN_EVEN], &told[GOLDEN_ODD], &agreed);
	printf("%s\t%s\t%" PRIu64 "\t%s\t%zu\t%.1f\t%zu\t%.1f\t%.1f\t%zu\t%.1f\n", q->variant->name, q->tier->name,
	       q->samples, golden_told_names[level], score.shown, percent(score.held, score.shown), score.large,
	       100 * score.half, 100 * score.time, agreed.both, percent(agreed.agreed, agreed.both));
	for (enum golden_half half = 0; half < GOLDEN_HALVES; half++)
		gus_vec_free(&told[half]);
}

static int judge_intervals(const struct golden_truth *truth, const struct golden_question *q, struct gus_error *err)
{
	struct gus_replicates replicates[GOLDEN_HALVES] = { { .shares = NULL } };
	struct golden_estimates raw = { 0 }, corrected = { 0 };
	int rc = golden_tier_estimate(q, &raw, &corrected, replicates, err);

	for (enum golden_told_level level = 0; rc == 0 && level < GOLDEN_TOLD_LEVELS; level++)
		print_level(truth, q, replicates, level);
	for (enum golden_half half = 0; half < GOLDEN_HALVES; half++)
		gus_replicates_free(&replicates[half]);
	gus_vec_free(&raw);
	gus_vec_free(&corrected);
	return rc;
}

/* The model alone, which no sample was shown. */
static void judge_model(const struct golden_variant *variant, const struct golden_truth *truth,
			const struct gus_groups *groups, unsigned width)
{
	const struct gus_prior_options po = { .width = width < GUS_GROUP_MOST ? width : GUS_GROUP_MOST };
	const struct gus_spread_options so = { .strength = 1 };
	const struct gus_groups_counts *c = gus_groups_counts(groups);
	struct golden_estimates e = { 0 };
	struct gus_spread_cells cells = { 0 };
	struct golden_score score;
	struct gus_spread *spread;
	struct gus_prior prior;

	gus_prior_make(&prior, groups, &po, NULL);
	spread = gus_spread_new(&prior);
	gus_spread_fit(spread, &so);
	gus_spread_cells(spread, &cells);
	for (size_t i = 0; i < cells.n; i++)
		gus_vec_push(&e, (struct golden_estimate){ c->sites.v[cells.v[i].site].address, i, cells.v[i].share,
							   cells.v[i].psv, UINT16_MAX });
	golden_score(truth, &e, (1 << GUS_CORE_PSV_EVENTS) - 1, GOLDEN_INSTRUCTION, 0, &score);
	print_row(variant, "model", 0, &score, &score, &score);
	gus_vec_free(&cells);
	gus_spread_free(spread);
	gus_prior_free(&prior);
	gus_vec_free(&e);
}

static int judge_all(const struct golden_attribute_options *o, const struct golden_variant *variant,
		     const struct golden_truth *truth, const struct golden_machine *m, const struct gus_groups *groups,
		     struct gus_error *err)
{
	const uint64_t all[] = { 4000, 40000, 400000 };
	const uint64_t *sizes = o->samples ? &o->samples : all;
	size_t sizes_n = o->samples ? 1 : sizeof(all) / sizeof(*all);
	uint64_t counted[GOLDEN_SCHEMES] = { 0 };
	double ipc = (double)truth->instructions / (double)truth->cycles;

	if (!o->intervals)
		judge_model(variant, truth, groups, m->config.retire_width);
	for (size_t i = 0; i < GOLDEN_TIERS; i++) {
		for (size_t k = 0; k < sizes_n; k++) {
			const struct golden_question q = { .tier = &golden_tiers[i], .variant = variant,
				.folder = o->folder, .groups = groups, .width = m->config.retire_width, .ipc = ipc,
				.samples = sizes[k], .seed = o->seed, .counted = counted };

			if (o->only && strcmp(o->only, golden_tiers[i].name) != 0)
				continue;
			if ((o->intervals ? judge_intervals(truth, &q, err) : judge(o, truth, &q, err)) != 0)
				return -1;
		}
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

/* Which runs of the traces there are groups of: a variant may be without one of them. */
enum runs { BOTH, COLD, WARM, RUNS };

static enum runs runs_of(const struct golden_variant *v)
{
	return v->no_warm ? COLD : v->no_cold ? WARM : BOTH;
}

static bool is_meant(const struct golden_attribute_options *o, size_t variant)
{
	const char *name = golden_variants[variant].name;

	return o->variant ? strcmp(o->variant, name) == 0 || strcmp(o->variant, "each") == 0 : variant == 0;
}

static int judge_variants(const struct golden_attribute_options *o, const struct golden_truth *truth,
			  const struct golden_machine *m, struct gus_error *err)
{
	struct gus_groups *groups[RUNS] = { NULL };
	int rc = 0;

	if (o->intervals)
		printf("# variant\ttier\tsamples\tof\tshown\t%% that have the truth\tof 1 %% of the time and more\t"
		       "half of their interval, %%\t%% of the time shown\tshown of both halves\t%% that agree\n");
	else
		printf("# variant\ttier\tsamples\theights as they are\tcorrected\tE, of what it knows\tof all nine\t"
		       "floor of heights\tshare that is nowhere in the model\n");
	for (size_t i = 0; rc == 0 && i < GOLDEN_VARIANTS; i++) {
		enum runs runs = runs_of(&golden_variants[i]);

		if (!is_meant(o, i))
			continue;
		if (!groups[runs]) {
			groups[runs] = gus_groups_new();
			rc = replay_runs(o, m, &golden_variants[i], groups[runs], err);
		}
		if (rc == 0)
			rc = judge_all(o, &golden_variants[i], truth, m, groups[runs], err);
	}
	for (size_t i = 0; i < RUNS; i++)
		gus_groups_free(groups[i]);
	return rc;
}

int golden_attribute(const struct golden_attribute_options *o, struct gus_error *err)
{
	char *path = gus_format("%s/truth", o->folder);
	struct golden_machine *m = machine_of(o, err);
	struct golden_truth truth = { .cycles = 0 };
	bool known = false;
	int rc = m && golden_truth_read(&truth, path, err) == 0 ? 0 : -1;

	for (size_t i = 0; i < GOLDEN_VARIANTS; i++)
		known |= is_meant(o, i);
	if (rc == 0)
		rc = known ? judge_variants(o, &truth, m, err) :
			gus_fail(err, GUS_E_USAGE, "there is no variant %s", o->variant);
	free(path);
	golden_truth_free(&truth);
	golden_machine_free(m);
	return rc;
}
