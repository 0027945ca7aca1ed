/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static int read_more(struct gus_perfdata_window *w, size_t wanted, struct gus_error *err)
{
	gus_vec_reserve(&w->bytes, w->bytes.n + (wanted > GUS_PERFDATA_WINDOW ? wanted : GUS_PERFDATA_WINDOW));
	while (!w->over && wanted) {
		uint64_t offset = w->at + w->bytes.n;
		ssize_t n = pread(w->fd, w->bytes.v + w->bytes.n, w->bytes.room - w->bytes.n, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gus_fail_errno(err, errno, "cannot read %s at offset %llu", w->name,
					      (unsigned long long)offset);
		w->over = n == 0;
		w->bytes.n += (size_t)n;
		wanted -= (size_t)n < wanted ? (size_t)n : wanted;
	}
	return 0;
}

/* What is behind offset in the window stays there; it is moved to the front when half of the window has been passed. */
static void move_to(struct gus_perfdata_window *w, uint64_t offset)
{
	uint64_t passed = offset - w->at;

	if (offset >= w->at && passed < w->bytes.n) {
		if (passed < GUS_PERFDATA_WINDOW / 2)
			return;
		w->bytes.n -= (size_t)passed;
		memmove(w->bytes.v, w->bytes.v + passed, w->bytes.n);
	} else {
		w->bytes.n = 0;
		w->over = false;
	}
	w->at = offset;
}

int64_t gus_perfdata_window_look(struct gus_perfdata_window *w, uint64_t offset, size_t size, const uint8_t **bytes,
				 struct gus_error *err)
{
	uint64_t have;

	move_to(w, offset);
	have = w->at + w->bytes.n - offset;
	if (have < size && read_more(w, size - (size_t)have, err) != 0)
		return -1;
	have = w->at + w->bytes.n - offset;
	*bytes = have ? w->bytes.v + (offset - w->at) : NULL;
	return (int64_t)(have < size ? have : size);
}

void gus_perfdata_window_turn(struct gus_perfdata_window *w, int fd)
{
	w->fd = fd;
	w->at = w->bytes.n = 0;
	w->over = false;
}

void gus_perfdata_window_free(struct gus_perfdata_window *w)
{
	gus_vec_free(&w->bytes);
}
