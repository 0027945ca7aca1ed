/* SPDX-License-Identifier: MIT */
/* Runs a command instruction by instruction and asks the unwinder at each of them. What is true is known without any
 * table: each call that was executed and has not returned is a caller, and where its return address lies in the stack
 * says when it has. A signal is one, too, from its delivery to rt_sigreturn. x86-64; the first thread alone.
 *
 * stack-steps [-n STEPS] [-s SKIP] [-b STACK_BYTES] [-c] COMMAND...: SKIP instructions are only followed, then STEPS
 * are asked about, with -c by libunwind. Prints "INSTRUCTIONS right WRONG wrong ...", then the wrong ones by place.
 * Status 1 if any is wrong. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"
#include "symbolizer/unwind/copied.h"
#include "symbolizer/unwind/lasts.h"
#include "symbolizer/unwind/unwind.h"

#define STACK_MOST (63u << 10)

static void demand(bool truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "stack-steps: %s: %s\n", what, strerror(errno));
	exit(2);
}

struct mapping { uint64_t low, high, offset; bool code, stack; char path[200]; struct gus_unwind_file *file; };

struct target {
	pid_t pid;
	struct gus_unwind_files *files;
	struct gus_unwind_lasts *lasts;   /* as while recording: only what differs is walked; NULL: all is */
	struct gus_unwind_copied *copied; /* NULL: our own engine is asked */
	struct gus_vec(struct mapping) maps;
	const struct mapping *last;
	uint8_t *stack;
	uint64_t stack_top;
};

static struct gus_unwind_file *file_of(struct target *t, const char *path, uint64_t inode, unsigned major,
				       unsigned minor)
{
	struct gus_module m = { .kind = strcmp(path, "[vdso]") == 0 ? GUS_MODULE_VDSO : GUS_MODULE_FILE, .path = path,
				.inode = inode, .major = major, .minor = minor };

	return path[0] == '/' || m.kind == GUS_MODULE_VDSO ? gus_unwind_files_get(t->files, &m) : NULL;
}

static void read_maps(struct target *t)
{
	char *path = gus_format("/proc/%d/maps", t->pid), line[400], rights[5];
	FILE *f = fopen(path, "re");
	unsigned long long low, high, offset, inode;
	unsigned major, minor;

	demand(f != NULL, path);
	t->maps.n = 0;
	t->last = NULL;
	if (t->lasts)
		gus_unwind_lasts_forget(t->lasts);
	while (fgets(line, sizeof(line), f)) {
		struct mapping m = { 0 };

		demand(sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %199[^\n]", &low, &high, rights, &offset, &major,
			      &minor, &inode, m.path) >= 7, line);
		m.low = low;
		m.high = high;
		m.offset = offset;
		m.code = rights[2] == 'x';
		m.file = m.code ? file_of(t, m.path, inode, major, minor) : NULL;
		gus_vec_push(&t->maps, m);
	}
	fclose(f);
	free(path);
}

static const struct mapping *find_mapping(struct target *t, uint64_t address)
{
	if (t->last && address >= t->last->low && address < t->last->high)
		return t->last;
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < t->maps.n; i++)
			if (address >= t->maps.v[i].low && address < t->maps.v[i].high)
				return t->last = &t->maps.v[i];
		if (!again)
			read_maps(t);
	}
	return NULL;
}

static bool code_at(void *context, uint64_t address, struct gus_unwind_code *code)
{
	const struct mapping *m = find_mapping(context, address);

	if (!m || !m->code)
		return false;
	*code = (struct gus_unwind_code){ m->file, address - m->low + m->offset };
	return true;
}

/* What is true. */

/* slot: where the return address lies; of a signal the stack pointer that was interrupted, UINT64_MAX if its handler
 * has a stack of its own: a jump out of the handler leads there or above. */
struct frame { bool signal; uint64_t slot, address; };
typedef struct gus_vec(struct frame) frames;

static void follow_returns(struct frame *v, size_t *n, uint64_t sp)
{
	while (*n && v[*n - 1].slot < sp + v[*n - 1].signal)
		--*n;
}

static size_t read_bytes(pid_t pid, uint64_t at, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)at, size };
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static bool is_call(const uint8_t *code)
{
	static const uint8_t prefixes[] = { 0xf2, 0x3e, 0x66, 0x67 };
	unsigned i = 0;

	while (i < 4 && (memchr(prefixes, code[i], sizeof(prefixes)) || (code[i] & 0xf0) == 0x40))
		i++;
	return code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2);
}

static bool is_signal_return(const uint8_t *code, const struct user_regs_struct *regs)
{
	return code[0] == 0x0f && code[1] == 0x05 && regs->rax == 15;
}

struct truth { frames frames; };

