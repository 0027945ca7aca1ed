/* SPDX-License-Identifier: MIT */
/* gusprof-replay N, on x86-64: puts the snapshot whose image is open as descriptor N back into memory and goes on where
 * it was taken; under QEMU, or natively, step by step. It has no library, and lies where no program does
 * (tracing/replay/image_format.h), so that it is in nobody's way.
 *
 * It opens nothing: the image names descriptors of the files that were mapped. Natively it forbids itself all system
 * calls but those that it needs before it looks at the image, which is foreign, and before it jumps all but to return
 * from its own handlers and to end. Under QEMU the plugin has done that for the emulator, and ends it at the snapshot's
 * first call; signals come to a handler that tells of them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracing/replay/image_format.h"
#include "tracing/replay/load.h"

enum { SET_GS = 0x1001, SET_FS = 0x1002 };
enum { R15, R14, R13, R12, RBP, RBX, R11, R10, R9, R8, RAX, RCX, RDX, RSI, RDI, ORIG_RAX, RIP, CS, EFLAGS, RSP, SS,
	FS_BASE, GS_BASE };
#define SA_FLAGS 0x4c000004ul   /* SIGINFO, ONSTACK, RESTORER, NODEFER */
#define TRAP_FLAG 0x100ull

/* What the jump needs: read by the assembly below. */
extern uint64_t replay_registers[27];
extern uint8_t replay_stack[STACK_SIZE];
void replay_jump(const void *state, uint64_t mask) __attribute__((noreturn));
void replay_main(uint64_t *words) __attribute__((used, noreturn));
void replay_restore(void) HIDDEN;       /* returns from a handler */
/* Copies bytes as far as they can be read: how many are left. The two places are where it reads, and behind that. */
uint64_t replay_copy(void *to, const void *from, uint64_t n) HIDDEN;
extern const char replay_copies[] HIDDEN, replay_copied[] HIDDEN;

uint64_t replay_registers[27];
uint8_t replay_stack[STACK_SIZE] __attribute__((aligned(64)));
static uint8_t signal_stack[STACK_SIZE];

/* Signals that code can raise by itself: what the snapshot's own handlers would do is not part of the window. */
struct context { uint64_t flags, link, stack, stack_flags, stack_size, registers[23]; const uint8_t *state; };
struct information { int32_t number, error, code, pad; uint64_t address; int32_t call; };

static bool is_ours(uint64_t address)
{
	return address - GUS_REPLAY_BASE < GUS_REPLAY_SIZE;
}

/* Under QEMU. */
static void on_signal(int number, const struct information *info, struct context *context)
{
	(void)info;
	call(GUS_REPLAY_SIGNAL, (uint64_t)number, context->registers[GUS_REPLAY_RIP], 0, 0, 0, 0);
	gus_replay_give_up(GUS_REPLAY_BAD, "nobody listens to what is raised at", context->registers[GUS_REPLAY_RIP]);
}

static void handle(int number, void (*handler)(int, const struct information *, struct context *))
{
	const struct { uint64_t handler, flags, restorer, mask; } action = { (uintptr_t)handler, SA_FLAGS,
		(uintptr_t)replay_restore, 0 };

	call(SYS_RT_SIGACTION, (uint64_t)number, (uintptr_t)&action, 0, 8, 0, 0);
}

