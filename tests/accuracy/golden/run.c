/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attribution/traced/regions.h"
#include "attribution/traced/traced.h"
#include "base/ascending.h"
#include "base/error.h"
#include "tests/accuracy/golden/look.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/output.h"
#include "tests/accuracy/golden/resonance.h"
#include "tests/accuracy/golden/truth.h"
#include "tests/accuracy/golden/windows.h"

/* More samples than are wanted, as what a run takes is a guess by one part of so many. */
enum { PID = 1000, PERIOD = 1009, SAMPLES = 600000, PASSES_MOST = 64, GUESSED = 12 };

const char *const golden_stress_names[GOLDEN_STRESSES] = { "none", "bursts", "neighbour", "resonance" };

struct run {
	const struct golden_run_options *o;
	struct golden_look look;
	struct golden_output *output;
	char *comm;
	struct gus_vec(struct golden_traits *) traits;  /* of threads, each a machine of its own */
	struct golden_clocks clocks;
	char *stress;                   /* in words; NULL: there is none */
	/* Of the thread that came first in the guess, if it is asked for. */
	struct golden_resonance *resonance;
	struct golden_periods fixed;
};

static const struct gus_core_hooks *hooks_of(void *context, uint32_t stream)
{
	struct run *r = context;

	(void)stream;
	gus_vec_push(&r->traits, golden_traits_again(r->o->machine->traits));
	return golden_traits_hooks(r->traits.v[r->traits.n - 1]);
}

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	struct run *r = context;

	return r->o->bare ? NULL : golden_output_listen(r->output, stream, program);
}

static void leave(void *context, uint32_t stream)
{
	struct run *r = context;

	golden_output_leave(r->output, stream);
}

/* Units of an instruction. */

struct leaders gus_vec(uint64_t);

