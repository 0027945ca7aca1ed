/* SPDX-License-Identifier: MIT */
/* proto/trace: what is written is read, in frames of any number; cut, changed and contradictory files give one error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "proto/reader.h"
#include "proto/trace.h"
#include "proto/varint.h"
#include "proto/writer.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

static char directory[64];

static int enter(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/gusprof-test-XXXXXX");
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	unlink("t");
	unlink("t.old");
	return chdir("/") == 0 ? rmdir(directory) : -1;
}

/* Three blocks: two of the same bytes, one of which follows the other in memory, and one of other bytes at the same address. */
static const uint8_t lengths[] = { 1, 3, 2 }, code[] = { 0x90, 0x48, 0x01, 0xc8, 0x75, 0xfa };
static const uint8_t other[] = { 0x90, 0x48, 0x29, 0xc8, 0, 0xfa };
static const struct gus_trace_block blocks[] = {
	{ 0x401000, lengths, code, 3, 6 }, { 0x401006, lengths, code, 3, 6 }, { 0x401000, lengths, other, 3, 6 },
};

/* In the file "t", or what is open as fd. */
static struct gus_trace_writer *create_on(int fd)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	struct gus_error err = { 0 };
	struct gus_trace_writer *w;

	about.front_end = (char *)"test";
	about.target = (char *)"x86_64";
	w = fd < 0 ? gus_trace_writer_create("t", &header, &about, &err) : gus_trace_writer_create_fd(fd, &header, &about, &err);
	if (!w)
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t number = 99;

		assert_int_equal(gus_trace_writer_block(w, &blocks[i], &number, &err), 0);
		assert_int_equal(number, i);
		assert_int_equal(gus_trace_writer_block(w, &blocks[i], &number, &err), 0);
		assert_int_equal(number, i);
	}
	return w;
}

static struct gus_trace_writer *create(void)
{
	return create_on(-1);
}

static void finish(struct gus_trace_writer *w)
{
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_error err = { 0 };

	total.streams = 2;
	if (gus_trace_writer_finish(w, &total, &err) != 0)
		fail_msg("%s", err.text);
}

/* The i-th step: which block, and its accesses: a stride, now and then another shape, addresses at both ends of memory. */
static uint32_t block_of(uint64_t i)
{
	return i % 7 == 6 ? 2 : i % 2;
}

static uint32_t accesses_of(uint64_t i, struct gus_trace_access a[3])
{
	a[0] = (struct gus_trace_access){ .address = 0x7000 + 8 * i, .size = 8, .insn = 1 };
	a[1] = (struct gus_trace_access){ .address = i % 5 ? UINT64_MAX - i : i * i * 0x123456789, .size = i % 11 ? 32 : 4096, .insn = 2,
					  .store = true };
	a[2] = (struct gus_trace_access){ .address = 0, .size = 1, .insn = 0 };
	return i % 13 == 12 ? 0 : i % 17 == 16 ? 3 : 2;
}

static void write_steps(struct gus_trace_writer *w, uint32_t stream, uint64_t n)
{
	struct gus_vec(struct gus_trace_raw) steps = { 0 };
	struct gus_vec(struct gus_trace_access) accesses = { 0 };
	struct gus_error err = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		struct gus_trace_access a[3];
		uint32_t count = accesses_of(i, a);

		gus_vec_push(&steps, (struct gus_trace_raw){ block_of(i), count });
		gus_vec_append(&accesses, a, count);
	}
	if (gus_trace_writer_steps(w, &(struct gus_trace_run){ stream, 3, 1000, steps.v, accesses.v, n, GUS_TRACE_NEXT_UNKNOWN },
				   &err) != 0)
		fail_msg("%s", err.text);
	gus_vec_free(&steps);
	gus_vec_free(&accesses);
}

static void check_block(const struct gus_trace *t, uint32_t number)
{
	struct gus_trace_block got = gus_trace_block(t, number);

	assert_true(got.address == blocks[number].address);
	assert_int_equal(got.insns, 3);
	assert_int_equal(got.size, 6);
	assert_memory_equal(got.lengths, lengths, 3);
	assert_memory_equal(got.bytes, blocks[number].bytes, 6);
}

