/* SPDX-License-Identifier: MIT */
/* A function of a made-up recording, taken apart: its code is in the recording, so nothing is read from anywhere. And a
 * core file of a kernel that never was. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/annotation.h"
#include "base/error.h"
#include "proto/sample.h"
#include "proto/writer.h"
#include "symbolizer/kernel/kcore.h"

#define START 1000000000ull
#define MS 1000000ull
#define BASE 0x400000ull     /* where the module is mapped */
#define TEXT 0x1000u         /* offset of its code in the file */
#define ADDRESS 0x401000u    /* and the address that the file gives to it */
#define MODULE "/nowhere/app"

static const uint8_t code[] = {
	0x31, 0xc0,                                     /* 00 outer: xor eax, eax */
	0x31, 0xd2,                                     /* 02 xor edx, edx */
	0x01, 0xd0,                                     /* 04 add eax, edx */
	0x74, 0x01,                                     /* 06 jz 09, into the one behind */
	0xf0, 0x0f, 0xb1, 0x0f,                         /* 08 lock cmpxchg [rdi], ecx */
	0xff, 0xc2,                                     /* 0c inc edx */
	0x39, 0xf2,                                     /* 0e cmp edx, esi */
	0x75, 0xf2,                                     /* 10 jnz 04 */
	0xe8, 0x0a, 0x00, 0x00, 0x00,                   /* 12 call 21 */
	0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00,       /* 17 mov rax, [rip+0x100] */
	0x75, 0xe2,                                     /* 1e jnz 02 */
	0xc3,                                           /* 20 ret */
	0x90,                                           /* 21 helper: nop */
	0xeb, 0xfd,                                     /* 22 jmp 21 */
	0xeb, 0xfb,                                     /* 24 inner, a symbol within helper: jmp 21 */
	0xc3,                                           /* 26 ret, of helper again */
};

struct elf {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char pad[TEXT - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr)];
	uint8_t text[64];
	Elf64_Sym symbols[4];
	char names[64];
	Elf64_Shdr sections[5];
};

static void set_symbol(Elf64_Sym *s, unsigned name, unsigned at, unsigned size)
{
	*s = (Elf64_Sym){ .st_name = name, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
			  .st_value = ADDRESS + at, .st_size = size };
}

/* A file with one segment of code, whose addresses are not its offsets, and three symbols. */
static void make_elf(struct elf *e)
{
	static const char names[64] = "\0outer\0helper\0inner\0";

	memset(e, 0, sizeof(*e));
	memcpy(e->header.e_ident, ELFMAG, SELFMAG);
	e->header.e_ident[EI_CLASS] = ELFCLASS64;
	e->header.e_ident[EI_DATA] = ELFDATA2LSB;
	e->header.e_ident[EI_VERSION] = EV_CURRENT;
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
	e->segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT, .p_vaddr = ADDRESS,
				   .p_filesz = sizeof(e->text), .p_memsz = sizeof(e->text) };
	memcpy(e->text, code, sizeof(code));
	memcpy(e->names, names, sizeof(names));
	set_symbol(&e->symbols[1], 1, 0, 0x21);
	set_symbol(&e->symbols[2], 7, 0x21, 6);
	set_symbol(&e->symbols[3], 14, 0x24, 2);
	e->sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = ADDRESS,
				       .sh_offset = TEXT, .sh_size = sizeof(code), .sh_addralign = 1 };
	e->sections[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct elf, symbols),
		.sh_size = sizeof(e->symbols),
				       .sh_link = 3, .sh_info = 1, .sh_entsize = sizeof(Elf64_Sym), .sh_addralign = 8 };
	e->sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct elf, names),
		.sh_size = sizeof(e->names) };
	e->sections[4] = e->sections[3];
}

struct made { char dir[64], path[96]; struct gus_reader *reader; struct gus_profile profile; struct gus_view view; };

