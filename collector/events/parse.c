/* SPDX-License-Identifier: MIT */
/* Reads event lists; the grammar stands in event.h. */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/error.h"
#include "base/suggest.h"
#include "collector/events/event.h"
#include "collector/events/names.h"
#include "collector/events/pfm.h"
#include "collector/host/text.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define HYBRID_SHIFT 32 /* config[63:32] of generic events names the PMU; PERF_PMU_TYPE_SHIFT in newer headers */

/* The state of reading one list. Positions in messages are counted from 1, as editors do. */
struct parser {
	const char *text;
	struct gus_events *events;
	struct gus_pmus *pmus;
	uint32_t group;        /* number of the open group, 0 outside */
	bool whole;            /* also of PMUs that count for whole CPUs or sockets */
	struct gus_error *err;
};

static size_t position(const struct parser *p, const char *at)
{
	return (size_t)(at - p->text) + 1;
}

/* Modifiers. Those that exist in perf but not here are refused by name: ignoring one would change the meaning. */
static int apply_modifier(const struct parser *p, struct gus_event *e, const char *at)
{
	static const char refused[] = "SWRbX";
	struct { char letter; bool *field; } flags[] = {
		{ 'u', &e->user }, { 'k', &e->kernel }, { 'h', &e->hv }, { 'G', &e->guest }, { 'H', &e->host },
		{ 'I', &e->no_idle }, { 'P', &e->precise_best }, { 'D', &e->pinned }, { 'e', &e->exclusive },
	};

	for (size_t i = 0; i < COUNT(flags); i++)
		if (flags[i].letter == *at) {
			*flags[i].field = true;
			return 0;
		}
	if (*at == 'p') {
		if (e->precise == GUS_PRECISE_MAX)
			return gus_fail(p->err, GUS_E_USAGE,
					"event '%s': more than three modifiers p at character %zu; "
					"ppp is the highest precision", p->text, position(p, at));
		e->precise++;
		return 0;
	}
	if (strchr(refused, *at))
		return gus_fail(p->err, GUS_E_USAGE, "event '%s': modifier '%c' at character %zu is not supported yet",
				p->text, *at, position(p, at));
	return gus_fail(p->err, GUS_E_USAGE, "event '%s': unknown modifier '%c' at character %zu; there are u, k, h "
			"(user, kernel, hypervisor), p to ppp and P (precision), G, H, I, D and e",
			p->text, *at, position(p, at));
}

static int apply_modifiers(const struct parser *p, struct gus_event *e, struct gus_piece mods)
{
	if (mods.size && e->precise)
		for (size_t i = 0; i < mods.size; i++)
			if (mods.text[i] == 'p')
				e->precise = 0; /* a group's precision replaces its member's */
	for (size_t i = 0; i < mods.size; i++)
		if (apply_modifier(p, e, mods.text + i) != 0)
			return -1;
	return 0;
}

/* Adds e, whose base and numbers are set; takes it over, also on failure. */
static int add_event(const struct parser *p, struct gus_event *e, struct gus_piece asked, struct gus_piece mods)
{
	e->asked = gus_strndup(asked.text, asked.size);
	e->group = p->group;
	if (apply_modifiers(p, e, mods) != 0) {
		gus_event_free(e);
		return -1;
	}
	gus_event_rename(e);
	gus_vec_push(p->events, *e);
	return 0;
}

/* A generic or cache event. On a machine with several kinds of cores the plain number means only one kind, and samples
 * would vanish while a task is on another: so it becomes one event a kind. */
static int add_generic(const struct parser *p, const char *name, uint32_t type, uint64_t config, struct gus_piece asked,
		       struct gus_piece mods)
{
	size_t kinds = 0;

	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE) {
		gus_pmus_list(p->pmus);
		for (size_t i = 0; i < p->pmus->list.n; i++)
			kinds += p->pmus->list.v[i].cpus != NULL;
	}
	if (kinds < 2) {
		struct gus_event e = { .base = gus_strdup(name), .type = type, .config = config };

		return add_event(p, &e, asked, mods);
	}
	if (p->group)
		return gus_fail(p->err, GUS_E_USAGE, "event '%s': this machine has %zu kinds of cores, and a group can "
				"count on only one: write PMU/%s/ with the name of one of them", p->text, kinds, name);
	for (size_t i = 0; i < p->pmus->list.n; i++) {
		const struct gus_pmu *pmu = &p->pmus->list.v[i];
		struct gus_event e = { .type = type, .config = config | (uint64_t)pmu->type << HYBRID_SHIFT };

		if (!pmu->cpus)
			continue;
		e.base = gus_format("%s/%s/", pmu->name, name);
		e.cpus = gus_strdup(pmu->cpus);
		if (add_event(p, &e, asked, mods) != 0)
			return -1;
	}
	return 0;
}

