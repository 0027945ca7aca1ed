/* SPDX-License-Identifier: MIT */
/* From places to names. The programs asked about are built here, with the system's compiler and binutils. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/error.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/kernel/kallsyms.h"
#include "symbolizer/names/demangle.h"
#include "symbolizer/names/functions.h"
#include "symbolizer/symbols/symbols.h"

/* Tables first: no program is needed for these. */

static void the_innermost_range_is_found(void **state)
{
	struct gus_ranges r = { 0 };

	(void)state;
	gus_ranges_add(&r, 10, 100, 1, 0);
	gus_ranges_add(&r, 20, 30, 2, 1);
	gus_ranges_add(&r, 40, 60, 3, 1);
	gus_ranges_add(&r, 40, 60, 4, 2);
	gus_ranges_add(&r, 45, 45, 9, 3);
	gus_ranges_add(&r, 200, UINT64_MAX, 5, 0);
	gus_ranges_ready(&r);
	assert_null(gus_ranges_find(&r, 9));
	assert_int_equal(gus_ranges_find(&r, 10)->value, 1);
	assert_int_equal(gus_ranges_find(&r, 29)->value, 2);
	assert_int_equal(gus_ranges_find(&r, 30)->value, 1);
	assert_int_equal(gus_ranges_find(&r, 45)->value, 4);
	assert_int_equal(gus_ranges_find(&r, 99)->value, 1);
	assert_null(gus_ranges_find(&r, 100));
	assert_int_equal(gus_ranges_find(&r, UINT64_MAX - 1)->value, 5);
	gus_ranges_free(&r);
}

static const char *name_at(struct gus_functions *f, uint64_t address)
{
	struct gus_function *found = gus_functions_find(f, address);

	return found ? gus_function_name(f, found, false) : NULL;
}

static void of_aliases_the_ranking_takes_one(void **state)
{
	static const struct gus_function all[] = {
		{ .low = 0x100, .high = 0x100, .limit = 0x900, .name = "unsized_longer_name", .global = true },
		{ .low = 0x100, .high = 0x110, .name = "sized" },
		{ .low = 0x200, .high = 0x210, .name = "weak_name", .weak = true },
		{ .low = 0x200, .high = 0x210, .name = "local" },
		{ .low = 0x300, .high = 0x310, .name = "local_longer_name" },
		{ .low = 0x300, .high = 0x310, .name = "global", .global = true },
		{ .low = 0x400, .high = 0x410, .name = "__libc_free", .global = true },
		{ .low = 0x400, .high = 0x410, .name = "free", .global = true },
		{ .low = 0x400, .high = 0x410, .name = "cfree", .global = true },
		{ .low = 0x500, .high = 0x500, .limit = 0x580, .name = "open_end", .global = true },
		{ .low = 0x600, .high = 0x640, .name = "_ZN1a1bEv", .global = true },
		{ .low = 0x610, .high = 0x610, .limit = 0x900, .name = "label_within" },
		{ .low = 0x700, .high = 0x710, .name = "_ZN1a1bEi@plt", .global = true },
	};
	struct gus_functions f;

	(void)state;
	gus_functions_init(&f);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		gus_functions_add(&f, &all[i]);
	gus_functions_ready(&f);
	assert_string_equal(name_at(&f, 0x10f), "sized");
	assert_null(name_at(&f, 0x110));
	assert_string_equal(name_at(&f, 0x200), "local");
	assert_string_equal(name_at(&f, 0x300), "global");
	assert_string_equal(name_at(&f, 0x400), "cfree");
	assert_string_equal(name_at(&f, 0x57f), "open_end");
	assert_null(name_at(&f, 0x580));
	assert_string_equal(name_at(&f, 0x620), "a::b");
	assert_string_equal(name_at(&f, 0x700), "a::b@plt");
	gus_functions_free(&f);
}