static void add_module(struct gus_writer *w, bool with_code)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT, *list[] = { &record };
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	Gusprof__Image image = GUSPROF__IMAGE__INIT;
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;
	struct elf elf;

	map.pid = map.tid = 10;
	map.time = START;
	map.start = BASE;
	map.length = 0x10000;
	map.path = (char *)MODULE;
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &map;
	sideband.n_records = 1;
	sideband.records = list;
	assert_int_equal(gus_writer_sideband(w, &sideband, NULL), 0);
	make_elf(&elf);
	image.path = (char *)MODULE;
	image.bytes.data = (uint8_t *)&elf;
	image.bytes.len = sizeof(elf);
	if (with_code)
		assert_int_equal(gus_writer_message(w, GUS_FRAME_IMAGE, &image.base, NULL), 0);
}

/* Samples of `weight` ms at each of those offsets in the code, by two threads in turn. */
static void record(struct made *m, bool with_code, const struct gus_sample *samples, size_t n)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	static const struct gus_symbols_options options;
	struct gus_columns c = { 0 };
	struct gus_error err = { 0 };
	struct gus_writer *w;

	snprintf(m->dir, sizeof(m->dir), "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	snprintf(m->path, sizeof(m->path), "%s/data", m->dir);
	event.name = (char *)"cpu-clock";
	event.unit = (char *)"ns";
	header.n_events = 1;
	header.events = events;
	w = gus_writer_create(m->path, &header, NULL);
	assert_non_null(w);
	add_module(w, with_code);
	for (size_t i = 0; i < n; i++) {
		struct gus_sample s = samples[i];

		s.ip += BASE + TEXT;
		s.time = START + (i + 1) * MS;
		s.period *= MS;
		s.pid = 10;
		s.tid = 10 + i % 2;
		s.mode = GUS_MODE_USER;
		gus_columns_push(&c, &s);
	}
	assert_int_equal(gus_writer_samples(w, &c, NULL), 0);
	gus_columns_free(&c);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	m->reader = gus_reader_open(m->path, NULL);
	assert_non_null(m->reader);
	if (gus_profile_load(&m->profile, m->reader, &(struct gus_filter){ 0 }, &options, NULL, &err) != 0)
		fail_msg("%s", err.text);
	gus_view_make(&m->view, &m->profile, GUS_BY_FUNCTION, false);
}

static void drop(struct made *m)
{
	gus_view_free(&m->view);
	gus_profile_free(&m->profile);
	gus_reader_close(m->reader);
	unlink(m->path);
	rmdir(m->dir);
}

static const struct gus_row *row_named(const struct made *m, const char *function)
{
	for (size_t i = 0; i < m->view.rows.n; i++)
		if (m->view.rows.v[i].function && strcmp(m->view.rows.v[i].function, function) == 0)
			return &m->view.rows.v[i];
	fail_msg("there is no row of %s", function);
	return NULL;
}

static void annotate(struct made *m, const char *function, struct gus_annotation *a)
{
	struct gus_error err = { 0 };

	if (gus_annotation_make(a, &m->profile, row_named(m, function), &err) != 0)
		fail_msg("%s", err.text);
}

static const struct gus_annotation_insn *at(const struct gus_annotation *a, uint64_t offset)
{
	for (size_t i = 0; i < a->insns.n; i++)
		if (a->insns.v[i].offset == TEXT + offset)
			return &a->insns.v[i];
	fail_msg("there is no row at %x", (unsigned)offset);
	return NULL;
}

/* 8 ms in the inner loop, 1 in the outer one only, 1 in none; of the 8, one lies behind a prefix. */
static const struct gus_sample spread[] = {
	{ .ip = 0x00, .period = 1 }, { .ip = 0x04, .period = 2 }, { .ip = 0x04, .period = 3 },
		{ .ip = 0x09, .period = 1 },
	{ .ip = 0x0e, .period = 1 }, { .ip = 0x10, .period = 1 }, { .ip = 0x17, .period = 1 },
	{ .ip = 0x22, .period = 4 }, { .ip = 0x24, .period = 5 }, { .ip = 0x26, .period = 1 },
};

