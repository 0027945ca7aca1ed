/* SPDX-License-Identifier: MIT */
/* The limits of a machine: what can hold code up, by which parameters of tables it is set, which engine has it, and how
 * it is relaxed. A new limit is a row of the table in limits.c; from there the comparison of the engines, the manual
 * page and the tests know it. */
#ifndef GUS_MODEL_MACHINE_LIMITS_H
#define GUS_MODEL_MACHINE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct gus_core_config;
struct gus_core_options;

enum gus_machine_limit_kind {
	GUS_LIMIT_LENGTH_DECODING,
	GUS_LIMIT_DECODERS,
	GUS_LIMIT_MICROCODE,
	GUS_LIMIT_UOP_CACHE_SIZE,
	GUS_LIMIT_UOP_CACHE_LINES,
	GUS_LIMIT_PREDICTION,
	GUS_LIMIT_FRONT_END,
	GUS_LIMIT_CODE_CACHE,
	GUS_LIMIT_LOOP_BOUNDARY,
	GUS_LIMIT_ISSUE,
	GUS_LIMIT_MOVE_ELIMINATION,
	GUS_LIMIT_REORDER_BUFFER,
	GUS_LIMIT_REGISTERS,
	GUS_LIMIT_LOAD_BUFFER,
	GUS_LIMIT_STORE_BUFFER,
	GUS_LIMIT_BRANCH_BUFFER,
	GUS_LIMIT_SCHEDULER,
	GUS_LIMIT_SCHEDULER_PARTS,
	GUS_LIMIT_PORT_BINDING,
	GUS_LIMIT_RETIREMENT,
	GUS_LIMIT_STORE_COMMIT,
	GUS_LIMIT_FORWARDING,
	GUS_LIMIT_BLOCKED_FORWARDING,
	GUS_LIMIT_L1_BANKS,
	GUS_LIMIT_LINE_SPLITS,
	GUS_LIMIT_ALIASES,
	GUS_LIMIT_MISS_BUFFERS,
	GUS_LIMIT_BANDWIDTH,
	GUS_LIMIT_TLB,
	GUS_LIMIT_MISPREDICTIONS,
	GUS_LIMITS
};

/* Whether an engine has a limit. */
enum gus_machine_has {
	GUS_LIMIT_ABSENT,
	GUS_LIMIT_SIMPLER,      /* it has it, but not to the cycle: the table says how */
	GUS_LIMIT_PRESENT,
};

enum { GUS_LIMIT_SETTINGS = 6 };
struct gus_machine_limit {
	const char *name;               /* "store commit" */
	const char *what;               /* one sentence for the manual page */
	const char *parameters;         /* of tables, separated by blanks */
	enum gus_machine_has core, stream;
	const char *simpler;            /* how the stream engine has it, where it is simpler */
	/* Relaxed: these parameters have these values; uops are always there; stores feed no loads. */
	struct gus_machine_setting { const char *name; uint32_t value; } relaxed[GUS_LIMIT_SETTINGS];
	bool relaxed_fetch, relaxed_pointers;
};
extern const struct gus_machine_limit gus_machine_limits[GUS_LIMITS];

/* As if there were no such limit; GUS_LIMITS: none of those that the stream engine has not, or has more simply. */
void gus_machine_relax(enum gus_machine_limit_kind limit, struct gus_core_config *c, struct gus_core_options *o);
/* "both engines", "the core engine alone", "traced runs alone". */
const char *gus_machine_limit_engines(enum gus_machine_limit_kind limit);

#endif
