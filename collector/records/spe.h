/* SPDX-License-Identifier: MIT */
/* Arm's Statistical Profiling Extension: a buffer of packets, of which several make a record of one sampled operation.
 * A packet is a header of one or two bytes and a payload of 1, 2, 4 or 8; a record ends with an END or a TIMESTAMP.
 *
 *	b0 d0 c2 a1 ed 66 ba ff c0   address 0: pc     65 80 5f 00 00   context, EL2
 *	49 00                        operation: load   52 16 00         events 1, 2, 4
 *	99 04 00                     counter 1: issue  98 0c 00         counter 0: total
 *	b2 28 6b 09 03 37 0e ff 00   address 2: data   71 2e 65 ...     timestamp: the record is over
 *
 * Source: Arm Architecture Reference Manual for A-profile, DDI 0487, chapter D17 "The Statistical Profiling Extension
 * Sample Record Specification"; what version 1.4 and SME add of operations also by tools/perf/util/arm-spe-decoder.
 * Data sources: the Technical Reference Manuals of the cores.
 *
 * Pure: bytes in, values out. What is no packet is passed over byte by byte up to where one begins; the record that it
 * lies in is not given, as nobody knows what else of it is no longer what the CPU wrote. */
#ifndef GUS_COLLECTOR_RECORDS_SPE_H
#define GUS_COLLECTOR_RECORDS_SPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_cursor;

enum gus_spe_kind {
	GUS_SPE_PADDING,
	GUS_SPE_ALIGNMENT,
	GUS_SPE_END,
	GUS_SPE_TIMESTAMP,
	GUS_SPE_EVENTS,
	GUS_SPE_SOURCE,
	GUS_SPE_CONTEXT,
	GUS_SPE_OPERATION,
	GUS_SPE_ADDRESS,
	GUS_SPE_COUNTER,
	GUS_SPE_UNKNOWN,        /* no header of the architecture's */
};

struct gus_spe_packet {
	enum gus_spe_kind kind;
	/* Of addresses and counters which one; of contexts the exception level (EL1 is 1); of operations the class. */
	unsigned index;
	uint64_t payload;
	unsigned size;          /* of the payload in bytes; of an alignment, that of all of the packet */
};

/* The next packet. False: there is none left, or it goes on beyond the end: then `c` is bad. Alignment is counted from
 * where the cursor began. An unknown one is one byte. */
bool gus_spe_packet(struct gus_cursor *c, struct gus_spe_packet *packet);

/* Bits of an event packet. Those that are not named belong to the implementation. */
enum gus_spe_event {
	GUS_SPE_EXCEPTION = 1 << 0,
	GUS_SPE_RETIRED = 1 << 1,
	GUS_SPE_L1D_ACCESS = 1 << 2,
	GUS_SPE_L1D_REFILL = 1 << 3,
	GUS_SPE_TLB_ACCESS = 1 << 4,
	GUS_SPE_TLB_WALK = 1 << 5,
	GUS_SPE_NOT_TAKEN = 1 << 6,
	GUS_SPE_MISPREDICTED = 1 << 7,
	GUS_SPE_LLC_ACCESS = 1 << 8,
	GUS_SPE_LLC_MISS = 1 << 9,
	GUS_SPE_REMOTE = 1 << 10,
	GUS_SPE_MISALIGNED = 1 << 11,
	GUS_SPE_TRANSACTION = 1 << 16,
	GUS_SPE_PARTIAL_PREDICATE = 1 << 17,
	GUS_SPE_EMPTY_PREDICATE = 1 << 18,
	GUS_SPE_L2D_ACCESS = 1 << 19,
	GUS_SPE_L2D_MISS = 1 << 20,
	GUS_SPE_MODIFIED = 1 << 21,
	GUS_SPE_RECENT = 1 << 22,
	GUS_SPE_SNOOPED = 1 << 23,
	GUS_SPE_STREAMING = 1 << 24,       /* in streaming SVE mode */
	GUS_SPE_SHARED_UNIT = 1 << 25,     /* done by a unit that cores share (SMCU) */
};

enum gus_spe_class { GUS_SPE_OTHER, GUS_SPE_LOAD_STORE, GUS_SPE_BRANCH, GUS_SPE_CLASS_RESERVED };

