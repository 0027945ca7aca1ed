/* SPDX-License-Identifier: MIT */
/* Where an address belonged, by process and time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/index.h"
#include "made_mapping.h"
#include "proto/sample.h"
#include "symbolizer/space/space.h"

static void add_mmap(struct gus_space *s, struct made_mapping m)
{
	struct made_mmap r;

	gus_space_add(s, made_mmap(&r, &m));
}

static void add_comm(struct gus_space *s, uint64_t time, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	comm.time = time;
	comm.pid = pid;
	comm.tid = tid;
	comm.name = (char *)name;
	comm.exec = exec;
	r.kind_case = GUSPROF__RECORD__KIND_COMM;
	r.comm = &comm;
	gus_space_add(s, &r);
}

static void add_task(struct gus_space *s, bool fork, uint64_t time, uint32_t ppid, uint32_t ptid, uint32_t pid,
		     uint32_t tid)
{
	Gusprof__Task task = GUSPROF__TASK__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	task.time = time;
	task.ppid = ppid;
	task.ptid = ptid;
	task.pid = pid;
	task.tid = tid;
	r.kind_case = fork ? GUSPROF__RECORD__KIND_FORK : GUSPROF__RECORD__KIND_EXIT;
	if (fork)
		r.fork = &task;
	else
		r.exit = &task;
	gus_space_add(s, &r);
}

static void add_jit(struct gus_space *s, uint64_t time, uint32_t pid, uint64_t address, uint64_t size, uint64_t offset)
{
	Gusprof__Jit jit = GUSPROF__JIT__INIT;
	Gusprof__Record r = GUSPROF__RECORD__INIT;

	jit.time = time;
	jit.pid = pid;
	jit.address = address;
	jit.size = size;
	jit.path = (char *)(uintptr_t)"[jit:1]";
	jit.offset = offset;
	r.kind_case = GUSPROF__RECORD__KIND_JIT;
	r.jit = &jit;
	gus_space_add(s, &r);
}

static void expect(struct gus_space *s, uint32_t pid, uint64_t time, uint64_t ip, const char *path, uint64_t offset)
{
	struct gus_place p = gus_space_find(s, pid, time, ip, GUS_MODE_USER);

	assert_string_equal(gus_space_module(s, p.module)->path, path);
	assert_int_equal(p.offset, offset);
}

static void empty_space_knows_nothing(void **state)
{
	struct gus_space *s = gus_space_new();
	struct gus_place p;

	(void)state;
	gus_space_ready(s);
	expect(s, 1, 0, 0x1000, "[unknown]", 0x1000);
	p = gus_space_find(s, 1, 5, 0xffffffff81000010, GUS_MODE_KERNEL);
	assert_int_equal(gus_space_module(s, p.module)->kind, GUS_MODULE_KERNEL);
	assert_int_equal(p.offset, 0xffffffff81000010);
	p = gus_space_find(s, 1, 5, 0xffffffff81000010, GUS_MODE_UNKNOWN);
	assert_int_equal(gus_space_module(s, p.module)->kind, GUS_MODULE_KERNEL);
	p = gus_space_find(s, 1, 5, 0xffffffff81000010, GUS_MODE_GUEST_KERNEL);
	assert_int_equal(p.module, 0);
	assert_string_equal(gus_space_comm(s, 1, 1, 5), "");
	assert_string_equal(gus_space_comm(s, 0, 0, 5), "swapper"); /* which no record names */
	assert_string_equal(gus_space_comm(s, 1, 0, 5), "");
	assert_string_equal(gus_space_comm(s, 0, 1, 5), "");
	gus_space_free(s);
}

static void a_mapping_holds_from_its_time_on(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 10, 7, 0x400000, 0x1000, 0x3000, "/bin/a" });
	gus_space_ready(s);
	expect(s, 7, 9, 0x400000, "[unknown]", 0x400000);
	expect(s, 7, 10, 0x400000, "/bin/a", 0x3000);
	expect(s, 7, UINT64_MAX, 0x400fff, "/bin/a", 0x3fff);
	expect(s, 7, 11, 0x401000, "[unknown]", 0x401000);
	expect(s, 7, 11, 0x3fffff, "[unknown]", 0x3fffff);
	expect(s, 8, 11, 0x400000, "[unknown]", 0x400000);
	assert_int_equal(gus_space_next_change(s, 7, 9), 10);
	assert_int_equal(gus_space_steady_until(s, 7, 9), 10);
	assert_int_equal(gus_space_steady_until(s, 7, 10), UINT64_MAX);
	assert_int_equal(gus_space_next_change(s, 7, 10), UINT64_MAX);
	assert_int_equal(gus_space_next_change(s, 8, 9), UINT64_MAX);
	gus_space_free(s);
}

