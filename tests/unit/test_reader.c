/* SPDX-License-Identifier: MIT */
/* proto/reader on recordings that are made here byte by byte, as FORMAT.md has them: what it says of each damage,
 * with its numbers, and where it goes on. Each recording is read from memory, as a file and as a stream, which have
 * to say the same. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/error.h"
#include "proto/reader.h"
#include "proto/varint.h"

#define ALL UINT32_MAX
#define SAMPLES (1u << GUS_FRAME_SAMPLES)
#define HEAD 40         /* bytes of a frame's header */
#define CHUNK 65536     /* that the search looks at at once */
enum { RAW = 0, ZSTD = 1 };

struct made { struct gus_bytes b; uint64_t sequence; };

static void put(struct made *m, uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		gus_vec_push(&m->b, (uint8_t)(value >> 8 * i));
}

static void put_zeros(struct made *m, size_t n)
{
	while (n--)
		put(m, 0, 1);
}

static void put_sum(struct made *m, size_t bytes)
{
	put(m, XXH64(m->b.v + m->b.n - bytes, bytes, 0), 8);
}

static void put_preamble(struct made *m, uint32_t major, uint32_t minor)
{
	gus_vec_append(&m->b, (const uint8_t *)"\x89GUS\r\n\x1a\n", 8);
	put(m, major, 4);
	put(m, minor, 4);
	put_sum(m, 16);
}

/* Returns where it is. */
static size_t put_head(struct made *m, unsigned type, unsigned coding, uint64_t stored, uint64_t raw, uint64_t sum)
{
	size_t at = m->b.n;

	gus_vec_append(&m->b, (const uint8_t *)"GFRM", 4);
	put(m, type, 2);
	put(m, coding, 2);
	put(m, stored, 4);
	put(m, raw, 4);
	put(m, m->sequence++, 8);
	put(m, sum, 8);
	put_sum(m, 32);
	return at;
}

static size_t put_coded(struct made *m, unsigned type, unsigned coding, const void *stored, size_t size, size_t raw)
{
	size_t at = put_head(m, type, coding, size, raw, XXH64(stored, size, 0));

	gus_vec_append(&m->b, (const uint8_t *)stored, size);
	return at;
}

static size_t put_frame(struct made *m, unsigned type, const void *payload, size_t size)
{
	return put_coded(m, type, RAW, payload, size, size);
}

static size_t put_message(struct made *m, unsigned type, const ProtobufCMessage *message)
{
	uint8_t *bytes = malloc(protobuf_c_message_get_packed_size(message) + 1);
	size_t at = put_frame(m, type, bytes, protobuf_c_message_pack(message, bytes));

	free(bytes);
	return at;
}

static size_t put_samples(struct made *m)
{
	return put_frame(m, GUS_FRAME_SAMPLES, "ABCDEFGH", 8);
}

static size_t put_header(struct made *m)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;

	header.producer = (char *)"test";
	return put_message(m, GUS_FRAME_HEADER, &header.base);
}

static struct made begun(void)
{
	struct made m = { .sequence = 0 };

	put_preamble(&m, 1, 0);
	put_header(&m);
	return m;
}

static void put_trailer(struct made *m, uint64_t footer_at)
{
	gus_vec_append(&m->b, (const uint8_t *)"GUSTRAIL", 8);
	put(m, footer_at, 8);
	put_sum(m, 16);
}

/* Footer and trailer. */
static void end(struct made *m, uint64_t index_at)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;

	footer.index_offset = index_at;
	put_trailer(m, put_message(m, GUS_FRAME_FOOTER, &footer.base));
}

static void cut_off(struct made *m, size_t size)
{
	m->b.n = size;
}

/* Puts a number of the frame in the header at `at` and makes its sum right again. */
static void set_sequence(struct made *m, size_t at, uint64_t sequence)
{
	uint64_t sum;

	memcpy(m->b.v + at + 16, &sequence, 8);
	sum = XXH64(m->b.v + at, 32, 0);
	memcpy(m->b.v + at + 32, &sum, 8);
}

struct text { char v[512]; size_t n; };

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->n += (size_t)vsnprintf(t->v + t->n, sizeof(t->v) - t->n, format, args);
	va_end(args);
	assert_true(t->n < sizeof(t->v));
}

/* Everything that a reader says, in words: TYPE#SEQUENCE for a frame, how it ended, what the damage is. */
static struct text told(struct gus_reader *r, uint32_t types)
{
	static const struct { const char *word; enum gus_code code; } ends[] = {
		[GUS_READ_END] = { "end", GUS_OK },
		[GUS_READ_CUT] = { "cut", GUS_E_TRUNCATED },
		[GUS_READ_CORRUPT] = { "corrupt ", GUS_E_CORRUPT },
	};
	const struct gus_damage *d = gus_reader_damage(r);
	struct text t = { "", 0 };
	enum gus_read got;

