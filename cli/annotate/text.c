/* SPDX-License-Identifier: MIT */
/* Annotated functions for people: source lines behind a ';', and the instructions that they became. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "cli/annotate/render.h"
#include "cli/annotate/stacks.h"
#include "cli/common/print.h"
#include "cli/report/render.h"
#include "cli/screen/cells.h"
#include "cli/screen/screen.h"
#include "cli/screen/shorten.h"

/* What stands before each line: all of share, interval and samples where there is room for the instructions beside it,
 * else only the first of them. */
enum weights { SHARE, INTERVAL, SAMPLES };
static const size_t weights_width[] = { [SHARE] = 8, [INTERVAL] = 27, [SAMPLES] = 39 };
static const double LEAST = 0.0005;     /* of a share that is printed */
#define CODE_LEAST 44           /* cells of an instruction for which less is told of its weight */
#define BESIDE 24               /* cells of marks, loops, offset and label, but for the bars of loops */

struct layout {
	const struct gus_screen *screen;
	enum weights weights;
	bool moved;                 /* weights are of time that was moved, and may be where no sample was seen */
	uint32_t deepest;           /* loop */
	size_t code;                /* cells of an instruction; 0: no limit */
};

static struct layout make_layout(const struct gus_screen *screen, uint32_t deepest, bool moved)
{
	struct layout l = { screen, SAMPLES, moved, deepest, 0 };
	size_t others = BESIDE + deepest;

	if (!screen->width)
		return l;
	while (l.weights > SHARE && weights_width[l.weights] + others + CODE_LEAST > screen->width)
		l.weights--;
	others += weights_width[l.weights];
	if (!screen->full_names)
		l.code = screen->width > others + 8 ? screen->width - others : 8;
	return l;
}

/* "12.34% (11.10% .. 13.58%)"; without an interval, of which nothing is known then, if it is empty. */
static char *share_text(double share, struct gus_interval i)
{
	char parts[3][32];

	gus_fixed_format(parts[0], sizeof(parts[0]), share * 100, 2);
	gus_fixed_format(parts[1], sizeof(parts[1]), i.low * 100, 2);
	gus_fixed_format(parts[2], sizeof(parts[2]), i.high * 100, 2);
	if (i.low >= i.high)
		return gus_format("%s%%", parts[0]);
	return gus_format("%s%% (%s%% .. %s%%)", parts[0], parts[1], parts[2]);
}

/* Share, interval and samples; blank where nothing was sampled, so that the rest stands out. */
static void print_weight(const struct layout *l, const struct gus_weighed *w, enum gus_colour colour)
{
	if (!w || (l->moved ? w->share < LEAST && !w->samples : !w->samples)) {
		printf("%*s", (int)weights_width[l->weights], "");
		return;
	}
	if (colour)
		gus_screen_colour(l->screen, stdout, colour);
	gus_print_percent(w->share);
	if (colour)
		gus_screen_colour(l->screen, stdout, GUS_COLOUR_NONE);
	if (l->weights >= INTERVAL && l->moved && w->ci95.low >= w->ci95.high) { /* not known */
		printf("%*s", (int)(weights_width[INTERVAL] - weights_width[SHARE]), "");
	} else if (l->weights >= INTERVAL) {
		gus_print_percent(w->ci95.low);
		printf(" ..");
		gus_print_percent(w->ci95.high);
	}
	if (l->weights >= SAMPLES)
		printf("  %10" PRIu64, w->samples);
}

static char *file_line(const char *file, uint32_t line)
{
	return gus_format("%s:%" PRIu32, gus_base_name(file), line);
}

/* Adds to a text that is ours, and gives up what was added. */
static void add(char **text, char *more)
{
	char *all = gus_format("%s%s", *text, more);

	free(*text);
	free(more);
	*text = all;
}

