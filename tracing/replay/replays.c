/* SPDX-License-Identifier: MIT */
#include "tracing/replay/replays.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/helper.h"
#include "collector/snapshot/snapshot.h"
#include "proto/snapshot.h"

enum { CHOICES = 4 };                   /* of threads, for one snapshot */

struct gus_replays {
	struct gus_replay_wish replay;
	struct gus_reader *reader;      /* NULL: of a process */
	struct gus_replays_wish wish;
	struct gus_turns turns;
	unsigned n;
	bool over;
	double next_at;                 /* of a process: when the next snapshot may be taken */
	/* The present one. */
	struct gus_snapshot snapshot;
	bool have_snapshot;
	int trace;                      /* a file without a name, which is used again */
	char *path;                     /* of that, as long as we live */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double when)
{
	double left = when - now();

	if (left > 0)
		nanosleep(&(struct timespec){ (time_t)left, (long)((left - (double)(time_t)left) * 1e9) }, NULL);
}

static struct gus_replays *open_replays(const struct gus_replay_wish *replay, struct gus_error *err)
{
	struct gus_replays *r;
	int trace = gus_scratch_open("trace", err);

	if (trace < 0)
		return NULL;
	r = gus_zalloc(sizeof(*r));
	r->replay = *replay;
	r->trace = trace;
	r->path = gus_format("/proc/self/fd/%d", trace);
	return r;
}

struct gus_replays *gus_replays_of_process(const struct gus_replays_wish *wish, const struct gus_replay_wish *replay,
					   struct gus_error *err)
{
	struct gus_replays *r = open_replays(replay, err);

	if (r)
		r->wish = *wish;
	return r;
}

struct gus_replays *gus_replays_of_recording(struct gus_reader *reader, const struct gus_replay_wish *replay,
					     struct gus_error *err)
{
	struct gus_replays *r = open_replays(replay, err);

	if (r)
		r->reader = reader;
	return r;
}

/* Of the running kernel; "" if it does not say. */
static void read_boot_id(char *text, size_t size)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	*text = '\0';
	if (f && fgets(text, (int)size, f))
		text[strcspn(text, "\n")] = '\0';
	if (f)
		fclose(f);
}

bool gus_replays_is_own(const struct gus_reader *reader)
{
	const Gusprof__Header *header = gus_reader_header(reader);
	const char *said = header->host ? header->host->boot_id : "";
	char boot[64];
	uid_t owner;

	read_boot_id(boot, sizeof(boot));
	return *boot && strcmp(boot, said) == 0 && gus_reader_owner(reader, &owner) && owner == geteuid();
}

/* The last window is not asked for any more. */
static void forget_window(struct gus_replays *r)
{
	if (r->have_snapshot)
		gus_snapshot_free(&r->snapshot);
	r->have_snapshot = false;
}

void gus_replays_close(struct gus_replays *r)
{
	if (!r)
		return;
	forget_window(r);
	close(r->trace);
	gus_turns_free(&r->turns);
	free(r->path);
	free(r);
}

/* A thread that runs when it is chosen may begin to wait, or end; then it is another one's turn. Whether the process
 * has ended is said by the turns. */
static int take_next_thread(struct gus_replays *r, struct gus_error *err)
{
	struct gus_snapshot_wish wish = { .pid = r->wish.pid, .max_bytes = r->wish.max_bytes,
		.patience_ms = GUS_SNAPSHOT_PATIENCE_MS / CHOICES };

	for (int i = 0; i < CHOICES; i++) {
		memset(err, 0, sizeof(*err));
		if (gus_turns_next(&r->turns, wish.pid, GUS_SNAPSHOT_PATIENCE_MS, &wish.tid, err) != 0)
			return -1;
		if (gus_snapshot_take(&wish, &r->snapshot, err) == 0)
			return 0;
		if (err->code != GUS_E_UNSUPPORTED && err->code != GUS_E_NOT_FOUND)
			return -1;
	}
	err->code = GUS_E_UNSUPPORTED;
	return -1;
}

/* 1: there is a snapshot; 0: window->err says why not. */
static int take_of_process(struct gus_replays *r, struct gus_error *why)
{
	struct gus_snapshot_wish wish = { .pid = r->wish.pid, .tid = r->wish.tid, .max_bytes = r->wish.max_bytes };

	if (r->n)
		sleep_until(r->next_at);
	r->next_at = now() + r->wish.spread_ms / 1e3;
	return (r->wish.tid ? gus_snapshot_take(&wish, &r->snapshot, why) : take_next_thread(r, why)) == 0;
}

static struct gus_replay_wish wish_of(const struct gus_replays *r)
{
	struct gus_replay_wish wish = r->replay;
	uint64_t recorded = r->reader ? r->snapshot.about->window : 0;

	if (recorded) {
		wish.window = recorded;
		wish.native_window = recorded < GUS_REPLAY_STEPPED_MOST ? recorded : GUS_REPLAY_STEPPED_MOST;
	}
	return wish;
}

int gus_replays_next(struct gus_replays *r, struct gus_replays_window *window, struct gus_error *err)
{
	struct gus_replay_wish wish;

	forget_window(r);
	*window = (struct gus_replays_window){ .number = r->n };
	if (r->over || (!r->reader && r->n == r->wish.count))
		return 0;
	if (r->reader) {
		int more = gus_snapshot_read(r->reader, &r->snapshot, err);

		if (more <= 0)
			return more;
		r->have_snapshot = true;
	} else {
		r->have_snapshot = take_of_process(r, &window->err) == 1;
	}
	if (r->have_snapshot) {
		window->about = r->snapshot.about;
		wish = wish_of(r);
		if (gus_replay_snapshot(&r->snapshot, &wish, r->trace, &window->done, &window->err) == 0)
			window->path = r->path;
	}
	/* It is gone, not ours or too large: that will not change. */
	r->over = !r->reader && (window->err.code == GUS_E_NOT_FOUND || window->err.code == GUS_E_PERMISSION ||
				 window->err.code == GUS_E_FULL);
	r->n++;
	window->last = r->over || (!r->reader && r->n == r->wish.count);
	return 1;
}