	do {
		struct gus_error err = { 0 };
		struct gus_frame frame;

		got = gus_reader_next_of(r, types, &frame, &err);
		if (got == GUS_READ_FRAME) {
			add(&t, "%u#%" PRIu64 " ", frame.type, frame.sequence);
			continue;
		}
		assert_int_not_equal(got, GUS_READ_ERROR);
		add(&t, "%s", ends[got].word);
		assert_int_equal(err.code, ends[got].code);
		if (got != GUS_READ_CORRUPT) /* where it stays */
			assert_int_equal(gus_reader_next_of(r, types, &frame, NULL), got);
	} while (got == GUS_READ_FRAME || got == GUS_READ_CORRUPT);
	if (d->corrupt)
		add(&t, "; %" PRIu64 " corrupt, first at %" PRIu64, d->corrupt, d->first_offset);
	if (d->skipped_bytes)
		add(&t, "; %" PRIu64 " skipped", d->skipped_bytes);
	if (d->missing_frames)
		add(&t, "; %" PRIu64 " missing", d->missing_frames);
	if (d->cut)
		add(&t, "; cut at %" PRIu64 " with %" PRIu64, d->cut_offset, d->cut_bytes);
	return t;
}

static int file_of(const struct made *m)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0 && write(fd, m->b.v, m->b.n) == (ssize_t)m->b.n && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static struct gus_reader *open_file(const struct made *m, struct gus_error *err)
{
	int fd = file_of(m);
	struct gus_reader *r;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = gus_reader_open(path, err);
	close(fd);
	return r;
}

/* Takes m. */
static void __attribute__((format(printf, 3, 4))) expect(struct made *m, uint32_t types, const char *format, ...)
{
	struct gus_reader *r[3];
	uint8_t *exact = malloc(m->b.n); /* so that a sanitizer sees an over-read */
	char want[512];
	va_list args;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	memcpy(exact, m->b.v, m->b.n);
	r[0] = gus_reader_open_memory(exact, m->b.n, NULL);
	r[1] = open_file(m, NULL);
	r[2] = gus_reader_open_fd(file_of(m), "the stream", NULL);
	for (int i = 0; i < 3; i++) {
		assert_non_null(r[i]);
		assert_string_equal(told(r[i], types).v, want);
		if (i < 2) { /* once more, from the first frame on: the damage is counted anew */
			gus_reader_rewind(r[i]);
			assert_string_equal(told(r[i], types).v, want);
		}
		gus_reader_close(r[i]);
	}
	free(exact);
	gus_vec_free(&m->b);
	m->sequence = 0;
}

/* How it ends. */

static void whole(void **state)
{
	struct made m = begun();

	(void)state;
	put_samples(&m);
	put_samples(&m);
	end(&m, 0);
	expect(&m, ALL, "1#0 3#1 3#2 8#3 end");
}

static void cut_between_and_in_frames(void **state)
{
	(void)state;
	for (size_t more = 0; more < HEAD + 8; more++) {
		struct made m = begun();
		size_t at;

		put_samples(&m);
		at = put_samples(&m);
		cut_off(&m, at + more);
		expect(&m, ALL, "1#0 3#1 cut; cut at %zu with %zu", at, more);
	}
}

/* Each message with its place: where the bytes end, where the broken ones are, where the last whole frame ended. */
static void messages_name_the_place(void **state)
{
	struct gus_error first = { 0 }, second = { 0 }, third = { 0 };
	struct made m = begun();
	struct gus_frame frame;
	struct gus_reader *r;
	size_t bad = put_samples(&m), last;
	struct text want = { "", 0 };

	(void)state;
	m.b.v[bad + HEAD] ^= 1;
	last = put_samples(&m);
	cut_off(&m, m.b.n - 3);
	r = gus_reader_open_memory(m.b.v, m.b.n, NULL);
	assert_int_equal(gus_reader_next_of(r, SAMPLES, &frame, &first), GUS_READ_CORRUPT);
	assert_int_equal(gus_reader_next_of(r, SAMPLES, &frame, &second), GUS_READ_CUT);
	assert_int_equal(gus_reader_next_of(r, SAMPLES, &frame, &third), GUS_READ_CUT);
	add(&want, "corrupt at offset %zu: ", bad);
	assert_non_null(strstr(first.text, want.v));
	want.n = 0;
	add(&want, "ends at offset %zu without its footer", m.b.n);
	assert_non_null(strstr(second.text, want.v));
	want.n = 0;
	add(&want, "was cut at offset %zu", last);
	assert_non_null(strstr(third.text, want.v));
	gus_reader_close(r);
	gus_vec_free(&m.b);
}

/* Everything is there but its end: that is a cut, too, if the trailer is gone whole; a piece of it is something
 * broken. */
