/* SPDX-License-Identifier: MIT */
/* Names for what was sampled, at the end of a recording. While it runs, the mappings go into an address space and the
 * samples' places into gus_visits; at the end each place becomes a module and an offset, and the modules are asked in
 * the order of their samples, what is hot first. Who waits for the recording to end waits for this, so the time is
 * limited; what there was no time for is counted, and said where it matters. */
#include "cli/record/embed.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/record/jit.h"
#include "collector/host/text.h"
#include "collector/session/kept.h"
#include "collector/session/visits.h"
#include "proto/sample.h"
#include "proto/writer.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"

/* ns from the last sample on, in which names are looked for. One module is never left in the middle of its symbol
 * table, so it may be as much later as the largest one takes: 0.1 s for node's 90 MB. Between two parts of a recording
 * the rings fill meanwhile. */
#define END_NS 300000000
#define PART_NS 100000000
#define JIT_NS 1000000000       /* the same for what runtimes tell; a file of 64 MB of theirs takes 0.3 s */
#define LOOK_AT_CLOCK 64        /* places: each costs a microsecond */
#define CHANGES_MOST 1000       /* of a process's mappings, that are looked at for a place that was two files' */
#define RECORDS_MOST (1u << 17) /* of side band that are kept in memory, of some 140 bytes; later ones are not */
#define BYTES_MOST (64u << 20)  /* of messages, before compression; of all modules of a file */
#define SHARE_OF_SIZE 8         /* of --max-size, no more than that part */
#define WORTH_A_WORD 100        /* what is left out is said aloud from one in so many samples on */

struct spot { uint64_t offset, count; uint32_t module; };

/* A module's spots, and what is found of them. */
struct share {
	uint64_t count;
	size_t first, n;
	uint32_t module;
	struct gus_symbols *symbols;
	struct gus_embedding *embedding;
	uint64_t missed;                /* visits for whose names there was no time */
	uint64_t more_missed;           /* for whose lines or code there was none, though they were wanted */
	uint64_t took_ns, bytes;
};

