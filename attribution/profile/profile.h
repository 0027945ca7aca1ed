/* SPDX-License-Identifier: MIT */
/* The profile: all samples of a recording, added up by thread and address. Everything that a report shows is a view of
 * it, and the samples of any view add up to the samples of the profile, exactly. */
#ifndef GUS_ATTRIBUTION_PROFILE_PROFILE_H
#define GUS_ATTRIBUTION_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/cells.h"
#include "attribution/profile/wall.h"
#include "base/alloc.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "symbolizer/symbols/symbols.h"

struct gus_topdown_recorded;
struct gus_topdown_sampled;
struct gus_heed;
struct gus_log;
struct gus_skid;
struct gus_touches;
struct gus_traffic;

struct gus_error;

#define GUS_EVENT_ANY UINT32_MAX

struct gus_cpu_range { uint32_t first, last; };

/* What of the recording to take: what all that is said here holds for. Zero-initialised it is everything of event 0. */
struct gus_filter {
	uint32_t event;             /* index into Header.events, or GUS_EVENT_ANY, which only gus_profile_visit takes */
	const char *const *comms;   /* NULL-terminated lists, NULL for all */
	const char *const *modules; /* full paths or base names */
	const uint32_t *tids, *pids; /* none: all */
	size_t tids_n, pids_n;
	const struct gus_cpu_range *cpus; /* likewise; of events only. Where no sample says its CPU that is an error,
					   * GUS_E_NOT_FOUND */
	size_t cpus_n;
	uint64_t from_ns, to_ns;    /* since the recording's start; to_ns 0 is its end */
	bool chains;                /* keep call chains */
	bool registers;             /* keep registers of user space beside chains that were found by them */
	bool comms_kept;            /* keep what threads were called when they were sampled */
	unsigned data;              /* of enum gus_by what of accesses to memory is to be kept; of events only. Not to
				     * have any is then an error, GUS_E_NOT_FOUND */
	/* What weights are. Of time the event is that of what ran; of OFF_CPU it does not matter. Only of
	 * gus_profile_load. */
	enum gus_weighs weighs;
	/* Keep the counts of issue slots that samples bring along, of whatever event these are: by cell, and in so many
	 * parts of the recording's length; 0: not. Only of gus_profile_load. */
	size_t slots;
	uint64_t length_ns;
	bool kernel_ends;           /* of time: places are in the kernel where threads left their CPU in it */
	const struct gus_heed *heed;
};

struct gus_thread {
	uint32_t pid, tid;
	const char *comm;           /* the name it had at its last sample */
	uint64_t switches;          /* times it was switched out; 0 if the recording has no switch records */
	uint64_t on_cpu_ns;         /* between a switch in and the next out that the recording holds both */
	struct gus_life life;       /* of a profile of time */
};

/* A calling path: a frame and the path of its caller. Path 0 is the empty one. */
struct gus_path {
	uint32_t caller;
	uint32_t depth;             /* frames in it */
	struct gus_place place;     /* of the call, not of the return address */
};

/* What became of the stacks of samples whose callers were found by registers and stacks, or by the CPU's own stack of
 * calls; those that the kernel found are in none of these, as nobody looked at how they end. */
struct gus_endings {
	uint64_t samples;
	uint64_t by_end[GUS_CALLERS_END + 1]; /* enum gus_callers */
	uint64_t remembered;           /* of samples: GUS_CALLERS_REMEMBERED, whatever the end */
};

