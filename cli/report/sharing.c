/* SPDX-License-Identifier: MIT */
/* Candidates are shown, each with who uses it; what else was held up by other cores is told in sums, which add up to
 * all of it. */
#include "cli/report/sharing.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/memory/sharing.h"
#include "base/path.h"
#include "cli/common/csv.h"
#include "cli/common/json.h"
#include "cli/report/render.h"
#include "cli/screen/table.h"

static const char *const whys[] = {
	[GUS_SHARING_UNKNOWN] = "unknown", [GUS_SHARING_SAME] = "same", [GUS_SHARING_LIKELY] = "likely",
	[GUS_SHARING_APART] = "apart",
};

/* What the renderers need of an access. Strings live as long as the profile. */
struct access {
	const struct gus_sharing_access *a;
	const struct gus_sharing_thread *thread;
	const char *module;
	struct gus_name name;
};

static struct access access_of(const struct gus_sharing *s, uint32_t number)
{
	struct gus_profile *p = (struct gus_profile *)(uintptr_t)&s->profile; /* names are found when they are asked */
	const struct gus_sharing_access *a = &s->accesses.v[number];
	const struct gus_module *module = gus_space_module(p->space, a->code.module);
	struct access access = { .a = a, .thread = &s->threads.v[a->thread], .module = module->path };
	struct gus_name names[GUS_NAMES_MAX];

	gus_symbols_names(p->symbols, module, a->code.offset, GUS_DEPTH_INLINE, names);
	access.name = names[0];
	return access;
}

static const struct gus_touch *touch_of(const struct gus_sharing *s, const struct gus_sharing_line *line)
{
	return &s->touches.list.v[line->touch];
}

static void find(const struct gus_sharing *s, const struct gus_sharing_line *line, struct gus_report_data *d)
{
	*d = (struct gus_report_data){ .key = &touch_of(s, line)->key };
	gus_report_find((struct gus_profile *)(uintptr_t)&s->profile, touch_of(s, line)->place, d);
}

/* HITM of lines from there on, by why. */
static void add_up(const struct gus_sharing *s, size_t from, uint64_t by_why[GUS_SHARING_WHYS])
{
	for (size_t i = from; i < s->lines.n; i++)
		for (size_t k = 0; k < GUS_SHARING_WHYS; k++)
			by_why[k] += s->lines.v[i].by_why[k];
}

/* Text. */

