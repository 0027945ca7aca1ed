/* SPDX-License-Identifier: MIT */
/* Routes and their replay: a made-up recording of a program that we execute here by hand, so that the number of executions of
 * each of its blocks is known. Its code is in the recording. */
#include <elf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/replay.h"
#include "attribution/routes.h"
#include "model/builtin.h"
#include "model/stream.h"
#include "proto/writer.h"

#define START 1000000000ull
#define BASE 0x400000ull     /* where the module is mapped */
#define TEXT 0x1000u         /* offset of its code in the file */
#define ADDRESS 0x401000u    /* and the address that the file gives to it */
#define MODULE "/nowhere/app"
#define BRANCH_ANY 8u
#define BRANCH_ANY_CALL 16u
#define DEPTH 8              /* branches in a stack */
#define NONE GUS_ROUTES_NONE

static const uint8_t code[] = {
	0x31, 0xc0,                     /* 00 f: xor eax, eax */
	0x48, 0x89, 0xf1,               /* 02 mov rcx, rsi */
	0xa8, 0x01,                     /* 05 test al, 1 */
	0x74, 0x02,                     /* 07 jz 0b */
	0xff, 0xc2,                     /* 09 inc edx */
	0xff, 0xc0,                     /* 0b inc eax */
	0x48, 0xff, 0xc9,               /* 0d dec rcx */
	0x75, 0xf3,                     /* 10 jnz 05 */
	0xe8, 0x09, 0x00, 0x00, 0x00,   /* 12 call 20 */
	0xff, 0xcf,                     /* 17 dec edi */
	0x75, 0xe7,                     /* 19 jnz 02 */
	0xc3,                           /* 1b ret */
	0x90, 0x90, 0x90, 0x90,
	0x90,                           /* 20 g: nop */
	0xc3,                           /* 21 ret */
	0xe8, 0xd9, 0xff, 0xff, 0xff,   /* 22 m: call 00 */
	0xeb, 0xf9,                     /* 27 jmp 22 */
};

/* Its blocks: those that are jumped to, and those behind branches. */
enum { F, OUTER, INNER, ODD, NEXT, CALL, BACK, LEAVE, G, M, AGAIN, BLOCKS };
static const struct { uint8_t at, size, insns; } blocks[BLOCKS] = {
	[F] = { 0x00, 2, 1 }, [OUTER] = { 0x02, 3, 1 }, [INNER] = { 0x05, 4, 2 }, [ODD] = { 0x09, 2, 1 }, [NEXT] = { 0x0b, 7, 3 },
	[CALL] = { 0x12, 5, 1 }, [BACK] = { 0x17, 4, 2 }, [LEAVE] = { 0x1b, 1, 1 }, [G] = { 0x20, 2, 2 }, [M] = { 0x22, 5, 1 },
	[AGAIN] = { 0x27, 2, 1 },
};

/* The file. */

struct elf {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char pad[TEXT - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr)];
	uint8_t text[64];
	Elf64_Sym symbols[4];
	char names[64];
	Elf64_Shdr sections[5];
};

