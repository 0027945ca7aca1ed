/* SPDX-License-Identifier: MIT */
/* What the stream engine prepares once and its kernels read: costs in ticks, by lane where lanes differ; and what
 * lane 0 notes of what it waited for. The files, in the order in which a step goes through them:
 *
 *	prepare.c         struct stream            what each op costs each lane: before the run, and when code grows
 *	resolve.c         struct stream_resolver   what a step does, whenever that is: a chunk of 2048 at a time
 *	kernel.h          its own state            when: the times themselves, for so many lanes
 *	causality.c       struct gus_stream_log    why: the reasons of lane 0
 *	stream.c          all of them together */
#ifndef GUS_MODEL_STREAM_PRIVATE_H
#define GUS_MODEL_STREAM_PRIVATE_H

#include "base/alloc.h"
#include "base/index.h"
#include "model/code/forwarding.h"
#include "model/code/decode_group.h"
#include "model/code/prediction.h"
#include "model/code/uop_lines.h"
#include "model/code/values.h"
#include "model/machine/config.h"
#include "model/machine/steps.h"
#include "model/stream/types.h"

enum stream_front { FRONT_ISSUE, FRONT_DECODE, FRONT_FETCH, FRONT_UOP_CACHE, FRONT_LINES, FRONT_PREDICTION,
	FRONTS };
enum {
	STREAM_FETCH_AHEAD = 6, STREAM_SIZES = 4, STREAM_WORDS = 1024, STREAM_LINES = 256,
	STREAM_STORE = 255,             /* instead of the number of a uop: a store that has retired */
	STREAM_LATE = 127,              /* places for uops that wait in a part of a station out of order */
	STREAM_LATE_LOOKS = 8,          /* of them are looked at for each uop */
	STREAM_SHARE = 64, STREAM_PAGE = 4096,
	/* Cycles that an op may take where times are looked at every 16 ops, and at all. */
	STREAM_SLOW = 13000, STREAM_LONGEST = 200000,
	STREAM_STRING = 150000,         /* that what a string instruction writes takes at most to leave */
	STREAM_IN_WORD = 16,            /* stores that are looked at for one word of a load */
};

/* Entries of those before the reservation station are taken at dispatch and given back in order. Registers are windows,
 * too: a result takes one of its file, which is given back when it retires, as the one that it replaces is then free
 * (WINDOW_RENAMES is of all files together). */
enum stream_window {
	WINDOW_ROB, WINDOW_LOADS, WINDOW_STORES, WINDOW_RENAMES, WINDOW_INT, WINDOW_VECTOR, WINDOW_MASK,
	WINDOW_RS, WINDOW_RS_END = WINDOW_RS + GUS_CORE_STATIONS, WINDOW_MISSES = WINDOW_RS_END, STREAM_WINDOWS
};
enum { STREAM_IN_ORDER = WINDOW_RS };

/* What uops queue for: the buses, banks of L1, then exclusive units, then groups of ports, of which there may come
 * more. Bank b has the bytes from 8 b on of each line of 64. */
enum stream_bus { BUS_L2, BUS_L3, BUS_MEMORY, BUS_WALKS, STREAM_BUSES };
enum { STREAM_BANKS = 8, STREAM_BANKS_AT = STREAM_BUSES, STREAM_COUNTED = STREAM_BANKS_AT + STREAM_BANKS };
enum { STREAM_UNITS = 32, STREAM_UNITS_AT = STREAM_COUNTED, STREAM_GROUPS_AT = STREAM_UNITS_AT + STREAM_UNITS,
	STREAM_RESOURCES = STREAM_GROUPS_AT + GUS_STREAM_GROUPS };

/* An access, as far as it is the same for all lanes. */
enum { STREAM_KNOWN = 1, STREAM_FORWARD = 2, STREAM_LINE = 4, STREAM_SPLIT = 8, STREAM_PAGE_SPLIT = 16,
	STREAM_ALIAS = 32, STREAM_BESIDE = 64, STREAM_COMES_TO_L2 = 128 };
