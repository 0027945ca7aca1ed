/* SPDX-License-Identifier: MIT */
/* collector/host/peek: a look into the memory of a child that stands still, of which the test knows every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/host/peek.h"

/* Mapped in both, at the same place: two pages and a hole behind them, then a page again. Each word is its own number,
 * but in the child, which has one more in each. */
enum { PAGE = 4096, WORDS = PAGE / 8 };
struct twins { uint64_t *at; pid_t child; };

static int setup(void **state)
{
	static struct twins t;
	int ready[2];
	char byte = 1;

	t.at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t.at == MAP_FAILED || pipe(ready) != 0)
		return -1;
	munmap(t.at + 2 * WORDS, PAGE);
	for (uint64_t i = 0; i < 4 * WORDS; i++)
		if (i / WORDS != 2)
			t.at[i] = i;
	t.child = fork();
	if (t.child == 0) {
		for (uint64_t i = 0; i < 4 * WORDS; i++)
			if (i / WORDS != 2)
				t.at[i] = i + 1;
		write(ready[1], &byte, 1);
		for (;;)
			pause();
	}
	*state = &t;
	return read(ready[0], &byte, 1) == 1 && close(ready[0]) == 0 && close(ready[1]) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	struct twins *t = *state;

	kill(t->child, SIGKILL);
	waitpid(t->child, NULL, 0);
	munmap(t->at, 2 * PAGE);
	munmap(t->at + 3 * WORDS, PAGE);
	return 0;
}

/* peeks(T, WORD, SIZE, GOT): from that word on. */
static void peeks(const struct twins *t, size_t word, size_t size, size_t got)
{
	uint64_t out[4 * WORDS] = { 0 };

	assert_int_equal(gus_peek(t->child, (uint64_t)(uintptr_t)(t->at + word), out, size), got);
	assert_true(got != 1 || *(uint8_t *)out == (uint8_t)(word + 1));
	for (size_t i = 0; i < got / 8; i++)
		assert_int_equal(out[i], word + i + 1);
	assert_int_equal(out[(got + 7) / 8], 0); /* nothing behind it */
}

static void what_is_there_is_copied(void **state)
{
	peeks(*state, 0, 8, 8);
	peeks(*state, 5, 80, 80);
	peeks(*state, 0, PAGE, PAGE);
	peeks(*state, WORDS - 1, 16, 16);        /* over the end of a page */
	peeks(*state, 1, 2 * PAGE - 8, 2 * PAGE - 8);
	peeks(*state, 3, 0, 0);
	peeks(*state, 0, 1, 1);
}

/* And not what lies beyond. */
static void a_copy_ends_where_nothing_is_mapped(void **state)
{
	peeks(*state, 0, 3 * PAGE, 2 * PAGE);
	peeks(*state, 2 * WORDS - 1, 16, 8);
	peeks(*state, 2 * WORDS - 1, 2 * PAGE, 8);
	peeks(*state, 2 * WORDS, 8, 0);
	peeks(*state, 3 * WORDS - 1, 16, 0);     /* though its second half is there */
}

static void no_more_than_so_much_at_a_time(void **state)
{
	const struct twins *t = *state;
	size_t size = GUS_PEEK_MOST + 2 * PAGE;
	uint8_t *there = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *out = malloc(size);

	(void)t;
	assert_true(there != MAP_FAILED && out);
	memset(out, 1, size);
	/* At an odd place it takes one piece more. */
	for (size_t at = 0; at < PAGE; at += PAGE - 1) {
		assert_int_equal(gus_peek(getpid(), (uint64_t)(uintptr_t)there + at, out, size), GUS_PEEK_MOST);
		assert_int_equal(out[GUS_PEEK_MOST - 1], 0);
		assert_int_equal(out[GUS_PEEK_MOST], 1);
		assert_int_equal(gus_peek(getpid(), (uint64_t)(uintptr_t)there + at, out, GUS_PEEK_MOST - 1),
				 GUS_PEEK_MOST - 1);
	}
	free(out);
	munmap(there, size);
}

static void words_come_one_by_one(void **state)
{
	const struct twins *t = *state;
	uint64_t at[GUS_PEEK_WORDS + 1], out[GUS_PEEK_WORDS + 1] = { 0 };

	for (size_t i = 0; i <= GUS_PEEK_WORDS; i++)
		at[i] = (uint64_t)(uintptr_t)(t->at + (i * 37) % (2 * WORDS));
	assert_int_equal(gus_peek_words(t->child, at, out, GUS_PEEK_WORDS), GUS_PEEK_WORDS);
	for (size_t i = 0; i < GUS_PEEK_WORDS; i++)
		assert_int_equal(out[i], (i * 37) % (2 * WORDS) + 1);
	assert_int_equal(out[GUS_PEEK_WORDS], 0);
	assert_int_equal(gus_peek_words(t->child, at, out, GUS_PEEK_WORDS + 1), 0);
	assert_int_equal(gus_peek_words(t->child, at, out, 0), 0);
	assert_int_equal(gus_peek_words(t->child, at + 1, out, 1), 1);
	assert_int_equal(out[0], 38);
	at[3] = (uint64_t)(uintptr_t)(t->at + 2 * WORDS); /* where nothing is */
	assert_int_equal(gus_peek_words(t->child, at, out, 8), 3);
	at[0] = at[3];
	assert_int_equal(gus_peek_words(t->child, at, out, 8), 0);
	at[0] = (uint64_t)(uintptr_t)(t->at + 2 * WORDS) - 4; /* half a word is none */
	assert_int_equal(gus_peek_words(t->child, at, out, 1), 0);
}

static void who_has_gone_has_nothing(void **state)
{
	const struct twins *t = *state;
	uint64_t word = 0, at = (uint64_t)(uintptr_t)t->at;
	pid_t gone = fork();

	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_int_equal(gus_peek(gone, at, &word, 8), 0);
	assert_int_equal(gus_peek_words(gone, &at, &word, 1), 0);
	assert_int_equal(word, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_there_is_copied),
		TEST(a_copy_ends_where_nothing_is_mapped),
		TEST(no_more_than_so_much_at_a_time),
		TEST(words_come_one_by_one),
		TEST(who_has_gone_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
