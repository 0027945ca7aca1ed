/* SPDX-License-Identifier: MIT */
#include "cli/record/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "base/limits.h"
#include "base/log.h"
#include "collector/session/made.h"
#include "proto/gusprof.pb-c.h"
#include "proto/writer.h"
#include "symbolizer/jit/choose.h"
#include "symbolizer/jit/jit.h"

#define RECORDS_MOST 4096           /* in a frame */
#define FRAME_BYTES (1u << 20)      /* of names, lines and code, before the last piece; a frame has room for four */
#define LINES_BYTES (2 * FRAME_BYTES) /* with the lines of the last piece */
#define NOTE_BYTES 40u              /* where a piece was, in a message, with the module's name */
#define PIECE_BYTES 24u             /* beside its name, lines and code */

/* What is told by one file of one maker, while it is written. */
struct told {
	const struct gus_record_jit *o;
	struct gus_writer *writer;
	struct gus_error *err;
	const struct gus_maker *maker;
	const char *module;             /* "[jit:PID]" */
	struct gus_jit jit;
	struct gus_jit_choice choice;
	uint64_t code_left;             /* bytes of code that may still be written */
	uint64_t without_code;          /* pieces for whose code there was no room, */
	uint64_t without_lines;         /* and lines, */
	uint64_t without_name;          /* and pieces for whose names there was none */
};

/* Where pieces were. */

static int write_notes(const struct told *t)
{
	Gusprof__Record *records = gus_alloc(RECORDS_MOST * sizeof(*records)), **list;
	Gusprof__Jit *jits = gus_alloc(RECORDS_MOST * sizeof(*jits));
	Gusprof__Sideband message = GUSPROF__SIDEBAND__INIT;
	int rc = 0;

	message.records = list = gus_alloc(RECORDS_MOST * sizeof(*list));
	for (size_t i = 0; rc == 0 && i < t->choice.notes.n; i++) {
		const struct gus_jit_note *note = &t->choice.notes.v[i];
		const struct gus_jit_piece *p = &t->jit.pieces.v[note->piece];
		size_t n = message.n_records++;

		gusprof__record__init(&records[n]);
		gusprof__jit__init(&jits[n]);
		jits[n] = (Gusprof__Jit){ .base = jits[n].base, .pid = t->maker->pid, .time = note->time,
					  .address = p->address, .size = p->size, .path = (char *)(uintptr_t)t->module,
					  .offset = t->choice.offsets.v[p->origin] };
		records[n].kind_case = GUSPROF__RECORD__KIND_JIT;
		records[n].jit = &jits[n];
		list[n] = &records[n];
		if (message.n_records == RECORDS_MOST || i + 1 == t->choice.notes.n) {
			rc = gus_writer_sideband(t->writer, &message, t->err);
			message.n_records = 0;
		}
	}
	free(list);
	free(jits);
	free(records);
	return rc;
}

/* What they are: frames of so many pieces as fit. */

/* Where a line is: a function and a file, as texts, and its number. */
struct link { uint32_t function, file, line; };

struct frame {
	struct gus_strings texts;       /* from 1, as in the message */
	struct gus_vec(Gusprof__EmbeddedFunction) functions;
	struct gus_vec(Gusprof__EmbeddedCode) code;
	struct gus_vec(Gusprof__EmbeddedLines) lines;
	struct gus_vec(Gusprof__EmbeddedChain) chains;
	struct gus_index links;         /* chains of one link each */
	size_t bytes;
};

static uint32_t add_text(struct frame *f, struct gus_piece text)
{
	uint32_t number;

	if (!text.size)
		return 0;
	number = gus_strings_add_n(&f->texts, text.text, text.size);
	f->bytes += number + 1 == f->texts.n ? text.size : 0;
	return number;
}

