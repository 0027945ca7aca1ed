/* SPDX-License-Identifier: MIT */
/* Features are read as what they should be, and what is not so is left out: they are notes beside the records, and a
 * note that is broken is no reason to keep a recording shut. */
#include "collector/perfdata/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/index.h"
#include "collector/perfdata/attr.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/event_name.h"
#include "collector/perfdata/features.h"

/* Text of a feature: its size, which is filled up, and the bytes to the first zero. Owned by the caller; empty if there
 * is none. */
static char *read_text(struct gus_cursor *c)
{
	uint32_t size = gus_cursor_u32(c);
	const uint8_t *bytes = gus_cursor_take(c, size);

	return bytes ? gus_strndup((const char *)bytes, strnlen((const char *)bytes, size)) : gus_strdup("");
}

static char *text_of(const struct gus_perfdata *p, enum gus_perfdata_feature feature)
{
	struct gus_cursor c = gus_perfdata_feature(p, feature);

	return read_text(&c);
}

/* The machine. */

/* "GenuineIntel,6,85,4", of Arm the number of its MIDR_EL1, "0x00000000410fd080". */
static void read_cpuid(Gusprof__Host *h, const char *text)
{
	unsigned numbers[3] = { 0 };
	char vendor[64] = "";
	char *end;

	if (text[0] == '0' && text[1] == 'x') {
		h->midr = strtoull(text, &end, 16);
		h->cpu_vendor = gus_strdup("ARM");
		return;
	}
	if (sscanf(text, "%63[^,],%u,%u,%u", vendor, &numbers[0], &numbers[1], &numbers[2]) < 2)
		return;
	h->cpu_vendor = gus_strdup(vendor);
	h->cpu_family = numbers[0];
	h->cpu_model_number = numbers[1];
	h->cpu_stepping = numbers[2];
}

/* Bytes of a line of the first cache that holds data; 0: not told. Of each cache its level, line, sets, ways, and as
 * text its kind, size and CPUs. */
static uint32_t line_size(const struct gus_perfdata *p)
{
	struct gus_cursor c = gus_perfdata_feature(p, GUS_PERFDATA_CACHES);
	uint32_t n;

	gus_cursor_u32(&c); /* its version */
	n = gus_cursor_u32(&c);
	while (n-- && !c.bad) {
		uint32_t level = gus_cursor_u32(&c), line = gus_cursor_u32(&c);
		bool data;
		char *kind;

		gus_cursor_u64(&c);
		kind = read_text(&c);
		data = strcmp(kind, "Data") == 0 || strcmp(kind, "Unified") == 0;
		free(kind);
		free(read_text(&c));
		free(read_text(&c));
		if (level == 1 && data && !c.bad)
			return line;
	}
	return 0;
}

static void describe_host(Gusprof__Host *h, const struct gus_perfdata *p)
{
	struct gus_cursor cpus = gus_perfdata_feature(p, GUS_PERFDATA_CPUS);
	char *cpuid = text_of(p, GUS_PERFDATA_CPUID);

	gusprof__host__init(h);
	h->hostname = text_of(p, GUS_PERFDATA_HOSTNAME);
	h->kernel = text_of(p, GUS_PERFDATA_RELEASE);
	h->machine = text_of(p, GUS_PERFDATA_ARCH);
	h->cpu_model = text_of(p, GUS_PERFDATA_CPU_TEXT);
	read_cpuid(h, cpuid);
	free(cpuid);
	h->line_size = line_size(p);
	gus_cursor_u32(&cpus); /* those that there may be */
	h->cpus_online = gus_cursor_u32(&cpus);
}

/* Its command, as it was typed. */
static void describe_command(Gusprof__Header *m, const struct gus_perfdata *p)
{
	struct gus_cursor c = gus_perfdata_feature(p, GUS_PERFDATA_COMMAND);
	uint32_t n = gus_cursor_u32(&c);

	if (n > gus_cursor_left(&c) / sizeof(uint32_t))
		return;
	m->command = gus_alloc((n + 1) * sizeof(*m->command));
	while (m->n_command < n && !c.bad)
		m->command[m->n_command++] = read_text(&c);
}

/* Build ids: pid, the id in 24 bytes of which one may say how many count, the file's name. */

enum { BUILD_ID_HAS_SIZE = 1 << 15, KERNEL_MODE = 1, MODES = 7 };

