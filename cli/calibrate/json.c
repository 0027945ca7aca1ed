/* SPDX-License-Identifier: MIT */
/* Keys come in a fixed order and never vanish; what is not known is null. */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/calibrate/fits.h"
#include "cli/calibrate/view.h"
#include "cli/common/json.h"
#include "cli/common/calibrations.h"
#include "cli/common/calibrated_key.h"
#include "model/calibration/fitted.h"
#include "model/calibration/written.h"
#include "model/tables/uarch.h"

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* Yes, no or a policy's word, where numbers stand for these. */
static json_t *figure(const char *name, double value)
{
	size_t size;
	const char *at = gus_calibration_word(name, value, &size);
	char *word = at ? gus_strndup(at, size) : NULL;
	json_t *o = word ? gus_json_word(word) : gus_json_real(value);

	free(word);
	return o;
}

static json_t *param(const struct gus_calibrate_view *v, const struct gus_fit_param *p)
{
	const struct gus_uarch_param *was = gus_uarch_param(v->nearest, p->name);
	bool none = p->confidence == GUS_CONFIDENCE_NONE;
	const char *unit = NULL;
	json_t *o = json_object();

	for (const struct gus_uarch_param_kind *kind = gus_uarch_params; kind->name; kind++)
		if (strcmp(kind->name, p->name) == 0)
			unit = gus_uarch_unit_name(kind->unit);
	json_object_set_new(o, "name", gus_json_word(p->name));
	json_object_set_new(o, "unit", gus_json_word(unit));
	json_object_set_new(o, "nominal", !was ? json_null() : was->word ?
			    gus_json_word(was->word) : gus_json_real(was->value));
	json_object_set_new(o, "value", none ? json_null() : figure(p->name, p->value));
	json_object_set_new(o, "low", none ? json_null() : figure(p->name, p->low));
	json_object_set_new(o, "high", none ? json_null() : figure(p->name, p->high));
	json_object_set_new(o, "residual", none ? json_null() : gus_json_real(p->residual));
	json_object_set_new(o, "confidence", gus_json_word(gus_confidence_name(p->confidence)));
	json_object_set_new(o, "why", gus_json_word(p->why));
	return o;
}

static json_t *row(const struct gus_uarch *u, const char *text)
{
	const struct gus_uarch_form *form = gus_uarch_form_by_text(u, text);
	const struct gus_uarch_row *r = form && form->row != GUS_UARCH_NONE ? &u->rows[form->row] : NULL;
	json_t *o;

	if (!r)
		return json_null();
	o = json_object();
	json_object_set_new(o, "latency", json_real((double)r->latency / GUS_UARCH_CENTI));
	json_object_set_new(o, "load_latency", r->loadlat ? json_real((double)r->loadlat / GUS_UARCH_CENTI) :
			    json_null());
	json_object_set_new(o, "throughput", gus_json_real(gus_uarch_throughput(u, r)));
	return o;
}

static json_t *differing(unsigned parts)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < GUS_CALIBRATION_PARTS; i++)
		if (parts >> i & 1)
			json_array_append_new(list, gus_json_word(gus_calibration_part_name(1u << i)));
	return list;
}

static json_t *form(const struct gus_calibrate_view *v, const struct gus_fit_form *f)
{
	unsigned parts = gus_calibration_corrects(v->nearest, f);
	json_t *o = json_object();

	json_object_set_new(o, "form", gus_json_word(f->form));
	json_object_set_new(o, "nominal", row(v->nearest, f->form));
	json_object_set_new(o, "latency", gus_json_real(f->latency));
	json_object_set_new(o, "latency_low", gus_json_real(f->latency_low));
	json_object_set_new(o, "latency_high", gus_json_real(f->latency_high));
	json_object_set_new(o, "load_latency", gus_json_real(f->load_latency));
	json_object_set_new(o, "throughput", gus_json_real(f->throughput));
	json_object_set_new(o, "uses", gus_json_text(f->uses));
	json_object_set_new(o, "residual", gus_json_real(f->residual));
	json_object_set_new(o, "confidence", gus_json_word(gus_confidence_name(f->confidence)));
	json_object_set_new(o, "latency_confidence", gus_json_word(gus_confidence_name(f->latency_confidence)));
	json_object_set_new(o, "differs", json_boolean(parts));
	json_object_set_new(o, "differs_in", differing(parts));
	json_object_set_new(o, "why", gus_json_word(f->why));
	return o;
}

