/* SPDX-License-Identifier: MIT */
/* Three kinds of passes over the file's records, all in its order:
 *
 *	survey	once, when it is opened: what events there are, how many samples each has, from when to when, what else
 *		there is of which kind; so header and footer are known before the first frame is asked for
 *	others	what is asked for: side band, samples, switches, data beside; what nobody asked for is stepped over
 *
 * What kernel and perf have written goes through the decoder of our own recorder (collector/records), with a layout for
 * each event, so that a field means the same wherever it comes from. On top of that stand here: which of the registers
 * are ours, times where records have none, build ids that stand in the header instead of the mappings.
 *
 * When a record is from that does not say so (written by a kernel before 2.6.36, or without sample_id_all): perf gives
 * it out at once, behind all samples of the rounds before, and so it is dated here. Where samples have no time either,
 * all are dated by their place in the file. */
#include "collector/perfdata/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "collector/perfdata/auxtrace.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/describe.h"
#include "collector/perfdata/samples.h"
#include "collector/perfdata/survey.h"
#include "collector/records/hardware.h"
#include "collector/records/records.h"
#include "proto/reader.h"

/* PERF_SAMPLE_TIME, PERF_RECORD_* of the ABI. */
enum { HAS_TIME = 1 << 2 };
enum { RECORD_COMM = 3, RECORD_FORK = 7, RECORD_SAMPLE = 9, LAST_OF_KERNEL = 63 };

/* What fills a frame. */
enum { THREADS_MOST = 1 << 22, ROWS = 8192, ENTRIES = 1 << 16, WORDS = 1 << 17, SIDEBAND_BYTES = 64 << 10 };

enum phase { HEADER, RECORDS, REST, FOOTER, OVER };

struct gus_import_name { uint32_t event; char *name; };

struct import {
	char *name;                     /* for messages */
	int fd, folder;                 /* folder: of a recording that is one, else -1 */
	uint64_t size;
	struct gus_perfdata *file;
	struct gus_records records;
	struct gus_perfdata_builds builds;
	struct gus_perfdata_aux aux;
	Gusprof__Header *header;        /* the reader's */
	Gusprof__Footer *footer;
	struct gus_perfdata_samples takes;
	struct gus_vec(struct gus_import_name) names; /* that records have told, ... */
	uint64_t names_bytes, names_left; /* ... what they take, and how many of them more there are than may be kept */
	uint64_t builds_bytes, builds_left; /* the same of build ids in records */
	uint32_t spe_event;             /* whose samples those of SPE are; events.n: nobody's */
	struct gus_sideband sideband;
	struct gus_columns samples, switches;
	struct gus_vec(uint8_t) packed; /* the message of the frame that was given last */
	enum phase phase;
	struct gus_columns *given;      /* what has to be emptied before the next record */
	struct gus_index threads;       /* of SPE: numbers of threads, ... */
	struct gus_vec(uint32_t) processes; /* ... and the processes that they are of */
	bool beside;                    /* there is more of what stands beside the last record */
	uint64_t number;                /* of the record, from 1 */
	uint64_t latest, before, flushed; /* times: of any sample, up to the last round, and to the one before that */
	uint64_t offset, sequence;      /* of frames */
	uint64_t told_bad, told_skipped; /* damage */
	bool timeless;                  /* no sample has a time */
	bool undated;                   /* there are records that do not say when they were written */
};

/* Records. */

static void take_sample(struct import *m, struct gus_sample *s)
{
	if (m->timeless)
		s->time = m->number;
	gus_perfdata_samples_take(&m->takes, s, &m->samples);
}

/* Of a record that says when it was, or not: see above. */
static uint64_t time_of(const struct import *m, uint64_t time)
{
	if (m->timeless)
		return m->number;
	return time || !m->undated ? time : m->flushed;
}

