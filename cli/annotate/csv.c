/* SPDX-License-Identifier: MIT */
/* Annotated functions as CSV: a line of names, then one line an instruction. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/annotate/render.h"
#include "cli/common/print.h"

static void field(const char *text)
{
	gus_print_field(text);
	putchar(',');
}

static void number(bool known, uint64_t value)
{
	if (known)
		printf("%" PRIu64, value);
	putchar(',');
}

static void print_insn(const struct gus_annotate *r, const struct gus_annotated *f, const struct gus_annotation_insn *insn,
		       const char *build_id, uint64_t *times, uint64_t *cycles)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_annotation_line *line = insn->line == GUS_ANNOTATION_NONE ? NULL : &a->lines.v[insn->line];
	const struct gus_units *u = &r->report->units;
	uint64_t time = gus_scale_part(&u->time, times, insn->w.weight);
	uint64_t own_cycles = gus_scale_part(&u->cycles, cycles, insn->w.weight);
	bool in_loop = insn->loop != GUS_GRAPH_NONE;

	field(a->module->path);
	field(build_id);
	field(a->row->function);
	number(true, insn->offset);
	number(true, insn->address);
	field(insn->text);
	number(insn->label, insn->label);
	number(insn->jumps, insn->target);
	field(insn->to);
	field(line ? line->file : NULL);
	number(line, line ? line->line : 0);
	field(line ? line->function : NULL);
	number(true, insn->w.samples);
	number(u->time.known, time);
	number(u->cycles.known, own_cycles);
	number(true, insn->w.weight);
	gus_print_share(insn->w.share);
	putchar(',');
	gus_print_share(insn->w.ci95.low);
	putchar(',');
	gus_print_share(insn->w.ci95.high);
	putchar(',');
	number(in_loop, gus_annotate_loop(f, insn->loop));
	number(true, in_loop ? a->graph.loops.v[insn->loop].depth : 0);
	printf("%d\n", insn->hot);
}

void gus_annotate_csv(const struct gus_annotate *r)
{
	printf("module,build_id,function,offset,address,text,label,target,to,file,line,source_function,samples,time_ns,cycles,"
	       "weight,share,ci95_low,ci95_high,loop,depth,hot\n");
	for (size_t i = 0; i < r->functions_n; i++) {
		const struct gus_annotated *f = &r->functions[i];
		uint64_t times = f->before, cycles = f->before;
		char build_id[130];

		gus_annotate_build_id(f->annotation.module, build_id);
		for (size_t k = 0; k < f->annotation.insns.n; k++)
			print_insn(r, f, &f->annotation.insns.v[k], build_id, &times, &cycles);
	}
}
