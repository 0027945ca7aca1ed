/* SPDX-License-Identifier: MIT */
/* What the fits of model/calibration find out of a golden machine, which is their host, held against its table. They
 * begin from the table of another CPU, as on a CPU that nobody has a table of.
 *
 * Printed: a line for each parameter with its truth, what was fitted, the interval, confidence, how far apart and from
 * what; those of the machine that nobody has fitted; forms likewise; and what of it all is right - latencies within
 * 3 %, sizes within 2 %, widths and rules exact. What has no confidence, or little, claims nothing and is counted
 * apart.
 *
 * The table that is written is the one that `gusprof calibrate` would end with on that machine, so it is all that
 * attribution may know of it: the fits run in the same order, and what makes no machine together is left out. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_CALIBRATE_H
#define GUS_TESTS_ACCURACY_GOLDEN_CALIBRATE_H

#include <stdbool.h>

struct golden_machine;
struct gus_error;

struct golden_calibrate_options {
	const struct golden_machine *machine;
	const char *nearest;            /* a built-in table; NULL: the one whose forms are most like the machine's, but
					 * not the one that it was made from */
	const char *only;               /* fits by their names, with commas; NULL: all */
	bool quick;
	bool each;                      /* print each microbenchmark as it is run */
	bool replay;                    /* run all of them with the nearest table and with the calibrated one, too */
	const char *write;              /* a file that has the calibrated table then; NULL: none */
};

int golden_calibrate(const struct golden_calibrate_options *o, struct gus_error *err);

#endif
