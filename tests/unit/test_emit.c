/* SPDX-License-Identifier: MIT */
/* The code of microbenchmarks: what it reads like, and that it does what microbenchmarks say of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>

#include "model/calibration/emit.h"

static const struct gus_micro_access nowhere = { .way = GUS_MICRO_FIXED };

/* The body's instructions, a line each. */
static void text_of(const struct gus_micro *k, char *out, size_t room)
{
	struct gus_insn insn;
	size_t used = 0;

	for (size_t at = k->loop; at < k->end; at += insn.length) {
		assert_true(gus_insn_decode(k->isa, k->code.v + at, k->end - at, at, &insn));
		used += (size_t)snprintf(out + used, room - used, "%s\n", insn.text);
		assert_true(used < room);
	}
}

static const char all[] =
	"nop\nmov eax, 0x05\nmov r11, 0x123456789a\n"
	"lea rbx, [rsi+0x1000]\nmov rbp, r12\nadd rcx, rsi\n"
	"add r14, 0xfffffffffffffff8\nadd rdx, 0x10000\nand r13, 0xfff\n"
	"imul r8, rax\ntest r9, r9\nmov rax, [rsi]\n"
	"mov r10, [r12+0x08]\nmovzx ebp, byte ptr [rbp+0x12c]\nmov r8, [r13+r14*1]\n"
	"mov [rsi+0x40], r11\nmov [rsi+0x2004], eax\nmov [r13-0x04], r11d\n"
	"mov [r13-0x04], bpl\nmovq xmm9, qword ptr [rbp]\n"
	"movups xmm1, [r12+0x10]\nvmovups ymm10, [r12+0x20]\nvmovups zmm11, zmmword ptr [r14+0x40]\n"
	"movq [rbp], xmm9\nmovups [rcx+0x10], xmm1\nvmovups [rsi+0x20], ymm10\n"
	"vmovups zmmword ptr [rdx], zmm3\nsqrtpd xmm1, xmm12\naddpd xmm8, xmm1\n"
	"mulpd xmm2, xmm3\nxorps xmm15, xmm14\nmovq r12, xmm3\n"
	"movq xmm12, r10\ncmp rdi, 0xffffffffffffffff\njz 0x13f\n"
	"test r11, r11\njnz 0x151\nnop [rax+rax*1], ax\n"
	"sub rdi, 0x01\njnz 0x80\n";

/* Each call once, with registers of both halves. */
static void x86_reads_as_meant(void **state)
{
	struct gus_micro *k = gus_micro_new(GUS_ISA_X86_64, "all");
	char text[4096];

	(void)state;
	gus_emit_begin(k);
	gus_emit_loop(k);
	gus_emit_nop(k);
	gus_emit_constant(k, 0, 5);
	gus_emit_constant(k, 8, UINT64_C(0x123456789a));
	gus_emit_address(k, 3, 4096);
	gus_emit_move(k, 4, 9);
	gus_emit_add(k, 1, GUS_EMIT_ARENA);
	gus_emit_add_constant(k, 11, -8);
	gus_emit_add_large(k, 2, 65536);
	gus_emit_mask(k, 10, 12);
	gus_emit_multiply(k, 5, 0);
	gus_emit_test(k, 6);
	gus_emit_load(k, 0, GUS_EMIT_ARENA, 0, nowhere);
	gus_emit_load(k, 7, 9, 8, nowhere);
	gus_emit_load_byte(k, 4, 4, 300, nowhere);
	gus_emit_load_indexed(k, 5, 10, 11, nowhere);
	gus_emit_store(k, 8, GUS_EMIT_ARENA, 64, nowhere);
	gus_emit_store_half(k, 0, GUS_EMIT_ARENA, 8196, nowhere);
	gus_emit_store_half(k, 8, 10, -4, nowhere);
	gus_emit_store_byte(k, 4, 10, -4, nowhere);
	gus_emit_load_vector(k, 9, 8, 4, 0, nowhere);
	gus_emit_load_vector(k, 1, 16, 9, 16, nowhere);
	gus_emit_load_vector(k, 10, 32, 9, 32, nowhere);
	gus_emit_load_vector(k, 11, 64, 11, 64, nowhere);
	gus_emit_store_vector(k, 9, 8, 4, 0, nowhere);
	gus_emit_store_vector(k, 1, 16, 1, 16, nowhere);
	gus_emit_store_vector(k, 10, 32, GUS_EMIT_ARENA, 32, nowhere);
	gus_emit_store_vector(k, 3, 64, 2, 0, nowhere);
	gus_emit_sqrt(k, 1, 12);
	gus_emit_add_vector(k, 8, 1);
	gus_emit_multiply_vector(k, 2, 3);
	gus_emit_xor_vector(k, 15, 14);
	gus_emit_to_general(k, 9, 3);
	gus_emit_to_vector(k, 12, 7);
	gus_emit_branch_never(k);
	gus_emit_branch(k, 8, 0);
	gus_emit_nop_long(k, 9);
	gus_emit_land(k);
	gus_emit_end(k);
	text_of(k, text, sizeof(text));
	assert_string_equal(text, all);
	gus_micro_free(k);
}

