/* SPDX-License-Identifier: MIT */
/* A thief of bandwidth, and programs that it takes it from (`tests/accuracy/contention` runs them). After Memload in
 * Palomares' thesis (2015, chapter 3): a task on another CPU that reads or writes as much memory as fits a level, with
 * a number of MB/s to aim at.
 *
 *	thief steal SIZE[K|M] loads|stores|nt MBS CPU SECONDS
 *	                                steals; MBS 0: as much as it can. Prints MB/s, once a second
 *	thief victim NAME SECONDS       runs one of the victims for so long, of CPU time, so that it can be recorded
 *	thief victims                   their names
 *	thief shared CPU                whether another CPU is a thread of its core (sysfs, and tried): a sentence,
 *	                                and status 1 if so
 *	thief measure ROUNDS CPU OTHER SIZE[K|M] loads|stores|nt MBS
 *	                                each victim on CPU by itself and beside the thief on OTHER, in turns
 *
 * Others use both CPUs at the same time. So a run is half a millisecond, the victim alone and beside the thief take
 * turns, and runs count only that nobody disturbed: neither the victim nor the thief lost its CPU meanwhile, by the
 * kernel's counts of switches, and the thief did as much as it does undisturbed. Where the victim is alone, the thief
 * holds its CPU all the same, and spins, so that nobody else uses memory from there. Both come before all others
 * (SCHED_FIFO), if we may, and sleep between two runs, so that the others get most of the time. What hosts do beyond
 * their guests remains, and is the noise that is printed: half of what is between the quartiles. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/error.h"
#include "collector/host/priority.h"
#include "collector/timing/sharing.h"
#include "collector/timing/timing.h"

enum { PIECE = 1 << 16, LINE = 64, PAUSE_US = 1500, BEFORE_US = 150 };
enum op { LOADS, STORES, NT, OPS };
static const char *const op_names[OPS] = { "loads", "stores", "nt" };

typedef double pair __attribute__((vector_size(16)));

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "thief: %s\n", what);
	exit(2);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fail("cannot go to that CPU");
}

static void *take(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("not enough memory");
	madvise(p, size, MADV_HUGEPAGE);
	memset(p, 1, size);
	return p;
}

/* What goes through memory. */

static void __attribute__((noinline)) sum(const char *p, size_t size)
{
	pair a = { 0, 0 }, b = a, c = a, d = a;

	for (size_t i = 0; i < size; i += 4 * sizeof(pair)) {
		a += *(const pair *)(p + i);
		b += *(const pair *)(p + i + 16);
		c += *(const pair *)(p + i + 32);
		d += *(const pair *)(p + i + 48);
	}
	a += b + c + d;
	__asm__ volatile("" : : "x"(a));
}

static void __attribute__((noinline)) fill(char *p, size_t size)
{
	pair one = { 1, 1 };

	for (size_t i = 0; i < size; i += 4 * sizeof(pair)) {
		*(volatile pair *)(p + i) = one;
		*(volatile pair *)(p + i + 16) = one;
		*(volatile pair *)(p + i + 32) = one;
		*(volatile pair *)(p + i + 48) = one;
	}
}

static void __attribute__((noinline)) fill_past(char *p, size_t size)
{
#if defined(__x86_64__)
	for (size_t i = 0; i < size; i += sizeof(__m128i))
		_mm_stream_si128((__m128i *)(p + i), _mm_set1_epi8(1));
	_mm_sfence();
#else
	fill(p, size);
#endif
}

static void __attribute__((noinline)) copy(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i += 2 * sizeof(pair)) {
		*(volatile pair *)(to + i) = *(const pair *)(from + i);
		*(volatile pair *)(to + i + 16) = *(const pair *)(from + i + 16);
	}
}

static void *__attribute__((noinline)) chase(void *p, size_t steps)
{
	for (size_t i = 0; i < steps; i++)
		p = *(void *volatile *)p;
	return p;
}

static void __attribute__((noinline)) compute(size_t steps)
{
	double a = 1.1, b = 1.2, c = 1.3, d = 1.4;

	for (size_t i = 0; i < steps; i++) {
		a = a * 0.999 + 0.1;
		b = b * 0.999 + 0.1;
		c = c * 0.999 + 0.1;
		d = d * 0.999 + 0.1;
	}
	__asm__ volatile("" : : "x"(a), "x"(b), "x"(c), "x"(d));
}

/* Lines in one circle that goes through all of them by chance (Sattolo's shuffle). */
static void make_ring(char *p, size_t size)
{
	size_t n = size / LINE;
	uint32_t *order = malloc(n * sizeof(*order));
	uint64_t random = 88172645463325252u;

	if (!order)
		fail("not enough memory");
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t k;
		uint32_t kept = order[i];

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		k = random % i;
		order[i] = order[k];
		order[k] = kept;
	}
	for (size_t i = 0; i < n; i++)
		*(void **)(p + (size_t)order[i] * LINE) = p + (size_t)order[(i + 1) % n] * LINE;
	free(order);
}

