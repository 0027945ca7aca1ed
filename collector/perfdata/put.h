/* SPDX-License-Identifier: MIT */
/* Little-endian fields appended to bytes, as perf.data has them: the inverse of base/cursor.h. */
#ifndef GUS_COLLECTOR_PERFDATA_PUT_H
#define GUS_COLLECTOR_PERFDATA_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/varint.h"

static inline void gus_put_int(struct gus_bytes *out, uint64_t value, size_t size)
{
	gus_vec_reserve(out, out->n + size);
	for (size_t i = 0; i < size; i++)
		out->v[out->n++] = (uint8_t)(value >> 8 * i);
}

static inline void gus_put_u16(struct gus_bytes *out, uint16_t value) { gus_put_int(out, value, 2); }
static inline void gus_put_u32(struct gus_bytes *out, uint32_t value) { gus_put_int(out, value, 4); }
static inline void gus_put_u64(struct gus_bytes *out, uint64_t value) { gus_put_int(out, value, 8); }

/* Zeros until there is a multiple of so many bytes from `from` on. */
static inline void gus_put_padding(struct gus_bytes *out, size_t from, size_t multiple)
{
	size_t over = (out->n - from) % multiple, more = over ? multiple - over : 0;

	gus_vec_reserve(out, out->n + more);
	if (more)
		memset(out->v + out->n, 0, more);
	out->n += more;
}

/* Text with its zero. */
static inline void gus_put_text(struct gus_bytes *out, const char *text)
{
	gus_vec_append(out, (const uint8_t *)text, strlen(text) + 1);
}

#endif
