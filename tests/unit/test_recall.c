/* SPDX-License-Identifier: MIT */
/* symbolizer/symbols/recall: what many threads are told is what one is told, and it is remembered of those very files
 * and of no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/store.h"
#include "symbolizer/elf/dwarf.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/symbols/recall.h"

enum { FUNCTIONS = 300, PLACES = 4096 };

static char folder[] = "/tmp/gusprof-recall-XXXXXX";

/* Each function has lines of its own and two inlined calls. */
static bool write_source(void)
{
	FILE *file = fopen("p.c", "w");
	bool good = file && fputs("static inline __attribute__((always_inline)) int twice(int v)\n"
				  "{\n\treturn 2 * v;\n}\n", file) >= 0;

	for (int i = 0; good && i < FUNCTIONS; i++)
		good = fprintf(file, "__attribute__((noinline)) int f%d(volatile int *p)\n{\n\t*p = twice(*p);\n"
			       "\t*p += %d;\n\treturn twice(*p);\n}\n", i, i) > 0;
	good = good && fputs("int main(int c, char **v)\n{\n\tvolatile int n = c;\n\n\treturn f0(&n) + !v;\n}\n",
			     file) >= 0;
	return file && fclose(file) == 0 && good;
}

static int enter(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 && write_source() ? 0 : -1;
}

static int leave(void **state)
{
	char *command = gus_format("rm -rf '%s'", folder);
	int status = chdir("/") == 0 ? system(command) : -1;

	(void)state;
	free(command);
	return status;
}

static void build(void)
{
	if (system("cc -O1 -g -Wl,--build-id=sha1 p.c -o p 2>/dev/null") == 0)
		return;
	print_message("skipped: it needs a C compiler (cc)\n");
	skip();
}

struct asked {
	struct gus_elf *elf;
	struct gus_dwarf *dwarf;
	uint64_t places[PLACES];
	size_t n;
};

/* Addresses of which something is known, every second byte, sorted. */
static void begin(struct asked *a)
{
	const char *file;
	uint32_t line;

	a->elf = gus_elf_open("p", NULL);
	assert_non_null(a->elf);
	a->dwarf = gus_dwarf_open(a->elf, a->elf, NULL);
	assert_non_null(a->dwarf);
	a->n = 0;
	for (uint64_t at = 0; at < 1 << 20 && a->n < PLACES; at += 2)
		for (uint64_t base = 0; base <= 0x400000; base += 0x400000)
			if (gus_dwarf_line(a->dwarf, base + at, &file, &line) && a->n < PLACES)
				a->places[a->n++] = base + at;
	assert_in_range(a->n, 2000, PLACES);
}

static void end(struct asked *a)
{
	gus_dwarf_close(a->dwarf);
	gus_elf_close(a->elf);
}

static void same_text(const char *one, const char *two)
{
	assert_int_equal(one == NULL, two == NULL);
	if (one)
		assert_string_equal(one, two);
}

static void same_answer(const struct gus_answers *a, const struct gus_answer *one, const struct gus_answers *b,
			const struct gus_answer *two)
{
	uint32_t x = one->call, y = two->call;

	assert_true(one->low == two->low && one->high == two->high && one->line == two->line);
	same_text(gus_answers_string(a, one->file), gus_answers_string(b, two->file));
	same_text(gus_answers_string(a, one->outer), gus_answers_string(b, two->outer));
	for (; x && y; x = a->calls.v[x].around, y = b->calls.v[y].around) {
		assert_int_equal(a->calls.v[x].line, b->calls.v[y].line);
		same_text(gus_answers_string(a, a->calls.v[x].name), gus_answers_string(b, b->calls.v[y].name));
		same_text(gus_answers_string(a, a->calls.v[x].file), gus_answers_string(b, b->calls.v[y].file));
	}
	assert_true(!x && !y);
}

/* All that r finds is what the DWARF says. */
static void finds_all(const struct gus_recall *r, struct asked *a)
{
	struct gus_store *store = gus_store_open("other", ".kept", 1u << 20, NULL);
	struct gus_recall one;
	size_t inlined = 0;

	gus_recall_open(&one, store, a->elf, a->elf, NULL);
	for (size_t i = 0; i < a->n; i++) {
		const struct gus_answer *found = gus_recall_find(r, a->places[i]);
		struct gus_answer answer = gus_recall_ask(&one, a->dwarf, a->places[i], true);

		assert_non_null(found);
		assert_true(found->low <= a->places[i] && a->places[i] < found->high);
		same_answer(&one.answers, &answer, &r->answers, found);
		inlined += answer.call != 0;
	}
	assert_in_range(inlined, FUNCTIONS, a->n - 1);
	gus_recall_close(&one);
	gus_store_close(store);
}

