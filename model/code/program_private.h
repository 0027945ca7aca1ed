/* SPDX-License-Identifier: MIT */
/* What the makers of programs share while they build one. The order of their steps is in program.c; each file has one
 * of them:
 *
 *	program_rules.c      what a table says about programs as such
 *	program_registers.c  which registers uops wait for and which files results lie in
 *	program_pieces.c     an instruction's row, as uops of a kind each
 *	program_idioms.c     what the renamer does by itself
 *	program_latency.c    which result needs which input, and when
 *	program_chase.c      which loads have their addresses from loads
 *	program_uops.c       the uops and the words that they hand each other
 *	program_fusion.c     pairs that travel as one
 *	program_stack.c      what the stack engine inserts
 *	program_high.c       what reading a register behind its second byte inserts */
#ifndef GUS_MODEL_CODE_PROGRAM_PRIVATE_H
#define GUS_MODEL_CODE_PROGRAM_PRIVATE_H

#include "base/alloc.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"

struct gus_uarch_use;

/* Which ports a table has for loads, store addresses and store data. */
struct roles {
	uint64_t load, store, address, data;
	bool split;             /* a store is two uops, one for the address and one for the data */
};

/* The words of the parameter macro_fusion in their order: each CPU fuses what the ones before it do, and more. */
enum fusion { FUSION_NONE, FUSION_TEST_CMP, FUSION_TEST_CMP_ADD, FUSION_ALL };

/* The parameters of a table that decide about programs. */
struct rules {
	struct roles roles;
	uint64_t taken;         /* ports of a conditional branch that is taken, if they are others */
	bool x86;
	bool zero_int, zero_vector, ones, immediate_add, stack_engine, micro_fusion, rob_fused;
	bool high_merged;       /* ah to dh are parts of their registers as al to dl are */
	uint16_t high;          /* cycles more for an operation on one */
	bool move_int, move_vector, move_same, move_byte; /* moves that the renamer does */
	bool high_apart;        /* second bytes are renamed apart from their registers */
	bool shift_flags_new;   /* flags of a shift by a register do not wait for the old ones */
	bool loaded_base;       /* simple addresses are fast only if their base is from a load */
	bool indexed_store, indexed_never, indexed_rmw;
	enum fusion fusion;     /* of a comparison with the branch behind it */
	bool fusion_alu;        /* such a pair takes a port for a result in a register and one for the branch */
	bool nop_fusion;        /* two neighbouring nops are one op */
	uint16_t load, load_indexed, load_scaled, load_vector; /* cycles */
};

/* A uop before it knows its operands. */
struct piece {
	uint64_t ports;
	enum gus_uop_kind kind;
	uint16_t held;          /* cycles that the port is taken */
};

/* All that is made so far. Ops own their uops, and uops their flows, by place and number: so arrays only grow at the
 * end while an instruction is made, and the uops of one instruction lie behind each other. */
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
	struct gus_vec(struct piece) pieces;    /* room for those of the instruction that is made */
};

/* Making a program: begin, add code as often as there is some, look at it. What was looked at is owned by the program
 * if nothing is added any more. */
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

/* One instruction on its way from row to uops. Each step fills in what the next ones need. */
struct lowered {
	const struct gus_insn_info *info;
	const struct gus_uarch_row *row;        /* NULL: bounds of its class */
	struct gus_op *op;
	const struct gus_uarch_use *uses;
	uint32_t uses_n, uops, fused, latency, loadlat;
	uint8_t unit;
	uint16_t unit_cycles;
	unsigned adders;        /* of its computing uops the first, which add to addresses that are written back */
	bool idiom, complex, decoded_known;
	unsigned loads, stores, addresses, computes; /* uops of each kind */
	struct piece *pieces;   /* the builder's */
	unsigned pieces_n;
	/* Cycles from an access that reads to one that writes, -1: that does not need it. */
	int16_t cycles[GUS_INSN_ACCESSES][GUS_INSN_ACCESSES];
	int16_t out[GUS_INSN_ACCESSES];         /* the longest to each; -1: as the row's latency */
	bool by_access;                         /* the two are filled in */
	uint32_t awaited;                       /* accesses that pairs are from, whether they read or not */
	uint32_t unneeded;                      /* accesses that read and are waited for by nothing */
	bool conditional;                       /* by the rule of conditional moves */
	uint32_t halves;                        /* of a product's, the lower one, which the first uop has; or 0 */
};

/* Whole cycles, to the nearest. */
static inline unsigned gus_program_cycles(uint32_t centi)
{
	return (centi + GUS_UARCH_CENTI / 2) / GUS_UARCH_CENTI;
}

/* program_rules.c */
void gus_program_find_rules(struct rules *r, const struct gus_uarch *u);
/* The row of an addition of general registers: what any plain computation needs. NULL if the table has none. */
const struct gus_uarch_row *gus_program_addition(const struct gus_uarch *u);
/* That of a logic operation of two vectors: what a vector's move needs. NULL if the table has none. */
const struct gus_uarch_row *gus_program_vector_logic(const struct gus_uarch *u);

