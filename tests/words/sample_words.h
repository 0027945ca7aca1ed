/* SPDX-License-Identifier: MIT */
/* Samples as perf_event_open(2) lays them out under PERF_RECORD_SAMPLE, of any event and in either byte order, and what
 * they are to mean. */
#ifndef GUS_TESTS_WORDS_SAMPLE_WORDS_H
#define GUS_TESTS_WORDS_SAMPLE_WORDS_H

#include "tests/words/words.h"

/* How an event's samples look: fields by their names in the manual page, without PERF_SAMPLE_. */
struct words_layout {
	uint64_t sample_type, read_format, user_registers, interrupt_registers;
	bool hardware_index, branch_counters;
};

/* The bit of a field; 0 if there is none of that name. */
uint64_t words_sample_bit(const char *field);
/* The i-th field in the order of the manual page; NULL behind the last one. */
const char *words_sample_field(unsigned i);

enum { WORDS_MANY = 40 };
struct words_list { uint64_t v[WORDS_MANY]; unsigned n; };
/* The bits of an entry's third word, as the header declares them. */
struct words_branch { uint64_t from, to, mispredicted, predicted, in_tx, abort, cycles, type, spec, new_type, priv; };

/* What a sample says, each where its layout has it. */
struct words_sample {
	uint64_t identifier, ip, time, addr, id, stream, period, transaction, physical, cgroup, data_page, code_page;
	uint64_t weight, weight1, weight2, weight3, data_source, hardware_index;
	uint32_t pid, tid, cpu;
	bool exact, user;                    /* misc */
	struct words_list read;              /* in the order of the bytes, without how many they are */
	struct words_list chain;             /* without the address itself, which comes first */
	struct words_list raw;               /* bytes */
	struct words_list counters;          /* of branches */
	struct words_branch branches[WORDS_MANY];
	unsigned branches_n;
	uint64_t user_abi, interrupt_abi;    /* 0: none, 1: 32 bits, 2: 64 */
	struct words_list registers, interrupted;
	struct words_list stack;             /* words that the kernel could copy */
	unsigned stack_asked;                /* and how many were asked for */
};

/* Draws one of that layout, of the event with the id, and puts its record. */
struct words_sample words_sample_random(struct words_random *r, const struct words_layout *layout, uint64_t id,
					struct words_bytes *b);
/* A layout of these fields, with details at random. */
struct words_layout words_layout_random(struct words_random *r, uint64_t sample_type);

#endif
