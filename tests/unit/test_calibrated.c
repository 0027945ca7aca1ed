/* SPDX-License-Identifier: MIT */
/* Calibrations as tables: what `valid` and `fit` say, which host they are for, what is written of figures that were
 * fitted and comes back, and which table a CPU begins from that has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cli/calibrate/sound.h"
#include "model/calibration/fitted.h"
#include "model/calibration/written.h"
#include "model/tables/builtin.h"
#include "model/tables/cpus.h"
#include "model/tables/uarch.h"

#define HEAD "uarch mine isa x86-64 \"Mine\"\nlike skylake\n"

static struct gus_uarch *parse(const char *text, struct gus_error *err)
{
	return gus_uarch_parse("mine.uarch", text, strlen(text), &gus_uarch_builtin, 0, err);
}

static void statements_are_kept(void **state)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = parse(HEAD "valid cpu \"A \xc3\xa9 CPU\"\nvalid microcode \"0x1\"\n"
		"fit rob 224 220..230.25 entries residual 0.0125 confidence high \"a break\"\n"
		"fit rs none entries confidence none \"hidden\"\n"
		"fit core_ghz 3.698423 3.6..3.7 GHz \"timed\" # a comment\n"
		"fit \"IMUL (R64, R64)\" latency 3 3..3 cycles confidence medium \"\"\n"
		"fit \"IMUL (R64, R64)\" uses \"p1:1\" uops \"paired\"\nend\n", &err);

	(void)state;
	if (!u)
		fail_msg("%s", err.text);
	assert_int_equal(u->valids_n, 2);
	assert_string_equal(gus_uarch_valid_value(u, "cpu"), "A \xc3\xa9 CPU");
	assert_string_equal(gus_uarch_valid_value(u, "microcode"), "0x1");
	assert_null(gus_uarch_valid_value(u, "kernel"));
	assert_int_equal(u->fits_n, 5);
	assert_null(u->fits[0].form);
	assert_string_equal(u->fits[0].name, "rob");
	assert_float_equal(u->fits[0].value, 224, 0);
	assert_float_equal(u->fits[0].low, 220, 0);
	assert_float_equal(u->fits[0].high, 230.25, 0);
	assert_float_equal(u->fits[0].residual, 0.0125, 1e-12);
	assert_string_equal(u->fits[0].unit, "entries");
	assert_string_equal(u->fits[0].confidence, "high");
	assert_string_equal(u->fits[0].why, "a break");
	assert_true(isnan(u->fits[1].value) && isnan(u->fits[1].low) && isnan(u->fits[1].residual));
	assert_float_equal(u->fits[2].value, 3.698423, 1e-12);
	assert_null(u->fits[2].confidence);
	assert_string_equal(u->fits[3].form, "IMUL (R64, R64)");
	assert_string_equal(u->fits[3].name, "latency");
	assert_string_equal(u->fits[4].text, "p1:1");
	/* They change nothing of the figures. */
	assert_float_equal(gus_uarch_value(u, "rob", 0), 224, 0);
	assert_float_equal(gus_uarch_value(u, "rs", 0), 97, 0);
	gus_uarch_free(u);
}

static void what_is_wrong_is_told(void **state)
{
	static const struct { const char *line, *says; } cases[] = {
		{ "valid", "expected a key" },
		{ "valid cpu", "expected its value in quotes" },
		{ "valid cpu \"\"", "expected its value in quotes" },
		{ "valid cpu A", "expected its value in quotes" },
		{ "valid cpu \"A\" \"B\"", "is too much" },
		{ "valid cpu \"A\"\nvalid cpu \"A\"", "the key cpu is there twice" },
		{ "end end", "is too much" },
		{ "end\nparam rob 1 entries me", "'param' stands behind the end" },
		{ "end\nend", "'end' stands behind the end" },
		{ "fit", "expected what was fitted" },
		{ "fit rob", "a text in quotes or none" },
		{ "fit rob 1", "LOW..HIGH" },
		{ "fit rob 1 1", "LOW..HIGH" },
		{ "fit rob 1 1.1", "LOW..HIGH" },
		{ "fit rob 1 1..", "LOW..HIGH" },
		{ "fit rob 1 ..1", "LOW..HIGH" },
		{ "fit rob 1 1..2x", "LOW..HIGH" },
		{ "fit rob 1 1.x2 entries \"\"", "LOW..HIGH" },
		{ "fit rob 1 1x.2 entries \"\"", "LOW..HIGH" },
		{ "fit rob 1 1.1..2 entries \"\"", "LOW..HIGH" },
		{ "fit rob 3 1..2.9 entries \"\"", "LOW..HIGH" },
		{ "fit rob -1 1..2 entries \"\"", "a text in quotes or none" },
		{ "fit rob 1.1234567 1..2 entries \"\"", "a text in quotes or none" },
		{ "fit rob 9999999999 1..2 entries \"\"", "a text in quotes or none" },
		{ "fit rob 1 1..2", "expected a unit" },
		{ "fit rob 1 1..2 entries", "expected why in quotes" },
		{ "fit rob 1 1..2 entries residual \"\"", "expected the residual" },
		{ "fit rob 1 1..2 entries confidence sure \"\"", "is no confidence" },
		{ "fit rob 1 1..2 entries \"\" \"\"", "is too much" },
		{ "fit \"\" latency 1 1..2 cycles \"\"", "a form has 1 to 95 characters" },
		{ "fit \"X\" \"Y\" 1 1..2 cycles \"\"", "expected what was fitted" },
		{ "fit rob none entries \"\"\nfit rob none entries \"\"", "the fit of rob is there twice" },
		{ "fit \"X\" a none entries \"\"\nfit \"X\" a none entries \"\"", "the fit of a is there twice" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = gus_format(HEAD "%s\n", cases[i].line);
		struct gus_error err = { 0 };
		struct gus_uarch *u = parse(text, &err);

		if (u || !strstr(err.text, cases[i].says) || !strstr(err.text, "mine.uarch, line"))
			fail_msg("%s: %s", cases[i].line, err.text);
		free(text);
	}
}

/* What a text is that ends there, as a table; NULL: it is one. */
static char *wrong_with(const char *text, size_t size)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("mine.uarch", text, size, &gus_uarch_builtin, 0, &err);
	char *why = u ? NULL : gus_strdup(err.text);

	gus_uarch_free(u);
	return why;
}

