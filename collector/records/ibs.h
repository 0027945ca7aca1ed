/* SPDX-License-Identifier: MIT */
/* AMD's instruction-based sampling: what a sample of ibs_op or ibs_fetch brings along as PERF_SAMPLE_RAW.
 *
 *	u32 capabilities (CPUID Fn8000_001B EAX) | u64 registers ...
 *	op     ctl rip data data2 data3 dc_linear dc_physical [branch_target, if BRNTRGT] [data4, if OPDATA4]
 *	fetch  ctl linear physical [extended ctl, if FETCHCTLEXTD]
 *
 * Sources: AMD64 Architecture Programmer's Manual, volume 2, "Instruction-Based Sampling"; the Processor Programming
 * References of families 17h, 19h and 1Ah (IBS registers MSRC001_1030 to MSRC001_103D); revision guides for what is
 * wrong on which model. How the kernel writes them: perf_event's RAW of arch/x86/events/amd/ibs.c.
 *
 * Pure: bytes in, values out. What the hardware does not vouch for is left out, and a bit of `known` says what is
 * there; a field without its bit is 0. */
#ifndef GUS_COLLECTOR_RECORDS_IBS_H
#define GUS_COLLECTOR_RECORDS_IBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capabilities that change what registers say. */
enum gus_ibs_cap {
	GUS_IBS_CAP_COUNT = 1 << 3,           /* where the count stands can be read */
	GUS_IBS_CAP_OPS = 1 << 4,             /* it may be ops that are counted */
	GUS_IBS_CAP_BRANCH_TARGET = 1 << 5,
	GUS_IBS_CAP_COUNT_27 = 1 << 6,        /* periods of 27 bits */
	GUS_IBS_CAP_RIP_INVALID = 1 << 7,     /* ops say whether their rip is one */
	GUS_IBS_CAP_BRANCH_FUSED = 1 << 8,
	GUS_IBS_CAP_FETCH_EXTENDED = 1 << 9,
	GUS_IBS_CAP_DATA4 = 1 << 10,
	GUS_IBS_CAP_ZEN4 = 1 << 11,           /* filter of L3 misses, and the longer table of data sources */
	GUS_IBS_CAP_LOAD_LATENCY = 1 << 12,   /* filter of loads by latency */
	GUS_IBS_CAP_STREAM = 1 << 16,         /* streaming stores and the remote socket are told */
	GUS_IBS_CAP_PAGE_SIZE = 1 << 19,      /* the page size is a number, valid with the physical address */
};

/* Which silicon, as far as errata depend on it. Family 0: not known, and nothing that any model gets wrong is
 * believed. */
struct gus_ibs_cpu {
	uint32_t family, model;
};

/* What of an op is known. */
enum gus_ibs_known {
	GUS_IBS_RIP = 1 << 0,
	GUS_IBS_BRANCH = 1 << 1,        /* it is one: taken, mispredicted, returns, fused */
	GUS_IBS_TARGET = 1 << 2,
	GUS_IBS_LINEAR = 1 << 3,        /* the address of its access */
	GUS_IBS_PHYSICAL = 1 << 4,
	GUS_IBS_TLB = 1 << 5,           /* l1_tlb_miss, l2_tlb_miss */
	GUS_IBS_PAGE = 1 << 6,          /* page_bytes */
	GUS_IBS_CACHE = 1 << 7,         /* dc_miss */
	GUS_IBS_L2 = 1 << 8,            /* l2_miss */
	GUS_IBS_SOURCE = 1 << 9,        /* source, remote_node */
	GUS_IBS_HIT_STATE = 1 << 10,    /* cache_owned */
	GUS_IBS_MISSES_OPEN = 1 << 11,  /* misses_open */
	GUS_IBS_TLB_LATENCY = 1 << 12,
	GUS_IBS_DC_LATENCY = 1 << 13,   /* of loads that missed */
	GUS_IBS_NO_MAB = 1 << 14,
};

