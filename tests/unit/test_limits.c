/* SPDX-License-Identifier: MIT */
/* The table of limits: a made block for each, on which its parameters are what takes the time. An engine that claims
 * the limit gains when it is relaxed, one that does not claim it takes as long as before. And the manual page says what
 * the table says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "made_program.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/machine/config.h"
#include "model/machine/limits.h"
#include "model/stream/stream.h"
#include "model/tables/uarch.h"

/* cases: the block, what is set beside the table, where accesses hit, whether its branch is mispredicted. */
static const struct limit_case {
	enum gus_machine_limit_kind limit;
	const char *uarch, *what, *bytes;
	size_t size;
	struct gus_machine_setting set[2];
	enum gus_core_pointers pointers;
	enum gus_hit level;
	enum gus_tlb tlb;
	bool mispredicted, unrolled;
	uint64_t store, load;           /* addresses that are told, of the first op and of the second; 0: none are */
} cases[] = {
#define CODE(bytes) bytes, sizeof(bytes) - 1
	{ GUS_LIMIT_FRONT_END, "skylake", "4 x movabs r, imm64: 40 bytes in blocks of 16",
		CODE("\x48\xb8\x88\x77\x66\x55\x44\x33\x22\x11\x48\xb9\x88\x77\x66\x55\x44\x33\x22\x11"
		     "\x48\xba\x88\x77\x66\x55\x44\x33\x22\x11\x48\xbb\x88\x77\x66\x55\x44\x33\x22\x11"),
		.unrolled = true },
	{ GUS_LIMIT_LENGTH_DECODING, "skylake", "the same",
		CODE("\x48\xb8\x88\x77\x66\x55\x44\x33\x22\x11\x48\xb9\x88\x77\x66\x55\x44\x33\x22\x11"
		     "\x48\xba\x88\x77\x66\x55\x44\x33\x22\x11\x48\xbb\x88\x77\x66\x55\x44\x33\x22\x11"),
		.unrolled = true },
	{ GUS_LIMIT_LENGTH_DECODING, "skylake", "add ax, 1000: the prefix changes the length",
		CODE("\x66\x05\xe8\x03"), { { "lcp_penalty", 3 } }, .unrolled = true },
	{ GUS_LIMIT_DECODERS, "skylake", "4 x bswap r64: two uops each, for the first decoder",
		CODE("\x48\x0f\xc8\x48\x0f\xc9\x48\x0f\xca\x48\x0f\xcb"), .unrolled = true },
	{ GUS_LIMIT_DECODERS, "skylake", "4 x add r, 1, in pairs",
		CODE("\x48\x83\xc0\x01\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01"),
		{ { "decode_width", 2 } }, .unrolled = true },
	{ GUS_LIMIT_MICROCODE, "skylake", "rcl rax, 5", CODE("\x48\xc1\xd0\x05"), 
		{ { "microcode_switch_decoders", 20 } }, .unrolled = true },
	{ GUS_LIMIT_MICROCODE, "skylake", "the same from the uop cache", CODE("\x48\xc1\xd0\x05"),
		{ { "microcode_switch", 20 } } },
	{ GUS_LIMIT_MICROCODE, "skylake", "xor eax, eax; rcl rax, 5", CODE("\x31\xc0\x48\xc1\xd0\x05"),
		{ { "microcode_width", 1 } } },
	{ GUS_LIMIT_UOP_CACHE_SIZE, "skylake", "4 x nop of 8 bytes, more than it holds: decoded, 16 bytes a cycle",
		CODE("\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x84\0\0\0\0\0"),
		{ { "uop_cache_size", 4 } } },
	{ GUS_LIMIT_UOP_CACHE_LINES, "skylake", "4 x add r, 1, two a cycle",
		CODE("\x48\x83\xc0\x01\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01"),
		{ { "uop_cache_width", 2 } } },
	{ GUS_LIMIT_UOP_CACHE_LINES, "znver4", "3 x nop of 11 bytes in two windows, one of which is read a cycle",
		CODE("\x66\x66\x66\x0f\x1f\x84\0\0\0\0\0\x66\x66\x66\x0f\x1f\x84\0\0\0\0\0"
		     "\x66\x66\x66\x0f\x1f\x84\0\0\0\0\0"),
		{ { "uop_cache_window", 16 } } },
	{ GUS_LIMIT_PREDICTION, "znver4", "call to the next; ret: a call and a return take two cycles each",
		CODE("\xe8\0\0\0\0\xc3"), { { "predicted_call", 1 } } },
	{ GUS_LIMIT_CODE_CACHE, "skylake", "4 x add r, 1: no engine sees where code is",
		CODE("\x48\x83\xc0\x01\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01"),
		{ { "l1i_size", 1 } } },
	{ GUS_LIMIT_LOOP_BOUNDARY, "skylake", "5 x add r, 1: 5 slots of 4 a cycle",
		CODE("\x48\x83\xc0\x01\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01\x48\x83\xc6\x01"),
		{ { "loop_boundary", 1 }, { "loop_buffer", 64 } } },
	{ GUS_LIMIT_ISSUE, "skylake", "4 x add r, 1",
		CODE("\x48\x83\xc0\x01\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01"), { { "issue_width", 2 } } },
	{ GUS_LIMIT_MOVE_ELIMINATION, "skylake", "6 x mov r, r and an add in between",
		CODE("\x49\x89\xc0\x49\x89\xc1\x49\x89\xc2\x49\x89\xc3\x48\x89\xc1\x48\x83\xc1\x01\x48\x89\xc8"),
		{ { "move_elimination_slots", 1 } } },
	{ GUS_LIMIT_REORDER_BUFFER, "skylake", "mov rax, [rsi] from memory; 3 x add r, 1",
		CODE("\x48\x8b\x06\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01"), { { "rob", 16 } },
		.level = GUS_HIT_MEMORY },
	{ GUS_LIMIT_REGISTERS, "skylake", "the same, with few registers",
		CODE("\x48\x8b\x06\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01"), { { "int_renames", 16 } },
		.level = GUS_HIT_MEMORY },
	{ GUS_LIMIT_LOAD_BUFFER, "skylake", "the same, with few entries for loads",
		CODE("\x48\x8b\x06\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01"), { { "load_buffer", 2 } },
		.level = GUS_HIT_MEMORY },
	{ GUS_LIMIT_STORE_BUFFER, "skylake", "mov [rdi], rax into memory", CODE("\x48\x89\x07"),
		{ { "store_buffer", 4 } },
		.level = GUS_HIT_MEMORY },
	{ GUS_LIMIT_BRANCH_BUFFER, "skylake", "imul rax, rbx, 3; cmp rcx, rbp; jne back",
		CODE("\x48\x6b\xc3\x03\x48\x39\xe9\x75\xf7"), { { "branch_buffer", 1 } } },
	{ GUS_LIMIT_SCHEDULER, "skylake", "mov rax, [rsi] from L3; 5 x add rax, rax; 3 x add r, 1",
		CODE("\x48\x8b\x06\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x83\xc1\x01"
		     "\x48\x83\xc2\x01\x48\x83\xc3\x01"), { { "rs", 12 } }, .level = GUS_HIT_L3 },
	{ GUS_LIMIT_SCHEDULER_PARTS, "skylake", "the same",
		CODE("\x48\x8b\x06\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x83\xc1\x01"
		     "\x48\x83\xc2\x01\x48\x83\xc3\x01"), { { "rs_int", 6 }, { "rs", 0 } }, .level = GUS_HIT_L3 },
	{ GUS_LIMIT_PORT_BINDING, "skylake", "shl rax, 3; 3 x add r, 1; shl r8, 3, by ports in turn",
		CODE("\x48\xc1\xe0\x03\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01\x49\xc1\xe0\x03"),
		{ { "port_binding", 1 } } },
	{ GUS_LIMIT_RETIREMENT, "skylake", "4 x add r, 1",
		CODE("\x48\x83\xc0\x01\x48\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01"), { { "retire_width", 2 } } },
	{ GUS_LIMIT_STORE_COMMIT, "icelake-server", "mov [rdi], rax; mov [rdi+64], rax: two lines",
		CODE("\x48\x89\x07\x48\x89\x47\x40"), { { "l1d_stores", 2 } } },
	{ GUS_LIMIT_FORWARDING, "skylake", "mov [rdi], rax; mov rax, [rdi]", CODE("\x48\x89\x07\x48\x8b\x07"),
		{ { "store_forward_latency", 5 } } },
	{ GUS_LIMIT_BLOCKED_FORWARDING, "skylake", "mov [rdi], eax; mov rax, [rdi]: half of it",
		CODE("\x89\x07\x48\x8b\x07"), { { "store_forward_blocked", 13 } } },
	{ GUS_LIMIT_L1_BANKS, "alderlake", "3 loads of the same word",
		CODE("\x48\x8b\x07\x48\x8b\x0f\x48\x8b\x17"), { { "l1d_bank_ports", 1 } } },
	{ GUS_LIMIT_LINE_SPLITS, "skylake", "mov rsi, [rsi+60]", CODE("\x48\x8b\x76\x3c"),
		{ { "line_split_penalty", 5 } }, GUS_CORE_POINTERS_EQUAL },
	{ GUS_LIMIT_LINE_SPLITS, "skylake", "mov rsi, [rsi], across a page", CODE("\x90\x48\x8b\x36"),
		{ { "page_split_penalty", 30 } }, .load = 0x10ffc },
	{ GUS_LIMIT_STORE_COMMIT, "icelake-server", "nop; mov [rdi], rax across a line: two cycles",
		CODE("\x90\x48\x89\x07"), { { "l1d_stores", 2 } }, .load = 0x1003c },
	{ GUS_LIMIT_FORWARDING, "skylake", "mov [rdi], rcx; mov rdi, [rsi]: the store's address is late",
		CODE("\x48\x89\x0f\x48\x8b\x3e"), { { "store_forward_address", 12 } }, .store = 0x10040,
		.load = 0x10040 },
	{ GUS_LIMIT_ALIASES, "skylake", "mov [rdi], rax; mov rsi, [rsi], two pages apart",
		CODE("\x48\x89\x07\x48\x8b\x36"), { { "alias_penalty", 20 } }, .store = 0x10040, .load = 0x12040 },
	{ GUS_LIMIT_ALIASES, "skylake", "the same, and the load begins before the store",
		CODE("\x48\x89\x07\x48\x8b\x36"), { { "alias_penalty", 20 } }, .store = 0x10044, .load = 0x12040 },
	{ GUS_LIMIT_MISS_BUFFERS, "skylake", "mov rax, [rsi]; mov rcx, [rsi+64]; add rsi, 128, lines in L2",
		CODE("\x48\x8b\x06\x48\x8b\x4e\x40\x48\x81\xc6\x80\0\0\0"), { { "l1d_misses", 1 } },
		.level = GUS_HIT_L2 },
	{ GUS_LIMIT_BANDWIDTH, "skylake", "the same", CODE("\x48\x8b\x06\x48\x8b\x4e\x40\x48\x81\xc6\x80\0\0\0"),
		{ { "l2_bandwidth", 4 }, { "l1d_misses", 0 } }, .level = GUS_HIT_L2 },
	{ GUS_LIMIT_TLB, "skylake", "mov rsi, [rsi]", CODE("\x48\x8b\x36"), { { "page_walk_latency", 30 } },
		GUS_CORE_POINTERS_EQUAL, .tlb = GUS_TLB_WALK },
	{ GUS_LIMIT_MISPREDICTIONS, "skylake", "add rax, 1; test rax, rax; jnz back",
		CODE("\x48\x83\xc0\x01\x48\x85\xc0\x75\xf7"), { { "mispredict_penalty", 60 } }, .mispredicted = true },
};

