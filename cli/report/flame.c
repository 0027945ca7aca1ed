/* SPDX-License-Identifier: MIT */
/* The page is four texts of our own (cli/report/flame/: body, style, and the script in two parts) around the data. The
 * data are JSON in an element that no browser executes; cli/report/flame/tree.js says how stacks are written there. */
#include "config.h"

#include "cli/report/flame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/calls.h"
#include "base/text.h"
#include "cli/common/html.h"
#include "cli/common/print.h"
#include "cli/common/recording.h"
#include "cli/report/flame_page.h"
#include "cli/report/flame_tree.h"
#include "cli/report/head.h"

/* What a profile has a number of in each place, and what its weight is in all. */
static const struct words { const char *one, *many, *weight, *nothing; } words[] = {
	[GUS_WEIGHS_EVENTS] = { "sample", "samples", "time of samples", "There are no samples to show." },
	[GUS_WEIGHS_OFF_CPU] = { "time off the CPU", "times off the CPU", "all time off the CPU",
				 "There is no time off the CPU to show." },
	[GUS_WEIGHS_WALL] = { "sample or time off the CPU", "samples and times off the CPU", "all time",
			      "There is no time to show." },
};

/* Lists of JSON: what stands before the next element. */
static void next(FILE *out, bool *begun)
{
	if (*begun)
		fputs(",\n", out);
	*begun = true;
}

/* What the recording is, in pairs of a word and a text. */
struct facts { FILE *out; bool begun; };

static void put_fact(struct facts *f, const char *what, const char *text)
{
	if (!text || !*text)
		return;
	next(f->out, &f->begun);
	putc('[', f->out);
	gus_html_string(f->out, what);
	putc(',', f->out);
	gus_html_string(f->out, text);
	putc(']', f->out);
}

static void put_count(struct facts *f, const char *what, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	put_fact(f, what, text);
}

static void put_times(struct facts *f, const struct gus_report *r)
{
	char time[48];

	if (r->units.time.known) {
		gus_time_format(time, sizeof(time), gus_scale_apply(&r->units.time, r->profile->weight));
		put_fact(f, words[r->profile->weighs].weight, time);
	}
	gus_time_format(time, sizeof(time), r->length_ns);
	put_fact(f, "recorded for", time);
}

/* What of the weight has a stack whose outer end is known, if anything is known of that. */
static bool whole_share(const struct gus_profile *p, char out[32])
{
	uint64_t told = 0, missing = 0;

	for (size_t i = 0; i < p->cells.n; i++) {
		if (p->cells.v[i].end) /* 0: nobody has looked */
			told += p->cells.v[i].weight;
		if (gus_calls_missing(p->cells.v[i].end))
			missing += p->cells.v[i].weight;
	}
	if (!told)
		return false;
	gus_fixed_format(out, 30, 100 - 100 * (double)missing / (double)told, 2);
	strcat(out, " %");
	return true;
}

static const char *event_of(const struct gus_profile *p)
{
	return p->event < p->header->n_events ? p->header->events[p->event]->name : "";
}

static void put_facts(const struct gus_report *r, const char *who, FILE *out)
{
	const struct gus_profile *p = r->profile;
	const Gusprof__Host *host = p->header->host;
	double cost = gus_overhead_percent(p);
	struct facts f = { .out = out };
	char text[48];

	fputs("\"facts\": [", out);
	put_fact(&f, "target", who);
	put_fact(&f, "host", host ? host->hostname : "");
	put_fact(&f, "CPU", host ? host->cpu_model : "");
	put_fact(&f, "kernel", host ? host->kernel : "");
	put_fact(&f, "event", event_of(p));
	put_count(&f, words[p->weighs].many, p->samples);
	put_times(&f, r);
	if (cost >= 0 && cost <= 100) {
		gus_fixed_format(text, 40, cost, 2);
		put_fact(&f, "cost, percent", text);
	}
	put_count(&f, "lost", p->lost);
	if (p->filtered)
		put_count(&f, "left out by options", p->filtered);
	put_fact(&f, "recording", gus_recording_name(r->path));
	put_fact(&f, "recorded by", p->header->producer);
	fputs("],\n", out);
}

struct notices { FILE *out; bool begun; };

static void put_notice(const char *text, void *context)
{
	struct notices *n = context;

	next(n->out, &n->begun);
	gus_html_string(n->out, text);
}

