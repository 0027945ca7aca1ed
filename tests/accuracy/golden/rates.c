/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/rates.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/observed/observed.h"
#include "attribution/traced/traced.h"
#include "base/alloc.h"
#include "base/error.h"
#include "cli/common/recording.h"
#include "collector/host/procfs.h"
#include "model/code/program.h"
#include "model/oracles/branch.h"
#include "proto/reader.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/truth.h"

/* Regions with less of the time than this are nobody's question. */
static const double LEAST = 0.05;

/* Who models. The recordings are what one of that machine's would have had in one. */
static const struct variant {
	const char *name;
	bool known;             /* the machine's own caches and predictor: what is left then is not theirs */
	const char *recordings[4];
} variants[] = {
	{ "known", true, { NULL } },
	{ "wrong", false, { NULL } },
	{ "stacks", false, { "pebs", "loads", NULL } },
	{ "pebs", false, { "pebs", "loads", "cost-branch", NULL } },
	{ "ibs-ops", false, { "ibs-ops", NULL } },
	{ "spe", false, { "spe", NULL } },
};
#define VARIANTS (sizeof(variants) / sizeof(*variants))

/* Cycles of each loop of the truth. */
struct cycles { double all; double *loops; };

struct found {
	double error, whole;    /* of regions, weighted by their time; of the run */
	double accesses, branches; /* shares that were measured */
	double levels[GUS_HITS], mispredicted;
};

/* The machine and the wrong idea of it. */

static struct golden_machine *machine_of(const char *folder, struct gus_error *err)
{
	char *path = gus_format("%s/machine.uarch", folder), *text;
	struct golden_machine *m = NULL;
	unsigned long long seed;
	size_t size;

	text = gus_procfs_read(path, &size);
	if (!text)
		gus_fail_errno(err, errno, "cannot read %s", path);
	else if (sscanf(text, "uarch golden-%llu", &seed) != 1)
		gus_fail(err, GUS_E_USAGE, "%s is not of a machine that was drawn from a seed", path);
	else
		m = golden_machine_new(seed, err);
	free(text);
	free(path);
	return m;
}

/* Half of each cache's sets, and where something else than the least recently used goes, that goes. */
static void mistake_caches(struct gus_cache_config *c)
{
	for (unsigned i = 0; i < GUS_CACHE_LEVELS; i++) {
		bool lru = c->level[i].replacement == GUS_REPLACE_LRU;

		c->level[i].bytes /= 2;
		c->level[i].replacement = lru ? GUS_REPLACE_RANDOM : GUS_REPLACE_LRU;
	}
}

/* Counters without any history, or of counters histories. */
static void mistake_predictor(struct gus_branch_config *c)
{
	const bool plain = !c->direction.tables;

	gus_branch_config_default(c);
	if (!plain)
		c->direction.tables = 0;
}

/* Runs. */

static int read_trace(struct gus_traced *t, const char *path, struct gus_error *err)
{
	struct gus_trace *trace = gus_trace_open(path, err);
	int rc = trace ? gus_traced_read(t, trace, err) : -1;

	if (rc == 0)
		rc = gus_traced_end(t, err);
	if (trace)
		gus_trace_close(trace);
	return rc;
}

/* The time of an op is that of the truth's loop where it lies. */
static void add_up(struct cycles *c, const struct gus_traced *t, const struct golden_truth *truth, bool stream)
{
	for (uint32_t op = 0; op < t->program->ops_n; op++) {
		const struct golden_place *p = golden_truth_place(truth,
								  t->program->insns[t->program->ops[op].insn].offset);
		double cycles = stream ? t->op_cycles[op] : 0;
		size_t n;
		const struct gus_pics_cell *cells = gus_traced_pics_of(&t->pics, op, &n);

		for (size_t i = 0; !stream && i < n; i++)
			cycles += (double)cells[i].ticks / GUS_PICS_TICKS;
		c->all += cycles;
		if (p)
			c->loops[p->loop] += cycles;
	}
}

static void count(struct found *f, const struct gus_traced *t)
{
	double accesses = 0, measured = 0, branches = 0, wrong = 0, rated = 0;

	for (size_t i = 0; i < t->memories.n; i++) {
		accesses += (double)t->memories.v[i].told;
		measured += (double)t->memories.v[i].measured;
		for (unsigned k = 0; k < GUS_HITS; k++)
			f->levels[k] += (double)t->memories.v[i].hits[k];
	}
	for (size_t i = 0; i < t->blocks.n; i++) {
		branches += (double)t->blocks.v[i].branches;
		wrong += (double)t->blocks.v[i].mispredicted;
		rated += (double)t->blocks.v[i].measured;
	}
	f->accesses = accesses > 0 ? measured / accesses : 0;
	f->branches = branches > 0 ? rated / branches : 0;
	f->mispredicted = branches > 0 ? wrong / branches : 0;
	for (unsigned k = 0; k < GUS_HITS; k++)
		f->levels[k] /= accesses > 0 ? accesses : 1;
}

