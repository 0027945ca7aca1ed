/* SPDX-License-Identifier: MIT */
/* Pairs: a loop that one thing limits, which one knows by argument, and the same (NAME_without) with that limit
 * removed. tests/accuracy/whatif has the argument of each. In assembly, so that no compiler changes it; rdi and rsi
 * point to two regions of the room, each at the front of a page; r8 to r14 and xmm0 to xmm15 are free. */
#include "kernels.h"

enum { N = 1000 };

#define CLOBBERED "rax", "rbx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "memory", "cc", "xmm0", \
	"xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
	"xmm14", "xmm15"

/* `turns` turns of the body; `before` comes first, once. The loop begins at a line of 64 bytes. */
#define LOOP(...) LOOP_OF(__VA_ARGS__)  /* NEAR is two of its arguments */
#define LOOP_OF(name, turns, first, second, before, body) \
	KERNEL(name) \
	{ \
		uint64_t n = turns; \
		void *p = first, *q = second; \
\
		__asm__ volatile(".intel_syntax noprefix\n" before "\n.p2align 6\n7:\n" body \
				 "\ndec rcx\njnz 7b\n.att_syntax" : "+c"(n), "+D"(p), "+S"(q) : : CLOBBERED); \
		return 0; \
	}
#define NEAR room->text, room->out
#define ZERO "vzeroall\nxor eax, eax\nxor ebx, ebx\nxor edx, edx\nxor r8d, r8d\n"
#define TIMES(n, what) ".rept " #n "\n" what "\n.endr\n"

/* Latency. */
LOOP(pair_sums, N, NEAR, ZERO, TIMES(4, "addsd xmm0, xmm15"))
LOOP(pair_sums_without, N, NEAR, ZERO, "addsd xmm0, xmm15\naddsd xmm1, xmm15\naddsd xmm2, xmm15\naddsd xmm3, xmm15")
LOOP(pair_products, N, NEAR, ZERO, TIMES(4, "imul rax, rbx"))
LOOP(pair_products_without, N, NEAR, ZERO, "imul rax, rbx\nimul rdx, rbx\nimul r8, rbx\nimul r9, rbx")
LOOP(pair_fma, N, NEAR, ZERO, TIMES(4, "vfmadd231sd xmm0, xmm14, xmm15"))
LOOP(pair_fma_without, N, NEAR, ZERO, "vfmadd231sd xmm0, xmm14, xmm15\nvfmadd231sd xmm1, xmm14, xmm15\n"
     "vfmadd231sd xmm2, xmm14, xmm15\nvfmadd231sd xmm3, xmm14, xmm15")
LOOP(pair_cmov, N, NEAR, ZERO, "imul rdx, rax\nimul rdx, rbx\ncmp r8, 1\ncmove rax, rdx")
LOOP(pair_cmov_without, N, NEAR, ZERO, "imul rdx, rax\nimul rdx, rbx\ncmp r8, 1\njne 1f\nmov rax, rdx\n1:")
LOOP(pair_files, N, NEAR, ZERO, "movq xmm0, rax\nmovq rax, xmm0")
LOOP(pair_files_without, N, NEAR, ZERO, "movq xmm0, rax\nmov rax, rbx")
LOOP(pair_pointer, N, room->out, room->out, "mov [rdi], rdi\n", TIMES(2, "mov rdi, [rdi]"))
LOOP(pair_pointer_without, N, room->out, room->out, "mov [rdi], rdi\n", TIMES(2, "mov rax, [rdi]"))