static void names_are_demangled_as_perf_does(void **state)
{
	static const struct {
		const char *mangled, *readable;
	} cases[] = {
		{ "_ZN3foo3barEiPKc", "foo::bar" },
		{ "_Z5countIiElRKSt6vectorIT_SaIS1_EE", "count<int>" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "main", NULL },
		{ "_Zbroken", NULL },
		{ "", NULL },
		{ "_", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *got = gus_demangle(cases[i].mangled);

		if (cases[i].readable)
			assert_string_equal(got, cases[i].readable);
		else
			assert_null(got);
		free(got);
	}
}

/* f<A, P<A, A>, P<P<A, A>, P<A, A>>, ...>: each argument repeats the one before it twice, in ten letters. */
static char *explosive_name(int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *name = gus_strdup("_Z1fI1A1PIS0_S0_E"), *longer;

	for (int i = 2; i < levels + 2; i++) {
		longer = gus_format("%sS1_IS%c_S%c_E", name, digits[i], digits[i]);
		free(name);
		name = longer;
	}
	longer = gus_format("%sEvv", name);
	free(name);
	return longer;
}

/* 20,000 names of one address, each of which asks for 65,536 letters when it is made readable. */
static void names_of_one_address_are_ranked_within_limits(void **state)
{
	enum { NAMES = 20000 };
	char *letters = explosive_name(14), **names = calloc(NAMES, sizeof(*names));
	struct gus_functions f;

	(void)state;
	gus_functions_init(&f);
	for (unsigned i = 0; i < NAMES; i++) {
		names[i] = gus_format("_Z6f%05u%s", i, letters + 4);
		gus_functions_add(&f, &(struct gus_function){ .low = 0x100, .high = 0x110, .name = names[i] });
	}
	alarm(20);
	gus_functions_ready(&f);
	alarm(0);
	assert_int_equal(f.list.n, 1);
	assert_true(f.letters.cut);
	gus_functions_free(&f);
	for (unsigned i = 0; i < NAMES; i++)
		free(names[i]);
	free(names);
	free(letters);
}

static void a_name_that_explodes_is_left_as_it_is(void **state)
{
	char *name = explosive_name(1), *got = gus_demangle(name);

	(void)state;
	assert_string_equal(got, "f<A, P<A, A>, P<P<A, A>, P<A, A> > >");
	free(name);
	free(got);
	name = explosive_name(33);
	assert_null(gus_demangle(name));
	free(name);
}

static void kallsyms_is_read_line_by_line(void **state)
{
	static const char digits[] = "9876543210abcdef w x\t[m]\n9876543210abcdef T y\n000000000000000g T z\n";
	static const char text[] =
		"ffffffff81000100 T second\n"
		"ffffffff81000000 T first\n"
		"ffffffff81000200 D data\n"
		"not a line\n"
		"ffffffffc0000000 t in_module\t[some_module]\n"
		"ffffffff81000300 W weak_one\n"
		"ffffffff81000400 t \n"
		"ffffffff81000410 \0 no_type\n"
		"ffffffff81000420 t no\0name\n"
		" T no_address\n"
		"ffffffff81000430\tT no_blank\n"
		"ffffffff81000440 T\tno_blank\n"
		"ffffffff81000500 t no_newline";
	struct gus_kallsyms k;

	(void)state;
	gus_kallsyms_parse(&k, text, sizeof(text) - 1);
	assert_int_equal(k.list.n, 5);
	assert_false(k.hidden);
	assert_memory_equal(k.list.v[0].name, "first", 5);
	assert_int_equal(k.list.v[0].name_length, 5);
	assert_null(k.list.v[0].module);
	assert_int_equal(k.list.v[0].module_length, 0);
	assert_int_equal(k.list.v[1].address, 0xffffffff81000100);
	assert_true(k.list.v[1].global);
	assert_true(k.list.v[2].weak);
	assert_int_equal(k.list.v[3].name_length, strlen("no_newline"));
	assert_int_equal(k.list.v[4].name_length, strlen("in_module"));
	assert_int_equal(k.list.v[4].module_length, strlen("some_module"));
	assert_memory_equal(k.list.v[4].module, "some_module", strlen("some_module"));
	gus_kallsyms_free(&k);
	for (size_t size = 0; size < sizeof(text); size++) {
		char *cut = gus_alloc(size);

		memcpy(cut, text, size);
		gus_kallsyms_parse(&k, cut, size);
		assert_in_range(k.list.n, 0, 5);
		gus_kallsyms_free(&k);
		free(cut);
	}
	gus_kallsyms_parse(&k, "0000000000000000 T a\n0000000000000000 t b\n", 42);
	assert_true(k.hidden);
	gus_kallsyms_free(&k);
	gus_kallsyms_parse(&k, digits, sizeof(digits) - 1);
	assert_false(k.hidden);
	assert_int_equal(k.list.n, 2); /* of the same address in the order in which they come */
	assert_true(k.list.v[0].address == 0x9876543210abcdef && k.list.v[1].address == k.list.v[0].address);
	assert_true(k.list.v[0].weak && !k.list.v[0].global && k.list.v[0].module_length == 1);
	assert_true(!k.list.v[1].weak && k.list.v[1].global && !k.list.v[1].module);
	gus_kallsyms_free(&k);
}

static void recorded_kernel_symbols_are_used(void **state)
{
	struct gus_symbols_options options = { .boot_id = "of another boot" };
	struct gus_symbols *s = gus_symbols_new(&options, NULL);
	struct gus_module kernel = { .kind = GUS_MODULE_KERNEL, .path = "[kernel]" };
	Gusprof__Symbol symbol = GUSPROF__SYMBOL__INIT, *list[] = { &symbol };
	Gusprof__KernelSymbols symbols = GUSPROF__KERNEL_SYMBOLS__INIT;
	struct gus_name names[GUS_NAMES_MAX];

	(void)state;
	symbol.address = 0xffffffff81000000;
	symbol.size = 0x80;
	symbol.name = (char *)"do_it";
	symbols.n_symbols = 1;
	symbols.symbols = list;
	gus_symbols_add_kernel(s, &symbols);
	assert_int_equal(gus_symbols_names(s, &kernel, 0xffffffff81000010, GUS_DEPTH_INLINE, names), 1);
	assert_string_equal(names[0].function, "do_it");
	assert_int_equal(names[0].start, 0xffffffff81000000);
	assert_int_equal(names[0].size, 0x80);
	assert_int_equal(gus_symbols_names(s, &kernel, 0xffffffff81000080, GUS_DEPTH_FUNCTION, names), 1);
	assert_null(names[0].function);
	assert_null(gus_symbols_trouble(s, &kernel));
	gus_symbols_free(s);

	s = gus_symbols_new(&options, NULL);
	assert_non_null(strstr(gus_symbols_trouble(s, &kernel), "another boot"));
	gus_symbols_free(s);
}

static void this_boots_vdso_has_names(void **state)
{
	char boot_id[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	struct gus_module vdso = { .kind = GUS_MODULE_VDSO, .path = "[vdso]" };
	struct gus_symbols_options options = { .boot_id = boot_id };
	struct gus_symbols *s;
	bool found = false;

	(void)state;
	if (!file || !fgets(boot_id, sizeof(boot_id), file)) {
		print_message("skipped: /proc/sys/kernel/random/boot_id cannot be read here\n");
		skip();
	}
	fclose(file);
	boot_id[strcspn(boot_id, "\n")] = '\0';
	s = gus_symbols_new(&options, NULL);
	for (uint64_t offset = 0; offset < 16384 && !found; offset += 4) {
		struct gus_name names[GUS_NAMES_MAX];

		gus_symbols_names(s, &vdso, offset, GUS_DEPTH_FUNCTION, names);
		found = names[0].function && strstr(names[0].function, "clock_gettime");
	}
	if (!found && gus_symbols_trouble(s, &vdso) && strstr(gus_symbols_trouble(s, &vdso), "no vdso")) {
		gus_symbols_free(s);
		print_message("skipped: this process has no vdso\n");
		skip();
	}
	assert_true(found);
	gus_symbols_free(s);
}

/* The programs: one source in the shapes that distributions ship. */

static const char source[] =
	"#include <stdio.h>\n"
	"#line 100 \"fixture.c\"\n"
	"static inline __attribute__((always_inline)) int deep(volatile int *p)\n"
	"{\n"
	"	return *p; /* 102 */\n"
	"}\n"
	"static inline __attribute__((always_inline)) int middle(volatile int *p)\n"
	"{\n"
	"	return deep(p) + 1; /* 106 */\n"
	"}\n"
	"__attribute__((noinline)) int outer(volatile int *p)\n"
	"{\n"
	"	return middle(p) * 3; /* 110 */\n"
	"}\n"
	"static __attribute__((noinline)) int unseen(volatile int *p)\n"
	"{\n"
	"	return *p + 5; /* 114 */\n"
	"}\n"
	"long numbers[40] = { 1 };\n"
	"static const char words[3][7] = { \"one\", \"two\", \"three\" };\n"
	"__thread int own = 7;\n"
	"long behind = 1, without[4];\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	own += numbers[argc] + words[argc][1] + behind + without[argc];\n"
	"	volatile int v = argc;\n"
	"	puts(argv[0]);\n"
	"	return outer(&v) + unseen(&v);\n"
	"}\n";

/* $CC only if it is a plain word: sanitizer flags and wrappers are not for the fixture. */
static const char recipe[] =
	"set -e; cd '%s'; : \"${CC:=cc}\"; command -v \"$CC\" >/dev/null 2>&1 || CC=cc\n"
	"b() { \"$CC\" -O1 fixture.c \"$@\"; }\n"
	"id=-Wl,--build-id=sha1\n"
	"b -gdwarf-5 $id -o full; b -gdwarf-4 $id -o full4; b -g -gz $id -o packed; b $id -g0 -o other\n"
	"b -gdwarf-5 -gsplit-dwarf $id -o skeleton; b -gdwarf-5 -gsplit-dwarf $id -o s\n"
	"LC_ALL=C sed 's/\\x00deep\\x00/\\x00\\x00\\x00\\x00\\x00\\x00/' full >nameless\n"
	"b -gdwarf-4 -gsplit-dwarf $id -o skeleton4; b -gdwarf-5 -gsplit-dwarf $id -o waiting\n"
	"objcopy --only-keep-debug full split.debug; strip -o split full\n"
	"i=$(readelf -n full | sed -n 's/.*Build ID: //p')\n"
	"d=root/.build-id/$(echo $i | cut -c1-2); mkdir -p $d; cp split.debug $d/$(echo $i | cut -c3-).debug\n"
	"mkdir -p fs/usr/lib fs/dbg/usr/lib empty\n"
	"b -g -Wl,--build-id=none -o fs/usr/lib/linked\n"
	"cp fs/usr/lib/linked whole\n"
	"objcopy --only-keep-debug whole fs/dbg/usr/lib/linked.debug; strip -o fs/usr/lib/linked whole\n"
	"objcopy --add-gnu-debuglink=fs/dbg/usr/lib/linked.debug fs/usr/lib/linked\n"
	"cp full gone\n";

static char folder[64] = "/tmp/gusprof-symbols-XXXXXX";
static const char *missing; /* what kept the programs from being built */

static int build(void **state)
{
	char *path, *script;
	FILE *file;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	path = gus_format("%s/fixture.c", folder);
	file = fopen(path, "w");
	if (!file || fputs(source, file) < 0 || fclose(file) != 0)
		return -1;
	free(path);
	if (system("command -v cc >/dev/null 2>&1 && command -v objcopy >/dev/null 2>&1") != 0) {
		missing = "a C compiler (cc) and binutils (objcopy)";
		return 0;
	}
	script = gus_format(recipe, folder);
	if (system(script) != 0)
		missing = "a compiler and binutils that build the test's programs";
	free(script);
	return 0;
}

static int clean(void **state)
{
	char *command = gus_format("rm -rf '%s'", folder);
	int status = system(command);

	(void)state;
	free(command);
	return status;
}

static void need_programs(void)
{
	if (missing) {
		print_message("skipped: it needs %s\n", missing);
		skip();
	}
}

/* A program and everything to ask about it. */
struct asked {
	char *path, *debug_root;
	const char *dirs[2];
	struct gus_module module;
	struct gus_symbols *symbols;
	uint8_t build_id[64];
};

static const char *cache; /* of those who ask; NULL for none */

static struct asked ask(const char *program, const char *debug_root, const char *symfs)
{
	struct asked a = { .path = symfs ? gus_strdup(program) : gus_format("%s/%s", folder, program) };
	struct gus_symbols_options options = { .symfs = symfs, .cache = cache, .has_inodes = true };

	a.debug_root = symfs ? gus_strdup(debug_root) : gus_format("%s/%s", folder, debug_root);
	a.dirs[0] = a.debug_root;
	options.debug_dirs = a.dirs;
	a.symbols = gus_symbols_new(&options, NULL);
	a.module = (struct gus_module){ .kind = GUS_MODULE_FILE, .path = a.path };
	return a;
}

static void done(struct asked *a)
{
	gus_symbols_free(a->symbols);
	free(a->path);
	free(a->debug_root);
}

/* Records the build id that `program` has, as the kernel would have. */
static void record_build_id(struct asked *a, const char *program)
{
	char *path = gus_format("%s/%s", folder, program);
	struct gus_elf *e = gus_elf_open(path, NULL);

	assert_non_null(e);
	assert_in_range(e->build_id_size, 1, sizeof(a->build_id));
	memcpy(a->build_id, e->build_id, e->build_id_size);
	a->module.build_id = a->build_id;
	a->module.build_id_size = e->build_id_size;
	gus_elf_close(e);
	free(path);
}

/* The offset of the first place whose outer function has that name; 0 if there is none. */
static uint64_t offset_of(struct asked *a, const char *function)
{
	struct gus_name names[GUS_NAMES_MAX];

	for (uint64_t offset = 1; offset < 0x8000; offset++) {
		gus_symbols_names(a->symbols, &a->module, offset, GUS_DEPTH_FUNCTION, names);
		if (names[0].function && strcmp(names[0].function, function) == 0) {
			assert_int_equal(names[0].start, offset);
			return offset;
		}
	}
	return 0;
}

/* Looks through the function for code that is two levels deep in inlined calls, and checks all that is said of it. */
static void expect_inlines(struct asked *a)
{
	uint64_t start = offset_of(a, "outer");
	struct gus_name names[GUS_NAMES_MAX];
	size_t n = 0;

	assert_int_not_equal(start, 0);
	for (uint64_t offset = start; n != 3 && offset < start + 64; offset++)
		n = gus_symbols_names(a->symbols, &a->module, offset, GUS_DEPTH_INLINE, names);
	assert_int_equal(n, 3);
	assert_string_equal(names[0].function, "deep");
	assert_string_equal(names[1].function, "middle");
	assert_string_equal(names[2].function, "outer");
	assert_int_equal(names[0].line, 102);
	assert_int_equal(names[1].line, 106);
	assert_int_equal(names[2].line, 110);
	assert_true(names[0].inlined && names[1].inlined && !names[2].inlined);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(strrchr(names[i].file, '/') + 1, "fixture.c");
		assert_int_equal(names[i].start, start);
	}
	assert_int_equal(gus_symbols_names(a->symbols, &a->module, start, GUS_DEPTH_LINE, names), 1);
	assert_string_equal(names[0].function, "outer");
	assert_int_not_equal(names[0].line, 0);
}

static void dwarf_of_every_kind_gives_lines_and_inlines(void **state)
{
	static const char *const programs[] = { "full", "full4", "packed", "skeleton", "skeleton4", "s" };

	(void)state;
	need_programs();
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct asked a = ask(programs[i], "empty", NULL);

		expect_inlines(&a);
		assert_null(gus_symbols_trouble(a.symbols, &a.module));
		done(&a);
	}
}

