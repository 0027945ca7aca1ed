/* SPDX-License-Identifier: MIT */
/* A recording is read twice. What runs where is told by the side band, and comes late: a ring of another CPU may
 * deliver a mapping behind the samples in it. So the first pass takes everything but samples, until the history of all
 * address spaces is known; the second looks up each sample at its own time, adds it to the cell of its thread, place
 * and path, and forgets it. Memory then grows with the code that was executed and not with how long.
 *
 * Nothing gets lost on the way: the event's samples that the file holds are in cells or were filtered, and the cells
 * add up to the profile, in samples and in weight (asserted). What the file itself has lost is counted: damage by the
 * reader, missing samples by what the footer says was written, lost records by the kernel's own count, which the footer
 * and the side band both have.
 *
 * Chains are the kernel's (perf_event_open(2), PERF_SAMPLE_CALLCHAIN): innermost first, with markers between
 * contexts. */
#include "attribution/profile/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "attribution/profile/frames.h"
#include "attribution/profile/order.h"
#include "attribution/profile/touch.h"
#include "attribution/profile/perfmaps.h"
#include "attribution/profile/unwinder.h"
#include "attribution/topdown/recorded.h"
#include "attribution/traffic/traffic.h"
#include "attribution/topdown/sampled.h"
#include "base/error.h"
#include "base/foreign_file.h"
#include "base/heed.h"
#include "base/index.h"
#include "base/limits.h"
#include "proto/skid.h"

/* Values of a call chain at and above this are markers, not addresses (PERF_CONTEXT_MAX in the perf_event ABI). */
#define CHAIN_MARKER ((uint64_t)-4095)
#define CHAIN_KERNEL ((uint64_t)-128)
#define CHAIN_USER ((uint64_t)-512)
/* What the second pass reads. */
#define BATCHES (1u << GUS_FRAME_SAMPLES | 1u << GUS_FRAME_SWITCHES)

struct cell_key { uint32_t thread, path, module, comm, end, touch; uint64_t offset; };
struct path_key { uint32_t caller, module; uint64_t offset; };
/* A chain of a process while nothing is mapped: the same bytes are the same places. They are told apart by 128 bits of
 * hash; who makes two that are the same harms the profile of their own recording. */
struct chain_key { uint32_t pid, mode; uint64_t until; XXH128_hash_t bytes; };
/* Where a chain leads; shortened: it goes on from there, and there was no room for more paths. */
struct chain_end { uint32_t path; bool shortened; };
struct thread_key { uint32_t pid, tid; };
/* Who runs on a CPU, since when; known between a switch in and the next out. */
struct running { uint32_t tid; uint64_t since; };

struct loader {
	struct gus_profile *p;
	struct gus_reader *reader;
	const struct gus_filter *filter;
	struct gus_visitor *visit;        /* NULL: samples become cells */
	uint64_t from, to;              /* of the recording's clock */
	struct gus_index cells, paths, threads, cpus, comms, chains;
	struct gus_vec(struct chain_end) chain_ends;
	struct gus_budget paths_left;
	struct gus_vec(uint64_t) last;  /* time of each thread's last sample */
	struct gus_vec(struct running) running;
	bool timed;                     /* weights are time */
	uint32_t switches;              /* of a profile of time: the event of switches, */
	uint64_t ends;                  /* and when the last was */
	bool switched;                  /* there are some */
	struct gus_wall wall;
	struct gus_index processes;     /* of it, too: their numbers in wall.lives */
	struct gus_vec(uint8_t) module_wanted; /* 0 not asked yet, 1 no, 2 yes */
	struct gus_columns batch;
	struct gus_vec(struct gus_caller) callers; /* of the sample at hand */
	const struct gus_symbols_options *options; /* with which files are opened */
	struct gus_symbols_options unwinding; /* with which those for unwinding are */
	struct gus_unwinder *unwinder;  /* NULL until a sample needs it */
	struct gus_perfmaps *maps;      /* NULL where the recording has what they would tell */
	uint64_t decoded;               /* samples of the event, before the filter */
	uint64_t bad_payloads, bad_offset;
};

static uint32_t thread_of(struct loader *l, uint32_t pid, uint32_t tid)
{
	struct thread_key key = { pid, tid };
	bool is_new;
	uint32_t number = gus_index_add(&l->threads, &key, &is_new);

	if (!is_new)
		return number;
	gus_vec_push(&l->p->threads, (struct gus_thread){ .pid = pid, .tid = tid, .comm = "" });
	gus_vec_push(&l->last, 0);
	if (l->timed)
		gus_lives_of_process(&l->wall.lives, number, gus_index_add(&l->processes, &pid, NULL));
	return number;
}

/* First pass: everything but samples. */

/* Who lives, since when and until when. Idle CPUs are no thread. */
static void take_life(struct loader *l, const Gusprof__Record *record)
{
	struct gus_lives *lives = &l->wall.lives;
	const Gusprof__Comm *comm = record->comm;

	switch (record->kind_case) {
	case GUSPROF__RECORD__KIND_FORK:
		gus_lives_note_birth(lives, thread_of(l, record->fork->pid, record->fork->tid), record->fork->time);
		break;
	case GUSPROF__RECORD__KIND_EXIT:
		gus_lives_note_end(lives, thread_of(l, record->exit->pid, record->exit->tid), record->exit->time);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		if (comm->tid)
			(comm->exec ? gus_lives_note_exec : gus_lives_note_alive)(lives,
				thread_of(l, comm->pid, comm->tid), comm->time);
		break;
	default:
		break;
	}
}

