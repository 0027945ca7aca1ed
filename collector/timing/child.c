/* SPDX-License-Identifier: MIT */
/* Runs are made in turns. A turn is some runs of one microbenchmark, of N and 2 N passes alternately, behind one that
 * is not timed; between two turns stands a chain of known latency, which tells the pace of the core, adds and products
 * by turns. Microbenchmarks of one order take turns, so what disturbs one disturbs all. One has done when its least
 * came again, or its time is up. */
#include "collector/timing/child.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "collector/host/clock.h"
#include "collector/host/priority.h"
#include "collector/timing/alone.h"
#include "collector/timing/arena.h"
#include "collector/timing/counter.h"
#include "collector/timing/enter.h"
#include "collector/timing/forbid.h"
#include "collector/timing/shared.h"

#define RUN_NS 25000            /* of N passes; the clock of some CPUs goes in steps of 10 ns */
#define RUN_TICKS 4000          /* at least, where ticks are long */
#define LONG_NS 2000000         /* from here on a call is nothing beside its passes, and a turn is one run; */
#define SURELY_NS 50000000      /* from here on no interruption explains it */
#define PAIRS 4                 /* in a turn */
#define DISTURBED_RUNS 8        /* what a disturbed pair counts, in runs; an undisturbed one counts 3 or more */
#define LEAST_TURNS 3
#define FEWEST_TURNS 2          /* of one whose time is up */
#define CHAIN_UNITS 256         /* 49,152 cycles: 13 us at 3.7 GHz */
#define CHAIN_WARM_UNITS 8
#define CHAIN_TIMES 2           /* of which the least is believed */
#define CHAIN_TIMES_LONG 8      /* where a run is so long that it costs nothing */
#define CHAIN_ROUNDS 50         /* to know what a call of a chain costs */
#define ROUNDS 3000             /* to see whether another thread is on the core: 1 us */
#define WARM_ROUNDS 64          /* whose branch is not known behind microbenchmarks */
#define ALONE_TIMES 2000        /* looked at in the beginning */
#define CHAIN_TRIES 10           /* 4 ms each */
#define RATIO_QUIET 0.0005      /* by which they differ where nothing disturbs them */
#define KNOWN_RATIO 0.005       /* by which chains may differ and are both believed */
#define ONE_PACE 0.003          /* paces that are the core's own, before and behind a turn */
#define ENOUGH_FOR_FILLING (1ull << 30)
#if defined(__x86_64__)
#define HAS_WIDE() __builtin_cpu_supports("avx")
#else
#define HAS_WIDE() 0
#endif

struct child {
	struct gus_shared *shared;
	const uint8_t *code;
	struct gus_arena arena[2];      /* of base pages, of large ones */
	int counter;                    /* the PMU's, -1: there is none */
	double ticks_a_second;          /* of what time is told by */
	uint64_t run, is_long, is_long_surely; /* the same as ticks */
	int wide;
	unsigned turns;                 /* of all */
	struct gus_alone alone;
	uint32_t last;                  /* the job that had the last one */
};

/* What a job needs while its order lasts. */
struct progress { uint64_t spent; uint32_t turns; bool is_long, done; };

static uint64_t now(const struct child *c, uint32_t *cpu)
{
	uint64_t ticks = gus_clock_ticks(cpu);

	if (c->counter >= 0 && !gus_timing_counter_read(c->counter, &ticks))
		_exit(GUS_TIMING_COUNTER_LOST);
	return ticks;
}

static uint64_t time_chain(struct child *c, enum gus_clock_chain chain, uint64_t units)
{
	uint32_t cpu;
	uint64_t start = now(c, &cpu);

	gus_clock_run(chain, units);
	return now(c, &cpu) - start;
}

/* Cycles a tick by one chain, whose code is not in the caches behind that of microbenchmarks. */
static double pace_by(struct child *c, enum gus_clock_chain chain, unsigned times)
{
	double ticks = INFINITY;

	time_chain(c, chain, CHAIN_WARM_UNITS);
	for (unsigned i = 0; i < times; i++)
		ticks = fmin(ticks, (double)time_chain(c, chain, CHAIN_UNITS));
	ticks -= c->shared->call[chain];
	return ticks > 0 ? (double)CHAIN_UNITS * GUS_CLOCK_UNIT / ticks : 0;
}

