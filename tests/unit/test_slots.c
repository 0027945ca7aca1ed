/* SPDX-License-Identifier: MIT */
/* record --topdown and what report makes of it: counts that are read and written beside samples, here of software
 * events, as no PMU is needed for those; and a recording of an Ice Lake whose tree is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/profile.h"
#include "attribution/topdown/recorded.h"
#include "base/error.h"
#include "cli/common/print.h"
#include "cli/record/slots.h"
#include "cli/screen/screen.h"
#include "cli/slots/slots.h"
#include "collector/events/pmu.h"
#include "collector/target/target.h"
#include "proto/reader.h"
#include "proto/writer.h"

enum { EVENTS = 7 };
static const char *const names[EVENTS] = { "slots", "retiring_slots", "bad_slots", "fe_slots", "be_slots", "dropped",
	"clears_begun" };

static char *borrow(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* A recording of an Ice Lake, or of a CPU that nobody has heard of. */
static struct gus_writer *begin(char *path, bool known)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Host host = GUSPROF__HOST__INIT;
	struct gus_writer *w;
	int fd;

	strcpy(path, "/tmp/gus-slots-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	event.name = borrow("cycles");
	event.unit = borrow("cycles");
	host.cpu_vendor = borrow("GenuineIntel");
	host.cpu_family = 6;
	host.cpu_model_number = known ? 0x6a : 0xff;
	header.host = &host;
	header.n_events = 1;
	header.events = events;
	w = gus_writer_create_fd(fd, path, &header, NULL);
	assert_non_null(w);
	return w;
}

/* A frame with so many readings, the first of the file with the kind. The group ran `running` of 10 ms in each. */
static void add(struct gus_writer *w, bool first, size_t readings, uint64_t running, size_t events)
{
	static const uint64_t counts[EVENTS] = { 5000, 2000, 500, 1000, 1500, 50, 20 };
	Gusprof__SlotsKind kind = GUSPROF__SLOTS_KIND__INIT, *kinds[] = { &kind };
	Gusprof__CountReading reading = GUSPROF__COUNT_READING__INIT, *list[16];
	Gusprof__Slots m = GUSPROF__SLOTS__INIT;
	uint64_t enabled[EVENTS], ran[EVENTS];
	char *texts[EVENTS];

	for (size_t i = 0; i < EVENTS; i++) {
		texts[i] = borrow(names[i]);
		enabled[i] = 10000000;
		ran[i] = running;
	}
	kind.table = borrow("icelake");
	kind.title = borrow("Intel Ice Lake");
	kind.pmu = borrow("cpu");
	kind.level = 1;
	kind.n_events = EVENTS;
	kind.events = texts;
	reading.n_count = reading.n_enabled_ns = reading.n_running_ns = events;
	reading.count = (uint64_t *)(uintptr_t)counts;
	reading.enabled_ns = enabled;
	reading.running_ns = ran;
	for (size_t i = 0; i < readings; i++)
		list[i] = &reading;
	m.kinds = kinds;
	m.n_kinds = first;
	m.readings = list;
	m.n_readings = readings;
	assert_int_equal(gus_writer_message(w, GUS_FRAME_SLOTS, &m.base, NULL), 0);
}

static void end(struct gus_writer *w)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;

	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
}

static struct gus_profile load(const char *path, struct gus_reader **reader)
{
	const struct gus_symbols_options options = { 0 };
	const struct gus_filter filter = { 0 };
	struct gus_error err = { 0 };
	struct gus_profile p;

	*reader = gus_reader_open(path, &err);
	assert_non_null(*reader);
	if (gus_profile_load(&p, *reader, &filter, &options, NULL, &err) != 0)
		fail_msg("%s", err.text);
	return p;
}