/* As with a file of dwz's whose other file is not there: the code is the caller's then, where it stands. */
static void what_is_inlined_without_a_name_is_its_callers(void **state)
{
	struct asked a;
	struct gus_name names[GUS_NAMES_MAX];
	uint64_t start;
	size_t n = 0;

	(void)state;
	need_programs();
	a = ask("nameless", "empty", NULL);
	start = offset_of(&a, "outer");
	for (uint64_t offset = start; !n || names[0].line != 102; offset++) {
		assert_true(offset < start + 64);
		n = gus_symbols_names(a.symbols, &a.module, offset, GUS_DEPTH_INLINE, names);
	}
	assert_int_equal(n, 2);
	assert_string_equal(names[0].function, "middle");
	assert_string_equal(names[1].function, "outer");
	assert_int_equal(names[1].line, 110);
	assert_true(names[0].inlined && !names[1].inlined);
	done(&a);
}

/* libdw would open whatever the program names for its other file, and wait for a writer of the FIFO. */
static void a_split_file_that_is_none_costs_only_its_inlines(void **state)
{
	char *path = gus_format("%s/waiting-fixture.dwo", folder);
	struct gus_name names[GUS_NAMES_MAX];
	struct asked a;
	uint64_t start;

	(void)state;
	need_programs();
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	a = ask("waiting", "empty", NULL);
	start = offset_of(&a, "outer");
	for (uint64_t offset = start; offset < start + 4; offset++) {
		assert_int_equal(gus_symbols_names(a.symbols, &a.module, offset, GUS_DEPTH_INLINE, names), 1);
		assert_string_equal(names[0].function, "outer");
		assert_non_null(strstr(names[0].file, "fixture.c"));
	}
	alarm(0);
	done(&a);
	free(path);
}