/* The first perf that wrote them had no pid. Then what is read as the name of the kernel begins four bytes too late
 * (tools/perf, perf_header__read_build_ids_abi_quirk). */
static bool lacks_pid(struct gus_cursor name)
{
	return gus_cursor_left(&name) >= 12 && memcmp(name.at, "nel.kallsyms", 12) == 0;
}

static void add_build(struct gus_perfdata_builds *b, struct gus_cursor c, uint16_t misc)
{
	struct gus_perfdata_build build = { .size = 20, .kernel = (misc & MODES) == KERNEL_MODE };
	struct gus_cursor whole = c;
	const uint8_t *id;

	gus_cursor_u32(&c);
	id = gus_cursor_take(&c, 24);
	if (!c.bad && lacks_pid(c)) {
		c = whole;
		id = gus_cursor_take(&c, 24);
	}
	if (c.bad)
		return;
	memcpy(build.bytes, id, sizeof(build.bytes));
	if (misc & BUILD_ID_HAS_SIZE && id[20] && id[20] <= sizeof(build.bytes))
		build.size = id[20];
	build.path = gus_strndup((const char *)c.at, strnlen((const char *)c.at, gus_cursor_left(&c)));
	gus_vec_push(&b->list, build);
}

void gus_perfdata_builds_add(struct gus_perfdata_builds *b, struct gus_cursor c)
{
	while (gus_cursor_left(&c) >= 8) {
		struct gus_cursor body;
		uint16_t misc, size;

		gus_cursor_u32(&c);
		misc = gus_cursor_u16(&c);
		size = gus_cursor_u16(&c);
		body = c;
		if (size < 8 || !gus_cursor_take(&c, size - 8u))
			return;
		body.end = c.at;
		add_build(b, body, misc);
	}
}

