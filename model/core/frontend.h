/* SPDX-License-Identifier: MIT */
/* The front end of the core engine: from the instruction source to the queue that issue takes ops from. Length
 * decoding in aligned blocks, decoders, microcode, the uop cache by windows of code, and the loop buffer. */
#ifndef GUS_MODEL_CORE_FRONTEND_H
#define GUS_MODEL_CORE_FRONTEND_H

#include <stddef.h>

#include "model/code/uop_lines.h"
#include "model/machine/options.h"
#include "model/machine/steps.h"

struct gus_core_config;
struct gus_fed;
struct gus_program;

/* An op on its way to issue. */
struct gus_fetched {
	uint64_t iteration;
	uint32_t op;
	uint16_t told;          /* where it is kept what the source said of its accesses */
	uint16_t fused;         /* uops of it in the queue */
	uint16_t fetch;         /* cycles that its code takes to come to the decoders */
	bool taken, last, addressed, mispredicted, overridden;
	bool late, late_page;   /* its code was not in L1; its page not in the TLB for instructions */
	bool cached;            /* the uop cache has it: meaningful in a run that is fed */
};

enum { GUS_FRONT_QUEUE = 256, GUS_FRONT_INSNS = 64, GUS_FRONT_STEPS = 2048, GUS_FRONT_ACCESSES = 4 };

/* Where accesses lie that are fed without an address: user space ends below, and the kernel's begins above. */
#define GUS_FRONT_ELSEWHERE (UINT64_C(1) << 62)

static inline bool gus_front_is_elsewhere(uint64_t address)
{
	return address >> 62 == GUS_FRONT_ELSEWHERE >> 62;
}

/* What a source says of an op beside. */
struct gus_front_told {
	uint64_t address[GUS_FRONT_ACCESSES];
	/* Of what is fed alone. */
	uint32_t bytes[GUS_FRONT_ACCESSES];     /* 0: as the instruction says */
	uint8_t level[GUS_FRONT_ACCESSES], tlb[GUS_FRONT_ACCESSES];
	bool prefetched[GUS_FRONT_ACCESSES];
	struct gus_op_beside beside[GUS_FRONT_ACCESSES];
	uint32_t region;
};

/* What length decoding asks of an instruction. */
struct gus_front_insn {
	uint64_t offset;        /* of its first byte */
	uint8_t length, opcode_length;
	bool lcp;
};

struct gus_frontend {
	const struct gus_program *p;
	const struct gus_core_config *c;
	const struct gus_core_source *source;
	enum gus_core_fetch mode;
	bool unrolled, ended;
	unsigned fetch_shift;           /* bytes of a block of the decoders, as a power of two */
	uint64_t iterations;            /* to fetch; 0: without end */

	/* The source. */
	struct gus_fetched ahead;       /* the next op that was not yet taken */
	bool have_ahead;
	struct gus_fetched *ops;        /* of the program itself, but for their iterations */
	uint32_t next_op;
	uint64_t next_iteration;
	uint16_t next_told;
	struct gus_front_told *told;    /* of the last GUS_FRONT_STEPS ops, if there is a source, or it is fed */
	struct gus_fed *fed;            /* what the source is then; NULL: it is not fed */
	struct gus_fetched *again;      /* what is fetched once more, before what is fed; NULL: nothing was */
	unsigned again_first, again_n;
	uint64_t elsewhere;             /* accesses that were fed without an address */

	/* Length decoding: instruction `insn` of op `ahead` comes next, in the block of that number. */
	struct gus_front_insn *insns;   /* those of the program */
	uint32_t insns_n;
	unsigned insn;
	uint64_t block;
	unsigned stalled;               /* cycles until it goes on */
	unsigned worked;                /* cycles that it has worked on the block */
	unsigned head_start;            /* cycles that prefixes in it are seen sooner: the block before took longer */
	struct gus_fetched found[GUS_FRONT_INSNS]; /* one for each instruction: the op that it is of */
	unsigned found_first, found_n;

	/* Decoders. */
	unsigned microcode;             /* fused uops that the sequencer still has to deliver */
	unsigned switching;             /* cycles until it, or the decoders after it, deliver */

