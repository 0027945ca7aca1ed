/* SPDX-License-Identifier: MIT */
/* symbolizer/unwind: stacks of a process whose one file, with its table, is made here, at each end that a stack has. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elf.h>
#include <linux/perf_event.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"
#include "symbolizer/unwind/copied.h"
#include "symbolizer/unwind/files.h"
#include "symbolizer/unwind/lasts.h"
#include "symbolizer/unwind/unwind.h"
#include "tests/unit/made_frames.h"

#define LEN(a) (sizeof(a) / sizeof(*(a)))

/* Where the file is mapped, code without a file, and the stack; the file's own address of its first byte. */
#define BASE 0x7f0000000000ull
#define JIT 0x7e0000000000ull
#define SP 0x7ffc0000ull
#define OWN 0x10000ull
enum { CODE = 0x200, CODE_END = 0x800, TABLE = 0x800, NAMES = 0x1800, HEADERS = 0x1840, SIZE = 0x2000 };

/* Functions of the file, of 64 bytes each. */
#define AT(n) (BASE + CODE + 0x40 * (n))
enum { LEAF, SAVES, POINTS, FIRST, SIGNAL, LOOPS, STAYS, BAD, BY_RBX, CHANGES, WORKS, RA_LOW, ENDS, FLIES,
       ASIDE, READS, WITHOUT };

static const struct { const char *letters; uint8_t program[16], n; } functions[] = {
	[LEAF] = { "", { DW_CFA_nop }, 1 },
	[SAVES] = { "", { DW_CFA_def_cfa_offset, 24, DW_CFA_offset | 3, 2 }, 4 },
	[POINTS] = { "", { DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2 }, 5 },
	[FIRST] = { "", { DW_CFA_undefined, 16 }, 2 },
	/* [sp] pc, [sp + 8] sp, [sp + 16] rbx, [sp + 24] rax */
	[SIGNAL] = { "zRS", { DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_deref, DW_CFA_expression, 16, 2,
			      DW_OP_breg7, 0, DW_CFA_expression, 3, 2, DW_OP_breg7, 16 }, 15 },
	[LOOPS] = { "", { DW_CFA_def_cfa_expression, 3, DW_OP_skip, 0xfd, 0xff }, 5 },
	[STAYS] = { "", { DW_CFA_def_cfa_offset, 0, DW_CFA_val_offset, 16, 0 }, 5 },
	[BAD] = { "", { DW_CFA_restore_state }, 1 },
	[BY_RBX] = { "", { DW_CFA_def_cfa, 3, 8 }, 3 },
	/* rbx is in r12, r13 nowhere, r14 the CFA + 8, r15 at CFA - 40, which an epilogue has left behind */
	[CHANGES] = { "", { DW_CFA_register, 3, 12, DW_CFA_undefined, 13, DW_CFA_val_offset_sf, 14, 0x7f,
			    DW_CFA_offset | 15, 5 }, 10 },
	[WORKS] = { "", { DW_CFA_val_expression, 3, 3, DW_OP_skip, 0xfd, 0xff }, 6 },
	[RA_LOW] = { "", { DW_CFA_offset | 16, 2 }, 2 },
	[ENDS] = { "", { DW_CFA_def_cfa, 0, 8, DW_CFA_undefined, 16 }, 5 },    /* rax: callers' is not known */
	[FLIES] = { "", { DW_CFA_def_cfa, 3, 8, DW_CFA_register, 16, 12 }, 6 },
	[ASIDE] = { "", { DW_CFA_remember_state, DW_CFA_restore_state, DW_CFA_remember_state, DW_CFA_restore_state,
			  DW_CFA_remember_state, DW_CFA_restore_state, DW_CFA_remember_state,
			  DW_CFA_restore_state }, 8 },
	[READS] = { "", { DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 0x68, DW_OP_deref }, 5 }, /* what is 24 below */
};

struct process {
	unsigned machine;
	char path[32];
	struct gus_symbols_options options;
	struct gus_unwind_files *files;
	struct gus_unwind_file *file;
	struct gus_unwind_copied *copied; /* may be NULL */
};

static void write_file(struct process *p, const struct made_frames *frames, const char *section, const uint8_t *code)
{
	static uint8_t bytes[SIZE];
	static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab\0.gopclntab";
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = (Elf64_Half)p->machine, .e_version = EV_CURRENT, .e_phoff = 64,
		.e_shoff = HEADERS, .e_ehsize = 64, .e_phentsize = 56, .e_phnum = 1, .e_shentsize = 64, .e_shnum = 4,
		.e_shstrndx = 2 };
	const Elf64_Phdr segment = { PT_LOAD, PF_R | PF_X, 0, OWN, OWN, SIZE, SIZE, 0x1000 };
	const Elf64_Shdr sections[4] = { { 0 },
		{ .sh_name = section[1] == 'e' ? 1 : 11, .sh_type = SHT_PROGBITS, .sh_addr = MADE_FRAMES_AT,
		  .sh_flags = frames->packed ? SHF_COMPRESSED : 0, .sh_offset = TABLE, .sh_size = frames->n },
		{ .sh_name = 24, .sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = sizeof(names) },
		{ .sh_name = section[0] == 'g' ? 34 : 0, .sh_type = SHT_PROGBITS, .sh_offset = NAMES, .sh_size = 1 } };
	int fd = mkstemp(strcpy(p->path, "/tmp/unwind-XXXXXX"));

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + 64, &segment, sizeof(segment));
	memcpy(bytes + CODE, code, CODE_END - CODE);
	memcpy(bytes + TABLE, frames->bytes, frames->n);
	memcpy(bytes + NAMES, names, sizeof(names));
	memcpy(bytes + HEADERS, sections, sizeof(sections));
	assert_true(fd >= 0 && write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	close(fd);
}

