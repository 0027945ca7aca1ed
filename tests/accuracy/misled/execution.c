/* SPDX-License-Identifier: MIT */
/* Programs of docs/misled.md whose data are in L1: chains, windows, ports and the front end. */
#include "misled.h"

enum { N = 4096 };

/* The whole number that ymm0 adds up to, in rax. */
#define SUM "vextractf128 xmm1, ymm0, 1\nvaddpd xmm0, xmm0, xmm1\nvpermilpd xmm1, xmm0, 1\nvaddsd xmm0, xmm0, xmm1\n" \
	"vcvttsd2si rax, xmm0\nvzeroupper\n"
#define ADD(from) "vaddpd ymm0, ymm0, ymm" #from "\n"
/* Round an array of 8 KB, and of 4. */
#define ON_8K(bytes) "add eax, " #bytes "\nand eax, 8191\n"
#define ON_4K(bytes) "add eax, " #bytes "\nand eax, 4095\n"

/* figure1: of each of four vectors of x two products are added up, one by a constant and one by a vector of y that
 * stays the same meanwhile, as in the figure. A turn is two products. */
#define FIGURE1_BEFORE "mov rsi, [rdi]\nmov rdx, [rdi + 8]\nxor eax, eax\nvzeroall\nvmovapd ymm3, [rsi + 32]\n"
#define FIGURE1(at, load, first, second) "vmovapd ymm1, [rsi + rax + " #at "]\n" load \
	"vfmadd231pd ymm" #first ", ymm1, ymm3\nvfmadd231pd ymm" #second ", ymm1, ymm2\n"
#define LOADED "vmovapd ymm2, [rdx]\n"
#define FIGURE1_ONE(load) FIGURE1(0, load, 0, 0) FIGURE1(32, load, 0, 0) FIGURE1(64, load, 0, 0) \
	FIGURE1(96, load, 0, 0) ON_8K(128)
MISLED(figure1_base, N, FIGURE1_BEFORE, FIGURE1_ONE(LOADED), SUM)
MISLED(figure1_cure, N, FIGURE1_BEFORE LOADED, FIGURE1_ONE(""), SUM)
MISLED(figure1_fixed, N, FIGURE1_BEFORE,
       FIGURE1(0, LOADED, 4, 5) FIGURE1(32, LOADED, 6, 7) FIGURE1(64, LOADED, 8, 9) FIGURE1(96, LOADED, 10, 11)
       ON_8K(128), ADD(4) ADD(5) ADD(6) ADD(7) ADD(8) ADD(9) ADD(10) ADD(11) SUM)

/* loads: a turn is a product that is added up, six loads of which four are added to registers, and six additions of
 * vectors. */
#define LOADS_BEFORE "mov rsi, [rdi + 16]\nadd rsi, 128\nmov rdx, [rdi]\nvzeroall\nvmovsd xmm14, [rdx + 8]\n" \
	"vmovsd xmm15, [rdx + 16]\nxor eax, eax\n" CLEAR_8
#define CLEAR_8 "xor r8d, r8d\nxor r9d, r9d\nxor r10d, r10d\nxor r11d, r11d\nxor r12d, r12d\nxor r13d, r13d\n" \
	"xor r14d, r14d\nxor r15d, r15d\n"
#define SUM_8 "add rax, r8\nadd rax, r9\nadd rax, r10\nadd rax, r11\nadd rax, r12\nadd rax, r13\nadd rax, r14\n" \
	"add rax, r15\n"
#define LOADS(at, into) "vfmadd231sd xmm" #into ", xmm14, xmm15\n" \
	"add r8, [rsi + " #at "]\nadd r9, [rsi + " #at " + 8]\nvpaddd xmm8, xmm12, xmm13\nvpaddd xmm1, xmm12, xmm13\n" \
	"add r10, [rsi + " #at " + 16]\nadd r11, [rsi + " #at " + 24]\nvpaddd xmm9, xmm12, xmm13\n" \
	"vpaddd xmm2, xmm12, xmm13\nmov r12, [rsi + " #at " + 32]\nmov r13, [rsi + " #at " + 40]\n" \
	"vpaddd xmm10, xmm12, xmm13\nvpaddd xmm11, xmm12, xmm13\n"
