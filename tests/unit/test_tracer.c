/* SPDX-License-Identifier: MIT */
/* cli/tracer without an emulator: where code is from, when that is told, which calls matter, what options say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/made_folder.h"
#include "tracing/plugin/calls.h"
#include "tracing/plugin/options.h"
#include "tracing/plugin/origins.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, made_folder_enter, made_folder_leave)

static struct gus_trace_writer *create(void)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	struct gus_trace_writer *w = gus_trace_writer_create("t", &header, &about, NULL);

	assert_non_null(w);
	return w;
}

static struct gus_trace *finish(struct gus_trace_writer *w)
{
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_trace_step step;
	struct gus_trace *t;

	assert_int_equal(gus_trace_writer_finish(w, &total, NULL), 0);
	t = gus_trace_open("t", NULL);
	assert_non_null(t);
	assert_int_equal(gus_trace_next(t, &step, NULL), 0);
	return t;
}

/* A block of one instruction, which makes the next record's time one more. */
static void add_block(struct gus_trace_writer *w, uint64_t address)
{
	struct gus_trace_block block = { address, (const uint8_t *)"\x01", (const uint8_t *)"\x90", 1, 1 };
	uint32_t number;

	assert_int_equal(gus_trace_writer_block(w, &block, &number, NULL), 0);
}

static const char before[] =
	"7f0000400000-7f0000402000 r--p 00000000 fe:00 11 /bin/program with blanks\n"
	"7f0000402000-7f0000404000 r--p 00002000 fe:00 11 /bin/program with blanks\n"
	"7f0000500000-7f0000501000 r--p 00000000 00:00 0 \n"
	"7f0000600000-7f0000602000 r--p 00001000 fe:00 12 /lib/one.so\n";
static const char after[] =
	"7f0000400000-7f0000402000 r--p 00000000 fe:00 11 /bin/program with blanks\n"
	"7f0000601000-7f0000603000 r--p 00000000 fe:00 13 /lib/two.so (deleted)\n";

#define DISTANCE 0x7f0000000000

static void tell(struct gus_origins *o, uint64_t address, struct gus_trace_writer *w)
{
	struct gus_origin *origin = gus_origins_find(o, address + DISTANCE, address);

	assert_non_null(origin);
	assert_int_equal(gus_origins_tell(o, origin, w, NULL), 0);
	add_block(w, address);
}

static void check(const Gusprof__Record *r, uint64_t time, uint64_t start, uint64_t length, uint64_t offset,
		  const char *path)
{
	assert_int_equal(r->kind_case, GUSPROF__RECORD__KIND_MMAP);
	assert_int_equal(r->mmap->pid, 77);
	assert_int_equal(r->mmap->time, time);
	assert_true(r->mmap->start == start && r->mmap->length == length && r->mmap->offset == offset);
	assert_string_equal(r->mmap->path, path);
}

/* Each mapping once, before its first block; again only after another one took some of its addresses. */
static void code_is_told_where_it_is_from(void **state)
{
	struct gus_trace_writer *w = create();
	const Gusprof__Record *const *r;
	struct gus_origin *one;
	struct gus_origins o;
	struct gus_trace *t;
	size_t n;

	(void)state;
	gus_origins_init(&o, 77);
	assert_null(gus_origins_find(&o, 0x402000 + DISTANCE, 0x402000));
	gus_origins_update(&o, before);
	assert_int_equal(gus_origins_name(&o, "/bin/program with blanks", w, NULL), 0);
	assert_int_equal(gus_origins_name(&o, "again", w, NULL), 0);
	tell(&o, 0x402010, w);
	tell(&o, 0x403ff0, w);
	tell(&o, 0x500000, w);
	tell(&o, 0x601000, w);
	one = gus_origins_find(&o, 0x601000 + DISTANCE, 0x601000);
	gus_origins_update(&o, before);
	tell(&o, 0x402020, w);
	assert_ptr_equal(gus_origins_find(&o, 0x601000 + DISTANCE, 0x601000), one);
	gus_origins_update(&o, after);
	assert_null(gus_origins_find(&o, 0x402000 + DISTANCE, 0x402000));
	assert_null(gus_origins_find(&o, 0x603000 + DISTANCE, 0x603000));
	tell(&o, 0x601004, w);
	/* a block that was translated before, and is written late */
	assert_int_equal(gus_origins_tell(&o, one, w, NULL), 0);
	t = finish(w);
	r = gus_trace_records(t, &n);
	assert_int_equal(n, 6);
	assert_string_equal(r[0]->comm->name, "program with bl");
	check(r[1], 0, 0x402000, 0x2000, 0x2000, "/bin/program with blanks");
	check(r[2], 2, 0x500000, 0x1000, 0, "//anon");
	check(r[3], 3, 0x600000, 0x2000, 0x1000, "/lib/one.so");
	check(r[4], 5, 0x601000, 0x2000, 0, "/lib/two.so (deleted)");
	check(r[5], 6, 0x600000, 0x2000, 0x1000, "/lib/one.so");
	gus_trace_close(t);
	gus_origins_free(&o);
}

