/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/samples.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "collector/perfdata/attr.h"
#include "collector/records/hardware.h"
#include "collector/records/ibs.h"
#include "proto/sample.h"

#define FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST */

/* Registers. Ours are all of a machine's general ones, in the order of the ABI's numbers (proto/sample.h). */

static const struct { const char *machine; uint64_t ours; } machines[] = {
	{ "x86_64", 0xff01ff },
	{ "aarch64", 0x1ffffffff },
	{ "arm64", 0x1ffffffff },
};

static void choose_regs(struct gus_perfdata_event *e, uint64_t mask, const char *machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		uint64_t ours = machines[i].ours;

		if (strcmp(machines[i].machine, machine) != 0 || (mask & ours) != ours)
			continue;
		for (unsigned bit = 0; bit < 64; bit++)
			if (ours >> bit & 1)
				e->regs[e->regs_n++] = (uint8_t)__builtin_popcountll(mask & ((UINT64_C(1) << bit) - 1));
	}
}

static void take_regs(struct gus_perfdata_samples *t, struct gus_sample *s, const struct gus_perfdata_event *e)
{
	if (!s->regs_n || !e->regs_n)
		return;
	gus_vec_reserve(&t->regs, sizeof(e->regs));
	for (unsigned i = 0; i < e->regs_n; i++)
		t->regs.v[i] = s->regs[e->regs[i]];
	s->regs = t->regs.v;
	s->regs_n = e->regs_n;
}

/* Callers in user space that the chain has already, although there are registers and a stack to find them by. */
static bool has_user_callers(const struct gus_sample *s)
{
	for (uint32_t i = 0; i + 1 < s->chain_n; i++)
		if (s->chain[i] == PERF_CONTEXT_USER && s->chain[i + 1] < PERF_CONTEXT_MAX)
			return true;
	return s->chain_n && s->mode == GUS_MODE_USER && s->chain[0] < PERF_CONTEXT_MAX;
}

/* The calls that the CPU has kept become callers behind the kernel's: those of user space, which a sample of the kernel
 * came from by the place that was called last. An address that is returned to would be behind the call, whose length
 * nobody knows: it is the call's, plus 1 (FORMAT.md, section 4). */
static void take_calls(struct gus_perfdata_samples *t, struct gus_sample *s)
{
	bool has_user = false;

	t->chain.n = 0;
	gus_vec_append(&t->chain, s->chain, s->chain_n);
	for (uint32_t i = 0; i < s->chain_n; i++)
		has_user |= s->chain[i] == PERF_CONTEXT_USER;
	if (!has_user)
		gus_vec_push(&t->chain, PERF_CONTEXT_USER);
	if (s->mode != GUS_MODE_USER && s->branches_n)
		gus_vec_push(&t->chain, s->branches[0].to);
	for (uint32_t i = 0; i < s->branches_n; i++)
		gus_vec_push(&t->chain, s->branches[i].from + 1);
	s->chain = t->chain.v;
	s->chain_n = (uint32_t)t->chain.n;
	s->callers |= GUS_CALLERS_BRANCHES;
	s->branches_n = 0;
	s->branch_index = 0;
}

/* What hardware has told, in the columns that all vendors share. */
static void take_words(const struct gus_perfdata_samples *t, struct gus_sample *s, enum gus_perfdata_words words,
		       struct gus_branch *branch)
{
	const struct gus_ibs_cpu cpu = { t->host->cpu_family, t->host->cpu_model_number };
	struct gus_ibs_fetch fetch;
	struct gus_ibs_op op;
	const void *raw;
	size_t size;

