/* SPDX-License-Identifier: MIT */
#include "collector/session/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CROWD_MIN 4096            /* members: fewer are not worth forgetting */
#define KEPT_NS 10000000000ULL    /* after its end: far longer than a sample waits in a ring */

void gus_members_init(struct gus_members *m)
{
	*m = (struct gus_members){ 0 };
	gus_index_init(&m->tids, sizeof(uint32_t));
}

void gus_members_free(struct gus_members *m)
{
	gus_index_free(&m->tids);
	gus_vec_free(&m->list);
}

static bool was_taken_away(const struct gus_member *k)
{
	return k->until != UINT64_MAX && k->executed && k->mapped < k->executed;
}

static void remember_taken(struct gus_members *m, uint32_t tid, const struct gus_member *k)
{
	if (!m->taken_away++) {
		m->taken_tid = tid;
		memcpy(m->taken_comm, k->comm, sizeof(m->taken_comm));
	}
}

/* Memory follows who lives, not who was ever born; a birth costs one look, as in gus_living_add. */
static void forget_ended(struct gus_members *m, uint64_t now)
{
	struct gus_members old = *m;

	gus_index_init(&m->tids, sizeof(uint32_t));
	memset(&m->list, 0, sizeof(m->list));
	for (uint32_t i = 0; i < old.tids.n; i++) {
		const uint32_t *tid = gus_index_key(&old.tids, i);
		const struct gus_member *k = &old.list.v[i];

		if (k->until >= now || now - k->until < KEPT_NS) {
			gus_index_add(&m->tids, tid, NULL);
			gus_vec_push(&m->list, *k);
		} else if (was_taken_away(k)) {
			remember_taken(m, *tid, k);
		}
	}
	m->crowd = 2 * m->tids.n;
	gus_members_free(&old);
}

static struct gus_member *find(const struct gus_members *m, uint32_t tid)
{
	uint32_t number = gus_index_find(&m->tids, &tid);

	return number == GUS_INDEX_NONE ? NULL : &m->list.v[number];
}

/* A number that comes back is another task; the one before it is forgotten. */
static void begin(struct gus_members *m, uint32_t pid, uint32_t tid, uint64_t from)
{
	bool is_new;
	uint32_t number;

	if (m->tids.n > CROWD_MIN && m->tids.n > m->crowd)
		forget_ended(m, from);
	number = gus_index_add(&m->tids, &tid, &is_new);
	if (is_new)
		gus_vec_push(&m->list, (struct gus_member){ 0 });
	else if (was_taken_away(&m->list.v[number]))
		remember_taken(m, tid, &m->list.v[number]);
	m->list.v[number] = (struct gus_member){ .from = from, .until = UINT64_MAX, .pid = pid };
	m->all++;
}

/* One that lives and is of another process now has become a program, of which nothing was heard, and this is whoever
 * has its number since. */
void gus_members_add(struct gus_members *m, uint32_t pid, uint32_t tid, uint64_t from)
{
	struct gus_member *k = find(m, tid);

	if (k && !k->pid)
		k->pid = pid;
	if (!k || (k->until != UINT64_MAX && k->until < from) || (pid && k->pid != pid && k->from < from))
		begin(m, pid, tid, from);
}

/* The news of a birth can come after other news of the same task. */
static void note_birth(struct gus_members *m, const Gusprof__Task *t)
{
	struct gus_member *k = find(m, t->tid);
	bool same = k && (!k->pid || k->pid == t->pid || k->from > t->time);

	if (same && (k->until == UINT64_MAX || k->until >= t->time))
		k->from = k->from < t->time ? k->from : t->time;
	else
		begin(m, t->pid, t->tid, t->time);
}

static void note_end(struct gus_members *m, uint32_t tid, uint64_t time)
{
	struct gus_member *k = find(m, tid);

	if (!k || time < k->from || k->until != UINT64_MAX)
		return;
	k->until = time;
	m->ended++;
}

/* A thread that executes a program takes the number of its process, whose first thread has ended by then. */
static void note_comm(struct gus_members *m, const Gusprof__Comm *c)
{
	struct gus_member *k;

	gus_members_add(m, c->pid, c->tid, c->time);
	k = find(m, c->tid);
	if (!c->exec || c->time < k->executed)
		return;
	k->executed = c->time;
	snprintf(k->comm, sizeof(k->comm), "%s", c->name);
}

static void note_mapping(struct gus_members *m, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct gus_member *k;

	gus_members_add(m, pid, tid, time);
	k = find(m, tid);
	k->mapped = time > k->mapped ? time : k->mapped;
}

void gus_members_note(struct gus_members *m, const Gusprof__Record *r)
{
	switch (r->kind_case) {
	case GUSPROF__RECORD__KIND_FORK:
		note_birth(m, r->fork);
		break;
	case GUSPROF__RECORD__KIND_EXIT:
		note_end(m, r->exit->tid, r->exit->time);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		note_comm(m, r->comm);
		break;
	case GUSPROF__RECORD__KIND_MMAP:
		note_mapping(m, r->mmap->pid, r->mmap->tid, r->mmap->time);
		break;
	default:
		break;
	}
}

bool gus_members_has(const struct gus_members *m, uint32_t pid, uint32_t tid, uint64_t time)
{
	const struct gus_member *k = find(m, tid);

	return k && (!k->pid || k->pid == pid) && time >= k->from && time <= k->until;
}

uint64_t gus_members_taken_away(const struct gus_members *m, uint32_t *tid, const char **comm)
{
	uint64_t n = m->taken_away;

	*tid = m->taken_tid;
	*comm = m->taken_comm;
	for (uint32_t i = 0; i < m->tids.n; i++) {
		if (!was_taken_away(&m->list.v[i]))
			continue;
		if (!n++) {
			*tid = *(const uint32_t *)gus_index_key(&m->tids, i);
			*comm = m->list.v[i].comm;
		}
	}
	return n;
}