/* What a trace may not hold is left out, and said; the trace goes on. */
static void too_many_origins_are_no_failure(void **state)
{
	struct gus_trace_writer *w = create();
	struct gus_origins o;
	struct gus_trace *t;
	size_t n;

	(void)state;
	gus_origins_init(&o, 77);
	gus_origins_update(&o, before);
	for (uint32_t i = 0; i < GUS_TRACE_RECORDS_MAX - 1; i++) {
		o.named = false;
		assert_int_equal(gus_origins_name(&o, "x", w, NULL), 0);
	}
	tell(&o, 0x402010, w);
	assert_false(o.full);
	tell(&o, 0x601000, w);
	tell(&o, 0x500000, w);
	assert_true(o.full);
	t = finish(w);
	gus_trace_records(t, &n);
	assert_int_equal(n, GUS_TRACE_RECORDS_MAX);
	assert_int_equal(gus_trace_blocks(t), 3);
	gus_trace_close(t);
	gus_origins_free(&o);
}

static void calls_have_their_numbers(void **state)
{
	(void)state;
	assert_int_equal(gus_system_call_of(GUS_TRANSLATED_X86_64, 9), GUS_CALL_MAPS);
	assert_int_equal(gus_system_call_of(GUS_TRANSLATED_ARM64, 222), GUS_CALL_MAPS);
	assert_int_equal(gus_system_call_of(GUS_TRANSLATED_X86_64, 59), GUS_CALL_EXECVE);
	assert_int_equal(gus_system_call_of(GUS_TRANSLATED_X86_32, 59), GUS_CALL_OTHER);
	assert_int_equal(gus_system_call_of(GUS_TRANSLATED_X86_64, -1), GUS_CALL_OTHER);
	assert_int_equal(gus_system_call_of(GUS_TRANSLATED_OTHER, 1), GUS_CALL_MAPS);
	assert_true(gus_system_call_clones(17));               /* SIGCHLD: a fork */
	assert_true(gus_system_call_clones(0x4111));           /* posix_spawn */
	assert_false(gus_system_call_clones(0x3d0f00));        /* pthread_create */
}

static int parse(struct gus_tracer_options *o, const char *text)
{
	char copy[128], *words[8], *save;
	int n = 0, rc;

	strcpy(copy, text);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	rc = gus_tracer_options_parse(o, n, words, NULL);
	gus_tracer_options_free(o);
	return rc;
}

static void a_trace_goes_to_one_place(void **state)
{
	static const char *const wrong[] = {
		"", "start=1", "out=x fd=3", "out=", "fd=-1", "fd=", "fd=3x", "fd=9999999999", "out", "outx=x",
			"out=x plain=yes",
		"out=x every=5", "out=x length=6 every=5", "out=x range=2-1", "fd=3 replay=on", "fd=3 root=4",
		"fd=3 replay=on root=-1",
	};
	struct gus_tracer_options o;

	(void)state;
	assert_int_equal(parse(&o, "out=x"), 0);
	assert_true(o.fd == -1 && o.max_size == 64 << 20 && !o.plain);
	assert_int_equal(parse(&o, "plain=on fd=3 start=5"), 0);
	assert_true(o.fd == 3 && o.max_size == 0 && o.plain && o.windows.start == 5);
	assert_int_equal(parse(&o, "fd=3 max=7"), 0);
	assert_true(o.max_size == 7 && !o.replay && o.root == -1);
	assert_int_equal(parse(&o, "fd=3 replay=on root=0"), 0);
	assert_true(o.fd == 3 && o.replay && o.root == 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(parse(&o, wrong[i]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(code_is_told_where_it_is_from),
		TEST(too_many_origins_are_no_failure),
		TEST(calls_have_their_numbers),
		TEST(a_trace_goes_to_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
