/* SPDX-License-Identifier: MIT */
#include "model/analysis/batch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "model/analysis/modelled.h"
#include "model/code/program.h"

enum { CHUNK = 16, JOBS_MAX = 256 };

struct work {
	const struct gus_modelled_settings *settings;
	struct gus_batch_line *lines;
	size_t n;
	atomic_size_t next;
};

static int run_bytes(const struct gus_modelled_settings *s, struct gus_batch_line *line, const uint8_t *bytes, size_t n,
		     struct gus_error *err)
{
	struct gus_program *p = gus_program_new(s->uarch, bytes, n, s->at, GUS_PROGRAM_BLOCK, err);
	int rc = p ? gus_modelled_cycles(p, s, &line->cycles, err) : -1;

	if (rc == 0)
		line->verdict = gus_modelled_judge(p, s, line->cycles);
	/* A mean below a bound was taken too soon, while what waits was still growing a little. */
	if (rc == 0 && line->verdict.broken != GUS_BOUNDS && s->options.settled > 0) {
		struct gus_modelled_settings whole = *s;

		whole.options.settled = 0;
		rc = gus_modelled_cycles(p, &whole, &line->cycles, err);
		line->verdict = gus_modelled_judge(p, s, line->cycles);
	}
	if (rc == 0) {
		line->instructions = p->insns_n;
		line->unknown = p->unknown;
	}
	gus_program_free(p);
	return rc;
}

static int run_hex(const struct gus_modelled_settings *s, struct gus_batch_line *line, struct gus_error *err)
{
	uint8_t *bytes;
	size_t n;
	int rc;

	if (line->hex_size > GUS_BATCH_FIELD)
		return gus_fail(err, GUS_E_FULL, "the block has %u characters, and at most %d are read", line->hex_size,
				GUS_BATCH_FIELD);
	bytes = gus_hex_parse(line->hex, line->hex_size, &n);
	if (!bytes)
		return gus_fail(err, GUS_E_USAGE, "the block is not bytes as pairs of hexadecimal digits");
	rc = run_bytes(s, line, bytes, n, err);
	free(bytes);
	return rc;
}

static void run_line(const struct gus_modelled_settings *s, struct gus_batch_line *line)
{
	struct gus_error err = { 0 };

	if (run_hex(s, line, &err) == 0)
		return;
	line->cycles = 0;
	line->why = gus_strdup(err.text);
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

/* Of the characters that gus_hex_parse takes: a word for a header has others. */
static bool is_hex(const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && text[i] && strchr("0123456789abcdefABCDEFxX\\ ", text[i]))
		i++;
	return i == size;
}

static int find_lines(struct gus_batch *b, const char *text, size_t size, struct gus_error *err)
{
	struct gus_vec(struct gus_batch_line) lines = { 0 };
	const char *end = text + size;
	bool first = true;

	for (const char *at = text; at < end && lines.n <= GUS_BATCH_LINES;) {
		const char *behind = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((behind ? behind : end) - at), field = 0;

		while (field < length && at[field] != ',' && at[field] != '\r')
			field++;
		if (field > UINT32_MAX)
			field = UINT32_MAX;
		/* An empty field before a comma is a bad line, too; an empty line is nothing. */
		if (field ? !first || is_hex(at, field) : length > field && at[field] == ',')
			gus_vec_push(&lines, (struct gus_batch_line){ .hex = at, .hex_size = (uint32_t)field });
		first &= length == 0;
		at = behind ? behind + 1 : end;
	}
	if (lines.n > GUS_BATCH_LINES) {
		gus_vec_free(&lines);
		return gus_fail(err, GUS_E_FULL, "cannot model the batch: it has more than %d lines; cut it in pieces",
				GUS_BATCH_LINES);
	}
	b->lines = lines.v;
	b->n = lines.n;
	return 0;
}

int gus_batch_run(struct gus_batch *b, const struct gus_modelled_settings *s, const char *text, size_t size,
		  unsigned jobs, struct gus_error *err)
{
	struct work w = { .settings = s };
	pthread_t threads[JOBS_MAX];
	unsigned started = 0;

	*b = (struct gus_batch){ 0 };
	if (find_lines(b, text, size, err) != 0)
		return -1;
	w.lines = b->lines;
	w.n = b->n;
	/* A thread that cannot be had is done without. */
	while (started + 1 < jobs && started < JOBS_MAX && started * CHUNK < b->n &&
	       pthread_create(&threads[started], NULL, run_lines, &w) == 0)
		started++;
	run_lines(&w);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < b->n; i++) {
		b->bad += b->lines[i].why != NULL;
		b->broken += !b->lines[i].why && b->lines[i].verdict.broken != GUS_BOUNDS;
		b->instructions += b->lines[i].instructions;
		b->unknown += b->lines[i].unknown;
	}
	return 0;
}

void gus_batch_free(struct gus_batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->lines[i].why);
	free(b->lines);
	*b = (struct gus_batch){ 0 };
}

double gus_batch_coverage(const struct gus_batch_line *line)
{
	return line->instructions ? (double)(line->instructions - line->unknown) / line->instructions : 0;
}
