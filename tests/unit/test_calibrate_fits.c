/* SPDX-License-Identifier: MIT */
/* All fits one after the other (cli/calibrate/fits.h): which are asked, and what is made of troubled times. The fits
 * themselves are others' matter; those here run the same microbenchmarks each, and find what was written down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cli/calibrate/fits.h"
#include "cli/common/progress.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/host.h"

enum { MOST = 100, FITS = 6, SAID = 64 };

static struct made {
	uint32_t trouble[MOST];         /* of each microbenchmark that a fit runs */
	size_t micros_n;
	char asked[128];                /* fits, each with how many instructions of a recording it has */
	const char *fails;              /* a fit, or "host" */
	struct { const char *what; double share; } said[SAID];
	size_t said_n;
	unsigned ends;
} made;

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	assert_ptr_equal(context, &made);
	(void)micros;
	if (made.fails && strcmp(made.fails, "host") == 0)
		return gus_fail(err, GUS_E_SYSTEM, "the host fails");
	for (size_t i = 0; i < n; i++)
		times[i] = (struct gus_micro_time){ .trouble = made.trouble[i] };
	return 0;
}

static int fit(const char *name, const struct gus_calibration *c, struct gus_error *err)
{
	static const double done[] = { -1, 0.5, 2 };
	struct gus_micro_time times[MOST];
	size_t size = strlen(made.asked);

	snprintf(made.asked + size, sizeof(made.asked) - size, "%s%s %zu", size ? ", " : "", name, c->insns_n);
	for (size_t i = 0; i < sizeof(done) / sizeof(*done); i++)
		c->progress(c->progress_context, name, done[i]);
	if (made.fails && strcmp(made.fails, name) == 0)
		return gus_fail(err, GUS_E_SYSTEM, "%s fails", name);
	return c->host->run(c->host->context, NULL, made.micros_n, times, err);
}

int gus_fit_front(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	(void)f;
	return fit("front", c, err);
}

int gus_fit_forms(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	(void)f;
	return fit("forms", c, err);
}

int gus_fit_window(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	(void)f;
	return fit("window", c, err);
}

int gus_fit_penalties(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	(void)f;
	return fit("penalties", c, err);
}

int gus_fit_memory(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	(void)f;
	return fit("memory", c, err);
}

void gus_progress(struct gus_progress *p, const char *what, double share)
{
	assert_null(p);
	assert_true(made.said_n < SAID);
	made.said[made.said_n].what = what;
	made.said[made.said_n++].share = share;
}

void gus_progress_end(struct gus_progress *p)
{
	assert_null(p);
	made.ends++;
}

static int fit_all(size_t insns, struct gus_fit *f, struct gus_calibrate_noise *noise, struct gus_error *err)
{
	static const struct gus_calibration_insn recorded[2];
	const struct gus_calibration_host host = { .context = &made, .run = run };
	const struct gus_calibration c = { .host = &host, .insns = recorded, .insns_n = insns };

	made.asked[0] = '\0';
	made.said_n = made.ends = 0;
	return gus_calibrate_fits(&c, f, noise, NULL, err);
}