static void where(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	const struct limit_case *c = context;

	(void)access;
	*level = c->level;
	*tlb = c->tlb;
}

static bool always(void *context, uint32_t op, uint64_t iteration)
{
	(void)context;
	(void)op;
	(void)iteration;
	return true;
}

/* The program with told addresses, so many times. */
enum { TIMES = 2000 };
struct told { const struct limit_case *one; const struct gus_program *p; uint64_t steps; };

static bool next(void *context, struct gus_core_step *step)
{
	struct told *t = context;
	uint32_t op = (uint32_t)(t->steps++ % t->p->ops_n);

	*step = (struct gus_core_step){ .op = op, .addressed = true, .last = op + 1 == t->p->ops_n,
		.address = { op ? t->one->load : t->one->store } };
	return t->steps <= TIMES * (uint64_t)t->p->ops_n;
}

struct both { double core, stream; };

static struct both run_both(const struct gus_program *p, const struct gus_core_config *c,
			    const struct gus_core_options *o)
{
	struct gus_stream_options options = gus_stream_options_of(o);
	struct gus_stream_result stream;
	struct gus_core_result core;
	struct gus_error err = { 0 };

	if (o->source)
		((struct told *)o->source->context)->steps = 0;
	assert_int_equal(gus_core_run(p, c, o, &core, &err), 0);
	if (o->source)
		((struct told *)o->source->context)->steps = 0;
	assert_int_equal(gus_stream_run(p, c, &options, &stream, &err), 0);
	return (struct both){ (double)core.steady_cycles / (double)core.steady_iterations, stream.per_iteration[0] };
}

