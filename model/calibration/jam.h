/* SPDX-License-Identifier: MIT */
/* Jams: a chain of long operations that goes from pass to pass, and behind it instructions that do not need it but
 * can't retire before it is through. They wait with an entry each of some buffer, and as long as all of them have
 * one, the first operation of the next pass is in time. With one too many it is not (Palomares, "Combining static
 * and dynamic approaches to model loop performance in HPC", 2015, appendix A). */
#ifndef GUS_MODEL_CALIBRATION_JAM_H
#define GUS_MODEL_CALIBRATION_JAM_H

#include "symbolizer/insn/insn.h"

struct gus_micro;

/* What is behind the jam, and of which buffer it takes entries. */
enum gus_jam {
	GUS_JAM_NOP,            /* reorder buffer; two of them may be one entry */
	GUS_JAM_MIXED,          /* the same, of each other kind little */
	GUS_JAM_MOVE,           /* the same where moves are eliminated */
	GUS_JAM_TEST,           /* registers for flags, where there are any */
	GUS_JAM_ADD,            /* integer registers */
	GUS_JAM_XOR,            /* vector registers */
	GUS_JAM_BOTH,           /* both by turns: what both files have together */
	GUS_JAM_LOAD,           /* load buffer; behind a load that waits for the jam, as others may be let go early */
	GUS_JAM_STORE,          /* store buffer */
	GUS_JAM_BRANCH,         /* branches in flight; never taken */
	GUS_JAM_WAITING_ADD,    /* schedulers: these wait for the jam */
	GUS_JAM_WAITING_MULTIPLY,       /* of one port */
	GUS_JAM_WAITING_VECTOR,
	GUS_JAM_WAITING_BOTH,   /* of integers and vectors by turns */
	GUS_JAM_WAITING_LOAD,
	GUS_JAMS
};
const char *gus_jam_name(enum gus_jam kind);

enum gus_jam_chain {
	GUS_JAM_OF_VECTORS,     /* additions */
	GUS_JAM_OF_INTEGERS,    /* multiplications */
	GUS_JAM_CHAINS
};
/* The one that is not in the way of what is behind it, as they need other ports. */
enum gus_jam_chain gus_jam_chain_for(enum gus_jam kind);
/* A jam of so many links and two square roots, and n behind it; links 0: no jam, the n alone. */
struct gus_micro *gus_jam_new(enum gus_isa isa, enum gus_jam kind, enum gus_jam_chain chain, unsigned links,
			      unsigned n);

#endif
