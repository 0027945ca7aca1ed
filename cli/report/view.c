/* SPDX-License-Identifier: MIT */
#include "cli/report/view.h"

#include <stdarg.h>
#include <stdio.h>

#include "attribution/profile/touch.h"
#include "base/limits.h"
#include "base/missed.h"
#include "symbolizer/insn/insn.h"

static const char *const weighs_names[] = {
	[GUS_WEIGHS_EVENTS] = "events", [GUS_WEIGHS_OFF_CPU] = "off-cpu", [GUS_WEIGHS_WALL] = "wall",
};

const char *gus_weighs_name(enum gus_weighs weighs)
{
	return weighs_names[weighs];
}

void gus_report_build_id(const struct gus_module *module, char out[GUS_REPORT_BUILD_ID])
{
	out[0] = '\0';
	for (size_t i = 0; i < module->build_id_size && 2 * i + 2 < GUS_REPORT_BUILD_ID; i++)
		sprintf(out + 2 * i, "%02x", module->build_id[i]);
}

static void disassemble(const struct gus_report *r, const struct gus_module *module, uint64_t offset, char *out,
			size_t room)
{
	struct gus_insn insn;
	uint8_t bytes[16];
	unsigned machine = 0;
	size_t n = gus_symbols_code(r->profile->symbols, module, offset, bytes, sizeof(bytes), &machine);

	out[0] = '\0';
	if (n && gus_insn_decode(gus_isa_of_machine(machine), bytes, n, offset, &insn))
		snprintf(out, room, "%s", insn.text);
}

void gus_report_cell(const struct gus_report *r, size_t i, uint64_t *sum, struct gus_report_cell *cell)
{
	const struct gus_row *row = &r->view->rows.v[i];
	uint64_t time_sum = *sum;

	*cell = (struct gus_report_cell){ .module = "", .before = *sum };
	cell->time_ns = gus_scale_part(&r->units.time, &time_sum, row->weight);
	cell->cycles = gus_scale_part(&r->units.cycles, sum, row->weight);
	if (r->view->by & GUS_BY_DATA)
		gus_report_data(r->profile, r->view->by, row, &cell->data);
	if (row->module != GUS_INDEX_NONE) {
		const struct gus_module *module = gus_space_module(r->profile->space, row->module);

		cell->module = module->path;
		gus_report_build_id(module, cell->build_id);
		if (r->view->by & GUS_BY_INSTRUCTION)
			disassemble(r, module, row->offset, cell->text, sizeof(cell->text));
	}
}

bool gus_report_shown(const struct gus_report *r, const struct gus_row *row)
{
	uint64_t weight = r->graph && row->total > row->weight ? row->total : row->weight;

	return (double)weight * 100 >= r->percent_limit * (double)r->profile->weight;
}

struct notice { void (*say)(const char *, void *); void *context; };

__attribute__((format(printf, 2, 3)))
static void notice(const struct notice *n, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n->say(text, n->context);
}

bool gus_report_misses(const struct gus_report *r)
{
	const struct gus_profile *p = r->profile;
	const Gusprof__EventTotal *total = gus_profile_total(p);
	const Gusprof__Event *e = p->event < p->header->n_events ? p->header->events[p->event] : NULL;
	uint64_t period = p->samples ? p->weight / p->samples : e ? e->period : 0;

	return total && gus_missed_matters(p->unsampled, total->count, period);
}

static void notice_unsampled(const struct gus_report *r, const struct notice *n)
{
	if (gus_report_misses(r))
		notice(n, "up to %.0f %% of what was counted is in no sample: tasks ended before they were sampled. "
			  "Nobody knows where it went, and the intervals allow for that. Record with "
			  "--sample-cpus=always, which takes root, CAP_PERFMON or kernel.perf_event_paranoid 0, or "
			  "more often (-F)", 100 * (double)r->profile->unsampled /
			  (double)gus_profile_total(r->profile)->count);
}

/* Less than a hundredth of the rows is seen in them, and not worth a line. */
static bool matters(const struct gus_report *r, uint64_t ns)
{
	return ns >= r->profile->weight / 100 && ns;
}

/* What is told of a profile of time. */
static void notice_time(const struct gus_report *r, const struct notice *n)
{
	const struct gus_wall_sums *w = &r->profile->wall;

	if (r->profile->weighs == GUS_WEIGHS_EVENTS)
		return;
	if (gus_profile_switches(r->profile->header) == GUS_INDEX_NONE)
		notice(n, "where threads left their CPU was not recorded: that takes record --off-cpu, and a user who "
			  "may sample the kernel (root, CAP_PERFMON or kernel.perf_event_paranoid at 1). Times are "
			  "right, by thread; their places are not known");
	else if (w->nowhere_ns)
		notice(n, "%.3f s off the CPU are at no known place: their switches were not sampled",
		       (double)w->nowhere_ns / 1e9);
	if (matters(r, w->before_ns))
		notice(n, "%.3f s off the CPU are at no known place: threads had left their CPU before recording began",
		       (double)w->before_ns / 1e9);
	if (matters(r, w->born_ns))
		notice(n, "%.3f s off the CPU are at no place: new threads waited for their first turn",
		       (double)w->born_ns / 1e9);
	if (w->asleep)
		notice(n, "%llu thread%s never ran meanwhile, and %s in no row: %.3f s in all",
		       (unsigned long long)w->asleep, w->asleep == 1 ? "" : "s", w->asleep == 1 ? "is" : "are",
		       (double)w->asleep_ns / 1e9);
	if (w->thinned)
		notice(n, "there were more switches than --overhead allows to sample: %.3f s are inferred. They count "
			  "where those of the same thread and length were that were sampled",
		       (double)w->inferred_ns / 1e9);
	if (w->all.unknown)
		notice(n, "of %.3f s nobody knows whether threads were on a CPU: records are missing",
		       (double)w->all.unknown / 1e9);
}

