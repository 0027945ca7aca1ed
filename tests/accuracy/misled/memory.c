/* SPDX-License-Identifier: MIT */
/* Programs of docs/misled.md that are about lists, tables and the way to memory. */
#include "misled.h"

enum { N = 4096 };

/* station: a turn picks a word that L2 has not and adds it up, and eight products wait for it, of which nothing is
 * used; then these are of what is known. Or the word is asked for 32 turns before. */
#define STATION_BEFORE "mov rsi, [rdi + 112]\nmov rdi, [rdi + 96]\nxor edx, edx\n"
#define PICKED "mov eax, [rsi]\nmov r8, [rdi + rax]\nadd rdx, r8\n"
#define PRODUCTS(to) MISLED_TIMES(4, "imul rbx, " to ", 3\nimul r9, " to ", 3") \
	"add rsi, 4\n"
#define ASKED "mov eax, [rsi + 128]\nprefetcht0 [rdi + rax]\n"
MISLED(station_base, MISLED_PICKS, STATION_BEFORE, PICKED PRODUCTS("r8"), "mov rax, rdx")
MISLED(station_other, MISLED_PICKS, STATION_BEFORE, ASKED PICKED PRODUCTS("r8"), "mov rax, rdx")
MISLED(station_fixed, MISLED_PICKS, STATION_BEFORE, PICKED PRODUCTS("rdi"), "mov rax, rdx")

/* branchy_list: a turn is a node of a list that L2 has not, whose value a branch by chance adds up or leaves. In rounds
 * over the whole list; or all rounds over a piece of it, and then the next. */
#define LIST_BEFORE "mov r8, [rdi + 80]\nmov r10, [rdi + 128]\nxor eax, eax\n"
#define NODE "mov r9, [r8 + 8]\nmov r8, [r8]\nmov r12, r9\nimul r12, rbx\n"
#define BRANCHED NODE "test r12, r12\njs 2f\nadd rax, r9\n2:\n"
#define MOVED NODE "xor r13d, r13d\ntest r12, r12\ncmovns r13, r9\nadd rax, r13\n"
#define ROUND(node) "mov rbx, [r10]\nadd r10, 8\nmov rdx, [rdi + 88]\n1:\n" node "dec rdx\njnz 1b"
MISLED(branchy_list_base, MISLED_ROUNDS, LIST_BEFORE, ROUND(BRANCHED), "")
MISLED(branchy_list_cure, MISLED_ROUNDS, LIST_BEFORE, ROUND(MOVED), "")
MISLED(branchy_list_fixed, room->far_nodes / MISLED_PIECE, LIST_BEFORE,
       "mov r14, r8\nxor r15d, r15d\n"
       "3: mov rbx, [r10 + r15 * 8]\nmov r8, r14\nmov edx, 256\n1:\n" BRANCHED "dec rdx\njnz 1b\n"
       "inc r15\ncmp r15d, 8\njne 3b", "")

/* branchy_table: a turn picks a word that L2 has not, and adds it up if two of its bits are zero, as one in four has by
 * chance; and 12 additions wait for nothing. */
#define TABLE_BEFORE(table, picks) "mov rsi, [rdi + " #picks "]\nmov rdi, [rdi + " #table "]\nxor eax, eax\n"
#define PICK "mov r8d, [rsi]\nadd rsi, 4\nmov r9, [rdi + r8]\n"
#define BESIDES MISLED_TIMES(3, "lea r10, [rdi + 1]\nvpaddd xmm0, xmm14, xmm15\nlea r11, [rdi + 2]\n" \
	"vpaddd xmm1, xmm14, xmm15")
#define BY_BRANCH PICK "test r9b, 3\njnz 1f\nadd rax, r9\n1:\n" BESIDES
#define BY_MOVE PICK "xor r12d, r12d\ntest r9b, 3\ncmovz r12, r9\nadd rax, r12\n" BESIDES
MISLED(branchy_table_base, MISLED_PICKS, TABLE_BEFORE(96, 112), BY_BRANCH, "")
MISLED(branchy_table_cure, MISLED_PICKS, TABLE_BEFORE(104, 120), BY_BRANCH, "")
MISLED(branchy_table_fixed, MISLED_PICKS, TABLE_BEFORE(96, 112), BY_MOVE, "")

/* divider: a turn is a node of a list that L1 has not, of which a third is added up. */
#define DIVIDER_BEFORE "mov r8, [rdi + 40]\nmov r9, [rdi + 48]\nmov r10, [rdi + 56]\nmov r11, [rdi + 64]\nvzeroall\n" \
	"mov eax, 3\nvcvtsi2sd xmm15, xmm15, eax\nmov eax, 1\nvcvtsi2sd xmm14, xmm14, eax\n" \
	"vdivsd xmm14, xmm14, xmm15\n"