#define FROM_4 "vaddsd xmm0, xmm0, xmm4\nvaddsd xmm0, xmm0, xmm5\nvaddsd xmm0, xmm0, xmm6\n"
MISLED(loads_base, N, LOADS_BEFORE, LOADS(-128, 0) LOADS(-64, 0) LOADS(0, 0) LOADS(64, 0), SUM SUM_8)
MISLED(loads_fixed, N, LOADS_BEFORE, LOADS(-128, 0) LOADS(-64, 4) LOADS(0, 5) LOADS(64, 6), FROM_4 SUM SUM_8)

/* waiting: a turn is three products that are added up, each to the one before, and 12 additions that wait for the last.
 * Six turns one after the other; first the products of six turns; or six sums. */
#define WAITING_BEFORE "mov rdx, [rdi]\nvzeroall\nvmovsd xmm14, [rdx + 8]\nvmovsd xmm15, [rdx + 16]\n"
#define PRODUCTS(sum) MISLED_TIMES(3, "vfmadd231sd xmm" #sum ", xmm14, xmm15")
#define WAIT(on) MISLED_TIMES(4, "vpaddd xmm7, xmm" #on ", xmm13\nvpaddd xmm8, xmm" #on ", xmm13\n" \
	"vpaddd xmm9, xmm" #on ", xmm13")
#define FIRST(into) PRODUCTS(0) "vmovapd xmm" #into ", xmm0\n"
#define APART(sum) PRODUCTS(sum) "vmovapd xmm6, xmm" #sum "\n" WAIT(6)
#define STEP(into) FIRST(into) WAIT(into)
MISLED(waiting_base, N, WAITING_BEFORE, STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6), SUM)
MISLED(waiting_cure, N, WAITING_BEFORE, FIRST(1) FIRST(2) FIRST(3) FIRST(4) FIRST(5) FIRST(6)
       WAIT(1) WAIT(2) WAIT(3) WAIT(4) WAIT(5) WAIT(6), SUM)
MISLED(waiting_fixed, N, WAITING_BEFORE, APART(0) APART(1) APART(2) APART(3) APART(4) APART(5),
       ADD(1) ADD(2) ADD(3) ADD(4) ADD(5) SUM)

/* frontend: a turn is 1,024 times six instructions on all ports; all written down, or 32 times 32 of them. */
#define SIX(sum) "lea r8, [rdi + 8]\nadd " sum ", rbx\nvpaddd xmm0, xmm14, xmm15\nmov r10, [rdi]\n" \
	"lea r11, [rdi + 16]\nvpaddd xmm1, xmm14, xmm15\n"
#define FRONTEND_BEFORE "xor r9d, r9d\nxor r12d, r12d\nmov ebx, 3\nvzeroall\n"
MISLED(frontend_base, N / 128, FRONTEND_BEFORE, MISLED_TIMES(512, SIX("r9") SIX("r12")), "lea rax, [r9 + r12]")
MISLED(frontend_fixed, N / 128, FRONTEND_BEFORE,
       "mov edx, 32\n1:\n" MISLED_TIMES(16, SIX("r9") SIX("r12")) "dec edx\njnz 1b", "lea rax, [r9 + r12]")

/* stores: a turn is a product that is added up, three stores of what is known, and two additions. */
#define STORES_BEFORE "mov rsi, [rdi + 24]\nmov rdx, [rdi]\nvzeroall\nvmovsd xmm14, [rdx + 8]\n" \
	"vmovsd xmm15, [rdx + 16]\nxor eax, eax\nmov r8d, 1\n"
#define STORES(at, into) "vfmadd231sd xmm" #into ", xmm14, xmm15\nmov [rsi + rax + " #at "], r8\n" \
	"mov [rsi + rax + " #at " + 8], r8\nvpaddd xmm8, xmm8, xmm13\nmov [rsi + rax + " #at " + 16], r8\n" \
	"vpaddd xmm9, xmm9, xmm13\n"
MISLED(stores_base, N, STORES_BEFORE, STORES(0, 0) STORES(24, 0) STORES(48, 0) STORES(72, 0) ON_4K(96), SUM)
MISLED(stores_fixed, N, STORES_BEFORE, STORES(0, 0) STORES(24, 4) STORES(48, 5) STORES(72, 6) ON_4K(96), FROM_4 SUM)

/* balanced: a turn is three links of a list and three products that are added up, one after the other, and beside them
 * three sums of nodes and six additions that wait for nothing. */
#define BALANCED_BEFORE "mov rdx, [rdi]\nvzeroall\nvmovsd xmm14, [rdx + 8]\nvmovsd xmm15, [rdx + 16]\n" \
	"mov r8, [rdi + 32]\nmov r9, r8\nmov r10, r8\nmov r11, r8\nxor ebx, ebx\n"
