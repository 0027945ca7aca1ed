/* SPDX-License-Identifier: MIT */
/* The native replica: a child of ours becomes the snapshot, and is executed instruction by instruction. Slow, and right
 * for all that the CPU can do. It has no more rights than nobody, and forbids itself all system calls before it begins.
 * It steps by itself (tracing/replay/loader.c) and tells of each step in memory that it shares with us, which is
 * foreign to us: nothing of it is looked at before it has ended, and no number of it is believed. */
#include "tracing/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/helper.h"
#include "config.h"
#include "proto/trace.h"
#include "symbolizer/insn/insn.h"
#include "tracing/confine/confine.h"
#include "tracing/replay/access.h"
#include "tracing/replay/image.h"
#include "tracing/replay/image_format.h"

#if defined(__x86_64__)
#include <sys/user.h>

#define BLOCK_INSNS 64
#define INSN_BYTES 15
#define FLAG_DOWN 0x400         /* string instructions go down */
enum { RAX = 13, RCX = 14 };    /* in a step's registers */
#define NAP_NS 500000
#define SECONDS 60
#define LOADER_MEMORY (16ull << 20)

struct stepper {
	pid_t pid;
	struct gus_insn_decoder *decoder;
	struct gus_trace_writer *writer;
	/* The block that grows, and its place in the list of steps. */
	uint64_t address, size;
	uint8_t lengths[BLOCK_INSNS], bytes[BLOCK_INSNS * INSN_BYTES];
	uint32_t insns, accesses_n;
	struct gus_vec(struct gus_trace_raw) steps;
	struct gus_vec(struct gus_trace_access) accesses;
	uint64_t seen, omitted;
	uint64_t fs_base, gs_base;
	/* What the copy tells, which the foreign code can write to. */
	struct gus_replay_told *told;
	uint64_t most, told_size;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The beginning. */

/* What begins it. */
struct beginning {
	const struct gus_replay_wish *wish;
	struct gus_replay_image_files files;
	int loader, root, told;
};

/* The loader is all that is ever executed by a name, and it is open: what comes behind it finds an empty folder. */
static void __attribute__((noreturn)) become(const struct beginning *b, pid_t parent)
{
	const struct gus_confinement c = { .parent = parent, .keep = b->files.fds.v, .keep_n = b->files.fds.n,
		.root = b->root, .enter_root = true, .memory = b->files.memory + LOADER_MEMORY,
		.seconds = b->wish->seconds ? b->wish->seconds : SECONDS };
	const char *const words[] = { "gusprof-replay", gus_format("%d", b->files.image), gus_format("%d", b->told),
		NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (dup2(null, 0) == 0 && dup2(null, 1) == 1 && gus_confine(&c) == 0)
		syscall(SYS_execveat, b->loader, "", words, words + 3, AT_EMPTY_PATH);
	_exit(127);
}

/* Room for what it tells: for so many steps, the last block's, too. Its size cannot change any more. */
static int make_told(struct stepper *s, uint64_t window, struct gus_error *err)
{
	uint64_t most = window < GUS_REPLAY_STEPS_MOST ? window : GUS_REPLAY_STEPS_MOST;
	int fd = memfd_create("gusprof-steps", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	most += BLOCK_INSNS + 1;
	s->told_size = sizeof(*s->told) + most * sizeof(*s->told->steps) + GUS_REPLAY_STATES_MOST * GUS_REPLAY_STATE;
	if (fd < 0 || ftruncate(fd, (off_t)s->told_size) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		s->told = MAP_FAILED;
	else
		s->told = mmap(NULL, s->told_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s->told == MAP_FAILED) {
		s->told = NULL;
		gus_fail_errno(err, errno, "cannot make room for the steps of a snapshot's replica");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	s->told->most = s->most = most;
	s->told->states_most = GUS_REPLAY_STATES_MOST;
	return fd;
}

/* Until it has ended, or its time is over and it is killed. *status as of waitpid. */
static int wait_end(struct stepper *s, unsigned seconds, int *status, bool *late, struct gus_error *err)
{
	double until = now() + seconds;

	*late = false;
	for (;;) {
		pid_t ended = waitpid(s->pid, status, *late ? __WALL : __WALL | WNOHANG);

		if (ended == s->pid)
			break;
		if (ended < 0 && errno != EINTR)
			return gus_fail_errno(err, errno, "cannot follow the replica of a snapshot");
		if (*late || ended < 0)
			continue;
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
		*late = now() > until;
		if (*late)
			kill(s->pid, SIGKILL);
	}
	s->pid = 0;
	return 0;
}

/* What it said before it was the snapshot's own. */
static int explain_beginning(int status, const char *loader, struct gus_error *err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot begin %s, which replays snapshots", loader);
	return gus_fail(err, GUS_E_SYSTEM,
			"cannot replay the snapshot natively: its copy ended with %s %d before it began",
			WIFEXITED(status) ? "status" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) :
				WTERMSIG(status));
}

/* Writing. */

static int end_block(struct stepper *s, struct gus_error *err)
{
	struct gus_trace_block b = { s->address, s->lengths, s->bytes, s->insns, (uint32_t)s->size };
	struct gus_trace_raw step = { .accesses_n = s->accesses_n };

	if (!s->insns)
		return 0;
	if (gus_trace_writer_block(s->writer, &b, &step.block, err) != 0)
		return -1;
	gus_vec_push(&s->steps, step);
	s->insns = s->accesses_n = 0;
	s->size = 0;
	return 0;
}

static int add_insn(struct stepper *s, uint64_t address, const uint8_t *bytes, uint32_t length,
		    struct gus_trace_access *accesses, size_t n, struct gus_error *err)
{
	if ((s->insns == BLOCK_INSNS || s->address + s->size != address) && end_block(s, err) != 0)
		return -1;
	if (!s->insns)
		s->address = address;
	for (size_t i = 0; i < n; i++) {
		accesses[i].insn = (uint16_t)s->insns;
		gus_vec_push(&s->accesses, accesses[i]);
	}
	s->accesses_n += (uint32_t)n;
	memcpy(s->bytes + s->size, bytes, length);
	s->lengths[s->insns++] = (uint8_t)length;
	s->size += length;
	s->seen++;
	return 0;
}

/* Executing. */

/* Branches; and repeated string instructions, where the emulator's blocks end, too. */
static bool ends_block(const struct gus_insn_info *info)
{
	return (info->class >= GUS_INSN_BRANCH_COND && info->class <= GUS_INSN_RET) || info->flags & GUS_INSN_REP;
}

/* syscall, sysenter, int: what must not be stepped. */
static bool is_call_of_kernel(const uint8_t *bytes, const struct gus_insn_info *info)
{
	const uint8_t *opcode = bytes + info->opcode_length - 1;

	if (info->opcode_length >= 2 && opcode[-1] == 0x0f)
		return *opcode == 0x05 || *opcode == 0x34;
	return info->opcode_length && (*opcode == 0xcd || *opcode == 0xcc || *opcode == 0xf1);
}

enum outcome { STEPPED, BY_WINDOW, BY_CALL, BY_SIGNAL, BY_TIME, FAILED };

static void take_registers(const struct stepper *s, const struct gus_replay_step *step, struct gus_replay_registers *r)
{
	/* Where in the step those are that stand in the order of GUS_X86_RAX and on. */
	static const uint8_t in_order[16] = { 13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7 };

	for (size_t i = 0; i < 16; i++)
		r->general[i] = step->registers[in_order[i]];
	r->rip = step->registers[GUS_REPLAY_RIP];
	r->fs_base = s->fs_base;
	r->gs_base = s->gs_base;
	r->state = NULL;
	r->state_size = 0;
	if (step->state && step->state <= GUS_REPLAY_STATES_MOST) {
		r->state = (const uint8_t *)(s->told->steps + s->most) + (step->state - 1) * (size_t)GUS_REPLAY_STATE;
		r->state_size = GUS_REPLAY_STATE;
	}
}

/* What an instruction touched; after: what came behind it. */
static size_t accesses_of(struct stepper *s, const struct gus_replay_step *step, const struct gus_replay_step *after,
			  const struct gus_insn_info *info, struct gus_trace_access *accesses)
{
	struct gus_replay_registers r;
	uint64_t turns = step->registers[RCX] - after->registers[RCX];

	take_registers(s, step, &r);
	if (gus_replay_needs_state(info) && !r.state) { /* there was no room for it */
		s->omitted++;
		return 0;
	}
	return gus_replay_accesses(info, step->code, &r, turns, step->registers[GUS_REPLAY_EFLAGS] & FLAG_DOWN,
				   accesses, &s->omitted);
}

/* One instruction; after: NULL if it is the last that was begun, of which nobody knows what became. */
static enum outcome take_step(struct stepper *s, const struct gus_replay_step *step,
			      const struct gus_replay_step *after, struct gus_replayed *done, struct gus_error *err)
{
	size_t size = step->code_n < INSN_BYTES ? step->code_n : INSN_BYTES, n;
	const struct gus_insn_info *info = size ? gus_insn_decoder_get(s->decoder, step->code, size) : NULL;
	struct gus_trace_access accesses[GUS_REPLAY_ACCESSES];
	uint64_t rip = step->registers[GUS_REPLAY_RIP];
	bool known = info && info->class != GUS_INSN_BAD && info->length;

	if (known && is_call_of_kernel(step->code, info)) {
		done->ended_number = step->registers[RAX];
		return add_insn(s, rip, step->code, info->length, NULL, 0, err) == 0 ? BY_CALL : FAILED;
	}
	done->ended_at = rip;
	if (!after || !known) { /* one that is executed, and not known, ends it as one that the CPU does not know */
		done->ended_number = SIGILL;
		return after ? BY_SIGNAL : BY_TIME;
	}
	n = accesses_of(s, step, after, info, accesses);
	if (add_insn(s, rip, step->code, info->length, accesses, n, err) != 0 ||
	    (ends_block(info) && end_block(s, err) != 0))
		return FAILED;
	return STEPPED;
}

/* What was told, which the foreign code may have written as well; it has ended, and nothing changes any more. */
static enum outcome take_steps(struct stepper *s, const struct gus_replay_wish *w, struct gus_replayed *done,
			       struct gus_error *err)
{
	uint64_t window = w->native_window ? w->native_window : w->window;
	uint64_t n = s->told->n < s->most ? s->told->n : s->most;
	enum outcome outcome = STEPPED;

	for (uint64_t i = 0; i < n && outcome == STEPPED; i++) {
		outcome = take_step(s, &s->told->steps[i], i + 1 < n ? &s->told->steps[i + 1] : NULL, done, err);
		if (outcome == STEPPED && s->seen >= window && !s->insns)
			outcome = BY_WINDOW;
	}
	if (outcome != BY_TIME && outcome != STEPPED)
		return outcome;
	/* The last one that was begun: why it was the last. */
	if (s->told->ended == GUS_REPLAY_BY_SIGNAL) {
		done->ended_number = s->told->number;
		return BY_SIGNAL;
	}
	return s->told->ended == GUS_REPLAY_BY_STEPS ? BY_WINDOW : BY_TIME;
}

/* The file. */

static struct gus_trace_writer *create(int out, const struct gus_snapshot *s, uint64_t window, const char *loader,
				       struct gus_error *err)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	char *command[] = { (char *)(uintptr_t)loader };
	int fd = fcntl(out, F_DUPFD_CLOEXEC, 0);        /* the writer closes what it has */

	if (fd < 0) {
		gus_fail_errno(err, errno, "cannot write the trace of a snapshot");
		return NULL;
	}

	header.producer = (char *)PACKAGE_STRING;
	header.command = command;
	header.n_command = 1;
	about.front_end = (char *)"steps";
	about.target = (char *)"x86_64";
	about.length = window;
	about.pid = s->about->pid;
	return gus_trace_writer_create_fd(fd, &header, &about, err);
}

static int write_steps(struct stepper *s, enum outcome outcome, struct gus_replayed *done, struct gus_error *err)
{
	static const char *const names[] = { [BY_WINDOW] = "window", [BY_CALL] = "syscall", [BY_SIGNAL] = "signal",
		[BY_TIME] = "time" };
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	struct gus_trace_writer *w = s->writer;

	if (outcome == FAILED || end_block(s, err) != 0)
		return -1;
	if (gus_trace_writer_steps(w,
				   &(struct gus_trace_run){ 0, 0, 0, s->steps.v, s->accesses.v, s->steps.n,
		GUS_TRACE_NEXT_UNKNOWN },
				   err) != 0)
		return -1;
	snprintf(done->ended_by, sizeof(done->ended_by), "%s", names[outcome]);
	done->instructions = s->seen;
	done->accesses = s->accesses.n;
	done->omitted = s->omitted;
	total.streams = 1;
	total.seen = s->seen;
	total.omitted = s->omitted;
	total.ended_by = done->ended_by;
	total.ended_number = done->ended_number;
	total.ended_at = done->ended_at;
	s->writer = NULL;
	return gus_trace_writer_finish(w, &total, err);
}

static void end_stepper(struct stepper *s)
{
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	if (s->told)
		munmap(s->told, s->told_size);
	gus_insn_decoder_free(s->decoder);
	gus_trace_writer_abandon(s->writer);
	gus_vec_free(&s->steps);
	gus_vec_free(&s->accesses);
}

static void note_bases(struct stepper *s, const struct gus_snapshot *snapshot)
{
	struct user_regs_struct regs;

	memcpy(&regs, snapshot->about->registers.data, sizeof(regs));
	s->fs_base = regs.fs_base;
	s->gs_base = regs.gs_base;
}

static int begin(struct stepper *s, const struct gus_snapshot *snapshot, struct beginning *b, struct gus_error *err)
{
	const char *loader = b->wish->tools.loader;
	pid_t parent = getpid();

	note_bases(s, snapshot);
	b->loader = open(loader, O_RDONLY | O_CLOEXEC);
	if (b->loader < 0)
		return gus_fail_errno(err, errno, "cannot begin %s, which replays snapshots", loader);
	b->root = gus_confine_folder(err);
	if (b->root < 0 || gus_replay_image_make(snapshot, true, b->wish->rights, &b->files, err) != 0)
		return -1;
	b->told = make_told(s, b->wish->native_window ? b->wish->native_window : b->wish->window, err);
	if (b->told < 0)
		return -1;
	gus_vec_push(&b->files.fds, b->told);
	s->pid = gus_helper_fork();
	if (s->pid == 0)
		become(b, parent);
	return s->pid > 0 ? 0 : gus_fail_errno(err, errno, "cannot begin the replica of a snapshot");
}

static int run(struct stepper *s, const struct gus_snapshot *snapshot, const struct gus_replay_wish *w,
	       struct gus_replayed *done, struct gus_error *err)
{
	struct beginning b = { .wish = w, .files.image = -1, .loader = -1, .root = -1, .told = -1 };
	int rc = begin(s, snapshot, &b, err), status;
	bool late;

	gus_replay_image_close(&b.files);
	if (b.loader >= 0)
		close(b.loader);
	if (b.root >= 0)
		close(b.root);
	if (rc != 0 || wait_end(s, w->seconds ? w->seconds : SECONDS, &status, &late, err) != 0)
		return -1;
	if (!s->told->begun)
		return explain_beginning(status, w->tools.loader, err);
	return write_steps(s, take_steps(s, w, done, err), done, err);
}

int gus_replay_by_steps(const struct gus_snapshot *snapshot, const struct gus_replay_wish *w, int out,
			struct gus_replayed *done, struct gus_error *err)
{
	struct stepper s = { .decoder = gus_insn_decoder_new(GUS_ISA_X86_64, 0) };
	double begun = now();
	int rc = -1;

	*done = (struct gus_replayed){ .how = GUS_REPLAY_NATIVE };
	if (!w->tools.loader)
		gus_fail(err, GUS_E_NOT_FOUND,
			 "cannot replay the snapshot: gusprof-replay, which is built and installed with this program, "
			 "is missing");
	else
		s.writer = create(out, snapshot, w->native_window ? w->native_window : w->window, w->tools.loader, err);
	if (s.writer)
		rc = run(&s, snapshot, w, done, err);
	end_stepper(&s);
	done->seconds = now() - begun;
	return rc;
}

#else

int gus_replay_by_steps(const struct gus_snapshot *snapshot, const struct gus_replay_wish *w, int out,
			struct gus_replayed *done, struct gus_error *err)
{
	(void)w, (void)out, (void)done;
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot replay the snapshot of thread %u step by step: only x86-64 can",
			snapshot->about->tid);
}

#endif
