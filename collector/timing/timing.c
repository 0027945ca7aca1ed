/* SPDX-License-Identifier: MIT */
#include "collector/timing/timing.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/host/clock.h"
#include "collector/timing/places.h"
#include "collector/timing/process.h"
#include "collector/timing/shared.h"

#define MOST_NS 50000000
#define IMPATIENT 5             /* parts of which is what it gets behind patience, */
#define MORE_IMPATIENT 10       /* and behind twice of that */
#define AGREE 0.005
#define TRIES 3
#define BISTABLE_SAMPLES 16
#define SETTLE_NS 10000000      /* to know the clock's rate at all, before anybody asks */
#define PAGE 4096               /* code of each begins at a multiple */
#define LINE 64
#if defined(__x86_64__)
#define TRAP 0xcc               /* int3, where code has run beyond its end */
#else
#define TRAP 0                  /* udf #0 */
#endif

struct gus_timing {
	struct gus_timing_process process;
	struct gus_timing_places places;
	struct gus_timing_options options;
	uint64_t ticks, ns;     /* when it was opened */
	/* What the process found before it executed anything foreign. */
	bool counter;
	double ratio, pace, pace_low, pace_high;
	uint64_t seen, beside;  /* samples */
};

uint64_t gus_timing_most_ns(const struct gus_timing_options *options, uint64_t since_ns)
{
	uint64_t most = options->most_ns ? options->most_ns : MOST_NS;

	if (!options->patient_ns || since_ns <= options->patient_ns)
		return most;
	return most / (since_ns > 2 * options->patient_ns ? MORE_IMPATIENT : IMPATIENT);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Both clocks at one moment: of several tries that between whose readings least time passed. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;
	uint32_t cpu;

	for (unsigned i = 0; i < 8; i++) {
		uint64_t before = gus_clock_ticks(&cpu), t = now_ns(), took = gus_clock_ticks(&cpu) - before;

		if (took >= least)
			continue;
		least = took;
		*ticks = before + took / 2;
		*ns = t;
	}
}

static double ticks_hz(const struct gus_timing *t)
{
	uint64_t ticks, ns;

	read_both(&ticks, &ns);
	return ns > t->ns ? (double)(ticks - t->ticks) * 1e9 / (double)(ns - t->ns) : 0;
}

static void wait_until_known(const struct gus_timing *t)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (now_ns() - t->ns < SETTLE_NS)
		nanosleep(&pause, NULL);
}

/* Begins the process if it isn't there. */
static int be_ready(struct gus_timing *t, struct gus_error *err)
{
	const struct gus_shared *s = t->process.shared;
	bool is_new = !t->process.pid;

	if (gus_timing_process_begin(&t->process, err) != 0)
		return -1;
	if (is_new) {
		gus_timing_places_reset(&t->places, s->arena_most, s->arena_most_huge);
		t->counter = s->counter;
		t->ratio = s->ratio;
		t->pace = s->clock_pace;
		t->pace_low = fmin(t->pace_low, s->clock_pace);
		t->pace_high = fmax(t->pace_high, s->clock_pace);
	}
	return 0;
}

/* Whether we may run on a CPU; one that is not known to be forbidden is tried. */
static bool is_ours(int cpu)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) != 0 || (cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, &set));
}

struct gus_timing *gus_timing_open(const struct gus_timing_options *options, struct gus_error *err)
{
	struct gus_timing *t;

#if !defined(__x86_64__) && !defined(__aarch64__)
	gus_fail(err, GUS_E_UNSUPPORTED, "microbenchmarks can be timed on x86-64 and arm64 alone");
	return NULL;
#endif
	if (options->cpu >= 0 && !is_ours(options->cpu)) {
		gus_fail(err, GUS_E_USAGE, "CPU %d is none that this process may run on", options->cpu);
		return NULL;
	}
	t = gus_zalloc(sizeof(*t));
	t->process.code_fd = -1;
	t->process.cpu = options->cpu >= 0 ? options->cpu : sched_getcpu();
	t->process.counter = !options->no_counter;
	t->options = *options;
	t->pace_low = INFINITY;
	read_both(&t->ticks, &t->ns);
	if (gus_timing_process_open(&t->process, err) != 0) {
		gus_timing_close(t);
		return NULL;
	}
	wait_until_known(t);
	t->process.ticks_hz = ticks_hz(t);
	if (be_ready(t, err) != 0) {
		gus_timing_close(t);
		return NULL;
	}
	return t;
}

void gus_timing_close(struct gus_timing *t)
{
	if (!t)
		return;
	gus_timing_process_close(&t->process);
	gus_timing_places_free(&t->places);
	free(t);
}

void gus_timing_facts(const struct gus_timing *t, struct gus_timing_facts *facts)
{
	double hz = ticks_hz(t);

	*facts = (struct gus_timing_facts){
		.cpu = t->process.cpu, .arena_most = t->places.of[false].size,
		.arena_most_huge = t->places.of[true].size, .counter = t->counter, .ticks_hz = hz,
		.ratio = t->ratio, .chains_agree = fabs(t->ratio - 1) <= AGREE,
	};
	facts->beside = t->seen ? (double)t->beside / (double)t->seen : 0;
	facts->core_hz = t->pace * hz;
	facts->core_low = t->pace_low * hz;
	facts->core_high = t->pace_high * hz;
}

