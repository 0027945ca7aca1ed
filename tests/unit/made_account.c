/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/proportional/groups.h"
#include "base/error.h"
#include "proto/reader.h"
#include "tests/unit/made_sideband.h"

enum { ROUNDS = 4000 };
static const uint8_t code[] = { 0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01, 0xd1, 0x48, 0xff, 0xce, 0x75, 0xf4 };
static const uint8_t back[] = { 0xeb, 0xf2 };
static const uint8_t lengths[] = { 4, 3, 3, 2 };

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	return gus_groups_listen(context, stream, program);
}

static void leave(void *context, uint32_t stream)
{
	gus_groups_leave(context, stream);
}

enum kind { STEADY, ERRATIC, ENDING };

static int setup(void **state, enum kind kind)
{
	struct made *m = gus_zalloc(sizeof(*m));
	struct made_trace trace;
	uint32_t block, other, chance = 1;

	m->groups = gus_groups_new();
	made_model_begin(&m->s);
	m->s.options.weight = 0;
	m->s.options.causality = false;
	m->s.options.core = m->s.options.all = m->s.options.alone = m->s.options.warm = true;
	m->s.options.listen = listen;
	m->s.options.leave = leave;
	m->s.options.listen_context = m->groups;
	made_trace_begin(&trace, "x86_64");
	block = made_trace_block(&trace, traced_at + TEXT, code, lengths, sizeof(code), 4);
	other = made_trace_block(&trace, traced_at + TEXT + JMP, back, &(uint8_t){ sizeof(back) }, sizeof(back), 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		made_trace_step(&trace, block, 0);
		chance = chance * 1664525 + 1013904223;
		if ((kind == ERRATIC && chance >> 31) || (kind == ENDING && i + 1 == ROUNDS))
			made_trace_step(&trace, other, 0);
	}
	made_trace_flush(&trace, 0);
	gus_traced_open(&m->s.t, &m->s.options);
	gus_traced_map(&m->s.t, traced_at, SIZE, 0, APP, NULL, 0);
	made_model_read(&m->s, made_trace_end(&trace));
	made_model_end(&m->s);
	*state = m;
	return 0;
}

int made_account_setup(void **state)
{
	return setup(state, STEADY);
}

int made_account_setup_erratic(void **state)
{
	return setup(state, ERRATIC);
}

int made_account_setup_ending(void **state)
{
	return setup(state, ENDING);
}

int made_account_teardown(void **state)
{
	struct made *m = *state;

	if (m->made) {
		gus_account_free(&m->account);
		gus_clues_free(&m->clues);
	}
	gus_columns_free(&m->batch);
	made_model_free(&m->s);
	gus_groups_free(m->groups);
	free(m);
	return 0;
}

Gusprof__Event *made_event(struct made *m, const char *name, const char *unit)
{
	Gusprof__Event *e = &m->events[m->events_n];

	gusprof__event__init(e);
	e->name = (char *)(uintptr_t)name;
	e->unit = (char *)(uintptr_t)unit;
	m->pointers[m->events_n++] = e;
	return e;
}

Gusprof__Event *made_precise_event(struct made *m, const char *name)
{
	Gusprof__Event *e = made_event(m, name, "events");

	e->type = 4; /* PERF_TYPE_RAW */
	e->precise = 2;
	return e;
}

void made_samples(struct made *m, unsigned n, struct gus_sample s)
{
	s.period = 1000;
	s.pid = s.pid ? s.pid : 10;
	s.tid = s.tid ? s.tid : s.pid;
	s.mode = s.mode ? s.mode : GUS_MODE_USER;
	for (unsigned i = 0; i < n; i++) {
		s.time = START + 1 + m->batch.n;
		gus_columns_push(&m->batch, &s);
	}
}

static void finish(const struct made *m, struct gus_writer *w)
{
	Gusprof__EventTotal of[EVENTS], *totals[EVENTS];
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;

	for (size_t i = 0; i < m->events_n; i++) {
		gusprof__event_total__init(&of[i]);
		of[i].missed = m->missed;
		of[i].samples = m->sampled;
		of[i].count = m->counts[i];
		totals[i] = &of[i];
	}
	footer.n_events = m->events_n;
	footer.events = totals;
	footer.end_ns = START + 1000000;
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
}

