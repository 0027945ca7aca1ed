/* SPDX-License-Identifier: MIT */
#include "collector/counters/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/counters/ring.h"
#include "collector/host/clock.h"
#include "collector/kernel/perf.h"

#define GROUP_MOST 64 /* events of a group: more than any machine has counters */
#define REDRAW_MIN_NS 100000000
#define REDRAW_PERIODS 250
#define REDRAW_COST_NS 6000  /* of one ioctl, which may have to reach another CPU; timed as 2 to 6 us */
#define TURN_MIN_NS 50000000
#define TURN_SHARE 100       /* at most that part of a CPU goes into switching from turn to turn */
#define REDRAW_SHARE 1000    /* at most that part of a CPU goes into redraws */

bool gus_counters_monotonic(const struct gus_counters *c)
{
	return (c->plan.features & GUS_ATTR_CLOCK) != 0;
}

uint64_t gus_counters_now(const struct gus_counters *c)
{
	uint64_t ns;

	if (gus_counters_monotonic(c))
		return gus_clock_ns(CLOCK_MONOTONIC);
	return gus_ring_now(&c->rings.v[0], &ns) ? ns : 0;
}

void gus_counters_close_rings(struct gus_counters *c)
{
	for (size_t i = 0; i < c->auxes.n; i++)
		gus_aux_unmap(&c->auxes.v[i]);
	for (size_t i = 0; i < c->rings.n; i++)
		gus_ring_unmap(&c->rings.v[i]);
	for (size_t i = 0; i < c->flights.n; i++)
		gus_ring_unmap(&c->flights.v[i]);
	for (size_t i = 0; i < c->holders.n; i++)
		gus_perf.close(c->holders.v[i]);
	gus_vec_free(&c->auxes);
	gus_vec_free(&c->rings);
	gus_vec_free(&c->flights);
	gus_vec_free(&c->holders);
}

void gus_counters_close(struct gus_counters *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.v[i].fd >= 0)
			gus_perf.close(c->list.v[i].fd);
	for (size_t i = 0; i < c->tracking.n; i++)
		gus_perf.close(c->tracking.v[i]);
	gus_counters_close_rings(c);
	gus_vec_free(&c->list);
	gus_vec_free(&c->tracking);
	gus_vec_free(&c->opened);
	gus_vec_free(&c->repeated);
	gus_vec_free(&c->closed);
	gus_vec_free(&c->on_ns);
	gus_index_free(&c->opened_ids);
	gus_records_free(&c->records);
}

static bool is_on(const struct gus_counters *c, const struct gus_counter *k, unsigned turn)
{
	return gus_event_is_on(&c->events->v[k->event], turn);
}

/* Members of a group follow their leader. All requests reach the copies that tasks have inherited. Those whose turn it
 * is not are off already. */
static void tell_leaders(struct gus_counters *c, unsigned long request)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.v[i].leader && c->list.v[i].fd >= 0 && is_on(c, &c->list.v[i], c->turn))
			gus_perf.ioctl(c->list.v[i].fd, request, 0);
}

static bool takes_turns(const struct gus_counters *c)
{
	for (size_t i = 0; i < c->events->n; i++)
		if (c->events->v[i].turns_n)
			return true;
	return false;
}

/* How long an event has been on by now, where some take turns. */
static uint64_t on_ns(const struct gus_counters *c, uint32_t event, uint64_t now)
{
	return c->on_ns.v[event] + (c->on && gus_event_is_on(&c->events->v[event], c->turn) ? now - c->turned : 0);
}

/* Before `on` or `turn` changes. */
static void settle_turn(struct gus_counters *c)
{
	uint64_t now = gus_clock_ns(CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < c->events->n; i++)
		c->on_ns.v[i] = on_ns(c, i, now);
	c->turned = now;
}

void gus_counters_begin_turns(struct gus_counters *c)
{
	c->turned = gus_clock_ns(CLOCK_MONOTONIC);
}

