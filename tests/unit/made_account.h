/* SPDX-License-Identifier: MIT */
/* A recording that is made, whose trace is a loop that waits for its product, and the account of its time:
 *
 *	0  imul rax, rbx        three cycles, and the next one needs it
 *	4  add rcx, rdx
 *	7  dec rsi
 *	a  jnz 0                is fused to it
 *	c  jmp 0                of an erratic one, where the branch is not taken, as it is half of the time; of one
 *	                        that ends, the last of all
 */
#ifndef GUS_TESTS_UNIT_MADE_ACCOUNT_H
#define GUS_TESTS_UNIT_MADE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/accounts/account.h"
#include "proto/gusprof.pb-c.h"
#include "proto/sample.h"
#include "tests/unit/made_trace.h"

struct gus_groups;

#define APP "/nowhere/app"
#define LIB "/nowhere/lib.so"
enum { IMUL = 0, ADD = 4, DEC = 7, JNZ = 10, JMP = 12 };
enum { TEXT = 0x1000, SIZE = 0x20000, START = 1000000000, EVENTS = 3 };
static const uint64_t traced_at = 0x7e0000000000, app_at = 0x400000, lib_at = 0x600000;

struct made {
	struct made_model s;
	struct gus_groups *groups;
	/* The recording, while it is made. */
	Gusprof__Event events[EVENTS], *pointers[EVENTS];
	size_t events_n;
	const char *vendor, *lib;       /* lib: a path in place of LIB */
	bool anonymous;                 /* it is where it was traced, in memory of no file */
	bool cut;                       /* it has no footer */
	uint64_t missed, sampled;       /* of each event, by the footer */
	uint64_t counts[EVENTS];        /* likewise */
	struct gus_columns batch;
	/* And what it says. */
	struct gus_clues clues;
	struct gus_account account;
	bool made;
};

/* For cmocka: the loop, an erratic one, and one that ends. */
int made_account_setup(void **state);
int made_account_setup_erratic(void **state);
int made_account_setup_ending(void **state);
int made_account_teardown(void **state);

Gusprof__Event *made_event(struct made *m, const char *name, const char *unit);
/* One of the CPU's own, that is precise. */
Gusprof__Event *made_precise_event(struct made *m, const char *name);
/* So many of a sample, of a weight of 1000 each; of process 10, its first thread and the user's code, if it does not
 * say so itself. */
void made_samples(struct made *m, unsigned n, struct gus_sample s);
/* Of what was added. All that accounts hold is asserted: the order of cells, that there is one of each place, and
 * the module that each is of. */
void made_account(struct made *m, bool traced);

/* Time of a thread (0: of all) at an offset of a file, as seen or of any component. */
uint64_t made_seen_at(const struct made *m, const char *module, uint64_t offset, uint32_t tid);
uint64_t made_weight_at(const struct made *m, const char *module, uint64_t offset, uint32_t tid);

#endif
