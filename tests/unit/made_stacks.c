/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_stacks.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "proto/writer.h"
#include "symbolizer/symbols/symbols.h"
#include "tests/unit/made_sideband.h"

#define MODULE MADE_MODULE
#define TWIN "/nowhere/twin"

const uint8_t made_code[] = {
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
	0x0f, 0x05,                     /* 1c syscall, where nothing of this comes along */
	0x90, 0x90,
	0x90,                           /* 20 g: nop */
	0xc3,                           /* 21 ret */
	0xe8, 0xd9, 0xff, 0xff, 0xff,   /* 22 m: call 00 */
	0xeb, 0xf9,                     /* 27 jmp 22 */
};

const struct made_block made_blocks[BLOCKS] = {
	[F] = { 0x00, 2, 1 }, [OUTER] = { 0x02, 3, 1 }, [INNER] = { 0x05, 4, 2 }, [ODD] = { 0x09, 2, 1 },
		[NEXT] = { 0x0b, 7, 3 },
	[CALL] = { 0x12, 5, 1 }, [BACK] = { 0x17, 4, 2 }, [LEAVE] = { 0x1b, 1, 1 }, [G] = { 0x20, 2, 2 },
		[M] = { 0x22, 5, 1 },
	[AGAIN] = { 0x27, 2, 1 },
};

/* The file. */

struct elf {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char pad[MADE_TEXT - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr)];
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
	e->segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = MADE_TEXT,
		.p_vaddr = MADE_ADDRESS,
				   .p_filesz = sizeof(*e) - MADE_TEXT, .p_memsz = sizeof(*e) - MADE_TEXT };
	memcpy(e->text, made_code, sizeof(made_code));
	memcpy(e->names, "\0f\0g\0m", 7);
	for (size_t i = 0; i < 3; i++)
		e->symbols[i + 1] = (Elf64_Sym){ .st_name = symbols[i].name, .st_info = ELF64_ST_INFO(STB_GLOBAL,
			STT_FUNC), .st_shndx = 1,
						 .st_value = MADE_ADDRESS + symbols[i].at, .st_size = symbols[i].size };
	e->sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = MADE_ADDRESS,
				       .sh_offset = MADE_TEXT, .sh_size = sizeof(made_code), .sh_addralign = 1 };
	e->sections[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct elf, symbols),
		.sh_size = sizeof(e->symbols),
				       .sh_link = 3, .sh_info = 1, .sh_entsize = sizeof(Elf64_Sym), .sh_addralign = 8 };
	e->sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct elf, names),
		.sh_size = sizeof(e->names) };
	e->sections[4] = e->sections[3];
}

void made_add_image(struct gus_symbols *symbols)
{
	Gusprof__Image image = GUSPROF__IMAGE__INIT;
	struct elf elf;

	make_elf(&elf);
	image.path = (char *)(uintptr_t)MODULE;
	image.bytes.data = (uint8_t *)&elf;
	image.bytes.len = sizeof(elf);
	gus_symbols_add_image(symbols, &image);
}

static bool add_map(struct gus_writer *w, uint64_t start, const char *path)
{
	return made_map(w, 10, MADE_START, start, 0x20000, path);
}

static bool add_kernel(struct gus_writer *w)
{
	Gusprof__Symbol first = GUSPROF__SYMBOL__INIT, second = GUSPROF__SYMBOL__INIT, *both[] = { &first, &second };
	Gusprof__KernelSymbols symbols = GUSPROF__KERNEL_SYMBOLS__INIT;

	first.address = MADE_KERNEL;
	second.address = MADE_KERNEL + 4096;
	first.size = second.size = 4096;
	first.name = (char *)(uintptr_t)"made_first";
	second.name = (char *)(uintptr_t)"made_second";
	symbols.symbols = both;
	symbols.n_symbols = 2;
	return gus_writer_message(w, GUS_FRAME_KERNEL_SYMBOLS, &symbols.base, NULL) == 0;
}

bool made_write(const char *path, const struct gus_columns *samples, uint64_t branch_type)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Image image = GUSPROF__IMAGE__INIT;
	struct gus_writer *w;
	struct elf elf;
	bool good;

	event.name = (char *)(uintptr_t)"cycles";
	event.unit = (char *)(uintptr_t)"cycles";
	header.n_events = 1;
	header.events = events;
	header.branch_type = branch_type;
	w = gus_writer_create(path, &header, NULL);
	if (!w)
		return false;
	make_elf(&elf);
	image.path = (char *)(uintptr_t)MODULE;
	image.bytes.data = (uint8_t *)&elf;
	image.bytes.len = sizeof(elf);
	good = add_map(w, MADE_BASE, MODULE) && add_map(w, MADE_LIBRARY, "/nowhere/lib.so") &&
		add_map(w, MADE_TWIN, TWIN) && add_kernel(w) &&
	       gus_writer_message(w, GUS_FRAME_IMAGE, &image.base, NULL) == 0;
	image.path = (char *)(uintptr_t)TWIN;
	good = good && gus_writer_message(w, GUS_FRAME_IMAGE, &image.base, NULL) == 0 &&
	       gus_writer_samples(w, samples, NULL) == 0;
	footer.end_ns = MADE_START + samples->n + 1;
	return gus_writer_finish(w, &footer, NULL) == 0 && good;
}

void made_sample(struct gus_columns *samples, uint64_t ip, uint64_t period, const struct gus_branch *stack, uint32_t n)
{
	gus_columns_push(samples,
			 &(struct gus_sample){ .ip = MADE_BASE + MADE_TEXT + ip, .time = MADE_START + samples->n + 1,
							.period = period, .pid = 10, .tid = 10, .mode = GUS_MODE_USER,
							.branches_n = n, .branches = stack });
}

void made_kernel_sample(struct gus_columns *samples, uint64_t offset)
{
	gus_columns_push(samples, &(struct gus_sample){ .ip = MADE_KERNEL + offset, .time = MADE_START + samples->n + 1,
							.period = 1000, .pid = 10, .tid = 11,
							.mode = GUS_MODE_KERNEL });
}

static void jump(struct made_machine *k, unsigned from, unsigned to, bool mispredicted)
{
	memmove(k->last + 1, k->last, sizeof(k->last) - sizeof(*k->last));
	k->last[0] = (struct gus_branch){ MADE_BASE + MADE_TEXT + from, MADE_BASE + MADE_TEXT + to,
					  mispredicted ? GUS_BRANCH_MISPREDICTED : GUS_BRANCH_PREDICTED, 3 };
	k->branches++;
	k->mispredicted += mispredicted;
	if (k->branches >= MADE_DEPTH && (k->branches - MADE_DEPTH) % (MADE_DEPTH - 1) == 0)
		made_sample(k->samples, to, 1000, k->last, MADE_DEPTH);
}

/* m calls f `calls` times, each of which goes 3 times around outside and 10 times within; the branch back within is
 * mispredicted each fourth time that it is taken. */
static void run(struct made_machine *k, unsigned calls)
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

/* 53 branches a call; 70 calls are 530 stacks of 7 new ones each. One more branch ends the last range: what is counted
 * is what was executed between the first branch and that one. */
void made_run(struct made_machine *k, struct gus_columns *samples)
{
	*k = (struct made_machine){ .samples = samples };
	run(k, 70);
	/* m's first block before the first branch is not counted, and here it is: as often in all */
	jump(k, 0x22, 0x00, false);
}
