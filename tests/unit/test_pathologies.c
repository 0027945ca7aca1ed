/* SPDX-License-Identifier: MIT */
/* Pathologies of loops that are written here in pairs: the first has what a row of the table is about, the second has
 * it not. Traces of both are made by argument: which way branches go, and where accesses lie. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/traced/traced.h"
#include "attribution/verdicts/heard.h"
#include "attribution/verdicts/pathologies.h"
#include "base/error.h"
#include "model/code/program.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"
#include "tests/unit/made_trace.h"

#ifndef __x86_64__
int main(void)
{
	printf("the loops are of x86-64\n");
	return 77;
}
#else

#define LOOP(name, text) \
	__asm__(".pushsection .text\n.p2align 6\n.globl loop_" #name "\n.type loop_" #name ", @function\n" \
		".intel_syntax noprefix\nloop_" #name ":\n" text "\nret\n.att_syntax\n" \
		".size loop_" #name ", .-loop_" #name "\n.popsection"); \
	extern const uint8_t loop_##name[]
#define NEXT "\ndec rcx\njnz loop_"

LOOP(one_sum, "addsd xmm0, [rsi]\nadd rsi, 8" NEXT "one_sum");
LOOP(eight_sums, "addsd xmm0, [rsi]\naddsd xmm1, [rsi+8]\naddsd xmm2, [rsi+16]\naddsd xmm3, [rsi+24]\n"
     "addsd xmm4, [rsi+32]\naddsd xmm5, [rsi+40]\naddsd xmm6, [rsi+48]\naddsd xmm7, [rsi+56]\nadd rsi, 64"
     NEXT "eight_sums");
LOOP(horner, "mulsd xmm0, xmm8\naddsd xmm0, xmm9" NEXT "horner");
LOOP(terms, "movaps xmm0, xmm7\nmulsd xmm0, xmm8\naddsd xmm0, xmm9" NEXT "terms");
LOOP(list, "mov rax, [rax]" NEXT "list");
LOOP(array, "mov rax, [rsi]\nadd rsi, 8" NEXT "array");
LOOP(counter, "add [rdi], rax" NEXT "counter");
LOOP(register, "add rbx, rax" NEXT "register");
LOOP(shuffles, "pshufd xmm0, xmm8, 1\npshufd xmm1, xmm8, 2\npshufd xmm2, xmm8, 3\npshufd xmm3, xmm8, 4"
     NEXT "shuffles");
LOOP(mixed, "pshufd xmm0, xmm8, 1\nimul rax, rdx, 3\nmov r8, [rsi]\nmov [rdi], r9" NEXT "mixed");
LOOP(additions, "vaddpd ymm0, ymm8, ymm9\nvaddpd ymm1, ymm8, ymm9\nvaddpd ymm2, ymm8, ymm9\nvaddpd ymm3, ymm8, ymm9"
     NEXT "additions");
LOOP(balanced, "vaddpd ymm0, ymm8, ymm9\nvmulpd ymm1, ymm8, ymm9\nvaddpd ymm2, ymm8, ymm9\nvmulpd ymm3, ymm8, ymm9"
     NEXT "balanced");
LOOP(divisions, "movaps xmm0, xmm7\ndivsd xmm0, xmm8" NEXT "divisions");
LOOP(products, "movaps xmm0, xmm7\nmulsd xmm0, xmm8" NEXT "products");
LOOP(converted, "pxor xmm0, xmm0\ncvtsi2sd xmm0, rax\npxor xmm1, xmm1\ncvtsi2sd xmm1, rax" NEXT "converted");
LOOP(kept, "cvtsi2sd xmm0, rax" NEXT "kept");
LOOP(cleared, "pxor xmm0, xmm0\ncvtsi2sd xmm0, rax" NEXT "cleared");
LOOP(large, ".rept 3000\nadd ax, 0x1234\nadd dx, 0x1234\n.endr" NEXT "large");
LOOP(wide, "nop\nmov eax, 1\nnop\nmov ebx, 2\nmov edx, 3\nnop\nmov eax, 5" NEXT "wide");
LOOP(narrow, "imul rax, rax, 3" NEXT "narrow");
LOOP(scalar, "movsd xmm0, [rsi]\nmulsd xmm0, xmm8\nmovsd [rdi], xmm0\nadd rsi, 8\nadd rdi, 8" NEXT "scalar");
LOOP(packed, "movapd xmm0, [rsi]\nmulpd xmm0, xmm8\nmovapd [rdi], xmm0\nadd rsi, 16\nadd rdi, 16" NEXT "packed");
LOOP(rolled, "mov rax, [rsi]\nmov rbx, [rdi]\nadd rsi, 8\nadd rdi, 8\nadd r8, 8\nadd r9, 8" NEXT "rolled");
LOOP(unrolled, "mov rax, [rsi]\nmov rbx, [rdi]\nmov rax, [rsi+8]\nmov rbx, [rdi+8]\nmov rax, [rsi+16]\n"
     "mov rbx, [rdi+16]\nmov rax, [rsi+24]\nmov rbx, [rdi+24]\nmov rax, [rsi+32]\nmov rbx, [rdi+32]\nadd rsi, 40\n"
     "add rdi, 40" NEXT "unrolled");
/* Vectors, then what is left. */
LOOP(rest, "1: movapd xmm0, [rsi]\nmulpd xmm0, xmm8\nadd rsi, 16\ndec rcx\njnz 1b\n"
     "2: movsd xmm0, [rdi]\nmulsd xmm0, xmm8\nadd rdi, 8\ndec rdx\njnz 2b");
