/* SPDX-License-Identifier: MIT */
/* gusprof model: how many cycles a piece of code takes on a CPU, by the core engine, and why. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hex.h"
#include "base/limits.h"
#include "cli/common/filter.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/progress.h"
#include "cli/common/recording.h"
#include "cli/common/uarch_load.h"
#include "cli/model/expected.h"
#include "cli/model/output.h"
#include "cli/model/render.h"
#include "cli/model/traced.h"
#include "cli/screen/fitted.h"
#include "cli/screen/screen.h"
#include "cli/verbs.h"
#include "model/analysis/batch.h"
#include "model/code/program.h"
#include "model/code/uoptable.h"
#include "model/tables/builtin.h"
#include "symbolizer/symbols/routine.h"

enum { ENGINE_CORE, ENGINE_STREAM, ENGINE_BOTH };
enum { LANES_SAMPLED, LANES_ALL, LANES_NONE };
enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct model_options {
	int from;                       /* FROM_*: the input */
	const char *block, *batch, *elf, *function, *uops, *uarch;
	const char *input, *emulator, *trace_options, *output, *rates;
	int engine, format, lanes;
	struct gus_screen_options screen;
	int fetch, data;                /* enum gus_core_fetch, gus_hit */
	int pointers;                   /* enum gus_core_pointers; negative: what is usual of the input */
	struct gus_list variant, set;
	uint64_t loop, iterations, timeline, jobs, per, reach, rows, warm_up, at;
	uint64_t pid, tid, snapshots, spread, window, max_memory;
	bool replay;
	double weights[GUS_MODELLED_WEIGHTS];
	size_t weights_n;
	bool unrolled, exact, costs, causality, timing, interval, phases, memory, children;
	char *const *command;           /* what is to be run and traced; NULL: nothing */
};

static int set_timeline(const char *argument, void *values, struct gus_error *err)
{
	struct model_options *o = values;
	char *end;

	o->timeline = 3;
	if (!argument)
		return 0;
	o->timeline = strtoull(argument, &end, 10);
	if (argument[0] < '0' || argument[0] > '9' || *end || !o->timeline || o->timeline > 10000)
		return gus_fail(err, GUS_E_USAGE, "--timeline takes a number of iterations up to 10000, not '%s'",
				argument);
	return 0;
}

/* "15" or "inf" at text: how much more, or 0 for no limit. Returns what is behind it, or NULL. */
static const char *parse_weight(const char *text, double *weight)
{
	unsigned long long percent;
	char *end;

	*weight = 0;
	if (strncmp(text, "inf", 3) == 0)
		return text + 3;
	percent = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || !percent || percent > 10000)
		return NULL;
	*weight = 1 + (double)percent / 100;
	return end;
}

/* "15,100,inf". */
static int set_sensitivity(const char *argument, void *values, struct gus_error *err)
{
	struct model_options *o = values;
	const char *at = argument ? argument : "15";

	for (o->weights_n = 0; o->weights_n < GUS_MODELLED_WEIGHTS; at++) {
		at = parse_weight(at, &o->weights[o->weights_n++]);
		if (!at || (*at && *at != ','))
			return gus_fail(err, GUS_E_USAGE, "--sensitivity takes percentages up to 10000, or inf, "
					"separated by commas, not '%s'", argument);
		if (!*at)
			return 0;
	}
	return gus_fail(err, GUS_E_USAGE, "--sensitivity takes up to %d percentages, not '%s'", GUS_MODELLED_WEIGHTS,
			argument);
}

/* What is modelled: what is executed, or code. */
enum {
	FROM_COMMAND, FROM_PROCESS, FROM_FILE,
	FROM_BLOCK, FROM_BATCH, FROM_ELF, FROM_UOPS,
	COMMAND = 1 << FROM_COMMAND, PROCESS = 1 << FROM_PROCESS, A_FILE = 1 << FROM_FILE,
	BLOCK = 1 << FROM_BLOCK, BATCH = 1 << FROM_BATCH, ELF = 1 << FROM_ELF, UOPS = 1 << FROM_UOPS,
	EXECUTED = COMMAND | PROCESS | A_FILE, ONE = BLOCK | ELF | UOPS, CODE = ONE | BATCH,
};
static const struct gus_input inputs[] = {
	[FROM_COMMAND] = { "a command (--)" }, [FROM_PROCESS] = { "a process (-p)" }, [FROM_FILE] = { "a file (-i)" },
	[FROM_BLOCK] = { "a block (--block)" }, [FROM_BATCH] = { "a batch (--batch)" },
	[FROM_ELF] = { "a function (--elf)", .needs = "function" }, [FROM_UOPS] = { "a table of uops (--uops)" }, { 0 },
};

