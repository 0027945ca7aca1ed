/* SPDX-License-Identifier: MIT */
#include "attribution/traced/told.h"

#include "model/machine/options.h"

enum { JOINED_MOST = 4096 };

/* Lines are counted from another one on. */
static void move_beside(struct gus_op_beside *b, int64_t lines)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->prefetches_n; i++) {
		int64_t ahead = b->prefetches[i].ahead + lines;

		if (ahead < INT8_MIN || ahead > INT8_MAX)
			continue;
		b->prefetches[n] = b->prefetches[i];
		b->prefetches[n++].ahead = (int8_t)ahead;
	}
	b->prefetches_n = (uint8_t)n;
}

static void add_beside(struct gus_op_beside *to, const struct gus_op_beside *more)
{
	for (unsigned i = 0; i < more->prefetches_n && to->prefetches_n < GUS_OP_PREFETCHES; i++)
		to->prefetches[to->prefetches_n++] = more->prefetches[i];
	for (unsigned i = 0; i < GUS_OP_WRITTEN; i++) {
		unsigned written = to->written[i] + more->written[i];

		to->written[i] = (uint8_t)(written < UINT8_MAX ? written : UINT8_MAX);
	}
}

void gus_traced_told_add(struct gus_op_access *told, uint64_t address, uint32_t bytes, uint32_t width,
			 uint32_t line_size, const struct gus_op_beside *beside)
{
	uint64_t end = told->address + told->bytes, new_end = address + bytes, before = told->address;
	struct gus_op_beside more = *beside;

	if (!told->known) {
		*told = (struct gus_op_access){ .address = address, .bytes = width ? width : bytes, .known = true,
			.beside = more };
		return;
	}
	told->address = address < before ? address : before;
	end = new_end > end ? new_end : end;
	told->bytes = width ? width : (uint32_t)(end - told->address < JOINED_MOST ? end - told->address :
		JOINED_MOST);
	move_beside(&told->beside, (int64_t)(before / line_size - told->address / line_size));
	move_beside(&more, (int64_t)(address / line_size - told->address / line_size));
	add_beside(&told->beside, &more);
}

void gus_traced_told_found(struct gus_op_access *told, uint8_t level, uint8_t tlb, bool prefetched)
{
	if (level > told->level)
		told->prefetched = prefetched;
	else if (level == told->level)
		told->prefetched &= prefetched;
	told->level = level > told->level ? level : told->level;
	told->tlb = tlb > told->tlb ? tlb : told->tlb;
}

void gus_traced_told_prefetch(struct gus_op_access *told, uint8_t level, const struct gus_op_beside *beside)
{
	if (level != GUS_HIT_L1)
		told->beside.prefetches[told->beside.prefetches_n++] = (struct gus_op_prefetch){ 0, level, GUS_HIT_L1 };
	add_beside(&told->beside, beside);
}