static void write_recording(struct made *m)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	struct gus_writer *w;

	host.cpu_vendor = (char *)(uintptr_t)(m->vendor ? m->vendor : "GenuineIntel");
	header.events = m->pointers;
	header.n_events = m->events_n;
	header.host = &host;
	w = gus_writer_create("t", &header, NULL);
	assert_non_null(w);
	assert_true(made_map(w, 10, START, lib_at, SIZE, m->lib ? m->lib : LIB) &&
		    made_map(w, 10, START, app_at, SIZE, APP));
	if (m->anonymous)
		assert_true(made_map(w, 10, START, traced_at, SIZE, "//anon"));
	assert_int_equal(gus_writer_samples(w, &m->batch, NULL), 0);
	if (m->cut)
		gus_writer_abandon(w);
	else
		finish(m, w);
}

static void check_places(const struct made *m)
{
	const struct gus_account *a = &m->account;

	for (size_t i = 0; i < a->places.n; i++) {
		const struct gus_account_place *p = &a->places.v[i];

		if (p->place.module != GUS_CLUE_NONE && *p->module == '/')
			assert_string_equal(p->module, gus_space_module(m->clues.profile.space, p->place.module)->path);
		for (size_t k = 0; k < i && *p->module == '/'; k++)
			assert_true(p->offset != a->places.v[k].offset ||
				    strcmp(p->module, a->places.v[k].module) != 0);
	}
}

static int by_cell(const struct gus_account_cell *x, const struct gus_account_cell *y)
{
	const uint32_t u[] = { x->place, x->thread, x->what.unknown, x->what.events, x->moved };
	const uint32_t v[] = { y->place, y->thread, y->what.unknown, y->what.events, y->moved };

	for (size_t i = 0; i < sizeof(u) / sizeof(*u); i++)
		if (u[i] != v[i])
			return u[i] < v[i] ? -1 : 1;
	return 0;
}

static void check_order(const struct gus_account *a)
{
	for (size_t i = 0; i < a->cells.n; i++) {
		assert_true(a->cells.v[i].weight > 0);
		assert_true(i == 0 || by_cell(&a->cells.v[i - 1], &a->cells.v[i]) < 0);
	}
	for (size_t i = 1; i < a->seen.n; i++) {
		const struct gus_account_seen *x = &a->seen.v[i - 1], *y = &a->seen.v[i];

		assert_true(x->place < y->place || (x->place == y->place && x->thread < y->thread));
	}
}

void made_account(struct made *m, bool traced)
{
	char path[] = "/tmp/gusprof-test-XXXXXX";
	struct gus_error err = { 0 };
	struct gus_reader *reader;

	assert_true(mkdtemp(path) && chdir(path) == 0);
	write_recording(m);
	reader = gus_reader_open("t", &err);
	if (!reader || gus_clues_read(&m->clues, reader, &(struct gus_symbols_options){ 0 }, traced ? &m->s.t : NULL,
				      NULL, &err) != 0)
		fail_msg("%s", err.text);
	gus_account_make(&m->account, &m->clues, traced ? m->groups : NULL, m->s.core.retire_width);
	gus_reader_close(reader);
	unlink("t");
	assert_true(chdir("/") == 0 && rmdir(path) == 0);
	m->made = true;
	check_places(m);
	check_order(&m->account);
}

uint64_t made_seen_at(const struct made *m, const char *module, uint64_t offset, uint32_t tid)
{
	const struct gus_account *a = &m->account;
	uint64_t sum = 0;

	for (size_t i = 0; i < a->seen.n; i++) {
		const struct gus_account_place *p = &a->places.v[a->seen.v[i].place];

		if (strcmp(p->module, module) == 0 && p->offset == TEXT + offset &&
		    (!tid || m->clues.threads.v[a->seen.v[i].thread].tid == tid))
			sum += a->seen.v[i].weight;
	}
	return sum;
}

uint64_t made_weight_at(const struct made *m, const char *module, uint64_t offset, uint32_t tid)
{
	const struct gus_account *a = &m->account;
	uint64_t sum = 0;

	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_account_place *p = &a->places.v[a->cells.v[i].place];

		if (strcmp(p->module, module) == 0 && p->offset == TEXT + offset &&
		    (!tid || m->clues.threads.v[a->cells.v[i].thread].tid == tid))
			sum += a->cells.v[i].weight;
	}
	return sum;
}
