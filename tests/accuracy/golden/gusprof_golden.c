/* SPDX-License-Identifier: MIT */
/* gusprof-golden, a maintainer's tool: programs on machines of which the truth is known (docs/accuracy.md).
 *
 *	gusprof-golden machine SEED | NAME                  the table of a machine, its traits, and settings
 *	gusprof-golden run [--seed N] [--uarch NAME] [--passes K] [--bare | --truth] [--windows N,LENGTH]
 *	                   [--stress bursts|neighbour|resonance] TRACE -o FOLDER
 *	                                                    --uarch: not the machine of the seed, which then is that of
 *	                                                    the samplers alone; --windows: of the trace, which a
 *	                                                    recording would have (windows.h), and their instructions:
 *	                                                    8,500000 by default; --stress: memory that is slow in
 *	                                                    bursts, somebody on the core's other thread (traits.h), or
 *	                                                    samplers whose periods the run resonates with (resonance.h)
 *	gusprof-golden windows FOLDER TRACE [--windows N,LENGTH] [--seed N]
 *	                                                    the windows of a run that was made without; they are even
 *	                                                    over its instructions, not over its cycles
 *	gusprof-golden stages [--passes K] [--period N] [--stores N] [--code FILE] STAGES DICT -o FOLDER
 *	                                                    the same of a run of which stages are known (stages.h);
 *	                                                    STAGES: a file, or - for standard input; --stores: entries
 *	                                                    of the store queue; --code: what objdump -d says of the
 *	                                                    program, for FOLDER/windows to have its instructions
 *	gusprof-golden calibrate SEED|NAME [--bare] [--nearest NAME] [--only FITS] [--quick] [--each] [--replay]
 *	                         [--write FILE]
 *	                                                    what calibration finds out of it (calibrate.h); --bare:
 *	                                                    without its traits; FITS: forms,front,window,penalties,
 *	                                                    memory; --each: every microbenchmark, too;
 *	                                                    --replay: all of them with the nearest table and with the
 *	                                                    calibrated one; --write: the calibrated one, into FILE
 *	gusprof-golden top FOLDER [--samples N]             the N hottest cells
 *	gusprof-golden score FOLDER [--samples N]           E of each scheme, by level; of N samples, or of 4,000,
 *	                                                    40,000 and 400,000
 *	gusprof-golden facts FOLDER                         what TEA's authors show of their machine
 *	gusprof-golden attribute FOLDER [TRACE] [--uarch NAME|FILE] [--samples N] [--only TIER]
 *	                         [--worst N] [--variant NAME|each] [--intervals]
 *	                                                    E of samples as they are, and corrected by a replay of the
 *	                                                    trace, or of the folder's windows (attribute.h), on that
 *	                                                    table; by default on the machine's, without its traits and
 *	                                                    its predictor; N: 4000, 40000 or 400000, by default each;
 *	                                                    --worst: the N cells that are farthest off;
 *	                                                    --variant: corrected otherwise (tiers.h);
 *	                                                    --intervals: instead, how many intervals have the truth,
 *	                                                    how wide they are, whether halves agree (told.h)
 *	gusprof-golden causal [--seed N] TRACE -o FOLDER [--length N] [--windows N,LENGTH] [--passes K] [--truth]
 *	                                                    what would really bring time back, and recordings by which
 *	                                                    gusprof explain is asked (causal.h): of the last N
 *	                                                    instructions of the trace; --truth: no recordings
 *	gusprof-golden rates FOLDER TRACE [--only VARIANT] [--stream] [--each]
 *	                                                    how far off wrong caches and a wrong predictor are, and
 *	                                                    measured rates in their place (rates.h)
 *	gusprof-golden squash [--seed N] [--uarch NAME] TRACE
 *	                                                    what mispredicted branches cost, and what gusprof
 *	                                                    estimates (squash.h)
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/core/pics.h"
#include "proto/psv.h"
#include "proto/sample.h"
#include "tests/accuracy/golden/attribute.h"
#include "tests/accuracy/golden/calibrate.h"
#include "tests/accuracy/golden/causal.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/output.h"
#include "tests/accuracy/golden/rates.h"
#include "tests/accuracy/golden/run.h"
#include "tests/accuracy/golden/samplers.h"
#include "tests/accuracy/golden/score.h"
#include "tests/accuracy/golden/squash.h"
#include "tests/accuracy/golden/stages.h"
#include "tests/accuracy/golden/stages_trace.h"
#include "tests/accuracy/golden/windows.h"

enum { PASSES_MOST = 64 }; /* of samplers.c: more than these it does not keep apart */

