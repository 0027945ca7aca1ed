/* SPDX-License-Identifier: MIT */
/* A file is looked through once when it is opened (the survey): what events there are, how many samples each has, from
 * when to when, what else there is of which kind; so header and footer are known before the first frame is asked for.
 * Everything that is asked for then is a pass of its own (passes.h). */
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
#include "collector/perfdata/attr.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/features.h"
#include "collector/perfdata/notices.h"
#include "collector/perfdata/passes.h"
#include "collector/perfdata/record.h"
#include "collector/perfdata/survey.h"

/* PERF_SAMPLE_TIME of the ABI. */
enum { HAS_TIME = 1 << 2 };
/* Types of records behind these are perf's own. */
enum { LAST_OF_KERNEL = 63 };

struct gus_import_name { uint32_t event; char *name; };

struct import {
	char *name;                     /* for messages */
	int fd, folder;                 /* folder: of a recording that is one, else -1 */
	Gusprof__Header *header;        /* the reader's, once there is one */
	Gusprof__Footer *footer;
	bool heard;                     /* the survey has met a record of the kernel's ... */
	bool again;                     /* ... before an event, with which such may mean something else */
	struct gus_vec(struct gus_import_name) names; /* that records have told, ... */
	uint64_t names_bytes, names_left; /* ... what they take, and how many of them more there are than may be kept */
	uint64_t builds_bytes, builds_left; /* the same of build ids in records */
	bool command_cut;
	struct gus_perfdata_passes passes;
};

static enum gus_read next(void *self, uint32_t types, struct gus_frame *frame, struct gus_error *err)
{
	struct import *m = self;

	return gus_perfdata_passes_next(&m->passes, types, frame, err);
}

static void rewind_all(void *self)
{
	struct import *m = self;

	gus_perfdata_passes_rewind(&m->passes);
}

static void forget_names(struct import *m)
{
	for (size_t i = 0; i < m->names.n; i++)
		free(m->names.v[i].name);
	m->names.n = 0;
}

