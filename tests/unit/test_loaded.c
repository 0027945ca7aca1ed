/* SPDX-License-Identifier: MIT */
/* What else of a file was mapped beside its code, worked out from the file, against what the loader did with this very
 * program. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "cli/export/loaded.h"
#include "tests/unit/made_elf.h"

#define PAGE UINT64_C(4096)
enum { MOST = 16 };

struct segments {
	char path[4096];
	struct { uint64_t start, length, offset; } data[MOST], code;
	size_t n;
};

/* Of this program, as the loader has it: the first that is told of. */
static int note(struct dl_phdr_info *info, size_t size, void *context)
{
	struct segments *s = context;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = (info->dlpi_addr + p->p_vaddr) & ~(PAGE - 1);
		uint64_t end = (info->dlpi_addr + p->p_vaddr + p->p_filesz + PAGE - 1) & ~(PAGE - 1);

		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_flags & PF_X) {
			s->code.start = start;
			s->code.length = end - start;
			s->code.offset = p->p_offset & ~(PAGE - 1);
		} else {
			assert_true(s->n < MOST);
			s->data[s->n].start = start;
			s->data[s->n].length = end - start;
			s->data[s->n++].offset = p->p_offset & ~(PAGE - 1);
		}
	}
	return 1;
}

static struct segments this_program(void)
{
	struct segments s = { .n = 0 };
	ssize_t n = readlink("/proc/self/exe", s.path, sizeof(s.path) - 1);

	assert_true(n > 0);
	dl_iterate_phdr(note, &s);
	assert_true(s.n > 1 && s.code.length);
	return s;
}

static Gusprof__Mmap code_of(const struct segments *s)
{
	Gusprof__Mmap m = GUSPROF__MMAP__INIT;

	m.pid = 7;
	m.time = 99;
	m.start = s->code.start;
	m.length = s->code.length;
	m.offset = s->code.offset;
	m.path = (char *)(uintptr_t)s->path;
	m.protection = PROT_READ | PROT_EXEC;
	return m;
}

struct found { Gusprof__Mmap v[MOST]; size_t n; };

static void take(void *context, Gusprof__Mmap *data)
{
	struct found *f = context;

	assert_true(f->n < MOST);
	f->v[f->n++] = *data;
}

static struct found ask(struct gus_loaded *l, const Gusprof__Mmap *code)
{
	struct found f = { .n = 0 };

	gus_loaded_each(l, code, take, &f);
	return f;
}

static void expect_all(const struct found *f, const struct segments *s)
{
	assert_int_equal(f->n, s->n);
	for (size_t i = 0; i < s->n; i++) {
		assert_int_equal(f->v[i].start, s->data[i].start);
		assert_int_equal(f->v[i].length, s->data[i].length);
		assert_int_equal(f->v[i].offset, s->data[i].offset);
		assert_int_equal(f->v[i].protection, PROT_READ);
		assert_int_equal(f->v[i].pid, 7);
		assert_int_equal(f->v[i].time, 99);
		assert_string_equal(f->v[i].path, s->path);
	}
}

static void begin(struct gus_loaded *l)
{
	gus_loaded_init(l, &(struct gus_rights){ .limited = false });
}

static void as_the_loader_does(void **state)
{
	struct segments s = this_program();
	Gusprof__Mmap code = code_of(&s);
	struct gus_loaded l;
	struct found f;

	(void)state;
	begin(&l);
	f = ask(&l, &code);
	expect_all(&f, &s);
	code.start += PAGE; /* a part of it, of another process */
	code.offset += PAGE;
	if (s.code.length > PAGE) {
		f = ask(&l, &code);
		expect_all(&f, &s);
	}
	assert_int_equal(l.absent, 0);
	assert_int_equal(l.files.n, 1); /* which was read once */
	code.offset = s.code.offset + s.code.length; /* where it has no code */
	assert_int_equal(ask(&l, &code).n, 0);
	code.offset = s.code.offset - PAGE;
	assert_int_equal(ask(&l, &code).n, 0);
	gus_loaded_free(&l);
}

