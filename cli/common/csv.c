/* SPDX-License-Identifier: MIT */
#include "cli/common/csv.h"

#include <inttypes.h>
#include <string.h>

#include "cli/common/print.h"

static void next(struct gus_csv *c)
{
	if (c->begun)
		fputs(c->separator, c->out);
	c->begun = true;
}

void gus_csv_text(struct gus_csv *c, const char *text)
{
	bool quote;

	next(c);
	if (!text)
		return;
	quote = strpbrk(text, "\"\r\n") || strstr(text, c->separator);
	if (quote)
		putc('"', c->out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', c->out);
		putc(*text, c->out);
	}
	if (quote)
		putc('"', c->out);
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
	fprintf(c->out, "%s%s", value < 0 && strpbrk(text, "123456789") ? "-" : "", text);
}

void gus_csv_end(struct gus_csv *c)
{
	putc('\n', c->out);
	c->begun = false;
}
