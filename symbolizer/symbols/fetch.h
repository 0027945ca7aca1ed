/* SPDX-License-Identifier: MIT */
/* How debug information comes from elsewhere, which is the caller's matter: nothing here knows a network. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_FETCH_H
#define GUS_SYMBOLIZER_SYMBOLS_FETCH_H

#include <stddef.h>
#include <stdint.h>

/* Gets a file with the debug information of a module, by its build id: its path, which the caller frees, or NULL. The
 * file is opened with our rights, and used if it has that build id. */
struct gus_fetch {
	char *(*find)(const char *module, const uint8_t *build_id, size_t size, void *context);
	void *context;
};

#endif
