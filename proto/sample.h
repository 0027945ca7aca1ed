/* SPDX-License-Identifier: MIT */
/* One sample, and a batch of them as columns. The columns are what a recording stores: nothing is allocated per
 * sample on either side. The encoding is described in FORMAT.md, section 4. */
#ifndef GUS_PROTO_SAMPLE_H
#define GUS_PROTO_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_bytes;
struct gus_error;

/* Where the CPU was; the values are those of PERF_RECORD_MISC_CPUMODE_MASK in the perf_event ABI. */
enum gus_mode {
	GUS_MODE_UNKNOWN = 0,
	GUS_MODE_KERNEL = 1,
	GUS_MODE_USER = 2,
	GUS_MODE_HYPERVISOR = 3,
	GUS_MODE_GUEST_KERNEL = 4,
	GUS_MODE_GUEST_USER = 5,
};

/* A branch that was taken, as the hardware noted it. The flags are those of struct perf_branch_entry in the
 * perf_event ABI, its cycles left out. */
enum gus_branch_flag {
	GUS_BRANCH_MISPREDICTED = 1 << 0,
	GUS_BRANCH_PREDICTED = 1 << 1,  /* neither of the two: the hardware does not say */
	GUS_BRANCH_IN_TX = 1 << 2,
	GUS_BRANCH_ABORT = 1 << 3,
	GUS_BRANCH_TYPE_SHIFT = 4,      /* 4 bits: PERF_BR_* */
	GUS_BRANCH_SPEC_SHIFT = 8,      /* 2 bits: PERF_BR_SPEC_* */
	GUS_BRANCH_NEW_TYPE_SHIFT = 10, /* 4 bits: PERF_BR_NEW_*, if the type is PERF_BR_EXTEND_ABI */
	GUS_BRANCH_PRIV_SHIFT = 14,     /* 3 bits: PERF_BR_PRIV_* */
	GUS_BRANCH_FLAGS = (1 << 17) - 1,
};

struct gus_branch {
	uint64_t from, to;
	uint32_t flags;         /* enum gus_branch_flag */
	uint32_t cycles;        /* since the branch before; 0: not known. 16 bits of them in the ABI */
};

/* The cpu of a sample whose event does not have it recorded. */
#define GUS_CPU_UNKNOWN UINT32_MAX
/* The pid and tid of one whose event does not have these; people read it as -1. */
#define GUS_TASK_UNKNOWN UINT32_MAX

struct gus_sample {
	uint64_t ip;
	uint64_t time;          /* ns of the recording's clock */
	uint64_t period;        /* what this sample stands for, in the event's unit */
	uint32_t pid, tid;      /* or GUS_TASK_UNKNOWN */
	uint32_t cpu;           /* or GUS_CPU_UNKNOWN */
	uint32_t event;         /* index into Header.events */
	uint8_t mode;           /* enum gus_mode */
	bool exact;             /* the hardware vouches for ip (PERF_RECORD_MISC_EXACT_IP) */
	uint32_t chain_n;       /* callers' addresses, innermost first, without ip itself; 0 without -g */
	const uint64_t *chain;  /* borrowed; may hold the ABI's PERF_CONTEXT_* markers */
	uint32_t branches_n;    /* 0 without -b */
	const struct gus_branch *branches; /* borrowed; those taken before the sample, the newest first */
	uint64_t branch_index;  /* where the newest stands in the hardware's ring, + 1; 0: not known */
	/* What callers can be found by. Registers of user space in the order of the ABI's PERF_REG_*, those of the
	 * machine: x86-64 AX BX CX DX SI DI BP SP IP R8 .. R15, arm64 X0 .. X29 LR SP PC; 0 of a thread of the
	 * kernel's or of 32 bits. The stack is so many words from SP on. */
	uint32_t regs_n, stack_n;
	const uint64_t *regs, *stack; /* borrowed */
	uint64_t callers;       /* enum gus_callers */
	/* Of the access that it is of, if hardware told; 0 is what nobody has said, unless `told` has its bit. */
	uint64_t told;          /* enum gus_told */
	uint64_t address, physical;
	uint64_t data_page, code_page; /* bytes */
	uint64_t data_source;   /* union perf_mem_data_src of the ABI */
	uint64_t events;        /* TEA's: those proved, and << 16 those excluded (collector/records/psv.h) */
	/* Cycles. Weight: of the access, or whatever else the event counts by. Instruction: of all of it, from its
	 * dispatch on; of these until it was issued, for its translation, and from its completion, or from the
	 * retirement before, to its own: enum gus_told says which. */
	uint64_t weight;
	uint32_t instruction_latency, issue_latency, translation_latency, retire_latency;
	uint64_t transaction;   /* PERF_TXN_* of the ABI */
	uint64_t cgroup;
	uint32_t extras_n;      /* words of what else it brought along, of which enum gus_extra names the kinds */
	const uint64_t *extras; /* borrowed; gus_sample_extra */
};

