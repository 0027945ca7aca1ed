/* SPDX-License-Identifier: MIT */
/* attribution/accounts/sum: an account's rows by unit, and how sure they are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/accounts/sum.h"
#include "attribution/statistics/interval.h"
#include "made_account.h"
#include "made_elf.h"
#include "proto/psv.h"
#include "symbolizer/insn/loops.h"

static void sum(const struct made *m, enum gus_sum_unit unit, size_t rows, struct gus_sums *s)
{
	uint64_t weight = 0, seen = 0;

	gus_sums_make(s, &m->account, unit);
	assert_int_equal(s->rows.n, rows);
	for (size_t i = 0; i < s->rows.n; i++) {
		gus_stack_check(&s->rows.v[i].stack, s->rows.v[i].weight);
		assert_true(!i || s->rows.v[i].weight <= s->rows.v[i - 1].weight);
		assert_ptr_equal(gus_sums_find(s, &s->rows.v[i]), &s->rows.v[i]);
		weight += s->rows.v[i].weight;
		seen += s->rows.v[i].seen;
	}
	assert_int_equal(weight, m->account.weight);
	assert_int_equal(seen, m->account.weight);
}

static void by_units(void **state)
{
	struct made *m = *state;
	struct gus_sums s;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 300, (struct gus_sample){ .ip = app_at + TEXT + ADD, .tid = 11 });
	made_samples(m, 7, (struct gus_sample){ .ip = lib_at + TEXT + 5, .tid = 11 });
	made_samples(m, 5, (struct gus_sample){ .ip = lib_at + TEXT + 9, .tid = 11 });
	made_account(m, true);
	sum(m, GUS_SUM_INSTRUCTION, 5, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT + IMUL);
	assert_int_equal(s.rows.v[0].seen, 0);
	assert_int_equal(s.rows.v[0].evidence, GUS_INFERRED);
	assert_int_equal(s.rows.v[3].offset + s.rows.v[4].offset, 2 * TEXT + 14);
	assert_int_equal(s.rows.v[4].evidence, GUS_OBSERVED);
	gus_sums_free(&s);
	sum(m, GUS_SUM_BLOCK, 3, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT);
	assert_int_equal(s.rows.v[0].weight, 1000000);
	assert_int_equal(s.rows.v[1].weight, 7000);
	gus_sums_free(&s);
	sum(m, GUS_SUM_MODULE, 2, &s);
	assert_string_equal(s.rows.v[1].module, LIB);
	assert_int_equal(s.rows.v[1].weight, 12000);
	assert_null(s.rows.v[1].function);
	gus_sums_free(&s);
	sum(m, GUS_SUM_THREAD, 2, &s);
	assert_int_equal(m->clues.threads.v[s.rows.v[0].thread].tid, 10);
	assert_int_equal(s.rows.v[0].weight, 700000);
	assert_int_equal(s.rows.v[0].seen, 700000);
	assert_int_equal(s.rows.v[1].evidence, GUS_OBSERVED);
	gus_sums_free(&s);
	sum(m, GUS_SUM_LOOP, 3, &s);
	gus_sums_free(&s);
	sum(m, GUS_SUM_FUNCTION, 3, &s);
	gus_sums_free(&s);
}

/* Rows of sums that are ordered otherwise: as the model has it dec, which has all samples, has little of the time. */
static void the_same_of_others(void **state)
{
	struct made *m = *state;
	struct gus_clues clues;
	struct gus_account alone;
	struct gus_sums s, of_model;
	struct gus_sum_row other = { .module = APP, .offset = TEXT + 1, .thread = GUS_CLUE_NONE };

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + DEC });
	made_samples(m, 300, (struct gus_sample){ .ip = lib_at + TEXT });
	made_account(m, true);
	gus_account_of_model(&alone, &clues, &m->account, m->groups);
	gus_sums_make(&s, &m->account, GUS_SUM_INSTRUCTION);
	gus_sums_make(&of_model, &alone, GUS_SUM_INSTRUCTION);
	for (size_t i = 0; i < s.rows.n; i++) {
		const struct gus_sum_row *row = &s.rows.v[i], *same = gus_sums_find(&of_model, row);

		if (strcmp(row->module, LIB) == 0) {
			assert_null(same);
			continue;
		}
		assert_non_null(same);
		assert_string_equal(same->module, APP);
		assert_int_equal(same->offset, row->offset);
	}
	assert_null(gus_sums_find(&s, &other));
	other.offset = TEXT + IMUL;
	assert_ptr_equal(gus_sums_find(&of_model, &other), &of_model.rows.v[0]);
	other.loop = true;
	assert_null(gus_sums_find(&of_model, &other));
	gus_sums_free(&of_model);
	gus_sums_free(&s);
	gus_account_free(&alone);
}

