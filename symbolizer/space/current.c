/* SPDX-License-Identifier: MIT */
/* Each process is a list of steps, in the order of time, each of which made a map out of the one before (see spans.h).
 * A step that is told late is put in its place, and those behind it are made anew. */
#include "symbolizer/space/current.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/index.h"
#include "base/limits.h"
#include "symbolizer/space/module.h"
#include "symbolizer/space/spans.h"

#define RECENT 64u              /* a power of two: processes whose last answer is kept */
#define NOTES_MOST (1u << 16)   /* that wait for the next question */
#define ANEW_MOST 1024          /* steps that are made anew for one that came late: threads that map at once */
#define NODES_MIN (1u << 16)    /* of maps, 3 MB: below it nothing is forgotten */
#define STEPS_MIN (1u << 15)    /* of all processes: the same */
#define FORGET_NS 10000000000u  /* of silence after its exit, until a process is forgotten: threads may outlive it */
#define NO_CODE UINT32_MAX      /* in place of a module */

/* An end is noted only, and makes no map. */
enum step_kind { STEP_MAP, STEP_EXEC, STEP_FORK, STEP_END };

/* A record, until the next question. */
struct note {
	uint64_t time, order;          /* of arrival: the order among equal times */
	uint32_t pid, ppid;
	enum step_kind kind;
	struct gus_span span;
};

struct step {
	uint64_t time;
	enum step_kind kind;
	uint32_t root;                 /* the map from then on */
	uint32_t inherited;            /* of a fork: the parent's map */
	struct gus_span span;          /* of a mapping */
};

struct process {
	uint32_t pid;
	uint64_t used;                 /* time of what was told or asked of it last */
	bool ended;
	struct gus_vec(struct step) steps;
};

struct recent {
	uint64_t from, until;          /* times for which root holds; empty if unused */
	uint32_t pid, root;
	struct gus_span span;          /* low == high if none */
};

struct gus_current {
	uint64_t keep_ns, newest;      /* time */
	struct gus_vec(struct note) notes;
	struct gus_vec(struct process) processes; /* by number of the pid */
	struct gus_index pids;
	struct gus_spans spans;
	size_t nodes_most, tidy_at;    /* of maps; at how many room is made */
	size_t steps, steps_tidy_at;   /* of all processes: births need no maps */
	uint64_t retry;                /* mappings to leave out before room is looked for again; 0: there is room */
	struct gus_strings strings, identities;
	size_t text_bytes;             /* of strings */
	struct gus_vec(struct gus_module *) modules;
	struct gus_vec(uint32_t) module_of; /* an identity's module, by number */
	struct recent recent[RECENT];
	uint64_t left_out;
};

struct gus_current *gus_current_new(uint64_t keep_ns, size_t nodes)
{
	struct gus_current *c = gus_zalloc(sizeof(*c));

	c->keep_ns = keep_ns;
	c->nodes_most = nodes;
	c->tidy_at = NODES_MIN;
	c->steps_tidy_at = STEPS_MIN;
	gus_index_init(&c->pids, sizeof(uint32_t));
	gus_spans_init(&c->spans);
	gus_strings_init(&c->strings);
	gus_strings_init(&c->identities);
	gus_vec_push(&c->module_of, 0);
	return c;
}

void gus_current_free(struct gus_current *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->processes.n; i++)
		gus_vec_free(&c->processes.v[i].steps);
	for (size_t i = 0; i < c->modules.n; i++)
		free(c->modules.v[i]);
	gus_vec_free(&c->processes);
	gus_vec_free(&c->modules);
	gus_vec_free(&c->module_of);
	gus_vec_free(&c->notes);
	gus_index_free(&c->pids);
	gus_spans_free(&c->spans);
	gus_strings_free(&c->identities);
	gus_strings_free(&c->strings);
	free(c);
}

/* Modules. */

