/* SPDX-License-Identifier: MIT */
/* Times of forms alone: along chains, and one beside the other. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/calibration/emit.h"
#include "model/calibration/forms_private.h"

enum {
	BATCH = 16,             /* that take turns, so that what disturbs one disturbs all */
	LOAD_WEIGHT = 4,
	TIMES = 3,              /* that what is surprising is run */
	STREAM_CYCLES = 96,     /* of a pass: next to it the branch back is nothing */
	STREAM_LEAST = 28, STREAM_MOST = 192, /* copies: twice around the registers; what uop caches hold */
};

#define SAME 0.005      /* as a part: a time that came again */

static void add_job(struct gus_forms *f, struct gus_micro *micro, double copies, double expected, double *cycles,
		    double *median, struct gus_form *form)
{
	*cycles = NAN;
	if (micro)
		gus_vec_push(&f->jobs, (struct gus_form_job){ .micro = micro, .copies = copies, .expected = expected,
							      .cycles = cycles, .median = median, .form = form });
}

/* The least of all times that it was run, but of those without trouble if there are any: a divider can be fast for a
 * while, and is not when it is asked again. */
static void take_time(struct gus_form_job *job, const struct gus_micro_time *t)
{
	double cycles = t->cycles / job->copies;

	job->sure = t->samples < 2 || (t->high <= t->cycles && t->kept == t->samples) ||
		fabs(cycles - *job->cycles) <= SAME * cycles;
	if (job->form && t->fault)
		job->form->fault = t->fault;
	if (!t->kept || (!isnan(*job->cycles) && (t->trouble && !job->trouble)))
		return;
	if (!isnan(*job->cycles) && !t->trouble == !job->trouble && cycles >= *job->cycles)
		return;
	job->trouble = t->trouble;
	*job->cycles = cycles;
	if (job->median)
		*job->median = t->median / job->copies;
}

/* Whether it is not what one would expect. That is what is to be found out; but noise makes it as well, and goes
 * away. */
static bool is_surprising(const struct gus_form_job *job)
{
	double is = *job->cycles;

	if (job->sure)
		return false;
	if (job->trouble || isnan(job->expected))
		return job->trouble;
	if (job->expected > 0)
		return !(fabs(is - job->expected) <= GUS_FORM_TOLERANCE / 2 * job->expected);
	return !(fabs(is - round(is)) <= GUS_FORM_TOLERANCE);
}

static int run_batch(struct gus_forms *f, size_t jobs[], size_t n, struct gus_error *err)
{
	const struct gus_calibration_host *host = f->c->host;
	const struct gus_micro *micros[BATCH];
	struct gus_micro_time times[BATCH];

	for (size_t k = 0; k < n; k++)
		micros[k] = f->jobs.v[jobs[k]].micro;
	if (host->run(host->context, micros, n, times, err))
		return -1;
	for (size_t k = 0; k < n; k++)
		take_time(&f->jobs.v[jobs[k]], &times[k]);
	return 0;
}

int gus_forms_run(struct gus_forms *f, const char *what, struct gus_error *err)
{
	const struct gus_calibration *c = f->c;
	size_t batch[BATCH], n = 0;
	int rc = 0;

	for (unsigned time = 0; time < TIMES && !rc; time++)
		for (size_t i = 0; i < f->jobs.n && !rc; i++) {
			if (!time || is_surprising(&f->jobs.v[i]))
				batch[n++] = i;
			f->jobs_done += !time;
			if (!n || (n < BATCH && i + 1 < f->jobs.n))
				continue;
			rc = run_batch(f, batch, n, err);
			n = 0;
			if (c->progress)
				c->progress(c->progress_context, what, (double)f->jobs_done / (double)f->jobs_expected);
		}
	for (size_t i = 0; i < f->jobs.n; i++) {
		if (f->jobs.v[i].form)
			f->jobs.v[i].form->trouble |= f->jobs.v[i].trouble;
		gus_micro_free(f->jobs.v[i].micro);
	}
	f->jobs.n = 0;
	return rc;
}

/* Chains: from each operand to the first result, and to each other result from the first operand. */

