/* SPDX-License-Identifier: MIT */
#include "cli/record/call_graph.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "collector/host/mapped.h"
#include "collector/host/procfs.h"
#include "collector/session/options.h"
#include "collector/target/child.h"
#include "collector/target/target.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/elf/needed.h"
#include "symbolizer/symbols/symbols.h"
#include "symbolizer/unwind/unwind.h"
#include "tracing/program/program.h"

#define LEAF_BYTES 512          /* of stack, for the caller of a leaf without a frame */
#define COPIES_BYTES 8192       /* by default, as perf has it */
#define STACK_MOST 65528        /* that the kernel takes */
/* By default: what is not there costs nothing, and what is there is worth it; DESIGN.md section 3 has figures. */
#define TABLES_BYTES STACK_MOST
#define STACK_LEAST 64
#define FILES_MOST 64           /* that are looked at before one turns up that has no frame pointers */
#define PROCESSES_MOST 64
#define NEARLY_ALL 0.9          /* of the functions of a file: stubs and assembly have no frames anywhere */

static const struct mode {
	const char *word;
	enum gus_call_graph mode;
	uint32_t bytes;
	bool sized;             /* a size may follow */
} modes[] = {
	{ "tables", GUS_CALL_GRAPH_TABLES, TABLES_BYTES, true },
	{ "eh", GUS_CALL_GRAPH_TABLES, TABLES_BYTES, true },
	{ "fp", GUS_CALL_GRAPH_FP, LEAF_BYTES, false },
	{ "dwarf", GUS_CALL_GRAPH_COPIES, COPIES_BYTES, true },
	{ "lbr", GUS_CALL_GRAPH_LBR, 0, false },
	{ "none", GUS_CALL_GRAPH_NONE, 0, false },
};

static void set_mode(struct gus_session_options *so, enum gus_call_graph mode, uint32_t bytes)
{
	so->callers = mode;
	so->call_graph = mode != GUS_CALL_GRAPH_NONE;
	so->stack_bytes = bytes;
}

/* Bytes, perhaps with a K; a word of the stack is the least unit. */
static int parse_size(const char *text, uint32_t *bytes, struct gus_error *err)
{
	unsigned long size;
	char *end;

	errno = 0;
	size = strtoul(text, &end, 0);
	if (*end == 'K' || *end == 'k') {
		size = size > STACK_MOST ? size : size * 1024;
		end++;
	}
	if (!isdigit((unsigned char)*text) || *end || errno || size < STACK_LEAST || size > STACK_MOST)
		return gus_fail(err, GUS_E_USAGE, "--call-graph takes a size of stack of %u to %u bytes, not '%s'",
				STACK_LEAST, STACK_MOST, text);
	*bytes = (uint32_t)((size + 7) / 8 * 8);
	return 0;
}

int gus_record_call_graph_parse(const char *text, bool g, struct gus_session_options *so, bool *automatic,
				struct gus_error *err)
{
	size_t length = text ? strcspn(text, ",") : 0;

	*automatic = text ? strcmp(text, "auto") == 0 : g;
	set_mode(so, GUS_CALL_GRAPH_NONE, 0);
	if (!text || *automatic)
		return 0;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		uint32_t bytes = modes[i].bytes;

		if (strlen(modes[i].word) != length || strncmp(text, modes[i].word, length) != 0)
			continue;
		if (text[length] && !modes[i].sized)
			return gus_fail(err, GUS_E_USAGE, "--call-graph %s takes no size of stack", modes[i].word);
		if (text[length] && parse_size(text + length + 1, &bytes, err) != 0)
			return -1;
		set_mode(so, modes[i].mode, bytes);
		return 0;
	}
	return gus_fail(err, GUS_E_USAGE, "--call-graph takes auto, tables, fp, dwarf, lbr or none, and behind tables "
			"and dwarf a comma and bytes of stack, not '%s'", text);
}

/* What auto looks at. */

struct survey {
	struct gus_unwind_files *files;
	struct gus_strings seen;        /* paths */
	unsigned n;                     /* files that have tables */
	char *why;                      /* of one that has functions without a frame pointer; NULL: none yet */
	int fd;                         /* of the file that is looked at; -1: its path is opened */
};

static int open_surveyed(void *context, const struct gus_module *module)
{
	struct survey *s = context;

	(void)module;
	return s->fd < 0 ? -1 : dup(s->fd);
}

static bool is_done(const struct survey *s)
{
	return s->why || s->seen.n > FILES_MOST;
}

/* False if it was looked at before. */
static bool is_new(struct survey *s, const char *path)
{
	uint32_t before = s->seen.n;

	gus_strings_add(&s->seen, path);
	return s->seen.n > before;
}