#define CUT "it does not end with `end`, so a part of it is missing; run 'gusprof calibrate' again"

/* It is for a host, so it has to end; what follows then may be a comment, and the last line need not be ended. */
static void a_calibration_ends(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "valid cpu \"A\"\n", CUT }, { "valid cpu \"A\"\n# end\n", CUT }, { "valid cpu \"A\"\nen", CUT },
		{ "valid cpu \"A\"\nfit rob 1 1..", CUT }, { "valid cpu \"A\"\nparam rob 2", CUT },
		{ "valid cpu \"A", CUT }, { "valid", CUT },
		{ "valid cpu \"A\"\nfit rob 1 1..\nend\n", "LOW..HIGH" }, /* it is wrong and not cut */
		{ "valid cpu \"A\"\nend", NULL }, { "valid cpu \"A\"\nend\n\n# that is all\n", NULL },
		/* Others are as they were. */
		{ "", NULL }, { "fit rob none entries \"\"\n", NULL }, { "end\n", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = gus_format(HEAD "%s", cases[i].text), *why = wrong_with(text, strlen(text));

		if (!why != !cases[i].says || (why && !strstr(why, cases[i].says)))
			fail_msg("%s: %s", cases[i].text, why ? why : "it is a table");
		free(why);
		free(text);
	}
}

/* A form of 95 characters is one, of 96 none. */
static void forms_have_room_for_so_much(void **state)
{
	(void)state;
	for (int size = 95; size <= 96; size++) {
		char form[97], *text;
		struct gus_error err = { 0 };
		struct gus_uarch *u;

		memset(form, 'X', sizeof(form));
		text = gus_format(HEAD "fit \"%.*s\" a none cycles \"\"\n", size, form);
		u = parse(text, &err);
		assert_true(!u == (size == 96));
		gus_uarch_free(u);
		free(text);
	}
}

/* What another table says that this one is like is said anew, not twice. */
static const char *like_that(void *context, const char *name, size_t *size)
{
	const char *text = strcmp(name, "that") == 0 ? (const char *)context : NULL;

	if (!text)
		return gus_uarch_builtin.get(gus_uarch_builtin.context, name, size);
	*size = strlen(text);
	return text;
}

static void what_is_said_anew_replaces(void **state)
{
	char that[] = "uarch that isa x86-64 \"That\"\nlike skylake\nvalid cpu \"A\"\nvalid kernel \"6\"\n"
		"fit rob 1 1..1 entries \"old\"\nfit \"X\" a 2 2..2 cycles \"old\"\nfit b none cycles \"old\"\nend\n";
	const char mine[] = "uarch mine isa x86-64 \"Mine\"\nlike that\nvalid kernel \"7\"\n"
		"fit \"X\" a 3 3..3 cycles \"new\"\nend\n";
	const struct gus_uarch_texts texts = { like_that, that };
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("mine.uarch", mine, strlen(mine), &texts, 0, &err);

	(void)state;
	if (!u)
		fail_msg("%s", err.text);
	assert_int_equal(u->valids_n, 2);
	assert_string_equal(gus_uarch_valid_value(u, "cpu"), "A");
	assert_string_equal(gus_uarch_valid_value(u, "kernel"), "7");
	assert_int_equal(u->fits_n, 3);
	assert_string_equal(u->fits[0].why, "old");
	assert_string_equal(u->fits[1].why, "new");
	assert_true(u->fits[1].value == 3);
	assert_string_equal(u->fits[2].name, "b");
	gus_uarch_free(u);
}

/* Of the same name, but of another form or of none. */
static void names_are_told_apart_by_form(void **state)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = parse(HEAD "fit a none entries \"\"\nfit \"X\" a none cycles \"\"\n"
				    "fit \"Y\" a none cycles \"\"\n", &err);

	(void)state;
	assert_non_null(u);
	assert_int_equal(u->fits_n, 3);
	gus_uarch_free(u);
}

static void a_host_fits_or_does_not(void **state)
{
	struct gus_uarch_valid host[] = { { "kernel", "6.1" }, { "cpu", "A" }, { "microcode", "0x1" } };
	struct gus_error err = { 0 };
	struct gus_uarch *u = parse(HEAD "valid cpu \"A\"\nvalid microcode \"0x1\"\nend\n", &err);

	(void)state;
	assert_null(gus_uarch_misfit(u, host, 3));
	assert_string_equal(gus_uarch_misfit(u, host, 2)->key, "microcode");
	host[2].value = "0x2";
	assert_string_equal(gus_uarch_misfit(u, host, 3)->key, "microcode");
	host[1].value = "A ";
	assert_string_equal(gus_uarch_misfit(u, host, 3)->key, "cpu");
	assert_string_equal(gus_uarch_misfit(u, NULL, 0)->value, "A");
	gus_uarch_free(u);
	u = parse(HEAD, &err);
	assert_null(gus_uarch_misfit(u, host, 3));
	gus_uarch_free(u);
}

/* The writer. */

struct made {
	struct gus_uarch *nearest, *u;
	struct gus_fit fit;
	char *text;
	size_t size;
};

static void begin(struct made *m, const char *nearest)
{
	struct gus_error err = { 0 };

	*m = (struct made){ .nearest = gus_uarch_parse(nearest, NULL, 0, &gus_uarch_builtin, 0, &err) };
	assert_non_null(m->nearest);
}