#define AT(field) offsetof(struct model_options, field)
static const struct gus_option options[] = {
	{ 0, "block", "HEX", "Model the instructions in these bytes, such as 4801c8.", GUS_OPTION_STRING, AT(block),
	  .gives = BLOCK },
	{ 0, "batch", "FILE", "Model many blocks: the first field of each line of a CSV file; - is the standard "
	  "input.", GUS_OPTION_STRING, AT(batch), .gives = BATCH },
	{ 0, "elf", "FILE", "Model a loop of a program or object file; see --function.", GUS_OPTION_STRING, AT(elf),
	  .gives = ELF },
	{ 0, "function", "NAME", "With --elf: the function, by its name or an address in it. If it has several loops "
	  "they are listed.", GUS_OPTION_STRING, AT(function), .fit = { ELF } },
	{ 0, "loop", "N", "With --elf: the N-th loop of the function.", GUS_OPTION_NUMBER, AT(loop), .fit = { ELF } },
	{ 0, "uops", "FILE", "Model a plain table of uops; see gusprof-model(1).", GUS_OPTION_STRING, AT(uops),
	  .gives = UOPS },
	{ 'i', "input", "FILE", "Model what the trace of a file says was executed; - is standard input.",
	  GUS_OPTION_STRING, AT(input),
	  .gives = A_FILE },
	{ 'p', "pid", "PID", "Model a process that runs: snapshots are taken of it, and copies made from them are "
	  "traced.", GUS_OPTION_NUMBER, AT(pid), .gives = PROCESS, .bounds = { 1, INT_MAX } },
	{ 't', "tid", "TID", "With --pid: only this thread.", GUS_OPTION_NUMBER, AT(tid), .bounds = { 0, INT_MAX },
	  .fit = { PROCESS } },
	{ 0, "snapshots", "N", "With --pid: how many (8).", GUS_OPTION_NUMBER, AT(snapshots), .bounds = { 0, 10000 },
	  .fit = { PROCESS } },
	{ 0, "spread", "MS", "With --pid: milliseconds from one snapshot to the next, at least (250).",
	  GUS_OPTION_NUMBER, AT(spread), .bounds = { 0, 3600000 }, .fit = { PROCESS } },
	{ 0, "window", "N", "With --pid: instructions from each (1000000), to the first system call.",
	  GUS_OPTION_NUMBER, AT(window), .fit = { PROCESS } },
	{ 0, "max-memory", "SIZE", "With --pid: memory that a snapshot may have (100M).", GUS_OPTION_SIZE,
	  AT(max_memory), .fit = { PROCESS } },
	{ 0, "replay", NULL, "With --input: replay its snapshots although somebody else made the recording.",
	  GUS_OPTION_FLAG, AT(replay), .fit = { A_FILE } },
	{ 0, "rates", "FILE", "Of a trace: take how often its accesses miss and its branches are mispredicted from the "
	  "samples of this recording, where they say it, instead of simulated caches and predictor; 'none': do not. By "
	  "default from the recording of --input.", GUS_OPTION_STRING, AT(rates), .choices = "none @file",
	  .fit = { EXECUTED } },
	{ 0, "trace-options", "WORDS", "Of a command: which part of it is traced, as gusprof-qemu(7) says, such as "
	  "start=1000000,length=5000000.", GUS_OPTION_STRING, AT(trace_options), .fit = { COMMAND } },
	{ 0, "emulator", "FILE", "Of a command: the emulator; by default qemu-x86_64 or qemu-aarch64.",
	  GUS_OPTION_STRING, AT(emulator), .choices = "@file", .fit = { COMMAND | PROCESS } },
	{ 0, "children", NULL, "Of a command: trace also the processes that it forks off, and theirs, each with a "
	  "machine of its own.", GUS_OPTION_FLAG, AT(children), .fit = { COMMAND } },
	{ 0, "interval", NULL, "Of a trace: tell also how long it would take if all that is touched for the first "
	  "time had been in the caches.", GUS_OPTION_FLAG, AT(interval), .fit = { EXECUTED } },
	{ 0, "warm-up", "N", "Of a trace: the first N instructions of each thread fill the caches and are not "
	  "counted.", GUS_OPTION_NUMBER, AT(warm_up), .fit = { COMMAND | A_FILE } },
	{ 0, "phases", NULL, "Of a trace: show also what it did over time, and the phases that it falls into.",
	  GUS_OPTION_FLAG, AT(phases), .fit = { EXECUTED } },
	{ 0, "memory", NULL, "Of a trace: show also the stride, reuse and footprint of accesses, and which loads "
	  "read what which stores wrote.", GUS_OPTION_FLAG, AT(memory), .fit = { EXECUTED } },
	{ 0, "rows", "N", "Of a trace: show N functions and loops, instead of those with a hundredth of the time.",
	  GUS_OPTION_NUMBER, AT(rows), .fit = { EXECUTED } },
	{ 0, "uarch", "NAME|FILE|host|nominal", GUS_UARCH_OPTION_HELP, GUS_OPTION_STRING, AT(uarch) },
	{ 0, "engine", "ENGINE", "core (default), cycle by cycle; stream, which follows only when things are "
	  "available and is some four times faster; or both: core, how far the other one agrees, and why not. "
	  "What was executed is modelled by stream; with both its hot loops are also run by core, and with core "
	  "all that is timed.",
	  GUS_OPTION_CHOICE, AT(engine), .choices = "core stream both" },
	{ 0, "sensitivity", "[=LIST]", "Show how much faster the code would be with more of each capacity, one at a "
	  "time, by the stream engine: percentages (15), or inf for no limit, separated by commas.", GUS_OPTION_CALL,
	  .call = set_sensitivity, .fit = { ONE | EXECUTED } },
	{ 0, "lanes", "WHICH", "Of a trace: sampled (default), the engine is run on stretches of a long run, and "
	  "errors are told; all, on all of it; none, without sensitivities, on stretches.", GUS_OPTION_CHOICE,
	  AT(lanes), .choices = "sampled all none", .fit = { EXECUTED } },
	{ 0, "causality", NULL, "Show which instructions hold the others up, through what, and the chain that the "
	  "time goes round in, by the stream engine.", GUS_OPTION_FLAG, AT(causality), .fit = { ONE | EXECUTED } },
	{ 0, "reach", "PCT", "With the sensitivities: the fewest capacities that together make the code PCT percent "
	  "faster.", GUS_OPTION_NUMBER, AT(reach), .bounds = { 0, 1000000 }, .fit = { ONE } },
	{ 0, "unrolled", NULL, "Each repetition lies behind the one before, as throughput benchmarks run it; without "
	  "it code is the body of a loop.", GUS_OPTION_FLAG, AT(unrolled), .fit = { CODE } },
	{ 0, "at", "N", "Of a block: where in memory it begins, in bytes behind a multiple of a page (0), as windows "
	  "of decoders and uop cache are aligned.", GUS_OPTION_NUMBER, AT(at), .bounds = { 0, 4095 },
	  .fit = { BLOCK | BATCH } },
	{ 'o', "output", "FILE", "Write the report to FILE; to standard output for -, where what a command prints then "
	  "goes to standard error. By default it is on standard output, of a command on standard error.",
	  GUS_OPTION_STRING, AT(output), .choices = "@file" },
	{ 0, "format", "FORMAT", "text (default), json or csv. Of a batch csv is the default.", GUS_OPTION_CHOICE,
	  AT(format), .choices = "text json csv" },
	GUS_SCREEN_OPTIONS(struct model_options, screen),
	GUS_SCREEN_NAME_OPTIONS(struct model_options, screen),
	{ 0, "timeline", "[=N]", "Show when each uop of the first N iterations (3) was issued, ready, dispatched, "
	  "completed and retired.", GUS_OPTION_CALL, .call = set_timeline, .fit = { ONE } },
	{ 0, "variant", "NAMES", "Show also what the code would take without some of its work: REF, FP, LS, DL1, "
	  "FES, NODIV, NORED, S2L, NO_STORE, infinite, or all; separated by commas.", GUS_OPTION_LIST, AT(variant),
	  .choices = "REF FP LS DL1 FES NODIV NORED S2L NO_STORE infinite all", .fit = { ONE } },
	{ 0, "set", "NAME=VALUE", "Another size, width or rule than the table's, such as rob=100 or stack_engine=no; "
	  "0 is no limit. Several are separated by commas.", GUS_OPTION_LIST, AT(set) },
	{ 0, "pointers", "HOW", "What registers hold at the start: equal (default of --block and --batch; the "
	  "stack apart), one for all, or distinct (of --elf) values; or none (of --uops): no store feeds a load.",
	  GUS_OPTION_CHOICE, AT(pointers),
	  .choices = "equal distinct one none", .fit = { CODE } },
	{ 0, "iterations", "N", "Run just N iterations and count all their cycles, instead of finding the steady "
	  "state.", GUS_OPTION_NUMBER, AT(iterations), .bounds = { 0, 10000000 }, .fit = { CODE } },
	{ 0, "data", "LEVEL", "Where memory accesses hit: L1 (default), L2, L3 or memory; or caches: where those of "
	  "the table have them.", GUS_OPTION_CHOICE, AT(data), .choices = "L1 L2 L3 memory caches", .fit = { CODE } },
	{ 0, "fetch", "FROM", "Where uops come from: auto (default: what would hold the code), decoders, uop-cache, "
	  "loop (the loop buffer) or ideal (always there).", GUS_OPTION_CHOICE, AT(fetch),
	  .choices = "auto decoders uop-cache loop ideal", .fit = { CODE } },
	{ 0, "costs", NULL, "Run again once for each instruction, to show what it costs: the cycles gained if it "
	  "took its issue slot and nothing else.", GUS_OPTION_FLAG, AT(costs), .fit = { ONE } },
	{ 0, "jobs", "N", "With --batch: threads; by default one for each CPU.", GUS_OPTION_NUMBER, AT(jobs),
	  .bounds = { 0, UINT32_MAX }, .fit = { BATCH } },
	{ 0, "exact", NULL, "With --batch: run each block until the machine repeats itself, as --block does, also "
	  "where its pace is steady long before.", GUS_OPTION_FLAG, AT(exact), .fit = { BATCH } },
	{ 0, "per", "N", "With --batch as csv: print cycles of N iterations (default 1).", GUS_OPTION_NUMBER,
	  AT(per), .bounds = { 1, 1000000 }, .fit = { BATCH } },
	{ 0, "timing", NULL, "Tell also how long it took, which is different each time.", GUS_OPTION_FLAG,
	  AT(timing), .fit = { CODE } },
	{ 0 },
};

