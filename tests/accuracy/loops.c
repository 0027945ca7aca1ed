/* SPDX-License-Identifier: MIT */
/* What the stream engine says holds a loop up, against what the core engine shows: random loops of real instructions,
 * each knob turned in both.
 *
 *	loops [--uarch NAME[,NAME...]] [--seed N] [--loops N] [--weight PERCENT] [--need PERCENT] [--verbose]
 *
 * The core engine is run anew for each knob with twice as much of the same thing (tests/accuracy/turned.h says what
 * that is of each). The stream engine has its knobs turned by --weight percent more: 100 by default, the same as the
 * core engine.
 *
 * A loop agrees if the stream engine's first knob, the one that gusprof model prints first, is among the core engine's
 * first two: at most one other knob gains more there, by more than one percent of the time. A loop of which the stream
 * engine says that nothing gains one percent agrees if in the core engine nothing gains three; these are counted, and
 * the share is given with and without them. A knob that gains nothing (below one percent) in the core engine is never
 * among the first. Loops that do not agree are printed with both lists under --verbose.
 *
 * The second question is about instructions: the one that causality (model/analysis/causality.h) charges most is made
 * to take no time in the core engine (turned_timeless), and so is each that causality ranks sixth or later. The first
 * one is to gain more than any of those. A rank is the number of instructions that are charged more (by over two
 * percent), plus one: those of a chain or of a port that are all charged alike share it, as nothing but chance would
 * order them. "more", "as much" (apart by at most one percent of the time) and "less" are counted apart, and "more" and
 * "as much" agree. What is charged nothing (less than a thousandth) ranks below the fifth. Loops in which none does
 * have nothing to compare.
 *
 * Exit status 1 if fewer than --need percent (90) agree on either. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/analysis/agreement.h"
#include "model/analysis/causality.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/core/frontend.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/random_loop.h"
#include "tests/accuracy/turned.h"

enum { SHOWN = 6 };
static const double nothing = 0.01, little = 0.03, tie = 0.01;

struct options {
	const char *uarchs;
	uint64_t seed, loops;
	double weight, need;
	bool verbose;
};

/* One loop in both engines. */
struct trial {
	uint64_t seed;
	struct gus_program *p;
	struct gus_core_config config;
	struct gus_core_options options;
	struct gus_sensitivity *knobs;  /* by the stream engine's speedup */
	/* speedups of the same knobs in the core engine; negative NAN: no counterpart */
	double *core;
	int n;
	double stream_cycles, core_cycles, slow_cycles;
	struct gus_causality causes;
	uint32_t *ranks;                /* ops, by what causality charges them, most first */
	double *relaxed;                /* by op: speedup in the core engine if it takes no time */
};
enum verdict { LESS, AS_MUCH, MORE, ALL_ALIKE, VERDICTS };

struct totals {
	unsigned loops, agree, balanced, balanced_agree;
	unsigned causes[VERDICTS];
	double error, slow_error;       /* sums of |stream / core - 1| and |slow / 2 core - 1| */
};

static void die(const struct gus_error *err)
{
	fprintf(stderr, "loops: %s\n", err->text);
	exit(99);
}

static double core_cycles(const struct gus_program *p, const struct gus_core_config *c,
			  const struct gus_core_options *o)
{
	struct gus_error err = { 0 };
	struct gus_core_result r;

	if (gus_core_run(p, c, o, &r, &err) != 0)
		die(&err);
	return (double)r.steady_cycles / (double)r.steady_iterations;
}

static double turned_cycles(const struct trial *t, const struct gus_knob *knob, bool slow)
{
	struct gus_core_config c = t->config;
	struct gus_program *p = turned_program(t->p, knob, slow, &c);
	double cycles = p ? core_cycles(p, &c, &t->options) : NAN;

	gus_program_free(p);
	return cycles;
}

