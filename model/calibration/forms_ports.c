/* SPDX-License-Identifier: MIT */
/* Mixes: a form beside others whose ports are known (the blockers), as many of each as would take the same time alone.
 * If they share no port both together take no longer than each alone, if they share all it is twice as long.
 *
 * Blockers are of the table too, and it can be wrong about them. So those that may be blockers are held against each
 * other first, and as long as any contradict the table the one that is in most contradictions goes. */
#include <math.h>
#include <stdlib.h>

#include "model/calibration/forms_private.h"

enum {
	MIX_CYCLES = 72, MIX_MOST = 192, MIX_LEAST = 12, /* of a pass; copies of both together; of each */
	QUICK_MIXES = 4, FULL_MIXES = 16, /* with blockers, of a form that is none */
	LATENCY_MOST = 400,     /* of a blocker, hundredths */
};

/* Few mixes, also where somebody simulates them. */
static bool is_quick(const struct gus_forms *f)
{
	return f->c->depth == GUS_CALIBRATION_QUICK || gus_calibration_host_is_simulated(f->c->host);
}

static uint64_t ports_of(const struct gus_forms *f, const struct gus_form *form)
{
	uint64_t ports = 0;

	for (uint32_t i = 0; form->row && i < form->row->uses_n; i++)
		ports |= f->c->nearest->groups[f->c->nearest->uses[form->row->uses + i].group].ports;
	return ports;
}

/* Ports of a form and of whatever groups share some with it; all, where the table knows none. */
uint64_t gus_forms_domain(const struct gus_forms *f, const struct gus_form *form)
{
	uint64_t own = ports_of(f, form), all = own;

	for (uint32_t g = 0; g < f->c->nearest->groups_n; g++)
		if (f->c->nearest->groups[g].ports & own)
			all |= f->c->nearest->groups[g].ports;
	return own ? all : UINT64_MAX;
}

/* Blockers. */

/* Of a multiplication and addition the third operand is in the way of others on some CPUs: on Zen 4 144 of them and
 * 144 additions take 100 cycles, though they share no pipe. */
static bool is_plain(const struct gus_subject *s)
{
	if (s->info.class == GUS_INSN_FP_FMA)
		return false;
	if (s->info.flags & GUS_INSN_MOVE || s->info.vector_bits > 128 || s->info.flags & GUS_INSN_EVEX ||
	    (s->info.memory_count && s->info.class != GUS_INSN_LOAD && s->info.class != GUS_INSN_LEA))
		return false;
	for (unsigned i = 0; i < s->ends; i++)
		if (s->end[i].carrier == GUS_CARRIER_MASK || (s->end[i].operand < 0 && s->end[i].read))
			return false;
	return true;
}

/* One uop, each of its ports for a cycle. */
bool gus_forms_could_block(const struct gus_forms *f, const struct gus_form *form)
{
	const struct gus_uarch_row *row = form->row;

	if (form->subject.refused || !row || !row->uses_n || row->uops != 1 || row->guessed || row->units_n ||
	    row->latency > LATENCY_MOST || gus_body_has_digits(&form->subject) || !is_plain(&form->subject))
		return false;
	for (uint32_t i = 0; i < row->uses_n; i++)
		if (f->c->nearest->uses[row->uses + i].cycles != GUS_UARCH_CENTI)
			return false;
	return true;
}

/* And it takes as long as the table says. */
static bool may_block(const struct gus_forms *f, const struct gus_form *form)
{
	double bound = gus_forms_bound(f, form), is = form->stream[GUS_DIGITS_MANY];

	return gus_forms_could_block(f, form) && fabs(is - bound) <= GUS_FORM_TOLERANCE * bound;
}

/* The first choice are results that do not depend on what was in their register; then vectors by VEX, which go with
 * all. */
static unsigned worth(const struct gus_subject *s)
{
	unsigned updates = 0;

	for (unsigned i = 0; i < s->ends; i++)
		updates |= s->end[i].operand >= 0 && s->end[i].read && s->end[i].write;
	return (s->info.flags & GUS_INSN_LEGACY_VECTOR ? 0u : 2u) + !updates;
}