struct gus_profile {
	struct gus_space *space;
	struct gus_symbols *symbols;
	const Gusprof__Header *header; /* the reader's */
	uint32_t event;                /* that was asked for */
	enum gus_weighs weighs;
	bool chains;                   /* whether they were to be kept; that there are any is another matter */
	struct gus_wall_sums wall;     /* of a profile of time: of all threads that the filter takes by number */
	Gusprof__Footer *footer;       /* NULL if the recording was cut */
	struct gus_topdown_recorded *slots; /* NULL if it has no counts of them */
	struct gus_traffic *traffic;   /* of memory; likewise */
	struct gus_topdown_sampled *sampled; /* with filter.slots, by number of cells; NULL if its samples have none */
	struct gus_damage damage;
	struct gus_cells cells; /* sorted by module, offset, thread, path */
	struct gus_threads gus_vec(struct gus_thread) threads;
	struct gus_paths gus_vec(struct gus_path) paths;
	/* Names of threads at samples that were asked for by name, or to be kept, and with a filter of modules those
	 * that were sampled, whether the filter took them or not: what there is to ask for. */
	struct gus_vec(const char *) comms;
	struct gus_vec(uint32_t) modules;
	struct gus_touches *touches;   /* with filter.data: accesses to memory; else NULL */
	struct gus_vec(uint64_t) told; /* likewise: by event, how many of its samples told of any */
	bool addressed;             /* likewise: some of its samples told an address alone, and none was asked for */
	uint64_t samples;              /* in cells */
	uint64_t weight;               /* at most GUS_LIMIT_SUM: what would go beyond is not added, here or in cells */
	uint64_t capped;               /* samples whose weight was cut for that */
	uint64_t shortened;            /* samples of whose callers only the outermost are in paths: GUS_LIMIT_PATHS */
	double weight2;
	uint64_t filtered;             /* samples of the event that the filter left out, read or not */
	uint64_t without_cpu;          /* of these: no CPU is told, and some were asked for */
	uint64_t other_events;         /* samples of other events */
	uint64_t missing;              /* samples that the footer counts and no readable frame holds; as the next */
	/* Records that the kernel dropped, as far as the file tells; GUS_LIMIT_SUM: that many or more. */
	uint64_t lost;
	/* Weight that no sample stands for, as tasks ended before their next one: nobody knows where it went. A cut
	 * recording does not tell. */
	uint64_t unsampled;
	uint64_t throttled;            /* times the kernel paused sampling */
	struct gus_endings endings;    /* of samples in cells, with filter.chains */
	const struct gus_heed *heed;   /* the filter's */
	uint64_t first_ns, last_ns;    /* of the samples taken, in the recording's clock; 0 if there are none */
};

/* Reads the whole recording (twice: side band, then samples), so memory grows with distinct addresses, not with
 * samples. Files that it names are opened with the rights of its owner, and no more than those in options. Damage is
 * not an error: it is in the profile. -1 only if the file cannot be read at all, or if the filter asks for an event
 * that it has not. */
int gus_profile_load(struct gus_profile *p, struct gus_reader *reader, const struct gus_filter *filter,
		     const struct gus_symbols_options *options, const struct gus_log *log, struct gus_error *err);
void gus_profile_free(struct gus_profile *p);

/* Where samples of the profile's event landed beside a slow instruction before it was recorded. False if that is not
 * known; then all counts are 0. */
bool gus_profile_skid(const struct gus_profile *p, struct gus_skid *skid);
/* Which event of a recording has a sample of each switch; GUS_INDEX_NONE: none has. */
uint32_t gus_profile_switches(const Gusprof__Header *header);

/* A frame of a sample's chain. */
struct gus_caller {
	uint64_t ip;                /* as recorded */
	bool returns;               /* it is an address behind a call, and place is that of the call, a byte before */
	struct gus_place place;
};

/* A sample as it was taken. All of it lives until the visit returns; comm as long as the profile. */
struct gus_sighting {
	const struct gus_sample *sample;
	const char *comm;           /* the name that its thread had then, "" if that is not known */
	struct gus_place place;
	const struct gus_caller *callers; /* innermost first, with filter.chains */
	size_t callers_n;
};

struct gus_visitor {
	void (*begin)(void *context, struct gus_profile *p); /* names can be asked for from now on */
	void (*sample)(void *context, const struct gus_sighting *s);
	void *context;
	uint64_t late;              /* out: samples that were told too late, see attribution/profile/order.h */
};

/* As gus_profile_load, but instead of being added up to cells each sample is told, in the order of time. What the
 * profile says of damage and losses, and how many samples there were, is right when this returns. */
int gus_profile_visit(struct gus_profile *p, struct gus_reader *reader, const struct gus_filter *filter,
		      const struct gus_symbols_options *options, const struct gus_log *log, struct gus_visitor *visit,
		      struct gus_error *err);
/* Leaves those cells in it that `keep` says, and counts the samples of the others among those that were filtered. */
void gus_profile_keep(struct gus_profile *p, bool (*keep)(void *context, const struct gus_cell *cell), void *context);

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
