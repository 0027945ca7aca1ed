/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <string.h>

void gus_text_clean(char *text)
{
	for (size_t n; *text; text += n ? n : 1) {
		n = gus_control_size(text);
		if (n)
			memset(text, strchr("\t\n\v\f\r", *text) ? ' ' : '?', n);
	}
}
