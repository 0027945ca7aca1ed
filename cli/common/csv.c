/* SPDX-License-Identifier: MIT */
#include "cli/common/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/common/print.h"

static void next(struct gus_csv *c)
{
	if (c->begun)
		fputs(c->separator, c->out);
	c->begun = true;
}

/* Whether a spreadsheet takes a text for a formula, as OWASP lists what such begin with; blanks may stand before. */
static bool is_formula(const char *text)
{
	static const char *const signs[] = {
		"=", "+", "-", "@", "\t", "\r", "\n",
		"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0", /* the same, of full width */
	};

	text += strspn(text, " ");
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strncmp(text, signs[i], strlen(signs[i])) == 0)
			return true;
	return false;
}

static void print_quoted(FILE *out, const char *text)
{
	putc('"', out);
	for (const char *quote; (quote = strchr(text, '"')); text = quote + 1)
		gus_text_print(out, "%.*s\"\"", (int)(quote - text), text);
	gus_text_print(out, "%s\"", text);
}

void gus_csv_text(struct gus_csv *c, const char *text)
{
	char *cell;

	next(c);
	if (!text)
		return;
	cell = gus_format("%s%s", is_formula(text) ? "'" : "", text);
	gus_text_clean(cell);
	if (strchr(cell, '"') || strstr(cell, c->separator))
		print_quoted(c->out, cell);
	else
		gus_text_print(c->out, "%s", cell);
	free(cell);
}

void gus_csv_number(struct gus_csv *c, bool known, uint64_t value)
{
	next(c);
	if (known)
		fprintf(c->out, "%" PRIu64, value);
}

void gus_csv_fixed(struct gus_csv *c, bool known, double value, int digits)
{
	char text[64];

	next(c);
	if (!known)
		return;
	gus_fixed_format(text, sizeof(text), value < 0 ? -value : value, digits);
	gus_text_print(c->out, "%s%s", value < 0 && strpbrk(text, "123456789") ? "-" : "", text);
}

void gus_csv_end(struct gus_csv *c)
{
	putc('\n', c->out);
	c->begun = false;
}
