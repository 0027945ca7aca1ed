/* SPDX-License-Identifier: MIT */
/* The findings for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/calibrated.h"
#include "cli/common/print.h"
#include "cli/model/expected.h"
#include "cli/model/render.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"
#include "symbolizer/symbols/routine.h"

const char *gus_model_fetch_name(enum gus_core_fetch fetch)
{
	static const char *const names[] = {
		[GUS_CORE_FETCH_AUTO] = "auto", [GUS_CORE_FETCH_DECODERS] = "decoders",
			[GUS_CORE_FETCH_UOP_CACHE] = "uop-cache",
		[GUS_CORE_FETCH_LOOP] = "loop", [GUS_CORE_FETCH_IDEAL] = "ideal",
		[GUS_CORE_FETCH_MIXED] = "mixed",
	};

	return (size_t)fetch < sizeof(names) / sizeof(*names) ? names[fetch] : NULL;
}

const char *gus_model_mode(const struct gus_modelled_settings *s)
{
	return s->options.unrolled ? "unrolled" : "loop";
}

const char *gus_model_port(const struct gus_program *p, unsigned port)
{
	return p->port_names[port];
}

enum gus_bound gus_model_limit(const struct gus_modelled *m)
{
	enum gus_bound limit = GUS_BOUNDS;

	for (int b = 0; b < GUS_BOUNDS; b++)
		if (m->bounds.cycles[b] > 0 && (limit == GUS_BOUNDS || m->bounds.cycles[b] > m->bounds.cycles[limit]))
			limit = (enum gus_bound)b;
	return limit;
}

/* A letter for the column of text, a word for programs, and what it means. */
static const struct { uint16_t flag; char letter; const char *word, *help; } flags[] = {
	{ GUS_OP_UNKNOWN, '?', "unknown", "has no row in the table: bounds of its class are used" },
	{ GUS_OP_IDIOM, '0', "idiom", "writes a constant whatever it reads" },
	{ GUS_OP_ELIMINATED, '=', "eliminated", "a move that the renamer may do" },
	{ GUS_OP_COMPLEX, '1', "complex", "only the first decoder takes it" },
	{ GUS_OP_SERIALISING, '|', "serialising", "waits for all before, and all after wait for it" },
};

enum { FLAG_FUSED = sizeof(flags) / sizeof(*flags), FLAG_UNLAMINATED, FLAG_MICROCODED, FLAG_KINDS };
static const struct { char letter; const char *word, *help; } more_flags[] = {
	{ 'F', "fused", "one with the instruction above" },
	{ 'U', "unlaminated", "its fused uops are split at issue" },
	{ 'M', "microcoded", "comes from the microcode sequencer" },
};

/* Bits of the kinds of flags that an instruction has. */
static unsigned flags_of(const struct gus_program *p, uint32_t insn)
{
	const struct gus_op *op = &p->ops[p->insns[insn].op];
	unsigned bits = 0;

	if (op->insn != insn)
		return 1u << FLAG_FUSED;
	for (unsigned i = 0; i < FLAG_FUSED; i++)
		bits |= (op->flags & flags[i].flag ? 1u : 0) << i;
	bits |= (op->slots > op->fused ? 1u : 0) << FLAG_UNLAMINATED;
	bits |= (op->microcoded ? 1u : 0) << FLAG_MICROCODED;
	return bits;
}

size_t gus_model_flags(const struct gus_program *p, uint32_t insn, const char *names[GUS_MODEL_FLAGS])
{
	unsigned bits = flags_of(p, insn);
	size_t n = 0;

	for (unsigned i = 0; i < FLAG_KINDS; i++)
		if (bits >> i & 1)
			names[n++] = i < FLAG_FUSED ? flags[i].word : more_flags[i - FLAG_FUSED].word;
	return n;
}

static void print_flags_legend(unsigned seen)
{
	for (unsigned i = 0; i < FLAG_KINDS; i++)
		if (seen >> i & 1)
			gus_print("  %c  %s\n", i < FLAG_FUSED ? flags[i].letter : more_flags[i - FLAG_FUSED].letter,
				  i < FLAG_FUSED ? flags[i].help : more_flags[i - FLAG_FUSED].help);
}