/* The loop is behind a nop, with which a function begins that nobody has named. Where blocks, loops and functions begin
 * rows do, and what is outside of the loop is in the function, as is what no trace has executed elsewhere. */
static void by_loops(void **state)
{
	static const uint8_t code[] = { 0x90, 0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01, 0xd1, 0x48, 0xff, 0xce, 0x75, 0xf4,
					0xeb, 0xf2 };
	struct made *m = *state;
	struct gus_traced *t = &m->s.t;
	struct gus_traced_function *f = &t->functions.v[0];
	struct gus_sums s;

	f->start = TEXT - 1;
	f->graph = gus_zalloc(sizeof(*f->graph));
	gus_graph_read(f->graph, t->isa, code, sizeof(code) - 2);
	assert_int_equal(f->graph->loops.n, 1);
	t->blocks.v[0].region = (uint32_t)t->regions.n;
	gus_vec_push(&t->regions, (struct gus_traced_region){ .function = 0, .loop = 0 });
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 900, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 8, (struct gus_sample){ .ip = lib_at + TEXT + 5 });
	made_account(m, true);
	assert_true(made_weight_at(m, APP, JMP, 0) > 0);
	sum(m, GUS_SUM_LOOP, 3, &s);
	assert_true(s.rows.v[0].loop);
	assert_int_equal(s.rows.v[0].offset, TEXT);
	assert_int_equal(s.rows.v[0].start, TEXT - 1);
	assert_int_equal(s.rows.v[0].weight, 900000 - made_weight_at(m, APP, JMP, 0));
	for (size_t i = 1; i < 3; i++) {
		bool lib = strcmp(s.rows.v[i].module, LIB) == 0;

		assert_false(s.rows.v[i].loop);
		assert_int_equal(s.rows.v[i].offset, lib ? TEXT + 5 : TEXT - 1);
	}
	gus_sums_free(&s);
	sum(m, GUS_SUM_FUNCTION, 2, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT - 1);
	assert_int_equal(s.rows.v[0].weight, 900000);
	assert_false(s.rows.v[0].loop);
	assert_null(s.rows.v[0].function);
	gus_sums_free(&s);
	sum(m, GUS_SUM_BLOCK, 3, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT);
	assert_int_equal(s.rows.v[0].start, TEXT - 1);
	gus_sums_free(&s);
}

/* Rows that weigh as much stand by module and offset, and threads as they were first seen. */
static void in_order(void **state)
{
	struct made *m = *state;
	struct gus_sums s;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 7, (struct gus_sample){ .ip = lib_at + TEXT + 9, .tid = 12 });
	made_samples(m, 8, (struct gus_sample){ .ip = lib_at + TEXT + 0x40, .tid = 11 });
	made_samples(m, 7, (struct gus_sample){ .ip = lib_at + TEXT + 5, .tid = 11 });
	made_samples(m, 6, (struct gus_sample){ .ip = app_at + TEXT, .tid = 11 });
	made_samples(m, 7, (struct gus_sample){ .ip = app_at + TEXT + 0x40, .tid = 12 });
	made_samples(m, 7, (struct gus_sample){ .ip = app_at + TEXT + 0x30, .tid = 12 });
	made_account(m, false);
	sum(m, GUS_SUM_INSTRUCTION, 6, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT + 0x40);
	assert_string_equal(s.rows.v[0].module, LIB);
	assert_int_equal(s.rows.v[1].offset, TEXT + 0x30);
	assert_int_equal(s.rows.v[2].offset, TEXT + 0x40);
	assert_string_equal(s.rows.v[2].module, APP);
	assert_int_equal(s.rows.v[3].offset, TEXT + 5);
	assert_int_equal(s.rows.v[4].offset, TEXT + 9);
	assert_int_equal(s.rows.v[5].offset, TEXT);
	gus_sums_free(&s);
	sum(m, GUS_SUM_THREAD, 2, &s);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(s.rows.v[i].weight, 21000);
		assert_int_equal(s.rows.v[i].thread, i);
		assert_int_equal(s.rows.v[i].place, GUS_CLUE_NONE);
		assert_string_equal(s.rows.v[i].module, "");
	}
	assert_int_equal(m->clues.threads.v[0].tid, 12);
	gus_sums_free(&s);
}