/* What a recording has is measured before our own list, and nobody else sees it. */
static void each_fit_is_asked_in_turn(void **state)
{
	static const struct { size_t insns; const char *fails, *asked; } cases[] = {
		{ 0, NULL, "front 0, forms 0, window 0, penalties 0, memory 0" },
		{ 2, NULL, "front 0, forms 2, forms 0, window 0, penalties 0, memory 0" },
		{ 2, "forms", "front 0, forms 2" }, { 0, "window", "front 0, forms 0, window 0" },
		{ 0, "memory", "front 0, forms 0, window 0, penalties 0, memory 0" }, { 0, "host", "front 0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_calibrate_noise noise;
		struct gus_fit f = { .params = { 0 } };
		struct gus_error err = { 0 };

		made = (struct made){ .fails = cases[i].fails, .micros_n = 3 };
		assert_int_equal(fit_all(cases[i].insns, &f, &noise, &err), cases[i].fails ? -1 : 0);
		assert_string_equal(made.asked, cases[i].asked);
		assert_true(!cases[i].fails == !strstr(err.text, "fails"));
		assert_int_equal(made.ends, 1);
	}
}

/* Whatever a fit says of itself, the line on the terminal goes from nothing to all, and never back. */
static void progress_goes_on(void **state)
{
	struct gus_fit f = { .params = { 0 } };
	struct gus_calibrate_noise noise;
	struct gus_error err = { 0 };

	(void)state;
	made = (struct made){ .micros_n = 1 };
	assert_int_equal(fit_all(2, &f, &noise, &err), 0);
	assert_int_equal(made.said_n, 4 * FITS);
	assert_float_equal(made.said[0].share, 0, 1e-9);
	assert_float_equal(made.said[4 * FITS - 1].share, 1, 1e-9);
	for (size_t i = 0; i < 4 * FITS; i += 4) { /* as it begins, at less than nothing, at a half, at more than all */
		double begins = made.said[i].share, ends = made.said[i + 3].share;

		assert_true(ends > begins);
		assert_float_equal(made.said[i + 1].share, begins, 1e-9);
		assert_float_equal(made.said[i + 2].share, (begins + ends) / 2, 1e-9);
		if (i)
			assert_float_equal(begins, made.said[i - 1].share, 1e-9);
	}
}

/* One that is in trouble in two ways is in trouble once; and what a neighbour was beside is in no other. */
static void troubles_are_counted(void **state)
{
	static const struct made mixed = { .micros_n = 8, .trouble = { 0, GUS_MICRO_NOISY,
		GUS_MICRO_BISTABLE, GUS_MICRO_BISTABLE, GUS_MICRO_NOISY | GUS_MICRO_MOVED, GUS_MICRO_BESIDE,
		GUS_MICRO_BESIDE | GUS_MICRO_NOISY | GUS_MICRO_BISTABLE | GUS_MICRO_MOVED, GUS_MICRO_FAULT } };
	const uint64_t fits = FITS - 1; /* as there is no recording */
	struct gus_calibrate_noise noise;
	struct gus_fit f = { .params = { 0 } };
	struct gus_error err = { 0 };

	(void)state;
	made = mixed;
	assert_int_equal(fit_all(0, &f, &noise, &err), 0);
	assert_int_equal(noise.run, 8 * fits);
	assert_int_equal(noise.noisy, 2 * fits);
	assert_int_equal(noise.bistable, 2 * fits);
	assert_int_equal(noise.moved, fits);
	assert_int_equal(noise.troubled, 4 * fits);
	assert_int_equal(noise.beside, 2 * fits);
	assert_float_equal(gus_calibrate_troubled(&noise), 0.5, 1e-9);
	assert_float_equal(gus_calibrate_beside(&noise), 0.25, 1e-9);
	noise = (struct gus_calibrate_noise){ 0 };
	assert_float_equal(gus_calibrate_troubled(&noise), 0, 1e-9);
	assert_float_equal(gus_calibrate_beside(&noise), 0, 1e-9);
}

/* What is left of all degrees of confidence: of parameters, of ports of forms, and of their latencies. */
static void expect_left(const struct gus_fit *f, const char *params, const char *ports, const char *latencies)
{
	char left[3][GUS_CONFIDENCES + 1] = { "" };

	for (unsigned i = 0; i < GUS_CONFIDENCES; i++) {
		left[0][i] = (char)('0' + f->params.v[i].confidence);
		left[1][i] = (char)('0' + f->forms.v[i].confidence);
		left[2][i] = (char)('0' + f->forms.v[i].latency_confidence);
	}
	assert_string_equal(left[0], params);
	assert_string_equal(left[1], ports);
	assert_string_equal(left[2], latencies);
}

/* Of a hundred times each: from which on how little is left of confidences from none (0) to high (3). A parameter is
 * part of what there is where another thread was beside, and a form is what it is. */
static void trouble_takes_confidence(void **state)
{
	static const struct { unsigned troubled, beside; int rc; const char *params, *ports, *latencies; } cases[] = {
		{ 0, 0, 0, "0123", "0123", "3210" }, { 15, 0, 0, "0123", "0123", "3210" },
		{ 16, 0, 0, "0112", "0112", "2110" }, { 50, 0, 0, "0112", "0112", "2110" },
		{ 51, 0, -1, "0123", "0123", "3210" },
		{ 0, 25, 0, "0123", "0123", "3210" }, { 0, 26, 0, "0111", "0123", "3210" },
		{ 16, 26, 0, "0111", "0112", "2110" }, { 0, 100, 0, "0111", "0123", "3210" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_calibrate_noise noise;
		struct gus_fit f = { .params = { 0 } };
		struct gus_error err = { 0 };

		made = (struct made){ .micros_n = 100 };
		for (unsigned k = 0; k < cases[i].troubled; k++)
			made.trouble[k] = k % 3 ? GUS_MICRO_NOISY : GUS_MICRO_BISTABLE;
		for (unsigned k = 0; k < cases[i].beside; k++)
			made.trouble[99 - k] = GUS_MICRO_BESIDE;
		for (int k = GUS_CONFIDENCE_NONE; k <= GUS_CONFIDENCE_HIGH; k++) {
			struct gus_fit_form form = { .confidence = (enum gus_confidence)k,
				.latency_confidence = (enum gus_confidence)(GUS_CONFIDENCE_HIGH - k) };

			snprintf(form.form, sizeof(form.form), "%d", k);
			gus_vec_push(&f.forms, form);
			gus_vec_push(&f.params, (struct gus_fit_param){ .confidence = (enum gus_confidence)k });
		}
		assert_int_equal(fit_all(0, &f, &noise, &err), cases[i].rc);
		expect_left(&f, cases[i].params, cases[i].ports, cases[i].latencies);
		if (cases[i].rc != 0)
			assert_non_null(strstr(err.text, "cannot calibrate: 51 % of the microbenchmarks could not be "
					       "timed well here (34 % noisy, 17 % with two times, 0 % disturbed)"));
		gus_fit_free(&f);
	}
}

/* A form of the recording that is of our list as well: the surer figure, or of equal ones the first, where the first
 * was. */
static void a_form_is_there_once(void **state)
{
	static const struct { const char *form; enum gus_confidence confidence; double throughput; } found[] = {
		{ "A", GUS_CONFIDENCE_LOW, 1 }, { "B", GUS_CONFIDENCE_HIGH, 2 }, { "A", GUS_CONFIDENCE_MEDIUM, 3 },
		{ "C", GUS_CONFIDENCE_NONE, 4 }, { "B", GUS_CONFIDENCE_HIGH, 5 }, { "A", GUS_CONFIDENCE_LOW, 6 },
	}, left[] = {
		{ "A", GUS_CONFIDENCE_MEDIUM, 3 }, { "B", GUS_CONFIDENCE_HIGH, 2 }, { "C", GUS_CONFIDENCE_NONE, 4 },
	};
	struct gus_calibrate_noise noise;
	struct gus_fit f = { .params = { 0 } };
	struct gus_error err = { 0 };

	(void)state;
	made = (struct made){ .micros_n = 1 };
	for (size_t i = 0; i < sizeof(found) / sizeof(*found); i++) {
		struct gus_fit_form form = { .confidence = found[i].confidence, .throughput = found[i].throughput };

		snprintf(form.form, sizeof(form.form), "%s", found[i].form);
		gus_vec_push(&f.forms, form);
	}
	assert_int_equal(fit_all(2, &f, &noise, &err), 0);
	assert_int_equal(f.forms.n, sizeof(left) / sizeof(*left));
	for (size_t i = 0; i < f.forms.n; i++) {
		assert_string_equal(f.forms.v[i].form, left[i].form);
		assert_int_equal(f.forms.v[i].confidence, left[i].confidence);
		assert_float_equal(f.forms.v[i].throughput, left[i].throughput, 1e-9);
	}
	gus_fit_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fit_is_asked_in_turn), cmocka_unit_test(progress_goes_on),
		cmocka_unit_test(troubles_are_counted), cmocka_unit_test(trouble_takes_confidence),
		cmocka_unit_test(a_form_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