/* Two conditions in each turn, which nothing foresees, or which never hold. */
LOOP(paths, "test al, 1\njz 1f\nadd rbx, 1\n1: test al, 2\njz 2f\nadd rdx, 1\n2: dec rcx\njnz loop_paths");
LOOP(if_loaded, "mov rax, [rsi]\ntest rax, rax\njz 1f\nadd rbx, 1\n1: dec rcx\njnz loop_if_loaded");
LOOP(stream, "vmovapd ymm0, [rsi]\nvmovapd ymm1, [rsi+32]\nadd rsi, 64" NEXT "stream");
LOOP(gathered, "mov rax, [rsi]\nadd rsi, 8\n.rept 40\nimul rax, rax, 3\n.endr" NEXT "gathered");
LOOP(one_load, "mov rax, [rsi]\nadd rsi, 8" NEXT "one_load");
LOOP(streams, "mov rax, [rsi]\nmov rax, [rdi]\nmov rax, [rbx]\nmov rax, [rdx]\nmov rax, [r8]\nmov rax, [r9]\n"
     "mov rax, [r10]\nmov rax, [r11]\nmov rax, [r12]\nmov rax, [r13]" NEXT "streams");
LOOP(vectors, "vmovupd ymm0, [rsi]\nvmovupd ymm1, [rdi]\nadd rsi, 64" NEXT "vectors");
LOOP(halves, "mov [rdi], eax\nmov [rdi+4], eax\nmov rbx, [rdi]\nadd rax, rbx" NEXT "halves");
LOOP(wholes, "mov [rdi], rax\nmov [rdi+8], rax\nmov rbx, [rdi]\nadd rdx, rbx" NEXT "wholes");
LOOP(copy, "mov [rdi], rax\nmov rsi, [rsi]\nadd rdi, 8" NEXT "copy");
LOOP(locked, "lock add [rdi], rax" NEXT "locked");

enum { MOST_ACCESSES = 12, MOST_BLOCKS = 16, LONGEST = 2000 };

/* Where an access lies in the n-th turn: from + n * stride in a span of bytes, which begins again at its end, or
 * anywhere in it. */
struct pattern { uint64_t from; int64_t stride; uint64_t span; bool random; };
enum branches { BACK, COINS, NEVER };
struct run {
	const uint8_t *code;
	struct pattern patterns[MOST_ACCESSES]; /* of accesses in the code's order; the last also of those behind */
	enum branches branches;         /* those that do not go back */
	unsigned trips;                 /* turns from entry to exit; 0: 5,000 */
	bool any;                       /* by chance 1 to twice as many less 1 */
	const char *uarch;              /* NULL: skylake, without prefetchers */
	uint32_t bandwidth;             /* of memory, bytes a cycle; 0: without limit */
};

