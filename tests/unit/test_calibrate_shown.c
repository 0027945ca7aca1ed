/* SPDX-License-Identifier: MIT */
/* What gusprof calibrate shows of instruction forms: which latency a figure is, and in what a row is corrected, which
 * never is what nobody is sure of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cli/calibrate/fits.h"
#include "cli/calibrate/view.h"
#include "cli/common/calibrated_key.h"
#include "cli/screen/screen.h"
#include "model/calibration/fitted.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/unit/printed.h"

static struct gus_screen screen = { .dots = "..." };

struct made {
	struct gus_calibrated_key key;
	struct gus_calibrate_noise noise;
	struct gus_uarch *nearest;
	struct gus_fit fit;
	bool other, asked, kept;        /* other: the nearest is not this CPU's own */
	const char *const *notes;
	size_t notes_n;
	const char *recording;
};

static void begin(struct made *m)
{
	struct gus_error err = { 0 };

	*m = (struct made){ .nearest = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err) };
	assert_non_null(m->nearest);
	for (int i = 0; i < GUS_HOST_PARTS; i++)
		m->key.values[i] = (struct gus_uarch_valid){ (char *)"part", (char *)"none" };
}

static void end(struct made *m)
{
	gus_fit_free(&m->fit);
	gus_uarch_free(m->nearest);
}

static struct gus_fit_form *form(struct made *m, const char *text, double latency, double load)
{
	struct gus_fit_form f = { .latency = latency, .latency_low = latency, .latency_high = latency,
		.load_latency = load, .throughput = 0.5, .residual = 0.01, .confidence = GUS_CONFIDENCE_HIGH,
		.latency_confidence = GUS_CONFIDENCE_HIGH, .why = "a test" };

	assert_non_null(gus_uarch_form_by_text(m->nearest, text));
	snprintf(f.form, sizeof(f.form), "%s", text);
	gus_vec_push(&m->fit.forms, f);
	return &m->fit.forms.v[m->fit.forms.n - 1];
}

static struct gus_calibrate_view view_of(const struct made *m)
{
	return (struct gus_calibrate_view){ .key = &m->key, .nearest = m->nearest, .own = !m->other,
		.asked = m->asked, .fit = &m->fit, .how = "how", .path = "path", .kept = m->kept,
		.recording = m->recording, .notes = m->notes, .notes_n = m->notes_n, .noise = &m->noise,
		.screen = &screen };
}

static void print_text(const void *made)
{
	struct gus_calibrate_view v = view_of(made);

	gus_calibrate_text(&v);
}

static void print_json(const void *made)
{
	struct gus_calibrate_view v = view_of(made);

	assert_int_equal(gus_calibrate_json(&v), 0);
}

/* The words of the n-th row that begins with this, one blank between them; "" if there are not as many. */
static const char *line_of(const char *text, const char *begins, unsigned n)
{
	static char out[256];
	size_t size = 0;

	for (; text; text = strchr(text, '\n'), text += text != NULL)
		if (strncmp(text, "  ", 2) == 0 && strncmp(text + 2, begins, strlen(begins)) == 0 && n-- == 0)
			break;
	for (const char *at = text ? text + 2 : NULL; at && *at && *at != '\n' && size + 1 < sizeof(out); at++)
		if (*at != ' ' || (size && out[size - 1] != ' '))
			out[size++] = *at;
	out[size] = '\0';
	return out;
}

