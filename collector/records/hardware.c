/* SPDX-License-Identifier: MIT */
#include "collector/records/hardware.h"

#include "collector/records/ibs.h"
#include "collector/records/origin.h"
#include "collector/records/psv.h"
#include "collector/records/spe.h"
#include "proto/sample.h"

/* PERF_BR_* of linux/perf_event.h. */
enum { KIND_CONDITIONAL = 1, KIND_UNCONDITIONAL, KIND_INDIRECT, KIND_CALL, KIND_INDIRECT_CALL, KIND_RETURN };

static uint64_t events_of(struct gus_psv psv)
{
	return psv.proved | (uint64_t)psv.excluded << 16;
}

static void tell(struct gus_sample *s, enum gus_told told, uint32_t *latency, uint32_t cycles)
{
	s->told |= told;
	*latency = cycles;
}

static void tell_weight(struct gus_sample *s, uint64_t cycles)
{
	s->told |= GUS_TOLD_WEIGHT;
	s->weight = cycles;
}

static void tell_address(struct gus_sample *s, uint64_t address)
{
	s->told |= GUS_TOLD_ADDRESS;
	s->address = address;
}

static void give_branch(struct gus_sample *s, struct gus_branch *room, struct gus_branch branch)
{
	if (s->branches_n)
		return;
	*room = branch;
	s->branches = room;
	s->branches_n = 1;
}

void gus_hardware_data(struct gus_sample *s)
{
	struct gus_data_source d = gus_data_source_of_kernel(s->data_source);

	s->events = events_of(gus_proof_of_data(&d));
}

/* Arm. */

/* Hosts run their kernel at EL1 or at EL2 (VHE); what is at EL3 is firmware. */
static uint8_t mode_of(uint8_t level)
{
	static const uint8_t modes[4] = { GUS_MODE_USER, GUS_MODE_KERNEL, GUS_MODE_KERNEL, GUS_MODE_UNKNOWN };

	return modes[level & 3];
}

static uint32_t spe_kind(uint32_t operation)
{
	bool indirect = operation & GUS_SPE_OP_INDIRECT;

	if (operation & GUS_SPE_OP_RETURN)
		return KIND_RETURN;
	if (operation & GUS_SPE_OP_CALL)
		return indirect ? KIND_INDIRECT_CALL : KIND_CALL;
	if (operation & GUS_SPE_OP_CONDITIONAL)
		return KIND_CONDITIONAL;
	return indirect ? KIND_INDIRECT : KIND_UNCONDITIONAL;
}

/* Events 6 and 7, "not taken" and "mispredicted", are of every version. Where a record stops short of them nobody knows
 * whether it was taken. */
static void take_spe_branch(const struct gus_spe_record *r, struct gus_sample *s, struct gus_branch *room)
{
	const uint32_t needed = GUS_SPE_HAS_PC | GUS_SPE_HAS_TARGET | GUS_SPE_HAS_OPERATION | GUS_SPE_HAS_EVENTS;

	if ((r->known & needed) != needed || !(r->operation & GUS_SPE_OP_BRANCH) || (r->events & GUS_SPE_NOT_TAKEN))
		return;
	give_branch(s, room, (struct gus_branch){ .from = r->pc, .to = r->target,
		.flags = (r->events & GUS_SPE_MISPREDICTED ? GUS_BRANCH_MISPREDICTED : GUS_BRANCH_PREDICTED) |
			spe_kind(r->operation) << GUS_BRANCH_TYPE_SHIFT });
}

static void take_spe_latencies(const struct gus_spe_record *r, struct gus_sample *s)
{
	if (r->known & GUS_SPE_HAS_TOTAL) {
		tell(s, GUS_TOLD_INSTRUCTION, &s->instruction_latency, r->total);
		tell_weight(s, r->total);
	}
	if (r->known & GUS_SPE_HAS_ISSUE)
		tell(s, GUS_TOLD_ISSUE, &s->issue_latency, r->issue);
	if (r->known & GUS_SPE_HAS_TRANSLATION)
		tell(s, GUS_TOLD_TRANSLATION, &s->translation_latency, r->translation);
}