static void set_handlers(void (*handler)(int, const struct information *, struct context *))
{
	static const int numbers[] = { 4, 7, 8, 11 };   /* ILL, BUS, FPE, SEGV */
	const struct { uint64_t stack, flags, size; } stack = { (uintptr_t)signal_stack, 0, sizeof(signal_stack) };

	call(SYS_SIGALTSTACK, (uintptr_t)&stack, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		handle(numbers[i], handler);
}

/* Natively: it steps by itself. With the trap flag the CPU raises a signal behind each instruction, whose handler tells
 * of what is next, and returns: 2 us, where to be stepped by another process takes ten times as long. */

static struct gus_replay_told *const told = (struct gus_replay_told *)GUS_REPLAY_TOLD;

static void __attribute__((noreturn)) end(enum gus_replay_end how, uint64_t number, uint64_t at)
{
	told->number = number;
	told->at = at;
	told->ended = how;
	call(SYS_EXIT, 0, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

/* Where it is. Our own code is where a handler was: at the instruction that it was about to tell of. */
static uint64_t place_of(const struct context *c)
{
	uint64_t rip = c->registers[GUS_REPLAY_RIP];

	return !is_ours(rip) ? rip : told->n ? told->steps[told->n - 1].registers[GUS_REPLAY_RIP] : 0;
}

static void on_fault(int number, const struct information *info, struct context *c)
{
	(void)info;
	if (c->registers[GUS_REPLAY_RIP] == (uintptr_t)replay_copies) { /* bytes that are not there are not copied */
		c->registers[GUS_REPLAY_RIP] = (uintptr_t)replay_copied;
		return;
	}
	end(GUS_REPLAY_BY_SIGNAL, (uint64_t)number, place_of(c));
}

static void on_call(int number, const struct information *info, struct context *c)
{
	(void)number;
	end(GUS_REPLAY_BY_CALL, (uint64_t)(int64_t)info->call, place_of(c));
}

/* The first byte that is no prefix. */
static size_t opcode_at(const struct gus_replay_step *s, bool *repeats)
{
	size_t i = 0;

	*repeats = false;
	for (; i < s->code_n; i++) {
		uint8_t b = s->code[i];

		*repeats |= b == 0xf2 || b == 0xf3;
		if (b != 0x66 && b != 0x67 && b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 && b != 0x64 &&
		    b != 0x65 && b != 0xf0 && b != 0xf2 && b != 0xf3 && (b & 0xf0) != 0x40)
			break;
	}
	return i;
}

static bool is_repeated_string(const struct gus_replay_step *s)
{
	bool repeats;
	size_t i = opcode_at(s, &repeats);
	uint8_t b = i < s->code_n ? s->code[i] : 0;

	return repeats && ((b >= 0xa4 && b <= 0xa7) || (b >= 0xaa && b <= 0xaf) || (b >= 0x6c && b <= 0x6f));
}

/* Whether addresses may depend on vector or mask registers: 0F38 in VEX (gathers, VMASKMOV), a mask in EVEX, MASKMOV.
 * Who reads it decodes; of what only looks so the area is not looked at. */
static bool may_need_state(const struct gus_replay_step *s)
{
	bool repeats;
	size_t i = opcode_at(s, &repeats);
	const uint8_t *b = s->code + i;

	if (s->code_n < i + 4)
		return false;
	return (b[0] == 0xc4 && (b[1] & 0x1f) == 2) || (b[0] == 0x62 && b[3] & 7) || (b[0] == 0xc5 && b[2] == 0xf7) ||
		(b[0] == 0x0f && b[1] == 0xf7);
}

#define STATE_SIZE_AT 480       /* struct _fpx_sw_bytes of the kernel, its xstate_size */

static void keep_state(struct gus_replay_step *s, const struct context *c)
{
	uint8_t *to = (uint8_t *)&told->steps[told->most] + told->states_n * GUS_REPLAY_STATE;
	uint32_t size;

	if (told->states_n >= told->states_most || !c->state)
		return;
	__builtin_memcpy(&size, c->state + STATE_SIZE_AT, sizeof(size));
	if (size > GUS_REPLAY_STATE)
		return;
	for (uint32_t i = 0; i < size; i += 8)
		__builtin_memcpy(to + i, c->state + i, 8);
	s->state = (uint32_t)++told->states_n;
}

/* POPF would end the stepping, so it takes the flag from where it takes the others. */
static void keep_stepping(const struct gus_replay_step *s, const struct context *c)
{
	bool repeats;
	size_t i = opcode_at(s, &repeats);

	if (i < s->code_n && s->code[i] == 0x9d)
		*(volatile uint64_t *)(uintptr_t)c->registers[15] |= TRAP_FLAG;
}

/* A further turn of the last instruction, which is told of once. */
static bool is_turn(const struct context *c)
{
	const struct gus_replay_step *last = &told->steps[told->n - 1];

	return told->n && last->registers[GUS_REPLAY_RIP] == c->registers[GUS_REPLAY_RIP] && is_repeated_string(last);
}

static void on_step(int number, const struct information *info, struct context *c)
{
	struct gus_replay_step *s = &told->steps[told->n];
	uint64_t rip = c->registers[GUS_REPLAY_RIP];
	bool turned = false;

	(void)number, (void)info;
	if (is_ours(rip)) /* the jump */
		return;
	if (is_turn(c)) {
		turned = ++told->turns >= told->most;
		if (!turned)
			return;
	}
	if (told->n >= told->most)
		end(GUS_REPLAY_BY_STEPS, 0, rip);
	for (int i = 0; i < 18; i++)
		s->registers[i] = c->registers[i];
	told->n++;
	s->code_n = GUS_REPLAY_CODE - (uint32_t)replay_copy(s->code, (const void *)(uintptr_t)rip, GUS_REPLAY_CODE);
	s->state = 0;
	if (may_need_state(s))
		keep_state(s, c);
	keep_stepping(s, c);
	if (turned) /* in the midst of an instruction, and this is how far it is */
		end(GUS_REPLAY_BY_STEPS, 0, rip);
}

static void begin_stepping(void)
{
	set_handlers(on_fault);
	handle(5, on_step);     /* TRAP */
	handle(31, on_call);    /* SYS */
}

/* Natively: what is forbidden, in the kernel's own terms (linux/filter.h, linux/seccomp.h). A second filter only takes
 * away from what the first one leaves. */

struct rule { uint16_t code; uint8_t yes, no; uint32_t k; };
#define LOAD(at) { 0x20, 0, 0, at }
#define IS(value, yes, no) { 0x15, yes, no, value }
#define KILL { 0x06, 0, 0, 0x80000000 }
#define ALLOW { 0x06, 0, 0, 0x7fff0000 }
#define SIGNAL { 0x06, 0, 0, 0x00030000 }
#define IS_BELOW(value, yes, no) { 0x35, no, yes, value }
#define MACHINE 4               /* offset in what a filter sees; the number is at 0 */
#define CALLED_FROM 8           /* the lower half of an address */
#define X86_64 0xc000003e       /* another machine has other numbers: int $0x80 reaches those of 32 bits */

/* Reads the image, maps, and ends; or begins. */
static const struct rule while_loading[] = {
	LOAD(MACHINE), IS(X86_64, 1, 0), KILL, LOAD(0),
	IS(SYS_PREAD, 11, 0), IS(SYS_MMAP, 10, 0), IS(SYS_MPROTECT, 9, 0), IS(SYS_MUNMAP, 8, 0), IS(SYS_WRITE, 7, 0),
	IS(SYS_EXIT, 6, 0), IS(SYS_SECCOMP, 5, 0), IS(SYS_RT_SIGACTION, 4, 0), IS(SYS_SIGALTSTACK, 3, 0),
	IS(SYS_ARCH_PRCTL, 2, 0), IS(SYS_RT_SIGRETURN, 1, 0),
	SIGNAL, ALLOW,
};
_Static_assert((uint32_t)GUS_REPLAY_BASE == 0, "the filter compares halves of addresses");

/* To return from a handler and to end, and that only by our own code. All else is told of. */
static const struct rule from_now_on[] = {
	LOAD(MACHINE), IS(X86_64, 1, 0), KILL, LOAD(0),
	IS(SYS_RT_SIGRETURN, 1, 0), IS(SYS_EXIT, 0, 4),
	LOAD(CALLED_FROM + 4), IS(GUS_REPLAY_BASE >> 32, 0, 2), LOAD(CALLED_FROM), IS_BELOW(GUS_REPLAY_SIZE, 1, 0),
	SIGNAL, ALLOW,
};

static void forbid(const struct rule *rules, size_t n)
{
	const struct { uint64_t n, rules; } program = { n, (uintptr_t)rules };

	if (call(SYS_SECCOMP, 1, 0, (uintptr_t)&program, 0, 0, 0) != 0)
		gus_replay_give_up(GUS_REPLAY_BAD, "system calls cannot be forbidden:", 0);
}

static void map_told(int fd)
{
	struct { uint64_t begun, most, states_most; } head;
	uint64_t size;

	gus_replay_read_all(fd, (uintptr_t)&head, sizeof(head), 0);
	size = sizeof(*told) + head.most * sizeof(*told->steps) + head.states_most * GUS_REPLAY_STATE;
	if (call(SYS_MMAP, GUS_REPLAY_TOLD, size, PROT_RW, MAP_SHARED_ | MAP_FIXED_, (uint64_t)fd, 0) !=
	    (long)GUS_REPLAY_TOLD)
		gus_replay_give_up(GUS_REPLAY_BAD, "what is stepped over cannot be told at", GUS_REPLAY_TOLD);
}

/* On a stack of our own. words: argc, argv[0], argv[1], ... */
void replay_main(uint64_t *words)
{
	bool native = words[0] == 3;    /* a third word: where to tell of steps */
	int fd;

	if (words[0] < 2)
		gus_replay_give_up(GUS_REPLAY_BAD, "usage: gusprof-replay DESCRIPTOR [DESCRIPTOR]", 0);
	fd = gus_replay_number_of((const char *)(uintptr_t)words[2]);
	if (native) {
		int steps = gus_replay_number_of((const char *)(uintptr_t)words[3]);

		call(SYS_PRCTL, 38, 1, 0, 0, 0, 0);     /* no new privileges, which a filter wants */
		forbid(while_loading, sizeof(while_loading) / sizeof(*while_loading));
		/* The stack, the vdso and whatever else was put here by chance. */
		call(SYS_MUNMAP, 0x10000, GUS_REPLAY_BASE - 0x10000, 0, 0, 0, 0);
		call(SYS_MUNMAP, GUS_REPLAY_BASE + GUS_REPLAY_SIZE, 0x7ffffffff000 - GUS_REPLAY_BASE - GUS_REPLAY_SIZE,
		     0, 0, 0, 0);
		map_told(steps);
	}
	gus_replay_load(fd);
	for (int i = 0; i < 27; i++)
		replay_registers[i] = replay_image.registers[i];
	call(SYS_ARCH_PRCTL, SET_FS, replay_image.registers[FS_BASE], 0, 0, 0, 0);
	call(SYS_ARCH_PRCTL, SET_GS, replay_image.registers[GS_BASE], 0, 0, 0, 0);
	if (native) {
		begin_stepping();
		forbid(from_now_on, sizeof(from_now_on) / sizeof(*from_now_on));
		replay_registers[EFLAGS] |= TRAP_FLAG;
		told->begun = 1;
	} else {
		set_handlers(on_signal);
		call(GUS_REPLAY_BEGIN, replay_image.registers[RIP], 0, 0, 0, 0, 0);
	}
	replay_jump(replay_image.state, replay_image.state_mask);
}

/* No register is free and no flag may change at the end, so what is left comes from memory relative to the instruction.
 * The numbers are 8 times those of the enumeration above. */
__asm__(".text\n"
	".globl _start, replay_jump, replay_restore, replay_copy, replay_copies, replay_copied\n"
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
	"replay_restore:\n"
	"	mov	$15, %eax\n"
	"	syscall\n"
	"replay_copy:\n"
	"	mov	%rdx, %rcx\n"
	"replay_copies:\n"
	"	rep movsb\n"
	"replay_copied:\n"
	"	mov	%rcx, %rax\n"
	"	ret\n"
	".section .note.GNU-stack, \"\", @progbits\n"
	".text\n");
