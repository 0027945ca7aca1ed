/* SPDX-License-Identifier: MIT */
/* gusprof-replay N: puts the snapshot whose image is open as descriptor N back into memory and goes on where it was
 * taken; under QEMU, or natively as a child that is traced. It has no library, and lies where no program does
 * (tracing/replay/image_format.h), so that it is in nobody's way.
 *
 * It opens nothing: the image names descriptors of the files that were mapped. Natively it forbids itself all system
 * calls but those that it needs before it looks at the image, which is foreign, and those too before it jumps. Under
 * QEMU the plugin has done that for the emulator, and ends it at the snapshot's first call; signals come to a handler
 * that tells of them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracing/replay/image_format.h"

/* The kernel's interface, of x86-64. */
enum { SYS_WRITE = 1, SYS_MMAP = 9, SYS_MPROTECT = 10, SYS_MUNMAP = 11, SYS_RT_SIGACTION = 13,
	SYS_PREAD = 17, SYS_EXIT = 60, SYS_SIGALTSTACK = 131, SYS_PRCTL = 157, SYS_ARCH_PRCTL = 158,
	SYS_SECCOMP = 317 };
enum { PROT_RW = 3, MAP_PRIVATE_ = 2, MAP_FIXED_ = 0x10 };
enum { MAP_ANONYMOUS_ = 0x20, MAP_NORESERVE_ = 0x4000, MAP_NOREPLACE = 0x100000 };
enum { SET_GS = 0x1001, SET_FS = 0x1002 };
enum { EEXIST_ = 17, ENOMEM_ = 12 };
enum { R15, R14, R13, R12, RBP, RBX, R11, R10, R9, R8, RAX, RCX, RDX, RSI, RDI, ORIG_RAX, RIP, CS, EFLAGS, RSP, SS,
	FS_BASE, GS_BASE };
#define SA_FLAGS 0x4c000004ul   /* SIGINFO, ONSTACK, RESTORER, NODEFER */
#define STACK_SIZE 65536

/* What the jump needs: read by the assembly below. */
extern uint64_t replay_registers[27];
extern uint8_t replay_stack[STACK_SIZE];
void replay_jump(const void *state, uint64_t mask) __attribute__((noreturn));
void replay_main(uint64_t *words) __attribute__((used, noreturn));

uint64_t replay_registers[27];
uint8_t replay_stack[STACK_SIZE] __attribute__((aligned(64)));
static struct gus_replay_image image;
static uint8_t signal_stack[STACK_SIZE];

static long call(long n, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx",
			 "r11", "memory");
	return result;
}