static void debug_file_by_build_id(void **state)
{
	struct asked a;

	(void)state;
	need_programs();
	a = ask("split", "root", NULL);
	record_build_id(&a, "split");
	expect_inlines(&a);
	assert_null(gus_symbols_trouble(a.symbols, &a.module));
	done(&a);
}

static void debug_file_by_link_and_symfs(void **state)
{
	char *fs = gus_format("%s/fs", folder), *debug = gus_format("%s/fs/dbg/usr/lib/linked.debug", folder);
	struct asked a;
	FILE *file;

	(void)state;
	need_programs();
	a = ask("/usr/lib/linked", "/dbg", fs);
	expect_inlines(&a);
	done(&a);

	/* One changed byte, and the checksum no longer fits: better no names than wrong ones. */
	file = fopen(debug, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, -1, SEEK_END), 0);
	fputc('!', file);
	fclose(file);
	a = ask("/usr/lib/linked", "/dbg", fs);
	assert_int_equal(offset_of(&a, "outer"), 0);
	done(&a);
	free(fs);
	free(debug);
}

static void stripped_code_is_named_by_where_it_is(void **state)
{
	struct gus_name names[GUS_NAMES_MAX];
	char expected[32];
	struct asked full, bare;
	uint64_t start, size;

	(void)state;
	need_programs();
	full = ask("full", "empty", NULL);
	bare = ask("split", "empty", NULL);
	start = offset_of(&full, "unseen");
	gus_symbols_names(full.symbols, &full.module, start, GUS_DEPTH_FUNCTION, names);
	size = names[0].size;
	assert_in_range(size, 1, 64);
	for (uint64_t offset = start; offset < start + size; offset++) {
		assert_int_equal(gus_symbols_names(bare.symbols, &bare.module, offset, GUS_DEPTH_INLINE, names), 1);
		assert_non_null(names[0].function);
		assert_memory_equal(names[0].function, "sub_", 4);
		assert_int_equal(names[0].start, start);
		assert_int_equal(names[0].size, size);
	}
	snprintf(expected, sizeof(expected), "%" PRIx64, start);
	assert_non_null(strstr(names[0].function + 4, expected));
	assert_non_null(strstr(gus_symbols_trouble(bare.symbols, &bare.module), "no symbol table"));
	done(&full);
	done(&bare);
}

/* Where symbols of a program are in its file, as readelf has it: by the section that each lies in. */
static uint64_t variable_offset(const char *program, const char *name, uint64_t *size)
{
	char *command = gus_format("cd '%s'; LC_ALL=C readelf -WS %s | tr -d '[]' >sections; readelf -Ws %s | "
		"awk '$8 == \"%s\" { v = $2; n = $3; s = $7 } "
		"END { while ((getline line <\"sections\") > 0) { k = split(line, f, \" \"); "
		"if (f[1] == s) print v, n, f[4], f[5] } }'", folder, program, program, name);
	FILE *out = popen(command, "r");
	uint64_t value, address, offset;

	free(command);
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%" SCNx64 " %" SCNu64 " %" SCNx64 " %" SCNx64, &value, size, &address, &offset),
			 4);
	pclose(out);
	return value - address + offset;
}

static void datum_is(struct asked *a, uint64_t offset, const char *name, uint64_t begins)
{
	uint64_t begin = UINT64_MAX;
	const char *found = gus_symbols_datum(a->symbols, &a->module, offset, &begin);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_true(begin == begins);
	assert_string_equal(gus_symbols_datum(a->symbols, &a->module, offset, NULL), name);
}

/* Variables, constants, and those without an initial value in the last page of the file's data; in the program itself
 * and in its debug file. Code is no data, nor is what each thread has for itself. */
static void variables_have_names(void **state)
{
	static const char *const names[] = { "numbers", "words", "behind" };

	(void)state;
	need_programs();
	for (size_t k = 0; k < 2; k++) {
		struct asked a = ask(k ? "split" : "full", k ? "root" : "empty", NULL);
		uint64_t size, at;

		if (k)
			record_build_id(&a, "split");
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			at = variable_offset("full", names[i], &size);
			datum_is(&a, at, names[i], at);
			datum_is(&a, at + size - 1, names[i], at);
		}
		at = variable_offset("full", "without", &size);
		assert_int_equal(size, 4 * sizeof(long));
		datum_is(&a, at + 5, "without", at);
		datum_is(&a, offset_of(&a, "main"), NULL, 0);
		datum_is(&a, 1ull << 40, NULL, 0);
		a.module.kind = GUS_MODULE_KERNEL;
		datum_is(&a, at, NULL, 0);
		done(&a);
	}
}

static void plt_stubs_are_named(void **state)
{
	unsigned machine = 0;
	struct asked a;
	uint8_t byte;

	(void)state;
	need_programs();
	a = ask("full", "empty", NULL);
	assert_int_equal(gus_symbols_code(a.symbols, &a.module, offset_of(&a, "main"), &byte, 1, &machine), 1);
	if (machine != EM_X86_64 && machine != EM_AARCH64) {
		done(&a);
		print_message("skipped: PLT stubs are known for x86-64 and arm64 only\n");
		skip();
	}
	assert_int_not_equal(offset_of(&a, "puts@plt"), 0);
	done(&a);
}

static void a_changed_file_gives_no_names(void **state)
{
	struct gus_name names[GUS_NAMES_MAX];
	uint64_t start;
	struct asked a;
	uint8_t code[4];

	(void)state;
	need_programs();
	a = ask("full", "empty", NULL);
	start = offset_of(&a, "outer");
	record_build_id(&a, "other");
	assert_int_equal(gus_symbols_names(a.symbols, &a.module, start, GUS_DEPTH_INLINE, names), 1);
	assert_null(names[0].function);
	assert_int_equal(names[0].start, start);
	assert_int_equal(gus_symbols_code(a.symbols, &a.module, start, code, sizeof(code), NULL), 0);
	assert_non_null(strstr(gus_symbols_trouble(a.symbols, &a.module), "changed since the recording"));
	done(&a);
}