static void run_stream(struct trial *t, double weight)
{
	struct gus_stream_options o = { .pointers = t->options.pointers };
	struct gus_error err = { 0 };

	t->n = gus_sensitivity_run(t->p, &t->config, &o, weight, &t->knobs, &t->stream_cycles, &err);
	if (t->n < 0)
		die(&err);
}

static void run_core(struct trial *t)
{
	static const struct gus_knob none = { GUS_KNOB_NONE, 0, 1 };

	t->core_cycles = core_cycles(t->p, &t->config, &t->options);
	t->slow_cycles = turned_cycles(t, &none, true);
	t->core = gus_alloc((size_t)t->n * sizeof(*t->core));
	for (int i = 0; i < t->n; i++) {
		bool slow = turned_is_slow(&t->knobs[i].knob);

		t->core[i] = (slow ? t->slow_cycles : t->core_cycles) / turned_cycles(t, &t->knobs[i].knob, slow) - 1;
	}
}

/* By what they are charged; of equals the first of the program first. */
static void rank(struct trial *t)
{
	t->ranks = gus_alloc(t->p->ops_n * sizeof(*t->ranks));
	for (uint32_t i = 0; i < t->p->ops_n; i++) {
		uint32_t k = i;

		for (; k && t->causes.op_cycles[t->ranks[k - 1]] < t->causes.op_cycles[i]; k--)
			t->ranks[k] = t->ranks[k - 1];
		t->ranks[k] = i;
	}
}

static void run_causes(struct trial *t)
{
	struct gus_stream_options o = { .pointers = t->options.pointers };
	struct gus_core_config config = t->config;
	struct gus_error err = { 0 };
	double nominal;

	if (gus_causality_run(t->p, &t->config, &o, &t->causes, NULL, &err) != 0)
		die(&err);
	rank(t);
	config.l1d_bank_ports = 0; /* see turned_timeless */
	nominal = core_cycles(t->p, &config, &t->options);
	t->relaxed = gus_alloc(t->p->ops_n * sizeof(*t->relaxed));
	for (uint32_t i = 0; i < t->p->ops_n; i++) {
		struct gus_program *without = turned_timeless(t->p, i);

		t->relaxed[i] = nominal / core_cycles(without, &config, &t->options) - 1;
		gus_program_free(without);
	}
}

static void trial_run(struct trial *t, const struct gus_uarch *u, uint64_t seed, double weight)
{
	struct gus_error err = { 0 };
	struct random_loop loop;

	random_loop_make(&loop, seed);
	*t = (struct trial){ .seed = seed, .options = { .pointers = GUS_CORE_POINTERS_DISTINCT } };
	t->p = gus_program_new(u, loop.bytes, loop.size, 0x401000, GUS_PROGRAM_TEXTS, &err);
	if (!t->p)
		die(&err);
	gus_core_config_of(&t->config, u);
	/* where uops come from is not what is turned */
	t->options.fetch = gus_frontend_mode(t->p, &t->config, &t->options);
	run_stream(t, weight);
	run_core(t);
	run_causes(t);
}

static void trial_end(struct trial *t)
{
	gus_program_free(t->p);
	free(t->knobs);
	free(t->core);
	free(t->ranks);
	free(t->relaxed);
	gus_causality_free(&t->causes);
}

/* How many knobs gain more in the core engine than the i-th does, and not only by a hair. */
static int better(const struct trial *t, int i)
{
	int n = 0;

	for (int k = 0; k < t->n; k++)
		n += t->core[k] > t->core[i] + tie;
	return n;
}

static bool balanced(const struct trial *t)
{
	return t->knobs[0].speedup < nothing;
}

static bool agrees(const struct trial *t)
{
	double most = 0;

	for (int k = 0; k < t->n; k++)
		most = fmax(most, isnan(t->core[k]) ? 0 : t->core[k]);
	if (balanced(t))
		return most < little;
	return t->core[0] >= nothing && better(t, 0) <= 1;
}

enum { BELOW = 5 };
static const double alike = 0.02;

