/* SPDX-License-Identifier: MIT */
/* perf's files as recordings of ours: what stands in a file that was made byte by byte comes out of the reader. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/perfdata/import.h"
#include "proto/data_source.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "tests/unit/made_perfdata.h"

/* PERF_SAMPLE_*, flags of perf_event_attr, PERF_RECORD_*. */
enum { IP = 1, TID = 2, TIME = 4, ADDR = 8, READ = 16, CHAIN = 32, ID = 64, CPU = 128, PERIOD = 256, RAW = 1024,
	BRANCH = 1 << 11, REGS = 1 << 12, STACK = 1 << 13, DATA_SRC = 1 << 15, IDENTIFIER = 1 << 16 };
#define FREQUENCY (UINT64_C(1) << 10)
#define ID_ALL (UINT64_C(1) << 18)
#define OWN_CHAIN_OUT (UINT64_C(1) << 22)
enum { MMAP = 1, LOST = 2, COMM = 3, EXIT = 4, THROTTLE = 5, FORK = 7, SAMPLE = 9, MMAP2 = 10, AUX = 11,
	SWITCH = 14, KSYMBOL = 17, CGROUP = 19, ROUND = 68, AUXTRACE_INFO = 70, AUXTRACE = 71, EVENT_UPDATE = 78,
	TIME_CONV = 79, PACKED = 81, PACKED2 = 83 };
enum { KERNEL = 1, USER = 2, GUEST_USER = 5, EXACT = 1 << 14 };

/* All that a reader gives. */
struct heard {
	struct gus_reader *reader;
	struct gus_error err;
	struct gus_vec(struct gus_sample) samples; /* what they borrow lives in `batches` */
	struct gus_vec(struct gus_columns) batches;
	struct gus_vec(Gusprof__Sideband *) sidebands;
	struct gus_vec(Gusprof__Record *) records;
	struct gus_vec(struct gus_switch) switches;
	struct gus_vec(Gusprof__Aux *) aux;
	Gusprof__Footer *footer;
	enum gus_read end;
	unsigned corrupt;
};

static void hear_rows(struct heard *h, const struct gus_frame *frame)
{
	struct gus_columns rows = { 0 };

	assert_int_equal(gus_frame_rows(frame, &rows, NULL), 0);
	gus_vec_push(&h->batches, rows);
	for (size_t i = 0; i < rows.n; i++)
		if (frame->type == GUS_FRAME_SAMPLES)
			gus_vec_push(&h->samples, gus_columns_sample(&rows, i));
		else
			gus_vec_push(&h->switches, gus_columns_switch(&rows, i));
}

static void hear_frame(struct heard *h, const struct gus_frame *frame)
{
	switch (frame->type) {
	case GUS_FRAME_SAMPLES:
	case GUS_FRAME_SWITCHES:
		hear_rows(h, frame);
		break;
	case GUS_FRAME_SIDEBAND:
		gus_vec_push(&h->sidebands, (Gusprof__Sideband *)gus_frame_message(frame,
										   &gusprof__sideband__descriptor,
										NULL));
		for (size_t i = 0; i < h->sidebands.v[h->sidebands.n - 1]->n_records; i++)
			gus_vec_push(&h->records, h->sidebands.v[h->sidebands.n - 1]->records[i]);
		break;
	case GUS_FRAME_AUX:
		gus_vec_push(&h->aux, (Gusprof__Aux *)gus_frame_message(frame, &gusprof__aux__descriptor, NULL));
		break;
	case GUS_FRAME_FOOTER:
		h->footer = (Gusprof__Footer *)gus_frame_message(frame, &gusprof__footer__descriptor, NULL);
		break;
	default:
		break;
	}
}

static void hear_all(struct heard *h, uint32_t types)
{
	for (;;) {
		struct gus_frame frame;

		h->end = gus_reader_next_of(h->reader, types, &frame, &h->err);
		if (h->end == GUS_READ_CORRUPT)
			h->corrupt++;
		else if (h->end != GUS_READ_FRAME)
			return;
		else
			hear_frame(h, &frame);
	}
}

static struct heard hear_fd(int fd)
{
	struct heard h = { 0 };

	h.reader = gus_perfdata_reader(fd, "made", &h.err);
	close(fd);
	if (h.reader)
		hear_all(&h, UINT32_MAX);
	return h;
}

static struct heard hear(struct made_perfdata *m)
{
	return hear_fd(made_file(made_close(m)));
}

static void stop(struct heard *h, struct made_perfdata *m)
{
	gus_reader_close(h->reader);
	for (size_t i = 0; i < h->batches.n; i++)
		gus_columns_free(&h->batches.v[i]);
	for (size_t i = 0; i < h->sidebands.n; i++)
		gusprof__sideband__free_unpacked(h->sidebands.v[i], NULL);
	for (size_t i = 0; i < h->aux.n; i++)
		gusprof__aux__free_unpacked(h->aux.v[i], NULL);
	if (h->footer)
		gusprof__footer__free_unpacked(h->footer, NULL);
	gus_vec_free(&h->samples);
	gus_vec_free(&h->batches);
	gus_vec_free(&h->sidebands);
	gus_vec_free(&h->records);
	gus_vec_free(&h->switches);
	gus_vec_free(&h->aux);
	made_free(m);
}

#define WORDS(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

/* Two numbers of 32 bits in a row, as a word is put. */
static uint64_t pair(const struct made_perfdata *m, uint32_t first, uint32_t second)
{
	return m->big ? (uint64_t)first << 32 | second : (uint64_t)second << 32 | first;
}

static void flat(struct made_perfdata *m, uint64_t ip, uint32_t tid, uint64_t time)
{
	made_words(m, SAMPLE, USER, WORDS(ip, pair(m, tid, tid), time));
}

static const struct made_attr plain = { .type = 1, .period = 1000, .sample_type = IP | TID | TIME, .flags = ID_ALL };

static bool says(const struct heard *h, const char *words)
{
	for (size_t i = 0; i < h->footer->n_notices; i++)
		if (strstr(h->footer->notices[i], words))
			return true;
	return false;
}

/* A file, a pipe, either byte order, attributes of any size: two events, three samples. */
static void forms_of_a_file(void **state)
{
	static const unsigned sizes[] = { 64, 72, 80, 96, 112, 136, 200, 4080 };
	static const char *const names[] = { "cycles:p", "cycles:pp", "cycles:ppp" };

	(void)state;
	for (unsigned form = 0; form < 4 * sizeof(sizes) / sizeof(*sizes); form++) {
		struct made_perfdata m = { .big = form & 1, .pipe = form & 2, .attr_size = sizes[form / 4] };
		uint64_t type = IDENTIFIER | IP | TID | TIME | CPU | PERIOD;
		struct heard h;

		made_event(&m, &(struct made_attr){ .type = 0, .period = 4000, .sample_type = type, .flags = ID_ALL |
						    FREQUENCY |
						    (UINT64_C(1) + form % 3) << 15, .ids = { 7, 8 }, .ids_n = 2 });
		made_event(&m, &(struct made_attr){ .type = 1, .config = 1, .period = 5, .sample_type = type,
						    .flags = ID_ALL,
						    .ids = { 9 }, .ids_n = 1 });
		for (unsigned i = 0; i < 3; i++)
			made_words(&m, SAMPLE, USER | (i == 2 ? EXACT : 0),
				   WORDS(7 + i, 0x400000 + i, pair(&m, 10, 11), 100 + i,
				   pair(&m, 3, 0), 50 + i));
		h = hear(&m);
		assert_non_null(h.reader);
		assert_int_equal(h.end, GUS_READ_END);
		assert_int_equal(h.samples.n, 3);
		for (unsigned i = 0; i < 3; i++) {
			const struct gus_sample *s = &h.samples.v[i];

			assert_int_equal(s->event, i == 2);
			assert_true(s->ip == 0x400000 + i && s->pid == 10 && s->tid == 11 && s->time == 100 + i);
			assert_true(s->cpu == 3 && s->period == 50 + i && s->mode == GUS_MODE_USER &&
				    s->exact == (i == 2));
		}
		assert_int_equal(gus_reader_header(h.reader)->n_events, 2);
		assert_string_equal(gus_reader_header(h.reader)->events[0]->name, names[form % 3]);
		assert_string_equal(gus_reader_header(h.reader)->events[1]->name, "task-clock:HG");
		assert_int_equal(gus_reader_header(h.reader)->events[0]->frequency, 4000);
		assert_int_equal(gus_reader_header(h.reader)->events[1]->period, 5);
		assert_int_equal(h.footer->events[0]->samples, 2);
		assert_int_equal(h.footer->events[1]->samples, 1);
		assert_int_equal(h.footer->end_ns, 102);
		assert_int_equal(gus_reader_header(h.reader)->clock->start_ns, 100);
		assert_int_equal(h.footer->n_notices, 0);
		stop(&h, &m);
	}
}

/* A second pass is like the first, and one for the side band alone has no samples; both leave the footer as it is. */
static void passes(void **state)
{
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	flat(&m, 1, 2, 10);
	made_begin(&m, COMM, 0);
	made_word(&m, pair(&m, 2, 2));
	made_text(&m, "two");
	made_word(&m, pair(&m, 2, 2));
	made_word(&m, 11);
	made_end(&m);
	flat(&m, 3, 2, 12);
	h = hear(&m);
	assert_int_equal(h.samples.n, 2);
	assert_int_equal(h.records.n, 1);
	gus_reader_rewind(h.reader);
	hear_all(&h, 1u << GUS_FRAME_SIDEBAND);
	assert_int_equal(h.samples.n, 2);
	assert_int_equal(h.records.n, 2);
	gus_reader_rewind(h.reader);
	hear_all(&h, 1u << GUS_FRAME_SAMPLES);
	assert_int_equal(h.samples.n, 4);
	assert_int_equal(h.records.n, 2);
	assert_int_equal(h.samples.v[3].ip, 3);
	assert_string_equal(h.records.v[1]->comm->name, "two");
	assert_int_equal(h.records.v[1]->comm->time, 11);
	assert_int_equal(h.footer->events[0]->samples, 2);
	assert_true(h.footer->events[0]->lost == 0 && h.footer->events[0]->throttles == 0);
	stop(&h, &m);
}

