/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/squash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/traced/traced.h"
#include "attribution/whatif/squash.h"
#include "base/error.h"
#include "tests/accuracy/golden/machine.h"

/* What is true, of all threads together; slots. Loads that went too early are flushed as well, and are another matter;
 * where it is not told which of both it was, as something older is still there, the slots are with the branches'. */
struct truth {
	const struct golden_squash_options *o;
	struct gus_vec(struct golden_traits *) traits; /* of threads */
	struct gus_core_listener listener;
	uint64_t cycles, wrong, empty, branches, early;
};

struct estimate { double cycles, lost, squashed; uint64_t branches; };

/* The machine. */

static void on_cycle(void *context, const struct gus_core_cycle *c)
{
	struct truth *t = context;
	uint32_t width = t->o->machine->config.issue_width, used = c->issued + c->wrong;
	bool early = c->state == GUS_COMMIT_FLUSHED && c->of_next;

	t->cycles++;
	if (early)
		return;
	t->wrong += c->wrong;
	if (c->stop == GUS_CORE_MISPREDICT && used < width)
		t->empty += width - used;
}

static void on_retire(void *context, const struct gus_core_retired *op)
{
	struct truth *t = context;

	t->branches += op->ends && op->psv & GUS_CORE_FL_MB;
	t->early += op->ends && op->psv & GUS_CORE_FL_MO;
}

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	struct truth *t = context;

	(void)stream;
	(void)program;
	t->listener = (struct gus_core_listener){ .context = t, .cycle = on_cycle, .retire = on_retire };
	return &t->listener;
}

static const struct gus_core_hooks *hooks_of(void *context, uint32_t stream)
{
	struct truth *t = context;

	(void)stream;
	gus_vec_push(&t->traits, golden_traits_again(t->o->machine->traits));
	return golden_traits_hooks(t->traits.v[t->traits.n - 1]);
}

/* Both. */

static int run(struct gus_traced_options *options, const char *path, struct gus_error *err)
{
	struct gus_symbols_options so = { 0 };
	struct gus_trace *trace = gus_trace_open(path, err);
	struct gus_traced t;
	int rc;

	if (!trace)
		return -1;
	options->symbols = gus_symbols_new(&so, NULL);
	options->all = true;
	gus_traced_open(&t, options);
	rc = gus_traced_read(&t, trace, err);
	if (rc == 0)
		rc = gus_traced_end(&t, err);
	gus_traced_close(&t);
	gus_symbols_free(options->symbols);
	gus_trace_close(trace);
	return rc;
}

static int find_truth(struct truth *t, struct gus_error *err)
{
	const struct golden_machine *m = t->o->machine;
	struct gus_traced_options to = { .uarch = m->uarch, .config = &m->config, .caches = &m->caches,
		.predictor = &m->predictor, .alone = true, .core = true, .hooks_of = m->traits ? hooks_of : NULL,
		.listen = listen, .listen_context = t };

	return run(&to, t->o->trace, err);
}

static int find_estimate(const struct golden_squash_options *o, const struct gus_branch_config *predictor,
			 struct estimate *e, struct gus_error *err)
{
	const struct golden_machine *m = o->machine;
	struct gus_cache_config caches = m->caches;
	struct gus_squashes squashes;
	const struct gus_traced_timed timed = { &squashes, gus_squashes_steps };
	struct gus_traced_options to = { .uarch = m->uarch, .config = &m->config, .caches = &caches,
		.predictor = predictor, .timed = &timed };
	int rc;

	caches.prefetch_throttle = 0;   /* a trait of which no table can tell */
	gus_squashes_init(&squashes, &m->config);
	rc = run(&to, o->trace, err);
	*e = (struct estimate){ .cycles = 0 };
	for (uint32_t i = 0; i < squashes.regions.n; i++) {
		struct gus_squash s = gus_squashes_of(&squashes, i);

		e->cycles += s.cycles;
		e->lost += s.lost;
		e->squashed += s.squashed;
		e->branches += s.branches;
	}
	gus_squashes_free(&squashes);
	return rc;
}

static void print(const char *name, const struct truth *t, const struct estimate *e)
{
	double width = t->o->machine->config.issue_width, lost = (double)(t->wrong + t->empty);

	printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%.0f\t%.0f\t%.0f\t%.0f\t%+.4f\t%+.4f\t%" PRIu64 "\t%.0f\t%" PRIu64 "\n",
	       name, t->branches, e->branches, lost / width, e->lost / width, (double)t->wrong / width,
	       e->squashed / width, lost > 0 ? e->lost / lost - 1 : 0,
	       t->wrong ? e->squashed / (double)t->wrong - 1 : 0, t->cycles, e->cycles, t->early);
}

int golden_squash(const struct golden_squash_options *o, struct gus_error *err)
{
	struct truth t = { .o = o };
	struct gus_branch_config modelled, measured = o->machine->predictor;
	struct estimate e;
	int rc = find_truth(&t, err);

	measured.train_late = 0;
	gus_branch_config_of(&modelled, &o->machine->config);
	if (rc == 0)
		printf("# mispredictions\ttrue\testimated\tcycles lost\testimated\tof them wrong path\testimated\t"
		       "error\tof the wrong path\tcycles\testimated\tloads too early\n");
	if (rc == 0)
		rc = find_estimate(o, &measured, &e, err);
	if (rc == 0) {
		print("measured", &t, &e);
		rc = find_estimate(o, &modelled, &e, err);
	}
	if (rc == 0)
		print("modelled", &t, &e);
	for (size_t i = 0; i < t.traits.n; i++)
		golden_traits_free(t.traits.v[i]);
	gus_vec_free(&t.traits);
	return rc;
}
