/* SPDX-License-Identifier: MIT */
/* Bodies of loops out of copies of one instruction: chained from one of its results to one of its operands, or one
 * beside the other, or among copies of another.
 *
 * Values matter where time depends on them. General registers hold 3 (a shift's count), indexes 0, vectors doubles or
 * floats of some size, memory the same. Divisions divide by 1, or nearly, so that what they divide stays the same;
 * whether it is small or has many digits is the body's choice. */
#ifndef GUS_MODEL_CALIBRATION_BODY_H
#define GUS_MODEL_CALIBRATION_BODY_H

#include "model/calibration/links.h"
#include "model/calibration/micro.h"
#include "model/calibration/pool.h"
#include "model/calibration/subject.h"

/* What divisions and square roots work on: what suits them best, or what has all digits. */
enum gus_digits { GUS_DIGITS_FEW, GUS_DIGITS_MANY, GUS_DIGITS };
/* Whether that makes a difference on some CPUs. */
bool gus_body_has_digits(const struct gus_subject *s);

struct gus_link_style gus_body_style(const struct gus_subject *s);

struct gus_chain {
	int from, to;                   /* ends of the subject: what is read and what is written */
	enum gus_digits digits;
	/* Out. */
	uint8_t links[GUS_LINKS];       /* how often each is passed, a copy */
	unsigned copies;                /* of the instruction, a pass */
};

/* A loop whose time is the latency from one end to the other. NULL: there is no way to close it. */
struct gus_micro *gus_body_chain(const struct gus_subject *s, const struct gus_pool *pool, struct gus_chain *c);

/* To a carrier (vectors, masks, flags) from a general register, and back. NULL: this ISA has no such. copies: out. */
struct gus_micro *gus_body_round_trip(const struct gus_link_style *style, const struct gus_pool *pool,
				      enum gus_carrier carrier, unsigned *copies);

enum { GUS_STREAM_PARTS = 2 };

struct gus_stream {
	const struct gus_subject *subject[GUS_STREAM_PARTS]; /* the second may be NULL */
	unsigned copies[GUS_STREAM_PARTS]; /* of each, a pass; they are dealt out evenly */
	enum gus_digits digits;
	bool uncut;                     /* dependences through registers that are implied are left */
	/* Out: such dependences, of the first: how many constants and compares cut each copy's. */
	unsigned constants, tests;
};

/* A loop of copies that depend on nothing. NULL: registers do not suffice. */
struct gus_micro *gus_body_stream(const struct gus_pool *pool, struct gus_stream *s);

#endif
