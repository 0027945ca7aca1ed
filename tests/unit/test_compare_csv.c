/* SPDX-License-Identifier: MIT */
/* cli/compare/csv: what was measured and what was modelled, as a table for programs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "made_comparison.h"
#include "made_figure.h"
#include "printed.h"

static void print_csv(const void *view)
{
	gus_compare_csv(view);
}

static const char *line_of(const char *text, unsigned n)
{
	static char line[1024];

	for (; n; n--) {
		text = strchr(text, '\n');
		if (!text)
			return "";
		text++;
	}
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	return line;
}

static void csv(void **state)
{
	static const char *const lines[] = {
		"region,module,samples,share,modelled_share,cycles,cycles_low,cycles_high,modelled_cycles,"
		"modelled_error,instructions,ratio,ratio_low,ratio_high,verdict,basis,evidence,table,calibration,cpu,"
		"microcode",
		",,1000,1.000000,1.000000,19500,18000,21000,16000,0.0000,3500,1.2200,1.1300,1.3100,trust,cycles,"
		"inferred,skylake,,,",
		"hot,/opt/app,800,0.800000,0.750000,15600,15000,16200,12000,0.0000,3000,1.3000,1.2700,1.3400,"
		"do not trust,cycles,inferred,skylake,,,",
		"cold,/opt/libx.so,200,0.200000,0.250000,3920,3500,4300,4000,0.0000,500,0.9800,0.9000,1.0500,trust,"
		"cycles,inferred,skylake,,,", "",
	};
	struct made *s = *state;
	char *text = printed(print_csv, &s->v);

	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_string_equal(line_of(text, i), lines[i]);
	free(text);
	s->m.host = &s->host;
	s->host.cpu_model = (char *)"A CPU";
	s->host.microcode = (char *)"0x2a";
	s->c.basis = GUS_COMPARED_SHARES;
	s->c.rows.v[HOT].ratio = figure(1, 0, 9);
	s->c.rows.v[COLD].error = INFINITY;
	text = printed(print_csv, &s->v);
	/* Shares have no cycles, and of the whole no ratio; what may be anything is empty. */
	assert_string_equal(line_of(text, 1), ",,1000,1.000000,1.000000,,,,16000,0.0000,3500,,,,trust,shares,inferred,"
			    "skylake,,A CPU,0x2a");
	assert_string_equal(line_of(text, 2), "hot,/opt/app,800,0.800000,0.750000,,,,12000,0.0000,3000,,,,"
			    "do not trust,shares,inferred,skylake,,A CPU,0x2a");
	assert_string_equal(line_of(text, 3), "cold,/opt/libx.so,200,0.200000,0.250000,,,,4000,,500,0.9800,0.9000,"
			    "1.0500,trust,shares,inferred,skylake,,A CPU,0x2a");
	free(text);
	/* Without an upper end, as nothing was measured. */
	s->c.basis = GUS_COMPARED_CYCLES;
	s->c.rows.v[HOT].measured = figure(0, 0, INFINITY);
	s->c.rows.v[HOT].modelled = 0;
	s->c.rows.v[COLD].measured = figure(1, 0, 3);
	text = printed(print_csv, &s->v);
	assert_string_equal(line_of(text, 2), "hot,/opt/app,800,0.800000,0.750000,0,0,,0,0.0000,3000,,,,do not trust,"
			    "cycles,inferred,skylake,,A CPU,0x2a");
	assert_string_equal(line_of(text, 3), "cold,/opt/libx.so,200,0.200000,0.250000,1,0,3,4000,,500,0.9800,0.9000,"
			    "1.0500,trust,cycles,inferred,skylake,,A CPU,0x2a");
	free(text);
	s->v.rows = 1;
	text = printed(print_csv, &s->v);
	assert_string_equal(line_of(text, 3), "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(csv, made_comparison, made_comparison_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
