/* SPDX-License-Identifier: MIT */
/* What the stream engine prepares once and its kernels read: costs in ticks, by lane where lanes differ. */
#ifndef GUS_MODEL_STREAM_PRIVATE_H
#define GUS_MODEL_STREAM_PRIVATE_H

#include "base/alloc.h"
#include "model/frontend.h"
#include "model/stream.h"
#include "model/values.h"

enum stream_front { FRONT_ISSUE, FRONT_DECODE, FRONT_FETCH, FRONT_UOP_CACHE, FRONTS };
enum { STREAM_FETCH_AHEAD = 6, STREAM_WINDOWS = 3, STREAM_SIZES = 4, STREAM_WORDS = 1024, STREAM_USES = 48 };

/* What a uop needs, in the order in which its parts lie in stream->uses. */
struct stream_uop {
	uint32_t use, uses_n;           /* of resources */
};

struct stream_use {
	uint16_t resource;
	uint16_t times;
};

struct stream_op {
	bool front[FRONTS];             /* whether it takes any of that part's time */
	uint8_t window[STREAM_WINDOWS]; /* entries taken: reorder buffer, load buffer, store buffer */
};

/* A window's size in some lanes: bit k of lanes is lane k. */
struct stream_size {
	uint64_t entries;
	uint32_t lanes;
};

struct stream {
	const struct gus_program *p;
	const struct gus_core_config *c;
	const struct gus_stream_options *o;
	size_t lanes;
	struct gus_stream_resources resources;
	size_t resources_n;             /* groups of ports, then exclusive units */
	struct stream_op *ops;
	struct stream_uop *uops;
	struct gus_vec(struct stream_use) uses;
	int32_t (*inverse)[GUS_STREAM_LANES];   /* by resource: ticks of one use */
	int32_t (*flows)[GUS_STREAM_LANES];     /* by flow of the program: latency or lateness */
	int32_t (*latency)[GUS_STREAM_LANES];   /* by uop: until it is complete */
	int32_t (*fronts)[GUS_STREAM_LANES];    /* by op, FRONTS each: ticks of that part of the front end */
	int32_t (*retires)[GUS_STREAM_LANES];   /* by op: ticks of retirement's width */
	struct stream_size sizes[STREAM_WINDOWS][STREAM_SIZES];
	unsigned sizes_n[STREAM_WINDOWS];
	uint64_t ring;                  /* entries of a window's ring, a power of two beyond the largest size */
};

/* Where length decoding is: the same for all lanes, as capacities do not move code. */
struct stream_fetch {
	uint64_t address;               /* of unrolled code: where the next instruction is */
	uint64_t block;                 /* that is being decoded, plus 1; 0: none */
	unsigned count;                 /* instructions found in it in this cycle */
};

