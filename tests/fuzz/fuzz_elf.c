/* SPDX-License-Identifier: MIT */
/* Fuzz target of ELF files: headers, sections, symbols, linkage tables, unwind entries, build id and debug link, as a
 * report, `annotate` and `model FILE FUNCTION` ask for them. An input is a byte of choices (below), three of length and
 * two files: the module's, of that length, and another one that it may name as its debug file, shared DWARF or split
 * DWARF: /proc/self/fd/900, or by build id. Mutations mostly fall on headers, where nearly all of the parser's
 * decisions are, and on what is in sections. */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "symbolizer/symbols/routine.h"
#include "symbolizer/symbols/symbols.h"
#include "tests/fuzz/limit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

enum {
	CUT = 1,                /* the file is cut short after it was opened */
	BUILD_ID = 2,           /* the recording has the build id that the other file is known by */
	ELSEWHERE = 4,          /* nothing lies at the module's path */
	OTHER = 900, BEFORE = 4, /* the other file's descriptor; bytes before the first file */
};

static const uint8_t build_id[] = { 0xab, 0xcd, 0xef, 0x01 };

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check_names(const struct gus_name *names, size_t n)
{
	size_t letters = 0;

	demand(n >= 1 && n <= GUS_NAMES_MAX);
	for (size_t i = 0; i < n; i++) {
		letters += names[i].function ? strlen(names[i].function) : 0;
		letters += names[i].file ? strlen(names[i].file) : 0;
		demand(names[i].inlined == (i + 1 < n));
	}
	demand(letters < 2 * GUS_NAMES_MAX * (1u << 17));
}

static void ask_symbols(const char *path, int fd, size_t size, uint8_t choices, const char *folder)
{
	const char *const dirs[] = { folder, NULL };
	const struct gus_symbols_options options = { .debug_dirs = dirs };
	const struct gus_module module = { .kind = GUS_MODULE_FILE, .path = choices & ELSEWHERE ? "/nowhere" : path,
		.build_id = choices & BUILD_ID ? build_id : NULL,
		.build_id_size = choices & BUILD_ID ? sizeof(build_id) : 0 };
	struct gus_symbols *s = gus_symbols_new(&options, NULL);
	struct gus_name names[GUS_NAMES_MAX];
	const char *first, *why;
	uint8_t code[64];
	unsigned machine;

	gus_symbols_address(s, &module, 0); /* which opens it */
	demand(!(choices & CUT) || ftruncate(fd, (off_t)size / 2) == 0);
	for (size_t at = 0; at < size + 64; at += size / 64 + 1) {
		check_names(names, gus_symbols_names(s, &module, at, GUS_DEPTH_INLINE, names));
		demand(gus_symbols_code(s, &module, at, code, sizeof(code), &machine) <= sizeof(code));
	}
	gus_symbols_trouble(s, &module);
	gus_symbols_code_trouble(s, &module);
	if (gus_symbols_cut(s, &first, &why))
		demand(*first && *why);
	gus_symbols_free(s);
}

static void ask_routine(const char *path, const char *what)
{
	struct gus_error err = { 0 };
	struct gus_routine f;
	int rc = gus_routine_open(&f, path, what, &err);

	demand(rc == 0 ? f.name && (f.bytes || !f.size) : err.code != GUS_OK && err.text[0]);
	gus_routine_close(&f);
}

static char folder[] = "/tmp/fuzz-elf-XXXXXX";

static void remove_folder(void)
{
	char *command = gus_format("rm -rf '%s'", folder);

	if (system(command) != 0)
		perror(folder);
	free(command);
}

