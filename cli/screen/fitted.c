/* SPDX-License-Identifier: MIT */
#include "cli/screen/fitted.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/screen/cells.h"
#include "cli/screen/screen.h"
#include "cli/screen/shorten.h"

void gus_fitted_begin(struct gus_fitted *f, const struct gus_screen *screen)
{
	*f = (struct gus_fitted){ screen, -1, -1 };
	if (!screen->width || screen->full_names)
		return;
	fflush(stdout);
	f->kept = memfd_create("gusprof text", MFD_CLOEXEC);
	f->before = f->kept < 0 ? -1 : dup(STDOUT_FILENO);
	if (f->before >= 0)
		dup2(f->kept, STDOUT_FILENO);
}

/* Whether it has columns: what stands in a sentence is one blank apart. */
static bool is_row(const char *line)
{
	unsigned gaps = 0;

	line += strspn(line, " ");
	while ((line = strstr(line, "  "))) {
		gaps++;
		line += strspn(line, " ");
	}
	return gaps >= 2;
}

/* The line with fewer blanks before its last column, which is moved no further than it has to be. */
static char *squeeze(const char *line, size_t width)
{
	size_t size = strlen(line), cells = gus_cells(line, size), end = size, begin, n, over;

	while (!(line[end - 1] == ' ' && line[end - 2] == ' ')) /* it has two such columns at least */
		end--;
	for (begin = end; begin && line[begin - 1] == ' '; begin--)
		;
	n = end - begin;
	over = cells > width ? cells - width : 0;
	n -= n < over + 2 ? n - 2 : over;
	return gus_format("%.*s%*s%s", (int)begin, line, (int)n, "", line + end);
}

static void print_fitted(const struct gus_screen *s, const char *line)
{
	size_t indent = strspn(line, " ");
	char *first, *next, *squeezed, *shown;

	if (gus_cells(line, strlen(line)) <= s->width) {
		gus_text_print(stdout, "%s\n", line);
	} else if (is_row(line)) {
		squeezed = squeeze(line, s->width);
		shown = gus_shorten(squeezed, GUS_SHORTEN_END, s->width, s->dots);
		free(squeezed);
		gus_text_print(stdout, "%s\n", shown);
		free(shown);
	} else {
		first = gus_format("%*s", (int)indent, "");
		next = gus_format("%*s", (int)indent + 4, "");
		gus_screen_fold(s, stdout, first, next, line + indent);
		free(first);
		free(next);
	}
}

void gus_fitted_end(struct gus_fitted *f)
{
	FILE *kept;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (f->before < 0)
		return;
	fflush(stdout);
	dup2(f->before, STDOUT_FILENO);
	close(f->before);
	lseek(f->kept, 0, SEEK_SET);
	kept = fdopen(f->kept, "r");
	while (kept && (n = getline(&line, &room, kept)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		print_fitted(f->screen, line);
	}
	if (kept)
		fclose(kept);
	free(line);
}
