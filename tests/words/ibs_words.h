/* SPDX-License-Identifier: MIT */
/* Registers of AMD's IBS, as PERF_SAMPLE_RAW brings them: the fields by their names in the Processor Programming
 * References (MSRC001_1030 to MSRC001_103D), and for each what must hold so that it is vouched for. */
#ifndef GUS_TESTS_WORDS_IBS_WORDS_H
#define GUS_TESTS_WORDS_IBS_WORDS_H

#include "tests/words/words.h"

enum { WORDS_IBS_REGISTERS = 9 };

/* needs: conditions that all hold, with commas between them; each is some alternatives with | between them; each is a
 * field that is not 0, capN (bit N of the capability word), or a condition of ibs_words.c; ! is "not". */
struct words_ibs_field { const char *reg, *name, *bits, *needs; };

/* Ends with a name that is NULL. */
extern const struct words_ibs_field words_ibs_op[], words_ibs_fetch[];

struct words_ibs {
	const struct words_ibs_field *fields;
	uint32_t caps, family, model;
	uint64_t regs[WORDS_IBS_REGISTERS];
};

uint64_t words_ibs_get(const struct words_ibs *w, const char *name);
void words_ibs_set(struct words_ibs *w, const char *name, uint64_t value);
bool words_ibs_holds(const struct words_ibs *w, const char *needs);
/* All registers that this hardware has, behind the capability word. */
void words_ibs_bytes(const struct words_ibs *w, struct words_bytes *b);

#endif
