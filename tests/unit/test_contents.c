/* SPDX-License-Identifier: MIT */
/* What gusprof export finds in a recording before it writes any of it: layouts, times, kernel modules, build ids, and
 * how much there is of what perf.data has no place for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "cli/export/contents.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/varint.h"
#include "proto/writer.h"
#include "tests/unit/made_sideband.h"

enum { EVENTS = 2, CPU_BIT = 1 << 7, PERIOD_AND_ALL = 1 << 16 };

struct made {
	char path[64];
	struct gus_writer *w;
	struct gus_columns samples;
	struct gus_contents found;
	bool throttled;
};

static char *text(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static int setup(void **state)
{
	static Gusprof__Event events[EVENTS], *list[EVENTS] = { &events[0], &events[1] };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	struct made *m = calloc(1, sizeof(*m));

	for (size_t i = 0; i < EVENTS; i++)
		events[i] = (Gusprof__Event)GUSPROF__EVENT__INIT;
	events[1].read_format = 4; /* with ids */
	header.events = list;
	header.n_events = EVENTS;
	strcpy(m->path, "/tmp/gusprof-test-XXXXXX");
	close(mkstemp(m->path));
	unlink(m->path);
	m->w = gus_writer_create(m->path, &header, NULL);
	*state = m;
	return m->w ? 0 : -1;
}

static int teardown(void **state)
{
	struct made *m = *state;

	gus_contents_free(&m->found);
	gus_columns_free(&m->samples);
	unlink(m->path);
	free(m);
	return 0;
}

static const struct gus_contents *look(struct made *m, Gusprof__Footer *footer)
{
	Gusprof__Footer empty = GUSPROF__FOOTER__INIT;
	struct gus_reader *r;

	assert_int_equal(gus_writer_samples(m->w, &m->samples, NULL), 0);
	assert_int_equal(gus_writer_finish(m->w, footer ? footer : &empty, NULL), 0);
	r = gus_reader_open(m->path, NULL);
	assert_non_null(r);
	assert_int_equal(gus_contents_make(&m->found, r, NULL), 0);
	gus_reader_close(r);
	return &m->found;
}

static void nothing(void **state)
{
	const struct gus_contents *c = look(*state, NULL);

	assert_int_equal(c->layouts.n, EVENTS);
	assert_int_equal(c->samples | c->strangers | c->first_ns | c->last_ns | c->ids, 0);
	assert_int_equal(c->marks | c->made | c->names | c->images | c->replayable | c->unsampled | c->aux | c->kept,
			 0);
	assert_false(c->switches || c->branches || c->stacks || c->kernel_mapped || c->governed || c->turned);
	assert_int_equal(c->modules.n | c->builds.n | c->text_start | c->text_end, 0);
}

static void samples(void **state)
{
	static const struct gus_branch branch = { 1, 2, 0, 0 };
	static const uint64_t words[17] = { 1 };
	struct made *m = *state;
	const struct gus_contents *c;

	gus_columns_push(&m->samples, &(struct gus_sample){ .time = 50, .event = 0, .cpu = UINT32_MAX });
	gus_columns_push(&m->samples, &(struct gus_sample){ .time = 40, .event = 1, .branches = &branch,
							    .branches_n = 1 });
	gus_columns_push(&m->samples, &(struct gus_sample){ .time = 90, .event = 0, .cpu = UINT32_MAX, .regs = words,
							    .regs_n = 17, .stack = words, .stack_n = 1 });
	gus_columns_push(&m->samples, &(struct gus_sample){ .time = 10, .event = 2 }); /* there is none */
	gus_columns_push(&m->samples, &(struct gus_sample){ .time = 99, .event = UINT32_MAX });
	c = look(m, NULL);
	assert_int_equal(c->samples, 3);
	assert_int_equal(c->strangers, 2);
	assert_int_equal(c->first_ns, 40);
	assert_int_equal(c->last_ns, 90);
	assert_true(c->branches && c->stacks);
	assert_int_equal(c->layouts.v[0].sample_type & CPU_BIT, 0); /* which nobody has told */
	assert_int_equal(c->layouts.v[1].sample_type & CPU_BIT, CPU_BIT);
	assert_int_equal(c->layouts.v[0].sample_type & PERIOD_AND_ALL, PERIOD_AND_ALL);
}

