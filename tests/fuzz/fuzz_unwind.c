/* SPDX-License-Identifier: MIT */
/* Fuzz target of unwinding: a file's unwind table, its code, and a stack, all of whose bytes are foreign. An input is
 *
 *	1 byte		choices (below)
 *	1 byte		the first place, in units of 4 bytes of the code
 *	2 bytes		of the table
 *	2 bytes		of the stack
 *	...		the table, the stack, registers as far as there are bytes, and the code
 *
 * Words of the stack and of the registers that are below 2^20 are moved to where the code is mapped, and those below
 * 2^24 to the stack, or no input would ever find a caller. */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"
#include "symbolizer/unwind/lasts.h"
#include "symbolizer/unwind/unwind.h"
#include "tests/fuzz/limit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	DEBUG = 1,              /* .debug_frame */
	ARM64 = 2,
	JIT = 4,                /* code without a file behind the file's */
	FEW = 8,                /* 3 callers at most */
};

enum { HEAD = 6, CODE = 0x200, CODE_SIZE = 0x400, TABLE = 0x600, OWN = 0x10000 };
#define BASE 0x7f0000000000ull
#define STACK 0x7ffc00000000ull
#define TABLE_AT 0x5000

static void demand(bool truth)
{
	if (!truth)
		abort();
}

struct input {
	uint8_t choices;
	size_t table_n, stack_n, code_n;
	const uint8_t *table, *code;
	uint64_t stack[8192];
	struct gus_unwind_regs regs;
	struct gus_unwind_file *file;
};

static uint64_t moved(uint64_t word)
{
	if (word < 1 << 20)
		return word ? BASE + word : 0;
	return word < 1 << 24 ? STACK + (word & 0xffff) : word;
}

static void put(uint8_t *file, size_t at, const void *bytes, size_t n)
{
	memcpy(file + at, bytes, n);
}

static int file_of(const struct input *in)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";
	size_t end = TABLE + in->table_n, headers = (end + sizeof(names) + 7) & ~(size_t)7, size = headers + 3 * 64;
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = in->choices & ARM64 ? EM_AARCH64 : EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = 64, .e_shoff = headers, .e_ehsize = 64, .e_phentsize = 56, .e_phnum = 1, .e_shentsize = 64,
		.e_shnum = 3, .e_shstrndx = 2 };
	const Elf64_Phdr segment = { PT_LOAD, PF_R | PF_X, 0, OWN, OWN, size, size, 0x1000 };
	const Elf64_Shdr sections[3] = { { 0 },
		{ .sh_name = in->choices & DEBUG ? 11 : 1, .sh_type = SHT_PROGBITS, .sh_addr = TABLE_AT,
		  .sh_offset = TABLE, .sh_size = in->table_n },
		{ .sh_name = 24, .sh_type = SHT_STRTAB, .sh_offset = end, .sh_size = sizeof(names) } };
	uint8_t *bytes = gus_zalloc(size);
	int fd = memfd_create("unwind", MFD_CLOEXEC);

	put(bytes, 0, &header, sizeof(header));
	put(bytes, 64, &segment, sizeof(segment));
	put(bytes, CODE, in->code, in->code_n < CODE_SIZE ? in->code_n : CODE_SIZE);
	put(bytes, TABLE, in->table, in->table_n);
	put(bytes, end, names, sizeof(names));
	put(bytes, headers, sections, sizeof(sections));
	demand(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	free(bytes);
	return fd;
}

static bool code_at(void *context, uint64_t address, struct gus_unwind_code *code)
{
	struct input *in = context;

	*code = (struct gus_unwind_code){ in->file, address - BASE };
	if (address >= BASE && address < BASE + CODE + CODE_SIZE)
		return true;
	code->file = NULL;
	return in->choices & JIT && address >= BASE && address < BASE + (1 << 20);
}

static void read_words(struct input *in, const uint8_t *bytes, size_t size)
{
	unsigned n = in->choices & ARM64 ? 33 : 17, sp = in->choices & ARM64 ? 31 : 7;

	in->regs.machine = in->choices & ARM64 ? EM_AARCH64 : EM_X86_64;
	in->regs.known = (1ull << n) - 1;
	for (unsigned i = 0; i < n && 8u * (i + 1) <= size; i++) {
		memcpy(&in->regs.v[i], bytes + 8u * i, 8);
		in->regs.v[i] = moved(in->regs.v[i]);
	}
	in->regs.v[sp] = STACK;
}

static bool read_input(struct input *in, const uint8_t *data, size_t size)
{
	const uint8_t *at = data + HEAD;
	size_t left = size - HEAD, words;

	in->choices = data[0];
	in->table_n = data[2] | (size_t)data[3] << 8;
	in->stack_n = data[4] | (size_t)data[5] << 8;
	if (in->table_n > left || in->stack_n > left - in->table_n)
		return false;
	in->table = at;
	memcpy(in->stack, at + in->table_n, in->stack_n);
	for (size_t i = 0; i < in->stack_n / 8; i++)
		in->stack[i] = moved(in->stack[i]);
	at += in->table_n + in->stack_n;
	left -= in->table_n + in->stack_n;
	words = left < 33 * 8 ? left : 33 * 8;
	read_words(in, at, words);
	in->code = at + words;
	in->code_n = left - words;
	in->regs.v[in->choices & ARM64 ? 32 : 16] = BASE + CODE + 4u * data[1];
	return true;
}