static void a_file_that_is_gone_is_found_by_build_id(void **state)
{
	struct asked a;
	char *move;

	(void)state;
	need_programs();
	a = ask("gone", "root", NULL);
	record_build_id(&a, "gone");
	move = gus_format("cd '%s' && i=$(readelf -n gone | sed -n 's/.*Build ID: //p') && "
			  "mv gone root/.build-id/$(echo $i | cut -c1-2)/$(echo $i | cut -c3-)", folder);
	assert_int_equal(system(move), 0);
	free(move);
	expect_inlines(&a);
	done(&a);
	a = ask("nowhere", "empty", NULL);
	assert_int_equal(offset_of(&a, "outer"), 0);
	assert_non_null(strstr(gus_symbols_trouble(a.symbols, &a.module), "nowhere"));
	done(&a);
}

/* As many descriptors as are open, and no more. */
static struct rlimit take_descriptors(void)
{
	struct rlimit before, none;
	int next = dup(0);

	assert_true(next > 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ (rlim_t)next, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

/* Want of descriptors says nothing about the file: it is a failure, and not one more module without names. */
static void a_file_that_cannot_be_read_just_now_is_a_failure(void **state)
{
	struct gus_name names[GUS_NAMES_MAX];
	struct rlimit before;
	struct asked a;

	(void)state;
	need_programs();
	a = ask("full", "empty", NULL);
	before = take_descriptors();
	gus_symbols_names(a.symbols, &a.module, 1, GUS_DEPTH_FUNCTION, names);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(gus_symbols_failure(a.symbols));
	assert_int_equal(gus_symbols_failure(a.symbols)->sys, EMFILE);
	assert_non_null(strstr(gus_symbols_failure(a.symbols)->text, "full: Too many open files"));
	assert_null(gus_symbols_refusal(a.symbols, &a.module));
	done(&a);
	/* The main file is there, and its debug file cannot be looked for. */
	a = ask("split", "root", NULL);
	gus_symbols_code(a.symbols, &a.module, 1, names, 1, NULL);
	assert_null(gus_symbols_failure(a.symbols));
	before = take_descriptors();
	gus_symbols_names(a.symbols, &a.module, 1, GUS_DEPTH_FUNCTION, names);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(gus_symbols_failure(a.symbols));
	assert_non_null(strstr(gus_symbols_failure(a.symbols)->text, ".debug"));
	done(&a);
}

/* What is not there, or may not be read, is left out; of the latter it is said. */
static void a_file_that_may_not_be_read_is_named(void **state)
{
	struct gus_name names[GUS_NAMES_MAX];
	struct asked a;

	(void)state;
	need_programs();
	a = ask("nowhere", "empty", NULL);
	gus_symbols_names(a.symbols, &a.module, 1, GUS_DEPTH_FUNCTION, names);
	assert_null(gus_symbols_failure(a.symbols));
	assert_null(gus_symbols_refusal(a.symbols, &a.module));
	done(&a);
	a = ask("full", "empty", NULL);
	assert_int_equal(chmod(a.path, 0), 0);
	gus_symbols_names(a.symbols, &a.module, 1, GUS_DEPTH_FUNCTION, names);
	if (access(a.path, R_OK) == 0)
		print_message("skipped in part: this user may read all files\n");
	else
		assert_non_null(strstr(gus_symbols_refusal(a.symbols, &a.module), "full: Permission denied"));
	assert_null(gus_symbols_failure(a.symbols));
	assert_int_equal(chmod(a.path, 0755), 0);
	done(&a);
}

static void code_bytes_are_those_of_the_file(void **state)
{
	unsigned machine = 0;
	struct gus_elf *e;
	struct asked a;
	uint8_t code[16];
	uint64_t start;

	(void)state;
	need_programs();
	a = ask("full", "empty", NULL);
	start = offset_of(&a, "outer");
	e = gus_elf_open(a.path, NULL);
	assert_non_null(e);
	assert_int_equal(gus_symbols_code(a.symbols, &a.module, start, code, sizeof(code), &machine), sizeof(code));
	assert_memory_equal(code, e->bytes + start, sizeof(code));
	assert_int_equal(machine, e->machine);
	assert_int_equal(gus_symbols_code(a.symbols, &a.module, e->size, code, sizeof(code), NULL), 0);
	assert_int_equal(gus_symbols_code(a.symbols, &a.module, UINT64_MAX, code, sizeof(code), NULL), 0);
	gus_elf_close(e);
	done(&a);
}

static void an_image_of_the_recording_serves_its_module(void **state)
{
	char *path = gus_format("%s/full", folder);
	Gusprof__Image image = GUSPROF__IMAGE__INIT;
	const void *bytes;
	size_t size;
	struct gus_elf *e;
	struct asked a;

	(void)state;
	need_programs();
	e = gus_elf_open(path, NULL);
	assert_non_null(e);
	a = ask("not-on-disk", "empty", NULL);
	image.path = a.path;
	image.bytes.data = e->bytes;
	image.bytes.len = e->size;
	assert_false(gus_symbols_image(a.symbols, &a.module, &bytes, &size)); /* of no boot, so not of this one */
	assert_null(bytes);
	gus_symbols_add_image(a.symbols, &image);
	assert_true(gus_symbols_image(a.symbols, &a.module, &bytes, &size));
	assert_int_equal(size, e->size);
	assert_memory_equal(bytes, e->bytes, size);
	gus_elf_close(e);
	expect_inlines(&a);
	done(&a);
	free(path);
}

/* Asks everything about a file that may be anything. */
static void ask_all(const char *path, const uint64_t *offsets, size_t n)
{
	static const char *const dirs[] = { NULL };
	struct gus_symbols_options options = { .debug_dirs = dirs };
	struct gus_symbols *s = gus_symbols_new(&options, NULL);
	struct gus_module module = { .kind = GUS_MODULE_FILE, .path = path };
	struct gus_name names[GUS_NAMES_MAX];
	uint64_t around[1200];
	uint8_t code[16];

	for (size_t i = 0; i < 1200; i++)
		around[i] = offsets[0] + i - 600;
	gus_symbols_expect(s, &module, around, 1200);
	for (size_t i = 0; i < n; i++) {
		size_t count = gus_symbols_names(s, &module, offsets[i], GUS_DEPTH_INLINE, names);

		assert_in_range(count, 1, GUS_NAMES_MAX);
		assert_in_range(gus_symbols_code(s, &module, offsets[i], code, sizeof(code), NULL), 0, sizeof(code));
	}
	gus_symbols_trouble(s, &module);
	gus_symbols_free(s);
}

static void damaged_files_are_survived(void **state)
{
	static const char *const programs[] = { "full", "packed" };
	char *path = gus_format("%s/damaged", folder);
	uint64_t offsets[40], seed = 4711;

	(void)state;
	need_programs();
	for (size_t p = 0; p < 2; p++) {
		struct asked a = ask(programs[p], "empty", NULL);
		struct gus_elf *e = gus_elf_open(a.path, NULL);
		uint64_t start = offset_of(&a, "outer");
		uint8_t *bytes;

		assert_non_null(e);
		for (size_t i = 0; i < 40; i++)
			offsets[i] = start - 60 + 4 * i;
		bytes = gus_alloc(e->size);
		for (int round = 0; round < 400; round++) {
			size_t size = round % 4 ? e->size : (size_t)round * e->size / 400;
			FILE *file = fopen(path, "w");

			assert_non_null(file);
			memcpy(bytes, e->bytes, e->size);
			for (int flip = 0; round % 4 && flip < 1 + round % 16; flip++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				bytes[(seed >> 33) % e->size] = (uint8_t)(seed >> 24);
			}
			assert_int_equal(fwrite(bytes, 1, size, file), size);
			fclose(file);
			ask_all(path, offsets, 40);
		}
		free(bytes);
		gus_elf_close(e);
		done(&a);
	}
	free(path);
}

static void the_same_questions_get_the_same_answers(void **state)
{
	struct gus_name one[GUS_NAMES_MAX], two[GUS_NAMES_MAX];
	struct asked a, b;

	(void)state;
	need_programs();
	a = ask("full", "empty", NULL);
	b = ask("full", "empty", NULL);
	for (uint64_t i = 0; i < 0x4000; i++) {
		uint64_t from_front = i, from_back = 0x3fff - i;
		size_t n;

		gus_symbols_names(b.symbols, &b.module, from_back, GUS_DEPTH_INLINE, two);
		n = gus_symbols_names(a.symbols, &a.module, from_front, GUS_DEPTH_INLINE, one);
		assert_int_equal(gus_symbols_names(b.symbols, &b.module, from_front, GUS_DEPTH_INLINE, two), n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(one[k].line, two[k].line);
			assert_int_equal(one[k].function == NULL, two[k].function == NULL);
			if (one[k].function)
				assert_string_equal(one[k].function, two[k].function);
		}
	}
	done(&a);
	done(&b);
}

/* The inlined function of a program whose name is four letters of "deep" or what stands in its place. */
static void expect_deepest(const char *program, const char *expected)
{
	struct asked a = ask(program, "empty", NULL);
	uint64_t start = offset_of(&a, "outer");
	struct gus_name names[GUS_NAMES_MAX];
	size_t n = 0;

	for (uint64_t offset = start; n != 3 && offset < start + 64; offset++)
		n = gus_symbols_names(a.symbols, &a.module, offset, GUS_DEPTH_INLINE, names);
	assert_int_equal(n, 3);
	assert_string_equal(names[0].function, expected);
	assert_int_equal(names[0].line, 102);
	assert_string_equal(names[2].function, "outer");
	done(&a);
}

static void shell(const char *script)
{
	char *command = gus_format("cd '%s' && %s", folder, script);

	assert_int_equal(system(command), 0);
	free(command);
}

/* Writes DEEP for deep in what is remembered, under a right checksum. */
static void change_memory(void)
{
	char path[300], *bytes, *at;
	size_t size;
	uint64_t sum;
	FILE *file;

	shell("ls cache/*.names >listed && test $(wc -l <listed) = 1");
	snprintf(path, sizeof(path), "%s/listed", folder);
	file = fopen(path, "r");
	assert_true(file && fscanf(file, "%299s", path) == 1 && fclose(file) == 0);
	at = gus_format("%s/%s", folder, path);
	file = fopen(at, "r+");
	free(at);
	assert_non_null(file);
	bytes = gus_alloc(65536);
	size = fread(bytes, 1, 65536, file);
	assert_in_range(size, 100, 65535);
	at = memmem(bytes, size, "deep", 4);
	assert_non_null(at);
	memcpy(at, "DEEP", 4);
	sum = XXH3_64bits(bytes, size - sizeof(sum));
	memcpy(bytes + size - sizeof(sum), &sum, sizeof(sum));
	rewind(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	free(bytes);
}

static void what_was_said_is_remembered_of_that_very_file(void **state)
{
	char *path = gus_format("%s/cache", folder);

	(void)state;
	need_programs();
	cache = path;
	expect_deepest("full", "deep");
	change_memory();
	expect_deepest("full", "DEEP"); /* no DWARF is read */
	shell("cp full copied");
	expect_deepest("copied", "deep"); /* the same build id, and another file */
	shell("rm -rf cache");
	expect_deepest("full", "deep");
	change_memory();
	shell("touch full");
	expect_deepest("full", "deep");
	shell("rm -rf cache");
	expect_deepest("full", "deep");
	change_memory();
	shell("for i in cache/*; do head -c 100 /dev/zero >>$i; done");
	expect_deepest("full", "deep");  /* what is damaged is made anew */
	change_memory();
	cache = NULL;
	expect_deepest("full", "deep");
	shell("rm -rf cache");
	cache = path;
	expect_deepest("skeleton", "deep");
	change_memory();
	cache = NULL;
	shell("rm -rf cache");
	free(path);
}

enum { ALL = 0x3000 }; /* offsets that are asked about */

/* All that is said of a program, in one number; expected: it is announced. */
static uint64_t all_of(const char *program, enum gus_depth depth, bool expected)
{
	struct asked a = ask(program, "root", NULL);
	struct gus_name names[GUS_NAMES_MAX];
	static uint64_t offsets[ALL];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < ALL; i++)
		offsets[i] = ALL - 1 - i;
	if (expected)
		gus_symbols_expect(a.symbols, &a.module, offsets, ALL);
	for (uint64_t i = 0; i < ALL; i++) {
		size_t n = gus_symbols_names(a.symbols, &a.module, i, depth, names);

		for (size_t k = 0; k < n; k++) {
			char *all = gus_format("%s %s %u %d", names[k].function ? names[k].function : "?",
					       names[k].file ? names[k].file : "?", names[k].line, names[k].inlined);

			sum = XXH3_64bits_withSeed(all, strlen(all), sum);
			free(all);
		}
	}
	done(&a);
	return sum;
}

static void remembered_or_not_it_is_the_same(void **state)
{
	static const char *const programs[] = { "full", "full4", "packed", "skeleton4", "split", "nameless" };
	char *path = gus_format("%s/cache", folder);

	(void)state;
	need_programs();
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		uint64_t lines, inlines;

		cache = NULL;
		lines = all_of(programs[i], GUS_DEPTH_LINE, false);
		inlines = all_of(programs[i], GUS_DEPTH_INLINE, false);
		assert_true(lines != inlines);
		assert_int_equal(all_of(programs[i], GUS_DEPTH_INLINE, true), inlines);
		assert_int_equal(all_of(programs[i], GUS_DEPTH_LINE, true), lines);
		cache = path;
		assert_int_equal(all_of(programs[i], GUS_DEPTH_LINE, false), lines);
		assert_int_equal(all_of(programs[i], GUS_DEPTH_INLINE, false), inlines);
		assert_int_equal(all_of(programs[i], GUS_DEPTH_LINE, false), lines);
		shell("test -s cache/*.names && rm -rf cache");
		assert_int_equal(all_of(programs[i], GUS_DEPTH_INLINE, true), inlines);
		assert_int_equal(all_of(programs[i], GUS_DEPTH_INLINE, true), inlines);
		shell("test -s cache/*.names && rm -rf cache");
	}
	cache = NULL;
	free(path);
}

static void nothing_is_remembered_of_what_may_be_more_another_time(void **state)
{
	char *path = gus_format("%s/cache", folder);
	struct gus_name names[GUS_NAMES_MAX];
	struct asked a;

	(void)state;
	need_programs();
	cache = path;
	/* The other file of its unit is not there. */
	a = ask("waiting", "empty", NULL);
	assert_int_equal(gus_symbols_names(a.symbols, &a.module, offset_of(&a, "outer"), GUS_DEPTH_INLINE, names), 1);
	done(&a);
	shell("test -z \"$(ls cache)\"");
	/* It cannot be known again. */
	shell("cc -O1 -g fixture.c -Wl,--build-id=none -o no-id");
	expect_deepest("no-id", "deep");
	shell("test -z \"$(ls cache)\"");
	/* It says that it shares DWARF with a file that is not there. */
	shell("printf 'nowhere\\0\\1\\2\\3\\4' >link && objcopy --add-section .gnu_debugaltlink=link full sharing");
	expect_deepest("sharing", "deep");
	shell("test -z \"$(ls cache)\"");
	shell("rm -rf cache");
	cache = NULL;
	free(path);
}

/* Whether a script does what it should; else the test is skipped, as a tool is missing or too old. */
static void need(const char *script, const char *what)
{
	char *command = gus_format("cd '%s' && { %s; } >/dev/null 2>&1", folder, script);
	int status = system(command);

	free(command);
	if (status != 0) {
		print_message("skipped: it needs %s\n", what);
		skip();
	}
}

static void expect_all_of(const char *program)
{
	struct asked a = ask(program, "empty", NULL);

	expect_inlines(&a);
	assert_null(gus_symbols_trouble(a.symbols, &a.module));
	done(&a);
}

/* What stat calls a file is what the kernel calls it, but on file systems of several devices: those are found by
 * mapping. A file's own time is set back and forth; that of its inode is now, later than all ends in here. */
static void without_a_build_id_times_decide(void **state)
{
	enum { SECOND = 1000000000 };
	static const struct {
		const char *name;
		uint64_t ended, written;   /* in ns behind the file's own time, and 1 s; 0: not known */
		bool known, has_names;     /* known: the recording has its inode */
	} cases[] = {
		{ "times", 0, 0, true, true },               { "times", 0, 0, false, true },
		{ "times", SECOND, 0, true, true },          { "times", SECOND - 1, 0, true, false },
		{ "times", 0, SECOND, true, true },          { "times", 0, SECOND - 1, true, false },
		/* the end is better than when the file was written */
		{ "times", SECOND - 1, SECOND, true, false }, { "times", SECOND, SECOND - 1, true, true },
		/* without an inode it may be another file with an old time */
		{ "times", SECOND, 0, false, false },        { "times", 0, SECOND, false, false },
		/* of perf inject: the end of the recording is before all of them */
		{ "jitted-7-1.so", 1, 0, true, true },       { "jitted-7-1.so", 1, SECOND, true, true },
		{ "jitted-7-1.so", 1, SECOND - 1, true, false },
		{ "jitted-7-1.so.1", 1, SECOND, true, false }, { "jitted-7.so", 1, SECOND, true, false },
	};

	(void)state;
	need_programs();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t base = 1000000000ull * SECOND;
		const struct timespec times[2] = { { 1000000001, 0 }, { 1000000001, 0 } };
		struct asked a = ask(cases[i].name, "empty", NULL);
		struct stat st;

		need("for f in times jitted-7-1.so jitted-7-1.so.1 jitted-7.so; do cp full $f; done", "cp");
		assert_int_equal(utimensat(AT_FDCWD, a.path, times, 0), 0);
		assert_int_equal(stat(a.path, &st), 0);
		if (cases[i].known) {
			a.module.inode = st.st_ino;
			a.module.major = major(st.st_dev);
			a.module.minor = minor(st.st_dev);
		}
		gus_symbols_recorded_until(a.symbols, cases[i].ended ? base + cases[i].ended : 0);
		gus_symbols_written_until(a.symbols, cases[i].written ? base + cases[i].written : 0);
		if (cases[i].has_names)
			assert_null(gus_symbols_trouble(a.symbols, &a.module));
		else
			assert_non_null(strstr(gus_symbols_trouble(a.symbols, &a.module), "was written or moved"));
		done(&a);
	}
}

