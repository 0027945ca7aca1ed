/* SPDX-License-Identifier: MIT */
/* What has a form of its own in the rooms of some kernels: factors of matrices that are known beforehand, texts with a
 * grammar, tables and trees. All is made from the seed alone. */
#ifndef GUS_TESTS_SUITE_PREPARE_H
#define GUS_TESTS_SUITE_PREPARE_H

#include "suite.h"

/* The next number by chance, 64 bits of it. */
static inline uint64_t suite_chance(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1d;
}

/* Matrices and vectors (factors.c). */
void suite_prepare_cholesky(struct suite_room *room, uint64_t *chance);
void suite_prepare_durbin(struct suite_room *room, uint64_t *chance);
void suite_prepare_gramschmidt(struct suite_room *room, uint64_t *chance);
void suite_prepare_lu(struct suite_room *room, uint64_t *chance);
void suite_prepare_ludcmp(struct suite_room *room, uint64_t *chance);
void suite_prepare_nussinov(struct suite_room *room, uint64_t *chance);

/* Texts, tables, trees (inputs.c). */
void suite_prepare_search(struct suite_room *room, uint64_t *chance);
void suite_prepare_crc(struct suite_room *room, uint64_t *chance);
void suite_prepare_utf8(struct suite_room *room, uint64_t *chance);
void suite_prepare_json(struct suite_room *room, uint64_t *chance);
void suite_prepare_hash(struct suite_room *room, uint64_t *chance);
void suite_prepare_btree(struct suite_room *room, uint64_t *chance);

#endif
