/* SPDX-License-Identifier: MIT */
/* Which memory an instruction of x86-64 is about to touch, from its registers. Where an emulator would tell, this
 * computes. */
#ifndef GUS_TRACING_REPLAY_ACCESS_H
#define GUS_TRACING_REPLAY_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/trace.h"
#include "symbolizer/insn/insn.h"

/* of one instruction: 64 elements under a mask read and written, a stack slot each */
#define GUS_REPLAY_ACCESSES 130

/* General registers in the order of GUS_X86_RAX and on, and an XSAVE area, which is only looked at for instructions of
 * which gus_replay_needs_state is true. */
struct gus_replay_registers {
	uint64_t general[16], rip, fs_base, gs_base;
	const uint8_t *state;
	size_t state_size;
};

/* Whether addresses depend on vector or mask registers. */
bool gus_replay_needs_state(const struct gus_insn_info *info);

/* The accesses, loads before stores; insn of each is 0. Repeated string instructions: as many elements as turns.
 * Returns how many there are; *omitted grows by those whose size is not known. */
size_t gus_replay_accesses(const struct gus_insn_info *info, const uint8_t *bytes, const struct gus_replay_registers *r,
			   uint64_t turns, bool down, struct gus_trace_access *accesses, uint64_t *omitted);

#endif
