/* SPDX-License-Identifier: MIT */
/* proto/trace: what is written is read, in frames of any number; cut, changed and contradictory files give one
 * error. */
#include <fcntl.h>
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
#include "tests/unit/made_folder.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, made_folder_enter, made_folder_leave)

/* Three blocks: two of the same bytes, one of which follows the other in memory, and one of other bytes at the same
 * address. */
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
	w = fd < 0 ? gus_trace_writer_create("t", &header, &about, &err) : gus_trace_writer_create_fd(fd, &header,
		&about, &err);
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

/* The i-th step: which block, and its accesses: a stride, now and then another shape, addresses at both ends of
 * memory. */
static uint32_t block_of(uint64_t i)
{
	return i % 7 == 6 ? 2 : i % 2;
}

static uint32_t accesses_of(uint64_t i, struct gus_trace_access a[3])
{
	a[0] = (struct gus_trace_access){ .address = 0x7000 + 8 * i, .size = 8, .insn = 1 };
	a[1] = (struct gus_trace_access){ .address = i % 5 ? UINT64_MAX - i : i * i * 0x123456789, .size = i % 11 ? 32 :
		4096, .insn = 2,
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
	if (gus_trace_writer_steps(w,
				   &(struct gus_trace_run){ stream, 3, 1000, steps.v, accesses.v, n,
		GUS_TRACE_NEXT_UNKNOWN },
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
				 block_of(i) != 1 && block_of(i + 1) == 1 ? GUS_TRACE_NEXT_FALLS :
					 GUS_TRACE_NEXT_TAKEN);
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
		assert_int_equal(fcntl(ends[0], F_GETFD), -1); /* closed with the trace */
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
	assert_non_null(strstr(err.text, ": what reads it has gone"));
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
	REFUSED(TOTAL, "\xff", "holds no gusprof.TraceTotal");
	REFUSED(SIDEBAND, "\xff", "holds no gusprof.Sideband");
	refused(GUS_FRAME_TRACE, "", 0, "begins twice");
}

/* Payloads at the limits of a trace. What is taken is followed by no TOTAL, and said to be without it. */

#define TAKEN "does not say what was written"

static void put(struct gus_bytes *p, uint64_t value)
{
	gus_bytes_varint(p, value);
}

/* Takes p. */
static void said(enum gus_frame_type type, struct gus_bytes *p, const char *why)
{
	refused(type, (const char *)p->v, p->n, why);
	gus_vec_free(p);
	*p = (struct gus_bytes){ 0 };
}

static void blocks_at_their_limits(void **state)
{
	struct gus_bytes p = { 0 };

	(void)state;
	put(&p, (4 << 20) - 1); /* beside the one that is there already; none of them follows */
	said(GUS_FRAME_TRACE_BLOCKS, &p, "no such code");
	put(&p, 4 << 20);
	said(GUS_FRAME_TRACE_BLOCKS, &p, "more blocks than");
	for (uint64_t insns = 4096; insns <= 4097; insns++) {
		put(&p, 1), put(&p, 0), put(&p, 0), put(&p, insns);
		for (uint64_t i = 0; i < 2 * insns; i++)
			put(&p, 1); /* a length, or code */
		said(GUS_FRAME_TRACE_BLOCKS, &p, insns == 4096 ? TAKEN : "no such code");
	}
	for (uint8_t length = 0; length <= 17; length++) {
		put(&p, 1), put(&p, 0), put(&p, 0), put(&p, 2), put(&p, 1), put(&p, length);
		for (int i = 0; i < length + 1; i++)
			put(&p, 0);
		said(GUS_FRAME_TRACE_BLOCKS, &p, length >= 1 && length <= 16 ? TAKEN : "no such code");
	}
	/* Two bytes at the end of all addresses, and one address later; -N is written as 2 * N - 1. */
	for (uint64_t before = 2; before >= 1; before--) {
		put(&p, 1), put(&p, 2 * before - 1), put(&p, 0), put(&p, 1), put(&p, 2), put(&p, 0x66), put(&p, 0x60);
		said(GUS_FRAME_TRACE_BLOCKS, &p, before == 2 ? TAKEN : "beyond the end of all addresses");
	}
	/* Bodies are numbered from 1, those of this frame included. */
	for (uint64_t body = 1; body <= 3; body++) {
		put(&p, 2), put(&p, 0), put(&p, 0), put(&p, 1), put(&p, 1), put(&p, 0x60);
		put(&p, 0), put(&p, body);
		said(GUS_FRAME_TRACE_BLOCKS, &p, body <= 2 ? TAKEN : "no such code");
	}
}

/* A frame of steps of the one block. Its columns come after it. */
static void put_steps(struct gus_bytes *p, uint64_t stream, uint64_t next, uint64_t steps, uint64_t accesses)
{
	put(p, stream), put(p, 0), put(p, 0), put(p, next), put(p, steps), put(p, accesses);
}

static void put_column(struct gus_bytes *p, const struct gus_bytes *column)
{
	put(p, column->n);
	gus_vec_append(p, column->v, column->n);
}

/* As many steps without accesses. */
static struct gus_bytes plain_steps(uint64_t stream, uint64_t next, uint64_t n)
{
	struct gus_bytes p = { 0 };

	put_steps(&p, stream, next, n, 0);
	for (uint8_t value = 2; value--;) { /* all of block 0, all of no new shape */
		put(&p, n);
		for (uint64_t i = 0; i < n; i++)
			put(&p, value);
	}
	put(&p, 0);
	return p;
}

static void steps_at_their_limits(void **state)
{
	static const struct { uint64_t stream, next, steps; const char *why; } cases[] = {
		{ 0, 0, 1, TAKEN },
		{ (1 << 20) - 1, 2, 1, TAKEN },
		{ 1 << 20, 0, 1, "of a thread beyond those" },
		{ 1ull << 32, 0, 1, "of a thread beyond those" },
		{ 0, 3, 1, "more steps than" },
		{ 0, 0, 0, "or none" },
		{ 0, 0, 32768, TAKEN },
		{ 0, 0, 32769, "more steps than" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_bytes p = plain_steps(cases[i].stream, cases[i].next, cases[i].steps);

		said(GUS_FRAME_TRACE_STEPS, &p, cases[i].why);
	}
}

/* Steps of so many accesses each, and a frame that says that it has so many in all. */
static struct gus_bytes steps_with(uint64_t steps, uint64_t each, uint64_t all)
{
	struct gus_bytes p = { 0 }, shapes = { 0 };

	put_steps(&p, 0, 0, steps, all);
	put(&p, steps);
	for (uint64_t i = 0; i < steps; i++)
		put(&p, 1);
	put(&shapes, 1 + each);
	for (uint64_t i = 0; i < each; i++)
		put(&shapes, 0), put(&shapes, 8);
	for (uint64_t i = 1; i < steps; i++)
		put(&shapes, 0); /* as the one before */
	put_column(&p, &shapes);
	put(&p, steps * each);
	for (uint64_t i = 0; i < steps * each; i++)
		put(&p, 0);
	gus_vec_free(&shapes);
	return p;
}

static void accesses_at_their_limits(void **state)
{
	static const struct { uint64_t steps, each, all; const char *why; } cases[] = {
		{ 16, 8192, 131072, TAKEN },
		{ 16, 8192, 131073, "more steps than" },
		{ 1, 8193, 8193, "names no block" },
		{ 2, 3, 6, TAKEN },
		{ 2, 3, 5, "names no block" },
		{ 2, 3, 7, "more in its columns" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_bytes p = steps_with(cases[i].steps, cases[i].each, cases[i].all);

		said(GUS_FRAME_TRACE_STEPS, &p, cases[i].why);
	}
}

/* One step with one access. */
static void shapes_at_their_limits(void **state)
{
	static const struct { uint64_t insn, size; const char *why; } cases[] = {
		{ 0, 1, TAKEN }, { 1, 1, TAKEN }, /* a load and a store of the one instruction */
		{ 2, 1, "no instruction" }, { 3, 1, "no instruction" },
		{ 0, 0, "no instruction" }, { 0, UINT32_MAX, TAKEN }, { 0, 1ull << 32, "no instruction" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_bytes p = { 0 }, shape = { 0 };

		put_steps(&p, 0, 0, 1, 1);
		put(&shape, 2), put(&shape, cases[i].insn), put(&shape, cases[i].size);
		put(&p, 1), put(&p, 1); /* the block */
		put_column(&p, &shape);
		put(&p, 1), put(&p, 0); /* the address */
		gus_vec_free(&shape);
		said(GUS_FRAME_TRACE_STEPS, &p, cases[i].why);
	}
}

/* The columns' own bytes are used up, each for itself, and none has fewer than its steps. */
static void columns_of_other_lengths(void **state)
{
	(void)state;
	REFUSED(STEPS, "\x00\x00\x00\x00\x03\x00\x03\x01\x01\x00\x03\x00\x00\x00\x00", TAKEN);
	REFUSED(STEPS, "\x00\x00\x00\x00\x03\x00\x02\x01\x01\x03\x00\x00\x00\x00", "names no block");
	REFUSED(STEPS, "\x00\x00\x00\x00\x03\x00\x03\x01\x01\x00\x02\x00\x00\x00", "names no block");
	REFUSED(STEPS, "\x00\x00\x00\x00\x02\x02\x02\x01\x01\x04\x02\x00\x08\x00\x01\x00", "no address");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x01\x02\x01\x00\x03\x02\x00\x08\x01\x00", "more in its columns");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x01\x01\x01\x04\x02\x00\x08\x00\x01\x00", "more in its columns");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x01\x01\x01\x03\x02\x00\x08\x02\x00\x00", "more in its columns");
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x01\x01\x01\x03\x02\x00\x08\x01\x00", TAKEN);
	REFUSED(STEPS, "\x00\x00\x00\x00\x01\x01\x01\x01\x03\x02\x00\x08\x01\x00\x00", "do not fill");
}

/* Records, the same one n times, in each of some frames. */
static struct gus_trace *told(size_t frames, size_t n, size_t name)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	Gusprof__Sideband all = GUSPROF__SIDEBAND__INIT;
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	struct gus_writer *w = gus_writer_create("t", &header, NULL);

	comm.name = gus_zalloc(name + 1);
	memset(comm.name, 'x', name);
	record.kind_case = GUSPROF__RECORD__KIND_COMM;
	record.comm = &comm;
	all.records = gus_resize(NULL, n, sizeof(*all.records));
	for (all.n_records = 0; all.n_records < n; all.n_records++)
		all.records[all.n_records] = &record;
	gus_writer_plain(w);
	assert_int_equal(gus_writer_message(w, GUS_FRAME_TRACE, &about.base, NULL), 0);
	for (size_t i = 0; i < frames; i++)
		assert_int_equal(gus_writer_message(w, GUS_FRAME_TRACE_SIDEBAND, &all.base, NULL), 0);
	assert_int_equal(gus_writer_message(w, GUS_FRAME_TRACE_TOTAL, &total.base, NULL), 0);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	free(comm.name);
	free(all.records);
	return gus_trace_open("t", NULL);
}

static void records_at_their_limits(void **state)
{
	enum { FULL = 4 << 20 }; /* bytes of a frame: of a record with a long name, 15 are not the name's */
	static const struct { size_t frames, n, name; bool taken; } cases[] = {
		{ 2, 32768, 0, true }, { 1, 65537, 0, false }, { 3, 32768, 0, false },
		{ 4, 1, FULL - 15, true }, { 5, 1, FULL - 15, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_trace *t = told(cases[i].frames, cases[i].n, cases[i].name);
		struct gus_error err = { 0 };
		struct gus_trace_step step;
		size_t n;

		assert_int_equal(gus_trace_next(t, &step, &err), cases[i].taken ? 0 : -1);
		gus_trace_records(t, &n);
		if (cases[i].taken)
			assert_int_equal(n, cases[i].frames * cases[i].n);
		else
			assert_non_null(strstr(err.text, "more mappings than"));
		gus_trace_close(t);
	}
}

/* Each number of the total by itself. */
static void totals_have_to_agree(void **state)
{
	static const char block[] = "\x01\x00\x00\x01\x01\x90";
	static const char step[] = "\x00\x00\x00\x00\x01\x01\x01\x01\x03\x02\x00\x08\x01\x00";
	struct gus_bytes bytes[2] = { { 0 }, { 0 } };

	(void)state;
	gus_vec_append(&bytes[0], (const uint8_t *)block, sizeof(block) - 1);
	gus_vec_append(&bytes[1], (const uint8_t *)step, sizeof(step) - 1);
	for (int wrong = 0; wrong < 5; wrong++) {
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		Gusprof__Trace about = GUSPROF__TRACE__INIT;
		Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
		Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
		struct gus_writer *w = gus_writer_create("t", &header, NULL);
		struct gus_error err = { .code = GUS_E_FULL };
		uint64_t steps;

		total.blocks = 1 + (wrong == 1);
		total.steps = 1 + (wrong == 2);
		total.instructions = 1 + (wrong == 3);
		total.accesses = 1 + (wrong == 4);
		gus_writer_message(w, GUS_FRAME_TRACE, &about.base, NULL);
		gus_writer_payload(w, GUS_FRAME_TRACE_BLOCKS, &bytes[0], NULL);
		gus_writer_payload(w, GUS_FRAME_TRACE_STEPS, &bytes[1], NULL);
		gus_writer_message(w, GUS_FRAME_TRACE_TOTAL, &total.base, NULL);
		gus_writer_finish(w, &footer, NULL);
		assert_int_equal(counts(gus_trace_open("t", NULL), &steps, &err), wrong == 0);
		assert_int_equal(steps, 1);
		assert_int_equal(err.code, wrong ? GUS_E_CORRUPT : GUS_E_FULL); /* at the end nothing is said */
	}
	gus_vec_free(&bytes[0]);
	gus_vec_free(&bytes[1]);
}

/* A trace with one more frame behind its total, or with ranges that have no ends. */
static void what_is_behind_the_end_or_has_none(void **state)
{
	static const struct { enum gus_frame_type type; const char *why; } cases[] = {
		{ GUS_FRAME_TRACE_TOTAL, "goes on behind its end" },
		{ GUS_FRAME_TRACE_BLOCKS, "goes on behind its end" },
	};
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	uint8_t broken = 0xff;
	struct gus_bytes nothing = { 0 }, none = { &broken, 1, 1 };
	struct gus_error err = { 0 };
	struct gus_writer *w;
	uint64_t start = 5;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_trace_step step;
		struct gus_trace *t;

		w = gus_writer_create("t", &header, NULL);
		gus_writer_message(w, GUS_FRAME_TRACE, &about.base, NULL);
		gus_writer_payload(w, GUS_FRAME_TRACE_TOTAL, &nothing, NULL);
		gus_writer_payload(w, cases[i].type, &nothing, NULL);
		gus_writer_finish(w, &footer, NULL);
		t = gus_trace_open("t", NULL);
		for (int again = 0; again < 2; again++) { /* it stays at that */
			err = (struct gus_error){ 0 };
			assert_int_equal(gus_trace_next(t, &step, &err), -1);
			assert_non_null(strstr(err.text, cases[i].why));
			assert_null(gus_trace_total(t));
		}
		assert_int_equal(gus_trace_next(t, &step, NULL), -1);
		gus_trace_close(t);
	}
	about.n_range_start = 1;
	about.range_start = &start;
	w = gus_writer_create("t", &header, NULL);
	gus_writer_message(w, GUS_FRAME_TRACE, &about.base, NULL);
	gus_writer_finish(w, &footer, NULL);
	err = (struct gus_error){ 0 };
	assert_null(gus_trace_open("t", &err));
	assert_non_null(strstr(err.text, "ranges have no ends"));
	err = (struct gus_error){ 0 };
	w = gus_writer_create("t", &header, NULL);
	gus_writer_payload(w, GUS_FRAME_TRACE, &none, NULL);
	gus_writer_finish(w, &footer, NULL);
	assert_null(gus_trace_open("t", &err));
	assert_non_null(strstr(err.text, "holds no gusprof.Trace"));
	err = (struct gus_error){ 0 };
	w = gus_writer_create("t", &header, NULL); /* and one that does not begin with what it is */
	gus_writer_payload(w, GUS_FRAME_TRACE_BLOCKS, &nothing, NULL);
	gus_writer_finish(w, &footer, NULL);
	assert_null(gus_trace_open("t", &err));
	assert_int_equal(err.code, GUS_E_CORRUPT);
}

/* What comes behind a frame that holds no message does not make up for it. */
/* A trace of one block, one byte each, that is executed n times. */
static void write_small(struct gus_writer *w, uint8_t insn, uint8_t n, uint8_t said)
{
	const uint8_t block[] = { 1, 0, 0, 1, 1, insn }, steps[] = { 0, 0, 0, 0, n, 0 };
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__Moment moment = GUSPROF__MOMENT__INIT;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_bytes b = { 0 }, s = { 0 };

	about.moment = &moment;
	moment.tid = insn;
	total.blocks = 1;
	total.steps = total.instructions = said;
	gus_vec_append(&b, block, sizeof(block));
	gus_vec_append(&s, steps, sizeof(steps));
	gus_bytes_varint(&s, n); /* blocks: the first, and then each time its follower */
	for (uint8_t i = 0; i < n; i++)
		gus_bytes_varint(&s, 1);
	gus_bytes_varint(&s, n); /* shapes: none, then as before */
	for (uint8_t i = 0; i < n; i++)
		gus_bytes_varint(&s, !i);
	gus_bytes_varint(&s, 0);
	gus_writer_message(w, GUS_FRAME_TRACE, &about.base, NULL);
	gus_writer_payload(w, GUS_FRAME_TRACE_BLOCKS, &b, NULL);
	gus_writer_payload(w, GUS_FRAME_TRACE_STEPS, &s, NULL);
	gus_writer_message(w, GUS_FRAME_TRACE_TOTAL, &total.base, NULL);
	gus_vec_free(&b);
	gus_vec_free(&s);
}

static void assert_small(struct gus_trace *t, uint8_t insn, int n)
{
	struct gus_trace_step step;
	struct gus_error err = { 0 };

	assert_int_equal(gus_trace_about(t)->moment->tid, insn);
	for (int i = 0; i < n; i++) {
		assert_int_equal(gus_trace_next(t, &step, &err), 1);
		assert_int_equal(step.block, 0);
		assert_int_equal(*gus_trace_block(t, 0).bytes, insn);
	}
	assert_int_equal(gus_trace_next(t, &step, &err), 0);
	assert_int_equal(gus_trace_blocks(t), 1);
	assert_int_equal(gus_trace_total(t)->steps, n);
}

/* Four behind each other: the second says that it has more than it has, the third is not read to its end. */
static void a_recording_may_have_several(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_writer *w = gus_writer_create("t", &header, NULL);
	struct gus_error err = { 0 };
	struct gus_trace_step step;
	struct gus_trace *t;

	(void)state;
	write_small(w, 0x90, 3, 3);
	write_small(w, 0x91, 2, 5);
	write_small(w, 0x92, 4, 4);
	write_small(w, 0x93, 1, 1);
	gus_writer_finish(w, &footer, NULL);
	t = gus_trace_open("t", &err);
	assert_small(t, 0x90, 3);
	assert_int_equal(gus_trace_more(t, &err), 1);
	assert_null(gus_trace_total(t));
	for (int i = 0; i < 2; i++)
		assert_int_equal(gus_trace_next(t, &step, &err), 1);
	assert_int_equal(gus_trace_next(t, &step, &err), -1);
	assert_non_null(strstr(err.text, "other numbers"));
	assert_int_equal(gus_trace_more(t, &err), 1);
	assert_int_equal(gus_trace_next(t, &step, &err), 1);
	assert_int_equal(gus_trace_more(t, &err), 1);
	assert_small(t, 0x93, 1);
	assert_int_equal(gus_trace_more(t, &err), 0);
	assert_int_equal(gus_trace_more(t, &err), 0);
	gus_trace_close(t);
}

static void a_broken_message_ends_it(void **state)
{
	static const enum gus_frame_type types[] = { GUS_FRAME_TRACE_TOTAL, GUS_FRAME_TRACE_SIDEBAND };
	uint8_t broken = 0xff;
	struct gus_bytes none = { &broken, 1, 1 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		Gusprof__Trace about = GUSPROF__TRACE__INIT;
		Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
		Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
		struct gus_writer *w = gus_writer_create("t", &header, NULL);
		struct gus_error err = { 0 };
		uint64_t steps;

		gus_writer_message(w, GUS_FRAME_TRACE, &about.base, NULL);
		gus_writer_payload(w, types[i], &none, NULL);
		gus_writer_message(w, GUS_FRAME_TRACE_TOTAL, &total.base, NULL);
		gus_writer_finish(w, &footer, NULL);
		assert_false(counts(gus_trace_open("t", NULL), &steps, &err));
		assert_non_null(strstr(err.text, "holds no gusprof."));
	}
}

/* A frame that is gone leaves whole frames, and a gap. */
static void a_missing_frame_is_told(void **state)
{
	struct gus_error err = { 0 };
	struct gus_reader *r;
	struct gus_frame frame;
	uint64_t from = 0, to = 0, steps;
	uint8_t *bytes;
	size_t size;

	(void)state;
	finish(create());
	r = gus_reader_open("t", NULL);
	while (gus_reader_next_of(r, UINT32_MAX, &frame, NULL) == GUS_READ_FRAME) {
		if (frame.type == GUS_FRAME_TRACE_BLOCKS)
			from = frame.offset;
		if (frame.type == GUS_FRAME_TRACE_TOTAL)
			to = frame.offset;
	}
	gus_reader_close(r);
	bytes = slurp(&size);
	memmove(bytes + from, bytes + to, size - to);
	assert_false(reads_whole(bytes, size - (to - from), &steps, &err));
	assert_non_null(strstr(err.text, "1 of its frames are missing"));
	free(bytes);
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
	assert_int_equal(gus_trace_writer_block(w, &(struct gus_trace_block){ 0, none, code, 3, 6 }, &number, &err),
			 -1);
	assert_int_equal(gus_trace_writer_block(w, &(struct gus_trace_block){ 0, lengths, code, 3, 5 }, &number, &err),
			 -1);
	assert_int_equal(gus_trace_writer_block(w, &(struct gus_trace_block){ 0, lengths, code, 0, 0 }, &number, &err),
			 -1);
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
		TEST(blocks_at_their_limits),
		TEST(steps_at_their_limits),
		TEST(accesses_at_their_limits),
		TEST(shapes_at_their_limits),
		TEST(columns_of_other_lengths),
		TEST(records_at_their_limits),
		TEST(totals_have_to_agree),
		TEST(what_is_behind_the_end_or_has_none),
		TEST(a_recording_may_have_several),
		TEST(a_broken_message_ends_it),
		TEST(a_missing_frame_is_told),
		TEST(other_recordings_have_none),
		TEST(writers_refuse_what_readers_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
