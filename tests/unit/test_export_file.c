/* SPDX-License-Identifier: MIT */
/* Recordings exported as perf.data, looked at byte by byte: what stands where, in a file and in a pipe. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "base/error.h"
#include "cli/export/contents.h"
#include "cli/export/file.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/features.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/varint.h"
#include "proto/writer.h"
#include "tests/unit/made_sideband.h"

/* PERF_RECORD_*. */
enum { COMM = 3, SAMPLE = 9, MMAP2 = 10, SWITCH = 14, NAMESPACES = 16, ATTR = 64, TRACING = 66, BUILD_ID = 67,
	ROUND = 68, FEATURE = 80 };
enum { EVENTS = 2, ATTR_SIZE = 128, HEADER = 104, HEAD = 8 };

struct record { uint32_t type; uint16_t misc; struct gus_cursor body; };

struct made {
	char path[64];
	Gusprof__Header header;
	Gusprof__Host host;
	Gusprof__Event event[EVENTS], *events[EVENTS];
	struct gus_writer *w;
	struct gus_columns samples;
	struct gus_bytes out;           /* what was exported */
	struct gus_export_result result;
	struct gus_error err;
	struct gus_vec(struct record) records;
};

static char *text(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static int setup(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	m->header = (Gusprof__Header)GUSPROF__HEADER__INIT;
	m->host = (Gusprof__Host)GUSPROF__HOST__INIT;
	m->header.host = &m->host;
	m->header.events = m->events;
	m->header.n_events = EVENTS;
	for (size_t i = 0; i < EVENTS; i++) {
		m->event[i] = (Gusprof__Event)GUSPROF__EVENT__INIT;
		m->event[i].name = text(i ? "second" : "first");
		m->events[i] = &m->event[i];
	}
	strcpy(m->path, "/tmp/gusprof-test-XXXXXX");
	close(mkstemp(m->path));
	unlink(m->path);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	gus_columns_free(&m->samples);
	gus_vec_free(&m->out);
	gus_vec_free(&m->records);
	unlink(m->path);
	free(m);
	return 0;
}

/* Once the header is as it should be. */
static void begin(struct made *m)
{
	m->w = gus_writer_create(m->path, &m->header, NULL);
	assert_non_null(m->w);
}

static void sample(struct made *m, uint32_t event, uint64_t time)
{
	gus_columns_push(&m->samples, &(struct gus_sample){ .event = event, .time = time, .ip = 0x1000 + time,
							    .cpu = 1, .mode = GUS_MODE_USER });
}

static void named(struct made *m, uint64_t time, const char *name)
{
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	r.kind_case = GUSPROF__RECORD__KIND_COMM;
	r.comm = &comm;
	comm.time = time;
	comm.name = text(name);
	assert_true(made_record(m->w, &r));
}

static int export_to(struct made *m, int fd, bool pipe)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_contents contents = { 0 };
	struct gus_reader *reader;
	int rc;

	if (m->w) {
		assert_int_equal(gus_writer_samples(m->w, &m->samples, NULL), 0);
		assert_int_equal(gus_writer_finish(m->w, &footer, NULL), 0);
	}
	m->w = NULL;
	reader = gus_reader_open(m->path, NULL);
	assert_non_null(reader);
	assert_int_equal(gus_contents_make(&contents, reader, NULL), 0);
	rc = gus_export_write(fd, pipe, reader, &contents, "made", &m->result, &m->err);
	gus_contents_free(&contents);
	gus_reader_close(reader);
	return rc;
}

/* All records in a stretch of what was written: they fill it. */
static void take_records(struct made *m, uint64_t from, uint64_t size)
{
	struct gus_cursor c = gus_cursor(m->out.v + from, size);

	m->records.n = 0;
	while (gus_cursor_left(&c)) {
		struct record r = { .type = gus_cursor_u32(&c), .misc = gus_cursor_u16(&c) };
		uint16_t bytes = gus_cursor_u16(&c);

		assert_true(bytes >= HEAD && bytes <= gus_cursor_left(&c) + HEAD);
		r.body = gus_cursor(gus_cursor_take(&c, bytes - HEAD), bytes - HEAD);
		gus_vec_push(&m->records, r);
		if (r.type == TRACING)
			gus_cursor_take(&c, gus_cursor_u32(&r.body));
	}
	assert_false(c.bad);
}