static void expect_program(const struct gus_space *s, uint32_t pid, const char *path)
{
	uint32_t program = gus_space_program(s, pid);

	assert_true((program == GUS_INDEX_NONE) == !path);
	if (path)
		assert_string_equal(gus_space_module(s, program)->path, path);
}

/* 7 becomes one program and then another; 8 is its child, which is none of its own; 9 was there before. */
static void a_program_is_what_is_mapped_first(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 5, 7, 0x400000, 0x1000, 0, "/bin/before" });
	add_comm(s, 10, 7, 7, "setarch", true);
	add_mmap(s, (struct made_mapping){ 11, 7, 0x400000, 0x1000, 0, "/bin/setarch" });
	add_mmap(s, (struct made_mapping){ 12, 7, 0x500000, 0x1000, 0, "/lib/ld.so" });
	add_comm(s, 20, 7, 7, "app", true);
	add_mmap(s, (struct made_mapping){ 21, 7, 0x600000, 0, 0, "/empty" });
	add_mmap(s, (struct made_mapping){ 22, 7, 0x600000, 0x1000, 0, "[stack]" });
	add_mmap(s, (struct made_mapping){ 23, 7, 0x400000, 0x1000, 0, "/home/app" });
	add_mmap(s, (struct made_mapping){ 24, 7, 0x500000, 0x1000, 0, "/lib/ld.so" });
	add_comm(s, 25, 7, 7, "a name", false);
	add_task(s, true, 26, 7, 7, 8, 8);
	add_mmap(s, (struct made_mapping){ 27, 8, 0x700000, 0x1000, 0, "/lib/plugin.so" });
	add_mmap(s, (struct made_mapping){ 1, 9, 0x400000, 0x1000, 0, "/sbin/server" });
	add_comm(s, 30, 10, 10, "killed", true);
	gus_space_ready(s);
	expect_program(s, 7, "/home/app");
	expect_program(s, 8, NULL);
	expect_program(s, 9, NULL);
	expect_program(s, 10, NULL);
	gus_space_free(s);
}

static void paths_tell_the_kind(void **state)
{
	static const struct {
		const char *path;
		enum gus_module_kind kind;
		bool by_address;
	} cases[] = {
		{ "/lib/libc.so.6", GUS_MODULE_FILE, false }, { "/tmp/x (deleted)", GUS_MODULE_FILE, false },
		{ "[vdso]", GUS_MODULE_VDSO, false },	      { "//anon", GUS_MODULE_ANON, true },
		{ "", GUS_MODULE_ANON, true },		      { "[heap]", GUS_MODULE_ANON, true },
		{ "[stack]", GUS_MODULE_ANON, true },	      { "/memfd:jit (deleted)", GUS_MODULE_ANON, true },
		{ "/SYSV00000000 (deleted)", GUS_MODULE_ANON, true },
		{ "/dev/zero (deleted)", GUS_MODULE_ANON, true },
		{ "/anon_hugepage (deleted)", GUS_MODULE_ANON, true },
	};
	struct gus_space *s = gus_space_new();

	(void)state;
	assert_int_equal(gus_module_kind_of(""), GUS_MODULE_ANON);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		add_mmap(s, (struct made_mapping){ 1, 1, 0x10000 * (i + 1), 0x1000, 0x2000, cases[i].path });
	gus_space_ready(s);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t ip = 0x10000 * (i + 1) + 4;
		struct gus_place p = gus_space_find(s, 1, 1, ip, GUS_MODE_USER);

		assert_int_equal(gus_space_module(s, p.module)->kind, cases[i].kind);
		assert_int_equal(p.offset, cases[i].by_address ? ip : 0x2004);
	}
	gus_space_free(s);
}

static void a_later_mapping_hides_what_it_overlaps(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 1, 1, 0x1000, 0x4000, 0, "/a" });
	add_mmap(s, (struct made_mapping){ 2, 1, 0x2000, 0x1000, 0x50000, "/b" });
	add_mmap(s, (struct made_mapping){ 3, 1, 0x0, 0x1800, 0, "/c" });
	gus_space_ready(s);
	expect(s, 1, 1, 0x2000, "/a", 0x1000);
	expect(s, 1, 2, 0x1fff, "/a", 0xfff);
	expect(s, 1, 2, 0x2000, "/b", 0x50000);
	expect(s, 1, 2, 0x2fff, "/b", 0x50fff);
	expect(s, 1, 2, 0x3000, "/a", 0x2000);
	expect(s, 1, 3, 0x17ff, "/c", 0x17ff);
	expect(s, 1, 3, 0x1800, "/a", 0x800);
	expect(s, 1, 2, 0x1000, "/a", 0);
	gus_space_free(s);
}

