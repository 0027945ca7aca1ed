/* SPDX-License-Identifier: MIT */
#include "collector/session/lanes.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/counters/aux.h"
#include "collector/counters/counters.h"
#include "collector/counters/merge.h"
#include "collector/counters/ring.h"
#include "collector/events/attr.h"
#include "collector/host/procfs.h"
#include "collector/host/vdso.h"
#include "collector/records/records.h"
#include "collector/session/area.h"
#include "collector/session/visits.h"
#include "collector/session/kept.h"
#include "collector/session/made.h"
#include "collector/session/options.h"

#define FLUSH_NS 500000000ULL /* what kill -9 may cost */
#define FLUSH_ROWS 2048           /* half a second at 4 kHz */
#define FLUSH_CHAINS (1u << 16)   /* addresses */
#define FLUSH_BYTES (256u << 10)  /* of side band */
#define FLUSH_STACKS (1u << 17)   /* words of stacks: 1 MiB */
#define FRAMES_MOST 1024          /* callers that are asked for */

/* Where a ring's records go. */
struct sink {
	struct gus_lanes *l;
	struct gus_lane *lane;
	struct gus_writer *writer;    /* of a lane that is full; NULL: none */
	struct gus_error *err;
	int rc;
};

static Gusprof__EventTotal *new_totals(size_t n)
{
	Gusprof__EventTotal *totals = gus_alloc(n * sizeof(*totals));

	for (size_t i = 0; i < n; i++)
		gusprof__event_total__init(&totals[i]);
	return totals;
}

/* Only where somebody's words are to be taken apart. */
static void ask_for_cpus(struct gus_lanes *l)
{
	bool ibs = false, spe = false;

	for (size_t i = 0; i < l->events; i++) {
		enum gus_event_words words = l->counters->events->v[i].words;

		ibs |= words == GUS_WORDS_IBS_OP || words == GUS_WORDS_IBS_FETCH;
		spe |= words == GUS_WORDS_SPE;
	}
	if (ibs)
		gus_area_ask(&l->cpus);
	for (size_t i = 0; spe && i < l->n; i++)
		l->lane[i].midr = gus_area_midr(l->counters->rings.v[i].cpu);
}

void gus_lanes_init(struct gus_lanes *l, struct gus_counters *counters, struct gus_living *living)
{
	*l = (struct gus_lanes){ .counters = counters, .living = living, .n = counters->rings.n,
				 .events = counters->events->n, .vdso_low = UINT64_MAX };
	l->follows = counters->target && (counters->target->kind == GUS_TARGET_COMMAND ||
					  counters->target->kind == GUS_TARGET_PROCESSES);
	l->settled = counters->by_cpu;
	gus_members_init(&l->members);
	l->taken = gus_zalloc(l->events * sizeof(*l->taken));
	l->lane = gus_zalloc(l->n * sizeof(*l->lane));
	for (size_t i = 0; i < l->n; i++) {
		gus_columns_prepare(&l->lane[i].samples, FLUSH_ROWS);
		gus_columns_prepare(&l->lane[i].switches, FLUSH_ROWS);
	}
	ask_for_cpus(l);
	l->totals = new_totals(l->events);
	l->before = new_totals(l->events);
	gus_hits_init(&l->kernel);
}

void gus_lanes_free(struct gus_lanes *l)
{
	for (size_t i = 0; i < l->n; i++) {
		gus_columns_free(&l->lane[i].samples);
		gus_columns_free(&l->lane[i].switches);
		gus_columns_free(&l->lane[i].held);
		gus_columns_free(&l->lane[i].fresh);
		gus_sideband_free(&l->lane[i].sideband);
	}
	if (l->lane) {
		gus_hits_free(&l->kernel);
		gus_members_free(&l->members);
	}
	gus_join_free(&l->join);
	gus_vec_free(&l->frames);
	free(l->taken);
	free(l->lane);
	free(l->totals);
	free(l->before);
	*l = (struct gus_lanes){ 0 };
}

