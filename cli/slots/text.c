/* SPDX-License-Identifier: MIT */
/* Trees of the top-down method as text: a line for each node, parts below their parent. */
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/recorded.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/common/print.h"
#include "cli/screen/screen.h"
#include "cli/slots/slots.h"

struct tree_text {
	FILE *out;
	const char *before;     /* of each line; NULL: nothing */
	const struct gus_screen *screen;
	int names;              /* cells for the longest name and what is before it */
	bool marked;            /* a node was marked as worth looking at */
};

void gus_slots_percent(char *text, size_t room, double share, int digits)
{
	bool below = share < 0;

	if (below)
		*text = '-';
	gus_fixed_format(text + below, room - below, 100 * (below ? -share : share), digits);
}

static void measure(void *context, const struct gus_topdown *t, const struct gus_topdown_tree *tree, size_t node,
		    unsigned depth)
{
	struct tree_text *text = context;
	int cells = (int)(2 * depth + strlen(t->nodes.v[node].name) + (tree->shares[node].above ? 2 : 0));

	text->names = cells > text->names ? cells : text->names;
}

/* How sure a share is, or "" where there is nothing to be unsure of. */
static void sureness_text(const struct gus_topdown_share *s, char *text, size_t room)
{
	char low[32], high[32], seen[32];

	*text = '\0';
	if (s->sureness == GUS_TOPDOWN_WHOLE)
		return;
	gus_slots_percent(low, sizeof(low), s->low, 1);
	gus_slots_percent(high, sizeof(high), s->high, 1);
	gus_slots_percent(seen, sizeof(seen), s->seen, 0);
	if (s->sureness == GUS_TOPDOWN_DRAWN) {
		snprintf(text, room, "95%%: %s .. %s", low, high);
		return;
	}
	snprintf(text, room, s->sureness == GUS_TOPDOWN_SERIES ? "95%%: %s .. %s (counted %s %% of the time)" :
		 "not outside %s .. %s (counted %s %% of the time)", low, high, seen);
}

/* What stands behind a name: on its line if it fits there, else on one of its own. */
#define BELOW "                            "
static size_t put(const struct tree_text *text, size_t used, int blanks, const char *piece)
{
	size_t cells = (size_t)blanks + strlen(piece);

	if (text->screen->width && used + cells > text->screen->width && used > sizeof(BELOW)) {
		const char *mark = text->before && *text->before == '#' ? "#" : "";

		gus_text_print(text->out, "\n%s%s%s", mark, BELOW, piece);
		return strlen(mark) + sizeof(BELOW) - 1 + strlen(piece);
	}
	gus_text_print(text->out, "%*s%s", blanks, "", piece);
	return used + cells;
}

static void print_node(void *context, const struct gus_topdown *t, const struct gus_topdown_tree *tree, size_t i,
		       unsigned depth)
{
	struct tree_text *text = context;
	const struct gus_topdown_node *node = &t->nodes.v[i];
	const struct gus_topdown_share *s = &tree->shares[i];
	char share[32], sure[128], name[96], *title;
	size_t used;

	gus_slots_percent(share, sizeof(share), s->value, 1);
	sureness_text(s, sure, sizeof(sure));
	snprintf(name, sizeof(name), "%*s%s%s", (int)(2 * depth), "", node->name, s->above ? " *" : "");
	text->marked |= s->above;
	gus_text_print(text->out, "%s%18s %%  %s", text->before ? text->before : "", share, name);
	used = (text->before ? strlen(text->before) : 0) + 22 + strlen(name);
	title = gus_format("%s%s", node->title, node->unit == GUS_TOPDOWN_CYCLES ? " (of cycles)" : "");
	used = put(text, used, text->names - (int)strlen(name) + 2, title);
	free(title);
	if (*sure)
		put(text, used, 2, sure);
	putc('\n', text->out);
}

static void fold(const struct tree_text *text, char *note)
{
	gus_screen_fold(text->screen, text->out, "# ", "#   ", note);
	free(note);
}

static void note_sum(const struct tree_text *text, const char *name, const char *why,
		     const struct gus_topdown_share *s)
{
	char rest[32], allowed[32];

	if (gus_topdown_adds_up(s))
		return;
	gus_slots_percent(rest, sizeof(rest), s->rest, 2);
	gus_slots_percent(allowed, sizeof(allowed), s->allowed, 2);
	fold(text, gus_format("the parts of %s do not add up to it: %s %% are left over, and %s %% may be%s%s", name,
			      rest, allowed, why ? ": " : "", why ? why : ""));
}