static uint64_t word(const struct made *m, uint64_t at)
{
	struct gus_cursor c = gus_cursor(m->out.v + at, 8);

	return gus_cursor_u64(&c);
}

static void exported(struct made *m, bool pipe)
{
	int fd = memfd_create("exported", MFD_CLOEXEC);
	off_t size;

	assert_int_equal(export_to(m, fd, pipe), 0);
	size = lseek(fd, 0, SEEK_END);
	assert_int_equal(m->result.bytes, size);
	m->out.n = 0;
	gus_vec_reserve(&m->out, (size_t)size);
	assert_int_equal(pread(fd, m->out.v, (size_t)size, 0), size);
	m->out.n = (size_t)size;
	close(fd);
	assert_memory_equal(m->out.v, "PERFILE2", 8);
	if (pipe) {
		assert_int_equal(word(m, 8), 16);
		take_records(m, 16, m->out.n - 16);
	} else {
		take_records(m, word(m, 40), word(m, 48));
	}
}

static unsigned count(const struct made *m, uint32_t type)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->records.n; i++)
		n += m->records.v[i].type == type;
	return n;
}

/* The file. */

/* Header, ids, events, records, the table of features, features: each begins where the one before it ends. */
static void parts_of_a_file(void **state)
{
	struct made *m = *state;
	uint64_t at, table, n = 0;

	m->host.hostname = text("box");
	m->event[1].read_format = 4;
	begin(m);
	sample(m, 0, 5);
	for (uint64_t which = 0; which < 3; which++) { /* the second event has three counters */
		const uint64_t counts[] = { 5, 1 | which << 32 };
		struct gus_extras extras = { 0 };

		gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, counts, sizeof(counts));
		gus_columns_push(&m->samples, &(struct gus_sample){ .time = 6 + which, .event = 1, .extras = extras.v,
								    .extras_n = (uint32_t)extras.n });
		gus_vec_free(&extras);
	}
	exported(m, false);
	assert_int_equal(m->result.samples, 4);
	assert_int_equal(word(m, 8), HEADER);
	assert_int_equal(word(m, 16), ATTR_SIZE + 16);
	at = HEADER;
	for (uint64_t i = 0; i < 4; i++, at += 8)
		assert_int_equal(word(m, at), i ? ((i - 1) << 32) + 2 : 1);
	assert_int_equal(word(m, 24), at);
	assert_int_equal(word(m, 32), EVENTS * (ATTR_SIZE + 16));
	assert_int_equal(word(m, at + ATTR_SIZE), HEADER);
	assert_int_equal(word(m, at + ATTR_SIZE + 8), 8);
	assert_int_equal(word(m, at + 2 * ATTR_SIZE + 16), HEADER + 8);
	assert_int_equal(word(m, at + 2 * ATTR_SIZE + 24), 24);
	at += EVENTS * (ATTR_SIZE + 16);
	assert_int_equal(word(m, 40), at);
	at += word(m, 48);
	assert_int_equal(word(m, 56) | word(m, 64), 0); /* names of event types, which nobody has any more */
	for (unsigned i = 0; i < 256; i++)
		n += word(m, 72 + i / 64 * 8) >> i % 64 & 1;
	assert_true(word(m, 72) >> GUS_PERFDATA_HOSTNAME & 1 && word(m, 72) >> GUS_PERFDATA_EVENT_NAMES & 1);
	assert_int_equal(n, 3); /* and when samples are from */
	assert_true(word(m, 72) >> GUS_PERFDATA_SAMPLE_TIME & 1);
	table = at;
	at += n * 16;
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(word(m, table + 16 * i), at);
		at += word(m, table + 16 * i + 8);
	}
	assert_int_equal(at, m->out.n);
	assert_memory_equal(m->out.v + word(m, table) + 4, "box", 4);
}

