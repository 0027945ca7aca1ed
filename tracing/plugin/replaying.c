/* SPDX-License-Identifier: MIT */
#include "tracing/plugin/replaying.h"

#include "tracing/replay/image_format.h"

enum gus_replaying_next gus_replaying_call(struct gus_replaying *r, int64_t number, uint64_t a1, uint64_t a2)
{
	if (!r->begun && number == GUS_REPLAY_BEGIN) {
		r->begun = true;
		r->jump = (int64_t)a2;
		return GUS_REPLAYING_BEGINS;
	}
	if (!r->begun)
		return GUS_REPLAYING_LOADS;
	if (r->jump && number == r->jump) {
		r->jump = 0;
		return GUS_REPLAYING_LOADS;
	}
	r->ended_by = number == GUS_REPLAY_SIGNAL ? "signal" : "syscall";
	r->number = number == GUS_REPLAY_SIGNAL ? a1 : (uint64_t)number;
	r->at = number == GUS_REPLAY_SIGNAL ? a2 : 0;
	return GUS_REPLAYING_ENDS;
}

void gus_replaying_window_over(struct gus_replaying *r)
{
	r->ended_by = "window";
}

bool gus_replaying_is_loader(uint64_t address)
{
	return address >= GUS_REPLAY_BASE && address < GUS_REPLAY_BASE + GUS_REPLAY_SIZE;
}

void gus_replaying_tell(const struct gus_replaying *r, Gusprof__TraceTotal *total)
{
	if (!r->ended_by)
		return;
	total->ended_by = (char *)(uintptr_t)r->ended_by; /* the generated types lack the const */
	total->ended_number = r->number;
	total->ended_at = r->at;
}