static void look_at(struct survey *s, const char *path)
{
	const struct gus_module module = { .kind = GUS_MODULE_FILE, .path = path };
	double share = gus_unwind_file_frame_pointers(gus_unwind_files_get(s->files, &module));

	if (share < 0)
		return;
	s->n++;
	if (share < NEARLY_ALL)
		s->why = gus_format("%.0f %% of the functions of %s keep a frame pointer", 100 * share, path);
}

/* A program and the libraries that it asks for, and that these ask for. */
static void look_at_program(struct survey *s, const char *path)
{
	struct gus_elf *e = is_done(s) || !is_new(s, path) ? NULL : gus_elf_open(path, NULL);
	struct gus_needed needed;

	if (!e)
		return;
	look_at(s, path);
	gus_elf_needed(e, &needed);
	for (size_t i = 0; i < needed.n && !is_done(s); i++) {
		char *library = gus_needed_find(needed.library[i], path, needed.path, getenv("LD_LIBRARY_PATH"));

		if (library)
			look_at_program(s, library);
		free(library);
	}
	gus_elf_close(e);
}

static void look_at_command(struct survey *s, char *const *command)
{
	struct gus_executed executed = { .path = gus_child_path(command[0]) };

	if (!executed.path)
		return;
	for (size_t i = 0; command[i]; i++)
		gus_words_add(&executed.argv, gus_strdup(command[i]));
	if (!gus_executed_interpret(&executed))
		look_at_program(s, executed.path);
	gus_executed_free(&executed);
}

static void look_at_mapping(struct survey *s, pid_t pid, const struct gus_mapping *m)
{
	const struct gus_mapped mapped = { .start = m->start, .end = m->end, .path = m->path,
					   .path_length = m->path_length,
					   .identity = { m->inode, m->major, m->minor } };
	char *path = gus_strndup(m->path, m->path_length);

	if (*path == '/' && is_new(s, path) && (s->fd = gus_mapped_open(pid, &mapped)) >= 0) {
		look_at(s, path);
		close(s->fd);
		s->fd = -1;
	}
	free(path);
}

static void look_at_process(struct survey *s, pid_t pid)
{
	char *name = gus_format("/proc/%d/maps", (int)pid), *text;
	struct gus_mapping m;
	const char *at;
	size_t size;

	at = text = gus_procfs_read(name, &size);
	while (at && !is_done(s) && gus_mapping_next(&at, &m))
		if (m.protection & PROT_EXEC)
			look_at_mapping(s, pid, &m);
	free(text);
	free(name);
}

static void add_members(struct gus_tids *pids, const char *cgroup)
{
	char *name = gus_format("%s/cgroup.procs", cgroup), *text, *at, *end;
	size_t size;

	text = at = gus_procfs_read(name, &size);
	for (long pid; at && (pid = strtol(at, &end, 10)) > 0; at = end)
		gus_vec_push(pids, (pid_t)pid);
	free(text);
	free(name);
}

static void look_at_target(struct survey *s, const struct gus_session_options *so)
{
	struct gus_tids pids = { 0 };

	if (so->target->kind == GUS_TARGET_COMMAND) {
		look_at_command(s, so->command);
		return;
	}
	for (size_t i = 0; i < so->target->watches.n; i++)
		gus_vec_push(&pids, so->target->watches.v[i].id);
	if (so->target->kind == GUS_TARGET_CGROUP)
		add_members(&pids, so->target->cgroup_path);
	if (so->target->kind == GUS_TARGET_SYSTEM)
		gus_pids_all(&pids);
	for (size_t i = 0; i < pids.n && i < PROCESSES_MOST && !is_done(s); i++)
		look_at_process(s, pids.v[i]);
	gus_vec_free(&pids);
}

char *gus_record_call_graph_choose(struct gus_session_options *so)
{
	struct survey s = { .fd = -1 };
	const struct gus_symbols_options options = { .open = open_surveyed, .open_context = &s };
	char *text;

	if (so->overwrite) {
		set_mode(so, GUS_CALL_GRAPH_FP, LEAF_BYTES);
		return gus_strdup("by frame pointers: copies of the stack would leave room for few samples in a "
				  "flight recorder");
	}
	gus_strings_init(&s.seen);
	s.files = gus_unwind_files_new(&options);
	look_at_target(&s, so);
	if (s.why || !s.n) {
		set_mode(so, GUS_CALL_GRAPH_TABLES, TABLES_BYTES);
		text = gus_format("by unwind tables: %s", s.why ? s.why : "no file was found whose tables say that its "
				  "functions keep frame pointers");
	} else {
		set_mode(so, GUS_CALL_GRAPH_FP, LEAF_BYTES);
		text = gus_format("by frame pointers: the functions of all %u files that were looked at keep them",
				  s.n);
	}
	gus_unwind_files_free(s.files);
	gus_strings_free(&s.seen);
	free(s.why);
	return text;
}