struct arguments {
	const char *word, *second, *uarch, *folder, *nearest, *only, *variant, *write, *stress, *code;
	uint64_t seed, samples, period, windows, window_length, length, worst;
	unsigned passes, stores;
	bool seeded, bare, truth, quick, each, replay, stream, intervals;
};

static int usage(void)
{
	fprintf(stderr, "usage: gusprof-golden machine SEED | machine NAME | run [--seed N] [--uarch NAME] "
		"[--passes K] [--bare | --truth] [--windows N,LENGTH] "
		"[--stress bursts|neighbour|resonance] TRACE -o FOLDER | "
		"windows FOLDER TRACE [--windows N,LENGTH] [--seed N] | "
		"stages [--passes K] [--period N] [--stores N] [--code FILE] STAGES DICT -o FOLDER | "
		"calibrate SEED | NAME [--bare] [--nearest NAME] [--only FITS] [--quick] [--each] [--replay] "
		"[--write FILE] | "
		"top FOLDER [--samples N] | score FOLDER [--samples N] | facts FOLDER | "
		"attribute FOLDER [TRACE] [--uarch NAME|FILE] [--samples N] [--only TIER] [--worst N] "
		"[--variant NAME|each] [--intervals] | "
		"causal [--seed N] TRACE -o FOLDER [--length N] [--windows N,LENGTH] [--passes K] [--truth] | "
		"rates FOLDER TRACE [--only VARIANT] [--stream] [--each] | "
		"squash [--seed N] [--uarch NAME] TRACE\n");
	return 2;
}

static struct golden_machine *machine_of(const struct arguments *a, struct gus_error *err)
{
	return a->uarch ? golden_machine_of(a->uarch, err) : golden_machine_new(a->seed, err);
}

static void print_traits(const struct golden_machine *m)
{
	uint32_t bits = golden_traits_bits(m->traits);

	printf("# traits that no table has:");
	for (unsigned i = 0; i < GOLDEN_TRAITS; i++)
		if (bits >> i & 1)
			printf(" %s", golden_trait_names[i]);
	printf("\n# predictor: 2^%u counters, %u tables of 2^%u up to %u branches of history, %u targets\n",
	       m->predictor.base_bits, m->predictor.direction.tables, m->predictor.direction.entry_bits,
	       m->predictor.direction.history_max, m->predictor.btb_entries);
}

/* As the engine has them, whichever table they are from. */
static void print_settings(const struct gus_core_config *c)
{
#define X(name) { #name, c->name },
	const struct { const char *name; uint32_t value; } settings[] = { GUS_CORE_SETTINGS(X) };
#undef X

	printf("# settings:");
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		printf(" %s %u", settings[i].name, settings[i].value);
	printf("\n");
}

/* By its seed or by its name. */
static struct golden_machine *machine_called(const char *word, struct gus_error *err)
{
	char *end;
	uint64_t seed = strtoull(word, &end, 10);

	return *end ? golden_machine_of(word, err) : golden_machine_new(seed, err);
}

static int do_machine(const struct arguments *a, struct gus_error *err)
{
	struct golden_machine *m = machine_called(a->word, err);

	if (!m)
		return -1;
	printf("%s", m->text ? m->text : "");
	print_traits(m);
	print_settings(&m->config);
	golden_machine_free(m);
	return 0;
}