/* program_registers.c */
/* A register that is written in parts keeps the rest, and so waits for it; the high byte registers are apart. */
static inline bool gus_program_reads(const struct gus_insn_access *a)
{
	if (a->use & GUS_ACCESS_ADDRESS)
		return false;
	return (a->use & GUS_ACCESS_READ) || ((a->use & GUS_ACCESS_KEEP) && !(a->use & GUS_ACCESS_HIGH));
}
bool gus_program_is_flag(const struct builder *b, unsigned reg);
/* False of what no uop waits for: the instruction pointer, control words that hardly ever change. */
bool gus_program_is_tracked(const struct builder *b, unsigned reg);
unsigned gus_program_stack_pointer(const struct builder *b);
/* With a stack engine, push and pop neither wait for rsp nor make anybody wait: the decoders keep the offset. */
bool gus_program_by_stack_engine(const struct builder *b, const struct gus_insn_info *info,
				 const struct gus_insn_access *a);
/* Of arm64's writing back of an address, and of x86's push and pop and string instructions: the register is ready as
 * soon as an addition is, whatever the load takes. */
bool gus_program_is_writeback(const struct builder *b, const struct gus_insn_info *info,
			      const struct gus_insn_access *a);
/* How many of the computing uops of a load, store or string instruction may be such additions. */
unsigned gus_program_adders(const struct builder *b, const struct gus_insn_info *info);
void gus_program_forget_high(const struct builder *b, struct gus_insn_info *info);
/* Whether it computes with one of ah to dh; to be asked before they are merged. */
bool gus_program_operates_high(const struct gus_insn_info *info);
/* How many registers of each file its results take. */
void gus_program_count_results(const struct builder *b, const struct gus_insn_info *info, struct gus_op *op);

/* program_pieces.c */
/* What the row says, or without one the bounds of the class. */
void gus_program_take_row(struct builder *b, struct lowered *l, const struct gus_uarch_row *row);
/* The uops of the row by what they are for, in the order in which they travel. */
void gus_program_find_pieces(struct builder *b, struct lowered *l);

/* program_idioms.c */
void gus_program_find_idioms(const struct builder *b, struct lowered *l);

/* program_latency.c */
/* Finds, from the row's latencies by operand or by rule, which access needs which, and how long each takes. */
void gus_program_latencies(const struct builder *b, struct lowered *l);
/* Accesses are numbered as in the info, sets of them are bit masks. Whether any of outs needs what the access reads. */
/* Whether uops wait for what the access finds in its register: if it reads, or if the row says so all the same. */
bool gus_program_awaits(const struct lowered *l, unsigned access);
bool gus_program_needs(const struct lowered *l, uint32_t outs, unsigned access);
/* How many cycles after the others the access may come, for the sake of outs. */
int gus_program_lateness(const struct lowered *l, uint32_t outs, unsigned access);
/* From dispatch until the result that the access writes, of an instruction with that latency. */
unsigned gus_program_latency(const struct lowered *l, unsigned access, unsigned latency);
/* The results that need fewer operands than others do; 0: all need the same. */
uint32_t gus_program_early(const struct lowered *l);

/* program_chase.c */
/* A base, no index, a displacement of 0 to 2047. */
bool gus_program_is_simple(const struct gus_insn_info *info);
/* Settles how long loads with simple addresses take and which stores write what was computed, of the instructions from
 * that one on; again: the code is run in a loop. Each is an op of its own still. */
void gus_program_chase(struct builder *b, size_t from, bool again);

/* program_uops.c */
/* A uop is written between begin and end: first what it waits for, then, behind end_in, what it gives; end adds it. */
void gus_program_begin_in(struct builder *b, struct gus_uop *uop);
void gus_program_end_in(struct builder *b, struct gus_uop *uop);
void gus_program_end_out(struct builder *b, struct gus_uop *uop);
void gus_program_add_flow(struct builder *b, unsigned reg, int cycles);
void gus_program_write_uops(struct builder *b, const struct lowered *l);

/* program_fusion.c */
/* How many fused uops and issue slots an instruction takes, and which uop is in which slot. */
void gus_program_fuse_micro(struct builder *b, const struct lowered *l);
/* Whether decoders that see it wait for a branch behind it. */
bool gus_program_may_fuse(const struct builder *b, const struct gus_insn_info *info);
/* Makes one op of each pair of instructions that fuses, of the ops from that one on. */
void gus_program_fuse_macro(struct builder *b, size_t from);
/* Entries of the reorder buffer: by slots or by uops. After all that changes either. */
void gus_program_settle_rob(struct builder *b, size_t from);

/* program_stack.c */
/* Puts a uop in front of an op's own that reads the register and writes it anew. */
void gus_program_insert(struct builder *b, struct gus_op *op, unsigned reg, uint64_t ports);
/* Adds the uops that bring rsp up to date, to the ops from that one on; again: the code is run in a loop. */
void gus_program_add_syncs(struct builder *b, size_t from, bool again);

/* program_high.c */
/* Adds the uops that put second bytes into their registers, to the ops from that one on. */
void gus_program_merge_high(struct builder *b, size_t from);

#endif