static void check_steps(struct gus_trace *t, uint32_t stream, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct gus_trace_step step;
		struct gus_error err = { 0 };
		struct gus_trace_access a[3];
		uint32_t count = accesses_of(i, a);

		if (gus_trace_next(t, &step, &err) != 1)
			fail_msg("step %llu: %s", (unsigned long long)i, err.text);
		assert_int_equal(step.stream, stream);
		assert_true(step.window == 3 && step.at == 1000 + 3 * i);
		assert_int_equal(step.block, block_of(i));
		check_block(t, step.block);
		assert_int_equal(step.next, i == n - 1 ? GUS_TRACE_NEXT_UNKNOWN :
				 block_of(i) != 1 && block_of(i + 1) == 1 ? GUS_TRACE_NEXT_FALLS : GUS_TRACE_NEXT_TAKEN);
		assert_int_equal(step.accesses_n, count);
		for (uint32_t k = 0; k < count; k++) {
			assert_true(step.accesses[k].address == a[k].address && step.accesses[k].size == a[k].size);
			assert_true(step.accesses[k].insn == a[k].insn && step.accesses[k].store == a[k].store);
		}
	}
}

/* 100,000 steps are several frames, in each of which everything begins anew. */
static void write_all(struct gus_trace_writer *w)
{
	write_steps(w, 0, 100000);
	write_steps(w, 7, 1);
	finish(w);
}

static void check_whole(struct gus_trace *t, struct gus_error *err)
{
	struct gus_trace_step step;

	if (!t)
		fail_msg("%s", err->text);
	assert_string_equal(gus_trace_about(t)->target, "x86_64");
	assert_null(gus_trace_total(t));
	check_steps(t, 0, 100000);
	check_steps(t, 7, 1);
	assert_int_equal(gus_trace_next(t, &step, err), 0);
	assert_int_equal(gus_trace_next(t, &step, err), 0);
	assert_int_equal(gus_trace_blocks(t), 3);
	assert_true(gus_trace_total(t)->steps == 100001 && gus_trace_total(t)->instructions == 300003);
	assert_int_equal(gus_trace_total(t)->streams, 2);
	gus_trace_close(t);
}

static void what_is_written_is_read(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	write_all(create());
	check_whole(gus_trace_open("t", &err), &err);
}

/* Far more than a pipe holds, read while it is written; the writer's end stays open behind the end of the trace. */
static void a_pipe_is_read_while_it_is_written(void **state)
{
	(void)state;
	for (int plain = 0; plain < 2; plain++) {
		struct gus_error err = { 0 };
		struct gus_trace_writer *w;
		int ends[2], status;
		pid_t child;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		assert_true(child >= 0);
		if (!child) {
			close(ends[0]);
			w = create_on(dup(ends[1]));
			if (plain)
				gus_trace_writer_plain(w);
			write_all(w);
			_exit(0);
		}
		check_whole(gus_trace_open_fd(ends[0], &err), &err);
		close(ends[1]);
		assert_true(waitpid(child, &status, 0) == child && status == 0);
	}
}

static void a_reader_that_left_is_an_error_and_no_signal(void **state)
{
	struct gus_trace_raw step = { 0 };
	struct gus_error err = { 0 };
	struct gus_trace_writer *w;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	w = create_on(ends[1]);
	close(ends[0]);
	assert_int_equal(gus_trace_writer_steps(w, &(struct gus_trace_run){ .steps = &step, .n = 1 }, &err), -1);
	assert_non_null(strstr(err.text, "Broken pipe"));
	gus_trace_writer_abandon(w);
}

/* As the traced program may do, which has the same table of open files. */
static void a_file_that_takes_its_number_is_left_alone(void **state)
{
	struct gus_trace_raw step = { 0 };
	struct gus_error err = { 0 };
	struct gus_trace_writer *w;
	FILE *f = fopen("t", "w");
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	w = create_on(ends[1]);
	assert_int_equal(dup2(fileno(f), ends[1]), ends[1]);
	assert_int_equal(gus_trace_writer_steps(w, &(struct gus_trace_run){ .steps = &step, .n = 1 }, &err), -1);
	assert_non_null(strstr(err.text, "cannot write to the trace's stream"));
	gus_trace_writer_abandon(w);
	assert_int_equal(write(ends[1], "x", 1), 1); /* still open */
	assert_int_equal(ftell(f), 1);
	close(ends[0]);
	close(ends[1]);
	fclose(f);
}

