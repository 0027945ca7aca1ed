/* SPDX-License-Identifier: MIT */
#include "collector/session/header.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "collector/counters/counters.h"
#include "collector/counters/ring.h"
#include "collector/events/event.h"
#include "collector/host/host.h"
#include "collector/target/target.h"
#include "collector/trial/probe.h"
#include "proto/skid.h"

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The strings of generated messages are not const, but nobody writes to them here. */
static char *borrow(const char *text)
{
	return (char *)(uintptr_t)(text ? text : "");
}

/* What the first event's message points to. */
struct skid_messages {
	Gusprof__Skid v[GUS_SKID_SLOWS];
	Gusprof__Skid *pointers[GUS_SKID_SLOWS];
};

static void describe_event(Gusprof__Event *m, const struct gus_event *e, const struct gus_attr_plan *plan,
			   uint64_t cost_ns)
{
	gusprof__event__init(m);
	m->asked = e->asked;
	m->name = e->name;
	m->type = e->type;
	m->config = e->config;
	m->config1 = e->config1;
	m->config2 = e->config2;
	m->config3 = e->config3;
	m->period = e->period;
	m->frequency = e->frequency;
	m->precise = e->precise;
	if (e->user || e->kernel || e->hv) {
		m->exclude_user = !e->user;
		m->exclude_kernel = !e->kernel;
		m->exclude_hv = !e->hv;
	}
	m->unit = borrow(e->unit);
	m->group = e->group;
	m->jitter = e->jitter;
	m->pmu = borrow(e->pmu);
	m->turns = e->turns;
	m->turns_of = e->turns_n;
	m->counts = e->counts;
	if (e->extra & PERF_SAMPLE_BRANCH_STACK)
		m->branch_type = PERF_SAMPLE_BRANCH_ANY;
	if (e->extra & PERF_SAMPLE_READ) {
		m->read_format = gus_attr_read_format(plan, e);
		m->inherit = plan->inherit;
	}
	m->cost_ns = cost_ns;
}

/* Kinds without samples are left out. */
static void describe_skid(struct skid_messages *t, Gusprof__Event *event, const struct gus_skid *skid)
{
	for (unsigned s = 0; skid && s < GUS_SKID_SLOWS; s++) {
		const struct gus_skid_counts *c = &skid->counts[s];
		Gusprof__Skid *m = &t->v[event->n_skid];

		if (!gus_skid_samples(c))
			continue;
		gusprof__skid__init(m);
		m->slow = borrow(gus_skid_slow_name((enum gus_skid_slow)s));
		m->at = (uint64_t *)(uintptr_t)c->at;
		m->n_at = GUS_SKID_NEAR;
		m->farther = c->farther;
		m->before = c->before;
		t->pointers[event->n_skid++] = m;
	}
	event->skid = t->pointers;
}

static void describe_target(Gusprof__Header *m, const struct gus_header *h, uint32_t *ids)
{
	const struct gus_target *t = h->options->target;

	m->target = borrow(gus_target_kind_name(t->kind));
	m->cpus = borrow(t->cpus);
	m->cgroup = borrow(t->cgroup);
	m->targets = ids;
	if (t->kind == GUS_TARGET_COMMAND)
		ids[m->n_targets++] = (uint32_t)h->child;
	for (size_t i = 0; i < t->watches.n; i++)
		ids[m->n_targets++] = (uint32_t)t->watches.v[i].id;
}

static void describe_costs(Gusprof__Costs *m, const struct gus_costs *c)
{
	gusprof__costs__init(m);
	m->sample_ns = c->sample_ns;
	m->birth_ns = c->birth_ns;
	m->wake_ns = c->wake_ns;
	m->switch_ns = c->switch_ns;
	m->map_ns = c->map_ns;
	m->stack_ns = c->stack_ns;
}

struct gus_writer *gus_header_create(const struct gus_header *h, uint64_t start_ns, struct gus_error *err)
{
	const struct gus_session_options *o = h->options;
	size_t n = o->events->n;
	Gusprof__Header m = GUSPROF__HEADER__INIT;
	Gusprof__Event *events = gus_alloc(n * sizeof(*events));
	Gusprof__Event **pointers = gus_alloc(n * sizeof(*pointers));
	uint32_t *ids = gus_alloc((o->target->watches.n + 1) * sizeof(*ids));
	char tier[] = { o->choice->tier, '\0' };
	struct gus_writer *writer;
	Gusprof__Clock clock;
	struct skid_messages skid;
	Gusprof__Costs costs;

	for (size_t i = 0; i < n; i++) {
		pointers[i] = &events[i];
		describe_event(&events[i], &o->events->v[i], &h->counters->plan, i == 0 ? o->costs.sample_ns : 0);
	}
	describe_skid(&skid, &events[0], o->skid);
	gusprof__clock__init(&clock);
	clock.name = borrow(gus_counters_monotonic(h->counters) ? "monotonic" : "perf");
	clock.start_realtime_ns = clock_ns(CLOCK_REALTIME);
	clock.start_ns = start_ns;
	m.producer = borrow(o->producer);
	m.host = gus_host_describe("/sys");
	m.clock = &clock;
	m.command = (char **)(uintptr_t)o->command;
	while (o->command && o->command[m.n_command])
		m.n_command++;
	m.events = pointers;
	m.n_events = n;
	m.tier = tier;
	m.choice = borrow(o->choice->text);
	m.frequency = h->frequency;
	m.call_graph = borrow(gus_call_graph_name(gus_session_callers(o)));
	m.call_graph_choice = borrow(o->call_graph_choice);
	m.stack_bytes = h->counters->plan.cargo.stack_bytes;
	m.branch_type = o->branch_type;
	m.ring_bytes = (h->counters->flights.n ? h->counters->flights.v : h->counters->rings.v)->size;
	m.max_size = o->max_size;
	m.delay_ms = o->delay_ms;
	describe_target(&m, h, ids);
	m.part = h->part;
	m.overwrite = o->overwrite;
	m.overhead_ppm = (uint64_t)(o->overhead * 1e6 + 0.5);
	describe_costs(&costs, &o->costs);
	m.costs = &costs;
	writer = o->output_fd ? gus_writer_create_live(o->output_fd, o->output, &m, err) :
		gus_writer_create(o->output, &m, err);
	gusprof__host__free_unpacked(m.host, NULL);
	free(events);
	free(pointers);
	free(ids);
	return writer;
}
