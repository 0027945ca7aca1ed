/* SPDX-License-Identifier: MIT */
/* The findings as CSV (RFC 4180), with a dot as decimal sign in any locale. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/common/calibrated.h"
#include "cli/common/csv.h"
#include "cli/model/expected.h"
#include "cli/model/render.h"
#include "model/analysis/batch.h"
#include "model/code/program.h"
#include "symbolizer/symbols/routine.h"

static void print_flags(struct gus_csv *c, const struct gus_program *p, uint32_t insn)
{
	const char *names[GUS_MODEL_FLAGS];
	size_t n = gus_model_flags(p, insn, names);
	char text[GUS_MODEL_FLAGS * 32] = "", *end = text;

	for (size_t i = 0; i < n; i++)
		end += snprintf(end, (size_t)(text + sizeof(text) - end), "%s%.30s", i ? " " : "", names[i]);
	gus_csv_text(c, text);
}

static void print_row(struct gus_csv *c, const struct gus_model_report *r, uint32_t insn)
{
	const struct gus_modelled *m = r->modelled;
	const struct gus_program *p = m->program;
	const struct gus_op *op = &p->ops[p->insns[insn].op];
	const struct gus_modelled_figures *f = &m->figures[p->insns[insn].op];
	bool own = op->insn == insn;

	gus_csv_number(c, true, p->insns[insn].offset);
	gus_csv_text(c, p->insns[insn].text);
	print_flags(c, p, insn);
	gus_csv_number(c, own, op->uops_n);
	gus_csv_number(c, own, op->slots);
	gus_csv_number(c, own, f->latency);
	gus_csv_fixed(c, own && r->settings->costs, f->cost, 4);
	for (unsigned i = 0; i < p->ports_n; i++)
		gus_csv_fixed(c, own, f->uops[i], 4);
	gus_csv_text(c, gus_calibrated_file(r->settings->uarch));
	gus_csv_end(c);
}

void gus_model_csv(const struct gus_model_report *r)
{
	static const char *const columns[] = { "offset", "text", "flags", "uops", "slots", "latency", "cost" };
	const struct gus_program *p = r->modelled->program;
	struct gus_csv csv = { stdout, ",", false };

	if (r->settings->timeline) {
		gus_model_timeline_csv(r->modelled, gus_calibrated_file(r->settings->uarch));
		return;
	}
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		gus_csv_text(&csv, columns[i]);
	for (unsigned i = 0; i < p->ports_n; i++)
		gus_csv_text(&csv, gus_model_port(p, i));
	gus_csv_text(&csv, "calibration");
	gus_csv_end(&csv);
	for (uint32_t i = 0; i < p->insns_n; i++)
		print_row(&csv, r, i);
}

void gus_model_loops_csv(const struct gus_model_report *r, const struct gus_model_loop_figure *figures)
{
	struct gus_csv csv = { stdout, ",", false };

	printf("loop,offset,bytes,instructions,cycles_per_iteration,file,line,expected_pct,expected_p90_pct,"
	       "calibration\n");
	for (size_t i = 0; i < r->function->loops_n; i++) {
		const struct gus_loop *loop = &r->function->loops[i];

		gus_csv_number(&csv, true, i + 1);
		gus_csv_number(&csv, true, loop->offset);
		gus_csv_number(&csv, true, loop->size);
		gus_csv_number(&csv, true, loop->instructions);
		gus_csv_fixed(&csv, figures[i].cycles >= 0, figures[i].cycles, 4);
		gus_csv_text(&csv, loop->file);
		gus_csv_number(&csv, loop->line != 0, loop->line);
		gus_model_expected_csv(r->expectation, figures[i].cycles < 0 ? NULL :
				       gus_bottleneck_name(figures[i].verdict.bottleneck), &csv);
		gus_csv_text(&csv, gus_calibrated_file(r->settings->uarch));
		gus_csv_end(&csv);
	}
}

/* A line begins with what the input had, as it had it; one that is not modelled has the reason. */
void gus_model_batch_csv(const struct gus_batch *b, const struct gus_modelled_settings *s,
			 const struct gus_model_expectation *x, uint64_t per)
{
	struct gus_csv csv = { stdout, ",", false };

	if (per == 1)
		printf("hex,cycles_per_iteration,coverage,reason,bottleneck,expected_pct,expected_p90_pct,"
		       "calibration\n");
	else
		printf("hex,cycles_per_%" PRIu64 "_iterations,coverage,reason,bottleneck,expected_pct,"
		       "expected_p90_pct,calibration\n", per);
	for (size_t i = 0; i < b->n; i++) {
		const struct gus_batch_line *line = &b->lines[i];
		char *hex = gus_strndup(line->hex, line->hex_size);

		gus_csv_text(&csv, hex);
		gus_csv_fixed(&csv, !line->why, line->cycles * (double)per, 4);
		gus_csv_fixed(&csv, !line->why, gus_batch_coverage(line), 4);
		gus_csv_text(&csv, line->why);
		gus_csv_text(&csv, line->why ? NULL : gus_bottleneck_name(line->verdict.bottleneck));
		gus_model_expected_csv(x, line->why ? NULL : gus_bottleneck_name(line->verdict.bottleneck), &csv);
		gus_csv_text(&csv, gus_calibrated_file(s->uarch));
		gus_csv_end(&csv);
		free(hex);
	}
}