#define THIRD(list, of, into) "vmovsd xmm1, [" list " + 16]\nmov " list ", [" list "]\n" of \
	"vaddsd xmm" #into ", xmm" #into ", xmm1\n"
#define DIVIDED "vdivsd xmm1, xmm1, xmm15\n"
#define MULTIPLIED "vmulsd xmm1, xmm1, xmm14\n"
#define FOUR(of) THIRD("r8", of, 0) THIRD("r8", of, 4) THIRD("r8", of, 5) THIRD("r8", of, 6)
#define NEAREST "vaddsd xmm0, xmm0, xmm4\nvaddsd xmm0, xmm0, xmm5\nvaddsd xmm0, xmm0, xmm6\nvcvtsd2si rax, xmm0\n" \
	"vzeroupper"
MISLED(divider_base, room->near_nodes / 4, DIVIDER_BEFORE, FOUR(DIVIDED), NEAREST)
MISLED(divider_cure, room->near_nodes / 4, DIVIDER_BEFORE, FOUR(MULTIPLIED), NEAREST)
MISLED(divider_fixed, room->near_nodes / 4, DIVIDER_BEFORE,
       THIRD("r8", DIVIDED, 0) THIRD("r9", DIVIDED, 4) THIRD("r10", DIVIDED, 5) THIRD("r11", DIVIDED, 6), NEAREST)

/* chase: a turn is a link of a list in L1, and beside it five loads that are added up and eight other additions. */
#define CHASE_BEFORE "mov r8, [rdi + 32]\nmov r9, r8\nmov rdx, [rdi + 16]\nadd rdx, 128\nxor ebx, ebx\n" \
	"xor r10d, r10d\nxor r11d, r11d\nxor r12d, r12d\nxor r13d, r13d\nxor r14d, r14d\nxor r15d, r15d\nvzeroall\n"
#define BESIDE(at) "add r10, [rdx + " #at "]\nvpaddd xmm0, xmm0, xmm15\nadd r11, [rdx + " #at " + 8]\n" \
	"vpaddd xmm1, xmm1, xmm15\nadd r12, [rdx + " #at " + 16]\nvpaddd xmm2, xmm2, xmm15\n" \
	"add r13, [rdx + " #at " + 24]\nvpaddd xmm3, xmm3, xmm15\nvpaddd xmm4, xmm4, xmm15\nlea r14, [rdx + 1]\n" \
	"vpaddd xmm5, xmm5, xmm15\nlea r15, [rdx + 2]\n"
#define LINK(list, at) "add rbx, [" list " + 8]\nmov " list ", [" list "]\n" BESIDE(at)
#define ALL_SUMS "lea rax, [rbx + r10]\nadd rax, r11\nadd rax, r12\nadd rax, r13\nvzeroupper"
MISLED(chase_base, N, CHASE_BEFORE, LINK("r8", -128) LINK("r8", -64) LINK("r8", 0) LINK("r8", 64), ALL_SUMS)
MISLED(chase_fixed, N, CHASE_BEFORE, LINK("r8", -128) LINK("r9", -64) LINK("r8", 0) LINK("r9", 64), ALL_SUMS)

/* aliases: a turn marks a state and looks the next one up. */
#define ALIASES_BEFORE(seen) "mov rsi, [rdi + " #seen "]\nmov rdx, [rdi + 136]\nxor eax, eax\n"
#define STATE "mov [rsi + rax * 4], ecx\nmov eax, [rdx + rax * 4]\n"
#define ALL_MARKS "xor ebx, ebx\n1: mov r8d, [rsi + rbx * 4]\nadd rax, r8\ninc ebx\ncmp ebx, 1024\njne 1b"
MISLED(aliases_base, N, ALIASES_BEFORE(144), MISLED_TIMES(4, STATE), ALL_MARKS)
MISLED(aliases_fixed, N, ALIASES_BEFORE(152), MISLED_TIMES(4, STATE), ALL_MARKS)

const struct misled_program misled_memory[] = {
	{ "station", { misled_station_base, 0, misled_station_other, misled_station_fixed }, MISLED_PICKS, "pick" },
	{ "branchy_list", { misled_branchy_list_base, misled_branchy_list_cure, 0, misled_branchy_list_fixed }, 0,
	  "node" },
	{ "branchy_table", { misled_branchy_table_base, misled_branchy_table_cure, 0, misled_branchy_table_fixed },
	  MISLED_PICKS, "pick" },
	{ "divider", { misled_divider_base, misled_divider_cure, 0, misled_divider_fixed }, 0, "node" },
	{ "chase", { misled_chase_base, 0, 0, misled_chase_fixed }, 4 * N, "link" },
	{ "aliases", { misled_aliases_base, 0, 0, misled_aliases_fixed }, 4 * N, "state" },
	{ 0 },
};