static void cut_in_the_trailer(void **state)
{
	(void)state;
	for (size_t left = 0; left < 24; left++) {
		struct made m = begun();
		size_t at;

		end(&m, 0);
		at = m.b.n - 24;
		cut_off(&m, at + left);
		if (left)
			expect(&m, ALL, "1#0 8#1 corrupt end; 1 corrupt, first at %zu; %zu skipped", at, left);
		else
			expect(&m, ALL, "1#0 8#1 cut; cut at %zu with 0", at);
	}
}

/* A place that was corrupt before has nothing to do with the missing trailer. */
static void cut_before_the_trailer_behind_a_corrupt_place(void **state)
{
	struct made m = begun();
	size_t at = put_samples(&m);

	(void)state;
	m.b.v[at + HEAD] ^= 1;
	end(&m, 0);
	cut_off(&m, m.b.n - 24);
	expect(&m, ALL, "1#0 corrupt 8#2 cut; 1 corrupt, first at %zu; cut at %zu with 0", at, m.b.n);
}

static void bytes_behind_the_trailer(void **state)
{
	static const size_t more[] = { 1, 15, 16, 17, 39, 40, 100 };

	(void)state;
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		struct made m = begun();
		struct gus_reader *r;
		struct text want = { "", 0 };

		end(&m, 0);
		add(&want, "1#0 8#1 corrupt end; 1 corrupt, first at %zu; %zu skipped", m.b.n - 24, 24 + more[i]);
		put_zeros(&m, more[i]);
		r = gus_reader_open_memory(m.b.v, m.b.n, NULL);
		assert_string_equal(told(r, ALL).v, want.v);
		gus_reader_close(r);
		/* A stream isn't read behind its trailer: who writes it may keep it open. */
		r = gus_reader_open_fd(file_of(&m), "the stream", NULL);
		assert_string_equal(told(r, ALL).v, "1#0 8#1 end");
		gus_reader_close(r);
		gus_vec_free(&m.b);
	}
}

/* A footer is the last frame of what this program writes; that of others may go on, and does so in a stream too. */
static void frames_behind_the_footer(void **state)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct made m = begun();

	(void)state;
	put_message(&m, GUS_FRAME_FOOTER, &footer.base);
	put_samples(&m);
	end(&m, 0);
	expect(&m, ALL, "1#0 8#1 3#2 8#3 end");
}

/* What was taken out before it, the footer included, leaves no gap in the numbers. */
static void a_trailer_without_its_footer_is_told(void **state)
{
	struct made m = begun();
	size_t at;

	(void)state;
	put_samples(&m);
	at = m.b.n;
	put_trailer(&m, 24);
	expect(&m, ALL, "1#0 3#1 corrupt end; 1 corrupt, first at %zu", at);
}

static void a_broken_footer_is_told_once(void **state)
{
	struct made m = begun();
	size_t at = m.b.n;

	(void)state;
	end(&m, 1);
	m.b.v[at + HEAD] ^= 1;
	expect(&m, ALL, "1#0 corrupt end; 1 corrupt, first at %zu", at);
}

/* What is corrupt, and where reading goes on. */

static void a_broken_payload_is_stepped_over(void **state)
{
	struct made m = begun();
	size_t at = put_samples(&m);

	(void)state;
	put_samples(&m);
	end(&m, 0);
	m.b.v[at + HEAD + 7] ^= 0x80;
	expect(&m, ALL, "1#0 corrupt 3#2 8#3 end; 1 corrupt, first at %zu", at);
}

static void behind_a_broken_header_the_next_is_searched(void **state)
{
	(void)state;
	for (size_t byte = 0; byte < HEAD; byte++) {
		struct made m = begun();
		size_t at = put_samples(&m);

		put_samples(&m);
		end(&m, 0);
		m.b.v[at + byte] ^= 1;
		expect(&m, ALL, "1#0 corrupt 3#2 8#3 end; 1 corrupt, first at %zu; 48 skipped; 1 missing", at);
	}
}

static void several_places_are_counted_and_the_first_is_named(void **state)
{
	struct made m = begun();
	size_t first = put_samples(&m), second = put_samples(&m), third;

	(void)state;
	put_samples(&m);
	third = put_samples(&m);
	end(&m, 0);
	m.b.v[first + HEAD] ^= 1;
	m.b.v[second] ^= 1;
	m.b.v[third + 8] ^= 1;
	expect(&m, ALL, "1#0 corrupt corrupt 3#3 corrupt 8#5 end; 3 corrupt, first at %zu; 96 skipped; 2 missing",
	       first);
}

/* No checksum finds what is not there. */
static void gaps_in_the_numbers_are_added_up(void **state)
{
	struct made m = begun();

	(void)state;
	m.sequence = 2;
	put_samples(&m);
	put_samples(&m);
	m.sequence = 7;
	put_samples(&m);
	end(&m, 0);
	expect(&m, ALL, "1#0 3#2 3#3 3#7 8#8 end; 4 missing");
}

