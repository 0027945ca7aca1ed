/* SPDX-License-Identifier: MIT */
/* What would bring time back, for people: of each region that matters one sentence, what is ruled out, the tree with
 * what its nodes would gain, and what to do next. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/print.h"
#include "cli/common/wording.h"
#include "cli/explain/gain.h"
#include "cli/explain/pathologies.h"
#include "cli/explain/quality.h"
#include "cli/explain/view.h"
#include "cli/model/expected.h"
#include "cli/screen/screen.h"

/* A line, folded. text is given up. */
static void say(const struct gus_explain_view *v, const char *first, const char *rest, char *text)
{
	gus_screen_fold(v->screen, stdout, first, rest, text);
	free(text);
}

/* How good the recording is, first; then what of its tree was measured. */

static char *dispute_text(const struct gus_causal_dispute *d, const char *of)
{
	char measured[48];

	if (d->high - d->low < 0.001)
		snprintf(measured, sizeof(measured), "%.1f %%", 100 * d->high);
	else
		snprintf(measured, sizeof(measured), "%.1f to %.1f %%", 100 * d->low, 100 * d->high);
	return gus_format("the model contradicts what was measured%s: %s has %.1f %% of its slots, and %s by the "
			  "counters", of, gus_nodes[d->node].name, 100 * d->modelled, measured);
}

static bool is_any_measured(const struct gus_explain_view *v)
{
	for (size_t i = 0; i < v->regions.n; i++)
		if (v->regions.v[i].tree.readings)
			return true;
	return false;
}

static void print_quality(const struct gus_explain_view *v)
{
	const char *what = "the tree is the model's own, of the core engine's slots: no counters of the hardware are "
		"in it";

	if (is_any_measured(v))
		what = "trees of functions are measured, where their line says so: a loop has its function's";
	else if (v->counts->whole)
		what = v->model ? "what was counted is of the whole, and of no function by itself: their trees are the "
			"model's own (modelled)" : "what was counted is of the whole, and of no function by itself";
	gus_explain_facts_text(v->facts, v->screen);
	gus_explain_counts_text(v->counts, v->screen);
	for (size_t i = 0; i < v->disputes_n; i++)
		say(v, "# ", "#   ", dispute_text(&v->disputes[i], ""));
	say(v, "# ", "#   ", gus_strdup(what));
}

/* A region. */

static void gain_text(char out[GUS_EXPLAIN_GAIN_TEXT], const struct gus_causal_node *n)
{
	gus_explain_gain_text(out, 0, n->speedup, n->low, n->high);
}

static char *verdict_of(const struct gus_explain_region *r)
{
	const struct gus_causal *v = &r->verdict;
	const struct gus_node_kind *kind = v->cause == GUS_NODE_NONE ? NULL : &gus_nodes[v->cause];
	char gain[64];

	if (r->withheld)
		return gus_format("withheld: %s", r->withheld);
	if (!kind)
		return gus_format("in balance: no part of the tree brings %.0f %% by itself, and only several of them "
				  "together would, or less work", 100 * GUS_CAUSAL_WORTH);
	gain_text(gain, &v->nodes[v->cause]);
	if (v->nodes[v->cause].low < GUS_CAUSAL_WORTH)
		return gus_format("not resolvable: %s would bring %s, which may be nothing", kind->title, gain);
	return gus_format("%s%s: if they cost nearly nothing it would be faster by %s", kind->title,
			  v->together ? ", all together and no one of them" : "", gain);
}

/* What top-down shows and nothing brings back. */
static void print_ruled_out(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	struct gus_wording t = { 0 };

	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++) {
		const struct gus_causal_node *n = &r->verdict.nodes[i];

		if (n->label == GUS_LABEL_RULED_OUT)
			gus_wording_add(&t, "%s%s (%.0f %% of the slots, at most %.1f %%)", t.n ? ", " : "",
					gus_nodes[i].name, 100 * n->share, 100 * fmax(n->high, 0));
	}
	if (t.n)
		gus_screen_fold(v->screen, stdout, "  not       ", "            ", gus_wording_done(&t));
	gus_vec_free(&t);
}

/* What counters say of the node: with its interval, of cycles if it is; "" where they say it for sure. */
static void measured_text(char out[48], const struct gus_causal_share *s)
{
	*out = '\0';
	if (!s->known)
		snprintf(out, 48, "not measured");
	else if (s->low < s->value || s->high > s->value)
		snprintf(out, 48, "%.1f to %.1f%s%s", 100 * s->low, 100 * s->high, s->bounded ? " at most" : "",
			 s->cycles ? ", cycles" : "");
	else if (s->cycles)
		snprintf(out, 48, "of cycles");
}