static void make_elf(struct elf *e)
{
	static const struct { unsigned name, at, size; } symbols[] = { { 1, 0, 0x1c }, { 3, 0x20, 2 }, { 5, 0x22, 7 } };

	memset(e, 0, sizeof(*e));
	memcpy(e->header.e_ident, ELFMAG "\2\1\1", SELFMAG + 3);
	e->header.e_type = ET_EXEC;
	e->header.e_machine = EM_X86_64;
	e->header.e_version = EV_CURRENT;
	e->header.e_ehsize = sizeof(Elf64_Ehdr);
	e->header.e_phoff = offsetof(struct elf, segment);
	e->header.e_phentsize = sizeof(Elf64_Phdr);
	e->header.e_phnum = 1;
	e->header.e_shoff = offsetof(struct elf, sections);
	e->header.e_shentsize = sizeof(Elf64_Shdr);
	e->header.e_shnum = 5;
	e->header.e_shstrndx = 4;
	e->segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT, .p_vaddr = ADDRESS,
				   .p_filesz = sizeof(e->text), .p_memsz = sizeof(e->text) };
	memcpy(e->text, code, sizeof(code));
	memcpy(e->names, "\0f\0g\0m", 7);
	for (size_t i = 0; i < 3; i++)
		e->symbols[i + 1] = (Elf64_Sym){ .st_name = symbols[i].name, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
						 .st_value = ADDRESS + symbols[i].at, .st_size = symbols[i].size };
	e->sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = ADDRESS,
				       .sh_offset = TEXT, .sh_size = sizeof(code), .sh_addralign = 1 };
	e->sections[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct elf, symbols), .sh_size = sizeof(e->symbols),
				       .sh_link = 3, .sh_info = 1, .sh_entsize = sizeof(Elf64_Sym), .sh_addralign = 8 };
	e->sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct elf, names), .sh_size = sizeof(e->names) };
	e->sections[4] = e->sections[3];
}

/* The recording. */

struct made {
	char dir[64], path[96];
	struct gus_columns batch;
	struct gus_reader *reader;
	struct gus_profile profile;
};

static void add_map(struct gus_writer *w, uint64_t start, const char *path)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT, *list[] = { &record };
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;

	map.pid = map.tid = 10;
	map.time = START;
	map.start = start;
	map.length = 0x20000;
	map.path = (char *)(uintptr_t)path;
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &map;
	sideband.n_records = 1;
	sideband.records = list;
	assert_int_equal(gus_writer_sideband(w, &sideband, NULL), 0);
}

/* Writes the batch and reads it. */
static void record(struct made *m, uint64_t branch_type)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Image image = GUSPROF__IMAGE__INIT;
	static const struct gus_symbols_options options;
	struct gus_error err = { 0 };
	struct gus_writer *w;
	struct elf elf;

	snprintf(m->dir, sizeof(m->dir), "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	snprintf(m->path, sizeof(m->path), "%s/data", m->dir);
	event.name = (char *)"cycles";
	event.unit = (char *)"cycles";
	header.n_events = 1;
	header.events = events;
	header.branch_type = branch_type;
	w = gus_writer_create(m->path, &header, NULL);
	assert_non_null(w);
	add_map(w, BASE, MODULE);
	add_map(w, 0x7f0000000000, "/nowhere/lib.so");
	make_elf(&elf);
	image.path = (char *)MODULE;
	image.bytes.data = (uint8_t *)&elf;
	image.bytes.len = sizeof(elf);
	assert_int_equal(gus_writer_message(w, GUS_FRAME_IMAGE, &image.base, NULL), 0);
	assert_int_equal(gus_writer_samples(w, &m->batch, NULL), 0);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	m->reader = gus_reader_open(m->path, NULL);
	assert_non_null(m->reader);
	if (gus_profile_load(&m->profile, m->reader, &(struct gus_filter){ 0 }, &options, NULL, &err) != 0)
		fail_msg("%s", err.text);
}

static void load(struct made *m, struct gus_routes *r)
{
	struct gus_error err = { 0 };

	if (gus_routes_load(r, m->reader, &m->profile, &err) != 0)
		fail_msg("%s", err.text);
}

static void drop(struct made *m)
{
	gus_profile_free(&m->profile);
	gus_reader_close(m->reader);
	gus_columns_free(&m->batch);
	unlink(m->path);
	rmdir(m->dir);
}

static void add_sample(struct made *m, uint64_t ip, uint64_t period, const struct gus_branch *stack, uint32_t n)
{
	gus_columns_push(&m->batch, &(struct gus_sample){ .ip = BASE + TEXT + ip, .time = START + m->batch.n + 1, .period = period, .pid = 10,
							  .tid = 10, .mode = GUS_MODE_USER, .branches_n = n, .branches = stack });
}