static void print_loop(const struct gus_screen *screen, const struct gus_annotated *f, uint32_t number)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_graph_loop *l = &a->graph.loops.v[number];
	uint64_t head = a->offset + a->graph.insns.v[l->head].offset;
	char *text = share_text(a->loops[number].share, a->loops[number].ci95), *first;

	add(&text, gus_format(", %" PRIu32 " instruction%s, head at %" PRIx64, l->instructions,
			      l->instructions == 1 ? "" : "s", head));
	for (size_t i = 0; i < a->insns.n; i++) {
		const struct gus_annotation_insn *insn = &a->insns.v[i];

		if (insn->offset != head)
			continue;
		if (insn->label)
			add(&text, gus_format(" (L%" PRIu32 ")", insn->label));
		if (insn->line != GUS_ANNOTATION_NONE) {
			add(&text, gus_strdup(", "));
			add(&text, file_line(a->lines.v[insn->line].file, a->lines.v[insn->line].line));
		}
	}
	if (l->irreducible)
		add(&text, gus_strdup(", with more than one entry"));
	first = gus_format("# %*sloop %" PRIu32 ": ", 2 * (int)(l->depth - 1), "", number + 1);
	gus_screen_fold(screen, stdout, first, "#     ", text);
	free(first);
	free(text);
}

/* The function, and where it is: names that are longer than a line are shortened. */
static char *title(const struct gus_screen *s, const struct gus_annotation *a)
{
	bool fit = s->width && !s->full_names;
	char *name = fit ? gus_shorten(a->row->function, GUS_SHORTEN_NAME, s->width - 8, s->dots) :
		gus_strdup(a->row->function);
	char *path = fit ? gus_shorten(a->module->path, GUS_SHORTEN_PATH, s->width - 8, s->dots) :
		gus_strdup(a->module->path);
	char *text = gus_format("%s in %s:", name, path);

	free(name);
	free(path);
	return text;
}

static void print_function(const struct gus_annotate *r, const struct gus_annotated *f)
{
	const struct gus_screen *screen = r->report->screen;
	const struct gus_annotation *a = &f->annotation;
	const struct gus_units *u = &r->report->units;
	uint64_t sum = f->before;
	char *text = title(screen, a);
	char time[48];
	size_t cold = 0;

	add(&text, gus_format(" %" PRIu64 " samples, ", a->row->samples));
	if (u->time.known) {
		gus_time_format(time, sizeof(time), gus_scale_part(&u->time, &sum, a->row->weight));
		add(&text, gus_format("%s, ", time));
	}
	add(&text, share_text(a->row->share, a->row->ci95));
	add(&text, gus_strdup(" of the recording"));
	printf("#\n");
	gus_screen_fold(screen, stdout, "# ", "#   ", text);
	free(text);
	text = gus_format("%" PRIu64 " bytes at offset %" PRIx64, a->size, a->offset);
	if (a->address != a->offset)
		add(&text, gus_format(", address %" PRIx64, a->address));
	add(&text, gus_strdup(r->stacks ? "; what follows are shares of the function's time, by what the CPU "
			      "waited for, and what that was subjected to; * is hot" :
			      "; what follows are shares of the function; * is hot"));
	gus_screen_fold(screen, stdout, "# ", "#   ", text);
	free(text);
	for (uint32_t i = 0; i < a->graph.loops.n; i++) {
		cold += !a->loops[i].samples;
		if (a->loops[i].samples)
			print_loop(screen, f, i);
	}
	if (cold)
		printf("# %zu more loop%s without samples\n", cold, cold == 1 ? "" : "s");
}

/* Loops around an instruction, the outermost first: '/' where one begins, '\' where it ends, '|' between. */
static void print_nesting(const struct gus_annotation *a, const struct gus_annotation_insn *insn, uint32_t deepest)
{
	uint32_t number = gus_graph_at(&a->graph, insn->offset - a->offset);
	char bars[65];

	memset(bars, ' ', sizeof(bars));
	bars[deepest] = '\0';
	for (uint32_t l = insn->loop; l != GUS_GRAPH_NONE; l = a->graph.loops.v[l].outer) {
		const struct gus_graph_loop *loop = &a->graph.loops.v[l];
		bool first = loop->first == number, last = loop->last == number;

		if (loop->depth <= deepest)
			bars[loop->depth - 1] = first && last ? '@' : first ? '/' : last ? '\\' : '|';
	}
	gus_print("%s", bars);
	if (insn->loop != GUS_GRAPH_NONE)
		printf("%-4" PRIu32, insn->loop + 1);
	else
		printf("    ");
}

