/* SPDX-License-Identifier: MIT */
/* The state of a running core engine, shared by its files:
 *
 *	core.c           the cycle, retirement, beginning and end
 *	dispatch.c       ports take uops that are ready
 *	issue.c          renaming: ops get entries, registers and ports
 *	wait.c           who waits for whom, and for which cycle
 *	memory.c         stores in flight, forwarding
 *	lines.c          lines on their way, page walks
 *	order.c          loads that go before a store that they read from
 *	asked.c          what hooks of the machine are asked
 *	state.c          finding the steady state
 *
 * What is in flight lies in rings: numbers (of slots, uops, stores) only grow, and the entry of number n is at n
 * modulo the size of its ring, a power of two. [head, tail) is in flight; issue moves the tail, retirement the head.
 * Entries behind the head stay readable until they are written again, which is what a uop needs that asks for a
 * producer that has retired.
 *
 *	          slot_head                slot_tail
 *	              v                        v
 *	slots   . . | a    | b     | c | d   | . .      an issue slot: what retirement counts, in order
 *	              |first  |first |   |
 *	uops    . . | 0 1  | 2 3 4 | 5 | 6 7 | . .      a uop: what a port executes; its seq is its number
 *	              ^                        ^
 *	          uop_head                 uop_tail     (accesses: the same places, of loads and stores only)
 *
 *	stores  . . | r  r | w  w  w | . .              r: retired, on the way to L1; w: waits to retire
 *	              ^      ^         ^
 *	       store_head  store_retired  store_tail
 *
 * A uop goes this way, and is at each time in exactly one of the places in brackets:
 *
 *	issue --> producers not dispatched      [a node in the list `waiters` of each of them; `pending` counts them]
 *	      --> all known, but later          [the wheel, in the list of the cycle `ready`]
 *	      --> ready                         [ready[port]: its bit is set]
 *	      --> dispatched                    [none; `complete` is known, and with it all that it wakes]
 *	      --> retired, with its slot
 *
 * Buffers of the machine (ROB, scheduler, registers ...) are no places but counts: pools. */
#ifndef GUS_MODEL_CORE_PRIVATE_H
#define GUS_MODEL_CORE_PRIVATE_H

#include "base/alloc.h"
#include "model/code/values.h"
#include "model/core/frontend.h"
#include "model/core/storesets.h"
#include "model/machine/config.h"
#include "model/machine/hooks.h"
#include "model/machine/steps.h"

#define GUS_NEVER UINT64_MAX

/* A uop in flight. It lies in the ring at its sequence number; one cache line each. */
struct live_uop {
	uint64_t seq;
	uint64_t dispatched, complete;          /* cycles; NEVER until it is so */
	uint64_t ready;                         /* the first cycle in which it can be dispatched, so far as is known */
	uint64_t slot;                          /* in the ring of slots */
	uint32_t uop;                           /* in program->uops */
	uint32_t waiters;                       /* first of the list of who waits for it: node + 1 */
	uint32_t next_timed;                    /* in the wheel: ring index + 1 */
	uint16_t pending;                       /* producers that were not dispatched yet */
	int16_t more;                           /* cycles beyond the latencies of the program (a miss, a forward) */
	int8_t port;
	uint8_t level;                          /* of a load: where its word is */
};

/* What only loads and stores have beside it, at the same place of a ring of its own. */
struct live_access {
	uint64_t address;
	/* Of a load: seq of the store data uop that it gets, plus 1; of a store's address: which of the stores it is,
	 * plus 1; 0: none. */
	uint64_t store;
	uint32_t bytes;                         /* 0: the address is not known */
	uint16_t forward;                       /* cycles from that data */
	uint16_t translation, miss;             /* cycles until its page was known; of a load then for its line */
	uint8_t level, tlb;
	bool split, page_split;                 /* crosses a line, or even a page */
	bool prefetched;                        /* of a load that is fed, as the next: see model/machine/steps.h */
	struct gus_op_beside beside;
};

struct waiter {
	uint32_t uop;                           /* ring index of who waits */
	uint32_t next;
	int32_t delay;                          /* from the producer's dispatch until it may be dispatched */
};

/* An issue slot in flight: what retirement counts. */
struct live_slot {
	uint64_t complete;                      /* the latest of its dispatched uops */
	uint64_t iteration, issued;
	uint64_t first;                         /* sequence numbers of its uops */
	uint32_t op, region;                    /* region: of what is fed */
	uint16_t n, waiting;                    /* uops; those not dispatched yet */
	uint16_t psv;                           /* enum gus_core_psv */
	uint8_t late;                           /* enum gus_core_late */
	uint16_t part;                          /* which of the load buffer its op has an entry of, plus 1; 0: none */
	bool ends_op, ends_iteration, taken, mispredicted;
};