/* Lanes to frames. Side band first: a reader of a file that was cut then knows the mappings of its last samples. */
static int flush_lane(struct gus_lane *l, struct gus_writer *writer, struct gus_error *err)
{
	Gusprof__Sideband message = gus_sideband_message(&l->sideband);
	int rc = 0;

	if (message.n_records)
		rc = gus_writer_sideband(writer, &message, err);
	if (rc == 0)
		rc = gus_writer_samples(writer, &l->samples, err);
	if (rc == 0)
		rc = gus_writer_switches(writer, &l->switches, err);
	gus_sideband_clear(&l->sideband);
	gus_columns_clear(&l->samples);
	gus_columns_clear(&l->switches);
	l->since = 0;
	return rc;
}

static bool is_full(const struct gus_lane *l)
{
	return l->samples.n >= FLUSH_ROWS || l->switches.n >= FLUSH_ROWS || l->samples.chain.n >= FLUSH_CHAINS ||
	       l->samples.stack.n >= FLUSH_STACKS || l->sideband.bytes >= FLUSH_BYTES;
}

static bool is_due(const struct gus_lane *l, uint64_t now)
{
	return l->since && (now - l->since >= FLUSH_NS || is_full(l));
}

/* Rings to lanes. */

/* A chain's addresses return to behind the call, which may be behind the function; DESIGN.md section 5. What a signal's
 * handler returns to is the beginning of one. */
static void note_callers(struct gus_visits *v, const struct gus_sample *sample)
{
	for (uint32_t i = 0; i < sample->chain_n; i++) {
		bool called = i + 1 == sample->chain_n || sample->chain[i + 1] != PERF_CONTEXT_USER;

		if ((int64_t)sample->chain[i] > 0)
			gus_visits_add(v, sample->pid, sample->chain[i] - called, sample->time);
	}
}

static void note_user(struct gus_visits *v, const struct gus_sample *sample)
{
	if (sample->mode == GUS_MODE_USER)
		gus_visits_add(v, sample->pid, sample->ip, sample->time);
	note_callers(v, sample);
	for (uint32_t i = 0; i < sample->branches_n; i++) {
		if ((int64_t)sample->branches[i].from > 0)
			gus_visits_add(v, sample->pid, sample->branches[i].from, sample->time);
		if ((int64_t)sample->branches[i].to > 0)
			gus_visits_add(v, sample->pid, sample->branches[i].to, sample->time);
	}
}

static void note_sample(struct gus_lanes *l, const struct gus_sample *sample)
{
	if (l->user)
		note_user(l->user, sample);
	if (sample->mode == GUS_MODE_KERNEL)
		gus_hits_add(&l->kernel, sample->ip);
	else if (sample->ip >= l->vdso_low && sample->ip < l->vdso_high)
		l->vdso_sampled = true;
	if (l->made)
		gus_made_sample(l->made, sample);
	for (uint32_t i = 0; i < sample->chain_n; i++)
		if ((int64_t)sample->chain[i] < 0 && sample->chain[i] < PERF_CONTEXT_MAX)
			gus_hits_add(&l->kernel, sample->chain[i]);
	for (uint32_t i = 0; i < sample->branches_n; i++) {
		if ((int64_t)sample->branches[i].from < 0)
			gus_hits_add(&l->kernel, sample->branches[i].from);
		if ((int64_t)sample->branches[i].to < 0)
			gus_hits_add(&l->kernel, sample->branches[i].to);
	}
}

static void note_mapping(struct gus_lanes *l, const Gusprof__Mmap *m)
{
	l->usage.maps++;
	if (strcmp(m->path, "[vdso]") != 0)
		return;
	if (m->start < l->vdso_low)
		l->vdso_low = m->start;
	if (m->start + m->length > l->vdso_high)
		l->vdso_high = m->start + m->length;
}