/* What stands above rows. */
static char *text_of(const struct gus_profile *p)
{
	const struct gus_screen screen = { .width = 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gus_slots_recorded_text(out, &screen, p->slots);
	fclose(out);
	return text;
}

static void reported(void **state)
{
	struct gus_reader *reader;
	struct gus_profile p;
	char path[64], *text;
	json_t *list, *node;
	struct gus_writer *w = begin(path, true);

	(void)state;
	add(w, true, 3, 10000000, EVENTS);
	add(w, false, 2, 10000000, EVENTS);
	end(w);
	p = load(path, &reader);
	assert_int_equal(p.damage.corrupt, 0);
	assert_non_null(p.slots);
	assert_int_equal(p.slots->readings.n, 5);
	text = text_of(&p);
	assert_string_equal(text, "# issue slots (Intel Ice Lake, cpu), 25.000 k in 50.00 ms:\n"
		"#              19.0 %  frontend_bound *  the front end delivered nothing\n"
		"#              32.0 %  backend_bound *   the back end took nothing\n"
		"#              40.0 %  retiring          for what retired\n"
		"#               9.0 %  bad_speculation   for what never retired, and to recover from that\n"
		"# * large enough to look at\n");
	free(text);
	list = gus_slots_recorded_json(p.slots);
	assert_int_equal(json_array_size(list), 1);
	node = json_array_get(json_object_get(json_array_get(list, 0), "nodes"), 0);
	assert_string_equal(json_string_value(json_object_get(node, "name")), "frontend_bound");
	assert_true(fabs(json_real_value(json_object_get(node, "share")) - 0.19) < 1e-9);
	assert_true(fabs(json_real_value(json_object_get(node, "correction")) + 0.01) < 1e-9);
	assert_true(json_is_null(json_object_get(node, "ci95")));
	json_decref(list);
	gus_profile_free(&p);
	gus_reader_close(reader);
	unlink(path);
}

/* Half of the time was another group's: intervals, here of counts that do not vary at all. */
static void took_turns(void **state)
{
	struct gus_reader *reader;
	struct gus_profile p;
	char path[64], *text;
	struct gus_writer *w = begin(path, true);

	(void)state;
	add(w, true, 4, 5000000, EVENTS);       /* three differences, just enough */
	end(w);
	p = load(path, &reader);
	text = text_of(&p);
	assert_non_null(strstr(text, "40.0 %  retiring          for what retired  95%: 40.0 .. 40.0 (counted 50 % of"));
	free(text);
	gus_profile_free(&p);
	gus_reader_close(reader);
	unlink(path);
	/* Of three readings no variance is known. */
	w = begin(path, true);
	add(w, true, 3, 5000000, EVENTS);
	end(w);
	p = load(path, &reader);
	text = text_of(&p);
	assert_non_null(strstr(text, "for what retired  not outside 20.0 .. 70.0 (counted 50 % of the time)"));
	free(text);
	gus_profile_free(&p);
	gus_reader_close(reader);
	unlink(path);
}

/* Two minutes: readings are added up two by two when there are 1024 of them, and none is lost. */
static void long_recording(void **state)
{
	struct gus_reader *reader;
	struct gus_profile p;
	char path[64];
	struct gus_writer *w = begin(path, true);

	(void)state;
	for (unsigned i = 0; i < 65; i++)
		add(w, i == 0, 16, 10000000, EVENTS);
	end(w);
	p = load(path, &reader);
	assert_int_equal(p.slots->readings.n, 512 + 16);
	assert_int_equal(p.slots->readings.counts.n, (512 + 16) * EVENTS);
	assert_true(fabs(p.slots->readings.counts.v[511 * EVENTS + 1].value - 2 * 2000) < 1e-9);
	assert_true(fabs(p.slots->readings.counts.v[512 * EVENTS + 1].value - 2000) < 1e-9);
	assert_true(fabs(p.slots->total.v[1].value - 1040 * 2000.) < 1e-9);
	assert_int_equal(p.slots->total.v[1].enabled_ns, 1040 * UINT64_C(10000000));
	assert_int_equal(p.slots->total.v[1].running_ns, 1040 * UINT64_C(10000000));
	gus_profile_free(&p);
	gus_reader_close(reader);
	unlink(path);
}

static void odd_recordings(void **state)
{
	struct gus_reader *reader;
	struct gus_profile p;
	char path[64], *text;
	struct gus_writer *w;

	(void)state;
	w = begin(path, false);                 /* of a CPU without a table */
	add(w, true, 1, 10000000, EVENTS);
	end(w);
	p = load(path, &reader);
	text = text_of(&p);
	assert_string_equal(text, "# issue slots were counted (Intel Ice Lake), by a table that this program has "
			    "not\n");
	assert_true(json_is_null(gus_slots_recorded_json(p.slots)));
	free(text);
	gus_profile_free(&p);
	gus_reader_close(reader);
	unlink(path);

	w = begin(path, true);                  /* readings of other events than it says; a second kind */
	add(w, true, 1, 10000000, EVENTS);
	add(w, false, 1, 10000000, EVENTS - 1);
	add(w, true, 1, 10000000, EVENTS);
	add(w, false, 1, 10000000, EVENTS);
	end(w);
	p = load(path, &reader);
	assert_int_equal(p.damage.corrupt, 2);
	assert_int_equal(p.slots->readings.n, 2);
	gus_profile_free(&p);
	gus_reader_close(reader);
	unlink(path);

	w = begin(path, true);                  /* its beginning is gone */
	add(w, false, 1, 10000000, EVENTS);
	end(w);
	p = load(path, &reader);
	assert_true(p.damage.corrupt > 0);
	text = text_of(&p);
	assert_string_equal(text, "");
	free(text);
	gus_profile_free(&p);
	gus_reader_close(reader);
	unlink(path);
}

/* Of a kind whose events have not counted, as no counter was free for them, it is said that nothing is known. */
static void never_counted(void **state)
{
	struct gus_reader *reader;
	struct gus_profile p;
	char path[64], *text;
	struct gus_writer *w = begin(path, true);

	(void)state;
	add(w, true, 4, 0, EVENTS);
	end(w);
	p = load(path, &reader);
	text = text_of(&p);
	assert_string_equal(text, "# issue slots (Intel Ice Lake, cpu): not known, as their events did not count:"
			    " no counter was free, or nothing ran\n");
	free(text);
	gus_profile_free(&p);
	gus_reader_close(reader);
	unlink(path);
}

/* Adds a message of so many kinds, with so many events each, and a reading of so many. */
static bool taken(struct gus_topdown_recorded *r, size_t kinds, size_t events, size_t of_reading)
{
	uint64_t numbers[256] = { 0 };
	char *texts[256];
	Gusprof__SlotsKind kind = GUSPROF__SLOTS_KIND__INIT, *list[32];
	Gusprof__CountReading reading = GUSPROF__COUNT_READING__INIT, *readings[] = { &reading };
	Gusprof__Slots m = GUSPROF__SLOTS__INIT;

	for (size_t i = 0; i < 256; i++)
		texts[i] = borrow("e");
	for (size_t i = 0; i < 32; i++)
		list[i] = &kind;
	kind.table = kind.title = kind.pmu = borrow("none");
	kind.events = texts;
	kind.n_events = events;
	reading.count = reading.enabled_ns = reading.running_ns = numbers;
	reading.n_count = reading.n_enabled_ns = reading.n_running_ns = of_reading;
	m.n_kinds = kinds;
	m.kinds = list;
	m.n_readings = 1;
	m.readings = readings;
	return gus_topdown_recorded_add(r, &m, NULL);
}

/* A message is taken as a whole or not at all. */
static void whole_messages(void **state)
{
	static const struct { size_t kinds, events, of_reading; bool taken; } cases[] = {
		{ 1, 3, 3, true }, { 1, 3, 2, false }, { 2, 3, 6, true }, { 2, 3, 3, false }, { 0, 0, 0, false },
		{ 16, 8, 128, true }, { 17, 1, 17, false }, { 1, 128, 128, true }, { 1, 129, 129, false },
		{ 3, 43, 129, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_topdown_recorded r = { 0 };

		if (taken(&r, cases[i].kinds, cases[i].events, cases[i].of_reading) != cases[i].taken)
			fail_msg("case %zu", i);
		assert_int_equal(r.kinds.n, cases[i].taken ? cases[i].kinds : 0);
		assert_int_equal(r.events, cases[i].taken ? cases[i].of_reading : 0);
		assert_int_equal(r.readings.n, cases[i].taken);
		gus_topdown_recorded_free(&r);
	}
}

/* A tree with all that can be said of one: parts of slots and of cycles, what is worth looking at, what was set to 0,
 * and sums that do not add up. */
static const char shown_text[] = "topdown shown \"Shown\"\nsource us \"made up\"\npmu cpu\ncounters 4\n"
	"event slots event=1 fixed\nevent a event=2 any\nevent b event=3 any\ngroup one 1 slots a b\n"
	"root-within 0.01 \"as it is made\"\n"
	"node first - 1 slots us \"What went first\"\n\tvalue a / slots\n\tabove 0.5\n\twithin 0.02 \"made, too\"\n"
	"node inner first 2 slots us \"Inside\"\n\tvalue b / slots\n\tcorrect 0.01 \"why not\"\n"
	"node nothing first 2 slots us \"Below\"\n\tvalue (b - a) / slots\n\tat-least 0\n"
	"node waiting - 1 cycles us \"Waited\"\n\tvalue b / slots\n";

static struct gus_topdown *shown_tree(struct gus_topdown_tree *tree)
{
	static const struct gus_topdown_pmu pmu = { "cpu", NULL, 0, 0 };
	static const struct gus_topdown_host host = { .pmus = &pmu, .pmus_n = 1 };
	/* The group ran half of the time; 600 of 1000 went first, of which 200 are inside. */
	static const struct gus_topdown_count counts[] = { { 500, 20, 10, true }, { 300, 20, 10, true },
		{ 100, 20, 10, true } };
	struct gus_topdown *t;

	assert_int_equal(gus_topdown_parse(&t, "shown", shown_text, strlen(shown_text), &host, NULL), 0);
	gus_topdown_evaluate(tree, t, 2, counts, NULL, 0);
	return t;
}

static char *shown_at(unsigned width, const char *before, bool notes)
{
	const struct gus_screen screen = { .width = width };
	struct gus_topdown_tree tree;
	struct gus_topdown *t = shown_tree(&tree);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gus_slots_text(out, &screen, before, notes, t, &tree);
	fclose(out);
	gus_topdown_tree_free(&tree);
	gus_topdown_free(t);
	return text;
}

static void expect_shown(unsigned width, const char *before, const char *lines)
{
	char *text = shown_at(width, before, false);

	if (!strstr(text, lines))
		fail_msg("at %u: %s", width, text);
	free(text);
}

static void shown(void **state)
{
	char *text = shown_at(0, "#", true);

	(void)state;
	assert_string_equal(text,
		"#              60.0 %  first *    What went first  not outside 30.0 .. 80.0"
		" (counted 50 % of the time)\n"
		"#              21.0 %    inner    Inside  not outside 10.5 .. 60.5 (counted 50 % of the time)\n"
		"#               0.0 %    nothing  Below  not outside 0.0 .. 50.0 (counted 50 % of the time)\n"
		"#              20.0 %  waiting    Waited (of cycles)  not outside 10.0 .. 60.0"
		" (counted 50 % of the time)\n"
		"# nothing would be -40.00 %, and the method makes that 0\n"
		"# the parts of all slots do not add up to it: 40.00 % are left over, and 31.00 % may be:"
		" as it is made\n"
		"# the parts of all cycles do not add up to it: 80.00 % are left over, and 40.00 % may be\n"
		"# * large enough to look at\n");
	free(text);
}

/* What does not fit on a line has one of its own below the names, if there is more room there. */
static void shown_narrow(void **state)
{
	static const char inner[] = "#              21.0 %    inner    Inside  not outside 10.5 .. 60.5"
				    " (counted 50 % of the time)";
	static const char waiting[] = "#              20.0 %  waiting    Waited (of cycles)";
	const char *below = "\n#                            ";
	char lines[200];

	(void)state;
	expect_shown(sizeof(inner) - 1, "#", inner);
	snprintf(lines, sizeof(lines), "Inside%snot outside 10.5 .. 60.5 (counted 50 %% of the time)\n", below);
	expect_shown(sizeof(inner) - 2, "#", lines);
	/* Without what stands before lines there is a cell more. */
	expect_shown(sizeof(inner) - 2, NULL, inner + 1);
	expect_shown(sizeof(inner) - 3, NULL, "Inside\n                            not outside 10.5");
	expect_shown(sizeof(waiting) - 1, "#", waiting);
	snprintf(lines, sizeof(lines), "waiting%sWaited (of cycles)%snot outside 10.0", below, below);
	expect_shown(sizeof(waiting) - 2, "#", lines);
	expect_shown(sizeof(waiting) - 3, NULL, waiting + 1); /* nothing would be won */
}

/* What a file says of counts may be anything: no number is too large to be shown as what it is. */
static void fixed(void **state)
{
	static const struct { double value; int digits; const char *text; } cases[] = {
		{ 0, 1, "0.0" }, { 99.96, 1, "100.0" }, { 1.8e18, 1, "1800000000000000000.0" },
		{ 0x1p63, 0, "9223372036854775808" }, { 0x1p64, 0, "2e+19" }, { 1.9e18, 1, "2e+18" },
		{ 1.8e21, 1, "2e+21" }, { 1e300, 2, "1e+300" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[32];

		gus_fixed_format(text, sizeof(text), cases[i].value, cases[i].digits);
		assert_string_equal(text, cases[i].text);
	}
}

static double number_in(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void expect_pair(const json_t *pair, double low, double high)
{
	assert_true(fabs(json_number_value(json_array_get(pair, 0)) - low) < 1e-9);
	assert_true(fabs(json_number_value(json_array_get(pair, 1)) - high) < 1e-9);
}

static void shown_json(void **state)
{
	struct gus_topdown_tree tree;
	struct gus_topdown *t = shown_tree(&tree);
	json_t *o = gus_slots_json(t, &tree), *nodes = json_object_get(o, "nodes");
	json_t *first = json_array_get(nodes, 0), *inner = json_array_get(nodes, 1);
	json_t *nothing = json_array_get(nodes, 2), *waiting = json_array_get(nodes, 3);
	json_t *sum = json_object_get(first, "sum");

	(void)state;
	assert_int_equal(json_array_size(nodes), 4);
	assert_true(json_is_null(json_object_get(first, "parent")));
	assert_string_equal(json_string_value(json_object_get(inner, "parent")), "first");
	assert_string_equal(json_string_value(json_object_get(first, "unit")), "slots");
	assert_string_equal(json_string_value(json_object_get(waiting, "unit")), "cycles");
	assert_true(json_is_true(json_object_get(first, "above")) && json_is_false(json_object_get(inner, "above")));
	assert_true(fabs(number_in(first, "running") - 0.5) < 1e-9);
	assert_true(json_is_null(json_object_get(first, "ci95")));
	expect_pair(json_object_get(first, "bounds"), 0.3, 0.8);
	assert_true(json_is_null(json_object_get(first, "correction")));
	assert_true(fabs(number_in(inner, "correction") - 0.01) < 1e-9);
	assert_true(json_is_null(json_object_get(inner, "set_to_0")));
	assert_true(fabs(number_in(nothing, "set_to_0") + 0.4) < 1e-9);
	/* 0.39 of `first` are in no part, which they may be; those of all slots may not. */
	assert_true(fabs(number_in(sum, "left") - 0.39) < 1e-9 && json_is_true(json_object_get(sum, "adds_up")));
	assert_true(json_is_null(json_object_get(inner, "sum")));
	assert_true(fabs(number_in(json_object_get(o, "slots"), "left") - 0.4) < 1e-9);
	assert_true(json_is_false(json_object_get(json_object_get(o, "slots"), "adds_up")));
	assert_true(fabs(number_in(json_object_get(o, "cycles"), "left") - 0.8) < 1e-9);
	json_decref(o);
	gus_topdown_tree_free(&tree);
	gus_topdown_free(t);
}

/* Counting, by a table of software events. */

static const char software_text[] = "topdown software \"software\"\nsource us \"made up\"\npmu software\n"
	"event clock config=1 fixed\nevent faults config=2 fixed\ngroup one 1 clock\ngroup two 1 faults\n"
	"node busy - 1 slots us \"Busy\"\n\tvalue clock / (clock + faults)\n";

static void burn(uint64_t ms)
{
	struct timespec t;
	uint64_t until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + ms;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 < until);
}

/* Frames of the file: how many, how many readings, and the clock's counts added up. */
static uint64_t read_back(const char *path, size_t *frames, size_t *kinds, size_t *readings)
{
	struct gus_reader *reader = gus_reader_open(path, NULL);
	struct gus_frame frame;
	uint64_t sum = 0;

	assert_non_null(reader);
	*frames = *kinds = *readings = 0;
	while (gus_reader_next_of(reader, 1u << GUS_FRAME_SLOTS, &frame, NULL) == GUS_READ_FRAME) {
		Gusprof__Slots *m = (Gusprof__Slots *)gus_frame_message(&frame, &gusprof__slots__descriptor, NULL);

		assert_non_null(m);
		*frames += 1;
		*kinds += m->n_kinds;
		*readings += m->n_readings;
		for (size_t i = 0; i < m->n_readings; i++) {
			assert_int_equal(m->readings[i]->n_count, 2);
			sum += m->readings[i]->count[0];
		}
		gusprof__slots__free_unpacked(m, NULL);
	}
	gus_reader_close(reader);
	return sum;
}

static void counted(void **state)
{
	static const struct gus_topdown_pmu pmu = { "software", NULL, 0, 0 };
	static const struct gus_topdown_host host = { .pmus = &pmu, .pmus_n = 1 };
	struct gus_record_slots s;
	struct gus_target target;
	struct gus_topdown *t;
	struct gus_error err = { 0 };
	struct gus_pmus pmus;
	struct gus_writer *w;
	size_t frames, kinds, readings;
	char path[64], tid[16];
	uint64_t sum;

	(void)state;
	snprintf(tid, sizeof(tid), "%d", (int)syscall(SYS_gettid));
	gus_target_init(&target);
	assert_int_equal(gus_target_add(&target, GUS_TARGET_THREADS, tid, NULL), 0);
	gus_pmus_init(&pmus, "/sys");
	/* On a machine without such a PMU it says so, and is then given a table of events that there are. */
	if (gus_record_slots_init(&s, 1, &target, &pmus, NULL, &err) != 0)
		assert_non_null(strstr(err.text, "cannot count what becomes of issue slots"));
	gus_record_slots_free(&s);
	s = (struct gus_record_slots){ .beside = s.beside, .target = { .kind = GUS_STAT_THREADS } };
	s.beside.context = &s;
	gus_vec_push(&s.target.ids, (pid_t)syscall(SYS_gettid));
	assert_int_equal(gus_topdown_parse(&t, "software", software_text, strlen(software_text), &host, NULL), 0);
	gus_vec_push(&s.tables, t);
	if (gus_topdown_count(&s.counted, &s.tables, 1, &s.events, &pmus, &err) != 0)
		fail_msg("%s", err.text);
	s.now = gus_zalloc(2 * sizeof(*s.now));
	s.before = gus_zalloc(2 * sizeof(*s.before));
	if (s.beside.open(&s, 0, &err) != 0) {
		print_message("skipped: %s\n", err.text);
		gus_record_slots_free(&s);
		gus_target_free(&target);
		gus_pmus_free(&pmus);
		skip();
	}
	s.beside.start(&s, false);
	w = begin(path, true);
	for (uint64_t i = 1; i <= 12; i++) {
		burn(2);
		assert_int_equal(s.beside.look(&s, w, i * 50000000, i == 12, NULL), 0);
		if (i < 12) /* a ring was full, soon after: that is no reading */
			assert_int_equal(s.beside.look(&s, w, i * 50000000 + 49999999, false, NULL), 0);
	}
	end(w);
	sum = read_back(path, &frames, &kinds, &readings);
	assert_int_equal(frames, 2);            /* of ten, and of the last two */
	assert_int_equal(kinds, 1);
	assert_int_equal(readings, 12);
	assert_true(sum > 20000000 && sum < 4000000000);
	unlink(path);
	w = begin(path, true);                  /* a second file says again what is counted */
	burn(2);
	assert_int_equal(s.beside.look(&s, w, 13, true, NULL), 0);
	end(w);
	read_back(path, &frames, &kinds, &readings);
	assert_true(frames == 1 && kinds == 1 && readings == 1);
	unlink(path);
	gus_record_slots_free(&s);
	gus_target_free(&target);
	gus_pmus_free(&pmus);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reported), cmocka_unit_test(took_turns), cmocka_unit_test(long_recording),
		cmocka_unit_test(odd_recordings), cmocka_unit_test(never_counted), cmocka_unit_test(whole_messages),
		cmocka_unit_test(shown), cmocka_unit_test(shown_narrow), cmocka_unit_test(fixed),
		cmocka_unit_test(shown_json), cmocka_unit_test(counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
