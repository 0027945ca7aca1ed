/* SPDX-License-Identifier: MIT */
#include "collector/trial/probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ascending.h"
#include "base/error.h"
#include "collector/counters/ring.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/events/attr.h"
#include "collector/host/clock.h"
#include "collector/kernel/abi.h"
#include "collector/kernel/perf.h"
#include "collector/records/records.h"
#include "collector/trial/self.h"

#define ENOUGH_SAMPLES 4
#define GIVE_UP_NS 2500000        /* at 4 candidates of cycles this bounds the whole probe */
#define PROBE_PERIOD_NS 100003
#define PROBE_PERIOD_CYCLES 200003

#define RARE_PERIOD 1000000007     /* so long that nothing is sampled */

#define COST_PERIOD_NS 50021      /* 20,000 samples a second, */
#define COST_PERIOD_CYCLES 100003 /* or somewhat more: enough in a millisecond to stand out of the noise */
#define COST_PAIRS 11
#define COST_STACK_MIN 4096       /* bytes; what copying less takes is lost in the noise */
#define COST_SPIN 5000            /* times 192 cycles: about 0.3 ms at 3 GHz; two of them a pair */

/* An event that samples this very thread, and what its samples say. */
struct self_event {
	struct gus_self own;
	uint64_t samples, exact;
	struct gus_records *records; /* looks into the samples for branches; NULL: nobody does */
	uint64_t with_branches, with_retirement;
};

/* Returns 0 or -errno. */
static int self_open_as(struct self_event *s, const struct gus_event *event, uint64_t period,
			const struct gus_cargo *cargo)
{
	*s = (struct self_event){ 0 };
	return gus_self_open(&s->own, event, period, cargo);
}

static int self_open(struct self_event *s, const struct gus_event *event, uint64_t period)
{
	return self_open_as(s, event, period, &(const struct gus_cargo){ 0 });
}

static void self_close(struct self_event *s)
{
	gus_self_close(&s->own);
}

static void count_sample(const void *record, size_t size, void *context)
{
	struct self_event *s = context;
	struct perf_event_header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, record, sizeof(h));
	s->samples += h.type == PERF_RECORD_SAMPLE;
	s->exact += h.type == PERF_RECORD_SAMPLE && (h.misc & PERF_RECORD_MISC_EXACT_IP);
	if (s->records && h.type == PERF_RECORD_SAMPLE) {
		struct gus_sample sample = gus_records_parse(s->records, record, size, NULL).sample;

		s->with_branches += sample.branches_n > 0;
		s->with_retirement += (sample.told & GUS_TOLD_RETIRE) != 0;
	}
}

static enum gus_verdict judge(struct self_event *s, bool precise)
{
	uint64_t start = gus_clock_ns(CLOCK_MONOTONIC), count = 0;

