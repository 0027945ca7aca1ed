/* SPDX-License-Identifier: MIT */
#include "cli/record/beyond.h"

#include <elf.h>
#include <stdbool.h>
#include <time.h>

#include "cli/record/remembered.h"
#include "collector/host/peek.h"

#define FIRST 16384u /* bytes; each further look takes eight times as many */
#define LOOKS 64     /* at pieces of one stack */
#define BELOW 4096u  /* bytes: so far below its end a frame may have kept registers */
#define AHEAD_NS 2000000000.0 /* of the clock, whose share may be spent at once */
#define ENDS 24u     /* callers that are checked at either end */

/* Where a signal came to, or the sample itself, nothing returns. */
static bool returns(const uint64_t *out, uint32_t n)
{
	return n && !(n > 1 && out[n - 2] == GUS_REMEMBERED_MARKER);
}

bool gus_beyond_contradicts(uint32_t pid, unsigned machine, const uint64_t *addresses, const uint64_t *frames,
			    uint32_t n, uint32_t joined)
{
	uint64_t at[GUS_PEEK_WORDS], now[GUS_PEEK_WORDS], then[GUS_PEEK_WORDS];
	bool known = returns(addresses, n);
	size_t words = 0, got;

	if (machine != EM_X86_64)
		return false;
	for (uint32_t i = n - known; i < joined; i++) {
		/* Of many the middle is left out. */
		if (i == n + ENDS && joined - i > ENDS)
			i = joined - ENDS;
		if (!frames[i] || !returns(addresses, i + 1))
			continue;
		at[words] = frames[i] - sizeof(*at);
		then[words++] = addresses[i];
	}
	got = gus_peek_words((pid_t)pid, at, now, words);
	/* A thread that is not there any more says nothing about then. */
	if (known && (!got || now[0] != then[0]))
		return false;
	for (size_t i = known; i < got; i++)
		if (now[i] != then[i])
			return true;
	return false;
}

/* Whether it still stands where it was that the last frame known returns there. */
static bool still_returns(uint32_t pid, const struct gus_unwind_rest *rest, const uint64_t *out, uint32_t n)
{
	uint64_t at, now;

	if (!returns(out, n))
		return true;
	at = rest->frames[n - 1] - sizeof(now);
	return gus_peek_words((pid_t)pid, &at, &now, 1) == 1 && now == out[n - 1];
}

/* From where to read on. What lies between a stack pointer and the end of a large frame is of no use. */
static uint64_t begin_of(const struct gus_unwind_rest *rest)
{
	uint64_t sp = rest->regs.v[7];

	return rest->frame > sp && rest->frame - sp > BELOW ? (rest->frame - BELOW) & ~(uint64_t)7 : sp;
}

static uint64_t clock_ns(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool gus_beyond_may(struct gus_beyond *b)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool may;

	if (!b->began_ns)
		b->began_ns = now;
	may = (double)b->spent_ns < b->share * ((double)(now - b->began_ns) + AHEAD_NS);
	b->left_out += !may;
	return may;
}

static uint32_t join(struct gus_beyond *b, uint32_t pid, const struct gus_unwind_view *view,
		     const struct gus_unwind_rest *rest, uint64_t *out, uint32_t n, uint32_t most, uint64_t *callers)
{
	struct gus_unwind_rest more = { .regs = rest->regs, .frame = rest->frame };
	struct gus_unwind_view there = *view;
	uint64_t end = GUS_CALLERS_STACK;
	uint32_t all = n, found;
	size_t size = FIRST;

	there.lasts = NULL; /* that is of copies */
	/* On arm64 a return address may stand anywhere in its frame, so whether it still does is not known. */
	if (rest->regs.machine != EM_X86_64 || n >= most || !still_returns(pid, rest, out, n))
		return n;
	for (size_t looks = 0; looks < LOOKS && (end & GUS_CALLERS_END) == GUS_CALLERS_STACK; looks++) {
		struct gus_unwind_regs regs = more.regs;

		gus_vec_reserve(&b->bytes, size);
		there.stack = b->bytes.v;
		there.stack_at = begin_of(&more);
		there.stack_bytes = gus_peek((pid_t)pid, there.stack_at, b->bytes.v, size);
		if (!there.stack_bytes)
			break;
		regs.v[16] -= returns(out, all); /* a call may be the last instruction of its function */
		more.frames = rest->frames + all;
		found = gus_unwind(&there, &regs, out + all, most - all, &end, &more);
		all += found;
		more.regs.v[16] += !found && returns(out, all); /* they are as they were given */
		size = size * 8 < GUS_PEEK_MOST ? size * 8 : GUS_PEEK_MOST;
	}
	/* A thread that went on may have left words of two times there, in which a 0 is no sign of an end. */
	if (more.by_zero)
		return n;
	if ((end & GUS_CALLERS_END) != GUS_CALLERS_WHOLE && (end & GUS_CALLERS_END) != GUS_CALLERS_DEEP)
		return n;
	*callers = (*callers & ~(uint64_t)GUS_CALLERS_END) | end | GUS_CALLERS_REMEMBERED;
	return all;
}

uint32_t gus_beyond_join(struct gus_beyond *b, uint32_t pid, const struct gus_unwind_view *view,
			 const struct gus_unwind_rest *rest, uint64_t *out, uint32_t n, uint32_t most,
			 uint64_t *callers)
{
	uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint32_t all = join(b, pid, view, rest, out, n, most, callers);

	b->spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	return all;
}