static const struct gus_option_rule rules[] = {
	{ "engine=both", { ONE | EXECUTED } },
	{ "timeline", { .excludes = "engine=stream", .why = "the stream engine has no cycles" } },
	{ "data=caches", { .needs = "engine=stream", .why = "what accesses hit then depends on those before, and the "
			  "core engine looks for a steady state" } },
	{ "data=caches", { BLOCK | ELF, .excludes = "costs variant" } },
	{ "sensitivity=*,*", { ONE, .why = "what was executed takes one percentage" } },
	{ "format=csv", { CODE } },
	{ 0 },
};

/* Everything of one call. */
struct model {
	const struct model_options *o;
	struct gus_uarch *uarch;
	struct gus_modelled_settings settings;
	struct gus_core_memory memory;
	enum gus_hit level;
	struct timespec begun;
	struct gus_vec(char *) notes;
	struct gus_model_expectation expectation;
	struct gus_model_output output;
	struct gus_progress progress;
	bool has_output;
	int status;                     /* of the command */
};

static int fail_status(const struct gus_error *err)
{
	gus_complain(err);
	return err->code == GUS_E_USAGE || (err->code == GUS_E_NOT_FOUND && !err->sys) ? GUS_EXIT_USAGE :
		GUS_EXIT_OWN_FAILURE;
}

