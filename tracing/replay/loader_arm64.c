/* SPDX-License-Identifier: MIT */
/* gusprof-replay N, on arm64: puts the snapshot whose image is open as descriptor N back into memory and goes on where
 * it was taken, under QEMU. It has no library, and lies where no program does (tracing/replay/image_format.h), so that
 * it is in nobody's way.
 *
 * A branch to anywhere needs a register on arm64, and none is free at the end. What loads all of them at once is the
 * return from a signal: so the frame that a signal would have left is written, and the kernel (here QEMU) asked to
 * return from it. The layout is that of Linux's arch/arm64/include/uapi/asm/sigcontext.h and ucontext.h, and of struct
 * rt_sigframe in its arch/arm64/kernel/signal.c. */
#include <stddef.h>
#include <stdint.h>

#include "tracing/replay/image_format.h"
#include "tracing/replay/load.h"

enum { SP = 31, PC, PSTATE, THREAD };   /* in the image's registers, behind x0 to x30 */
#define SA_FLAGS 0x48000004ul           /* SIGINFO, ONSTACK, NODEFER */
#define FPSIMD_MAGIC 0x46508001u
#define FPSIMD_SIZE 528u                /* of the record; of the state, too, in another order */

struct fpsimd { uint32_t magic, size, status, control; uint64_t vectors[64]; };
struct context {
	uint64_t flags, link, stack, stack_flags, stack_size, mask, unused[15], align;
	uint64_t fault, registers[31], sp, pc, pstate, align_more;
	struct fpsimd fpsimd;           /* the first of several records */
	uint64_t end[2];
	uint8_t more[4096 - FPSIMD_SIZE - 16];
};
struct frame { uint64_t information[16]; struct context context; };
_Static_assert(offsetof(struct context, fault) == 176 && offsetof(struct context, fpsimd) == 464, "the kernel's");

uint8_t replay_stack[STACK_SIZE] __attribute__((aligned(64))) HIDDEN;
void replay_main(uint64_t *words) __attribute__((used, noreturn)) HIDDEN;
void replay_jump(const struct frame *frame) __attribute__((noreturn)) HIDDEN;
static uint8_t signal_stack[STACK_SIZE] __attribute__((aligned(64)));
static struct frame frame __attribute__((aligned(64)));

/* Signals that code can raise by itself: what the snapshot's own handlers would do is not part of the window. */
static void on_signal(int number, const void *information, const struct context *context)
{
	(void)information;
	call(GUS_REPLAY_SIGNAL, (uint64_t)number, context->pc, 0, 0, 0, 0);
	gus_replay_give_up(GUS_REPLAY_BAD, "nobody listens to what is raised at", context->pc);
}

static void set_handlers(void)
{
	static const int numbers[] = { 4, 5, 7, 8, 11 };        /* ILL, TRAP, BUS, FPE, SEGV */
	const struct { uint64_t stack, flags, size; } stack = { (uintptr_t)signal_stack, 0, sizeof(signal_stack) };
	const struct { uint64_t handler, flags, restorer, mask; } action = { (uintptr_t)on_signal, SA_FLAGS, 0, 0 };

	call(SYS_SIGALTSTACK, (uintptr_t)&stack, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		call(SYS_RT_SIGACTION, (uint64_t)numbers[i], (uintptr_t)&action, 0, 8, 0, 0);
}

/* user_fpsimd_state has the vectors before status and control, the record behind them. */
static void fill_frame(const struct gus_replay_image *i)
{
	struct context *c = &frame.context;

	for (int k = 0; k < 31; k++)
		c->registers[k] = i->registers[k];
	c->sp = i->registers[SP];
	c->pc = i->registers[PC];
	c->pstate = i->registers[PSTATE];
	c->stack = (uintptr_t)signal_stack;
	c->stack_size = sizeof(signal_stack);
	c->fpsimd.magic = FPSIMD_MAGIC;
	c->fpsimd.size = FPSIMD_SIZE;
	for (int k = 0; k < 64; k++) /* there is no memcpy to be called */
		__builtin_memcpy(&c->fpsimd.vectors[k], i->state + 8 * k, 8);
	__builtin_memcpy(&c->fpsimd.status, i->state + 512, 4);
	__builtin_memcpy(&c->fpsimd.control, i->state + 516, 4);
}

/* On a stack of our own. words: argc, argv[0], argv[1], ... */
void replay_main(uint64_t *words)
{
	if (words[0] < 2)
		gus_replay_give_up(GUS_REPLAY_BAD, "usage: gusprof-replay DESCRIPTOR; gusprof itself begins it", 0);
	gus_replay_load(gus_replay_number_of((const char *)(uintptr_t)words[2]));
	fill_frame(&replay_image);
	set_handlers();
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(replay_image.registers[THREAD]));
	call(GUS_REPLAY_BEGIN, replay_image.registers[PC], SYS_RT_SIGRETURN, 0, 0, 0, 0);
	replay_jump(&frame);
}

__asm__(".text\n"
	".globl _start\n"
	"_start:\n"
	"	mov	x0, sp\n"
	"	adrp	x1, replay_stack\n"
	"	add	x1, x1, :lo12:replay_stack\n"
	"	add	x1, x1, #65536\n"
	"	mov	sp, x1\n"
	"	mov	x29, xzr\n"
	"	mov	x30, xzr\n"
	"	b	replay_main\n"
	"replay_jump:\n"
	"	mov	sp, x0\n"
	"	mov	x8, #139\n"
	"	svc	#0\n"
	"	brk	#0\n"
	".section .note.GNU-stack, \"\", @progbits\n"
	".text\n");