static void take_mapping(struct import *m, Gusprof__Mmap *map)
{
	const struct gus_perfdata_build *build;

	map->time = time_of(m, map->time);
	if (map->build_id.len)
		return;
	build = gus_perfdata_builds_find(&m->builds, map->path);
	if (build) {
		map->build_id.len = build->size;
		map->build_id.data = (uint8_t *)(uintptr_t)build->bytes;
	}
}

static void take_sideband(struct import *m, Gusprof__Record *r)
{
	switch (r->kind_case) {
	case GUSPROF__RECORD__KIND_MMAP:
		take_mapping(m, r->mmap);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		r->comm->time = time_of(m, r->comm->time);
		break;
	case GUSPROF__RECORD__KIND_FORK:
	case GUSPROF__RECORD__KIND_EXIT:
		r->fork->time = time_of(m, r->fork->time);
		break;
	case GUSPROF__RECORD__KIND_LOST:
		r->lost->time = time_of(m, r->lost->time);
		break;
	case GUSPROF__RECORD__KIND_KSYMBOL:
		r->ksymbol->time = time_of(m, r->ksymbol->time);
		break;
	case GUSPROF__RECORD__KIND_THROTTLE:
		r->throttle->time = time_of(m, r->throttle->time);
		break;
	default:
		break;
	}
}

/* What nothing else is made of stays as it is: whoever asks for it later, or exports the recording, has it. */
static void keep(struct import *m, const struct gus_perfdata_record *r)
{
	struct gus_records_trailer trailer;
	Gusprof__Kept *k;
	size_t size;

	if (!gus_records_trailer(&m->records, r->bytes, r->size, &trailer))
		return;
	size = r->size - 8 - trailer.size;
	k = gus_sideband_add(&m->sideband, GUSPROF__RECORD__KIND_KEPT, size + 1)->kept;
	k->type = r->type;
	k->misc = r->misc;
	k->time = time_of(m, trailer.time);
	k->pid = trailer.pid;
	k->tid = trailer.tid;
	k->cpu = trailer.cpu;
	k->body.len = size;
	k->body.data = (uint8_t *)gus_sideband_text(&m->sideband, r->bytes + 8, size);
}

/* What a pass that wants no samples has to know of them where others' times follow from theirs. */
static void pass_sample(struct import *m, const struct gus_perfdata_record *r)
{
	uint64_t time = m->undated ? gus_records_time(&m->records, r->bytes, r->size) : 0;

	m->latest = time > m->latest ? time : m->latest;
}

static void take_kernels(struct import *m, const struct gus_perfdata_record *r)
{
	struct gus_record out = gus_records_parse(&m->records, r->bytes, r->size, &m->sideband);

	switch (out.kind) {
	case GUS_RECORD_SAMPLE:
		m->latest = out.sample.time > m->latest ? out.sample.time : m->latest;
		take_sample(m, &out.sample);
		break;
	case GUS_RECORD_SWITCH:
		out.sw.time = time_of(m, out.sw.time);
		gus_columns_push_switch(&m->switches, &out.sw);
		break;
	case GUS_RECORD_SIDEBAND:
		take_sideband(m, out.sideband);
		break;
	case GUS_RECORD_IGNORED:
	case GUS_RECORD_UNKNOWN:
		keep(m, r);
		break;
	case GUS_RECORD_BAD: /* which the survey has counted */
		break;
	}
}

static void take_record(struct import *m, const struct gus_perfdata_record *r, uint32_t types)
{
	m->number++;
	if (r->type == GUS_PERFDATA_ROUND) {
		m->flushed = m->before;
		m->before = m->latest;
	} else if (r->type == GUS_PERFDATA_AUXTRACE) {
		gus_perfdata_aux_begin(&m->aux, r);
		m->beside = true;
	} else if (r->type == RECORD_SAMPLE && !(types >> GUS_FRAME_SAMPLES & 1)) {
		pass_sample(m, r);
	} else if (r->type <= LAST_OF_KERNEL) {
		take_kernels(m, r);
	}
}

/* SPE. */