static uint64_t chance(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

/* The code of a function in blocks as an emulator has it: each from the start, from a target or from behind a branch on
 * to the next branch, so that some have their end in common. */
struct block {
	uint64_t address, target;
	struct gus_vec(uint8_t) lengths;
	struct gus_vec(struct gus_insn_info) infos;
	uint32_t size, number;
	unsigned nth;                   /* of the function's accesses its first */
	bool conditional, ends;         /* ends: a return */
};
struct blocks { struct block v[MOST_BLOCKS]; unsigned n; };

/* Accesses of the code before an address. */
static unsigned accesses_before(const uint8_t *code, uint64_t address)
{
	struct gus_insn_info info;
	unsigned n = 0;

	for (; (uintptr_t)code < address; code += info.length) {
		assert_true(gus_insn_analyse(GUS_ISA_X86_64, code, 15, &info) > 0);
		n += info.memory_count;
	}
	return n;
}

static void add_start(struct blocks *b, const uint8_t *code, uint64_t address)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->v[i].address == address)
			return;
	assert_true(b->n < MOST_BLOCKS);
	b->v[b->n++] = (struct block){ .address = address, .nth = accesses_before(code, address) };
}

static void fill_block(struct block *b)
{
	do {
		const uint8_t *at = (const uint8_t *)(uintptr_t)b->address + b->size;
		struct gus_insn_info info;

		assert_true(gus_insn_analyse(GUS_ISA_X86_64, at, 15, &info) > 0);
		gus_vec_push(&b->lengths, info.length);
		gus_vec_push(&b->infos, info);
		b->size += info.length;
		b->ends = info.class == GUS_INSN_RET;
		b->conditional = info.class == GUS_INSN_BRANCH_COND;
		b->target = (uintptr_t)at + info.length + (uint64_t)info.immediate;
	} while (!b->ends && !b->conditional && b->infos.n < LONGEST);
}

static void cut_code(const uint8_t *code, struct blocks *out)
{
	struct gus_insn_info info = { .class = GUS_INSN_NOP };
	unsigned insns = 0;

	*out = (struct blocks){ .n = 0 };
	add_start(out, code, (uintptr_t)code);
	for (const uint8_t *at = code; info.class != GUS_INSN_RET; at += info.length) {
		if (insns++ % LONGEST == 0)
			add_start(out, code, (uintptr_t)at);
		assert_true(gus_insn_analyse(GUS_ISA_X86_64, at, 15, &info) > 0);
		if (info.class != GUS_INSN_BRANCH_COND)
			continue;
		add_start(out, code, (uintptr_t)at + info.length);
		add_start(out, code, (uintptr_t)at + info.length + (uint64_t)info.immediate);
	}
	for (unsigned i = 0; i < out->n; i++)
		fill_block(&out->v[i]);
}

static unsigned block_at(const struct blocks *b, uint64_t address)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->v[i].address == address)
			return i;
	fail_msg("no block at a branch's target");
	return 0;
}

/* One execution of a block, with all its accesses. */
static void execute(struct made_trace *m, const struct run *r, const struct block *b, uint64_t turn, uint64_t *seed)
{
	uint32_t n = 0;

	for (uint16_t i = 0; i < b->infos.n; i++)
		for (unsigned k = 0; k < b->infos.v[i].memory_count; k++) {
			const struct gus_insn_memory *of = &b->infos.v[i].memory[k];
			unsigned p = b->nth + n;
			const struct pattern *at;
			uint64_t offset;

			while (p && !r->patterns[p < MOST_ACCESSES ? p : MOST_ACCESSES - 1].from)
				p--;
			at = &r->patterns[p];
			offset = (uint64_t)((int64_t)turn * at->stride);
			if (at->random)
				offset = chance(seed) & ~UINT64_C(7);
			offset = at->span ? offset % at->span : offset;
			for (unsigned use = GUS_ACCESS_READ; use <= GUS_ACCESS_WRITE && of->bits; use++)
				if (of->use & use) {
					gus_vec_push(&m->accesses, (struct gus_trace_access){ at->from + offset,
						     of->bits / 8, i, use == GUS_ACCESS_WRITE });
					n++;
				}
		}
	made_trace_step(m, b->number, n);
}

enum { INSNS = 60000, TRIPS = 5000 };

