/* SPDX-License-Identifier: MIT */
/* Remembered answers: what comes back, what does not, and where ranges end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "base/limits.h"
#include "symbolizer/names/answers.h"
#include "symbolizer/names/ranges.h"

static const char key[] = "these files";

static struct gus_answers empty(void)
{
	struct gus_answers a;

	gus_answers_init(&a);
	return a;
}

static void add(struct gus_answers *a, uint64_t low, uint64_t high, uint32_t line, uint32_t call)
{
	gus_answers_add(a, &(struct gus_answer){ .low = low, .high = high, .line = line, .call = call,
		.file = gus_answers_text(a, "file.c"), .outer = gus_answers_text(a, "outer") });
}

static uint32_t add_call(struct gus_answers *a, const char *name, uint32_t line, uint32_t around)
{
	return gus_answers_call(a, &(struct gus_answer_call){ .name = gus_answers_text(a, name),
		.file = gus_answers_text(a, "call.c"), .line = line, .around = around });
}

static uint8_t *written(struct gus_answers *a, size_t *size)
{
	uint8_t *bytes = gus_answers_write(a, key, sizeof(key), size);

	gus_answers_free(a);
	return bytes;
}

static bool reads(struct gus_answers *a, const uint8_t *bytes, size_t size)
{
	*a = empty();
	return gus_answers_read(a, key, sizeof(key), bytes, size);
}

/* Behind a change, so that it is looked at rather than thrown away. */
static void seal(uint8_t *bytes, size_t size)
{
	uint64_t sum = XXH3_64bits(bytes, size - sizeof(sum));

	memcpy(bytes + size - sizeof(sum), &sum, sizeof(sum));
}

static void expect_line(const struct gus_answers *a, uint64_t address, uint32_t line)
{
	const struct gus_answer *found = gus_answers_find(a, address);

	assert_int_equal(found ? found->line : 0, line);
}

static void answers_come_back(void **state)
{
	struct gus_answers a = empty(), b;
	const struct gus_answer *found;
	const struct gus_answer_call *call;
	uint8_t *bytes, *again;
	uint32_t around = add_call(&a, "around", 7, 0), within = add_call(&a, NULL, UINT32_MAX, around);
	size_t size, second;

	(void)state;
	add(&a, 300, 301, 3, 0);
	add(&a, 100, 200, 1, within);
	add(&a, 200, 300, UINT32_MAX, around);
	add(&a, 100, 200, 9, 0);            /* the same range: known already */
	add(&a, 50, 50, 9, 0);              /* nothing */
	add(&a, UINT64_MAX - 1, UINT64_MAX, 4, 0);
	assert_null(gus_answers_find(&a, 100)); /* only those that were read are looked through */
	bytes = written(&a, &size);
	assert_true(reads(&b, bytes, size));
	assert_int_equal(b.known.n, 4);
	expect_line(&b, 99, 0);
	expect_line(&b, 100, 1);
	expect_line(&b, 199, 1);
	expect_line(&b, 200, UINT32_MAX);
	expect_line(&b, 300, 3);
	expect_line(&b, 301, 0);
	expect_line(&b, UINT64_MAX - 1, 4);
	expect_line(&b, UINT64_MAX, 0);
	found = gus_answers_find(&b, 150);
	assert_string_equal(gus_answers_string(&b, found->file), "file.c");
	assert_string_equal(gus_answers_string(&b, found->outer), "outer");
	call = &b.calls.v[found->call];
	assert_null(gus_answers_string(&b, call->name));
	assert_int_equal(call->line, UINT32_MAX);
	call = &b.calls.v[call->around];
	assert_string_equal(gus_answers_string(&b, call->name), "around");
	assert_string_equal(gus_answers_string(&b, call->file), "call.c");
	assert_int_equal(call->around, 0);
	again = gus_answers_write(&b, key, sizeof(key), &second);
	assert_int_equal(second, size);
	assert_memory_equal(again, bytes, size);
	/* What is added later stands beside it, in its order; what overlaps does not. */
	add(&b, 250, 400, 5, 0);
	add(&b, 10, 20, 6, 0);
	add(&b, 350, 360, 7, 0);
	free(bytes);
	bytes = written(&b, &size);
	assert_true(reads(&a, bytes, size));
	assert_int_equal(a.known.n, 6);
	expect_line(&a, 10, 6);
	expect_line(&a, 250, UINT32_MAX);
	expect_line(&a, 355, 7);
	expect_line(&a, 310, 0);
	gus_answers_free(&a);
	free(bytes);
	free(again);
}

static void texts_that_are_none(void **state)
{
	char *longest = malloc(GUS_LIMIT_NAME + 1);
	struct gus_answers a = empty();

	(void)state;
	memset(longest, 'x', GUS_LIMIT_NAME);
	longest[GUS_LIMIT_NAME] = '\0';
	assert_int_equal(gus_answers_text(&a, NULL), 0);
	assert_int_equal(gus_answers_text(&a, ""), 0);
	assert_int_equal(gus_answers_text(&a, longest), 0);
	assert_int_not_equal(gus_answers_text(&a, longest + 1), 0);
	assert_null(gus_answers_string(&a, 0));
	gus_answers_free(&a);
	free(longest);
}