/* A place for debug files where that build id leads to the other file; made once. */
static void make_folder(void)
{
	static const char *const parts[] = { "/.build-id", "/.build-id/ab", "/.build-id/ab/cdef01",
					     "/.build-id/ab/cdef01.debug" };

	if (!strstr(folder, "XXXXXX"))
		return;
	demand(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
	for (int i = 0; i < 4; i++) {
		char *path = gus_format("%s%s", folder, parts[i]);

		demand((i < 2 ? mkdir(path, 0700) : symlink("/proc/self/fd/900", path)) == 0);
		free(path);
	}
}

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	demand(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

static size_t first_size(const uint8_t *data, size_t size)
{
	size_t said = data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16;

	return said < size - BEFORE ? said : size - BEFORE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct limit bounds = limit_begin();
	size_t first = size > BEFORE ? first_size(data, size) : 0;
	char *path;
	int fd, other;

	if (size <= BEFORE)
		return 0;
	make_folder();
	fd = file_of(data + BEFORE, first);
	other = file_of(data + BEFORE + first, size - BEFORE - first);
	path = gus_format("/proc/self/fd/%d", fd);
	demand(dup2(other, OTHER) == OTHER);
	ask_routine(path, "main");
	ask_routine(path, "0x1010");
	ask_symbols(path, fd, first, data[0], folder);
	close(OTHER);
	close(other);
	close(fd);
	free(path);
	limit_end(bounds, size, 300, 0);
	return 0;
}

/* Numbers that files lie with. */
static uint64_t lie(unsigned r, uint64_t old, size_t size)
{
	switch (r % 10) {
	case 0:
		return 0;
	case 1:
		return size;
	case 2:
		return size - 1;
	case 3:
		return UINT64_MAX;
	case 4:
		return old + 1;
	case 5:
		return old - 1;
	case 6:
		return old * 2;
	case 7:
		return old / 2;
	case 8:
		return 1ull << r / 10 % 64;
	default:
		return r / 10 % (size + 1);
	}
}

struct table {
	size_t at, entry, n;
};

/* The headers of sections (or segments) that the file says it has, as far as they are there. */
static struct table table_of(const uint8_t *file, size_t size, bool segments)
{
	struct table t = { 0 };
	Elf64_Ehdr h;

	if (size < sizeof(h))
		return t;
	memcpy(&h, file, sizeof(h));
	t.at = segments ? h.e_phoff : h.e_shoff;
	t.entry = segments ? sizeof(Elf64_Phdr) : sizeof(Elf64_Shdr);
	t.n = segments ? h.e_phnum : h.e_shnum;
	if (t.at > size)
		t.n = 0;
	else if (t.n > (size - t.at) / t.entry)
		t.n = (size - t.at) / t.entry;
	return t;
}

static void change_number(uint8_t *file, size_t size, const struct table *t, unsigned r)
{
	uint8_t *entry = file + t->at + t->entry * (r / 8 % t->n);
	size_t word = r / 512 % (t->entry / 8) * 8;
	uint64_t number;

	memcpy(&number, entry + word, sizeof(number));
	if (r & 1) { /* half of it: types, links, flags */
		uint32_t half = (uint32_t)lie(r / 4096, number >> (r & 2 ? 32 : 0), size);

		memcpy(entry + word + (r & 2 ? 4 : 0), &half, sizeof(half));
		return;
	}
	number = lie(r / 4096, number, size);
	memcpy(entry + word, &number, sizeof(number));
}

static void change_section(uint8_t *file, size_t size, const struct table *t, unsigned r)
{
	Elf64_Shdr h;

	memcpy(&h, file + t->at + t->entry * (r / 8 % t->n), sizeof(h));
	if (h.sh_type != SHT_NOBITS && h.sh_offset < size && h.sh_size && h.sh_size <= size - h.sh_offset)
		LLVMFuzzerMutate(file + h.sh_offset, h.sh_size, h.sh_size);
}

static void copy_entry(uint8_t *file, const struct table *t, unsigned r)
{
	memmove(file + t->at + t->entry * (r / 8 % t->n), file + t->at + t->entry * (r / 4096 % t->n), t->entry);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	unsigned r = seed * 2654435761u; /* spread, as seeds may be small */
	uint8_t *file = data + BEFORE;
	size_t first, length;
	struct table t;

	if (size <= BEFORE)
		return LLVMFuzzerMutate(data, size, max);
	first = length = first_size(data, size);
	if (r >> 16 & 1 && size - BEFORE > first) { /* the other file */
		file += first;
		length = size - BEFORE - first;
	}
	t = table_of(file, length, r % 8 == 1);
	if (r % 8 == 0 || !t.n)
		return LLVMFuzzerMutate(data, size, max);
	if (r % 8 < 4)
		change_number(file, length, &t, r / 8);
	else if (r % 8 < 7)
		change_section(file, length, &t, r / 8);
	else
		copy_entry(file, &t, r / 8);
	return size;
}
