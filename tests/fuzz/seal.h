/* SPDX-License-Identifier: MIT */
/* Checksums would stop a fuzzer at the door, so what looks like a preamble, a frame or a trailer of a recording gets
 * the right sums, except where the bits of `leave` say that this one stays as it is. */
#ifndef GUS_TESTS_FUZZ_SEAL_H
#define GUS_TESTS_FUZZ_SEAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

#include "proto/container.h"

static inline void put_sum(uint8_t *at, const uint8_t *from, size_t size)
{
	uint64_t sum = XXH64(from, size, 0);

	memcpy(at, &sum, sizeof(sum));
}

static inline void seal(uint8_t *bytes, size_t size, uint8_t leave)
{
	size_t at = GUS_PREAMBLE_SIZE;
	unsigned frame = 0;

	if (size < GUS_PREAMBLE_SIZE)
		return;
	memcpy(bytes, GUS_MAGIC, GUS_MAGIC_SIZE);
	if (!(leave & 1))
		put_sum(bytes + 16, bytes, 16);
	for (; at + GUS_FRAME_HEADER_SIZE <= size; frame++) {
		uint32_t stored;

		memcpy(&stored, bytes + at + 8, sizeof(stored));
		if (stored > size - at - GUS_FRAME_HEADER_SIZE)
			break;
		if (!(leave & 2) || frame % 5 != 3) {
			uint32_t mark = GUS_FRAME_MARK;

			memcpy(bytes + at, &mark, sizeof(mark));
			put_sum(bytes + at + 24, bytes + at + GUS_FRAME_HEADER_SIZE, stored);
			put_sum(bytes + at + 32, bytes + at, 32);
		}
		at += GUS_FRAME_HEADER_SIZE + stored;
	}
	if (!(leave & 4) && size - at == GUS_TRAILER_SIZE) {
		memcpy(bytes + at, GUS_TRAILER_MAGIC, 8);
		put_sum(bytes + at + 16, bytes + at, 16);
	}
}

#endif