/* An order: some of the jobs, and where their parts go. */
struct order { size_t jobs[GUS_SHARED_JOBS]; size_t n, code, what; uint64_t ns; };

static size_t in_pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

/* False if it doesn't fit in any more. */
static bool add(struct gus_timing *t, struct order *o, const struct gus_timing_job *job, size_t index, unsigned line)
{
	struct gus_shared *s = t->process.shared;
	struct gus_shared_job *j = &s->job[o->n];
	size_t room = in_pages(job->size + (size_t)line * LINE + 1);
	uint64_t start;
	bool fresh;

	if (o->n == GUS_SHARED_JOBS || room > GUS_SHARED_CODE - o->code ||
	    job->what_size > GUS_SHARED_WHAT - o->what)
		return false;
	if (!gus_timing_places_take(&t->places, job, &start, &fresh)) {
		if (o->n)
			return false;
		gus_timing_places_clear(&t->places, job->huge);
		if (!gus_timing_places_take(&t->places, job, &start, &fresh))
			return false;
	}
	*j = (struct gus_shared_job){
		.code = (uint32_t)(o->code + line * LINE), .code_size = (uint32_t)job->size, .huge = job->huge,
		.shared = job->shared, .fresh = fresh, .arena = start, .arena_size = job->arena,
		.what = (uint32_t)o->what,
		.what_size = (uint32_t)job->what_size, .fill = job->fill, .warm = job->warm, .passes = job->passes,
	};
	memset(t->process.code + o->code, TRAP, room);
	memcpy(t->process.code + j->code, job->code, job->size);
	if (job->what_size)
		memcpy(s->what + o->what, job->what, job->what_size);
	o->code += room;
	o->what += (job->what_size + 15) & ~(size_t)15;
	o->ns += gus_timing_process_ns(job, gus_timing_most_ns(&t->options, 0));
	o->jobs[o->n++] = index;
	return true;
}

static void note(struct gus_timing *t, const struct gus_timing_sum *sum)
{
	t->seen += sum->kept + sum->beside;
	t->beside += sum->trouble & GUS_TIMING_BESIDE ? sum->kept : sum->beside;
	if (sum->kept && !t->counter) {
		t->pace_low = fmin(t->pace_low, sum->pace);
		t->pace_high = fmax(t->pace_high, sum->pace);
	}
}

static bool is_time(double x)
{
	return isfinite(x) && x >= 0;
}

/* Evaluates what was seen of a job, of which nobody else has this copy. False if that is no time. */
static bool evaluate(const struct gus_shared_job *j, double alone, struct gus_timing_result *r)
{
	uint32_t n = j->samples < GUS_SHARED_SAMPLES ? j->samples : GUS_SHARED_SAMPLES;

	*r = (struct gus_timing_result){ .passes = j->made };
	if (j->small_pages) {
		r->fault = GUS_TIMING_SMALL_PAGES;
		n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct gus_timing_sample *s = &j->sample[i];

		if (!is_time(s->once) || !is_time(s->twice) || !is_time(s->before) || !is_time(s->after) ||
		    !is_time(s->round))
			return false;
	}
	gus_timing_add_up(j->sample, n, r->passes, is_time(alone) && !j->shared ? alone : 0,
			  &r->sum);
	return !n || (r->passes && is_time(r->sum.cycles) && is_time(r->sum.median) && is_time(r->sum.high) &&
		      is_time(r->sum.pace) && isfinite(r->sum.call));
}

static void fail_job(struct gus_timing_result *r, const struct gus_timing_death *death)
{
	*r = (struct gus_timing_result){ .fault = death->fault, .signal = death->signal };
	gus_timing_add_up(NULL, 0, 1, 0, &r->sum);
}

/* What is no time stays in o, to be seen again where no other job can have written it: in a process of its own. */
static void collect(struct gus_timing *t, struct order *o, struct gus_timing_result *results)
{
	static const struct gus_timing_death nonsense = { .fault = GUS_TIMING_NONSENSE };
	struct gus_shared_job *copy = gus_alloc(sizeof(*copy));
	bool surely = o->n == 1 && t->process.orders == 1, sound = true;
	size_t left = 0;

	for (size_t i = 0; i < o->n; i++) {
		struct gus_timing_result *r = &results[o->jobs[i]];

		memcpy(copy, &t->process.shared->job[i], sizeof(*copy));
		if (evaluate(copy, t->process.shared->alone, r)) {
			note(t, &r->sum);
			continue;
		}
		sound = false;
		fail_job(r, &nonsense);
		if (!surely)
			o->jobs[left++] = o->jobs[i];
	}
	o->n = left;
	if (!sound)
		gus_timing_process_end(&t->process);
	free(copy);
}

/* Runs an order; a job at which the process died gets its fault, and what is left is for another order: their indexes
 * in o. -1 with err if it was nothing that a job did. */