static void note_sideband(struct gus_lanes *l, const Gusprof__Record *r)
{
	if (l->told)
		l->told(l->told_context, r);
	if (l->made)
		gus_made_note(l->made, r);
	if (l->kept && r->kind_case == GUSPROF__RECORD__KIND_MMAP)
		gus_kept_note(l->kept, r->mmap);
	if (l->unwinder)
		l->unwinder->told(l->unwinder->context, r);
	if (l->follows)
		gus_members_note(&l->members, r);
	switch (r->kind_case) {
	case GUSPROF__RECORD__KIND_LOST:
		l->lost += r->lost->count;
		if (r->lost->event < l->events)
			l->totals[r->lost->event].lost += r->lost->count;
		break;
	case GUSPROF__RECORD__KIND_THROTTLE:
		l->throttles += r->throttle->stop;
		if (r->throttle->stop && r->throttle->event < l->events)
			l->totals[r->throttle->event].throttles++;
		break;
	case GUSPROF__RECORD__KIND_MMAP:
		note_mapping(l, r->mmap);
		gus_living_note(l->living, r);
		break;
	case GUSPROF__RECORD__KIND_COMM:
		gus_living_note(l->living, r);
		break;
	case GUSPROF__RECORD__KIND_FORK:
		l->usage.births++;
		l->usage.wakes += l->counters->open;
		gus_living_note(l->living, r);
		break;
	case GUSPROF__RECORD__KIND_EXIT:
		gus_counters_task_ended(l->counters, r->exit->tid, r->exit->time);
		break;
	default:
		break;
	}
}

/* Who is asked gets what the kernel has found as well, and what is not for the file is left off. */
static void ask_for_callers(struct gus_lanes *l, struct gus_sample *s)
{
	uint32_t n;

	gus_vec_reserve(&l->frames, FRAMES_MOST);
	n = l->unwinder->callers(l->unwinder->context, s, l->frames.v, FRAMES_MOST, &s->callers);
	if (l->callers == GUS_CALL_GRAPH_TABLES)
		gus_join_append(&l->join, s, l->frames.v, n);
	else if (n)
		gus_join_leaf(&l->join, s, l->frames.v[0]);
}

/* Once for each sample, however often it is called. */
static void find_callers(struct gus_lanes *l, struct gus_sample *s)
{
	if (l->callers == GUS_CALL_GRAPH_COPIES)
		return;
	if (l->callers == GUS_CALL_GRAPH_LBR && !(s->callers & GUS_CALLERS_BRANCHES))
		gus_join_branches(&l->join, s);
	else if (l->unwinder && s->regs_n)
		ask_for_callers(l, s);
	s->regs_n = s->stack_n = 0;
}

/* What costs how much, and which of it follows the rate. */
static void count_sample(struct gus_lanes *l, const struct gus_sample *sample)
{
	if (l->counters->events->v[sample->event].at_switch)
		l->usage.leaves++;
	else
		l->usage.samples++;
}

static void keep_sample(struct gus_lanes *l, struct gus_lane *lane, const struct gus_sample *sample)
{
	l->totals[sample->event].samples++;
	count_sample(l, sample);
	note_sample(l, sample);
	gus_columns_push(&lane->samples, sample);
}

/* False if there is nothing to keep yet. */
static bool take_sample(struct gus_lanes *l, struct gus_lane *lane, struct gus_record *r)
{
	struct gus_branch branch;
	struct gus_taken *taken;

	if (r->slot == GUS_INDEX_NONE) {
		l->bad++;
		return false;
	}
	if (gus_counters_repeats(l->counters, r)) {
		l->repeated++;
		return false;
	}
	/* An idle CPU waits for nobody. */
	if (!r->sample.tid && l->counters->events->v[r->sample.event].at_switch) {
		count_sample(l, &r->sample);
		return false;
	}
	l->stale += gus_counters_is_stale(l->counters, r);
	r->sample.period = gus_counters_weight(l->counters, r);
	if (!l->counters->events->v[r->sample.event].at_switch)
		l->usage.stack_bytes += r->sample.stack_n * sizeof(uint64_t);
	if (gus_counters_is_wide(l->counters, r->slot)) {
		/* While the stack is at hand; but a stranger's is nobody's business. */
		if (gus_members_has(&l->members, r->sample.pid, r->sample.tid, r->sample.time))
			find_callers(l, &r->sample);
		gus_columns_push(&lane->fresh, &r->sample);
		return false;
	}
	gus_area_decode(&l->cpus, &l->counters->events->v[r->sample.event], &r->sample, &branch);
	find_callers(l, &r->sample);
	taken = &l->taken[r->sample.event];
	taken->weight += r->sample.period;
	taken->longest = r->sample.period > taken->longest ? r->sample.period : taken->longest;
	keep_sample(l, lane, &r->sample);
	return true;
}

/* Where records were lost, births may have been; but only members have switches. */
static void take_switch(struct gus_lanes *l, struct gus_lane *lane, const struct gus_switch *sw)
{
	l->usage.switches += sw->out;
	if (l->lost && l->follows && !sw->out)
		gus_members_add(&l->members, sw->pid, sw->tid, sw->time);
	gus_columns_push_switch(&lane->switches, sw);
}

