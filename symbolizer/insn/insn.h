/* SPDX-License-Identifier: MIT */
/* The instruction facade: what the rest of the project knows about machine code. Zydis decodes x86, a generated table
 * arm64, Capstone writes arm64 text; nobody else includes any of them.
 *
 * There are three questions, each with its own call: what does it read like (gus_insn_decode), what does it do
 * (gus_insn_analyse, or gus_insn_decoder_get when the same bytes come again and again), and under which name do the
 * microarchitecture tables know it (the form). All are pure functions of the bytes. */
#ifndef GUS_SYMBOLIZER_INSN_INSN_H
#define GUS_SYMBOLIZER_INSN_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gus_isa { GUS_ISA_UNKNOWN, GUS_ISA_X86_64, GUS_ISA_X86_32, GUS_ISA_ARM64 };

/* The ISA of an ELF machine number. */
enum gus_isa gus_isa_of_machine(unsigned machine);

struct gus_insn {
	uint8_t length;  /* bytes, 1..15 */
	char text[96];   /* Intel syntax for x86; "(bad)" for bytes that are no instruction */
};

/* Decodes the instruction at bytes, of which size are readable; address is where it runs, for relative targets.
 * Returns its length; 0 if size is too short for it. Bytes that are no instruction have length 1 (arm64: 4). */
size_t gus_insn_decode(enum gus_isa isa, const void *bytes, size_t size, uint64_t address, struct gus_insn *insn);

/* What an instruction is for, coarsely: the key of the bounds that an instruction without a row gets. A class says
 * what is computed; whether memory is read or written on the way stands in the memory operands. */
enum gus_insn_class {
	GUS_INSN_OTHER,
	GUS_INSN_BAD,           /* the bytes are no instruction */
	GUS_INSN_NOP,           /* and hints that do nothing */
	GUS_INSN_MOV,           /* register to register, immediate to register; exchange, conditional move, extension */
	GUS_INSN_LOAD,          /* memory to register and nothing else; pop, prefetch */
	GUS_INSN_STORE,         /* register or immediate to memory and nothing else; push */
	GUS_INSN_LEA,
	GUS_INSN_ALU,           /* integer add, subtract, compare, logic, bit counting, flags to register */
	GUS_INSN_SHIFT,         /* shifts, rotates, bit fields */
	GUS_INSN_MUL,
	GUS_INSN_DIV,
	GUS_INSN_BRANCH_COND,
	GUS_INSN_BRANCH,        /* direct and unconditional */
	GUS_INSN_BRANCH_INDIRECT,
	GUS_INSN_CALL,
	GUS_INSN_CALL_INDIRECT,
	GUS_INSN_RET,
	GUS_INSN_FP_ADD,        /* and compare, minimum, maximum, rounding, absolute value */
	GUS_INSN_FP_MUL,
	GUS_INSN_FP_FMA,
	GUS_INSN_FP_DIV,
	GUS_INSN_FP_SQRT,
	GUS_INSN_FP_OTHER,      /* reciprocal estimates, transcendental functions of the x87 */
	GUS_INSN_CONVERT,
	GUS_INSN_SHUFFLE,       /* permutes, packs, blends, broadcasts, inserts, extracts */
	GUS_INSN_VEC_LOGIC,
	GUS_INSN_VEC_INT,       /* vector integer arithmetic but multiplication and shifts */
	GUS_INSN_VEC_MUL,       /* vector integer multiplication, dot products, sums of differences */
	GUS_INSN_VEC_SHIFT,
	GUS_INSN_VEC_MOV,       /* between vector registers, or between those and other register files */
	GUS_INSN_MASK,          /* mask or predicate registers */
	GUS_INSN_GATHER,
	GUS_INSN_SCATTER,
	GUS_INSN_STRING,        /* x86 string instructions, with or without rep; arm64 memory copy and set */
	GUS_INSN_CRYPTO,
	GUS_INSN_MATRIX,
	GUS_INSN_ATOMIC,        /* locked x86 instructions, arm64 exclusives and LSE */
	GUS_INSN_FENCE,         /* memory barriers and what waits for all earlier instructions */
	GUS_INSN_SYSTEM,        /* privileged, traps, system calls, state save and restore, system registers */
	GUS_INSN_CLASSES,
};

/* The name of a class as tables and reports write it ("fp_add"); NULL if there is no such class. */
const char *gus_insn_class_name(enum gus_insn_class class);
/* Divisions and roots, which have the same units. */
bool gus_insn_class_divides(enum gus_insn_class class);

