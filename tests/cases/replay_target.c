/* SPDX-License-Identifier: MIT */
/* What snapshots are taken of. `replay-target MODE [ROUNDS]` computes for a while, or without end, and prints a sum:
 *
 *	plain   instructions that touch memory in all sorts of ways, and no system call
 *	avx     the same, with gathers and masked stores
 *	evex    the same, with masks in registers and 32 vectors, which QEMU cannot execute
 *	write   a byte to standard output now and then
 *	fault   a signal each round, whose handler steps over the instruction
 *	clock   what time it is
 *
 * Exit status 77 if the CPU cannot. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static uint8_t data[65536] __attribute__((aligned(64)));
static __thread uint64_t own __attribute__((used));

/* Pushes, calls, string instructions, both directions, repeated and not, read-modify-write, locked, x87, far offsets,
 * fs. */
uint64_t plain(uint8_t *at, uint64_t n);
__asm__(".text\n"
	"plain:	push	%rbx\n"
	"	push	%rbp\n"
	"	mov	%rsp, %rbp\n"
	"	sub	$64, %rsp\n"
	"	mov	%rdi, %rbx\n"
	"	xor	%eax, %eax\n"
	"1:	pushq	(%rbx)\n"
	"	popq	8(%rsp)\n"
	"	pushq	$77\n"
	"	pop	%rdx\n"
	"	call	2f\n"
	"	lea	1024(%rbx), %rdi\n"
	"	mov	%rbx, %rsi\n"
	"	mov	$37, %ecx\n"
	"	rep movsb\n"
	"	mov	$9, %ecx\n"
	"	lea	4096(%rbx), %rdi\n"
	"	rep stosq\n"
	"	mov	$20, %ecx\n"
	"	lea	1024(%rbx), %rdi\n"
	"	mov	%rbx, %rsi\n"
	"	movb	$1, 13(%rbx)\n"
	"	movb	$2, 1037(%rbx)\n"
	"	repe cmpsb\n"
	"	std\n"
	"	mov	$5, %ecx\n"
	"	lea	8192(%rbx), %rdi\n"
	"	lea	512(%rbx), %rsi\n"
	"	rep movsl\n"
	"	cld\n"
	"	lea	2048(%rbx), %rdi\n"
	"	lea	256(%rbx), %rsi\n"
	"	movsq\n"
	"	lodsb\n"
	"	lock addl $3, 128(%rbx)\n"
	"	adcq	%rax, 136(%rbx)\n"
	"	incb	144(%rbx)\n"
	"	xchg	%rdx, 152(%rbx)\n"
	"	cmovc	160(%rbx,%rcx,8), %rdx\n"
	"	fldt	176(%rbx)\n"
	"	fstpl	192(%rbx)\n"
	"	movdqu	208(%rbx), %xmm0\n"
	"	paddd	208(%rbx), %xmm0\n"
	"	movups	%xmm0, 224(%rbx)\n"
	"	prefetcht0 240(%rbx)\n"
	"	addq	$1, %fs:own@tpoff\n"
	"	mov	data+64(%rip), %ecx\n"
	"	addl	%ecx, %eax\n"
	"	bt	$3, %eax\n"
	"	jnc	3f\n"
	"	xorl	$5, 256(%ebx)\n" /* 32-bit address: data is low, as the program is linked there */
	"3:	dec	%r9\n"
	"	dec	%r10\n"
	"	subl	$1, 64(%rbx)\n"
	"	dec	%r11\n"
	"	decq	-8(%rbp)\n"
	"	add	$1, %rax\n"
	"	decq	-16(%rbp)\n"
	"	cmp	%r8, %r8\n"
	"	dec	%r8d\n"
	"	mov	-24(%rbp), %r8\n"
	"	inc	%r8\n"
	"	mov	%r8, -24(%rbp)\n"
	"	dec	%r12\n"
	"	inc	%r12\n"
	"	sub	$1, %r13\n"
	"	add	$1, %r13\n"
	"	decq	own_count(%rip)\n"
	"	jnz	1b\n"
	"	leave\n"
	"	pop	%rbx\n"
	"	ret\n"
	"2:	enter	$0, $0\n"
	"	mov	16(%rsp), %rdx\n"
	"	leave\n"
	"	ret\n"
	".data\n"
	"own_count: .quad 0\n"
	".text\n");