static void many_are_told_what_one_is(void **state)
{
	struct gus_recall r;
	struct asked a;

	(void)state;
	build();
	begin(&a);
	gus_recall_open(&r, NULL, a.elf, a.elf, NULL);
	gus_recall_ask_all(&r, a.dwarf, a.elf, a.elf, NULL, a.places, 511); /* not worth two threads */
	assert_int_equal(r.answers.known.n, 0);
	assert_false(r.changed);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		print_message("skipped: there is one CPU\n");
	} else {
		gus_recall_ask_all(&r, a.dwarf, a.elf, a.elf, NULL, a.places, a.n);
		assert_true(r.changed);
		finds_all(&r, &a);
	}
	gus_recall_close(&r);
	end(&a);
}

static size_t files_in(const char *path)
{
	char *command = gus_format("ls %s | wc -l", path);
	FILE *p = popen(command, "r");
	unsigned n = 0;

	assert_true(p && fscanf(p, "%u", &n) == 1);
	pclose(p);
	free(command);
	return n;
}

/* Whether the place is remembered. */
static bool is_remembered(struct gus_store *store, uint64_t place)
{
	struct gus_elf *elf = gus_elf_open("p", NULL);
	struct gus_recall r;
	bool found;

	assert_non_null(elf);
	gus_recall_open(&r, store, elf, elf, NULL);
	found = gus_recall_find(&r, place) != NULL;
	gus_recall_close(&r);
	gus_elf_close(elf);
	return found;
}

static void it_is_remembered_of_that_very_file(void **state)
{
	struct gus_store *store = gus_store_open("kept", ".kept", 1u << 20, NULL);
	char id[48] = "", *path;
	struct gus_recall r;
	struct asked a;

	(void)state;
	assert_non_null(store);
	build();
	begin(&a);
	gus_recall_open(&r, store, a.elf, a.elf, NULL);
	assert_int_equal(gus_recall_save(&r, NULL), 0);
	assert_int_equal(files_in("kept"), 0); /* nothing was asked */
	gus_recall_ask(&r, a.dwarf, a.places[0], false);
	assert_int_equal(gus_recall_save(&r, NULL), 0);
	assert_int_equal(files_in("kept"), 0); /* what is not complete is not remembered */
	for (size_t i = 0; i < a.n; i++)
		gus_recall_ask(&r, a.dwarf, a.places[i], true);
	assert_int_equal(gus_recall_save(&r, NULL), 0);
	gus_recall_close(&r);
	assert_int_equal(files_in("kept"), 1);
	for (size_t i = 0; i < a.elf->build_id_size; i++)
		snprintf(id + 2 * i, 3, "%02x", a.elf->build_id[i]);
	path = gus_format("kept/%s-*", id); /* which people can look for */
	assert_int_equal(files_in(path), 1);
	free(path);
	gus_recall_open(&r, store, a.elf, a.elf, NULL);
	finds_all(&r, &a);
	gus_recall_close(&r);
	assert_true(is_remembered(store, a.places[a.n / 2]));
	assert_int_equal(system("cp -p p q && mv q p"), 0); /* the same but for its inode */
	assert_false(is_remembered(store, a.places[a.n / 2]));
	gus_store_close(store);
	end(&a);
}

/* How many files there are by that pattern when a program with such a build id has been asked about. */
static size_t remembered_of(const char *build_id, const char *files)
{
	struct gus_store *store = gus_store_open("kept", ".kept", 1u << 20, NULL);
	char command[128];
	struct gus_recall r;
	struct asked a;
	size_t n;

	assert_non_null(store);
	build();
	snprintf(command, sizeof(command), "cc -O1 -g -Wl,--build-id=%s p.c -o p", build_id);
	assert_int_equal(system(command), 0);
	begin(&a);
	gus_recall_open(&r, store, a.elf, a.elf, NULL);
	gus_recall_ask(&r, a.dwarf, a.places[0], true);
	assert_int_equal(gus_recall_save(&r, NULL), 0);
	n = files_in(files);
	gus_recall_close(&r);
	gus_store_close(store);
	end(&a);
	return n;
}

static void a_short_build_id_is_a_short_name(void **state)
{
	(void)state;
	assert_int_equal(remembered_of("0x0102030405060708", "kept/0102030405060708-*"), 1);
}

/* Which cannot be told from others. */
static void without_a_build_id_nothing_is_remembered(void **state)
{
	(void)state;
	assert_int_equal(remembered_of("none", "kept"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(many_are_told_what_one_is, enter, leave),
		cmocka_unit_test_setup_teardown(it_is_remembered_of_that_very_file, enter, leave),
		cmocka_unit_test_setup_teardown(a_short_build_id_is_a_short_name, enter, leave),
		cmocka_unit_test_setup_teardown(without_a_build_id_nothing_is_remembered, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