/* Of rows that weigh as much that stands first at which more was seen. */
static void by_what_was_seen(void **state)
{
	struct made *m = *state;
	struct gus_sums s;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 7, (struct gus_sample){ .ip = lib_at + TEXT + 5 });
	made_samples(m, 7, (struct gus_sample){ .ip = lib_at + TEXT + 9 });
	made_account(m, false);
	for (uint64_t first = 6000; first <= 8000; first += 2000) {
		m->account.seen.v[0].weight = first;
		m->account.seen.v[1].weight = 14000 - first;
		sum(m, GUS_SUM_INSTRUCTION, 2, &s);
		assert_int_equal(s.rows.v[0].seen, 8000);
		assert_int_equal(s.rows.v[1].seen, 6000);
		gus_sums_free(&s);
	}
}

/* How much the product has is in doubt by as much as it has, so it is no fact. What it is of is known, as nothing else
 * is possible, if its share of the samples is five at least. */
static void the_only_component(void **state)
{
	struct made *m = *state;
	struct gus_replicates *r = &m->account.solution.replicates;
	struct gus_sums s;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 1400, (struct gus_sample){ .ip = lib_at + TEXT });
	made_account(m, true);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *cell = &m->account.cells.v[i];

		for (size_t k = 0; m->account.places.v[cell->place].offset == TEXT + IMUL && k < GUS_REPLICATES; k++)
			r->shares[cell->told * GUS_REPLICATES + k] = k % 2 * 2 * r->cells.v[cell->told].share;
	}
	for (int five = 0; five < 2; five++) {
		sum(m, GUS_SUM_INSTRUCTION, 4, &s);
		m->clues.samples = (uint64_t)(5 / ((double)s.rows.v[1].weight / 2100000)) + (uint64_t)five;
		gus_sums_free(&s);
		sum(m, GUS_SUM_INSTRUCTION, 4, &s);
		assert_int_equal(s.rows.v[1].offset, TEXT + IMUL);
		assert_false(s.rows.v[1].fact);
		assert_int_equal(s.rows.v[1].stack.n, 1);
		assert_int_equal(s.rows.v[1].stack.v[0].what.unknown, !five);
		assert_int_equal(s.rows.v[1].stack.v[0].evidence, five ? GUS_MODELLED : GUS_UNKNOWN);
		gus_sums_free(&s);
	}
}

/* A cell of the solution that is less than a unit of weight is in no row, so no row is in doubt for it. */
static void less_than_a_unit(void **state)
{
	struct made *m = *state;
	struct gus_replicates *r = &m->account.solution.replicates;
	struct gus_sums before, s;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	sum(m, GUS_SUM_INSTRUCTION, 3, &before);
	gus_vec_push(&r->cells, (struct gus_replicates_cell){ .who = 1, .share = .1 });
	r->shares = gus_resize(r->shares, r->cells.n * GUS_REPLICATES, sizeof(*r->shares));
	for (size_t i = 0; i < GUS_REPLICATES; i++)
		r->shares[(r->cells.n - 1) * GUS_REPLICATES + i] = .1;
	sum(m, GUS_SUM_INSTRUCTION, 3, &s);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(s.rows.v[i].bounds.low, before.rows.v[i].bounds.low);
		assert_int_equal(s.rows.v[i].bounds.high, before.rows.v[i].bounds.high);
	}
	gus_sums_free(&before);
	gus_sums_free(&s);
}

/* Five of ten samples are a fact, and the three that say that nothing was met are not: these are unknown, as are the
 * two that say nothing. A half of ten is 23.7 to 76.3 %. */
