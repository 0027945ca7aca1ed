/* SPDX-License-Identifier: MIT */
#include "tracing/plugin/options.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MAX_SIZE (64u << 20)    /* of a file, unless another one is asked for */

static int parse_number(const char *text, int base, char end, uint64_t *value, const char **behind)
{
	char *stop;

	errno = 0;
	*value = strtoull(text, &stop, base);
	*behind = stop + 1;
	return stop == text || *stop != end || errno || strchr("+- \t", *text) ? -1 : 0;
}

/* What a word does with its value; field is where in the options a number goes. */
struct word {
	const char *name, *value;       /* for people */
	int (*parse)(struct gus_tracer_options *o, const struct word *word, const char *text, struct gus_error *err);
	size_t field;
};

/* field: of a const char *. */
static int parse_text(struct gus_tracer_options *o, const struct word *word, const char *text, struct gus_error *err)
{
	(void)err;
	memcpy((char *)o + word->field, &text, sizeof(text));
	return 0;
}

/* field: of an int. */
static int parse_fd(struct gus_tracer_options *o, const struct word *word, const char *text, struct gus_error *err)
{
	const char *end;
	uint64_t fd;
	int number;

	if (parse_number(text, 10, '\0', &fd, &end) != 0 || fd > INT_MAX)
		return gus_fail(err, GUS_E_USAGE, "%s takes the number of an open file, not '%s'", word->name, text);
	number = (int)fd;
	memcpy((char *)o + word->field, &number, sizeof(number));
	return 0;
}

/* field: of a bool. */
static int parse_switch(struct gus_tracer_options *o, const struct word *word, const char *text, struct gus_error *err)
{
	bool *value = (bool *)((char *)o + word->field);

	*value = strcmp(text, "on") == 0;
	if (!*value && strcmp(text, "off") != 0)
		return gus_fail(err, GUS_E_USAGE, "%s takes on or off, not '%s'", word->name, text);
	return 0;
}

static int parse_range(struct gus_tracer_options *o, const struct word *word, const char *text, struct gus_error *err)
{
	uint64_t start, end;
	const char *at;

	if (parse_number(text, 16, '-', &start, &at) != 0 || parse_number(at, 16, '\0', &end, &at) != 0 || start >= end)
		return gus_fail(err, GUS_E_USAGE,
				"%s takes two addresses in hexadecimal, the second larger, such as 401000-402000, "
				"not '%s'", word->name, text);
	gus_vec_push(&o->starts, start);
	gus_vec_push(&o->ends, end);
	return 0;
}

static int parse_count(struct gus_tracer_options *o, const struct word *word, const char *text, struct gus_error *err)
{
	const char *end;
	uint64_t n;

	if (parse_number(text, 10, '\0', &n, &end) != 0)
		return gus_fail(err, GUS_E_USAGE, "%s takes a number, not '%s'", word->name, text);
	memcpy((char *)o + word->field, &n, sizeof(n));
	return 0;
}

/* gusprof-qemu(7) has the same. */
static const struct word words_known[] = {
	{ "out", "FILE", parse_text, offsetof(struct gus_tracer_options, out) },
	{ "fd", "N", parse_fd, offsetof(struct gus_tracer_options, fd) },
	{ "plain", "on|off", parse_switch, offsetof(struct gus_tracer_options, plain) },
	{ "quiet", "on|off", parse_switch, offsetof(struct gus_tracer_options, quiet) },
	{ "follow", "SOCKET", parse_text, offsetof(struct gus_tracer_options, follow) },
	{ "children", "on|off", parse_switch, offsetof(struct gus_tracer_options, children) },
	{ "range", "START-END", parse_range, 0 },
	{ "start", "N", parse_count, offsetof(struct gus_tracer_options, windows.start) },
	{ "length", "N", parse_count, offsetof(struct gus_tracer_options, windows.length) },
	{ "every", "N", parse_count, offsetof(struct gus_tracer_options, windows.every) },
	{ "replay", "on|off", parse_switch, offsetof(struct gus_tracer_options, replay) },
	{ "root", "N", parse_fd, offsetof(struct gus_tracer_options, root) },
	{ "max", "BYTES", parse_count, offsetof(struct gus_tracer_options, max_size) },
};

static int refuse_word(const char *word, struct gus_error *err)
{
	char all[512] = "";

	for (size_t i = 0, at = 0; i < sizeof(words_known) / sizeof(*words_known) && at < sizeof(all); i++)
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s=%s", i ? ", " : "", words_known[i].name,
				       words_known[i].value);
	return gus_fail(err, GUS_E_USAGE, "there is no option '%s'; there are %s", word, all);
}

static int parse_word(struct gus_tracer_options *o, const char *word, struct gus_error *err)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; word[length] && i < sizeof(words_known) / sizeof(*words_known); i++)
		if (strncmp(word, words_known[i].name, length) == 0 && !words_known[i].name[length])
			return words_known[i].parse(o, &words_known[i], word + length + 1, err);
	return refuse_word(word, err);
}

int gus_tracer_options_parse(struct gus_tracer_options *o, int n, char *const *words, struct gus_error *err)
{
	const struct gus_windows *w = &o->windows;

	*o = (struct gus_tracer_options){ .fd = -1, .root = -1, .max_size = UINT64_MAX };
	for (int i = 0; i < n; i++)
		if (parse_word(o, words[i], err) != 0)
			return -1;
	if ((!o->out || !*o->out) && o->fd < 0)
		return gus_fail(err, GUS_E_USAGE, "out=FILE or fd=N is missing: where the trace is to go");
	if (o->out && o->fd >= 0)
		return gus_fail(err, GUS_E_USAGE, "out takes no fd beside it: a trace goes to one place");
	if (o->children && !o->follow)
		return gus_fail(err, GUS_E_USAGE, "children=on takes follow=SOCKET, too: where their traces go");
	if (o->follow && o->fd < 0)
		return gus_fail(err, GUS_E_USAGE, "follow=%s takes fd=N beside it, where the first trace goes",
				o->follow);
	if (o->replay != (o->root >= 0))
		return gus_fail(err, GUS_E_USAGE, "replay=on and root=N, its root folder, go together");
	if (o->max_size == UINT64_MAX)
		o->max_size = o->out ? MAX_SIZE : 0;
	if (w->start > UINT64_MAX - w->length)
		return gus_fail(err, GUS_E_USAGE, "start and length are more than 2^64 instructions");
	if (w->every && (!w->length || w->every < w->length))
		return gus_fail(err, GUS_E_USAGE, "every=%llu takes a length, too, and one that is not larger",
				(unsigned long long)w->every);
	return 0;
}

void gus_tracer_options_free(struct gus_tracer_options *o)
{
	gus_vec_free(&o->starts);
	gus_vec_free(&o->ends);
}
