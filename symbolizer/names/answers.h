/* SPDX-License-Identifier: MIT */
/* What debug information has answered about addresses of one module, to be kept for the next time: for each range of
 * addresses that have the same answer its line, the calls that are inlined there, and the function that has the code.
 * What was asked is a small part of what could be, and is asked again. As bytes they carry a version, the key of the
 * files that they are from, and a checksum; they are either as they were written or nothing at all. */
#ifndef GUS_SYMBOLIZER_NAMES_ANSWERS_H
#define GUS_SYMBOLIZER_NAMES_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"

/* Texts are numbers of strings; 0 is none, and so is a call 0. */
struct gus_answer {
	uint64_t low, high;       /* [low, high) */
	uint32_t file, line;      /* of the address */
	uint32_t outer;           /* name of the function that has the code */
	uint32_t call;            /* the innermost inlined call */
};

struct gus_answer_call {
	uint32_t name;            /* of the function that is inlined */
	uint32_t file, line;      /* where it is called */
	uint32_t around;          /* the call that this one is inlined in */
};

struct gus_answers {
	struct gus_strings strings;
	struct gus_vec(struct gus_answer_call) calls; /* each stands behind the one around it; 0 is not used */
	struct gus_index call_numbers;
	struct gus_known_answers gus_vec(struct gus_answer) known; /* read or joined, sorted */
	struct gus_vec(struct gus_answer) fresh;  /* added since, each low once */
	struct gus_index fresh_lows;
};

void gus_answers_init(struct gus_answers *a);
void gus_answers_free(struct gus_answers *a);

/* The answer that was read for address, or NULL. */
const struct gus_answer *gus_answers_find(const struct gus_answers *a, uint64_t address);

/* The number of a text; NULL, "" and what is longer than names are is 0. */
uint32_t gus_answers_text(struct gus_answers *a, const char *text);
/* The text of a number; NULL of 0. */
const char *gus_answers_string(const struct gus_answers *a, uint32_t number);
/* The number of a call. */
uint32_t gus_answers_call(struct gus_answers *a, const struct gus_answer_call *call);
void gus_answers_add(struct gus_answers *a, const struct gus_answer *answer);

/* Lets those that were added be found, and adds what others have. */
void gus_answers_join(struct gus_answers *a, const struct gus_answers *others);

/* Takes those out of bytes that were written with that key. False, and a as it was initialised, if they are anything
 * else. */
bool gus_answers_read(struct gus_answers *a, const void *key, size_t key_size, const void *bytes, size_t size);
/* All answers as bytes, which the caller frees. Of two that overlap the one that was read stays. */
uint8_t *gus_answers_write(const struct gus_answers *a, const void *key, size_t key_size, size_t *size);

#endif
