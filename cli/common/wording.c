/* SPDX-License-Identifier: MIT */
#include "cli/common/wording.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void gus_wording_add(struct gus_wording *w, const char *format, ...)
{
	va_list args;
	char *piece;

	va_start(args, format);
	if (vasprintf(&piece, format, args) < 0)
		gus_alloc_failed(0);
	va_end(args);
	gus_vec_append(w, piece, strlen(piece));
	free(piece);
}

char *gus_wording_done(struct gus_wording *w)
{
	gus_vec_push(w, '\0');
	return w->v;
}