/* What happened, in the order of time, and behind it a round. */
static void records_in_order(void **state)
{
	struct gus_columns rows = { 0 };
	struct made *m = *state;

	begin(m);
	sample(m, 0, 30);
	sample(m, 1, 10);
	sample(m, 2, 15); /* of no event */
	named(m, 20, "name");
	gus_columns_push_switch(&rows, &(struct gus_switch){ .time = 25, .cpu = 1 });
	assert_int_equal(gus_writer_switches(m->w, &rows, NULL), 0);
	gus_columns_free(&rows);
	exported(m, false);
	assert_int_equal(m->result.samples, 2);
	for (size_t i = 0; i < m->records.n; i++)
		assert_int_equal(m->records.v[i].type,
				 ((const uint32_t[]){ MMAP2, SAMPLE, COMM, SWITCH, SAMPLE, ROUND })[i]);
	assert_int_equal(m->records.n, 6);
	assert_int_equal(m->result.too_long | m->result.kept | m->result.ids_left | m->result.absent, 0);
}

/* A round about each MiB, so that perf keeps no more than two of these; none is empty. */
static void rounds(void **state)
{
	enum { N = 50000, BYTES = 56 }; /* of a flat sample with its CPU */
	struct made *m = *state;
	uint64_t since = 0;

	begin(m);
	for (unsigned i = 0; i < N; i++)
		sample(m, 0, 1 + i);
	exported(m, false);
	assert_int_equal(count(m, SAMPLE), N);
	assert_int_equal(count(m, ROUND), N * BYTES / (1 << 20) + 1);
	for (size_t i = 0; i < m->records.n; i++) {
		since += gus_cursor_left(&m->records.v[i].body) + HEAD;
		if (m->records.v[i].type == ROUND) {
			assert_true(since > HEAD && since < (1 << 20) + 2 * BYTES + 200);
			assert_true(since >= 1 << 20 || i == m->records.n - 1);
			since = 0;
		}
	}
	assert_int_equal(since, 0);
}

/* The kernel. */

static void symbols(struct made *m, uint64_t start, uint64_t end)
{
	Gusprof__Symbol s = GUSPROF__SYMBOL__INIT, *list[] = { &s };
	Gusprof__KernelSymbols message = GUSPROF__KERNEL_SYMBOLS__INIT;

	s.address = 0xffffffffc0001ff0;
	s.size = 0x11;
	s.module = text("ext4");
	message.symbols = list;
	message.n_symbols = 1;
	message.text_start = start;
	message.text_end = end;
	assert_int_equal(gus_writer_message(m->w, GUS_FRAME_KERNEL_SYMBOLS, &message.base, NULL), 0);
}

static void expect_mapping(struct record r, uint64_t start, uint64_t length, uint64_t offset, const char *path)
{
	assert_int_equal(r.type, MMAP2);
	assert_int_equal(r.misc & 7, 1); /* the kernel's */
	assert_int_equal(gus_cursor_u64(&r.body), UINT32_MAX); /* pid -1, tid 0 */
	assert_int_equal(gus_cursor_u64(&r.body), start);
	assert_int_equal(gus_cursor_u64(&r.body), length);
	assert_int_equal(gus_cursor_u64(&r.body), offset);
	gus_cursor_take(&r.body, 24);
	assert_int_equal(gus_cursor_u32(&r.body), 4); /* it is executed */
	assert_int_equal(gus_cursor_u32(&r.body), 0);
	assert_string_equal((const char *)r.body.at, path);
}

