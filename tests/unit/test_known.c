/* SPDX-License-Identifier: MIT */
/* Addresses of prefetches out of what accesses tell, on instructions whose registers are followed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/watch/known.h"

static struct gus_known_insn prepare(enum gus_isa isa, const char *bytes, size_t size)
{
	char form[GUS_INSN_FORM_MAX];
	struct gus_known_insn insn;
	struct gus_insn_info info;

	assert_int_equal(gus_insn_analyse(isa, bytes, size, &info), size);
	gus_insn_form_text(isa, bytes, size, form, sizeof(form));
	gus_known_prepare(&insn, isa, &info, form);
	return insn;
}
#define X86(bytes) prepare(GUS_ISA_X86_64, bytes, sizeof(bytes) - 1)
#define ARM64(bytes) prepare(GUS_ISA_ARM64, bytes, sizeof(bytes) - 1)

static void run(struct gus_known *k, struct gus_known_insn insn)
{
	gus_known_step(k, &insn, NULL, 0);
}

static void access_at(struct gus_known *k, struct gus_known_insn insn, uint64_t address)
{
	gus_known_step(k, &insn, &address, 1);
}

static void expect(struct gus_known *k, struct gus_known_insn insn, uint64_t address)
{
	struct gus_value v = gus_known_prefetch(k, &insn, 0x401000);

	assert_true(insn.prefetch);
	assert_true(v.known);
	assert_int_equal(v.bits, address);
}

static void expect_unknown(struct gus_known *k, struct gus_known_insn insn)
{
	assert_false(gus_known_prefetch(k, &insn, 0x401000).known);
}

static void test_base(void **state)
{
	struct gus_known_insn prefetch = X86("\x0f\x18\x8f\x00\x01\x00\x00"); /* prefetcht0 [rdi + 256] */
	struct gus_known k = { 0 };

	(void)state;
	expect_unknown(&k, prefetch);
	access_at(&k, X86("\x48\x8b\x07"), 0x7000);                /* mov rax, [rdi] */
	expect(&k, prefetch, 0x7100);
	run(&k, X86("\x48\x83\xc7\x40"));                          /* add rdi, 64 */
	expect(&k, prefetch, 0x7140);
	run(&k, X86("\x48\x01\xff"));                              /* add rdi, rdi */
	expect(&k, prefetch, 2 * 0x7040 + 256);
	access_at(&k, X86("\x48\x8b\x7f\x08"), 2 * 0x7040 + 8);    /* mov rdi, [rdi + 8]: what it loads is not known */
	expect_unknown(&k, prefetch);
	assert_int_equal(k.prefetches, 5);
	assert_int_equal(k.unknown, 2);
	assert_int_equal(k.learnt, 1);
	assert_int_equal(k.wrong, 0);
}

static void test_index(void **state)
{
	struct gus_known_insn prefetch = X86("\x0f\x18\x8c\xcf\x00\x02\x00\x00"); /* prefetcht0 [rdi + rcx * 8 + 512] */
	struct gus_known_insn load = X86("\x48\x8b\x04\xcf");      /* mov rax, [rdi + rcx * 8] */
	struct gus_known k = { 0 };

	(void)state;
	access_at(&k, load, 0x8000);                               /* neither is known, their sum is */
	expect(&k, prefetch, 0x8200);
	run(&k, X86("\x48\xff\xc1"));                              /* inc rcx */
	expect(&k, prefetch, 0x8208);
	access_at(&k, load, 0x8008);
	run(&k, X86("\x48\x83\xc7\x40"));                          /* add rdi, 64 */
	expect(&k, prefetch, 0x8248);
	run(&k, X86("\xff\xc1")); /* inc ecx: its upper half goes, and what was there is not known */
	expect_unknown(&k, prefetch);
	run(&k, X86("\x31\xc9"));                                  /* xor ecx, ecx */
	expect_unknown(&k, prefetch);
	access_at(&k, load, 0x9000);                               /* so rdi is 0x9000 */
	run(&k, X86("\xff\xc1"));
	expect(&k, prefetch, 0x9208);
	run(&k, X86("\x48\x8d\x74\xcf\x20"));                      /* lea rsi, [rdi + rcx * 8 + 32] */
	expect(&k, X86("\x0f\x0d\x0e"), 0x9028);                   /* prefetchw [rsi] */
	assert_int_equal(k.wrong, 0);
}

/* What is not as believed is counted, and what the access says is believed from then on. */
static void test_wrong(void **state)
{
	struct gus_known_insn load = X86("\x48\x8b\x07"), prefetch = X86("\x0f\x18\x8f\x00\x01\x00\x00");
	struct gus_known k = { 0 };

	(void)state;
	access_at(&k, load, 0x7000);
	access_at(&k, load, 0x6000);                               /* someone wrote rdi behind our back */
	assert_int_equal(k.wrong, 1);
	expect(&k, prefetch, 0x6100);
	run(&k, X86("\x0f\x05"));                                  /* syscall */
	expect_unknown(&k, prefetch);
	access_at(&k, load, 0x7000);
	gus_known_forget(&k);
	expect_unknown(&k, prefetch);
	assert_int_equal(k.wrong, 1);
}

