/* SPDX-License-Identifier: MIT */
#include "attribution/compared/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/profile.h"
#include "attribution/traced/traced.h"
#include "base/alloc.h"
#include "base/ascending.h"
#include "base/error.h"
#include "proto/reader.h"

/* Beside another thread a round takes 1.7 to 2.2 times as long; the clock adds some hundredths. Calibration draws the
 * line lower (collector/timing/alone.c), and for another purpose: of thousands of short samples it leaves out each that
 * may have been beside one, even for a part of its time, and one too many costs nothing. Here a look is the median of
 * nine, what a round takes alone may be known from a table only, and what is seen is said and costs verdicts: so one
 * has to have been there for a good part of the time. */
static const double CROWDED = 1.3;
/* More than that is not taken off: what is left would tell nothing. How well the share is known, of itself. */
static const double COST_MOST = 0.5, COST_KNOWN = 0.25;

void gus_measured_init(struct gus_measured *m, const struct gus_traced *t)
{
	*m = (struct gus_measured){ .runs = 0 };
	gus_coverage_init(&m->coverage, t);
}

void gus_measured_free(struct gus_measured *m)
{
	gus_coverage_free(&m->coverage);
	gus_vec_free(&m->covered);
	gus_vec_free(&m->lows);
	gus_vec_free(&m->highs);
	gus_vec_free(&m->rounds);
	free(m->instructions);
	free(m->event);
	free(m->other);
	if (m->host)
		gusprof__host__free_unpacked(m->host, NULL);
	if (m->frequency)
		gusprof__frequency__free_unpacked(m->frequency, NULL);
}

/* Messages outlive their reader as copies: packed, and unpacked. */
static void *copy_message(const ProtobufCMessage *message)
{
	size_t size = message ? protobuf_c_message_get_packed_size(message) : 0;
	uint8_t *bytes;
	void *copy;

	if (!message)
		return NULL;
	bytes = gus_alloc(size + 1);
	protobuf_c_message_pack(message, bytes);
	copy = protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
	free(bytes);
	return copy;
}

static void take_header(struct gus_measured *m, const struct gus_profile *p)
{
	const Gusprof__Header *h = p->header;

	m->event = gus_strdup(p->event < h->n_events ? h->events[p->event]->name : "");
	m->skids = p->event >= h->n_events || !h->events[p->event]->precise;
	m->host = copy_message(h->host ? &h->host->base : NULL);
	m->frequency = copy_message(h->frequency ? &h->frequency->base : NULL);
}

/* The share of the target's time that sampling took; 0 where counters do not count it, or nobody knows. */
static double cost_of(const struct gus_profile *p, const struct gus_units *units)
{
	const Gusprof__Overhead *o = p->footer ? p->footer->overhead : NULL;
	double share = o ? (double)(o->samples_ppm + o->following_ppm) / 1e6 : 0;

	return units->time.evidence == GUS_OBSERVED && share < COST_MOST ? share : 0;
}

static struct gus_scale without(struct gus_scale scale, double cost)
{
	scale.factor *= 1 - cost;
	scale.low *= 1 - cost * (1 + COST_KNOWN);
	scale.high *= 1 - cost * (1 - COST_KNOWN);
	if (cost > 0 && scale.evidence == GUS_OBSERVED)
		scale.evidence = GUS_INFERRED;
	return scale;
}

static double median(struct gus_series *s)
{
	qsort(s->v, s->n, sizeof(*s->v), gus_ascending);
	return (s->v[(s->n - 1) / 2] + s->v[s->n / 2]) / 2;
}

/* A run more. Where cycles of one are not known, those of all are not. */
static void join(struct gus_measured *m, const struct gus_units *units, double cost)
{
	struct gus_scale cycles = units->cycles, time = units->time;

	gus_vec_push(&m->lows, cycles.low);
	gus_vec_push(&m->highs, cycles.high);
	m->clock = (struct gus_interval){ median(&m->lows), median(&m->highs) };
	m->cost = (m->cost * m->runs + cost) / (m->runs + 1);
	cycles.known &= !m->runs || m->cycles.known;
	time.known &= !m->runs || m->time.known;
	cycles.low = m->clock.low;
	cycles.high = m->clock.high;
	cycles.factor = (cycles.low + cycles.high) / 2;
	m->time = without(time, m->cost);
	m->cycles = without(cycles, m->cost);
}

static void look(struct gus_measured *m, const Gusprof__Frequency *f)
{
	if (f && f->round_millicycles)
		gus_vec_push(&m->rounds, (double)f->round_millicycles / 1000);
}

/* Before and behind a command nothing of it runs. What was attached to runs on, and may be what is busy on the other
 * thread of the core that the recorder looks from: it would be told to be in its own way. */