static void show_costs(void *progress, double share)
{
	gus_progress(progress, "what each instruction costs", share);
}

static void answer(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	(void)access;
	*level = *(const enum gus_hit *)context;
	*tlb = GUS_TLB_HIT;
}

static int settle_variants(struct model *m, struct gus_error *err)
{
	for (size_t i = 0; i < m->o->variant.n; i++) {
		const char *name = m->o->variant.v[i];
		bool found = false;

		for (int v = 0; v < GUS_VARIANTS; v++)
			if (strcasecmp(name, "all") == 0 ||
			    strcasecmp(name, gus_variant_name((enum gus_variant)v)) == 0)
				found = m->settings.variants[v] = true;
		if (!found)
			return gus_fail(err, GUS_E_USAGE, "there is no variant %s; see 'gusprof model --help'", name);
	}
	return 0;
}

/* NAME=VALUE of --set: the table gets it, as caches and programs are made of that. */
static int set_parameter(struct model *m, const char *assignment, struct gus_error *err)
{
	const char *equals = strchr(assignment, '=');
	char *name;
	int rc;

	if (!equals || equals == assignment || !equals[1])
		return gus_fail(err, GUS_E_USAGE, "--set takes NAME=VALUE, such as rob=100, not '%s'", assignment);
	name = gus_strndup(assignment, (size_t)(equals - assignment));
	rc = gus_uarch_set(m->uarch, name, equals + 1, err);
	free(name);
	return rc;
}

/* What the engines have is set there again: 0 is no limit, where a table that has 0 does not say, and latencies are all
 * in cycles. */
static int set_size(struct model *m, const char *assignment, struct gus_error *err)
{
	const char *equals = strchr(assignment, '=');
	char *name = gus_strndup(assignment, (size_t)(equals - assignment)), *end;
	uint64_t value = strtoull(equals + 1, &end, 10);
	int rc = 0;

	if (!*end && gus_core_config_has(name))
		rc = gus_core_config_set(&m->settings.config, name, value, err);
	free(name);
	return rc;
}

/* The sizes. */
static int settle_sizes(struct model *m, struct gus_error *err)
{
	for (size_t i = 0; i < m->o->set.n; i++)
		if (set_parameter(m, m->o->set.v[i], err) != 0)
			return -1;
	gus_core_config_of(&m->settings.config, m->uarch);
	gus_cache_config_of(&m->settings.cache_config, m->uarch);
	for (size_t i = 0; i < m->o->set.n; i++)
		if (set_size(m, m->o->set.v[i], err) != 0)
			return -1;
	/* Prefetched lines are on their way for as long. */
	m->settings.cache_config.level[GUS_HIT_L2].latency = m->settings.config.l2_latency;
	m->settings.cache_config.level[GUS_HIT_L3].latency = m->settings.config.l3_latency;
	m->settings.cache_config.memory_latency = m->settings.config.memory_latency;
	return 0;
}

