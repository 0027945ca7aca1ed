/* SPDX-License-Identifier: MIT */
/* Annotated functions as CSV: a line of names, then one line an instruction. */
#include "cli/annotate/render.h"
#include "cli/common/csv.h"

static void print_insn(struct gus_csv *c, const struct gus_annotate *r, const struct gus_annotated *f,
		       const struct gus_annotation_insn *insn, uint64_t *times, uint64_t *cycles)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_annotation_line *line = insn->line == GUS_ANNOTATION_NONE ? NULL : &a->lines.v[insn->line];
	const struct gus_units *u = &r->report->units;
	bool in_loop = insn->loop != GUS_GRAPH_NONE;
	char build_id[GUS_REPORT_BUILD_ID];

	gus_report_build_id(a->module, build_id);
	gus_csv_text(c, a->module->path);
	gus_csv_text(c, build_id);
	gus_csv_text(c, a->row->function);
	gus_csv_number(c, true, insn->offset);
	gus_csv_number(c, true, insn->address);
	gus_csv_text(c, insn->text);
	gus_csv_number(c, insn->label, insn->label);
	gus_csv_number(c, insn->jumps, insn->target);
	gus_csv_text(c, insn->to);
	gus_csv_text(c, line ? line->file : NULL);
	gus_csv_number(c, line, line ? line->line : 0);
	gus_csv_text(c, line ? line->function : NULL);
	gus_csv_number(c, true, insn->w.samples);
	gus_csv_number(c, u->time.known, gus_scale_part(&u->time, times, insn->w.weight));
	gus_csv_number(c, u->cycles.known, gus_scale_part(&u->cycles, cycles, insn->w.weight));
	gus_csv_number(c, true, insn->w.weight);
	gus_csv_fixed(c, true, insn->w.share, 6);
	gus_csv_fixed(c, true, insn->w.ci95.low, 6);
	gus_csv_fixed(c, true, insn->w.ci95.high, 6);
	gus_csv_number(c, in_loop, gus_annotate_loop(f, insn->loop));
	gus_csv_number(c, true, in_loop ? a->graph.loops.v[insn->loop].depth : 0);
	gus_csv_number(c, true, insn->hot);
	gus_csv_end(c);
}

void gus_annotate_csv(const struct gus_annotate *r)
{
	struct gus_csv csv = { stdout, ",", false };

	printf("module,build_id,function,offset,address,text,label,target,to,file,line,source_function,samples,time_ns,"
	       "cycles,weight,share,ci95_low,ci95_high,loop,depth,hot\n");
	for (size_t i = 0; i < r->functions_n; i++) {
		const struct gus_annotated *f = &r->functions[i];
		uint64_t times = f->before, cycles = f->before;

		for (size_t k = 0; k < f->annotation.insns.n; k++)
			print_insn(&csv, r, f, &f->annotation.insns.v[k], &times, &cycles);
	}
}
