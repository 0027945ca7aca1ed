/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/survey.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/limits.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/notices.h"
#include "collector/perfdata/record.h"
#include "collector/records/records.h"

/* Types of the ABI (linux/perf_event.h, enum perf_event_type) that are looked at more closely. */
enum { LOST = 2, THROTTLE = 5, SAMPLE = 9, AUX = 11, LOST_SAMPLES = 13, LAST_OF_KERNEL = 22 };
/* Those that perf adds begin here (tools/lib/perf, enum perf_user_event_type). */
enum { FIRST_OF_PERF = 64, LAST_OF_PERF = 84 };
enum { AUX_CUT = 1, AUX_PARTIAL = 4, AUX_COLLIDED = 8, TYPES_MOST = 1000, TYPES_TOLD = 8 };

void gus_perfdata_survey_init(struct gus_perfdata_survey *s, size_t events)
{
	*s = (struct gus_perfdata_survey){ .first_ns = UINT64_MAX };
	gus_index_init(&s->types, sizeof(uint32_t));
	for (size_t i = 0; i < events; i++)
		gus_vec_push(&s->events, (struct gus_perfdata_survey_event){ 0 });
}

void gus_perfdata_survey_free(struct gus_perfdata_survey *s)
{
	gus_vec_free(&s->events);
	gus_vec_free(&s->of_type);
	gus_index_free(&s->types);
}

static void take_unknown(struct gus_perfdata_survey *s, uint32_t type)
{
	bool is_new;
	uint32_t slot;

	if (s->types.n >= TYPES_MOST && gus_index_find(&s->types, &type) == GUS_INDEX_NONE)
		return;
	slot = gus_index_add(&s->types, &type, &is_new);
	if (is_new)
		gus_vec_push(&s->of_type, 0);
	s->of_type.v[slot]++;
}

/* PERF_RECORD_AUX: where in the buffer, how much, flags. */
static void take_aux(struct gus_perfdata_survey *s, const struct gus_records *records,
		     const struct gus_perfdata_record *r)
{
	struct gus_cursor c = gus_cursor(r->bytes, r->size);
	uint64_t flags;

	c.big_endian = records->big_endian;
	gus_cursor_take(&c, 24);
	flags = gus_cursor_u64(&c);
	s->aux_cut += (flags & AUX_CUT) != 0;
	s->aux_partial += (flags & AUX_PARTIAL) != 0;
	s->aux_collided += (flags & AUX_COLLIDED) != 0;
}

static void take_loss(struct gus_perfdata_survey *s, const Gusprof__Record *r)
{
	bool lost = r->kind_case == GUSPROF__RECORD__KIND_LOST;
	uint32_t event = lost ? r->lost->event : r->throttle->event;

	if (event >= s->events.n)
		event = 0;
	if (!s->events.n)
		return;
	if (lost)
		s->events.v[event].lost = gus_saturated(s->events.v[event].lost, r->lost->count);
	else
		s->events.v[event].throttles += r->throttle->stop;
}

void gus_perfdata_survey_time(struct gus_perfdata_survey *s, uint64_t time)
{
	if (!time)
		return;
	s->first_ns = time < s->first_ns ? time : s->first_ns;
	s->last_ns = time > s->last_ns ? time : s->last_ns;
}

static void take_sample(struct gus_perfdata_survey *s, struct gus_records *records, const struct gus_perfdata_record *r)
{
	uint32_t event = gus_records_event(records, r->bytes, r->size);
	unsigned mode = r->misc & 7;

	if (event < s->events.n)
		s->events.v[event].samples++;
	else
		s->strangers++;
	s->guests += mode == 4 || mode == 5;
	gus_perfdata_survey_time(s, gus_records_time(records, r->bytes, r->size));
}