static void a_mapping_may_reach_the_end_of_all_addresses(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 1, 1, UINT64_MAX - 0xfff, UINT64_MAX, 0, "/a" });
	add_mmap(s, (struct made_mapping){ 1, 1, 0x1000, 0, 0, "/nothing" });
	gus_space_ready(s);
	expect(s, 1, 1, UINT64_MAX - 1, "/a", 0xffe);
	expect(s, 1, 1, 0x1000, "[unknown]", 0x1000);
	gus_space_free(s);
}

/* What is empty, or the kernel itself, is nowhere: neither a module nor an entry in anybody's past. */
static void nothing_is_made_of_nothing(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 1, 1, 0x1000, 0x1000, 0, "/a" });
	add_mmap(s, (struct made_mapping){ 2, 1, 0x1800, 0, 0, "/nothing" });
	add_mmap(s, (struct made_mapping){ 2, 1, UINT64_MAX, 0x1000, 0, "/beyond" });
	add_mmap(s, (struct made_mapping){ 2, 1, 0x1000, 0x1000, 0, "[kernel.kallsyms]_text", .kernel = true });
	gus_space_ready(s);
	assert_int_equal(gus_space_modules(s), 3);
	expect(s, 1, 3, 0x1000, "/a", 0);
	expect(s, 1, 3, 0x1800, "/a", 0x800);
	expect(s, 1, 3, 0x17ff, "/a", 0x7ff);
	gus_space_free(s);
	gus_space_free(NULL);
}

/* Of records with one time the one that came last holds. */
static void equal_times_are_in_order_of_arrival(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 5, 1, 0x1000, 0x3000, 0, "/a" });
	add_mmap(s, (struct made_mapping){ 5, 1, 0x1000, 0x2000, 0, "/b" });
	add_mmap(s, (struct made_mapping){ 5, 1, 0x1000, 0x1000, 0, "/c" });
	add_comm(s, 5, 1, 1, "first", false);
	add_comm(s, 5, 1, 1, "second", false);
	add_comm(s, 4, 1, 1, "before", false);
	gus_space_ready(s);
	expect(s, 1, 5, 0x1000, "/c", 0);
	expect(s, 1, 5, 0x2000, "/b", 0x1000);
	expect(s, 1, 5, 0x3000, "/a", 0x2000);
	assert_string_equal(gus_space_comm(s, 1, 1, 5), "second");
	assert_string_equal(gus_space_comm(s, 1, 1, 4), "before");
	assert_string_equal(gus_space_comm(s, 1, 1, 3), "");
	gus_space_free(s);
}

/* Two processes that share a place among the last answers, asked in turns, each at times before and behind a change. */
static void last_answers_are_those_of_the_question(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	for (uint32_t pid = 3; pid < 3 + 3 * 64; pid += 64) {
		add_mmap(s, (struct made_mapping){ 10, pid, 0x1000, 0x1000, pid * 0x10000, "/a" });
		add_mmap(s, (struct made_mapping){ 20, pid, 0x1000, 0x1000, pid * 0x10000 + 0x1000, "/a" });
	}
	gus_space_ready(s);
	for (int round = 0; round < 2; round++)
		for (uint32_t pid = 3; pid < 3 + 3 * 64; pid += 64) {
			expect(s, pid, 19, 0x1004, "/a", pid * 0x10000 + 4);
			expect(s, pid, 20, 0x1004, "/a", pid * 0x10000 + 0x1004);
			expect(s, pid, 9, 0x1004, "[unknown]", 0x1004);
			expect(s, pid, 10, 0x1004, "/a", pid * 0x10000 + 4); /* the next one is asked for such a time */
		}
	gus_space_free(s);
}

