/* SPDX-License-Identifier: MIT */
/* Events and features of a perf.data that is written: our own reader of such files finds in them what was put in. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/record.h"
#include "collector/perfdata/declare.h"
#include "collector/perfdata/put.h"
#include "collector/records/records.h"

enum { EVENTS = 2 };

struct made {
	Gusprof__Header header;
	Gusprof__Host host;
	Gusprof__Clock clock;
	Gusprof__Event events[EVENTS], *list[EVENTS];
	char *command[2];
	struct gus_perfdata_attr attrs[EVENTS];
	struct gus_bytes bytes;
};

static char *text(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static void begin(struct made *m)
{
	*m = (struct made){ .header = GUSPROF__HEADER__INIT, .host = GUSPROF__HOST__INIT,
			    .clock = GUSPROF__CLOCK__INIT };
	m->header.host = &m->host;
	m->header.clock = &m->clock;
	m->header.events = m->list;
	m->header.n_events = EVENTS;
	for (uint32_t i = 0; i < EVENTS; i++) {
		m->events[i] = (Gusprof__Event)GUSPROF__EVENT__INIT;
		m->list[i] = &m->events[i];
	}
}

static void end(struct made *m)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		gus_vec_free(&m->attrs[i].ids);
	gus_vec_free(&m->bytes);
}

/* The event as a reader has it, out of a pipe that has nothing else. */
static struct gus_perfdata_attr through(const struct gus_perfdata_attr *a, uint32_t size)
{
	struct gus_bytes file = { 0 };
	struct gus_perfdata_record record;
	struct gus_perfdata_attr found;
	struct gus_perfdata *p;
	int fd = memfd_create("event", MFD_CLOEXEC);

	gus_vec_append(&file, (const uint8_t *)"PERFILE2", 8);
	gus_put_u64(&file, 16);
	gus_put_u32(&file, GUS_PERFDATA_ATTR);
	gus_put_u16(&file, 0);
	gus_put_u16(&file, (uint16_t)(8 + size + 8));
	gus_perfdata_put_attr(&file, a, size);
	gus_put_u64(&file, 77);
	assert_int_equal(file.n, 16 + 8 + size + 8);
	assert_int_equal(write(fd, file.v, file.n), (ssize_t)file.n);
	p = gus_perfdata_open(fd, "event", NULL);
	assert_non_null(p);
	assert_int_equal(gus_perfdata_next(p, &record, NULL), 1);
	assert_int_equal(gus_perfdata_attrs(p), 1);
	found = *gus_perfdata_attr(p, 0);
	assert_int_equal(found.ids.n, 1);
	assert_int_equal(found.ids.v[0], 77);
	gus_perfdata_close(p);
	close(fd);
	gus_vec_free(&file);
	return found;
}

static bool flag(const struct gus_perfdata_attr *a, unsigned bit)
{
	return a->flags >> bit & 1;
}

