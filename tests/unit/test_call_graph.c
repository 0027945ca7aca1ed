/* SPDX-License-Identifier: MIT */
/* cli/record/call_graph: what --call-graph says, and what auto takes for a target. Programs, libraries and processes
 * are those of this test; what their unwind tables say of frame pointers is written down here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cli/record/call_graph.h"
#include "collector/session/options.h"
#include "collector/target/target.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/elf/needed.h"
#include "symbolizer/space/module.h"
#include "symbolizer/symbols/symbols.h"
#include "symbolizer/unwind/unwind.h"

/* The tables: shares by a part of a file's name; whoever is in none has the last one's. */

struct share { const char *of; double share; };
static const struct share *shares;
static char asked[65536];               /* paths, in brackets */
static unsigned asked_n;
static char last[4096];
static const struct gus_symbols_options *opens; /* how files are opened */
static unsigned opened_n;
static bool elsewhere;                  /* paths are of other roots, too */

struct gus_unwind_files *__real_gus_unwind_files_new(const struct gus_symbols_options *options);
struct gus_unwind_files *__wrap_gus_unwind_files_new(const struct gus_symbols_options *options);
struct gus_unwind_file *__wrap_gus_unwind_files_get(struct gus_unwind_files *files, const struct gus_module *module);
double __wrap_gus_unwind_file_frame_pointers(struct gus_unwind_file *file);

struct gus_unwind_files *__wrap_gus_unwind_files_new(const struct gus_symbols_options *options)
{
	opens = options;
	return __real_gus_unwind_files_new(options);
}

/* What is shown of a file is that file, or nothing: then its path is opened. */
static void open_as_shown(const struct gus_module *module)
{
	int fd = opens->open(opens->open_context, module);
	struct stat shown, named;

	if (fd < 0)
		return;
	opened_n++;
	assert_true(fd > 2);
	assert_int_equal(fstat(fd, &shown), 0);
	/* Processes of the whole machine may have other roots than we do. */
	if (!elsewhere && stat(module->path, &named) == 0)
		assert_int_equal(shown.st_ino, named.st_ino);
	close(fd);
}

struct gus_unwind_file *__wrap_gus_unwind_files_get(struct gus_unwind_files *files, const struct gus_module *module)
{
	(void)files;
	open_as_shown(module);
	assert_int_equal(module->kind, GUS_MODULE_FILE);
	snprintf(last, sizeof(last), "%s", module->path);
	if (strlen(asked) + strlen(last) + 3 < sizeof(asked))
		sprintf(asked + strlen(asked), "[%s]", last);
	asked_n++;
	return (struct gus_unwind_file *)last;
}

double __wrap_gus_unwind_file_frame_pointers(struct gus_unwind_file *file)
{
	const struct share *s = shares;

	assert_ptr_equal(file, last);
	while (s->of && !strstr(last, s->of))
		s++;
	return s->share;
}

/* What --call-graph says. */

