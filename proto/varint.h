/* SPDX-License-Identifier: MIT */
/* LEB128 as columns and traces are written; base/cursor.h reads it. */
#ifndef GUS_PROTO_VARINT_H
#define GUS_PROTO_VARINT_H

#include <stdint.h>

#include "base/alloc.h"

struct gus_bytes gus_vec(uint8_t);

static inline void gus_bytes_varint(struct gus_bytes *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		gus_vec_push(out, (uint8_t)(v | 0x80));
	gus_vec_push(out, (uint8_t)v);
}

#endif
