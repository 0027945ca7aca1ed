/* SPDX-License-Identifier: MIT */
/* Programs of which it follows from what they are where their time goes: `judged NAME ROUNDS`.
 *
 * Each is a function NAME of its own, in assembly, from NAME to NAME_end, which does one round ROUNDS times; NAME_hot
 * is the instruction whose time it is, where it is one, NAME_round the branch at the end of a round. Why it is that
 * one stands in tests/accuracy/judged. Functions have rdi = rounds and rsi = memory, which is zero but for rings:
 * lines that hold the address of the next one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MEMORY (128ul << 20)

#define FUNCTION(name, before, body) \
	void name(uint64_t rounds, char *memory); \
	__asm__(".text\n.p2align 12\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" \
		"mov $0x5851f42d4c957f2d,%r8\nmov $0x14057b7ef767814f,%r9\nmov $1,%ebx\nxor %eax,%eax\n" \
		"xor %ecx,%ecx\nxor %edx,%edx\n" before "\n.p2align 6\n1:\n" body "\ndec %rdi\n" \
		".globl " #name "_round\n" #name "_round: jnz 1b\nret\n.globl " #name "_end\n" #name "_end:\n" \
		".size " #name ",.-" #name "\n")
#define HOT(name) ".globl " #name "_hot\n" #name "_hot: "
/* rdx: a place in 64 MiB by chance, a multiple of 64. */
#define ANYWHERE "imul %r8,%rax\nadd %r9,%rax\nmov %rax,%rdx\nshr $20,%rdx\nand $0x3ffffc0,%edx\n"

FUNCTION(chain_add, "", ".rept 100\nadd %rbx,%rax\n.endr");
FUNCTION(chain_imul, "", ".rept 100\nimul %rbx,%rax\n.endr");
FUNCTION(chain_fp, "pxor %xmm0,%xmm0\npxor %xmm1,%xmm1", ".rept 100\nmulsd %xmm1,%xmm0\n.endr");
FUNCTION(ports_imul, "", ".rept 50\nimul $3,%rbx,%rax\nimul $5,%rbx,%rdx\n.endr");
FUNCTION(ports_load, "", ".rept 100\nmov (%rsi),%rax\n.endr");
FUNCTION(divider, "pxor %xmm1,%xmm1\ncvtsi2sd %rbx,%xmm1\nmovapd %xmm1,%xmm2",
	 HOT(divider) ".rept 50\nmovapd %xmm1,%xmm0\ndivsd %xmm2,%xmm0\n.endr");
FUNCTION(chase, "", ANYWHERE HOT(chase) "mov (%rsi,%rdx),%rcx\nadd %rcx,%rax");
FUNCTION(stores, "", ANYWHERE HOT(stores) "mov %rcx,(%rsi,%rdx)");
FUNCTION(by_chance, "", "imul %r8,%rax\nadd %r9,%rax\nbt $40,%rax\n" HOT(by_chance) "jc 2f\nadd %rbx,%rcx\n2:");
FUNCTION(periodic, "", "imul %r8,%rdx\nadd %rbx,%rax\ntest $3,%al\n" HOT(periodic) "jz 2f\nadd %rbx,%rcx\n2:");
/* 1,201 lines in 19 pages; 37 lines further is not what is fetched ahead. From the last one back to the round's end. */
FUNCTION(code, "", "jmp 4f\n.p2align 6\n4:\n.set at,0\n.rept 1201\nadd %rbx,%rax\n.if at == 1201 - 37\njmp 5f\n.else\n"
	 "jmp 4b + (at + 37) % 1201 * 64\n.endif\n.p2align 6\n.set at,at+1\n.endr\n5:");
/* 1,200 pages, a line of each; these are of different sets. */
FUNCTION(code_pages, "", ".rept 1200\nadd %rbx,%rax\njmp 3f\n.skip 4096 + 64 - 8,0x90\n3:\n.endr");
FUNCTION(pages, "", HOT(pages) "mov (%rsi),%rsi");
FUNCTION(lines, "", HOT(lines) "mov (%rsi),%rsi");
FUNCTION(alias, "", "mov %rbx,(%rsi,%rcx)\n" HOT(alias) "mov 4096(%rsi,%rcx),%rcx");
FUNCTION(no_alias, "", "mov %rbx,(%rsi,%rcx)\n" HOT(no_alias) "mov 4160(%rsi,%rcx),%rcx");
FUNCTION(forward, "", "mov %rcx,(%rsi)\n" HOT(forward) "mov (%rsi),%rcx\nadd %rbx,%rcx");
FUNCTION(blocked, "", "mov %cl,(%rsi,%rcx)\n" HOT(blocked) "mov (%rsi,%rcx),%rcx");
FUNCTION(order, "", "imul %r8,%rax\nimul %r8,%rax\nmov %rax,%rdx\nand $0,%rdx\nmov %rbx,(%rsi,%rdx)\n" HOT(order)
	 "mov (%rsi),%rcx");
FUNCTION(fence, "", HOT(fence) "lfence\n.rept 8\nadd %rbx,%rax\n.endr");
FUNCTION(serial, "", "xor %eax,%eax\nxor %ecx,%ecx\n" HOT(serial) "cpuid");

/* n lines so far apart, a power of two, each with the address of one that is many pages away. */
static void make_ring(char *memory, uint64_t n, uint64_t step)
{
	for (uint64_t i = 0; i < n; i++)
		*(char **)(void *)(memory + i * step) = memory + (i + 617) % n * step;
}

static const struct kernel {
	const char *name;
	void (*run)(uint64_t rounds, char *memory);
	uint64_t ring, step;
} kernels[] = {
	{ "chain_add", chain_add, 0, 0 }, { "chain_imul", chain_imul, 0, 0 }, { "chain_fp", chain_fp, 0, 0 },
	{ "ports_imul", ports_imul, 0, 0 }, { "ports_load", ports_load, 0, 0 }, { "divider", divider, 0, 0 },
	{ "chase", chase, 0, 0 }, { "stores", stores, 0, 0 }, { "by_chance", by_chance, 0, 0 },
	{ "periodic", periodic, 0, 0 }, { "code", code, 0, 0 }, { "code_pages", code_pages, 0, 0 },
	{ "pages", pages, 256, 4096 + 64 }, { "lines", lines, 1024, 128 }, { "alias", alias, 0, 0 },
	{ "no_alias", no_alias, 0, 0 }, { "forward", forward, 0, 0 }, { "blocked", blocked, 0, 0 },
	{ "order", order, 0, 0 }, { "fence", fence, 0, 0 }, { "serial", serial, 0, 0 },
};

int main(int argc, char **argv)
{
	char *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (argc != 3 || memory == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		const struct kernel *k = &kernels[i];

		if (strcmp(k->name, argv[1]) != 0)
			continue;
		make_ring(memory, k->ring, k->step);
		k->run(strtoull(argv[2], NULL, 10), memory);
		return 0;
	}
	return 2;
}
