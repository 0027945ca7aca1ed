/* SPDX-License-Identifier: MIT */
#include "cli/record/summary.h"

#include <stdio.h>

#include "base/log.h"
#include "base/missed.h"
#include "cli/record/callers.h"
#include "cli/record/embed.h"
#include "cli/record/replay.h"
#include "collector/session/session.h"
#include "collector/target/target.h"

#define SAID_NS 1000000000 /* of the target's time: of less, nothing is said of what it cost beyond the figures */
#define SAID_SOON_NS 100000000 /* the same where switches alone cost too much */

/* What is no share of the target's time, as that was too short: a few milliseconds of a program that did nothing. */
static void summarise_large_cost(const struct gus_session_options *so, const struct gus_session_result *r)
{
	gus_log(so->log, GUS_NOTE, "[ recording cost more than the target itself took, which was %.3f ms of CPU time; "
		"and %.0f ms to begin and to end ]", (double)r->target_ns / 1e6, (double)r->around_ns / 1e6);
}

/* Where most of following is for switches, no rate helps, nor does thinning their samples. */
static void summarise_switches(const struct gus_session_options *so, const struct gus_session_result *r)
{
	gus_log(so->log, GUS_NOTE, "--overhead could not be kept: %.0f switches a second of CPU time cost %.1f %% "
		"alone, %llu ns each, whatever is sampled of them; -a follows no tasks, and costs less then",
		(double)r->switches / ((double)r->target_ns / 1e9), 100 * r->switches_spent,
		(unsigned long long)so->costs.switch_ns);
}

/* Asked, got, at what rate. The parts, because only the first follows the rate. */
static void summarise_cost(const struct gus_session_options *so, const struct gus_session_result *r)
{
	const struct gus_spending *s = &r->spent;
	double got = s->samples + s->following + s->recorder;
	char asked[64] = "", rate[64] = "";

	if (!r->target_ns)
		return;
	if (got > 1) {
		summarise_large_cost(so, r);
		return;
	}
	if (so->overhead > 0)
		snprintf(asked, sizeof(asked), " of %.2f asked", so->overhead * 100);
	if (r->hz)
		snprintf(rate, sizeof(rate), " at %llu samples a second of CPU time", (unsigned long long)r->hz);
	gus_log(so->log, GUS_NOTE, "[ cost about %.2f %%%s%s: samples %.2f, following tasks %.2f, this program %.2f, "
		"and %.0f ms to begin and to end; throttled %llu times ]", got * 100, asked, rate, s->samples * 100,
		s->following * 100, s->recorder * 100, (double)r->around_ns / 1e6, (unsigned long long)r->throttles);
	if (so->overhead <= 0 || r->target_ns < (r->switches_spent > so->overhead ? SAID_SOON_NS : SAID_NS))
		return;
	if (r->switches_spent > so->overhead)
		summarise_switches(so, r);
	else if (s->following > so->overhead)
		gus_log(so->log, GUS_NOTE, "following the tasks alone costs more than was asked for, whatever the "
			"rate: they are born and switched very often; -a follows none, and costs less then");
	else if (s->recorder > so->overhead && r->parts > 1)
		gus_log(so->log, GUS_NOTE, "this program costs more than was asked for, whatever the rate: parts "
			"are ended and begun (--switch-output), which costs less if they are larger");
	else if (s->following + s->recorder > so->overhead)
		gus_log(so->log, GUS_NOTE, "what no rate changes costs more than was asked for: following the tasks, "
			"and this program, which reads what they do and looks after itself while they sleep");
}

/* The kernel takes its events from a task that becomes a program with other rights. */
static void summarise_taken_away(const struct gus_session_options *so, const struct gus_session_result *r)
{
	char others[48] = "";

	if (r->taken_away > 1)
		snprintf(others, sizeof(others), " and %llu others", (unsigned long long)r->taken_away - 1);
	gus_log(so->log, GUS_WARN, "the kernel took the events off '%s' (process %u)%s as it was executed, and nothing "
		"of it was sampled: it runs with other rights than yours (set-user-ID, set-group-ID, capabilities), or "
		"you may execute and not read it; run gusprof as the user that it becomes, or all of the system (-a) "
		"as root", r->taken_comm, r->taken_tid, others);
}

static void summarise_missed(const struct gus_session_options *so, const struct gus_session_result *r)
{
	gus_log(so->log, GUS_WARN, "tasks ended before they were sampled: up to %.0f %% of what was counted is in no "
		"sample, and nobody knows where it went; the report's intervals allow for that. %s",
		100 * (double)r->missed / (double)r->counted,
		so->sample_cpus == GUS_SAMPLE_CPUS_NEVER ? "Without --sample-cpus=never it would be less" :
		"Use --sample-cpus=always, which takes root, CAP_PERFMON or kernel.perf_event_paranoid at 0, or "
		"sample more often (-F)");
}

/* What the recording took along. */
static void summarise_names(const struct gus_record_embed *e)
{
	char lines[64] = "", code[64] = "";

	if (!e->functions)
		return;
	if (e->line_bytes)
		snprintf(lines, sizeof(lines), ", lines of %.1f KB of code", (double)e->line_bytes / 1e3);
	if (e->code_bytes)
		snprintf(code, sizeof(code), ", %.1f KB of code", (double)e->code_bytes / 1e3);
	gus_log(e->log, GUS_NOTE, "[ names of %llu function%s%s%s: %.1f KB ]", (unsigned long long)e->functions,
		e->functions == 1 ? "" : "s", lines, code, (double)e->bytes / 1e3);
}

void gus_record_summarise(const struct gus_session_options *so, const struct gus_session_result *r,
			  const struct gus_record_embed *embed, const struct gus_record_callers *callers,
			  const struct gus_record_replay *replay)
{
	bool missed = gus_missed_matters(r->missed, r->counted, r->period);

	gus_log(so->log, GUS_NOTE, "[ %llu samples, %llu lost, %.2f MB in %s ]", (unsigned long long)r->samples,
		(unsigned long long)r->lost, (double)r->bytes / 1e6, r->parts ? "all parts" : so->output);
	if (r->taken_away)
		summarise_taken_away(so, r);
	else if (!r->samples && !missed)
		gus_log(so->log, GUS_NOTE, "no samples: the %s took too little CPU time, or the event did not happen",
			so->target->kind == GUS_TARGET_COMMAND ? "command" : "target");
	if (so->unwinder)
		gus_record_callers_summarise(callers, so->log);
	summarise_names(embed);
	if (missed)
		summarise_missed(so, r);
	if (r->strangers)
		gus_log(so->log, GUS_DEBUG, "%llu samples of the CPUs were none of the target's and are not kept",
			(unsigned long long)r->strangers);
	if (so->trace)
		gus_record_replay_summarise(replay, so, r);
	summarise_cost(so, r);
}
