/* SPDX-License-Identifier: MIT */
/* Fuzz target of remembered answers: bytes as they may lie in the cache, which any program of the user's may change.
 * With an even first byte the head and the checksum are made right, as they would stop a fuzzer at the door. What is
 * read is written as the same bytes again, or as fewer that mean the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "symbolizer/names/answers.h"
#include "tests/fuzz/limit.h"

enum { MS = 20, NS_A_BYTE = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char key[] = "key";

static void demand(int truth)
{
	if (!truth)
		abort();
}

static uint8_t *sealed(const uint8_t *data, size_t size, size_t *made)
{
	static const uint8_t head[] = { 'g', 'u', 's', 'n', 'a', 'm', 'e', 's', 1, 0, 0, 0, 3, 'k', 'e', 'y' };
	bool raw = size && data[0] & 1;
	size_t at = raw ? 0 : sizeof(head), body = size ? size - 1 : 0;
	uint8_t *bytes = gus_alloc(at + body + sizeof(uint64_t));
	uint64_t sum;

	memcpy(bytes, head, at);
	if (body)
		memcpy(bytes + at, data + 1, body);
	*made = at + body;
	if (raw)
		return bytes;
	sum = XXH3_64bits(bytes, *made);
	memcpy(bytes + *made, &sum, sizeof(sum));
	*made += sizeof(sum);
	return bytes;
}

static void check(const struct gus_answers *a)
{
	uint64_t end = 0;

	for (size_t i = 0; i < a->known.n; i++) {
		const struct gus_answer *answer = &a->known.v[i];
		unsigned steps = 0;

		demand(answer->low >= end && answer->low < answer->high);
		end = answer->high;
		demand(gus_answers_find(a, answer->low) == answer && gus_answers_find(a, end - 1) == answer);
		demand(!answer->file || strlen(gus_answers_string(a, answer->file)));
		demand(!answer->outer || strlen(gus_answers_string(a, answer->outer)));
		for (uint32_t call = answer->call; call; call = a->calls.v[call].around)
			demand(call < a->calls.n && a->calls.v[call].around < call && ++steps < a->calls.n &&
			       a->calls.v[call].name < a->strings.n && a->calls.v[call].file < a->strings.n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct limit begun = limit_begin();
	struct gus_answers a, again;
	size_t made, written, rewritten;
	uint8_t *bytes = sealed(data, size, &made), *copy, *second;

	gus_answers_init(&a);
	if (gus_answers_read(&a, key, strlen(key), bytes, made)) {
		check(&a);
		copy = gus_answers_write(&a, key, strlen(key), &written);
		demand(written <= made);
		gus_answers_init(&again);
		demand(gus_answers_read(&again, key, strlen(key), copy, written) && again.known.n == a.known.n);
		second = gus_answers_write(&again, key, strlen(key), &rewritten);
		demand(written == rewritten && memcmp(copy, second, written) == 0);
		gus_answers_free(&again);
		free(copy);
		free(second);
	} else {
		demand(!a.known.n && !gus_answers_find(&a, 0));
	}
	gus_answers_free(&a);
	free(bytes);
	limit_end(begun, size, MS, NS_A_BYTE);
	return 0;
}
