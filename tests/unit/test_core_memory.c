/* SPDX-License-Identifier: MIT */
/* The core engine beyond L1 and beyond the straight path: the two oracles, forwarding, commit states, an instruction
 * source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "made_program.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/tables/policies.h"
#include "model/tables/uarch.h"

static struct gus_uarch *skylake;
static struct gus_core_config config;

static int setup(void **state)
{
	(void)state;
	skylake = made_table("skylake");
	gus_core_config_of(&config, skylake);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_uarch_free(skylake);
	return 0;
}

#define PROGRAM(bytes) made_program(skylake, bytes, sizeof(bytes) - 1)

static struct gus_core_result run(const struct gus_program *p, const struct gus_core_options *o)
{
	struct gus_core_result r;
	struct gus_error err = { 0 };
	uint64_t states = 0, stops = 0;

	assert_int_equal(gus_core_run(p, &config, o, &r, &err), 0);
	for (unsigned i = 0; i < GUS_COMMITS; i++)
		states += r.commit[i];
	for (unsigned i = 0; i < GUS_CORE_REASONS; i++)
		stops += r.stop[i];
	assert_int_equal(states, r.steady_cycles); /* each cycle has one commit state and one reason */
	assert_int_equal(stops, r.steady_cycles);
	return r;
}

static double cycles(const struct gus_program *p, const struct gus_core_options *o)
{
	struct gus_core_result r = run(p, o);

	return (double)r.steady_cycles / (double)r.steady_iterations;
}

static void answer(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	(void)access;
	*level = *(const enum gus_hit *)context;
	*tlb = GUS_TLB_HIT;
}

/* mov rax, [rax]: each load waits for the one before, so an iteration is one latency. */
static void test_levels(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x8b\x00");
	static const enum gus_hit levels[] = { GUS_HIT_L1, GUS_HIT_L2, GUS_HIT_MEMORY };
	const uint32_t expected[] = { config.l1d_latency, config.l2_latency, config.memory_latency };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		enum gus_hit level = levels[i];
		struct gus_core_memory oracle = { &level, answer };
		struct gus_core_options o = { .memory = &oracle, .pointers = GUS_CORE_POINTERS_NONE,
			.iterations = 400 };
		double got = cycles(p, &o);

		assert_true(got >= expected[i] && got <= expected[i] + 3);
	}
	gus_program_free(p);
}

/* mov rcx, [rax+rdx]; add rdx, 64: independent misses; as many are on their way as there are buffers. */
static void test_miss_buffers(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x8b\x0c\x10\x48\x83\xc2\x40");
	enum gus_hit level = GUS_HIT_MEMORY;
	struct gus_core_memory oracle = { &level, answer };
	struct gus_core_options o = { .memory = &oracle, .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 2000 };
	double few, many;

	(void)state;
	few = cycles(p, &o);
	assert_true(few > 0.9 * config.memory_latency / config.l1d_misses &&
		few < 1.1 * config.memory_latency / config.l1d_misses);
	config.l1d_misses *= 2;
	many = cycles(p, &o);
	config.l1d_misses /= 2;
	assert_true(many < 0.6 * few);
	gus_program_free(p);
}

static bool every_eighth(void *context, uint32_t op, uint64_t iteration)
{
	(void)context;
	(void)op;
	return iteration % 8 == 7;
}

/* add rax, 1; cmp rax, rbx; jne back: the misprediction of one branch in eight costs its penalty and the time to run
 * it, and the cycles until the right path retires are flushed. */
static void test_mispredict(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x83\xc0\x01\x48\x39\xd8\x75\xf7");
	struct gus_core_branch oracle = { NULL, every_eighth };
	struct gus_core_options good = { .iterations = 800, .pointers = GUS_CORE_POINTERS_NONE }, bad = good;
	struct gus_core_result r;
	double lost;

	(void)state;
	bad.branch = &oracle;
	r = run(p, &bad);
	lost = 8 * ((double)r.steady_cycles / (double)r.steady_iterations - cycles(p, &good));
	assert_true(lost >= config.mispredict_penalty && lost < config.mispredict_penalty + 16);
	assert_true(r.commit[GUS_COMMIT_FLUSHED] >= 100 * (config.mispredict_penalty - 4));
	gus_program_free(p);
}

/* Through memory: add qword [rbx], 1 is addition and forwarding; a load that needs more than the store has waits
 * until it is in L1; without pointers nothing is carried. */