static int do_calibrate(const struct arguments *a, struct gus_error *err)
{
	struct golden_machine *m = machine_called(a->word, err);
	struct golden_calibrate_options o = { .machine = m, .nearest = a->nearest, .only = a->only, .quick = a->quick,
		.each = a->each, .replay = a->replay, .write = a->write };
	int rc;

	if (m && a->bare)
		golden_machine_strip(m);
	rc = m ? golden_calibrate(&o, err) : -1;
	golden_machine_free(m);
	return rc;
}

static int stress_of(const char *word, enum golden_stress *stress, struct gus_error *err)
{
	for (unsigned i = 0; word && i < GOLDEN_STRESSES; i++) {
		*stress = (enum golden_stress)i;
		if (strcmp(golden_stress_names[i], word) == 0)
			return 0;
	}
	*stress = GOLDEN_STRESS_NONE;
	return word ? gus_fail(err, GUS_E_USAGE, "there is no stress called %s", word) : 0;
}

static int do_run(const struct arguments *a, struct gus_error *err)
{
	enum golden_stress stress;
	struct golden_machine *m = stress_of(a->stress, &stress, err) == 0 ? machine_of(a, err) : NULL;
	struct golden_run_options o = { .machine = m, .trace = a->word, .folder = a->folder, .passes = a->passes,
		.period = a->period, .seed = a->seed + 1, .bare = a->bare, .truth_only = a->truth,
		.windows = a->windows, .window_length = a->window_length, .stress = stress };
	int rc;

	if (m && stress == GOLDEN_STRESS_BURSTS)
		golden_machine_stress(m, GOLDEN_BURSTS);
	if (m && stress == GOLDEN_STRESS_NEIGHBOUR)
		golden_machine_stress(m, GOLDEN_NEIGHBOUR);
	rc = m ? golden_run(&o, err) : -1;
	golden_machine_free(m);
	return rc;
}

static int do_windows(const struct arguments *a, struct gus_error *err)
{
	char *path = gus_format("%s/windows", a->word);
	const struct golden_windows_options o = { .trace = a->second, .path = path, .n = a->windows,
		.length = a->window_length, .seed = a->seed + 1 };
	int rc = a->second ? golden_windows_write(&o, err) :
		gus_fail(err, GUS_E_USAGE, "a trace comes behind the folder");

	free(path);
	return rc;
}

/* Stages of another simulator. */

static FILE *open_table(const char *path, struct gus_error *err)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");

	if (!f)
		gus_fail_errno(err, errno, "cannot open %s", path);
	return f;
}

static int tell_stages(const struct arguments *a, const struct golden_stages *s, struct gus_error *err)
{
	struct golden_output_options o = { .folder = a->folder, .comm = "stages", .pid = 1000, .issue_width = s->width,
		.period = a->period ? a->period : 1009, .passes = a->passes ? a->passes : 64, .seed = a->seed + 1 };
	struct golden_output *out = golden_output_open(&o, err);
	struct golden_truth *truth;

	if (!out)
		return -1;
	golden_stages_tell(s, golden_output_listen(out, 0, &s->program));
	golden_output_leave(out, 0);
	truth = golden_output_truth(out);       /* all places are of one unit */
	gus_vec_push(&truth->functions, gus_strdup("?"));
	gus_vec_push(&truth->loops, gus_strdup("?"));
	return golden_output_close(out, true, 0, err);
}

static int trace_stages(const struct arguments *a, const struct golden_stages *s, struct gus_error *err)
{
	char *path = gus_format("%s/windows", a->folder);
	FILE *code = open_table(a->code, err);
	int rc = code ? golden_stages_trace(s, code, path, err) : -1;

	if (code)
		fclose(code);
	free(path);
	return rc;
}