static void check(const struct input *in, const uint64_t *out, const uint64_t *frames, uint32_t n, uint32_t most,
		  uint64_t callers, const struct gus_unwind_rest *rest)
{
	struct gus_unwind_code code;
	bool marked = false;

	demand(n <= most && (callers & GUS_CALLERS_END) >= GUS_CALLERS_WHOLE &&
	       (callers & GUS_CALLERS_END) <= GUS_CALLERS_GONE);
	demand(!(callers & ~(uint64_t)(GUS_CALLERS_END | GUS_CALLERS_TABLE | GUS_CALLERS_POINTER)));
	demand(!rest->frame || (callers & GUS_CALLERS_END) == GUS_CALLERS_STACK);
	for (uint32_t i = 0; i < n; i++) {
		bool marker = out[i] == (uint64_t)-512 && !marked && !frames[i]; /* PERF_CONTEXT_USER */

		/* What was interrupted may be anywhere; all else is returned to, where code is. */
		demand(marker || marked || code_at((void *)in, out[i] - 1, &code));
		marked = marker;
	}
	demand(!marked);
}

static void ask(struct input *in, uint64_t *first)
{
	uint64_t *out = gus_alloc(2048 * sizeof(*out)), *frames = gus_alloc(2048 * sizeof(*frames)), callers;
	struct gus_unwind_view view = { code_at, in, STACK, in->stack, in->stack_n };
	struct gus_unwind_rest rest = { .frames = frames };
	uint32_t most = in->choices & FEW ? 3 : 2048, n;

	n = gus_unwind(&view, &in->regs, out, most, &callers, &rest);
	check(in, out, frames, n, most, callers, &rest);
	/* What is kept gives the same answer, but where the budget cut the first. */
	if ((*first & GUS_CALLERS_END) != 0 && (*first & GUS_CALLERS_END) != GUS_CALLERS_WORK)
		demand(callers == *first);
	*first = callers;
	free(out);
	free(frames);
}

struct chain { uint64_t out[2048], frames[2048], callers; uint32_t n; };

static void walk(struct input *in, struct gus_unwind_lasts *lasts, struct chain *c)
{
	struct gus_unwind_view view = { code_at, in, STACK, in->stack, in->stack_n, lasts, 1, 1 };
	struct gus_unwind_rest rest = { .frames = c->frames };

	c->n = gus_unwind(&view, &in->regs, c->out, 2048, &c->callers, &rest);
}

/* What is taken over from a thread's last stack is what a walk of the whole finds, whichever word has changed since;
 * but where one of them takes more work than it may. */
static void ask_after_others(struct input *in)
{
	struct gus_unwind_lasts *lasts = gus_unwind_lasts_new();
	struct chain *with = gus_alloc(sizeof(*with)), *without = gus_alloc(sizeof(*without));
	size_t words = in->stack_n / sizeof(*in->stack), step = words / 8 + 1;

	walk(in, lasts, with);
	for (size_t i = 0; i < words; i += step) {
		uint64_t was = in->stack[i];

		in->stack[i] = in->stack[(i + 3) % words] + 1;
		walk(in, lasts, with);
		walk(in, NULL, without);
		in->stack[i] = was;
		if ((with->callers & GUS_CALLERS_END) == GUS_CALLERS_WORK ||
		    (without->callers & GUS_CALLERS_END) == GUS_CALLERS_WORK)
			continue;
		demand(with->n == without->n && with->callers == without->callers);
		demand(memcmp(with->out, without->out, with->n * sizeof(*with->out)) == 0);
		demand(memcmp(with->frames, without->frames, with->n * sizeof(*with->frames)) == 0);
	}
	gus_unwind_lasts_free(lasts);
	free(with);
	free(without);
}

static struct input in;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct limit bounds = limit_begin();
	const struct gus_symbols_options options = { .debug_dirs = (const char *const[]){ NULL } };
	struct gus_unwind_files *files;
	struct gus_module module = { .kind = GUS_MODULE_FILE };
	uint64_t first = 0;
	char *path;
	int fd;

	if (size <= HEAD || size > 1 << 16 || !read_input(&in, data, size))
		return 0;
	fd = file_of(&in);
	path = gus_format("/proc/self/fd/%d", fd);
	module.path = path;
	files = gus_unwind_files_new(&options);
	in.file = gus_unwind_files_get(files, &module);
	demand(!gus_unwind_file_trouble(in.file));
	for (int again = 0; again < 3; again++)
		ask(&in, &first);
	ask_after_others(&in);
	demand(gus_unwind_file_frame_pointers(in.file) <= 1);
	gus_unwind_files_free(files);
	close(fd);
	free(path);
	limit_end(bounds, size, 300, 0);
	return 0;
}
