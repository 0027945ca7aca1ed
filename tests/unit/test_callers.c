/* SPDX-License-Identifier: MIT */
/* cli/record/callers: samples of this process, whose stack is an array here. The code on it is memory without a file,
 * which has frame pointers, and this program's own, which has tables. */
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "cli/record/callers.h"
#include "made_mapping.h"

#define CODE 0x10000u
#define OTHER 0x50000u /* of a file that is not there */
#define USER ((uint64_t)-512)
#define KERNEL ((uint64_t)-128)

enum { BP = 6, SP = 7, IP = 8, REGS = 17, DEPTH = 10, ONE = 100, COPIED = 700, ALL = 602 + (1 << 17) };

/* The word at which each frame stands. A copy has one of them, or two, or all; of what is read later the first look has
 * some, the second some more, and the last one what it just reaches. */
static const uint32_t at[DEPTH] = { 0, 600, 1200, 1800, 2400, 3000, 9000, 15000, 60000, ALL - 2 };
static uint64_t stack[ALL];

struct fixture {
	struct gus_record_callers c;
	struct gus_sample sample;
	uint64_t regs[REGS], copy[ALL], before_out, out[4096], callers;
	char said[2048];
};

static void map(struct fixture *f, uint64_t start, uint64_t length, uint64_t offset, const char *path)
{
	const struct made_mapping m = { .pid = (uint32_t)getpid(), .start = start, .length = length, .offset = offset,
		.path = path };
	struct made_mmap r;

	f->c.unwinder.told(f->c.unwinder.context, made_mmap(&r, &m));
}

/* What of this process is mapped at an address. */
static void map_code(struct fixture *f, uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long low, high, offset;
	char line[512], path[256];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &low, &high, &offset, path) == 4 &&
		    low <= address && address < high)
			map(f, low, high - low, offset, path);
	fclose(maps);
}

static void hold(int number)
{
	(void)number;
}

/* What frame i returns to; of the first it is behind the last byte of the code. */
static uint64_t caller(uint64_t i)
{
	return CODE + (i ? 16 + i : 0x10000);
}

/* Each word pair is the frame pointer of the caller and the address that is returned to; the last has none. */
static void fill_stack(void)
{
	for (uint64_t i = 0; i < DEPTH; i++) {
		stack[at[i]] = i + 1 < DEPTH ? (uintptr_t)&stack[at[i + 1]] : 0;
		stack[at[i] + 1] = i + 1 < DEPTH ? caller(i) : 0;
	}
}

/* As deep as a look from its first frame on reaches. */
static void shorten_stack(void)
{
	stack[at[DEPTH - 2]] = stack[at[DEPTH - 2] + 1] = 0;
}

static void begin(struct fixture *f, enum gus_call_graph mode)
{
	memset(f, 0, sizeof(*f));
	gus_record_callers_init(&f->c, mode, 0);
	f->c.unwinder.begin(f->c.unwinder.context, NULL);
	map(f, CODE, 0x10000, 0, "//anon");
	map(f, OTHER, 0x10000, 0, "/nowhere/at/all");
	map_code(f, (uintptr_t)hold);
	fill_stack();
	f->before_out = USER; /* is nobody's */
	f->regs[BP] = f->regs[SP] = (uintptr_t)stack;
	f->regs[IP] = CODE + 8;
	f->sample = (struct gus_sample){ .mode = GUS_MODE_USER, .pid = (uint32_t)getpid(), .tid = 7, .time = 1000,
					 .regs = f->regs, .regs_n = REGS };
}

static void end(struct fixture *f)
{
	gus_record_callers_free(&f->c);
	gus_record_callers_free(&f->c);
}

/* Asks about the stack as it is, of which so many words were copied. */
static uint32_t ask(struct fixture *f, uint32_t words, uint32_t most)
{
	memcpy(f->copy, stack, words * sizeof(*stack));
	f->sample.stack = f->copy;
	f->sample.stack_n = words;
	f->callers = 0;
	return f->c.unwinder.callers(f->c.unwinder.context, &f->sample, f->out, most, &f->callers);
}

static void check_whole(const struct fixture *f, uint32_t n, uint64_t callers)
{
	assert_int_equal(n, DEPTH - 1);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(f->out[i], caller(i));
	assert_int_equal(f->callers, callers);
}