static const struct gus_table_column columns[] = {
	{ "HITM", .right = true, .pad = 8 }, { "loads", .right = true, .pad = 7 },
	{ "stores", .right = true, .pad = 7 }, { "bytes", .right = true, .pad = 7 },
	{ "written", .how = GUS_SHORTEN_END, .pad = 8, .leaves = 1 },
	{ "thread", .how = GUS_SHORTEN_MIDDLE, .pad = 16, .comfort = 12, .least = 8 },
	{ "tid", .right = true, .pad = 7, .leaves = 2 },
	{ "line", .how = GUS_SHORTEN_MIDDLE, .pad = 16, .comfort = 14, .least = 8, .leaves = 3 },
	{ "function", .how = GUS_SHORTEN_NAME, .comfort = 24, .least = 10 },
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

static void add_access(struct gus_table *t, const struct access *x)
{
	char text[COLUMNS][96];
	const char *cells[COLUMNS];
	const struct gus_sharing_access *a = x->a;

	snprintf(text[0], 96, "%" PRIu64, a->hitm);
	snprintf(text[1], 96, "%" PRIu64, a->loads);
	snprintf(text[2], 96, "%" PRIu64, a->stores);
	if (a->size > 1)
		snprintf(text[3], 96, "%u..%u", a->offset, a->offset + a->size - 1);
	else
		snprintf(text[3], 96, "%u", a->offset);
	snprintf(text[4], 96, "%s", a->hitm ? whys[a->why] : "");
	snprintf(text[5], 96, "%.80s", *x->thread->comm ? x->thread->comm : "[unnamed]");
	snprintf(text[6], 96, "%u", x->thread->tid);
	text[7][0] = '\0';
	if (x->name.file)
		snprintf(text[7], 96, "%.80s:%u", gus_base_name(x->name.file), x->name.line);
	for (size_t i = 0; i + 1 < COLUMNS; i++)
		cells[i] = text[i];
	cells[COLUMNS - 1] = x->name.function ? x->name.function : "[unknown]";
	gus_table_row(t, GUS_COLOUR_NONE, cells);
}

static void add_line(struct gus_table *t, const struct gus_sharing *s, const struct gus_sharing_line *line)
{
	struct gus_report_data d;
	char text[160], place[256];

	find(s, line, &d);
	gus_report_place(&d, place, sizeof(place));
	snprintf(text, sizeof(text), "%8" PRIu64 "  line %" PRIx64 ", %u threads: ", line->hitm, d.key->address,
		 line->threads);
	gus_table_line(t, text, place, "");
	for (uint32_t i = line->first; i < line->first + line->n; i++) {
		struct access access = access_of(s, i);

		add_access(t, &access);
	}
}

static void say(const struct gus_report *r, char *text)
{
	gus_screen_fold(r->screen, stdout, "# ", "#   ", text);
	free(text);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_sums(const struct gus_report *r, const struct gus_sharing *s)
{
	uint64_t all[GUS_SHARING_WHYS] = { 0 }, lines = s->lines.n - s->candidates;

	add_up(s, 0, all);
	say(r, gus_format("%" PRIu64 " of %" PRIu64 " samples that tell of accesses found their line changed by "
			  "another core (HITM): %" PRIu64 " by other bytes of the line (apart), %" PRIu64
			  " likely so, %" PRIu64 " by the same bytes, %" PRIu64 " unknown, %" PRIu64
			  " without an address", s->hitm, s->told, all[GUS_SHARING_APART], all[GUS_SHARING_LIKELY],
			  all[GUS_SHARING_SAME], all[GUS_SHARING_UNKNOWN], s->unplaced));
	say(r, gus_format("%zu line%s may be shared by accident; %" PRIu64 " other%s with HITM %s not shown",
			  s->candidates, plural(s->candidates), lines, plural(lines), lines == 1 ? "is" : "are"));
}

void gus_render_sharing_text(const struct gus_report *r, const struct gus_sharing *s)
{
	struct gus_table table;

	gus_render_text_head(r);
	print_sums(r, s);
	if (!s->candidates)
		return;
	printf("#\n");
	gus_table_begin(&table, r->screen, stdout, columns, COLUMNS);
	for (size_t i = 0; i < s->candidates; i++)
		add_line(&table, s, &s->lines.v[i]);
	gus_table_end(&table);
}

/* CSV: a line an access. */

static void print_access(struct gus_csv *c, const struct gus_sharing_line *line, const struct gus_report_data *d,
			 const struct access *x)
{
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, d->key->address);
	gus_csv_text(c, address);
	gus_csv_number(c, true, d->key->bytes);
	gus_csv_number(c, d->key->pid != 0, d->key->pid);
	gus_csv_text(c, d->module);
	gus_csv_text(c, d->symbol);
	gus_csv_number(c, true, line->hitm);
	gus_csv_number(c, true, x->a->offset);
	gus_csv_number(c, x->a->size != 0, x->a->size);
	gus_csv_number(c, true, x->a->samples);
	gus_csv_number(c, true, x->a->loads);
	gus_csv_number(c, true, x->a->stores);
	gus_csv_number(c, true, x->a->hitm);
	gus_csv_text(c, x->a->hitm ? whys[x->a->why] : NULL);
	gus_csv_number(c, true, x->thread->pid);
	gus_csv_number(c, true, x->thread->tid);
	gus_csv_text(c, x->thread->comm);
	gus_csv_text(c, x->module);
	gus_csv_number(c, true, x->a->code.offset);
	gus_csv_text(c, x->name.function);
	gus_csv_text(c, x->name.file);
	gus_csv_number(c, x->name.line != 0, x->name.line);
	gus_csv_end(c);
}

void gus_render_sharing_csv(const struct gus_sharing *s)
{
	struct gus_csv csv = { stdout, ",", false };

	printf("data_address,data_bytes,data_pid,data_module,data_symbol,line_hitm,offset,size,samples,loads,stores,"
	       "hitm,written,pid,tid,comm,module,code_offset,function,file,line\n");
	for (size_t i = 0; i < s->candidates; i++) {
		const struct gus_sharing_line *line = &s->lines.v[i];
		struct gus_report_data d;

		find(s, line, &d);
		for (uint32_t k = line->first; k < line->first + line->n; k++) {
			struct access access = access_of(s, k);

			print_access(&csv, line, &d, &access);
		}
	}
}

/* JSON. */

static void set(json_t *o, const char *key, uint64_t number)
{
	json_object_set_new(o, key, json_integer((json_int_t)number));
}

static void set_whys(json_t *o, const uint64_t by_why[GUS_SHARING_WHYS])
{
	for (size_t i = 0; i < GUS_SHARING_WHYS; i++)
		set(o, whys[i], by_why[i]);
}

static json_t *access_object(const struct access *x)
{
	json_t *o = json_object();

	set(o, "offset", x->a->offset);
	json_object_set_new(o, "size", gus_json_number(x->a->size != 0, x->a->size));
	set(o, "pid", x->thread->pid);
	set(o, "tid", x->thread->tid);
	json_object_set_new(o, "comm", gus_json_text(x->thread->comm));
	json_object_set_new(o, "module", gus_json_text(x->module));
	set(o, "code_offset", x->a->code.offset);
	json_object_set_new(o, "function", gus_json_text(x->name.function));
	json_object_set_new(o, "file", gus_json_text(x->name.file));
	json_object_set_new(o, "line", gus_json_number(x->name.line != 0, x->name.line));
	set(o, "samples", x->a->samples);
	set(o, "loads", x->a->loads);
	set(o, "stores", x->a->stores);
	set(o, "hitm", x->a->hitm);
	json_object_set_new(o, "written", x->a->hitm ? gus_json_word(whys[x->a->why]) : json_null());
	return o;
}

static json_t *line_object(const struct gus_sharing *s, const struct gus_sharing_line *line)
{
	json_t *o = json_object(), *accesses = json_array();
	struct gus_report_data d;
	char address[32];

	find(s, line, &d);
	snprintf(address, sizeof(address), "0x%" PRIx64, d.key->address);
	json_object_set_new(o, "address", gus_json_word(address));
	set(o, "bytes", d.key->bytes);
	json_object_set_new(o, "pid", gus_json_number(d.key->pid != 0, d.key->pid));
	json_object_set_new(o, "shared", json_boolean(d.key->shared));
	json_object_set_new(o, "module", gus_json_text(d.module));
	json_object_set_new(o, "symbol", gus_json_text(d.symbol));
	json_object_set_new(o, "into", gus_json_number(!d.whole, d.into));
	set(o, "samples", line->samples);
	set(o, "loads", line->loads);
	set(o, "stores", line->stores);
	set(o, "threads", line->threads);
	set(o, "hitm", line->hitm);
	set_whys(o, line->by_why);
	for (uint32_t i = line->first; i < line->first + line->n; i++) {
		struct access access = access_of(s, i);

		json_array_append_new(accesses, access_object(&access));
	}
	json_object_set_new(o, "accesses", accesses);
	return o;
}

int gus_render_sharing_json(const struct gus_report *r, const struct gus_sharing *s)
{
	json_t *o = json_object(), *lines = json_array(), *others = json_object(), *total = json_object();
	uint64_t left[GUS_SHARING_WHYS] = { 0 }, all[GUS_SHARING_WHYS] = { 0 };

	add_up(s, 0, all);
	add_up(s, s->candidates, left);
	set(total, "samples", s->samples);
	set(total, "accesses", s->told);
	set(total, "hitm", s->hitm);
	set_whys(total, all);
	set(total, "without_address", s->unplaced);
	for (size_t i = 0; i < s->candidates; i++)
		json_array_append_new(lines, line_object(s, &s->lines.v[i]));
	set(others, "lines", s->lines.n - s->candidates);
	set_whys(others, left);
	json_object_set_new(o, "schema", json_string("gusprof.sharing/1"));
	json_object_set_new(o, "recording", gus_json_recording(r));
	json_object_set_new(o, "total", total);
	json_object_set_new(o, "lines", lines);
	json_object_set_new(o, "others", others);
	return gus_json_print(o, stdout, true);
}