static void an_event_comes_back(void **state)
{
	const struct gus_records_layout layout = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STACK_USER,
		.branch_type = 0x20009, .read_format = 12, .regs_mask = 0xff01ff, .intr_mask = 0x77 };
	static const uint8_t zeros[24];
	struct gus_perfdata_attr a, found;
	struct made m;

	(void)state;
	begin(&m);
	m.header.stack_bytes = 8192;
	m.events[1].type = 4;
	m.events[1].config = 0x1cd;
	m.events[1].config1 = 31;
	m.events[1].config2 = 32;
	m.events[1].config3 = 33;
	m.events[1].period = 10007;
	m.events[1].precise = 3;
	m.events[1].exclude_kernel = true;
	assert_int_equal(gus_perfdata_attr_size(&m.header), 136);
	a = gus_perfdata_declare(&m.header, 1, &layout, true);
	found = through(&a, 136);
	assert_int_equal(found.type, 4);
	assert_int_equal(found.size, 136);
	assert_int_equal(found.config, 0x1cd);
	assert_int_equal(found.config1, 31);
	assert_int_equal(found.config2, 32);
	assert_int_equal(found.config3, 33);
	assert_int_equal(found.period, 10007);
	assert_int_equal(found.sample_type, layout.sample_type);
	assert_int_equal(found.branch_type, 0x20009);
	assert_int_equal(found.read_format, 12);
	assert_int_equal(found.regs_user, 0xff01ff);
	assert_int_equal(found.regs_intr, 0x77);
	assert_int_equal(found.stack_user, 8192);
	assert_int_equal(found.flags >> GUS_PERFDATA_PRECISE & 3, 3);
	assert_true(flag(&found, GUS_PERFDATA_EXCLUDE_KERNEL));
	assert_false(flag(&found, GUS_PERFDATA_EXCLUDE_USER));
	assert_false(flag(&found, GUS_PERFDATA_EXCLUDE_HV));
	assert_false(flag(&found, GUS_PERFDATA_FREQUENCY));
	assert_true(flag(&found, GUS_PERFDATA_ID_ALL));
	assert_true(flag(&found, GUS_PERFDATA_EXCLUDE_USER_CHAIN)); /* the stack is for that */
	assert_false(flag(&found, GUS_PERFDATA_USE_CLOCKID));
	assert_int_equal(found.clockid, 0);
	gus_perfdata_put_attr(&m.bytes, &a, 136);
	assert_memory_equal(m.bytes.v + 48, zeros, 8);   /* wakeup_events, bp_type */
	assert_memory_equal(m.bytes.v + 104, zeros, 24); /* aux_watermark to sig_data */
	end(&m);
}

/* What the first event alone tells, and what all do. */
static void flags_of_events(void **state)
{
	const struct gus_records_layout layout = { .sample_type = PERF_SAMPLE_IDENTIFIER };
	enum { MMAP = 8, COMM = 9, TASK = 13, MMAP2 = 23, COMM_EXEC = 24, SWITCH = 26, KSYMBOL = 29, BUILD_ID = 34 };
	static const unsigned of_first[] = { MMAP, COMM, TASK, MMAP2, COMM_EXEC, SWITCH, KSYMBOL, BUILD_ID };
	struct gus_perfdata_attr first, second;
	struct made m;

	(void)state;
	begin(&m);
	m.clock.name = text("monotonic");
	m.header.stack_bytes = 512; /* brought along for a caller, and not kept */
	m.events[0].frequency = 997;
	m.events[0].exclude_user = true;
	m.events[1].exclude_hv = true;
	m.events[1].frequency = 997;
	m.events[1].period = 5;
	first = gus_perfdata_declare(&m.header, 0, &layout, true);
	second = gus_perfdata_declare(&m.header, 1, &layout, true);
	assert_int_equal(gus_perfdata_attr_size(&m.header), 128);
	for (size_t i = 0; i < sizeof(of_first) / sizeof(*of_first); i++) {
		assert_true(flag(&first, of_first[i]));
		assert_false(flag(&second, of_first[i]));
	}
	assert_true(flag(&first, GUS_PERFDATA_EXCLUDE_USER));
	assert_false(flag(&second, GUS_PERFDATA_EXCLUDE_USER));
	assert_true(flag(&second, GUS_PERFDATA_EXCLUDE_HV));
	assert_true(flag(&first, GUS_PERFDATA_FREQUENCY));
	assert_int_equal(first.period, 997);
	assert_false(flag(&second, GUS_PERFDATA_FREQUENCY));
	assert_int_equal(second.period, 5);
	assert_int_equal(first.stack_user, 0);
	assert_false(flag(&first, GUS_PERFDATA_EXCLUDE_USER_CHAIN));
	assert_true(flag(&first, GUS_PERFDATA_USE_CLOCKID));
	assert_int_equal(first.clockid, 1);
	assert_false(flag(&(struct gus_perfdata_attr){ .flags = gus_perfdata_declare(&m.header, 0, &layout,
										     false).flags },
			  SWITCH));
	end(&m);
}

/* Features. */