static void hear(enum gus_level level, const char *text, void *context)
{
	struct fixture *f = context;
	size_t n = strlen(f->said);

	snprintf(f->said + n, sizeof(f->said) - n, "%d %s\n", level, text);
}

static const char *says(struct fixture *f)
{
	const struct gus_log log = { GUS_DEBUG, hear, f };

	f->said[0] = 0;
	gus_record_callers_summarise(&f->c, &log);
	return f->said;
}

static void test_copied_as_a_whole(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	assert_string_equal(says(&f), "");
	check_whole(&f, ask(&f, ALL, 4096), GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER);
	assert_int_equal(ask(&f, ALL, 4), 4);
	assert_int_equal(f.callers, GUS_CALLERS_DEEP | GUS_CALLERS_POINTER);
	assert_string_equal(says(&f), "1 [ callers: by unwind tables; 50.0 % of 2 stacks are whole ]\n"
			    "1 50.0 % of the stacks have more frames than are kept\n");
	f.sample.regs_n = 0; /* what is known of it stays, and it is none of those */
	f.sample.callers = GUS_CALLERS_ABI;
	assert_int_equal(ask(&f, ALL, 4096), 0);
	assert_int_equal(f.callers, GUS_CALLERS_ABI);
	assert_non_null(strstr(says(&f), "of 2 stacks"));
	end(&f);
}

/* Of the same thread, and from the same place on. */
static void test_as_the_thread_had_them(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	assert_int_equal(ask(&f, COPIED, 4096), 2);
	assert_int_equal(f.callers, GUS_CALLERS_STACK | GUS_CALLERS_POINTER);
	ask(&f, ALL, 4096);
	check_whole(&f, ask(&f, COPIED, 4096), GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER | GUS_CALLERS_REMEMBERED);
	assert_int_equal(ask(&f, COPIED, DEPTH - 2), 2); /* no room for them */
	f.sample.tid = 8;
	assert_int_equal(ask(&f, COPIED, 4096), 2);
	f.sample.tid = 7;
	stack[at[1] + 1]++;
	assert_int_equal(ask(&f, COPIED, 4096), 2);
	assert_string_equal(says(&f), "1 [ callers: by unwind tables; 33.3 % of 6 stacks are whole, 16.7 % with outer "
			    "callers as the thread had them a moment before or after ]\n1 66.7 % of the stacks end "
			    "with the copy of the stack, of which the kernel gives 65528 bytes at "
			    "most\n");
	end(&f);
}

/* What is deeper is read where the thread stays deeper, and is not kept for others: it may be of two moments. */
static void test_as_they_are_now(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	for (unsigned i = 1; i < GUS_REMEMBERED_TOPS; i++)
		assert_int_equal(ask(&f, COPIED, 4096), 2);
	check_whole(&f, ask(&f, COPIED, 4096), GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER | GUS_CALLERS_REMEMBERED);
	/* it is read piece by piece, so frames may be far from each other */
	check_whole(&f, ask(&f, ONE, 4096), GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER | GUS_CALLERS_REMEMBERED);
	assert_int_equal(f.c.inferred, 2);
	assert_int_equal(ask(&f, 0, 4096), 0); /* of its own frame nothing says that it stays */
	assert_null(f.c.remembered.threads[7]);
	/* as many as are kept */
	assert_int_equal(ask(&f, COPIED, 4), 4);
	assert_int_equal(f.callers, GUS_CALLERS_DEEP | GUS_CALLERS_POINTER | GUS_CALLERS_REMEMBERED);
	assert_int_equal(ask(&f, COPIED, 2), 2);
	stack[at[5] + 1] = 0x1234; /* leads nowhere */
	assert_int_equal(ask(&f, COPIED, 4096), 2);
	assert_int_equal(f.callers, GUS_CALLERS_STACK | GUS_CALLERS_POINTER);
	end(&f);
}

