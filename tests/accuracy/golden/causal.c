/* SPDX-License-Identifier: MIT */
/* Caches and predictors are the same on all these machines, so they are run once (attribution/traced), and what they
 * say is fed to as many core engines as there are machines. */
#include "tests/accuracy/golden/causal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "attribution/traced/regions.h"
#include "attribution/traced/traced.h"
#include "attribution/verdicts/slots.h"
#include "attribution/verdicts/verdict.h"
#include "base/error.h"
#include "model/core/core.h"
#include "model/machine/hooks.h"
#include "model/machine/steps.h"
#include "tests/accuracy/golden/join.h"
#include "tests/accuracy/golden/look.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/output.h"
#include "tests/accuracy/golden/truth.h"
#include "tests/accuracy/golden/turn.h"
#include "tests/accuracy/golden/windows.h"

enum { PID = 1000, PERIOD = 1009, MACHINES = GUS_NODES + 1, TIMES = 2 };

/* How many times as much of a node's resources there is, by which of the two. */
static const unsigned times_of[TIMES] = { GUS_CAUSAL_MORE, GUS_CAUSAL_TWICE };

/* One machine, on one thread. */
struct variant {
	enum gus_node node;             /* GUS_NODE_NONE: as it is */
	unsigned times;
	struct gus_core_config config;
	struct golden_traits *traits;
	struct gus_core_hooks hooks;
	struct golden_turned code;
	struct gus_core_engine *engine;
};

struct thread {
	struct variant variants[TIMES][MACHINES]; /* the one that is as it is stands in the first row alone */
	struct gus_core_listener listener;      /* of the machine as it is */
	const struct gus_core_listener *slotted, *sampled; /* whom it tells; NULL: nobody */
};

struct causal {
	const struct golden_causal_options *o;
	struct golden_look look;
	struct gus_traced traced;
	struct gus_slotted slots;
	struct golden_output *output;
	char *run;                      /* its folder */
	struct golden_clocks clocks;
	struct gus_vec(struct golden_traits *) traits; /* of the threads' own engines, which tell the time */
	struct gus_vec(struct thread *) threads;
	uint64_t warm_up;
	uint64_t mispredicted;          /* branches so far */
	struct gus_error *err;
	bool failed;
};

/* Nodes that have the same resources are one machine: that of the first. */
static enum gus_node first_like(enum gus_node node)
{
	for (unsigned i = 0; i < GUS_NODES; i++)
		if (gus_nodes[i].knobs == gus_nodes[node].knobs)
			return (enum gus_node)i;
	return node;
}

static bool is_run(enum gus_node node)
{
	return node == GUS_NODE_NONE || (gus_nodes[node].knobs && first_like(node) == node);
}

/* Both listeners are told. */

static void on_cycle(void *context, const struct gus_core_cycle *c)
{
	const struct thread *t = context;

	t->slotted->cycle(t->slotted->context, c);
	if (t->sampled)
		t->sampled->cycle(t->sampled->context, c);
}

static void on_uop(void *context, const struct gus_core_event *e)
{
	const struct thread *t = context;

	if (t->slotted->uop)
		t->slotted->uop(t->slotted->context, e);
	if (t->sampled && t->sampled->uop)
		t->sampled->uop(t->sampled->context, e);
}

static void on_retire(void *context, const struct gus_core_retired *r)
{
	const struct thread *t = context;

	if (t->slotted->retire)
		t->slotted->retire(t->slotted->context, r);
	if (t->sampled)
		t->sampled->retire(t->sampled->context, r);
}

/* Machines. */

static int open_variant(struct causal *c, struct variant *v, enum gus_node node, unsigned times,
			const struct gus_core_listener *listener)
{
	const struct golden_machine *m = c->o->machine;
	unsigned ports = golden_turn_ports(node, times);

	v->node = node;
	v->times = times;
	v->config = m->config;
	golden_turn_config(&v->config, node, times);
	v->traits = golden_traits_of(golden_traits_bits(m->traits), m->seed, &v->config);
	if (golden_traits_hooks(v->traits))
		v->hooks = *golden_traits_hooks(v->traits);
	v->hooks.port_width = ports;
	golden_turned_init(&v->code, c->traced.program, node, times);
	v->engine = gus_core_open(&v->code.program, &v->config, listener,
				  golden_traits_hooks(v->traits) || ports > 1 ? &v->hooks : NULL, c->err);
	return v->engine ? 0 : -1;
}

/* The clock of a thread begins where it counts. */
static const struct gus_core_listener *listener_of(struct causal *c, struct thread *t, uint32_t stream)
{
	t->slotted = gus_slotted_listen(&c->slots, c->traced.program);
	if (c->output)
		t->sampled = golden_output_listen(c->output, stream, c->traced.program);
	if (c->output)
		golden_clocks_of(&c->clocks, stream)->instructions = c->warm_up;
	t->listener = (struct gus_core_listener){ t, on_cycle, on_uop, on_retire };
	return &t->listener;
}