/* Turns of the loop, entered again and again, until there are enough instructions. */
static void write_steps(struct made_trace *m, const struct run *r, const struct blocks *b)
{
	uint64_t insns = 0, turn = 0, seed = 1;
	unsigned at = 0, left = 0;

	while (insns < INSNS) {
		const struct block *now = &b->v[at];
		bool back = now->conditional && now->target <= now->address + now->size - 1, taken = false;

		if (!left)
			left = !r->trips ? TRIPS : r->any ? 1 + (unsigned)chance(&seed) % (2 * r->trips - 1) : r->trips;
		execute(m, r, now, turn, &seed);
		insns += now->infos.n;
		if (back) {
			turn++;
			taken = --left > 0;
		} else if (now->conditional) {
			taken = r->branches == COINS && (chance(&seed) & 1);
		}
		at = taken ? block_at(b, now->target) : now->ends ? 0 : block_at(b, now->address + now->size);
	}
	made_trace_flush(m, 0);
}

/* The mapping of this program that has an address. */
static void map_self(struct gus_traced *t, uint64_t address)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4608], path[4096], exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	unsigned long start, end, offset;

	assert_true(f && n > 0);
	exe[n] = '\0';
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &start, &end, &offset, path) == 4 &&
		    start <= address && address < end)
			gus_traced_map(t, start, end - start, offset, exe, NULL, 0);
	fclose(f);
}

struct judged {
	struct made_model s;
	struct gus_heard heard;
	const struct gus_core_listener *listener;
	struct gus_causal causal;
	struct gus_pathologies found;
	struct gus_uarch *other;
	int lane;
};

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	struct judged *j = context;

	(void)stream;
	return j->listener = gus_heard_listen(&j->heard, program, NULL);
}

/* What was heard is looked at when nobody listens any more. */
static void leave(void *context, uint32_t stream)
{
	struct judged *j = context;

	(void)stream;
	gus_heard_leave(&j->heard, j->listener);
	assert_int_equal(j->heard.threads.n, 0);
}

static void choose_uarch(struct judged *j, const char *name)
{
	struct gus_error err = { 0 };

	made_model_begin(&j->s);
	if (!name)
		return;
	j->other = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, &err);
	assert_non_null(j->other);
	gus_core_config_of(&j->s.core, j->other);
	gus_cache_config_of(&j->s.caches, j->other);
	j->s.options.uarch = j->other;
}

static unsigned list_sets(struct gus_traced_set *sets, enum gus_node *of)
{
	unsigned n = 0;

	for (unsigned i = 0; i < GUS_NODES; i++)
		if (gus_nodes[i].knobs) {
			sets[n] = (struct gus_traced_set){ gus_nodes[i].name, gus_node_has, &gus_nodes[i] };
			of[n++] = (enum gus_node)i;
		}
	gus_pathology_sets(sets + n);
	return n;
}

/* The loop with the most time, or the last one. */
static uint32_t region_of(const struct gus_traced *t, bool last)
{
	uint32_t region = GUS_TRACED_NONE;

	for (uint32_t i = 0; i < t->regions.n; i++)
		if (t->regions.v[i].loop != GUS_TRACED_NONE && t->regions.v[i].instructions &&
		    (last || region == GUS_TRACED_NONE || t->regions.v[i].cycles[0] > t->regions.v[region].cycles[0]))
			region = i;
	assert_true(region != GUS_TRACED_NONE);
	return region;
}

static void judge(struct judged *j, bool last, const struct gus_pathology_seen *seen, const enum gus_node *of,
		  unsigned n)
{
	double slots[GUS_NODES_OF_TREE] = { 0 }, speedups[GUS_NODES] = { 0 }, errors[GUS_NODES] = { 0 };
	const double residuals[GUS_NODES] = { 0 };
	const uint32_t region = region_of(&j->s.t, last);
	const double *cycles = j->s.t.regions.v[region].cycles;
	const struct gus_pathology_given g = { .traced = &j->s.t, .region = region, .heard = &j->heard,
		.causal = &j->causal, .lane = (int)n + 1, .model = 0.1, .seen = seen };

	for (unsigned i = 0; i < n; i++)
		speedups[of[i]] = cycles[i + 1] > 0 && cycles[0] > cycles[i + 1] ? cycles[0] / cycles[i + 1] - 1 : 0;
	gus_causal_make(&j->causal, &(struct gus_causal_given){ slots, speedups, speedups, errors, residuals, 0.1 });
	gus_pathologies_find(&g, &j->found);
}

