/* SPDX-License-Identifier: MIT */
#include "cli/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#define SILENT_NS 2000000000ull /* shorter works need no word */
#define EACH_NS 200000000ull
#define LINES_NS 5000000000ull /* between lines of a log, and before the first */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One that can take a line away again. */
static int look(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0 ? 1 : -1;
}

/* Cut to what every terminal has in a line: one that is broken could not be taken away. */
static void print(const struct gus_progress *p, const char *what, double share)
{
	char part[32] = "";

	if (share >= 0)
		snprintf(part, sizeof(part), ", %.0f %%", 100 * share);
	if (p->terminal > 0)
		fputs("\r\033[K", stderr);
	gus_text_print(stderr, "gusprof: %.40s%s, %" PRIu64 " s", what, part, (now_ns() - p->begun_ns) / 1000000000);
	if (p->terminal < 0)
		fputs("\n", stderr);
	fflush(stderr);
}

/* What a log has already is not said again, however long it takes. */
static void add_line(struct gus_progress *p, const char *what, double share)
{
	int tenth = share < 0 ? -1 : (int)(10 * share);

	if (p->shown && tenth == p->tenth && strncmp(what, p->part, sizeof(p->part) - 1) == 0)
		return;
	p->tenth = tenth;
	snprintf(p->part, sizeof(p->part), "%s", what);
	p->next_ns = now_ns() + LINES_NS;
	p->shown = 1;
	print(p, what, share);
}

static void write_over(struct gus_progress *p, const char *what, double share)
{
	p->next_ns = now_ns() + EACH_NS;
	p->shown = 1;
	print(p, what, share);
}

void gus_progress(struct gus_progress *p, const char *what, double share)
{
	uint64_t now;

	if (p->terminal < 0 && !p->lines)
		return;
	if (!p->terminal)
		p->terminal = look();
	now = now_ns();
	if (!p->begun_ns) {
		p->begun_ns = now;
		p->next_ns = now + (p->terminal < 0 ? LINES_NS : SILENT_NS);
	}
	if (now < p->next_ns)
		return;
	share = share < 1 ? share : 1;
	if (p->terminal > 0)
		write_over(p, what, share);
	else if (p->lines)
		add_line(p, what, share);
}

void gus_progress_end(struct gus_progress *p)
{
	if (p->shown && p->terminal > 0) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	*p = (struct gus_progress){ .terminal = p->terminal, .lines = p->lines, .heed = p->heed };
}

static void heed(void *context, const char *what, double share)
{
	if (what)
		gus_progress(context, what, share);
	else
		gus_progress_end(context);
}

const struct gus_heed *gus_progress_heed(struct gus_progress *p)
{
	p->heed = (struct gus_heed){ heed, p };
	return &p->heed;
}
