/* SPDX-License-Identifier: MIT */
/* A thread is in one state at a time, since a moment, and whatever is told of it ends that state and begins another:
 * the time between goes to the one figure that the state and the news stand for together. So the figures are a
 * partition of its life, whatever is told and in whatever order, and what contradicts itself (a thread that comes twice
 * without leaving) is time of which nobody knows.
 *
 *   NONE    it does not live, or nobody has heard of it
 *   UNSEEN  it lives, and has neither left nor come: a switch in says that it was off all the time, a switch out that
 *           it was on, and so does a sample
 *   ON, OFF since its last switch
 *   ENDED   what still comes of it, such as its last switch out, is of no interest
 *
 * Of whom nothing was told before its first switch, the life begins with that. */
#include "attribution/profile/lives.h"

#include <assert.h>
#include <stdlib.h>

#include "base/index.h"

enum state { NONE, UNSEEN, ON, OFF, ENDED };
enum note_kind { BIRTH, ALIVE, EXEC, END };

struct gus_life_state {
	enum state state;
	enum gus_absence_kind why;  /* OFF */
	bool seen;                  /* UNSEEN: on a CPU */
	bool listed;                /* among its process's threads, of which */
	uint32_t process, next;     /* this is the next one */
	uint32_t mark;              /* of the place where it left, or is about to */
	uint64_t stands_for;        /* the mark does */
	uint64_t since;
};

struct gus_life_note {
	uint64_t time;
	enum note_kind kind;
	uint32_t thread;
	size_t number;              /* in the order of the file */
};

void gus_lives_init(struct gus_lives *l, void (*absent)(void *context, const struct gus_absence *absence),
		    void *context)
{
	*l = (struct gus_lives){ .absent = absent, .context = context, .until = UINT64_MAX };
}

void gus_lives_free(struct gus_lives *l)
{
	gus_vec_free(&l->list);
	gus_vec_free(&l->states);
	gus_vec_free(&l->notes);
	gus_vec_free(&l->processes);
}

static struct gus_life_state *state_of(struct gus_lives *l, uint32_t thread)
{
	while (l->states.n <= thread) {
		gus_vec_push(&l->states, (struct gus_life_state){ .mark = GUS_INDEX_NONE, .process = GUS_INDEX_NONE,
								 .next = GUS_INDEX_NONE });
		gus_vec_push(&l->list, (struct gus_life){ 0 });
	}
	return &l->states.v[thread];
}

/* What of the time since the state began is looked at. */
static uint64_t part(const struct gus_lives *l, const struct gus_life_state *s, uint64_t time)
{
	uint64_t begin = s->since > l->from ? s->since : l->from, end = time < l->until ? time : l->until;

	return end > begin ? end - begin : 0;
}

static void list(struct gus_lives *l, uint32_t thread)
{
	struct gus_life_state *s = &l->states.v[thread];

	if (s->listed || s->process == GUS_INDEX_NONE)
		return;
	while (l->processes.n <= s->process)
		gus_vec_push(&l->processes, GUS_INDEX_NONE);
	s->listed = true;
	s->next = l->processes.v[s->process];
	l->processes.v[s->process] = thread;
}

/* What was before the recording is no part of the life, and time that ran backwards is not had twice. */
static void enter(struct gus_lives *l, uint32_t thread, enum state state, uint64_t time)
{
	struct gus_life_state *s = &l->states.v[thread];

	list(l, thread);
	s->state = state;
	s->since = time > s->since ? time : s->since;
	s->since = s->since > l->watched ? s->since : l->watched;
	s->seen = false;
}

static void pass_on(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	struct gus_life *life = &l->list.v[thread];
	uint64_t ns = part(l, &l->states.v[thread], time);

	life->on += ns;
	life->wall += ns;
	life->told = true;
}

static void pass_unknown(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	struct gus_life *life = &l->list.v[thread];
	uint64_t ns = part(l, &l->states.v[thread], time);

	life->unknown += ns;
	life->wall += ns;
	life->told = true;
}

static void pass_off(struct gus_lives *l, uint32_t thread, uint64_t time, enum gus_absence_kind kind, uint32_t mark)
{
	const struct gus_absence absence = { kind, thread, mark, l->states.v[thread].stands_for,
					     part(l, &l->states.v[thread], time) };
	struct gus_life *life = &l->list.v[thread];
	bool could_run = kind == GUS_ABSENCE_PREEMPTED || kind == GUS_ABSENCE_BORN;

	*(could_run ? &life->waiting : &life->blocked) += absence.ns;
	life->wall += absence.ns;
	life->told = true;
	l->absent(l->context, &absence);
}

/* Ends the life in whatever state it is. Only who is on a CPU can end: who is not has come without our being told. */
static void end_life(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	struct gus_life_state *s = &l->states.v[thread];

	if (s->state == ON || s->state == UNSEEN)
		pass_on(l, thread, time);
	else if (s->state == OFF)
		pass_unknown(l, thread, time);
	if (s->state != NONE)
		s->state = ENDED;
	s->mark = GUS_INDEX_NONE;
}

/* Notes. */

static void note(struct gus_lives *l, enum note_kind kind, uint32_t thread, uint64_t time)
{
	state_of(l, thread);
	gus_vec_push(&l->notes, (struct gus_life_note){ time, kind, thread, l->notes.n });
}

void gus_lives_note_alive(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	note(l, ALIVE, thread, time);
}

void gus_lives_note_birth(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	note(l, BIRTH, thread, time);
}

void gus_lives_note_exec(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	note(l, EXEC, thread, time);
}

void gus_lives_note_end(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	note(l, END, thread, time);
}

void gus_lives_of_process(struct gus_lives *l, uint32_t thread, uint32_t process)
{
	state_of(l, thread)->process = process;
}

