/* SPDX-License-Identifier: MIT */
/* Formulas of tables: numbers, names, + - * /, parentheses, min(a, b), max(a, b) and ratio(a, b), which is a / b, or 0
 * where b is 0. They are read once and kept in the order in which a stack works them off. What is not known is NaN, and
 * makes unknown whatever it is part of; so does a division by zero. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_FORMULA_H
#define GUS_ATTRIBUTION_TOPDOWN_FORMULA_H

#include <stdint.h>

#include "base/alloc.h"

struct gus_error;
struct gus_piece;

enum gus_formula_kind {
	GUS_FORMULA_NUMBER, GUS_FORMULA_VALUE, GUS_FORMULA_ADD, GUS_FORMULA_SUBTRACT, GUS_FORMULA_MULTIPLY,
	GUS_FORMULA_DIVIDE, GUS_FORMULA_MIN, GUS_FORMULA_MAX, GUS_FORMULA_RATIO,
};

struct gus_formula_op {
	enum gus_formula_kind kind;
	uint32_t value;         /* of a name: where its value stands */
	double number;
};

struct gus_formula gus_vec(struct gus_formula_op);

/* Says where the value of a name stands, or -1 if there is no such name. */
struct gus_formula_names { int (*find)(const void *context, struct gus_piece name); const void *context; };

/* Reads text into f, which is empty; the caller frees it with gus_vec_free, also after -1 (GUS_E_CORRUPT). Text of any
 * kind is read in time and memory that are proportional to it; what is nested too deeply is refused. */
int gus_formula_parse(struct gus_formula *f, struct gus_piece text, const struct gus_formula_names *names,
		      struct gus_error *err);

/* values: by the numbers that `find` said. */
double gus_formula_value(const struct gus_formula *f, const double *values);

#endif
