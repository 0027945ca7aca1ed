/* SPDX-License-Identifier: MIT */
/* symbolizer/symbols/recall: what many threads are told is what one is told, and it is remembered of those very files
 * and of no others. */
#include <errno.h>
#include <pthread.h>
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
#include "base/limits.h"
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
	assert_in_range(a->n, 2048, PLACES);
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
	assert_in_range(inlined, a->n < 2048 ? 1 : FUNCTIONS, a->n - 1);
	gus_recall_close(&one);
	gus_store_close(store);
}

/* How many CPUs there are, and how many threads may still be had, is what a test says: 0 CPUs are what there is. */
static long cpus;
static unsigned threads_asked, threads_left = 1000;

long __real_sysconf(int name);
long __wrap_sysconf(int name);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *a, void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *a, void *(*run)(void *), void *context);

long __wrap_sysconf(int name)
{
	return name == _SC_NPROCESSORS_ONLN && cpus ? cpus : __real_sysconf(name);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *a, void *(*run)(void *), void *context)
{
	threads_asked++;
	if (!threads_left)
		return EAGAIN;
	threads_left--;
	return __real_pthread_create(thread, a, run, context);
}

/* The last part is this thread's own. */
static void many_are_told_what_one_is(void **state)
{
	static const struct { long cpus; size_t places; unsigned had, asked; } of[] = {
		{ 2, 511, 9, 0 }, { 2, 512, 9, 1 }, { 1, PLACES, 9, 0 }, { 2, PLACES, 9, 1 }, { 3, 767, 9, 1 },
		{ 3, 768, 9, 2 }, { 64, PLACES, 9, 7 }, { 64, PLACES, 3, 7 }, { 64, PLACES, 0, 7 },
		{ -1, 1024, 9, 3 } };

	(void)state;
	build();
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct gus_recall r;
		struct asked a;

		begin(&a);
		gus_recall_open(&r, NULL, a.elf, a.elf, NULL);
		cpus = of[i].cpus;
		threads_asked = 0;
		threads_left = of[i].had;
		a.n = of[i].places < a.n ? of[i].places : a.n;
		gus_recall_ask_all(&r, a.dwarf, a.elf, a.elf, NULL, a.places, a.n);
		assert_int_equal(threads_asked, of[i].asked);
		assert_int_equal(r.changed, of[i].asked > 0);
		if (r.changed)
			finds_all(&r, &a);
		else
			assert_int_equal(r.answers.known.n, 0);
		gus_recall_close(&r);
		end(&a);
	}
	cpus = 0;
	threads_left = 1000;
}

/* What follows in memory on the addresses is nobody's business. */
static void no_more_is_asked_than_was_wanted(void **state)
{
	const struct gus_answer *found = NULL;
	struct gus_recall r;
	struct asked a;
	size_t half;

	(void)state;
	build();
	begin(&a);
	cpus = 2;
	half = a.n / 2;
	gus_recall_open(&r, NULL, a.elf, a.elf, NULL);
	gus_recall_ask_all(&r, a.dwarf, a.elf, a.elf, NULL, a.places, half);
	for (size_t i = 0; i < half; i++) {
		found = gus_recall_find(&r, a.places[i]);
		assert_non_null(found);
	}
	for (size_t i = half; i < a.n; i++)
		assert_true(a.places[i] < found->high || !gus_recall_find(&r, a.places[i]));
	gus_recall_close(&r);
	cpus = 0;
	end(&a);
}

/* The thread that has the first half is still at it when the others, all of them one address, have been asked. */
static void all_threads_are_waited_for(void **state)
{
	struct gus_recall r;
	struct asked a;

	(void)state;
	build();
	begin(&a);
	cpus = 2;
	for (size_t i = a.n / 2; i < a.n; i++)
		a.places[i] = a.places[a.n - 1];
	gus_recall_open(&r, NULL, a.elf, a.elf, NULL);
	gus_recall_ask_all(&r, a.dwarf, a.elf, a.elf, NULL, a.places, a.n);
	assert_true(r.changed);
	finds_all(&r, &a);
	gus_recall_close(&r);
	cpus = 0;
	end(&a);
}

