/* SPDX-License-Identifier: MIT */
/* Finds the callers of samples while they come out of the rings: the address spaces as of then, the unwind tables of
 * the files that are mapped there, and the piece of the stack that each sample brings along. */
#ifndef GUS_CLI_RECORD_CALLERS_H
#define GUS_CLI_RECORD_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "cli/record/beyond.h"
#include "cli/record/remembered.h"
#include "collector/session/options.h"
#include "proto/sample.h"
#include "symbolizer/symbols/symbols.h"

struct gus_current;
struct gus_log;
struct gus_unwind_file;
struct gus_unwind_files;

struct gus_record_callers {
	struct gus_session_unwinder unwinder; /* for the session; its context is this */
	enum gus_call_graph mode;
	const struct gus_kept *kept;          /* the session's, once it has begun */
	struct gus_current *current;
	struct gus_symbols_options options;   /* of files */
	struct gus_unwind_files *files;
	struct gus_unwind_lasts *lasts;
	struct gus_remembered remembered;
	struct gus_beyond beyond;             /* its share may be set; it is 2 % */
	struct gus_vec(struct gus_unwind_file *) of_module; /* by number; NULL: not asked for yet */
	struct gus_vec(bool) at_hand;         /* whether they were, when they were first asked */
	unsigned machine, sp;                 /* EM_* of this one; DWARF's number of its stack pointer */
	/* what became of stacks */
	uint64_t ends[GUS_CALLERS_END + 1], leaves, inferred;
	/* beside frame pointers: samples, how many of them were looked at, and those in whose chain a caller is
	 * missing, by module of the function that was called */
	uint64_t pointed, compared;
	struct gus_vec(uint64_t) passed_over;
	char *missing;                        /* why one of the files was not at hand; NULL: all were */
};

/* keep_ns: how old a sample may be when it is asked about. */
void gus_record_callers_init(struct gus_record_callers *c, enum gus_call_graph mode, uint64_t keep_ns);
void gus_record_callers_free(struct gus_record_callers *c);

/* Says how many stacks are whole, and what the others lack. */
void gus_record_callers_summarise(const struct gus_record_callers *c, const struct gus_log *log);

#endif
