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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/helper.h"
#include "proto/reader.h"
#include "tracing/confine/confine.h"
#include "tracing/emulator/emulate.h"
#include "tracing/emulator/find.h"
#include "tracing/replay/image.h"
#include "tracing/replay/image_format.h"

/* For programs of this machine. */
#if defined(__aarch64__)
#define QEMU "qemu-aarch64"
#define CAN_STEP false
#else
#define QEMU "qemu-x86_64"
#define CAN_STEP true
#endif
#define CANNOT_BEGIN 127
#define SECONDS 60
#define QEMU_MEMORY (4ull << 30)        /* its own, translated code and all */

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

/* What runs of QEMU have in common. All of it is open before the first one: the child finds nothing by a name. */
struct run {
	const struct gus_replay_wish *wish;
	struct gus_replay_image_files files;
	int qemu, plugin, loader;
	int out;                /* the trace, borrowed */
	int root;               /* an empty folder */
};

static int open_tool(const char *path, struct gus_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		gus_fail_errno(err, errno, "cannot replay the snapshot: cannot open %s", path);
	return fd;
}

static int open_run(struct run *r, const struct gus_snapshot *s, struct gus_error *err)
{
	const struct gus_replay_tools *tools = &r->wish->tools;

	r->qemu = open_tool(tools->qemu, err);
	r->plugin = r->qemu < 0 ? -1 : open_tool(tools->plugin, err);
	r->loader = r->plugin < 0 ? -1 : open_tool(tools->loader, err);
	r->root = r->loader < 0 ? -1 : gus_confine_folder(err);
	return r->root < 0 ? -1 : gus_replay_image_make(s, false, r->wish->rights, &r->files, err);
}

static void close_run(struct run *r)
{
	const int fds[] = { r->qemu, r->plugin, r->loader, r->root };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	gus_replay_image_close(&r->files);
}

/* One run of QEMU. */

struct qemu {
	pid_t pid;
	int said;               /* what it writes to its standard error */
	char text[1024];
	size_t text_n;
	int status;
};

static unsigned seconds_of(const struct gus_replay_wish *w)
{
	return w->seconds ? w->seconds : SECONDS;
}

/* -1 with errno. Without our environment: nothing in it is for what is replayed. */
static int confine(const struct run *r, pid_t parent)
{
	struct gus_vec(int) keep = { 0 };
	const int tools[] = { r->qemu, r->plugin, r->loader, r->out, r->root };

	gus_vec_append(&keep, tools, sizeof(tools) / sizeof(*tools));
	gus_vec_append(&keep, r->files.fds.v, r->files.fds.n);
	return gus_confine(&(struct gus_confinement){ .parent = parent, .keep = keep.v, .keep_n = keep.n,
		.root = r->root, .memory = QEMU_MEMORY + r->files.memory, .file = GUS_REPLAY_TRACE_MAX,
		.seconds = seconds_of(r->wish) });
}

/* To whom reads what QEMU says. */
static void __attribute__((noreturn)) give_up(int sys)
{
	const char *text = strerror(sys);

	(void)!write(STDERR_FILENO, text, strlen(text));
	_exit(CANNOT_BEGIN);
}