/* Who asks for one kind of frames gets those and no others, in the first pass and the next. */
static void one_kind(void **state)
{
	static const enum gus_frame_type kinds[] = { GUS_FRAME_HEADER, GUS_FRAME_SIDEBAND, GUS_FRAME_SAMPLES,
						     GUS_FRAME_SWITCHES, GUS_FRAME_FOOTER };
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	flat(&m, 1, 2, 10);
	made_words(&m, SWITCH, 1 << 13, WORDS(pair(&m, 2, 3), 11));
	made_words(&m, EXIT, 0, WORDS(pair(&m, 2, 2), pair(&m, 2, 2), 12, pair(&m, 2, 2), 12));
	h = hear(&m);
	assert_true(h.samples.n == 1 && h.records.n == 1 && h.switches.n == 1);
	assert_true(h.switches.v[0].time == 11 && h.switches.v[0].tid == 3 && h.switches.v[0].out);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct gus_frame frame;

		gus_reader_rewind(h.reader);
		assert_int_equal(gus_reader_next_of(h.reader, 1u << kinds[i], &frame, &h.err), GUS_READ_FRAME);
		assert_int_equal(frame.type, kinds[i]);
		assert_int_equal(gus_reader_next_of(h.reader, 1u << kinds[i], &frame, &h.err), GUS_READ_END);
	}
	stop(&h, &m);
}

/* What a sample has beside its head, so many words of it. */
static void put_words(struct made_perfdata *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		made_word(m, 1);
}

/* A frame is full with 64 K entries of chains or of branches, or with 128 K words of stacks, registers or what else
 * there is: with the sample that reaches that, be it exactly or not. */
static void full_frames(void **state)
{
	enum { SAMPLES = 9000 };
	static const struct { uint64_t type; size_t n, rows; } cases[] = {
		{ CHAIN, 16, 4096 }, { CHAIN, 17, 3856 }, { BRANCH, 16, 4096 }, { BRANCH, 17, 3856 },
		{ REGS | STACK, 2, 7711 }, { REGS | STACK, 32, 4096 }, { REGS | STACK, 33, 3972 },
		{ RAW, 31, 4096 }, { RAW, 32, 3972 }, /* a word tells what it is */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t type = cases[i].type;
		struct made_perfdata m = { 0 };
		struct heard h;

		made_event(&m, &(struct made_attr){ .type = 1, .sample_type = IP | TID | TIME | type,
						    .flags = ID_ALL | OWN_CHAIN_OUT, .branch = 1,
						    .regs_user = 0xff01ff, .stack_user = 8 * cases[i].n });
		for (unsigned k = 0; k < SAMPLES; k++) {
			made_begin(&m, SAMPLE, USER);
			put_words(&m, 3);
			if (type & CHAIN) {
				made_word(&m, cases[i].n + 1);
				made_word(&m, (uint64_t)-512);
				put_words(&m, cases[i].n);
			}
			if (type & RAW) {
				made_half(&m, 8 * cases[i].n - 4);
				made_half(&m, 1);
				put_words(&m, cases[i].n - 1);
			}
			if (type & BRANCH) {
				made_word(&m, cases[i].n);
				put_words(&m, 3 * cases[i].n);
			}
			if (type & REGS) {
				made_word(&m, 2);
				put_words(&m, 17);
			}
			if (type & STACK) {
				made_word(&m, 8 * cases[i].n);
				put_words(&m, cases[i].n);
				made_word(&m, 8 * cases[i].n);
			}
			made_end(&m);
		}
		made_feature_text(&m, 6, "x86_64");
		h = hear(&m);
		assert_int_equal(h.samples.n, SAMPLES);
		assert_int_equal(h.batches.v[0].n, cases[i].rows);
		assert_int_equal(h.batches.v[1].n, cases[i].rows < SAMPLES / 2 ? cases[i].rows :
				 SAMPLES - cases[i].rows);
		stop(&h, &m);
	}
}

static unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The next descriptor that is given out. */
static int next_fd(void)
{
	int fd = fcntl(0, F_DUPFD, 3);

	close(fd);
	return fd;
}

/* A file that can no longer be read is an error, and no end. */
static void unreadable(void **state)
{
	struct made_perfdata m = { 0 };
	struct gus_frame frame;
	struct heard h = { 0 };
	int fd, own, deaf;

	(void)state;
	made_event(&m, &plain);
	flat(&m, 1, 2, 10);
	fd = made_file(made_close(&m));
	own = next_fd();
	h.reader = gus_perfdata_reader(fd, "made", &h.err);
	assert_non_null(h.reader);
	deaf = open("/dev/null", O_WRONLY);
	assert_int_equal(dup2(deaf, own), own);
	assert_int_equal(gus_reader_next_of(h.reader, 1u << GUS_FRAME_SAMPLES, &frame, &h.err), GUS_READ_ERROR);
	assert_non_null(strstr(h.err.text, "cannot read made at offset 232"));
	close(deaf);
	close(fd);
	stop(&h, &m);
}

/* A file that gets shorter while it is read ends there. */
static void shrinking(void **state)
{
	(void)state;
	for (unsigned spe = 0; spe < 2; spe++) {
		struct made_perfdata m = { 0 };
		struct heard h = { 0 };
		int fd;

		made_event(&m, &(struct made_attr){ .type = 12, .sample_type = IP | TID | TIME, .flags = ID_ALL });
		made_words(&m, AUXTRACE_INFO, 0, WORDS(spe ? 4 : 1, 12, 0, 12));
		flat(&m, 1, 2, 10);
		made_words(&m, AUXTRACE, 0, WORDS(64, 0, 0, 0, 0));
		for (unsigned i = 0; i < 8; i++)
			made_put(&m, &m.data, 0, 8);
		fd = made_file(made_close(&m));
		h.reader = gus_perfdata_reader(fd, "made", &h.err);
		assert_int_equal(ftruncate(fd, (off_t)m.file.n - 16), 0);
		hear_all(&h, 1u << GUS_FRAME_SAMPLES | 1u << GUS_FRAME_AUX);
		assert_int_equal(h.samples.n, 1);
		assert_int_equal(h.aux.n, !spe);
		if (!spe)
			assert_int_equal(h.aux.v[0]->bytes.len, 48);
		close(fd);
		stop(&h, &m);
	}
}

/* A frame has 8,192 rows at most, and all of them come. */
static void many_samples(void **state)
{
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	for (unsigned i = 0; i < 20000; i++)
		flat(&m, i, 1, 1000 + i);
	h = hear(&m);
	assert_int_equal(h.samples.n, 20000);
	assert_int_equal(h.batches.n, 3);
	for (unsigned i = 0; i < 20000; i++)
		assert_int_equal(h.samples.v[i].ip, i);
	stop(&h, &m);
}

/* What a sample stands for where it does not say it: the event's period, or one of a frequency. A CPU that is not told
 * is none. */
static void defaults(void **state)
{
	(void)state;
	for (unsigned frequency = 0; frequency < 2; frequency++) {
		struct made_perfdata m = { 0 };
		struct made_attr a = plain;
		struct heard h;

		a.flags |= frequency ? FREQUENCY : 0;
		made_event(&m, &a);
		flat(&m, 1, 2, 10);
		h = hear(&m);
		assert_int_equal(h.samples.v[0].period, frequency ? 1 : 1000);
		assert_int_equal(h.samples.v[0].cpu, UINT32_MAX);
		stop(&h, &m);
	}
}

/* Of samples without a time the number of the record is theirs, and that is said. */
static void without_times(void **state)
{
	struct made_perfdata m = { 0 };
	struct made_attr a = plain;
	struct heard h;

	(void)state;
	a.sample_type = IP | TID;
	made_event(&m, &a);
	made_words(&m, SAMPLE, USER, WORDS(1, pair(&m, 2, 2)));
	made_words(&m, ROUND, 0, WORDS(0));
	made_words(&m, SAMPLE, USER, WORDS(1, pair(&m, 2, 2)));
	h = hear(&m);
	assert_string_equal(gus_reader_header(h.reader)->clock->name, "records");
	assert_int_equal(h.samples.v[0].time, 1);
	assert_int_equal(h.samples.v[1].time, 3);
	assert_int_equal(h.footer->end_ns, 3);
	assert_true(says(&h, "do not say when"));
	stop(&h, &m);
}

/* So it is of all records, also of those that have a time of another clock in their body. */
static void records_in_order_without_times(void **state)
{
	struct made_perfdata m = { 0 };
	struct made_attr a = plain;
	struct heard h;

	(void)state;
	a.sample_type = IP | TID;
	made_event(&m, &a);
	made_words(&m, SAMPLE, USER, WORDS(1, pair(&m, 2, 2)));
	made_begin(&m, KSYMBOL, 0);
	made_word(&m, 0xffff0000);
	made_half(&m, 0x100);
	made_half(&m, 1);
	made_text(&m, "bpf_prog");
	made_word(&m, pair(&m, 2, 2));
	made_end(&m);
	made_words(&m, THROTTLE, 0, WORDS(123456, 70, 0, pair(&m, 2, 2)));
	made_words(&m, LOST, 0, WORDS(70, 12, pair(&m, 2, 2)));
	made_words(&m, EXIT, 0, WORDS(pair(&m, 2, 2), pair(&m, 2, 2), 123456, pair(&m, 2, 2)));
	h = hear(&m);
	assert_int_equal(h.records.n, 4);
	assert_int_equal(h.records.v[0]->ksymbol->time, 2);
	assert_int_equal(h.records.v[1]->throttle->time, 3);
	assert_int_equal(h.records.v[2]->lost->time, 4);
	assert_int_equal(h.records.v[3]->fork->time, 5);
	stop(&h, &m);
}