static void check(const struct limit_case *one, const char *engine, enum gus_machine_has has, double with,
		  double without)
{
	double gain = with / without - 1;

	if (has == GUS_LIMIT_ABSENT ? fabs(gain) > 0.005 : gain < 0.1)
		fail_msg("%s (%s), the %s engine: %.2f cycles, %.2f without", gus_machine_limits[one->limit].name,
			 one->what, engine, with, without);
}

static void engines_have_what_they_claim(void **state)
{
	bool seen[GUS_LIMITS] = { false };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct limit_case *one = &cases[i];
		const struct gus_machine_limit *limit = &gus_machine_limits[one->limit];
		struct gus_uarch *u = made_table(one->uarch);
		struct gus_program *p = made_program(u, one->bytes, one->size);
		const struct gus_core_memory memory = { .context = (void *)(uintptr_t)one, .access = where };
		const struct gus_core_branch branch = { .mispredicted = always };
		struct gus_core_options o = { .pointers = one->pointers, .unrolled = one->unrolled, .memory =
			one->level || one->tlb ? &memory : NULL, .branch = one->mispredicted ? &branch : NULL };
		struct told told = { one, p, 0 };
		const struct gus_core_source source = { &told, next };
		struct gus_core_config c;
		struct both with, without;

		if (one->load)
			o.source = &source;

		gus_core_config_of(&c, u);
		c.store_forward_zero = 0;
		for (size_t k = 0; k < 2 && one->set[k].name; k++)
			assert_int_equal(gus_core_config_set(&c, one->set[k].name, one->set[k].value, NULL), 0);
		with = run_both(p, &c, &o);
		gus_machine_relax(one->limit, &c, &o);
		without = run_both(p, &c, &o);
		check(one, "core", limit->core, with.core, without.core);
		check(one, "stream", limit->stream, with.stream, without.stream);
		/* And what is no simpler is the same, to a fiftieth. */
		if (limit->stream == GUS_LIMIT_PRESENT && fabs(with.stream / with.core - 1) > 0.02)
			fail_msg("%s (%s): core %.2f, stream %.2f", limit->name, one->what, with.core, with.stream);
		seen[one->limit] = true;
		gus_program_free(p);
		gus_uarch_free(u);
	}
	for (int i = 0; i < GUS_LIMITS; i++)
		if (!seen[i])
			fail_msg("%s: no block shows it", gus_machine_limits[i].name);
}