/* Why stacks end before the thread began: as part of a sentence, and what helps. By enum gus_callers. */
static const struct {
	const char *name;              /* in JSON */
	const char *what, *remedy;
} endings[GUS_CALLERS_END + 1] = {
	[GUS_CALLERS_WHOLE] = { "whole", NULL, NULL },
	[GUS_CALLERS_STACK] = { "copy", "end where the copy of the stack does",
				"record with a larger one (--call-graph dwarf,SIZE or tables,SIZE)" },
	[GUS_CALLERS_NO_CODE] = { "no_code", "lead to where no code is mapped", NULL },
	[GUS_CALLERS_NO_RULE] = { "no_rule", "lead to code without unwind tables and frame pointers",
				  "build it with either" },
	[GUS_CALLERS_BAD] = { "bad", "contradict the unwind tables", NULL },
	[GUS_CALLERS_DEEP] = { "deep", "have more frames than are kept", NULL },
	[GUS_CALLERS_WORK] = { "work", "cost more work than one stack may", NULL },
	[GUS_CALLERS_FILE] = { "file", "lead to files that are not at hand",
			       "report on the machine that recorded, or give copies (--symfs)" },
	[GUS_CALLERS_ABI] = { "abi", "are of 32-bit code", NULL },
	[GUS_CALLERS_GONE] = { "gone", "had no stack to copy, as their program was being replaced (execve)", NULL },
};

const char *gus_report_ending(size_t i)
{
	return i < sizeof(endings) / sizeof(*endings) ? endings[i].name : NULL;
}

/* Said where it matters: below 95 % of whole stacks, a tree of callers has roots that are none. */
static void notice_endings(const struct gus_endings *e, const struct notice *n)
{
	uint64_t whole = e->by_end[GUS_CALLERS_WHOLE];
	size_t most = 0;

	if (whole * 100 >= e->samples * 95)
		return;
	for (size_t i = 1; i <= GUS_CALLERS_END; i++)
		if (endings[i].what && e->by_end[i] > (most ? e->by_end[most] : 0))
			most = i;
	if (most)
		notice(n, "%.1f %% of the stacks are whole; most of the others, %.1f %%, %s%s%s",
		       100 * (double)whole / (double)e->samples, 100 * (double)e->by_end[most] / (double)e->samples,
		       endings[most].what, endings[most].remedy ? ": " : "",
		       endings[most].remedy ? endings[most].remedy : "");
}

void gus_report_damage(const struct gus_damage *d, void (*say)(const char *text, void *context), void *context)
{
	const struct notice n = { say, context };

	if (d->cut)
		notice(&n, "the recording was cut at offset %llu: the recorder was killed, or the file was truncated. "
			   "This is what it held until then.", (unsigned long long)d->cut_offset);
	if (d->corrupt)
		notice(&n, "the recording is corrupt in %llu place%s, first at offset %llu; %llu bytes were skipped. "
			   "What those places held is missing here.", (unsigned long long)d->corrupt,
		       d->corrupt == 1 ? "" : "s", (unsigned long long)d->first_offset,
		       (unsigned long long)d->skipped_bytes);
	if (d->missing_frames)
		notice(&n, "%llu frames of the recording are missing: what they held is missing here",
		       (unsigned long long)d->missing_frames);
	if (d->header_lost)
		notice(&n, "the recording's header is lost: host, command and events are not known, and a sample's "
			   "weight has no unit");
}

void gus_report_notices(const struct gus_report *r, void (*say)(const char *text, void *context), void *context)
{
	const struct gus_profile *p = r->profile;
	struct notice n = { say, context };
	const char *path, *why;
	size_t cut;

	gus_report_damage(&p->damage, say, context);
	if (p->missing)
		notice(&n, "%llu samples that the recorder counted are not in the file",
		       (unsigned long long)p->missing);
	if (p->lost)
		notice(&n, "the kernel dropped %s%llu records for want of room in the ring: record at a lower rate "
			   "(-F)", p->lost == GUS_LIMIT_SUM ? "at least " : "", (unsigned long long)p->lost);
	if (p->capped)
		notice(&n, "weights add up to more than 2^63: %llu of the samples count%s with less than %s, or with "
			   "nothing", (unsigned long long)p->capped,
		       p->capped == 1 ? "s" : "", p->capped == 1 ? "it says" : "they say");
	cut = gus_symbols_cut(p->symbols, &path, &why);
	if (cut)
		notice(&n, "names of %zu module%s were cut%s %s: %s", cut, cut == 1 ? "" : "s",
		       cut == 1 ? ":" : ", first those of", path, why);
	notice_unsampled(r, &n);
	notice_time(r, &n);
	notice_endings(&p->endings, &n);
	if (p->touches && p->touches->beyond)
		notice(&n, "there are more than %u places of data: %llu samples are of places that came later and are "
			   "in rows together ('[others]'). --time or --tid take fewer", GUS_LIMIT_TOUCHES,
		       (unsigned long long)p->touches->beyond);
	if (p->shortened)
		notice(&n, "there are more calling paths than are told apart: %llu samples stand below the outermost "
			   "of their callers only, as if these had called where they are. --time or --tid take fewer",
		       (unsigned long long)p->shortened);
	for (size_t i = 0; p->footer && i < p->footer->n_notices; i++)
		notice(&n, "%s", p->footer->notices[i]);
	if (p->throttled)
		notice(&n, "the kernel paused sampling %llu times: it took too long; record at a lower rate (-F)",
		       (unsigned long long)p->throttled);
}
