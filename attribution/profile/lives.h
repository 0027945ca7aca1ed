/* SPDX-License-Identifier: MIT */
/* What threads do with their time: on a CPU, off it because they wait for something, off it though they could run, or
 * nobody knows. Told are births, ends and switches, in the order of time; of each thread the four add up to its life,
 * to the nanosecond (asserted). */
#ifndef GUS_ATTRIBUTION_PROFILE_LIVES_H
#define GUS_ATTRIBUTION_PROFILE_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* In ns, of the part of the time that is looked at. */
struct gus_life {
	uint64_t wall;              /* from its birth, or the recording's beginning, to its end */
	uint64_t on;                /* on a CPU */
	uint64_t blocked;           /* it waited for something, or for its turn after that had come */
	uint64_t waiting;           /* it could have run: another was put in its place, or it was new */
	uint64_t unknown;           /* records of it are missing */
	uint64_t switches;          /* times that it left its CPU; */
	uint64_t preempted;         /* of these: it could have gone on */
	bool told;                  /* something is told of it, but that it lives */
};

static inline uint64_t gus_life_off(const struct gus_life *life)
{
	return life->blocked + life->waiting;
}

enum gus_absence_kind {
	GUS_ABSENCE_BLOCKED,        /* it left its CPU by itself */
	GUS_ABSENCE_PREEMPTED,      /* another was put in its place */
	GUS_ABSENCE_BORN,           /* it was new, and had no turn yet */
	GUS_ABSENCE_BEFORE,         /* it was off its CPU when recording began */
};

/* A time off the CPU. */
struct gus_absence {
	enum gus_absence_kind kind;
	uint32_t thread;
	uint32_t mark;              /* that was given when it left; GUS_INDEX_NONE: none was */
	uint64_t stands_for;        /* likewise: of so many switches one has a mark */
	uint64_t ns;                /* of what is looked at; may be 0 */
};

/* A thread's state since a moment; of lives.c alone. */
struct gus_life_state;
struct gus_life_note;

struct gus_lives {
	struct gus_vec(struct gus_life) list;        /* by number of the thread */
	/* Is told each time off a CPU when it ends; but not that of threads which never ran, which nobody has seen. */
	void (*absent)(void *context, const struct gus_absence *absence);
	void *context;
	uint64_t from, until;                        /* what is looked at; before the one nothing was recorded, */
	uint64_t watched;                            /* which is this */
	struct gus_vec(struct gus_life_state) states;
	struct gus_vec(struct gus_life_note) notes;  /* by time */
	size_t noted;                                /* of the notes: those that are done */
	struct gus_vec(uint32_t) processes;          /* of each one of its threads that live */
};

void gus_lives_init(struct gus_lives *l, void (*absent)(void *context, const struct gus_absence *absence),
		    void *context);
void gus_lives_free(struct gus_lives *l);

/* First, in any order: what the side band tells. Threads are numbered from 0 on by who calls. */
void gus_lives_note_alive(struct gus_lives *l, uint32_t thread, uint64_t time); /* it is called something */
void gus_lives_note_birth(struct gus_lives *l, uint32_t thread, uint64_t time);
/* A program is executed: of the process the other threads end. */
void gus_lives_note_exec(struct gus_lives *l, uint32_t thread, uint64_t time);
void gus_lives_note_end(struct gus_lives *l, uint32_t thread, uint64_t time);
/* Which process a thread is of; these are numbered from 0 on, too. */
void gus_lives_of_process(struct gus_lives *l, uint32_t thread, uint32_t process);

/* Then: what is looked at, and from when on switches were recorded. */
void gus_lives_begin(struct gus_lives *l, uint64_t watched, uint64_t from, uint64_t until);
/* Then, in the order of time: it is about to leave its CPU, at a place that mark means, for so many switches; */
void gus_lives_leave(struct gus_lives *l, uint32_t thread, uint64_t time, uint32_t mark, uint64_t stands_for);
/* it left, or came; */
void gus_lives_switch(struct gus_lives *l, uint32_t thread, uint64_t time, bool out, bool preempted);
/* it was seen on a CPU. */
void gus_lives_seen(struct gus_lives *l, uint32_t thread, uint64_t time);
/* At last: nothing was recorded from then on. */
void gus_lives_finish(struct gus_lives *l, uint64_t time);

#endif