static void test_special(void **state)
{
	struct gus_known_insn push = X86("\x53"),
		stack = X86("\x0f\x18\x4c\x24\x40"); /* push rbx; prefetcht0 [rsp + 64] */
	struct gus_known k = { 0 };

	(void)state;
	expect(&k, X86("\x0f\x18\x0d\x00\x01\x00\x00"), 0x401100); /* prefetcht0 [rip + 256] */
	access_at(&k, X86("\x64\x48\x8b\x07"), 0x7000);            /* mov rax, fs:[rdi]: what fs adds is not known */
	expect_unknown(&k, X86("\x0f\x18\x8f\x00\x01\x00\x00"));
	access_at(&k, X86("\x48\x8b\x07"), 0x7000);
	expect_unknown(&k, X86("\x64\x0f\x18\x0f"));               /* prefetcht0 fs:[rdi] */
	access_at(&k, X86("\x67\x8b\x06"), 0x5000);                /* mov eax, [esi]: says nothing of the upper half */
	expect_unknown(&k, X86("\x0f\x0d\x0e"));
	access_at(&k, X86("\x48\x8b\x44\x24\x10"), 0x9010);        /* mov rax, [rsp + 16] */
	access_at(&k, push, 0x8ff8);
	expect(&k, stack, 0x8ff8 + 64);
	access_at(&k, X86("\x5b"), 0x8ff8);                        /* pop rbx */
	expect(&k, stack, 0x9040);
	run(&k, X86("\x8c\xde"));                                  /* mov esi, ds: not zero, but unknown */
	expect_unknown(&k, X86("\x0f\x0d\x0e"));
	assert_int_equal(k.wrong, 0);
}

static void test_arm64(void **state)
{
	struct gus_known_insn prefetch = ARM64("\x20\x48\x80\xf9"); /* prfm pldl1keep, [x1, #144] */
	struct gus_known k = { 0 };

	(void)state;
	expect_unknown(&k, prefetch);
	access_at(&k, ARM64("\x20\x00\x40\xf9"), 0x7000);          /* ldr x0, [x1] */
	expect(&k, prefetch, 0x7090);
	run(&k, ARM64("\x21\x40\x00\x91"));                        /* add x1, x1, #16 */
	expect(&k, prefetch, 0x70a0);
	run(&k, ARM64("\xe1\x03\x02\xaa"));                        /* mov x1, x2 */
	expect_unknown(&k, prefetch);
	access_at(&k, ARM64("\x20\x04\xc1\x3c"),
		  0x7000);          /* ldr q0, [x1], #16: how far it goes on is not kept */
	expect_unknown(&k, prefetch);
}

/* A random walk over instructions that read, write, add and load, beside a machine that knows all: an address that is
 * given is the right one, and about half of them are given (most instructions here destroy something). */
static void test_walk(void **state)
{
	const struct gus_known_insn insns[] = {
		X86("\x48\x8b\x07"), X86("\x48\x8b\x04\xcf"), X86("\x48\x8b\x06"),
			/* loads by rdi, rdi and rcx, rsi */
		X86("\x48\x83\xc7\x40"), X86("\x48\xff\xc1"), X86("\x48\x83\xee\x08"),
			/* add rdi, inc rcx, sub rsi */
		X86("\x48\x8d\x74\xcf\x20"), X86("\x48\x89\xf7"), X86("\xff\xc1"),
			/* lea rsi, mov rdi rsi, inc ecx */
		X86("\x48\x8b\x7f\x08"), X86("\x48\x0f\xaf\xce"), X86("\x48\xd1\xe9"),
			/* mov rdi [rdi], imul rcx rsi, shr */
		X86("\x48\x8b\x34\xcf"), X86("\x48\x29\xcf"), X86("\x48\x01\xf6"),
			/* load of rsi, sub rdi rcx, add rsi rsi */
	};
	const struct gus_known_insn prefetches[] = { X86("\x0f\x18\x8f\x00\x01\x00\x00"),
		X86("\x0f\x18\x8c\xcf\x00\x02\x00\x00"),
		X86("\x0f\x0d\x0e") };
	const struct gus_known_insn clear = X86("\x31\xc9");           /* xor ecx, ecx */
	struct gus_known k = { 0 }, truth = { 0 };
	uint64_t x = 88172645463325252, known = 0;

	(void)state;
	for (unsigned r = GUS_X86_RAX; r <= GUS_X86_R15; r++)
		truth.regs[r] = (struct gus_value){ 0x1000 * r, true };
	for (unsigned i = 0; i < 200000; i++) {
		const struct gus_known_insn *insn, *prefetch;
		const struct gus_known_operand *o;
		uint64_t address = 0;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		insn = &insns[(x >> 8) % (sizeof(insns) / sizeof(*insns))];
		prefetch = &prefetches[(x >> 40) % 3];
		if (truth.regs[GUS_X86_RCX].bits >> 40) /* no index is so large that scaling cuts it */
			insn = &clear;
		o = &insn->operand[0];
		if (insn->operands)
			address = truth.regs[o->base].bits + truth.regs[o->index].bits * o->scale +
				(uint64_t)o->displacement;
		gus_known_step(&k, insn, &address, 1);
		gus_effect_run(&insn->effect, truth.regs, (struct gus_value){ x >> 20, true });
		for (const uint8_t *w = insn->effect.writes; *w; w++)
			truth.regs[*w] = (struct gus_value){ x >> 30, true }; /* whatever it is that is not followed */
		if (gus_known_prefetch(&k, prefetch, 0).known) {
			assert_int_equal(gus_known_prefetch(&k, prefetch, 0).bits,
					 gus_known_prefetch(&truth, prefetch, 0).bits);
			known++;
		}
	}
	assert_int_equal(k.wrong, 0);
	assert_true(known > 90000);
	assert_true(known < 110000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