static void test_forwarding(void **state)
{
	struct gus_program *add = PROGRAM("\x48\x83\x03\x01"), *narrow = PROGRAM("\x88\x03\x48\x8b\x0b");
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL },
		none = { .pointers = GUS_CORE_POINTERS_NONE };

	(void)state;
	assert_true(cycles(add, &o) >= 1 + config.store_forward_latency);
	assert_true(cycles(add, &o) <= 3 + config.store_forward_latency);
	assert_true(cycles(add, &none) <= 1.01);
	assert_true(cycles(narrow, &o) >= config.store_forward_blocked);
	assert_true(cycles(narrow, &none) <= 1.01);
	gus_program_free(add);
	gus_program_free(narrow);
}

/* mov [rbx], eax; mov rcx, [rbx + DISPLACEMENT] of eight bytes, or of four: what lies in the store as a whole is
 * forwarded, and what lies in it in part waits for it, at whichever end. */
static void test_parts_of_a_store(void **state)
{
	static const struct { int8_t displacement; bool wide, blocked; } cases[] = {
		{ -8, true, false }, { -7, true, true }, { -4, true, true }, { 0, true, true }, { 3, true, true },
		{ 4, true, false }, { -4, false, false }, { -1, false, true }, { 0, false, false }, { 1, false, true },
		{ 4, false, false },
	};
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char code[] = { '\x89', '\x03', cases[i].wide ? '\x48' : '\x40', '\x8b', '\x4b',
			cases[i].displacement };
		struct gus_program *p = made_program(skylake, code, sizeof(code));
		double got = cycles(p, &o);

		if ((got >= config.store_forward_blocked) != cases[i].blocked)
			fail_msg("%d, %s: %g cycles an iteration", cases[i].displacement,
				 cases[i].wide ? "wide" : "narrow", got);
		gus_program_free(p);
	}
}

/* A stored pointer is followed: mov [rbx], rcx; mov rdx, [rbx]; mov [rdx], rax; mov rax, [rcx]. The last load reads
 * what the second store wrote, so each iteration is a forward. A vector is no pointer: movups [rbx], xmm0 in its
 * place, and nothing is known of rdx. */
static void test_stored_pointers(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x89\x0b\x48\x8b\x13\x48\x89\x02\x48\x8b\x01");
	struct gus_program *vector = PROGRAM("\x0f\x11\x03\x48\x8b\x13\x48\x89\x02\x48\x8b\x01");
	/* mov r8, [rsi]; mov [rbx], r8; mov rdx, [rbx]; mov [rdx], rax; mov rax, [0x12345600]: r8 is not known. */
	struct gus_program *unknown = PROGRAM("\x4c\x8b\x06\x4c\x89\x03\x48\x8b\x13\x48\x89\x02"
					      "\x48\x8b\x04\x25\x00\x56\x34\x12");
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };

	(void)state;
	assert_true(cycles(p, &o) >= config.store_forward_latency);
	assert_true(cycles(vector, &o) < config.store_forward_latency);
	assert_true(cycles(unknown, &o) < config.store_forward_latency);
	gus_program_free(p);
	gus_program_free(vector);
	gus_program_free(unknown);
}

/* mov eax, [rdi]; push qword [rbx]; mov rcx, [rsp]: what is pushed has eight bytes, so it is forwarded. */
static void test_second_access(void **state)
{
	struct gus_program *p = PROGRAM("\x8b\x07\xff\x33\x48\x8b\x0c\x24");
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };

	(void)state;
	assert_true(cycles(p, &o) < 3);
	gus_program_free(p);
}

/* Words that go to the stack and back, or to a place that two instructions name relative to themselves: a forward
 * each. */
static void test_there_and_back(void **state)
{
	static const struct { const char *what, *code; size_t size; unsigned forwards; } cases[] = {
		{ "mov [rdi], rax; push qword [rdi]; pop rax", "\x48\x89\x07\xff\x37\x58", 6, 2 },
		{ "push rax; pop rax", "\x50\x58", 2, 1 },
		{ "push rax; push rcx; pop rcx; pop rax", "\x50\x51\x59\x58", 4, 1 },
		{ "push rax; mov rax, [rsp]; pop rcx", "\x50\x48\x8b\x04\x24\x59", 6, 1 },
		{ "push rax; pop rcx; push rcx; pop rax", "\x50\x59\x51\x58", 4, 2 },
		{ "mov [rip + 0x1000], rax; mov rax, [rip + 0xff9]",
		  "\x48\x89\x05\x00\x10\x00\x00\x48\x8b\x05\xf9\x0f\x00\x00", 14, 1 },
		{ "mov [rip + 0x1000], rax; mov rax, [rip + 0x1001]",
		  "\x48\x89\x05\x00\x10\x00\x00\x48\x8b\x05\x01\x10\x00\x00", 14, 0 },
	};
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program *p = made_program(skylake, cases[i].code, cases[i].size);
		double got = cycles(p, &o), least = cases[i].forwards * config.store_forward_latency;

		if (got < least || got > least + 4)
			fail_msg("%s: %g cycles an iteration", cases[i].what, got);
		gus_program_free(p);
	}
}