/* The last words, in hexadecimal where a number helps. */
static void __attribute__((noreturn)) give_up(int status, const char *text, uint64_t number)
{
	char hex[19] = " 0x";
	size_t length = 0;

	while (text[length])
		length++;
	for (int i = 0; i < 16; i++)
		hex[3 + i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
	call(SYS_WRITE, 2, (uintptr_t)"gusprof-replay: ", 16, 0, 0, 0);
	call(SYS_WRITE, 2, (uintptr_t)text, length, 0, 0, 0);
	call(SYS_WRITE, 2, (uintptr_t)hex, sizeof(hex), 0, 0, 0);
	call(SYS_WRITE, 2, (uintptr_t)"\n", 1, 0, 0, 0);
	call(SYS_EXIT, (uint64_t)status, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

static void read_all(int fd, uint64_t to, uint64_t size, uint64_t at)
{
	while (size) {
		long got = call(SYS_PREAD, (uint64_t)fd, to, size, at, 0, 0);

		if (got <= 0)
			give_up(GUS_REPLAY_BAD, "the image cannot be read to", to);
		to += (uint64_t)got;
		at += (uint64_t)got;
		size -= (uint64_t)got;
	}
}

static void map(const struct gus_replay_mapping *m)
{
	bool is_file = m->file >= 0;
	long got = call(SYS_MMAP, m->address, m->size, PROT_RW, MAP_PRIVATE_ | MAP_NOREPLACE | MAP_NORESERVE_ |
			(is_file ? 0 : MAP_ANONYMOUS_), (uint64_t)m->file, is_file ? m->file_offset : 0);

	if (got == -EEXIST_ || got == -ENOMEM_ || (got > 0 && (uint64_t)got != m->address))
		give_up(GUS_REPLAY_CLASH, "there is something already at", m->address);
	if (got < 0)
		give_up(GUS_REPLAY_BAD, "nothing can be mapped at", m->address);
}

static void load_run(int image_fd, const struct gus_replay_run *run)
{
	long got;

	if (run->file < 0 || run->size < GUS_REPLAY_MAPPED) {
		read_all(run->file < 0 ? image_fd : run->file, run->address, run->size, run->at);
		return;
	}
	got = call(SYS_MMAP, run->address, run->size, PROT_RW, MAP_PRIVATE_ | MAP_FIXED_ | MAP_NORESERVE_,
		   (uint64_t)run->file, run->at);
	if (got < 0)
		give_up(GUS_REPLAY_BAD, "its pages cannot be mapped at", run->address);
}

static void load(int fd)
{
	struct gus_replay_mapping m;
	struct gus_replay_run run;

	read_all(fd, (uintptr_t)&image, sizeof(image), 0);
	if (image.magic != GUS_REPLAY_MAGIC)
		give_up(GUS_REPLAY_BAD, "this is no image of mine:", image.magic);
	for (uint64_t i = 0; i < image.mappings_n; i++) {
		read_all(fd, (uintptr_t)&m, sizeof(m), image.mappings + i * sizeof(m));
		map(&m);
	}
	for (uint64_t i = 0; i < image.runs_n; i++) {
		read_all(fd, (uintptr_t)&run, sizeof(run), image.runs + i * sizeof(run));
		load_run(fd, &run);
	}
	for (uint64_t i = 0; i < image.mappings_n; i++) {
		read_all(fd, (uintptr_t)&m, sizeof(m), image.mappings + i * sizeof(m));
		if (m.protection != PROT_RW && call(SYS_MPROTECT, m.address, m.size, m.protection, 0, 0, 0) != 0)
			give_up(GUS_REPLAY_BAD, "the protection cannot be set at", m.address);
	}
}

/* Signals that code can raise by itself: what the snapshot's own handlers would do is not part of the window. */
struct context { uint64_t flags, link, stack, stack_flags, stack_size, registers[23]; };
#define CONTEXT_RIP 16

static void on_signal(int number, void *info, struct context *context)
{
	(void)info;
	call(GUS_REPLAY_SIGNAL, (uint64_t)number, context->registers[CONTEXT_RIP], 0, 0, 0, 0);
	give_up(GUS_REPLAY_BAD, "nobody listens to what is raised at", context->registers[CONTEXT_RIP]);
}

static void set_handlers(void)
{
	static const int numbers[] = { 4, 5, 7, 8, 11 };        /* ILL, TRAP, BUS, FPE, SEGV */
	const struct { uint64_t stack, flags, size; } stack = { (uintptr_t)signal_stack, 0, sizeof(signal_stack) };
	const struct { uint64_t handler, flags, restorer, mask; } action = { (uintptr_t)on_signal, SA_FLAGS,
		(uintptr_t)on_signal, 0 };

	call(SYS_SIGALTSTACK, (uintptr_t)&stack, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		call(SYS_RT_SIGACTION, (uint64_t)numbers[i], (uintptr_t)&action, 0, 8, 0, 0);
}

/* Natively: what is forbidden, in the kernel's own terms (linux/filter.h, linux/seccomp.h). A second filter only takes
 * away from what the first one leaves. */

struct rule { uint16_t code; uint8_t yes, no; uint32_t k; };
#define LOAD(at) { 0x20, 0, 0, at }
#define IS(value, yes, no) { 0x15, yes, no, value }
#define KILL { 0x06, 0, 0, 0x80000000 }
#define ALLOW { 0x06, 0, 0, 0x7fff0000 }
#define TELL_TRACER { 0x06, 0, 0, 0x7ff00000 }
#define MACHINE 4               /* offset in what a filter sees; the number is at 0 */
#define X86_64 0xc000003e       /* another machine has other numbers: int $0x80 reaches those of 32 bits */

/* Reads the image, maps, and ends; or begins. */
static const struct rule while_loading[] = {
	LOAD(MACHINE), IS(X86_64, 1, 0), KILL, LOAD(0),
	IS(SYS_PREAD, 8, 0), IS(SYS_MMAP, 7, 0), IS(SYS_MPROTECT, 6, 0), IS(SYS_MUNMAP, 5, 0), IS(SYS_WRITE, 4, 0),
	IS(SYS_EXIT, 3, 0), IS(SYS_SECCOMP, 2, 0), IS(GUS_REPLAY_BEGIN, 1, 0),
	KILL, ALLOW,
};

/* Only the call that begins the window, at which who traces this takes over. */
static const struct rule from_now_on[] = {
	LOAD(MACHINE), IS(X86_64, 1, 0), KILL, LOAD(0),
	IS(GUS_REPLAY_BEGIN, 1, 0), KILL, TELL_TRACER,
};

static void forbid(const struct rule *rules, size_t n)
{
	const struct { uint64_t n, rules; } program = { n, (uintptr_t)rules };

	if (call(SYS_SECCOMP, 1, 0, (uintptr_t)&program, 0, 0, 0) != 0)
		give_up(GUS_REPLAY_BAD, "system calls cannot be forbidden:", 0);
}

/* The descriptor whose number a word is. */
static int number_of(const char *word)
{
	int n = 0;

	for (; *word >= '0' && *word <= '9' && n < 1000000; word++)
		n = n * 10 + *word - '0';
	return n;
}

/* On a stack of our own. words: argc, argv[0], argv[1], ... */
void replay_main(uint64_t *words)
{
	bool native = words[0] == 3;    /* a third word, whatever it is */
	int fd;

	if (words[0] < 2)
		give_up(GUS_REPLAY_BAD, "usage: gusprof-replay DESCRIPTOR [native]; gusprof itself begins it", 0);
	fd = number_of((const char *)(uintptr_t)words[2]);
	if (native) {
		call(SYS_PRCTL, 38, 1, 0, 0, 0, 0);     /* no new privileges, which a filter wants */
		forbid(while_loading, sizeof(while_loading) / sizeof(*while_loading));
		/* The stack, the vdso and whatever else was put here by chance. */
		call(SYS_MUNMAP, 0x10000, GUS_REPLAY_BASE - 0x10000, 0, 0, 0, 0);
		call(SYS_MUNMAP, GUS_REPLAY_BASE + GUS_REPLAY_SIZE, 0x7ffffffff000 - GUS_REPLAY_BASE - GUS_REPLAY_SIZE,
		     0, 0, 0, 0);
	}
	load(fd);
	for (int i = 0; i < 27; i++)
		replay_registers[i] = image.registers[i];
	if (native) {
		forbid(from_now_on, sizeof(from_now_on) / sizeof(*from_now_on));
	} else {
		set_handlers();
		call(SYS_ARCH_PRCTL, SET_FS, image.registers[FS_BASE], 0, 0, 0, 0);
		call(SYS_ARCH_PRCTL, SET_GS, image.registers[GS_BASE], 0, 0, 0, 0);
	}
	call(GUS_REPLAY_BEGIN, image.registers[RIP], 0, 0, 0, 0, 0);
	if (native)
		__builtin_trap(); /* nobody took over */
	replay_jump(image.state, image.state_mask);
}

/* No register is free and no flag may change at the end, so what is left comes from memory relative to the instruction.
 * The numbers are 8 times those of the enumeration above. */
__asm__(".text\n"
	".globl _start, replay_jump\n"
	"_start:\n"
	"	mov	%rsp, %rdi\n"
	"	lea	replay_stack+65536(%rip), %rsp\n"
	"	xor	%ebp, %ebp\n"
	"	call	replay_main\n"
	"	hlt\n"
	"replay_jump:\n"
	"	mov	%esi, %eax\n"
	"	mov	%rsi, %rdx\n"
	"	shr	$32, %rdx\n"
	"	xrstor64 (%rdi)\n"
	"	mov	replay_registers+0(%rip), %r15\n"
	"	mov	replay_registers+8(%rip), %r14\n"
	"	mov	replay_registers+16(%rip), %r13\n"
	"	mov	replay_registers+24(%rip), %r12\n"
	"	mov	replay_registers+32(%rip), %rbp\n"
	"	mov	replay_registers+40(%rip), %rbx\n"
	"	mov	replay_registers+48(%rip), %r11\n"
	"	mov	replay_registers+56(%rip), %r10\n"
	"	mov	replay_registers+64(%rip), %r9\n"
	"	mov	replay_registers+72(%rip), %r8\n"
	"	mov	replay_registers+80(%rip), %rax\n"
	"	mov	replay_registers+88(%rip), %rcx\n"
	"	mov	replay_registers+96(%rip), %rdx\n"
	"	mov	replay_registers+104(%rip), %rsi\n"
	"	mov	replay_registers+112(%rip), %rdi\n"
	"	lea	replay_stack+65536-128(%rip), %rsp\n"
	"	pushq	replay_registers+144(%rip)\n"
	"	popfq\n"
	"	mov	replay_registers+152(%rip), %rsp\n"
	"	jmp	*replay_registers+128(%rip)\n"
	".section .note.GNU-stack, \"\", @progbits\n"
	".text\n");