static void names_of_kernel_modules(void **state)
{
	static const struct { const char *path, *name; } cases[] = {
		{ "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko", "[ext4]" },
		{ "/lib/snd-hda-codec.ko.xz", "[snd_hda_codec]" },
		{ "/a.ko/b.ko.zst", "[b]" }, { "kvm.ko", "[kvm]" }, { "[kvm_intel]", "[kvm_intel]" },
		{ "[dm-mod]", "[dm-mod]" }, { "/lib/x.korn", "/lib/x.korn" },
		{ "x.korn.ko", "[x.korn]" }, { "/lib/.ko", "/lib/.ko" },
		{ "bpf_prog_6deef7357e7b4530", "bpf_prog_6deef7357e7b4530" }, { "/lib/modules/x", "/lib/modules/x" },
		{ "", NULL }, { "[kernel.kallsyms]_text", NULL }, { "[kernel.kallsyms]", NULL },
		{ "[guest.kernel.kallsyms.7]", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *name = gus_module_of_kernel(cases[i].path);

		if (!name != !cases[i].name || (name && strcmp(name, cases[i].name) != 0))
			fail_msg("%s: %s", cases[i].path, name);
		free(name);
	}
}

static void in_kernel(struct gus_space *s, uint32_t pid, uint64_t time, uint64_t address, const char *path)
{
	struct gus_place p = gus_space_find(s, pid, time, address, GUS_MODE_KERNEL);
	bool shared;

	assert_string_equal(gus_space_module(s, p.module)->path, path);
	assert_int_equal(gus_space_module(s, p.module)->kind, GUS_MODULE_KERNEL);
	assert_true(p.offset == address);
	p = gus_space_find(s, pid, time, address, GUS_MODE_UNKNOWN);
	assert_string_equal(gus_space_module(s, p.module)->path, path);
	p = gus_space_find_data(s, pid, time, address, GUS_MODE_USER, &shared);
	assert_true(strcmp(gus_space_module(s, p.module)->path, path) == 0 && !shared && p.offset == address);
}

/* Modules are there for all processes and at all times. The kernel's own mapping goes over them and hides none, a file
 * that a program has mapped is none, and the last one of two that overlap is there. */
static void kernel_modules_have_names(void **state)
{
	const uint64_t base = 0xffffffffc0000000;
	Gusprof__KernelSymbols symbols = GUSPROF__KERNEL_SYMBOLS__INIT;
	Gusprof__Symbol of[3] = { GUSPROF__SYMBOL__INIT, GUSPROF__SYMBOL__INIT, GUSPROF__SYMBOL__INIT };
	struct gus_space *s = gus_space_new();
	struct gus_place p;

	(void)state;
	add_mmap(s, (struct made_mapping){ 9, UINT32_MAX, base, 0x1000, 0, "/lib/ext4.ko", "id", .kernel = true });
	add_mmap(s, (struct made_mapping){ 0, UINT32_MAX, base + 0x2000, 0x1000, 0, "/lib/jbd2.ko", .kernel = true });
	add_mmap(s, (struct made_mapping){ 0, UINT32_MAX, 0xffffffff81000000, 0x7effffff, 0, "[kernel.kallsyms]_text",
					   .kernel = true });
	add_mmap(s, (struct made_mapping){ 0, 7, 0x1000, 0x1000, 0x30, "/lib/ext4.ko", "id" });
	for (size_t i = 0; i < 3; i++) {
		of[i].address = base + 0x2800 + 0x800 * i;
		of[i].size = 0x800;
		of[i].module = (char *)(uintptr_t)(i < 2 ? "kvm" : "");
	}
	symbols.symbols = (Gusprof__Symbol *[]){ &of[0], &of[1], &of[2] };
	symbols.n_symbols = 3;
	gus_space_add_kernel(s, &symbols);
	add_task(s, true, 10, 0, 0, 7, 7); /* whose own addresses are none of the kernel's */
	gus_space_ready(s);
	in_kernel(s, 7, 0, base - 1, "[kernel]");
	in_kernel(s, 7, 0, base, "[ext4]");
	in_kernel(s, 8, UINT64_MAX, base + 0xfff, "[ext4]");
	in_kernel(s, 0, 5, base + 0x1000, "[kernel]");
	in_kernel(s, 0, 5, base + 0x2000, "[jbd2]");
	in_kernel(s, 0, 5, base + 0x27ff, "[jbd2]");
	in_kernel(s, 0, 5, base + 0x2800, "[kvm]");
	in_kernel(s, 0, 5, base + 0x37ff, "[kvm]");
	in_kernel(s, 0, 5, base + 0x3800, "[kernel]");
	expect(s, 7, 1, 0x1004, "/lib/ext4.ko", 0x34);
	expect(s, 7, 11, base, "[unknown]", base);
	assert_int_equal(gus_space_steady_until(s, 0, 0), UINT64_MAX);
	p = gus_space_find(s, 1, 1, base, GUS_MODE_KERNEL);
	assert_int_equal(gus_space_module(s, p.module)->build_id_size, 2);
	assert_int_equal(gus_space_modules(s), 6); /* unknown, kernel, ext4, jbd2, kvm, and the file */
	gus_space_free(s);
}

/* Who runs in which mode. An address of unknown mode is the kernel's if it is in the upper half. */
static void modes(void **state)
{
	static const struct { unsigned mode; uint64_t ip; const char *path; } cases[] = {
		{ GUS_MODE_USER, 0x1000, "/a" }, { GUS_MODE_KERNEL, 0x1000, "[kernel]" },
		{ GUS_MODE_UNKNOWN, 0x1000, "/a" }, { GUS_MODE_UNKNOWN, UINT64_MAX / 2, "[unknown]" },
		{ GUS_MODE_UNKNOWN, UINT64_MAX / 2 + 1, "[kernel]" }, { GUS_MODE_HYPERVISOR, 0x1000, "[unknown]" },
		{ GUS_MODE_GUEST_USER, 0x1000, "[unknown]" },
	};
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 1, 1, 0x1000, 0x1000, 0x1000, "/a" });
	gus_space_ready(s);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_place p = gus_space_find(s, 1, 1, cases[i].ip, cases[i].mode);

		assert_string_equal(gus_space_module(s, p.module)->path, cases[i].path);
		assert_int_equal(p.offset, cases[i].ip);
	}
	gus_space_free(s);
}