struct stream_access {
	uint32_t beside;                /* with STREAM_BESIDE: the number of what it brings along */
	uint16_t word, stored;          /* where the times are of the store that a load reads, and of an own store */
	uint16_t line;                  /* and of its line, in L1 and in L2 */
	uint16_t alias;                 /* and of the store that the load is taken to read, by its low 12 bits */
	uint8_t flags, level, tlb;
	uint8_t forwarding;             /* enum gus_forwarding, of a load with STREAM_FORWARD */
	uint8_t banks;                  /* bit b: a load of bytes of that bank, where L1 has any */
};
/* What it brings along (struct gus_op_beside): lines that are thrown out, and those that prefetchers ask for. */
enum { STREAM_NO_LINE = UINT16_MAX };
struct stream_beside {
	uint8_t written[GUS_OP_WRITTEN], prefetches_n;
	struct stream_prefetch { uint16_t line; uint8_t from, into; } prefetches[GUS_OP_PREFETCHES];
};
/* A branch that is predicted after all lets what comes behind it be fetched so long before it is executed: earlier than
 * all that is in the windows, and still far from where times overflow. */
enum { STREAM_PREDICTED = INT32_MIN / 2, STREAM_CHANCE = INT32_MAX };
struct stream_step {
	uint32_t op, access;            /* the first of its accesses */
	uint32_t region;
	uint16_t fetched;               /* cycles of length decoding */
	uint8_t predicted;              /* cycles of prediction; of a call or a return, how often it takes its own */
	uint32_t commits;               /* cycles that its stores take to leave for L1, beside those before */
	uint8_t fronts;                 /* bit f: it goes through that part of the front end */
	bool mispredicted;
	int32_t chance;                 /* of one that is: below STREAM_CHANCE */
};

/* Ticks by lane of something that many have in common, such as a latency of 4 cycles of the same class; number 0 is
 * none at all. Kept once: code of many thousand ops has a few hundred. */
struct stream_cost { int32_t ticks[GUS_STREAM_LANES]; };

/* What a uop needs, in the order in which its parts lie in stream->uses. */
struct stream_uop {
	uint32_t use, uses_n;           /* of resources */
	uint32_t latency;               /* cost until it is complete */
	uint8_t station;                /* the part of the reservation station that it waits in */
	uint8_t held;                   /* enum gus_held_by: of what kind its instruction is */
};

struct stream_use {
	uint16_t resource;
	uint16_t times;
	uint8_t held;                   /* enum gus_held_by: for more than a cycle, by an instruction of a kind */
};

struct stream_op {
	uint32_t front[FRONTS];         /* costs of each part of the front end */
	uint32_t retire;                /* cost of retirement's width */
	uint8_t fronts;                 /* bit f: whether it takes any of that part's time */
	uint8_t window[STREAM_IN_ORDER]; /* entries taken of each */
	uint8_t windows;                /* bit w: it takes any of that one */
	bool wide;                      /* it has more slots than are issued in a cycle */
	uint8_t waiting[GUS_CORE_STATIONS]; /* uops that go through each part of the reservation station */
};

/* A window's size in some lanes: bit k of lanes is lane k. */
struct stream_size {
	uint64_t entries;
	uint64_t lanes;
};

