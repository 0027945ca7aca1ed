/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/calibration/fitted.h"
#include "model/calibration/forms_private.h"
#include "model/calibration/known_forms.h"

enum { QUICK_FORMS = 64, FULL_FORMS = 512 }; /* of a recording: the heaviest */

static struct gus_form *form_of(struct gus_forms *f, uint64_t form)
{
	for (size_t i = 0; i < f->forms.n; i++)
		if (f->forms.v[i].subject.info.form == form)
			return &f->forms.v[i];
	return NULL;
}

/* Each form once, as an instruction that can be timed if there is any. */
static void add_form(struct gus_forms *f, const uint8_t *bytes, uint32_t size, double weight, bool wanted)
{
	struct gus_form form = { .wanted = wanted, .throughput = NAN }, *there;

	gus_subject_of(&form.subject, f->c->host, &f->pool, bytes, size);
	form.subject.weight = weight;
	form.row = gus_uarch_row(f->c->nearest, form.subject.info.form);
	for (unsigned d = 0; d < GUS_DIGITS; d++)
		form.stream[d] = form.uncut[d] = NAN;
	there = form_of(f, form.subject.info.form);
	if (!there)
		gus_vec_push(&f->forms, form);
	else if (there->subject.refused && !form.subject.refused)
		there->subject = form.subject;
}

static int by_weight(const void *a, const void *b)
{
	const struct gus_calibration_insn *x = *(const struct gus_calibration_insn *const *)a;
	const struct gus_calibration_insn *y = *(const struct gus_calibration_insn *const *)b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x < y ? -1 : x > y; /* as they came */
}

/* The heaviest first; then our own, which without a recording are what is asked for, and otherwise block ports. */
static void add_forms(struct gus_forms *f)
{
	const struct gus_calibration *c = f->c;
	size_t most = c->depth == GUS_CALIBRATION_QUICK ? QUICK_FORMS : FULL_FORMS;
	const struct gus_calibration_insn **order = gus_resize(NULL, c->insns_n + 1, sizeof(*order));

	for (size_t i = 0; i < c->insns_n; i++)
		order[i] = &c->insns[i];
	qsort(order, c->insns_n, sizeof(*order), by_weight);
	for (size_t i = 0; i < c->insns_n && f->forms.n < most; i++)
		add_form(f, order[i]->bytes, order[i]->size, order[i]->weight, true);
	free(order);
	for (size_t i = 0; i < gus_known_forms_n; i++)
		if (gus_known_forms[i].isa == c->host->isa)
			add_form(f, gus_known_forms[i].bytes, gus_known_forms[i].size, 0, !c->insns_n);
}

static double least(double a, double b)
{
	return a < b || isnan(b) ? a : b;
}

/* Of integer divisions what small quotients take, which most are; of others what all digits take. */
static enum gus_digits usual_digits(const struct gus_subject *s)
{
	return s->info.class == GUS_INSN_DIV ? GUS_DIGITS_FEW : GUS_DIGITS_MANY;
}

static void settle_throughputs(struct gus_forms *f)
{
	for (size_t i = 0; i < f->forms.n; i++) {
		struct gus_form *form = &f->forms.v[i];
		enum gus_digits d = usual_digits(&form->subject);

		form->throughput = isnan(form->stream[d]) ? least(form->stream[GUS_DIGITS_MANY],
								  form->uncut[GUS_DIGITS_MANY])
							  : least(form->stream[d], form->uncut[d]);
	}
}

static int measure(struct gus_forms *f, struct gus_error *err)
{
	gus_forms_width(f);
	gus_forms_links(f);
	gus_forms_time(f);
	f->jobs_expected = 3 * f->jobs.n;
	if (gus_forms_run(f, "latency and throughput of forms", err))
		return -1;
	gus_forms_settle_links(f);
	gus_forms_settle_width(f);
	settle_throughputs(f);
	gus_forms_choose_blockers(f);
	gus_forms_mix_blockers(f);
	if (gus_forms_run(f, "what blocks ports", err))
		return -1;
	gus_forms_judge_blockers(f);
	gus_forms_mix(f);
	f->jobs_expected = f->jobs_done + f->jobs.n;
	return gus_forms_run(f, "ports of forms", err);
}

