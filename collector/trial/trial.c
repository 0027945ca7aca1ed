/* SPDX-License-Identifier: MIT */
#include "collector/trial/trial.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/counters/aux.h"
#include "collector/counters/ring.h"
#include "collector/counters/tally.h"
#include "collector/events/attr.h"
#include "collector/host/clock.h"
#include "collector/kernel/perf.h"
#include "collector/trial/probe.h"

#define RING_BYTES (64u << 10)
#define AUX_BYTES (256u << 10)
#define ENOUGH_SAMPLES 4
#define GIVE_UP_NS 3000000
#define PERIOD_IBS 0x10000       /* in cycles; IBS wants a multiple of 16 */
#define PERIOD_BRANCHES 200003   /* in cycles */
#define PERIOD_SPE 16384         /* in operations */

/* Of what did not open. Rights are asked about first: only the last answer may be about the event. */
static enum gus_verdict verdict_of(const struct gus_class_facts *f)
{
	int sys = f->sys_user ? f->sys_user : f->sys;

	return sys == EACCES || sys == EPERM || sys == ENOSYS ? GUS_PROBE_REFUSED : GUS_PROBE_ABSENT;
}

/* Opens it with the kernel, and where that is refused without. Returns the descriptor, or -1 with facts filled in. */
static int open_self(struct gus_class_facts *f, union gus_attr *a)
{
	int fd = gus_attr_open(a, 0, -1, -1);

	f->sys = fd < 0 ? -fd : 0;
	if (f->sys == EACCES || f->sys == EPERM) {
		a->kernel.exclude_kernel = 1;
		a->kernel.exclude_hv = 1;
		if (a->kernel.branch_sample_type)
			a->kernel.branch_sample_type |= PERF_SAMPLE_BRANCH_USER;
		fd = gus_attr_open(a, 0, -1, -1);
		f->sys_user = fd < 0 ? -fd : 0;
		f->user_only = fd >= 0;
	}
	if (fd >= 0)
		return fd;
	f->verdict = verdict_of(f);
	return -1;
}

/* Samples that arrived, and the branches they brought. */
struct seen { uint64_t samples, branches; };

static void see(const void *record, size_t size, void *context)
{
	struct seen *seen = context;
	struct perf_event_header h;
	uint64_t nr;

	if (size < sizeof(h))
		return;
	memcpy(&h, record, sizeof(h));
	if (h.type != PERF_RECORD_SAMPLE)
		return;
	seen->samples++;
	if (size < sizeof(h) + 16) /* the address, then the number of branches if they were asked for */
		return;
	memcpy(&nr, (const char *)record + sizeof(h) + 8, sizeof(nr));
	seen->branches = nr > seen->branches ? nr : seen->branches;
}

/* Runs what is open at fd until enough samples have come or it is clear that none do. */
static bool run_sampling(int fd, struct seen *seen)
{
	struct gus_ring ring;
	uint64_t start;

	if (gus_ring_map(&ring, fd, 0, RING_BYTES, NULL) != 0)
		return false;
	start = gus_clock_ns(CLOCK_MONOTONIC);
	gus_perf.ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	while (seen->samples < ENOUGH_SAMPLES && gus_clock_ns(CLOCK_MONOTONIC) - start < GIVE_UP_NS) {
		gus_clock_run(GUS_CLOCK_PRODUCTS, 1500);
		gus_ring_drain(&ring, see, seen);
	}
	gus_perf.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	gus_ring_drain(&ring, see, seen);
	gus_ring_unmap(&ring);
	return true;
}

static union gus_attr plain_attr(uint32_t type, uint64_t config, uint64_t period)
{
	union gus_attr a;

	memset(&a, 0, sizeof(a));
	a.kernel.size = 128; /* PERF_ATTR_SIZE_VER7; older kernels take it, as the end is zero */
	a.kernel.type = type;
	a.kernel.config = config;
	a.kernel.sample_period = period;
	a.kernel.sample_type = PERF_SAMPLE_IP;
	a.kernel.disabled = 1;
	return a;
}

