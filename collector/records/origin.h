/* SPDX-License-Identifier: MIT */
/* Where the data of an access came from, by AMD's and Arm's own records, in the terms that all vendors share
 * (proto/data_source.h). What the record does not vouch for stays unknown. Pure. */
#ifndef GUS_COLLECTOR_RECORDS_ORIGIN_H
#define GUS_COLLECTOR_RECORDS_ORIGIN_H

#include <stdint.h>

#include "proto/data_source.h"

struct gus_ibs_op;
struct gus_spe_record;

struct gus_data_source gus_ibs_data_source(const struct gus_ibs_op *op);
/* midr says how the core numbers data sources, as in gus_spe_origin_of. */
struct gus_data_source gus_spe_data_source(const struct gus_spe_record *r, uint64_t midr);

#endif