/* What the instruction at `before` with these bytes did. */
static void follow(struct truth *truth, pid_t pid, const struct user_regs_struct *before, const uint8_t *code,
		   const struct user_regs_struct *now, int delivered)
{
	uint64_t word = 0;

	if (delivered) {
		bool apart = now->rsp > before->rsp || before->rsp - now->rsp > (1 << 16);

		gus_vec_push(&truth->frames, (struct frame){ true, apart ? UINT64_MAX : before->rsp, before->rip });
		read_bytes(pid, now->rsp, &word, 8);
		gus_vec_push(&truth->frames, (struct frame){ false, now->rsp, word });
		return;
	}
	if (is_signal_return(code, before)) {
		while (truth->frames.n && !truth->frames.v[truth->frames.n - 1].signal)
			truth->frames.n--;
		if (truth->frames.n)
			truth->frames.n--;
	}
	follow_returns(truth->frames.v, &truth->frames.n, now->rsp);
	if (!is_call(code) || now->rsp != before->rsp - 8)
		return;
	read_bytes(pid, now->rsp, &word, 8);
	if (word - before->rip >= 2 && word - before->rip <= 15)
		gus_vec_push(&truth->frames, (struct frame){ false, now->rsp, word });
}

static size_t chain_of(const struct truth *truth, uint64_t *out, size_t most)
{
	size_t n = 0;

	for (size_t i = truth->frames.n; i-- > 0 && n + 2 < most;) {
		if (truth->frames.v[i].signal)
			out[n++] = PERF_CONTEXT_USER;
		out[n++] = truth->frames.v[i].address;
	}
	return n;
}

/* The unwinder. */

static void registers_of(struct gus_unwind_regs *regs, const struct user_regs_struct *u)
{
	const uint64_t words[] = { u->rax, u->rbx, u->rcx, u->rdx, u->rsi, u->rdi, u->rbp, u->rsp, u->rip, u->r8,
				   u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15 };
	const struct gus_sample sample = { .regs_n = 17, .regs = words };

	demand(gus_unwind_regs_of(regs, EM_X86_64, &sample), "registers");
}

struct wrong { const struct mapping *map; char path[200]; uint64_t offset, times, end; };

struct tally {
	uint64_t asked, right, cut, frames, ns;
	struct gus_vec(struct wrong) wrong;
};

static void note_wrong(struct tally *tally, struct target *t, uint64_t pc, uint64_t end)
{
	const struct mapping *m = find_mapping(t, pc);
	struct wrong w = { .offset = m ? pc - m->low + m->offset : pc, .times = 1, .end = end };

	snprintf(w.path, sizeof(w.path), "%s", m ? m->path : "?");
	for (size_t i = 0; i < tally->wrong.n; i++)
		if (tally->wrong.v[i].offset == w.offset && strcmp(tally->wrong.v[i].path, w.path) == 0) {
			tally->wrong.v[i].times++;
			return;
		}
	gus_vec_push(&tally->wrong, w);
}

static bool verbose, whole; /* walked */

static void ask(struct tally *tally, struct target *t, const struct truth *truth, const struct user_regs_struct *now,
		size_t stack_bytes)
{
	uint64_t expected[1200], got[1200], end;
	size_t n = chain_of(truth, expected, 1200), bytes;
	struct gus_unwind_regs regs;
	struct gus_unwind_view view = { code_at, t, now->rsp, t->stack, 0, t->lasts, 1, 1 };
	struct timespec from, to;
	uint32_t found;
	bool right;

	bytes = stack_bytes;
	if (now->rsp < t->stack_top && t->stack_top - now->rsp < bytes)
		bytes = t->stack_top - now->rsp;
	view.stack_bytes = read_bytes(t->pid, now->rsp, t->stack, bytes);
	if (view.stack_bytes < bytes) { /* another stack than the first thread's */
		const struct mapping *m = find_mapping(t, now->rsp);

		if (m && m->high - now->rsp < bytes)
			view.stack_bytes = read_bytes(t->pid, now->rsp, t->stack, m->high - now->rsp);
	}
	registers_of(&regs, now);
	clock_gettime(CLOCK_MONOTONIC, &from);
	found = t->copied ? gus_unwind_copied(t->copied, &view, &regs, got, 1100, &end) :
		gus_unwind(&view, &regs, got, 1100, &end, NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	tally->ns += (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000 + (uint64_t)(to.tv_nsec - from.tv_nsec);
	tally->asked++;
	tally->frames += found;
	right = found <= n && memcmp(expected, got, found * sizeof(*got)) == 0;
	if ((end & GUS_CALLERS_END) == GUS_CALLERS_STACK && right)
		tally->cut++;
	else if (right && found == n && (end & GUS_CALLERS_END) == GUS_CALLERS_WHOLE)
		tally->right++;
	else
		note_wrong(tally, t, now->rip, end);
	if (verbose && !(right && found == n)) {
		printf("at %llx (sp %llx, %zu bytes) end %" PRIx64 ":\n", now->rip, now->rsp, view.stack_bytes, end);
		for (size_t i = 0; i < n || i < found; i++)
			printf("\t%" PRIx64 "\t%" PRIx64 "\n", i < n ? expected[i] : 0, i < found ? got[i] : 0);
	}
}

static pid_t start(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(*command, command);
		_exit(127);
	}
	demand(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), *command);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
	return pid;
}

