/* SPDX-License-Identifier: MIT */
#include "attribution/traced/traced.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/private.h"
#include "base/error.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/oracles/rates.h"
#include "model/tables/uarch.h"

enum { EARLY = 65536 }; /* steps that are looked at before it is decided what to turn */

void gus_traced_open(struct gus_traced *t, const struct gus_traced_options *options)
{
	*t = (struct gus_traced){ .options = *options, .isa = options->uarch->isa };
	t->growing = gus_growing_new(options->uarch);
	t->program = gus_growing_program(t->growing);
	gus_strings_init(&t->strings);
	t->rates = gus_rates_new(0, 0);
	t->pooled = gus_rates_new(0, 0);
	if (options->alone) {
		t->options.core = t->options.all = true;
		t->options.causality = t->options.both = t->options.phases = t->options.interval = false;
		t->options.weight = 0;
	}
	t->window_bytes = options->config->uop_cache_width ? options->config->uop_cache_window : 0;
}

void gus_traced_close(struct gus_traced *t)
{
	for (size_t i = 0; i < t->threads.n; i++)
		gus_traced_thread_free(t->threads.v[i]);
	gus_vec_free(&t->threads);
	for (size_t i = 0; i < t->figures.n; i++) {
		free((void *)(uintptr_t)t->figures.v[i].cache);
		free((void *)(uintptr_t)t->figures.v[i].branches);
	}
	gus_vec_free(&t->figures);
	gus_vec_free(&t->programs);
	gus_vec_free(&t->program_of);
	gus_traced_forget(t);
	gus_traced_forget_excerpts(t);
	gus_traced_forget_passages(t);
	gus_vec_free(&t->memories);
	gus_vec_free(&t->regions);
	gus_vec_free(&t->prefetches);
	gus_vec_free(&t->mappings);
	gus_vec_free(&t->early);
	gus_vec_free(&t->early_accesses);
	gus_vec_free(&t->window_lines);
	gus_vec_free(&t->covered_by);
	gus_vec_free(&t->pics);
	gus_vec_free(&t->rated);
	free(t->pools);
	gus_rates_free(t->rates);
	gus_rates_free(t->pooled);
	gus_phases_found_free(&t->phases);
	gus_strings_free(&t->strings);
	if (t->covered.key_size)
		gus_index_free(&t->covered);
	if (t->windows_blocks.key_size)
		gus_index_free(&t->windows_blocks);
	gus_vec_free(&t->learned_as);
	for (size_t i = 0; i < t->notices.n; i++)
		free(t->notices.v[i]);
	gus_vec_free(&t->notices);
	free(t->pairs);
	free(t->groups);
	gus_growing_free(t->growing);
	free(t->knobs);
	for (size_t i = 0; i < GUS_STREAM_LANES; i++)
		gus_vec_free(&t->sets[i]);
	free(t->op_cycles);
	free(t->op_charged);
}

static uint32_t threads_most(const struct gus_traced *t)
{
	return t->options.threads_most ? t->options.threads_most : GUS_TRACED_THREADS;
}

/* NULL without err: there are too many. */
static struct gus_traced_thread *thread_of(struct gus_traced *t, uint32_t stream, struct gus_error *err)
{
	while (t->threads.n <= stream)
		gus_vec_push(&t->threads, NULL);
	if (!t->threads.v[stream] && t->machines < threads_most(t)) {
		t->threads.v[stream] = gus_traced_thread_new(t, stream, err);
		t->machines++;
	}
	return t->threads.v[stream];
}

/* Where the core engine is alone nothing is left to go on with. */
static int check_alone(const struct gus_traced *t, struct gus_error *err)
{
	if (!t->options.alone || !t->core_stopped)
		return 0;
	return gus_fail(err, GUS_E_UNSUPPORTED, "the core engine could not run all of the trace");
}

