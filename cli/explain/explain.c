/* SPDX-License-Identifier: MIT */
/* gusprof explain: what would bring the time of a program back. A recording says where its time goes; its windows are
 * run once more by both engines, by the core engine for what became of each slot, and by the stream engine for what the
 * region would gain of more of each thing that a node of the tree stands for. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/rows.h"
#include "attribution/traced/lines.h"
#include "attribution/traced/regions.h"
#include "attribution/verdicts/heard.h"
#include "attribution/verdicts/pathologies.h"
#include "attribution/verdicts/residuals.h"
#include "attribution/verdicts/slots.h"
#include "attribution/verdicts/threads.h"
#include "base/error.h"
#include "base/path.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/compare/recordings.h"
#include "cli/explain/counted.h"
#include "cli/explain/measured.h"
#include "cli/explain/pathologies.h"
#include "cli/explain/quality.h"
#include "cli/explain/view.h"
#include "cli/explain/whatif.h"
#include "cli/model/output.h"
#include "cli/model/table.h"
#include "cli/model/traced.h"
#include "cli/screen/fitted.h"
#include "cli/verbs.h"
#include "proto/reader.h"

enum { FORMAT_TEXT, FORMAT_JSON };
/* Of a process: how many snapshots, and how many instructions from each. */
enum { SNAPSHOTS = 24, WINDOW = 500000 };

/* Regions are told until so much of the time has them, but none with less than the second. */
static const double MATTERS = 0.8, LEAST = 0.02;
/* Engines that differ by more do not model the same. */
static const double ENGINES_APART = 1.4;
enum { FEWEST = 10 };                   /* samples of a region */
struct explain_options {
	int from;                       /* FROM_*: the input */
	const char *input, *uarch, *output;
	struct gus_list what_if;
	int format;
	uint64_t pid, duration;
	bool replay, pathologies;
	struct gus_screen_options screen;
	char **command;
};

enum {
	FROM_FILE, FROM_COMMAND, FROM_PROCESS,
	A_FILE = 1 << FROM_FILE, COMMAND = 1 << FROM_COMMAND, PROCESS = 1 << FROM_PROCESS,
};
static const struct gus_input inputs[] = {
	[FROM_FILE] = { "a file (-i)" }, [FROM_COMMAND] = { "a command (--)" }, [FROM_PROCESS] = { "a process (-p)" },
	{ 0 },
};

#define AT(field) offsetof(struct explain_options, field)
static const struct gus_option options[] = {
	{ 'p', "pid", "PID", "A process that runs: it is sampled, and snapshots of it are replayed.", GUS_OPTION_NUMBER,
	  AT(pid), .gives = PROCESS, .bounds = { 1, INT_MAX } },
	{ 'i', "input", "FILE", "A recording, - for standard input; by default gusprof.data.", GUS_OPTION_STRING,
	  AT(input), .gives = A_FILE, .choices = "@file" },
	{ 0, "duration", "SECONDS", "With --pid: how long to sample it (5).", GUS_OPTION_NUMBER, AT(duration),
	  .bounds = { 1, 86400 }, .fit = { PROCESS } },
	{ 0, "replay", NULL, "Replay its snapshots although somebody else made the recording.", GUS_OPTION_FLAG,
	  AT(replay), .fit = { A_FILE } },
	{ 0, "what-if", "QUESTION[,...]", "Also what would be if: contention[=SHARE[@LEVEL]] (others take that many "
	  "percent of the bandwidth of memory or l3; by default 25, 50 and 75 of memory's, 50 of L3's), squash "
	  "(what mispredicted branches cost, estimated) and vectorise (loops did many turns at once, with vectors); "
	  "several with commas between.", GUS_OPTION_LIST, AT(what_if), .choices = "contention squash vectorise" },
	{ 0, "uarch", "NAME|FILE|host|nominal", "The CPU: a name of `gusprof uarch list`, a file with a table, host "
	  "for this one, as calibrated if it was, or nominal for this one as if it never was; by default that of the "
	  "machine that was recorded on.", GUS_OPTION_STRING, AT(uarch) },
	{ 'o', "output", "FILE", "Write to FILE; to standard output for -, where what a command prints then goes to "
	  "standard error. By default it is on standard output, of a command on standard error.", GUS_OPTION_STRING,
	  AT(output), .choices = "@file" },
	{ 0, "pathologies", NULL, "List what it looks for, what each of it costs, and how it is told, and do nothing "
	  "else.", GUS_OPTION_FLAG, AT(pathologies) },
	{ 0, "format", "FORMAT", "text (default) or json.", GUS_OPTION_CHOICE, AT(format), .choices = "text json" },
	GUS_SCREEN_OPTIONS(struct explain_options, screen),
	GUS_SCREEN_COLOUR_OPTIONS(struct explain_options, screen),
	GUS_SCREEN_NAME_OPTIONS(struct explain_options, screen),
	{ 0 },
};