static void take_record(struct loader *l, const Gusprof__Record *record)
{
	if (l->timed)
		take_life(l, record);
	if (record->kind_case == GUSPROF__RECORD__KIND_LOST)
		l->p->lost = gus_saturated(l->p->lost, record->lost->count);
	else if (record->kind_case == GUSPROF__RECORD__KIND_THROTTLE)
		l->p->throttled += record->throttle->stop;
	else
		gus_space_add(l->p->space, record);
	if (l->maps)
		gus_perfmaps_note(l->maps, record);
	if (record->kind_case == GUSPROF__RECORD__KIND_MMAP && record->mmap->kernel)
		gus_symbols_add_kernel_mapping(l->p->symbols, record->mmap);
}

static bool take_sideband(struct loader *l, ProtobufCMessage *message)
{
	const Gusprof__Sideband *sideband = (const Gusprof__Sideband *)message;

	for (size_t i = 0; i < sideband->n_records; i++)
		take_record(l, sideband->records[i]);
	protobuf_c_message_free_unpacked(message, NULL);
	return true;
}

static bool take_kernel_symbols(struct loader *l, ProtobufCMessage *message)
{
	gus_symbols_add_kernel(l->p->symbols, (const Gusprof__KernelSymbols *)message);
	gus_space_add_kernel(l->p->space, (const Gusprof__KernelSymbols *)message);
	protobuf_c_message_free_unpacked(message, NULL);
	return true;
}

static bool take_image(struct loader *l, ProtobufCMessage *message)
{
	gus_symbols_add_image(l->p->symbols, (const Gusprof__Image *)message);
	protobuf_c_message_free_unpacked(message, NULL);
	return true;
}

static bool take_embedded(struct loader *l, ProtobufCMessage *message)
{
	bool good = gus_symbols_add_embedded(l->p->symbols, (const Gusprof__Embedded *)message);

	protobuf_c_message_free_unpacked(message, NULL);
	return good;
}

static bool take_slots(struct loader *l, ProtobufCMessage *message)
{
	const Gusprof__Header *header = gus_reader_header(l->reader);
	bool good;

	if (!l->p->slots)
		l->p->slots = gus_zalloc(sizeof(*l->p->slots));
	good = gus_topdown_recorded_add(l->p->slots, (const Gusprof__Slots *)message, header);
	protobuf_c_message_free_unpacked(message, NULL);
	return good;
}

static bool take_traffic(struct loader *l, ProtobufCMessage *message)
{
	bool good;

	if (!l->p->traffic)
		l->p->traffic = gus_zalloc(sizeof(*l->p->traffic));
	good = gus_traffic_add_recorded(l->p->traffic, (const Gusprof__Traffic *)message);
	protobuf_c_message_free_unpacked(message, NULL);
	return good;
}

static bool take_footer(struct loader *l, ProtobufCMessage *message)
{
	if (l->p->footer)
		gusprof__footer__free_unpacked(l->p->footer, NULL);
	l->p->footer = (Gusprof__Footer *)message;
	return true;
}

static const struct {
	enum gus_frame_type type;
	const ProtobufCMessageDescriptor *descriptor;
	/* Owns the message; false if it contradicts itself. */
	bool (*take)(struct loader *l, ProtobufCMessage *message);
} messages[] = {
	{ GUS_FRAME_SIDEBAND, &gusprof__sideband__descriptor, take_sideband },
	{ GUS_FRAME_KERNEL_SYMBOLS, &gusprof__kernel_symbols__descriptor, take_kernel_symbols },
	{ GUS_FRAME_IMAGE, &gusprof__image__descriptor, take_image },
	{ GUS_FRAME_EMBEDDED, &gusprof__embedded__descriptor, take_embedded },
	{ GUS_FRAME_SLOTS, &gusprof__slots__descriptor, take_slots },
	{ GUS_FRAME_TRAFFIC, &gusprof__traffic__descriptor, take_traffic },
	{ GUS_FRAME_FOOTER, &gusprof__footer__descriptor, take_footer },
};

static void take_message(void *context, const struct gus_frame *frame)
{
	struct loader *l = context;

	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		ProtobufCMessage *message;

		if (messages[i].type != frame->type)
			continue;
		message = gus_frame_message(frame, messages[i].descriptor, NULL);
		if (message && messages[i].take(l, message))
			continue;
		if (!l->bad_payloads++)
			l->bad_offset = frame->offset;
	}
}

/* Second pass: samples and switches. */

/* GUS_INDEX_NONE: it is a new one, and there is no room for it. */
static uint32_t path_add(struct loader *l, uint32_t caller, struct gus_place place)
{
	struct path_key key = { caller, place.module, place.offset };
	uint32_t number = gus_index_find(&l->paths, &key);

	if (number != GUS_INDEX_NONE || !gus_budget_charge(&l->paths_left, 1))
		return number;
	gus_vec_push(&l->p->paths, (struct gus_path){ caller, l->p->paths.v[caller].depth + 1, place });
	return gus_index_add(&l->paths, &key, NULL);
}

/* The chain's frames with their places, innermost first. A chain's addresses return to behind the call, so they are
 * looked up a byte before: where a call is a function's last instruction, the next function begins there. Only the
 * first of a further context, where the kernel interrupted the program, is exact; and so is what a signal's handler
 * returns to, before such a context: nothing called there, and its function begins there. */
