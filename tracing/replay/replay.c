/* SPDX-License-Identifier: MIT */
#include "tracing/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "proto/reader.h"
#include "tracing/emulator/emulate.h"
#include "tracing/replay/image.h"
#include "tracing/replay/image_format.h"

#define CANNOT_BEGIN 127
#define SECONDS 60

/* How QEMU is begun so that it does not lie where the snapshot has to. Its libraries go where the old layout of
 * programs has them, which today's do not use; what it still places by chance falls elsewhere the next time. Where
 * chance is switched off it falls on the same place each time, and all of the snapshot is moved down instead, as far as
 * its lowest address allows. */
static const struct { bool old_layout; const char *base; uint64_t lowest; } layouts[] = {
	{ true, NULL, 0 }, { true, NULL, 0 }, { false, NULL, 0 }, { true, "-0x100000000000", 0x110000000000 },
	{ true, "-0x180000000000", 0x190000000000 },
};
#define LAYOUTS (sizeof(layouts) / sizeof(*layouts))

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One run of QEMU. */

struct qemu {
	pid_t pid;
	int said;               /* what it writes to its standard error */
	char text[1024];
	size_t text_n;
	int status;
};

static void __attribute__((noreturn)) become(const struct gus_replay_wish *w, const char *out, int image, int said,
					     size_t layout)
{
	char *plugin = gus_format("%s,out=%s,length=%llu,max=%llu,replay=on", w->tools.plugin, out,
				  (unsigned long long)w->window,
				  1ull << 32);
	char path[32];
	const char *words[12] = { w->tools.qemu, "-cpu", "max", "-plugin", plugin };
	size_t n = 5;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", image);
	if (layouts[layout].base) {
		words[n++] = "-B";
		words[n++] = layouts[layout].base;
	}
	words[n++] = w->tools.loader;
	words[n++] = path;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would wait for it, or stop it in time */
	fcntl(image, F_SETFD, 0);
	dup2(said, 2);
	if (layouts[layout].old_layout)
		personality((unsigned long)personality(0xffffffff) | ADDR_COMPAT_LAYOUT);
	execvp(w->tools.qemu, (char *const *)(uintptr_t)words);
	_exit(CANNOT_BEGIN);
}

/* Until it has ended, or its time is over: then it is killed. What it says is kept as far as there is room. */
static bool follow(struct qemu *q, double until)
{
	bool in_time = true;

	for (;;) {
		struct pollfd p = { q->said, POLLIN, 0 };
		double left = until - now();
		char more[256];
		ssize_t n;

		if (in_time && left <= 0) {
			kill(q->pid, SIGKILL);
			in_time = false;
		}
		if (poll(&p, 1, in_time ? (int)(left * 1000) + 1 : -1) <= 0)
			continue;
		n = read(q->said, more, sizeof(more));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n && q->text_n + 1 < sizeof(q->text); i++)
			q->text[q->text_n++] = more[i];
	}
	while (waitpid(q->pid, &q->status, 0) < 0 && errno == EINTR)
		;
	while (q->text_n && q->text[q->text_n - 1] == '\n')
		q->text_n--;
	q->text[q->text_n] = '\0';
	return in_time;
}

/* 0 when it has ended by itself. */
static int run_qemu(struct qemu *q, const struct gus_replay_wish *w, const char *out, int image, size_t layout,
		    struct gus_error *err)
{
	unsigned seconds = w->seconds ? w->seconds : SECONDS;
	bool in_time;
	int ends[2];

	*q = (struct qemu){ 0 };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return gus_fail_errno(err, errno, "cannot make a pipe");
	q->said = ends[0];
	q->pid = fork();
	if (q->pid == 0)
		become(w, out, image, ends[1], layout);
	close(ends[1]);
	if (q->pid < 0) {
		close(ends[0]);
		return gus_fail_errno(err, errno, "cannot begin %s", w->tools.qemu);
	}
	in_time = follow(q, now() + seconds);
	close(ends[0]);
	return in_time ? 0 : gus_fail(err, GUS_E_SYSTEM, "cannot replay the snapshot: %s did not end within %u s",
				      w->tools.qemu, seconds);
}

/* What the trace says of its own end. */
static int read_total(const char *path, struct gus_replayed *done, struct gus_error *err)
{
	struct gus_reader *r = gus_reader_open(path, err);
	struct gus_frame frame;
	Gusprof__TraceTotal *total = NULL;

	if (!r)
		return -1;
	if (gus_reader_next_of(r, 1u << GUS_FRAME_TRACE_TOTAL, &frame, err) == GUS_READ_FRAME)
		total = (Gusprof__TraceTotal *)gus_frame_message(&frame, &gusprof__trace_total__descriptor, err);
	if (total) {
		done->instructions = total->instructions;
		done->accesses = total->accesses;
		done->omitted = total->omitted;
		done->ended_number = total->ended_number;
		done->ended_at = total->ended_at;
		snprintf(done->ended_by, sizeof(done->ended_by), "%s", total->ended_by);
		gusprof__trace_total__free_unpacked(total, NULL);
	}
	gus_reader_close(r);
	if (!total || !*done->ended_by)
		return gus_fail(err, GUS_E_SYSTEM, "cannot replay the snapshot: QEMU ended without having begun it");
	return 0;
}