static struct thread *thread_of(struct causal *c, uint32_t stream)
{
	struct thread *t;

	while (c->threads.n <= stream)
		gus_vec_push(&c->threads, NULL);
	if (c->threads.v[stream])
		return c->threads.v[stream];
	t = c->threads.v[stream] = gus_zalloc(sizeof(*t));
	for (unsigned i = 0; i < TIMES * MACHINES && !c->failed; i++) {
		enum gus_node node = (enum gus_node)(i % MACHINES);
		unsigned row = i / MACHINES;
		bool nominal = node == GUS_NODE_NONE;

		if (is_run(node) && !(nominal && row))
			c->failed = open_variant(c, &t->variants[row][node], node, times_of[row],
						 nominal ? listener_of(c, t, stream) : NULL) != 0;
	}
	return t;
}

static void close_thread(struct thread *t)
{
	for (unsigned i = 0; t && i < TIMES * MACHINES; i++) {
		struct variant *v = &t->variants[i / MACHINES][i % MACHINES];

		gus_core_close(v->engine);
		golden_traits_free(v->traits);
		golden_turned_free(&v->code);
	}
	free(t);
}

static void feed(struct causal *c, struct variant *v, const struct gus_op_steps *steps,
		 const struct gus_op_steps *predicted)
{
	if (c->failed || !v->engine)
		return;
	golden_turned_grow(&v->code, c->traced.program, v->node, v->times);
	if (gus_core_feed(v->engine, golden_turn_predicts(v->node) ? predicted : steps, c->err) != 0)
		c->failed = true;
}

static void drain(struct causal *c, struct thread *t, uint32_t stream)
{
	for (unsigned i = 0; i < TIMES * MACHINES && !c->failed; i++) {
		struct variant *v = &t->variants[i / MACHINES][i % MACHINES];

		if (!v->engine)
			continue;
		golden_turned_grow(&v->code, c->traced.program, v->node, v->times);
		c->failed = gus_core_drain(v->engine, c->err) != 0;
	}
	if (c->output)
		golden_output_leave(c->output, stream);
}

/* The same steps for machines that mispredict so many times less: of so many mispredictions one is left. */
static struct gus_op_steps better(const struct causal *c, const struct gus_op_steps *steps, unsigned times,
				  struct gus_op_step *to)
{
	uint64_t n = c->mispredicted;

	for (size_t i = 0; i < steps->n; i++) {
		to[i] = steps->steps[i];
		if (to[i].mispredicted)
			to[i].mispredicted = n++ % times == 0;
	}
	return (struct gus_op_steps){ to, steps->accesses, steps->n };
}

/* Of what every machine executes. The warm-up has no region. */
static void fed(void *context, uint32_t stream, const struct gus_op_steps *steps)
{
	struct gus_op_step right[TIMES][GUS_OP_STEPS];
	struct causal *c = context;
	struct thread *t;

	if (!steps && stream < c->threads.n && c->threads.v[stream])
		drain(c, c->threads.v[stream], stream);
	if (!steps || !steps->n || !steps->steps[0].region)
		return;
	t = thread_of(c, stream);
	for (unsigned row = 0; row < TIMES; row++) {
		const struct gus_op_steps predicted = better(c, steps, times_of[row], right[row]);

		for (unsigned i = 0; i < MACHINES; i++)
			feed(c, &t->variants[row][i], steps, &predicted);
	}
	for (size_t i = 0; i < steps->n; i++)
		c->mispredicted += steps->steps[i].mispredicted;
}

static const struct gus_core_listener *nobody(void *context, uint32_t stream, const struct gus_program *program)
{
	(void)context;
	(void)stream;
	(void)program;
	return NULL;
}

static const struct gus_core_hooks *hooks_of(void *context, uint32_t stream)
{
	struct causal *c = context;

	(void)stream;
	gus_vec_push(&c->traits, golden_traits_again(c->o->machine->traits));
	return golden_traits_hooks(c->traits.v[c->traits.n - 1]);
}

/* What is written. */

static double cycles_of(const struct causal *c, unsigned row, enum gus_node node, uint32_t region)
{
	double cycles = 0;

	for (size_t i = 0; i < c->threads.n; i++)
		if (c->threads.v[i])
			cycles += (double)gus_core_region_cycles(c->threads.v[i]->variants[row][node].engine,
								 region + 1);
	return cycles;
}

static void slots_of(const struct causal *c, uint32_t region, double slots[GUS_NODES_OF_TREE])
{
	const struct gus_traced *t = &c->traced;

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		double of[GUS_NODES_OF_TREE];

		if ((region != GUS_TRACED_NONE && b->region != region) || !b->ops.ops_n)
			continue;
		gus_slotted_add(&c->slots, b->ops.op, b->ops.taken + 1 - b->ops.op, of);
		for (unsigned k = 0; k < GUS_NODES_OF_TREE; k++)
			slots[k] += of[k];
	}
}

