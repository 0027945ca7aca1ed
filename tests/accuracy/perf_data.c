/* SPDX-License-Identifier: MIT */
/* A recording of perf as a recording of ours: `perf_data PERF.DATA OUT`. The kernel's records go through the parser
 * that the recorder uses, so that it is tried on records of machines that nobody here has. Only files, not pipes; only
 * events whose samples consist of what the recorder asks for. What cannot be converted ends with 77 and says why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "collector/records/records.h"
#include "proto/reader.h"
#include "proto/varint.h"
#include "proto/writer.h"

#define SKIPPED 77
#define SAMPLE_ID_ALL (1u << 18) /* of the flags in perf_event_attr */
/* PERF_SAMPLE_*: IP TID TIME ADDR ID CPU PERIOD STREAM_ID BRANCH_STACK IDENTIFIER; the chain; registers and stack */
#define PARSED 0x10dcf
#define CALLCHAIN 0x20
#define REGS_USER 0x1000
#define STACK_USER 0x2000
#define DATA_SRC 0x8000 /* behind these, and passed over */
/* Registers of x86-64 that our recordings have, by the ABI's bits: AX .. IP, R8 .. R15. perf asks for more. */
#define KEPT_REGS 0xff01ffull
#define IDENTIFIER 0x10000
#define BATCH 4096
#define STACK_WORDS (1u << 18)

#define MISC_MMAP_DATA 0x2000

enum { RECORD_MMAP = 1, RECORD_SAMPLE = 9, RECORD_MMAP2 = 10, RECORD_USER = 64, RECORD_AUXTRACE = 71,
	RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83 };

/* The events of the file; each has records of a form of its own. */
struct event { uint64_t sample_type, branch_type, regs, config, ids_at, ids_size; uint32_t type,
	flags; struct gus_records records; };

struct converter {
	const char *path;
	struct gus_cursor file;
	struct gus_vec(struct event) events;
	struct gus_sideband sideband;
	struct gus_columns batch;
	struct gus_writer *writer;
	struct gus_index ids;
	struct gus_vec(uint32_t) event_of;
	uint64_t samples, unknown, bad;
};

static void stop(int status, const char *path, const char *why)
{
	fprintf(stderr, "%s%s: %s\n", status == SKIPPED ? "skipped: " : "", path, why);
	exit(status);
}

static struct gus_cursor part(const struct converter *c, uint64_t at, uint64_t size)
{
	size_t all = (size_t)(c->file.end - c->file.start);

	if (at > all || size > all - at)
		stop(1, c->path, "a section lies outside of the file");
	return gus_cursor(c->file.start + at, (size_t)size);
}

/* perf_event_attr, and behind it where the event's ids are. */
static void read_event(struct converter *c, struct gus_cursor a, uint64_t attr_size)
{
	struct event e = { .type = gus_cursor_u32(&a) };

	gus_cursor_take(&a, 4);
	e.config = gus_cursor_u64(&a);
	gus_cursor_take(&a, 8);
	e.sample_type = gus_cursor_u64(&a);
	gus_cursor_take(&a, 8);
	e.flags = gus_cursor_u32(&a);
	gus_cursor_take(&a, 28);
	e.branch_type = gus_cursor_u64(&a);
	e.regs = gus_cursor_u64(&a);
	a.at = a.start + attr_size - 16;
	e.ids_at = gus_cursor_u64(&a);
	e.ids_size = gus_cursor_u64(&a);
	if (e.sample_type & ~(uint64_t)(PARSED | CALLCHAIN | REGS_USER | STACK_USER | DATA_SRC) ||
	    !(e.flags & SAMPLE_ID_ALL))
		stop(SKIPPED, c->path, "its samples hold what the recorder never asks for");
	gus_vec_push(&c->events, e);
}