/* Where it was, and its modules in whole pages. */
static void where_the_kernel_was(void **state)
{
	struct made *m = *state;

	begin(m);
	symbols(m, 0xffffffff81000000, 0xffffffff82000000);
	exported(m, false);
	assert_int_equal(m->records.n, 3);
	expect_mapping(m->records.v[0], 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	expect_mapping(m->records.v[1], 0xffffffffc0001000, 0x2000, 0, "[ext4]");
}

/* If the recording tells it, or another program's did not, it is not told once more. */
static void kernels_that_are_told(void **state)
{
	const struct made_mapping told = { .pid = UINT32_MAX, .start = 0xffffffff81000000, .length = 0x1000,
					   .path = "[kernel.kallsyms]_text", .kernel = true };
	struct made *m = *state;
	struct made_mmap r;

	begin(m);
	symbols(m, 0xffffffff81000000, 0xffffffff82000000);
	made_mmap(&r, &told);
	assert_true(made_record(m->w, &r.record));
	exported(m, false);
	assert_int_equal(count(m, MMAP2), 1);
}

static void kernels_of_others(void **state)
{
	Gusprof__Origin origin = GUSPROF__ORIGIN__INIT;
	struct made *m = *state;

	m->header.origin = &origin;
	begin(m);
	symbols(m, 0xffffffff81000000, 0xffffffff82000000);
	exported(m, false);
	assert_int_equal(count(m, MMAP2), 0);
}

/* Of none of whose code there is a sample: it is said to be there if one of the events was of it. */
static void kernels_without_samples(void **state)
{
	struct made *m = *state;

	for (unsigned of_users = 0; of_users < 4; of_users++) {
		m->header.events[0]->exclude_kernel = of_users & 1;
		m->header.events[1]->exclude_kernel = of_users >> 1;
		unlink(m->path);
		begin(m);
		exported(m, false);
		assert_int_equal(count(m, MMAP2), of_users != 3);
	}
	unlink(m->path);
	begin(m);
	symbols(m, 0xffffffff81000000, 0xffffffff82000000);
	exported(m, false);
	assert_int_equal(count(m, MMAP2), 2);
}

/* What another program's file had. */

static void kept(struct made *m, uint32_t type)
{
	Gusprof__Kept k = GUSPROF__KEPT__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	k.type = type;
	r.kind_case = GUSPROF__RECORD__KIND_KEPT;
	r.kept = &k;
	assert_true(made_record(m->w, &r));
}

/* Its features stay as they were, but for those that are of the file and not of what was recorded; and nothing of it
 * if its bytes stood the other way round. */
static void features_of_others(void **state)
{
	static const uint32_t own[] = { GUS_PERFDATA_BUILD_IDS, GUS_PERFDATA_EVENT_NAMES, GUS_PERFDATA_BRANCHES,
		GUS_PERFDATA_AUXTRACE_INDEX, GUS_PERFDATA_STAT, GUS_PERFDATA_SAMPLE_TIME, GUS_PERFDATA_DIRECTORY,
		GUS_PERFDATA_COMPRESSED };
	enum { N = sizeof(own) / sizeof(*own) + 3, TOPOLOGY = 13, NEW = 129 };
	static const uint32_t others[] = { TOPOLOGY, GUS_PERFDATA_CPUID, NEW };
	Gusprof__Origin origin = GUSPROF__ORIGIN__INIT;
	Gusprof__Feature f[N], *list[N];
	struct made *m = *state;

	for (size_t i = 0; i < N; i++) {
		f[i] = (Gusprof__Feature)GUSPROF__FEATURE__INIT;
		f[i].number = i < N - 3 ? own[i] : others[i - (N - 3)];
		f[i].bytes = (ProtobufCBinaryData){ 6, (uint8_t *)(uintptr_t)"as is " };
		list[i] = &f[i];
	}
	origin.features = list;
	origin.n_features = N;
	m->header.origin = &origin;
	m->host.midr = 5; /* of which a feature would be made */
	for (unsigned turned = 0; turned < 2; turned++) {
		uint64_t names = UINT64_C(1) << GUS_PERFDATA_EVENT_NAMES, cpuid = UINT64_C(1) << GUS_PERFDATA_CPUID;
		uint64_t table;

		origin.big_endian = turned;
		begin(m);
		kept(m, NAMESPACES);
		kept(m, 11);
		exported(m, false);
		assert_int_equal(word(m, 72), names | cpuid | (turned ? 0 : 1 << TOPOLOGY));
		assert_int_equal(word(m, 80) | word(m, 96), 0);
		assert_int_equal(word(m, 88), turned ? 0 : 2); /* bit 129 */
		table = word(m, 40) + word(m, 48);
		if (!turned) {
			assert_int_equal(word(m, table + 8), 6);
			assert_memory_equal(m->out.v + word(m, table), "as is ", 6);
		}
		assert_int_equal(count(m, NAMESPACES), !turned);
		assert_int_equal(m->result.kept, !turned);
		assert_int_equal(m->result.too_long, 0); /* what does not go is not too long for it */
		unlink(m->path);
	}
}

/* Those of which nothing tells a name are counted, unless what the file had told of them is there. */
static void tracepoints(void **state)
{
	Gusprof__Origin origin = GUSPROF__ORIGIN__INIT;
	Gusprof__Feature f = GUSPROF__FEATURE__INIT, *list[] = { &f };
	struct made *m = *state;

	m->event[0].type = m->event[1].type = 2;
	f.number = GUS_PERFDATA_TRACING_DATA;
	f.bytes = (ProtobufCBinaryData){ 6, (uint8_t *)(uintptr_t)"as is " };
	origin.features = list;
	m->header.origin = &origin;
	for (unsigned told = 0; told < 2; told++) {
		origin.n_features = told;
		unlink(m->path);
		begin(m);
		exported(m, false);
		assert_int_equal(m->result.unnamed, told ? 0 : 2);
		m->event[1].name = text("sched:switch");
		unlink(m->path);
		begin(m);
		exported(m, true);
		assert_int_equal(m->result.unnamed, told ? 0 : 1);
		m->event[1].name = text("second");
	}
	m->header.origin = NULL;
}

/* The pipe. */

/* Events, what the machine is, build ids, what happened. */
static void parts_of_a_pipe(void **state)
{
	const struct made_mapping a = { .time = 1, .pid = 5, .start = 0x1000, .length = 0x1000, .path = "/nowhere/a",
					.build_id = "0123456789abcdef0123" };
	struct made *m = *state;
	struct gus_cursor c;
	struct made_mmap r;

	m->host.hostname = text("box");
	m->event[1].type = 2;
	m->event[1].name = text("made:point");
	begin(m);
	made_mmap(&r, &a);
	assert_true(made_record(m->w, &r.record));
	sample(m, 0, 5);
	exported(m, true);
	for (size_t i = 0; i < m->records.n; i++)
		assert_int_equal(m->records.v[i].type,
				 ((const uint32_t[]){ ATTR, ATTR, TRACING, BUILD_ID, FEATURE, FEATURE, FEATURE, MMAP2,
						      MMAP2, SAMPLE, ROUND })[i]);
	assert_int_equal(m->records.n, 11);
	for (size_t i = 0; i < EVENTS; i++) { /* with its id */
		c = m->records.v[i].body;
		assert_int_equal(gus_cursor_left(&c), ATTR_SIZE + 8);
		gus_cursor_take(&c, ATTR_SIZE);
		assert_int_equal(gus_cursor_u64(&c), 1 + i);
	}
	assert_int_equal(gus_cursor_left(&m->records.v[2].body), 4);
	c = m->records.v[2].body; /* what comes behind it is whole words, and begins as it should */
	assert_int_equal(gus_cursor_u32(&c) % 8, 0);
	assert_memory_equal(c.at, "\27\10\104tracing", 10);
	for (size_t i = 4; i < 7; i++) {
		static const uint64_t numbers[] = { GUS_PERFDATA_HOSTNAME, GUS_PERFDATA_EVENT_NAMES,
						    GUS_PERFDATA_SAMPLE_TIME };

		c = m->records.v[i].body;
		assert_int_equal(gus_cursor_left(&c) % 8, 0);
		assert_int_equal(gus_cursor_u64(&c), numbers[i - 4]);
		assert_int_equal(m->records.v[i].misc, 0);
	}
	c = m->records.v[4].body;
	gus_cursor_u64(&c);
	assert_int_equal(gus_cursor_u32(&c), 64);
	assert_string_equal((const char *)c.at, "box");
	assert_int_equal(m->result.ids_left | m->result.too_long, 0);
}

/* Ids and features that a record has no room for: what fits is there, and what does not is counted. */
static void more_than_a_pipe_holds(void **state)
{
	enum { MOST = (65528 - 8 - ATTR_SIZE) / 8, TOPOLOGY = 13, CACHES = 20 };
	const uint64_t counts[] = { 5, UINT64_C(1) << 32 | 0, 6, (uint64_t)MOST << 32 | 1 };
	Gusprof__Origin origin = GUSPROF__ORIGIN__INIT;
	Gusprof__Feature f[2], *list[] = { &f[0], &f[1] };
	struct gus_extras extras = { 0 };
	struct made *m = *state;
	struct gus_cursor c;

	for (size_t i = 0; i < 2; i++) { /* a record has 65,528 bytes, and 16 of them before these */
		f[i] = (Gusprof__Feature)GUSPROF__FEATURE__INIT;
		f[i].number = i ? CACHES : TOPOLOGY;
		f[i].bytes.len = 65528 - 16 + i;
		f[i].bytes.data = calloc(1, f[i].bytes.len);
	}
	origin.features = list;
	origin.n_features = 2;
	m->header.origin = &origin;
	m->event[0].read_format = 8 | 4;
	begin(m);
	gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, counts, sizeof(counts));
	gus_columns_push(&m->samples, &(struct gus_sample){ .time = 1, .extras = extras.v,
							    .extras_n = (uint32_t)extras.n });
	exported(m, true);
	assert_int_equal(m->result.ids_left, 1); /* of MOST + 1 */
	assert_int_equal(gus_cursor_left(&m->records.v[0].body), ATTR_SIZE + 16);
	c = m->records.v[1].body;
	assert_int_equal(gus_cursor_left(&c), ATTR_SIZE + 8 * MOST);
	gus_cursor_take(&c, ATTR_SIZE + 8 * (MOST - 1));
	assert_int_equal(gus_cursor_u64(&c), ((uint64_t)MOST - 1) << 32 | 2);
	assert_int_equal(m->result.too_long, 1);
	c = m->records.v[2].body;
	assert_int_equal(gus_cursor_u64(&c), GUS_PERFDATA_EVENT_NAMES);
	c = m->records.v[3].body;
	assert_int_equal(gus_cursor_left(&c), 65528 - 8);
	assert_int_equal(gus_cursor_u64(&c), TOPOLOGY);
	free(f[0].bytes.data);
	free(f[1].bytes.data);
	gus_vec_free(&extras);
}