static int settle_options(struct model *m, struct gus_error *err)
{
	const struct model_options *o = m->o;
	struct gus_modelled_settings *s = &m->settings;
	int usual = o->from == FROM_UOPS ? GUS_CORE_POINTERS_NONE : o->from == FROM_ELF ? GUS_CORE_POINTERS_DISTINCT :
		    GUS_CORE_POINTERS_EQUAL;

	s->options.fetch = (enum gus_core_fetch)o->fetch;
	s->options.pointers = (enum gus_core_pointers)(o->pointers < 0 ? usual : o->pointers);
	s->options.iterations = o->iterations;
	s->options.settled = o->batch && !o->exact ? GUS_BATCH_SETTLED : 0;
	s->options.unrolled = o->unrolled;
	s->at = o->at;
	s->timeline = o->timeline;
	s->costs = o->costs;
	s->causality = o->causality;
	s->stream = o->engine == ENGINE_STREAM;
	s->both = o->engine == ENGINE_BOTH;
	memcpy(s->weights, o->weights, sizeof(s->weights));
	s->weights_n = o->weights_n;
	if (o->reach && !o->weights_n) {
		s->weights[0] = 1.15;
		s->weights_n = 1;
	}
	s->reach = (double)o->reach / 100;
	s->caches = o->data == GUS_HITS;
	s->heed = (struct gus_modelled_heed){ show_costs, &m->progress };
	m->level = s->caches ? GUS_HIT_L1 : (enum gus_hit)o->data;
	m->memory = (struct gus_core_memory){ &m->level, answer };
	if (m->level != GUS_HIT_L1)
		s->options.memory = &m->memory;
	return settle_variants(m, err);
}

static double seconds(const struct model *m)
{
	struct timespec now;

	if (!m->o->timing)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - m->begun.tv_sec) + (double)(now.tv_nsec - m->begun.tv_nsec) / 1e9;
}

/* Runs a program and prints it; r has where it is from. */

static int check_work(const struct model *m, const struct gus_program *p, struct gus_error *err)
{
	if (m->o->costs && p->insns_n > GUS_LIMIT_MODEL_COSTS)
		return gus_fail(err, GUS_E_FULL, "cannot show the costs of %" PRIu32 " instructions: each takes a run, "
				"and %d are the most", p->insns_n, GUS_LIMIT_MODEL_COSTS);
	if (m->o->timeline * p->insns_n > GUS_LIMIT_MODEL_TIMELINE)
		return gus_fail(err, GUS_E_FULL, "cannot show a timeline of %" PRIu64 " iterations of %" PRIu32
				" instructions: %d together are the most", m->o->timeline, p->insns_n,
				GUS_LIMIT_MODEL_TIMELINE);
	return 0;
}

/* figures: of the loops of a function, if that is what is shown. */
static void print_text(const struct model *m, const struct gus_model_report *r,
		       const struct gus_model_loop_figure *figures)
{
	const struct gus_screen screen = gus_screen_of(stdout, &m->o->screen);
	struct gus_fitted fitted;

	gus_fitted_begin(&fitted, &screen);
	if (figures)
		gus_model_loops_text(r, figures);
	else
		gus_model_text(r);
	gus_fitted_end(&fitted);
}

static int run_program(struct model *m, const struct gus_program *p, struct gus_model_report *r, struct gus_error *err)
{
	struct gus_modelled modelled;
	int rc = check_work(m, p, err) != 0 ? -1 : gus_modelled_run(&modelled, p, &m->settings, err);

	gus_progress_end(&m->progress);
	if (rc != 0)
		return -1;
	r->settings = &m->settings;
	r->modelled = &modelled;
	r->notes = (const char *const *)m->notes.v;
	r->notes_n = m->notes.n;
	r->seconds = seconds(m);
	r->expectation = &m->expectation;
	if (m->o->format == FORMAT_TEXT)
		print_text(m, r, NULL);
	else if (m->o->format == FORMAT_JSON)
		gus_model_json(r);
	else
		gus_model_csv(r);
	gus_modelled_free(&modelled);
	return 0;
}

static int run_block(struct model *m, struct gus_error *err)
{
	struct gus_model_report r = { 0 };
	struct gus_program *p;
	size_t n;
	uint8_t *bytes = gus_hex_parse(m->o->block, strlen(m->o->block), &n);
	int rc = -1;

	if (!bytes)
		return gus_fail(err, GUS_E_USAGE, "--block takes bytes as pairs of hexadecimal digits, such as "
				"4801c8, not '%.60s'", m->o->block);
	p = gus_program_new(m->uarch, bytes, n, m->o->at, GUS_PROGRAM_TEXTS | GUS_PROGRAM_BLOCK, err);
	if (p)
		rc = run_program(m, p, &r, err);
	gus_program_free(p);
	free(bytes);
	return rc;
}

