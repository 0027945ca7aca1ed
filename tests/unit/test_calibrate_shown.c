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

static const struct gus_screen screen = { .dots = "..." };

struct made {
	struct gus_calibrated_key key;
	struct gus_calibrate_noise noise;
	struct gus_uarch *nearest;
	struct gus_fit fit;
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
	return (struct gus_calibrate_view){ .key = &m->key, .nearest = m->nearest, .own = true, .fit = &m->fit,
		.how = "how", .path = "path", .noise = &m->noise, .screen = &screen };
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
	end(&m);
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
	json_decref(document);
	free(text);
	text = printed(print_text, &m);
	assert_string_equal(line_of(text, "IMUL", 2),
			    "IMUL (R64, R64) operand 3 7 exact low 1 0.50 p5:1 medium 1.0% ports");
	assert_string_equal(line_of(text, "IMUL", 3), "");
	free(text);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latencies_are_named),
		cmocka_unit_test(a_row_differs_in_what_is_sure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