/* The machine: it counts blocks and notes the last branches. A sample comes each DEPTH - 1 branches, so that the newest of a
 * stack is the oldest of the next one, and each range is in one stack. */

struct machine {
	struct made *m;
	uint64_t count[BLOCKS], mispredicted, branches;
	struct gus_branch last[DEPTH];  /* the newest first */
};

static void jump(struct machine *k, unsigned from, unsigned to, bool mispredicted)
{
	memmove(k->last + 1, k->last, sizeof(k->last) - sizeof(*k->last));
	k->last[0] = (struct gus_branch){ BASE + TEXT + from, BASE + TEXT + to, mispredicted ? GUS_BRANCH_MISPREDICTED : GUS_BRANCH_PREDICTED,
					  3 };
	k->branches++;
	k->mispredicted += mispredicted;
	if (k->branches >= DEPTH && (k->branches - DEPTH) % (DEPTH - 1) == 0)
		add_sample(k->m, to, 1000, k->last, DEPTH);
}

/* m calls f `calls` times, each of which goes 3 times around outside and 10 times within; the branch back within is mispredicted each
 * fourth time that it is taken. */
static void run(struct machine *k, unsigned calls)
{
	unsigned backs = 0;

	for (unsigned i = 0; i < calls; i++) {
		k->count[M]++;
		jump(k, 0x22, 0x00, false);
		k->count[F]++;
		for (unsigned outer = 0, eax = 0; outer < 3; outer++) {
			k->count[OUTER]++;
			for (unsigned inner = 0; inner < 10; inner++, eax++) {
				k->count[INNER]++;
				if (eax % 2 == 0)
					jump(k, 0x07, 0x0b, false);
				else
					k->count[ODD]++;
				k->count[NEXT]++;
				if (inner < 9)
					jump(k, 0x10, 0x05, ++backs % 4 == 0);
			}
			k->count[CALL]++;
			jump(k, 0x12, 0x20, false);
			k->count[G]++;
			jump(k, 0x21, 0x17, false);
			k->count[BACK]++;
			if (outer < 2)
				jump(k, 0x19, 0x02, false);
		}
		k->count[LEAVE]++;
		jump(k, 0x1b, 0x27, false);
		k->count[AGAIN]++;
		jump(k, 0x27, 0x22, false);
	}
}

static const struct gus_route_block *block_at(const struct gus_routes *r, unsigned at)
{
	for (size_t i = 0; i < r->blocks.n; i++)
		if (r->blocks.v[i].offset == TEXT + at)
			return &r->blocks.v[i];
	fail_msg("there is no block at %x", at);
	return NULL;
}

static uint32_t region_named(const struct gus_routes *r, const char *name)
{
	for (uint32_t i = 0; i < r->regions.n; i++)
		if (strcmp(r->regions.v[i].name, name) == 0)
			return i;
	fail_msg("there is no region %s", name);
	return NONE;
}

/* 53 branches a call; 70 calls are 530 stacks of 7 new ones each. One more branch ends the last range: what is counted is what was
 * executed between the first branch and that one. */
static void make_run(struct made *m, struct machine *k)
{
	*m = (struct made){ .batch = { 0 } };
	*k = (struct machine){ .m = m };
	run(k, 70);
	jump(k, 0x22, 0x00, false); /* m's first block before the first branch is not counted, and here it is: as often in all */
}

