/* SPDX-License-Identifier: MIT */
/* What rows are told apart by: bits, as a row may be of several things at once, such as a line of the source and where
 * the data that it asked for were. */
#ifndef GUS_ATTRIBUTION_PROFILE_BY_H
#define GUS_ATTRIBUTION_PROFILE_BY_H

#include <stdbool.h>

enum gus_by {
	GUS_BY_MODULE = 1 << 0,      /* of code: from here on each is finer than those before */
	GUS_BY_FUNCTION = 1 << 1,
	GUS_BY_LINE = 1 << 2,
	GUS_BY_INSTRUCTION = 1 << 3,
	GUS_BY_CODE = (1 << 4) - 1,

	GUS_BY_PROCESS = 1 << 4,
	GUS_BY_THREAD = 1 << 5,
	GUS_BY_COMM = 1 << 6,        /* of a profile that has kept the names */
	GUS_BY_TASK = GUS_BY_PROCESS | GUS_BY_THREAD | GUS_BY_COMM,

	/* Of the access to memory, of a profile that has kept these (attribution/profile/touch.h). */
	GUS_BY_DATA_SOURCE = 1 << 8, /* where the data were */
	GUS_BY_SNOOP = 1 << 9,       /* what other caches said */
	GUS_BY_TLB = 1 << 10,
	GUS_BY_ACCESS = 1 << 11,     /* load, store, prefetch */
	GUS_BY_LOCKED = 1 << 12,
	GUS_BY_DATA_PAGE = 1 << 13,  /* the page that was asked for, or, finer, */
	GUS_BY_DATA_LINE = 1 << 14,  /* the line of caches */
	GUS_BY_DATA_MODULE = 1 << 15, /* what is mapped there, or, finer, */
	GUS_BY_DATA_SYMBOL = 1 << 16, /* the variable of the file that is mapped there */
	GUS_BY_DATA_PLACE = GUS_BY_DATA_PAGE | GUS_BY_DATA_LINE,
	GUS_BY_DATA_OWNER = GUS_BY_DATA_MODULE | GUS_BY_DATA_SYMBOL,
	GUS_BY_DATA = 0x1ff << 8,

	/* Of stacks alone (attribution/accounts), which know what was executed. */
	GUS_BY_BLOCK = 1 << 17,
	GUS_BY_LOOP = 1 << 18,
	GUS_BY_EXECUTED = GUS_BY_BLOCK | GUS_BY_LOOP,

	/* Of issue slots alone: stretches of the recording. */
	GUS_BY_TIME = 1 << 19,
};

/* Whether rows are of code, among others. */
static inline bool gus_by_has_code(unsigned by)
{
	return (by & GUS_BY_CODE) != 0;
}

/* Whether rows are tasks and nothing else. */
static inline bool gus_by_is_task(unsigned by)
{
	return by && !(by & ~(unsigned)GUS_BY_TASK);
}

/* Whether they are of one of the things that paths of calls are made of, so that callers have rows, too. */
static inline bool gus_by_is_code(unsigned by)
{
	return by && !(by & ~(unsigned)GUS_BY_CODE);
}

/* What is as good: of code, of tasks and of places the finest alone, as an instruction is of one line, and a thread of
 * one process. */
unsigned gus_by_settled(unsigned by);

#endif