static void what_is_no_fact(void **state)
{
	struct made *m = *state;
	const struct gus_sum_row *row;
	struct gus_sums s;

	made_event(m, "ibs_op//", "events")->pmu = (char *)(uintptr_t)"ibs_op";
	m->vendor = "AuthenticAMD";
	made_samples(m, 5, (struct gus_sample){ .ip = lib_at + TEXT, .events = GUS_PSV_ST_L1 });
	made_samples(m, 3, (struct gus_sample){ .ip = lib_at + TEXT, .events = (uint64_t)GUS_PSV_ALL << 16 });
	made_samples(m, 2, (struct gus_sample){ .ip = lib_at + TEXT });
	made_account(m, true);
	sum(m, GUS_SUM_INSTRUCTION, 1, &s);
	row = &s.rows.v[0];
	assert_true(row->fact);
	assert_int_equal(row->stack.n, 2);
	assert_int_equal(row->parts.n, 2);
	assert_int_equal(row->stack.v[0].what.events, GUS_PSV_ST_L1);
	assert_int_equal(row->stack.v[0].evidence, GUS_OBSERVED);
	assert_true(row->stack.v[1].what.unknown && row->stack.v[1].evidence == GUS_UNKNOWN);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(row->stack.v[i].weight, 5000);
		assert_in_range(row->parts.v[i].low, 2350, 2380);
		assert_in_range(row->parts.v[i].high, 7620, 7650);
	}
	gus_sums_free(&s);
}

/* Of a file 600 of 1000 samples are in traced code and 150 are not: that they are three of four is as sure as of any
 * 1000 samples, 72.2 to 77.6 %, whatever was moved. That all of it is the thread's is sure: so many samples are of it
 * that less than 1000 in 1003.8 is not to be believed. */
static void moved_and_stayed(void **state)
{
	struct made *m = *state;
	struct gus_sums s;

	made_event(m, "cpu-clock", "ns");
	for (unsigned i = 0; i < 50; i++) {
		made_samples(m, 12, (struct gus_sample){ .ip = app_at + TEXT + ADD });
		made_samples(m, 3, (struct gus_sample){ .ip = app_at + TEXT + 0x40 });
		made_samples(m, 5, (struct gus_sample){ .ip = lib_at + TEXT });
	}
	made_account(m, true);
	assert_int_equal(m->account.explained, 600000);
	sum(m, GUS_SUM_MODULE, 2, &s);
	assert_int_equal(s.rows.v[0].offset, 0);
	assert_int_equal(s.rows.v[0].weight, 750000);
	assert_in_range(s.rows.v[0].bounds.low, 721700, 722800);
	assert_in_range(s.rows.v[0].bounds.high, 775300, 776400);
	gus_sums_free(&s);
	sum(m, GUS_SUM_THREAD, 1, &s);
	assert_int_equal(s.rows.v[0].bounds.high, 1000000);
	assert_in_range(s.rows.v[0].bounds.low, 996100, 996250);
	gus_sums_free(&s);
}

/* What of all time an instruction has is what it has of explained time times how much that is, and is as sure as both
 * are: here, as such shares of 600 and of 1000 samples. Nothing of it stayed. */
static void of_a_part(void **state)
{
	struct made *m = *state;
	struct gus_replicates_sum told = { 0 };
	const struct gus_sum_row *row;
	struct gus_interval interval;
	struct gus_sums s;
	uint32_t *of;
	double sure;

	made_event(m, "cpu-clock", "ns");
	for (unsigned i = 0; i < 200; i++) {
		made_samples(m, 3, (struct gus_sample){ .ip = app_at + TEXT + ADD });
		made_samples(m, 2, (struct gus_sample){ .ip = lib_at + TEXT });
	}
	made_account(m, true);
	of = gus_zalloc(m->account.solution.replicates.cells.n * sizeof(*of));
	for (size_t i = 0; i < m->account.solution.replicates.cells.n; i++)
		of[i] = UINT32_MAX;
	for (size_t i = 0; i < m->account.cells.n; i++)
		if (m->account.cells.v[i].moved &&
		    m->account.places.v[m->account.cells.v[i].place].offset == TEXT + IMUL)
			of[m->account.cells.v[i].told] = 0;
	gus_replicates_add(&m->account.solution.replicates, of, 1, &told);
	free(of);
	assert_true(told.share > .3 && told.deviation > .001);
	sure = sqrt(told.deviation * told.deviation + told.share * told.share * .4 / .6 / 1000);
	interval = gus_interval_deviation(told.share, sure, 1000);
	sum(m, GUS_SUM_INSTRUCTION, 4, &s);
	row = &s.rows.v[0];
	assert_int_equal(row->offset, TEXT + IMUL);
	assert_in_range(row->bounds.low, interval.low * 1e6 - 1, interval.low * 1e6 + 1);
	assert_in_range(row->bounds.high, interval.high * 1e6 - 1, interval.high * 1e6 + 1);
	gus_sums_free(&s);
}

