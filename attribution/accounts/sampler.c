/* SPDX-License-Identifier: MIT */
#include "attribution/accounts/sampler.h"

#include <string.h>
#include <strings.h>

#include "attribution/observed/kinds.h"
#include "proto/skid.h"

/* A self-test says where samples land if so many of them are there. Without one it is taken to be where
 * tests/accuracy/skid found them on the machines that were at hand, some of them on the one waited for itself. */
static const double MOST = 0.5, EARLY = 0.012;
/* Of 500 samples 0.05 are, by chance; 0.2 were seen on a Zen 4. */
static const double UNEVEN = 0.12;
/* In the numbers of the perf_event ABI: PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS. */
enum { HARDWARE = 0, INSTRUCTIONS = 1 };
/* AMD's code for retired ops, which the kernel samples by IBS if it is to be precise. */
enum { AMD_OPS = 0xc1 };
/* The bit of ibs_op by which it counts ops, instead of cycles. */
enum { IBS_BY_OPS = 19 };

static bool is_amd(const Gusprof__Header *h)
{
	return h->host && (strcmp(h->host->cpu_vendor, "AuthenticAMD") == 0 ||
			   strcmp(h->host->cpu_vendor, "HygonGenuine") == 0);
}

static bool has_word(const char *text, const char *word)
{
	for (size_t n = strlen(word); *text; text++)
		if (strncasecmp(text, word, n) == 0)
			return true;
	return false;
}

/* Precise events of AMD's are IBS, whatever they are called. */
static enum gus_sampler precise_of(const Gusprof__Header *h, const Gusprof__Event *e)
{
	if (is_amd(h))
		return strcmp(e->unit, "cycles") == 0 ? GUS_SAMPLER_DISPATCHED :
			e->config == AMD_OPS ? GUS_SAMPLER_OPS : GUS_SAMPLER_OTHER;
	if (strcmp(e->unit, "cycles") == 0)
		return GUS_SAMPLER_TIME;
	if ((e->type == HARDWARE && e->config == INSTRUCTIONS) || has_word(e->name, "inst_retired"))
		return GUS_SAMPLER_INSNS;
	return GUS_SAMPLER_OTHER;
}

enum gus_sampler gus_sampler_of(const Gusprof__Header *h, uint32_t event)
{
	const Gusprof__Event *e = event < h->n_events ? h->events[event] : NULL;
	struct gus_observed_event of;

	if (!e)
		return GUS_SAMPLER_OTHER;
	if (strcmp(e->pmu, "ibs_op") == 0 && !(e->config >> IBS_BY_OPS & 1))
		return GUS_SAMPLER_DISPATCHED;
	of = gus_observed_event_of(e);
	if (of.kind == GUS_OBSERVED_OPS || of.kind == GUS_OBSERVED_LOADS)
		return of.kind == GUS_OBSERVED_OPS ? GUS_SAMPLER_OPS : GUS_SAMPLER_LOADS;
	if (strcmp(e->unit, "ns") == 0)
		return GUS_SAMPLER_TIME;
	if (e->precise)
		return precise_of(h, e);
	return strcmp(e->unit, "cycles") == 0 ? GUS_SAMPLER_TIME : GUS_SAMPLER_OTHER;
}

uint32_t gus_sampler_main(const Gusprof__Header *h, bool *time)
{
	uint32_t event = h->main_event;

	*time = gus_sampler_of(h, event) == GUS_SAMPLER_TIME;
	for (uint32_t i = 0; !*time && i < h->n_events; i++) {
		*time = gus_sampler_of(h, i) == GUS_SAMPLER_TIME;
		event = *time ? i : event;
	}
	return event;
}

/* By the load, of which there are samples. */
static struct gus_sampler_sight by_skid(const struct gus_skid *skid)
{
	const struct gus_skid_counts *load = &skid->counts[GUS_SKID_LOAD];
	int distance = gus_skid_distance(skid, MOST);
	double early = (double)load->at[0] / (double)gus_skid_samples(load);
	bool late = gus_skid_uneven(skid) > UNEVEN;

	if (distance == 0)
		return (struct gus_sampler_sight){ true, GUS_SPREAD_NEXT, early, false, "by the recording's self-test "
			"samples are at the instruction that was waited for" };
	if (distance == 1)
		return (struct gus_sampler_sight){ true, GUS_SPREAD_BEHIND, early, late, late ?
			"by the recording's self-test samples are at the first instruction behind the one that was "
			"waited for, but among quick integer instructions they are not to be told apart" :
			"by the recording's self-test samples are at the first instruction behind the one that was "
			"waited for" };
	return (struct gus_sampler_sight){ true, GUS_SPREAD_INTERRUPT, early, false, "by the recording's self-test "
		"samples are behind all that retired with the instruction that was waited for" };
}

struct gus_sampler_sight gus_sampler_sight_of(enum gus_sampler sampler, bool exact, const struct gus_skid *skid)
{
	if (sampler == GUS_SAMPLER_DISPATCHED)
		return (struct gus_sampler_sight){ .told = "samples are at what was dispatched, and no rule leads "
			"from there to what was waited for: a clock or cycles beside them are needed" };
	if (sampler != GUS_SAMPLER_TIME)
		return (struct gus_sampler_sight){ .told = "samples are not of time: a clock or cycles beside them "
			"are needed" };
	if (exact)
		return (struct gus_sampler_sight){ true, GUS_SPREAD_NEXT, 0, false, "samples are precise: each is at "
			"the next instruction that retires" };
	if (skid && gus_skid_samples(&skid->counts[GUS_SKID_LOAD]))
		return by_skid(skid);
	return (struct gus_sampler_sight){ true, GUS_SPREAD_BEHIND, EARLY, false, "no self-test beside a load is in "
		"the recording: samples are taken to be at the first instruction behind the one that was waited for" };
}