	if (gus_perf.ioctl(s->own.fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		return GUS_PROBE_UNTRIED;
	while (s->samples < ENOUGH_SAMPLES && gus_clock_ns(CLOCK_MONOTONIC) - start < GIVE_UP_NS) {
		gus_clock_run(GUS_CLOCK_PRODUCTS, 1500);
		gus_ring_drain(&s->own.ring, count_sample, s);
	}
	/* This empties the buffers of precise events into the ring. */
	gus_perf.ioctl(s->own.fd, PERF_EVENT_IOC_DISABLE, 0);
	gus_ring_drain(&s->own.ring, count_sample, s);
	if (gus_perf.read(s->own.fd, &count, sizeof(count)) != sizeof(count))
		return GUS_PROBE_UNTRIED;
	if (!count)
		return GUS_PROBE_STILL;
	if (!s->samples)
		return GUS_PROBE_SILENT;
	return precise && !s->exact ? GUS_PROBE_INEXACT : GUS_PROBE_GOOD;
}

/* Of an event that did not open, by -errno. */
static enum gus_verdict verdict_of(int rc)
{
	const struct gus_error why = { GUS_E_SYSTEM, .sys = -rc };

	if (rc == -EACCES || rc == -EPERM || rc == -ENOSYS)
		return GUS_PROBE_REFUSED;
	return gus_error_is_transient(&why) ? GUS_PROBE_UNTRIED : GUS_PROBE_ABSENT;
}

/* Whether samples have to say that their address is exact. precise_ip 1 allows constant skid, so samples of PEBS do not
 * say it then, and need not: x86's drivers refuse what the CPU cannot do. Arm's do not look at precise_ip at all
 * (drivers/perf/arm_pmu.c of Linux): cycles:ppp opens there and samples as cycles do, which only its samples show. */
static bool must_be_exact(const struct gus_event *event)
{
#if defined(__x86_64__) || defined(__i386__)
	return event->precise > 1;
#else
	return event->precise > 0;
#endif
}

enum gus_verdict gus_probe_event(const struct gus_event *event)
{
	struct self_event s;
	enum gus_verdict verdict;
	int rc = self_open(&s, event, gus_event_is_clock(event) ? PROBE_PERIOD_NS : PROBE_PERIOD_CYCLES);

	if (rc < 0)
		return verdict_of(rc);
	verdict = judge(&s, must_be_exact(event));
	self_close(&s);
	return verdict;
}

enum gus_verdict gus_probe_branches(const struct gus_event *event, uint64_t branch_type)
{
	const struct gus_attr_plan plan = { .cargo.branch_type = branch_type };
	struct gus_records records;
	struct self_event s;
	enum gus_verdict verdict;
	int rc = self_open_as(&s, event, gus_event_is_clock(event) ? PROBE_PERIOD_NS : PROBE_PERIOD_CYCLES,
			      &plan.cargo);

	if (rc < 0)
		return verdict_of(rc);
	gus_records_init(&records, gus_attr_sample_type(&plan), branch_type, 1);
	s.records = &records;
	verdict = judge(&s, must_be_exact(event));
	/* What other filters let through, the loop that is sampled here need not have. */
	if (verdict == GUS_PROBE_GOOD && (branch_type & PERF_SAMPLE_BRANCH_ANY) && !s.with_branches)
		verdict = GUS_PROBE_SILENT;
	gus_records_free(&records);
	self_close(&s);
	return verdict;
}

enum gus_verdict gus_probe_retirement(const struct gus_event *event)
{
	const struct gus_attr_plan plan = { 0 };
	struct gus_event weighed = *event;
	struct gus_records records;
	struct self_event s;
	enum gus_verdict verdict;
	int rc;

	weighed.extra = GUS_PERF_WEIGHT_STRUCT;
	rc = self_open(&s, &weighed, PROBE_PERIOD_CYCLES);
	if (rc < 0)
		return verdict_of(rc);
	gus_records_init(&records, gus_attr_sample_type_of(&plan, &weighed), 0, 1);
	s.records = &records;
	verdict = judge(&s, true);
	if (verdict == GUS_PROBE_GOOD && !s.with_retirement)
		verdict = GUS_PROBE_SILENT;
	gus_records_free(&records);
	self_close(&s);
	return verdict;
}

/* Returns 0 or -errno. */
static int opens(const struct gus_event *event, const struct gus_attr_plan *plan, bool kernel)
{
	struct gus_event e = *event;
	union gus_attr a;
	int fd;

	e.period = RARE_PERIOD;
	if (!kernel)
		gus_event_exclude_kernel(&e);
	gus_attr_fill(&a, &e, plan, true);
	fd = gus_attr_open(&a, 0, -1, -1);
	if (fd >= 0)
		gus_perf.close(fd);
	return fd < 0 ? fd : 0;
}

static bool is_refused(int rc)
{
	return rc == -EACCES || rc == -EPERM;
}

/* Where it opens without the cargo and not with it, the cargo is what is in the way. */
int gus_probe_stacks(const struct gus_event *e, const struct gus_cargo *cargo)
{
	const struct gus_attr_plan loaded = { .cargo = *cargo }, empty = { .cargo.chain = cargo->chain };
	bool kernel = !is_refused(opens(e, &empty, true));
	int rc = opens(e, &loaded, kernel);

	if (rc == 0 || is_refused(rc) || opens(e, &empty, kernel) != 0)
		return 0;
	return -rc;
}

/* Best first. */
static const struct candidate {
	const char *spec;
	char tier;
} candidates[] = {
	{ "cycles:ppp", 'A' }, { "cycles:pp", 'A' }, { "cycles:p", 'A' }, { "cycles", 'B' },
	{ "cpu-clock", 'C' }, { "task-clock", 'C' },
};

static const char *const verdict_texts[] = {
	[GUS_PROBE_GOOD] = "works",
	[GUS_PROBE_ABSENT] = "not offered by this machine or its hypervisor",
	[GUS_PROBE_REFUSED] = "refused (kernel.perf_event_paranoid, or the container)",
	[GUS_PROBE_STILL] = "opens, but does not count",
	[GUS_PROBE_SILENT] = "counts, but delivers no samples",
	[GUS_PROBE_INEXACT] = "delivers samples without exact addresses",
	[GUS_PROBE_UNTRIED] = "could not be tried, for want of descriptors or memory",
};

/* What a sample of such an event is worth. */
static const char *meaning_of(const struct gus_event *e)
{
	if (gus_event_is_clock(e))
		return "a timer shows where time is spent; an address may be some instructions behind the one that "
		       "took the time, and no hardware event says why";
	if (!gus_event_is_hardware(e))
		return "samples show where the event happens, not where time is spent";
	if (e->precise > 1)
		return "the hardware records the exact instruction of each sample";
	if (strcmp(e->unit, "cycles") == 0)
		return "samples show where cycles are spent, but an address may be some instructions behind the one "
		       "that took them";
	return "samples show where the event happens; an address may be some instructions behind the one that "
	       "caused it";
}

static char tier_of(const struct gus_event *e)
{
	if (!gus_event_is_hardware(e))
		return 'C';
	return e->precise ? 'A' : 'B';
}

void gus_probe_describe(const struct gus_events *events, struct gus_choice *choice)
{
	const struct gus_event *e = &events->v[0];

	choice->tier = tier_of(e);
	snprintf(choice->text, sizeof(choice->text), "%s: %s%s", e->name, meaning_of(e),
		 e->user && !e->kernel ? "; the kernel is left out" : "");
}

/* Tries what spec means, first with the kernel, then without. Several kinds of cores are several events, of which this
 * thread runs on one at a time: one that works vouches for all. */
static enum gus_verdict try_candidate(const char *spec, struct gus_events *events, struct gus_pmus *pmus)
{
	enum gus_verdict best = GUS_PROBE_ABSENT;

	if (gus_events_parse(events, spec, pmus, NULL) != 0)
		return best;
	for (unsigned user_only = 0; user_only < 2; user_only++) {
		bool refused = false;

		best = GUS_PROBE_ABSENT;
		for (size_t i = 0; i < events->n; i++) {
			enum gus_verdict v;

			if (user_only)
				gus_event_exclude_kernel(&events->v[i]);
			v = gus_probe_event(&events->v[i]);
			if (v == GUS_PROBE_GOOD)
				return v;
			refused |= v == GUS_PROBE_REFUSED;
			best = v > best ? v : best;
		}
		if (!refused)
			break;
	}
	return best;
}

/* Why the candidates above the chosen one were not taken; those with the same reason stand together. */
static void explain_failures(const enum gus_verdict *verdicts, size_t n, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++) {
		bool last = i + 1 == n || verdicts[i + 1] != verdicts[i];

		used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", candidates[i].spec, last ? ": " : ", ",
					 last ? verdict_texts[verdicts[i]] : "", last && i + 1 < n ? "; " : "");
	}
}