static struct gus_cursor feature(struct made *m, enum gus_perfdata_feature which)
{
	const struct gus_perfdata_about about = { .header = &m->header, .attrs = m->attrs, .attr_size = 128,
						  .ids = true,
		.branches = true, .first_ns = 11, .last_ns = 22 };

	m->bytes.n = 0;
	assert_true(gus_perfdata_put_feature(&m->bytes, which, &about));
	return gus_cursor(m->bytes.v, m->bytes.n);
}

/* A length, which is a multiple of 64 and leaves room for the zero, then so many bytes. */
static void expect_text(struct gus_cursor *c, const char *expected)
{
	uint32_t size = gus_cursor_u32(c);
	const char *found = (const char *)gus_cursor_take(c, size);

	assert_false(c->bad);
	assert_int_equal(size % 64, 0);
	assert_true(size > strlen(expected) && size <= strlen(expected) + 64);
	assert_string_equal(found, expected);
	for (size_t i = strlen(expected); i < size; i++)
		assert_int_equal(found[i], 0);
}

static void texts(void **state)
{
	static const char long_name[] = "sixty-three letters are as many as one piece of sixty-four holds";
	struct gus_cursor c;
	struct made m;

	(void)state;
	begin(&m);
	m.header.producer = text("gusprof 9");
	m.host.hostname = text(long_name);
	m.host.kernel = text("6.18");
	m.host.machine = text("x86_64");
	m.host.cpu_model = text("Some CPU @ 3 GHz");
	m.host.cpu_vendor = text("GenuineIntel");
	m.host.cpu_family = 6;
	m.host.cpu_model_number = 143;
	m.host.cpu_stepping = 8;
	m.host.cpus_online = 12;
	assert_int_equal(strlen(long_name) % 64, 0);
	c = feature(&m, GUS_PERFDATA_HOSTNAME);
	expect_text(&c, long_name);
	assert_int_equal(gus_cursor_left(&c), 0);
	c = feature(&m, GUS_PERFDATA_RELEASE);
	expect_text(&c, "6.18");
	c = feature(&m, GUS_PERFDATA_VERSION);
	expect_text(&c, "gusprof 9");
	c = feature(&m, GUS_PERFDATA_ARCH);
	expect_text(&c, "x86_64");
	c = feature(&m, GUS_PERFDATA_CPU_TEXT);
	expect_text(&c, "Some CPU @ 3 GHz");
	c = feature(&m, GUS_PERFDATA_CPUID);
	expect_text(&c, "GenuineIntel,6,143,8");
	m.host.midr = 0x410fd490;
	c = feature(&m, GUS_PERFDATA_CPUID);
	expect_text(&c, "0x00000000410fd490");
	c = feature(&m, GUS_PERFDATA_CPUS);
	assert_int_equal(gus_cursor_u32(&c), 12);
	assert_int_equal(gus_cursor_u32(&c), 12);
	assert_int_equal(gus_cursor_left(&c), 0);
	end(&m);
}

static void command_and_times(void **state)
{
	struct gus_cursor c;
	struct made m;

	(void)state;
	begin(&m);
	m.command[0] = text("./app");
	m.command[1] = text("");
	m.header.command = m.command;
	m.header.n_command = 2;
	m.clock.name = text("monotonic");
	m.clock.start_ns = 100;
	m.clock.start_realtime_ns = 5000;
	c = feature(&m, GUS_PERFDATA_COMMAND);
	assert_int_equal(gus_cursor_u32(&c), 2);
	expect_text(&c, "./app");
	expect_text(&c, "");
	assert_int_equal(gus_cursor_left(&c), 0);
	m.attrs[0].sample_type = PERF_SAMPLE_TIME;
	c = feature(&m, GUS_PERFDATA_SAMPLE_TIME);
	assert_int_equal(gus_cursor_u64(&c), 11);
	assert_int_equal(gus_cursor_u64(&c), 22);
	c = feature(&m, GUS_PERFDATA_CLOCK_DATA);
	assert_int_equal(gus_cursor_u32(&c), 1);
	assert_int_equal(gus_cursor_u32(&c), 1); /* CLOCK_MONOTONIC */
	assert_int_equal(gus_cursor_u64(&c), 5000);
	assert_int_equal(gus_cursor_u64(&c), 100);
	c = feature(&m, GUS_PERFDATA_BRANCHES);
	assert_int_equal(gus_cursor_left(&c), 0);
	end(&m);
}