static bool parse_raw(struct gus_piece s, uint64_t *config)
{
	*config = 0;
	if (s.size < 2 || s.size > 17 || s.text[0] != 'r')
		return false;
	for (size_t i = 1; i < s.size; i++) {
		char c = s.text[i];

		if (!isxdigit((unsigned char)c))
			return false;
		*config = *config << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return true;
}

static bool parse_number(struct gus_piece s, uint64_t *value)
{
	char text[32], *end;

	if (!s.size || s.size >= sizeof(text) || !isdigit((unsigned char)*s.text))
		return false;
	memcpy(text, s.text, s.size);
	text[s.size] = '\0';
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end;
}

/* The value's bits go to the bits of the term, lowest first. False if it does not fit. */
static bool spread(uint64_t bits, uint64_t value, uint64_t *word)
{
	for (unsigned i = 0; i < 64; i++)
		if (bits >> i & 1) {
			*word = (*word & ~(1ULL << i)) | (value & 1) << i;
			value >>= 1;
		}
	return value == 0;
}

static uint64_t *config_word(struct gus_event *e, unsigned number)
{
	uint64_t *words[] = { &e->config, &e->config1, &e->config2, &e->config3 };

	return words[number];
}

/* One term NAME[=VALUE] of a PMU's event. Aliases bring further terms, which are looked up with depth 1. */
static int apply_term(const struct parser *p, const struct gus_pmu *pmu, struct gus_event *e, struct gus_piece term,
		      unsigned depth);

static int apply_terms(const struct parser *p, const struct gus_pmu *pmu, struct gus_event *e, struct gus_piece terms,
		       unsigned depth)
{
	while (terms.size)
		if (apply_term(p, pmu, e, gus_piece_cut(&terms, ','), depth) != 0)
			return -1;
	return 0;
}

static int term_fails(const struct parser *p, const struct gus_pmu *pmu, struct gus_piece term, const char *why)
{
	return gus_fail(p->err, GUS_E_USAGE, "event '%s': term '%.*s' of PMU %s %s", p->text, (int)term.size, term.text,
			pmu->name, why);
}

/* Terms that every PMU has. Returns whether name was one of them; *ok is whether its value made sense. */
static bool apply_common_term(struct gus_event *e, struct gus_piece name, struct gus_piece value, bool *ok)
{
	const struct { const char *name; uint64_t *to; } numbers[] = {
		{ "config", &e->config }, { "config1", &e->config1 }, { "config2", &e->config2 },
		{ "config3", &e->config3 }, { "period", &e->period }, { "freq", &e->frequency },
	};

	for (size_t i = 0; i < COUNT(numbers); i++)
		if (gus_piece_is(name, numbers[i].name)) {
			*ok = parse_number(value, numbers[i].to);
			if (strcmp(numbers[i].name, "period") == 0 || strcmp(numbers[i].name, "freq") == 0)
				*ok = *ok && *numbers[i].to > 0;
			return true;
		}
	if (gus_piece_is(name, "name")) {
		*ok = value.size > 0;
		if (*ok) {
			free(e->base);
			e->base = gus_strndup(value.text, value.size);
		}
		return true;
	}
	return false;
}

static int apply_term(const struct parser *p, const struct gus_pmu *pmu, struct gus_event *e, struct gus_piece term,
		      unsigned depth)
{
	const char *equals = memchr(term.text, '=', term.size);
	struct gus_piece name = { term.text, equals ? (size_t)(equals - term.text) : term.size };
	struct gus_piece value = { equals ? equals + 1 : "1", equals ? term.size - name.size - 1 : 1 };
	const struct gus_pmu_term *known = gus_pmu_term(pmu, name.text, name.size);
	const struct gus_pmu_alias *alias = gus_pmu_alias(pmu, name.text, name.size);
	uint64_t number;
	bool ok;

	if (known && (equals || !alias)) {
		if (!parse_number(value, &number))
			return term_fails(p, pmu, term, "needs a number");
		if (!spread(known->bits, number, config_word(e, known->word)))
			return term_fails(p, pmu, term, "is too large for its bits");
		return 0;
	}
	if (alias && depth == 0 && !equals)
		return apply_terms(p, pmu, e, (struct gus_piece){ alias->terms, strlen(alias->terms) }, depth + 1);
	if (apply_common_term(e, name, value, &ok))
		return ok ? 0 : term_fails(p, pmu, term, "has no usable value");
	if (!equals && parse_raw(name, &number)) {
		e->config |= number;
		return 0;
	}
	return term_fails(p, pmu, term, "does not exist: see the folders format and events of that PMU in "
			  "/sys/bus/event_source/devices");
}

static int check_task_pmu(const struct parser *p, const struct gus_pmu *pmu)
{
	if (!pmu->whole_cpus || p->whole)
		return 0;
	return gus_fail(p->err, GUS_E_UNSUPPORTED, "event '%s': PMU %s counts for whole CPUs or sockets and cannot "
			"sample a program", p->text, pmu->name);
}

/* An alias such as `cpu/mem-loads/` or a generic name such as `cpu_atom/cycles/` keeps its own name. */
static bool add_named_on(const struct parser *p, const struct gus_pmu *pmu, struct gus_event *e, struct gus_piece terms)
{
	const struct gus_event_name *g = gus_event_name_find(terms);

	if (gus_pmu_alias(pmu, terms.text, terms.size) || !g || g->type != PERF_TYPE_HARDWARE || p->pmus->list.n == 0)
		return false;
	if (!pmu->cpus && strcmp(pmu->name, "cpu") != 0)
		return false;
	e->type = g->type;
	e->config = g->config | (pmu->cpus ? (uint64_t)pmu->type << HYBRID_SHIFT : 0);
	return true;
}

/* The message's end: the name of those that somebody may have meant. */
static void suggest(struct gus_piece word, const char *const *names, size_t n, char *out, size_t room)
{
	char *text = gus_strndup(word.text, word.size);

	gus_suggest_format(gus_suggest(text, names, n), out, room);
	free(text);
}

static int unknown_pmu(const struct parser *p, struct gus_piece name)
{
	struct gus_vec(const char *) names = { 0 };
	char meant[128];

	for (size_t i = 0; i < p->pmus->list.n; i++)
		gus_vec_push(&names, p->pmus->list.v[i].name);
	suggest(name, names.v, names.n, meant, sizeof(meant));
	gus_vec_free(&names);
	return gus_fail(p->err, GUS_E_USAGE, "event '%s': this machine has no PMU '%.*s'%s", p->text, (int)name.size,
			name.text, meant);
}

/* PMU/TERMS/[:]MODIFIERS; slash is the first one. */
static int parse_pmu(const struct parser *p, struct gus_piece item, const char *slash)
{
	struct gus_piece name = { item.text, (size_t)(slash - item.text) };
	const char *end = item.text + item.size, *close = memchr(slash + 1, '/', (size_t)(end - slash - 1));
	struct gus_piece terms = { slash + 1, close ? (size_t)(close - slash - 1) : 0 };
	struct gus_piece mods = { close ? close + 1 : end, close ? (size_t)(end - close - 1) : 0 };
	struct gus_event e = { 0 };
	struct gus_pmu *pmu;
	char *key;

	if (!close)
		return gus_fail(p->err, GUS_E_USAGE, "event '%s': the '/' at character %zu is never closed", p->text,
				position(p, slash));
	key = gus_strndup(name.text, name.size);
	pmu = gus_pmus_find(p->pmus, key);
	free(key);
	if (!pmu)
		return unknown_pmu(p, name);
	if (check_task_pmu(p, pmu) != 0)
		return -1;
	if (mods.size && *mods.text == ':')
		mods = (struct gus_piece){ mods.text + 1, mods.size - 1 };
	e.type = pmu->type;
	e.base = gus_strndup(item.text, (size_t)(close + 1 - item.text));
	if (!add_named_on(p, pmu, &e, terms) && apply_terms(p, pmu, &e, terms, 0) != 0) {
		gus_event_free(&e);
		return -1;
	}
	e.cpus = pmu->cpus ? gus_strdup(pmu->cpus) : NULL;
	return add_event(p, &e, item, mods);
}

/* A sysfs alias without its PMU: the first PMU of the cores, then any other, that has one. 1 if there is none. */
static int parse_alias(const struct parser *p, struct gus_piece name, struct gus_piece asked, struct gus_piece mods)
{
	gus_pmus_list(p->pmus);
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < p->pmus->list.n; i++) {
			struct gus_pmu *pmu = &p->pmus->list.v[i];
			const struct gus_pmu_alias *alias;
			struct gus_event e = { .type = pmu->type };

			if ((pmu->cpus || strcmp(pmu->name, "cpu") == 0) != (pass == 0))
				continue;
			gus_pmu_load(p->pmus, pmu);
			alias = gus_pmu_alias(pmu, name.text, name.size);
			if (!alias)
				continue;
			if (check_task_pmu(p, pmu) != 0)
				return -1;
			e.base = gus_strndup(name.text, name.size);
			if (apply_terms(p, pmu, &e, (struct gus_piece){ alias->terms, strlen(alias->terms) }, 1) != 0) {
				gus_event_free(&e);
				return -1;
			}
			e.cpus = pmu->cpus ? gus_strdup(pmu->cpus) : NULL;
			return add_event(p, &e, asked, mods);
		}
	return 1;
}

