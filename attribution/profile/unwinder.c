/* SPDX-License-Identifier: MIT */
#include "attribution/profile/unwinder.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/sample.h"
#include "symbolizer/space/space.h"
#include "symbolizer/unwind/copied.h"

#define CONTEXT_USER ((uint64_t)-512) /* PERF_CONTEXT_USER */

/* Each thread has its own tables of each file, a twentieth of its size, so that they need no locks. */
enum { THREADS = 8, TOGETHER = 16 };

struct worker {
	struct gus_unwinder *u;
	pthread_t thread;
	struct gus_space *space;
	struct gus_unwind_files *files;
	struct gus_vec(struct gus_unwind_file *) by_module; /* NULL: not asked for yet */
	struct gus_unwind_copied *engine;
	struct gus_column_values found;       /* of the batch, one chain behind the other */
};

/* Where the callers of a row are. */
struct result {
	uint32_t worker, n;
	size_t at;
	uint64_t callers;
};

struct gus_unwinder {
	struct worker workers[THREADS]; /* the first is whoever calls */
	unsigned n, most;             /* that there are, none before the first batch; that there may be */
	unsigned machine;             /* EM_*: of whom the registers are */
	const struct gus_space *space;
	const struct gus_symbols_options *options;
	const struct gus_columns *rows;
	struct result *results;
	pthread_mutex_t lock;
	pthread_cond_t begun, ended;
	uint64_t batch;               /* that is under way, counted; the last one that each thread knows is its own */
	unsigned busy;
	bool over;
};

/* A sample's process, as it was then. */
struct moment {
	struct worker *w;
	uint32_t pid;
	uint64_t time;
};

static struct gus_unwind_file *file_of(struct worker *w, uint32_t number, const struct gus_module *module)
{
	while (w->by_module.n <= number)
		gus_vec_push(&w->by_module, NULL);
	if (!w->by_module.v[number])
		w->by_module.v[number] = gus_unwind_files_get(w->files, module);
	return w->by_module.v[number];
}

static bool find_code(void *context, uint64_t address, struct gus_unwind_code *code)
{
	const struct moment *m = context;
	struct gus_place place = gus_space_find(m->w->space, m->pid, m->time, address, GUS_MODE_USER);
	const struct gus_module *module = gus_space_module(m->w->space, place.module);
	bool has_file = module->kind == GUS_MODULE_FILE || module->kind == GUS_MODULE_VDSO;

	code->file = has_file ? file_of(m->w, place.module, module) : NULL;
	code->offset = place.offset;
	return module->kind != GUS_MODULE_UNKNOWN;
}

/* What the kernel interrupted is a caller of its code; in user space it is the sample itself. */
static uint32_t find_callers(struct worker *w, const struct gus_sample *s, uint64_t *out, uint64_t *callers)
{
	struct moment m = { w, s->pid, s->time };
	struct gus_unwind_view view = { .code = find_code, .context = &m, .stack = s->stack,
					.stack_bytes = s->stack_n * sizeof(*s->stack) };
	struct gus_unwind_regs regs;
	uint32_t n = 0;

	*callers = GUS_CALLERS_ABI;
	if (!gus_unwind_regs_of(&regs, w->u->machine, s))
		return 0;
	view.stack_at = regs.v[w->u->machine == EM_X86_64 ? 7 : 31];
	if (s->mode != GUS_MODE_USER)
		out[n++] = regs.v[w->u->machine == EM_X86_64 ? 16 : 32];
	return n + gus_unwind_copied(w->engine, &view, &regs, out + n, GUS_UNWIND_FRAMES_MOST - n, callers);
}

static void take_row(struct worker *w, size_t row)
{
	const struct gus_sample s = gus_columns_sample(w->u->rows, row);
	struct result *r = &w->u->results[row];

	*r = (struct result){ .worker = (uint32_t)(w - w->u->workers), .at = w->found.n, .callers = s.callers };
	if (!s.regs_n)
		return;
	gus_vec_reserve(&w->found, w->found.n + GUS_UNWIND_FRAMES_MOST);
	r->n = find_callers(w, &s, w->found.v + w->found.n, &r->callers);
	w->found.n += r->n;
}

/* Each takes its turn whether others are done or not: what its files have cost by then, and which are asked no more for
 * that, is no matter of chance. */
static void take_rows(struct worker *w)
{
	struct gus_unwinder *u = w->u;

	w->found.n = 0;
	for (size_t from = (size_t)(w - u->workers) * TOGETHER; from < u->rows->n; from += u->n * TOGETHER)
		for (size_t i = from; i < from + TOGETHER && i < u->rows->n; i++)
			take_row(w, i);
}