static int run_step(struct gus_traced *t, const struct gus_trace_step *step, struct gus_error *err)
{
	bool may_be_new = t->machines < threads_most(t);
	struct gus_traced_thread *th = thread_of(t, step->stream, err);

	if (!th && !may_be_new) {
		t->cut_instructions += t->blocks.v[step->block].insns_n;
		return 0;
	}
	if (!th)
		return -1;
	if (gus_traced_thread_is_long(th))
		return 0;
	gus_traced_thread_step(th, step);
	if (check_alone(t, err) != 0)
		return -1;
	if (!(t->options.weight > 0))
		return 0;
	t->blocks.v[step->block].recently++;
	if (++t->since >= t->look_after)
		gus_traced_look_at_knobs(t);
	return 0;
}

/* Enough has been seen, or all: it begins. */
static int begin(struct gus_traced *t, struct gus_error *err)
{
	if (t->options.weight > 0)
		gus_traced_choose_knobs(t);
	t->look_after = EARLY;
	t->running = true;
	for (size_t i = 0; i < t->early.n; i++) {
		struct gus_trace_step *step = &t->early.v[i].step;

		step->accesses = t->early_accesses.n ? t->early_accesses.v + t->early.v[i].accesses : NULL;
		if (run_step(t, step, err) != 0)
			return -1;
	}
	gus_vec_free(&t->early);
	gus_vec_free(&t->early_accesses);
	return 0;
}

int gus_traced_take(struct gus_traced *t, struct gus_trace_step *step, struct gus_error *err)
{
	t->taken += t->blocks.v[step->block].insns_n;
	if (t->running)
		return run_step(t, step, err);
	gus_vec_push(&t->early, (struct gus_traced_early){ *step, t->early_accesses.n });
	gus_vec_append(&t->early_accesses, step->accesses, step->accesses_n);
	return t->early.n < EARLY ? 0 : begin(t, err);
}

/* Room for what is counted by op, of all that there are by now. */
static void count_all_ops(struct gus_traced *t)
{
	const uint32_t before = t->op_room, n = t->program->ops_n + 1;

	if (n <= before)
		return;
	t->op_room = n > 2 * before ? n : 2 * before;
	t->op_cycles = gus_resize(t->op_cycles, t->op_room, sizeof(*t->op_cycles));
	t->op_charged = gus_resize(t->op_charged, t->op_room, sizeof(*t->op_charged));
	memset(t->op_cycles + before, 0, (t->op_room - before) * sizeof(*t->op_cycles));
	memset(t->op_charged + before, 0, (t->op_room - before) * sizeof(*t->op_charged));
}

static void note_figures(struct gus_traced *t, const struct gus_traced_thread *th, uint32_t stream)
{
	struct gus_traced_program *p = &t->programs.v[t->program_of.v[stream]];
	struct gus_traced_figures f;

	gus_traced_thread_figures(th, &f);
	gus_vec_push(&t->figures, f);
	for (int lane = 0; lane <= t->knobs_n; lane++)
		t->retired[lane] += f.cycles[lane];
	p->instructions += f.instructions;
	p->cycles += f.cycles[0];
	p->threads++;
}

/* A machine takes some 3 MB, and processes come and go: a build has thousands of them. */
void gus_traced_retire(struct gus_traced *t)
{
	if (!t->running)
		return; /* what there is of them has not been run yet */
	count_all_ops(t);
	for (uint32_t i = 0; i < t->threads.n; i++) {
		struct gus_traced_thread *th = t->threads.v[i];

		if (!th || !t->programs.v[t->program_of.v[i]].over)
			continue;
		gus_traced_thread_end(th);
		gus_traced_thread_add(th, t);
		note_figures(t, th, i);
		gus_traced_thread_free(th);
		t->threads.v[i] = NULL;
		t->machines--;
	}
}

/* Sums of squares, as threads have added them, to standard errors; those of knobs were weighed with cycles. */
static void settle_errors(double *errors, double cycles)
{
	for (unsigned lane = 0; lane < GUS_STREAM_LANES; lane++)
		errors[lane] = sqrt(errors[lane]) / (lane && cycles > 0 ? cycles : 1);
}