/* Who makes the value of a register. */
struct live_reg {
	uint64_t seq;                           /* of the producing uop, plus 1; 0: nobody in flight */
	int32_t latency;
	uint32_t file;                          /* physical: which registers are the same one, by an eliminated move */
};

struct live_store {
	uint64_t address;
	uint64_t data, addr;                    /* sequence numbers of its uops plus 1 */
	uint64_t ready;                         /* when its page is known; once it retired, when its line is in L1 */
	struct live_reg source;                 /* who makes what it stores */
	uint32_t blocked;                       /* ring index of a load that waits until this is committed, plus 1 */
	uint32_t bytes, memory;                 /* memory: in program->memories */
	uint32_t entries;                       /* of the store buffer, for all stores of its op */
	bool known;                             /* the address is */
	bool split;                             /* crosses a line: committed as two */
	uint32_t string;                        /* cycles to commit what a string instruction writes; 0: it is none */
	uint8_t level;
	uint32_t insn;                          /* in program->insns */
	bool prefetched;
	struct gus_op_beside beside;
};

/* A line that was asked for, or was to be and no buffer was free: then from where, and else that is L1. */
struct coming_line {
	uint64_t line, ready;
	uint8_t dropped;                        /* enum gus_hit */
};

struct snapshot {
	uint64_t cycle, iteration, slots;
	uint64_t in_flight;                     /* slots that did not retire yet, and stores that did not leave */
	uint64_t dispatched[GUS_CORE_PORTS];
	uint64_t commit[GUS_COMMITS], stop[GUS_CORE_REASONS];
};

enum {
	WHEEL = 2048,           /* cycles ahead that the wheel reaches */
	STORES_MOST = 1024,     /* in flight, where the table sets no limit */
	MEMORY_WORDS = 256,     /* of which the value is remembered */
	PAGE = 4096, WORDS_IN_PAGE = PAGE / 8,
	MISSES = 64, LINES = 64,/* lines on their way; those of which it is known when they come */
	BUS_TICKS = 48,         /* of a cycle: thirds, quarters and sixteenths of one are whole */
	L2_MISSES = 32,         /* lines that prefetching has on their way to L2: L2s of recent cores have 16 to 48 */
	WALKS = 8,              /* of the page table at the same time */
	LATEST = 30000,         /* cycles that a load is later than a hit, at most */
	ACCESSES = 4,           /* of one op */
	LOADS_NOW = 8,          /* dispatched in one cycle */
	ISSUED_NOW = 16,        /* different sets of ports in one cycle that are told apart */
	FILES = 160,            /* numbers for physical registers that are shared: more than there are names */
	NO_LIMIT = INT32_MAX / 2,
	UNITS = 256,
	RETIRED_NOW = 64,       /* slots that retire in one cycle where a hook is asked how many do */
};

/* Buffers. Those up to POOLS_IN_ORDER are taken by a slot when it is issued; an entry of a scheduler by each uop, of
 * the one that its port has. */
enum pools {
	POOL_ROB, POOL_LOADS, POOL_STORES, POOL_BRANCHES, POOL_RENAMES, POOL_INT, POOL_VECTOR, POOL_MASK,
	POOLS_IN_ORDER,
	POOL_RS = POOLS_IN_ORDER, POOL_RS_INT, POOL_RS_VECTOR, POOL_RS_MEMORY, POOLS
};

/* Those that are taken in order are asked for, taken and given for each slot: as vectors of four. Entries of schedulers
 * are not, as each uop takes one, and reading a vector of which a part was just written takes longer. */
typedef int32_t four_entries __attribute__((vector_size(16), may_alias));
enum { FOURS = POOLS_IN_ORDER / 4 };
_Static_assert(POOLS_IN_ORDER % 4 == 0 && POOLS % 4 == 0, "buffers are whole vectors");

/* Entries of all buffers. What is freed in a cycle is kept apart until its end: it can be had in the next one only
 * (Palomares 2015, section 7.4), in whatever order the phases of the cycle look. */
struct entries {
	_Alignas(16) int32_t left[POOLS];       /* negative: what needs more than there is got it (pool_has) */
	_Alignas(16) int32_t freed[POOLS];
	int32_t size[POOLS];                    /* NO_LIMIT where there is none */
};

/* What one issue slot of an op needs: of the first slot with what the op needs as a whole. */
struct slot_need {
	uint32_t first, n;                      /* its uops */
	_Alignas(16) int32_t entries[POOLS];
};

