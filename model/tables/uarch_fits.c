/* SPDX-License-Identifier: MIT */
/* What a calibration says beside its figures: for which host they hold, and how each of them was come by. */
#include "model/tables/uarch.h"
#include "model/tables/uarch_parse.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

int gus_parse_valid(struct gus_uarch_parser *p)
{
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "a key"), value, n;
	struct gus_uarch_valid one;
	bool fresh;
	int status;

	p->ends.wanted = true;
	if (!id)
		return -1;
	value = gus_parse_quoted(p, "its value", &status);
	if (status != 0)
		return -1;
	one = (struct gus_uarch_valid){ gus_parse_string(p, id), gus_parse_string(p, value) };
	n = gus_parse_define(p, &p->valids, &id, &fresh, "key", one.key);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh)
		gus_vec_push(&p->valid_list, one);
	else
		p->valid_list.v[n] = one;
	return gus_parse_end(p);
}

int gus_parse_last(struct gus_uarch_parser *p)
{
	p->ends.said = true;
	return gus_parse_end(p);
}

/* A number with at most six decimals, as what was measured has. The double next to it, as both are whole below 2^53. */
static bool decimal(const char **at, const char *end, double *value)
{
	uint32_t whole, part = 0, scale = 1000000;

	if (!gus_parse_digits(at, end, &whole))
		return false;
	if (end - *at > 1 && **at == '.' && (*at)[1] >= '0' && (*at)[1] <= '9')
		for ((*at)++; *at < end && **at >= '0' && **at <= '9' && scale > 1; (*at)++)
			part += (uint32_t)(**at - '0') * (scale /= 10);
	*value = ((double)whole * 1e6 + part) / 1e6;
	return true;
}

static int number(struct gus_uarch_parser *p, struct gus_token t, const char *what, double *value)
{
	const char *at = t.text;

	if (t.text && !t.quoted && decimal(&at, t.text + t.size, value) && at == t.text + t.size)
		return 0;
	return gus_parse_wrong(p, "expected %s, found '%.*s'", what, GUS_SHOW(t));
}

static int interval(struct gus_uarch_parser *p, struct gus_token t, struct gus_uarch_fit *fit)
{
	const char *at = t.text, *end = t.text ? t.text + t.size : NULL;

	if (t.text && !t.quoted && decimal(&at, end, &fit->low) && end - at > 2 && at[0] == '.' && at[1] == '.') {
		at += 2;
		if (decimal(&at, end, &fit->high) && at == end && fit->low <= fit->value && fit->value <= fit->high)
			return 0;
	}
	return gus_parse_wrong(p, "expected the interval that the value lies in as LOW..HIGH, found '%.*s'",
			       GUS_SHOW(t));
}

/* VALUE LOW..HIGH, "TEXT" or none. */
static int found(struct gus_uarch_parser *p, struct gus_uarch_fit *fit)
{
	struct gus_token t = gus_parse_next(p);

	fit->value = fit->low = fit->high = NAN;
	if (gus_token_is(t, "none"))
		return 0;
	if (t.quoted) {
		fit->text = gus_parse_string(p, gus_parse_intern(p, t));
		return 0;
	}
	return number(p, t, "a value, a text in quotes or none", &fit->value) == 0 ?
		interval(p, gus_parse_next(p), fit) : -1;
}

static int confidence(struct gus_uarch_parser *p, struct gus_uarch_fit *fit)
{
	static const char *const words[] = { "none", "low", "medium", "high" };
	struct gus_token t = gus_parse_next(p);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (gus_token_is(t, words[i])) {
			fit->confidence = words[i];
			return 0;
		}
	return gus_parse_wrong(p, "'%.*s' is no confidence; there are none, low, medium and high", GUS_SHOW(t));
}

/* From the unit on. */
static int rest(struct gus_uarch_parser *p, struct gus_uarch_fit *fit)
{
	uint32_t unit = gus_parse_name(p, gus_parse_next(p), "a unit");
	struct gus_token t;

	if (!unit)
		return -1;
	fit->unit = gus_parse_string(p, unit);
	fit->residual = NAN;
	t = gus_parse_next(p);
	if (gus_token_is(t, "residual")) {
		if (number(p, gus_parse_next(p), "the residual", &fit->residual) != 0)
			return -1;
		t = gus_parse_next(p);
	}
	if (gus_token_is(t, "confidence")) {
		if (confidence(p, fit) != 0)
			return -1;
		t = gus_parse_next(p);
	}
	if (!t.quoted)
		return gus_parse_wrong(p, "expected why in quotes, found '%.*s'", GUS_SHOW(t));
	fit->why = gus_parse_string(p, gus_parse_intern(p, t));
	return gus_parse_end(p);
}

int gus_parse_fit(struct gus_uarch_parser *p)
{
	struct gus_token t = gus_parse_next(p);
	struct gus_uarch_fit fit = { 0 };
	uint32_t key[2] = { 0 }, n; /* form, or 0, and name */
	bool fresh;

	if (t.quoted) {
		if (t.size == 0 || t.size >= GUS_INSN_FORM_MAX)
			return gus_parse_wrong(p, "a form has 1 to %d characters", GUS_INSN_FORM_MAX - 1);
		key[0] = gus_parse_intern(p, t);
		fit.form = gus_parse_string(p, key[0]);
		t = gus_parse_next(p);
	}
	key[1] = gus_parse_name(p, t, "what was fitted");
	if (!key[1])
		return -1;
	fit.name = gus_parse_string(p, key[1]);
	if (found(p, &fit) != 0 || rest(p, &fit) != 0)
		return -1;
	n = gus_parse_define(p, &p->fits, key, &fresh, "fit of", fit.name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh)
		gus_vec_push(&p->fit_list, fit);
	else
		p->fit_list.v[n] = fit;
	return 0;
}