struct stream {
	const struct gus_program *p;    /* may have grown: below is what ops_n, uops_n and flows_n of it need */
	const struct gus_core_config *c;
	const struct gus_stream_options *o;
	size_t lanes;
	bool fed;                       /* step by step: the code grows, accesses and branches are told of */
	enum gus_core_fetch mode;
	bool *kept;                     /* of MIXED: which ops the uop cache has */
	uint32_t ops_n, uops_n, flows_n;
	struct gus_stream_resources resources;
	size_t resources_n;             /* buses, exclusive units, groups of ports */
	struct gus_vec(struct stream_op) ops;
	struct gus_vec(struct stream_uop) uops;
	struct gus_vec(struct stream_use) uses;
	struct gus_vec(uint32_t) flows; /* costs by flow of the program: latency or lateness */
	struct gus_vec(struct stream_cost) costs;
	struct gus_index cost_numbers;
	struct stream_cost inverse[STREAM_RESOURCES]; /* of one use */
	int32_t levels[GUS_HITS][GUS_STREAM_LANES]; /* ticks until a line is there */
	int32_t tlb[GUS_STREAM_LANES], walk[GUS_STREAM_LANES], penalty[GUS_STREAM_LANES], drain[GUS_STREAM_LANES];
	int32_t mispredicted[GUS_STREAM_LANES]; /* if a step's chance is less */
	int32_t forwards[GUS_FORWARDINGS][GUS_STREAM_LANES]; /* from a store to a load of it */
	/* Of an access that crosses a line: its penalty, and which part of its uop's own use of ports the second line
	 * takes, in shares of STREAM_SHARE. Of a load with an alias: its penalty. */
	int32_t split[GUS_STREAM_LANES], page_split[GUS_STREAM_LANES], split_share[GUS_STREAM_LANES];
	int32_t held[GUS_HELD_BYS][GUS_STREAM_LANES]; /* how much of its cycles such a use takes, in shares likewise */
	int32_t alias[GUS_STREAM_LANES];
	/* From a store's address to a load of it: by how much that takes longer than from its data. */
	int32_t forward_address[GUS_STREAM_LANES];
	struct stream_size sizes[STREAM_WINDOWS][STREAM_SIZES];
	unsigned sizes_n[STREAM_WINDOWS];
	/* Places of each part of the reservation station that are no ring (kernel.h), and how many a smaller lane has
	 * not. */
	unsigned late[GUS_CORE_STATIONS];
	uint8_t closed[GUS_CORE_STATIONS][GUS_STREAM_LANES];
	uint64_t mask[STREAM_WINDOWS];  /* entries of the rings, less 1: powers of two beyond the largest size */
	double slowest;                 /* how many times as long as nominally what a knob turns down may take */
	bool slow;                      /* an op may take so long that times are looked at behind each one */
	uint32_t turned;                /* how often costs were made anew */
	uint32_t regions;               /* the largest number of one so far, plus 1 */
};

/* Fills in all of s but p, c, o and lanes. -1 with err, and then as always gus_stream_unprepare. */
int gus_stream_prepare(struct stream *s, struct gus_error *err);
/* The program has grown: costs of the new ops, and groups of ports that their uops take. */
void gus_stream_prepare_more(struct stream *s);
/* The knobs of ports, units and latencies have changed. */
void gus_stream_prepare_again(struct stream *s);
void gus_stream_unprepare(struct stream *s);
/* Nominal ticks. */
static inline int32_t gus_stream_nominal(const struct stream *s, uint32_t cost) { return s->costs.v[cost].ticks[0]; }

/* Where length decoding is: the same for all lanes, as capacities do not move code. */
struct stream_fetch {
	uint64_t address;               /* of unrolled code: where the next instruction is */
	uint64_t block;                 /* that is being decoded, plus 1; 0: none */
	unsigned count;                 /* instructions found in it in this cycle */
};

/* Cycles of length decoding that an op begins (see predecode in frontend.c, which it follows). */
static inline unsigned gus_stream_fetched(struct stream_fetch *f, const struct gus_program *p,
					  const struct gus_core_config *c, const struct gus_op *op, bool unrolled,
					  bool taken)
{
	unsigned shift = (unsigned)__builtin_ctz(c->fetch_bytes), cycles = 0;

	for (unsigned i = 0; i < op->insns_n; i++) {
		const struct gus_program_insn *insn = &p->insns[op->insn + i];
		uint64_t at = p->base + (unrolled ? f->address : insn->offset);
		uint64_t block = ((at + insn->info.length - 1) >> shift) + 1;
		uint64_t opcode = ((at + insn->info.opcode_length - 1) >> shift) + 1;

		if (block != f->block) {
			cycles += 1 + (f->count == c->predecode_width && opcode == f->block);
			f->block = block;
			f->count = 0;
		} else if (f->count == c->predecode_width) {
			cycles++;
			f->count = 0;
		}
		f->count++;
		cycles += insn->info.flags & GUS_INSN_LCP ? c->lcp_penalty : 0;
		f->address += insn->info.length;
	}
	if (taken && !unrolled) {
		f->block = 0;
		f->count = 0;
	}
	return cycles;
}

/* How many of so many entries of the reservation station are places beside the ring: about five of six, and a prime, so
 * that what comes in some rhythm does not come to the same places each time. 0 of a single entry. */
