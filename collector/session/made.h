/* SPDX-License-Identifier: MIT */
/* Processes that make code for themselves while they run, and the files in which their runtimes say what it is: the
 * perf map, /tmp/perf-PID.map of the process's own mount and PID namespace, and the jitdump, which it maps as code to
 * tell us. Both are opened when they are first seen, as process and namespace may be gone at the end, and read then.
 *
 * A maker is a process from the moment that it has executable memory without a file, or inherits some, until it
 * executes another program. Makers that have inherited their memory are one family with whom they have it from. */
#ifndef GUS_COLLECTOR_SESSION_MADE_H
#define GUS_COLLECTOR_SESSION_MADE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "base/index.h"
#include "proto/gusprof.pb-c.h"

struct gus_rights;
struct gus_sample;

#define GUS_MADE_MAKERS 65536   /* that are followed */
#define GUS_MADE_FILES 256      /* that are held */
#define GUS_MADE_HITS (1u << 18) /* distinct addresses that are noted */
#define GUS_MADE_EARLY (1u << 17) /* addresses of one reading of the rings */

/* A file had no more bytes than this at that time of the records' clock. */
struct gus_made_growth { uint64_t size, time; };

/* The rings are read one after the other, so news of one reading come in no order, and samples before what they depend
 * on. Both wait for its end. */
struct gus_made_news {
	uint64_t time, order;
	enum { GUS_MADE_MAPPED, GUS_MADE_FORKED, GUS_MADE_EXECUTED } kind;
	uint32_t pid, ppid;
	int dump;                      /* the jitdump that was mapped, open; -1: none */
};

/* A sample of a process that is no maker, as far as we have read. */
struct gus_made_early { uint64_t address; uint32_t pid; };

struct gus_made_file {
	int fd;                        /* -1: none */
	uint64_t size, looked;         /* at the last look, and when that was */
	struct gus_vec(struct gus_made_growth) growth;
};

struct gus_maker {
	uint32_t pid, family;
	uint64_t since;                /* of the records' clock: its first memory of that kind */
	struct gus_rights *rights;     /* the process's, as it had them when it was last there; NULL: never */
	pid_t inner;                   /* its number in its own namespace */
	uint64_t start, born;          /* when it began: as /proc has it, and of CLOCK_REALTIME */
	int folder;                    /* its /tmp, where its map may be written when it ends; -1: not open */
	bool gone;                     /* it has ended */
	bool sampled;                  /* since the map was last looked for */
	uint64_t next_look, wait;      /* for the map: CLOCK_MONOTONIC, ns */
	struct gus_made_file map, dump;
	char *trouble;                 /* why there is no map, at the last look; NULL: not looked yet */
};

struct gus_made {
	struct gus_index pids;
	struct gus_vec(uint32_t) latest; /* by number of the pid: its maker's number + 1, 0 if it is none now */
	struct gus_vec(struct gus_maker) makers;
	struct gus_index hits;         /* family and address */
	struct gus_vec(struct gus_made_news) news; /* until the rings have been read */
	struct gus_vec(struct gus_made_early) early;
	uint32_t files, files_most;    /* that are held, and may be */
	uint32_t last_pid, last;       /* of the last sample, and its maker's number + 1 */
	uint64_t left_out;             /* makers and files for which there was no room */
	bool hits_full;                /* there were more addresses than are noted */
	uint64_t start_realtime;       /* ns: no file of a process that has ended is older */
};

/* At most so many files are held. */
void gus_made_init(struct gus_made *m, size_t files);
void gus_made_free(struct gus_made *m);

/* Takes note of memory, of births and of programs that are executed; it counts from gus_made_settle on. */
void gus_made_note(struct gus_made *m, const Gusprof__Record *record);
void gus_made_sample(struct gus_made *m, const struct gus_sample *sample);
/* All rings have been read. */
void gus_made_settle(struct gus_made *m);
/* Looks for maps that are not there yet and are due, and how long those are that are. The times are now: of
 * CLOCK_MONOTONIC, and of the records. At the end `all` are due. */
void gus_made_look(struct gus_made *m, uint64_t now, uint64_t records_now, bool all);

/* The addresses that were sampled in a family, ascending; the caller frees them. */
uint64_t *gus_made_hits(const struct gus_made *m, uint32_t family, size_t *n);
/* For another file: hits begin anew. */
void gus_made_forget_hits(struct gus_made *m);

#endif
