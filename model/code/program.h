/* SPDX-License-Identifier: MIT */
/* A piece of code as one CPU executes it: instructions joined with their rows, split into uops, with the registers
 * through which uops wait for each other. The engines run this; none of them looks at bytes or tables again.
 *
 *	bytes --insn--> info --uarch--> row --program--> ops (issue) of uops (dispatch)
 *
 * An op is what decoders and renamer handle as one: an instruction, or a pair that is fused to one (compare and
 * branch). Its uops are what ports execute. Idioms, eliminated moves, fusion of a load with its operation and the cases
 * where that is undone (unlamination) are settled here, by the rules of the table's parameters. */
#ifndef GUS_MODEL_CODE_PROGRAM_H
#define GUS_MODEL_CODE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/insn/insn.h"

struct gus_error;
struct gus_uarch;
struct gus_uarch_row;

/* Registers of a program: those of the ISA, then what only the uops of one instruction see: words on their way from a
 * load to the operation, or from there to a store. */
enum {
	GUS_TEMP = GUS_INSN_REGS,       /* the first */
	GUS_TEMPS = 8,
	GUS_PROGRAM_REGS = GUS_TEMP + GUS_TEMPS,
};

enum gus_uop_kind {
	GUS_UOP_NONE,                   /* executes nothing: nop, idiom, eliminated move */
	GUS_UOP_COMPUTE,
	GUS_UOP_LOAD,
	GUS_UOP_STORE_ADDRESS,
	GUS_UOP_STORE_DATA,
};

/* Which file a result takes a register of. */
enum gus_regfile { GUS_REGFILE_NONE, GUS_REGFILE_INT, GUS_REGFILE_VECTOR, GUS_REGFILE_MASK, GUS_REGFILES };

/* Of an input: how many cycles after the uop's dispatch it is still in time (0 for most; the addend of a multiplication
 * and addition on some CPUs). Of an output: cycles from dispatch until others can use it. */
struct gus_flow {
	uint8_t reg;
	int16_t cycles;
};

struct gus_uop {
	uint64_t ports;                 /* bit p: port p; 0: needs none and completes when it is issued */
	uint32_t in, out;               /* in program->flows */
	uint8_t in_n, out_n;
	uint8_t kind;                   /* enum gus_uop_kind */
	uint8_t memory;                 /* of a load or store: which access of its op */
	uint8_t unit;                   /* exclusive unit + 1; 0: none */
	/* Of a load: it takes its port for an access that a uop before it, on other ports, makes: an address unit and
	 * a load pipe together are one load. */
	bool again;
	uint16_t slot;                  /* which issue slot of its op it travels in */
	uint16_t unit_cycles;           /* how long that is busy */
	uint16_t port_cycles;           /* how long the port is taken: 1, or 2 for halves of a wide access */
	uint16_t latency;               /* cycles until it is complete */
};

/* A memory access of an op. */
struct gus_program_memory {
	int64_t displacement;
	uint32_t bytes;
	uint8_t base, index, scale;     /* registers; 0: none */
	uint8_t instruction;            /* of the op: which one has it */
	bool load, store, gather;
	bool vector;                    /* of an instruction of vector registers */
	bool computed;                  /* of a store: what it writes no load has brought as it is */
};

enum gus_op_flag {
	GUS_OP_BRANCH = 1 << 0,
	GUS_OP_CONDITIONAL = 1 << 1,    /* a branch that may fall through */
	GUS_OP_TAKEN = 1 << 2,          /* it is taken each time (the last of a loop) */
	GUS_OP_ELIMINATED = 1 << 3,     /* a move that rename may do, if it has a free slot for it */
	GUS_OP_IDIOM = 1 << 4,          /* writes a constant whatever it reads */
	GUS_OP_SERIALISING = 1 << 5,    /* waits for all before, and all after wait for it */
	GUS_OP_COMPLEX = 1 << 6,        /* only the first decoder takes it */
	GUS_OP_UNKNOWN = 1 << 7,        /* no row: bounds of its class */
	GUS_OP_FENCE = 1 << 8,
	GUS_OP_RMW_FLAGS = 1 << 9,
	GUS_OP_FUSIBLE = 1 << 10,       /* might have fused with a branch behind it, and did not */
	GUS_OP_WIDE = 1 << 12,          /* has a constant that one entry of the uop cache has no room for */
	GUS_OP_MERGES = 1 << 13,        /* its first uop merges a second byte, and is issued in a cycle of its own */
	GUS_OP_POP_5C = 1 << 11,        /* pop rsp, pop r12, which decoders may take for more than they are */
};