static void print_origin(const struct gus_model_report *r)
{
	const struct gus_routine *f = r->function;

	if (!f)
		return;
	gus_print("%s at 0x%" PRIx64, f->name, f->address);
	if (r->loop_number)
		printf(", loop %zu of %zu: 0x%zx to 0x%zx", r->loop_number, f->loops_n, r->loop->offset,
		       r->loop->offset + r->loop->size);
	if (r->loop_number && r->loop->file)
		gus_print(" (%s:%" PRIu32 ")", r->loop->file, r->loop->line);
	putchar('\n');
}

enum { RANGES_SHOWN = 4 };

/* Divisions, repeated strings and their like, whose time the table cannot know. */
static void print_ranges(const struct gus_program *p)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->insns_n; i++) {
		const struct gus_uarch_row *row = p->insns[i].row;

		if (!row || !row->most || n++ >= RANGES_SHOWN)
			continue;
		gus_print("            %s takes %g to %g cycles, by its operands: %g here\n", p->insns[i].text,
			  (double)row->least / GUS_UARCH_CENTI, (double)row->most / GUS_UARCH_CENTI,
			  (double)row->latency / GUS_UARCH_CENTI);
	}
	if (n > RANGES_SHOWN)
		printf("            and so do %u more\n", n - RANGES_SHOWN);
}

/* What the cycles of an iteration are. */
static const char *kind_of_cycles(const struct gus_model_report *r)
{
	const struct gus_modelled *m = r->modelled;

	if (r->settings->options.iterations)
		return "of the iterations asked for, start and end included";
	if (r->settings->stream)
		return "the mean of the second half of a run";
	if (!m->result.periodic)
		return "no period was found: the mean of a long run";
	return gus_program_is_ranged(m->program) ? "the machine repeats itself, with operands such as are taken below" :
		"exact: the machine repeats itself";
}

static void print_head(const struct gus_model_report *r)
{
	static const char *const sources[] = { [GUS_CORE_FETCH_IDEAL] = "an ideal front end",
		[GUS_CORE_FETCH_DECODERS] = "the decoders", [GUS_CORE_FETCH_UOP_CACHE] = "the uop cache",
		[GUS_CORE_FETCH_LOOP] = "the loop buffer",
		[GUS_CORE_FETCH_MIXED] = "the uop cache and, of windows that it does not keep, the decoders" };
	const struct gus_modelled *m = r->modelled;
	const struct gus_program *p = m->program;
	const struct gus_core_result *result = &m->result;
	uint32_t known = p->insns_n - p->unknown;

	print_origin(r);
	gus_print("%s (%s), %s, %s, uops from %s\n", r->settings->uarch->name, r->settings->uarch->title,
		  r->settings->both ? "both engines" : r->settings->stream ? "stream engine" : "core engine",
			  r->settings->options.unrolled ? "unrolled" : "as a loop",
		  sources[result->fetch]);
	gus_calibrated_text(r->settings->uarch);
	for (size_t i = 0; i < r->notes_n; i++)
		gus_print("note: %s\n", r->notes[i]);
	gus_print("\n%10.2f  cycles an iteration (%s)\n", m->cycles, kind_of_cycles(r));
	gus_model_expected_text(r->expectation, gus_bottleneck_name(m->verdict.bottleneck));
	if (m->verdict.broken != GUS_BOUNDS)
		gus_print("            which no machine can reach: %s alone need %.2f. Please report this\n",
			  gus_bound_name(m->verdict.broken), m->bounds.cycles[m->verdict.broken]);
	printf("%10" PRIu32 "  instructions, %" PRIu32 " uops, %" PRIu32 " issue slots\n", p->insns_n,
	       gus_program_executed(p),
	       gus_program_slots(p));
	if (m->cycles > 0)
		printf("%10.2f  instructions a cycle\n", p->insns_n / m->cycles);
	printf("%9.1f%%  of the instructions have a row in the table", 100.0 * known / p->insns_n);
	if (p->unknown)
		printf(p->unknown == 1 ? "; %" PRIu32 " has not, and is taken as the middle of its class" :
		       "; %" PRIu32 " have not, and are taken as the middle of their class", p->unknown);
	printf("\n");
	print_ranges(p);
	if (r->seconds >= 0)
		printf("%10.6f  seconds for %" PRIu64 " simulated instructions\n", r->seconds, m->instructions);
}

