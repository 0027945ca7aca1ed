/* SPDX-License-Identifier: MIT */
/* An instruction that is to be timed: what it reads and writes, each by itself, so that chains can be made from any
 * result to any operand; and whether it may be timed at all. */
#ifndef GUS_MODEL_CALIBRATION_SUBJECT_H
#define GUS_MODEL_CALIBRATION_SUBJECT_H

#include <stdbool.h>

#include "symbolizer/insn/renaming.h"

struct gus_calibration_host;
struct gus_pool;

/* A register that an instruction reads or writes. */
struct gus_subject_end {
	int operand;            /* the operand that chooses it; -1: it is implied */
	uint8_t reg;            /* of an implied one, and of flags */
	uint8_t carrier;        /* enum gus_carrier */
	bool read, write;
	bool base;              /* of an address: its base, else its index */
	uint16_t bits;
};

enum { GUS_SUBJECT_ENDS = 16 };

struct gus_subject {
	enum gus_isa isa;
	/* With operands in registers that are apart from each other and from what is implied, if its form lets it. */
	uint8_t bytes[GUS_INSN_BYTES];
	uint32_t size;
	bool tied;              /* operands that were one register have to be: that is what its form is about */
	struct gus_insn_info info;
	char form[GUS_INSN_FORM_MAX];
	struct gus_insn_operand operand[GUS_INSN_OPERANDS];
	unsigned operands;
	uint8_t like[GUS_INSN_OPERANDS]; /* the first operand that was the same register */
	struct gus_subject_end end[GUS_SUBJECT_ENDS];
	unsigned ends;
	double weight;
	const char *refused;    /* why it is not timed; NULL: it can be */
};

void gus_subject_of(struct gus_subject *s, const struct gus_calibration_host *host, const struct gus_pool *pool,
		    const uint8_t *bytes, uint32_t size);
/* Whether memory is read, or written. */
bool gus_subject_loads(const struct gus_subject *s);
bool gus_subject_stores(const struct gus_subject *s);

#endif