/* Another file under the same name says nothing, and is counted once. */
static void other_files(void **state)
{
	struct segments s = this_program();
	Gusprof__Mmap code = code_of(&s);
	struct gus_loaded l;
	struct stat st;

	(void)state;
	begin(&l);
	code.build_id = (ProtobufCBinaryData){ 5, (uint8_t *)(uintptr_t)"other" };
	assert_int_equal(ask(&l, &code).n, 0);
	assert_int_equal(ask(&l, &code).n, 0);
	assert_int_equal(l.absent, 1);
	code.build_id.len = 0;
	assert_int_equal(stat(s.path, &st), 0);
	code.inode = st.st_ino + 1;
	code.major = (uint32_t)(st.st_dev >> 8);
	assert_int_equal(ask(&l, &code).n, 0);
	assert_int_equal(l.absent, 2);
	code.inode = 0;
	code.path = (char *)(uintptr_t)"/nowhere/at/all";
	assert_int_equal(ask(&l, &code).n, 0);
	assert_int_equal(l.absent, 3);
	code.path = (char *)(uintptr_t)s.path; /* the file itself, after all */
	assert_int_equal(ask(&l, &code).n, s.n);
	assert_int_equal(l.absent, 3);
	assert_int_equal(l.files.n, 4);
	gus_loaded_free(&l);
}

/* What the linker would not make. In whole pages, as they are mapped: each begins at the start of its first page and
 * ends with its last one; those that are mapped nowhere, or have no bytes in the file, are left out. */
static const Elf64_Phdr odd_segments[] = {
	{ .p_type = PT_LOAD, .p_offset = 0, .p_vaddr = 0x10000, .p_filesz = 0x1800 },
	{ .p_type = PT_LOAD, .p_flags = PF_X, .p_offset = 0x2000, .p_vaddr = 0x13000, .p_filesz = 0x1001 },
	{ .p_type = PT_LOAD, .p_offset = 0x4100, .p_vaddr = 0x20100, .p_filesz = 0xf00 },
	{ .p_type = PT_LOAD, .p_offset = 0x5100, .p_vaddr = 0x30100, .p_filesz = 0xf01 },
	{ .p_type = PT_LOAD, .p_offset = 0x7100, .p_vaddr = 0x40200, .p_filesz = 0x100 }, /* at no page's place */
	{ .p_type = PT_LOAD, .p_offset = 0x7000, .p_vaddr = 0x50000, .p_memsz = 0x1000 }, /* nothing but memory */
	{ .p_type = PT_LOAD, .p_offset = 0x7000, .p_vaddr = 0x60000, .p_filesz = UINT64_MAX - 0x800 },
	{ .p_type = PT_LOAD, .p_flags = PF_X, .p_offset = 0x8000, .p_vaddr = 0x70000, .p_filesz = 1 },
};

static void odd_files(void **state)
{
	enum { N = sizeof(odd_segments) / sizeof(*odd_segments) };
	static const struct { uint64_t offset, base; size_t n; } cases[] = {
		{ 0x1fff, 0, 0 }, { 0x2000, 0x13000, 3 }, { 0x3000, 0x14000, 3 }, { 0x3fff, 0x14fff, 3 },
		{ 0x4000, 0, 0 }, { 0x7fff, 0, 0 }, { 0x8000, 0x70000, 3 }, { 0x8fff, 0x70fff, 3 }, { 0x9000, 0, 0 },
	};
	static const struct { uint64_t address, offset, size; } data[] = {
		{ 0x10000, 0, 0x2000 }, { 0x20000, 0x4000, 0x1000 }, { 0x30000, 0x5000, 0x2000 },
	};
	char path[] = "/tmp/gusprof-test-XXXXXX";
	struct made_elf m = made_elf_begin();
	int fd = mkstemp(path);
	struct gus_loaded l;

	(void)state;
	m.segments = N;
	made_elf_end(&m);
	memcpy(m.bytes.v + sizeof(Elf64_Ehdr), odd_segments, sizeof(odd_segments));
	assert_int_equal(write(fd, m.bytes.v, m.bytes.n), m.bytes.n);
	close(fd);
	begin(&l);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t start = 0x7f0000000000;
		Gusprof__Mmap code = GUSPROF__MMAP__INIT;
		struct found f;

		code.path = path;
		code.protection = PROT_READ | PROT_EXEC;
		code.start = start + cases[i].base;
		code.offset = cases[i].offset;
		f = ask(&l, &code);
		assert_int_equal(f.n, cases[i].n);
		for (size_t k = 0; k < f.n; k++) {
			assert_int_equal(f.v[k].start, start + data[k].address);
			assert_int_equal(f.v[k].offset, data[k].offset);
			assert_int_equal(f.v[k].length, data[k].size);
		}
	}
	assert_int_equal(l.absent, 0);
	assert_int_equal(l.files.n, 1);
	gus_loaded_free(&l);
	gus_vec_free(&m.bytes);
	gus_vec_free(&m.names);
	unlink(path);
}

