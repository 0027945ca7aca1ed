/* SPDX-License-Identifier: MIT */
/* How long what is stored takes to leave for L1: a rule of both engines. */
#ifndef GUS_MODEL_CODE_LEAVING_H
#define GUS_MODEL_CODE_LEAVING_H

#include "model/code/program.h"
#include "model/machine/config.h"

/* Cycles in which what a repeated string instruction writes leaves, of which l1d_store_width bytes are written at once,
 * whatever a turn of it is said to write (Intel, Optimization Reference Manual, "Enhanced REP MOVSB and STOSB"; timed
 * on Zen 4: 1 to 16 KiB take a cycle for 32 bytes, by bytes and by words of 8). 0: it is none. */
static inline unsigned gus_leaving_string(const struct gus_core_config *c, const struct gus_program *p,
					  const struct gus_op *op, uint32_t bytes)
{
	if (!(p->insns[op->insn].info.flags & GUS_INSN_REP) || !c->l1d_store_width)
		return 0;
	return bytes / c->l1d_store_width + (bytes % c->l1d_store_width != 0);
}

#endif
