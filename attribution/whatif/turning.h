/* SPDX-License-Identifier: MIT */
/* The body of an innermost loop, out of a passage of a trace through it: its instructions in order of address, and turn
 * by turn what their accesses met. What is here is of what was executed; nothing is concluded from it yet. */
#ifndef GUS_ATTRIBUTION_WHATIF_TURNING_H
#define GUS_ATTRIBUTION_WHATIF_TURNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/machine/steps.h"
#include "symbolizer/insn/insn.h"

struct gus_traced;

struct gus_turning_insn {
	const struct gus_insn_info *info;       /* the program's, as the next two: valid as long as the trace's table */
	const char *text;
	const uint8_t *bytes;
	uint64_t address;
	uint32_t access, accesses_n;            /* its first in a turn, and how many */
	bool conditional;                       /* some turns go around it */
	bool joined;                            /* a copy of one before it, which stands for both */
	char form[GUS_INSN_FORM_MAX];
};

/* One time through the loop. */
struct gus_turning_turn {
	bool first;                             /* of its stay */
	uint32_t mispredicted;                  /* the branch that was, by instruction, plus 1; 0: none was */
};

struct gus_turning {
	uint64_t head;                          /* address of its first instruction */
	struct gus_vec(struct gus_turning_insn) insns;
	uint32_t accesses_n;                    /* of a turn */
	struct gus_vec(struct gus_turning_turn) turns; /* whole ones; those of a stay lie behind each other */
	/* accesses_n for each turn; of one that went around the instruction not known */
	struct gus_vec(struct gus_op_access) accesses;
	struct gus_vec(bool) executed;          /* insns.n for each turn */
	uint32_t stays;
};

/* Reads it. NULL if it was read, else why there is no such body: a sentence of what is in the way, to be freed. Freed
 * with gus_turning_free, also then. */
char *gus_turning_read(struct gus_turning *b, const struct gus_traced *t, uint32_t region);
void gus_turning_free(struct gus_turning *b);

/* Whether an instruction is a direct branch that leads there. */
bool gus_turning_goes_to(const struct gus_insn_info *info, uint64_t address, uint64_t to);

static inline bool gus_turning_executes(const struct gus_turning *b, size_t turn, size_t insn)
{
	return b->executed.v[turn * b->insns.n + insn];
}
/* What an access met in a turn. */
static inline const struct gus_op_access *gus_turning_access(const struct gus_turning *b, size_t turn, uint32_t access)
{
	return &b->accesses.v[turn * b->accesses_n + access];
}

#endif