static void print_bounds(const struct gus_modelled *m)
{
	enum gus_bound limit = gus_model_limit(m);
	char between = ' ';

	printf("\nCycles an iteration if this were the only limit:\n");
	for (int b = 0; b < GUS_BOUNDS; b++) {
		if (m->bounds.cycles[b] < 0.0005)
			continue;
		gus_print("%10.2f  %s", m->bounds.cycles[b], gus_bound_name((enum gus_bound)b));
		if (b == GUS_BOUND_PORTS && m->bounds.ports) {
			for (unsigned p = 0; p < m->program->ports_n; p++)
				if (m->bounds.ports >> p & 1) {
					gus_print("%c%s", between, gus_model_port(m->program, p));
					between = '+';
				}
		}
		printf("%s\n", b == (int)limit ? "   <- the largest" : "");
	}
	if (limit != GUS_BOUNDS && m->cycles > m->bounds.cycles[limit] * 1.005)
		printf("%10.2f  more than that: the order of things and finite buffers\n",
		       m->cycles - m->bounds.cycles[limit]);
}

/* Which ports a uop of the program may use. */
static uint64_t ports_of(const struct gus_program *p)
{
	uint64_t ports = 0;

	for (uint32_t i = 0; i < p->uops_n; i++)
		ports |= p->uops[i].ports;
	return ports;
}

static void print_number(double value)
{
	if (value > 0.0005)
		printf(" %5.2f", value);
	else
		printf("     -");
}

static int digits_of_offset(const struct gus_program *p)
{
	int digits = 2;

	while (p->bytes >> 4 * digits && digits < 8)
		digits++;
	return digits + 2;
}

static void print_ports(const struct gus_modelled *m, int indent)
{
	const struct gus_program *p = m->program;
	double n = m->result.steady_iterations ? (double)m->result.steady_iterations : 1;
	uint64_t ports = ports_of(p);

	printf("\nUops an iteration on each port, and where they come from:\n%*s", indent, "");
	for (unsigned i = 0; i < p->ports_n; i++)
		if (ports >> i & 1)
			gus_print(" %5s", gus_model_port(p, i));
	printf("\n%*s", indent, "");
	for (unsigned i = 0; i < p->ports_n; i++)
		if (ports >> i & 1)
			print_number((double)m->result.dispatched[i] / n);
	printf("  all\n%*s", indent, "");
	for (unsigned i = 0; i < p->ports_n; i++)
		if (ports >> i & 1)
			print_number(m->bounds.port[i]);
	printf("  as even as it could be\n\n");
}

static void print_row(const struct gus_model_report *r, uint32_t insn, int indent, uint64_t ports)
{
	const struct gus_modelled *m = r->modelled;
	const struct gus_program *p = m->program;
	const struct gus_op *op = &p->ops[p->insns[insn].op];
	const struct gus_modelled_figures *f = &m->figures[p->insns[insn].op];
	unsigned bits = flags_of(p, insn);
	char letters[FLAG_KINDS + 1] = "";
	size_t n = 0;

	for (unsigned i = 0; i < FLAG_KINDS; i++)
		if (bits >> i & 1)
			letters[n++] = i < FLAG_FUSED ? flags[i].letter : more_flags[i - FLAG_FUSED].letter;
	letters[n] = '\0';
	printf("%*" PRIx64, indent, p->insns[insn].offset);
	if (bits >> FLAG_FUSED & 1) {
		for (unsigned i = 0; i < p->ports_n; i++)
			if (ports >> i & 1)
				printf("      ");
		printf("              %s", r->settings->costs ? "       " : "");
	} else {
		for (unsigned i = 0; i < p->ports_n; i++)
			if (ports >> i & 1)
				print_number(f->uops[i]);
		printf("  %4" PRIu32 " %3u %3u", f->latency, op->uops_n, op->slots);
		if (r->settings->costs)
			printf(" %6.2f", f->cost > -0.005 && f->cost < 0.005 ? 0 : f->cost);
	}
	gus_print(" %-4s %s\n", letters, p->insns[insn].text);
}

