/* SPDX-License-Identifier: MIT */
#include "symbolizer/symbols/recall.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/identity.h"
#include "base/limits.h"
#include "base/store.h"
#include "symbolizer/elf/dwarf.h"

#define CALLS_MAX 64 /* of one address; more than names that are shown */

static void add_identity(struct gus_recall *r, const struct gus_elf *e)
{
	const struct gus_identity identity = gus_identity_of(e ? &e->stat : NULL);

	gus_vec_append(&r->key, (const uint8_t *)&identity, sizeof(identity));
}

/* The build id is for people who look into the folder. */
static char *name_of(const struct gus_recall *r, const struct gus_elf *holder)
{
	char hex[2 * 20 + 1] = "";

	for (size_t i = 0; i < holder->build_id_size && i < sizeof(hex) / 2; i++)
		snprintf(hex + 2 * i, 3, "%02x", holder->build_id[i]);
	return gus_format("%s-%016llx", hex, (unsigned long long)XXH3_64bits(r->key.v, r->key.n));
}

/* Whether all files are there that there is to ask: a file that can be known again, with a build id, and the one that
 * it shares with others. */
static bool is_whole(struct gus_elf *holder, const struct gus_elf *code, const struct gus_elf *shared)
{
	GElf_Shdr header;

	return holder->build_id_size && holder->loaded && code->loaded &&
	       (shared || !gus_elf_section(holder, ".gnu_debugaltlink", &header));
}

void gus_recall_open(struct gus_recall *r, struct gus_store *store, struct gus_elf *holder,
		     const struct gus_elf *code, const struct gus_elf *shared)
{
	size_t size;
	uint8_t *bytes;

	*r = (struct gus_recall){ .store = store };
	gus_answers_init(&r->answers);
	if (!store || !is_whole(holder, code, shared)) {
		r->store = NULL;
		return;
	}
	gus_vec_append(&r->key, holder->build_id, holder->build_id_size);
	add_identity(r, holder);
	add_identity(r, code);
	add_identity(r, shared);
	r->name = name_of(r, holder);
	bytes = gus_store_read(store, r->name, GUS_LIMIT_CACHE_FILE, &size);
	if (bytes)
		gus_answers_read(&r->answers, r->key.v, r->key.n, bytes, size);
	free(bytes);
}

void gus_recall_close(struct gus_recall *r)
{
	gus_answers_free(&r->answers);
	gus_vec_free(&r->key);
	free(r->name);
}

const struct gus_answer *gus_recall_find(const struct gus_recall *r, uint64_t address)
{
	return gus_answers_find(&r->answers, address);
}

static uint32_t add_calls(struct gus_answers *a, const struct gus_call *calls, size_t n)
{
	uint32_t number = 0;

	while (n--)
		number = gus_answers_call(a, &(struct gus_answer_call){
			.name = gus_answers_text(a, calls[n].name), .file = gus_answers_text(a, calls[n].file),
			.line = calls[n].line, .around = number });
	return number;
}

static struct gus_answer ask(struct gus_answers *a, struct gus_dwarf *d, uint64_t address, bool calls)
{
	struct gus_answer answer = { 0 };
	struct gus_call list[CALLS_MAX];
	const char *file = NULL, *outer = NULL;

	if (gus_dwarf_line(d, address, &file, &answer.line))
		answer.file = gus_answers_text(a, file);
	if (!calls)
		return answer;
	answer.call = add_calls(a, list, gus_dwarf_calls(d, address, list, CALLS_MAX, &outer));
	answer.outer = gus_answers_text(a, outer);
	return answer;
}

struct gus_answer gus_recall_ask(struct gus_recall *r, struct gus_dwarf *d, uint64_t address, bool calls)
{
	struct gus_answer answer = ask(&r->answers, d, address, calls);

	if (calls && r->store && gus_dwarf_extent(d, address, &answer.low, &answer.high)) {
		gus_answers_add(&r->answers, &answer);
		r->changed = true;
	}
	return answer;
}

/* Many at once. libdw is not made for several threads, so each has a handle of its own over the same bytes, and a part
 * of what the files may cost. Addresses that lie together are asked by the same thread, so most units are read by one.
 * If one of them has too little for its part, nothing counts of all of them, and who asks one by one has the whole. */