/* Which process a thread is of, as the survey has heard of it; a thread that nobody told of is taken for its own. */
static uint32_t process_of(const struct import *m, uint32_t tid)
{
	uint32_t slot = gus_index_find(&m->threads, &tid);

	return slot == GUS_INDEX_NONE ? tid : m->processes.v[slot];
}

/* Threads, which only SPE's samples have to be told of: what they bring along is a number. */
static void hear_thread(struct import *m, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = gus_cursor(r->bytes, r->size);
	uint32_t pid, tid;
	bool is_new;

	c.big_endian = m->records.big_endian;
	gus_cursor_u64(&c);
	pid = gus_cursor_u32(&c);
	if (r->type == RECORD_FORK)
		gus_cursor_u32(&c); /* of whose child it is */
	tid = gus_cursor_u32(&c);
	if (c.bad || m->threads.n >= THREADS_MOST)
		return;
	gus_index_add(&m->threads, &tid, &is_new);
	if (is_new)
		gus_vec_push(&m->processes, pid);
	else
		m->processes.v[gus_index_find(&m->threads, &tid)] = pid;
}

/* Whose it is: the context, which Linux sets to the thread's number where it sets it, or whose buffer it is. */
static void take_spe(struct import *m, const struct gus_spe_record *r)
{
	struct gus_sample s = { .event = m->spe_event, .cpu = m->aux.piece.cpu,
				.tid = m->aux.piece.tid };
	struct gus_branch branch;

	if (r->known & GUS_SPE_HAS_CONTEXT)
		s.tid = r->context;
	s.pid = process_of(m, s.tid);
	if (s.event < m->takes.events.n)
		s.period = m->takes.events.v[s.event].period;
	s.mode = r->level ? GUS_MODE_KERNEL : GUS_MODE_USER;
	gus_hardware_spe(r, gus_perfdata_aux_midr(&m->aux, m->header->host->midr), &s, &branch);
	s.time = m->timeless ? m->number : r->known & GUS_SPE_HAS_TIMESTAMP ?
		gus_perfdata_aux_time(&m->aux, r->timestamp) : 0;
	gus_columns_push(&m->samples, &s);
}

/* Some more of what stands beside the last record: samples, or a piece of it as it is, in *out. 1 if there was
 * something. */
static int take_beside(struct import *m, uint32_t types, Gusprof__Aux *out, struct gus_error *err)
{
	struct gus_spe_record r;
	int got = 0;

	if (types >> GUS_FRAME_AUX & 1 && !gus_perfdata_aux_is_spe(&m->aux))
		return gus_perfdata_aux_next(&m->aux, m->file, out, err);
	if (!(types >> GUS_FRAME_SAMPLES & 1) || !gus_perfdata_aux_is_spe(&m->aux) || m->spe_event == m->takes.events.n)
		return 0;
	while (m->samples.n < ROWS && (got = gus_perfdata_aux_record(&m->aux, m->file, &r, err)) > 0)
		take_spe(m, &r);
	return got;
}

/* Frames. */

static bool is_full(const struct gus_columns *c)
{
	return c->n >= ROWS || c->chain.n >= ENTRIES || c->branch.n >= ENTRIES || c->stack.n >= WORDS ||
	       c->regs.n >= WORDS || c->extras.n >= WORDS;
}

static enum gus_read give_message(struct import *m, enum gus_frame_type type, const ProtobufCMessage *message,
				  struct gus_frame *frame)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	gus_vec_reserve(&m->packed, size + 1);
	protobuf_c_message_pack(message, m->packed.v);
	*frame = (struct gus_frame){ .type = type, .offset = m->offset, .sequence = m->sequence++,
				     .payload = m->packed.v, .size = size, .stored = (uint32_t)size };
	return GUS_READ_FRAME;
}

static enum gus_read give_rows(struct import *m, enum gus_frame_type type, struct gus_columns *rows,
			       struct gus_frame *frame)
{
	*frame = (struct gus_frame){ .type = type, .offset = m->offset, .sequence = m->sequence++, .rows = rows };
	m->given = rows;
	return GUS_READ_FRAME;
}