static void run(struct judged *j, const struct run *r, bool last, const struct gus_pathology_seen *seen)
{
	struct gus_traced_set sets[GUS_NODES + GUS_PATHOLOGY_SETS];
	enum gus_node of[GUS_NODES];
	unsigned n = list_sets(sets, of);
	struct made_trace made;
	struct blocks blocks;

	*j = (struct judged){ .lane = 0 };
	choose_uarch(j, r->uarch);
	j->s.core.memory_bandwidth = r->bandwidth;
	gus_heard_init(&j->heard, &j->s.caches);
	j->s.options.sets = sets;
	j->s.options.sets_n = (int)n + GUS_PATHOLOGY_SETS;
	j->s.options.weight = GUS_CAUSAL_MORE;
	j->s.options.core = j->s.options.all = true;
	j->s.options.warm_up = INSNS / 3;
	j->s.options.listen = listen;
	j->s.options.leave = leave;
	j->s.options.listen_context = j;
	cut_code(r->code, &blocks);
	made_trace_begin(&made, "x86_64");
	for (unsigned i = 0; i < blocks.n; i++)
		blocks.v[i].number = made_trace_block(&made, blocks.v[i].address, (const uint8_t *)(uintptr_t)
			blocks.v[i].address, blocks.v[i].lengths.v, blocks.v[i].size, (uint32_t)blocks.v[i].infos.n);
	write_steps(&made, r, &blocks);
	gus_traced_open(&j->s.t, &j->s.options);
	map_self(&j->s.t, (uintptr_t)r->code);
	made_model_read(&j->s, made_trace_end(&made));
	made_model_end(&j->s);
	judge(j, last, seen, of, n);
	for (unsigned i = 0; i < blocks.n; i++) {
		gus_vec_free(&blocks.v[i].lengths);
		gus_vec_free(&blocks.v[i].infos);
	}
}

static void done(struct judged *j)
{
	struct gus_uarch *other = j->other;

	gus_vec_free(&j->found);
	gus_heard_free(&j->heard);
	made_model_free(&j->s);
	gus_uarch_free(other);
}

/* Worth it. */
static const struct gus_pathology_found *find(const struct judged *j, enum gus_pathology kind)
{
	for (size_t i = 0; i < j->found.n; i++)
		if (j->found.v[i].kind == kind && j->found.v[i].worth)
			return &j->found.v[i];
	return NULL;
}

static void print_found(const struct judged *j, const char *name)
{
	printf("  %s:\n", name);
	for (size_t i = 0; i < j->found.n; i++) {
		const struct gus_pathology_found *f = &j->found.v[i];

		printf("    %s at %s, %.1f %%%s: %s\n", gus_pathology_kinds[f->kind].name, f->insn, 100 * f->cost,
		       f->worth ? "" : " (not worth it)", f->advice);
	}
}

enum { A = 0x10000000, B = 0x20000000, MIB = 1 << 20, KIB = 1 << 10 };
#define AT(from, stride, span) { from, stride, span, false }
#define ANY(from, span) { from, 0, span, true }

