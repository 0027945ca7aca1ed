/* SPDX-License-Identifier: MIT */
#include "model/watch/access.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { STRIDES = 8, POSITIONS = 4 * GUS_ACCESS_FOLLOWED, TABLE = 2 * GUS_ACCESS_FOLLOWED };

/* Every line has a hash of its own (each step can be undone), whose low bits choose whether it is sampled. */
static uint64_t hash_of(uint64_t line)
{
	line ^= line >> 30;
	line *= UINT64_C(0xbf58476d1ce4e5b9);
	line ^= line >> 27;
	line *= UINT64_C(0x94d049bb133111eb);
	return line ^ line >> 31;
}

/* Distinct lines of a group: the hashes that end in `depth` zero bits. */
struct distinct {
	uint64_t *slots;                /* 0: empty */
	uint32_t room, n;               /* room: a power of two, or 0 */
	unsigned depth;
};

struct group {
	uint64_t accesses, stores, last, last_line; /* last_line: + 1 */
	struct { int64_t stride; uint64_t times; } strides[STRIDES];
	uint64_t stride_error;
	uint64_t reuse[GUS_ACCESS_REUSE], first;
	struct distinct lines;
};

/* A line that is followed, and when it was touched last: positions grow with time, and are renumbered when they are
 * used up. */
struct followed {
	uint64_t line;                  /* + 1; 0: empty */
	uint32_t position;
};

struct gus_access {
	struct group *groups;
	uint32_t groups_n;
	unsigned line_bits, sampled;
	uint64_t last_line;             /* + 1 */
	struct followed table[TABLE];   /* open addressing by hash */
	uint32_t followed_n, position;  /* position: the next */
	uint64_t owner[POSITIONS];      /* line + 1 that was touched last then; 0: none any more */
	uint32_t live[POSITIONS + 1];   /* Fenwick tree over positions that have an owner */
};

struct gus_access *gus_access_new(uint32_t groups, uint32_t line_size)
{
	struct gus_access *a = gus_zalloc(sizeof(*a));

	assert(line_size && !(line_size & (line_size - 1)));
	a->groups = gus_zalloc((groups ? groups : 1) * sizeof(*a->groups));
	a->groups_n = groups;
	a->line_bits = (unsigned)__builtin_ctz(line_size);
	return a;
}

void gus_access_grow(struct gus_access *a, uint32_t groups)
{
	uint32_t room = a->groups_n;

	if (groups <= a->groups_n)
		return;
	if (groups < 2 * room)
		groups = 2 * room; /* not one by one */
	a->groups = gus_resize(a->groups, groups, sizeof(*a->groups));
	memset(a->groups + room, 0, (groups - room) * sizeof(*a->groups));
	a->groups_n = groups;
}

void gus_access_free(struct gus_access *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->groups_n; i++)
		free(a->groups[i].lines.slots);
	free(a->groups);
	free(a);
}

/* Footprint. */

static bool insert_hash(struct distinct *d, uint64_t hash)
{
	uint32_t at = (uint32_t)(hash >> 40) & (d->room - 1);

	for (; d->slots[at]; at = (at + 1) & (d->room - 1))
		if (d->slots[at] == hash)
			return false;
	d->slots[at] = hash;
	return true;
}

/* Into a new table, those that still are sampled. */
static void rehash(struct distinct *d, uint32_t room)
{
	struct distinct old = *d;

	d->slots = gus_zalloc(room * sizeof(*d->slots));
	d->room = room;
	d->n = 0;
	for (uint32_t i = 0; i < old.room; i++)
		if (old.slots[i] && !(old.slots[i] & ((UINT64_C(1) << d->depth) - 1)))
			d->n += insert_hash(d, old.slots[i]);
	free(old.slots);
}

static void count_line(struct distinct *d, uint64_t line)
{
	uint64_t hash = hash_of(line);

	if (!hash)
		hash = UINT64_C(1) << 63; /* 0 says empty */
	if (hash & ((UINT64_C(1) << d->depth) - 1))
		return;
	if (2 * d->n >= d->room)
		rehash(d, d->room ? 2 * d->room : 16);
	d->n += insert_hash(d, hash);
	while (d->n > GUS_ACCESS_COUNTED) {
		d->depth++;
		rehash(d, d->room);
	}
}

/* Reuse. */

static void mark(struct gus_access *a, uint32_t position, uint32_t by)
{
	for (uint32_t i = position + 1; i <= POSITIONS; i += i & -i)
		a->live[i] += by;
}

/* How many lines were touched last at or before a position. */
static uint32_t touched_until(const struct gus_access *a, uint32_t position)
{
	uint32_t n = 0;

	for (uint32_t i = position + 1; i; i -= i & -i)
		n += a->live[i];
	return n;
}