/* SYSTEM:NAME[:MODIFIERS], if tracefs has it and lets us read its number. 1 if it does not. */
static int parse_tracepoint(const struct parser *p, struct gus_piece item)
{
	static const char *const places[] = { "kernel/tracing", "kernel/debug/tracing" };
	const char *colon = memchr(item.text, ':', item.size), *end = item.text + item.size, *second;
	struct gus_piece system = { item.text, colon ? (size_t)(colon - item.text) : 0 }, name, mods = { end, 0 };
	uint64_t id;

	if (!colon || memchr(item.text, '/', item.size) || item.text[0] == '.')
		return 1;
	second = memchr(colon + 1, ':', (size_t)(end - colon - 1));
	name = (struct gus_piece){ colon + 1, (size_t)((second ? second : end) - colon - 1) };
	if (second)
		mods = (struct gus_piece){ second + 1, (size_t)(end - second - 1) };
	for (size_t i = 0; i < COUNT(places); i++) {
		char *path = gus_format("%s/%s/events/%.*s/%.*s/id", p->pmus->root, places[i], (int)system.size,
					system.text, (int)name.size, name.text), text[32];
		bool ok = gus_read_text(path, text, sizeof(text)) &&
			  parse_number((struct gus_piece){ text, strlen(text) }, &id);
		struct gus_event e = { .type = PERF_TYPE_TRACEPOINT, .config = id };

		free(path);
		if (!ok)
			continue;
		e.base = gus_format("%.*s:%.*s", (int)system.size, system.text, (int)name.size, name.text);
		return add_event(p, &e, item, mods);
	}
	return 1;
}