/* Cycles of length decoding that an op begins (see predecode in frontend.c, which it follows). */
static inline unsigned gus_stream_fetched(struct stream_fetch *f, const struct gus_program *p, const struct gus_core_config *c,
					  const struct gus_op *op, bool unrolled)
{
	unsigned shift = (unsigned)__builtin_ctz(c->fetch_bytes), cycles = 0;

	for (unsigned i = 0; i < op->insns_n; i++) {
		const struct gus_program_insn *insn = &p->insns[op->insn + i];
		uint64_t at = p->base + (unrolled ? f->address : insn->offset), block = ((at + insn->info.length - 1) >> shift) + 1;

		if (block != f->block) {
			cycles += 1 + (f->count == c->predecode_width && ((at + insn->info.opcode_length - 1) >> shift) + 1 == f->block);
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
	if ((op->flags & GUS_OP_TAKEN) && !unrolled) {
		f->block = 0;
		f->count = 0;
	}
	return cycles;
}

/* What an op takes of each part of the front end, in cycles; of length decoding, what a cycle of it takes. */
void gus_stream_front_costs(const struct gus_core_config *c, enum gus_core_fetch mode,
			    const struct gus_op *op, double costs[FRONTS]);

/* What the causality analysis follows back: for each op that ran, what its dispatch, the start of each of its uops and its
 * retirement waited for on the nominal machine (lane 0). A reason is packed into 64 bits: what it was, up to three small
 * numbers, and the op by its place in the run. */
enum stream_why {
	WHY_BEGINNING,          /* nothing: the beginning of the run */
	WHY_DISPATCH,           /* its own dispatch */
	WHY_RESOURCE,           /* a resource (index), which has been busy since op `seq` was dispatched */
	WHY_VALUE,              /* what uop `index` of op `seq` wrote in its flow `out`, read in the flow `in` */
	WHY_FORWARD,            /* what store uop `index` of op `seq` stored; out: whether it was blocked */
	WHY_FRONT,              /* part `index` of the front end, raised by op `seq` */
	WHY_WINDOW,             /* an entry of window `index`, which the retirement of op `seq` gave back */
	WHY_OWN,                /* of retirement: uop `index` of the op */
	WHY_PREVIOUS,           /* of retirement: that of the op before, and the width */
};

static inline uint64_t stream_reason(enum stream_why why, unsigned index, unsigned out, unsigned in, uint64_t seq)
{
	return (uint64_t)why << 58 | (uint64_t)(index & 0xff) << 50 | (uint64_t)(out & 0xf) << 46 | (uint64_t)(in & 0xf) << 42 |
	       (seq & ((1ull << 42) - 1));
}
static inline enum stream_why stream_why(uint64_t reason) { return (enum stream_why)(reason >> 58); }
static inline unsigned stream_why_index(uint64_t reason) { return reason >> 50 & 0xff; }
static inline unsigned stream_why_out(uint64_t reason) { return reason >> 46 & 0xf; }
static inline unsigned stream_why_in(uint64_t reason) { return reason >> 42 & 0xf; }
static inline uint64_t stream_why_seq(uint64_t reason) { return reason & ((1ull << 42) - 1); }

struct stream_note {
	uint64_t entry;                 /* why it could not be dispatched earlier, before its own turn in the front end */
	uint64_t dispatch;              /* and with it */
	uint64_t since;                 /* where that is WHY_FRONT and its own: the op since whose turn that part has been busy */
	uint64_t retire;
	uint32_t op;
	uint32_t fetched;               /* cycles of length decoding */
};

struct gus_stream_log {
	struct stream_note *notes;      /* rings; the sizes are powers of two */
	uint64_t *starts;               /* of its uops: a row for each op, the longest one wide */
	uint64_t notes_mask, starts_mask, each;
	uint64_t seq;                   /* ops so far */
	uint64_t dispatch;              /* of the present time of dispatch */
	uint64_t since[GUS_STREAM_GROUPS + 32], front_since[FRONTS];
	uint64_t reg[GUS_PROGRAM_REGS], word[STREAM_WORDS];
	uint64_t *given[STREAM_WINDOWS]; /* which op gives each entry back */
	uint64_t random;                /* decides between reasons that are equally late */
	void (*read)(struct gus_stream_log *log, const struct stream *s); /* after some ops, and at the end */
	uint64_t chunk;                 /* that many at most between two calls */
	uint64_t stretch;               /* chunks that are logged; as many are not, and so on */
	uint64_t chunks, skipped;       /* so far, and ops that were not logged */
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
	/* The steps, or if there are none n times the whole program. With a log, which the first kernel of a run fills. */
	void (*run)(void *state, const struct stream *s, const struct gus_core_step *steps, uint64_t n,
		    struct gus_stream_log *log);
	void (*now)(const void *state, int64_t *ticks); /* when the last op so far retired, by lane */
	void (*close)(void *state);
};
/* The widest first; the last two are always supported, and the last one has a single lane. */
extern const struct stream_kernel gus_stream_kernels[];

#endif