static void try_samples(struct gus_class_facts *f, union gus_attr *a, bool branches)
{
	struct seen seen = { 0 };
	uint64_t count = 0;
	int fd = open_self(f, a);

	if (fd < 0)
		return;
	if (!run_sampling(fd, &seen)) {
		f->sys = EPERM; /* of the ring: locked memory */
		f->verdict = GUS_PROBE_REFUSED;
	} else if (seen.samples && (!branches || seen.branches)) {
		f->verdict = GUS_PROBE_GOOD;
		f->level = branches ? (unsigned)seen.branches : 0;
	} else {
		bool counts = gus_perf.read(fd, &count, sizeof(count)) == sizeof(count) && count;

		f->verdict = counts || seen.samples ? GUS_PROBE_SILENT : GUS_PROBE_STILL;
	}
	gus_perf.close(fd);
}

static void try_ibs(struct gus_class_facts *f, struct gus_pmus *pmus)
{
	const struct gus_pmu *pmu = gus_pmus_find(pmus, "ibs_op");
	union gus_attr a;

	f->listed = pmu != NULL;
	f->sys = ENOENT;
	f->verdict = GUS_PROBE_ABSENT;
	if (!pmu)
		return;
	a = plain_attr(pmu->type, 0, PERIOD_IBS);
	try_samples(f, &a, false);
}

static void try_branches(struct gus_class_facts *f, struct gus_pmus *pmus)
{
	union gus_attr a = plain_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, PERIOD_BRANCHES);

	gus_pmus_list(pmus);
	for (size_t i = 0; i < pmus->list.n; i++)
		f->listed |= pmus->list.v[i].cpus || strcmp(pmus->list.v[i].name, "cpu") == 0;
	a.kernel.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	a.kernel.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	try_samples(f, &a, true);
}

/* SPE writes into a buffer of its own behind the ring; that its head moves is the proof. */
static void try_spe(struct gus_class_facts *f, struct gus_pmus *pmus)
{
	const struct gus_pmu *pmu = NULL;
	struct gus_ring ring;
	struct gus_aux aux;
	union gus_attr a;
	int fd;

	gus_pmus_list(pmus);
	for (size_t i = 0; i < pmus->list.n && !pmu; i++)
		if (strncmp(pmus->list.v[i].name, "arm_spe", 7) == 0)
			pmu = &pmus->list.v[i];
	f->listed = pmu != NULL;
	f->sys = ENOENT;
	f->verdict = GUS_PROBE_ABSENT;
	if (!pmu)
		return;
	a = plain_attr(pmu->type, 0, PERIOD_SPE);
	fd = open_self(f, &a);
	if (fd < 0)
		return;
	f->verdict = GUS_PROBE_REFUSED;
	f->sys = EPERM;
	if (gus_ring_map(&ring, fd, 0, RING_BYTES, NULL) == 0) {
		if (gus_aux_map(&aux, &ring, fd, AUX_BYTES, NULL) == 0) {
			gus_perf.ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
			gus_clock_run(GUS_CLOCK_PRODUCTS, 50000);
			gus_perf.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			f->sys = 0;
			f->verdict = __atomic_load_n(&ring.control->aux_head, __ATOMIC_ACQUIRE) ? GUS_PROBE_GOOD :
				GUS_PROBE_SILENT;
			gus_aux_unmap(&aux);
		}
		gus_ring_unmap(&ring);
	}
	gus_perf.close(fd);
}

/* Counts on ourselves; all must move. Of the same event on several kinds of cores one is enough, as this thread is
 * on one kind at a time. */
static void try_counting(struct gus_class_facts *f, struct gus_events *events, bool any)
{
	const struct gus_tally_place self = { 0, -1 };
	struct gus_count *counts = gus_zalloc(events->n * sizeof(*counts));
	struct gus_tally t;
	size_t moved = 0, open = 0;

	for (unsigned user_only = 0; user_only < 2; user_only++) {
		bool refused = false;

		if (gus_tally_open(&t, events, &self, 1, false, NULL) != 0)
			break;
		for (size_t i = 0; i < events->n; i++) {
			refused |= t.states[i] == GUS_TALLY_REFUSED;
			open += t.states[i] == GUS_TALLY_OPEN;
			if (t.reasons[i])
				*(user_only ? &f->sys_user : &f->sys) = t.reasons[i];
		}
		gus_tally_enable(&t);
		gus_clock_run(GUS_CLOCK_PRODUCTS, 5000);
		gus_tally_disable(&t);
		gus_tally_read(&t, counts);
		gus_tally_close(&t);
		f->user_only = user_only && open;
		if (!refused || open)
			break;
		for (size_t i = 0; i < events->n; i++)
			gus_event_exclude_kernel(&events->v[i]);
	}
	for (size_t i = 0; i < events->n; i++)
		moved += counts[i].value > 0;
	free(counts);
	if (moved == events->n || (any && moved))
		f->verdict = GUS_PROBE_GOOD;
	else
		f->verdict = moved < open ? GUS_PROBE_STILL : verdict_of(f); /* the others do not open */
}

