/* SPDX-License-Identifier: MIT */
#include "collector/timing/enter.h"

#if defined(__x86_64__)
/* System V ABI: passes and arena move to where the first two arguments are. 56 bytes of registers and the return
 * address, then 24 of ours, which leaves the stack at a multiple of 16 for the call. */
__asm__(
	".text\n"
	".globl gus_timing_enter\n"
	".type gus_timing_enter, @function\n"
	".p2align 6\n"
	"gus_timing_enter:\n\t"
	".cfi_startproc\n\t"
	"push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
	"sub $24, %rsp\n\t"
	".cfi_def_cfa_offset 80\n\t"
	"stmxcsr (%rsp)\n\t"
	"fnstcw 4(%rsp)\n\t"
	"mov %ecx, 8(%rsp)\n\t"
	"mov %rdi, %rax\n\tmov %rsi, %rdi\n\tmov %rdx, %rsi\n\t"
	"call *%rax\n\t"
	"cld\n\t"
	"emms\n\t"
	"fldcw 4(%rsp)\n\t"
	"ldmxcsr (%rsp)\n\t"
	"cmpl $0, 8(%rsp)\n\t"
	"je 1f\n\t"
	"vzeroupper\n"
	"1:\n\t"
	"add $24, %rsp\n\t"
	"pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\t"
	".cfi_def_cfa_offset 8\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size gus_timing_enter, .-gus_timing_enter");
#elif defined(__aarch64__)
/* AAPCS64: x19 to x30 and the low halves of v8 to v15 are kept. */
__asm__(
	".text\n"
	".globl gus_timing_enter\n"
	".type gus_timing_enter, @function\n"
	".p2align 6\n"
	"gus_timing_enter:\n\t"
	".cfi_startproc\n\t"
	"stp x29, x30, [sp, #-176]!\n\t"
	".cfi_def_cfa_offset 176\n\t"
	"stp x19, x20, [sp, #16]\n\tstp x21, x22, [sp, #32]\n\tstp x23, x24, [sp, #48]\n\t"
	"stp x25, x26, [sp, #64]\n\tstp x27, x28, [sp, #80]\n\t"
	"stp d8, d9, [sp, #96]\n\tstp d10, d11, [sp, #112]\n\tstp d12, d13, [sp, #128]\n\t"
	"stp d14, d15, [sp, #144]\n\t"
	"mrs x9, fpcr\n\tstr x9, [sp, #160]\n\t"
	"mov x9, x0\n\tmov x0, x1\n\tmov x1, x2\n\t"
	"blr x9\n\t"
	"ldr x9, [sp, #160]\n\tmsr fpcr, x9\n\t"
	"ldp d14, d15, [sp, #144]\n\tldp d12, d13, [sp, #128]\n\tldp d10, d11, [sp, #112]\n\t"
	"ldp d8, d9, [sp, #96]\n\tldp x27, x28, [sp, #80]\n\tldp x25, x26, [sp, #64]\n\t"
	"ldp x23, x24, [sp, #48]\n\tldp x21, x22, [sp, #32]\n\tldp x19, x20, [sp, #16]\n\t"
	"ldp x29, x30, [sp], #176\n\t"
	".cfi_def_cfa_offset 0\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size gus_timing_enter, .-gus_timing_enter");
#else
void gus_timing_enter(const void *code, uint64_t passes, void *arena, int wide)
{
	(void)code;
	(void)passes;
	(void)arena;
	(void)wide;
}
#endif