/* Ports. */
LOOP(pair_multiplier, N, NEAR, ZERO, TIMES(6, "imul r8, rdi, 3"))
LOOP(pair_multiplier_without, N, NEAR, ZERO, TIMES(3, "imul r8, rdi, 3") TIMES(3, "lea r9, [rdi + 3]"))
LOOP(pair_shuffles, N, NEAR, ZERO, TIMES(6, "vpshufb xmm0, xmm15, xmm14"))
LOOP(pair_shuffles_without, N, NEAR, ZERO, TIMES(6, "vpaddd xmm0, xmm15, xmm15"))
LOOP(pair_loads, N, NEAR, ZERO, TIMES(4, "mov rax, [rdi]\nmov rbx, [rdi + 8]\nmov rdx, [rdi + 16]"))
LOOP(pair_loads_without, N, NEAR, ZERO, TIMES(2, "mov rax, [rdi]\nmov rbx, [rdi + 8]\nmov rdx, [rdi + 16]"))
LOOP(pair_width, N, NEAR, ZERO, TIMES(4, "paddd xmm0, xmm15\npaddd xmm1, xmm15\npaddd xmm2, xmm15\npaddd xmm3, xmm15"))
LOOP(pair_width_without, N, NEAR, ZERO,
     TIMES(2, "vpaddd ymm0, ymm0, ymm15\nvpaddd ymm1, ymm1, ymm15\nvpaddd ymm2, ymm2, ymm15\nvpaddd ymm3, ymm3, ymm15"))
LOOP(pair_division, N, NEAR, "mov r8d, 10\n", "mov eax, 1000\nxor edx, edx\ndiv r8d")
LOOP(pair_division_without, N, NEAR, "mov r8d, 429496730\n", "mov eax, 1000\nmul r8")
LOOP(pair_quotients, N, NEAR, ZERO, "divsd xmm0, xmm15\ndivsd xmm1, xmm15\ndivsd xmm2, xmm15\ndivsd xmm3, xmm15")
LOOP(pair_quotients_without, N, NEAR, ZERO,
     "mulsd xmm0, xmm15\nmulsd xmm1, xmm15\nmulsd xmm2, xmm15\nmulsd xmm3, xmm15")
LOOP(pair_gather, N, NEAR, ZERO, "vpcmpeqd ymm1, ymm1, ymm1\nvpgatherdd ymm0, [rdi + ymm15 * 4], ymm1")
LOOP(pair_gather_without, N, NEAR, ZERO, "vpcmpeqd ymm1, ymm1, ymm1\nvmovdqu ymm0, [rdi]")
LOOP(pair_locked, N, NEAR, ZERO, "lock add [rdi], rbx")
LOOP(pair_locked_without, N, NEAR, ZERO, "add [rdi], rbx")
LOOP(pair_strings, N, NEAR, "mov rbx, rsi\n", "mov rsi, rbx\nlodsb\nlodsb\nlodsb\nlodsb")
LOOP(pair_strings_without, N, NEAR, "mov rbx, rsi\n",
     "mov rsi, rbx\n" TIMES(4, "movzx eax, byte ptr [rsi]\ninc rsi"))

/* The front end. */
#define MIXED "mov r8, [rdi]\nmov eax, 1\nvpaddd xmm0, xmm15, xmm15\nmov r9, [rdi + 8]\nmov edx, 1\n" \
	"vpaddd xmm1, xmm15, xmm15\n"
LOOP(pair_issue, N, NEAR, ZERO, TIMES(4, MIXED))
LOOP(pair_issue_without, N, NEAR, ZERO, TIMES(2, MIXED))
#define PREFIXES ".byte 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e\n"
#define TWO(prefixes) prefixes "lea r8, [rdi + 8]\n" prefixes "paddd xmm0, xmm15\n" prefixes "lea r9, [rdi + 8]\n" \
	prefixes "paddd xmm1, xmm15\n"