/* What may be spent on that is a part of the time; what was not read for that is counted and told. */
static void test_as_far_as_there_is_time(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	assert_true(f.c.beyond.share > 0.01 && f.c.beyond.share < 0.03);
	for (unsigned i = 1; i < GUS_REMEMBERED_TOPS; i++)
		assert_int_equal(ask(&f, COPIED, 4096), 2);
	assert_int_equal(f.c.beyond.spent_ns, 0);
	assert_int_equal(f.c.beyond.left_out, 0);
	assert_int_equal(ask(&f, COPIED, 4096), DEPTH - 1);
	assert_in_range(f.c.beyond.spent_ns, 1000, 40000000);
	f.c.beyond.share = 0;
	assert_int_equal(ask(&f, COPIED, 4096), 2);
	assert_int_equal(f.callers, GUS_CALLERS_STACK | GUS_CALLERS_POINTER);
	assert_int_equal(f.c.beyond.left_out, 1);
	assert_non_null(strstr(says(&f), "5.9 % of the stacks were not read on from where their copies end, as that "
			       "may take 0 % of the time"));
	/* A share of what has gone by since the first, and of two seconds beside. */
	f.c.beyond.share = 0.01;
	f.c.beyond.spent_ns = 19000000;
	assert_int_equal(ask(&f, COPIED, 4096), DEPTH - 1);
	f.c.beyond.spent_ns = 1000000000;
	assert_int_equal(ask(&f, COPIED, 4096), 2);
	f.c.beyond.began_ns -= 98000000000;
	assert_int_equal(ask(&f, COPIED, 4096), DEPTH - 1);
	assert_int_equal(f.c.beyond.left_out, 2);
	end(&f);
}

/* More frames than are kept, of two words each and the last one's as deep as the copy; then they are read once, and
 * again only when what is there contradicts that. */
static void test_too_deep_is_not_read_again(void **state)
{
	enum { FRAMES = GUS_REMEMBERED_FRAMES + 200 };
	struct fixture f;
	uint64_t spent;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	for (uint64_t i = 0; i < FRAMES; i++) {
		stack[2 * i] = i + 1 < FRAMES ? (uintptr_t)&stack[2 * i + 2] : 0;
		stack[2 * i + 1] = i + 1 < FRAMES ? caller(i) : 0;
	}
	for (unsigned i = 0; i < GUS_REMEMBERED_TOPS; i++)
		ask(&f, 20, 4096);
	assert_int_equal(f.callers, GUS_CALLERS_DEEP | GUS_CALLERS_POINTER | GUS_CALLERS_REMEMBERED);
	spent = f.c.beyond.spent_ns;
	assert_true(spent > 0);
	f.c.beyond.share = 0; /* nor need there be time for it */
	for (uint32_t words = 20; words < 60; words += 10) {
		assert_int_equal(ask(&f, words, 4096), GUS_REMEMBERED_FRAMES);
		assert_int_equal(f.callers, GUS_CALLERS_DEEP | GUS_CALLERS_POINTER | GUS_CALLERS_REMEMBERED);
		for (uint64_t i = 0; i < GUS_REMEMBERED_FRAMES; i++)
			assert_int_equal(f.out[i], caller(i));
	}
	assert_int_equal(f.c.beyond.spent_ns, spent);
	assert_int_equal(f.c.beyond.left_out, 0);
	stack[2 * 12 + 1]++; /* of another call by now */
	assert_int_equal(ask(&f, 20, 4096), 10);
	assert_int_equal(f.c.beyond.left_out, 1);
	f.c.beyond.share = 1;
	assert_int_equal(ask(&f, 20, 4096), GUS_REMEMBERED_FRAMES);
	assert_int_equal(f.out[12], caller(12) + 1);
	assert_true(f.c.beyond.spent_ns > spent);
	end(&f);
}

/* The stack changes between the sample and the look. */
static void test_what_has_changed_meanwhile_is_left_alone(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	for (unsigned i = 0; i < GUS_REMEMBERED_TOPS; i++)
		ask(&f, COPIED, 4096);
	assert_int_equal(f.c.inferred, 1);
	for (uint32_t n = 1; n <= 2; n++) {
		ask(&f, n == 1 ? ONE : COPIED, 4096);
		stack[at[n - 1] + 1]++;
		assert_int_equal(f.c.unwinder.callers(f.c.unwinder.context, &f.sample, f.out, 4096, &f.callers), n);
		assert_int_equal(f.callers, GUS_CALLERS_STACK | GUS_CALLERS_POINTER);
		fill_stack();
	}
	end(&f);
}

