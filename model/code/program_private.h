/* SPDX-License-Identifier: MIT */
/* What the makers of programs share while they build one. */
#ifndef GUS_MODEL_CODE_PROGRAM_PRIVATE_H
#define GUS_MODEL_CODE_PROGRAM_PRIVATE_H

#include "base/alloc.h"
#include "model/code/program.h"

/* Which ports a table has for loads, store addresses and store data. */
struct roles {
	uint64_t load, store, address, data;
	bool split;             /* a store is two uops, one for the address and one for the data */
};

/* The parameters of a table that decide about programs. */
struct rules {
	struct roles roles;
	uint64_t taken;         /* ports of a conditional branch that is taken, if they are others */
	bool x86;
	bool zero_int, zero_vector, ones, move_int, move_vector, immediate_add, stack_engine, micro_fusion, rob_fused;
	bool indexed_store, indexed_never, indexed_rmw;
	bool fuse_none, fuse_test_cmp, fuse_all;
	uint16_t load, load_indexed, load_vector; /* cycles */
};

struct builder {
	const struct gus_uarch *u;
	struct rules rules;
	uint64_t base;
	uint32_t unknown;
	struct gus_vec(struct gus_program_insn) insns;
	struct gus_vec(struct gus_op) ops;
	struct gus_vec(struct gus_uop) uops;
	struct gus_vec(struct gus_flow) flows;
	struct gus_vec(struct gus_program_memory) memories;
};

/* Making a program: begin, add code as often as there is some, look at it. What was looked at is owned by the program if nothing is
 * added any more. */
struct gus_program_code {
	const void *bytes;
	size_t size;
	uint64_t address;
	const uint8_t *lengths; /* of each instruction, where they are known: of code that was traced; else NULL */
	unsigned flags;         /* enum gus_program_flag */
};
void gus_program_begin(struct builder *b, const struct gus_uarch *u, uint64_t base);
/* -1 with err, and nothing is added. */
int gus_program_add(struct builder *b, const struct gus_program_code *c, struct gus_error *err);
/* Gives an op whose branch is taken each time the ports of that. */
void gus_program_take(struct builder *b, const struct gus_op *op);
void gus_program_look(struct gus_program *p, const struct builder *b);

enum { PIECES = 96 };           /* uops of one instruction; what has more is cut there (state save, wide microcode) */
struct piece {
	uint64_t ports;
	enum gus_uop_kind kind;
	uint16_t held;          /* cycles that the port is taken */
};

/* One instruction on its way from row to uops. */
struct lowered {
	const struct gus_insn_info *info;
	const struct gus_uarch_row *row;        /* NULL: bounds of its class */
	struct gus_op *op;
	const struct gus_uarch_use *uses;
	uint32_t uses_n, uops, fused, latency, loadlat;
	uint8_t unit;
	uint16_t unit_cycles;
	bool writeback;         /* its computing uops add to the address, for the register that is written back */
	bool idiom, complex, decoded_known;
	unsigned loads, stores, addresses, computes; /* uops of each kind */
	struct piece pieces[PIECES];
	unsigned pieces_n;
	/* Cycles from an access that reads to one that writes, -1: that does not need it. */
	int16_t cycles[GUS_INSN_ACCESSES][GUS_INSN_ACCESSES];
	int16_t out[GUS_INSN_ACCESSES];         /* the longest to each; -1: as the row's latency */
	bool by_access;                         /* the two are filled in */
};

/* A register that is written in parts keeps the rest, and so waits for it; the high byte registers are apart. */
static inline bool gus_program_reads(const struct gus_insn_access *a)
{
	if (a->use & GUS_ACCESS_ADDRESS)
		return false;
	return (a->use & GUS_ACCESS_READ) || ((a->use & GUS_ACCESS_KEEP) && !(a->use & GUS_ACCESS_HIGH));
}

/* Finds, from the row's latencies by operand or by rule, which access needs which, and how long each takes. */
void gus_program_latencies(const struct gus_uarch *u, struct lowered *l);
/* Accesses are numbered as in the info, sets of them are bit masks. Whether any of outs needs what the access reads. */
bool gus_program_needs(const struct lowered *l, uint32_t outs, unsigned access);
/* How many cycles after the others the access may come, for the sake of outs. */
int gus_program_lateness(const struct lowered *l, uint32_t outs, unsigned access);
/* From dispatch until the result that the access writes, of an instruction with that latency. */
unsigned gus_program_latency(const struct lowered *l, unsigned access, unsigned latency);
/* The results that need fewer operands than others do; 0: all need the same. */
uint32_t gus_program_early(const struct lowered *l);

#endif