static void put(struct made *m, const char *name, double value, enum gus_confidence c)
{
	struct gus_fit_param p = { .name = name, .value = value, .low = 0.99 * value, .high = 1.01 * value,
		.residual = 0.01, .confidence = c, .why = "a test" };

	gus_fit_put(&m->fit, &p);
}

static struct gus_fit_form *form(struct made *m, const char *text, double latency, double throughput)
{
	struct gus_fit_form f = { .latency = latency, .latency_low = latency - 0.02, .latency_high = latency + 0.02,
		.load_latency = NAN, .throughput = throughput, .residual = 0.01, .confidence = GUS_CONFIDENCE_HIGH,
		.latency_confidence = GUS_CONFIDENCE_HIGH,
		.why = "a test" };

	snprintf(f.form, sizeof(f.form), "%s", text);
	gus_vec_push(&m->fit.forms, f);
	return &m->fit.forms.v[m->fit.forms.n - 1];
}

static void written(struct made *m)
{
	static const struct gus_uarch_valid key[] = { { "cpu", "A \"CPU\"" }, { "microcode", "0x1" },
						      { "kernel", "" } };
	struct gus_calibration_about about = { .nearest = m->nearest, .host = "here\n\"there\"",
		.how = "gusprof calibrate", .key = key, .key_n = 3 };
	struct gus_error err = { 0 };
	size_t size;
	char *again = gus_calibration_text(&about, &m->fit, &size);

	m->text = gus_calibration_text(&about, &m->fit, &m->size);
	assert_int_equal(size, m->size);
	assert_int_equal(strlen(m->text), size);
	assert_memory_equal(again, m->text, size);
	free(again);
	m->u = gus_uarch_parse("made", m->text, m->size, &gus_uarch_builtin, 0, &err);
	if (!m->u)
		fail_msg("%s of\n%s", err.text, m->text);
	assert_string_equal(gus_uarch_valid_value(m->u, "cpu"), "A 'CPU'");
}

static void end(struct made *m)
{
	gus_uarch_free(m->u);
	gus_uarch_free(m->nearest);
	gus_fit_free(&m->fit);
	free(m->text);
}

/* As many bytes as any first part of it has: no table, and cut from where it says that it is a calibration. */
static void nothing_that_is_cut_is_taken(void **state)
{
	const char *first;
	struct made m;

	(void)state;
	begin(&m, "skylake");
	put(&m, "rob", 230, GUS_CONFIDENCE_HIGH);
	put(&m, "rs", NAN, GUS_CONFIDENCE_NONE);
	form(&m, "IMUL (R64, R64)", 5, 1);
	written(&m);
	first = strstr(m.text, "\nvalid ");
	assert_non_null(first);
	assert_memory_equal(m.text + m.size - 5, "\nend\n", 5);
	for (size_t size = 0; size < m.size - 1; size++) {
		char *why = wrong_with(m.text, size);

		if (!why || (m.text + size >= first + strlen("\nvalid") && !strstr(why, CUT)))
			fail_msg("of %zu bytes: %s", size, why ? why : "it is a table");
		free(why);
	}
	assert_null(wrong_with(m.text, m.size - 1)); /* all but the end of its last line */
	end(&m);
}

static const struct gus_uarch_row *row_in(const struct gus_uarch *u, const char *text)
{
	return gus_uarch_row(u, gus_insn_form_hash(text, strlen(text)));
}

static const struct gus_uarch_fit *fit_of(const struct gus_uarch *u, const char *text, const char *name)
{
	for (uint32_t i = 0; i < u->fits_n; i++)
		if (strcmp(u->fits[i].name, name) == 0 && (!text ? !u->fits[i].form : u->fits[i].form &&
							   strcmp(u->fits[i].form, text) == 0))
			return &u->fits[i];
	return NULL;
}

static void nothing_is_a_table(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "znver4");
	written(&m);
	assert_string_equal(m.u->name, "znver4-calibrated");
	assert_string_equal(m.u->title, "AMD Zen 4 as calibrated on here 'there'");
	assert_int_equal(m.u->rows_n, m.nearest->rows_n);
	assert_int_equal(m.u->fits_n, 0);
	assert_string_equal(gus_uarch_valid_value(m.u, "kernel"), "unknown");
	end(&m);
}