/* A file has room for all of it. */
static void names_longer_than_records(void **state)
{
	static char longest[65536];
	struct made *m = *state;

	memset(longest, 'x', sizeof(longest) - 1);
	begin(m);
	named(m, 1, longest);
	named(m, 2, "short");
	exported(m, false);
	assert_int_equal(m->result.too_long, 1);
	assert_int_equal(count(m, COMM), 1);
}

/* Copied stacks want to know where else files were mapped: those that are not at hand are counted, once each. */
static void files_that_are_absent(void **state)
{
	static const uint64_t words[17] = { 1 };
	struct made *m = *state;

	for (unsigned stacks = 0; stacks < 2; stacks++) {
		m->host.machine = text("x86_64");
		begin(m);
		for (unsigned i = 0; i < 3; i++) {
			const struct made_mapping a = { .time = 1 + i, .pid = 5, .start = 0x1000, .length = 0x1000,
				.path = i == 2 ? "/nowhere/b" : "/nowhere/a", .inode = 5, .kernel = i == 2 };
			struct made_mmap r;

			made_mmap(&r, &a);
			r.mmap.protection = PROT_READ | PROT_EXEC;
			assert_true(made_record(m->w, &r.record));
		}
		gus_columns_clear(&m->samples);
		gus_columns_push(&m->samples, &(struct gus_sample){ .time = 9, .mode = GUS_MODE_USER, .regs = words,
			.regs_n = 17, .stack = words, .stack_n = stacks });
		exported(m, false);
		assert_int_equal(m->result.absent, stacks);
		unlink(m->path);
	}
}

