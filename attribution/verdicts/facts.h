/* SPDX-License-Identifier: MIT */
/* A region as detectors of pathologies see it: its instructions with how often they were executed and what causality
 * charges to them, its accesses, the circles that results go round in, and what each cost is made of. Gathered once.
 * Inside of attribution/verdicts. */
#ifndef GUS_ATTRIBUTION_VERDICTS_FACTS_H
#define GUS_ATTRIBUTION_VERDICTS_FACTS_H

#include "attribution/traced/traced.h"
#include "attribution/verdicts/heard.h"
#include "attribution/verdicts/nodes.h"
#include "attribution/verdicts/pathology.h"
#include "model/code/program.h"
#include "symbolizer/insn/insn.h"

/* An instruction of a block; the emulator may have had it in several. */
struct gus_pathology_insn {
	const struct gus_traced_block *block;
	const struct gus_insn_info *info;
	uint32_t op, number;            /* number: in the program */
	uint64_t address;
	double executed, charged;       /* charged: cycles */
	bool first;                     /* of its op: which has the uops */
	char text[96];
};

/* An access of an instruction. */
struct gus_pathology_access {
	const struct gus_pathology_insn *insn;
	uint32_t number;                /* in the program */
	const struct gus_program_memory *memory;
	const struct gus_traced_memory *met;
	const struct gus_heard_access *heard; /* NULL: nothing */
	double missed[GUS_HITS];        /* accesses beyond L1, by where they hit */
};

/* Results that go round. */
enum { GUS_PATHOLOGY_TURN = 24 };
struct gus_pathology_circle {
	uint32_t ops[GUS_PATHOLOGY_TURN];
	uint8_t regs[GUS_PATHOLOGY_TURN];       /* by which ops[i] waits for ops[i + 1] */
	size_t n;
	bool memory, load;              /* a store feeds a load; a load is on it */
	double cycles;                  /* of a turn */
	double share;                   /* of the region's time while it is turned */
};

/* Which of insns has an op. */
struct gus_pathology_op { uint32_t op, insn; };

struct gus_pathology_facts {
	const struct gus_pathology_given *g;
	const struct gus_traced *t;
	const struct gus_traced_region *r;
	const struct gus_traced_function *function;
	const struct gus_core_config *core;
	const struct gus_cache_config *caches;
	struct gus_vec(struct gus_pathology_insn) insns;        /* by address */
	struct gus_vec(struct gus_pathology_op) ops;            /* by op */
	struct gus_vec(uint64_t) heads;                         /* addresses of a loop's heads, in order */
	struct gus_vec(struct gus_pathology_access) accesses;
	struct gus_vec(struct gus_pathology_circle) circles;
	double executed;                /* instructions */
	double charged;                 /* cycles, of all instructions */
	double cycles;
	double iterations, per_iteration; /* of its most executed block, and cycles of one */
	double entered;                 /* of a loop: from outside; 0: not known */
	double missed[GUS_HITS];        /* of all accesses */
};
void gus_pathology_facts_make(struct gus_pathology_facts *f, const struct gus_pathology_given *g);
void gus_pathology_facts_free(struct gus_pathology_facts *f);

/* Whether a branch of the region's blocks goes to its loop's head. */
bool gus_pathology_goes_back(const struct gus_pathology_facts *f, const struct gus_traced_block *b);
/* The instruction that has an op; NULL: none in the region. */
const struct gus_pathology_insn *gus_pathology_insn_of(const struct gus_pathology_facts *f, uint32_t op);
/* A circle that takes a smaller part of the time than this is not what the time waits for. */
static const double GUS_PATHOLOGY_BINDS = 0.7;
/* All steps but moves are the same associative operation: *one of them, and how many there are in a turn. */
bool gus_pathology_is_reduction(const struct gus_pathology_facts *f, const struct gus_pathology_circle *c,
				const struct gus_pathology_insn **one, unsigned *combining);
/* Whether it adds a constant to itself, as counters and pointers do. */
bool gus_pathology_counts(const struct gus_pathology_insn *i);
/* Whether it computes one element of floating point, bytes of it; false: several, or none. */
bool gus_pathology_scalar(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i, unsigned *bytes);

/* Costs: the part of the time that goes away, of which speedups are made, and its 95 % interval. */
struct gus_pathology_cost { double part, low, high; };
/* share: of what the node gains. */
struct gus_pathology_cost gus_pathology_of_node(const struct gus_pathology_facts *f, enum gus_node node, double share);
struct gus_pathology_cost gus_pathology_of_set(const struct gus_pathology_facts *f, enum gus_pathology_set set,
					       double share);
/* Of cycles that are charged. */
struct gus_pathology_cost gus_pathology_of_charged(const struct gus_pathology_facts *f, double charged);
struct gus_pathology_cost gus_pathology_dearer(struct gus_pathology_cost a, struct gus_pathology_cost b);

/* Adds a finding. insn: NULL: of all of the region. */
__attribute__((format(printf, 6, 7)))
void gus_pathology_add(const struct gus_pathology_facts *f, struct gus_pathologies *out, enum gus_pathology kind,
		       const struct gus_pathology_insn *insn, struct gus_pathology_cost cost, const char *advice, ...);

/* Detectors, by subject. */
void gus_pathology_detect_chains(const struct gus_pathology_facts *f, struct gus_pathologies *out);
void gus_pathology_detect_execution(const struct gus_pathology_facts *f, struct gus_pathologies *out);
void gus_pathology_detect_control(const struct gus_pathology_facts *f, struct gus_pathologies *out);
void gus_pathology_detect_vectors(const struct gus_pathology_facts *f, struct gus_pathologies *out);
void gus_pathology_detect_memory(const struct gus_pathology_facts *f, struct gus_pathologies *out);
void gus_pathology_detect_places(const struct gus_pathology_facts *f, struct gus_pathologies *out);
void gus_pathology_detect_threads(const struct gus_pathology_facts *f, struct gus_pathologies *out);

#endif