/* Victims: of each a run of about half a millisecond. */

struct victim {
	const char *name;
	size_t size;                    /* of what it goes through; bytes */
	void (*run)(struct victim *v);
	size_t part, at;                /* bytes or steps of a run; where the next one begins */
	char *memory, *other;
	double moved;                   /* bytes of a run that come from or go to its level */
};

static void run_sum(struct victim *v)
{
	sum(v->memory + v->at, v->part);
	v->at = (v->at + v->part) % v->size;
}

static void run_fill(struct victim *v)
{
	fill(v->memory + v->at, v->part);
	v->at = (v->at + v->part) % v->size;
}

static void run_copy(struct victim *v)
{
	copy(v->other + v->at, v->memory + v->at, v->part);
	v->at = (v->at + v->part) % v->size;
}

static void run_chase(struct victim *v)
{
	v->other = chase(v->other ? v->other : v->memory, v->part);
}

/* A piece that fits into L2, again and again, then the next one. */
static void run_blocked(struct victim *v)
{
	for (unsigned i = 0; i < 8; i++)
		sum(v->memory + v->at, v->part);
	v->at = (v->at + v->part) % v->size;
}

static void run_compute(struct victim *v)
{
	compute(v->part);
}

static struct victim victims[] = {
	{ .name = "sum", .size = 128 << 20, .run = run_sum, .part = 4 << 20, .moved = 4 << 20 },
	{ .name = "fill", .size = 128 << 20, .run = run_fill, .part = 4 << 20, .moved = 8 << 20 },
	{ .name = "copy", .size = 128 << 20, .run = run_copy, .part = 2 << 20, .moved = 6 << 20 },
	{ .name = "chase", .size = 128 << 20, .run = run_chase, .part = 2500, .moved = 2500 * LINE },
	{ .name = "blocked", .size = 128 << 20, .run = run_blocked, .part = 256 << 10, .moved = 256 << 10 },
	{ .name = "compute", .size = PIECE, .run = run_compute, .part = 200000 },
};
#define VICTIMS (sizeof(victims) / sizeof(*victims))

static void prepare(struct victim *v)
{
	v->memory = take(v->size);
	if (v->run == run_copy)
		v->other = take(v->size);
	if (v->run == run_chase)
		make_ring(v->memory, v->size);
}

/* The thief. */

/* What the thief is to do, and does. */
enum state { SLEEP, SPIN, STEAL };

struct shared {
	atomic_int wanted, is, ready;
	atomic_ulong bytes, spins, switches; /* spins: while it waits; switches: times that it lost its CPU */
};

struct thief { size_t size; enum op op; double mbs; int cpu; };

static unsigned long lost_cpu(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (unsigned long)(u.ru_nivcsw + u.ru_nvcsw);
}

static void steal_piece(char *p, enum op op)
{
	if (op == LOADS)
		sum(p, PIECE);
	else if (op == STORES)
		fill(p, PIECE);
	else
		fill_past(p, PIECE);
}

static void spend(double until)
{
	while (now(CLOCK_MONOTONIC) < until)
		;
}

/* Before all others, if we may: for half a millisecond at a time. */
static void come_first(void)
{
	const struct sched_param p = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &p) != 0)
		gus_priority_raise();
}

/* A piece at a time. Where there is a goal, it spins after each until as many bytes are due. */
static void __attribute__((noreturn)) steal(const struct thief *t, struct shared *s)
{
	char *memory;
	double due = 0;

	pin(t->cpu);
	memory = take(t->size);
	come_first();
	atomic_store(&s->ready, 1);
	for (size_t at = 0;; at = (at + PIECE) % t->size) {
		enum state wanted = (enum state)atomic_load(&s->wanted);

		if (wanted == SLEEP) {
			atomic_store(&s->is, SLEEP);
			usleep(PAUSE_US / 10);
		} else if (wanted == SPIN) {
			atomic_fetch_add_explicit(&s->spins, 1, memory_order_relaxed);
		} else {
			due = fmax(due, now(CLOCK_MONOTONIC)) + (t->mbs > 0 ? PIECE / (1e6 * t->mbs) : 0);
			steal_piece(memory + at, t->op);
			atomic_fetch_add_explicit(&s->bytes, PIECE, memory_order_relaxed);
			spend(t->mbs > 0 ? due : 0);
		}
		atomic_store_explicit(&s->switches, lost_cpu(RUSAGE_SELF), memory_order_relaxed);
		atomic_store(&s->is, wanted);
	}
}