struct listeners { const struct gus_core_listener *slots, *heard; };

/* Everything of one call. */
struct explain {
	const struct explain_options *o;
	struct gus_model_table table;
	struct gus_model_output output;
	struct gus_model_shower shower;
	struct gus_slotted slots;
	struct gus_explain_whatif whatif;
	struct gus_traced_set sets[GUS_STREAM_LANES]; /* those of nodes, twice, then those of what-ifs */
	int nodes_n;                    /* of nodes there are so many, that differ */
	int of[GUS_NODES];              /* the set of each node; -1: it has none */
	struct gus_heard heard;
	/* By stream, while it runs: those of slots and of heard, which tells the former. */
	struct gus_vec(struct listeners) listeners;
	struct gus_pathology_seen *seen; /* by region of the trace */
	struct gus_compare_recordings recordings;
	char *path;                     /* by what the recording is opened; NULL: it is made while the process runs */
	const char *name;               /* of the recording, for people */
	int status;                     /* of the command */
	bool has_output;
};

/* One region. */

static double more_of(const void *node, const struct gus_sensitivity *knob)
{
	(void)node;
	(void)knob;
	return GUS_CAUSAL_MORE;
}

static double twice_of(const void *node, const struct gus_sensitivity *knob)
{
	(void)node;
	(void)knob;
	return GUS_CAUSAL_TWICE;
}

/* Of the tree's nodes and of what is beside it; those with the same knobs are one machine. Each has two: with
 * GUS_CAUSAL_MORE times as much and, behind all these, with GUS_CAUSAL_TWICE. Then come the sets of pathologies.
 * Returns how many sets there are. */
static int list_sets(struct explain *e)
{
	int n = 0;

	for (unsigned i = 0; i < GUS_NODES; i++) {
		e->of[i] = -1;
		for (unsigned k = 0; k < i && gus_nodes[i].knobs; k++)
			if (gus_nodes[k].knobs == gus_nodes[i].knobs)
				e->of[i] = e->of[k];
		if (e->of[i] >= 0 || !gus_nodes[i].knobs)
			continue;
		e->sets[n] = (struct gus_traced_set){ gus_nodes[i].name, gus_node_has, &gus_nodes[i], more_of };
		e->of[i] = n++;
	}
	for (int i = 0; i < n; i++) {
		e->sets[n + i] = e->sets[i];
		e->sets[n + i].weight = twice_of;
	}
	e->nodes_n = n;
	gus_pathology_sets(e->sets + 2 * n);
	return 2 * n + GUS_PATHOLOGY_SETS;
}

static void slots_of(const struct explain *e, const struct gus_traced *t, uint32_t region,
		     double slots[GUS_NODES_OF_TREE])
{
	memset(slots, 0, GUS_NODES_OF_TREE * sizeof(*slots));
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		double of[GUS_NODES_OF_TREE];

		if (b->region != region || !b->ops.ops_n)
			continue;
		gus_slotted_add(&e->slots, b->ops.op, b->ops.taken + 1 - b->ops.op, of);
		for (unsigned k = 0; k < GUS_NODES_OF_TREE; k++)
			slots[k] += of[k];
	}
}

static double gained(const struct gus_traced_region *r, int lane)
{
	return r->cycles[lane] > 0 && r->cycles[0] > r->cycles[lane] ? r->cycles[0] / r->cycles[lane] - 1 : 0;
}

/* How far the model is off in general. */
static double model_error(const struct gus_explain_view *v)
{
	return v->calibrated || v->told > 0 ? GUS_CAUSAL_MODEL : GUS_CAUSAL_UNTOLD;
}