/* says: what the advice has in it, with the figure of this place; NULL: it is not looked at. */
static const struct pair {
	enum gus_pathology kind;
	const char *says;
	struct run sick, well;
	bool last;                      /* it is about the function's last loop */
} pairs[] = {
	/* 4 cycles of latency by 2 ports. */
	{ GUS_PATHOLOGY_REDUCTION, "8 accumulators of addsd instead of 1", { loop_one_sum, { AT(A, 8, 16 * KIB) } },
		{ loop_eight_sums, { AT(A, 64, 16 * KIB) } } },
	{ GUS_PATHOLOGY_CHAIN, "go round in 8.0 cycles", { loop_horner, { { 0 } } }, { loop_terms, { { 0 } } } },
	{ GUS_PATHOLOGY_CHAIN, NULL, { loop_horner, { { 0 } } }, { loop_one_sum, { AT(A, 8, 16 * KIB) } } },
	{ GUS_PATHOLOGY_LOAD_CHAIN, NULL, { loop_list, { ANY(A, 8 * MIB) } }, { loop_array, { AT(A, 8, 16 * KIB) } } },
	{ GUS_PATHOLOGY_LOAD_CHAIN, NULL, { loop_list, { ANY(A, 4 * KIB) } },
		{ loop_one_sum, { AT(A, 8, 16 * KIB) } } },
	{ GUS_PATHOLOGY_MEMORY_CHAIN, NULL, { loop_counter, { AT(A, 0, 0) } }, { loop_register, { { 0 } } } },
	{ GUS_PATHOLOGY_PORTS, "p5", { loop_shuffles, { { 0 } } }, { loop_mixed, { AT(A, 0, 0), AT(B, 0, 0) } } },
	/* Haswell adds on one port, and multiplies on two. */
	{ GUS_PATHOLOGY_ADD_MUL, "additions are many", { loop_additions, { { 0 } }, .uarch = "haswell" },
		{ loop_balanced, { { 0 } }, .uarch = "haswell" } },
	{ GUS_PATHOLOGY_DIVIDER, NULL, { loop_divisions, { { 0 } } }, { loop_products, { { 0 } } } },
	{ GUS_PATHOLOGY_CONVERSIONS, "2 conversions", { loop_converted, { { 0 } } }, { loop_products, { { 0 } } } },
	{ GUS_PATHOLOGY_PARTIAL, NULL, { loop_kept, { { 0 } } }, { loop_cleared, { { 0 } } } },
	{ GUS_PATHOLOGY_FRONT_END, "length-changing prefix", { loop_large, { { 0 } } }, { loop_wide, { { 0 } } } },
	{ GUS_PATHOLOGY_RETIRE, NULL, { loop_wide, { { 0 } } }, { loop_narrow, { { 0 } } } },
	{ GUS_PATHOLOGY_UNVECTORISED, "4 fit a vector", { loop_scalar, { AT(A, 8, 16 * KIB), AT(B, 8, 8 * KIB) } },
		{ loop_packed, { AT(A, 16, 16 * KIB), AT(B, 16, 8 * KIB) } } },
	/* A chain that is no reduction is in the way of vectors. */
	{ GUS_PATHOLOGY_UNVECTORISED, NULL, { loop_one_sum, { AT(A, 8, 16 * KIB) } }, { loop_horner, { { 0 } } } },
	{ GUS_PATHOLOGY_UNROLLING, NULL, { loop_rolled, { AT(A, 8, 8 * KIB), AT(B, 8, 8 * KIB) } },
		{ loop_unrolled, { AT(A, 40, 8 * KIB), AT(B, 40, 8 * KIB) } } },
	{ GUS_PATHOLOGY_SHORT_TRIPS, "turns each time", { loop_array, { AT(A, 8, 8 * KIB) }, .trips = 5, .any = true },
		{ loop_array, { AT(A, 8, 8 * KIB) } } },
	{ GUS_PATHOLOGY_TAIL, NULL, { loop_rest, { AT(A, 16, 8 * KIB), AT(B, 8, 8 * KIB) }, .trips = 3 },
		{ loop_rest, { AT(A, 16, 8 * KIB), AT(B, 8, 8 * KIB) }, .trips = 400 }, true },
	{ GUS_PATHOLOGY_CONTROL_FLOW, "2 branches", { loop_paths, { { 0 } }, COINS },
		{ loop_paths, { { 0 } }, NEVER } },
	{ GUS_PATHOLOGY_MISPREDICT, "5", { loop_paths, { { 0 } }, COINS }, { loop_paths, { { 0 } }, NEVER } },
	{ GUS_PATHOLOGY_CONDITIONED, NULL, { loop_if_loaded, { ANY(A, 64 * MIB) }, COINS },
		{ loop_if_loaded, { ANY(A, 8 * KIB) }, COINS } },
	{ GUS_PATHOLOGY_BANDWIDTH, NULL, { loop_stream, { AT(A, 64, 64 * MIB), AT(A + 32, 64, 64 * MIB) },
		.uarch = "skylake", .bandwidth = 4 }, { loop_stream, { AT(A, 64, 8 * KIB), AT(A + 32, 64, 8 * KIB) },
		.uarch = "skylake", .bandwidth = 4 } },
	/* The same is waiting where there is no limit. */
	{ GUS_PATHOLOGY_BANDWIDTH, NULL, { loop_stream, { AT(A, 64, 64 * MIB), AT(A + 32, 64, 64 * MIB) },
		.uarch = "skylake", .bandwidth = 4 }, { loop_stream, { AT(A, 64, 64 * MIB), AT(A + 32, 64, 64 * MIB) },
		.uarch = "skylake" } },
	{ GUS_PATHOLOGY_LATENCY, "ahead", { loop_gathered, { ANY(A, 64 * MIB) } },
		{ loop_gathered, { ANY(A, 8 * KIB) } } },
	/* Who waits for the load before cannot ask earlier. */
	{ GUS_PATHOLOGY_LATENCY, NULL, { loop_gathered, { ANY(A, 64 * MIB) } }, { loop_list, { ANY(A, 8 * MIB) } } },
	{ GUS_PATHOLOGY_STRIDE, "use 8 of a line's 64", { loop_one_load, { AT(A, 256, 64 * MIB) } },
		{ loop_one_load, { AT(A, 8, 64 * MIB) } } },
	{ GUS_PATHOLOGY_REUSE, NULL, { loop_one_load, { AT(A, 64, 384 * KIB) } },
		{ loop_one_load, { AT(A, 64, 16 * KIB) } } },
	/* 256 lines in 8 of the 64 sets of L1, or in all of them. */
	{ GUS_PATHOLOGY_CONFLICT, NULL, { loop_list, { AT(A, 4096, 256 * 4096) } },
		{ loop_list, { AT(A, 4096 + 64, 256 * (4096 + 64)) } } },
	{ GUS_PATHOLOGY_STREAMS, "10 streams", { loop_streams, { AT(A, 8, 0), AT(2 * A, 8, 0), AT(3 * A, 8, 0),
		AT(4ul * A, 8, 0), AT(5ul * A, 8, 0), AT(6ul * A, 8, 0), AT(7ul * A, 8, 0), AT(8ul * A, 8, 0),
		AT(9ul * A, 8, 0), AT(10ul * A, 8, 0) } },
		{ loop_rolled, { AT(A, 8, 0), AT(B, 8, 0) } } },
	{ GUS_PATHOLOGY_TLB, NULL, { loop_list, { ANY(A, 64 * MIB) } }, { loop_list, { ANY(A, 64 * KIB) } } },
	{ GUS_PATHOLOGY_SPLITS, "align it to 32",
		{ loop_vectors, { AT(A + 48, 64, 8 * KIB), AT(B + 48, 64, 8 * KIB) } },
		{ loop_vectors, { AT(A, 64, 8 * KIB), AT(B, 64, 8 * KIB) } } },
	{ GUS_PATHOLOGY_BLOCKED, "a part of its bytes", { loop_halves, { AT(A, 0, 0), AT(A + 4, 0, 0), AT(A, 0, 0) } },
		{ loop_wholes, { AT(A, 0, 0), AT(A + 8, 0, 0), AT(A, 0, 0) } } },
	{ GUS_PATHOLOGY_ALIAS, "100 % of the times", { loop_copy, { AT(A, 8, 8 * KIB), AT(B, 8, 8 * KIB) } },
		{ loop_copy, { AT(A, 8, 8 * KIB), AT(B + 256, 8, 8 * KIB) } } },
	{ GUS_PATHOLOGY_LOCKS, NULL, { loop_locked, { AT(A, 0, 0) } }, { loop_counter, { AT(A, 0, 0) } } },
};
#define PAIRS (sizeof(pairs) / sizeof(*pairs))