static void add_lines(struct told *t, struct frame *f, const struct gus_jit_piece *p, uint64_t offset, uint32_t name)
{
	for (uint32_t i = 0; i < p->lines_n; i++) {
		const struct gus_jit_line *line = &t->jit.lines.v[p->lines + i];
		uint64_t end = i + 1 < p->lines_n ? line[1].offset : p->size;
		Gusprof__EmbeddedLines range = GUSPROF__EMBEDDED_LINES__INIT;
		struct link link;

		if (end > p->size)
			end = p->size;
		if (line->offset >= end)
			continue;
		if (f->bytes >= LINES_BYTES || f->bytes >= *t->o->left) {
			t->without_lines++;
			continue;
		}
		range.offset = offset + line->offset;
		range.size = end - line->offset;
		link = (struct link){ name, add_text(f, line->file), line->line };
		range.chain = gus_index_add(&f->links, &link, NULL);
		gus_vec_push(&f->lines, range);
		f->bytes += 32;
	}
}

static void add_piece(struct told *t, struct frame *f, uint32_t number)
{
	const struct gus_jit_piece *p = &t->jit.pieces.v[number];
	Gusprof__EmbeddedFunction function = GUSPROF__EMBEDDED_FUNCTION__INIT;
	Gusprof__EmbeddedCode code = GUSPROF__EMBEDDED_CODE__INIT;

	function.offset = t->choice.offsets.v[number];
	function.size = p->size;
	function.address = p->address;
	function.name = add_text(f, p->name);
	gus_vec_push(&f->functions, function);
	f->bytes += PIECE_BYTES;
	if (t->o->lines)
		add_lines(t, f, p, function.offset, function.name);
	if (p->code && (p->size > GUS_LIMIT_JIT_CODE || p->size > t->code_left ||
			f->bytes + p->size > *t->o->left)) {
		t->without_code++;
	} else if (p->code) {
		code.offset = function.offset;
		code.bytes.data = (uint8_t *)(uintptr_t)p->code;
		code.bytes.len = p->size;
		gus_vec_push(&f->code, code);
		f->bytes += p->size;
		t->code_left -= p->size;
	}
}

static void make_chains(struct frame *f)
{
	for (uint32_t i = 0; i < f->links.n; i++) {
		Gusprof__EmbeddedChain chain = GUSPROF__EMBEDDED_CHAIN__INIT;
		struct link *link = (struct link *)(uintptr_t)gus_index_key(&f->links, i); /* messages have no const */

		chain.n_functions = chain.n_files = chain.n_lines = 1;
		chain.functions = &link->function;
		chain.files = &link->file;
		chain.lines = &link->line;
		gus_vec_push(&f->chains, chain);
	}
}

/* An array of pointers to the elements of a vector, as messages have them; the caller frees it. */
#define POINTERS(type, vec) ({ \
	type **list_ = gus_alloc(((vec).n + 1) * sizeof(*list_)); \
	for (size_t i_ = 0; i_ < (vec).n; i_++) \
		list_[i_] = &(vec).v[i_]; \
	list_; })

static int write_frame(const struct told *t, struct frame *f)
{
	Gusprof__Embedded m = GUSPROF__EMBEDDED__INIT;
	int rc;

	make_chains(f);
	m.path = (char *)(uintptr_t)t->module;
	m.machine = t->jit.machine;
	m.n_texts = f->texts.n - 1; /* number 0, which is none, is not written */
	m.texts = gus_alloc((m.n_texts + 1) * sizeof(*m.texts));
	for (uint32_t i = 1; i < f->texts.n; i++)
		m.texts[i - 1] = (char *)(uintptr_t)gus_strings_get(&f->texts, i);
	m.functions = POINTERS(Gusprof__EmbeddedFunction, f->functions);
	m.n_functions = f->functions.n;
	m.code = POINTERS(Gusprof__EmbeddedCode, f->code);
	m.n_code = f->code.n;
	m.lines = POINTERS(Gusprof__EmbeddedLines, f->lines);
	m.n_lines = f->lines.n;
	m.chains = POINTERS(Gusprof__EmbeddedChain, f->chains);
	m.n_chains = f->chains.n;
	rc = gus_writer_message(t->writer, GUS_FRAME_EMBEDDED, &m.base, t->err);
	free(m.texts);
	free(m.functions);
	free(m.code);
	free(m.lines);
	free(m.chains);
	return rc;
}