static void follow(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	static const uint64_t steps[] = { 8, 16, 40 };
	uint64_t *address = context, at = access->iteration;

	*level = GUS_HIT_L1;
	*tlb = GUS_TLB_HIT;
	assert_true(access->known);
	if (at == 0)
		address[access->memory] = access->address;
	assert_int_equal(access->address - address[access->memory], steps[access->memory] * at);
}

/* mov [rdi], rax; add rdi, 8; mov rcx, [rsi]; add rsi, 16; mov rcx, [rdi + rsi*2]: from iteration to iteration the
 * addresses go on by 8, 16 and 8 + 2 * 16. */
static void test_addresses(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x89\x07\x48\x83\xc7\x08\x48\x8b\x0e\x48\x83\xc6\x10\x48\x8b\x0c\x77");
	uint64_t first[3];
	struct gus_core_memory oracle = { first, follow, NULL };
	struct gus_core_options o = { .memory = &oracle, .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 20 };

	(void)state;
	run(p, &o);
	gus_program_free(p);
}

static void ask(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	unsigned *asked = context;

	asked[access->memory]++;
	*level = GUS_HIT_L1;
	*tlb = GUS_TLB_HIT;
}

/* cmp [rbx], rax; jne back is one op of two instructions with one access. */
static void test_asked_once(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x39\x03\x75\xfb");
	struct gus_program *two = PROGRAM("\x48\x8b\x0f\xff\x33"); /* mov rcx, [rdi]; push qword [rbx] */
	unsigned asked[3] = { 0, 0, 0 };
	struct gus_core_memory oracle = { asked, ask, NULL };
	struct gus_core_options o = { .memory = &oracle, .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 10 };

	(void)state;
	assert_int_equal(p->ops_n, 1);
	run(p, &o);
	assert_int_equal(asked[0], 10);
	run(two, &o);
	assert_int_equal(asked[0], 20);
	assert_int_equal(asked[1], 10);
	assert_int_equal(asked[2], 10);
	gus_program_free(p);
	gus_program_free(two);
}

/* Where loads are renamed to what was stored they take no time. Each case is a chain through memory, of so many cycles
 * apart from it; each policy of renaming has some of them, by their letters: of loads, updates, and what is based on
 * equal registers. */