static void fork_inherits_as_of_that_moment(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 1, 1, 0x1000, 0x1000, 0, "/a" });
	add_task(s, true, 5, 1, 1, 2, 2);
	add_mmap(s, (struct made_mapping){ 6, 1, 0x9000, 0x1000, 0, "/parent" });
	add_mmap(s, (struct made_mapping){ 7, 2, 0x1000, 0x1000, 0, "/child" });
	gus_space_ready(s);
	expect(s, 2, 4, 0x1000, "[unknown]", 0x1000);
	expect(s, 2, 5, 0x1000, "/a", 0);
	expect(s, 2, 6, 0x9000, "[unknown]", 0x9000);
	expect(s, 2, 7, 0x1000, "/child", 0);
	expect(s, 1, 8, 0x1000, "/a", 0);
	expect(s, 1, 8, 0x9000, "/parent", 0);
	gus_space_free(s);
}

static void exec_drops_all(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 1, 1, 0x1000, 0x1000, 0, "/sh" });
	add_comm(s, 2, 1, 1, "renamed", false);
	add_comm(s, 3, 1, 1, "app", true);
	add_mmap(s, (struct made_mapping){ 4, 1, 0x5000, 0x1000, 0, "/app" });
	gus_space_ready(s);
	expect(s, 1, 2, 0x1000, "/sh", 0);
	expect(s, 1, 3, 0x1000, "[unknown]", 0x1000);
	expect(s, 1, 4, 0x5000, "/app", 0);
	expect(s, 1, 4, 0x1000, "[unknown]", 0x1000);
	assert_string_equal(gus_space_comm(s, 1, 1, 2), "renamed");
	assert_string_equal(gus_space_comm(s, 1, 1, 9), "app");
	gus_space_free(s);
}

static void a_pid_given_out_again_starts_anew(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 1, 5, 0x1000, 0x1000, 0, "/first" });
	add_comm(s, 1, 5, 5, "first", false);
	add_task(s, false, 3, 5, 5, 5, 5);
	add_task(s, true, 6, 9, 9, 5, 5);
	gus_space_ready(s);
	expect(s, 5, 2, 0x1000, "/first", 0);
	expect(s, 5, 6, 0x1000, "[unknown]", 0x1000);
	assert_string_equal(gus_space_comm(s, 5, 5, 2), "first");
	assert_string_equal(gus_space_comm(s, 5, 5, 6), "");
	gus_space_free(s);
}

/* Memory of its own from 0x1000 on, code told of in the middle of it. */
static void made_code_lies_in_memory_without_a_file(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 10, 1, 0x1000, 0x1000, 0, "//anon" });
	add_mmap(s, (struct made_mapping){ 10, 1, 0x3000, 0x1000, 0x5000, "/lib/x" });
	add_mmap(s, (struct made_mapping){ 10, 1, 0x4000, 0x1000, 0, "/tmp/jit-1.dump" });
	add_mmap(s, (struct made_mapping){ 10, 1, 0x5000, 0x1000, 0, "/memfd:heap (deleted)" });
	add_mmap(s, (struct made_mapping){ 10, 1, 0x6000, 0x1000, 0, "/memfd:program (deleted)", "id" });
	add_mmap(s, (struct made_mapping){ 10, 1, 0x7000, 0x1000, 0, "/tmp/jit-1.dump.so" });
	add_jit(s, 20, 1, 0x1100, 0x8000, 0x10);
	gus_space_ready(s);
	expect(s, 1, 19, 0x1100, "//anon", 0x1100);
	expect(s, 1, 20, 0x10ff, "//anon", 0x10ff);
	expect(s, 1, 20, 0x1100, "[jit:1]", 0x10);
	expect(s, 1, 20, 0x2100, "[jit:1]", 0x1010);           /* where nothing is known to be mapped */
	expect(s, 1, 20, 0x3100, "/lib/x", 0x5100);            /* but not over a file */
	expect(s, 1, 20, 0x4100, "[jit:1]", 0x3010);           /* unless it is the one that tells of the code */
	expect(s, 1, 20, 0x5100, "[jit:1]", 0x4010);
	expect(s, 1, 20, 0x6100, "/memfd:program (deleted)", 0x100);
	expect(s, 1, 20, 0x7100, "/tmp/jit-1.dump.so", 0x100);
	expect(s, 1, 20, 0x90ff, "[jit:1]", 0x800f);
	expect(s, 1, 20, 0x9100, "[unknown]", 0x9100);
	expect(s, 2, 20, 0x1100, "[unknown]", 0x1100);
	assert_int_equal(gus_space_module(s, gus_space_find(s, 1, 20, 0x1100, GUS_MODE_USER).module)->kind,
			 GUS_MODULE_JIT);
	assert_int_equal(gus_space_module(s, gus_space_find(s, 1, 20, 0x6100, GUS_MODE_USER).module)->kind,
			 GUS_MODULE_FILE);
	gus_space_free(s);
}

