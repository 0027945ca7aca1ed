/* SPDX-License-Identifier: MIT */
/* Loops of real x86-64 instructions, drawn at random: chains from one iteration to the next (integer, floating point,
 * pointers), beside loads, stores and arithmetic that wait for nobody, shuffles, conversions and a division now and
 * then. Each loop has a taste of its own for some of these, so that loops differ in what holds them up. The same seed
 * gives the same bytes. */
#ifndef GUS_TESTS_RANDOM_LOOP_H
#define GUS_TESTS_RANDOM_LOOP_H

#include <stddef.h>
#include <stdint.h>

enum { RANDOM_LOOP_BYTES = 1024 };

struct random_loop {
	uint8_t bytes[RANDOM_LOOP_BYTES];
	size_t size;
	unsigned instructions;          /* 8 to 60 */
};

/* Ends the program with 99 if an instruction cannot be encoded: the table of instructions is wrong. */
void random_loop_make(struct random_loop *l, uint64_t seed);

#endif