/* What a sample may bring along that nobody counts by. Each is a word, kind | detail << 8 | bytes << 16, and so many
 * bytes, filled up with zeros to whole words. */
enum gus_extra {
	GUS_EXTRA_RAW = 1,      /* PERF_SAMPLE_RAW: bytes, as hardware or a tracepoint left them */
	GUS_EXTRA_REGS = 2,     /* PERF_SAMPLE_REGS_INTR: a word for each bit of Event.regs_intr; detail: the ABI */
	/* PERF_SAMPLE_READ: words, by Event.read_format, without the number of a group's counters. In place of the
	 * kernel's ids: index into Header.events | which of that event's ids it was << 32, from 0; ~0 there: nobody
	 * knows. */
	GUS_EXTRA_COUNTS = 3,
	GUS_EXTRA_BRANCH_COUNTS = 4, /* a word for each branch: events since the branch before */
	/* PERF_SAMPLE_REGS_USER that stacks are not unwound by, as there are none, or registers are missing: a word for
	 * each bit of Event.regs_user; detail: the ABI. Those that they are unwound by are `regs`. */
	GUS_EXTRA_USER_REGS = 5,
};

/* What of that kind the sample has: its bytes lie at the return value, NULL if it has none. */
const void *gus_sample_extra(const struct gus_sample *s, enum gus_extra kind, size_t *bytes, unsigned *detail);

struct gus_extras gus_vec(uint64_t);
/* Appends one to what a sample is to bring along, at most 2^20 bytes of it. */
void gus_extras_add(struct gus_extras *extras, enum gus_extra kind, unsigned detail, const void *bytes, size_t size);

/* What of a sample is known although it may be 0. */
enum gus_told {
	GUS_TOLD_ADDRESS = 1 << 0,
	GUS_TOLD_WEIGHT = 1 << 1,
	GUS_TOLD_INSTRUCTION = 1 << 2,
	GUS_TOLD_ISSUE = 1 << 3,
	GUS_TOLD_TRANSLATION = 1 << 4,
	GUS_TOLD_RETIRE = 1 << 5,       /* from the retirement before to its own */
	GUS_TOLD_COMPLETE = 1 << 6,     /* or from its completion */
};

/* How a sample's callers were found, and why no more of them: the low four bits are one of the ends, the others are set
 * as they hold. What nobody has looked at is 0: the kernel's frame pointers, as they come. */
enum gus_callers {
	GUS_CALLERS_UNTOLD = 0,
	GUS_CALLERS_WHOLE = 1,     /* up to where the thread began: its entry, or a table says that nothing called it */
	GUS_CALLERS_STACK = 2,     /* the copy of the stack ends before a frame does */
	GUS_CALLERS_NO_CODE = 3,   /* a return address at which no code is mapped */
	GUS_CALLERS_NO_RULE = 4,   /* neither a table nor a frame pointer tells who called */
	GUS_CALLERS_BAD = 5,       /* a table contradicts itself, or a frame does not lie above its callee's */
	GUS_CALLERS_DEEP = 6,      /* more frames than are kept */
	GUS_CALLERS_WORK = 7,      /* more work than one stack may cost */
	GUS_CALLERS_FILE = 8,      /* a module's file is not at hand */
	GUS_CALLERS_ABI = 9,       /* code of another width: 32 bits */
	GUS_CALLERS_GONE = 10,     /* nothing of the stack could be copied: in the midst of an execve there is none */
	GUS_CALLERS_END = 15,      /* the bits of the end */

	GUS_CALLERS_TABLE = 1 << 4,      /* by unwind tables, at least one */
	GUS_CALLERS_POINTER = 1 << 5,    /* by frame pointers, at least one */
	GUS_CALLERS_LEAF = 1 << 6,       /* the kernel's frame pointers, and what a leaf without a frame left out */
	GUS_CALLERS_REMEMBERED = 1 << 7, /* the outer ones as the thread had them before or after: inferred */
	GUS_CALLERS_BRANCHES = 1 << 8,   /* by the stack of calls that the CPU keeps (LBR) */
};

/* A task was switched in or out on a CPU. */
struct gus_switch {
	uint64_t time;
	uint32_t pid, tid, cpu;
	bool out, preempt;      /* preempt: it was still runnable; only with out */
};