/* A relaxed size or latency is 0 and a relaxed width more than any code has; only two are words. */
static void relaxed_is_no_limit(void **state)
{
	(void)state;
	for (int i = 0; i < GUS_LIMITS; i++)
		for (int k = 0; k < GUS_LIMIT_SETTINGS && gus_machine_limits[i].relaxed[k].name; k++) {
			const char *name = gus_machine_limits[i].relaxed[k].name;
			uint32_t value = gus_machine_limits[i].relaxed[k].value;
			uint32_t expected = strcmp(name, "port_binding") == 0 ? GUS_CORE_BIND_ANY :
				strcmp(name, "decode_fuse_last") == 0 ? 1 : value ? 1024 : 0;

			if (value != expected)
				fail_msg("%s: %s is %u", gus_machine_limits[i].name, name, value);
		}
}

static bool is_relaxed(const struct gus_core_config *c, const struct gus_core_options *o,
		       const struct gus_machine_limit *limit)
{
	for (int k = 0; k < GUS_LIMIT_SETTINGS && limit->relaxed[k].name; k++) {
		struct gus_core_config again = *c;

		assert_int_equal(gus_core_config_set(&again, limit->relaxed[k].name, limit->relaxed[k].value, NULL), 0);
		if (memcmp(&again, c, sizeof(again)) != 0)
			return false;
	}
	return (!limit->relaxed_fetch || o->fetch == GUS_CORE_FETCH_IDEAL) &&
		(!limit->relaxed_pointers || o->pointers == GUS_CORE_POINTERS_NONE);
}