static void counts_are_exact(void **state)
{
	struct gus_routes r;
	struct machine k;
	struct made m;
	uint64_t sequences = 0;

	(void)state;
	make_run(&m, &k);
	assert_int_equal((k.branches - DEPTH) % (DEPTH - 1), 0); /* nothing is left over */
	record(&m, BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.source, GUS_ROUTES_STACKS);
	assert_int_equal(r.stacks, (k.branches - 1) / (DEPTH - 1));
	assert_int_equal(r.ranges[GUS_RANGE_GOOD], k.branches - 1);
	assert_int_equal(r.blocks.n, BLOCKS);
	for (unsigned i = 0; i < BLOCKS; i++) {
		const struct gus_route_block *b = block_at(&r, blocks[i].at);

		assert_int_equal(b->size, blocks[i].size);
		assert_int_equal(b->insns, blocks[i].insns);
		assert_int_equal(b->address, ADDRESS + blocks[i].at);
		assert_memory_equal(r.code.v + b->code, code + blocks[i].at, blocks[i].size);
		assert_true(b->count == (double)k.count[i]);
	}
	assert_true(block_at(&r, 0x05)->taken == 70 * 15);
	assert_true(block_at(&r, 0x0b)->taken == 70 * 27);
	assert_int_equal(block_at(&r, 0x0b)->mispredicted, k.mispredicted);
	for (size_t i = 0; i < r.routes.n; i++)
		sequences += r.routes.v[i].count;
	assert_int_equal(sequences, r.stacks);
	gus_routes_free(&r);
	drop(&m);
}

static void branches_are_counted(void **state)
{
	struct gus_routes r;
	struct machine k;
	struct made m;
	double branches = 0, taken = 0;
	bool seen = false;

	(void)state;
	make_run(&m, &k);
	record(&m, BRANCH_ANY);
	load(&m, &r);
	for (size_t i = 0; i < r.edges.n; i++) {
		const struct gus_route_edge *e = &r.edges.v[i];

		assert_true(e->taken && e->from != NONE && e->to != NONE);
		branches += e->count;
		if (r.blocks.v[e->from].offset != TEXT + 0x0b)
			continue;
		seen = true;
		assert_int_equal(r.blocks.v[e->to].offset, TEXT + 0x05);
		assert_true(e->count == 70 * 27 && e->told == 70 * 27);
		assert_int_equal(e->mispredicted, k.mispredicted);
	}
	assert_true(seen);
	for (size_t i = 0; i < r.blocks.n; i++)
		taken += r.blocks.v[i].taken;
	assert_true(branches == (double)(k.branches - 1) && taken == branches);
	gus_routes_free(&r);
	drop(&m);
}

static void regions_are_functions_and_loops(void **state)
{
	static const struct { const char *name, *outer; unsigned at; unsigned blocks; } want[] = {
		{ "f", NULL, 0, 1 << F | 1 << OUTER | 1 << INNER | 1 << ODD | 1 << NEXT | 1 << CALL | 1 << BACK | 1 << LEAVE },
		{ "f+0x2", "f", 2, 1 << OUTER | 1 << INNER | 1 << ODD | 1 << NEXT | 1 << CALL | 1 << BACK },
		{ "f+0x5", "f+0x2", 5, 1 << INNER | 1 << ODD | 1 << NEXT },
		{ "g", NULL, 0x20, 1 << G },
		{ "m", NULL, 0x22, 1 << M | 1 << AGAIN },
		{ "m+0x0", "m", 0x22, 1 << M | 1 << AGAIN },
	};
	struct gus_routes r;
	struct machine k;
	struct made m;

	(void)state;
	make_run(&m, &k);
	record(&m, BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.regions.n, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct gus_route_region *g = &r.regions.v[region_named(&r, want[i].name)];
		double instructions = 0;

		for (unsigned b = 0; b < BLOCKS; b++)
			instructions += want[i].blocks >> b & 1 ? (double)(k.count[b] * blocks[b].insns) : 0;
		assert_true(g->instructions == instructions);
		assert_int_equal(g->offset, TEXT + want[i].at);
		assert_true(want[i].outer ? g->outer == region_named(&r, want[i].outer) : g->outer == NONE);
	}
	gus_routes_free(&r);
	drop(&m);
}

