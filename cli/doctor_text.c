/* SPDX-License-Identifier: MIT */
#include "cli/doctor_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/screen/screen.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"

static const struct { const char *group, *title; } titles[] = {
	{ "events", "Events" }, { "rights", "Rights" }, { "settings", "Settings" }, { "names", "Names" },
	{ "machine", "Machine" },
};

static const struct { char sign; enum gus_colour colour; } marks[] = {
	[GUS_MARK_OK] = { '+', GUS_COLOUR_GOOD }, [GUS_MARK_LIMITED] = { '!', GUS_COLOUR_HOT },
	[GUS_MARK_NO] = { '-', GUS_COLOUR_BAD }, [GUS_MARK_INFO] = { '.', GUS_COLOUR_NONE },
};

/* The mark and the name stand alone, so that what is said of them is below each other, however many lines it takes. */
static void print_finding(FILE *out, const struct gus_screen *s, const struct gus_finding *f)
{
	bool cause = f->cause != GUS_CAUSE_NONE;
	char *text = gus_format("%s%s%s%s%s%s", cause ? "(" : "", cause ? gus_hindrance_name(f->cause) : "",
				cause ? ") " : "", f->text, *f->command ? ": " : "", f->command);
	/* What a narrow screen cannot have beside each other stands below. */
	bool narrow = s->width && s->width < 72;
	char *first = gus_format("%-28s", f->name);

	fputs("  ", out);
	gus_screen_colour(s, out, marks[f->mark].colour);
	gus_text_print(out, "%c", marks[f->mark].sign);
	gus_screen_colour(s, out, GUS_COLOUR_NONE);
	if (narrow) {
		gus_text_print(out, " %s\n", f->name);
		gus_screen_fold(s, out, "      ", "      ", text);
	} else {
		struct gus_screen rest = *s;

		putc(' ', out);
		rest.width -= s->width ? 4 : 0; /* what is there already */
		gus_screen_fold(&rest, out, first, "                                ", text);
	}
	free(first);
	free(text);
}

static char *cost_text(const struct gus_diagnosis *d, const struct gus_facts *f)
{
	if (d->cost_percent >= 0)
		return gus_format("A sample of %s takes about %" PRIu64 " ns here: %.2f %% of a CPU at 1000 samples a "
				  "second.", f->event, f->cost_ns, d->cost_percent);
	return gus_format("What a sample of %s takes could not be told from noise.", f->event);
}

static void print_verdict(FILE *out, const struct gus_screen *s, const struct gus_diagnosis *d,
			  const struct gus_facts *f)
{
	char *text = d->tier ? gus_format("Tier %c. %s", d->tier, d->why) : gus_strdup(d->why);

	gus_screen_fold(s, out, "", "", text);
	free(text);
	if (d->tier || d->cost_percent >= 0) {
		text = cost_text(d, f);
		gus_screen_fold(s, out, "", "", text);
		free(text);
	}
	text = *d->command ? gus_format("What would change most: %s", d->command) :
		gus_strdup("No setting of this machine would change that.");
	gus_screen_fold(s, out, "", "", text);
	free(text);
}

void gus_doctor_text(FILE *out, const struct gus_screen *s, const struct gus_diagnosis *d, const struct gus_facts *f)
{
	print_verdict(out, s, d, f);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
		putc('\n', out);
		gus_screen_colour(s, out, GUS_COLOUR_HEAD);
		gus_text_print(out, "%s", titles[i].title);
		gus_screen_colour(s, out, GUS_COLOUR_NONE);
		putc('\n', out);
		for (size_t k = 0; k < d->findings.n; k++)
			if (strcmp(d->findings.v[k].group, titles[i].group) == 0)
				print_finding(out, s, &d->findings.v[k]);
	}
	fputs("\n+ works   ! works, with limits   - does not   . for information\n", out);
}