static void find_pathologies(const struct explain *e, const struct gus_explain_view *v,
			     const struct gus_compared_row *row, struct gus_explain_region *r)
{
	const struct gus_pathology_given g = { .traced = v->model->traced, .region = row->region, .heard = &e->heard,
		.causal = &r->verdict, .lane = 2 * e->nodes_n + 1, .model = model_error(v),
		.seen = &e->seen[row->region] };

	gus_pathologies_find(&g, &r->pathologies);
}

static void judge(const struct explain *e, const struct gus_explain_view *v, uint32_t region,
		  const struct gus_explain_tree *tree, struct gus_causal *out)
{
	const struct gus_traced *t = v->model->traced;
	const struct gus_traced_region *r = &t->regions.v[region];
	double slots[GUS_NODES_OF_TREE], speedups[GUS_NODES], twice[GUS_NODES], errors[GUS_NODES], residuals[GUS_NODES];
	const struct gus_causal_given given = { slots, speedups, twice, errors, residuals, model_error(v),
		tree->readings ? &tree->nodes : NULL };

	slots_of(e, t, region, slots);
	for (unsigned i = 0; i < GUS_NODES; i++) {
		int lane = e->of[i] + 1; /* 0: it has no knobs */

		speedups[i] = lane ? gained(r, lane) : 0;
		twice[i] = lane ? gained(r, e->nodes_n + lane) : 0;
		errors[i] = lane ? r->errors[lane] : 0;
		residuals[i] = gus_node_residual(e->table.uarch, (enum gus_node)i);
	}
	gus_causal_make(out, &given);
}

static int by_charged(const void *a, const void *b)
{
	const struct gus_traced_line *x = a, *y = b;

	return x->charged != y->charged ? (x->charged < y->charged ? 1 : -1) :
		x->address < y->address ? -1 : x->address > y->address;
}

static void find_insns(const struct gus_traced *t, uint32_t region, struct gus_explain_region *out)
{
	const struct gus_traced_function *f = &t->functions.v[t->regions.v[region].function];
	struct gus_traced_lines lines = { 0 };
	double all = 0;

	gus_traced_lines_find(t, region, NULL, &lines);
	for (size_t i = 0; i < lines.n; i++)
		all += lines.v[i].charged > 0 ? lines.v[i].charged : 0;
	if (lines.n)
		qsort(lines.v, lines.n, sizeof(*lines.v), by_charged);
	for (size_t i = 0; i < lines.n && i < GUS_EXPLAIN_INSNS && lines.v[i].charged > LEAST * all; i++) {
		struct gus_explain_insn *insn = &out->insns[out->insns_n++];

		insn->offset = lines.v[i].address - f->address;
		insn->charged = lines.v[i].charged / all;
		snprintf(insn->text, sizeof(insn->text), "%s", lines.v[i].text);
	}
	gus_vec_free(&lines);
}

static char *name_of(const struct gus_traced *t, uint32_t region)
{
	const struct gus_traced_function *f = &t->functions.v[t->regions.v[region].function];
	char name[256];

	gus_traced_region_name(t, region, name, sizeof(name));
	return *f->module ? gus_format("%s  [%s]", name, gus_base_name(f->module)) : gus_strdup(name);
}

/* Where measurement and model contradict each other by more than the model is off in general, it is not told why. */
static char *doubt_of(const struct gus_compared_row *row)
{
	if (!row || row->function_verdict != GUS_TRUST_NONE || row->verdict != GUS_TRUST_NONE)
		return NULL;
	return gus_format("it takes %.2f times what the model has it take (%.2f to %.2f), against all else that is in "
			  "both", row->ratio.value, row->ratio.ci.low, row->ratio.ci.high);
}

/* The model's tree is the region's, and the measured one its function's, which has other regions, too. */
static void dispute(const struct gus_explain_view *v, const struct gus_compared_row *row, struct gus_explain_region *r)
{
	const struct gus_traced *t = v->model->traced;
	double modelled[GUS_NODES_OF_TREE];
	uint64_t all = 0;

	for (size_t i = 0; i < t->regions.n; i++)
		if (t->regions.v[i].function == t->regions.v[row->region].function)
			all += v->measured->coverage.by_region[i];
	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		modelled[i] = r->verdict.nodes[i].modelled;
	if (r->tree.readings && all)
		r->disputes_n = gus_causal_disputes(&r->tree.nodes, modelled, (double)row->samples / (double)all,
						    r->disputes);
}

/* Where counters say that a part of the slots is elsewhere which is larger than the model is off in general, what it
 * gains on the model says nothing about the machine. */