static enum gus_read give_sideband(struct import *m, struct gus_frame *frame)
{
	Gusprof__Sideband message = gus_sideband_message(&m->sideband);
	enum gus_read got = give_message(m, GUS_FRAME_SIDEBAND, &message.base, frame);

	gus_sideband_clear(&m->sideband);
	return got;
}

/* What was gathered, if it is enough, or all that is left. What nobody asked for is dropped. False: there is none. */
static bool give_gathered(struct import *m, uint32_t types, bool all, struct gus_frame *frame)
{
	if (!(types >> GUS_FRAME_SIDEBAND & 1))
		gus_sideband_clear(&m->sideband);
	if (!(types >> GUS_FRAME_SWITCHES & 1))
		gus_columns_clear(&m->switches);
	if (m->sideband.bytes >= SIDEBAND_BYTES || (all && m->sideband.records.n))
		give_sideband(m, frame);
	else if (is_full(&m->samples) || (all && m->samples.n))
		give_rows(m, GUS_FRAME_SAMPLES, &m->samples, frame);
	else if (is_full(&m->switches) || (all && m->switches.n))
		give_rows(m, GUS_FRAME_SWITCHES, &m->switches, frame);
	else
		return false;
	return true;
}

static bool is_damaged(struct import *m, struct gus_frame *frame, struct gus_error *err)
{
	const struct gus_perfdata_damage *d = gus_perfdata_damage(m->file);

	if (d->bad <= m->told_bad)
		return false;
	m->told_bad = d->bad;
	*frame = (struct gus_frame){ .offset = d->first_bad, .stored = (uint32_t)(d->skipped - m->told_skipped) };
	m->told_skipped = d->skipped;
	gus_fail(err, GUS_E_CORRUPT, "%s is corrupt at offset %llu: what stands there is no record", m->name,
		 (unsigned long long)d->first_bad);
	return true;
}

/* Records until there is a frame of them, or no more. */
static enum gus_read next_of_records(struct import *m, uint32_t types, struct gus_frame *frame, struct gus_error *err)
{
	for (;;) {
		struct gus_perfdata_record r;
		Gusprof__Aux piece;
		int got;

		if (is_damaged(m, frame, err))
			return GUS_READ_CORRUPT;
		if (give_gathered(m, types, m->phase == REST, frame))
			return GUS_READ_FRAME;
		if (m->phase == REST)
			break;
		got = m->beside ? take_beside(m, types, &piece, err) : 0;
		if (got > 0 && !gus_perfdata_aux_is_spe(&m->aux))
			return give_message(m, GUS_FRAME_AUX, &piece.base, frame);
		m->beside = m->beside && got > 0;
		if (got == 0)
			got = gus_perfdata_next(m->file, &r, err);
		if (got < 0)
			return GUS_READ_ERROR;
		if (m->beside)
			continue;
		m->offset = r.offset;
		if (got)
			take_record(m, &r, types);
		else
			m->phase = REST;
	}
	m->phase = FOOTER;
	return GUS_READ_END;
}

static enum gus_read give_footer(struct import *m, struct gus_frame *frame)
{
	return give_message(m, GUS_FRAME_FOOTER, &m->footer->base, frame);
}

static enum gus_read finish(struct import *m, struct gus_frame *frame, struct gus_error *err)
{
	const struct gus_perfdata_damage *d = gus_perfdata_damage(m->file);

	if (!d->cut && !d->ended_early)
		return GUS_READ_END;
	*frame = (struct gus_frame){ .offset = m->size - d->cut, .stored = (uint32_t)d->cut };
	if (d->cut)
		gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends at offset %llu within a record", m->name,
			 (unsigned long long)m->size);
	else
		gus_fail(err, GUS_E_TRUNCATED, "%s was cut: it ends before its records do", m->name);
	return GUS_READ_CUT;
}

