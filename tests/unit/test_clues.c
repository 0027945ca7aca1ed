/* SPDX-License-Identifier: MIT */
/* attribution/accounts/clues: what the samples of a recording say, in terms of its trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/proportional/replicates.h"
#include "made_account.h"

/* Slices of a recording of 1000 samples, of which a footer tells: 62, of one sample in each of 16 rounds and more. Of
 * one that was cut they are of 16 at a time. */
static void in_slices(void **state)
{
	uint64_t of[GUS_REPLICATES_SLICES] = { 0 };
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	m->sampled = 9920;
	made_samples(m, 9920, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	for (size_t i = 0; i < m->clues.time.n; i++)
		of[m->clues.time.v[i].slice] += m->clues.time.v[i].weight;
	for (size_t i = 0; i < GUS_REPLICATES_SLICES; i++) {
		assert_int_equal(of[i], 160000);
		assert_int_equal(m->clues.slices[i].time, 160);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_slices, made_account_setup, made_account_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