static int by_path(const void *a, const void *b)
{
	const struct gus_perfdata_build *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void gus_perfdata_builds_ready(struct gus_perfdata_builds *b)
{
	if (b->list.n)
		qsort(b->list.v, b->list.n, sizeof(*b->list.v), by_path);
}

const struct gus_perfdata_build *gus_perfdata_builds_find(const struct gus_perfdata_builds *b, const char *path)
{
	const struct gus_perfdata_build key = { .path = (char *)(uintptr_t)path };

	return b->list.n ? bsearch(&key, b->list.v, b->list.n, sizeof(key), by_path) : NULL;
}

void gus_perfdata_builds_free(struct gus_perfdata_builds *b)
{
	for (size_t i = 0; i < b->list.n; i++)
		free(b->list.v[i].path);
	gus_vec_free(&b->list);
}

/* Events. */

/* Types of PMUs, and the name of each. */
struct pmus { struct gus_index types; struct gus_vec(char *) names; };

static void read_pmus(struct pmus *pmus, const struct gus_perfdata *p)
{
	struct gus_cursor c = gus_perfdata_feature(p, GUS_PERFDATA_PMUS);
	uint32_t n = gus_cursor_u32(&c);

	gus_index_init(&pmus->types, sizeof(uint32_t));
	while (n-- && gus_cursor_left(&c) >= 8) {
		uint32_t type = gus_cursor_u32(&c);
		char *name = read_text(&c);
		bool is_new;

		gus_index_add(&pmus->types, &type, &is_new);
		if (is_new)
			gus_vec_push(&pmus->names, name);
		else
			free(name);
	}
}

static const char *pmu_of(const struct pmus *pmus, const struct gus_perfdata_attr *a)
{
	uint32_t type = a->type <= 4 && a->config >> 32 ? (uint32_t)(a->config >> 32) : a->type;
	uint32_t number = gus_index_find(&pmus->types, &type);

	return number == GUS_INDEX_NONE ? NULL : pmus->names.v[number];
}

static void free_pmus(struct pmus *pmus)
{
	for (size_t i = 0; i < pmus->names.n; i++)
		free(pmus->names.v[i]);
	gus_vec_free(&pmus->names);
	gus_index_free(&pmus->types);
}

/* Ids, and which event has each; of several the first. */
struct owners { struct gus_index ids; struct gus_vec(uint32_t) events; };

static void read_owners(struct owners *o, const struct gus_perfdata *p)
{
	gus_index_init(&o->ids, sizeof(uint64_t));
	for (size_t i = 0; i < gus_perfdata_attrs(p); i++) {
		const struct gus_perfdata_attr *a = gus_perfdata_attr(p, i);

		for (size_t k = 0; k < a->ids.n; k++) {
			bool is_new;

			gus_index_add(&o->ids, &a->ids.v[k], &is_new);
			if (is_new)
				gus_vec_push(&o->events, (uint32_t)i);
		}
	}
}

/* Which event has this id; UINT32_MAX if none has. */
static uint32_t event_with(const struct owners *o, uint64_t id)
{
	uint32_t number = gus_index_find(&o->ids, &id);

	return number == GUS_INDEX_NONE ? UINT32_MAX : o->events.v[number];
}

static void free_owners(struct owners *o)
{
	gus_vec_free(&o->events);
	gus_index_free(&o->ids);
}

/* Names as who recorded has written them: for each event its attribute once more, ids, and the name. Whose it is says
 * the first id, and where there is none the place. */
static void take_names(Gusprof__Header *m, const struct gus_perfdata *p)
{
	struct gus_cursor c = gus_perfdata_feature(p, GUS_PERFDATA_EVENT_NAMES);
	uint32_t n = gus_cursor_u32(&c), attr_size = gus_cursor_u32(&c);
	struct owners owners = { 0 };

	if (n)
		read_owners(&owners, p);
	for (uint32_t i = 0; i < n && !c.bad; i++) {
		uint32_t ids;
		uint64_t id = 0;
		size_t event = i;
		char *name;

		gus_cursor_take(&c, attr_size);
		ids = gus_cursor_u32(&c);
		name = read_text(&c);
		for (uint32_t k = 0; k < ids && !c.bad; k++)
			id = k ? (gus_cursor_u64(&c), id) : gus_cursor_u64(&c);
		if (ids && !c.bad)
			event = event_with(&owners, id);
		if (c.bad || event >= m->n_events || !*name) {
			free(name);
			continue;
		}
		free(m->events[event]->name);
		m->events[event]->name = name;
	}
	free_owners(&owners);
}

/* The next text that a zero ends; NULL if there is none. */
static const char *next_text(struct gus_cursor *c)
{
	const uint8_t *end = gus_cursor_left(c) ? memchr(c->at, 0, gus_cursor_left(c)) : NULL;

	return end ? (const char *)gus_cursor_take(c, (size_t)(end + 1 - c->at)) : NULL;
}

/* It lists what the machine has, some hundreds; each line is looked for among all events. */
enum { SIMPLEPERF_LINES = 4096 };
/* PERF_TYPE_BREAKPOINT, the last type that has the same number on all machines. */
enum { TYPE_LAST = 5 };

/* Types beyond the kernel's own are of a PMU, and a line of it without a config names all that it counts: "cs-etm,8,0",
 * of which the event's config has what simpleperf has set besides. Such a name is one only for who has none. */
static bool is_pmus_own(const Gusprof__Event *e, unsigned type, unsigned long long config)
{
	return type > TYPE_LAST && e->type == type && !config && strstr(e->name, "/config=");
}

/* One line: name, type, config. */
static void take_simpleperf_line(Gusprof__Header *m, const char *bytes, size_t length)
{
	unsigned long long config;
	unsigned type;
	char line[192], name[128];

	if (length >= sizeof(line))
		return;
	memcpy(line, bytes, length);
	line[length] = 0;
	if (sscanf(line, "%127[^,],%u,%llu", name, &type, &config) != 3)
		return;
	for (size_t i = 0; i < m->n_events; i++) {
		Gusprof__Event *e = m->events[i];

		if ((e->type == type && e->config == config) || is_pmus_own(e, type, config)) {
			free(e->name);
			e->name = gus_strdup(name);
		}
	}
}

static void take_simpleperf_lines(Gusprof__Header *m, const char *lines)
{
	for (unsigned i = 0; *lines && i < SIMPLEPERF_LINES; i++) {
		size_t length = strcspn(lines, "\n");

		take_simpleperf_line(m, lines, length);
		lines += length + (lines[length] == '\n');
	}
}

/* Simpleperf's names: of its pairs of texts the one that is called so. */
static void take_simpleperf(Gusprof__Header *m, const struct gus_perfdata *p)
{
	struct gus_cursor c = gus_perfdata_feature(p, GUS_PERFDATA_SIMPLEPERF);
	const char *key, *value;

	while ((key = next_text(&c)) && (value = next_text(&c)))
		if (strcmp(key, "event_type_info") == 0)
			take_simpleperf_lines(m, value);
}

/* A group is its leader's place and how many there are in it, from there on. No event is in two of them, so that all of
 * them have no more than there are. */
static void take_groups(Gusprof__Header *m, const struct gus_perfdata *p)
{
	struct gus_cursor c = gus_perfdata_feature(p, GUS_PERFDATA_GROUPS);
	uint32_t n = gus_cursor_u32(&c);
	size_t left = m->n_events;

	for (uint32_t i = 1; i <= n && left && gus_cursor_left(&c) >= 12; i++) {
		char *name = read_text(&c);
		uint32_t leader = gus_cursor_u32(&c), members = gus_cursor_u32(&c);

		free(name);
		for (size_t k = leader; !c.bad && left && k < m->n_events && k - leader < members; k++, left--)
			m->events[k]->group = i;
	}
}

static const char *unit_of(const struct gus_perfdata_attr *a)
{
	bool clock = a->type == 1 && a->config <= 1, cycles = a->type == 0 && !(a->config & UINT32_MAX);

	return clock ? "ns" : cycles ? "cycles" : "events";
}

static Gusprof__Event *describe_event(const struct gus_perfdata_attr *a, const struct pmus *pmus)
{
	Gusprof__Event *m = gus_alloc(sizeof(*m));
	const char *pmu = pmu_of(pmus, a);
	bool frequency = a->flags >> GUS_PERFDATA_FREQUENCY & 1;

	gusprof__event__init(m);
	m->name = gus_perfdata_event_name(a, pmu);
	m->unit = gus_strdup(unit_of(a));
	if (pmu)
		m->pmu = gus_strdup(pmu);
	m->type = a->type;
	m->config = a->config;
	m->config1 = a->config1;
	m->config2 = a->config2;
	m->config3 = a->config3;
	m->period = frequency ? 0 : a->period;
	m->frequency = frequency ? a->period : 0;
	m->precise = a->flags >> GUS_PERFDATA_PRECISE & 3;
	m->exclude_user = a->flags >> GUS_PERFDATA_EXCLUDE_USER & 1;
	m->exclude_kernel = a->flags >> GUS_PERFDATA_EXCLUDE_KERNEL & 1;
	m->exclude_hv = a->flags >> GUS_PERFDATA_EXCLUDE_HV & 1;
	m->regs_intr = a->regs_intr;
	m->regs_user = a->regs_user;
	m->read_format = a->read_format;
	m->inherit = a->flags >> GUS_PERFDATA_INHERIT & 1;
	m->branch_type = a->branch_type;
	return m;
}

/* By what the best of its events can do: precise ones, those of hardware, clocks. */
static char *tier_of(const struct gus_perfdata *p)
{
	char tier = 'C';

	for (size_t i = 0; i < gus_perfdata_attrs(p); i++) {
		const struct gus_perfdata_attr *a = gus_perfdata_attr(p, i);
		bool hardware = a->type != 1 && a->type != 2 && a->type != 5,
			precise = a->flags >> GUS_PERFDATA_PRECISE & 3;

		if (hardware && (precise || tier == 'C'))
			tier = precise ? 'A' : 'B';
	}
	return gus_format("%c", tier);
}

static void describe_events(Gusprof__Header *m, const struct gus_perfdata *p)
{
	size_t n = gus_perfdata_attrs(p);
	struct pmus pmus = { 0 };

	read_pmus(&pmus, p);
	m->events = gus_alloc((n + 1) * sizeof(*m->events));
	for (; m->n_events < n; m->n_events++)
		m->events[m->n_events] = describe_event(gus_perfdata_attr(p, m->n_events), &pmus);
	take_names(m, p);
	take_simpleperf(m, p);
	take_groups(m, p);
	for (size_t i = 0; i < n; i++)
		m->events[i]->asked = gus_strdup(m->events[i]->name);
	free_pmus(&pmus);
}

/* How callers were found: what samples bring along says it. */
static const char *call_graph_of(const struct gus_perfdata *p)
{
	const uint64_t chain = 1 << 5, branches = 1 << 11, call_stack = 1 << 11, regs = 1 << 12, stack = 1 << 13;
	const char *way = "none";

	for (size_t i = 0; i < gus_perfdata_attrs(p); i++) {
		uint64_t type = gus_perfdata_attr(p, i)->sample_type;

		if (type & regs && type & stack)
			return "dwarf";
		if (type & branches && gus_perfdata_attr(p, i)->branch_type & call_stack)
			return "lbr";
		if (type & chain)
			way = "fp";
	}
	return way;
}

/* What is held elsewhere in the header, or of no use to anybody but its writer. */
static bool is_taken(unsigned feature)
{
	switch (feature) {
	case GUS_PERFDATA_BUILD_IDS:
	case GUS_PERFDATA_HOSTNAME:
	case GUS_PERFDATA_RELEASE:
	case GUS_PERFDATA_ARCH:
	case GUS_PERFDATA_CPU_TEXT:
	case GUS_PERFDATA_COMMAND:
	case GUS_PERFDATA_EVENT_NAMES:
	case GUS_PERFDATA_COMPRESSED:
		return true;
	default:
		return false;
	}
}

/* The header is one frame: what does not fit into it is left out. */
enum { FEATURES_MOST = 1 << 20 };

static Gusprof__Origin *describe_origin(const struct gus_perfdata *p)
{
	Gusprof__Origin *o = gus_alloc(sizeof(*o));
	char *version = text_of(p, GUS_PERFDATA_VERSION);
	size_t all = 0;

	gusprof__origin__init(o);
	o->format = gus_strdup("perf.data");
	o->program = *version ? gus_format("perf %s", version) : gus_strdup("");
	free(version);
	o->big_endian = gus_perfdata_is_big_endian(p);
	o->pipe = gus_perfdata_is_pipe(p);
	o->features = gus_alloc(GUS_PERFDATA_FEATURES * sizeof(*o->features));
	for (unsigned i = 0; i < GUS_PERFDATA_FEATURES; i++) {
		struct gus_cursor c = gus_perfdata_feature(p, i);
		Gusprof__Feature *f;

		if (is_taken(i) || !gus_cursor_left(&c) || gus_cursor_left(&c) > FEATURES_MOST - all)
			continue;
		all += gus_cursor_left(&c);
		f = gus_alloc(sizeof(*f));
		gusprof__feature__init(f);
		f->number = i;
		f->bytes.len = gus_cursor_left(&c);
		f->bytes.data = gus_alloc(f->bytes.len);
		memcpy(f->bytes.data, c.at, f->bytes.len);
		o->features[o->n_features++] = f;
	}
	return o;
}

/* The clock of samples: the kernel's own, unless another one was asked for. Where the recording says what the wall's
 * was at a moment of it, both are kept. */
static Gusprof__Clock *describe_clock(const struct gus_perfdata *p)
{
	struct gus_cursor data = gus_perfdata_feature(p, GUS_PERFDATA_CLOCK_DATA);
	struct gus_cursor span = gus_perfdata_feature(p, GUS_PERFDATA_SAMPLE_TIME);
	const struct gus_perfdata_attr *a = gus_perfdata_attrs(p) ? gus_perfdata_attr(p, 0) : NULL;
	bool monotonic = a && a->flags >> GUS_PERFDATA_USE_CLOCKID & 1 && a->clockid == 1;
	Gusprof__Clock *clock = gus_alloc(sizeof(*clock));
	uint64_t wall, then;

	gusprof__clock__init(clock);
	clock->name = gus_strdup(monotonic ? "monotonic" : "perf");
	clock->start_ns = gus_cursor_u64(&span);
	gus_cursor_u64(&data); /* its version, and which clock */
	wall = gus_cursor_u64(&data);
	then = gus_cursor_u64(&data);
	if (!data.bad)
		clock->start_realtime_ns = wall + (clock->start_ns - then);
	return clock;
}

Gusprof__Header *gus_perfdata_describe(const struct gus_perfdata *p)
{
	Gusprof__Header *m = gus_alloc(sizeof(*m));

	gusprof__header__init(m);
	m->origin = describe_origin(p);
	m->producer = gus_strdup(*m->origin->program ? m->origin->program : "perf");
	m->host = gus_alloc(sizeof(*m->host));
	describe_host(m->host, p);
	m->clock = describe_clock(p);
	describe_command(m, p);
	describe_events(m, p);
	m->tier = tier_of(p);
	m->call_graph = gus_strdup(call_graph_of(p));
	for (size_t i = 0; i < gus_perfdata_attrs(p); i++) {
		const struct gus_perfdata_attr *a = gus_perfdata_attr(p, i);

		if (!(a->branch_type & 1 << 11)) /* of a stack of calls, which become callers */
			m->branch_type |= a->branch_type;
		m->stack_bytes = a->stack_user > m->stack_bytes ? a->stack_user : m->stack_bytes;
	}
	return m;
}
