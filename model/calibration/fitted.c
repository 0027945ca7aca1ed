/* SPDX-License-Identifier: MIT */
#include "model/calibration/fitted.h"

#include <stdlib.h>
#include <string.h>

const char *gus_confidence_name(enum gus_confidence c)
{
	static const char *const names[GUS_CONFIDENCES] = { "none", "low", "medium", "high" };

	return c < GUS_CONFIDENCES ? names[c] : NULL;
}

void gus_fit_free(struct gus_fit *f)
{
	gus_vec_free(&f->params);
	gus_vec_free(&f->forms);
	gus_vec_free(&f->facts);
}

const struct gus_fit_param *gus_fit_get(const struct gus_fit *f, const char *name)
{
	for (size_t i = 0; i < f->params.n; i++)
		if (strcmp(f->params.v[i].name, name) == 0)
			return &f->params.v[i];
	return NULL;
}

const struct gus_fit_form *gus_fit_get_form(const struct gus_fit *f, const char *text)
{
	for (size_t i = 0; i < f->forms.n; i++)
		if (strcmp(f->forms.v[i].form, text) == 0)
			return &f->forms.v[i];
	return NULL;
}

void gus_fit_put(struct gus_fit *f, const struct gus_fit_param *p)
{
	const struct gus_fit_param *there = gus_fit_get(f, p->name);

	if (!there)
		gus_vec_push(&f->params, *p);
	else if (p->confidence > there->confidence)
		f->params.v[there - f->params.v] = *p;
}
