/* SPDX-License-Identifier: MIT */
#include "cli/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#define SILENT_NS 2000000000ull /* shorter works need no word */
#define EACH_NS 200000000ull
#define WORDS 40                /* letters of what is done, at most */
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

/* Of the words so many as leave room for the rest: a line that is broken could not be taken away. */
static int words(const struct gus_progress *p, size_t rest)
{
	struct winsize size = { 0 };
	int most = WORDS;

	if (p->terminal > 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		most = size.ws_col - 1 - (int)rest;
	return most < 0 ? 0 : most > WORDS ? WORDS : most;
}

static void print(const struct gus_progress *p, const char *what, double share)
{
	static const char ours[] = "gusprof: ";
	char part[64] = "";
	int n = 0;

	if (share >= 0)
		n = snprintf(part, sizeof(part), ", %.0f %%", 100 * share);
	snprintf(part + n, sizeof(part) - (size_t)n, ", %" PRIu64 " s", (now_ns() - p->begun_ns) / 1000000000);
	if (p->terminal > 0)
		fputs("\r\033[K", stderr);
	gus_text_print(stderr, "%s%.*s%s", ours, words(p, strlen(ours) + strlen(part)), what, part);
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