static enum gus_read next(void *self, uint32_t types, struct gus_frame *frame, struct gus_error *err)
{
	struct import *m = self;
	enum gus_read got;

	if (m->given)
		gus_columns_clear(m->given);
	m->given = NULL;
	if (m->phase == HEADER) {
		m->phase = RECORDS;
		if (types >> GUS_FRAME_HEADER & 1)
			return give_message(m, GUS_FRAME_HEADER, &m->header->base, frame);
	}
	if (m->phase == RECORDS || m->phase == REST) {
		got = next_of_records(m, types, frame, err);
		if (got != GUS_READ_END)
			return got;
	}
	if (m->phase == FOOTER) {
		m->phase = OVER;
		if (types >> GUS_FRAME_FOOTER & 1)
			return give_footer(m, frame);
	}
	return finish(m, frame, err);
}

static void rewind_all(void *self)
{
	struct import *m = self;

	gus_perfdata_rewind(m->file);
	gus_perfdata_samples_rewind(&m->takes);
	gus_columns_clear(&m->samples);
	gus_columns_clear(&m->switches);
	gus_sideband_clear(&m->sideband);
	m->phase = HEADER;
	m->given = NULL;
	m->beside = false;
	m->number = m->latest = m->before = m->flushed = m->told_bad = m->told_skipped = m->sequence = m->offset = 0;
	m->aux.samples = 0;
	m->aux.lost = (struct gus_spe_lost){ 0 };
}

static void close_all(void *self)
{
	struct import *m = self;

	gus_perfdata_close(m->file);
	gus_records_free(&m->records);
	gus_perfdata_builds_free(&m->builds);
	gus_perfdata_aux_free(&m->aux);
	gus_sideband_free(&m->sideband);
	gus_columns_free(&m->samples);
	gus_columns_free(&m->switches);
	if (m->footer)
		gusprof__footer__free_unpacked(m->footer, NULL);
	gus_perfdata_samples_free(&m->takes);
	gus_vec_free(&m->packed);
	gus_vec_free(&m->processes);
	gus_index_free(&m->threads);
	close(m->fd);
	if (m->folder >= 0)
		close(m->folder);
	free(m->name);
	free(m);
}

/* The survey. */

static struct gus_records_layout layout_of(const struct gus_perfdata_attr *a)
{
	return (struct gus_records_layout){ .sample_type = a->sample_type, .branch_type = a->branch_type,
					    .read_format = a->read_format, .regs_mask = a->regs_user,
						.intr_mask = a->regs_intr,
					    .no_trailer = !(a->flags >> GUS_PERFDATA_ID_ALL & 1) };
}

/* Events that were met by now; of a pipe they stand between the records, before their own. */
static void add_events(struct import *m, struct gus_perfdata_survey *survey)
{
	while (m->records.layouts.n < gus_perfdata_attrs(m->file)) {
		const struct gus_perfdata_attr *a = gus_perfdata_attr(m->file, m->records.layouts.n);
		struct gus_records_layout layout = layout_of(a);

		for (size_t i = 0; i < a->ids.n; i++)
			gus_records_add_id(&m->records, a->ids.v[i], (uint32_t)m->records.layouts.n);
		gus_vec_push(&m->records.layouts, layout);
		m->records.events = (uint32_t)m->records.layouts.n;
		gus_vec_push(&survey->events, (struct gus_perfdata_survey_event){ 0 });
	}
}

static void keep_name(struct import *m, uint32_t event, const char *text, size_t room)
{
	struct gus_import_name n = { .event = event };
	size_t length = strnlen(text, room);

	if (sizeof(n) + length > GUS_LIMIT_PERFDATA_FEATURE - m->names_bytes) {
		m->names_left++;
		return;
	}
	m->names_bytes += sizeof(n) + length;
	n.name = gus_strndup(text, length);
	gus_vec_push(&m->names, n);
}