static void mapping(struct made_perfdata *m, uint64_t start, const char *path)
{
	made_begin(m, MMAP, USER);
	made_word(m, pair(m, 2, 2));
	made_word(m, start);
	made_word(m, 0x1000);
	made_word(m, 0);
	made_text(m, path);
	made_end(m);
}

/* A record that does not say when it was is behind what was in the rounds before the last. */
static void records_without_times(void **state)
{
	struct made_perfdata m = { 0 };
	struct made_attr a = plain;
	struct heard h;

	(void)state;
	a.flags = 0; /* no sample_id_all */
	made_event(&m, &a);
	mapping(&m, 0x1000, "/first");
	flat(&m, 1, 2, 10);
	flat(&m, 1, 2, 30);
	made_words(&m, ROUND, 0, NULL, 0);
	mapping(&m, 0x2000, "/second");
	flat(&m, 1, 2, 20);
	flat(&m, 1, 2, 40);
	made_words(&m, ROUND, 0, NULL, 0);
	mapping(&m, 0x3000, "/third");
	h = hear(&m);
	for (int pass = 0; pass < 2; pass++) {
		assert_int_equal(h.records.n, 3 * (pass + 1));
		assert_int_equal(h.records.v[3 * pass]->mmap->time, 0);
		assert_int_equal(h.records.v[3 * pass + 1]->mmap->time, 0);
		assert_int_equal(h.records.v[3 * pass + 2]->mmap->time, 30);
		gus_reader_rewind(h.reader);
		hear_all(&h, 1u << GUS_FRAME_SIDEBAND); /* samples that nobody asks for count as well */
	}
	stop(&h, &m);
}

/* Where records say when they were, 0 is what one says. */
static void records_of_time_zero(void **state)
{
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	for (uint64_t i = 0; i < 3; i++) {
		flat(&m, 1, 2, 10 + i);
		made_words(&m, ROUND, 0, NULL, 0);
	}
	made_words(&m, EXIT, 0, WORDS(pair(&m, 2, 2), pair(&m, 2, 2), 0, pair(&m, 2, 2), 0));
	h = hear(&m);
	assert_int_equal(h.records.n, 1);
	assert_int_equal(h.records.v[0]->fork->time, 0);
	stop(&h, &m);
}

/* Of a pipe each record means the same in every pass, also one before the event that says what it is; what else comes
 * with the events counts once. */
static void events_behind_samples(void **state)
{
	struct made_perfdata m = { .pipe = true };
	struct heard h;

	(void)state;
	flat(&m, 1, 2, 10);
	made_begin(&m, EVENT_UPDATE, 0);
	made_word(&m, 2);
	made_word(&m, 70);
	made_text(&m, "too-early");
	made_end(&m);
	made_event(&m, &plain);
	made_words(&m, AUXTRACE_INFO, 0, WORDS(1, 0));
	made_words(&m, AUXTRACE, 0, WORDS(8, 0, 0, 0, 0));
	made_raw(&m, "ABCDEFGH", 8);
	flat(&m, 3, 2, 12);
	h = hear(&m);
	assert_int_equal(h.end, GUS_READ_END);
	assert_int_equal(h.samples.n, 2);
	assert_int_equal(h.samples.v[0].event, 0);
	assert_int_equal(h.samples.v[0].time, 10);
	assert_int_equal(h.footer->events[0]->samples, 2);
	assert_int_equal(h.footer->end_ns, 12);
	assert_false(says(&h, "no event's"));
	assert_true(says(&h, "8 bytes of AUX data (intel-pt) in 1 piece are kept"));
	stop(&h, &m);
}

/* Of a command a megabyte is kept: at its bound, and a byte more; what comes behind it is left out. */
static void long_commands(void **state)
{
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct made_perfdata m = { 0 };
		struct made_bytes b = { 0 };
		char *text = gus_zalloc((1 << 20) + 1);
		const Gusprof__Header *header;
		struct heard h;

		made_event(&m, &plain);
		flat(&m, 1, 1, 10);
		memset(text, 'x', (1 << 20) - 4 + more);
		made_put(&m, &b, 2 + more, 4);
		made_put_text(&m, &b, "perf");
		made_put_text(&m, &b, text);
		if (more)
			made_put_text(&m, &b, "behind");
		made_feature(&m, 11, &b);
		h = hear(&m);
		header = gus_reader_header(h.reader);
		assert_int_equal(header->n_command, 2);
		assert_int_equal(strlen(header->command[1]), (1 << 20) - 4);
		assert_int_equal(says(&h, "the command was longer than a megabyte"), more);
		gus_vec_free(&b);
		free(text);
		stop(&h, &m);
	}
}

/* Build ids stand behind the data, of 20 bytes or fewer; mappings get them by path, unless they bring their own. */
static void build_ids(void **state)
{
	struct made_perfdata m = { 0 };
	struct made_bytes b = { 0 };
	const struct { const char *path; uint8_t first; uint16_t misc; uint8_t size; } ids[] = {
		{ "/lib/b", 0xb1, USER, 0 }, { "/lib/a", 0xa1, USER | 1 << 15, 16 },
		{ "[kernel.kallsyms]", 0xcc, KERNEL, 0 },
	};
	const Gusprof__Header *header;
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	for (int i = 0; i < 2; i++) {
		made_begin(&m, MMAP, USER);
		made_word(&m, pair(&m, 2, 2));
		made_word(&m, 0x1000);
		made_word(&m, 0x1000);
		made_word(&m, 0);
		made_text(&m, i ? "/lib/b" : "/lib/a");
		made_word(&m, pair(&m, 2, 2));
		made_word(&m, 5);
		made_end(&m);
	}
	flat(&m, 1, 2, 10);
	for (int i = 0; i < 3; i++) {
		size_t size = 8 + 4 + 24 + 24;

		made_put(&m, &b, 0, 4);
		made_put(&m, &b, ids[i].misc, 2);
		made_put(&m, &b, size, 2);
		made_put(&m, &b, UINT32_MAX, 4);
		for (int k = 0; k < 20; k++)
			made_put(&m, &b, (uint64_t)ids[i].first + (uint64_t)k, 1);
		made_put(&m, &b, ids[i].size, 1);
		made_put(&m, &b, 0, 3);
		gus_vec_append(&b, (const uint8_t *)ids[i].path, strlen(ids[i].path));
		for (size_t k = strlen(ids[i].path); k < 24; k++)
			made_put(&m, &b, 0, 1);
	}
	made_feature(&m, 2, &b);
	h = hear(&m);
	assert_int_equal(h.records.v[0]->mmap->build_id.len, 16);
	assert_int_equal(h.records.v[0]->mmap->build_id.data[15], 0xa1 + 15);
	assert_int_equal(h.records.v[1]->mmap->build_id.len, 20);
	assert_int_equal(h.records.v[1]->mmap->build_id.data[0], 0xb1);
	header = gus_reader_header(h.reader);
	assert_int_equal(header->host->kernel_build_id.len, 20);
	assert_int_equal(header->host->kernel_build_id.data[19], 0xcc + 19);
	gus_vec_free(&b);
	stop(&h, &m);
}

