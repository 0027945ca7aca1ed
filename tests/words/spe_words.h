/* SPDX-License-Identifier: MIT */
/* Packets of Arm's SPE from the diagrams of the architecture's manual (DDI 0487, chapter D17): headers as they are
 * drawn there, bit by bit, and what payloads mean by their bits' names. */
#ifndef GUS_TESTS_WORDS_SPE_WORDS_H
#define GUS_TESTS_WORDS_SPE_WORDS_H

#include "tests/words/words.h"

/* A packet: its name, its number if it has one, 2^size bytes of payload; a number above 7 takes two bytes' header. */
void words_spe_put(struct words_bytes *b, const char *packet, unsigned number, unsigned size, uint64_t payload);
/* Fills up to a multiple of 2^log2 bytes (1 to 4) of the buffer. */
void words_spe_align(struct words_bytes *b, unsigned log2);

/* What a payload of an operation's packet is: its diagram, in which small letters are what they say of the operation
 * and capital ones a number, and a name. NULL: reserved. */
struct words_spe_operation { unsigned class; const char *diagram, *name; };
const struct words_spe_operation *words_spe_operation(unsigned class, uint8_t payload);
/* The bits that the letter stands for, as a number; 0 if there are none. */
unsigned words_spe_letter(const struct words_spe_operation *o, uint8_t payload, char letter);

/* A record's fields, in the order of the packets that bring them: which packet, which number, which bits of it. */
struct words_spe_field { const char *name, *packet; unsigned number; const char *bits; };
extern const struct words_spe_field words_spe_fields[]; /* ends with a name that is NULL */

/* A record with some packets, as they were drawn. */
enum { WORDS_SPE_PACKETS = 13 };
struct words_spe_record {
	bool has[WORDS_SPE_PACKETS];
	unsigned size[WORDS_SPE_PACKETS];
	uint64_t payload[WORDS_SPE_PACKETS];
	unsigned class;                 /* of its operation */
	unsigned level;                 /* of its context: 1 or 2 */
	bool ends_with_time;
	size_t begins, ends;            /* in the bytes */
};

/* Draws one and puts it, its packets in any order with padding and alignment among them. */
struct words_spe_record words_spe_random(struct words_random *r, struct words_bytes *b);
/* One packet alone, by its place in words_spe_packets(), and an end. */
struct words_spe_record words_spe_alone(struct words_random *r, struct words_bytes *b, unsigned packet);
/* Which packet brings the field; whether the record has it; and its value. */
bool words_spe_has(const struct words_spe_record *w, const struct words_spe_field *f);
uint64_t words_spe_value(const struct words_spe_record *w, const struct words_spe_field *f);

#endif