static double cycles_of_some(const struct causal *c, unsigned row, enum gus_node node, uint32_t region)
{
	double cycles = 0;

	for (uint32_t i = 0; region == GUS_TRACED_NONE && i < c->traced.regions.n; i++)
		cycles += cycles_of(c, row, node, i);
	return region == GUS_TRACED_NONE ? cycles : cycles_of(c, row, node, region);
}

/* By the rule that explain has, of what is really so. */
static enum gus_node cause_of(const double slots[GUS_NODES_OF_TREE], double none,
			      const double cycles[TIMES][GUS_NODES])
{
	double gains[TIMES][GUS_NODES] = { { 0 } };
	const double errors[GUS_NODES] = { 0 }, residuals[GUS_NODES] = { 0 };
	const struct gus_causal_given given = { slots, gains[0], gains[1], errors, residuals, 0, NULL };
	struct gus_causal v;

	for (unsigned row = 0; row < TIMES; row++)
		for (unsigned i = 0; i < GUS_NODES; i++)
			gains[row][i] = cycles[row][i] > 0 && cycles[row][i] < none ? none / cycles[row][i] - 1 : 0;
	gus_causal_make(&v, &given);
	return v.cause;
}

static void print_region(FILE *f, const struct causal *c, uint32_t region)
{
	double slots[GUS_NODES_OF_TREE] = { 0 }, all = 0, cycles[TIMES][GUS_NODES] = { { 0 } };
	double none = cycles_of_some(c, 0, GUS_NODE_NONE, region);
	enum gus_node cause;
	char name[256] = "";

	if (region != GUS_TRACED_NONE)
		gus_traced_region_name(&c->traced, region, name, sizeof(name));
	fprintf(f, "region\t%s\n", name);
	slots_of(c, region, slots);
	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		all += gus_nodes[i].level == 1 ? slots[i] : 0;
	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		fprintf(f, "slots\t%s\t%.6f\n", gus_nodes[i].name, all > 0 ? slots[i] / all : 0);
	fprintf(f, "cycles\tnone\t%.0f\n", none);
	for (unsigned row = 0; row < TIMES; row++)
		for (unsigned i = 0; i < GUS_NODES; i++) {
			if (!gus_nodes[i].knobs)
				continue;
			cycles[row][i] = cycles_of_some(c, row, first_like((enum gus_node)i), region);
			fprintf(f, "%s\t%s\t%.0f\n", row ? "twice" : "cycles", gus_nodes[i].name, cycles[row][i]);
		}
	cause = cause_of(slots, none, cycles);
	fprintf(f, "cause\t%s\n", cause == GUS_NODE_NONE ? "none" : gus_nodes[cause].name);
}

static int write_truth(const struct causal *c, struct gus_error *err)
{
	char *path = gus_format("%s/truth", c->o->folder);
	FILE *f = fopen(path, "we");
	int rc = 0;

	if (f)
		print_region(f, c, GUS_TRACED_NONE);
	for (uint32_t i = 0; f && i < c->traced.regions.n; i++)
		if (cycles_of(c, 0, GUS_NODE_NONE, i) > 0)
			print_region(f, c, i);
	if (!f || fclose(f) != 0)
		rc = gus_fail_errno(err, errno, "cannot write %s", path);
	free(path);
	return rc;
}

/* Recordings. */

/* What each hardware would record: what tells time, and what tells what was met. */
static const struct { const char *name, *of[2]; } tiers[] = {
	{ "pebs", { "pebs", "loads" } }, { "ibs", { "pmu", "ibs-ops" } }, { "spe", { "pmu", "spe" } },
};

static int join_tier(const struct causal *c, size_t tier, char *const *windows, size_t windows_n,
		     struct gus_error *err)
{
	char *path = gus_format("%s/%s", c->o->folder, tiers[tier].name);
	char *first = gus_format("%s/%s.data", c->run, tiers[tier].of[0]);
	char *second = gus_format("%s/%s.data", c->run, tiers[tier].of[1]);
	const char *const recordings[] = { first, second };
	int rc = golden_join(path, recordings, 2, (const char *const *)windows, windows_n, err);

	free(path);
	free(first);
	free(second);
	return rc;
}

static int join_all(const struct causal *c, struct gus_error *err)
{
	struct gus_vec(char *) windows = { 0 };
	struct stat st;
	int rc = 0;

	for (;;) {
		char *path = gus_format("%s/window.%zu", c->o->folder, windows.n);

		if (stat(path, &st) != 0) {
			free(path);
			break;
		}
		gus_vec_push(&windows, path);
	}
	for (size_t i = 0; rc == 0 && i < sizeof(tiers) / sizeof(*tiers); i++)
		rc = join_tier(c, i, windows.v, windows.n, err);
	for (size_t i = 0; i < windows.n; i++)
		free(windows.v[i]);
	gus_vec_free(&windows);
	return rc;
}