/* By turns; if products don't agree with adds, whose cycle is the same everywhere, by adds alone. */
static double pace(struct child *c, bool is_long)
{
	bool agree = fabs(c->shared->ratio - 1) <= KNOWN_RATIO;

	return pace_by(c, agree && c->turns & 1 ? GUS_CLOCK_PRODUCTS : GUS_CLOCK_ADDS,
		       is_long ? CHAIN_TIMES_LONG : CHAIN_TIMES);
}

/* Ticks a round. What reading the clock costs is in it, always. */
static double ticks_a_round(struct child *c)
{
	uint32_t cpu;
	uint64_t start;

	gus_clock_rounds(WARM_ROUNDS);
	start = now(c, &cpu);
	gus_clock_rounds(ROUNDS);
	return (double)(now(c, &cpu) - start) / ROUNDS;
}

/* False if they were disturbed so much that another time is better. */
static bool time_chains(struct child *c)
{
	struct gus_shared *s = c->shared;
	struct gus_timing_sample of[GUS_CLOCK_CHAINS][CHAIN_ROUNDS] = { 0 };
	struct gus_timing_sum sum[GUS_CLOCK_CHAINS];

	for (uint32_t i = 0; i < CHAIN_ROUNDS; i++)
		for (int chain = 0; chain < GUS_CLOCK_CHAINS; chain++) {
			struct gus_timing_sample *sample = &of[chain][i];

			sample->once = (double)time_chain(c, chain, CHAIN_UNITS);
			sample->twice = (double)time_chain(c, chain, 2 * CHAIN_UNITS);
			sample->before = sample->after = 1; /* which is what we want to know */
			sample->turn = i;
		}
	for (int chain = 0; chain < GUS_CLOCK_CHAINS; chain++) {
		gus_timing_add_up(of[chain], CHAIN_ROUNDS, CHAIN_UNITS, 0, &sum[chain]);
		s->call[chain] = fmax(sum[chain].call, 0);
	}
	s->ratio = sum[GUS_CLOCK_PRODUCTS].cycles / sum[GUS_CLOCK_ADDS].cycles;
	s->pace = GUS_CLOCK_UNIT / sum[GUS_CLOCK_ADDS].cycles;
	return sum[GUS_CLOCK_ADDS].settled && sum[GUS_CLOCK_PRODUCTS].settled && fabs(s->ratio - 1) < RATIO_QUIET;
}

static void look_at_chains(struct child *c)
{
	for (unsigned i = 0; i < CHAIN_TRIES && !time_chains(c); i++)
		;
}

/* By the clock, whatever runs are timed by, and then by that. */
static void look_at_pace(struct child *c)
{
	int counter = c->counter;

	c->counter = -1;
	look_at_chains(c);
	c->shared->clock_pace = c->shared->pace;
	c->counter = counter;
	if (counter >= 0)
		look_at_chains(c);
}

/* What a round takes alone, as far as it is seen now. */
static void look_at_rounds(struct child *c)
{
	double cycles[ALONE_TIMES];

	for (unsigned i = 0; i < ALONE_TIMES; i++)
		cycles[i] = ticks_a_round(c) * c->shared->pace;
	gus_alone_begin(&c->alone, cycles, ALONE_TIMES);
	c->shared->alone = c->alone.cycles;
}

/* One run. moved: it ended on another CPU than it began on. */
static uint64_t run(struct child *c, const struct gus_shared_job *j, uint64_t passes, bool *moved)
{
	struct gus_shared *s = c->shared;
	uint8_t *arena = c->arena[j->huge].memory + j->arena;
	uint32_t before, after;
	uint64_t start, end;

	s->passes = passes;
	s->step++;
	start = now(c, &before);
	gus_timing_enter(c->code + j->code, passes, arena, c->wide);
	end = now(c, &after);
	*moved = *moved || before != after;
	return end - start;
}

static long switches(void)
{
	struct rusage r = { 0 };

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nivcsw + r.ru_nvcsw;
}

/* A whole number of rounds through what has to be warm, so that one run goes on where the last one ended. */
static uint64_t in_rounds(uint64_t passes, uint64_t warm)
{
	return warm > 1 ? (passes + warm - 1) / warm * warm : passes;
}

/* The less of two: one may have been interrupted, and would make runs too short, or them long ones. */
static uint64_t less_of_two(struct child *c, struct gus_shared_job *j, struct progress *p)
{
	bool moved = false;
	uint64_t first = run(c, j, j->made, &moved), second = first > c->is_long_surely ? first :
		run(c, j, j->made, &moved);

	p->spent += first + second;
	return first < second ? first : second;
}

