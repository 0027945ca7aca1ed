/* SPDX-License-Identifier: MIT */
/* Fuzz target of what runtimes tell of their code: any bytes as a perf map or a jitdump, and any hits, growth and clock
 * as what is wished for of them. Pieces are whole and lie within the addresses, their names, code and lines within the
 * bytes; what is chosen was hit, has its own part of the module, and no more is chosen than was asked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "symbolizer/jit/choose.h"
#include "symbolizer/jit/jit.h"

#define HEAD 16         /* how it is read, and what is wished */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void within(const uint8_t *bytes, size_t size, const void *at, size_t at_size)
{
	const uint8_t *p = at;

	demand(!at_size || (p >= bytes && at_size <= size && (size_t)(p - bytes) <= size - at_size));
}

static void check_pieces(const struct gus_jit *j, const uint8_t *bytes, size_t size)
{
	demand(j->pieces.n <= GUS_LIMIT_JIT_PIECES && j->lines.n <= GUS_LIMIT_JIT_LINES);
	for (size_t i = 0; i < j->pieces.n; i++) {
		const struct gus_jit_piece *p = &j->pieces.v[i];

		demand(p->size && p->size <= GUS_LIMIT_FUNCTION && p->address + p->size > p->address);
		demand(p->name.size && !memchr(p->name.text, '\n', p->name.size));
		within(bytes, size, p->name.text, p->name.size);
		within(bytes, size, p->code, p->code ? p->size : 0);
		demand(p->told < size && p->origin <= i && j->pieces.v[p->origin].origin == p->origin);
		demand(p->lines + (uint64_t)p->lines_n <= j->lines.n);
		for (uint32_t k = 1; k < p->lines_n; k++)
			demand(j->lines.v[p->lines + k - 1].offset <= j->lines.v[p->lines + k].offset);
	}
	for (size_t i = 0; i < j->lines.n; i++)
		within(bytes, size, j->lines.v[i].file.text, j->lines.v[i].file.size);
}

static bool hit(const struct gus_jit_wish *w, const struct gus_jit_piece *p)
{
	for (size_t i = 0; i < w->hits_n; i++)
		if (w->hits[i] >= p->address && w->hits[i] - p->address < p->size)
			return true;
	return w->all;
}

static void check_choice(const struct gus_jit *j, const struct gus_jit_wish *w)
{
	uint64_t end = w->offset;
	struct gus_jit_choice c;

	gus_jit_choose(&c, j, w);
	demand(c.notes.n <= 2 * w->most && c.origins.n <= w->most && c.notes.n >= c.origins.n);
	for (size_t i = 0; i < c.notes.n; i++)
		demand(hit(w, &j->pieces.v[c.notes.v[i].piece]));
	for (size_t i = 0; i < c.origins.n; i++) {
		demand(c.offsets.v[c.origins.v[i]] >= end);
		end = c.offsets.v[c.origins.v[i]] + j->pieces.v[c.origins.v[i]].size;
	}
	demand(c.end >= end);
	gus_jit_choice_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gus_jit_growth growth[2] = { 0 };
	struct gus_jit j = { 0 };
	uint64_t hits[2] = { 0 };
	struct gus_jit_wish wish = { .hits = hits, .growth = growth, .growth_n = 2 };
	uint8_t *copy;

	if (size < HEAD)
		return 0;
	size -= HEAD;
	copy = gus_alloc(size + 1);
	copy = gus_resize(copy, size ? size : 1, 1);
	memcpy(copy, data + HEAD, size);
	if (data[0] & 1)
		gus_jit_read_map(&j, copy, size);
	else if (gus_jit_read_dump(&j, copy, size))
		demand(!j.pieces.n);
	check_pieces(&j, copy, size);
	wish.all = data[0] & 2;
	wish.hits_n = data[0] >> 2 & 1 ? 2 : 1;
	wish.most = data[1] & 1 ? 3 : 100000;
	growth[0] = (struct gus_jit_growth){ data[2], data[3] };
	growth[1] = (struct gus_jit_growth){ (uint64_t)data[2] + data[4], (uint64_t)data[3] + data[5] };
	wish.since = data[6];
	wish.clock = (int8_t)data[7] * (int64_t)(data[1] & 2 ? 1 : 1ll << 56);
	memcpy(&hits[0], data + 8, sizeof(hits[0]));
	hits[1] = hits[0] | 0xfff;
	check_choice(&j, &wish);
	gus_jit_free(&j);
	free(copy);
	return 0;
}