static bool may_chain(const struct gus_subject *s, const struct gus_subject_end *from, const struct gus_subject_end *to)
{
	bool address = from->carrier == GUS_CARRIER_ADDRESS;

	/* Through the divisor it would be divided by 0 sooner or later, which is trapped; the quotient of 1 stays. */
	if (s->info.class == GUS_INSN_DIV && s->isa == GUS_ISA_X86_64)
		return to->reg == GUS_X86_RAX && to->operand < 0 && (from == to || (address && from->base));
	/* Through memory it is what stores forward. */
	if (address && s->info.memory[0].use)
		return from->base && !gus_subject_stores(s);
	return from->read;
}

/* The results that chains end in: registers, and if there are none flags. At most two. */
static unsigned results_of(const struct gus_subject *s, int results[2])
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->ends && n < 2; i++)
		if (s->end[i].write && s->end[i].carrier != GUS_CARRIER_FLAGS)
			results[n++] = (int)i;
	for (unsigned i = 0; i < s->ends && !n; i++)
		if (s->end[i].write)
			results[n++] = (int)i;
	return n;
}

static void add_chain(struct gus_forms *f, struct gus_form *form, int from, int to, enum gus_digits digits)
{
	struct gus_form_chain *c = &form->chains[form->chains_n];
	struct gus_micro *micro;

	if (form->chains_n == GUS_FORM_CHAINS)
		return;
	c->chain = (struct gus_chain){ .from = from, .to = to, .digits = digits };
	micro = gus_body_chain(&form->subject, &f->pool, &c->chain);
	if (!micro)
		return;
	form->chains_n++;
	add_job(f, micro, c->chain.copies, 0, &c->cycles, &c->median, form);
}

static void add_chains(struct gus_forms *f, struct gus_form *form)
{
	const struct gus_subject *s = &form->subject;
	int results[2];
	unsigned n = results_of(s, results);
	bool first = true;

	for (unsigned from = 0; from < s->ends; from++) {
		for (unsigned r = 0; r < n; r++) {
			const struct gus_subject_end *to = &s->end[results[r]];

			if (!s->end[from].read || !may_chain(s, &s->end[from], to) || (r && !first))
				continue;
			if (gus_body_has_digits(s))
				add_chain(f, form, (int)from, results[r], GUS_DIGITS_FEW);
			add_chain(f, form, (int)from, results[r], GUS_DIGITS_MANY);
		}
		first &= !s->end[from].read || s->end[from].carrier == GUS_CARRIER_ADDRESS;
	}
}

/* Streams. */

static unsigned copies_for(double cycles)
{
	double n = cycles > 0 ? STREAM_CYCLES / cycles : STREAM_MOST;

	return n < STREAM_LEAST ? STREAM_LEAST : n > STREAM_MOST ? STREAM_MOST : (unsigned)n;
}

static void add_stream(struct gus_forms *f, struct gus_form *form, enum gus_digits digits)
{
	struct gus_stream cut = { .subject = { &form->subject }, .digits = digits }, uncut;
	double bound = gus_forms_bound(f, form);
	struct gus_micro *micro;

	form->copies = cut.copies[0] = copies_for(bound > 0 ? bound : 0.25);
	uncut = cut;
	uncut.uncut = true;
	micro = gus_body_stream(&f->pool, &cut);
	add_job(f, micro, form->copies, bound, &form->stream[digits], NULL, form);
	form->cut_constants = cut.constants;
	form->cut_tests = cut.tests;
	if (micro && (cut.constants || cut.tests))
		add_job(f, gus_body_stream(&f->pool, &uncut), form->copies, bound, &form->uncut[digits], NULL, form);
}

static void time_form(struct gus_forms *f, struct gus_form *form)
{
	bool digits = gus_body_has_digits(&form->subject);

	if (form->wanted)
		add_chains(f, form);
	add_stream(f, form, GUS_DIGITS_MANY);
	if (digits && form->wanted)
		add_stream(f, form, GUS_DIGITS_FEW);
}