static void parameters_are_believed_by_confidence(void **state)
{
	struct gus_fit_fact fact = { .name = "core_ghz", .unit = "GHz", .value = 3.7, .low = 3.69, .high = NAN };
	struct made m;

	(void)state;
	begin(&m, "skylake");
	put(&m, "rob", 300.4, GUS_CONFIDENCE_HIGH);
	put(&m, "rs", 90.5, GUS_CONFIDENCE_MEDIUM);
	put(&m, "load_buffer", 60, GUS_CONFIDENCE_LOW);
	put(&m, "store_buffer", 1000, GUS_CONFIDENCE_NONE);
	put(&m, "move_elimination_int", 0, GUS_CONFIDENCE_HIGH);
	put(&m, "macro_fusion", 3, GUS_CONFIDENCE_HIGH);
	put(&m, "port_binding", 99, GUS_CONFIDENCE_HIGH);  /* no such word */
	put(&m, "l2_latency", NAN, GUS_CONFIDENCE_HIGH);
	put(&m, "l3_latency", -3, GUS_CONFIDENCE_HIGH);
	put(&m, "memory_bandwidth", 1e12, GUS_CONFIDENCE_HIGH);
	put(&m, "no such/name", 5, GUS_CONFIDENCE_HIGH);
	gus_vec_push(&m.fit.facts, fact);
	fact.name = "rob"; /* a parameter is there by that name */
	gus_vec_push(&m.fit.facts, fact);
	written(&m);
	assert_float_equal(gus_uarch_value(m.u, "rob", 0), 300, 0);
	assert_float_equal(gus_uarch_value(m.u, "rs", 0), 91, 0);
	assert_float_equal(gus_uarch_value(m.u, "load_buffer", 0), 72, 0);
	assert_float_equal(gus_uarch_value(m.u, "store_buffer", 0), 56, 0);
	assert_string_equal(gus_uarch_param(m.u, "move_elimination_int")->word, "no");
	assert_string_equal(gus_uarch_param(m.u, "macro_fusion")->word, "all");
	assert_string_equal(gus_uarch_param(m.u, "port_binding")->word,
			    gus_uarch_param(m.nearest, "port_binding")->word);
	assert_float_equal(gus_uarch_value(m.u, "l3_latency", 0), gus_uarch_value(m.nearest, "l3_latency", 0), 0);
	/* Of all there is a fit, in its unit and with its reason. */
	assert_int_equal(m.u->fits_n, 12);
	assert_float_equal(fit_of(m.u, NULL, "rob")->value, 300.4, 1e-9);
	assert_true(fabs(fit_of(m.u, NULL, "rob")->residual - 0.01) < 1e-9); /* NAN would be a float that is equal */
	assert_string_equal(fit_of(m.u, NULL, "load_buffer")->confidence, "low");
	assert_float_equal(fit_of(m.u, NULL, "load_buffer")->value, 60, 0);
	assert_true(isnan(fit_of(m.u, NULL, "store_buffer")->value));
	assert_string_equal(fit_of(m.u, NULL, "store_buffer")->why, "a test");
	assert_true(isnan(fit_of(m.u, NULL, "l2_latency")->value));
	assert_true(isnan(fit_of(m.u, NULL, "memory_bandwidth")->value));
	assert_non_null(fit_of(m.u, NULL, "no_such_per_name"));
	assert_float_equal(fit_of(m.u, NULL, "core_ghz")->high, 3.7, 1e-9);
	assert_null(fit_of(m.u, NULL, "core_ghz")->confidence);
	end(&m);
}

static void rows_are_corrected_where_they_differ(void **state)
{
	const char *imul = "IMUL (R64, R64)", *add = "ADD_01 (R64, R64)", *load = "MOV (R64, M64)";
	struct made m;

	(void)state;
	begin(&m, "skylake");
	form(&m, imul, 4.04, 1.01);
	form(&m, add, 1.01, 0.25);
	form(&m, load, NAN, 0.5)->load_latency = 7.03;
	assert_true(gus_calibration_corrects(m.nearest, &m.fit.forms.v[0]));
	assert_false(gus_calibration_corrects(m.nearest, &m.fit.forms.v[1]));
	assert_true(gus_calibration_corrects(m.nearest, &m.fit.forms.v[2]));
	written(&m);
	assert_int_equal(row_in(m.nearest, imul)->latency, 300);
	assert_int_equal(row_in(m.u, imul)->latency, 400);
	assert_int_equal(row_in(m.u, imul)->uops, row_in(m.nearest, imul)->uops);
	assert_string_equal(m.u->sources[row_in(m.u, imul)->source].id, "calibrated");
	assert_string_not_equal(m.u->sources[row_in(m.u, add)->source].id, "calibrated");
	assert_int_equal(row_in(m.u, load)->loadlat, 700);
	assert_int_equal(row_in(m.u, load)->latency, row_in(m.nearest, load)->latency);
	/* What is as the table has it has a fit all the same. */
	assert_float_equal(fit_of(m.u, add, "latency")->value, 1.01, 1e-9);
	assert_float_equal(fit_of(m.u, add, "throughput")->value, 0.25, 1e-9);
	assert_float_equal(fit_of(m.u, load, "loadlat")->value, 7.03, 1e-9);
	assert_null(fit_of(m.u, load, "latency"));
	end(&m);
}

/* Both neighbours of what the interval allows. */
static void an_interval_leaves_the_row(void **state)
{
	static const struct { double latency, low, high; bool corrects; } cases[] = {
		{ 3.3, 3.05, 3.4, false }, { 3.3, 3.06, 3.4, true }, { 2.7, 2.6, 2.95, false },
		{ 2.7, 2.6, 2.94, true },
		{ 3.1, 3.1, 3.1, false }, { 3.11, 3.11, 3.11, true }, { NAN, NAN, NAN, false }, { -1, -1, -1, false },
		{ INFINITY, 3, 4, false }, { 20000, 20000, 20000, false },
	};
	struct made m;

	(void)state;
	begin(&m, "skylake");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_fit_form *f = form(&m, "IMUL (R64, R64)", cases[i].latency, NAN);

		f->latency_low = cases[i].low;
		f->latency_high = cases[i].high;
		if ((gus_calibration_corrects(m.nearest, f) != 0) != cases[i].corrects)
			fail_msg("%g in %g to %g", cases[i].latency, cases[i].low, cases[i].high);
		f->latency = 9;
		f->latency_confidence = GUS_CONFIDENCE_LOW;
		assert_false(gus_calibration_corrects(m.nearest, f));
	}
	end(&m);
}