static void instructions_add_up_to_the_function(void **state)
{
	const struct gus_annotation_insn *insn;
	uint64_t samples = 0, weight = 0;
	struct made m = { 0 };
	struct gus_annotation a;

	(void)state;
	record(&m, true, spread, 10);
	annotate(&m, "outer", &a);
	assert_true(a.row->weight == 10 * MS && a.row->samples == 7);
	for (size_t i = 0; i < a.insns.n; i++) {
		samples += a.insns.v[i].w.samples;
		weight += a.insns.v[i].w.weight;
		gus_stack_check(&a.insns.v[i].stack, a.insns.v[i].w.weight);
		assert_int_equal(a.insns.v[i].stack.n, 1); /* also where there are no samples */
		assert_true(!i || a.insns.v[i - 1].offset < a.insns.v[i].offset);
	}
	assert_true(weight == 10 * MS && samples == 7);
	insn = at(&a, 0x04);
	assert_true(insn->w.samples == 2 && insn->w.weight == 5 * MS && insn->w.share > 0.49 && insn->w.share < 0.51);
	assert_true(insn->w.ci95.low < insn->w.share && insn->w.share < insn->w.ci95.high);
	insn = at(&a, 0x02);
	/* seven samples say little about what they missed */
	assert_true(insn->w.samples == 0 && insn->w.ci95.high > 0.2);
	gus_annotation_free(&a);
	drop(&m);
}

static void loops_have_what_is_in_them(void **state)
{
	struct made m = { 0 };
	struct gus_annotation a;

	(void)state;
	record(&m, true, spread, 10);
	annotate(&m, "outer", &a);
	assert_int_equal(a.graph.loops.n, 2);
	assert_true(a.loops[0].weight == 9 * MS && a.loops[0].samples == 6);
	assert_true(a.loops[1].weight == 8 * MS && a.loops[1].samples == 5);
	assert_int_equal(at(&a, 0x00)->loop, GUS_GRAPH_NONE);
	assert_int_equal(at(&a, 0x17)->loop, 0);
	assert_int_equal(at(&a, 0x10)->loop, 1);
	gus_annotation_free(&a);
	drop(&m);
}

static void what_lies_within_an_instruction_is_a_row_aside(void **state)
{
	const struct gus_annotation_insn *insn;
	struct made m = { 0 };
	struct gus_annotation a;

	(void)state;
	record(&m, true, spread, 10);
	annotate(&m, "outer", &a);
	insn = at(&a, 0x09);
	assert_true(insn->aside && insn->w.weight == MS && insn->loop == 1 && insn->length == 3);
	assert_string_equal(insn->text, "cmpxchg [rdi], ecx");
	assert_true(!at(&a, 0x08)->aside);
	assert_string_equal(at(&a, 0x08)->text, "lock cmpxchg [rdi], ecx");
	gus_annotation_free(&a);
	drop(&m);
}

static void places_of_code_have_names_and_labels(void **state)
{
	static const struct { unsigned at; const char *text; } wanted[] = {
		{ 0x00, "xor eax, eax" },
		{ 0x06, "jz outer+0x9" },       /* no row begins where it goes, so there is no label */
		{ 0x10, "jnz L2" },
		{ 0x12, "call helper" },
		{ 0x17, "mov rax, [0x40111e]" },  /* addresses are the file's, not its offsets */
		{ 0x1e, "jnz L1" },
	};
	struct made m = { 0 };
	struct gus_annotation a;

	(void)state;
	record(&m, true, spread, 1);
	annotate(&m, "outer", &a);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		assert_string_equal(at(&a, wanted[i].at)->text, wanted[i].text);
	assert_true(at(&a, 0x02)->label == 1 && at(&a, 0x04)->label == 2 && a.labels == 2);
	assert_true(at(&a, 0x10)->jumps && !at(&a, 0x10)->leaves && at(&a, 0x10)->target == TEXT + 4);
	assert_true(at(&a, 0x12)->leaves && at(&a, 0x12)->target == TEXT + 0x21);
	assert_string_equal(at(&a, 0x12)->to, "helper");
	assert_true(a.address == ADDRESS && at(&a, 0x04)->address == ADDRESS + 4);
	gus_annotation_free(&a);
	drop(&m);
}

