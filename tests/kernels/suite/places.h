/* SPDX-License-Identifier: MIT */
/* Where the data of a variant are, as bytes. */
#ifndef GUS_TESTS_SUITE_PLACES_H
#define GUS_TESTS_SUITE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

enum { SUITE_PLACES = 4 };

struct suite_place {
	const char *name;
	size_t bytes;
};

/* L1, L2, L3 and memory: 16 KiB, 256 KiB, 4 MiB and 64 MiB, so that traces are the same everywhere; or, of this
 * machine, half of L1 and of L2, four times L2 (but half of L3 at most), twice L3, as far as /sys says. */
void suite_places(struct suite_place places[SUITE_PLACES], bool of_host);

#endif