/* Column numbers as they stand in the file; what is known of each is a row in column_kinds.c. */
enum gus_column {
	GUS_COL_EVENT = 1,
	GUS_COL_IP = 2,
	GUS_COL_TIME = 3,
	GUS_COL_PERIOD = 4,
	GUS_COL_PID = 5,
	GUS_COL_TID = 6,
	GUS_COL_CPU = 7,
	GUS_COL_MODE = 8,       /* enum gus_mode | 16 if exact; in SWITCHES: 1 out, 2 preempt */
	GUS_COL_CHAIN_N = 9,
	GUS_COL_BRANCHES_N = 10,
	GUS_COL_BRANCH_INDEX = 11,
	GUS_COL_REGS_N = 12,
	GUS_COL_STACK_N = 13,   /* words */
	GUS_COL_EXTRAS_N = 14,  /* words */
	/* 15 is for what counts further entries. All else that is new is from GUS_COL_MORE on: a decoder of
	 * what one kind of hardware adds to its samples has a dozen of them, and on all other machines they take
	 * neither memory nor bytes. */
	GUS_COL_MORE = 32,
	GUS_COL_CALLERS = 32,   /* enum gus_callers */
	GUS_COL_TOLD = 33,      /* enum gus_told */
	GUS_COL_ADDRESS = 34,
	GUS_COL_PHYSICAL = 35,
	GUS_COL_DATA_PAGE = 36,
	GUS_COL_CODE_PAGE = 37,
	GUS_COL_DATA_SOURCE = 38,
	GUS_COL_EVENTS = 39,
	GUS_COL_WEIGHT = 40,
	GUS_COL_INSTRUCTION_LATENCY = 41,
	GUS_COL_ISSUE_LATENCY = 42,
	GUS_COL_TRANSLATION_LATENCY = 43,
	GUS_COL_RETIRE_LATENCY = 44,
	GUS_COL_TRANSACTION = 45,
	GUS_COL_CGROUP = 46,
	GUS_COL_COUNT = 96,
};

/* Columns that hold entries of rows rather than rows, 16 to 31. */
enum gus_entry_column {
	GUS_COL_CHAIN = 16,         /* all rows' chains one after the other: CHAIN_N says where each ends */
	GUS_COL_BRANCH = 17,        /* all rows' branches likewise: from and to */
	GUS_COL_BRANCH_FLAGS = 18,
	GUS_COL_BRANCH_CYCLES = 19,
	GUS_COL_REGS = 20,          /* all rows' registers, counted by REGS_N */
	GUS_COL_STACK = 21,         /* all rows' words of the stack, counted by STACK_N */
	GUS_COL_EXTRAS = 22,        /* all rows' words of what else they brought along, counted by EXTRAS_N */
};

struct gus_column_values gus_vec(uint64_t);

/* A batch: n rows, a plain array per column. The same type serves samples and switches. Zero-initialise.
 *
 * A column below GUS_COL_MORE has all n values. One from there on has those up to its last row that is not zero or a
 * few more, and what is behind them is zero, so one that nobody uses takes no memory. */
struct gus_columns {
	size_t n;
	struct gus_column_values column[GUS_COL_COUNT]; /* by number; those that are no column of ours stay empty */
	struct gus_column_values chain;
	struct gus_column_values chain_end; /* where row i's chain ends in chain */
	struct gus_vec(struct gus_branch) branch;
	struct gus_column_values branch_end;
	struct gus_column_values regs, regs_end;
	struct gus_column_values stack, stack_end;
	struct gus_column_values extras, extras_end;
};

void gus_columns_clear(struct gus_columns *c); /* empties it and keeps its memory */
/* Room for so many rows without entries, resident at once: while recording, rows come and memory does not. */
void gus_columns_prepare(struct gus_columns *c, size_t rows);
void gus_columns_free(struct gus_columns *c);
void gus_columns_push(struct gus_columns *c, const struct gus_sample *sample);
void gus_columns_push_switch(struct gus_columns *c, const struct gus_switch *sw);

/* Row i, i < n. A sample's chain and so on point into c and live as long as c is unchanged. */
struct gus_sample gus_columns_sample(const struct gus_columns *c, size_t i);
struct gus_switch gus_columns_switch(const struct gus_columns *c, size_t i);

/* Bounds of one frame, so that constant columns cannot make a reader allocate without end. */
#define GUS_ROWS_MAX 65536
#define GUS_CHAIN_ENTRIES_MAX (1u << 20)
#define GUS_BRANCH_ENTRIES_MAX (1u << 20)
#define GUS_REG_ENTRIES_MAX (1u << 20)
#define GUS_STACK_WORDS_MAX (1u << 19)  /* no more than a frame's payload has room for */
#define GUS_EXTRA_WORDS_MAX (1u << 19)

/* The bytes of a SAMPLES or SWITCHES frame for the n rows from row `from` on (n <= GUS_ROWS_MAX), appended to out. */
void gus_columns_encode(const struct gus_columns *c, size_t from, size_t n, struct gus_bytes *out);

/* The inverse, into c, whose old rows are dropped. Columns that this program does not know are skipped, columns that
 * are absent read as zero. Returns 0, or -1 with GUS_E_CORRUPT. */
int gus_columns_decode(struct gus_columns *c, const void *bytes, size_t size, struct gus_error *err);

#endif
