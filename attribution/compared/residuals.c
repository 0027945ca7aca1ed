/* SPDX-License-Identifier: MIT */
#include "attribution/compared/residuals.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "attribution/statistics/ridge.h"
#include "base/alloc.h"

static const double RIDGE = 0.01; /* of a form's own sum of squares */
static const double GAIN = 0.05;  /* of all; a form that explains less is not taken */

/* Each region in its own error, without one of them (or regions: with all). */
struct seen { const struct gus_residuals *r; size_t without; };

static double count(const struct gus_residuals *r, size_t region, size_t form)
{
	return r->counts[region * r->forms + form] / r->errors[region];
}

static double missed(const struct gus_residuals *r, size_t region)
{
	return r->missed[region] / r->errors[region];
}

/* Products of forms a and b; of a form and what was missed, for b == forms. */
static double product(const struct seen *s, size_t a, size_t b)
{
	double sum = 0;

	for (size_t i = 0; i < s->r->regions; i++)
		if (i != s->without)
			sum += count(s->r, i, a) * (b < s->r->forms ? count(s->r, i, b) : missed(s->r, i));
	return sum;
}

/* The cycles of the fit's forms. False if one of them was never executed. */
static bool solve(const struct seen *s, struct gus_residuals_fit *f)
{
	double products[GUS_RIDGE_MOST][GUS_RIDGE_MOST + 1], cycles[GUS_RIDGE_MOST];

	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; k < f->n; k++)
			products[i][k] = product(s, f->form[i], f->form[k]);
		products[i][f->n] = product(s, f->form[i], s->r->forms);
	}
	if (!gus_ridge_solve(products, f->n, RIDGE, cycles))
		return false;
	for (size_t i = 0; i < f->n; i++)
		f->cycles[i] = cycles[i];
	return true;
}

/* What the fit says of a region, in its error. */
static double told(const struct gus_residuals *r, const struct gus_residuals_fit *f, size_t region)
{
	double sum = 0;

	for (size_t i = 0; i < f->n; i++)
		sum += f->cycles[i] * count(r, region, f->form[i]);
	return sum;
}

static double explained(const struct seen *s, const struct gus_residuals_fit *f)
{
	double before = 0, after = 0;

	for (size_t i = 0; i < s->r->regions; i++) {
		double y = missed(s->r, i), left = y - told(s->r, f, i);

		if (i == s->without)
			continue;
		before += y * y;
		after += left * left;
	}
	return before > 0 ? 1 - after / before : 0;
}

/* What is left of what was missed. */
static void leave(const struct seen *s, const struct gus_residuals_fit *f, double *left)
{
	for (size_t i = 0; i < s->r->regions; i++)
		left[i] = i == s->without ? 0 : missed(s->r, i) - told(s->r, f, i);
}

/* The form that goes best with what is left; forms if none does. */
static size_t best_form(const struct seen *s, const struct gus_residuals_fit *f, const double *left)
{
	const struct gus_residuals *r = s->r;
	size_t best = r->forms;
	double most = 0;

	for (size_t form = 0; form < r->forms; form++) {
		double with = 0, own = 0;
		bool taken = false;

		for (size_t i = 0; i < f->n; i++)
			taken |= f->form[i] == form;
		for (size_t i = 0; i < r->regions && !taken; i++) {
			double x = i == s->without ? 0 : count(r, i, form);

			with += x * left[i];
			own += x * x;
		}
		if (own > 0 && with * with / own > most) {
			most = with * with / own;
			best = form;
		}
	}
	return best;
}

static void fit_seen(const struct seen *s, struct gus_residuals_fit *f, double *left)
{
	*f = (struct gus_residuals_fit){ 0 };
	while (f->n < GUS_RESIDUALS_FORMS) {
		struct gus_residuals_fit more = *f;
		size_t form;

		leave(s, f, left);
		form = best_form(s, f, left);
		if (form == s->r->forms)
			return;
		more.form[more.n++] = form;
		if (!solve(s, &more))
			return;
		more.explained = explained(s, &more);
		if (more.explained - f->explained < GAIN)
			return;
		*f = more;
	}
}

/* Each region told by the others. */
static double predicted(const struct gus_residuals *r, double *left)
{
	double before = 0, after = 0;

	for (size_t i = 0; i < r->regions; i++) {
		struct seen s = { r, i };
		struct gus_residuals_fit f;
		double y = missed(r, i), off;

		fit_seen(&s, &f, left);
		off = y - told(r, &f, i);
		before += y * y;
		after += off * off;
	}
	return before > 0 ? fmax(0, 1 - after / before) : 0;
}

void gus_residuals_fit(const struct gus_residuals *r, struct gus_residuals_fit *fit)
{
	double *left = gus_zalloc((r->regions + 1) * sizeof(*left));
	struct seen all = { r, r->regions };

	fit_seen(&all, fit, left);
	fit->predicted = fit->n ? predicted(r, left) : 0;
	free(left);
}