/* By path and build id, or where there is none by path and what the file system says. */
static void files_are_told_apart(void **state)
{
	static const char a[] = "/nowhere/a", b[] = "/nowhere/b";
	static const struct { const char *path, *id; uint64_t inode; uint32_t major, minor; size_t files; } steps[] = {
		{ a, NULL, 1, 2, 3, 1 }, { a, NULL, 1, 2, 3, 1 }, { b, NULL, 1, 2, 3, 2 }, { a, NULL, 2, 2, 3, 3 },
		{ a, NULL, 1, 3, 3, 4 }, { a, NULL, 1, 2, 4, 5 }, { a, "id", 1, 2, 3, 6 }, { a, "id", 2, 3, 4, 6 },
		{ a, "it", 1, 2, 3, 7 }, { b, "id", 1, 2, 3, 8 },
	};
	struct gus_loaded l;

	(void)state;
	begin(&l);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		Gusprof__Mmap code = GUSPROF__MMAP__INIT;

		code.path = (char *)(uintptr_t)steps[i].path;
		code.protection = PROT_EXEC;
		code.inode = steps[i].inode;
		code.major = steps[i].major;
		code.minor = steps[i].minor;
		code.build_id.data = (uint8_t *)(uintptr_t)steps[i].id;
		code.build_id.len = steps[i].id ? 2 : 0;
		assert_int_equal(ask(&l, &code).n, 0);
		assert_int_equal(l.files.n, steps[i].files);
		assert_int_equal(l.absent, steps[i].files);
	}
	gus_loaded_free(&l);
}

/* Beyond so many files those that are known are still answered. */
static void files_have_an_end(void **state)
{
	struct segments s = this_program();
	Gusprof__Mmap code = code_of(&s), other = code_of(&s);
	struct gus_loaded l;
	char path[64];

	(void)state;
	begin(&l);
	assert_int_equal(ask(&l, &code).n, s.n);
	other.path = path;
	for (unsigned i = 1; i <= GUS_LIMIT_UNWIND_FILES; i++) {
		snprintf(path, sizeof(path), "/nowhere/%u", i);
		assert_int_equal(ask(&l, &other).n, 0);
	}
	assert_int_equal(l.files.n, GUS_LIMIT_UNWIND_FILES);
	assert_int_equal(l.absent, GUS_LIMIT_UNWIND_FILES - 1);
	assert_int_equal(ask(&l, &code).n, s.n);
	gus_loaded_free(&l);
}

/* What is no file is not looked for. */
static void no_files(void **state)
{
	static const char *const paths[] = { "//anon", "[vdso]", "", "relative" };
	struct segments s = this_program();
	Gusprof__Mmap code = code_of(&s);
	struct gus_loaded l;

	(void)state;
	begin(&l);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		code.path = (char *)(uintptr_t)paths[i];
		assert_int_equal(ask(&l, &code).n, 0);
	}
	assert_int_equal(l.absent | l.files.n, 0);
	gus_loaded_free(&l);
}

/* Files of which no code was mapped have no tables that could be missed. */
static void files_without_code(void **state)
{
	struct segments s = this_program();
	Gusprof__Mmap code = code_of(&s);
	struct gus_loaded l;

	(void)state;
	begin(&l);
	code.path = (char *)(uintptr_t)"/nowhere/at/all";
	code.protection = PROT_READ;
	assert_int_equal(ask(&l, &code).n, 0);
	assert_int_equal(l.files.n, 0);
	assert_int_equal(l.absent, 0);
	gus_loaded_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_loader_does),
		cmocka_unit_test(other_files),
		cmocka_unit_test(odd_files),
		cmocka_unit_test(files_are_told_apart),
		cmocka_unit_test(files_have_an_end),
		cmocka_unit_test(no_files),
		cmocka_unit_test(files_without_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