static void events_by_name(void **state)
{
	struct gus_cursor c;
	struct made m;

	(void)state;
	begin(&m);
	m.events[0].name = text("cycles:ppp");
	m.events[0].type = 9;
	m.events[0].pmu = text("cpu_core");
	m.events[1].name = text("cpu-clock");
	for (uint32_t i = 0; i < EVENTS; i++) {
		m.attrs[i] = (struct gus_perfdata_attr){ .type = 9 - i };
		gus_vec_push(&m.attrs[i].ids, 50 + i);
		gus_vec_push(&m.attrs[i].ids, 60 + i);
	}
	c = feature(&m, GUS_PERFDATA_EVENT_NAMES);
	assert_int_equal(gus_cursor_u32(&c), EVENTS);
	assert_int_equal(gus_cursor_u32(&c), 128);
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct gus_cursor attr = gus_cursor(gus_cursor_take(&c, 128), 128);

		assert_int_equal(gus_cursor_u32(&attr), 9 - i);
		assert_int_equal(gus_cursor_u32(&attr), 128);
		assert_int_equal(gus_cursor_u32(&c), 2);
		expect_text(&c, m.events[i].name);
		assert_int_equal(gus_cursor_u64(&c), 50 + i);
		assert_int_equal(gus_cursor_u64(&c), 60 + i);
	}
	assert_int_equal(gus_cursor_left(&c), 0);
	c = feature(&m, GUS_PERFDATA_PMUS);
	assert_int_equal(gus_cursor_u32(&c), 1);
	assert_int_equal(gus_cursor_u32(&c), 9);
	expect_text(&c, "cpu_core");
	assert_int_equal(gus_cursor_left(&c), 0);
	end(&m);
}

static uint64_t take_text(struct gus_cursor *c, const char *expected)
{
	const char *found = (const char *)gus_cursor_take(c, strlen(expected) + 1);

	assert_non_null(found);
	assert_string_equal(found, expected);
	return gus_cursor_left(c);
}

/* Of tracepoints what the tracing file system would say: which system, which name, which number. */
static void tracepoints(void **state)
{
	static const char begins[] = "name: switch\nID: 316\nformat:\n\tfield:unsigned short common_type;\toffset:0;";
	struct gus_cursor c;
	struct made m;
	uint64_t size;

	(void)state;
	begin(&m);
	m.events[0].name = text("cpu-clock");
	m.events[0].type = 1;
	m.events[1].name = text("sched:switch:u");
	m.events[1].type = 2;
	m.events[1].config = 316;
	m.host.page_size = 65536;
	c = feature(&m, GUS_PERFDATA_TRACING_DATA);
	assert_memory_equal(gus_cursor_take(&c, 10), "\27\10Dtracing", 10);
	take_text(&c, "0.5");
	assert_int_equal(gus_cursor_u8(&c), 0);
	assert_int_equal(gus_cursor_u8(&c), 8);
	assert_int_equal(gus_cursor_u32(&c), 65536);
	take_text(&c, "header_page");
	size = gus_cursor_u64(&c);
	assert_int_equal(((const char *)gus_cursor_take(&c, size))[size - 1], '\n');
	take_text(&c, "header_event");
	assert_int_equal(gus_cursor_u64(&c), 0);
	assert_int_equal(gus_cursor_u32(&c), 0);
	assert_int_equal(gus_cursor_u32(&c), 1); /* system */
	take_text(&c, "sched");
	assert_int_equal(gus_cursor_u32(&c), 1); /* event in it */
	size = gus_cursor_u64(&c);
	assert_memory_equal(c.at, begins, sizeof(begins) - 1);
	gus_cursor_take(&c, size);
	assert_int_equal(gus_cursor_u32(&c), 0);
	assert_int_equal(gus_cursor_u32(&c), 0);
	assert_int_equal(gus_cursor_left(&c), 0);
	assert_false(c.bad);
	end(&m);
}

