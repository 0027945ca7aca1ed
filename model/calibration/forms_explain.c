/* SPDX-License-Identifier: MIT */
/* Which ports explain what was measured of a form, alone and in mixes.
 *
 * Of a guess at its uops' ports follows how long a mix takes at least: the conjunctive bound of both, or the width of
 * issue. CPUs that bind uops to ports before they know what else comes do not always reach that; but they share out a
 * uop's choices evenly, so that a mix takes at most as long as its busiest port when all are shared out evenly. Where
 * both are the same a mix is exact. A guess explains a mix exactly if that takes the least that it may, and otherwise
 * if it lies between, but is not at the upper end, which is where one lands that shares more ports than was guessed.
 *
 * The table's ports are held against all first, and kept if they explain all. Then others are tried: one group in the
 * place of another, other counts, one group more or less; and taken if they explain all exactly. */
#include <math.h>
#include <stdlib.h>

#include "model/calibration/forms_private.h"

enum {
	COUNTS = 4,             /* uops of one group, at most, that are tried */
	MIXES_LEAST = 2,        /* to find out about groups */
	MIXES_FOR_ONE_OFF = 5,
	MIXES_FOR_MORE = 5,     /* to find more uops than the table has */
	TENTHS = GUS_UARCH_CENTI / 10, /* of a cycle: as fine as it is known how long a divider is busy */
};
#define OFF_MOST 0.25   /* of the one mix that may be off */
#define UPPER_END 0.3   /* how far off it counts to be where more ports are shared than was guessed */
#define CLEARLY 0.15    /* what of all mixes may be off, where the table is off by three times as much */

/* A guess at what a form uses. */
struct guess {
	struct gus_uarch_use uses[GUS_FORM_USES];
	unsigned n;
};

/* All that a pass executes. */
struct load {
	struct gus_uarch_use uses[4 * GUS_FORM_USES];
	unsigned n;
	double slots;
};

static void add_uses(struct load *l, const struct gus_uarch_use *uses, unsigned n, double copies, double slots)
{
	for (unsigned i = 0; i < n && l->n < sizeof(l->uses) / sizeof(*l->uses); i++)
		l->uses[l->n++] = (struct gus_uarch_use){ uses[i].group, (uint32_t)lround(uses[i].cycles * copies) };
	l->slots += slots * copies;
}

static double slots_of(const struct gus_uarch_row *row)
{
	return row ? (row->fused ? row->fused : row->uops) : 1;
}

static void add_row(struct load *l, const struct gus_forms *f, const struct gus_uarch_row *row, double copies)
{
	if (row && copies > 0)
		add_uses(l, f->c->nearest->uses + row->uses, row->uses_n, copies, slots_of(row));
}

static const struct gus_uarch_row *row_of(const struct gus_forms *f, const char *text)
{
	return gus_uarch_row(f->c->nearest, gus_insn_form_hash(text, strlen(text)));
}

/* What copies of a form and of a blocker load on ports, with what cuts the dependences of the first. */
static void load_of(struct load *l, const struct gus_forms *f, const struct gus_form *form, const struct guess *g,
		    const struct gus_form_mix *mix)
{
	static const char *const constants[] = {
		[GUS_ISA_X86_64] = "MOV (R32, I32)", [GUS_ISA_ARM64] = "movz (x, imm)" };
	static const char *const tests[] = {
		[GUS_ISA_X86_64] = "TEST (R64, R64)", [GUS_ISA_ARM64] = "ands (x, x, x)" };
	double copies = mix ? mix->copies : 1;

	*l = (struct load){ .n = 0 };
	add_uses(l, g->uses, g->n, copies, slots_of(form->row));
	add_row(l, f, row_of(f, constants[f->c->host->isa]), copies * form->cut_constants);
	add_row(l, f, row_of(f, tests[f->c->host->isa]), copies * form->cut_tests);
	if (mix)
		add_row(l, f, f->forms.v[mix->blocker].row, mix->blockers);
}