static void ports_replace_ports(void **state)
{
	const char *imul = "IMUL (R64, R64)", *unknown = "NEW (R64, R64)", *strange = "STRANGE (R64)";
	struct gus_fit_form *f;
	struct made m;

	(void)state;
	begin(&m, "skylake");
	f = form(&m, imul, 3, 1);
	snprintf(f->uses, sizeof(f->uses), "p06:2 p1:1");
	snprintf(form(&m, unknown, 5, 1)->uses, 90, "p0:1");
	snprintf(form(&m, strange, 5, 1)->uses, 90, "nowhere:1");
	form(&m, "BARE (R64)", 5, 1);
	written(&m);
	assert_int_equal(row_in(m.u, imul)->uses_n, 2);
	assert_int_equal(row_in(m.u, imul)->uops, 3);
	assert_int_equal(row_in(m.u, imul)->latency, 300);
	assert_int_equal(row_in(m.u, unknown)->uops, 1);
	assert_int_equal(row_in(m.u, unknown)->latency, 500);
	/* Without ports that the table knows no row can be made of what it does not know. */
	assert_null(row_in(m.u, strange));
	assert_string_equal(fit_of(m.u, strange, "uses")->text, "nowhere:1");
	assert_null(row_in(m.u, "BARE (R64)"));
	end(&m);
	/* The same ports in another order are the same. */
	begin(&m, "skylake");
	f = form(&m, "XCHG (R64, R64)", NAN, NAN);
	assert_non_null(row_in(m.nearest, f->form));
	snprintf(form(&m, imul, 3, 1)->uses, 90, "p1:1");
	assert_false(gus_calibration_corrects(m.nearest, &m.fit.forms.v[1]));
	end(&m);
}

/* Latencies by operand move with the latency, what comes from an address with that from the address, and what goes to
 * memory stays; of forms that other tables have. */
static double throughput_of(const struct made *m, const char *text)
{
	return gus_uarch_throughput(m->u, row_in(m->u, text));
}

/* What was measured of registers is so with the last of them in memory, and of no other form. */
static void memory_follows_registers(void **state)
{
	const char *plain = "VMAXPD (YMM, YMM, YMM)", *load = "VMAXPD (YMM, YMM, M256)";
	const char *other = "VMAXPD (XMM, XMM, M128)";
	struct made m;
	double was;

	(void)state;
	begin(&m, "znver4");
	snprintf(form(&m, plain, 2, 1)->uses, 90, "fp1:1");
	written(&m);
	was = gus_uarch_throughput(m.nearest, row_in(m.nearest, load));
	assert_true(was < 1);
	assert_true(throughput_of(&m, plain) == 1 && throughput_of(&m, load) == 1);
	assert_true(throughput_of(&m, other) == gus_uarch_throughput(m.nearest, row_in(m.nearest, other)));
	assert_int_equal(row_in(m.u, load)->loadlat, row_in(m.nearest, load)->loadlat);
	end(&m);
	/* But what was measured in memory as well is what that was. */
	begin(&m, "znver4");
	snprintf(form(&m, plain, 2, 1)->uses, 90, "fp1:1");
	form(&m, load, NAN, was);
	written(&m);
	assert_true(throughput_of(&m, plain) == 1 && throughput_of(&m, load) == was);
	end(&m);
}

/* A latency that nobody is sure of leaves ports alone, and the other way round. */
static void latency_and_ports_apart(void **state)
{
	const char *imul = "IMUL (R64, R64)";
	struct gus_fit_form *f;
	struct made m;

	(void)state;
	for (int ports = 0; ports < 2; ports++) {
		begin(&m, "skylake");
		f = form(&m, imul, 5, 2);
		snprintf(f->uses, sizeof(f->uses), "p1:2");
		f->latency_confidence = ports ? GUS_CONFIDENCE_LOW : GUS_CONFIDENCE_HIGH;
		f->confidence = ports ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_LOW;
		written(&m);
		assert_int_equal(row_in(m.u, imul)->latency, ports ? 300 : 500);
		assert_true(throughput_of(&m, imul) == (ports ? 2 : 1));
		end(&m);
	}
}

/* A division takes what it takes by its operands: what lies in the table's range is no news. */
static void divisions_have_a_range(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "znver4");
	assert_false(gus_calibration_corrects(m.nearest, form(&m, "DIV (R64)", 11, NAN)));
	assert_true(gus_calibration_corrects(m.nearest, form(&m, "DIV (R64)", 25, NAN)));
	end(&m);
}

static void pairs_move_along(void **state)
{
	struct gus_error err = { 0 };
	const char *base = HEAD "source me \"me\"\n"
		"form \"X (R64, M64)\" uops 2 latency 3 fused 1 loadlat 8 uses p1:1 p23:1 "
		"pairs 0>0:3 0>2:4 m0>0:3 a0>0:8 0>m0:5 source me\n"
		"form \"D (R64)\" uops 1 latency 20 range 10-30 uses p0:1 exclusive divider:6 source me\n";
	struct gus_calibration_about about = { .host = "h", .how = "t" };
	const struct gus_uarch_row *row;
	struct made m = { 0 };

	(void)state;
	m.nearest = parse(base, &err);
	assert_non_null(m.nearest);
	form(&m, "X (R64, M64)", 5, NAN);
	form(&m, "D (R64)", 35, 11.04);
	/* What is like a table of nobody's cannot be found by its name, so the row is looked for in the text. */
	about.nearest = m.nearest;
	m.text = gus_calibration_text(&about, &m.fit, &m.size);
	assert_non_null(strstr(m.text, "form \"X (R64, M64)\" uops 2 latency 5 fused 1 loadlat 10 uses p1:1 p23:1 "
			       "pairs 0>0:5 0>2:6 m0>0:5 a0>0:10 0>m0:5 source calibrated"));
	assert_non_null(strstr(m.text, "form \"D (R64)\" uops 1 latency 35 range 10-35 uses p0:1 exclusive "
			       "divider:11 source calibrated"));
	row = row_in(m.nearest, "X (R64, M64)");
	assert_int_equal(row->latency, 300);
	end(&m);
}

