/* SPDX-License-Identifier: MIT */
#include "cli/common/filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "base/suggest.h"
#include "cli/common/absent.h"
#include "proto/sample.h"

#define NAMED 8 /* of a recording's events, in a message */

struct range { uint64_t from_ns, to_ns; };

static uint64_t part_of(uint64_t length, double percent)
{
	return (uint64_t)((double)length * percent / 100);
}

/* FROM,TO in seconds, A%-B%, or A%/N: the Nth slice of A percent. */
static int parse_range(const char *text, uint64_t length_ns, struct range *range)
{
	const char *at = text;
	double first = 0, second = 0;
	bool has_first = gus_decimal_parse(&at, &first) == 0;

	if (has_first && *at == '%') {
		bool slice = at[1] == '/';

		if (at[1] != '-' && !slice)
			return -1;
		at += 2;
		if (gus_decimal_parse(&at, &second) != 0 || (!slice && *at++ != '%') || *at != '\0')
			return -1;
		if (slice && second < 1)
			return -1;
		range->from_ns = part_of(length_ns, slice ? first * (second - 1) : first);
		range->to_ns = part_of(length_ns, slice ? first * second : second);
		return range->to_ns > range->from_ns && range->to_ns <= length_ns ? 0 : -1;
	}
	if (*at++ != ',')
		return -1;
	range->from_ns = (uint64_t)(first * 1e9);
	range->to_ns = 0;
	if (*at == '\0')
		return has_first ? 0 : -1;
	if (gus_decimal_parse(&at, &second) != 0 || *at != '\0')
		return -1;
	range->to_ns = (uint64_t)(second * 1e9);
	return range->to_ns > range->from_ns ? 0 : -1;
}

static int no_event(const Gusprof__Header *header, const char *text, struct gus_error *err)
{
	const char **names = gus_resize(NULL, header->n_events, sizeof(*names));
	struct gus_vec(char) list = { 0 };
	char meant[160];

	for (size_t i = 0; i < header->n_events; i++) {
		names[i] = header->events[i]->name;
		if (i >= NAMED)
			continue;
		gus_vec_append(&list, i ? ", '" : "'", i ? 3 : 1);
		gus_vec_append(&list, names[i], strlen(names[i]));
		gus_vec_push(&list, '\'');
	}
	gus_suggest_format(gus_suggest(text, names, header->n_events), meant, sizeof(meant));
	gus_fail(err, GUS_E_USAGE, "the recording has no event '%s'; it has %.*s%s%s", text,
		 list.n ? (int)list.n : 4, list.n ? list.v : "none", header->n_events > NAMED ? " and others" : "",
		 meant);
	gus_vec_free(&list);
	free(names);
	return -1;
}

static int find_event(const Gusprof__Header *header, const char *text, uint32_t *event, struct gus_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	for (size_t i = 0; i < header->n_events; i++) {
		const Gusprof__Event *e = header->events[i];

		if (strcmp(e->name, text) == 0 || strcmp(e->asked, text) == 0 ||
		    (*text && *end == '\0' && number == i)) {
			*event = (uint32_t)i;
			return 0;
		}
	}
	return no_event(header, text, err);
}

/* option: "--tid takes thread numbers", as a message says it. */
static int parse_numbers(const struct gus_list *list, const char *option, uint32_t **numbers, struct gus_error *err)
{
	*numbers = gus_resize(*numbers, list->n, sizeof(**numbers));
	for (size_t i = 0; i < list->n; i++) {
		char *end;
		unsigned long number = strtoul(list->v[i], &end, 10);

		if (*end || !isdigit((unsigned char)*list->v[i]) || number > UINT32_MAX)
			return gus_fail(err, GUS_E_USAGE, "%s, not '%s'", option, list->v[i]);
		(*numbers)[i] = (uint32_t)number;
	}
	return 0;
}

/* A number, which *at moves behind; false if there is none that a CPU may have. */
static bool parse_cpu(const char **at, uint32_t *cpu)
{
	char *end;
	unsigned long number;

	if (!isdigit((unsigned char)**at))
		return false;
	number = strtoul(*at, &end, 10);
	*at = end;
	*cpu = (uint32_t)number;
	return number < GUS_CPU_UNKNOWN;
}