static double least_of(const struct gus_forms *f, const struct load *l)
{
	struct gus_uarch_bound bound = gus_uarch_bound_conjunctive(f->c->nearest, l->uses, l->n);
	double ports = (double)bound.centi / bound.ports / GUS_UARCH_CENTI;

	return ports > l->slots / f->issue_width ? ports : l->slots / f->issue_width;
}

static double most_of(const struct gus_forms *f, const struct load *l)
{
	double port[GUS_UARCH_PORTS_MAX] = { 0 }, most = l->slots / f->issue_width;

	for (unsigned i = 0; i < l->n; i++) {
		const struct gus_uarch_group *g = &f->c->nearest->groups[l->uses[i].group];

		for (unsigned p = 0; p < GUS_UARCH_PORTS_MAX; p++)
			if (g->ports >> p & 1)
				port[p] += l->uses[i].cycles / (double)GUS_UARCH_CENTI / g->size;
	}
	for (unsigned p = 0; p < GUS_UARCH_PORTS_MAX; p++)
		most = port[p] > most ? port[p] : most;
	return most;
}

/* How well something measured is explained: the distance from the least, and from all that is possible. */
struct fit { double exact, possible; };

static struct fit fit_of(const struct gus_forms *f, const struct gus_form *form, const struct guess *g,
			 const struct gus_form_mix *mix)
{
	double is = mix ? mix->cycles : form->stream[GUS_DIGITS_MANY], least, most;
	struct fit fit = { 0, 0 };
	struct load l;

	if (!(is > 0))
		return fit;
	load_of(&l, f, form, g, mix);
	least = least_of(f, &l);
	most = most_of(f, &l);
	fit.exact = fabs(is / least - 1);
	if (is < least || most - least < GUS_FORM_TOLERANCE * least)
		fit.possible = fit.exact;
	else if (is > most)
		fit.possible = is / most - 1 > GUS_FORM_TOLERANCE ? is / most - 1 : UPPER_END;
	else if (is > (1 - GUS_FORM_TOLERANCE) * most)
		fit.possible = UPPER_END;
	if (fit.exact <= GUS_FORM_TOLERANCE)
		fit.possible = fit.exact;
	return fit;
}

static void table_guess(struct guess *g, const struct gus_forms *f, const struct gus_form *form)
{
	g->n = 0;
	for (uint32_t i = 0; form->row && i < form->row->uses_n && i < GUS_FORM_USES; i++)
		g->uses[g->n++] = f->c->nearest->uses[form->row->uses + i];
}

double gus_forms_bound(const struct gus_forms *f, const struct gus_form *form)
{
	double ports = form->row ? gus_uarch_throughput(f->c->nearest, form->row) : 0;
	double issue = slots_of(form->row) / f->issue_width;

	return ports > issue ? ports : issue;
}

double gus_forms_least(const struct gus_forms *f, const struct gus_form *form, const struct gus_form_mix *mix)
{
	struct guess g;
	struct load l;

	table_guess(&g, f, form);
	load_of(&l, f, form, &g, mix);
	return least_of(f, &l);
}

bool gus_forms_contradicts(const struct gus_forms *f, const struct gus_form *form, const struct gus_form_mix *mix)
{
	struct guess g;

	table_guess(&g, f, form);
	return fit_of(f, form, &g, mix).possible > GUS_FORM_TOLERANCE;
}

/* The worst of all that was measured of a form. One mix of many may be off by what two busy schedulers do to each
 * other: on Zen 4 128 broadcasts from memory and 192 vpshufd take 76 cycles, where each alone takes 64, and neither
 * disturbs anything else. */