static int run_order(struct gus_timing *t, struct order *o, struct gus_timing_result *results, struct gus_error *err)
{
	struct gus_timing_death death;
	uint32_t guilty;

	t->process.shared->jobs = (uint32_t)o->n;
	t->process.shared->most_ticks = (uint64_t)((double)gus_timing_most_ns(&t->options, now_ns() - t->ns) * 1e-9 *
						   t->process.ticks_hz);
	gus_timing_process_order(&t->process, o->n, o->ns, &death);
	if (death.fault == GUS_TIMING_RETURNED) {
		collect(t, o, results);
		return 0;
	}
	if (death.innocent)
		return 0;
	if (death.cpu_limit)
		return gus_timing_process_blame_limit(death.cpu_limit, err);
	if (death.fault == GUS_TIMING_SIGNAL && (death.signal == SIGKILL || death.signal == SIGTERM))
		return gus_fail(err, GUS_E_SYSTEM, "the process that executes microbenchmarks was killed by somebody, "
				"or for want of memory");
	guilty = o->n == 1 ? 0 : death.executed && death.at < o->n ? death.at : UINT32_MAX;
	if (guilty == UINT32_MAX)
		return 0;
	fail_job(&results[o->jobs[guilty]], &death);
	memmove(&o->jobs[guilty], &o->jobs[guilty + 1], (o->n - guilty - 1) * sizeof(*o->jobs));
	o->n--;
	return 0;
}

static int refuse(const struct gus_timing *t, const struct gus_timing_job *job, struct gus_error *err)
{
	return gus_fail(err, GUS_E_UNSUPPORTED, "a microbenchmark wants %llu MiB of memory, of which there are %llu, "
			"or more than %u KiB of code or %u KiB of what its memory is filled by",
			(unsigned long long)job->arena >> 20,
			(unsigned long long)t->places.of[job->huge].size >> 20, GUS_SHARED_CODE >> 10,
			GUS_SHARED_WHAT >> 10);
}

/* A job alone, its code moved by some lines. */
static int run_alone(struct gus_timing *t, const struct gus_timing_job *job, unsigned line,
		     struct gus_timing_result *r, struct gus_error *err)
{
	struct order o = { .n = 1 };

	for (unsigned i = 0; i < TRIES && o.n; i++) { /* again if it was not the job's doing that it came to nothing */
		o = (struct order){ 0 };
		if (be_ready(t, err) != 0)
			return -1;
		if (!add(t, &o, job, 0, line))
			return refuse(t, job, err);
		if (run_order(t, &o, r, err) != 0)
			return -1;
	}
	return !o.n ? 0 : gus_fail(err, GUS_E_SYSTEM, "the process that executes microbenchmarks is killed again and "
				   "again");
}

/* Whether it gathers at two times, by so many samples that it was no chance; few there are of what takes long. */
static bool is_bistable(const struct gus_timing_result *r)
{
	return r->sum.trouble & GUS_TIMING_BISTABLE && r->sum.kept >= BISTABLE_SAMPLES;
}

/* Loops that fall into one of two states may not do so elsewhere. */
static int look_again(struct gus_timing *t, const struct gus_timing_job *job, struct gus_timing_result *r,
		      struct gus_error *err)
{
	static const unsigned lines[] = { 1, 2, 0 };

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines) && is_bistable(r); i++) {
		struct gus_timing_result again = { 0 };

		if (run_alone(t, job, lines[i], &again, err) != 0)
			return -1;
		if (again.fault == GUS_TIMING_RETURNED && again.sum.cycles < r->sum.cycles * 1.005 &&
		    (again.sum.cycles < r->sum.cycles || !is_bistable(&again)))
			*r = again;
	}
	return 0;
}

/* As many of the jobs as fit together, from the first on; how many that were, or -1 with err. */
static ssize_t run_batch(struct gus_timing *t, const struct gus_timing_job *jobs, size_t n,
			 struct gus_timing_result *results, struct gus_error *err)
{
	struct order o = { 0 };
	size_t count = 0;

	if (be_ready(t, err) != 0)
		return -1;
	while (count < n && add(t, &o, &jobs[count], count, 0))
		count++;
	if (!count)
		return refuse(t, jobs, err);
	if (run_order(t, &o, results, err) != 0)
		return -1;
	/* Those beside one that died: each for itself, as nobody knows what the dead one did to them. */
	for (size_t i = 0; i < o.n; i++)
		if (run_alone(t, &jobs[o.jobs[i]], 0, &results[o.jobs[i]], err) != 0)
			return -1;
	return (ssize_t)count;
}

int gus_timing_run(struct gus_timing *t, const struct gus_timing_job *jobs, size_t n, struct gus_timing_result *results,
		   struct gus_error *err)
{
	memset(results, 0, n * sizeof(*results));
	for (size_t at = 0; at < n;) {
		ssize_t done = run_batch(t, jobs + at, n - at, results + at, err);

		if (done < 0)
			return -1;
		at += (size_t)done;
	}
	for (size_t i = 0; i < n; i++)
		if (look_again(t, &jobs[i], &results[i], err) != 0)
			return -1;
	return 0;
}
