/* SPDX-License-Identifier: MIT */
/* LEB128 as columns and traces are written; base/cursor.h reads it. */
#ifndef GUS_PROTO_VARINT_H
#define GUS_PROTO_VARINT_H

#include <stdint.h>

#include "base/alloc.h"

struct gus_bytes gus_vec(uint8_t);

#define GUS_VARINT_MAX 10       /* bytes of one */

/* Where there is room for it; returns where it ends. */
static inline uint8_t *gus_put_varint(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (uint8_t)(v | 0x80);
	*at++ = (uint8_t)v;
	return at;
}

static inline void gus_bytes_varint(struct gus_bytes *out, uint64_t v)
{
	gus_vec_reserve(out, out->n + GUS_VARINT_MAX);
	out->n = (size_t)(gus_put_varint(out->v + out->n, v) - out->v);
}

#endif