/* Registers, one flat numbering an ISA. A number is a whole architectural register: al, ah, ax, eax and rax are one,
 * and so are xmm0, ymm0 and zmm0; how much of it is used stands in the access. Zero is no register. */
enum gus_x86_reg {
	GUS_X86_NONE,
	GUS_X86_RAX,            /* 1..16: in the order of their encodings, rcx being 2 and rsp 5 */
	GUS_X86_RCX, GUS_X86_RDX, GUS_X86_RBX, GUS_X86_RSP, GUS_X86_RBP, GUS_X86_RSI, GUS_X86_RDI,
	GUS_X86_R8, GUS_X86_R9, GUS_X86_R10, GUS_X86_R11, GUS_X86_R12, GUS_X86_R13, GUS_X86_R14, GUS_X86_R15,
	GUS_X86_RIP,
	GUS_X86_CF,             /* carry, renamed apart from the others on all CPUs of interest */
	GUS_X86_OF,             /* overflow, apart since adox */
	GUS_X86_SZAP,           /* sign, zero, adjust, parity */
	GUS_X86_DF,             /* direction of string instructions */
	GUS_X86_SYSFLAGS,       /* the flags that user programs do not compute with */
	GUS_X86_ES, GUS_X86_CS, GUS_X86_SS, GUS_X86_DS, GUS_X86_FS, GUS_X86_GS,
	GUS_X86_K0,             /* eight mask registers */
	GUS_X86_V0 = GUS_X86_K0 + 8,    /* 32 of xmm, ymm, zmm */
	GUS_X86_MM0 = GUS_X86_V0 + 32,  /* eight of MMX, which we keep apart from the x87 stack that they share */
	GUS_X86_ST0 = GUS_X86_MM0 + 8,  /* eight of x87, relative to the top before the instruction */
	GUS_X86_TMM0 = GUS_X86_ST0 + 8, /* eight tiles */
	GUS_X86_BND0 = GUS_X86_TMM0 + 8,
	GUS_X86_MXCSR = GUS_X86_BND0 + 4,
	GUS_X86_FPCW,           /* x87 control word */
	GUS_X86_FPSW,           /* x87 status word, with the top of the stack */
	GUS_X86_SYSTEM,         /* control, debug, descriptor table, model specific and all other registers, as one */
	GUS_X86_REGS,
};

enum gus_a64_reg {
	GUS_A64_NONE,
	GUS_A64_X0,                     /* 31 registers, x0..x30; the zero register is no register */
	GUS_A64_SP = GUS_A64_X0 + 31,
	GUS_A64_PC,
	GUS_A64_NZCV,
	GUS_A64_V0,                     /* 32 of b, h, s, d, q, z */
	GUS_A64_P0 = GUS_A64_V0 + 32,   /* 16 predicates */
	GUS_A64_FFR = GUS_A64_P0 + 16,
	GUS_A64_FPCR,
	GUS_A64_FPSR,
	GUS_A64_ZA,                     /* the matrix of SME, as one, with zt0 */
	GUS_A64_SYSTEM,                 /* all other system registers, as one */
	GUS_A64_REGS,
};

#define GUS_INSN_REGS 144       /* no ISA has more: the size of an array that is indexed by register */

_Static_assert((int)GUS_X86_REGS <= GUS_INSN_REGS && (int)GUS_A64_REGS <= GUS_INSN_REGS,
	       "arrays by register are too small");

/* How a register or memory is used; any of these together. */
enum {
	GUS_ACCESS_READ = 1,
	GUS_ACCESS_WRITE = 2,
	/* The write may not happen, or only in parts (cmov, merging under a mask, flags of a shift by cl, rep scas):
	 * the old value can pass, so READ is set as well. Of memory: the access may not happen. */
	GUS_ACCESS_CONDITIONAL = 4,
	GUS_ACCESS_ADDRESS = 8,         /* read to form the address of a memory operand or of lea; set only with READ */
	/* Bits that are not written keep their value; otherwise they are zeroed. With READ where that is a dependency
	 * on all CPUs (the other elements of cvtsi2sd), without where it is up to the CPU (8 and 16 bits of general
	 * registers). */
	GUS_ACCESS_KEEP = 16,
	GUS_ACCESS_HIGH = 32,           /* ah, ch, dh or bh */
	GUS_ACCESS_IMPLICIT = 64,       /* not an operand that can be chosen: rsp of push, cl of a shift, all flags */
	GUS_ACCESS_GATHER = 128,        /* of memory: the index is a vector, and there is one access an element */
};

/* A register that is used as operand and in an address stands twice in the list, once with ADDRESS; a register read
 * and written by one operand stands once; nothing else stands twice. */