static void put_notices(const struct gus_report *r, FILE *out)
{
	struct notices n = { out, false };

	fputs("\"notices\": [", out);
	if (!r->profile->samples && !r->profile->weight)
		put_notice(words[r->profile->weighs].nothing, &n);
	else if (r->profile->paths.n < 2)
		put_notice("The recording has no call chains, so each stack is one function: record with -g.", &n);
	gus_report_notices(r, put_notice, &n);
	fputs("],\n", out);
}

/* What a weight is: a time, or so many of the event's unit; and of what there are so many in a place. */
static void put_unit(const struct gus_report *r, FILE *out)
{
	const struct gus_profile *p = r->profile;
	const struct gus_scale *time = &r->units.time;
	const char *unit = p->event < p->header->n_events ? p->header->events[p->event]->unit : "";
	char factor[64];

	fputs("\"counted\": [", out);
	gus_html_string(out, words[p->weighs].one);
	putc(',', out);
	gus_html_string(out, words[p->weighs].many);
	fputs("],\n\"unit\": ", out);
	gus_html_string(out, p->weighs == GUS_WEIGHS_EVENTS ? unit : "ns");
	gus_fixed_format(factor, sizeof(factor), time->known ? time->factor : 0, 9);
	fputs(",\n\"nsPerWeight\": ", out);
	gus_text_print(out, "%s,\n", time->known ? factor : "null");
}

static void put_strings(const struct gus_flame_tree *t, FILE *out)
{
	bool begun = false;

	fputs("\"strings\": [", out);
	for (uint32_t i = 0; i < t->strings.n; i++) {
		next(out, &begun);
		gus_html_string(out, gus_strings_get(&t->strings, i));
	}
	fputs("],\n\"frames\": [", out);
	for (size_t i = 0; i < t->frames.n; i++) {
		const struct gus_flame_frame *f = &t->frames.v[i];

		fprintf(out, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu32, i ? ",\n" : "", f->name, f->module, f->kind);
	}
	fputs("],\n", out);
}

static void put_nodes(const struct gus_flame_tree *t, FILE *out)
{
	uint32_t depth = 0;

	fputs("\"nodes\": [", out);
	for (size_t i = 0; i < t->nodes.n; i++) {
		const struct gus_flame_node *n = &t->nodes.v[i];

		fprintf(out, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64, i ? ",\n" : "", n->frame,
			depth + 1 - n->depth, n->weight, n->samples);
		depth = n->depth;
	}
	fputs("]\n", out);
}

static void put_data(const struct gus_report *r, const char *who, const struct gus_flame_tree *t, FILE *out)
{
	char *totals = gus_head_totals(r), whole[32];

	fputs("<script type=\"application/json\" id=\"data\">{\"schema\": \"gusprof.flame/1\",\n\"title\": ", out);
	gus_html_string(out, who);
	fputs(",\n\"summary\": ", out);
	gus_html_string(out, totals);
	fputs(",\n\"whole\": ", out);
	gus_html_string(out, whole_share(r->profile, whole) ? whole : "");
	fputs(",\n", out);
	put_facts(r, who, out);
	put_notices(r, out);
	put_unit(r, out);
	put_strings(t, out);
	put_nodes(t, out);
	fputs("}</script>\n", out);
	free(totals);
}

static void put_head(const char *who, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
	      "form-action 'none'; style-src 'sha256-" GUS_PAGE_STYLE_SUM "'; script-src 'sha256-"
	      GUS_PAGE_SCRIPT_SUM "'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<meta name=\"generator\" content=\"gusprof " PACKAGE_VERSION "\">\n<title>", out);
	gus_html_text(out, who);
	fputs(" - flame graph</title>\n<style>", out);
	fputs(GUS_PAGE_STYLE, out);
	fputs("</style>\n</head>\n<body>\n" GUS_PAGE_BODY, out);
}

void gus_flame_print(const struct gus_report *r, enum gus_by by, bool inlines, FILE *out)
{
	char *who = gus_head_target(r->profile);
	struct gus_flame_tree tree;

	gus_flame_tree_make(&tree, r->profile, by, inlines);
	put_head(who, out);
	put_data(r, who, &tree, out);
	fputs("<script>" GUS_PAGE_SCRIPT "</script>\n</body>\n</html>\n", out);
	gus_flame_tree_free(&tree);
	free(who);
}