static uint32_t leader_of(const struct leaders *l, uint64_t address)
{
	size_t low = 0, high = l->n;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (l->v[middle] <= address)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

struct begin { uint64_t address; uint32_t region; };

static int by_begin(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Which region each block is of, by address. */
static void set_units(struct golden_truth *truth, const struct gus_traced *t)
{
	struct gus_vec(struct begin) begins = { 0 };
	struct leaders leaders = { 0 };
	char name[512];

	for (size_t i = 0; i < t->blocks.n; i++) {
		gus_vec_push(&begins, (struct begin){ t->blocks.v[i].address, t->blocks.v[i].region });
		gus_vec_push(&leaders, t->blocks.v[i].address);
	}
	if (begins.n)
		qsort(begins.v, begins.n, sizeof(*begins.v), by_begin);
	if (leaders.n)
		qsort(leaders.v, leaders.n, sizeof(*leaders.v), gus_ascending_u64);
	for (size_t i = 0; i < truth->places.n; i++) {
		struct golden_place *p = &truth->places.v[i];

		p->block = leader_of(&leaders, p->address);
		p->loop = begins.v[p->block].region;
		p->function = t->regions.v[p->loop].function;
	}
	for (size_t i = 0; i < t->functions.n; i++)
		gus_vec_push(&truth->functions, gus_strdup(t->functions.v[i].name ? t->functions.v[i].name : "?"));
	for (size_t i = 0; i < t->regions.n; i++) {
		gus_traced_region_name(t, (uint32_t)i, name, sizeof(name));
		gus_vec_push(&truth->loops, gus_strdup(name));
	}
	gus_vec_free(&begins);
	gus_vec_free(&leaders);
}

static int write_machine(const struct run *r, struct gus_error *err)
{
	char *path = gus_format("%s/machine.uarch", r->o->folder);
	char *text = gus_format("%s%s%s%s", r->stress ? "# stressed by " : "", r->stress ? r->stress : "",
				r->stress ? "\n" : "", r->o->machine->text ? r->o->machine->text : "");
	FILE *f = r->o->machine->text ? fopen(path, "we") : NULL;
	int rc = 0;

	if (r->o->machine->text && (!f || (fputs(text, f) < 0) | (fclose(f) != 0)))
		rc = gus_fail_errno(err, errno, "cannot write %s", path);
	free(text);
	free(path);
	return rc;
}

/* Who runs the engine alone has no clocks. */
static int write_windows(const struct run *r, struct gus_error *err)
{
	char *path = gus_format("%s/windows", r->o->folder);
	const struct golden_windows_options wo = { .trace = r->o->trace, .path = path, .clocks = &r->clocks,
		.n = r->o->windows, .length = r->o->window_length, .seed = r->o->seed };
	int rc = r->o->bare ? 0 : golden_windows_write(&wo, err);

	free(path);
	return rc;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_trace(const struct run *r, struct gus_traced *t, struct gus_error *err)
{
	struct gus_trace *trace = gus_trace_open(r->o->trace, err);
	int rc = trace ? gus_traced_read(t, trace, err) : -1;

	if (rc == 0)
		rc = gus_traced_end(t, err);
	if (trace)
		gus_trace_close(trace);
	return rc;
}

static struct gus_traced_options options_of(struct run *r, struct gus_symbols *symbols)
{
	const struct golden_machine *m = r->o->machine;

	return (struct gus_traced_options){ .uarch = m->uarch, .config = &m->config, .caches = &m->caches,
		.predictor = &m->predictor, .alone = true, .core = true, .all = true,
		.hooks_of = hooks_of, .listen_context = r, .symbols = symbols };
}

static const struct gus_core_listener *listen_for_resonance(void *context, uint32_t stream,
							    const struct gus_program *program)
{
	struct run *r = context;

	if (stream || r->o->stress != GOLDEN_STRESS_RESONANCE)
		return NULL;
	r->resonance = golden_resonance_new(program, r->o->period ? r->o->period : PERIOD);
	return golden_resonance_listener(r->resonance);
}

/* How many cycles the whole trace takes, roughly: as many for each instruction as its beginning, without listeners. */
static int guess_cycles(struct run *r, struct gus_symbols *symbols, double *cycles, struct gus_error *err)
{
	struct gus_traced_options o = options_of(r, symbols);
	struct gus_trace *trace = gus_trace_open(r->o->trace, err);
	struct gus_traced_source *source;
	struct gus_traced t;
	int rc = 1;

	if (!trace)
		return -1;
	o.listen = listen_for_resonance;
	gus_traced_open(&t, &o);
	source = gus_traced_source_new(&t, trace, err);
	while (source && rc > 0 && t.taken < r->look.instructions / GUESSED)
		rc = gus_traced_source_read(source, err);
	if (source)
		gus_traced_source_end(source);
	rc = source && rc >= 0 ? gus_traced_end(&t, err) : -1;
	*cycles = t.instructions ? t.core_cycles / (double)t.instructions * (double)r->look.instructions : 0;
	gus_traced_close(&t);
	gus_trace_close(trace);
	return rc;
}

static void find_resonance(struct run *r)
{
	double share;

	r->fixed = golden_resonance_periods(r->resonance, &share);
	free(r->stress);
	r->stress = gus_format("resonance: each %" PRIu64 " cycles, %" PRIu64 " slots, %" PRIu64 " instructions; "
			       "%.0f %% of cycles are where the run was a period before", r->fixed.cycles,
			       r->fixed.slots, r->fixed.instructions, 100 * share);
}

/* What the run is like, as far as somebody asks: how long it is, and what it resonates with. */
static int guess(struct run *r, uint64_t period, unsigned *passes, struct gus_error *err)
{
	bool resonance = r->o->stress == GOLDEN_STRESS_RESONANCE;
	bool told = r->o->passes || r->o->bare || r->o->truth_only;
	struct gus_symbols_options so = { 0 };
	struct gus_symbols *symbols;
	double cycles, wanted;
	int rc;

	/* Each pass has a phase of its own, and many of them see all of a loop whatever their period is. */
	*passes = r->o->passes && !resonance ? r->o->passes : 1;
	if (told && !resonance)
		return 0;
	symbols = gus_symbols_new(&so, NULL);
	rc = guess_cycles(r, symbols, &cycles, err);
	gus_symbols_free(symbols);
	if (rc != 0)
		return -1;
	if (resonance)
		find_resonance(r);
	wanted = SAMPLES * (double)period / (cycles + 1);
	if (!told && !resonance)
		*passes = wanted > PASSES_MOST - 1 ? PASSES_MOST : (unsigned)wanted + 1;
	return 0;
}

static int open_output(struct run *r, struct gus_error *err)
{
	struct golden_output_options oo = { .folder = r->o->folder, .comm = r->comm, .pid = PID,
		.issue_width = r->o->machine->config.issue_width, .mappings = r->look.mappings.v,
		.mappings_n = r->look.mappings.n, .period = r->o->period ? r->o->period : PERIOD, .seed = r->o->seed,
		.truth_only = r->o->truth_only || r->o->bare, .clocks = &r->clocks };

	if (r->o->stress)
		r->stress = gus_strdup(golden_stress_names[r->o->stress]);
	if (guess(r, oo.period, &oo.passes, err) != 0)
		return -1;
	oo.fixed = r->fixed;
	oo.stress = r->stress;
	r->output = golden_output_open(&oo, err);
	return r->output ? 0 : -1;
}

static double execute(struct run *r, int *rc, struct gus_error *err)
{
	struct gus_symbols_options symbols = { 0 };
	struct gus_traced_options to = options_of(r, NULL);
	struct golden_truth *truth;
	struct gus_traced t;
	double begun;

	to.symbols = gus_symbols_new(&symbols, NULL);
	to.listen = listen;
	to.leave = leave;
	gus_traced_open(&t, &to);
	begun = now();
	*rc = read_trace(r, &t, err);
	begun = now() - begun;
	truth = golden_output_truth(r->output);
	set_units(truth, &t);
	if (r->o->bare) {
		truth->cycles = (uint64_t)t.core_cycles;
		truth->instructions = t.instructions;
	}
	gus_traced_close(&t);
	gus_symbols_free(to.symbols);
	return begun;
}

static void end(struct run *r)
{
	golden_look_free(&r->look);
	for (size_t i = 0; i < r->traits.n; i++)
		golden_traits_free(r->traits.v[i]);
	gus_vec_free(&r->traits);
	golden_clocks_free(&r->clocks);
	golden_resonance_free(r->resonance);
	free(r->stress);
	free(r->comm);
}

int golden_run(const struct golden_run_options *o, struct gus_error *err)
{
	struct run r = { .o = o };
	double seconds = 0;
	int rc;

	r.comm = gus_strdup(strrchr(o->trace, '/') ? strrchr(o->trace, '/') + 1 : o->trace);
	rc = golden_look_at(o->trace, &r.look, err);
	if (rc == 0)
		rc = open_output(&r, err);
	if (rc == 0)
		seconds = execute(&r, &rc, err);
	if (r.output && golden_output_close(r.output, rc == 0, seconds, err) != 0)
		rc = -1;
	if (rc == 0)
		rc = write_machine(&r, err);
	if (rc == 0)
		rc = write_windows(&r, err);
	end(&r);
	return rc;
}