static void a_symbol_within_another_has_its_own(void **state)
{
	struct made m = { 0 };
	struct gus_annotation a;

	(void)state;
	record(&m, true, spread, 10);
	annotate(&m, "helper", &a);
	assert_true(a.row->weight == 5 * MS && a.insns.n == 4);
	assert_true(at(&a, 0x24)->w.weight == 0 && at(&a, 0x22)->w.weight == 4 * MS && at(&a, 0x26)->w.weight == MS);
	gus_annotation_free(&a);
	annotate(&m, "inner", &a);
	assert_true(a.row->weight == 5 * MS && a.insns.n == 1);
	assert_string_equal(a.insns.v[0].text, "jmp helper");
	gus_annotation_free(&a);
	drop(&m);
}

/* Hot is at least a twentieth, and more than chance makes of an even spread: of 12 instructions with 100 samples, 5 at
 * one are nothing, 40 are. */
static void hot_is_more_than_chance(void **state)
{
	static const unsigned offsets[] = { 0x00, 0x02, 0x04, 0x06, 0x08, 0x0c, 0x0e, 0x10, 0x12, 0x17, 0x1e, 0x20 };
	struct gus_sample samples[96];
	struct made m = { 0 };
	struct gus_annotation a;
	unsigned hot = 0;

	(void)state;
	for (size_t i = 0; i < 96; i++)
		samples[i] = (struct gus_sample){ .ip = offsets[i % 12], .period = 1 };
	record(&m, true, samples, 96);
	annotate(&m, "outer", &a);
	for (size_t i = 0; i < a.insns.n; i++)
		hot += a.insns.v[i].hot;
	assert_int_equal(hot, 0);
	gus_annotation_free(&a);
	drop(&m);
	for (size_t i = 0; i < 40; i++)
		samples[i].ip = 0x17;
	record(&m, true, samples, 96);
	annotate(&m, "outer", &a);
	for (size_t i = 0; i < a.insns.n; i++)
		assert_int_equal(a.insns.v[i].hot, a.insns.v[i].offset == TEXT + 0x17);
	gus_annotation_free(&a);
	drop(&m);
}

/* Without the file there are neither names nor code, and it can be asked why. */
static void without_code_it_says_why(void **state)
{
	const struct gus_module *module;
	struct made m = { 0 };
	uint8_t byte;

	(void)state;
	record(&m, false, spread, 10);
	assert_int_equal(m.view.rows.n, 1);
	assert_null(m.view.rows.v[0].function);
	module = gus_space_module(m.profile.space, m.view.rows.v[0].module);
	assert_int_equal(gus_symbols_code(m.profile.symbols, module, TEXT, &byte, 1, NULL), 0);
	assert_non_null(strstr(gus_symbols_code_trouble(m.profile.symbols, module), MODULE));
	assert_true(gus_symbols_address(m.profile.symbols, module, TEXT) == TEXT);
	drop(&m);
}

/* The kernel's code. */

struct core { Elf64_Ehdr header; Elf64_Phdr segments[3]; uint8_t bytes[32]; };

