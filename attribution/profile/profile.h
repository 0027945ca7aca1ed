/* SPDX-License-Identifier: MIT */
/* The profile: all samples of a recording, added up by thread and address. Everything that a report shows is a view of
 * it, and the samples of any view add up to the samples of the profile, exactly. */
#ifndef GUS_ATTRIBUTION_PROFILE_PROFILE_H
#define GUS_ATTRIBUTION_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "proto/reader.h"
#include "symbolizer/symbols/symbols.h"

struct gus_log;

struct gus_error;

/* What of the recording to take. Zero-initialised it is everything of event 0. */
struct gus_filter {
	uint32_t event;             /* index into Header.events */
	const char *const *comms;   /* NULL-terminated lists, NULL for all */
	const char *const *modules; /* full paths or base names */
	const uint32_t *tids;
	size_t tids_n;
	uint64_t from_ns, to_ns;    /* since the recording's start; to_ns 0 is its end */
	bool chains;                /* keep call chains */
};

/* Samples of one thread at one address with one calling path. */
struct gus_cell {
	uint32_t thread;            /* index into threads */
	uint32_t path;              /* index into paths, 0 for none */
	struct gus_place place;
	uint64_t samples;
	uint64_t weight;            /* sum of periods, in the event's unit */
	double weight2;             /* sum of squared periods */
};

struct gus_thread {
	uint32_t pid, tid;
	const char *comm;           /* the name it had at its last sample */
	uint64_t switches;          /* times it was switched out; 0 if the recording has no switch records */
	uint64_t on_cpu_ns;         /* between a switch in and the next out that the recording holds both */
};

/* A calling path: a frame and the path of its caller. Path 0 is the empty one. */
struct gus_path {
	uint32_t caller;
	uint32_t depth;             /* frames in it */
	struct gus_place place;     /* of the call, not of the return address */
};

struct gus_profile {
	struct gus_space *space;
	struct gus_symbols *symbols;
	const Gusprof__Header *header; /* the reader's */
	uint32_t event;                /* that was asked for */
	Gusprof__Footer *footer;       /* NULL if the recording was cut */
	struct gus_damage damage;
	struct gus_cells gus_vec(struct gus_cell) cells; /* sorted by module, offset, thread, path */
	struct gus_threads gus_vec(struct gus_thread) threads;
	struct gus_paths gus_vec(struct gus_path) paths;
	uint64_t samples;              /* in cells */
	uint64_t weight;
	double weight2;
	uint64_t filtered;             /* samples of the event that the filter left out, read or not */
	uint64_t other_events;         /* samples of other events */
	uint64_t missing;              /* samples that the footer counts and no readable frame holds */
	uint64_t lost;                 /* records that the kernel dropped, as far as the file tells */
	/* Weight that no sample stands for, as tasks ended before their next one: nobody knows where it went. A cut
	 * recording does not tell. */
	uint64_t unsampled;
	uint64_t throttled;            /* times the kernel paused sampling */
	uint64_t first_ns, last_ns;    /* of the samples taken, in the recording's clock; 0 if there are none */
};

/* Reads the whole recording (twice: side band, then samples), so memory grows with distinct addresses, not with
 * samples. Files that it names are opened with the rights of its owner, and no more than those in options. Damage is
 * not an error: it is in the profile. -1 only if the file cannot be read at all, or if the filter asks for an event
 * that it has not. */
int gus_profile_load(struct gus_profile *p, struct gus_reader *reader, const struct gus_filter *filter,
		     const struct gus_symbols_options *options, const struct gus_log *log, struct gus_error *err);
void gus_profile_free(struct gus_profile *p);

/* What the recorder counted of this event in all, NULL if the recording was cut. */
const Gusprof__EventTotal *gus_profile_total(const struct gus_profile *p);

/* The unsampled part of what has the given weight and might have all of it besides. */
static inline double gus_profile_unsampled_share(const struct gus_profile *p, uint64_t weight)
{
	return p->unsampled ? (double)p->unsampled / ((double)weight + (double)p->unsampled) : 0;
}

/* How long the recording is, from its start to its footer; of a cut one, to its last sample (which reads it). */
int gus_profile_length(struct gus_reader *reader, uint64_t *length_ns, struct gus_error *err);

#endif
