/* SPDX-License-Identifier: MIT */
/* Loops that compute one element at a time, what a turn costs beside its work, and rests of vector loops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/verdicts/facts.h"

/* Vectors are of so many bytes; and of the parts of a loop the vectors' has so much of the elements, or its rest
 * matters (Palomares, section 4.3: 90 %). */
enum { VECTOR_X86 = 32, VECTOR_ARM = 16, UNROLLED = 4 };
static const double MAIN = 0.9, OVERHEAD = 0.25;

static unsigned vector_of(const struct gus_pathology_facts *f)
{
	return f->t->isa == GUS_ISA_ARM64 ? VECTOR_ARM : VECTOR_X86;
}

static bool is_packed(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i)
{
	unsigned bytes;

	return i->info->vector_bits >= 128 && i->info->class >= GUS_INSN_FP_ADD &&
		i->info->class <= GUS_INSN_FP_OTHER && !gus_pathology_scalar(f, i, &bytes);
}

/* Elements beside each other, or the same again. */
static bool goes_straight(const struct gus_pathology_access *a)
{
	int64_t stride = a->heard ? a->heard->stride : 0;

	return a->heard && a->heard->steady >= a->heard->accesses / 2 &&
		(stride == 0 || llabs(stride) == (int64_t)a->heard->bytes);
}

/* What is in the way of vectors; NULL: nothing that is seen here. */
static const char *obstacle_of(const struct gus_pathology_facts *f)
{
	const struct gus_pathology_insn *one;
	unsigned combining;

	for (size_t i = 0; i < f->insns.n; i++) {
		uint8_t class = f->insns.v[i].info->class;

		if (class == GUS_INSN_CALL || class == GUS_INSN_CALL_INDIRECT)
			return "a call";
	}
	for (size_t i = 0; i < f->circles.n; i++)
		if (f->circles.v[i].share >= GUS_PATHOLOGY_BINDS &&
		    !gus_pathology_is_reduction(f, &f->circles.v[i], &one, &combining))
			return "a chain of results";
	for (size_t i = 0; i < f->accesses.n; i++)
		if (f->accesses.v[i].heard && !goes_straight(&f->accesses.v[i]))
			return "an access that goes in strides";
	return NULL;
}

static double misses(const struct gus_pathology_access *a)
{
	return a->missed[GUS_HIT_L2] + a->missed[GUS_HIT_L3] + a->missed[GUS_HIT_MEMORY];
}

/* Charged to instructions that vectors would do several of at a time: all of the loop but accesses that miss. */
static double vectorised(const struct gus_pathology_facts *f)
{
	double charged = f->charged;

	for (size_t i = 0; i < f->accesses.n; i++)
		if (misses(&f->accesses.v[i]) > 0.01 * (double)f->accesses.v[i].met->accesses)
			charged -= f->accesses.v[i].insn->charged;
	return fmax(charged, 0);
}

static void detect_scalar(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	const struct gus_pathology_insn *most = NULL;
	unsigned width = 0, bytes;

	for (size_t i = 0; i < f->insns.n; i++) {
		if (is_packed(f, &f->insns.v[i]))
			return;
		if (!gus_pathology_scalar(f, &f->insns.v[i], &bytes) || f->insns.v[i].info->class == GUS_INSN_FP_OTHER)
			continue;
		width = bytes > width ? bytes : width;
		most = most && most->executed >= f->insns.v[i].executed ? most : &f->insns.v[i];
	}
	if (!most || obstacle_of(f))
		return;
	gus_pathology_add(f, out, GUS_PATHOLOGY_UNVECTORISED, most,
			  gus_pathology_of_charged(f, vectorised(f) * (1 - (double)width / vector_of(f))),
			  "vectorise: one element at a time where %u fit a vector of %u bytes, and accesses go from "
			  "one to the next", vector_of(f) / width, vector_of(f));
}