void gus_hardware_spe(const struct gus_spe_record *r, uint64_t midr, struct gus_sample *s, struct gus_branch *branch)
{
	struct gus_data_source d = gus_spe_data_source(r, midr);

	if (r->known & GUS_SPE_HAS_PC) {
		s->ip = r->pc;
		s->exact = true;
		s->mode = mode_of(r->level);
	}
	if (r->known & GUS_SPE_HAS_VIRTUAL)
		tell_address(s, r->virtual);
	if (r->known & GUS_SPE_HAS_PHYSICAL)
		s->physical = r->physical;
	take_spe_latencies(r, s);
	take_spe_branch(r, s, branch);
	s->data_source = gus_data_source_word(&d);
	s->events = events_of(gus_proof_of_spe(r, midr));
}

/* AMD: what the kernel has taken out of the same record stays as it said it, and the record fills what it left 0. */

/* The kernel has a latency for loads that missed alone, and 0 for all others: that is none. */
static void take_ibs_latencies(const struct gus_ibs_op *op, struct gus_sample *s)
{
	if (!s->weight && (op->known & GUS_IBS_DC_LATENCY))
		tell_weight(s, op->dc_latency);
	else if (!s->weight)
		s->told &= ~(uint64_t)GUS_TOLD_WEIGHT;
	tell(s, GUS_TOLD_INSTRUCTION, &s->instruction_latency, op->tag_to_retire);
	tell(s, GUS_TOLD_COMPLETE, &s->retire_latency, op->complete_to_retire);
	if (op->known & GUS_IBS_TLB_LATENCY)
		tell(s, GUS_TOLD_TRANSLATION, &s->translation_latency, op->tlb_latency);
}

static void take_ibs_branch(const struct gus_ibs_op *op, struct gus_sample *s, struct gus_branch *room)
{
	const uint32_t needed = GUS_IBS_RIP | GUS_IBS_BRANCH | GUS_IBS_TARGET;

	if ((op->known & needed) != needed || !op->branch || !op->taken)
		return;
	give_branch(s, room, (struct gus_branch){ .from = op->rip, .to = op->target,
		.flags = (op->mispredicted ? GUS_BRANCH_MISPREDICTED : GUS_BRANCH_PREDICTED) |
			(op->returns ? (uint32_t)KIND_RETURN << GUS_BRANCH_TYPE_SHIFT : 0) });
}

/* An address that the op has none of is told as 0 by the kernel. */
static void take_ibs_access(const struct gus_ibs_op *op, struct gus_sample *s)
{
	struct gus_data_source d = gus_ibs_data_source(op);

	if (!s->address && (op->known & GUS_IBS_LINEAR))
		tell_address(s, op->linear);
	else if (!s->address)
		s->told &= ~(uint64_t)GUS_TOLD_ADDRESS;
	if (!s->physical && (op->known & GUS_IBS_PHYSICAL))
		s->physical = op->physical;
	if (!s->data_page && (op->known & GUS_IBS_PAGE))
		s->data_page = op->page_bytes;
	if (!gus_data_source_of_kernel(s->data_source).does)
		s->data_source = gus_data_source_word(&d);
}

void gus_hardware_ibs_op(const struct gus_ibs_op *op, struct gus_sample *s, struct gus_branch *branch)
{
	s->exact = op->known & GUS_IBS_RIP;
	if (s->exact)
		s->ip = op->rip;
	take_ibs_access(op, s);
	take_ibs_latencies(op, s);
	take_ibs_branch(op, s, branch);
	s->events = events_of(gus_proof_of_ibs(op));
}

void gus_hardware_ibs_fetch(const struct gus_ibs_fetch *f, struct gus_sample *s)
{
	s->exact = f->known & GUS_IBS_FETCH_LINEAR;
	if (s->exact)
		s->ip = f->linear;
	if (!s->physical && (f->known & GUS_IBS_FETCH_PHYSICAL))
		s->physical = f->physical;
	if (!s->code_page && (f->known & GUS_IBS_FETCH_PAGE))
		s->code_page = f->page_bytes;
	if (f->known & GUS_IBS_FETCH_LATENCY)
		tell_weight(s, f->latency);
	if (f->known & GUS_IBS_FETCH_REFILL)
		tell(s, GUS_TOLD_TRANSLATION, &s->translation_latency, f->itlb_latency);
	s->events = events_of(gus_proof_of_ibs_fetch(f));
}
