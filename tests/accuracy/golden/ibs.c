/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/ibs.h"

#include "model/machine/options.h"
#include "tests/accuracy/golden/words.h"
#include "tests/words/ibs_words.h"

/* CPUID Fn8000_001B EAX of a Genoa: all up to bit 9 (of which 5 is the branch's target), and 11, Zen 4's additions. */
enum { CAPS = 0xbff };

static uint64_t counter(uint64_t cycles) { return cycles < UINT16_MAX ? cycles : UINT16_MAX; }
static bool accesses(const struct golden_sample *s) { return s->load || s->store; }
static bool missed_l1(const struct golden_sample *s) { return accesses(s) && (s->coming || s->level > GUS_HIT_L1); }
static bool missed_l2(const struct golden_sample *s) { return accesses(s) && s->level > GUS_HIT_L2; }
static bool missed_first_tlb(const struct golden_sample *s) { return accesses(s) && s->tlb != GUS_TLB_HIT; }

/* IbsOpCtl. A period has no low four bits, and its high ones lie elsewhere. */
static uint64_t max_count(const struct golden_sample *s) { return s->period >> 4 & UINT16_MAX; }
static uint64_t max_count_more(const struct golden_sample *s) { return s->period >> 20; }

/* IbsOpData. */
static uint64_t complete_to_retire(const struct golden_sample *s) { return counter(s->complete_to_retire); }

static uint64_t tag_to_retire(const struct golden_sample *s)
{
	return counter((uint64_t)s->tag_to_complete + s->complete_to_retire);
}

static uint64_t branch(const struct golden_sample *s) { return s->branch; }
static uint64_t taken(const struct golden_sample *s) { return s->branch && s->taken; }
static uint64_t mispredicted(const struct golden_sample *s) { return s->branch && s->mispredicted; }
static uint64_t returns(const struct golden_sample *s) { return s->branch && s->returns; }

/* IbsOpData2: of loads that L2 did not have. 1: a cache of this complex; 3: memory. */
static uint64_t source(const struct golden_sample *s)
{
	return !s->load || !missed_l2(s) ? 0 : s->level == GUS_HIT_L3 ? 1 : 3;
}

/* IbsOpData3. */
static uint64_t load(const struct golden_sample *s) { return s->load; }
static uint64_t store(const struct golden_sample *s) { return s->store; }
static uint64_t access_valid(const struct golden_sample *s) { return accesses(s); }
static uint64_t l1_tlb_miss(const struct golden_sample *s) { return missed_first_tlb(s); }
static uint64_t l2_tlb_miss(const struct golden_sample *s) { return accesses(s) && s->tlb == GUS_TLB_WALK; }
static uint64_t l1_miss(const struct golden_sample *s) { return missed_l1(s); }
/* Of a line on its way, where from is not known: missed, and no source. */
static uint64_t l2_miss(const struct golden_sample *s) { return missed_l2(s) || s->coming; }
static uint64_t no_buffer(const struct golden_sample *s) { return s->coming; }
static uint64_t miss_latency(const struct golden_sample *s) { return s->load && missed_l1(s) ? counter(s->miss) : 0; }

static uint64_t refill_latency(const struct golden_sample *s)
{
	return missed_first_tlb(s) ? counter(s->translation) : 0;
}

/* 1 is a byte, 7 are 64; 0 is no width that hardware has. */
static uint64_t width(const struct golden_sample *s)
{
	for (unsigned log2 = 0; accesses(s) && log2 < 7; log2++)
		if (s->bytes == 1u << log2)
			return log2 + 1;
	return 0;
}

static uint64_t address(const struct golden_sample *s) { return accesses(s) ? s->address : 0; }
static uint64_t target(const struct golden_sample *s) { return s->branch ? s->target : 0; }
static uint64_t rip(const struct golden_sample *s) { return s->ip; }

/* The physical address is valid, as translation is told only then, and 0: the kernel keeps it from who may not see it.
 * All fields that are not named here are 0. */
static const struct { const char *name; uint64_t (*of)(const struct golden_sample *); } fields[GOLDEN_IBS_FIELDS] = {
	{ "MaxCnt", max_count }, { "MaxCntExt", max_count_more },
	{ "Rip", rip },
	{ "CompToRetCtr", complete_to_retire }, { "TagToRetCtr", tag_to_retire },
	{ "BrnRet", branch }, { "OpBrnTaken", taken }, { "OpBrnMisp", mispredicted }, { "OpReturn", returns },
	{ "BrTarget", target },
	{ "DataSrcLo", source },
	{ "LdOp", load }, { "StOp", store }, { "DcLinAddrValid", access_valid }, { "DcPhyAddrValid", access_valid },
	{ "DcL1TlbMiss", l1_tlb_miss }, { "DcL2TlbMiss", l2_tlb_miss }, { "DcMiss", l1_miss }, { "L2Miss", l2_miss },
	{ "DcMissNoMabAlloc", no_buffer },
	{ "OpMemWidth", width }, { "DcMissLat", miss_latency }, { "TlbRefillLat", refill_latency },
	{ "DcLinAd", address },
};

/* Where each lies: a field that is all ones, in registers that are 0, says it. Looked up by name it would take longer
 * than all else of a sample. */
void golden_ibs_init(struct golden_ibs *ibs, bool counts_ops)
{
	struct words_ibs control = { .fields = words_ibs_op, .caps = CAPS };

	words_ibs_set(&control, "Val", 1);
	words_ibs_set(&control, "CntCtl", counts_ops);
	ibs->control = control.regs[0];
	for (unsigned i = 0; i < GOLDEN_IBS_FIELDS; i++) {
		struct words_ibs ones = { .fields = words_ibs_op, .caps = CAPS };
		uint8_t reg = 0;

		words_ibs_set(&ones, fields[i].name, UINT64_MAX);
		while (!ones.regs[reg])
			reg++;
		ibs->at[i].reg = reg;
		ibs->at[i].shift = (uint8_t)__builtin_ctzll(ones.regs[reg]);
		ibs->at[i].mask = ones.regs[reg];
	}
}

void golden_ibs_put(const struct golden_ibs *ibs, const struct golden_sample *s, struct words_bytes *b)
{
	struct words_ibs w = { .fields = words_ibs_op, .caps = CAPS, .regs = { ibs->control } };

	for (unsigned i = 0; i < GOLDEN_IBS_FIELDS; i++)
		w.regs[ibs->at[i].reg] |= fields[i].of(s) << ibs->at[i].shift & ibs->at[i].mask;
	b->n = 0;
	words_ibs_bytes(&w, b);
}
