/* SPDX-License-Identifier: MIT */
/* How far the model's figures are off, as measurements of real CPUs told: by table, engine, how code was run, and
 * what held it up. The text is model/uarch/expected.errors, which tests/accuracy/expected-errors makes out of
 * predictions and measured times; no time of any block is in it. The grammar is like that of tables
 * (model/tables/uarch.h):
 *
 *   source ID "TEXT"                                     what was measured, and where
 *   error TABLE ENGINE SETTING KIND median PCT p90 PCT n N source ID
 *   error TABLE ENGINE SETTING KIND mean PCT n N source ID      of which no more is known
 *
 * TABLE is a table's name; ENGINE is core or stream; SETTING is loop, unrolled or traced; KIND is a bottleneck
 * (model/analysis/bounds.h), or all. PCT is a percentage of the measured time, with one decimal, of figures that were
 * too large and too small alike. */
#ifndef GUS_MODEL_TABLES_EXPECTED_H
#define GUS_MODEL_TABLES_EXPECTED_H

#include <stddef.h>
#include <stdint.h>

struct gus_error;

struct gus_expected_error {
	double median, p90;     /* per cent: half of the figures are off by less, nine of ten; negative: not known */
	double mean;            /* negative: not known */
	uint32_t n;             /* figures that were compared */
	const char *kind, *source;
};

struct gus_expected;

/* Reads a text, which may be given up after that. NULL with err, which has the line. Freed with gus_expected_free. */
struct gus_expected *gus_expected_parse(const char *text, size_t size, struct gus_error *err);
void gus_expected_free(struct gus_expected *e);
/* Of that kind or, if too few were measured to tell, of all. NULL: nobody has measured this table so. It lasts as long
 * as e. */
const struct gus_expected_error *gus_expected_find(const struct gus_expected *e, const char *table, const char *engine,
						   const char *setting, const char *kind);

#endif