static void an_empty_trace_is_one(void **state)
{
	struct gus_trace_step step;
	struct gus_trace *t;

	(void)state;
	finish(create());
	t = gus_trace_open("t", NULL);
	assert_non_null(t);
	assert_int_equal(gus_trace_next(t, &step, NULL), 0);
	assert_int_equal(gus_trace_blocks(t), 3);
	gus_trace_close(t);
}

static uint8_t *slurp(size_t *size)
{
	FILE *f = fopen("t", "rb");
	uint8_t *bytes = gus_alloc(1 << 20);

	assert_non_null(f);
	*size = fread(bytes, 1, 1 << 20, f);
	assert_true(*size < 1 << 20);
	fclose(f);
	return bytes;
}

static bool counts(struct gus_trace *t, uint64_t *steps, struct gus_error *err)
{
	struct gus_trace_step step;
	int got = -1;

	*steps = 0;
	while (t && (got = gus_trace_next(t, &step, err)) == 1)
		++*steps;
	gus_trace_close(t);
	return got == 0;
}

/* Reads to the end; whether that was one, else why not. From a pipe it is the same. */
static bool reads_whole(const uint8_t *bytes, size_t size, uint64_t *steps, struct gus_error *err)
{
	bool whole = counts(gus_trace_open_memory(bytes, size, err), steps, err);
	struct gus_error why = { 0 };
	uint64_t streamed;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, size), size); /* less than it holds */
	close(ends[1]);
	assert_int_equal(counts(gus_trace_open_fd(ends[0], &why), &streamed, &why), whole);
	assert_true(streamed == *steps && why.code == err->code);
	return whole;
}

static void a_cut_at_any_byte_is_told(void **state)
{
	struct gus_trace_writer *w = create();
	uint64_t steps, most = 0;
	size_t size;
	uint8_t *bytes;

	(void)state;
	write_steps(w, 0, 50);
	write_steps(w, 1, 50);
	finish(w);
	bytes = slurp(&size);
	for (size_t n = 0; n < size; n++) {
		uint8_t *copy = gus_alloc(n ? n : 1); /* as long as the bytes, so that a read behind them is seen */
		struct gus_error err = { 0 };

		memcpy(copy, bytes, n);
		assert_false(reads_whole(copy, n, &steps, &err));
		assert_true(err.code != GUS_OK && err.text[0]);
		assert_true(steps >= most);
		most = steps;
		free(copy);
	}
	assert_int_equal(most, 100);
	free(bytes);
}

static void a_change_of_any_byte_is_told(void **state)
{
	struct gus_trace_writer *w = create();
	uint64_t steps;
	size_t size;
	uint8_t *bytes;

	(void)state;
	write_steps(w, 0, 50);
	finish(w);
	bytes = slurp(&size);
	for (size_t i = 0; i < size; i++) {
		struct gus_error err = { 0 };

		bytes[i] ^= 0x5a;
		if (reads_whole(bytes, size, &steps, &err))
			fail_msg("the change of byte %zu was not seen", i);
		assert_true(err.code != GUS_OK && err.text[0]);
		bytes[i] ^= 0x5a;
	}
	free(bytes);
}

/* A frame whose sums are right and whose payload is not. */
static void refused(enum gus_frame_type type, const char *payload, size_t size, const char *why)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	static const char block[] = "\x01\x00\x00\x01\x01\x90"; /* one of one byte */
	struct gus_bytes first = { 0 }, second = { 0 };
	struct gus_writer *w = gus_writer_create("t", &header, NULL);
	struct gus_error err = { 0 };
	uint64_t steps;
	uint8_t *bytes;

	assert_non_null(w);
	gus_vec_append(&first, (const uint8_t *)block, sizeof(block) - 1);
	gus_vec_append(&second, (const uint8_t *)payload, size);
	assert_int_equal(gus_writer_message(w, GUS_FRAME_TRACE, &about.base, NULL), 0);
	assert_int_equal(gus_writer_payload(w, GUS_FRAME_TRACE_BLOCKS, &first, NULL), 0);
	assert_int_equal(gus_writer_payload(w, type, &second, NULL), 0);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	gus_vec_free(&first);
	gus_vec_free(&second);
	bytes = slurp(&size);
	assert_false(reads_whole(bytes, size, &steps, &err));
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	free(bytes);
}