static void add_module(struct gus_current *c, const Gusprof__Mmap *m)
{
	struct gus_module *module = gus_alloc(sizeof(*module));
	const char *path = gus_module_path(m);
	const char *bytes = m->build_id.len ? (const char *)m->build_id.data : "";
	uint32_t id = gus_strings_add_n(&c->strings, bytes, m->build_id.len);

	*module = (struct gus_module){
		.kind = gus_module_kind_with(path, m->build_id.len),
		.path = gus_strings_get(&c->strings, gus_strings_add(&c->strings, path)),
		.build_id = m->build_id.len ? (const uint8_t *)gus_strings_get(&c->strings, id) : NULL,
		.build_id_size = m->build_id.len, .inode = m->inode, .major = m->major, .minor = m->minor,
		.generation = m->generation,
	};
	c->text_bytes += strlen(path) + m->build_id.len;
	gus_vec_push(&c->modules, module);
}

/* Its number; NO_CODE also if there is no room for one more. */
static uint32_t module_of(struct gus_current *c, const Gusprof__Mmap *m)
{
	uint32_t identity, known = c->identities.n;

	if (strcmp(gus_module_path(m), "[stack]") == 0)
		return NO_CODE;
	if (c->modules.n >= GUS_LIMIT_CURRENT_MODULES || c->text_bytes >= GUS_LIMIT_CURRENT_TEXT) {
		c->left_out++;
		return NO_CODE;
	}
	identity = gus_module_identify(&c->identities, m);
	if (c->identities.n > known) {
		gus_vec_push(&c->module_of, (uint32_t)c->modules.n);
		add_module(c, m);
	}
	return c->module_of.v[identity];
}

const struct gus_module *gus_current_module(const struct gus_current *c, uint32_t number)
{
	assert(number < c->modules.n);
	return c->modules.v[number];
}

/* Processes. */

static struct process *process_of(struct gus_current *c, uint32_t pid)
{
	bool is_new;
	uint32_t number = gus_index_add(&c->pids, &pid, &is_new);

	if (is_new)
		gus_vec_push(&c->processes, (struct process){ .pid = pid });
	return &c->processes.v[number];
}