/* Something was added to the sink's lane. */
static void has_grown(struct sink *sink)
{
	if (!sink->lane->since)
		sink->lane->since = sink->l->now;
	if (sink->writer && sink->rc == 0 && is_full(sink->lane))
		sink->rc = flush_lane(sink->lane, sink->writer, sink->err);
}

static void note_piece(struct gus_lanes *l, Gusprof__EventTotal *t, uint64_t flags, const struct gus_spe_lost *lost)
{
	l->truncated += (flags & GUS_AUX_TRUNCATED) != 0;
	l->collided += (flags & GUS_AUX_COLLISION) != 0;
	l->gaps += (flags & GUS_AUX_PARTIAL) != 0;
	t->truncated += (flags & GUS_AUX_TRUNCATED) != 0;
	t->collided += (flags & GUS_AUX_COLLISION) != 0;
	t->gaps += (flags & GUS_AUX_PARTIAL) != 0;
	t->damaged += lost->damaged + lost->cut;
}

static void keep_piece_sample(struct gus_sample *sample, void *context)
{
	struct sink *sink = context;

	keep_sample(sink->l, sink->lane, sample);
	has_grown(sink);
}

/* Hardware has written into a CPU's area. Where it had no more room it has stopped, and goes on when what there was has
 * been read; what came in between nobody knows. Records that are damaged, or cut where a piece ends, are lost. */
static void take_piece(struct sink *sink, const struct gus_record *r)
{
	struct gus_lanes *l = sink->l;
	struct gus_aux *aux = &l->counters->auxes.v[sink->lane - l->lane];
	const struct gus_area area = {
		.piece = &r->aux, .midr = sink->lane->midr,
		.control = aux->control && aux->control->cap_user_time_zero ? aux->control : NULL,
		.period = r->aux.event < l->events ? l->counters->events->v[r->aux.event].period : 0,
		.task = l->counters->target->kind != GUS_TARGET_SYSTEM &&
			l->counters->target->kind != GUS_TARGET_CGROUP,
	};
	struct gus_spe_lost lost = { 0 };
	const uint8_t *bytes;

	if (r->slot == GUS_INDEX_NONE || !aux->control) {
		l->bad++;
		return;
	}
	bytes = gus_aux_bytes(aux, r->aux.offset, r->aux.size);
	if (!bytes) {
		l->bad++;
		return;
	}
	gus_area_samples(&area, bytes, (size_t)r->aux.size, keep_piece_sample, sink, &lost);
	gus_aux_pass(aux, r->aux.offset + r->aux.size);
	note_piece(l, &l->totals[r->aux.event], r->aux.flags, &lost);
	if (r->aux.flags & GUS_AUX_TRUNCATED)
		gus_counters_resume(l->counters, r->slot);
}

static void take_record(const void *bytes, size_t size, void *context)
{
	struct sink *sink = context;
	struct gus_lanes *l = sink->l;
	struct gus_record r = gus_records_parse(&l->counters->records, bytes, size, &sink->lane->sideband);

	switch (r.kind) {
	case GUS_RECORD_SAMPLE:
		if (!take_sample(l, sink->lane, &r))
			return;
		break;
	case GUS_RECORD_SWITCH:
		take_switch(l, sink->lane, &r.sw);
		break;
	case GUS_RECORD_AUX:
		take_piece(sink, &r);
		return;
	case GUS_RECORD_SIDEBAND:
		note_sideband(l, r.sideband);
		break;
	case GUS_RECORD_UNKNOWN:
		l->unknown++;
		return;
	case GUS_RECORD_BAD:
		l->bad++;
		return;
	case GUS_RECORD_IGNORED:
		return;
	}
	has_grown(sink);
}

/* The samples of CPUs that were held are told apart, and those that are fresh held. A stranger's has cost what it
 * costs, too. */