/* The first in ranks that is below the fifth, or is charged nothing; the number of ops if none is. */
static uint32_t first_below(const struct trial *t)
{
	double fifth = t->p->ops_n > BELOW ? t->causes.op_cycles[t->ranks[BELOW - 1]] : 0;
	uint32_t i = 0;

	while (i < t->p->ops_n && t->causes.op_cycles[t->ranks[i]] > 0.001 * t->causes.cycles &&
	       (i < BELOW || t->causes.op_cycles[t->ranks[i]] >= fifth * (1 - alike)))
		i++;
	return i;
}

/* The op below the fifth that gains most. */
static uint32_t best_below(const struct trial *t)
{
	uint32_t first = first_below(t), best = t->ranks[first];

	for (uint32_t i = first; i < t->p->ops_n; i++)
		if (t->relaxed[t->ranks[i]] > t->relaxed[best])
			best = t->ranks[i];
	return best;
}

static enum verdict judge(const struct trial *t)
{
	double first, below;

	if (first_below(t) == t->p->ops_n)
		return ALL_ALIKE;
	first = t->relaxed[t->ranks[0]];
	below = t->relaxed[best_below(t)];
	return first > below + tie ? MORE : first >= below - tie ? AS_MUCH : LESS;
}

static void print_op(const struct trial *t, uint32_t op)
{
	printf("    charged %6.2f of %.2f cycles, gains %6.1f%%  %s\n", t->causes.op_cycles[op], t->causes.cycles,
	       100 * t->relaxed[op],
	       t->p->insns[t->p->ops[op].insn].text);
}

static void print_causes(const struct trial *t, const char *name)
{
	printf("%s seed %llu: causality\n", name, (unsigned long long)t->seed);
	for (uint32_t i = 0; i < BELOW && i < t->p->ops_n; i++)
		print_op(t, t->ranks[i]);
	printf("   below\n");
	print_op(t, best_below(t));
}

/* What of the core engine the stream engine has not that makes the time differ. */
static void print_reason(const struct trial *t)
{
	struct gus_agreement a;
	struct gus_error err = { 0 };

	if (gus_agreement_run(t->p, &t->config, &t->options, &a, &err) != 0)
		die(&err);
	if (a.reason < GUS_LIMITS)
		printf("  apart by %+.1f%%: %s (core %.2f without)\n", 100 * a.difference,
		       gus_machine_limits[a.reason].name,
		       a.relaxed[a.reason]);
	else
		printf("  apart by %+.1f%%: nothing alone (core %.2f without any)\n", 100 * a.difference, a.all);
}

static void print_trial(const struct trial *t, const char *name)
{
	bool shown[1024] = { false };

	printf("%s seed %llu: %u instructions, core %.2f (at half pace %.2f), stream %.2f cycles\n", name,
	       (unsigned long long)t->seed,
	       t->p->insns_n, t->core_cycles, t->slow_cycles / 2, t->stream_cycles);
	for (int row = 0; row < SHOWN && row < t->n; row++) {
		int best = -1;

		for (int k = 0; k < t->n; k++)
			if (!shown[k] && !isnan(t->core[k]) && (best < 0 || t->core[k] > t->core[best]))
				best = k;
		printf("  stream %7.1f%% %-26s", 100 * t->knobs[row].speedup, t->knobs[row].name);
		if (best >= 0) {
			printf(" core %7.1f%% %s", 100 * t->core[best], t->knobs[best].name);
			shown[best] = true;
		}
		putchar('\n');
	}
	print_reason(t);
}