static int run_uops(struct model *m, struct gus_error *err)
{
	struct gus_model_report r = { 0 };
	struct gus_program *p;
	size_t size;
	char *text = gus_uarch_read(m->o->uops, "the table of uops", GUS_LIMIT_MODEL_INPUT, &size, err);
	int rc = -1;

	if (!text && err->code)
		return -1;
	p = gus_uoptable_program(m->uarch, m->o->uops, text, size, err);
	if (p)
		rc = run_program(m, p, &r, err);
	gus_program_free(p);
	free(text);
	return rc;
}

/* Blocks take as much memory as those before them gave back. A tenth of the time would go to the kernel if it got that
 * back each time. */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 1 << 25);
	mallopt(M_TRIM_THRESHOLD, 1 << 27);
#endif
}

static int run_batch(struct model *m, struct gus_error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned jobs = m->o->jobs ? (unsigned)m->o->jobs : cpus > 0 ? (unsigned)cpus : 1;
	struct gus_batch b = { 0 };
	double taken;
	size_t size;
	char *text = gus_uarch_read(m->o->batch, "the blocks", GUS_LIMIT_MODEL_INPUT, &size, err);

	keep_memory();
	if ((!text && err->code) || gus_batch_run(&b, &m->settings, text, size, jobs, err) != 0) {
		free(text);
		return -1;
	}
	taken = seconds(m);
	if (m->o->format == FORMAT_JSON)
		gus_model_batch_json(&b, &m->settings, &m->expectation, taken);
	else
		gus_model_batch_csv(&b, &m->settings, &m->expectation, m->o->per);
	fflush(stdout);
	if (b.broken)
		fprintf(stderr, "gusprof: %zu figures are below what the code needs; --format json says which. "
			"Please report them\n", b.broken);
	fprintf(stderr, "gusprof: %zu lines, %zu bad; %" PRIu64 " of %" PRIu64 " instructions have a row", b.n, b.bad,
		b.instructions - b.unknown, b.instructions);
	if (b.instructions)
		fprintf(stderr, " (%.2f%%)", 100.0 * (double)(b.instructions - b.unknown) / (double)b.instructions);
	if (taken >= 0)
		fprintf(stderr, "; %.3f s, %.0f blocks a second", taken, (double)b.n / taken);
	fputc('\n', stderr);
	gus_batch_free(&b);
	free(text);
	return 0;
}

/* Code of files. */

static struct gus_program *loop_program(struct model *m, const struct gus_routine *f, const struct gus_loop *l,
					struct gus_error *err)
{
	return gus_program_new(m->uarch, f->bytes + l->offset, l->size, f->address + l->offset, GUS_PROGRAM_TEXTS, err);
}

static void note_what_is_left_out(struct model *m, const struct gus_loop *l, bool whole)
{
	if (whole)
		gus_vec_push(&m->notes, gus_strdup("the function has no loop; all of its code is run again and again, "
						   "once through"));
	if (l->branches)
		gus_vec_push(&m->notes, gus_format("%u branch%s inside; the path that falls through is modelled",
						   l->branches, l->branches > 1 ? "es are" : " is"));
	if (l->jumps)
		gus_vec_push(&m->notes, gus_format("%u jump%s or return%s inside; what follows is run as if it were "
						   "reached", l->jumps,
						   l->jumps > 1 ? "s" : "", l->jumps > 1 ? "s are" : " is"));
	if (l->calls)
		gus_vec_push(&m->notes, gus_format("%u call%s inside; what is called is not modelled", l->calls,
						   l->calls > 1 ? "s are" : " is"));
}

static int run_loop(struct model *m, const struct gus_routine *f, const struct gus_loop *l, size_t number,
		    struct gus_error *err)
{
	struct gus_model_report r = { .function = f, .loop = l, .loop_number = number };
	struct gus_program *p = loop_program(m, f, l, err);
	int rc = -1;

	note_what_is_left_out(m, l, !number);
	if (p)
		rc = run_program(m, p, &r, err);
	gus_program_free(p);
	return rc;
}

/* One that cannot be modelled has no cycles; why is said when it is asked for. */
static int list_loops(struct model *m, const struct gus_routine *f)
{
	struct gus_model_report r = { .settings = &m->settings, .function = f, .seconds = -1,
		.expectation = &m->expectation };
	struct gus_model_loop_figure *figures = gus_alloc(f->loops_n * sizeof(*figures));

	for (size_t i = 0; i < f->loops_n; i++) {
		struct gus_program *p = loop_program(m, f, &f->loops[i], NULL);

		figures[i] = (struct gus_model_loop_figure){ .cycles = -1 };
		if (p && gus_modelled_cycles(p, &m->settings, &figures[i].cycles, NULL) == 0)
			figures[i].verdict = gus_modelled_judge(p, &m->settings, figures[i].cycles);
		else
			figures[i].cycles = -1;
		gus_program_free(p);
	}
	if (m->o->format == FORMAT_TEXT)
		print_text(m, &r, figures);
	else if (m->o->format == FORMAT_JSON)
		gus_model_loops_json(&r, figures);
	else
		gus_model_loops_csv(&r, figures);
	free(figures);
	return 0;
}