static void take_off(const struct told *t, size_t bytes)
{
	*t->o->left -= bytes < *t->o->left ? bytes : *t->o->left;
}

static int write_pieces(struct told *t)
{
	size_t i = 0;
	int rc = 0;

	while (rc == 0 && i < t->choice.origins.n && *t->o->left) {
		struct frame f = { 0 };

		gus_strings_init(&f.texts);
		gus_index_init(&f.links, sizeof(struct link));
		while (i < t->choice.origins.n && f.bytes < FRAME_BYTES && f.bytes < *t->o->left)
			add_piece(t, &f, t->choice.origins.v[i++]);
		rc = write_frame(t, &f);
		take_off(t, f.bytes);
		gus_vec_free(&f.functions);
		gus_vec_free(&f.code);
		gus_vec_free(&f.lines);
		gus_vec_free(&f.chains);
		gus_index_free(&f.links);
		gus_strings_free(&f.texts);
	}
	t->without_name += t->choice.origins.n - i;
	return rc;
}

/* Where pieces were is of use only with what they are, so there is room for all of that or for none. */
static int write_choice(struct told *t)
{
	size_t bytes = t->choice.notes.n * NOTE_BYTES;
	int rc;

	if (bytes >= *t->o->left) {
		t->without_name += t->choice.origins.n;
		return 0;
	}
	take_off(t, bytes);
	rc = write_notes(t);
	return rc == 0 ? write_pieces(t) : rc;
}

/* Files. */

/* What the file has now, up to so many bytes; NULL, with errno, if it cannot be read. */
static uint8_t *read_up_to(int fd, size_t most, size_t *size, bool *cut)
{
	struct stat st;
	uint8_t *bytes;
	ssize_t n = 1;

	*size = 0;
	if (fstat(fd, &st) != 0)
		return NULL;
	*cut = (uint64_t)st.st_size > most;
	if ((uint64_t)st.st_size < most)
		most = (size_t)st.st_size;
	bytes = gus_alloc(most + 1);
	while (*size < most && n != 0) {
		n = pread(fd, bytes + *size, most - *size, (off_t)*size);
		if (n < 0 && errno != EINTR) {
			free(bytes);
			return NULL;
		}
		*size += n > 0 ? (size_t)n : 0;
	}
	return bytes;
}

static void tell(const struct told *t, const char *kind, bool cut)
{
	uint64_t left_out = t->jit.left_out + t->choice.left_out + t->without_lines + t->without_name;

	if (cut || left_out || t->without_code)
		gus_log(t->o->log, GUS_WARN, "the %s of process %u has more than gusprof takes: left out are %s%llu "
			"pieces and lines, and the code of %llu", kind, t->maker->pid,
			cut ? "its end, " : "", (unsigned long long)left_out, (unsigned long long)t->without_code);
	gus_log(t->o->log, GUS_DEBUG, "the %s of process %u tells %zu pieces of code, of which %zu were sampled; %llu "
		"lines or records make no sense", kind, t->maker->pid, t->jit.pieces.n, t->choice.origins.n,
		(unsigned long long)t->jit.bad);
}