	if (words == GUS_PERFDATA_DATA_SOURCE)
		gus_hardware_data(s);
	if (words != GUS_PERFDATA_IBS_OP && words != GUS_PERFDATA_IBS_FETCH)
		return;
	raw = gus_sample_extra(s, GUS_EXTRA_RAW, &size, NULL);
	if (words == GUS_PERFDATA_IBS_OP && raw && gus_ibs_op_parse(raw, size, &cpu, &op))
		gus_hardware_ibs_op(&op, s, branch);
	else if (words == GUS_PERFDATA_IBS_FETCH && raw && gus_ibs_fetch_parse(raw, size, &cpu, &fetch))
		gus_hardware_ibs_fetch(&fetch, s);
}

/* Counts. Whose sample has PERF_SAMPLE_READ stands, as perf has it, for what its counter has counted since it was read
 * last; and of a group of which only the leader samples each member that has counted has a sample at the same place. */

struct counter_key { uint64_t counter; uint32_t tid, zero; };

static uint64_t counted(struct gus_perfdata_samples *t, uint64_t counter, uint32_t tid, uint64_t value)
{
	struct counter_key key = { counter, tid, 0 };
	bool is_new;
	uint32_t slot = gus_index_add(&t->counters, &key, &is_new);
	uint64_t before;

	if (is_new)
		gus_vec_push(&t->last, 0);
	before = t->last.v[slot];
	t->last.v[slot] = value;
	return value > before ? value - before : 0;
}

/* counter: which event's it is in its lower half (GUS_EXTRA_COUNTS). */
static void push_counted(struct gus_perfdata_samples *t, struct gus_sample *s, uint64_t counter, uint64_t value,
			 struct gus_columns *rows)
{
	bool by_thread = t->events.v[s->event].by_thread;
	struct gus_sample one = *s;

	if (t->counters.n >= GUS_LIMIT_PERFDATA_COUNTERS ||
	    !gus_budget_charge(&t->members, 1 + (uint64_t)s->chain_n + s->branches_n + s->stack_n + s->extras_n)) {
		t->left_out++;
		return;
	}
	one.period = counted(t, counter, by_thread ? s->tid : 0, value);
	one.event = (uint32_t)counter;
	if (one.period && one.event < t->events.n)
		gus_columns_push(rows, &one);
}

/* The words of a group are times, and of each member value, id and what was lost of it; of one counter value,
 * times, id. */
static void push_counts(struct gus_perfdata_samples *t, struct gus_sample *s, const uint64_t *words, size_t n,
			struct gus_columns *rows)
{
	uint64_t format = t->events.v[s->event].read_format;
	bool group = format & PERF_FORMAT_GROUP, ids = format & PERF_FORMAT_ID;
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size_t each = 1 + ids + !!(format & FORMAT_LOST);

	if (!group && n > times + ids)
		push_counted(t, s, ids ? words[1 + times] : s->event, words[0], rows);
	for (size_t i = times; group && ids && i + each <= n; i += each)
		push_counted(t, s, words[i + 1], words[i], rows);
}

/* Extras anew: what is made of counts needs them no more, and registers that nobody here unwinds by, with the stack
 * that is of no use then, become one. Others stay. */
static void change_extras(struct gus_perfdata_samples *t, struct gus_sample *s, bool counts, bool regs)
{
	static const enum gus_extra kinds[] = { GUS_EXTRA_COUNTS, GUS_EXTRA_RAW, GUS_EXTRA_REGS,
						GUS_EXTRA_BRANCH_COUNTS, GUS_EXTRA_USER_REGS };

	t->extras.n = 0;
	for (size_t i = counts; i < sizeof(kinds) / sizeof(*kinds); i++) {
		unsigned detail;
		size_t bytes;
		const void *at = gus_sample_extra(s, kinds[i], &bytes, &detail);

		if (at)
			gus_extras_add(&t->extras, kinds[i], detail, at, bytes);
	}
	if (regs) {
		gus_extras_add(&t->extras, GUS_EXTRA_USER_REGS, PERF_SAMPLE_REGS_ABI_64, s->regs,
			       s->regs_n * sizeof(*s->regs));
		s->regs_n = s->stack_n = 0;
	}
	s->extras = t->extras.v;
	s->extras_n = (uint32_t)t->extras.n;
}