/* libpfm4 reads its own modifiers. 1 if it does not know the name. */
static int parse_pfm(const struct parser *p, struct gus_piece item)
{
	char *text = gus_strndup(item.text, item.size);
	const char *reason = "";
	struct gus_pfm pfm;
	struct gus_event e = { 0 };
	enum gus_pfm_result result = gus_pfm_encode(text, &pfm, &reason);

	free(text);
	if (result == GUS_PFM_UNKNOWN)
		return 1;
	if (result == GUS_PFM_ELSEWHERE)
		return gus_fail(p->err, GUS_E_USAGE, "event '%.*s' is one of another CPU than this machine's (libpfm4: "
				"%s)", (int)item.size, item.text, reason);
	if (result == GUS_PFM_BAD)
		return gus_fail(p->err, GUS_E_USAGE, "event '%.*s' is not complete or not right (libpfm4: %s)",
				(int)item.size, item.text, reason);
	e = (struct gus_event){
		.base = gus_strndup(item.text, item.size), .type = pfm.type, .config = pfm.config,
		.config1 = pfm.config1, .config2 = pfm.config2, .period = pfm.period, .frequency = pfm.frequency,
		.pinned = pfm.pinned, .exclusive = pfm.exclusive, .precise = pfm.precise,
	};
	if (pfm.exclude_user || pfm.exclude_kernel || pfm.exclude_hv) {
		e.user = !pfm.exclude_user;
		e.kernel = !pfm.exclude_kernel;
		e.hv = !pfm.exclude_hv;
	}
	e.asked = gus_strndup(item.text, item.size);
	e.group = p->group;
	e.name = gus_strdup(e.base); /* its modifiers are in the name already */
	e.unit = gus_event_unit(&e);
	gus_vec_push(p->events, e);
	return 0;
}

static int unknown_event(const struct parser *p, struct gus_piece item, struct gus_piece name)
{
	struct gus_vec(const char *) names = { 0 };
	const struct gus_event_name *generic;
	char meant[128];

	for (size_t i = 0; (generic = gus_event_name_at(i)); i++) {
		gus_vec_push(&names, generic->name);
		gus_vec_push(&names, generic->alias);
	}
	for (size_t i = 0; i < p->pmus->list.n; i++)
		for (size_t j = 0; j < p->pmus->list.v[i].aliases.n; j++)
			gus_vec_push(&names, p->pmus->list.v[i].aliases.v[j].name);
	suggest(name, names.v, names.n, meant, sizeof(meant));
	gus_vec_free(&names);
	return gus_fail(p->err, GUS_E_USAGE, "unknown event '%.*s' at character %zu%s", (int)item.size, item.text,
			position(p, item.text), meant);
}

