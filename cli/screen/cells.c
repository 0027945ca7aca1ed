/* SPDX-License-Identifier: MIT */
#include "cli/screen/cells.h"

#include <locale.h>
#include <wchar.h>

#include "base/text.h"

/* wcwidth(3) answers for the locale of the thread, and knows nothing beyond ASCII in that of C, which this program
 * otherwise stays in; so it is asked in one of UTF-8. A C library that has none of these counts each character as one
 * cell. */
static int wide(uint32_t code)
{
	static locale_t utf8;
	locale_t before;
	int cells;

	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!utf8)
		return 1;
	before = uselocale(utf8);
	cells = wcwidth((wchar_t)code);
	uselocale(before);
	return cells < 0 ? 1 : cells;
}

static size_t cells_of(const struct gus_text_char *c)
{
	if (c->class != GUS_TEXT_PLAIN || c->size == 1)
		return 1;
	return (size_t)wide(c->code);
}

size_t gus_cells(const char *text, size_t size)
{
	size_t cells = 0;

	for (size_t at = 0; at < size; ) {
		struct gus_text_char c = gus_text_next(text + at, size - at);

		cells += cells_of(&c);
		at += c.size;
	}
	return cells;
}

size_t gus_cells_head(const char *text, size_t size, size_t cells)
{
	size_t at = 0, used = 0;

	while (at < size) {
		struct gus_text_char c = gus_text_next(text + at, size - at);

		used += cells_of(&c);
		if (used > cells)
			break;
		at += c.size;
	}
	return at;
}

size_t gus_cells_tail(const char *text, size_t size, size_t cells)
{
	size_t all = gus_cells(text, size), at = 0;

	while (at < size) {
		struct gus_text_char c = gus_text_next(text + at, size - at);
		size_t these = cells_of(&c);

		if (all <= cells && these)
			break;
		all -= these;
		at += c.size;
	}
	return at;
}