void gus_forms_time(struct gus_forms *f)
{
	for (size_t i = 0; i < f->forms.n; i++)
		if (!f->forms.v[i].subject.refused &&
		    (f->forms.v[i].wanted || gus_forms_could_block(f, &f->forms.v[i])))
			time_form(f, &f->forms.v[i]);
}

/* The width of issue, as mixes are read with it: nothing is faster than that.
 *
 * Where it was fitted already it is known. Else it is what these reach together: nops, but for CPUs that fuse them, and
 * what takes general and vector ports at once. */
enum { WIDTH_COPIES = 160 };

static struct gus_micro *nops(enum gus_isa isa)
{
	struct gus_micro *k = gus_micro_new(isa, "nops");

	gus_emit_begin(k);
	gus_emit_loop(k);
	for (unsigned i = 0; i < WIDTH_COPIES; i++)
		gus_emit_nop_long(k, 4);
	gus_emit_end(k);
	return k;
}

static struct gus_micro *constants_and_logic(enum gus_isa isa)
{
	struct gus_micro *k = gus_micro_new(isa, "constants and logic");

	gus_emit_begin(k);
	gus_emit_loop(k);
	for (unsigned i = 0; i < WIDTH_COPIES / 2; i++) {
		gus_emit_constant(k, i % GUS_EMIT_R, 1);
		gus_emit_xor_vector(k, 1 + i % (GUS_EMIT_V - 1), 0);
	}
	gus_emit_end(k);
	return k;
}

void gus_forms_width(struct gus_forms *f)
{
	enum gus_isa isa = f->c->host->isa;
	double expected = 1 / f->issue_width;

	f->rates[0] = f->rates[1] = NAN;
	if (f->width_known)
		return;
	if (!gus_uarch_value(f->c->nearest, "nop_fusion", 0))
		add_job(f, nops(isa), WIDTH_COPIES, expected, &f->rates[0], NULL, NULL);
	add_job(f, constants_and_logic(isa), WIDTH_COPIES, expected, &f->rates[1], NULL, NULL);
}

void gus_forms_settle_width(struct gus_forms *f)
{
	double least = fmin(f->rates[0], f->rates[1]), width = 1 / least;

	for (size_t i = 0; i < f->forms.n; i++) {
		const struct gus_form *form = &f->forms.v[i];

		if (form->row && form->row->uops == 1 && 1 / form->stream[GUS_DIGITS_MANY] > width)
			width = 1 / form->stream[GUS_DIGITS_MANY];
	}
	if (!f->width_known && fabs(width - f->issue_width) > GUS_FORM_TOLERANCE * f->issue_width)
		f->issue_width = width;
}

/* Links. */

/* movups xmm0, [rsi]; arm64 has none, as no table tells its loads of vectors apart by that parameter. */
static void add_vector_load(struct gus_forms *f)
{
	static const uint8_t movups[] = { 0x0f, 0x10, 0x06 };
	struct gus_chain chain = { .from = -1, .to = -1 };
	struct gus_micro *micro;
	struct gus_subject s;

	f->load_vector = NAN;
	if (f->c->host->isa != GUS_ISA_X86_64)
		return;
	gus_subject_of(&s, f->c->host, &f->pool, movups, sizeof(movups));
	for (unsigned i = 0; i < s.ends; i++) {
		chain.from = s.end[i].carrier == GUS_CARRIER_ADDRESS ? (int)i : chain.from;
		chain.to = s.end[i].write ? (int)i : chain.to;
	}
	micro = gus_body_chain(&s, &f->pool, &chain);
	add_job(f, micro, chain.copies, 0, &f->load_vector, NULL, NULL);
}

static void add_round_trip(struct gus_forms *f, const struct gus_link_style *style, enum gus_carrier carrier,
			   double *cycles)
{
	unsigned copies = 1;
	struct gus_micro *micro = gus_body_round_trip(style, &f->pool, carrier, &copies);

	add_job(f, micro, copies, 0, cycles, NULL, NULL);
}

