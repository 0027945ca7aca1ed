/* SPDX-License-Identifier: MIT */
#include "collector/session/area.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "collector/counters/ring.h"
#include "collector/events/event.h"
#include "collector/host/host.h"
#include "collector/host/text.h"
#include "collector/records/hardware.h"
#include "collector/records/records.h"

void gus_area_ask(struct gus_area_cpus *cpus)
{
	Gusprof__Host *host = gus_host_describe("/sys");

	cpus->ibs = (struct gus_ibs_cpu){ host->cpu_family, host->cpu_model_number };
	gusprof__host__free_unpacked(host, NULL);
}

uint64_t gus_area_midr(unsigned cpu)
{
	char *path = gus_format("/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu), text[32] = "";

	gus_read_text(path, text, sizeof(text));
	free(path);
	return strtoull(text, NULL, 16);
}

void gus_area_decode(const struct gus_area_cpus *cpus, const struct gus_event *event, struct gus_sample *s,
		     struct gus_branch *branch)
{
	const void *raw;
	struct gus_ibs_fetch fetch;
	struct gus_ibs_op op;
	size_t size = 0;

	if (event->words == GUS_WORDS_DATA)
		gus_hardware_data(s);
	if (event->words != GUS_WORDS_IBS_OP && event->words != GUS_WORDS_IBS_FETCH)
		return;
	raw = gus_sample_extra(s, GUS_EXTRA_RAW, &size, NULL);
	if (raw && event->words == GUS_WORDS_IBS_OP && gus_ibs_op_parse(raw, size, &cpus->ibs, &op))
		gus_hardware_ibs_op(&op, s, branch);
	else if (raw && event->words == GUS_WORDS_IBS_FETCH && gus_ibs_fetch_parse(raw, size, &cpus->ibs, &fetch))
		gus_hardware_ibs_fetch(&fetch, s);
	else
		return; /* who reads the recording may know more of them */
	s->extras_n = 0;
}

/* Linux sets the context to the thread's number where it sets it at all (CONFIG_PID_IN_CONTEXTIDR). */
static void say_whose(const struct gus_area *a, const struct gus_spe_record *r, struct gus_sample *s)
{
	bool told = r->known & GUS_SPE_HAS_CONTEXT;

	s->pid = a->task ? a->piece->pid : GUS_TASK_UNKNOWN;
	s->tid = a->task ? a->piece->tid : told ? r->context : GUS_TASK_UNKNOWN;
}

size_t gus_area_samples(const struct gus_area *a, const uint8_t *bytes, size_t size,
			void (*take)(struct gus_sample *sample, void *context), void *context,
			struct gus_spe_lost *lost)
{
	struct gus_cursor c = gus_cursor(bytes, size);
	struct gus_spe_record r;
	size_t n = 0;

	while (gus_spe_record(&c, &r, lost)) {
		struct gus_sample s = { .event = a->piece->event, .cpu = a->piece->cpu, .period = a->period,
			.time = a->piece->time, .mode = r.level ? GUS_MODE_KERNEL : GUS_MODE_USER };
		struct gus_branch branch;

		say_whose(a, &r, &s);
		gus_hardware_spe(&r, a->midr, &s, &branch);
		if (a->control && (r.known & GUS_SPE_HAS_TIMESTAMP))
			s.time = gus_ring_time(a->control, r.timestamp);
		take(&s, context);
		n++;
	}
	return n;
}
