/* SPDX-License-Identifier: MIT */
/* Source: perf_event_open(2); linux, tools/perf/Documentation/perf.data-file-format.txt. */
#include "collector/perfdata/declare.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/perfdata/put.h"
#include "collector/perfdata/record.h"
#include "collector/records/records.h"

enum { ATTR_SIZE = 128, ATTR_SIZE_CONFIG3 = 136, ALIGNED = 64, BUILD_ID_MAX = 20 };
#define MISC_BUILD_ID_SIZE (1u << 15) /* the build id says how long it is */

/* Attributes. */

enum { /* bits of perf_event_attr's flags */
	INHERIT = 1, EXCLUDE_USER = 4, EXCLUDE_KERNEL = 5, EXCLUDE_HV = 6, MMAP = 8, COMM = 9, FREQ = 10, TASK = 13,
	PRECISE = 15, SAMPLE_ID_ALL = 18, EXCLUDE_CALLCHAIN_USER = 22, MMAP2 = 23, COMM_EXEC = 24, USE_CLOCKID = 25,
	CONTEXT_SWITCH = 26, KSYMBOL = 29, BUILD_ID = 34,
};
#define FLAG(bit, on) ((uint64_t)!!(on) << (bit))

/* CLOCK_MONOTONIC, or the kernel's own, which has no number. */
static bool has_clockid(const Gusprof__Header *h)
{
	return h->clock && strcmp(h->clock->name, "monotonic") == 0;
}

struct gus_perfdata_attr gus_perfdata_declare(const Gusprof__Header *header, uint32_t event,
					       const struct gus_records_layout *layout, bool switches)
{
	const Gusprof__Event *e = header->events[event];
	bool first = !event, unwound = layout->sample_type & PERF_SAMPLE_STACK_USER;
	struct gus_perfdata_attr a = {
		.type = e->type, .config = e->config, .config1 = e->config1, .config2 = e->config2,
		.config3 = e->config3, .period = e->period ? e->period : e->frequency,
		.sample_type = layout->sample_type, .read_format = layout->read_format,
		.branch_type = layout->branch_type, .regs_user = layout->regs_mask, .regs_intr = layout->intr_mask,
		.stack_user = unwound ? header->stack_bytes : 0,
		.clockid = has_clockid(header) ? CLOCK_MONOTONIC : 0,
	};

	a.flags = FLAG(INHERIT, e->inherit) | FLAG(EXCLUDE_USER, e->exclude_user) |
		FLAG(EXCLUDE_KERNEL, e->exclude_kernel) | FLAG(EXCLUDE_HV, e->exclude_hv) |
		FLAG(FREQ, !e->period && e->frequency) |
		(uint64_t)(e->precise & 3) << PRECISE | FLAG(SAMPLE_ID_ALL, true) |
		FLAG(EXCLUDE_CALLCHAIN_USER, unwound) | FLAG(USE_CLOCKID, has_clockid(header)) |
		FLAG(MMAP, first) | FLAG(COMM, first) | FLAG(TASK, first) | FLAG(MMAP2, first) |
			FLAG(COMM_EXEC, first) |
		FLAG(KSYMBOL, first) | FLAG(BUILD_ID, first) | FLAG(CONTEXT_SWITCH, first && switches);
	return a;
}

uint32_t gus_perfdata_attr_size(const Gusprof__Header *header)
{
	for (size_t i = 0; i < header->n_events; i++)
		if (header->events[i]->config3)
			return ATTR_SIZE_CONFIG3;
	return ATTR_SIZE;
}

void gus_perfdata_put_attr(struct gus_bytes *out, const struct gus_perfdata_attr *a, uint32_t size)
{
	gus_put_u32(out, a->type);
	gus_put_u32(out, size);
	gus_put_u64(out, a->config);
	gus_put_u64(out, a->period);
	gus_put_u64(out, a->sample_type);
	gus_put_u64(out, a->read_format);
	gus_put_u64(out, a->flags);
	gus_put_u64(out, 0); /* wakeup_events, bp_type */
	gus_put_u64(out, a->config1);
	gus_put_u64(out, a->config2);
	gus_put_u64(out, a->branch_type);
	gus_put_u64(out, a->regs_user);
	gus_put_u32(out, a->stack_user);
	gus_put_u32(out, a->clockid);
	gus_put_u64(out, a->regs_intr);
	gus_put_u64(out, 0); /* aux_watermark, sample_max_stack */
	gus_put_u64(out, 0); /* aux_sample_size, aux_action */
	gus_put_u64(out, 0); /* sig_data */
	if (size >= ATTR_SIZE_CONFIG3)
		gus_put_u64(out, a->config3);
}

/* Features. */