static void count(struct totals *sum, const struct trial *t)
{
	bool agree = agrees(t);

	sum->loops++;
	sum->causes[judge(t)]++;
	sum->agree += agree;
	sum->balanced += balanced(t);
	sum->balanced_agree += balanced(t) && agree;
	sum->error += fabs(t->stream_cycles / t->core_cycles - 1);
	sum->slow_error += fabs(t->slow_cycles / 2 / t->core_cycles - 1);
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void print_totals(const struct totals *sum, const char *name)
{
	unsigned some = sum->loops - sum->balanced;

	printf("%s: %u of %u loops agree (%.1f%%); of %u with a knob that gains, %u (%.1f%%); of %u without one, %u\n",
	       name, sum->agree,
	       sum->loops, percent(sum->agree, sum->loops), some, sum->agree - sum->balanced_agree,
	       percent(sum->agree - sum->balanced_agree, some), sum->balanced, sum->balanced_agree);
	printf("%s: cycles differ by %.1f%% on average between the engines, by %.1f%% between the core engine and "
	       "itself at half pace\n",
	       name, percent(sum->error, sum->loops), percent(sum->slow_error, sum->loops));
}

static void print_cause_totals(const struct totals *sum, const char *name)
{
	unsigned asked = sum->loops - sum->causes[ALL_ALIKE];

	printf("%s: the instruction that causality charges most gains more in the core engine than any below the fifth "
	       "in %u of %u loops, "
	       "as much in %u, less in %u (%.1f%% agree); in %u none is below\n", name, sum->causes[MORE], asked,
		       sum->causes[AS_MUCH],
	       sum->causes[LESS], percent(asked - sum->causes[LESS], asked), sum->causes[ALL_ALIKE]);
}

static double run_uarch(const char *what, const struct options *o)
{
	const char *name = gus_uarch_builtin_find(what);
	struct gus_error err = { 0 };
	struct gus_uarch *u = name ? gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, &err) : NULL;
	struct totals sum = { 0 };

	if (!u) {
		fprintf(stderr, "loops: %s: %s\n", what, name ? err.text : "there is no such table");
		exit(99);
	}
	for (uint64_t i = 0; i < o->loops; i++) {
		struct trial t;

		trial_run(&t, u, o->seed * 1000003 + i, 1 + o->weight / 100);
		if (o->verbose && !agrees(&t))
			print_trial(&t, name);
		if (o->verbose && judge(&t) == LESS)
			print_causes(&t, name);
		count(&sum, &t);
		trial_end(&t);
	}
	gus_uarch_free(u);
	print_totals(&sum, name);
	print_cause_totals(&sum, name);
	return fmin(percent(sum.agree, sum.loops),
		    percent(sum.causes[MORE] + sum.causes[AS_MUCH], sum.loops - sum.causes[ALL_ALIKE]));
}

static double number(const char *text, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= least && value <= most)) {
		fprintf(stderr, "loops: '%s' is no number from %g to %g\n", text, least, most);
		exit(99);
	}
	return value;
}

static void read_options(struct options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "uarch", required_argument, NULL, 'u' }, { "seed", required_argument, NULL, 's' },
		{ "loops", required_argument, NULL, 'l' }, { "weight", required_argument, NULL, 'w' },
		{ "need", required_argument, NULL, 'n' }, { "verbose", no_argument, NULL, 'v' }, { NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'u')
			o->uarchs = optarg;
		else if (option == 's')
			o->seed = (uint64_t)number(optarg, 0, 1e15);
		else if (option == 'l')
			o->loops = (uint64_t)number(optarg, 1, 1e6);
		else if (option == 'w')
			o->weight = number(optarg, 1, 10000);
		else if (option == 'n')
			o->need = number(optarg, 0, 100);
		else if (option == 'v')
			o->verbose = true;
		else
			exit(99);
	}
}

int main(int argc, char **argv)
{
	struct options o = { .uarchs = "skylake,alderlake", .seed = 1, .loops = 200, .weight = 100, .need = 90 };
	char *names, *rest, *name;
	bool enough = true;

	read_options(&o, argc, argv);
	rest = names = gus_strdup(o.uarchs);
	while ((name = strsep(&rest, ",")))
		enough &= run_uarch(name, &o) >= o.need;
	free(names);
	return enough ? 0 : 1;
}