/* What cannot be written is one error, which says where. */
static void failures(void **state)
{
	struct made *m = *state;
	int full = open("/dev/full", O_RDWR | O_CLOEXEC), nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);

	begin(m);
	for (unsigned i = 0; i < 40000; i++)
		sample(m, 0, i);
	for (unsigned pipe = 0; pipe < 2; pipe++) {
		assert_int_equal(export_to(m, nowhere, pipe), -1);
		assert_non_null(strstr(m->err.text, "cannot write made after 0 bytes"));
		m->err = (struct gus_error){ 0 };
		if (full < 0)
			continue;
		assert_int_equal(export_to(m, full, pipe), -1);
		assert_non_null(strstr(m->err.text, "cannot write made after 0 bytes"));
		assert_int_equal(m->result.bytes, 0);
		m->err = (struct gus_error){ 0 };
	}
	close(nowhere);
	if (full >= 0)
		close(full);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(parts_of_a_file), TEST(records_in_order), TEST(rounds), TEST(where_the_kernel_was),
		TEST(kernels_that_are_told), TEST(kernels_of_others), TEST(kernels_without_samples),
		TEST(features_of_others), TEST(tracepoints), TEST(parts_of_a_pipe),
		TEST(more_than_a_pipe_holds), TEST(names_longer_than_records), TEST(files_that_are_absent),
		TEST(failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