static struct fit worst_of(const struct gus_forms *f, const struct gus_form *form, const struct guess *g)
{
	struct fit alone = fit_of(f, form, g, NULL), worst = { 0, 0 };
	double second = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < form->mixes_n; i++) {
		struct fit one;

		if (!f->forms.v[form->mixes[i].blocker].trusted)
			continue;
		n++;
		one = fit_of(f, form, g, &form->mixes[i]);
		worst.exact = one.exact > worst.exact ? one.exact : worst.exact;
		if (one.possible > worst.possible) {
			second = worst.possible;
			worst.possible = one.possible;
		} else if (one.possible > second) {
			second = one.possible;
		}
	}
	if (n >= MIXES_FOR_ONE_OFF && worst.possible <= OFF_MOST)
		worst.possible = second;
	worst.exact = alone.exact > worst.exact ? alone.exact : worst.exact;
	worst.possible = alone.exact > worst.possible ? alone.exact : worst.possible;
	return worst;
}

static void take_guess(struct gus_form *form, const struct guess *g, struct fit fit)
{
	memcpy(form->uses, g->uses, sizeof(form->uses));
	form->uses_n = g->n;
	form->residual = fit.exact;
	form->uses_known = fit.possible <= GUS_FORM_TOLERANCE;
	form->uses_exact = fit.exact <= GUS_FORM_TOLERANCE;
}

/* The best so far. Another has to be better by more than noise if it is less like what the table has. */
struct search {
	const struct gus_forms *f;
	const struct gus_form *form;
	uint64_t domain;
	struct guess best;
	double score;
	struct fit fit;
};

static void try_guess(struct search *s, const struct guess *g, double unlike)
{
	struct fit fit = worst_of(s->f, s->form, g);
	double score = fit.possible + 0.1 * fit.exact + unlike;

	if (score >= s->score)
		return;
	s->score = score;
	s->fit = fit;
	s->best = *g;
}

/* Ports of groups that share some with a group: what a uop could as well be for. */
static uint64_t near_group(const struct gus_uarch *u, uint32_t group)
{
	uint64_t near = 0;

	for (uint32_t g = 0; g < u->groups_n; g++)
		if (u->groups[g].ports & u->groups[group].ports)
			near |= u->groups[g].ports;
	return near;
}

/* Another group, count, or both, in one place of a guess. Without mixes nothing is known of groups. */
static void vary(struct search *s, const struct guess *base, unsigned place, double unlike)
{
	const struct gus_uarch *u = s->f->c->nearest;
	const struct gus_uarch_use *was = &base->uses[place];
	uint64_t domain = near_group(u, was->group);
	struct guess g = *base;

	for (uint32_t group = 0; group < u->groups_n; group++) {
		if ((u->groups[group].ports & ~domain) || (s->form->mixes_n < MIXES_LEAST && group != was->group))
			continue;
		for (uint32_t count = 1; count <= COUNTS; count++) {
			int apart = abs((int)u->groups[group].size - (int)u->groups[was->group].size);
			double more = abs((int)(count * GUS_UARCH_CENTI) - (int)was->cycles) / (double)GUS_UARCH_CENTI;

			g.uses[place] = (struct gus_uarch_use){ group, count * GUS_UARCH_CENTI };
			try_guess(s, &g, unlike + 0.004 * more + 0.0005 * apart);
		}
	}
}

static void add_use(struct search *s, const struct guess *base)
{
	const struct gus_uarch *u = s->f->c->nearest;
	struct guess g = *base;

	if (g.n == GUS_FORM_USES)
		return;
	g.n++;
	for (uint32_t group = 0; group < u->groups_n; group++) {
		if (u->groups[group].ports & ~s->domain)
			continue;
		g.uses[base->n] = (struct gus_uarch_use){ group, GUS_UARCH_CENTI };
		try_guess(s, &g, 0.006);
		for (unsigned i = 0; base->n == 1 && i < base->n; i++)
			vary(s, &g, i, 0.008);
	}
}