/* Of a load it is from the address; of what loads and computes there are two, each beside the table's of its kind. */
static void latencies_are_named(void **state)
{
	const char *load = "MOVSX (R32, M8)", *both = "ADD (R64, M64)", *plain = "IMUL (R64, R64)";
	const char *same = "OR (R64, M64)", *follows = "XOR (R64, M64)";
	struct made m;
	char *text;

	(void)state;
	begin(&m);
	form(&m, load, NAN, 9);
	form(&m, both, 4, 9);
	form(&m, plain, 7, NAN);
	form(&m, same, 1, 9);
	form(&m, follows, 4, NAN);
	text = printed(print_text, &m);
	assert_string_equal(line_of(text, load, 0),
			    "MOVSX (R32, M8) address 5 9 - high 0.50 0.50 high 1.0% load latency");
	assert_string_equal(line_of(text, load, 1), "");
	assert_string_equal(line_of(text, both, 0),
			    "ADD (R64, M64) operand 1 4 exact high 0.50 0.50 high 1.0% latency");
	assert_string_equal(line_of(text, both, 1), "ADD (R64, M64) address 6 9 - high load latency");
	assert_string_equal(line_of(text, plain, 0),
			    "IMUL (R64, R64) operand 3 7 exact high 1 0.50 high 1.0% latency");
	assert_string_equal(line_of(text, plain, 1), "");
	assert_string_equal(line_of(text, same, 0), "OR (R64, M64) operand 1 1 exact high 0.50 0.50 high 1.0% -");
	assert_string_equal(line_of(text, same, 1), "OR (R64, M64) address 6 9 - high load latency");
	/* What was not timed from the address is no line, though the row follows. */
	assert_string_equal(line_of(text, follows, 0),
			    "XOR (R64, M64) operand 1 4 exact high 0.50 0.50 high 1.0% latency");
	assert_string_equal(line_of(text, follows, 1), "");
	free(text);
	/* Where the table does not say, nothing stands beside it. */
	m.fit.forms.n = 0;
	snprintf(form(&m, plain, NAN, 9)->uses, sizeof(m.fit.forms.v->uses), "p5:1");
	text = printed(print_text, &m);
	assert_string_equal(line_of(text, plain, 0),
			    "IMUL (R64, R64) address - 9 - high 1 0.50 p5:1 high 1.0% ports");
	free(text);
	end(&m);
}

static const char *json_of(json_t *o, const char *key)
{
	static char out[64];
	char *text = json_dumps(json_object_get(o, key), JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));

	snprintf(out, sizeof(out), "%s", text ? text : "none");
	free(text);
	return out;
}

static json_t *form_of(json_t *document, size_t n)
{
	json_t *o = json_array_get(json_object_get(document, "forms"), n);

	assert_non_null(o);
	return o;
}

static void expect_differs(json_t *o, const char *in)
{
	char *list = json_dumps(json_object_get(o, "differs_in"), JSON_COMPACT);

	assert_string_equal(list, in);
	assert_true(json_is_true(json_object_get(o, "differs")) == (strcmp(in, "[]") != 0));
	free(list);
}

/* A confidence is that of a part: where one is low the other may still differ, and it says which. */
static void a_row_differs_in_what_is_sure(void **state)
{
	static const struct {
		enum gus_confidence latency, ports;
		const char *in;
	} cases[] = {
		{ GUS_CONFIDENCE_HIGH, GUS_CONFIDENCE_HIGH, "[\"latency\",\"ports\"]" },
		{ GUS_CONFIDENCE_MEDIUM, GUS_CONFIDENCE_LOW, "[\"latency\"]" },
		{ GUS_CONFIDENCE_LOW, GUS_CONFIDENCE_MEDIUM, "[\"ports\"]" },
		{ GUS_CONFIDENCE_LOW, GUS_CONFIDENCE_LOW, "[]" },
		{ GUS_CONFIDENCE_NONE, GUS_CONFIDENCE_NONE, "[]" },
	};
	enum { N = sizeof(cases) / sizeof(*cases) };
	struct made m;
	json_t *document;
	char *text;

	(void)state;
	begin(&m);
	for (size_t i = 0; i < N; i++) {
		struct gus_fit_form *f = form(&m, "IMUL (R64, R64)", 7, NAN);

		f->latency_confidence = cases[i].latency;
		f->confidence = cases[i].ports;
		snprintf(f->uses, sizeof(f->uses), "p5:1");
	}
	text = printed(print_json, &m);
	document = json_loads(text, 0, NULL);
	assert_non_null(document);
	for (size_t i = 0; i < N; i++)
		expect_differs(form_of(document, i), cases[i].in);
	assert_string_equal(json_of(form_of(document, 0), "uses"), "\"p5:1\"");
	json_decref(document);
	free(text);
	text = printed(print_text, &m);
	assert_non_null(strstr(text, "\nOf 5 forms 3 differ from skylake, and of 2 too little could be told.\n"));
	assert_string_equal(line_of(text, "IMUL", 0),
			    "IMUL (R64, R64) operand 3 7 exact high 1 0.50 p5:1 high 1.0% latency, ports");
	assert_string_equal(line_of(text, "IMUL", 2),
			    "IMUL (R64, R64) operand 3 7 exact low 1 0.50 p5:1 medium 1.0% ports");
	assert_string_equal(line_of(text, "IMUL", 3), "");
	free(text);
	end(&m);
}