/* What the header says of machine, command, names and groups of events; what nothing is made of is kept as it is. */
static void features(void **state)
{
	struct made_perfdata m = { 0 };
	struct made_bytes b = { 0 };
	const Gusprof__Header *header;
	struct heard h;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		made_event(&m, &(struct made_attr){ .type = i ? 4 : 10, .config = i, .sample_type = IDENTIFIER | IP |
						    TID | TIME,
						    .flags = ID_ALL, .ids = { 70 + i }, .ids_n = 1 });
	made_words(&m, SAMPLE, USER, WORDS(72, 1, pair(&m, 2, 2), 10));
	made_feature_text(&m, 3, "box");
	made_feature_text(&m, 4, "6.1.0");
	made_feature_text(&m, 5, "9.9");
	made_feature_text(&m, 6, "x86_64");
	made_put(&m, &b, 64, 4);
	made_put(&m, &b, 48, 4);
	made_feature(&m, 7, &b);
	made_feature_text(&m, 8, "A CPU");
	made_feature_text(&m, 9, "GenuineIntel,6,85,4");
	b.n = 0;
	made_put(&m, &b, 2, 4);
	made_put_text(&m, &b, "perf");
	made_put_text(&m, &b, "record");
	made_feature(&m, 11, &b);
	b.n = 0; /* names: the last event's and the first one's; attributes of 8 bytes, which nobody looks at */
	made_put(&m, &b, 2, 4);
	made_put(&m, &b, 8, 4);
	for (uint64_t i = 0; i < 2; i++) {
		made_put(&m, &b, 0, 8);
		made_put(&m, &b, 2, 4);
		made_put_text(&m, &b, i ? "first" : "third");
		made_put(&m, &b, i ? 70 : 72, 8);
		made_put(&m, &b, 99, 8);
	}
	made_feature(&m, 12, &b);
	b.n = 0;
	made_put(&m, &b, 1, 4);
	made_put(&m, &b, 10, 4);
	made_put_text(&m, &b, "uncore");
	made_feature(&m, 16, &b);
	b.n = 0;
	made_put(&m, &b, 1, 4);
	made_put_text(&m, &b, "group");
	made_put(&m, &b, 1, 4);
	made_put(&m, &b, 2, 4);
	made_feature(&m, 17, &b);
	b.n = 0; /* caches: instructions, then data */
	made_put(&m, &b, 1, 4);
	made_put(&m, &b, 2, 4);
	for (int i = 0; i < 2; i++) {
		made_put(&m, &b, 1, 4);
		made_put(&m, &b, i ? 128 : 32, 4);
		made_put(&m, &b, 64, 4);
		made_put(&m, &b, 8, 4);
		made_put_text(&m, &b, i ? "Data" : "Instruction");
		made_put_text(&m, &b, "32K");
		made_put_text(&m, &b, "0");
	}
	made_feature(&m, 20, &b);
	h = hear(&m);
	header = gus_reader_header(h.reader);
	assert_int_equal(header->host->line_size, 128);
	assert_int_equal(h.footer->n_notices, 0); /* the last of them ends with the file */
	assert_string_equal(header->host->hostname, "box");
	assert_string_equal(header->host->kernel, "6.1.0");
	assert_string_equal(header->host->machine, "x86_64");
	assert_string_equal(header->host->cpu_model, "A CPU");
	assert_string_equal(header->host->cpu_vendor, "GenuineIntel");
	assert_true(header->host->cpu_family == 6 && header->host->cpu_model_number == 85 &&
		    header->host->cpu_stepping == 4);
	assert_int_equal(header->host->cpus_online, 48);
	assert_string_equal(header->producer, "perf 9.9");
	assert_int_equal(header->n_command, 2);
	assert_string_equal(header->command[1], "record");
	assert_string_equal(header->events[0]->name, "first");
	assert_string_equal(header->events[1]->name, "raw 0x1");
	assert_string_equal(header->events[2]->name, "third");
	assert_string_equal(header->events[0]->pmu, "uncore");
	assert_true(header->events[0]->group == 0 && header->events[1]->group == 1 && header->events[2]->group == 1);
	assert_int_equal(header->main_event, 2);
	assert_string_equal(header->tier, "B");
	assert_string_equal(header->origin->format, "perf.data");
	assert_int_equal(header->origin->n_features, 6); /* 5, 7, 9, 16, 17, 20 */
	assert_int_equal(header->origin->features[1]->number, 7);
	assert_int_equal(header->origin->features[1]->bytes.len, 8);
	gus_vec_free(&b);
	stop(&h, &m);
}

/* A pipe tells a name in a record of its own, by an id of the event. */
static void names_in_a_pipe(void **state)
{
	struct made_perfdata m = { .pipe = true };
	struct made_attr a = plain;
	struct heard h;

	(void)state;
	a.sample_type |= ID;
	a.ids_n = 1;
	a.ids[0] = 5;
	made_event(&m, &a);
	for (uint64_t kind = 0; kind < 4; kind++) { /* 2 is a name */
		made_begin(&m, EVENT_UPDATE, 0);
		made_word(&m, kind);
		made_word(&m, 5);
		made_text(&m, kind == 2 ? "the name" : "no name");
		made_end(&m);
	}
	made_words(&m, SAMPLE, USER, WORDS(1, pair(&m, 2, 2), 10, 5));
	h = hear(&m);
	assert_string_equal(gus_reader_header(h.reader)->events[0]->name, "the name");
	stop(&h, &m);
}

static void expect_user_registers(const struct gus_sample *s, unsigned abi, size_t n)
{
	unsigned told = 0;
	size_t bytes = 0;
	const uint64_t *v = gus_sample_extra(s, GUS_EXTRA_USER_REGS, &bytes, &told);

	assert_int_equal(bytes, n * sizeof(*v));
	assert_int_equal(told, n ? abi : 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(v[i], 100 + i);
}

/* Of the registers that were recorded ours are taken, in our order. Without all of them there is no stack either, and
 * those that there are stay as they are. */
static void registers(void **state)
{
	const struct { const char *machine; uint64_t mask; unsigned n; uint64_t first, last; } cases[] = {
		{ "x86_64", 0xff01ff, 17, 100, 116 },
		{ "x86_64", 0xff0fff, 17, 100, 119 }, /* three more in between */
		{ "x86_64", 0xff00ff, 0, 0, 0 },      /* without the address */
		{ "aarch64", 0x1ffffffff, 33, 100, 132 },
		{ "arm64", 0x3ffffffff, 33, 100, 132 },
		{ "riscv64", 0xff01ff, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		struct heard h;

		made_event(&m, &(struct made_attr){ .type = 1, .sample_type = IP | TID | TIME | REGS | STACK,
						    .flags = ID_ALL | OWN_CHAIN_OUT, .regs_user = cases[i].mask,
							.stack_user = 16 });
		made_begin(&m, SAMPLE, USER);
		for (uint64_t w = 0; w < 3; w++)
			made_word(&m, w);
		made_word(&m, 2);
		for (int r = 0; r < __builtin_popcountll(cases[i].mask); r++)
			made_word(&m, 100 + (uint64_t)r);
		made_word(&m, 16);
		made_word(&m, 0xaaaa);
		made_word(&m, 0xbbbb);
		made_word(&m, 16);
		made_end(&m);
		made_feature_text(&m, 6, cases[i].machine);
		h = hear(&m);
		assert_int_equal(h.samples.n, 1);
		assert_int_equal(h.samples.v[0].regs_n, cases[i].n);
		assert_int_equal(h.samples.v[0].stack_n, cases[i].n ? 2 : 0);
		assert_int_equal(gus_reader_header(h.reader)->events[0]->regs_user, cases[i].mask);
		expect_user_registers(&h.samples.v[0], 2,
				      cases[i].n ? 0 : (size_t)__builtin_popcountll(cases[i].mask));
		if (cases[i].n) {
			assert_int_equal(h.samples.v[0].regs[0], cases[i].first);
			assert_int_equal(h.samples.v[0].regs[cases[i].n - 1], cases[i].last);
			assert_int_equal(h.samples.v[0].stack[1], 0xbbbb);
		}
		assert_string_equal(gus_reader_header(h.reader)->call_graph, "dwarf");
		stop(&h, &m);
	}
}

/* Registers without a stack are kept whatever they are, and callers are those of the chain. */
static void registers_alone(void **state)
{
	static const struct { uint64_t abi, mask; } cases[] = { { 2, 0xff01ff }, { 2, 5 }, { 1, 0xff01ff }, { 0, 5 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = cases[i].abi ? (size_t)__builtin_popcountll(cases[i].mask) : 0;
		struct made_perfdata m = { 0 };
		struct heard h;

		made_event(&m, &(struct made_attr){ .type = 1, .sample_type = IP | TID | TIME | CHAIN | REGS,
						    .flags = ID_ALL, .regs_user = cases[i].mask });
		made_begin(&m, SAMPLE, USER);
		for (uint64_t w = 0; w < 3; w++)
			made_word(&m, w);
		made_word(&m, 3);
		made_word(&m, (uint64_t)-512);
		made_word(&m, 0);
		made_word(&m, 0x20);
		made_word(&m, cases[i].abi);
		for (size_t r = 0; r < n; r++)
			made_word(&m, 100 + r);
		made_end(&m);
		made_feature_text(&m, 6, "x86_64");
		h = hear(&m);
		assert_int_equal(h.samples.v[0].regs_n, 0);
		assert_int_equal(h.samples.v[0].chain_n, 2);
		assert_int_equal(h.samples.v[0].callers, 0);
		expect_user_registers(&h.samples.v[0], (unsigned)cases[i].abi, n);
		stop(&h, &m);
	}
}

/* A chain that has the user's callers is not looked for in the stack as well, unless the recorder left these out. */
static void chains_beside_stacks(void **state)
{
	(void)state;
	for (unsigned left_out = 0; left_out < 2; left_out++) {
		struct made_perfdata m = { 0 };
		struct heard h;

		made_event(&m, &(struct made_attr){ .type = 1, .sample_type = IP | TID | TIME | CHAIN | REGS | STACK,
						    .flags = ID_ALL | (left_out ? OWN_CHAIN_OUT : 0),
							.regs_user = 0xff01ff });
		made_begin(&m, SAMPLE, USER);
		made_word(&m, 0x10);
		made_word(&m, pair(&m, 2, 2));
		made_word(&m, 5);
		made_word(&m, 3);
		made_word(&m, (uint64_t)-512);
		made_word(&m, 0x10);
		made_word(&m, 0x20);
		made_word(&m, 2);
		for (int r = 0; r < 17; r++)
			made_word(&m, 1);
		made_word(&m, 0);
		made_end(&m);
		made_feature_text(&m, 6, "x86_64");
		h = hear(&m);
		assert_int_equal(h.samples.v[0].regs_n, left_out ? 17 : 0);
		assert_int_equal(h.samples.v[0].chain_n, 2);
		assert_int_equal(h.samples.v[0].chain[1], 0x20);
		stop(&h, &m);
	}
}

/* The CPU's stack of calls becomes callers behind the kernel's, and no branches are left. */
static void stacks_of_calls(void **state)
{
	const uint64_t type = IP | TID | TIME | CHAIN | BRANCH, user = (uint64_t)-512, kernel = (uint64_t)-128;
	const uint64_t chains[2][5] = { { user, 0x21, 0x31 }, { kernel, user, 0x15, 0x21, 0x31 } };
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &(struct made_attr){ .type = 0, .sample_type = type, .flags = ID_ALL | OWN_CHAIN_OUT,
					    .branch = 1 << 11 | 1 });
	for (int in_kernel = 0; in_kernel < 2; in_kernel++) {
		made_begin(&m, SAMPLE, in_kernel ? KERNEL : USER);
		made_word(&m, 0x10);
		made_word(&m, pair(&m, 2, 2));
		made_word(&m, 5);
		made_word(&m, in_kernel);
		for (int i = 0; i < in_kernel; i++)
			made_word(&m, kernel);
		made_word(&m, 2);
		for (uint64_t i = 0; i < 2; i++) {
			made_word(&m, 0x20 + 0x10 * i);
			made_word(&m, 0x15 + i);
			made_word(&m, 0);
		}
		made_end(&m);
	}
	h = hear(&m);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(h.samples.v[i].branches_n, 0);
		assert_int_equal(h.samples.v[i].callers, GUS_CALLERS_BRANCHES);
		assert_int_equal(h.samples.v[i].chain_n, i ? 5 : 3);
		assert_memory_equal(h.samples.v[i].chain, chains[i], h.samples.v[i].chain_n * sizeof(uint64_t));
	}
	assert_string_equal(gus_reader_header(h.reader)->call_graph, "lbr");
	assert_int_equal(gus_reader_header(h.reader)->branch_type, 0);
	stop(&h, &m);
}

/* Of a group only the leader samples: each member that has counted since has a sample, which stands for that. Counts of
 * different threads are different ones where events are inherited, and those of one counter alone likewise. */
static void counts_of_groups(void **state)
{
	const uint64_t type = IDENTIFIER | IP | TID | TIME | READ, group = 1 << 3 | 1 << 2 | 1; /* GROUP, ID, ENABLED */
	const struct { uint32_t tid; uint64_t first, second; } reads[] = {
		{ 5, 100, 7 }, { 5, 150, 7 }, { 6, 130, 9 }, { 5, 151, 8 }, { 5, 140, 8 },
	};
	static const struct { uint32_t tid, event; uint64_t period; } want[2][7] = {
		{ { 5, 0, 100 }, { 5, 1, 7 }, { 5, 0, 50 }, { 6, 1, 2 }, { 5, 0, 21 } },
		{ { 5, 0, 100 }, { 5, 1, 7 }, { 5, 0, 50 }, { 6, 0, 130 }, { 6, 1, 9 }, { 5, 0, 1 }, { 5, 1, 1 } },
	};

	(void)state;
	for (unsigned inherited = 0; inherited < 2; inherited++) {
		struct made_perfdata m = { 0 };
		size_t n = inherited ? 7 : 5;
		struct heard h;

		for (uint64_t i = 0; i < 2; i++)
			made_event(&m, &(struct made_attr){ .type = 1, .config = i, .sample_type = type,
							    .read_format = group,
							    .flags = ID_ALL | (inherited ? 2 : 0), .ids = { 70 + i },
								.ids_n = 1 });
		for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++)
			made_words(&m, SAMPLE, USER, WORDS(70, 1, pair(&m, 5, reads[i].tid), 10 + i, 2, 999,
							   reads[i].first, 70,
							   reads[i].second, 71));
		h = hear(&m);
		assert_int_equal(h.samples.n, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(h.samples.v[i].tid, want[inherited][i].tid);
			assert_int_equal(h.samples.v[i].event, want[inherited][i].event);
			assert_int_equal(h.samples.v[i].period, want[inherited][i].period);
			assert_int_equal(h.samples.v[i].extras_n, 0);
		}
		assert_int_equal(h.footer->events[0]->samples, inherited ? 4 : 3);
		assert_int_equal(h.footer->events[1]->samples, inherited ? 3 : 2);
		stop(&h, &m);
	}
}