static bool is_sampled(const struct gus_access *a, uint64_t line)
{
	return !(hash_of(line) & ((UINT64_C(1) << a->sampled) - 1));
}

static struct followed *find_followed(struct gus_access *a, uint64_t line)
{
	uint32_t at = (uint32_t)(hash_of(line) >> 40) % TABLE;

	while (a->table[at].line && a->table[at].line != line + 1)
		at = (at + 1) % TABLE;
	return &a->table[at];
}

/* Renumbers positions from 0, in their order, and leaves out lines that are not sampled any more. */
static void renumber(struct gus_access *a)
{
	uint32_t n = 0;

	memset(a->table, 0, sizeof(a->table));
	memset(a->live, 0, sizeof(a->live));
	for (uint32_t i = 0; i < a->position; i++)
		if (a->owner[i] && is_sampled(a, a->owner[i] - 1))
			a->owner[n++] = a->owner[i];
	memset(a->owner + n, 0, (POSITIONS - n) * sizeof(*a->owner));
	for (uint32_t i = 0; i < n; i++) {
		*find_followed(a, a->owner[i] - 1) = (struct followed){ a->owner[i], i };
		mark(a, i, 1);
	}
	a->followed_n = a->position = n;
}

static unsigned bucket(uint64_t distance)
{
	unsigned bits = distance ? 64 - (unsigned)__builtin_clzll(distance) : 0;

	return bits < GUS_ACCESS_REUSE ? bits : GUS_ACCESS_REUSE - 1;
}

static void touch_line(struct gus_access *a, struct group *g, uint64_t line)
{
	struct followed *f;
	uint64_t weight = UINT64_C(1) << a->sampled;

	if (line + 1 == a->last_line) {
		g->reuse[0]++;
		return;
	}
	a->last_line = line + 1;
	if (!is_sampled(a, line))
		return;
	if (a->position == POSITIONS)
		renumber(a);
	f = find_followed(a, line);
	if (f->line) {
		uint64_t between = a->followed_n - touched_until(a, f->position);

		/* The line before this one was another, so there is one in between at least. */
		g->reuse[bucket(between ? between << a->sampled : 1)] += weight;
		a->owner[f->position] = 0;
		mark(a, f->position, UINT32_MAX); /* - 1 */
	} else {
		g->first += weight;
		f->line = line + 1;
		a->followed_n++;
	}
	f->position = a->position++;
	a->owner[f->position] = line + 1;
	mark(a, f->position, 1);
	while (a->followed_n > GUS_ACCESS_FOLLOWED) {
		a->sampled++;
		renumber(a);
	}
}

/* Strides. */

static void note_stride(struct group *g, int64_t stride)
{
	unsigned empty = STRIDES;

	for (unsigned i = 0; i < STRIDES; i++) {
		if (g->strides[i].times && g->strides[i].stride == stride) {
			g->strides[i].times++;
			return;
		}
		if (!g->strides[i].times)
			empty = i;
	}
	if (empty < STRIDES) {
		g->strides[empty].stride = stride;
		g->strides[empty].times = 1;
		return;
	}
	g->stride_error++;
	for (unsigned i = 0; i < STRIDES; i++)
		g->strides[i].times--;
}

void gus_access_note(struct gus_access *a, uint32_t group, uint64_t address, uint32_t bytes, bool store)
{
	struct group *g = &a->groups[group];
	uint64_t line = address >> a->line_bits, last = (address + (bytes ? bytes - 1 : 0)) >> a->line_bits;

	assert(group < a->groups_n);
	if (g->accesses)
		note_stride(g, (int64_t)(address - g->last));
	g->accesses++;
	g->stores += store;
	g->last = address;
	do {
		touch_line(a, g, line);
		if (line + 1 != g->last_line)
			count_line(&g->lines, line);
		g->last_line = line + 1;
	} while (line++ < last);
}

void gus_access_get(const struct gus_access *a, uint32_t group, struct gus_access_group *out)
{
	const struct group *g = &a->groups[group];

	assert(group < a->groups_n);
	*out = (struct gus_access_group){ .accesses = g->accesses, .stores = g->stores, .first = g->first,
		.stride_error = g->stride_error, .lines = (uint64_t)g->lines.n << g->lines.depth,
			.lines_exact = !g->lines.depth };
	memcpy(out->reuse, g->reuse, sizeof(out->reuse));
	for (unsigned i = 0; i < STRIDES; i++)
		if (g->strides[i].times > out->stride_times ||
		    (g->strides[i].times && g->strides[i].times == out->stride_times &&
		     g->strides[i].stride < out->stride)) {
			out->stride = g->strides[i].stride;
			out->stride_times = g->strides[i].times;
		}
}

unsigned gus_access_sampled(const struct gus_access *a)
{
	return a->sampled;
}