/* It costs what it costs one thread to read the same, at least; where that is not there nothing counts. */
static void many_cost_what_they_take(void **state)
{
	uint64_t before, one, many;
	struct gus_recall r;
	struct asked a;

	(void)state;
	build();
	begin(&a); /* which has asked for each line already */
	gus_recall_open(&r, NULL, a.elf, a.elf, NULL);
	gus_dwarf_close(a.dwarf);
	before = a.elf->made.left;
	a.dwarf = gus_dwarf_open(a.elf, a.elf, NULL);
	for (size_t i = 0; i < a.n; i++)
		gus_recall_ask(&r, a.dwarf, a.places[i], true);
	one = before - a.elf->made.left;
	assert_true(one > 0);
	cpus = 2;
	before = a.elf->made.left;
	gus_recall_ask_all(&r, a.dwarf, a.elf, a.elf, NULL, a.places, a.n);
	many = before - a.elf->made.left;
	assert_true(r.changed);
	assert_in_range(many, one, 2 * one);
	gus_recall_close(&r);
	gus_recall_open(&r, NULL, a.elf, a.elf, NULL);
	a.elf->made.left = one;
	gus_recall_ask_all(&r, a.dwarf, a.elf, a.elf, NULL, a.places, a.n);
	assert_int_equal(r.answers.known.n, 0);
	assert_false(r.changed);
	assert_int_equal(a.elf->made.left, one); /* who asks one by one has all of it */
	gus_recall_close(&r);
	cpus = 0;
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

static bool is_remembered_of(struct gus_store *store, uint64_t place, struct gus_elf *holder,
			     const struct gus_elf *code, const struct gus_elf *shared)
{
	struct gus_recall r;
	bool found;

	gus_recall_open(&r, store, holder, code, shared);
	found = gus_recall_find(&r, place) != NULL;
	gus_recall_close(&r);
	return found;
}

/* Whether the place is remembered. */
static bool is_remembered(struct gus_store *store, uint64_t place)
{
	struct gus_elf *elf = gus_elf_open("p", NULL);
	bool found;

	assert_non_null(elf);
	found = is_remembered_of(store, place, elf, elf, NULL);
	gus_elf_close(elf);
	return found;
}

/* As if one thing of the file were another one. */
static void spoil(struct stat *st, int what)
{
	st->st_dev += what == 0;
	st->st_ino += what == 1;
	st->st_size += what == 2;
	st->st_mtim.tv_sec += what == 3;
	st->st_mtim.tv_nsec += what == 4;
	st->st_ctim.tv_sec += what == 5;
	st->st_ctim.tv_nsec += what == 6;
}

/* Of the file that has the lines, of the one that has the code, and of the one that it shares with others. */
static void each_file_is_the_very_one(void **state)
{
	struct gus_store *store = gus_store_open("kept", ".kept", 1u << 20, NULL);
	struct gus_elf *shared, *e[3];
	struct gus_recall r;
	struct asked a;

	(void)state;
	assert_non_null(store);
	build();
	begin(&a);
	shared = gus_elf_open("p", NULL);
	gus_recall_open(&r, store, a.elf, a.elf, shared);
	gus_recall_ask(&r, a.dwarf, a.places[0], true);
	assert_int_equal(gus_recall_save(&r, NULL), 0);
	gus_recall_close(&r);
	assert_false(is_remembered_of(store, a.places[0], a.elf, a.elf, NULL));
	for (int i = 0; i < 3 * 7 + 1; i++) {
		for (int k = 0; k < 3; k++)
			assert_non_null(e[k] = gus_elf_open("p", NULL));
		if (i < 3 * 7)
			spoil(&e[i / 7]->stat, i % 7);
		assert_int_equal(is_remembered_of(store, a.places[0], e[0], e[1], e[2]), i == 3 * 7);
		for (int k = 0; k < 3; k++)
			gus_elf_close(e[k]);
	}
	gus_elf_close(shared);
	gus_store_close(store);
	end(&a);
}

/* Of an image there is no file that could be known again; without what it shares with others a file is not whole. */
static void of_what_is_not_whole_nothing_is_remembered(void **state)
{
	struct gus_store *store = gus_store_open("kept", ".kept", 1u << 20, NULL);
	struct gus_elf *image, *file, *part;
	struct gus_recall r;

	(void)state;
	assert_non_null(store);
	build();
	if (system("printf 'other.debug\\0abcdefgh' >link && "
		   "objcopy --add-section .gnu_debugaltlink=link p part") != 0) {
		print_message("skipped: it needs binutils (objcopy)\n");
		skip();
	}
	file = gus_elf_open("p", NULL);
	part = gus_elf_open("part", NULL);
	assert_true(file && part && gus_elf_load(file, 0, file->size));
	image = gus_elf_copy("p", file->bytes, file->size, NULL);
	assert_true(image && image->build_id_size);
	gus_recall_open(&r, store, file, file, NULL);
	assert_non_null(r.store);
	gus_recall_close(&r);
	gus_recall_open(&r, store, image, file, NULL);
	assert_null(r.store);
	gus_recall_close(&r);
	gus_recall_open(&r, store, file, image, NULL);
	assert_null(r.store);
	gus_recall_close(&r);
	gus_recall_open(&r, store, part, part, NULL);
	assert_null(r.store);
	gus_recall_close(&r);
	gus_recall_open(&r, store, part, part, file);
	assert_non_null(r.store);
	gus_recall_close(&r);
	gus_elf_close(image);
	gus_elf_close(file);
	gus_elf_close(part);
	gus_store_close(store);
}

/* That is no failure: it is asked again. */
static void too_many_answers_are_not_remembered(void **state)
{
	struct gus_store *store = gus_store_open("kept", ".kept", 1u << 30, NULL);
	char *text = gus_zalloc(GUS_LIMIT_NAME);
	struct gus_recall r;
	struct asked a;

	(void)state;
	assert_non_null(store);
	build();
	begin(&a);
	memset(text, 'a', GUS_LIMIT_NAME - 1);
	gus_recall_open(&r, store, a.elf, a.elf, NULL);
	gus_recall_ask(&r, a.dwarf, a.places[0], true);
	for (unsigned i = 0; i < GUS_LIMIT_CACHE_FILE / GUS_LIMIT_NAME + 1; i++) {
		snprintf(text, 16, "%015u", i);
		text[15] = 'a';
		gus_answers_add(&r.answers, &(struct gus_answer){ .low = i, .high = i + 1,
				.file = gus_answers_text(&r.answers, text) });
	}
	assert_int_equal(gus_recall_save(&r, NULL), 0);
	assert_int_equal(files_in("kept"), 0);
	gus_recall_close(&r);
	gus_store_close(store);
	end(&a);
	free(text);
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

/* Of a long one as much as files are called by. */
static void a_long_build_id_is_cut(void **state)
{
	(void)state;
	assert_int_equal(remembered_of("0x0102030405060708090a0b0c0d0e0f101112131415161718",
				       "kept/0102030405060708090a0b0c0d0e0f1011121314-*"), 1);
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
		cmocka_unit_test_setup_teardown(no_more_is_asked_than_was_wanted, enter, leave),
		cmocka_unit_test_setup_teardown(all_threads_are_waited_for, enter, leave),
		cmocka_unit_test_setup_teardown(many_cost_what_they_take, enter, leave),
		cmocka_unit_test_setup_teardown(each_file_is_the_very_one, enter, leave),
		cmocka_unit_test_setup_teardown(of_what_is_not_whole_nothing_is_remembered, enter, leave),
		cmocka_unit_test_setup_teardown(too_many_answers_are_not_remembered, enter, leave),
		cmocka_unit_test_setup_teardown(a_long_build_id_is_cut, enter, leave),
		cmocka_unit_test_setup_teardown(it_is_remembered_of_that_very_file, enter, leave),
		cmocka_unit_test_setup_teardown(a_short_build_id_is_a_short_name, enter, leave),
		cmocka_unit_test_setup_teardown(without_a_build_id_nothing_is_remembered, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
