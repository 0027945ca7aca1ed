/* SPDX-License-Identifier: MIT */
/* What some hardware tells of a sample besides where it was, as columns of a line: the access to memory, latencies,
 * registers, bytes. What nobody told is "-" where a number stands, so that those behind it keep their places, and
 * nothing at all of registers and bytes. */
#ifndef GUS_CLI_SCRIPT_COLUMNS_H
#define GUS_CLI_SCRIPT_COLUMNS_H

#include "cli/common/lines.h"
#include "proto/gusprof.pb-c.h"

struct gus_sample;

/* Those of these fields (enum gus_field) that stand before a sample's place, and behind it, as perf has them. Return
 * the fields that were told of this sample. */
unsigned gus_script_columns_before(struct gus_lines *l, unsigned fields, const struct gus_sample *s);
unsigned gus_script_columns_behind(struct gus_lines *l, unsigned fields, const struct gus_sample *s,
				   const Gusprof__Header *header);

#endif