/* What is asked of each op again and again, found once. */
struct op_plan {
	uint32_t first_need;                    /* of its slots */
	uint16_t stores;                        /* accesses of it that are stores */
	bool follows;                           /* it has accesses, or changes registers that are followed */
	bool larger;                            /* than the ROB */
	/* Entries that it frees when it retires; without its stores'. */
	_Alignas(16) int32_t gives[POOLS_IN_ORDER];
};

/* For what nothing is issued, while blocked_until lies ahead. */
enum blocks {
	BLOCKS_SERIALISING,     /* the op that was last has to be executed first */
	BLOCKS_MISPREDICT,      /* what was last is a branch that goes another way than was fetched */
	BLOCKS_ORDER,           /* what comes next is a load that went too early, and is fetched again */
};

struct core {
	const struct gus_program *p;
	const struct gus_core_config *c;
	const struct gus_core_options *options;
	const struct gus_core_hooks *hooks;     /* NULL: there are none */
	struct gus_frontend front;
	struct gus_values values;
	uint64_t cycle;

	struct live_uop *uops;                  /* ring */
	struct live_access *accesses;           /* ring */
	uint64_t uop_mask, uop_head, uop_tail;
	struct live_slot *slots;
	uint64_t slot_mask, slot_head, slot_tail;
	struct live_reg regs[GUS_PROGRAM_REGS];
	struct entries pools;
	_Alignas(16) int32_t most[POOLS];       /* that the slots of one cycle can need of each */
	uint32_t most_uops;                     /* that they have */
	uint32_t ops_n, needs_n, uops_n;        /* of the program, so far as it was prepared for; needs_n: in needs */
	bool rings_tight;                       /* rings, or entries by port, may not have it in this cycle */
	bool tight;                             /* these or some buffer */
	struct gus_vec(struct waiter) waiters;
	uint32_t free_waiter;                   /* node + 1 */
	uint32_t *wheel;                        /* ring index + 1 of the first uop that gets ready in that cycle */

	uint64_t *ready[GUS_CORE_PORTS];        /* a bit for each entry of the ring of uops */
	uint64_t ready_from[GUS_CORE_PORTS];    /* none that is older is ready */
	uint32_t ready_n[GUS_CORE_PORTS];
	uint32_t waiting[GUS_CORE_PORTS];       /* bound to the port and not dispatched */
	/* The same as the renamer sees it, who hears of a dispatch a cycle later; at the starts of this cycle and of
	 * the one before it. */
	uint32_t waiting_seen[2][GUS_CORE_PORTS];
	uint32_t left[GUS_CORE_PORTS];          /* dispatched in this cycle */
	struct { uint64_t ports; uint32_t n; } bound[ISSUED_NOW]; /* uops of this cycle, by the ports of their choice */
	unsigned bound_n;
	uint64_t ready_ports;                   /* those with some that are ready */
	uint64_t unbound_ports;                 /* those that take what waits for others of their scheduler */
	uint64_t int_ports;                     /* those of the schedulers for integer uops */
	int widest;                             /* the most of them that a uop can choose from */
	uint64_t plain_ports;                   /* those whose uops need nothing but the port */
	uint64_t port_free[GUS_CORE_PORTS];     /* cycle from which it takes a uop again */
	unsigned port_width;                    /* uops that it takes in a cycle; the last of them keeps it */
	uint32_t taken[GUS_CORE_PORTS];         /* in this cycle, where that is more than one */
	uint64_t *vain;                         /* by cycle, as the wheel: ports taken in vain; NULL: none */
	uint64_t unit_free[UNITS];
	unsigned units_n;                       /* the highest that the program uses, plus 1 */
	uint8_t port_pool[GUS_CORE_PORTS];      /* which scheduler it has */
	bool stations;                          /* some have another than POOL_RS */
	uint32_t turn;                          /* of ports that take turns */
	uint64_t pair_turns;                    /* of pairs, each at its lower port: whether that was the last */

	/* Issue. */
	const struct gus_fetched *current;      /* the op that is issued, in the front end or kept here */
	struct gus_fetched kept;                /* between cycles: the front end may write over its own */
	bool have_current;                      /* its first slot is issued */
	unsigned slot;                          /* the next of current */
	uint64_t blocked_until;                 /* after a mispredicted or serialising op; NEVER: until that is known */
	enum blocks blocks;
	uint64_t resolved;                      /* when it is known that the path was wrong; NEVER: no one knows yet */
	uint32_t wrong, wrong_now;              /* slots of the wrong path: in flight, and issued in this cycle */
	uint16_t part;                          /* of live_slot, of current */
	uint16_t waited;                        /* enum gus_core_psv: what the next op has met before it was issued */
	uint16_t retired_psv;                   /* of the slots of the oldest op that have retired */
	uint8_t retired_late;
	uint64_t blocking;                      /* slot that blocks, plus 1 */
	uint64_t issued_iterations, retired_iterations, retired_cycle;
	uint32_t aliases;                       /* physical registers with several names */
	uint8_t names[FILES];                   /* how many names each has; what was never shared has no number */
	struct slot_need *needs;                /* of the slots of all ops, in order */
	struct op_plan *plans;                  /* by op */