static void made_code_is_replaced_inherited_and_dropped(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ 10, 1, 0x1000, 0x1000, 0, "//anon" });
	add_comm(s, 5, 1, 1, "runtime", true); /* when it began */
	add_jit(s, 30, 1, 0x1100, 0x40, 0x100);
	add_jit(s, 10, 1, 0x1100, 0x40, 0);
	add_jit(s, 10, 1, 0x1120, 0x10, 0x80); /* over the one before */
	add_task(s, true, 20, 1, 1, 2, 2);
	add_comm(s, 40, 1, 1, "other", true);
	add_mmap(s, (struct made_mapping){ 41, 1, 0x1000, 0x1000, 0, "//anon" });
	add_task(s, true, 50, 3, 3, 2, 2); /* the number is another's */
	gus_space_ready(s);
	expect(s, 1, 10, 0x1100, "[jit:1]", 0);
	expect(s, 1, 29, 0x1120, "[jit:1]", 0x80);
	expect(s, 1, 29, 0x1130, "[jit:1]", 0x30);
	expect(s, 1, 30, 0x1120, "[jit:1]", 0x120);
	assert_int_equal(gus_space_steady_until(s, 1, 10), 30); /* by what it makes, */
	assert_int_equal(gus_space_steady_until(s, 1, 30), 40); /* and by what is mapped */
	assert_int_equal(gus_space_next_change(s, 1, 10), 40);
	expect(s, 2, 35, 0x1120, "[jit:1]", 0x80);             /* as of its birth */
	expect(s, 1, 39, 0x1100, "[jit:1]", 0x100);
	expect(s, 1, 40, 0x1100, "[unknown]", 0x1100);
	expect(s, 1, 41, 0x1100, "//anon", 0x1100);
	expect(s, 2, 49, 0x1100, "[jit:1]", 0);
	expect(s, 2, 50, 0x1100, "[unknown]", 0x1100);
	gus_space_free(s);
}

static void threads_share_maps_and_take_the_creators_name(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_comm(s, 1, 1, 1, "main", false);
	add_mmap(s, (struct made_mapping){ 1, 1, 0x1000, 0x1000, 0, "/a" });
	add_task(s, true, 2, 1, 1, 1, 11);
	add_comm(s, 3, 1, 11, "worker", false);
	add_task(s, true, 4, 1, 11, 1, 12);
	add_mmap(s, (struct made_mapping){ 5, 1, 0x2000, 0x1000, 0, "/late" });
	gus_space_ready(s);
	assert_string_equal(gus_space_comm(s, 1, 11, 1), "main"); /* before its birth: as its process */
	assert_string_equal(gus_space_comm(s, 1, 77, 1), "main"); /* never told of */
	assert_string_equal(gus_space_comm(s, 8, 77, 1), "");
	assert_string_equal(gus_space_comm(s, 1, 11, 2), "main");
	assert_string_equal(gus_space_comm(s, 1, 11, 3), "worker");
	assert_string_equal(gus_space_comm(s, 1, 12, 9), "worker");
	assert_string_equal(gus_space_comm(s, 1, 1, 9), "main");
	expect(s, 1, 5, 0x1000, "/a", 0);
	expect(s, 1, 5, 0x2000, "/late", 0);
	gus_space_free(s);
}

