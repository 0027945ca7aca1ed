/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/slots.h"

#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/golden/counters.h"

/* The definitions of level 1 of tables/skylake.topdown, with counters of slots where Skylake has cycles. */
static const char text[] =
	"topdown golden \"golden machines\"\n"
	"source yasin \"A. Yasin, A Top-Down Method for Performance Analysis and Counters Architecture, ISPASS 2014\"\n"
	"pmu golden\n"
	"counters 6\n"
	"event slots slots=1 any\n"
	"event issued issued=1 any\n"
	"event retired retired=1 any\n"
	"event undelivered undelivered=1 any\n"
	"event recovery recovery=1 any\n"
	"group slots 1 slots issued retired undelivered recovery\n"
	"node frontend_bound - 1 slots yasin \"front end\"\n"
	"\tvalue undelivered / slots\n"
	"node bad_speculation - 1 slots yasin \"bad speculation\"\n"
	"\tvalue (issued - retired + recovery) / slots\n"
	"node backend_bound - 1 slots yasin \"back end\"\n"
	"\tvalue 1 - frontend_bound - (issued + recovery) / slots\n"
	"node retiring - 1 slots yasin \"retiring\"\n"
	"\tvalue retired / slots\n";

static const enum golden_counter events[] = { GOLDEN_SLOTS, GOLDEN_SLOTS_ISSUED, GOLDEN_SLOTS_RETIRED,
	GOLDEN_SLOTS_FRONT, GOLDEN_SLOTS_RECOVERY };
#define EVENTS (sizeof(events) / sizeof(*events))

static struct gus_topdown *load(void)
{
	static const struct gus_topdown_pmu golden = { "golden", NULL, 0, 0 };
	static const struct gus_topdown_host host = { .pmus = &golden, .pmus_n = 1 };
	struct gus_topdown *t;

	if (gus_topdown_parse(&t, "golden", text, strlen(text), &host, NULL) != 0 || !t)
		abort();
	return t;
}

/* What the counters know of the turns of the group: one reading each. */
static void read_turns(const struct golden_counters *c, struct gus_topdown_count *series,
		       struct gus_topdown_count *all)
{
	for (size_t k = 0; k < c->turns.n; k++)
		for (size_t i = 0; i < EVENTS; i++) {
			struct gus_topdown_count *one = &series[k * EVENTS + i];

			*one = (struct gus_topdown_count){ (double)c->turns.v[k].counted[events[i]],
				golden_turn_cycles() * GOLDEN_GROUPS, golden_turn_cycles(), true };
			all[i].known = true;
			all[i].value += one->value;
			all[i].enabled_ns += one->enabled_ns;
			all[i].running_ns += one->running_ns;
		}
}

void golden_slots_of(const struct golden_counters *c, struct golden_slots_share shares[GOLDEN_SLOTS_NODES])
{
	double slots = (double)c->count[GOLDEN_SLOTS];
	const double truth[] = { (double)c->count[GOLDEN_SLOTS_FRONT] / slots,
		(double)(c->count[GOLDEN_SLOTS_WRONG] + c->count[GOLDEN_SLOTS_RECOVERY]) / slots,
		(double)c->count[GOLDEN_SLOTS_BACK] / slots, (double)c->count[GOLDEN_SLOTS_RETIRED] / slots };
	struct gus_topdown_count *series = gus_zalloc((c->turns.n + 1) * EVENTS * sizeof(*series));
	struct gus_topdown_count whole[EVENTS], turns[EVENTS] = { { 0 } };
	struct gus_topdown_tree counted, read;
	struct gus_topdown *t = load();

	for (size_t i = 0; i < EVENTS; i++)
		whole[i] = (struct gus_topdown_count){ (double)c->count[events[i]], c->cycle, c->cycle, true };
	read_turns(c, series, turns);
	gus_topdown_evaluate(&counted, t, 1, whole, NULL, 0);
	gus_topdown_evaluate(&read, t, 1, turns, series, c->turns.n);
	for (size_t i = 0; i < GOLDEN_SLOTS_NODES; i++) {
		static const char *const names[] = { "frontend_bound", "bad_speculation", "backend_bound", "retiring" };

		shares[i] = (struct golden_slots_share){ names[i], truth[i], counted.shares[i].value, read.shares[i] };
	}
	gus_topdown_tree_free(&counted);
	gus_topdown_tree_free(&read);
	gus_topdown_free(t);
	free(series);
}

void golden_slots_print(FILE *out, const struct golden_slots_share shares[GOLDEN_SLOTS_NODES])
{
	static const char *const sure[] = { [GUS_TOPDOWN_WHOLE] = "whole", [GUS_TOPDOWN_SERIES] = "series",
					    [GUS_TOPDOWN_BOUND] = "bound" };

	for (size_t i = 0; i < GOLDEN_SLOTS_NODES; i++) {
		const struct gus_topdown_share *s = &shares[i].read;

		fprintf(out, "%s %.6f %.6f ", shares[i].name, shares[i].truth, shares[i].counted);
		if (s->known)
			fprintf(out, "%.6f %.6f %.6f %s\n", s->value, s->low, s->high, sure[s->sureness]);
		else
			fprintf(out, "- - - unknown\n");
	}
}