static uint32_t deepest_loop(const struct gus_annotation *a)
{
	uint32_t deepest = 0;

	for (size_t i = 0; i < a->graph.loops.n; i++)
		deepest = a->graph.loops.v[i].depth > deepest ? a->graph.loops.v[i].depth : deepest;
	return deepest < 64 ? deepest : 64;
}

/* How often a conditional branch was taken, and of those taken how many were mispredicted. */
static char *branch_text(const struct gus_route_block *b)
{
	char taken[32], missed[32], *text = gus_strdup("   [");

	gus_fixed_format(taken, sizeof(taken), 100 * b->taken / b->count, 2);
	gus_fixed_format(missed, sizeof(missed), b->told ? 100 * (double)b->mispredicted / (double)b->told : 0, 2);
	if (b->class == GUS_INSN_BRANCH_COND)
		add(&text, gus_format("taken %s%%%s", taken, b->told ? ", " : ""));
	if (b->told)
		add(&text, gus_format("mispredicted %s%%", missed));
	add(&text, gus_strdup("]"));
	return text;
}

/* An instruction, and what is said behind it. If there is no room for both it is the operands that are shortened, where
 * names are. */
static void print_text(const struct layout *l, const char *text, const char *behind)
{
	size_t word = strcspn(text, " "), used = word + 1 + gus_cells(behind, strlen(behind));
	char *operands;

	if (!l->code || !text[word] || gus_cells(text, strlen(text)) + gus_cells(behind, strlen(behind)) <= l->code) {
		gus_print("%s%s\n", text, behind);
		return;
	}
	operands = gus_shorten(text + word + 1, GUS_SHORTEN_NAME, l->code > used + 4 ? l->code - used : 4,
			       l->screen->dots);
	gus_print("%.*s %s%s\n", (int)word, text, operands, behind);
	free(operands);
}

/* What it was subjected to. */
static void add_stack(const struct gus_annotate *r, const struct gus_annotated *f,
		      const struct gus_annotation_insn *insn, char **behind)
{
	const struct gus_annotate_stack *s = r->stacks ?
		gus_annotate_stack_at(r->stacks, f->annotation.module->path, insn->offset) : NULL;

	if (s && insn->w.share >= LEAST)
		add(behind, gus_format("   <- %s", s->what));
}

static void print_insn(const struct gus_annotate *r, const struct gus_annotated *f,
		       const struct gus_annotation_insn *insn, const struct layout *l)
{
	const struct gus_route_block *branch = gus_annotate_branch(r, f, insn);
	enum gus_colour colour = insn->hot ? GUS_COLOUR_HOT : GUS_COLOUR_NONE;
	char *behind = gus_strdup(insn->aside ? "   <- within the one above" : "");
	char label[16] = "";

	if (!insn->hot && insn->w.share >= 0.005)
		colour = GUS_COLOUR_WARM;
	print_weight(l, &insn->w, colour);
	if (insn->label)
		snprintf(label, sizeof(label), "L%" PRIu32 ":", insn->label);
	printf(" %c ", insn->hot ? '*' : ' ');
	print_nesting(&f->annotation, insn, l->deepest);
	gus_print("%9" PRIx64 "  %-5s ", insn->offset, label);
	add_stack(r, f, insn, &behind);
	if (branch && branch->count > 0 && (branch->told || branch->class == GUS_INSN_BRANCH_COND))
		add(&behind, branch_text(branch));
	print_text(l, insn->text, behind);
	free(behind);
}

/* The last part of a C++ name, without template arguments and parameters, which would fill the line: JSON has all of
 * it. */
static char *short_name(const char *name)
{
	const char *part = name;
	size_t length;
	int depth = 0;

	for (const char *at = name; *at && (at != part || strncmp(at, "operator", 8) != 0); at++) {
		depth += strchr("<({", *at) != NULL;
		depth -= strchr(">)}", *at) != NULL;
		if (depth == 0 && at[0] == ':' && at[1] == ':')
			part = at + 2;
	}
	if (*part == '{' || strncmp(part, "operator", 8) == 0)
		length = strlen(part);
	else
		length = strcspn(part, "<(");
	return gus_strndup(part, length);
}