/* Where the data of a load came from. */
enum gus_ibs_source {
	GUS_IBS_SOURCE_NONE,            /* not told */
	GUS_IBS_SOURCE_LOCAL_CACHE,     /* before Zen 4: L3, or another core's cache of this CCX; Zen 4: this CCX */
	GUS_IBS_SOURCE_NEAR_CACHE,      /* Zen 4: a cache of another CCX of this node */
	GUS_IBS_SOURCE_FAR_CACHE,       /* a cache of another node; before Zen 4: any other cache */
	GUS_IBS_SOURCE_DRAM,
	GUS_IBS_SOURCE_PERSISTENT,
	GUS_IBS_SOURCE_IO,              /* memory-mapped I/O, configuration, APIC */
	GUS_IBS_SOURCE_EXTENSION,       /* extension memory: S-Link, CXL */
	GUS_IBS_SOURCE_PEER,            /* a peer agent's memory */
	GUS_IBS_SOURCE_RESERVED,        /* a number that no manual explains */
};

struct gus_ibs_op {
	uint32_t caps, known;           /* enum gus_ibs_cap, enum gus_ibs_known */
	/* How it was sampled. */
	uint64_t period;                /* cycles, or ops where counts_ops */
	uint32_t count;                 /* since it was over: how late the sample is, with random low bits */
	bool valid;                     /* hardware calls it a sample */
	bool counts_ops, l3_miss_only;
	uint32_t least_latency;         /* of loads that are sampled at all; 0: any */
	uint64_t rip, linear, physical, target;
	/* Cycles, which stop at 65,535. Tag: the op is dispatched. */
	uint16_t tag_to_retire, complete_to_retire;
	bool returns, taken, mispredicted, branch, fused, microcoded;
	bool load, store, l1_tlb_miss, l2_tlb_miss, dc_miss, l2_miss, misaligned, write_combining, uncached, locked;
	bool no_mab;                    /* the miss is of a line that another op has asked for already */
	bool software_prefetch, remote_node, remote_socket, streaming_store;
	bool cache_owned;               /* the line was found in state O, else in M */
	uint64_t page_bytes;            /* of the TLB entry that was hit, or of the page */
	uint8_t bytes;                  /* width of the access; 0: not told */
	uint8_t misses_open;            /* requests of this core beside it */
	uint16_t dc_latency, tlb_latency; /* cycles to the data, to the translation */
	enum gus_ibs_source source;
	uint8_t source_number;          /* as the hardware has it */
	uint64_t data4;                 /* as it is; 0 without GUS_IBS_CAP_DATA4 */
};

/* Of an op, from RAW's bytes without their size word. False: they are fewer than an op has. More than there are of
 * registers are left alone: later kernels may append some. */
bool gus_ibs_op_parse(const void *raw, size_t size, const struct gus_ibs_cpu *cpu, struct gus_ibs_op *op);

enum gus_ibs_fetch_known {
	GUS_IBS_FETCH_LINEAR = 1 << 0,
	GUS_IBS_FETCH_PHYSICAL = 1 << 1,
	GUS_IBS_FETCH_PAGE = 1 << 2,
	GUS_IBS_FETCH_CACHE = 1 << 3,   /* ic_miss */
	GUS_IBS_FETCH_L2 = 1 << 4,      /* l2_miss */
	GUS_IBS_FETCH_L3 = 1 << 5,      /* oc_miss, l3_miss */
	GUS_IBS_FETCH_REFILL = 1 << 6,  /* itlb_latency */
	GUS_IBS_FETCH_LATENCY = 1 << 7,
	GUS_IBS_FETCH_TLB = 1 << 8,     /* l1_tlb_miss, l2_tlb_miss */
};

/* Fetches are speculative: of wrong paths too, and some are given up before they are done. */
struct gus_ibs_fetch {
	uint32_t caps, known;
	uint64_t period;                /* completed fetches */
	uint32_t count;                 /* of these, when it was sampled */
	bool valid;                     /* hardware calls it a sample */
	bool randomised, l3_miss_only, completed;
	uint64_t linear, physical;
	uint16_t latency;               /* cycles from its beginning to its data, or to where it was given up */
	bool ic_miss, l1_tlb_miss, l2_tlb_miss, l2_miss, oc_miss, l3_miss;
	uint64_t page_bytes;
	uint16_t itlb_latency;
};

bool gus_ibs_fetch_parse(const void *raw, size_t size, const struct gus_ibs_cpu *cpu, struct gus_ibs_fetch *fetch);

#endif
