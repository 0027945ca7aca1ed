/* SPDX-License-Identifier: MIT */
/* Twelve programs that are built to mislead a top-down tree; docs/misled.md has the argument of each. A program has
 * ways of doing the same work: `base`, of which one asks what limits it; `fixed`, from which that limit is gone; and
 * for some `cure`, and `other`, which take away what the tree blames and gain nothing.
 *
 * All is assembly, so that no compiler changes it. A way is a function misled_PROGRAM_WAY, which does a pass and
 * returns what it has computed: the same in all ways of a program. */
#ifndef GUS_TESTS_MISLED_H
#define GUS_TESTS_MISLED_H

#include <stdint.h>

/* A line of a list. */
struct misled_node {
	struct misled_node *next;
	uint64_t value;                 /* by chance */
	double triple;                  /* three times a small whole number */
	uint64_t padding[5];
};

enum {
	MISLED_L1 = 1024,               /* elements of 8 bytes: a quarter of an L1 */
	MISLED_RING = 64,               /* nodes of the list that is in L1 */
	MISLED_PICKS = 1 << 16,         /* elements that a pass over a table picks, */
	MISLED_AHEAD = 32,              /* and as many behind them may be asked for */
	MISLED_ROUNDS = 8,              /* over the list that is in L3 */
	MISLED_PIECE = 256,             /* nodes of it that fit into L1 */
};

/* What programs work on: arrays begin at a page. The first fields are read by assembly, by their offsets. */
struct misled_room {
	double *x, *y;                  /* 0, 8: MISLED_L1 small whole numbers */
	uint64_t *words, *out;          /* 16, 24: MISLED_L1 by chance, and as many that are written */
	struct misled_node *ring;       /* 32: a list of MISLED_RING that goes round, by chance */
	struct misled_node *near[4];    /* 40: a list that fits into L2 and not into L1, at its four quarters */
	uint64_t near_nodes;            /* 72 */
	struct misled_node *far;        /* 80: one that fits into L3 and not into L2 */
	uint64_t far_nodes;             /* 88 */
	uint64_t *table, *small;        /* 96, 104: one in L3, and one in L1 that has the same at each pick */
	uint32_t *picks, *small_picks;  /* 112, 120: MISLED_PICKS offsets into either, in bytes */
	uint64_t *keys;                 /* 128: one a round, odd */
	uint32_t *next;                 /* 136: a cycle through 1,024 states, in a page ... */
	uint32_t *seen, *apart;         /* 144, 152: a mark for each: at the same place of a page, and at another */
	uint32_t *index;                /* 160: MISLED_L1 indices into words of 32 bits */
};

typedef uint64_t misled_pass(const struct misled_room *room);

enum { MISLED_WAYS = 4 };
/* base, cure, other, fixed */
extern const char *const misled_ways[MISLED_WAYS];

struct misled_program {
	const char *name;
	misled_pass *ways[MISLED_WAYS]; /* NULL: there is none */
	uint64_t turns;                 /* of a pass; 0: the room says it, see misled_turns */
	const char *of;                 /* what a turn is */
};

/* Each ends with one without a name. */
extern const struct misled_program misled_execution[], misled_memory[];

/* `before` and `after` come once; the loop begins at a line. rdi is the room, rcx the turns that are left, and rax the
 * result. Free are all registers but these, rsp and rbp. */
#define MISLED_CLOBBERED "rbx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
	"xmm13", "xmm14", "xmm15"
#define MISLED(name, turns, before, body, after) \
	static __attribute__((noinline, aligned(64))) uint64_t misled_ ## name(const struct misled_room *room) \
	{ \
		uint64_t n = turns, result; \
\
		__asm__ volatile(".intel_syntax noprefix\n" before "\n.p2align 6\n7:\n" body \
				 "\ndec rcx\njnz 7b\n" after "\n.att_syntax" \
				 : "=a"(result), "+c"(n), "+D"(room) : : MISLED_CLOBBERED); \
		return result; \
	}
#define MISLED_TIMES(n, what) ".rept " #n "\n" what "\n.endr\n"

#endif