/* Why not even a clock may sample our own code. */
static int explain_refusal(struct gus_error *err)
{
	const struct gus_event clock = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .user = true,
					 .period = PROBE_PERIOD_NS };
	const struct gus_attr_plan plan = { .wakeup_bytes = GUS_SELF_RING_BYTES };
	char why[400], command[200];
	struct gus_facts rights;
	union gus_attr a;
	int fd;

	gus_attr_fill(&a, &clock, &plan, true);
	fd = gus_attr_open(&a, 0, -1, -1);
	if (fd >= 0) {
		gus_perf.close(fd);
		return gus_fail(err, GUS_E_PERMISSION, "no event delivers samples here: not even %u KiB of memory "
				"may be locked for a ring (kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK); gusprof "
				"doctor says more", (unsigned)GUS_SELF_RING_BYTES >> 10);
	}
	gus_facts_rights(&rights);
	gus_doctor_refusal(&rights, -fd, GUS_WISH_USER, why, sizeof(why), command, sizeof(command));
	return gus_fail(err, GUS_E_PERMISSION, "no event delivers samples here: %s%s%s; gusprof doctor says more", why,
			*command ? ": " : "", command);
}

int gus_probe_auto(struct gus_events *events, struct gus_pmus *pmus, struct gus_choice *choice, struct gus_error *err)
{
	enum gus_verdict verdicts[sizeof(candidates) / sizeof(*candidates)];
	const size_t n = sizeof(candidates) / sizeof(*candidates);
	char failures[400];

	for (size_t i = 0; i < n; i++) {
		struct gus_events tried = { 0 };

		verdicts[i] = try_candidate(candidates[i].spec, &tried, pmus);
		explain_failures(verdicts, i, failures, sizeof(failures));
		/* A worse one would be taken for a reason that has nothing to do with it. */
		if (verdicts[i] == GUS_PROBE_UNTRIED) {
			gus_events_free(&tried);
			return gus_fail(err, GUS_E_SYSTEM, "cannot try which event delivers samples here: %s %s",
					candidates[i].spec, verdict_texts[GUS_PROBE_UNTRIED]);
		}
		if (verdicts[i] != GUS_PROBE_GOOD) {
			gus_events_free(&tried);
			continue;
		}
		gus_probe_describe(&tried, choice);
		choice->tier = candidates[i].tier;
		if (tried.v[0].user) /* no candidate says so by itself */
			snprintf(choice->text + strlen(choice->text), sizeof(choice->text) - strlen(choice->text),
				 ", because this user may not sample it (kernel.perf_event_paranoid)");
		if (i)
			snprintf(choice->text + strlen(choice->text), sizeof(choice->text) - strlen(choice->text),
				 ". Better ones would be %s", failures);
		gus_vec_append(events, tried.v, tried.n);
		gus_vec_free(&tried);
		return 0;
	}
	if (verdicts[n - 1] == GUS_PROBE_REFUSED)
		return explain_refusal(err);
	explain_failures(verdicts, n, failures, sizeof(failures));
	return gus_fail(err, GUS_E_UNSUPPORTED, "no event delivers samples here: %s", failures);
}