static void words_are_modes(void **state)
{
	static const struct { const char *text; enum gus_call_graph mode; uint32_t bytes; } all[] = {
		{ "tables", GUS_CALL_GRAPH_TABLES, 65528 }, { "eh", GUS_CALL_GRAPH_TABLES, 65528 },
		{ "tables,1024", GUS_CALL_GRAPH_TABLES, 1024 }, { "fp", GUS_CALL_GRAPH_FP, 512 },
		{ "dwarf", GUS_CALL_GRAPH_COPIES, 8192 }, { "dwarf,64", GUS_CALL_GRAPH_COPIES, 64 },
		{ "dwarf,65", GUS_CALL_GRAPH_COPIES, 72 }, { "dwarf,72", GUS_CALL_GRAPH_COPIES, 72 },
		{ "dwarf,65528", GUS_CALL_GRAPH_COPIES, 65528 }, { "dwarf,0x100", GUS_CALL_GRAPH_COPIES, 256 },
		{ "dwarf,1K", GUS_CALL_GRAPH_COPIES, 1024 }, { "dwarf,63k", GUS_CALL_GRAPH_COPIES, 64512 },
		{ "lbr", GUS_CALL_GRAPH_LBR, 0 }, { "none", GUS_CALL_GRAPH_NONE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gus_session_options so = { 0 };
		bool automatic = true;

		assert_int_equal(gus_record_call_graph_parse(all[i].text, i % 2, &so, &automatic, NULL), 0);
		assert_false(automatic);
		assert_int_equal(so.callers, all[i].mode);
		assert_int_equal(so.call_graph, all[i].mode != GUS_CALL_GRAPH_NONE);
		assert_int_equal(so.stack_bytes, all[i].bytes);
	}
}

/* -g is auto, and nothing is nothing. */
static void auto_is_left_open(void **state)
{
	static const struct { const char *text; bool g, automatic; } all[] = {
		{ NULL, false, false }, { NULL, true, true }, { "auto", false, true }, { "auto", true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gus_session_options so = { .callers = GUS_CALL_GRAPH_LBR, .call_graph = true };
		bool automatic = !all[i].automatic;

		assert_int_equal(gus_record_call_graph_parse(all[i].text, all[i].g, &so, &automatic, NULL), 0);
		assert_int_equal(automatic, all[i].automatic);
		assert_int_equal(so.callers, GUS_CALL_GRAPH_NONE);
		assert_false(so.call_graph);
		assert_int_equal(so.stack_bytes, 0);
	}
}

static void other_words_are_refused(void **state)
{
	static const struct { const char *text, *says; } all[] = {
		{ "", "not ''" }, { "dwar", "not 'dwar'" }, { "dwarfs", "not 'dwarfs'" }, { "auto,8", "not 'auto,8'" },
		{ "fp,512", "fp takes no size" }, { "lbr,1", "lbr takes no size" }, { "none,", "none takes no size" },
		{ "dwarf,", "not ''" }, { "dwarf,63", "64 to 65528 bytes, not '63'" }, { "dwarf,65529", "not '65529'" },
		{ "dwarf,64K", "not '64K'" }, { "dwarf,-1", "not '-1'" }, { "dwarf, 64", "not ' 64'" },
		{ "dwarf,100b", "not '100b'" }, { "dwarf,1KK", "not '1KK'" }, { "tables,K", "not 'K'" },
		{ "dwarf,99999999999999999999999", "not '99999999999999999999999'" },
		{ "dwarf,18014398509481985K", "not '18014398509481985K'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gus_session_options so = { 0 };
		struct gus_error err = { 0 };
		bool automatic;

		assert_int_equal(gus_record_call_graph_parse(all[i].text, true, &so, &automatic, &err), -1);
		assert_int_equal(err.code, GUS_E_USAGE);
		assert_non_null(strstr(err.text, all[i].says));
	}
}

/* What auto takes. */

struct made {
	struct gus_session_options so;
	struct gus_target target;
	char self[4096];                /* this program */
	char folder[64];
	char *command[3];
};

static int setup(void **state)
{
	struct made *m = gus_zalloc(sizeof(*m));

	gus_target_init(&m->target);
	m->so.target = &m->target;
	if (readlink("/proc/self/exe", m->self, sizeof(m->self) - 1) <= 0)
		return -1;
	strcpy(m->folder, "/tmp/call_graph_XXXXXX");
	if (!mkdtemp(m->folder))
		return -1;
	m->command[0] = m->self;
	m->so.command = m->command;
	asked[0] = '\0';
	asked_n = opened_n = 0;
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;
	char *path = gus_format("%s/cgroup.procs", m->folder);

	unlink(path);
	free(path);
	path = gus_format("%s/script", m->folder);
	unlink(path);
	free(path);
	rmdir(m->folder);
	m->target.cgroup_path = NULL;
	gus_target_free(&m->target);
	free(m);
	return 0;
}

static void chooses(struct made *m, const struct share *of, enum gus_call_graph mode, const char *says)
{
	char *text;

	shares = of;
	text = gus_record_call_graph_choose(&m->so);
	assert_string_equal(text, says);
	free(text);
	assert_int_equal(m->so.callers, mode);
	assert_true(m->so.call_graph);
	assert_int_equal(m->so.stack_bytes, mode == GUS_CALL_GRAPH_FP ? 512 : 65528);
}

static bool was_asked(const char *path)
{
	char *word = gus_format("%s]", path);
	bool found = strstr(asked, word) != NULL;

	free(word);
	return found;
}

/* Of each library that a program names. */
static bool was_asked_for_all(const char *program)
{
	struct gus_elf *e = gus_elf_open(program, NULL);
	struct gus_needed needed;
	bool all = true;

	gus_elf_needed(e, &needed);
	for (size_t i = 0; i < needed.n; i++)
		all &= was_asked(needed.library[i]);
	gus_elf_close(e);
	return all && needed.n;
}

static const struct share all_keep[] = { { NULL, 1 } };
#define KEPT "by frame pointers: the functions of all %u files that were looked at keep them"

/* All files of a program are looked at, each once, if all keep them. */
static void a_program_and_its_libraries(void **state)
{
	static const struct share nine[] = { { NULL, 0.9 } };
	struct made *m = *state;
	char *says, *once;

	shares = all_keep;
	free(gus_record_call_graph_choose(&m->so));
	assert_true(asked_n >= 3);
	assert_int_equal(opened_n, 0);
	assert_true(was_asked(m->self));
	assert_true(was_asked_for_all(m->self));
	once = strstr(asked, "libc.so.6]");
	assert_non_null(once);
	assert_null(strstr(once + 1, "libc.so.6]"));
	says = gus_format(KEPT, asked_n);
	chooses(m, all_keep, GUS_CALL_GRAPH_FP, says);
	chooses(m, nine, GUS_CALL_GRAPH_FP, says); /* nearly all are all */
	free(says);
}

/* One that does not keep them is enough, and behind it nothing is looked at. */
static void one_is_enough(void **state)
{
	static const struct share libc[] = { { "libc.so", 0.8951 }, { NULL, 1 } };
	struct made *m = *state;
	char *says, *path;

	shares = all_keep;
	free(gus_record_call_graph_choose(&m->so));
	path = strstr(asked, "libc.so.6]");
	assert_non_null(path);
	*strchr(path, ']') = '\0';
	while (path[-1] != '[')
		path--;
	path = gus_strdup(path);
	asked[0] = '\0';
	says = gus_format("by unwind tables: 90 %% of the functions of %s keep a frame pointer", path);
	chooses(m, libc, GUS_CALL_GRAPH_TABLES, says);
	assert_memory_equal(asked + strlen(asked) - strlen(path) - 1, path, strlen(path)); /* the last one */
	free(says);
	says = gus_format("by unwind tables: 0 %% of the functions of %s keep a frame pointer", m->self);
	asked_n = 0;
	chooses(m, (const struct share[]){ { NULL, 0 } }, GUS_CALL_GRAPH_TABLES, says);
	assert_int_equal(asked_n, 1);
	free(says);
	free(path);
}

/* Of files without tables nobody knows: they are not counted. */
static void files_without_tables_do_not_count(void **state)
{
	static const struct share nothing[] = { { NULL, -1 } }, libc[] = { { "libc.so", 1 }, { NULL, -1 } };
	struct made *m = *state;

	chooses(m, nothing, GUS_CALL_GRAPH_TABLES, "by unwind tables: no file was found whose tables say that its "
		"functions keep frame pointers");
	chooses(m, libc, GUS_CALL_GRAPH_FP, "by frame pointers: the functions of all 1 files that were looked at keep "
		"them");
}

static void what_cannot_be_found_has_no_files(void **state)
{
	struct made *m = *state;

	m->command[0] = (char *)"/nowhere/program";
	chooses(m, all_keep, GUS_CALL_GRAPH_TABLES, "by unwind tables: no file was found whose tables say that its "
		"functions keep frame pointers");
	m->command[0] = (char *)"no-such-command-anywhere";
	chooses(m, all_keep, GUS_CALL_GRAPH_TABLES, "by unwind tables: no file was found whose tables say that its "
		"functions keep frame pointers");
	assert_int_equal(asked_n, 0);
}

/* What runs is the interpreter. */
static void a_script_is_its_interpreter(void **state)
{
	struct made *m = *state;
	char *path = gus_format("%s/script", m->folder);
	FILE *f = fopen(path, "w");

	fprintf(f, "#!%s -x\n", m->self);
	fclose(f);
	chmod(path, 0755);
	m->command[0] = path;
	m->command[1] = (char *)"argument";
	shares = all_keep;
	free(gus_record_call_graph_choose(&m->so));
	assert_true(was_asked(m->self));
	assert_false(was_asked(path));
	free(path);
}

static void a_flight_recorder_has_no_room(void **state)
{
	struct made *m = *state;

	m->so.overwrite = true;
	chooses(m, (const struct share[]){ { NULL, 0 } }, GUS_CALL_GRAPH_FP,
		"by frame pointers: copies of the stack would leave room for few samples in a flight recorder");
	assert_int_equal(asked_n, 0);
}

/* Of what runs already, files are those that are mapped as code, and not its stack or the vdso. */
static void a_process_has_what_it_mapped(void **state)
{
	static const struct share libc[] = { { "libc.so", 0.5 }, { NULL, 1 } };
	struct made *m = *state;
	char *says;

	m->target.kind = GUS_TARGET_PROCESSES;
	gus_vec_push(&m->target.watches, (struct gus_watch){ .id = getpid(), .pidfd = -1 });
	shares = all_keep;
	free(gus_record_call_graph_choose(&m->so));
	assert_true(was_asked(m->self));
	assert_non_null(strstr(asked, "libc.so.6]"));
	assert_int_equal(opened_n, asked_n); /* as it was mapped, whatever has its name now */
	assert_null(strstr(asked, "[["));
	assert_null(strstr(asked, "[]"));
	says = gus_format(KEPT, asked_n);
	gus_vec_push(&m->target.watches, (struct gus_watch){ .id = getpid(), .pidfd = -1 }); /* again: nothing new */
	chooses(m, all_keep, GUS_CALL_GRAPH_FP, says);
	free(says);
	shares = libc;
	says = gus_record_call_graph_choose(&m->so);
	assert_non_null(strstr(says, "by unwind tables: 50 % of the functions of /"));
	free(says);
	assert_int_equal(m->so.callers, GUS_CALL_GRAPH_TABLES);
}

static void a_cgroup_has_members(void **state)
{
	struct made *m = *state;
	char *path = gus_format("%s/cgroup.procs", m->folder);
	FILE *f = fopen(path, "w");

	fprintf(f, "1\n%d\n%d\n", 0x7ffffffe, (int)getpid()); /* the second of which is none */
	fclose(f);
	m->target.kind = GUS_TARGET_CGROUP;
	m->target.cgroup_path = m->folder;
	shares = all_keep;
	free(gus_record_call_graph_choose(&m->so));
	assert_true(was_asked(m->self));
	free(path);
}

/* All of a machine: so many files and processes are looked at that it takes no time. */
static void a_machine_is_looked_at_for_a_moment(void **state)
{
	struct made *m = *state;

	m->target.kind = GUS_TARGET_SYSTEM;
	shares = all_keep;
	elsewhere = true;
	free(gus_record_call_graph_choose(&m->so));
	elsewhere = false;
	assert_in_range(asked_n, 1, 64);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_modes),
		cmocka_unit_test(auto_is_left_open),
		cmocka_unit_test(other_words_are_refused),
		TEST(a_program_and_its_libraries),
		TEST(one_is_enough),
		TEST(files_without_tables_do_not_count),
		TEST(what_cannot_be_found_has_no_files),
		TEST(a_script_is_its_interpreter),
		TEST(a_flight_recorder_has_no_room),
		TEST(a_process_has_what_it_mapped),
		TEST(a_cgroup_has_members),
		TEST(a_machine_is_looked_at_for_a_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