static void test_renamed_loads(void **state)
{
	static const struct { const char *what, *code; size_t size; const char *renamed; unsigned chain; } cases[] = {
		{ "mov [rbx], rax; mov rax, [rbx]", "\x48\x89\x03\x48\x8b\x03", 6, "lub", 1 },
		{ "mov [rbx], eax; mov eax, [rbx]", "\x89\x03\x8b\x03", 4, "lub", 1 },
		{ "mov [rbx], ax; mov ax, [rbx]", "\x66\x89\x03\x66\x8b\x03", 6, "", 0 },
		{ "mov [rbx], rax; mov eax, [rbx]", "\x48\x89\x03\x8b\x03", 5, "lub", 1 },
		{ "mov [rbx], rax; mov eax, [rbx + 4]", "\x48\x89\x03\x8b\x43\x04", 6, "", 0 },
		{ "mov [rbx], eax; movsxd rax, [rbx]", "\x89\x03\x48\x63\x03", 5, "l", 1 },
		{ "mov [rbx], al; movzx eax, byte [rbx]", "\x88\x03\x0f\xb6\x03", 5, "l", 1 },
		{ "mov [rbx], rax; movzx eax, byte [rbx + 1]", "\x48\x89\x03\x0f\xb6\x43\x01", 7, "", 0 },
		{ "add byte [rbx], 1", "\x80\x03\x01", 3, "l", 1 },
		{ "mov [rbx + 8], rax; mov rax, [rbx + 8]", "\x48\x89\x43\x08\x48\x8b\x43\x08", 8, "lub", 1 },
		{ "mov [rbx + 4], rax; mov rax, [rbx + 4]", "\x48\x89\x43\x04\x48\x8b\x43\x04", 8, "lu", 1 },
		{ "mov [rbx + 4], eax; mov eax, [rbx + 4]", "\x89\x43\x04\x8b\x43\x04", 6, "lub", 1 },
		{ "mov [rbx], rax; mov rax, [rcx]", "\x48\x89\x03\x48\x8b\x01", 6, "lu", 1 },
		{ "mov [rbx + rcx], rax; mov rax, [rbx + rcx]", "\x48\x89\x04\x0b\x48\x8b\x04\x0b", 8, "lub", 1 },
		{ "mov [rbx + rcx], rax; mov rax, [rbx + rdx]", "\x48\x89\x04\x0b\x48\x8b\x04\x13", 8, "lu", 1 },
		{ "mov [rbx + rcx*2], rax; mov rax, [rbx + rcx*2]", "\x48\x89\x04\x4b\x48\x8b\x04\x4b", 8, "lub",
			1 },
		{ "mov [rip], rax; mov rax, [rip - 7]", "\x48\x89\x05\0\0\0\0\x48\x8b\x05\xf9\xff\xff\xff", 14,
			"lu", 1 },
		{ "mov [rbx], rax; mov rax, [rbx + 4096]", "\x48\x89\x03\x48\x8b\x83\x00\x10\x00\x00", 10, "", 0 },
		{ "add qword [rbx], 1", "\x48\x83\x03\x01", 4, "lub", 1 },
		{ "add word [rbx], 1", "\x66\x83\x03\x01", 4, "", 0 },
		{ "add [rbx], rax", "\x48\x01\x03", 3, "ub", 1 },
		{ "imul rax, rax; mov [rbx], rax; mov rax, [rbx]", "\x48\x0f\xaf\xc0\x48\x89\x03\x48\x8b\x03", 10,
			"lub", 3 },
		{ "mov [rbx], rax; imul rax, [rbx]", "\x48\x89\x03\x48\x0f\xaf\x03", 7, "l", 3 },
		{ "push rax; pop rax", "\x50\x58", 2, "lub", 1 },
		{ "movq [rbx], xmm0; movq xmm0, [rbx]", "\x66\x0f\xd6\x03\xf3\x0f\x7e\x03", 8, "", 0 },
		{ "movq [rbx], xmm0; mov rax, [rbx]; movq xmm0, rax",
			"\x66\x0f\xd6\x03\x48\x8b\x03\x66\x48\x0f\x6e\xc0", 12, "", 0 },
	};
	static const char letters[] = { [GUS_STORE_FORWARD_ZERO_NO] = 'n', [GUS_STORE_FORWARD_ZERO_LOADS] = 'l',
		[GUS_STORE_FORWARD_ZERO_UPDATES] = 'u', [GUS_STORE_FORWARD_ZERO_BASED] = 'b' };
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };
	uint32_t zero = config.store_forward_zero;

	(void)state;
	for (size_t k = 0; k < sizeof(letters) * sizeof(cases) / sizeof(*cases); k++) {
		size_t policy = k % sizeof(letters), i = k / sizeof(letters);
		struct gus_program *p = made_program(skylake, cases[i].code, cases[i].size);
		bool renamed = strchr(cases[i].renamed, letters[policy]) != NULL;
		double got;

		config.store_forward_zero = (uint32_t)policy;
		got = cycles(p, &o);
		if (renamed ? got < cases[i].chain - 0.01 || got > cases[i].chain + 0.01 :
		    got < config.store_forward_latency)
			fail_msg("%s: %g cycles an iteration, by policy %c", cases[i].what, got, letters[policy]);
		gus_program_free(p);
	}
	config.store_forward_zero = zero;
}

