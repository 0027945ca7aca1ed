/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/output.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "model/code/program.h"
#include "tests/accuracy/golden/counters.h"
#include "tests/accuracy/golden/samplers.h"
#include "tests/accuracy/golden/slots.h"
#include "tests/accuracy/golden/truth.h"
#include "tests/accuracy/golden/windows.h"

/* A thread. */
struct watch {
	struct gus_core_listener listener;
	struct golden_truth_run truth;
	struct golden_counters counters;
	struct golden_samplers *samplers;
	struct golden_clock *clock;     /* NULL: nobody asks */
	const struct gus_program *program;
};

struct golden_output {
	struct golden_output_options o;
	/* Threads, by stream; NULL where there is none. */
	struct gus_vec(struct watch *) watches;
	struct golden_truth truth;
	double counters[GOLDEN_COUNTERS][2];
	struct golden_rate rates[GOLDEN_SCHEMES];
	struct gus_vec(char) slots; /* what is written of them */
	struct { FILE *cells; struct golden_words *words; } out[GOLDEN_SCHEMES];
	struct gus_error err;           /* the first while samples were written */
	bool failed;
};

static FILE *create(const struct golden_output *out, const char *name, const char *end, struct gus_error *err)
{
	char *path = gus_format("%s/%s%s", out->o.folder, name, end);
	FILE *f = fopen(path, "we");

	if (!f)
		gus_fail_errno(err, errno, "cannot write %s", path);
	free(path);
	return f;
}

/* Files of samples. */

/* Samplers of threads number theirs from 0: the upper half is the thread's. */
static uint64_t trigger_of(const struct golden_output *out, const struct golden_seen *seen)
{
	return (uint64_t)(seen->sample.tid - out->o.pid) << 32 | (seen->trigger & UINT32_MAX);
}

static void take(void *context, enum golden_scheme scheme, const struct golden_seen *seen)
{
	struct golden_output *out = context;

	if (out->out[scheme].cells) {
		struct golden_written w = { seen->sample.ip, trigger_of(out, seen), seen->ticks, seen->psv,
			0 };

		out->failed |= fwrite(&w, sizeof(w), 1, out->out[scheme].cells) != 1;
	} else {
		out->failed |= golden_words_put(out->out[scheme].words, &seen->sample, &out->err) != 0;
	}
}

static int open_scheme(struct golden_output *out, enum golden_scheme scheme, struct gus_error *err)
{
	const struct golden_scheme_kind *k = &golden_schemes[scheme];
	struct golden_about about = { .pid = out->o.pid, .comm = out->o.comm, .mappings = out->o.mappings,
		.mappings_n = out->o.mappings_n, .ghz = 4,
		.period = out->o.fixed.cycles ? out->o.fixed.cycles : out->o.period };
	char *path;

	if (!k->words)
		return (out->out[scheme].cells = create(out, k->name, ".cells", err)) ? 0 : -1;
	path = gus_format("%s/%s.data", out->o.folder, k->name);
	out->out[scheme].words = golden_words_open(k->hardware, path, &about, err);
	free(path);
	return out->out[scheme].words ? 0 : -1;
}

static int close_scheme(struct golden_output *out, enum golden_scheme scheme, struct gus_error *err)
{
	int rc = 0;

	if (out->out[scheme].words)
		rc = golden_words_finish(out->out[scheme].words, out->rates[scheme].lost, err);
	if (out->out[scheme].cells && fclose(out->out[scheme].cells) != 0)
		rc = gus_fail_errno(err, errno, "cannot write the samples of %s", golden_schemes[scheme].name);
	return rc;
}

/* Listening. */

static void on_cycle(void *context, const struct gus_core_cycle *c)
{
	struct watch *w = context;

	golden_truth_cycle(&w->truth, c);
	golden_counters_cycle(&w->counters, c);
	if (w->clock)
		golden_clock_cycle(w->clock);
	if (w->samplers)
		golden_samplers_cycle(w->samplers, c);
}

static void on_retire(void *context, const struct gus_core_retired *op)
{
	struct watch *w = context;

	golden_truth_retire(&w->truth, op);
	golden_counters_retire(&w->counters, op);
	if (w->clock && op->ends)
		w->clock->instructions += w->program->ops[op->op].insns_n;
	if (w->samplers)
		golden_samplers_retire(w->samplers, op);
}

