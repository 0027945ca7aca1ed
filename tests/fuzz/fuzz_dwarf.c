/* SPDX-License-Identifier: MIT */
/* Fuzz target of DWARF: an input is what is in the sections, and a sound ELF file is made around it, so that every
 * mutation falls on DWARF. An input is a byte of choices and then for each section below two bytes of length and its
 * bytes; what is missing is empty. Lengths of units and line tables that reach behind their section are put right, as
 * libdw would stop there, unless bit 0 of the choices says to leave them; with bit 1 the file that shared DWARF is
 * looked for in is the same one. */
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbolizer/elf/dwarf.h"
#include "symbolizer/elf/elfsyms.h"
#include "symbolizer/names/ranges.h"
#include "tests/fuzz/limit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

enum { TEXT = 0x1000, TEXT_SIZE = 0x1000 };
enum { INFO, ABBREV, LINE, STR, LINE_STR, RANGES, RNGLISTS, ADDR, STR_OFFSETS, EH_FRAME, SECTIONS };

static const char *const names[SECTIONS] = {
	".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str", ".debug_ranges",
	".debug_rnglists", ".debug_addr", ".debug_str_offsets", ".eh_frame",
};

struct input {
	uint8_t choices;
	struct { const uint8_t *bytes; size_t size; } sections[SECTIONS];
};

static void demand(int truth)
{
	if (!truth)
		abort();
}

static struct input cut(const uint8_t *data, size_t size)
{
	struct input in = { .choices = size ? data[0] : 0 };
	size_t at = 1;

	for (unsigned i = 0; i < SECTIONS && at + 2 <= size; i++) {
		size_t length = data[at] | (size_t)data[at + 1] << 8;

		at += 2;
		if (length > size - at)
			length = size - at;
		in.sections[i].bytes = data + at;
		in.sections[i].size = length;
		at += length;
	}
	return in;
}

/* Lengths of units, which begin with them, one behind the other. */
static void put_right(uint8_t *bytes, size_t size)
{
	uint32_t length;

	for (size_t at = 0; at + 4 <= size; at += 4 + (size_t)length) {
		memcpy(&length, bytes + at, 4);
		if (length <= size - at - 4)
			continue;
		length = (uint32_t)(size - at - 4);
		memcpy(bytes + at, &length, 4);
	}
}

struct letters gus_vec(char);

struct file {
	struct gus_vec(uint8_t) bytes;
	Elf64_Shdr headers[SECTIONS + 2];
};

static void add_section(struct file *f, struct letters *letters, unsigned i, const char *name,
			const void *bytes, size_t size)
{
	f->headers[i] = (Elf64_Shdr){ .sh_name = (uint32_t)letters->n, .sh_type = SHT_PROGBITS, .sh_addralign = 1,
				      .sh_offset = f->bytes.n, .sh_size = size };
	gus_vec_append(letters, name, strlen(name) + 1);
	gus_vec_append(&f->bytes, (const uint8_t *)bytes, size);
}

static struct gus_elf *make_elf(const struct input *in)
{
	const Elf64_Phdr segment = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TEXT, .p_filesz = TEXT_SIZE,
				     .p_memsz = TEXT_SIZE };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(header),
		.e_ehsize = sizeof(header), .e_phentsize = sizeof(segment), .e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS + 2, .e_shstrndx = SECTIONS + 1 };
	struct letters letters = { 0 };
	struct file f = { 0 };
	struct gus_elf *e;

	gus_vec_push(&letters, '\0');
	gus_vec_append(&f.bytes, (const uint8_t *)&header, sizeof(header));
	gus_vec_append(&f.bytes, (const uint8_t *)&segment, sizeof(segment));
	for (unsigned i = 0; i < SECTIONS; i++) {
		add_section(&f, &letters, i + 1, names[i], in->sections[i].bytes, in->sections[i].size);
		if (!(in->choices & 1) && (i == INFO || i == LINE))
			put_right(f.bytes.v + f.headers[i + 1].sh_offset, f.headers[i + 1].sh_size);
	}
	add_section(&f, &letters, SECTIONS + 1, ".shstrtab", NULL, 0);
	f.headers[SECTIONS + 1].sh_type = SHT_STRTAB;
	f.headers[SECTIONS + 1].sh_size = letters.n;
	gus_vec_append(&f.bytes, (const uint8_t *)letters.v, letters.n);
	while (f.bytes.n % 8)
		gus_vec_push(&f.bytes, 0);
	header.e_shoff = f.bytes.n;
	memcpy(f.bytes.v, &header, sizeof(header));
	gus_vec_append(&f.bytes, (const uint8_t *)f.headers, sizeof(f.headers));
	e = gus_elf_copy("made", f.bytes.v, f.bytes.n, NULL);
	gus_vec_free(&letters);
	gus_vec_free(&f.bytes);
	demand(e != NULL);
	return e;
}

static void ask(struct gus_dwarf *d, uint64_t address)
{
	struct gus_call calls[64];
	const char *file = NULL, *outer = NULL;
	uint32_t line = 0;
	size_t n;

	if (gus_dwarf_line(d, address, &file, &line))
		demand(file ? strlen(file) < 1 << 20 : line > 0);
	n = gus_dwarf_calls(d, address, calls, 64, &outer);
	demand(n <= 64 && (!outer || strlen(outer) < 1 << 20));
	for (size_t i = 0; i < n; i++)
		demand((!calls[i].name || *calls[i].name) && (!calls[i].file || strlen(calls[i].file) < 1 << 20));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct limit bounds = limit_begin();
	struct input in = cut(data, size);
	struct gus_elf *e = make_elf(&in), *shared = in.choices & 2 ? make_elf(&in) : NULL;
	struct gus_dwarf *d = gus_dwarf_open(e, e, shared);
	struct gus_ranges frames = { 0 };

	gus_elfsyms_add_frames(&frames, e);
	for (uint64_t address = TEXT; d && address < TEXT + 0x400; address += 3)
		ask(d, address);
	for (size_t i = 0; i < frames.n; i++)
		demand(gus_ranges_find(&frames, frames.v[i].low) != NULL);
	gus_ranges_free(&frames);
	gus_dwarf_close(d);
	gus_elf_close(e);
	gus_elf_close(shared);
	limit_end(bounds, size, 300, 0);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct input in = cut(data, size);
	uint8_t *new = gus_alloc(max + 2 * SECTIONS + 1), *room;
	unsigned r = seed * 2654435761u, chosen = r / 16 % SECTIONS;
	size_t at = 0, most = max / SECTIONS < 0xffff ? max / 4 : 0xffff;

	if (r % 16 < 8) /* most of what can be read is here */
		chosen = (unsigned[]){ INFO, ABBREV, LINE }[r / 16 % 3];
	new[at++] = r % 16 == 15 ? (uint8_t)(r >> 8) : in.choices;
	for (unsigned i = 0; i < SECTIONS; i++) {
		size_t length = in.sections[i].size, left = max + 2 * SECTIONS + 1 - at - 2 * (SECTIONS - i);

		room = new + at + 2;
		if (length > left)
			length = left;
		memcpy(room, in.sections[i].bytes ? in.sections[i].bytes : data, length);
		if (i == chosen)
			length = LLVMFuzzerMutate(room, length, left < most ? left : most);
		new[at] = (uint8_t)length;
		new[at + 1] = (uint8_t)(length >> 8);
		at += 2 + length;
	}
	if (at > max)
		at = max;
	memcpy(data, new, at);
	free(new);
	return at;
}