/* Two branches around each range that cannot have been; before and behind it are good ones, which stay. */
static void what_cannot_have_been_is_dropped(void **state)
{
#define AT(x) (BASE + TEXT + (x))
	static const struct { enum gus_range_verdict verdict; uint64_t to, from; } cases[] = {
		{ GUS_RANGE_BACKWARDS, AT(0x0b), AT(0x07) },
		{ GUS_RANGE_APART, AT(0x0b), 0x7f0000000010 },
		{ GUS_RANGE_APART, 0x7f0000000010, 0xffffffff81000000 },
		{ GUS_RANGE_LONG, 0x7f0000000000, 0x7f0000010001 },
		{ GUS_RANGE_NO_CODE, 0x7f0000000000, 0x7f0000000010 },
		{ GUS_RANGE_NO_CODE, 0x5000, 0x5010 },                  /* nothing is mapped there */
		{ GUS_RANGE_NO_INSN, AT(0x05), AT(0x08) },              /* within jz */
		{ GUS_RANGE_SKIPS, AT(0x0b), AT(0x19) },                /* past the call */
		{ GUS_RANGE_NO_BRANCH, AT(0x0b), AT(0x0d) },
		{ GUS_RANGE_GOOD, AT(0x0b), AT(0x12) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_branch stack[] = {
			{ AT(0x07), AT(0x0b), GUS_BRANCH_PREDICTED, 0 },
			{ cases[i].from, AT(0x05), GUS_BRANCH_PREDICTED, 0 },
			{ AT(0x10), cases[i].to, GUS_BRANCH_PREDICTED, 0 },
			{ AT(0x10), AT(0x05), GUS_BRANCH_PREDICTED, 0 },
		};
		bool good = cases[i].verdict == GUS_RANGE_GOOD;
		struct made m = { .batch = { 0 } };
		struct gus_routes r;
		uint64_t all = 0;

		add_sample(&m, 0x0b, 1, stack, 4);
		record(&m, BRANCH_ANY);
		load(&m, &r);
		for (unsigned v = 0; v < GUS_RANGE_VERDICTS; v++)
			all += r.ranges[v];
		assert_int_equal(all, 3);
		assert_int_equal(r.ranges[GUS_RANGE_GOOD], good ? 3 : 2);
		assert_int_equal(r.ranges[cases[i].verdict], good ? 3 : 1);
		assert_int_equal(r.routes.n, good ? 1 : 2); /* its sequence is cut in two */
		assert_true(block_at(&r, 0x05)->count == 2);
		gus_routes_free(&r);
		drop(&m);
	}
}

static void what_tells_nothing_is_refused(void **state)
{
	static const struct gus_branch far[] = { { 0x7f0000000020, 0x10, 0, 0 }, { 0x20, 0x7f0000000010, 0, 0 } };
	static const struct { uint64_t type; uint32_t n; int code; const char *text; } cases[] = {
		{ BRANCH_ANY_CALL, 2, GUS_E_UNSUPPORTED, "only some kinds of branches" },
		{ BRANCH_ANY, 1, GUS_E_NOT_FOUND, "no sample of this recording has two branches" },
		{ BRANCH_ANY, 2, GUS_E_NOT_FOUND, "none of the 1 stretches" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = { .batch = { 0 } };
		struct gus_error err = { 0 };
		struct gus_routes r;

		add_sample(&m, 0, 1, far, cases[i].n);
		record(&m, cases[i].type);
		assert_int_equal(gus_routes_load(&r, m.reader, &m.profile, &err), -1);
		assert_int_equal(err.code, cases[i].code);
		assert_non_null(strstr(err.text, cases[i].text));
		drop(&m);
	}
}

/* Plain samples in proportion to what was executed, as if each instruction took one: the counts come out, up to their scale and what
 * is added to blocks that nobody saw. */
static void samples_give_counts(void **state)
{
	struct gus_routes r;
	struct machine k;
	struct made m, plain = { .batch = { 0 } };

	(void)state;
	make_run(&m, &k);
	gus_columns_free(&m.batch);
	for (unsigned b = 0; b < BLOCKS; b++)
		add_sample(&plain, blocks[b].at, k.count[b] * blocks[b].insns * 1000, NULL, 0);
	record(&plain, 0);
	load(&plain, &r);
	assert_int_equal(r.source, GUS_ROUTES_SAMPLES);
	assert_int_equal(r.samples, BLOCKS);
	assert_int_equal(r.routes.n, 0);
	for (unsigned b = 0; b < BLOCKS; b++) {
		double got = block_at(&r, blocks[b].at)->count, want = (double)k.count[b] * 1000;
		double unseen = (double)plain.profile.weight / BLOCKS / 64;

		assert_true(fabs(got - want - unseen / blocks[b].insns) < 1e-3);
	}
	/* The branch back within goes 9 of 10 times, jz half of the time. */
	assert_true(fabs(block_at(&r, 0x0b)->taken / block_at(&r, 0x0b)->count - 0.9) < 0.02);
	assert_true(fabs(block_at(&r, 0x05)->taken / block_at(&r, 0x05)->count - 0.5) < 0.02);
	gus_routes_free(&r);
	drop(&plain);
}

/* Replay. */

static struct gus_uarch *skylake(void)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);

	assert_non_null(u);
	return u;
}

