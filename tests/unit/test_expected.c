/* SPDX-License-Identifier: MIT */
/* Expected errors: what a text says, which line stands for which figure, and what is no such text; and how they are
 * shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/common/csv.h"
#include "cli/model/expected.h"
#include "model/tables/builtin.h"
#include "model/tables/expected.h"
#include "model/tables/uarch.h"
#include "printed.h"

static const char text[] =
	"# a comment\n"
	"source S \"some blocks\"   # and one behind it\n"
	"\n"
	"error one core loop all median 2.5 p90 10 n 40 source S\n"
	"error one core loop ports median 0.1 p90 0.1 n 30 source S\n"
	"error one core unrolled ports median 3.0 p90 4.0 n 31 source S\n"
	"  error two stream traced all mean 12.34 n 5 source S\n"
	"source EMPTY \"\"\n"
	"error three core loop all mean 0.5 n 1 source EMPTY\n"
	"error zero stream traced all median 0 p90 0 n 9 source S";

static struct gus_expected *parse(const char *from)
{
	struct gus_error err = { 0 };
	struct gus_expected *e = gus_expected_parse(from, strlen(from), &err);

	if (!e)
		fail_msg("%s", err.text);
	return e;
}

static void figures_of_a_line(void **state)
{
	struct gus_expected *e = parse(text);
	const struct gus_expected_error *all = gus_expected_find(e, "one", "core", "loop", "all"),
		*mean = gus_expected_find(e, "two", "stream", "traced", "ports");

	(void)state;
	assert_non_null(all);
	assert_float_equal(all->median, 2.5, 1e-12);
	assert_float_equal(all->p90, 10, 1e-12);
	assert_true(all->mean < 0);
	assert_int_equal(all->n, 40);
	assert_string_equal(all->source, "some blocks");
	assert_non_null(mean);
	assert_float_equal(mean->mean, 12.34, 1e-12);
	assert_true(mean->median < 0 && mean->p90 < 0);
	assert_int_equal(mean->n, 5);
	mean = gus_expected_find(e, "three", "core", "loop", "all");
	assert_non_null(mean);
	assert_float_equal(mean->mean, 0.5, 1e-12);
	assert_string_equal(mean->source, "");
	gus_expected_free(e);
}

static void whose_line_it_is(void **state)
{
	struct gus_expected *e = parse(text);

	(void)state;
	assert_string_equal(gus_expected_find(e, "one", "core", "loop", "ports")->kind, "ports");
	assert_string_equal(gus_expected_find(e, "one", "core", "loop", "issue")->kind, "all");
	assert_int_equal(gus_expected_find(e, "one", "core", "unrolled", "ports")->n, 31);
	assert_null(gus_expected_find(e, "one", "core", "unrolled", "issue")); /* no line of all */
	assert_null(gus_expected_find(e, "one", "stream", "loop", "ports"));
	assert_null(gus_expected_find(e, "two", "core", "loop", "ports"));
	assert_null(gus_expected_find(e, "on", "core", "loop", "ports"));
	gus_expected_free(e);
	e = parse("");
	assert_null(gus_expected_find(e, "one", "core", "loop", "all"));
	gus_expected_free(e);
	gus_expected_free(NULL);
}

static void what_is_no_line(void **state)
{
	static const char *const bad[] = {
		"error one core loop all median 2.5 p90 10 n 40 source T",      /* no such source */
		"error one core loop all median 2.5 p90 10 n 40",
		"error one core loop all median 2.5 p90 10 n 0 source S",
		"error one core loop all median 2.5 p90 10 source S",
		"error one core loop all median 2.5 n 40 source S",
		"error one core loop all p90 2.5 n 40 source S",
		"error one core loop all median 2.5 p90 2.4 n 40 source S",     /* less than the median */
		"error one core loop all median 2.5 p90 3 mean 3 n 40 source S", /* either */
		"error one core loop all median 2.5 median 3 p90 4 n 40 source S",
		"error one core loop all median 0.5 median 3 p90 4 n 40 source S",
		"error one core loop all median -2 p90 10 n 40 source S",
		"error one core loop all median 2,5 p90 10 n 40 source S",
		"error one core loop all median x p90 10 n 40 source S",
		"error one core loop all median 2.5x p90 10 n 40 source S",
		"error one core loop all median 1234567890 p90 1234567891 n 40 source S",
		"error one core loop all n 40 source S",
		"error one core loop all median 2.5 p90 10 n 40 source S more",
		"error one core loop all median 2.5 p90 10 n 40 source S a b c d e f g",
		"error one core loop",
		"fault one core loop all median 2.5 p90 10 n 40 source S",
		"source S",
		"source S \"text\" more",
		"source S \"text",
		"\"text",
		"words",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gus_error err = { 0 };
		char both[256];

		strcpy(both, "source S \"T\"\n");
		strcat(both, bad[i]);
		if (gus_expected_parse(both, strlen(both), &err))
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(err.code, GUS_E_CORRUPT);
		assert_non_null(strstr(err.text, "line 2"));
	}
}