static inline unsigned gus_stream_late(uint64_t entries)
{
	unsigned n = entries > STREAM_LATE ? STREAM_LATE : (unsigned)entries * 5 / 6;

	for (unsigned by = 2; by * by <= n; by++)
		if (n % by == 0) {
			n--;
			by = 1;
		}
	return n;
}

/* The n-th place of so many that are closed: one to which nobody gets. */
static inline unsigned gus_stream_late_closed(unsigned places, unsigned closed, unsigned n)
{
	return n * places / closed;
}

/* Which place is looked at after the look-th one for a uop. They lie about evenly, and no two pairs of them as far from
 * each other: what comes each n-th time would else meet itself at all of them. */
static inline unsigned gus_stream_late_next(unsigned places, unsigned at, unsigned look)
{
	unsigned apart = places / STREAM_LATE_LOOKS + look;

	at += apart > STREAM_LATE_LOOKS / 2 ? apart - STREAM_LATE_LOOKS / 2 : 1;
	return at < places ? at : at - places;
}

/* Of what kind its instruction is, by that instruction's class. */
enum gus_held_by gus_stream_held_by(const struct gus_uop *u, enum gus_insn_class class);

/* The part of the reservation station where a uop waits. */
static inline enum gus_core_station gus_stream_station(const struct gus_core_config *c, const struct gus_program *p,
						       const struct gus_uop *u)
{
	bool parts = c->rs_int || c->rs_vector || c->rs_memory;

	return !parts || !u->ports ? GUS_CORE_STATION_WHOLE :
		gus_core_station_of(c, p->port_names[__builtin_ctzll(u->ports)]);
}

/* Parts of the front end that work ahead, as far as their queue reaches: what takes its time by whole cycles has to. */
static inline bool gus_stream_ahead(enum stream_front part)
{
	return part == FRONT_FETCH || part == FRONT_DECODE || part == FRONT_LINES || part == FRONT_PREDICTION;
}

/* What finds it out. */
struct stream_resolver {
	uint64_t mispredictions;
	const struct stream *s;
	struct gus_values values;
	struct stream_fetch fetch;
	struct gus_uop_lines uop_lines; /* of the uop cache; the same for all lanes as well */
	struct gus_uop_read read;       /* what it reads in the present cycle */
	struct gus_decode_group group;  /* of the decoders */
	unsigned predicted;             /* taken branches of the predictor's present cycle */
	uint64_t code;                  /* bytes of all instructions so far */
	bool tracked;                   /* accesses are looked at at all */
	bool one_page;                  /* all pages are one page of memory */
	uint32_t at;                    /* without a source: the next op */
	uint64_t iteration;
	uint64_t stores;                        /* so far; the last STREAM_WORDS of them have times */
	uint64_t tags[STREAM_WORDS], by[STREAM_WORDS]; /* by word: address / 8, plus 1, and the youngest store there */
	uint64_t first[STREAM_WORDS], behind[STREAM_WORDS]; /* by store: the bytes that it wrote */
	uint32_t memory[STREAM_WORDS];          /* and which access it is, of the program's */
	uint64_t page[STREAM_WORDS];            /* what was taken off its address: see in_memory */
	/* The store before it, plus 1, in its first and in its last word, which it may not have written all of. */
	uint64_t older[STREAM_WORDS][2];
	uint64_t in_page[STREAM_PAGE / 8]; /* by word of a page: the youngest store there in any page, plus 1 */
	uint64_t left_line;             /* the last store's line plus 1; 0: not known */
	uint32_t leaving;               /* stores that leave in its cycle, with it */
	/* Line, plus 1, that was missed or prefetched last: into L1, and into L2. */
	uint64_t lines[STREAM_LINES], lines_l2[STREAM_LINES];
	uint64_t address[256];                  /* of the present op's accesses ... */
	uint32_t bytes[256];                    /* ... and their sizes */
	struct stream_step *steps;              /* the present chunk */
	struct gus_vec(struct stream_access) accesses;
	struct gus_vec(struct stream_beside) besides;
	size_t n;
};
void gus_stream_resolver_open(struct stream_resolver *r, const struct stream *s);
void gus_stream_resolver_close(struct stream_resolver *r);
/* The next n steps, at most GUS_OP_STEPS; of the program again and again if none are given. */
void gus_stream_resolve(struct stream_resolver *r, const struct gus_core_step *given, size_t n);
/* The same of steps of which all is told. */
void gus_stream_resolve_told(struct stream_resolver *r, const struct gus_op_steps *feed);

