/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/formula.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/piece.h"

enum { NESTED_MOST = 16, STACK_MOST = 3 * NESTED_MOST + 4, OPS_MOST = 128, DIGITS_MOST = 40 };

/* Reading goes down as formulas nest, so their depth is bounded; each level leaves at most three values on the stack:
 * of a sum, of a product in it, and a call's first argument. */
struct reading {
	struct gus_formula *f;
	struct gus_piece rest;
	const struct gus_formula_names *names;
	unsigned nested;
	struct gus_error *err;
};

static void skip_blanks(struct reading *r)
{
	while (r->rest.size && (*r->rest.text == ' ' || *r->rest.text == '\t')) {
		r->rest.text++;
		r->rest.size--;
	}
}

/* Takes the next character if it is that one. */
static bool take(struct reading *r, char c)
{
	skip_blanks(r);
	if (!r->rest.size || *r->rest.text != c)
		return false;
	r->rest.text++;
	r->rest.size--;
	return true;
}

static int wrong(struct reading *r, const char *what)
{
	return gus_fail(r->err, GUS_E_CORRUPT, "%s at '%.*s'", what, (int)(r->rest.size < 20 ? r->rest.size : 20),
			r->rest.size ? r->rest.text : "");
}

static int push(struct reading *r, struct gus_formula_op op)
{
	if (r->f->n >= OPS_MOST)
		return wrong(r, "the formula is too long");
	gus_vec_push(r->f, op);
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static struct gus_piece take_while(struct reading *r, bool (*first)(char), bool (*second)(char), char third)
{
	struct gus_piece word = { r->rest.text, 0 };

	while (r->rest.size && (first(*r->rest.text) || (second && second(*r->rest.text)) ||
				(third && *r->rest.text == third))) {
		r->rest.text++;
		r->rest.size--;
		word.size++;
	}
	return word;
}

static int parse_number(struct reading *r)
{
	struct gus_piece word = take_while(r, is_digit, NULL, '.');
	char text[DIGITS_MOST], *end;
	double number;

	if (word.size >= sizeof(text))
		return wrong(r, "the number is too long");
	memcpy(text, word.text, word.size);
	text[word.size] = '\0';
	number = strtod(text, &end);
	if (*end)
		return wrong(r, "there is a number with two points");
	return push(r, (struct gus_formula_op){ .kind = GUS_FORMULA_NUMBER, .number = number });
}

static int parse_sum(struct reading *r);

/* What stands in parentheses, of which the first is taken already. */
static int parse_nested(struct reading *r, unsigned arguments)
{
	if (++r->nested > NESTED_MOST)
		return wrong(r, "the formula is nested too deeply");
	for (unsigned i = 0; i < arguments; i++) {
		if (i && !take(r, ','))
			return wrong(r, "a ',' is missing");
		if (parse_sum(r) != 0)
			return -1;
	}
	r->nested--;
	return take(r, ')') ? 0 : wrong(r, "a ')' is missing");
}

static int parse_name(struct reading *r)
{
	static const struct { const char *name; enum gus_formula_kind kind; } calls[] = {
		{ "min", GUS_FORMULA_MIN }, { "max", GUS_FORMULA_MAX }, { "ratio", GUS_FORMULA_RATIO },
	};
	struct gus_piece word = take_while(r, is_letter, is_digit, '\0');
	int value;

	if (take(r, '(')) {
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			if (gus_piece_is(word, calls[i].name))
				return parse_nested(r, 2) != 0 ? -1 :
				       push(r, (struct gus_formula_op){ .kind = calls[i].kind });
		return wrong(r, "there is no such function");
	}
	value = r->names->find(r->names->context, word);
	if (value < 0)
		return gus_fail(r->err, GUS_E_CORRUPT, "'%.*s' is not defined before it is used",
				(int)(word.size < 40 ? word.size : 40), word.text);
	return push(r, (struct gus_formula_op){ .kind = GUS_FORMULA_VALUE, .value = (uint32_t)value });
}

static int parse_factor(struct reading *r)
{
	if (take(r, '('))
		return parse_nested(r, 1);
	skip_blanks(r);
	if (r->rest.size && is_digit(*r->rest.text))
		return parse_number(r);
	if (r->rest.size && is_letter(*r->rest.text))
		return parse_name(r);
	return wrong(r, "a number, a name or a '(' is missing");
}

static int parse_product(struct reading *r)
{
	if (parse_factor(r) != 0)
		return -1;
	for (;;) {
		enum gus_formula_kind kind = take(r, '*') ? GUS_FORMULA_MULTIPLY : take(r, '/') ? GUS_FORMULA_DIVIDE :
					     GUS_FORMULA_NUMBER;

		if (kind == GUS_FORMULA_NUMBER)
			return 0;
		if (parse_factor(r) != 0 || push(r, (struct gus_formula_op){ .kind = kind }) != 0)
			return -1;
	}
}

static int parse_sum(struct reading *r)
{
	bool negative = take(r, '-');

	if (negative && push(r, (struct gus_formula_op){ .kind = GUS_FORMULA_NUMBER }) != 0)
		return -1;
	if (parse_product(r) != 0 || (negative && push(r, (struct gus_formula_op){ .kind = GUS_FORMULA_SUBTRACT })))
		return -1;
	for (;;) {
		enum gus_formula_kind kind = take(r, '+') ? GUS_FORMULA_ADD : take(r, '-') ? GUS_FORMULA_SUBTRACT :
					     GUS_FORMULA_NUMBER;

		if (kind == GUS_FORMULA_NUMBER)
			return 0;
		if (parse_product(r) != 0 || push(r, (struct gus_formula_op){ .kind = kind }) != 0)
			return -1;
	}
}

int gus_formula_parse(struct gus_formula *f, struct gus_piece text, const struct gus_formula_names *names,
		      struct gus_error *err)
{
	struct reading r = { .f = f, .rest = text, .names = names, .err = err };

	if (parse_sum(&r) != 0)
		return -1;
	skip_blanks(&r);
	return r.rest.size ? wrong(&r, "the formula should end") : 0;
}

/* fmin and fmax would pass over what is not known. */
static double operate(enum gus_formula_kind kind, double a, double b)
{
	switch (kind) {
	case GUS_FORMULA_ADD:
		return a + b;
	case GUS_FORMULA_SUBTRACT:
		return a - b;
	case GUS_FORMULA_MULTIPLY:
		return a * b;
	case GUS_FORMULA_DIVIDE:
		return fpclassify(b) == FP_ZERO ? NAN : a / b;
	case GUS_FORMULA_MIN:
		return isnan(a) || isnan(b) ? NAN : fmin(a, b);
	case GUS_FORMULA_MAX:
		return isnan(a) || isnan(b) ? NAN : fmax(a, b);
	case GUS_FORMULA_RATIO:
		return fpclassify(b) == FP_ZERO && !isnan(a) ? 0 : a / b;
	case GUS_FORMULA_NUMBER:
	case GUS_FORMULA_VALUE:
		break;
	}
	return NAN;
}

double gus_formula_value(const struct gus_formula *f, const double *values)
{
	double stack[STACK_MOST] = { NAN };
	unsigned n = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct gus_formula_op *op = &f->v[i];

		if (op->kind == GUS_FORMULA_NUMBER) {
			stack[n++] = op->number;
		} else if (op->kind == GUS_FORMULA_VALUE) {
			stack[n++] = values[op->value];
		} else {
			n--;
			stack[n - 1] = operate(op->kind, stack[n - 1], stack[n]);
		}
	}
	return stack[0];
}