static void sections_may_be_packed_by_any(void **state)
{
	(void)state;
	need_programs();
	need("objcopy --compress-debug-sections=zlib-gnu full zdebug && readelf -SW zdebug | grep zdebug_info",
	     "objcopy that writes .zdebug");
	expect_all_of("zdebug");
	need("objcopy --compress-debug-sections=zstd full zstd", "objcopy with zstd");
	expect_all_of("zstd");
}

static void packed_sections_that_are_damaged_are_said(void **state)
{
	struct gus_name names[GUS_NAMES_MAX];
	const char *path, *why;
	struct asked a;

	(void)state;
	need_programs();
	need("objcopy --compress-debug-sections=zstd full zstd-damaged && python3 -c \""
	     "import re; b = bytearray(open('zstd-damaged', 'rb').read());"
	     "i = b.rfind(bytes([0x28, 0xb5, 0x2f, 0xfd])); b[i + 9] ^= 0x55; open('zstd-damaged', 'wb').write(b)\"",
	     "objcopy with zstd, and python3");
	a = ask("zstd-damaged", "empty", NULL);
	assert_int_equal(gus_symbols_names(a.symbols, &a.module, offset_of(&a, "outer"), GUS_DEPTH_INLINE, names), 1);
	assert_int_equal(gus_symbols_cut(a.symbols, &path, &why), 1);
	assert_non_null(strstr(why, "damaged"));
	done(&a);
}