static void leave_use(struct search *s, const struct guess *base)
{
	for (unsigned i = 0; base->n > 1 && i < base->n; i++) {
		struct guess g = { .n = 0 };

		for (unsigned k = 0; k < base->n; k++)
			if (k != i)
				g.uses[g.n++] = base->uses[k];
		try_guess(s, &g, 0.004);
		for (unsigned k = 0; k < g.n; k++)
			vary(s, &g, k, 0.006);
	}
}

/* How long a divider is busy, of a row that has it as cycles of its ports. */
static void explain_busy(const struct gus_forms *f, struct gus_form *form, struct guess *g)
{
	double bound = gus_forms_bound(f, form), off = fabs(form->throughput / bound - 1);
	unsigned most = 0;

	if (!(form->throughput > 0))
		return;
	for (unsigned i = 1; i < g->n; i++)
		if (g->uses[i].cycles > g->uses[most].cycles)
			most = i;
	take_guess(form, g, (struct fit){ off, off });
	if (form->uses_known || !g->n || form->row->units_n || g->uses[most].cycles <= GUS_UARCH_CENTI)
		return;
	g->uses[most].cycles = TENTHS * (uint32_t)lround(g->uses[most].cycles * form->throughput / bound / TENTHS);
	take_guess(form, g, (struct fit){ 0, 0 });
	form->uses_changed = true;
}

/* What cuts dependences takes ports as well: where these are known, so is what the form takes without. */
static void settle_throughput(const struct gus_forms *f, struct gus_form *form)
{
	struct guess g = { .n = form->uses_n };
	struct load l = { .n = 0 };

	if (!form->uses_exact || (!form->cut_constants && !form->cut_tests))
		return;
	memcpy(g.uses, form->uses, sizeof(g.uses));
	add_uses(&l, g.uses, g.n, 1, slots_of(form->row));
	if (least_of(f, &l) < form->throughput)
		form->throughput = least_of(f, &l);
}

static uint32_t cycles_of(const struct guess *g)
{
	uint32_t cycles = 0;

	for (unsigned i = 0; i < g->n; i++)
		cycles += g->uses[i].cycles;
	return cycles;
}

/* With more uops than the table has anything can be explained: then nothing less than exactly. Where the table is far
 * off already for the form alone, what is near is better than that. */
static bool is_convincing(const struct search *s, const struct guess *table)
{
	struct fit was = worst_of(s->f, s->form, table);

	if (s->fit.exact <= GUS_FORM_TOLERANCE)
		return s->best.n <= (table->n ? table->n : 1) || s->form->mixes_n >= MIXES_FOR_MORE;
	if (s->best.n != table->n || cycles_of(&s->best) > cycles_of(table))
		return false;
	return s->fit.possible <= GUS_FORM_TOLERANCE ||
		(s->fit.possible <= CLEARLY && was.possible >= 3 * s->fit.possible &&
		 fit_of(s->f, s->form, &s->best, NULL).exact <= GUS_FORM_TOLERANCE);
}

void gus_forms_explain(struct gus_forms *f, struct gus_form *form)
{
	struct search s = { .f = f, .form = form, .score = INFINITY, .domain = gus_forms_domain(f, form) };
	struct guess table;

	table_guess(&table, f, form);
	if (!gus_forms_may_mix(f, form)) {
		if (form->row)
			explain_busy(f, form, &table);
		return;
	}
	take_guess(form, &table, worst_of(f, form, &table));
	if (!form->row || !form->uses_known) {
		for (unsigned i = 0; i < table.n; i++)
			vary(&s, &table, i, 0);
		if ((s.fit.exact > GUS_FORM_TOLERANCE || !table.n) && form->mixes_n >= MIXES_LEAST) {
			leave_use(&s, &table);
			add_use(&s, &table);
		}
		if (s.score < INFINITY && is_convincing(&s, &table)) {
			take_guess(form, &s.best, s.fit);
			form->uses_changed = form->uses_known = true;
		}
	}
	settle_throughput(f, form);
}