static void make_core(struct core *c)
{
	memset(c, 0, sizeof(*c));
	memcpy(c->header.e_ident, ELFMAG, SELFMAG);
	c->header.e_ident[EI_CLASS] = ELFCLASS64;
	c->header.e_ident[EI_DATA] = ELFDATA2LSB;
	c->header.e_type = ET_CORE;
	c->header.e_machine = EM_X86_64;
	c->header.e_phoff = offsetof(struct core, segments);
	c->header.e_phentsize = sizeof(Elf64_Phdr);
	c->header.e_phnum = 3;
	c->segments[0] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = offsetof(struct core, bytes), .p_filesz = 32 };
	c->segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = offsetof(struct core, bytes), .p_filesz = 16,
				       .p_vaddr = 0xffffffff81000000 };
	c->segments[2] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = offsetof(struct core, bytes) + 16, .p_filesz = 16,
				       .p_vaddr = 0xfffffffffffffff0 };
	for (unsigned i = 0; i < 32; i++)
		c->bytes[i] = (uint8_t)i;
}

static int open_core(struct gus_kcore *k, const void *bytes, size_t size, struct gus_error *err)
{
	char path[] = "/tmp/gusprof-test-XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
	rc = gus_kcore_open(k, path, err);
	unlink(path);
	return rc;
}

static void a_kernels_code_is_read_by_address(void **state)
{
	struct gus_error err = { 0 };
	struct gus_kcore k;
	struct core c;
	uint8_t got[32];

	(void)state;
	make_core(&c);
	assert_int_equal(open_core(&k, &c, sizeof(c), &err), 0);
	assert_int_equal(k.machine, EM_X86_64);
	assert_int_equal(gus_kcore_read(&k, 0xffffffff81000004, got, 8), 8);
	assert_memory_equal(got, c.bytes + 4, 8);
	assert_int_equal(gus_kcore_read(&k, 0xffffffff81000004, got, 32), 12); /* where the segment ends */
	assert_int_equal(gus_kcore_read(&k, 0xffffffff80ffffff, got, 8), 0);
	assert_int_equal(gus_kcore_read(&k, 0xffffffff81000010, got, 8), 0);
	assert_int_equal(gus_kcore_read(&k, UINT64_MAX, got, 8), 1);
	assert_int_equal(got[0], 31);
	gus_kcore_close(&k);
	assert_int_equal(gus_kcore_read(&k, 0xffffffff81000004, got, 8), 0);
}

static void what_is_no_core_is_refused(void **state)
{
	struct core c;

	(void)state;
	make_core(&c);
	/* Cut within its headers at each byte; behind them the code may be missing, and then there are no bytes. */
	for (size_t size = 0; size < sizeof(c); size += 7) {
		struct gus_error err = { 0 };
		struct gus_kcore k;
		uint8_t got[4];
		int rc = open_core(&k, &c, size, &err);

		assert_int_equal(rc, size < offsetof(struct core, bytes) ? -1 : 0);
		if (rc != 0)
			assert_true(*err.text && k.fd == -1);
		else
			assert_true(gus_kcore_read(&k, 0xffffffff81000000, got, 4) <= size -
				    offsetof(struct core, bytes));
		gus_kcore_close(&k);
	}
	for (int what = 0; what < 3; what++) {
		struct gus_error err = { 0 };
		struct gus_kcore k;

		make_core(&c);
		if (what == 0)
			c.header.e_type = ET_EXEC;
		else if (what == 1)
			c.header.e_ident[EI_CLASS] = ELFCLASS32;
		else
			c.header.e_phoff = UINT64_MAX - 8;
		assert_int_equal(open_core(&k, &c, sizeof(c), &err), -1);
		assert_true(*err.text && k.fd == -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_add_up_to_the_function),
		cmocka_unit_test(loops_have_what_is_in_them),
		cmocka_unit_test(what_lies_within_an_instruction_is_a_row_aside),
		cmocka_unit_test(places_of_code_have_names_and_labels),
		cmocka_unit_test(a_symbol_within_another_has_its_own),
		cmocka_unit_test(hot_is_more_than_chance),
		cmocka_unit_test(without_code_it_says_why),
		cmocka_unit_test(a_kernels_code_is_read_by_address),
		cmocka_unit_test(what_is_no_core_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