static char *contradiction_of(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	const double error = v->told > 0 ? v->told : GUS_CAUSAL_UNTOLD;

	for (size_t i = 0; i < r->disputes_n; i++) {
		const struct gus_causal_dispute *d = &r->disputes[i];

		if (d->modelled < d->low - GUS_CAUSAL_DISPUTED - error ||
		    d->modelled > d->high + GUS_CAUSAL_DISPUTED + error)
			return gus_format("counters contradict the model by more than it is off in general: %s has "
					  "%.0f %% of its slots, and %.0f to %.0f %% by them", gus_nodes[d->node].name,
					  100 * d->modelled, 100 * d->low, 100 * d->high);
	}
	return NULL;
}

static char *few_of(const struct gus_compared_row *row)
{
	return row->samples < FEWEST ? gus_format("only %" PRIu64 " samples are of it", row->samples) : NULL;
}

/* Gains are the stream engine's. Where it has the region take another time than the core engine, which goes cycle by
 * cycle, it lacks what holds the region up, or has what does not. */
static char *disagreement_of(const struct gus_traced *t, uint32_t region)
{
	const struct gus_traced_region *r = &t->regions.v[region];
	double ratio = r->cycles[0] > 0 ? r->core_cycles / r->cycles[0] : 0;

	if (t->core_stopped || !(ratio > 0) || (ratio <= ENGINES_APART && ratio >= 1 / ENGINES_APART))
		return NULL;
	return gus_format("the engines contradict each other: cycle by cycle it takes %.2f times what the stream "
			  "engine has it take, of which the gains are", ratio);
}

static void add_region(const struct explain *e, struct gus_explain_view *v, const struct gus_compared_row *row)
{
	const struct gus_traced *t = v->model->traced;
	struct gus_explain_region r = { .name = name_of(t, row->region), .samples = row->samples,
		.share = (double)row->samples / (double)v->measured->coverage.samples, .modelled = row->modelled_share,
		.withheld = doubt_of(row), .compared = row };

	r.function = t->functions.v[t->regions.v[row->region].function].name;
	r.module = t->functions.v[t->regions.v[row->region].function].module;
	r.tree = gus_explain_counts_part(v->counts, t->regions.v[row->region].function);
	judge(e, v, row->region, &r.tree, &r.verdict);
	dispute(v, row, &r);
	gus_explain_whatif_answer(&e->whatif, t, row->region, &r.verdict.nodes[GUS_NODE_MISPREDICTS],
				  model_error(v), &r.answers);
	if (!r.withheld)
		r.withheld = contradiction_of(v, &r);
	if (!r.withheld)
		r.withheld = disagreement_of(t, row->region);
	if (!r.withheld)
		r.withheld = few_of(row);
	find_insns(t, row->region, &r);
	find_pathologies(e, v, row, &r);
	v->explained += r.share;
	gus_vec_push(&v->regions, r);
}

/* All of them. */

static int by_samples(const void *a, const void *b)
{
	const struct gus_compared_row *const *x = a, *const *y = b;

	return (*x)->samples != (*y)->samples ? ((*x)->samples < (*y)->samples ? 1 : -1) :
		(*x)->region < (*y)->region ? -1 : (*x)->region > (*y)->region;
}

static void add_regions(const struct explain *e, struct gus_explain_view *v)
{
	const struct gus_compared *c = v->compared;
	const struct gus_compared_row **rows = gus_alloc((c->rows.n + 1) * sizeof(const struct gus_compared_row *));

	for (size_t i = 0; i < c->rows.n; i++)
		rows[i] = &c->rows.v[i];
	if (c->rows.n)
		qsort(rows, c->rows.n, sizeof(*rows), by_samples);
	for (size_t i = 0; i < c->rows.n && v->explained < MATTERS; i++)
		if ((double)rows[i]->samples >= LEAST * (double)v->measured->coverage.samples && rows[i]->instructions)
			add_region(e, v, rows[i]);
	free(rows);
}

/* The model's tree of all that windows have executed, each region as long as it was sampled, against the measured one
 * of the whole. */