/* "square < sum_of_squares < main sum.c:12": who is inlined in whom, and where the function itself calls. */
static void add_inlined(char **text, const struct gus_annotation *a, const struct gus_annotation_line *line,
			const struct gus_annotation_insn *insn)
{
	const struct gus_annotation_call *outer = insn->calls_n ? &a->calls.v[insn->calls + insn->calls_n - 1] : NULL;

	add(text, gus_strdup(" "));
	add(text, short_name(line->function ? line->function : "[unknown]"));
	for (uint32_t i = 0; i < insn->calls_n; i++) {
		const struct gus_annotation_call *call = &a->calls.v[insn->calls + i];

		add(text, gus_strdup(" < "));
		add(text, short_name(call->function ? call->function : "[unknown]"));
	}
	if (outer && outer->file && outer->line) {
		add(text, gus_strdup(" "));
		add(text, file_line(outer->file, outer->line));
	}
}

/* The source line of an instruction, with what all of it weighs where it comes first. */
static void print_source(const struct gus_annotate *r, const struct gus_annotated *f,
			 const struct gus_annotation_insn *insn, bool first, const struct layout *l)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_annotation_line *line = &a->lines.v[insn->line];
	const char *source = gus_annotate_source(r, f, insn->line);
	size_t before = weights_width[l->weights] + 5;
	char *text = file_line(line->file, line->line), *shown;

	if (line->inlined)
		add_inlined(&text, a, line, insn);
	if (source)
		add(&text, gus_format("   %s", source));
	shown = l->code ? gus_shorten(text, GUS_SHORTEN_END, l->screen->width - before, l->screen->dots) :
		gus_strdup(text);
	print_weight(l, first ? &line->w : NULL, GUS_COLOUR_NONE);
	gus_print("   ; %s\n", shown);
	free(shown);
	free(text);
}

static void print_titles(const struct layout *l)
{
	static const char *const titles[] = {
		[SHARE] = "#  share", [INTERVAL] = "#  share     95% interval  ",
		[SAMPLES] = "#  share     95% interval      samples ",
	};

	printf("#\n");
	gus_screen_colour(l->screen, stdout, GUS_COLOUR_HEAD);
	gus_print("%s  %*s    %9s  instruction", titles[l->weights], (int)l->deepest, "", "offset");
	gus_screen_colour(l->screen, stdout, GUS_COLOUR_NONE);
	putchar('\n');
}

static void print_code(const struct gus_annotate *r, const struct gus_annotated *f)
{
	const struct gus_annotation *a = &f->annotation;
	const struct layout l = make_layout(r->report->screen, deepest_loop(a), r->stacks);
	const struct gus_annotation_insn *before = NULL;
	uint8_t *seen = gus_zalloc(a->lines.n + 1);

	print_titles(&l);
	for (size_t i = 0; i < a->insns.n; i++) {
		const struct gus_annotation_insn *insn = &a->insns.v[i];

		if (r->sources && a->lines.n && (!before || insn->line != before->line ||
						 insn->calls != before->calls)) {
			if (insn->line == GUS_ANNOTATION_NONE) {
				printf("%*s   ; no source line\n", (int)weights_width[l.weights], "");
			} else {
				print_source(r, f, insn, !seen[insn->line], &l);
				seen[insn->line] = 1;
			}
		}
		print_insn(r, f, insn, &l);
		before = insn;
	}
	free(seen);
}

void gus_annotate_text(const struct gus_annotate *r)
{
	gus_render_text_head(r->report);
	if (r->stacks)
		gus_screen_fold(r->report->screen, stdout, "# stacks: ", "#   ", r->stacks->told);
	else if (r->skid)
		gus_screen_fold(r->report->screen, stdout, "# skid: ", "#   ",
				r->report->header ? r->skid : r->skid_brief);
	for (size_t i = 0; i < r->functions_n; i++) {
		print_function(r, &r->functions[i]);
		print_code(r, &r->functions[i]);
	}
}
