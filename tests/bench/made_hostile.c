/* SPDX-License-Identifier: MIT */
/* `made-hostile FOLDER HOW SAMPLES FILES`: a recording, FOLDER/HOW.gus, of so many samples with copies of their stacks,
 * each of 1024 frames, and the files that it is of, FOLDER/HOW-N.so, whose unwind tables ask for as much work as they
 * can. HOW is
 *
 *   plain    nothing of the kind: one function that saves a register, the same addresses each time;
 *   loops    an expression that jumps to itself: the first frame takes what a stack may;
 *   reads    expressions of 85 operations for a register that each frame has: a stack may just take that;
 *   steady   the same with so few that the file is never refused;
 *   states   programs that put 100 states aside and take them back, at addresses that were never asked before;
 *   large    functions of 63 MiB, so that libunwind's addresses are used up after 16 of them. */
#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/writer.h"
#include "tests/unit/made_frames.h"
#include "tests/unit/made_sideband.h"

#define START 1000000000ull
#define BASE 0x100000000000ull
#define APART (1ull << 32)      /* from file to file */
#define STACK 0x7ffc00000000ull
#define FRAMES 1024u
#define LIMITED (63ull << 20)   /* bytes of a large function */
#define LARGE 20
#define CODE 0x10000ull         /* offset of the first function, and its address */
#define SIZE (CODE + LARGE * LIMITED)
#define TOGETHER 200            /* samples in a batch */
enum { SP = 7, IP = 8, REGS = 17, STATES = 100, OPERATIONS = 85, FEWER = 25 };

struct how {
	const char *name;
	uint8_t before[16];     /* of each function's program, and then: */
	size_t before_n;
	uint8_t repeated[2];
	size_t repeated_n, times;
	unsigned functions;
	uint64_t size;
	bool anew;              /* each frame returns to somewhere else */
};

static const struct how ways[] = {
	{ "plain", { DW_CFA_offset | 3, 2 }, 2, { 0 }, 0, 0, 1, 0x10000, false },
	{ "loops", { DW_CFA_val_offset, 14, 1, DW_CFA_def_cfa_expression, 3, DW_OP_skip, 0xfd, 0xff }, 8, { 0 }, 0, 0,
	  1, 0x10000, false },
	{ "reads", { DW_CFA_val_expression, 3, OPERATIONS + 2, DW_OP_breg7, 0 }, 5, { DW_OP_nop }, 1, OPERATIONS, 1,
	  0x10000, false },
	{ "steady", { DW_CFA_val_expression, 3, FEWER + 2, DW_OP_breg7, 0 }, 5, { DW_OP_nop }, 1, FEWER, 1, 0x10000,
	  false },
	{ "states", { DW_CFA_nop }, 1, { DW_CFA_remember_state, DW_CFA_restore_state }, 2, STATES, 1, 32 << 20, true },
	{ "large", { DW_CFA_nop }, 1, { 0 }, 0, 0, LARGE, LIMITED, true },
};

static const struct how *find(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(name, ways[i].name) == 0)
			return &ways[i];
	return NULL;
}

static void make_frames(struct made_frames *m, const struct how *how)
{
	uint8_t program[512];
	size_t n = how->before_n;

	memcpy(program, how->before, n);
	for (size_t i = 0; i < how->times; i++, n += how->repeated_n)
		memcpy(program + n, how->repeated, how->repeated_n);
	made_cie(m, "", 16, made_x86, sizeof(made_x86));
	for (unsigned i = 0; i < how->functions; i++)
		made_fde(m, CODE + i * how->size, how->size, program, n);
	made_end(m);
}

static bool write_file(const char *path, const struct how *how)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr sections[3];
		char names[sizeof(names)];
		uint8_t table[sizeof(((struct made_frames *)0)->bytes)];
	} e = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
			    .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = 64, .e_ehsize = 64,
			    .e_phentsize = 56, .e_phnum = 1, .e_shentsize = 64, .e_shnum = 3, .e_shstrndx = 2,
			    .e_shoff = 120 },
		.segment = { PT_LOAD, PF_R | PF_X, 0, 0, 0, SIZE, SIZE, 0x1000 } };
	struct made_frames m = { .n = 0 };
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	bool good;

	make_frames(&m, how);
	memcpy(e.names, names, sizeof(names));
	memcpy(e.table, m.bytes, m.n);
	e.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
		.sh_addr = MADE_FRAMES_AT, .sh_offset = (uint64_t)((char *)e.table - (char *)&e), .sh_size = m.n };
	e.sections[2] = (Elf64_Shdr){ .sh_name = 11, .sh_type = SHT_STRTAB,
		.sh_offset = (uint64_t)(e.names - (char *)&e), .sh_size = sizeof(names) };
	good = fd >= 0 && write(fd, &e, sizeof(e)) == sizeof(e) && ftruncate(fd, (off_t)SIZE) == 0;
	return close(fd) == 0 && good;
}

/* Where the frame of that number returns to: of all files in turns. */
static uint64_t return_of(const struct how *how, uint64_t number, uint64_t files)
{
	uint64_t in = how->anew ? number * 61 : number % FRAMES * 16;

	return BASE + number % files * APART + CODE + number % how->functions * how->size + 1 + in % (how->size - 1);
}

static bool write_samples(struct gus_writer *w, const struct how *how, uint64_t n, uint64_t files)
{
	uint64_t regs[REGS] = { [SP] = STACK }, stack[FRAMES];
	struct gus_columns samples = { 0 };
	bool good = true;

	for (uint64_t i = 0; i < n && good; i++) {
		for (uint64_t k = 0; k < FRAMES; k++)
			stack[k] = return_of(how, (how->anew ? i * FRAMES : i) + k, files);
		regs[IP] = BASE + CODE + 1;
		gus_columns_push(&samples, &(struct gus_sample){ .ip = regs[IP], .time = START + i, .period = 1000,
			.pid = 10, .tid = 10, .mode = GUS_MODE_USER, .regs = regs, .regs_n = REGS, .stack = stack,
			.stack_n = FRAMES });
		if (samples.n == TOGETHER || i + 1 == n) {
			good = gus_writer_samples(w, &samples, NULL) == 0;
			gus_columns_clear(&samples);
		}
	}
	gus_columns_free(&samples);
	return good;
}

int main(int argc, char **argv)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Host host = GUSPROF__HOST__INIT;
	const struct how *how = argc == 5 ? find(argv[2]) : NULL;
	uint64_t files = argc == 5 ? strtoull(argv[4], NULL, 10) : 0;
	struct gus_writer *w;
	char path[4096];
	bool good = true;

	if (!how || !files)
		return 2;
	event.name = (char *)(uintptr_t)"cpu-clock";
	event.unit = (char *)(uintptr_t)"ns";
	host.machine = (char *)(uintptr_t)"x86_64";
	header.host = &host;
	header.call_graph = (char *)(uintptr_t)"dwarf";
	header.events = events;
	header.n_events = 1;
	snprintf(path, sizeof(path), "%s/%s.gus", argv[1], how->name);
	w = gus_writer_create(path, &header, NULL);
	if (!w)
		return 1;
	for (uint64_t i = 0; i < files && good; i++) {
		snprintf(path, sizeof(path), "%s/%s-%llu.so", argv[1], how->name, (unsigned long long)i);
		good = write_file(path, how) && made_map(w, 10, START, BASE + i * APART, SIZE, path);
	}
	good = good && write_samples(w, how, strtoull(argv[3], NULL, 10), files);
	footer.end_ns = START + 1000000000;
	return !(gus_writer_finish(w, &footer, NULL) == 0 && good);
}