/* Executions of each block, by the first of its ops; checks that steps follow each other as ops of a block do. */
static uint64_t replay(struct gus_replay *p, const struct gus_routes *r, uint64_t *count)
{
	const struct gus_program *program = gus_replay_program(p);
	struct gus_core_source source;
	struct gus_core_branch branch;
	struct gus_core_step step = { 0 };
	uint64_t instructions = 0, sum = 0;
	uint32_t before = UINT32_MAX;

	gus_replay_start(p, &source, &branch);
	memset(count, 0, r->blocks.n * sizeof(*count));
	while (source.next(source.context, &step)) {
		uint32_t block = gus_replay_block(p, step.op);
		const struct gus_op *op = &program->ops[step.op];

		assert_true(step.op < program->ops_n);
		if (op->insn == 0 || program->insns[op->insn].offset == r->blocks.v[block].address)
			count[block]++;
		else
			assert_int_equal(gus_replay_block(p, before), block);
		assert_true(!step.taken || op->flags & GUS_OP_BRANCH);
		instructions += op->insns_n;
		sum = sum * 31 + step.op * 2 + step.taken;
		before = step.op;
	}
	assert_true(instructions > 0);
	return sum;
}

static void follows_proportions(struct made *m, const struct machine *k, uint64_t instructions, double tolerance)
{
	struct gus_uarch *u = skylake();
	struct gus_routes r;
	struct gus_replay *p;
	uint64_t count[BLOCKS], sum, all = 0, truth = 0;

	load(m, &r);
	p = gus_replay_new(&r, u, &(struct gus_replay_options){ NONE, instructions }, NULL);
	assert_non_null(p);
	assert_int_equal(r.blocks.n, BLOCKS);
	sum = replay(p, &r, count);
	for (unsigned b = 0; b < BLOCKS; b++) {
		all += count[b] * r.blocks.v[b].insns;
		truth += k->count[b] * blocks[b].insns;
	}
	assert_in_range(all, instructions, instructions + 4); /* to the end of the block */
	for (unsigned b = 0; b < BLOCKS; b++) {
		const struct gus_route_block *block = block_at(&r, blocks[b].at);
		double got = (double)count[block - r.blocks.v] / (double)all, want = (double)k->count[b] / (double)truth;

		if (fabs(got - want) > tolerance * want + 2e-4)
			fail_msg("block %u: %.5f of all instructions, not %.5f", b, got, want);
	}
	assert_int_equal(replay(p, &r, count), sum); /* the same each time */
	gus_replay_free(p);
	gus_routes_free(&r);
	gus_uarch_free(u);
}

static void replays_stacks(void **state)
{
	struct machine k;
	struct made m;

	(void)state;
	make_run(&m, &k);
	record(&m, BRANCH_ANY);
	follows_proportions(&m, &k, 500000, 0.01);
	drop(&m);
}