bool gus_perfdata_put_build_id(struct gus_bytes *out, const struct gus_perfdata_build_id *b)
{
	size_t at = out->n, n = b->size < BUILD_ID_MAX ? b->size : BUILD_ID_MAX, size;

	gus_put_u32(out, GUS_PERFDATA_BUILD_ID);
	gus_put_u16(out, (uint16_t)((b->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) |
				    MISC_BUILD_ID_SIZE));
	gus_put_u16(out, 0);
	gus_put_u32(out, b->pid);
	gus_vec_append(out, b->id, n);
	gus_put_padding(out, at + 12, BUILD_ID_MAX); /* behind header and pid */
	gus_put_u32(out, (uint32_t)n);
	gus_put_text(out, b->path);
	gus_put_padding(out, at + 36, ALIGNED);
	size = out->n - at;
	if (size > UINT16_MAX) {
		out->n = at;
		return false;
	}
	out->v[at + 6] = (uint8_t)size;
	out->v[at + 7] = (uint8_t)(size >> 8);
	return true;
}

/* With its length before it, which is that of its room. */
static bool put_string(struct gus_bytes *out, const char *text)
{
	size_t size = (strlen(text) + ALIGNED) / ALIGNED * ALIGNED, from;

	gus_put_u32(out, (uint32_t)size);
	from = out->n;
	gus_put_text(out, text);
	gus_put_padding(out, from, ALIGNED);
	return true;
}

static const Gusprof__Host *host_of(const struct gus_perfdata_about *about)
{
	static const Gusprof__Host nothing = GUSPROF__HOST__INIT;

	return about->header->host ? about->header->host : &nothing;
}

static bool put_known(struct gus_bytes *out, const char *text)
{
	return *text && put_string(out, text);
}

static bool put_hostname(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	return put_known(out, host_of(about)->hostname);
}

static bool put_release(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	return put_known(out, host_of(about)->kernel);
}

/* perf's own; here it is who recorded. */
static bool put_version(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	return put_known(out, about->header->producer);
}

static bool put_arch(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	return put_known(out, host_of(about)->machine);
}

static bool put_cpu_text(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	return put_known(out, host_of(about)->cpu_model);
}

/* How many there are, which a recording does not tell beside how many were online. */
static bool put_cpus(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	uint32_t online = host_of(about)->cpus_online;

	if (!online)
		return false;
	gus_put_u32(out, online);
	gus_put_u32(out, online);
	return true;
}

/* x86: vendor and numbers; arm64: the register. */
static bool put_cpuid(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	const Gusprof__Host *host = host_of(about);
	char text[128];

	if (host->midr)
		snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)host->midr);
	else if (host->cpu_family)
		snprintf(text, sizeof(text), "%.64s,%u,%u,%u", host->cpu_vendor, host->cpu_family,
			 host->cpu_model_number, host->cpu_stepping);
	else
		return false;
	return put_string(out, text);
}

static bool put_command(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	if (!about->header->n_command)
		return false;
	gus_put_u32(out, (uint32_t)about->header->n_command);
	for (size_t i = 0; i < about->header->n_command; i++)
		put_string(out, about->header->command[i]);
	return true;
}

static bool put_events(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	gus_put_u32(out, (uint32_t)about->header->n_events);
	gus_put_u32(out, about->attr_size);
	for (size_t i = 0; i < about->header->n_events; i++) {
		const struct gus_perfdata_attr *a = &about->attrs[i];

		gus_perfdata_put_attr(out, a, about->attr_size);
		gus_put_u32(out, about->ids ? (uint32_t)a->ids.n : 0);
		put_string(out, about->header->events[i]->name);
		for (size_t j = 0; about->ids && j < a->ids.n; j++)
			gus_put_u64(out, a->ids.v[j]);
	}
	return true;
}

/* That there are branches is all that it says. */
static bool put_branches(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	(void)out;
	return about->branches;
}

/* Types of events by name, where that is known and the kernel has no number for all machines (PERF_TYPE_MAX). */
static bool put_pmus(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	size_t at = out->n;
	uint32_t n = 0;

	gus_put_u32(out, 0);
	for (size_t i = 0; i < about->header->n_events; i++) {
		const Gusprof__Event *e = about->header->events[i];

		if (!*e->pmu)
			continue;
		gus_put_u32(out, e->type);
		put_string(out, e->pmu);
		n++;
	}
	if (!n)
		out->n = at;
	else
		for (unsigned i = 0; i < 4; i++)
			out->v[at + i] = (uint8_t)(n >> 8 * i);
	return n;
}

static bool put_sample_time(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	if (!about->last_ns || !(about->attrs->sample_type & PERF_SAMPLE_TIME))
		return false;
	gus_put_u64(out, about->first_ns);
	gus_put_u64(out, about->last_ns);
	return true;
}

/* The same moment by the clock of the samples and by the calendar's. */
static bool put_clock_data(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	const Gusprof__Clock *clock = about->header->clock;

	if (!has_clockid(about->header) || !clock->start_realtime_ns)
		return false;
	gus_put_u32(out, 1); /* version */
	gus_put_u32(out, CLOCK_MONOTONIC);
	gus_put_u64(out, clock->start_realtime_ns);
	gus_put_u64(out, clock->start_ns);
	return true;
}