static int by_times(const void *a, const void *b)
{
	const struct wrong *x = a, *y = b;

	if (x->times != y->times)
		return x->times < y->times ? 1 : -1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int show(struct tally *tally)
{
	uint64_t wrong = tally->asked - tally->right - tally->cut;

	printf("%" PRIu64 " right %" PRIu64 " wrong %" PRIu64 " cut %" PRIu64 " frames %.0f ns a frame\n", tally->right,
	       wrong, tally->cut, tally->frames, tally->frames ? (double)tally->ns / (double)tally->frames : 0);
	if (tally->wrong.n)
		qsort(tally->wrong.v, tally->wrong.n, sizeof(*tally->wrong.v), by_times);
	for (size_t i = 0; i < tally->wrong.n && i < 30; i++)
		printf("\t%" PRIu64 " at %s+0x%" PRIx64 " end %" PRIx64 "\n", tally->wrong.v[i].times,
		       tally->wrong.v[i].path, tally->wrong.v[i].offset, tally->wrong.v[i].end);
	return wrong ? 1 : 0;
}

static int run(struct target *t, uint64_t skip, uint64_t steps, size_t stack_bytes)
{
	struct user_regs_struct before, now;
	struct truth truth = { 0 };
	struct tally tally = { 0 };
	uint8_t code[16];
	int status, deliver = 0;

	demand(ptrace(PTRACE_GETREGS, t->pid, 0, &now) == 0, "registers");
	read_maps(t);
	for (size_t i = 0; i < t->maps.n; i++)
		if (strcmp(t->maps.v[i].path, "[stack]") == 0)
			t->stack_top = t->maps.v[i].high;
	for (uint64_t i = 0; i < skip + steps; i++) {
		if (i >= skip)
			ask(&tally, t, &truth, &now, stack_bytes);
		before = now;
		memset(code, 0, sizeof(code));
		read_bytes(t->pid, now.rip, code, sizeof(code));
		demand(ptrace(PTRACE_SINGLESTEP, t->pid, 0, deliver) == 0 && waitpid(t->pid, &status, 0) == t->pid,
		       "step");
		if (!WIFSTOPPED(status))
			break;
		demand(ptrace(PTRACE_GETREGS, t->pid, 0, &now) == 0, "registers");
		/* A signal stops before it is delivered, where the instruction may have been executed or not. */
		follow(&truth, t->pid, &before, code, &now, deliver && now.rip != before.rip ? deliver : 0);
		deliver = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	status = show(&tally);
	gus_vec_free(&truth.frames);
	gus_vec_free(&tally.wrong);
	return status;
}

int main(int argc, char **argv)
{
	uint64_t steps = UINT64_MAX / 2, skip = 0, bytes = STACK_MOST;
	struct gus_symbols_options options = { 0 };
	struct target t = { 0 };
	int option;

	while ((option = getopt(argc, argv, "+n:s:b:cvw")) != -1) {
		if (option == 'n')
			steps = strtoull(optarg, NULL, 0);
		else if (option == 's')
			skip = strtoull(optarg, NULL, 0);
		else if (option == 'b')
			bytes = strtoull(optarg, NULL, 0);
		else if (option == 'c')
			t.copied = gus_unwind_copied_new(EM_X86_64);
		else if (option == 'w')
			whole = true;
		else if (option == 'v')
			verbose = true;
		else
			return 2;
	}
	demand(optind < argc, "a command is needed");
	t.files = gus_unwind_files_new(&options);
	t.lasts = whole ? NULL : gus_unwind_lasts_new();
	t.stack = gus_alloc(STACK_MOST);
	t.pid = start(argv + optind);
	option = run(&t, skip, steps, bytes < STACK_MOST ? bytes : STACK_MOST);
	kill(t.pid, SIGKILL);
	waitpid(t.pid, NULL, 0);
	gus_unwind_copied_free(t.copied);
	gus_unwind_lasts_free(t.lasts);
	gus_unwind_files_free(t.files);
	gus_vec_free(&t.maps);
	free(t.stack);
	return option;
}