static void a_stripped_program_may_bring_names_along(void **state)
{
	struct gus_name names[GUS_NAMES_MAX];
	struct asked a;

	(void)state;
	need_programs();
	need("objcopy --only-keep-debug full mini && objcopy -S --keep-symbol=unseen mini mini.names && "
	     "xz -f mini.names && strip -o mini full && objcopy --add-section .gnu_debugdata=mini.names.xz mini && "
	     "! nm mini | grep unseen",
	     "xz and binutils");
	a = ask("mini", "empty", NULL);
	assert_int_not_equal(offset_of(&a, "unseen"), 0);
	assert_int_equal(gus_symbols_names(a.symbols, &a.module, offset_of(&a, "unseen"), GUS_DEPTH_INLINE, names), 1);
	assert_null(gus_symbols_trouble(a.symbols, &a.module));
	done(&a);
	/* The debug file has more. */
	a = ask("mini", "root", NULL);
	assert_int_not_equal(offset_of(&a, "outer"), 0);
	done(&a);
	/* Of several pieces, as they are unpacked: the headers stand behind all else. */
	shell("xz -dk mini.names.xz && head -c 700000 /dev/zero >zeros && "
	      "objcopy --add-section .zeros=zeros mini.names && xz -c mini.names >long.xz && "
	      "objcopy --update-section .gnu_debugdata=long.xz mini");
	a = ask("mini", "empty", NULL);
	assert_int_not_equal(offset_of(&a, "unseen"), 0);
	done(&a);
	/* Cut short it is none. */
	shell("head -c 100 mini.names.xz >cut.xz && objcopy --update-section .gnu_debugdata=cut.xz mini");
	a = ask("mini", "empty", NULL);
	assert_int_equal(offset_of(&a, "unseen"), 0);
	assert_non_null(strstr(gus_symbols_trouble(a.symbols, &a.module), "no symbol table"));
	done(&a);
}