static void on_uop(void *context, const struct gus_core_event *e)
{
	golden_samplers_uop(((struct watch *)context)->samplers, e);
}

const struct gus_core_listener *golden_output_listen(struct golden_output *out, uint32_t stream,
						     const struct gus_program *program)
{
	struct golden_samplers_options so = { .period = out->o.period, .fixed = out->o.fixed, .passes = out->o.passes,
		.seed = out->o.seed + 1000003ull * stream, .tid = out->o.pid + stream, .context = out, .take = take };
	struct watch *w = gus_zalloc(sizeof(*w));

	golden_truth_begin(&w->truth, program);
	golden_counters_begin(&w->counters, program, out->o.issue_width);
	w->program = program;
	w->clock = out->o.clocks ? golden_clocks_of(out->o.clocks, stream) : NULL;
	if (!out->o.truth_only)
		w->samplers = golden_samplers_new(program, &so);
	w->listener = (struct gus_core_listener){ .context = w, .cycle = on_cycle, .retire = on_retire,
		.uop = w->samplers ? on_uop : NULL };
	while (out->watches.n <= stream)
		gus_vec_push(&out->watches, NULL);
	out->watches.v[stream] = w;
	return &w->listener;
}

/* The listener's own counts and those of all who listened are the same: asserted. */
static void check(const struct watch *w)
{
	const uint64_t *commit = w->truth.commit, *count = w->counters.count;

	assert(count[GOLDEN_NO_RETIRE_NOT_COMPLETE] == commit[GUS_COMMIT_STALLED]);
	assert(count[GOLDEN_NO_RETIRE_EMPTY] == commit[GUS_COMMIT_DRAINED] + commit[GUS_COMMIT_FLUSHED]);
	assert(count[GOLDEN_CYCLES] - count[GOLDEN_NO_RETIRE] == commit[GUS_COMMIT_COMPUTE]);
	assert(count[GOLDEN_SLOTS] == count[GOLDEN_SLOTS_ISSUED] + count[GOLDEN_SLOTS_FRONT] +
	       count[GOLDEN_SLOTS_BACK] + count[GOLDEN_SLOTS_RECOVERY]);
}

/* What the top-down method makes of the counters is what the engine knows, to the slot. */
static void check_slots(struct golden_output *out, const struct watch *w, uint32_t stream)
{
	struct golden_slots_share shares[GOLDEN_SLOTS_NODES];
	char *text = NULL;
	size_t size;
	FILE *f;

	golden_slots_of(&w->counters, shares);
	for (size_t i = 0; i < GOLDEN_SLOTS_NODES; i++)
		assert(fabs(shares[i].truth - shares[i].counted) < 1e-9);
	f = open_memstream(&text, &size);
	fprintf(f, "# thread %" PRIu32 "\n", stream);
	golden_slots_print(f, shares);
	fclose(f);
	gus_vec_append(&out->slots, text, size);
	free(text);
}

static void add_rates(struct golden_output *out, const struct watch *w)
{
	for (unsigned i = 0; i < GOLDEN_SCHEMES; i++) {
		struct golden_rate one;

		golden_samplers_rate(w->samplers, (enum golden_scheme)i, &one);
		out->rates[i].triggers += one.triggers;
		out->rates[i].samples += one.samples;
		out->rates[i].lost += one.lost;
		out->rates[i].total += one.total;
		out->rates[i].period = one.period;
	}
}

void golden_output_leave(struct golden_output *out, uint32_t stream)
{
	struct watch *w = stream < out->watches.n ? out->watches.v[stream] : NULL;

	if (!w)
		return;
	check(w);
	check_slots(out, w, stream);
	golden_truth_add(&out->truth, &w->truth);
	for (unsigned i = 0; i < GOLDEN_COUNTERS; i++) {
		out->counters[i][0] += (double)w->counters.count[i];
		out->counters[i][1] += golden_counters_read(&w->counters, (enum golden_counter)i);
	}
	if (w->samplers)
		add_rates(out, w);
	golden_truth_end(&w->truth);
	golden_counters_end(&w->counters);
	golden_samplers_free(w->samplers);
	free(w);
	out->watches.v[stream] = NULL;
}