static int write_windows(const struct causal *c, struct gus_error *err)
{
	char *path = gus_format("%s/window", c->o->folder);
	const struct golden_windows_options wo = { .trace = c->o->trace, .path = path, .clocks = &c->clocks,
		.n = c->o->windows, .length = c->o->window_length, .seed = c->o->seed, .apart = true };
	int rc = golden_windows_write(&wo, err);

	free(path);
	return rc;
}

/* Nobody asks the output for units of its places. */
static int close_output(struct causal *c, int rc, struct gus_error *err)
{
	struct golden_output *output = c->output;
	struct golden_truth *truth = golden_output_truth(output);

	gus_vec_push(&truth->functions, gus_strdup("?"));
	gus_vec_push(&truth->loops, gus_strdup("?"));
	c->output = NULL;
	return golden_output_close(output, rc == 0, 0, err) == 0 ? rc : -1;
}

static int open_output(struct causal *c, const char *comm, struct gus_error *err)
{
	const struct golden_output_options oo = { .folder = c->run, .comm = comm, .pid = PID,
		.issue_width = c->o->machine->config.issue_width, .mappings = c->look.mappings.v,
		.mappings_n = c->look.mappings.n, .period = c->o->period ? c->o->period : PERIOD, .seed = c->o->seed,
		.passes = c->o->passes ? c->o->passes : 1, .clocks = &c->clocks };

	c->output = golden_output_open(&oo, err);
	return c->output ? 0 : -1;
}

/* Running. */

static int read_trace(struct causal *c, struct gus_error *err)
{
	struct gus_trace *trace = gus_trace_open(c->o->trace, err);
	int rc = trace ? gus_traced_read(&c->traced, trace, err) : -1;

	if (rc == 0)
		rc = gus_traced_end(&c->traced, err);
	gus_trace_close(trace);
	return rc == 0 && !c->failed ? 0 : -1;
}

static void open_traced(struct causal *c, struct gus_symbols *symbols)
{
	const struct golden_machine *m = c->o->machine;
	struct gus_traced_options to = { .uarch = m->uarch, .config = &m->config, .caches = &m->caches,
		.predictor = &m->predictor, .alone = true, .core = true, .all = true, .hooks_of = hooks_of,
		.listen = nobody, .listen_context = c, .fed = fed, .symbols = symbols, .warm_up = c->warm_up };

	gus_traced_open(&c->traced, &to);
}

static int run(struct causal *c, struct gus_error *err)
{
	struct gus_symbols_options so = { 0 };
	struct gus_symbols *symbols = gus_symbols_new(&so, NULL);
	int rc;

	gus_slotted_init(&c->slots, c->o->machine->config.issue_width);
	open_traced(c, symbols);
	rc = read_trace(c, err);
	if (rc == 0)
		rc = write_truth(c, err);
	for (size_t i = 0; i < c->threads.n; i++)
		close_thread(c->threads.v[i]);
	gus_vec_free(&c->threads);
	gus_traced_close(&c->traced);
	gus_symbols_free(symbols);
	gus_slotted_free(&c->slots);
	for (size_t i = 0; i < c->traits.n; i++)
		golden_traits_free(c->traits.v[i]);
	gus_vec_free(&c->traits);
	return rc;
}

static int run_and_record(struct causal *c, struct gus_error *err)
{
	const char *comm = strrchr(c->o->trace, '/') ? strrchr(c->o->trace, '/') + 1 : c->o->trace;
	int rc = c->o->truth_only ? 0 : open_output(c, comm, err);

	if (rc == 0)
		rc = run(c, err);
	if (c->output)
		rc = close_output(c, rc, err);
	if (rc != 0 || c->o->truth_only)
		return rc;
	rc = write_windows(c, err);
	return rc == 0 ? join_all(c, err) : rc;
}

int golden_causal(const struct golden_causal_options *o, struct gus_error *err)
{
	struct causal c = { .o = o, .err = err };
	int rc;

	if (mkdir(o->folder, 0777) != 0 && errno != EEXIST)
		return gus_fail_errno(err, errno, "cannot make %s", o->folder);
	c.run = gus_format("%s/run", o->folder);
	rc = golden_look_at(o->trace, &c.look, err);
	if (rc == 0) {
		c.warm_up = o->length && o->length < c.look.instructions ? c.look.instructions - o->length : 0;
		rc = run_and_record(&c, err);
	}
	golden_look_free(&c.look);
	golden_clocks_free(&c.clocks);
	free(c.run);
	return rc;
}
