/* SPDX-License-Identifier: MIT */
#include "base/hex.h"

#include <stdlib.h>

#include "base/alloc.h"

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

uint8_t *gus_hex_parse(const char *text, size_t size, size_t *n)
{
	uint8_t *bytes = gus_alloc(size / 2 + 1);

	*n = 0;
	for (size_t at = 0; at < size;) {
		int high = digit(text[at]), low = at + 1 < size ? digit(text[at + 1]) : -1;

		if (text[at] == '0' && at + 1 < size && (text[at + 1] == 'x' || text[at + 1] == 'X'))
			at += 2;
		else if (text[at] == ' ' || text[at] == ',' || text[at] == '\\' || text[at] == 'x')
			at++;
		else if (high >= 0 && low >= 0)
			bytes[(*n)++] = (uint8_t)(high << 4 | low), at += 2;
		else
			goto wrong;
	}
	if (*n)
		return bytes;
wrong:
	free(bytes);
	return NULL;
}
