/* SPDX-License-Identifier: MIT */
/* The findings as CSV (RFC 4180), with a dot as decimal sign in any locale. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/print.h"
#include "cli/model/render.h"

/* Four digits behind the point. */
static void number(double value)
{
	uint64_t parts = (uint64_t)((value < 0 ? -value : value) * 1e4 + 0.5);

	printf("%s%" PRIu64 ".%04" PRIu64, value < 0 && parts ? "-" : "", parts / 10000, parts % 10000);
}

static void print_row(const struct gus_model_report *r, uint32_t insn)
{
	const struct gus_modelled *m = r->modelled;
	const struct gus_program *p = m->program;
	const struct gus_op *op = &p->ops[p->insns[insn].op];
	const struct gus_model_figures *f = &m->figures[p->insns[insn].op];
	const char *names[GUS_MODEL_FLAGS];
	size_t n = gus_model_flags(p, insn, names);
	bool own = op->insn == insn;

	printf("%" PRIu64 ",", p->insns[insn].offset);
	gus_print_field(p->insns[insn].text);
	putchar(',');
	for (size_t i = 0; i < n; i++)
		printf("%s%s", i ? " " : "", names[i]);
	if (own)
		printf(",%u,%u,%" PRIu32 ",", op->uops_n, op->slots, f->latency);
	else
		printf(",,,,");
	if (own && r->settings->costs)
		number(f->cost);
	for (unsigned i = 0; i < p->ports_n; i++) {
		putchar(',');
		if (own)
			number(f->uops[i]);
	}
	putchar('\n');
}

void gus_model_csv(const struct gus_model_report *r)
{
	const struct gus_program *p = r->modelled->program;

	if (r->settings->timeline) {
		gus_model_timeline_csv(r->modelled);
		return;
	}
	printf("offset,text,flags,uops,slots,latency,cost");
	for (unsigned i = 0; i < p->ports_n; i++)
		printf(",%s", gus_model_port(p, i));
	putchar('\n');
	for (uint32_t i = 0; i < p->insns_n; i++)
		print_row(r, i);
}

void gus_model_loops_csv(const struct gus_model_report *r, const double *cycles)
{
	printf("loop,offset,bytes,instructions,cycles_per_iteration,file,line\n");
	for (size_t i = 0; i < r->function->loops_n; i++) {
		const struct gus_loop *loop = &r->function->loops[i];

		printf("%zu,%zu,%zu,%u,", i + 1, loop->offset, loop->size, loop->instructions);
		if (cycles[i] >= 0)
			number(cycles[i]);
		putchar(',');
		gus_print_field(loop->file ? loop->file : "");
		if (loop->line)
			printf(",%" PRIu32 "\n", loop->line);
		else
			printf(",\n");
	}
}

void gus_model_batch_csv(const struct gus_model_batch *b)
{
	if (b->per == 1)
		printf("hex,cycles_per_iteration,coverage\n");
	else
		printf("hex,cycles_per_%" PRIu64 "_iterations,coverage\n", b->per);
	for (size_t i = 0; i < b->n; i++) {
		const struct gus_model_line *line = &b->lines[i];

		printf("%.*s,", line->hex_size, line->hex);
		if (line->good) {
			number(line->cycles * (double)b->per);
			putchar(',');
			number((double)(line->instructions - line->unknown) / line->instructions);
		}
		putchar('\n');
	}
}