struct golden_truth *golden_output_truth(struct golden_output *out)
{
	golden_truth_settle(&out->truth);
	return &out->truth;
}

/* What is written beside. */

static int write_rates(const struct golden_output *out, double seconds, struct gus_error *err)
{
	FILE *f = create(out, "rates", "", err);

	if (!f)
		return -1;
	fprintf(f, "# scheme triggers samples lost counted passes period\n");
	for (unsigned i = 0; i < GOLDEN_SCHEMES; i++)
		fprintf(f, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %" PRIu64 "\n",
			golden_schemes[i].name, out->rates[i].triggers, out->rates[i].samples, out->rates[i].lost,
			out->rates[i].total, out->o.passes, out->rates[i].period);
	if (out->o.stress)
		fprintf(f, "stress %s\n", out->o.stress);
	fprintf(f, "# instructions cycles seconds\nspeed %" PRIu64 " %" PRIu64 " %.2f\n", out->truth.instructions,
		out->truth.cycles, seconds);
	return fclose(f) == 0 ? 0 : gus_fail_errno(err, errno, "cannot write the rates");
}

static int write_counters(const struct golden_output *out, struct gus_error *err)
{
	FILE *f = create(out, "counters", "", err);

	if (!f)
		return -1;
	fprintf(f, "# counter true read\n");
	for (unsigned i = 0; i < GOLDEN_COUNTERS; i++)
		fprintf(f, "%s %.0f %.0f\n", golden_counter_names[i], out->counters[i][0], out->counters[i][1]);
	return fclose(f) == 0 ? 0 : gus_fail_errno(err, errno, "cannot write the counters");
}

static int write_slots(const struct golden_output *out, struct gus_error *err)
{
	FILE *f = create(out, "slots", "", err);

	if (!f)
		return -1;
	fprintf(f, "# share true counted read low high sure\n%.*s", (int)out->slots.n, out->slots.v);
	return fclose(f) == 0 ? 0 : gus_fail_errno(err, errno, "cannot write what became of slots");
}

static int write_beside(const struct golden_output *out, double seconds, struct gus_error *err)
{
	char *path = gus_format("%s/truth", out->o.folder);
	int rc = golden_truth_write(&out->truth, path, err);

	free(path);
	return rc == 0 && write_rates(out, seconds, err) == 0 && write_counters(out, err) == 0 &&
	       write_slots(out, err) == 0 ? 0 : -1;
}

struct golden_output *golden_output_open(const struct golden_output_options *o, struct gus_error *err)
{
	struct golden_output *out;
	int rc = 0;

	if (mkdir(o->folder, 0777) != 0 && errno != EEXIST) {
		gus_fail_errno(err, errno, "cannot make %s", o->folder);
		return NULL;
	}
	out = gus_zalloc(sizeof(*out));
	out->o = *o;
	for (unsigned i = 0; rc == 0 && !o->truth_only && i < GOLDEN_SCHEMES; i++)
		rc = open_scheme(out, (enum golden_scheme)i, err);
	if (rc == 0)
		return out;
	golden_output_close(out, false, 0, NULL);
	return NULL;
}

int golden_output_close(struct golden_output *out, bool written, double seconds, struct gus_error *err)
{
	int rc = written ? 0 : -1;

	if (written && out->failed)
		rc = gus_fail(err, GUS_E_SYSTEM, "cannot write samples into %s: %s", out->o.folder, out->err.text);
	for (unsigned i = 0; i < GOLDEN_SCHEMES; i++)
		if (close_scheme(out, (enum golden_scheme)i, rc ? NULL : err) != 0)
			rc = -1;
	if (rc == 0)
		rc = write_beside(out, seconds, err);
	for (size_t i = 0; i < out->watches.n; i++)
		golden_output_leave(out, (uint32_t)i);
	gus_vec_free(&out->watches);
	gus_vec_free(&out->slots);
	golden_truth_free(&out->truth);
	free(out);
	return rc;
}
