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
#include "cli/explain/view.h"
#include "cli/model/expected.h"
#include "cli/screen/screen.h"

static const double FEW_SAMPLES = 200, MANIFOLD = 20;

/* A line, folded. text is given up. */
static void say(const struct gus_explain_view *v, const char *first, const char *rest, char *text)
{
	gus_screen_fold(v->screen, stdout, first, rest, text);
	free(text);
}

/* How good the recording is, first. */

static void print_quality(const struct gus_explain_view *v)
{
	const struct gus_coverage *c = &v->measured->coverage;
	const struct gus_model_windows *w = v->model->windows;
	double all = (double)c->samples;

	if (all < FEW_SAMPLES)
		say(v, "# ", "#   ", gus_format("only %" PRIu64 " samples: of a longer run there are more",
						c->samples));
	say(v, "# ", "#   ", gus_format("%.1f %% of the time is in code that %u windows of it executed%s", 100 *
					(double)c->covered / all, w ? w->taken : 1, c->covered < c->samples / 2 ?
					"; of the rest nothing is told, and record --trace qemu, or a longer "
					"recording, would have more" : ""));
	for (size_t i = 0; i < c->elsewhere_n; i++)
		if ((double)c->elsewhere[i].samples >= 0.05 * all)
			say(v, "# ", "#   ", gus_format("not executed: %.1f %% in %s", 100 *
							(double)c->elsewhere[i].samples / all, c->elsewhere[i].name));
	say(v, "# ", "#   ", gus_format("the model is of %s%s", v->table, v->calibrated ? ", as calibrated" :
					" as such (gusprof calibrate makes one of this machine)"));
	if (v->told > 0)
		say(v, "# ", "#   ", gus_format("it is off by %.0f %% in general", 100 * v->told));
	else
		say(v, "# ", "#   ", gus_strdup("how far it is off on whole programs nobody has measured: 25 % are "
						"taken for it"));
	say(v, "# ", "#   ", gus_strdup("the tree is the model's own, of the core engine's slots: no counters of the "
					"hardware are in it"));
}

/* A region. */

static void gain_text(char out[64], const struct gus_causal_node *n)
{
	if (n->high > MANIFOLD)
		snprintf(out, 64, "%.0f %% (%.0f or more)", 100 * n->speedup, 100 * fmax(n->low, 0));
	else
		snprintf(out, 64, "%.0f %% (%.0f to %.0f)", 100 * n->speedup, 100 * fmax(n->low, 0), 100 * n->high);
}

static char *verdict_of(const struct gus_explain_region *r)
{
	const struct gus_causal *v = &r->verdict;
	const struct gus_node_kind *kind = v->cause == GUS_NODE_NONE ? NULL : &gus_nodes[v->cause];
	char gain[64];

	if (r->withheld)
		return gus_format("withheld: %s", r->withheld);
	if (!kind)
		return gus_format("nothing alone or together is worth a change: no resource brings %.0f %%", 100 *
				  GUS_CAUSAL_WORTH);
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

static void print_node(unsigned i, const struct gus_causal_node *n)
{
	int indent = gus_nodes[i].level ? 2 * (int)(gus_nodes[i].level - 1) : 0;
	char gain[64] = "-", slots[16] = "-", promise[16] = "-";

	if (!gus_nodes[i].silent)
		gain_text(gain, n);
	if (gus_nodes[i].level) {
		snprintf(slots, sizeof(slots), "%.1f%%", 100 * n->share);
		if (isfinite(n->promise))
			snprintf(promise, sizeof(promise), "%.0f%%", 100 * n->promise);
	}
	gus_print("  %*s%-*s %7s %9s  %-26s %s\n", indent, "", 24 - indent, gus_nodes[i].name, slots, promise, gain,
		  gus_label_name(n->label));
}

static bool is_shown(const struct gus_causal_node *n, unsigned level)
{
	return level == 1 || n->share >= GUS_CAUSAL_NOTICED || n->speedup >= GUS_CAUSAL_WORTH;
}

static void print_tree(const struct gus_explain_region *r)
{
	printf("  %-24s %7s %9s  %-26s %s\n", "node", "slots", "promises", "gains", "");
	for (unsigned i = 0; i < GUS_NODES; i++)
		if (is_shown(&r->verdict.nodes[i], gus_nodes[i].level))
			print_node(i, &r->verdict.nodes[i]);
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
	print_tree(r);
}

void gus_explain_text(const struct gus_explain_view *v)
{
	print_quality(v);
	if (!v->regions.n)
		say(v, "# ", "#   ", gus_strdup("no function or loop that the windows have executed has 2 % of the "
						"time"));
	for (size_t i = 0; i < v->regions.n; i++)
		print_region(v, &v->regions.v[i]);
	if (v->regions.n)
		say(v, "# ", "#   ", gus_format("these have %.1f %% of the time; slots: of the region's, by what "
			"became of them; promises: what it would gain if these slots were not lost; gains: what the "
			"model's machine gains with %d times as much of all that the node stands for, with its 95 %% "
			"interval", 100 * v->explained, GUS_CAUSAL_MORE));
}