static void a_number_that_was_passed_is_corrupt(void **state)
{
	struct made m = begun();
	size_t again, before;

	(void)state;
	put_samples(&m);
	again = put_samples(&m);
	before = put_samples(&m);
	set_sequence(&m, again, 1);
	set_sequence(&m, before, 0);
	m.sequence = 2;
	put_samples(&m);
	end(&m, 0);
	expect(&m, ALL, "1#0 3#1 corrupt corrupt 3#2 8#3 end; 2 corrupt, first at %zu", again);
}

/* So many bytes of garbage between two frames that the second's header lies around the border of what is searched at
 * once; in the garbage stand marks with nothing behind them, the last of them just before the header. */
static void the_search_finds_a_header_at_any_place(void **state)
{
	static const size_t sizes[] = {
		1, 3, 4, 39, 40, 41, 1000, CHUNK - 41, CHUNK - 40, CHUNK - 39, CHUNK - 24, CHUNK - 4, CHUNK - 1, CHUNK,
		CHUNK + 1, CHUNK + 2, CHUNK + 40, CHUNK + 41, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 2 * CHUNK + 2,
		300000,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct made m = begun();
		size_t at = m.b.n;

		put_zeros(&m, sizes[i]);
		for (size_t k = 4; k <= sizes[i] && k < 200; k += 11)
			memcpy(m.b.v + m.b.n - k, "GFRM", 4);
		put_samples(&m);
		end(&m, 0);
		expect(&m, ALL, "1#0 corrupt 3#1 8#2 end; 1 corrupt, first at %zu; %zu skipped", at, sizes[i]);
	}
}

/* Garbage up to the end: all of it is passed over, and that is a cut. */
static void the_search_ends_at_the_end(void **state)
{
	static const size_t sizes[] = {
		40, 41, CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 39, CHUNK + 40, CHUNK + 41, CHUNK + 42, 2 * CHUNK,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct made m = begun();
		size_t at = m.b.n;

		put_zeros(&m, sizes[i]);
		expect(&m, ALL, "1#0 corrupt cut; 1 corrupt, first at %zu; %zu skipped; cut at %zu with 0", at,
		       sizes[i], at + sizes[i]);
	}
}

/* A trailer is one only as the last bytes; behind garbage it still is. */
static void the_search_finds_the_trailer(void **state)
{
	static const size_t sizes[] = {
		40, CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 16, CHUNK + 17, CHUNK + 18, 2 * CHUNK,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct made m = begun();
		size_t at = m.b.n;

		put_zeros(&m, 10);
		put_trailer(&m, 24); /* of another recording */
		put_zeros(&m, sizes[i] - 34);
		put_trailer(&m, 24);
		expect(&m, ALL, "1#0 corrupt end; 1 corrupt, first at %zu; %zu skipped", at, sizes[i]);
	}
}

/* Headers whose sum is right. */

