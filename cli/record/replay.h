/* SPDX-License-Identifier: MIT */
/* record --trace auto: the snapshots of a session become windows, traces of what was done from each on, when it is
 * over. A recording is given to others: it keeps code and addresses, and memory only where that is asked for. */
#ifndef GUS_CLI_RECORD_REPLAY_H
#define GUS_CLI_RECORD_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/foreign_file.h"

struct gus_error;
struct gus_log;
struct gus_session_options;
struct gus_session_result;
struct gus_target;
struct gus_visits;
struct gus_writer;

struct gus_record_replay {
	bool keep_memory;               /* the snapshots themselves are kept, for who reads them to replay */
	uint64_t window;                /* instructions */
	uint64_t max_size;              /* of the file; 0: any */
	const struct gus_log *log;
	/* With whose rights files are opened that a process has mapped, while it lives: of processes that are not
	 * begun by us. */
	struct gus_vec(struct gus_record_rights { uint32_t pid; struct gus_rights rights; }) rights;
	struct gus_visits *visits;      /* the session's, while it is called */
	/* What came of it. */
	unsigned windows, failed;
	bool skipped;                   /* by a signal */
	bool full;                      /* max_size does not allow all */
	bool late;                      /* there was no time for all */
	double created, begun, seconds; /* created: before the recording */
	char why[256];                  /* of the first that failed */
};

void gus_record_replay_init(struct gus_record_replay *r, const struct gus_target *target);
void gus_record_replay_free(struct gus_record_replay *r);

/* For before_end of a session; the context is a struct gus_record_replay. A signal that asks us to end ends it with the
 * window at which it is. -1 with err if the recording cannot be written, or a trace that was replayed is not whole. */
int gus_record_replay(void *context, struct gus_writer *writer, const struct gus_session_result *result,
		      struct gus_error *err);

/* What became of the snapshots, in a line. */
void gus_record_replay_summarise(const struct gus_record_replay *r, const struct gus_session_options *so,
				 const struct gus_session_result *result);

#endif
