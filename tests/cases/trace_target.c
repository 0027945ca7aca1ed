/* SPDX-License-Identifier: MIT */
/* A program for tracers, without any library, so that each of its instructions is known. With an argument of L letters,
 * or n = 1000 L, it executes 30 + 4 L + 6 n instructions:
 *
 *	start	9 + 4 L, then 4 calls less one and 3 to exit
 *	loop	3 + 6 n; the i-th turn loads 8 bytes at data + 8 (i mod 512) and stores 4 at data + 8192
 *	string	6, one of which sets 100 bytes at data + 16384
 *	wide	2, the first of which loads 16 bytes at data + 64
 *	cross	4, the third of which, span, goes on in the next page */
__asm__(".text\n"
	".globl _start, loop, string, wide, data\n"
	"_start:\n"
	"	mov	16(%rsp), %rsi\n" /* argv[1] */
	"	mov	$1, %ecx\n"
	"	test	%rsi, %rsi\n"
	"	jz	2f\n"
	"	xor	%ecx, %ecx\n"
	"1:	cmpb	$0, (%rsi,%rcx)\n"
	"	je	1f\n"
	"	inc	%ecx\n"
	"	jmp	1b\n"
	"1:	imul	$1000, %ecx, %ecx\n"
	"2:	call	loop\n"
	"	call	string\n"
	"	call	wide\n"
	"	call	cross\n"
	"	mov	$60, %eax\n"
	"	xor	%edi, %edi\n"
	"	syscall\n"
	"	.p2align 6\n"
	"loop:	xor	%eax, %eax\n"
	"	lea	data(%rip), %rdx\n"
	"turn:	mov	(%rdx,%rax,8), %rsi\n"
	"	mov	%esi, 8192(%rdx)\n"
	"	inc	%eax\n"
	"	and	$511, %eax\n"
	"	dec	%ecx\n"
	"	jnz	turn\n"
	"	ret\n"
	"string: lea	data+16384(%rip), %rdi\n"
	"	mov	$100, %ecx\n"
	"	mov	$7, %eax\n"
	"	cld\n"
	"set:	rep stosb\n"
	"	ret\n"
	"wide:	movdqu	data+64(%rip), %xmm0\n"
	"	ret\n"
	"	.p2align 12\n"
	"	.skip	4092\n"
	"cross:	nop\n"
	"	nop\n"
	"span:	mov	$0x12345678, %eax\n"
	"	ret\n"
	".bss\n"
	"	.p2align 12\n"
	"data:	.zero	32768\n"
	".section .note.GNU-stack, \"\", @progbits\n"
	".text\n");