static int do_stages(const struct arguments *a, struct gus_error *err)
{
	struct golden_stages s = { .width = 0 };
	FILE *dict = a->second ? open_table(a->second, err) : NULL, *stages = dict ? open_table(a->word, err) : NULL;
	int rc = stages ? golden_stages_read(&s, stages, dict, a->stores, err) : -1;

	if (!a->second)
		gus_fail(err, GUS_E_USAGE, "a table of static micro-ops comes behind that of stages");
	if (dict)
		fclose(dict);
	if (stages && stages != stdin)
		fclose(stages);
	if (rc == 0)
		rc = tell_stages(a, &s, err);
	if (rc == 0 && a->code)
		rc = trace_stages(a, &s, err);
	golden_stages_free(&s);
	return rc;
}

/* Estimates of a scheme as its samples are, without any correction. */

static int read_cells(const char *path, struct golden_estimates *e, struct gus_error *err)
{
	struct golden_written w;
	FILE *f = fopen(path, "re");

	if (!f)
		return gus_fail_errno(err, errno, "cannot open %s", path);
	while (fread(&w, sizeof(w), 1, f) == 1)
		gus_vec_push(e, (struct golden_estimate){ w.address, w.trigger, w.ticks, w.psv, UINT16_MAX });
	fclose(f);
	return 0;
}

struct decoded {
	struct golden_estimates *e;
	enum golden_scheme scheme;
};

static void take_decoded(void *context, const struct gus_sample *s)
{
	struct decoded *d = context;
	struct golden_estimate one = { .address = s->ip, .trigger = d->e->n, .weight = 1,
		.psv = (uint16_t)(s->events & UINT16_MAX),
		.known = (uint16_t)((s->events | s->events >> 16) & UINT16_MAX) };

	if (d->scheme == GOLDEN_BY_TPEBS)
		one.weight = s->retire_latency;
	if (golden_schemes[d->scheme].hardware == GOLDEN_PEBS && s->branches_n) { /* where it came from says so */
		one.known |= GUS_CORE_FL_MB;
		if ((s->branches[0].flags & GUS_BRANCH_MISPREDICTED) && s->branches[0].to == s->ip)
			one.psv |= GUS_CORE_FL_MB;
	}
	gus_vec_push(d->e, one);
}

static int read_scheme(const char *folder, enum golden_scheme scheme, struct golden_estimates *e, struct gus_error *err)
{
	const struct golden_scheme_kind *k = &golden_schemes[scheme];
	char *path = gus_format("%s/%s%s", folder, k->name, k->words ? ".data" : ".cells");
	struct decoded d = { e, scheme };
	int rc = k->words ? golden_words_read(path, take_decoded, &d, err) : read_cells(path, e, err);

	free(path);
	return rc;
}

static int read_truth(const char *folder, struct golden_truth *t, struct gus_error *err)
{
	char *path = gus_format("%s/truth", folder);
	int rc = golden_truth_read(t, path, err);

	free(path);
	return rc;
}

static void print_score(const char *scheme, enum golden_level level, const struct golden_score *s)
{
	printf("%s\t%s\t%" PRIu64 "\t%.5f\t%.5f\t%.5f\t%.5f\t%.5f\t%.5f\n", scheme, golden_level_names[level],
	       s->samples, s->error, s->floor, s->heights, s->heights_floor, s->unknown, s->covered);
}

static int score_scheme(const struct arguments *a, const struct golden_truth *t, enum golden_scheme scheme,
			struct gus_error *err)
{
	enum { SIZES = 3 };
	static const uint64_t sizes[SIZES] = { 4000, 40000, 400000 };
	struct golden_estimates e = { 0 };
	struct golden_score s;

