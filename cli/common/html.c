/* SPDX-License-Identifier: MIT */
#include "cli/common/html.h"

#include <string.h>

#include "base/text.h"

/* What neither form may hold as it is: what begins markup or an entity, and what ends an attribute or a string. */
static const char special[] = "<>&\"'\\";

/* What of the text is not special, up to what is. */
static size_t print_plain(FILE *out, const char *text)
{
	size_t n = strcspn(text, special);

	gus_text_print(out, "%.*s", (int)n, text);
	return n;
}

void gus_html_text(FILE *out, const char *text)
{
	for (text += print_plain(out, text); *text; text += print_plain(out, text))
		fprintf(out, "&#%d;", *text++);
}

void gus_html_string(FILE *out, const char *text)
{
	putc('"', out);
	for (text += print_plain(out, text); *text; text += print_plain(out, text))
		fprintf(out, "\\u%04x", (unsigned)*text++);
	putc('"', out);
}