/* How many steps are not later than time. */
static size_t steps_until(const struct process *p, uint64_t time)
{
	size_t low = 0, high = p->steps.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->steps.v[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Before the first step that is known, what it was then serves: older maps were forgotten, or described by /proc a
 * moment after the first sample. */
static uint32_t root_at(const struct process *p, uint64_t time)
{
	size_t n = steps_until(p, time);

	if (!p->steps.n)
		return 0;
	return p->steps.v[n ? n - 1 : 0].root;
}

static void make_root(struct gus_current *c, struct process *p, size_t i)
{
	struct step *s = &p->steps.v[i];
	uint32_t before = i ? p->steps.v[i - 1].root : 0;

	switch (s->kind) {
	case STEP_MAP:
		s->root = gus_spans_cover(&c->spans, before, &s->span);
		break;
	case STEP_EXEC:
		s->root = 0;
		break;
	case STEP_FORK:
		s->root = s->inherited;
		break;
	case STEP_END:
		break;
	}
}

static void add_step(struct gus_current *c, const struct note *n)
{
	uint32_t number = n->kind == STEP_FORK ? gus_index_find(&c->pids, &n->ppid) : GUS_INDEX_NONE;
	uint32_t inherited = number == GUS_INDEX_NONE ? 0 : root_at(&c->processes.v[number], n->time);
	struct process *p = process_of(c, n->pid);
	size_t at = steps_until(p, n->time);

	if (p->steps.n - at > ANEW_MOST)
		at = p->steps.n;
	gus_vec_push(&p->steps, (struct step){ 0 });
	c->steps++;
	memmove(p->steps.v + at + 1, p->steps.v + at, (p->steps.n - 1 - at) * sizeof(*p->steps.v));
	p->steps.v[at] = (struct step){ n->time, n->kind, 0, inherited, n->span };
	/* What was moved past others, as there were too many of them, holds from the last of them on. */
	if (at && p->steps.v[at - 1].time > n->time)
		p->steps.v[at].time = p->steps.v[at - 1].time;
	for (size_t i = at; i < p->steps.n; i++)
		make_root(c, p, i);
	p->ended = false;
	p->used = n->time > p->used ? n->time : p->used;
}

static void note_end(struct gus_current *c, const struct note *n)
{
	uint32_t number = gus_index_find(&c->pids, &n->pid);
	struct process *p = number == GUS_INDEX_NONE ? NULL : &c->processes.v[number];

	if (p && p->used <= n->time) {
		p->ended = true;
		p->used = n->time;
	}
}

/* Room. */

/* Steps that no question can be about any more; the last one always can. */
static void forget_steps(struct process *p, uint64_t before)
{
	size_t n = steps_until(p, before);

	if (n < 2)
		return;
	memmove(p->steps.v, p->steps.v + n - 1, (p->steps.n - n + 1) * sizeof(*p->steps.v));
	p->steps.n -= n - 1;
	/* It stands on nothing now, and must not be made anew out of it. */
	p->steps.v[0].kind = STEP_FORK;
	p->steps.v[0].inherited = p->steps.v[0].root;
}

static bool is_over(const struct gus_current *c, const struct process *p)
{
	return p->ended && p->used < c->newest && c->newest - p->used > FORGET_NS + c->keep_ns;
}

static void forget_processes(struct gus_current *c)
{
	size_t kept = 0;

	gus_index_free(&c->pids);
	gus_index_init(&c->pids, sizeof(uint32_t));
	for (size_t i = 0; i < c->processes.n; i++) {
		struct process *p = &c->processes.v[i];

		if (is_over(c, p)) {
			gus_vec_free(&p->steps);
			continue;
		}
		gus_index_add(&c->pids, &p->pid, NULL);
		c->processes.v[kept++] = *p;
	}
	c->processes.n = kept;
}

static void compact(struct gus_current *c)
{
	struct gus_vec(uint32_t *) roots = { 0 };

	for (size_t i = 0; i < c->processes.n; i++)
		for (size_t k = 0; k < c->processes.v[i].steps.n; k++) {
			gus_vec_push(&roots, &c->processes.v[i].steps.v[k].root);
			gus_vec_push(&roots, &c->processes.v[i].steps.v[k].inherited);
		}
	gus_spans_compact(&c->spans, roots.v, roots.n);
	gus_vec_free(&roots);
}

/* First what is too old; where that does not do, all but the present. */
static void tidy(struct gus_current *c)
{
	const uint64_t keep[] = { c->keep_ns, 0 };

	forget_processes(c);
	for (size_t i = 0; i < 2; i++) {
		uint64_t before = c->newest > keep[i] ? c->newest - keep[i] : 0;

		for (size_t k = 0; k < c->processes.n; k++)
			forget_steps(&c->processes.v[k], before);
		compact(c);
		if (c->spans.nodes.n < c->nodes_most / 2)
			break;
	}
	c->tidy_at = 2 * c->spans.nodes.n > NODES_MIN ? 2 * c->spans.nodes.n : NODES_MIN;
	if (c->tidy_at > c->nodes_most)
		c->tidy_at = c->nodes_most;
	c->steps = 0;
	for (size_t i = 0; i < c->processes.n; i++)
		c->steps += c->processes.v[i].steps.n;
	c->steps_tidy_at = 2 * c->steps > STEPS_MIN ? 2 * c->steps : STEPS_MIN;
	c->retry = c->spans.nodes.n > c->nodes_most - NODES_MIN ? NODES_MIN : 0;
}

/* False if there is none for a mapping. */
static bool has_room(struct gus_current *c)
{
	if (c->retry > 1)
		c->retry--;
	else if (c->retry || c->spans.nodes.n >= c->tidy_at || c->steps >= c->steps_tidy_at)
		tidy(c);
	if (c->retry)
		c->left_out++;
	return !c->retry;
}

/* Records. */

static int by_time(const void *left, const void *right)
{
	const struct note *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : 1; /* no two have the same */
}

static void play_notes(struct gus_current *c)
{
	if (!c->notes.n)
		return;
	qsort(c->notes.v, c->notes.n, sizeof(*c->notes.v), by_time);
	for (size_t i = 0; i < c->notes.n; i++) {
		const struct note *n = &c->notes.v[i];

		c->newest = n->time > c->newest ? n->time : c->newest;
		if (n->kind != STEP_MAP && c->steps >= c->steps_tidy_at)
			tidy(c);
		if (n->kind == STEP_END)
			note_end(c, n);
		else if (n->kind != STEP_MAP || has_room(c))
			add_step(c, n);
	}
	c->notes.n = 0;
	memset(c->recent, 0, sizeof(c->recent));
}

static void add_note(struct gus_current *c, const struct note *n)
{
	gus_vec_push(&c->notes, *n);
	c->notes.v[c->notes.n - 1].order = c->notes.n;
	if (c->notes.n >= NOTES_MOST)
		play_notes(c);
}

static void add_mapping(struct gus_current *c, const Gusprof__Mmap *m)
{
	struct note n = { .time = m->time, .pid = m->pid, .kind = STEP_MAP,
			  .span = { .low = m->start, .delta = m->offset - m->start } };

	if (m->kernel || !m->length)
		return;
	if (__builtin_add_overflow(m->start, m->length, &n.span.high))
		n.span.high = UINT64_MAX;
	if (n.span.high == n.span.low)
		return;
	n.span.value = module_of(c, m);
	if (n.span.value != NO_CODE && c->modules.v[n.span.value]->kind == GUS_MODULE_ANON)
		n.span.delta = 0;
	add_note(c, &n);
}

void gus_current_tell(struct gus_current *c, const Gusprof__Record *r)
{
	switch (r->kind_case) {
	case GUSPROF__RECORD__KIND_MMAP:
		add_mapping(c, r->mmap);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		if (r->comm->exec)
			add_note(c, &(struct note){ .time = r->comm->time, .pid = r->comm->pid, .kind = STEP_EXEC });
		break;
	case GUSPROF__RECORD__KIND_FORK:
		if (r->fork->pid != r->fork->ppid)
			add_note(c, &(struct note){ .time = r->fork->time, .pid = r->fork->pid,
						    .ppid = r->fork->ppid, .kind = STEP_FORK });
		break;
	case GUSPROF__RECORD__KIND_EXIT:
		if (r->exit->pid == r->exit->tid)
			add_note(c, &(struct note){ .time = r->exit->time, .pid = r->exit->pid, .kind = STEP_END });
		break;
	default:
		break;
	}
}

uint64_t gus_current_left_out(const struct gus_current *c)
{
	return c->left_out;
}

/* Questions. */

/* Makes r stand for the map that pid had at that time. */
static void look_up(struct gus_current *c, struct recent *r, uint32_t pid, uint64_t time)
{
	uint32_t number = gus_index_find(&c->pids, &pid);
	struct process *p = number == GUS_INDEX_NONE ? NULL : &c->processes.v[number];
	size_t n = p ? steps_until(p, time) : 0;

	*r = (struct recent){ .pid = pid, .until = UINT64_MAX };
	if (!p)
		return;
	r->root = root_at(p, time);
	r->from = n ? p->steps.v[n - 1].time : 0;
	if (n < p->steps.n)
		r->until = p->steps.v[n].time;
	p->used = time > p->used ? time : p->used;
}

bool gus_current_find(struct gus_current *c, uint32_t pid, uint64_t time, uint64_t address, struct gus_place *place)
{
	struct recent *r = &c->recent[pid & (RECENT - 1)];

	play_notes(c);
	if (r->pid != pid || time < r->from || time >= r->until)
		look_up(c, r, pid, time);
	if (address < r->span.low || address >= r->span.high) {
		const struct gus_span *span = gus_spans_find(&c->spans, r->root, address);

		if (!span)
			return false;
		r->span = *span;
	}
	if (r->span.value == NO_CODE)
		return false;
	*place = (struct gus_place){ r->span.value, address + r->span.delta };
	return true;
}