struct work {
	struct gus_record_embed *e;
	struct gus_writer *writer;
	const struct gus_session_seen *seen;
	char boot_id[64];
	uint64_t until_ns;
	size_t left, pending;           /* bytes that may be written; that will be, of what was found already */
	struct gus_vec(struct spot) spots;
	struct gus_vec(struct share) shares;
	uint64_t all;                   /* visits */
	uint64_t late, more_late;       /* those for whose names there was no time or room; for lines and code */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Threads share their process's memory, and most names change nothing of it. */
static bool matters(const Gusprof__Record *r)
{
	switch (r->kind_case) {
	case GUSPROF__RECORD__KIND_MMAP:
		return !r->mmap->kernel;
	case GUSPROF__RECORD__KIND_COMM:
		return r->comm->exec;
	case GUSPROF__RECORD__KIND_FORK:
		return r->fork->pid != r->fork->ppid;
	default:
		return false;
	}
}

static void take_record(void *context, const Gusprof__Record *r)
{
	struct gus_record_embed *e = context;

	if (!matters(r))
		return;
	if (e->records++ < RECORDS_MOST)
		gus_space_add(e->space, r);
	else
		e->records_left_out++;
}

/* Where the visits were. */

static int by_place(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int hottest_spot(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	return x->count != y->count ? (x->count > y->count ? -1 : 1) : by_place(a, b);
}

static int hottest_share(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->module < y->module ? -1 : x->module > y->module;
}

static void add_spot(struct work *w, struct gus_place place, uint64_t count)
{
	w->all += count;
	if (gus_space_module(w->e->space, place.module)->kind == GUS_MODULE_FILE)
		gus_vec_push(&w->spots, (struct spot){ place.offset, count, place.module });
}

/* Where a process had one file after the other at a place (a plugin that is loaded anew, programs at fixed addresses
 * that execute each other) it is not known which visit was to which: it counts for each of them. */
static void add_spots_between(struct work *w, const struct gus_visit_place *p, const struct gus_visit *v)
{
	struct gus_place at = gus_space_find(w->e->space, p->pid, v->first, p->address, GUS_MODE_USER), next;
	uint64_t time = v->first;

	add_spot(w, at, v->count);
	for (int i = 0; i < CHANGES_MOST; i++) {
		time = gus_space_next_change(w->e->space, p->pid, time);
		if (time > v->last)
			break;
		next = gus_space_find(w->e->space, p->pid, time, p->address, GUS_MODE_USER);
		if (next.module != at.module || next.offset != at.offset)
			add_spot(w, next, v->count);
		at = next;
	}
}

static void find_spots(struct work *w, const struct gus_visits *visits)
{
	for (uint32_t i = 0; i < visits->places.n; i++) {
		const struct gus_visit_place *p = gus_index_key(&visits->places, i);
		const struct gus_visit *v = &visits->list.v[i];
		struct gus_place last = gus_space_find(w->e->space, p->pid, v->last, p->address, GUS_MODE_USER);
		struct gus_place first = gus_space_find(w->e->space, p->pid, v->first, p->address, GUS_MODE_USER);

		if (first.module == last.module && first.offset == last.offset)
			add_spot(w, last, v->count);
		else
			add_spots_between(w, p, v);
	}
}

/* Processes that run the same file share its spots. */
static void merge_spots(struct work *w)
{
	size_t kept = 0;

	if (w->spots.n)
		qsort(w->spots.v, w->spots.n, sizeof(*w->spots.v), by_place);
	for (size_t i = 0; i < w->spots.n; i++)
		if (kept && by_place(&w->spots.v[kept - 1], &w->spots.v[i]) == 0)
			w->spots.v[kept - 1].count += w->spots.v[i].count;
		else
			w->spots.v[kept++] = w->spots.v[i];
	w->spots.n = kept;
}

static void share_spots(struct work *w)
{
	for (size_t i = 0, end; i < w->spots.n; i = end) {
		struct share s = { .first = i, .module = w->spots.v[i].module };

		for (end = i; end < w->spots.n && w->spots.v[end].module == s.module; end++)
			s.count += w->spots.v[end].count;
		s.n = end - i;
		qsort(w->spots.v + i, s.n, sizeof(*w->spots.v), hottest_spot);
		gus_vec_push(&w->shares, s);
	}
	if (w->shares.n)
		qsort(w->shares.v, w->shares.n, sizeof(*w->shares.v), hottest_share);
}

/* What is there of them. */

static int write_message(struct work *w, struct share *share, const char *trouble, struct gus_error *err)
{
	uint64_t before = gus_writer_size(w->writer);
	Gusprof__Embedded *m;
	size_t size;
	int rc;

	w->pending -= gus_embedding_size(share->embedding);
	m = gus_embedding_take(share->embedding);
	m->trouble = (char *)(uintptr_t)(trouble ? trouble : "");
	if (!m->n_functions && !m->n_lines && !m->n_code && !trouble)
		return 0;
	size = gusprof__embedded__get_packed_size(m);
	w->left -= size < w->left ? size : w->left;
	rc = gus_writer_message(w->writer, GUS_FRAME_EMBEDDED, &m->base, err);
	share->bytes += gus_writer_size(w->writer) - before;
	return rc;
}

static bool is_over(const struct work *w)
{
	return now_ns() >= w->until_ns;
}

/* So much of all spots of a module that there is time for. */
static int add_spots(struct work *w, struct share *share, enum gus_embed what, struct gus_error *err)
{
	uint64_t *missed = what > GUS_EMBED_SYMBOLS ? &share->more_missed : &share->missed, begun = now_ns();
	bool over = false;

	for (size_t i = 0; i < share->n; i++) {
		const struct spot *spot = &w->spots.v[share->first + i];
		size_t size = gus_embedding_size(share->embedding);

		over = over || w->pending >= w->left || (i % LOOK_AT_CLOCK == 0 && is_over(w));
		if (over)
			*missed += spot->count;
		else
			gus_embedding_add(share->embedding, spot->offset, what);
		w->pending += gus_embedding_size(share->embedding) - size;
		if (gus_embedding_is_full(share->embedding) && write_message(w, share, NULL, err) != 0)
			return -1;
	}
	share->took_ns += now_ns() - begun;
	return 0;
}

/* What the reader of the recording is told, if the file itself is not there; NULL if nothing is wrong. */
static char *trouble_of(struct work *w, const struct share *share)
{
	struct gus_embedded_sums sums = gus_embedding_sums(share->embedding);
	const char *of_file;

	if (share->missed)
		return gus_format("when the recording ended there was no time or room for the names of %.1f %% of "
				  "what was sampled in it", 100.0 * (double)share->missed / (double)share->count);
	if (share->more_missed)
		return gus_format("when the recording ended there was no time or room for the lines%s of %.1f %% of "
				  "what was sampled in it", w->e->what == GUS_EMBED_ALL ? " and the code" : "",
				  100.0 * (double)share->more_missed / (double)share->count);
	if (sums.bare)
		return gus_format("when the recording ended there was no time or room for all lines and code of %llu "
				  "functions", (unsigned long long)sums.bare);
	of_file = gus_symbols_trouble(share->symbols, gus_space_module(w->e->space, share->module));
	return of_file ? gus_strdup(of_file) : NULL;
}

/* The file as it was when it was mapped, in whichever mount namespace, and whatever has its name by now. */
static int open_kept(void *kept, const struct gus_module *m)
{
	return gus_kept_open(kept, m->build_id, m->build_id_size, m->inode, m->major, m->minor);
}

static void open_share(struct work *w, struct share *share)
{
	const struct gus_symbols_options options = { .raw_names = true, .boot_id = w->boot_id, .open = open_kept,
						     .open_context = (void *)(uintptr_t)w->seen->kept };

	share->symbols = gus_symbols_new(&options, w->e->log);
	share->embedding = gus_embedding_new(share->symbols, gus_space_module(w->e->space, share->module), w->until_ns);
}

/* Writes the rest, and forgets the module. */
static int close_share(struct work *w, struct share *share, struct gus_error *err)
{
	struct gus_embedded_sums sums = gus_embedding_sums(share->embedding);
	char *trouble = trouble_of(w, share);
	int rc = write_message(w, share, trouble, err);

	gus_log(w->e->log, GUS_DEBUG, "%s: names of %llu functions, lines of %llu bytes of code, %llu bytes of code, "
		"in %llu bytes and %.1f ms%s%s", gus_space_module(w->e->space, share->module)->path,
		(unsigned long long)sums.functions, (unsigned long long)sums.line_bytes,
		(unsigned long long)sums.code_bytes, (unsigned long long)share->bytes, (double)share->took_ns / 1e6,
		trouble ? "; " : "", trouble ? trouble : "");
	w->late += share->missed;
	w->more_late += share->more_missed;
	w->e->functions += sums.functions;
	w->e->line_bytes += sums.line_bytes;
	w->e->code_bytes += sums.code_bytes;
	free(trouble);
	gus_embedding_free(share->embedding);
	gus_symbols_free(share->symbols);
	return rc;
}

/* First the names of all modules, then, if that is wanted, their lines and code. Where it is not, no module is kept
 * longer than it is asked. */
static int embed_all(struct work *w, struct gus_error *err)
{
	bool more = w->e->what > GUS_EMBED_SYMBOLS;
	int rc = 0;

	for (size_t i = 0; i < w->shares.n; i++) {
		open_share(w, &w->shares.v[i]);
		if (rc == 0)
			rc = add_spots(w, &w->shares.v[i], GUS_EMBED_SYMBOLS, err);
		if (!more && close_share(w, &w->shares.v[i], err) != 0)
			rc = -1;
	}
	for (size_t i = 0; more && i < w->shares.n; i++) {
		if (rc == 0)
			rc = add_spots(w, &w->shares.v[i], w->e->what, err);
		if (close_share(w, &w->shares.v[i], err) != 0)
			rc = -1;
	}
	return rc;
}

/* Aloud if it is one in so many samples. */
static void tell_late(const struct work *w, uint64_t late, const char *what)
{
	if (late)
		gus_log(w->e->log, late >= w->all / WORTH_A_WORD ? GUS_WARN : GUS_DEBUG,
			"when the recording ended there was no time or room for the %s of %.1f %% of what was sampled: "
			"these come from its files, where they are there and unchanged", what,
			100.0 * (double)late / (double)w->all);
}

static void tell(const struct work *w)
{
	tell_late(w, w->late, "names");
	tell_late(w, w->more_late, w->e->what == GUS_EMBED_ALL ? "lines and code" : "lines");
	if (w->e->records_left_out)
		gus_log(w->e->log, GUS_DEBUG, "%llu mappings and births came when there was no more room to look at "
			"them: names of processes from then on come from their files",
			(unsigned long long)w->e->records_left_out);
}

static int name(void *context, struct gus_writer *writer, const struct gus_session_seen *seen, struct gus_error *err)
{
	struct gus_record_embed *e = context;
	struct work w = { .e = e, .writer = writer, .seen = seen, .left = e->most,
			  .until_ns = now_ns() + (seen->last ? END_NS : PART_NS) };
	size_t jit_left = e->most / 2; /* a runtime that tells too much leaves room for the names of files */
	const struct gus_record_jit jit = { .log = e->log, .lines = e->what >= GUS_EMBED_LINES, .left = &jit_left,
					    .until_ns = now_ns() + JIT_NS };
	uint64_t before = gus_writer_size(writer);
	int rc = gus_record_jit(&jit, seen->made, seen->clock, writer, err);

	w.left -= e->most / 2 - jit_left;

	if (!gus_read_text("/proc/sys/kernel/random/boot_id", w.boot_id, sizeof(w.boot_id)))
		w.boot_id[0] = '\0';
	gus_space_ready(e->space);
	find_spots(&w, seen->visits);
	merge_spots(&w);
	share_spots(&w);
	if (rc == 0)
		rc = embed_all(&w, err);
	tell(&w);
	e->bytes += gus_writer_size(writer) - before;
	gus_vec_free(&w.spots);
	gus_vec_free(&w.shares);
	gus_space_free(e->space);
	e->space = gus_space_new();
	e->records = 0;
	e->records_left_out = 0;
	return rc;
}

void gus_record_embed_init(struct gus_record_embed *e, enum gus_embed what, uint64_t max_size,
			   const struct gus_log *log)
{
	*e = (struct gus_record_embed){ .what = what, .log = log, .namer = { take_record, name, e },
					.space = gus_space_new(), .most = BYTES_MOST };
	if (max_size && max_size / SHARE_OF_SIZE < e->most)
		e->most = (size_t)(max_size / SHARE_OF_SIZE);
}

void gus_record_embed_free(struct gus_record_embed *e)
{
	gus_space_free(e->space);
}