LOOP(pair_long, N, NEAR, ZERO, TIMES(6, TWO(PREFIXES)))
LOOP(pair_long_without, N, NEAR, ZERO, TIMES(6, TWO("")))
#define TINY "1: lea r8, [rdi + 8]\nlea r9, [rdi + 16]\ndec eax\njnz 1b"
LOOP(pair_place, N, NEAR, ZERO, "mov eax, 40\njmp 1f\n.p2align 6\n.nops 57\n" TINY)
LOOP(pair_place_without, N, NEAR, ZERO, "mov eax, 40\njmp 1f\n.p2align 6\n" TINY)
#define FEW "lea r8, [rdi + 8]\nvpaddd xmm0, xmm15, xmm15\n"
LOOP(pair_decode, 10, NEAR, ZERO, TIMES(3800, FEW))
LOOP(pair_decode_without, 10, NEAR, ZERO, "mov eax, 20\n1:\n" TIMES(190, FEW) "dec eax\njnz 1b")
LOOP(pair_taken, N, NEAR, ZERO, TIMES(12, "jmp 1f\n.p2align 5\n1:"))
LOOP(pair_taken_without, N, NEAR, ZERO, TIMES(12, "mov eax, 1"))
/* Bits of a generator whose state goes on from pass to pass, so that nothing can learn them. */
#define COIN "imul rax, rbx\nadd rax, 12345\nmov [rsi], rax\nbt rax, 40\n"
#define COIN_BEFORE "mov rax, [rsi]\nmovabs rbx, 6364136223846793005\n"
LOOP(pair_coin, N, NEAR, COIN_BEFORE, COIN "jc 1f\nadd rdx, 3\n1:")
LOOP(pair_coin_without, N, NEAR, COIN_BEFORE, COIN "setc r8b\nmovzx r8d, r8b\nlea r8, [r8 + r8 * 2]\nadd rdx, r8")

/* Memory that is near. */
LOOP(pair_stores, N, NEAR, ZERO,
     "mov [rsi], rax\nmov [rsi + 64], rax\nmov [rsi + 128], rax\nmov [rsi + 192], rax")
LOOP(pair_stores_without, N, NEAR, ZERO, "mov [rsi], rax\nmov [rsi + 64], rax")
LOOP(pair_commits, N, NEAR, ZERO, "mov [rsi], rax\nmov [rsi + 64], rax\nmov [rsi + 8], rax\nmov [rsi + 72], rax")
LOOP(pair_commits_without, N, NEAR, ZERO,
     "mov [rsi], rax\nmov [rsi + 8], rax\nmov [rsi + 64], rax\nmov [rsi + 72], rax")
LOOP(pair_accumulator, N, NEAR, ZERO, "movsd xmm0, [rsi]\naddsd xmm0, xmm15\nmovsd [rsi], xmm0")
LOOP(pair_accumulator_without, N, NEAR, ZERO, "movsd xmm1, [rsi]\naddsd xmm0, xmm15\nmovsd [rsi + 64], xmm0")
LOOP(pair_counter, N, NEAR, ZERO, "add byte ptr [rsi], 1")
LOOP(pair_counter_without, N, NEAR, ZERO, "add al, 1")
LOOP(pair_spill, N, NEAR, ZERO, "movaps [rsi], xmm0\nmovaps xmm0, [rsi]\npaddd xmm0, xmm15")
LOOP(pair_spill_without, N, NEAR, ZERO, "movaps [rsi], xmm0\nmovaps xmm1, [rdi]\npaddd xmm0, xmm15")
LOOP(pair_blocked, N, NEAR, ZERO, "mov [rsi], eax\nmov [rsi + 4], edx\nmov rax, [rsi]\nadd rax, 1")
LOOP(pair_blocked_without, N, NEAR, ZERO, "mov [rsi], rax\nmov rax, [rsi]\nadd rax, 1")
#define ACROSS "mov r8, [rdi + 60]\nmov r9, [rdi + 124]\nmov r10, [rdi + 188]\nmov r11, [rdi + 252]\n"
#define INSIDE "mov r8, [rdi + 56]\nmov r9, [rdi + 120]\nmov r10, [rdi + 184]\nmov r11, [rdi + 248]\n"
LOOP(pair_split_loads, N, NEAR, ZERO, TIMES(3, ACROSS))
LOOP(pair_split_loads_without, N, NEAR, ZERO, TIMES(3, INSIDE))
LOOP(pair_split_stores, N, NEAR, ZERO, "mov [rsi + 60], rax\nmov [rsi + 124], rax")
LOOP(pair_split_stores_without, N, NEAR, ZERO, "mov [rsi + 56], rax\nmov [rsi + 120], rax")
/* What is loaded has the same place in its page as what is stored just before, and the next store waits for it. */
LOOP(pair_alias, N, NEAR, ZERO,
     "mov [rsi + rax], rbx\nmov rdx, [rdi + rax]\nimul rdx, rdx\nand rdx, 0\nlea rax, [rdx]")