static void lengths_at_their_limits(void **state)
{
	static const struct { uint32_t stored, raw; bool header; } cases[] = {
		{ (4 << 20) + (64 << 10), 4 << 20, true },
		{ (4 << 20) + (64 << 10) + 1, 4 << 20, false },
		{ 8, 4 << 20, true },
		{ 8, (4 << 20) + 1, false },
		{ 0, 8, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = begun();
		uint8_t *zeros = calloc(1, cases[i].stored + 1);
		size_t at = put_coded(&m, GUS_FRAME_SAMPLES, ZSTD, zeros, cases[i].stored, cases[i].raw);

		free(zeros);
		end(&m, 0);
		/* With a length that may be, the frame is stepped over as it does not unpack; else nothing begins
		 * here. */
		if (cases[i].header)
			expect(&m, ALL, "1#0 corrupt 8#2 end; 1 corrupt, first at %zu", at);
		else
			expect(&m, ALL, "1#0 corrupt 8#2 end; 1 corrupt, first at %zu; %zu skipped; 1 missing", at,
			       HEAD + (size_t)cases[i].stored);
	}
}

static void codings(void **state)
{
	uint8_t packed[64];
	size_t size = ZSTD_compress(packed, sizeof(packed), "ABCDEFGH", 8, 1);
	struct made m = begun();
	struct gus_frame frame;
	struct gus_reader *r;
	size_t bad;

	(void)state;
	put_coded(&m, GUS_FRAME_SAMPLES, ZSTD, packed, size, 8);
	bad = put_coded(&m, GUS_FRAME_SAMPLES, ZSTD, packed, size, 9);     /* other lengths than it has */
	put_coded(&m, GUS_FRAME_SAMPLES, ZSTD, packed, size, 7);
	put_coded(&m, GUS_FRAME_SAMPLES, ZSTD, packed, size - 1, 8);       /* no end */
	put_coded(&m, GUS_FRAME_SAMPLES, RAW, "ABCDEFGH", 8, 7);
	put_coded(&m, GUS_FRAME_SAMPLES, RAW, "ABCDEFGH", 8, 9);
	put_coded(&m, GUS_FRAME_SAMPLES, 2, "ABCDEFGH", 8, 8);             /* a coding of tomorrow */
	put_coded(&m, GUS_FRAME_SAMPLES, 2, packed, size, 8);              /* only what says so is zstd's */
	put_coded(&m, GUS_FRAME_SAMPLES, RAW, packed, size, 8);
	put_frame(&m, GUS_FRAME_SAMPLES, "", 0);
	end(&m, 0);
	r = gus_reader_open_memory(m.b.v, m.b.n, NULL);
	assert_int_equal(gus_reader_next_of(r, SAMPLES, &frame, NULL), GUS_READ_FRAME);
	assert_int_equal(frame.size, 8);
	assert_memory_equal(frame.payload, "ABCDEFGH", 8);
	assert_int_equal(frame.stored, size);
	assert_int_equal(frame.offset, bad - HEAD - size);
	gus_reader_close(r);
	/* What nobody wants is not unpacked, so nobody minds how it is coded. */
	r = gus_reader_open_memory(m.b.v, m.b.n, NULL);
	assert_int_equal(gus_reader_next_of(r, 1u << GUS_FRAME_FOOTER, &frame, NULL), GUS_READ_FRAME);
	assert_int_equal(gus_reader_damage(r)->corrupt, 0);
	gus_reader_close(r);
	expect(&m, ALL, "1#0 3#1 corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt 3#10 8#11 end; "
	       "8 corrupt, first at %zu", bad);
}

/* A set has a bit for types up to 31. Those above are for who takes all, as they are stored. */
static void types_that_are_wanted(void **state)
{
	static const struct { uint32_t types; const char *frames; } cases[] = {
		{ ALL, "1#0 3#1 0#2 31#3 32#4 65535#5 8#6 end" },
		{ SAMPLES, "3#1 end" },
		{ 1, "0#2 end" },
		{ 1u << 31, "31#3 end" },
		{ ALL - 1, "1#0 3#1 31#3 8#6 end" },
		{ 0, "end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = begun();

		put_samples(&m);
		put_frame(&m, 0, "x", 1);
		put_frame(&m, 31, "x", 1);
		put_coded(&m, 32, ZSTD, "x", 1, 1);
		put_frame(&m, 65535, "x", 1);
		end(&m, 0);
		expect(&m, cases[i].types, "%s", cases[i].frames);
	}
}

/* Even those that nobody wants have to be whole. */
static void unwanted_frames_are_checked(void **state)
{
	struct made m = begun();
	size_t at = put_frame(&m, 40, "x", 1);

	(void)state;
	m.b.v[at + HEAD] ^= 1;
	end(&m, 0);
	expect(&m, SAMPLES, "corrupt end; 1 corrupt, first at %zu", at);
}

/* The beginning. */

static enum gus_code opened(const uint8_t *bytes, size_t size)
{
	struct gus_error err = { 0 };
	uint8_t *exact = malloc(size ? size : 1);
	struct gus_reader *r;

	memcpy(exact, bytes, size);
	r = gus_reader_open_memory(exact, size, &err);
	assert_true(r ? err.code == GUS_OK : err.code != GUS_OK);
	gus_reader_close(r);
	free(exact);
	return err.code;
}

static void preambles(void **state)
{
	struct made m = begun();
	struct made newer = { .sequence = 0 }, older = { .sequence = 0 };

	(void)state;
	for (size_t size = 0; size < 24; size++)
		assert_int_equal(opened(m.b.v, size), GUS_E_TRUNCATED);
	assert_int_equal(opened(m.b.v, 24), GUS_OK);
	assert_int_equal(opened((const uint8_t *)"\x89GUT", 4), GUS_E_CORRUPT);
	assert_int_equal(opened((const uint8_t *)"\x89GUS\r\n\x1a\r", 8), GUS_E_CORRUPT);
	assert_int_equal(opened((const uint8_t *)"\x89GUS\r\n\x1a\rlonger than a preamble", 30), GUS_E_CORRUPT);
	put_preamble(&newer, 2, 0);
	assert_int_equal(opened(newer.b.v, 24), GUS_E_VERSION);
	put_preamble(&older, 1, UINT32_MAX); /* minor versions do not matter */
	assert_int_equal(opened(older.b.v, 24), GUS_OK);
	gus_vec_free(&m.b);
	gus_vec_free(&newer.b);
	gus_vec_free(&older.b);
}

/* Of a preamble whose sum is wrong the version is not believed either; what follows has sums of its own. */
static void a_broken_preamble_is_told_and_read_on(void **state)
{
	(void)state;
	for (size_t byte = 8; byte < 24; byte++) {
		struct made m = begun();

		m.b.v[byte] ^= 0x40;
		end(&m, 0);
		expect(&m, ALL, "corrupt 1#0 8#1 end; 1 corrupt, first at 8");
	}
}

static struct gus_reader *assert_header(const struct made *m, const char *producer)
{
	struct gus_reader *r = gus_reader_open_memory(m->b.v, m->b.n, NULL);

	assert_non_null(r);
	assert_string_equal(gus_reader_header(r)->producer, producer);
	assert_int_equal(gus_reader_damage(r)->header_lost, !*producer);
	gus_reader_rewind(r);
	assert_int_equal(gus_reader_damage(r)->header_lost, !*producer);
	return r;
}

/* The header is the first frame with the first number. Without it there is an empty one. */
static void headers(void **state)
{
	struct made m = begun();

	(void)state;
	gus_reader_close(assert_header(&m, "test"));
	m.b.v[24 + HEAD] ^= 0x40;
	gus_reader_close(assert_header(&m, ""));
	m.b.n = 24;
	gus_reader_close(assert_header(&m, ""));
	m.sequence = 0;
	put_samples(&m);
	put_header(&m);
	gus_reader_close(assert_header(&m, ""));
	m.b.n = 24;
	m.sequence = 1;
	put_header(&m);
	gus_reader_close(assert_header(&m, ""));
	m.b.n = 24;
	m.sequence = 0;
	put_frame(&m, GUS_FRAME_HEADER, "\xff", 1); /* no message */
	gus_reader_close(assert_header(&m, ""));
	gus_vec_free(&m.b);
}

static void what_cannot_be_opened(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	assert_null(gus_reader_open("/nonexistent/data", &err));
	assert_int_equal(err.code, GUS_E_NOT_FOUND);
	err = (struct gus_error){ 0 };
	assert_null(gus_reader_open("/tmp", &err));
	assert_int_equal(err.code, GUS_E_UNSUPPORTED);
	err = (struct gus_error){ 0 };
	assert_null(gus_reader_open("/proc/self/mem", &err)); /* nothing is mapped at 0 */
	assert_non_null(strstr(err.text, "cannot read /proc/self/mem at offset 0: "));
}

/* Messages of frames. */

static void a_payload_that_is_no_message(void **state)
{
	struct made m = begun();
	ProtobufCMessage *message;
	struct gus_error err = { 0 };
	struct gus_frame frame;
	struct gus_reader *r;
	size_t at = put_frame(&m, GUS_FRAME_SIDEBAND, "\xff", 1);

	(void)state;
	end(&m, 0);
	r = gus_reader_open_memory(m.b.v, m.b.n, NULL);
	assert_int_equal(gus_reader_next_of(r, 1u << GUS_FRAME_SIDEBAND, &frame, NULL), GUS_READ_FRAME);
	assert_null(gus_frame_message(&frame, &gusprof__sideband__descriptor, &err));
	assert_int_equal(err.code, GUS_E_CORRUPT);
	gus_reader_bad_payload(r, &frame);
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_reader_next_of(r, 1u << GUS_FRAME_FOOTER, &frame, NULL), GUS_READ_FRAME);
	message = gus_frame_message(&frame, &gusprof__footer__descriptor, &err);
	assert_non_null(message);
	assert_int_equal(err.code, GUS_OK);
	protobuf_c_message_free_unpacked(message, NULL);
	gus_reader_bad_payload(r, &(struct gus_frame){ .offset = 1 });
	assert_int_equal(gus_reader_damage(r)->corrupt, 2);
	assert_int_equal(gus_reader_damage(r)->first_offset, at);
	gus_reader_close(r);
	gus_vec_free(&m.b);
}

/* Times. */

static const struct { uint64_t first, last; } spans[] = {
	{ 100, 199 }, { 150, 250 }, { 300, 300 }, { 400, 499 }, { 90, 600 },
};
enum { SPANS = sizeof(spans) / sizeof(*spans) };

static void put_index(struct made *m, const size_t *at, size_t from, size_t to)
{
	Gusprof__Index index = GUSPROF__INDEX__INIT;
	Gusprof__IndexEntry entries[SPANS], *pointers[SPANS];

	index.entries = pointers;
	for (size_t i = from; i < to; i++) {
		Gusprof__IndexEntry *e = pointers[index.n_entries++] = &entries[i];

		gusprof__index_entry__init(e);
		e->offset = at[i];
		e->type = GUS_FRAME_SAMPLES;
		e->first_ns = spans[i].first;
		e->last_ns = spans[i].last;
	}
	put_message(m, GUS_FRAME_INDEX, &index.base);
}

/* Numbers 1 to 5 with these times, 6 that no index has, and an index in two parts. */
static struct made with_index(size_t *index_at)
{
	struct made m = begun();
	size_t at[SPANS];

	for (size_t i = 0; i < SPANS; i++)
		at[i] = put_samples(&m);
	put_samples(&m);
	*index_at = m.b.n;
	put_index(&m, at, 0, 2);
	put_index(&m, at, 2, SPANS);
	return m;
}

static void assert_restricted(struct made *m, uint64_t from, uint64_t to, const char *frames)
{
	struct gus_reader *r[2] = { gus_reader_open_memory(m->b.v, m->b.n, NULL), open_file(m, NULL) };

	for (int i = 0; i < 2; i++) {
		gus_reader_restrict(r[i], 1000, 0); /* asked again, the last one holds */
		gus_reader_restrict(r[i], from, to);
		assert_int_equal(gus_reader_damage(r[i])->corrupt + gus_reader_damage(r[i])->missing_frames, 0);
		assert_string_equal(told(r[i], SAMPLES).v, frames);
		gus_reader_close(r[i]);
	}
}

static void batches_outside_the_times_are_passed_over(void **state)
{
	static const struct { uint64_t from, to; const char *frames; } cases[] = {
		{ 0, UINT64_MAX, "3#1 3#2 3#3 3#4 3#5 3#6 end" },
		{ 0, 89, "3#6 end" },
		{ 0, 90, "3#5 3#6 end" },
		{ 0, 99, "3#5 3#6 end" },
		{ 0, 100, "3#1 3#5 3#6 end" },
		{ 199, 299, "3#1 3#2 3#5 3#6 end" },
		{ 200, 299, "3#2 3#5 3#6 end" },
		{ 250, 299, "3#2 3#5 3#6 end" },
		{ 251, 299, "3#5 3#6 end" },
		{ 251, 300, "3#3 3#5 3#6 end" },
		{ 300, 399, "3#3 3#5 3#6 end" },
		{ 301, 399, "3#5 3#6 end" },
		{ 499, 1000, "3#4 3#5 3#6 end" },
		{ 500, 1000, "3#5 3#6 end" },
		{ 600, 1000, "3#5 3#6 end" },
		{ 601, 1000, "3#6 end" },
	};
	size_t index_at;
	struct made m = with_index(&index_at);

	(void)state;
	end(&m, index_at);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_restricted(&m, cases[i].from, cases[i].to, cases[i].frames);
	gus_vec_free(&m.b);
}

/* Without an index everything is delivered: of a cut file, of one whose trailer or footer leads elsewhere, of one
 * whose index does not unpack. */
static void without_an_index_all_are_delivered(void **state)
{
	static const char all[] = "3#1 3#2 3#3 3#4 3#5 3#6 ";
	size_t index_at;
	struct made m = with_index(&index_at);
	char want[128];
	size_t at = m.b.n;

	(void)state;
	snprintf(want, sizeof(want), "%scut; cut at %zu with 0", all, at);
	assert_restricted(&m, 0, 89, want);
	end(&m, at);                    /* the index is where the footer is */
	snprintf(want, sizeof(want), "%send", all);
	assert_restricted(&m, 0, 89, want);
	cut_off(&m, m.b.n - 24);
	put_trailer(&m, index_at);      /* the footer is where the index is */
	assert_restricted(&m, 0, 89, want);
	cut_off(&m, at);
	m.sequence -= 1;
	end(&m, 3);                     /* within the preamble */
	assert_restricted(&m, 0, 89, want);
	gus_vec_free(&m.b);

	m = begun();
	put_samples(&m);
	index_at = put_frame(&m, GUS_FRAME_INDEX, "\xff", 1);
	end(&m, index_at);
	assert_restricted(&m, 0, 89, "3#1 end");
	gus_vec_free(&m.b);
}

/* Streams. */

/* A pipe that is not at its end, and whose reader does not want to wait. */
static void a_stream_that_fails_says_where(void **state)
{
	struct made m = begun();
	struct gus_error err = { 0 };
	struct gus_frame frame;
	struct gus_reader *r;
	int ends[2];
	char want[128];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	put_samples(&m);
	cut_off(&m, m.b.n - 1);
	assert_int_equal(write(ends[1], m.b.v, m.b.n), m.b.n);
	r = gus_reader_open_fd(ends[0], "a pipe", &err);
	assert_int_equal(gus_reader_next_of(r, ALL, &frame, NULL), GUS_READ_FRAME);
	assert_int_equal(gus_reader_next_of(r, ALL, &frame, &err), GUS_READ_ERROR);
	snprintf(want, sizeof(want), "cannot read a pipe at offset %zu: %s", m.b.n, strerror(EAGAIN));
	assert_non_null(strstr(err.text, want));
	gus_reader_close(r);
	assert_int_equal(fcntl(ends[0], F_GETFD), -1); /* it was the reader's to close */
	close(ends[1]);
	gus_vec_free(&m.b);
}

static void a_stream_that_cannot_be_opened_is_closed(void **state)
{
	struct gus_error err = { 0 };
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_null(gus_reader_open_fd(ends[0], "a pipe", &err));
	assert_non_null(strstr(err.text, "cannot read a pipe at offset 0: "));
	assert_int_equal(fcntl(ends[0], F_GETFD), -1);
	close(ends[1]);
}

/* The rest of a recording, which a signal writes into the pipe when it came for the third time. */
static struct { const uint8_t *v; size_t n; int fd, ticks; } rest;

static void tick(int signal)
{
	(void)signal;
	if (++rest.ticks == 3 && write(rest.fd, rest.v, rest.n) != (ssize_t)rest.n)
		abort();
}

static void signals_do_not_end_a_stream(void **state)
{
	struct sigaction on = { .sa_handler = tick }, before; /* without SA_RESTART */
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } };
	struct made m = begun();
	struct gus_reader *r;
	int ends[2];

	(void)state;
	put_samples(&m);
	end(&m, 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], m.b.v, 100), 100);
	rest.v = m.b.v + 100;
	rest.n = m.b.n - 100;
	rest.fd = ends[1];
	sigaction(SIGALRM, &on, &before);
	setitimer(ITIMER_REAL, &every, NULL);
	r = gus_reader_open_fd(ends[0], "a pipe", NULL);
	assert_string_equal(told(r, ALL).v, "1#0 3#1 8#2 end");
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_true(rest.ticks >= 3);
	gus_reader_close(r);
	close(ends[1]);
	gus_vec_free(&m.b);
}