/* What was found of latencies. */
struct latencies {
	double latency, low, high, load;
	bool split;             /* some rest on how a round trip was shared out */
	bool bound;             /* none is longer than the throughput: they may be less */
	int from, to;
};

/* Latencies are whole cycles but for what is shared out: a figure that is next to one is one. */
static double whole(double cycles)
{
	double nearest = round(cycles);

	return fabs(cycles - nearest) <= 0.05 + 0.01 * nearest ? nearest : cycles;
}

static bool goes_between(const struct gus_chain *c)
{
	return c->links[GUS_LINK_TO_VECTOR] || c->links[GUS_LINK_FROM_VECTOR] || c->links[GUS_LINK_TO_MASK] ||
		c->links[GUS_LINK_FROM_MASK];
}

/* A mask is beside the point where a result comes from other operands as well: a table has one figure for all of
 * these, and it is in masks that nobody waits. */
static bool is_beside(const struct gus_subject *s, const struct gus_form_chain *c)
{
	if (s->end[c->chain.from].carrier != GUS_CARRIER_MASK || s->end[c->chain.to].carrier == GUS_CARRIER_MASK)
		return false;
	for (unsigned i = 0; i < s->ends; i++)
		if (s->end[i].read && s->end[i].carrier == s->end[c->chain.to].carrier)
			return true;
	return false;
}

static void take_chain(struct latencies *l, const struct gus_forms *f, const struct gus_form *form,
		       const struct gus_form_chain *c)
{
	const struct gus_subject *s = &form->subject;
	double cycles = whole(gus_forms_latency(f, form, c)), median = cycles + c->median - c->cycles;
	bool load = s->end[c->chain.from].carrier == GUS_CARRIER_ADDRESS && s->info.memory[0].use;

	if (isnan(cycles) || is_beside(s, c))
		return;
	if (cycles < 0.6 && s->end[c->chain.to].carrier == GUS_CARRIER_FLAGS)
		return; /* fused with what closes the chain */
	if (cycles < 0.6) /* passed by what renames registers; what is left is how many of them a cycle takes */
		cycles = median = 0;
	l->split |= goes_between(&c->chain);
	if (load) {
		l->load = isnan(l->load) || cycles > l->load ? cycles : l->load;
		return;
	}
	l->high = isnan(l->high) || median > l->high ? median : l->high;
	if (c->chain.digits != usual_digits(s)) {
		l->low = isnan(l->low) || cycles < l->low ? cycles : l->low;
		return;
	}
	if (isnan(l->latency) || cycles > l->latency) {
		l->latency = cycles;
		l->from = c->chain.from;
		l->to = c->chain.to;
	}
}

/* Where it lies: of what is no longer than the throughput anywhere below; of what is no whole number of cycles, as of a
 * divider, between two. */
static void widen(struct latencies *l)
{
	if (l->bound)
		l->low = 0;
	if (fabs(l->latency - round(l->latency)) <= 0.1)
		return;
	l->low = fmin(l->low, floor(l->latency));
	l->high = fmax(l->high, ceil(l->latency));
}

static void take_latencies(struct latencies *l, const struct gus_forms *f, const struct gus_form *form)
{
	*l = (struct latencies){ NAN, NAN, NAN, NAN, false, false, -1, -1 };
	for (unsigned i = 0; i < form->chains_n; i++)
		take_chain(l, f, form, &form->chains[i]);
	if (isnan(l->low) || l->low > l->latency)
		l->low = l->latency;
	if (l->high < l->latency)
		l->high = l->latency;
	l->bound = l->latency > 1.5 && l->latency <= form->throughput * (1 + GUS_FORM_TOLERANCE);
	widen(l);
}

static void write_uses(const struct gus_forms *f, const struct gus_form *form, char *out, size_t room)
{
	size_t n = 0;

	/* Stores to one line may go together, and to others not: what they are seen to take is no matter of ports. */
	for (unsigned i = 0; form->uses_changed && !gus_subject_stores(&form->subject) && i < form->uses_n && n < room;
	     i++)
		n += (size_t)snprintf(out + n, room - n, "%s%s:%g", i ? " " : "",
				      f->c->nearest->groups[form->uses[i].group].name,
				      form->uses[i].cycles / (double)GUS_UARCH_CENTI);
	if (n >= room) /* what does not fit would be another row */
		*out = 0;
}