static struct shared *send_thief(const struct thief *t, pid_t *pid)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid();

	if (s == MAP_FAILED)
		fail("not enough memory");
	*pid = fork();
	if (*pid < 0)
		fail("cannot begin a process");
	if (*pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		steal(t, s);
	}
	while (!atomic_load(&s->ready)) {
		if (waitpid(*pid, NULL, WNOHANG) != 0)
			fail("the thief has ended");
		usleep(1000);
	}
	return s;
}

static void call_back(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int do_steal(const struct thief *t, double seconds)
{
	pid_t pid;
	struct shared *s = send_thief(t, &pid);
	unsigned long before = 0;

	atomic_store(&s->wanted, STEAL);
	for (double begun = now(CLOCK_MONOTONIC), last = begun, at; last < begun + seconds; last = at) {
		unsigned long bytes;

		usleep(1000000);
		at = now(CLOCK_MONOTONIC);
		bytes = atomic_load(&s->bytes);
		printf("%.0f MB/s\n", (double)(bytes - before) / (at - last) / 1e6);
		fflush(stdout);
		before = bytes;
	}
	call_back(pid);
	return 0;
}

/* Measuring. */

struct runs {
	double *seconds, *bytes;        /* of the run; what the thief did meanwhile, a second: bytes, or spins */
	size_t n, disturbed;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, size_t n, double q)
{
	return n ? sorted[(size_t)(q * (double)(n - 1) + 0.5)] : 0;
}

/* One run, which is kept if both had their CPUs all the while. */
static void run_once(struct victim *v, struct shared *s, struct runs *r)
{
	atomic_ulong *work = atomic_load(&s->wanted) == STEAL ? &s->bytes : &s->spins;
	unsigned long own, others, bytes;
	double seconds, wall;

	own = lost_cpu(RUSAGE_THREAD);
	others = atomic_load(&s->switches);
	bytes = atomic_load(work);
	wall = now(CLOCK_MONOTONIC);
	seconds = now(CLOCK_THREAD_CPUTIME_ID);
	v->run(v);
	seconds = now(CLOCK_THREAD_CPUTIME_ID) - seconds;
	wall = now(CLOCK_MONOTONIC) - wall;
	bytes = atomic_load(work) - bytes;
	if (own != lost_cpu(RUSAGE_THREAD) || others != atomic_load(&s->switches)) {
		r->disturbed++;
		return;
	}
	r->seconds[r->n] = seconds;
	r->bytes[r->n++] = (double)bytes / wall;
}

/* Where the thief did not do what it can, its CPU was somebody else's meanwhile: such runs are taken out. */
static void keep_usual(struct runs *r)
{
	double *sorted = malloc((r->n + 1) * sizeof(*sorted)), usual;
	size_t n = 0;

	memcpy(sorted, r->bytes, r->n * sizeof(*sorted));
	qsort(sorted, r->n, sizeof(*sorted), by_value);
	usual = quantile(sorted, r->n, 0.98);
	for (size_t i = 0; i < r->n; i++)
		if (r->bytes[i] >= 0.8 * usual) {
			r->seconds[n] = r->seconds[i];
			r->bytes[n++] = r->bytes[i];
		} else {
			r->disturbed++;
		}
	r->n = n;
	free(sorted);
}

/* Until the thief does what it is to do, and has for a moment. */
static void meet(struct shared *s, enum state state)
{
	atomic_store(&s->wanted, (int)state);
	while (atomic_load(&s->is) != (int)state)
		usleep(PAUSE_US / 10);
	spend(now(CLOCK_MONOTONIC) + 1e-6 * BEFORE_US);
}

static double mean(const double *v, size_t n)
{
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += v[i];
	return n ? all / (double)n : 0;
}

static void print(struct victim *v, struct runs r[2])
{
	double median[2], noise[2], stolen;

	keep_usual(&r[0]);
	keep_usual(&r[1]);
	stolen = mean(r[1].bytes, r[1].n);
	for (int i = 0; i < 2; i++) {
		qsort(r[i].seconds, r[i].n, sizeof(double), by_value);
		median[i] = quantile(r[i].seconds, r[i].n, 0.5);
		noise[i] = median[i] > 0 ? (quantile(r[i].seconds, r[i].n, 0.75) -
					    quantile(r[i].seconds, r[i].n, 0.25)) / 2 / median[i] : 0;
	}
	printf("%s\t%zu\t%zu\t%zu\t%.6f\t%.6f\t%.4f\t%.4f\t%.0f\t%.0f\t%.4f\t%.4f\n", v->name, r[0].n, r[1].n,
	       r[0].disturbed + r[1].disturbed, 1e3 * median[0], 1e3 * median[1],
	       median[0] > 0 ? median[1] / median[0] - 1 : 0,
	       quantile(r[0].seconds, r[0].n, 0) > 0 ? quantile(r[1].seconds, r[1].n, 0) /
	       quantile(r[0].seconds, r[0].n, 0) - 1 : 0, median[0] > 0 ? v->moved / median[0] / 1e6 : 0, stolen / 1e6,
	       noise[0], noise[1]);
	fflush(stdout);
}

static int do_measure(size_t rounds, int cpu, const struct thief *t)
{
	struct runs r[VICTIMS][2] = { { { NULL, NULL, 0, 0 } } };
	pid_t pid;
	struct shared *s = send_thief(t, &pid);

	pin(cpu);
	for (size_t i = 0; i < VICTIMS; i++) {
		prepare(&victims[i]);
		for (int k = 0; k < 2; k++) {
			r[i][k].seconds = malloc(rounds * sizeof(double));
			r[i][k].bytes = malloc(rounds * sizeof(double));
		}
	}
	come_first();
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < VICTIMS; i++)
			for (int k = 0; k < 2; k++) {
				usleep(PAUSE_US);
				meet(s, k ? STEAL : SPIN);
				run_once(&victims[i], s, &r[i][k]);
				atomic_store(&s->wanted, SLEEP);
			}
	call_back(pid);
	printf("# victim\truns alone\trobbed\tdisturbed\tms alone\trobbed\tloss\tof the quickest\tMB/s alone\t"
	       "MB/s of the thief\tnoise alone\trobbed\n");
	for (size_t i = 0; i < VICTIMS; i++) {
		print(&victims[i], r[i]);
		for (int k = 0; k < 2; k++) {
			free(r[i][k].seconds);
			free(r[i][k].bytes);
		}
	}
	return 0;
}

