/* SPDX-License-Identifier: MIT */
/* Keys come in a fixed order and never vanish; what is not known, or was not asked for, is null. */
#include "cli/uarch/json.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "cli/common/calibrated.h"
#include "cli/common/json.h"
#include "model/tables/uarch.h"

static json_t *real(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *cycles(uint32_t centi)
{
	return json_real((double)centi / GUS_UARCH_CENTI);
}

static json_t *words(const char *const *list, uint32_t n)
{
	json_t *out = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(out, gus_json_word(list[i]));
	return out;
}

static json_t *params(const struct gus_uarch *u)
{
	json_t *out = json_object();

	for (uint32_t i = 0; i < u->params_n; i++) {
		const struct gus_uarch_param *p = &u->params[i];
		const struct gus_uarch_param_kind *kind = &gus_uarch_params[p->kind];
		json_t *one = json_object();

		json_object_set_new(one, "value", p->word ? gus_json_word(p->word) : json_real(p->value));
		json_object_set_new(one, "unit", gus_json_word(gus_uarch_unit_name(kind->unit)));
		json_object_set_new(one, "source", gus_json_word(u->sources[p->source].id));
		json_object_set_new(out, kind->name, one);
	}
	return out;
}

static json_t *fits(const struct gus_uarch *u)
{
	json_t *out = json_array();

	if (!u->valids_n && !u->fits_n) {
		json_decref(out);
		return json_null();
	}
	for (uint32_t i = 0; i < u->fits_n; i++) {
		const struct gus_uarch_fit *f = &u->fits[i];
		json_t *one = json_object();

		json_object_set_new(one, "form", gus_json_word(f->form));
		json_object_set_new(one, "name", gus_json_word(f->name));
		json_object_set_new(one, "value", f->text ? gus_json_word(f->text) : real(f->value));
		json_object_set_new(one, "low", real(f->low));
		json_object_set_new(one, "high", real(f->high));
		json_object_set_new(one, "unit", gus_json_word(f->unit));
		json_object_set_new(one, "residual", real(f->residual));
		json_object_set_new(one, "confidence", gus_json_word(f->confidence));
		json_object_set_new(one, "why", gus_json_word(f->why));
		json_array_append_new(out, one);
	}
	return out;
}

static json_t *sources(const struct gus_uarch *u)
{
	json_t *out = json_object();

	for (uint32_t i = 0; i < u->sources_n; i++)
		json_object_set_new(out, u->sources[i].id, gus_json_word(u->sources[i].text));
	return out;
}

static json_t *ports(const struct gus_uarch *u)
{
	json_t *out = json_array();

	for (uint32_t i = 0; i < u->ports_n; i++)
		json_array_append_new(out, gus_json_word(u->groups[i].name));
	return out;
}

static json_t *forms_of(const struct gus_uarch *u)
{
	json_t *out = json_array();

	for (uint32_t i = 0; i < u->forms_n; i++) {
		const struct gus_uarch_row *row = u->forms[i].row == GUS_UARCH_NONE ? NULL : &u->rows[u->forms[i].row];
		json_t *one;

		if (!row)
			continue;
		one = json_object();
		json_object_set_new(one, "form", gus_json_word(u->forms[i].text));
		json_object_set_new(one, "uops", json_integer(row->uops));
		json_object_set_new(one, "latency", cycles(row->latency));
		json_object_set_new(one, "load_latency", row->loadlat ? cycles(row->loadlat) : json_null());
		json_object_set_new(one, "cycles_by_ports", real(gus_uarch_throughput(u, row)));
		json_object_set_new(one, "source", gus_json_word(u->sources[row->source].id));
		json_array_append_new(out, one);
	}
	return out;
}

int gus_uarch_json(const struct gus_uarch *u, bool forms)
{
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_string("gusprof.uarch/1"));
	json_object_set_new(o, "uarch", gus_json_word(u->name));
	json_object_set_new(o, "title", gus_json_word(u->title));
	json_object_set_new(o, "isa", json_string(u->isa == GUS_ISA_ARM64 ? "arm64" : "x86-64"));
	json_object_set_new(o, "aliases", words(u->aliases, u->aliases_n));
	json_object_set_new(o, "like", words(u->likes, u->likes_n));
	json_object_set_new(o, "sources", sources(u));
	json_object_set_new(o, "calibration", gus_calibrated_json(u));
	json_object_set_new(o, "fits", fits(u));
	json_object_set_new(o, "params", params(u));
	json_object_set_new(o, "ports", ports(u));
	json_object_set_new(o, "forms", forms ? forms_of(u) : json_null());
	return gus_json_print(o, stdout, true);
}