struct gus_insn_access {
	uint8_t reg;
	uint8_t use;            /* GUS_ACCESS_* */
	uint16_t bits;          /* how many of its low bits (of HIGH: bits 8 to 15); of flags: 1 */
};

struct gus_insn_memory {
	int64_t displacement;
	uint32_t bits;          /* moved by one execution, all elements together; 0: unknown, or lea */
	uint8_t base, index, segment;   /* registers; segment only if it adds something (fs, gs) */
	uint8_t scale;          /* 1, 2, 4, 8; 0 without an index */
	uint8_t use;            /* READ, WRITE, CONDITIONAL, IMPLICIT (push, movs), GATHER; 0 for an address only */
	uint8_t elements;       /* of a gather or scatter; else 1 */
};

/* Facts about an instruction. What a CPU makes of the idioms and of fusion is up to its table: these are
 * candidates. */
enum {
	GUS_INSN_ZERO_IDIOM = 1 << 0,   /* zero whatever its equal operands hold: xor, sub, pxor, pcmpgt of the same */
	GUS_INSN_ONES_IDIOM = 1 << 1,   /* pcmpeq of the same, vpternlog 0xff */
	GUS_INSN_SAME_REGS = 1 << 2,    /* the last two register operands are equal (of all mnemonics) */
	GUS_INSN_MOVE = 1 << 3,         /* a whole register is copied: move elimination may take it */
	GUS_INSN_EXTEND = 1 << 24,      /* of a move: only the low byte is copied, and zeros above it */
	GUS_INSN_LOCK = 1 << 4,         /* locked, by prefix or as xchg with memory */
	GUS_INSN_REP = 1 << 5,          /* repeats (rep, repe, repne on a string instruction) */
	GUS_INSN_CONDITIONAL = 1 << 6,  /* a register or memory access is conditional */
	GUS_INSN_LCP = 1 << 7,          /* a length-changing prefix: 16-bit immediate of 66h, 32-bit address of moffs */
	GUS_INSN_IMMEDIATE = 1 << 8,    /* has an immediate operand that was encoded */
	GUS_INSN_RIP_RELATIVE = 1 << 9,
	GUS_INSN_MASKED = 1 << 10,      /* under a mask register other than k0, or a governing predicate */
	GUS_INSN_ZEROING = 1 << 11,     /* masked elements become zero */
	GUS_INSN_BROADCAST = 1 << 12,   /* embedded broadcast of one element from memory */
	GUS_INSN_ROUNDING = 1 << 13,    /* embedded rounding, or suppression of exceptions */
	GUS_INSN_SERIALISING = 1 << 14, /* nothing later starts before it is done: cpuid, lfence; isb */
	GUS_INSN_NONTEMPORAL = 1 << 15,
	GUS_INSN_PREFETCH = 1 << 16,    /* memory is only hinted at */
	GUS_INSN_STACK = 1 << 17,       /* push, pop, call, ret: rsp changes by a known amount */
	GUS_INSN_SUPPLEMENT = 1 << 18,  /* from our own table: the decoder library does not know it */
	GUS_INSN_VEX = 1 << 19,
	GUS_INSN_EVEX = 1 << 20,
	GUS_INSN_X87 = 1 << 21,
	GUS_INSN_LEGACY_VECTOR = 1 << 22, /* SSE without VEX: keeps the upper parts of the registers it writes */
	/* Not a user program's own: it is privileged, or enters a kernel, a hypervisor or a trap handler, or waits for
	 * one of them. How long that takes is decided there, and no table of a CPU knows it. */
	GUS_INSN_OUTSIDE = 1 << 23,
	GUS_INSN_POP_5C = 1 << 25,      /* pop by the opcode 5C: rsp, or with a prefix r12; some decoders see only 5C */
};

/* What may be the first of a fused pair, by which branches it can be fused with. Nothing that writes memory is; whether
 * memory with an immediate, or relative to rip, is in the way depends on the CPU. */
enum gus_fuse_first {
	GUS_FUSE_NONE,
	GUS_FUSE_TEST,          /* test, and: all conditions */
	GUS_FUSE_AND,
	GUS_FUSE_CMP,           /* cmp: conditions of carry, zero, and sign against overflow */
	GUS_FUSE_ADD_SUB,       /* the same conditions, but on fewer CPUs */
	GUS_FUSE_INC_DEC,       /* no condition of carry */
	GUS_FUSE_LOGIC,         /* or, xor, not, neg and the like: newest CPUs only */
	GUS_FUSE_FLAGS,         /* arm64: adds, subs, ands, bics, cmp, cmn, tst before b.cond */
	GUS_FUSE_AES,           /* arm64: aese before aesmc, aesd before aesimc */
	GUS_FUSE_MOVW,          /* arm64: movz before movk, adrp before add */
	GUS_FUSE_COMPARE_ZERO,  /* arm64: before cbz, cbnz */
};

