/* SPDX-License-Identifier: MIT */
#include "cli/common/json.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

json_t *gus_json_word(const char *text)
{
	struct gus_vec(char) clean = { 0 };
	json_t *value;

	if (!text)
		return json_null();
	for (size_t left = strlen(text); left; ) {
		struct gus_text_char c = gus_text_next(text, left);

		if (c.class == GUS_TEXT_INVALID)
			gus_vec_append(&clean, "\xef\xbf\xbd", 3); /* U+FFFD */
		else
			gus_vec_append(&clean, text, c.size);
		text += c.size;
		left -= c.size;
	}
	value = json_stringn(clean.n ? clean.v : "", clean.n);
	gus_vec_free(&clean);
	return value;
}

json_t *gus_json_text(const char *text)
{
	return text && *text ? gus_json_word(text) : json_null();
}

json_t *gus_json_number(bool known, uint64_t value)
{
	if (!known)
		return json_null();
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

json_t *gus_json_address(uint64_t address)
{
	char text[24];

	if (address <= INT64_MAX)
		return json_integer((json_int_t)address);
	snprintf(text, sizeof(text), "%#llx", (unsigned long long)address);
	return gus_json_word(text);
}

json_t *gus_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *gus_json_pair(double low, double high)
{
	json_t *list = json_array();

	json_array_append_new(list, gus_json_real(low));
	json_array_append_new(list, gus_json_real(high));
	return list;
}

/* A document's bytes on their way out: jansson has escaped what is below a blank. Outside strings all is ASCII. */
static int print_part(const char *text, size_t size, void *out)
{
	size_t done = 0; /* of what may be printed as it is */

	for (size_t at = 0; at < size; ) {
		struct gus_text_char c = gus_text_next(text + at, size - at);
		uint32_t above = c.code - 0x10000;

		at += c.size;
		if (c.class == GUS_TEXT_PLAIN || c.code < 0x7f) {
			done += c.size;
			continue;
		}
		fwrite(text, 1, done, out);
		if (c.code < 0x10000)
			fprintf(out, "\\u%04X", c.code);
		else
			fprintf(out, "\\u%04X\\u%04X", 0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff));
		text += at;
		size -= at;
		at = done = 0;
	}
	return fwrite(text, 1, done, out) == done ? 0 : -1;
}

int gus_json_print(json_t *document, FILE *out, bool indent)
{
	int rc = json_dump_callback(document, print_part, out,
				    JSON_REAL_PRECISION(9) | (indent ? JSON_INDENT(1) : JSON_COMPACT));

	putc('\n', out);
	json_decref(document);
	return rc;
}