/* What operations are; several may hold. */
enum gus_spe_operation {
	GUS_SPE_OP_LOAD = 1 << 0,
	GUS_SPE_OP_STORE = 1 << 1,
	GUS_SPE_OP_ATOMIC = 1 << 2,
	GUS_SPE_OP_EXCLUSIVE = 1 << 3,
	GUS_SPE_OP_ACQUIRE_RELEASE = 1 << 4,
	GUS_SPE_OP_VECTOR = 1 << 5,        /* SIMD and floating-point registers, or SVE */
	GUS_SPE_OP_SVE = 1 << 6,
	GUS_SPE_OP_PREDICATED = 1 << 7,
	GUS_SPE_OP_GATHER = 1 << 8,
	GUS_SPE_OP_SYSTEM = 1 << 9,        /* of a system register (nested virtualization) */
	GUS_SPE_OP_TAG = 1 << 10,          /* of allocation tags */
	GUS_SPE_OP_COPY = 1 << 11,         /* memcpy, and memset with STORE alone */
	GUS_SPE_OP_BRANCH = 1 << 12,
	GUS_SPE_OP_CONDITIONAL = 1 << 13,
	GUS_SPE_OP_INDIRECT = 1 << 14,
	GUS_SPE_OP_CALL = 1 << 15,
	GUS_SPE_OP_RETURN = 1 << 16,
	GUS_SPE_OP_FLOAT = 1 << 17,
	GUS_SPE_OP_GUARDED = 1 << 18,      /* of a guarded control stack */
	GUS_SPE_OP_SME = 1 << 19,
};

/* What a record has. */
enum gus_spe_known {
	GUS_SPE_HAS_PC = 1 << 0,
	GUS_SPE_HAS_TARGET = 1 << 1,
	GUS_SPE_HAS_VIRTUAL = 1 << 2,
	GUS_SPE_HAS_PHYSICAL = 1 << 3,
	GUS_SPE_HAS_PREVIOUS = 1 << 4,
	GUS_SPE_HAS_TOTAL = 1 << 5,
	GUS_SPE_HAS_ISSUE = 1 << 6,
	GUS_SPE_HAS_TRANSLATION = 1 << 7,
	GUS_SPE_HAS_EVENTS = 1 << 8,
	GUS_SPE_HAS_OPERATION = 1 << 9,
	GUS_SPE_HAS_SOURCE = 1 << 10,
	GUS_SPE_HAS_CONTEXT = 1 << 11,
	GUS_SPE_HAS_TIMESTAMP = 1 << 12,
};

struct gus_spe_record {
	uint32_t known;                 /* enum gus_spe_known */
	/* Addresses without what is not one (tags, exception levels), with upper bits as the address space has
	 * them. */
	uint64_t pc, target, virtual, physical, previous;
	uint8_t level;                  /* exception level of pc */
	bool non_secure, physical_non_secure;
	bool physical_checked;          /* the access is checked against allocation tags (MTE) */
	uint8_t physical_tag;           /* the tag that it had in its address then: 4 bits */
	uint8_t tag;                    /* of the virtual address: its top byte */
	uint16_t total, issue, translation; /* cycles; some cores stop at 4,095 */
	uint64_t events;                /* enum gus_spe_event */
	uint64_t events_told;           /* bits that the packet had room for: of others nobody knows */
	uint32_t operation;             /* enum gus_spe_operation */
	enum gus_spe_class class;
	uint32_t vector_bits;           /* of an operation of SVE, or of SME's tile; 0: not told */
	uint16_t source;                /* as the core numbers them (gus_spe_source_of) */
	uint32_t context;
	uint8_t context_level;          /* 1 or 2: of both the higher one */
	uint64_t timestamp;             /* ticks of the generic timer */
};

struct gus_spe_lost {
	uint64_t bytes;                 /* that were no packet */
	uint64_t damaged;               /* records that some of these lie in, or that a packet came twice in, as it does
					 * where the end of one was lost */
	uint64_t cut;                   /* records that the end of the buffer cut */
};

/* The next record that is whole, or false at the end. */
bool gus_spe_record(struct gus_cursor *c, struct gus_spe_record *record, struct gus_spe_lost *lost);

/* Where a load got its data from, in terms that cores share. */
enum gus_spe_source {
	GUS_SPE_SOURCE_UNKNOWN,
	GUS_SPE_SOURCE_L1,
	GUS_SPE_SOURCE_L2,
	GUS_SPE_SOURCE_PEER_CORE,       /* another core's cache of this cluster */
	GUS_SPE_SOURCE_CLUSTER,         /* this cluster's shared cache */
	GUS_SPE_SOURCE_SYSTEM_CACHE,
	GUS_SPE_SOURCE_PEER_CLUSTER,
	GUS_SPE_SOURCE_REMOTE,          /* another chip's cache or memory */
	GUS_SPE_SOURCE_REMOTE_CACHE,    /* another chip's cache */
	GUS_SPE_SOURCE_DRAM,
	GUS_SPE_SOURCE_REMOTE_DRAM,
	GUS_SPE_SOURCE_DEVICE,
};

struct gus_spe_origin {
	enum gus_spe_source source;
	bool modified;                  /* and had been changed there; cores that do not tell say false */
};

/* midr: the core's MIDR_EL1; of one whose table is not known, and of numbers that no table has, all is unknown. */
struct gus_spe_origin gus_spe_origin_of(uint64_t midr, uint16_t number);

#endif