/* Ids are as many as the largest that is named of an event that there is. */
static void counters(void **state)
{
	static const uint64_t named[][2] = { { 1, 3 }, { 1, 2 }, { 0, 7 }, { 2, 9 }, { 1000, 9 },
					  { 1, UINT32_MAX } };
	struct made *m = *state;
	const struct gus_contents *c;

	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		const uint64_t counts[] = { 5, named[i][0] | named[i][1] << 32 };
		struct gus_extras extras = { 0 };

		gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, counts, sizeof(counts));
		gus_columns_push(&m->samples, &(struct gus_sample){ .time = 1, .event = 1, .extras = extras.v,
								    .extras_n = (uint32_t)extras.n });
		gus_vec_free(&extras);
	}
	c = look(m, NULL);
	assert_int_equal(c->counters.v[0], 7);
	assert_int_equal(c->counters.v[1], 3);
	assert_int_equal(c->ids, 10);
}

/* Counters that would make more ids than a file may have have none: the rest of the room is as good as ever. */
static void more_counters_than_ids(void **state)
{
	const uint64_t named[][2] = { { 0, 10 }, { 1, GUS_LIMIT_PERFDATA_IDS - 9 }, { 1, GUS_LIMIT_PERFDATA_IDS - 10 },
				      { 0, 11 } };
	struct made *m = *state;
	const struct gus_contents *c;

	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		const uint64_t counts[] = { 5, named[i][0] | named[i][1] << 32 };
		struct gus_extras extras = { 0 };

		gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, counts, sizeof(counts));
		gus_columns_push(&m->samples, &(struct gus_sample){ .time = 1, .event = 1, .extras = extras.v,
								    .extras_n = (uint32_t)extras.n });
		gus_vec_free(&extras);
	}
	c = look(m, NULL);
	assert_int_equal(c->counters.v[0], 10);
	assert_int_equal(c->counters.v[1], GUS_LIMIT_PERFDATA_IDS - 10);
	assert_int_equal(c->ids, GUS_LIMIT_PERFDATA_IDS);
}

/* Layouts are settled once all samples are known: the word for two latencies has room for the weight as well. */
static void settled_layouts(void **state)
{
	enum { WEIGHT = 1 << 14, WEIGHTS = 1 << 24 };
	struct made *m = *state;
	const struct gus_contents *c;

	for (uint32_t event = 0; event < EVENTS; event++) {
		gus_columns_push(&m->samples, &(struct gus_sample){ .event = event, .instruction_latency = 5 });
		gus_columns_push(&m->samples, &(struct gus_sample){ .event = event, .weight = 5 });
	}
	c = look(m, NULL);
	for (uint32_t event = 0; event < EVENTS; event++)
		assert_int_equal(c->layouts.v[event].sample_type & (WEIGHT | WEIGHTS), WEIGHTS);
}

/* The second sample is neither the first nor the last. */
static void times_in_any_order(void **state)
{
	static const uint64_t times[] = { 50, 60, 40, 45, 55 };
	struct made *m = *state;
	const struct gus_contents *c;

	for (size_t i = 0; i < 5; i++)
		gus_columns_push(&m->samples, &(struct gus_sample){ .time = times[i] });
	c = look(m, NULL);
	assert_int_equal(c->samples, 5);
	assert_int_equal(c->first_ns, 40);
	assert_int_equal(c->last_ns, 60);
	assert_false(c->branches || c->stacks);
}

/* What is lost or paused on a CPU tells of one, and of no other event's samples. */
static void cpus_of_records(void **state)
{
	Gusprof__Throttle t = GUSPROF__THROTTLE__INIT;
	Gusprof__Lost l = GUSPROF__LOST__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	struct made *m = *state;

	t.cpu = l.cpu = 1;
	r.kind_case = m->throttled ? GUSPROF__RECORD__KIND_THROTTLE : GUSPROF__RECORD__KIND_LOST;
	if (m->throttled)
		r.throttle = &t;
	else
		r.lost = &l;
	assert_true(made_record(m->w, &r));
	look(m, NULL);
	assert_int_equal(m->found.layouts.v[0].sample_type & CPU_BIT, CPU_BIT);
	assert_int_equal(m->found.layouts.v[1].sample_type & CPU_BIT, 0);
}

