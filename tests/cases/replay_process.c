/* SPDX-License-Identifier: MIT */
/* Takes snapshots of a process and replays them:
 *
 *	replay-process [auto|qemu|native|both] PID[/TID] COUNT SPREAD_MS WINDOW PREFIX
 *
 *	replay-process FILE PREFIX
 *
 * takes the snapshots that are in a recording instead, each with its own window. Traces are copied to PREFIX.N. It says
 * of each what it cost and where it ended:
 *
 *	N tid T pause_us U bytes B stopped K tries K how qemu|native instructions I accesses A ended syscall 1 clashes C
 *	seconds S
 *
 * With `both` each is replayed in either way, to PREFIX.N.qemu and PREFIX.N.native. A failure is a line "N failed CODE
 * SENTENCE". Exit status 1 if there was no trace at all. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/snapshot/snapshot.h"
#include "proto/snapshot.h"
#include "tracing/emulator/emulate.h"
#include "tracing/emulator/find.h"
#include "tracing/replay/replays.h"

static const char *const ways[] = { [GUS_REPLAY_AUTO] = "auto", [GUS_REPLAY_QEMU] = "qemu",
	[GUS_REPLAY_NATIVE] = "native" };

static void print(unsigned number, const Gusprof__Snapshot *a, const struct gus_replayed *d,
		  const struct gus_error *err)
{
	if (err->code != GUS_OK) {
		printf("%u failed %d %s\n", number, (int)err->code, err->text);
		return;
	}
	printf("%u tid %u pause_us %llu bytes %llu stopped %u tries %u how %s instructions %llu accesses %llu ended %s "
	       "%llu clashes %u seconds "
	       "%.3f%s%s\n", number, a->tid, (unsigned long long)a->pause_ns / 1000, (unsigned long long)a->bytes,
		       a->stopped, a->tries,
	       ways[d->how], (unsigned long long)d->instructions, (unsigned long long)d->accesses, d->ended_by,
	       (unsigned long long)d->ended_number, d->clashes, d->seconds, *d->why ? " why " : "", d->why);
	fflush(stdout);
}

struct job {
	struct gus_replays_wish wish;
	struct gus_replay_wish replay;
	const char *prefix;
};

/* Of a trace, which is good for as long as its window. */
static void copy(const char *from, const char *prefix, unsigned number)
{
	FILE *f = fopen(from, "rbe");
	char *path = gus_format("%s.%u", prefix, number), bytes[65536];
	FILE *to = f ? fopen(path, "wbe") : NULL;
	size_t n;

	while (to && (n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		fwrite(bytes, 1, n, to);
	if (!to || fclose(to) != 0)
		perror(path);
	if (f)
		fclose(f);
	free(path);
}

/* One after the other. How many traces there are; -1 if a recording cannot be read. */
static int replay_all(struct gus_replays *replays, const char *prefix, struct gus_error *err)
{
	struct gus_replays_window w;
	int more = -1, good = 0;

	while (replays && (more = gus_replays_next(replays, &w, err)) > 0) {
		good += w.path != NULL;
		if (w.path)
			copy(w.path, prefix, w.number);
		print(w.number, w.about, &w.done, &w.err);
	}
	gus_replays_close(replays);
	return more < 0 ? -1 : good;
}

/* Each snapshot both ways. How many traces there are. */
static int replay_both(const struct job *p)
{
	struct gus_snapshot_wish wish = { .pid = p->wish.pid, .tid = p->wish.tid ? p->wish.tid : p->wish.pid };
	struct gus_snapshot s;
	struct gus_error err = { 0 };
	int good = 0;

	for (unsigned i = 0; i < p->wish.count; i++) {
		char *to[] = { gus_format("%s.%u.qemu", p->prefix, i), gus_format("%s.%u.native", p->prefix, i) };

		err = (struct gus_error){ 0 };
		if (gus_snapshot_take(&wish, &s, &err) != 0) {
			print(i, NULL, NULL, &err);
			continue;
		}
		for (int k = 0; k < 2; k++) {
			int out = open(to[k], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
			struct gus_replayed d = { 0 };

			err = (struct gus_error){ 0 };
			good += (k ? gus_replay_by_steps : gus_replay_under_qemu)(&s, &p->replay, out, &d, &err) == 0;
			close(out);
			print(i, s.about, &d, &err);
			free(to[k]);
		}
		gus_snapshot_free(&s);
	}
	return good;
}

static int replay_recorded(struct job *p, const char *file)
{
	struct gus_error err = { 0 };
	struct gus_reader *r = gus_reader_open(file, &err);
	int good = r ? replay_all(gus_replays_of_recording(r, &p->replay, &err), p->prefix, &err) : -1;

	gus_reader_close(r);
	if (good < 0)
		fprintf(stderr, "replay-process: %s\n", err.text);
	return good;
}

/* auto|qemu|native|both PID[/TID] COUNT SPREAD_MS WINDOW PREFIX */
static int replay_living(struct job *p, char **words)
{
	struct gus_error err = { 0 };
	char *slash;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i], words[0]) == 0)
			p->replay.how = (enum gus_replay_how)i;
	p->wish.pid = (pid_t)strtol(words[1], &slash, 10);
	p->wish.tid = *slash ? (pid_t)strtol(slash + 1, NULL, 10) : 0;
	p->wish.count = (unsigned)strtoul(words[2], NULL, 10);
	p->wish.spread_ms = (unsigned)strtoul(words[3], NULL, 10);
	p->replay.window = strtoull(words[4], NULL, 10);
	p->prefix = words[5];
	return strcmp(words[0], "both") == 0 ? replay_both(p) :
		replay_all(gus_replays_of_process(&p->wish, &p->replay, &err), p->prefix, &err);
}

int main(int argc, char **argv)
{
	const char *build = getenv("GUS_BUILDDIR");
	struct job p = { 0 };
	char *plugin, *loader;
	int traces;

	if ((argc != 7 && argc != 3) || !build) {
		fprintf(stderr, "usage: GUS_BUILDDIR=DIR replay-process auto|qemu|native|both PID[/TID] COUNT "
			"SPREAD_MS WINDOW PREFIX\n"
			"       GUS_BUILDDIR=DIR replay-process FILE PREFIX\n");
		return 2;
	}
	p.replay.tools.qemu = gus_find_tool("qemu-x86_64");
	p.replay.tools.plugin = plugin = gus_format("%s/tracing/plugin/gusprof-qemu.so", build);
	p.replay.tools.loader = loader = gus_format("%s/tracing/replay/gusprof-replay", build);
	if (argc == 3) {
		p.prefix = argv[2];
		traces = replay_recorded(&p, argv[1]);
	} else {
		traces = replay_living(&p, argv + 1);
	}
	free(p.replay.tools.qemu);
	free(plugin);
	free(loader);
	return traces > 0 ? 0 : 1;
}
