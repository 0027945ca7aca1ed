/* SPDX-License-Identifier: MIT */
#include "attribution/traced/contended.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/index.h"

/* Threads of a line: more are left out. Lines of an access likewise: it may have any length. */
enum { USERS = 4, LONG = 4096 };

struct key { uint64_t line, pid; };
/* Times of windows: of a thread's accesses, and of its writes, if it ever wrote. */
struct user { uint64_t from, to, wrote_from, wrote_to; uint32_t tid; bool wrote; };
struct line { uint32_t users_n; struct user users[USERS]; };

struct gus_contended {
	struct gus_index keys, found;           /* found: keys of what is shared */
	struct gus_vec(struct line) lines;      /* by key */
	uint32_t line_size, pid, tid, looks;
	uint64_t time;
};

struct gus_contended *gus_contended_new(uint32_t line_size)
{
	struct gus_contended *s = gus_zalloc(sizeof(*s));

	s->line_size = line_size;
	gus_index_init(&s->keys, sizeof(struct key));
	gus_index_init(&s->found, sizeof(struct key));
	return s;
}

void gus_contended_free(struct gus_contended *s)
{
	if (!s)
		return;
	gus_index_free(&s->keys);
	gus_index_free(&s->found);
	gus_vec_free(&s->lines);
	free(s);
}

void gus_contended_window(struct gus_contended *s, uint32_t pid, uint32_t tid, uint64_t time)
{
	s->pid = pid;
	s->tid = tid;
	s->time = time;
}

static struct line *line_at(struct gus_contended *s, uint64_t line)
{
	const struct key key = { line, s->pid };
	bool full = s->keys.n >= GUS_CONTENDED_LINES, is_new = false;
	uint32_t number = full ? gus_index_find(&s->keys, &key) : gus_index_add(&s->keys, &key, &is_new);

	if (is_new)
		gus_vec_push(&s->lines, (struct line){ 0 });
	return number == GUS_INDEX_NONE ? NULL : &s->lines.v[number];
}

static struct user *user_of(struct line *line, uint32_t tid)
{
	for (uint32_t i = 0; i < line->users_n; i++)
		if (line->users[i].tid == tid)
			return &line->users[i];
	if (line->users_n == USERS)
		return NULL;
	line->users[line->users_n] = (struct user){ .tid = tid, .from = UINT64_MAX, .wrote_from = UINT64_MAX };
	return &line->users[line->users_n++];
}

static void widen(uint64_t time, uint64_t *from, uint64_t *to)
{
	*from = time < *from ? time : *from;
	*to = time > *to ? time : *to;
}

void gus_contended_access(struct gus_contended *s, uint64_t address, uint32_t bytes, bool store)
{
	uint64_t first = address / s->line_size, last = address % s->line_size + (bytes ? bytes - 1 : 0);

	for (uint64_t i = 0; i <= last / s->line_size && i < LONG && s->looks < GUS_CONTENDED_LOOKS; i++, s->looks++) {
		struct line *line = line_at(s, first + i);
		struct user *u = line ? user_of(line, s->tid) : NULL;

		if (!u)
			continue;
		widen(s->time, &u->from, &u->to);
		if (store)
			widen(s->time, &u->wrote_from, &u->wrote_to);
		u->wrote |= store;
	}
}

static bool is_shared(const struct line *line)
{
	for (uint32_t i = 0; i < line->users_n; i++)
		for (uint32_t k = 0; k < line->users_n; k++) {
			const struct user *writer = &line->users[i], *other = &line->users[k];

			if (i != k && writer->wrote && writer->wrote_from <= other->to &&
			    other->from <= writer->wrote_to)
				return true;
		}
	return false;
}

uint32_t gus_contended_settle(struct gus_contended *s)
{
	for (uint32_t i = 0; i < s->lines.n; i++)
		if (is_shared(&s->lines.v[i]))
			gus_index_add(&s->found, gus_index_key(&s->keys, i), NULL);
	gus_index_free(&s->keys);
	gus_index_init(&s->keys, sizeof(struct key));
	gus_vec_free(&s->lines);
	return s->found.n;
}

bool gus_contended_has(const struct gus_contended *s, uint32_t pid, uint64_t address, uint32_t bytes)
{
	uint64_t last = bytes ? bytes - 1 : 0;

	if (!s || !s->found.n)
		return false;
	for (uint64_t i = 0; i < LONG && i <= (address % s->line_size + last) / s->line_size; i++) {
		const struct key key = { address / s->line_size + i, pid };

		if (gus_index_find(&s->found, &key) != GUS_INDEX_NONE)
			return true;
	}
	return false;
}