static bool is_handlers_return(const struct gus_sample *s, uint32_t i, unsigned mode)
{
	return mode == GUS_MODE_USER && i + 1 < s->chain_n && s->chain[i + 1] == CHAIN_USER;
}

static void find_callers(struct loader *l, const struct gus_sample *s)
{
	unsigned mode = s->mode;
	bool exact = false;

	l->callers.n = 0;
	gus_vec_reserve(&l->callers, s->chain_n);
	for (uint32_t i = 0; i < s->chain_n; i++) {
		struct gus_caller *c = &l->callers.v[l->callers.n];
		uint64_t ip = s->chain[i];

		if (ip >= CHAIN_MARKER) {
			mode = ip == CHAIN_KERNEL ? GUS_MODE_KERNEL : ip == CHAIN_USER ? GUS_MODE_USER : mode;
			exact = l->callers.n > 0 || mode != s->mode;
			continue;
		}
		exact = exact || is_handlers_return(s, i, mode);
		*c = (struct gus_caller){ .ip = ip, .returns = !exact };
		c->place = gus_space_find(l->p->space, s->pid, s->time, exact ? ip : ip - 1, mode);
		exact = false;
		l->callers.n++;
	}
}

/* The path of the callers at hand, from the outermost in, so that paths with the same beginning share it. */
static struct chain_end end_of_callers(struct loader *l)
{
	struct chain_end end = { 0 };

	for (size_t i = l->callers.n; i--; ) {
		uint32_t path = path_add(l, end.path, l->callers.v[i].place);

		if (path == GUS_INDEX_NONE) {
			end.shortened = true;
			break;
		}
		end.path = path;
	}
	return end;
}

/* The chain as a path. */
static uint32_t path_of(struct loader *l, const struct gus_sample *s)
{
	struct chain_key key = { s->pid, s->mode, gus_space_steady_until(l->p->space, s->pid, s->time),
				 XXH3_128bits(s->chain, s->chain_n * sizeof(*s->chain)) };
	const struct chain_end *end;
	uint32_t number;
	bool is_new;

	if (!s->chain_n)
		return 0;
	number = gus_index_add(&l->chains, &key, &is_new);
	if (is_new) {
		find_callers(l, s);
		gus_vec_push(&l->chain_ends, end_of_callers(l));
	}
	end = &l->chain_ends.v[number];
	l->p->shortened += end->shortened;
	return end->path;
}

static bool in_list(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static bool module_wanted(struct loader *l, uint32_t number)
{
	while (l->module_wanted.n <= number)
		gus_vec_push(&l->module_wanted, 0);
	if (!l->module_wanted.v[number]) {
		const struct gus_module *module = gus_space_module(l->p->space, number);
		bool yes = false;

		for (const char *const *name = l->filter->modules; *name && !yes; name++)
			yes = gus_module_is_called(module, *name);
		l->module_wanted.v[number] = yes ? 2 : 1;
		gus_vec_push(&l->p->modules, number);
	}
	return l->module_wanted.v[number] == 2;
}

/* The number of what the thread was called then. The space has each name once, so its address is the name. */
static uint32_t comm_of(struct loader *l, const struct gus_sample *s)
{
	const char *name = gus_space_comm(l->p->space, s->pid, s->tid, s->time);
	bool is_new;
	uint32_t number = gus_index_add(&l->comms, &name, &is_new);

	if (is_new)
		gus_vec_push(&l->p->comms, name);
	return number;
}

static bool has(const uint32_t *list, size_t n, uint32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == number)
			return true;
	return !n;
}

static bool task_wanted(const struct gus_filter *f, uint32_t pid, uint32_t tid)
{
	return has(f->tids, f->tids_n, tid) && has(f->pids, f->pids_n, pid);
}

static bool cpu_wanted(const struct gus_filter *f, uint32_t cpu)
{
	for (size_t i = 0; i < f->cpus_n; i++)
		if (cpu >= f->cpus[i].first && cpu <= f->cpus[i].last)
			return true;
	return !f->cpus_n;
}

static bool wanted(struct loader *l, const struct gus_sample *s, struct gus_place place, uint32_t comm)
{
	const struct gus_filter *f = l->filter;

	if (s->time < l->from || s->time > l->to)
		return false;
	if (!task_wanted(f, s->pid, s->tid) || !cpu_wanted(f, s->cpu) ||
	    (f->modules && !module_wanted(l, place.module)))
		return false;
	return !f->comms || in_list(f->comms, l->p->comms.v[comm]);
}

static uint32_t cell_of_key(struct loader *l, const struct cell_key *key)
{
	bool is_new;
	uint32_t number = gus_index_add(&l->cells, key, &is_new);

	if (is_new)
		gus_vec_push(&l->p->cells, (struct gus_cell){
			.thread = key->thread, .path = key->path, .comm = key->comm, .end = key->end,
			.touch = key->touch, .number = number, .place = { key->module, key->offset },
		});
	return number;
}

/* The number of the cell of a sample; comm counts if the names are to be kept. */
static uint32_t cell_of(struct loader *l, const struct gus_sample *s, struct gus_place place, uint32_t comm)
{
	struct cell_key key = { .thread = thread_of(l, s->pid, s->tid), .module = place.module };

	key.offset = place.offset;
	key.path = l->filter->chains ? path_of(l, s) : 0;
	key.comm = l->filter->comms_kept || l->timed ? comm : 0;
	key.end = l->filter->chains ? (uint32_t)(s->callers & GUS_CALLERS_END) : 0;
	key.touch = l->filter->data ? gus_touch_of(l->p->touches, l->p->space, l->p->symbols, s) : 0;
	return cell_of_key(l, &key);
}