/* PERF_RECORD_EVENT_UPDATE with a name: of the event that has this id. Pipes have these in place of a feature. */
static void take_update(struct import *m, const struct gus_perfdata_record *r)
{
	const uint64_t name = 2;
	struct gus_cursor c = gus_cursor(r->bytes, r->size);
	uint64_t kind, id;
	uint32_t slot;

	c.big_endian = m->records.big_endian;
	gus_cursor_u64(&c);
	kind = gus_cursor_u64(&c);
	id = gus_cursor_u64(&c);
	slot = c.bad || kind != name ? GUS_INDEX_NONE : gus_index_find(&m->records.ids, &id);
	if (slot != GUS_INDEX_NONE && gus_cursor_left(&c) && *c.at)
		keep_name(m, m->records.event_of.v[slot], (const char *)c.at, gus_cursor_left(&c));
}

static void survey_record(struct import *m, struct gus_perfdata_survey *survey, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = gus_cursor(r->bytes, r->size);

	add_events(m, survey);
	gus_perfdata_survey_take(survey, &m->records, r);
	c.big_endian = m->records.big_endian;
	if ((r->type == RECORD_COMM || r->type == RECORD_FORK) && gus_perfdata_aux_is_spe(&m->aux))
		hear_thread(m, r);
	if (r->type == GUS_PERFDATA_BUILD_ID && r->size > GUS_LIMIT_PERFDATA_FEATURE - m->builds_bytes) {
		m->builds_left++;
	} else if (r->type == GUS_PERFDATA_BUILD_ID) {
		m->builds_bytes += r->size;
		gus_perfdata_builds_add(&m->builds, c);
	}
	if (r->type == GUS_PERFDATA_EVENT_UPDATE)
		take_update(m, r);
	else
		gus_perfdata_aux_note(&m->aux, r);
}

static int survey(struct import *m, struct gus_perfdata_survey *survey, struct gus_error *err)
{
	struct gus_perfdata_record r;
	int got;

	gus_perfdata_survey_init(survey, 0);
	survey->simpleperf = gus_perfdata_is_simpleperf(m->file);
	gus_records_init(&m->records, 0, 0, 0);
	m->records.big_endian = m->aux.big_endian = gus_perfdata_is_big_endian(m->file);
	add_events(m, survey);
	while ((got = gus_perfdata_next(m->file, &r, err)) > 0)
		survey_record(m, survey, &r);
	if (got < 0)
		return -1;
	add_events(m, survey);
	if (!m->records.layouts.n)
		return gus_fail(err, GUS_E_CORRUPT, "%s has no events: nothing says what its records are", m->name);
	gus_perfdata_builds_add(&m->builds, gus_perfdata_feature(m->file, GUS_PERFDATA_BUILD_IDS));
	gus_perfdata_builds_ready(&m->builds);
	return 0;
}

/* What follows from the survey. */

static void choose_events(struct import *m)
{
	m->spe_event = UINT32_MAX;
	m->timeless = true;
	gus_perfdata_samples_init(&m->takes, m->header->host, m->size);
	for (size_t i = 0; i < gus_perfdata_attrs(m->file); i++) {
		const struct gus_perfdata_attr *a = gus_perfdata_attr(m->file, i);
		const char *pmu = m->header->events[i]->pmu;

		gus_perfdata_samples_event(&m->takes, a, pmu);
		m->timeless &= !(a->sample_type & HAS_TIME);
		m->undated |= !(a->flags >> GUS_PERFDATA_ID_ALL & 1) || !(a->sample_type & HAS_TIME);
		if (m->spe_event == UINT32_MAX && (strncmp(pmu, "arm_spe", 7) == 0 ||
						   (m->aux.pmu && a->type == m->aux.pmu)))
			m->spe_event = (uint32_t)i;
	}
	if (m->spe_event == UINT32_MAX)
		m->spe_event = (uint32_t)m->takes.events.n;
}

