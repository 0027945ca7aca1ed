/* SPDX-License-Identifier: MIT */
#include "cli/screen/screen.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/screen/cells.h"

enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* no-color.org: set to anything but nothing. */
static bool may_colour(void)
{
	return !*setting("NO_COLOR") && *setting("TERM") && strcmp(setting("TERM"), "dumb") != 0;
}

static size_t terminal_width(int fd)
{
	const char *columns = setting("COLUMNS");
	struct winsize size = { 0 };
	char *end;
	unsigned long said = strtoul(columns, &end, 10);

	if (*columns >= '1' && *columns <= '9' && !*end && said < 100000)
		return said;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return 80;
}

/* Whether what reads the text takes it for UTF-8: as the locale says, which is not set here (setlocale(3)), so that it
 * changes nothing else. */
static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !*value; i++)
		value = setting(names[i]);
	return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
}

struct gus_screen gus_screen_of(FILE *out, const struct gus_screen_options *o)
{
	int fd = fileno(out);
	struct gus_screen s = { .full_names = o->full_names, .dots = is_utf8() ? "…" : ".." };

	s.terminal = fd >= 0 && isatty(fd);
	s.width = o->width;
	if (o->width == GUS_SCREEN_AUTO)
		s.width = s.terminal ? terminal_width(fd) : 0;
	if (s.width && s.width < GUS_SCREEN_LEAST)
		s.width = GUS_SCREEN_LEAST;
	s.colour = o->colour == COLOUR_ALWAYS || (o->colour == COLOUR_AUTO && s.terminal && may_colour());
	return s;
}

/* Of the sixteen that a theme chooses itself, those that all choose to be read on its ground; yellow, white and grey
 * are not among them. */
void gus_screen_colour(const struct gus_screen *s, FILE *out, enum gus_colour colour)
{
	if (!s->colour)
		return;
	switch (colour) {
	case GUS_COLOUR_HOT:
		fputs("\033[31m", out);
		break;
	case GUS_COLOUR_WARM:
	case GUS_COLOUR_GOOD:
		fputs("\033[32m", out);
		break;
	case GUS_COLOUR_BAD:
		fputs("\033[1;31m", out);
		break;
	case GUS_COLOUR_HEAD:
		fputs("\033[1m", out);
		break;
	case GUS_COLOUR_NONE:
		fputs("\033[0m", out);
		break;
	}
}

enum gus_colour gus_screen_share_colour(double share)
{
	if (share >= 0.05)
		return GUS_COLOUR_HOT;
	return share >= 0.005 ? GUS_COLOUR_WARM : GUS_COLOUR_NONE;
}

void gus_screen_fold(const struct gus_screen *s, FILE *out, const char *first, const char *next, const char *text)
{
	size_t used = gus_cells(first, strlen(first));
	bool begun = false;

	gus_text_print(out, "%s", first);
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t size = strcspn(text, " "), cells = gus_cells(text, size);

		if (begun && s->width && used + 1 + cells > s->width) {
			gus_text_print(out, "\n%s", next);
			used = gus_cells(next, strlen(next));
			begun = false;
		}
		gus_text_print(out, begun ? " %.*s" : "%.*s", (int)size, text);
		used += cells + begun;
		begun = true;
		text += size;
	}
	putc('\n', out);
}