/* Whether it is counters that the time goes round, and which no width helps. */
static bool is_counted(const struct gus_pathology_facts *f)
{
	for (size_t i = 0; i < f->circles.n; i++)
		if (f->circles.v[i].share >= GUS_PATHOLOGY_BINDS && f->circles.v[i].n == 1 &&
		    gus_pathology_counts(gus_pathology_insn_of(f, f->circles.v[i].ops[0])))
			return true;
	return false;
}

static void detect_overhead(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	double overhead = 0, all = 0;
	const struct gus_pathology_insn *last = NULL;

	for (size_t i = 0; i < f->insns.n; i++) {
		const struct gus_pathology_insn *insn = &f->insns.v[i];
		const struct gus_op *op = &f->t->program->ops[insn->op];
		bool branch = insn->info->class == GUS_INSN_BRANCH_COND || op->insns_n > 1;

		all += insn->first ? insn->executed * op->slots : 0;
		if (insn->first && (branch || gus_pathology_counts(insn)))
			overhead += insn->executed * op->slots;
		last = branch ? insn : last;
	}
	if (!last || !(f->entered > 0) || overhead < OVERHEAD * all || all > 16 * f->iterations)
		return;
	gus_pathology_add(f, out, GUS_PATHOLOGY_UNROLLING, last, gus_pathology_dearer(
			  gus_pathology_of_node(f, GUS_NODE_RETIRING, overhead / all * (1 - 1.0 / UNROLLED)),
			  gus_pathology_of_node(f, GUS_NODE_CHAINS, is_counted(f) ? 1 - 1.0 / UNROLLED : 0)),
			  "unroll by %d: %.0f %% of the slots are counters and branches", UNROLLED,
			  100 * overhead / all);
}

/* A scalar loop of few turns beside a loop of vectors in the same function: elements of both. */
static void detect_tail(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	double trips = f->entered > 0 ? f->iterations / f->entered : 0, main = 0, share;
	const struct gus_pathology_insn *at = NULL;
	unsigned bytes = 0, width = 0;

	for (size_t i = 0; i < f->insns.n; i++)
		if (gus_pathology_scalar(f, &f->insns.v[i], &bytes)) {
			at = at ? at : &f->insns.v[i];
			width = bytes;
		}
	if (!at || !(trips > 0))
		return;
	for (size_t i = 0; i < f->t->blocks.n; i++) {
		const struct gus_traced_block *b = &f->t->blocks.v[i];
		const struct gus_traced_region *r = &f->t->regions.v[b->region];
		unsigned bits = 0;

		if (b->region == f->g->region || r->function != f->r->function || r->loop == GUS_TRACED_NONE)
			continue;
		for (uint32_t k = 0; k < b->insns_n; k++) {
			const struct gus_insn_info *info = &f->t->program->insns[b->insn + k].info;
			struct gus_pathology_insn one = { .info = info };
			struct gus_insn text;
			uint64_t offset = f->t->program->insns[b->insn + k].offset - b->address;

			gus_insn_decode(f->t->isa, b->bytes + offset, b->size - offset, b->address + offset, &text);
			snprintf(one.text, sizeof(one.text), "%s", text.text);
			if (is_packed(f, &one) && info->vector_bits > bits)
				bits = info->vector_bits;
		}
		main += (double)b->executed * bits / 8 / width;
	}
	share = main / (main + f->iterations);
	if (!(main > 0) || share >= MAIN || trips >= vector_of(f))
		return;
	gus_pathology_add(f, out, GUS_PATHOLOGY_TAIL, at, gus_pathology_of_charged(f, f->charged * (1 - 1 / fmax(trips,
			  1))), "pad or mask the rest: vectors have %.0f %% of the elements, and %.1f at a time are "
			  "done one by one", 100 * share, trips);
}

void gus_pathology_detect_vectors(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	if (f->r->loop == GUS_TRACED_NONE)
		return;
	detect_scalar(f, out);
	detect_overhead(f, out);
	detect_tail(f, out);
}