/* What is there now is asked about the outer callers of before, to the last of them, as long as the thread is still
 * where they begin; from then on it says nothing of them. */
static void test_what_is_there_now_contradicts(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	ask(&f, ALL, 4096);
	check_whole(&f, ask(&f, COPIED, 4096), GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER | GUS_CALLERS_REMEMBERED);
	for (unsigned i = 2; i < DEPTH - 1; i++) {
		stack[at[i] + 1]++;
		assert_int_equal(ask(&f, COPIED, 4096), 2);
		assert_int_equal(f.callers, GUS_CALLERS_STACK | GUS_CALLERS_POINTER);
		stack[at[i] + 1]--;
	}
	ask(&f, COPIED, 4096);
	stack[at[1] + 1]++; /* it has gone on since the copy was made */
	stack[at[5] + 1]++;
	check_whole(&f, f.c.unwinder.callers(f.c.unwinder.context, &f.sample, f.out, 4096, &f.callers),
		    GUS_CALLERS_WHOLE | GUS_CALLERS_POINTER | GUS_CALLERS_REMEMBERED);
	end(&f);
}

/* Where the C library's handlers return to. */
static uint64_t restorer(void)
{
	struct { void (*handler)(int); unsigned long flags; uint64_t restorer, mask; } kept;

	signal(SIGUSR1, hold);
	assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &kept, sizeof(kept.mask)), 0);
	signal(SIGUSR1, SIG_DFL);
	return kept.restorer;
}

/* A handler's stack is copied and nothing of the one that it interrupted, at the first byte of its code. The sample is
 * in the handler, or already on its way back. */
static void test_what_a_handler_interrupted(void **state)
{
	static uint64_t own[64];
	struct fixture f;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	shorten_stack();
	map_code(&f, restorer());
	own[0] = restorer();
	own[1 + 5 + 10] = own[1 + 5 + 15] = (uintptr_t)stack; /* in the order of the kernel's: rbp, rsp, rip */
	own[1 + 5 + 16] = CODE;
	f.sample.stack = own;
	f.sample.stack_n = 64;
	for (unsigned back = 0; back < 2; back++) {
		uint32_t before = back ? 2 : 3, n;

		f.sample.stack = own + back;
		f.sample.stack_n = 64 - back;
		f.regs[SP] = (uintptr_t)&stack[0] - 4096;
		f.regs[IP] = back ? restorer() : (uintptr_t)hold;
		for (unsigned i = 1; i <= GUS_REMEMBERED_TOPS + 1; i++)
			n = f.c.unwinder.callers(f.c.unwinder.context, &f.sample, f.out, 4096, &f.callers);
		assert_int_equal(f.callers & GUS_CALLERS_END, GUS_CALLERS_WHOLE);
		assert_true(f.callers & GUS_CALLERS_REMEMBERED);
		assert_int_equal(n, before + DEPTH - 2);
		assert_int_equal(f.out[before - 2], USER);
		assert_int_equal(f.out[before - 1], CODE);
		for (uint64_t i = 0; i < DEPTH - 2; i++)
			assert_int_equal(f.out[before + i], caller(i));
	}
	end(&f);
}

