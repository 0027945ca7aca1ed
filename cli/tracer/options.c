/* SPDX-License-Identifier: MIT */
#include "cli/tracer/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE (64u << 20)    /* of a file, unless another one is asked for */

static int parse_number(const char *text, int base, char end, uint64_t *value, const char **behind)
{
	char *stop;

	errno = 0;
	*value = strtoull(text, &stop, base);
	*behind = stop + 1;
	return stop == text || *stop != end || errno || strchr("+- \t", *text) ? -1 : 0;
}

static int parse_range(struct gus_tracer_options *o, const char *text, struct gus_error *err)
{
	uint64_t start, end;
	const char *at;

	if (parse_number(text, 16, '-', &start, &at) != 0 || parse_number(at, 16, '\0', &end, &at) != 0 || start >= end)
		return gus_fail(err, GUS_E_USAGE, "range takes two addresses in hexadecimal, the second larger, such as 401000-402000, "
				"not '%s'", text);
	gus_vec_push(&o->starts, start);
	gus_vec_push(&o->ends, end);
	return 0;
}

static int parse_fd(struct gus_tracer_options *o, const char *text, struct gus_error *err)
{
	const char *end;
	uint64_t fd;

	if (parse_number(text, 10, '\0', &fd, &end) != 0 || fd > INT_MAX)
		return gus_fail(err, GUS_E_USAGE, "fd takes the number of an open file, not '%s'", text);
	o->fd = (int)fd;
	return 0;
}

static int parse_switch(const char *word, int length, bool *value, struct gus_error *err)
{
	*value = strcmp(word + length, "=on") == 0;
	if (!*value && strcmp(word + length, "=off") != 0)
		return gus_fail(err, GUS_E_USAGE, "%.*s takes on or off, not '%s'", length, word, word + length + 1);
	return 0;
}

static int parse_word(struct gus_tracer_options *o, const char *word, struct gus_error *err)
{
	const struct { const char *name; uint64_t *value; } numbers[] = {
		{ "start=", &o->windows.start }, { "length=", &o->windows.length }, { "every=", &o->windows.every },
		{ "max=", &o->max_size },
	};
	const char *end;

	if (strncmp(word, "out=", 4) == 0) {
		o->out = word + 4;
		return 0;
	}
	if (strncmp(word, "fd=", 3) == 0)
		return parse_fd(o, word + 3, err);
	if (strncmp(word, "plain=", 6) == 0)
		return parse_switch(word, 5, &o->plain, err);
	if (strncmp(word, "replay=", 7) == 0)
		return parse_switch(word, 6, &o->replay, err);
	if (strncmp(word, "range=", 6) == 0)
		return parse_range(o, word + 6, err);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		size_t length = strlen(numbers[i].name);

		if (strncmp(word, numbers[i].name, length) != 0)
			continue;
		if (parse_number(word + length, 10, '\0', numbers[i].value, &end) != 0)
			return gus_fail(err, GUS_E_USAGE, "%.*s takes a number, not '%s'", (int)length - 1, word, word + length);
		return 0;
	}
	return gus_fail(err, GUS_E_USAGE, "there is no option '%s'; there are out=FILE, fd=N, plain=on|off, range=START-END, start=N, "
			"length=N, every=N, max=BYTES and replay=on|off", word);
}

int gus_tracer_options_parse(struct gus_tracer_options *o, int n, char *const *words, struct gus_error *err)
{
	const struct gus_windows *w = &o->windows;

	*o = (struct gus_tracer_options){ .fd = -1, .max_size = UINT64_MAX };
	for (int i = 0; i < n; i++)
		if (parse_word(o, words[i], err) != 0)
			return -1;
	if ((!o->out || !*o->out) && o->fd < 0)
		return gus_fail(err, GUS_E_USAGE, "out=FILE or fd=N is missing: where the trace is to go");
	if (o->out && o->fd >= 0)
		return gus_fail(err, GUS_E_USAGE, "out takes no fd beside it: a trace goes to one place");
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