/* Function otherK has withinK inlined, and both are in a unit of their own. */
static void expect_within(struct asked *a, int k)
{
	char *outer = gus_format("other%d", k), *inner = gus_format("within%d", k);
	uint64_t start = offset_of(a, outer);
	struct gus_name names[GUS_NAMES_MAX];
	size_t n = 0;

	assert_int_not_equal(start, 0);
	for (uint64_t offset = start; n != 2 && offset < start + 16; offset++)
		n = gus_symbols_names(a->symbols, &a->module, offset, GUS_DEPTH_INLINE, names);
	assert_int_equal(n, 2);
	assert_string_equal(names[0].function, inner);
	assert_string_equal(names[1].function, outer);
	free(outer);
	free(inner);
}

static void split_units_may_be_in_a_package(void **state)
{
	/* Of the two programs that make packages, one cannot read what GCC writes as DWARF 5. */
	static const struct { const char *program, *recipe, *what; } packages[] = {
		{ "old/program", "mkdir old && cd old && cc -O1 -gdwarf-4 -gsplit-dwarf -Wl,--build-id=sha1 "
		  "../fixture.c ../other*.c -o program && timeout 10 dwp -e program -o program.dwp && rm *.dwo",
		  "dwp" },
		{ "new/program", "mkdir new && cd new && clang -c -O1 -gdwarf-5 -gsplit-dwarf ../fixture.c ../other*.c "
		  "&& clang *.o -Wl,--build-id=sha1 -o program && timeout 10 llvm-dwp *.dwo -o program.dwp && rm *.dwo",
		  "clang and llvm-dwp" } };
	struct gus_name names[GUS_NAMES_MAX];
	struct asked a;

	(void)state;
	need_programs();
	/* So many that some are not where their numbers lead to first. */
	shell("for i in $(seq 20); do echo \"static inline __attribute__((always_inline)) "
	      "int within$i(volatile int *x) { return *x + $i; } "
	      "int other$i(volatile int *x) { return within$i(x); }\" >other$i.c; done");
	for (size_t i = 0; i < 2; i++) {
		need(packages[i].recipe, packages[i].what);
		expect_all_of(packages[i].program);
		a = ask(packages[i].program, "empty", NULL);
		for (int k = 1; k <= 20; k++)
			expect_within(&a, k);
		done(&a);
	}
	/* That of another program has nothing to say. */
	shell("cp old/program.dwp new/program.dwp");
	a = ask("new/program", "empty", NULL);
	assert_int_equal(gus_symbols_names(a.symbols, &a.module, offset_of(&a, "outer"), GUS_DEPTH_INLINE, names), 1);
	assert_non_null(strstr(names[0].file, "fixture.c"));
	done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_range_is_found),
		cmocka_unit_test(of_aliases_the_ranking_takes_one),
		cmocka_unit_test(names_of_one_address_are_ranked_within_limits),
		cmocka_unit_test(names_are_demangled_as_perf_does),
		cmocka_unit_test(a_name_that_explodes_is_left_as_it_is),
		cmocka_unit_test(kallsyms_is_read_line_by_line),
		cmocka_unit_test(recorded_kernel_symbols_are_used),
		cmocka_unit_test(this_boots_vdso_has_names),
		cmocka_unit_test(dwarf_of_every_kind_gives_lines_and_inlines),
		cmocka_unit_test(what_is_inlined_without_a_name_is_its_callers),
		cmocka_unit_test(a_split_file_that_is_none_costs_only_its_inlines),
		cmocka_unit_test(debug_file_by_build_id),
		cmocka_unit_test(debug_file_by_link_and_symfs),
		cmocka_unit_test(stripped_code_is_named_by_where_it_is),
		cmocka_unit_test(variables_have_names),
		cmocka_unit_test(plt_stubs_are_named),
		cmocka_unit_test(a_changed_file_gives_no_names),
		cmocka_unit_test(without_a_build_id_times_decide),
		cmocka_unit_test(a_file_that_is_gone_is_found_by_build_id),
		cmocka_unit_test(a_file_that_cannot_be_read_just_now_is_a_failure),
		cmocka_unit_test(a_file_that_may_not_be_read_is_named),
		cmocka_unit_test(code_bytes_are_those_of_the_file),
		cmocka_unit_test(an_image_of_the_recording_serves_its_module),
		cmocka_unit_test(damaged_files_are_survived),
		cmocka_unit_test(the_same_questions_get_the_same_answers),
		cmocka_unit_test(sections_may_be_packed_by_any),
		cmocka_unit_test(packed_sections_that_are_damaged_are_said),
		cmocka_unit_test(a_stripped_program_may_bring_names_along),
		cmocka_unit_test(split_units_may_be_in_a_package),
		cmocka_unit_test(what_was_said_is_remembered_of_that_very_file),
		cmocka_unit_test(remembered_or_not_it_is_the_same),
		cmocka_unit_test(nothing_is_remembered_of_what_may_be_more_another_time),
	};

	return cmocka_run_group_tests(tests, build, clean);
}