static void add_up(struct loader *l, const struct gus_sample *s, uint64_t weight, struct gus_place place, uint32_t comm)
{
	uint32_t number = cell_of(l, s, place, comm);
	struct gus_cell *cell = &l->p->cells.v[number];
	uint64_t cycles;

	if (l->filter->data && gus_touch_latency(s, &cycles))
		gus_latency_add(&l->p->touches->loads, number, cycles);
	cell->samples++;
	cell->weight += weight;
	cell->weight2 += (double)weight * (double)weight;
	if (s->time >= l->last.v[cell->thread])
		l->last.v[cell->thread] = s->time;
}

static void tell(struct loader *l, const struct gus_sample *s, struct gus_place place)
{
	struct gus_sighting sighting = { .sample = s, .place = place };

	sighting.comm = gus_space_comm(l->p->space, s->pid, s->tid, s->time);
	if (l->filter->chains) {
		find_callers(l, s);
		sighting.callers = l->callers.v;
		sighting.callers_n = l->callers.n;
	}
	l->visit->sample(l->visit->context, &sighting);
}

static void count_ending(struct gus_endings *e, uint64_t callers)
{
	if (!(callers & GUS_CALLERS_END))
		return;
	e->samples++;
	e->by_end[callers & GUS_CALLERS_END]++;
	e->remembered += (callers & GUS_CALLERS_REMEMBERED) != 0;
}

/* Which events tell of accesses to memory is known when all have been seen. */
static void count_told(struct gus_profile *p, const struct gus_sample *s)
{
	uint64_t address;

	if (s->event >= p->told.n)
		return;
	if (gus_touch_told(p->touches, s))
		p->told.v[s->event]++;
	else if (s->event == p->event)
		p->addressed |= gus_touch_address(p->touches, s, &address);
}

/* What a sample stands for, of which only so much is taken as all together have room for: no sum of any of them can go
 * beyond that of all. Real ones never do; a file can say anything. */
static uint64_t take_weight(struct gus_profile *p, const struct gus_sample *s)
{
	uint64_t room = GUS_LIMIT_SUM - p->weight, weight = s->period < room ? s->period : room;

	p->capped += s->period > room;
	p->weight += weight;
	return weight;
}

/* What its counters counted goes to the cell where it is, whatever event it is a sample of. */
static void add_slots(struct loader *l, const struct gus_sample *s)
{
	struct gus_place place = gus_space_find(l->p->space, s->pid, s->time, s->ip, s->mode);
	uint32_t comm = l->filter->comms || l->filter->comms_kept ? comm_of(l, s) : 0;

	if (wanted(l, s, place, comm))
		gus_topdown_sampled_add(l->p->sampled, cell_of(l, s, place, comm));
}

static void take_sample(struct loader *l, const struct gus_sample *s)
{
	struct gus_profile *p = l->p;
	struct gus_place place;
	uint64_t weight;
	uint32_t comm;

	if (l->filter->data)
		count_told(p, s);
	if (p->sampled && gus_topdown_sampled_take(p->sampled, s))
		add_slots(l, s);
	if (l->filter->event != GUS_EVENT_ANY && s->event != l->filter->event) {
		p->other_events++;
		return;
	}
	l->decoded++;
	place = gus_space_find(p->space, s->pid, s->time, s->ip, s->mode);
	comm = l->filter->comms || l->filter->comms_kept ? comm_of(l, s) : 0;
	if (!wanted(l, s, place, comm)) {
		p->filtered++;
		p->without_cpu += l->filter->cpus_n && s->cpu == GUS_CPU_UNKNOWN;
		return;
	}
	weight = take_weight(p, s);
	if (l->visit)
		tell(l, s, place);
	else
		add_up(l, s, weight, place, comm);
	if (l->filter->chains)
		count_ending(&p->endings, s->callers);
	p->samples++;
	p->weight2 += (double)weight * (double)weight;
	if (!p->first_ns || s->time < p->first_ns)
		p->first_ns = s->time;
	if (s->time > p->last_ns)
		p->last_ns = s->time;
}

static void take_in_order(void *context, const struct gus_sample *s)
{
	take_sample(context, s);
}

static bool image_of(void *context, const struct gus_module *module, const void **bytes, size_t *size)
{
	const struct loader *l = context;

	return gus_symbols_image(l->p->symbols, module, bytes, size);
}

static void begin_unwinding(struct loader *l)
{
	l->unwinding = *l->options;
	l->unwinding.image = image_of;
	l->unwinding.image_context = l;
	l->unwinder = gus_unwinder_new(l->p->space, &l->unwinding, l->p->header);
}

/* A batch of a recording that keeps registers and stacks becomes one like those of others, with chains. */
static void unwind(void *context, struct gus_columns *rows)
{
	struct loader *l = context;

	if (!l->filter->chains && !l->timed)
		return;
	if (!l->unwinder)
		begin_unwinding(l);
	gus_unwinder_run(l->unwinder, rows, l->filter->registers);
}

/* Profiles of time: samples and switches in their order. */

static uint32_t nowhere(void *context, uint32_t thread)
{
	struct loader *l = context;
	const struct gus_thread *t = &l->p->threads.v[thread];
	const struct gus_sample nothing = { .pid = t->pid, .tid = t->tid, .time = UINT64_MAX };
	const struct cell_key key = { .thread = thread, .comm = comm_of(l, &nothing) };

	return cell_of_key(l, &key);
}