/* A file on the disk names its functions, which are of a byte each, and rows by function begin where they do. */
static void by_name(void **state)
{
	char folder[] = "/tmp/gusprof-test-XXXXXX", path[sizeof(folder) + 4];
	struct made_elf elf = made_elf_begin();
	struct made *m = *state;
	struct gus_sums s;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/lib", folder);
	made_elf_add_symbols(&elf, 8, 1, "\0named", 7);
	made_elf_write(&elf, path);
	m->lib = path;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 9, (struct gus_sample){ .ip = lib_at + 5 });
	made_samples(m, 7, (struct gus_sample){ .ip = lib_at + 0x500 });
	made_account(m, false);
	sum(m, GUS_SUM_FUNCTION, 2, &s);
	assert_non_null(s.rows.v[0].function);
	assert_string_equal(s.rows.v[0].function, "named");
	assert_int_equal(s.rows.v[0].start, 5);
	assert_int_equal(s.rows.v[0].offset, 5);
	assert_null(s.rows.v[1].function);
	assert_int_equal(s.rows.v[1].offset, 0x500);
	gus_sums_free(&s);
	assert_true(unlink(path) == 0 && rmdir(folder) == 0);
}

/* DWARF 4 of a unit of 12 bytes, "a.c": four bytes of line 10, four of 20, and four of 10 again. */
static void add_lines(struct made_elf *elf)
{
	static const uint8_t abbreviations[] = {
		1, 0x11, 0, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, /* name, lines, from, size */
		0,
	}, unit[] = {
		32, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, /* size, version, abbreviations, bytes of an address */
		1, 'a', '.', 'c', 0, 0, 0, 0, 0, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0,
	}, lines[] = {
		62, 0, 0, 0, 4, 0, 27, 0, 0, 0, 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
		0, 'a', '.', 'c', 0, 0, 0, 0, 0,
		0, 9, 2, 0x00, 0x10, 0, 0, 0, 0, 0, 0, /* from MADE_ELF_TEXT on */
		3, 9, 1, 2, 4, 3, 10, 1, 2, 4, 3, 0x76, 1, 2, 4, 0, 1, 1,
	};

	made_elf_add(elf, ".debug_abbrev", SHT_PROGBITS, 0, abbreviations, sizeof(abbreviations));
	made_elf_add(elf, ".debug_info", SHT_PROGBITS, 0, unit, sizeof(unit));
	made_elf_add(elf, ".debug_line", SHT_PROGBITS, 0, lines, sizeof(lines));
}

/* What is of one line is one row, wherever it lies; what has none is its function's, and what has none either is its
 * own. */
static void by_line(void **state)
{
	char folder[] = "/tmp/gusprof-test-XXXXXX", path[sizeof(folder) + 4];
	struct made_elf elf = made_elf_begin();
	struct made *m = *state;
	struct gus_sum_row other = { .module = path, .file = "a.c", .line = 20, .thread = GUS_CLUE_NONE };
	struct gus_sums s;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/lib", folder);
	made_elf_add_symbols(&elf, 16, 1, "\0named", 7);
	add_lines(&elf);
	made_elf_write(&elf, path);
	m->lib = path;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 9, (struct gus_sample){ .ip = lib_at + 1 });
	made_samples(m, 8, (struct gus_sample){ .ip = lib_at + 5 });
	made_samples(m, 4, (struct gus_sample){ .ip = lib_at + 9 });
	made_samples(m, 3, (struct gus_sample){ .ip = lib_at + 13 });
	made_samples(m, 2, (struct gus_sample){ .ip = lib_at + 0x500 });
	made_account(m, false);
	sum(m, GUS_SUM_LINE, 4, &s);
	for (size_t i = 0; i < 2; i++) {
		assert_non_null(s.rows.v[i].file);
		assert_string_equal(s.rows.v[i].file, "a.c");
		assert_int_equal(s.rows.v[i].line, i ? 20 : 10);
		assert_int_equal(s.rows.v[i].weight, i ? 8000 : 13000);
		assert_string_equal(s.rows.v[i].function, "named");
	}
	assert_ptr_equal(gus_sums_find(&s, &other), &s.rows.v[1]);
	assert_null(s.rows.v[2].file);
	assert_string_equal(s.rows.v[2].function, "named");
	assert_int_equal(s.rows.v[2].offset, 13);
	assert_null(s.rows.v[3].function);
	assert_int_equal(s.rows.v[3].offset, 0x500);
	gus_sums_free(&s);
	sum(m, GUS_SUM_FUNCTION, 5, &s);
	assert_null(s.rows.v[0].file);
	assert_int_equal(s.rows.v[0].line, 0);
	gus_sums_free(&s);
	assert_true(unlink(path) == 0 && rmdir(folder) == 0);
}

