/* SPDX-License-Identifier: MIT */
/* Fuzz target of gusprof export: whatever a recording says, what is written of it is a perf.data that our own reader
 * takes, with as many samples as were written. The input is sealed as fuzz_recording's is; a bit of its first byte
 * chooses the form for pipes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attribution/profile/frames.h"
#include "base/alloc.h"
#include "base/error.h"
#include "cli/export/contents.h"
#include "cli/export/file.h"
#include "collector/perfdata/import.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "tests/fuzz/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct count {
	struct gus_columns rows;
	uint64_t samples;
};

static void count(void *context, const struct gus_frame *frame)
{
	struct count *c = context;

	if (gus_frame_rows(frame, &c->rows, NULL) != 0)
		abort();
	c->samples += c->rows.n;
}

/* Of a group's counts several samples are made. */
static bool has_counts(const struct gus_contents *contents)
{
	const uint64_t read = 1u << 4; /* PERF_SAMPLE_READ */

	for (size_t i = 0; i < contents->layouts.n; i++)
		if (contents->layouts.v[i].sample_type & read)
			return true;
	return false;
}

static void read_again(int fd, uint64_t samples, bool counts)
{
	struct gus_error err = { 0 };
	struct gus_reader *r = gus_perfdata_reader(fd, "exported", &err);
	struct count c = { .samples = 0 };

	if (!r || gus_frames_each(r, 1u << GUS_FRAME_SAMPLES, count, &c, NULL) != 0)
		abort();
	if ((c.samples != samples && !counts) || gus_reader_damage(r)->corrupt || gus_reader_damage(r)->cut)
		abort();
	gus_columns_free(&c.rows);
	gus_reader_close(r);
}

static void export_it(struct gus_reader *r, bool pipe)
{
	struct gus_export_result result;
	struct gus_error err = { 0 };
	struct gus_contents contents;
	int fd = memfd_create("exported", MFD_CLOEXEC);

	if (fd < 0 || gus_contents_make(&contents, r, &err) != 0 ||
	    gus_export_write(fd, pipe, r, &contents, "exported", &result, &err) != 0)
		abort();
	lseek(fd, 0, SEEK_SET);
	read_again(fd, result.samples, has_counts(&contents));
	gus_contents_free(&contents);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t leave = size ? data[0] : 0;
	uint8_t *copy = gus_alloc(size);
	struct gus_reader *r;

	size -= size > 0;
	if (size)
		memcpy(copy, data + 1, size);
	seal(copy, size, leave & 7);
	r = gus_reader_open_memory(copy, size, NULL);
	if (r && gus_reader_header(r)->n_events)
		export_it(r, leave & 64);
	gus_reader_close(r);
	free(copy);
	return 0;
}