/* One limit leaves the others as they are but for those that share its parameters; GUS_LIMITS is all that the stream
 * engine has not, or has more simply, and no other. */
static void who_is_relaxed(void **state)
{
	struct gus_uarch *u = made_table("skylake");

	(void)state;
	for (int limit = 0; limit <= GUS_LIMITS; limit++) {
		struct gus_core_options o = { .fetch = GUS_CORE_FETCH_DECODERS, .pointers = GUS_CORE_POINTERS_EQUAL };
		struct gus_core_config before, c;

		gus_core_config_of(&before, u);
		/* Nothing is relaxed to begin with: each parameter has a value that no row gives it. */
		for (int i = 0; i < GUS_LIMITS; i++)
			for (int k = 0; k < GUS_LIMIT_SETTINGS && gus_machine_limits[i].relaxed[k].name; k++)
				assert_int_equal(gus_core_config_set(&before, gus_machine_limits[i].relaxed[k].name,
								     gus_machine_limits[i].relaxed[k].value == 1 ? 0 :
								     1, NULL), 0);
		c = before;
		gus_machine_relax((enum gus_machine_limit_kind)limit, &c, &o);
		for (int i = 0; i < GUS_LIMITS; i++) {
			const struct gus_machine_limit *l = &gus_machine_limits[i];
			bool meant = limit == i || (limit == GUS_LIMITS && l->stream != GUS_LIMIT_PRESENT);

			if (is_relaxed(&c, &o, l) != meant)
				fail_msg("%d relaxed: %s is %s", limit, l->name, meant ? "not" : "as well");
		}
	}
	gus_uarch_free(u);
}

/* Where a table tells nothing of length decoding its uops are always there, whatever else it tells of decoders: to
 * relax what the machine has not leaves it as it is. */
static void what_is_not_there_is_not_relaxed(void **state)
{
	struct gus_uarch *u = made_table("znver2");
	struct gus_core_config c, before;
	struct gus_core_options o = { .fetch = GUS_CORE_FETCH_AUTO };

	(void)state;
	gus_core_config_of(&before, u);
	assert_true(before.fetch_bytes && before.decode_width && !before.predecode_width);
	c = before;
	c.fetch_bytes = 1024;
	before.fetch_bytes = 1024;
	gus_machine_relax(GUS_LIMIT_LENGTH_DECODING, &c, &o);
	assert_memory_equal(&c, &before, sizeof(c));
	before = c = (struct gus_core_config){ .issue_width = 1, .retire_width = 1 };
	gus_machine_relax(GUS_LIMIT_DECODERS, &c, &o);
	gus_machine_relax(GUS_LIMIT_UOP_CACHE_LINES, &c, &o);
	before.decode_fuse_last = 1;
	assert_memory_equal(&c, &before, sizeof(c));
	gus_uarch_free(u);
}