/* What the method has changed, and what does not add up. */
static void print_notes(const struct tree_text *text, const struct gus_topdown *t, const struct gus_topdown_tree *tree)
{
	for (size_t i = 0; i < t->nodes.n; i++) {
		const struct gus_topdown_node *node = &t->nodes.v[i];
		const struct gus_topdown_share *s = &tree->shares[i];
		char floored[32];

		if (s->known && s->floored > 0) {
			gus_slots_percent(floored, sizeof(floored), -s->floored, 2);
			fold(text, gus_format("%s would be %s %%, and the method makes that 0", node->name, floored));
		}
		if (s->known && s->uncorrected)
			fold(text, gus_format("%s is not corrected (%s): what that needs was not counted", node->name,
					      node->correction_why));
		if (s->known)
			note_sum(text, node->name, node->within_why, s);
	}
	note_sum(text, "all slots", t->root_within_why, &tree->roots[GUS_TOPDOWN_SLOTS]);
	note_sum(text, "all cycles", NULL, &tree->roots[GUS_TOPDOWN_CYCLES]);
	if (text->marked)
		fold(text, gus_strdup("* large enough to look at"));
}

static void walk_below(const struct gus_topdown *t, const struct gus_topdown_tree *tree, uint32_t parent,
		       unsigned depth, gus_slots_visit *visit, void *context)
{
	for (uint32_t i = 0; i < t->nodes.n; i++)
		if (t->nodes.v[i].parent == parent && tree->shares[i].known) {
			visit(context, t, tree, i, depth);
			walk_below(t, tree, i, depth + 1, visit, context);
		}
}

void gus_slots_walk(const struct gus_topdown *t, const struct gus_topdown_tree *tree, gus_slots_visit *visit,
		    void *context)
{
	walk_below(t, tree, GUS_TOPDOWN_ROOT, 0, visit, context);
}

void gus_slots_text(FILE *out, const struct gus_screen *screen, const char *before, bool notes,
		    const struct gus_topdown *t, const struct gus_topdown_tree *tree)
{
	struct tree_text text = { .out = out, .before = before, .screen = screen };

	gus_slots_walk(t, tree, measure, &text);
	gus_slots_walk(t, tree, print_node, &text);
	if (notes)
		print_notes(&text, t, tree);
}

static bool is_any_known(const struct gus_topdown *t, const struct gus_topdown_tree *tree)
{
	for (size_t i = 0; i < t->nodes.n; i++)
		if (tree->shares[i].known)
			return true;
	return false;
}

void gus_slots_amount(const struct gus_topdown_tree *tree, char text[96])
{
	static const struct { double scale; const char *prefix; } prefixes[] = { { 1e9, " G" }, { 1e6, " M" },
		{ 1e3, " k" }, { 1, "" } };
	char number[32], time[48];
	size_t i = 0;

	*text = '\0';
	if (!(tree->slots >= 0))
		return;
	while (i < 3 && tree->slots < prefixes[i].scale)
		i++;
	gus_fixed_format(number, sizeof(number), tree->slots / prefixes[i].scale, i < 3 ? 3 : 0);
	gus_time_format(time, sizeof(time), tree->time_ns);
	if (tree->time_ns)
		snprintf(text, 96, ", %s%s in %s", number, prefixes[i].prefix, time);
	else
		snprintf(text, 96, ", %s%s", number, prefixes[i].prefix);
}

void gus_slots_text_headed(FILE *out, const struct gus_screen *screen, const struct gus_topdown *table,
			   const char *pmu, const struct gus_topdown_tree *tree)
{
	char amount[96], *head;

	gus_slots_amount(tree, amount);
	head = gus_format("issue slots (%s, %s)%s:", table->title, pmu, amount);
	gus_screen_fold(screen, out, "# ", "#   ", head);
	free(head);
	gus_slots_text(out, screen, "#", true, table, tree);
}

void gus_slots_recorded_text(FILE *out, const struct gus_screen *screen, const struct gus_topdown_recorded *r)
{
	for (size_t i = 0; r && i < r->kinds.n; i++) {
		const struct gus_topdown_kind *kind = &r->kinds.v[i];
		struct gus_topdown_tree tree;

		if (!kind->table) {
			gus_text_print(out, "# issue slots were counted (%s), by a table that this program has not\n",
				       kind->title);
			continue;
		}
		if (!r->readings.n)
			continue;
		gus_topdown_recorded_tree(r, kind, &tree);
		if (is_any_known(kind->table, &tree))
			gus_slots_text_headed(out, screen, kind->table, kind->pmu, &tree);
		else
			gus_text_print(out, "# issue slots (%s, %s): not known, as their events did not count: "
				       "no counter was free, or nothing ran\n", kind->title, kind->pmu);
		gus_topdown_tree_free(&tree);
	}
}
