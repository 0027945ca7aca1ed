/* SPDX-License-Identifier: MIT */
/* Unwind tables of a test's own making. */
#ifndef GUS_TESTS_MADE_FRAMES_H
#define GUS_TESTS_MADE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_FRAMES_AT 0x5000 /* address of the first byte */

struct made_frames {
	uint8_t bytes[4096];
	size_t n, cie;
	bool debug;               /* as .debug_frame has it */
	bool packed;              /* what stands in `bytes` now is a packed section */
	bool lengths, relative;   /* of the entries of the last common part */
};

/* How x86-64 begins every function: CFA = rsp + 8, the return address below it; and arm64: CFA = sp. */
extern const uint8_t made_x86[5], made_arm64[3];

/* The common part of the entries that follow, with these letters (of z, R, P, L, S, B) and instructions. */
void made_cie(struct made_frames *m, const char *letters, unsigned ra, const uint8_t *program, size_t n);
void made_fde(struct made_frames *m, uint64_t low, uint64_t size, const uint8_t *program, size_t n);
/* What ends a list. */
void made_end(struct made_frames *m);

#endif