static int do_victim(const char *name, double seconds)
{
	for (size_t i = 0; i < VICTIMS; i++)
		if (strcmp(victims[i].name, name) == 0) {
			double begun;

			gus_priority_raise();
			prepare(&victims[i]);
			begun = now(CLOCK_PROCESS_CPUTIME_ID);
			while (now(CLOCK_PROCESS_CPUTIME_ID) < begun + seconds)
				victims[i].run(&victims[i]);
			return 0;
		}
	fail("there is no such victim; thief victims tells their names");
	return 2;
}

static int do_shared(int cpu)
{
	const struct gus_timing_options o = { .cpu = cpu };
	struct gus_timing_sharing s;
	struct gus_error err = { 0 };
	struct gus_timing *t = gus_timing_open(&o, &err);

	if (!t || gus_timing_find_sharing(t, &s, &err) != 0)
		fail(err.text);
	if (s.with >= 0)
		printf("CPU %d is a thread of the same core: %s\n", s.with, s.told ? "sysfs says so" :
		       "they slow each other down");
	else
		printf("CPU %d has a core of its own: beside CPU %d it adds %.1f %% slower at most\n", cpu, s.slowed_by,
		       100 * s.slower);
	gus_timing_close(t);
	return s.with >= 0;
}

/* "8M", "512K". */
static size_t size_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	value *= *end == 'M' ? 1 << 20 : *end == 'K' ? 1 << 10 : 1;
	if (value < PIECE || value > 4e9)
		fail("a size is from 64K to 4000M");
	return (size_t)value / PIECE * PIECE;
}

static struct thief thief_of(const char *size, const char *op, const char *mbs, const char *cpu)
{
	struct thief t = { .size = size_of(size), .mbs = strtod(mbs, NULL), .cpu = atoi(cpu) };

	for (t.op = LOADS; t.op < OPS && strcmp(op, op_names[t.op]) != 0; t.op++)
		;
	if (t.op == OPS)
		fail("it steals by loads, stores or nt");
	return t;
}

int main(int argc, char **argv)
{
	struct thief t;

	if (argc == 7 && strcmp(argv[1], "steal") == 0) {
		t = thief_of(argv[2], argv[3], argv[4], argv[5]);
		return do_steal(&t, strtod(argv[6], NULL));
	}
	if (argc == 8 && strcmp(argv[1], "measure") == 0) {
		t = thief_of(argv[5], argv[6], argv[7], argv[4]);
		return do_measure(strtoul(argv[2], NULL, 10), atoi(argv[3]), &t);
	}
	if (argc == 4 && strcmp(argv[1], "victim") == 0)
		return do_victim(argv[2], strtod(argv[3], NULL));
	if (argc == 3 && strcmp(argv[1], "shared") == 0)
		return do_shared(atoi(argv[2]));
	if (argc == 2 && strcmp(argv[1], "victims") == 0) {
		for (size_t i = 0; i < VICTIMS; i++)
			printf("%s\n", victims[i].name);
		return 0;
	}
	fail("see the head of thief.c for what there is");
	return 2;
}