/* Executed without an address: never told of. What was measured of them is no less known for that. */
static void count_unknown(struct gus_traced *t, const struct gus_traced_block *b)
{
	for (uint32_t m = b->memory; m < b->memory + b->memories_n; m++)
		t->memories.v[m].unknown = b->executed - t->memories.v[m].told;
}

static void add_up(struct gus_traced *t)
{
	for (size_t i = 0; i < t->programs.n; i++)
		t->programs.v[i].over = true; /* those, too, that were not read to their end */
	count_all_ops(t);
	gus_traced_retire(t);
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		struct gus_traced_region *r = &t->regions.v[b->region];
		uint32_t ops = b->ops.taken + 1 - b->ops.op;

		for (uint32_t k = 0; b->executed && k < b->ops.ops_n; k++) {
			const struct gus_op *op = &t->program->ops[b->ops.op + k];

			r->slots += b->executed * op->slots;
			r->fused += b->executed * (op->insns_n - 1u);
		}

		r->instructions += b->executed * b->insns_n;
		r->executed += b->executed;
		for (uint32_t k = 0; k < ops; k++)
			r->charged += t->op_charged[b->ops.op + k];
		count_unknown(t, b);
	}
	for (size_t i = 0; i < t->regions.n; i++)
		settle_errors(t->regions.v[i].errors, t->regions.v[i].cycles[0]);
	settle_errors(t->errors, t->cycles[0]);
	for (int i = 0; i < t->knobs_n; i++)
		t->knobs[i].speedup = t->cycles[i + 1] > 0 ? t->cycles[0] / t->cycles[i + 1] - 1 : 0;
}

/* As traces write it. */
static const char *const targets[] = { [GUS_ISA_X86_64] = "x86_64", [GUS_ISA_X86_32] = "i386",
	[GUS_ISA_ARM64] = "aarch64" };
#define TARGETS (sizeof(targets) / sizeof(*targets))

const char *gus_traced_target(enum gus_isa isa)
{
	return (unsigned)isa < TARGETS && targets[isa] ? targets[isa] : "";
}

int gus_traced_check(const struct gus_uarch *u, const char *what, const char *target, struct gus_error *err)
{
	enum gus_isa isa = GUS_ISA_UNKNOWN;

	for (unsigned i = 0; i < TARGETS; i++)
		if (targets[i] && strcmp(targets[i], target) == 0)
			isa = (enum gus_isa)i;
	if (isa == u->isa || (isa == GUS_ISA_X86_32 && u->isa == GUS_ISA_X86_64))
		return 0;
	return gus_fail(err, GUS_E_UNSUPPORTED,
			"cannot model %s: it is of %s, and %s is a CPU of %s; name another one with --uarch",
			what, target, u->name, u->isa == GUS_ISA_ARM64 ? "arm64" : "x86-64");
}

/* What was left out to bound the work. */
static void tell_cuts(struct gus_traced *t)
{
	t->notices_told = t->notices.n;
	if (t->cut_instructions)
		gus_vec_push(&t->notices, gus_format("%" PRIu64 " instructions of threads beyond the first %" PRIu32
						     " are left out", t->cut_instructions, threads_most(t)));
	if (t->cut_bytes)
		gus_vec_push(&t->notices, gus_format("%" PRIu64 " bytes that string instructions moved are not "
						     "followed in the caches", t->cut_bytes));
}

int gus_traced_end(struct gus_traced *t, struct gus_error *err)
{
	int rc = t->running ? 0 : begin(t, err);

	tell_cuts(t);
	add_up(t);
	gus_traced_pics_settle(&t->pics);
	if (t->options.both)
		gus_traced_compare_engines(t);
	return rc ? rc : check_alone(t, err);
}

size_t gus_traced_threads(const struct gus_traced *t)
{
	return t->figures.n;
}

void gus_traced_thread(const struct gus_traced *t, size_t i, struct gus_traced_figures *out)
{
	*out = t->figures.v[i];
}
