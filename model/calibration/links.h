/* SPDX-License-Identifier: MIT */
/* Instructions that close a chain: from the carrier of a result to that of an operand. */
#ifndef GUS_MODEL_CALIBRATION_LINKS_H
#define GUS_MODEL_CALIBRATION_LINKS_H

#include <stdbool.h>

#include "symbolizer/insn/insn.h"

struct gus_micro;

/* What carries a value. Numbers of files are those of enum gus_insn_file. */
enum gus_carrier {
	GUS_CARRIER_NONE, GUS_CARRIER_GENERAL, GUS_CARRIER_VECTOR, GUS_CARRIER_MASK,
	GUS_CARRIER_FLAGS,
	GUS_CARRIER_ADDRESS, /* a general register that an address is made of */
	GUS_CARRIERS
};

enum gus_link {
	GUS_LINK_TO_VECTOR, GUS_LINK_FROM_VECTOR,       /* general to vector register and back */
	GUS_LINK_TO_MASK, GUS_LINK_FROM_MASK,
	GUS_LINK_TO_FLAGS, GUS_LINK_FROM_FLAGS,         /* compares with itself; moves if they are set */
	GUS_LINK_ADD,           /* general to general: one cycle */
	GUS_LINK_ZERO,          /* makes a general register 0, and waits for it all the same: one cycle */
	GUS_LINK_DIGITS,        /* gives a vector its digits back: one cycle */
	GUS_LINKS,
	GUS_LINK_NONE = GUS_LINKS
};

/* What an instruction goes by, as CPUs mind if encodings of vectors are mixed. */
struct gus_link_style {
	enum gus_isa isa;
	bool vex;
	uint16_t vector_bits;
	uint8_t flag;           /* register number of the flags that are passed */
};

/* The link that a way from one carrier to another begins with, and which carrier it leads to. NONE: there is no
 * way. */
enum gus_link gus_link_towards(enum gus_carrier from, enum gus_carrier to, enum gus_carrier *next);
/* Writes it, from register to register; constant: a register of the result's file that the way does not lead through.
 * False if this ISA has none. */
bool gus_link_emit(struct gus_micro *k, const struct gus_link_style *style, enum gus_link link, unsigned to,
		   unsigned from, unsigned constant);
/* Its form, by which tables know it; false if this ISA has none. */
bool gus_link_form(const struct gus_link_style *style, enum gus_link link, char form[GUS_INSN_FORM_MAX]);

#endif
