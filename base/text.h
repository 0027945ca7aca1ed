/* SPDX-License-Identifier: MIT */
/* Text from outside (names in files, of other people's processes) on its way to a terminal, which obeys control
 * characters. */
#ifndef GUS_BASE_TEXT_H
#define GUS_BASE_TEXT_H

#include <stddef.h>

/* The bytes of the control character that a text goes on with: 0 if it is none, 2 if it is one of U+0080 to U+009F,
 * which terminals obey as well. Not to be asked at the end of a text. */
static inline size_t gus_control_size(const char *at)
{
	const unsigned char *c = (const unsigned char *)at;

	if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
		return 2;
	return c[0] < 0x20 || c[0] == 0x7f;
}

/* Puts blanks in place of ends of lines and the like, and question marks in place of other control characters. */
void gus_text_clean(char *text);

#endif