static void try_counters(struct gus_class_facts *f, struct gus_pmus *pmus)
{
	struct gus_events events = { 0 };

	if (gus_events_parse(&events, "cycles,instructions", pmus, NULL) == 0)
		try_counting(f, &events, events.n > 2);
	gus_pmus_list(pmus);
	for (size_t i = 0; i < pmus->list.n; i++)
		f->listed |= pmus->list.v[i].cpus || strcmp(pmus->list.v[i].name, "cpu") == 0 ||
			     strncmp(pmus->list.v[i].name, "armv", 4) == 0;
	gus_events_free(&events);
}

/* Those of the top-down method, which the caller knows: NULL if there are none. */
static void try_slots(struct gus_class_facts *f, const char *slots, struct gus_pmus *pmus)
{
	struct gus_events events = { 0 };

	f->sys = ENOENT;
	f->verdict = GUS_PROBE_ABSENT;
	f->listed = slots && gus_events_parse(&events, slots, pmus, NULL) == 0;
	if (f->listed) {
		f->sys = 0;
		try_counting(f, &events, true); /* SMT contention may well be none */
	}
	gus_events_free(&events);
}

/* Why spec does not open, as a number; then whether it delivers. */
static void try_event(struct gus_class_facts *f, const char *spec, struct gus_pmus *pmus)
{
	struct gus_events events = { 0 };

	*f = (struct gus_class_facts){ .listed = f->listed, .verdict = GUS_PROBE_ABSENT, .sys = ENOENT };
	if (gus_events_parse(&events, spec, pmus, NULL) != 0)
		return;
	for (size_t i = 0; i < events.n && f->verdict != GUS_PROBE_GOOD; i++) {
		struct gus_attr_plan plan = { 0 };
		struct gus_event *e = &events.v[i];
		union gus_attr a;
		int fd;

		e->period = PERIOD_BRANCHES; /* ns or cycles: only opening matters here */
		gus_attr_fill(&a, e, &plan, true);
		f->sys_user = 0;
		f->user_only = false;
		fd = open_self(f, &a);
		if (fd < 0)
			continue;
		gus_perf.close(fd);
		if (f->user_only)
			gus_event_exclude_kernel(e);
		f->verdict = gus_probe_event(e);
		f->level = e->precise;
	}
	gus_events_free(&events);
}

static void try_precise(struct gus_class_facts *f, struct gus_pmus *pmus)
{
	static const char *const specs[] = { "cycles:p", "cycles:pp", "cycles:ppp" };
	struct gus_class_facts best = { 0 };

	for (unsigned i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		try_event(f, specs[i], pmus);
		if (i == 0 || f->verdict == GUS_PROBE_GOOD)
			best = *f;
	}
	*f = best;
}

void gus_trial(struct gus_class_facts *f, enum gus_class which, struct gus_pmus *pmus, const char *slots)
{
	*f = (struct gus_class_facts){ .verdict = GUS_PROBE_ABSENT };
	switch (which) {
	case GUS_CLASS_CLOCK:
		f->listed = true;
		try_event(f, "cpu-clock", pmus);
		break;
	case GUS_CLASS_COUNTERS:
		try_counters(f, pmus);
		break;
	case GUS_CLASS_CYCLES:
		try_event(f, "cycles", pmus);
		break;
	case GUS_CLASS_PRECISE:
		try_precise(f, pmus);
		break;
	case GUS_CLASS_IBS:
		try_ibs(f, pmus);
		break;
	case GUS_CLASS_SPE:
		try_spe(f, pmus);
		break;
	case GUS_CLASS_BRANCHES:
		try_branches(f, pmus);
		break;
	case GUS_CLASS_TOPDOWN:
		try_slots(f, slots, pmus);
		break;
	case GUS_CLASSES:
		break;
	}
}