/* What two threads have found out, and what was known before, as one. */
static void answers_are_joined(void **state)
{
	struct gus_answers a = empty(), one = empty(), two = empty();
	const struct gus_answer *found;
	uint8_t *bytes, *again;
	size_t size, second;

	(void)state;
	add(&one, 100, 200, 1, add_call(&one, "within", 5, add_call(&one, "around", 4, 0)));
	add(&one, 300, 400, 2, 0);
	add_call(&two, "so that numbers differ", 1, 0);
	add(&two, 200, 300, 3, add_call(&two, "another", 6, add_call(&two, "around", 4, 0)));
	add(&two, 300, 400, 2, 0);              /* both have met this one */
	gus_answers_join(&a, &one);
	expect_line(&a, 150, 1);
	gus_answers_join(&a, &two);
	assert_int_equal(a.known.n, 3);
	expect_line(&a, 150, 1);
	expect_line(&a, 250, 3);
	expect_line(&a, 350, 2);
	found = gus_answers_find(&a, 250);
	assert_string_equal(gus_answers_string(&a, found->file), "file.c");
	assert_string_equal(gus_answers_string(&a, found->outer), "outer");
	assert_string_equal(gus_answers_string(&a, a.calls.v[found->call].name), "another");
	assert_int_equal(a.calls.v[a.calls.v[found->call].around].line, 4);
	assert_int_equal(a.calls.n, 5);         /* the call around both is one */
	bytes = gus_answers_write(&a, key, sizeof(key), &size);
	gus_answers_free(&one);
	assert_true(reads(&one, bytes, size));
	again = written(&one, &second);
	assert_int_equal(size, second);
	assert_memory_equal(bytes, again, size);
	gus_answers_free(&two);
	gus_answers_free(&a);
	free(bytes);
	free(again);
}

static uint8_t *some(size_t *size)
{
	struct gus_answers a = empty();
	uint32_t around = add_call(&a, "around", 7, 0);

	add(&a, 100, 200, 1, add_call(&a, "within", 300, around));
	add(&a, 300, 400, 2, 0);
	return written(&a, size);
}

static void other_files_other_bytes_and_other_versions_are_nothing(void **state)
{
	struct gus_answers a = empty();
	size_t size;
	uint8_t *bytes = some(&size);

	(void)state;
	assert_false(gus_answers_read(&a, "these filed", sizeof(key), bytes, size));
	assert_false(gus_answers_read(&a, key, sizeof(key) - 1, bytes, size));
	assert_int_equal(a.known.n, 0);
	gus_answers_free(&a);
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 0x10;
		assert_false(reads(&a, bytes, size));
		gus_answers_free(&a);
		bytes[i] ^= 0x10;
		assert_false(reads(&a, bytes, i));
		gus_answers_free(&a);
	}
	bytes[8]++; /* the version */
	seal(bytes, size);
	assert_false(reads(&a, bytes, size));
	gus_answers_free(&a);
	free(bytes);
}

static void check(const struct gus_answers *a)
{
	for (size_t i = 0; i < a->known.n; i++) {
		const struct gus_answer *answer = &a->known.v[i];

		assert_true(answer->file < a->strings.n && answer->outer < a->strings.n && answer->call < a->calls.n);
		assert_true(answer->low < answer->high);
	}
	for (uint32_t i = 1; i < a->calls.n; i++) {
		const struct gus_answer_call *call = &a->calls.v[i];

		assert_true(call->around < i && call->name < a->strings.n && call->file < a->strings.n);
	}
}

/* With a right checksum it is whatever it says, but never what it could not mean. */
static void damage_under_a_right_checksum_is_survived(void **state)
{
	size_t size, whole = 0;
	uint8_t *bytes = some(&size);

	(void)state;
	for (size_t i = 12; i < size - 8; i++)
		for (unsigned value = 0; value < 256; value++) {
			uint8_t before = bytes[i];
			struct gus_answers a;

			bytes[i] = (uint8_t)value;
			seal(bytes, size);
			if (reads(&a, bytes, size)) {
				whole++;
				check(&a);
			} else {
				assert_int_equal(a.known.n, 0);
				assert_int_equal(a.strings.n, 1);
			}
			gus_answers_free(&a);
			bytes[i] = before;
		}
	assert_in_range(whole, 1000, 256 * size);
	free(bytes);
}

/* By looking at each address: the extent is all that has the same range around it, up to the first edge of any range,
 * and no less than that. */
static void extents_are_those_of_the_answer(void **state)
{
	enum { SPACE = 64, RANGES = 7, ROUNDS = 300 };
	uint64_t seed = 99;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct gus_ranges r = { 0 };
		bool edge[SPACE + 1] = { 0 };

		for (int i = 0; i < RANGES; i++) {
			uint64_t low, high;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			low = (seed >> 33) % SPACE;
			high = low + (seed >> 50) % (SPACE - low + 1);
			gus_ranges_add(&r, low, high, (uint32_t)i, 0);
			edge[low] |= low < high;
			edge[high] |= low < high;
		}
		gus_ranges_ready(&r);
		for (uint64_t at = 0; at < SPACE; at++) {
			const struct gus_range *found = gus_ranges_find(&r, at);
			uint64_t low = 0, high = SPACE;

			gus_ranges_extent(&r, at, &low, &high);
			assert_true(low <= at && at < high);
			for (uint64_t k = low; k < high; k++)
				assert_ptr_equal(gus_ranges_find(&r, k), found);
			assert_true(low == 0 || edge[low]);
			assert_true(high == SPACE || edge[high]);
		}
		gus_ranges_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_come_back),
		cmocka_unit_test(answers_are_joined),
		cmocka_unit_test(texts_that_are_none),
		cmocka_unit_test(other_files_other_bytes_and_other_versions_are_nothing),
		cmocka_unit_test(damage_under_a_right_checksum_is_survived),
		cmocka_unit_test(extents_are_those_of_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
