/* SPDX-License-Identifier: MIT */
#include "attribution/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

enum { COUNTERS_MOST = 1 << 14 }; /* of a frame: a machine of sixteen sockets with 100 channels has some thousands */
#define PEAK_NS 20000000   /* readings that are shorter, as last ones are, say little of rates */

/* In its place among them, unless it has one. */
static void add_socket(struct gus_traffic *t, uint32_t socket)
{
	size_t i = t->sockets.n;

	while (i && t->sockets.v[i - 1] > socket)
		i--;
	if (i && t->sockets.v[i - 1] == socket)
		return;
	gus_vec_push(&t->sockets, socket);
	memmove(&t->sockets.v[i + 1], &t->sockets.v[i], (t->sockets.n - 1 - i) * sizeof(socket));
	t->sockets.v[i] = socket;
}

void gus_traffic_add_counter(struct gus_traffic *t, const char *event, enum gus_direction direction, uint32_t socket,
			     double bytes)
{
	gus_vec_push(&t->counters, (struct gus_traffic_counter){ gus_strdup(event), direction, socket, bytes });
	gus_vec_push(&t->total, (struct gus_traffic_count){ 0 });
	add_socket(t, socket);
}

void gus_traffic_copy(struct gus_traffic *to, const struct gus_traffic *from)
{
	*to = (struct gus_traffic){ .title = from->title ? gus_strdup(from->title) : NULL };
	for (size_t i = 0; i < from->counters.n; i++) {
		const struct gus_traffic_counter *c = &from->counters.v[i];

		gus_traffic_add_counter(to, c->event, c->direction, c->socket, c->bytes);
	}
}

void gus_traffic_free(struct gus_traffic *t)
{
	for (size_t i = 0; i < t->counters.n; i++)
		free(t->counters.v[i].event);
	gus_vec_free(&t->counters);
	gus_vec_free(&t->total);
	gus_vec_free(&t->sockets);
	gus_vec_free(&t->pieces);
	free(t->title);
	*t = (struct gus_traffic){ 0 };
}

/* As if it had been counted all the time. It ran. */
static double scaled(const struct gus_traffic_counter *counter, const struct gus_traffic_count *c)
{
	double bytes = (double)c->value * counter->bytes;

	return c->running_ns < c->enabled_ns ? bytes * ((double)c->enabled_ns / (double)c->running_ns) : bytes;
}

/* What a reading comes to, by direction. A direction without counters is known to be nothing in the sum of all. */
static struct gus_traffic_piece piece_of(const struct gus_traffic *t, const struct gus_traffic_count *counts,
					 uint64_t time)
{
	struct gus_traffic_piece p = { .to = time, .known = { true, true, true, true } };

	for (size_t i = 0; i < t->counters.n; i++) {
		const struct gus_traffic_counter *counter = &t->counters.v[i];
		double bytes = counts[i].running_ns ? scaled(counter, &counts[i]) : 0;

		p.bytes[counter->direction] += bytes;
		p.bytes[GUS_TRAFFIC_ALL] += bytes;
		p.known[counter->direction] &= counts[i].running_ns > 0;
		p.known[GUS_TRAFFIC_ALL] &= counts[i].running_ns > 0;
		p.ns = counts[i].enabled_ns > p.ns ? counts[i].enabled_ns : p.ns;
	}
	return p;
}

static void join(struct gus_traffic_piece *into, const struct gus_traffic_piece *more)
{
	into->to = more->to;
	into->ns = gus_saturated(into->ns, more->ns);
	for (unsigned d = 0; d < GUS_TRAFFIC_SUMS; d++) {
		into->bytes[d] += more->bytes[d];
		into->known[d] &= more->known[d];
	}
}

/* However long it takes, the pieces are between half of GUS_TRAFFIC_PIECES and all of them, and equally long. */
static void keep(struct gus_traffic *t, const struct gus_traffic_piece *p)
{
	if (!t->merged)
		t->merged = 1;
	if (t->pieces.n && t->last < t->merged) {
		join(&t->pieces.v[t->pieces.n - 1], p);
		t->last++;
		return;
	}
	if (t->pieces.n == GUS_TRAFFIC_PIECES) {
		for (size_t i = 0; i < GUS_TRAFFIC_PIECES / 2; i++) {
			t->pieces.v[i] = t->pieces.v[2 * i];
			join(&t->pieces.v[i], &t->pieces.v[2 * i + 1]);
		}
		t->pieces.n = GUS_TRAFFIC_PIECES / 2;
		t->merged *= 2;
	}
	gus_vec_push(&t->pieces, *p);
	t->last = 1;
}

