/* SPDX-License-Identifier: MIT */
#include "cli/explain/measured.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/recorded.h"
#include "attribution/topdown/sampled.h"
#include "attribution/traced/finder.h"
#include "attribution/traced/traced.h"
#include "base/error.h"
#include "cli/common/json.h"
#include "cli/common/naming.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/common/wording.h"
#include "cli/screen/screen.h"
#include "cli/slots/slots.h"

/* A function's tree of fewer differences between samples says too little: that of three is known to be between 0 and 1
 * (attribution/topdown/sums.h), and t falls to what it is of many at about ten. */
enum { READINGS_LEAST = 10 };

/* Who is shown a tree of the whole, which does not outlive the call. */
typedef void visitor(void *context, const struct gus_explain_tree *whole, const struct gus_topdown_tree *tree);

static void visit_frames(const struct gus_explain_counts *c, visitor *see, void *context)
{
	const struct gus_topdown_recorded *r = c->profile.slots;

	for (size_t i = 0; r && r->readings.n && i < r->kinds.n; i++) {
		struct gus_explain_tree whole = { r->kinds.v[i].table, r->kinds.v[i].pmu, r->readings.n, false,
			{ .beside = 0 } };
		struct gus_topdown_tree tree;

		if (!whole.table)
			continue;
		gus_topdown_recorded_tree(r, &r->kinds.v[i], &tree);
		if (gus_causal_measured_make(&whole.nodes, whole.table, &tree))
			see(context, &whole, &tree);
		gus_topdown_tree_free(&tree);
	}
}

static void tree_of_sum(const struct gus_topdown_sampled_kind *kind, const struct gus_topdown_sums *sums,
			uint32_t number, bool drawn, struct gus_topdown_tree *tree)
{
	gus_topdown_sums_tree(sums, number, kind->table, kind->at, drawn, tree);
	tree->level = kind->level;
}

static void visit_samples(const struct gus_explain_counts *c, visitor *see, void *context)
{
	const struct gus_topdown_sampled *s = c->profile.sampled;

	for (size_t i = 0; s && i < s->kinds.n; i++) {
		const struct gus_topdown_sampled_kind *kind = &s->kinds.v[i];
		struct gus_explain_tree whole = { kind->table, kind->table->pmu, 0, true, { .beside = 0 } };
		struct gus_topdown_tree tree;

		if (!kind->total.n)
			continue;
		whole.readings = kind->total.heads.v[0].differences;
		tree_of_sum(kind, &kind->total, 0, false, &tree);
		if (gus_causal_measured_make(&whole.nodes, whole.table, &tree))
			see(context, &whole, &tree);
		gus_topdown_tree_free(&tree);
	}
}

/* Each kind of cores of which something is known: by frames of counts, which are all that was counted, or, where there
 * are none, by what samples have brought along. */
static void visit(const struct gus_explain_counts *c, visitor *see, void *context)
{
	if (c->profile.slots && c->profile.slots->readings.n)
		visit_frames(c, see, context);
	else
		visit_samples(c, see, context);
}

struct keeping { struct gus_explain_counts *c; double most; size_t at; };

static void keep(void *context, const struct gus_explain_tree *whole, const struct gus_topdown_tree *tree)
{
	struct keeping *k = context;

	if (tree->slots > k->most) {
		k->most = tree->slots;
		k->at = k->c->wholes.n;
	}
	gus_vec_push(&k->c->wholes, *whole);
}

int gus_explain_counts_load(struct gus_explain_counts *c, struct gus_reader *reader,
			    const struct gus_symbols_options *symbols, struct gus_error *err)
{
	struct gus_filter filter = { .event = gus_reader_header(reader)->main_event, .slots = 1 };
	struct keeping keeping = { c, -1, 0 };

	*c = (struct gus_explain_counts){ .loaded = false };
	if (gus_profile_length(reader, &c->length_ns, err) != 0)
		return -1;
	filter.length_ns = c->length_ns;
	if (gus_profile_load(&c->profile, reader, &filter, symbols, gus_cli_log(0), err) != 0)
		return -1;
	c->loaded = true;
	visit(c, keep, &keeping);
	c->whole = c->wholes.n ? &c->wholes.v[keeping.at] : NULL;
	return 0;
}

bool gus_explain_counts_open(struct gus_explain_counts *c, const char *path)
{
	struct gus_reader *reader = gus_recording_open(path, NULL);
	char *build_ids = gus_naming_build_ids(NULL);
	bool good = false;

	if (reader) {
		const Gusprof__Header *h = gus_reader_header(reader);
		struct gus_symbols_options symbols = { .boot_id = h->host ? h->host->boot_id : NULL,
			.build_ids = build_ids };

		good = gus_explain_counts_load(c, reader, &symbols, NULL) == 0;
		c->reader = reader;
	}
	free(build_ids);
	return good;
}