static void cpus_of_throttles(void **state)
{
	struct made *m = *state;

	m->throttled = true;
	cpus_of_records(state);
}

/* A CPU that switches tell is told in records that are no samples, which are the first event's. */
static void switches(void **state)
{
	struct made *m = *state;
	struct gus_columns rows = { 0 };
	const struct gus_contents *c;

	gus_columns_push(&m->samples, &(struct gus_sample){ .event = 0, .cpu = UINT32_MAX });
	gus_columns_push_switch(&rows, &(struct gus_switch){ .cpu = 1 });
	gus_columns_push_switch(&rows, &(struct gus_switch){ .cpu = UINT32_MAX });
	assert_int_equal(gus_writer_switches(m->w, &rows, NULL), 0);
	gus_columns_free(&rows);
	c = look(m, NULL);
	assert_true(c->switches);
	assert_int_equal(c->layouts.v[0].sample_type & CPU_BIT, CPU_BIT);
	assert_int_equal(c->layouts.v[1].sample_type & CPU_BIT, 0);
}

/* None of these tells one: a number that nobody has told is not made up for samples. */
static void no_cpus(void **state)
{
	Gusprof__Record lost = GUSPROF__RECORD__INIT, throttle = GUSPROF__RECORD__INIT, name = GUSPROF__RECORD__INIT;
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Throttle t = GUSPROF__THROTTLE__INIT;
	Gusprof__Lost l = GUSPROF__LOST__INIT;
	struct gus_columns rows = { 0 };
	struct made *m = *state;

	lost.kind_case = GUSPROF__RECORD__KIND_LOST;
	lost.lost = &l;
	throttle.kind_case = GUSPROF__RECORD__KIND_THROTTLE;
	throttle.throttle = &t;
	assert_true(made_record(m->w, &lost) && made_record(m->w, &throttle));
	name.kind_case = GUSPROF__RECORD__KIND_COMM; /* which has none, whatever it has where the others have theirs */
	name.comm = &comm;
	comm.pid = comm.tid = 7;
	comm.time = UINT64_C(0x500000005);
	assert_true(made_record(m->w, &name) && made_map(m->w, 7, 5, 0x500000000, 0x700000000, "/a"));
	gus_columns_push(&m->samples, &(struct gus_sample){ .event = 0, .cpu = UINT32_MAX });
	gus_columns_push_switch(&rows, &(struct gus_switch){ .cpu = UINT32_MAX });
	assert_int_equal(gus_writer_switches(m->w, &rows, NULL), 0);
	gus_columns_free(&rows);
	assert_int_equal(look(m, NULL)->layouts.v[0].sample_type & CPU_BIT, 0);
}

static void modules(void **state)
{
	static const struct { uint64_t address, size; const char *module; } symbols[] = {
		{ 0xf5010, 0x20, "net" }, { 0x100, 0x10, "" }, { 0xf3000, 0, "net" }, { 0xe0000, 0x800, "fs" },
		{ 0xf4000, 0x3000, "net" }, { 0xd0000, 4, "bpf" }, { 0xd0000, 4, "__builtin__ftrace" },
		{ UINT64_MAX - 1, 8, "fs" }, /* which goes round */
	};
	enum { N = sizeof(symbols) / sizeof(*symbols) };
	Gusprof__Symbol made[N], *list[N];
	Gusprof__KernelSymbols message = GUSPROF__KERNEL_SYMBOLS__INIT;
	struct made *m = *state;
	const struct gus_contents *c;

	for (size_t i = 0; i < N; i++) {
		made[i] = (Gusprof__Symbol)GUSPROF__SYMBOL__INIT;
		made[i].address = symbols[i].address;
		made[i].size = symbols[i].size;
		made[i].module = text(symbols[i].module);
		list[i] = &made[i];
	}
	message.symbols = list;
	message.n_symbols = N;
	message.text_start = 0x1000;
	message.text_end = 0x9000;
	assert_int_equal(gus_writer_message(m->w, GUS_FRAME_KERNEL_SYMBOLS, &message.base, NULL), 0);
	message.n_symbols = 0;
	message.text_start = message.text_end = 0; /* of another one that does not tell */
	assert_int_equal(gus_writer_message(m->w, GUS_FRAME_KERNEL_SYMBOLS, &message.base, NULL), 0);
	c = look(m, NULL);
	assert_int_equal(c->text_start, 0x1000);
	assert_int_equal(c->text_end, 0x9000);
	assert_int_equal(c->modules.n, 2);
	assert_string_equal(c->modules.v[0].name, "net");
	assert_int_equal(c->modules.v[0].start, 0xf3000);
	assert_int_equal(c->modules.v[0].end, 0xf7000);
	assert_string_equal(c->modules.v[1].name, "fs");
	assert_int_equal(c->modules.v[1].start, 0xe0000);
	assert_int_equal(c->modules.v[1].end, 0xe0800);
}