	/* Memory. */
	struct { uint64_t at, bytes; } loads_now[LOADS_NOW]; /* bytes of a line that the loads of this cycle read */
	unsigned loads_now_n;
	struct live_store *stores;              /* ring */
	uint64_t store_mask;
	uint64_t store_head, store_retired, store_tail;
	uint16_t written[WORDS_IN_PAGE];        /* by word of a page: how many stores in flight write there */
	/* Of the op that is issued, by access: its address, and the store that it reads from plus 1. */
	struct gus_value address[ACCESSES];
	uint64_t forward[ACCESSES];
	uint32_t bytes[ACCESSES];
	uint8_t level[ACCESSES], tlb[ACCESSES];
	bool aliased[ACCESSES], prefetched[ACCESSES];
	struct gus_op_beside beside[ACCESSES];
	/* Store sets, in a run that is fed: the store that an access waits for, plus 1; and the uop that has to be
	 * dispatched before the load that is to be issued would not be too early. */
	struct gus_storesets sets;
	uint64_t awaited[ACCESSES], early_until;
	struct { uint64_t address, bits; uint32_t bytes; bool known; } words[MEMORY_WORDS];
	uint64_t misses[MISSES], misses_l2[L2_MISSES]; /* when each buffer is free; L2's: of prefetches */
	struct coming_line lines[LINES], lines_l2[LINES]; /* on their way to L1; those that prefetching brings to L2 */
	uint64_t commit_free;                   /* from when on stores leave, behind one that crosses a line */
	uint64_t l2_free, l3_free, memory_free; /* buses, in BUS_TICKS of a cycle */
	uint64_t walk_free[WALKS];

	/* Of what is fed: cycles between retirements, by region, and the last of them. */
	struct gus_vec(uint64_t) regions;
	uint64_t region_mark;

	/* What is told. */
	uint32_t issued_now, retired_now;
	uint32_t width;                         /* slots that may be issued in this cycle */
	uint64_t shared;                        /* ports that are somebody else's in it */
	enum gus_core_reason stop;
	struct snapshot total;
	struct gus_vec(struct snapshot) seen;
	struct gus_vec(uint64_t) sums;          /* of them */
	uint8_t used[GUS_PROGRAM_REGS];         /* registers that the program writes */
	unsigned used_n;
	uint64_t next_look;
};

static inline struct live_uop *core_uop(struct core *core, uint64_t seq)
{
	return &core->uops[seq & core->uop_mask];
}

static inline struct live_access *core_access(struct core *core, const struct live_uop *u)
{
	return &core->accesses[u->seq & core->uop_mask];
}

static inline struct live_slot *core_slot(struct core *core, uint64_t seq)
{
	return &core->slots[seq & core->slot_mask];
}

/* Whether it can retire. */
static inline bool core_slot_done(const struct core *core, const struct live_slot *slot)
{
	return !slot->waiting && slot->complete <= core->cycle && slot->issued < core->cycle;
}

/* What needs more than there is gets it when the buffer is empty, so that nothing waits for ever. */
static inline bool pool_has(const struct core *core, enum pools pool, int32_t n)
{
	return n <= core->pools.left[pool] || core->pools.left[pool] == core->pools.size[pool];
}

static inline four_entries *fours(int32_t *entries)
{
	return (four_entries *)(void *)entries;
}

static inline const four_entries *fours_of(const int32_t *entries)
{
	return (const four_entries *)(const void *)entries;
}

/* core.c */
struct gus_error;
/* fed: what is executed is fed; borrowed. NULL: the program or the options' source. All is zero before. */
void gus_core_begin(struct core *core, const struct gus_program *p, const struct gus_core_config *c,
		    const struct gus_core_options *options, struct gus_fed *fed);
void gus_core_end(struct core *core);
/* The program has more ops than it had. */
void gus_core_grow(struct core *core);
/* Whether the CPU has the ports of the program's uops, from a uop on. -1 with err. */
int gus_core_check_ports(const struct gus_program *p, uint32_t first_uop, struct gus_error *err);
/* One cycle. -1 with err if nothing will ever retire. */
int gus_core_cycle(struct core *core, struct gus_error *err);
/* Nothing comes any more, and nothing is in flight. */
bool gus_core_over(const struct core *core);