/* A name without slashes. Tried in this order; each step says 1 if it does not know the name. */
static int parse_name(const struct parser *p, struct gus_piece item)
{
	const char *colon = memchr(item.text, ':', item.size);
	struct gus_piece name = { item.text, colon ? (size_t)(colon - item.text) : item.size };
	struct gus_piece mods = { item.text + name.size + (colon != NULL), item.size - name.size - (colon != NULL) };
	const struct gus_event_name *g = gus_event_name_find(name);
	bool pfm_name = colon && mods.size && *mods.text == ':';
	uint64_t config;
	int got = 1;

	if (g && !pfm_name)
		return add_generic(p, g->name, g->type, g->config, item, mods);
	if (!pfm_name && (parse_raw(name, &config) || gus_event_cache_parse(name, &config))) {
		char *base = gus_strndup(name.text, name.size);

		got = name.text[0] == 'r' && parse_raw(name, &config) ?
		      add_generic(p, base, PERF_TYPE_RAW, config, item, mods) :
		      add_generic(p, base, PERF_TYPE_HW_CACHE, config, item, mods);
		free(base);
		return got;
	}
	if (!pfm_name)
		got = parse_alias(p, name, item, mods);
	if (got == 1 && !pfm_name)
		got = parse_tracepoint(p, item);
	if (got == 1)
		got = parse_pfm(p, item);
	return got == 1 ? unknown_event(p, item, name) : got;
}

static int parse_item(const struct parser *p, struct gus_piece item)
{
	const char *slash = memchr(item.text, '/', item.size);

	if (!item.size)
		return gus_fail(p->err, GUS_E_USAGE, "event '%s': an event is missing at character %zu", p->text,
				position(p, item.text));
	return slash ? parse_pmu(p, item, slash) : parse_name(p, item);
}

/* The item that starts at `at`: up to the next comma or brace that is not between slashes. */
static struct gus_piece next_item(const char *at)
{
	const char *end = at;
	bool slashed = false;

	for (; *end && (slashed || !strchr(",{}", *end)); end++)
		slashed ^= *end == '/';
	return (struct gus_piece){ at, (size_t)(end - at) };
}

/* Items up to the closing brace, then the group's modifiers; *at is behind the opening brace. */
static int parse_group(struct parser *p, const char **at)
{
	const char *open = *at - 1;
	size_t first = p->events->n;
	struct gus_piece mods = { NULL, 0 };
	uint32_t last = 0;

	for (size_t i = 0; i < first; i++)
		last = p->events->v[i].group > last ? p->events->v[i].group : last;
	p->group = last + 1;
	for (;;) {
		struct gus_piece item = next_item(*at);

		if (parse_item(p, item) != 0)
			return -1;
		*at = item.text + item.size;
		if (**at != ',')
			break;
		++*at;
	}
	if (**at != '}')
		return gus_fail(p->err, GUS_E_USAGE, **at ?
				"event '%s': a second '{' inside the group at character %zu" :
				"event '%s': the '{' at character %zu is never closed",
				p->text, position(p, **at ? *at : open));
	p->group = 0;
	if (*++*at == ':') {
		mods = next_item(*at + 1);
		*at = mods.text + mods.size;
	}
	for (size_t i = first; i < p->events->n; i++) {
		if (apply_modifiers(p, &p->events->v[i], mods) != 0)
			return -1;
		gus_event_rename(&p->events->v[i]);
	}
	if (p->events->n == first + 1)
		p->events->v[first].group = 0;
	return 0;
}

static int parse_list(struct parser p)
{
	const char *at = p.text;

	for (;;) {
		if (*at == '{') {
			at++;
			if (parse_group(&p, &at) != 0)
				return -1;
		} else {
			struct gus_piece item = next_item(at);

			if (parse_item(&p, item) != 0)
				return -1;
			at = item.text + item.size;
		}
		if (!*at)
			return 0;
		if (*at != ',')
			return gus_fail(p.err, GUS_E_USAGE, "event '%s': unexpected '%c' at character %zu; events are "
					"separated by commas", p.text, *at, position(&p, at));
		at++;
	}
}

int gus_events_parse(struct gus_events *events, const char *text, struct gus_pmus *pmus, struct gus_error *err)
{
	return parse_list((struct parser){ .text = text, .events = events, .pmus = pmus, .err = err });
}

int gus_events_parse_whole(struct gus_events *events, const char *text, struct gus_pmus *pmus, struct gus_error *err)
{
	return parse_list((struct parser){ .text = text, .events = events, .pmus = pmus, .whole = true, .err = err });
}
