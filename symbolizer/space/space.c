/* SPDX-License-Identifier: MIT */
/* The history of address spaces. Records are noted as they come, sorted by time once, and played through a state that
 * keeps its past: each process is a list of (since when, which map), see spans.h; each thread one of names. */
#include "symbolizer/space/space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/index.h"
#include "proto/sample.h"
#include "symbolizer/space/module.h"
#include "symbolizer/space/spans.h"

#define KERNEL_MODULE 1u
#define RECENT 64u /* a power of two: processes whose last answer is kept */

/* The value of a span is its module's number, and this bit where processes share what is mapped. */
#define SHARED (UINT32_C(1) << 31)
#define MAPPED_SHARED 1u /* MAP_SHARED of mmap(2), the same for all machines */

enum note_kind { NOTE_MMAP, NOTE_COMM, NOTE_EXEC, NOTE_FORK, NOTE_JIT, NOTE_KERNEL };

/* A record, until gus_space_ready has played it. */
struct note {
	uint64_t time;
	uint64_t order;                /* of arrival: the order among equal times */
	uint64_t start, length, offset;
	uint32_t pid, tid, ppid, ptid;
	uint32_t name;                 /* of strings: path or comm */
	uint32_t identity;             /* of identities: what makes a mapped module itself */
	uint32_t build_id;             /* of strings */
	uint32_t build_id_size;
	uint64_t inode, generation;
	uint32_t major, minor;         /* of its device */
	enum note_kind kind;
	bool shared;                   /* of a mapping: MAP_SHARED */
};

/* From this time on the value (a map's root, or a string) holds. */
struct since {
	uint64_t time;
	uint32_t value;
};

struct past gus_vec(struct since);

struct pasts {
	struct gus_index ids;          /* pid or tid */
	struct gus_vec(struct past) list;
};

/* Layers of addresses: of a process what is mapped, and what code it has made in memory of its own; of process 0 alone,
 * as all have the same, the kernel's modules. */
enum layer { MAPPED, MADE, OF_PROCESSES, KERNEL = OF_PROCESSES, LAYERS };

/* The last answer for a process in a layer: most samples hit the mapping that the sample before them hit. */
struct recent {
	uint64_t from, until;          /* times for which root holds; empty if unused */
	uint32_t pid;
	uint32_t root;
	struct gus_span span;          /* low == high if none */
};

struct gus_space {
	struct gus_vec(struct note) notes;
	struct gus_strings strings;
	struct gus_strings identities;
	struct gus_spans spans;
	struct pasts maps[LAYERS];     /* by pid, roots */
	struct pasts comms;            /* by tid, strings */
	struct pasts programs;         /* by pid, since each exec: a module + 1; 0: nothing is mapped yet */
	struct gus_vec(struct gus_module) modules;
	struct gus_vec(uint32_t) module_of; /* an identity's module + 1, 0 if it has none yet */
	struct recent recent[LAYERS][RECENT];
	bool ready, is_view;           /* a view's lists are another one's */
};

static void pasts_init(struct pasts *p)
{
	memset(p, 0, sizeof(*p));
	gus_index_init(&p->ids, sizeof(uint32_t));
}

static void pasts_free(struct pasts *p)
{
	for (size_t i = 0; i < p->list.n; i++)
		gus_vec_free(&p->list.v[i]);
	gus_vec_free(&p->list);
	gus_index_free(&p->ids);
}

struct gus_space *gus_space_new(void)
{
	struct gus_space *s = gus_zalloc(sizeof(*s));

	gus_strings_init(&s->strings);
	gus_strings_init(&s->identities);
	gus_spans_init(&s->spans);
	for (size_t i = 0; i < LAYERS; i++)
		pasts_init(&s->maps[i]);
	pasts_init(&s->comms);
	pasts_init(&s->programs);
	gus_vec_push(&s->modules, (struct gus_module){ .kind = GUS_MODULE_UNKNOWN, .path = "[unknown]" });
	gus_vec_push(&s->modules, (struct gus_module){ .kind = GUS_MODULE_KERNEL, .path = GUS_MODULE_KERNEL_ITSELF });
	return s;
}

