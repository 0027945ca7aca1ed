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

/* A kernel runs some lanes side by side, as many as a vector of the processor has. Its state is its own. */
struct stream_kernel {
	unsigned lanes;
	bool (*supported)(void);
	void *(*open)(const struct stream *s, unsigned first);
	/* The steps, or if there are none n times the whole program. */
	void (*run)(void *state, const struct stream *s, const struct gus_core_step *steps, uint64_t n);
	void (*now)(const void *state, int64_t *ticks); /* when the last op so far retired, by lane */
	void (*close)(void *state);
};
/* The widest first; the last two are always supported, and the last one has a single lane. */
extern const struct stream_kernel gus_stream_kernels[];

#endif