/* The pipe stays open behind the trailer, and nothing waits for more. */
static void a_stream_ends_with_its_trailer(void **state)
{
	struct made m = begun();
	struct gus_reader *r;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	put_samples(&m);
	end(&m, 0);
	assert_int_equal(write(ends[1], m.b.v, m.b.n), m.b.n);
	r = gus_reader_open_fd(ends[0], "a pipe", NULL);
	assert_string_equal(told(r, ALL).v, "1#0 3#1 8#2 end");
	gus_reader_close(r);
	close(ends[1]);
	gus_vec_free(&m.b);
}

/* Frames of three megabytes in all, with garbage between: more than is asked for at once, and kept only while it is
 * wanted. */
static void a_long_stream(void **state)
{
	struct made m = begun();
	uint8_t *payload = malloc(300000);
	size_t first = 0;

	(void)state;
	for (size_t i = 0; i < 300000; i++)
		payload[i] = (uint8_t)(i * 2654435761u >> 13);
	for (int i = 0; i < 10; i++) {
		put_frame(&m, GUS_FRAME_SAMPLES, payload, 300000 - (size_t)i * 7919);
		if (i == 3) {
			first = m.b.n;
			put_zeros(&m, 200000);
		}
	}
	end(&m, 0);
	expect(&m, ALL, "1#0 3#1 3#2 3#3 3#4 corrupt 3#5 3#6 3#7 3#8 3#9 3#10 8#11 end; 1 corrupt, first at %zu; "
	       "200000 skipped", first);
	free(payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(cut_between_and_in_frames),
		cmocka_unit_test(messages_name_the_place),
		cmocka_unit_test(cut_in_the_trailer),
		cmocka_unit_test(cut_before_the_trailer_behind_a_corrupt_place),
		cmocka_unit_test(bytes_behind_the_trailer),
		cmocka_unit_test(frames_behind_the_footer),
		cmocka_unit_test(a_trailer_without_its_footer_is_told),
		cmocka_unit_test(a_broken_footer_is_told_once),
		cmocka_unit_test(a_broken_payload_is_stepped_over),
		cmocka_unit_test(behind_a_broken_header_the_next_is_searched),
		cmocka_unit_test(several_places_are_counted_and_the_first_is_named),
		cmocka_unit_test(gaps_in_the_numbers_are_added_up),
		cmocka_unit_test(a_number_that_was_passed_is_corrupt),
		cmocka_unit_test(the_search_finds_a_header_at_any_place),
		cmocka_unit_test(the_search_ends_at_the_end),
		cmocka_unit_test(the_search_finds_the_trailer),
		cmocka_unit_test(lengths_at_their_limits),
		cmocka_unit_test(codings),
		cmocka_unit_test(types_that_are_wanted),
		cmocka_unit_test(unwanted_frames_are_checked),
		cmocka_unit_test(preambles),
		cmocka_unit_test(a_broken_preamble_is_told_and_read_on),
		cmocka_unit_test(headers),
		cmocka_unit_test(what_cannot_be_opened),
		cmocka_unit_test(a_payload_that_is_no_message),
		cmocka_unit_test(batches_outside_the_times_are_passed_over),
		cmocka_unit_test(without_an_index_all_are_delivered),
		cmocka_unit_test(a_stream_that_fails_says_where),
		cmocka_unit_test(a_stream_that_cannot_be_opened_is_closed),
		cmocka_unit_test(signals_do_not_end_a_stream),
		cmocka_unit_test(a_stream_ends_with_its_trailer),
		cmocka_unit_test(a_long_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