static void judge_held(struct sink *sink)
{
	struct gus_lanes *l = sink->l;
	struct gus_columns judged = sink->lane->held;

	for (size_t i = 0; i < judged.n; i++) {
		struct gus_sample s = gus_columns_sample(&judged, i);

		if (gus_members_has(&l->members, s.pid, s.tid, s.time)) {
			find_callers(l, &s);
			keep_sample(l, sink->lane, &s);
			has_grown(sink);
		} else {
			l->usage.samples++;
			l->strangers++;
		}
	}
	gus_columns_clear(&judged);
	sink->lane->held = sink->lane->fresh;
	sink->lane->fresh = judged;
}

/* How often what a ring said made no sense. How many records there were then, nobody knows: at least one. */
static uint64_t broken(const struct gus_lanes *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->counters->rings.v[i].broken;
	return n;
}

static int drain_each(struct gus_lanes *l, struct gus_writer *writer, struct gus_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct sink sink = { l, &l->lane[i], writer, err, rc };

		gus_ring_drain(&l->counters->rings.v[i], take_record, &sink);
		rc = sink.rc;
	}
	return rc;
}

static uint64_t time_of_record(const void *bytes, size_t size, void *context)
{
	const struct sink *sink = context;

	return gus_records_time(&sink->l->counters->records, bytes, size);
}

static void take_merged(size_t ring, const void *bytes, size_t size, void *context)
{
	struct sink *sink = context;

	sink->lane = &sink->l->lane[ring];
	take_record(bytes, size, sink);
}

/* Who finds callers must have been told of every mapping before a sample, and of none behind it, whichever ring they
 * stand in. */
static int drain_merged(struct gus_lanes *l, struct gus_writer *writer, struct gus_error *err)
{
	struct sink sink = { .l = l, .writer = writer, .err = err };
	const struct gus_merge merge = { time_of_record, take_merged, &sink };
	uint64_t now = gus_counters_now(l->counters);

	gus_merge_rings(&merge, l->counters->rings.v, l->n, now ? now : UINT64_MAX);
	return sink.rc;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int gus_lanes_drain(struct gus_lanes *l, struct gus_writer *writer, uint64_t now, struct gus_error *err)
{
	uint64_t before = broken(l), start = cpu_ns();
	int rc;

	l->now = now;
	rc = l->unwinder ? drain_merged(l, writer, err) : drain_each(l, writer, err);
	l->bad += broken(l) - before;
	for (size_t i = 0; i < l->n; i++) {
		struct sink sink = { l, &l->lane[i], writer, err, rc };

		judge_held(&sink);
		rc = sink.rc;
	}
	if (l->made)
		gus_made_settle(l->made);
	l->usage.drain_ns += cpu_ns() - start;
	return rc;
}

void gus_lanes_snapshot(struct gus_lanes *l, uint64_t now)
{
	l->now = now;
	for (size_t i = 0; i < l->counters->flights.n; i++) {
		struct sink sink = { .l = l, .lane = &l->lane[i] }; /* the ring stands still: no time to write */

		gus_ring_snapshot(&l->counters->flights.v[i], take_record, &sink);
	}
	if (l->made)
		gus_made_settle(l->made);
}

void gus_lanes_mark(struct gus_lanes *l, const char *kind, const char *name, uint64_t time)
{
	struct gus_sideband *s = &l->lane[0].sideband;
	size_t length = strlen(name);
	Gusprof__Mark *m = gus_sideband_add(s, GUSPROF__RECORD__KIND_MARK, length + 1)->mark;

	*m = (Gusprof__Mark){ .base = m->base, .time = time, .kind = (char *)(uintptr_t)kind,
			      .name = gus_sideband_text(s, name, length) };
	if (!l->lane[0].since)
		l->lane[0].since = l->now;
}

int gus_lanes_flush(struct gus_lanes *l, struct gus_writer *writer, bool all, struct gus_error *err)
{
	uint64_t start = cpu_ns();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < l->n; i++)
		if (all ? l->lane[i].since != 0 : is_due(&l->lane[i], l->now))
			rc = flush_lane(&l->lane[i], writer, err);
	l->usage.drain_ns += cpu_ns() - start;
	return rc;
}

/* The end of a file. */

static int write_kernel(struct gus_lanes *l, struct gus_writer *writer, struct gus_error *err)
{
	Gusprof__KernelSymbols *symbols = gus_hits_symbols(&l->kernel, "/proc/kallsyms");
	int rc;

	if (!symbols)
		return 0;
	rc = gus_writer_message(writer, GUS_FRAME_KERNEL_SYMBOLS, &symbols->base, err);
	gusprof__kernel_symbols__free_unpacked(symbols, NULL);
	return rc;
}

