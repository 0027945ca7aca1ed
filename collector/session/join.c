/* SPDX-License-Identifier: MIT */
#include "collector/session/join.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "collector/events/cargo.h"
#include "proto/sample.h"

void gus_join_free(struct gus_join *j)
{
	gus_vec_free(&j->chain);
}

/* Where the chain comes to user space: behind the marker; 0 if it does not. */
static uint32_t user_part(const struct gus_sample *s)
{
	for (uint32_t i = 0; i < s->chain_n; i++)
		if (s->chain[i] == PERF_CONTEXT_USER)
			return i + 1;
	return 0;
}

static void settle(struct gus_join *j, struct gus_sample *s)
{
	s->chain = j->chain.v;
	s->chain_n = (uint32_t)j->chain.n;
}

/* The kernel's part, and how user space begins. */
static void begin(struct gus_join *j, const struct gus_sample *s)
{
	j->chain.n = 0;
	gus_vec_append(&j->chain, s->chain, s->chain_n);
	if (s->mode != GUS_MODE_KERNEL) {
		gus_vec_push(&j->chain, PERF_CONTEXT_USER);
	} else if (s->regs_n > GUS_CARGO_REG_IP) {
		gus_vec_push(&j->chain, PERF_CONTEXT_USER);
		gus_vec_push(&j->chain, s->regs[GUS_CARGO_REG_IP]);
	}
}

void gus_join_append(struct gus_join *j, struct gus_sample *s, const uint64_t *frames, uint32_t n)
{
	begin(j, s);
	gus_vec_append(&j->chain, frames, n);
	settle(j, s);
}

/* Of a sample of the kernel the first of user space is no caller of the leaf's but the leaf. */
void gus_join_leaf(struct gus_join *j, struct gus_sample *s, uint64_t frame)
{
	uint32_t at = user_part(s);

	if (!at) {
		gus_join_append(j, s, &frame, 1);
		return;
	}
	at += s->mode == GUS_MODE_KERNEL && at < s->chain_n;
	j->chain.n = 0;
	gus_vec_append(&j->chain, s->chain, at);
	gus_vec_push(&j->chain, frame);
	gus_vec_append(&j->chain, s->chain + at, s->chain_n - at);
	settle(j, s);
}

void gus_join_branches(struct gus_join *j, struct gus_sample *s)
{
	begin(j, s);
	for (uint32_t i = 0; i < s->branches_n; i++)
		gus_vec_push(&j->chain, s->branches[i].from + 1);
	s->branches_n = 0;
	s->branches = NULL;
	s->branch_index = 0;
	s->callers |= GUS_CALLERS_BRANCHES;
	settle(j, s);
}