static int explain(const struct qemu *q, const struct gus_replay_wish *w, struct gus_error *err)
{
	if (WIFEXITED(q->status) && WEXITSTATUS(q->status) == CANNOT_BEGIN)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot begin %s (package qemu-user)", w->tools.qemu);
	return gus_fail(err, GUS_E_SYSTEM, "cannot replay the snapshot: %s ended with %s %d%s%s", w->tools.qemu,
			WIFSIGNALED(q->status) ? "signal" : "status",
			WIFSIGNALED(q->status) ? WTERMSIG(q->status) : WEXITSTATUS(q->status), *q->text ? ": " : "",
				q->text);
}

static uint64_t lowest_address(const struct gus_snapshot *s)
{
	return s->about->n_mappings ? s->about->mappings[0]->start : 0;
}

/* In one layout after the other, as long as it clashes. */
static int try_layouts(const struct gus_snapshot *s, const struct gus_replay_wish *w, const char *out, int image,
		       struct gus_replayed *done, struct gus_error *err)
{
	struct qemu q = { 0 };

	for (size_t i = 0; i < LAYOUTS; i++) {
		if (lowest_address(s) < layouts[i].lowest)
			continue;
		if (run_qemu(&q, w, out, image, i, err) != 0)
			return -1;
		if (!WIFEXITED(q.status) || WEXITSTATUS(q.status) != GUS_REPLAY_CLASH)
			return WIFEXITED(q.status) && WEXITSTATUS(q.status) == 0 ? read_total(out, done, err) :
				explain(&q, w, err);
		done->clashes++;
	}
	return gus_fail(err, GUS_E_UNSUPPORTED,
			"cannot replay the snapshot under QEMU: each of %u times QEMU itself lay where the process has "
		"its "
			"memory (%s)", done->clashes, q.text);
}

int gus_replay_under_qemu(const struct gus_snapshot *s, const struct gus_replay_wish *w, const char *out,
			  struct gus_replayed *done, struct gus_error *err)
{
	double begun = now();
	int image, rc;

	*done = (struct gus_replayed){ .how = GUS_REPLAY_QEMU };
	if (!w->tools.qemu || !w->tools.plugin || !w->tools.loader)
		return gus_fail(err, GUS_E_NOT_FOUND,
				"cannot replay the snapshot under QEMU: qemu-x86_64 (package qemu-user), its plugin or "
				"gusprof-replay is missing");
	image = gus_replay_image(s, err);
	if (image < 0)
		return -1;
	rc = try_layouts(s, w, out, image, done, err);
	close(image);
	if (rc != 0)
		unlink(out);
	done->seconds = now() - begun;
	return rc;
}

/* Either. */

void gus_replay_tools_find(struct gus_replay_tools *tools, const char *emulator)
{
	*tools = (struct gus_replay_tools){ gus_find_command(emulator ? emulator : "qemu-x86_64"),
		gus_find_part("gusprof-qemu.so"),
		gus_find_part("gusprof-replay") };
}

void gus_replay_tools_free(struct gus_replay_tools *tools)
{
	free(tools->qemu);
	free(tools->plugin);
	free(tools->loader);
}

int gus_replay_snapshot(const struct gus_snapshot *s, const struct gus_replay_wish *w, const char *out,
			struct gus_replayed *done, struct gus_error *err)
{
	struct gus_error why = { 0 };
	char text[sizeof(done->why)] = "";
	unsigned clashes;
	int rc;

	if (w->how == GUS_REPLAY_NATIVE)
		return gus_replay_by_steps(s, w, out, done, err);
	if (w->how == GUS_REPLAY_QEMU)
		return gus_replay_under_qemu(s, w, out, done, err);
	rc = gus_replay_under_qemu(s, w, out, done, &why);
	if (rc == 0 && (strcmp(done->ended_by, "signal") != 0 || done->ended_number != SIGILL))
		return 0;
	if (rc == 0)
		snprintf(text, sizeof(text), "QEMU cannot execute the instruction at %#llx, after %llu others",
			 (unsigned long long)done->ended_at, (unsigned long long)done->instructions);
	else
		snprintf(text, sizeof(text), "%.159s", why.text);
	clashes = done->clashes;
	rc = gus_replay_by_steps(s, w, out, done, err);
	done->clashes = clashes;
	memcpy(done->why, text, sizeof(text));
	return rc;
}