/* Where only one end of the kernel is told, the other stays what it was. */
static void ends_of_the_kernel(void **state)
{
	static const uint64_t told[][2] = { { 0x1000, 0 }, { 0, 0x9000 }, { 0x2000, 0 } };
	struct made *m = *state;
	const struct gus_contents *c;

	for (size_t i = 0; i < 3; i++) {
		Gusprof__KernelSymbols message = GUSPROF__KERNEL_SYMBOLS__INIT;

		message.text_start = told[i][0];
		message.text_end = told[i][1];
		assert_int_equal(gus_writer_message(m->w, GUS_FRAME_KERNEL_SYMBOLS, &message.base, NULL), 0);
	}
	c = look(m, NULL);
	assert_int_equal(c->text_start, 0x2000);
	assert_int_equal(c->text_end, 0x9000);
}

/* Modules are as many as a kernel can have and no more, and those that there are still grow. */
static void more_modules_than_any(void **state)
{
	enum { N = GUS_LIMIT_ELF_SEGMENTS + 2 };
	static Gusprof__Symbol made[N], *list[N];
	static char names[N][8];
	Gusprof__KernelSymbols message = GUSPROF__KERNEL_SYMBOLS__INIT;
	struct made *m = *state;
	const struct gus_contents *c;

	for (unsigned i = 0; i < N; i++) {
		made[i] = (Gusprof__Symbol)GUSPROF__SYMBOL__INIT;
		snprintf(names[i], sizeof(names[i]), "m%u", i < N - 1 ? i : 0);
		made[i].module = names[i];
		made[i].address = i < N - 1 ? 0x1000 : 0x800;
		made[i].size = 0x10;
		list[i] = &made[i];
	}
	message.symbols = list;
	message.n_symbols = N;
	assert_int_equal(gus_writer_message(m->w, GUS_FRAME_KERNEL_SYMBOLS, &message.base, NULL), 0);
	c = look(m, NULL);
	assert_int_equal(c->modules.n, GUS_LIMIT_ELF_SEGMENTS);
	assert_string_equal(c->modules.v[GUS_LIMIT_ELF_SEGMENTS - 1].name, names[GUS_LIMIT_ELF_SEGMENTS - 1]);
	assert_int_equal(c->modules.v[0].start, 0x800);
	assert_int_equal(c->modules.v[0].end, 0x1010);
}

/* Of a symbol whose size is not known it is known that it is there. */
static void module_of_one_address(void **state)
{
	Gusprof__Symbol symbol = GUSPROF__SYMBOL__INIT, *list[] = { &symbol };
	Gusprof__KernelSymbols message = GUSPROF__KERNEL_SYMBOLS__INIT;
	struct made *m = *state;
	const struct gus_contents *c;

	symbol.address = 0x7000;
	symbol.module = text("one");
	message.symbols = list;
	message.n_symbols = 1;
	assert_int_equal(gus_writer_message(m->w, GUS_FRAME_KERNEL_SYMBOLS, &message.base, NULL), 0);
	c = look(m, NULL);
	assert_int_equal(c->modules.n, 1);
	assert_int_equal(c->modules.v[0].start, 0x7000);
	assert_int_equal(c->modules.v[0].end, 0x7001);
}

