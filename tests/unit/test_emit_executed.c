/* SPDX-License-Identifier: MIT */
/* The code of microbenchmarks, executed: on a CPU of its ISA, or A64 under QEMU, whether it goes where a walk says that
 * it goes, pass after pass, and computes what it is meant to. How long it takes is not looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/calibration/chase.h"
#include "model/calibration/emit.h"
#include "model/calibration/host.h"

enum { PAGE = 4096 };

/* Here. */

#if defined(__x86_64__)
static const enum gus_isa host = GUS_ISA_X86_64;
#elif defined(__aarch64__)
static const enum gus_isa host = GUS_ISA_ARM64;
#else
static const enum gus_isa host = GUS_ISA_UNKNOWN;
#endif

static uint64_t execute_here(const struct gus_micro *k, uint64_t passes, uint8_t *out)
{
	uint8_t *code = mmap(NULL, k->code.n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *arena = mmap(NULL, k->arena, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t address = (uintptr_t)arena;

	assert_true(code != MAP_FAILED && arena != MAP_FAILED);
	memcpy(code, k->code.v, k->code.n);
	assert_int_equal(mprotect(code, k->code.n, PROT_READ | PROT_EXEC), 0);
	__builtin___clear_cache((char *)code, (char *)code + k->code.n);
	gus_micro_fill(k, arena, address);
	((void (*)(uint64_t, void *))(uintptr_t)code)(passes, arena);
	memcpy(out, arena, k->arena);
	munmap(code, k->code.n);
	munmap(arena, k->arena);
	return address;
}

/* A64 under QEMU: a program of the code, what calls it and writes the arena to its standard output, and the arena. */

static const uint64_t CODE = 0x400000, ARENA = 0x10000000;

struct words { uint32_t v[64]; size_t n; };

static void put(struct words *w, uint32_t word)
{
	w->v[w->n++] = word;
}

static void put_constant(struct words *w, unsigned reg, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		put(w, (i ? 0xf2800000 : 0xd2800000) | i << 21 | (uint32_t)(value >> 16 * i & 0xffff) << 5 | reg);
}

static void put_call(struct words *w, unsigned number)
{
	put_constant(w, 8, number);
	put(w, 0xd4000001); /* svc #0 */
}

/* The code lies at CODE, this at CODE + at. */
static struct words starter(const struct gus_micro *k, uint64_t at, uint64_t passes)
{
	struct words w = { .n = 0 };

	put_constant(&w, 0, passes);
	put_constant(&w, 1, ARENA);
	put(&w, 0x94000000 | ((uint32_t)(-(int64_t)(at / 4 + w.n)) & 0x3ffffff)); /* bl CODE */
	put_constant(&w, 0, 1);
	put_constant(&w, 1, ARENA);
	put_constant(&w, 2, k->arena);
	put_call(&w, 64);       /* write */
	put_constant(&w, 0, 0);
	put_call(&w, 93);       /* exit */
	return w;
}

static void write_at(FILE *f, uint64_t offset, const void *bytes, size_t size)
{
	assert_int_equal(fseek(f, (long)offset, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
}

static void write_program(const char *path, const struct gus_micro *k, uint64_t passes, const uint8_t *arena)
{
	const uint64_t at = (k->code.n + 15) & ~(uint64_t)15;
	const struct words w = starter(k, at, passes);
	const uint64_t code_size = at + w.n * sizeof(*w.v), arena_at = (PAGE + code_size + PAGE - 1) / PAGE * PAGE;
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_AARCH64, .e_version = EV_CURRENT, .e_entry = CODE + at,
		.e_phoff = sizeof(header), .e_ehsize = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2 };
	const Elf64_Phdr segments[2] = {
		{ PT_LOAD, PF_R | PF_X, PAGE, CODE, CODE, code_size, code_size, PAGE },
		{ PT_LOAD, PF_R | PF_W, arena_at, ARENA, ARENA, k->arena, k->arena, PAGE },
	};
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	write_at(f, 0, &header, sizeof(header));
	write_at(f, sizeof(header), segments, sizeof(segments));
	write_at(f, PAGE, k->code.v, k->code.n);
	write_at(f, PAGE + at, w.v, w.n * sizeof(*w.v));
	write_at(f, arena_at, arena, k->arena);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

static uint64_t execute_emulated(const struct gus_micro *k, uint64_t passes, uint8_t *out)
{
	char folder[] = "/tmp/gusprof-test-XXXXXX", path[64];
	FILE *f = tmpfile();
	int status;
	pid_t pid;

	assert_true(f && mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/program", folder);
	gus_micro_fill(k, out, ARENA);
	write_program(path, k, passes, out);
	pid = fork();
	if (pid == 0) {
		dup2(fileno(f), STDOUT_FILENO);
		execlp("qemu-aarch64", "qemu-aarch64", path, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(path);
	rmdir(folder);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		print_message("qemu-aarch64 is not installed (package qemu-user)\n");
		skip();
	}
	assert_int_equal(status, 0);
	rewind(f);
	assert_int_equal(fread(out, 1, k->arena, f), k->arena);
	fclose(f);
	return ARENA;
}

/* The arena's bytes behind so many passes, in out; the address that it had. Skips where nothing executes it. */
static uint64_t execute(const struct gus_micro *k, uint64_t passes, uint8_t *out)
{
	if (k->isa != host && k->isa != GUS_ISA_ARM64)
		skip();
	return k->isa == host ? execute_here(k, passes, out) : execute_emulated(k, passes, out);
}

/* Walks. */

enum { LISTS = 3, PATTERNS = 4, PASSES = 400, BYTES = 64, STEP = 32, LOG = 1 << 18, SIZE = LOG + (1 << 15) };

/* Lists of all kinds and branches by all kinds of patterns; where the lists stand and how often which branch fell
 * through is stored in each pass. */
static struct gus_micro *everything(enum gus_isa isa)
{
	static const struct gus_micro_list lists[LISTS] = {
		{ .start = 0, .places = 37, .distance = 1000, .seed = 7 },
		{ .start = 65536, .places = 20, .distance = 4096, .skews = 3, .skew = 72, .in_order = true },
		{ .start = 40000, .places = 1, .distance = 8 },
	};
	static const enum gus_micro_bits bits[PATTERNS] = { GUS_MICRO_RANDOM, GUS_MICRO_ZEROS, GUS_MICRO_ONES,
		GUS_MICRO_TURNS };
	struct gus_micro *k = gus_micro_new(isa, "everything");

	k->arena = SIZE;
	gus_vec_append(&k->lists, lists, LISTS);
	for (unsigned i = 0; i < PATTERNS; i++)
		gus_vec_push(&k->patterns, (struct gus_micro_pattern){ .start = 50000 + 128 * i, .bytes = BYTES,
			     .bits = bits[i], .seed = 3 });
	gus_emit_begin(k);
	for (unsigned i = 0; i < LISTS; i++)
		gus_emit_address(k, i, (int64_t)lists[i].start);
	gus_emit_address(k, 3, LOG);
	gus_emit_loop(k);
	for (uint8_t i = 0; i < LISTS; i++)
		gus_emit_load(k, i, i, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .list = i,
			      .step = true });
	for (uint8_t i = 0; i < PATTERNS; i++) {
		gus_emit_address(k, 5, 50000 + 128 * i);
		gus_emit_load_indexed(k, 6, 5, 4, (struct gus_micro_access){ GUS_MICRO_STRIDE, 50000 + 128 * i, 1,
				      BYTES, 0, false });
		gus_emit_mask(k, 6, 8);
		gus_emit_branch(k, 6, i);
		gus_emit_add_large(k, 7, 1 << 4 * i);
		gus_emit_land(k);
	}
	gus_emit_branch_never(k);
	gus_emit_add_constant(k, 4, 1);
	gus_emit_mask(k, 4, 6);
	for (unsigned i = 0; i <= LISTS; i++)
		gus_emit_store(k, i < LISTS ? i : 7, 3, (int32_t)(8 * i),
			       (struct gus_micro_access){ GUS_MICRO_STRIDE, LOG + 8 * i, STEP, 1 << 15, 0, false });
	gus_emit_add_constant(k, 3, STEP);
	gus_emit_constant(k, 7, 0);
	gus_emit_end(k);
	return k;
}

static uint64_t word_at(const uint8_t *arena, uint64_t offset)
{
	uint64_t word;

	memcpy(&word, arena + offset, sizeof(word));
	return word;
}

static void goes_where_walks_say(enum gus_isa isa)
{
	struct gus_micro *k = everything(isa);
	uint8_t *arena = calloc(1, SIZE);
	uint64_t address = execute(k, PASSES, arena), log[LISTS + 1], fell[PATTERNS] = { 0 };
	struct gus_micro_walk w;

	gus_micro_walk_begin(&w, k);
	gus_micro_walk_next(&w);
	for (unsigned pass = 0; pass < PASSES; pass++) {
		uint64_t counts = 0;

		assert_int_equal(w.addresses.n, 2 * LISTS + PATTERNS + 1);
		assert_int_equal(w.taken.n, PATTERNS + 1);
		assert_false(w.taken.v[PATTERNS]);
		for (unsigned i = 0; i < PATTERNS; i++) {
			assert_int_equal(w.addresses.v[LISTS + i], 50000 + 128 * i + pass % BYTES);
			fell[i] += !w.taken.v[i];
			counts |= (uint64_t)!w.taken.v[i] << 4 * i;
		}
		for (unsigned i = 0; i <= LISTS; i++)
			log[i] = word_at(arena, w.addresses.v[LISTS + PATTERNS + i]);
		assert_int_equal(log[LISTS], counts);
		gus_micro_walk_next(&w);
		for (unsigned i = 0; i < LISTS; i++) /* where the next pass loads from is what this one loaded */
			assert_int_equal(log[i], address + w.addresses.v[i]);
	}
	assert_in_range(fell[0], PASSES / 4, PASSES * 3 / 4);
	assert_int_equal(fell[1], PASSES);
	assert_int_equal(fell[2], 0);
	assert_int_equal(fell[3], PASSES / 2);
	gus_micro_walk_end(&w);
	gus_micro_free(k);
	free(arena);
}

static void x86_goes_where_walks_say(void **state)
{
	(void)state;
	goes_where_walks_say(GUS_ISA_X86_64);
}

static void arm64_goes_where_walks_say(void **state)
{
	(void)state;
	goes_where_walks_say(GUS_ISA_ARM64);
}

/* Sums. */

static struct gus_micro_access at(int64_t offset)
{
	return (struct gus_micro_access){ .offset = offset };
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static struct gus_micro *sums(enum gus_isa isa)
{
	struct gus_micro *k = gus_micro_new(isa, "sums");

	k->arena = 1 << 17;
	gus_emit_begin(k);
	gus_emit_store(k, 11, GUS_EMIT_ARENA, 48, at(48));
	gus_emit_store(k, 11, GUS_EMIT_ARENA, 64, at(64));
	gus_emit_store(k, 11, GUS_EMIT_ARENA, 32776, at(32776));
	gus_emit_constant(k, 1, 3);
	gus_emit_constant(k, 3, bits_of(2));
	gus_emit_loop(k);
	gus_emit_add_constant(k, 0, 100);
	gus_emit_add_constant(k, 0, -7);
	gus_emit_add_large(k, 0, 70000);
	gus_emit_add_large(k, 0, -8192);
	gus_emit_multiply(k, 0, 1);
	gus_emit_mask(k, 0, 21);
	gus_emit_move(k, 2, 0);
	gus_emit_add(k, 2, 1);
	gus_emit_test(k, 2);
	gus_emit_store(k, 2, GUS_EMIT_ARENA, 0, at(0));
	gus_emit_to_vector(k, 15, 3);
	gus_emit_sqrt(k, 9, 15);
	gus_emit_add_vector(k, 9, 8);           /* 8: pi */
	gus_emit_multiply_vector(k, 9, 9);
	gus_emit_to_general(k, 4, 9);
	gus_emit_store(k, 4, GUS_EMIT_ARENA, 8, at(8));
	gus_emit_store_half(k, 4, GUS_EMIT_ARENA, 64, at(64));
	gus_emit_store_half(k, 4, GUS_EMIT_ARENA, 32776, at(32776));
	gus_emit_store_vector(k, 9, 16, GUS_EMIT_ARENA, 40007, at(40007));
	gus_emit_load_vector(k, 10, 16, GUS_EMIT_ARENA, 40007, at(40007));
	gus_emit_xor_vector(k, 10, 15);
	gus_emit_store_vector(k, 10, 16, GUS_EMIT_ARENA, 16, at(16));
	gus_emit_address(k, 5, 65536 + 9);
	gus_emit_store_byte(k, 2, 5, -9, at(65536));
	gus_emit_load_byte(k, 6, 5, -9, at(65536));
	gus_emit_store(k, 6, 5, 300 - 9, at(65536 + 300));
	gus_emit_load_vector(k, 11, 8, 5, 291, at(65536 + 300));
	gus_emit_store_vector(k, 11, 8, GUS_EMIT_ARENA, 56, at(56));
	gus_emit_constant(k, 7, UINT64_C(0xfedcba9800000123));
	gus_emit_nop(k);
	gus_emit_nop_long(k, 4);
	gus_emit_store(k, 7, GUS_EMIT_ARENA, 32768, at(32768));
	gus_emit_end(k);
	return k;
}

static void computes_as_meant(enum gus_isa isa)
{
	static const double pi = 3.14159265358979;
	const double low = (sqrt(2) + pi) * (sqrt(2) + pi), high = pi * pi; /* above 0 in what came from a register */
	struct gus_micro *k = sums(isa);
	uint8_t *arena = calloc(1, k->arena);
	uint64_t r = 0;

	memset(arena, 0x5a, k->arena);
	execute(k, 5, arena);
	for (unsigned pass = 0; pass < 5; pass++)
		r = (r + 93 + 70000 - 8192) * 3 & ((1 << 21) - 1);
	r += 3;
	assert_int_equal(word_at(arena, 0), r);
	assert_int_equal(word_at(arena, 8), bits_of(low));
	assert_int_equal(word_at(arena, 40007), bits_of(low));
	assert_int_equal(word_at(arena, 40015), bits_of(high));
	assert_int_equal(word_at(arena, 16), bits_of(low) ^ bits_of(2));
	assert_int_equal(word_at(arena, 24), bits_of(high));
	assert_int_equal(word_at(arena, 48), 0);
	assert_int_equal(word_at(arena, 64), (uint32_t)bits_of(low));
	assert_int_equal(word_at(arena, 32776), (uint32_t)bits_of(low));
	assert_int_equal(arena[65536], r & 0xff);
	assert_int_equal(word_at(arena, 65536 + 300), r & 0xff);
	assert_int_equal(word_at(arena, 56), r & 0xff);
	assert_int_equal(word_at(arena, 32768), UINT64_C(0xfedcba9800000123));
	gus_micro_free(k);
	free(arena);
}

static void x86_computes_as_meant(void **state)
{
	(void)state;
	computes_as_meant(GUS_ISA_X86_64);
}

static void arm64_computes_as_meant(void **state)
{
	(void)state;
	computes_as_meant(GUS_ISA_ARM64);
}

/* What a function has to keep is not written, as nothing is saved: x18 to x30, sp, v8 to v15. */
static void arm64_keeps_what_it_has_to(void **state)
{
	struct gus_micro *both[2] = { everything(GUS_ISA_ARM64), sums(GUS_ISA_ARM64) };
	unsigned instructions = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct gus_insn_info info;

		for (size_t p = 0; p < both[i]->code.n; p += 4, instructions++) {
			assert_int_equal(gus_insn_analyse(GUS_ISA_ARM64, both[i]->code.v + p, 4, &info), 4);
			assert_int_not_equal(info.class, GUS_INSN_BAD);
			for (unsigned a = 0; a < info.access_count; a++) {
				unsigned reg = info.access[a].reg;

				if (!(info.access[a].use & GUS_ACCESS_WRITE))
					continue;
				assert_false(reg >= GUS_A64_X0 + 18 && reg <= GUS_A64_SP);
				assert_false(reg >= GUS_A64_V0 + 8 && reg < GUS_A64_V0 + 16);
				/* the arena is written nowhere, the counter by the one instruction before the end */
				assert_false(reg == GUS_A64_X0 + 1);
				assert_true(reg != GUS_A64_X0 || p == both[i]->end - 8);
			}
		}
		gus_micro_free(both[i]);
	}
	assert_true(instructions > 100);
}

/* A chase that is resumed: its memory as it is left by one call is what the next begins with. */
static int call_thrice(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
		       struct gus_error *err)
{
	enum { CALLS = 3, EACH = 2 };
	const struct gus_micro *k = micros[0];
	const size_t size = k->arena + k->code.n;
	uint8_t *arena = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = k->lists.v[0].start, at;
	struct gus_micro_walk w;

	(void)err;
	assert_int_equal(n, 1);
	assert_true(arena != MAP_FAILED);
	gus_micro_fill(k, arena, (uintptr_t)arena);
	memcpy(arena + k->arena, k->code.v, k->code.n);
	__builtin___clear_cache((char *)arena + k->arena, (char *)arena + size);
	gus_micro_walk_begin(&w, k);
	for (unsigned call = 0; call < CALLS; call++) {
		((void (*)(uint64_t, void *))(uintptr_t)(arena + k->arena))(EACH, arena);
		for (unsigned pass = 0; pass < EACH; pass++)
			gus_micro_walk_next(&w);
		memcpy(&at, arena + k->arena - 64, sizeof(at));
		gus_micro_walk_next(&w); /* the place where the next pass begins */
		assert_int_equal(start + at, w.addresses.v[0]);
		gus_micro_walk_end(&w);
		gus_micro_walk_begin(&w, k);
		for (unsigned pass = 0; pass < (call + 1) * EACH; pass++)
			gus_micro_walk_next(&w);
	}
	gus_micro_walk_end(&w);
	munmap(arena, size);
	times[0] = (struct gus_micro_time){ .cycles = 1, .median = 1 };
	++*(unsigned *)context;
	return 0;
}

static void a_chase_goes_on_where_it_was(void **state)
{
	unsigned called = 0;
	struct gus_calibration_host h = { .context = &called, .isa = host, .arena_most = 1 << 20,
		.cycles_a_second = 3e9, .run = call_thrice };
	struct gus_chase c = gus_chase_of(1000, 64, false);
	double cycles;

	(void)state;
	if (host == GUS_ISA_UNKNOWN)
		skip();
	c.list[0].start = 4096;
	c.resumed = true;
	assert_int_equal(gus_chase_time(&h, &c, &cycles, NULL), 0);
	assert_int_equal(called, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chase_goes_on_where_it_was),
		cmocka_unit_test(x86_goes_where_walks_say), cmocka_unit_test(arm64_goes_where_walks_say),
		cmocka_unit_test(x86_computes_as_meant), cmocka_unit_test(arm64_computes_as_meant),
		cmocka_unit_test(arm64_keeps_what_it_has_to),
	};

	return cmocka_run_group_tests_name("emit_executed", tests, NULL, NULL);
}