LOOP(pair_alias_without, N, NEAR, ZERO,
     "mov [rsi + rax], rbx\nmov rdx, [rdi + rax + 1024]\nimul rdx, rdx\nand rdx, 0\nlea rax, [rdx]")

/* Memory that is farther. */
LOOP(pair_level, 1024, room->far, room->out, "", "mov rdi, [rdi]")
LOOP(pair_level_without, 1024, room->nodes, room->out, "", "mov rdi, [rdi]")
/* The list, line after line; or its four quarters at the same time. */
LOOP(pair_parallel, 2, room->far, room->out, "", "mov eax, 4096\nmov r8, rdi\n1: mov r8, [r8]\ndec eax\njnz 1b")
LOOP(pair_parallel_without, 2, room->far, room->quarters, "",
     "mov eax, 1024\nmov r8, [rsi]\nmov r9, [rsi + 8]\nmov r10, [rsi + 16]\nmov r11, [rsi + 24]\n"
     "1: mov r8, [r8]\nmov r9, [r9]\nmov r10, [r10]\nmov r11, [r11]\ndec eax\njnz 1b")
LOOP(pair_pages, 16, room->far, room->out, "",
     "xor eax, eax\n1: mov rdx, [rdi + rax]\nand edx, 0\nadd rax, rdx\nadd rax, 4096 + 64\ncmp rax, 4160 * 256\njne 1b")
LOOP(pair_pages_without, 16, room->far, room->out, "",
     "xor eax, eax\n1: mov rdx, [rdi + rax]\nand edx, 0\nadd rax, rdx\nadd rax, 64\ncmp rax, 64 * 256\njne 1b")
LOOP(pair_streams, 4, room->far, room->out, "",
     "xor eax, eax\n1: vmovups ymm0, [rdi + rax]\nvmovups ymm1, [rdi + rax + 32]\nadd rax, 64\n"
     "cmp rax, 262144\njne 1b")
LOOP(pair_streams_without, 4, room->far, room->out, "",
     "mov edx, 16\n2: xor eax, eax\n1: vmovups ymm0, [rdi + rax]\nvmovups ymm1, [rdi + rax + 32]\nadd rax, 64\n"
     "cmp rax, 16384\njne 1b\ndec edx\njnz 2b")

#define PAIR(name, turns, of) KERNEL_ROW(pair_ ## name, turns, of), KERNEL_ROW(pair_ ## name ## _without, turns, of)
const struct kernel kernels_pairs[] = {
	PAIR(sums, N, "turn"), PAIR(products, N, "turn"), PAIR(fma, N, "turn"), PAIR(cmov, N, "turn"),
	PAIR(files, N, "turn"), PAIR(pointer, N, "turn"),
	PAIR(multiplier, N, "turn"), PAIR(shuffles, N, "turn"), PAIR(loads, N, "turn"), PAIR(width, N, "turn"),
	PAIR(division, N, "turn"), PAIR(quotients, N, "turn"), PAIR(gather, N, "turn"), PAIR(locked, N, "turn"),
	PAIR(strings, N, "turn"),
	PAIR(issue, N, "turn"), PAIR(long, N, "turn"), PAIR(place, N, "turn"), PAIR(decode, 10, "turn"),
	PAIR(taken, N, "turn"), PAIR(coin, N, "turn"),
	PAIR(stores, N, "turn"), PAIR(commits, N, "turn"), PAIR(accumulator, N, "turn"), PAIR(counter, N, "turn"),
	PAIR(spill, N, "turn"), PAIR(blocked, N, "turn"), PAIR(split_loads, N, "turn"), PAIR(split_stores, N, "turn"),
	PAIR(alias, N, "turn"),
	PAIR(level, 1024, "access"), PAIR(parallel, 2 * 4096, "access"), PAIR(pages, 16 * 256, "access"),
	PAIR(streams, 4 * 4096, "line"),
	{ NULL },
};
