/* SPDX-License-Identifier: MIT */
#include "cli/calibrate/host.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "collector/timing/timing.h"
#include "model/calibration/host.h"
#include "model/calibration/micro.h"

/* How an arena is filled, as bytes: the process that fills it has no other part of the microbenchmark. */
struct what { uint64_t lists, patterns; }; /* how many; they follow */

static void write_what(const struct gus_micro *k, struct gus_timing_job *job)
{
	size_t lists = k->lists.n * sizeof(*k->lists.v), patterns = k->patterns.n * sizeof(*k->patterns.v);
	struct what head = { k->lists.n, k->patterns.n };
	uint8_t *bytes;

	if (!lists && !patterns)
		return;
	job->what_size = sizeof(head) + lists + patterns;
	bytes = gus_alloc(job->what_size);
	memcpy(bytes, &head, sizeof(head));
	if (lists)
		memcpy(bytes + sizeof(head), k->lists.v, lists);
	if (patterns)
		memcpy(bytes + sizeof(head) + lists, k->patterns.v, patterns);
	job->what = bytes;
}

static void fill(const void *what, size_t size, void *arena)
{
	struct gus_micro k = { 0 };
	const uint8_t *bytes = what;
	struct what head;

	if (size < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	bytes += sizeof(head);
	gus_vec_append(&k.lists, (const struct gus_micro_list *)(const void *)bytes, head.lists);
	bytes += head.lists * sizeof(*k.lists.v);
	gus_vec_append(&k.patterns, (const struct gus_micro_pattern *)(const void *)bytes, head.patterns);
	gus_micro_fill(&k, arena, (uintptr_t)arena);
	gus_vec_free(&k.lists);
	gus_vec_free(&k.patterns);
}

static const char *fault_of(const struct gus_timing_result *r)
{
	static const struct { int signal; const char *phrase; } signals[] = {
		{ SIGILL, "it has an instruction that this CPU refuses" },
		{ SIGSEGV, "it touched memory that is not there, or an instruction that is not allowed" },
		{ SIGBUS, "it touched memory in a way that this CPU refuses" },
		{ SIGFPE, "its arithmetic failed (SIGFPE)" },
		{ SIGTRAP, "it came upon a trap" },
		{ SIGSYS, "it called the kernel" }, { 0, "it ended the process that it ran in" },
	};

	if (r->fault == GUS_TIMING_ENDLESS)
		return "it did not come to an end";
	if (r->fault == GUS_TIMING_NONSENSE)
		return "what it was said to take is no time";
	if (r->fault == GUS_TIMING_SMALL_PAGES)
		return "there were no large pages left for it";
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i].signal == r->signal)
			return signals[i].phrase;
	return "it was killed";
}

static struct gus_micro_time time_of(const struct gus_timing_result *r)
{
	static const struct { uint32_t ours, theirs; } troubles[] = {
		{ GUS_TIMING_NOISY, GUS_MICRO_NOISY }, { GUS_TIMING_BISTABLE, GUS_MICRO_BISTABLE },
		{ GUS_TIMING_MOVED, GUS_MICRO_MOVED }, { GUS_TIMING_BESIDE, GUS_MICRO_BESIDE },
	};
	struct gus_micro_time t = { r->sum.cycles, r->sum.median, r->sum.high, r->sum.samples, r->sum.kept, 0, NULL };

	if (r->fault != GUS_TIMING_RETURNED)
		return (struct gus_micro_time){ .cycles = NAN, .median = NAN, .high = NAN,
						 .trouble = GUS_MICRO_FAULT, .fault = fault_of(r) };
	for (size_t i = 0; i < sizeof(troubles) / sizeof(*troubles); i++)
		t.trouble |= r->sum.trouble & troubles[i].ours ? troubles[i].theirs : 0;
	return t;
}

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	struct gus_timing_job *jobs = gus_zalloc((n + 1) * sizeof(*jobs));
	struct gus_timing_result *results = gus_zalloc((n + 1) * sizeof(*results));
	int rc;

	for (size_t i = 0; i < n; i++) {
		const struct gus_micro *k = micros[i];

		jobs[i] = (struct gus_timing_job){ .code = k->code.v, .size = k->code.n, .arena = k->arena,
						   .huge = k->huge, .warm = k->warm, .passes = k->passes,
						   .fill = fill };
		write_what(k, &jobs[i]);
	}
	rc = gus_timing_run(context, jobs, n, results, err);
	for (size_t i = 0; i < n; i++) {
		times[i] = time_of(&results[i]);
		free((void *)(uintptr_t)jobs[i].what);
	}
	free(jobs);
	free(results);
	return rc;
}

int gus_calibrate_host_open(const struct gus_timing_options *options, struct gus_calibration_host *host,
			    struct gus_error *err)
{
	struct gus_timing *t = gus_timing_open(options, err);
	struct gus_timing_facts facts;

	if (!t)
		return -1;
	gus_timing_facts(t, &facts);
	*host = (struct gus_calibration_host){
		.context = t, .arena_most = facts.arena_most, .arena_most_huge = facts.arena_most_huge,
		.cycles_a_second = facts.core_hz, .run = run,
#if defined(__x86_64__)
		.isa = GUS_ISA_X86_64, .avx2 = __builtin_cpu_supports("avx2"), .fma = __builtin_cpu_supports("fma"),
		.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
			__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"),
#else
		.isa = GUS_ISA_ARM64,
#endif
	};
	return 0;
}

void gus_calibrate_host_close(struct gus_calibration_host *host)
{
	gus_timing_close(host->context);
	*host = (struct gus_calibration_host){ 0 };
}

struct gus_timing *gus_calibrate_host_timing(const struct gus_calibration_host *host)
{
	return host->context;
}