/* What is stored where rsp points is loaded where rbx points, but only where all registers hold one value. */
static void test_where_the_stack_is(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x89\x04\x24\x48\x8b\x03"); /* mov [rsp], rax; mov rax, [rbx] */
	static const struct { enum gus_core_pointers pointers; bool chain; } cases[] = {
		{ GUS_CORE_POINTERS_EQUAL, false }, { GUS_CORE_POINTERS_ONE, true },
		{ GUS_CORE_POINTERS_DISTINCT, false }, { GUS_CORE_POINTERS_NONE, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_core_options o = { .pointers = cases[i].pointers };
		double got = cycles(p, &o);

		assert_true(cases[i].chain ? got >= config.store_forward_latency : got < 2);
	}
	gus_program_free(p);
}

/* Pages that are one page of memory: mov [rbx], rax; mov rax, [rbx + 4096] waits until the store is in L1, as the
 * addresses differ. Where each is its own the load is a hit, and nobody waits for it. */
static void test_one_page(void **state)
{
	static const struct { enum gus_core_pointers pointers; bool chain; } cases[] = {
		{ GUS_CORE_POINTERS_EQUAL, true }, { GUS_CORE_POINTERS_ONE, true },
		{ GUS_CORE_POINTERS_DISTINCT, false } };
	struct gus_program *p = PROGRAM("\x48\x89\x03\x48\x8b\x83\x00\x10\x00\x00");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_core_options o = { .pointers = cases[i].pointers };
		double got = cycles(p, &o);

		assert_true(cases[i].chain ? got > config.store_forward_blocked : got < 2);
	}
	gus_program_free(p);
}

/* Words that an operation made are forwarded in a time of their own, those that a load brought are not. */
static void test_computed_words(void **state)
{
	static const struct { const char *what, *code; size_t size; unsigned more, computed; } cases[] = {
		{ "add qword [rbx], 1", "\x48\x83\x03\x01", 4, 1, 1 },
		{ "mov rax, [rbx]; mov [rbx], rax", "\x48\x8b\x03\x48\x89\x03", 6, 0, 0 },
		{ "mov rax, [rbx]; mov rcx, rax; mov [rbx], rcx", "\x48\x8b\x03\x48\x89\xc1\x48\x89\x0b", 9, 0, 0 },
		{ "mov rax, [rbx]; inc rax; mov [rbx], rax", "\x48\x8b\x03\x48\xff\xc0\x48\x89\x03", 9, 1, 1 },
		{ "movups xmm0, [rbx]; movups [rbx], xmm0", "\x0f\x10\x03\x0f\x11\x03", 6, 0, 0 },
	};
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };
	struct gus_core_config before = config;

	(void)state;
	config.store_forward_latency = config.store_forward_vector = 20;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program *p = made_program(skylake, cases[i].code, cases[i].size);

		for (uint32_t computed = 0; computed < 2; computed++) {
			unsigned expected = cases[i].computed && computed ? 30 : 20;
			double got;

			config.store_forward_computed = computed ? 30 : 0;
			got = cycles(p, &o);
			if (got < expected + cases[i].more - 0.01 || got > expected + cases[i].more + 0.01)
				fail_msg("%s: %g cycles", cases[i].what, got);
		}
		gus_program_free(p);
	}
	config = before;
}

/* Who reads a register whose second byte was written merges it, in a cycle of its own; who writes it does not. */
static void test_second_bytes(void **state)
{
	static const struct { const char *what, *code; size_t size; unsigned merges; double cycles; } cases[] = {
		{ "and dh, 16", "\x80\xe6\x10", 3, 0, 1 },
		{ "mov edx, ebx; and dh, 127; cmp edx, 33", "\x89\xda\x80\xe6\x7f\x83\xfa\x21", 8, 1, 2 },
		{ "mov edx, ebx; and dh, 127; cmp edx, 33, twice", "\x89\xda\x80\xe6\x7f\x83\xfa\x21\x83\xfa\x21", 11,
			1, 2 },
		{ "mov edx, ebx; and dh, 127; lea rax, [rdx]", "\x89\xda\x80\xe6\x7f\x48\x8d\x02", 8, 1, 2 },
		{ "mov edx, ebx; and dh, 127; movzx eax, dl", "\x89\xda\x80\xe6\x7f\x0f\xb6\xc2", 8, 0, 1 },
		{ "and dh, 127; mov edx, ebx", "\x80\xe6\x7f\x89\xda", 5, 0, 0.5 },
		{ "and dh, 127; cmp ebx, edx, twice", "\x80\xe6\x7f\x39\xd3\x39\xd3", 7, 1, 2.5 },
		{ "test dh, dh; cmp edx, 33", "\x84\xf6\x83\xfa\x21", 5, 0, 0.5 },
		{ "cmp edx, 33; and dh, 127: the loop comes back", "\x83\xfa\x21\x80\xe6\x7f", 6, 1, 2 },
	};
	struct gus_core_options o = { .fetch = GUS_CORE_FETCH_IDEAL, .pointers = GUS_CORE_POINTERS_EQUAL };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program *p = made_program(skylake, cases[i].code, cases[i].size);
		unsigned merges = 0;

		for (uint32_t k = 0; k < p->ops_n; k++)
			merges += (p->ops[k].flags & GUS_OP_MERGES) != 0;
		if (merges != cases[i].merges || cycles(p, &o) > cases[i].cycles + 0.3 ||
		    cycles(p, &o) < cases[i].cycles - 0.3)
			fail_msg("%s: %u merged, %g cycles", cases[i].what, merges, cycles(p, &o));
		gus_program_free(p);
	}
}

