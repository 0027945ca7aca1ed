/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/diff/diff.h"

int gus_diff_condition_parse(struct gus_diff_condition *c, const char *text, struct gus_error *err)
{
	const char *sign = text + strlen(text), *before;
	char *end;

	while (sign > text && *sign != '>' && *sign != '<') /* the last one: names of functions may have some */
		sign--;
	*c = (struct gus_diff_condition){ .text = text, .above = *sign == '>' };
	text += strspn(text, " ");
	for (before = sign; before > text && before[-1] == ' '; before--)
		;
	if (before > text) {
		c->share = strtod(sign + 1, &end) / 100;
		if (end > sign + 1 && strcmp(end, "%") == 0 && c->share >= -1 && c->share <= 1e6) {
			c->target = gus_strndup(text, (size_t)(before - text));
			return 0;
		}
	}
	return gus_fail(err, GUS_E_USAGE, "--fail-on takes total or a function, > or <, and a change in %%, such as "
			"'total>+2%%', not '%s'", c->text);
}

/* All rows of a function, added up. */
static bool find_function(const struct gus_differences *d, const char *function, struct gus_difference_row *of)
{
	bool any = false;

	*of = (struct gus_difference_row){ 0 };
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct gus_difference_row *row = &d->rows.v[i];
		const struct gus_difference_item *item = row->of[0] ? row->of[0] : row->of[1];

		if (!item->function || strcmp(item->function, function) != 0)
			continue;
		of->a = any ? gus_difference_sum(&of->a, &row->a) : row->a;
		of->b = any ? gus_difference_sum(&of->b, &row->b) : row->b;
		of->change = any ? gus_difference_sum(&of->change, &row->change) : row->change;
		any = true;
	}
	return any;
}

bool gus_diff_condition_holds(const struct gus_diff_condition *c, const struct gus_differences *d,
			      struct gus_difference_row *of, bool *known)
{
	double bound;

	*of = d->total;
	*known = strcmp(c->target, "total") == 0 || find_function(d, c->target, of);
	bound = c->share * of->a.value;
	return *known && (c->above ? of->change.low > bound : of->change.high < bound);
}