/* One file of a maker; its pieces are in the module from *offset on. */
static int write_file(struct told *t, const struct gus_made_file *file, struct gus_jit_wish *wish, bool dump)
{
	const char *kind = dump ? "jitdump" : "perf map", *why = NULL;
	struct gus_vec(struct gus_jit_growth) growth = { 0 };
	size_t size;
	bool cut = false;
	uint8_t *bytes = read_up_to(file->fd, dump ? GUS_LIMIT_JITDUMP : GUS_LIMIT_PERF_MAP, &size, &cut);
	int rc;

	if (!bytes) {
		gus_log(t->o->log, GUS_WARN, "cannot read the %s of process %u: %s", kind, t->maker->pid,
			strerror(errno));
		return 0;
	}
	t->jit = (struct gus_jit){ 0 };
	t->without_code = t->without_lines = t->without_name = 0;
	if (dump)
		why = gus_jit_read_dump(&t->jit, bytes, size);
	else
		gus_jit_read_map(&t->jit, bytes, size);
	if (why)
		gus_log(t->o->log, GUS_NOTE, "the jitdump of process %u is not read: %s", t->maker->pid, why);
	for (size_t i = 0; i < file->growth.n; i++)
		gus_vec_push(&growth, (struct gus_jit_growth){ file->growth.v[i].size, file->growth.v[i].time });
	wish->growth = growth.v;
	wish->growth_n = growth.n;
	gus_jit_choose(&t->choice, &t->jit, wish);
	rc = write_choice(t);
	if (rc == 0)
		tell(t, kind, cut);
	wish->offset = t->choice.end;
	wish->most -= t->choice.origins.n < wish->most ? t->choice.origins.n : wish->most;
	gus_jit_choice_free(&t->choice);
	gus_jit_free(&t->jit);
	gus_vec_free(&growth);
	free(bytes);
	return rc;
}

static int write_maker(const struct told *all, const struct gus_made *made, struct gus_jit_wish *wish)
{
	struct told t = *all;
	char *module = gus_format("[jit:%u]", t.maker->pid);
	uint64_t *hits = gus_made_hits(made, t.maker->family, &wish->hits_n);
	int rc = 0;

	t.module = module;
	wish->hits = hits;
	wish->all = made->hits_full;
	if (t.maker->map.fd >= 0 && (wish->hits_n || wish->all))
		rc = write_file(&t, &t.maker->map, wish, false);
	if (rc == 0 && t.maker->dump.fd >= 0 && (wish->hits_n || wish->all))
		rc = write_file(&t, &t.maker->dump, wish, true);
	free(hits);
	free(module);
	return rc;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int gus_record_jit(const struct gus_record_jit *o, const struct gus_made *made, int64_t clock,
		   struct gus_writer *writer, struct gus_error *err)
{
	struct gus_vec(uint64_t) ends = { 0 }; /* of the modules, by number of the pid: a number may come again */
	struct gus_index pids;
	uint64_t late = 0;
	int rc = 0;

	gus_index_init(&pids, sizeof(uint32_t));
	for (size_t i = 0; rc == 0 && i < made->makers.n; i++) {
		const struct gus_maker *k = &made->makers.v[i];
		struct told t = { .o = o, .writer = writer, .err = err, .maker = k,
				  .code_left = GUS_LIMIT_JIT_CODE_ALL };
		struct gus_jit_wish wish = { .clock = clock, .since = k->since, .most = GUS_LIMIT_JIT_WRITTEN };
		bool is_new;
		uint32_t number;

		if (k->map.fd < 0 && k->trouble)
			gus_log(o->log, GUS_DEBUG, "process %u has memory for code of its own, and no perf map: %s",
				k->pid, k->trouble);
		if (k->map.fd < 0 && k->dump.fd < 0)
			continue;
		if (!*o->left || now_ns() >= o->until_ns) {
			late++;
			continue;
		}
		number = gus_index_add(&pids, &k->pid, &is_new);
		if (is_new)
			gus_vec_push(&ends, 0);
		wish.offset = ends.v[number];
		rc = write_maker(&t, made, &wish);
		ends.v[number] = wish.offset;
	}
	if (late)
		gus_log(o->log, GUS_WARN, "when the recording ended there was no time or room for the names of code "
			"that %llu processes made", (unsigned long long)late);
	if (made->left_out)
		gus_log(o->log, GUS_NOTE, "more processes make code than gusprof follows: %llu of them, or files of "
			"theirs, are left out", (unsigned long long)made->left_out);
	gus_index_free(&pids);
	gus_vec_free(&ends);
	return rc;
}