static void read_bytes(const char *path, uint8_t *bytes, size_t size)
{
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0 && read(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

static void begin(struct process *p, unsigned machine, const struct made_frames *frames, const char *section,
		  const uint8_t *code)
{
	struct gus_module module = { .kind = GUS_MODULE_FILE, .path = p->path };

	*p = (struct process){ .machine = machine };
	write_file(p, frames, section, code);
	p->files = gus_unwind_files_new(&p->options);
	p->file = gus_unwind_files_get(p->files, &module);
	assert_null(gus_unwind_file_trouble(p->file));
	assert_ptr_equal(gus_unwind_files_get(p->files, &module), p->file);
	unlink(p->path);
	p->copied = gus_unwind_copied_new(machine);
}

static void end(struct process *p)
{
	gus_unwind_copied_free(p->copied);
	gus_unwind_files_free(p->files);
}

static bool code_at(void *context, uint64_t address, struct gus_unwind_code *code)
{
	struct process *p = context;

	*code = (struct gus_unwind_code){ NULL, address };
	if (address >= JIT && address < JIT + 0x1000)
		return true;
	*code = (struct gus_unwind_code){ p->file, address - BASE };
	return address >= BASE + CODE && address < BASE + CODE_END;
}

static const uint8_t no_code[CODE_END - CODE];

static void begin_x86(struct process *p)
{
	struct made_frames m = { .debug = false };

	for (unsigned i = 0; i < LEN(functions); i++) {
		made_cie(&m, functions[i].letters, 16, made_x86, sizeof(made_x86));
		made_fde(&m, OWN + CODE + 0x40 * i, 0x40, functions[i].program, functions[i].n);
	}
	begin(p, EM_X86_64, &m, ".eh_frame", no_code);
}

struct answer {
	uint64_t out[64], frames[64], callers;
	uint32_t n;
	struct gus_unwind_rest rest;
};

/* Whoever unwinds: libunwind says the same. Expressions that may run on are not shown to it, rather than tried: that
 * tells that it was asked at all. */
#ifdef __x86_64__
enum { RUNS_ON = GUS_CALLERS_BAD };
#else
enum { RUNS_ON = GUS_CALLERS_WORK };
#endif

static void check_copied(struct gus_unwind_copied *copied, const struct gus_unwind_view *view,
			 const struct gus_unwind_regs *regs, uint32_t most, const struct answer *own)
{
	bool runs_on = (own->callers & GUS_CALLERS_END) == GUS_CALLERS_WORK;
	uint64_t out[64], callers;
	uint32_t n = gus_unwind_copied(copied, view, regs, out, most, &callers);

	assert_int_equal(n, own->n);
	assert_memory_equal(out, own->out, n * sizeof(*out));
	if (runs_on && regs->machine == EM_X86_64)
		assert_int_equal(callers & GUS_CALLERS_END, RUNS_ON);
	else
		assert_int_equal(callers, own->callers);
}

/* All registers are known. */
static struct answer unwind(struct process *p, const struct gus_unwind_regs *regs, const uint64_t *stack, size_t bytes,
			    uint32_t most)
{
	struct gus_unwind_view view = { code_at, p, SP, stack, bytes };
	struct answer a = { .rest.frames = a.frames };

	a.n = gus_unwind(&view, regs, a.out, most, &a.callers, &a.rest);
	if (p->copied)
		check_copied(p->copied, &view, regs, most, &a);
	return a;
}

static struct gus_unwind_regs regs_at(uint64_t pc)
{
	return (struct gus_unwind_regs){ EM_X86_64, 0x1ffff, { [7] = SP, [16] = pc } };
}

static void check_chain(const struct answer *a, const uint64_t *chain, uint32_t n, uint64_t callers)
{
	assert_int_equal(a->n, n);
	assert_memory_equal(a->out, chain, n * sizeof(*chain));
	assert_int_equal(a->callers, callers);
}

/* A leaf, a function that saved rbx, and one that nothing called. */
static void a_whole_stack_is_followed_to_its_beginning(void **state)
{
	const uint64_t stack[] = { AT(SAVES) + 5, 1, 2, AT(FIRST) + 5 };
	const uint64_t chain[] = { AT(SAVES) + 5, AT(FIRST) + 5 };
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct process p;
	struct answer a;

	(void)state;
	begin_x86(&p);
	for (unsigned at = 0; at < 0x40; at++) {
		regs.v[16] = AT(LEAF) + at;
		a = unwind(&p, &regs, stack, sizeof(stack), 64);
		check_chain(&a, chain, 2, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
	}
	assert_int_equal(a.frames[0], SP + 8);
	assert_int_equal(a.frames[1], SP + 32);
	assert_int_equal(a.rest.frame, 0);
	assert_int_equal(a.rest.regs.v[16], AT(FIRST) + 5);
	assert_int_equal(a.rest.regs.v[7], SP + 32);
	assert_int_equal(a.rest.regs.v[3], 2);
	assert_int_equal(a.rest.regs.known, 1 << 3 | 1 << 6 | 1 << 7 | 0xf << 12 | 1 << 16);
	end(&p);
}

/* Where a stack of a leaf below a function that saves ends, by what lies in it and how much was copied. */
static void each_end_is_told(void **state)
{
	static const struct { uint64_t pc, words[4]; size_t bytes; uint32_t most, n; uint64_t end, frame; } cases[] = {
		{ AT(LEAF), { AT(SAVES) + 5, 1, 2, 0 }, 32, 64, 1, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE, 0 },
		{ AT(LEAF), { AT(SAVES) + 5, 1, 2, 3 }, 31, 64, 1, GUS_CALLERS_STACK | GUS_CALLERS_TABLE, SP + 32 },
		{ AT(LEAF), { AT(SAVES) + 5, 1, 2, 3 }, 8, 64, 1, GUS_CALLERS_STACK | GUS_CALLERS_TABLE, SP + 32 },
		{ AT(LEAF), { AT(SAVES) + 5 }, 7, 64, 0, GUS_CALLERS_STACK, SP + 8 },
		{ AT(LEAF), { AT(SAVES) + 5 }, 0, 64, 0, GUS_CALLERS_GONE, 0 },
		{ AT(LEAF), { 0x1234 }, 32, 64, 0, GUS_CALLERS_NO_CODE, 0 },
		{ AT(LEAF), { BASE + CODE }, 32, 64, 0, GUS_CALLERS_NO_CODE, 0 }, /* what called is before it */
		{ AT(LEAF), { AT(WITHOUT) + 5 }, 32, 64, 1, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE, 0 }, /* rbp is 0 */
		{ AT(LEAF), { AT(BAD) + 5 }, 32, 64, 1, GUS_CALLERS_BAD | GUS_CALLERS_TABLE, 0 },
		{ AT(LEAF), { AT(LOOPS) + 5 }, 32, 64, 1, GUS_CALLERS_WORK | GUS_CALLERS_TABLE, 0 },
		{ AT(WORKS), { AT(FIRST) + 5 }, 32, 64, 0, GUS_CALLERS_WORK, 0 },
		{ AT(LEAF), { AT(SAVES) + 5, 1, 2, AT(FIRST) }, 32, 1, 1, GUS_CALLERS_DEEP | GUS_CALLERS_TABLE, 0 },
		{ AT(LEAF), { AT(SAVES) + 5, 1, 2, AT(FIRST) }, 32, 0, 0, GUS_CALLERS_DEEP, 0 },
		/* A leaf may have no frame, such as vfork; what has called may not. */
		{ AT(STAYS), { AT(FIRST) }, 32, 64, 0, GUS_CALLERS_NO_CODE, 0 }, /* it says SP is where it returns to */
		{ AT(LEAF), { AT(STAYS) + 5, AT(FIRST) + 5 }, 32, 64, 1, GUS_CALLERS_BAD | GUS_CALLERS_TABLE, 0 },
		{ AT(RA_LOW), { AT(FIRST) }, 32, 64, 0, GUS_CALLERS_BAD, 0 },
		{ AT(LEAF), { AT(BY_RBX) + 5 }, 32, 64, 1, GUS_CALLERS_BAD | GUS_CALLERS_TABLE, 0 }, /* rbx < 0 */
		{ AT(WITHOUT), { AT(FIRST) + 5 }, 32, 64, 0, GUS_CALLERS_NO_RULE, 0 },
		{ AT(FIRST), { 0 }, 32, 64, 0, GUS_CALLERS_WHOLE, 0 },
		/* the outermost's CFA need not be known; and no stack is where the kernel is, whoever returns there */
		{ AT(LEAF), { AT(ENDS) + 5 }, 32, 64, 1, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE, 0 },
		{ AT(FLIES), { 0 }, 32, 64, 0, GUS_CALLERS_BAD, 0 },
		{ 0, { AT(FIRST) + 5 }, 32, 64, 1, GUS_CALLERS_WHOLE, 0 }, /* called through a null pointer */
		{ 0, { AT(FIRST) + 5 }, 7, 64, 0, GUS_CALLERS_STACK, SP + 8 },
		{ 0, { 0x1234 }, 32, 64, 0, GUS_CALLERS_NO_CODE, 0 },
	};
	struct process p;

	(void)state;
	begin_x86(&p);
	for (size_t i = 0; i < LEN(cases); i++) {
		struct gus_unwind_regs regs = regs_at(cases[i].pc);
		struct answer a;

		regs.v[3] = 1ull << 63;
		a = unwind(&p, &regs, cases[i].words, cases[i].bytes, cases[i].most);
		if (a.n != cases[i].n || a.callers != cases[i].end || a.rest.frame != cases[i].frame)
			fail_msg("case %zu: %u callers, end %llx, frame %llx", i, a.n, (unsigned long long)a.callers,
				 (unsigned long long)a.rest.frame);
	}
	end(&p);
}

/* A call that is the last instruction of its function returns to the next one, and is the former's. */
static void what_is_returned_to_is_looked_up_before_it(void **state)
{
	const uint64_t stack[] = { AT(FIRST), 0, 0, AT(SAVES), 0, AT(FIRST) + 1 };
	const uint64_t chain[] = { AT(FIRST), AT(SAVES), AT(FIRST) + 1 };
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct process p;
	struct answer a;

	(void)state;
	begin_x86(&p);
	regs.v[16] = AT(FIRST); /* and where the processor is there, it is the latter's */
	a = unwind(&p, &regs, stack, sizeof(stack), 64);
	check_chain(&a, chain, 0, GUS_CALLERS_WHOLE);
	regs.v[16] = AT(LEAF);
	regs.v[6] = SP + 16; /* of POINTS, which ends where FIRST begins */
	a = unwind(&p, &regs, stack, 32, 64); /* LEAF ends where SAVES begins */
	check_chain(&a, chain, 2, GUS_CALLERS_STACK | GUS_CALLERS_TABLE);
	assert_int_equal(a.rest.frame, SP + 40);
	a = unwind(&p, &regs, (uint64_t[]){ AT(FIRST), 0, 0, AT(SAVES), AT(FIRST) + 1 }, 40, 64);
	check_chain(&a, chain, 3, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
	end(&p);
}

/* A handler on another stack, at a lower address: what it interrupted is looked up where it is, has all its registers,
 * and a marker before it. */
static void signals_interrupt(void **state)
{
	const uint64_t stack[] = { AT(SIGNAL) + 1, AT(BY_RBX), SP + 48, SP + 32, 7, AT(FIRST) + 5, 0, 0 };
	const uint64_t chain[] = { AT(SIGNAL) + 1, PERF_CONTEXT_USER, AT(BY_RBX), AT(FIRST) + 5 };
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct process p;
	struct answer a;

	(void)state;
	begin_x86(&p);
	a = unwind(&p, &regs, stack, sizeof(stack), 64); /* rbx + 8 = SP + 40; RA at SP + 32, below sp: bad */
	check_chain(&a, chain, 3, GUS_CALLERS_BAD | GUS_CALLERS_TABLE);
	assert_int_equal(a.frames[0], SP + 8);
	assert_int_equal(a.frames[1], 0);
	assert_int_equal(a.frames[2], SP + 48);
	a = unwind(&p, &regs, stack, sizeof(stack), 2);
	check_chain(&a, chain, 1, GUS_CALLERS_DEEP | GUS_CALLERS_TABLE);
	a = unwind(&p, &regs, (uint64_t[]){ AT(SIGNAL) + 1, AT(BY_RBX), SP + 40, SP + 40, 7, AT(FIRST) + 5 }, 48, 64);
	check_chain(&a, chain, 4, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
	/* the interrupted stack lies lower than the handler's, and was not copied */
	a = unwind(&p, &regs, (uint64_t[]){ AT(SIGNAL) + 1, AT(LEAF), 0x1000, 0, 0 }, 40, 64);
	assert_int_equal(a.n, 3);
	assert_int_equal(a.callers, GUS_CALLERS_STACK | GUS_CALLERS_TABLE);
	assert_int_equal(a.rest.frame, 0x1008);
	/* it called through a null pointer there */
	a = unwind(&p, &regs, (uint64_t[]){ AT(SIGNAL) + 1, 0, SP + 40, 0, 7, AT(FIRST) + 5 }, 48, 64);
	assert_int_equal(a.n, 4);
	assert_int_equal(a.out[2], 0);
	assert_int_equal(a.callers, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
	end(&p);
}

/* Registers that are elsewhere than in memory, or were restored already. */
static void registers_are_found(void **state)
{
	const uint64_t stack[] = { AT(FIRST) + 5 };
	struct gus_unwind_regs regs = regs_at(AT(CHANGES));
	struct process p;
	struct answer a;

	(void)state;
	begin_x86(&p);
	for (unsigned i = 0; i < 16; i++)
		regs.v[i] = i == 7 ? SP : 100 + i;
	a = unwind(&p, &regs, stack, sizeof(stack), 64);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.rest.regs.known, 1 << 3 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 14 | 1 << 15 | 1 << 16);
	assert_int_equal(a.rest.regs.v[3], 112);
	assert_int_equal(a.rest.regs.v[14], SP + 8 + 8);
	assert_int_equal(a.rest.regs.v[15], 115);
	assert_int_equal(a.rest.regs.v[7], SP + 8);
	end(&p);
}

/* Code without a file, and without a table. */
static void frame_pointers_lead_on(void **state)
{
	static const struct { uint64_t pc, fp, words[6]; size_t bytes; uint32_t n; uint64_t end, frame; } cases[] = {
		{ JIT + 9, SP + 8, { 0, SP + 32, JIT + 5, 0, 0, AT(FIRST) + 5 }, 48, 2,
		  GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER, 0 },
		{ AT(WITHOUT), SP + 8, { 0, 0, AT(FIRST) + 5 }, 24, 1, GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER, 0 },
		{ JIT, SP + 8, { 0, 0, AT(FIRST) + 5 }, 23, 0, GUS_CALLERS_STACK, SP + 24 },
		{ JIT, SP + 40, { 0 }, 48, 0, GUS_CALLERS_STACK, SP + 56 },
		{ JIT, SP - 8, { 0 }, 48, 0, GUS_CALLERS_NO_RULE, 0 },
		{ JIT, SP + 4, { 0 }, 48, 0, GUS_CALLERS_NO_RULE, 0 },
		{ JIT, 0, { 0 }, 48, 0, GUS_CALLERS_NO_RULE, 0 },
		{ JIT, SP, { SP + 16, 0 }, 48, 0, GUS_CALLERS_WHOLE, SP + 16 },
		{ JIT, SP, { SP + 16, 0x1234 }, 48, 0, GUS_CALLERS_NO_CODE, SP + 16 },
		{ JIT, SP, { 0, JIT + 5 }, 48, 1, GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER, 0 },
		{ JIT, SP, { SP, JIT + 5 }, 48, 0, GUS_CALLERS_NO_RULE, SP + 16 },       /* it does not rise */
		{ JIT, SP, { 77, AT(FIRST) + 5 }, 48, 1, GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER, 0 },
		{ JIT, SP, { 77, AT(WITHOUT) + 5 }, 48, 0, GUS_CALLERS_NO_RULE, SP + 16 },
	};
	struct process p;

	(void)state;
	begin_x86(&p);
	for (size_t i = 0; i < LEN(cases); i++) {
		struct gus_unwind_regs regs = regs_at(cases[i].pc);
		struct answer a;

		regs.v[6] = cases[i].fp;
		a = unwind(&p, &regs, cases[i].words, cases[i].bytes, 64);
		if (a.n != cases[i].n || a.callers != cases[i].end ||
		    a.rest.frame != ((a.callers & GUS_CALLERS_END) == GUS_CALLERS_STACK ? cases[i].frame : 0))
			fail_msg("case %zu: %u callers, end %llx, frame %llx", i, a.n, (unsigned long long)a.callers,
				 (unsigned long long)a.rest.frame);
	}
	end(&p);
}

/* A frame that calls itself for ever ends at a number of frames. */
static void stacks_are_bounded(void **state)
{
	enum { MANY = GUS_UNWIND_FRAMES_MOST + 8 };
	uint64_t *stack = calloc(MANY, 8), *out = calloc(MANY, 8), callers;
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct process p;
	struct gus_unwind_view view = { code_at, &p, SP, stack, MANY * 8 };

	(void)state;
	begin_x86(&p);
	for (int i = 0; i < MANY; i++)
		stack[i] = AT(LEAF) + 5;
	assert_int_equal(gus_unwind(&view, &regs, out, MANY, &callers, NULL), GUS_UNWIND_FRAMES_MOST);
	assert_int_equal(callers, GUS_CALLERS_DEEP | GUS_CALLERS_TABLE);
	free(stack);
	free(out);
	end(&p);
}

/* A signal's frame may lead anywhere, also to itself: four words are no thousand frames. */
static void frames_take_room(void **state)
{
	const uint64_t stack[] = { AT(SIGNAL), SP, 0, 0 };
	struct gus_unwind_regs regs = regs_at(AT(SIGNAL));
	static uint64_t out[2 * GUS_UNWIND_FRAMES_MOST];
	struct process p;
	struct gus_unwind_view view = { code_at, &p, SP, stack, sizeof(stack) };
	uint64_t callers;

	(void)state;
	begin_x86(&p);
	assert_in_range(gus_unwind(&view, &regs, out, LEN(out), &callers, NULL), 2,
			2 * (4 + GUS_LIMIT_UNWIND_FRAMES_BESIDES));
	assert_int_equal(callers, GUS_CALLERS_BAD | GUS_CALLERS_TABLE);
	end(&p);
}

static uint64_t end_of(struct process *p, uint64_t pc)
{
	struct gus_unwind_regs regs = regs_at(pc);

	return unwind(p, &regs, (uint64_t[]){ AT(FIRST) + 5 }, 8, 64).callers & GUS_CALLERS_END;
}

/* Tables that are holes of their file take no memory, and time: three GiB of nothing are not looked through, and what
 * else is looked at is not the poorer for it. */
static void holes_are_not_looked_through(void **state)
{
	struct gus_module module = { .kind = GUS_MODULE_FILE };
	const struct gus_rule *rule;
	const Elf64_Shdr hole = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = MADE_FRAMES_AT, .sh_offset = SIZE,
				  .sh_size = 3ull << 30 };
	struct gus_budget steps = { .left = 1000 };
	struct gus_unwind_file *other;
	struct made_frames m = { .debug = false };
	struct process p, q;
	int fd;

	(void)state;
	made_cie(&m, "", 16, made_x86, sizeof(made_x86));
	q = (struct process){ .machine = EM_X86_64 };
	write_file(&q, &m, ".eh_frame", no_code);
	fd = open(q.path, O_RDWR);
	assert_int_equal(pwrite(fd, &hole, sizeof(hole), HEADERS + sizeof(hole)), sizeof(hole));
	assert_int_equal(ftruncate(fd, SIZE + (3ll << 30)), 0);
	close(fd);
	begin_x86(&p);
	module.path = q.path;
	other = gus_unwind_files_get(p.files, &module);
	assert_null(gus_unwind_file_trouble(other));
	assert_int_equal(gus_unwind_file_rule(other, EM_X86_64, CODE, true, &steps, &rule), GUS_UNWIND_RULE);
	assert_int_equal(rule->kind, GUS_RULE_NONE);
	assert_non_null(gus_unwind_file_trouble(other));
	assert_int_equal(end_of(&p, AT(LEAF)), GUS_CALLERS_WHOLE);
	unlink(q.path);
	end(&p);
}

/* What a file has cost is another's question the next time, so only one of both engines is asked. */
static void ask_alone(struct process *p)
{
	gus_unwind_copied_free(p->copied);
	p->copied = NULL;
}

/* Who has no time asks a file no more whose tables take much again and again. */
static void files_that_cost_are_left(void **state)
{
	struct process p;

	(void)state;
	for (unsigned hurry = 0; hurry < 2; hurry++) {
		begin_x86(&p);
		ask_alone(&p);
		if (hurry)
			gus_unwind_files_hurry(p.files);
		for (unsigned i = 0; i < 300; i++)
			assert_int_equal(end_of(&p, i % 2 ? AT(LOOPS) : AT(WORKS)), GUS_CALLERS_WORK);
		assert_int_equal(end_of(&p, AT(LEAF)), hurry ? GUS_CALLERS_WORK : GUS_CALLERS_WHOLE);
		assert_int_equal(gus_unwind_file_trouble(p.file) != NULL, hurry);
		end(&p);
	}
	/* many cheap questions are no reason */
	begin_x86(&p);
	ask_alone(&p);
	gus_unwind_files_hurry(p.files);
	for (unsigned i = 0; i < 3000000; i++)
		assert_int_equal(end_of(&p, AT(SAVES)), GUS_CALLERS_STACK);
	assert_null(gus_unwind_file_trouble(p.file));
	end(&p);
}

/* Another file with the same tables, which was asked about one address; *paid is what it has paid for that. */
static struct gus_unwind_file *ask_another(struct gus_unwind_files *files, uint64_t *paid)
{
	struct made_frames m = { .debug = false };
	struct process q = { .machine = EM_X86_64 };
	struct gus_module module = { .kind = GUS_MODULE_FILE, .path = q.path };
	struct gus_budget steps = { .left = 1000 };
	const struct gus_rule *rule;
	struct gus_unwind_file *file;

	made_cie(&m, "", 16, made_x86, sizeof(made_x86));
	made_fde(&m, OWN + CODE, 0x40, functions[LEAF].program, 1);
	write_file(&q, &m, ".eh_frame", no_code);
	file = gus_unwind_files_get(files, &module);
	unlink(q.path);
	assert_int_equal(gus_unwind_file_rule(file, EM_X86_64, CODE, true, &steps, &rule), GUS_UNWIND_RULE);
	*paid = 1000 - steps.left;
	assert_int_not_equal(*paid, 0);
	return file;
}

/* What a file may take beyond what its frames may is a part of what all threads may; so is what all files may. When the
 * latter is spent, those that took of it are asked no more, and others still are. */
static void work_is_shared_by_files_and_threads(void **state)
{
	enum { THREADS = 4 };
	const uint64_t each = GUS_LIMIT_UNWIND_READ_FILE_STEPS / THREADS, frame = GUS_LIMIT_UNWIND_READ_STEPS_A_FRAME;
	const uint64_t all = GUS_LIMIT_UNWIND_READ_ALL_STEPS / THREADS;
	struct gus_unwind_files *files = gus_unwind_files_new(NULL);
	struct gus_unwind_file *file[4];
	uint64_t paid[4];

	(void)state;
	gus_unwind_files_share(files, THREADS);
	for (unsigned i = 0; i < 4; i++)
		file[i] = ask_another(files, &paid[i]);
	gus_unwind_file_pay(file[0], each / 2 + frame - paid[0]);
	gus_unwind_file_pay(file[0], each / 2);
	assert_null(gus_unwind_file_trouble(file[0]));
	gus_unwind_file_pay(file[1], all - each + frame - paid[1]);
	assert_null(gus_unwind_file_trouble(file[1])); /* just all of it */
	gus_unwind_file_pay(file[2], GUS_LIMIT_UNWIND_LATE_STEPS + frame - paid[2]);
	assert_null(gus_unwind_file_trouble(file[2]));
	gus_unwind_file_pay(file[2], 1);
	assert_non_null(gus_unwind_file_trouble(file[2]));
	gus_unwind_file_pay(file[3], frame - paid[3]);
	assert_null(gus_unwind_file_trouble(file[3]));
	gus_unwind_file_pay(file[0], 1);
	assert_non_null(gus_unwind_file_trouble(file[0]));
	gus_unwind_files_free(files);
}

/* What is given back as more frames are asked about is there for others. */
static void frames_pay_for_themselves(void **state)
{
	const uint64_t frame = GUS_LIMIT_UNWIND_READ_STEPS_A_FRAME;
	struct gus_unwind_files *files = gus_unwind_files_new(NULL);
	struct gus_budget steps = { .left = 1000 };
	const struct gus_rule *rule;
	struct gus_unwind_file *file;
	uint64_t paid;

	(void)state;
	gus_unwind_files_share(files, 1);
	file = ask_another(files, &paid);
	gus_unwind_file_pay(file, GUS_LIMIT_UNWIND_READ_FILE_STEPS + frame - paid);
	assert_int_equal(gus_unwind_file_rule(file, EM_X86_64, CODE, true, &steps, &rule), GUS_UNWIND_RULE);
	gus_unwind_file_pay(file, frame);
	assert_null(gus_unwind_file_trouble(file));
	gus_unwind_file_pay(file, 1);
	assert_non_null(gus_unwind_file_trouble(file));
	gus_unwind_files_free(files);
}

/* libunwind's reading is work, too: what making the rule alone costs would be within what a frame may. */
static void what_libunwind_reads_is_paid_for(void **state)
{
	struct gus_unwind_regs regs = regs_at(AT(ASIDE));
	struct gus_budget steps = { .left = 1000 };
	const struct gus_rule *rule;
	struct process p;

	(void)state;
	begin_x86(&p);
	gus_unwind_files_share(p.files, UINT32_MAX); /* nothing beyond */
	assert_int_equal(gus_unwind_file_rule(p.file, EM_X86_64, CODE + 0x40 * ASIDE, true, &steps, &rule),
			 GUS_UNWIND_RULE);
	assert_in_range(1000 - steps.left, 4 * 16, GUS_LIMIT_UNWIND_READ_STEPS_A_FRAME);
	assert_null(gus_unwind_file_trouble(p.file));
#ifdef __x86_64__
	for (unsigned i = 0; i < 3 && !gus_unwind_file_trouble(p.file); i++) {
		uint64_t out[64], callers;
		struct gus_unwind_view view = { code_at, &p, SP, (uint64_t[]){ AT(SAVES) + 5 + 8 * i }, 8 };

		gus_unwind_copied(p.copied, &view, &regs, out, 64, &callers);
		regs.v[16] += 8;
	}
	assert_non_null(gus_unwind_file_trouble(p.file));
#endif
	end(&p);
}

/* What is not known of a file is told, and costs only its own stacks. */
static void files_that_are_not_at_hand_are_told(void **state)
{
	static const struct { const char *path; enum gus_module_kind kind; } cases[] = {
		{ "/nowhere/at/all", GUS_MODULE_FILE }, { "/etc/passwd", GUS_MODULE_FILE },
		{ "//anon", GUS_MODULE_ANON },
	};
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct process p = { .machine = EM_X86_64 };

	(void)state;
	p.files = gus_unwind_files_new(NULL);
	for (size_t i = 0; i < LEN(cases); i++) {
		const struct gus_module module = { .kind = cases[i].kind, .path = cases[i].path };
		struct answer a;

		p.file = gus_unwind_files_get(p.files, &module);
		assert_non_null(gus_unwind_file_trouble(p.file));
		assert_true(gus_unwind_file_frame_pointers(p.file) < 0);
		a = unwind(&p, &regs, (uint64_t[]){ AT(FIRST) }, 8, 64);
		assert_int_equal(a.n, 0);
		assert_int_equal(a.callers, GUS_CALLERS_FILE);
	}
	gus_unwind_files_free(p.files);
}

/* Code of another machine than the registers'. */
static void other_machines_are_told(void **state)
{
	struct gus_unwind_regs regs = { EM_AARCH64, 0x1ffffffff, { [31] = SP, [32] = AT(LEAF) } };
	struct process p;
	struct answer a;

	(void)state;
	begin_x86(&p);
	a = unwind(&p, &regs, (uint64_t[]){ AT(FIRST) }, 8, 64);
	assert_int_equal(a.callers, GUS_CALLERS_ABI);
	end(&p);
}

/* The copy may have nothing: the kernel interrupted an execve, whose old stack is gone and whose new one is not there.
 * A larger copy would not help. */
static void a_stack_that_is_gone_is_told(void **state)
{
	struct gus_unwind_regs regs = { EM_X86_64, 1 << 7 | 1 << 16, { [7] = SP, [16] = AT(LEAF) } };
	struct process p;
	struct answer a;

	(void)state;
	begin_x86(&p);
	a = unwind(&p, &regs, NULL, 0, 64);
	assert_int_equal(a.n, 0);
	assert_int_equal(a.callers, GUS_CALLERS_GONE);
	assert_int_equal(a.rest.frame, 0);
	end(&p);
}

/* arm64: a leaf returns by x30, other frames by what they saved of it, whose upper bits may be a signature. */
static void arm64_returns_by_a_register(void **state)
{
	static const uint8_t frame[] = { DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3 };
	static const uint8_t first[] = { DW_CFA_undefined, 30 };
	const uint64_t stack[] = { SP + 64, 0x2b3c000000000000 | (AT(1) + 8), 0, 0, 0, AT(2) + 8, 0, 0 };
	struct gus_unwind_regs regs = { EM_AARCH64, 0x1ffffffff, { [30] = AT(1) + 4, [31] = SP, [32] = AT(0) } };
	struct made_frames m = { .debug = true };
	struct process p;
	struct answer a;

	(void)state;
	made_cie(&m, "", 30, made_arm64, sizeof(made_arm64));
	made_fde(&m, OWN + CODE, 0x40, first, 0);
	made_fde(&m, OWN + CODE + 0x40, 0x40, frame, sizeof(frame));
	made_fde(&m, OWN + CODE + 0x80, 0x40, first, 2);
	begin(&p, EM_AARCH64, &m, ".debug_frame", no_code);
	a = unwind(&p, &regs, stack, sizeof(stack), 64);
	check_chain(&a, (uint64_t[]){ AT(1) + 4, AT(1) + 8, AT(2) + 8 }, 3, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
	assert_int_equal(a.rest.regs.v[31], SP + 64);
	assert_false(a.rest.regs.known >> 30 & 1);
	/* what a leaf's table says holds at the leaf alone: a caller has called, which changed x30 */
	regs.v[30] = AT(0) + 4;
	a = unwind(&p, &regs, stack, sizeof(stack), 64);
	check_chain(&a, (uint64_t[]){ AT(0) + 4 }, 1, GUS_CALLERS_BAD | GUS_CALLERS_TABLE);
	/* nowhere: x30, too */
	regs.v[32] = 0;
	regs.v[30] = AT(2) + 4;
	a = unwind(&p, &regs, stack, sizeof(stack), 64);
	check_chain(&a, (uint64_t[]){ AT(2) + 4 }, 1, GUS_CALLERS_WHOLE);
	end(&p);
}

/* The restorer of a C library without tables, and of Go, whose table calls it a function like others. */
static void restorers_are_known_by_their_code(void **state)
{
	static const uint8_t back[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t first[] = { DW_CFA_undefined, 16 }, nothing[] = { DW_CFA_nop };
	uint8_t code[CODE_END - CODE] = { 0 };
	uint64_t stack[40] = { AT(3) };
	const uint64_t chain[] = { AT(3), PERF_CONTEXT_USER, AT(1), AT(2) + 3 };

	(void)state;
	memcpy(code + 3 * 0x40, back, sizeof(back));
	stack[1 + 5 + 15] = SP + 8 * 30;  /* rsp of the frame that was interrupted */
	stack[1 + 5 + 16] = AT(1);
	stack[30] = AT(2) + 3;
	for (unsigned known = 0; known < 2; known++) {
		struct made_frames m = { .debug = true };
		struct gus_unwind_regs regs = regs_at(AT(0));
		struct process p;
		struct answer a;

		made_cie(&m, "", 16, made_x86, sizeof(made_x86));
		made_fde(&m, OWN + CODE, 0x80, nothing, 1);
		made_fde(&m, OWN + CODE + 0x80, 0x40, first, 2);
		if (known)
			made_fde(&m, OWN + CODE + 0xc0, 0x40, nothing, 1);
		begin(&p, EM_X86_64, &m, ".debug_frame", code);
		a = unwind(&p, &regs, stack, sizeof(stack), 64);
		check_chain(&a, chain, 4, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
		end(&p);
	}
}

/* makecontext has a coroutine return to the first instruction of a function, which nothing called, and before which no
 * other is. One that is called last in another is not meant, nor any other address in it. */
static void contexts_begin_where_a_function_does(void **state)
{
	static const uint8_t first[] = { DW_CFA_undefined, 16 }, nothing[] = { DW_CFA_nop };

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		const bool is_before = i >= 3;
		const uint64_t stack[] = { AT(2) + i % 3 - 1, AT(3) + 1 };
		struct gus_unwind_regs regs = regs_at(AT(0));
		struct made_frames m = { .debug = false };
		struct process p;
		struct answer a;

		made_cie(&m, "", 16, made_x86, sizeof(made_x86));
		regs.v[6] = 4; /* no frame pointer */
		made_fde(&m, OWN + CODE, is_before ? 0x80 : 0x40, nothing, 1);
		made_fde(&m, OWN + CODE + 0x80, 0x40, nothing, 1);
		made_fde(&m, OWN + CODE + 0xc0, 0x40, first, 2);
		begin(&p, EM_X86_64, &m, ".eh_frame", no_code);
		a = unwind(&p, &regs, stack, sizeof(stack), 64);
		if (!is_before && i == 0)
			check_chain(&a, stack, 1, GUS_CALLERS_NO_RULE | GUS_CALLERS_TABLE);
		else
			check_chain(&a, stack, !is_before && i == 1 ? 1 : 2, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
		end(&p);
	}
}

/* The C library's clone ends its table before the system call, as behind it there are two threads: one that goes back
 * to the caller, and a new one, in which the call gives 0. */
static void clone_has_two_ends(void **state)
{
	static const uint8_t moved[] = { DW_CFA_def_cfa_offset, 16 };
	static const struct {
		unsigned machine, ra;
		uint8_t cie[8], cie_n, call[4], n;
	} machines[] = {
		{ EM_X86_64, 16, { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 }, 5, { 0x0f, 0x05 }, 2 },
		{ EM_AARCH64, 30, { DW_CFA_def_cfa, 31, 0 }, 3, { 1, 0, 0, 0xd4 }, 4 },
	};

	(void)state;
	for (unsigned i = 0; i < 2 * LEN(machines); i++) {
		const bool x86 = machines[i / 2].machine == EM_X86_64, is_new = i % 2;
		const uint8_t step = x86 ? 1 : 4;
		const uint64_t stack[] = { 1, AT(3) + 8, AT(3) + 8 };
		uint8_t code[CODE_END - CODE] = { 0 };
		struct made_frames m = { .debug = false };
		struct process p;
		struct answer a;

		memcpy(code + 0x40 + 8, machines[i / 2].call, 4);
		made_cie(&m, "", machines[i / 2].ra, machines[i / 2].cie, machines[i / 2].cie_n);
		made_fde(&m, OWN + CODE + 0x40, 8, moved, 2);
		made_fde(&m, OWN + CODE + 0x40 + 0x30, 0x10, moved, 2);
		made_fde(&m, OWN + CODE + 0xc0, 0x40, (const uint8_t[]){ DW_CFA_undefined,
			 (uint8_t)machines[i / 2].ra }, 2);
		begin(&p, machines[i / 2].machine, &m, ".eh_frame", code);
		for (uint8_t at = 0; at < 0x30; at += step) {
			struct gus_unwind_regs regs = { machines[i / 2].machine, 0x1ffffffff, { [0] = !is_new } };
			bool is_behind = at >= 8 && at <= 8 + 16;

			regs.known = x86 ? 0x1ffff : regs.known;
			regs.v[x86 ? 7 : 31] = SP;
			regs.v[x86 ? 16 : 32] = AT(1) + at;
			regs.v[30] = x86 ? 0 : AT(3) + 8;
			regs.v[x86 ? 6 : 29] = 4; /* no frame pointer */
			a = unwind(&p, &regs, stack, sizeof(stack), 64);
			if (at < 8 || (is_behind && !is_new))
				check_chain(&a, stack + 1, 1, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
			else
				check_chain(&a, stack, 0, is_behind ? GUS_CALLERS_WHOLE : GUS_CALLERS_NO_RULE);
		}
		end(&p);
	}
}

/* What Go's runtime does on a thread's stack it was called for on a goroutine's, which is not in the copy; what lies
 * above is of older calls. The code of Go 1.19, and of later ones that load the stack pointer at once; mcall leaves its
 * goroutine for good. At each instruction from the new stack pointer on, where the call returns to, and before that,
 * where callers are looked up; nowhere else, and in no other file. */
static void go_changes_stacks(void **state)
{
	static const struct {
		uint8_t code[15], n, instructions[6];
		enum gus_callers end;
	} ways[] = {
		{ { 0x48, 0x89, 0xdc, 0x48, 0x89, 0xfa, 0x48, 0x8b, 0x3f, 0xff, 0xd7 }, 11, { 3, 6, 9, 10, 11 },
		  GUS_CALLERS_STACK },
		{ { 0x48, 0x8b, 0x62, 0x38, 0x48, 0x89, 0xfa, 0x48, 0x8b, 0x3f, 0xff, 0xd7 }, 12, { 4, 7, 10, 11, 12 },
		  GUS_CALLERS_STACK },
		{ { 0x48, 0x8b, 0x63, 0x38, 0xe8, 1, 2, 3, 4 }, 9, { 4, 8, 9 }, GUS_CALLERS_STACK },
		{ { 0x48, 0x89, 0xdf, 0x48, 0x89, 0xd9, 0xff, 0xd0 }, 8, { 3, 6, 7, 8 }, GUS_CALLERS_STACK },
		{ { 0x49, 0x8b, 0x66, 0x38, 0x50, 0x4c, 0x8b, 0x22, 0x41, 0xff, 0xd4, 0x58 }, 11, { 4, 5, 8, 10, 11 },
		  GUS_CALLERS_WHOLE },
	};
	static const uint8_t first[] = { DW_CFA_undefined, 16 }, nothing[] = { DW_CFA_nop };

	(void)state;
	for (size_t i = 0; i < 2 * LEN(ways); i++) {
		const uint8_t *at = ways[i / 2].instructions, n = ways[i / 2].n;
		const bool is_go = i % 2;
		struct made_frames m = { .debug = true };
		uint8_t code[CODE_END - CODE] = { 0 };
		const uint64_t stack[] = { AT(1) + 8 + n, AT(2) + 3 };
		struct gus_unwind_regs regs = regs_at(AT(0));
		struct process p;
		struct answer a;

		memcpy(code + 0x40 + 8, ways[i / 2].code, sizeof(ways[0].code));
		made_cie(&m, "", 16, made_x86, sizeof(made_x86));
		made_fde(&m, OWN + CODE, 0x80, nothing, 1);
		made_fde(&m, OWN + CODE + 0x80, 0x40, first, 2);
		begin(&p, EM_X86_64, &m, is_go ? "go" : ".debug_frame", code);
		a = unwind(&p, &regs, stack, sizeof(stack), 64);
		check_chain(&a, stack, is_go ? 1 : 2, (is_go ? ways[i / 2].end : GUS_CALLERS_WHOLE) |
			    GUS_CALLERS_TABLE);
		for (uint8_t offset = 0; offset <= 0x20; offset++) {
			bool is_there = is_go && offset == *at;

			at += *at && offset == *at;
			regs = regs_at(AT(1) + 8 + offset);
			a = unwind(&p, &regs, stack + 1, sizeof(*stack), 64);
			assert_int_equal(a.n, !is_there);
			assert_int_equal(a.callers & GUS_CALLERS_END, is_there ? ways[i / 2].end : GUS_CALLERS_WHOLE);
		}
		end(&p);
	}
}

/* A part of the functions that have frames at all; Go says nothing in its table, and keeps them. */
static void frame_pointers_are_counted(void **state)
{
	static const uint8_t framed[] = { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 24 };
	static const uint8_t pointed[] = { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
					   DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6 };
	struct made_frames m = { .debug = false }, none = { .debug = false };
	struct process p;

	(void)state;
	made_cie(&m, "", 16, made_x86, sizeof(made_x86));
	made_fde(&m, OWN + CODE, 0x40, framed, 0); /* a leaf */
	made_fde(&m, OWN + CODE + 0x40, 0x40, framed, sizeof(framed));
	for (unsigned i = 2; i < 5; i++)
		made_fde(&m, OWN + CODE + 0x40 * i, 0x40, pointed, sizeof(pointed));
	begin(&p, EM_X86_64, &m, ".eh_frame", no_code);
	assert_float_equal(gus_unwind_file_frame_pointers(p.file), 0.75, 1e-9);
	end(&p);
	begin(&p, EM_X86_64, &m, "go", no_code);
	assert_float_equal(gus_unwind_file_frame_pointers(p.file), 1, 1e-9);
	end(&p);
	made_cie(&none, "", 16, made_x86, sizeof(made_x86));
	begin(&p, EM_X86_64, &none, ".eh_frame", no_code);
	assert_true(gus_unwind_file_frame_pointers(p.file) < 0);
	end(&p);
}

/* More addresses than are kept at first, asked for twice: the same answers. */
static void rules_are_kept(void **state)
{
	struct made_frames m = { .debug = false };
	struct gus_unwind_regs regs = regs_at(0);
	uint8_t program[] = { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 1,
			      DW_CFA_def_cfa_offset, 8 };
	const uint64_t stack[] = { JIT + 1, JIT + 2 };
	struct process p;

	(void)state;
	made_cie(&m, "", 16, made_x86, sizeof(made_x86));
	for (unsigned i = 0; i < 64; i++)
		made_fde(&m, OWN + CODE + 0x10 * i, 0x10, program, sizeof(program));
	begin(&p, EM_X86_64, &m, ".eh_frame", no_code);
	for (unsigned again = 0; again < 6; again++)
		for (unsigned at = 0; at < 64 * 0x10; at++) {
			struct answer a;

			regs.v[16] = BASE + CODE + at;
			a = unwind(&p, &regs, stack, sizeof(stack), 64);
			assert_int_equal(a.n, 1);
			assert_int_equal(a.out[0], at % 0x10 == 1 ? JIT + 2 : JIT + 1);
		}
	end(&p);
}

/* Asked for often enough, what is asked for costs nothing any more: no two of the addresses share a place for long. */
static void rules_that_are_kept_cost_nothing(void **state)
{
	enum { PLENTY = 1 << 24 };
	struct made_frames m = { .debug = false };
	const struct gus_rule *rule;
	struct process p;
	uint64_t spent = 0;

	(void)state;
	made_cie(&m, "", 16, made_x86, sizeof(made_x86));
	for (unsigned i = 0; i < 16; i++)
		made_fde(&m, OWN + CODE + 0x40 * i, 0x40, functions[SAVES].program, functions[SAVES].n);
	begin(&p, EM_X86_64, &m, ".eh_frame", no_code);
	for (unsigned again = 0; again < 32; again++) {
		struct gus_budget steps = { .left = PLENTY };

		for (unsigned at = 0; at < 0x400; at++)
			assert_int_equal(gus_unwind_file_rule(p.file, EM_X86_64, CODE + at, true, &steps, &rule),
					 GUS_UNWIND_RULE);
		spent = PLENTY - steps.left;
		assert_true(again || spent >= 0x400);
	}
	assert_int_equal(spent, 0);
	end(&p);
}

/* A table as debug files have it: the size that comes out, and then what goes in. Types 0 and 3 are not known. */
static struct made_frames pack(const struct made_frames *m, unsigned type, uint64_t says)
{
	struct made_frames packed = { .debug = true, .packed = true };
	const Elf64_Chdr header = { type, 0, says, 8 };
	uLongf n = sizeof(packed.bytes) - sizeof(header);
	uint8_t *at = packed.bytes + sizeof(header);

	memcpy(packed.bytes, &header, sizeof(header));
	if (type == ELFCOMPRESS_ZLIB)
		assert_int_equal(compress(at, &n, m->bytes, m->n), Z_OK);
	else
		n = ZSTD_compress(at, n, m->bytes, m->n, 1);
	packed.n = sizeof(header) + n;
	return packed;
}

/* What is packed says the same; of one that lies about itself nothing is believed, and no room is taken for it. */
static void packed_tables_are_read(void **state)
{
	static const struct { unsigned type; int64_t more; bool good, told; } cases[] = {
		{ ELFCOMPRESS_ZLIB, 0, true, false }, { 2, 0, true, false },
		{ ELFCOMPRESS_ZLIB, 1, false, true }, { 2, 1, false, true },
		{ ELFCOMPRESS_ZLIB, -1, false, true }, { 2, -1, false, true },
		{ 0, 0, false, true }, { 3, 0, false, true }, { ELFCOMPRESS_ZLIB, 1ll << 60, false, false },
	};
	struct made_frames m = { .debug = true };

	(void)state;
	made_cie(&m, "", 16, made_x86, sizeof(made_x86));
	for (unsigned i = 0; i < 8; i++)
		made_fde(&m, OWN + CODE + 0x40 * i, 0x40, functions[SAVES].program, functions[SAVES].n);
	for (size_t i = 0; i < LEN(cases); i++) {
		struct made_frames packed = pack(&m, cases[i].type, m.n + (uint64_t)cases[i].more);
		uint64_t address = 0;
		struct process p;

		begin(&p, EM_X86_64, &packed, ".debug_frame", no_code);
		assert_int_equal(gus_unwind_file_cfi(p.file, CODE + 0x47, &address) != NULL, cases[i].good);
		assert_int_equal(address, OWN + CODE + 0x47);
		assert_int_equal(gus_unwind_file_trouble(p.file) != NULL, cases[i].told);
		end(&p);
	}
}

/* The kernel's own object, which is no file: ours has tables of its functions. */
static void the_vdso_is_at_hand(void **state)
{
	const struct gus_module module = { .kind = GUS_MODULE_VDSO, .path = "[vdso]" };
	struct gus_unwind_files *files = gus_unwind_files_new(NULL);
	struct gus_unwind_file *file = gus_unwind_files_get(files, &module);
	uint64_t address, known = 0;

	(void)state;
	assert_null(gus_unwind_file_trouble(file));
	for (uint64_t at = 0; at < 0x4000; at++)
		known += gus_unwind_file_cfi(file, at, &address) != NULL;
	assert_true(known > 100);
	gus_unwind_files_free(files);
	gus_unwind_files_free(NULL);
	gus_unwind_copied_free(NULL);
}

struct image { const void *bytes; size_t size; bool known; };

static bool image_of(void *context, const struct gus_module *module, const void **bytes, size_t *size)
{
	const struct image *image = context;

	assert_string_equal(module->path, "[vdso]");
	*bytes = image->bytes;
	*size = image->size;
	return image->known;
}

/* What a recording brought along goes before our own, which may be another one; then there is none. */
static void a_recordings_vdso_goes_first(void **state)
{
	const struct gus_module module = { .kind = GUS_MODULE_VDSO, .path = "[vdso]" };
	struct made_frames m = { .debug = false };
	struct image image = { NULL, SIZE, true };
	static uint8_t bytes[SIZE];
	struct process p = { .machine = EM_X86_64, .options = { .image = image_of, .image_context = &image } };
	uint64_t address = 0;

	(void)state;
	made_cie(&m, "", 16, made_x86, sizeof(made_x86));
	made_fde(&m, OWN + CODE, 0x40, functions[LEAF].program, functions[LEAF].n);
	write_file(&p, &m, ".eh_frame", no_code);
	read_bytes(p.path, bytes, sizeof(bytes));
	unlink(p.path);
	for (unsigned i = 0; i < 3; i++) {
		image.bytes = i == 0 ? bytes : NULL;
		image.known = i < 2;
		p.files = gus_unwind_files_new(&p.options);
		p.file = gus_unwind_files_get(p.files, &module);
		assert_int_equal(gus_unwind_file_trouble(p.file) == NULL, image.known);
		if (!image.known)
			assert_non_null(strstr(gus_unwind_file_trouble(p.file), "this boot's is another"));
		assert_int_equal(gus_unwind_file_cfi(p.file, CODE, &address) && address == OWN + CODE, i == 0);
		gus_unwind_files_free(p.files);
	}
}

/* What is kept of a thread's last stack: LEAF below LONG functions that save rbx (two words, return address) and
 * FIRST. */
#define LONG 60
static unsigned asked;

static bool counted_code_at(void *context, uint64_t address, struct gus_unwind_code *code)
{
	asked++;
	return code_at(context, address, code);
}

static void make_long(uint64_t stack[3 * LONG + 1])
{
	for (unsigned i = 0; i <= LONG; i++) {
		stack[3 * i] = (i == LONG ? AT(FIRST) : AT(SAVES)) + 5 + i % 7;
		if (i == LONG)
			break;
		stack[3 * i + 1] = 1000 + i;
		stack[3 * i + 2] = 2000 + i;
	}
}

static struct answer unwind_after(struct process *p, struct gus_unwind_lasts *lasts, uint64_t sp,
				  const struct gus_unwind_regs *regs, const uint64_t *stack, size_t bytes)
{
	struct gus_unwind_view view = { counted_code_at, p, sp, stack, bytes, lasts, 7, 8 };
	struct answer a = { .rest.frames = a.frames };

	asked = 0;
	a.n = gus_unwind(&view, regs, a.out, LEN(a.out), &a.callers, &a.rest);
	return a;
}

static void same_answers(const struct answer *a, const struct answer *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->callers, b->callers);
	assert_memory_equal(a->out, b->out, a->n * sizeof(*a->out));
	assert_memory_equal(a->frames, b->frames, a->n * sizeof(*a->frames));
	assert_int_equal(a->rest.by_zero, b->rest.by_zero);
	assert_int_equal(a->rest.frame, b->rest.frame);
}

/* With the first stack as the last one, and without. */
static void check_after(struct process *p, const struct gus_unwind_regs *regs, const uint64_t *stack, size_t bytes)
{
	uint64_t first[3 * LONG + 1];
	struct gus_unwind_regs leaf = regs_at(AT(LEAF));
	struct gus_unwind_lasts *lasts = gus_unwind_lasts_new();
	struct answer with, without;

	make_long(first);
	unwind_after(p, lasts, SP, &leaf, first, sizeof(first));
	with = unwind_after(p, lasts, regs->v[7], regs, stack, bytes);
	without = unwind_after(p, NULL, regs->v[7], regs, stack, bytes);
	same_answers(&with, &without);
	/* What is kept of that one is right for the first again. */
	with = unwind_after(p, lasts, SP, &leaf, first, sizeof(first));
	without = unwind_after(p, NULL, SP, &leaf, first, sizeof(first));
	same_answers(&with, &without);
	gus_unwind_lasts_free(lasts);
}

static void a_stack_is_walked_as_far_as_it_differs_from_the_last(void **state)
{
	uint64_t stack[3 * LONG + 1];
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct gus_unwind_lasts *lasts = gus_unwind_lasts_new();
	struct answer first, next;
	struct process p;
	unsigned whole;

	(void)state;
	begin_x86(&p);
	make_long(stack);
	first = unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
	assert_int_equal(first.n, LONG + 1);
	assert_int_equal(first.callers, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
	whole = asked;
	regs.v[3] = 77; /* until SAVES gives it back */
	next = unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
	same_answers(&first, &next);
	assert_true(asked < 8 && whole > 2 * LONG);
	stack[3 * 30] ^= 1; /* the caller of the 31st is another */
	next = unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
	assert_int_equal(next.out[30], first.out[30] ^ 1);
	assert_true(asked > whole / 2 && asked < 3 * whole / 4);
	next = unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
	assert_true(asked < 8); /* that one was kept */
	gus_unwind_lasts_forget(lasts);
	next = unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
	assert_int_equal(asked, whole);
	gus_unwind_lasts_free(lasts);
	end(&p);
}

static void what_differs_from_the_last_stack_is_not_taken_from_it(void **state)
{
	uint64_t stack[3 * LONG + 1 + 6];
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct process p;

	(void)state;
	begin_x86(&p);
	for (unsigned i = 0; i < 3 * LONG + 1; i++) { /* each word */
		make_long(stack);
		stack[i] = i % 3 ? 5 : AT(POINTS) + 5;
		check_after(&p, &regs, stack, (3 * LONG + 1) * 8);
	}
	make_long(stack);
	for (size_t bytes = 0; bytes <= (3 * LONG + 1) * 8; bytes += 4) /* each length */
		check_after(&p, &regs, stack, bytes);
	for (unsigned reg = 0; reg < 17; reg++) { /* each register */
		struct gus_unwind_regs other = regs;

		other.v[reg] += reg == 7 || reg == 16 ? 0 : 9;
		check_after(&p, &other, stack, (3 * LONG + 1) * 8);
		other.known &= ~(reg == 7 || reg == 16 ? 0 : 1ull << reg);
		check_after(&p, &other, stack, (3 * LONG + 1) * 8);
	}
	for (unsigned more = 1; more <= 2; more++) { /* two calls further in, and two returned from */
		make_long(stack + 3 * more);
		for (unsigned i = 0; i < more; i++)
			memcpy(stack + 3 * i, (uint64_t[]){ AT(SAVES) + 5, 3, 4 }, 24);
		regs.v[7] = SP - 24 * more;
		check_after(&p, &regs, stack, (3 * LONG + 1 + 3 * more) * 8);
		make_long(stack);
		regs.v[7] = SP + 24 * more;
		check_after(&p, &regs, stack + 3 * more, (3 * LONG + 1 - 3 * more) * 8);
	}
	end(&p);
}

/* Stacks whose callers do not depend on what is above their frames alone: the word that changes, or the register that
 * is not known any more. The leaf's frame begins so many words into the copy. */
static void what_else_callers_depend_on_is_seen(void **state)
{
	static const struct { uint64_t words[16]; unsigned leaf, word, reg; uint64_t to; } cases[] = {
		/* a handler on a stack of its own, above what it interrupted: whose caller, who called that */
		{ { AT(SAVES) + 5, 1, 2, AT(FIRST) + 5, 0, 0, 0, 0, AT(SAVES) + 5, 1, 2, AT(SIGNAL) + 5,
		    AT(LEAF) + 1, SP, 11, 12 }, 8, 0, 0, AT(SAVES) + 9 },
		{ { AT(SAVES) + 5, 1, 2, AT(FIRST) + 5, 0, 0, 0, 0, AT(SAVES) + 5, 1, 2, AT(SIGNAL) + 5,
		    AT(LEAF) + 1, SP, 11, 12 }, 8, 3, 0, AT(FIRST) + 9 },
		{ { AT(SAVES) + 5, 1, 2, AT(FIRST) + 5, 0, 0, 0, 0, AT(SAVES) + 5, 1, 2, AT(SIGNAL) + 5,
		    AT(LEAF) + 1, SP, 11, 12 }, 8, 13, 0, SP + 24 },
		/* a CFA that is read below the frame */
		{ { AT(SAVES) + 5, SP + 56, 2, AT(READS) + 5, 0, AT(FIRST) + 5, AT(FIRST) + 9 }, 0, 1, 0, SP + 48 },
		/* a CFA that is rbx, which nobody has saved */
		{ { AT(BY_RBX) + 5, 0, AT(FIRST) + 5 }, 0, 1, 3, 0 },
	};
	struct process p;

	(void)state;
	begin_x86(&p);
	for (unsigned i = 0; i < LEN(cases); i++) {
		struct gus_unwind_lasts *lasts = gus_unwind_lasts_new();
		struct gus_unwind_regs regs = regs_at(AT(LEAF));
		struct answer first, with, without;
		uint64_t stack[16];

		memcpy(stack, cases[i].words, sizeof(stack));
		regs.v[7] += 8 * cases[i].leaf;
		regs.v[3] = SP + 24;
		first = unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
		assert_int_equal(first.callers & GUS_CALLERS_END, GUS_CALLERS_WHOLE);
		stack[cases[i].word] = cases[i].to;
		regs.known &= ~(cases[i].reg ? 1ull << cases[i].reg : 0);
		with = unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
		without = unwind_after(&p, NULL, SP, &regs, stack, sizeof(stack));
		same_answers(&with, &without);
		assert_true(first.n != with.n || first.callers != with.callers ||
			    memcmp(first.out, with.out, with.n * sizeof(*with.out)) != 0);
		gus_unwind_lasts_free(lasts);
	}
	end(&p);
}

/* How callers were found, and that a return address of 0 ended it, are told of what is taken over as well. */
static void what_is_taken_over_is_told_as_it_was_found(void **state)
{
	const uint64_t zero[] = { AT(SAVES) + 5, 1, 2, AT(SAVES) + 5, 1, 2, 0 };
	const uint64_t pointed[] = { AT(SAVES) + 5, 1, 2, JIT + 5, 0, AT(FIRST) + 5 };
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct gus_unwind_lasts *lasts = gus_unwind_lasts_new();
	struct answer first, next;
	struct process p;

	(void)state;
	begin_x86(&p);
	regs.v[6] = SP + 32;
	first = unwind_after(&p, lasts, SP, &regs, zero, sizeof(zero));
	next = unwind_after(&p, lasts, SP, &regs, zero, sizeof(zero));
	assert_true(first.rest.by_zero);
	same_answers(&first, &next);
	first = unwind_after(&p, lasts, SP, &regs, pointed, sizeof(pointed));
	assert_int_equal(first.callers, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE | GUS_CALLERS_POINTER);
	next = unwind_after(&p, lasts, SP, &regs, pointed, sizeof(pointed));
	same_answers(&first, &next);
	gus_unwind_lasts_free(lasts);
	end(&p);
}

/* Another thread's is not asked; a short stack that shares nothing with the last one is kept in its place. */
static void each_thread_has_its_last_stack(void **state)
{
	uint64_t stack[3 * LONG + 1], other[13];
	struct gus_unwind_regs regs = regs_at(AT(LEAF));
	struct gus_unwind_lasts *lasts = gus_unwind_lasts_new();
	struct gus_unwind_view view = { NULL, NULL, SP, stack, sizeof(stack), lasts, 7, 8 + 256 };
	struct process p;
	struct answer a;
	unsigned whole;

	(void)state;
	begin_x86(&p);
	make_long(stack);
	a = unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
	view.code = counted_code_at;
	view.context = &p;
	whole = asked;
	asked = 0;
	gus_unwind(&view, &regs, a.out, LEN(a.out), &a.callers, NULL);
	assert_int_equal(asked, whole);
	view.tid = 8;
	unwind_after(&p, lasts, SP, &regs, stack, sizeof(stack));
	gus_unwind(&view, &regs, a.out, 10, &a.callers, NULL); /* no more than there is room for */
	assert_int_equal(a.callers & GUS_CALLERS_END, GUS_CALLERS_DEEP);
	for (unsigned i = 0; i < 4; i++)
		memcpy(other + 3 * i, (uint64_t[]){ AT(SAVES) + 20, i, i }, 24);
	other[12] = AT(FIRST) + 5;
	unwind_after(&p, lasts, SP, &regs, other, sizeof(other));
	whole = asked;
	unwind_after(&p, lasts, SP, &regs, other, sizeof(other));
	assert_true(2 * asked < whole);
	gus_unwind_lasts_free(lasts);
	end(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_stack_is_followed_to_its_beginning),
		cmocka_unit_test(each_end_is_told),
		cmocka_unit_test(a_stack_is_walked_as_far_as_it_differs_from_the_last),
		cmocka_unit_test(what_differs_from_the_last_stack_is_not_taken_from_it),
		cmocka_unit_test(what_else_callers_depend_on_is_seen),
		cmocka_unit_test(what_is_taken_over_is_told_as_it_was_found),
		cmocka_unit_test(each_thread_has_its_last_stack),
		cmocka_unit_test(what_is_returned_to_is_looked_up_before_it),
		cmocka_unit_test(signals_interrupt),
		cmocka_unit_test(registers_are_found),
		cmocka_unit_test(frame_pointers_lead_on),
		cmocka_unit_test(stacks_are_bounded),
		cmocka_unit_test(frames_take_room),
		cmocka_unit_test(holes_are_not_looked_through),
		cmocka_unit_test(files_that_cost_are_left),
		cmocka_unit_test(work_is_shared_by_files_and_threads),
		cmocka_unit_test(frames_pay_for_themselves),
		cmocka_unit_test(what_libunwind_reads_is_paid_for),
		cmocka_unit_test(files_that_are_not_at_hand_are_told),
		cmocka_unit_test(other_machines_are_told),
		cmocka_unit_test(a_stack_that_is_gone_is_told),
		cmocka_unit_test(arm64_returns_by_a_register),
		cmocka_unit_test(restorers_are_known_by_their_code),
		cmocka_unit_test(contexts_begin_where_a_function_does),
		cmocka_unit_test(clone_has_two_ends),
		cmocka_unit_test(go_changes_stacks),
		cmocka_unit_test(frame_pointers_are_counted),
		cmocka_unit_test(rules_are_kept),
		cmocka_unit_test(rules_that_are_kept_cost_nothing),
		cmocka_unit_test(packed_tables_are_read),
		cmocka_unit_test(the_vdso_is_at_hand),
		cmocka_unit_test(a_recordings_vdso_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