/* The part of a chain that is in user space, as if the sample had been taken there: a thread that waits does so in a
 * call that its own code made. Of a thread of the kernel's it stays as it is. */
static struct gus_sample user_part(const struct gus_sample *s)
{
	struct gus_sample user = *s;

	for (uint32_t i = 0; s->mode != GUS_MODE_USER && i + 1 < s->chain_n; i++) {
		if (s->chain[i] != CHAIN_USER || s->chain[i + 1] >= CHAIN_MARKER)
			continue;
		user.mode = GUS_MODE_USER;
		user.ip = s->chain[i + 1];
		user.chain = s->chain + i + 2;
		user.chain_n = s->chain_n - i - 2;
		break;
	}
	return user;
}

static void take_leave(struct loader *l, const struct gus_sample *s)
{
	struct gus_sample at = l->filter->kernel_ends ? *s : user_part(s);
	struct gus_place place = gus_space_find(l->p->space, at.pid, at.time, at.ip, at.mode);
	uint32_t thread = thread_of(l, s->pid, s->tid);

	l->wall.sums.thinned |= s->period > 1;
	gus_lives_leave(&l->wall.lives, thread, s->time,
			cell_of(l, &at, place, comm_of(l, s)), s->period);
}

static void take_timed_sample(void *context, const struct gus_sample *s)
{
	struct loader *l = context;

	l->ends = s->time > l->ends ? s->time : l->ends;
	if (!s->tid)
		return;
	if (l->filter->chains && (s->event == l->switches || s->event == l->filter->event))
		count_ending(&l->p->endings, s->callers);
	if (s->event == l->switches) {
		take_leave(l, s);
	} else if (s->event == l->filter->event) {
		struct gus_place place = gus_space_find(l->p->space, s->pid, s->time, s->ip, s->mode);

		gus_lives_seen(&l->wall.lives, thread_of(l, s->pid, s->tid), s->time);
		if (l->filter->weighs == GUS_WEIGHS_WALL && s->time >= l->from && s->time <= l->to)
			add_up(l, s, s->period, place, comm_of(l, s)); /* a share of the thread's time */
	}
}

static void take_timed_switch(void *context, const struct gus_switch *sw)
{
	struct loader *l = context;

	if (sw->tid && sw->tid != UINT32_MAX)
		gus_lives_switch(&l->wall.lives, thread_of(l, sw->pid, sw->tid), sw->time, sw->out, sw->preempt);
	l->ends = sw->time > l->ends ? sw->time : l->ends;
	l->switched = true;
}

static bool thread_counts(void *context, uint32_t thread)
{
	struct loader *l = context;

	return task_wanted(l->filter, l->p->threads.v[thread].pid, l->p->threads.v[thread].tid);
}

/* What the filter says of samples, said of cells: a time off the CPU is one until its end is known. */
static bool cell_wanted(void *context, const struct gus_cell *cell)
{
	struct loader *l = context;
	const struct gus_filter *f = l->filter;

	if (!thread_counts(l, cell->thread) || (f->modules && !module_wanted(l, cell->place.module)))
		return false;
	return !f->comms || in_list(f->comms, l->p->comms.v[cell->comm]);
}

/* Bytes that may wait of a recording while it is put in order. */
static size_t order_most(const struct gus_reader *reader)
{
	return (size_t)gus_budget_of(GUS_LIMIT_ORDER, gus_reader_size(reader)).left;
}

static int load_timed(struct loader *l, struct gus_error *err)
{
	const struct gus_order_sink sink = { .sample = take_timed_sample, .sw = take_timed_switch,
		.context = l, .ready = unwind };
	const Gusprof__Footer *footer = l->p->footer;
	const Gusprof__Clock *clock = l->p->header->clock;
	struct gus_profile *p = l->p;
	uint64_t late, start = clock ? clock->start_ns : 0, most = order_most(l->reader);

	gus_lives_begin(&l->wall.lives, footer && footer->watched_from_ns > start ? footer->watched_from_ns : start,
			l->from, l->to);
	if (gus_order_each(l->reader, most, &sink, &late, err) != 0)
		return -1;
	if (footer && footer->watched_until_ns > l->ends)
		l->ends = footer->watched_until_ns;
	if (!l->switched && !(footer && footer->watched_until_ns))
		return gus_fail(err, GUS_E_NOT_FOUND, "the recording has no context switches, so nobody knows when its "
				"threads were off the CPU: record with --off-cpu");
	gus_lives_finish(&l->wall.lives, l->ends);
	gus_wall_settle(&l->wall, l->filter->weighs == GUS_WEIGHS_WALL, thread_counts);
	p->samples = p->weight = 0;
	p->weight2 = 0;
	for (size_t i = 0; i < p->cells.n; i++) {
		p->samples += p->cells.v[i].samples;
		p->weight += p->cells.v[i].weight;
		p->weight2 += p->cells.v[i].weight2;
	}
	gus_profile_keep(p, cell_wanted, l);
	for (size_t i = 0; i < l->wall.lives.list.n; i++) {
		p->threads.v[i].life = l->wall.lives.list.v[i];
		p->threads.v[i].switches = p->threads.v[i].life.switches;
		p->threads.v[i].on_cpu_ns = p->threads.v[i].life.on;
	}
	p->wall = l->wall.sums;
	return 0;
}

