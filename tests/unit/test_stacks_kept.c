/* SPDX-License-Identifier: MIT */
/* cli/stacks/kept: what traces of a recording came to, put into a folder and found there again, as long as nothing is
 * another that it hangs on. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cmocka.h>

#include "attribution/accounts/kept.h"
#include "base/cursor.h"
#include "base/log.h"
#include "base/store.h"
#include "cli/stacks/kept.h"
#include "made_account.h"

enum { CHECKSUM = 8 };

static char folder[64], program[96], kept[96];
static const struct gus_stacks_asked asked = { .path = "r", .table = 7 };

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A place is in a file that no sample was seen in. */
static void put_into(struct gus_account_place *p, const char *module, bool executed)
{
	p->place.module = GUS_CLUE_NONE;
	p->module = module;
	p->executed = executed;
}

/* An account with a recording "r", in a folder of its own; code that was executed is from the file "program". */
static int begin(void **state)
{
	struct made *m;

	if (made_account_setup(state) != 0)
		return -1;
	m = *state;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 300, (struct gus_sample){ .ip = app_at + TEXT + ADD, .tid = 11 });
	made_account(m, true);
	strcpy(folder, "/tmp/gusprof-test-XXXXXX");
	assert_true(mkdtemp(folder) && chdir(folder) == 0);
	snprintf(program, sizeof(program), "%s/program", folder);
	snprintf(kept, sizeof(kept), "%s/kept", folder);
	write_file("r", "recording");
	write_file("program", "code");
	for (size_t i = 0; i < m->account.places.n; i++)
		if (m->account.places.v[i].executed)
			put_into(&m->account.places.v[i], program, true);
	return 0;
}

static int end(void **state)
{
	char *command = gus_format("rm -r %s", folder);
	int rc = chdir("/") == 0 ? system(command) : -1;

	free(command);
	return rc | made_account_teardown(state);
}

static char said[512];

static void emit(enum gus_level level, const char *text, void *context)
{
	(void)context;
	assert_int_equal(level, GUS_DEBUG);
	snprintf(said, sizeof(said), "%s", text);
}

static struct gus_stacks_kept *open_as(const struct gus_stacks_asked *as)
{
	static const struct gus_log log = { GUS_DEBUG, emit, NULL };

	said[0] = '\0';
	return gus_stacks_kept_open(kept, as, &log);
}

static void expect_said(const char *begin)
{
	if (*begin ? strncmp(said, begin, strlen(begin)) != 0 : *said)
		fail_msg("'%s' was said", said);
}

static bool is_there(const struct gus_stacks_asked *as)
{
	struct gus_stacks_kept *k = open_as(as);
	bool has = gus_stacks_kept_has(k);

	gus_stacks_kept_close(k);
	return has;
}

static void put(const struct made *m, const struct gus_stacks_asked *as)
{
	const struct gus_stacks_ran ran = { .taken = 3 };
	struct gus_stacks_kept *k = open_as(as);

	assert_non_null(k);
	gus_stacks_kept_put(k, &(struct gus_stacks_accounts){ .account = m->account }, &ran);
	gus_stacks_kept_close(k);
}

static void expect_same(const struct gus_account *x, const struct gus_account *y)
{
	struct gus_bytes a = { 0 }, b = { 0 };

	gus_account_put(&a, x);
	gus_account_put(&b, y);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.v, b.v, a.n);
	gus_vec_free(&a);
	gus_vec_free(&b);
}