/* The leaf has a table and no frame: who called it is not in the kernel's chain. */
static void test_leaves(void **state)
{
	static const struct { uint8_t mode; uint64_t chain[5]; uint32_t n, found; } cases[] = {
		{ GUS_MODE_USER, { USER, CODE + 77 }, 2, 1 },
		{ GUS_MODE_USER, { USER, CODE + 16, CODE + 77 }, 3, 0 }, /* the kernel has it */
		{ GUS_MODE_USER, { USER }, 1, 1 }, { GUS_MODE_USER, { 0 }, 0, 1 },
		{ GUS_MODE_KERNEL, { KERNEL, CODE + 16, USER, CODE + 8, CODE + 77 }, 5, 1 },
		{ GUS_MODE_KERNEL, { KERNEL, 1, USER, CODE + 8, CODE + 16 }, 5, 0 },
		{ GUS_MODE_KERNEL, { KERNEL, 1, USER, CODE + 16 }, 4, 1 },
	};
	struct fixture f;
	uint64_t found = 0;
	char text[128];

	(void)state;
	begin(&f, GUS_CALL_GRAPH_FP);
	stack[0] = CODE + 16; /* at the first instruction only the call has happened */
	f.regs[IP] = (uintptr_t)hold;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		f.sample.mode = cases[i].mode;
		f.sample.chain = cases[i].chain;
		f.sample.chain_n = cases[i].n;
		assert_int_equal(ask(&f, 64, 4096), cases[i].found);
		assert_int_equal(f.callers, cases[i].found ? GUS_CALLERS_LEAF : GUS_CALLERS_UNTOLD);
		assert_true(!cases[i].found || f.out[0] == CODE + 16);
		found += cases[i].found;
	}
	assert_int_equal(ask(&f, 0, 4096), 0); /* nothing was copied */
	assert_null(f.c.missing);
	fill_stack();
	f.regs[IP] = CODE + 8; /* by the frame pointer, which the kernel has followed itself */
	assert_int_equal(ask(&f, 64, 4096), 0);
	snprintf(text, sizeof(text), "2 of %u samples the caller that frame pointers leave out is known by its table\n",
		 (unsigned)found);
	assert_string_equal(says(&f), text);
	end(&f);
}

/* What frame pointers pass over beyond the leaf's caller is counted, but for the three outermost of a whole stack, and
 * is a warning from a tenth of the stacks on. */
static void test_what_pointers_pass_over(void **state)
{
	static const struct { uint64_t chain[8]; uint32_t n, words; bool counts; } cases[] = {
		{ { USER, CODE + 16, CODE + 17, CODE + 18, CODE + 19, CODE + 20 }, 6, 64, false },
		{ { USER, CODE + 17, CODE + 18, CODE + 19, CODE + 20 }, 5, 64, false }, /* the leaf's */
		{ { USER, CODE + 16, CODE + 18, CODE + 19, CODE + 20 }, 5, 64, true },
		{ { USER, CODE + 16 }, 2, 64, true }, { { 0 }, 0, 64, true },
		{ { USER, CODE + 16, CODE + 17 }, 3, 64, false }, /* the outermost */
		{ { USER, CODE + 16, CODE + 17 }, 3, 40, true },  /* there are more of them */
		{ { USER, CODE + 16 }, 2, 10, false }, { { USER, CODE + 16 }, 2, 12, true },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&f, GUS_CALL_GRAPH_FP);
		for (uint64_t frame = 0; frame < 6; frame++) {
			stack[10 * frame] = frame < 5 ? (uintptr_t)&stack[10 * (frame + 1)] : 0;
			stack[10 * frame + 1] = frame < 5 ? CODE + 16 + frame : 0;
		}
		f.sample.chain = cases[i].chain;
		f.sample.chain_n = cases[i].n;
		ask(&f, cases[i].words, 4096);
		assert_int_equal(f.c.compared, 1);
		assert_int_equal(strstr(says(&f), "0 100 % of the stacks lack callers, as code that was called keeps "
					"no frame pointers, most of it in //anon; ") != NULL, cases[i].counts);
		if (!cases[i].counts)
			assert_null(strstr(says(&f), "lack"));
		f.sample.chain = cases[0].chain;
		f.sample.chain_n = cases[0].n;
		for (unsigned more = 0; cases[i].counts && more < 9; more++)
			ask(&f, 64, 4096);
		assert_int_equal(strstr(says(&f), "0 10 % of the stacks lack") != NULL, cases[i].counts);
		ask(&f, 64, 4096);
		assert_null(strstr(says(&f), "lack"));
		end(&f);
	}
	fill_stack();
}