/* What may be the second, by the flags that its condition reads. */
enum gus_fuse_second {
	GUS_FUSE_SECOND_NONE,
	GUS_FUSE_CARRY,         /* jb, jae */
	GUS_FUSE_CARRY_ZERO,    /* jbe, ja */
	GUS_FUSE_ZERO,          /* je, jne */
	GUS_FUSE_SIGNED,        /* jl, jge, jle, jg */
	GUS_FUSE_ONE_FLAG,      /* js, jns, jo, jno, jp, jnp */
	GUS_FUSE_COND,          /* arm64: b.cond, csel, cset */
	GUS_FUSE_AESMC,         /* arm64: aesmc, aesimc */
	GUS_FUSE_MOVK,          /* arm64: movk; add of adrp */
	GUS_FUSE_CBZ,           /* arm64: cbz, cbnz, tbz, tbnz */
};

#define GUS_INSN_ACCESSES 22
#define GUS_INSN_MEMORIES 2

/* What an instruction does. Plain values, nothing to free; the same bytes give the same info, padding included.
 *
 * The accesses are those of the architecture, so that of a zero idiom reads its operands: who knows the CPU drops
 * them. */
struct gus_insn_info {
	uint64_t form;          /* XXH64, seed 0, of the form's text; 0 for bytes that are no instruction */
	int64_t immediate;      /* the first that is encoded; of a direct branch: target minus the instruction's end */
	uint32_t flags;         /* GUS_INSN_* */
	uint16_t vector_bits;   /* of the widest vector operand: 64 (MMX), 128, 256, 512; 0 without */
	uint8_t length;         /* bytes */
	uint8_t class;          /* enum gus_insn_class */
	uint8_t fuse_first;     /* enum gus_fuse_first */
	uint8_t fuse_second;    /* enum gus_fuse_second */
	uint8_t immediate_bits; /* as encoded; 0 without */
	uint8_t opcode_length;  /* bytes up to and with the opcode: prefixes, escapes; arm64: 4 */
	uint8_t access_count, memory_count;
	uint8_t reserved[2];
	struct gus_insn_memory memory[GUS_INSN_MEMORIES];
	struct gus_insn_access access[GUS_INSN_ACCESSES];
};

/* Analyses the instruction at bytes, of which size are readable. Returns its length; 0 if size is too short for it.
 * Bytes that are no instruction have length 1 (arm64: 4), class GUS_INSN_BAD and nothing else. */
size_t gus_insn_analyse(enum gus_isa isa, const void *bytes, size_t size, struct gus_insn_info *info);

/* The form: the instruction without its choice of registers and values, in one line of text, by which the tables
 * know it.
 *
 * x86: uops.info's way of naming: mnemonic with suffixes, then the explicit operands: R8l R8h R16 R32 R64 XMM YMM
 * ZMM MM K M8..M512 (bits) M32_1to8 (broadcast) VSIB_YMM I8 I16 I32 CL and so on. "ADD (R64, M64)", "VADDPD (YMM,
 * K, YMM, M256)", "LEA_B_I_D8 (R64)". What we add comes after it as words with a '+': see the top of
 * x86_form.c. arm64: see the top of arm64.c.
 *
 * Writes at most room bytes with the NUL, and returns the length of the whole text; 0 if there is no instruction. */
size_t gus_insn_form_text(enum gus_isa isa, const void *bytes, size_t size, char *out, size_t room);
#define GUS_INSN_FORM_MAX 96    /* room that any form fits in */

/* The hash of a form's text, as in gus_insn_info.form. */
uint64_t gus_insn_form_hash(const char *text, size_t size);

/* Remembers analyses by the bytes, for those who see much code, or the same again and again. Not for several
 * threads at once. limit is the number of shapes to keep (0: 2^18, some 50 MB; a C library has 16,000); when it is
 * reached all are forgotten. */
struct gus_insn_decoder;
struct gus_insn_decoder *gus_insn_decoder_new(enum gus_isa isa, size_t limit);
void gus_insn_decoder_free(struct gus_insn_decoder *decoder);

/* As gus_insn_analyse. The result belongs to the decoder and is valid until the next call; NULL if size is too
 * short. */
const struct gus_insn_info *gus_insn_decoder_get(struct gus_insn_decoder *decoder, const void *bytes, size_t size);

#endif
