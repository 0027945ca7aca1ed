/* SPDX-License-Identifier: MIT */
/* proto/writer and proto/reader: what is written is read; end, cut, corrupt and unknown version are told apart. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include <cmocka.h>

#include "base/error.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/writer.h"

#define ROWS 100 /* in each of the batches */
enum { BATCHES = 5 };

struct recording { char dir[64], path[96]; uint8_t *bytes; size_t size; };

static void push_rows(struct gus_columns *c, unsigned batch)
{
	gus_columns_clear(c);
	for (unsigned i = 0; i < ROWS; i++)
		gus_columns_push(c, &(struct gus_sample){ .ip = 0x1000 + i, .time = 1000 * batch + i, .period = 7,
							  .pid = 1, .tid = 1 });
}

static void write_recording(const char *path, bool finish)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_columns c = { 0 };
	struct gus_error err = { 0 };
	struct gus_writer *w;

	header.producer = (char *)"test";
	w = gus_writer_create(path, &header, &err);
	assert_non_null(w);
	for (unsigned i = 0; i < BATCHES; i++) {
		push_rows(&c, i);
		assert_int_equal(gus_writer_samples(w, &c, &err), 0);
	}
	if (finish)
		assert_int_equal(gus_writer_finish(w, &footer, &err), 0);
	else
		gus_writer_abandon(w);
	gus_columns_free(&c);
}

static void slurp(struct recording *r)
{
	struct stat st;
	FILE *f = fopen(r->path, "rb");

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	r->size = (size_t)st.st_size;
	r->bytes = malloc(r->size);
	assert_int_equal(fread(r->bytes, 1, r->size, f), r->size);
	fclose(f);
}