void gus_forms_links(struct gus_forms *f)
{
	const struct gus_calibration_host *host = f->c->host;
	struct gus_link_style style = { .isa = host->isa, .vector_bits = 128, .flag = GUS_X86_CF };

	f->links.round_vector[1] = f->links.round_mask = NAN;
	add_round_trip(f, &style, GUS_CARRIER_FLAGS, &f->links.round_flags);
	add_round_trip(f, &style, GUS_CARRIER_VECTOR, &f->links.round_vector[0]);
	style.vex = true;
	if (host->avx2 && host->isa == GUS_ISA_X86_64)
		add_round_trip(f, &style, GUS_CARRIER_VECTOR, &f->links.round_vector[1]);
	if (host->avx512 && host->isa == GUS_ISA_X86_64)
		add_round_trip(f, &style, GUS_CARRIER_MASK, &f->links.round_mask);
	add_vector_load(f);
}

static const struct gus_uarch_row *row_of(const struct gus_forms *f, const char *text)
{
	return gus_uarch_row(f->c->nearest, gus_insn_form_hash(text, strlen(text)));
}

static double table_latency(const struct gus_forms *f, const struct gus_link_style *style, enum gus_link link)
{
	char text[GUS_INSN_FORM_MAX];
	const struct gus_uarch_row *row = gus_link_form(style, link, text) ? row_of(f, text) : NULL;

	return row && row->latency ? row->latency / (double)GUS_UARCH_CENTI : 1;
}

/* A round trip between files does not tell how long each way takes, so it is shared out as is least of a change to the
 * table. Vectors also pass from a load to a general register, and loads are what tables know best: they count as much
 * as LOAD_WEIGHT ways. */
static void settle_vectors(struct gus_forms *f, bool vex)
{
	struct gus_link_style style = { .isa = f->c->host->isa, .vex = vex, .vector_bits = 128 };
	const struct gus_uarch_row *load = row_of(f, "MOVUPS (XMM, M128)");
	double round_trip = f->links.round_vector[vex];
	double back = table_latency(f, &style, GUS_LINK_FROM_VECTOR), weights = 2;

	back += round_trip - table_latency(f, &style, GUS_LINK_TO_VECTOR);
	if (load && load->loadlat && f->load_vector > 0) {
		/* less a link that zeroes, and one that adds */
		back += LOAD_WEIGHT * (f->load_vector - 2 - load->loadlat / (double)GUS_UARCH_CENTI);
		weights += LOAD_WEIGHT;
	}
	back = round(back / weights);
	if (back < 1 || back > round_trip - 1)
		back = round_trip / 2;
	f->links.cycles[vex][GUS_LINK_FROM_VECTOR] = back;
	f->links.cycles[vex][GUS_LINK_TO_VECTOR] = round_trip - back;
}

static double share_of_masks(const struct gus_forms *f)
{
	struct gus_link_style style = { .isa = f->c->host->isa, .vex = true };
	double to = table_latency(f, &style, GUS_LINK_TO_MASK), from = table_latency(f, &style, GUS_LINK_FROM_MASK);

	return f->links.round_mask * to / (to + from);
}

void gus_forms_settle_links(struct gus_forms *f)
{
	double to_mask = share_of_masks(f);

	for (unsigned vex = 0; vex < 2; vex++) {
		double *cycles = f->links.cycles[vex];

		settle_vectors(f, vex);
		cycles[GUS_LINK_TO_MASK] = to_mask;
		cycles[GUS_LINK_FROM_MASK] = f->links.round_mask - to_mask;
		cycles[GUS_LINK_TO_FLAGS] = 1;
		cycles[GUS_LINK_FROM_FLAGS] = f->links.round_flags - 1;
		cycles[GUS_LINK_ADD] = cycles[GUS_LINK_ZERO] = cycles[GUS_LINK_DIGITS] = 1;
	}
}

double gus_forms_latency(const struct gus_forms *f, const struct gus_form *form, const struct gus_form_chain *chain)
{
	bool vex = gus_body_style(&form->subject).vex;
	double cycles = chain->cycles;

	for (unsigned l = 0; l < GUS_LINKS; l++)
		if (chain->chain.links[l])
			cycles -= chain->chain.links[l] * f->links.cycles[vex][l];
	return cycles;
}