static void dispute_whole(const struct explain *e, struct gus_explain_view *v)
{
	double modelled[GUS_NODES_OF_TREE] = { 0 }, slots[GUS_NODES_OF_TREE], covered = 0;

	for (size_t i = 0; i < v->compared->rows.n && v->counts->whole; i++) {
		const struct gus_compared_row *row = &v->compared->rows.v[i];
		double all = 0, samples = (double)row->samples;

		slots_of(e, v->model->traced, row->region, slots);
		for (unsigned k = 0; k < GUS_NODES_OF_TREE; k++)
			all += gus_nodes[k].level == 1 ? slots[k] : 0;
		for (unsigned k = 0; k < GUS_NODES_OF_TREE && all > 0; k++)
			modelled[k] += samples * slots[k] / all;
		covered += all > 0 ? samples : 0;
	}
	for (unsigned k = 0; k < GUS_NODES_OF_TREE && covered > 0; k++)
		modelled[k] /= covered;
	if (covered > 0)
		v->disputes_n = gus_causal_disputes(&v->counts->whole->nodes, modelled, covered /
						    (double)v->measured->coverage.samples, v->disputes);
}

/* What was measured of the same recording, by the same names. */
static int load_counts(struct gus_traced *t, struct gus_reader *reader, struct gus_explain_counts *counts,
		       struct gus_error *err)
{
	const Gusprof__Header *h = gus_reader_header(reader);
	struct gus_symbols_options symbols = { .boot_id = h->host ? h->host->boot_id : NULL,
		.rights = gus_symbols_rights(t->options.symbols) };
	int rc = gus_explain_counts_load(counts, reader, &symbols, err);

	if (rc == 0)
		gus_explain_counts_by_function(counts, t);
	return rc;
}

static int measure(struct explain *e, const struct gus_model_view *model, struct gus_measured *m,
		   struct gus_explain_counts *counts, struct gus_error *err)
{
	const char *path = e->path ? e->path : model->samples;
	struct gus_reader *reader = path ? gus_reader_open(path, err) : NULL;
	int rc = reader ? gus_measured_add(m, model->traced, reader, gus_cli_log(0), err) : -1;

	if (rc == 0)
		rc = load_counts(model->traced, reader, counts, err);
	if (rc == 0 && !(e->seen = gus_pathology_seen_load(model->traced, reader, NULL, err)))
		rc = -1;
	counts->reader = reader; /* whose header its profile has */
	if (!path)
		return gus_fail(err, GUS_E_UNSUPPORTED, "there is nothing to explain: %s", model->windows &&
				*model->windows->why ? model->windows->why : "no sample was taken");
	if (rc == 0 && !m->coverage.samples)
		return gus_fail(err, GUS_E_NOT_FOUND, "there is nothing to explain: %s has no sample", e->name);
	return rc;
}

static void render(const struct explain *e, const struct gus_explain_view *v)
{
	struct gus_fitted fitted;

	if (e->o->format == FORMAT_JSON) {
		gus_explain_json(v);
		return;
	}
	gus_fitted_begin(&fitted, v->screen);
	gus_explain_text(v);
	gus_fitted_end(&fitted);
}

static void view_free(struct gus_explain_view *v)
{
	for (size_t i = 0; i < v->regions.n; i++) {
		free(v->regions.v[i].name);
		free(v->regions.v[i].withheld);
		gus_vec_free(&v->regions.v[i].pathologies);
		gus_explain_answers_free(&v->regions.v[i].answers);
	}
	gus_vec_free(&v->regions);
	gus_explain_facts_free(v->facts);
}

static int has_no_windows(const struct explain *e, struct gus_error *err)
{
	return gus_fail(err, GUS_E_UNSUPPORTED, "there is nothing to explain: %s has no windows of what the program "
			"did; record it without --trace off, or with --trace qemu", e->name);
}

/* In place of what gusprof model prints. */
static int show(void *context, const struct gus_model_view *model, struct gus_error *err)
{
	struct explain *e = context;
	const struct gus_screen screen = gus_screen_of(stdout, &e->o->screen);
	struct gus_measured measured;
	struct gus_compared compared;
	struct gus_explain_counts counts = { .loaded = false };
	struct gus_explain_facts facts = { 0 };
	struct gus_explain_view v = { .model = model, .compared = &compared, .measured = &measured, .screen = &screen,
		.counts = &counts, .facts = &facts, .table = gus_model_table_name(&e->table),
		.calibrated = gus_model_table_calibrated(&e->table), .told = gus_model_table_error(&e->table),
		.whatif = &e->whatif };
	struct gus_compared_options how = { .windows = model->windows && model->windows->taken ?
		model->windows->taken : 1, .told = v.told };
	int rc = -1;

	if (model->inferred)
		return has_no_windows(e, err);
	gus_measured_init(&measured, model->traced);
	if (measure(e, model, &measured, &counts, err) == 0) {
		how.looks = gus_measured_looks(&measured, 0);
		gus_compared_make(&compared, model->traced, &measured, &how);
		add_regions(e, &v);
		dispute_whole(e, &v);
		gus_explain_facts_find(&facts, &v, e->table.uarch);
		render(e, &v);
		gus_compared_free(&compared);
		rc = 0;
	}
	view_free(&v);
	gus_explain_counts_free(&counts);
	gus_measured_free(&measured);
	free(e->seen);
	return rc;
}