static void __attribute__((noreturn)) become(const struct run *r, int said, size_t layout, pid_t parent)
{
	char *plugin = gus_format("/proc/self/fd/%d,fd=%d,length=%llu,max=%llu,replay=on,root=%d", r->plugin, r->out,
				  (unsigned long long)r->wish->window, (unsigned long long)GUS_REPLAY_TRACE_MAX / 2,
				  r->root);
	char *loader = gus_format("/proc/self/fd/%d", r->loader), *image = gus_format("%d", r->files.image);
	const char *words[12] = { QEMU, "-cpu", "max", "-plugin", plugin }, *const nothing[] = { NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t n = 5;

	if (layouts[layout].base) {
		words[n++] = "-B";
		words[n++] = layouts[layout].base;
	}
	words[n++] = loader;
	words[n++] = image;
	dup2(null, 0);
	dup2(null, 1);
	dup2(said, 2);
	if (layouts[layout].old_layout)
		personality((unsigned long)personality(0xffffffff) | ADDR_COMPAT_LAYOUT);
	if (null >= 0 && confine(r, parent) == 0)
		syscall(SYS_execveat, r->qemu, "", words, nothing, AT_EMPTY_PATH);
	give_up(errno);
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
static int run_qemu(struct qemu *q, const struct run *r, size_t layout, struct gus_error *err)
{
	unsigned seconds = seconds_of(r->wish);
	pid_t parent = getpid();
	bool in_time;
	int ends[2];

	*q = (struct qemu){ 0 };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return gus_fail_errno(err, errno, "cannot make a pipe");
	q->said = ends[0];
	q->pid = gus_helper_fork();
	if (q->pid == 0)
		become(r, ends[1], layout, parent);
	close(ends[1]);
	if (q->pid < 0) {
		close(ends[0]);
		return gus_fail_errno(err, errno, "cannot begin %s", r->wish->tools.qemu);
	}
	in_time = follow(q, now() + seconds);
	close(ends[0]);
	return in_time ? 0 : gus_fail(err, GUS_E_SYSTEM, "cannot replay the snapshot: %s did not end within %u s",
				      r->wish->tools.qemu, seconds);
}

/* What the trace says of its own end. */
static int read_total(int out, struct gus_replayed *done, struct gus_error *err)
{
	char *path = gus_format("/proc/self/fd/%d", out);
	struct gus_reader *r = gus_reader_open(path, err);
	struct gus_frame frame;
	Gusprof__TraceTotal *total = NULL;

	free(path);
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
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot begin %s (package qemu-user)%s%s", w->tools.qemu,
				*q->text ? ": " : "", q->text);
	return gus_fail(err, GUS_E_SYSTEM, "cannot replay the snapshot: %s ended with %s %d%s%s", w->tools.qemu,
			WIFSIGNALED(q->status) ? "signal" : "status",
			WIFSIGNALED(q->status) ? WTERMSIG(q->status) : WEXITSTATUS(q->status), *q->text ? ": " : "",
				q->text);
}

static uint64_t lowest_address(const struct gus_snapshot *s)
{
	return s->about->n_mappings ? s->about->mappings[0]->start : 0;
}

/* An attempt before may have written to it. */
static int empty(int out, struct gus_error *err)
{
	if (ftruncate(out, 0) != 0 || lseek(out, 0, SEEK_SET) != 0)
		return gus_fail_errno(err, errno, "cannot empty the file of a trace");
	return 0;
}

/* In one layout after the other, as long as it clashes. */
static int try_layouts(const struct gus_snapshot *s, const struct run *r, struct gus_replayed *done,
		       struct gus_error *err)
{
	struct qemu q = { 0 };

	for (size_t i = 0; i < LAYOUTS; i++) {
		if (lowest_address(s) < layouts[i].lowest)
			continue;
		if (empty(r->out, err) != 0 || run_qemu(&q, r, i, err) != 0)
			return -1;
		if (!WIFEXITED(q.status) || WEXITSTATUS(q.status) != GUS_REPLAY_CLASH)
			return WIFEXITED(q.status) && WEXITSTATUS(q.status) == 0 ? read_total(r->out, done, err) :
				explain(&q, r->wish, err);
		done->clashes++;
	}
	return gus_fail(err, GUS_E_UNSUPPORTED,
			"cannot replay the snapshot under QEMU: each of %u times QEMU itself lay where the process has "
			"its memory (%s)", done->clashes, q.text);
}

int gus_replay_under_qemu(const struct gus_snapshot *s, const struct gus_replay_wish *w, int out,
			  struct gus_replayed *done, struct gus_error *err)
{
	struct run r = { .wish = w, .out = out, .files.image = -1, .root = -1 };
	double begun = now();
	int rc;

	*done = (struct gus_replayed){ .how = GUS_REPLAY_QEMU };
	if (!w->tools.qemu || !w->tools.plugin || !w->tools.loader)
		return gus_fail(err, GUS_E_NOT_FOUND,
				"cannot replay the snapshot under QEMU: " QEMU " (package qemu-user), its plugin or "
				"gusprof-replay is missing");
	rc = open_run(&r, s, err);
	if (rc == 0)
		rc = try_layouts(s, &r, done, err);
	close_run(&r);
	done->seconds = now() - begun;
	return rc;
}

/* Either. */

void gus_replay_tools_find(struct gus_replay_tools *tools, const char *emulator)
{
	*tools = (struct gus_replay_tools){ gus_find_tool(emulator ? emulator : QEMU),
		gus_find_part("gusprof-qemu.so"),
		gus_find_part("gusprof-replay") };
}

int gus_replay_tools_check(const struct gus_replay_tools *tools, struct gus_error *err)
{
	if (tools->loader)
		return 0;
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot replay snapshots: %s/gusprof-replay, a part of gusprof, is "
			"missing or cannot be read; install gusprof again with it (make install, on x86-64 or arm64)",
			PKGLIBDIR);
}

void gus_replay_tools_free(struct gus_replay_tools *tools)
{
	free(tools->qemu);
	free(tools->plugin);
	free(tools->loader);
}

int gus_replay_snapshot(const struct gus_snapshot *s, const struct gus_replay_wish *w, int out,
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
	rc = gus_replay_under_qemu(s, w, out, done, CAN_STEP ? &why : err);
	if (!CAN_STEP)
		return rc;
	if (rc == 0 && (strcmp(done->ended_by, "signal") != 0 || done->ended_number != SIGILL ||
			(w->native_window && done->instructions >= w->native_window)))
		return 0;
	if (rc == 0)
		snprintf(text, sizeof(text), "QEMU cannot execute the instruction at %#llx, after %llu others",
			 (unsigned long long)done->ended_at, (unsigned long long)done->instructions);
	else
		snprintf(text, sizeof(text), "%.159s", why.text);
	clashes = done->clashes;
	rc = empty(out, err) == 0 ? gus_replay_by_steps(s, w, out, done, err) : -1;
	done->clashes = clashes;
	memcpy(done->why, text, sizeof(text));
	return rc;
}