/* Perf refuses a file with one that has no format: where its name is not SYSTEM:NAME, the number makes one. */
static void unnamed_tracepoints(void **state)
{
	static const struct { const char *told, *system, *name; } cases[] = {
		{ "tracepoint 782", "unknown", "name: tracepoint_782\nID: 782\n" },
		{ ":a", "unknown", "name: tracepoint_782\nID: 782\n" },
		{ "a:", "unknown", "name: tracepoint_782\nID: 782\n" },
		{ "a::u", "unknown", "name: tracepoint_782\nID: 782\n" },
		{ "a:b c", "unknown", "name: tracepoint_782\nID: 782\n" },
		{ "a:b_9:u", "a", "name: b_9\nID: 782\n" },
		{ "a:b", "a", "name: b\nID: 782\n" },
	};
	struct made m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_cursor c;

		begin(&m);
		m.events[1].name = text(cases[i].told);
		m.events[1].type = 2;
		m.events[1].config = 782;
		assert_int_equal(gus_perfdata_is_unnamed(&m.events[1]), strcmp(cases[i].system, "unknown") == 0);
		c = feature(&m, GUS_PERFDATA_TRACING_DATA);
		gus_cursor_take(&c, 10 + 4 + 2 + 4);
		take_text(&c, "header_page");
		gus_cursor_take(&c, gus_cursor_u64(&c));
		take_text(&c, "header_event");
		gus_cursor_take(&c, 8 + 4 + 4);
		take_text(&c, cases[i].system);
		gus_cursor_take(&c, 4 + 8);
		assert_memory_equal(c.at, cases[i].name, strlen(cases[i].name));
		m.events[1].type = 1;
		assert_false(gus_perfdata_is_unnamed(&m.events[1]));
		end(&m);
	}
}

/* Numbers of events are of four bytes wherever they stand. */
static void more_events_than_a_byte_counts(void **state)
{
	enum { N = 0x1ff };
	static const struct gus_perfdata_attr attrs[N];
	static Gusprof__Event *list[N];
	struct gus_perfdata_about about = { .attrs = attrs, .attr_size = 128 };
	struct gus_bytes out = { 0 };
	struct gus_cursor c;
	struct made m;
	uint64_t size;

	(void)state;
	begin(&m);
	m.events[0].type = 2;
	m.events[0].name = text("a:b");
	m.events[0].pmu = text("tracepoint");
	for (size_t i = 0; i < N; i++)
		list[i] = &m.events[0];
	m.header.events = list;
	m.header.n_events = N;
	about.header = &m.header;
	assert_true(gus_perfdata_put_feature(&out, GUS_PERFDATA_PMUS, &about));
	assert_memory_equal(out.v, "\xff\1\0\0\2\0\0\0", 8);
	assert_int_equal(out.n, 4 + N * (4 + 4 + 64));
	out.n = 0;
	assert_true(gus_perfdata_put_feature(&out, GUS_PERFDATA_EVENT_NAMES, &about));
	assert_memory_equal(out.v, "\xff\1\0\0\x80\0\0\0", 8);
	assert_memory_equal(out.v + 8 + 128, "\0\0\0\0\x40\0\0\0", 8); /* no ids, and the name */
	out.n = 0;
	assert_true(gus_perfdata_put_feature(&out, GUS_PERFDATA_TRACING_DATA, &about));
	c = gus_cursor(out.v, out.n);
	gus_cursor_take(&c, 10 + 4 + 2);
	assert_int_equal(gus_cursor_u32(&c), 4096); /* bytes of a page, if nobody says it */
	take_text(&c, "header_page");
	size = gus_cursor_u64(&c);
	gus_cursor_take(&c, size);
	take_text(&c, "header_event");
	gus_cursor_take(&c, 8 + 4);
	assert_int_equal(gus_cursor_u32(&c), N);
	for (size_t i = 0; i < N; i++) {
		take_text(&c, "a");
		assert_int_equal(gus_cursor_u32(&c), 1);
		size = gus_cursor_u64(&c);
		gus_cursor_take(&c, size);
	}
	assert_int_equal(gus_cursor_left(&c), 8);
	gus_vec_free(&out);
	end(&m);
}

