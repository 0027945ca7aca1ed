/* SPDX-License-Identifier: MIT */
/* Whether an Embedded message keeps what FORMAT.md says of it, so that who takes it need not look again. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_EMBEDDED_CHECK_H
#define GUS_SYMBOLIZER_SYMBOLS_EMBEDDED_CHECK_H

#include <stdbool.h>

struct Gusprof__Embedded;

#define GUS_EMBEDDED_CALLS_MAX 64 /* of a chain; as many as an address has names */

/* All numbers are of something, nothing reaches behind the end of all addresses, what ascends does, and names are no
 * longer than names are. */
bool gus_embedded_is_good(const struct Gusprof__Embedded *message);

#endif