static void counts_of_one(void **state)
{
	(void)state;
	for (uint64_t ids = 0; ids < 2; ids++) {
		struct made_perfdata m = { 0 };
		struct heard h;

		made_event(&m, &(struct made_attr){ .type = 1, .sample_type = IDENTIFIER | IP | TID | TIME | READ,
						    .read_format = 1 | ids << 2, .flags = ID_ALL, .ids = { 70 },
							.ids_n = 1 });
		for (uint64_t i = 0; i < 2; i++)
			made_words(&m, SAMPLE, USER, WORDS(70, 1, pair(&m, 5, 5), 10 + i, 1000 + i * 30, 5, 70));
		h = hear(&m);
		assert_int_equal(h.samples.n, 2);
		assert_int_equal(h.samples.v[0].period, 1000);
		assert_int_equal(h.samples.v[1].period, 30);
		stop(&h, &m);
	}
}

/* Records that nothing is made of come as they are, without their trailer; those of no known type are counted. */
static void kept_records(void **state)
{
	(void)state;
	for (unsigned big = 0; big < 2; big++) {
		struct made_perfdata m = { .big = big };
		struct heard h;

		made_event(&m, &plain);
		made_begin(&m, CGROUP, 3);
		made_word(&m, 77);
		made_text(&m, "/x");
		made_word(&m, pair(&m, 5, 6));
		made_word(&m, 123);
		made_end(&m);
		made_words(&m, 40, 0, WORDS(1, pair(&m, 5, 6), 124));
		flat(&m, 1, 2, 10);
		made_words(&m, 200, 0, WORDS(1));
		flat(&m, 1, 2, 10);
		made_words(&m, 0x8001, 1, WORDS(1)); /* of 65,560 bytes in all */
		for (int i = 0; i < 8192; i++)
			made_raw(&m, "whatever", 8);
		flat(&m, 1, 2, 10);
		made_feature_text(&m, 129, ""); /* which simpleperf alone has */
		h = hear(&m);
		assert_int_equal(h.samples.n, 3);
		assert_int_equal(h.records.n, 2);
		assert_true(h.records.v[0]->kept->type == CGROUP && h.records.v[0]->kept->misc == 3);
		assert_true(h.records.v[0]->kept->time == 123 && h.records.v[0]->kept->tid == 6);
		assert_int_equal(h.records.v[0]->kept->cpu, UINT32_MAX); /* which is not told */
		assert_int_equal(h.records.v[0]->kept->body.len, 16);
		assert_int_equal(h.records.v[0]->kept->body.data[big ? 7 : 0], 77);
		assert_int_equal(h.records.v[1]->kept->type, 40);
		assert_int_equal(gus_reader_header(h.reader)->origin->big_endian, big);
		assert_true(says(&h, "2 records are of types"));
		assert_true(says(&h, "40 (1), 200 (1)"));
		assert_true(says(&h, "1 record is an addition of simpleperf's"));
		stop(&h, &m);
	}
}

/* What was lost and paused counts to its event; what the hardware dropped to the one of its trailer. */
static void losses(void **state)
{
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	for (uint64_t i = 0; i < 2; i++)
		made_event(&m, &(struct made_attr){ .type = 1, .sample_type = IDENTIFIER | IP | TID | TIME,
						    .flags = ID_ALL,
						    .ids = { 70 + i }, .ids_n = 1 });
	made_words(&m, LOST, 0, WORDS(71, 12, pair(&m, 2, 2), 11, 71));
	made_words(&m, THROTTLE, 0, WORDS(12, 71, 0, pair(&m, 2, 2), 12, 71));
	made_words(&m, THROTTLE + 1, 0, WORDS(13, 71, 0, pair(&m, 2, 2), 13, 71));
	made_words(&m, AUX, 0, WORDS(0, 0, 1 | 8, pair(&m, 2, 2), 13, 71));
	made_words(&m, SAMPLE, GUEST_USER, WORDS(70, 1, pair(&m, 2, 2), 10));
	made_words(&m, SAMPLE, USER, WORDS(79, 1, pair(&m, 2, 2), 14));
	made_words(&m, COMM, USER, WORDS(1));
	h = hear(&m);
	assert_int_equal(h.footer->events[0]->lost, 0);
	assert_int_equal(h.footer->events[1]->lost, 12);
	assert_int_equal(h.footer->events[1]->throttles, 1);
	assert_int_equal(h.footer->events[0]->samples, 1);
	assert_int_equal(h.footer->events[1]->samples, 0);
	assert_int_equal(h.samples.n, 2);
	assert_int_equal(h.samples.v[0].mode, GUS_MODE_GUEST_USER);
	assert_int_equal(h.samples.v[1].event, 2);
	assert_true(says(&h, "1 sample has an id that is no event's"));
	assert_true(says(&h, "1 sample is of a guest"));
	assert_true(says(&h, "1 record is shorter"));
	assert_true(says(&h, "1 piece of AUX data was cut"));
	assert_true(says(&h, "1 piece of AUX data lacks samples"));
	assert_false(says(&h, "gaps"));
	stop(&h, &m);
}