static void print_node(const struct gus_explain_region *r, unsigned i)
{
	const struct gus_causal_node *n = &r->verdict.nodes[i];
	int indent = gus_nodes[i].level ? 2 * (int)(gus_nodes[i].level - 1) : 0;
	char gain[64] = "-", slots[16] = "-", promise[16] = "-", model[16] = "-", measured[48] = "";

	if (!gus_nodes[i].silent && r->verdict.gains)
		gain_text(gain, n);
	if (n->known) {
		snprintf(slots, sizeof(slots), "%.1f%%", 100 * n->share);
		if (isfinite(n->promise))
			snprintf(promise, sizeof(promise), "%.0f%%", 100 * n->promise);
	}
	gus_print("  %*s%-*s %7s ", indent, "", 24 - indent, gus_nodes[i].name, slots);
	if (r->tree.readings) {
		if (i < GUS_NODES_OF_TREE)
			measured_text(measured, &r->tree.nodes.nodes[i]);
		gus_print("%-22s ", measured);
	}
	if (r->tree.readings && r->verdict.gains) {
		if (i < GUS_NODES_OF_TREE)
			snprintf(model, sizeof(model), "%.1f%%", 100 * n->modelled);
		gus_print("%7s ", model);
	}
	gus_print("%9s  %-26s %s\n", promise, gain, gus_label_name(n->label));
}

static bool is_shown(const struct gus_causal_node *n, unsigned level)
{
	return level == 1 || (n->known && n->share >= GUS_CAUSAL_NOTICED) || n->speedup >= GUS_CAUSAL_WORTH;
}

/* Whose tree it is; "": there is none. */
static char *evidence_of(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	if (r->tree.readings)
		return gus_format("measured, by counters that samples brought along, of its function: %" PRIu64
				  " readings (%s, %s)", r->tree.readings, r->tree.table->title, r->tree.pmu);
	if (v->model)
		return gus_strdup("modelled, by the core engine's own slots");
	return gus_strdup(v->counts->parts.n ? "none, as its function has too few readings of counters" :
			  "none, as counters were read beside the samples alone: of the whole it is above");
}

static void print_tree(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	say(v, "  tree      ", "            ", evidence_of(v, r));
	for (size_t i = 0; i < r->disputes_n; i++)
		say(v, "  but       ", "            ", dispute_text(&r->disputes[i], " here"));
	if (!r->tree.readings && !v->model)
		return;
	printf("  %-24s %7s ", "node", "slots");
	if (r->tree.readings)
		printf("%-22s %s", "measured", r->verdict.gains ? "  model " : "");
	printf("%9s  %-26s %s\n", "promises", "gains", "");
	for (unsigned i = 0; i < GUS_NODES; i++)
		if (is_shown(&r->verdict.nodes[i], gus_nodes[i].level))
			print_node(r, i);
}

static void print_insns(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	struct gus_wording t = { 0 };

	for (size_t i = 0; i < r->insns_n; i++)
		gus_wording_add(&t, "%s%s+0x%" PRIx64 " %s (%.0f %%)", i ? "; " : "", r->function ? r->function :
				"[unknown]", r->insns[i].offset, r->insns[i].text, 100 * r->insns[i].charged);
	if (t.n)
		gus_screen_fold(v->screen, stdout, "  by        ", "            ", gus_wording_done(&t));
	gus_vec_free(&t);
}

static void print_region(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	const char *next = r->withheld || r->verdict.cause == GUS_NODE_NONE ? NULL : gus_nodes[r->verdict.cause].next;

	gus_print("\n%s: %.1f%% of the time\n", r->name, 100 * r->share);
	say(v, "  verdict   ", "            ", verdict_of(r));
	if (!r->withheld)
		print_insns(v, r);
	print_ruled_out(v, r);
	if (next)
		say(v, "  next      ", "            ", gus_strdup(next));
	gus_explain_pathologies_text(v, r);
	gus_explain_whatif_text(v->whatif, &r->answers, v->screen);
	print_tree(v, r);
}

void gus_explain_text(const struct gus_explain_view *v)
{
	print_quality(v);
	if (!v->regions.n)
		say(v, "# ", "#   ", gus_strdup(v->model ? "no function or loop that the windows have executed has 2 % "
						"of the time" : "no function has 2 % of the time"));
	for (size_t i = 0; i < v->regions.n; i++)
		print_region(v, &v->regions.v[i]);
	if (v->regions.n && !v->model)
		say(v, "# ", "#   ", gus_format("these have %.1f %% of the time; slots: of the function's, by what "
			"became of them; promises: what it would gain if these slots were not lost",
			100 * v->explained));
	else if (v->regions.n)
		say(v, "# ", "#   ", gus_format("these have %.1f %% of the time; slots: of the region's, by what "
			"became of them; promises: what it would gain if these slots were not lost; gains: what the "
			"model's machine gains with %d times as much of all that the node stands for, with its "
			"interval", 100 * v->explained, GUS_CAUSAL_MORE));
}