void gus_perfdata_survey_take(struct gus_perfdata_survey *s, struct gus_records *records,
			      const struct gus_perfdata_record *r)
{
	struct gus_sideband sideband = { 0 };
	struct gus_record out;
	uint64_t time;

	s->records++;
	s->counts += r->type == GUS_PERFDATA_COUNT;
	if (r->type == SAMPLE) {
		take_sample(s, records, r);
		return;
	}
	if (r->type >= FIRST_OF_PERF || r->type > LAST_OF_KERNEL) {
		if (r->type > LAST_OF_PERF || r->type < FIRST_OF_PERF)
			take_unknown(s, r->type);
		return;
	}
	if (r->type == AUX)
		take_aux(s, records, r);
	out = gus_records_parse(records, r->bytes, r->size, &sideband);
	s->bad += out.kind == GUS_RECORD_BAD;
	if (out.kind == GUS_RECORD_SIDEBAND && (r->type == LOST || r->type == LOST_SAMPLES || r->type == THROTTLE))
		take_loss(s, out.sideband);
	/* Tasks that lived before have records of any time, or of another clock; it is samples that begin it. */
	time = gus_records_time(records, r->bytes, r->size);
	s->last_ns = time > s->last_ns && s->first_ns <= s->last_ns ? time : s->last_ns;
	gus_sideband_free(&sideband);
}

/* Telling. */

static void tell_types(const struct gus_perfdata_survey *s, Gusprof__Footer *footer)
{
	const uint32_t *types = (const void *)s->types.keys;
	uint64_t of_simpleperf = 0, all = 0;
	char *list = gus_strdup("");
	unsigned told = 0;

	for (uint32_t i = 0; i < s->types.n; i++) {
		char *more;

		if (types[i] >= GUS_PERFDATA_FIRST_OF_SIMPLEPERF && s->simpleperf) {
			of_simpleperf += s->of_type.v[i];
			continue;
		}
		all += s->of_type.v[i];
		if (told++ >= TYPES_TOLD)
			continue;
		more = gus_format("%s%s%u (%llu)", list, *list ? ", " : "", types[i],
				  (unsigned long long)s->of_type.v[i]);
		free(list);
		list = more;
	}
	gus_perfdata_notices_count(footer, of_simpleperf,
				   "record is an addition of simpleperf's own, and was passed over",
				   "records are additions of simpleperf's own, and were passed over");
	if (all)
		gus_perfdata_notices_add(footer, gus_format("%llu record%s of %s that this program does not know, and "
							    "%s kept as %s or passed over: %s%s",
							    (unsigned long long)all, all == 1 ? " is" : "s are",
							    told == 1 ? "a type" : "types",
							    all == 1 ? "was" : "were", all == 1 ? "it is" : "they are",
							    list, told > TYPES_TOLD ? ", ..." : ""));
	free(list);
}

static void say(Gusprof__Footer *footer, const char *sentence)
{
	gus_perfdata_notices_add(footer, gus_strdup(sentence));
}

void gus_perfdata_survey_tell(const struct gus_perfdata_survey *s, const struct gus_perfdata_damage *damage,
			      Gusprof__Footer *footer)
{
	const struct { uint64_t n; const char *one, *many; } counts[] = {
		{ s->strangers, "sample has an id that is no event's, and counts to none",
		  "samples have an id that is no event's, and count to none" },
		{ s->bad, "record is shorter than what it should hold, and was left out",
		  "records are shorter than what they should hold, and were left out" },
		{ s->guests, "sample is of a guest, whose code is not known here",
		  "samples are of guests, whose code is not known here" },
		{ damage->behind_bad, "packed record goes on behind one that cannot be unpacked, and is lost with it",
		  "packed records go on behind one that cannot be unpacked, and are lost with it" },
		{ damage->unfinished_records, "record began in a packed one, and its end is in no other",
		  "records began in packed ones, and their ends are in no others" },
		{ s->aux_cut, "piece of AUX data was cut: its buffer was full",
		  "pieces of AUX data were cut: their buffer was full" },
		{ s->aux_collided, "piece of AUX data lacks samples that collided with others",
		  "pieces of AUX data lack samples that collided with others" },
		{ s->aux_partial, "piece of AUX data has gaps", "pieces of AUX data have gaps" },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		gus_perfdata_notices_count(footer, counts[i].n, counts[i].one, counts[i].many);
	tell_types(s, footer);
	if (damage->features_cut)
		say(footer, "the file ends before what perf has written behind the records: of host, command, events' "
		    "names and build ids something is missing");
	if (damage->unfinished)
		say(footer, "perf did not come to finish the file: what it says of its machine, events' names and "
		    "build ids is missing");
	if (damage->too_much)
		say(footer, "what is compressed in the file unpacks to more records, or more bytes, than such a file "
		    "may have: the rest was left");
}