/* What a file says was lost may be more than can be counted: it does not begin at 0 again. */
static void losses_beyond_counting(void **state)
{
	static const struct { uint64_t first, second, sum; } lost[] = {
		{ INT64_MAX - 5, 4, INT64_MAX - 1 }, { INT64_MAX - 5, 5, INT64_MAX }, { INT64_MAX - 5, 6, INT64_MAX },
		{ UINT64_MAX, 1, INT64_MAX }, { 1, UINT64_MAX, INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++) {
		struct made_perfdata m = { 0 };
		struct heard h;

		made_event(&m, &plain);
		made_words(&m, LOST, 0, WORDS(1, lost[i].first, pair(&m, 2, 2), 10));
		made_words(&m, LOST, 0, WORDS(1, lost[i].second, pair(&m, 2, 2), 11));
		h = hear(&m);
		assert_int_equal(h.footer->events[0]->lost, lost[i].sum);
		stop(&h, &m);
	}
}

/* Packed records may begin in one piece and end in the next; those of the later kind say how much of them counts. */
static void packed_records(void **state)
{
	(void)state;
	for (unsigned later = 0; later < 2; later++) {
		struct made_perfdata m = { 0 };
		ZSTD_CStream *z = ZSTD_createCStream();
		uint8_t out[4096];
		struct heard h;
		size_t at = 0;

		made_event(&m, &plain);
		m.packing = true;
		for (unsigned i = 0; i < 100; i++)
			flat(&m, i, 1, 1000 + i);
		m.packing = false;
		while (at < m.packed.n) {
			size_t n = m.packed.n - at < 333 ? m.packed.n - at : 333;
			ZSTD_inBuffer in = { m.packed.v + at, n, 0 };
			ZSTD_outBuffer to = { out, sizeof(out), 0 };

			ZSTD_compressStream(z, &to, &in);
			assert_int_equal(ZSTD_flushStream(z, &to), 0);
			made_begin(&m, later ? PACKED2 : PACKED, 0);
			if (later)
				made_word(&m, to.pos);
			made_raw(&m, out, to.pos);
			while (later && m.data.n % 8)
				made_raw(&m, "x", 1);
			made_end(&m);
			at += n;
		}
		ZSTD_freeCStream(z);
		h = hear(&m);
		assert_int_equal(h.samples.n, 100);
		assert_int_equal(h.samples.v[99].ip, 99);
		assert_int_equal(h.end, GUS_READ_END);
		gus_reader_rewind(h.reader);
		hear_all(&h, 1u << GUS_FRAME_SAMPLES);
		assert_int_equal(h.samples.n, 200);
		stop(&h, &m);
	}
}

/* A piece that cannot be unpacked is a corrupt place; those that go on behind it, and a record without an end, are told
 * as what they are; what is not packed, and a frame that begins anew, are read. */
static void packed_records_that_are_broken(void **state)
{
	static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, 0x38 };
	static const uint8_t one[] = { 0, 1, 0 }, half[] = { 128, 0, 0 }, no_block[] = { 7, 0, 0, 0, 0, 0 };
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	m.packing = true;
	flat(&m, 1, 1, 10);
	m.packing = false;
	for (unsigned i = 0; i < 5; i++) {
		made_begin(&m, PACKED, 0);
		if (i == 0 || i == 3)
			made_raw(&m, frame, sizeof(frame));
		made_raw(&m, i == 1 ? no_block : i == 4 ? half : one, i == 1 ? sizeof(no_block) : sizeof(one));
		if (i != 1)
			made_raw(&m, m.packed.v, i == 4 ? 16 : 32);
		made_end(&m);
		if (i == 1)
			made_words(&m, ROUND, 0, NULL, 0);
	}
	h = hear(&m);
	assert_int_equal(h.samples.n, 2);
	assert_int_equal(h.corrupt, 1);
	assert_string_equal(h.err.text, "made is corrupt at offset 289: what is packed there cannot be unpacked");
	assert_int_equal(gus_reader_damage(h.reader)->skipped_bytes, 6);
	assert_true(says(&h, "1 packed record goes on behind one that cannot be unpacked"));
	assert_true(says(&h, "1 record began in a packed one, and its end is in no other"));
	assert_int_equal(h.end, GUS_READ_END);
	stop(&h, &m);
}

/* Cut anywhere it gives what is whole, and says that it was cut unless it ends between two records. */
static void cut_anywhere(void **state)
{
	struct made_perfdata m = { .pipe = true };
	const struct made_bytes *whole;
	size_t begin;

	(void)state;
	made_event(&m, &plain);
	begin = 16 + m.data.n;
	for (unsigned i = 0; i < 3; i++)
		flat(&m, i, 1, 1000 + i);
	whole = made_close(&m);
	for (size_t n = 0; n <= whole->n; n++) {
		struct made_perfdata none = { 0 };
		struct made_bytes part = { .v = whole->v, .n = n };
		struct heard h = hear_fd(made_file(&part));

		if (n < begin) {
			assert_null(h.reader);
			assert_true(h.err.code == GUS_E_CORRUPT || h.err.code == GUS_E_TRUNCATED);
		} else {
			assert_int_equal(h.samples.n, (n - begin) / 32);
			assert_int_equal(h.end, (n - begin) % 32 ? GUS_READ_CUT : GUS_READ_END);
			assert_int_equal(gus_reader_damage(h.reader)->cut_bytes, (n - begin) % 32);
		}
		stop(&h, &none);
	}
	made_free(&m);
}

/* A type that nobody knows and behind which no record stands is no record, whatever its size says; of another program's
 * than simpleperf the bits above the size are flags. What comes next is found where several records are in a row. */
static void corrupt_types(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 3; form++) {
		struct made_perfdata m = { 0 };
		struct heard h;

		made_event(&m, &plain);
		for (unsigned i = 0; i < 20; i++) {
			flat(&m, i, 1, 10 + i);
			if (i == 5 && form == 0)
				m.data.v[m.record + 1] = 0x80; /* a sample's type becomes 0x8009 */
			if (i == 5 && form == 1)
				m.data.v[m.record + 6] = 0x28; /* 40 bytes, for its 32 */
			if (i == 5 && form == 2)
				m.data.v[m.record + 6] = 4;
		}
		h = hear(&m);
		assert_int_equal(h.samples.n, 19);
		assert_int_equal(h.end, GUS_READ_END);
		assert_int_equal(h.corrupt, form != 0);
		assert_int_equal(gus_reader_damage(h.reader)->skipped_bytes, form == 0 ? 0 : form == 1 ? 24 : 32);
		assert_int_equal(says(&h, "1 record is of a type that this program does not know, and was kept as it "
					  "is or passed over: 32777 (1)"), form == 0);
		assert_int_equal(h.samples.v[18].ip, 19);
		stop(&h, &m);
	}
}

/* What stands beside a record, and what the header says of the data, may end before they should: that is said. */
static void cut_beside(void **state)
{
	struct made_perfdata m = { 0 }, none = { 0 };
	const struct made_bytes *whole;
	struct made_bytes part;
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	flat(&m, 1, 1, 10);
	made_words(&m, AUXTRACE_INFO, 0, WORDS(1, 0));
	made_words(&m, AUXTRACE, 0, WORDS(64, 0, 0, 0, 0));
	for (int i = 0; i < 8; i++)
		made_raw(&m, "ABCDEFGH", 8);
	flat(&m, 2, 1, 11);
	made_feature_text(&m, 3, "box");
	whole = made_close(&m);
	for (unsigned form = 0; form < 3; form++) {
		size_t left = 104 + 128 + 32 + 24 + 48;

		part = (struct made_bytes){ .v = whole->v, .n = form == 0 ? left + 10 : form == 1 ? left + 64 :
					    whole->n - 1 };
		h = hear_fd(made_file(&part));
		assert_int_equal(h.samples.n, form == 2 ? 2 : 1);
		assert_int_equal(h.end, form == 2 ? GUS_READ_END : GUS_READ_CUT);
		assert_int_equal(h.aux.n, 1);
		assert_int_equal(h.aux.v[0]->bytes.len, form == 0 ? 10 : 64);
		assert_int_equal(gus_reader_damage(h.reader)->cut_bytes, form == 0 ? 10 : 0);
		assert_true(says(&h, "the file ends before what perf has written"));
		stop(&h, &none);
	}
	made_free(&m);
}

/* A file says how long its records are, and a record what stands beside it: one that was cut between two of them, or
 * within what stands beside the last, was cut all the same. */
static void cut_between(void **state)
{
	const uint64_t beside[] = { 64, 0, 0, 0, 0 };

	(void)state;
	for (size_t kept = 0; kept <= 3; kept++) {
		struct made_perfdata m = { 0 }, none = { 0 };
		struct made_bytes part;
		struct heard h;

		made_event(&m, &plain);
		flat(&m, 0, 1, 1000);
		flat(&m, 1, 1, 1001);
		made_words(&m, 71, 0, beside, 5); /* AUXTRACE */
		for (unsigned i = 0; i < 8; i++)
			made_put(&m, &m.data, 0, 8);
		part = *made_close(&m);
		part.n -= kept == 3 ? 0 : kept == 2 ? 8 : 64 + 48 + (kept ? 0 : 32);
		h = hear_fd(made_file(&part));
		assert_int_equal(h.samples.n, kept ? 2 : 1);
		assert_int_equal(h.end, kept == 3 ? GUS_READ_END : GUS_READ_CUT);
		assert_int_equal(gus_reader_damage(h.reader)->cut, kept < 3);
		stop(&h, &none);
		made_free(&m);
	}
}

/* A record whose size cannot be is a corrupt place, told once; what was before it counts, and one behind it that ends
 * where the records do. */
static void corrupt_size(void **state)
{
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	flat(&m, 1, 1, 10);
	made_begin(&m, SAMPLE, USER);
	made_word(&m, 1); /* it is never ended: its size is 0 */
	flat(&m, 2, 1, 11);
	h = hear(&m);
	assert_int_equal(h.samples.n, 2);
	assert_int_equal(h.corrupt, 1);
	assert_int_equal(gus_reader_damage(h.reader)->corrupt, 1);
	assert_int_equal(gus_reader_damage(h.reader)->first_offset, 104 + 128 + 32);
	stop(&h, &m);
}

/* Packets of SPE: a load at pc that took `total` cycles, from source 8, at a time. */
static void put_spe(struct made_bytes *b, uint64_t pc, uint16_t total, uint64_t ticks)
{
	const uint8_t head[] = { 0xb0 };

	gus_vec_append(b, head, 1);
	for (int i = 0; i < 8; i++)
		gus_vec_push(b, (uint8_t)(pc >> 8 * i));
	gus_vec_append(b, ((const uint8_t[]){ 0x49, 0x00, 0x43, 0x08 }), 4);
	gus_vec_push(b, 0x98);
	gus_vec_push(b, (uint8_t)total);
	gus_vec_push(b, (uint8_t)(total >> 8));
	gus_vec_push(b, 0x71);
	for (int i = 0; i < 8; i++)
		gus_vec_push(b, (uint8_t)(ticks >> 8 * i));
}

