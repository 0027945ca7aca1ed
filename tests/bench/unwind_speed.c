/* SPDX-License-Identifier: MIT */
/* Frames a second of gus_unwind: a stack of this program's own, 40 calls deep through its code, unwound again and
 * again (all rules are kept then), and by files that were never asked (none is). unwind-speed [TIMES]. x86-64. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"
#include "symbolizer/unwind/unwind.h"

struct mapping { uint64_t low, high, offset; char path[256]; struct gus_unwind_file *file; };

static struct mapping maps[64];
static size_t maps_n;
static uint64_t stack_end;

static bool code_at(void *context, uint64_t address, struct gus_unwind_code *code)
{
	(void)context;
	for (size_t i = 0; i < maps_n; i++)
		if (address >= maps[i].low && address < maps[i].high) {
			*code = (struct gus_unwind_code){ maps[i].file, address - maps[i].low + maps[i].offset };
			return true;
		}
	return false;
}

static void read_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long long low, high, offset;
	char line[512], rights[5], path[256];

	while (f && fgets(line, sizeof(line), f) && maps_n < 64) {
		path[0] = 0;
		if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %255s", &low, &high, rights, &offset, path) < 4)
			continue;
		if (strcmp(path, "[stack]") == 0)
			stack_end = high;
		if (rights[2] != 'x' || path[0] != '/')
			continue;
		maps[maps_n] = (struct mapping){ low, high, offset, { 0 }, NULL };
		memcpy(maps[maps_n++].path, path, sizeof(path));
	}
	if (f)
		fclose(f);
}

static void open_files(struct gus_unwind_files *files)
{
	for (size_t i = 0; i < maps_n; i++)
		maps[i].file = gus_unwind_files_get(files, &(struct gus_module){ .kind = GUS_MODULE_FILE,
										 .path = maps[i].path });
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(const char *what, unsigned times, bool anew)
{
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP,
				     REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	struct gus_unwind_files *files = gus_unwind_files_new(NULL);
	uint64_t words[17], out[256], callers = 0, frames = 0;
	struct gus_unwind_regs regs;
	struct gus_unwind_view view = { .code = code_at };
	ucontext_t here;
	double begun;

	getcontext(&here);
	for (unsigned i = 0; i < 17; i++)
		words[i] = (uint64_t)here.uc_mcontext.gregs[order[i]];
	gus_unwind_regs_of(&regs, EM_X86_64, &(struct gus_sample){ .regs_n = 17, .regs = words });
	view.stack_at = words[7];
	view.stack = (const void *)words[7];
	view.stack_bytes = stack_end - words[7];
	open_files(files);
	begun = seconds();
	for (unsigned i = 0; i < times; i++) {
		if (anew) {
			gus_unwind_files_free(files);
			files = gus_unwind_files_new(NULL);
			open_files(files);
		}
		frames += gus_unwind(&view, &regs, out, 256, &callers, NULL);
	}
	begun = seconds() - begun;
	printf("%s: %" PRIu64 " frames, %.0f ns a frame, %.2f us a stack, end %" PRIx64 "\n", what, frames,
	       begun * 1e9 / (double)frames, begun * 1e6 / times, callers);
	gus_unwind_files_free(files);
}

__attribute__((noinline, noclone)) static unsigned deep(unsigned n, unsigned times)
{
	unsigned below = 0;

	if (n) {
		below = deep(n - 1, times);
	} else {
		measure("kept", times, false);
		measure("files anew", times / 1000 + 1, true);
	}
	__asm__ volatile("" : "+r"(below)); /* or the recursion becomes a loop */
	return below * 3 + n;
}

int main(int argc, char **argv)
{
	read_maps();
	return deep(40, argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20000) == 0;
}