static bool check_pair(const struct pair *p)
{
	const char *name = gus_pathology_kinds[p->kind].name;
	const struct gus_pathology_found *found;
	struct judged sick, well;
	bool good;

	run(&sick, &p->sick, p->last, NULL);
	run(&well, &p->well, p->last, NULL);
	found = find(&sick, p->kind);
	good = found && !find(&well, p->kind) && (!p->says || strstr(found->advice, p->says));
	if (!good) {
		printf("%s, %zu: it is told of the wrong one\n", name, (size_t)(p - pairs));
		print_found(&sick, "with it");
		print_found(&well, "without");
	}
	done(&sick);
	done(&well);
	return good;
}

static void each_row(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < PAIRS; i++)
		wrong += !check_pair(&pairs[i]);
	assert_int_equal(wrong, 0);
}

/* What samples say of threads, on a loop that has nothing else. */
static const struct {
	enum gus_pathology kind;
	struct gus_pathology_seen seen;
	double cost;                    /* 0: it is not told, or not worth it */
} threads[] = {
	/* A quarter of the loads that the region's share of the time stands for. */
	{ GUS_PATHOLOGY_FALSE_SHARING, { .samples = 500, .all = 1000, .told = 400, .hitm = 60, .apart = 50,
		.hitm_at = UINT64_MAX }, 1.0 / 3 },
	{ GUS_PATHOLOGY_FALSE_SHARING, { .samples = 500, .all = 1000, .told = 400, .hitm = 60, .apart = 19,
		.hitm_at = UINT64_MAX }, 0 },
	{ GUS_PATHOLOGY_RUNTIME, { .samples = 500, .all = 1000, .runtime = 200 }, 0.25 },
	{ GUS_PATHOLOGY_RUNTIME, { .samples = 500, .all = 1000, .runtime = 40 }, 0 },
	/* 300 of a mean of 150, of which chance may explain sqrt(2 ln 2 150) = 14.4. */
	{ GUS_PATHOLOGY_IMBALANCE, { .samples = 300, .all = 300, .most = 300, .mean = 150, .threads = 2 }, 0.8246 },
	{ GUS_PATHOLOGY_IMBALANCE, { .samples = 300, .all = 300, .most = 160, .mean = 150, .threads = 2 }, 0 },
	{ GUS_PATHOLOGY_IMBALANCE, { .samples = 300, .all = 300, .most = 300, .mean = 300, .threads = 1 }, 0 },
};

