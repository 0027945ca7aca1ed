/* SPDX-License-Identifier: MIT */
/* What a run of the core engine is given beside program and machine, and whom it tells: how code is fetched, what
 * accesses hit, which branches are mispredicted, which way the code goes, and who listens. */
#ifndef GUS_MODEL_MACHINE_OPTIONS_H
#define GUS_MODEL_MACHINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum gus_core_fetch {
	GUS_CORE_FETCH_AUTO,    /* of a loop the best that holds it (loop buffer, uop cache, decoders); else decoders */
	GUS_CORE_FETCH_DECODERS,
	GUS_CORE_FETCH_UOP_CACHE,
	GUS_CORE_FETCH_LOOP,
	GUS_CORE_FETCH_IDEAL,   /* uops are always there */
	GUS_CORE_FETCH_MIXED,   /* the uop cache has some of the code's windows, decoders the others */
};

/* Where an access finds its line. */
enum gus_hit { GUS_HIT_L1, GUS_HIT_L2, GUS_HIT_L3, GUS_HIT_MEMORY, GUS_HITS };
enum gus_tlb { GUS_TLB_HIT, GUS_TLB_SECOND, GUS_TLB_WALK };

struct gus_core_access {
	uint64_t iteration;
	uint32_t op;
	uint32_t memory;        /* in program->memories */
	uint64_t address;       /* meaningful if known */
	bool known, store;
};
/* The memory oracle: answers in program order, once for each access. NULL: always L1. */
struct gus_core_memory {
	void *context;
	void (*access)(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb);
	void (*begin)(void *context);   /* a run begins: forget the last. NULL: answers do not depend on those before */
};
/* The branch oracle: whether this execution of a branch is mispredicted. NULL: never. */
struct gus_core_branch {
	void *context;
	bool (*mispredicted)(void *context, uint32_t op, uint64_t iteration);
};
/* The instruction source: which op comes next. NULL: the program, again and again. */
struct gus_core_step {
	uint32_t op;
	bool taken;             /* of a branch */
	bool last;              /* ends an iteration */
	bool addressed;         /* address has the addresses of its accesses, in order */
	uint64_t address[4];
};
struct gus_core_source {
	void *context;
	bool (*next)(void *context, struct gus_core_step *step); /* false: the end */
};

/* Where a line is in a table of those that were asked for last. Lines of a stretch of memory are apart, and so are
 * those of arrays whose distance is a multiple of the table's size, as that of matrices and buffers often is. */
static inline unsigned gus_core_line_slot(uint64_t line, unsigned slots)
{
	return (unsigned)((line + line / slots * 101) % slots);
}

/* What registers hold at the start, which decides what loads get from earlier stores. */
enum gus_core_pointers {
	GUS_CORE_POINTERS_EQUAL,        /* all the same value but for the stack: as throughput benchmarks (BHive) do */
	GUS_CORE_POINTERS_DISTINCT,     /* values that do not meet */
	GUS_CORE_POINTERS_ONE,          /* all the same value, the stack and frame pointers, too */
	GUS_CORE_POINTERS_NONE,         /* memory carries nothing from store to load (as UFS) */
};

/* What a cycle was for retirement (the commit states of TEA, section 2), and why. */
enum gus_commit { GUS_COMMIT_COMPUTE, GUS_COMMIT_STALLED, GUS_COMMIT_DRAINED, GUS_COMMIT_FLUSHED, GUS_COMMITS };
/* Why issue stopped in a cycle, or what the oldest uop waits for. */
enum gus_core_reason {
	GUS_CORE_NOTHING,       /* the full width was issued, or what somebody else left of it (hooks.h, shared) */
	GUS_CORE_FRONT_END,     /* no uops: decoders or uop cache did not deliver */
	GUS_CORE_BOUNDARY,      /* the end of an iteration */
	GUS_CORE_MISPREDICT,    /* waiting for the right path */
	GUS_CORE_ROB, GUS_CORE_RS, GUS_CORE_LOAD_BUFFER, GUS_CORE_STORE_BUFFER, GUS_CORE_BRANCH_BUFFER,
	GUS_CORE_REGISTERS,
	GUS_CORE_SERIALISED,
	GUS_CORE_EXECUTION,     /* of retirement: the oldest runs, or waits for a port or unit */
	GUS_CORE_OPERAND,       /* of retirement: the oldest waits for an operand */
	GUS_CORE_MEMORY,        /* of retirement: the oldest is a load that missed L1 */
	GUS_CORE_REASONS
};
const char *gus_core_reason_name(enum gus_core_reason reason);
const char *gus_commit_name(enum gus_commit state);
/* "ST-L1+ST-TLB"; "base" without any. text has room for GUS_CORE_PSV_TEXT bytes; returns it. */
enum { GUS_CORE_PSV_TEXT = 64 };
const char *gus_core_psv_text(unsigned psv, char *text);