static json_t *fact(const struct gus_fit_fact *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", gus_json_word(f->name));
	json_object_set_new(o, "unit", gus_json_word(f->unit));
	json_object_set_new(o, "value", gus_json_real(f->value));
	json_object_set_new(o, "low", gus_json_real(f->low));
	json_object_set_new(o, "high", gus_json_real(f->high));
	json_object_set_new(o, "why", gus_json_text(f->why));
	return o;
}

static json_t *noise(const struct gus_calibrate_noise *n)
{
	json_t *o = json_object();

	json_object_set_new(o, "microbenchmarks", integer(n->run));
	json_object_set_new(o, "troubled", integer(n->troubled));
	json_object_set_new(o, "noisy", integer(n->noisy));
	json_object_set_new(o, "bistable", integer(n->bistable));
	json_object_set_new(o, "moved", integer(n->moved));
	json_object_set_new(o, "beside", integer(n->beside));
	return o;
}

static void set_lists(json_t *o, const struct gus_calibrate_view *v)
{
	json_t *facts = json_array(), *params = json_array(), *forms = json_array();
	size_t *order = gus_calibrate_order(v->fit);

	for (size_t i = 0; i < v->fit->facts.n; i++)
		json_array_append_new(facts, fact(&v->fit->facts.v[i]));
	for (size_t i = 0; i < v->fit->params.n; i++)
		json_array_append_new(params, param(v, &v->fit->params.v[order[i]]));
	for (size_t i = 0; i < v->fit->forms.n; i++)
		json_array_append_new(forms, form(v, &v->fit->forms.v[i]));
	json_object_set_new(o, "facts", facts);
	json_object_set_new(o, "params", params);
	json_object_set_new(o, "forms", forms);
	free(order);
}

/* What the machine is told by. */
static json_t *valid_for(const struct gus_calibrated_key *key)
{
	json_t *o = json_object();

	for (int i = 0; i < GUS_HOST_PARTS; i++)
		json_object_set_new(o, key->values[i].key, gus_json_word(key->values[i].value));
	return o;
}

int gus_calibrate_check_json(const struct gus_calibrate_check *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_string("gusprof.calibrated/1"));
	json_object_set_new(o, "host", gus_json_word(c->key->hostname));
	json_object_set_new(o, "valid", valid_for(c->key));
	json_object_set_new(o, "calibrated", json_boolean(c->kept));
	json_object_set_new(o, "title", gus_json_word(c->kept ? c->kept->title : NULL));
	json_object_set_new(o, "file", gus_json_word(c->path));
	json_object_set_new(o, "why", gus_json_word(c->why));
	return gus_json_print(o, stdout, true);
}

int gus_calibrate_json(const struct gus_calibrate_view *v)
{
	json_t *o = json_object(), *notes = json_array();

	for (size_t i = 0; i < v->notes_n; i++)
		json_array_append_new(notes, gus_json_word(v->notes[i]));
	json_object_set_new(o, "schema", json_string("gusprof.calibration/1"));
	json_object_set_new(o, "host", gus_json_word(v->key->hostname));
	json_object_set_new(o, "valid", valid_for(v->key));
	json_object_set_new(o, "nearest", gus_json_word(v->nearest->name));
	json_object_set_new(o, "nearest_is_own", json_boolean(v->own));
	json_object_set_new(o, "how", gus_json_word(v->how));
	json_object_set_new(o, "recording", gus_json_word(v->recording));
	json_object_set_new(o, "file", gus_json_word(v->path));
	json_object_set_new(o, "kept", json_boolean(v->kept));
	json_object_set_new(o, "notes", notes);
	json_object_set_new(o, "noise", noise(v->noise));
	set_lists(o, v);
	return gus_json_print(o, stdout, true);
}