static void print_rows(const struct gus_model_report *r)
{
	const struct gus_program *p = r->modelled->program;
	uint64_t ports = ports_of(p);
	int indent = digits_of_offset(p);
	unsigned seen = 0, negative = 0;

	print_ports(r->modelled, indent);
	printf("%*s", indent, "at");
	for (unsigned i = 0; i < p->ports_n; i++)
		if (ports >> i & 1)
			gus_print(" %5s", gus_model_port(p, i));
	printf("   lat uop iss%s\n", r->settings->costs ? "   cost" : "");
	for (uint32_t i = 0; i < p->insns_n; i++) {
		print_row(r, i, indent, ports);
		seen |= flags_of(p, i);
		negative += r->settings->costs && r->modelled->figures[p->insns[i].op].cost < -0.005;
	}
	if (negative)
		printf("  a cost below nothing: without it others are in each other's way, and all is slower\n");
	print_flags_legend(seen);
}

static void print_shares(const char *what, const uint64_t *cycles, int n, uint64_t all, const char *(*name)(int))
{
	gus_print("%s", what);
	for (int i = 0; i < n; i++)
		if (cycles[i])
			gus_print("  %s %.1f%%", name(i), 100.0 * (double)cycles[i] / (double)all);
	putchar('\n');
}

static const char *commit_name(int state)
{
	return gus_commit_name((enum gus_commit)state);
}

static const char *stop_name(int reason)
{
	return reason == GUS_CORE_NOTHING ? "full_width" : gus_core_reason_name((enum gus_core_reason)reason);
}

static void print_cycles(const struct gus_modelled *m)
{
	if (!m->result.steady_cycles || !m->result.slots)
		return; /* of the stream engine */
	putchar('\n');
	print_shares("Cycles by what retirement did: ", m->result.commit, GUS_COMMITS, m->result.steady_cycles,
		     commit_name);
	print_shares("Cycles by what stopped issue:  ", m->result.stop, GUS_CORE_REASONS, m->result.steady_cycles,
		     stop_name);
}

static void print_variants(const struct gus_model_report *r)
{
	bool any = false;

	for (int v = 0; v < GUS_VARIANTS; v++) {
		if (!r->settings->variants[v])
			continue;
		if (!any)
			printf("\nCycles an iteration of variants, and the difference:\n");
		any = true;
		gus_print("%10.2f %+8.2f  %-9s %s\n", r->modelled->variant[v], r->modelled->variant[v] -
			  r->modelled->cycles,
			  gus_variant_name((enum gus_variant)v), gus_variant_help((enum gus_variant)v));
	}
}

enum { SHOWN = 8 };

/* What has to come together. */
static void print_set(const struct gus_model_report *r)
{
	const struct gus_modelled *m = r->modelled;

	if (!m->set_n) {
		printf("%9.1f%%  all of them together%s\n", 100 * m->all_speedup, r->settings->reach > 0 ?
		       ", which is less than what was to be reached" : "");
		return;
	}
	if (m->set_n == 1 && !(r->settings->reach > 0))
		return;
	printf("%9.1f%%  together: ", 100 * m->set_speedup);
	for (int i = 0; i < m->set_n; i++)
		gus_print("%s%s", i ? " + " : "", m->sensitivity[m->set[i]].name);
	printf("\n%9.1f%%  all of them together\n", 100 * m->all_speedup);
}

static void print_weights(const struct gus_modelled_settings *s)
{
	printf("\nHow much faster with more of one thing (stream engine):\n");
	for (size_t w = 0; w < s->weights_n; w++)
		if (s->weights[w] > 0)
			printf("%9.0f%%", 100 * (s->weights[w] - 1));
		else
			printf("%10s", "no limit");
	printf("  of it\n");
}

