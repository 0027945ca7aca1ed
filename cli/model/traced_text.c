/* SPDX-License-Identifier: MIT */
/* A traced run for people: where the time goes, and what would make it less. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/routes/routes.h"
#include "attribution/traced/lines.h"
#include "attribution/traced/regions.h"
#include "base/path.h"
#include "cli/common/calibrated.h"
#include "cli/common/print.h"
#include "cli/common/recording.h"
#include "cli/model/expected.h"
#include "cli/model/phases.h"
#include "cli/model/view.h"
#include "cli/screen/cells.h"
#include "cli/screen/fitted.h"
#include "cli/screen/screen.h"
#include "cli/screen/shorten.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/tables/uarch.h"
#include "model/watch/access.h"
#include "symbolizer/insn/insn.h"

enum { ROWS = 12, INSNS = 64, KNOBS = 10 };

/* "12.3 M" */
static void print_count(double n)
{
	static const char *const units[] = { "", " k", " M", " G", " T" };
	size_t u = 0;

	for (; n >= 10000 && u + 1 < sizeof(units) / sizeof(*units); u++)
		n /= 1000;
	gus_print(u ? "%.1f%s" : "%.0f%s", n, units[u]);
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

/* What it rests on. */
static void print_inferred(const struct gus_routes *r, bool measured)
{
	uint64_t all = 0;

	if (r->source == GUS_ROUTES_SAMPLES) {
		printf("What was executed is inferred from %" PRIu64 " samples: each block's by its weight, branches "
		       "fitted to that, none mispredicted%s.\n", r->samples, measured ? " but where that was measured" :
		       "");
		return;
	}
	for (unsigned i = 0; i < GUS_RANGE_VERDICTS; i++)
		all += r->ranges[i];
	printf("What was executed is inferred from %" PRIu64 " branch stacks, %" PRIu64 " of %" PRIu64 " stretches "
	       "between branches; branches are "
	       "mispredicted as often as these say.\n", r->stacks, r->ranges[GUS_RANGE_GOOD], all);
}

/* Programs that the command became or forked off, in the order in which they began; of many those with the most
 * cycles. */
static int by_program_cycles(const void *a, const void *b)
{
	const struct gus_traced_program *const *x = a, *const *y = b;

	if ((*x)->cycles > (*y)->cycles || (*y)->cycles > (*x)->cycles)
		return (*x)->cycles > (*y)->cycles ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

static int by_beginning(const void *a, const void *b)
{
	const struct gus_traced_program *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_program(const struct gus_traced *t, const struct gus_traced_program *p)
{
	printf("  %6.2f%%  ", 100 * ratio(p->cycles, t->cycles[0]));
	printf("%9.2f%%  %5.2f  %8u  ", 100 * ratio((double)p->instructions, (double)(t->instructions - t->warmed)),
	       ratio((double)p->instructions, p->cycles), p->pid);
	gus_print("%s", *p->name ? p->name : "[unknown]");
	if (p->trouble)
		gus_print(" (not whole: %s)", p->trouble);
	putchar('\n');
}

static void print_programs(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;
	const struct gus_traced_program **list = gus_zalloc((t->programs.n + 1) * sizeof(*list));
	size_t n = t->programs.n, shown = v->model->rows && v->model->rows < n ? v->model->rows : n;

	for (size_t i = 0; i < n; i++)
		list[i] = &t->programs.v[i];
	if (!v->model->rows && n > ROWS)
		shown = ROWS;
	qsort(list, n, sizeof(*list), by_program_cycles);
	qsort(list, shown, sizeof(*list), by_beginning);
	printf("\n  cycles       instr.   IPC   process  program\n");
	for (size_t i = 0; i < shown; i++)
		print_program(t, list[i]);
	if (shown < n)
		printf("  %zu more have fewer cycles\n", n - shown);
	free(list);
}

/* In percent; less than a hundredth is not worth more digits. */
static double error_shown(double error)
{
	return 100 * error > 0.01 ? 100 * error : 0.01;
}

static void print_sampled(const struct gus_traced *t)
{
	printf("  %.3g %% of it was timed, as a sample; by sampling alone (95 %%) cycles may be off by %.2g %%",
	       100 * ratio((double)t->ops_timed, (double)t->ops_run),
	       error_shown(gus_traced_cycles_error(t->cycles[0], t->errors)));
	if (t->knobs_n)
		printf(", speedups by %.2g points", error_shown(gus_traced_speedup_error(t, t->errors)));
	printf("; --lanes all times all of it\n");
}

/* The stream engine's are the figures of all else. */
static void print_core(const struct gus_traced *t, double instructions)
{
	printf("  by the core engine ");
	print_count(t->core_cycles);
	printf(" cycles, %.2f instructions a cycle: the stream engine is %+.1f%% from it\n",
	       ratio(instructions, t->core_cycles), 100 * (ratio(t->cycles[0], t->core_cycles) - 1));
}

static void print_head(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;
	uint64_t counted = t->instructions - t->warmed;

	if (v->command)
		for (size_t i = 0; i < v->command_n; i++)
			gus_print("%s%s", i ? " " : "", v->command[i]);
	else if (v->windows && !v->input)
		printf("process %d", v->windows->process->pid);
	else
		gus_print("%s", gus_recording_name(v->input));
	gus_print(" on %s (modelled: nothing was measured)\n", v->model->uarch->name);
	gus_calibrated_text(v->model->uarch);
	if (v->inferred)
		print_inferred(v->inferred, v->model->observed != NULL);
	if (v->trouble)
		gus_print("The trace is not whole: %s\n", v->trouble);
	if (v->empty)
		printf("Of %u program%s nothing came: %s not be begun\n", v->empty, v->empty == 1 ? "" : "s",
		       v->empty == 1 ? "it could" : "they could");
	if (t->full)
		printf("The trace has stopped to grow before the program ended: what came after is missing\n");
	if (t->omitted)
		printf("%" PRIu64 " accesses are not in it: they were too many of one block\n", t->omitted);
	/* What its writer had to say of a command was said when it came. */
	for (size_t i = v->command ? t->notices_told : 0; i < t->notices.n; i++)
		gus_print("Of the trace: %s\n", t->notices.v[i]);
	printf("\n  ");
	print_count((double)counted);
	printf(" instructions, ");
	print_count(t->cycles[0]);
	printf(" cycles, %.2f instructions a cycle", ratio((double)counted, t->cycles[0]));
	if (gus_traced_threads(t) > t->programs.n && !v->windows)
		printf(", %zu threads one after the other", gus_traced_threads(t));
	else if (t->programs.n > 1 && !v->windows)
		printf(", %zu programs one after the other", t->programs.n);
	putchar('\n');
	gus_model_expected_text(v->model->expectation, "all");
	if (v->model->core && !t->core_stopped)
		print_core(t, (double)counted);
	if (t->ops_timed < t->ops_run)
		print_sampled(t);
	if (v->model->interval && v->model->warm) {
		printf("  as if all that was touched for the first time had been in the caches; up to ");
		print_count(t->other_cycles);
		printf(" cycles if nothing had\n");
	} else if (v->model->interval) {
		printf("  as if the caches had been empty; from ");
		print_count(t->other_cycles);
		printf(" cycles on if all that was touched for the first time had been there\n");
	}
	if (t->warmed) {
		printf("  after a warm-up of ");
		print_count((double)t->warmed);
		printf(" instructions, which is not counted\n");
	}
	printf("  %.2f%% of the instructions have a row in the table\n",
	       100 - 100 * ratio(t->program->unknown, t->program->insns_n));
	if (t->programs.n > 1 && !v->windows)
		print_programs(v);
}

/* Those with a hundredth of the samples. */
static void print_elsewhere(const struct gus_model_windows *w)
{
	for (size_t i = 0; i < w->coverage.elsewhere_n && w->coverage.elsewhere[i].samples * 100 >= w->coverage.samples;
	     i++) {
		gus_print("    %5.1f%% are elsewhere: %s\n", 100 * ratio((double)w->coverage.elsewhere[i].samples,
			  (double)w->coverage.samples), w->coverage.elsewhere[i].name);
	}
}

static void print_pauses(const struct gus_model_windows *w)
{
	printf("  %u window%s of up to ", w->taken, w->taken == 1 ? "" : "s");
	print_count((double)w->process->window);
	printf(" instructions each, from snapshots of up to %.1f MB; the process stood still for %.1f ms at most, %.1f "
	       "ms in all\n",
	       (double)w->bytes_most / 1e6, (double)w->pause_most_ns / 1e6, (double)w->pause_ns / 1e6);
	if (w->native)
		printf("  %u of them by steps of a copy, as the emulator does not know all of its instructions\n",
		       w->native);
}

static void print_windows(const struct gus_model_windows *w)
{
	putchar('\n');
	if (w->taken)
		print_pauses(w);
	if (w->coverage.samples) {
		printf("  %.1f%% of the %" PRIu64 " samples%s are of code that the %s\n",
		       100 * ratio((double)w->coverage.covered, (double)w->coverage.samples),
		       w->coverage.samples, w->process->pid ? " taken meanwhile" : "", w->taken ? "windows have" :
			       "trace has");
		print_elsewhere(w);
	} else {
		gus_print("  how much of its time that is about is not known: %s\n", w->why);
	}
	if (w->failed)
		gus_print("  %u more could not be had; the first: %s\n", w->failed, w->first.text);
}

static void print_memory(const struct gus_traced *t)
{
	static const char *const names[GUS_HITS] = { "L1", "L2", "L3", "memory" };
	uint64_t hits[GUS_HITS] = { 0 }, all = 0, walks = 0, unknown = 0;

	for (size_t i = 0; i < t->memories.n; i++) {
		for (int level = 0; level < GUS_HITS; level++)
			hits[level] += t->memories.v[i].hits[level];
		all += t->memories.v[i].accesses;
		walks += t->memories.v[i].walks;
		unknown += t->memories.v[i].unknown - t->memories.v[i].blind;
	}
	printf("\n  accesses ");
	print_count((double)all);
	for (int level = 0; level < GUS_HITS; level++)
		gus_print("%s %s %.2f%%", level ? "," : ":", names[level],
			  100 * ratio((double)hits[level], (double)all));
	printf("; page walks %.3f%%", 100 * ratio((double)walks, (double)all));
	if (unknown)
		printf("; %" PRIu64 " without an address, as if they hit L1", unknown);
	putchar('\n');
}

static void print_branches(const struct gus_traced *t)
{
	uint64_t branches = 0, wrong = 0;

	for (size_t i = 0; i < t->blocks.n; i++) {
		branches += t->blocks.v[i].branches;
		wrong += t->blocks.v[i].mispredicted;
	}
	printf("  branches ");
	print_count((double)branches);
	printf(": %.2f%% mispredicted, %.2f in 1000 instructions\n", 100 * ratio((double)wrong, (double)branches),
	       1000 * ratio((double)wrong, (double)(t->instructions - t->warmed)));
}

static void print_rests(const struct gus_traced_rests *r)
{
	const uint64_t parts[] = { r->measured, r->simulated, r->unknown };
	const double all = (double)r->measured + (double)r->simulated + (double)r->unknown;

	for (unsigned i = 0; i < 3; i++) {
		if (all > 0)
			printf("  %6.2f%%", 100 * (double)parts[i] / all);
		else
			printf("        -");
	}
}

static void print_rests_of(const struct gus_model_view *v, uint32_t region, const char *name)
{
	const struct gus_traced_rests_of of = gus_traced_rests(v->traced, region);

	printf("  ");
	print_rests(&of.accesses);
	print_rests(&of.branches);
	gus_print("  %s\n", name);
}

/* What levels and mispredictions rest on: of all, and of regions that are shown. */
static void print_rates(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;

	if (!v->model->observed)
		return;
	gus_print("\n  how often accesses miss and branches are mispredicted is, where it was measured, what samples "
		  "of %s say\n", v->model->rates_of);
	printf("    of accesses:               of branches:\n"
	       "    %7s  %7s  %7s  %7s  %7s  %7s\n", "meas.", "model", "unknown", "meas.", "model", "unknown");
	print_rests_of(v, GUS_TRACED_NONE, "all");
	for (size_t i = 0; i < v->regions_n && i < (v->model->rows ? v->model->rows : ROWS); i++) {
		char name[256];

		if (!v->model->rows && t->regions.v[v->order[i]].cycles[0] < 0.01 * t->cycles[0])
			break;
		gus_traced_region_name(t, v->order[i], name, sizeof(name));
		print_rests_of(v, v->order[i], name);
	}
}

/* The knobs that gain the most of some cycles. */
static size_t best_knobs(const struct gus_traced *t, const double *cycles, int best[], size_t room)
{
	size_t n = 0;

	for (int i = 0; i < t->knobs_n; i++) {
		size_t k;

		if (!*t->knobs[i].name)
			continue;
		k = n < room ? n++ : room;

		for (; k && cycles[i + 1] < cycles[best[k - 1] + 1]; k--)
			if (k < room)
				best[k] = best[k - 1];
		if (k < room)
			best[k] = i;
	}
	return n;
}

static void print_sensitivity(const struct gus_model_view *v, const double *cycles, const char *indent, size_t most)
{
	const struct gus_traced *t = v->traced;
	int best[KNOBS];
	size_t n = best_knobs(t, cycles, best, most < KNOBS ? most : KNOBS);

	for (size_t i = 0; i < n; i++) {
		double speedup = ratio(cycles[0], cycles[best[i] + 1]) - 1;

		if (speedup < 0.001)
			break;
		gus_print("%s%-28s %6.2f%%  ", indent, t->knobs[best[i]].name, 100 * speedup);
		for (int k = 0; k < (int)lround(speedup * 200) && k < 40; k++)
			putchar('#');
		putchar('\n');
	}
	if (n && ratio(cycles[0], cycles[best[0] + 1]) - 1 < 0.001)
		gus_print("%snothing alone\n", indent);
}

/* A region's name and module, in as many cells as are left of a line; the module is given up first. */
static void print_region_name(const struct gus_screen *s, const char *name, const char *module, size_t used)
{
	size_t room = s->width > used + 16 ? s->width - used : 16, all;
	char *shown;

	all = gus_cells(name, strlen(name)) + (*module ? 4 + gus_cells(module, strlen(module)) : 0);
	if (!s->width || s->full_names || all <= room) {
		gus_print("  %s", name);
		if (*module)
			gus_print("  [%s]", module);
		return;
	}
	shown = gus_shorten(name, GUS_SHORTEN_NAME, room, s->dots);
	gus_print("  %s", shown);
	free(shown);
}

/* What would gain the most there. What gains nothing, or less than that, is none: see gusprof-model(1). */
static void print_best(const struct gus_traced *t, const struct gus_traced_region *r, int knob)
{
	double speedup = ratio(r->cycles[0], r->cycles[knob + 1]) - 1;

	if (speedup >= 0.00005)
		gus_print("  %-22s %6.2f%%", t->knobs[knob].name, 100 * speedup);
	else
		printf("  %-22s       -", "nothing alone");
}

static void print_regions(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;
	size_t rows = v->model->rows ? v->model->rows : ROWS;
	bool sampled = v->windows && v->windows->coverage.samples;
	/* What would gain is said above of all; where there is no room it is names that count. */
	bool gains = t->knobs_n && (!v->screen->width || v->screen->width >= 110);
	size_t used = 30 + 9u * sampled + 10u * v->model->causality + 32u * gains;
	bool width = false;

	printf("\n  cycles %s      instr.   IPC%s%s  %s\n", sampled ? "  samples" : "", v->model->causality ?
	       "   holds up" : "", gains ? "  most with more of        gains" : "",
	       "region");
	for (size_t i = 0; i < v->regions_n && i < rows; i++) {
		const struct gus_traced_region *r = &t->regions.v[v->order[i]];
		char name[256];
		int best[1];

		if (!v->model->rows && r->cycles[0] < 0.01 * t->cycles[0])
			break;
		gus_traced_region_name(t, v->order[i], name, sizeof(name));
		printf("  %6.2f%%  ", 100 * ratio(r->cycles[0], t->cycles[0]));
		if (sampled)
			printf("%6.2f%%  ", 100 * ratio((double)v->windows->coverage.by_region[v->order[i]],
							(double)v->windows->coverage.samples));
		printf("%9.2f%%  %5.2f", 100 * ratio((double)r->instructions, (double)(t->instructions - t->warmed)),
		       ratio((double)r->instructions, r->cycles[0]));
		if (v->model->causality)
			printf("   %6.2f%%", 100 * ratio(r->charged, t->cycles[0]));
		if (gains && best_knobs(t, r->cycles, best, 1))
			print_best(t, r, best[0]);
		width |= ratio((double)r->instructions, r->cycles[0]) > v->model->config->issue_width;
		print_region_name(v->screen, name, gus_base_name(t->functions.v[r->function].module), used);
		putchar('\n');
	}
	if (width)
		printf("  an IPC above %u, which are issued in a cycle: two instructions that are fused are one "
		       "there, and what was done while others waited took no time of its own\n",
		       v->model->config->issue_width);
	if (v->model->causality)
		printf("  holds up: what of the time all else waited for it; a function stands without its loops, a "
		       "loop without inner ones\n");
}

/* A share that is shown as nothing has no sign. */
static void print_share(bool there, double part, double whole)
{
	double percent = 100 * ratio(part, whole);

	if (there)
		printf(" %6.2f%%", percent < 0 && percent > -0.005 ? 0 : percent);
	else
		printf("       -");
}

static void print_line(const struct gus_model_view *v, const struct gus_traced_line *l)
{
	const struct gus_traced *t = v->traced;

	printf("  %12" PRIx64 " %10" PRIu64, l->address, l->executed);
	if (l->fused)
		printf("   fused%s", v->model->causality ? "        " : "");
	else
		print_share(true, l->own, t->cycles[0]);
	if (!l->fused && v->model->causality)
		print_share(true, l->charged, t->cycles[0]);
	print_share(l->accesses, (double)l->missed, (double)l->accesses);
	print_share(l->branches, (double)l->mispredicted, (double)l->branches);
	gus_print("  %s\n", l->text);
}

/* Of a long region those with a hundredth of its time, or that hold up a hundredth of it. */
static bool is_shown(const struct gus_traced_line *l, size_t n, double cycles)
{
	return n <= INSNS || l->own >= 0.01 * cycles || l->charged >= 0.01 * cycles;
}

/* The block that an op is of, or NULL. */
static const struct gus_traced_block *block_of(const struct gus_traced *t, uint32_t op)
{
	for (size_t i = 0; i < t->blocks.n; i++)
		if (op >= t->blocks.v[i].ops.op && op <= t->blocks.v[i].ops.taken)
			return &t->blocks.v[i];
	return NULL;
}

static void print_hop(const struct gus_traced *t, const struct gus_cause *hop)
{
	static const char *const levels[GUS_HITS] = { "L1", "L2", "L3", "memory" };
	static const char *const buses[] = { "L2", "L3", "memory", "page walkers" };
	const struct gus_op *op = &t->program->ops[hop->op];
	const struct gus_traced_block *b = block_of(t, hop->op);
	uint64_t address = t->program->insns[op->insn].offset;
	struct gus_insn text = { .text = "" };
	char name[64] = "";
	const char *of = hop->hop == GUS_HOP_PORTS ? name : hop->hop == GUS_HOP_LEVEL ? levels[hop->number % GUS_HITS] :
		hop->hop == GUS_HOP_BUS ? buses[hop->number % 4] : "";

	if (b)
		gus_insn_decode(t->isa, b->bytes + (address - b->address), b->size - (address - b->address), address,
				&text);
	if (hop->hop == GUS_HOP_PORTS)
		gus_sensitivity_group_name(t->program, t->groups_of_ports.ports[hop->number], name, sizeof(name));
	gus_print("    %12" PRIx64 "  %-40s  %s%s%s: %.1f cycles\n", address, text.text, gus_hop_name(hop->hop),
		  *of ? " " : "", of, hop->cycles);
}

/* What the time goes round in there: the heaviest circle that begins in the region. */
static void print_circle(const struct gus_model_view *v, uint32_t region)
{
	const struct gus_traced *t = v->traced;

	for (size_t i = 0; i < t->circles_n; i++) {
		const struct gus_circle *c = &t->circles[i];
		const struct gus_traced_block *b = block_of(t, c->steps[0].op);

		if (!b || b->region != region)
			continue;
		printf("\n  there the time goes round in this chain, again and again:\n");
		for (size_t k = 0; k < c->n; k++)
			print_hop(t, &c->steps[k]);
		return;
	}
}

/* The instructions of the region with the most cycles. */
static void print_instructions(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;
	const struct gus_traced_region *r = &t->regions.v[v->order[0]];
	struct gus_traced_lines lines = { 0 };
	size_t printed = 0, negative = 0;
	char name[256];

	gus_traced_lines_find(t, v->order[0], NULL, &lines);
	gus_traced_region_name(t, v->order[0], name, sizeof(name));
	gus_print("\n  instructions of %s", name);
	printf("\n       address      times  cycles%s    miss   mispr.\n", v->model->causality ? "   holds" : "");
	for (size_t i = 0; i < lines.n; i++)
		if (is_shown(&lines.v[i], lines.n, r->cycles[0])) {
			print_line(v, &lines.v[i]);
			printed++;
			negative += lines.v[i].charged < -0.00005 * t->cycles[0];
		}
	if (printed < lines.n)
		printf("  %zu more have less than a hundredth of its time\n", lines.n - printed);
	if (negative && v->model->causality)
		printf("  what holds less than nothing has its result before it is read: as much stands with what "
		       "else the reader waits for\n");
	gus_vec_free(&lines);
	if (v->model->causality)
		print_circle(v, v->order[0]);
}

/* Where an op of the program is, as an address. */
static uint64_t address_of(const struct gus_traced *t, uint32_t op)
{
	return t->program->insns[t->program->ops[op].insn].offset;
}

static void print_pairs(const struct gus_traced *t)
{
	enum { PAIRS = 8 };

	printf("\n  %.2f%% of the loads read what a recent store wrote; %" PRIu64 " of them were blocked\n",
	       100 * ratio((double)t->carried.carried, (double)t->carried.loads), t->carried.blocked);
	if (t->pairs_n)
		printf("         store          load      times   iterations between\n");
	for (size_t i = 0; i < t->pairs_n && i < PAIRS; i++) {
		const struct gus_carried_pair *p = &t->pairs[i];
		int distance = gus_carried_distance(p);

		printf("  %12" PRIx64 "  %12" PRIx64 " %10" PRIu64 "   ", address_of(t, p->store),
		       address_of(t, p->load), p->times);
		if (distance < 0)
			printf("other regions\n");
		else
			printf("%d%s\n", distance, distance ? ": carried by the loop" : "");
	}
}

struct group_of { uint32_t memory; uint64_t accesses; };

static int by_accesses(const void *a, const void *b)
{
	const struct group_of *x = a, *y = b;

	return x->accesses != y->accesses ? (x->accesses < y->accesses ? 1 : -1) : x->memory < y->memory ? -1 :
		x->memory > y->memory;
}

/* The distance within which half of the reuses lie, in lines. */
static uint64_t median_reuse(const struct gus_access_group *g)
{
	uint64_t all = 0, sum = 0;
	unsigned k = 0;

	for (unsigned i = 0; i < GUS_ACCESS_REUSE; i++)
		all += g->reuse[i];
	for (; k + 1 < GUS_ACCESS_REUSE && (sum += g->reuse[k]) * 2 < all; k++)
		;
	return k ? (1ull << k) - 1 : 0;
}

static void print_groups(const struct gus_traced *t)
{
	enum { GROUPS = 12 };
	struct group_of *list = gus_zalloc((t->program->memories_n + 1) * sizeof(*list));

	for (uint32_t i = 0; i < t->program->memories_n; i++)
		list[i] = (struct group_of){ i, t->groups[i].accesses };
	qsort(list, t->program->memories_n, sizeof(*list), by_accesses);
	printf("\n       address   accesses   stride (times)      lines   reused within\n");
	for (uint32_t op = 0, n = 0; n < GROUPS && n < t->program->memories_n && list[n].accesses; n++) {
		const struct gus_access_group *g = &t->groups[list[n].memory];

		for (op = 0; op + 1 < t->program->ops_n && !(list[n].memory >= t->program->ops[op].memory &&
		     list[n].memory < t->program->ops[op].memory + t->program->ops[op].memories_n); op++)
			;
		printf("  %12" PRIx64 " %10" PRIu64, address_of(t, op), g->accesses);
		if (g->stride_times)
			printf("  %7" PRId64 " (%3.0f%%)", g->stride,
			       100 * ratio((double)g->stride_times, (double)g->accesses - 1));
		else
			printf("     none       ");
		printf("  %8" PRIu64 "%s   %" PRIu64 " lines\n", g->lines, g->lines_exact ? " " : "~", median_reuse(g));
	}
	free(list);
}

void gus_model_traced_text(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;
	struct gus_model_phases phases;
	struct gus_fitted fitted;

	gus_fitted_begin(&fitted, v->screen);
	print_head(v);
	if (v->windows)
		print_windows(v->windows);
	print_memory(t);
	print_branches(t);
	print_rates(v);
	if (t->knobs_n) {
		printf("\n  faster with %.0f%% more of\n", 100 * (v->model->weight - 1));
		print_sensitivity(v, t->cycles, "  ", KNOBS);
	}
	print_regions(v);
	gus_model_engines_text(v);
	if (v->regions_n)
		print_instructions(v);
	if (v->model->memory) {
		print_groups(t);
		print_pairs(t);
	}
	if (v->model->phases) {
		putchar('\n');
		gus_model_name_phases(v, &phases);
		gus_model_phases_text(&phases);
	}
	gus_fitted_end(&fitted);
}
