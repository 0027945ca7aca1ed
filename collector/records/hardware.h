/* SPDX-License-Identifier: MIT */
/* A record of hardware's as a sample: what ibs.h and spe.h have taken apart, in the columns that all vendors share
 * (proto/sample.h). Each function fills in what its record tells and leaves the rest as it is: time, period, event,
 * task and CPU are the caller's. Pure.
 *
 * What fills what:
 *
 *	                 AMD, an op                     Arm
 *	weight           cycles to a missed load's data  total
 *	instruction      tag to retirement              total: dispatch to completion
 *	issue            -                              dispatch to issue
 *	translation      refill of the first TLB        translation
 *	retire           completion to retirement       -
 *	branches         one, if taken and its target   one, if taken and its target
 *	                 and address are known          is known
 *
 * The branch before an operation of Arm's, whose target alone is told, has no column: nobody knows where it came from.
 *
 * Events are of the whole record, which says more than the ABI's word of it (psv.h). */
#ifndef GUS_COLLECTOR_RECORDS_HARDWARE_H
#define GUS_COLLECTOR_RECORDS_HARDWARE_H

#include <stdint.h>

struct gus_branch;
struct gus_ibs_fetch;
struct gus_ibs_op;
struct gus_sample;
struct gus_spe_record;

/* branch: room for the one that the sample may get, which the sample then borrows. It gets none if it has some. */

/* midr: the core's MIDR_EL1, 0 if it is not known. Ticks of the generic timer are left to who knows how to convert
 * them, and the context to who knows what it numbers. */
void gus_hardware_spe(const struct gus_spe_record *r, uint64_t midr, struct gus_sample *s, struct gus_branch *branch);
void gus_hardware_ibs_op(const struct gus_ibs_op *op, struct gus_sample *s, struct gus_branch *branch);
/* The sample is of the address that was fetched; the latency is that of the fetch. */
void gus_hardware_ibs_fetch(const struct gus_ibs_fetch *f, struct gus_sample *s);
/* Of a sample of which only the kernel's word tells: Intel's. */
void gus_hardware_data(struct gus_sample *s);

#endif
