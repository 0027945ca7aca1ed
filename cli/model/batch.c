/* SPDX-License-Identifier: MIT */
#include "cli/model/batch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/hex.h"
#include "model/code/program.h"

enum { CHUNK = 16, JOBS_MAX = 256 };

struct work {
	const struct gus_modelled_settings *settings;
	struct gus_model_line *lines;
	size_t n;
	atomic_size_t next;
};

/* A line that cannot be modelled stays what it was at the start: bad. */
static void run_line(const struct gus_modelled_settings *s, struct gus_model_line *line)
{
	size_t n;
	uint8_t *bytes = gus_hex_parse(line->hex, (size_t)line->hex_size, &n);
	struct gus_program *p = bytes ? gus_program_new(s->uarch, bytes, n, 0, 0, NULL) : NULL;

	if (p && gus_modelled_cycles(p, s, &line->cycles, NULL) == 0) {
		line->good = true;
		line->instructions = p->insns_n;
		line->unknown = p->unknown;
	}
	gus_program_free(p);
	free(bytes);
}

/* Lines are handed out in small lots, whoever has time; each has a place of its own, so that their order does not
 * matter. */
static void *run_lines(void *argument)
{
	struct work *w = argument;
	size_t first;

	while ((first = atomic_fetch_add(&w->next, CHUNK)) < w->n)
		for (size_t i = first; i < first + CHUNK && i < w->n; i++)
			run_line(w->settings, &w->lines[i]);
	return NULL;
}

static bool is_hex(const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && strchr("0123456789abcdefABCDEFxX", text[i]) && text[i])
		i++;
	return i == size;
}

static void find_lines(struct gus_model_batch *b, const char *text, size_t size)
{
	struct gus_vec(struct gus_model_line) lines = { 0 };
	const char *end = text + size;
	bool first = true;

	for (const char *at = text; at < end;) {
		const char *behind = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((behind ? behind : end) - at), field = 0;

		while (field < length && at[field] != ',' && at[field] != '\r')
			field++;
		if (field > INT32_MAX)
			field = INT32_MAX;
		/* An empty field before a comma is a bad line, too; an empty line is nothing. */
		if (field ? !first || is_hex(at, field) : length > field && at[field] == ',')
			gus_vec_push(&lines, (struct gus_model_line){ .hex = at, .hex_size = (int)field });
		first &= length == 0;
		at += length + 1;
	}
	b->lines = lines.v;
	b->n = lines.n;
}

void gus_model_batch_run(struct gus_model_batch *b, const struct gus_modelled_settings *s, const char *text,
			 size_t size, unsigned jobs)
{
	struct work w = { .settings = s };
	struct gus_model_line *lines;
	pthread_t threads[JOBS_MAX];
	unsigned started = 0;

	find_lines(b, text, size);
	lines = (struct gus_model_line *)b->lines;
	w.lines = lines;
	w.n = b->n;
	/* A thread that cannot be had is done without. */
	while (started + 1 < jobs && started < JOBS_MAX && started * CHUNK < b->n &&
	       pthread_create(&threads[started], NULL, run_lines, &w) == 0)
		started++;
	run_lines(&w);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < b->n; i++) {
		b->bad += !lines[i].good;
		b->instructions += lines[i].instructions;
		b->unknown += lines[i].unknown;
	}
}