/* Tracepoints. Perf refuses a file that has some without what the tracing file system says of them: a format for each
 * event, of which the name, the number and the fields that all have in common follow from what is known. Those of its
 * own are not told. Source: linux, Documentation/trace/ftrace.rst and events.rst; trace-cmd.dat(5). */
static const char common_fields[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";

/* How ftrace's own buffers look, of which there are none. */
static const char buffer_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static bool is_tracepoint(const Gusprof__Event *e)
{
	return e->type == PERF_TYPE_TRACEPOINT;
}

static size_t word_length(const char *text)
{
	return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
}

/* SYSTEM:NAME, and modifiers, which are perf's. */
static bool is_named(const Gusprof__Event *e)
{
	size_t system = strcspn(e->name, ":"), length = e->name[system] ? word_length(e->name + system + 1) : 0;
	char behind = length ? e->name[system + 1 + length] : 'x';

	return system && (!behind || behind == ':');
}

bool gus_perfdata_is_unnamed(const Gusprof__Event *e)
{
	return is_tracepoint(e) && !is_named(e);
}

/* A file of the tracing file system, with its size before it. */
static void put_format(struct gus_bytes *out, const Gusprof__Event *e)
{
	char *name = is_named(e) ? gus_strdup(strchr(e->name, ':') + 1) :
		     gus_format("tracepoint_%llu", (unsigned long long)e->config);
	char *text = gus_format("name: %.*s\nID: %llu\nformat:\n%s\n\nprint fmt: \"\"\n", (int)word_length(name), name,
				(unsigned long long)e->config, common_fields);

	gus_put_u64(out, strlen(text));
	gus_vec_append(out, (const uint8_t *)text, strlen(text));
	free(text);
	free(name);
}

static void put_system(struct gus_bytes *out, const Gusprof__Event *e)
{
	bool named = is_named(e);

	gus_vec_append(out, (const uint8_t *)(named ? e->name : "unknown"), named ? strcspn(e->name, ":") : 7);
	gus_put_int(out, 0, 1);
	gus_put_u32(out, 1); /* of one event; a system may come again */
}

static void put_systems(struct gus_bytes *out, const Gusprof__Header *header)
{
	size_t at = out->n;
	uint32_t n = 0;

	gus_put_u32(out, 0);
	for (size_t i = 0; i < header->n_events; i++) {
		const Gusprof__Event *e = header->events[i];

		if (!is_tracepoint(e))
			continue;
		put_system(out, e);
		put_format(out, e);
		n++;
	}
	for (unsigned i = 0; i < 4; i++)
		out->v[at + i] = (uint8_t)(n >> 8 * i);
}

static bool put_tracing(struct gus_bytes *out, const struct gus_perfdata_about *about)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const Gusprof__Header *header = about->header;
	uint64_t page = host_of(about)->page_size;
	size_t i = 0;

	while (i < header->n_events && !is_tracepoint(header->events[i]))
		i++;
	if (i == header->n_events)
		return false;
	gus_vec_append(out, magic, sizeof(magic));
	gus_put_text(out, "0.5");
	gus_put_int(out, 0, 1); /* bytes stand in this order */
	gus_put_int(out, 8, 1); /* bytes of a long */
	gus_put_u32(out, page ? (uint32_t)page : 4096);
	gus_put_text(out, "header_page");
	gus_put_u64(out, sizeof(buffer_page) - 1);
	gus_vec_append(out, (const uint8_t *)buffer_page, sizeof(buffer_page) - 1);
	gus_put_text(out, "header_event");
	gus_put_u64(out, 0);
	gus_put_u32(out, 0); /* ftrace's own events */
	put_systems(out, header);
	gus_put_u32(out, 0); /* kallsyms */
	gus_put_u32(out, 0); /* formats of printk */
	return true;
}

bool gus_perfdata_put_feature(struct gus_bytes *out, enum gus_perfdata_feature feature,
			      const struct gus_perfdata_about *about)
{
	static bool (*const puts[GUS_PERFDATA_FEATURES])(struct gus_bytes *, const struct gus_perfdata_about *) = {
		[GUS_PERFDATA_TRACING_DATA] = put_tracing, [GUS_PERFDATA_HOSTNAME] = put_hostname,
		[GUS_PERFDATA_RELEASE] = put_release,
		[GUS_PERFDATA_VERSION] = put_version, [GUS_PERFDATA_ARCH] = put_arch,
		[GUS_PERFDATA_CPUS] = put_cpus, [GUS_PERFDATA_CPU_TEXT] = put_cpu_text,
		[GUS_PERFDATA_CPUID] = put_cpuid, [GUS_PERFDATA_COMMAND] = put_command,
		[GUS_PERFDATA_EVENT_NAMES] = put_events, [GUS_PERFDATA_BRANCHES] = put_branches,
		[GUS_PERFDATA_PMUS] = put_pmus, [GUS_PERFDATA_SAMPLE_TIME] = put_sample_time,
		[GUS_PERFDATA_CLOCK_DATA] = put_clock_data,
	};

	return puts[feature] && puts[feature](out, about);
}