/* 66 3d imm16 changes its length by the prefix: retirement is drained while length decoding waits. */
static void test_drained(void **state)
{
	struct gus_program *p = PROGRAM("\x66\x3d\x34\x12");
	struct gus_core_options o = { .unrolled = true, .pointers = GUS_CORE_POINTERS_EQUAL };
	struct gus_core_result r = run(p, &o);

	(void)state;
	assert_int_equal(r.fetch, GUS_CORE_FETCH_DECODERS);
	assert_true((double)r.steady_cycles / (double)r.steady_iterations >= config.lcp_penalty);
	assert_true(r.commit[GUS_COMMIT_DRAINED] > r.steady_cycles / 3);
	gus_program_free(p);
}

/* A source that runs the first op twice, then the second once, with addresses of its own: what a trace gives. */
struct trace { unsigned at, end; };

static bool next(void *context, struct gus_core_step *step)
{
	struct trace *t = context;

	if (t->at == t->end)
		return false;
	*step = (struct gus_core_step){ .op = t->at % 3 == 2, .last = t->at % 3 == 2, .addressed = true,
		.address = { 4096 + 8 * t->at } };
	t->at++;
	return true;
}

static void count(void *context, const struct gus_core_event *event)
{
	uint64_t *n = context;

	n[event->op]++;
	assert_true(event->issued <= event->dispatched && event->dispatched <= event->completed &&
		event->completed <= event->retired);
}

static void test_source(void **state)
{
	/* mov rcx, [rax]; mov [rdx], rcx */
	struct gus_program *p = PROGRAM("\x48\x8b\x08\x48\x89\x0a");
	struct trace trace = { 0, 300 };
	struct gus_core_source source = { &trace, next };
	uint64_t uops[2] = { 0, 0 };
	struct gus_core_listener listener = { uops, NULL, count };
	struct gus_core_options o = { .source = &source, .listener = &listener };
	struct gus_core_result r = run(p, &o);

	(void)state;
	assert_int_equal(r.iterations, 100);
	assert_int_equal(uops[0], 200);
	assert_int_equal(uops[1], 200); /* a store is two */
	gus_program_free(p);
}

/* What makes no machine is refused with a reason. */
static void test_refused(void **state)
{
	struct gus_program *p = PROGRAM("\x90");
	struct gus_core_config broken = config;
	struct gus_core_options o = { 0 };
	struct gus_core_result r;
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_core_config_set(&broken, "issue_width", 0, &err), -1);
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_config_set(&broken, "no_such_size", 1, &err), -1);
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_config_set(&broken, "line_size", 48, &err), 0);
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "line_size"));
	broken = config;
	broken.port_binding = GUS_CORE_BIND_ANY;
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), 0);
	broken.port_binding++;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "bind ports"));
	/* Times are in small numbers: a store's word after 65,536 cycles would come at once. */
	broken = config;
	broken.store_forward_latency = GUS_CORE_CYCLES_MOST;
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), 0);
	broken.store_forward_latency = 65536;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "store_forward_latency is 65536 cycles"));
	broken = config;
	broken.line_size = 2 * GUS_CORE_LINE_MOST;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "line_size is 8192"));
	broken.line_size = 0;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "line_size must be at least 1"));
	broken = config;
	broken.microcode_width = 0; /* nothing of the sequencer would ever come */
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "microcode_width"));
	broken = config;
	broken.store_sets = GUS_CORE_SETS_MOST;
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), 0);
	broken.store_sets++;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "store_sets is 1048577"));
	gus_program_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels), cmocka_unit_test(test_miss_buffers), cmocka_unit_test(test_mispredict),
		cmocka_unit_test(test_forwarding), cmocka_unit_test(test_parts_of_a_store),
			cmocka_unit_test(test_drained),
		cmocka_unit_test(test_stored_pointers), cmocka_unit_test(test_second_access),
		cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_asked_once), cmocka_unit_test(test_where_the_stack_is),
		cmocka_unit_test(test_one_page), cmocka_unit_test(test_second_bytes),
		 cmocka_unit_test(test_computed_words),
		cmocka_unit_test(test_renamed_loads),
		cmocka_unit_test(test_source), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
