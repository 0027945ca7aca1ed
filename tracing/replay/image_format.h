/* SPDX-License-Identifier: MIT */
/* What gusprof-replay is given: a snapshot as a plain file, so that it needs no library to read it. Written by gusprof
 * itself (tracing/replay/image.c) for this machine, and removed after the run; it is no format for keeping. */
#ifndef GUS_TRACING_REPLAY_IMAGE_FORMAT_H
#define GUS_TRACING_REPLAY_IMAGE_FORMAT_H

#include <stdint.h>

/* Where gusprof-replay lies: far from where programs, libraries, stacks, emulators and sanitizers are put. Its code is
 * nobody's that is traced. The makefile links it there. */
#define GUS_REPLAY_BASE 0x3a0000000000ull
#define GUS_REPLAY_SIZE 0x10000000ull

/* System calls of no kernel, by which it speaks to who traces it: in the first argument a number or an address. */
/* What follows is the snapshot's own code. The second argument: the number of the system call by which the loader gets
 * there, which is none of the snapshot's; 0: by none. */
#define GUS_REPLAY_BEGIN 0x67757301
#define GUS_REPLAY_SIGNAL 0x67757302    /* it raised this signal; the second argument says where */

/* What it tells of each instruction that it steps over, natively: into memory that it shares with who began it, and
 * that the foreign code can write to as well. It is mapped there: */
#define GUS_REPLAY_TOLD (GUS_REPLAY_BASE + 0x1000000ull)
#define GUS_REPLAY_STEPS_MOST 600000u
#define GUS_REPLAY_STATES_MOST 4096u

/* Before the instruction. The registers are those of ucontext_t: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp,
 * rip, eflags. */
enum { GUS_REPLAY_RIP = 16, GUS_REPLAY_EFLAGS = 17, GUS_REPLAY_CODE = 16 };
struct gus_replay_step {
	uint64_t registers[18];
	uint8_t code[GUS_REPLAY_CODE];
	uint32_t code_n;
	uint32_t state;                 /* number of its XSAVE area, from 1; 0: it has none */
};

enum gus_replay_end { GUS_REPLAY_GOES_ON, GUS_REPLAY_BY_STEPS, GUS_REPLAY_BY_CALL, GUS_REPLAY_BY_SIGNAL };
struct gus_replay_told {
	uint64_t begun;                 /* the snapshot's own code is next */
	uint64_t most, states_most;     /* that there is room for; set by who begins it */
	uint64_t n, states_n;
	uint64_t turns;                 /* further ones of string instructions that repeat; at most as many as steps */
	uint64_t ended, number, at;     /* enum gus_replay_end; of the call or the signal, and where */
	struct gus_replay_step steps[];
};
/* The XSAVE areas, each with GUS_REPLAY_STATE bytes of room, are behind the steps. */

/* On x86-64 the 27 of user_regs_struct, on arm64 the 34 of user_pt_regs and TPIDR_EL0. */
#define GUS_REPLAY_REGISTERS 35
#define GUS_REPLAY_MAGIC 0x31304c5052535547ull /* "GUSRPL01" */
#define GUS_REPLAY_STATE 16384

/* A mapping: zero pages, or those of a file. Addresses ascend. */
struct gus_replay_mapping {
	uint64_t address, size;
	uint64_t file_offset;
	int32_t file;                   /* the descriptor that is open for it; -1: none */
	uint32_t protection;
};

/* Pages of a file, from there on: many are mapped, a few read. Writable while the image is loaded. */
#define GUS_REPLAY_MAPPED (64u << 10)   /* bytes from which on they are */
struct gus_replay_run {
	uint64_t address, size, at;
	int32_t file;                   /* its descriptor; -1: the image, which is read */
};

struct gus_replay_image {
	uint64_t magic;
	uint64_t mappings, mappings_n;  /* offsets in the image, and how many */
	uint64_t runs, runs_n;
	uint64_t registers[GUS_REPLAY_REGISTERS]; /* as the snapshot has them */
	uint64_t state_size;
	uint64_t state_mask;            /* components to be loaded: low and high half for xrstor */
	uint8_t state[GUS_REPLAY_STATE] __attribute__((aligned(64)));
};

/* Exit statuses of gusprof-replay, when it does not come to its jump. */
enum gus_replay_status {
	GUS_REPLAY_BAD = 3,             /* no such image, or one that cannot be loaded: it says why */
	GUS_REPLAY_CLASH = 4,           /* something lies already where a mapping has to */
};

#endif