/* What stands beside records: of SPE each record is a sample, whose time follows from the counter's, also where there
 * is more than is read at a time; of another kind it comes as it is, in pieces. */
static void data_beside(void **state)
{
	enum { RECORDS = 30000 };
	const uint64_t mark = 0x1010101010101010;

	(void)state;
	for (unsigned form = 0; form < 4; form++) { /* PT; SPE by its name, and by what perf says of it in two ways */
		const unsigned spe = form > 0;
		struct made_perfdata m = { 0 };
		struct made_bytes b = { 0 }, pmus = { 0 };
		struct heard h;
		size_t all = 0;

		made_event(&m, &(struct made_attr){ .type = 12, .period = 1024, .sample_type = IP | TID | TIME,
						    .flags = ID_ALL });
		for (unsigned i = 0; i < RECORDS; i++)
			put_spe(&b, 0x400000 + 4 * i, (uint16_t)(i % 4000), 8 * i);
		if (form == 3) /* with the kinds of two CPUs, of which the second one's is a Neoverse N1 */
			made_words(&m, AUXTRACE_INFO, 0, WORDS(4, 2, 3, 12, 2, mark, 1, 3, 0x410fd080, 12, 0, mark, 3,
							       3,
							       0x410fd0c0, 12, 0));
		else
			made_words(&m, AUXTRACE_INFO, 0, WORDS(spe ? 4 : 1, form == 2 ? 12 : 0, 0, 12));
		made_begin(&m, COMM, 0);
		made_word(&m, pair(&m, 40, 44));
		made_text(&m, "thread");
		made_word(&m, pair(&m, 40, 44));
		made_word(&m, 1);
		made_end(&m);
		made_words(&m, TIME_CONV, 0, WORDS(2, 10, 5000));
		flat(&m, 1, 1, 0);
		made_begin(&m, AUXTRACE, 0);
		made_word(&m, b.n);
		made_word(&m, 64);
		made_word(&m, 99);
		made_half(&m, 1);
		made_half(&m, 44);
		made_half(&m, 3);
		made_half(&m, 0);
		made_end(&m);
		made_raw(&m, b.v, b.n);
		flat(&m, 2, 1, 0);
		made_put(&m, &pmus, 1, 4);
		made_put(&m, &pmus, 12, 4);
		made_put_text(&m, &pmus, form == 1 ? "arm_spe_0" : "other");
		made_feature(&m, 16, &pmus);
		h = hear(&m);
		assert_int_equal(h.end, GUS_READ_END);
		assert_false(says(&h, "ticks become time"));
		for (size_t i = 0; i < h.batches.n; i++)
			assert_true(h.batches.v[i].n <= 8192);
		assert_int_equal(h.samples.n, 2 + spe * RECORDS);
		for (unsigned i = 0; spe && i < RECORDS; i++) {
			const struct gus_sample *s = &h.samples.v[1 + i];

			assert_int_equal(s->ip, 0x400000 + 4 * i);
			assert_int_equal(s->weight, i % 4000);
			assert_int_equal(gus_data_source_of_kernel(s->data_source).level,
					 form == 3 ? GUS_DATA_L2 : GUS_DATA_LEVEL_UNKNOWN);
			assert_int_equal(s->time, 5000 + 20 * i);
			assert_true(s->pid == 40 && s->tid == 44 && s->cpu == 3 && s->period == 1024 &&
				    s->mode == GUS_MODE_USER);
		}
		for (size_t i = 0; i < h.aux.n; i++) {
			assert_memory_equal(h.aux.v[i]->bytes.data, b.v + all, h.aux.v[i]->bytes.len);
			assert_int_equal(h.aux.v[i]->offset, 64 + all);
			assert_true(h.aux.v[i]->reference == 99 && h.aux.v[i]->queue == 1 && h.aux.v[i]->cpu == 3);
			assert_string_equal(h.aux.v[i]->kind, "intel-pt");
			all += h.aux.v[i]->bytes.len;
		}
		assert_int_equal(all, spe ? 0 : b.n);
		assert_int_equal(says(&h, "(intel-pt) in 1 piece are kept"), !spe);
		assert_int_equal(h.footer->events[0]->samples, 2 + spe * RECORDS);
		gus_vec_free(&b);
		gus_vec_free(&pmus);
		stop(&h, &m);
	}
}

/* A piece of what stands beside, of SPE or whatever it was said to be. */
static void put_piece(struct made_perfdata *m, const struct made_bytes *b)
{
	made_words(m, AUXTRACE, 0, WORDS(b->n, 0, 0, pair(m, 0, 44), pair(m, 3, 0)));
	made_raw(m, b->v, b->n);
}

/* Of SPE what cannot be read is told, of all pieces together, and once whatever number of passes there is; without the
 * counter's rate samples have no time, and that is told if there are any. */
static void spe_in_part(void **state)
{
	static const uint8_t load[] = { 0xb0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0x49, 0, 0x01 };
	static const uint8_t unknown[] = { 0x30, 0xb0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0x01 };
	static const struct { unsigned whole, damaged, cut; const char *told[4]; } cases[] = {
		{ 0, 0, 0, { NULL, NULL, NULL, NULL } },
		{ 1, 0, 0, { NULL, NULL, NULL, "its samples have none" } },
		{ 0, 1, 0, { "1 byte of SPE's data is no packet", "1 record of SPE's is damaged", NULL, NULL } },
		{ 3, 3, 2, { "3 bytes of SPE's data are no packets", "3 records of SPE's are damaged",
			     "2 records of SPE's were cut", "its samples have none" } },
		{ 0, 0, 1, { NULL, NULL, "1 record of SPE's was cut", NULL } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned pieces = 3;
		struct made_perfdata m = { 0 };
		struct heard h;

		made_event(&m, &(struct made_attr){ .type = 12, .sample_type = IP | TID | TIME, .flags = ID_ALL });
		made_event(&m, &(struct made_attr){ .type = 1, .sample_type = IP | TID | TIME, .flags = ID_ALL });
		made_words(&m, AUXTRACE_INFO, 0, WORDS(4, 12, 0));
		for (unsigned k = 0; k < pieces; k++) {
			struct made_bytes b = { 0 };

			gus_vec_append(&b, ((const uint8_t[8]){ 0 }), 8);
			if (k < cases[i].whole)
				gus_vec_append(&b, load, sizeof(load));
			if (k < cases[i].damaged)
				gus_vec_append(&b, unknown, sizeof(unknown));
			if (k < cases[i].cut)
				gus_vec_append(&b, load, sizeof(load) - 1);
			put_piece(&m, &b);
			gus_vec_free(&b);
		}
		h = hear(&m);
		assert_int_equal(h.samples.n, cases[i].whole);
		for (size_t k = 0; k < h.samples.n; k++)
			assert_true(h.samples.v[k].time == 0 && h.samples.v[k].event == 0);
		for (unsigned k = 0, told = 0; k < 4; k++) {
			told += cases[i].told[k] != NULL;
			if (cases[i].told[k])
				assert_true(says(&h, cases[i].told[k]));
			if (k == 3)
				assert_int_equal(h.footer->n_notices, told);
		}
		stop(&h, &m);
	}
}

/* A recording lasts from its first sample to its last one, also where all of them stand beside the records. */
static void span_of_spe(void **state)
{
	struct made_perfdata m = { 0 };
	struct made_bytes b = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &(struct made_attr){ .type = 12, .sample_type = IP | TID | TIME, .flags = ID_ALL });
	made_words(&m, TIME_CONV, 0, WORDS(2, 10, 5000));
	made_words(&m, AUXTRACE_INFO, 0, WORDS(4, 12, 0));
	put_spe(&b, 0x400000, 1, 800);
	put_spe(&b, 0x400004, 1, 80);
	put_spe(&b, 0x400008, 1, 400);
	put_piece(&m, &b);
	h = hear(&m);
	assert_int_equal(h.samples.n, 3);
	assert_int_equal(gus_reader_header(h.reader)->clock->start_ns, 5200);
	assert_int_equal(h.footer->end_ns, 7000);
	gus_vec_free(&b);
	stop(&h, &m);
}

/* SPE's data of a recording without an event of SPE's make no samples. */
static void spe_of_nobody(void **state)
{
	static const uint8_t load[] = { 0xb0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0x49, 0, 0x01 };
	struct made_bytes b = { 0 };
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	gus_vec_append(&b, load, sizeof(load));
	made_event(&m, &plain);
	made_words(&m, AUXTRACE_INFO, 0, WORDS(4, 12, 0));
	flat(&m, 1, 2, 10);
	put_piece(&m, &b);
	h = hear(&m);
	assert_int_equal(h.samples.n, 1);
	assert_int_equal(h.footer->events[0]->samples, 1);
	assert_true(says(&h, "12 bytes of SPE's are left out: no event of the recording is theirs"));
	assert_int_equal(h.footer->n_notices, 1);
	gus_vec_free(&b);
	stop(&h, &m);
}

/* Each flag of pieces of AUX data counts by itself, and goes on counting. */
static void flags_of_pieces(void **state)
{
	const uint64_t flags[] = { 1, 4, 8, 1, 4, 8, 0, 2 };
	struct made_perfdata m = { 0 };
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		made_words(&m, AUX, 0, WORDS(0, 0, flags[i], pair(&m, 2, 2), 13));
	h = hear(&m);
	assert_true(says(&h, "2 pieces of AUX data were cut"));
	assert_true(says(&h, "2 pieces of AUX data lack samples"));
	assert_true(says(&h, "2 pieces of AUX data have gaps"));
	stop(&h, &m);
}

