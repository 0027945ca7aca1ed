/* SPDX-License-Identifier: MIT */
/* A microbenchmark of calibration as a golden machine sees its code: the loop cut at its branches into blocks, which of
 * its accesses each op makes, and how the blocks lie in the uop cache. As attribution/traced sees code of a trace. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_CODE_H
#define GUS_TESTS_ACCURACY_GOLDEN_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/code/growing.h"
#include "model/code/program.h"
#include "model/oracles/branch.h"

struct golden_machine;
struct gus_error;
struct gus_micro;

enum { GOLDEN_CODE_NONE = UINT32_MAX };

/* Executed from its first instruction to its last, which may branch. */
struct golden_code_block {
	uint64_t address;
	uint32_t size, insns_n;
	uint32_t memory, memories_n;            /* its accesses, in the program's */
	uint32_t window, windows_n;             /* of the uop cache */
	struct gus_growing_block ops;
	bool branch;
	enum gus_branch_kind kind;
	uint64_t branch_from, branch_to;        /* its last instruction, and where that goes when taken */
	uint32_t jump;                          /* in the micro's; NONE: the branch back, or no branch */
	uint32_t target;                        /* the block there */
};

struct golden_code {
	const struct gus_micro *micro;
	struct gus_growing *growing;
	const struct gus_program *program;
	struct gus_vec(struct golden_code_block) blocks;       /* a pass begins with the first, ends behind the last */
	struct gus_vec(uint32_t) access_of;     /* by the program's memories: which of the micro's accesses that is */
	struct gus_vec(uint32_t) insn_of;       /* likewise: the instruction that has it */
	struct gus_vec(uint8_t) window_lines;   /* of the uop cache, by window; 0: decoders have it */
	uint32_t window_bytes;                  /* 0: there is no uop cache */
	uint32_t ops_most;                      /* of one pass */
};

/* Where code and arena lie: the arena at the start of a huge page, as the microbenchmark wants it. */
#define GOLDEN_CODE_START UINT64_C(0x400000)
#define GOLDEN_CODE_ARENA UINT64_C(0x7f0000000000)

/* Borrows both. -1 with err if the microbenchmark is not what it says: bytes that are no instructions, branches that do
 * not go where it says, accesses that it does not tell. To be ended in any case. */
int golden_code_begin(struct golden_code *m, const struct gus_micro *k, const struct golden_machine *machine,
		       struct gus_error *err);
void golden_code_end(struct golden_code *m);

#endif
