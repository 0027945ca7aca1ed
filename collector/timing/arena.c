/* SPDX-License-Identifier: MIT */
#include "collector/timing/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/host/procfs.h"
#include "collector/host/text.h"

#define SHARE 8                 /* a part of what is available: what others will want is not known */
#define MOST (1ull << 30)
#define SMAPS (4u << 20)         /* bytes of what the kernel says of our mappings */

/* The number of kilobytes behind a name at the beginning of a line; 0 if there is no such line. */
static uint64_t kilobytes(const char *text, const char *name)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, strlen(name)) == 0)
			return strtoull(line + strlen(name), NULL, 10) << 10;
	}
	return 0;
}

uint64_t gus_arena_available(const char *meminfo)
{
	return kilobytes(meminfo, "MemAvailable:");
}

uint64_t gus_arena_huge_in(const char *smaps, uint64_t address)
{
	for (const char *line = smaps; line; line = strchr(line, '\n')) {
		unsigned long long start, end;
		const char *next;

		line += *line == '\n';
		if (sscanf(line, "%llx-%llx ", &start, &end) != 2 || address < start || address >= end)
			continue;
		next = strstr(line, "AnonHugePages:"); /* each mapping has one, so it is this one's */
		return next ? kilobytes(next, "AnonHugePages:") : 0;
	}
	return 0;
}

/* What a memory cgroup leaves us: the first of the files that is there, one pair for each version of cgroups. The path
 * below the mount is unknown to who sits in a namespace of its own, whose root is its own group. */
static uint64_t left_of_cgroup(void)
{
	static const struct { const char *most, *used; } files[] = {
		{ "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current" },
		{ "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char most[32], used[32];
		uint64_t m, u;

		if (!gus_read_text(files[i].most, most, sizeof(most)) ||
		    !gus_read_text(files[i].used, used, sizeof(used)) || strcmp(most, "max") == 0)
			continue;
		m = strtoull(most, NULL, 10);
		u = strtoull(used, NULL, 10);
		return m > u ? m - u : 0;
	}
	return UINT64_MAX;
}

uint64_t gus_arena_most(void)
{
	size_t size;
	char *meminfo = gus_procfs_read("/proc/meminfo", &size);
	uint64_t free_bytes, left;

	if (!meminfo)
		return 0;
	free_bytes = gus_arena_available(meminfo);
	left = left_of_cgroup();
	free(meminfo);
	if (left < free_bytes)
		free_bytes = left;
	free_bytes /= SHARE;
	errno = 0;
	return (free_bytes < MOST ? free_bytes : MOST) & ~(GUS_ARENA_HUGE - 1);
}

/* Address space that begins at a multiple of 2 MiB; what is above and below goes back. */
static uint8_t *reserve(uint64_t size)
{
	size_t whole = size + GUS_ARENA_HUGE;
	uint8_t *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t below, above;

	if (at == MAP_FAILED)
		return NULL;
	below = -(uintptr_t)at & (GUS_ARENA_HUGE - 1);
	above = whole - size - below;
	if (below)
		munmap(at, below);
	if (above)
		munmap(at + below + size, above);
	return at + below;
}

void gus_arena_open(struct gus_arena *a, uint64_t size)
{
	*a = (struct gus_arena){ .memory = size ? reserve(size) : NULL, .smaps = -1 };
	if (!a->memory)
		return;
	madvise(a->memory, size, MADV_NOHUGEPAGE); /* without large pages in the kernel there is no such advice */
	a->size = size;
}

/* Bytes of large pages in the arena, as the kernel says. */
static uint64_t huge_bytes(const struct gus_arena *a)
{
	char *text = gus_alloc(SMAPS);
	size_t n = 0;
	uint64_t bytes;

	lseek(a->smaps, 0, SEEK_SET);
	for (ssize_t got; n < SMAPS - 1 && (got = read(a->smaps, text + n, SMAPS - 1 - n)) > 0;)
		n += (size_t)got;
	text[n] = '\0';
	bytes = gus_arena_huge_in(text, (uintptr_t)a->memory);
	free(text);
	return bytes;
}

bool gus_arena_touch(struct gus_arena *a, uint64_t end)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = a->touched;

	if (a->smaps >= 0)
		end = (end + GUS_ARENA_HUGE - 1) & ~(GUS_ARENA_HUGE - 1);
	for (; a->touched < end && a->touched < a->size; a->touched += page)
		*(volatile uint8_t *)(a->memory + a->touched) = 0;
	return a->smaps < 0 || a->touched == before || huge_bytes(a) >= a->touched;
}

/* Pages that an administrator has set aside. */
static bool take_reserved(struct gus_arena *a, uint64_t size)
{
	uint8_t *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	*a = (struct gus_arena){ at, size, size, -1 };
	return true;
}

void gus_arena_open_huge(struct gus_arena *a, uint64_t size)
{
	*a = (struct gus_arena){ .smaps = -1 };
	if (!size || take_reserved(a, size))
		return;
	a->memory = reserve(size);
	a->smaps = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	if (a->memory)
		a->size = size;
	if (a->memory && a->smaps >= 0 && madvise(a->memory, size, MADV_HUGEPAGE) == 0 && gus_arena_touch(a, 1))
		return;
	if (a->memory)
		munmap(a->memory, size);
	if (a->smaps >= 0)
		close(a->smaps);
	*a = (struct gus_arena){ .smaps = -1 };
}