static void close_all(void *self)
{
	struct import *m = self;

	gus_perfdata_passes_free(&m->passes);
	forget_names(m);
	gus_vec_free(&m->names);
	if (m->footer)
		gusprof__footer__free_unpacked(m->footer, NULL);
	if (m->fd >= 0)
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
	while (m->passes.records.layouts.n < gus_perfdata_attrs(m->passes.file)) {
		const struct gus_perfdata_attr *a = gus_perfdata_attr(m->passes.file, m->passes.records.layouts.n);
		struct gus_records_layout layout = layout_of(a);

		m->again |= m->heard;
		for (size_t i = 0; i < a->ids.n; i++)
			gus_records_add_id(&m->passes.records, a->ids.v[i], (uint32_t)m->passes.records.layouts.n);
		gus_vec_push(&m->passes.records.layouts, layout);
		m->passes.records.events = (uint32_t)m->passes.records.layouts.n;
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

	c.big_endian = m->passes.records.big_endian;
	gus_cursor_u64(&c);
	kind = gus_cursor_u64(&c);
	id = gus_cursor_u64(&c);
	slot = c.bad || kind != name ? GUS_INDEX_NONE : gus_index_find(&m->passes.records.ids, &id);
	if (slot != GUS_INDEX_NONE && gus_cursor_left(&c) && *c.at)
		keep_name(m, m->passes.records.event_of.v[slot], (const char *)c.at, gus_cursor_left(&c));
}

static void survey_record(struct import *m, struct gus_perfdata_survey *survey, const struct gus_perfdata_record *r)
{
	struct gus_cursor c = gus_cursor(r->bytes, r->size);

	add_events(m, survey);
	m->heard |= r->type <= LAST_OF_KERNEL;
	gus_perfdata_survey_take(survey, &m->passes.records, r);
	c.big_endian = m->passes.records.big_endian;
	gus_perfdata_aux_hear(&m->passes.aux, r);
	if (r->type == GUS_PERFDATA_BUILD_ID && r->size > GUS_LIMIT_PERFDATA_FEATURE - m->builds_bytes) {
		m->builds_left++;
	} else if (r->type == GUS_PERFDATA_BUILD_ID) {
		m->builds_bytes += r->size;
		gus_perfdata_builds_add(&m->passes.builds, c);
	}
	if (r->type == GUS_PERFDATA_EVENT_UPDATE)
		take_update(m, r);
	else
		gus_perfdata_aux_note(&m->passes.aux, r);
}

static int survey_all(struct import *m, struct gus_perfdata_survey *survey, struct gus_error *err)
{
	struct gus_perfdata_record r;
	int got;

	gus_perfdata_survey_init(survey, m->passes.records.layouts.n);
	survey->simpleperf = gus_perfdata_is_simpleperf(m->passes.file);
	gus_perfdata_aux_init(&m->passes.aux, m->passes.records.big_endian);
	add_events(m, survey);
	while ((got = gus_perfdata_next(m->passes.file, &r, err)) > 0)
		survey_record(m, survey, &r);
	add_events(m, survey);
	return got;
}

/* Drops what was surveyed, but for the events. */
static void forget_survey(struct import *m, struct gus_perfdata_survey *survey)
{
	gus_perfdata_survey_free(survey);
	gus_perfdata_builds_free(&m->passes.builds);
	gus_perfdata_aux_free(&m->passes.aux);
	forget_names(m);
	m->names_bytes = m->names_left = m->builds_bytes = m->builds_left = 0;
	m->passes.builds = (struct gus_perfdata_builds){ 0 };
	gus_perfdata_rewind(m->passes.file);
}

/* Of a pipe events stand between the records. Where one comes behind records that it says the meaning of, as perf does
 * not write it, all is taken again, with all events known: so it will be in each pass. */
static int survey(struct import *m, struct gus_perfdata_survey *survey, struct gus_error *err)
{
	int rc;

	gus_records_init(&m->passes.records, 0, 0, 0);
	m->passes.records.big_endian = gus_perfdata_is_big_endian(m->passes.file);
	rc = survey_all(m, survey, err);
	if (rc == 0 && m->again) {
		forget_survey(m, survey);
		rc = survey_all(m, survey, err);
	}
	if (rc < 0)
		return -1;
	if (!m->passes.records.layouts.n)
		return gus_fail(err, GUS_E_CORRUPT, "%s has no events: nothing says what its records are", m->name);
	gus_perfdata_builds_add(&m->passes.builds, gus_perfdata_feature(m->passes.file, GUS_PERFDATA_BUILD_IDS));
	gus_perfdata_builds_ready(&m->passes.builds);
	return 0;
}

/* What follows from the survey. */

/* The first event that SPE's samples can be of. */
static bool is_spe(const struct import *m, uint32_t type, const char *pmu)
{
	const struct gus_perfdata_aux *aux = &m->passes.aux;

	return aux->event == GUS_PERFDATA_AUX_NOBODY &&
	       (strncmp(pmu, "arm_spe", 7) == 0 || (aux->pmu && type == aux->pmu));
}

static void choose_events(struct import *m)
{
	m->passes.timeless = true;
	m->passes.aux.midr = m->header->host->midr;
	gus_perfdata_samples_init(&m->passes.takes, m->header->host, m->passes.size);
	for (size_t i = 0; i < gus_perfdata_attrs(m->passes.file); i++) {
		const struct gus_perfdata_attr *a = gus_perfdata_attr(m->passes.file, i);
		const char *pmu = m->header->events[i]->pmu;

		gus_perfdata_samples_event(&m->passes.takes, a, pmu);
		m->passes.timeless &= !(a->sample_type & HAS_TIME);
		m->passes.undated |= !(a->flags >> GUS_PERFDATA_ID_ALL & 1) || !(a->sample_type & HAS_TIME);
		if (is_spe(m, a->type, pmu)) {
			m->passes.aux.event = (uint32_t)i;
			m->passes.aux.period = m->passes.takes.events.v[i].period;
		}
	}
}

static void name_events(struct import *m)
{
	for (size_t i = 0; i < m->names.n; i++) {
		Gusprof__Event *e = m->header->events[m->names.v[i].event];

		free(e->name);
		e->name = m->names.v[i].name;
	}
	m->names.n = 0; /* they are the header's now */
}

/* A header is one frame, which has 4 MiB at most. */
enum { COMMAND_MOST = 1 << 20 };

/* The beginning of it says what was run; the rest are names of files, as a rule. */
static bool cut_command(Gusprof__Header *h)
{
	size_t left = COMMAND_MOST, length;
	bool cut = false;

	for (size_t i = 0; i < h->n_command; i++) {
		length = strlen(h->command[i]);
		cut |= length > left;
		if (length > left)
			h->command[i][left] = '\0';
		left -= length < left ? length : left;
	}
	while (cut && h->n_command && !*h->command[h->n_command - 1])
		free(h->command[--h->n_command]);
	return cut;
}

static void find_kernel(struct import *m)
{
	const struct gus_perfdata_build *b = gus_perfdata_builds_find(&m->passes.builds, "[kernel.kallsyms]");

	if (!b)
		return;
	m->header->host->kernel_build_id.data = gus_alloc(b->size);
	m->header->host->kernel_build_id.len = b->size;
	memcpy(m->header->host->kernel_build_id.data, b->bytes, b->size);
}

static void tell_spe(const struct gus_perfdata_aux *aux, Gusprof__Footer *footer)
{
	const struct gus_spe_lost *lost = &aux->lost;

	if (aux->event == GUS_PERFDATA_AUX_NOBODY)
		gus_perfdata_notices_count(footer, aux->bytes,
					   "byte of SPE's is left out: no event of the recording is theirs",
					   "bytes of SPE's are left out: no event of the recording is theirs");
	gus_perfdata_notices_count(footer, lost->bytes, "byte of SPE's data is no packet",
				   "bytes of SPE's data are no packets");
	gus_perfdata_notices_count(footer, lost->damaged, "record of SPE's is damaged", "records of SPE's are damaged");
	gus_perfdata_notices_count(footer, lost->cut, "record of SPE's was cut", "records of SPE's were cut");
	if (aux->samples && !aux->timed)
		gus_perfdata_notices_add(footer, gus_strdup("nothing says how SPE's ticks become time: its samples "
							    "have none"));
}

static void tell_aux(const struct gus_perfdata_aux *aux, Gusprof__Footer *footer)
{
	if (aux->pieces && gus_perfdata_aux_is_spe(aux))
		tell_spe(aux, footer);
	else if (aux->pieces)
		gus_perfdata_notices_add(footer, gus_format("%llu bytes of AUX data (%s) in %llu piece%s are kept and "
							    "not decoded", (unsigned long long)aux->bytes,
							    gus_perfdata_aux_kind(aux),
							    (unsigned long long)aux->pieces,
							    aux->pieces == 1 ? "" : "s"));
}

static void tell_left_out(const struct import *m, Gusprof__Footer *footer)
{
	gus_perfdata_notices_count(footer, m->builds_left, "build id is left out: the others take 64 MiB",
				   "build ids are left out: the others take 64 MiB");
	gus_perfdata_notices_count(footer, m->names_left, "name of an event is left out: the others take 64 MiB",
				   "names of events are left out: the others take 64 MiB");
	if (m->command_cut)
		gus_perfdata_notices_add(footer, gus_strdup("the command was longer than a megabyte, and is cut"));
	gus_perfdata_notices_count(footer, m->passes.takes.left_out,
				   "sample of a group's member is left out: there are more than such a file may have",
				   "samples of groups' members are left out: they are more than such a file may have");
}

static void tell_samples(const struct import *m, const struct gus_perfdata_survey *s, Gusprof__Footer *footer)
{
	uint64_t samples = s->strangers;

	for (size_t i = 0; i < s->events.n; i++)
		samples += s->events.v[i].samples;
	if (s->counts && !samples)
		gus_perfdata_notices_add(footer, gus_strdup("the recording holds counts of perf stat, and no samples"));
	else if (m->passes.timeless)
		gus_perfdata_notices_add(footer, gus_strdup("samples do not say when they were taken: their times are "
							    "numbers of records"));
}

static Gusprof__Footer *make_footer(const struct import *m, const struct gus_perfdata_survey *survey)
{
	Gusprof__Footer *footer = gus_alloc(sizeof(*footer));

	gusprof__footer__init(footer);
	footer->end_ns = m->passes.timeless ? survey->records : survey->last_ns;
	footer->events = gus_alloc((survey->events.n + 1) * sizeof(*footer->events));
	for (size_t i = 0; i < survey->events.n; i++) {
		Gusprof__EventTotal *t = gus_alloc(sizeof(*t));

		gusprof__event_total__init(t);
		t->samples = survey->events.v[i].samples;
		t->lost = survey->events.v[i].lost;
		t->throttles = survey->events.v[i].throttles;
		footer->events[footer->n_events++] = t;
	}
	gus_perfdata_survey_tell(survey, gus_perfdata_damage(m->passes.file), footer);
	tell_aux(&m->passes.aux, footer);
	tell_left_out(m, footer);
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

static void count_row(const struct import *m, struct gus_perfdata_survey *survey, const struct gus_columns *rows,
		      size_t i)
{
	uint64_t event = rows->column[GUS_COL_EVENT].v[i];

	if (event < survey->events.n)
		survey->events.v[event].samples++;
	if (!m->passes.timeless)
		gus_perfdata_survey_time(survey, rows->column[GUS_COL_TIME].v[i]);
}

/* Samples of SPE, and those that are made of a group's counts, are counted by making them: no record says how many
 * there are, nor when they were. */
static int count_made(struct import *m, struct gus_perfdata_survey *survey, struct gus_error *err)
{
	bool spe = gus_perfdata_aux_is_spe(&m->passes.aux) && m->passes.aux.event != GUS_PERFDATA_AUX_NOBODY;

	if (!spe && !m->passes.takes.grouped)
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
		for (size_t i = 0; frame.rows && i < frame.rows->n; i++)
			count_row(m, survey, frame.rows, i);
	}
}

static int prepare(struct import *m, struct gus_perfdata_survey *s, struct gus_error *err)
{
	if (survey(m, s, err) != 0)
		return -1;
	m->passes.header = m->header = gus_perfdata_describe(m->passes.file);
	m->command_cut = cut_command(m->header);
	name_events(m);
	find_kernel(m);
	choose_events(m);
	if (m->passes.timeless) {
		free(m->header->clock->name);
		m->header->clock->name = gus_strdup("records");
	}
	if (count_made(m, s, err) != 0)
		return -1;
	settle_start(m->header->clock, m->passes.timeless ? 0 : s->first_ns, s->first_ns <= s->last_ns);
	for (size_t i = s->events.n; i-- > 0;)
		if (s->events.v[i].samples)
			m->header->main_event = (uint32_t)i;
	m->passes.footer = m->footer = make_footer(m, s);
	rewind_all(m);
	return 0;
}

/* What came through a pipe lies in a file of ours that has no name, and whose time says nothing. */
static uint64_t time_written(const struct stat *st)
{
	return st->st_nlink ? (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec : 0;
}

struct gus_reader *gus_perfdata_reader(int fd, const char *name, struct gus_error *err)
{
	struct import *m = gus_zalloc(sizeof(*m));
	struct gus_reader_source source = { next, rewind_all, close_all, m, NULL, 0, 0 };
	struct gus_perfdata_survey s = { 0 };
	struct stat st;
	int rc;

	m->passes.name = m->name = gus_strdup(name);
	m->folder = -1;
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
	m->passes.size = source.size = (uint64_t)st.st_size;
	source.owner = st.st_uid;
	m->passes.file = gus_perfdata_open(m->fd, name, err);
	if (m->passes.file && m->folder >= 0)
		gus_perfdata_in_folder(m->passes.file, m->folder);
	rc = m->passes.file ? prepare(m, &s, err) : -1;
	gus_perfdata_survey_free(&s);
	source.header = m->header;
	if (rc == 0) {
		m->header->origin->written_ns = time_written(&st);
		return gus_reader_open_source(&source, name);
	}
	if (m->header)
		gusprof__header__free_unpacked(m->header, NULL);
	close_all(m);
	return NULL;
}