/* The same for A64, and offsets beyond what instructions say: scratch is x16. */
static const char all_arm64[] =
	"nop\nmovz x2, #0\nmovz x10, #0x3456\nmovk x10, #0x1200, lsl #48\nadd x5, x1, #1, lsl #12\n"
	"sub x5, x1, #1, lsl #12\nsub x5, x5, #1\nmovz x16, #0x100, lsl #16\nadd x13, x1, x16\n"
	"mov x6, x11\nadd x3, x3, x1\nsub x13, x13, #8\nadd x4, x4, #0x10, lsl #12\n"
	"add x4, x4, #1\nand x12, x12, #0xfff\nand x12, x12, #0x7fffffff\nand x12, x12, xzr\n"
	"mul x7, x7, x2\ncmp x8, #0\nldr x2, [x1]\nldr x9, [x11, #0x7ff8]\n"
	"add x16, x11, #8, lsl #12\nldur x9, [x16]\nldur x9, [x11, #-0x100]\n"
	"sub x16, x11, #0x101\nldur x9, [x16]\nldur x9, [x11, #0xff]\nldrb w6, [x6, #0x12c]\n"
	"ldr x7, [x12, x13]\nstr x10, [x1, #0x40]\nstr w9, [x1, #0x3ffc]\n"
	"add x16, x1, #4, lsl #12\nstur w9, [x16]\nstur w9, [x11, #2]\nsturb w6, [x12, #-4]\nldr d17, [x6]\n"
	"ldr q7, [x11, #0x10]\nstur d16, [x6, #4]\nstr q23, [x3, #0xfff0]\nfsqrt v1.2d, v20.2d\n"
	"fadd v16.2d, v16.2d, v1.2d\nfmul v2.2d, v2.2d, v3.2d\neor v23.16b, v23.16b, v22.16b\n"
	"fmov x11, d3\nfmov d20, x9\ncmn x0, #1\nb.eq #0x13c\ncbnz x10, #0x144\nnop\n"
	"subs x0, x0, #1\nb.ne #0x80\n";