/* Which types are not known: those between the kernel's and perf's, and behind these. Of eight how many there are is
 * told, of a thousand they are counted. */
static void unknown_types(void **state)
{
	static const struct { uint32_t first, n; const char *told; } cases[] = {
		{ 22, 1, NULL }, { 23, 1, "1 record is of a type that this program does not know, and was kept as it "
				   "is or passed over: 23 (1)" },
		{ 63, 1, "passed over: 63 (1)" }, { 64, 21, NULL }, { 85, 1, "passed over: 85 (1)" },
		{ 85, 8, "8 records are of types that this program does not know, and were kept as they are or "
			 "passed over: 85 (1), 86 (1), 87 (1), 88 (1), 89 (1), 90 (1), 91 (1), 92 (1)" },
		{ 85, 9, "9 records are of types that this program does not know, and were kept as they are or "
			 "passed over: 85 (1), 86 (1), 87 (1), 88 (1), 89 (1), 90 (1), 91 (1), 92 (1), ..." },
		{ 85, 999, "1000 records are" }, { 85, 1000, "1001 records are" }, { 85, 1001, "1001 records are" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		size_t length = cases[i].told ? strlen(cases[i].told) : 0;
		struct heard h;

		made_event(&m, &plain);
		for (uint32_t k = 0; k < cases[i].n; k++) {
			flat(&m, 1, 2, 10);
			made_words(&m, cases[i].first + k, 0, WORDS(0, pair(&m, 2, 2), 10));
		}
		flat(&m, 1, 2, 10);
		if (cases[i].n > 100) /* the first one again */
			made_words(&m, cases[i].first, 0, WORDS(0, pair(&m, 2, 2), 10));
		h = hear(&m);
		for (size_t k = 0; !length && k < h.footer->n_notices; k++)
			assert_null(strstr(h.footer->notices[k], "does not know"));
		if (length)
			assert_true(says(&h, cases[i].told));
		if (length && cases[i].n < 10)
			assert_string_equal(h.footer->notices[0] + strlen(h.footer->notices[0]) - length,
					    cases[i].told);
		stop(&h, &m);
	}
}

/* Of a file the words of its header: where its events are, and how long its records. */
static void set_word(struct made_bytes *b, size_t at, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		b->v[at + i] = (uint8_t)(value >> 8 * i);
}

/* Records that are said to be as long as can be told, and longer, end with the file: it was cut. */
static void endless(void **state)
{
	const uint64_t sizes[] = { 64 + 24 + 48 + 256, 64 + 24 + 48 + 257, INT64_MAX,
				   UINT64_MAX - 232, UINT64_MAX - 231, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct made_perfdata m = { 0 }, none = { 0 };
		struct heard h;

		made_event(&m, &plain);
		flat(&m, 1, 1, 10);
		flat(&m, 2, 1, 11);
		made_words(&m, AUXTRACE_INFO, 0, WORDS(1, 0));
		made_words(&m, AUXTRACE, 0, WORDS(256, 0, 0, 0, 0));
		for (unsigned k = 0; k < 256 / 8; k++)
			made_put(&m, &m.data, 0, 8);
		made_close(&m);
		set_word(&m.file, 48, sizes[i]);
		h = hear_fd(made_file(&m.file));
		assert_int_equal(h.samples.n, 2);
		assert_int_equal(h.aux.v[0]->bytes.len, 256);
		assert_int_equal(h.end, i ? GUS_READ_CUT : GUS_READ_END);
		stop(&h, &none);
		made_free(&m);
	}
}

/* Ids may go to the file's end, and no further; events have to lie in it. */
static void events_at_the_end(void **state)
{
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct made_perfdata m = { 0 }, none = { 0 };
		struct heard h;

		made_event(&m, &plain);
		flat(&m, 1, 1, 10);
		flat(&m, 2, 1, 11);
		made_close(&m);
		set_word(&m.file, 104 + 112, m.file.n - 16);
		set_word(&m.file, 104 + 120, 16 + 8 * more);
		h = hear_fd(made_file(&m.file));
		assert_int_equal(h.reader != NULL, !more);
		if (more)
			assert_non_null(strstr(h.err.text, "an event has 3 ids at offset 280, which is more than"));
		stop(&h, &none);
		set_word(&m.file, 24, m.file.n - 128 + more);
		if (!more)
			memmove(m.file.v + m.file.n - 128, m.file.v + 104, 112);
		memset(m.file.v + m.file.n - 16, 0, 16); /* no ids */
		h = hear_fd(made_file(&m.file));
		assert_int_equal(h.reader != NULL, !more);
		if (more)
			assert_non_null(strstr(h.err.text, "it ends before its events do"));
		stop(&h, &none);
		made_free(&m);
	}
}

/* What is no record at the end of a file that was cut reaches to that end, and the cut is told as well. */
static void corrupt_and_cut(void **state)
{
	struct made_perfdata m = { 0 }, none = { 0 };
	struct made_bytes part;
	struct heard h;

	(void)state;
	made_event(&m, &plain);
	flat(&m, 1, 1, 10);
	for (unsigned i = 0; i < 8; i++)
		made_put(&m, &m.data, 0, 8);
	part = *made_close(&m);
	part.n -= 20;
	h = hear_fd(made_file(&part));
	assert_int_equal(h.samples.n, 1);
	assert_int_equal(h.corrupt, 1);
	assert_int_equal(gus_reader_damage(h.reader)->skipped_bytes, 44);
	assert_int_equal(h.end, GUS_READ_CUT);
	stop(&h, &none);
	made_free(&m);
}

static void put_file(int folder, const char *name, const struct made_bytes *b)
{
	int fd = openat(folder, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, b->v, b->n), b->n);
	close(fd);
}

/* Of perf record --threads the folder has a file with the header, and more with records alone, which come behind it
 * in the order of their numbers, up to the first that lacks. No file stays open. */
static void folders(void **state)
{
	static const char *const names[] = { "data", "data.0", "data.1", "data.3" };
	char path[] = "/tmp/gusprof-test-XXXXXX";
	struct made_perfdata m = { 0 };
	const unsigned before = open_files();
	int folder;
	struct heard h;

	(void)state;
	assert_non_null(mkdtemp(path));
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	made_event(&m, &plain);
	flat(&m, 1, 2, 10);
	put_file(folder, "data", made_close(&m));
	for (uint64_t i = 1; i < 4; i++) {
		m.data.n = 0;
		flat(&m, 10 * i, 2, 10 + i);
		put_file(folder, names[i], &m.data);
	}
	h = hear_fd(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	gus_reader_rewind(h.reader);
	hear_all(&h, 1u << GUS_FRAME_SAMPLES);
	assert_int_equal(h.samples.n, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(h.samples.v[i].ip, i % 3 ? 10 * (i % 3) : 1);
	assert_int_equal(h.footer->events[0]->samples, 3);
	assert_int_equal(h.end, GUS_READ_END);
	stop(&h, &m);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlinkat(folder, names[i], 0);
	close(folder);
	rmdir(path);
	assert_int_equal(open_files(), before);
}

/* What is no perf.data, or holds nothing that could be read, is one error. */
static void refused(void **state)
{
	struct made_perfdata none = { 0 }, other = { 0 };
	struct made_bytes text = { 0 };
	struct heard h;

	(void)state;
	gus_vec_append(&text, (const uint8_t *)"a text of more than sixteen bytes", 33);
	h = hear_fd(made_file(&text));
	assert_null(h.reader);
	assert_int_equal(h.err.code, GUS_E_CORRUPT);
	gus_vec_free(&text);
	stop(&h, &none);
	other.pipe = true;
	h = hear(&other);
	assert_null(h.reader);
	assert_string_equal(h.err.text, "made has no events: nothing says what its records are");
	stop(&h, &other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_of_a_file), cmocka_unit_test(passes), cmocka_unit_test(many_samples),
		cmocka_unit_test(one_kind), cmocka_unit_test(full_frames), cmocka_unit_test(unreadable),
		cmocka_unit_test(shrinking), cmocka_unit_test(records_of_time_zero), cmocka_unit_test(spe_in_part),
		cmocka_unit_test(span_of_spe),
		cmocka_unit_test(spe_of_nobody), cmocka_unit_test(flags_of_pieces), cmocka_unit_test(unknown_types),
		cmocka_unit_test(endless), cmocka_unit_test(events_at_the_end), cmocka_unit_test(corrupt_and_cut),
		cmocka_unit_test(folders),
		cmocka_unit_test(defaults), cmocka_unit_test(without_times),
		cmocka_unit_test(records_in_order_without_times), cmocka_unit_test(records_without_times),
		cmocka_unit_test(events_behind_samples), cmocka_unit_test(long_commands), cmocka_unit_test(build_ids),
		cmocka_unit_test(features), cmocka_unit_test(names_in_a_pipe), cmocka_unit_test(registers),
		cmocka_unit_test(registers_alone),
		cmocka_unit_test(chains_beside_stacks), cmocka_unit_test(stacks_of_calls),
		cmocka_unit_test(counts_of_groups), cmocka_unit_test(counts_of_one), cmocka_unit_test(kept_records),
		cmocka_unit_test(losses), cmocka_unit_test(losses_beyond_counting), cmocka_unit_test(packed_records),
		cmocka_unit_test(packed_records_that_are_broken),
		cmocka_unit_test(cut_anywhere), cmocka_unit_test(cut_between), cmocka_unit_test(corrupt_types),
		cmocka_unit_test(cut_beside), cmocka_unit_test(corrupt_size), cmocka_unit_test(data_beside),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
