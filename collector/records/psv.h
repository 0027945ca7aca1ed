/* SPDX-License-Identifier: MIT */
/* The performance signature vector of one record: which of TEA's nine events its instruction had, which it had not, and
 * which nobody can know from this record. An event is in at most one of the two sets.
 *
 * Source: Gottschall, Eeckhout and Jahre, "TEA: Time-Proportional Event Analysis" (ISCA 2023), table 1. What hardware
 * gives of it: the manual's table (gusprof-hardware(7), WHAT HARDWARE PROVES). Pure. */
#ifndef GUS_COLLECTOR_RECORDS_PSV_H
#define GUS_COLLECTOR_RECORDS_PSV_H

#include <stdint.h>

#include "proto/psv.h"

struct gus_data_source;
struct gus_ibs_fetch;
struct gus_ibs_op;
struct gus_spe_record;

/* Intel's: records of loads and stores, of which the kernel says where the data were. */
struct gus_psv gus_proof_of_data(const struct gus_data_source *d);
struct gus_psv gus_proof_of_ibs(const struct gus_ibs_op *op);
/* Of the address that was fetched; speculative, and of no op in particular. */
struct gus_psv gus_proof_of_ibs_fetch(const struct gus_ibs_fetch *f);
struct gus_psv gus_proof_of_spe(const struct gus_spe_record *r, uint64_t midr);

#endif