static int write_vdso(struct gus_lanes *l, struct gus_writer *writer, struct gus_error *err)
{
	Gusprof__Image image;

	if (!l->vdso_sampled || !gus_vdso_image(&image))
		return 0;
	return gus_writer_message(writer, GUS_FRAME_IMAGE, &image.base, err);
}

uint64_t gus_lanes_period(const struct gus_lanes *l, uint32_t event)
{
	uint64_t longest = l->taken[event].longest;

	return longest ? longest : l->counters->events->v[event].period;
}

/* Of an event that has counted that much: the part that tasks may have ended with before their next sample came, in the
 * event's unit. No task misses more than a period on each CPU, and few of those that are born and die move between
 * many. Samples that were lost on the way are no business of the tasks'. */
#define CPUS_OF_A_TASK 4

static uint64_t missed_of(const struct gus_lanes *l, uint32_t event, uint64_t count)
{
	const struct gus_taken *t = &l->taken[event];
	uint64_t period = gus_lanes_period(l, event);
	uint64_t seen = t->weight + l->totals[event].lost * period, most;

	if (l->counters->events->v[event].pmu) /* of a plan: it is not on all the time, or has other samples */
		return 0;
	if (l->settled || !l->follows || l->counters->flights.n || count <= seen)
		return t->missed;
	if (!period || __builtin_mul_overflow(l->members.all * (l->n < CPUS_OF_A_TASK ? l->n : CPUS_OF_A_TASK), period,
					      &most))
		return count - seen;
	return count - seen < most ? count - seen : most;
}

void gus_lanes_add_opened(struct gus_lanes *l)
{
	for (uint32_t i = 0; l->follows && i < l->counters->opened_ids.n; i++) {
		pid_t tid = *(const pid_t *)gus_index_key(&l->counters->opened_ids, i);
		struct gus_task task;

		if (tid > 0)
			gus_members_add(&l->members, gus_task_read(tid, &task) ? (uint32_t)task.tgid : 0,
					(uint32_t)tid, 0);
	}
}

Gusprof__EventTotal *gus_lanes_counted(const struct gus_lanes *l)
{
	Gusprof__EventTotal *all = new_totals(l->events);

	gus_counters_totals(l->counters, all);
	return all;
}

void gus_lanes_settle_missed(struct gus_lanes *l)
{
	Gusprof__EventTotal *all = gus_lanes_counted(l);

	for (uint32_t i = 0; i < l->events; i++)
		l->taken[i].missed = missed_of(l, i, all[i].count);
	l->settled = true;
	free(all);
}

/* What the counters say in all, less what they said when the file began. */
static void fill_totals(struct gus_lanes *l)
{
	Gusprof__EventTotal *all = gus_lanes_counted(l);

	for (size_t i = 0; i < l->events; i++) {
		Gusprof__EventTotal *t = &l->totals[i], *b = &l->before[i];

		all[i].missed = missed_of(l, (uint32_t)i, all[i].count);
		t->missed = all[i].missed > b->missed ? all[i].missed - b->missed : 0;
		t->count = all[i].count - b->count;
		t->running_ns = all[i].running_ns - b->running_ns;
		t->enabled_ns = all[i].enabled_ns - b->enabled_ns;
		t->on_ns = all[i].on_ns - b->on_ns;
		if (l->counters->plan.features & GUS_ATTR_LOST)
			t->lost = all[i].lost - b->lost;
	}
	free(l->before);
	l->before = all;
}

int gus_lanes_end_file(struct gus_lanes *l, struct gus_writer *writer, struct gus_error *err)
{
	fill_totals(l);
	if (gus_lanes_flush(l, writer, true, err) != 0 || write_kernel(l, writer, err) != 0)
		return -1;
	return write_vdso(l, writer, err);
}

void gus_lanes_begin_file(struct gus_lanes *l)
{
	for (size_t i = 0; i < l->events; i++)
		gusprof__event_total__init(&l->totals[i]);
	gus_hits_free(&l->kernel);
	gus_hits_init(&l->kernel);
	l->vdso_sampled = false;
	if (l->made)
		gus_made_forget_hits(l->made);
}