bool gus_probe_precision(struct gus_events *events)
{
	bool ignored = false;

	for (size_t i = 0; i < events->n; i++) {
		struct gus_event *e = &events->v[i];

		if (e->precise_best) {
			e->precise = gus_event_is_hardware(e) ? GUS_PRECISE_MAX : 0;
			while (e->precise && gus_probe_event(e) != GUS_PROBE_GOOD)
				e->precise--;
			e->precise_best = false;
			gus_event_rename(e);
		} else if (e->precise && gus_event_is_hardware(e) && gus_probe_event(e) == GUS_PROBE_INEXACT) {
			e->precise = 0;
			ignored = true;
			gus_event_rename(e);
		}
	}
	return ignored;
}

bool gus_probe_permission(struct gus_events *events)
{
	struct self_event s;
	bool changed = false;
	int rc = 0;

	for (size_t i = 0; i < events->n && rc == 0; i++) {
		struct gus_event e = events->v[i];

		if (e.user || e.kernel || e.hv)
			continue;
		rc = self_open(&s, &e, gus_event_is_clock(&e) ? PROBE_PERIOD_NS : PROBE_PERIOD_CYCLES);
		if (rc == 0) {
			self_close(&s);
			continue;
		}
		e.user = true;
		if (self_open(&s, &e, gus_event_is_clock(&e) ? PROBE_PERIOD_NS : PROBE_PERIOD_CYCLES) != 0)
			return false; /* the kernel's part is not what is in the way */
		self_close(&s);
	}
	if (rc == -EACCES || rc == -EPERM)
		for (size_t i = 0; i < events->n; i++)
			changed |= gus_event_exclude_kernel(&events->v[i]);
	return changed;
}