/* A way to the microcode that costs nothing is not one of which nothing is said. */
static void a_switch_that_costs_nothing(void **state)
{
	static const struct { const char *param; uint32_t cycles; } said[] = {
		{ "", 4 }, { "param microcode_switch 0 cycles x\n", 0 }, { "param microcode_switch 3 cycles x\n", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		char *text = gus_format("uarch u isa x86-64 \"u\"\nsource x \"x\"\nport p0 x\n%s"
					"row r uops 1 latency 1 uses p0:1 source x\n", said[i].param);
		struct gus_uarch *u = made_table_of(text);
		struct gus_core_config c;

		gus_core_config_of(&c, u);
		assert_int_equal(c.microcode_switch, said[i].cycles);
		gus_uarch_free(u);
		free(text);
	}
}

/* Each parameter that a row names is one of tables. */
static void parameters_are_those_of_tables(void **state)
{
	(void)state;
	for (int i = 0; i < GUS_LIMITS; i++) {
		const char *at = gus_machine_limits[i].parameters;

		while (*at) {
			size_t n = strcspn(at, " "), k = 0;

			while (gus_uarch_params[k].name && (strlen(gus_uarch_params[k].name) != n ||
							    strncmp(gus_uarch_params[k].name, at, n) != 0))
				k++;
			if (!gus_uarch_params[k].name)
				fail_msg("%s: no table has %.*s", gus_machine_limits[i].name, (int)n, at);
			at += n + (at[n] == ' ');
		}
	}
}

/* What the manual page says of a limit. */
static void page_of(char *out, size_t room, int limit)
{
	const struct gus_machine_limit *l = &gus_machine_limits[limit];
	int n = snprintf(out, room, ".It %s\n%s\nBy\n", l->name, l->what);

	for (const char *at = l->parameters; *at;) {
		size_t length = strcspn(at, " ");

		n += snprintf(out + n, room - (size_t)n, ".Va %.*s%s\n", (int)length, at, at[length] ? " ," : " ;");
		at += length + (at[length] == ' ');
	}
	n += snprintf(out + n, room - (size_t)n, "%s", gus_machine_limit_engines((enum gus_machine_limit_kind)limit));
	if (l->simpler)
		n += snprintf(out + n, room - (size_t)n, ":\n%s", l->simpler);
	assert_true(n > 0 && (size_t)n + 3 < room);
	strcat(out, ".\n");
}

static void the_manual_says_what_the_table_says(void **state)
{
	const char *source = getenv("GUS_SRCDIR");
	char path[4096], says[1024], *page;
	FILE *f;
	size_t n;

	(void)state;
	snprintf(path, sizeof(path), "%s/man/gusprof-model.1", source ? source : ".");
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	page = gus_zalloc(1 << 20);
	n = fread(page, 1, (1 << 20) - 1, f);
	assert_true(n > 0);
	fclose(f);
	for (int i = 0; i < GUS_LIMITS; i++) {
		page_of(says, sizeof(says), i);
		if (!strstr(page, says))
			fail_msg("%s lacks this:\n%s", path, says);
	}
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_have_what_they_claim),
		cmocka_unit_test(relaxed_is_no_limit),
		cmocka_unit_test(who_is_relaxed), cmocka_unit_test(what_is_not_there_is_not_relaxed),
		cmocka_unit_test(a_switch_that_costs_nothing), cmocka_unit_test(parameters_are_those_of_tables),
		cmocka_unit_test(the_manual_says_what_the_table_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