/* A form beside the table's row; of an instruction that the table does not know there is none. */
static void forms_are_beside_their_rows(void **state)
{
	static const char *const rows[] = {
		"{\"latency\":1.0,\"load_latency\":6.0,\"throughput\":0.5}",
		"{\"latency\":3.0,\"load_latency\":null,\"throughput\":1.0}", "null",
	};
	struct made m;
	json_t *document;
	char *text;

	(void)state;
	begin(&m);
	form(&m, "ADD (R64, M64)", 4, 9);
	form(&m, "IMUL (R64, R64)", 7, NAN);
	snprintf(form(&m, "IMUL (R64, R64)", 7, NAN)->form, sizeof(m.fit.forms.v->form), "NEVER (R64)");
	text = printed(print_json, &m);
	document = json_loads(text, 0, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(json_of(form_of(document, i), "nominal"), rows[i]);
	assert_string_equal(json_of(form_of(document, 0), "load_latency"), "9.0");
	assert_string_equal(json_of(form_of(document, 1), "load_latency"), "null");
	assert_string_equal(json_of(form_of(document, 1), "uses"), "null");
	json_decref(document);
	free(text);
	end(&m);
}

static void param(struct made *m, const char *name, double value, double low, double high, enum gus_confidence sure)
{
	gus_vec_push(&m->fit.params, (struct gus_fit_param){ .name = name, .value = value, .low = low, .high = high,
		.residual = 0.02, .confidence = sure, .why = "a test" });
}

/* Front to back, then what no table has by name. A flag is told by yes or no, a policy by its word; what could not be
 * told has no figure, though it be there. */
static void parameters_are_in_order(void **state)
{
	static const struct { const char *line, *name, *unit, *nominal, *value, *low, *high, *residual; } rows[] = {
		{ "issue_width 4 4.50 4..5 uops high 2.0% a test", "issue_width", "\"uops\"", "4.0", "4.5", "4.0",
		  "5.0", "0.02" },
		{ "decode_fuse_last yes no exact flag medium 2.0% a test", "decode_fuse_last", "\"flag\"",
		  "\"yes\"", "\"no\"", "\"no\"", "\"no\"", "0.02" },
		{ "decode_pop_5c complex ends any..ends policy low 2.0% a test", "decode_pop_5c", "\"policy\"",
		  "\"complex\"", "\"ends\"", "\"any\"", "\"ends\"", "0.02" },
		{ "rob 224 - - entries none - a test", "rob", "\"entries\"", "224.0", "null", "null",
		  "null", "null" },
		{ "another - 123.4 - high 2.0% a test", "another", "null", "null", "123.42", "null", "200.0", "0.02" },
		{ "other - 1 - high 2.0% a test", "other", "null", "null", "1.0", "1.0", "null", "0.02" },
	};
	struct made m;
	json_t *document, *params;
	char *text;

	(void)state;
	begin(&m);
	param(&m, "other", 1, 1, NAN, GUS_CONFIDENCE_HIGH);
	param(&m, "another", 123.42, NAN, 200, GUS_CONFIDENCE_HIGH);
	param(&m, "rob", 200, 200, 200, GUS_CONFIDENCE_NONE);
	param(&m, "decode_pop_5c", 2, 0, 2, GUS_CONFIDENCE_LOW);
	param(&m, "decode_fuse_last", 0, 0, 0, GUS_CONFIDENCE_MEDIUM);
	param(&m, "issue_width", 4.5, 4, 5, GUS_CONFIDENCE_HIGH);
	text = printed(print_text, &m);
	for (size_t i = 0, at = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *line = strstr(text + at, rows[i].name);

		assert_non_null(line); /* behind the one before it */
		at = (size_t)(line - text);
		assert_string_equal(line_of(text, rows[i].name, 0), rows[i].line);
	}
	free(text);
	text = printed(print_json, &m);
	document = json_loads(text, 0, NULL);
	params = json_object_get(document, "params");
	assert_int_equal(json_array_size(params), sizeof(rows) / sizeof(*rows));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *o = json_array_get(params, i);

		assert_string_equal(json_string_value(json_object_get(o, "name")), rows[i].name);
		assert_string_equal(json_of(o, "unit"), rows[i].unit);
		assert_string_equal(json_of(o, "nominal"), rows[i].nominal);
		assert_string_equal(json_of(o, "value"), rows[i].value);
		assert_string_equal(json_of(o, "low"), rows[i].low);
		assert_string_equal(json_of(o, "high"), rows[i].high);
		assert_string_equal(json_of(o, "residual"), rows[i].residual);
	}
	json_decref(document);
	free(text);
	end(&m);
}