static void take_switch(struct loader *l, const struct gus_switch *sw)
{
	uint32_t thread = thread_of(l, sw->pid, sw->tid), cpu;
	struct gus_thread *t = &l->p->threads.v[thread];
	struct running *r;
	bool is_new;

	cpu = gus_index_add(&l->cpus, &sw->cpu, &is_new);
	if (is_new)
		gus_vec_push(&l->running, (struct running){ 0, 0 });
	r = &l->running.v[cpu];
	if (!sw->out) {
		*r = (struct running){ sw->tid, sw->time };
		return;
	}
	t->switches++;
	if (r->since && r->tid == sw->tid && sw->time > r->since)
		t->on_cpu_ns += sw->time - r->since;
	r->since = 0;
}

static void take_batch(void *context, const struct gus_frame *frame)
{
	struct loader *l = context;
	uint64_t size = gus_reader_size(l->reader);

	gus_heed_tell(l->p->heed, "reading the recording", size ? (double)frame->offset / (double)size : -1);
	if (gus_frame_rows(frame, &l->batch, NULL) != 0) {
		gus_reader_bad_payload(l->reader, frame);
		return;
	}
	if (frame->type == GUS_FRAME_SAMPLES)
		unwind(l, &l->batch);
	for (size_t i = 0; i < l->batch.n; i++) {
		if (frame->type == GUS_FRAME_SAMPLES) {
			struct gus_sample s = gus_columns_sample(&l->batch, i);

			take_sample(l, &s);
		} else {
			struct gus_switch sw = gus_columns_switch(&l->batch, i);

			take_switch(l, &sw);
		}
	}
}

static int by_place(const void *a, const void *b, void *touches)
{
	const struct gus_cell *x = a, *y = b;

#define GUS_ORDER_(field) \
	if (x->field != y->field) \
		return x->field < y->field ? -1 : 1
	GUS_ORDER_(place.module);
	GUS_ORDER_(place.offset);
	GUS_ORDER_(thread);
	GUS_ORDER_(path);
	GUS_ORDER_(comm);
	GUS_ORDER_(end);
	if (x->touch != y->touch)
		return gus_touch_order(touches, x->touch, y->touch);
#undef GUS_ORDER_
	return 0;
}

/* The identities that everything above this layer relies on. */
static void check_sums(const struct gus_profile *p, const struct loader *l)
{
	uint64_t samples = 0, weight = 0;

	for (size_t i = 0; i < p->cells.n; i++) {
		samples += p->cells.v[i].samples;
		weight += p->cells.v[i].weight;
	}
	assert(l->visit || (samples == p->samples && weight == p->weight));
	assert(l->timed || p->samples + p->filtered == l->decoded);
	(void)l;
}

const Gusprof__EventTotal *gus_profile_total(const struct gus_profile *p)
{
	return p->footer && p->event < p->footer->n_events ? p->footer->events[p->event] : NULL;
}

/* Adds up the events that were asked for; false if the recording does not say. */
static bool total_of(const struct gus_profile *p, uint64_t *samples, uint64_t *lost)
{
	*samples = *lost = 0;
	for (size_t i = 0; p->footer && i < p->footer->n_events; i++) {
		if (p->event != GUS_EVENT_ANY && p->event != i)
			continue;
		*samples += p->footer->events[i]->samples;
		*lost = gus_saturated(*lost, p->footer->events[i]->lost);
	}
	return p->footer && (p->event == GUS_EVENT_ANY || p->event < p->footer->n_events);
}

static void settle(struct loader *l, bool whole)
{
	struct gus_profile *p = l->p;
	const Gusprof__EventTotal *total = gus_profile_total(p);
	uint64_t written, lost;
	bool known = total_of(p, &written, &lost);

	if (p->cells.n)
		qsort_r(p->cells.v, p->cells.n, sizeof(*p->cells.v), by_place, p->touches);
	if (p->touches)
		gus_latency_settle(&p->touches->loads);
	if (p->sampled)
		gus_topdown_sampled_settle(p->sampled);
	for (size_t i = 0; i < p->threads.n; i++) {
		struct gus_thread *t = &p->threads.v[i];

		t->comm = gus_space_comm(p->space, t->pid, t->tid, l->last.v[i] ? l->last.v[i] : UINT64_MAX);
	}
	p->damage = *gus_reader_damage(l->reader);
	if (l->bad_payloads && (!p->damage.corrupt || l->bad_offset < p->damage.first_offset))
		p->damage.first_offset = l->bad_offset;
	p->damage.corrupt += l->bad_payloads;
	check_sums(p, l);
	if (known && lost > p->lost)
		p->lost = lost;
	if (l->timed)
		return;
	/* Of a part of the time, batches outside of it were passed over unread: what they hold was left out, too. */
	if (known && written > l->decoded) {
		uint64_t *left = whole ? &p->missing : &p->filtered;

		*left = gus_saturated(*left, written - l->decoded);
	}
	p->unsampled = total ? total->missed : 0;
}

/* Who asks what accesses to memory were, and there are none, is told what to do about it. */
static int tells_no_data(const struct loader *l, struct gus_error *err)
{
	const struct gus_profile *p = l->p;
	const char *asked = p->event < p->header->n_events ? p->header->events[p->event]->name : "";
	size_t other = 0;

	if (!l->filter->data || p->told.v[p->event])
		return 0;
	while (other < p->told.n && !p->told.v[other])
		other++;
	if (other < p->header->n_events)
		return gus_fail(err, GUS_E_NOT_FOUND, "the samples of '%s' tell nothing of accesses to memory; those "
				"of '%s' do: --event %zu", asked, p->header->events[other]->name, other);
	if (!p->samples)
		return 0; /* which is said otherwise */
	if (p->addressed)
		return gus_fail(err, GUS_E_NOT_FOUND, "the samples of '%s' have addresses of data and tell nothing "
				"else of the accesses: --by data-page, data-line, data-module and data-symbol show "
				"these", asked);
	return gus_touch_untold(err);
}