/* What a recording does not tell is not in the file, rather than empty or 0. */
static void nothing_is_made_up(void **state)
{
	const struct gus_perfdata_attr attrs[EVENTS] = { { 0 } };
	struct gus_bytes out = { 0 };
	struct made m;
	unsigned n = 0;

	(void)state;
	begin(&m);
	m.clock.name = text("perf");
	m.clock.start_realtime_ns = 5;
	for (unsigned pass = 0; pass < 2; pass++) {
		struct gus_perfdata_about about = { .header = &m.header, .attrs = attrs, .attr_size = 128,
						    .last_ns = 9 }; /* a number of a record: samples have no time */

		for (unsigned i = 0; i < GUS_PERFDATA_FEATURES; i++)
			n += gus_perfdata_put_feature(&out, i, &about);
		assert_int_equal(n, pass + 1); /* that there are events */
		m.header.host = NULL;
		m.header.clock = NULL;
	}
	assert_int_equal(out.n, 2 * (8 + EVENTS * (128 + 4 + 4 + 64)));
	gus_vec_free(&out);
	end(&m);
}

static void build_ids(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };
	static char long_path[65536];
	const struct gus_perfdata_build_id cases[] = {
		{ "/bin/a", id, 20, 7, false }, { "[kernel.kallsyms]", id, 8, UINT32_MAX, true },
	};
	struct gus_bytes out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t from = out.n;
		const uint8_t *found;
		struct gus_cursor c;

		assert_true(gus_perfdata_put_build_id(&out, &cases[i]));
		c = gus_cursor(out.v + from, out.n - from);
		assert_int_equal(gus_cursor_u32(&c), 67);
		assert_int_equal(gus_cursor_u16(&c), 0x8000 | (cases[i].kernel ? 1 : 2));
		assert_int_equal(gus_cursor_u16(&c), out.n - from);
		assert_int_equal(gus_cursor_u32(&c), cases[i].pid);
		found = gus_cursor_take(&c, 20);
		assert_memory_equal(found, id, cases[i].size);
		for (size_t j = cases[i].size; j < 20; j++)
			assert_int_equal(found[j], 0);
		assert_int_equal(gus_cursor_u32(&c), cases[i].size);
		assert_int_equal(gus_cursor_left(&c), 64);
		assert_string_equal((const char *)c.at, cases[i].path);
	}
	/* With its zero the longest path that pieces of 64 bytes in a record of 64 KiB hold. */
	memset(long_path, 'x', 65472);
	assert_false(gus_perfdata_put_build_id(&out, &(struct gus_perfdata_build_id){ long_path, id, 20, 1, false }));
	long_path[65471] = '\0';
	out.n = 0;
	assert_true(gus_perfdata_put_build_id(&out, &(struct gus_perfdata_build_id){ long_path, id, 20, 1, false }));
	assert_int_equal(out.n, 36 + 65472);
	assert_int_equal(out.v[6] | out.v[7] << 8, out.n);
	gus_vec_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_comes_back),
		cmocka_unit_test(flags_of_events),
		cmocka_unit_test(texts),
		cmocka_unit_test(command_and_times),
		cmocka_unit_test(events_by_name),
		cmocka_unit_test(tracepoints),
		cmocka_unit_test(unnamed_tracepoints),
		cmocka_unit_test(more_events_than_a_byte_counts),
		cmocka_unit_test(nothing_is_made_up),
		cmocka_unit_test(build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