/* Each file once by each build id that it had. */
static void build_ids(void **state)
{
	static const struct made_mapping made[] = {
		{ .path = "/a", .build_id = "first" }, { .path = "/a", .build_id = "first" },
		{ .path = "/a", .build_id = "other" }, { .path = "/b", .build_id = "first", .kernel = true },
		{ .path = "/c" }, { .path = "/d", .build_id = "twenty-one bytes long" },
		{ .path = "/e", .build_id = "twenty bytes of some" },
		{ .path = "", .build_id = "nobody's" },
	};
	struct made *m = *state;
	const struct gus_contents *c;
	const struct gus_contents_build *b;

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		struct made_mmap r;

		made_mmap(&r, &made[i]);
		assert_true(made_record(m->w, &r.record));
	}
	c = look(m, NULL);
	assert_true(c->kernel_mapped);
	assert_int_equal(c->builds.n, 4);
	b = gus_index_key(&c->builds, 3);
	assert_string_equal(gus_strings_get(&c->paths, b->path), "/e");
	assert_int_equal(b->size, 20);
	assert_int_equal(b->kernel, 0);
	b = gus_index_key(&c->builds, 2);
	assert_string_equal(gus_strings_get(&c->paths, b->path), "/b");
	assert_int_equal(b->size, 5);
	assert_memory_equal(b->id, "first", 5);
	assert_int_equal(b->kernel, 1);
}

/* The kernel by its name alone, and the vdso, of which no mapping tells the id. */
static void build_ids_by_other_names(void **state)
{
	static const struct { struct made_mapping made; const char *path; } cases[] = {
		{ { .path = "[kernel.kallsyms]_text", .build_id = "1", .kernel = true }, "[kernel.kallsyms]" },
		{ { .path = "[kernel.kallsyms]", .build_id = "2", .kernel = true }, "[kernel.kallsyms]" },
		{ { .path = "[ext4", .build_id = "3", .kernel = true }, "[ext4" },
		{ { .path = "/a]_text", .build_id = "4", .kernel = true }, "/a]_text" },
		{ { .path = "[a]_text", .build_id = "5" }, "[a]_text" },
	};
	const size_t n = sizeof(cases) / sizeof(*cases);
	Gusprof__Image image = GUSPROF__IMAGE__INIT;
	struct made *m = *state;
	const struct gus_contents *c;
	const struct gus_contents_build *b;

	for (size_t i = 0; i < n; i++) {
		struct made_mmap r;

		made_mmap(&r, &cases[i].made);
		assert_true(made_record(m->w, &r.record));
	}
	image.path = text("[vdso]");
	assert_int_equal(gus_writer_message(m->w, GUS_FRAME_IMAGE, &image.base, NULL), 0); /* it has none */
	image.build_id = (ProtobufCBinaryData){ 3, (uint8_t *)(uintptr_t)"its" };
	assert_int_equal(gus_writer_message(m->w, GUS_FRAME_IMAGE, &image.base, NULL), 0);
	c = look(m, NULL);
	assert_int_equal(c->builds.n, n + 1);
	for (size_t i = 0; i < n; i++) {
		b = gus_index_key(&c->builds, (uint32_t)i);
		assert_string_equal(gus_strings_get(&c->paths, b->path), cases[i].path);
	}
	b = gus_index_key(&c->builds, (uint32_t)n);
	assert_string_equal(gus_strings_get(&c->paths, b->path), "[vdso]");
	assert_memory_equal(b->id, "its", 3);
	assert_int_equal(b->kernel, 0);
}

/* By process, place and offset; neither code nor the kernel, nor what no file holds, is a file's data. */
static void data(void **state)
{
	static const struct { uint32_t pid, protection; uint64_t start, offset; const char *path; bool kernel, has; }
	cases[] = {
		{ 7, 1, 0x1000, 0x2000, "/a", false, true }, { 7, 3, 0x3000, 0x2000, "/a", false, true },
		{ 7, 5, 0x4000, 0x2000, "/a", false, false }, { 7, 1, 0x5000, 0x2000, "/a", true, false },
		{ 7, 1, 0x6000, 0x2000, "[heap]", false, false },
	};
	const size_t n = sizeof(cases) / sizeof(*cases);
	struct made *m = *state;
	const struct gus_contents *c;
	struct made_mmap r[sizeof(cases) / sizeof(*cases)];

	for (size_t i = 0; i < n; i++) {
		made_mmap(&r[i], &(struct made_mapping){ .pid = cases[i].pid, .start = cases[i].start, .length = 0x1000,
							 .path = cases[i].path, .kernel = cases[i].kernel });
		r[i].mmap.offset = cases[i].offset;
		r[i].mmap.protection = cases[i].protection;
		r[i].record.mmap = &r[i].mmap;
		assert_true(made_record(m->w, &r[i].record));
	}
	c = look(m, NULL);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(gus_contents_has_data(c, &r[i].mmap), cases[i].has);
	r[0].mmap.length = 0x2000;
	assert_true(gus_contents_has_data(c, &r[0].mmap));
	r[0].mmap.pid = 8;
	r[1].mmap.offset++;
	assert_false(gus_contents_has_data(c, &r[0].mmap) || gus_contents_has_data(c, &r[1].mmap));
	r[0].mmap.pid = 7;
	r[0].mmap.start++;
	assert_false(gus_contents_has_data(c, &r[0].mmap));
}