static void of_threads(void **state)
{
	const struct run r = { .code = loop_narrow };

	(void)state;
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		const struct gus_pathology_found *found;
		struct judged j;

		run(&j, &r, false, &threads[i].seen);
		found = find(&j, threads[i].kind);
		if (!found != !(threads[i].cost > 0) || (found && (fabs(found->cost - threads[i].cost) > 0.001 ||
		    !(found->low < found->cost && found->cost < found->high)))) {
			print_found(&j, "threads");
			fail_msg("%zu: %g", i, found ? found->cost : 0);
		}
		done(&j);
	}
}

static bool is_tested(enum gus_pathology kind)
{
	for (size_t i = 0; i < PAIRS; i++)
		if (pairs[i].kind == kind)
			return true;
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		if (threads[i].kind == kind)
			return true;
	return false;
}

/* Each row is told apart by its name, says what it is, and is tested here or says why it cannot be seen. */
static void table(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GUS_PATHOLOGIES; i++) {
		const struct gus_pathology_kind *k = &gus_pathology_kinds[i];

		assert_true(k->name && k->what && k->test && k->cure);
		if (!k->cost != !is_tested((enum gus_pathology)i))
			fail_msg("%s", k->name);
		for (unsigned other = 0; other < i; other++)
			assert_string_not_equal(k->name, gus_pathology_kinds[other].name);
	}
}

/* What has the symptom and costs little is told to be not worth it, and what is in front of it; all by cost. */
static void stop_rule(void **state)
{
	const struct run r = { loop_vectors, { AT(A + 48, 64, 8 * KIB), AT(B, 64, 8 * KIB) } };
	struct judged j;
	unsigned stopped = 0;

	(void)state;
	run(&j, &r, false, NULL);
	for (size_t i = 0; i < j.found.n; i++) {
		const struct gus_pathology_found *f = &j.found.v[i];

		assert_true(f->worth == (f->cost >= GUS_CAUSAL_WORTH));
		assert_true(f->worth == !*f->stop);
		assert_true(!i || j.found.v[i - 1].cost >= f->cost);
		assert_true(f->low <= f->cost && f->cost <= f->high);
		stopped += !f->worth && strncmp(f->stop, "less than 5 %", strlen("less than 5 %")) == 0;
	}
	assert_true(stopped > 0);
	done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row), cmocka_unit_test(of_threads), cmocka_unit_test(table),
		cmocka_unit_test(stop_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