/* With and without what the model alone has. */
static void what_was_put_comes_back(void **state)
{
	const struct gus_stacks_ran told[] = {
		{ .windows = true, .taken = 300, .failed = 2, .first = "no such process", .partly = true,
		  .left_out = 1ull << 40 },
		{ .taken = 1 },
	};
	struct made *m = *state;
	struct gus_clues of_model = gus_clues_of_model(&m->clues);
	struct gus_stacks_accounts a = { .account = m->account }, back;

	gus_account_of_model(&a.modelled, &of_model, &m->account, m->groups);
	for (int i = 0; i < 2; i++) {
		const struct gus_stacks_asked as = { .path = "r", .table = 7, .vs_model = i };
		struct gus_stacks_kept *k = open_as(&as);
		struct gus_stacks_ran ran;

		a.vs_model = i;
		assert_non_null(k);
		assert_false(gus_stacks_kept_has(k));
		gus_stacks_kept_put(k, &a, &told[i]);
		gus_stacks_kept_close(k);
		k = open_as(&as);
		assert_true(gus_stacks_kept_has(k));
		assert_true(gus_stacks_kept_take(k, &m->clues, &back, &ran));
		assert_memory_equal(ran.first, told[i].first, sizeof(ran.first));
		assert_true(ran.windows == told[i].windows && ran.taken == told[i].taken &&
			    ran.failed == told[i].failed && ran.partly == told[i].partly &&
			    ran.left_out == told[i].left_out);
		assert_int_equal(back.vs_model, i);
		expect_same(&back.account, &m->account);
		if (i)
			expect_same(&back.modelled, &a.modelled);
		gus_stacks_accounts_free(&back);
		gus_stacks_kept_forget(k);
		assert_false(gus_stacks_kept_has(k));
		gus_stacks_kept_close(k);
	}
	gus_account_free(&a.modelled);
}

/* A copy is the same recording. All else that it is asked by makes another question of it. */
static void it_is_of_one_question(void **state)
{
	static const struct { struct gus_stacks_asked as; bool there; } cases[] = {
		{ { "r", 7, false, false }, true }, { { "copy", 7, false, false }, true },
		{ { "r", 8, false, false }, false }, { { "r", 7, true, false }, false },
		{ { "r", 7, false, true }, false }, { { "other", 7, false, false }, false },
		{ { "longer", 7, false, false }, false },
	};

	write_file("copy", "recording");
	write_file("other", "recorded.");
	write_file("longer", "recording ");
	put(*state, &asked);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(is_there(&cases[i].as), cases[i].there);
	if (geteuid() == 0) {
		assert_int_equal(chown("copy", 65534, (gid_t)-1), 0);
		assert_false(is_there(&cases[1].as));
	}
}

static void what_is_no_file_has_nothing(void **state)
{
	static const char *const paths[] = { "fifo", "none", "/dev/null", ".", "/proc/self/mem" }; /* that fails late */

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		assert_null(open_as(&(struct gus_stacks_asked){ .path = paths[i] }));
		expect_said("stacks are not remembered: the recording is no file that can be read to its end");
	}
	assert_null(gus_stacks_kept_open("r/kept", &asked, NULL));
	assert_false(gus_stacks_kept_has(NULL));
	gus_stacks_kept_forget(NULL);
	gus_stacks_kept_put(NULL, NULL, NULL);
	gus_stacks_kept_close(NULL);
}