static void modules_are_told_apart_by_what_they_are(void **state)
{
	struct gus_space *s = gus_space_new();
	struct gus_place a, b;

	(void)state;
	add_mmap(s, (struct made_mapping){ 1, 1, 0x1000, 0x1000, 0, "/a", "id1", 1 });
	add_mmap(s, (struct made_mapping){ 1, 2, 0x1000, 0x1000, 0, "/a", "id1", 2 });
	add_mmap(s, (struct made_mapping){ 1, 3, 0x1000, 0x1000, 0, "/a", "id2", 2 });
	add_mmap(s, (struct made_mapping){ 1, 4, 0x1000, 0x1000, 0, "/a", NULL, 3 });
	add_mmap(s, (struct made_mapping){ 1, 5, 0x1000, 0x1000, 0, "/a", NULL, 4 });
	/* Where the path ends is a part of it: these are two. */
	add_mmap(s, (struct made_mapping){ 1, 6, 0x1000, 0x1000, 0, "/ab", "cd" });
	add_mmap(s, (struct made_mapping){ 1, 6, 0x9000, 0x1000, 0, "/a", "bcd" });
	/* And it ends at its zero, whatever lies behind. */
	add_mmap(s, (struct made_mapping){ 1, 8, 0x1000, 0x1000, 0, "/z\0one", "id" });
	add_mmap(s, (struct made_mapping){ 1, 8, 0x9000, 0x1000, 0, "/z\0two", "id" });
	/* Memory without a file is one module, whatever its number. */
	add_mmap(s, (struct made_mapping){ 1, 7, 0x1000, 0x1000, 0, "[heap]", NULL, 5 });
	add_mmap(s, (struct made_mapping){ 1, 7, 0x9000, 0x1000, 0, "[heap]", NULL, 6 });
	gus_space_ready(s);
	assert_int_equal(gus_space_modules(s), 2 + 4 + 2 + 1 + 1);
	a = gus_space_find(s, 1, 1, 0x1000, GUS_MODE_USER);
	b = gus_space_find(s, 2, 1, 0x1000, GUS_MODE_USER);
	assert_int_equal(a.module, b.module);
	assert_int_equal(gus_space_module(s, a.module)->build_id_size, 3);
	assert_memory_equal(gus_space_module(s, a.module)->build_id, "id1", 3);
	b = gus_space_find(s, 5, 1, 0x1000, GUS_MODE_USER);
	assert_null(gus_space_module(s, b.module)->build_id);
	gus_space_free(s);
}

static void data_are(struct gus_space *s, uint64_t address, unsigned mode, const char *path, uint64_t offset,
		     bool shared)
{
	bool told = !shared;
	struct gus_place p = gus_space_find_data(s, 1, 5, address, mode, &told);

	assert_string_equal(gus_space_module(s, p.module)->path, path);
	assert_true(p.offset == offset && told == shared);
}

/* Data are where their mapping is, whatever code was made there, and whatever ran when they were asked for. */
static void data_have_places_of_their_own(void **state)
{
	struct gus_space *s = gus_space_new();

	(void)state;
	add_mmap(s, (struct made_mapping){ .time = 1, .pid = 1, .start = 0x1000, .length = 0x1000, .offset = 0x3000,
		.path = "/f", .shared = true });
	add_mmap(s, (struct made_mapping){ .time = 1, .pid = 1, .start = 0x4000, .length = 0x1000, .path = "/f" });
	add_mmap(s, (struct made_mapping){ .time = 1, .pid = 1, .start = 0x8000, .length = 0x1000, .path = "//anon",
		.shared = true });
	add_jit(s, 2, 1, 0x8000, 0x100, 0x20);
	gus_space_ready(s);
	data_are(s, 0x1fff, GUS_MODE_USER, "/f", 0x3fff, true);
	data_are(s, 0x4001, GUS_MODE_KERNEL, "/f", 1, false); /* the kernel reads the program's, too */
	data_are(s, 0x8010, GUS_MODE_USER, "//anon", 0x8010, false);
	expect(s, 1, 5, 0x8010, "[jit:1]", 0x30);
	expect(s, 1, 5, 0x1fff, "/f", 0x3fff); /* the same module, whether it is shared or not */
	assert_int_equal(gus_space_find(s, 1, 5, 0x1fff, GUS_MODE_USER).module,
			 gus_space_find(s, 1, 5, 0x4000, GUS_MODE_USER).module);
	data_are(s, 0x2000, GUS_MODE_USER, "[unknown]", 0x2000, false);
	data_are(s, 1ull << 63, GUS_MODE_USER, "[kernel]", 1ull << 63, false);
	data_are(s, 0x1000, GUS_MODE_GUEST_USER, "[unknown]", 0x1000, false);
	data_are(s, 1ull << 63, GUS_MODE_GUEST_KERNEL, "[unknown]", 1ull << 63, false);
	data_are(s, 0x1000, GUS_MODE_HYPERVISOR, "[unknown]", 0x1000, false);
	gus_space_free(s);
}