static bool tells(struct made *m, const char *what)
{
	char *text = printed(print_text, m);
	bool is_there = strstr(text, what) != NULL;

	free(text);
	return is_there;
}

static void expect_json(struct made *m, const char *key, const char *wanted)
{
	char *text = printed(print_json, m);
	json_t *document = json_loads(text, 0, NULL);

	assert_string_equal(json_of(document, key), wanted);
	json_decref(document);
	free(text);
}

/* Whose it is, what it is beside, what is to be known before it is believed, and where it went. */
static void heads_and_ends(void **state)
{
	static const char *const notes[] = { "it is hot", "it is late" };
	static const char valid[] = "{\"first\":\"1\",\"part\":\"none\",\"other\":\"7\"}";
	struct made m;
	char *json;

	(void)state;
	begin(&m);
	snprintf(m.key.hostname, sizeof(m.key.hostname), "here");
	m.key.values[0] = (struct gus_uarch_valid){ (char *)"first", (char *)"1" };
	m.key.values[GUS_HOST_PARTS - 1] = (struct gus_uarch_valid){ (char *)"other", (char *)"7" };
	assert_true(tells(&m, "here, beside skylake (Intel Skylake, client)\nvalid for first 1, part none, "));
	assert_true(tells(&m, ", part none, other 7\nhow: 0 microbenchmarks, 0.0% in trouble"));
	assert_true(tells(&m, "\nThe table is path; --uarch takes that name\n"));
	json = printed(print_json, &m); /* people read it, too */
	assert_true(strncmp(json, "{\n \"schema\": ", strlen("{\n \"schema\": ")) == 0);
	free(json);
	expect_json(&m, "schema", "\"gusprof.calibration/1\"");
	expect_json(&m, "host", "\"here\"");
	expect_json(&m, "valid", valid);
	expect_json(&m, "nearest_is_own", "true");
	expect_json(&m, "recording", "null");
	expect_json(&m, "kept", "false");
	expect_json(&m, "notes", "[]");
	m.asked = true; /* of its own table */
	assert_true(tells(&m, ", other 7\nhow: "));
	m.kept = m.other = true;
	m.asked = false;
	m.notes = notes;
	m.notes_n = 2;
	m.recording = "a.data";
	assert_true(tells(&m, ", other 7\nThere is no table for this CPU, and skylake is the nearest: what was not "
			  "measured is as there\nnote: it is hot\nnote: it is late\nhow: "));
	assert_true(tells(&m, "\nThe table is path; --uarch host is that from now on, and --uarch nominal is what it "
			  "was before\n"));
	expect_json(&m, "nearest_is_own", "false");
	expect_json(&m, "recording", "\"a.data\"");
	expect_json(&m, "kept", "true");
	expect_json(&m, "notes", "[\"it is hot\",\"it is late\"]");
	m.asked = true;
	assert_true(tells(&m, ", other 7\nThis was not begun from the CPU's own table: what was not measured is as in "
			  "skylake\nnote: "));
	end(&m);
}

/* As wide as they are where nobody looks; on a screen the units, then the residual leave, and names are cut. */
static void columns_stand_below_each_other(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	param(&m, "issue_width", 4.5, 4, 5, GUS_CONFIDENCE_HIGH);
	form(&m, "IMUL (R64, R64)", 7, NAN);
	assert_true(tells(&m,
"# parameter                  nominal   measured         between  unit          confidence  residual  from\n"
"  issue_width                      4       4.50            4..5  uops          high            2.0%  a test\n"));
	assert_true(tells(&m,
"# form                          from       nominal   latency       between  of latency   nominal   cyc/ins  ports"
"           of ports    residual  differs in\n"
"  IMUL (R64, R64)               operand          3         7         exact  high               1      0.50       "
"           high            1.0%  latency\n"));
	screen.width = 85;
	assert_true(tells(&m,
"# form          from     nominal  latency  of latency  nominal  cyc/ins  ports  of ports  differs in\n"
"  IMUL ...R64)  operand        3        7  high              1     0.50         high      latency\n"));
	screen.width = 77;
	assert_true(tells(&m,
"# parameter    nominal  measured  between  unit  confidence  residual  from\n"
"  issue_width        4      4.50     4..5  uops  high            2.0%  a test\n"));
	screen.width = 76;
	assert_true(tells(&m,
"# parameter    nominal  measured  between  confidence  residual  from\n"
"  issue_width        4      4.50     4..5  high            2.0%  a test\n"));
	screen.width = 71;
	assert_true(tells(&m, "  between  confidence  residual  from\n"));
	screen.width = 70;
	assert_true(tells(&m,
"# parameter    nominal  measured  between  confidence  from\n"
"  issue_width        4      4.50     4..5  high        a test\n"));
	screen.width = 0;
	end(&m);
}