/* The number that the next file gets, which says whether one was left open. */
static int next_file(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Nothing was; something was put; it was found; and put again into a folder that is gone. No file stays open. */
static void what_became_of_it_is_logged(void **state)
{
	const struct gus_stacks_accounts a = { .account = ((struct made *)*state)->account };
	const struct gus_stacks_ran ran = { .taken = 1 };
	const int next = next_file();
	struct gus_stacks_kept *k = open_as(&asked);

	expect_said("");
	gus_stacks_kept_put(k, &a, &ran);
	expect_said("");
	gus_stacks_kept_close(k);
	k = open_as(&asked);
	expect_said("stacks were found out before: ");
	assert_int_equal(system("rm -r kept"), 0);
	gus_stacks_kept_put(k, &a, &ran);
	expect_said("stacks are not remembered: cannot");
	gus_stacks_kept_close(k);
	assert_int_equal(next_file(), next);
}

/* Of the bytes of a key nothing may be known that were not read. */
static void of_what_changes_meanwhile_nothing_is_kept(void **state)
{
	const struct timespec later[2] = { { 1, 0 }, { 1, 0 } };
	const struct made *m = *state;
	struct gus_stacks_kept *k = open_as(&asked);

	assert_int_equal(utimensat(AT_FDCWD, "r", later, 0), 0);
	gus_stacks_kept_put(k, &(struct gus_stacks_accounts){ .account = m->account }, &(struct gus_stacks_ran){ 0 });
	expect_said("stacks are not remembered: the recording has changed meanwhile");
	gus_stacks_kept_close(k);
	assert_false(is_there(&asked));
	put(m, &asked);
	assert_true(is_there(&asked));
}

/* The file that code was from is another, and as it was, and gone. */
static void it_is_of_these_programs(void **state)
{
	struct timespec times[2];
	struct stat st;

	put(*state, &asked);
	assert_int_equal(rename("program", "away"), 0);
	assert_false(is_there(&asked));
	write_file("program", "code");
	assert_false(is_there(&asked));
	put(*state, &asked);
	assert_true(is_there(&asked));
	assert_int_equal(stat("program", &st), 0);
	times[0] = times[1] = (struct timespec){ st.st_mtim.tv_sec, (st.st_mtim.tv_nsec + 1) % 1000000000 };
	assert_int_equal(utimensat(AT_FDCWD, "program", times, 0), 0);
	assert_false(is_there(&asked));
}

/* Code that was executed is from one file, and from "away" behind it; what was not executed, or is of no file, is not
 * asked for. */
static void it_is_of_all_programs(void **state)
{
	char *const away = gus_format("%s/away", folder), *const unused = gus_format("%s/unused", folder);
	struct made *m = *state;

	assert_true(m->account.places.n >= 4);
	write_file("away", "code");
	write_file("unused", "code");
	put_into(&m->account.places.v[0], program, true);
	put_into(&m->account.places.v[1], "[vdso]", true);
	put_into(&m->account.places.v[2], unused, false);
	put_into(&m->account.places.v[3], away, true);
	put(m, &asked);
	write_file("[vdso]", "none of this");
	write_file("unused", "other code");
	assert_true(is_there(&asked));
	write_file("away", "other code");
	assert_false(is_there(&asked));
	free(away);
	free(unused);
}

/* The one file that is kept: its bytes, and other ones in its place. */
static uint8_t *read_kept(char **name, size_t *size)
{
	struct gus_store *store = gus_store_open(kept, ".stacks", 1 << 30, NULL);
	char **names = gus_store_names(store);
	uint8_t *bytes;

	assert_true(names[0] && !names[1]);
	*name = gus_strdup(names[0]);
	bytes = gus_store_read(store, *name, 1 << 30, size);
	assert_non_null(bytes);
	gus_store_names_free(names);
	gus_store_close(store);
	return bytes;
}

/* Whether it is believed to be there, and taken, of so many bytes; right: with a checksum that is theirs. */
enum belief { NOTHING, REFUSED, TAKEN };

static enum belief believe(struct made *m, const char *name, uint8_t *bytes, size_t size, bool right)
{
	struct gus_store *store = gus_store_open(kept, ".stacks", 1 << 30, NULL);
	uint64_t sum = size < CHECKSUM ? 0 : XXH3_64bits(bytes, size - CHECKSUM);
	struct gus_stacks_kept *k;
	struct gus_stacks_accounts a;
	struct gus_stacks_ran ran;
	enum belief belief = NOTHING;

	if (right)
		memcpy(bytes + size - CHECKSUM, &sum, CHECKSUM);
	assert_int_equal(gus_store_write(store, name, bytes, size, NULL), 0);
	gus_store_close(store);
	k = open_as(&asked);
	if (gus_stacks_kept_has(k))
		belief = gus_stacks_kept_take(k, &m->clues, &a, &ran) ? TAKEN : REFUSED;
	if (belief == TAKEN)
		gus_stacks_accounts_free(&a);
	gus_stacks_kept_close(k);
	return belief;
}

/* Cut anywhere, or with another byte, it is nothing. */
static void what_is_not_whole_is_nothing(void **state)
{
	struct made *m = *state;
	uint8_t *bytes;
	size_t size;
	char *name;

	put(m, &asked);
	bytes = read_kept(&name, &size);
	assert_int_equal(believe(m, name, bytes, size, false), TAKEN);
	for (size_t n = 0; n < size; n += n < 300 ? 1 : 197)
		assert_int_equal(believe(m, name, bytes, n, false), NOTHING);
	for (size_t i = 0; i < size; i += i < 300 || i > size - 20 ? 1 : 197) {
		bytes[i] ^= 1;
		assert_int_equal(believe(m, name, bytes, size, false), NOTHING);
		bytes[i] ^= 1;
	}
	free(bytes);
	free(name);
}

/* Whoever writes it may have had another program, another version, or a wrong idea of it: magic, version and key are
 * believed by each byte, and nothing may be missing or left over. */
static void a_right_checksum_is_not_enough(void **state)
{
	struct made *m = *state;
	const size_t head = 8 + 4 + 7 * 8 + sizeof(uint64_t) * 7;
	uint8_t *bytes;
	size_t size;
	char *name;

	put(m, &asked);
	bytes = read_kept(&name, &size);
	for (size_t i = 0; i < head; i++) {
		bytes[i] ^= 1;
		assert_int_equal(believe(m, name, bytes, size, true), NOTHING);
		bytes[i] ^= 1;
	}
	assert_int_equal(believe(m, name, bytes, size, true), TAKEN);
	bytes = gus_resize(bytes, size + 1, 1);
	bytes[size] = 0;
	assert_int_equal(believe(m, name, bytes, size + 1, true), REFUSED);
	assert_int_equal(believe(m, name, bytes, size - 1, true), REFUSED);
	for (size_t n = CHECKSUM; n < size; n += n < 400 ? 1 : 29)
		assert_int_not_equal(believe(m, name, bytes, n, true), TAKEN);
	free(bytes);
	free(name);
}

/* Why the first could not be read is 255 letters at most: more of them are none, and are no more than passed over. */
static void a_reason_has_room(void **state)
{
	static const size_t sizes[] = { 255, 256, 300 };
	struct made *m = *state;
	struct gus_stacks_kept *k = open_as(&asked);
	uint8_t *bytes, *at;
	size_t size;
	char *name;

	gus_stacks_kept_put(k, &(struct gus_stacks_accounts){ .account = m->account },
			    &(struct gus_stacks_ran){ .failed = 1, .first = "some reason", .left_out = 9 });
	gus_stacks_kept_close(k);
	bytes = read_kept(&name, &size);
	at = memmem(bytes, size, "some reason", 11);
	assert_true(at && at[-1] == 11);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct gus_bytes other = { 0 };
		struct gus_stacks_accounts a;
		struct gus_stacks_ran ran;

		gus_vec_append(&other, bytes, (size_t)(at - 1 - bytes));
		gus_bytes_varint(&other, sizes[i]);
		for (size_t n = 0; n < sizes[i]; n++)
			gus_vec_push(&other, 'x');
		gus_vec_append(&other, at + 11, size - (size_t)(at + 11 - bytes));
		assert_int_equal(believe(m, name, other.v, other.n, true), TAKEN);
		k = open_as(&asked);
		assert_true(gus_stacks_kept_take(k, &m->clues, &a, &ran));
		assert_int_equal(strlen(ran.first), sizes[i] < 256 ? sizes[i] : 0);
		assert_true(ran.failed == 1 && ran.left_out == 9);
		gus_stacks_accounts_free(&a);
		gus_stacks_kept_close(k);
		gus_vec_free(&other);
	}
	free(bytes);
	free(name);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_was_put_comes_back),
		CASE(it_is_of_one_question),
		CASE(what_is_no_file_has_nothing),
		CASE(what_became_of_it_is_logged),
		CASE(of_what_changes_meanwhile_nothing_is_kept),
		CASE(it_is_of_these_programs),
		CASE(it_is_of_all_programs),
		CASE(what_is_not_whole_is_nothing),
		CASE(a_right_checksum_is_not_enough),
		CASE(a_reason_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