static void look_around(struct gus_measured *m, const struct gus_profile *p)
{
	if (*p->header->target && strcmp(p->header->target, "command") != 0)
		return;
	look(m, p->header->frequency);
	look(m, p->footer ? p->footer->frequency : NULL);
}

struct gus_looks gus_measured_looks(const struct gus_measured *m, double least)
{
	struct gus_looks looks = { .n = (unsigned)m->rounds.n };

	for (size_t i = 0; i < m->rounds.n; i++)
		least = least > 0 ? fmin(least, m->rounds.v[i]) : m->rounds.v[i];
	for (size_t i = 0; i < m->rounds.n; i++)
		looks.beside += m->rounds.v[i] > CROWDED * least;
	return looks;
}

static bool is_other(const struct gus_module *a, const struct gus_module *b)
{
	return a->build_id_size && b->build_id_size && strcmp(a->path, b->path) == 0 &&
		(a->build_id_size != b->build_id_size || memcmp(a->build_id, b->build_id, a->build_id_size) != 0);
}

/* A file with samples of which the trace has executed another build. */
static void find_other(struct gus_measured *m, const struct gus_traced *t, const struct gus_profile *p)
{
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < p->cells.n && !m->other; i++) { /* sorted by module */
		const struct gus_module *module = gus_space_module(p->space, p->cells.v[i].place.module);

		if (p->cells.v[i].place.module == last || module->kind != GUS_MODULE_FILE)
			continue;
		last = p->cells.v[i].place.module;
		for (size_t k = 0; k < t->functions.n && !m->other; k++)
			if (*t->functions.v[k].module && is_other(&t->functions.v[k].of, module))
				m->other = gus_strdup(module->path);
	}
}

static int load(struct gus_profile *p, struct gus_traced *t, struct gus_reader *reader, uint32_t event,
		const struct gus_log *log, struct gus_error *err)
{
	const Gusprof__Header *h = gus_reader_header(reader);
	struct gus_symbols_options symbols = { .boot_id = h->host ? h->host->boot_id : NULL,
					       .rights = gus_symbols_rights(t->options.symbols) };

	return gus_profile_load(p, reader, &(struct gus_filter){ .event = event }, &symbols, log, err);
}

/* An event that counts instructions, beside the one that is compared; GUS_EVENT_ANY: there is none. */
static uint32_t find_instructions(const Gusprof__Header *h)
{
	for (uint32_t i = 0; i < h->n_events; i++)
		if (i != h->main_event && strncmp(h->events[i]->name, "instructions", strlen("instructions")) == 0)
			return i;
	return GUS_EVENT_ANY;
}

static int add_instructions(struct gus_measured *m, struct gus_traced *t, struct gus_reader *reader, uint32_t event,
			    const struct gus_log *log, struct gus_error *err)
{
	struct gus_coverage c;
	struct gus_profile p;

	if (!m->instructions)
		m->instructions = gus_zalloc((t->regions.n + 1) * sizeof(*m->instructions));
	if (load(&p, t, reader, event, log, err) != 0)
		return -1;
	gus_coverage_init(&c, t);
	gus_coverage_add(&c, t, &p);
	for (size_t i = 0; i < t->regions.n; i++)
		m->instructions[i] += (double)c.weights[i];
	gus_coverage_free(&c);
	gus_profile_free(&p);
	return 0;
}

static void add_profile(struct gus_measured *m, struct gus_traced *t, struct gus_profile *p)
{
	struct gus_units units = gus_units_of(p);
	double cost = cost_of(p, &units);
	uint64_t before = m->coverage.covered_weight;

	gus_coverage_add(&m->coverage, t, p);
	gus_vec_push(&m->covered, (double)(m->coverage.covered_weight - before));
	m->unsampled += (double)p->unsampled;
	look_around(m, p);
	join(m, &units, cost);
	if (!m->runs++)
		take_header(m, p);
	find_other(m, t, p);
}

int gus_measured_add(struct gus_measured *m, struct gus_traced *t, struct gus_reader *reader, const struct gus_log *log,
		     struct gus_error *err)
{
	const Gusprof__Header *h = gus_reader_header(reader);
	uint32_t instructions = find_instructions(h);
	const struct gus_error *failure;
	struct gus_profile p;

	if (load(&p, t, reader, h->main_event, log, err) != 0)
		return -1;
	add_profile(m, t, &p);
	failure = gus_symbols_failure(p.symbols);
	if (failure && err)
		*err = *failure;
	gus_profile_free(&p);
	if (failure || instructions == GUS_EVENT_ANY)
		return failure ? -1 : 0;
	return add_instructions(m, t, reader, instructions, log, err);
}