static void read_ids(struct converter *c)
{
	bool is_new;

	gus_index_init(&c->ids, sizeof(uint64_t));
	for (uint32_t i = 0; i < c->events.n; i++) {
		struct event *e = &c->events.v[i];
		struct gus_cursor ids = part(c, e->ids_at, e->ids_size);

		/* an event without ids is number 0, the only one */
		gus_records_init(&e->records, e->sample_type, e->branch_type, 0);
		e->records.layout.regs_mask = e->regs;
		while (gus_cursor_left(&ids) >= 8) {
			uint64_t id = gus_cursor_u64(&ids);

			gus_records_add_id(&e->records, id, i);
			gus_index_add(&c->ids, &id, &is_new);
			if (is_new)
				gus_vec_push(&c->event_of, i);
		}
	}
	for (uint32_t i = 1; i < c->events.n; i++)
		if (c->events.v[i].sample_type != c->events.v[0].sample_type &&
		    !(c->events.v[0].sample_type & IDENTIFIER))
			stop(SKIPPED, c->path, "its events cannot be told apart");
}

/* Whose record it is: an identifier stands first in a sample and last in all others. */
static struct event *event_of(struct converter *c, uint32_t type, const uint8_t *record, size_t size)
{
	struct gus_cursor at = gus_cursor(record + (type == RECORD_SAMPLE ? 8 : size - 8), 8);
	uint64_t id = gus_cursor_u64(&at);
	uint32_t slot = c->events.v[0].sample_type & IDENTIFIER ? gus_index_find(&c->ids, &id) : GUS_INDEX_NONE;

	return &c->events.v[slot == GUS_INDEX_NONE ? 0 : c->event_of.v[slot]];
}

static void flush(struct converter *c)
{
	struct gus_error err = { 0 };
	Gusprof__Sideband sideband = gus_sideband_message(&c->sideband);

	if (gus_writer_sideband(c->writer, &sideband, &err) != 0 || gus_writer_samples(c->writer, &c->batch, &err) != 0)
		stop(1, c->path, err.text);
	gus_sideband_clear(&c->sideband);
	gus_columns_clear(&c->batch);
}

/* Those of them that our recordings have, in the same order. */
static uint32_t keep_regs(const struct gus_sample *s, uint64_t mask, uint64_t kept[64])
{
	uint32_t n = 0, at = 0;

	for (unsigned bit = 0; bit < 64 && at < s->regs_n; bit++) {
		if (!(mask >> bit & 1))
			continue;
		if (KEPT_REGS >> bit & 1)
			kept[n++] = s->regs[at];
		at++;
	}
	return n;
}

static void take(struct converter *c, uint32_t type, const uint8_t *record, size_t size)
{
	struct event *event = event_of(c, type, record, size);
	struct gus_record r = gus_records_parse(&event->records, record, size, &c->sideband);
	uint64_t regs[64];

	c->unknown += r.kind == GUS_RECORD_UNKNOWN;
	c->bad += r.kind == GUS_RECORD_BAD;
	if (r.kind != GUS_RECORD_SAMPLE)
		return;
	c->samples++;
	r.sample.regs_n = keep_regs(&r.sample, event->regs, regs);
	r.sample.regs = regs;
	gus_columns_push(&c->batch, &r.sample);
	if (c->batch.n == BATCH || c->batch.stack.n > STACK_WORDS)
		flush(c);
}

/* A mapping that is no code, which perf asks for beside stacks and the recorder never does. */
static bool is_data(uint32_t type, uint16_t misc)
{
	return (type == RECORD_MMAP || type == RECORD_MMAP2) && misc & MISC_MMAP_DATA;
}