/* Addresses that are worth a thread, whose start and handle take about a millisecond; and threads. Units at the edges
 * of their parts are read by two of them: with 160 MB of DWARF in 84 units two or four threads take as much CPU time as
 * one (1.6 s), and eight nearly twice as much. */
enum { WORTH_IT = 256, THREADS = 8 };

struct worker {
	pthread_t thread;
	bool runs;
	struct gus_elf *holder, *shared;
	const struct gus_elf *code;
	const uint64_t *addresses;
	size_t n;
	struct gus_answers answers;
	bool good;
};

static void *work(void *context)
{
	struct worker *w = context;
	struct gus_dwarf *d = gus_dwarf_open(w->holder, w->code, w->shared);
	uint64_t end = 0;

	for (size_t i = 0; d && i < w->n; i++) {
		struct gus_answer answer;

		if (w->addresses[i] < end)
			continue;
		answer = ask(&w->answers, d, w->addresses[i], true);
		if (!gus_dwarf_extent(d, w->addresses[i], &answer.low, &answer.high))
			continue;
		gus_answers_add(&w->answers, &answer);
		end = answer.high;
	}
	w->good = d && !w->holder->trouble && !(w->shared && w->shared->trouble);
	gus_dwarf_close(d);
	return NULL;
}

static bool begin(struct worker *w, struct gus_elf *holder, const struct gus_elf *code, struct gus_elf *shared,
		  unsigned parts)
{
	gus_answers_init(&w->answers);
	w->holder = gus_elf_view(holder, parts);
	w->shared = shared ? gus_elf_view(shared, parts) : NULL;
	w->code = code;
	return w->holder && (w->shared || !shared);
}

static void end(struct worker *w)
{
	gus_answers_free(&w->answers);
	gus_elf_close(w->holder);
	gus_elf_close(w->shared);
}

static void run_all(struct worker *workers, unsigned n)
{
	/* The last part is this thread's, and so is what no thread could be had for. */
	for (unsigned i = 0; i + 1 < n; i++)
		workers[i].runs = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
	for (unsigned i = 0; i < n; i++)
		if (!workers[i].runs)
			work(&workers[i]);
	for (unsigned i = 0; i < n; i++)
		if (workers[i].runs)
			pthread_join(workers[i].thread, NULL);
}

static unsigned threads_for(size_t n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = n / WORTH_IT;

	if (threads > THREADS)
		threads = THREADS;
	return cpus > 0 && threads > (size_t)cpus ? (unsigned)cpus : (unsigned)threads;
}

void gus_recall_ask_all(struct gus_recall *r, struct gus_dwarf *d, struct gus_elf *holder, const struct gus_elf *code,
			struct gus_elf *shared, const uint64_t *addresses, size_t n)
{
	struct worker workers[THREADS] = { 0 };
	unsigned threads = gus_dwarf_is_still(d) ? threads_for(n) : 0;
	bool good = threads > 1;
	uint64_t made = 0;
	size_t at = 0;

	for (unsigned i = 0; good && i < threads; i++) {
		workers[i].addresses = addresses + at;
		workers[i].n = n * (i + 1) / threads - at;
		at += workers[i].n;
		good = begin(&workers[i], holder, code, shared, threads);
	}
	if (good)
		run_all(workers, threads);
	for (unsigned i = 0; good && i < threads; i++) {
		good = workers[i].good;
		made += holder->made.left / threads - (workers[i].holder ? workers[i].holder->made.left : 0);
	}
	if (good && gus_elf_charge(holder, &holder->made, made, gus_elf_total)) {
		for (unsigned i = 0; i < threads; i++)
			gus_answers_join(&r->answers, &workers[i].answers);
		r->changed = true;
	}
	for (unsigned i = 0; i < threads; i++)
		if (workers[i].answers.strings.n)
			end(&workers[i]);
}

int gus_recall_save(const struct gus_recall *r, struct gus_error *err)
{
	size_t size;
	uint8_t *bytes;
	int rc = 0;

	if (!r->store || !r->changed)
		return 0;
	bytes = gus_answers_write(&r->answers, r->key.v, r->key.n, &size);
	/* A program whose answers are more than fit is asked about too many places for them to be of use. */
	if (size <= GUS_LIMIT_CACHE_FILE)
		rc = gus_store_write(r->store, r->name, bytes, size, err);
	free(bytes);
	return rc;
}