/* N[-M][,N[-M]]... */
static int parse_cpus(const char *text, struct gus_cpu_range **ranges, size_t *n, struct gus_error *err)
{
	const char *at = text;
	bool good = true;

	for (*n = 0; good && text; at++) {
		struct gus_cpu_range r;

		good = parse_cpu(&at, &r.first);
		r.last = r.first;
		if (good && *at == '-') {
			at++;
			good = parse_cpu(&at, &r.last) && r.last >= r.first;
		}
		*ranges = gus_resize(*ranges, *n + 1, sizeof(**ranges));
		(*ranges)[(*n)++] = r;
		if (good && !*at)
			return 0;
		good = good && *at == ',';
	}
	return good ? 0 : gus_fail(err, GUS_E_USAGE, "--cpu takes a list of CPUs such as 0-2,4, not '%s'", text);
}

int gus_filter_make(struct gus_filter *f, struct gus_filter_options *o, struct gus_reader *reader, uint64_t *length,
		    struct gus_error *err)
{
	struct range range = { 0 };

	*f = (struct gus_filter){ .comms = (const char *const *)o->comms.v, .tids_n = o->tids.n, .pids_n = o->pids.n };
	if (parse_numbers(&o->tids, "--tid takes thread numbers", &o->tid_numbers, err) != 0 ||
	    parse_numbers(&o->pids, "--pid takes process numbers", &o->pid_numbers, err) != 0 ||
	    parse_cpus(o->cpus, &o->cpu_ranges, &f->cpus_n, err) != 0)
		return -1;
	f->tids = o->tid_numbers;
	f->pids = o->pid_numbers;
	f->cpus = o->cpu_ranges;
	f->event = gus_reader_header(reader)->main_event;
	if (o->event && find_event(gus_reader_header(reader), o->event, &f->event, err) != 0)
		return -1;
	if (gus_profile_length(reader, length, err) != 0)
		return -1;
	if (o->time && parse_range(o->time, *length, &range) != 0)
		return gus_fail(err, GUS_E_USAGE, "--time takes FROM,TO in seconds, A%%-B%% or A%%/N, within the "
				"recording's %.3f s, not '%s'", (double)*length / 1e9, o->time);
	f->from_ns = range.from_ns;
	f->to_ns = range.to_ns;
	return 0;
}

static bool is_there(const char *name, const char *const *there, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(there[i], name) == 0)
			return true;
	return false;
}

static bool module_is_there(const char *name, const struct gus_profile *p)
{
	for (size_t i = 0; i < p->modules.n; i++)
		if (gus_module_is_called(gus_space_module(p->space, p->modules.v[i]), name))
			return true;
	return false;
}

void gus_filter_absent(const struct gus_filter_options *o, const struct gus_list *modules, const struct gus_profile *p,
		       const struct gus_log *log)
{
	struct gus_vec(const char *) names = { 0 };

	for (size_t i = 0; i < p->modules.n; i++) {
		const char *path = gus_space_module(p->space, p->modules.v[i])->path;

		if (!is_there(gus_base_name(path), names.v, names.n))
			gus_vec_push(&names, gus_base_name(path));
	}
	for (size_t i = 0; i < o->comms.n; i++)
		if (!is_there(o->comms.v[i], p->comms.v, p->comms.n))
			gus_absent_tell(log, "of a thread that was called", o->comms.v[i], p->comms.v, p->comms.n);
	for (size_t i = 0; i < modules->n; i++)
		if (!module_is_there(modules->v[i], p))
			gus_absent_tell(log, "in a module called", modules->v[i], names.v, names.n);
	gus_vec_free(&names);
	if (p->without_cpu)
		gus_log(log, GUS_WARN, "%llu samples do not say on which CPU they were taken, and are left out",
			(unsigned long long)p->without_cpu);
}

void gus_filter_options_free(struct gus_filter_options *o)
{
	gus_list_free(&o->comms);
	gus_list_free(&o->tids);
	gus_list_free(&o->pids);
	free(o->tid_numbers);
	free(o->pid_numbers);
	free(o->cpu_ranges);
}