static void replays_samples(void **state)
{
	struct machine k;
	struct made m, plain = { .batch = { 0 } };

	(void)state;
	make_run(&m, &k);
	gus_columns_free(&m.batch);
	for (unsigned b = 0; b < BLOCKS; b++)
		for (unsigned n = 0; n < 100; n++)
			add_sample(&plain, blocks[b].at, k.count[b] * blocks[b].insns, NULL, 0);
	record(&plain, 0);
	follows_proportions(&plain, &k, 4000000, 0.05);
	drop(&plain);
}

/* Of the inner loop alone: only its blocks; and the branch back is mispredicted each fourth time that it is taken. */
static void replays_a_region(void **state)
{
	struct gus_uarch *u = skylake();
	struct gus_core_source source;
	struct gus_core_branch branch;
	struct gus_core_step step = { 0 };
	uint64_t backs = 0, mispredicted = 0;
	struct gus_routes r;
	struct machine k;
	struct made m;
	struct gus_replay *p;

	(void)state;
	make_run(&m, &k);
	record(&m, BRANCH_ANY);
	load(&m, &r);
	p = gus_replay_new(&r, u, &(struct gus_replay_options){ region_named(&r, "f+0x5"), 60000 }, NULL);
	gus_replay_start(p, &source, &branch);
	while (source.next(source.context, &step)) {
		uint64_t offset = r.blocks.v[gus_replay_block(p, step.op)].offset - TEXT;

		assert_true(offset == 0x05 || offset == 0x09 || offset == 0x0b);
		if (offset != 0x0b || !step.taken)
			continue;
		backs++;
		mispredicted += branch.mispredicted(branch.context, step.op, 0);
	}
	assert_in_range(backs, 9000, 11000);
	assert_true(fabs((double)mispredicted / (double)backs - (double)k.mispredicted / (70 * 27)) < 0.01);
	gus_replay_free(p);
	gus_routes_free(&r);
	drop(&m);
	gus_uarch_free(u);
}

/* The stream engine takes it, with the measured rate of mispredictions and without. */
static void engines_run_it(void **state)
{
	struct gus_uarch *u = skylake();
	struct gus_core_config config;
	struct gus_core_source source;
	struct gus_core_branch branch;
	struct gus_stream_result result;
	struct gus_error err = { 0 };
	struct gus_routes r;
	struct machine k;
	struct made m;
	struct gus_replay *p;
	struct gus_stream_options so = { .source = &source, .branch = &branch, .fetch = GUS_CORE_FETCH_UOP_CACHE };
	double with, without;

	(void)state;
	make_run(&m, &k);
	record(&m, BRANCH_ANY);
	load(&m, &r);
	p = gus_replay_new(&r, u, &(struct gus_replay_options){ NONE, 300000 }, NULL);
	gus_core_config_of(&config, u);
	gus_replay_start(p, &source, &branch);
	if (gus_stream_run(gus_replay_program(p), &config, &so, &result, &err) != 0)
		fail_msg("%s", err.text);
	with = result.cycles[0];
	assert_in_range(result.instructions, 300000, 300004);
	so.branch = NULL;
	gus_replay_start(p, &source, &branch);
	assert_int_equal(gus_stream_run(gus_replay_program(p), &config, &so, &result, &err), 0);
	without = result.cycles[0];
	/* Issue takes 4 instructions a cycle at most; and mispredictions cost some 15 cycles and more, one in 30 instructions or so. */
	assert_true(without >= 300000 / 4 && without < 300000 * 1.5);
	assert_true(with > without + 300000.0 / 45 * 10);
	gus_replay_free(p);
	gus_routes_free(&r);
	drop(&m);
	gus_uarch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(branches_are_counted),
		cmocka_unit_test(regions_are_functions_and_loops),
		cmocka_unit_test(what_cannot_have_been_is_dropped),
		cmocka_unit_test(what_tells_nothing_is_refused),
		cmocka_unit_test(samples_give_counts),
		cmocka_unit_test(replays_stacks),
		cmocka_unit_test(replays_samples),
		cmocka_unit_test(replays_a_region),
		cmocka_unit_test(engines_run_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