/* Iterations that are enough for the windows to fill and to be full for as long again; for caches, that all but the
 * last level do. */
uint64_t gus_stream_enough(const struct gus_program *p, const struct gus_core_config *c,
			   const struct gus_core_memory *memory);

/* What an op takes of each part of the front end that its step goes through, in cycles; of length decoding, what a
 * cycle of it takes. */
void gus_stream_front_costs(const struct stream *s, const struct gus_op *op, double costs[FRONTS]);
/* Sets mode and kept, which gus_stream_unprepare frees. */
void gus_stream_choose_fetch(struct stream *s);

/* What the causality analysis follows back: for each op that ran, what its dispatch, the start of each of its uops
 * and its retirement waited for on the nominal machine (lane 0). It takes the place of the sets of instructions that
 * the paper's Algorithm 1 has as taint (lines 1 to 16): one of them is enough to go on with, and the path finds the
 * others. A reason is packed into 64 bits: what it was, up to three small numbers, and the op by its place in the
 * log.
 *
 *	63    62    61  58 57      50 49  46 45  42 41   40 39 38 37                                   0
 *	|alias|split| why  |  index   | out  |  in  | level | tlb |  seq, which lasts for 2^38 ops        |
 *
 * As `in` is 0 in what the writer of a register notes, its reader puts its own in with an or; likewise level, TLB, and
 * the penalties of a line that is crossed and of an alias. */
enum stream_why {
	WHY_BEGINNING,          /* nothing: the beginning of the run */
	WHY_DISPATCH,           /* its own dispatch */
	WHY_RESOURCE,           /* a resource (index), which has been busy since op `seq` was dispatched */
	WHY_VALUE,              /* what uop `index` of op `seq` wrote in its flow `out`, read in the flow `in` */
	WHY_FORWARD,            /* what store uop `index` of op `seq` stored; out: enum gus_forwarding */
	WHY_LINE,               /* the line that load uop `index` of op `seq` has asked for, or brings along */
	WHY_FRONT,              /* part `index` of the front end, raised by op `seq` */
	WHY_WINDOW,             /* an entry of the in-order window `index`, which op `seq` gave back */
	WHY_STATION,            /* an entry of the reservation station, which uop `index` of op `seq` gave back */
	WHY_MISS,               /* a miss buffer, in which was the line of load uop `index` of op `seq` */
	WHY_FLUSH,              /* the end of op `seq`, a mispredicted branch, and the penalty */
	WHY_OWN,                /* of an end: uop `index` of the op */
	WHY_PREVIOUS,           /* of retirement: the op before, and the width. Of a store's way out: op `seq` */
	WHY_RETIRED,            /* of a store's way out: its retirement */
};

static inline uint64_t stream_reason(enum stream_why why, unsigned index, unsigned out, unsigned in, uint64_t seq)
{
	return (uint64_t)why << 58 | (uint64_t)(index & 0xff) << 50 | (uint64_t)(out & 0xf) << 46 |
	       (uint64_t)(in & 0xf) << 42 | (seq & ((1ull << 38) - 1));
}
/* Of a start or a store's way out: on top of that the line took so long to come, and the page was found there. */
static inline uint64_t stream_missed(uint64_t reason, unsigned level, unsigned tlb)
{
	return reason | (uint64_t)(level & 3) << 40 | (uint64_t)(tlb & 3) << 38;
}
/* Of a start: on top of that it was put off by a line that it crosses, by an alias. */
static const uint64_t stream_split = UINT64_C(1) << 62, stream_alias = UINT64_C(1) << 63;
static inline enum stream_why stream_why(uint64_t reason) { return (enum stream_why)(reason >> 58 & 0xf); }
static inline unsigned stream_why_index(uint64_t reason) { return reason >> 50 & 0xff; }
static inline unsigned stream_why_out(uint64_t reason) { return reason >> 46 & 0xf; }
static inline unsigned stream_why_in(uint64_t reason) { return reason >> 42 & 0xf; }
static inline unsigned stream_why_level(uint64_t reason) { return reason >> 40 & 3; }
static inline unsigned stream_why_tlb(uint64_t reason) { return reason >> 38 & 3; }
static inline uint64_t stream_why_seq(uint64_t reason) { return reason & ((1ull << 38) - 1); }

