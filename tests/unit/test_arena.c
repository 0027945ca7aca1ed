/* SPDX-License-Identifier: MIT */
/* How much memory microbenchmarks may have, and whether it is of large pages, by what the kernel says: which is the
 * test's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/timing/arena.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))
#define MIB (1ull << 20)

/* Texts of files; NULL: there is none. */
static struct kernel { const char *meminfo, *max, *current, *limit, *usage; } kernel;

char *__wrap_gus_procfs_read(const char *path, size_t *size);
bool __wrap_gus_read_text(const char *path, char *text, size_t size);

char *__wrap_gus_procfs_read(const char *path, size_t *size)
{
	assert_string_equal(path, "/proc/meminfo");
	errno = ENFILE;
	*size = kernel.meminfo ? strlen(kernel.meminfo) : 0;
	return kernel.meminfo ? strdup(kernel.meminfo) : NULL;
}

bool __wrap_gus_read_text(const char *path, char *text, size_t size)
{
	const struct { const char *path, *text; } files[] = {
		{ "/sys/fs/cgroup/memory.max", kernel.max }, { "/sys/fs/cgroup/memory.current", kernel.current },
		{ "/sys/fs/cgroup/memory/memory.limit_in_bytes", kernel.limit },
		{ "/sys/fs/cgroup/memory/memory.usage_in_bytes", kernel.usage },
	};

	for (size_t i = 0; i < COUNT(files); i++)
		if (strcmp(path, files[i].path) == 0) {
			snprintf(text, size, "%s", files[i].text ? files[i].text : "");
			return files[i].text;
		}
	fail_msg("%s is nobody's", path);
	return false;
}

#define GIB_AVAILABLE "MemTotal: 99999999 kB\nMemAvailable:  1048576 kB\n"

/* An eighth of what is available, or of what the group leaves if that is less: a GiB at most, in large pages. */
static void the_most_there_may_be(void **state)
{
	static const struct { struct kernel is; uint64_t most; } cases[] = {
		{ { GIB_AVAILABLE, NULL, NULL, NULL, NULL }, 128 * MIB },
		{ { NULL, NULL, NULL, NULL, NULL }, 0 },
		{ { "MemTotal: 99999999 kB\n", NULL, NULL, NULL, NULL }, 0 },
		{ { "MemAvailable: 8388608 kB\n", NULL, NULL, NULL, NULL }, 1024 * MIB },
		{ { "MemAvailable: 8388607 kB\n", NULL, NULL, NULL, NULL }, 1022 * MIB },
		{ { "MemAvailable: 99999999 kB\n", NULL, NULL, NULL, NULL }, 1024 * MIB },
		{ { "MemAvailable: 16383 kB\n", NULL, NULL, NULL, NULL }, 0 },
		{ { "MemAvailable: 16384 kB\n", NULL, NULL, NULL, NULL }, 2 * MIB },
		/* a group without a limit, with one that leaves a quarter of a GiB, more than there is, or nothing */
		{ { GIB_AVAILABLE, "max", "1000", NULL, NULL }, 128 * MIB },
		{ { GIB_AVAILABLE, "536870912", "268435456", NULL, NULL }, 32 * MIB },
		{ { GIB_AVAILABLE, "9999999999", "0", NULL, NULL }, 128 * MIB },
		{ { GIB_AVAILABLE, "1000", "1000", NULL, NULL }, 0 },
		{ { GIB_AVAILABLE, "1000", "1001", NULL, NULL }, 0 },
		/* of the first version; the second one's files go before */
		{ { GIB_AVAILABLE, NULL, NULL, "536870912", "268435456" }, 32 * MIB },
		{ { GIB_AVAILABLE, "536870912", NULL, "134217728", "0" }, 16 * MIB },
		{ { GIB_AVAILABLE, "536870912", "0", "134217728", "0" }, 64 * MIB },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		kernel = cases[i].is;
		if (gus_arena_most() != cases[i].most)
			fail_msg("case %zu: %llu MiB", i, (unsigned long long)(gus_arena_most() / MIB));
		assert_int_equal(errno, kernel.meminfo ? 0 : ENFILE); /* 0: it is known */
	}
}

/* What is touched is of large pages if the kernel says so of all of it. */
static void large_pages_are_what_the_kernel_says(void **state)
{
	static const struct { unsigned kb; uint64_t end, touched; bool huge; } cases[] = {
		{ 2048, 1, 2 * MIB, true }, { 2047, 1, 2 * MIB, false }, { 0, 1, 2 * MIB, false },
		{ 2048, 2 * MIB, 2 * MIB, true }, { 2048, 2 * MIB + 1, 4 * MIB, false },
		{ 4096, 2 * MIB + 1, 4 * MIB, true }, { 4096, 9 * MIB, 4 * MIB, true },
		{ 0, 0, 0, true }, /* nothing is touched, and nobody asked */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		FILE *smaps = tmpfile();
		struct gus_arena a = { .memory = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE,
						      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), .size = 4 * MIB };
		unsigned long long at = (uintptr_t)a.memory;

		assert_true(smaps && a.memory != MAP_FAILED);
		fprintf(smaps, "1000-2000 r-xp 00000000 00:00 0\nAnonHugePages:    9999 kB\n"
			"%llx-%llx rw-p 00000000 00:00 0\nRss: 8 kB\nAnonHugePages:    %u kB\n", at, at + 4 * MIB,
			cases[i].kb);
		fflush(smaps);
		a.smaps = fileno(smaps);
		if (gus_arena_touch(&a, cases[i].end) != cases[i].huge)
			fail_msg("case %zu: it is not %d", i, cases[i].huge);
		assert_int_equal(a.touched, cases[i].touched);
		assert_true(gus_arena_touch(&a, cases[i].touched)); /* it is there */
		munmap(a.memory, 4 * MIB);
		fclose(smaps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_there_may_be),
		cmocka_unit_test(large_pages_are_what_the_kernel_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