static int run(const struct golden_rates_options *o, const struct golden_machine *m, const struct variant *v,
	       struct gus_observed *observed, const struct golden_truth *truth, struct cycles *c, struct found *f,
	       struct gus_error *err)
{
	struct gus_symbols_options so = { 0 };
	struct gus_branch_config predictor = m->predictor;
	struct gus_cache_config caches = m->caches;
	struct gus_traced_options to = { .uarch = m->uarch, .config = &m->config, .caches = &caches,
		.predictor = &predictor, .alone = !o->stream, .core = !o->stream, .all = !o->stream,
		.observed = observed };
	struct gus_traced t;
	int rc;

	caches.prefetch_throttle = 0;   /* traits of which no table can tell */
	predictor.train_late = 0;
	if (!v->known) {
		mistake_caches(&caches);
		mistake_predictor(&predictor);
	}
	to.symbols = gus_symbols_new(&so, NULL);
	gus_traced_open(&t, &to);
	rc = read_trace(&t, o->trace, err);
	if (rc == 0) {
		add_up(c, &t, truth, o->stream);
		count(f, &t);
	}
	gus_traced_close(&t);
	gus_symbols_free(to.symbols);
	return rc;
}

static int observe(const struct golden_rates_options *o, const struct variant *v, struct gus_observed *observed,
		   struct gus_error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && v->recordings[i]; i++) {
		char *path = gus_format("%s/%s.data", o->folder, v->recordings[i]);
		struct gus_reader *reader = gus_recording_open(path, err);

		rc = reader ? gus_observed_add(observed, reader, &(struct gus_symbols_options){ 0 }, NULL, err) : -1;
		if (reader)
			gus_reader_close(reader);
		free(path);
	}
	if (rc == 0 && observed)
		gus_observed_settle(observed);
	return rc;
}

/* Against the truth. */

static double *true_loops(const struct golden_truth *truth)
{
	double *loops = gus_zalloc((truth->loops.n + 1) * sizeof(*loops));

	for (size_t i = 0; i < truth->cells.n; i++) {
		const struct golden_place *p = golden_truth_place(truth, truth->cells.v[i].address);

		if (p)
			loops[p->loop] += (double)truth->cells.v[i].ticks / GUS_PICS_TICKS;
	}
	return loops;
}

static void judge(const struct golden_rates_options *o, const struct variant *v, const struct golden_truth *truth,
		  const double *loops, const struct cycles *c, struct found *f)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < truth->loops.n; i++) {
		double off = c->loops[i] / (loops[i] > 0 ? loops[i] : 1) - 1;

		if (loops[i] < LEAST * (double)truth->cycles)
			continue;
		sum += fabs(off) * loops[i];
		weight += loops[i];
		if (o->each)
			printf("# %s\t%s\t%.1f %% of the time\t%+.1f %%\n", v->name, truth->loops.v[i],
			       100 * loops[i] / (double)truth->cycles, 100 * off);
	}
	f->error = weight > 0 ? sum / weight : 0;
	f->whole = c->all / (double)truth->cycles - 1;
}

static void print(const struct variant *v, const struct found *f, double wrong)
{
	printf("%s\t%.4f\t%+.4f\t%.3f\t%.4f\t%.4f\t%.4f\t%.5f\t%.5f\t%.5f\n", v->name, f->error, f->whole,
	       wrong > 0 ? f->error / wrong : (double)NAN, f->accesses, f->branches, f->mispredicted, f->levels[1],
	       f->levels[2], f->levels[3]);
	fflush(stdout);
}

static int try_variant(const struct golden_rates_options *o, const struct golden_machine *m, const struct variant *v,
		       const struct golden_truth *truth, const double *loops, double *wrong, struct gus_error *err)
{
	struct cycles c = { 0, gus_zalloc((truth->loops.n + 1) * sizeof(double)) };
	struct gus_observed *observed = v->recordings[0] ? gus_observed_new() : NULL;
	struct found f = { .error = 0 };
	int rc = observe(o, v, observed, err);

	if (rc == 0)
		rc = run(o, m, v, observed, truth, &c, &f, err);
	if (rc == 0) {
		judge(o, v, truth, loops, &c, &f);
		*wrong = strcmp(v->name, "wrong") == 0 ? f.error : *wrong;
		print(v, &f, *wrong);
	}
	gus_observed_free(observed);
	free(c.loops);
	return rc;
}

int golden_rates(const struct golden_rates_options *o, struct gus_error *err)
{
	char *path = gus_format("%s/truth", o->folder);
	struct golden_truth truth = { .cycles = 0 };
	struct golden_machine *m = machine_of(o->folder, err);
	int rc = m ? golden_truth_read(&truth, path, err) : -1;
	double *loops = rc == 0 ? true_loops(&truth) : NULL, wrong = 0;

	if (rc == 0)
		printf("# rates\terror of regions\tof the run\tto that of wrong ones\taccesses measured\tbranches "
		       "measured\tmispredicted\tL2\tL3\tmemory\n");
	for (size_t i = 0; rc == 0 && i < VARIANTS; i++)
		if (!o->only || strcmp(o->only, variants[i].name) == 0)
			rc = try_variant(o, m, &variants[i], &truth, loops, &wrong, err);
	free(loops);
	free(path);
	golden_truth_free(&truth);
	golden_machine_free(m);
	return rc;
}
