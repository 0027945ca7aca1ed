/* SPDX-License-Identifier: MIT */
/* The traffic of memory as text. */
#include <stdlib.h>
#include <string.h>

#include "attribution/traffic/traffic.h"
#include "base/text.h"
#include "cli/bandwidth/bandwidth.h"
#include "cli/common/print.h"
#include "cli/screen/screen.h"

#define GB 1e9
#define PARTS 8  /* of the time, in the line of a recording */

struct traffic_text { FILE *out; const struct gus_screen *screen; const char *before; };

static const char whose[] = "of all of the machine, whoever caused it";
static const char undivided[] = "these counters do not tell data read from data written";

static void gigabytes(char *text, size_t room, double bytes)
{
	gus_fixed_format(text, room, bytes / GB, 3);
}

static void name_format(char *text, size_t room, uint32_t socket, unsigned direction)
{
	static const char *const words[] = {
		[GUS_DIRECTION_BOTH] = "read and written", [GUS_DIRECTION_READ] = "read",
		[GUS_DIRECTION_WRITTEN] = "written", [GUS_TRAFFIC_ALL] = "in all",
	};

	if (socket == GUS_TRAFFIC_SOCKETS)
		snprintf(text, room, "memory %s", words[direction]);
	else
		snprintf(text, room, "socket %u %s", socket, words[direction]);
}

static void print_sum(void *context, uint32_t socket, unsigned direction, const struct gus_traffic_sum *s)
{
	struct traffic_text *t = context;
	char bytes[48], rate[48], name[64], line[256], share[32], more[96] = "";

	name_format(name, sizeof(name), socket, direction);
	if (s->known) {
		gigabytes(bytes, sizeof(bytes), (double)s->bytes);
		gigabytes(rate, sizeof(rate), s->rate);
		snprintf(line, sizeof(line), "%18s GB %-26s  # %s GB/s", bytes, name, rate);
	} else {
		snprintf(line, sizeof(line), "%18s    %-26s  # %s", "<not counted>", name, gus_bandwidth_reason(s));
	}
	if (s->known && s->running_ns < s->enabled_ns) {
		gus_fixed_format(share, sizeof(share), 100 * ((double)s->running_ns / (double)s->enabled_ns), 1);
		snprintf(more, sizeof(more), "  (scaled: counted %s %% of the time)", share);
	}
	gus_text_print(t->out, "%s%s", t->before ? t->before : "", line);
	if (*more && t->screen->width && (t->before ? strlen(t->before) : 0) + strlen(line) + strlen(more) >
	    t->screen->width)
		gus_text_print(t->out, "\n%22s%s\n", "", more);
	else
		gus_text_print(t->out, "%s\n", more);
}

void gus_bandwidth_text(FILE *out, const struct gus_screen *screen, const char *before, const struct gus_traffic *t)
{
	struct traffic_text text = { out, screen, before };
	char *what;

	if (!before) {
		what = gus_format("Traffic of memory, %s (%s):", whose, t->title);
		putc('\n', out);
		gus_screen_fold(screen, out, " ", "   ", what);
		free(what);
	}
	gus_bandwidth_walk(t, print_sum, &text);
	if (!before && gus_traffic_of(t, GUS_TRAFFIC_SOCKETS, GUS_DIRECTION_BOTH).counted)
		gus_screen_fold(screen, out, "# ", "#   ", undivided);
}

struct recorded_text { FILE *out; const struct gus_traffic *traffic; };

/* What was transferred in all, in the mean and at most. */
static void print_recorded(void *context, uint32_t socket, unsigned direction, const struct gus_traffic_sum *s)
{
	struct recorded_text *text = context;
	const struct gus_traffic_peak *peak = &text->traffic->peaks[direction];
	char bytes[48], rate[48], name[64], most[96] = "", number[48], share[80] = "", percent[32];

	name_format(name, sizeof(name), socket, direction);
	if (!s->known) {
		gus_text_print(text->out, "#   %-28s unknown: %s\n", name, gus_bandwidth_reason(s));
		return;
	}
	gigabytes(bytes, sizeof(bytes), (double)s->bytes);
	gigabytes(rate, sizeof(rate), s->rate);
	if (socket == GUS_TRAFFIC_SOCKETS && peak->known) {
		gigabytes(number, sizeof(number), peak->rate);
		snprintf(most, sizeof(most), ", at most %s GB/s", number);
	}
	if (s->running_ns < s->enabled_ns) {
		gus_fixed_format(percent, sizeof(percent), 100 * ((double)s->running_ns / (double)s->enabled_ns), 0);
		snprintf(share, sizeof(share), " (scaled: counted %s %% of the time)", percent);
	}
	gus_text_print(text->out, "#   %-28s %s GB, %s GB/s in the mean%s%s\n", name, bytes, rate, most, share);
}

/* Bytes and ns of the pieces that end in part i of the time. */
static bool part_rate(const struct gus_traffic *t, size_t i, size_t parts, double *rate)
{
	size_t from = t->pieces.n * i / parts, to = t->pieces.n * (i + 1) / parts;
	double bytes = 0, ns = 0;

	for (size_t k = from; k < to; k++) {
		if (!t->pieces.v[k].known[GUS_TRAFFIC_ALL])
			return false;
		bytes += t->pieces.v[k].bytes[GUS_TRAFFIC_ALL];
		ns += (double)t->pieces.v[k].ns;
	}
	*rate = ns > 0 ? bytes * 1e9 / ns : 0;
	return ns > 0;
}

static void print_over_time(FILE *out, const struct gus_screen *screen, const struct gus_traffic *t)
{
	size_t parts = t->pieces.n < PARTS ? t->pieces.n : PARTS;
	char *all, *more;

	if (parts < 2)
		return;
	all = gus_format("over its time, in %zu parts, GB/s:", parts);
	for (size_t i = 0; i < parts; i++) {
		char number[48] = "?";
		double rate;

		if (part_rate(t, i, parts, &rate))
			gigabytes(number, sizeof(number), rate);
		more = gus_format("%s %s", all, number);
		free(all);
		all = more;
	}
	gus_screen_fold(screen, out, "#   ", "#     ", all);
	free(all);
}

void gus_bandwidth_recorded_text(FILE *out, const struct gus_screen *screen, const struct gus_traffic *t)
{
	struct recorded_text text = { out, t };
	char *what;

	if (!t || !t->pieces.n)
		return;
	what = gus_format("traffic of memory, %s (%s):", whose, t->title);
	gus_screen_fold(screen, out, "# ", "#   ", what);
	free(what);
	gus_bandwidth_walk(t, print_recorded, &text);
	print_over_time(out, screen, t);
	if (gus_traffic_of(t, GUS_TRAFFIC_SOCKETS, GUS_DIRECTION_BOTH).counted)
		gus_screen_fold(screen, out, "#   ", "#     ", undivided);
}
