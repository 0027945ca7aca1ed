/* SPDX-License-Identifier: MIT */
/* The traffic of memory as JSON. */
#include "attribution/traffic/traffic.h"
#include "cli/bandwidth/bandwidth.h"
#include "cli/common/json.h"

static json_t *sum(const struct gus_traffic *t, uint32_t socket, unsigned direction)
{
	struct gus_traffic_sum s = gus_traffic_of(t, socket, direction);
	json_t *o;

	if (!s.counted)
		return json_null();
	o = json_object();
	json_object_set_new(o, "bytes", gus_json_number(s.known, s.bytes));
	json_object_set_new(o, "bytes_per_s", s.known ? json_real(s.rate) : json_null());
	json_object_set_new(o, "evidence", gus_json_word(gus_bandwidth_evidence(&s)));
	json_object_set_new(o, "running", s.enabled_ns ? json_real((double)s.running_ns / (double)s.enabled_ns) :
			    json_null());
	json_object_set_new(o, "enabled_ns", json_integer((json_int_t)s.enabled_ns));
	json_object_set_new(o, "running_ns", json_integer((json_int_t)s.running_ns));
	json_object_set_new(o, "reason", gus_json_text(gus_bandwidth_reason(&s)));
	return o;
}

static void add_sums(json_t *o, const struct gus_traffic *t, uint32_t socket)
{
	for (unsigned d = 0; d < GUS_TRAFFIC_SUMS; d++)
		json_object_set_new(o, gus_bandwidth_word(d), sum(t, socket, d));
}

static json_t *counters(const struct gus_traffic *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->counters.n; i++) {
		const struct gus_traffic_counter *c = &t->counters.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "event", gus_json_text(c->event));
		json_object_set_new(o, "socket", json_integer(c->socket));
		json_object_set_new(o, "direction", gus_json_word(gus_bandwidth_word(c->direction)));
		json_object_set_new(o, "bytes", json_real(c->bytes));
		json_object_set_new(o, "count", json_integer((json_int_t)t->total.v[i].value));
		json_object_set_new(o, "enabled_ns", json_integer((json_int_t)t->total.v[i].enabled_ns));
		json_object_set_new(o, "running_ns", json_integer((json_int_t)t->total.v[i].running_ns));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *gus_bandwidth_json(const struct gus_traffic *t)
{
	json_t *o, *sockets;
	uint32_t socket;

	if (!t)
		return json_null();
	o = json_object();
	sockets = json_array();
	json_object_set_new(o, "of", json_string("machine"));
	json_object_set_new(o, "title", gus_json_text(t->title));
	add_sums(o, t, GUS_TRAFFIC_SOCKETS);
	for (size_t i = 0; (socket = gus_traffic_socket(t, i)) != GUS_TRAFFIC_SOCKETS; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "socket", json_integer(socket));
		add_sums(one, t, socket);
		json_array_append_new(sockets, one);
	}
	json_object_set_new(o, "sockets", sockets);
	json_object_set_new(o, "counters", counters(t));
	return o;
}

static json_t *peaks(const struct gus_traffic *t, uint64_t begin)
{
	json_t *o = json_object();

	for (unsigned d = 0; d < GUS_TRAFFIC_SUMS; d++) {
		const struct gus_traffic_peak *p = &t->peaks[d];
		json_t *one = json_null();

		if (p->known && gus_traffic_of(t, GUS_TRAFFIC_SOCKETS, d).counted) {
			one = json_object();
			json_object_set_new(one, "bytes_per_s", json_real(p->rate));
			json_object_set_new(one, "at_ns", gus_json_number(p->at >= begin, p->at - begin));
		}
		json_object_set_new(o, gus_bandwidth_word(d), one);
	}
	return o;
}

/* Bytes of each piece of the time. */
static json_t *over_time(const struct gus_traffic *t, uint64_t begin)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->pieces.n; i++) {
		const struct gus_traffic_piece *p = &t->pieces.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "to_ns", gus_json_number(p->to >= begin, p->to - begin));
		json_object_set_new(o, "ns", gus_json_number(true, p->ns));
		for (unsigned d = 0; d < GUS_TRAFFIC_SUMS; d++)
			json_object_set_new(o, gus_bandwidth_word(d),
					    p->known[d] && gus_traffic_of(t, GUS_TRAFFIC_SOCKETS, d).counted ?
					    json_real(p->bytes[d]) : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

json_t *gus_bandwidth_recorded_json(const struct gus_traffic *t)
{
	json_t *o = t && t->pieces.n ? gus_bandwidth_json(t) : json_null();
	const struct gus_traffic_piece *first;
	uint64_t begin;

	if (json_is_null(o))
		return o;
	first = &t->pieces.v[0];
	begin = first->to - (first->ns < first->to ? first->ns : first->to);
	json_object_set_new(o, "peak", peaks(t, begin));
	json_object_set_new(o, "over_time", over_time(t, begin));
	return o;
}