/* How many passes a run has. The first run makes warm what the others find so. */
static void choose_passes(struct child *c, struct gus_shared_job *j, struct progress *p)
{
	uint64_t ticks, times, floor = j->warm > j->passes ? j->warm : j->passes;
	bool moved = false;

	j->made = in_rounds(floor ? floor : 1, j->warm);
	p->spent += run(c, j, j->made, &moved);
	while ((ticks = less_of_two(c, j, p)) < c->run) {
		times = c->run / (ticks ? ticks : 1) + 1;
		j->made = in_rounds(j->made * (times < 2 ? 2 : times > 16 ? 16 : times), j->warm);
	}
	p->is_long = ticks > c->is_long;
}

/* Another CPU has written it. Intel SDM 3A, 9.1.3: a serializing instruction before it is executed. Of arm64 both
 * caches, by the addresses that it is executed at. */
static void see_code(const uint8_t *code, size_t size)
{
#if defined(__x86_64__)
	uint32_t a = 0, b, c = 0, d;

	(void)code;
	(void)size;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d) : : "memory");
#else
	__builtin___clear_cache((char *)(uintptr_t)code, (char *)(uintptr_t)code + size);
#endif
}

static void prepare(struct child *c, struct gus_shared_job *j, struct progress *p)
{
	struct gus_shared *s = c->shared;

	s->phase = GUS_SHARED_PREPARES;
	if (!gus_arena_touch(&c->arena[j->huge], j->arena + j->arena_size)) {
		j->small_pages = true;
		p->done = true;
		return;
	}
	if (j->fresh && j->fill)
		j->fill(s->what + j->what, j->what_size, c->arena[j->huge].memory + j->arena);
	see_code(c->code + j->code, j->code_size);
	s->phase = GUS_SHARED_EXECUTES;
	j->samples = 0;
	choose_passes(c, j, p);
}