bool gus_probe_switches(void)
{
	const struct gus_event switches = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES };
	struct self_event s;

	if (self_open(&s, &switches, 1) != 0)
		return false;
	self_close(&s);
	return true;
}

/* In CPU time: on a busy machine others take their turns meanwhile. */
static uint64_t time_spin(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	gus_clock_run(GUS_CLOCK_PRODUCTS, COST_SPIN);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return (uint64_t)((to.tv_sec - from.tv_sec) * 1000000000 + (to.tv_nsec - from.tv_nsec));
}

/* Without and with sampling in turn. The median of the differences: the shortest ones, which look so clean, are those
 * where the kernel's code happened to be in the caches, and fall a third short of what a whole program pays. */
uint64_t gus_probe_cost_with(const struct gus_event *event, const struct gus_cargo *cargo)
{
	double costs[COST_PAIRS];
	struct self_event s;
	size_t n = 0;

	if (strcmp(event->unit, "ns") != 0 && strcmp(event->unit, "cycles") != 0)
		return 0;
	if (self_open_as(&s, event, gus_event_is_clock(event) ? COST_PERIOD_NS : COST_PERIOD_CYCLES,
			 cargo) < 0)
		return 0;
	for (unsigned i = 0; i < COST_PAIRS; i++) {
		uint64_t without = time_spin(), with;

		gus_perf.ioctl(s.own.fd, PERF_EVENT_IOC_ENABLE, 0);
		with = time_spin();
		gus_perf.ioctl(s.own.fd, PERF_EVENT_IOC_DISABLE, 0);
		s.samples = 0;
		gus_ring_drain(&s.own.ring, count_sample, &s);
		if (s.samples)
			costs[n++] = ((double)with - (double)without) / (double)s.samples;
	}
	self_close(&s);
	if (!n)
		return 0;
	qsort(costs, n, sizeof(*costs), gus_ascending);
	return costs[n / 2] > 0 ? (uint64_t)costs[n / 2] : 0;
}

/* Our own stack is as deep as nobody else's: so much of it is laid beneath the loop that it is cut as a deep one is. */
static __attribute__((noinline)) uint64_t cost_when_deep(const struct gus_event *event, const struct gus_cargo *cargo)
{
	volatile char deep[GUS_CARGO_STACK_MAX];

	for (size_t i = 0; i < sizeof(deep); i += 1024)
		deep[i] = 1;
	return gus_probe_cost_with(event, cargo) + (deep[0] == 0);
}

uint64_t gus_probe_cost_of_stack(const struct gus_event *event, const struct gus_cargo *cargo)
{
	struct gus_cargo without = *cargo;
	uint64_t deep, flat;

	if (cargo->stack_bytes < COST_STACK_MIN)
		return 0;
	without.stack_bytes = 0;
	deep = cost_when_deep(event, cargo);
	flat = cost_when_deep(event, &without);
	return deep > flat ? (deep - flat) * 1024 / cargo->stack_bytes : 0;
}

uint64_t gus_probe_cost(const struct gus_event *event)
{
	return gus_probe_cost_with(event, &(const struct gus_cargo){ 0 });
}
