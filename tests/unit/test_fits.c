/* SPDX-License-Identifier: MIT */
/* The fits of front end, window and penalties find the tables of machines that run their microbenchmarks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/error.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/unit/simulated_host.h"

static struct gus_uarch *table(const char *name)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, &err);

	if (!u)
		fail_msg("%s", err.text);
	return u;
}

struct told { unsigned n; double done; };

static void tell(void *context, const char *what, double done)
{
	struct told *t = context;

	assert_non_null(what);
	assert_true(done >= 0 && done <= 1);
	t->n++;
	t->done = done;
}

static void run_fits(const struct gus_calibration *c, struct gus_fit *f)
{
	struct gus_error err = { 0 };

	if (gus_fit_front(c, f, &err) != 0 || gus_fit_window(c, f, &err) != 0 || gus_fit_penalties(c, f, &err) != 0)
		fail_msg("%s", err.text);
}

/* What is found of a parameter that the table has is what the table has, or so much beside it. */
static unsigned compare(const struct gus_uarch *u, const struct gus_fit *f, double beside)
{
	unsigned found = 0;

	for (size_t i = 0; i < f->params.n; i++) {
		const struct gus_fit_param *p = &f->params.v[i];
		const struct gus_uarch_param *truth = gus_uarch_param(u, p->name);

		if (p->confidence == GUS_CONFIDENCE_NONE) {
			assert_true(isnan(p->value));
			assert_true(p->why[0] != '\0');
			/* "At least" is so. */
			assert_true(!truth || truth->value * 1.02 + 1 >= p->low);
			continue;
		}
		assert_true(p->low <= p->value && p->value <= p->high);
		if (!truth || p->confidence < GUS_CONFIDENCE_MEDIUM)
			continue;
		if (fabs(p->value - truth->value) > beside * truth->value)
			fail_msg("%s: %s is %g, not %g (%s)", u->name, p->name, p->value, truth->value, p->why);
		found++;
	}
	return found;
}

static void assert_found(const struct gus_fit *f, const char *const *names)
{
	for (; *names; names++) {
		const struct gus_fit_param *p = gus_fit_get(f, *names);

		if (!p || p->confidence < GUS_CONFIDENCE_MEDIUM)
			fail_msg("%s was not found: %s", *names, p ? p->why : "not even tried");
	}
}

/* nearest: another table that the fits start from. */
static void fit_table(const char *name, const char *nearest, const char *const *names)
{
	struct gus_uarch *u = table(name), *from = table(nearest);
	struct simulated_host s;
	struct gus_calibration_host host;
	struct told told = { 0 };
	struct gus_calibration c = { .host = &host, .nearest = from, .depth = GUS_CALIBRATION_FULL, .progress = tell,
		.progress_context = &told };
	struct gus_fit f = { .params = { 0 } };

	simulated_host_of(&s, u, &host);
	run_fits(&c, &f);
	assert_true(compare(u, &f, 0.02) >= 15);
	assert_found(&f, names);
	assert_true(told.n > 10 && told.done == 1);
	gus_fit_free(&f);
	gus_uarch_free(from);
	gus_uarch_free(u);
}

static void skylake_is_found(void **state)
{
	static const char *const names[] = { "rob", "rs", "load_buffer", "store_buffer", "branch_buffer",
		"int_registers", "vector_registers", "issue_width", "retire_width", "uop_cache_size", "fetch_bytes",
		"macro_fusion", "mispredict_penalty", "l1d_latency", "l1d_latency_indexed", "store_forward_latency",
		"store_forward_vector", "store_forward_address", "store_forward_blocked", "alias_penalty",
		"line_split_penalty", "page_split_penalty", NULL };

	(void)state;
	fit_table("skylake", "skylake", names);
}

/* From a table whose figures are others. */
static void ice_lake_is_found_from_skylake(void **state)
{
	static const char *const names[] = { "rob", "rs", "load_buffer", "store_buffer", "int_registers",
		"vector_registers", "issue_width", "retire_width", "mispredict_penalty", "store_forward_latency",
		"store_forward_blocked", NULL };

	(void)state;
	fit_table("icelake-client", "skylake", names);
}

/* Of its schedulers of vectors nothing can be told, as there is a queue before them. */
static void zen_4_is_found(void **state)
{
	static const char *const names[] = { "rob", "rs_int", "rs_int_port", "load_buffer", "store_buffer",
		"int_registers", "vector_registers", "issue_width", "retire_width", "uop_cache_size",
		"mispredict_penalty", "store_forward_latency", "store_forward_zero", "store_forward_vector", NULL };

	(void)state;
	fit_table("znver4", "znver4", names);
}

static void alder_lake_is_found(void **state)
{
	static const char *const names[] = { "rob", "rs_int", "load_buffer", "store_buffer", "int_registers",
		"vector_registers", "issue_width", "retire_width", "mispredict_penalty", "store_forward_zero",
		"store_forward_wider", "store_forward_blocked", NULL };

	(void)state;
	fit_table("alderlake", "alderlake", names);
}

/* What most rests on is found of a machine that is disturbed, too; a step of 2 cycles, as simulated machines have them,
 * is none there, so the sizes are some more. */
static void a_disturbed_machine_is_found(void **state)
{
	static const char *const names[] = { "rob", "load_buffer", "store_buffer", NULL };
	struct gus_uarch *u = table("haswell");
	struct simulated_host s;
	struct gus_calibration_host host;
	struct gus_calibration c = { .host = &host, .nearest = u, .depth = GUS_CALIBRATION_QUICK };
	struct gus_fit f = { .params = { 0 } };
	struct gus_error err = { 0 };

	(void)state;
	simulated_host_of(&s, u, &host);
	host.cycles_a_second = 3e9; /* so it is asked as a real one */
	s.noise = 20;
	assert_int_equal(gus_fit_window(&c, &f, &err), 0);
	assert_found(&f, names);
	assert_true(compare(u, &f, 0.03) >= 3);
	gus_fit_free(&f);
	gus_uarch_free(u);
}

static int refuse(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
		  struct gus_error *err)
{
	(void)context;
	(void)micros;
	(void)n;
	(void)times;
	return gus_fail(err, GUS_E_SYSTEM, "cannot run anything");
}

static void a_host_that_fails_is_an_error(void **state)
{
	struct gus_uarch *u = table("skylake");
	struct gus_calibration_host host = { .isa = GUS_ISA_X86_64, .cycles_a_second = 1e6, .run = refuse };
	struct gus_calibration c = { .host = &host, .nearest = u, .depth = GUS_CALIBRATION_FULL };
	struct gus_fit f = { .params = { 0 } };
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_fit_front(&c, &f, &err), -1);
	assert_int_equal(gus_fit_window(&c, &f, &err), -1);
	assert_int_equal(gus_fit_penalties(&c, &f, &err), -1);
	assert_int_equal(err.code, GUS_E_SYSTEM);
	assert_int_equal(f.params.n, 0);
	gus_fit_free(&f);
	gus_uarch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skylake_is_found),
		cmocka_unit_test(ice_lake_is_found_from_skylake),
		cmocka_unit_test(zen_4_is_found),
		cmocka_unit_test(alder_lake_is_found),
		cmocka_unit_test(a_disturbed_machine_is_found),
		cmocka_unit_test(a_host_that_fails_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
