/* SPDX-License-Identifier: MIT */
/* The pipeline view: a line for each uop of the first iterations, a column for each cycle. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/common/csv.h"
#include "cli/common/print.h"
#include "cli/model/render.h"
#include "model/code/program.h"

enum { COLUMNS = 160, TEXT = 34 };

/* The text of an op: that of its instruction, or of both. */
static void op_text(const struct gus_program *p, uint32_t op, char out[TEXT + 1])
{
	const struct gus_op *o = &p->ops[op];
	char whole[2 * sizeof(p->insns->text) + 4];

	snprintf(whole, sizeof(whole), "%s%s%s", p->insns[o->insn].text, o->insns_n > 1 ? " + " : "",
		 o->insns_n > 1 ? p->insns[o->insn + 1].text : "");
	if (strlen(whole) > TEXT)
		snprintf(out, TEXT + 1, "%.*s..", TEXT - 2, whole);
	else
		snprintf(out, TEXT + 1, "%.*s", TEXT, whole);
}

static void put(char *line, uint64_t first, uint64_t cycle, char c)
{
	if (cycle >= first && cycle - first < COLUMNS)
		line[cycle - first] = c;
}

/* What is later in life wins where two things happen in one cycle. */
static void draw(const struct gus_core_event *e, uint64_t first, char line[COLUMNS + 1])
{
	uint64_t end = e->retired - first;

	memset(line, ' ', COLUMNS);
	for (uint64_t c = e->issued; c < e->ready; c++)
		put(line, first, c, '.');
	for (uint64_t c = e->ready; c < e->dispatched; c++)
		put(line, first, c, ':');
	for (uint64_t c = e->dispatched; c < e->retired; c++)
		put(line, first, c, c < e->completed ? '=' : '-');
	put(line, first, e->issued, 'I');
	if (e->dispatched > e->issued)
		put(line, first, e->dispatched, 'D');
	if (e->completed > e->dispatched)
		put(line, first, e->completed, 'C');
	put(line, first, e->retired, 'R');
	if (end >= COLUMNS)
		line[COLUMNS - 1] = '>';
	line[end < COLUMNS ? end + 1 : COLUMNS] = '\0';
}

static void print_scale(uint64_t columns)
{
	printf("%*s", 12 + TEXT + 8, "");
	for (uint64_t c = 0; c < columns; c += 10)
		printf(c + 10 < columns ? "%-10" PRIu64 : "%" PRIu64, c);
	printf("\n%*s", 12 + TEXT + 8, "");
	for (uint64_t c = 0; c < columns; c++)
		printf("%u", (unsigned)(c % 10));
	putchar('\n');
}

void gus_model_timeline_text(const struct gus_modelled *m)
{
	const struct gus_program *p = m->program;
	uint64_t first = m->events.n ? m->events.v[0].issued : 0, last = 0, left_out = 0;
	char line[COLUMNS + 1], text[TEXT + 1];

	for (size_t i = 0; i < m->events.n; i++) {
		first = m->events.v[i].issued < first ? m->events.v[i].issued : first;
		last = m->events.v[i].retired > last ? m->events.v[i].retired : last;
	}
	printf("\nThe first iterations, by cycle: I issued . waiting : ready D dispatched = executing C completed "
	       "- waiting R retired\n");
	if (m->result.periodic && m->events.n && m->result.iterations > m->events.v[m->events.n - 1].iteration + 1)
		printf("They differ from the steady state, which is there after %" PRIu64 " iterations at the "
		       "latest.\n",
		       m->result.iterations);
	print_scale(last - first < COLUMNS ? last - first + 1 : COLUMNS);
	for (size_t i = 0; i < m->events.n; i++) {
		const struct gus_core_event *e = &m->events.v[i];
		bool again = i && e[-1].op == e->op && e[-1].iteration == e->iteration;

		if (e->issued - first >= COLUMNS) {
			left_out++;
			continue;
		}
		op_text(p, e->op, text);
		draw(e, first, line);
		gus_print("%4" PRIu64 ",%-6" PRIu32 " %-*s %6s %s\n", e->iteration, p->ops[e->op].insn, TEXT,
			  again ? "" : text, e->port >= 0 ? gus_model_port(p, (unsigned)e->port) : "-", line);
	}
	if (left_out)
		printf("%" PRIu64 " uops that were issued in cycle %d or later are not shown; --format csv has them\n",
		       left_out, COLUMNS);
	else if (last - first >= COLUMNS)
		printf("what ends with > goes on behind cycle %d; --format csv has it all\n", COLUMNS - 1);
}

void gus_model_timeline_csv(const struct gus_modelled *m, const char *calibration)
{
	struct gus_csv csv = { stdout, ",", false };

	printf("iteration,op,uop,port,issued,ready,dispatched,completed,retired,calibration\n");
	for (size_t i = 0; i < m->events.n; i++) {
		const struct gus_core_event *e = &m->events.v[i];

		gus_csv_number(&csv, true, e->iteration);
		gus_csv_number(&csv, true, e->op);
		gus_csv_number(&csv, true, e->uop);
		gus_csv_text(&csv, e->port >= 0 ? gus_model_port(m->program, (unsigned)e->port) : NULL);
		gus_csv_number(&csv, true, e->issued);
		gus_csv_number(&csv, true, e->ready);
		gus_csv_number(&csv, true, e->dispatched);
		gus_csv_number(&csv, true, e->completed);
		gus_csv_number(&csv, true, e->retired);
		gus_csv_text(&csv, calibration);
		gus_csv_end(&csv);
	}
}