static void what_has_no_place(void **state)
{
	Gusprof__EventTotal totals[3], *list[3];
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Overhead overhead = GUSPROF__OVERHEAD__INIT;
	Gusprof__EmbeddedFunction function = GUSPROF__EMBEDDED_FUNCTION__INIT, *functions[] = { &function, &function };
	Gusprof__Embedded embedded = GUSPROF__EMBEDDED__INIT;
	Gusprof__Image image = GUSPROF__IMAGE__INIT;
	Gusprof__Aux aux = GUSPROF__AUX__INIT;
	struct gus_bytes payload = { .v = (uint8_t *)(uintptr_t)"whatever", .n = 8 };
	Gusprof__Mark mark = GUSPROF__MARK__INIT;
	Gusprof__Jit jit = GUSPROF__JIT__INIT;
	Gusprof__Kept kept = GUSPROF__KEPT__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;
	struct made *m = *state;
	const struct gus_contents *c;

	r.kind_case = GUSPROF__RECORD__KIND_MARK;
	r.mark = &mark;
	assert_true(made_record(m->w, &r) && made_record(m->w, &r) && made_record(m->w, &r));
	r.kind_case = GUSPROF__RECORD__KIND_JIT;
	r.jit = &jit;
	assert_true(made_record(m->w, &r) && made_record(m->w, &r));
	r.kind_case = GUSPROF__RECORD__KIND_KEPT;
	r.kept = &kept;
	assert_true(made_record(m->w, &r) && made_record(m->w, &r));
	embedded.functions = functions;
	embedded.n_functions = 2;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(gus_writer_message(m->w, GUS_FRAME_EMBEDDED, &embedded.base, NULL), 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(gus_writer_message(m->w, GUS_FRAME_IMAGE, &image.base, NULL), 0);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(gus_writer_message(m->w, GUS_FRAME_AUX, &aux.base, NULL), 0);
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(gus_writer_payload(m->w, i ? GUS_FRAME_SNAPSHOT : GUS_FRAME_TRACE, &payload, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		totals[i] = (Gusprof__EventTotal)GUSPROF__EVENT_TOTAL__INIT;
		totals[i].missed = i == 1 ? 0 : 2 + i;
		list[i] = &totals[i];
	}
	footer.events = list;
	footer.n_events = 3;
	footer.overhead = &overhead;
	c = look(m, &footer);
	assert_int_equal(c->marks, 3);
	assert_int_equal(c->made, 2);
	assert_int_equal(c->kept, 2);
	assert_int_equal(c->names, 4);
	assert_int_equal(c->images, 5);
	assert_int_equal(c->aux, 6);
	assert_int_equal(c->replayable, 7);
	assert_false(c->kernel_mapped);
	assert_int_equal(c->unsampled, 2);
	assert_true(c->governed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing),
		TEST(samples),
		TEST(counters), TEST(more_counters_than_ids), TEST(times_in_any_order), TEST(settled_layouts),
		TEST(cpus_of_records), TEST(cpus_of_throttles), TEST(ends_of_the_kernel), TEST(more_modules_than_any),
		TEST(switches),
		TEST(no_cpus),
		TEST(modules),
		TEST(module_of_one_address),
		TEST(build_ids), TEST(build_ids_by_other_names), TEST(data),
		TEST(what_has_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