/* The lines that are written of some figures, each with what a figure beside it makes of it. */
static void lines_are_written_so(void **state)
{
	static const struct {
		const char *row, *form, *uses;
		double latency, load, throughput;
		const char *line;
	} cases[] = {
		/* the load's latency by itself: more than 3 % off, or not */
		{ "form \"X\" uops 2 latency 3 loadlat 8 uses p1:1 p23:1 source me", "X", "", NAN, 7.4, NAN,
		  "form \"X\" uops 2 latency 3 loadlat 7.40 uses p1:1 p23:1 source calibrated" },
		{ "form \"X\" uops 2 latency 3 loadlat 8 uses p1:1 p23:1 source me", "X", "", NAN, 8.6, NAN,
		  "form \"X\" uops 2 latency 3 loadlat 8.60 uses p1:1 p23:1 source calibrated" },
		{ "form \"X\" uops 2 latency 3 loadlat 8 uses p1:1 p23:1 source me", "X", "", NAN, 7.8, NAN, NULL },
		{ "form \"X\" uops 2 latency 3 loadlat 8 uses p1:1 p23:1 source me", "X", "", NAN, 8.28, NAN, NULL },
		/* a latency that is less takes from the load's, but not all */
		{ "form \"X\" uops 2 latency 9 loadlat 8 uses p1:1 source me", "X", "", 1, NAN, NAN,
		  "form \"X\" uops 2 latency 1 loadlat 8 uses p1:1 source calibrated" },
		{ "form \"X\" uops 2 latency 8 loadlat 8 uses p1:1 source me", "X", "", 1, NAN, NAN,
		  "form \"X\" uops 2 latency 1 loadlat 1 uses p1:1 source calibrated" },
		/* and from pairs, to 0 at most */
		{ "form \"X\" uops 1 latency 5 uses p1:1 pairs 0>0:5 1>0:2 source me", "X", "", 2, NAN, NAN,
		  "form \"X\" uops 1 latency 2 uses p1:1 pairs 0>0:2 1>0:0 source calibrated" },
		/* without a load there is none */
		{ "form \"X\" uops 1 latency 5 uses p1:1 source me", "X", "", NAN, 7, NAN, NULL },
		/* the same twice, once of another time, is the same in any order, and else is not */
		{ "form \"X\" uops 3 latency 5 uses p1:1 p1:2 source me", "X", "p1:2 p1:1", 5, NAN, NAN, NULL },
		{ "form \"X\" uops 3 latency 5 uses p1:1 p0:2 source me", "X", "p0:2 p1:1", 5, NAN, NAN, NULL },
		{ "form \"X\" uops 3 latency 5 uses p1:1 p0:2 source me", "X", "p0:1 p1:2", 5, NAN, NAN,
		  "form \"X\" uops 3 latency 5 uses p0:1 p1:2 source calibrated" },
		/* counts go along with ports, and none of them below one */
		{ "form \"X\" uops 2 latency 5 fused 1 decoded 2 uses p1:1 source me", "X", "p1:1 p0:3", 5, NAN, NAN,
		  "form \"X\" uops 5 latency 5 fused 4 decoded 5 uses p1:1 p0:3 source calibrated" },
		{ "form \"X\" uops 3 latency 5 fused 1 decoded 3 microcoded 4 complex uses p1:3 source me", "X",
		  "p0:1", 5, NAN, NAN,
		  "form \"X\" uops 1 latency 5 fused 1 decoded 1 microcoded 2 complex uses p0:1 source calibrated" },
		/* a divider is as busy as was measured, unless ports explain that; the busiest unit is */
		{ "form \"X\" uops 1 latency 20 uses p0:1 exclusive divider:6 source me", "X", "", 20, NAN, 6.2, NULL },
		{ "form \"X\" uops 1 latency 20 uses p0:1 exclusive divider:6 source me", "X", "", 20, NAN, 6.4,
		  "form \"X\" uops 1 latency 20 uses p0:1 exclusive divider:6.40 source calibrated" },
		{ "form \"X\" uops 8 latency 20 uses p0:8 exclusive divider:6 source me", "X", "", 20, NAN, 7, NULL },
		{ "form \"X\" uops 8 latency 20 uses p0:8 exclusive divider:6 source me", "X", "", 20, NAN, 9,
		  "form \"X\" uops 8 latency 20 uses p0:8 exclusive divider:9 source calibrated" },
		{ "form \"X\" uops 1 latency 20 uses p0:1 exclusive divider:4 fpdivider:6 source me", "X", "",
		  20, NAN, 9,
		  "form \"X\" uops 1 latency 20 uses p0:1 exclusive divider:4 fpdivider:9 source calibrated" },
		/* and operands may suit it better than any that were known, or worse */
		{ "form \"X\" uops 1 latency 20 range 10-30 uses p0:1 source me", "X", "", 5, NAN, NAN,
		  "form \"X\" uops 1 latency 5 range 5-30 uses p0:1 source calibrated" },
		{ "form \"X\" uops 1 latency 20 range 10-30 uses p0:1 source me", "X", "", 31.5, NAN, NAN,
		  "form \"X\" uops 1 latency 31.50 range 10-31.50 uses p0:1 source calibrated" },
		/* and in the range there is nothing to correct */
		{ "form \"X\" uops 1 latency 20 range 10-30 uses p0:1 source me", "X", "", 25, NAN, NAN, NULL },
		/* of what no table has a row needs both */
		{ "", "Y", "p0:1 p1:2", 5.25, 7, 2,
		  "form \"Y\" uops 3 latency 5.25 loadlat 7 uses p0:1 p1:2 source calibrated" },
		{ "", "Y", "p0:1", NAN, 7, 2, NULL },
		{ "", "Y", "p0:1 p1:1000", 5, 7, 2, NULL }, { "", "Y", "p0:0", 5, 7, 2, NULL },
		{ "", "Y", "p0", 5, 7, 2, NULL }, { "", "Y", "p0:1 no:1", 5, 7, 2, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = gus_format(HEAD "source me \"me\"\n%s\n", cases[i].row);
		struct gus_calibration_about about = { .host = "h", .how = "t" };
		struct gus_error err = { 0 };
		struct made m = { .nearest = parse(text, &err) };
		struct gus_fit_form *f;

		if (!m.nearest)
			fail_msg("%s: %s", cases[i].row, err.text);
		f = form(&m, cases[i].form, cases[i].latency, cases[i].throughput);
		f->load_latency = cases[i].load;
		snprintf(f->uses, sizeof(f->uses), "%s", cases[i].uses);
		about.nearest = m.nearest;
		m.text = gus_calibration_text(&about, &m.fit, &m.size);
		if (cases[i].line ? !strstr(m.text, cases[i].line) : strstr(m.text, "\nform ") != NULL)
			fail_msg("case %zu, %s:\n%s", i, cases[i].line ? cases[i].line : "none", m.text);
		assert_true((gus_calibration_corrects(m.nearest, f) != 0) == (cases[i].line != NULL));
		end(&m);
		free(text);
	}
}

/* Fits as they are written, digit by digit. */
static void figures_are_written_so(void **state)
{
	static const struct { double value, low, high, residual; const char *line; } cases[] = {
		{ 3, 3, 3, 0.5, "fit rob 3 3..3 entries residual 0.5 confidence high \"a test\"" },
		{ 3.25, 4, 3, NAN, "fit rob 3.25 3.25..3.25 entries confidence high \"a test\"" },
		{ 0.0999, 0.000001, 0.1, 0, "fit rob 0.0999 0.000001..0.1 entries residual 0 confidence high" },
		{ 0.123456, 0.01, 100, -1, "fit rob 0.1235 0.01..100 entries confidence high" },
		{ 999999999, 0, 1e9, 1e10, "fit rob 999999999 0..999999999 entries confidence high" },
		{ 1e9, 0, 1e9, NAN, "fit rob none entries confidence high" },
		{ 0, -1, NAN, NAN, "fit rob 0 0..0 entries confidence high" },
		{ 10, 9, INFINITY, NAN, "fit rob 10 9..10 entries confidence high" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_fit_param p = { .name = "rob", .value = cases[i].value, .low = cases[i].low,
			.high = cases[i].high, .residual = cases[i].residual, .confidence = GUS_CONFIDENCE_HIGH,
			.why = "a test" };
		struct made m;

		begin(&m, "skylake");
		gus_fit_put(&m.fit, &p);
		written(&m);
		if (!strstr(m.text, cases[i].line))
			fail_msg("%s:\n%s", cases[i].line, m.text);
		end(&m);
	}
}

/* Of two fits of one form the surer counts, whichever is first. */
static void a_form_comes_once(void **state)
{
	struct made m;

	(void)state;
	for (int first = 0; first < 2; first++) {
		begin(&m, "skylake");
		form(&m, "IMUL (R64, R64)", first ? 4 : 5, 1)->confidence = first ? GUS_CONFIDENCE_HIGH :
			GUS_CONFIDENCE_MEDIUM;
		form(&m, "IMUL (R64, R64)", first ? 5 : 4, 1)->confidence = first ? GUS_CONFIDENCE_MEDIUM :
			GUS_CONFIDENCE_HIGH;
		form(&m, "A \"QUOTE\"", 5, 1);
		form(&m, "", 5, 1);
		written(&m);
		assert_int_equal(row_in(m.u, "IMUL (R64, R64)")->latency, 400);
		assert_int_equal(m.u->fits_n, 2);
		end(&m);
	}
}

/* Whatever figures are, what is written parses: each form of a table, with figures drawn. */
static void all_that_is_written_parses(void **state)
{
	static const char *const names[] = { "znver4", "skylake", "alderlake", "neoverse-n1" };
	uint32_t seed = 1;

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
		struct made m;

		begin(&m, names[n]);
		for (uint32_t i = 0; i < m.nearest->forms_n; i += 7) {
			struct gus_fit_form *f = form(&m, m.nearest->forms[i].text, 0, 0);

			seed = seed * 1664525 + 1013904223;
			f->latency = (seed >> 8 & 0xffff) / 100.0;
			f->throughput = seed >> 24 & 1 ? NAN : (seed >> 4 & 0xfff) / 50.0;
			f->load_latency = seed >> 25 & 1 ? NAN : f->latency + 5;
			f->latency_low = f->latency_high = NAN;
			if (seed >> 26 & 1)
				snprintf(f->uses, sizeof(f->uses), "%s:%u",
					 m.nearest->groups[seed % m.nearest->groups_n].name, 1 + (seed >> 28));
		}
		for (const struct gus_uarch_param_kind *kind = gus_uarch_params; kind->name; kind++) {
			seed = seed * 1664525 + 1013904223;
			put(&m, kind->name, (seed >> 16) / 7.0, GUS_CONFIDENCE_HIGH);
		}
		written(&m);
		assert_true(m.u->fits_n > m.fit.forms.n);
		end(&m);
	}
}

/* Seven ways fit into a cache of 56 KiB and not into one of 32; lines of 48 bytes into none. What fits in is left as it
 * is, whichever comes first. */
static void figures_make_a_machine_together(void **state)
{
	struct gus_calibration_about about = { .host = "h", .how = "t" };
	struct gus_error err = { 0 };
	struct made m;

	(void)state;
	for (int first = 0; first < 2; first++) {
		begin(&m, "skylake");
		about.nearest = m.nearest;
		put(&m, first ? "l1d_ways" : "l1d_size", first ? 7 : 56, GUS_CONFIDENCE_HIGH);
		put(&m, first ? "l1d_size" : "l1d_ways", first ? 56 : 7, GUS_CONFIDENCE_HIGH);
		put(&m, "rob", 300, GUS_CONFIDENCE_MEDIUM);
		put(&m, "rs", 90, GUS_CONFIDENCE_LOW);
		assert_int_equal(gus_calibrate_sound(&about, &m.fit, &err), 0);
		assert_int_equal(gus_fit_get(&m.fit, "l1d_ways")->confidence, GUS_CONFIDENCE_HIGH);
		assert_string_equal(gus_fit_get(&m.fit, "l1d_size")->why, "a test");
		put(&m, "line_size", 48, GUS_CONFIDENCE_HIGH);
		put(&m, "l2_ways", 7, GUS_CONFIDENCE_HIGH);
		assert_int_equal(gus_calibrate_sound(&about, &m.fit, &err), 0);
		assert_int_equal(gus_fit_get(&m.fit, "line_size")->confidence, GUS_CONFIDENCE_LOW);
		assert_int_equal(gus_fit_get(&m.fit, "l2_ways")->confidence, GUS_CONFIDENCE_LOW);
		assert_non_null(strstr(gus_fit_get(&m.fit, "l2_ways")->why, "no machine has it"));
		assert_int_equal(gus_fit_get(&m.fit, "l1d_size")->confidence, GUS_CONFIDENCE_HIGH);
		assert_int_equal(gus_fit_get(&m.fit, "rob")->confidence, GUS_CONFIDENCE_MEDIUM);
		assert_int_equal(gus_fit_get(&m.fit, "rs")->confidence, GUS_CONFIDENCE_LOW);
		assert_string_equal(gus_fit_get(&m.fit, "rs")->why, "a test");
		end(&m);
	}
}

static void the_nearest_is_of_the_kind(void **state)
{
	static const struct {
		enum gus_isa isa;
		struct gus_cpu_id id;
		struct gus_cpu_features has;
		const char *name;
	} cases[] = {
		/* What has a table has it, whatever it says that it can. */
		{ GUS_ISA_X86_64, { "AuthenticAMD", 0x19, 0x11, 1, 0 }, { 0 }, "znver4" },
		/* Zen and Zen+, and the same design of another maker */
		{ GUS_ISA_X86_64, { "AuthenticAMD", 0x17, 1, 0, 0 }, { .avx = true, .avx2 = true }, "znver2" },
		{ GUS_ISA_X86_64, { "HygonGenuine", 0x18, 1, 0, 0 }, { .avx = true, .avx2 = true }, "znver2" },
		{ GUS_ISA_X86_64, { "AuthenticAMD", 0x1b, 1, 0, 0 },
		  { .avx = true, .avx2 = true, .avx512 = true }, "znver5" },
		/* a newer family of Intel's, and a newer model */
		{ GUS_ISA_X86_64, { "GenuineIntel", 19, 1, 0, 0 },
		  { .avx = true, .avx2 = true, .avx512 = true }, "emeraldrapids" },
		{ GUS_ISA_X86_64, { "GenuineIntel", 6, 0xab, 0, 0 }, { .avx = true, .avx2 = true }, "meteorlake" },
		{ GUS_ISA_X86_64, { "GenuineIntel", 6, 0x90, 0, 0 },
		  { .avx = true, .avx2 = true, .avx512 = true }, "sapphirerapids" },
		/* an old one without vectors of 256 bits, and one of nobody's */
		{ GUS_ISA_X86_64, { "GenuineIntel", 6, 0x0f, 0, 0 }, { 0 }, "sandybridge" },
		{ GUS_ISA_X86_64, { "CentaurHauls", 6, 0x3b, 0, 0 }, { .avx = true, .avx2 = true }, "haswell" },
		{ GUS_ISA_X86_64, { NULL, 0, 0, 0, 0 }, { .avx = true }, "sandybridge" },
		{ GUS_ISA_ARM64, { NULL, 0, 0, 0, 0x410fd4f0 }, { 0 }, "neoverse-v2" },
		{ GUS_ISA_ARM64, { NULL, 0, 0, 0, 0x611f0230 }, { .atomics = true }, "neoverse-n1" },
		{ GUS_ISA_ARM64, { NULL, 0, 0, 0, 0 }, { .atomics = true, .sve = true }, "neoverse-v1" },
		{ GUS_ISA_ARM64, { NULL, 0, 0, 0, 0x410fd830 }, { .atomics = true, .sve = true, .sve2 = true },
		  "neoverse-n2" },
		{ GUS_ISA_ARM64, { NULL, 0, 0, 0, 0x410fd030 }, { 0 }, "cortex-a72" },
		{ GUS_ISA_UNKNOWN, { "GenuineIntel", 6, 0x0f, 0, 0 }, { 0 }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *name = gus_uarch_nearest(cases[i].isa, &cases[i].id, &cases[i].has);

		if (!name != !cases[i].name || (name && strcmp(name, cases[i].name) != 0))
			fail_msg("case %zu: %s, not %s", i, name ? name : "none", cases[i].name);
		assert_true(!name || gus_uarch_builtin_find(name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_are_kept),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(names_are_told_apart_by_form),
		cmocka_unit_test(a_calibration_ends),
		cmocka_unit_test(nothing_that_is_cut_is_taken),
		cmocka_unit_test(forms_have_room_for_so_much),
		cmocka_unit_test(what_is_said_anew_replaces),
		cmocka_unit_test(a_host_fits_or_does_not),
		cmocka_unit_test(nothing_is_a_table),
		cmocka_unit_test(parameters_are_believed_by_confidence),
		cmocka_unit_test(memory_follows_registers), cmocka_unit_test(latency_and_ports_apart),
		cmocka_unit_test(divisions_have_a_range),
		cmocka_unit_test(rows_are_corrected_where_they_differ),
		cmocka_unit_test(an_interval_leaves_the_row),
		cmocka_unit_test(ports_replace_ports),
		cmocka_unit_test(pairs_move_along),
		cmocka_unit_test(lines_are_written_so),
		cmocka_unit_test(figures_are_written_so),
		cmocka_unit_test(a_form_comes_once),
		cmocka_unit_test(all_that_is_written_parses),
		cmocka_unit_test(figures_make_a_machine_together),
		cmocka_unit_test(the_nearest_is_of_the_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