/* Of one op all reasons but those of its uops' starts. The times themselves are not noted: differences follow from
 * the costs. */
struct stream_note {
	uint64_t entry;                 /* why not dispatched earlier, before its own turn in the front end */
	uint64_t dispatch;              /* and with it */
	uint64_t since;                 /* where that is WHY_FRONT: the op since whose turn that part is busy */
	uint64_t end;                   /* all its uops are complete */
	uint64_t retire;
	uint64_t drain;                 /* its stores have left */
	uint32_t op;
	uint64_t starts;                /* where its uops' reasons lie in the log's, one behind the other */
	uint16_t fetched;               /* cycles of length decoding */
	uint8_t predicted;              /* of prediction, as in the step */
	uint32_t commits;               /* cycles that its stores took to leave */
	uint8_t fronts;                 /* bit f: it took time of that part of the front end */
	uint32_t splits, pages;         /* bit u: uop u, of the first 32, crossed a line, and a page */
	uint8_t buses[STREAM_COUNTED];  /* how often it used each, and the banks */
};

/* The notes of the last ops, and beside each time of the kernel that may be waited for its reason, at the same place.
 * Made by whoever reads it (causality.c), filled in by the first kernel, lane 0. */
struct gus_stream_log {
	struct stream_note *notes;      /* rings; the sizes are powers of two */
	uint64_t *starts;               /* of their uops */
	uint64_t notes_mask, starts_mask, started; /* started: uops so far */
	uint64_t seq;                   /* ops so far */
	uint64_t dispatch;              /* of the present time of dispatch */
	uint64_t since[STREAM_RESOURCES], front_since[FRONTS];
	uint64_t reg[GUS_PROGRAM_REGS], word[STREAM_WORDS], line[STREAM_LINES], line_l2[STREAM_LINES];
	uint64_t *given[STREAM_WINDOWS]; /* why each entry is given back no earlier */
	uint64_t late[GUS_CORE_STATIONS][STREAM_LATE];
	uint64_t drained;               /* the last op with stores */
	uint64_t random;                /* decides between reasons that are equally late */
	void (*read)(struct gus_stream_log *log, const struct stream *s); /* after each chunk */
	uint64_t stretch, one_in;       /* so many chunks are logged, of that many stretches one */
	uint64_t skipped;               /* ops that were not logged */
	void (*resume)(struct gus_stream_log *log);
	void *context;
};

/* Whether a time is later than another one, or is as late and wins the toss, for which bit n decides. */
static inline bool stream_later(const struct gus_stream_log *log, int32_t a, int32_t b, unsigned n)
{
	return a > b || (a == b && log->random >> (n & 63) & 1);
}

/* A kernel runs some lanes side by side, as many as a vector of the processor has. Its state is its own. */
struct stream_kernel {
	unsigned lanes;
	bool (*supported)(void);
	void *(*open)(const struct stream *s, unsigned first);
	void (*grow)(void *state, const struct stream *s);
	/* The resolver's chunk. With a log, which the first kernel of a run fills, and with the times of lane 0 if
	 * there is room for them. */
	void (*run)(void *state, const struct stream *s, const struct stream_resolver *r, struct gus_stream_log *log,
		    struct gus_stream_times *times);
	void (*now)(const void *state, int64_t *ticks); /* when the last op so far retired, by lane */
	void (*region)(void *state, uint32_t region, int64_t *ticks); /* how long retirement was in it, by lane */
	int64_t (*op)(const void *state, uint32_t op);  /* how long it was at that op, in the first lane */
	void (*close)(void *state);
};
/* The widest first; the last two are always supported, and the last one has a single lane. */
extern const struct stream_kernel gus_stream_kernels[];

#endif