struct gus_op {
	uint32_t insn;                  /* the first of its instructions, in program->insns */
	uint32_t uop;                   /* the first of its uops, in program->uops */
	uint32_t memory;                /* the first of its accesses, in program->memories */
	uint16_t flags;                 /* enum gus_op_flag */
	uint16_t uops_n;
	uint8_t insns_n;                /* 2: fused */
	uint8_t memories_n;
	uint8_t decoded;                /* fused uops that the decoders deliver */
	uint16_t microcoded;            /* fused uops that the microcode sequencer delivers */
	uint16_t slots;                 /* issue slots, after unlamination */
	uint16_t fused;                 /* before it: entries of queue and uop cache */
	uint16_t rob;                   /* entries of the reorder buffer */
	uint8_t loads, stores;          /* entries of the load and store buffers */
	uint8_t results[GUS_REGFILES];  /* registers taken of each file */
	uint8_t move_from, move_to;     /* of an eliminated move */
};

/* What a whole instruction is, for reports and for the front end. */
struct gus_program_insn {
	struct gus_insn_info info;
	const struct gus_uarch_row *row;        /* NULL: unknown, or from a table of uops */
	uint64_t offset;                        /* of its first byte, from the start of the code */
	uint32_t op;
	char text[96];
};

struct gus_program {
	enum gus_isa isa;
	const struct gus_uarch *uarch;  /* borrowed; ports are its. NULL: from a table of uops, see port_names */
	const char *const *port_names;  /* ports_n of them; the names are borrowed, the array is not */
	uint32_t ports_n;
	struct gus_program_insn *insns;
	struct gus_op *ops;
	struct gus_uop *uops;
	struct gus_flow *flows;
	struct gus_program_memory *memories;
	uint32_t insns_n, ops_n, uops_n, flows_n, memories_n;
	uint64_t bytes;                 /* of code */
	uint64_t base;                  /* address of the first byte: what of it matters is how it is aligned */
	uint32_t unknown;               /* instructions without a row */
	bool loop;                      /* ends in a branch back to its first instruction */
};

enum gus_program_flag {
	GUS_PROGRAM_TEXTS = 1,          /* fill in the text of each instruction */
	/* The code is a block that somebody gives, to be run again and again: what has no steady throughput
	 * (GUS_INSN_OUTSIDE) is refused, and so is what is longer than any block that one thinks about. */
	GUS_PROGRAM_BLOCK = 2,
};

/* The largest block: what takes a machine with it some 0.3 s and 60 MB. Of the rows of our tables no block of so many
 * instructions comes near to so many uops but one of state saves. */
enum { GUS_BLOCK_BYTES = 65536, GUS_BLOCK_INSNS = 16384, GUS_BLOCK_UOPS = 1 << 18 };

/* Reads code as one CPU sees it. base is its address. The program borrows the table. NULL with err if the bytes are not
 * whole instructions ("at byte 7: ...") or there are none. Freed with gus_program_free. */
struct gus_program *gus_program_new(const struct gus_uarch *u, const void *code, size_t size, uint64_t base,
				    unsigned flags, struct gus_error *err);
/* A table of uops (the form is in model/code/uoptable.h) is a program, too. */
void gus_program_free(struct gus_program *p);
/* A copy to be changed. */
struct gus_program *gus_program_copy(const struct gus_program *p);

/* Registers that an op takes, of whatever file. */
static inline unsigned gus_op_results(const struct gus_op *op)
{
	return op->results[GUS_REGFILE_INT] + op->results[GUS_REGFILE_VECTOR] + op->results[GUS_REGFILE_MASK];
}

/* Uops that are executed, and issue slots, of an iteration. */
uint32_t gus_program_executed(const struct gus_program *p);
uint32_t gus_program_slots(const struct gus_program *p);
/* Whether the time of some instruction depends on operands (a row's range): what it is here is one of many. */
bool gus_program_is_ranged(const struct gus_program *p);

#endif