static bool goes_with(const struct gus_form *form, const struct gus_form *blocker)
{
	return !(blocker->subject.info.flags & GUS_INSN_LEGACY_VECTOR) ||
		!(form->subject.info.flags & (GUS_INSN_VEX | GUS_INSN_EVEX));
}

/* Of each set of ports the best two of different rows, as one of them may be wrong; for a thorough look three. */
static void choose(struct gus_forms *f, uint32_t number)
{
	const struct gus_form *form = &f->forms.v[number];
	unsigned alike = 0, worst = 0;

	for (unsigned i = 0; i < f->blockers.n; i++) {
		const struct gus_form *other = &f->forms.v[f->blockers.v[i]];

		if (ports_of(f, form) != ports_of(f, other))
			continue;
		if (form->row == other->row) {
			if (worth(&form->subject) > worth(&other->subject))
				f->blockers.v[i] = number;
			return;
		}
		if (!alike++ || worth(&other->subject) < worth(&f->forms.v[f->blockers.v[worst]].subject))
			worst = i;
	}
	if (alike < (is_quick(f) ? 2 : 3))
		gus_vec_push(&f->blockers, number);
	else if (worth(&form->subject) > worth(&f->forms.v[f->blockers.v[worst]].subject))
		f->blockers.v[worst] = number;
}

void gus_forms_choose_blockers(struct gus_forms *f)
{
	for (uint32_t i = 0; i < f->forms.n; i++)
		if (may_block(f, &f->forms.v[i]))
			choose(f, i);
	for (size_t i = 0; i < f->blockers.n; i++)
		f->forms.v[f->blockers.v[i]].trusted = true;
}

/* Mixes. */

static bool is_mixed(const struct gus_form *form, uint32_t blocker)
{
	for (unsigned i = 0; i < form->mixes_n; i++)
		if (form->mixes[i].blocker == blocker)
			return true;
	return false;
}

static void add_mix(struct gus_forms *f, struct gus_form *form, uint32_t number)
{
	const struct gus_form *blocker = &f->forms.v[number];
	double a = form->stream[GUS_DIGITS_MANY], b = blocker->stream[GUS_DIGITS_MANY], pass = MIX_CYCLES;
	struct gus_form_mix *mix = &form->mixes[form->mixes_n];
	struct gus_stream s = { .subject = { &form->subject, &blocker->subject }, .digits = GUS_DIGITS_MANY };
	struct gus_micro *micro;

	if (form->mixes_n == GUS_FORM_MIXES || is_mixed(form, number) || !goes_with(form, blocker))
		return;
	if (pass * (1 / a + 1 / b) > MIX_MOST)
		pass = MIX_MOST / (1 / a + 1 / b);
	if (pass < MIX_LEAST * a)
		pass = MIX_LEAST * a;
	s.copies[0] = (unsigned)lround(pass / a);
	s.copies[1] = (unsigned)lround(pass / b);
	micro = s.copies[1] && s.copies[1] <= 2 * MIX_MOST ? gus_body_stream(&f->pool, &s) : NULL;
	if (!micro)
		return;
	*mix = (struct gus_form_mix){ number, s.copies[0], s.copies[1], NAN };
	form->mixes_n++;
	gus_vec_push(&f->jobs, (struct gus_form_job){
		.micro = micro, .copies = 1, .expected = is_quick(f) ? NAN : gus_forms_least(f, form, mix),
		.cycles = &mix->cycles, .form = form });
}

void gus_forms_mix_blockers(struct gus_forms *f)
{
	for (size_t i = 0; i < f->blockers.n; i++)
		for (size_t k = 0; k < i; k++) {
			struct gus_form *a = &f->forms.v[f->blockers.v[i]], *b = &f->forms.v[f->blockers.v[k]];
			bool turned = !goes_with(a, b);

			if (gus_forms_domain(f, a) & gus_forms_domain(f, b))
				add_mix(f, turned ? b : a, f->blockers.v[turned ? i : k]);
		}
}

