/* SPDX-License-Identifier: MIT */
#include "cli/record/beyond.h"

#include <elf.h>
#include <stdbool.h>

#include "cli/record/remembered.h"
#include "collector/host/peek.h"

#define FIRST 16384u /* bytes; each further look takes eight times as many */

/* Whether it still stands where it was that the last frame known returns there. */
static bool still_returns(uint32_t pid, const struct gus_unwind_rest *rest, const uint64_t *out, uint32_t n)
{
	uint64_t now;

	/* Where a signal came to, or the sample itself, nothing returns. */
	if (!n || (n > 1 && out[n - 2] == GUS_REMEMBERED_MARKER))
		return true;
	return gus_peek((pid_t)pid, rest->frames[n - 1] - sizeof(now), &now, sizeof(now)) == sizeof(now) &&
	       now == out[n - 1];
}

uint32_t gus_beyond_join(struct gus_beyond *b, uint32_t pid, const struct gus_unwind_view *view,
			 const struct gus_unwind_rest *rest, uint64_t *out, uint32_t n, uint32_t most,
			 uint64_t *callers)
{
	bool returns = n && !(n > 1 && out[n - 2] == GUS_REMEMBERED_MARKER);
	struct gus_unwind_rest more = { .frames = rest->frames + n };
	struct gus_unwind_regs regs = rest->regs;
	struct gus_unwind_view there = *view;
	uint64_t end = GUS_CALLERS_STACK;
	uint32_t found = 0;

	/* On arm64 a return address may stand anywhere in its frame, so whether it still does is not known. */
	if (regs.machine != EM_X86_64 || n >= most || !still_returns(pid, rest, out, n))
		return n;
	there.stack_at = regs.v[7];
	regs.v[16] -= returns; /* a call may be the last instruction of its function */
	for (size_t size = FIRST; size <= GUS_PEEK_MOST && (end & GUS_CALLERS_END) == GUS_CALLERS_STACK; size *= 8) {
		gus_vec_reserve(&b->bytes, size);
		there.stack = b->bytes.v;
		there.stack_bytes = gus_peek((pid_t)pid, there.stack_at, b->bytes.v, size);
		found = gus_unwind(&there, &regs, out + n, most - n, &end, &more);
		if (there.stack_bytes < size)
			break;
	}
	if ((end & GUS_CALLERS_END) != GUS_CALLERS_WHOLE && (end & GUS_CALLERS_END) != GUS_CALLERS_DEEP)
		return n;
	*callers = (*callers & ~(uint64_t)GUS_CALLERS_END) | end | GUS_CALLERS_REMEMBERED;
	return n + found;
}