static int by_time(const void *a, const void *b)
{
	const struct gus_life_note *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void gus_lives_begin(struct gus_lives *l, uint64_t watched, uint64_t from, uint64_t until)
{
	if (l->notes.n)
		qsort(l->notes.v, l->notes.n, sizeof(*l->notes.v), by_time);
	l->watched = watched;
	l->from = from;
	l->until = until;
}

static void take_birth(struct gus_lives *l, const struct gus_life_note *n)
{
	struct gus_life_state *s = &l->states.v[n->thread];

	end_life(l, n->thread, n->time); /* the number is another thread's now */
	enter(l, n->thread, OFF, n->time);
	s->why = GUS_ABSENCE_BORN;
	s->mark = GUS_INDEX_NONE;
}

/* All threads of a process end when one executes a program, which then goes on under the number of the first. The list
 * of them begins anew, so each is looked at once a birth, however often programs are executed. */
static void end_process(struct gus_lives *l, uint32_t process, uint64_t time)
{
	uint32_t next;

	if (process >= l->processes.n)
		return;
	for (uint32_t i = l->processes.v[process]; i != GUS_INDEX_NONE; i = next) {
		next = l->states.v[i].next;
		l->states.v[i].listed = false;
		end_life(l, i, time);
	}
	l->processes.v[process] = GUS_INDEX_NONE;
}

static void take_exec(struct gus_lives *l, const struct gus_life_note *n)
{
	end_process(l, l->states.v[n->thread].process, n->time);
	end_life(l, n->thread, n->time);
	enter(l, n->thread, ON, n->time);
}

static void take_note(struct gus_lives *l, const struct gus_life_note *n)
{
	struct gus_life_state *s = &l->states.v[n->thread];

	if (n->kind == BIRTH)
		take_birth(l, n);
	else if (n->kind == EXEC)
		take_exec(l, n);
	else if (n->kind == END)
		end_life(l, n->thread, n->time);
	else if (n->kind == ALIVE && s->state == NONE)
		enter(l, n->thread, UNSEEN, n->time);
}

/* What was noted until then has happened. */
static struct gus_life_state *come_to(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	state_of(l, thread);
	while (l->noted < l->notes.n && l->notes.v[l->noted].time <= time)
		take_note(l, &l->notes.v[l->noted++]);
	return &l->states.v[thread];
}

/* Switches. */

static void come(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	struct gus_life_state *s = &l->states.v[thread];

	if (s->state == OFF)
		pass_off(l, thread, time, s->why, s->mark);
	else if (s->state == UNSEEN)
		pass_off(l, thread, time, GUS_ABSENCE_BEFORE, GUS_INDEX_NONE);
	else if (s->state == ON)
		pass_unknown(l, thread, time);
	enter(l, thread, ON, time);
	s->mark = GUS_INDEX_NONE;
}

static void go(struct gus_lives *l, uint32_t thread, uint64_t time, bool preempted)
{
	struct gus_life_state *s = &l->states.v[thread];
	struct gus_life *life = &l->list.v[thread];

	if (s->state == ON || s->state == UNSEEN)
		pass_on(l, thread, time);
	else if (s->state == OFF)
		pass_unknown(l, thread, time);
	enter(l, thread, OFF, time);
	s->why = preempted ? GUS_ABSENCE_PREEMPTED : GUS_ABSENCE_BLOCKED;
	if (time < l->from || time >= l->until)
		return;
	life->switches++;
	life->preempted += preempted;
}

void gus_lives_leave(struct gus_lives *l, uint32_t thread, uint64_t time, uint32_t mark, uint64_t stands_for)
{
	struct gus_life_state *s = come_to(l, thread, time);

	if (s->state == ENDED)
		return;
	if (s->state == OFF)
		pass_unknown(l, thread, time); /* that it came is missing: who leaves is there */
	if (s->state == OFF || s->state == NONE)
		enter(l, thread, ON, time);
	s->mark = mark;
	s->stands_for = stands_for;
}

void gus_lives_switch(struct gus_lives *l, uint32_t thread, uint64_t time, bool out, bool preempted)
{
	struct gus_life_state *s = come_to(l, thread, time);

	if (s->state == ENDED)
		return;
	if (!out) {
		come(l, thread, time);
		return;
	}
	go(l, thread, time, preempted);
}

void gus_lives_seen(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	struct gus_life_state *s = come_to(l, thread, time);

	if (s->state == NONE)
		enter(l, thread, UNSEEN, time);
	s->seen = true;
}

/* The end. */

static void check(const struct gus_life *life)
{
	assert(life->on + life->blocked + life->waiting + life->unknown == life->wall);
	(void)life;
}

/* Who has never been seen at all has not run, or there would be a switch or a sample. */
static void finish_unseen(struct gus_lives *l, uint32_t thread, uint64_t time)
{
	struct gus_life *life = &l->list.v[thread];
	uint64_t ns;

	if (l->states.v[thread].seen) {
		pass_on(l, thread, time);
		return;
	}
	ns = part(l, &l->states.v[thread], time);
	life->blocked += ns;
	life->wall += ns;
}

void gus_lives_finish(struct gus_lives *l, uint64_t time)
{
	while (l->noted < l->notes.n && l->notes.v[l->noted].time <= time)
		take_note(l, &l->notes.v[l->noted++]);
	for (uint32_t i = 0; i < l->states.n; i++) {
		struct gus_life_state *s = &l->states.v[i];

		if (s->state == ON)
			pass_on(l, i, time);
		else if (s->state == OFF)
			pass_off(l, i, time, s->why, s->mark);
		else if (s->state == UNSEEN)
			finish_unseen(l, i, time);
		s->state = ENDED;
		check(&l->list.v[i]);
	}
}
