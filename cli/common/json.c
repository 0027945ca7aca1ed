/* SPDX-License-Identifier: MIT */
#include "cli/common/json.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Length of the valid UTF-8 sequence at text, 0 if there is none (overlong forms and surrogates are none). */
static size_t utf8_length(const unsigned char *text)
{
	static const struct { unsigned char mask, lead; uint32_t least; } forms[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
	};

	for (size_t n = 0; n < 4; n++) {
		uint32_t code = text[0] & (unsigned char)~forms[n].mask;

		if ((text[0] & forms[n].mask) != forms[n].lead)
			continue;
		for (size_t i = 1; i <= n; i++) {
			if ((text[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (text[i] & 0x3f);
		}
		return code >= forms[n].least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? n + 1 : 0;
	}
	return 0;
}

json_t *gus_json_text(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	struct gus_vec(char) clean = { 0 };
	json_t *value;

	if (!text || !*text)
		return json_null();
	while (*at) {
		size_t n = utf8_length(at);

		if (n)
			gus_vec_append(&clean, (const char *)at, n);
		else
			gus_vec_append(&clean, "\xef\xbf\xbd", 3); /* U+FFFD */
		at += n ? n : 1;
	}
	value = json_stringn(clean.v, clean.n);
	gus_vec_free(&clean);
	return value;
}

json_t *gus_json_number(bool known, uint64_t value)
{
	return known ? json_integer((json_int_t)value) : json_null();
}

json_t *gus_json_pair(double low, double high)
{
	json_t *list = json_array();

	json_array_append_new(list, json_real(low));
	json_array_append_new(list, json_real(high));
	return list;
}