static void note_peaks(struct gus_traffic *t, const struct gus_traffic_piece *p)
{
	for (unsigned d = 0; p->ns >= PEAK_NS && d < GUS_TRAFFIC_SUMS; d++) {
		double rate = p->bytes[d] * 1e9 / (double)p->ns;

		if (p->known[d] && (!t->peaks[d].known || rate > t->peaks[d].rate))
			t->peaks[d] = (struct gus_traffic_peak){ rate, p->to, true };
	}
}

void gus_traffic_add(struct gus_traffic *t, const struct gus_traffic_count *counts, uint64_t time)
{
	struct gus_traffic_piece p = piece_of(t, counts, time);

	for (size_t i = 0; i < t->counters.n; i++) {
		t->total.v[i].value = gus_saturated(t->total.v[i].value, counts[i].value);
		t->total.v[i].enabled_ns = gus_saturated(t->total.v[i].enabled_ns, counts[i].enabled_ns);
		t->total.v[i].running_ns = gus_saturated(t->total.v[i].running_ns, counts[i].running_ns);
	}
	keep(t, &p);
	note_peaks(t, &p);
}

/* Counters of a frame, checked, or not. */
static bool take_counters(struct gus_traffic *t, const Gusprof__Traffic *m)
{
	if (t->counters.n || m->n_counters > COUNTERS_MOST)
		return false;
	for (size_t i = 0; i < m->n_counters; i++) {
		const Gusprof__TrafficCounter *c = m->counters[i];

		if (c->direction >= GUS_DIRECTIONS || c->socket == GUS_TRAFFIC_SOCKETS || !(c->bytes > 0) ||
		    c->bytes > GUS_TRAFFIC_BYTES_MOST)
			return false;
	}
	for (size_t i = 0; i < m->n_counters; i++)
		gus_traffic_add_counter(t, m->counters[i]->event, (enum gus_direction)m->counters[i]->direction,
					m->counters[i]->socket, m->counters[i]->bytes);
	t->title = gus_strdup(m->title);
	return true;
}

bool gus_traffic_add_recorded(struct gus_traffic *t, const Gusprof__Traffic *m)
{
	size_t n = m->n_counters ? m->n_counters : t->counters.n;
	struct gus_traffic_count *counts;

	for (size_t i = 0; i < m->n_readings; i++)
		if (!n || m->readings[i]->n_count != n || m->readings[i]->n_enabled_ns != n ||
		    m->readings[i]->n_running_ns != n)
			return false;
	if (m->n_counters && !take_counters(t, m))
		return false;
	counts = gus_alloc((n + 1) * sizeof(*counts));
	for (size_t i = 0; i < m->n_readings; i++) {
		const Gusprof__CountReading *r = m->readings[i];

		for (size_t k = 0; k < n; k++)
			counts[k] = (struct gus_traffic_count){ r->count[k], r->enabled_ns[k], r->running_ns[k] };
		gus_traffic_add(t, counts, r->time);
	}
	free(counts);
	return true;
}

uint32_t gus_traffic_socket(const struct gus_traffic *t, size_t i)
{
	return i < t->sockets.n ? t->sockets.v[i] : GUS_TRAFFIC_SOCKETS;
}

static uint64_t whole_bytes(double bytes)
{
	return bytes < 0x1p63 ? (uint64_t)(bytes + 0.5) : UINT64_MAX;
}

/* Of one socket. */
static void add_counter(struct gus_traffic_sum *s, const struct gus_traffic_counter *counter,
			const struct gus_traffic_count *c)
{
	s->counted = true;
	s->known &= c->running_ns > 0;
	s->enabled_ns = gus_saturated(s->enabled_ns, c->enabled_ns);
	s->running_ns = gus_saturated(s->running_ns, c->running_ns);
	if (!c->running_ns)
		return;
	s->bytes = gus_saturated(s->bytes, whole_bytes(scaled(counter, c)));
	s->rate += (double)c->value * counter->bytes * 1e9 / (double)c->running_ns;
}

struct gus_traffic_sum gus_traffic_of(const struct gus_traffic *t, uint32_t socket, unsigned direction)
{
	struct gus_traffic_sum s = { .known = true };

	for (size_t i = 0; i < t->counters.n; i++)
		if ((socket == GUS_TRAFFIC_SOCKETS || t->counters.v[i].socket == socket) &&
		    (direction == GUS_TRAFFIC_ALL || (unsigned)t->counters.v[i].direction == direction))
			add_counter(&s, &t->counters.v[i], &t->total.v[i]);
	s.known &= s.counted;
	return s;
}