static int setup(void **state)
{
	struct recording *r = calloc(1, sizeof(*r));

	snprintf(r->dir, sizeof(r->dir), "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	snprintf(r->path, sizeof(r->path), "%s/data", r->dir);
	write_recording(r->path, true);
	slurp(r);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct recording *r = *state;
	char old[128];

	snprintf(old, sizeof(old), "%s.old", r->path);
	unlink(r->path);
	unlink(old);
	rmdir(r->dir);
	free(r->bytes);
	free(r);
	return 0;
}

struct seen { unsigned frames, samples, corrupt; enum gus_read last; struct gus_damage damage; };

/* Reads all of a recording in memory, whose copy is exactly as large as it says. */
static struct seen read_all(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct gus_error err = { 0 };
	struct gus_columns c = { 0 };
	struct gus_reader *r;
	struct seen seen = { 0 };

	memcpy(copy, bytes, size);
	r = gus_reader_open_memory(copy, size, &err);
	seen.last = GUS_READ_ERROR;
	while (r) {
		struct gus_frame frame;

		seen.last = gus_reader_next_of(r, UINT32_MAX, &frame, NULL);
		if (seen.last == GUS_READ_CORRUPT) {
			seen.corrupt++;
			continue;
		}
		if (seen.last != GUS_READ_FRAME)
			break;
		seen.frames++;
		if (frame.type == GUS_FRAME_SAMPLES && gus_columns_decode(&c, frame.payload, frame.size, NULL) == 0)
			seen.samples += (unsigned)c.n;
	}
	if (r)
		seen.damage = *gus_reader_damage(r);
	gus_columns_free(&c);
	gus_reader_close(r);
	free(copy);
	return seen;
}

static void whole(void **state)
{
	struct recording *r = *state;
	struct seen seen = read_all(r->bytes, r->size);

	assert_int_equal(seen.last, GUS_READ_END);
	assert_int_equal(seen.samples, BATCHES * ROWS);
	assert_int_equal(seen.frames, 1 + BATCHES + 2); /* header, batches, index and footer */
	assert_int_equal(seen.corrupt + seen.damage.missing_frames, 0);
}

static void private_and_previous_kept(void **state)
{
	struct recording *r = *state;
	char old[128];
	struct stat st;

	write_recording(r->path, true);
	snprintf(old, sizeof(old), "%s.old", r->path);
	assert_int_equal(stat(old, &st), 0);
	assert_int_equal(st.st_size, r->size);
	assert_int_equal(stat(r->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static unsigned files_in(const char *path)
{
	DIR *folder = opendir(path);
	unsigned n = 0;

	assert_non_null(folder);
	for (struct dirent *e; (e = readdir(folder));)
		n += *e->d_name != '.';
	closedir(folder);
	return n;
}

/* The moment at which a file without a name is to have one: what is in its folder then, and whether it is let. */
static struct { const char *folder; unsigned calls, files; bool refuse; } naming;

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
	naming.calls++;
	naming.files = naming.folder ? files_in(naming.folder) : 0;
	if (!naming.refuse)
		return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
	errno = EPERM;
	return -1;
}

/* A recorder that is killed before its file is worth anything leaves none. */
static void nothing_until_it_has_its_name(void **state)
{
	struct recording *r = *state;

	unlink(r->path);
	memset(&naming, 0, sizeof(naming));
	naming.folder = r->dir;
	write_recording(r->path, true);
	naming.folder = NULL;
	if (!naming.calls)
		skip(); /* a file system whose files all have names */
	assert_int_equal(naming.files, 0);
	assert_int_equal(files_in(r->dir), 1);
}

static void a_name_by_the_other_way(void **state)
{
	struct recording *r = *state;

	memset(&naming, 0, sizeof(naming));
	naming.refuse = true;
	write_recording(r->path, true);
	assert_int_equal(files_in(r->dir), 2); /* the other one is the previous, .old */
	private_and_previous_kept(state);
	naming.refuse = false;
}

static void refuses_what_is_no_file(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	struct gus_error err = { 0 };

	(void)state;
	assert_null(gus_writer_create("/tmp", &header, &err));
	assert_int_equal(err.code, GUS_E_USAGE);
	err = (struct gus_error){ 0 };
	assert_null(gus_writer_create("/nonexistent/data", &header, &err));
	assert_int_equal(err.code, GUS_E_NOT_FOUND);
}

static void abandoned_is_cut(void **state)
{
	struct recording *r = *state;
	struct recording cut = *r;
	struct seen seen;

	write_recording(r->path, false);
	slurp(&cut);
	seen = read_all(cut.bytes, cut.size);
	assert_int_equal(seen.last, GUS_READ_CUT);
	assert_int_equal(seen.samples, BATCHES * ROWS);
	assert_true(seen.damage.cut && seen.damage.cut_offset == cut.size);
	free(cut.bytes);
}

/* Every cut is told, and holds all the batches that end before it. */
static void cut_at_every_byte(void **state)
{
	struct recording *r = *state;
	unsigned before = 0;

	for (size_t size = 0; size < r->size; size++) {
		struct seen seen = read_all(r->bytes, size);

		if (size < GUS_PREAMBLE_SIZE)
			assert_int_equal(seen.last, GUS_READ_ERROR); /* does not open, and says so */
		else
			assert_true(seen.last == GUS_READ_CUT || seen.corrupt > 0);
		assert_true(seen.samples >= before);
		before = seen.samples;
	}
	assert_int_equal(before, BATCHES * ROWS);
}

/* Every single flipped byte is told; at most one batch is lost by it. */
static void flip_every_byte(void **state)
{
	struct recording *r = *state;
	uint8_t *bytes = malloc(r->size);

	memcpy(bytes, r->bytes, r->size);
	for (size_t i = 0; i < r->size; i++) {
		struct seen seen;

		bytes[i] ^= 1u << i % 8;
		seen = read_all(bytes, r->size);
		bytes[i] ^= 1u << i % 8;
		if (i < GUS_MAGIC_SIZE) {
			assert_int_equal(seen.last, GUS_READ_ERROR);
			continue;
		}
		assert_true(seen.corrupt > 0);
		assert_true(seen.damage.corrupt == seen.corrupt);
		assert_int_equal(seen.last, GUS_READ_END);
		assert_true(seen.samples >= (BATCHES - 1) * ROWS);
	}
	free(bytes);
}

/* A piece cut out of the middle on a frame's border leaves no broken frame, but a gap in the numbers. */
static void missing_frame_is_told(void **state)
{
	struct recording *r = *state;
	struct gus_reader *reader = gus_reader_open(r->path, NULL);
	struct gus_frame frame;
	uint64_t third = 0, fourth = 0;
	uint8_t *bytes = malloc(r->size);
	struct seen seen;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(gus_reader_next_of(reader, UINT32_MAX, &frame, NULL), GUS_READ_FRAME);
		if (i == 3)
			third = frame.offset;
		if (i == 4)
			fourth = frame.offset;
	}
	memcpy(bytes, r->bytes, third);
	memcpy(bytes + third, r->bytes + fourth, r->size - fourth);
	seen = read_all(bytes, r->size - (fourth - third));
	assert_int_equal(seen.last, GUS_READ_END);
	assert_int_equal(seen.damage.missing_frames, 1);
	assert_int_equal(seen.samples, (BATCHES - 1) * ROWS);
	gus_reader_close(reader);
	free(bytes);
}

static void appended_bytes_are_told(void **state)
{
	struct recording *r = *state;
	uint8_t *bytes = calloc(1, r->size + 100);
	struct seen seen;

	memcpy(bytes, r->bytes, r->size);
	seen = read_all(bytes, r->size + 100);
	assert_int_equal(seen.last, GUS_READ_END);
	assert_true(seen.corrupt > 0);
	assert_int_equal(seen.samples, BATCHES * ROWS);
	free(bytes);
}

static void newer_version_is_refused_as_such(void **state)
{
	struct recording *r = *state;
	struct gus_error err = { 0 };
	uint64_t sum;

	r->bytes[8]++;
	sum = XXH64(r->bytes, 16, 0);
	memcpy(r->bytes + 16, &sum, sizeof(sum));
	assert_null(gus_reader_open_memory(r->bytes, r->size, &err));
	assert_int_equal(err.code, GUS_E_VERSION);
}

static void foreign_file_is_refused_as_such(void **state)
{
	static const char text[] = "PERFILE2 and what follows it is not for us";
	struct gus_error err = { 0 };

	(void)state;
	assert_null(gus_reader_open_memory(text, sizeof(text), &err));
	assert_int_equal(err.code, GUS_E_CORRUPT);
}

/* With the index, batches of other times are not even read. */
static void restricted_to_a_time(void **state)
{
	struct recording *r = *state;
	struct gus_reader *reader = gus_reader_open(r->path, NULL);
	struct gus_frame frame;
	unsigned batches = 0;

	gus_reader_restrict(reader, 2000, 2999);
	while (gus_reader_next_of(reader, 1u << GUS_FRAME_SAMPLES, &frame, NULL) == GUS_READ_FRAME)
		batches++;
	assert_int_equal(batches, 1);
	gus_reader_close(reader);
}

/* A batch that no frame can hold is split; nothing is lost. */
static void large_batch_is_split(void **state)
{
	struct recording *r = *state;
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_columns c = { 0 };
	struct recording large = *r;
	struct gus_writer *w = gus_writer_create(r->path, &header, NULL);
	struct seen seen;

	for (unsigned i = 0; i < 3 * GUS_ROWS_MAX; i++)
		gus_columns_push(&c, &(struct gus_sample){ .ip = i * 0x9e3779b97f4a7c15, .time = i });
	assert_int_equal(gus_writer_samples(w, &c, NULL), 0);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	slurp(&large);
	seen = read_all(large.bytes, large.size);
	assert_int_equal(seen.samples, 3 * GUS_ROWS_MAX);
	assert_int_equal(seen.last, GUS_READ_END);
	gus_columns_free(&c);
	free(large.bytes);
}

/* Entries bound a frame as rows do: constants of a few bytes would not show in its size. */
static void entries_that_are_too_many_are_split(void **state)
{
	enum { PUSHED = 50, WORDS = GUS_STACK_WORDS_MAX / 20, REGS = GUS_REG_ENTRIES_MAX / 20 };
	uint64_t *zeros = calloc(REGS > WORDS ? REGS : WORDS, sizeof(*zeros));
	const struct gus_sample rows[] = {
		{ .stack_n = WORDS, .stack = zeros }, { .regs_n = REGS, .regs = zeros },
	};

	for (unsigned k = 0; k < 2; k++) {
		struct recording *r = *state;
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
		struct gus_columns c = { 0 };
		struct recording large = *r;
		struct gus_writer *w = gus_writer_create(r->path, &header, NULL);
		struct seen seen;

		for (unsigned i = 0; i < PUSHED; i++)
			gus_columns_push(&c, &rows[k]);
		assert_int_equal(gus_writer_samples(w, &c, NULL), 0);
		assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
		slurp(&large);
		seen = read_all(large.bytes, large.size);
		assert_int_equal(seen.samples, PUSHED); /* those of frames that decode */
		assert_int_equal(seen.last, GUS_READ_END);
		gus_columns_free(&c);
		free(large.bytes);
	}
	free(zeros);
}

/* Whether there are callers is said by a word of the format; what else stands there is no word. */
static void callers_by_the_words_of_the_format(void **state)
{
	static const struct { const char *word; bool has; } cases[] = {
		{ "fp", true }, { "tables", true }, { "dwarf", true }, { "lbr", true },
		{ "none", false }, { "", false }, { "fpx", false }, { "\33[31m", false },
	};
	struct recording *r = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		struct gus_reader *reader;

		header.call_graph = (char *)(uintptr_t)cases[i].word;
		gus_writer_abandon(gus_writer_create(r->path, &header, NULL));
		reader = gus_reader_open(r->path, NULL);
		assert_non_null(reader);
		assert_int_equal(gus_reader_has_chains(reader), cases[i].has);
		gus_reader_close(reader);
	}
}

/* Several times as much as a small pipe holds; zstd makes nothing of it. */
static int write_much(struct gus_writer *w, struct gus_error *err)
{
	struct gus_columns c = { 0 };
	uint64_t random = 1;
	int rc;

	for (unsigned i = 0; i < 8000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		gus_columns_push(&c, &(struct gus_sample){ .ip = random, .time = i });
	}
	rc = gus_writer_samples(w, &c, err);
	gus_columns_free(&c);
	return rc;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A reader that comes late gets everything; one that never does is given up once we are asked to end, and only then. */
static void a_reader_that_takes_nothing(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_error err = { 0 };
	struct gus_writer *w;
	sigset_t term, before;
	uint8_t bytes[4096];
	double begun;
	int ends[2];
	pid_t late;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fcntl(ends[1], F_SETPIPE_SZ, 16384);
	w = gus_writer_create_live(dup(ends[1]), "a pipe", &header, &err);
	assert_non_null(w);
	late = fork();
	if (late == 0) {
		close(ends[1]);
		gus_writer_abandon(w);
		usleep(700000);
		while (read(ends[0], bytes, sizeof(bytes)) > 0)
			;
		_exit(0);
	}
	assert_int_equal(write_much(w, &err), 0);
	assert_int_equal(gus_writer_finish(w, &footer, &err), 0);
	kill(late, SIGKILL);
	waitpid(late, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fcntl(ends[1], F_SETPIPE_SZ, 16384);
	w = gus_writer_create_live(ends[1], "a pipe", &header, &err); /* the header fits */
	assert_non_null(w);

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	raise(SIGTERM);
	begun = seconds();
	assert_int_equal(write_much(w, &err), -1);
	assert_in_range((uint64_t)((seconds() - begun) * 10), 45, 120);
	assert_non_null(strstr(err.text, "its reader has taken nothing for 5 s since we were asked to end"));
	begun = seconds();
	assert_int_equal(gus_writer_finish(w, &footer, NULL), -1); /* at once */
	assert_true(seconds() - begun < 2);
	sigtimedwait(&term, NULL, &(struct timespec){ 0 });
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
}

/* What happens to the file while it is written: nothing, it is moved, it is removed, or that and another one is there.
 * Only where nothing is left does the writer fail. */
static void removed_while_written(void **state)
{
	static const struct { bool moved, removed, another; int rc; } cases[] = {
		{ false, false, false, 0 }, { true, false, false, 0 }, { false, true, false, -1 },
		{ false, true, true, -1 },
	};
	struct recording *r = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
		struct gus_error err = { 0 };
		char moved[300];
		struct gus_writer *w;

		snprintf(moved, sizeof(moved), "%s.moved", r->path);
		unlink(r->path);
		w = gus_writer_create(r->path, &header, &err);
		assert_non_null(w);
		if (cases[i].moved)
			assert_int_equal(rename(r->path, moved), 0);
		if (cases[i].removed)
			assert_int_equal(unlink(r->path), 0);
		if (cases[i].another)
			write_recording(r->path, false);
		assert_int_equal(gus_writer_finish(w, &footer, &err), cases[i].rc);
		if (cases[i].rc != 0)
			assert_non_null(strstr(err.text, "was removed while it was written"));
		unlink(moved);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(whole),
		TEST(private_and_previous_kept),
		TEST(nothing_until_it_has_its_name),
		TEST(a_name_by_the_other_way),
		TEST(refuses_what_is_no_file),
		TEST(abandoned_is_cut),
		TEST(removed_while_written),
		TEST(a_reader_that_takes_nothing),
		TEST(cut_at_every_byte),
		TEST(flip_every_byte),
		TEST(missing_frame_is_told),
		TEST(appended_bytes_are_told),
		TEST(newer_version_is_refused_as_such),
		TEST(foreign_file_is_refused_as_such),
		TEST(restricted_to_a_time),
		TEST(large_batch_is_split),
		TEST(entries_that_are_too_many_are_split),
		TEST(callers_by_the_words_of_the_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