#define LINK(list, into) "mov r12, [" list " + 8]\nmov " list ", [" list "]\nvfmadd231sd xmm" #into ", xmm14, xmm15\n" \
	"add rbx, r12\nlea r13, [rdi + 1]\nlea r14, [rdi + 2]\n"
#define BALANCED(list, into) LINK(list, into) LINK(list, into) LINK(list, into)
#define LISTS(a, b, c, d) BALANCED("r8", a) BALANCED("r9", b) BALANCED("r10", c) BALANCED("r11", d)
#define LIST(a, b, c, d) BALANCED("r8", a) BALANCED("r8", b) BALANCED("r8", c) BALANCED("r8", d)
MISLED(balanced_base, N, BALANCED_BEFORE, LIST(0, 0, 0, 0), SUM "add rax, rbx")
MISLED(balanced_cure, N, BALANCED_BEFORE, LISTS(0, 0, 0, 0), SUM "add rax, rbx")
MISLED(balanced_other, N, BALANCED_BEFORE, LIST(0, 4, 5, 6), FROM_4 SUM "add rax, rbx")
MISLED(balanced_fixed, N, BALANCED_BEFORE, LISTS(0, 4, 5, 6), FROM_4 SUM "add rax, rbx")

/* gather: a turn picks four numbers of 32 bits and adds them as a vector; by way of general registers, or by loads that
 * put them in their places. */
#define GATHER_BEFORE "mov rsi, [rdi + 160]\nmov rdx, [rdi + 16]\nxor eax, eax\nvzeroall\n"
#define PICKED(at) "mov r8d, [rsi + rax + " #at "]\nmov r9d, [rsi + rax + " #at " + 4]\n" \
	"mov r10d, [rsi + rax + " #at " + 8]\nmov r11d, [rsi + rax + " #at " + 12]\n"
#define BY_REGISTERS(at) PICKED(at) "mov r8d, [rdx + r8 * 4]\nmov r9d, [rdx + r9 * 4]\nmov r10d, [rdx + r10 * 4]\n" \
	"mov r11d, [rdx + r11 * 4]\nvmovd xmm1, r8d\nvpinsrd xmm1, xmm1, r9d, 1\nvpinsrd xmm1, xmm1, r10d, 2\n" \
	"vpinsrd xmm1, xmm1, r11d, 3\nvpaddd xmm0, xmm0, xmm1\n"
#define BY_LOADS(at) PICKED(at) "vmovd xmm1, dword ptr [rdx + r8 * 4]\n" \
	"vpinsrd xmm1, xmm1, dword ptr [rdx + r9 * 4], 1\nvpinsrd xmm1, xmm1, dword ptr [rdx + r10 * 4], 2\n" \
	"vpinsrd xmm1, xmm1, dword ptr [rdx + r11 * 4], 3\nvpaddd xmm0, xmm0, xmm1\n"
#define GATHER "vpextrq rax, xmm0, 1\nvmovq rcx, xmm0\nadd rax, rcx\nvzeroupper"
MISLED(gather_base, N, GATHER_BEFORE, BY_REGISTERS(0) BY_REGISTERS(16) BY_REGISTERS(32) BY_REGISTERS(48) ON_4K(64),
       GATHER)
MISLED(gather_fixed, N, GATHER_BEFORE, BY_LOADS(0) BY_LOADS(16) BY_LOADS(32) BY_LOADS(48) ON_4K(64), GATHER)

const struct misled_program misled_execution[] = {
	{ "figure1", { misled_figure1_base, misled_figure1_cure, 0, misled_figure1_fixed }, 4 * N, "two products" },
	{ "loads", { misled_loads_base, 0, 0, misled_loads_fixed }, 4 * N, "product" },
	{ "waiting", { misled_waiting_base, misled_waiting_cure, 0, misled_waiting_fixed }, 6 * N, "four products" },
	{ "frontend", { misled_frontend_base, 0, 0, misled_frontend_fixed }, N / 128 * 1024, "six instructions" },
	{ "stores", { misled_stores_base, 0, 0, misled_stores_fixed }, 4 * N, "product" },
	{ "balanced", { misled_balanced_base, misled_balanced_cure, misled_balanced_other, misled_balanced_fixed },
	  4 * N, "three links" },
	{ "gather", { misled_gather_base, 0, 0, misled_gather_fixed }, 4 * N, "vector" },
	{ 0 },
};