void gus_perfdata_samples_take(struct gus_perfdata_samples *t, struct gus_sample *s, struct gus_columns *rows)
{
	const struct gus_perfdata_event *e = s->event < t->events.n ? &t->events.v[s->event] : NULL;
	struct gus_branch branch;
	const uint64_t *counts;
	size_t bytes = 0;

	if (!e) {
		gus_columns_push(rows, s);
		return;
	}
	if (!e->has_period)
		s->period = e->period;
	if (s->regs_n && e->own_chain && has_user_callers(s))
		s->regs_n = s->stack_n = 0;
	take_regs(t, s, e);
	if (e->calls && s->branches_n)
		take_calls(t, s);
	take_words(t, s, e->words, &branch);
	counts = e->counts ? gus_sample_extra(s, GUS_EXTRA_COUNTS, &bytes, NULL) : NULL;
	if (counts || (s->regs_n && !e->regs_n))
		change_extras(t, s, counts, s->regs_n && !e->regs_n);
	if (counts)
		push_counts(t, s, counts, bytes / sizeof(*counts), rows);
	else
		gus_columns_push(rows, s);
}

/* By the PMU of the event, where the recording names it. */
static enum gus_perfdata_words words_of(const struct gus_perfdata_attr *a, const char *pmu)
{
	if (strcmp(pmu, "ibs_op") == 0 && a->sample_type & PERF_SAMPLE_RAW)
		return GUS_PERFDATA_IBS_OP;
	if (strcmp(pmu, "ibs_fetch") == 0 && a->sample_type & PERF_SAMPLE_RAW)
		return GUS_PERFDATA_IBS_FETCH;
	return a->sample_type & PERF_SAMPLE_DATA_SRC ? GUS_PERFDATA_DATA_SOURCE : GUS_PERFDATA_NO_WORDS;
}

void gus_perfdata_samples_event(struct gus_perfdata_samples *t, const struct gus_perfdata_attr *a, const char *pmu)
{
	struct gus_perfdata_event e = { .has_period = a->sample_type & PERF_SAMPLE_PERIOD,
					.read_format = a->read_format };
	bool inherits = a->flags >> GUS_PERFDATA_INHERIT & 1;

	e.period = a->flags >> GUS_PERFDATA_FREQUENCY & 1 ? 1 : a->period;
	e.own_chain = !(a->flags >> GUS_PERFDATA_EXCLUDE_USER_CHAIN & 1);
	e.calls = a->sample_type & PERF_SAMPLE_BRANCH_STACK && a->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK;
	e.counts = a->sample_type & PERF_SAMPLE_READ;
	e.by_thread = inherits && a->sample_type & PERF_SAMPLE_TID;
	e.words = words_of(a, pmu);
	choose_regs(&e, a->regs_user, t->host->machine);
	t->grouped |= e.counts;
	gus_vec_push(&t->events, e);
}

void gus_perfdata_samples_init(struct gus_perfdata_samples *t, const Gusprof__Host *host, uint64_t file_size)
{
	*t = (struct gus_perfdata_samples){ .host = host, .file_size = file_size };
	gus_index_init(&t->counters, sizeof(struct counter_key));
}

void gus_perfdata_samples_rewind(struct gus_perfdata_samples *t)
{
	t->last.n = 0;
	gus_index_free(&t->counters);
	gus_index_init(&t->counters, sizeof(struct counter_key));
	t->members = gus_budget_of(GUS_LIMIT_PERFDATA_MEMBERS, t->file_size);
	t->left_out = 0;
}

void gus_perfdata_samples_free(struct gus_perfdata_samples *t)
{
	gus_index_free(&t->counters);
	gus_vec_free(&t->events);
	gus_vec_free(&t->last);
	gus_vec_free(&t->regs);
	gus_vec_free(&t->chain);
	gus_vec_free(&t->extras);
}