	if (read_scheme(a->word, scheme, &e, err) != 0) {
		gus_vec_free(&e);
		return -1;
	}
	golden_estimates_shuffle(&e, a->seed);
	for (unsigned i = a->samples ? SIZES - 1 : 0; i < SIZES; i++) {
		golden_score(t, &e, golden_schemes[scheme].events, GOLDEN_INSTRUCTION,
			     a->samples ? a->samples : sizes[i], &s);
		print_score(golden_schemes[scheme].name, GOLDEN_INSTRUCTION, &s);
	}
	for (enum golden_level level = GOLDEN_BLOCK; level < GOLDEN_LEVELS; level++) {
		golden_score(t, &e, golden_schemes[scheme].events, level, a->samples ? a->samples : sizes[SIZES - 1],
			     &s);
		print_score(golden_schemes[scheme].name, level, &s);
	}
	gus_vec_free(&e);
	return 0;
}

static int do_score(const struct arguments *a, struct gus_error *err)
{
	struct golden_truth t = { .cycles = 0 };
	int rc = read_truth(a->word, &t, err);

	if (rc == 0)
		printf("# E = 1 - sum min(estimated, true) over units and components, as shares of all time\n"
		       "# scheme\tlevel\tsamples\tE\tfloor\theights\theights_floor\tunknown\tcovered\n");
	for (unsigned i = 0; rc == 0 && i < GOLDEN_SCHEMES; i++)
		if (golden_schemes[i].time)
			rc = score_scheme(a, &t, (enum golden_scheme)i, err);
	golden_truth_free(&t);
	return rc;
}

/* Correlation, over instructions that had the event, of how often they had it and the cycles in which it had a part
 * (TEA, section 5.3, figure 7). NAN where there are fewer than three. */
static double correlation(const struct golden_truth *t, unsigned event)
{
	double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0, spread;
	size_t cell = 0;

	for (size_t i = 0; i < t->places.n; i++) {
		const struct golden_place *p = &t->places.v[i];
		double count = (double)p->with[event], cycles = 0;

		for (; cell < t->cells.n && t->cells.v[cell].address < p->address; cell++)
			;
		for (; cell < t->cells.n && t->cells.v[cell].address == p->address; cell++)
			cycles += t->cells.v[cell].psv >> event & 1 ? (double)t->cells.v[cell].ticks : 0;
		if (!p->with[event])
			continue;
		n++;
		x += count;
		y += cycles;
		xx += count * count;
		yy += cycles * cycles;
		xy += count * cycles;
	}
	spread = (n * xx - x * x) * (n * yy - y * y);
	return n < 3 || spread <= 0 ? (double)NAN : (n * xy - x * y) / sqrt(spread);
}

/* The length that so large a share of stalls without an event does not exceed. */
static unsigned stall_quantile(const struct golden_truth *t, double share)
{
	uint64_t all = 0, sum = 0;
	unsigned i = 0;

	for (unsigned k = 0; k < GOLDEN_STALLS; k++)
		all += t->stalls[k];
	for (; i < GOLDEN_STALLS && (double)sum < share * (double)all; i++)
		sum += t->stalls[i];
	return i ? i - 1 : 0;
}

static int do_facts(const struct arguments *a, struct gus_error *err)
{
	struct golden_truth t = { .cycles = 0 };
	uint64_t state[GUS_COMMITS] = { 0 };

	if (read_truth(a->word, &t, err) != 0) {
		golden_truth_free(&t);
		return -1;
	}
	for (size_t i = 0; i < t.cells.n; i++)
		state[t.cells.v[i].state] += t.cells.v[i].ticks / GUS_PICS_TICKS;
	printf("cycles\t%" PRIu64 "\ninstructions\t%" PRIu64 "\n", t.cycles, t.instructions);
	for (unsigned i = 0; i < GUS_COMMITS; i++)
		printf("%s\t%.4f\n", gus_commit_name((enum gus_commit)i), (double)state[i] / (double)t.cycles);
	printf("combined\t%.4f\nstall_99\t%u\n", t.with_events ? (double)t.with_several / (double)t.with_events : 0,
	       stall_quantile(&t, 0.99));
	for (unsigned event = 0; event < GUS_CORE_PSV_EVENTS; event++) {
		char text[GUS_CORE_PSV_TEXT];

		printf("r\t%s\t%.3f\n", gus_core_psv_text(1u << event, text), correlation(&t, event));
	}
	golden_truth_free(&t);
	return 0;
}

