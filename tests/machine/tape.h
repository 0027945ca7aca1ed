/* SPDX-License-Identifier: MIT */
/* Words that hardware left in a perf.data file, for a machine to write again: samples as they are, one by one, and what
 * was in AUX areas. The file's first event is the one whose samples these are; records that are none are left out. */
#ifndef GUS_TESTS_MACHINE_TAPE_H
#define GUS_TESTS_MACHINE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct machine_event;

struct machine_tape {
	uint8_t *bytes;
	size_t begin, end, at;  /* of the data section, and where the next record is */
	uint64_t type;          /* PERF_SAMPLE_* of the samples */
	uint64_t tid;           /* of the first thread that samples were of: it is played by the event's */
	bool has_tid;
};

/* Reads all of it. False if there is no such file, or it is none. */
bool machine_tape_open(struct machine_tape *t, const char *path);
/* Writes up to n samples, each of which stands for so many times what it says, or the next piece of an AUX area, into
 * the event's ring and area. False: none is left. */
bool machine_tape_play(struct machine_tape *t, struct machine_event *e, unsigned n, double longer);
/* How much of it has been played, of 1. */
double machine_tape_played(const struct machine_tape *t);
void machine_tape_close(struct machine_tape *t);

#endif