static int tells_no_cpu(const struct loader *l, struct gus_error *err)
{
	if (!l->p->without_cpu || l->p->without_cpu < l->decoded)
		return 0;
	return gus_fail(err, GUS_E_NOT_FOUND, "the recording does not say on which CPUs its samples were taken, so "
			"there is no choosing among them: perf record -a or --sample-cpu has it");
}

static void start(struct loader *l)
{
	const Gusprof__Clock *clock = l->p->header->clock;
	uint64_t start = clock ? clock->start_ns : 0;

	l->from = l->filter->from_ns ? start + l->filter->from_ns : 0;
	l->to = l->filter->to_ns ? start + l->filter->to_ns : UINT64_MAX;
	gus_index_init(&l->cells, sizeof(struct cell_key));
	gus_index_init(&l->paths, sizeof(struct path_key));
	gus_index_init(&l->threads, sizeof(struct thread_key));
	gus_index_init(&l->cpus, sizeof(uint32_t));
	gus_index_init(&l->comms, sizeof(const char *));
	gus_index_init(&l->chains, sizeof(struct chain_key));
	gus_index_init(&l->processes, sizeof(uint32_t));
	gus_wall_init(&l->wall, &l->p->cells, nowhere, l);
	gus_index_add(&l->paths, &(struct path_key){ .caller = GUS_INDEX_NONE }, NULL); /* which no path has */
	gus_vec_push(&l->p->paths, (struct gus_path){ 0 });
	l->paths_left = gus_budget_of(GUS_LIMIT_PATHS, gus_reader_size(l->reader));
}

/* Of a recording without its header there is one event nobody knows. */
static void begin_touches(struct gus_profile *p, unsigned data)
{
	p->touches = gus_alloc(sizeof(*p->touches));
	gus_touches_init(p->touches, data, p->header);
	gus_vec_reserve(&p->told, p->header->n_events + 1);
	p->told.n = p->header->n_events ? p->header->n_events : 1;
	memset(p->told.v, 0, p->told.n * sizeof(*p->told.v));
}

static void stop(struct loader *l)
{
	gus_index_free(&l->cells);
	gus_index_free(&l->paths);
	gus_index_free(&l->threads);
	gus_index_free(&l->cpus);
	gus_index_free(&l->comms);
	gus_index_free(&l->chains);
	gus_vec_free(&l->chain_ends);
	gus_index_free(&l->processes);
	gus_wall_free(&l->wall);
	gus_vec_free(&l->last);
	gus_vec_free(&l->running);
	gus_vec_free(&l->module_wanted);
	gus_vec_free(&l->callers);
	gus_columns_free(&l->batch);
	gus_unwinder_free(l->unwinder);
}

/* A recording that was cut does not say when it ended. */
static void tell_end(struct gus_profile *p)
{
	const Gusprof__Clock *clock = p->header->clock;

	if (clock && clock->start_realtime_ns && p->footer && p->footer->end_ns > clock->start_ns)
		gus_symbols_recorded_until(p->symbols, clock->start_realtime_ns + p->footer->end_ns - clock->start_ns);
	if (p->header->origin)
		gus_symbols_written_until(p->symbols, p->header->origin->written_ns);
}

static int read_samples(struct loader *l, struct gus_error *err)
{
	const struct gus_order_sink sink = { .sample = take_in_order, .context = l, .ready = unwind };
	const size_t most = order_most(l->reader);

	if (l->timed)
		return load_timed(l, err);
	if (l->visit)
		return gus_order_each(l->reader, most, &sink, &l->visit->late, err);
	return gus_frames_each(l->reader, BATCHES, take_batch, l, err);
}

/* In the numbers of the perf_event ABI: PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES. */
uint32_t gus_profile_switches(const Gusprof__Header *header)
{
	for (uint32_t i = 0; i < header->n_events; i++)
		if (header->events[i]->type == 1 && header->events[i]->config == 3 &&
		    !header->events[i]->exclude_kernel)
			return i;
	return GUS_INDEX_NONE;
}

static int load(struct gus_profile *p, struct gus_reader *reader, const struct gus_filter *filter,
		const struct gus_symbols_options *options, const struct gus_log *log, struct gus_visitor *visit,
		struct gus_error *err)
{
	struct loader l = { .p = p, .reader = reader, .filter = filter, .visit = visit,
			    .timed = filter->weighs != GUS_WEIGHS_EVENTS };
	struct gus_symbols_options careful = *options;
	struct gus_rights maker = { 0 }, rights;
	uid_t owner;
	int rc = -1;

