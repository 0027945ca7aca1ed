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

void gus_progress(struct gus_progress *p, const char *what, double share)
{
	char part[32] = "";
	uint64_t now;

	if (p->terminal < 0)
		return;
	if (!p->terminal)
		p->terminal = look();
	now = now_ns();
	if (!p->begun_ns) {
		p->begun_ns = now;
		p->next_ns = now + SILENT_NS;
	}
	if (p->terminal < 0 || now < p->next_ns)
		return;
	p->next_ns = now + EACH_NS;
	p->shown = 1;
	/* Cut to what every terminal has in a line: one that is broken could not be taken away. */
	if (share >= 0)
		snprintf(part, sizeof(part), ", %.0f %%", 100 * (share < 1 ? share : 1));
	gus_text_print(stderr, "\r\033[Kgusprof: %.40s%s, %" PRIu64 " s", what, part,
		       (now - p->begun_ns) / 1000000000);
	fflush(stderr);
}

void gus_progress_end(struct gus_progress *p)
{
	if (p->shown) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	*p = (struct gus_progress){ .terminal = p->terminal };
}
