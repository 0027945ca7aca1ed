/* SPDX-License-Identifier: MIT */
/* Annotated functions for people: source lines behind a ';', and the instructions that they became. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "cli/annotate/render.h"
#include "cli/common/print.h"
#include "cli/report/render.h"

/* "12.34% (11.10% .. 13.58%)" within a line. */
static void print_share(double share, struct gus_interval i)
{
	char parts[3][32];

	gus_fixed_format(parts[0], sizeof(parts[0]), share * 100, 2);
	gus_fixed_format(parts[1], sizeof(parts[1]), i.low * 100, 2);
	gus_fixed_format(parts[2], sizeof(parts[2]), i.high * 100, 2);
	gus_print("%s%% (%s%% .. %s%%)", parts[0], parts[1], parts[2]);
}

/* Share, interval and samples; blank where nothing was sampled, so that the rest stands out. */
static void print_weight(const struct gus_weighed *w)
{
	if (!w || !w->samples) {
		printf("%39s", "");
		return;
	}
	gus_print_percent(w->share);
	gus_print_percent(w->ci95.low);
	printf(" ..");
	gus_print_percent(w->ci95.high);
	printf("  %10" PRIu64, w->samples);
}

static void print_file_line(const char *file, uint32_t line)
{
	gus_print("%s:%" PRIu32, gus_base_name(file), line);
}

static void print_loop(const struct gus_annotated *f, uint32_t number)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_graph_loop *l = &a->graph.loops.v[number];
	uint64_t head = a->offset + a->graph.insns.v[l->head].offset;

	printf("# %*sloop %" PRIu32 ": ", 2 * (int)(l->depth - 1), "", number + 1);
	print_share(a->loops[number].share, a->loops[number].ci95);
	printf(", %" PRIu32 " instruction%s, head at %" PRIx64, l->instructions, l->instructions == 1 ? "" : "s", head);
	for (size_t i = 0; i < a->insns.n; i++) {
		const struct gus_annotation_insn *insn = &a->insns.v[i];

		if (insn->offset != head)
			continue;
		if (insn->label)
			printf(" (L%" PRIu32 ")", insn->label);
		if (insn->line != GUS_ANNOTATION_NONE) {
			printf(", ");
			print_file_line(a->lines.v[insn->line].file, a->lines.v[insn->line].line);
		}
	}
	printf("%s\n", l->irreducible ? ", with more than one entry" : "");
}

static void print_function(const struct gus_annotate *r, const struct gus_annotated *f)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_units *u = &r->report->units;
	uint64_t sum = f->before;
	char time[48];
	size_t cold = 0;

	gus_print("#\n# %s in %s: %" PRIu64 " samples", a->row->function, a->module->path, a->row->samples);
	if (u->time.known) {
		gus_time_format(time, sizeof(time), gus_scale_part(&u->time, &sum, a->row->weight));
		gus_print(", %s", time);
	}
	printf(", ");
	print_share(a->row->share, a->row->ci95);
	printf(" of the recording\n# %" PRIu64 " bytes at offset %" PRIx64, a->size, a->offset);
	if (a->address != a->offset)
		printf(", address %" PRIx64, a->address);
	printf("; what follows are shares of the function; * is hot\n");
	for (uint32_t i = 0; i < a->graph.loops.n; i++) {
		cold += !a->loops[i].samples;
		if (a->loops[i].samples)
			print_loop(f, i);
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
static void print_branch(const struct gus_route_block *b)
{
	char taken[32], missed[32];

	gus_fixed_format(taken, sizeof(taken), 100 * b->taken / b->count, 2);
	gus_fixed_format(missed, sizeof(missed), b->told ? 100 * (double)b->mispredicted / (double)b->told : 0, 2);
	printf("   [");
	if (b->class == GUS_INSN_BRANCH_COND)
		gus_print("taken %s%%%s", taken, b->told ? ", " : "");
	if (b->told)
		gus_print("mispredicted %s%%", missed);
	printf("]");
}

static void print_insn(const struct gus_annotate *r, const struct gus_annotated *f,
		       const struct gus_annotation_insn *insn, uint32_t deepest)
{
	const struct gus_route_block *branch = gus_annotate_branch(r, f, insn);
	const struct gus_annotation *a = &f->annotation;
	char label[16] = "";

	print_weight(&insn->w);
	if (insn->label)
		snprintf(label, sizeof(label), "L%" PRIu32 ":", insn->label);
	printf(" %c ", insn->hot ? '*' : ' ');
	print_nesting(a, insn, deepest);
	gus_print("%9" PRIx64 "  %-5s %s", insn->offset, label, insn->text);
	if (insn->aside)
		printf("   <- within the one above");
	if (branch && branch->count > 0 && (branch->told || branch->class == GUS_INSN_BRANCH_COND))
		print_branch(branch);
	putchar('\n');
}

/* The last part of a C++ name, without template arguments and parameters, which would fill the line: JSON has all of
 * it. */
static void print_short(const char *name)
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
	gus_print("%.*s", (int)length, part);
}

/* "square < sum_of_squares < main sum.c:12": who is inlined in whom, and where the function itself calls. */
static void print_inlined(const struct gus_annotation *a, const struct gus_annotation_line *line,
			  const struct gus_annotation_insn *insn)
{
	const struct gus_annotation_call *outer = insn->calls_n ? &a->calls.v[insn->calls + insn->calls_n - 1] : NULL;

	putchar(' ');
	print_short(line->function ? line->function : "[unknown]");
	for (uint32_t i = 0; i < insn->calls_n; i++) {
		const struct gus_annotation_call *call = &a->calls.v[insn->calls + i];

		printf(" < ");
		print_short(call->function ? call->function : "[unknown]");
	}
	if (outer && outer->file && outer->line) {
		putchar(' ');
		print_file_line(outer->file, outer->line);
	}
}

/* The source line of an instruction, with what all of it weighs where it comes first. */
static void print_source(const struct gus_annotate *r, const struct gus_annotated *f,
			 const struct gus_annotation_insn *insn, bool first)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_annotation_line *line = &a->lines.v[insn->line];
	const char *text = gus_annotate_source(r, f, insn->line);

	print_weight(first ? &line->w : NULL);
	printf("   ; ");
	print_file_line(line->file, line->line);
	if (line->inlined)
		print_inlined(a, line, insn);
	if (text)
		gus_print("   %s", text);
	putchar('\n');
}

static void print_code(const struct gus_annotate *r, const struct gus_annotated *f)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_annotation_insn *before = NULL;
	uint32_t deepest = deepest_loop(a);
	uint8_t *seen = gus_zalloc(a->lines.n + 1);

	printf("#\n#  share     95%% interval      samples   %*s    %9s  instruction\n", (int)deepest, "", "offset");
	for (size_t i = 0; i < a->insns.n; i++) {
		const struct gus_annotation_insn *insn = &a->insns.v[i];

		if (r->sources && a->lines.n && (!before || insn->line != before->line ||
						 insn->calls != before->calls)) {
			if (insn->line == GUS_ANNOTATION_NONE) {
				printf("%39s   ; no source line\n", "");
			} else {
				print_source(r, f, insn, !seen[insn->line]);
				seen[insn->line] = 1;
			}
		}
		print_insn(r, f, insn, deepest);
		before = insn;
	}
	free(seen);
}

void gus_annotate_text(const struct gus_annotate *r)
{
	gus_render_text_head(r->report);
	if (r->skid)
		gus_print("# skid: %s\n", r->skid);
	for (size_t i = 0; i < r->functions_n; i++) {
		print_function(r, &r->functions[i]);
		print_code(r, &r->functions[i]);
	}
}