static int by_ticks(const void *a, const void *b)
{
	const struct golden_cell *x = a, *y = b;

	return x->ticks > y->ticks ? -1 : x->ticks < y->ticks;
}

static int do_top(const struct arguments *a, struct gus_error *err)
{
	struct golden_truth t = { .cycles = 0 };
	int rc = read_truth(a->word, &t, err);

	if (rc == 0 && t.cells.n)
		qsort(t.cells.v, t.cells.n, sizeof(*t.cells.v), by_ticks);
	if (rc == 0)
		printf("# address\tfunction\tstate\tevents\tshare\tcycles\texecuted\n");
	for (size_t i = 0; rc == 0 && i < t.cells.n && i < (a->samples ? a->samples : 10); i++) {
		const struct golden_cell *c = &t.cells.v[i];
		const struct golden_place *p = golden_truth_place(&t, c->address);
		double cycles = (double)c->ticks / GUS_PICS_TICKS;
		char text[GUS_CORE_PSV_TEXT];

		printf("%" PRIx64 "\t%s\t%s\t%s\t%.4f\t%.1f\t%" PRIu64 "\n", c->address,
		       p && p->function < t.functions.n ? t.functions.v[p->function] : "?",
		       gus_commit_name((enum gus_commit)c->state), gus_core_psv_text(c->psv, text),
		       cycles / (double)t.cycles, cycles, p ? p->executed : 0);
	}
	golden_truth_free(&t);
	return rc;
}

static int do_attribute(const struct arguments *a, struct gus_error *err)
{
	char *windows = gus_format("%s/windows", a->word);
	struct golden_attribute_options o = { .folder = a->word, .trace = a->second ? a->second : windows,
		.uarch = a->uarch, .seed = a->seed, .intervals = a->intervals,
		.only = a->only, .variant = a->variant, .samples = a->samples, .worst = a->worst };
	int rc = golden_attribute(&o, err);

	free(windows);
	return rc;
}

static int do_squash(const struct arguments *a, struct gus_error *err)
{
	struct golden_machine *m = machine_of(a, err);
	struct golden_squash_options o = { .machine = m, .trace = a->word };
	int rc = m ? golden_squash(&o, err) : -1;

	golden_machine_free(m);
	return rc;
}

static int do_rates(const struct arguments *a, struct gus_error *err)
{
	struct golden_rates_options o = { .folder = a->word, .trace = a->second, .only = a->only, .stream = a->stream,
		.each = a->each };

	return a->second ? golden_rates(&o, err) : gus_fail(err, GUS_E_USAGE, "a trace comes behind the folder");
}

static int do_causal(const struct arguments *a, struct gus_error *err)
{
	struct golden_machine *m = machine_of(a, err);
	struct golden_causal_options o = { .machine = m, .trace = a->word, .folder = a->folder, .length = a->length,
		.windows = a->windows, .window_length = a->window_length, .seed = a->seed + 1, .period = a->period,
		.passes = a->passes, .truth_only = a->truth };
	int rc = m ? golden_causal(&o, err) : -1;

	golden_machine_free(m);
	return rc;
}

/* Nothing but digits. */
static bool is_number(const char *word, uint64_t most, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(word, &end, 10);
	return word[0] >= '0' && word[0] <= '9' && !*end && !errno && *n <= most;
}