static void convert(struct converter *c, struct gus_cursor data)
{
	while (gus_cursor_left(&data) >= 8) {
		const uint8_t *record = data.at;
		uint32_t type = gus_cursor_u32(&data);
		uint16_t misc;
		size_t size;

		misc = gus_cursor_u16(&data);
		size = gus_cursor_u16(&data);
		data.at = record;
		if (size < 8 || !gus_cursor_take(&data, size))
			stop(1, c->path, "a record is longer than what is left of the file");
		if (type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2)
			stop(SKIPPED, c->path, "it is compressed");
		if (type == RECORD_AUXTRACE) {
			struct gus_cursor body = gus_cursor(record + 8, size - 8);

			gus_cursor_take(&data, (size_t)gus_cursor_u64(&body));
		}
		if (type < RECORD_USER && size >= 16 && !is_data(type, misc))
			take(c, type, record, size);
	}
	flush(c);
}

static void create(struct converter *c, const char *path)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	Gusprof__Event *events = gus_alloc(c->events.n * sizeof(*events)), **list =
		gus_alloc(c->events.n * sizeof(*list));
	struct gus_error err = { 0 };

	for (size_t i = 0; i < c->events.n; i++) {
		gusprof__event__init(list[i] = &events[i]);
		events[i].name = (char *)(uintptr_t)"event";
		events[i].unit = (char *)(uintptr_t)"events";
		events[i].type = c->events.v[i].type;
		events[i].config = c->events.v[i].config;
		header.branch_type |= c->events.v[i].branch_type;
	}
	if (c->events.v[0].regs) {
		host.machine = (char *)(uintptr_t)"x86_64";
		header.host = &host;
		header.call_graph = (char *)(uintptr_t)"dwarf";
	}
	header.producer = (char *)(uintptr_t)"perf_data";
	header.events = list;
	header.n_events = c->events.n;
	c->writer = gus_writer_create(path, &header, &err);
	if (!c->writer)
		stop(1, path, err.text);
	free(events);
	free(list);
}

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	struct gus_bytes bytes = { 0 };
	uint8_t block[65536];
	size_t n;

	if (!f)
		stop(1, path, "cannot be opened");
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		gus_vec_append(&bytes, block, n);
	fclose(f);
	*size = bytes.n;
	return bytes.v;
}

int main(int argc, char **argv)
{
	struct converter c = { .path = argc == 3 ? argv[1] : "usage: perf_data PERF.DATA OUT" };
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	uint64_t attr_size, attrs_at, attrs_size, data_at, data_size;
	struct gus_cursor h;
	uint8_t *bytes;
	size_t size;

	if (argc != 3)
		stop(1, c.path, "two files are needed");
	bytes = read_file(argv[1], &size);
	c.file = h = gus_cursor(bytes, size);
	if (gus_cursor_u64(&h) != 0x32454c4946524550 || gus_cursor_u64(&h) < 72) /* "PERFILE2" */
		stop(SKIPPED, c.path, "it is no file of perf's, or one that was written to a pipe");
	attr_size = gus_cursor_u64(&h);
	attrs_at = gus_cursor_u64(&h);
	attrs_size = gus_cursor_u64(&h);
	data_at = gus_cursor_u64(&h);
	data_size = gus_cursor_u64(&h);
	if (h.bad || attr_size < 96 || attrs_size < attr_size)
		stop(SKIPPED, c.path, "it has no events that know of branches");
	for (uint64_t at = 0; attrs_size - at >= attr_size; at += attr_size)
		read_event(&c, part(&c, attrs_at + at, attr_size), attr_size);
	read_ids(&c);
	create(&c, argv[2]);
	convert(&c, part(&c, data_at, data_size));
	if (gus_writer_finish(c.writer, &footer, NULL) != 0)
		stop(1, argv[2], "cannot be finished");
	printf("%llu samples, %llu records of unknown types, %llu bad\n", (unsigned long long)c.samples,
	       (unsigned long long)c.unknown,
	       (unsigned long long)c.bad);
	for (size_t i = 0; i < c.events.n; i++)
		gus_records_free(&c.events.v[i].records);
	gus_vec_free(&c.events);
	gus_vec_free(&c.event_of);
	gus_index_free(&c.ids);
	gus_sideband_free(&c.sideband);
	gus_columns_free(&c.batch);
	free(bytes);
	return c.bad != 0;
}