/* What the program carries: of every table with a figure there is one for what has no kind of its own. */
static void what_is_carried(void **state)
{
	static const struct { const char *table, *engine, *setting; } known[] = {
		{ "skylake", "core", "unrolled" }, { "skylake", "stream", "unrolled" },
		{ "haswell", "core", "unrolled" },
		{ "ivybridge", "stream", "unrolled" }, { "icelake-server", "core", "unrolled" },
		{ "icelake-server", "core", "loop" }, { "emeraldrapids", "core", "loop" },
		{ "emeraldrapids", "stream", "unrolled" }, { "sapphirerapids", "core", "unrolled" },
	};
	size_t size = 0;
	const char *carried = gus_uarch_builtin.get(NULL, "expected.errors", &size);
	struct gus_error err = { 0 };
	struct gus_expected *e;

	(void)state;
	assert_non_null(carried);
	e = gus_expected_parse(carried, size, &err);
	assert_non_null(e);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_non_null(gus_expected_find(e, known[i].table, known[i].engine, known[i].setting, "all"));
	assert_null(gus_expected_find(e, "lunarlake", "core", "loop", "all"));
	assert_null(gus_expected_find(e, "skylake", "stream", "traced", "all"));
	gus_expected_free(e);
}

/* As text, JSON and CSV. */

struct shown { const struct gus_model_expectation *x; const char *kind; };

static void print_text(const void *shown)
{
	const struct shown *s = shown;

	gus_model_expected_text(s->x, s->kind);
}

static void print_csv(const void *shown)
{
	const struct shown *s = shown;
	struct gus_csv c = { .out = stdout, .separator = "," };

	gus_model_expected_csv(s->x, s->kind, &c);
	gus_csv_end(&c);
}

static void shows(const struct gus_model_expectation *x, const char *kind, const char *line, const char *json,
		  const char *csv)
{
	const struct shown s = { x, kind ? kind : "all" }, row = { x, kind };
	json_t *o = gus_model_expected_json(x, s.kind);
	char *dump = json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	char *is = printed(print_text, &s);

	assert_string_equal(is + strspn(is, " "), line);
	assert_string_equal(dump, json);
	free(is);
	is = printed(print_csv, &row);
	assert_string_equal(is, csv);
	free(is);
	free(dump);
	json_decref(o);
}

static void what_is_known_is_shown(void **state)
{
	struct gus_expected *e = parse(text);
	struct gus_model_expectation x = { .errors = e, .table = "one", .engine = "core", .setting = "loop" };

	(void)state;
	shows(&x, "issue", "expected within 2.5% (90%: 10.0%): 40 of any kind were measured (some blocks)\n",
	      "{\"median_pct\":2.5,\"p90_pct\":10.0,\"mean_pct\":null,\"n\":40,\"kind\":\"all\","
	      "\"source\":\"some blocks\"}", "2.5,10.0\n");
	assert_null(gus_model_not_judged(&x, "issue"));
	shows(&x, "ports", "expected within 0.1% (90%: 0.1%): 30 limited by ports were measured (some blocks)\n",
	      "{\"median_pct\":0.1,\"p90_pct\":0.1,\"mean_pct\":null,\"n\":30,\"kind\":\"ports\","
	      "\"source\":\"some blocks\"}", "0.1,0.1\n");
	x = (struct gus_model_expectation){ .errors = e, .table = "two", .engine = "stream", .setting = "traced" };
	shows(&x, "all", "expected within 12.3% on average: 5 were measured (some blocks)\n",
	      "{\"median_pct\":null,\"p90_pct\":null,\"mean_pct\":12.34,\"n\":5,\"kind\":\"all\","
	      "\"source\":\"some blocks\"}", ",\n");
	x.table = "zero";
	shows(&x, "all", "expected within 0.0% (90%: 0.0%): 9 of any kind were measured (some blocks)\n",
	      "{\"median_pct\":0.0,\"p90_pct\":0.0,\"mean_pct\":null,\"n\":9,\"kind\":\"all\","
	      "\"source\":\"some blocks\"}", "0.0,0.0\n");
	gus_expected_free(e);
}

/* Without a measurement there is no figure, and a reason: by how the code was run, or the run's own. */
static void what_is_not_known_has_a_reason(void **state)
{
	static const struct { const char *setting, *says; } cases[] = {
		{ "unrolled", "nobody has timed blocks, one copy behind the other, on a CPU of this table" },
		{ "loop", "nobody has timed blocks as loops on a CPU of this table" },
		{ "traced", "nobody has timed whole programs on a CPU of this table" },
		{ "other", "nobody has timed such code on a CPU of this table" },
	};
	struct gus_expected *e = parse(text);
	struct gus_model_expectation x = { .errors = e, .table = "none", .engine = "core" };
	char says[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		x.setting = cases[i].setting;
		snprintf(says, sizeof(says), "not judged: %s\n", cases[i].says);
		shows(&x, "all", says, "null", ",\n");
	}
	x = (struct gus_model_expectation){ .errors = e, .table = "one", .engine = "core", .setting = "loop",
		.why = "knobs were turned" };
	shows(&x, "ports", "not judged: knobs were turned\n", "null", ",\n");
	x.why = NULL;
	shows(&x, NULL, "expected within 2.5% (90%: 10.0%): 40 of any kind were measured (some blocks)\n",
	      "{\"median_pct\":2.5,\"p90_pct\":10.0,\"mean_pct\":null,\"n\":40,\"kind\":\"all\","
	      "\"source\":\"some blocks\"}", ",\n"); /* a row without a figure */
	gus_expected_free(e);
}

static void what_is_carried_opens(void **state)
{
	struct gus_model_expectation x = { .table = "skylake", .engine = "core", .setting = "unrolled" };
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_model_expectation_open(&x, &err), 0);
	assert_non_null(gus_model_expected(&x, "all"));
	gus_model_expectation_close(&x);
	assert_null(x.errors);
	gus_model_expectation_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_a_line), cmocka_unit_test(whose_line_it_is),
		cmocka_unit_test(what_is_no_line), cmocka_unit_test(what_is_carried),
		cmocka_unit_test(what_is_known_is_shown), cmocka_unit_test(what_is_not_known_has_a_reason),
		cmocka_unit_test(what_is_carried_opens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