/* What ends a stack is told once for all; of a file that is not at hand, why. */
static void test_missing_files_are_told(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, GUS_CALL_GRAPH_TABLES);
	f.regs[IP] = OTHER + 8;
	f.regs[BP] = 1; /* and frame pointers do not help */
	assert_int_equal(ask(&f, 64, 4096), 0);
	assert_int_equal(f.callers, GUS_CALLERS_FILE);
	assert_non_null(strstr(says(&f), "1 100.0 % of the stacks end in a file that is not at hand; "
			       "/nowhere/at/all: "));
	f.regs[IP] = CODE + 8;
	f.regs[BP] = (uintptr_t)stack;
	for (unsigned i = 0; i < 199; i++)
		ask(&f, ALL, 4096);
	assert_non_null(strstr(says(&f), "1 0.5 % of the stacks end in a file")); /* fewer are for who asks */
	ask(&f, ALL, 4096);
	assert_non_null(strstr(says(&f), "2 0.5 % of the stacks end in a file"));
	f.regs[IP] = 0x1234;
	assert_int_equal(ask(&f, 0, 4096), 0);
	assert_int_equal(f.c.ends[GUS_CALLERS_GONE], 1);
	end(&f);
}

/* A file of one page of code whose only section, .eh_frame, is packed and damaged. */
static void write_damaged(char *path)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	struct { Elf64_Ehdr header; Elf64_Phdr segment; Elf64_Shdr sections[3]; char names[24]; char table[64]; } e = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
			    .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = 64, .e_ehsize = 64,
			    .e_phentsize = 56, .e_phnum = 1, .e_shentsize = 64, .e_shnum = 3, .e_shstrndx = 2,
			    .e_shoff = 120 },
		.segment = { PT_LOAD, PF_R | PF_X, 0, 0, 0, 0x10000, 0x10000, 0x1000 },
		.table = { ELFCOMPRESS_ZLIB, 0, 0, 0, 0, 0, 0, 0, 100 } };
	int fd = mkstemp(strcpy(path, "/tmp/gusprof-callers-XXXXXX"));

	memcpy(e.names, names, sizeof(names));
	e.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_COMPRESSED,
		.sh_addr = 0x5000, .sh_offset = (size_t)((char *)e.table - (char *)&e), .sh_size = sizeof(e.table) };
	e.sections[2] = (Elf64_Shdr){ .sh_name = 11, .sh_type = SHT_STRTAB,
		.sh_offset = (size_t)(e.names - (char *)&e), .sh_size = sizeof(names) };
	assert_true(fd >= 0 && write(fd, &e, sizeof(e)) == sizeof(e) && ftruncate(fd, 0x10000) == 0);
	close(fd);
}

/* Trouble in tables turns up when they are asked, which is after the file was found. */
static void test_damaged_tables_are_told(void **state)
{
	char path[64], second[64], text[256];
	struct fixture f;

	(void)state;
	write_damaged(path);
	write_damaged(second);
	begin(&f, GUS_CALL_GRAPH_TABLES);
	map(&f, OTHER + 0x100000, 0x10000, 0, path);
	map(&f, OTHER + 0x200000, 0x10000, 0, second);
	f.regs[BP] = 1;
	ask(&f, 64, 4096);
	assert_null(strstr(says(&f), "are not whole"));
	f.regs[IP] = OTHER + 0x100008;
	ask(&f, 64, 4096);
	snprintf(text, sizeof(text), "1 stacks through %s are not whole: its packed unwind table is damaged\n", path);
	assert_non_null(strstr(says(&f), text));
	assert_null(strstr(says(&f), "not at hand"));
	f.regs[IP] = OTHER + 0x200008;
	ask(&f, 64, 4096);
	snprintf(text, sizeof(text), "%s are not whole: its packed unwind table is damaged; so with 1 other file\n",
		 path);
	assert_non_null(strstr(says(&f), text));
	f.regs[IP] = OTHER + 8; /* what is not at hand is told elsewhere */
	ask(&f, 64, 4096);
	assert_non_null(strstr(says(&f), "so with 1 other file\n"));
	unlink(path);
	unlink(second);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copied_as_a_whole),
		cmocka_unit_test(test_as_the_thread_had_them),
		cmocka_unit_test(test_as_they_are_now),
		cmocka_unit_test(test_as_far_as_there_is_time),
		cmocka_unit_test(test_too_deep_is_not_read_again),
		cmocka_unit_test(test_what_has_changed_meanwhile_is_left_alone),
		cmocka_unit_test(test_what_is_there_now_contradicts),
		cmocka_unit_test(test_what_a_handler_interrupted),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_what_pointers_pass_over),
		cmocka_unit_test(test_missing_files_are_told),
		cmocka_unit_test(test_damaged_tables_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
