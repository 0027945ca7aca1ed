/* SPDX-License-Identifier: MIT */
#ifndef GUS_TESTS_UNIT_REG_NAME_H
#define GUS_TESTS_UNIT_REG_NAME_H

#include "symbolizer/insn/insn.h"

/* The name of a whole register ("rax", "zmm3", "szap"); NULL if there is none. */
const char *reg_name(enum gus_isa isa, unsigned reg);

#endif