void gus_explain_counts_free(struct gus_explain_counts *c)
{
	for (size_t i = 0; i < c->parts.n; i++)
		gus_topdown_sums_free(&c->parts.v[i]);
	gus_vec_free(&c->parts);
	gus_vec_free(&c->wholes);
	if (c->loaded)
		gus_profile_free(&c->profile);
	gus_reader_close(c->reader);
	*c = (struct gus_explain_counts){ .loaded = false };
}

/* Parts. */

static void begin_parts(struct gus_explain_counts *c)
{
	const struct gus_topdown_sampled *s = c->profile.sampled;

	for (size_t i = 0; s && i < s->kinds.n; i++)
		gus_vec_push(&c->parts, (struct gus_topdown_sums){ .events = s->kinds.v[i].n });
}

static void add_cell(struct gus_explain_counts *c, const struct gus_cell *cell, uint32_t part)
{
	for (size_t i = 0; i < c->parts.n; i++) {
		const struct gus_topdown_sums *cells = &c->profile.sampled->kinds.v[i].cells;

		if (cell->number < cells->n && cells->heads.v[cell->number].differences)
			gus_topdown_sums_merge(&c->parts.v[i], part, cells, cell->number);
	}
}

void gus_explain_counts_by_function(struct gus_explain_counts *c, struct gus_traced *t)
{
	struct gus_finder *finder;

	begin_parts(c);
	if (!c->parts.n)
		return;
	finder = gus_finder_new(t, c->profile.space);
	for (size_t i = 0; i < c->profile.cells.n; i++) {
		const struct gus_cell *cell = &c->profile.cells.v[i];
		struct gus_found found;

		if (gus_finder_at(finder, &cell->place, c->profile.threads.v[cell->thread].pid, &found))
			add_cell(c, cell, t->regions.v[t->blocks.v[found.block].region].function);
	}
	gus_finder_free(finder);
}

void gus_explain_counts_by_row(struct gus_explain_counts *c, const uint32_t *row_of_cell)
{
	begin_parts(c);
	for (size_t i = 0; i < c->profile.cells.n; i++)
		add_cell(c, &c->profile.cells.v[i], row_of_cell[i]);
}

struct gus_explain_tree gus_explain_counts_part(const struct gus_explain_counts *c, uint32_t number)
{
	struct gus_explain_tree most = { .readings = 0 };
	double slots = -1;

	for (size_t i = 0; i < c->parts.n; i++) {
		const struct gus_topdown_sampled_kind *kind = &c->profile.sampled->kinds.v[i];
		const struct gus_topdown_sums *sums = &c->parts.v[i];
		struct gus_explain_tree one = { .table = kind->table, .pmu = kind->table->pmu, .sampled = true };
		struct gus_topdown_tree tree;

		if (number >= sums->n || sums->heads.v[number].differences < READINGS_LEAST)
			continue;
		one.readings = sums->heads.v[number].differences;
		tree_of_sum(kind, sums, number, true, &tree);
		if (gus_causal_measured_make(&one.nodes, one.table, &tree) && tree.slots > slots) {
			slots = tree.slots;
			most = one;
		}
		gus_topdown_tree_free(&tree);
	}
	return most;
}

/* Showing. */

/* Nodes that those cores' counters do not tell of; NULL: they tell of all. */
static char *unmeasured(const struct gus_causal_measured *m)
{
	struct gus_wording t = { 0 };
	char *text;

	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		if (!m->nodes[i].known)
			gus_wording_add(&t, "%s%s", t.n ? ", " : "", gus_nodes[i].name);
	text = t.n ? gus_strdup(gus_wording_done(&t)) : NULL;
	gus_vec_free(&t);
	return text;
}

static void fold(const struct gus_screen *screen, char *text)
{
	gus_screen_fold(screen, stdout, "# ", "#   ", text);
	free(text);
}

static void print_whole(void *context, const struct gus_explain_tree *whole, const struct gus_topdown_tree *tree)
{
	const struct gus_screen *screen = context;
	char *missing = unmeasured(&whole->nodes);

	fold(screen, gus_format("measured by groups of counters, the whole of it, %" PRIu64 " %s:", whole->readings,
				whole->sampled ? "differences between samples" : "readings"));
	gus_slots_text_headed(stdout, screen, whole->table, whole->pmu, tree);
	if (missing)
		fold(screen, gus_format("not measured: %s", missing));
	free(missing);
}

void gus_explain_counts_text(const struct gus_explain_counts *c, const struct gus_screen *screen)
{
	visit(c, print_whole, (void *)(uintptr_t)screen);
}

static void add_whole(void *context, const struct gus_explain_tree *whole, const struct gus_topdown_tree *tree)
{
	json_t *o = gus_slots_json(whole->table, tree);

	json_object_set_new(o, "pmu", gus_json_text(whole->pmu));
	json_object_set_new(o, "evidence", json_string("measured"));
	json_object_set_new(o, "readings", json_integer((json_int_t)whole->readings));
	json_array_append_new(context, o);
}

json_t *gus_explain_counts_json(const struct gus_explain_counts *c)
{
	json_t *list = json_array();

	visit(c, add_whole, list);
	if (json_array_size(list))
		return list;
	json_decref(list);
	return json_null();
}