static void name_events(struct import *m)
{
	for (size_t i = 0; i < m->names.n; i++) {
		Gusprof__Event *e = m->header->events[m->names.v[i].event];

		free(e->name);
		e->name = m->names.v[i].name;
	}
	gus_vec_free(&m->names);
}

static void find_kernel(struct import *m)
{
	const struct gus_perfdata_build *b = gus_perfdata_builds_find(&m->builds, "[kernel.kallsyms]");

	if (!b)
		return;
	m->header->host->kernel_build_id.data = gus_alloc(b->size);
	m->header->host->kernel_build_id.len = b->size;
	memcpy(m->header->host->kernel_build_id.data, b->bytes, b->size);
}

static void tell_aux(const struct import *m, Gusprof__Footer *footer)
{
	if (m->aux.pieces && !gus_perfdata_aux_is_spe(&m->aux))
		gus_perfdata_survey_say(footer, gus_format("%llu bytes of AUX data (%s) in %llu pieces are kept and "
							   "not decoded",
						  (unsigned long long)m->aux.bytes, gus_perfdata_aux_kind(&m->aux),
						  (unsigned long long)m->aux.pieces));
	if (m->aux.pieces && gus_perfdata_aux_is_spe(&m->aux) && m->spe_event == m->takes.events.n)
		gus_perfdata_survey_say(footer, gus_format("%llu bytes of SPE's are left out: no event of the "
							   "recording is theirs",
						  (unsigned long long)m->aux.bytes));
	if (m->aux.lost.bytes || m->aux.lost.damaged || m->aux.lost.cut)
		gus_perfdata_survey_say(footer, gus_format("of SPE's data %llu bytes are no packets, %llu records are "
							   "damaged and "
						  "%llu were cut", (unsigned long long)m->aux.lost.bytes,
						  (unsigned long long)m->aux.lost.damaged,
						  (unsigned long long)m->aux.lost.cut));
	if (m->aux.samples && !m->aux.timed)
		gus_perfdata_survey_say(footer, gus_strdup("nothing says how SPE's ticks become time: its samples have "
							   "none"));
	if (m->builds_left || m->names_left)
		gus_perfdata_survey_say(footer, gus_format("%llu build ids and %llu names of events are left out: the "
						  "others take 64 MiB", (unsigned long long)m->builds_left,
						  (unsigned long long)m->names_left));
	if (m->takes.left_out)
		gus_perfdata_survey_say(footer, gus_format("%llu samples of groups' members are left out: they are "
							   "more than such a file may have",
							   (unsigned long long)m->takes.left_out));
}

static void tell_samples(const struct import *m, const struct gus_perfdata_survey *s, Gusprof__Footer *footer)
{
	uint64_t samples = s->strangers;

	for (size_t i = 0; i < s->events.n; i++)
		samples += s->events.v[i].samples;
	if (s->counts && !samples)
		gus_perfdata_survey_say(footer, gus_strdup("the recording holds counts of perf stat, and no samples"));
	else if (m->timeless)
		gus_perfdata_survey_say(footer, gus_strdup("samples do not say when they were taken: their times are "
							   "numbers of records"));
}

static Gusprof__Footer *make_footer(const struct import *m, const struct gus_perfdata_survey *survey)
{
	Gusprof__Footer *footer = gus_alloc(sizeof(*footer));

	gusprof__footer__init(footer);
	footer->end_ns = m->timeless ? survey->records : survey->last_ns;
	footer->events = gus_alloc((survey->events.n + 1) * sizeof(*footer->events));
	for (size_t i = 0; i < survey->events.n; i++) {
		Gusprof__EventTotal *t = gus_alloc(sizeof(*t));

		gusprof__event_total__init(t);
		t->samples = survey->events.v[i].samples;
		t->lost = survey->events.v[i].lost;
		t->throttles = survey->events.v[i].throttles;
		footer->events[footer->n_events++] = t;
	}
	gus_perfdata_survey_tell(survey, gus_perfdata_damage(m->file), footer);
	tell_aux(m, footer);
	tell_samples(m, survey, footer);
	return footer;
}

