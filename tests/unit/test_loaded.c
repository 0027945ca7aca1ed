/* SPDX-License-Identifier: MIT */
/* What else of a file was mapped beside its code, worked out from the file, against what the loader did with this very
 * program. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/export/loaded.h"

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
		cmocka_unit_test(no_files),
		cmocka_unit_test(files_without_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