static const char *machine_of(enum gus_isa isa)
{
	switch (isa) {
	case GUS_ISA_ARM64:
		return "arm64";
	case GUS_ISA_X86_64:
		return "x86-64";
	case GUS_ISA_X86_32:
		return "32-bit x86";
	default:
		return "another machine";
	}
}

static int run_function(struct model *m, const struct gus_routine *f, struct gus_error *err)
{
	struct gus_loop whole;

	if (f->isa != m->uarch->isa)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot model %s in %s: it is code for %s, and %s is a CPU of "
				"%s; name another one with --uarch", f->name, m->o->elf, machine_of(f->isa),
					m->uarch->name, machine_of(m->uarch->isa));
	if (m->o->loop > f->loops_n)
		return gus_fail(err, GUS_E_USAGE, "there is no loop %" PRIu64 " in %s: it has %zu", m->o->loop, f->name,
				f->loops_n);
	if (m->o->loop)
		return run_loop(m, f, &f->loops[m->o->loop - 1], m->o->loop, err);
	if (f->loops_n > 1)
		return list_loops(m, f);
	if (f->loops_n)
		return run_loop(m, f, f->loops, 1, err);
	whole = gus_routine_whole(f);
	return run_loop(m, f, &whole, 0, err);
}

static int run_elf(struct model *m, struct gus_error *err)
{
	struct gus_routine f;
	int rc = gus_routine_open(&f, m->o->elf, m->o->function, err);

	if (rc == 0)
		rc = run_function(m, &f, err);
	gus_routine_close(&f);
	return rc;
}

/* What was executed. Unless it is said otherwise each capacity is turned by 15 %, and causes are followed. */
/* Opened more than once, so what comes through a pipe is kept first. */
static int run_file(struct gus_model_traced *traced, const struct gus_model_process *process, const char *input,
		    struct gus_error *err)
{
	char *path = gus_recording_path(input, err), *at;
	int rc = path ? gus_model_trace(traced, process, path, err) : -1;
	struct gus_error said = *err;

	/* Who reads what is wrong does not know the name that a pipe has in here. */
	if (rc != 0 && path && strcmp(path, input) != 0 && (at = strstr(said.text, path))) {
		*err = (struct gus_error){ 0 };
		gus_fail(err, said.code, "%.*s%s%s", (int)(at - said.text), said.text, gus_recording_name(input),
			 at + strlen(path));
	}
	free(path);
	return rc;
}

static int run_traced(struct model *m, struct gus_error *err)
{
	const struct model_options *o = m->o;
	struct gus_model_traced traced = {
		.screen = &o->screen,
		.uarch = m->uarch, .config = &m->settings.config, .caches = &m->settings.cache_config,
		.weight = o->lanes == LANES_NONE ? 0 : o->weights_n ? o->weights[0] : 1.15,
		.causality = true, .both = o->engine == ENGINE_BOTH || o->engine == ENGINE_CORE,
		.core = o->engine == ENGINE_CORE, .interval = o->interval,
		.json = o->format == FORMAT_JSON, .emulator = o->emulator, .rows = o->rows, .warm_up = o->warm_up,
		.phases = o->phases, .memory = o->memory, .all = o->lanes == LANES_ALL,
		.children = o->children,
		.output = &m->output, .expectation = &m->expectation, .input = o->input,
		.rates = o->rates,
	};
	struct gus_model_process process = {
		.pid = (int)o->pid, .tid = (int)o->tid, .snapshots = o->snapshots ? o->snapshots : 8,
		.spread_ms = o->spread ? o->spread : 250, .window = o->window ? o->window : 1000000,
		.max_bytes = o->max_memory, .replay = o->replay,
	};
	char *words = gus_format("%s%s", o->trace_options ? "," : "", o->trace_options ? o->trace_options : "");
	int rc;

	traced.options = words;
	if (o->from == FROM_PROCESS) /* caches of a copy are cold, and its own were not */
		traced.interval = traced.warm = true;
	if (o->from == FROM_PROCESS)
		rc = gus_model_attached(&traced, &process, err);
	else if (o->from == FROM_FILE)
		rc = run_file(&traced, &process, o->input, err);
	else
		rc = gus_model_command(&traced, o->command, &m->status, err);
	free(words);
	return rc;
}