/* wait.c */
/* u, which is just issued, may be dispatched no earlier than delay cycles after that producer was. */
void gus_core_wait(struct core *core, struct live_uop *u, uint64_t producer, int delay);
/* u waits for nobody any more: puts it where its time will find it. */
static inline void gus_core_arm(struct core *core, struct live_uop *u)
{
	uint32_t at = (uint32_t)(u->seq & core->uop_mask);
	uint64_t when = u->ready;

	if (when <= core->cycle) {
		core->ready[u->port][at / 64] |= 1ull << at % 64;
		if (!core->ready_n[u->port]++ || u->seq < core->ready_from[u->port])
			core->ready_from[u->port] = u->seq;
		core->ready_ports |= 1ull << u->port;
		return;
	}
	if (when - core->cycle >= WHEEL)
		when = core->cycle + WHEEL - 1;
	u->next_timed = core->wheel[when % WHEEL];
	core->wheel[when % WHEEL] = at + 1;
}
/* Those whose time is this cycle become ready. */
void gus_core_wake_timed(struct core *core);
/* u was dispatched in this cycle: tells those that wait for it. */
void gus_core_wake_waiters(struct core *core, struct live_uop *u);

/* dispatch.c */
void gus_core_dispatch(struct core *core);

/* issue.c */
void gus_core_issue(struct core *core);
/* The slot that issue waits for is done, or will be at that cycle. */
void gus_core_unblock(struct core *core, uint64_t complete);

/* memory.c */
void gus_core_begin_op(struct core *core, const struct gus_op *op);
void gus_core_access(struct core *core, struct live_uop *u, const struct gus_uop *uop, const struct gus_op *op);
void gus_core_rename_load(struct core *core, const struct gus_uop *uop, const struct gus_op *op);
void gus_core_load(struct core *core, struct live_uop *u, const struct gus_uop *uop);
void gus_core_store_address(struct core *core, const struct live_uop *u);
/* The op is retired, and n accesses of it are stores. */
void gus_core_retire_stores(struct core *core, const struct gus_op *op, unsigned n);
void gus_core_commit_stores(struct core *core);

/* Whether the load does not read what a store has written, but is that value. */
bool gus_core_renamed(const struct core *core, const struct gus_op *op, unsigned n);

/* order.c, of machines with store sets */
/* A store of that number enters. */
void gus_core_enter_set(struct core *core, uint32_t insn, uint64_t number);
/* Which store the access, a load, has to wait for; and that it does. */
void gus_core_find_awaited(struct core *core, unsigned n, uint32_t insn);
void gus_core_await_set(struct core *core, struct live_uop *u, unsigned n);
/* Whether a load of the op, which is to be issued, goes before the store that it reads from, until early_until is
 * dispatched. That is learned. */
bool gus_core_too_early(struct core *core, const struct gus_op *op);

/* asked.c, where there are hooks */
/* What of this cycle is ours. */
void gus_core_ask_shared(struct core *core);
/* u is dispatched, and it is known how long it takes: how much longer, and what those do that wait for a load. */
void gus_core_ask_dispatched(struct core *core, struct live_uop *u, const struct gus_uop *uop);
/* How many slots retire. */
unsigned gus_core_ask_retire(struct core *core);
/* Whether the load buffer takes the loads of the op, which is to be issued, if it has any. */
bool gus_core_ask_load(struct core *core, const struct gus_op *op);

/* lines.c */
/* When a word is there that is found in L1: its line may be on its way, as who tells levels in the order of the program
 * may mean one that an access before has asked for. */
uint64_t gus_core_hit_arrives(struct core *core, uint64_t address, uint64_t now);
/* When a line that is asked for now is in L1. */
uint64_t gus_core_line_arrives(struct core *core, enum gus_hit level, uint64_t address, uint64_t now);
/* Where the line of an access is, of which that was told, and whether it was prefetched (model/machine/steps.h). */
enum gus_hit gus_core_level_now(struct core *core, enum gus_hit told, uint64_t address, bool prefetched);
/* When a page that is walked for from now on is translated. */
uint64_t gus_core_walk(struct core *core, uint64_t address, uint64_t now);
/* What an access brings along takes buffers and bandwidth. */
void gus_core_bring_along(struct core *core, const struct gus_op_beside *beside, uint64_t address, uint64_t now);

/* state.c */
struct gus_core_result;
/* At the end of an iteration: whether the run can end, with the steady state in the result. */
bool gus_core_steady(struct core *core, struct gus_core_result *r);

#endif
