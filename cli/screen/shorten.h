/* SPDX-License-Identifier: MIT */
/* Text that is longer than its place on the screen, cut so that what tells it from others stays.
 *
 * Of a function's name that is the function itself and what it is a member of; what goes first are arguments of
 * templates, the innermost first, then the scopes between the first and the last ones:
 *
 *   std::vector<std::pair<int, Key>, std::allocator<std::pair<int, Key> > >::_M_realloc_insert
 *   std::vector<std::pair<…>, std::allocator<…> >::_M_realloc_insert
 *   std::vector<…>::_M_realloc_insert
 *   std::…::_M_realloc_insert
 *   …::_M_realloc_insert
 *   _M_real…insert
 *
 * Brackets stay balanced down to the last form. Of a path it is the end. */
#ifndef GUS_CLI_SCREEN_SHORTEN_H
#define GUS_CLI_SCREEN_SHORTEN_H

#include <stddef.h>

enum gus_shorten {
	GUS_SHORTEN_END,     /* loses its end */
	GUS_SHORTEN_MIDDLE,
	GUS_SHORTEN_PATH,    /* loses folders at its beginning */
	GUS_SHORTEN_NAME,    /* of a function */
};

/* The text if it takes no more than so many cells (cli/screen/cells.h), else what stays of it with dots, "…" or "..",
 * where something is missing. The caller frees it. */
char *gus_shorten(const char *text, enum gus_shorten how, size_t cells, const char *dots);

#endif
