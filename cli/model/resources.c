/* SPDX-License-Identifier: MIT */
/* How full each resource is, which instructions fill it, and how far the two engines agree, for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/print.h"
#include "cli/model/render.h"
#include "model/code/program.h"

enum { LISTED = 8, COLUMNS = 9, BAR = 30 };
static const double full = 0.95, empty = 0.0005;

void gus_model_bar(double share)
{
	for (int i = 0; i < (int)(BAR * share + 0.5); i++)
		putchar('#');
	putchar('\n');
}

const char *gus_model_engine(const struct gus_modelled_settings *s)
{
	return s->both ? "both" : s->stream ? "stream" : "core";
}

static void print_saturation(const struct gus_modelled *m)
{
	const struct gus_saturation *s = &m->saturation;
	size_t i = 0;

	printf("\nHow full each resource is: of the time, cycles an iteration, cycles left:\n");
	for (; i < s->n && i < LISTED && s->resources[i].saturation > empty; i++) {
		const struct gus_resource *r = &s->resources[i];

		gus_print("%9.1f%% %8.2f %8.2f  %-18s ", 100 * r->saturation, r->cycles, m->cycles - r->cycles,
			  r->name);
		gus_model_bar(r->saturation < 1 ? r->saturation : 1);
	}
	if (i < s->n && s->resources[i].saturation > empty)
		printf("           others: %.1f%% or less\n", 100 * s->resources[i].saturation);
	if (!s->n || s->resources[0].saturation < full)
		printf("           none is full: what is waited for is results, or room in buffers\n");
}

/* The names of columns are those of resources without the word that all of them would begin with. */
static const char *column_name(const struct gus_resource *r)
{
	const char *blank = strchr(r->name, ' ');

	return r->kind == GUS_KNOB_RETIRE ? "retire" : blank ? blank + 1 : r->name;
}

static int column_width(const struct gus_resource *r)
{
	int n = (int)strlen(column_name(r));

	return n < 6 ? 6 : n;
}

static void print_use(const struct gus_model_report *r, uint32_t insn, size_t columns, int indent)
{
	const struct gus_modelled *m = r->modelled;
	const struct gus_program *p = m->program;
	uint32_t op = p->insns[insn].op;
	bool own = p->ops[op].insn == insn, marked = false;

	printf("%*" PRIx64, indent, p->insns[insn].offset);
	for (size_t i = 0; i < columns; i++) {
		const struct gus_resource *resource = &m->saturation.resources[i];
		int width = column_width(resource);

		if (own && resource->of[op] > empty)
			printf(" %*.2f", width, resource->of[op]);
		else
			printf(" %*s", width, own ? "-" : "");
		marked |= own && !i && resource->of[op] > empty && resource->saturation >= full;
	}
	gus_print("  %c %s\n", marked ? '*' : ' ', p->insns[insn].text);
}

static void print_table(const struct gus_model_report *r)
{
	const struct gus_modelled *m = r->modelled;
	const struct gus_saturation *s = &m->saturation;
	int indent = 6;
	size_t columns = 0;

	while (columns < s->n && columns < COLUMNS && s->resources[columns].saturation > empty)
		columns++;
	if (!columns)
		return;
	printf("\nCycles that each instruction takes of the fullest:\n%*s", indent, "at");
	for (size_t i = 0; i < columns; i++)
		gus_print(" %*s", column_width(&s->resources[i]), column_name(&s->resources[i]));
	putchar('\n');
	for (uint32_t i = 0; i < m->program->insns_n; i++)
		print_use(r, i, columns, indent);
	printf("%*s", indent, "all");
	for (size_t i = 0; i < columns; i++)
		printf(" %*.2f", column_width(&s->resources[i]), s->resources[i].cycles);
	putchar('\n');
	if (s->resources[0].saturation >= full)
		gus_print("  *  takes of %s, which is full\n", s->resources[0].name);
}

void gus_model_resources_text(const struct gus_model_report *r)
{
	if (!r->settings->stream && !r->settings->both)
		return;
	print_saturation(r->modelled);
	print_table(r);
}

void gus_model_agreement_text(const struct gus_model_report *r)
{
	const struct gus_agreement *a = &r->modelled->agreement;

	if (!r->settings->both)
		return;
	printf("\nThe engines: core %.2f, stream %.2f cycles an iteration (%+.1f%%)\n", a->core, a->stream,
	       100 * a->difference);
	if (a->reason < GUS_LIMITS)
		gus_print("%10.2f  of the core engine without this limit, which is most of the difference: %s\n",
			  a->relaxed[a->reason],
			  gus_machine_limits[a->reason].name);
	else if (a->difference > -0.01 && a->difference < 0.01)
		printf("            they agree\n");
	else
		printf("%10.2f  of the core engine without all limits that it has alone; none by itself makes the "
		       "difference\n", a->all);
}