/* The largest, with bars of the longest one's length. */
static void print_sensitivity(const struct gus_model_report *r)
{
	const struct gus_modelled *m = r->modelled;
	double longest = m->sensitivity_n ? m->sensitivity[0].speedup : 0;
	int n = 0;

	if (!r->settings->weights_n)
		return;
	print_weights(r->settings);
	for (; n < m->sensitivity_n && n < SHOWN && m->sensitivity[n].speedup >= 0.001; n++) {
		for (size_t w = 0; w < r->settings->weights_n; w++)
			printf("%9.1f%%", 100 * m->speedups[w][n]);
		gus_print("  %-28s ", m->sensitivity[n].name);
		gus_model_bar(m->sensitivity[n].speedup / longest);
	}
	if (!n)
		printf("           none by itself: two or more limit it together, or nothing that has more to give\n");
	else if (n < m->sensitivity_n)
		printf("           %d others: %s\n", m->sensitivity_n - n, m->sensitivity[n].speedup < 0.001 ?
		       "less than 0.1% each" :
		       "less each");
	print_set(r);
}

/* With caches: what was hit, and what other caches would do. */
static void print_caches(const struct gus_model_report *r)
{
	static const char *const levels[GUS_HITS] = { "L1", "L2", "L3", "memory" };
	const struct gus_modelled *m = r->modelled;
	uint64_t all = 0;

	if (!r->settings->caches)
		return;
	for (unsigned i = 0; i < GUS_HITS; i++)
		all += m->answers[i];
	printf("\nAccesses by where they hit: ");
	for (unsigned i = 0; i < GUS_HITS; i++)
		gus_print(" %s %.2f %%", levels[i], all ? 100 * (double)m->answers[i] / (double)all : 0);
	if (m->unknown_addresses)
		printf("; the address of %.1f %% is not known, they are taken to hit L1",
		       100 * (double)m->unknown_addresses / (double)all);
	printf("\nHow much faster with other caches (a run each, that begins with empty ones):\n");
	for (unsigned i = 0; i < GUS_FUNCTIONAL_KNOBS; i++)
		gus_print("%9.1f%%  %s\n", 100 * m->functional[i].speedup, m->functional[i].name);
}

void gus_model_text(const struct gus_model_report *r)
{
	print_head(r);
	print_bounds(r->modelled);
	gus_model_agreement_text(r);
	gus_model_resources_text(r);
	print_sensitivity(r);
	print_caches(r);
	gus_model_causality_text(r);
	print_rows(r);
	print_cycles(r->modelled);
	print_variants(r);
	if (r->settings->timeline)
		gus_model_timeline_text(r->modelled);
}

/* Cycles, and how much of them is expected to be wrong. */
static void print_loop_figure(const struct gus_model_report *r, const struct gus_model_loop_figure *f)
{
	const struct gus_expected_error *e = f->cycles < 0 ? NULL :
		gus_model_expected(r->expectation, gus_bottleneck_name(f->verdict.bottleneck));

	if (f->cycles >= 0)
		printf(" %9.2f", f->cycles);
	else
		printf("         -");
	if (e && e->median >= 0)
		printf(" %6.1f%% %5.1f%%", e->median, e->p90);
	else
		printf("       -      -");
}

void gus_model_loops_text(const struct gus_model_report *r, const struct gus_model_loop_figure *figures)
{
	const struct gus_routine *f = r->function;

	print_origin(r);
	gus_print("%s (%s), %s engine: innermost loops; --loop N shows one\n", r->settings->uarch->name,
		  r->settings->uarch->title, r->settings->stream ? "stream" : "core");
	gus_calibrated_text(r->settings->uarch);
	putchar('\n');
	printf("loop    offset    bytes   insns    cycles   error    90%%  line\n");
	for (size_t i = 0; i < f->loops_n; i++) {
		const struct gus_loop *loop = &f->loops[i];

		printf("%4zu  %8zx %8zu %7u", i + 1, loop->offset, loop->size, loop->instructions);
		print_loop_figure(r, &figures[i]);
		if (loop->file)
			gus_print("  %s:%" PRIu32, loop->file, loop->line);
		printf("%s\n", loop->jumps ? "  (jumps inside)" : loop->branches ? "  (branches inside)" : "");
	}
}
