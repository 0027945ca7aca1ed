/* SPDX-License-Identifier: MIT */
/* What retires together where a model runs a trace, and what is waited for in between.
 *
 * Each cycle of a core that retires in order is one of a group of ops that retire in it, or one in which the head of
 * the next group is waited for (TEA: Gottschall, Eeckhout and Jahre, ISCA 2023, section 2). Of a group it is known
 * which ops are in it and which op is the head of the group behind it; so it is known where a sampler would have seen
 * its cycles, whichever sampler that is:
 *
 *	cycle      1      2     3     4      5
 *	retires    a b    -     -     c      d
 *	           group  waits for c        group
 *	PEBS       a      c     c     c      d          the next that retires: the head
 *	interrupt  b      d     d     d      ...        the op behind the head, or the head of the group behind
 *
 * Groups, waits and what led from op to op are counted here, exactly; what is made of them is in prior.h. */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_GROUPS_H
#define GUS_ATTRIBUTION_PROPORTIONAL_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_core_listener;
struct gus_groups;
struct gus_program;

enum { GUS_GROUP_MOST = 16 };   /* ops of a group; of a larger one the first */

/* An instruction, or two that are fused to one op, where the first is. */
struct gus_groups_site {
	uint64_t address;
	uint32_t weight;        /* instructions */
	uint32_t slots;         /* of issue: as many ops, to who samples these */
	uint64_t second;        /* the second of two that are fused; 0: it is one */
	bool branch;
	bool simple;            /* an integer instruction that touches no memory, and is quick: no division */
	bool locks;             /* a locked instruction */
	bool repeats;           /* a string instruction that may be interrupted, and then goes on */
	bool guessed;           /* how long it takes is a guess: the table has no row for it */
	bool doubted;           /* and here the model is not to be believed: gus_groups_doubt */
	uint64_t executed;
	/* Cycles that it was waited for though it had met nothing (psv is 0; or locked ones, which empty the store
	 * queue themselves, a full one): all; of these, where a store could not
	 * forward to it, and where one had an address of the same last 12 bits. */
	uint64_t base, blocked, aliased;
	uint32_t latency;       /* cycles from its operands to its results, at most */
};
/* Of something at a site, so much for each cycle. behind: where a mispredicted branch had led there. second: at the
 * second of two instructions that are one op to the model. In a list each of these is there once. */
struct gus_site_count { uint32_t site; bool behind; double share; bool second; };

/* Ops that retired in one cycle, so many times: sites [first, first + n) of the list of members. behind: what retired
 * before was a branch that was mispredicted and taken. */
struct gus_groups_group { uint32_t first, n, next; bool behind; uint64_t times; };
/* Cycles in which the head was the next to retire and did not; `after`: the op behind it, `next`: the head of the group
 * behind it. They are of `of`: the head itself, or, flushed, the mispredicted branch before it; and psv (enum
 * gus_core_psv) is what that execution met. */
struct gus_groups_wait { uint32_t head, after, next, of; uint16_t psv; bool behind, flushed; uint64_t cycles; };
/* From one op to the next that was executed; behind: as of groups, of `to`. */
struct gus_groups_edge { uint32_t from, to; bool behind; uint64_t times; };
/* Executions that met psv; assured: of them, those of runs that are not only supposed (gus_groups_suppose). */
struct gus_groups_met { uint32_t site; uint16_t psv; uint64_t times, assured; };

struct gus_groups_counts {
	struct gus_vec(struct gus_groups_site) sites;
	struct gus_vec(struct gus_groups_group) groups;
	struct gus_vec(uint32_t) members;
	struct gus_vec(struct gus_groups_wait) waits;
	struct gus_vec(struct gus_groups_edge) edges;
	struct gus_vec(struct gus_groups_met) met;
	uint64_t cycles;        /* of all groups and waits */
};

struct gus_groups *gus_groups_new(void);
void gus_groups_free(struct gus_groups *g);
/* For a run of a program, which is borrowed until gus_groups_leave and may grow. Several may be listened to, one behind
 * the other or at the same time, as threads are, each with a number of its own: they add up. */
const struct gus_core_listener *gus_groups_listen(struct gus_groups *g, uint32_t stream, const struct gus_program *p);
void gus_groups_leave(struct gus_groups *g, uint32_t stream);
/* In order of first sight. The last group of a run, which has no next, is in none of them. */
const struct gus_groups_counts *gus_groups_counts(const struct gus_groups *g);
/* What the run of this number meets hangs on what was before its traces, of which it only supposes something, such as
 * that the caches were cold. */
void gus_groups_suppose(struct gus_groups *g, uint32_t stream);
/* How long what is at a site takes is not as the model has it. */
void gus_groups_doubt(struct gus_groups *g, uint32_t site);
/* The site of an address, or UINT32_MAX. */
uint32_t gus_groups_site(const struct gus_groups *g, uint64_t address);

#endif