/* Those that end do so before others begin: there is a counter for each at any time. */
void gus_counters_turn(struct gus_counters *c)
{
	settle_turn(c);
	for (unsigned begins = 0; c->on && begins < 2; begins++)
		for (size_t i = 0; i < c->list.n; i++) {
			const struct gus_counter *k = &c->list.v[i];
			bool was = is_on(c, k, c->turn), will = is_on(c, k, c->turn + 1);

			if (k->leader && k->fd >= 0 && was != will && will == (begins != 0))
				gus_perf.ioctl(k->fd, will ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
		}
	c->turn++;
}

uint64_t gus_counters_turn_interval(const struct gus_counters *c)
{
	uint64_t interval = c->open * (uint64_t)REDRAW_COST_NS * TURN_SHARE;

	if (!takes_turns(c))
		return UINT64_MAX;
	return interval > TURN_MIN_NS ? interval : TURN_MIN_NS;
}

void gus_counters_resume(struct gus_counters *c, uint32_t slot)
{
	const struct gus_counter *k = &c->list.v[slot];

	if (c->on && k->fd >= 0 && is_on(c, k, c->turn))
		gus_perf.ioctl(k->fd, PERF_EVENT_IOC_ENABLE, 0);
}

void gus_counters_track(struct gus_counters *c)
{
	for (size_t i = 0; i < c->tracking.n; i++)
		gus_perf.ioctl(c->tracking.v[i], PERF_EVENT_IOC_ENABLE, 0);
}

void gus_counters_enable(struct gus_counters *c)
{
	settle_turn(c);
	c->on = true;
	tell_leaders(c, PERF_EVENT_IOC_ENABLE);
}

void gus_counters_enable_wide(struct gus_counters *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.v[i].wide && c->list.v[i].leader && c->list.v[i].fd >= 0)
			gus_perf.ioctl(c->list.v[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void gus_counters_pause(struct gus_counters *c)
{
	settle_turn(c);
	c->on = false;
	tell_leaders(c, PERF_EVENT_IOC_DISABLE);
}

void gus_counters_disable(struct gus_counters *c)
{
	gus_counters_pause(c);
	for (size_t i = 0; i < c->tracking.n; i++)
		gus_perf.ioctl(c->tracking.v[i], PERF_EVENT_IOC_DISABLE, 0);
}

/* Rates. */

void gus_counters_redraw(struct gus_counters *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		struct gus_counter *k = &c->list.v[i];
		uint64_t period;

		if (k->fd < 0 || k->silent || !c->events->v[k->event].jitter)
			continue;
		period = gus_period_draw(&c->random, c->events->v[k->event].period);
		if (gus_perf.ioctl(k->fd, PERF_EVENT_IOC_PERIOD, &period) == 0)
			k->period = period;
	}
}

uint64_t gus_counters_redraw_interval(const struct gus_counters *c)
{
	uint64_t interval = c->open * (uint64_t)REDRAW_COST_NS * REDRAW_SHARE;
	bool any = false;

	for (size_t i = 0; i < c->events->n; i++)
		any |= c->events->v[i].jitter;
	if (!any)
		return UINT64_MAX;
	return interval > REDRAW_MIN_NS ? interval : REDRAW_MIN_NS;
}

uint64_t gus_counters_redraw_samples(const struct gus_counters *c)
{
	uint64_t sampling = 0;

	for (size_t i = 0; i < c->list.n; i++)
		sampling += c->list.v[i].fd >= 0 && !c->list.v[i].silent;
	return sampling * REDRAW_PERIODS;
}

/* As many times longer than planned as the rate is lower than at first. IBS wants multiples of 16. */
static uint64_t planned_period(const struct gus_counters *c, const struct gus_event *e, uint64_t hz)
{
	uint64_t step = e->words == GUS_WORDS_IBS_OP || e->words == GUS_WORDS_IBS_FETCH ? 16 : 1;
	double times = hz < c->first_hz ? (double)c->first_hz / (double)hz : 1;

	return ((uint64_t)((double)e->planned * times) + step - 1) / step * step;
}

/* Samples beside those of time are paid for by the same budget, so their number follows the rate of these, but for
 * never being more than planned. */
static void follow_rate(struct gus_counters *c, uint64_t hz)
{
	for (size_t i = 0; i < c->events->n; i++)
		if (c->events->v[i].planned)
			c->events->v[i].period = planned_period(c, &c->events->v[i], hz);
	for (size_t i = 0; i < c->list.n; i++) {
		uint64_t period = c->events->v[c->list.v[i].event].period;

		if (c->list.v[i].fd >= 0 && c->events->v[c->list.v[i].event].planned)
			gus_perf.ioctl(c->list.v[i].fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

void gus_counters_set_rate(struct gus_counters *c, uint64_t hz)
{
	for (size_t i = 0; !c->first_hz && i < c->events->n; i++)
		if (c->events->v[i].governed)
			c->first_hz = c->events->v[i].frequency;
	follow_rate(c, hz);
	c->changed = true;
	for (size_t i = 0; i < c->events->n; i++)
		if (c->events->v[i].governed)
			gus_event_change_rate(&c->events->v[i], hz);
	for (size_t i = 0; i < c->list.n; i++) {
		const struct gus_event *e = &c->events->v[c->list.v[i].event];
		uint64_t value = hz;

		if (c->list.v[i].fd >= 0 && !c->list.v[i].silent && e->governed && !e->period)
			/* Of an adaptive event: its frequency. */
			gus_perf.ioctl(c->list.v[i].fd, PERF_EVENT_IOC_PERIOD, &value);
	}
	gus_counters_redraw(c);
}

void gus_counters_thin(struct gus_counters *c, uint64_t n)
{
	for (size_t i = 0; i < c->events->n; i++)
		if (c->events->v[i].at_switch)
			c->events->v[i].period = n;
	for (size_t i = 0; i < c->list.n; i++) {
		uint64_t value = n;

		if (c->list.v[i].fd >= 0 && c->events->v[c->list.v[i].event].at_switch)
			gus_perf.ioctl(c->list.v[i].fd, PERF_EVENT_IOC_PERIOD, &value);
	}
}

/* Redraws stay within 12 % of the period in force: what is a quarter off has not heard of it. The period of an event
 * whose rate the kernel keeps says nothing. */
bool gus_counters_is_stale(const struct gus_counters *c, const struct gus_record *r)
{
	const struct gus_event *e = &c->events->v[r->sample.event];
	uint64_t p = r->sample.period;

	if (!c->changed || !r->inherited || !e->governed)
		return false;
	return !e->jitter || p > e->period + e->period / 4 || p < e->period - e->period / 4;
}

uint64_t gus_counters_weight(const struct gus_counters *c, const struct gus_record *record)
{
	if (c->events->v[record->sample.event].at_switch)
		return c->events->v[record->sample.event].period;
	if (record->slot == GUS_INDEX_NONE || record->inherited || !c->events->v[record->sample.event].jitter)
		return record->sample.period;
	return c->list.v[record->slot].period;
}

void gus_counters_task_ended(struct gus_counters *c, uint32_t tid, uint64_t time)
{
	pid_t task = (pid_t)tid;
	uint32_t number = c->may_repeat ? gus_index_find(&c->opened_ids, &task) : GUS_INDEX_NONE;

	if (number != GUS_INDEX_NONE && c->opened.v[number].until == UINT64_MAX)
		c->opened.v[number].until = time;
}

/* Totals. */

struct reading { uint64_t count, enabled, running, id, lost; };

static ssize_t read_words(const struct gus_counter *k, uint64_t *words, size_t n)
{
	ssize_t got;

	do
		got = k->fd >= 0 ? gus_perf.read(k->fd, words, n * sizeof(*words)) : 0;
	while (got < 0 && errno == EINTR);
	return got < 0 ? 0 : got / (ssize_t)sizeof(*words);
}

/* Of an event that is read with its group: how many there are, the times, and of each its value, its id and, where the
 * kernel tells, what it lost. */
static bool read_in_group(const struct gus_counters *c, const struct gus_counter *k, struct reading *v)
{
	uint64_t words[3 + 3 * GROUP_MOST];
	size_t n = (size_t)read_words(k, words, sizeof(words) / sizeof(*words));
	size_t each = c->plan.features & GUS_ATTR_LOST ? 3 : 2;

	for (size_t i = 3; i + each <= n; i += each)
		if (words[i + 1] == k->id) {
			*v = (struct reading){ words[i], words[1], words[2], k->id, each > 2 ? words[i + 2] : 0 };
			return true;
		}
	return false;
}

static bool read_counter(const struct gus_counters *c, const struct gus_counter *k, struct reading *v)
{
	uint64_t words[5] = { 0 };
	ssize_t n;

	*v = (struct reading){ 0 };
	if (c->events->v[k->event].extra & PERF_SAMPLE_READ)
		return read_in_group(c, k, v);
	n = read_words(k, words, 5);
	*v = (struct reading){ words[0], words[1], words[2], words[3], words[4] };
	return n >= 4;
}

/* Adds up the counters from number `from` to before `to`. Each CPU's counter of a task is enabled whenever the task
 * runs on any CPU, and runs when it is on this one. */
static void add_counted(const struct gus_counters *c, size_t from, size_t to, struct gus_counted *sums)
{
	for (uint32_t e = 0; e < c->events->n; e++) {
		uint64_t enabled = 0;
		pid_t task = 0;

		for (size_t i = from; i < to; i++) {
			const struct gus_counter *k = &c->list.v[i];
			struct reading v;

			if (k->event != e || !read_counter(c, k, &v))
				continue;
			sums[e].lost += v.lost;
			if (k->wide)
				continue;
			if (k->task != task || k->task < 0) {
				sums[e].enabled_ns += enabled;
				enabled = 0;
			}
			task = k->task;
			enabled = v.enabled > enabled ? v.enabled : enabled;
			sums[e].count += v.count;
			sums[e].running_ns += v.running;
		}
		sums[e].enabled_ns += enabled;
	}
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void gus_counters_totals(const struct gus_counters *c, Gusprof__EventTotal *totals)
{
	struct gus_counted *sums = gus_alloc(c->events->n * sizeof(*sums));
	uint64_t now = gus_clock_ns(CLOCK_MONOTONIC);
	bool turns = takes_turns(c);

	memcpy(sums, c->closed.v, c->events->n * sizeof(*sums));
	add_counted(c, 0, c->list.n, sums);
	for (size_t i = 0; i < c->events->n; i++) {
		uint64_t repeated = c->repeated.v[i];

		totals[i].count = less(sums[i].count, repeated);
		totals[i].running_ns = less(sums[i].running_ns, gus_event_is_clock(&c->events->v[i]) ? repeated : 0);
		totals[i].enabled_ns = sums[i].enabled_ns;
		totals[i].on_ns = turns ? on_ns(c, (uint32_t)i, now) : 0;
		if (c->plan.features & GUS_ATTR_LOST) /* better than what the rings' own records add up to */
			totals[i].lost = sums[i].lost;
	}
	free(sums);
}

uint64_t gus_counters_running(const struct gus_counters *c)
{
	uint64_t ns = c->closed.v[0].running_ns;
	struct reading v;

	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.v[i].event == 0 && !c->list.v[i].wide && read_counter(c, &c->list.v[i], &v))
			ns += v.running;
	return ns;
}

/* Ends. */

void gus_counters_retire(struct gus_counters *c, size_t from, size_t to)
{
	add_counted(c, from, to, c->closed.v);
	for (size_t i = from; i < to; i++) {
		if (c->list.v[i].fd < 0)
			continue;
		/* What is mapped of it keeps it alive. */
		if (c->events->v[c->list.v[i].event].words == GUS_WORDS_SPE)
			gus_perf.ioctl(c->list.v[i].fd, PERF_EVENT_IOC_DISABLE, 0);
		gus_perf.close(c->list.v[i].fd);
		c->list.v[i].fd = -1;
		c->open--;
	}
}

/* Repetitions. */

/* The task's own counter of the event on the CPU, NULL if it has none. */
static struct gus_counter *own_counter(struct gus_counters *c, const struct gus_opened *o, const struct gus_sample *s)
{
	pid_t task = (pid_t)s->tid;

	for (size_t i = o->first; i < c->list.n && c->list.v[i].task == task; i++)
		if (c->list.v[i].event == s->event && c->list.v[i].cpu == s->cpu)
			return &c->list.v[i];
	return NULL;
}

static void close_repeated(struct gus_counters *c, struct gus_counter *k)
{
	size_t i = (size_t)(k - c->list.v);

	gus_counters_retire(c, i, i + 1);
	k->closed = gus_counters_now(c);
}

/* Which event a sample is of is told by its id, whose slot says for which task it was opened. (Whether it is the event
 * itself or a copy says nothing: the kernel swaps them between a task and its child.) */
bool gus_counters_repeats(struct gus_counters *c, const struct gus_record *r)
{
	pid_t task = (pid_t)r->sample.tid;
	const struct gus_opened *o;
	struct gus_counter *own;
	uint32_t number;

	if (!c->may_repeat || c->list.v[r->slot].task == task || c->list.v[r->slot].fd < 0 ||
	    c->list.v[r->slot].wide)
		return false;
	number = gus_index_find(&c->opened_ids, &task);
	o = number == GUS_INDEX_NONE ? NULL : &c->opened.v[number];
	if (!o || r->sample.time < o->from || r->sample.time >= o->until)
		return false;
	own = own_counter(c, o, &r->sample);
	if (own && own->fd >= 0)
		close_repeated(c, own);
	if (!own || r->sample.time >= own->closed)
		return false;
	c->repeated.v[r->sample.event] += r->sample.period;
	return true;
}