void gus_space_free(struct gus_space *s)
{
	if (!s || s->is_view) {
		free(s);
		return;
	}
	gus_vec_free(&s->notes);
	gus_vec_free(&s->modules);
	gus_vec_free(&s->module_of);
	for (size_t i = 0; i < LAYERS; i++)
		pasts_free(&s->maps[i]);
	pasts_free(&s->comms);
	pasts_free(&s->programs);
	gus_spans_free(&s->spans);
	gus_strings_free(&s->identities);
	gus_strings_free(&s->strings);
	free(s);
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

/* Code that a process made, and the kernel's own, are no files, whatever their names: no path of a mapping begins so,
 * as the kernel writes none with such a byte. */
enum { MADE_CODE = 1, KERNEL_CODE };

static uint32_t identify(struct gus_space *s, char of, const char *path)
{
	char *key = gus_format("%c%s", of, path);
	uint32_t number = gus_strings_add(&s->identities, key);

	free(key);
	return number;
}

static void add_jit(struct gus_space *s, const Gusprof__Jit *j)
{
	const char *path = text_of(j->path);

	gus_vec_push(&s->notes, (struct note){
		.kind = NOTE_JIT, .time = j->time, .order = s->notes.n, .pid = j->pid, .start = j->address,
		.length = j->size, .offset = j->offset, .name = gus_strings_add(&s->strings, path),
		.identity = identify(s, MADE_CODE, path) });
}

/* Nobody says when modules came and went, so they are there at all times, and the last one that was told of is. */
static void add_kernel(struct gus_space *s, const char *name, uint64_t start, uint64_t length, const uint8_t *build_id,
		       size_t build_id_size)
{
	gus_vec_push(&s->notes, (struct note){
		.kind = NOTE_KERNEL, .order = s->notes.n, .start = start, .length = length, .offset = start,
		.name = gus_strings_add(&s->strings, name), .identity = identify(s, KERNEL_CODE, name),
		.build_id = build_id_size ? gus_strings_add_n(&s->strings, (const char *)build_id, build_id_size) : 0,
		.build_id_size = (uint32_t)build_id_size });
}

static void add_mmap(struct gus_space *s, const Gusprof__Mmap *m)
{
	char *name;

	if (m->kernel) {
		name = gus_module_of_kernel(text_of(m->path));
		if (name)
			add_kernel(s, name, m->start, m->length, m->build_id.data, m->build_id.len);
		free(name);
		return;
	}
	gus_vec_push(&s->notes, (struct note){
		.kind = NOTE_MMAP, .time = m->time, .order = s->notes.n, .pid = m->pid, .tid = m->tid,
		.start = m->start, .length = m->length, .offset = m->offset,
		.name = gus_strings_add(&s->strings, gus_module_path(m)),
		.identity = gus_module_identify(&s->identities, m),
		.build_id = m->build_id.len ? gus_strings_add_n(&s->strings, (const char *)m->build_id.data,
								m->build_id.len) : 0,
		.build_id_size = (uint32_t)m->build_id.len, .inode = m->inode, .generation = m->generation,
		.major = m->major, .minor = m->minor, .shared = m->flags & MAPPED_SHARED });
}

static void add_comm(struct gus_space *s, const Gusprof__Comm *c)
{
	gus_vec_push(&s->notes, (struct note){
		.kind = c->exec ? NOTE_EXEC : NOTE_COMM, .time = c->time, .order = s->notes.n, .pid = c->pid,
		.tid = c->tid, .name = gus_strings_add(&s->strings, text_of(c->name)) });
}

static void add_fork(struct gus_space *s, const Gusprof__Task *f)
{
	gus_vec_push(&s->notes, (struct note){
		.kind = NOTE_FORK, .time = f->time, .order = s->notes.n, .pid = f->pid, .tid = f->tid,
		.ppid = f->ppid, .ptid = f->ptid });
}

void gus_space_add(struct gus_space *s, const Gusprof__Record *record)
{
	assert(!s->ready);
	switch (record->kind_case) {
	case GUSPROF__RECORD__KIND_MMAP:
		add_mmap(s, record->mmap);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		add_comm(s, record->comm);
		break;
	case GUSPROF__RECORD__KIND_FORK:
		add_fork(s, record->fork);
		break;
	case GUSPROF__RECORD__KIND_JIT:
		add_jit(s, record->jit);
		break;
	default:
		/* An exit ends nothing that is asked about: threads of the process may live on, and when its number is
		 * given out again the fork that does so says what the new one starts with. */
		break;
	}
}

void gus_space_add_kernel(struct gus_space *s, const Gusprof__KernelSymbols *symbols)
{
	assert(!s->ready);
	for (size_t i = 0; i < symbols->n_symbols; i++) {
		const Gusprof__Symbol *symbol = symbols->symbols[i];
		char *name;

		if (!*text_of(symbol->module))
			continue;
		name = gus_format("[%s]", symbol->module);
		add_kernel(s, name, symbol->address, symbol->size, NULL, 0);
		free(name);
	}
}

static struct past *past_of(struct pasts *p, uint32_t id)
{
	bool is_new;
	uint32_t number = gus_index_add(&p->ids, &id, &is_new);

	if (is_new)
		gus_vec_push(&p->list, (struct past){ 0 });
	return &p->list.v[number];
}

static uint32_t latest(const struct pasts *p, uint32_t id)
{
	uint32_t number = gus_index_find(&p->ids, &id);
	const struct past *past = number == GUS_INDEX_NONE ? NULL : &p->list.v[number];

	return past && past->n ? past->v[past->n - 1].value : 0;
}

/* Of several at one time only the last can ever be asked for. */
static void past_set(struct past *past, uint64_t time, uint32_t value)
{
	if (past->n && past->v[past->n - 1].time == time)
		past->v[past->n - 1].value = value;
	else
		gus_vec_push(past, (struct since){ time, value });
}

/* How many entries are not later than time. */
static size_t past_until(const struct past *past, uint64_t time)
{
	size_t low = 0, high = past->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (past->v[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t past_value(const struct past *past, uint64_t time)
{
	size_t n = past_until(past, time);

	return n ? past->v[n - 1].value : 0;
}

static enum gus_module_kind kind_of(const struct note *n, const char *path)
{
	return n->kind == NOTE_JIT ? GUS_MODULE_JIT : n->kind == NOTE_KERNEL ? GUS_MODULE_KERNEL :
		gus_module_kind_with(path, n->build_id_size);
}

static uint32_t module_of(struct gus_space *s, const struct note *n)
{
	uint32_t *number = &s->module_of.v[n->identity];
	const char *path = gus_strings_get(&s->strings, n->name);
	const uint8_t *id = (const uint8_t *)gus_strings_get(&s->strings, n->build_id);

	if (!*number) {
		gus_vec_push(&s->modules, (struct gus_module){ .kind = kind_of(n, path), .path = path,
			.build_id = n->build_id_size ? id : NULL, .build_id_size = n->build_id_size,
			.inode = n->inode, .major = n->major, .minor = n->minor, .generation = n->generation });
		*number = (uint32_t)s->modules.n;
	}
	return *number - 1;
}

static uint64_t end_of(const struct note *n)
{
	uint64_t end;

	return __builtin_add_overflow(n->start, n->length, &end) ? UINT64_MAX : end;
}

/* Of no length, or what is left of it before the end of all addresses. */
static bool is_empty(const struct note *n)
{
	return end_of(n) == n->start;
}

static void play_span(struct gus_space *s, struct pasts *maps, const struct note *n)
{
	struct gus_span span = { .low = n->start, .high = end_of(n), .value = module_of(s, n) };
	struct past *past = past_of(maps, n->pid);

	if (s->modules.v[span.value].kind != GUS_MODULE_ANON)
		span.delta = n->offset - n->start;
	/* Without a file there is no telling whose memory it is the same as. */
	if (n->shared && s->modules.v[span.value].kind == GUS_MODULE_FILE)
		span.value |= SHARED;
	past_set(past, n->time, gus_spans_cover(&s->spans, latest(maps, n->pid), &span));
}

/* What is mapped first behind an exec is what it executes. */
static void play_program(struct gus_space *s, const struct note *n)
{
	uint32_t number = gus_index_find(&s->programs.ids, &n->pid);
	struct past *past = number == GUS_INDEX_NONE ? NULL : &s->programs.list.v[number];
	uint32_t module = past && !past->v[past->n - 1].value ? module_of(s, n) : 0;

	if (module && s->modules.v[module].kind == GUS_MODULE_FILE)
		past->v[past->n - 1].value = module + 1;
}

/* A process starts with its parent's map; a thread has the process's. Either starts with its creator's name. */
static void play_fork(struct gus_space *s, const struct note *n)
{
	uint32_t comm = latest(&s->comms, n->ptid);

	for (size_t i = 0; n->pid != n->ppid && i < OF_PROCESSES; i++) {
		uint32_t map = latest(&s->maps[i], n->ppid);

		if (i == MAPPED || map || latest(&s->maps[i], n->pid)) /* few processes make code */
			past_set(past_of(&s->maps[i], n->pid), n->time, map);
	}
	past_set(past_of(&s->comms, n->tid), n->time, comm);
}

static void play(struct gus_space *s, const struct note *n)
{
	switch (n->kind) {
	case NOTE_MMAP:
		if (!is_empty(n))
			play_program(s, n);
		/* fallthrough */
	case NOTE_JIT:
	case NOTE_KERNEL:
		if (!is_empty(n))
			play_span(s, &s->maps[n->kind == NOTE_JIT ? MADE : n->kind == NOTE_MMAP ? MAPPED : KERNEL], n);
		break;
	case NOTE_EXEC:
		past_set(past_of(&s->programs, n->pid), n->time, 0);
		past_set(past_of(&s->maps[MAPPED], n->pid), n->time, 0);
		if (latest(&s->maps[MADE], n->pid))
			past_set(past_of(&s->maps[MADE], n->pid), n->time, 0);
		/* fallthrough */
	case NOTE_COMM:
		past_set(past_of(&s->comms, n->tid), n->time, n->name);
		break;
	case NOTE_FORK:
		play_fork(s, n);
		break;
	}
}

static int by_time(const void *left, const void *right)
{
	const struct note *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : 1; /* no two have the same */
}

void gus_space_ready(struct gus_space *s)
{
	assert(!s->ready);
	if (s->notes.n)
		qsort(s->notes.v, s->notes.n, sizeof(*s->notes.v), by_time);
	gus_vec_reserve(&s->module_of, s->identities.n);
	memset(s->module_of.v, 0, s->identities.n * sizeof(*s->module_of.v));
	s->module_of.n = s->identities.n;
	for (size_t i = 0; i < s->notes.n; i++)
		play(s, &s->notes.v[i]);
	gus_vec_free(&s->notes);
	s->ready = true;
}

uint32_t gus_space_program(const struct gus_space *s, uint32_t pid)
{
	uint32_t program = latest(&s->programs, pid);

	assert(s->ready);
	return program ? program - 1 : GUS_INDEX_NONE;
}

struct gus_space *gus_space_view(const struct gus_space *s)
{
	struct gus_space *view = gus_alloc(sizeof(*view));

	assert(s->ready);
	*view = *s;
	view->is_view = true;
	return view;
}

/* Makes r stand for the map that pid had at that time. */
static void look_up(const struct pasts *maps, struct recent *r, uint32_t pid, uint64_t time)
{
	uint32_t number = gus_index_find(&maps->ids, &pid);
	const struct past *past = number == GUS_INDEX_NONE ? NULL : &maps->list.v[number];
	size_t n = past ? past_until(past, time) : 0;

	r->pid = pid;
	r->root = n ? past->v[n - 1].value : 0;
	r->from = n ? past->v[n - 1].time : 0;
	r->until = past && n < past->n ? past->v[n].time : UINT64_MAX;
	r->span = (struct gus_span){ 0 };
}

/* The span around ip in that layer, or NULL; valid until the next question. */
static const struct gus_span *find_span(struct gus_space *s, enum layer layer, uint32_t pid, uint64_t time, uint64_t ip)
{
	struct recent *r = &s->recent[layer][pid & (RECENT - 1)];

	/* until is exclusive; the last moment of all time is never cached, which costs nobody anything. */
	if (r->pid != pid || time < r->from || time >= r->until)
		look_up(&s->maps[layer], r, pid, time);
	if (ip < r->span.low || ip >= r->span.high) {
		const struct gus_span *span = gus_spans_find(&s->spans, r->root, ip);

		if (!span)
			return NULL;
		r->span = *span;
	}
	return &r->span;
}

/* Whether a runtime's word counts in that module: its memory is not a file's, or its own jitdump's, which some lay over
 * all of their code to be noticed. */
static bool is_makers(const struct gus_module *m)
{
	const char *name = m->kind == GUS_MODULE_FILE ? strrchr(m->path, '/') : NULL;
	size_t size = name ? strlen(name) : 0;

	return m->kind == GUS_MODULE_ANON ||
	       (size > 10 && strncmp(name, "/jit-", 5) == 0 && strcmp(name + size - 5, ".dump") == 0);
}

static struct gus_place find_user(struct gus_space *s, uint32_t pid, uint64_t time, uint64_t ip)
{
	const struct gus_span *span = find_span(s, MAPPED, pid, time, ip), *made = NULL;

	if (s->maps[MADE].ids.n && (!span || is_makers(&s->modules.v[span->value & ~SHARED])))
		made = find_span(s, MADE, pid, time, ip);
	span = made ? made : span;
	return span ? (struct gus_place){ span->value & ~SHARED, ip + span->delta } : (struct gus_place){ 0, ip };
}

static struct gus_place find_kernel(struct gus_space *s, uint64_t address)
{
	const struct gus_span *span = s->maps[KERNEL].ids.n ? find_span(s, KERNEL, 0, 0, address) : NULL;

	return (struct gus_place){ span ? span->value : KERNEL_MODULE, address };
}

struct gus_place gus_space_find(struct gus_space *s, uint32_t pid, uint64_t time, uint64_t ip, unsigned mode)
{
	assert(s->ready);
	switch (mode) {
	case GUS_MODE_USER:
		return find_user(s, pid, time, ip);
	case GUS_MODE_KERNEL:
		return find_kernel(s, ip);
	case GUS_MODE_UNKNOWN:
		/* The upper half of the address space is the kernel's on every 64-bit machine that we run on. */
		return ip >> 63 ? find_kernel(s, ip) : find_user(s, pid, time, ip);
	default:
		/* Hypervisors and guests have maps that nobody recorded. */
		return (struct gus_place){ 0, ip };
	}
}

/* Code that a runtime made is data to who writes it, of the memory that it is in. */
struct gus_place gus_space_find_data(struct gus_space *s, uint32_t pid, uint64_t time, uint64_t address, unsigned mode,
				     bool *shared)
{
	const bool guest = mode == GUS_MODE_HYPERVISOR || mode == GUS_MODE_GUEST_KERNEL || mode == GUS_MODE_GUEST_USER;
	const struct gus_span *span;

	assert(s->ready);
	*shared = false;
	if (guest)
		return (struct gus_place){ 0, address };
	if (address >> 63)
		return find_kernel(s, address);
	span = find_span(s, MAPPED, pid, time, address);
	if (!span)
		return (struct gus_place){ 0, address };
	*shared = span->value & SHARED;
	return (struct gus_place){ span->value & ~SHARED, address + span->delta };
}

static uint64_t next_change(const struct pasts *maps, uint32_t pid, uint64_t time)
{
	uint32_t number = gus_index_find(&maps->ids, &pid);
	const struct past *past = number == GUS_INDEX_NONE ? NULL : &maps->list.v[number];
	size_t n = past ? past_until(past, time) : 0;

	return past && n < past->n ? past->v[n].time : UINT64_MAX;
}

uint64_t gus_space_next_change(const struct gus_space *s, uint32_t pid, uint64_t time)
{
	return next_change(&s->maps[MAPPED], pid, time);
}

uint64_t gus_space_steady_until(const struct gus_space *s, uint32_t pid, uint64_t time)
{
	uint64_t until = UINT64_MAX;

	for (size_t i = 0; i < OF_PROCESSES; i++) {
		uint64_t change = next_change(&s->maps[i], pid, time);

		until = change < until ? change : until;
	}
	return until;
}

uint32_t gus_space_modules(const struct gus_space *s)
{
	return (uint32_t)s->modules.n;
}

const struct gus_module *gus_space_module(const struct gus_space *s, uint32_t number)
{
	assert(number < s->modules.n);
	return &s->modules.v[number];
}

static uint32_t comm_of(const struct gus_space *s, uint32_t tid, uint64_t time)
{
	uint32_t number = gus_index_find(&s->comms.ids, &tid);

	return number == GUS_INDEX_NONE ? 0 : past_value(&s->comms.list.v[number], time);
}

const char *gus_space_comm(struct gus_space *s, uint32_t pid, uint32_t tid, uint64_t time)
{
	uint32_t name = comm_of(s, tid, time);

	assert(s->ready);
	/* A thread whose birth was not recorded, or was lost, is called as its process is. The idle task's never is: it
	 * is the kernel's first (init_task of its init/init_task.c). Where a recorder was in a namespace of processes,
	 * the kernel gives the number 0 to tasks outside of it as well; perf takes these for it, too. */
	name = name || tid == pid ? name : comm_of(s, pid, time);
	return name || pid || tid ? gus_strings_get(&s->strings, name) : "swapper";
}