/* What a blocker was mixed with is known of the other as well. */
static void mirror(struct gus_forms *f)
{
	for (size_t i = 0; i < f->blockers.n; i++) {
		const struct gus_form *a = &f->forms.v[f->blockers.v[i]];

		for (unsigned m = 0; m < a->mixes_n; m++) {
			const struct gus_form_mix *mix = &a->mixes[m];
			struct gus_form *b = &f->forms.v[mix->blocker];

			if (!is_mixed(b, f->blockers.v[i]) && b->mixes_n < GUS_FORM_MIXES)
				b->mixes[b->mixes_n++] = (struct gus_form_mix){
					f->blockers.v[i], mix->blockers, mix->copies, mix->cycles };
		}
	}
}

static unsigned contradictions(const struct gus_forms *f, const struct gus_form *form)
{
	unsigned n = 0;

	for (unsigned m = 0; m < form->mixes_n; m++)
		n += f->forms.v[form->mixes[m].blocker].trusted && gus_forms_contradicts(f, form, &form->mixes[m]);
	return n;
}

void gus_forms_judge_blockers(struct gus_forms *f)
{
	mirror(f);
	for (;;) {
		struct gus_form *worst = NULL;
		unsigned most = 0;

		for (size_t i = 0; i < f->blockers.n; i++) {
			struct gus_form *b = &f->forms.v[f->blockers.v[i]];
			unsigned n = b->trusted ? contradictions(f, b) : 0;

			if (n > most) {
				most = n;
				worst = b;
			}
		}
		if (!worst)
			return;
		worst->trusted = false;
	}
}

/* Divisions keep their ports for long or a unit, and what is eliminated has none: neither is seen by blocking. */
bool gus_forms_may_mix(const struct gus_forms *f, const struct gus_form *form)
{
	double is = form->stream[GUS_DIGITS_MANY];
	bool eliminated = (form->subject.info.flags & GUS_INSN_MOVE) &&
		is < (1 - GUS_FORM_TOLERANCE) * gus_forms_bound(f, form);

	return form->wanted && !form->subject.refused && is > 0 && !eliminated &&
		!gus_body_has_digits(&form->subject) && (!form->row || (form->row->uses_n && !form->row->units_n));
}

/* What tells most comes first: a blocker whose ports are some of the form's or none, before one that has all. */
static unsigned rank_of(const struct gus_forms *f, const struct gus_form *form, const struct gus_form *blocker)
{
	uint64_t own = ports_of(f, form), its = ports_of(f, blocker);

	return (own && !(own & ~its) && own != its ? 64u : 0) + (unsigned)__builtin_popcountll(its);
}

static uint32_t next_blocker(const struct gus_forms *f, const struct gus_form *form)
{
	uint64_t domain = gus_forms_domain(f, form);
	uint32_t best = UINT32_MAX;

	for (size_t i = 0; i < f->blockers.n; i++) {
		const struct gus_form *b = &f->forms.v[f->blockers.v[i]];

		if (b == form || !b->trusted || !(ports_of(f, b) & domain) || !goes_with(form, b) ||
		    is_mixed(form, f->blockers.v[i]))
			continue;
		if (best == UINT32_MAX || rank_of(f, form, b) < rank_of(f, form, &f->forms.v[best]))
			best = f->blockers.v[i];
	}
	return best;
}

void gus_forms_mix(struct gus_forms *f)
{
	unsigned most = is_quick(f) ? QUICK_MIXES : FULL_MIXES;

	for (size_t i = 0; i < f->forms.n; i++) {
		struct gus_form *form = &f->forms.v[i];

		for (unsigned n = 0; gus_forms_may_mix(f, form) && n < most; n++) {
			uint32_t blocker = next_blocker(f, form);

			if (blocker == UINT32_MAX)
				break;
			add_mix(f, form, blocker);
			if (!is_mixed(form, blocker))
				break;
		}
	}
}