	/* The uop cache. */
	bool *kept;                     /* of MIXED, if it is not fed: which ops it has */
	bool from_cache, returning;     /* it delivers; the decoders finish, and then it will */
	struct gus_uop_lines lines;         /* as far as it has delivered them */
	unsigned predicted;             /* taken branches of the predictor's present cycle */
	int prediction;                 /* cycles that the predictor is behind; below 0: ahead */

	/* Behind a mispredicted branch, in a run that is fed: until this cycle it fetches what is not executed. */
	uint64_t wrong_until;
	uint64_t now;                   /* cycle */

	/* The queue. */
	struct gus_fetched queue[GUS_FRONT_QUEUE];
	unsigned queue_first, queue_n, queue_uops;
	unsigned unroll;                /* the loop buffer repeats so many iterations as one; 0: ends do not matter */
	unsigned unrolled_n;            /* of them, so many are issued */
};

/* fed: see model/core/fed.h; NULL: it runs by itself. */
void gus_frontend_begin(struct gus_frontend *f, const struct gus_program *p, const struct gus_core_config *c,
			const struct gus_core_options *o, struct gus_fed *fed);
void gus_frontend_end(struct gus_frontend *f);
/* The program has grown. */
void gus_frontend_grow(struct gus_frontend *f);
/* Which way the code of a program would come. */
enum gus_core_fetch gus_frontend_mode(const struct gus_program *p, const struct gus_core_config *c,
				      const struct gus_core_options *o);
/* So many iterations the loop buffer issues as one, after which there is a boundary; 0: there are none. */
unsigned gus_frontend_unroll(const struct gus_program *p, const struct gus_core_config *c);
/* One cycle's work. */
void gus_frontend_cycle(struct gus_frontend *f);
/* The branch that went wrong is executed: the right path is fetched from that cycle on. */
static inline void gus_frontend_redirect(struct gus_frontend *f, uint64_t cycle)
{
	f->wrong_until = cycle;
}
/* All that is here, behind the op that issue has taken last, is thrown away and fetched again, from when
 * gus_frontend_redirect says on. In a run that is fed. */
void gus_frontend_again(struct gus_frontend *f);
/* Fetches the next op of the source, if there is one, into `ahead`, which is empty. */
bool gus_frontend_fetch(struct gus_frontend *f);

/* Whether there is an op ahead. */
static inline bool gus_frontend_has_ahead(struct gus_frontend *f)
{
	return f->have_ahead || gus_frontend_fetch(f);
}

/* The next op for issue, or NULL. It stays until it is taken. */
static inline const struct gus_fetched *gus_frontend_peek(struct gus_frontend *f)
{
	if (f->mode == GUS_CORE_FETCH_IDEAL || f->mode == GUS_CORE_FETCH_LOOP)
		return gus_frontend_has_ahead(f) ? &f->ahead : NULL;
	return f->queue_n ? &f->queue[f->queue_first] : NULL;
}

static inline void gus_frontend_take(struct gus_frontend *f)
{
	if (f->mode == GUS_CORE_FETCH_IDEAL || f->mode == GUS_CORE_FETCH_LOOP) {
		f->have_ahead = false;
		return;
	}
	f->queue_uops -= f->queue[f->queue_first].fused;
	f->queue_first = (f->queue_first + 1) % GUS_FRONT_QUEUE;
	f->queue_n--;
}

/* Whether issue must stop after the op that was just taken: the end of what the loop buffer holds. */
static inline bool gus_frontend_boundary(struct gus_frontend *f, bool last)
{
	if (!last || f->mode != GUS_CORE_FETCH_LOOP || !f->unroll || ++f->unrolled_n < f->unroll)
		return false;
	f->unrolled_n = 0;
	return true;
}

/* Mixes a value into the sum of a state. */
static inline uint64_t gus_mix(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
	return sum ^ sum >> 29;
}
/* Mixes the state that matters for what comes into a sum. */
uint64_t gus_frontend_state(const struct gus_frontend *f, uint64_t sum);

#endif
