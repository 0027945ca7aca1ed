/* SPDX-License-Identifier: MIT */
/* Machine code to text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>

#include "symbolizer/insn.h"

static void known_instructions(void **state)
{
	static const struct {
		enum gus_isa isa;
		const char *bytes;
		size_t size, length;
		uint64_t address;
		const char *text;
	} cases[] = {
		{ GUS_ISA_X86_64, "\x90", 1, 1, 0, "nop" },
		{ GUS_ISA_X86_64, "\x48\x89\xe5", 3, 3, 0, "mov rbp, rsp" },
		{ GUS_ISA_X86_64, "\x48\x8b\x44\xcb\x10", 5, 5, 0, "mov rax, [rbx+rcx*8+0x10]" },
		{ GUS_ISA_X86_64, "\xeb\xfe", 2, 2, 0x401000, "jmp 0x401000" },
		{ GUS_ISA_X86_64, "\xe8\x10\x00\x00\x00", 5, 5, 0x1000, "call 0x1015" },
		{ GUS_ISA_X86_64, "\x83\x3d\xab\x00\x00\x00\x0c", 7, 7, 0x1000, "cmp dword ptr [0x10b2], 0x0c" },
		{ GUS_ISA_X86_64, "\xc4\xe2\xf5\xb8\xc2", 5, 5, 0, "vfmadd231pd ymm0, ymm1, ymm2" },
		{ GUS_ISA_X86_64, "\x06", 1, 1, 0, "(bad)" },
		{ GUS_ISA_X86_32, "\x06", 1, 1, 0, "push es" },
		{ GUS_ISA_ARM64, "\x1f\x20\x03\xd5", 4, 4, 0, "nop" },
		{ GUS_ISA_ARM64, "\x20\x00\x02\x8b", 4, 4, 0, "add x0, x1, x2" },
		{ GUS_ISA_ARM64, "\x01\x00\x00\x14", 4, 4, 0x1000, "b #0x1004" },
		{ GUS_ISA_ARM64, "\x00\x00\x00\x00", 4, 4, 0, "(bad)" },
		{ GUS_ISA_UNKNOWN, "\x90", 1, 1, 0, "(bad)" },
	};
	struct gus_insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(gus_insn_decode(cases[i].isa, cases[i].bytes, cases[i].size, cases[i].address, &insn),
				 cases[i].length);
		assert_string_equal(insn.text, cases[i].text);
		assert_int_equal(insn.length, cases[i].length);
	}
}

static void too_short_is_not_bad(void **state)
{
	const char mov[] = "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"; /* mov rax, imm64 */
	struct gus_insn insn;

	(void)state;
	for (size_t size = 0; size < 10; size++)
		assert_int_equal(gus_insn_decode(GUS_ISA_X86_64, mov, size, 0, &insn), 0);
	assert_int_equal(gus_insn_decode(GUS_ISA_X86_64, mov, 10, 0, &insn), 10);
	for (size_t size = 0; size < 4; size++)
		assert_int_equal(gus_insn_decode(GUS_ISA_ARM64, "\x1f\x20\x03\xd5", size, 0, &insn), 0);
	assert_int_equal(gus_insn_decode(GUS_ISA_UNKNOWN, mov, 0, 0, &insn), 0);
}

/* Whatever the bytes: a length within them, a text that ends, and the same again. */
static void any_bytes_have_an_answer(void **state)
{
	static const enum gus_isa isas[] = { GUS_ISA_X86_64, GUS_ISA_X86_32, GUS_ISA_ARM64 };
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		enum gus_isa isa = isas[i % 3];
		struct gus_insn one, two;
		uint8_t bytes[16];
		size_t length;

		for (size_t b = 0; b < sizeof(bytes); b++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[b] = (uint8_t)(seed >> 32);
		}
		length = gus_insn_decode(isa, bytes, sizeof(bytes), seed, &one);
		assert_in_range(length, 1, 15);
		assert_in_range(strnlen(one.text, sizeof(one.text)), 1, sizeof(one.text) - 1);
		assert_int_equal(gus_insn_decode(isa, bytes, sizeof(bytes), seed, &two), length);
		assert_memory_equal(&one, &two, sizeof(one));
	}
}

static void machines_have_isas(void **state)
{
	(void)state;
	assert_int_equal(gus_isa_of_machine(EM_X86_64), GUS_ISA_X86_64);
	assert_int_equal(gus_isa_of_machine(EM_386), GUS_ISA_X86_32);
	assert_int_equal(gus_isa_of_machine(EM_AARCH64), GUS_ISA_ARM64);
	assert_int_equal(gus_isa_of_machine(EM_RISCV), GUS_ISA_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_instructions),
		cmocka_unit_test(too_short_is_not_bad),
		cmocka_unit_test(any_bytes_have_an_answer),
		cmocka_unit_test(machines_have_isas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
