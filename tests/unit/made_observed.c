/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_observed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "proto/data_source.h"
#include "proto/reader.h"
#include "symbolizer/symbols/symbols.h"
#include "tests/unit/made_sideband.h"

enum { BASE = 0x400000, SIZE = 0x20000, START = 1000000000, PID = 10 };
enum { IBS = 11, BY_OPS = 1 << 19 };

const struct made_event made_ibs_ops = { "ibs_op", IBS, BY_OPS, 0, 0, 0, 0 };

Gusprof__Event made_event_message(const struct made_event *e)
{
	Gusprof__Event m = GUSPROF__EVENT__INIT;

	m.name = (char *)(uintptr_t)"event";
	m.unit = (char *)(uintptr_t)"events";
	m.pmu = (char *)(uintptr_t)e->pmu;
	m.type = e->type;
	m.config = e->config;
	m.config1 = e->config1;
	m.config2 = e->config2;
	m.config3 = e->config3;
	m.precise = e->precise;
	return m;
}

void made_observed_event(struct made_observed *m, const struct made_event *e)
{
	m->events[m->events_n] = made_event_message(e);
	m->pointers[m->events_n] = &m->events[m->events_n];
	m->events_n++;
}

void made_observed_add(struct made_observed *m, unsigned n, struct gus_sample s)
{
	struct gus_branch branches[4];

	for (uint32_t i = 0; i < s.branches_n; i++) {
		branches[i] = s.branches[i];
		branches[i].from += BASE;
		branches[i].to += BASE;
	}
	s.branches = branches;
	s.ip += BASE;
	s.pid = s.tid = PID;
	s.mode = GUS_MODE_USER;
	s.period = s.period ? s.period : 1000;
	while (n--) {
		s.time = START + 1 + m->batch.n;
		gus_columns_push(&m->batch, &s);
	}
}

struct gus_observed *made_observed_end(struct made_observed *m)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__EventTotal totals[MADE_OBSERVED_EVENTS], *lists[MADE_OBSERVED_EVENTS];
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	static const struct gus_symbols_options symbols;
	struct gus_observed *o = gus_observed_new();
	char path[] = "/tmp/gusprof-test-XXXXXX";
	struct gus_error err = { 0 };
	struct gus_reader *reader;
	struct gus_writer *w;

	clock.name = (char *)(uintptr_t)"monotonic";
	clock.start_ns = START;
	header.clock = &clock;
	header.n_events = m->events_n;
	header.events = m->pointers;
	footer.end_ns = START + 1000000;
	for (size_t i = 0; i < m->events_n; i++) {
		totals[i] = (Gusprof__EventTotal)GUSPROF__EVENT_TOTAL__INIT;
		totals[i].on_ns = m->on_ns[i];
		lists[i] = &totals[i];
		footer.n_events = m->on_ns[i] ? m->events_n : footer.n_events;
	}
	footer.events = lists;
	close(mkstemp(path));
	w = gus_writer_create(path, &header, &err);
	if (!w)
		fail_msg("%s", err.text);
	assert_true(made_map(w, PID, START, BASE, SIZE, MADE_OBSERVED_FILE));
	assert_int_equal(gus_writer_samples(w, &m->batch, NULL), 0);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	reader = gus_reader_open(path, NULL);
	assert_non_null(reader);
	if (gus_observed_add(o, reader, &symbols, NULL, &err) != 0)
		fail_msg("%s", err.text);
	gus_observed_settle(o);
	gus_reader_close(reader);
	unlink(path);
	gus_columns_free(&m->batch);
	return o;
}

uint64_t made_observed_source(uint8_t does, uint8_t level, uint8_t tlb)
{
	return gus_data_source_word(&(struct gus_data_source){ .does = does, .level = level, .tlb = tlb });
}
