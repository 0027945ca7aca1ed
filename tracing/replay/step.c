/* SPDX-License-Identifier: MIT */
/* The native replica: a child of ours becomes the snapshot, and is executed instruction by instruction. Slow, and right
 * for all that the CPU can do. It has no more rights than nobody, and forbids itself all system calls before it begins
 * (tracing/replay/loader.c). */
#include "tracing/replay/replay.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
#define STOP_OF_CALL (SIGTRAP | 0x80)
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
	double until;           /* when its time is over */
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
	int loader, root;
};

/* The loader is all that is ever executed by a name, and it is open: what comes behind it finds an empty folder. */
static void __attribute__((noreturn)) become(const struct beginning *b, pid_t parent)
{
	const struct gus_confinement c = { .parent = parent, .keep = b->files.fds.v, .keep_n = b->files.fds.n,
		.root = b->root, .enter_root = true, .memory = b->files.memory + LOADER_MEMORY,
		.seconds = b->wish->seconds ? b->wish->seconds : SECONDS };
	const char *const words[] = { "gusprof-replay", gus_format("%d", b->files.image), "native", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (dup2(null, 0) == 0 && dup2(null, 1) == 1 && gus_confine(&c) == 0 &&
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
		syscall(SYS_execveat, b->loader, "", words, words + 3, AT_EMPTY_PATH);
	_exit(127);
}

/* Waits for the next stop; what else happens is an error that says so. */
static int wait_stop(pid_t pid, int *status, const char *loader, struct gus_error *err)
{
	while (waitpid(pid, status, __WALL) < 0)
		if (errno != EINTR)
			return gus_fail_errno(err, errno, "cannot follow the replica of a snapshot");
	if (WIFSTOPPED(*status))
		return 0;
	if (WIFEXITED(*status) && WEXITSTATUS(*status) == 127)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot begin %s, which replays snapshots", loader);
	return gus_fail(err, GUS_E_SYSTEM,
			"cannot replay the snapshot natively: its copy ended with %s %d before it began",
			WIFEXITED(*status) ? "status" : "signal", WIFEXITED(*status) ? WEXITSTATUS(*status) :
				WTERMSIG(*status));
}

/* Until it has made the call that says that it is loaded. */
static int run_loader(pid_t pid, const char *loader, struct gus_error *err)
{
	struct user_regs_struct regs;
	int status;

	if (wait_stop(pid, &status, loader, err) != 0)
		return -1;
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       (void *)(uintptr_t)(PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP));
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (wait_stop(pid, &status, loader, err) != 0)
		return -1;
	if (status >> 8 != (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
		return gus_fail(err, GUS_E_SYSTEM,
				"cannot replay the snapshot natively: its copy got signal %d before it began",
			WSTOPSIG(status));
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL); /* to its end: a step from there is one of the snapshot's own */
	if (wait_stop(pid, &status, loader, err) != 0)
		return -1;
	if (WSTOPSIG(status) != STOP_OF_CALL || ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0 ||
	    regs.orig_rax != GUS_REPLAY_BEGIN)
		return gus_fail(err, GUS_E_SYSTEM,
				"cannot replay the snapshot natively: its copy stopped where it should not (%d)",
				WSTOPSIG(status));
	return 0;
}

static int set_registers(pid_t pid, const struct gus_snapshot *s, struct gus_error *err)
{
	struct user_regs_struct regs;
	struct iovec state = { s->about->state.data, s->about->state.len };

	memcpy(&regs, s->about->registers.data, sizeof(regs));
	regs.orig_rax = (uint64_t)-1;
	if (ptrace(PTRACE_SETREGSET, pid, (void *)(uintptr_t)NT_X86_XSTATE, &state) != 0)
		return gus_fail_errno(err, errno,
				      "cannot replay the snapshot natively: its vector registers do not fit this CPU");
	if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) != 0)
		return gus_fail_errno(err, errno, "cannot set the registers of the replica of a snapshot");
	return 0;
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

static size_t read_code(pid_t pid, uint64_t address, uint8_t bytes[INSN_BYTES])
{
	uint64_t page = 4096 - address % 4096;
	struct iovec to = { bytes, INSN_BYTES };
	struct iovec from[2] = { { (void *)(uintptr_t)address, page < INSN_BYTES ? page : INSN_BYTES },
				 { (void *)(uintptr_t)(address + page), page < INSN_BYTES ? INSN_BYTES - page : 0 } };
	ssize_t n = process_vm_readv(pid, &to, 1, from, 2, 0);

	return n < 0 ? 0 : (size_t)n;
}

static void take_registers(const struct user_regs_struct *u, struct gus_replay_registers *r)
{
	const uint64_t in_order[16] = { u->rax, u->rcx, u->rdx, u->rbx, u->rsp, u->rbp, u->rsi, u->rdi,
					u->r8, u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15 };

	memcpy(r->general, in_order, sizeof(in_order));
	r->rip = u->rip;
	r->fs_base = u->fs_base;
	r->gs_base = u->gs_base;
}

enum outcome { STEPPED, BY_WINDOW, BY_CALL, BY_SIGNAL, BY_TIME, FAILED };

/* One instruction, all turns of it. */
static enum outcome step_over(struct stepper *s, struct user_regs_struct *regs, bool repeats, struct gus_replayed *done,
			      struct gus_error *err)
{
	uint64_t rip = regs->rip;
	int status;

	do {
		if (ptrace(PTRACE_SINGLESTEP, s->pid, NULL, NULL) != 0 || waitpid(s->pid, &status, __WALL) != s->pid) {
			gus_fail_errno(err, errno, "cannot step the replica of a snapshot");
			return FAILED;
		}
		if (!WIFSTOPPED(status)) {
			gus_fail(err, GUS_E_SYSTEM, "the replica of a snapshot ended by signal %d at %#llx",
				 WTERMSIG(status),
				 (unsigned long long)rip);
			return FAILED;
		}
		if (WSTOPSIG(status) != SIGTRAP) {
			done->ended_number = (uint64_t)WSTOPSIG(status);
			done->ended_at = rip;
			return BY_SIGNAL;
		}
		if (ptrace(PTRACE_GETREGS, s->pid, NULL, regs) != 0) {
			gus_fail_errno(err, errno, "cannot read the registers of the replica of a snapshot");
			return FAILED;
		}
		if (repeats && regs->rip == rip && now() > s->until) { /* one may have 2^64 turns */
			done->ended_at = rip;
			return BY_TIME;
		}
	} while (repeats && regs->rip == rip);
	return STEPPED;
}

static enum outcome step(struct stepper *s, struct user_regs_struct *regs, struct gus_replayed *done,
			 struct gus_error *err)
{
	uint8_t bytes[INSN_BYTES], state[GUS_SNAPSHOT_STATE_MAX];
	size_t size = read_code(s->pid, regs->rip, bytes), n;
	const struct gus_insn_info *info = size ? gus_insn_decoder_get(s->decoder, bytes, size) : NULL;
	struct gus_trace_access accesses[GUS_REPLAY_ACCESSES];
	struct gus_replay_registers r = { .state = state };
	struct user_regs_struct before = *regs;
	struct iovec to = { state, sizeof(state) };
	uint32_t length = info ? info->length : 0;
	enum outcome outcome;

	if (!info || info->class == GUS_INSN_BAD)
		length = 0; /* the CPU will say so */
	if (length && is_call_of_kernel(bytes, info)) {
		done->ended_number = regs->rax;
		return add_insn(s, regs->rip, bytes, length, NULL, 0, err) == 0 ? BY_CALL : FAILED;
	}
	if (length && gus_replay_needs_state(info) && ptrace(PTRACE_GETREGSET, s->pid, (void *)(uintptr_t)NT_X86_XSTATE,
							     &to) != 0) {
		gus_fail_errno(err, errno, "cannot read the vector registers of the replica of a snapshot");
		return FAILED;
	}
	r.state_size = to.iov_len;
	outcome = step_over(s, regs, length && info->flags & GUS_INSN_REP, done, err);
	if (outcome != STEPPED)
		return outcome;
	if (!length) {
		gus_fail(err, GUS_E_UNSUPPORTED,
			 "cannot replay the snapshot natively: the instruction at %#llx is executed, and not known",
			 (unsigned long long)before.rip);
		return FAILED;
	}
	take_registers(&before, &r);
	n = gus_replay_accesses(info, bytes, &r, before.rcx - regs->rcx, before.eflags & FLAG_DOWN, accesses,
				&s->omitted);
	if (add_insn(s, before.rip, bytes, length, accesses, n, err) != 0 ||
	    (ends_block(info) && end_block(s, err) != 0))
		return FAILED;
	return STEPPED;
}

static enum outcome step_all(struct stepper *s, const struct gus_replay_wish *w, struct gus_replayed *done,
			     struct gus_error *err)
{
	uint64_t window = w->native_window ? w->native_window : w->window;
	struct user_regs_struct regs;
	enum outcome outcome = STEPPED;

	s->until = now() + (w->seconds ? w->seconds : SECONDS);
	if (ptrace(PTRACE_GETREGS, s->pid, NULL, &regs) != 0) {
		gus_fail_errno(err, errno, "cannot read the registers of the replica of a snapshot");
		return FAILED;
	}
	while (outcome == STEPPED) {
		outcome = step(s, &regs, done, err);
		if (outcome == STEPPED && s->seen >= window && !s->insns)
			outcome = BY_WINDOW;
		if (outcome == STEPPED && s->seen % 256 == 0 && now() > s->until)
			outcome = BY_TIME;
	}
	return outcome;
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
	gus_insn_decoder_free(s->decoder);
	gus_trace_writer_abandon(s->writer);
	gus_vec_free(&s->steps);
	gus_vec_free(&s->accesses);
}

static int begin(struct stepper *s, const struct gus_snapshot *snapshot, struct beginning *b, struct gus_error *err)
{
	const char *loader = b->wish->tools.loader;
	pid_t parent = getpid();

	b->loader = open(loader, O_RDONLY | O_CLOEXEC);
	if (b->loader < 0)
		return gus_fail_errno(err, errno, "cannot begin %s, which replays snapshots", loader);
	b->root = gus_confine_folder(err);
	if (b->root < 0 || gus_replay_image_make(snapshot, b->wish->rights, &b->files, err) != 0)
		return -1;
	s->pid = gus_helper_fork();
	if (s->pid == 0)
		become(b, parent);
	if (s->pid < 0)
		return gus_fail_errno(err, errno, "cannot begin the replica of a snapshot");
	return run_loader(s->pid, loader, err) == 0 && set_registers(s->pid, snapshot, err) == 0 ? 0 : -1;
}

/* It and we take turns: on one CPU a turn is a switch, and between two of them each wakes the other one up, which takes
 * some times as long, and in a virtual machine ten times. false: we may not. */
static bool share_cpu(pid_t pid, cpu_set_t *before)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(*before), before) != 0)
		return false;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(pid, sizeof(one), &one) != 0)
		return false;
	return sched_setaffinity(0, sizeof(one), &one) == 0;
}

static int run(struct stepper *s, const struct gus_snapshot *snapshot, const struct gus_replay_wish *w,
	       struct gus_replayed *done, struct gus_error *err)
{
	struct beginning b = { .wish = w, .files.image = -1, .loader = -1, .root = -1 };
	int rc = begin(s, snapshot, &b, err);
	cpu_set_t before;
	bool shared;

	gus_replay_image_close(&b.files);
	if (b.loader >= 0)
		close(b.loader);
	if (b.root >= 0)
		close(b.root);
	if (rc != 0)
		return -1;
	shared = share_cpu(s->pid, &before);
	rc = write_steps(s, step_all(s, w, done, err), done, err);
	if (shared)
		sched_setaffinity(0, sizeof(before), &before);
	return rc;
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
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot replay the snapshot of thread %u: only x86-64 can",
			snapshot->about->tid);
}

#endif