/* Facts have an interval where they were not always the same; one microbenchmark is one. */
static void facts_and_noise_are_told(void **state)
{
	struct made m;
	json_t *document, *facts;
	char *text;

	(void)state;
	begin(&m);
	gus_vec_push(&m.fit.facts, (struct gus_fit_fact){ "core_ghz", "GHz", 3.5, 3.25, 3.75, "of the clock" });
	gus_vec_push(&m.fit.facts, (struct gus_fit_fact){ "lines", NULL, 6, 6, 6, "" });
	m.noise = (struct gus_calibrate_noise){ .run = 1 };
	assert_true(tells(&m, "\ncore_ghz 3.5 GHz (3.25..3.75): of the clock\nlines 6 \n"));
	assert_true(tells(&m, "how: 1 microbenchmark, 0.0% in trouble"));
	m.noise = (struct gus_calibrate_noise){ 10, 1, 2, 3, 4, 5 };
	assert_true(tells(&m, "how: 10 microbenchmarks, 50.0% in trouble (1 noisy, 2 with two times, 3 disturbed); 4 "
			  "beside another thread of the core"));
	text = printed(print_json, &m);
	document = json_loads(text, 0, NULL);
	facts = json_object_get(document, "facts");
	assert_int_equal(json_array_size(facts), 2);
	assert_string_equal(json_of(json_array_get(facts, 0), "low"), "3.25");
	assert_string_equal(json_of(json_array_get(facts, 1), "unit"), "null");
	assert_string_equal(json_of(json_object_get(document, "noise"), "moved"), "3");
	assert_string_equal(json_of(json_object_get(document, "noise"), "beside"), "4");
	json_decref(document);
	free(text);
	end(&m);
}

static void print_check_text(const void *check)
{
	gus_calibrate_check_text(check);
}

static void print_check_json(const void *check)
{
	assert_int_equal(gus_calibrate_check_json(check), 0);
}

/* What --check finds: a calibration, none, none because of something, and none that could be anywhere. */
static void a_check_says_what_it_found(void **state)
{
	static const struct { bool kept; const char *path, *why, *text, *calibrated; } cases[] = {
		{ true, "here", NULL, "here is this machine's: ", "true" },
		{ false, "here", NULL, "this machine is not calibrated\nit would be here\n  ", "false" },
		{ false, "here", "it is old", "this machine is not calibrated: it is old\nit would be here\n  ",
		  "false" },
		{ false, NULL, NULL, "this machine is not calibrated\n  ", "false" },
	};
	struct made m;

	(void)state;
	begin(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_calibrate_check c = { .key = &m.key, .kept = cases[i].kept ? m.nearest : NULL,
			.path = cases[i].path, .why = cases[i].why };
		char *text = printed(print_check_text, &c), *json = printed(print_check_json, &c);
		json_t *document = json_loads(json, 0, NULL);
		unsigned parts = 0;

		assert_true(strncmp(text, cases[i].text, strlen(cases[i].text)) == 0);
		while (*line_of(text, "part", parts))
			parts++;
		assert_int_equal(parts, GUS_HOST_PARTS);
		assert_string_equal(json_of(document, "calibrated"), cases[i].calibrated);
		assert_true(json_is_null(json_object_get(document, "title")) == !cases[i].kept);
		assert_true(json_is_null(json_object_get(document, "file")) == !cases[i].path);
		assert_true(json_is_null(json_object_get(document, "why")) == !cases[i].why);
		json_decref(document);
		free(json);
		free(text);
	}
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latencies_are_named),
		cmocka_unit_test(a_row_differs_in_what_is_sure),
		cmocka_unit_test(forms_are_beside_their_rows),
		cmocka_unit_test(parameters_are_in_order),
		cmocka_unit_test(columns_stand_below_each_other),
		cmocka_unit_test(heads_and_ends),
		cmocka_unit_test(facts_and_noise_are_told),
		cmocka_unit_test(a_check_says_what_it_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