/* The trees that counters have measured, where nothing can be modelled; false, without an error: there is none. */
static bool explain_counted(const struct explain *e, const struct gus_error *why)
{
	const struct gus_screen screen = gus_screen_of(stdout, &e->o->screen);
	struct gus_measured measured = { .runs = 0 };
	struct gus_explain_counts counts = { .loaded = false };
	struct gus_explain_facts facts = { 0 };
	struct gus_explain_view v = { .without = why->text, .measured = &measured, .screen = &screen,
		.counts = &counts, .facts = &facts, .whatif = &e->whatif };
	struct gus_view view;
	bool any = e->path && gus_explain_counts_open(&counts, e->path) && counts.whole && counts.profile.samples;

	if (any) {
		measured.coverage.samples = counts.profile.samples;
		gus_view_make(&view, &counts.profile, GUS_BY_FUNCTION, false);
		gus_explain_counts_by_row(&counts, view.of_cell.v);
		for (size_t i = 0; i < view.rows.n && v.explained < MATTERS; i++)
			if (view.rows.v[i].share >= LEAST)
				gus_explain_counted_add(&v, &view, (uint32_t)i);
		gus_explain_facts_find(&facts, &v, NULL);
		render(e, &v);
		view_free(&v);
		gus_view_free(&view);
	}
	gus_explain_counts_free(&counts);
	return any;
}

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	struct explain *e = context;
	struct listeners *l;

	while (e->listeners.n <= stream)
		gus_vec_push(&e->listeners, (struct listeners){ NULL, NULL });
	l = &e->listeners.v[stream];
	l->slots = gus_slotted_listen(&e->slots, program);
	l->heard = gus_heard_listen(&e->heard, program, l->slots);
	return l->heard;
}

/* Processes come and go, and what listens to one of them takes half a megabyte. */
static void leave(void *context, uint32_t stream)
{
	struct explain *e = context;
	struct listeners *l = &e->listeners.v[stream];

	gus_heard_leave(&e->heard, l->heard);
	gus_slotted_leave(&e->slots, l->slots);
	gus_squashes_leave(&e->whatif.squashes, stream);
}

static int run_traced(struct explain *e, struct gus_error *err)
{
	const struct gus_model_process process = { .pid = (int)e->o->pid, .snapshots = SNAPSHOTS,
		.spread_ms = e->o->duration * 1000 / SNAPSHOTS, .window = WINDOW, .replay = e->o->replay };
	struct gus_model_traced m = {
		.uarch = e->table.uarch, .config = &e->table.config, .caches = &e->table.caches,
		.weight = GUS_CAUSAL_MORE, .sets = e->sets, .core = true, .causality = true, .interval = true,
		.listen = listen, .leave = leave, .listen_context = e, .input = e->name, .options = "",
		.warm = e->o->from == FROM_PROCESS,
		.screen = &e->o->screen, .output = &e->output, .expectation = &e->table.expectation,
		.json = e->o->format == FORMAT_JSON, .shower = &e->shower, .executed_only = true,
		.passages = e->whatif.vectorise,
	};

	/* Branch stacks tell which code was executed, and nothing of the memory that it asked for: of a walk over it
	 * all is in L1, and a verdict on that would be none on the program. */
	if (e->path && gus_recording_is_perfs(e->path))
		return has_no_windows(e, err);
	m.sets_n = gus_explain_whatif_sets(&e->whatif, &e->table.config, e->sets, list_sets(e), err);
	if (m.sets_n < 0)
		return -1;
	m.timed = gus_explain_whatif_timed(&e->whatif);
	gus_heard_init(&e->heard, &e->table.caches);
	gus_slotted_init(&e->slots, e->table.config.issue_width);
	return e->path ? gus_model_trace(&m, &process, e->path, err) : gus_model_attached(&m, &process, err);
}