static enum gus_confidence confidence_of(const struct gus_form *form)
{
	if (isnan(form->throughput))
		return GUS_CONFIDENCE_NONE;
	if (!form->uses_known || form->trouble & (GUS_MICRO_MOVED | GUS_MICRO_BESIDE))
		return GUS_CONFIDENCE_LOW;
	return form->trouble || form->uses_changed || !form->uses_exact ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_HIGH;
}

static enum gus_confidence latency_confidence_of(const struct gus_form *form, const struct latencies *l)
{
	if (isnan(l->latency) && isnan(l->load))
		return GUS_CONFIDENCE_NONE;
	if (form->trouble & GUS_MICRO_MOVED)
		return GUS_CONFIDENCE_LOW;
	return l->split || l->bound || form->trouble ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_HIGH;
}

static const char *ports_said(const struct gus_form *form)
{
	if (!form->row)
		return form->uses_changed ? "no row: ports by mixes" : "no row";
	if (form->uses_changed)
		return form->mixes_n ? "other ports by mixes" : "busy for another time";
	if (!form->uses_known)
		return form->mixes_n ? "no ports explain the mixes" : "the ports do not explain the time";
	if (!form->mixes_n)
		return "ports not mixed";
	return form->uses_exact ? "ports confirmed by mixes" : "ports possible by mixes";
}

static void report(struct gus_forms *f, struct gus_form *form, struct gus_fit *out)
{
	struct gus_fit_form r = { .latency = NAN, .latency_low = NAN, .latency_high = NAN, .load_latency = NAN,
				     .throughput = NAN, .residual = NAN };
	struct latencies l;

	snprintf(r.form, sizeof(r.form), "%s", form->subject.form);
	if (form->subject.refused) {
		snprintf(r.why, sizeof(r.why), "%s", form->subject.refused);
		gus_vec_push(&out->forms, r);
		return;
	}
	take_latencies(&l, f, form);
	gus_forms_explain(f, form);
	r.latency = l.latency;
	r.latency_low = l.low;
	r.latency_high = l.high;
	r.load_latency = l.load;
	r.throughput = form->throughput;
	r.residual = form->residual;
	r.confidence = confidence_of(form);
	r.latency_confidence = latency_confidence_of(form, &l);
	write_uses(f, form, r.uses, sizeof(r.uses));
	if (form->fault && r.confidence == GUS_CONFIDENCE_NONE && r.latency_confidence == GUS_CONFIDENCE_NONE) {
		snprintf(r.why, sizeof(r.why), "%s", form->fault);
		gus_vec_push(&out->forms, r);
		return;
	}
	snprintf(r.why, sizeof(r.why), "%s (%u)%s%s%s", ports_said(form), form->mixes_n,
		 l.latency == 0 ? "; eliminated" : "", l.split ? "; latency out of a round trip" : "",
		 l.bound ? "; latency at most" : "");
	gus_vec_push(&out->forms, r);
}

static void forms_free(struct gus_forms *f)
{
	for (size_t i = 0; i < f->jobs.n; i++)
		gus_micro_free(f->jobs.v[i].micro);
	gus_vec_free(&f->jobs);
	gus_vec_free(&f->forms);
	gus_vec_free(&f->blockers);
}

static void begin_width(struct gus_forms *f, const struct gus_fit *fit)
{
	const struct gus_fit_param *width = gus_fit_get(fit, "issue_width");

	f->width_known = width && width->confidence >= GUS_CONFIDENCE_MEDIUM;
	f->issue_width = f->width_known ? width->value : gus_uarch_value(f->c->nearest, "issue_width", 4);
}

int gus_fit_forms(const struct gus_calibration *c, struct gus_fit *fit, struct gus_error *err)
{
	struct gus_forms f = { .c = c };
	int rc;

	if (c->nearest->isa != c->host->isa)
		return gus_fail(err, GUS_E_USAGE, "cannot fit forms: table %s is of another ISA than the host",
				c->nearest->name);
	gus_pool_of(&f.pool, c->host->isa);
	begin_width(&f, fit);
	add_forms(&f);
	rc = measure(&f, err);
	for (size_t i = 0; i < f.forms.n && !rc; i++)
		if (f.forms.v[i].wanted && (c->insns_n || !f.forms.v[i].subject.refused))
			report(&f, &f.forms.v[i], fit);
	forms_free(&f);
	return rc;
}