struct gus_core_cycle {
	uint64_t cycle;
	uint32_t issued, retired;       /* uops: executed ones; retired counts those of whole slots */
	/* Slots that were taken by what is thrown away: behind a mispredicted branch, or from a load that went too
	 * early on. */
	uint32_t wrong;
	uint32_t free_rs, free_rob;     /* at the start of the cycle */
	enum gus_commit state;
	enum gus_core_reason stall;     /* why the oldest did not retire */
	enum gus_core_reason stop;      /* why issue did not take its full width */
	uint32_t op;                    /* the oldest not retired; if all are, the next to come; UINT32_MAX: none */
	uint64_t iteration;             /* of that */
	bool of_next;                   /* a flush of what comes next, which is fetched again; else of what was last */
};

/* The life of one uop, told when it retires. A uop that needs no port is dispatched when it is issued. */
struct gus_core_event {
	uint64_t iteration;
	uint32_t op, uop;               /* uop in program->uops */
	int port;                       /* -1: none */
	/* Cycles. Until it is ready it waits for operands, and from then on for its port or unit. */
	uint64_t issued, ready, dispatched, completed, retired;
	/* What has happened to it, in a run that is fed. */
	uint64_t address;               /* of its access; meaningful if bytes is not 0 */
	uint32_t bytes;
	uint8_t level, tlb;             /* enum gus_hit, enum gus_tlb */
	uint16_t translation, miss;     /* cycles until the page was translated; behind that, until the line came */
	uint16_t psv;                   /* enum gus_core_psv, of its slot */
	uint8_t nth;                    /* of the uops of its op, from 0; 255 also of those behind */
	bool ends;                      /* it is the last of its op */
	bool taken, mispredicted;       /* its op is a branch that was */
};

/* The nine events of TEA (Gottschall, Eeckhout and Jahre, "TEA: Time-Proportional Event Analysis", ISCA 2023, table 1)
 * that an execution of an op can have. */
enum gus_core_psv {
	GUS_CORE_DR_L1 = 1 << 0,        /* its code was not in L1 */
	GUS_CORE_DR_TLB = 1 << 1,       /* nor its page in the first TLB */
	GUS_CORE_DR_SQ = 1 << 2,        /* a store that was not issued for want of an entry of the store buffer */
	GUS_CORE_FL_MB = 1 << 3,        /* a mispredicted branch */
	GUS_CORE_FL_EX = 1 << 4,        /* it let nothing begin behind it before it was executed */
	GUS_CORE_FL_MO = 1 << 5,        /* read before an older store to the same address had written */
	GUS_CORE_ST_L1 = 1 << 6,        /* a load whose line was not in L1, or on its way there */
	GUS_CORE_ST_TLB = 1 << 7,       /* whose page was not in the first TLB */
	GUS_CORE_ST_LLC = 1 << 8,       /* whose line was in no cache */
};
enum { GUS_CORE_PSV_EVENTS = 9 };

/* What TEA's events do not tell of a load that took longer than it would have. */
enum gus_core_late {
	GUS_CORE_LATE_BLOCKED = 1 << 0, /* a store had bytes of it and could not forward them */
	GUS_CORE_LATE_ALIAS = 1 << 1,   /* a store had an address whose last 12 bits are the same */
};

/* An execution of an op, told in the cycle in which slots of it retire; one of many slots may retire in several. */
struct gus_core_retired {
	uint64_t iteration;
	uint32_t op;
	uint16_t psv;                   /* enum gus_core_psv, of all of it once it ends */
	uint8_t late;                   /* enum gus_core_late, likewise */
	bool ends;                      /* its last slot */
};
struct gus_core_listener {
	void *context;
	void (*cycle)(void *context, const struct gus_core_cycle *cycle);   /* may be NULL */
	void (*uop)(void *context, const struct gus_core_event *event);     /* may be NULL */
	void (*retire)(void *context, const struct gus_core_retired *op);   /* may be NULL */
};

struct gus_core_hooks;

struct gus_core_options {
	enum gus_core_fetch fetch;
	enum gus_core_pointers pointers;
	uint64_t iterations;            /* stop after so many; 0: when it is periodic, or after a bound */
	/* Stop also when the quarters of what was run differ by no more than this share, or three times of it in long
	 * runs (0: do not): the mean of many blocks is then had in a fraction of the time in which some of them would
	 * show a period. */
	double settled;
	const struct gus_core_memory *memory;
	const struct gus_core_branch *branch;
	const struct gus_core_source *source;
	const struct gus_core_listener *listener;
	const struct gus_core_hooks *hooks;     /* NULL: the machine is what the configuration says */
	bool unrolled;                  /* each iteration lies behind the one before, as in unrolled code */
};

#endif
