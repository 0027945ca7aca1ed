/* SPDX-License-Identifier: MIT */
/* Rooms: the arrays of a kernel in a size, with what stands in them at first, which is the same each time. */
#ifndef GUS_TESTS_SUITE_ROOM_H
#define GUS_TESTS_SUITE_ROOM_H

#include <stdbool.h>

#include "table.h"

struct suite_hall {
	const struct suite_kernel *kernel;
	struct suite_room room;
	size_t mapped[SUITE_ARRAYS];  /* bytes */
};

/* Makes a room whose passes are `steps` long. False if there is not enough memory. */
bool suite_hall_open(struct suite_hall *hall, const struct suite_kernel *kernel, long n, long steps);
void suite_hall_close(struct suite_hall *hall);
/* Goes on to the steps of the next pass. */
void suite_hall_turn(struct suite_hall *hall);
/* Puts bytes into all that is only written that no kernel would, so that what is not written is seen. */
enum { SUITE_POISON = 0x41 };
void suite_hall_poison(struct suite_hall *hall);

#endif