static void arm64_reads_as_meant(void **state)
{
	struct gus_micro *k = gus_micro_new(GUS_ISA_ARM64, "all");
	char text[4096];

	(void)state;
	gus_emit_begin(k);
	gus_emit_loop(k);
	gus_emit_nop_long(k, 4);
	gus_emit_constant(k, 0, 0);
	gus_emit_constant(k, 8, UINT64_C(0x1200000000003456));
	gus_emit_address(k, 3, 4096);
	gus_emit_address(k, 3, -4097);
	gus_emit_address(k, 11, 1 << 24);
	gus_emit_move(k, 4, 9);
	gus_emit_add(k, 1, GUS_EMIT_ARENA);
	gus_emit_add_constant(k, 11, -8);
	gus_emit_add_large(k, 2, 65537);
	gus_emit_mask(k, 10, 12);
	gus_emit_mask(k, 10, 31);
	gus_emit_mask(k, 10, 0);
	gus_emit_multiply(k, 5, 0);
	gus_emit_test(k, 6);
	gus_emit_load(k, 0, GUS_EMIT_ARENA, 0, nowhere);
	gus_emit_load(k, 7, 9, 32760, nowhere);
	gus_emit_load(k, 7, 9, 32768, nowhere);
	gus_emit_load(k, 7, 9, -256, nowhere);
	gus_emit_load(k, 7, 9, -257, nowhere);
	gus_emit_load(k, 7, 9, 255, nowhere);
	gus_emit_load_byte(k, 4, 4, 300, nowhere);
	gus_emit_load_indexed(k, 5, 10, 11, nowhere);
	gus_emit_store(k, 8, GUS_EMIT_ARENA, 64, nowhere);
	gus_emit_store_half(k, 7, GUS_EMIT_ARENA, 16380, nowhere);
	gus_emit_store_half(k, 7, GUS_EMIT_ARENA, 16384, nowhere);
	gus_emit_store_half(k, 7, 9, 2, nowhere);
	gus_emit_store_byte(k, 4, 10, -4, nowhere);
	gus_emit_load_vector(k, 9, 8, 4, 0, nowhere);
	gus_emit_load_vector(k, 7, 16, 9, 16, nowhere);
	gus_emit_store_vector(k, 8, 8, 4, 4, nowhere);
	gus_emit_store_vector(k, 15, 16, 1, 65520, nowhere);
	gus_emit_sqrt(k, 1, 12);
	gus_emit_add_vector(k, 8, 1);
	gus_emit_multiply_vector(k, 2, 3);
	gus_emit_xor_vector(k, 15, 14);
	gus_emit_to_general(k, 9, 3);
	gus_emit_to_vector(k, 12, 7);
	gus_emit_branch_never(k);
	gus_emit_branch(k, 8, 0);
	gus_emit_nop(k);
	gus_emit_land(k);
	gus_emit_end(k);
	text_of(k, text, sizeof(text));
	assert_string_equal(text, all_arm64);
	assert_int_equal(k->accesses.n, 17);
	assert_int_equal(k->loop % 64, 0);
	gus_micro_free(k);
}

static void executes_as_it_says(void **state)
{
	enum { PASSES = 100, ARENA = 1 << 16, END = 60000, COUNT = 60008 };
	struct gus_micro *k = gus_micro_new(GUS_ISA_X86_64, "walk");
	struct gus_micro_walk walk;
	uint64_t at = 0, taken = 0;
	uint8_t *code, *arena;

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	gus_vec_push(&k->lists, (struct gus_micro_list){ .start = 128, .places = 37, .distance = 1000, .seed = 7 });
	gus_vec_push(&k->patterns, (struct gus_micro_pattern){ .start = 50000, .bytes = 64, .seed = 3 });
	gus_emit_begin(k);
	gus_emit_address(k, 0, 128);
	gus_emit_loop(k);
	gus_emit_load(k, 0, 0, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .step = true });
	gus_emit_address(k, 1, 50000);
	gus_emit_load_indexed(k, 2, 1, 3, (struct gus_micro_access){ GUS_MICRO_STRIDE, 50000, 1, 64, 0, false });
	gus_emit_mask(k, 2, 8);
	gus_emit_branch(k, 2, 0);
	gus_emit_add_constant(k, 4, 1);
	gus_emit_land(k);
	gus_emit_add_constant(k, 3, 1);
	gus_emit_mask(k, 3, 6);
	gus_emit_store(k, 0, GUS_EMIT_ARENA, END, (struct gus_micro_access){ .offset = END });
	gus_emit_store(k, 4, GUS_EMIT_ARENA, COUNT, (struct gus_micro_access){ .offset = COUNT });
	gus_emit_end(k);
	code = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, k->code.v, k->code.n);
	assert_int_equal(mprotect(code, ARENA, PROT_READ | PROT_EXEC), 0);
	gus_micro_fill(k, arena, (uintptr_t)arena);
	((void (*)(uint64_t, void *))(uintptr_t)code)(PASSES, arena);

	gus_micro_walk_begin(&walk, k);
	for (int i = 0; i < PASSES; i++) {
		gus_micro_walk_next(&walk);
		taken += walk.taken.v[0];
		assert_int_equal(walk.addresses.n, 4);
	}
	gus_micro_walk_next(&walk);
	memcpy(&at, arena + END, sizeof(at));
	assert_int_equal(at - (uintptr_t)arena, walk.addresses.v[0]);
	memcpy(&at, arena + COUNT, sizeof(at));
	assert_int_equal(at, PASSES - taken);
	assert_in_range(taken, 30, 70);
	gus_micro_walk_end(&walk);
	munmap(code, ARENA);
	munmap(arena, ARENA);
	gus_micro_free(k);
}