static double cpu_ns(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* While a long run lasts others have their turns, too: its time is that of the thread. Not where ticks are cycles of
 * the PMU, which are the thread's anyhow. */
static double run_long(struct child *c, const struct gus_shared_job *j, bool *moved)
{
	double start = cpu_ns(), ticks = (double)run(c, j, j->made, moved);

	return c->counter >= 0 ? ticks : (cpu_ns() - start) * 1e-9 * c->ticks_a_second;
}

static void take_pair(struct child *c, struct gus_shared_job *j, struct progress *p, struct gus_timing_sample *sample,
		      double *last_round)
{
	long before = switches();
	bool moved = false;

	sample->round = *last_round;
	if (p->is_long) {
		sample->once = run_long(c, j, &moved);
		sample->twice = 0;
	} else {
		sample->once = (double)run(c, j, j->made, &moved);
		sample->twice = (double)run(c, j, 2 * j->made, &moved);
		moved = moved || switches() != before;
	}
	sample->disturbed = moved;
	*last_round = ticks_a_round(c);
	sample->round = fmax(sample->round, *last_round);
	/* What somebody else had of it was not spent, but who never gets a turn does not wait for ever. */
	p->spent += moved && !p->is_long ? DISTURBED_RUNS * c->run : (uint64_t)(sample->once + sample->twice);
}

/* Else the clock or the core changed meanwhile, and no cycles are known of the turn. */
static bool is_one_pace(double before, double after)
{
	return fabs(before - after) < ONE_PACE * after;
}

static void tell_rounds(struct child *c, double cycles)
{
	gus_alone_tell(&c->alone, cycles);
	c->shared->alone = c->alone.cycles;
}

/* What runs between the two paces; the second is the first of the next turn. */
static void take_turn(struct child *c, struct gus_shared_job *j, uint32_t at, struct progress *p, double *last_pace)
{
	uint32_t first = j->samples, most = first + (p->is_long ? 1 : PAIRS);
	double before = *last_pace, round, least = INFINITY;
	bool moved = false;

	/* The caches have what others left there: the one before, or whoever had the CPU meanwhile. */
	if (c->last != at || !p->is_long)
		p->spent += run(c, j, j->made, &moved);
	c->last = at;
	round = ticks_a_round(c);
	for (; j->samples < most && j->samples < GUS_SHARED_SAMPLES; j->samples++) {
		take_pair(c, j, p, &j->sample[j->samples], &round);
		least = fmin(least, j->sample[j->samples].round);
	}
	c->turns++;
	*last_pace = pace(c, p->is_long);
	for (uint32_t i = first; i < j->samples; i++) {
		j->sample[i].before = before;
		j->sample[i].after = *last_pace;
		j->sample[i].turn = p->turns;
	}
	if (is_one_pace(before, *last_pace))
		tell_rounds(c, least * fmin(before, *last_pace));
	p->turns++;
}

static bool has_done(const struct child *c, const struct gus_shared_job *j, const struct progress *p)
{
	struct gus_timing_sum sum;

	if (j->samples == GUS_SHARED_SAMPLES || (p->spent >= c->shared->most_ticks && p->turns >= FEWEST_TURNS))
		return true;
	if (p->turns < LEAST_TURNS)
		return false;
	/* Who waits for a neighbour that never goes waits for nothing. */
	gus_timing_add_up(j->sample, j->samples, j->made,
			  j->shared || gus_alone_is_never(&c->alone) ? 0 : c->alone.cycles, &sum);
	return sum.settled && !(sum.trouble & (GUS_TIMING_NOISY | GUS_TIMING_BISTABLE));
}

static void work(struct child *c)
{
	struct gus_shared *s = c->shared;
	struct progress progress[GUS_SHARED_JOBS] = { 0 };
	uint32_t n = s->jobs < GUS_SHARED_JOBS ? s->jobs : GUS_SHARED_JOBS, left = n;
	double last_pace;

	for (uint32_t i = 0; i < n; i++) {
		s->at = i;
		prepare(c, &s->job[i], &progress[i]);
		left -= progress[i].done;
	}
	c->last = n - 1;
	last_pace = pace(c, true);
	while (left)
		for (uint32_t i = 0; i < n; i++) {
			if (progress[i].done)
				continue;
			s->at = i;
			take_turn(c, &s->job[i], i, &progress[i], &last_pace);
			progress[i].done = has_done(c, &s->job[i], &progress[i]);
			left -= progress[i].done;
		}
	s->phase = GUS_SHARED_RESTS;
}

static int stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static void __attribute__((noreturn)) fail(const struct gus_timing_child *how, const char *what, int sys)
{
	how->shared->sys = sys;
	how->shared->failed = what;
	_exit(write(how->channel, "", 1) == 1 ? 0 : 1);
}

/* All that needs a right, and then none is left. */
static void set_up(const struct gus_timing_child *how, struct child *c)
{
	uint64_t most = gus_arena_most();
	int keep[4] = { how->channel }, n = 1, sys = most ? 0 : errno;

	if (sys)
		fail(how, "read /proc/meminfo, by which it would know how much memory is free", sys);
	if (stay_on(how->cpu) != 0)
		fail(how, "stay on one CPU", errno);
	gus_priority_raise();
	c->code = mmap(NULL, GUS_SHARED_CODE, PROT_READ | PROT_EXEC, MAP_SHARED, how->code, 0);
	if (c->code == MAP_FAILED)
		fail(how, "execute code that is made while it runs", errno);
	gus_arena_open(&c->arena[0], most);
	if (!c->arena[0].size)
		fail(how, "reserve memory for microbenchmarks to work on", most ? errno : ENOMEM);
	gus_arena_open_huge(&c->arena[1], most);
	if (how->counter)
		c->counter = gus_timing_counter_open();
	if (c->counter >= 0)
		keep[n++] = c->counter;
	if (c->arena[1].size)
		keep[n++] = c->arena[1].smaps;
	sys = gus_timing_forbid(keep, (size_t)n, ENOUGH_FOR_FILLING);
	if (sys)
		fail(how, "forbid system calls to what is executed", sys);
	how->shared->arena_most = c->arena[0].size;
	how->shared->arena_most_huge = c->arena[1].size;
	how->shared->counter = c->counter >= 0;
}

static void set_lengths(struct child *c)
{
	/* Of a counter ticks are cycles, and how many of them are a second is known about. */
	double ticks_a_second = c->shared->counter ? 3e9 : c->ticks_a_second;

	c->run = (uint64_t)(ticks_a_second * RUN_NS * 1e-9);
	c->run = c->run < RUN_TICKS ? RUN_TICKS : c->run;
	c->is_long = (uint64_t)(ticks_a_second * LONG_NS * 1e-9);
	c->is_long_surely = (uint64_t)(ticks_a_second * SURELY_NS * 1e-9);
}

void gus_timing_child(const struct gus_timing_child *how)
{
	struct child c = { .shared = how->shared, .counter = -1, .ticks_a_second = how->ticks_a_second,
			   .wide = HAS_WIDE() };
	char byte;

	set_up(how, &c);
	set_lengths(&c);
	look_at_pace(&c);
	look_at_rounds(&c);
	while (write(how->channel, "", 1) == 1 && read(how->channel, &byte, 1) == 1)
		work(&c);
	_exit(0);
}