/* 1 if it is one of those that are followed by a number, 0 if not; -1: what follows is none. */
static int parse_number(const char *option, const char *word, struct arguments *a)
{
	uint64_t passes = a->passes, stores = a->stores;
	const struct { const char *name; uint64_t most, *to; } of[] = { { "--seed", UINT64_MAX, &a->seed },
		{ "--samples", UINT64_MAX, &a->samples }, { "--worst", UINT64_MAX, &a->worst },
		{ "--passes", PASSES_MOST, &passes },
		{ "--period", UINT64_MAX, &a->period }, { "--length", UINT64_MAX, &a->length },
		{ "--stores", UINT_MAX, &stores } };

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		if (strcmp(option, of[i].name) != 0)
			continue;
		if (!word || !is_number(word, of[i].most, of[i].to))
			return -1;
		a->passes = (unsigned)passes;
		a->stores = (unsigned)stores;
		return 1;
	}
	return 0;
}

/* "N,LENGTH", neither of them 0. */
static bool is_windows(const char *word, struct arguments *a)
{
	const char *comma = strchr(word, ',');
	char *n = comma ? gus_strndup(word, (size_t)(comma - word)) : NULL;
	bool good = n && is_number(n, UINT32_MAX, &a->windows) && is_number(comma + 1, UINT64_MAX, &a->window_length) &&
		a->windows && a->window_length;

	free(n);
	return good;
}

/* 1 if it is one of those that are followed by a word, 0 if not; -1: nothing follows. */
static int parse_word(const char *option, const char *word, struct arguments *a)
{
	const struct { const char *name, **to; } of[] = { { "--uarch", &a->uarch }, { "-o", &a->folder },
		{ "--nearest", &a->nearest }, { "--only", &a->only }, { "--variant", &a->variant },
		{ "--write", &a->write }, { "--stress", &a->stress },
		{ "--code", &a->code } };

	if (strcmp(option, "--windows") == 0)
		return word && is_windows(word, a) ? 1 : -1;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		if (strcmp(option, of[i].name) != 0)
			continue;
		*of[i].to = word;
		return word ? 1 : -1;
	}
	return 0;
}

static bool parse_flag(const char *option, struct arguments *a)
{
	const struct { const char *name; bool *to; } of[] = { { "--bare", &a->bare }, { "--truth", &a->truth },
		{ "--quick", &a->quick }, { "--each", &a->each },
		{ "--replay", &a->replay }, { "--stream", &a->stream }, { "--intervals", &a->intervals } };

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (strcmp(option, of[i].name) == 0)
			return *of[i].to = true;
	return false;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	for (int i = 0; i < argc; i++) {
		const char *more = i + 1 < argc ? argv[i + 1] : NULL;
		int taken = parse_number(argv[i], more, a);

		if (!taken)
			taken = parse_word(argv[i], more, a);
		if (taken < 0)
			return -1;
		i += taken;
		if (taken || parse_flag(argv[i], a))
			continue;
		if (!a->word && (argv[i][0] != '-' || !argv[i][1]))
			a->word = argv[i];
		else if (!a->second && argv[i][0] != '-')
			a->second = argv[i];
		else
			return -1;
	}
	return a->word ? 0 : -1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct arguments *a, struct gus_error *err);
		bool folder;
	} verbs[] = { { "machine", do_machine, false }, { "run", do_run, true }, { "score", do_score, false },
		{ "stages", do_stages, true }, { "windows", do_windows, false }, { "top", do_top, false },
		{ "facts", do_facts, false },
		{ "calibrate", do_calibrate, false }, { "attribute", do_attribute, false },
		{ "rates", do_rates, false }, { "squash", do_squash, false }, { "causal", do_causal, true } };
	struct arguments a = { 0 };
	struct gus_error err = { 0 };

	if (argc < 3 || parse(argc - 2, argv + 2, &a) != 0)
		return usage();
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		if (verbs[i].folder && !a.folder)
			return usage();
		if (verbs[i].run(&a, &err) == 0)
			return 0;
		fprintf(stderr, "gusprof-golden: %s\n", err.text);
		return 1;
	}
	return usage();
}
