/* SPDX-License-Identifier: MIT */
/* What the kernel writes into a ring, record by record, as values of ours. Pure: bytes in, values out; nothing is
 * believed about the bytes but their length. The layouts are those of the perf_event ABI (linux/perf_event.h). */
#ifndef GUS_COLLECTOR_RECORDS_RECORDS_H
#define GUS_COLLECTOR_RECORDS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "collector/records/sideband.h"
#include "proto/sample.h"

/* How an event's records look, by its perf_event_attr. */
struct gus_records_layout {
	uint64_t sample_type;              /* PERF_SAMPLE_* */
	uint64_t branch_type;              /* PERF_SAMPLE_BRANCH_*: of PERF_SAMPLE_BRANCH_STACK */
	uint64_t read_format;              /* PERF_FORMAT_* */
	uint64_t regs_mask, intr_mask;     /* a bit for each register: of PERF_SAMPLE_REGS_USER and _INTR */
	bool no_trailer;                   /* sample_id_all is not set: other records than samples do not say when */
};

/* How the records of a session look, and which event each of the kernel's event ids stands for. */
struct gus_records {
	struct gus_records_layout layout;  /* of all events, or where there are layouts of the first one */
	struct gus_vec(struct gus_records_layout) layouts; /* by event; none: they are all the same */
	bool big_endian;
	struct gus_index ids;              /* the kernel's id (u64) to a dense slot */
	struct gus_vec(uint32_t) event_of; /* slot to index into Header.events */
	struct gus_vec(uint32_t) which_of; /* and to which of that event's ids it is: 0, 1, 2, ... */
	struct gus_vec(uint32_t) ids_of;   /* how many of them an event has */
	uint32_t events;                   /* how many of these there are; the event of an id that is not known */
	struct gus_vec(uint64_t) chain;    /* scratch: the chain of the sample parsed last */
	struct gus_vec(struct gus_branch) branches; /* and its branches */
	struct gus_vec(uint64_t) regs, stack;       /* and its registers; the stack, if it lay at an odd place */
	struct gus_vec(uint64_t) words;             /* read, before they are an extra */
	struct gus_extras extras;
	/* The event, + 1, of which samples have no period; 0: none. */
	uint32_t unweighed;
	uint64_t last_id;                  /* and its slot, because samples come in runs */
	uint32_t last_slot;
};

void gus_records_init(struct gus_records *r, uint64_t sample_type, uint64_t branch_type, uint32_t events);
void gus_records_free(struct gus_records *r);
/* Says that id is one of the kernel's for that event; returns its slot: 0, 1, 2, ... */
uint32_t gus_records_add_id(struct gus_records *r, uint64_t id, uint32_t event);

enum gus_record_kind {
	GUS_RECORD_SAMPLE,
	GUS_RECORD_SWITCH,
	GUS_RECORD_AUX,      /* hardware has written into its AUX area */
	GUS_RECORD_SIDEBAND, /* has been added to the side band */
	GUS_RECORD_IGNORED,  /* known, and of no use here */
	GUS_RECORD_UNKNOWN,  /* a type that this program has not heard of */
	GUS_RECORD_BAD,      /* shorter than its own layout */
};

/* PERF_AUX_FLAG_* of the ABI. */
enum gus_aux_flag {
	GUS_AUX_TRUNCATED = 1 << 0, /* there was no more room: the event has stopped */
	GUS_AUX_OVERWRITE = 1 << 1,
	GUS_AUX_PARTIAL = 1 << 2,   /* there are gaps in it */
	GUS_AUX_COLLISION = 1 << 3, /* operations were not sampled, as the one before was still on its way */
};

/* Which bytes of the area are new, counted from its beginning on without end, and whose task was on the CPU. */
struct gus_aux_piece {
	uint64_t offset, size, flags; /* enum gus_aux_flag */
	uint64_t time;
	uint32_t event, pid, tid, cpu;
};

struct gus_record {
	enum gus_record_kind kind;
	/* Its chain, branches and registers live until the next call; its stack points into the record. */
	struct gus_sample sample;
	struct gus_aux_piece aux;
	uint32_t slot;             /* of the sample's id, or the AUX piece's; GUS_INDEX_NONE if that is not known */
	bool inherited;            /* the sample is from a copy of the event that a new task inherited */
	struct gus_switch sw;
	Gusprof__Record *sideband; /* the new one */
};

/* When a record was written; 0 if it does not say, or cannot be read. */
uint64_t gus_records_time(struct gus_records *r, const void *bytes, size_t size);

/* Whose a sample is: an index into Header.events, or their count if its id is not known. */
uint32_t gus_records_event(struct gus_records *r, const void *bytes, size_t size);

/* What the trailer says of a record that is no sample, and how many bytes it has. */
struct gus_records_trailer {
	uint64_t time;
	uint32_t pid, tid, cpu;
	size_t size;
};
/* False: the record is shorter than that. */
bool gus_records_trailer(struct gus_records *r, const void *bytes, size_t size, struct gus_records_trailer *trailer);

/* One record of size bytes, its header included. */
struct gus_record gus_records_parse(struct gus_records *r, const void *bytes, size_t size,
				    struct gus_sideband *sideband);

#endif