/* A command is recorded first, as record does it. */
static int find_recording(struct explain *e, struct gus_error *err)
{
	const struct explain_options *o = e->o;
	const struct gus_compare_runs runs = { .command = o->command, .repeat = 1, .windows = true,
		.out_is_err = gus_model_output_moves_command(&e->output) };

	if (o->from == FROM_PROCESS)
		return 0;
	if (o->from == FROM_FILE)
		return (e->path = gus_recording_path(o->input, err)) ? 0 : -1;
	if (gus_compare_recordings_make(&e->recordings, &runs, err) != 0)
		return -1;
	e->status = e->recordings.status;
	e->path = gus_format("/proc/self/fd/%d", e->recordings.files.v[0]);
	return 0;
}

static int explain_it(struct explain *e, struct gus_error *err)
{
	struct gus_error why = { 0 };

	if (e->o->from == FROM_COMMAND && /* which was started with standard output as it is */
	    gus_model_output_begin(&e->output, err) != 0)
		return -1;
	if (gus_model_table_load(&e->table, e->o->uarch, e->path, e->name, &why) == 0 && run_traced(e, &why) == 0)
		return 0;
	if ((why.code == GUS_E_UNSUPPORTED || why.code == GUS_E_NOT_FOUND) && explain_counted(e, &why))
		return 0;
	if (e->o->from == FROM_COMMAND && e->table.uarch) /* of which record has said nothing here */
		return gus_fail(err, why.code, "cannot explain '%s': %s; is it too short? gusprof record -- %s says "
				"more", e->name, why.text, e->name);
	*err = why;
	return -1;
}

static int run_all(struct explain *e, struct gus_error *err)
{
	int rc = 0;

	if (gus_explain_whatif_parse(&e->whatif, &e->o->what_if, err) != 0)
		return -1;
	e->shower = (struct gus_model_shower){ show, e };
	e->output = (struct gus_model_output){ .path = e->o->output, .command = e->o->from == FROM_COMMAND,
		.json = e->o->format == FORMAT_JSON };
	if (gus_model_output_open(&e->output, err) != 0)
		return -1;
	e->has_output = true;
	if (e->o->from != FROM_COMMAND)
		rc = gus_model_output_begin(&e->output, err);
	if (rc == 0)
		rc = find_recording(e, err);
	if (rc == 0)
		rc = explain_it(e, err);
	return gus_model_output_end(&e->output, rc, err);
}

static int run(int argc, char **argv)
{
	struct explain_options o = { .input = "gusprof.data", .duration = 5, .screen = GUS_SCREEN_DEFAULTS };
	struct explain e = { .o = &o };
	struct gus_error err = { 0 };
	int status;

	if (gus_options_parse(&gus_verb_explain, &o, &argc, &argv, &status) != 0)
		return status;
	if (o.pathologies) {
		gus_explain_pathologies_list();
		return 0;
	}
	o.command = argc ? argv : NULL;
	e.name = o.from == FROM_COMMAND ? o.command[0] : gus_recording_name(o.input);
	if (run_all(&e, &err) == 0)
		status = e.status;
	else
		status = gus_compare_recordings_failure(&e.recordings, e.has_output && o.from == FROM_PROCESS,
							e.has_output && o.from == FROM_COMMAND, &err);
	gus_slotted_free(&e.slots);
	gus_explain_whatif_free(&e.whatif);
	gus_list_free(&o.what_if);
	gus_vec_free(&e.listeners);
	gus_heard_free(&e.heard);
	gus_compare_recordings_free(&e.recordings);
	gus_model_table_free(&e.table);
	free(e.path);
	return status;
}

const struct gus_verb gus_verb_explain = {
	.name = "explain",
	.synopsis = "[OPTION...] [-- COMMAND [ARG...] | --pid PID | --input FILE]",
	.summary = "Say what would bring the time of a program back.",
	.details = "Without any of these it is gusprof.data that is explained. The exit status is the command's.",
	.options = options,
	.run = run,
	.argument_choices = "@command",
	.inputs = inputs,
	.input_word = "input",
	.input_offset = AT(from),
	.first_by_default = true,
	.words_give = COMMAND,
	.word = "COMMAND",
	.many_words = true,
};