#define REFUSED(type, payload, why) refused(GUS_FRAME_TRACE_##type, payload, sizeof(payload) - 1, why)

static void what_contradicts_itself_is_refused(void **state)
{
	(void)state;
	REFUSED(BLOCKS, "\xff\xff\xff\x7f", "more blocks than");
	REFUSED(BLOCKS, "\x01\x00\x02", "no such code");
	REFUSED(BLOCKS, "\x01\x00\x00\x00", "no such code");
	REFUSED(BLOCKS, "\x01\x00\x00\x01\x00", "no such code");
	REFUSED(BLOCKS, "\x01\x00\x00\x01\x02\x90", "no such code");
	REFUSED(BLOCKS, "\x00\x00", "behind the last block");
	/* stream, window, at, next, steps, accesses, three columns */
	REFUSED(STEPS, "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "or none");
	REFUSED(STEPS, "\x00\x00\x00\x03\x01\x00\x01\x01\x01\x00\x00", "more steps than");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x00\x01\x01\x01\x00\x09", "do not fill");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x00\x01\x02\x01\x00\x00", "names no block");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x00\x01\x00\x01\x00\x00", "names no block");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x01\x01\x01\x03\x02\x02\x01\x01\x00", "names no block, no instruction");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x01\x01\x01\x03\x02\x01\x00\x01\x00", "names no block, no instruction");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x00\x01\x01\x03\x02\x01\x01\x01\x00", "names no block, no instruction");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x01\x01\x01\x03\x02\x01\x01\x00", "no address");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x00\x02\x01\x01\x01\x00\x00", "more in its columns");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x00\x01\x01\x01\x00\x00", "does not say what was written");
	REFUSED(TOTAL, "\x10\x05", "other numbers");
	refused(GUS_FRAME_TRACE, "", 0, "begins twice");
}

static void other_recordings_have_none(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_writer_finish(gus_writer_create("t", &header, NULL), &footer, NULL), 0);
	assert_null(gus_trace_open("t", &err));
	assert_int_equal(err.code, GUS_E_NOT_FOUND);
}

static void writers_refuse_what_readers_would(void **state)
{
	static const uint8_t none[] = { 1, 0, 5 };
	struct gus_trace_writer *w = create();
	struct gus_trace_access a = { .address = 1, .size = 1, .insn = 3 };
	struct gus_trace_raw step = { 0, 1 };
	struct gus_error err = { 0 };
	uint32_t number;

	(void)state;
	assert_int_equal(gus_trace_writer_block(w, &(struct gus_trace_block){ 0, none, code, 3, 6 }, &number, &err), -1);
	assert_int_equal(gus_trace_writer_block(w, &(struct gus_trace_block){ 0, lengths, code, 3, 5 }, &number, &err), -1);
	assert_int_equal(gus_trace_writer_block(w, &(struct gus_trace_block){ 0, lengths, code, 0, 0 }, &number, &err), -1);
	assert_int_equal(gus_trace_writer_steps(w, &(struct gus_trace_run){ 0, 0, 0, &step, &a, 1, 0 }, &err), -1);
	step = (struct gus_trace_raw){ 3, 0 };
	assert_int_equal(gus_trace_writer_steps(w, &(struct gus_trace_run){ 0, 0, 0, &step, &a, 1, 0 }, &err), -1);
	finish(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read),
		TEST(a_pipe_is_read_while_it_is_written),
		TEST(a_reader_that_left_is_an_error_and_no_signal),
		TEST(a_file_that_takes_its_number_is_left_alone),
		TEST(an_empty_trace_is_one),
		TEST(a_cut_at_any_byte_is_told),
		TEST(a_change_of_any_byte_is_told),
		TEST(what_contradicts_itself_is_refused),
		TEST(other_recordings_have_none),
		TEST(writers_refuse_what_readers_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