static void *work(void *context)
{
	struct worker *w = context;
	struct gus_unwinder *u = w->u;
	uint64_t done = 0;

	pthread_mutex_lock(&u->lock);
	for (;;) {
		while (!u->over && u->batch == done)
			pthread_cond_wait(&u->begun, &u->lock);
		if (u->over)
			break;
		done = u->batch;
		pthread_mutex_unlock(&u->lock);
		take_rows(w);
		pthread_mutex_lock(&u->lock);
		if (!--u->busy)
			pthread_cond_signal(&u->ended);
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

static void equip(struct worker *w)
{
	w->space = gus_space_view(w->u->space);
	w->files = gus_unwind_files_new(w->u->options);
	gus_unwind_files_share(w->files, w->u->most);
	w->engine = gus_unwind_copied_new(w->u->machine);
}

static void strip(struct worker *w)
{
	gus_unwind_copied_free(w->engine);
	gus_unwind_files_free(w->files);
	gus_space_free(w->space);
	gus_vec_free(&w->by_module);
	gus_vec_free(&w->found);
}

static unsigned machine_of(const Gusprof__Header *header)
{
	const char *name = header->host ? header->host->machine : "";

	if (strcmp(name, "x86_64") == 0)
		return EM_X86_64;
	return strcmp(name, "aarch64") == 0 ? EM_AARCH64 : EM_NONE;
}

void gus_unwinder_limit(struct gus_unwinder *u, unsigned threads)
{
	u->most = threads < THREADS ? threads : THREADS;
}

struct gus_unwinder *gus_unwinder_new(const struct gus_space *space, const struct gus_symbols_options *options,
				      const Gusprof__Header *header)
{
	struct gus_unwinder *u = gus_zalloc(sizeof(*u));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	u->space = space;
	u->options = options;
	u->machine = machine_of(header);
	gus_unwinder_limit(u, cpus > 0 ? (unsigned)cpus : 1);
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->begun, NULL);
	pthread_cond_init(&u->ended, NULL);
	return u;
}

static void begin(struct gus_unwinder *u)
{
	for (u->n = 0; u->n < u->most; u->n++) {
		struct worker *w = &u->workers[u->n];

		w->u = u;
		equip(w);
		/* With fewer threads than wanted it takes longer, and that is all. */
		if (u->n && pthread_create(&w->thread, NULL, work, w) != 0) {
			strip(w);
			break;
		}
	}
}

void gus_unwinder_free(struct gus_unwinder *u)
{
	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->over = true;
	pthread_cond_broadcast(&u->begun);
	pthread_mutex_unlock(&u->lock);
	for (unsigned i = 1; i < u->n; i++)
		pthread_join(u->workers[i].thread, NULL);
	for (unsigned i = 0; i < u->n; i++)
		strip(&u->workers[i]);
	pthread_cond_destroy(&u->begun);
	pthread_cond_destroy(&u->ended);
	pthread_mutex_destroy(&u->lock);
	free(u->results);
	free(u);
}

static void run_all(struct gus_unwinder *u)
{
	pthread_mutex_lock(&u->lock);
	u->batch++;
	u->busy = u->n - 1;
	pthread_cond_broadcast(&u->begun);
	pthread_mutex_unlock(&u->lock);
	take_rows(&u->workers[0]);
	pthread_mutex_lock(&u->lock);
	while (u->busy)
		pthread_cond_wait(&u->ended, &u->lock);
	pthread_mutex_unlock(&u->lock);
}

static void append(struct gus_column_values *chain, const struct gus_unwinder *u, const struct result *r)
{
	if (!r->n)
		return;
	gus_vec_push(chain, CONTEXT_USER);
	gus_vec_append(chain, u->workers[r->worker].found.v + r->at, r->n);
}

/* The batch's chains made anew, each with what was found behind it. */
static void put_chains(const struct gus_unwinder *u, struct gus_columns *rows)
{
	struct gus_column_values chain = { 0 }, *callers = &rows->column[GUS_COL_CALLERS];
	uint64_t *counts = rows->column[GUS_COL_CHAIN_N].v;

	gus_vec_reserve(&chain, rows->chain.n);
	callers->n = 0;
	for (size_t i = 0; i < rows->n; i++) {
		size_t begin = chain.n;

		gus_vec_append(&chain, rows->chain.v + rows->chain_end.v[i] - counts[i], counts[i]);
		append(&chain, u, &u->results[i]);
		counts[i] = chain.n - begin;
		rows->chain_end.v[i] = chain.n;
		gus_vec_push(callers, u->results[i].callers);
	}
	gus_vec_free(&rows->chain);
	rows->chain = chain;
}

/* A batch may wait for its turn, and does so without them. */
static void drop_stacks(struct gus_columns *rows)
{
	memset(rows->column[GUS_COL_STACK_N].v, 0, rows->n * sizeof(uint64_t));
	memset(rows->stack_end.v, 0, rows->n * sizeof(uint64_t));
	gus_vec_free(&rows->stack);
}

static void drop_registers(struct gus_columns *rows)
{
	memset(rows->column[GUS_COL_REGS_N].v, 0, rows->n * sizeof(uint64_t));
	memset(rows->regs_end.v, 0, rows->n * sizeof(uint64_t));
	gus_vec_free(&rows->regs);
}

void gus_unwinder_run(struct gus_unwinder *u, struct gus_columns *rows, bool keep_registers)
{
	if (!rows->regs.n)
		return;
	if (!u->n)
		begin(u);
	u->rows = rows;
	u->results = gus_resize(u->results, rows->n, sizeof(*u->results));
	run_all(u);
	put_chains(u, rows);
	drop_stacks(rows);
	if (!keep_registers)
		drop_registers(rows);
}