extern uint64_t own_count;

static uint64_t run_plain(void)
{
	own_count = 10;
	return plain(data, 0);
}

/* Gathers with some elements masked off, and stores of some elements. */
static uint64_t run_avx(void)
{
	uint64_t sum;

	__asm__ volatile(
		"vmovdqu (%1), %%ymm1\n"
		"vpslld	$22, %%ymm1, %%ymm1\n"
		"vpsrld	$20, %%ymm1, %%ymm1\n"          /* indexes up to 4092 */
		"vmovdqu 64(%1), %%ymm2\n"              /* a mask in the top bits */
		"vmovdqa %%ymm2, %%ymm4\n"
		"vpgatherdd %%ymm2, (%1,%%ymm1,4), %%ymm3\n"
		"vpmaskmovd %%ymm3, %%ymm4, 256(%1)\n"
		"vpmovzxdq %%xmm1, %%ymm5\n"
		"vpcmpeqd %%ymm2, %%ymm2, %%ymm2\n"
		"vpgatherqq %%ymm2, 8(%1,%%ymm5,2), %%ymm6\n"
		"vmovdqu %%ymm6, 320(%1)\n"
		"vmovd	%%xmm3, %k0\n"
		"vzeroupper\n"
		: "=r"(sum) : "r"(data) : "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "memory");
	return sum;
}

static uint64_t run_evex(void)
{
	uint64_t sum;

	__asm__ volatile(
		"mov	$0x35, %%eax\n"
		"kmovd	%%eax, %%k1\n"
		"vmovdqu32 (%1), %%ymm17%{%%k1%}%{z%}\n"
		"vmovdqu8 %%ymm17, 96(%1)%{%%k1%}\n"
		"vpsrld	$22, %%ymm17, %%ymm18\n"
		"vpgatherdd (%1,%%ymm18,4), %%ymm19%{%%k1%}\n"
		"vpaddd	128(%1)%{1to8%}, %%ymm19, %%ymm19\n"
		"vmovdqu32 %%ymm19, 512(%1)\n"
		"mov	512(%1), %k0\n"
		"vzeroupper\n"
		: "=r"(sum) : "r"(data) : "rax", "memory");
	return sum;
}

static uint64_t run_write(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 4000; i++)
		sum += data[(unsigned)i * 7919 % sizeof(data)]++;
	return write(1, "x", 1) == 1 ? sum : 0;
}

static void step_over(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;       /* mov (%rax), %eax */
}

static uint64_t run_fault(void)
{
	uint64_t sum = run_plain();

	for (int i = 0; i < 8; i++)
		sum += run_plain();
	__asm__ volatile("mov %1, %%rax\n mov (%%rax), %%eax" : "+r"(sum) : "r"(16ul) : "rax");
	return sum;
}

static uint64_t run_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_nsec > 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; uint64_t (*run)(void); } modes[] = {
		{ "plain", run_plain }, { "avx", run_avx }, { "evex", run_evex }, { "write", run_write },
			{ "fault", run_fault },
		{ "clock", run_clock },
	};
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX, sum = 0;
	const char *mode = argc > 1 ? argv[1] : "";
	struct sigaction action = { .sa_sigaction = step_over, .sa_flags = SA_SIGINFO };

	if ((strcmp(mode, "avx") == 0 && !__builtin_cpu_supports("avx2")) ||
	    (strcmp(mode, "evex") == 0 && (!__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw"))))
		return 77;
	sigaction(SIGSEGV, &action, NULL);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 2654435761u >> 7);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(modes[i].name, mode) == 0)
			for (uint64_t k = 0; k < rounds; k++)
				sum += modes[i].run();
	fprintf(stderr, "%llx\n", (unsigned long long)sum);
	return 0;
}