/* A recording begins with its first sample, if nothing says that it did before. */
static void settle_start(Gusprof__Clock *clock, uint64_t first_ns, bool known)
{
	if (!known || (clock->start_ns && clock->start_ns <= first_ns))
		return;
	if (clock->start_realtime_ns)
		clock->start_realtime_ns += first_ns - clock->start_ns;
	clock->start_ns = first_ns;
}

/* Samples of SPE, and those that are made of a group's counts, are counted by making them: no record says how many
 * there are. */
static int count_made(struct import *m, struct gus_perfdata_survey *survey, struct gus_error *err)
{
	bool spe = gus_perfdata_aux_is_spe(&m->aux) && m->spe_event < survey->events.n;

	if (!spe && !m->takes.grouped)
		return 0;
	for (size_t i = 0; i < survey->events.n; i++)
		survey->events.v[i].samples = 0;
	rewind_all(m);
	for (;;) {
		struct gus_frame frame = { 0 };
		enum gus_read got = next(m, 1u << GUS_FRAME_SAMPLES, &frame, err);

		if (got == GUS_READ_ERROR)
			return -1;
		if (got == GUS_READ_END || got == GUS_READ_CUT)
			return 0;
		for (size_t i = 0; frame.rows && i < frame.rows->n; i++) {
			uint64_t event = frame.rows->column[GUS_COL_EVENT].v[i];

			if (event < survey->events.n)
				survey->events.v[event].samples++;
		}
	}
}

static int prepare(struct import *m, struct gus_perfdata_survey *s, struct gus_error *err)
{
	if (survey(m, s, err) != 0)
		return -1;
	m->header = gus_perfdata_describe(m->file);
	name_events(m);
	find_kernel(m);
	choose_events(m);
	if (m->timeless) {
		free(m->header->clock->name);
		m->header->clock->name = gus_strdup("records");
	}
	settle_start(m->header->clock, m->timeless ? 0 : s->first_ns, s->first_ns <= s->last_ns);
	if (count_made(m, s, err) != 0)
		return -1;
	for (size_t i = s->events.n; i-- > 0;)
		if (s->events.v[i].samples)
			m->header->main_event = (uint32_t)i;
	m->footer = make_footer(m, s);
	rewind_all(m);
	return 0;
}

struct gus_reader *gus_perfdata_reader(int fd, const char *name, struct gus_error *err)
{
	struct import *m = gus_zalloc(sizeof(*m));
	struct gus_reader_source source = { next, rewind_all, close_all, m, NULL, 0, 0 };
	struct gus_perfdata_survey s = { 0 };
	struct stat st;
	int rc;

	m->name = gus_strdup(name);
	m->folder = -1;
	gus_index_init(&m->threads, sizeof(uint32_t));
	m->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (m->fd >= 0 && fstat(m->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		m->folder = m->fd;
		m->fd = openat(m->folder, "data", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	if (m->fd < 0 || fstat(m->fd, &st) != 0) {
		gus_fail_errno(err, errno, "cannot read %s", name);
		close_all(m);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		gus_fail(err, GUS_E_UNSUPPORTED, "cannot read %s: its file 'data', which should be a recording of "
			 "perf, is no regular file", name);
		close_all(m);
		return NULL;
	}
	m->size = source.size = (uint64_t)st.st_size;
	source.owner = st.st_uid;
	m->file = gus_perfdata_open(m->fd, false, name, err);
	if (m->file && m->folder >= 0)
		gus_perfdata_in_folder(m->file, m->folder);
	rc = m->file ? prepare(m, &s, err) : -1;
	gus_perfdata_survey_free(&s);
	source.header = m->header;
	if (rc == 0)
		return gus_reader_open_source(&source, name);
	if (m->header)
		gusprof__header__free_unpacked(m->header, NULL);
	close_all(m);
	return NULL;
}
