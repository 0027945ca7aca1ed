/* SPDX-License-Identifier: MIT */
/* Fake words of hardware and of the kernel, for tests: made from what the manuals say of them, by field names and bits
 * as these print them ("31:16"), and with nothing of the decoders that they are to test. */
#ifndef GUS_TESTS_WORDS_WORDS_H
#define GUS_TESTS_WORDS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow, up to a size that no test reaches. */
struct words_bytes { uint8_t v[8192]; size_t n; bool big_endian; };

void words_put(struct words_bytes *b, uint64_t value, unsigned size);

/* The same numbers in each run. */
struct words_random { uint64_t state; };
uint64_t words_random(struct words_random *r);
/* One of n. */
unsigned words_one_of(struct words_random *r, unsigned n);

/* The bits "high:low", or "bit", of a word. */
unsigned words_width(const char *bits);
uint64_t words_get(uint64_t word, const char *bits);
uint64_t words_set(uint64_t word, const char *bits, uint64_t value);

#endif