static void units_have_names(void **state)
{
	(void)state;
	assert_string_equal(gus_sum_unit_name(GUS_SUM_INSTRUCTION), "instruction");
	assert_string_equal(gus_sum_unit_name(GUS_SUM_LINE), "line");
	assert_string_equal(gus_sum_unit_name(GUS_SUM_THREAD), "thread");
}

static const struct gus_sum_row *row_at(const struct gus_sums *s, uint64_t offset)
{
	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.v[i].offset == TEXT + offset)
			return &s->rows.v[i];
	return NULL;
}

/* What no trace has executed is as sure as so many samples are: 250 of 1000 are a quarter, give or take 2.7 % (Wilson's
 * interval of it is 22.4 to 27.8 %), and four of them are no fact. What is of all code of a file is in its samples,
 * whatever its instructions are. A component of few samples is not told. */
static void how_sure(void **state)
{
	struct made *m = *state;
	const struct gus_sum_row *row;
	struct gus_sums s;

	made_event(m, "cpu-clock", "ns");
	for (unsigned i = 0; i < 186; i++) {
		made_samples(m, 3, (struct gus_sample){ .ip = app_at + TEXT + ADD });
		made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT + IMUL });
		made_samples(m, 1, (struct gus_sample){ .ip = lib_at + TEXT + 0x20 });
	}
	made_samples(m, 2, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 64, (struct gus_sample){ .ip = lib_at + TEXT + 0x20 });
	made_samples(m, 4, (struct gus_sample){ .ip = lib_at + TEXT + 0x30 });
	made_account(m, true);
	gus_sums_make(&s, &m->account, GUS_SUM_INSTRUCTION);
	row = row_at(&s, 0x20);
	assert_true(row && row->weight == 250000 && row->fact);
	assert_true(row->stack.n == 1 && row->stack.v[0].what.unknown && row->evidence == GUS_OBSERVED);
	assert_in_range(row->bounds.low, 223500, 224500);
	assert_in_range(row->bounds.high, 277000, 278500);
	assert_int_equal(row->parts.n, 1);
	assert_true(row->parts.v[0].low == row->bounds.low && row->parts.v[0].high == row->bounds.high);
	assert_false(row_at(&s, 0x30)->fact);
	row = row_at(&s, IMUL);
	assert_true(row && row->fact && row->bounds.low < row->weight && row->bounds.high > row->weight);
	assert_true(row->bounds.high - row->bounds.low > 2 * 53000);
	for (size_t i = 0; i < row->stack.n; i++)
		assert_true(row->parts.v[i].low <= row->stack.v[i].weight &&
			    row->parts.v[i].high >= row->stack.v[i].weight);
	gus_sums_free(&s);
	gus_sums_make(&s, &m->account, GUS_SUM_MODULE);
	assert_int_equal(s.rows.v[0].weight, 746000);
	assert_in_range(s.rows.v[0].bounds.low, 717000, 719500);
	assert_in_range(s.rows.v[0].bounds.high, 771500, 773500);
	gus_sums_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_units, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(the_same_of_others, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(by_loops, made_account_setup_erratic, made_account_teardown),
		cmocka_unit_test_setup_teardown(in_order, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(by_what_was_seen, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(the_only_component, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(less_than_a_unit, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(what_is_no_fact, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(moved_and_stayed, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_a_part, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(by_name, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(by_line, made_account_setup, made_account_teardown),
		cmocka_unit_test(units_have_names),
		cmocka_unit_test_setup_teardown(how_sure, made_account_setup, made_account_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
