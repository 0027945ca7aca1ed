/* SPDX-License-Identifier: MIT */
/* The steps of one thread on their way to the file: which of them are in a window, repeated string instructions put
 * together again, pieces of an access joined. Knows nothing of who executes. */
#ifndef GUS_TRACING_PLUGIN_STEPS_H
#define GUS_TRACING_PLUGIN_STEPS_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "proto/trace.h"
#include "tracing/plugin/terms.h"

struct gus_origin;
struct gus_origins;
struct gus_translated;
struct gus_windows;

/* Which accesses are believed. QEMU 7.2 goes on telling those of helpers under the name of an instruction that left its
 * block from within, such as a return, until another one takes their place; where that one is outside the ranges, it
 * never does. So branches have at most one access of a kind, and only of a kind that they can have. */
enum gus_believe { GUS_BELIEVE_READ = 1, GUS_BELIEVE_WRITE = 2, GUS_BELIEVE_ALL = 4 };

struct gus_translated_insn {
	struct gus_translated *code;
	uint16_t number;
	uint8_t believe;                /* enum gus_believe; 0: it has no accesses */
};

/* A block as it was translated. Lives until the end, as translated code refers to it. */
struct gus_translated {
	struct gus_trace_block block;
	uint64_t last;                  /* address of its last instruction */
	struct gus_origin *origin;      /* NULL: not known */
	/* in the file; GUS_TRANSLATED_NEW: not there yet. Under the lock of whoever writes */
	uint32_t number;
	/* that is a repeated string instruction, which is executed once for each turn */
	bool repeats;
	struct gus_translated_insn insns[];
};
#define GUS_TRANSLATED_NEW UINT32_MAX

/* What is believed of one instruction: enum gus_believe. */
uint8_t gus_believe_of(enum gus_translated_isa isa, const uint8_t *bytes, uint32_t size);
/* A copy of the block; freed with free(). */
struct gus_translated *gus_translated_new(const struct gus_trace_block *block, enum gus_translated_isa isa);

struct gus_steps {
	uint32_t number;
	atomic_bool busy;               /* its thread is changing it */
	uint64_t seen;                  /* instructions, up to the end of the last window */
	bool over;                      /* its last window is, or its thread; under the lock of whoever writes */
	uint64_t window, from, to;      /* the one that is open, or comes next */
	uint64_t every;
	struct gus_translated *now;           /* what is executed; NULL outside windows */
	const struct gus_translated *previous;
	bool again;                     /* it is another turn of the last instruction of the previous */
	bool plain;                     /* the next block only has to be noted, if there is room: see gus_steps_note */
	uint64_t omitted;               /* accesses */
	struct gus_vec(struct gus_steps_step { struct gus_translated *code; uint32_t accesses_n; }) steps;
	struct gus_vec(struct gus_trace_access) accesses;
	uint64_t at;                    /* of the first step */
	size_t most;                    /* steps till they are written */
	/* Of string instructions, so far, and at most: with that many the window is over, though in the midst of one.
	 * 0: there may be any number */
	uint64_t turns, turns_most;
};

/* Whether no window is to come. */
static inline bool gus_steps_are_over(const struct gus_steps *s)
{
	return !s->every && s->seen >= s->to;
}

void gus_steps_init(struct gus_steps *s, uint32_t number, const struct gus_windows *windows);
void gus_steps_free(struct gus_steps *s);

/* Whether what is there has to be written before code is executed. *last is how it was left. */
bool gus_steps_due(const struct gus_steps *s, const struct gus_translated *code, enum gus_trace_next *last);
void gus_steps_execute(struct gus_steps *s, struct gus_translated *code);
void gus_steps_access(struct gus_steps *s, const struct gus_translated_insn *insn, uint64_t address, uint32_t size,
		      bool store);

/* Takes back the last step from the instruction at that address on, which was not executed. */
void gus_steps_cut(struct gus_steps *s, uint64_t address, enum gus_translated_isa isa);

/* The same, for the many blocks that follow in a window, neither due nor after a repeated instruction: whether it was
 * one. */
static inline bool gus_steps_note(struct gus_steps *s, struct gus_translated *code)
{
	if (!s->plain || s->seen >= s->to || s->steps.n >= s->most ||
	    s->accesses.n > GUS_TRACE_ACCESSES_MAX - GUS_TRACE_STEP_ACCESSES)
		return false;
	s->previous = s->now = code;
	s->plain = !code->repeats;
	s->steps.v[s->steps.n++] = (struct gus_steps_step){ code, 0 };
	s->seen += code->block.insns;
	return true;
}

/* And for the first access of an instruction, where any is believed. */
static inline bool gus_steps_note_access(struct gus_steps *s, const struct gus_translated_insn *insn, uint64_t address,
					 uint32_t size, bool store)
{
	struct gus_steps_step *step;

	if (s->now != insn->code || s->again || !(insn->believe & GUS_BELIEVE_ALL))
		return false;
	step = &s->steps.v[s->steps.n - 1];
	if (step->accesses_n && (s->accesses.v[s->accesses.n - 1].insn == insn->number ||
				 step->accesses_n >= GUS_TRACE_STEP_ACCESSES))
		return false;
	s->accesses.v[s->accesses.n++] = (struct gus_trace_access){ address, size, insn->number, store };
	step->accesses_n++;
	return true;
}

/* Writes the steps, after what is new of their code and its origins, and forgets them. -1 with err. */
int gus_steps_write(struct gus_steps *s, struct gus_trace_writer *w, struct gus_origins *origins,
		    enum gus_trace_next last, struct gus_error *err);

#endif