/* What was measured was the machine of the table, as it is, with its words in L1. */
static int settle_expectation(struct model *m, struct gus_error *err)
{
	const struct model_options *o = m->o;
	const struct { bool holds; const char *why; } other[] = {
		{ o->from == FROM_UOPS, "a table of uops is no code that a CPU ran" },
		{ o->set.n, "with --set it is another machine than the one that was measured" },
		{ m->uarch->valids_n, "what is known of errors is of tables that were not calibrated" },
		{ o->uarch && strcmp(o->uarch, "host") != 0 && strcmp(o->uarch, "nominal") != 0 &&
		  !gus_uarch_builtin_find(o->uarch), "nobody has held the table of this file against a CPU" },
		{ o->data != GUS_HIT_L1, "what was measured had its data in L1" },
		{ o->fetch != GUS_CORE_FETCH_AUTO, "what was measured was fetched as the CPU does it" },
		{ o->iterations, "what was measured was the steady state" },
	};
	bool executed = 1 << o->from & EXECUTED;

	m->expectation = (struct gus_model_expectation){ .table = m->uarch->name,
		.engine = executed || o->engine == ENGINE_STREAM ? "stream" : "core",
		.setting = executed ? "traced" : o->unrolled ? "unrolled" : "loop" };
	for (size_t i = 0; i < sizeof(other) / sizeof(*other) && !m->expectation.why; i++)
		m->expectation.why = other[i].holds ? other[i].why : NULL;
	return gus_model_expectation_open(&m->expectation, err);
}

static int run_all(struct model *m, struct gus_error *err)
{
	static int (*const run_of[])(struct model *m, struct gus_error *err) = {
		[FROM_COMMAND] = run_traced, [FROM_PROCESS] = run_traced, [FROM_FILE] = run_traced,
		[FROM_BLOCK] = run_block, [FROM_BATCH] = run_batch, [FROM_ELF] = run_elf, [FROM_UOPS] = run_uops,
	};
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &m->begun);
	if (settle_options(m, err) != 0)
		return -1;
	m->uarch = gus_uarch_load(m->o->uarch, 0, err);
	if (!m->uarch)
		return -1;
	m->settings.uarch = m->uarch;
	if (settle_sizes(m, err) != 0 || settle_expectation(m, err) != 0)
		return -1;
	m->output = (struct gus_model_output){ .path = m->o->output, .command = m->o->from == FROM_COMMAND,
		.json = m->o->format == FORMAT_JSON };
	if (gus_model_output_open(&m->output, err) != 0)
		return -1;
	m->has_output = true;
	if (m->o->from != FROM_COMMAND) /* which is started first, with standard output as it is */
		rc = gus_model_output_begin(&m->output, err);
	if (rc == 0)
		rc = run_of[m->o->from](m, err);
	return gus_model_output_end(&m->output, rc, err);
}

/* As of the other verbs that take a command or a process. */
static int traced_status(const struct model *m, const struct gus_error *err)
{
	const struct model_options *o = m->o;
	int status = fail_status(err);

	if (!m->has_output) /* it is that which is missing or may not be written, and no command was begun */
		return status;

	if (o->from == FROM_PROCESS && err->code == GUS_E_NOT_FOUND)
		return GUS_EXIT_NO_TARGET;
	return o->from == FROM_COMMAND && (err->sys == ENOENT || err->sys == EACCES) ? GUS_EXIT_NO_COMMAND : status;
}

static int run(int argc, char **argv)
{
	struct model_options o = { .per = 1, .pointers = -1, .engine = -1, .screen = GUS_SCREEN_DEFAULTS };
	struct gus_error err = { 0 };
	struct model m = { .o = &o };
	int status = 0;

	if (gus_options_parse(&gus_verb_model, &o, &argc, &argv, &status) == 0) {
		o.command = argc ? argv : NULL;
		status = run_all(&m, &err) == 0 ? m.status : traced_status(&m, &err);
	}
	for (size_t i = 0; i < m.notes.n; i++)
		free(m.notes.v[i]);
	gus_vec_free(&m.notes);
	gus_model_expectation_close(&m.expectation);
	gus_uarch_free(m.uarch);
	gus_list_free(&o.variant);
	gus_list_free(&o.set);
	return status;
}

const struct gus_verb gus_verb_model = {
	.name = "model",
	.synopsis = "[OPTION...] -- COMMAND [ARG...] | --pid PID | --input FILE | --block HEX | --batch FILE | --elf "
	"FILE --function NAME | --uops FILE",
	.summary = "Model how many cycles code takes on a CPU, and why.",
	.details = "Code whose last instruction branches back to the first is a loop; any other is run\n"
		   "as if it were one that is closed for free, unless --unrolled is given.",
	.options = options,
	.run = run,
	.argument_choices = "@command",
	.inputs = inputs,
	.input_word = "input",
	.input_offset = AT(from),
	.words_give = COMMAND,
	.word = "COMMAND",
	.many_words = true,
	.rules = rules,
};