/* All places of a list come once a round, of one in order one after the other. */
static void lists_go_round(void **state)
{
	struct gus_micro *k = gus_micro_new(GUS_ISA_X86_64, "lists");
	struct gus_micro_walk walk;
	uint32_t seen[50] = { 0 };

	(void)state;
	gus_vec_push(&k->lists, (struct gus_micro_list){ .places = 50, .distance = 64, .seed = 1 });
	gus_vec_push(&k->lists, (struct gus_micro_list){ .places = 50, .distance = 4096, .skews = 4, .skew = 64,
							    .in_order = true });
	for (uint8_t l = 0; l < 2; l++)
		gus_vec_push(&k->accesses,
			     (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .list = l, .step = true });
	gus_micro_walk_begin(&walk, k);
	for (uint64_t i = 0; i < 100; i++) {
		gus_micro_walk_next(&walk);
		seen[walk.addresses.v[0] / 64]++;
		assert_int_equal(walk.addresses.v[1], i % 50 * 4096 + i % 50 % 4 * 64);
	}
	for (int i = 0; i < 50; i++)
		assert_int_equal(seen[i], 2);
	gus_micro_walk_end(&walk);
	gus_micro_free(k);
}

/* Blocks that lie apart: each in a row, in a random order, the last of a block farther, or anywhere in its page. */
static void blocks_lie_apart(void **state)
{
	enum { BLOCKS = 200, PLACES = 3 };
	static const struct gus_micro_list lists[] = {
		{ .start = 4032, .places = BLOCKS * PLACES, .distance = (uint64_t)-128, .block = PLACES, .rows = true,
		  .seed = 1, .apart = 8192, .leap = (uint64_t)-56 },
		{ .start = 64, .places = BLOCKS * PLACES, .distance = 64, .block = PLACES, .rows = true, .seed = 1,
		  .apart = 4096, .leap = 8, .scattered = 4 },
	};
	struct gus_micro *k = gus_micro_new(GUS_ISA_X86_64, "blocks");
	uint32_t seen[BLOCKS] = { 0 }, there = 0, sorted = 0;
	struct gus_micro_walk walk;
	uint64_t block = 0, before = 0;

	(void)state;
	for (uint8_t l = 0; l < 2; l++) {
		gus_vec_push(&k->lists, lists[l]);
		gus_vec_push(&k->accesses,
			     (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .list = l, .step = true });
	}
	gus_micro_walk_begin(&walk, k);
	while (gus_micro_walk_next(&walk), walk.addresses.v[0] % 8192 != 4032)
		;
	for (uint64_t i = 0; i < BLOCKS * PLACES; i++) {
		if (i % PLACES == 0)
			block = walk.addresses.v[0] / 8192;
		sorted += i % PLACES == 0 && block == before + 1;
		before = block;
		seen[block]++;
		assert_int_equal(walk.addresses.v[0], block * 8192 + 4032 - i % PLACES * 128 -
				 (i % PLACES == PLACES - 1 ? 56 : 0));
		assert_int_equal(walk.addresses.v[1] / 4096, block);
		if (i % PLACES < PLACES - 1)
			assert_int_equal(walk.addresses.v[1] % 4096, 64 + i % PLACES * 64);
		else
			there += walk.addresses.v[1] % 4096 == 64 + 2 * 64 + 8;
		assert_int_equal(walk.addresses.v[1] % 64, i % PLACES == PLACES - 1 ? 8 : 0);
		gus_micro_walk_next(&walk);
	}
	for (int i = 0; i < BLOCKS; i++)
		assert_int_equal(seen[i], PLACES);
	assert_in_range(there, BLOCKS / 4, BLOCKS / 4 + BLOCKS / 16);
	assert_true(sorted < BLOCKS / 10);
	gus_micro_walk_end(&walk);
	gus_micro_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_reads_as_meant), cmocka_unit_test(arm64_reads_as_meant),
		cmocka_unit_test(executes_as_it_says),
		cmocka_unit_test(lists_go_round), cmocka_unit_test(blocks_lie_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