/* A plain model of the same rules: every page of a few processes at every time, written out. */
#define PIDS 6
#define PAGES 24
#define TIMES 400

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void any_history_in_any_order_agrees_with_the_plain_model(void **state)
{
	static int16_t model[TIMES][PIDS][PAGES]; /* the time of the mapping that holds the page, -1 for none */
	static struct { enum { MAP, FORK, EXEC } what; uint32_t pid, other, page, pages; } events[TIMES];
	static const char *const names[] = { "/m0", "/m1", "/m2", "/m3", "/m4", "/m5", "/m6" };
	uint32_t seed = 12345, order[TIMES];
	struct gus_space *s = gus_space_new();

	(void)state;
	memset(model, -1, sizeof(model));
	for (uint32_t t = 1; t < TIMES; t++) {
		uint32_t dice = next_random(&seed) % 20;

		memcpy(model[t], model[t - 1], sizeof(model[t]));
		events[t].what = dice == 0 ? EXEC : dice < 3 ? FORK : MAP;
		events[t].pid = next_random(&seed) % PIDS;
		events[t].other = (events[t].pid + 1 + next_random(&seed) % (PIDS - 1)) % PIDS;
		events[t].page = next_random(&seed) % PAGES;
		events[t].pages = 1 + next_random(&seed) % (PAGES - events[t].page);
		if (events[t].what == EXEC)
			memset(model[t][events[t].pid], -1, sizeof(model[t][0]));
		else if (events[t].what == FORK)
			memcpy(model[t][events[t].pid], model[t][events[t].other], sizeof(model[t][0]));
		else
			for (uint32_t p = 0; p < events[t].pages; p++)
				model[t][events[t].pid][events[t].page + p] = (int16_t)t;
		order[t] = t;
	}
	for (uint32_t t = TIMES - 1; t > 1; t--) {
		uint32_t other = 1 + next_random(&seed) % t, kept = order[t];

		order[t] = order[other];
		order[other] = kept;
	}
	for (uint32_t i = 1; i < TIMES; i++) {
		uint32_t t = order[i];

		if (events[t].what == EXEC)
			add_comm(s, t, events[t].pid, events[t].pid, "x", true);
		else if (events[t].what == FORK)
			add_task(s, true, t, events[t].other, events[t].other, events[t].pid, events[t].pid);
		else
			add_mmap(s, (struct made_mapping){ t, events[t].pid, events[t].page * 0x1000,
				 events[t].pages * 0x1000, t * 0x100000, names[t % 7] });
	}
	gus_space_ready(s);
	for (int i = 0; i < 200000; i++) {
		uint32_t t = next_random(&seed) % TIMES, pid = next_random(&seed) % PIDS;
		uint32_t page = next_random(&seed) % PAGES;
		int16_t by = model[t][pid][page];
		uint64_t ip = page * 0x1000 + next_random(&seed) % 0x1000;

		if (by < 0)
			expect(s, pid, t, ip, "[unknown]", ip);
		else
			expect(s, pid, t, ip, names[by % 7], (uint64_t)by * 0x100000 + ip - events[by].page * 0x1000);
	}
	gus_space_free(s);
}

static void many_processes_and_many_mappings(void **state)
{
	const uint32_t pids = 5000, mappings = 50000;
	struct gus_space *s = gus_space_new();

	(void)state;
	for (uint32_t i = 0; i < mappings; i++)
		add_mmap(s, (struct made_mapping){ i, 1, 0x1000000 + (uint64_t)i * 0x2000, 0x1000, i, "/big" });
	for (uint32_t p = 2; p < pids; p++) {
		add_task(s, true, mappings + 2 * p, p - 1, p - 1, p, p);
		add_mmap(s, (struct made_mapping){ mappings + 2 * p + 1, p, (uint64_t)p * 16, 16, 0, "/own" });
	}
	gus_space_ready(s);
	for (uint32_t p = 2; p < pids; p++) {
		expect(s, p, UINT64_MAX, 0x1000000 + (uint64_t)(p * 7) * 0x2000, "/big", p * 7);
		expect(s, p, UINT64_MAX, 2 * 16 + 3, "/own", 3);
		expect(s, p, mappings + 2 * p, (uint64_t)p * 16, "[unknown]", (uint64_t)p * 16);
	}
	gus_space_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_space_knows_nothing),
		cmocka_unit_test(a_mapping_holds_from_its_time_on),
		cmocka_unit_test(a_program_is_what_is_mapped_first),
		cmocka_unit_test(paths_tell_the_kind),
		cmocka_unit_test(a_later_mapping_hides_what_it_overlaps),
		cmocka_unit_test(a_mapping_may_reach_the_end_of_all_addresses),
		cmocka_unit_test(nothing_is_made_of_nothing),
		cmocka_unit_test(equal_times_are_in_order_of_arrival),
		cmocka_unit_test(last_answers_are_those_of_the_question),
		cmocka_unit_test(names_of_kernel_modules),
		cmocka_unit_test(kernel_modules_have_names),
		cmocka_unit_test(modes),
		cmocka_unit_test(fork_inherits_as_of_that_moment),
		cmocka_unit_test(exec_drops_all),
		cmocka_unit_test(a_pid_given_out_again_starts_anew),
		cmocka_unit_test(made_code_lies_in_memory_without_a_file),
		cmocka_unit_test(made_code_is_replaced_inherited_and_dropped),
		cmocka_unit_test(threads_share_maps_and_take_the_creators_name),
		cmocka_unit_test(data_have_places_of_their_own),
		cmocka_unit_test(modules_are_told_apart_by_what_they_are),
		cmocka_unit_test(any_history_in_any_order_agrees_with_the_plain_model),
		cmocka_unit_test(many_processes_and_many_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