	*p = (struct gus_profile){ .header = gus_reader_header(reader), .event = filter->event, .heed = filter->heed,
				   .weighs = filter->weighs, .chains = filter->chains };
	l.switches = gus_profile_switches(p->header);
	if ((!visit || filter->event != GUS_EVENT_ANY) &&
	    (p->header->n_events ? filter->event >= p->header->n_events : filter->event > 0))
		return gus_fail(err, GUS_E_USAGE, "the recording has %zu events, not a number %u", p->header->n_events,
				filter->event);
	p->space = gus_space_new();
	if (gus_reader_owner(reader, &owner))
		gus_rights_of_user(&maker, owner, "the recording's owner");
	rights = gus_rights_common(options->rights, &maker);
	careful.rights = &rights;
	careful.elsewhere = gus_perfmaps_are_elsewhere(p->header);
	careful.has_inodes = gus_perfmaps_serve(p->header);
	careful.nowhere = gus_perfmaps_are_nowhere(p->header);
	careful.same_release = careful.has_inodes && gus_perfmaps_know_kernel(p->header);
	l.options = &careful;
	p->symbols = gus_symbols_new(&careful, log);
	if (p->header->host)
		gus_symbols_add_kernel_build(p->symbols, p->header->host->kernel_build_id.data,
					     p->header->host->kernel_build_id.len);
	l.maps = gus_perfmaps_new(p->header);
	start(&l);
	if (filter->data)
		begin_touches(p, filter->data);
	if (gus_frames_each(reader, ~BATCHES, take_message, &l, err) != 0)
		goto out;
	if (l.maps)
		gus_perfmaps_add(l.maps, "/tmp", &rights, p->space, p->symbols, log);
	gus_space_ready(p->space);
	tell_end(p);
	if (filter->slots)
		p->sampled = gus_topdown_sampled_new(p->header, p->slots, filter->length_ns, filter->slots);
	if (!l.timed && (l.from || l.to != UINT64_MAX))
		gus_reader_restrict(reader, l.from, l.to);
	if (visit)
		visit->begin(visit->context, p);
	if (read_samples(&l, err) != 0)
		goto out;
	settle(&l, !l.from && l.to == UINT64_MAX);
	rc = tells_no_data(&l, err) != 0 ? -1 : tells_no_cpu(&l, err);
out:
	gus_reader_restrict(reader, 0, UINT64_MAX);
	gus_perfmaps_free(l.maps);
	stop(&l);
	if (rc != 0)
		gus_profile_free(p);
	return rc;
}

int gus_profile_load(struct gus_profile *p, struct gus_reader *reader, const struct gus_filter *filter,
		     const struct gus_symbols_options *options, const struct gus_log *log, struct gus_error *err)
{
	return load(p, reader, filter, options, log, NULL, err);
}

int gus_profile_visit(struct gus_profile *p, struct gus_reader *reader, const struct gus_filter *filter,
		      const struct gus_symbols_options *options, const struct gus_log *log, struct gus_visitor *visit,
		      struct gus_error *err)
{
	return load(p, reader, filter, options, log, visit, err);
}

void gus_profile_keep(struct gus_profile *p, bool (*keep)(void *context, const struct gus_cell *cell), void *context)
{
	size_t n = 0;

	p->weight2 = 0;
	for (size_t i = 0; i < p->cells.n; i++) {
		const struct gus_cell cell = p->cells.v[i];

		if (keep(context, &cell)) {
			p->cells.v[n++] = cell;
			p->weight2 += cell.weight2;
			continue;
		}
		p->samples -= cell.samples;
		p->filtered += cell.samples;
		p->weight -= cell.weight;
	}
	p->cells.n = n;
}

bool gus_profile_skid(const struct gus_profile *p, struct gus_skid *skid)
{
	return gus_skid_read(skid, p->event < p->header->n_events ? p->header->events[p->event] : NULL);
}

void gus_profile_free(struct gus_profile *p)
{
	if (p->footer)
		gusprof__footer__free_unpacked(p->footer, NULL);
	if (p->slots)
		gus_topdown_recorded_free(p->slots);
	free(p->slots);
	if (p->traffic)
		gus_traffic_free(p->traffic);
	free(p->traffic);
	gus_topdown_sampled_free(p->sampled);
	gus_vec_free(&p->cells);
	gus_vec_free(&p->threads);
	gus_vec_free(&p->paths);
	gus_vec_free(&p->comms);
	gus_vec_free(&p->modules);
	gus_vec_free(&p->told);
	if (p->touches)
		gus_touches_free(p->touches);
	free(p->touches);
	gus_symbols_free(p->symbols);
	gus_space_free(p->space);
	*p = (struct gus_profile){ 0 };
}

/* Keeps in l->to the latest time of all batches. */
static void latest(void *context, const struct gus_frame *frame)
{
	struct loader *l = context;

	if (gus_frame_rows(frame, &l->batch, NULL) != 0)
		return;
	for (size_t i = 0; i < l->batch.n; i++) {
		uint64_t time = l->batch.column[GUS_COL_TIME].v[i];

		l->to = time > l->to ? time : l->to;
	}
}

int gus_profile_length(struct gus_reader *reader, uint64_t *length_ns, struct gus_error *err)
{
	const Gusprof__Clock *clock = gus_reader_header(reader)->clock;
	struct gus_profile p = { 0 };
	struct loader l = { .p = &p, .reader = reader };
	uint64_t start_ns = clock ? clock->start_ns : 0;
	int rc = gus_frames_each(reader, 1u << GUS_FRAME_FOOTER, take_message, &l, err);

	if (rc == 0 && p.footer)
		l.to = p.footer->end_ns;
	else if (rc == 0)
		rc = gus_frames_each(reader, 1u << GUS_FRAME_SAMPLES, latest, &l, err);
	*length_ns = l.to > start_ns ? l.to - start_ns : 0;
	if (p.footer)
		gusprof__footer__free_unpacked(p.footer, NULL);
	gus_columns_free(&l.batch);
	return rc;
}
